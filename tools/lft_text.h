/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forwarding tables as the text of opensm-lfts.dump. A heading for each switch,
 * then a line for each LID:
 *
 *	Unicast lids [0-14] of switch Lid 2 guid 0x5000000000000100 ('S-1-0'):
 *	0x0001 001 # Channel Adapter portguid 0x6000000000000101: 'H-0'
 *	14 lids dumped
 */
#ifndef MINISM_TOOLS_LFT_TEXT_H
#define MINISM_TOOLS_LFT_TEXT_H

#include <glib.h>

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/* opensm-lfts.dump. Tens of millions of lines in a large fabric: the line of
 * each LID up to `top`, but for its port; unref. */
GPtrArray *lft_text_lines(const struct snapshot *s,
			  const struct lid_map *lids, uint32_t top);
/* Appends the section of a switch; lines: of the tables' top. */
void lft_text_write_switch(const struct snapshot *s,
			   const struct lid_map *lids, const struct lft *lft,
			   uint32_t sw, const GPtrArray *lines, GString *out);
/* Appends all of it. */
void lft_text_write(const struct snapshot *s, const struct lid_map *lids,
		   const struct lft *lft, GString *out);

#endif
