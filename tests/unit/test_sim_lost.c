// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sets that are done and never acknowledged: what a device holds is then
 * something else than what it held when it was last read, and who changes his
 * mind in the meantime must not be told that nothing is to be done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "sm/sim/state.h"
#include "sm/sim/table.h"
#include "tests/lib/world.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)
#define RED	0x0001

struct bench {
	struct world w;
	struct world_params params;
	struct partition_rules *plain, *red;	/* with one member more */
	uint32_t host, gate;
	enum mad_attr lost;		/* answers to Sets of this, */
	uint32_t from;			/* by this node, or SIM_ANY */
	unsigned n_lost;
};

static void
add_rule(struct partition_rules *rules, uint16_t pkey, enum partition_who who,
	 uint64_t guid, enum partition_membership membership)
{
	const struct partition_rule rule = {
		.who = who, .guid = guid, .membership = membership,
	};

	g_array_append_val(partition_rules_get(rules, pkey)->rules, rule);
}

static bool
lose(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct bench *b = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (h.attr_id != b->lost ||
	    (b->from != SIM_ANY && b->from != node))
		return true;
	b->n_lost++;
	return false;
}

static void
settle(struct bench *b, enum sweep_end end)
{
	assert_true(world_settle(&b->w, 60 * SECOND));
	assert_int_equal(b->w.m.last, end);
}

static void
bench_open(struct bench *b, const char *spec)
{
	memset(b, 0, sizeof(*b));
	b->plain = partition_rules_new();
	add_rule(b->plain, PKEY_DEFAULT, PARTITION_ALL, 0, PARTITION_LIMITED);
	add_rule(b->plain, PKEY_DEFAULT, PARTITION_SELF, 0, PARTITION_FULL);
	b->params = (struct world_params){
		.spec = spec, .seed = 11, .engine = "auto", .sweep_s = 1,
		.isolation = {
			.rules = b->plain,
			.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT,
		},
	};
	world_open(&b->w, &b->params);
	settle(b, SWEEP_END_UP);
	for (uint32_t port = 0; port < b->w.s->n_ports; port++)
		if (b->w.s->ports[port].num == 1 && port != b->w.m.port &&
		    !snapshot_is_switch(snapshot_node_of(b->w.s, port)))
			b->host = port;
	b->gate = b->w.s->ports[b->host].peer;
	b->red = partition_rules_copy(b->plain);
	add_rule(b->red, RED, PARTITION_GUID, b->w.s->ports[b->host].guid,
		 PARTITION_FULL);
}

static void
bench_close(struct bench *b)
{
	world_close(&b->w);
	partition_rules_unref(b->plain);
	partition_rules_unref(b->red);
}

static void
use_rules(struct bench *b, struct partition_rules *rules)
{
	sweep_set_partitions(b->w.m.sweep, rules);
	sweep_request(b->w.m.sweep, SWEEP_CAUSE_PARTITIONS);
}

/* What a person's sweep reads is what was believed: nothing is sent. */
static void
assert_memory_is_good(struct bench *b)
{
	uint64_t sets = mad_client_stats(b->w.m.x)->sent_set;

	sweep_request(b->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	settle(b, SWEEP_END_UP);
	assert_int_equal(mad_client_stats(b->w.m.x)->sent_set - sets, 0);
}

static void
test_key_that_was_taken_back_is_taken_back(void **state)
{
	for (unsigned at_gate = 0; at_gate < 2; at_gate++) {
		struct bench b;
		uint32_t port;

		bench_open(&b, "PGFT(3,3;1,2)");
		port = at_gate ? b.gate : b.host;
		b.lost = MAD_ATTR_PKEY_TABLE;
		b.from = b.w.s->ports[port].node;
		sim_set_liar(b.w.sim, lose, &b);
		use_rules(&b, b.red);
		settle(&b, SWEEP_END_NOT_UP);
		assert_true(b.n_lost > 0);
		assert_true(sim_table_has_pkey(b.w.sim, port,
					       RED | PKEY_FULL));
		sim_set_liar(b.w.sim, NULL, NULL);
		use_rules(&b, b.plain);
		settle(&b, SWEEP_END_UP);
		assert_false(sim_table_has_pkey(b.w.sim, b.host,
						RED | PKEY_FULL));
		assert_false(sim_table_has_pkey(b.w.sim, b.gate,
						RED | PKEY_FULL));
		assert_memory_is_good(&b);
		bench_close(&b);
	}
}

/* Everybody is silent: what is asked behind the first one is called off, and
 * may have been done as well. */
static void
test_keys_of_calls_that_were_called_off_are_taken_back(void **state)
{
	struct bench b;

	bench_open(&b, "PGFT(3,3;1,2)");
	for (uint32_t port = 0; port < b.w.s->n_ports; port++)
		if (snapshot_is_end_port(b.w.s, port))
			add_rule(b.red, RED, PARTITION_GUID,
				 b.w.s->ports[port].guid, PARTITION_FULL);
	b.lost = MAD_ATTR_PKEY_TABLE;
	b.from = SIM_ANY;
	sim_set_liar(b.w.sim, lose, &b);
	use_rules(&b, b.red);
	settle(&b, SWEEP_END_NOT_UP);
	sim_set_liar(b.w.sim, NULL, NULL);
	use_rules(&b, b.plain);
	settle(&b, SWEEP_END_UP);
	for (uint32_t port = 0; port < b.w.s->n_ports; port++)
		if (snapshot_is_end_port(b.w.s, port))
			assert_false(sim_table_has_pkey(b.w.sim, port,
							RED | PKEY_FULL));
	assert_memory_is_good(&b);
	bench_close(&b);
}

/* A cable comes back, and the tables of before would do again. */
static void
test_route_that_was_taken_back_is_taken_back(void **state)
{
	struct bench b;
	uint32_t spine = SNAPSHOT_NONE;

	bench_open(&b, "PGFT(3,6;1,3)");
	for (unsigned num = 1; num <= snapshot_node_of(b.w.s, b.gate)->
	     info.num_ports; num++) {
		uint32_t port = snapshot_node_of(b.w.s, b.gate)->first_port +
			num;
		uint32_t peer = b.w.s->ports[port].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(b.w.s, peer)))
			spine = port;
	}
	assert_int_not_equal(spine, SNAPSHOT_NONE);
	b.lost = MAD_ATTR_LINEAR_FT;
	b.from = SIM_ANY;
	sim_set_liar(b.w.sim, lose, &b);
	sim_link_cut(b.w.sim, spine);
	settle(&b, SWEEP_END_NOT_UP);
	assert_true(b.n_lost > 0);
	sim_set_liar(b.w.sim, NULL, NULL);
	sim_link_mend(b.w.sim, spine);
	settle(&b, SWEEP_END_UP);
	assert_memory_is_good(&b);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_that_was_taken_back_is_taken_back),
		cmocka_unit_test(
			test_keys_of_calls_that_were_called_off_are_taken_back),
		cmocka_unit_test(test_route_that_was_taken_back_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
