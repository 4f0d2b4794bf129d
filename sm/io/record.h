/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The record of all events between a program and its transport: bytes <->
 * events. sm/io/capture.h writes such a record, sm/io/replay.h reads it.
 *
 * The format, version 2. Integers are varints (seven bits a byte, the lowest
 * first, bit 7: more follow) but where a width is given; those are
 * big-endian. A signed one is zigzag: 0, -1, 1, -2, .. Times are us and
 * count from the last time in the record, at first from 0.
 *
 *	header	"minismR" 02  PortGUID:8 bytes  port:1  n:1 name:n bytes
 *			(bit 7 of n: the transport does RMPP itself)
 *			simulated:1  n, options:n bytes, of which the last is 0
 *	events	kind:1 and then, by kind:
 *	  1 received, 2 returned	time, address, MAD
 *	  3 ring	time, timer
 *	  4 send	address, timeout_ms, MAD, 0 if it was accepted, else
 *			n + 1 and the n bytes of the reason
 *	  5 clock	time: the result of transport_now()
 *	  6 start	when (counts from the last time, and is not one). The
 *			first one starts timer 1, the next timer 2, ..
 *	  7 cancel	timer
 *	end	08, the number of events, the FNV-1a sum of all before: 8 bytes
 *
 *	address	qp, qkey, lid, pkey_index, sl, 0 or 1 and a GID of 16 bytes
 *	MAD	its length, n, n bytes; the others are zeros
 */
#ifndef MINISM_IO_RECORD_H
#define MINISM_IO_RECORD_H

#include "sm/io/transport.h"

enum record_kind {
	RECORD_RECEIVED = 1,
	RECORD_RETURNED = 2,
	RECORD_RING = 3,
	RECORD_SEND = 4,
	RECORD_CLOCK = 5,
	RECORD_START = 6,
	RECORD_CANCEL = 7,
};

struct record_event {
	enum record_kind kind;
	int64_t time;		/* when; of kinds 4, 6, 7 the last one known */
	int64_t when;		/* start */
	unsigned timer;		/* start, cancel, ring */
	unsigned timeout_ms;	/* send */
	struct mad_addr addr;	/* received, returned, send */
	const uint8_t *mad;	/* likewise */
	size_t len;
	const char *refusal;	/* send; NULL: it was accepted */
};

#define RECORD_MAD_MAX	(1u << 26)	/* bytes */
/* Times go from 0 to this, so that sums of two do not overflow. */
#define RECORD_TIME_MAX	(INT64_MAX / 2)

/* Appends to `out`, which its owner may empty in between. */
struct record_writer {
	GByteArray *out;
	int64_t time;
	uint64_t events, sum;
};

/* Of t the port, its name, rmpp and simulated go into the record. options: of
 * the program, as it wrote them; NULL is "". */
void record_begin(struct record_writer *w, GByteArray *out,
		  const struct transport *t, const char *options);
/* The writer keeps the last time, and counts the starts of timers. */
void record_put(struct record_writer *w, const struct record_event *e);
void record_end(struct record_writer *w);

enum record_error {
	RECORD_ERROR_FORMAT,	/* no record, cut off, or damaged */
	RECORD_ERROR_IO,	/* it cannot be read or written */
};
#define RECORD_ERROR record_error_quark()
GQuark record_error_quark(void);

/* A file for a record: for its owner alone, also if it was there, since a
 * record holds the keys of the fabric. -1 with RECORD_ERROR_IO. */
int record_create(const char *path, GError **error);

struct record_reader;

/* Checks all of `bytes`, which must outlive the reader and *options, and sets in
 * t what record_begin() took from it. NULL with an error that names the first
 * byte that is not valid. */
struct record_reader *record_reader_new(const uint8_t *bytes, size_t len,
					struct transport *t,
					const char **options, GError **error);
void record_reader_free(struct record_reader *r);

/* False at the end. The event is valid until the next call. */
bool record_next(struct record_reader *r, struct record_event *e);

#endif
