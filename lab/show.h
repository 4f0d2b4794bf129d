/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A route through the fabric, 80 columns wide.
 */
#ifndef MINISM_LAB_SHOW_H
#define MINISM_LAB_SHOW_H

#include <glib.h>

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/*
 * One route, hop by hop with names, ports and LIDs, by the tables: from end
 * port `from` to the LID of end port `to`. Says where it breaks off if it does.
 */
void show_route(const struct snapshot *s, const struct lid_map *lids,
		const struct lft *lft, uint32_t from, uint32_t to,
		GString *out);

#endif
