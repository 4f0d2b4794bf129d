// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choosing forwarding tables.
 *
 * Purpose. This module keeps the promise that no tables with a credit loop are
 * programmed. All tables are verified, alone and together with those that the
 * switches hold, since both are in the fabric during an update.
 *
 * Flow. choose_tables: the named engine, or the first safe one of a list, or
 * the best of all (auto). Then choose_transition: old and new tables together.
 * If each is free of credit loops alone, but not both together, the update goes
 * in stages (routing/transition.h). If a switch may forward by entries that are
 * not known (it hangs, say, or its table was not read), nothing is known of both
 * together: all entries that change are cleared before new ones come.
 *
 * LIDs without an owner, because their host is away, keep their entries, so
 * that a reboot changes no block. Packets may still be sent to them, so these
 * entries are verified like all others, and are dropped first if there is a
 * loop, or no room for the trees of groups: engines leave that beside their own
 * entries only.
 *
 * Small tables. An engine computes all LIDs on all switches. Entries above a
 * switch's LinearFDBCap are removed at the end and counted as unrouted; another
 * engine would not do better.
 *
 * What is accepted. If an engine cannot join a pair without the risk of a
 * deadlock, it leaves the pair out and notes it; the tables are programmed all
 * the same. A credit loop of an engine that was asked for by name is accepted,
 * unless configured otherwise.
 *
 * auto. A candidate has tables without a credit loop that join all CAs; so it
 * is an engine that is deadlock free by design. Two figures count alike: the
 * load of the busiest channel under all-to-all traffic, which may be a tenth
 * above the least; and the mean congestion of sampled shifts of all hosts. The
 * best has the lowest product; of those that leave out pairs of a CA and a switch
 * the ones that leave out the fewest.
 *
 * Hysteresis. The present engine stays unless another one is better by 10%:
 * else every lost or repaired cable could change all tables. For the same reason
 * the held tables are the base of an update where they are nearly as good
 * (keep.c).
 *
 * Crowded cables. In a tree with two exchanged uplinks each of them is a shortcut
 * between pods which all shortest paths between these take. Of the best tables
 * that carry more than the bound such cables are looked for, and if tables
 * without them are better by 10%, these are taken, and a note names the cables. A
 * repair may use them.
 *
 * Cost. The present engine, else ftree, is tried first. If no tables can be
 * better by more than these margins (metrics_bound), no other is tried; this is
 * the case on whole trees. A new engine must have nearly the least load and shifts
 * without congestion for that. On a large fabric a load that counts as alike is
 * enough: others take a second there, and on damaged trees their load was at most
 * 1.2% less.
 *
 * Source. W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987, for credit loops; J. Duato et al., "A theory
 * for deadlock-free dynamic network reconfiguration", 2005, for why old and new
 * tables are verified together.
 */
#include "routing/select.h"

#include <string.h>

#include "routing/keep.h"
#include "routing/metrics.h"
#include "routing/multicast.h"
#include "routing/order.h"
#include "routing/paths.h"
#include "topology/each.h"

#define ALIKE		1.02	/* times the best figure: equally good */
#define WORTH_IT	1.10	/* times the load: reason to change the
				   engine */
#define FUNNEL		3.0	/* times the bound: a warning */
#define CROWDED		1.05	/* times the bound: a reason to leave cables idle */
#define CROWDED_SHARE	64u	/* of the cables, at most one in so many, */
#define CROWDED_FEW	4u	/* or so many */
#define CROWDED_ROUNDS	2u
#define CROWDED_SAMPLES	256u	/* destinations */
#define N_SAMPLES	16u	/* of shifts */
#define LARGE		10000000u	/* LIDs times switches: no other engine
					   for less than a tenth */

/* Tables are computed without the links to be avoided; the held tables may
 * use these links. */
static const struct graph *
choose_graph(const struct engine_input *in)
{
	return in->whole ? in->whole : in->g;
}

/* Ports of switches to nodes that do not answer. */
static GArray *
choose_find_blind(const struct snapshot *s)
{
	GArray *blind = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t port = 0; port < s->n_ports; port++)
		if (snapshot_is_switch(snapshot_node_of(s, port)) &&
		    graph_is_blind(s, port))
			g_array_append_val(blind, port);
	return blind;
}

/* The port by which the held entry of this switch sends to a node that does not
 * answer; SNAPSHOT_NONE: it does not. */
static uint32_t
choose_exit(const struct engine_input *in, uint32_t sw, uint32_t lid)
{
	const struct snapshot *s = in->g->subnet;
	uint32_t port = snapshot_port_of(s, s->switches[sw],
					 lft_row(in->previous, sw)[lid]);

	return graph_is_blind(s, port) ? port : SNAPSHOT_NONE;
}

/* Where the held entries of this LID, which has no owner, lead to a node that does not
 * answer, must packets end there? If it sent them on, to a switch near it or over
 * others that do not answer either, new entries could close a loop with its own, which
 * are not known. blind: choose_find_blind(). */
static bool
choose_ends(const struct engine_input *in, const GArray *blind, uint32_t lid)
{
	const struct snapshot *s = in->g->subnet;
	const struct snapshot_port *ports = s->ports;
	uint32_t end = SNAPSHOT_NONE, exit, sw, node;

	for (sw = 0; sw < in->previous->n_switches; sw++) {
		exit = choose_exit(in, sw, lid);
		if (exit == SNAPSHOT_NONE)
			continue;
		if (ports[exit].beyond || (end != SNAPSHOT_NONE &&
		    ports[end].behind != ports[exit].behind))
			return false;
		end = exit;
	}
	if (end == SNAPSHOT_NONE)
		return true;
	/* A switch that was found by another cable sends them on. */
	node = snapshot_find_node(s, ports[end].behind);
	if (node != SNAPSHOT_NONE && snapshot_is_switch(&s->nodes[node]))
		return false;
	EACH_ITEM(const uint32_t, near, blind) {
		if (ports[*near].behind && ports[end].behind &&
		    ports[*near].behind != ports[end].behind)
			continue;
		sw = snapshot_node_of(s, *near)->sw_index;
		verify_follow(choose_graph(in), in->previous, lid, &sw);
		if (choose_exit(in, sw, lid) == SNAPSHOT_NONE)
			return false;
	}
	return true;
}

/* May the held entries of this LID, which has no owner, stay beside the engine's?
 * Not if it routed the LID, or one is into a cable that no tables may use, or packets
 * leave the graph and may come back. any: there are some. */
static bool
choose_may_stay(const struct engine_input *in, const GArray *blind,
		const struct lft *lft, uint32_t lid, bool *any)
{
	*any = false;
	for (uint32_t sw = 0; sw < lft->n_switches; sw++) {
		uint8_t port = lft_row(in->previous, sw)[lid];

		if (lft_row(lft, sw)[lid] != LFT_NO_PATH ||
		    (port != LFT_NO_PATH && graph_is_barred(in->g, sw, port)))
			return false;
		*any |= port != LFT_NO_PATH;
	}
	return !*any || choose_ends(in, blind, lid);
}

/* A copy with the held entries of LIDs without an owner. NULL: there are none. */
static struct lft *
choose_keep_unowned(const struct engine_input *in, const struct lft *lft)
{
	const struct lft *held = in->previous;
	uint32_t top = MIN(lft->top, held->top), lid, sw;
	g_autoptr(GArray) blind = choose_find_blind(in->g->subnet);
	struct lft *mine = NULL;
	bool any;

	for (lid = LID_UNICAST_MIN; lid <= top; lid++) {
		if (graph_target_at(in->g, lid) ||
		    !choose_may_stay(in, blind, lft, lid, &any) || !any)
			continue;
		if (!mine)
			mine = lft_copy(lft);
		for (sw = 0; sw < lft->n_switches; sw++)
			lft_row(mine, sw)[lid] = lft_row(held, sw)[lid];
	}
	return mine;
}

/* A copy of the held tables without the entries of LIDs without an owner; a mute
 * switch keeps its own. */
static struct lft *
choose_forget_unowned(const struct graph *g, const struct lft *held)
{
	struct lft *lft = lft_copy(held);
	uint32_t lid, sw;

	for (lid = LID_UNICAST_MIN; lid <= held->top; lid++)
		for (sw = 0; sw < lft->n_switches && !graph_target_at(g, lid);
		     sw++)
			if (!graph_is_mute(g, sw))
				lft_row(lft, sw)[lid] = LFT_NO_PATH;
	return lft;
}

static bool
choose_is_empty(const struct lft *lft)
{
	size_t size = lft_size(lft);

	return !size || (lft->ports[0] == LFT_NO_PATH &&
			 memcmp(lft->ports, lft->ports + 1, size - 1) == 0);
}

/* choose_held() but for others. */
static struct lft *
choose_drop_idle(const struct graph *g, struct lft *seen)
{
	const struct snapshot *s = g->subnet;
	const struct snapshot_node *node;
	const struct snapshot_port *p;
	struct lft *held = lft_ref(seen);
	uint32_t sw, lid, num;
	uint8_t *row;

	for (sw = 0; sw < g->n_switches; sw++) {
		node = &s->nodes[s->switches[sw]];
		for (num = 1; num <= node->info.num_ports; num++) {
			p = &s->ports[node->first_port + num];
			if (p->peer == SNAPSHOT_NONE ||
			    !snapshot_is_switch(snapshot_node_of(s, p->peer)))
				continue;
			/* in use, as may be a port that did not answer, or
			 * not since it was Armed; or in no entry */
			if (((!p->known ||
			      p->info.state >= PORT_STATE_ARMED) &&
			     s->ports[p->peer].node != p->node) ||
			    !memchr(lft_row(held, sw), (int)num,
				    held->top + 1u))
				continue;
			if (held == seen) {
				lft_free(held);
				held = lft_copy(seen);
			}
			row = lft_row(held, sw);
			for (lid = 0; lid <= held->top; lid++)
				row[lid] = (uint8_t)(row[lid] == num ?
						     LFT_NO_PATH : row[lid]);
		}
	}
	return held;
}

struct lft *
choose_held(const struct graph *g, struct lft *seen)
{
	struct lft *held, *other;

	if (!seen->other)
		return choose_is_empty(seen) ? NULL :
			choose_drop_idle(g, seen);
	held = choose_drop_idle(g, seen);
	other = choose_held(g, seen->other);
	if (held == seen && other == seen->other) {
		lft_free(other);
		return held;
	}
	if (held == seen) {
		lft_free(held);
		held = lft_copy(seen);
	}
	held->other = other;
	held->comes_back = seen->comes_back;
	return held;
}

/* Fills lft, ranks, notes and alone. */
static bool
choose_compute(const struct choice_wish *wish, const struct engine *engine,
	       const struct engine_input *given, struct choice *c,
	       GError **error)
{
	const struct graph *g = choose_graph(given);
	struct engine_input in = *given;
	struct engine_output out;
	struct lft *more;

	if (!wish->ranks_by || strcmp(wish->ranks_by, engine->name))
		in.ranks = NULL;
	c->engine = engine;
	engine_output_init(&out, lft_new(in.g->n_switches, in.g->top));
	if (!engine->compute(&in, &out, error)) {
		lft_free(out.lft);
		engine_output_clear(&out);
		return false;
	}
	c->lft = out.lft;
	c->ranks = g_steal_pointer(&out.ranks);
	c->notes = g_steal_pointer(&out.notes);
	engine_output_clear(&out);
	more = in.previous && !wish->makes_room ?
		choose_keep_unowned(&in, c->lft) : NULL;
	if (more) {
		verify_tables(g, more, NULL, c->ranks, &c->alone);
		c->keeps_held = verify_is_sound(&c->alone);
		if (c->keeps_held) {
			lft_free(c->lft);
			c->lft = more;
			return true;
		}
		lft_free(more);
		verify_result_clear(&c->alone);
	}
	verify_tables(g, c->lft, NULL, c->ranks, &c->alone);
	return true;
}

/* The named engine or none. */
static bool
choose_named(const struct choice_wish *wish, const struct engine_input *in,
	     struct choice *c, GError **error)
{
	const struct verify_reach *reach = &c->alone.reach;
	g_autofree char *cycle = NULL;

	if (!choose_compute(wish, wish->engine, in, c, error)) {
		g_prefix_error(error, "%s cannot route this fabric: ",
			       wish->engine->name);
		return false;
	}
	c->reason = g_strdup("configured");
	if (verify_is_sound(&c->alone))
		return true;
	if (reach->looping || reach->astray) {
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "the tables of %s are refused: of all pairs, %"
			    G_GUINT64_FORMAT " loop and %" G_GUINT64_FORMAT
			    " end at a wrong port", c->engine->name,
			    reach->looping, reach->astray);
		return false;
	}
	if (wish->engine->deadlock_free || wish->require_deadlock_free) {
		cycle = channels_print(choose_graph(in), &c->alone.channels);
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "the tables of %s are refused: %u channels are in "
			    "credit loops, for one: %s", c->engine->name,
			    c->alone.channels.n_looped, cycle);
		return false;
	}
	c->safety = CHOICE_LOOP;
	return true;
}

/* Why the tables are not acceptable for auto; NULL: they are. g_free. */
static char *
choose_object(const struct choice *c)
{
	const struct verify_reach *reach = &c->alone.reach;

	if (c->alone.channels.n_looped)
		return g_strdup_printf("%u channels would be in credit loops",
				       c->alone.channels.n_looped);
	if (!verify_is_sound(&c->alone))
		return g_strdup("paths would loop or end at a wrong port");
	if (reach->lost_hosts)
		return g_strdup_printf("%" G_GUINT64_FORMAT " pairs of hosts "
				       "would have no path", reach->lost_hosts);
	return NULL;
}

static bool
choose_has_loop(const struct graph *g, const struct lft *lft,
		const uint32_t *ranks)
{
	struct channels_result r;
	bool has;

	channels_check_ordered(g, lft, NULL, ranks, NULL, &r);
	has = r.n_looped > 0;
	channels_clear(&r);
	return has;
}

/* --- several engines --- */

struct candidate {
	const struct engine *engine;
	const struct graph *g;
	char *against;		/* why it is not acceptable; NULL: it is */
	struct choice c;
	struct metrics_load load;
	struct metrics_congestion shifts;	/* n is 0: not sampled */
};

/* All engines on one graph. */
struct selection {
	const struct choice_wish *wish;
	struct engine_input in;	/* rival: the least load so far */
	struct graph *less;	/* in.g, if cables are left out; or NULL */
	struct candidate list[ENGINE_LIST_MAX];
	uint32_t n;
	struct candidate *present;	/* that of the present engine; or NULL */
	struct candidate *best;	/* NULL: none is acceptable */
	bool is_settled;	/* no other was tried */
	double bound;
};

static void
candidate_clear(struct candidate *k)
{
	choice_clear(&k->c);
	g_free(k->against);
	*k = (struct candidate){ .engine = k->engine, .g = k->g };
}

static void
candidate_try(struct selection *s, struct candidate *k)
{
	g_autoptr(GError) error = NULL;

	candidate_clear(k);
	k->against = choose_compute(s->wish, k->engine, &s->in, &k->c, &error) ?
		choose_object(&k->c) : g_strdup(error->message);
	if (k->against)
		choice_clear(&k->c);
}

/* The same for auto. */
static void
candidate_measure(struct selection *s, struct candidate *k)
{
	candidate_try(s, k);
	if (k->against)
		return;
	metrics_all_to_all(s->in.g, k->c.lft, k->c.ranks, &k->load);
	if (s->in.rival <= 0 || k->load.worst < s->in.rival)
		s->in.rival = k->load.worst;
}

static double
candidate_shifts(struct candidate *k)
{
	g_autofree uint32_t *hosts = NULL;
	struct metrics_sample sample = { .n = N_SAMPLES, .seed = 1 };

	if (!k->shifts.n) {
		sample.hosts = hosts = order_hosts(k->g, &sample.n_hosts);
		metrics_shifts(k->g, k->c.lft, &sample, &k->shifts);
	}
	return k->shifts.mean;
}

/* Does it leave out fewer pairs, or as many with a lower product of load and shifts,
 * by this margin? */
static bool
candidate_beats(struct candidate *k, struct candidate *rival, double margin)
{
	uint64_t lost = k->c.alone.reach.lost_mixed;
	uint64_t least = rival->c.alone.reach.lost_mixed;

	if (lost != least)
		return lost < least;
	return margin * k->load.worst * candidate_shifts(k) <
		rival->load.worst * candidate_shifts(rival);
}

/* Can no other engine be better than the first by more than the margin? */
static bool
select_is_settled(struct selection *s, struct candidate *first)
{
	const struct graph *g = s->in.g;
	bool is_enough = s->present ||
		(uint64_t)g->top * g->n_switches > LARGE;
	double margin = is_enough ? WORTH_IT : ALIKE;

	s->bound = metrics_bound(g, true);
	if (first->against || first->load.worst > margin * s->bound)
		s->bound = metrics_bound(g, false);
	if (first->against || first->load.worst > margin * s->bound ||
	    (!s->present && first->c.alone.reach.lost_mixed))
		return false;
	return is_enough || candidate_shifts(first) <= ALIKE;
}

static void
select_best(struct selection *s)
{
	struct candidate *k, *now = s->present;

	s->best = NULL;
	for (k = s->list; k < s->list + s->n; k++)
		if (!k->against && k->load.worst <= WORTH_IT * s->in.rival &&
		    (!s->best || candidate_beats(k, s->best, ALIKE)))
			s->best = k;
	if (s->best && now && !now->against &&
	    now->load.worst <= WORTH_IT * s->best->load.worst)
		s->best = now;
}

/* The present engine may keep an old order of the switches that no longer suits
 * the fabric: before another engine replaces it, it is tried with a new order;
 * else the next sweep might change back to it. */
static void
select_auto(struct selection *s)
{
	struct candidate *first = s->present ? s->present : s->list, *k;

	candidate_measure(s, first);
	s->best = first;
	s->is_settled = select_is_settled(s, first);
	if (s->is_settled)
		return;
	/* dor before updn, which ends early if its order promises far more load
	 * than there is already */
	for (k = s->list + s->n; k-- > s->list;)
		if (k != first)
			candidate_measure(s, k);
	select_best(s);
	if (!s->present || !s->in.ranks || s->best == s->present)
		return;
	s->in.ranks = NULL;
	candidate_measure(s, s->present);
	select_best(s);
}

/* less: `in->g` without some cables, taken over; or NULL. */
static void
select_run(struct selection *s, const struct choice_wish *wish,
	   const struct engine_input *in, struct graph *less)
{
	const struct engine *const *e = wish->order ? wish->order : engines;
	struct candidate *k;

	*s = (struct selection){ .wish = wish, .in = *in, .less = less };
	if (less) {
		s->in.whole = choose_graph(in);
		s->in.g = less;
	}
	for (; *e; e++) {
		if (!wish->order && !(*e)->deadlock_free)
			continue;
		g_assert(s->n < G_N_ELEMENTS(s->list));
		k = &s->list[s->n++];
		k->engine = *e;
		k->g = s->in.g;
		if (g_strcmp0(wish->in_force, k->engine->name) == 0)
			s->present = k;
	}
	s->in.ranks = NULL;	/* the order is for all */
	s->in.order = s->in.g->n_switches ? order_compute(&s->in) : NULL;
	s->in.ranks = in->ranks;
	if (!wish->order)
		select_auto(s);
	for (k = s->list; wish->order && k < s->list + s->n && !s->best; k++) {
		candidate_try(s, k);
		s->best = k->against ? NULL : k;
	}
	order_destroy(s->in.order);
	for (k = s->list; k < s->list + s->n; k++)
		if (k != s->best)
			choice_clear(&k->c);
}

static void
select_clear(struct selection *s)
{
	for (struct candidate *k = s->list; k < s->list + s->n; k++)
		candidate_clear(k);
	graph_free(s->less);
}

/* The line of a candidate in choice.compared. */
static char *
select_print(const struct selection *s, const struct candidate *k)
{
	g_autofree char *shifts = k->shifts.n ?
		g_strdup_printf("; shifts %.2f flows, at most %u",
				k->shifts.mean, k->shifts.max) : NULL;

	if (s->is_settled && k != s->best)
		return g_strdup_printf("%s: not tried: %s is close to the lower "
				       "bound", k->engine->name,
				       s->best->engine->name);
	if (k->against)
		return g_strdup_printf("%s: not possible: %s", k->engine->name,
				       k->against);
	return g_strdup_printf("%s: all-to-all traffic: the busiest channel "
			       "carries %.0f flows, %.2f times the lower bound%s",
			       k->engine->name, k->load.worst, s->bound > 0 ?
			       k->load.worst / s->bound : 1,
			       shifts ? shifts : "");
}

static char *
select_objections(const struct selection *s)
{
	g_autoptr(GString) why = g_string_new(NULL);

	for (const struct candidate *k = s->list; k < s->list + s->n; k++)
		if (k->against)
			g_string_append_printf(why, "%s%s: %s",
					       why->len ? "; " : "",
					       k->engine->name, k->against);
	return g_string_free(g_steal_pointer(&why), FALSE);
}

/* One switch carries much more than any tables require. */
static char *
select_warn(const struct selection *s)
{
	const struct graph *g = s->in.g;
	const struct metrics_load *load = &s->best->load;
	g_autofree char *from = NULL, *to = NULL;

	if (load->busiest == SNAPSHOT_NONE || s->bound <= 0 ||
	    load->worst < FUNNEL * s->bound)
		return NULL;
	from = graph_switch_name(g, graph_owner(g, load->busiest));
	to = graph_switch_name(g, g->edges[load->busiest].peer);
	return g_strdup_printf("most traffic goes through few cables: the "
			       "busiest, from %s port %u to %s, carries %.1f "
			       "times the lower bound", from,
			       g->edges[load->busiest].port, to,
			       load->worst / s->bound);
}

/* Hands out the best. */
static void
select_take(struct selection *s, struct choice *c)
{
	g_autofree char *against = select_objections(s);
	struct candidate *best = s->best, *k;
	const char *why = "the best engine that is safe here";
	uint32_t n = 0;

	*c = best->c;
	best->c = (struct choice){ 0 };
	if (s->wish->order) {
		c->reason = g_strconcat(against, *against ? "; " : "",
					"configured, and safe here", NULL);
		return;
	}
	c->compared = g_ptr_array_new_with_free_func(g_free);
	for (k = s->list; k < s->list + s->n; k++) {
		g_ptr_array_add(c->compared, select_print(s, k));
		n += !k->against;
	}
	if (best == s->present)
		why = "kept, since no other engine is 10% better";
	else if (s->is_settled)
		why = best->load.worst > ALIKE * s->bound ?
			"no other engine can be 10% better" :
			"no other engine can be better";
	else if (n == 1)
		why = "the only engine that is safe here";
	c->reason = g_strdup_printf("%s: the busiest channel carries %.2f "
		"times the lower bound", why, s->bound > 0 ?
		best->load.worst / s->bound : 1);
	c->warning = select_warn(s);
}

/* --- crowded cables --- */

/*
 * A cable may be a shortcut that many paths take, and make the fabric slower by
 * being there (D. Braess, 1968): of a tree with two exchanged cables, say, each
 * joins a switch with a pod that is not its own. In the best tables or among the
 * shortest paths, such a cable carries much more than the bound in both
 * directions, which those that lead to it do not.
 * Marks these cables in is_idle[], by edge of the whole graph `all`. False: there
 * are none, or too many.
 */
static bool
select_mark_crowded(const struct graph *all, const struct selection *s,
		    uint8_t *is_idle)
{
	const struct graph *g = s->in.g;
	const struct candidate *k = s->best;
	g_autofree uint64_t *flows = g_new0(uint64_t, g->n_edges + 1);
	g_autofree double *load = g_new0(double, g->n_edges + 1);
	g_autofree uint32_t *crowded = g_new(uint32_t, g->n_edges + 1);
	uint32_t e, n = 0;
	double most;

	if (!k || k->load.worst <= CROWDED * s->bound)
		return false;
	most = paths_estimate(g, NULL, g->n_switches / CROWDED_SAMPLES + 1,
			      load, NULL);
	metrics_flows(g, k->c.lft, k->c.ranks, flows);
	for (e = 0; e < g->n_edges; e++) {
		const struct graph_edge *to = &g->edges[e];
		double both = MIN(load[e], load[to->back]);
		/* the ends of a cable may tell different rates */
		double held = (double)MIN(flows[e], flows[to->back]) *
			g->widest / MAX(to->capacity,
					MAX(g->edges[to->back].capacity, 1));

		if (both * both > most * s->bound ||
		    held * held > k->load.worst * s->bound)
			crowded[n++] = graph_edge_at(all, graph_owner(g, e),
						     to->port);
	}
	if (n > MAX(g->n_edges / CROWDED_SHARE, 2 * CROWDED_FEW))
		return false;
	for (e = 0; e < n; e++)
		is_idle[crowded[e]] = 1;
	return n > 0;
}

static void
select_note_idle(const struct graph *g, const uint8_t *is_idle, double times,
		 struct choice *c)
{
	if (!c->notes)
		c->notes = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t e = 0; e < g->n_edges; e++) {
		const struct graph_edge *to = &g->edges[e];
		g_autofree char *a = NULL, *b = NULL;

		if (!is_idle[e] || to->back < e)
			continue;
		a = graph_switch_name(g, graph_owner(g, e));
		b = graph_switch_name(g, to->peer);
		g_ptr_array_add(c->notes, g_strdup_printf("tables are made "
			"without the cable from %s port %u to %s port %u: "
			"with it the busiest channel would carry %.1f times as "
			"much; perhaps cables are exchanged", a, to->port, b,
			g->edges[to->back].port, times));
	}
}

/* Takes the best with all cables, or the first without crowded ones that is worth
 * leaving these idle; without some of them others may show. less: the graph without
 * them; NULL: the tables may use all. */
static bool
select_tables(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, struct graph **less, GError **error)
{
	g_autofree uint8_t *is_idle = g_new0(uint8_t, in->g->n_edges + 1);
	struct selection all[1 + CROWDED_ROUNDS], *s = all, *taken = all;
	g_autofree char *against = NULL;

	select_run(s, wish, in, NULL);
	while (taken == all && s < all + CROWDED_ROUNDS &&
	       select_mark_crowded(in->g, s, is_idle)) {
		select_run(++s, wish, in, graph_without(in->g, is_idle));
		if (s->best && s->best->load.worst <= all->best->load.worst &&
		    candidate_beats(s->best, all->best, WORTH_IT))
			taken = s;
	}
	if (taken->best)
		select_take(taken, c);
	if (taken != all) {
		select_note_idle(in->g, is_idle, all->best->load.worst /
				 taken->best->load.worst, c);
		*less = g_steal_pointer(&taken->less);
	}
	against = select_objections(all);
	for (; s >= all; s--)
		select_clear(s);
	if (!c->lft)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "no routing engine has safe tables for this "
			    "fabric: %s", against);
	return c->lft != NULL;
}

/* --- from old to new --- */

/* graph.n_senders without the hosts whose link is in Init: they cannot send
 * data before the update activates it. One that is Armed may be Active, if the answer
 * to that was lost. NULL: there are no such hosts.
 * g_free. */
static uint32_t *
choose_senders(const struct graph *g)
{
	const struct snapshot *s = g->subnet;
	uint32_t *senders = NULL;

	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		const struct snapshot_port *near = &s->ports[t->port +
			s->nodes[s->switches[t->sw]].first_port];
		const struct snapshot_port *far = near->peer == SNAPSHOT_NONE ?
			NULL : &s->ports[near->peer];

		if (t->port == 0 || !far ||
		    near->info.state >= PORT_STATE_ARMED ||
		    far->info.state >= PORT_STATE_ARMED)
			continue;
		if (!senders)
			senders = g_memdup2(g->n_senders, g->n_switches *
					    sizeof(*senders));
		senders[t->sw]--;
	}
	return senders;
}

/* Do the new tables have a credit loop together with the held ones? */
static bool
choose_loops_together(const struct graph *g, const struct lft *held,
		      struct choice *c)
{
	channels_clear(&c->together);
	channels_check_ordered(g, c->lft, held, c->ranks, NULL, &c->together);
	return c->together.n_looped > 0;
}

/* The tables become `bare` before all other changes: a stage of its own. */
static void
choose_clear_first(struct choice *c, const struct lft *bare)
{
	struct lft *next = c->bridge ? c->bridge : lft_ref(c->lft);
	struct transition_entry e = { .stage = 1 };
	guint n_later = c->later->len;
	uint32_t lid;

	c->bridge = lft_widen(bare, next->top);
	for (e.sw = 0; e.sw < next->n_switches; e.sw++)
		for (lid = 0; lid <= next->top; lid++) {
			e.lid = (uint16_t)lid;
			e.port = lft_row(next, e.sw)[lid];
			if (e.port != lft_row(c->bridge, e.sw)[lid])
				g_array_append_val(c->later, e);
		}
	/* A stage of no entries would pass for the end: then `next` is no stage. */
	for (guint i = 0; i < n_later && n_later < c->later->len; i++)
		g_array_index(c->later, struct transition_entry, i).stage++;
	lft_free(next);
}

/* Entries above the new end are cleared in the first stage; LinearFDBTop falls only
 * with a later update. */
static void
choose_begin_stages(const struct lft *held, struct choice *c)
{
	struct lft *wide;

	c->later = g_array_new(FALSE, FALSE, sizeof(struct transition_entry));
	if (held->top <= c->lft->top)
		return;
	wide = lft_widen(c->lft, held->top);
	lft_free(c->lft);
	c->lft = wide;
}

/* Do packets leave the graph over a switch that does not answer, and may come back? */
static bool
choose_leaves_graph(const struct engine_input *in)
{
	const struct snapshot *s = in->g->subnet;
	const struct lft *held = in->previous;
	struct engine_input other = *in;
	g_autoptr(GArray) blind = choose_find_blind(s);

	EACH_ITEM(const uint32_t, port, blind) {
		uint32_t sw = snapshot_node_of(s, *port)->sw_index;

		for (uint32_t lid = LID_UNICAST_MIN; lid <= held->top; lid++)
			if (lft_row(held, sw)[lid] == s->ports[*port].num &&
			    (graph_target_at(choose_graph(in), lid) ||
			     !choose_ends(in, blind, lid)))
				return true;
	}
	other.previous = held->other;
	return held->other && choose_leaves_graph(&other);
}

/* Of a switch that forwards by entries which were not read nothing is known but that
 * there is no loop yet: all entries that change are cleared before others come. */
static void
choose_clear_changed(const struct graph *g, const struct lft *held,
		     struct choice *c)
{
	struct lft *bare = lft_certain(held);

	choose_begin_stages(held, c);
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		const uint8_t *row = lft_row(c->lft, sw);

		for (uint32_t lid = 0; !graph_is_mute(g, sw) &&
		     lid <= held->top; lid++)
			if (lft_row(bare, sw)[lid] != row[lid])
				lft_row(bare, sw)[lid] = LFT_NO_PATH;
	}
	choose_clear_first(c, bare);
	lft_free(bare);
	if (c->later->len) {
		c->safety = CHOICE_DRAIN;
		c->is_blind = true;
		return;
	}
	g_clear_pointer(&c->later, g_array_unref);
	g_clear_pointer(&c->bridge, lft_free);
}

/*
 * Old and new tables are in the fabric together during the update. If the loop
 * needs traffic of hosts that cannot send yet, they are activated after the
 * update. Entries of LIDs without an owner may close a loop in the held tables
 * when a cable comes back, with new entries as well: they are cleared first, and
 * the other entries must not have a loop on the way. Contents in doubt that may have
 * one together tell nothing about old and new ones.
 */
static void
choose_transition(const struct engine_input *in, struct choice *c)
{
	struct graph g = *choose_graph(in);
	g_autofree uint32_t *senders = NULL, *found = NULL;
	struct lft *bare = NULL;

	if (!in->previous || c->safety == CHOICE_LOOP)
		return;
	if (in->unread || choose_leaves_graph(in)) {
		choose_clear_changed(&g, in->previous, c);
		return;
	}
	if (!choose_loops_together(&g, in->previous, c))
		return;
	senders = choose_senders(&g);
	if (senders) {
		c->hosts_wait = true;
		g.n_senders = senders;
		if (!choose_loops_together(&g, in->previous, c))
			return;
	}
	c->held_loop = choose_has_loop(&g, in->previous, c->ranks);
	if (c->held_loop && in->previous->other) {
		c->held_loop = c->hosts_wait = false;
		choose_clear_changed(&g, in->previous, c);
		return;
	}
	if (c->held_loop) {
		bare = choose_forget_unowned(&g, in->previous);
		choose_loops_together(&g, bare, c);
	}
	if (bare && choose_has_loop(&g, bare, c->ranks)) {
		/* Hosts that were not found do not send to all LIDs, else it
		 * would have been there. If it was there already, waiting would
		 * not help. */
		found = choose_senders(in->g);
		g.n_senders = found ? found : in->g->n_senders;
		if (!choose_has_loop(&g, bare, c->ranks))
			choose_clear_changed(&g, in->previous, c);
	} else {
		choose_begin_stages(in->previous, c);
		if (c->together.n_looped) {
			c->bridge = transition_make(&g, bare ? bare :
						    in->previous, c->lft,
						    c->ranks,
						    c->together.looped,
						    c->later);
			/* no stages remove a loop of mute switches */
			if (c->bridge)
				c->safety = CHOICE_DRAIN;
		}
		if (bare)
			choose_clear_first(c, bare);
	}
	lft_free(bare);
}

/* Is there no safe way to the new tables as long as what is in doubt may come back?
 * It does not end with the last stage. */
static bool
choose_must_wait(const struct engine_input *in, const struct choice *c)
{
	struct channels_result r;
	bool must = c->is_blind || (c->together.n_looped && !c->bridge);

	if (must || !c->hosts_wait)
		return must;
	channels_check_ordered(choose_graph(in), c->lft, in->previous->other,
			       c->ranks, NULL, &r);
	must = r.n_looped;
	channels_clear(&r);
	return must;
}

static bool
select_is_held(const struct lft *held, const struct lft *lft)
{
	return lft_size(held) == lft_size(lft) &&
		memcmp(held->ports, lft->ports, lft_size(lft)) == 0;
}

/* Nothing changes: there is nothing to wait for. */
static void
choose_stay(struct choice *c)
{
	c->safety = CHOICE_SAFE;
	c->waits = c->is_blind = false;
	g_clear_pointer(&c->later, g_array_unref);
	g_clear_pointer(&c->bridge, lft_free);
}

/* If the tables have a loop together, the trees have none with the new ones; if
 * these have one alone, as they were asked for, no packet to a group circles. */
static uint32_t
cut_step(const struct graph *g, const struct lft *before,
	 const struct lft *after, const uint32_t *ranks, struct mft *mft)
{
	struct channels *c = NULL;
	uint32_t n;

	if (!channels_load(&c, g, after, before, ranks) &&
	    !channels_load(&c, g, after, NULL, ranks)) {
		channels_free(c);
		c = channels_new(g);
	}
	n = multicast_cut(c, mft);
	channels_free(c);
	return n;
}

uint32_t
choose_cut_trees(const struct graph *whole, struct lft *held,
		 const struct choice *c, struct mft *mft)
{
	g_autofree uint32_t *senders = c->hosts_wait ? choose_senders(whole) :
		NULL;
	struct graph g = *whole;
	struct lft *before, *after;
	unsigned stage = 1;
	uint32_t n = 0;

	if (senders)
		g.n_senders = senders;
	before = !held ? NULL : c->held_loop ?
		choose_forget_unowned(whole, held) : lft_ref(held);
	after = lft_copy(c->bridge ? c->bridge : c->lft);
	do {
		n += cut_step(&g, before, after, c->ranks, mft);
		lft_free(before);
		before = lft_copy(after);
	} while (c->bridge && transition_apply(after, c->later, stage++));
	/* then the hosts send */
	if (senders)
		n += cut_step(whole, NULL, after, c->ranks, mft);
	lft_free(before);
	lft_free(after);
	return n;
}

/* The held tables are the base, if that is as good; g: without idle cables. */
static void
choose_keep(const struct choice_wish *wish, const struct engine_input *in,
	    const struct graph *g, struct choice *c)
{
	struct choice kept = { .lft = NULL }, new = *c;

	if (!in->previous || c->safety == CHOICE_LOOP || wish->makes_room)
		return;
	kept.lft = keep_tables(g, in->previous, c->lft, c->ranks);
	if (!kept.lft)
		return;
	verify_tables(choose_graph(in), kept.lft, NULL, c->ranks, &kept.alone);
	/* They serve as many pairs as the new ones. */
	if (verify_is_sound(&kept.alone) &&
	    kept.alone.reach.lost_hosts <= c->alone.reach.lost_hosts &&
	    kept.alone.reach.lost_mixed <= c->alone.reach.lost_mixed) {
		c->keeps_held = true;
		c->lft = kept.lft;
		c->alone = kept.alone;
		kept.lft = new.lft;
		kept.alone = new.alone;
	}
	lft_free(kept.lft);
	verify_result_clear(&kept.alone);
}

/* Removes entries above a switch's LinearFDBCap. */
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
	verify_reachability(g, mine, NULL, &c->alone.reach);
}

/* --- switches that are not written --- */

/* Adds the turns of packets to this LID from switch `sw`, into which they come by
 * channel `in` (SNAPSHOT_NONE: by none) or, if these close a loop, clears the first
 * entry on their path that may be written. */
static void
mute_add_path(struct channels *c, struct lft *lft, uint32_t in, uint32_t sw,
	      uint32_t lid, GArray *trail)
{
	uint32_t out, hop, first = SNAPSHOT_NONE;

	g_array_set_size(trail, 0);
	for (hop = 0; hop < VERIFY_HOPS_MAX; hop++) {
		if (first == SNAPSHOT_NONE && !graph_is_mute(c->g, sw))
			first = sw;
		out = graph_edge_at(c->g, sw, lft_row(lft, sw)[lid]);
		if (out == SNAPSHOT_NONE)
			return;
		if (in != SNAPSHOT_NONE && !channels_extend(c, in, out, trail))
			break;
		in = out;
		sw = c->g->edges[out].peer;
	}
	channels_undo(c, trail, 0);
	if (first != SNAPSHOT_NONE)
		lft_row(lft, first)[lid] = LFT_NO_PATH;
}

/* Packets to this LID from a mute switch; unread: to any neighbour. */
static void
mute_add_paths_from(struct channels *c, struct lft *lft, uint32_t sw,
		    uint32_t lid, bool unread, GArray *trail)
{
	uint32_t e;

	if (!unread) {
		mute_add_path(c, lft, SNAPSHOT_NONE, sw, lid, trail);
		return;
	}
	for_each_edge(c->g, sw, e)
		mute_add_path(c, lft, e, c->g->edges[e].peer, lid, trail);
}

static void
mute_add_paths(const struct graph *g, const struct lft *without,
	       const uint8_t *unread, struct lft *lft)
{
	g_autoptr(GArray) trail = g_array_new(FALSE, FALSE,
					      sizeof(struct turn));
	struct channels *c = NULL;
	uint32_t sw, lid;

	if (!channels_load(&c, g, without, NULL, NULL)) {
		channels_free(c);
		return;
	}
	for (sw = 0; sw < g->n_switches; sw++)
		for (lid = 1; graph_is_mute(g, sw) && lid <= lft->top; lid++)
			mute_add_paths_from(c, lft, sw, lid,
					    unread && unread[sw], trail);
	channels_free(c);
}

/*
 * A switch of which SwitchInfo is not known is not written: it goes on
 * forwarding by the entries that it holds. No new entry leads to it, but its
 * hosts may send to the port 0 of another switch over switches without hosts,
 * whose entries for that port were verified for no packets. Where these close a
 * loop, the entry next to the mute switch is cleared: no other packet uses it.
 */
static void
choose_hold_mute(const struct engine_input *in, struct choice *c)
{
	const struct graph *g = choose_graph(in);
	struct lft *mine;

	if (!in->previous || c->safety == CHOICE_LOOP || !graph_has_mute(g))
		return;
	mine = lft_copy(c->lft);
	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		if (graph_is_mute(g, sw))
			memcpy(lft_row(mine, sw), lft_row(in->previous, sw),
			       MIN(mine->stride, in->previous->stride));
	if (in->unread || choose_has_loop(g, mine, c->ranks))
		mute_add_paths(g, c->lft, in->unread, mine);
	lft_free(c->lft);
	c->lft = mine;
	verify_reachability(g, mine, NULL, &c->alone.reach);
}

bool
choose_tables(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	struct graph *less = NULL;

	*c = (struct choice){ .safety = CHOICE_SAFE };
	if (!(wish->engine ? choose_named(wish, in, c, error) :
	      select_tables(wish, in, c, &less, error))) {
		choice_clear(c);
		return false;
	}
	choose_keep(wish, in, less ? less : in->g, c);
	graph_free(less);
	choose_cut(in->g, c);
	choose_hold_mute(in, c);
	/* The same but for the end: LinearFDBTop falls with other changes. */
	if (in->previous && in->previous->top > c->lft->top &&
	    select_is_held(in->previous, c->lft)) {
		lft_free(c->lft);
		c->lft = lft_copy(in->previous);
	}
	choose_transition(in, c);
	c->waits = in->previous && in->previous->comes_back &&
		choose_must_wait(in, c);
	if (c->waits && !c->hosts_wait && select_is_held(in->previous, c->lft))
		choose_stay(c);
	return true;
}
