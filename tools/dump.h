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

/*
 * Appends the text of opensm-lfts.dump: a heading for each switch, then a line for
 * each LID:
 *
 *	Unicast lids [0-14] of switch Lid 2 guid 0x5000000000000100 ('S-1-0'):
 *	0x0001 001 # Channel Adapter portguid 0x6000000000000101: 'H-0'
 *	14 lids dumped
 */
void dump_tables(const struct snapshot *s, const struct lid_map *lids,
		 const struct lft *lft, GString *out);

#endif
