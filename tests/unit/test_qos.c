// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * qos_tables.h promises: what was configured for a kind of port reaches every
 * port of that kind that has the table, folded into the VLs that it has; what
 * is not configured is left alone. The fabric is two leaves under two spines, a
 * host or two on each.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/plan/qos_tables.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

struct lab {
	struct snapshot *s;
	struct port_tables *wanted;
	struct qos qos;
	uint32_t host, leaf;	/* the ends of a cable */
	uint32_t up;		/* the leaf's port to a spine */
	uint32_t port0;		/* of the leaf */
};

static int
set_up(void **state)
{
	struct lab *lab = g_new0(struct lab, 1);
	const struct snapshot_node *sw;

	lab->s = generate_fabric("PGFT(2,2;1,2)", NULL, NULL);
	assert_non_null(lab->s);
	lab->qos.enabled = true;
	lab->host = lab->s->local_port;
	lab->leaf = lab->s->ports[lab->host].peer;
	sw = snapshot_node_of(lab->s, lab->leaf);
	lab->port0 = sw->first_port;
	for (unsigned num = 1; num <= sw->info.num_ports; num++) {
		uint32_t peer = lab->s->ports[sw->first_port + num].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(lab->s, peer)))
			lab->up = sw->first_port + num;
	}
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		struct port_info *info = &lab->s->ports[port].info;

		info->vl_cap = 5;
		info->vl_arb_low_cap = 64;
		info->vl_arb_high_cap = 64;
	}
	*state = lab;
	return 0;
}

static int
tear_down(void **state)
{
	struct lab *lab = *state;

	port_tables_unref(lab->wanted);
	snapshot_unref(lab->s);
	g_free(lab);
	return 0;
}

static void
want(struct lab *lab)
{
	port_tables_unref(lab->wanted);
	lab->wanted = port_tables_new(lab->s);
	qos_tables_want(lab->s, &lab->qos, lab->wanted);
}

static const union port_block *
block(const struct lab *lab, enum port_table table, uint32_t port, unsigned b)
{
	return port_tables_get(lab->wanted, table, port, b);
}

static void
assert_mapping(const struct lab *lab, uint32_t port, unsigned in,
	       const uint8_t vl[SL_COUNT])
{
	const union port_block *b = block(lab, PORT_TABLE_SL2VL, port, in);

	assert_non_null(b);
	assert_memory_equal(b->vl, vl, SL_COUNT);
}

static void
set_mapping(struct qos_values *v, const uint8_t vl[SL_COUNT])
{
	memcpy(v->sl2vl, vl, SL_COUNT);
	v->given |= QOS_SL2VL;
}

#define LAB_TEST(name) \
	TEST_WITH(name, struct lab *lab, set_up, tear_down)

LAB_TEST(test_built_in_values_are_the_usual_ones)
{
	static const uint8_t mapping[SL_COUNT] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7,
	};
	const union port_block *low, *high;

	want(lab);
	assert_mapping(lab, lab->host, 0, mapping);
	low = block(lab, PORT_TABLE_VL_ARB, lab->host, VL_ARB_LOW_1);
	high = block(lab, PORT_TABLE_VL_ARB, lab->host, VL_ARB_HIGH_1);
	for (unsigned i = 0; i < VL_ARB_ENTRIES; i++) {
		assert_int_equal(low->arb[i].vl, i < 15 ? i : 0);
		assert_int_equal(low->arb[i].weight, i && i < 15 ? 4 : 0);
		assert_int_equal(high->arb[i].vl, i < 15 ? i : 0);
		assert_int_equal(high->arb[i].weight, i == 0 ? 4 : 0);
	}
}

static void
assert_nothing(const struct lab *lab)
{
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		for (unsigned i = 0; i < VL_ARB_N_BLOCKS; i++)
			assert_null(block(lab, PORT_TABLE_VL_ARB, port, i));
		for (unsigned i = 0; i < port_tables_blocks(lab->wanted,
				PORT_TABLE_SL2VL, port); i++)
			assert_null(block(lab, PORT_TABLE_SL2VL, port, i));
	}
}

LAB_TEST(test_not_enabled_wants_nothing)
{
	uint8_t vls = 77, limit = 77;

	lab->qos.enabled = false;
	want(lab);
	assert_nothing(lab);
	assert_false(
		qos_tables_port(lab->s, &lab->qos, lab->host, &vls, &limit));
	qos_tables_want(lab->s, NULL, lab->wanted);
	assert_nothing(lab);
	assert_false(qos_tables_port(lab->s, NULL, lab->host, &vls, &limit));
	assert_int_equal(vls, 77);
	assert_int_equal(limit, 77);
}

/* By VLCap code of the other end: what a port that comes up will have. */
LAB_TEST(test_vls_are_folded_into_those_there_are)
{
	static const uint8_t configured[SL_COUNT] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	static const unsigned n_vls[] = { 1, 1, 2, 4, 8, 15, 1 };

	set_mapping(&lab->qos.all, configured);
	for (uint8_t code = 0; code < G_N_ELEMENTS(n_vls); code++) {
		uint8_t expected[SL_COUNT];

		for (unsigned sl = 0; sl < 15; sl++)
			expected[sl] = (uint8_t)(sl % n_vls[code]);
		expected[15] = 15;
		lab->s->ports[lab->leaf].info.vl_cap = code;
		want(lab);
		assert_mapping(lab, lab->host, 0, expected);
		assert_mapping(lab, lab->leaf, 0, expected);
		/* The other cables keep theirs. */
		assert_mapping(lab, lab->up, 0, configured);
	}
}

LAB_TEST(test_active_port_has_the_vls_it_has)
{
	static const uint8_t two[SL_COUNT] = {
		0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
	};

	lab->s->ports[lab->host].info.state = PORT_STATE_ACTIVE;
	lab->s->ports[lab->host].info.oper_vls = 2;
	want(lab);
	assert_mapping(lab, lab->host, 0, two);
	lab->s->ports[lab->host].info.state = PORT_STATE_ARMED;
	want(lab);
	assert_int_equal(block(lab, PORT_TABLE_SL2VL, lab->host, 0)->vl[14],
			 14);
}

LAB_TEST(test_absent_vls_have_no_share)
{
	struct qos_values *v = &lab->qos.all;
	const union port_block *b;

	v->given = QOS_LOW;
	v->low[0] = (struct qos_share){ 3, 10 };
	v->low[1] = (struct qos_share){ 4, 20 };
	v->low[2] = (struct qos_share){ 0, 30 };
	v->low[33] = (struct qos_share){ 14, 40 };
	v->low[34] = (struct qos_share){ 1, 50 };
	lab->s->ports[lab->leaf].info.vl_cap = 3;	/* four */
	want(lab);
	b = block(lab, PORT_TABLE_VL_ARB, lab->host, VL_ARB_LOW_1);
	assert_memory_equal(b->bytes, "\3\12\0\0\0\36\0\0", 8);
	b = block(lab, PORT_TABLE_VL_ARB, lab->host, VL_ARB_LOW_2);
	assert_memory_equal(b->bytes, "\0\0\0\0\1\62\0\0", 8);
}

/* A table of n entries has its blocks and no entry beyond. */
LAB_TEST(test_shares_end_where_the_table_ends)
{
	static const uint8_t caps[] = { 0, 1, 8, 31, 32, 33, 64, 255 };

	lab->qos.all.given = QOS_LOW | QOS_HIGH;
	for (unsigned i = 0; i < QOS_ARB_ENTRIES; i++) {
		lab->qos.all.low[i] = (struct qos_share){ 1, 9 };
		lab->qos.all.high[i] = (struct qos_share){ 2, 9 };
	}
	for (unsigned c = 0; c < G_N_ELEMENTS(caps); c++) {
		struct port_info *info = &lab->s->ports[lab->host].info;

		info->vl_arb_low_cap = caps[c];
		info->vl_arb_high_cap = caps[G_N_ELEMENTS(caps) - 1 - c];
		want(lab);
		for (unsigned i = 0; i < 4 * VL_ARB_ENTRIES; i++) {
			const union port_block *b =
				block(lab, PORT_TABLE_VL_ARB, lab->host,
				      i / VL_ARB_ENTRIES);
			unsigned cap = i < 2 * VL_ARB_ENTRIES ?
				info->vl_arb_low_cap : info->vl_arb_high_cap;
			unsigned at = i % (2 * VL_ARB_ENTRIES);

			assert_int_equal(!b, at / VL_ARB_ENTRIES *
					 VL_ARB_ENTRIES >= cap);
			if (b)
				assert_int_equal(b->arb[i % VL_ARB_ENTRIES]
						 .weight, at < cap ? 9 : 0);
		}
	}
}

LAB_TEST(test_each_kind_has_its_own_values)
{
	uint8_t vl[SL_COUNT] = { 0 };
	uint32_t router = lab->s->ports[lab->up].peer;

	lab->s->nodes[lab->s->ports[lab->leaf].node].sw.enhanced_port0 = true;
	lab->s->ports[lab->port0].info.oper_vls = 5;
	for (unsigned k = 0; k < QOS_N_KINDS; k++) {
		vl[0] = (uint8_t)(k + 1);
		set_mapping(&lab->qos.kinds[k], vl);
	}
	/* Any end port that is neither CA nor switch. */
	lab->s->nodes[lab->s->ports[router].node].info.node_type = NODE_ROUTER;
	lab->s->ports[router].info.cap_mask = PORT_CAP_HAS_SL_MAPPING;
	want(lab);
	assert_int_equal(block(lab, PORT_TABLE_SL2VL, lab->host, 0)->vl[0],
			 QOS_CA + 1);
	assert_int_equal(block(lab, PORT_TABLE_SL2VL, router, 0)->vl[0],
			 QOS_ROUTER + 1);
	assert_int_equal(block(lab, PORT_TABLE_SL2VL, lab->port0, 0)->vl[0],
			 QOS_SWITCH_0 + 1);
	assert_int_equal(block(lab, PORT_TABLE_SL2VL, lab->leaf, 0)->vl[0],
			 QOS_SWITCH + 1);
}

/* Value by value: of the kind, else common, else built in. */
TEST(test_values_fall_back_one_by_one)
{
	struct qos qos = { .enabled = true };
	struct qos_values v;

	qos.all.given = QOS_MAX_VLS | QOS_HIGH_LIMIT;
	qos.all.max_vls = 4;
	qos.all.high_limit = 9;
	qos.all.sl2vl[1] = 3;		/* not given */
	qos.kinds[QOS_CA].given = QOS_MAX_VLS;
	qos.kinds[QOS_CA].max_vls = 2;
	qos.kinds[QOS_CA].high_limit = 200;	/* not given */
	qos_resolve(&qos, QOS_CA, &v);
	assert_int_equal(v.max_vls, 2);
	assert_int_equal(v.high_limit, 9);
	assert_int_equal(v.sl2vl[1], 1);
	qos_resolve(&qos, QOS_SWITCH, &v);
	assert_int_equal(v.max_vls, 4);
	assert_int_equal(qos_max_vls(&qos, QOS_CA), 2);
	assert_int_equal(qos_max_vls(&qos, QOS_ROUTER), 4);
	assert_int_equal(qos_high_limit(&qos, QOS_CA), 9);
	qos.all.given = 0;
	assert_int_equal(qos_max_vls(&qos, QOS_ROUTER), 15);
	assert_int_equal(qos_high_limit(&qos, QOS_CA), 0);
}

LAB_TEST(test_port_info_is_as_both_ends_allow)
{
	static const uint8_t vls_of[] = { 0, 1, 2, 4, 8, 15 };
	static const uint8_t code[16] = {
		0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5,
	};
	uint8_t vls, limit;

	lab->qos.kinds[QOS_CA].given = QOS_MAX_VLS | QOS_HIGH_LIMIT;
	lab->qos.kinds[QOS_CA].high_limit = 6;
	for (uint8_t n = 1; n <= 15; n++) {
		lab->qos.kinds[QOS_CA].max_vls = n;
		assert_true(qos_tables_port(lab->s, &lab->qos, lab->host, &vls,
				     &limit));
		assert_int_equal(vls, code[n]);
		assert_int_equal(limit, 6);
		assert_true(qos_tables_port(lab->s, &lab->qos, lab->leaf, &vls,
				     &limit));
		assert_int_equal(vls, code[n]);
		assert_int_equal(limit, 0);
		assert_true(qos_tables_port(lab->s, &lab->qos, lab->up, &vls,
				     &limit));
		assert_int_equal(vls, 5);
		/* The mapping knows of it. */
		want(lab);
		assert_int_equal(block(lab, PORT_TABLE_SL2VL, lab->host,
				       0)->vl[14], 14 % vls_of[code[n]]);
	}
}

/* What holds for all ports holds for those of QoS, too. */
LAB_TEST(test_general_bound_of_vls_holds)
{
	uint8_t vls, limit;

	lab->qos.max_op_vls = 3;	/* four */
	want(lab);
	assert_int_equal(block(lab, PORT_TABLE_SL2VL, lab->host, 0)->vl[14],
			 2);
	assert_true(
		qos_tables_port(lab->s, &lab->qos, lab->host, &vls, &limit));
	assert_int_equal(vls, 3);
	lab->qos.all.given = QOS_MAX_VLS;
	lab->qos.all.max_vls = 2;
	assert_true(
		qos_tables_port(lab->s, &lab->qos, lab->host, &vls, &limit));
	assert_int_equal(vls, 2);
}

/* Of a switch: one block for each port by which something can come in. */
LAB_TEST(test_mapping_is_for_each_live_port_of_entry)
{
	const struct snapshot_node *sw = snapshot_node_of(lab->s, lab->leaf);
	unsigned n = 0;

	lab->s->ports[lab->up].info.phys_state = PORT_PHYS_POLLING;
	want(lab);
	for (unsigned in = 0; in <= sw->info.num_ports; in++) {
		bool live = in == 0 || snapshot_link_up(lab->s, sw->first_port +
						      in);

		assert_int_equal(!live, !block(lab, PORT_TABLE_SL2VL,
					       lab->leaf, in));
		n += live;
	}
	assert_true(n > 1);
	/* A port without a link wants nothing, either. */
	assert_null(block(lab, PORT_TABLE_SL2VL, lab->up, 0));
	assert_null(block(lab, PORT_TABLE_VL_ARB, lab->up, VL_ARB_LOW_1));
}

LAB_TEST(test_ports_without_the_tables_are_left_alone)
{
	struct snapshot_node *sw =
		&lab->s->nodes[lab->s->ports[lab->leaf].node];

	/* A base port 0 has neither. */
	want(lab);
	assert_null(block(lab, PORT_TABLE_SL2VL, lab->port0, 0));
	assert_null(block(lab, PORT_TABLE_VL_ARB, lab->port0, VL_ARB_LOW_1));
	sw->sw.enhanced_port0 = true;
	want(lab);
	assert_non_null(block(lab, PORT_TABLE_SL2VL, lab->port0, 0));
	assert_non_null(block(lab, PORT_TABLE_VL_ARB, lab->port0,
			      VL_ARB_LOW_1));
	/* A switch says at port 0 that its ports have a mapping. */
	lab->s->ports[lab->port0].info.cap_mask = 0;
	lab->s->ports[lab->host].info.cap_mask = 0;
	want(lab);
	assert_null(block(lab, PORT_TABLE_SL2VL, lab->leaf, 0));
	assert_null(block(lab, PORT_TABLE_SL2VL, lab->host, 0));
	assert_non_null(block(lab, PORT_TABLE_VL_ARB, lab->leaf,
			      VL_ARB_LOW_1));
}
