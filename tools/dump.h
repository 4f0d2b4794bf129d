/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * OpenSM's dump files of a fabric, for ibutils and scripts.
 */
#ifndef MINISM_TOOLS_DUMP_H
#define MINISM_TOOLS_DUMP_H

#include <glib.h>

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/*
 * Writes into `dir` (made if it is missing), under OpenSM's names,
 *
 *	opensm-subnet.lst	a line a cable end, as ibdmchk -s reads it
 *	opensm.fdbs		unicast tables with hops and "Optimal", as
 *				ibdmchk -f
 *	opensm-lfts.dump	as dump_fts and ibroute print them
 *
 * and the cables as minism.net in ibnetdiscover's format; each file atomically.
 */
bool dump_all(const char *dir, const struct snapshot *s,
	      const struct lid_map *lids, const struct lft *lft,
	      GError **error);

#endif
