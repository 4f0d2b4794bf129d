// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traffic in patterns: permutations, shifts, bisections.
 *
 * Purpose. All-to-all says how the load is spread in the long run. Programs
 * send in steps, and a step is as slow as its busiest channel: that is what a
 * pattern measures.
 *
 * Structs. A pattern is dest[], the host that each host sends to. struct
 * drive is what all patterns share; struct lane is what one thread needs: the
 * ways of all flows as edges, one after the other, and the load of each edge.
 *
 * Flow. For each pattern: make dest[], follow each flow and note its way; a
 * way that arrives loads its channels. A way is given up when it is longer
 * than the longest that arrives anywhere (the caller knows, from
 * metrics_paths()), so that loops cost no more than others. Then the verdict:
 * the highest load, or what each flow gets.
 *   Hosts go in the order given, hence rows of a leaf are read for many flows
 * in a row.
 *
 * Random numbers. Pattern k draws from stream k of the seed, so it is the
 * same whatever runs before it or beside it. Figures of patterns are stored by
 * pattern and added up in order at the end: sums of fractions too do not
 * depend on the threads.
 *
 * Source. Random bisections and the share of a flow: T. Hoefler, T. Schneider,
 * A. Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008. Permutations by R. Durstenfeld
 * (1964), the choice of shifts by selection sampling.
 */
#include "routing/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "routing/sets.h"
#include "routing/work.h"
#include "topology/prng.h"

#define NOBODY	UINT32_MAX

struct drive;
struct lane;

/* What a kind of pattern is. */
struct kind {
	void (*fill)(const struct drive *d, uint32_t k, struct lane *lane);
	double (*judge)(const struct drive *d, const struct lane *lane);
};

struct drive {
	const struct graph *g;
	const struct lft *lft;
	const struct metrics_sample *sample;
	const struct kind *kind;
	const uint32_t *distances;	/* pattern -> shift */
	double *figures;	/* by pattern */
	uint32_t *lost;		/* by pattern */
};

struct lane {
	uint32_t *dest;		/* host -> host, both as numbered in the
				   sample, or NOBODY */
	uint32_t *deck;		/* a permutation of the hosts */
	uint32_t *ways;		/* edges, way after way */
	uint32_t *end;		/* host -> where its way ends in `ways` */
	uint8_t *arrives;	/* by host */
	uint32_t *load;		/* by edge */
	uint32_t most;		/* of all loads, and 1 if anything arrives */
	uint32_t n_flows, n_lost;
};

static const struct graph_target *
drive_host(const struct drive *d, uint32_t host)
{
	return &d->g->targets[d->sample->hosts[host]];
}

/* Writes the edges of the way; returns behind the last one, or NULL if it
 * does not arrive. */
static uint32_t *
drive_follow(const struct drive *d, uint32_t from, uint32_t to, uint32_t *way)
{
	const struct graph_target *target = drive_host(d, to);
	const uint32_t *limit = way + d->sample->max_hops;
	uint32_t sw = drive_host(d, from)->sw, edge;
	uint8_t port;

	if (target->lid > d->lft->top)
		return NULL;
	for (;;) {
		port = lft_row(d->lft, sw)[target->lid];
		edge = graph_edge_at(d->g, sw, port);
		if (edge == SNAPSHOT_NONE)
			break;
		if (way == limit)
			return NULL;
		*way++ = edge;
		sw = d->g->edges[edge].peer;
	}
	return sw == target->sw && port == target->port ? way : NULL;
}

static void
drive_load(const struct drive *d, struct lane *lane)
{
	uint32_t *way = lane->ways, *next, i;

	if (d->g->n_edges > 0)
		memset(lane->load, 0, d->g->n_edges * sizeof(*lane->load));
	lane->most = lane->n_flows = lane->n_lost = 0;
	for (i = 0; i < d->sample->n_hosts; i++) {
		lane->arrives[i] = 0;
		lane->end[i] = (uint32_t)(way - lane->ways);
		if (lane->dest[i] == NOBODY)
			continue;
		lane->n_flows++;
		next = drive_follow(d, i, lane->dest[i], way);
		if (!next) {
			lane->n_lost++;
			continue;
		}
		lane->arrives[i] = 1;
		lane->most = MAX(lane->most, 1);
		for (; way < next; way++) {
			lane->load[*way]++;
			lane->most = MAX(lane->most, lane->load[*way]);
		}
		lane->end[i] = (uint32_t)(way - lane->ways);
	}
}

static void
drive_range(void *data, uint32_t from, uint32_t to)
{
	struct drive *d = data;
	uint32_t n = d->sample->n_hosts, k;
	struct lane lane = {
		.dest = g_new(uint32_t, n),
		.deck = g_new(uint32_t, n),
		.ways = g_new(uint32_t, (size_t)n *
			      (d->sample->max_hops + 1u)),
		.end = g_new(uint32_t, n),
		.arrives = g_new(uint8_t, n),
		.load = g_new(uint32_t, d->g->n_edges),
	};

	for (k = from; k < to; k++) {
		d->kind->fill(d, k, &lane);
		drive_load(d, &lane);
		d->figures[k] = d->kind->judge(d, &lane);
		d->lost[k] = lane.n_lost;
	}
	g_free(lane.dest);
	g_free(lane.deck);
	g_free(lane.ways);
	g_free(lane.end);
	g_free(lane.arrives);
	g_free(lane.load);
}

static void
drive_run(struct drive *d, const struct graph *g, const struct lft *lft,
	  const struct metrics_sample *sample, const struct kind *kind,
	  uint32_t n)
{
	g_assert(lft->n_switches == g->n_switches);
	d->g = g;
	d->lft = lft;
	d->sample = sample;
	d->kind = kind;
	d->figures = g_new(double, n);
	d->lost = g_new(uint32_t, n);
	work_share(sample->n_threads, n, drive_range, d);
}

static void
drive_clear(struct drive *d)
{
	g_free(d->figures);
	g_free(d->lost);
}

/* --- patterns --- */

static void
pattern_shuffle(const struct drive *d, uint32_t k, struct lane *lane)
{
	uint64_t rng = prng_stream(d->sample->seed, k);
	uint32_t i, j, host;

	for (i = 0; i < d->sample->n_hosts; i++)
		lane->deck[i] = i;
	for (i = d->sample->n_hosts; i > 1; i--) {
		j = prng_below(&rng, i);
		host = lane->deck[i - 1];
		lane->deck[i - 1] = lane->deck[j];
		lane->deck[j] = host;
	}
}

static void
pattern_permute(const struct drive *d, uint32_t k, struct lane *lane)
{
	uint32_t i;

	pattern_shuffle(d, k, lane);
	for (i = 0; i < d->sample->n_hosts; i++)
		lane->dest[i] = lane->deck[i] == i ? NOBODY : lane->deck[i];
}

static void
pattern_shift(const struct drive *d, uint32_t k, struct lane *lane)
{
	uint32_t n = d->sample->n_hosts, i, to = d->distances[k];

	for (i = 0; i < n; i++) {
		lane->dest[i] = to++;
		if (to == n)
			to = 0;
	}
}

/* The first half of a shuffled deck sends to the second. Of an odd number one
 * sits out. */
static void
pattern_bisect(const struct drive *d, uint32_t k, struct lane *lane)
{
	uint32_t n = d->sample->n_hosts, half = n / 2, i;

	pattern_shuffle(d, k, lane);
	for (i = 0; i < n; i++)
		lane->dest[i] = NOBODY;
	for (i = 0; i < half; i++)
		lane->dest[lane->deck[i]] = lane->deck[half + i];
}

static double
judge_congestion(const struct drive *d, const struct lane *lane)
{
	return lane->most;
}

static double
judge_share(const struct drive *d, const struct lane *lane)
{
	const uint32_t *way = lane->ways;
	uint32_t i, most;
	double sum = 0;

	for (i = 0; i < d->sample->n_hosts; i++) {
		for (most = 1; way < lane->ways + lane->end[i]; way++)
			most = MAX(most, lane->load[*way]);
		if (lane->arrives[i])
			sum += 1.0 / most;
	}
	return lane->n_flows ? sum / lane->n_flows : 0;
}

/* --- what is asked for --- */

static const struct kind permutation = { pattern_permute, judge_congestion };
static const struct kind shift = { pattern_shift, judge_congestion };
static const struct kind bisection = { pattern_bisect, judge_share };

static void
congestion_conclude(const struct drive *d, uint32_t n,
		    struct metrics_congestion *result)
{
	double sum = 0;
	uint32_t k;

	result->n = n;
	for (k = 0; k < n; k++) {
		sum += d->figures[k];
		result->lost += d->lost[k];
		if (d->figures[k] <= result->max)
			continue;
		result->max = (uint32_t)d->figures[k];
		result->worst = d->distances ? d->distances[k] : k;
	}
	if (n > 0)
		result->mean = sum / n;
}

void
metrics_permutations(const struct graph *g, const struct lft *lft,
		     const struct metrics_sample *sample,
		     struct metrics_congestion *result)
{
	uint32_t n = sample->n_hosts > 1 ? sample->n : 0;
	struct drive d = { .distances = NULL };

	memset(result, 0, sizeof(*result));
	drive_run(&d, g, lft, sample, &permutation, n);
	congestion_conclude(&d, n, result);
	drive_clear(&d);
}

/* So many distances from 1 to n_hosts - 1, ascending; any set of them with the
 * same probability. */
static uint32_t *
choose_distances(const struct metrics_sample *sample, uint32_t n)
{
	uint64_t rng = prng_stream(sample->seed, 0);
	uint32_t *distances = g_new(uint32_t, n);
	uint32_t left = sample->n_hosts - 1, i = 0;

	for (; left > 0; left--)
		if (prng_below(&rng, left) < n - i)
			distances[i++] = sample->n_hosts - left;
	return distances;
}

void
metrics_shifts(const struct graph *g, const struct lft *lft,
	       const struct metrics_sample *sample,
	       struct metrics_congestion *result)
{
	uint32_t n_all = sample->n_hosts > 0 ? sample->n_hosts - 1 : 0;
	uint32_t n = MIN(n_all, sample->n);
	g_autofree uint32_t *distances = NULL;
	struct drive d = { .distances = NULL };

	memset(result, 0, sizeof(*result));
	result->n_all = n_all;
	if (n == 0)
		return;
	d.distances = distances = choose_distances(sample, n);
	drive_run(&d, g, lft, sample, &shift, n);
	congestion_conclude(&d, n, result);
	drive_clear(&d);
}

double
metrics_bisections(const struct graph *g, const struct lft *lft,
		   const struct metrics_sample *sample)
{
	uint32_t n = sample->n_hosts > 1 ? sample->n : 0, k;
	struct drive d = { .distances = NULL };
	double sum = 0;

	drive_run(&d, g, lft, sample, &bisection, n);
	for (k = 0; k < n; k++)
		sum += d.figures[k];
	drive_clear(&d);
	return n ? sum / n : 0;
}

/*
 * The order of the hosts for shifts.
 *
 * Purpose. A shift is kind to a tree only if neighbours in the order are
 * neighbours in the tree, so the order has to come from the fabric. LIDs and
 * GUIDs say nothing about who stands next to whom.
 *
 * Order. A leaf is a switch with at least a quarter of the hosts of the
 * fullest; the level of a switch is its distance from the nearest leaf. By
 * level first, so that the few CAs above the leaves come last and move none of
 * the others. Then pod by pod: two switches are in the same pod of level r if
 * cables join them over switches of levels up to r, and the largest pods are
 * compared first. What is in one pod of level 0 (a ring, a torus: all are
 * leaves) is taken along the cables, depth first, by port. Pods, and leaves
 * that no difference tells apart, come as the graph numbers them. Hosts of a
 * switch: by port.
 *
 * Source. The order for which D-mod-k is free of contention: E. Zahavi,
 * "Fat-trees routing and node ordering providing contention free traffic for
 * MPI global collectives", 2011.
 */

#define UNSEEN	UINT32_MAX

struct traffic_survey {
	const struct graph *g;
	uint32_t *level;	/* by switch */
	uint32_t n_levels;
	uint32_t *pods;		/* [level][switch]: lowest switch of the pod */
	uint32_t *place;	/* switch -> when it is met along the cables */
};

static void
order_find_levels(struct traffic_survey *s)
{
	const struct graph *g = s->g;
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t most = 0, head, tail = 0, sw, e, peer;

	for (sw = 0; sw < g->n_switches; sw++)
		most = MAX(most, g->n_hosts[sw]);
	for (sw = 0; sw < g->n_switches; sw++) {
		s->level[sw] = UNSEEN;
		if (g->n_hosts[sw] == 0 || g->n_hosts[sw] < most / 4)
			continue;
		s->level[sw] = 0;
		queue[tail++] = sw;
	}
	for (head = 0; head < tail; head++) {
		sw = queue[head];
		s->n_levels = s->level[sw] + 1;
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			if (s->level[peer] != UNSEEN)
				continue;
			s->level[peer] = s->level[sw] + 1;
			queue[tail++] = peer;
		}
	}
}

static void
order_label_pods(struct traffic_survey *s)
{
	const struct graph *g = s->g;
	g_autofree uint32_t *up = g_new(uint32_t, g->n_switches);
	uint32_t r, sw, e, peer;

	for (sw = 0; sw < g->n_switches; sw++)
		up[sw] = sw;
	for (r = 0; r < s->n_levels; r++) {
		for (sw = 0; sw < g->n_switches; sw++)
			for_each_edge(g, sw, e) {
				peer = g->edges[e].peer;
				if (MAX(s->level[sw], s->level[peer]) == r)
					disjoint_join(up, sw, peer);
			}
		for (sw = 0; sw < g->n_switches; sw++)
			s->pods[(size_t)r * g->n_switches + sw] =
				disjoint_find(up, sw);
	}
}

static int
order_compare_edges(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	return (int)y->port - (int)x->port;
}

/* Depth first over switches of the same level. The stack may hold a switch
 * more than once: all but the last one are passed over. */
static void
order_walk(struct traffic_survey *s, uint32_t start, uint32_t *stack,
	   uint32_t *place)
{
	const struct graph *g = s->g;
	struct graph_edge edges[GRAPH_PORTS];
	uint32_t depth = 0, sw, i, n;

	stack[depth++] = start;
	while (depth > 0) {
		sw = stack[--depth];
		if (s->place[sw] != UNSEEN)
			continue;
		s->place[sw] = (*place)++;
		n = g->first_edge[sw + 1] - g->first_edge[sw];
		if (n == 0)
			continue;
		memcpy(edges, g->edges + g->first_edge[sw],
		       n * sizeof(*edges));
		/* The lowest port last: that is taken first. */
		qsort(edges, n, sizeof(*edges), order_compare_edges);
		for (i = 0; i < n; i++)
			if (s->place[edges[i].peer] == UNSEEN &&
			    s->level[edges[i].peer] == s->level[sw])
				stack[depth++] = edges[i].peer;
	}
}

static void
order_find_places(struct traffic_survey *s)
{
	const struct graph *g = s->g;
	g_autofree uint32_t *stack = g_new(uint32_t, g->n_edges + 1u);
	uint32_t sw, place = 0;

	memset(s->place, 0xff, g->n_switches * sizeof(*s->place));
	for (sw = 0; sw < g->n_switches; sw++)
		if (s->place[sw] == UNSEEN)
			order_walk(s, sw, stack, &place);
}

static gint
order_compare(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct traffic_survey *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint32_t *pods;
	uint32_t r;

	if (s->level[x] != s->level[y])
		return s->level[x] < s->level[y] ? -1 : 1;
	for (r = s->n_levels; r > 0; r--) {
		pods = s->pods + (size_t)(r - 1) * s->g->n_switches;
		if (pods[x] != pods[y])
			return pods[x] < pods[y] ? -1 : 1;
	}
	return s->place[x] < s->place[y] ? -1 : s->place[x] > s->place[y];
}

static gint
order_compare_ports(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct graph *g = data;
	const struct graph_target *x = &g->targets[*(const uint32_t *)a];
	const struct graph_target *y = &g->targets[*(const uint32_t *)b];

	return (int)x->port - (int)y->port;
}

static uint32_t *
order_list_hosts(const struct graph *g, const uint32_t *switches, uint32_t *n)
{
	uint32_t *hosts = g_new(uint32_t, g->n_targets);
	uint32_t i, sw, t, first;

	*n = 0;
	for (i = 0; i < g->n_switches; i++) {
		sw = switches[i];
		first = *n;
		for (t = g->first_target[sw]; t < g->first_target[sw + 1]; t++)
			if (g->targets[t].port != 0)
				hosts[(*n)++] = t;
		g_qsort_with_data(hosts + first, (gint)(*n - first),
				  sizeof(*hosts), order_compare_ports,
				  (gpointer)g);
	}
	return hosts;
}

uint32_t *
metrics_order(const struct graph *g, uint32_t *n)
{
	g_autofree uint32_t *switches = g_new(uint32_t, g->n_switches);
	struct traffic_survey s = { .g = g };
	uint32_t *hosts, sw;

	*n = 0;
	if (g->n_switches == 0)
		return NULL;
	s.level = g_new(uint32_t, g->n_switches);
	s.place = g_new(uint32_t, g->n_switches);
	order_find_levels(&s);
	s.pods = g_new(uint32_t, (size_t)s.n_levels * g->n_switches);
	order_label_pods(&s);
	order_find_places(&s);
	for (sw = 0; sw < g->n_switches; sw++)
		switches[sw] = sw;
	g_qsort_with_data(switches, (gint)g->n_switches, sizeof(*switches),
			  order_compare, &s);
	hosts = order_list_hosts(g, switches, n);
	g_free(s.level);
	g_free(s.pods);
	g_free(s.place);
	return hosts;
}
