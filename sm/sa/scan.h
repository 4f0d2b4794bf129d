/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The scan of the fabric for records, in two parts: which ports or switches are
 * looked at (records.c), and how their records are made (scan_make.c). Private
 * to these.
 */
#ifndef MINISM_SA_SCAN_H
#define MINISM_SA_SCAN_H

#include "sm/sa/records.h"

/* Record number `i` of a port or switch. False: it has no such record. */
struct scan;
typedef bool (*make_fn)(const struct scan *s, uint32_t at, uint32_t i,
			uint8_t *record);

enum domain { DOMAIN_PORTS, DOMAIN_SWITCHES };

struct fabric_table {
	uint16_t attr_id;
	uint8_t domain;
	make_fn make;
	uint32_t (*count)(const struct scan *s, uint32_t at);
	int8_t block;		/* component that is the number of a record, */
	uint8_t block_base;	/* which begins with this; -1: none */
	int8_t port;		/* component that is the port's number, or -1 */
	bool ca_by_lid;		/* of a CA the LID alone names the port: port
				   numbers in the record mean nothing there */
};

struct scan {
	struct sa_db *v;
	struct mft *mft;	/* the view's when this began, or NULL */
	const struct fabric_table *table;
	struct sa_match match;
	struct query q;			/* q.h, q.wanted: not after the start */
	GArray *list;		/* of indices, ascending; NULL: all of them */
	uint32_t at, end;	/* of the list, or of the domain */
	uint32_t i, n;		/* records of `at` */
	uint32_t i_first, i_end;	/* those that are wanted */
	int port_num;		/* only ports with this number; -1: all */
	bool open;		/* i and n are those of `at` */
};

const struct fabric_table *scan_find_table(unsigned attr_id);

/* The end port of a port: itself, or port 0 of its switch. */
uint32_t scan_end_port(const struct sa_db *v, uint32_t port);

#endif
