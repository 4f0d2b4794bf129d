// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What clients leave behind, seen through the SA as a whole: groups and the
 * trees that they need, services, subscriptions, restarts. The stores by
 * themselves: test_sa_mcmember.c, test_sa_service.c, test_sa_informinfo.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/sa/sa_db.h"
#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"

#define TREE	"PGFT(3,4;1,3)"	/* 12 hosts, 4 leaves, 3 spines */

static void
join(struct lab *l, unsigned host, uint8_t join_state)
{
	uint32_t port = lab_host(l, host);

	lab_want_join(l, port, join_state);
	assert_int_equal(lab_ask_from(l, port), 0);
}

static void
set_guid(struct lab *l, uint32_t port, uint64_t guid)
{
	struct snapshot *old = l->s;

	l->s = snapshot_copy(old);
	snapshot_unref(old);
	l->s->ports[port].guid = guid;
	lab_publish(l);
}

static const struct sa_tree *
tree(struct lab *l, unsigned i)
{
	const GArray *trees = sa_trees(l->sa);

	assert_true(i < trees->len);
	return &g_array_index(trees, struct sa_tree, i);
}

TEST(test_ipoib_group_is_joined_found_and_left, lab_set_up, lab_tear_down)
{
	struct lab *l = *state;

	for (unsigned i = 0; i < 3; i++)
		join(l, i, 1);
	assert_int_equal(sa_trees(l->sa)->len, 1);
	assert_int_equal(tree(l, 0)->n_members, 3);
	assert_int_equal(tree(l, 0)->mlid, 0xc000);
	for (unsigned i = 0; i < 3; i++) {
		lab_want_join(l, lab_host(l, i), 1);
		l->mad[3] = SA_METHOD_DELETE;
		assert_int_equal(lab_ask_from(l, lab_host(l, i)), 0);
	}
	assert_int_equal(sa_trees(l->sa)->len, 0);
}

/* Who is in a group is for the trusted; the others learn of the group. */
TEST(test_members_are_told_to_the_trusted, lab_set_up, lab_tear_down)
{
	uint64_t by_port = SA_BIT(MCM_PORT_GID);
	struct mcmember_record r = { .join_state = 4 };
	struct lab *l = *state;

	join(l, 0, 1);
	join(l, 1, 1);
	join(l, 2, 4);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, 0);
	assert_records(l, 3);
	lab_distrust(l);
	assert_records(l, 1);
	l->mad[3] = MAD_METHOD_GET;
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_answer(l)[0], 0xff);
	assert_true(lab_get(lab_answer(l) + 16, 8) == 0);
	assert_int_equal(lab_answer(l)[48] & 0xf, 0);
	/* By member, by what it does. */
	lab_gid(l, lab_host(l, 1), r.port_gid);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, by_port);
	sa_record_encode(SA_ATTR_MC_MEMBER, lab_data(l), &r);
	assert_records(l, 1);
	lab_distrust(l);
	assert_records(l, 0);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER,
		  SA_BIT(MCM_JOIN_STATE));
	sa_record_encode(SA_ATTR_MC_MEMBER, lab_data(l), &r);
	assert_records(l, 1);
	/* A stranger to the partition does not even see the group. */
	lab_clear_rules(l);
	partition_rules_get(l->rules, 0x7fff);
	lab_member(l, 0x7fff, lab_host(l, 0), PARTITION_FULL);
	lab_member(l, 1, lab_host(l, 5), PARTITION_FULL);
	lab_publish(l);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, 0);
	lab_distrust(l);
	assert_records_from(l, lab_host(l, 5), 0);
}

TEST(test_trees_tell_receivers_from_senders, lab_set_up, lab_tear_down)
{
	const struct sa_tree *t;
	uint64_t version;
	struct lab *l = *state;

	/* The order of PortGUIDs is not that of the ports. */
	set_guid(l, lab_host(l, 0), UINT64_MAX - 1);
	set_guid(l, lab_host(l, 1), UINT64_MAX - 2);
	version = sa_groups_version(l->sa);
	join(l, 3, 1);
	assert_true(sa_groups_version(l->sa) != version);
	join(l, 1, 2);
	join(l, 2, 4);
	join(l, 0, 8);
	t = tree(l, 0);
	assert_int_equal(t->n_members, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(t->members[i].receives, i < 2);
	assert_true(t->members[0].port < t->members[1].port);
	assert_true(t->members[2].port < t->members[3].port);
	assert_true(t->members[0].port == lab_host(l, 1) ||
		    t->members[1].port == lab_host(l, 1));
	version = sa_groups_version(l->sa);
	lab_publish(l);
	assert_true(sa_groups_version(l->sa) == version);
}

/* The subnet was given another prefix: a member that joined before and joins
 * again is one receiver. */
TEST(test_port_of_two_gids_is_one_receiver, lab_set_up, lab_tear_down)
{
	struct sa_stats stats;
	struct lab *l = *state;

	join(l, 1, 1);
	l->prefix = UINT64_C(0xfec0000000000001);
	lab_publish(l);
	join(l, 1, 1);
	join(l, 2, 1);
	sa_stats(l->sa, &stats);
	assert_int_equal(tree(l, 0)->n_members, 2);
	assert_true(stats.n_members >= 2);
}

/* The order of requests does not show. */
TEST(test_order_of_joins_does_not_matter)
{
	static const unsigned orders[2][5] = {
		{ 0, 1, 2, 3, 4 }, { 3, 0, 4, 2, 1 },
	};
	GByteArray *tables[2];
	GString *text[2];
	struct lab l;
	unsigned n;

	for (unsigned k = 0; k < 2; k++) {
		lab_open(&l, TREE, 0);
		for (unsigned i = 0; i < 5; i++)
			join(&l, orders[k][i], 1);
		lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, 0);
		lab_ask(&l);
		tables[k] = lab_drain(&l, &n);
		assert_int_equal(n, 5);
		text[k] = g_string_new(NULL);
		sa_save(l.sa, text[k], LAB_NOW);
		lab_close(&l);
	}
	assert_int_equal(tables[0]->len, tables[1]->len);
	assert_memory_equal(tables[0]->data, tables[1]->data, tables[0]->len);
	assert_string_equal(text[0]->str, text[1]->str);
	for (unsigned k = 0; k < 2; k++) {
		g_byte_array_unref(tables[k]);
		g_string_free(text[k], TRUE);
	}
}

/* --------------------------------------------------------------- services */

static void
register_service(struct lab *l, unsigned host, uint64_t id, uint16_t pkey,
		 uint32_t lease)
{
	struct service_record r = {
		.id = id, .pkey = pkey, .lease = lease, .name = "test",
		.key = "secret",
	};

	lab_gid(l, lab_host(l, host), r.gid);
	lab_begin(l, MAD_METHOD_SET, SA_ATTR_SERVICE, SA_BIT(SERVICE_ID) |
		  SA_BIT(SERVICE_GID) | SA_BIT(SERVICE_LEASE) |
		  SA_BIT(SERVICE_KEY) | SA_BIT(SERVICE_NAME) |
		  (pkey ? SA_BIT(SERVICE_PKEY) : 0));
	sa_record_encode(SA_ATTR_SERVICE, lab_data(l), &r);
	assert_int_equal(lab_ask_from(l, lab_host(l, host)), 0);
}

static unsigned
count_services(struct lab *l, uint64_t mask, uint64_t id, bool trusted)
{
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_SERVICE, mask);
	if (!trusted)
		lab_distrust(l);
	lab_put(lab_data(l), id, 8);
	assert_int_equal(lab_ask(l), 0);
	return lab_count(l);
}

TEST(test_services_are_found_by_who_may, lab_set_up, lab_tear_down)
{
	struct service_record r;
	struct lab *l = *state;

	lab_member(l, 5, lab_host(l, 1), PARTITION_FULL);
	lab_publish(l);
	register_service(l, 1, 10, 0, UINT32_MAX);
	register_service(l, 1, 11, 0x8005, 60);
	register_service(l, 2, 11, 0xffff, 60);
	assert_int_equal(count_services(l, 0, 0, true), 3);
	assert_int_equal(count_services(l, SA_BIT(SERVICE_ID), 11, true), 2);
	assert_int_equal(count_services(l, SA_BIT(SERVICE_ID), 12, true), 0);
	/* Without a P_Key it is for everybody; host 0 is not in 5. */
	assert_int_equal(count_services(l, 0, 0, false), 2);
	assert_int_equal(count_services(l, SA_BIT(SERVICE_ID), 10, false),
			 1);
	assert_int_equal(count_services(l, SA_BIT(SERVICE_ID), 11, false),
			 1);
	/* The key is never told, but may be asked for. */
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_SERVICE, SA_BIT(SERVICE_ID) |
		  SA_BIT(SERVICE_KEY));
	lab_put(lab_data(l), 10, 8);
	memcpy(lab_data(l) + 32, "secret", 6);
	assert_int_equal(lab_ask(l), 0);
	sa_record_decode(SA_ATTR_SERVICE, lab_answer(l), &r);
	assert_true(lab_get(r.key, 8) == 0);
	assert_int_equal(r.lease, UINT32_MAX);
	lab_data(l)[32] ^= 1;
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
}

TEST(test_lease_runs_out, lab_set_up, lab_tear_down)
{
	struct sa_request request = { .len = MAD_SIZE };
	struct service_record r;
	struct lab *l = *state;

	register_service(l, 1, 10, 0, 4);
	assert_true(sa_deadline(l->sa) == LAB_NOW + 4 * G_USEC_PER_SEC);
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_SERVICE, SA_BIT(SERVICE_ID));
	lab_put(lab_data(l), 10, 8);
	request.mad = l->mad;
	request.slid = lab_lid(l, lab_host(l, 0));
	request.now = LAB_NOW + G_USEC_PER_SEC / 2;
	sa_answer(l->sa, &request, &l->reply);
	sa_record_decode(SA_ATTR_SERVICE, lab_answer(l), &r);
	assert_int_equal(r.lease, 4);
	request.now += G_USEC_PER_SEC;
	sa_answer(l->sa, &request, &l->reply);
	sa_record_decode(SA_ATTR_SERVICE, lab_answer(l), &r);
	assert_int_equal(r.lease, 3);
	/* Over, though the clock has not yet struck. */
	request.now = LAB_NOW + 4 * G_USEC_PER_SEC;
	sa_answer(l->sa, &request, &l->reply);
	assert_int_equal(lab_get(l->reply.mad + 4, 2), SA_STATUS_NO_RECORDS);
	sa_tick(l->sa, request.now);
	assert_true(sa_deadline(l->sa) == INT64_MAX);
}

/* ----------------------------------------------------------- subscriptions */

static void
subscribe(struct lab *l, unsigned host)
{
	struct inform_info info = {
		.lid_begin = 0xffff, .generic = true, .subscribe = 1,
		.type = 0xffff, .trap = 0xffff, .producer = 0xffffff,
		.qpn = 1,
	};

	lab_begin(l, MAD_METHOD_SET, SA_ATTR_INFORM_INFO, 0);
	sa_record_encode(SA_ATTR_INFORM_INFO, lab_data(l), &info);
	assert_int_equal(lab_ask_from(l, lab_host(l, host)), 0);
}

/* Host 0 makes the group ff12::9. */
static void
create_group(struct lab *l, uint16_t pkey)
{
	struct mcmember_record r = {
		.mgid = { 0xff, 0x12, [15] = 9 }, .q_key = 1, .pkey = pkey,
		.join_state = 1, .scope = 2,
	};

	lab_gid(l, lab_host(l, 0), r.port_gid);
	lab_begin(l, MAD_METHOD_SET, SA_ATTR_MC_MEMBER, SA_BIT(MCM_MGID) |
		  SA_BIT(MCM_PORT_GID) | SA_BIT(MCM_Q_KEY) |
		  SA_BIT(MCM_TCLASS) | SA_BIT(MCM_PKEY) | SA_BIT(MCM_SL) |
		  SA_BIT(MCM_FLOW_LABEL) | SA_BIT(MCM_JOIN_STATE));
	sa_record_encode(SA_ATTR_MC_MEMBER, lab_data(l), &r);
	assert_int_equal(lab_ask(l), 0);
}

static unsigned
trap_of(const struct sa_report *report)
{
	return lab_get(report->mad + SA_DATA_OFFSET + 4, 2);
}

TEST(test_subscriber_is_told_of_ports_that_come_and_go,
     lab_set_up, lab_tear_down)
{
	struct sa_report report;
	struct lab *l = *state;
	uint32_t gone;
	uint64_t guid;

	subscribe(l, 2);
	assert_false(sa_next_report(l->sa, &report));
	gone = lab_host(l, 7);
	guid = l->s->ports[gone].guid;
	set_guid(l, gone, 0);
	assert_true(sa_next_report(l->sa, &report));
	assert_int_equal(report.lid, lab_lid(l, lab_host(l, 2)));
	assert_int_equal(report.pkey, 0xffff);
	assert_int_equal(report.mad[3], SA_METHOD_REPORT);
	assert_int_equal(trap_of(&report), 65);
	assert_true(lab_get(report.mad + SA_DATA_OFFSET + 24, 8) == guid);
	set_guid(l, gone, guid);
	assert_true(sa_next_report(l->sa, &report));
	assert_int_equal(trap_of(&report), 64);
	assert_true(lab_get(report.mad + SA_DATA_OFFSET + 24, 8) == guid);
	/* Whoever does not answer is dead. */
	sa_report_failed(l->sa, report.port_guid);
	set_guid(l, gone, 0);
	assert_false(sa_next_report(l->sa, &report));
}

TEST(test_subscriber_is_told_of_groups, lab_set_up, lab_tear_down)
{
	static const uint8_t mgid[16] = { 0xff, 0x12, [15] = 9 };
	struct sa_report report;
	struct lab *l = *state;

	subscribe(l, 2);
	while (sa_next_report(l->sa, &report))
		;
	create_group(l, 0xffff);
	assert_true(sa_next_report(l->sa, &report));
	assert_int_equal(trap_of(&report), 66);
	assert_memory_equal(report.mad + SA_DATA_OFFSET + 16, mgid, 16);
	l->mad[3] = SA_METHOD_DELETE;
	assert_int_equal(lab_ask(l), 0);
	assert_true(sa_next_report(l->sa, &report));
	assert_int_equal(trap_of(&report), 67);
}

TEST(test_traps_are_passed_on, lab_set_up, lab_tear_down)
{
	uint8_t notice[NOTICE_LEN] = { 0x81, 0, 0, 2, 0, 128 };
	struct sa_report report;
	uint32_t sw;
	struct lab *l = *state;

	sw = lab_switch(l, 0);
	lab_put(notice + 6, lab_lid(l, sw), 2);
	lab_put(notice + 10, lab_lid(l, sw), 2);
	subscribe(l, 2);
	sa_forward_trap(l->sa, notice, 0xbfff, LAB_NOW);
	assert_false(sa_next_report(l->sa, &report));
	sa_forward_trap(l->sa, notice, lab_lid(l, sw), LAB_NOW);
	assert_true(sa_next_report(l->sa, &report));
	assert_memory_equal(report.mad + SA_DATA_OFFSET, notice, NOTICE_LEN);
	assert_true(lab_get(report.mad + SA_DATA_OFFSET +
			    NOTICE_ISSUER_OFFSET + 8, 8) ==
		    l->s->ports[sw].guid);
}

/* In partition 3 hosts 0 (our own port), 2 and 4, of which 4 is limited; 2 is
 * in the default one, too. A group of partition 3 is told by the P_Key of that,
 * a port by the default one if there is a choice; the desk needs the index. */
TEST(test_reports_go_by_a_common_pkey, lab_set_up, lab_tear_down)
{
	union port_block b = { .pkeys = { 0xffff, 0, 0x8003 } };
	unsigned n66 = 0, n65 = 0;
	struct port_tables *held;
	struct sa_report report;
	uint32_t gone, own;
	struct lab *l = *state;

	own = l->s->local_port;
	lab_clear_rules(l);
	for (uint32_t i = 0; i < 12; i++)
		if (i != 4)
			lab_member(l, PKEY_DEFAULT, lab_host(l, i),
				   PARTITION_FULL);
	lab_member(l, PKEY_DEFAULT, own, PARTITION_FULL);
	lab_member(l, 3, own, PARTITION_FULL);
	lab_member(l, 3, lab_host(l, 0), PARTITION_FULL);
	lab_member(l, 3, lab_host(l, 2), PARTITION_FULL);
	lab_member(l, 3, lab_host(l, 4), PARTITION_LIMITED);
	lab_publish(l);
	for (unsigned host = 1; host < 5; host++)
		subscribe(l, host);
	for (uint32_t n = 0; n < l->s->n_nodes; n++)
		l->s->nodes[n].info.partition_cap = 32;
	held = port_tables_new(l->s);
	port_tables_set(held, PORT_TABLE_PKEY, own, 0, &b);
	sa_db_set_tables(sa_view_of(l->sa), held);
	while (sa_next_report(l->sa, &report))
		;
	create_group(l, 0x8003);
	for (; sa_next_report(l->sa, &report); n66++) {
		assert_true(report.lid == lab_lid(l, lab_host(l, 2)) ||
			    report.lid == lab_lid(l, lab_host(l, 4)));
		assert_int_equal(report.pkey, 0x8003);
		assert_int_equal(report.pkey_index, 2);
	}
	assert_int_equal(n66, 2);
	/* host 2 is gone: host 4, limited as to it, may have talked to it */
	gone = lab_host(l, 2);
	set_guid(l, gone, 0);
	sa_db_set_tables(sa_view_of(l->sa), held);
	for (; sa_next_report(l->sa, &report); n65++) {
		bool is4 = report.lid == lab_lid(l, lab_host(l, 4));

		assert_int_equal(trap_of(&report), 65);
		assert_int_equal(report.pkey, is4 ? 0x8003 : 0xffff);
		assert_int_equal(report.pkey_index, is4 ? 2 : 0);
	}
	assert_int_equal(n65, 3);
	port_tables_unref(held);
}

TEST(test_groups_are_found_by_mlid, lab_set_up, lab_tear_down)
{
	struct mcmember_record r = { .mlid = 0xc000 };
	struct path_record path = { .dlid = 0xc000 };
	struct lab *l = *state;

	join(l, 1, 1);
	join(l, 2, 1);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER,
		  SA_BIT(MCM_MLID));
	for (unsigned mlid = 0xbfff; mlid <= 0x10000; mlid += 0x4001) {
		r.mlid = (uint16_t)mlid;
		sa_record_encode(SA_ATTR_MC_MEMBER, lab_data(l), &r);
		assert_records(l, 0);
	}
	r.mlid = 0xc000;
	sa_record_encode(SA_ATTR_MC_MEMBER, lab_data(l), &r);
	assert_records(l, 2);
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_PATH, SA_BIT(PATH_DLID));
	path_record_encode(lab_data(l), &path);
	assert_int_equal(lab_ask(l), 0);
	path.dlid = 0xfffe;
	path_record_encode(lab_data(l), &path);
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
	/* both components must be right */
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER,
		  SA_BIT(MCM_MLID) | SA_BIT(MCM_JOIN_STATE));
	r.join_state = 2;
	sa_record_encode(SA_ATTR_MC_MEMBER, lab_data(l), &r);
	assert_records(l, 0);
}

TEST(test_subscriptions_are_ones_own, lab_set_up, lab_tear_down)
{
	struct lab *l = *state;

	subscribe(l, 2);
	subscribe(l, 3);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_INFORM_INFO_RECORD, 0);
	assert_records(l, 2);
	lab_distrust(l);
	assert_records(l, 0);
	assert_records_from(l, lab_host(l, 2), 1);
}

/* ---------------------------------------------------------------- restarts */

TEST(test_state_survives_a_restart, lab_set_up, lab_tear_down)
{
	const struct sa_params params = { .sm_key = LAB_KEY };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) again = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct sa_stats stats;
	uint64_t version;
	struct lab *l = *state;

	version = sa_saved_version(l->sa);
	join(l, 1, 1);
	assert_true(sa_saved_version(l->sa) != version);
	register_service(l, 1, 10, 0, 60);
	subscribe(l, 3);
	sa_save(l->sa, text, LAB_NOW);
	sa_free(l->sa);
	l->sa = sa_new(&params);
	assert_true(sa_load(l->sa, text->str, LAB_NOW, &error));
	lab_publish(l);
	sa_save(l->sa, again, LAB_NOW);
	assert_string_equal(again->str, text->str);
	sa_stats(l->sa, &stats);
	assert_int_equal(stats.n_members, 1);
	assert_int_equal(stats.n_services, 1);
	assert_int_equal(stats.n_subscriptions, 1);
}

/* A file that is damaged changes nothing, whatever its first lines say. */
TEST(test_damaged_state_is_refused_whole, lab_set_up, lab_tear_down)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) after = g_string_new(NULL);
	g_autoptr(GString) bad = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) lines = NULL;
	g_autofree char *where = NULL;
	struct lab *l = *state;

	join(l, 1, 1);
	sa_save(l->sa, text, LAB_NOW);
	g_string_assign(bad, text->str);
	g_string_append(bad, "nonsense 1 2\n");
	join(l, 2, 1);
	g_string_truncate(text, 0);
	sa_save(l->sa, text, LAB_NOW);
	lines = g_strsplit(bad->str, "\n", -1);
	where = g_strdup_printf("line %u: ", g_strv_length(lines) - 1);
	assert_false(sa_load(l->sa, bad->str, LAB_NOW, &error));
	assert_true(g_str_has_prefix(error->message, where));
	sa_save(l->sa, after, LAB_NOW);
	assert_string_equal(after->str, text->str);
}
