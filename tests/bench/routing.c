// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What does the routing of a sweep cost, verification and figures included, as
 * the manager runs it if a change is too large for a repair? (An engine alone:
 * minism-route --all --threads=1 --json.)
 *
 *	bench_routing [-e ENGINE] [SPEC|FILE..]
 *
 * auto, and the fabrics of the README, if none is named.
 * A line for the fabric as it is; for a random cable lost before a start, and back
 * later; for a random switch without hosts lost, and back. The mean of 100
 * shifts; lost: pairs of hosts; blocks that change; stages of the update, 0 if
 * it can be made at once; CPU time of one thread.
 */
#include <string.h>

#include "routing/metrics.h"
#include "routing/order.h"
#include "tests/bench/bench.h"
#include "tests/lib/auto.h"
#include "topology/prng.h"

#define UPDATES	2u	/* cables, and switches, that are lost */

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
};

static const struct engine *wanted;	/* NULL: auto */

static unsigned
count_stages(const struct choice *c)
{
	unsigned n = c->safety == CHOICE_DRAIN, i;

	for (i = 0; n && i < c->later->len; i++)
		n = MAX(n, 1u + g_array_index(c->later, struct transition_entry,
					      i).stage);
	return n;
}

/* before: the choice whose tables are held, or NULL. runs: and whose engine and
 * order are known. */
static bool
update_once(const struct graph *g, const struct choice *before, bool runs,
	    const char *what, struct choice *c)
{
	struct choice_wish wish = { .engine = wanted };
	struct engine_input in = { .g = g, .n_threads = 1 };
	struct metrics_sample sample = { .n = 100, .seed = 1 };
	g_autofree uint32_t *hosts = order_hosts(g, &sample.n_hosts);
	struct metrics_churn churn = { 0 };
	struct metrics_congestion shifts;
	struct metrics_load load;
	double start = bench_cpu_ms(), ms;

	in.previous = before ? before->lft : NULL;
	if (runs) {
		in.ranks = before->ranks;
		wish.ranks_by = wish.in_force = before->engine->name;
	}
	if (!choose_tables(&wish, &in, c, NULL))
		return false;
	ms = bench_cpu_ms() - start;
	sample.hosts = hosts;
	metrics_all_to_all(g, c->lft, c->ranks, &load);
	metrics_shifts(g, c->lft, &sample, &shifts);
	if (before)
		metrics_churn(before->lft, c->lft, &churn);
	printf("    %-14s %-7s %5.2f times the bound, shifts %5.2f, lost %"
	       G_GUINT64_FORMAT ", blocks %5u, stages %u, %7.1f ms\n", what,
	       c->engine->name, load.worst / metrics_bound(g, false),
	       shifts.mean, c->alone.reach.lost_hosts, (unsigned)churn.blocks,
	       count_stages(c), ms);
	return true;
}

static void
unplug(struct snapshot *s, const struct graph *g, uint32_t e)
{
	uint32_t sw = s->switches[graph_owner(g, e)];
	struct snapshot_port *p = &s->ports[s->nodes[sw].first_port +
					    g->edges[e].port];

	s->ports[p->peer].peer = SNAPSHOT_NONE;
	p->peer = SNAPSHOT_NONE;
}

/* Loses a cable (before a start), or a switch, and gets it back. */
static void
bench_update(const struct fabric *f, const struct graph *g,
	     const struct choice *whole, uint32_t sw, uint32_t edge)
{
	AUTO(snapshot) *s = snapshot_copy(f->s);
	struct choice less, again;
	bool is_cable = sw == SNAPSHOT_NONE;
	AUTO(graph) *cut = NULL;

	for (uint32_t e = 0; e < g->n_edges; e++)
		if (is_cable ? e == edge : graph_owner(g, e) == sw)
			unplug(s, g, e);
	cut = graph_new(s, f->lids);
	if (update_once(cut, whole, !is_cable, is_cable ? "start, cable" :
			"switch", &less)) {
		if (update_once(g, &less, true, "  is back", &again))
			choice_clear(&again);
		choice_clear(&less);
	}
}

static void
bench_updates(const char *name)
{
	const struct generate_options options = { .seed = 1 };
	struct fabric f = { .s = generate_or_read(name, &options, NULL) };
	uint64_t random = prng_stream(1, 1);
	struct choice whole;
	AUTO(graph) *g = NULL;
	uint32_t i, sw, tries;

	if (!f.s) {
		fprintf(stderr, "bench_routing: no fabric \"%s\"\n", name);
		exit(2);
	}
	f.lids = lid_assign(f.s, 0, NULL, 0, NULL, NULL);
	g = graph_new(f.s, f.lids);
	printf("%s\n", name);
	if (update_once(g, NULL, false, "all", &whole)) {
		for (i = 0; i < UPDATES && g->n_edges; i++) {
			bench_update(&f, g, &whole, SNAPSHOT_NONE,
				     prng_below(&random, g->n_edges));
			sw = prng_below(&random, g->n_switches);
			for (tries = g->n_switches; tries && g->n_hosts[sw];
			     tries--)
				sw = (sw + 1) % g->n_switches;
			if (tries)
				bench_update(&f, g, &whole, sw, 0);
		}
		choice_clear(&whole);
	}
	lid_map_free(f.lids);
	snapshot_unref(f.s);
}

int
main(int argc, char **argv)
{
	static const char *const specs[] = {
		"PGFT(18,36;1,18)", "PGFT(18,18,36;1,18,18)",
		"PGFT(24,24,48;1,24,24)", "PGFT(32,32,44;1,32,32)",
	};

	if (argc > 2 && strcmp(argv[1], "-e") == 0) {
		wanted = engine_by_name(argv[2], NULL);
		argv += 2;
		argc -= 2;
	}
	for (size_t i = 0; argc < 2 && i < G_N_ELEMENTS(specs); i++)
		bench_updates(specs[i]);
	for (int i = 1; i < argc; i++)
		bench_updates(argv[i]);
	return 0;
}
