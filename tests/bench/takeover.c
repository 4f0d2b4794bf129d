// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A standby takes over a fabric whose hosts are all members of three groups,
 * have a service and a subscription each: how long after the master's death
 * its SA answers, what it sends, and whether anything is missing. Time is that
 * of the simulator, 20 us an SMP of an agent; CPU time stands beside it.
 *
 *	bench_takeover [FABRIC]
 */
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/state_text.h"
#include "tests/lib/world.h"

#define GROUPS	3u
#define SECOND	((int64_t)G_USEC_PER_SEC)

/* As sa_save() writes it. */
static char *
make_state(const struct snapshot *s)
{
	GString *out = g_string_new(NULL);

	for (unsigned g = 0; g < GROUPS; g++) {
		g_string_append_printf(out, "group 0xff12401bffff%020x "
			"0x%04x 0xffff 0x00000b1b 0x00000 4 3 18 0 0 0 0 "
			"0x0000000000000000\n", g + 1, 0xc000 + g);
		for (uint32_t p = 0; p < s->n_ports; p++)
			if (s->ports[p].num && snapshot_is_end_port(s, p))
				g_string_append_printf(out, "member "
					"0xff12401bffff%020x 0xfe80000000000000"
					"%016" G_GINT64_MODIFIER "x 1 0\n",
					g + 1, s->ports[p].guid);
	}
	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint64_t guid = s->ports[p].guid;

		if (!s->ports[p].num || !snapshot_is_end_port(s, p))
			continue;
		g_string_append_printf(out, "service 0x%016"
			G_GINT64_MODIFIER "x 0xfe80000000000000%016"
			G_GINT64_MODIFIER "x 0x0000 4294967295 0x%032x "
			"0x%0128x 0x%0128x\n", guid, guid, 0, 0, 0);
		g_string_append_printf(out, "inform 0xfe80000000000000%016"
			G_GINT64_MODIFIER "x 0 1 0x%032x 0xffff 0xffff 1 "
			"0xffff 0x0103 19 0x000004 1\n", guid, 0);
	}
	return g_string_free(out, FALSE);
}

static char *
saved(const struct manager *m)
{
	GString *out = g_string_new(NULL);

	sa_save(m->sm->sa, out, sim_now(m->sim));
	return g_string_free(out, FALSE);
}

/* Ends the master; us until the standby's SA is open. */
static int64_t
end_master(struct sim *sim, struct manager *master, struct manager *standby,
	   bool told)
{
	int64_t began = sim_now(sim);

	if (told)
		manager_retire(master);
	manager_close(master);
	while (!standby->sm->sa->view && sim_step(sim))
		;
	return sim_now(sim) - began;
}

static bool
run(struct snapshot *s, uint32_t hosts[2], bool told, bool full)
{
	struct sm_instance_params params = manager_defaults;
	struct sim *sim = sim_new(s, NULL);
	struct manager m[2];
	g_autofree char *state = make_state(s), *before = NULL, *after = NULL;
	struct mad_client_stats was;
	const struct mad_client_stats *now;
	struct standby_status status;
	int64_t took, began;
	double cpu;
	bool same;

	params.sa = &manager_sa;
	params.sweep.clients = REREGISTER_FORGOTTEN;
	params.sweep.priority = 8;
	manager_open(&m[0], sim, hosts[0], &params, NULL);
	if (full && !sa_load(m[0].sm->sa, state, 0, NULL))
		return false;
	manager_wait_up(&m[0], 60 * SECOND);
	sim_run(sim, sim_now(sim) + 20 * SECOND);
	params.sweep.priority = 3;
	began = sim_now(sim);
	cpu = bench_cpu_ms();
	manager_open(&m[1], sim, hosts[1], &params, NULL);
	sim_run(sim, sim_now(sim) + 15 * SECOND);
	standby_status(m[1].sm->standby, &status);
	printf("  standby: warm %d, groups %u with %u members, "
	       "services %u, subscriptions %u, read %u times in %.0f s, CPU of "
	       "both %.0f ms\n", status.warm,
	       status.stats.n_groups, status.stats.n_members,
	       status.stats.n_services, status.stats.n_subscriptions,
	       (unsigned)status.reads,
	       (double)(sim_now(sim) - began) / 1e6, bench_cpu_ms() - cpu);
	before = saved(&m[0]);
	was = m[1].x->stats;
	cpu = bench_cpu_ms();
	took = end_master(sim, &m[0], &m[1], told);
	cpu = bench_cpu_ms() - cpu;
	after = saved(&m[1]);
	same = strcmp(before, after) == 0;
	sim_run(sim, sim_now(sim) + 10 * SECOND);
	now = &m[1].x->stats;
	printf("  %s: SA open after %.0f ms (CPU %.0f ms), state of %zu bytes "
	       "%s\n", told ? "TERM" : "KILL", (double)took / 1e3, cpu,
	       strlen(before), same ? "the same" : "DIFFERS");
	printf("  MADs:");
	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		if (now->gets[i] - was.gets[i])
			printf(" %s.Get %u", mad_attr_name(i),
			       (unsigned)(now->gets[i] - was.gets[i]));
		if (now->sets[i] - was.sets[i])
			printf(" %s.Set %u", mad_attr_name(i),
			       (unsigned)(now->sets[i] - was.sets[i]));
	}
	printf("; LFT Sets %u, MFT Sets %u\n",
	       (unsigned)(now->sets[MAD_ATTR_LINEAR_FT] -
			  was.sets[MAD_ATTR_LINEAR_FT]),
	       (unsigned)(now->sets[MAD_ATTR_MULTICAST_FT] -
			  was.sets[MAD_ATTR_MULTICAST_FT]));
	manager_close(&m[1]);
	sim_free(sim);
	return same;
}

int
main(int argc, char **argv)
{
	const char *spec = argc > 1 ? argv[1] : BENCH_FABRIC;
	struct snapshot *s = bench_fabric(spec);
	uint32_t hosts[2], n = 0;
	bool ok = true;

	for (uint32_t p = 0; p < s->n_ports && n < 2; p++)
		if (s->ports[p].num && snapshot_is_end_port(s, p))
			hosts[n++] = p;
	printf("%s\n", spec);
	for (unsigned i = 0; i < 4; i++)
		ok = run(s, hosts, i & 1, i & 2) && ok;
	snapshot_unref(s);
	return !ok;
}
