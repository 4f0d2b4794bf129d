// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Load of the cables under all-to-all traffic.
 *
 * Purpose. One number by which engines and fabrics are compared: how much
 * more than the average the busiest channel carries.
 *
 * Flow. For one destination the tables are a forest with the flows of each
 * switch's hosts at its leaves, so the flows are added up along it instead of
 * pair by pair: count how many switches send to each (waiting), then take
 * switches nobody is left to send to, hand what they hold to the next. What
 * is caught in a loop is never taken, and what ends elsewhere is never handed
 * on: neither arrives at the destination's switch, and that is how the loss
 * is found. Costs switches times hosts.
 *
 * Source. M.-C. Heydemann, J.-C. Meyer, D. Sotteau, "On forwarding indices
 * of networks", 1989.
 */
#include "routing/quality.h"

#include <string.h>

struct census {
	const struct graph *g;
	const struct lft *lft;
	uint32_t *edge_of;	/* see graph_map_ports() */
	uint32_t *edge;		/* switch -> edge towards the LID */
	uint32_t *waiting;	/* switch -> how many will send to it */
	uint32_t *ready;	/* switches that have all */
	uint64_t *flows;	/* switch -> flows that it has to send */
	uint64_t *load;		/* by edge */
	uint64_t n_hosts;
};

/* Who sends where. Returns true if the destination's switch delivers. */
static bool
census_load(struct census *c, const struct graph_target *target)
{
	const struct graph *g = c->g;
	const uint8_t *entry = c->lft->ports + target->lid;
	const uint32_t *edge_of = c->edge_of;
	uint32_t sw;

	memset(c->waiting, 0, g->n_switches * sizeof(*c->waiting));
	for (sw = 0; sw < g->n_switches; sw++) {
		c->flows[sw] = g->n_hosts[sw];
		c->edge[sw] = edge_of[*entry];
		if (c->edge[sw] != SNAPSHOT_NONE)
			c->waiting[g->edges[c->edge[sw]].peer]++;
		entry += c->lft->stride;
		edge_of += GRAPH_PORTS;
	}
	return lft_row(c->lft, target->sw)[target->lid] == target->port;
}

/* Adds the flows to one destination; returns how many of them arrive. */
static uint64_t
census_count(struct census *c, const struct graph_target *target)
{
	const struct graph *g = c->g;
	uint32_t n_ready = 0, i, sw, next;
	bool delivers = census_load(c, target);

	c->flows[target->sw]--;	/* nobody sends to itself */
	for (sw = 0; sw < g->n_switches; sw++)
		if (c->waiting[sw] == 0)
			c->ready[n_ready++] = sw;
	for (i = 0; i < n_ready; i++) {
		sw = c->ready[i];
		if (c->edge[sw] == SNAPSHOT_NONE)
			continue;
		next = g->edges[c->edge[sw]].peer;
		c->load[c->edge[sw]] += c->flows[sw];
		c->flows[next] += c->flows[sw];
		if (--c->waiting[next] == 0)
			c->ready[n_ready++] = next;
	}
	return delivers ? c->flows[target->sw] : 0;
}

static void
census_init(struct census *c, const struct graph *g, const struct lft *lft)
{
	uint32_t sw;

	memset(c, 0, sizeof(*c));
	c->g = g;
	c->lft = lft;
	c->edge_of = graph_map_ports(g);
	c->edge = g_new(uint32_t, g->n_switches);
	c->waiting = g_new(uint32_t, g->n_switches);
	c->ready = g_new(uint32_t, g->n_switches);
	c->flows = g_new(uint64_t, g->n_switches);
	c->load = g_new0(uint64_t, g->n_edges);
	for (sw = 0; sw < g->n_switches; sw++)
		c->n_hosts += g->n_hosts[sw];
}

static void
census_clear(struct census *c)
{
	g_free(c->edge_of);
	g_free(c->edge);
	g_free(c->waiting);
	g_free(c->ready);
	g_free(c->flows);
	g_free(c->load);
}

void
quality_all_to_all(const struct graph *g, const struct lft *lft,
		   struct quality_load *load)
{
	g_autofree uint32_t *target_of = graph_map_lids(g);
	const struct graph_target *target;
	struct census census;
	uint64_t sum = 0;
	uint32_t lid, e, widest = quality_widest(g);
	double worst;

	g_assert(lft->n_switches == g->n_switches);

	memset(load, 0, sizeof(*load));
	load->busiest = SNAPSHOT_NONE;
	census_init(&census, g, lft);
	/* By LID and not by switch: neighbours share cache lines. */
	for (lid = LID_UNICAST_MIN; lid <= g->top; lid++) {
		if (target_of[lid] == SNAPSHOT_NONE)
			continue;
		target = &g->targets[target_of[lid]];
		if (target->port == 0 || target->lid != lid)
			continue;
		load->lost += census.n_hosts - 1;
		if (lid <= lft->top)
			load->lost -= census_count(&census, target);
	}
	for (e = 0; e < g->n_edges; e++) {
		sum += census.load[e];
		load->max = MAX(load->max, census.load[e]);
		worst = (double)census.load[e] * widest /
			MAX(g->edges[e].capacity, 1);
		if (load->busiest == SNAPSHOT_NONE || worst > load->worst) {
			load->worst = worst;
			load->busiest = e;
		}
	}
	load->channels = g->n_edges;
	if (g->n_edges > 0)
		load->mean = (double)sum / g->n_edges;
	census_clear(&census);
}
