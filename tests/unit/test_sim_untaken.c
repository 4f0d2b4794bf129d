// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sets that are acknowledged and not taken: a device that is being reset, or
 * one that never takes them. Addresses are sent until they are taken, and the
 * fabric is not up before; keys are tried in each heavy sweep, and told; the
 * rest is given up after three sweeps. Judged by what the devices hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/key_lab.h"
#include "tests/lib/world.h"

static const struct keylab_keys no_keys;

static void
test_late_devices_get_their_addresses(void **state)
{
	static const char *const specs[] = {
		"PGFT(4,4;1,4)", "torus(3,3;2)", "ring(6;2)", "single(8)",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		const struct world_params params = {
			.spec = specs[i], .seed = 5, .engine = "auto",
			.sweep_s = 10,
		};
		unsigned pairs, mixed;
		struct world w;

		world_open(&w, &params);
		sim_forget_sets(w.sim, 400 * 1000);
		/* long before the next light sweep */
		sim_run(w.sim, sim_now(w.sim) + 2 * SECOND);
		assert_int_equal(w.m.last, SWEEP_END_UP);
		assert_int_equal(world_unreached(&w, &pairs, &mixed), 0);
		for (uint32_t port = 0; port < w.s->n_ports; port++) {
			const struct port_info *info =
				sim_port_info(w.sim, port);

			if (!snapshot_is_end_port(w.s, port))
				continue;
			assert_int_not_equal(info->lid, 0);
			assert_int_not_equal(info->sm_lid, 0);
			assert_int_equal(info->gid_prefix,
					 policy_default.gid_prefix);
		}
		world_close(&w);
	}
}

/* One port's answers show these fields as they were at first. */
struct liar {
	const struct snapshot *s;
	uint32_t port;
	unsigned fields;
};

static bool
lie(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	const struct liar *l = data;
	struct port_info info;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (h.attr_id != MAD_ATTR_PORT_INFO || h.status ||
	    node != l->s->ports[l->port].node)
		return true;
	port_info_decode(smp_data(answer), &info);
	if (l->fields & PORT_FIELD_LID)
		info.lid = 0;
	if (l->fields & PORT_FIELD_SM_LID)
		info.sm_lid = 0;
	if (l->fields & PORT_FIELD_GID_PREFIX)
		info.gid_prefix = 0;
	if (l->fields & PORT_FIELD_M_KEY)
		info.m_key = 0;
	if (l->fields & PORT_FIELD_MTU)
		info.neighbor_mtu = 1;
	port_info_encode(smp_data(answer), &info);
	return true;
}

/* The manager, and a host that does not take `fields`. */
static void
bench_open(struct keylab *l, struct liar *liar, unsigned fields,
	   const struct keylab_keys *keys)
{
	keylab_open(l, "PGFT(3,3;1,2)");
	*liar = (struct liar){ l->s, keylab_host(l, 0), fields };
	sim_set_liar(l->sim, lie, liar);
	keylab_start(l, keys, KEYLAB_REMEMBERS);
}

static void
test_missing_address_is_named_and_sent_until_taken(void **state)
{
	static const unsigned fields[] = {
		PORT_FIELD_LID, PORT_FIELD_SM_LID, PORT_FIELD_GID_PREFIX,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		g_autofree char *name = NULL, *told = NULL;
		struct keylab l;
		struct liar liar;
		unsigned ends;

		bench_open(&l, &liar, fields[i], &no_keys);
		name = g_strdup_printf("%s (0x",
				       snapshot_node_of(l.s, liar.port)->desc);
		told = g_strdup_printf("port %u has not taken its %s",
				       l.s->ports[liar.port].num,
				       port_field_name(fields[i]));
		assert_true(keylab_wait_ends(&l, 4, SECOND));
		assert_int_equal(l.last, SWEEP_END_NOT_UP);
		assert_true(keylab_complains(&l, name));
		assert_true(keylab_complains(&l, told));
		/* less and less often, but for ever */
		ends = l.ends;
		sim_run(l.sim, sim_now(l.sim) + 100 * SECOND);
		assert_in_range(l.ends - ends, 9, 20);
		assert_int_equal(l.last, SWEEP_END_NOT_UP);
		liar.fields = 0;
		assert_true(keylab_wait_up(&l, 11 * SECOND));
		ends = l.ends;
		sim_run(l.sim, sim_now(l.sim) + 30 * SECOND);
		assert_int_equal(l.ends, ends);
		keylab_close(&l);
	}
}

/* The pace is that of addresses, not of whatever comes after. */
static void
test_sweeps_that_fail_keep_their_own_pace(void **state)
{
	struct keylab l;
	struct liar liar;
	unsigned ends;

	bench_open(&l, &liar, PORT_FIELD_LID, &no_keys);
	assert_true(keylab_wait_ends(&l, 2, SECOND));
	sim_link_cut(l.sim, l.s->local_port);
	assert_true(keylab_wait_ends(&l, 1, 5 * SECOND));
	assert_int_equal(l.last, SWEEP_END_FAILED);
	ends = l.ends;
	sim_run(l.sim, sim_now(l.sim) + 35 * SECOND);
	assert_in_range(l.ends - ends, 3, 4);
	keylab_close(&l);
}

/* How many Sets a heavy sweep sends. */
static unsigned
sets_of_sweep(struct keylab *l, enum sweep_cause cause)
{
	uint64_t sets = mad_client_stats(l->x)->sent_set;

	sweep_request(l->sweep, cause);
	assert_true(keylab_wait_ends(l, 1, SECOND));
	assert_int_equal(l->last, SWEEP_END_UP);
	return (unsigned)(mad_client_stats(l->x)->sent_set - sets);
}

static void
test_key_that_is_not_in_force_is_told_and_tried_again(void **state)
{
	static const struct keylab_keys keys = { .m_key = 0x1234 };
	struct keylab l;
	struct liar liar;

	bench_open(&l, &liar, PORT_FIELD_M_KEY, &keys);
	assert_true(keylab_wait_up(&l, SECOND));
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(l.warnings->len, 1);
		assert_non_null(strstr(l.warnings->pdata[0],
				       "M_Key is not in force on "));
		assert_non_null(strstr(l.warnings->pdata[0],
				       snapshot_node_of(l.s, liar.port)->desc));
		assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_LIGHT), 1);
	}
	liar.fields = 0;
	assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_LIGHT), 0);
	assert_int_equal(l.warnings->len, 0);
	keylab_close(&l);
}

/* A key that is hidden from the answer is not missing. */
static void
test_hidden_key_is_not_told(void **state)
{
	static const struct keylab_keys keys[] = {
		{ .m_key = 0x1234, .protect = 1 },
		{ .m_key = 0x9876, .protect = 1 },
	};
	struct keylab l;

	keylab_open(&l, "PGFT(3,3;1,2)");
	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
		keylab_start(&l, &keys[i], KEYLAB_REMEMBERS);
		assert_true(keylab_wait_up(&l, 10 * SECOND));
		assert_int_equal(keylab_wrong(&l), 0);
		assert_int_equal(l.warnings->len, 0);
		keylab_stop(&l);
	}
	keylab_close(&l);
}

/* Sent in three sweeps, then not, and again when something has changed. */
static void
assert_given_up(struct keylab *l, unsigned sent)
{
	while (sent++ < 3)
		assert_int_equal(sets_of_sweep(l, SWEEP_CAUSE_LIGHT), 1);
	assert_int_equal(sets_of_sweep(l, SWEEP_CAUSE_LIGHT), 0);
	assert_int_equal(sets_of_sweep(l, SWEEP_CAUSE_LIGHT), 0);
}

static void
test_other_field_is_given_up_after_three_sweeps(void **state)
{
	struct keylab l;
	struct liar liar;

	bench_open(&l, &liar, PORT_FIELD_MTU, &no_keys);
	assert_true(keylab_wait_up(&l, SECOND));
	assert_int_equal(l.warnings->len, 0);
	assert_given_up(&l, 1);
	assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_SIGNAL), 1);
	assert_given_up(&l, 1);
	/* taken in between: three in a row are meant */
	assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_SIGNAL), 1);
	assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_LIGHT), 1);
	liar.fields = 0;
	assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_LIGHT), 0);
	liar.fields = PORT_FIELD_MTU;
	assert_given_up(&l, 0);
	/* the link of the switch before it goes and comes */
	sim_link_cut(l.sim, liar.port);
	assert_true(keylab_wait_up(&l, SECOND));
	sim_link_mend(l.sim, liar.port);
	assert_true(keylab_wait_up(&l, SECOND));
	sim_run(l.sim, sim_now(l.sim) + SECOND);
	assert_int_equal(sets_of_sweep(&l, SWEEP_CAUSE_LIGHT), 1);
	keylab_close(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_devices_get_their_addresses),
		cmocka_unit_test(
			test_missing_address_is_named_and_sent_until_taken),
		cmocka_unit_test(test_sweeps_that_fail_keep_their_own_pace),
		cmocka_unit_test(
			test_key_that_is_not_in_force_is_told_and_tried_again),
		cmocka_unit_test(test_hidden_key_is_not_told),
		cmocka_unit_test(
			test_other_field_is_given_up_after_three_sweeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
