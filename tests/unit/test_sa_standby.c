// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state as a standby gets it: by the records that any SA answers, and as
 * the text that one minism gives another. Who gets it, and what is damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/sa/sa_db.h"
#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"

static const uint16_t attrs[] = {
	SA_ATTR_MC_MEMBER, SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
};

static void
ask(struct lab *l, unsigned host, unsigned attr_id, uint64_t mask,
    const void *record)
{
	lab_begin(l, MAD_METHOD_SET, attr_id, mask);
	sa_record_encode(attr_id, lab_data(l), record);
	assert_int_equal(lab_ask_from(l, lab_host(l, host)), 0);
}

/* A full and a send-only member, a group of a client's own, services with a
 * lease and without, subscriptions of all and of one LID. */
static void
fill(struct lab *l)
{
	struct mcmember_record own = {
		.mgid = { 0xff, 0x15, 0x60, 1, [15] = 9 }, .q_key = 0x1234,
		.pkey = 0xffff, .sl = 2, .flow_label = 0x54321, .tclass = 7,
		.hop_limit = 3, .join_state = 1,
	};
	struct service_record service = { .id = 7, .name = "one",
					  .lease = 100, .key = { 1, 2 } };
	struct inform_info inform = {
		.lid_begin = 0xffff, .generic = true, .subscribe = 1,
		.type = 0xffff, .trap = 0xffff, .producer = 0xffffff,
		.resp_time = 19, .qpn = 1,
	};

	lab_want_join(l, lab_host(l, 0), 1);
	assert_int_equal(lab_ask_from(l, lab_host(l, 0)), 0);
	lab_want_join(l, lab_host(l, 3), 1);
	assert_int_equal(lab_ask_from(l, lab_host(l, 3)), 0);
	lab_want_join(l, lab_host(l, 3), 4);
	assert_int_equal(lab_ask_from(l, lab_host(l, 3)), 0);
	lab_gid(l, lab_host(l, 2), own.port_gid);
	ask(l, 2, SA_ATTR_MC_MEMBER, 0x1ffff & ~(SA_BIT(MCM_MLID) |
	    SA_BIT(MCM_MTU_SELECTOR) | SA_BIT(MCM_MTU) |
	    SA_BIT(MCM_RATE_SELECTOR) | SA_BIT(MCM_RATE) |
	    SA_BIT(MCM_LIFE_SELECTOR) | SA_BIT(MCM_LIFE) |
	    SA_BIT(MCM_SCOPE)), &own);
	lab_gid(l, lab_host(l, 1), service.gid);
	ask(l, 1, SA_ATTR_SERVICE, 0x73, &service);
	service.id = 8;
	ask(l, 1, SA_ATTR_SERVICE, SA_BIT(SERVICE_ID) | SA_BIT(SERVICE_GID),
	    &service);
	ask(l, 1, SA_ATTR_INFORM_INFO, 0, &inform);
	inform.trap = 66;
	inform.lid_begin = 3;
	inform.lid_end = 5;
	ask(l, 1, SA_ATTR_INFORM_INFO, 0, &inform);
	ask(l, 2, SA_ATTR_INFORM_INFO, 0, &inform);
}

static GByteArray *
read_table(struct lab *l, unsigned attr_id)
{
	GByteArray *bytes;
	unsigned n;

	lab_begin(l, SA_METHOD_GET_TABLE, attr_id, 0);
	assert_int_equal(lab_ask(l), 0);
	bytes = lab_drain(l, &n);
	assert_true(n > 1);
	return bytes;
}

/* What a manager learns from our records and saves, it answers as we did. */
TEST(test_records_are_all_that_clients_registered)
{
	g_autoptr(GString) text = g_string_new(NULL);
	GByteArray *before[3];
	struct sa *other;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	fill(&l);
	other = sa_new(sa_params_of(l.sa));
	for (unsigned i = 0; i < 3; i++) {
		size_t size = sa_record_size(attrs[i]);

		before[i] = read_table(&l, attrs[i]);
		for (guint at = 0; at < before[i]->len; at += size)
			sa_learn(other, attrs[i], before[i]->data + at,
				 LAB_NOW);
		/* a second time it is nothing new */
		sa_learn(other, attrs[i], before[i]->data, LAB_NOW);
	}
	sa_save(other, text, LAB_NOW);
	assert_true(sa_load(l.sa, text->str, LAB_NOW, NULL));
	for (unsigned i = 0; i < 3; i++) {
		GByteArray *after = read_table(&l, attrs[i]);

		assert_int_equal(after->len, before[i]->len);
		assert_memory_equal(after->data, before[i]->data, after->len);
		g_byte_array_unref(after);
		g_byte_array_unref(before[i]);
	}
	sa_free(other);
	lab_close(&l);
}

/* MLIDs that are none, or another group's; an MGID and an MTU that are none:
 * the rest can still be saved and read. */
TEST(test_records_that_make_no_sense_are_left_out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	static const uint16_t mlids[] = { 0, 1, 0xbfff, 0xc000, 0xffff };
	struct mcmember_record r = {
		.mgid = { 0xff, 0x12 }, .mlid = 0xc000, .pkey = 0xffff,
		.mtu = 4, .rate = 3, .join_state = 1,
	};
	struct service_record service = { .id = 1, .lease = 0 };
	struct sa_params params = { .sm_key = 1 };
	struct sa *sa = sa_new(&params);
	uint8_t data[SA_DATA_LEN];
	struct sa_stats stats;

	sa_record_encode(SA_ATTR_MC_MEMBER, data, &r);
	assert_true(sa_learn(sa, SA_ATTR_MC_MEMBER, data, 0));
	for (size_t i = 0; i < G_N_ELEMENTS(mlids); i++) {
		r.mgid[15]++;
		r.mlid = mlids[i];
		sa_record_encode(SA_ATTR_MC_MEMBER, data, &r);
		assert_false(sa_learn(sa, SA_ATTR_MC_MEMBER, data, 0));
	}
	r.mlid = 0xc001;
	r.mtu = 0;
	sa_record_encode(SA_ATTR_MC_MEMBER, data, &r);
	assert_false(sa_learn(sa, SA_ATTR_MC_MEMBER, data, 0));
	r.mtu = 4;
	r.mgid[0] = 0xfe;
	sa_record_encode(SA_ATTR_MC_MEMBER, data, &r);
	assert_false(sa_learn(sa, SA_ATTR_MC_MEMBER, data, 0));
	sa_record_encode(SA_ATTR_SERVICE, data, &service);
	sa_learn(sa, SA_ATTR_SERVICE, data, 0);
	sa_stats(sa, &stats);
	assert_int_equal(stats.n_groups, 1);
	assert_int_equal(stats.n_members, 1);
	assert_int_equal(stats.n_services, 0);
	sa_save(sa, text, 0);
	assert_true(sa_load(sa, text->str, 0, NULL));
	sa_free(sa);
}

/* ------------------------------------------------------------ the whole text */

static void
remember(GString *out, void *data)
{
	g_string_append_printf(out, "= lids\n%s\n= none\n", (char *)data);
}

TEST(test_state_has_its_parts)
{
	g_autoptr(GString) text = g_string_new(NULL), saved = g_string_new(NULL);
	g_autofree char *lids = NULL, *none = NULL, *self = NULL;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	fill(&l);
	sa_set_memory(l.sa, remember, "1 2\n\n3");
	sa_state_write(l.sa, text, LAB_NOW);
	sa_save(l.sa, saved, LAB_NOW);
	assert_int_equal(text->len % sa_record_size(SA_ATTR_STATE), 0);
	lids = sa_state_part(text->str, text->len, "lids");
	none = sa_state_part(text->str, text->len, "none");
	self = sa_state_part(text->str, text->len, "sa-state");
	assert_string_equal(lids, "1 2\n\n3\n");
	assert_string_equal(none, "");
	assert_string_equal(self, saved->str);
	assert_null(sa_state_part(text->str, text->len, "lid"));
	assert_null(sa_state_part(text->str, text->len, "end"));
	lab_close(&l);
}

/* Every byte that is another, and every length that is less. */
TEST(test_state_that_is_damaged_is_none)
{
	g_autoptr(GString) text = g_string_new(NULL);
	size_t end;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	fill(&l);
	sa_state_write(l.sa, text, LAB_NOW);
	end = strlen(g_strchomp(text->str));
	for (size_t i = 0; i < end; i++) {
		g_autofree char *cut = g_strndup(text->str, i);

		assert_null(sa_state_part(cut, i, "sa-state"));
		text->str[i] ^= 4;
		assert_null(sa_state_part(text->str, end, "sa-state"));
		text->str[i] ^= 4;
	}
	g_free(sa_state_part(text->str, end, "sa-state"));
	lab_close(&l);
}

/* -------------------------------------------------------------- who gets it */

TEST(test_state_is_for_the_trusted)
{
	struct sa_mark mark = { 1, 1 };
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_STATE, 0);
	lab_distrust(&l);
	assert_int_equal(lab_ask(&l), SA_STATUS_DENIED);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_STATE, 0);
	sa_set_sm_key(l.mad, LAB_KEY + 1);
	assert_int_equal(lab_ask(&l), LAB_DROPPED);
	lab_begin(&l, MAD_METHOD_SET, SA_ATTR_STATE, 0);
	assert_int_equal(lab_ask(&l), MAD_STATUS_BAD_METHOD);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_STATE, 0);
	assert_int_equal(lab_ask(&l), 0);
	assert_true(lab_count(&l) > 1);

	lab_begin(&l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	sa_mark_write(l.mad, &mark);
	lab_distrust(&l);
	assert_int_equal(lab_ask(&l), 0);
	assert_false(sa_mark_read(l.reply.mad, &mark));
	assert_int_equal(sa_followers(l.sa, LAB_NOW)->len, 0);
	/* nor is the answer another one for who does not ask */
	lab_begin(&l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	assert_int_equal(lab_ask(&l), 0);
	assert_false(sa_mark_read(l.reply.mad, &mark));
	lab_close(&l);
}

static bool
is_host_1(uint16_t lid, void *data)
{
	struct lab *l = data;

	return lid == lab_lid(l, lab_host(l, 1));
}

/* The key is the same everywhere if it was never changed. */
TEST(test_state_is_for_managers)
{
	struct sa_mark mark = { 1, 1 };
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	sa_set_managers(l.sa, is_host_1, &l);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_STATE, 0);
	assert_int_equal(lab_ask(&l), SA_STATUS_DENIED);
	lab_begin(&l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	sa_mark_write(l.mad, &mark);
	assert_int_equal(lab_ask(&l), 0);
	assert_false(sa_mark_read(l.reply.mad, &mark));
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_STATE, 0);
	assert_int_equal(lab_ask_from(&l, lab_host(&l, 1)), 0);
	assert_true(lab_count(&l) > 1);
	lab_close(&l);
}

static struct sa_mark
get_mark(struct lab *l)
{
	struct sa_mark mark = { 0 };

	lab_begin(l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	sa_mark_write(l->mad, &mark);
	assert_int_equal(lab_ask_from(l, lab_host(l, 1)), 0);
	assert_true(sa_mark_read(l->reply.mad, &mark));
	return mark;
}

/* A manager that has handed over still tells what it knew. */
TEST(test_state_is_told_without_a_view)
{
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	fill(&l);
	sa_publish(l.sa, NULL, LAB_NOW);
	get_mark(&l);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_STATE, 0);
	assert_int_equal(lab_ask(&l), 0);
	assert_true(lab_count(&l) > 10);
	lab_close(&l);
}

/* With each change, and no other way; also if the state is loaded anew. */
TEST(test_the_version_tells_of_news)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct sa_mark mark, later;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	fill(&l);
	mark = get_mark(&l);
	later = get_mark(&l);
	assert_memory_equal(&mark, &later, sizeof(mark));
	lab_want_join(&l, lab_host(&l, 5), 1);
	assert_int_equal(lab_ask_from(&l, lab_host(&l, 5)), 0);
	later = get_mark(&l);
	assert_true(later.version > mark.version);
	lab_publish(&l);
	mark = get_mark(&l);
	assert_true(mark.version > later.version);
	sa_save(l.sa, text, LAB_NOW);
	assert_true(sa_load(l.sa, text->str, LAB_NOW, NULL));
	later = get_mark(&l);
	assert_true(later.version > mark.version);
	assert_int_equal(later.epoch, mark.epoch);
	lab_close(&l);
}

TEST(test_followers_are_those_who_asked_lately)
{
	const GArray *lids;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	get_mark(&l);
	get_mark(&l);
	lids = sa_followers(l.sa, LAB_NOW + SA_FOLLOWER_US);
	assert_int_equal(lids->len, 1);
	assert_int_equal(g_array_index(lids, struct sa_follower, 0).lid,
			 lab_lid(&l, lab_host(&l, 1)));
	assert_int_equal(sa_followers(l.sa, LAB_NOW + SA_FOLLOWER_US +
				      1)->len, 0);
	lab_close(&l);
}
