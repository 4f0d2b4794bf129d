// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * pkey_table.h promises: a port's table has the P_Keys of its memberships and
 * no others, what stays wanted stays where it is, index 0 has the key that
 * belongs there, and a switch enforces the same partitions or none. The
 * fabric is one switch with four CAs and a second switch; tables hold what
 * the test says.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/plan/pkey_table.h"
#include "tests/lib/auto.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/builder.h"
#include "topology/generate.h"
#include "topology/prng.h"

#define BOTH_WAYS	(PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT)
#define N_HOSTS		4u
#define CAP		40u	/* one block and a piece of the next */

struct lab {
	struct snapshot *s;
	struct partition_rules *rules;
	struct port_tables *held, *wanted;
	uint8_t *enforce;
	GPtrArray *problems;
	uint32_t host[N_HOSTS], guard[N_HOSTS];
	uint32_t trunk;		/* the switch's port to the other switch */
};

static uint32_t
add_switch(struct builder *b, uint64_t guid)
{
	struct node_info info = {
		.node_guid = guid, .port_guid = guid, .partition_cap = 8,
		.node_type = NODE_SWITCH, .num_ports = 8,
	};
	uint32_t sw = builder_add(b, &info);

	builder_node_at(b, sw)->sw_known = true;
	builder_node_at(b, sw)->sw.partition_enforcement_cap = CAP;
	builder_node_at(b, sw)->sw.enforce_inbound = true;
	builder_node_at(b, sw)->sw.enforce_outbound = true;
	builder_port_at(b, builder_port(b, sw, 0))->known = true;
	return sw;
}

static struct snapshot *
make_fabric(void)
{
	struct builder *b = builder_new();
	uint32_t sw = add_switch(b, 0x100);
	uint32_t other = add_switch(b, 0x200);

	for (unsigned i = 0; i < N_HOSTS; i++) {
		struct node_info info = {
			.node_guid = 0x1000 + 16 * i,
			.port_guid = 0x1001 + 16 * i, .partition_cap = CAP,
			.node_type = NODE_CA, .num_ports = 1, .local_port = 1,
		};
		uint32_t port = builder_port(b, builder_add(b, &info), 1);

		builder_port_at(b, port)->known = true;
		builder_link(b, port, builder_port(b, sw, i + 1));
		if (i == 0)
			builder_set_local(b, port);
	}
	builder_link(b, builder_port(b, sw, 8), builder_port(b, other, 1));
	return builder_finish(b);
}

static int
set_up(void **state)
{
	struct lab *lab = g_new0(struct lab, 1);

	lab->s = make_fabric();
	lab->rules = partition_rules_new();
	lab->held = port_tables_new(lab->s);
	lab->enforce = g_new0(uint8_t, lab->s->n_ports);
	lab->problems = g_ptr_array_new_with_free_func(g_free);
	for (unsigned i = 0; i < N_HOSTS; i++) {
		lab->host[i] = snapshot_find_port(lab->s, 0x1001 + 16 * i);
		lab->guard[i] = lab->s->ports[lab->host[i]].peer;
	}
	lab->trunk = snapshot_port_of(lab->s, snapshot_find_node(lab->s, 0x100),
				    8);
	*state = lab;
	return 0;
}

static int
tear_down(void **state)
{
	struct lab *lab = *state;

	port_tables_unref(lab->held);
	port_tables_unref(lab->wanted);
	partition_rules_unref(lab->rules);
	snapshot_unref(lab->s);
	g_ptr_array_unref(lab->problems);
	g_free(lab->enforce);
	g_free(lab);
	return 0;
}

static struct partition *
admit(struct lab *lab, uint16_t pkey, unsigned host,
      enum partition_membership membership)
{
	struct partition *p = partition_rules_get(lab->rules, pkey);
	struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = 0x1001 + 16 * host,
		.membership = membership,
	};

	g_array_append_val(p->rules, rule);
	return p;
}

static void
hold(struct port_tables *t, uint32_t port, unsigned block,
     const uint16_t *pkeys, unsigned n)
{
	union port_block b = { 0 };

	memcpy(b.pkeys, pkeys, n * sizeof(*pkeys));
	port_tables_set(t, PORT_TABLE_PKEY, port, block, &b);
}

static void
want(struct lab *lab, unsigned enforce)
{
	AUTO(memberships) *m = memberships_new(lab->rules, lab->s, NULL);

	port_tables_unref(lab->wanted);
	lab->wanted = port_tables_new(lab->s);
	memset(lab->enforce, 0xee, lab->s->n_ports);
	g_ptr_array_set_size(lab->problems, 0);
	pkey_table_want(lab->s, lab->rules, m, lab->held, enforce, lab->wanted,
		   lab->enforce, lab->problems);
}

static uint16_t
key_at(const struct port_tables *t, uint32_t port, unsigned index)
{
	const union port_block *b = port_tables_get(t, PORT_TABLE_PKEY, port,
						    index / PKEYS_A_BLOCK);

	return b ? b->pkeys[index % PKEYS_A_BLOCK] : 0;
}

/* The table has these keys at its beginning and nothing behind them. */
static void
assert_table(const struct lab *lab, uint32_t port, const uint16_t *pkeys,
	     unsigned n)
{
	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     port_tables_blocks(lab->wanted, PORT_TABLE_PKEY, port); i++)
		assert_int_equal(key_at(lab->wanted, port, i),
				 i < n ? pkeys[i] : 0);
}

#define TABLE(lab, port, ...) \
	assert_table(lab, port, (const uint16_t[]){ __VA_ARGS__ }, \
		     G_N_ELEMENTS(((const uint16_t[]){ __VA_ARGS__ })))
#define HOLD(lab, port, ...) \
	hold((lab)->held, port, 0, (const uint16_t[]){ __VA_ARGS__ }, \
	     G_N_ELEMENTS(((const uint16_t[]){ __VA_ARGS__ })))

static const char *
problem(const struct lab *lab, guint i)
{
	assert_true(i < lab->problems->len);
	return lab->problems->pdata[i];
}

#define LAB_TEST(name) \
	TEST_WITH(name, struct lab *lab, set_up, tear_down)

LAB_TEST(test_default_rules_enforce_nothing)
{
	partition_rules_unref(lab->rules);
	lab->rules = partition_rules_default();
	want(lab, BOTH_WAYS);
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		assert_int_equal(lab->enforce[port], 0);
		if (snapshot_is_end_port(lab->s, port))
			TABLE(lab, port, 0xffff);
	}
	for (unsigned i = 0; i < N_HOSTS; i++)
		assert_null(port_tables_get(lab->wanted, PORT_TABLE_PKEY,
					    lab->guard[i], 0));
	assert_int_equal(lab->problems->len, 0);
}

/* Two partitions are not the built-in rule, nor is one that leaves somebody
 * out. */
TEST(test_default_rules_are_recognized)
{
	struct partition_rules *rules = partition_rules_default();
	struct partition *p = partition_rules_get(rules, PKEY_DEFAULT);
	struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = 0x1001,
		.membership = PARTITION_LIMITED,
	};

	assert_true(pkey_table_are_default(rules));
	g_array_append_val(p->rules, rule);
	assert_false(pkey_table_are_default(rules));
	g_array_set_size(p->rules, 1);
	partition_rules_get(rules, 1);
	assert_false(pkey_table_are_default(rules));
	partition_rules_unref(rules);
	rules = partition_rules_new();
	assert_false(pkey_table_are_default(rules));
	p = partition_rules_get(rules, 1);
	rule.who = PARTITION_ALL;
	rule.membership = PARTITION_FULL;
	g_array_append_val(p->rules, rule);
	assert_false(pkey_table_are_default(rules));
	partition_rules_unref(rules);
}

LAB_TEST(test_held_keys_keep_their_index)
{
	admit(lab, PKEY_DEFAULT, 0, PARTITION_FULL);
	admit(lab, 0x10, 0, PARTITION_FULL);
	admit(lab, 0x20, 0, PARTITION_FULL);
	admit(lab, 0x30, 0, PARTITION_LIMITED);
	/* 0x8030 is another key than 0x0030, 0x8040 nobody's, 0x8020 there
	 * twice; 0x8000 and 0x0000 are none. */
	HOLD(lab, lab->host[0], 0xffff, 0x8030, 0x8020, 0x8040, 0x8020,
	     0x8000, 0, 0x8010);
	want(lab, 0);
	TABLE(lab, lab->host[0], 0xffff, 0x0030, 0x8020, 0, 0, 0, 0, 0x8010);
}

LAB_TEST(test_new_keys_take_the_lowest_free_places)
{
	admit(lab, PKEY_DEFAULT, 1, PARTITION_LIMITED);
	for (unsigned i = 1; i <= 4; i++)
		admit(lab, (uint16_t)i, 1, PARTITION_FULL);
	HOLD(lab, lab->host[1], 0x7fff, 0x9999, 0x8002);
	want(lab, 0);
	TABLE(lab, lab->host[1], 0x7fff, 0x8001, 0x8002, 0x8003, 0x8004);
}

LAB_TEST(test_default_partition_is_first)
{
	admit(lab, PKEY_DEFAULT, 0, PARTITION_LIMITED);
	admit(lab, PKEY_DEFAULT, 1, PARTITION_BOTH);
	for (unsigned i = 0; i < 2; i++) {
		admit(lab, 0x10, i, PARTITION_FULL);
		HOLD(lab, lab->host[i], 0x8010, 0x7fff);
	}
	admit(lab, 0x10, 2, PARTITION_FULL);
	HOLD(lab, lab->host[2], 0, 0x8010);
	want(lab, 0);
	TABLE(lab, lab->host[0], 0x7fff, 0x8010);
	/* 0x7fff stays where it is, so the one that had to go comes behind. */
	TABLE(lab, lab->host[1], 0xffff, 0x7fff, 0x8010);
	/* In no default partition: index 0 is like any other. */
	TABLE(lab, lab->host[2], 0, 0x8010);
}

LAB_TEST(test_index0_comes_before_the_default_partition)
{
	admit(lab, PKEY_DEFAULT, 0, PARTITION_FULL);
	admit(lab, PKEY_DEFAULT, 1, PARTITION_FULL);
	admit(lab, 0x30, 0, PARTITION_FULL)->index0 = true;
	HOLD(lab, lab->host[0], 0xffff, 0x8030);
	want(lab, 0);
	TABLE(lab, lab->host[0], 0x8030, 0xffff);
	TABLE(lab, lab->host[1], 0xffff);
	assert_false(strstr(problem(lab, 0), "index 0"));
}

LAB_TEST(test_lowest_of_two_index0_wins_and_it_is_said)
{
	admit(lab, PKEY_DEFAULT, 0, PARTITION_FULL);
	for (unsigned i = 0; i < N_HOSTS; i++) {
		admit(lab, 0x40, i, PARTITION_FULL)->index0 = true;
		admit(lab, 0x50, i, PARTITION_FULL);
	}
	admit(lab, 0x30, 1, PARTITION_BOTH)->index0 = true;
	admit(lab, 0x30, 2, PARTITION_LIMITED);
	partition_rules_get(lab->rules, 0x40)->name = g_strdup("late");
	want(lab, 0);
	TABLE(lab, lab->host[0], 0x8040, 0x8050, 0xffff);
	TABLE(lab, lab->host[1], 0x8030, 0x0030, 0x8040, 0x8050);
	TABLE(lab, lab->host[2], 0x0030, 0x8040, 0x8050);
	assert_string_equal(problem(lab, lab->problems->len - 1),
			    " (0x0000000000001010) port 1: partition \"late\" "
			    "(0x0040) is not at index 0, a lower P_Key asks "
			    "for it as well (2 ports)");
}

/* 40 places, 45 partitions, in the first of them both. */
LAB_TEST(test_too_many_keys_leave_the_highest_out)
{
	admit(lab, 1, 0, PARTITION_BOTH);
	for (unsigned i = 2; i <= 44; i++)
		admit(lab, (uint16_t)i, 0, PARTITION_FULL);
	admit(lab, PKEY_DEFAULT, 0, PARTITION_FULL);
	/* A key that is left out does not stay, held or not. */
	HOLD(lab, lab->host[0], 0xffff, 0x802b);
	want(lab, BOTH_WAYS);
	assert_int_equal(key_at(lab->wanted, lab->host[0], 0), 0xffff);
	assert_int_equal(key_at(lab->wanted, lab->host[0], 1), 0x8001);
	assert_int_equal(key_at(lab->wanted, lab->host[0], 2), 0x0001);
	for (unsigned i = 3; i < CAP; i++)
		assert_int_equal(key_at(lab->wanted, lab->host[0], i),
				 0x8000 + i - 1);
	for (unsigned i = CAP; i < 2 * PKEYS_A_BLOCK; i++)
		assert_int_equal(key_at(lab->wanted, lab->host[0], i), 0);
	assert_has(problem(lab, 2),
		   "has room for 40 of 46 P_Keys; left out: (0x0027) full, "
		   "(0x0028) full, (0x0029) full, (0x002a) full and 2 more");
	/* What the port really has is what is enforced. */
	assert_int_equal(lab->enforce[lab->guard[0]], BOTH_WAYS);
	assert_int_equal(key_at(lab->wanted, lab->guard[0], CAP - 2), 0x8026);
	assert_int_equal(key_at(lab->wanted, lab->guard[0], CAP - 1), 0);
}

LAB_TEST(test_both_loses_the_limited_key_first)
{
	for (unsigned i = 1; i <= CAP; i++)
		admit(lab, (uint16_t)i, 0, i == CAP ? PARTITION_BOTH :
		      PARTITION_FULL);
	want(lab, 0);
	assert_int_equal(key_at(lab->wanted, lab->host[0], CAP - 1), 0x8028);
	assert_has(problem(lab, 2), "left out: (0x0028) limited");
}

/* Behind the key for index 0. */
LAB_TEST(test_the_default_partition_is_never_left_out)
{
	for (unsigned i = 1; i <= CAP; i++)
		admit(lab, (uint16_t)i, 0, PARTITION_FULL);
	admit(lab, 0x1000, 0, PARTITION_FULL)->index0 = true;
	admit(lab, PKEY_DEFAULT, 0, PARTITION_BOTH);
	want(lab, 0);
	assert_int_equal(key_at(lab->wanted, lab->host[0], 0), 0x9000);
	assert_int_equal(key_at(lab->wanted, lab->host[0], 1), 0xffff);
	assert_int_equal(key_at(lab->wanted, lab->host[0], 2), 0x7fff);
	assert_int_equal(key_at(lab->wanted, lab->host[0], CAP - 1), 0x8025);
	assert_has(problem(lab, 2),
		   "left out: (0x0026) full, (0x0027) full, (0x0028) full");
}

LAB_TEST(test_guards_have_the_partitions_of_the_port_behind)
{
	admit(lab, 0x10, 0, PARTITION_FULL);
	admit(lab, 0x20, 0, PARTITION_LIMITED);
	admit(lab, 0x20, 1, PARTITION_FULL);
	HOLD(lab, lab->guard[0], 0x8011, 0, 0x8010, 0x0010);
	HOLD(lab, lab->trunk, 0x8011);
	want(lab, PKEY_ENFORCE_OUT);
	TABLE(lab, lab->guard[0], 0x8020, 0, 0x8010);
	TABLE(lab, lab->guard[1], 0x8020);
	/* In no partition: nothing may pass. */
	TABLE(lab, lab->guard[2], 0);
	for (unsigned i = 0; i < N_HOSTS; i++) {
		assert_int_equal(lab->enforce[lab->guard[i]],
				 PKEY_ENFORCE_OUT);
		assert_int_equal(lab->enforce[lab->host[i]], 0);
	}
	assert_int_equal(lab->enforce[lab->trunk], 0);
	assert_null(port_tables_get(lab->wanted, PORT_TABLE_PKEY, lab->trunk,
				    0));
}

/* All or nothing: half a table would cut off a host that is in the rest. */
LAB_TEST(test_small_enforcement_table_enforces_nothing)
{
	uint32_t sw = lab->s->ports[lab->guard[0]].node;

	admit(lab, 0x10, 0, PARTITION_FULL);
	admit(lab, 0x20, 0, PARTITION_FULL);
	for (uint16_t cap = 0; cap <= 2; cap++) {
		lab->s->nodes[sw].sw.partition_enforcement_cap = cap;
		port_tables_unref(lab->held);
		lab->held = port_tables_new(lab->s);
		want(lab, BOTH_WAYS);
		assert_int_equal(lab->enforce[lab->guard[0]],
				 cap < 2 ? 0 : BOTH_WAYS);
		if (cap == 1) {
			assert_null(port_tables_get(lab->wanted,
						    PORT_TABLE_PKEY,
						    lab->guard[0], 0));
			assert_string_equal(problem(lab, 2),
				" (0x0000000000000100) port 1: no partition "
				"enforcement: its table has room for 1 P_Keys, "
				"and the port behind it has 2");
		}
	}
}

LAB_TEST(test_a_port_in_no_partition_is_told)
{
	for (unsigned i = 1; i < N_HOSTS; i++)
		admit(lab, 1, i, PARTITION_FULL);
	HOLD(lab, lab->host[0], 0xffff);
	want(lab, 0);
	TABLE(lab, lab->host[0], 0);
	/* Both ports 0 as well, in the order of the ports. */
	assert_int_equal(lab->problems->len, 3);
	assert_string_equal(problem(lab, 2), " (0x0000000000001000) port 1: "
			    "it is not in any partition");
}

/* --- any rules, any tables --- */

static void
random_rules(struct lab *lab, uint64_t *rng)
{
	unsigned n = prng_below(rng, 80);

	partition_rules_unref(lab->rules);
	lab->rules = partition_rules_new();
	for (unsigned i = 0; i < n; i++) {
		uint16_t pkey = (uint16_t)(1 + prng_below(rng, 60));

		if (prng_below(rng, 8) == 0)
			pkey = PKEY_DEFAULT;
		admit(lab, pkey, prng_below(rng, N_HOSTS),
		      (enum partition_membership)prng_below(rng, 4))->index0 |=
			prng_below(rng, 40) == 0;
	}
}

static void
random_held(struct lab *lab, uint64_t *rng)
{
	port_tables_unref(lab->held);
	lab->held = port_tables_new(lab->s);
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		for (unsigned b = 0; b < port_tables_blocks(lab->held,
				PORT_TABLE_PKEY, port); b++) {
			uint16_t pkeys[PKEYS_A_BLOCK];

			if (prng_below(rng, 4) == 0)
				continue;
			for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
				pkeys[i] = (uint16_t)
					((prng_below(rng, 2) << 15) |
					 prng_below(rng, 62));
			hold(lab->held, port, b, pkeys, PKEYS_A_BLOCK);
		}
	}
}

static unsigned
places_of(const struct port_tables *t, uint32_t port, uint16_t pkey,
	  unsigned *last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     port_tables_blocks(t, PORT_TABLE_PKEY, port); i++) {
		if (key_at(t, port, i) != pkey)
			continue;
		*last = i;
		n++;
	}
	return n;
}

/* How many keys there are: each once, each a membership, none beyond the
 * table. */
static unsigned
check_keys(const struct lab *lab, const struct memberships *m, uint32_t port,
	   uint32_t owner)
{
	unsigned n = 0, at;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     port_tables_blocks(lab->wanted, PORT_TABLE_PKEY, port); i++) {
		uint16_t pkey = key_at(lab->wanted, port, i);

		if (!pkey)
			continue;
		assert_true(i < port_pkey_cap(lab->s, port));
		assert_int_equal(places_of(lab->wanted, port, pkey, &at), 1);
		assert_true(memberships_of(m, owner, pkey) &
			    (pkey & PKEY_FULL ? PARTITION_FULL :
			     PARTITION_LIMITED));
		n++;
	}
	return n;
}

/* A guard: what the port behind it has, each partition once and full. */
static void
check_guard(const struct lab *lab, uint32_t guard, uint32_t owner)
{
	unsigned at;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     port_tables_blocks(lab->wanted, PORT_TABLE_PKEY, guard); i++) {
		uint16_t pkey = key_at(lab->wanted, guard, i);

		if (!pkey)
			continue;
		assert_true(pkey & PKEY_FULL);
		assert_true(i < port_pkey_cap(lab->s, guard));
		assert_int_equal(places_of(lab->wanted, guard, pkey, &at), 1);
		assert_true(places_of(lab->wanted, owner, pkey, &at) ||
			    places_of(lab->wanted, owner, pkey_base(pkey),
				      &at));
	}
	for (unsigned i = 0; i < port_pkey_cap(lab->s, owner); i++)
		if (key_at(lab->wanted, owner, i))
			assert_int_equal(places_of(lab->wanted, guard,
				key_at(lab->wanted, owner, i) | PKEY_FULL,
				&at), 1);
}

/* Who has its key where it was? All that are not at index 0, or were pushed
 * away from it. */
static void
check_kept(const struct lab *lab, uint32_t port)
{
	unsigned at, ignored;

	for (unsigned i = 1; i < port_pkey_cap(lab->s, port); i++) {
		uint16_t pkey = key_at(lab->held, port, i);

		if (!pkey_base(pkey) ||
		    !places_of(lab->wanted, port, pkey, &at) || at == 0)
			continue;
		/* The first of several. */
		for (unsigned j = 0; j < i; j++)
			if (key_at(lab->held, port, j) == pkey)
				pkey = 0;
		if (pkey)
			assert_int_equal(key_at(lab->wanted, port, i), pkey);
	}
	/* No hole that a key could have filled lies before a key that is not
	 * where it was. */
	for (unsigned i = 0; i < port_pkey_cap(lab->s, port); i++) {
		if (key_at(lab->wanted, port, i))
			continue;
		for (unsigned j = i + 1; j < port_pkey_cap(lab->s, port); j++)
			if (key_at(lab->wanted, port, j))
				assert_true(places_of(lab->held, port,
					key_at(lab->wanted, port, j),
					&ignored));
	}
}

static void
assert_same_tables(const struct snapshot *s, const struct port_tables *a,
		   const struct port_tables *b)
{
	for (uint32_t port = 0; port < s->n_ports; port++) {
		for (unsigned i = 0; i < port_tables_blocks(a,
				PORT_TABLE_PKEY, port); i++) {
			const union port_block *x = port_tables_get(a,
				PORT_TABLE_PKEY, port, i);
			const union port_block *y = port_tables_get(b,
				PORT_TABLE_PKEY, port, i);

			assert_int_equal(!x, !y);
			if (x)
				assert_memory_equal(x, y, sizeof(*x));
		}
	}
}

static void
check_port(const struct lab *lab, const struct memberships *m, uint32_t port)
{
	unsigned cap = port_pkey_cap(lab->s, port);
	unsigned n_want = m->first[port + 1] - m->first[port];
	uint32_t peer = lab->s->ports[port].peer;
	unsigned n = check_keys(lab, m, port, port);

	assert_int_equal(n, MIN(cap, n_want));
	check_kept(lab, port);
	if (memberships_of(m, port, PKEY_DEFAULT) || !n)
		assert_true(!n || key_at(lab->wanted, port, 0));
	if (peer == SNAPSHOT_NONE)
		return;
	assert_int_equal(lab->enforce[peer], BOTH_WAYS);
	check_guard(lab, peer, port);
	check_kept(lab, peer);
}

LAB_TEST(test_any_rules_and_tables_keep_the_promises)
{
	uint64_t rng = prng_stream(seed_take(20261121), 0);

	for (unsigned round = 0; round < 300; round++) {
		AUTO(port_tables) *first;
		AUTO(memberships) *m;

		random_rules(lab, &rng);
		random_held(lab, &rng);
		m = memberships_new(lab->rules, lab->s, NULL);
		want(lab, BOTH_WAYS);
		for (uint32_t port = 0; port < lab->s->n_ports; port++)
			if (snapshot_is_end_port(lab->s, port))
				check_port(lab, m, port);
		/* On its own result it changes nothing. */
		first = port_tables_ref(lab->wanted);
		port_tables_unref(lab->held);
		lab->held = port_tables_ref(first);
		want(lab, BOTH_WAYS);
		assert_same_tables(lab->s, first, lab->wanted);
	}
}

/* Rules of different ports may come in any order. */
LAB_TEST(test_order_of_rules_does_not_matter)
{
	AUTO(port_tables) *once;

	for (unsigned host = 0; host < N_HOSTS; host++)
		for (unsigned i = 1; i <= 20; i++)
			admit(lab, (uint16_t)(i * (host + 1)), host,
			      PARTITION_BOTH);
	want(lab, BOTH_WAYS);
	once = port_tables_ref(lab->wanted);
	partition_rules_unref(lab->rules);
	lab->rules = partition_rules_new();
	for (unsigned i = 20; i >= 1; i--)
		for (unsigned host = N_HOSTS; host-- > 0;)
			admit(lab, (uint16_t)(i * (host + 1)), host,
			      PARTITION_BOTH);
	want(lab, BOTH_WAYS);
	assert_same_tables(lab->s, once, lab->wanted);
}
