/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forwarding tables as text: opensm-lfts.dump, as OpenSM and minism write it,
 * and what dump_fts and ibroute of infiniband-diags print. Text in, values
 * out; no I/O.
 *
 *	Unicast lids [0-14] of switch Lid 2 guid 0x5000000000000100 ('S-1-0'):
 *	0x0001 001 # Channel Adapter portguid 0x6000000000000101: 'H-0'
 *	14 lids dumped
 *
 *	Unicast lids [0x0-0xe] of switch Lid 5 guid 0x5000000000000400 (S-1-3):
 *	  Lid  Out   Destination
 *	       Port     Info
 *	0x0001 003 : (Channel Adapter portguid 0x6000000000000101: 'H-0')
 *	14 valid lids dumped
 */
#ifndef MINISM_LAB_LFT_FILE_H
#define MINISM_LAB_LFT_FILE_H

#include <glib.h>

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/* One switch's table. */
struct lft_file_table {
	uint64_t guid;		/* NodeGUID */
	unsigned line;		/* of its heading */
	GByteArray *ports;	/* by LID as far as it goes; LFT_NO_PATH */
};

struct lft_file {
	char *name;		/* for messages */
	GArray *tables;		/* struct lft_file_table, by GUID, each once */
	GArray *owners;		/* struct lid_range, by GUID: the LIDs of
				   each owner, if the text has it (portguid) */
	uint16_t top;		/* the highest LID of any entry */
};

/* NULL with a TEXT_ERROR, "name:line: ..", for a line of unknown form, a LID that
 * is not unicast, a port above 255, contradictions (two tables of one switch, two
 * entries or two owners of a LID), and an owner whose LIDs are not a range. */
struct lft_file *lft_file_parse(const char *text, const char *name,
				GError **error);
void lft_file_free(struct lft_file *file);

/*
 * The tables for the switches of `s`. notes: if not NULL, a GPtrArray of
 * g_malloc'ed lines: tables of unknown switches, switches without a table (all
 * LFT_NO_PATH), owners with other LIDs in `lids`. NULL with a TEXT_ERROR if no
 * switch of `s` is in the file.
 */
struct lft *lft_file_tables(const struct lft_file *file,
			    const struct snapshot *s,
			    const struct lid_map *lids, GPtrArray *notes,
			    GError **error);

#endif
