// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choosing an engine by what its tables are worth.
 *
 * Method. A candidate has tables without a credit loop that join all CAs. Of
 * the candidates those count as best whose busiest channel carries the least
 * under all-to-all traffic; of those within 2% of the best, those with the
 * least congestion of sampled shifts, on average, then at worst; then of
 * random permutations; then the first.
 *
 * Hysteresis. The engine in force stays unless the best one is better by 10%:
 * each lost or repaired cable would change all tables, or else.
 *
 * Cost. The engine in force, else ftree, is tried first. If no tables can be
 * better by more than these margins (metrics_bound), the others are not tried:
 * so it is on most trees. Else the others run in parallel; the result does not
 * depend on it.
 */
#include "routing/select.h"

#include <string.h>

#include "routing/metrics.h"

#define ALIKE		1.02	/* times as much: as good */
#define WORTH_IT	1.10	/* times as much: worth a change of engines */
#define FUNNEL		3.0	/* times the bound: warned of */
#define N_SAMPLES	16u	/* shifts, permutations */
#define MAX_CANDIDATES	16u

struct candidate {
	const struct choice_wish *wish;
	const struct engine_input *in;
	const struct engine *engine;
	struct choice c;
	char *against;		/* NULL: it is one */
	bool tried;
	struct metrics_load load;
	struct metrics_congestion shifts, permutations;
};

struct selection {
	struct candidate list[MAX_CANDIDATES];
	uint32_t n, first;	/* first: to be tried */
	bool has_force;		/* `first` is in force */
	const struct engine_input *in;
	double bound;
};

static void
candidate_try(struct candidate *k)
{
	k->tried = true;
	k->against = choose_candidate(k->wish, k->engine, k->in, &k->c);
	if (!k->against)
		metrics_all_to_all(k->in->g, k->c.lft, &k->load);
	else
		choice_clear(&k->c);
}

static gpointer
candidate_thread(gpointer data)
{
	candidate_try(data);
	return NULL;
}

static void
select_try_rest(struct selection *s)
{
	GThread *threads[MAX_CANDIDATES] = { NULL };
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (!s->list[i].tried && s->in->n_threads > 1)
			threads[i] = g_thread_new("engine", candidate_thread,
						  &s->list[i]);
		else if (!s->list[i].tried)
			candidate_try(&s->list[i]);
	for (i = 0; i < s->n; i++)
		if (threads[i])
			g_thread_join(threads[i]);
}

/* Is nothing to be gained by another engine than the first? */
static bool
select_is_settled(struct selection *s)
{
	const struct candidate *k = &s->list[s->first];
	double margin = s->has_force ? WORTH_IT : ALIKE;

	s->bound = metrics_bound(s->in->g, true);
	if (!k->against && k->load.worst <= margin * s->bound)
		return true;
	s->bound = metrics_bound(s->in->g, false);
	return !k->against && k->load.worst <= margin * s->bound;
}

static void
candidate_sample(struct candidate *k, const uint32_t *hosts, uint32_t n)
{
	const struct metrics_sample sample = {
		.hosts = hosts, .n_hosts = n, .n = N_SAMPLES, .seed = 1,
		.max_hops = k->in->g->n_switches,
		.n_threads = k->in->n_threads,
	};

	metrics_shifts(k->in->g, k->c.lft, &sample, &k->shifts);
	metrics_permutations(k->in->g, k->c.lft, &sample, &k->permutations);
}

/* The figures by which candidates are compared, the first decides. */
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

/* Leaves of those marked the ones that are alike in figure i. */
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

/* The index of the best; s->n: there is no candidate. */
static uint32_t
select_best(struct selection *s)
{
	uint8_t is_left[MAX_CANDIDATES] = { 0 };
	g_autofree uint32_t *hosts = NULL;
	uint64_t least = UINT64_MAX;
	uint32_t i, n, n_hosts;

	/* Pairs of a CA and a switch that have no path come before all. */
	for (i = 0; i < s->n; i++)
		if (s->list[i].tried && !s->list[i].against)
			least = MIN(least,
				    s->list[i].c.alone.reach.lost_mixed);
	for (i = 0; i < s->n; i++)
		is_left[i] = s->list[i].tried && !s->list[i].against &&
			s->list[i].c.alone.reach.lost_mixed == least;
	n = select_reduce(s, is_left, 0);
	if (n > 1)
		hosts = metrics_order(s->in->g, &n_hosts);
	for (i = 0; n > 1 && i < s->n; i++)
		if (is_left[i])
			candidate_sample(&s->list[i], hosts, n_hosts);
	for (i = 1; n > 1 && i < N_FIGURES; i++)
		n = select_reduce(s, is_left, i);
	for (i = 0; i < s->n && !is_left[i]; i++)
		;
	if (i < s->n && s->has_force && !s->list[s->first].against &&
	    s->list[s->first].c.alone.reach.lost_mixed <= least &&
	    s->list[s->first].load.worst <= WORTH_IT * s->list[i].load.worst)
		return s->first;
	return i;
}

static void
select_print(const struct selection *s, const struct candidate *k,
	     GPtrArray *lines)
{
	g_autoptr(GString) line = g_string_new(k->engine->name);

	if (!k->tried) {
		g_string_append_printf(line, ": not tried: %s is near enough "
				       "to the bound",
				       s->list[s->first].engine->name);
	} else if (k->against) {
		g_string_append_printf(line, ": not possible: %s", k->against);
	} else {
		g_string_append_printf(line, ": all to all, the busiest "
				       "channel carries %.0f flows, %.2f "
				       "times the least possible",
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

/* One switch carries much more than any tables need. */
static void
select_warn(const struct selection *s, const struct candidate *k,
	    struct choice *c)
{
	const struct graph *g = s->in->g;
	g_autofree char *from = NULL, *to = NULL;
	uint32_t e = k->load.busiest;

	if (e == SNAPSHOT_NONE || k->load.worst < FUNNEL * s->bound)
		return;
	from = graph_switch_name(g, g->edges[g->edges[e].back].peer);
	to = graph_switch_name(g, g->edges[e].peer);
	g_ptr_array_add(c->notes, g_strdup_printf("traffic funnels through "
		"few cables: the busiest, from %s port %u to %s, carries %.1f "
		"times what it must", from, g->edges[e].port, to,
		k->load.worst / s->bound));
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
		return "was in force, and none is better by a tenth";
	if (n_tried < s->n)
		return "none can be better";
	return n == 1 ? "the only one that is safe here" :
		"the best that is safe here";
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
		"times the least possible", select_explain(s, best),
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
	k->in = s->in;
	k->engine = engine;
	s->n++;
}

bool
select_engine(const struct choice_wish *wish, const struct engine_input *in,
	      struct choice *c, GError **error)
{
	g_autoptr(GString) why = g_string_new(NULL);
	struct selection s = { .in = in };
	uint32_t i, best;

	for (i = 0; engines[i] && i < MAX_CANDIDATES; i++)
		select_add(&s, wish, engines[i]);
	candidate_try(&s.list[s.first]);
	if (!select_is_settled(&s))
		select_try_rest(&s);
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
			    "no engine has safe tables for this fabric: %s",
			    why->str);
	return best < s.n;
}
