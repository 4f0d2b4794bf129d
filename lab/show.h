/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as a picture in text.
 */
#ifndef MINISM_TOOLS_SHOW_H
#define MINISM_TOOLS_SHOW_H

#include <glib.h>

#include "routing/graph.h"
#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/*
 * Switches by their distance from the hosts (the top of the tree first), each
 * with LID, ports by state and its neighbours; the hosts behind each leaf with
 * LID and state; at most `lines` lines, the rest counted.
 */
void show_fabric(const struct snapshot *s, const struct lid_map *lids,
		 unsigned lines, GString *out);

/*
 * One route, hop by hop with names, ports and LIDs, by the tables: from end
 * port `from` to the LID of end port `to`. Says where it breaks off if it does.
 */
void show_route(const struct snapshot *s, const struct lid_map *lids,
		const struct lft *lft, uint32_t from, uint32_t to,
		GString *out);

/* From the manager's port to the host that is farthest by hops: a route worth
 * showing. False: there is nothing behind the port. */
bool show_pick_route(const struct snapshot *s, const struct lid_map *lids,
		     uint32_t *from, uint32_t *to);

#endif
