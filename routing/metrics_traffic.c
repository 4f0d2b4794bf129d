// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traffic in patterns: permutations, shifts, bisections.
 *
 * Purpose. All-to-all traffic shows how the load is spread in the long run.
 * Programs communicate in steps, and a step is as slow as its busiest channel:
 * this is what a pattern measures.
 *
 * Structs. A pattern is dest[], the host to which each host sends. struct drive
 * is shared by all patterns; struct lane is the memory of one thread: the paths
 * of all flows as edges, one after the other, and the load of each edge.
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
 * (1964), the choice of shifts by selection sampling.
 */
#include "routing/metrics.h"

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
	double (*judge)(const struct drive *d, const struct lane *lane);
};

struct drive {
	const struct graph *g;
	const struct lft *lft;
	const struct metrics_sample *sample;
	const struct kind *kind;
	const uint32_t *distances;	/* pattern -> shift; NULL: no shifts */
	uint32_t n;		/* patterns */
	double *figures;	/* by pattern */
	uint32_t *lost;		/* by pattern */
};

struct lane {
	uint32_t *dest;		/* [host]: the host it sends to, or NOBODY;
				   numbered as in the sample */
	uint32_t *deck;		/* a permutation of the hosts */
	uint32_t *ways;		/* edges of all paths, one after the other */
	uint32_t *end;		/* [host]: the end of its path in `ways` */
	uint8_t *arrives;	/* by host */
	uint32_t *load;		/* by edge */
	uint32_t most;		/* the highest load; at least 1 if any flow
				   arrives */
	uint32_t n_flows, n_lost;
};

/* Writes the edges of the path; returns the position after the last one, or
 * NULL if it does not arrive. */
static uint32_t *
drive_follow(const struct drive *d, uint32_t from, uint32_t to, uint32_t *way)
{
	const uint32_t *hosts = d->sample->hosts;
	const struct graph_target *target = &d->g->targets[hosts[to]];
	const uint32_t *limit = way + d->sample->max_hops;
	uint32_t sw = d->g->targets[hosts[from]].sw, edge;
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
drive_range(void *data, uint32_t from, uint32_t to)
{
	struct drive *d = data;
	uint32_t n = d->sample->n_hosts, k;
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t *way, *next, i;
	struct lane lane = {
		.dest = SCRATCH(scratch, uint32_t, n),
		.deck = SCRATCH(scratch, uint32_t, n),
		.ways = g_new(uint32_t, (size_t)n *
			      (d->sample->max_hops + 1u)),
		.end = SCRATCH(scratch, uint32_t, n),
		.arrives = SCRATCH(scratch, uint8_t, n),
		.load = SCRATCH(scratch, uint32_t, d->g->n_edges),
	};

	for (k = from; k < to; k++) {
		d->kind->fill(d, k, &lane);
		memset(lane.load, 0, d->g->n_edges * sizeof(*lane.load));
		lane.most = lane.n_flows = lane.n_lost = 0;
		for (way = lane.ways, i = 0; i < n; i++) {
			lane.arrives[i] = 0;
			lane.end[i] = (uint32_t)(way - lane.ways);
			if (lane.dest[i] == NOBODY)
				continue;
			lane.n_flows++;
			next = drive_follow(d, i, lane.dest[i], way);
			if (!next) {
				lane.n_lost++;
				continue;
			}
			lane.arrives[i] = 1;
			lane.most = MAX(lane.most, 1);
			for (; way < next; way++) {
				lane.load[*way]++;
				lane.most = MAX(lane.most, lane.load[*way]);
			}
			lane.end[i] = (uint32_t)(way - lane.ways);
		}
		d->figures[k] = d->kind->judge(d, &lane);
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

void
metrics_shifts(const struct graph *g, const struct lft *lft,
	       const struct metrics_sample *sample,
	       struct metrics_congestion *result)
{
	uint32_t n_all = sample->n_hosts > 0 ? sample->n_hosts - 1 : 0;
	uint32_t n = MIN(n_all, sample->n), left, i = 0;
	g_autofree uint32_t *distances = g_new(uint32_t, n);
	uint64_t rng = prng_stream(sample->seed, 0);
	struct drive d = {
		.g = g, .lft = lft, .sample = sample, .kind = &shift,
		.distances = distances, .n = n,
	};

	/* n distances from 1 to n_all, ascending; all sets have the same
	 * probability. */
	for (left = n_all; left > 0; left--)
		if (prng_below(&rng, left) < n - i)
			distances[i++] = n_all + 1 - left;
	congestion_measure(&d, result);
	result->n_all = n_all;
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
