/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to agents as text, and what is expected of their answers. Of a
 * subnet administration or a store of it:
 *
 *	Get NodeRecord from=H-3 LID=H-5+1 => ok LID=H-5 NumPorts=1
 *	GetTable LinkRecord FromLID=S-1-0 => 6 #0 FromPort=1 #5 FromPort=6
 *	Set 0x77 => bad-attribute
 *
 * or of an agent of the subnet (SMPs):
 *
 *	Set PortInfo at=H-2 mod=1 LID=9 => ok LID=9
 *
 * METHOD and ATTRIBUTE are names of the specification, or numbers.
 * COMPONENT=VALUE puts a value into the record and names it in the
 * ComponentMask; .COMPONENT=VALUE only does the first, +COMPONENT only the
 * second, -COMPONENT takes it out of the mask. COMPONENT is a name of
 * mad_tables.c, NAME[3] the fourth of that name, @8/2 the two bytes from byte 8
 * of the record on. A value is a number, a string, a GID as an IPv6 address, or
 * a port by name: its LID, GUID or GID, as many bits as there are, and +N to
 * it. Words with a small letter are the fixture's options.
 *
 * Behind => stands the status, or of a table how many records there are; of
 * record #N, else of the first or only one, COMPONENT=VALUE holds, or
 * COMPONENT!=VALUE.
 */
#ifndef MINISM_TESTS_LIB_REQUEST_H
#define MINISM_TESTS_LIB_REQUEST_H

#include <glib.h>

#include "sm/mad/sa_record.h"
#include "topology/port_tables.h"

/* Statuses: there is no answer; there is none in time. */
#define REQUEST_DROPPED	0xffffu
#define REQUEST_SILENT	0x10000u

struct request_name {
	uint16_t lid;
	uint64_t guid;
	uint8_t gid[16];
	const char *desc;	/* for what is longer; or NULL */
};

struct request_kind {
	bool is_smp;
	/* False: nothing has that name. */
	bool (*name)(void *fixture, const char *name, struct request_name *out);
	/* Of an option, whose value is NULL or what follows '='; false: there
	 * is none of that name. */
	bool (*option)(void *fixture, const char *name, const char *value);
};

struct request {
	const struct request_kind *kind;
	void *fixture;
	unsigned method, attr_id;
	const struct mad_attr_table *table;	/* NULL: no components */
	unsigned base;		/* bits of the record before the data */
	uint64_t mask;
	uint8_t data[SA_DATA_LEN];
	char **expected;	/* what follows the =>; NULL: nothing does */
};

/* words: from the method on. Fails the test if they make no request. */
void request_read(struct request *r, const struct request_kind *kind,
		  void *fixture, char **words);
/* As components of one record, which may have others already. */
void request_put(struct request *r, char **words);

/* Fails the test unless the answer is what is expected of it: a table of n
 * records of `size` bytes, with status 0; */
void request_expect_table(const struct request *r, const uint8_t *records,
			  unsigned n, size_t size);
/* one record. */
void request_expect_record(const struct request *r, unsigned status,
			   const uint8_t *record);
/* The MAD of a line without => .., for its sender to fill in. */
void request_write(const struct request_kind *kind, void *fixture,
		   uint8_t mad[MAD_SIZE], const char *format, va_list args)
	G_GNUC_PRINTF(4, 0);
/* COMPONENT=VALUE .. hold of a record that is the fixture's. */
void request_hold(const struct request_kind *kind, void *fixture,
		  unsigned attr_id, char **words, const uint8_t *record);
/* COMPONENT=VALUE, into the host struct that goes with a record. */
void request_poke(unsigned attr_id, void *host, const char *word);
/* A table of ports by the beginning of its name; a block of it as hex digits,
 * from its first byte on. */
enum port_table request_table(const char *name);
union port_block request_block(enum port_table table, const char *hex);

#endif
