// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lengths of the ways that tables take.
 *
 * Purpose. Say how far it is from host to host, and how many pairs go farther
 * than they would have to: the price of routes that cannot deadlock.
 *
 * Flow. By destination LID. The tables make a function from switches to
 * switches; each switch is followed until one whose length is known, and the
 * way back fills in the lengths of all that were passed. What was met on this
 * very way goes round and has no length. A length counts once for every host
 * at the switch, so the cost is switches times hosts and not pairs.
 *   The shortest ways are searched breadth first, once for each switch that
 * has hosts.
 *
 * Threads. Destinations are shared out; each range counts for itself and adds
 * its counts, which are integers, when it is done.
 */
#include "routing/quality.h"

#include <string.h>

#include "routing/work.h"

#define FAR		UINT32_MAX	/* has no way */
#define NOT_YET		(UINT32_MAX - 1)
#define ON_TRAIL	(UINT32_MAX - 2)

struct survey {
	const struct graph *g;
	const struct lft *lft;
	const uint32_t *edge_of;	/* see graph_map_ports() */
	const uint32_t *hosts;		/* targets by LID */
	uint32_t n_hosts;
	uint32_t *near_row;		/* switch -> row of `shortest` */
	uint16_t *shortest;		/* [row][switch], UINT16_MAX: none */
	GMutex lock;			/* of what follows */
	uint64_t *pairs;		/* n_switches entries */
	uint64_t longer, lost;
};

/* What one range needs. */
struct surveyor {
	uint32_t *length;	/* by switch */
	uint32_t *trail;
	uint64_t *pairs;
	uint64_t longer, lost;
};

static void
survey_search(const struct graph *g, uint32_t to, uint16_t *dist,
	      uint32_t *queue)
{
	uint32_t head, tail = 1, e, peer;

	memset(dist, 0xff, g->n_switches * sizeof(*dist));
	dist[to] = 0;
	queue[0] = to;
	for (head = 0; head < tail; head++)
		for (e = g->first_edge[queue[head]];
		     e < g->first_edge[queue[head] + 1]; e++) {
			peer = g->edges[e].peer;
			if (dist[peer] != UINT16_MAX)
				continue;
			dist[peer] = (uint16_t)(dist[queue[head]] + 1);
			queue[tail++] = peer;
		}
}

static void
survey_shortest(void *data, uint32_t from, uint32_t to)
{
	struct survey *s = data;
	g_autofree uint32_t *queue = g_new(uint32_t, s->g->n_switches);
	uint32_t sw;

	for (sw = from; sw < to; sw++)
		if (s->near_row[sw] != SNAPSHOT_NONE)
			survey_search(s->g, sw, s->shortest +
				      (size_t)s->near_row[sw] *
				      s->g->n_switches, queue);
}

/* One hop: the length if the way ends here, else NOT_YET and the next. */
static uint32_t
survey_step(const struct survey *s, const struct graph_target *target,
	    uint32_t sw, uint32_t *next)
{
	uint8_t port = lft_row(s->lft, sw)[target->lid];
	uint32_t e = s->edge_of[(size_t)sw * GRAPH_PORTS + port];

	if (e != SNAPSHOT_NONE) {
		*next = s->g->edges[e].peer;
		return NOT_YET;
	}
	return sw == target->sw && port == target->port ? 0 : FAR;
}

static void
survey_follow(const struct survey *s, struct surveyor *v,
	      const struct graph_target *target, uint32_t start)
{
	uint32_t depth = 0, sw = start, next = start, length;

	while (v->length[sw] == NOT_YET) {
		length = survey_step(s, target, sw, &next);
		if (length != NOT_YET) {
			v->length[sw] = length;
			break;
		}
		v->length[sw] = ON_TRAIL;
		v->trail[depth++] = sw;
		sw = next;
	}
	length = v->length[sw] == ON_TRAIL ? FAR : v->length[sw];
	while (depth > 0) {
		if (length != FAR)
			length++;
		v->length[v->trail[--depth]] = length;
	}
}

static void
survey_count(const struct survey *s, struct surveyor *v,
	     const struct graph_target *target)
{
	const uint16_t *shortest = s->shortest +
		(size_t)s->near_row[target->sw] * s->g->n_switches;
	uint32_t sw, n;

	for (sw = 0; sw < s->g->n_switches; sw++)
		v->length[sw] = NOT_YET;
	for (sw = 0; sw < s->g->n_switches; sw++) {
		n = s->g->n_hosts[sw];
		if (n == 0)
			continue;
		if (target->lid <= s->lft->top)
			survey_follow(s, v, target, sw);
		else
			v->length[sw] = FAR;
		n -= sw == target->sw;	/* nobody sends to itself */
		if (v->length[sw] == FAR) {
			v->lost += n;
			continue;
		}
		v->pairs[v->length[sw]] += n;
		if (v->length[sw] > shortest[sw])
			v->longer += n;
	}
}

static void
survey_range(void *data, uint32_t from, uint32_t to)
{
	struct survey *s = data;
	uint32_t n = s->g->n_switches, i;
	struct surveyor v = {
		.length = g_new(uint32_t, n),
		.trail = g_new(uint32_t, n),
		.pairs = g_new0(uint64_t, n),
	};

	for (i = from; i < to; i++)
		survey_count(s, &v, &s->g->targets[s->hosts[i]]);
	g_mutex_lock(&s->lock);
	for (i = 0; i < n; i++)
		s->pairs[i] += v.pairs[i];
	s->longer += v.longer;
	s->lost += v.lost;
	g_mutex_unlock(&s->lock);
	g_free(v.length);
	g_free(v.trail);
	g_free(v.pairs);
}

/* By LID and not by switch: neighbours share cache lines. */
static uint32_t *
survey_list_hosts(const struct graph *g, uint32_t *n)
{
	g_autofree uint32_t *target_of = graph_map_lids(g);
	uint32_t *hosts = g_new(uint32_t, g->n_targets + 1u);
	const struct graph_target *target;
	uint32_t lid;

	*n = 0;
	for (lid = LID_UNICAST_MIN; lid <= g->top; lid++) {
		if (target_of[lid] == SNAPSHOT_NONE)
			continue;
		target = &g->targets[target_of[lid]];
		if (target->port != 0 && target->lid == lid)
			hosts[(*n)++] = target_of[lid];
	}
	return hosts;
}

static void
survey_number_rows(struct survey *s, unsigned n_threads)
{
	const struct graph *g = s->g;
	uint32_t sw, n_rows = 0;

	s->near_row = g_new(uint32_t, g->n_switches);
	for (sw = 0; sw < g->n_switches; sw++)
		s->near_row[sw] = g->n_hosts[sw] ? n_rows++ : SNAPSHOT_NONE;
	s->shortest = g_new(uint16_t, (size_t)n_rows * g->n_switches);
	work_share(n_threads, g->n_switches, survey_shortest, s);
}

static void
survey_conclude(const struct survey *s, struct quality_paths *paths)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < s->g->n_switches; i++) {
		if (s->pairs[i] == 0)
			continue;
		paths->max = i;
		paths->arrived += s->pairs[i];
		sum += s->pairs[i] * i;
	}
	if (paths->arrived > 0)
		paths->mean = (double)sum / (double)paths->arrived;
	paths->pairs = g_new0(uint64_t, paths->max + 1u);
	for (i = 0; i <= paths->max; i++)
		paths->pairs[i] = s->pairs[i];
	paths->longer = s->longer;
	paths->lost = s->lost;
}

void
quality_paths(const struct graph *g, const struct lft *lft,
	      unsigned n_threads, struct quality_paths *paths)
{
	g_autofree uint32_t *edge_of = graph_map_ports(g);
	g_autofree uint32_t *hosts = NULL;
	struct survey s = { .g = g, .lft = lft, .edge_of = edge_of };

	g_assert(lft->n_switches == g->n_switches);

	memset(paths, 0, sizeof(*paths));
	if (g->n_switches == 0) {
		paths->pairs = g_new0(uint64_t, 1);
		return;
	}
	s.hosts = hosts = survey_list_hosts(g, &s.n_hosts);
	s.pairs = g_new0(uint64_t, g->n_switches);
	g_mutex_init(&s.lock);
	survey_number_rows(&s, n_threads);
	work_share(n_threads, s.n_hosts, survey_range, &s);
	survey_conclude(&s, paths);
	g_mutex_clear(&s.lock);
	g_free(s.near_row);
	g_free(s.shortest);
	g_free(s.pairs);
}

void
quality_paths_clear(struct quality_paths *paths)
{
	g_free(paths->pairs);
	memset(paths, 0, sizeof(*paths));
}
