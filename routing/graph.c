/*
 * From a snapshot to what routing needs of it.
 *
 * Purpose. Engines walk cables between switches millions of times; they must
 * not meet ports that are down, hosts, or structs of 200 bytes. The graph is
 * the same facts as a compressed row storage: edges of switch s are
 * edges[first_edge[s] .. first_edge[s + 1] - 1], targets likewise.
 *
 * Flow. Two passes over the ports of the switches: one counts, one stores;
 * each switch's edges and targets are sorted; then every edge looks up the
 * other end of its cable. The numbering is that of the snapshot (by
 * NodeGUID), hence nothing depends on the order of discovery.
 *
 * What counts. A cable counts if both ends say that it is up: half a link
 * carries nothing. An end port counts if it owns a LID; one without (none was
 * given yet) can be no destination, and sends nothing.
 */
#include "routing/graph.h"

#include <stdlib.h>
#include <string.h>

static bool
graph_cable_works(const struct subnet *s, uint32_t port)
{
	uint32_t peer;

	if (!subnet_link_up(s, port))
		return false;
	peer = s->ports[port].peer;
	return subnet_link_up(s, peer) && s->ports[peer].peer == port;
}

/* The switch at the other end of a cable that works and ends elsewhere, or
 * SUBNET_NONE. */
static uint32_t
graph_next_switch(const struct subnet *s, uint32_t port)
{
	const struct subnet_node *next;

	if (s->ports[port].num == 0 || !graph_cable_works(s, port))
		return SUBNET_NONE;
	next = subnet_node_of(s, s->ports[port].peer);
	if (next == subnet_node_of(s, port) || !subnet_is_switch(next))
		return SUBNET_NONE;
	return next->sw_index;
}

/* The end port that is reached by this port of a switch, or SUBNET_NONE. */
static uint32_t
graph_end_port(const struct subnet *s, const struct lid_map *lids,
	       uint32_t port)
{
	uint32_t end = port;

	if (s->ports[port].num > 0) {
		if (!graph_cable_works(s, port))
			return SUBNET_NONE;
		end = s->ports[port].peer;
		if (subnet_is_switch(subnet_node_of(s, end)))
			return SUBNET_NONE;
	}
	return lids->base[end] == LID_NONE ? SUBNET_NONE : end;
}

static int
graph_compare_edges(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return (int)x->port - (int)y->port;
}

static int
graph_compare_targets(const void *a, const void *b)
{
	const struct graph_target *x = a, *y = b;

	return (int)x->lid - (int)y->lid;
}

/* Fills first_edge, first_target and n_hosts. */
static void
graph_count(struct graph *g, const struct subnet *s,
	    const struct lid_map *lids)
{
	const struct subnet_node *node;
	uint32_t sw, port, end;

	for (sw = 0; sw < s->n_switches; sw++) {
		node = &s->nodes[s->switches[sw]];
		g->first_edge[sw] = g->n_edges;
		g->first_target[sw] = g->n_targets;
		for (port = node->first_port;
		     port <= node->first_port + node->info.num_ports; port++) {
			if (graph_next_switch(s, port) != SUBNET_NONE)
				g->n_edges++;
			end = graph_end_port(s, lids, port);
			if (end == SUBNET_NONE)
				continue;
			g->n_targets++;
			if (end != port)
				g->n_hosts[sw]++;
		}
	}
	g->first_edge[sw] = g->n_edges;
	g->first_target[sw] = g->n_targets;
}

static void
graph_store_switch(struct graph *g, const struct subnet *s,
		   const struct lid_map *lids, uint32_t sw)
{
	const struct subnet_node *node = &s->nodes[s->switches[sw]];
	struct graph_edge *edge = &g->edges[g->first_edge[sw]];
	struct graph_target *target = &g->targets[g->first_target[sw]];
	uint32_t port, peer, end;

	for (port = node->first_port;
	     port <= node->first_port + node->info.num_ports; port++) {
		peer = graph_next_switch(s, port);
		if (peer != SUBNET_NONE)
			*edge++ = (struct graph_edge){
				.peer = peer,
				.back = s->ports[port].peer, /* for now */
				.port = s->ports[port].num,
			};
		end = graph_end_port(s, lids, port);
		if (end != SUBNET_NONE)
			*target++ = (struct graph_target){
				.lid = lids->base[end],
				.n_lids = (uint16_t)(1u << lids->lmc[end]),
				.sw = sw,
				.port = s->ports[port].num,
			};
	}
	/* None at all is no array at all, which qsort() may not be given. */
	if (g->n_edges)
		qsort(&g->edges[g->first_edge[sw]],
		      g->first_edge[sw + 1] - g->first_edge[sw],
		      sizeof(*g->edges), graph_compare_edges);
	if (g->n_targets)
		qsort(&g->targets[g->first_target[sw]],
		      g->first_target[sw + 1] - g->first_target[sw],
		      sizeof(*g->targets), graph_compare_targets);
}

/* Until here `back` is the port at the other end; make it that port's edge. */
static void
graph_pair_edges(struct graph *g, const struct subnet *s)
{
	g_autofree uint32_t *edge_of = g_new(uint32_t, s->n_ports);
	const struct subnet_node *node;
	uint32_t sw, e;

	for (sw = 0; sw < g->n_switches; sw++) {
		node = &s->nodes[s->switches[sw]];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			edge_of[node->first_port + g->edges[e].port] = e;
	}
	for (e = 0; e < g->n_edges; e++)
		g->edges[e].back = edge_of[g->edges[e].back];
}

struct graph *
graph_new(const struct subnet *s, const struct lid_map *lids)
{
	struct graph *g = g_new0(struct graph, 1);
	uint32_t sw;

	g_assert(lids->n_ports == s->n_ports);

	g->subnet = s;
	g->n_switches = s->n_switches;
	g->top = lids->top;
	g->first_edge = g_new(uint32_t, s->n_switches + 1);
	g->first_target = g_new(uint32_t, s->n_switches + 1);
	g->n_hosts = g_new0(uint32_t, s->n_switches);
	graph_count(g, s, lids);

	g->edges = g_new(struct graph_edge, g->n_edges);
	g->targets = g_new(struct graph_target, g->n_targets);
	for (sw = 0; sw < g->n_switches; sw++)
		graph_store_switch(g, s, lids, sw);
	graph_pair_edges(g, s);
	return g;
}

void
graph_free(struct graph *g)
{
	if (!g)
		return;
	g_free(g->first_edge);
	g_free(g->edges);
	g_free(g->first_target);
	g_free(g->targets);
	g_free(g->n_hosts);
	g_free(g);
}

uint32_t *
graph_map_ports(const struct graph *g)
{
	size_t size = (size_t)g->n_switches * GRAPH_PORTS * sizeof(uint32_t);
	uint32_t *map = g_malloc(size);
	uint32_t sw, e;

	if (!map)
		return NULL;		/* not a single switch */
	memset(map, 0xff, size);	/* SUBNET_NONE */
	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			map[(size_t)sw * GRAPH_PORTS + g->edges[e].port] = e;
	return map;
}

uint32_t *
graph_map_lids(const struct graph *g)
{
	uint32_t *map = g_new(uint32_t, g->top + 1u);
	uint32_t i, lid;

	memset(map, 0xff, (g->top + 1u) * sizeof(*map));
	for (i = 0; i < g->n_targets; i++)
		for (lid = g->targets[i].lid;
		     lid < (uint32_t)g->targets[i].lid + g->targets[i].n_lids;
		     lid++)
			map[lid] = i;
	return map;
}

char *
graph_switch_name(const struct graph *g, uint32_t sw)
{
	const struct subnet *s = g->subnet;
	const struct subnet_node *node = &s->nodes[s->switches[sw]];

	return g_strdup_printf("'%s' (0x%016" G_GINT64_MODIFIER "x)",
			       node->desc, node->info.node_guid);
}

uint32_t *
graph_find_islands(const struct graph *g)
{
	uint32_t *island = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t start, head, tail, e;

	for (start = 0; start < g->n_switches; start++)
		island[start] = UINT32_MAX;
	for (start = 0; start < g->n_switches; start++) {
		if (island[start] != UINT32_MAX)
			continue;
		island[start] = start;
		queue[0] = start;
		for (head = 0, tail = 1; head < tail; head++)
			for (e = g->first_edge[queue[head]];
			     e < g->first_edge[queue[head] + 1]; e++) {
				if (island[g->edges[e].peer] != UINT32_MAX)
					continue;
				island[g->edges[e].peer] = start;
				queue[tail++] = g->edges[e].peer;
			}
	}
	return island;
}
