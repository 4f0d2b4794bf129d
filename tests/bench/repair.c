// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What does a repair cost? A whole subnet manager with its SA on a simulated
 * fabric; events one after the other, each until the manager rests.
 *
 *	bench_repair_sim [-n CABLES] [SPEC]
 *
 * For each kind of event the medians of: sweeps, Gets, LFT Sets and all Sets;
 * virtual time of the last sweep; CPU time, that of the simulator included. Which
 * functions take it: perf, or valgrind --tool=callgrind. The manager's alone:
 * repair.sh.
 */
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/lib/world.h"
#include "topology/prng.h"

#define LIMIT_US	(60 * (int64_t)G_USEC_PER_SEC)
#define MAX_RUNS	64u

enum figure { SWEEPS, GETS, LFT_SETS, SETS, VIRTUAL_MS, CPU_MS, N_FIGURES };

static void
end(const char *why)
{
	fprintf(stderr, "bench_repair_sim: %s\n", why);
	exit(1);
}

typedef void (*bench_event_fn)(struct sim *sim, uint32_t which);

/* v: a run's figures, MAX_RUNS apart. */
static void
bench_event(struct world *w, bench_event_fn fn, uint32_t which, double *v)
{
	const struct mad_client_stats *x = &w->m.x->stats;
	struct mad_client_stats before = *x;
	unsigned ends = w->m.ends;
	double cpu = bench_cpu_ms();

	fn(w->sim, which);
	if (!world_settle(w, LIMIT_US))
		end("it does not end");
	v[CPU_MS * MAX_RUNS] = bench_cpu_ms() - cpu;
	v[SWEEPS * MAX_RUNS] = w->m.ends - ends;
	v[VIRTUAL_MS * MAX_RUNS] = (double)w->m.took / 1000;
	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		v[GETS * MAX_RUNS] += (double)(x->gets[i] - before.gets[i]);
		v[SETS * MAX_RUNS] += (double)(x->sets[i] - before.sets[i]);
	}
	v[LFT_SETS * MAX_RUNS] = (double)(x->sets[MAD_ATTR_LINEAR_FT] -
					  before.sets[MAD_ATTR_LINEAR_FT]);
}

/* Ports of switches with a cable to another one, and the like; not of the
 * manager's own, without which it hears of nothing. */
static uint32_t
pick(const struct snapshot *s, uint64_t *random, bool to_switch)
{
	uint32_t own = s->ports[s->ports[s->local_port].peer].node;

	for (;;) {
		uint32_t port = (uint32_t)prng_below(random, s->n_ports);
		uint32_t peer = s->ports[port].peer;

		if (peer != SNAPSHOT_NONE && s->ports[port].node != own &&
		    snapshot_is_switch(snapshot_node_of(s, port)) &&
		    snapshot_is_switch(snapshot_node_of(s, peer)) == to_switch)
			return port;
	}
}

static bool
has_hosts(const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];

	for (unsigned i = 1; i <= n->info.num_ports; i++) {
		uint32_t peer = s->ports[n->first_port + i].peer;

		if (peer != SNAPSHOT_NONE &&
		    !snapshot_is_switch(snapshot_node_of(s, peer)))
			return true;
	}
	return false;
}

/* A switch without hosts. */
static uint32_t
pick_spine(const struct snapshot *s, uint64_t *random)
{
	uint32_t node;

	do
		node = s->ports[pick(s, random, true)].node;
	while (has_hosts(s, node));
	return node;
}

int
main(int argc, char **argv)
{
	static const char *const rows[] = {
		"cable lost", "cable back", "host off", "host on",
		"leaf reset", "spine lost", "spine back",
	};
	static const bench_event_fn events[] = {
		sim_link_cut, sim_link_mend, sim_node_off, sim_node_on,
		sim_node_reset, sim_node_off, sim_node_on,
	};
	static double v[G_N_ELEMENTS(rows)][N_FIGURES][MAX_RUNS];
	static struct world w;
	struct sm_instance_params params = manager_defaults;
	uint64_t random = 1;
	g_autofree char *cache = g_dir_make_tmp("bench-repair-XXXXXX", NULL);
	g_autofree char *clean = g_strdup_printf("rm -r '%s'", cache);
	unsigned n = 9;

	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		n = CLAMP((unsigned)atoi(argv[2]), 1, MAX_RUNS);
		argv += 2;
		argc -= 2;
	}
	w.s = bench_fabric(argc > 1 ? argv[1] : BENCH_FABRIC);
	w.sim = sim_new(w.s, NULL);
	params.sa = &manager_sa;
	params.cache_dir = cache;
	manager_open(&w.m, w.sim, w.s->local_port, &params, NULL);
	if (!world_settle(&w, LIMIT_US) || w.m.last != SWEEP_END_UP)
		end("the fabric is not up");
	for (unsigned i = 0; i < n; i++) {
		uint32_t port = pick(w.s, &random, true);
		uint32_t host = w.s->ports[w.s->ports[pick(w.s, &random,
							   false)].peer].node;
		uint32_t leaf = w.s->ports[pick(w.s, &random, false)].node;
		uint32_t spine = pick_spine(w.s, &random);
		const uint32_t which[] = {
			port, port, host, host, leaf, spine, spine,
		};

		for (unsigned k = 0; k < G_N_ELEMENTS(rows); k++)
			bench_event(&w, events[k], which[k], &v[k][0][i]);
	}
	printf("%u switches, %u nodes; medians of %u\n%-12s %9s %9s %9s %9s "
	       "%10s %9s\n", w.s->n_switches, w.s->n_nodes, n, "", "sweeps",
	       "Gets", "LFT Sets", "Sets", "virtual ms", "CPU ms");
	for (unsigned k = 0; k < G_N_ELEMENTS(rows); k++) {
		printf("%-12s", rows[k]);
		for (unsigned f = 0; f < N_FIGURES; f++)
			printf(f < VIRTUAL_MS ? " %9.0f" : " %9.2f",
			       bench_median(v[k][f], n));
		printf("\n");
	}
	manager_close(&w.m);
	sim_free(w.sim);
	snapshot_unref(w.s);
	return system(clean) != 0;
}
