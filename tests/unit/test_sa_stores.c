// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The stores of the SA: groups, services, subscriptions, over one switch with
 * hosts. What each promises is in tests/scripts/sa_mcmember.scn,
 * sa_service.scn and sa_informinfo.scn (words: sa_stage.h); here is what needs
 * large numbers, of Notices in tests/golden/notices. The time is what
 * the test says.
 */

#include "sm/sa/informinfo.h"
#include "sm/sa/service.h"
#include "tests/lib/sa_stage.h"
#include "tests/lib/state_text.h"

SCRIPT(mcmember, "sa_mcmember.scn", sa_words, sa_star_set_up,
       sa_stage_tear_down)
SCRIPT(service, "sa_service.scn", sa_words, sa_star_set_up, sa_stage_tear_down)
SCRIPT(informinfo, "sa_informinfo.scn", sa_words, sa_star_set_up,
       sa_stage_tear_down)

#define JOIN	"Set MCMemberRecord Q_Key=0x1234 P_Key=0xffff SL=3 TClass=7 " \
		"FlowLabel=0xabcde by=H-%u MGID=ff12:a01c::%x JoinState=%u"
#define SERVE	"Set ServiceRecord ServiceP_Key=0xffff ServiceKey='key 11' " \
		"by=H-%u ServiceID=%u ServiceLease=%u"
#define INFORM	"Set InformInfo IsGeneric=%u Subscribe=1 Type=0xffff " \
		"ProducerTypeVendorID=0xffffff RespTimeValue=10 from=H-%u " \
		"TrapNumberDeviceID=%u LIDRangeBegin=%u LIDRangeEnd=17"

#define STORES_TEST(name) \
	TEST_WITH(name, struct lab *l, sa_star_set_up, sa_stage_tear_down)

STORES_TEST(test_one_client_cannot_fill_a_store)
{
	unsigned n = 0;

	while (sa_stage_ask(l, SERVE, 1, n, UINT32_MAX) == 0)
		assert_true(++n < 100000);
	assert_int_equal(sa_stage_ask(l, SERVE, 1, n, UINT32_MAX),
			 SA_STATUS_NO_RESOURCES);
	/* the same port by another form of its GID */
	assert_int_equal(sa_stage_ask(l, SERVE " @8/8=0", 1, n, UINT32_MAX),
			 SA_STATUS_NO_RESOURCES);
	ask_well(l, SERVE, 1, n - 1, UINT32_MAX);
	ask_well(l, SERVE, 2, n, UINT32_MAX);

	for (n = 0; sa_stage_ask(l, INFORM, 1, 1, n, 0xffff) == 0; n++)
		assert_true(n < 10000);
	assert_int_equal(sa_stage_ask(l, INFORM, 1, 1, n, 0xffff),
			 SA_STATUS_NO_RESOURCES);
	ask_well(l, INFORM, 1, 2, n, 0xffff);
	assert_int_equal(l->sa->informs->all.list->len, n + 1);
}

/* Services that were registered are not counted by port again when they are read:
 * for each of 65,536 all would be looked at. */
STORES_TEST(test_saved_services_are_not_counted_by_port)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < 300; i++)
		g_string_append_printf(text, "service 0x%016x 0x%032x 0xffff "
				       "9 0x%032x 0x%0128x 0x%0128x\n", i, 1,
				       0, 0, 0);
	assert_true(sa_load(l->sa, text->str, l->now, NULL));
	assert_int_equal(l->sa->services->all.list->len, 300);
}

/* ------------------------------------------------------------ many Notices */

/* n Notices of the SM about a host: they differ in the issuer's LID. */
static void
notify(struct lab *l, unsigned trap, unsigned n, unsigned host)
{
	uint8_t notice[NOTICE_LEN], gid[16], issuer[16];

	lab_gid(l, l->s->local_port, issuer);
	lab_gid(l, lab_host(l, host), gid);
	for (unsigned i = 0; i < n; i++) {
		notice_build_gid(notice, trap, (uint16_t)i, gid);
		informs_notify(l->sa->informs, l->v, notice, issuer, 0, l->now);
	}
}

/* Traps 128 of a host's own: the same again and again, or all different. */
static void
babble(struct lab *l, unsigned host, unsigned n, bool is_same)
{
	uint8_t notice[NOTICE_LEN] = { 0x81, 0, 0, 2, 0, 128, 0, 23 };

	for (unsigned i = 0; i < n; i++) {
		if (is_same)
			notice[9] = (uint8_t)i;	/* NoticeCount */
		else
			bytes_store(notice + 20, i, 3);
		sa_forward_trap(l->sa, notice, lab_lid(l, lab_host(l, host)),
				l->now);
	}
}

/* At most n: how many of each trap, of which 0 is a turn in vain; and the last
 * one, with its LID. */
static void
put_reports(struct lab *l, unsigned n, GString *out)
{
	unsigned n_of[129] = { 0 }, trap = 0;
	struct sa_report r = { .lid = 0 };

	for (; n && informs_waiting(l->sa->informs); n--) {
		trap = sa_next_report(l->sa, l->now, &r) ? (unsigned)
			bytes_load(r.mad + SA_DATA_OFFSET + 4, 2) : 0;
		n_of[trap]++;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(n_of); i++)
		if (n_of[i])
			g_string_append_printf(out, " %ux%u", n_of[i], i);
	g_string_append_printf(out, ", %u to %u the last", trap, r.lid);
}

static void
play(void *of, const char *step, GString *out)
{
	struct lab *l = of;
	unsigned a, b, c;

	if (sscanf(step, "subscribe %u to %u", &a, &b) == 2)
		ask_well(l, INFORM, 1, a, b, 0xffff);
	else if (sscanf(step, "unsubscribe %u from %u", &a, &b) == 2)
		ask_well(l, INFORM " Subscribe=0", 1, a, b, 0xffff);
	else if (sscanf(step, "all subscribe to %u %u times", &a, &b) == 2)
		for (c = 0; c < b * STAR_HOSTS; c++)
			ask_well(l, INFORM " qp=%u", 1, c % STAR_HOSTS, a,
				 0xffff, 1 + c / STAR_HOSTS);
	else if (sscanf(step, "join of %u", &a) == 1)
		ask_well(l, JOIN, a, 1, 1);
	else if (sscanf(step, "%u Notices %u of %u", &a, &b, &c) == 3)
		notify(l, b, a, c);
	else if (sscanf(step, "%u comes and goes %u times", &a, &b) == 2)
		for (c = 0; c < b; c++)
			notify(l, 65 - c % 3 % 2, 1, a);
	else if (sscanf(step, "%u traps of %u", &a, &b) == 2)
		babble(l, b, a, true);
	else if (sscanf(step, "%u different traps of %u", &a, &b) == 2)
		babble(l, b, a, false);
	else if (sscanf(step, "%u s", &a) == 1)
		l->now += a * G_USEC_PER_SEC;
	else if (sscanf(step, "reports, at most %u", &a) == 1)
		put_reports(l, a, out);
	else
		fail_msg("no step: %s", step);
	g_string_append_printf(out, " %u wait, %u dropped",
			       (unsigned)informs_waiting(l->sa->informs),
			       l->sa->informs->dropped);
}

GOLDEN("notices", transcript)
{
	void *l;

	sa_star_set_up(&l);
	golden_play(text, play, l, out);
	sa_stage_tear_down(&l);
}
