// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a snapshot to the graph that routing uses.
 *
 * Purpose. Engines walk the cables between switches millions of times, without
 * ports that are down, hosts, or structs of 200 bytes. The graph has the same
 * facts as compressed sparse rows: the edges of switch s are
 * edges[first_edge[s] .. first_edge[s + 1] - 1], targets likewise.
 *
 * Flow. Cables go to a list by (switch, port), and from there to their far ends:
 * the edges of a switch are then in the order of their peers and need no sorting,
 * except for parallel links. Targets are listed by LID and are sorted likewise.
 * Then every edge gets the index of the other end of its cable. The numbering is
 * that of the snapshot (by NodeGUID), so nothing depends on the order of
 * discovery.
 *
 * Included. A cable, if both ends say that it is up, and it is not to be
 * avoided. An end port, if it has a LID; without one it can be no destination,
 * and sends nothing.
 */
#include "routing/graph.h"

#include <string.h>

#include "routing/sets.h"

/* A cable, seen from the switch `sw` and its port `from`. */
struct cable {
	uint32_t sw, to_sw;
	uint8_t from, to_port;	/* numbers */
	uint16_t capacity;
};

/* snapshot_link_up() for one end of it; whole: see graph_new_whole(). */
static bool
graph_end_is_up(const struct snapshot *s, uint32_t port, bool whole)
{
	const struct snapshot_node *node = snapshot_node_of(s, port);
	const struct snapshot_port *p = &s->ports[port];
	bool is_switch = snapshot_is_switch(node);
	bool may_be = whole && is_switch &&
		snapshot_is_switch(snapshot_node_of(s, p->peer));

	if (!p->known)
		return may_be;
	return p->info.phys_state == PORT_PHYS_LINK_UP &&
		(whole || !p->avoided) &&
		(!is_switch || node->sw_known || may_be);
}

/* The other end of a working cable, or SNAPSHOT_NONE. */
static uint32_t
graph_far_end(const struct snapshot *s, uint32_t port, bool whole)
{
	uint32_t peer = s->ports[port].peer;

	return peer != SNAPSHOT_NONE && s->ports[peer].peer == port &&
		graph_end_is_up(s, port, whole) &&
		graph_end_is_up(s, peer, whole) ? peer : SNAPSHOT_NONE;
}

/* In 2.5 Gb/s; an unknown width or speed counts as 4x EDR. */
static uint16_t
graph_find_capacity(const struct port_info *info)
{
	static const uint8_t widths[] = {
		[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2,
	};
	uint16_t speed = (uint16_t)((port_speed(info)->mbps + 1250) / 2500);
	uint16_t width = 0;

	if (info->width_active < G_N_ELEMENTS(widths))
		width = widths[info->width_active];
	return (uint16_t)((width ? width : 4) * (speed ? speed : 10));
}

/* May packets of a host come in by this port of a switch, although no host was
 * found there, or one that did not answer? A link that is Active carries them, and
 * one whose port did not answer may be so. */
static bool
may_have_sender(const struct snapshot *s, const struct snapshot_port *p)
{
	return (p->peer == SNAPSHOT_NONE ||
		!snapshot_is_switch(snapshot_node_of(s, p->peer))) &&
		(!p->known || p->info.state >= PORT_STATE_ACTIVE);
}

/* Lists the cables between two switches, from both ends, by switch and port;
 * counts them by the switch to which they lead, and counts the hosts. */
static struct cable *
graph_list_cables(struct graph *g, const struct lid_map *lids, bool whole)
{
	const struct snapshot *s = g->subnet;
	struct cable *cables = g_new(struct cable, s->n_ports);
	const struct snapshot_node *node;
	uint32_t sw, i, far, far_sw;
	bool is_switch;

	for (sw = 0; sw < g->n_switches; sw++) {
		node = &s->nodes[s->switches[sw]];
		for (i = 1; i <= node->info.num_ports; i++) {
			far = graph_far_end(s, node->first_port + i, whole);
			if (far == SNAPSHOT_NONE) {
				g->n_senders[sw] += whole && may_have_sender(s,
					&s->ports[node->first_port + i]);
				continue;
			}
			is_switch = snapshot_is_switch(snapshot_node_of(s, far));
			far_sw = snapshot_node_of(s, far)->sw_index;
			if (!is_switch && lids->base[far] != LID_NONE) {
				g->n_senders[sw]++;
				g->n_hosts[sw] += !snapshot_is_inside(s, far,
							s->switches[sw]);
			}
			if (!is_switch || far_sw == sw)
				continue;
			g->first_edge[far_sw + 1]++;
			cables[g->n_edges++] = (struct cable){
				sw, far_sw, (uint8_t)i, s->ports[far].num,
				graph_find_capacity(&s->ports
					[node->first_port + i].info),
			};
		}
	}
	return cables;
}

/* Appends each cable to the edges of its far end, of parallel links the lower
 * port first; then gives each edge that of its other end. */
static void
graph_store_edges(struct graph *g, const struct cable *cables)
{
	g_autofree uint32_t *end = g_new(uint32_t, g->n_switches);
	size_t n = (size_t)g->n_switches * GRAPH_PORTS;
	struct graph_edge *edges = g_new(struct graph_edge, g->n_edges);
	const struct cable *c;
	uint32_t i, e, sw;

	g->edges = edges;
	for (sw = 0; sw < g->n_switches; sw++) {
		end[sw] = g->first_edge[sw];
		g->first_edge[sw + 1] += g->first_edge[sw];
	}
	for (i = 0; i < g->n_edges; i++) {
		c = &cables[i];
		for (e = end[c->to_sw]++; e > g->first_edge[c->to_sw] &&
		     edges[e - 1].peer == c->sw &&
		     edges[e - 1].port > c->to_port; e--)
			edges[e] = edges[e - 1];
		edges[e] = (struct graph_edge){
			.peer = c->sw, .back = c->from, .port = c->to_port,
			.capacity = c->capacity,
		};
	}
	g->nth_edge = g_malloc(n + 1);
	memset(g->nth_edge, GRAPH_NO_EDGE, n);
	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e)
			g->nth_edge[(size_t)sw * GRAPH_PORTS + edges[e].port] =
				(uint8_t)(e - g->first_edge[sw]);
	/* `back` is the port number at the other end so far. */
	for (e = 0; e < g->n_edges; e++)
		edges[e].back = graph_edge_at(g, edges[e].peer,
					      (uint8_t)edges[e].back);
}

static void
graph_store_targets(struct graph *g, const struct lid_map *lids, bool whole)
{
	const struct snapshot *s = g->subnet;
	g_autofree uint32_t *at = g_new(uint32_t, g->top + 1u);
	g_autofree uint32_t *next = NULL;
	uint32_t lid, sw, port;

	/* The port of a switch to which the owner is cabled, or its port 0. */
	for (lid = 0; lid <= g->top; lid++) {
		at[lid] = SNAPSHOT_NONE;
		port = lids->owner[lid];
		if (port == SNAPSHOT_NONE || lids->base[port] != lid)
			continue;
		if (!snapshot_is_switch(snapshot_node_of(s, port)))
			port = graph_far_end(s, port, whole);
		if (port == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, port)))
			continue;
		at[lid] = port;
		g->first_target[snapshot_node_of(s, port)->sw_index + 1]++;
		g->n_targets++;
	}
	for (sw = 0; sw < g->n_switches; sw++)
		g->first_target[sw + 1] += g->first_target[sw];
	next = g_memdup2(g->first_target,
			 g->n_switches * sizeof(*g->first_target));
	g->targets = g_new(struct graph_target, g->n_targets);
	for (lid = 0; lid <= g->top; lid++) {
		if (at[lid] == SNAPSHOT_NONE)
			continue;
		sw = snapshot_node_of(s, at[lid])->sw_index;
		g->targets[next[sw]++] = (struct graph_target){
			.lid = (uint16_t)lid,
			.n_lids = (uint16_t)
				(1u << lids->lmc[lids->owner[lid]]),
			.sw = sw,
			.port = s->ports[at[lid]].num,
			.is_host = lids->owner[lid] != at[lid] &&
				!snapshot_is_inside(s, lids->owner[lid],
						    s->switches[sw]),
		};
	}
}

static void
graph_map_lids(struct graph *g)
{
	uint32_t i, k;

	g->target_of = g_new(uint32_t, g->top + 1u);
	memset(g->target_of, 0xff, (g->top + 1u) * sizeof(*g->target_of));
	for (i = 0; i < g->n_targets; i++)
		for (k = 0; k < g->targets[i].n_lids; k++)
			g->target_of[g->targets[i].lid + k] = i;
}

/* What follows from the edges. */
static void
graph_finish(struct graph *g)
{
	uint32_t sw, e;

	g->island = g_new(uint32_t, g->n_switches);
	for (sw = 0; sw < g->n_switches; sw++)
		g->island[sw] = sw;
	g->widest = g->n_words = 1;
	for (e = 0; e < g->n_edges; e++) {
		disjoint_join(g->island, graph_owner(g, e), g->edges[e].peer);
		g->widest = MAX(g->widest, g->edges[e].capacity);
		g->n_words = MAX(g->n_words, g->edges[e].port / 64 + 1);
	}
	for (sw = 0; sw < g->n_switches; sw++)
		g->island[sw] = disjoint_find(g->island, sw);
}

static struct graph *
graph_make(const struct snapshot *s, const struct lid_map *lids, bool whole)
{
	struct graph *g = g_new0(struct graph, 1);
	g_autofree struct cable *cables = NULL;
	uint32_t sw;

	g_assert(lids->n_ports == s->n_ports);

	g->subnet = snapshot_ref((struct snapshot *)s);
	g->n_switches = s->n_switches;
	g->top = lids->top;
	g->first_edge = g_new0(uint32_t, s->n_switches + 1);
	g->first_target = g_new0(uint32_t, s->n_switches + 1);
	g->n_hosts = g_new0(uint32_t, s->n_switches);
	g->n_senders = g_new0(uint32_t, s->n_switches);
	cables = graph_list_cables(g, lids, whole);
	graph_store_edges(g, cables);
	graph_store_targets(g, lids, whole);
	graph_map_lids(g);
	graph_finish(g);
	for (sw = 0; sw < g->n_switches; sw++)
		g->n_all_hosts += g->n_hosts[sw];
	return g;
}

struct graph *
graph_new(const struct snapshot *s, const struct lid_map *lids)
{
	return graph_make(s, lids, false);
}

struct graph *
graph_new_whole(const struct snapshot *s, const struct lid_map *lids)
{
	return graph_make(s, lids, true);
}

struct graph *
graph_without(const struct graph *g, const uint8_t *is_out)
{
	struct graph *less = g_memdup2(g, sizeof(*g));
	g_autofree struct cable *cables = g_new(struct cable, g->n_edges);
	size_t n = g->n_switches * sizeof(uint32_t);
	uint32_t sw, e;

	less->n_edges = 0;
	less->first_edge = g_new0(uint32_t, g->n_switches + 1);
	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e) {
			const struct graph_edge *to = &g->edges[e];

			if (is_out[e])
				continue;
			less->first_edge[to->peer + 1]++;
			cables[less->n_edges++] = (struct cable){
				sw, to->peer, to->port,
				g->edges[to->back].port, to->capacity,
			};
		}
	graph_store_edges(less, cables);
	less->first_target = g_memdup2(g->first_target, n + sizeof(uint32_t));
	less->targets = g_memdup2(g->targets,
				  g->n_targets * sizeof(*g->targets));
	less->target_of = g_memdup2(g->target_of,
				    (g->top + 1u) * sizeof(*g->target_of));
	less->n_hosts = g_memdup2(g->n_hosts, n);
	less->n_senders = g_memdup2(g->n_senders, n);
	less->subnet = snapshot_ref((struct snapshot *)g->subnet);
	graph_finish(less);
	less->widest = g->widest;	/* loads of both compare */
	return less;
}

bool
graph_is_barred(const struct graph *g, uint32_t sw, uint8_t port)
{
	const struct snapshot *s = g->subnet;
	uint32_t p = snapshot_port_of(s, s->switches[sw], port);
	uint32_t peer = p == SNAPSHOT_NONE ? SNAPSHOT_NONE : s->ports[p].peer;

	return peer != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, peer)) &&
		graph_edge_at(g, sw, port) == SNAPSHOT_NONE;
}

void
graph_forget_subnet(struct graph *g)
{
	snapshot_unref((struct snapshot *)g->subnet);
	g->subnet = NULL;
}

void
graph_free(struct graph *g)
{
	if (!g)
		return;
	g_free(g->first_target);
	g_free(g->targets);
	g_free(g->target_of);
	g_free(g->first_edge);
	g_free(g->edges);
	g_free(g->n_hosts);
	g_free(g->n_senders);
	g_free(g->nth_edge);
	g_free(g->island);
	graph_forget_subnet(g);
	g_free(g);
}

char *
graph_switch_name(const struct graph *g, uint32_t sw)
{
	const struct snapshot *s = g->subnet;
	const struct snapshot_node *node = &s->nodes[s->switches[sw]];

	return g_strdup_printf("'%s' (0x%016" G_GINT64_MODIFIER "x)",
			       snapshot_node_name(node), node->info.node_guid);
}

uint32_t
graph_search(const struct graph *g, uint32_t *hops, uint32_t *queue, uint32_t n)
{
	uint32_t head, sw, peer, e;

	for (head = 0; head < n; head++) {
		sw = queue[head];
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			if (hops[peer] != GRAPH_FAR)
				continue;
			hops[peer] = hops[sw] + 1;
			queue[n++] = peer;
		}
	}
	return n;
}

uint32_t
graph_hops(const struct graph *g, uint32_t from, uint32_t *hops,
	   uint32_t *queue)
{
	memset(hops, 0xff, g->n_switches * sizeof(*hops));	/* GRAPH_FAR */
	hops[from] = 0;
	queue[0] = from;
	return graph_search(g, hops, queue, 1);
}

void
graph_grow(const struct graph *g, uint32_t *queue, uint32_t n, bool latest)
{
	g_autofree uint64_t *ties = g_new0(uint64_t, g->n_switches);
	uint32_t i, k, best, sw, e;
	uint64_t *tie;

	for (i = 0; i < n; i++) {
		for (best = i, k = i + 1; i > 0 && k < n; k++)
			if (ties[queue[k]] > ties[queue[best]])
				best = k;
		sw = queue[best];
		queue[best] = queue[i];
		queue[i] = sw;
		for_each_edge(g, sw, e) {
			tie = &ties[g->edges[e].peer];
			*tie = ((*tie >> 32) + g->edges[e].capacity) << 32 |
				(latest ? i : 0);
		}
	}
}

uint32_t
graph_sort(const struct graph *g, const uint32_t *next, uint32_t *waits,
	   uint32_t *queue)
{
	uint32_t n = 0, head, sw;

	memset(waits, 0, g->n_switches * sizeof(*waits));
	for (sw = 0; sw < g->n_switches; sw++)
		if (next[sw] != SNAPSHOT_NONE)
			waits[g->edges[next[sw]].peer]++;
	for (sw = 0; sw < g->n_switches; sw++)
		if (waits[sw] == 0)
			queue[n++] = sw;
	for (head = 0; head < n; head++) {
		sw = queue[head];
		if (next[sw] != SNAPSHOT_NONE &&
		    --waits[g->edges[next[sw]].peer] == 0)
			queue[n++] = g->edges[next[sw]].peer;
	}
	return n;
}
