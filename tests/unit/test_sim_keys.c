// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * M_Keys on the simulated fabric: given, remembered, changed, lost; ports that
 * have somebody else's. Judged by what the ports hold and by the data plane.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <glib/gstdio.h>

#include "tests/lib/key_lab.h"

#define TREE		"PGFT(4,4;1,2)"	/* 16 hosts, 4 + 2 switches */
#define SEED_A		UINT64_C(0x5ec3e7a15ec3e7a1)
#define SEED_B		UINT64_C(0xb0b5ec3e7b0b5ec3)
#define FOREIGN		UINT64_C(0xf0e1f0e1f0e1f0e1)
#define NONE		SNAPSHOT_NONE

static const struct keylab_keys one_a = { SEED_A, MKEY_DB_ONE, 2, 0 };
static const struct keylab_keys one_b = { SEED_B, MKEY_DB_ONE, 2, 0 };
static const struct keylab_keys each_a = { SEED_A, MKEY_DB_PER_PORT, 2, 0 };
static const struct keylab_keys each_b = { SEED_B, MKEY_DB_PER_PORT, 2, 0 };
static const struct keylab_keys no_keys = { 0, MKEY_DB_ONE, 0, 0 };

static void
bring_up(struct keylab *l, const char *spec, const struct keylab_keys *keys)
{
	keylab_open(l, spec);
	keylab_start(l, keys, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_up(l, 10 * SECOND));
	assert_int_equal(keylab_wrong(l), 0);
	assert_int_equal(keylab_lost(l, NONE), 0);
	assert_int_equal(keylab_violations(l), 0);
}

static void
restart(struct keylab *l, const struct keylab_keys *keys,
	enum keylab_memory memory)
{
	keylab_stop(l);
	keylab_start(l, keys, memory);
}

/* Up at once, all ports right, and nobody was asked with a wrong key. */
static void
assert_clean(struct keylab *l)
{
	assert_true(keylab_wait_up(l, SECOND));
	assert_int_equal(l->ends, 1);
	assert_int_equal(keylab_wrong(l), 0);
	assert_int_equal(keylab_violations(l), 0);
	assert_int_equal(keylab_lost(l, NONE), 0);
}

static void
test_fabric_from_scratch_gets_its_keys(void **state)
{
	static const struct keylab_keys *const all[] = {
		&one_a, &each_a, &no_keys,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		for (uint8_t level = 0; level < 4; level++) {
			struct keylab_keys keys = *all[i];
			struct keylab l;

			keys.protect = keys.m_key ? level : 0;
			bring_up(&l, TREE, &keys);
			assert_int_equal(l.ends, 1);
			keylab_close(&l);
		}
}

/* A key that a port has and no file knows would lock it for ever if the
 * manager died now. */
struct witness {
	struct keylab *l;
	unsigned keyed, unknown;
};

static bool
look_into_files(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	static const char *const names[] = { "guid2mkey", "neighbors" };
	struct witness *w = data;

	for (uint32_t port = 0; port < w->l->s->n_ports; port++) {
		g_autofree char *guid = g_strdup_printf("0x%016"
			G_GINT64_MODIFIER "x", w->l->s->ports[port].guid);

		if (w->l->s->ports[port].node != node ||
		    !sim_port_info(sim, port)->m_key)
			continue;
		w->keyed++;
		for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
			g_autofree char *path = g_build_filename(w->l->dir,
				names[i], NULL);
			g_autofree char *text = NULL;

			/* of a cable, a switch has its port 0's GUID */
			if (!g_file_get_contents(path, &text, NULL, NULL) ||
			    !strstr(text, guid))
				w->unknown++;
		}
	}
	return true;
}

static void
test_key_is_stored_before_it_is_sent(void **state)
{
	struct witness w = { 0 };
	struct keylab l;

	keylab_open(&l, "PGFT(3,3;1,2)");
	w.l = &l;
	sim_set_liar(l.sim, look_into_files, &w);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_up(&l, SECOND));
	assert_int_equal(keylab_wrong(&l), 0);
	assert_true(w.keyed > 0);
	assert_int_equal(w.unknown, 0);
	keylab_close(&l);
}

static void
test_each_port_has_its_own_key(void **state)
{
	struct keylab l;

	bring_up(&l, TREE, &each_a);
	for (uint32_t a = 0; a < l.s->n_ports; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint64_t key = sim_port_info(l.sim, a)->m_key;

			if (!key)
				continue;	/* not an end port */
			assert_true(key != SEED_A);
			assert_true(key != sim_port_info(l.sim, b)->m_key);
		}
	keylab_close(&l);
}

static void
test_restart_with_the_memory(void **state)
{
	static const struct keylab_keys *const all[] = { &one_a, &each_a };

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		struct keylab l;

		bring_up(&l, TREE, all[i]);
		restart(&l, all[i], KEYLAB_REMEMBERS);
		assert_clean(&l);
		keylab_close(&l);
	}
}

/* One key for all is known without; so are the GUIDs at level 1. */
static void
test_restart_without_the_memory(void **state)
{
	struct keylab_keys each_1 = each_a;
	char *path;
	struct keylab l;

	bring_up(&l, TREE, &one_a);
	restart(&l, &one_a, KEYLAB_FORGETS);
	assert_clean(&l);
	keylab_close(&l);

	for (each_1.protect = 0; each_1.protect < 2; each_1.protect++) {
		bring_up(&l, TREE, &each_1);
		restart(&l, &each_1, KEYLAB_FORGETS);
		assert_clean(&l);
		/* nothing was to be sent, and it knows them again */
		path = g_build_filename(l.dir, "guid2mkey", NULL);
		assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
		g_free(path);
		keylab_close(&l);
	}
}

/* At level 2 nobody tells his GUID, without which there is no key of his own.
 * The way in is the lease: one row of switches after the other gives way. */
static void
test_lease_is_the_way_back_in(void **state)
{
	struct keylab_keys keys = each_a;
	struct keylab l;

	keys.lease = 15;
	bring_up(&l, TREE, &keys);
	restart(&l, &keys, KEYLAB_FORGETS);
	assert_true(keylab_wait_ends(&l, 1, 10 * SECOND));
	assert_int_equal(l.last, SWEEP_END_NOT_UP);
	assert_true(keylab_complains(&l, "M_Key is not ours"));
	assert_true(keylab_wait_up(&l, 300 * SECOND));
	assert_int_equal(keylab_wrong(&l), 0);
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

static void
test_changed_key_with_the_memory(void **state)
{
	static const struct {
		const struct keylab_keys *from, *to;
	} changes[] = {
		{ &one_a, &one_b }, { &each_a, &each_b }, { &one_a, &each_a },
		{ &each_a, &one_b }, { &each_a, &no_keys },
		{ &no_keys, &each_a },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++)
		for (uint8_t level = 1; level < 4; level++) {
			struct keylab_keys from = *changes[i].from;
			struct keylab_keys to = *changes[i].to;
			struct keylab l;

			from.protect = from.m_key ? level : 0;
			to.protect = to.m_key ? level : 0;
			bring_up(&l, TREE, &from);
			restart(&l, &to, KEYLAB_REMEMBERS);
			assert_clean(&l);
			/* and again, from what is remembered now */
			restart(&l, &to, KEYLAB_REMEMBERS);
			assert_clean(&l);
			keylab_close(&l);
		}
}

/* --------------------------------------------------------- interruptions */

static void
stop_here(struct sim *sim, void *data)
{
	*(bool *)data = true;
}

/* Stops the manager at the nth Set(PortInfo) of a change of keys, power cut
 * and all; the next one, which has a third key to give, must find every port.
 * False: it was up before that. */
static bool
crash_at(unsigned n, bool answered, uint8_t level)
{
	struct keylab_keys first = each_a, second = each_b, third = one_a;
	const struct sim_match sets = {
		.node = SIM_ANY, .mgmt_class = MAD_CLASS_SMP_DIRECT,
		.method = MAD_METHOD_SET, .attr_id = MAD_ATTR_PORT_INFO,
	};
	bool crashed = false;
	struct keylab l;

	first.protect = second.protect = third.protect = level;
	bring_up(&l, "PGFT(2,2;1,2)", &first);
	restart(&l, &second, KEYLAB_REMEMBERS);
	sim_at_mad(l.sim, &sets, n, stop_here, &crashed);
	while (!crashed && !l.ends)
		assert_true(sim_step(l.sim));
	for (unsigned i = 0; answered && i < 3 && !l.ends; i++)
		assert_true(sim_step(l.sim));
	if (crashed) {
		restart(&l, &third, KEYLAB_REMEMBERS);
		assert_true(keylab_wait_up(&l, 60 * SECOND));
		assert_int_equal(keylab_wrong(&l), 0);
		assert_int_equal(keylab_lost(&l, NONE), 0);
	}
	keylab_close(&l);
	return crashed;
}

static void
test_crash_while_keys_change_locks_nobody_out(void **state)
{
	for (uint8_t level = 1; level < 3; level++) {
		unsigned n = 1;

		while (crash_at(n, false, level)) {
			assert_true(crash_at(n, true, level));
			n++;
		}
		assert_true(n > 8);	/* each of 8 end ports was set once */
	}
}

static void
test_change_of_keys_on_a_lossy_fabric(void **state)
{
	const struct sim_rule loss = {
		.match = { .node = SIM_ANY }, .kind = SIM_FAULT_LOSS,
		.per_mille = 50,
	};

	for (unsigned turn = 0; turn < 5; turn++) {
		const struct keylab_keys *to = turn % 2 ? &each_b : &one_b;
		struct keylab l;
		unsigned rule;

		bring_up(&l, TREE, &each_a);
		rule = sim_rule_add(l.sim, &loss);
		/* another draw each time */
		sim_run(l.sim, sim_now(l.sim) + turn * SECOND);
		restart(&l, to, KEYLAB_REMEMBERS);
		assert_true(keylab_wait_up(&l, 120 * SECOND));
		assert_true(sim_rule_hits(l.sim, rule) > 10);
		assert_int_equal(keylab_wrong(&l), 0);
		assert_int_equal(keylab_lost(&l, NONE), 0);
		keylab_close(&l);
	}
}

/* Every answer to the first Sets is lost, so nobody knows which key it is;
 * with the old one nobody answers any more. */
static void
test_lost_answers_are_tried_with_both_keys(void **state)
{
	const struct sim_rule loss = {
		.match = { .node = SIM_ANY, .method = MAD_METHOD_GET_RESP,
			   .attr_id = MAD_ATTR_PORT_INFO },
		.kind = SIM_FAULT_LOSS, .per_mille = 1000, .times = 10,
	};
	const struct sim_match sets = {
		.node = SIM_ANY, .method = MAD_METHOD_SET,
		.attr_id = MAD_ATTR_PORT_INFO,
	};
	bool begun = false;
	struct keylab l;
	unsigned rule;

	bring_up(&l, TREE, &each_a);
	restart(&l, &each_b, KEYLAB_REMEMBERS);
	sim_at_mad(l.sim, &sets, 1, stop_here, &begun);
	while (!begun)
		assert_true(sim_step(l.sim));
	rule = sim_rule_add(l.sim, &loss);
	assert_true(keylab_wait_up(&l, 30 * SECOND));
	assert_int_equal(l.ends, 1);
	assert_int_equal(sim_rule_hits(l.sim, rule), 10);
	assert_int_equal(keylab_wrong(&l), 0);
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

/* ------------------------------------------------------- changes of fabric */

static void
test_power_cycled_host_gets_its_key_back(void **state)
{
	struct keylab l;
	uint32_t host;

	bring_up(&l, TREE, &each_a);
	host = keylab_host(&l, 3);
	sim_node_off(l.sim, l.s->ports[host].node);
	sim_run(l.sim, sim_now(l.sim) + 2 * SECOND);
	sim_node_on(l.sim, l.s->ports[host].node);
	assert_true(sim_port_info(l.sim, host)->m_key == 0);
	assert_true(keylab_wait_up(&l, 20 * SECOND));
	assert_true(keylab_wait_ends(&l, 0, SECOND));
	sim_run(l.sim, sim_now(l.sim) + 15 * SECOND);
	assert_true(keylab_has_key(&l, host));
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

static void
test_reset_switch_gets_its_key_back(void **state)
{
	struct keylab l;

	bring_up(&l, TREE, &each_a);
	sim_node_reset(l.sim, l.s->ports[keylab_switch(&l, 4)].node);
	sim_run(l.sim, sim_now(l.sim) + 30 * SECOND);
	assert_int_equal(keylab_wrong(&l), 0);
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

/* Behind a port is not who was there, and nobody says who he is without his
 * own key. */
static void
test_cables_that_moved_while_nobody_looked(void **state)
{
	struct keylab l;
	uint32_t a, b;

	bring_up(&l, TREE, &each_a);
	keylab_stop(&l);
	a = keylab_host(&l, 2);
	b = keylab_host(&l, 9);
	sim_cable_swap(l.sim, a, b);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_up(&l, 60 * SECOND));
	assert_int_equal(keylab_wrong(&l), 0);
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

static void
test_cable_that_moves_while_we_run(void **state)
{
	struct keylab l;

	bring_up(&l, TREE, &each_a);
	sim_cable_swap(l.sim, keylab_host(&l, 1), keylab_host(&l, 12));
	assert_true(keylab_wait_up(&l, 60 * SECOND));
	sim_run(l.sim, sim_now(l.sim) + 15 * SECOND);
	assert_int_equal(l.last, SWEEP_END_UP);
	assert_int_equal(keylab_wrong(&l), 0);
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

/* ------------------------------------------------------------ foreign keys */

static void
open_with_foreign(struct keylab *l, const char *spec, bool is_switch,
		  uint8_t level, uint32_t *port)
{
	struct snapshot *s = generate_fabric(spec, NULL, NULL);
	struct keylab find = { .s = s };

	assert_non_null(s);
	*port = is_switch ? keylab_switch(&find, 4) : keylab_host(&find, 5);
	s->ports[*port].known = true;
	s->ports[*port].info.m_key = FOREIGN;
	s->ports[*port].info.m_key_protect = level;
	keylab_open_fabric(l, s);
}

static void
test_foreign_host_is_named_and_the_rest_works(void **state)
{
	static const struct keylab_keys *const all[] = {
		&one_a, &each_a, &no_keys,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		for (uint8_t level = 1; level < 4; level++) {
			g_autofree char *where = NULL;
			struct keylab l;
			uint32_t host;

			open_with_foreign(&l, TREE, false, level, &host);
			keylab_start(&l, all[i], KEYLAB_REMEMBERS);
			assert_true(keylab_wait_ends(&l, 1, 20 * SECOND));
			assert_int_equal(l.last, SWEEP_END_NOT_UP);
			assert_int_equal(keylab_lost(&l, host), 0);
			assert_true(sim_port_info(l.sim, host)->m_key ==
				    FOREIGN);
			assert_true(keylab_complains(&l,
						     "M_Key is not ours"));
			/* the port, or where it hangs */
			where = g_strdup_printf("%s (0x%016" PRIx64 ")",
				snapshot_node_of(l.s, level > 1 ?
				l.s->ports[host].peer : host)->desc,
				snapshot_node_of(l.s, level > 1 ?
				l.s->ports[host].peer : host)->
				info.node_guid);
			assert_true(keylab_complains(&l, where));
			keylab_close(&l);
		}
}

/* Level 0 shows the key to everybody: it is used, and replaced. */
static void
test_key_that_a_port_shows_is_used(void **state)
{
	struct keylab l;
	uint32_t host;

	open_with_foreign(&l, TREE, false, 0, &host);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_clean(&l);
	keylab_close(&l);
	open_with_foreign(&l, TREE, true, 0, &host);
	keylab_start(&l, &no_keys, KEYLAB_REMEMBERS);
	assert_clean(&l);
	keylab_close(&l);
}

static void
test_foreign_switch_is_cut_off_and_the_rest_works(void **state)
{
	for (uint8_t level = 1; level < 3; level++) {
		uint32_t port, host;
		struct keylab l;

		/* a spine: there is another one */
		open_with_foreign(&l, TREE, true, level, &port);
		keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
		/* at level 1 it shows only when it is told something */
		assert_true(keylab_wait_ends(&l, 3, 60 * SECOND));
		assert_int_equal(l.last, SWEEP_END_NOT_UP);
		assert_true(keylab_complains(&l, "M_Key is not ours"));
		assert_int_equal(keylab_lost(&l, NONE), 0);
		assert_true(sim_port_info(l.sim, port)->m_key == FOREIGN);
		for (unsigned i = 0; i < 15; i++) {
			host = keylab_host(&l, i);
			assert_true(keylab_has_key(&l, host));
		}
		keylab_close(&l);
	}
}

/* A cable between switches. */
static uint32_t
trunk(const struct keylab *l)
{
	for (uint32_t port = 0; port < l->s->n_ports; port++) {
		uint32_t peer = l->s->ports[port].peer;

		if (peer != NONE &&
		    snapshot_is_switch(snapshot_node_of(l->s, port)) &&
		    snapshot_is_switch(snapshot_node_of(l->s, peer)))
			return port;
	}
	fail();
	return NONE;
}

/* A host that was silent and is well again is found, if not at once. */
static void
test_host_that_gives_up_its_foreign_key_is_found(void **state)
{
	struct keylab l;
	uint32_t host;

	open_with_foreign(&l, TREE, false, 2, &host);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_ends(&l, 1, 20 * SECOND));
	sim_node_reset(l.sim, l.s->ports[host].node);
	assert_true(keylab_wait_up(&l, 25 * SECOND));
	assert_int_equal(keylab_wrong(&l), 0);
	assert_int_equal(keylab_lost(&l, NONE), 0);
	keylab_close(&l);
}

/* Its own time-outs, all keys that it is tried with together, and no more. */
static void
test_foreign_host_holds_nobody_up(void **state)
{
	static const char big[] = "PGFT(18,36;1,18)";	/* 648 hosts */
	int64_t took[2];
	struct keylab l;
	uint32_t host;

	bring_up(&l, big, &each_a);
	took[0] = l.took;
	keylab_close(&l);
	open_with_foreign(&l, big, false, 2, &host);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_ends(&l, 1, 20 * SECOND));
	took[1] = l.took;
	assert_int_equal(l.last, SWEEP_END_NOT_UP);
	assert_int_equal(l.lines->len, 1);
	print_message("# 648 hosts: %.1f ms, one of them foreign: %.1f ms\n",
		      (double)took[0] / 1000, (double)took[1] / 1000);
	assert_true(took[1] - took[0] < 4 * 200 * 1000 + 50 * 1000);
	/* Who is known to be silent is not waited for when a cable goes. */
	sim_link_cut(l.sim, trunk(&l));
	assert_true(keylab_wait_ends(&l, 1, SECOND));
	assert_int_equal(l.lines->len, 1);
	assert_int_equal(keylab_lost(&l, host), 0);
	print_message("# a cable is pulled: %.1f ms\n", (double)l.took / 1000);
	assert_true(l.took < 50 * 1000);
	keylab_close(&l);
}

/* --------------------------------------------------------- traps and leases */

static void
try_wrong_key(struct keylab *l, uint32_t port)
{
	struct transport *t = sim_attach(l->sim, l->s->local_port,
					 SIM_ROLE_CLIENT);
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	assert_true(snapshot_path(l->s, port, &path));
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, FOREIGN,
			 &path);
	assert_true(transport_send(t, &to, mad, MAD_SIZE, 100, NULL));
	sim_run(l->sim, sim_now(l->sim) + 1000);
	transport_free(t);
}

/* TrapRepress renews it, too; but the trap may never come. */
static void
test_lease_is_renewed_in_time(void **state)
{
	const struct sim_rule no_traps = {
		.match = { .node = SIM_ANY, .method = MAD_METHOD_TRAP },
		.kind = SIM_FAULT_LOSS, .per_mille = 1000,
	};
	struct keylab_keys keys = each_a;
	struct keylab l;
	uint32_t port;

	keys.lease = 25;
	for (unsigned is_switch = 0; is_switch < 2; is_switch++) {
		bring_up(&l, TREE, &keys);
		port = is_switch ? keylab_switch(&l, 2) : keylab_host(&l, 7);
		sim_run(l.sim, sim_now(l.sim) + SECOND);
		sim_rule_add(l.sim, &no_traps);
		try_wrong_key(&l, port);
		assert_int_equal(keylab_violations(&l), 1);
		sim_run(l.sim, sim_now(l.sim) + 60 * SECOND);
		/* were the protection off, this would be none */
		try_wrong_key(&l, port);
		assert_int_equal(keylab_violations(&l), 2);
		assert_int_equal(l.ends, 1);
		keylab_close(&l);
	}
}

/* TrapRepress needs the key, or the trap goes on and trap 256 joins it. */
static void
test_trap_of_a_protected_port_is_repressed(void **state)
{
	struct keylab l;
	uint64_t traps;

	bring_up(&l, TREE, &each_a);
	traps = sim_stats(l.sim)->traps;
	sim_node_describe(l.sim, l.s->ports[keylab_host(&l, 6)].node, "new");
	sim_node_describe(l.sim, l.s->ports[keylab_switch(&l, 1)].node, "nu");
	sim_run(l.sim, sim_now(l.sim) + 9 * SECOND);
	assert_int_equal(sim_stats(l.sim)->traps - traps, 2);
	assert_int_equal(keylab_violations(&l), 0);
	keylab_close(&l);
}

/* ----------------------------------------------------------------- secrets */

static void
assert_not_in(const char *text, uint64_t key)
{
	g_autofree char *hex = g_strdup_printf("%" PRIx64, key);
	g_autofree char *decimal = g_strdup_printf("%" PRIu64, key);

	if (strstr(text, hex) || strstr(text, decimal))
		fail_msg("the log holds a key");
}

static void
test_log_holds_no_key(void **state)
{
	g_autofree char *path = NULL, *text = NULL;
	struct mkey_db *a, *b;
	struct keylab l;
	uint32_t host;

	open_with_foreign(&l, TREE, false, 2, &host);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_ends(&l, 2, 60 * SECOND));
	try_wrong_key(&l, keylab_host(&l, 2));
	restart(&l, &each_b, KEYLAB_REMEMBERS);
	assert_true(keylab_wait_ends(&l, 2, 60 * SECOND));
	path = g_build_filename(l.dir, "log", NULL);
	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	assert_non_null(strstr(text, "M_Key"));
	a = mkey_db_new(SEED_A, MKEY_DB_PER_PORT);
	b = mkey_db_new(SEED_B, MKEY_DB_PER_PORT);
	assert_not_in(text, SEED_A);
	assert_not_in(text, SEED_B);
	assert_not_in(text, FOREIGN);
	for (uint32_t p = 0; p < l.s->n_ports; p++) {
		if (!snapshot_is_end_port(l.s, p))
			continue;
		assert_not_in(text, mkey_db_wanted(a, l.s->ports[p].guid));
		assert_not_in(text, mkey_db_wanted(b, l.s->ports[p].guid));
	}
	mkey_db_free(a);
	mkey_db_free(b);
	keylab_close(&l);
}

static void
assert_mode(const struct keylab *l, const char *name)
{
	g_autofree char *path = g_build_filename(l->dir, name, NULL);
	GStatBuf st;

	assert_int_equal(g_stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void
test_files_are_for_their_owner(void **state)
{
	g_autofree char *path = NULL;
	struct keylab l;

	bring_up(&l, TREE, &each_a);
	assert_mode(&l, "guid2mkey");
	assert_mode(&l, "neighbors");
	/* somebody has opened it, and nothing is written any more */
	path = g_build_filename(l.dir, "guid2mkey", NULL);
	keylab_stop(&l);
	assert_int_equal(g_chmod(path, 0644), 0);
	keylab_start(&l, &each_a, KEYLAB_REMEMBERS);
	assert_clean(&l);
	assert_mode(&l, "guid2mkey");
	keylab_close(&l);
}

static void
test_no_keys_leave_no_files(void **state)
{
	g_autofree char *path = NULL;
	struct keylab l;

	bring_up(&l, TREE, &no_keys);
	path = g_build_filename(l.dir, "guid2mkey", NULL);
	assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	keylab_close(&l);
}

static void
test_damaged_file_is_set_aside(void **state)
{
	g_autofree char *path = NULL, *aside = NULL;
	struct keylab l;

	keylab_open(&l, TREE);
	path = g_build_filename(l.dir, "guid2mkey", NULL);
	aside = g_strconcat(path, ".damaged", NULL);
	assert_true(g_file_set_contents(path, "0x1 nonsense\n", -1, NULL));
	keylab_start(&l, &one_a, KEYLAB_REMEMBERS);
	assert_clean(&l);
	assert_true(g_file_test(aside, G_FILE_TEST_EXISTS));
	assert_mode(&l, "guid2mkey");
	assert_mode(&l, "guid2mkey.damaged");
	keylab_close(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fabric_from_scratch_gets_its_keys),
		cmocka_unit_test(test_key_is_stored_before_it_is_sent),
		cmocka_unit_test(test_each_port_has_its_own_key),
		cmocka_unit_test(test_restart_with_the_memory),
		cmocka_unit_test(test_restart_without_the_memory),
		cmocka_unit_test(test_lease_is_the_way_back_in),
		cmocka_unit_test(test_changed_key_with_the_memory),
		cmocka_unit_test(test_crash_while_keys_change_locks_nobody_out),
		cmocka_unit_test(test_change_of_keys_on_a_lossy_fabric),
		cmocka_unit_test(test_lost_answers_are_tried_with_both_keys),
		cmocka_unit_test(test_power_cycled_host_gets_its_key_back),
		cmocka_unit_test(test_reset_switch_gets_its_key_back),
		cmocka_unit_test(test_cables_that_moved_while_nobody_looked),
		cmocka_unit_test(test_cable_that_moves_while_we_run),
		cmocka_unit_test(test_foreign_host_is_named_and_the_rest_works),
		cmocka_unit_test(test_key_that_a_port_shows_is_used),
		cmocka_unit_test(
			test_foreign_switch_is_cut_off_and_the_rest_works),
		cmocka_unit_test(test_foreign_host_holds_nobody_up),
		cmocka_unit_test(
			test_host_that_gives_up_its_foreign_key_is_found),
		cmocka_unit_test(test_lease_is_renewed_in_time),
		cmocka_unit_test(test_trap_of_a_protected_port_is_repressed),
		cmocka_unit_test(test_log_holds_no_key),
		cmocka_unit_test(test_files_are_for_their_owner),
		cmocka_unit_test(test_no_keys_leave_no_files),
		cmocka_unit_test(test_damaged_file_is_set_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
