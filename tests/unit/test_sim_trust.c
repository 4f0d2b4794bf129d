// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the manager believes of a fabric that somebody else has changed: a
 * light sweep finds what its own port or a port with a lease has lost, and
 * after a person's request nothing is believed. No device tells of it here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "sm/sim/state.h"
#include "sm/sim/table.h"
#include "tests/lib/key_lab.h"

static const struct keylab_keys no_keys;
static const struct keylab_keys leased = {
	.m_key = 0x1234, .protect = 1, .lease = 60,
};

static void
bench_open(struct keylab *l, const struct keylab_keys *keys)
{
	keylab_open(l, "PGFT(3,3;1,2)");
	keylab_start(l, keys, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_up(l, SECOND));
	sim_run(l->sim, sim_now(l->sim) + SECOND);
	assert_int_equal(l->ends, 1);
}

static void
test_light_sweep_finds_what_a_port_has_lost(void **state)
{
	static const struct {
		const char *what;
		const struct keylab_keys *keys;
		bool own;
		unsigned lid_mask, sm_lid_mask, protect_mask;
	} cases[] = {
		{ "own LID", &no_keys, true, 0, ~0u, ~0u },
		{ "own SMLID", &no_keys, true, ~0u, 0, ~0u },
		{ "LID of a host with a lease", &leased, false, 0, ~0u, ~0u },
		{ "SMLID of it", &leased, false, ~0u, 0, ~0u },
		{ "protection of it: its lease is over", &leased, false, ~0u,
		  ~0u, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct port_info before;
		struct sim_port *p;
		struct keylab l;

		bench_open(&l, cases[i].keys);
		p = &l.sim->ports[cases[i].own ? l.s->local_port :
				  keylab_host(&l, 3)];
		before = p->info;
		p->info.lid &= cases[i].lid_mask;
		p->info.sm_lid &= cases[i].sm_lid_mask;
		p->info.m_key_protect &= cases[i].protect_mask;
		p->wire_valid = false;
		sim_run(l.sim, sim_now(l.sim) + 25 * SECOND);
		if (l.ends != 2 || l.last != SWEEP_END_UP)
			fail_msg("%s: not seen, or not mended",
				 cases[i].what);
		assert_int_equal(p->info.lid, before.lid);
		assert_int_equal(p->info.sm_lid, before.sm_lid);
		assert_int_equal(p->info.m_key_protect, before.m_key_protect);
		keylab_close(&l);
	}
}

static void
test_person_wants_everything_read_again(void **state)
{
	struct sim_node *sw;
	struct sim_port *host;
	struct keylab l;
	uint8_t port;
	uint16_t lid;

	bench_open(&l, &no_keys);
	host = &l.sim->ports[keylab_host(&l, 3)];
	sw = sim_node_of(l.sim, keylab_switch(&l, 1));
	lid = host->info.lid;
	port = sw->lft[lid];
	sw->lft[lid] = LFT_NO_PATH;
	assert_null(host->tables);	/* the default P_Key, as it came */
	host->tables = g_new0(struct sim_tables, 1);
	host->tables->pkeys = g_malloc0_n(UINT16_MAX / 32 + 1,
					  SIM_TABLE_BLOCK);
	assert_false(sim_table_has_pkey(l.sim, keylab_host(&l, 3),
					SIM_PKEY_DEFAULT));
	sweep_request(l.sweep, SWEEP_CAUSE_SIGNAL);
	assert_true(keylab_wait_ends(&l, 1, SECOND));
	assert_int_equal(l.last, SWEEP_END_UP);
	assert_int_equal(sw->lft[lid], port);
	assert_true(sim_table_has_pkey(l.sim, keylab_host(&l, 3),
				       SIM_PKEY_DEFAULT));
	keylab_close(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_light_sweep_finds_what_a_port_has_lost),
		cmocka_unit_test(test_person_wants_everything_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
