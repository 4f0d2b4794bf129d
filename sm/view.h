/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The view: what the manager publishes of its fabric as one text, which
 * everything that looks at a fabric reads (minism-view(5)). A net file, as
 * ibnetdiscover prints it, with lines of view_line.h around it.
 */
#ifndef MINISM_SM_VIEW_H
#define MINISM_SM_VIEW_H

#include "routing/tables.h"
#include "sm/io/beside.h"
#include "topology/lid.h"
#include "topology/partition.h"
#include "topology/port_tables.h"
#include "topology/snapshot.h"
#include "topology/view_line.h"

/* What a view is made of: references and own texts. */
struct view_values {
	uint64_t generation;	/* counts sweeps: of one, all is alike */
	uint64_t sa_version;	/* of the groups, which change in between */
	int64_t at;		/* ms since 1970 */
	uint64_t port_guid;	/* of this manager */
	struct snapshot *s;	/* NULL: for the status alone */
	struct lid_map *lids;	/* of it */
	struct lft *lft;		/* NULL: none is known */
	struct memberships *memberships;	/* NULL: none are known; */
	struct partition_rules *rules;		/* by these; likewise */
	struct port_tables *held;	/* NULL: none are known */
	bool tables;		/* the text is to have them */
	GString *before;	/* lines that stand before the net file */

	/* private: the text */
	GString *text;
	int64_t took_us;
	uint64_t number;
};

/* The whole text; appends. Pure, and slow for a large fabric. */
void view_write(const struct view_values *v, GString *out);
/* One node: v->before, it and its neighbours as a net file, its ports, P_Keys,
 * and of a switch its table. */
void view_write_node(const struct view_values *v, uint32_t node, GString *out);
/* One LID: the port to it of each switch. */
void view_write_lid(const struct view_values *v, uint16_t lid, GString *out);
/* No net file, and lines of any length; of a fabric, its partitions. */
void view_write_status(const struct view_values *v, GString *out);
void view_values_free(void *values);

/*
 * Texts that are made beside the loop, one after the other: that of ten thousand
 * hosts takes some tenths of a second, and clients may ask for it at any rate. So
 * the last one is what all get for 20 times as long as it took, or until
 * views_expire().
 */
struct views;

/* On the loop: takes a text over. */
typedef void (*views_fn)(GString *text, void *data);

/* beside NULL: each is made at once. It is borrowed, and freed later. fn gets
 * each text; NULL: the last one is kept. */
struct views *views_new(struct beside *beside, views_fn fn, void *data);
void views_free(struct views *v);

/* Takes the values over; the text is made after the one that is being made,
 * unless newer values come before. Its number. */
uint64_t views_make(struct views *v, struct view_values *values);
/* One that is not old, or has this number. NULL: to be asked for again, with
 * *number, which is being made; 0: none is. */
GBytes *views_get(const struct views *v, uint64_t *number);
/* What it says has changed. */
void views_expire(struct views *v);

#endif
