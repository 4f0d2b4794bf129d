// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches.
 *
 * Purpose. Fat-tree and up/down routing are only as good as the levels of the
 * switches. Real trees have irregularities: hosts on spines, leaves with few
 * hosts, cables between two spines or two leaves, a leaf below a leaf, leaves
 * whose hosts are off, two trees joined. Fabrics that are not trees need an
 * order with a root, and some roots are better than others.
 *
 * Method. Levels are distances from the leaves. If all switches with CAs are
 * leaves, each cable joins adjacent levels and any two leaves have a common
 * ancestor, this is the order. Else several candidates are compared: leaves are
 * the switches with more than n CAs, for several n; no levels, but places in an
 * order of growth from a root. For each candidate paths_estimate() computes the
 * load of the busiest channel if all CAs send to all others by their shortest
 * up*-down* paths; flows without such a path are charged as if they shared the
 * cables of one switch. The lowest cost wins; the earlier candidate, if the
 * difference is small. A top switch that joins only leaves which are joined
 * further down already is taken for a leaf without CAs and moves below its
 * neighbours.
 *
 * Places. Within a level, switches that are cabled only to switches of their
 * own level come first, the farthest before the others; then subtree by
 * subtree, seen from the top; then by index (LID).
 *
 * Cost. Linear in the cables for a regular tree; else switches times cables for
 * each candidate, with fewer candidates on large fabrics.
 */
#include "routing/order.h"

#include <stdlib.h>
#include <string.h>

#include "routing/paths.h"
#include "routing/sets.h"

#define LEVEL_NONE	255u
#define LEVEL_MAX	250u
#define N_THRESHOLDS	6u	/* values of n that are tried */
#define WORK 10000000u		/* steps for one candidate */
#define MAX_STARTS	16u	/* roots of an order of growth */
#define NEAR		1.03	/* times the cost: no difference */
#define GOOD		1.5	/* times the cost of unrestricted paths: good */
#define KEEP		1.1	/* times the cost: the present order stays */
#define MAX_ROUNDS	8u	/* of order_settle() */
#define N_SAMPLES	64u	/* leaves below a top switch that are looked at */
#define FEW		16u	/* of pairs with these: one in so many */

/* ---- from levels to an order ---- */

/* By switch: the distance, over cables of its level, from a switch with a
 * cable to a higher level; 0 where there is none. */
static uint32_t *
order_find_hanging(const struct order *o, const struct graph *g)
{
	uint32_t *hangs = g_new0(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	g_autofree uint8_t *seen = g_new0(uint8_t, g->n_switches);
	uint32_t sw, e, peer, head, tail = 0;

	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; !seen[sw] &&
		     e < g->first_edge[sw + 1]; e++)
			if (o->level[g->edges[e].peer] > o->level[sw]) {
				seen[sw] = 1;
				queue[tail++] = sw;
			}
	for (head = 0; head < tail; head++) {
		sw = queue[head];
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			if (seen[peer] || o->level[peer] != o->level[sw])
				continue;
			seen[peer] = 1;
			hangs[peer] = hangs[sw] + 1;
			queue[tail++] = peer;
		}
	}
	return hangs;
}

struct sorting {
	const struct order *o;
	const uint32_t *hangs;
	const uint32_t *held;	/* ranks that decide within a level; or NULL */
};

static gint
order_compare(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct sorting *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, r;
	const uint32_t *label;
	int by = uint_compare(s->o->level[x], s->o->level[y]);

	if (!by && s->held)
		by = uint_compare(s->held[y], s->held[x]);
	if (!by)
		by = uint_compare(s->hangs[y], s->hangs[x]);
	for (r = s->o->n_levels; !by && r > 0; r--) {
		label = s->o->pods + (size_t)(r - 1) * s->o->n_switches;
		by = uint_compare(label[x], label[y]);
	}
	return by ?: uint_compare(x, y);
}

/* held: ranks that decide within a level, or NULL. */
static struct order *
order_build(const struct graph *g, const uint32_t *level, const uint32_t *held)
{
	struct order *o = g_new0(struct order, 1);
	uint32_t n = g->n_switches, *label, r, i, e, low, high;
	g_autofree uint32_t *hangs = NULL;

	o->ref = 1;
	o->n_switches = n;
	o->n_levels = 1;
	o->level = g_new(uint8_t, n);
	o->place = g_new(uint32_t, n);
	o->climb = g_new(uint32_t, n);
	for (i = 0; i < n; i++) {
		o->climb[i] = i;
		o->level[i] = (uint8_t)MIN(level[i], LEVEL_MAX);
		o->n_levels = MAX(o->n_levels, o->level[i] + 1u);
	}
	o->pods = label = g_new(uint32_t, (size_t)n * o->n_levels);
	for (i = 0; i < n; i++)
		label[i] = i;
	for (r = 0; r < o->n_levels; r++, label += n) {
		if (r > 0)
			memcpy(label, label - n, n * sizeof(*label));
		for (e = 0; e < g->n_edges; e++) {
			low = o->level[graph_owner(g, e)];
			high = o->level[g->edges[e].peer];
			if (high == r && low + 1 == r)
				disjoint_join(label, graph_owner(g, e),
					      g->edges[e].peer);
		}
		for (i = 0; i < n; i++)
			label[i] = disjoint_find(label, i);
	}
	for (e = 0; e < g->n_edges; e++)
		o->n_strays += graph_owner(g, e) < g->edges[e].peer &&
			ABS((int)o->level[graph_owner(g, e)] -
			    (int)o->level[g->edges[e].peer]) != 1;
	hangs = order_find_hanging(o, g);
	g_qsort_with_data(o->climb, (gint)n, sizeof(*o->climb), order_compare,
			  &(struct sorting){ o, hangs, held });
	for (i = 0; i < n; i++)
		o->place[o->climb[i]] = i;
	return o;
}

void
order_destroy(struct order *o)
{
	if (!o || !g_atomic_int_dec_and_test(&o->ref))
		return;
	g_free(o->level);
	g_free(o->place);
	g_free(o->climb);
	g_free(o->pods);
	g_free(o);
}

/* Levels are in the upper half of a rank, counted from the top of the range. */
uint32_t *
order_ranks(const struct order *o)
{
	uint32_t *ranks = g_new(uint32_t, o->n_switches), sw;

	for (sw = 0; sw < o->n_switches; sw++)
		ranks[sw] = (LEVEL_NONE - o->level[sw]) << 16 |
			(UINT16_MAX - o->place[sw]);
	return ranks;
}

struct order *
order_from_ranks(const struct graph *g, const uint32_t *ranks)
{
	g_autofree uint32_t *level = g_new(uint32_t, g->n_switches + 1);
	uint32_t sw;

	for (sw = 0; sw < g->n_switches; sw++) {
		level[sw] = LEVEL_NONE - (ranks[sw] >> 16);
		if (level[sw] > LEVEL_MAX)
			return NULL;
	}
	return order_build(g, level, ranks);
}

/* ---- guesses ---- */

/* Levels are distances from the switches with more than so many CAs; in an
 * island without one, from all switches with CAs, or else from its lowest
 * switch. */
static void
order_count_from_leaves(const struct graph *g, uint32_t threshold,
			uint32_t *level)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t n, sw, round;

	memset(level, 0xff, g->n_switches * sizeof(*level));
	for (round = 0; round < 3; round++) {
		for (n = 0, sw = 0; sw < g->n_switches; sw++)
			if (level[sw] == GRAPH_FAR &&
			    (round == 2 ? g->island[sw] == sw :
			     g->n_hosts[sw] > (round ? 0 : threshold))) {
				level[sw] = 0;
				queue[n++] = sw;
			}
		graph_search(g, level, queue, n);
	}
}

/*
 * Levels below the given roots. A switch without CAs that is lower than all
 * switches with CAs (it lost its cables up) is put above its neighbours.
 * Islands without a root keep their levels.
 */
static void
order_count_from_roots(const struct graph *g, const uint8_t *is_root,
		       uint32_t *level)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *depth = g_new(uint32_t, g->n_switches);
	uint32_t sw, e, n = 0, deepest = 0, least;

	memset(depth, 0xff, g->n_switches * sizeof(*depth));
	for (sw = 0; sw < g->n_switches; sw++)
		if (is_root[sw]) {
			depth[sw] = 0;
			queue[n++] = sw;
		}
	n = graph_search(g, depth, queue, n);
	for (sw = 0; sw < g->n_switches; sw++)
		if (depth[sw] != GRAPH_FAR && g->n_hosts[sw] > 0)
			deepest = MAX(deepest, depth[sw]);
	while (n-- > 0) {
		sw = queue[n];
		least = depth[sw];
		if (depth[sw] > deepest)
			for_each_edge(g, sw, e)
				least = MIN(least, MAX(
					depth[g->edges[e].peer], 1) - 1);
		level[sw] = deepest - MIN(least, deepest);
	}
}

/* ---- tops that are leaves ---- */

struct settling {
	const struct graph *g;
	uint32_t *level;
	uint32_t n_words;
	uint64_t *below;	/* by switch: the set of leaves with hosts below
				   it */
};

static uint64_t *
settle_below(const struct settling *s, uint32_t sw)
{
	return s->below + (size_t)sw * s->n_words;
}

/* Finds the leaves below the switches of a level; returns how many these are. */
static uint32_t
settle_gather(const struct settling *s, uint32_t level)
{
	const struct graph *g = s->g;
	uint32_t sw, e, n = 0;

	for (sw = 0; sw < g->n_switches; sw++) {
		if (s->level[sw] != level)
			continue;
		n++;
		if (level == 0 && g->n_hosts[sw])
			set_add(settle_below(s, sw), sw);
		for_each_edge(g, sw, e)
			if (s->level[g->edges[e].peer] + 1 == level)
				set_unite(settle_below(s, sw), settle_below(s,
					  g->edges[e].peer), s->n_words);
	}
	return n;
}

static uint64_t
settle_count(const struct settling *s, const uint64_t *leaves)
{
	uint64_t n = 0;

	for (uint32_t w = 0; w < s->n_words; w++)
		n += (uint64_t)__builtin_popcountll(leaves[w]);
	return n;
}

/* Is it a top switch, and have nearly all pairs of leaves below it a common ancestor
 * among its neighbours? Of many leaves, one in so many is looked at. */
static bool
settle_is_idle(const struct settling *s, uint32_t top)
{
	const struct graph *g = s->g;
	const uint64_t *mine = settle_below(s, top), *theirs;
	g_autofree uint64_t *apart = g_new(uint64_t, s->n_words);
	uint64_t n = settle_count(s, mine), step = n / N_SAMPLES + 1;
	uint64_t few = n * n / step / FEW, n_apart = 0, nth = 0;
	uint32_t leaf, e, peer, w;

	for_each_edge(g, top, e)
		if (s->level[g->edges[e].peer] > s->level[top])
			return false;
	for (leaf = 0; leaf < g->n_switches && n_apart <= few; leaf++) {
		if (!set_has(mine, leaf) || nth++ % step)
			continue;
		memcpy(apart, mine, s->n_words * sizeof(*apart));
		for_each_edge(g, top, e) {
			peer = g->edges[e].peer;
			theirs = settle_below(s, peer);
			if (s->level[peer] == s->level[top] ||
			    !set_has(theirs, leaf))
				continue;
			for (w = 0; w < s->n_words; w++)
				apart[w] &= ~theirs[w];
		}
		n_apart += settle_count(s, apart);
	}
	return n_apart <= few;
}

/* Moves top switches that join nothing below their neighbours, which are a level
 * lower. An empty pod takes a round for each of its levels. */
static void
order_settle(const struct graph *g, uint32_t *level)
{
	uint32_t n = g->n_switches, n_words = (n + 63) / 64, i, sw, round;
	g_autofree uint64_t *below = g_new(uint64_t, (size_t)n * n_words);
	g_autofree uint32_t *next = g_new(uint32_t, n);
	const struct settling s = { g, level, n_words, below };

	for (round = 0; round < MAX_ROUNDS; round++) {
		memset(below, 0, (size_t)n * n_words * sizeof(*below));
		for (i = sw = 0; sw < n; i++)
			sw += settle_gather(&s, i);
		for (sw = 0; sw < n; sw++)
			next[sw] = level[sw] < 2 || !settle_is_idle(&s, sw) ?
				level[sw] : level[sw] - 2;
		if (memcmp(level, next, n * sizeof(*level)) == 0)
			return;
		memcpy(level, next, n * sizeof(*level));
	}
}

/* ---- the choice ---- */

uint64_t *
order_find_tops(const struct order *o, const struct graph *g, uint32_t *n_words)
{
	g_autofree uint32_t *top = g_new(uint32_t, g->n_switches);
	uint32_t n_tops = 0, i, sw, e;
	uint64_t *tops, *mine, *above;

	for (sw = 0; sw < g->n_switches; sw++) {
		top[sw] = n_tops;
		for_each_edge(g, sw, e)
			if (order_is_up(o, sw, g->edges[e].peer))
				break;
		n_tops += e == g->first_edge[sw + 1];
	}
	*n_words = (n_tops + 63) / 64;
	tops = g_new0(uint64_t, (size_t)g->n_switches * *n_words);
	for (i = g->n_switches; i-- > 0;) {
		sw = o->climb[i];
		mine = tops + (size_t)sw * *n_words;
		above = NULL;
		for_each_edge(g, sw, e) {
			if (!order_is_up(o, sw, g->edges[e].peer))
				continue;
			above = tops + (size_t)g->edges[e].peer * *n_words;
			set_unite(mine, above, *n_words);
		}
		if (!above)
			set_add(mine, top[sw]);
	}
	return tops;
}

static gint
order_compare_tops(gconstpointer a, gconstpointer b, gpointer data)
{
	const uint64_t *const *x = a, *const *y = b;
	const uint32_t *n_words = data;

	return memcmp(*x, *y, *n_words * sizeof(**x));
}

/* Compares sets of tops rather than switches: a tree has few different ones. */
bool
order_joins(const struct graph *g, const uint64_t *tops, uint32_t n_words,
	    bool hosts_only)
{
	g_autofree const uint64_t **sets = g_new(const uint64_t *,
						 g->n_switches + 1);
	g_autofree uint8_t *hosts = g_new0(uint8_t, g->n_switches + 1);
	uint32_t n = 0, i, j, sw;

	for (sw = 0; sw < g->n_switches; sw++)
		sets[sw] = tops + (size_t)sw * n_words;
	g_qsort_with_data(sets, (gint)g->n_switches, sizeof(*sets),
			  order_compare_tops, &n_words);
	for (i = 0; i < g->n_switches; i++) {
		sw = (uint32_t)((sets[i] - tops) / n_words);
		if (hosts_only && !g->n_hosts[sw])
			continue;
		if (n == 0 || order_compare_tops(&sets[n - 1], &sets[i],
						 &n_words))
			sets[n++] = sets[i];
		hosts[n - 1] |= g->n_hosts[sw] > 0;
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++) {
			if ((hosts[i] || hosts[j]) &&
			    !set_meets(sets[i], sets[j], n_words) &&
			    g->island[(sets[i] - tops) / n_words] ==
			    g->island[(sets[j] - tops) / n_words])
				return false;
		}
	return true;
}

/* Are all CAs on leaves, do all cables join adjacent levels, and do all
 * leaves with CAs reach each other? */
static bool
order_is_layered(const struct graph *g, const struct order *o)
{
	g_autofree uint64_t *tops = NULL;
	uint32_t sw, n_words;

	if (o->n_strays)
		return false;
	for (sw = 0; sw < g->n_switches; sw++)
		if (g->n_hosts[sw] && o->level[sw])
			return false;
	tops = order_find_tops(o, g, &n_words);
	return order_joins(g, tops, n_words, true);
}

/* The best candidate so far. */
struct trial {
	const struct graph *g;
	struct order *best;
	double cost;
	uint32_t step;		/* one destination in so many is sampled */
};

/* The load of the busiest channel. Flows without a path are charged to the
 * cables of their own switches, and all of them to those of an average
 * switch. */
static double
order_cost(const struct trial *t, const struct order *o)
{
	const struct graph *g = t->g;
	g_autofree uint64_t *lost = g_new0(uint64_t, g->n_switches);
	double most = paths_estimate(g, o->place, t->step, NULL, lost);
	double own = 0, all = 0;
	uint32_t sw;

	for (sw = 0; sw < g->n_switches; sw++) {
		all += (double)lost[sw];
		own = MAX(own, (double)lost[sw] / MAX(1,
			  g->first_edge[sw + 1] - g->first_edge[sw]));
	}
	return most + MAX(own, all * g->n_switches / MAX(g->n_edges, 1));
}

/* Compares a candidate with the best so far. Takes over `o`. */
static void
order_try(struct trial *t, struct order *o)
{
	double cost = order_cost(t, o);

	if (t->best && cost * NEAR >= t->cost) {
		order_destroy(o);
		return;
	}
	order_destroy(t->best);
	t->best = o;
	t->cost = cost;
}

/* Tries orders without levels, from several roots in each island: each
 * switch but the root has a cable up. */
static void
order_try_grown(struct trial *t)
{
	const struct graph *g = t->g;
	uint32_t n = g->n_switches, n_starts, i, sw, start;
	g_autofree uint32_t *level = g_new0(uint32_t, n);
	g_autofree uint32_t *queue = g_new(uint32_t, n);
	g_autofree uint32_t *ranks = g_new(uint32_t, n);

	n_starts = 2 * MIN((uint32_t)(WORK / ((uint64_t)n * g->n_edges /
					      t->step + 1)) + 1, MAX_STARTS);
	for (i = 0; i < n_starts; i++) {
		start = (uint32_t)((uint64_t)n * (i / 2) * 2 / n_starts);
		for (sw = 0; sw < n; sw++)
			queue[sw] = sw;
		queue[0] = start;
		queue[start] = 0;
		graph_grow(g, queue, n, i % 2);
		for (sw = 0; sw < n; sw++)
			ranks[queue[sw]] = sw;
		order_try(t, order_build(g, level, ranks));
	}
}

static uint32_t
order_find_step(const struct graph *g)
{
	return 1 + (uint32_t)((uint64_t)g->n_switches * g->n_edges / WORK);
}

struct order *
order_with_root(const struct graph *g)
{
	struct trial t = { .g = g, .step = order_find_step(g) };

	order_try_grown(&t);
	return t.best;
}

double
order_estimate(const struct graph *g, const struct order *o)
{
	const struct trial t = { .g = g, .step = order_find_step(g) };

	return order_cost(&t, o);
}

static bool
order_has_roots(const struct engine_input *in)
{
	return in->is_root && memchr(in->is_root, 1, in->g->n_switches);
}

/* The best order for the fabric, without regard to a former one. */
static struct order *
order_find(const struct engine_input *in, struct trial *t)
{
	const struct graph *g = in->g;
	g_autofree uint32_t *level = g_new0(uint32_t, g->n_switches + 1);
	g_autofree uint32_t *counts = NULL;
	uint32_t n = 0, i, step;
	struct order *o;

	order_count_from_leaves(g, 0, level);
	if (order_has_roots(in)) {
		order_count_from_roots(g, in->is_root, level);
		return order_build(g, level, NULL);
	}
	order_settle(g, level);
	o = order_build(g, level, NULL);
	if (order_is_layered(g, o))
		return o;
	order_try(t, o);
	/* Leaves have more CAs than n: the numbers that switches have, except
	 * the highest; a sample of them, if there are many. */
	counts = g_memdup2(g->n_hosts, g->n_switches * sizeof(*counts));
	qsort(counts, g->n_switches, sizeof(*counts), compare_numbers);
	for (i = 0; i < g->n_switches; i++)
		if (n == 0 || counts[n - 1] != counts[i])
			counts[n++] = counts[i];
	step = MAX(n / N_THRESHOLDS, 1);
	for (i = 0; i + 1 < n; i += step) {
		order_count_from_leaves(g, counts[i], level);
		order_settle(g, level);
		order_try(t, order_build(g, level, NULL));
	}
	if (t->cost > GOOD * paths_estimate(g, NULL, t->step, NULL, NULL))
		order_try_grown(t);
	return t->best;
}

struct order *
order_compute(const struct engine_input *in)
{
	const struct graph *g = in->g;
	struct trial t = { .g = g, .step = order_find_step(g) };
	g_autofree uint32_t *ranks = NULL;
	struct order *o = in->order, *held = NULL;
	uint32_t sw, n_new = 0;

	if (o)
		g_atomic_int_inc(&o->ref);
	else
		o = order_find(in, &t);
	if (!in->ranks || order_has_roots(in))
		return o;
	/* The former order, with new switches where `o` has them, unless a
	 * quarter of the switches is new. */
	ranks = order_ranks(o);
	for (sw = 0; sw < g->n_switches; sw++) {
		if (in->ranks[sw] == ENGINE_NO_RANK)
			n_new++;
		else
			ranks[sw] = in->ranks[sw];
	}
	if (n_new * 4 <= g->n_switches)
		held = order_from_ranks(g, ranks);
	/* If the levels are the same, the new order is taken: its places do
	 * not depend on a former one. Orders without levels consist of places
	 * only. */
	if (!held || (o->n_levels > 1 &&
		      memcmp(held->level, o->level, o->n_switches) == 0) ||
	    order_cost(&t, held) > KEEP * order_cost(&t, o)) {
		order_destroy(held);
		return o;
	}
	order_destroy(o);
	return held;
}

/* ---- hosts ---- */

static gint
order_compare_ports(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct graph *g = data;

	return (int)g->targets[*(const uint32_t *)a].port -
		(int)g->targets[*(const uint32_t *)b].port;
}

/* Leaves are the switches with at least a quarter of the hosts of the
 * fullest one; the few hosts above them come last and do not shift the
 * others. So shifts are free of contention with D-mod-k (E. Zahavi, 2011). */
uint32_t *
order_hosts(const struct graph *g, uint32_t *n)
{
	g_autofree uint32_t *level = g_new0(uint32_t, g->n_switches + 1);
	uint32_t *hosts = g_new(uint32_t, g->n_targets + 1);
	uint32_t most = 0, i, sw, t, first;
	struct order *o;

	*n = 0;
	if (g->n_switches == 0)
		return hosts;
	for (sw = 0; sw < g->n_switches; sw++)
		most = MAX(most, g->n_hosts[sw]);
	order_count_from_leaves(g, MAX(most / 4, 1) - 1, level);
	o = order_build(g, level, NULL);
	for (i = 0; i < g->n_switches; i++) {
		sw = o->climb[i];
		first = *n;
		for (t = g->first_target[sw]; t < g->first_target[sw + 1]; t++)
			if (g->targets[t].is_host)
				hosts[(*n)++] = t;
		g_qsort_with_data(hosts + first, (gint)(*n - first),
				  sizeof(*hosts), order_compare_ports,
				  (gpointer)g);
	}
	order_destroy(o);
	return hosts;
}
