/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric by formula with a subnet administration that answers from it: what
 * the tests of the SA as a whole ask. Change the fabric, the tables or the
 * rules and publish again.
 */
#ifndef MINISM_TESTS_SA_LAB_H
#define MINISM_TESTS_SA_LAB_H

#include "sm/mad/bytes.h"
#include "sm/mad/sa_record.h"
#include "sm/sa/sa.h"

#define LAB_KEY		UINT64_C(0x1234)
#define LAB_NOW		INT64_C(1000000)
#define LAB_LIFE	18u

struct lab {
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;
	struct mft *mft;	/* NULL at first */
	struct partition_rules *rules;
	uint64_t prefix;
	int64_t now;		/* LAB_NOW at first */
	struct sa *sa;
	struct sa_db *v;	/* the last one that was published */
	uint8_t mad[MAD_SIZE];
	uint32_t qp;		/* of the requester; lab_begin(): 1 */
	struct sa_reply reply;
};

/* All cables Active, routed by min-hop, all ports in the default partition;
 * published. GUIDs are shuffled, but of a single switch. */
void sa_lab_open(struct lab *l, const char *spec, unsigned lmc);
/* The same on this fabric, and not published. */
void sa_lab_open_on(struct lab *l, struct snapshot *s, unsigned lmc);
void sa_lab_close(struct lab *l);
void lab_publish(struct lab *l);

/* The port of host number i, or of the port 0 of switch number i. */
uint32_t lab_host(const struct lab *l, unsigned i);
uint32_t lab_switch(const struct lab *l, unsigned i);
uint16_t lab_lid(const struct lab *l, uint32_t port);
void lab_gid(const struct lab *l, uint32_t port, uint8_t gid[16]);

/* A request with the SM_Key of a trusted one; its data are for the caller. */
void lab_begin(struct lab *l, unsigned method, unsigned attr_id,
	       uint64_t comp_mask);
uint8_t *lab_data(struct lab *l);	/* of the request */
const uint8_t *lab_answer(const struct lab *l);	/* data of the reply */

/* Asks; the status of the answer (a table's is 0). Tables of ports that would
 * have to be read count as refused by their ports. */
#define LAB_DROPPED	0xffffu	/* REQUEST_DROPPED */
unsigned lab_ask_at(struct lab *l, uint16_t slid, int64_t now);
unsigned lab_ask(struct lab *l);	/* from host 0 */

/* The next record of a table, past pauses; false: the end. And all of them. */
bool lab_next(struct sa_records *r, uint8_t *record);
GByteArray *lab_drain(struct lab *l, unsigned *n);
unsigned lab_count(struct lab *l);

/* What must hold of every store. */
void sa_lab_check(const struct sa *sa);

/* Asks; so many records come. */
#define assert_records(l, n) \
	do { \
		assert_int_equal(lab_ask(l), 0); \
		assert_int_equal(lab_count(l), n); \
	} while (0)

/* The cable of a port, 4x of 25 Gb/s a lane, gets 10 Gb/s a lane. */
void lab_slow_down(struct lab *l, uint32_t port);

/* A member of partition `pkey` and of no other; to be published. */
void lab_member(struct lab *l, uint16_t pkey, uint32_t port,
		enum partition_membership membership);
/* No port is a member of any partition. */
void lab_clear_rules(struct lab *l);

#endif
