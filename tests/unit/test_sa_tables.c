// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of ports in the SA: what must be read, what was read, what is told.
 */
#include <string.h>

#include "sm/sa/sa_db.h"
#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"

#define TREE	"PGFT(3,4;1,3)"	/* 12 hosts, 4 leaves, 3 spines */
#define LID	SA_BIT(0)

/* Asks without reading anything: ports whose table is missing, or 0. */
static unsigned
missing(struct lab *l, uint32_t from, GArray **ports)
{
	const struct sa_request request = {
		.mad = l->mad, .len = MAD_SIZE, .slid = lab_lid(l, from),
		.now = LAB_NOW,
	};
	unsigned n = 0;

	sa_records_free(l->reply.records);
	sa_answer(l->sa, &request, &l->reply);
	if (ports)
		*ports = NULL;
	if (l->reply.kind != SA_REPLY_UNREAD)
		return 0;
	n = l->reply.unread.ports->len;
	if (ports)
		*ports = l->reply.unread.ports;
	else
		g_array_unref(l->reply.unread.ports);
	return n;
}

static void
want(struct lab *l, unsigned attr_id, uint64_t mask, uint32_t port)
{
	lab_begin_by_lid(l, SA_METHOD_GET_TABLE, attr_id, mask, port);
}

TEST(test_only_ports_that_are_asked_for_must_be_read, lab_set_up, lab_tear_down)
{
	uint32_t host, sw;
	GArray *ports;
	unsigned n_known = 0;
	struct lab *l = *state;

	host = lab_host(l, 5);
	sw = lab_switch(l, 2);
	for (uint32_t p = 0; p < l->s->n_ports; p++)
		n_known += l->s->ports[p].known;
	want(l, SA_ATTR_VL_ARB, LID, host);
	assert_int_equal(missing(l, host, &ports), 1);
	assert_int_equal(l->reply.unread.table, PORT_TABLE_VL_ARB);
	assert_int_equal(g_array_index(ports, uint32_t, 0), host);
	g_array_unref(ports);
	want(l, SA_ATTR_SL_TO_VL, LID, sw);
	assert_int_equal(missing(l, host, &ports),
			 snapshot_node_of(l->s, sw)->info.num_ports + 1);
	assert_int_equal(l->reply.unread.table, PORT_TABLE_SL2VL);
	g_array_unref(ports);
	/* of one way out */
	want(l, SA_ATTR_SL_TO_VL, LID | SA_BIT(2), sw);
	lab_data(l)[3] = 2;
	assert_int_equal(missing(l, host, &ports), 1);
	assert_int_equal(g_array_index(ports, uint32_t, 0), sw + 2);
	g_array_unref(ports);
	want(l, SA_ATTR_VL_ARB, LID | SA_BIT(1), sw);
	lab_data(l)[2] = 200;
	assert_int_equal(missing(l, host, NULL), 0);
	assert_int_equal(lab_count(l), 0);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_SL_TO_VL, 0);
	assert_int_equal(missing(l, host, NULL), n_known);
	/* who may not see a port cannot have it read, nor with a bad mask */
	lab_clear_rules(l);
	lab_member(l, 1, host, PARTITION_FULL);
	lab_publish(l);
	want(l, SA_ATTR_VL_ARB, LID, lab_host(l, 1));
	lab_distrust(l);
	assert_int_equal(missing(l, host, NULL), 0);
	assert_int_equal(lab_count(l), 0);
	want(l, SA_ATTR_VL_ARB, LID | SA_BIT(63), lab_host(l, 1));
	assert_int_equal(missing(l, host, NULL), 0);
}

TEST(test_what_was_read_is_told_and_not_asked_for_again,
     lab_set_up, lab_tear_down)
{
	union port_block vls = { .vl = { 0 } }, arb = { .bytes = { 0 } };
	const uint8_t *d;
	uint32_t host, sw;
	struct lab *l = *state;

	host = lab_host(l, 5);
	sw = lab_switch(l, 2);
	for (unsigned sl = 0; sl < SL_COUNT; sl++)
		vls.vl[sl] = (uint8_t)(15 - sl);
	arb.arb[0].vl = 3;
	arb.arb[0].weight = 0x77;
	/* 3 of the ways in; then the port says no more */
	for (unsigned in = 0; in < 3; in++)
		sa_db_add_block(l->v, PORT_TABLE_SL2VL, sw + 1, in, &vls);
	want(l, SA_ATTR_SL_TO_VL, LID | SA_BIT(2), sw);
	lab_data(l)[3] = 1;
	assert_int_equal(missing(l, host, NULL), 1);
	sa_db_close_table(l->v, PORT_TABLE_SL2VL, sw + 1);
	assert_int_equal(missing(l, host, NULL), 0);
	assert_int_equal(lab_count(l), 3);
	/* a component selects, a Get gets it */
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_SL_TO_VL,
			 LID | SA_BIT(1) | SA_BIT(2), sw);
	lab_data(l)[2] = 2;
	lab_data(l)[3] = 1;
	assert_int_equal(lab_ask(l), 0);
	d = lab_answer(l);
	assert_int_equal(lab_get(d, 2), lab_lid(l, sw));
	assert_int_equal(d[2], 2);
	assert_int_equal(d[3], 1);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(d[8 + i], (15 - 2 * i) << 4 | (14 - 2 * i));
	/* all blocks: complete without being closed; other table: not known */
	for (unsigned b = 0; b < VL_ARB_N_BLOCKS; b++)
		sa_db_add_block(l->v, PORT_TABLE_VL_ARB, host, b, &arb);
	want(l, SA_ATTR_VL_ARB, LID | SA_BIT(2), host);
	lab_data(l)[3] = 3;
	assert_int_equal(missing(l, host, NULL), 0);
	assert_int_equal(lab_count(l), 1);
	lab_data(l)[3] = 0;
	assert_records(l, 0);
	lab_data(l)[3] = 5;
	assert_records(l, 0);
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_VL_ARB, LID | SA_BIT(2),
			 host);
	lab_data(l)[3] = 4;
	assert_int_equal(lab_ask(l), 0);
	assert_memory_equal(d + 2, "\1\4", 2);
	assert_memory_equal(d + 8, "\3\x77\0", 3);
	want(l, SA_ATTR_SL_TO_VL, LID, host);
	assert_int_equal(missing(l, host, NULL), 1);
}

/* Diagnostics and osmtest ask for a CA's tables with port 0: the LID names the
 * port. A switch has many, and there the number counts. */
TEST(test_port_number_of_a_ca_means_nothing, lab_set_up, lab_tear_down)
{
	static const struct {
		unsigned attr_id, component, offset;
		enum port_table table;
	} kinds[] = {
		{ SA_ATTR_PKEY_TABLE, 2, 4, PORT_N_TABLES },
		{ SA_ATTR_SL_TO_VL, 2, 3, PORT_TABLE_SL2VL },
		{ SA_ATTR_SL_TO_VL, 1, 2, PORT_TABLE_SL2VL },
		{ SA_ATTR_VL_ARB, 1, 2, PORT_TABLE_VL_ARB },
	};
	union port_block block = { .bytes = { 0 } };
	uint32_t host, sw;
	struct lab *l = *state;

	host = lab_host(l, 5);
	sw = lab_switch(l, 2);
	for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
		for (unsigned number = 0; number < 3; number++) {
			want(l, kinds[k].attr_id, LID |
			     SA_BIT(kinds[k].component), host);
			lab_data(l)[kinds[k].offset] = (uint8_t)number;
			/* first it is this port that must be read */
			if (kinds[k].table != PORT_N_TABLES) {
				assert_int_equal(missing(l, host, NULL),
						 number == 0 && k != 2);
				sa_db_add_block(l->v, kinds[k].table, host, 0,
						  &block);
				sa_db_close_table(l->v, kinds[k].table, host);
			}
			assert_records(l, 1);
		}
	}
	want(l, SA_ATTR_PKEY_TABLE, LID | SA_BIT(2), sw);
	lab_data(l)[4] = 0;
	assert_records(l, 1);
	lab_data(l)[4] = 9;
	assert_records(l, 0);
}

TEST(test_pkeys_are_those_that_are_held, lab_set_up, lab_tear_down)
{
	union port_block b = { .pkeys = { 0x8003, 0x7fff } };
	struct port_tables *held;
	uint32_t host, other, sw;
	struct lab *l = *state;

	host = lab_host(l, 5);
	other = lab_host(l, 6);
	sw = lab_switch(l, 2);
	snapshot_node_of(l->s, host);
	for (uint32_t n = 0; n < l->s->n_nodes; n++) {
		l->s->nodes[n].info.partition_cap = 64;
		l->s->nodes[n].sw.partition_enforcement_cap = 32;
	}
	held = port_tables_new(l->s);
	port_tables_set(held, PORT_TABLE_PKEY, host, 0, &b);
	b.pkeys[1] = 0xbeef;
	port_tables_set(held, PORT_TABLE_PKEY, host, 1, &b);
	port_tables_set(held, PORT_TABLE_PKEY, sw + 3, 0, &b);
	port_tables_set(held, PORT_TABLE_PKEY, lab_host(l, 7), 1, &b);
	sa_db_set_tables(l->v, held);
	port_tables_unref(held);
	want(l, SA_ATTR_PKEY_TABLE, LID, host);
	assert_records(l, 2);
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_PKEY_TABLE,
			 LID | SA_BIT(1), host);
	lab_put(lab_data(l) + 2, 1, 2);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_get(lab_answer(l) + 8, 4), 0x8003beef);
	/* of an external port of a switch, if there is a table */
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_PKEY_TABLE,
			 LID | SA_BIT(2), sw);
	lab_data(l)[4] = 3;
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_answer(l)[4], 3);
	lab_data(l)[4] = 2;
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
	/* of a table that was read in part, that part */
	want(l, SA_ATTR_PKEY_TABLE, LID, lab_host(l, 7));
	assert_records(l, 1);
	/* nothing was read: what it will be given */
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_PKEY_TABLE, LID, other);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_get(lab_answer(l) + 8, 4), 0xffff0000);
}

/* What a site calls a node is for people; clients get what the node says. */
TEST(test_node_record_has_the_nodes_own_description, lab_set_up, lab_tear_down)
{
	uint32_t host;
	struct lab *l = *state;

	host = lab_host(l, 5);
	l->s->nodes[l->s->ports[host].node].name = "Rack 5";
	lab_publish(l);
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_NODE, LID, host);
	assert_int_equal(lab_ask(l), 0);
	assert_string_equal((const char *)lab_answer(l) + 44,
			    snapshot_node_of(l->s, host)->desc);
	assert_string_equal(snapshot_name_of(l->s, host), "Rack 5");
}

/* External ports of switches that have such a table, and of those only what the
 * sweep did not read, and only for who may see P_Keys. */
TEST(test_pkeys_of_switch_ports_are_sent_for, lab_set_up, lab_tear_down)
{
	const union port_block b = { .pkeys = { 0x8003, 0xffff } };
	struct port_tables *held;
	uint32_t host, sw, other;
	unsigned n_ports;
	GArray *ports;
	struct lab *l = *state;

	host = lab_host(l, 5);
	sw = lab_switch(l, 2);
	other = lab_switch(l, 3);
	n_ports = snapshot_node_of(l->s, sw)->info.num_ports;
	for (uint32_t n = 0; n < l->s->n_nodes; n++)
		l->s->nodes[n].sw.partition_enforcement_cap = 33;
	l->s->nodes[l->s->ports[other].node].sw.partition_enforcement_cap = 0;
	held = port_tables_new(l->s);
	for (unsigned i = 0; i < 2; i++)
		port_tables_set(held, PORT_TABLE_PKEY, sw + 1, i, &b);
	sa_db_set_tables(l->v, held);
	port_tables_unref(held);
	want(l, SA_ATTR_PKEY_TABLE, LID, sw);
	assert_int_equal(missing(l, host, &ports), n_ports - 1);
	assert_int_equal(l->reply.unread.table, PORT_TABLE_PKEY);
	assert_int_equal(g_array_index(ports, uint32_t, 0), sw + 2);
	g_array_unref(ports);
	want(l, SA_ATTR_PKEY_TABLE, LID, other);
	assert_int_equal(missing(l, host, NULL), 0);
	want(l, SA_ATTR_PKEY_TABLE, LID, host);
	assert_int_equal(missing(l, host, NULL), 0);
	want(l, SA_ATTR_PKEY_TABLE, LID, sw);
	lab_distrust(l);
	assert_int_equal(missing(l, host, NULL), 0);
	/* one is read, another one refuses its second block */
	for (unsigned i = 0; i < 2; i++)
		sa_db_add_block(l->v, PORT_TABLE_PKEY, sw + 2, i, &b);
	sa_db_add_block(l->v, PORT_TABLE_PKEY, sw + 3, 0, &b);
	sa_db_close_table(l->v, PORT_TABLE_PKEY, sw + 3);
	want(l, SA_ATTR_PKEY_TABLE, LID, sw);
	assert_int_equal(missing(l, host, NULL), n_ports - 3);
	assert_int_equal(lab_ask(l), 0);
	/* 2 of each of two, 1 of the third, and that of port 0 */
	assert_int_equal(lab_count(l), 6);
}

/* Groups change while somebody takes the table: it goes on as it began. */
TEST(test_multicast_table_may_change_on_its_way, lab_set_up, lab_tear_down)
{
	struct mft *small;
	unsigned n = 0;
	uint8_t record[72];
	struct lab *l = *state;

	l->mft = mft_new(l->s->n_switches, 3, 4);
	for (uint32_t i = 0; i < l->s->n_switches * 3 * 4 * MFT_BLOCK; i++)
		l->mft->masks[i] = 0x1234;
	lab_publish(l);
	small = mft_new(l->s->n_switches, 1, 1);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MULTICAST_FT, 0);
	assert_int_equal(lab_ask(l), 0);
	while (lab_next(l->reply.records, record)) {
		assert_int_equal(lab_get(record + 8, 2), 0x1234);
		assert_int_equal(lab_get(record + 70, 2), 0x1234);
		if (n++ == 5)
			sa_db_set_mft(l->v, small);
	}
	assert_int_equal(n, l->s->n_switches * 3 * 4);
	mft_free(small);
	/* and who asks then gets what is there then */
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MULTICAST_FT, 0);
	assert_records(l, l->s->n_switches);
	sa_db_set_mft(l->v, NULL);
	assert_records(l, 0);
}
