// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From old to new forwarding tables without a credit loop on the way.
 *
 * While tables are written, each switch may hold the old or the new entry for
 * each LID. So the tables of each stage must have no credit loop together with
 * those of the stage before it.
 *
 * First stage: all new entries except those that lead into a channel which is
 * in a loop of old and new tables together. This is safe: a loop of the old
 * tables and the first stage would also be one of old and new, so no new entry
 * leads into its channels, and the old entries alone have no loop. The entries
 * left out, usually few, keep their old values. So does a new entry whose path
 * does not arrive, or goes round, because of an entry that was left out. Where the
 * old entry is in doubt there is none to keep: it is cleared. What may come back from
 * earlier updates is compared with the tables of each stage.
 *
 * Further stages: as many of the remaining entries as possible change, those
 * next to the destination first, each only if the dependencies that it makes
 * with old and new values of all other entries close no loop. At the end of a
 * stage the old values are gone, so more entries can change in the next one.
 *
 * If no more entries can change, the old entries whose channel is in a loop
 * with the new tables become LFT_NO_PATH. Then all remaining entries can
 * change.
 */
#include "routing/transition.h"

#include <string.h>

#include "routing/verify.h"
#include "topology/each.h"

#define MAX_STAGES	8u
#define MAX_ENTRIES	4096u	/* with more, the stages take too long */

/* Which new entries the first stage leaves out: those into channels of a
 * loop; also those of switch LIDs, since the paths of CAs to a switch depend
 * on all its entries; all of them. */
enum extent { EXTENT_LOOPED, EXTENT_SWITCHES, EXTENT_ALL };

struct transition {
	const struct graph *g;
	struct lft *held;
	const struct lft *wanted;
	const uint32_t *ranks;	/* or NULL */
	struct lft *now;	/* tables before this stage; with others */
	struct lft *then;	/* the same with the changes of this stage */
	struct channels *c;	/* dependencies of now and then together; at
				   first of the held tables, too */
	GArray *trail;		/* struct turn: added to c for one entry */
	GArray *behind;		/* of uint32_t: work space of carries_data(),
				   add_paths() */
	uint8_t *is_behind;	/* by switch: of carries_data(), all zero */
	uint8_t *is_met;	/* by edge: of add_paths(), all zero */
	GArray *entries;	/* the result */
	unsigned stage;		/* 0: of the first tables, not in entries */
	bool is_ordered;	/* see leads_back() */
};

/* An entry that is still to change. */
struct rest {
	uint32_t sw, hops;	/* hops: to the destination, in the new
				   tables */
	uint16_t lid;
};

/* Finds the next entry in which two tables differ, from (*sw, *lid) on. */
static bool
find_difference(const struct lft *a, const struct lft *b, uint32_t *sw,
		uint32_t *lid)
{
	const uint8_t *x, *y;

	for (; *sw < a->n_switches; (*sw)++, *lid = 0) {
		x = lft_row(a, *sw);
		y = lft_row(b, *sw);
		while (*lid < a->stride) {
			if (*lid % LFT_BLOCK == 0 &&
			    memcmp(x + *lid, y + *lid, LFT_BLOCK) == 0)
				*lid += LFT_BLOCK;
			else if (x[*lid] == y[*lid])
				(*lid)++;
			else
				return true;
		}
	}
	return false;
}

static struct lft *
transition_first(const struct transition *t, const uint8_t *looped,
		 enum extent extent)
{
	struct lft *first = lft_copy(t->held);
	const struct graph_target *target;
	uint32_t sw = 0, lid = 0, edge;
	uint8_t to;

	for (; find_difference(t->held, t->wanted, &sw, &lid); lid++) {
		to = lft_row(t->wanted, sw)[lid];
		edge = graph_edge_at(t->g, sw, to);
		target = graph_target_at(t->g, lid);
		if (extent != EXTENT_ALL &&
		    (edge == SNAPSHOT_NONE || !looped[edge]) &&
		    (extent != EXTENT_SWITCHES || !target || target->port))
			lft_row(first, sw)[lid] = to;
	}
	return first;
}

enum fate { FATE_ARRIVES, FATE_ENDS, FATE_ROUND };

/* Of packets to this LID from the switch. */
static enum fate
path_fate(const struct transition *t, const struct lft *lft, uint32_t sw,
	  uint16_t lid)
{
	const struct graph_target *target = graph_target_at(t->g, lid);

	if (verify_follow(t->g, lft, lid, &sw) >= VERIFY_HOPS_MAX)
		return FATE_ROUND;
	return !target || (target->sw == sw &&
			   target->port == lft_row(lft, sw)[lid]) ?
		FATE_ARRIVES : FATE_ENDS;
}

/* Do packets to this LID from the switch go round by these entries, or no longer
 * arrive, as they do by the old ones? */
static bool
is_worse(const struct transition *t, const struct lft *lft,
	 const struct lft *old, uint32_t sw, uint16_t lid)
{
	enum fate fate = path_fate(t, lft, sw, lid);

	return fate == FATE_ROUND || (fate == FATE_ENDS &&
		path_fate(t, old, sw, lid) == FATE_ARRIVES);
}

/* Takes back new entries whose path is worse. */
static void
take_back(const struct transition *t, struct lft *first)
{
	uint32_t sw, lid;
	bool has_changed;

	do {
		has_changed = false;
		for (sw = lid = 0; find_difference(first, t->held, &sw, &lid);
		     lid++) {
			uint8_t *port = &lft_row(first, sw)[lid];

			if (*port == LFT_NO_PATH || !is_worse(t, first,
					t->held, sw, (uint16_t)lid))
				continue;
			*port = lft_row(t->held, sw)[lid];
			has_changed = true;
		}
	} while (has_changed);
}

static int
compare_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	return uint_compare(x->hops, y->hops) ?:
		uint_compare(x->lid, y->lid) ?: uint_compare(x->sw, y->sw);
}

/* The entries that differ from the wanted tables, nearest to the destination
 * first. */
static GArray *
find_rest(const struct transition *t)
{
	GArray *rest = g_array_new(FALSE, FALSE, sizeof(struct rest));
	struct rest r;
	uint32_t lid = 0, end;

	for (r.sw = 0; find_difference(t->now, t->wanted, &r.sw, &lid);
	     lid++) {
		r.lid = (uint16_t)lid;
		end = r.sw;
		r.hops = verify_follow(t->g, t->wanted, lid, &end);
		g_array_append_val(rest, r);
	}
	g_array_sort(rest, compare_rest);
	return rest;
}

static void
set_entry(struct transition *t, uint32_t sw, uint16_t lid, uint8_t port)
{
	const struct transition_entry e = {
		.sw = sw, .lid = lid, .stage = (uint16_t)t->stage, .port = port,
	};

	lft_row(t->then, sw)[lid] = port;
	if (t->stage)
		g_array_append_val(t->entries, e);
}

/* Would the turn send a packet back to the switch that it came from? That takes
 * an old entry and a new one, and these are never there together: an entry is
 * not written while its next hop leads back (program_order.c). choose_cut_trees()
 * counts such turns, so they only come from transition_steps(). An entry in doubt may
 * be there with any other one. */
static bool
leads_back(const struct transition *t, uint32_t in, uint32_t out)
{
	return t->is_ordered && t->g->edges[out].peer == graph_owner(t->g, in);
}

/* Adds the turns of packets to this LID that arrive through this channel, by
 * old and new entries. Each channel is visited once: old and new entries over
 * parallel cables make 2^hops paths of a few channels. */
static bool
add_paths(struct transition *t, uint32_t edge, uint16_t lid)
{
	bool ok = true;
	guint i;

	g_array_set_size(t->behind, 0);
	g_array_append_val(t->behind, edge);
	t->is_met[edge] = 1;
	for (i = 0; i < t->behind->len && ok; i++) {
		uint32_t in = g_array_index(t->behind, uint32_t, i), out;
		uint32_t sw = t->g->edges[in].peer;
		const struct lft *lft = t->then, *next = t->now;

		for (; lft && ok; lft = next, next = lft ? lft->other : NULL) {
			out = graph_edge_at(t->g, sw, lft_row(lft, sw)[lid]);
			if (out == SNAPSHOT_NONE || leads_back(t, in, out))
				continue;
			ok = channels_extend(t->c, in, out, t->trail);
			if (!ok || t->is_met[out])
				continue;
			t->is_met[out] = 1;
			g_array_append_val(t->behind, out);
		}
	}
	for (i = 0; i < t->behind->len; i++)
		t->is_met[g_array_index(t->behind, uint32_t, i)] = 0;
	return ok;
}

/* Is the channel used by packets to this LID, by the old or the new entry? */
static bool
is_used(const struct transition *t, uint32_t edge, uint16_t lid)
{
	uint32_t from = graph_owner(t->g, edge);
	uint8_t port = t->g->edges[edge].port;
	const struct lft *lft = t->now;

	while (lft && lft_row(lft, from)[lid] != port)
		lft = lft->other;
	return lft || lft_row(t->then, from)[lid] == port;
}

/* Does data to this LID pass the switch? Port 0 to port 0 is not data. */
static bool
carries_data(struct transition *t, uint32_t sw, uint16_t lid)
{
	const struct graph_target *target = graph_target_at(t->g, lid);
	const struct graph *g = t->g;
	bool found = !target || target->port;
	uint32_t i, e;

	g_array_set_size(t->behind, 0);
	g_array_append_val(t->behind, sw);
	for (i = 0; i < t->behind->len && !found; i++) {
		sw = g_array_index(t->behind, uint32_t, i);
		found = g->n_senders[sw] > 0;
		t->is_behind[sw] = 1;
		for_each_edge(g, sw, e) {
			uint32_t from = g->edges[e].peer;

			if (!t->is_behind[from] &&
			    is_used(t, g->edges[e].back, lid)) {
				t->is_behind[from] = 1;
				g_array_append_val(t->behind, from);
			}
		}
	}
	for (i = 0; i < t->behind->len; i++)
		t->is_behind[g_array_index(t->behind, uint32_t, i)] = 0;
	return found;
}

/* Adds the turns into `edge` from all channels by which packets to this LID
 * arrive. */
static bool
add_entry(struct transition *t, const struct rest *r, uint32_t edge)
{
	const struct graph *g = t->g;
	uint32_t e;

	if (!carries_data(t, r->sw, r->lid))
		return true;
	for_each_edge(g, r->sw, e)
		if (is_used(t, g->edges[e].back, r->lid) &&
		    !leads_back(t, g->edges[e].back, edge) &&
		    carries_data(t, g->edges[e].peer, r->lid) &&
		    !channels_extend(t->c, g->edges[e].back, edge, t->trail))
			return false;
	return add_paths(t, edge, r->lid);
}

/* Makes one stage. False: no entry can change. */
static bool
make_stage(struct transition *t, const GArray *rest)
{
	bool has_changed = false;

	EACH_ITEM(const struct rest, r, rest) {
		uint8_t port = lft_row(t->wanted, r->sw)[r->lid];
		uint8_t *then = &lft_row(t->then, r->sw)[r->lid];
		uint32_t edge = graph_edge_at(t->g, r->sw, port);

		/* Tested with the new entry in place: the path may lead back
		 * here. */
		*then = port;
		g_array_set_size(t->trail, 0);
		if (edge == SNAPSHOT_NONE || (!is_worse(t, t->then, t->now,
				r->sw, r->lid) && add_entry(t, r, edge))) {
			set_entry(t, r->sw, r->lid, port);
			has_changed = true;
			continue;
		}
		*then = lft_row(t->now, r->sw)[r->lid];
		channels_undo(t->c, t->trail, 0);
	}
	return has_changed;
}

/* Clears the old entries that have a loop with the wanted tables or, if that
 * is not enough, all old entries; then all remaining entries change. False: the
 * wanted tables have a loop themselves. */
static bool
make_room(struct transition *t, const GArray *rest)
{
	struct channels_result r;
	guint before = t->entries->len, last;
	bool all = false;

	for (;;) {
		channels_check_ordered(t->g, t->wanted, t->then, t->ranks,
				       NULL, &r);
		if (!r.n_looped)
			break;
		last = t->entries->len;
		EACH_ITEM(const struct rest, e, rest) {
			uint8_t port = lft_row(t->then, e->sw)[e->lid];
			uint32_t edge = graph_edge_at(t->g, e->sw, port);

			if (edge != SNAPSHOT_NONE && (all || r.looped[edge]))
				set_entry(t, e->sw, e->lid, LFT_NO_PATH);
		}
		channels_clear(&r);
		if (all && t->entries->len == last)
			return false;
		all = t->entries->len == last;
	}
	channels_clear(&r);
	t->stage += t->entries->len > before;
	EACH_ITEM(const struct rest, e, rest)
		set_entry(t, e->sw, e->lid, lft_row(t->wanted, e->sw)[e->lid]);
	return true;
}

static void
transition_clear(struct transition *t)
{
	g_array_unref(t->trail);
	g_array_unref(t->behind);
	g_free(t->is_behind);
	g_free(t->is_met);
	channels_free(t->c);
	lft_free(t->held);
	lft_free(t->now);
	lft_free(t->then);
}

/* Without tables but the wanted ones, and without dependencies. */
static struct transition
transition_begin(const struct graph *g, const struct lft *wanted,
		 GArray *entries)
{
	return (struct transition){
		.g = g, .wanted = wanted, .entries = entries,
		.trail = g_array_new(FALSE, FALSE, sizeof(struct turn)),
		.behind = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.is_behind = g_new0(uint8_t, g->n_switches),
		.is_met = g_new0(uint8_t, g->n_edges + 1),
	};
}

struct lft *
transition_make(const struct graph *g, const struct lft *held,
		const struct lft *wanted, const uint32_t *ranks,
		const uint8_t *looped, GArray *entries)
{
	struct transition t = transition_begin(g, wanted, entries);
	struct lft *first, *certain;
	enum extent extent = EXTENT_LOOPED;
	bool exact = false;	/* t.c has the dependencies of t.now only */
	GArray *rest;

	g_assert(held->n_switches == wanted->n_switches);
	t.ranks = ranks;
	certain = lft_certain(held);
	t.held = lft_widen(certain, wanted->top);
	t.held->other = lft_ref((struct lft *)held);
	lft_free(certain);
	t.c = channels_new(g);
	t.stage = 1;
	first = transition_first(&t, looped, extent);
	while (!channels_load(&t.c, g, first, t.held, t.ranks) &&
	       extent < EXTENT_ALL) {
		lft_free(first);
		first = transition_first(&t, looped, ++extent);
	}
	take_back(&t, first);
	t.now = lft_copy(first);
	t.then = lft_copy(first);
	if (held->comes_back && held->other) {
		t.now->other = lft_ref(held->other);
		t.then->other = lft_ref(held->other);
	}
	rest = find_rest(&t);
	while (rest->len && rest->len <= MAX_ENTRIES && t.stage < MAX_STAGES) {
		if (make_stage(&t, rest)) {
			transition_apply(t.now, entries, t.stage++);
			g_array_unref(rest);
			rest = find_rest(&t);
		} else if (exact) {
			break;
		}
		exact = !rest->len ||
			channels_load(&t.c, g, t.now, NULL, t.ranks);
		if (!exact)
			break;
	}
	if (rest->len && !make_room(&t, rest)) {
		g_array_set_size(entries, 0);
		g_clear_pointer(&first, lft_free);
	}
	g_array_unref(rest);
	transition_clear(&t);
	return first;
}

/* After an update that was not finished the switches hold entries side by side that
 * no tables have together: adds the turns of those that differ. False: they close a
 * loop, or are of another origin. */
static bool
add_mixed(struct transition *t, const struct lft *before, const struct lft *home)
{
	const struct lft *lft = t->now;
	uint32_t lid, edge;
	struct rest r;
	uint8_t port;

	for (; lft; lft = lft->other)
		for (r.sw = lid = 0; find_difference(lft, before, &r.sw, &lid);
		     lid++) {
			r.lid = (uint16_t)lid;
			port = lft_row(lft, r.sw)[lid];
			if (port == LFT_NO_PATH) {
				if (!memcmp(lft_row(lft, r.sw) +
					    lid / LFT_BLOCK * LFT_BLOCK,
					    lft_no_paths, LFT_BLOCK))
					lid |= LFT_BLOCK - 1;
				continue;
			}
			edge = graph_edge_at(t->g, r.sw, port);
			if ((port != lft_row(home, r.sw)[lid] &&
			     port != lft_row(t->wanted, r.sw)[lid]) ||
			    (edge != SNAPSHOT_NONE && !add_entry(t, &r, edge)))
				return false;
		}
	return true;
}

bool
transition_steps(const struct graph *g, const struct lft *held,
		 const struct lft *before, const struct lft *home,
		 const struct lft *wanted, const struct channels *c,
		 struct channels **together, struct lft **first,
		 GArray *entries)
{
	struct transition t = transition_begin(g, wanted, entries);
	bool ok = true;
	GArray *rest;

	*first = NULL;
	t.now = lft_ref((struct lft *)held);
	rest = find_rest(&t);
	if (rest->len || held->other) {
		lft_free(t.now);
		t.now = lft_copy(held);
		if (held->other)
			t.now->other = lft_ref(held->other);
		t.then = lft_copy(held);
		t.c = channels_copy(c);
		ok = add_mixed(&t, before, home);
	}
	t.is_ordered = !held->other;
	for (; ok && rest->len; t.stage++) {
		ok = t.stage + 1 < MAX_STAGES && make_stage(&t, rest);
		memcpy(t.now->ports, t.then->ports, lft_size(t.now));
		if (!held->comes_back)
			g_clear_pointer(&t.now->other, lft_free);
		g_array_unref(rest);
		rest = find_rest(&t);
		if (rest->len && !*first)
			*first = lft_copy(t.now);
	}
	g_array_unref(rest);
	*together = g_steal_pointer(&t.c);
	transition_clear(&t);
	return ok;
}

bool
transition_apply(struct lft *lft, const GArray *entries, unsigned stage)
{
	bool has_stage = false;

	EACH_ITEM(const struct transition_entry, e, entries) {
		if (e->stage != stage)
			continue;
		lft_row(lft, e->sw)[e->lid] = e->port;
		has_stage = true;
	}
	return has_stage;
}
