// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choosing tables.
 *
 * Purpose. The promise that no table is programmed which can stop the fabric
 * is kept here and nowhere else: whatever an engine is sure of, its tables go
 * through verify, by themselves and together with those that the switches
 * hold, since both are on the fabric while an update is under way.
 *
 * Flow. choose_tables: one engine if it was named, the first of a list that is
 * safe, or the best of all (select.c). Then choose_transition: old and new
 * together. If old alone is acyclic and new alone is, but not both, the update
 * goes in two steps, with a bridge between them.
 *
 * The bridge is the new tables without those new entries that lead into a
 * channel which is on a circle of old and new together. Each step is safe:
 *   old to bridge: a circle would be one of old and new. Its channels are on a
 *	circle, so no entry that leads into them is a new one, for these are
 *	out. What is left of it are old entries, which have no circle.
 *   bridge to new: all entries of the bridge are those of new, or none.
 * Few entries are out, and for as long as the update takes; all others change
 * in the first step.
 *
 * Strays. LIDs that nobody owns, since a host is away, keep the entries that
 * they have: a reboot costs no block. But somebody may still send there, so
 * they are verified like all others, and are what goes first if there is a
 * loop.
 *
 * Small tables. An engine routes every LID on every switch. What a switch has
 * no entry for (LinearFDBCap) is taken out at the end and counted as unrouted:
 * it is the fault of no engine, and no other one would do better.
 *
 * What is not refused. A pair that a tree cannot join without danger is left
 * out by the engine and named in its notes; that is no reason to leave the
 * rest of the fabric with tables of yesterday. A credit loop of the engine
 * that was asked for by name is the owner's choice, unless he said otherwise.
 *
 * Source. W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987, for what a loop is; J. Duato et al., "A
 * theory for deadlock-free dynamic network reconfiguration", 2005, for why old
 * and new have to be looked at together.
 */
#include "routing/choose.h"

#include <string.h>

#include "routing/select.h"

static void
choice_drop_tables(struct choice *c)
{
	lft_free(c->lft);
	c->lft = NULL;
	g_clear_pointer(&c->ranks, g_free);
	g_clear_pointer(&c->notes, g_ptr_array_unref);
	verify_result_clear(&c->alone);
}

void
choice_clear(struct choice *c)
{
	choice_drop_tables(c);
	channels_clear(&c->together);
	lft_free(c->bridge);
	g_free(c->reason);
	g_clear_pointer(&c->compared, g_ptr_array_unref);
	*c = (struct choice){ 0 };
}

/* LIDs that nobody owns, as marks by LID up to `top`. */
static uint8_t *
choose_find_strays(const struct graph *g, uint32_t top)
{
	g_autofree uint32_t *owner = graph_map_lids(g);
	uint8_t *stray = g_new0(uint8_t, top + 1u);
	uint32_t lid;

	for (lid = LID_UNICAST_MIN; lid <= top; lid++)
		stray[lid] = lid > g->top || owner[lid] == SNAPSHOT_NONE;
	return stray;
}

static void
choose_put(struct lft *lft, uint32_t lid, const struct lft *from)
{
	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		lft_row(lft, sw)[lid] = (uint8_t)
			(from ? lft_row(from, sw)[lid] : LFT_NO_PATH);
}

static bool
choose_routes(const struct lft *lft, uint32_t lid)
{
	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		if (lft_row(lft, sw)[lid] != LFT_NO_PATH)
			return true;
	return false;
}

/* Strays that the engine did not route keep what they have. Gives back the
 * tables with these; another reference is given up. */
static struct lft *
choose_keep_strays(const struct graph *g, struct lft *lft,
		   const struct lft *held)
{
	uint32_t top = MIN(lft->top, held->top), lid;
	g_autofree uint8_t *stray = choose_find_strays(g, top);
	struct lft *mine = NULL;

	for (lid = LID_UNICAST_MIN; lid <= top; lid++) {
		if (!stray[lid] || choose_routes(lft, lid) ||
		    !choose_routes(held, lid))
			continue;
		if (!mine)
			mine = lft_copy(lft);
		choose_put(mine, lid, held);
	}
	if (!mine)
		return lft;
	lft_free(lft);
	return mine;
}

/* The tables held, as if there had never been a stray. */
static struct lft *
choose_forget_strays(const struct graph *g, const struct lft *held)
{
	struct lft *lft = lft_copy(held);
	g_autofree uint8_t *stray = choose_find_strays(g, held->top);
	uint32_t lid;

	for (lid = LID_UNICAST_MIN; lid <= held->top; lid++)
		if (stray[lid])
			choose_put(lft, lid, NULL);
	return lft;
}

/* Fills lft, ranks, notes, alone. */
static bool
choose_run(const struct engine *engine, const struct engine_input *in,
	   struct choice *c, GError **error)
{
	struct engine_output out;

	c->engine = engine;
	engine_output_init(&out, lft_new(in->g->n_switches, in->g->top));
	if (!engine->compute(in, &out, error)) {
		lft_free(out.lft);
		engine_output_clear(&out);
		choice_drop_tables(c);
		return false;
	}
	c->lft = out.lft;
	c->ranks = g_steal_pointer(&out.ranks);
	c->notes = g_steal_pointer(&out.notes);
	engine_output_clear(&out);
	if (in->previous)
		c->lft = choose_keep_strays(in->g, c->lft, in->previous);
	/* With what is held first: then it has no loop alone, either. */
	c->is_joint = in->previous && c->ranks;
	if (c->is_joint)
		verify_tables(in->g, c->lft, in->previous, c->ranks,
			      &c->alone);
	if (c->is_joint && !c->alone.channels.n_looped)
		return true;
	c->is_joint = false;
	verify_result_clear(&c->alone);
	verify_tables(in->g, c->lft, NULL, c->ranks, &c->alone);
	return true;
}

/* If there is a loop, once more without the strays. */
static bool
choose_compute(const struct choice_wish *wish, const struct engine *engine,
	       const struct engine_input *given, struct choice *c,
	       GError **error)
{
	struct engine_input in = *given;
	struct lft *bare;
	bool ok;

	if (!wish->ranks_by || strcmp(wish->ranks_by, engine->name))
		in.ranks = NULL;
	if (!choose_run(engine, &in, c, error))
		return false;
	if (!c->alone.channels.n_looped || !in.previous)
		return true;
	choice_drop_tables(c);
	bare = choose_forget_strays(in.g, in.previous);
	in.previous = bare;
	ok = choose_run(engine, &in, c, error);
	lft_free(bare);
	return ok;
}

static void
choose_refuse(const struct choice *c, const struct graph *g, GError **error)
{
	g_autofree char *cycle = NULL;

	if (c->alone.reach.looping || c->alone.reach.astray) {
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "the tables of %s are refused: of all pairs %"
			    G_GUINT64_FORMAT " go round and %"
			    G_GUINT64_FORMAT " go astray", c->engine->name,
			    c->alone.reach.looping,
			    c->alone.reach.astray);
		return;
	}
	cycle = channels_print(g, &c->alone.channels);
	g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
		    "the tables of %s are refused: %u channels are in credit "
		    "loops, for one: %s",
		    c->engine->name, c->alone.channels.n_looped, cycle);
}

/* By name: this engine or none. */
static bool
choose_named(const struct choice_wish *wish, const struct engine_input *in,
	     struct choice *c, GError **error)
{
	if (!choose_compute(wish, wish->engine, in, c, error))
		return false;
	c->reason = g_strdup("asked for");
	if (verify_is_sound(&c->alone))
		return true;
	if (c->alone.reach.looping || c->alone.reach.astray ||
	    wish->engine->deadlock_free || wish->require_deadlock_free) {
		choose_refuse(c, in->g, error);
		return false;
	}
	c->safety = CHOICE_LOOP;
	return true;
}

/* What is against it, for auto; NULL: nothing. */
static char *
choose_object(const struct choice *c)
{
	const struct check_result *reach = &c->alone.reach;

	if (c->alone.channels.n_looped)
		return g_strdup_printf("%u channels would be in credit loops",
				       c->alone.channels.n_looped);
	if (!verify_is_sound(&c->alone))
		return g_strdup("ways would go round or astray");
	if (reach->lost_hosts)
		return g_strdup_printf("%" G_GUINT64_FORMAT " pairs of hosts "
				       "would have no way", reach->lost_hosts);
	return NULL;
}

/*
 * An engine that is not free of loops by design must be so here without the
 * help of old tables: whether it is chosen may depend on the fabric only, or
 * each sweep would undo what the last one did. If keeping old entries would
 * close a loop, they are not kept.
 */
static char *
choose_try_risky(const struct choice_wish *wish, const struct engine *engine,
		 const struct engine_input *in, struct choice *c)
{
	struct engine_input fresh = *in;
	g_autoptr(GError) error = NULL;
	char *why;

	fresh.previous = NULL;
	if (!choose_compute(wish, engine, &fresh, c, &error))
		return g_strdup(error->message);
	why = choose_object(c);
	if (why || !in->previous)
		return why;
	choice_drop_tables(c);
	if (choose_compute(wish, engine, in, c, NULL) &&
	    verify_is_sound(&c->alone))
		return NULL;
	choice_drop_tables(c);
	choose_compute(wish, engine, &fresh, c, NULL);
	return NULL;
}

char *
choose_candidate(const struct choice_wish *wish, const struct engine *engine,
		 const struct engine_input *in, struct choice *c)
{
	g_autoptr(GError) error = NULL;

	if (!engine->deadlock_free)
		return choose_try_risky(wish, engine, in, c);
	if (!choose_compute(wish, engine, in, c, &error))
		return g_strdup(error->message);
	return choose_object(c);
}

/* The first of a list that is safe. */
static bool
choose_listed(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	g_autoptr(GString) why = g_string_new(NULL);

	for (size_t i = 0; wish->order[i]; i++) {
		g_autofree char *against = choose_candidate(wish,
			wish->order[i], in, c);

		if (!against) {
			c->reason = g_strconcat(why->str, "asked for, and "
						"safe here", NULL);
			return true;
		}
		choice_drop_tables(c);
		g_string_append_printf(why, "%s: %s; ", wish->order[i]->name,
				       against);
	}
	g_string_truncate(why, why->len - MIN(why->len, 2));
	g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
		    "no engine has safe tables for this fabric: %s",
		    why->str);
	return false;
}

/* Which new entries a bridge leaves out: those into channels of a loop; those
 * to switches as well, since which switches packets of CAs to a switch pass
 * depends on all entries; all. */
enum bridge { BRIDGE_LOOPED, BRIDGE_SWITCHES, BRIDGE_ALL };

static struct lft *
choose_make_bridge(const struct graph *g, const struct lft *held,
		   const struct lft *wanted, const uint8_t *looped,
		   enum bridge kind)
{
	g_autofree uint32_t *edge_at = graph_map_ports(g);
	g_autofree uint32_t *target_of = graph_map_lids(g);
	struct lft *bridge = lft_new(wanted->n_switches, wanted->top);
	uint32_t sw, lid, edge;
	const uint8_t *old, *new;
	uint8_t *to;

	g_assert(held->n_switches == wanted->n_switches);
	for (sw = 0; sw < wanted->n_switches; sw++) {
		old = lft_row(held, sw);
		new = lft_row(wanted, sw);
		to = lft_row(bridge, sw);
		memcpy(to, new, wanted->stride);
		for (lid = 0; lid < wanted->stride; lid++) {
			if (lid < held->stride && old[lid] == new[lid])
				continue;
			edge = edge_at[sw * GRAPH_PORTS + new[lid]];
			if (kind == BRIDGE_ALL ||
			    (edge != SNAPSHOT_NONE && looped[edge]) ||
			    (kind == BRIDGE_SWITCHES && lid <= g->top &&
			     target_of[lid] != SNAPSHOT_NONE &&
			     g->targets[target_of[lid]].port == 0))
				to[lid] = LFT_NO_PATH;
		}
	}
	return bridge;
}

static bool
choose_has_loop(const struct graph *g, const struct lft *lft)
{
	struct channels_result r;
	bool has;

	channels_check(g, lft, NULL, &r);
	has = r.n_looped > 0;
	channels_clear(&r);
	return has;
}

/* The first kind that has no loop with what is held. */
static struct lft *
choose_find_bridge(const struct graph *g, const struct lft *held,
		   const struct lft *wanted, const uint8_t *looped)
{
	struct channels_result r;
	struct lft *bridge;
	enum bridge kind;
	bool has_loop;

	for (kind = BRIDGE_LOOPED; ; kind++) {
		bridge = choose_make_bridge(g, held, wanted, looped, kind);
		channels_check(g, bridge, held, &r);
		has_loop = r.n_looped > 0;
		channels_clear(&r);
		if (!has_loop || kind == BRIDGE_ALL)
			return bridge;
		lft_free(bridge);
	}
}

/*
 * Old and new are on the fabric together. Entries of strays alone may close a
 * loop of the old ones, through a cable that has come back: they carry nothing,
 * and what does carry traffic must still not loop on the way.
 */
static void
choose_transition(const struct engine_input *in, struct choice *c)
{
	struct lft *bare = NULL;

	if (!in->previous || c->safety == CHOICE_LOOP || c->is_joint)
		return;
	channels_check(in->g, c->lft, in->previous, &c->together);
	if (!c->together.n_looped)
		return;
	c->held_loop = choose_has_loop(in->g, in->previous);
	if (c->held_loop) {
		bare = choose_forget_strays(in->g, in->previous);
		channels_clear(&c->together);
		channels_check(in->g, c->lft, bare, &c->together);
	}
	/* One that is there already is not made worse by leaving it. */
	if (c->together.n_looped && !(bare && choose_has_loop(in->g, bare))) {
		c->safety = CHOICE_DRAIN;
		c->bridge = choose_find_bridge(in->g,
					       bare ? bare : in->previous,
					       c->lft, c->together.looped);
	}
	lft_free(bare);
}

/* Entries past a switch's LinearFDBCap do not exist. */
static void
choose_cut(const struct graph *g, struct choice *c)
{
	struct lft *mine = NULL;

	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		const struct snapshot_node *n =
			&g->subnet->nodes[g->subnet->switches[sw]];
		uint32_t cap = n->sw.linear_fdb_cap;

		if (!n->sw_known || cap > c->lft->top)
			continue;
		if (!mine)
			mine = lft_copy(c->lft);
		memset(lft_row(mine, sw) + cap, LFT_NO_PATH,
		       mine->stride - cap);
	}
	if (!mine)
		return;
	lft_free(c->lft);
	c->lft = mine;
	check_reachability(g, mine, NULL, &c->alone.reach);
}

bool
choose_tables(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	*c = (struct choice){ .safety = CHOICE_SAFE };
	if (wish->engine ? !choose_named(wish, in, c, error) :
	    wish->order ? !choose_listed(wish, in, c, error) :
	    !select_engine(wish, in, c, error)) {
		choice_clear(c);
		return false;
	}
	choose_cut(in->g, c);
	choose_transition(in, c);
	return true;
}
