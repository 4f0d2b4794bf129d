// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traffic in patterns: permutations, shifts, bisections, rails.
 *
 * Purpose. All-to-all traffic shows how the load is spread in the long run.
 * Programs communicate in steps, and a step is as slow as its busiest channel:
 * this is what a pattern measures.
 *
 * Structs. A pattern is flows, from[] a host to dest[]. struct drive is shared
 * by all patterns; struct lane is the memory of one thread: the paths of all
 * flows as edges, one after the other, and the load of each edge. Numbers above
 * those of the edges are the two directions of the hosts' own cables.
 *
 * Flow. For each pattern: fill dest[], follow each flow and record its path; a
 * path that arrives loads its channels. A path that gets longer than the
 * longest of those that arrive (known from metrics_paths()) is given up, so
 * that loops take no more time than others. The result is the highest load, or
 * the share of each flow. Hosts go in the given order, so the rows of a leaf
 * are read for many flows in a row.
 *
 * Random numbers. Pattern k uses stream k of the seed, whatever runs before it
 * or in parallel. Figures are stored by pattern and added up in order at the
 * end, so sums of fractions do not depend on the threads either.
 *
 * Source. Random bisections and the share of a flow: T. Hoefler, T. Schneider,
 * A. Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008. Permutations by R. Durstenfeld
 * (1964), the choice of shifts by selection sampling. Two trees in which each
 * node forwards in one only: P. Sanders, J. Speck, J. L. Traeff, "Two-tree
 * algorithms for full bandwidth broadcast, reduction and scan", 2009; their
 * shape is that of the NCCL library.
 */
#include "routing/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "routing/scratch.h"
#include "routing/work.h"
#include "topology/prng.h"

#define NOBODY	UINT32_MAX

struct drive;
struct lane;

/* A kind of pattern. */
struct kind {
	void (*fill)(const struct drive *d, uint32_t k, struct lane *lane);
	uint32_t width;		/* flows for each host, at most */
	/* Of the paths; NULL: the highest load, and no path is kept. */
	double (*judge)(const struct drive *d, const struct lane *lane);
};

/* Which hosts send to each other: see struct metrics_rails. */
struct rails {
	uint32_t n, n_nodes;
	uint32_t longest;	/* hosts of a rail, at most */
	uint32_t *hosts;	/* rail by rail, in the order of the nodes */
	uint32_t *first;	/* rail -> its first host; n + 1 */
};

struct drive {
	const struct graph *g;
	const struct lft *lft;
	const struct metrics_sample *sample;
	const struct kind *kind;
	const uint32_t *distances;	/* pattern -> shift; NULL: no shifts */
	const struct rails *rails;	/* or NULL */
	uint32_t n;		/* patterns */
	double *figures;	/* by pattern */
	uint32_t *lost;		/* by pattern */
};

struct lane {
	uint32_t *from;		/* by flow: a host, numbered as in the sample;
				   flow i is from host i, where a host has one */
	uint32_t *dest;		/* by flow: a host, or NOBODY */
	uint32_t *deck;		/* a permutation of the hosts */
	uint32_t *ways;		/* edges of all paths, one after the other, or
				   of one path */
	uint32_t *end;		/* by flow: the end of its path in `ways` */
	uint8_t *arrives;	/* by flow */
	uint32_t *load;		/* by edge */
	uint32_t most;		/* the highest load */
	uint32_t n_flows, n_lost;
};

/* Writes the edges of the path; returns the position after the last one, or
 * NULL if it does not arrive. */
static uint32_t *
drive_follow(const struct drive *d, uint32_t from, uint32_t to, uint32_t *way)
{
	const uint32_t *hosts = d->sample->hosts;
	const struct graph_target *target = &d->g->targets[hosts[to]];
	const uint32_t *limit = way + d->sample->max_hops + 1;
	uint32_t sw = d->g->targets[hosts[from]].sw, edge;
	uint8_t port;

	if (target->lid > d->lft->top)
		return NULL;
	*way++ = d->g->n_edges + from;
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
	*way++ = d->g->n_edges + d->sample->n_hosts + to;
	return sw == target->sw && port == target->port ? way : NULL;
}

static void
drive_range(void *data, uint32_t from, uint32_t to)
{
	struct drive *d = data;
	uint32_t n = d->sample->n_hosts * d->kind->width, k;
	uint32_t n_loads = d->g->n_edges + 2 * d->sample->n_hosts;
	size_t n_ways = d->kind->judge ? n : 1;
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t *way, *next, i;
	struct lane lane = {
		.from = SCRATCH(scratch, uint32_t, n),
		.dest = SCRATCH(scratch, uint32_t, n),
		.deck = SCRATCH(scratch, uint32_t, n),
		.ways = g_new(uint32_t, n_ways * (d->sample->max_hops + 2u)),
		.end = SCRATCH(scratch, uint32_t, n),
		.arrives = SCRATCH(scratch, uint8_t, n),
		.load = SCRATCH(scratch, uint32_t, n_loads),
	};

	for (i = 0; i < n; i++)
		lane.from[i] = i;
	for (k = from; k < to; k++) {
		d->kind->fill(d, k, &lane);
		memset(lane.load, 0, n_loads * sizeof(*lane.load));
		lane.most = lane.n_flows = lane.n_lost = 0;
		for (way = lane.ways, i = 0; i < n; i++) {
			lane.arrives[i] = 0;
			lane.end[i] = (uint32_t)(way - lane.ways);
			if (lane.dest[i] == NOBODY)
				continue;
			lane.n_flows++;
			way = d->kind->judge ? way : lane.ways;
			next = drive_follow(d, lane.from[i], lane.dest[i],
					    way);
			if (!next) {
				lane.n_lost++;
				continue;
			}
			lane.arrives[i] = 1;
			for (; way < next; way++) {
				lane.load[*way]++;
				lane.most = MAX(lane.most, lane.load[*way]);
			}
			lane.end[i] = (uint32_t)(way - lane.ways);
		}
		d->figures[k] = d->kind->judge ? d->kind->judge(d, &lane) :
			lane.most;
		d->lost[k] = lane.n_lost;
	}
	g_free(lane.ways);
}

static void
drive_run(struct drive *d)
{
	g_assert(d->lft->n_switches == d->g->n_switches);
	d->figures = g_new(double, d->n);
	d->lost = g_new(uint32_t, d->n);
	work_share(d->sample->n_threads, d->n, drive_range, d);
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

/* The first half of the shuffled hosts sends to the second. If their number
 * is odd, one host does not take part. */
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

/* In each rail by itself, modulo its length. */
static void
pattern_rail_shift(const struct drive *d, uint32_t k, struct lane *lane)
{
	const uint32_t *host, *first = d->rails->first;

	for (uint32_t r = 0; r < d->rails->n; r++) {
		uint32_t n = first[r + 1] - first[r], i;
		uint32_t by = d->distances[k] % n;

		host = d->rails->hosts + first[r];
		for (i = 0; i < n; i++)
			lane->dest[host[i]] = by ? host[(i + by) % n] : NOBODY;
	}
}

/* Up to the parent and down from it, at once, in both trees of each rail. The
 * parent of a number has its lowest 1 one place higher, or nowhere. The second
 * tree is the first one from the other end or, of an odd number, turned by one:
 * leaves of one forward in the other. */
static void
pattern_trees(const struct drive *d, uint32_t k G_GNUC_UNUSED,
	      struct lane *lane)
{
	const uint32_t *host, *first = d->rails->first;
	uint32_t flow = 0, i, n, tree, low, up;

	memset(lane->dest, 0xff, d->sample->n_hosts * d->kind->width *
	       sizeof(*lane->dest));
	for (tree = 0; tree < 2 * d->rails->n; tree++) {
		n = first[tree / 2 + 1] - first[tree / 2];
		host = d->rails->hosts + first[tree / 2];
		for (i = 1; i < n; i++) {
			low = i & -i;
			up = (i - low) | low << 1;
			up = up < n ? up : i - low;
			lane->from[flow] = host[tree % 2 == 0 ? i :
						n % 2 ? (i + 1) % n :
						n - 1 - i];
			lane->dest[flow] = host[tree % 2 == 0 ? up :
						n % 2 ? (up + 1) % n :
						n - 1 - up];
			lane->from[flow + 1] = lane->dest[flow];
			lane->dest[flow + 1] = lane->from[flow];
			flow += 2;
		}
	}
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

static const struct kind permutation = { pattern_permute, 1, NULL };
static const struct kind shift = { pattern_shift, 1, NULL };
static const struct kind rail_shift = { pattern_rail_shift, 1, NULL };
static const struct kind trees = { pattern_trees, 4, NULL };
static const struct kind bisection = { pattern_bisect, 1, judge_share };

static void
congestion_measure(struct drive *d, struct metrics_congestion *result)
{
	double sum = 0;
	uint32_t k;

	drive_run(d);
	*result = (struct metrics_congestion){ .n = d->n };
	for (k = 0; k < d->n; k++) {
		sum += d->figures[k];
		result->lost += d->lost[k];
		if (d->figures[k] <= result->max)
			continue;
		result->max = (uint32_t)d->figures[k];
		result->worst = d->distances ? d->distances[k] : k;
	}
	if (d->n > 0)
		result->mean = sum / d->n;
	g_free(d->figures);
	g_free(d->lost);
}

void
metrics_permutations(const struct graph *g, const struct lft *lft,
		     const struct metrics_sample *sample,
		     struct metrics_congestion *result)
{
	struct drive d = {
		.g = g, .lft = lft, .sample = sample, .kind = &permutation,
		.n = sample->n_hosts > 1 ? sample->n : 0,
	};

	congestion_measure(&d, result);
}

/* Of the distances from 1 to n_all, some, ascending; all sets have the same
 * probability. */
static void
shifts_measure(struct drive *d, uint32_t n_all,
	       struct metrics_congestion *result)
{
	uint32_t n = MIN(n_all, d->sample->n), left, i = 0;
	g_autofree uint32_t *distances = g_new(uint32_t, n);
	uint64_t rng = prng_stream(d->sample->seed, 0);

	for (left = n_all; left > 0; left--)
		if (prng_below(&rng, left) < n - i)
			distances[i++] = n_all + 1 - left;
	d->distances = distances;
	d->n = n;
	congestion_measure(d, result);
	result->n_all = n_all;
}

void
metrics_shifts(const struct graph *g, const struct lft *lft,
	       const struct metrics_sample *sample,
	       struct metrics_congestion *result)
{
	struct drive d = {
		.g = g, .lft = lft, .sample = sample, .kind = &shift,
	};

	shifts_measure(&d, MAX(sample->n_hosts, 1) - 1, result);
}

double
metrics_bisections(const struct graph *g, const struct lft *lft,
		   const struct metrics_sample *sample)
{
	struct drive d = {
		.g = g, .lft = lft, .sample = sample, .kind = &bisection,
		.n = sample->n_hosts > 1 ? sample->n : 0,
	};
	double sum = 0;

	drive_run(&d);
	for (uint32_t k = 0; k < d.n; k++)
		sum += d.figures[k];
	g_free(d.figures);
	g_free(d.lost);
	return d.n ? sum / d.n : 0;
}

/* --- rails --- */

/* How often the key came before. */
static uint32_t
rails_count(GHashTable *counts, gconstpointer key)
{
	uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));

	g_hash_table_insert(counts, (gpointer)key, GUINT_TO_POINTER(n + 1));
	return n;
}

/* In the order of first use. Takes the text. */
static uint32_t
rails_number(GHashTable *numbers, char *text)
{
	uint32_t next = g_hash_table_size(numbers);
	gpointer n;

	if (!g_hash_table_lookup_extended(numbers, text, NULL, &n)) {
		g_hash_table_insert(numbers, text, GUINT_TO_POINTER(next));
		return next;
	}
	g_free(text);
	return GPOINTER_TO_UINT(n);
}

struct rail_place {
	uint32_t rail, node, host;
};

static int
rails_compare(const void *a, const void *b)
{
	const struct rail_place *x = a, *y = b;

	return x->rail != y->rail ? (x->rail < y->rail ? -1 : 1) :
		(x->node > y->node) - (x->node < y->node);
}

/* By CA port: cabled ports before it, of its CA and of all CAs with its
 * SystemImageGUID. By name: CAs that have it. */
static void
rails_look(const struct snapshot *s, uint32_t *of_ca, uint32_t *of_image,
	   GHashTable *names)
{
	g_autoptr(GHashTable) images = g_hash_table_new(g_int64_hash,
							g_int64_equal);

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *node = &s->nodes[i];
		uint32_t n = 0, port = node->first_port;

		if (snapshot_is_switch(node))
			continue;
		rails_count(names, snapshot_node_name(node));
		for (unsigned num = 1; num <= node->info.num_ports; num++) {
			if (s->ports[++port].peer == SNAPSHOT_NONE)
				continue;
			of_ca[port] = n++;
			of_image[port] = rails_count(images,
				node->info.system_guid ?
				&node->info.system_guid :
				&node->info.node_guid);
		}
	}
}

static void
rails_find(const struct graph *g, const struct metrics_sample *sample,
	   GPtrArray *scratch, struct rails *rails)
{
	const struct snapshot *s = g->subnet;
	uint32_t *of_ca = SCRATCH(scratch, uint32_t, s->n_ports), i, r;
	uint32_t *of_image = SCRATCH(scratch, uint32_t, s->n_ports);
	struct rail_place *at = SCRATCH(scratch, struct rail_place,
					sample->n_hosts);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) nodes = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) words = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, NULL);

	rails_look(s, of_ca, of_image, names);
	for (i = 0; i < sample->n_hosts; i++) {
		const struct graph_target *t = &g->targets[sample->hosts[i]];
		uint32_t port = s->ports[s->nodes[s->switches[t->sw]]
					 .first_port + t->port].peer;
		const struct snapshot_node *ca = snapshot_node_of(s, port);
		bool one = GPOINTER_TO_UINT(g_hash_table_lookup(
			names, snapshot_node_name(ca))) == 1;
		g_autofree char *name = g_strchomp(g_strdup(
			snapshot_node_name(ca)));
		const char *word = one ? strrchr(name, ' ') : NULL;

		at[i].host = i;
		at[i].node = rails_number(nodes, word ?
			g_strdup_printf("name %.*s", (int)(word - name), name) :
			g_strdup_printf("%" PRIx64, ca->info.system_guid ?
					ca->info.system_guid :
					ca->info.node_guid));
		at[i].rail = rails_number(words, word ?
			g_strdup_printf("%s %u", word, of_ca[port]) :
			g_strdup_printf("%u", of_image[port]));
	}
	qsort(at, sample->n_hosts, sizeof(*at), rails_compare);
	rails->n = g_hash_table_size(words);
	rails->n_nodes = g_hash_table_size(nodes);
	rails->hosts = SCRATCH(scratch, uint32_t, sample->n_hosts);
	rails->first = SCRATCH(scratch, uint32_t, rails->n + 1);
	for (i = sample->n_hosts; i-- > 0;) {
		rails->hosts[i] = at[i].host;
		rails->first[at[i].rail] = i;
	}
	rails->first[rails->n] = sample->n_hosts;
	for (r = 0; r < rails->n; r++)
		rails->longest = MAX(rails->longest, rails->first[r + 1] -
				     rails->first[r]);
}

bool
metrics_has_rails(const struct graph *g)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t *hosts = SCRATCH(scratch, uint32_t, g->n_targets);
	struct metrics_sample all = { .hosts = hosts };
	struct rails rails = { 0 };

	for (uint32_t i = 0; i < g->n_targets; i++)
		if (g->targets[i].is_host)
			hosts[all.n_hosts++] = i;
	rails_find(g, &all, scratch, &rails);
	return rails.n > 1;
}

void
metrics_rails(const struct graph *g, const struct lft *lft,
	      const struct metrics_sample *sample, struct metrics_rails *result)
{
	static const uint32_t next = 1;
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct rails rails = { 0 };
	struct drive d = {
		.g = g, .lft = lft, .sample = sample, .rails = &rails,
		.kind = &rail_shift,
	};

	rails_find(g, sample, scratch, &rails);
	*result = (struct metrics_rails){
		.n_nodes = rails.n_nodes, .n_rails = rails.n,
	};
	shifts_measure(&d, MAX(rails.longest, 1) - 1, &result->shifts);
	d.n = rails.longest > 1;
	d.distances = &next;
	congestion_measure(&d, &result->ring);
	d.kind = &trees;
	d.distances = NULL;
	congestion_measure(&d, &result->trees);
}
