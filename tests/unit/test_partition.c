// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * partition.h promises: rules become P_Keys, the later rule about a port
 * decides, and no port is let in that was not named. The fabric is one switch
 * with four CAs and a router; the SM is on CA 0. Random rules are compared with
 * a reading of them that is as plain as it can be.
 */
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define ROUTER		4u

static uint64_t
host_guid(unsigned i)
{
	return UINT64_C(0x6000000000000101) + 256 * i;
}

static struct snapshot *
make_star(void)
{
	struct snapshot *s = generate_fabric("single(5)", NULL, NULL);

	s->nodes[snapshot_find_node(s, host_guid(ROUTER) - 1)].info.node_type =
		NODE_ROUTER;
	return s;
}

static void
add_rule(struct partition_rules *rules, uint16_t pkey, enum partition_who who,
	 uint64_t guid, enum partition_membership membership)
{
	struct partition *p = partition_rules_get(rules, pkey);
	struct partition_rule rule = {
		.who = who,
		.guid = guid,
		.membership = membership,
		.line = p->rules->len + 1,
	};

	g_array_append_val(p->rules, rule);
}

static uint32_t
host_port(const struct snapshot *s, unsigned i)
{
	uint32_t port = snapshot_find_port(s, host_guid(i));

	assert_int_not_equal(port, SNAPSHOT_NONE);
	return port;
}

TEST(test_absent_ports_are_told_by_rule)
{
	AUTO(partition_rules) *rules = partition_rules_new();
	g_autoptr(GArray) strangers = g_array_new(FALSE, FALSE,
						sizeof(struct partition_rule));
	const struct partition_rule *told = NULL;
	AUTO(snapshot) *s = make_star();
	AUTO(memberships) *m = NULL, *again = NULL;

	/* SELF is no port, and not a foreign one */
	s->local_port = SNAPSHOT_NONE;
	add_rule(rules, 1, PARTITION_SELF, 0, PARTITION_FULL);
	add_rule(rules, 1, PARTITION_GUID, 0xdead, PARTITION_FULL);
	add_rule(rules, 1, PARTITION_GUID, host_guid(3), PARTITION_FULL);
	add_rule(rules, 1, PARTITION_GUID, 0, PARTITION_FULL);
	m = memberships_new(rules, s, strangers);
	assert_int_equal(strangers->len, 2);
	told = (const struct partition_rule *)(void *)strangers->data;
	assert_int_equal(told[0].guid, 0xdead);
	assert_int_equal(told[1].line, 4);
	assert_int_equal(m->first[s->n_ports], 1);
	again = memberships_new(rules, s, NULL);
	assert_int_equal(again->first[s->n_ports], 1);
}

TEST(test_twin_guids_name_the_first_port)
{
	AUTO(partition_rules) *rules = partition_rules_new();
	AUTO(snapshot) *s = make_star();
	uint32_t first = host_port(s, 1);
	uint32_t second = host_port(s, 3);
	AUTO(memberships) *m;

	assert_true(first < second);
	s->ports[second].guid = host_guid(1);
	add_rule(rules, 1, PARTITION_GUID, host_guid(1), PARTITION_FULL);
	m = memberships_new(rules, s, NULL);
	assert_int_equal(memberships_of(m, first, 1), PARTITION_FULL);
	assert_int_equal(memberships_of(m, second, 1), 0);
}

/* --- random rules --- */

static bool
rule_names(const struct snapshot *s, const struct partition_rule *rule,
	   uint32_t port)
{
	unsigned type = snapshot_node_of(s, port)->info.node_type;

	switch (rule->who) {
	case PARTITION_GUID:
		return s->ports[port].guid == rule->guid;
	case PARTITION_ALL:
		return true;
	case PARTITION_ALL_CAS:
		return type == NODE_CA;
	case PARTITION_ALL_SWITCHES:
		return type == NODE_SWITCH;
	case PARTITION_ALL_ROUTERS:
		return type == NODE_ROUTER;
	case PARTITION_SELF:
		return port == s->local_port;
	}
	return false;
}

static unsigned
naive_of(const struct partition_rules *rules, const struct snapshot *s,
	 uint32_t port, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(rules, pkey);
	unsigned what = 0;

	if (!p || !snapshot_is_end_port(s, port))
		return 0;
	EACH_ITEM(const struct partition_rule, rule, p->rules)
		if (rule_names(s, rule, port))
			what = rule->membership;
	return what;
}

/* May b use the partition with a, which one of the two has in full? */
static bool
naive_meet(const struct partition_rules *rules, const struct snapshot *s,
	   uint32_t a, uint32_t b, uint16_t pkey)
{
	unsigned wa = naive_of(rules, s, a, pkey);
	unsigned wb = naive_of(rules, s, b, pkey);

	return wa && wb && ((wa | wb) & PARTITION_FULL);
}

static uint16_t
naive_common(const struct partition_rules *rules, const struct snapshot *s,
	     uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i <= 12; i++) {
		uint16_t pkey = i ? (uint16_t)i : PKEY_DEFAULT;

		if (naive_meet(rules, s, a, b, pkey))
			return naive_of(rules, s, a, pkey) & PARTITION_FULL ?
				pkey | 0x8000 : pkey;
	}
	return 0;
}

TEST(test_random_rules_read_the_plain_way)
{
	uint64_t seed = 20260715;
	uint64_t prng = prng_stream(seed, 0);
	struct generate_options options = {
		.seed = seed,
		.shuffle_guids = true,
	};
	AUTO(snapshot) *s = generate_fabric("random(4,2,3)", &options, NULL);

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	s->nodes[snapshot_node_of(s, s->n_ports - 1) - s->nodes]
		.info.node_type = NODE_ROUTER;
	for (unsigned round = 0; round < 100; round++) {
		AUTO(partition_rules) *rules = partition_rules_new();
		AUTO(memberships) *m;

		for (unsigned i = 0; i < 60; i++) {
			uint16_t pkey = (uint16_t)prng_below(&prng, 13);
			enum partition_who who = prng_below(&prng, 8) ?
				PARTITION_GUID : prng_below(&prng, 6);
			uint32_t port = prng_below(&prng, s->n_ports);

			add_rule(rules, pkey ? pkey : PKEY_DEFAULT, who,
				 s->ports[port].guid, prng_below(&prng, 4));
		}
		m = memberships_new(rules, s, NULL);
		for (uint32_t a = 0; a < s->n_ports; a++) {
			uint32_t b = prng_below(&prng, s->n_ports);
			uint16_t pkey = (uint16_t)prng_below(&prng, 13);

			assert_int_equal(memberships_of(m, a, pkey),
					 naive_of(rules, s, a, pkey));
			assert_int_equal(memberships_common(m, a, b),
					 naive_common(rules, s, a, b));
			if (pkey)
				assert_int_equal(memberships_meet(m, a, b,
							pkey | 0x8000),
						 naive_meet(rules, s, a, b,
							    pkey));
		}
	}
}

/* What is done to a copy is not seen in the original, and the other way. */
TEST(test_copy_is_by_itself)
{
	AUTO(partition_rules) *rules = partition_rules_default();
	struct partition *p = partition_rules_get(rules, 0x10), *q;
	AUTO(partition_rules) *copy = NULL;

	rules->source = g_strdup("file");
	p->name = g_strdup("Storage");
	p->sl = 3;
	p->index0 = true;
	add_rule(rules, 0x10, PARTITION_GUID, 1, PARTITION_FULL);
	copy = partition_rules_copy(rules);
	add_rule(rules, 0x10, PARTITION_GUID, 2, PARTITION_FULL);
	q = partition_rules_get(copy, PKEY_DEFAULT);
	assert_int_equal(q->rules->len, 1);
	g_array_set_size(q->groups, 0);
	partition_rules_get(copy, 0x11);

	assert_null(partition_rules_find(rules, 0x11));
	assert_int_equal(partition_rules_find(rules,
					      PKEY_DEFAULT)->groups->len, 1);
	q = partition_rules_get(copy, 0x10);
	assert_int_equal(q->rules->len, 1);
	assert_memory_equal(q->rules->data, p->rules->data,
			    sizeof(struct partition_rule));
	assert_string_equal(copy->source, "file");
	assert_string_equal(q->name, "Storage");
	assert_int_equal(q->sl, 3);
	assert_true(q->index0);
}
