// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cost. One breadth-first search for each switch that has LIDs: a run that is
 * watched need not be fast.
 */
#include "lab/choices.h"

#include "routing/graph.h"

#define MANY	64u

/* Of a switch: how many LIDs behind others had one candidate, several, or take
 * a longer path; and one example with as many candidates as any. */
struct choices {
	uint32_t one, several, longer;
	uint32_t n_best, best;		/* candidates, target */
	uint32_t hops;
};

/* Ports of `sw` that are on a shortest path; all of them into *list, if that is
 * there. *taken: `port` is one. */
static uint32_t
count_candidates(const struct graph *g, uint32_t sw, const uint32_t *hops,
		 uint8_t port, bool *taken, GString *list)
{
	uint32_t n = 0;

	*taken = false;
	for (uint32_t i = g->first_edge[sw]; i < g->first_edge[sw + 1]; i++) {
		if (hops[g->edges[i].peer] + 1 != hops[sw])
			continue;
		n++;
		*taken |= g->edges[i].port == port;
		if (list)
			g_string_append_printf(list, " %u", g->edges[i].port);
	}
	return n;
}

static void
weigh(const struct graph *g, const struct lft *lft, uint32_t target,
      const uint32_t *hops, struct choices *all)
{
	const struct graph_target *t = &g->targets[target];

	/* others are counted only */
	for (uint32_t sw = 0; sw < MIN(g->n_switches, MANY); sw++) {
		struct choices *c = &all[sw];
		uint8_t port = lft_row(lft, sw)[t->lid];
		bool taken;
		uint32_t n;

		if (sw == t->sw || hops[sw] == GRAPH_FAR || port == LFT_NO_PATH)
			continue;
		n = count_candidates(g, sw, hops, port, &taken, NULL);
		c->longer += !taken;
		c->one += taken && n == 1;
		c->several += taken && n > 1;
		if (n > c->n_best) {
			c->n_best = n;
			c->best = target;
			c->hops = hops[sw];
		}
	}
}

void
choices_tell(const struct snapshot *s, const struct lid_map *lids,
	     const struct lft *lft, const char *engine, choices_fn fn,
	     void *data)
{
	struct graph *g = graph_new_whole(s, lids);
	g_autofree struct choices *all = g_new0(struct choices, g->n_switches);
	g_autofree uint32_t *hops = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		graph_hops(g, sw, hops, queue);
		for (uint32_t t = g->first_target[sw];
		     t < g->first_target[sw + 1]; t++)
			weigh(g, lft, t, hops, all);
	}
	for (uint32_t sw = 0; sw < MIN(g->n_switches, MANY); sw++) {
		const struct choices *c = &all[sw];
		const struct graph_target *t = &g->targets[c->best];
		g_autoptr(GString) ports = g_string_new(NULL);
		uint8_t port;
		bool taken;

		g_string_printf(text, "%s: LIDs behind other switches: %u with "
				"one shortest path, %u with a choice, %u by a "
				"longer one", engine, c->one, c->several,
				c->longer);
		if (c->n_best > 1) {
			graph_hops(g, t->sw, hops, queue);
			port = lft_row(lft, sw)[t->lid];
			count_candidates(g, sw, hops, port, &taken, ports);
			g_string_append_printf(text, "; LID %u (%s) leaves by "
				"port %u, of%s, %u hops away%s", t->lid,
				snapshot_name_of(s, lids->owner[t->lid]),
				port, ports->str, c->hops, taken ? "" :
				", which is not the shortest path");
		}
		fn(snapshot_node_name(&s->nodes[s->switches[sw]]), text->str,
		   data);
	}
	g_string_printf(text, "and %u more switches", g->n_switches - MANY);
	if (g->n_switches > MANY)
		fn("", text->str, data);
	graph_free(g);
}
