// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What osmtest's validation flow checks of tables, over the simulator: every
 * record is told, once, and is what the devices themselves hold, and each can
 * be asked for by every name that it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sm/wire/bytes.h"
#include "tests/lib/survey.h"

/* Components of records by their bits, IBA 15.2.5. */
enum {
	LID = 0,
	NODE_GUID = 7, PORT_GUID = 8,
	PORT_NUM = 1,
	FROM_PORT = 1, TO_PORT = 2, TO_LID = 3,
	BLOCK = 1, PKEY_PORT = 2,
	MFT_POSITION = 1, MFT_BLOCKNUM = 3,
	OUT_PORT = 1, ARB_BLOCK = 2,
	IN_PORT = 1, SL_OUT_PORT = 2,
};
#define OFF_NODE_GUID	16u
#define OFF_PORT_GUID	24u

/* The answer to a Get, in the same form. */
static void
assert_told(const struct survey *b, unsigned attr_id, const uint8_t *record)
{
	uint8_t got[SA_DATA_LEN];

	memcpy(got, b->c[0].data, SA_DATA_LEN);
	truth_blank(attr_id, got);
	assert_memory_equal(got, record, sa_record_size(attr_id));
}

static uint64_t
field(const uint8_t *record, unsigned attr_id, unsigned component)
{
	unsigned n;
	const struct sa_field *f = &sa_fields(attr_id, &n)[component];
	uint64_t value = bytes_load(record + f->offset / 8,
				    (f->offset % 8 + f->bits + 7) / 8);

	return value >> ((8 - (f->offset + f->bits) % 8) % 8) &
		(UINT64_MAX >> (64 - f->bits));
}

static bool
agree(const uint8_t *a, const uint8_t *b, unsigned attr_id, uint64_t mask)
{
	for (unsigned i = 0; mask >> i; i++)
		if (mask >> i & 1 && field(a, attr_id, i) !=
		    field(b, attr_id, i))
			return false;
	return true;
}

/* By these components of each record: GetTable tells those of `all` that have
 * them, and Get the record if there is one only. */
static void
check_by(struct survey *b, unsigned attr_id, const GByteArray *all,
	 uint64_t mask)
{
	size_t size = sa_record_size(attr_id);

	for (guint at = 0; at < all->len; at += (guint)size) {
		const uint8_t *r = all->data + at;
		GByteArray *want = g_byte_array_new(), *got;

		for (guint i = 0; i < all->len; i += (guint)size)
			if (agree(all->data + i, r, attr_id, mask))
				g_byte_array_append(want, all->data + i,
						    (guint)size);
		assert_int_equal(survey_ask(b, SA_METHOD_GET_TABLE, attr_id,
					    mask, r), 0);
		got = survey_told(&b->c[0], attr_id);
		assert_true(survey_same(attr_id, want, got) > 0);
		assert_int_equal(survey_ask(b, MAD_METHOD_GET, attr_id, mask,
					    r),
				 want->len > size ? SA_STATUS_TOO_MANY : 0);
		if (want->len == size)
			assert_told(b, attr_id, r);
		g_byte_array_unref(want);
		g_byte_array_unref(got);
	}
}

static void
check_nodes_and_ports(const char *spec)
{
	GByteArray *all;
	struct survey b;

	survey_open(&b, spec, 0);
	all = survey_check(&b, SA_ATTR_NODE);
	assert_int_equal(all->len / sa_record_size(SA_ATTR_NODE),
			 b.ends->len);
	check_by(&b, SA_ATTR_NODE, all, SA_BIT(LID));
	check_by(&b, SA_ATTR_NODE, all, SA_BIT(NODE_GUID));
	check_by(&b, SA_ATTR_NODE, all, SA_BIT(PORT_GUID));
	check_by(&b, SA_ATTR_NODE, all, SA_BIT(LID) | SA_BIT(NODE_GUID) |
		 SA_BIT(PORT_GUID));
	g_byte_array_unref(all);
	all = survey_check(&b, SA_ATTR_PORT_INFO);
	check_by(&b, SA_ATTR_PORT_INFO, all, SA_BIT(LID));
	check_by(&b, SA_ATTR_PORT_INFO, all, SA_BIT(LID) | SA_BIT(PORT_NUM));
	g_byte_array_unref(all);
	survey_close(&b);
}

static void
test_nodes_and_ports_are_those_of_the_fabric(void **state)
{
	check_nodes_and_ports(SURVEY_TREE);
}

/* A NodeRecord for each port of a CA: the same NodeGUID, another PortGUID. */
static void
test_hosts_of_two_ports_are_told_twice(void **state)
{
	check_nodes_and_ports(SURVEY_RAILS);
}

/* A LID and a GUID that do not belong together name nobody. */
static void
test_names_of_two_nodes_are_nobodys(void **state)
{
	const uint64_t both = SA_BIT(LID) | SA_BIT(PORT_GUID);
	uint8_t wanted[SA_DATA_LEN] = { 0 };
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	bytes_store(wanted, osm_lid(&b.o, survey_end(&b, 0)), 2);
	bytes_store(wanted + OFF_PORT_GUID,
		    b.o.w.s->ports[survey_end(&b, 1)].guid, 8);
	assert_int_equal(survey_ask(&b, SA_METHOD_GET_TABLE, SA_ATTR_NODE, both,
			     wanted), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_NODE), 0);
	assert_int_equal(survey_ask(&b, MAD_METHOD_GET, SA_ATTR_NODE, both,
				    wanted), SA_STATUS_NO_RECORDS);
	bytes_store(wanted + OFF_NODE_GUID, 0x4711, 8);
	assert_int_equal(survey_ask(&b, SA_METHOD_GET_TABLE, SA_ATTR_NODE,
			     SA_BIT(NODE_GUID), wanted), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_NODE), 0);
	survey_close(&b);
}

static void
test_links_are_told_from_both_ends(void **state)
{
	GByteArray *all;
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	all = survey_check(&b, SA_ATTR_LINK);
	/* 24 to hosts, 6 leaves to 4 switches each */
	assert_int_equal(all->len / sa_record_size(SA_ATTR_LINK),
			 2 * (24 + 24));
	check_by(&b, SA_ATTR_LINK, all, SA_BIT(LID));
	check_by(&b, SA_ATTR_LINK, all, SA_BIT(TO_LID));
	check_by(&b, SA_ATTR_LINK, all, SA_BIT(LID) | SA_BIT(TO_LID));
	check_by(&b, SA_ATTR_LINK, all, SA_BIT(LID) | SA_BIT(FROM_PORT));
	check_by(&b, SA_ATTR_LINK, all, SA_BIT(TO_PORT) | SA_BIT(TO_LID));
	g_byte_array_unref(all);
	survey_close(&b);
}

/* IPoIB's group of all, so that switches have something to forward. */
static void
join(struct survey *b, unsigned client)
{
	static const uint8_t ipoib[16] = {
		0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff,
	};
	struct mcmember_record r = { .join_state = 1 };
	struct osm_question q = {
		.method = MAD_METHOD_SET, .attr_id = SA_ATTR_MC_MEMBER,
		.mask = SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID) |
			SA_BIT(MCM_JOIN_STATE),
	};

	memcpy(r.mgid, ipoib, 16);
	osm_gid(&b->o, b->c[client].port, r.port_gid);
	mcmember_record_encode(q.data, &r);
	assert_int_equal(osm_ask(&b->c[client], &q), 0);
}

static void
test_tables_are_what_the_devices_hold(void **state)
{
	static const struct {
		unsigned attr_id;
		uint64_t by[2];
	} tables[] = {
		{ SA_ATTR_SWITCH_INFO, { SA_BIT(LID) } },
		{ SA_ATTR_GUID_INFO, { SA_BIT(LID),
				       SA_BIT(LID) | SA_BIT(BLOCK) } },
		{ SA_ATTR_LINEAR_FT, { SA_BIT(LID),
				       SA_BIT(LID) | SA_BIT(BLOCK) } },
		{ SA_ATTR_MULTICAST_FT, { SA_BIT(LID) | SA_BIT(MFT_POSITION) |
					  SA_BIT(MFT_BLOCKNUM) } },
		{ SA_ATTR_PKEY_TABLE, { SA_BIT(LID), SA_BIT(LID) |
					SA_BIT(BLOCK) | SA_BIT(PKEY_PORT) } },
		{ SA_ATTR_SL_TO_VL, { SA_BIT(LID) | SA_BIT(IN_PORT) |
				      SA_BIT(SL_OUT_PORT) } },
		{ SA_ATTR_VL_ARB, { SA_BIT(LID), SA_BIT(LID) |
				    SA_BIT(OUT_PORT) | SA_BIT(ARB_BLOCK) } },
	};
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	for (unsigned i = 0; i < SURVEY_CLIENTS; i++)
		join(&b, i);
	osm_run(&b.o, SECOND);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		GByteArray *all = survey_check(&b, tables[i].attr_id);

		for (unsigned k = 0; k < 2 && tables[i].by[k]; k++)
			check_by(&b, tables[i].attr_id, all, tables[i].by[k]);
		g_byte_array_unref(all);
	}
	survey_close(&b);
}

/* Until a sweep has ended; what it found has just been published. */
static void
run_to_the_end_of_a_sweep(struct survey *b)
{
	unsigned ends = b->o.w.m.ends;

	while (b->o.w.m.ends == ends)
		assert_true(sim_step(b->o.w.sim));
}

static void
check_mft(struct survey *b)
{
	g_byte_array_unref(survey_check(b, SA_ATTR_MULTICAST_FT));
}

#define MANY	70u	/* more than two blocks of an MFT */
#define CREATE	(SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID) | \
		 SA_BIT(MCM_JOIN_STATE) | SA_BIT(MCM_Q_KEY) | \
		 SA_BIT(MCM_PKEY) | SA_BIT(MCM_SL) | \
		 SA_BIT(MCM_FLOW_LABEL) | SA_BIT(MCM_TCLASS))

/* Two hosts join, or leave, the nth of some groups. */
static void
change_group(struct survey *b, unsigned method, unsigned n)
{
	struct mcmember_record r = {
		.mgid = { 0xff, 0x12, 0xa0, 0x1c }, .pkey = 0xffff,
		.join_state = 1,
	};
	struct osm_question q = {
		.method = method, .attr_id = SA_ATTR_MC_MEMBER, .mask = CREATE,
	};

	bytes_store(r.mgid + 12, n + 1, 4);
	for (unsigned i = 0; i < 2; i++) {
		osm_gid(&b->o, b->c[i].port, r.port_gid);
		mcmember_record_encode(q.data, &r);
		assert_int_equal(osm_ask(&b->c[i], &q), 0);
	}
}

/* Groups come in numbers, and go, the youngest first: what switches hold of them
 * goes, too, and is told to be gone. */
static void
test_multicast_tables_shrink_with_their_groups(void **state)
{
	GByteArray *truth;
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	for (unsigned i = 0; i < MANY; i++)
		change_group(&b, MAD_METHOD_SET, i);
	osm_run(&b.o, SECOND);
	check_mft(&b);
	for (unsigned i = MANY - 1; i > 0; i--) {
		change_group(&b, SA_METHOD_DELETE, i);
		if (i % 8 == 0) {
			osm_run(&b.o, SECOND / 4);
			check_mft(&b);
		}
	}
	osm_run(&b.o, SECOND / 4);
	check_mft(&b);
	change_group(&b, SA_METHOD_DELETE, 0);
	osm_run(&b.o, SECOND);
	truth = truth_records(&b.x, SA_ATTR_MULTICAST_FT);
	assert_int_equal(truth->len, 0);
	g_byte_array_unref(truth);
	survey_close(&b);
}

/* A join changes tables without a sweep. A switch that goes, or comes, changes
 * the numbers by which the SM counts switches; at no moment is a table told as
 * that of another one. */
static void
test_multicast_tables_are_told_of_the_right_switch(void **state)
{
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	for (unsigned i = 0; i < SURVEY_CLIENTS; i++) {
		join(&b, i);
		osm_run(&b.o, SECOND / 4);
		check_mft(&b);
	}
	for (uint32_t i = 0; i < b.o.w.s->n_switches; i++) {
		uint32_t node = b.o.w.s->switches[i];

		/* A leaf takes its hosts along: those who ask stay. */
		if (b.o.w.s->nodes[node].info.num_ports != 6)
			continue;
		sim_node_off(b.o.w.sim, node);
		run_to_the_end_of_a_sweep(&b);
		check_mft(&b);
		osm_settle(&b.o);
		check_mft(&b);
		sim_node_on(b.o.w.sim, node);
		run_to_the_end_of_a_sweep(&b);
		check_mft(&b);
		osm_settle(&b.o);
		check_mft(&b);
	}
	survey_close(&b);
}

/* The whole of the inventory's tables through losses, against the truth. */
static void
test_tables_are_whole_through_losses(void **state)
{
	static const unsigned tables[] = {
		SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_LINK,
		SA_ATTR_LINEAR_FT, SA_ATTR_SL_TO_VL,
	};
	struct survey b;
	unsigned rule;

	survey_open(&b, SURVEY_TREE, 0);
	rule = osm_lose(&b.o, 50);
	for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++)
		g_byte_array_unref(survey_check(&b, tables[i]));
	assert_true(sim_rule_hits(b.o.w.sim, rule) > 0);
	survey_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_and_ports_are_those_of_the_fabric),
		cmocka_unit_test(test_hosts_of_two_ports_are_told_twice),
		cmocka_unit_test(test_names_of_two_nodes_are_nobodys),
		cmocka_unit_test(test_links_are_told_from_both_ends),
		cmocka_unit_test(test_tables_are_what_the_devices_hold),
		cmocka_unit_test(
			test_multicast_tables_shrink_with_their_groups),
		cmocka_unit_test(
			test_multicast_tables_are_told_of_the_right_switch),
		cmocka_unit_test(test_tables_are_whole_through_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
