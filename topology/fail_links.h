/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is left of a fabric when cables and switches fail: for the laboratory
 * and for tests.
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
 * switches; which ones follows from the seed, and neither choice changes the
 * other. What the local port cannot reach any more is left out, as it would be
 * by a discovery.
 */
struct snapshot *snapshot_fail_links(const struct snapshot *s,
				     const struct link_failures *d);

#endif
