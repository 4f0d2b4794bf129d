// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics whose switches have slow management agents with few places.
 *
 * VL15 has no flow control: an SMP that finds the agent's buffer full is lost.
 * All SMPs by directed route pass the agent of the first switch, on the way
 * out and back. The subnet manager must find out by itself how many it takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/lib/sim_lab.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)

struct agent {
	unsigned us, places;
	const char *spec;
	int64_t limit;		/* us of virtual time until the fabric is up */
	unsigned per_mille;	/* of the SMPs sent may be lost */
};

/* 648 hosts take about 13,000 SMPs. */
static const struct agent agents[] = {
	{ 20, 16, "PGFT(18,36;1,18)", SECOND, 20 },
	{ 50, 8, "PGFT(18,36;1,18)", 2 * SECOND, 20 },
	{ 100, 4, "PGFT(18,36;1,18)", 5 * SECOND, 20 },
	{ 20, 4, "PGFT(18,36;1,18)", 2 * SECOND, 20 },
	{ 2, 4, "PGFT(18,36;1,18)", SECOND, 20 },
	{ 20, 8, "PGFT(4,4;1,4)", SECOND, 20 },
	{ 100, 4, "PGFT(4,4;1,4)", SECOND, 20 },
	{ 1000, 2, "PGFT(4,4;1,4)", 2 * SECOND, 20 },
};

static void
test_window_fits_the_agents_of_switches(void **state)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(agents); i++) {
		const struct agent *a = &agents[i];
		struct sim_params params = sim_params_default;
		struct snapshot *s = generate_fabric(a->spec, NULL, NULL);
		struct lab_sm sm;
		struct sim *sim;
		uint64_t sent;
		bool up;

		params.smp_ns = params.forward_ns = a->us * 1000;
		params.vl15_depth = a->places;
		sim = sim_new(s, &params);
		lab_sm_start(&sm, sim, s->local_port, 8);
		up = lab_sm_wait_up(&sm, a->limit);
		sent = mad_client_stats(sm.x)->sent;
		print_message("# %s, %u us, %u places: %s after %u ms, "
			      "%u SMPs, %u lost, window %u\n", a->spec, a->us,
			      a->places, up ? "up" : "not up",
			      (unsigned)(sim_now(sim) / 1000), (unsigned)sent,
			      (unsigned)sim_stats(sim)->lost_vl15,
			      mad_client_stats(sm.x)->window);
		assert_true(up);
		assert_true(sim_stats(sim)->lost_vl15 * 1000 <=
			    sent * a->per_mille);
		lab_sm_stop(&sm);
		sim_free(sim);
		snapshot_unref(s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_fits_the_agents_of_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
