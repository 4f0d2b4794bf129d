// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The stores of the SA by themselves: groups, services, subscriptions, over one
 * switch with hosts (sa_star.h). What each promises is in tests/scripts/
 * sa_mcmember.scn, sa_service.scn and sa_informinfo.scn; here are their words,
 * and what needs chance or large numbers. The time is what the test says.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa.h"
#include "sm/sa/service.h"
#include "tests/lib/request.h"
#include "tests/lib/sa_star.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define N_HOSTS		6u
#define SECOND		G_GINT64_CONSTANT(1000000)
#define START		(77 * SECOND)

enum store { GROUPS, SERVICES, SUBSCRIPTIONS };
static const char *const store_names[] = {
	"groups", "services", "subscriptions",
};

struct stores {
	struct star *star;
	struct sa *sa;
	struct groups *g;	/* of the SA: */
	struct services *s;
	struct informs *i;
	int64_t start, now;
	struct request r;
	uint32_t from;		/* the requester's port */
	uint8_t notice[NOTICE_LEN], issuer[16];
};

#define group_at(g, n)	((const struct group *)(g)->all.list->pdata[n])
#define service_at(s, n)	((const struct service *)(s)->all.list->pdata[n])
#define subscription_at(i, n) \
	((const struct subscription *)(i)->all.list->pdata[n])

/* Into empty stores; of a text that is refused nothing is taken. */
static bool
load(struct stores *f, const char *text, GError **error)
{
	const struct sa_params params = { .sm_key = 0 };
	bool good;

	sa_free(f->sa);
	f->sa = sa_new(&params);
	good = !*text || sa_load(f->sa, text, f->now, error);
	f->g = f->sa->groups;
	f->s = f->sa->services;
	f->i = f->sa->informs;
	return good;
}

static int
set_up(void **state)
{
	struct stores *f = g_new0(struct stores, 1);

	f->star = star_new(N_HOSTS);
	load(f, "", NULL);
	f->start = f->now = START;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct stores *f = *state;

	sa_free(f->sa);
	star_free(f->star);
	g_free(f);
	return 0;
}

static void
follow(struct stores *f)
{
	groups_follow(f->g, f->star->v);
	services_follow(f->s, f->star->v);
	informs_follow(f->i, f->star->v);
}

/* What must hold of every store. */
static void
check_groups(const struct groups *g)
{
	g_autoptr(GHashTable) mlids = g_hash_table_new(NULL, NULL);

	for (uint32_t i = 0; i < g->all.list->len; i++) {
		const struct group *gr = group_at(g, i);
		unsigned counts = gr->permanent;

		if (i)
			assert_true(memcmp(group_at(g, i - 1)->r.mgid,
					   gr->r.mgid, 16) < 0);
		assert_in_range(gr->r.mlid, 0xc000, 0xfffe);
		assert_true(g_hash_table_add(mlids,
					     GUINT_TO_POINTER(gr->r.mlid)));
		for (guint j = 0; j < gr->members.list->len; j++) {
			const struct group_member *m =
				gr->members.list->pdata[j], *last;

			assert_in_range(m->join_state, 1, 15);
			counts |= m->join_state &
				(JOIN_FULL | JOIN_SEND_ONLY_FULL);
			if (!j)
				continue;
			last = gr->members.list->pdata[j - 1];
			assert_true(memcmp(last->gid, m->gid, 16) < 0);
		}
		assert_int_not_equal(counts, 0);
	}
}

static void
check_services(const struct services *s)
{
	for (uint32_t i = 1; i < s->all.list->len; i++)
		assert_true(service_at(s, i - 1)->record.id <=
			    service_at(s, i)->record.id);
}

/* ---- requests ---- */

/* "H-3", and all that a script writes in its place. */
static unsigned
host_of(const char *name)
{
	if (!g_str_has_prefix(name, "H-"))
		fail_msg("%s is no host", name);
	return (unsigned)strtoul(name + 2, NULL, 10);
}

static bool
find_name(void *fixture, const char *name, struct request_name *out)
{
	if (!g_str_has_prefix(name, "H-"))
		return false;
	out->guid = star_guid(host_of(name));
	star_gid(host_of(name), out->gid);
	return true;
}

/* from=HOST: the requester; by=HOST: it speaks for itself. */
static bool
read_option(void *fixture, const char *name, const char *value)
{
	struct stores *f = fixture;
	g_autofree char *own = g_strconcat(f->r.attr_id == SA_ATTR_SERVICE ?
					   "ServiceGID=" : "PortGID=", value,
					   NULL);

	if (strcmp(name, "by") == 0)
		request_put(&f->r, (char *[]){ own, NULL });
	else if (strcmp(name, "from"))
		return false;
	f->from = strcmp(value, "nobody") ?
		star_port(f->star, host_of(value)) : SNAPSHOT_NONE;
	return true;
}

static const struct request_kind kind = {
	.name = find_name, .option = read_option,
};

/* The status; the record becomes the answer. */
static unsigned
serve(struct stores *f)
{
	bool is_set = f->r.method == MAD_METHOD_SET;
	union {
		struct mcmember_record m;
		struct service_record s;
		struct inform_info i;
	} rec;
	unsigned status;

	sa_record_decode(f->r.attr_id, f->r.data, &rec);
	if (f->r.attr_id == SA_ATTR_MC_MEMBER)
		status = (is_set ? groups_join : groups_leave)
			(f->g, f->star->v, f->from, f->r.mask, &rec.m);
	else if (f->r.attr_id == SA_ATTR_SERVICE)
		status = (is_set ? services_set : services_delete)
			(f->s, f->star->v, f->from, f->r.mask, &rec.s, f->now);
	else
		status = informs_set(f->i, f->star->v, f->from, &rec.i);
	sa_record_encode(f->r.attr_id, f->r.data, &rec);
	check_groups(f->g);
	check_services(f->s);
	return status;
}

WORD(do_request, struct stores *f)
{
	request_read(&f->r, &kind, f, words - 1);
	request_expect_record(&f->r, serve(f), f->r.data);
}

/* ---- the fabric ---- */

/* PKEY MEMBERSHIP HOST .. */
WORD(do_rule, struct stores *f)
{
	static const char *const names[] = {
		[PARTITION_NONE] = "none", [PARTITION_LIMITED] = "limited",
		[PARTITION_FULL] = "full", [PARTITION_BOTH] = "both", NULL,
	};
	unsigned membership = 0;

	while (strcmp(names[membership], words[1]))
		membership++;
	for (char **host = words + 2; *host; host++)
		star_rule(f->star, word_number(words[0]),
			  host_of(*host), membership);
	star_publish(f->star);
}

WORD(do_no_rules, struct stores *f)
{
	uint16_t pkey = word_number(words[0]);

	g_array_set_size(partition_rules_get(f->star->rules, pkey)->rules, 0);
	star_publish(f->star);
}

/* PKEY Q_KEY|none: IPoIB's group of the default partition */
WORD(do_configured, struct stores *f)
{
	struct partition *p = partition_rules_get(f->star->rules,
			word_number(words[0]));
	struct partition_group group;

	partition_ipoib_group(PKEY_DEFAULT, 2, &group);
	g_array_set_size(p->groups, 0);
	if (strcmp(words[1], "none")) {
		group.q_key = word_number(words[1]);
		g_array_append_val(p->groups, group);
	}
}

WORD(do_away, struct stores *f)
{
	star_take_away(f->star, host_of(words[0]));
}

WORD(do_back, struct stores *f)
{
	star_bring_back(f->star, host_of(words[0]));
}

/* port, peer HOST COMPONENT=VALUE: of PortInfo, there or at the other end */
WORD(do_port, struct stores *f)
{
	uint32_t port = star_port(f->star, host_of(words[0]));

	if (strcmp(words[-1], "peer") == 0)
		port = f->star->s->ports[port].peer;
	request_poke(SA_ATTR_PORT_INFO, &f->star->s->ports[port].info,
		     words[1]);
}

WORD(do_switch, struct stores *f)
{
	request_poke(SA_ATTR_SWITCH_INFO,
		     &f->star->s->nodes[f->star->s->switches[0]].sw, words[0]);
}

WORD(do_follow, struct stores *f)
{
	follow(f);
	check_groups(f->g);
}

/* ---- groups ---- */

WORD(do_quota, struct stores *f)
{
	f->g->quota = word_number(words[0]);
}

static struct group *
find_group(struct stores *f, const char *text)
{
	uint8_t mgid[16];

	request_gid(&kind, f, text, mgid);
	return sa_store_find(&f->g->all, mgid);
}

/* MGID COMPONENT=VALUE .. */
WORD(do_group, struct stores *f)
{
	const struct group *group = find_group(f, words[0]);
	uint8_t data[SA_DATA_LEN];

	assert_non_null(group);
	sa_record_encode(SA_ATTR_MC_MEMBER, data, &group->r);
	request_hold(&kind, f, SA_ATTR_MC_MEMBER, words + 1, data);
}

WORD(do_not_permanent, void *fixture)
{
	assert_false(find_group(fixture, words[0])->permanent);
}

static const struct group_member *
find_member(struct stores *f, const char *mgid, const char *host)
{
	const struct group *group = find_group(f, mgid);
	uint64_t guid = star_guid(host_of(host));

	return group ? sa_store_find(&group->members, &guid) : NULL;
}

/* MGID HOST STATES; 0: it is no member */
WORD(do_state, void *fixture)
{
	const struct group_member *m = find_member(fixture, words[0], words[1]);

	assert_range(words[2], m ? m->join_state : 0);
}

WORD(do_proxy, void *fixture)
{
	assert_true(find_member(fixture, words[0], words[1])->proxy);
}

/* created|deleted MGID: the oldest one */
WORD(do_event, struct stores *f)
{
	struct group_event event;
	uint8_t mgid[16];

	assert_true(f->g->events->len > 0);
	event = g_array_index(f->g->events, struct group_event, 0);
	g_array_remove_index(f->g->events, 0);
	assert_int_equal(event.created, !strcmp(words[0], "created"));
	request_gid(&kind, f, words[1], mgid);
	assert_memory_equal(event.mgid, mgid, 16);
}

WORD(do_no_event, struct stores *f)
{
	assert_int_equal(f->g->events->len, 0);
}

/* ---- services ---- */

WORD(do_later, struct stores *f)
{
	f->now += word_time(words[0]);
}

/* TIME since the start */
WORD(do_tick, struct stores *f)
{
	services_tick(f->s, f->start + word_time(words[0]));
}

/* TIME since the start: that of the next lease */
WORD(do_next_end, const struct stores *f)
{
	assert_true(f->s->next == (strcmp(words[0], "never") ?
		    f->start + word_time(words[0]) : INT64_MAX));
}

/* PLACE|all COMPONENT=VALUE .. */
WORD(do_service, struct stores *f)
{
	bool all = strcmp(words[0], "all") == 0;
	uint32_t nth = all ? 0 : word_number(words[0]);

	for (uint32_t i = nth; i < (all ? f->s->all.list->len : nth + 1); i++) {
		uint8_t data[SA_DATA_LEN];

		sa_record_encode(SA_ATTR_SERVICE, data,
				 &service_at(f->s, i)->record);
		request_hold(&kind, f, SA_ATTR_SERVICE, words + 1, data);
	}
}

/* ---- subscriptions ---- */

/* PLACE HOST COMPONENT=VALUE ..: of InformInfoRecord */
WORD(do_subscription, struct stores *f)
{
	const struct subscription *s =
		subscription_at(f->i, word_number(words[0]));
	struct inform_info_record record = {
		.index = s->index, .info = s->info,
	};
	uint8_t data[SA_DATA_LEN];

	assert_int_equal(s->port_guid, star_guid(host_of(words[1])));
	sa_record_encode(SA_ATTR_INFORM_INFO_RECORD, data, &record);
	request_hold(&kind, f, SA_ATTR_INFORM_INFO_RECORD, words + 2, data);
}

WORD(do_qp, const struct stores *f)
{
	assert_range(words[1], subscription_at(f->i,
				word_number(words[0]))->qp);
}

/* => HOST ..: these get the Reports that wait, in this order, one each */
WORD(do_reports, struct stores *f)
{
	struct report r;

	assert_string_equal(*words, "=>");
	for (words++; *words; words++) {
		assert_true(informs_next(f->i, &r));
		assert_int_equal(r.port_guid, star_guid(host_of(*words)));
		assert_memory_equal(r.notice, f->notice, NOTICE_LEN);
		assert_memory_equal(r.issuer, f->issuer, 16);
	}
	assert_false(informs_next(f->i, &r));
}

/* A trap of a switch, generic and urgent, as if the host had sent it from LID
 * 20 + its number. */
static void
make_notice(struct stores *f, unsigned host, unsigned trap)
{
	const uint8_t notice[] = {
		0x81, 0, 0, 2, (uint8_t)(trap >> 8), (uint8_t)trap, 0,
		(uint8_t)(20 + host),
	};

	memset(f->notice, 0, sizeof(f->notice));
	memcpy(f->notice, notice, sizeof(notice));
	star_gid(host, f->issuer);
}

static void
notify(struct stores *f, unsigned host, unsigned trap)
{
	make_notice(f, host, trap);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
}

/* notice HOST TRAP [@BYTE=VALUE ..] => HOST ..; queue: it is not taken */
WORD(do_notice, struct stores *f)
{
	struct request r = { .kind = &kind, .fixture = f };

	make_notice(f, host_of(words[0]), word_number(words[1]));
	memcpy(r.data, f->notice, NOTICE_LEN);
	request_put(&r, words + 2);
	memcpy(f->notice, r.data, NOTICE_LEN);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	if (r.expected)
		do_reports(f, r.expected - 1, NULL);
}

/* TRAP GID [pkey=P_KEY] => HOST ..: traps 64 to 67, which the SM makes */
WORD(do_gid_notice, struct stores *f)
{
	bool has_pkey = g_str_has_prefix(words[2], "pkey=");
	uint8_t gid[16];

	request_gid(&kind, f, words[1], gid);
	notice_build_gid(f->notice, word_number(words[0]), 1, gid);
	star_gid(0, f->issuer);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, has_pkey ?
		       (uint16_t)strtoul(words[2] + 5, NULL, 0) : 0);
	do_reports(f, words + 2 + has_pkey, NULL);
}

WORD(do_drop, struct stores *f)
{
	informs_drop(f->i,
		     g_ascii_isdigit(*words[0]) ? word_number(words[0]) :
		     star_guid(host_of(words[0])));
}

/* ---- all of them ---- */

static enum store
store_of(const char *name)
{
	enum store store = GROUPS;

	while (strcmp(store_names[store], name))
		store++;
	return store;
}

/* groups, services, subscriptions N: how many there are */
WORD(do_count, struct stores *f)
{
	const GPtrArray *lists[] = {
		f->g->all.list, f->s->all.list, f->i->all.list,
	};

	assert_range(words[0], lists[store_of(words[-1])]->len);
}

static const struct unit_word all_words[];

/* same-versions, new-versions LINE: the counts of changes behind it */
WORD(do_same_versions, struct stores *f)
{
	uint64_t before = sa_saved_version(f->sa);

	unit_play(all_words, f, text);
	assert_int_equal(sa_saved_version(f->sa) != before, *words[-1] == 'n');
}

WORD(do_versions, const struct stores *f)
{
	assert_range(words[0], f->g->all.version);
	assert_range(words[1], f->s->all.version);
	assert_range(words[2], f->i->all.version);
}

static char *
save(const struct stores *f)
{
	GString *text = g_string_new(NULL);

	sa_save(f->sa, text, f->now);
	return g_string_free(text, FALSE);
}

/* What is saved and loaded is saved as the same again; by another clock. */
WORD(do_reload, struct stores *f)
{
	g_autofree char *saved = save(f), *again = NULL;
	GError *error = NULL;

	f->start = 0;
	f->now = 5 * SECOND;
	assert_true(load(f, saved, &error));
	assert_null(error);
	again = save(f);
	assert_string_equal(saved, again);
	check_groups(f->g);
}

/* "LINE;LINE .." TEXT: it is refused, with this in the error */
WORD(do_bad, void *fixture)
{
	g_auto(GStrv) lines = g_strsplit(words[0], ";", -1);
	g_autofree char *all = g_strjoinv("\n", lines);
	g_autoptr(GError) error = NULL;

	assert_false(load(fixture, all, &error));
	assert_has(error->message, words[1]);
}

static unsigned
request(struct stores *f, const char *format, ...) G_GNUC_PRINTF(2, 3);
static unsigned
request(struct stores *f, const char *format, ...)
{
	g_auto(GStrv) args = NULL;
	g_autofree char *line = NULL;
	va_list list;

	va_start(list, format);
	line = g_strdup_vprintf(format, list);
	va_end(list);
	g_shell_parse_argv(line, NULL, &args, NULL);
	request_read(&f->r, &kind, f, args);
	return serve(f);
}

#define JOIN	"Set MCMemberRecord Q_Key=0x1234 P_Key=0xffff SL=3 TClass=7 " \
		"FlowLabel=0xabcde by=H-%u MGID=ff12:a01c::%x JoinState=%u"
#define LEAVE	"Delete MCMemberRecord by=H-%u MGID=ff12:a01c::%x JoinState=%u"
#define SERVE	"Set ServiceRecord ServiceP_Key=0xffff ServiceKey='key 11' " \
		"by=H-%u ServiceID=%u ServiceLease=%u"
#define INFORM	"Set InformInfo IsGeneric=%u Subscribe=1 Type=0xffff " \
		"ProducerTypeVendorID=0xffffff RespTimeValue=10 from=H-%u " \
		"TrapNumberDeviceID=%u LIDRangeBegin=%u LIDRangeEnd=17"

static void
make_some(struct stores *f, enum store store)
{
	follow(f);
	for (unsigned i = 0; store == GROUPS && i < 20; i++)
		assert_int_equal(request(f, JOIN, i % N_HOSTS, i % 7, i < 7 ?
					 JOIN_FULL : JOIN_NON), 0);
	/* two MGIDs of ours, of which the first is given up; and an MLID */
	for (unsigned i = 0; store == GROUPS && i < 2; i++)
		assert_int_equal(request(f, JOIN " -MGID", 1, 0, JOIN_FULL), 0);
	if (store == GROUPS) {
		assert_int_equal(request(f, "Delete MCMemberRecord by=H-1 "
				 "MGID=ff12:a01b:ffff::1 JoinState=1"), 0);
		assert_int_equal(request(f, LEAVE, 0, 0, JOIN_FULL), 0);
	}
	for (unsigned i = 0; store == SERVICES && i < 12; i++)
		assert_int_equal(request(f, SERVE, i % 4, 100 - i, i % 3 ?
					 10 + i : UINT32_MAX), 0);
	for (unsigned i = 0; store == SUBSCRIPTIONS && i < 14; i++)
		assert_int_equal(request(f, INFORM, i % 5 != 0, i % 5,
					 64 + i / 2, i % 4 ? 0xffff : 3), 0);
}

WORD(do_some, void *fixture)
{
	make_some(fixture, store_of(words[0]));
}

static const struct unit_word all_words[] = {
	{ "Set", do_request }, { "Delete", do_request },
	{ "rule", do_rule }, { "no-rules", do_no_rules },
	{ "configured", do_configured }, { "away", do_away },
	{ "back", do_back }, { "port", do_port }, { "peer", do_port },
	{ "switch", do_switch }, { "follow", do_follow },
	{ "groups", do_count }, { "services", do_count },
	{ "subscriptions", do_count },
	{ "same-versions", do_same_versions },
	{ "new-versions", do_same_versions }, { "versions", do_versions },
	{ "some", do_some }, { "reload", do_reload }, { "bad", do_bad },
	{ "quota", do_quota }, { "group", do_group },
	{ "not-permanent", do_not_permanent }, { "state", do_state },
	{ "proxy", do_proxy }, { "event", do_event },
	{ "no-event", do_no_event },
	{ "later", do_later }, { "tick", do_tick },
	{ "next-end", do_next_end }, { "service", do_service },
	{ "subscription", do_subscription }, { "qp", do_qp },
	{ "notice", do_notice }, { "queue", do_notice },
	{ "gid-notice", do_gid_notice }, { "reports", do_reports },
	{ "drop", do_drop }, { NULL, NULL },
};

SCRIPT(mcmember, "sa_mcmember.scn", all_words, set_up, tear_down)
SCRIPT(service, "sa_service.scn", all_words, set_up, tear_down)
SCRIPT(informinfo, "sa_informinfo.scn", all_words, set_up, tear_down)

/* ---- chance, and large numbers ---- */

#define STORES_TEST(name) \
	TEST_WITH(name, struct stores *f, set_up, tear_down)

/* Any client, any group, any states; the plainest model there is. */
STORES_TEST(test_random_joins_match_a_plain_model)
{
	uint64_t seed = 20260716;
	uint64_t prng = prng_stream(seed, 0);
	unsigned model[4][N_HOSTS] = { { 0 } };

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	for (unsigned n = 0; n < 20000; n++) {
		unsigned group = prng_below(&prng, 4);
		unsigned host = prng_below(&prng, N_HOSTS);
		unsigned states = prng_below(&prng, 16);
		bool is_join = prng_below(&prng, 2), good;
		unsigned *now = &model[group][host], others = 0;
		g_autofree char *mgid = g_strdup_printf("ff12:a01c::%x", group);

		for (unsigned i = 0; i < N_HOSTS; i++)
			others |= model[group][i];
		good = states && (is_join ? (others | states) & 9 :
				  !(states & ~*now));
		assert_int_equal(request(f, is_join ? JOIN : LEAVE, host, group,
					 states),
				 good ? 0 : SA_STATUS_REQ_INVALID);
		if (good)
			*now = is_join ? *now | states : *now & ~states;
		others = 0;
		for (unsigned i = 0; i < N_HOSTS; i++)
			others |= model[group][i];
		for (unsigned i = 0; i < N_HOSTS; i++) {
			g_autofree char *name = g_strdup_printf("H-%u", i);
			const struct group_member *m = find_member(f, mgid,
								   name);

			if (!(others & 9))
				model[group][i] = 0;
			assert_int_equal(m ? m->join_state : 0,
					 model[group][i]);
		}
	}
}

STORES_TEST(test_damaged_text_is_refused_or_sound)
{
	static const struct {
		uint64_t seed;
		unsigned refused;	/* of 1,000, at least */
	} runs[] = { { 20260717, 400 }, { 20260718, 400 }, { 20260719, 300 } };

	for (enum store store = GROUPS; store <= SUBSCRIPTIONS; store++) {
		uint64_t prng = prng_stream(runs[store].seed, 0);
		g_autofree char *text = NULL;
		unsigned refused = 0;

		print_message("seed %" G_GUINT64_FORMAT "\n", runs[store].seed);
		make_some(f, store);
		text = save(f);
		for (unsigned n = 0; n < 1000; n++) {
			g_autofree char *bad = star_damage(text, &prng);
			g_autofree char *again = NULL;
			GError *error = NULL;

			if (!load(f, bad, &error)) {
				refused++;
				assert_true(strlen(error->message) > 10);
				g_clear_error(&error);
			}
			/* a group may have no member that counts: that is
			 * settled by the first view */
			groups_follow(f->g, f->star->v);
			check_groups(f->g);
			check_services(f->s);
			again = save(f);
			assert_true(load(f, again, &error));
			follow(f);
		}
		assert_true(refused > runs[store].refused);
		load(f, "", NULL);
	}
}

STORES_TEST(test_one_client_cannot_fill_a_store)
{
	unsigned n = 0;

	while (request(f, SERVE, 1, n, UINT32_MAX) == 0)
		assert_true(++n < 100000);
	assert_int_equal(request(f, SERVE, 1, n, UINT32_MAX),
			 SA_STATUS_NO_RESOURCES);
	/* the same port by another form of its GID */
	assert_int_equal(request(f, SERVE " @8/8=0", 1, n, UINT32_MAX),
			 SA_STATUS_NO_RESOURCES);
	assert_int_equal(request(f, SERVE, 1, n - 1, UINT32_MAX), 0);
	assert_int_equal(request(f, SERVE, 2, n, UINT32_MAX), 0);

	for (n = 0; request(f, INFORM, 1, 1, n, 0xffff) == 0; n++)
		assert_true(n < 10000);
	assert_int_equal(request(f, INFORM, 1, 1, n, 0xffff),
			 SA_STATUS_NO_RESOURCES);
	assert_int_equal(request(f, INFORM, 1, 2, n, 0xffff), 0);
	assert_int_equal(f->i->all.list->len, n + 1);
}

/* The same thing over and over; then ever new things. */
STORES_TEST(test_babble_is_merged_and_bounded)
{
	struct report r;

	assert_int_equal(request(f, INFORM, 1, 1, 0xffff, 0xffff), 0);
	for (unsigned n = 0; n < 1000; n++) {
		notify(f, 3, 128);
		f->notice[9] = (uint8_t)n;	/* NoticeCount */
		informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	}
	assert_int_equal(f->i->waiting.length, 1);
	notify(f, 3, 128);
	do_reports(f, (char *[]){ "=>", "H-1", NULL }, NULL);
	/* The same words of two issuers are two things. */
	star_gid(2, f->issuer);
	informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	notify(f, 3, 128);
	assert_int_equal(f->i->waiting.length, 2);
	while (informs_next(f->i, &r))
		;
	notify(f, 3, 128);		/* none waits: it is news again */
	do_reports(f, (char *[]){ "=>", "H-1", NULL }, NULL);

	for (unsigned n = 0; n < 100000; n++) {
		f->notice[20] = (uint8_t)(n >> 16);
		f->notice[21] = (uint8_t)(n >> 8);
		f->notice[22] = (uint8_t)n;
		informs_notify(f->i, f->star->v, f->notice, f->issuer, 0);
	}
	assert_int_equal(f->i->waiting.length, 32768);
}
