/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memberships: the P_Keys that each end port of a snapshot has, by the rules of
 * the partitions (IBA 10.9).
 */
#ifndef MINISM_TOPOLOGY_MEMBERSHIP_H
#define MINISM_TOPOLOGY_MEMBERSHIP_H

#include "topology/partition.h"

/* pkeys[first[port] .. first[port + 1] - 1] are the P_Keys of an end port,
 * ascending by partition, limited before full; what is no end port has none.
 * Immutable, reference counted. */
struct memberships {
	gint ref;
	uint32_t n_ports;
	uint32_t *first;	/* n_ports + 1 */
	uint16_t *pkeys;
};

/* strangers: if not NULL, a GArray of struct partition_rule: the rules that
 * name a port which is not there. */
struct memberships *memberships_new(const struct partition_rules *rules,
				    const struct snapshot *s,
				    GArray *strangers);
struct memberships *memberships_ref(struct memberships *m);
void memberships_unref(struct memberships *m);

/* What a port is in a partition: 0, or of enum partition_membership. */
unsigned memberships_of(const struct memberships *m, uint32_t port,
			uint16_t pkey);

/* May a and b talk in the partition of `pkey`? (a may be b.) */
bool memberships_meet(const struct memberships *m, uint32_t a, uint32_t b,
		      uint16_t pkey);

/* The P_Key with which a talks to b: a's own, of the lowest partition in which
 * they meet, the default partition first; 0 if there is none. */
uint16_t memberships_common(const struct memberships *m, uint32_t a,
			    uint32_t b);

#endif
