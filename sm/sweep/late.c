// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sets that may have been executed, or may be still. They are kept by NodeGUID: a
 * sweep that is broken off, a switch that is reset or not found, another master in
 * between change nothing about what is on the way.
 */
#include "sm/sweep/late.h"

#include <string.h>

#include "topology/each.h"

#define PAUSE_MAX_US	(300 * (int64_t)G_USEC_PER_SEC)

struct late {
	GHashTable *nodes;	/* struct late_node */
	int64_t inherited;	/* see late_inherit(); 0: nothing is */
};

struct late_node {
	uint64_t guid;		/* first: it is the key */
	int64_t until;		/* see late_note(), */
	int64_t pause;		/* so long after the last Set */
	GArray *sets;		/* struct late_set */
};

/* Of a forwarding table. */
struct late_set {
	struct lft_part part;
	int64_t until;		/* 0: it was refused */
};

static void
late_node_free(gpointer node)
{
	g_array_unref(((struct late_node *)node)->sets);
	g_free(node);
}

struct late *
late_new(void)
{
	struct late *l = g_new0(struct late, 1);

	l->nodes = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
					 late_node_free);
	return l;
}

void
late_free(struct late *l)
{
	g_hash_table_unref(l->nodes);
	g_free(l);
}

void
late_inherit(struct late *l, int64_t now)
{
	l->inherited = now + LATE_SET_US;
}

/* Is all to be read, in a sweep that began then? */
static bool
late_all_is_due(const struct late *l, int64_t began)
{
	return l->inherited && l->inherited <= began;
}

void
late_note(struct late *l, uint64_t node_guid, const struct smp_request *r,
	  int64_t now, int64_t began, bool is_switch)
{
	struct late_node *n = g_hash_table_lookup(l->nodes, &node_guid);
	struct late_set late = { .part.block = r->modifier };
	guint at, i = 0, n_others = 0;

	if (!n) {
		n = g_new0(struct late_node, 1);
		n->guid = node_guid;
		n->pause = LATE_SET_US;
		n->sets = g_array_new(FALSE, FALSE, sizeof(late));
		g_hash_table_add(l->nodes, n);
	}
	if (now && !is_switch && n->until && n->until <= began)
		n->pause = MIN(2 * n->pause, PAUSE_MAX_US);
	if (now)
		n->until = late.until = now + n->pause;
	if (r->attr != MAD_ATTR_LINEAR_FT)
		return;
	memcpy(late.part.bytes, r->data, LFT_BLOCK);
	/* behind others of its block */
	at = n->sets->len;
	EACH_ITEM(struct late_set, set, n->sets) {
		i++;
		if (memcmp(&set->part, &late.part, sizeof(late.part)) == 0) {
			set->until = MAX(set->until, late.until);
			return;
		}
		if (set->part.block != late.part.block)
			continue;
		at = i;
		n_others++;
	}
	if (n_others > LFT_PARTS_MAX) {	/* the block is not known all that time */
		EACH_ITEM(struct late_set, set, n->sets)
			if (set->part.block == late.part.block)
				set->until = MAX(set->until, late.until);
		return;
	}
	g_array_insert_val(n->sets, at, late);
}

int64_t
late_due(const struct late *l)
{
	int64_t due = l->inherited ?: INT64_MAX;
	GHashTableIter at;
	gpointer node;

	g_hash_table_iter_init(&at, l->nodes);
	while (g_hash_table_iter_next(&at, &node, NULL)) {
		const struct late_node *n = node;

		if (n->until)
			due = MIN(due, n->until);
	}
	return due;
}

bool
late_is_due(const struct late *l, uint64_t node_guid, int64_t began)
{
	const struct late_node *n = g_hash_table_lookup(l->nodes, &node_guid);

	return late_all_is_due(l, began) ||
		(n && n->until && n->until <= began);
}

static struct late_node *
late_find(const struct late *l, const struct snapshot *s, uint32_t sw)
{
	return g_hash_table_lookup(l->nodes, &s->nodes[s->switches[sw]].info.
				   node_guid);
}

/* Does a Set count no longer, since its block was read? */
static bool
is_over(const struct late_set *set, uint32_t sw, const struct lft_seen *seen,
	int64_t began)
{
	return set->until <= began &&
		lft_seen_block(seen, sw, set->part.block);
}

void
late_forget(const struct late *l, const struct snapshot *s,
	    struct lft_seen *seen, int64_t began)
{
	if (late_all_is_due(l, began))
		lft_seen_forget_all(seen);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct late_node *n = late_find(l, s, sw);

		EACH_ITEM(const struct late_set, set, n ? n->sets : NULL)
			if (set->until && set->until <= began)
				lft_seen_forget(seen, sw, set->part.block);
	}
}

GArray *
late_parts(const struct late *l, const struct snapshot *s,
	   const struct lft_seen *seen, int64_t began, int64_t *until)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct lft_part));

	*until = 0;
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct late_node *n = late_find(l, s, sw);

		EACH_ITEM(const struct late_set, set, n ? n->sets : NULL) {
			struct lft_part part = set->part;

			if (part.block >= lft_n_blocks(seen->lft) ||
			    is_over(set, sw, seen, began))
				continue;
			part.sw = sw;
			g_array_append_val(parts, part);
			if (set->until > began)
				*until = MAX(*until, set->until);
		}
	}
	return parts;
}

void
late_end(struct late *l, const struct snapshot *s, const struct lft_seen *seen,
	 int64_t began)
{
	GHashTableIter at;
	gpointer node;

	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		struct late_node *n = late_find(l, s, sw);

		for (guint i = n ? n->sets->len : 0; i-- > 0;)
			if (is_over(&g_array_index(n->sets, struct late_set, i),
				    sw, seen, began))
				g_array_remove_index(n->sets, i);
	}
	if (late_all_is_due(l, began))
		l->inherited = 0;
	g_hash_table_iter_init(&at, l->nodes);
	while (g_hash_table_iter_next(&at, &node, NULL)) {
		struct late_node *n = node;

		if (n->until <= began)
			n->until = 0;
		if (!n->until && !n->sets->len)
			g_hash_table_iter_remove(&at);
	}
}
