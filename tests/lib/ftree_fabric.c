// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ways, lengths and dependencies are found here by walking the tables and by
 * plain breadth-first searches, so that nothing of the engine judges itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/ftree_fabric.h"

#include "topology/generate.h"

#define MAX_HOPS	63u

/* Takes over `s`; not routed yet. */
void
fabric_open(struct fabric *f, struct subnet *s)
{
	GError *error = NULL;

	memset(f, 0, sizeof(*f));
	f->s = s;
	f->lids = lids_assign(s, 0, NULL, 0, NULL, &error);
	assert_non_null(f->lids);
	f->g = graph_new(s, f->lids);
	f->edge_of = graph_map_ports(f->g);
	f->in.g = f->g;
	engine_output_init(&f->out, lft_new(f->g->n_switches, f->g->top));
}

void
fabric_route(struct fabric *f)
{
	GError *error = NULL;

	if (!ftree_route(&f->in, &f->out, &f->report, &error))
		fail_msg("%s", error->message);
	assert_null(error);
}

void
fabric_clear(struct fabric *f)
{
	lft_free(f->out.lft);
	engine_output_clear(&f->out);
	ftree_report_free(f->report);
	g_free(f->edge_of);
	graph_free(f->g);
	lid_map_free(f->lids);
	subnet_unref(f->s);
}

struct subnet *
generate(const char *spec, uint64_t seed, unsigned fail_per_mille)
{
	const struct generate_options options = {
		.seed = seed,
		.shuffle_guids = true,
		.fail_per_mille = fail_per_mille,
	};
	GError *error = NULL;
	struct subnet *s = generate_fabric(spec, &options, &error);

	if (!s)
		fail_msg("%s: %s", spec, error->message);
	return s;
}

void
fabric_make(struct fabric *f, const char *spec, uint64_t seed,
	    unsigned fail_per_mille)
{
	fabric_open(f, generate(spec, seed, fail_per_mille));
	fabric_route(f);
}

/* The edge by which `sw` sends on to `lid`, SUBNET_NONE if to no switch. */
uint32_t
edge_to(const struct fabric *f, uint32_t sw, uint16_t lid)
{
	return f->edge_of[sw * GRAPH_PORTS + lft_row(f->out.lft, sw)[lid]];
}

/* Hops of the way from `sw` to a target; FAR: it does not get there. */
uint32_t
walk(const struct fabric *f, uint32_t sw, const struct graph_target *to)
{
	uint32_t hops = 0, e;

	for (; sw != to->sw; hops++) {
		e = edge_to(f, sw, to->lid);
		if (e == SUBNET_NONE) {
			assert_int_equal(lft_row(f->out.lft, sw)[to->lid],
					 LFT_NO_PATH);
			return FAR;
		}
		assert_true(hops < MAX_HOPS);	/* or it goes round */
		sw = f->g->edges[e].peer;
	}
	assert_int_equal(lft_row(f->out.lft, sw)[to->lid], to->port);
	return hops;
}

bool
is_data(const struct fabric *f, uint32_t sw, const struct graph_target *to)
{
	return f->g->n_hosts[sw] > 0 || to->port > 0;
}

/* Least hops from each switch to `to`, up and then down between adjacent
 * ranks: [sw] if only down, [n + sw] if up first. */
void
measure_tree(const struct fabric *f, uint32_t to, uint32_t *hops)
{
	const struct graph *g = f->g;
	const uint8_t *rank = f->report->rank;
	uint32_t n = g->n_switches, head = 0, tail = 0, at, sw, e, peer, up;
	g_autofree uint32_t *queue = g_new(uint32_t, 2 * n);

	for (at = 0; at < 2 * n; at++)
		hops[at] = FAR;
	hops[to] = hops[n + to] = 0;
	queue[tail++] = to;
	queue[tail++] = n + to;
	for (; head < tail; head++) {
		at = queue[head];
		sw = at % n;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			for (up = 0; up < 2; up++) {
				/* From peer: down to `sw` that goes down;
				 * up to `sw`, whatever it does. */
				if (up ? rank[peer] + 1 != rank[sw] :
				    rank[peer] != rank[sw] + 1 || at >= n)
					continue;
				if (hops[up * n + peer] != FAR)
					continue;
				hops[up * n + peer] = hops[at] + 1;
				queue[tail++] = up * n + peer;
			}
		}
	}
}

/* The lowest switch that is cabled to it in any way. */
static uint32_t *
find_islands(const struct graph *g)
{
	uint32_t *island = g_new(uint32_t, g->n_switches), sw, e, peer;
	bool again = true;

	for (sw = 0; sw < g->n_switches; sw++)
		island[sw] = sw;
	while (again)
		for (again = false, sw = 0; sw < g->n_switches; sw++)
			for (e = g->first_edge[sw]; e < g->first_edge[sw + 1];
			     e++) {
				peer = g->edges[e].peer;
				if (island[peer] >= island[sw])
					continue;
				island[sw] = island[peer];
				again = true;
			}
	return island;
}

/* Everything that has a way in the tree has the shortest; gives back how many
 * pairs of data have no way at all though there are cables. */
uint64_t
check_ways(const struct fabric *f)
{
	const struct graph *g = f->g;
	uint32_t n = g->n_switches, sw, i, hops, least;
	g_autofree uint32_t *tree = g_new(uint32_t, 2 * n);
	g_autofree uint32_t *island = find_islands(g);
	uint64_t n_lost = 0;

	for (i = 0; i < g->n_targets; i++) {
		if (i == 0 || g->targets[i].sw != g->targets[i - 1].sw)
			measure_tree(f, g->targets[i].sw, tree);
		for (sw = 0; sw < n; sw++) {
			if (!is_data(f, sw, &g->targets[i]) ||
			    island[sw] != island[g->targets[i].sw])
				continue;
			hops = walk(f, sw, &g->targets[i]);
			least = MIN(tree[sw], tree[n + sw]);
			if (least != FAR && f->report->n_rescued == 0)
				assert_int_equal(hops, least);
			if (least != FAR)
				assert_int_not_equal(hops, FAR);
			n_lost += hops == FAR;
		}
	}
	return n_lost;
}

/* Who waits for whom: from a channel to the out ports of its far end. */
static uint8_t *
find_turns(const struct fabric *f)
{
	const struct graph *g = f->g;
	uint8_t *turns = g_new0(uint8_t, (size_t)g->n_edges * GRAPH_PORTS);
	g_autofree uint32_t *seen = g_new0(uint32_t, g->n_switches);
	uint32_t i, sw, at, in, e;

	for (i = 0; i < g->n_targets; i++)
		for (sw = 0; sw < g->n_switches; sw++) {
			if (!is_data(f, sw, &g->targets[i]))
				continue;
			for (at = sw, in = SUBNET_NONE; ; in = e) {
				e = edge_to(f, at, g->targets[i].lid);
				if (e != SUBNET_NONE && in != SUBNET_NONE)
					turns[(size_t)in * GRAPH_PORTS +
					      g->edges[e].port] = 1;
				if (e == SUBNET_NONE || seen[at] == i + 1)
					break;
				seen[at] = i + 1;
				at = g->edges[e].peer;
			}
		}
	return turns;
}

/* Kahn: true if all channels can be put in order. */
bool
is_deadlock_free(const struct fabric *f)
{
	const struct graph *g = f->g;
	g_autofree uint8_t *turns = find_turns(f);
	g_autofree uint32_t *n_before = g_new0(uint32_t, g->n_edges);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_edges);
	uint32_t head = 0, tail = 0, e, p, next;

	for (e = 0; e < g->n_edges; e++)
		for (p = 1; p < GRAPH_PORTS; p++)
			if (turns[(size_t)e * GRAPH_PORTS + p])
				n_before[f->edge_of[g->edges[e].peer *
						    GRAPH_PORTS + p]]++;
	for (e = 0; e < g->n_edges; e++)
		if (n_before[e] == 0)
			queue[tail++] = e;
	for (; head < tail; head++)
		for (e = queue[head], p = 1; p < GRAPH_PORTS; p++) {
			if (!turns[(size_t)e * GRAPH_PORTS + p])
				continue;
			next = f->edge_of[g->edges[e].peer * GRAPH_PORTS + p];
			if (--n_before[next] == 0)
				queue[tail++] = next;
		}
	return tail == g->n_edges;
}

/* Hosts by the place of their leaf and by port: who shifts. */
static uint32_t
list_hosts(const struct fabric *f, const uint8_t *leave_out,
	   const struct graph_target **hosts)
{
	const struct graph *g = f->g;
	g_autofree uint32_t *at = g_new0(uint32_t, g->n_switches);
	uint32_t n = 0, place, sw, i, j;

	for (sw = 0; sw < g->n_switches; sw++)
		at[f->report->order[sw]] = sw;
	for (place = 0; place < g->n_switches; place++) {
		sw = at[place];
		for (j = 1; j < GRAPH_PORTS; j++)
			for (i = g->first_target[sw];
			     i < g->first_target[sw + 1]; i++)
				if (g->targets[i].port == j &&
				    (!leave_out || !leave_out[i]))
					hosts[n++] = &g->targets[i];
	}
	return n;
}

/* The most flows on one channel, of all shifts by a multiple of `step`. */
uint32_t
measure_shifts(const struct fabric *f, const uint8_t *leave_out,
	       uint32_t step)
{
	const struct graph *g = f->g;
	g_autofree const struct graph_target **hosts =
		g_new(const struct graph_target *, g->n_targets);
	g_autofree uint32_t *load = g_new(uint32_t, g->n_edges);
	uint32_t n = list_hosts(f, leave_out, hosts), worst = 0, k, i, sw, e;

	for (k = step; k < n; k += step) {
		memset(load, 0, g->n_edges * sizeof(*load));
		for (i = 0; i < n; i++)
			for (sw = hosts[i]->sw; ; sw = g->edges[e].peer) {
				e = edge_to(f, sw, hosts[(i + k) % n]->lid);
				if (e == SUBNET_NONE)
					break;
				load[e]++;
				worst = MAX(worst, load[e]);
			}
	}
	return worst;
}

/* A cable's ends part, both of them. */
void
cut(struct subnet *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	s->ports[port].peer = SUBNET_NONE;
	s->ports[peer].peer = SUBNET_NONE;
}

void
plug(struct subnet *s, uint32_t a, uint32_t b)
{
	s->ports[a].peer = b;
	s->ports[b].peer = a;
}

/* The nth cabled port of a switch that leads to a switch, or to none. */
uint32_t
find_port(const struct subnet *s, uint32_t sw, bool to_switch, uint32_t nth)
{
	const struct subnet_node *node = &s->nodes[s->switches[sw]];

	for (unsigned p = 1; p <= node->info.num_ports; p++) {
		uint32_t peer = s->ports[node->first_port + p].peer;

		if (peer == SUBNET_NONE || to_switch !=
		    subnet_is_switch(subnet_node_of(s, peer)))
			continue;
		if (nth-- == 0)
			return node->first_port + p;
	}
	return SUBNET_NONE;
}

/* The nth switch with hosts, or without. */
uint32_t
find_switch(const struct subnet *s, bool with_hosts, uint32_t nth)
{
	uint32_t sw;

	for (sw = 0; sw < s->n_switches; sw++)
		if (with_hosts == (find_port(s, sw, false, 0) != SUBNET_NONE)
		    && nth-- == 0)
			break;
	assert_true(sw < s->n_switches);
	return sw;
}

struct subnet *
generate_to_edit(const char *spec, uint64_t seed, unsigned fail_per_mille)
{
	struct subnet *s = generate(spec, seed, fail_per_mille);
	struct subnet *copy = subnet_copy(s);

	subnet_unref(s);
	return copy;
}

void
drop_switch(struct subnet *s, uint32_t sw)
{
	uint32_t port;

	while ((port = find_port(s, sw, true, 0)) != SUBNET_NONE)
		cut(s, port);
}

void
assert_sound(const struct fabric *f, const char *spec, uint64_t seed,
	     unsigned damage)
{
	uint64_t n_lost = check_ways(f);

	if (n_lost > 0 || !is_deadlock_free(f) || f->report->n_lost > 0)
		fail_msg("%s seed %lu damage %u: %lu pairs without a way, %s",
			 spec, (unsigned long)seed, damage,
			 (unsigned long)n_lost, is_deadlock_free(f) ?
			 "no deadlock" : "a deadlock");
	assert_int_equal(f->report->n_mute, 0);
}

void
assert_same_tables(const struct lft *a, const struct lft *b)
{
	assert_int_equal(a->n_switches, b->n_switches);
	assert_int_equal(a->stride, b->stride);
	assert_memory_equal(a->ports, b->ports,
			    (size_t)a->n_switches * a->stride);
}
