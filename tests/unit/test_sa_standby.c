// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state as a standby gets it: the text that one minism gives another, also a
 * damaged one. Which ports get it: tests/scripts/sa_state.scn.
 */
#include <string.h>

#include "sm/sa/sa_db.h"
#include "tests/lib/sa_stage.h"
#include "tests/lib/unit.h"

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

#define LAB_TEST(name) \
	TEST_WITH(name, struct lab *l, sa_stage_set_up, sa_stage_tear_down)

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
