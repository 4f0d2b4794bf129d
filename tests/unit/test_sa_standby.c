// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state as a standby gets it: by the records that any SA answers, and as
 * the text that one minism gives another, also a damaged one. Which ports get
 * it: tests/scripts/sa_state.scn.
 */
#include <string.h>

#include "sm/sa/sa_db.h"
#include "tests/lib/sa_stage.h"
#include "tests/lib/unit.h"

static const uint16_t attrs[] = {
	SA_ATTR_MC_MEMBER, SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
};

/* A full and a send-only member, a group of a client's own, services with a
 * lease and without, subscriptions of all and of one LID. */
static void
fill(struct lab *l)
{
#define JOIN	"Set MCMemberRecord MGID=ff12:401b:ffff::ffff:ffff "
#define INFORM	"Set InformInfo IsGeneric=1 Subscribe=1 Type=0xffff QPN=1 " \
		"RespTimeValue=19 ProducerTypeVendorID=0xffffff "
	static const char *const lines[] = {
		JOIN "by=H-0 JoinState=1 => ok",
		JOIN "by=H-3 JoinState=1 => ok",
		JOIN "by=H-3 JoinState=4 => ok",
		"Set MCMemberRecord MGID=ff15:6001::9 by=H-2 Q_Key=0x1234 "
		"P_Key=0xffff SL=2 FlowLabel=0x54321 TClass=7 HopLimit=3 "
		"JoinState=1 => ok",
		"Set ServiceRecord by=H-1 ServiceID=7 ServiceName=one "
		"ServiceLease=100 ServiceKey=ab => ok",
		"Set ServiceRecord by=H-1 ServiceID=8 => ok",
		INFORM "from=H-1 LIDRangeBegin=0xffff "
		"TrapNumberDeviceID=0xffff => ok",
		INFORM "from=H-1 LIDRangeBegin=3 LIDRangeEnd=5 "
		"TrapNumberDeviceID=66 => ok",
		INFORM "from=H-2 LIDRangeBegin=3 LIDRangeEnd=5 "
		"TrapNumberDeviceID=66 => ok",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		unit_play(sa_words, l, lines[i]);
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

#define LAB_TEST(name) \
	TEST_WITH(name, struct lab *l, sa_stage_set_up, sa_stage_tear_down)

/* What a manager learns from our records and saves, it answers as we did. */
LAB_TEST(test_records_are_all_that_clients_registered)
{
	g_autoptr(GString) text = g_string_new(NULL);
	GByteArray *before[3];
	struct sa *other;

	fill(l);
	other = sa_new(&l->sa->params);
	for (unsigned i = 0; i < 3; i++) {
		size_t size = sa_record_size(attrs[i]);

		before[i] = read_table(l, attrs[i]);
		for (guint at = 0; at < before[i]->len; at += size)
			sa_learn(other, attrs[i], before[i]->data + at,
				 LAB_NOW);
		/* a second time it is nothing new */
		sa_learn(other, attrs[i], before[i]->data, LAB_NOW);
	}
	sa_save(other, text, LAB_NOW);
	assert_true(sa_load(l->sa, text->str, LAB_NOW, NULL));
	for (unsigned i = 0; i < 3; i++) {
		GByteArray *after = read_table(l, attrs[i]);

		assert_int_equal(after->len, before[i]->len);
		assert_memory_equal(after->data, before[i]->data, after->len);
		g_byte_array_unref(after);
		g_byte_array_unref(before[i]);
	}
	sa_free(other);
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

LAB_TEST(test_state_has_its_parts)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) saved = g_string_new(NULL);
	g_autofree char *lids = NULL, *none = NULL, *self = NULL;

	fill(l);
	l->sa->memory = remember;
	l->sa->memory_data = "1 2\n\n3";
	sa_state_write(l->sa, text, LAB_NOW);
	sa_save(l->sa, saved, LAB_NOW);
	assert_int_equal(text->len % sa_record_size(SA_ATTR_STATE), 0);
	lids = sa_state_part(text->str, text->len, "lids");
	none = sa_state_part(text->str, text->len, "none");
	self = sa_state_part(text->str, text->len, "sa-state");
	assert_string_equal(lids, "1 2\n\n3\n");
	assert_string_equal(none, "");
	assert_string_equal(self, saved->str);
	assert_null(sa_state_part(text->str, text->len, "lid"));
	assert_null(sa_state_part(text->str, text->len, "end"));
}

/* Every byte that is another, and every length that is less. */
LAB_TEST(test_state_that_is_damaged_is_none)
{
	g_autoptr(GString) text = g_string_new(NULL);
	size_t end;

	fill(l);
	sa_state_write(l->sa, text, LAB_NOW);
	end = strlen(g_strchomp(text->str));
	for (size_t i = 0; i < end; i++) {
		g_autofree char *cut = g_strndup(text->str, i);

		assert_null(sa_state_part(cut, i, "sa-state"));
		text->str[i] ^= 4;
		assert_null(sa_state_part(text->str, end, "sa-state"));
		text->str[i] ^= 4;
	}
	g_free(sa_state_part(text->str, end, "sa-state"));
}
