/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The other side of what an SA says: what the agents of the fabric answer when
 * they are asked by SMPs, as records of the SA's tables. Nothing of it has
 * passed through the SM.
 */
#ifndef MINISM_TESTS_OSMTRUTH_H
#define MINISM_TESTS_OSMTRUTH_H

#include "tests/lib/osmlab.h"

/* Who asks, from an end port of the fabric. */
struct truth {
	struct osm_world *o;
	struct transport *t;
	uint32_t tid;
	bool done;
	unsigned status;
	uint8_t data[SMP_DATA_LEN];	/* of the last answer */
};
void truth_open(struct truth *x, struct osm_world *o, uint32_t port);
void truth_close(struct truth *x);
/* Get of the agent to which `port` belongs. False: it refuses. */
bool truth_ask(struct truth *x, uint32_t port, unsigned attr_id,
	       uint32_t attr_mod);

/* The port that owns the LID of `port`: of a switch port 0. */
uint32_t truth_end_port(const struct osm_world *o, uint32_t port);
/* Ports that are there and that the SM can reach, uint32_t, in index order. */
GArray *truth_end_ports(const struct osm_world *o);
/* Who has this LID, of them; SUBNET_NONE: nobody. */
uint32_t truth_owner(const struct osm_world *o, const GArray *ends,
		     uint16_t lid);

/*
 * All records of a table of the fabric that there should be, sorted: nodes,
 * ports, links, SwitchInfo, GUIDInfo, LFT and MFT blocks, P_Keys, SL to VL, VL
 * arbitration. What nobody can know is 0 (truth_blank()); of MFT blocks those
 * that have an entry.
 */
GByteArray *truth_records(struct truth *x, unsigned attr_id);
/* LocalPortNum is where an SMP came in, which differs by who asks. */
void truth_blank(unsigned attr_id, uint8_t *record);

/* Sets of records. Sorting is by their bytes. */
void records_sort(GByteArray *records, size_t size);
/* What is in `a` and not in `b`; both are sorted. */
GByteArray *records_minus(const GByteArray *a, const GByteArray *b,
			  size_t size);

#endif
