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
 * in stages (routing/transition.h).
 *
 * LIDs without an owner, because their host is away, keep their entries, so
 * that a reboot changes no block. Packets may still be sent to them, so these
 * entries are verified like all others, and are dropped first if there is a
 * loop.
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
 * auto. A candidate has tables without a credit loop that join all CAs.
 * Candidates that leave room for multicast trees over all hosts come first: a
 * tree must not close a loop with unicast. Of these, the best are those whose
 * busiest channel carries the least under all-to-all traffic; of those within
 * 2% of the best, those with the least congestion of sampled shifts, by mean,
 * then by maximum; then of random permutations; then the first.
 *
 * Hysteresis. The present engine stays unless another one is better by 10%:
 * else every lost or repaired cable could change all tables.
 *
 * Cost. The present engine, else ftree, is tried first. If it leaves out few
 * pairs, and no tables can be better by more than these margins
 * (metrics_bound), no other is tried; this is the case on most trees. Else the others run in parallel; the result does not
 * depend on that.
 *
 * Source. W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987, for credit loops; J. Duato et al., "A theory
 * for deadlock-free dynamic network reconfiguration", 2005, for why old and new
 * tables are verified together.
 */
#include "routing/select.h"

#include <string.h>

#include "routing/metrics.h"
#include "routing/multicast.h"
#include "routing/order.h"

#define ALIKE		1.02	/* times the best figure: equally good */
#define WORTH_IT	1.10	/* times the load: reason to change the
				   engine */
#define FUNNEL		3.0	/* times the bound: a warning */
#define N_SAMPLES	16u	/* of shifts and of permutations */
#define MAX_CANDIDATES	16u

static void
choice_drop_tables(struct choice *c)
{
	lft_free(c->lft);
	c->lft = NULL;
	g_clear_pointer(&c->ranks, g_free);
	g_clear_pointer(&c->notes, g_ptr_array_unref);
	verify_result_clear(&c->alone);
	channels_clear(&c->together);
	c->joint_with = NULL;
}

void
choice_clear(struct choice *c)
{
	choice_drop_tables(c);
	lft_free(c->bridge);
	g_clear_pointer(&c->later, g_array_unref);
	g_free(c->reason);
	g_free(c->warning);
	g_clear_pointer(&c->compared, g_ptr_array_unref);
	*c = (struct choice){ 0 };
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

/* Tables are computed without the links to be avoided; the held tables may
 * use these links. */
static const struct graph *
choose_graph(const struct engine_input *in)
{
	return in->whole ? in->whole : in->g;
}

/* Is there an entry of this LID into a cable that no tables may use? */
static bool
choose_uses_barred(const struct graph *g, const struct lft *lft, uint32_t lid)
{
	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		if (graph_is_barred(g, sw, lft_row(lft, sw)[lid]))
			return true;
	return false;
}

/* LIDs without an owner keep their held entries, unless the engine routed
 * them. Takes over the reference on `lft` and returns one. */
static struct lft *
choose_keep_unowned(const struct engine_input *in, struct lft *lft)
{
	const struct lft *held = in->previous;
	uint32_t top = MIN(lft->top, held->top), lid;
	struct lft *mine = NULL;

	for (lid = LID_UNICAST_MIN; lid <= top; lid++) {
		if (graph_target_at(in->g, lid) || choose_routes(lft, lid) ||
		    !choose_routes(held, lid) ||
		    choose_uses_barred(in->g, held, lid))
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

/* A copy of the held tables without the entries of LIDs without an owner. */
static struct lft *
choose_forget_unowned(const struct graph *g, const struct lft *held)
{
	struct lft *lft = lft_copy(held);
	uint32_t lid;

	for (lid = LID_UNICAST_MIN; lid <= held->top; lid++)
		if (!graph_target_at(g, lid))
			choose_put(lft, lid, NULL);
	return lft;
}

/* Is the port cabled to a switch and its link not active yet, or is the
 * cable from a switch to itself? Then it carries no data. */
static bool
choose_is_idle(const struct graph *g, uint32_t sw, unsigned num)
{
	const struct snapshot *s = g->subnet;
	const struct snapshot_port *p =
		&s->ports[s->nodes[s->switches[sw]].first_port + num];

	return p->peer != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, p->peer)) &&
		(p->info.state < PORT_STATE_ACTIVE ||
		 s->ports[p->peer].node == p->node);
}

struct lft *
choose_held(const struct graph *g, struct lft *seen)
{
	const struct snapshot *s = g->subnet;
	struct lft *held = lft_ref(seen);
	uint32_t sw, lid;
	unsigned num;
	uint8_t *row;

	for (sw = 0; sw < g->n_switches; sw++)
		for (num = 1; num <= s->nodes[s->switches[sw]].info.num_ports;
		     num++) {
			if (!choose_is_idle(g, sw, num) ||
			    !memchr(lft_row(held, sw), (int)num,
				    held->top + 1u))
				continue;
			if (held == seen) {
				lft_free(held);
				held = lft_copy(seen);
			}
			row = lft_row(held, sw);
			for (lid = 0; lid <= held->top; lid++)
				if (row[lid] == num)
					row[lid] = LFT_NO_PATH;
		}
	return held;
}

/* Fills lft, ranks, notes and alone. */
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
		c->lft = choose_keep_unowned(in, c->lft);
	/* With the held tables first: if both together have no loop, the new
	 * tables alone have none either. */
	c->joint_with = c->ranks ? in->previous : NULL;
	verify_tables(choose_graph(in), c->lft, c->joint_with, c->ranks,
		      &c->alone);
	if (!c->joint_with || !c->alone.channels.n_looped)
		return true;
	c->together = c->alone.channels;
	channels_check_ordered(choose_graph(in), c->lft, NULL, c->ranks, NULL,
			       &c->alone.channels);
	return true;
}

/* If there is a loop, computes once more without the entries of LIDs without
 * an owner. */
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
	bare = choose_forget_unowned(in.g, in.previous);
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
			    "the tables of %s are refused: of all pairs, %"
			    G_GUINT64_FORMAT " loop and %"
			    G_GUINT64_FORMAT " end at a wrong port", c->engine->name,
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

/* The named engine or none. */
static bool
choose_named(const struct choice_wish *wish, const struct engine_input *in,
	     struct choice *c, GError **error)
{
	if (!choose_compute(wish, wish->engine, in, c, error)) {
		g_prefix_error(error, "%s cannot route this fabric: ",
			       wish->engine->name);
		return false;
	}
	c->reason = g_strdup("configured");
	if (verify_is_sound(&c->alone))
		return true;
	if (c->alone.reach.looping || c->alone.reach.astray ||
	    wish->engine->deadlock_free || wish->require_deadlock_free) {
		choose_refuse(c, choose_graph(in), error);
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

/* Do the paths to a few switches have a credit loop already? */
static bool
choose_is_hopeless(const struct engine *engine, const struct engine_input *in)
{
	struct graph *sample = graph_sample(in->g);
	struct engine_input few = { .g = sample };
	struct engine_output out;
	bool has_loop;

	if (!sample)
		return false;
	engine_output_init(&out, lft_new(sample->n_switches, sample->top));
	has_loop = engine->compute(&few, &out, NULL) &&
		choose_has_loop(sample, out.lft, out.ranks);
	lft_free(out.lft);
	engine_output_clear(&out);
	graph_free(sample);
	return has_loop;
}

/*
 * An engine that is not deadlock free by design must be so on this fabric
 * without the help of the held tables: whether it is chosen may depend on the
 * fabric only, else each sweep would undo the choice of the one before. If the
 * entries of LIDs without an owner would close a loop, they are dropped.
 */
static char *
choose_try_risky(const struct choice_wish *wish, const struct engine *engine,
		 const struct engine_input *in, struct choice *c)
{
	struct engine_input fresh = *in;
	g_autoptr(GError) error = NULL;
	char *why;

	fresh.previous = NULL;
	if (choose_is_hopeless(engine, in))
		return g_strdup("credit loops already among the paths to a few "
				"switches");
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

static char *
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

/* The first engine of the list with safe tables. */
static bool
choose_listed(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	g_autoptr(GString) why = g_string_new(NULL);

	for (size_t i = 0; wish->order[i]; i++) {
		g_autofree char *against = choose_candidate(wish,
			wish->order[i], in, c);

		if (!against) {
			c->reason = g_strconcat(why->str, "configured, and "
						"safe here", NULL);
			return true;
		}
		choice_drop_tables(c);
		g_string_append_printf(why, "%s: %s; ", wish->order[i]->name,
				       against);
	}
	g_string_truncate(why, why->len - MIN(why->len, 2));
	g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
		    "no routing engine has safe tables for this fabric: %s",
		    why->str);
	return false;
}

/* --- auto --- */

struct candidate {
	const struct choice_wish *wish;
	struct engine_input in;
	const struct engine *engine;
	struct choice c;
	char *against;		/* why it is not acceptable; NULL: it is */
	bool tried;
	uint32_t missed;	/* multicast_missed() */
	struct metrics_load load;
	struct metrics_congestion shifts, permutations;
};

struct selection {
	struct candidate list[MAX_CANDIDATES];
	uint32_t n, first;	/* first: the one to be tried first */
	double rival;		/* engine_input.rival */
	bool has_force;		/* `first` is the present engine */
	const struct engine_input *in;
	double bound;
};

static void
candidate_try(struct candidate *k)
{
	k->tried = true;
	k->against = choose_candidate(k->wish, k->engine, &k->in, &k->c);
	if (k->against) {
		choice_clear(&k->c);
		return;
	}
	metrics_all_to_all(k->in.g, k->c.lft, &k->load);
	k->missed = multicast_missed(k->in.g, k->c.lft, k->c.ranks);
}

static gpointer
candidate_thread(gpointer data)
{
	candidate_try(data);
	return NULL;
}

/* Tries the engines with an estimate of the load, or those without one. */
static void
select_try_some(struct selection *s, bool has_estimate)
{
	GThread *threads[MAX_CANDIDATES] = { NULL };
	struct candidate *k;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		k = &s->list[i];
		if (k->tried || k->engine->has_estimate != has_estimate)
			continue;
		k->in.rival = s->rival;
		if (k->in.n_threads > 1)
			threads[i] = g_thread_new("engine", candidate_thread,
						  k);
		else
			candidate_try(k);
	}
	for (i = 0; i < s->n; i++)
		if (threads[i])
			g_thread_join(threads[i]);
}

static void
select_try_rest(struct selection *s)
{
	const struct candidate *k;

	select_try_some(s, false);
	for (k = s->list; k < s->list + s->n; k++)
		if (k->tried && !k->against && !k->c.alone.reach.lost_mixed &&
		    (s->rival <= 0 || k->load.worst < s->rival))
			s->rival = k->load.worst;
	select_try_some(s, true);
}

/* Can no other engine be better than the first by more than the margin? */
static bool
select_is_settled(struct selection *s)
{
	const struct candidate *k = &s->list[s->first];
	double margin = s->has_force ? WORTH_IT : ALIKE;

	s->bound = metrics_bound(s->in->g, true);
	if (k->against || k->missed || k->load.worst > margin * s->bound)
		s->bound = metrics_bound(s->in->g, false);
	return !k->against && !k->missed &&
		graph_are_few(s->in->g, k->c.alone.reach.lost_mixed) &&
		k->load.worst <= margin * s->bound;
}

static void
candidate_sample(struct candidate *k, const uint32_t *hosts, uint32_t n)
{
	const struct metrics_sample sample = {
		.hosts = hosts, .n_hosts = n, .n = N_SAMPLES, .seed = 1,
		.max_hops = k->in.g->n_switches,
		.n_threads = k->in.n_threads,
	};

	metrics_shifts(k->in.g, k->c.lft, &sample, &k->shifts);
	metrics_permutations(k->in.g, k->c.lft, &sample, &k->permutations);
}

/* The figures by which candidates are compared, most important first. */
#define N_FIGURES	4u
static double
candidate_figure(const struct candidate *k, uint32_t i)
{
	switch (i) {
	case 0:
		return k->load.worst;
	case 1:
		return k->shifts.mean;
	case 2:
		return k->shifts.max;
	default:
		return k->permutations.mean;
	}
}

/* Unmarks the candidates that are not nearly as good as the best one in
 * figure i; returns how many are left. */
static uint32_t
select_reduce(const struct selection *s, uint8_t *is_left, uint32_t figure)
{
	double best = -1, x;
	uint32_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		x = candidate_figure(&s->list[i], figure);
		if (is_left[i] && (best < 0 || x < best))
			best = x;
	}
	for (i = 0; i < s->n; i++) {
		is_left[i] &= candidate_figure(&s->list[i], figure) <=
			ALIKE * best;
		n += is_left[i];
	}
	return n;
}

/* Compared before all figures: switches that no multicast group can include,
 * then pairs of a CA and a switch without a path. */
static uint64_t
candidate_left_out(const struct candidate *k)
{
	return (uint64_t)k->missed << 40 | k->c.alone.reach.lost_mixed;
}

/* The index of the best candidate; s->n: there is none. */
static uint32_t
select_best(struct selection *s)
{
	uint8_t is_left[MAX_CANDIDATES] = { 0 };
	g_autofree uint32_t *hosts = NULL;
	uint64_t least = UINT64_MAX;
	uint32_t i, n, n_hosts;

	for (i = 0; i < s->n; i++)
		if (s->list[i].tried && !s->list[i].against)
			least = MIN(least, candidate_left_out(&s->list[i]));
	for (i = 0; i < s->n; i++)
		is_left[i] = s->list[i].tried && !s->list[i].against &&
			candidate_left_out(&s->list[i]) == least;
	n = select_reduce(s, is_left, 0);
	if (n > 1)
		hosts = order_hosts(s->in->g, &n_hosts);
	for (i = 0; n > 1 && i < s->n; i++)
		if (is_left[i])
			candidate_sample(&s->list[i], hosts, n_hosts);
	for (i = 1; n > 1 && i < N_FIGURES; i++)
		n = select_reduce(s, is_left, i);
	for (i = 0; i < s->n && !is_left[i]; i++)
		;
	if (i < s->n && s->has_force && !s->list[s->first].against &&
	    candidate_left_out(&s->list[s->first]) <= least &&
	    s->list[s->first].load.worst <= WORTH_IT * s->list[i].load.worst)
		return s->first;
	return i;
}

/* The present engine may keep an old order of the switches that no longer
 * suits the fabric. Before another engine replaces it, it is tried with a
 * new order; else the next sweep might change back to it. */
static void
select_try_anew(struct selection *s)
{
	struct candidate *k = &s->list[s->first];

	if (!s->has_force || !k->in.ranks || select_best(s) == s->first)
		return;
	choice_clear(&k->c);
	g_clear_pointer(&k->against, g_free);
	k->in.ranks = NULL;
	candidate_try(k);
}

static void
select_print(const struct selection *s, const struct candidate *k,
	     GPtrArray *lines)
{
	g_autoptr(GString) line = g_string_new(k->engine->name);

	if (!k->tried) {
		g_string_append_printf(line, ": not tried: %s is close to the "
				       "lower bound",
				       s->list[s->first].engine->name);
	} else if (k->against) {
		g_string_append_printf(line, ": not possible: %s", k->against);
	} else {
		g_string_append_printf(line, ": all-to-all traffic: the "
				       "busiest channel carries %.0f flows, "
				       "%.2f times the lower bound",
				       k->load.worst, s->bound > 0 ?
				       k->load.worst / s->bound : 1);
		if (k->shifts.n)
			g_string_append_printf(line, "; shifts %.2f flows, at "
					       "most %u; permutations %.2f",
					       k->shifts.mean, k->shifts.max,
					       k->permutations.mean);
	}
	g_ptr_array_add(lines, g_string_free(g_steal_pointer(&line), FALSE));
}

/* Warns if one switch carries much more than any tables require. */
static void
select_warn(const struct selection *s, const struct candidate *k,
	    struct choice *c)
{
	const struct graph *g = s->in->g;
	g_autofree char *from = NULL, *to = NULL;
	uint32_t e = k->load.busiest;

	if (e == SNAPSHOT_NONE || s->bound <= 0 ||
	    k->load.worst < FUNNEL * s->bound)
		return;
	from = graph_switch_name(g, graph_owner(g, e));
	to = graph_switch_name(g, g->edges[e].peer);
	c->warning = g_strdup_printf("most traffic goes through few cables: "
		"the busiest, from %s port %u to %s, carries %.1f times the "
		"lower bound", from, g->edges[e].port, to,
		k->load.worst / s->bound);
}

static const char *
select_explain(const struct selection *s, uint32_t best)
{
	uint32_t i, n = 0, n_tried = 0;

	for (i = 0; i < s->n; i++) {
		n_tried += s->list[i].tried;
		n += s->list[i].tried && !s->list[i].against;
	}
	if (best == s->first && s->has_force)
		return "stays, since no other engine is better by a tenth";
	if (n_tried < s->n)
		return "no other engine can be better";
	return n == 1 ? "the only engine that is safe here" :
		"the best engine that is safe here";
}

static void
select_take(struct selection *s, uint32_t best, struct choice *c)
{
	struct candidate *k = &s->list[best];

	*c = k->c;
	memset(&k->c, 0, sizeof(k->c));
	c->compared = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t i = 0; i < s->n; i++)
		select_print(s, &s->list[i], c->compared);
	c->reason = g_strdup_printf("%s: the busiest channel carries %.2f "
		"times the lower bound", select_explain(s, best),
		s->bound > 0 ? k->load.worst / s->bound : 1);
	select_warn(s, k, c);
}

static void
select_add(struct selection *s, const struct choice_wish *wish,
	   const struct engine *engine)
{
	struct candidate *k = &s->list[s->n];

	if (wish->in_force && strcmp(wish->in_force, engine->name) == 0) {
		s->first = s->n;
		s->has_force = true;
	}
	k->wish = wish;
	k->in = *s->in;
	k->engine = engine;
	s->n++;
}

static bool
select_engine(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	g_autoptr(GString) why = g_string_new(NULL);
	struct selection s = { .in = in };
	uint32_t i, best;

	for (i = 0; engines[i] && i < MAX_CANDIDATES; i++)
		select_add(&s, wish, engines[i]);
	candidate_try(&s.list[s.first]);
	if (!select_is_settled(&s)) {
		select_try_rest(&s);
		select_try_anew(&s);
	}
	best = select_best(&s);
	if (best < s.n)
		select_take(&s, best, c);
	for (i = 0; i < s.n; i++) {
		if (s.list[i].against)
			g_string_append_printf(why, "%s%s: %s",
					       why->len ? "; " : "",
					       s.list[i].engine->name,
					       s.list[i].against);
		choice_clear(&s.list[i].c);
		g_free(s.list[i].against);
	}
	if (best == s.n)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "no routing engine has safe tables for this "
			    "fabric: %s",
			    why->str);
	return best < s.n;
}

/* --- from old to new --- */

/* graph.n_hosts without the hosts whose link is not Active: they cannot send
 * data before the update activates it. NULL: there are no such hosts.
 * g_free. */
static uint32_t *
choose_senders(const struct graph *g)
{
	const struct snapshot *s = g->subnet;
	uint32_t *n_hosts = NULL;

	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		const struct snapshot_port *near = &s->ports[t->port +
			s->nodes[s->switches[t->sw]].first_port];
		const struct snapshot_port *far = near->peer == SNAPSHOT_NONE ?
			NULL : &s->ports[near->peer];

		if (t->port == 0 || !far ||
		    near->info.state >= PORT_STATE_ACTIVE ||
		    far->info.state >= PORT_STATE_ACTIVE)
			continue;
		if (!n_hosts)
			n_hosts = g_memdup2(g->n_hosts, g->n_switches *
					    sizeof(*n_hosts));
		n_hosts[t->sw]--;
	}
	return n_hosts;
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

/*
 * Old and new tables are in the fabric together during the update. If the loop
 * needs traffic of hosts that cannot send yet, they are activated after the
 * update. Entries of LIDs without an owner may close a loop in the held tables
 * when a cable comes back: they carry no packets and are left out here, but the
 * other entries must not have a loop on the way.
 */
static void
choose_transition(const struct engine_input *in, struct choice *c)
{
	struct graph g = *choose_graph(in);
	g_autofree uint32_t *senders = NULL;
	struct lft *bare = NULL;

	if (!in->previous || c->safety == CHOICE_LOOP)
		return;
	if (c->joint_with == in->previous ? !c->together.n_looped :
	    !choose_loops_together(&g, in->previous, c))
		return;
	senders = choose_senders(&g);
	if (senders) {
		c->hosts_wait = true;
		g.n_hosts = senders;
		if (!choose_loops_together(&g, in->previous, c))
			return;
	}
	c->held_loop = choose_has_loop(&g, in->previous, c->ranks);
	if (c->held_loop) {
		bare = choose_forget_unowned(&g, in->previous);
		choose_loops_together(&g, bare, c);
	}
	/* If the held tables have this loop already, waiting would not help. */
	if (c->together.n_looped && !(bare && choose_has_loop(&g, bare,
							     c->ranks))) {
		c->safety = CHOICE_DRAIN;
		c->later = g_array_new(FALSE, FALSE,
				       sizeof(struct transition_entry));
		c->bridge = transition_make(&g, bare ? bare : in->previous,
					    c->lft, c->ranks,
					    c->together.looped, c->later);
	}
	lft_free(bare);
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

/* Compares several engines, which share an order of the switches. */
static bool
choose_some(const struct choice_wish *wish, const struct engine_input *given,
	    struct choice *c, GError **error)
{
	struct engine_input in = *given;
	bool ok;

	in.ranks = NULL;
	in.order = in.g->n_switches ? order_compute(&in) : NULL;
	in.ranks = given->ranks;
	ok = wish->order ? choose_listed(wish, &in, c, error) :
		select_engine(wish, &in, c, error);
	order_destroy(in.order);
	return ok;
}

bool
choose_tables(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	*c = (struct choice){ .safety = CHOICE_SAFE };
	if (wish->engine ? !choose_named(wish, in, c, error) :
	    !choose_some(wish, in, c, error)) {
		choice_clear(c);
		return false;
	}
	choose_cut(in->g, c);
	choose_transition(in, c);
	return true;
}
