// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * informinfo.h promises: who subscribed to a Notice, and may hear of its
 * source, gets one Report of it; the queue stays bounded whatever babbles; who
 * does not answer is forgotten. The fabric is one switch with hosts
 * (sa_star.h).
 */
#include <stdlib.h>
#include <string.h>

#include "sm/sa/informinfo.h"
#include "tests/lib/sa_star.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define N_HOSTS		5u
#define SM_HOST		0u

#define subscription_at(i, n)	((const struct subscription *)(i)->list->pdata[n])

struct fixture {
	struct star *star;
	struct informs *i;
	uint8_t notice[NOTICE_LEN];
	uint8_t issuer[16];
};

static const struct inform_info everything = {
	.lid_begin = 0xffff,
	.generic = true,
	.subscribe = 1,
	.type = 0xffff,
	.trap = 0xffff,
	.producer = 0xffffff,
	.resp_time = 10,
};

static int
setup(void **state)
{
	struct fixture *f = g_new0(struct fixture, 1);

	f->star = star_new(N_HOSTS);
	f->i = informs_new();
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	informs_free(f->i);
	star_free(f->star);
	g_free(f);
	return 0;
}

static unsigned
set(struct fixture *f, unsigned host, struct inform_info info)
{
	return informs_set(f->i, f->star->v, star_port(f->star, host), &info);
}

/* A trap 128 of a switch, as if `host` had sent it from LID 20 + host. */
static void
notify(struct fixture *f, unsigned host, unsigned trap)
{
	memset(f->notice, 0, sizeof(f->notice));
	f->notice[0] = 0x81;		/* generic, urgent */
	f->notice[3] = 2;		/* a switch */
	f->notice[4] = (uint8_t)(trap >> 8);
	f->notice[5] = (uint8_t)trap;
	f->notice[7] = (uint8_t)(20 + host);
	star_gid(host, f->issuer);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
}

/* Traps 64 to 67, which the SM makes. */
static void
notify_gid(struct fixture *f, unsigned trap, const uint8_t gid[16])
{
	notice_build_gid(f->notice, (uint16_t)trap, 1, gid);
	star_gid(SM_HOST, f->issuer);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
}

/* Takes the Reports that wait and has them answered: bit i for host i. */
static unsigned
told(struct fixture *f)
{
	struct report r;
	unsigned hosts = 0;

	while (informs_next(f->i, &r)) {
		unsigned host = (unsigned)((r.port_guid - star_guid(0)) / 16);

		assert_false(hosts >> host & 1);
		assert_memory_equal(r.notice, f->notice, NOTICE_LEN);
		assert_memory_equal(r.issuer, f->issuer, 16);
		hosts |= 1u << host;
	}
	return hosts;
}

TEST(test_subscribing_twice_is_once, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;
	uint64_t version;

	assert_int_equal(set(f, 1, info), 0);
	version = f->i->version;
	info.resp_time = 3;
	info.qpn = 77;
	info.lid_end = 5;
	assert_int_equal(set(f, 1, info), 0);
	assert_int_equal(f->i->list->len, 1);
	assert_int_equal(f->i->version, version);
	assert_int_equal(subscription_at(f->i, 0)->port_guid, star_guid(1));
	assert_int_equal(subscription_at(f->i, 0)->index, 0);
	assert_int_equal(subscription_at(f->i, 0)->qp, 1);
	assert_int_equal(subscription_at(f->i, 0)->info.qpn, 1);

	info.trap = 64;
	assert_int_equal(set(f, 1, info), 0);
	assert_int_equal(set(f, 2, info), 0);
	assert_int_equal(f->i->list->len, 3);
	assert_int_equal(subscription_at(f->i, 1)->index, 1);
	assert_int_equal(subscription_at(f->i, 2)->index, 0);

	/* A number that became free is the next one given. */
	info = everything;
	info.subscribe = 0;
	assert_int_equal(set(f, 1, info), 0);
	info.subscribe = 1;
	info.trap = 65;
	assert_int_equal(set(f, 1, info), 0);
	assert_int_equal(subscription_at(f->i, 0)->index, 0);
	assert_int_equal(subscription_at(f->i, 0)->info.trap, 65);
}

TEST(test_unsubscribing_wants_what_is_there, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;

	info.subscribe = 0;
	assert_int_equal(set(f, 1, info), SA_STATUS_REQ_INVALID);
	assert_int_equal(set(f, 1, everything), 0);
	assert_int_equal(set(f, 2, info), SA_STATUS_REQ_INVALID);
	info.trap = 128;
	assert_int_equal(set(f, 1, info), SA_STATUS_REQ_INVALID);
	info.trap = 0xffff;
	info.qpn = 2;
	assert_int_equal(set(f, 1, info), SA_STATUS_REQ_INVALID);
	assert_int_equal(f->i->list->len, 1);
	info.qpn = 1;
	assert_int_equal(set(f, 1, info), 0);
	assert_int_equal(f->i->list->len, 0);
	assert_int_equal(set(f, 1, everything), 0);
	info.qpn = 0;
	assert_int_equal(set(f, 1, info), 0);
	notify(f, 3, 128);
	assert_int_equal(told(f), 0);
}

TEST(test_bad_wishes_are_refused, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;

	info.subscribe = 2;
	assert_int_equal(set(f, 1, info), SA_STATUS_REQ_INVALID);
	info.subscribe = 1;
	info.lid_begin = 9;
	info.lid_end = 8;
	assert_int_equal(set(f, 1, info), SA_STATUS_REQ_INVALID);
	info.gid[3] = 7;
	assert_int_equal(set(f, 1, info), SA_STATUS_INVALID_GID);
	info = everything;
	assert_int_equal(informs_set(f->i, f->star->v, SNAPSHOT_NONE, &info),
			 SA_STATUS_REQ_INVALID);
	/* About a port that it may not talk to. */
	g_array_set_size(partition_rules_get(f->star->rules,
					     PKEY_DEFAULT)->rules, 0);
	star_rule(f->star, 1, 1, PARTITION_FULL);
	star_rule(f->star, 1, 3, PARTITION_FULL);
	star_rule(f->star, 2, 2, PARTITION_FULL);
	star_publish(f->star);
	star_gid(2, info.gid);
	assert_int_equal(set(f, 1, info), SA_STATUS_REQ_INVALID);
	star_gid(3, info.gid);
	assert_int_equal(set(f, 1, info), 0);
	assert_int_equal(f->i->list->len, 1);
}

/* One subscription at a time against trap 128 of host 3, LID 23. */
TEST(test_matching_looks_at_each_component, setup, teardown)
{
	static const struct {
		struct inform_info info;
		int gid_host;
		bool match;
	} cases[] = {
#define WISH(b, e, gen, typ, tr, prod) { .lid_begin = b, .lid_end = e, \
	.generic = gen, .type = typ, .trap = tr, .producer = prod, \
	.subscribe = 1 }
		{ WISH(0xffff, 0, true, 0xffff, 0xffff, 0xffffff), -1, true },
		{ WISH(0xffff, 0, true, 1, 128, 2), -1, true },
		{ WISH(0xffff, 0, false, 0xffff, 0xffff, 0xffffff), -1, false },
		{ WISH(0xffff, 0, true, 2, 128, 2), -1, false },
		{ WISH(0xffff, 0, true, 1, 129, 2), -1, false },
		{ WISH(0xffff, 0, true, 1, 128, 1), -1, false },
		{ WISH(23, 23, true, 1, 128, 2), -1, true },
		{ WISH(1, 23, true, 1, 128, 2), -1, true },
		{ WISH(24, 30, true, 1, 128, 2), -1, false },
		{ WISH(1, 22, true, 1, 128, 2), -1, false },
		{ WISH(24, 30, true, 1, 128, 2), 3, true },
		{ WISH(23, 23, true, 1, 128, 2), 4, false },
	};
	struct fixture *f = *state;

	for (unsigned n = 0; n < G_N_ELEMENTS(cases); n++) {
		struct inform_info info = cases[n].info;

		if (cases[n].gid_host >= 0)
			star_gid((unsigned)cases[n].gid_host, info.gid);
		assert_int_equal(set(f, 1, info), 0);
		notify(f, 3, 128);
		assert_int_equal(told(f), cases[n].match ? 2 : 0);
		info.subscribe = 0;
		assert_int_equal(set(f, 1, info), 0);
	}
}

/* Generic and vendor Notices with the same numbers are not the same. */
TEST(test_vendor_notices_go_to_their_own, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;

	info.generic = false;
	info.producer = 0x00beef;
	assert_int_equal(set(f, 1, info), 0);
	info.producer = 0xffffff;
	assert_int_equal(set(f, 2, info), 0);
	assert_int_equal(set(f, 4, everything), 0);
	notify(f, 3, 128);
	assert_int_equal(told(f), 1u << 4);
	f->notice[0] = 0x01;
	f->notice[2] = 0xbe;
	f->notice[3] = 0xef;
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	assert_int_equal(told(f), 1u << 1 | 1u << 2);
}

TEST(test_one_report_for_two_wishes, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;

	assert_int_equal(set(f, 1, info), 0);
	info.trap = 128;
	assert_int_equal(set(f, 1, info), 0);
	notify(f, 3, 128);
	assert_int_equal(f->i->waiting.length, 1);
	assert_int_equal(told(f), 2);
}

/* Hosts 1 and 2 are in partition 1, 3 and 4 in 2, the SM in both, full. */
TEST(test_partitions_are_obeyed, setup, teardown)
{
	static const uint8_t free_mgid[16] = { 0xff, 0x12, 0xa0, 0x1c };
	static const uint8_t mgid[16] = { 0xff, 0x12, 0x40, 0x1b, 0x80, 1 };
	struct fixture *f = *state;
	uint8_t gid[16];

	g_array_set_size(partition_rules_get(f->star->rules,
					     PKEY_DEFAULT)->rules, 0);
	star_rule(f->star, 1, 1, PARTITION_FULL);
	star_rule(f->star, 1, 2, PARTITION_LIMITED);
	star_rule(f->star, 2, 3, PARTITION_FULL);
	star_rule(f->star, 2, 4, PARTITION_FULL);
	star_rule(f->star, 1, SM_HOST, PARTITION_FULL);
	star_rule(f->star, 2, SM_HOST, PARTITION_FULL);
	star_publish(f->star);
	for (unsigned host = 1; host < N_HOSTS; host++)
		assert_int_equal(set(f, host, everything), 0);

	notify(f, 2, 144);
	assert_int_equal(told(f), 0x06);	/* itself and host 1 */
	star_gid(4, gid);
	notify_gid(f, 64, gid);
	assert_int_equal(told(f), 0x18);
	notify_gid(f, 65, gid);
	assert_int_equal(told(f), 0x18);
	notify_gid(f, 66, mgid);
	assert_int_equal(told(f), 0x06);
	notify_gid(f, 67, mgid);
	assert_int_equal(told(f), 0x06);
	notify_gid(f, 66, free_mgid);
	assert_int_equal(told(f), 0x1e);
	/* the SA knows the partition of a group, whatever its MGID looks
	 * like */
	notice_build_gid(f->notice, 66, 1, free_mgid);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0x8002);
	assert_int_equal(told(f), 0x18);
	notice_build_gid(f->notice, 67, 1, mgid);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0x8002);
	assert_int_equal(told(f), 0x18);
	gid[9] ^= 0x40;			/* a port that nobody knows */
	notify_gid(f, 65, gid);
	assert_int_equal(told(f), 0);
}

/* The same thing over and over; then ever new things. */
TEST(test_babble_is_merged_and_bounded, setup, teardown)
{
	struct fixture *f = *state;
	struct report r;

	assert_int_equal(set(f, 1, everything), 0);
	for (unsigned n = 0; n < 1000; n++) {
		notify(f, 3, 128);
		f->notice[9] = (uint8_t)n;	/* NoticeCount */
		informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	}
	assert_int_equal(f->i->waiting.length, 1);
	notify(f, 3, 128);
	assert_int_equal(told(f), 2);
	/* The same words of two issuers are two things. */
	star_gid(2, f->issuer);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	notify(f, 3, 128);
	assert_int_equal(f->i->waiting.length, 2);
	while (informs_next(f->i, &r))
		;
	notify(f, 3, 128);		/* none waits: it is news again */
	assert_int_equal(told(f), 2);

	for (unsigned n = 0; n < 100000; n++) {
		f->notice[20] = (uint8_t)(n >> 16);
		f->notice[21] = (uint8_t)(n >> 8);
		f->notice[22] = (uint8_t)n;
		informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	}
	assert_int_equal(f->i->waiting.length, 32768);
}

TEST(test_the_dead_are_forgotten, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;
	struct report first, second;

	assert_int_equal(set(f, 1, info), 0);
	assert_int_equal(set(f, 2, info), 0);
	info.trap = 64;
	assert_int_equal(set(f, 1, info), 0);
	notify(f, 3, 128);
	assert_true(informs_next(f->i, &first));
	assert_true(informs_next(f->i, &second));
	assert_int_equal(first.port_guid, star_guid(1));
	notify(f, 3, 129);			/* waits for both */
	informs_drop(f->i, first.port_guid);
	assert_int_equal(f->i->list->len, 1);
	assert_int_equal(subscription_at(f->i, 0)->port_guid, star_guid(2));
	assert_int_equal(told(f), 1u << 2);
	informs_drop(f->i, 12345);
	assert_int_equal(f->i->list->len, 1);
}

TEST(test_ports_that_are_away_are_forgotten, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t version;

	assert_int_equal(set(f, 1, everything), 0);
	assert_int_equal(set(f, 2, everything), 0);
	version = f->i->version;
	informs_follow(f->i, f->star->v);
	assert_int_equal(f->i->version, version);
	notify(f, 3, 128);
	star_take_away(f->star, 1);
	informs_follow(f->i, f->star->v);
	assert_int_equal(f->i->list->len, 1);
	assert_int_equal(told(f), 1u << 2);
}

TEST(test_one_port_cannot_fill_the_store, setup, teardown)
{
	struct fixture *f = *state;
	struct inform_info info = everything;
	unsigned n = 0;

	for (info.trap = 0; set(f, 1, info) == 0; info.trap++)
		assert_true(++n < 10000);
	assert_int_equal(set(f, 1, info), SA_STATUS_NO_RESOURCES);
	assert_int_equal(set(f, 2, info), 0);
	assert_int_equal(f->i->list->len, n + 1);
}

static char *
save(const struct informs *i)
{
	GString *text = g_string_new(NULL);

	informs_save(i, text);
	return g_string_free(text, FALSE);
}

static bool
load(void *store, char **words, guint n_words, GError **error)
{
	return informs_load_line(store, words, n_words, error);
}

static void
make_some(struct fixture *f)
{
	struct inform_info info = everything;

	for (unsigned n = 0; n < 14; n++) {
		info.trap = (uint16_t)(64 + n / 2);
		info.lid_begin = n % 4 ? 0xffff : 3;
		info.lid_end = 17;
		info.generic = n % 5;
		assert_int_equal(set(f, n % N_HOSTS, info), 0);
	}
}

TEST(test_saved_subscriptions_come_back, setup, teardown)
{
	struct fixture *f = *state;
	struct informs *back = informs_new();
	g_autofree char *text = NULL;
	g_autofree char *again = NULL;
	GError *error = NULL;

	make_some(f);
	assert_int_equal(set(f, 1, everything), 0);
	text = save(f->i);
	assert_true(star_load_text(load, back, text, &error));
	again = save(back);
	assert_string_equal(text, again);
	informs_free(f->i);
	f->i = back;
	notify(f, 3, 128);
	assert_int_equal(told(f), 1u << 1);
	assert_int_equal(set(f, 1, everything), 0);
	assert_int_equal(f->i->list->len, 15);
}

TEST(test_damaged_text_is_refused_or_sound, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t seed = 20260719;
	uint64_t prng = prng_stream(seed, 0);
	g_autofree char *text = NULL;
	unsigned refused = 0;

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	make_some(f);
	text = save(f->i);
	for (unsigned n = 0; n < 1000; n++) {
		struct informs *i = informs_new();
		g_autofree char *bad = star_damage(text, &prng);
		g_autofree char *again = NULL;
		GError *error = NULL;

		if (!star_load_text(load, i, bad, &error)) {
			refused++;
			assert_non_null(error);
			g_clear_error(&error);
		}
		again = save(i);
		informs_free(i);
		i = informs_new();
		assert_true(star_load_text(load, i, again, &error));
		informs_follow(i, f->star->v);
		informs_free(i);
	}
	assert_true(refused > 300);
}

TEST(test_bad_lines_say_what_is_wrong, setup, teardown)
{
	static const char good[] =
		"inform 0xfe800000000000000000000000001011 0 1 "
		"0x00000000000000000000000000000000 0xffff 0 1 0xffff 64 "
		"10 0xffffff 1";
	static const struct {
		unsigned at;
		const char *word, *error;
	} cases[] = {
		{ 0, "informer", "inform" }, { 1, "0xfe", "SubscriberGID" },
		{ 2, "128", "Enum" }, { 3, "0", "QP" }, { 3, "2", "QP" },
		{ 4, "0x0", "GID" }, { 5, "65536", "LID" },
		{ 7, "2", "IsGeneric" }, { 8, "-1", "Type" },
		{ 9, "0x10000", "TrapNumber" }, { 10, "32", "RespTime" },
		{ 11, "0x1000000", "Producer" }, { 12, "0x1000000", "QPN" },
	};
	struct fixture *f = *state;

	for (unsigned n = 0; n < G_N_ELEMENTS(cases); n++) {
		g_auto(GStrv) words = g_strsplit(good, " ", -1);
		GError *error = NULL;

		g_free(words[cases[n].at]);
		words[cases[n].at] = g_strdup(cases[n].word);
		assert_false(informs_load_line(f->i, words, 13, &error));
		assert_has(error->message, cases[n].error);
		g_clear_error(&error);
		assert_false(informs_load_line(f->i, words, 12, &error));
		g_clear_error(&error);
	}
	assert_int_equal(f->i->list->len, 0);
}

TEST(test_twins_of_lines_are_refused, setup, teardown)
{
	static const char line[] =
		"inform 0xfe800000000000000000000000001011 %u 1 "
		"0x00000000000000000000000000000000 0xffff 0 1 0xffff %u "
		"10 0xffffff 1\n";
	struct fixture *f = *state;
	static const unsigned seconds[2][2] = { { 0, 65 }, { 1, 64 } };

	for (unsigned n = 0; n < 2; n++) {
		g_autofree char *one = g_strdup_printf(line, 0u, 64u);
		g_autofree char *two = g_strdup_printf(line, seconds[n][0],
						       seconds[n][1]);
		GError *error = NULL;

		informs_free(f->i);
		f->i = informs_new();
		assert_true(star_load_text(load, f->i, one, &error));
		assert_false(star_load_text(load, f->i, two, &error));
		assert_has(error->message, n ? "twice" : "Enum");
		g_error_free(error);
	}
}
