/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric with failed cables and switches: for minism-route and for tests.
 */
#ifndef MINISM_TOPOLOGY_FAIL_LINKS_H
#define MINISM_TOPOLOGY_FAIL_LINKS_H

#include "topology/snapshot.h"

struct link_failures {
	uint64_t seed;
	unsigned links_per_mille;	/* of the switch-to-switch cables */
	unsigned switches_per_mille;	/* of all switches; never the one that
					   the local port is cabled to */
};

/*
 * A new snapshot without them. Shares are rounded to whole cables and
 * switches; the seed decides which ones, and neither choice changes the other.
 * Nodes that the local port no longer reaches are left out, as by a discovery.
 */
struct snapshot *snapshot_fail_links(const struct snapshot *s,
				     const struct link_failures *d);

/* Marks n of the eligible (uint32_t, below n_marks): any set with the same
 * probability. rng: see prng.h. g_free. */
uint8_t *fail_links_choose(uint32_t n_marks, const GArray *eligible, uint64_t n,
			   uint64_t rng);

#endif
