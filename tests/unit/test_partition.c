// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * partition.h promises: rules become P_Keys, the later rule about a port
 * decides, and no port is let in that was not named. The fabric is one switch
 * with four CAs and a router. Random rules of ports: test_pkey_table.c.
 */
#include "tests/lib/unit.h"

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

/* The SM is on CA 0. Of two rules for a port the later one decides. */
TEST(test_rules_name_kinds_of_ports)
{
	static const struct {
		enum partition_who who;
		bool self, ca, router, sw;
	} rows[] = {
		{ PARTITION_ALL, true, true, true, true },
		{ PARTITION_ALL_CAS, true, true, false, false },
		{ PARTITION_ALL_SWITCHES, false, false, false, true },
		{ PARTITION_ALL_ROUTERS, false, false, true, false },
		{ PARTITION_SELF, true, false, false, false },
	};
	AUTO(partition_rules) *rules = partition_rules_new();
	AUTO(snapshot) *s = make_star();
	const uint32_t sw = s->nodes[s->switches[0]].first_port;
	AUTO(memberships) *m;

	for (uint16_t i = 0; i < G_N_ELEMENTS(rows); i++)
		add_rule(rules, i + 1, rows[i].who, 0, PARTITION_LIMITED);
	add_rule(rules, 9, PARTITION_ALL, 0, PARTITION_FULL);
	add_rule(rules, 9, PARTITION_GUID, host_guid(1), PARTITION_LIMITED);
	m = memberships_new(rules, s, NULL);
	for (uint16_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		assert_int_equal(memberships_of(m, host_port(s, 0), i + 1),
				 rows[i].self);
		assert_int_equal(memberships_of(m, host_port(s, 1), i + 1),
				 rows[i].ca);
		assert_int_equal(memberships_of(m, host_port(s, ROUTER), i + 1),
				 rows[i].router);
		assert_int_equal(memberships_of(m, sw, i + 1), rows[i].sw);
		assert_int_equal(memberships_of(m, sw + 1, i + 1), 0);
	}
	assert_int_equal(memberships_of(m, sw, 9), PARTITION_FULL);
	assert_int_equal(memberships_of(m, host_port(s, 1), 9),
			 PARTITION_LIMITED);
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
