/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The partitions of a file while it is read: definitions of one partition are
 * united, missing P_Keys made. Private to the partfile*.c of this folder.
 */
#ifndef MINISM_CONFIG_PARTITIONS_DRAFT_H
#define MINISM_CONFIG_PARTITIONS_DRAFT_H

#include "topology/partition.h"
#include "topology/text.h"

struct partfile_group {
	struct partition_group group;	/* MGID as the file has it */
	uint16_t scopes;		/* a bit each; 0: as in the MGID */
	bool broadcast;			/* of IPoIB: the MGID is to come */
	struct text_place place;
};

struct partfile_draft {
	char *name;			/* of the first definition, or NULL */
	uint16_t pkey;			/* 0: to be made from the name */
	struct text_place place;	/* of the first definition */
	unsigned sl_line;		/* 0: no SL was given */
	uint8_t sl;
	bool index0;
	enum partition_membership defmember;	/* NONE: not given */
	GArray *rules;			/* struct partition_rule */
	GArray *groups;			/* struct partfile_group */
};

struct partfile_drafts {
	GPtrArray *all;			/* in order of the file */
	struct partfile_draft **by_pkey;
	GHashTable *by_name;		/* name -> struct named */
};

void partfile_drafts_init(struct partfile_drafts *drafts);
void partfile_drafts_clear(struct partfile_drafts *drafts);

struct partfile_draft *partfile_draft_new(void);
void partfile_draft_free(struct partfile_draft *draft);

/*
 * The partition that a definition is about. pkey 0: it has a name only. NULL
 * with an error if it cannot be said which one that is.
 */
struct partfile_draft *
partfile_drafts_get(struct partfile_drafts *drafts, struct text_scan *lex,
		    const struct text_span *name, uint16_t pkey);

/* All of them as rules; there may be errors even now. At least one draft. */
struct partition_rules *partfile_drafts_finish(struct partfile_drafts *drafts,
					       struct text_scan *lex);

#endif
