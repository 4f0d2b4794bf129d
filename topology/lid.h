/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * LID assignment.
 *
 * The rule, in order (each step sees only what the steps before left free):
 *   1. An end port keeps the LID range that it has on the fabric, if that is
 *      valid (unicast, aligned to its LMC, LMC as wanted). Two that claim the
 *      same LID: the one that the memory names wins, then the lower PortGUID.
 *   2. A port without one gets the range that the memory holds for it.
 *   3. The rest get the lowest free aligned ranges, switch by switch: the switch,
 *      then what is cabled to its ports, by their number. Switches are in the
 *      order of the LIDs that they keep, new ones behind them by PortGUID; ports
 *      that are cabled to no switch come last, by PortGUID. So what is at one
 *      switch shares few blocks of a forwarding table (64 LIDs), and if the paths
 *      to it change, few blocks are written. LIDs that the memory holds for ports
 *      that are away are taken only when nothing else is left.
 * A LID that some switch has no table entry for (LinearFDBCap) is not given,
 * nor kept, nor remembered for anyone, as long as all fit below the smallest
 * LinearFDBCap. If they do not, the limit is ignored: moving LIDs would help
 * some ports and not others, and the verdict names the switch. What a port has
 * or had is measured by the higher one of this LinearFDBCap and the one in the
 * last discovery: one false answer moves no LID, but for the first discovery of
 * all.
 * Same input, same output: the order of discovery does not matter.
 */
#ifndef MINISM_TOPOLOGY_LID_H
#define MINISM_TOPOLOGY_LID_H

#include "topology/snapshot.h"
#include "topology/state_line.h"

/* One line of the memory. */
struct lid_range {
	uint64_t guid;		/* PortGUID */
	uint16_t min, max;	/* max - min + 1 = 2^LMC */
};

/* The answer. base[port] is 0 for a port that owns no LID. */
struct lid_map {
	gint ref;
	uint32_t n_ports;
	uint16_t top;		/* the highest LID given, 0 if none */
	uint16_t *base;		/* by port index of the snapshot */
	uint8_t *lmc;		/* by port index */
	uint32_t *owner; /* LID -> port or SNAPSHOT_NONE, top + 1 entries */
	char *lack;		/* a line on end ports for which no LID was
				   left; NULL: there are none */
};

/*
 * Gives every end port of `s` its LIDs, as long as there are any.
 * lmc: what CAs, routers and enhanced switch ports 0 get (0 to 7); a base
 *	switch port 0 always has LMC 0 (IBA 14.2.5.6).
 * memory, n_memory: sorted by GUID, no GUID twice; may be NULL, 0.
 * notes: if not NULL, a GPtrArray of g_malloc'ed lines, one for each LID that
 *	was claimed twice and how it was decided, and one for a LinearFDBCap
 *	that took LIDs away or that does not suffice, and `lack`.
 * Returns NULL with `lack` as a TEXT_ERROR if the subnet manager's own port is
 * among those for which no LID is left.
 */
struct lid_map *lid_assign(const struct snapshot *s, unsigned lmc,
			    const struct lid_range *memory, size_t n_memory,
			    GPtrArray *notes, GError **error);
/* The port that has this LID; SNAPSHOT_NONE: no port has it. */
static inline uint32_t
lid_map_owner(const struct lid_map *map, uint16_t lid)
{
	return lid && lid <= map->top ? map->owner[lid] : SNAPSHOT_NONE;
}
struct lid_map *lid_map_ref(struct lid_map *map);
void lid_map_free(struct lid_map *map);	/* gives up a reference */

/* The memory: a part of the state text, a line "lid PortGUID MIN MAX". A range
 * that is no aligned power of two of unicast LIDs is refused, and a GUID or LID
 * that was there before. */
struct lid_memory {
	GArray *ranges;		/* of struct lid_range, by GUID */
	uint8_t given[LID_UNICAST_MAX + 1];	/* to one of those that were
						   read */
};
extern const struct state_part lid_part;

/* The memory after this assignment: `map`, and of the old memory the ports that
 * are away and whose LIDs are free. A GArray of lid_range, sorted. */
GArray *lid_remember(const struct snapshot *s, const struct lid_map *map,
		      const struct lid_range *memory, size_t n_memory);

#endif
