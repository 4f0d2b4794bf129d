// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The stores of the SA: groups, services, subscriptions, over one switch with
 * hosts. What each promises is in tests/scripts/sa_mcmember.scn,
 * sa_service.scn and sa_informinfo.scn (words: sa_stage.h); here is what needs
 * chance or large numbers. The time is what the test says.
 */
#include <string.h>

#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "tests/lib/sa_stage.h"
#include "topology/prng.h"

SCRIPT(mcmember, "sa_mcmember.scn", sa_words, sa_star_set_up,
       sa_stage_tear_down)
SCRIPT(service, "sa_service.scn", sa_words, sa_star_set_up, sa_stage_tear_down)
SCRIPT(informinfo, "sa_informinfo.scn", sa_words, sa_star_set_up,
       sa_stage_tear_down)

#define JOIN	"Set MCMemberRecord Q_Key=0x1234 P_Key=0xffff SL=3 TClass=7 " \
		"FlowLabel=0xabcde by=H-%u MGID=ff12:a01c::%x JoinState=%u"
#define LEAVE	"Delete MCMemberRecord by=H-%u MGID=ff12:a01c::%x JoinState=%u"
#define SERVE	"Set ServiceRecord ServiceP_Key=0xffff ServiceKey='key 11' " \
		"by=H-%u ServiceID=%u ServiceLease=%u"
#define INFORM	"Set InformInfo IsGeneric=%u Subscribe=1 Type=0xffff " \
		"ProducerTypeVendorID=0xffffff RespTimeValue=10 from=H-%u " \
		"TrapNumberDeviceID=%u LIDRangeBegin=%u LIDRangeEnd=17"

#define STORES_TEST(name) \
	TEST_WITH(name, struct lab *l, sa_star_set_up, sa_stage_tear_down)

/* JoinState; 0: the host is not a member */
static unsigned
state_of(const struct lab *l, unsigned group, unsigned host)
{
	const uint8_t mgid[16] = { 0xff, 0x12, 0xa0, 0x1c,
				   [15] = (uint8_t)group };
	const struct group *g = sa_store_find(&l->sa->groups->all, mgid);
	const struct group_member *m = g ? sa_store_find(&g->members,
			&l->s->ports[lab_host(l, host)].guid) : NULL;

	return m ? m->join_state : 0;
}

/* Any client, any group, any states; the plainest model there is. */
STORES_TEST(test_random_joins_match_a_plain_model)
{
	uint64_t seed = 20260716;
	uint64_t prng = prng_stream(seed, 0);
	unsigned model[4][STAR_HOSTS] = { { 0 } };

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	for (unsigned n = 0; n < 20000; n++) {
		unsigned group = prng_below(&prng, 4);
		unsigned host = prng_below(&prng, STAR_HOSTS);
		unsigned states = prng_below(&prng, 16);
		bool is_join = prng_below(&prng, 2), good;
		unsigned *now = &model[group][host], others = 0;

		for (unsigned i = 0; i < STAR_HOSTS; i++)
			others |= model[group][i];
		good = states && (is_join ? (others | states) & 9 :
				  !(states & ~*now));
		assert_int_equal(sa_stage_ask(l, is_join ? JOIN : LEAVE, host,
					      group, states),
				 good ? 0 : SA_STATUS_REQ_INVALID);
		if (good)
			*now = is_join ? *now | states : *now & ~states;
		others = 0;
		for (unsigned i = 0; i < STAR_HOSTS; i++)
			others |= model[group][i];
		for (unsigned i = 0; i < STAR_HOSTS; i++) {
			if (!(others & 9))
				model[group][i] = 0;
			assert_int_equal(state_of(l, group, i),
					 model[group][i]);
		}
	}
}

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

static unsigned
n_waiting(const struct lab *l)
{
	return informs_waiting(l->sa->informs);
}

/* The trap of the next Report; 0: there is none. */
static unsigned
next_trap(struct lab *l)
{
	struct sa_report r;

	return sa_next_report(l->sa, l->now, &r) ?
		(unsigned)bytes_load(r.mad + SA_DATA_OFFSET + 4, 2) : 0;
}

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

/* The same thing over and over; then ever new things. */
STORES_TEST(test_babble_is_merged_and_bounded)
{
	uint8_t notice[NOTICE_LEN] = { 0x81, 0, 0, 2, 0, 128, 0, 23 };
	const uint16_t from = lab_lid(l, lab_host(l, 3));

	ask_well(l, INFORM, 1, 1, 0xffff, 0xffff);
	for (unsigned n = 0; n < 1000; n++) {
		notice[9] = (uint8_t)n;	/* NoticeCount */
		sa_forward_trap(l->sa, notice, from, l->now);
	}
	assert_int_equal(n_waiting(l), 1);
	assert_int_equal(next_trap(l), 128);
	assert_int_equal(next_trap(l), 0);
	/* The same words of two issuers are two things. */
	sa_forward_trap(l->sa, notice, lab_lid(l, lab_host(l, 2)), l->now);
	sa_forward_trap(l->sa, notice, from, l->now);
	assert_int_equal(n_waiting(l), 2);
	while (next_trap(l))
		;
	/* none waits: it is news again */
	sa_forward_trap(l->sa, notice, from, l->now);
	assert_int_equal(n_waiting(l), 1);

	for (unsigned n = 0; n < 100000; n++) {
		bytes_store(notice + 20, n, 3);
		sa_forward_trap(l->sa, notice, from, l->now);
	}
	assert_int_equal(n_waiting(l), 1024);
	assert_int_equal(l->sa->informs->dropped, 100000 - 1024);
	/* the SA's own Notices are not displaced */
	ask_well(l, JOIN, 1, 1, 1);
	for (unsigned n = 0; n < 1024; n++)
		assert_int_equal(next_trap(l), 128);
	assert_int_equal(next_trap(l), 66);
}

/* A host that goes, comes and goes again is away in the end, whatever waits; and
 * traps of devices are heard behind the Notices of many hosts. */
STORES_TEST(test_the_last_of_many_notices_is_told)
{
	static const unsigned traps[] = { 65, 64, 65 };
	uint8_t babble[NOTICE_LEN] = { 0x81, 0, 0, 2, 0, 128, 0, 23 };
	unsigned last = 0;

	ask_well(l, INFORM, 1, 1, 0xffff, 0xffff);
	for (unsigned i = 0; i < 1500; i++)
		notify(l, traps[i % 3], 1, 2);
	sa_forward_trap(l->sa, babble, lab_lid(l, lab_host(l, 3)), l->now);
	assert_int_equal(n_waiting(l), 1501);
	for (unsigned n = 0; n < 1500; n++)
		last = next_trap(l);
	assert_int_equal(last, 65);
	assert_int_equal(next_trap(l), 128);
	assert_int_equal(next_trap(l), 0);
}

/* Of a subscription that is there again, its number is, too. */
STORES_TEST(test_a_notice_is_for_the_subscriptions_of_its_time)
{
	struct sa_report r;

	ask_well(l, INFORM, 1, 1, 64, 0xffff);
	ask_well(l, INFORM, 1, 2, 65, 0xffff);
	ask_well(l, INFORM, 1, 2, 0xffff, 0xffff);
	ask_well(l, INFORM, 1, 3, 65, 0xffff);
	notify(l, 64, 1, 2);
	l->now++;
	/* The one of host 1 stays. It is host 3's first, and host 2's. */
	ask_well(l, INFORM, 1, 1, 64, 0xffff);
	for (unsigned host = 2; host < 4; host++) {
		ask_well(l, INFORM " Subscribe=0", 1, host, 65, 0xffff);
		ask_well(l, INFORM, 1, host, 64, 0xffff);
	}
	for (unsigned host = 1; host < 3; host++) {
		assert_true(sa_next_report(l->sa, l->now, &r));
		assert_int_equal(r.lid, lab_lid(l, lab_host(l, host)));
	}
	assert_int_equal(next_trap(l), 0);
	notify(l, 64, 1, 2);
	for (unsigned host = 1; host < 4; host++)
		assert_int_equal(next_trap(l), 64);
	assert_int_equal(next_trap(l), 0);
}

/* The subscribers are too slow, so the backlog neither grows nor ages. */
STORES_TEST(test_an_old_notice_gives_way_to_the_newest)
{
	unsigned n = 1, trap, last = 0;

	for (unsigned host = 1; host < 4; host++)
		ask_well(l, INFORM, 1, host, 0xffff, 0xffff);
	notify(l, 64, 100, 2);
	assert_int_equal(next_trap(l), 64);
	l->now += 59 * G_USEC_PER_SEC;
	notify(l, 65, 1, 2);
	assert_int_equal(next_trap(l), 64);
	assert_int_equal(l->sa->informs->dropped, 0);
	l->now += 2 * G_USEC_PER_SEC;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(next_trap(l), 65);
	assert_int_equal(next_trap(l), 0);
	assert_int_equal(l->sa->informs->dropped, 100);

	notify(l, 64, 65536, 2);
	assert_int_equal(next_trap(l), 64);
	notify(l, 65, 10, 2);
	assert_int_equal(n_waiting(l), 65536);
	assert_int_equal(l->sa->informs->dropped, 110);
	for (; (trap = next_trap(l)); n++)
		last = trap;
	assert_int_equal(n, 1 + 3 * 65536);
	assert_int_equal(last, 65);
}

/* A part of the fabric comes, and many have subscribed. */
STORES_TEST(test_each_of_many_notices_goes_to_each_of_many_subscribers)
{
	unsigned n = 0, calls = 0;

	for (unsigned qp = 1; qp <= 128; qp++)
		for (unsigned host = 0; host < STAR_HOSTS; host++)
			ask_well(l, INFORM " qp=%u", 1, host, 64, 0xffff, qp);
	for (unsigned i = 0; i < STAR_HOSTS; i++)
		notify(l, 64, 20, i);
	while (n_waiting(l))
		n += next_trap(l) == 64;
	assert_int_equal(n, 20 * STAR_HOSTS * 128 * STAR_HOSTS);
	/* and those without a subscriber do not take long at once */
	notify(l, 65, 100, 0);
	for (; n_waiting(l); calls++)
		assert_int_equal(next_trap(l), 0);
	assert_in_range(calls, 100 * 128 * STAR_HOSTS / 4096, 20);
}
