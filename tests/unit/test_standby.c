// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A standby next to a master that the test plays: it answers well, badly, in
 * part or not at all. Nothing of that replaces what was read before.
 * tests/golden/standby has the steps and what comes of them.
 */
#include "sm/sa/query.h"
#include "sm/standby.h"
#include "tests/lib/scripted.h"
#include "tests/lib/state_text.h"
#include "tests/lib/unit.h"

#define KEY	UINT64_C(77)

/* How the master answers the request for its state. */
enum end { COMES, SILENT, RETURNED };
struct manner {
	const char *name;
	uint8_t flags;		/* of RMPP */
	bool is_mad;		/* of the length of a MAD */
	uint8_t at, flip;	/* bits of a byte of the message */
	uint8_t words;		/* of a record, as it says; 0: of a state's */
	uint8_t more;		/* bytes at its end */
	uint8_t lid;		/* bits of its sender's */
	enum end end;
};
#define FIRST	(RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST)
#define WHOLE	(FIRST | RMPP_FLAG_LAST)
#define LONG	((MAD_SIZE - RMPP_SA_HEADER_LEN) / 8)

static const struct manner manners[] = {
	{ .name = "well", .flags = WHOLE },
	{ .name = "silent", .end = SILENT },
	{ .name = "returned", .end = RETURNED },
	{ .name = "refusing", .flags = WHOLE, .is_mad = true, .at = 5,
	  .flip = MAD_STATUS_BAD_ATTRIBUTE },
	{ .name = "no records", .flags = WHOLE, .is_mad = true, .at = 4,
	  .flip = SA_STATUS_NO_RECORDS >> 8 },
	{ .name = "cut", .flags = FIRST, .is_mad = true },
	{ .name = "cut between two long records", .flags = FIRST,
	  .is_mad = true, .words = LONG },
	{ .name = "no RMPP", .is_mad = true },
	{ .name = "ragged", .flags = WHOLE, .more = 3 },
	{ .name = "small records", .flags = WHOLE, .words = 1 },
	{ .name = "other attribute", .flags = WHOLE, .at = 17, .flip = 1 },
	{ .name = "other method", .flags = WHOLE, .at = 3,
	  .flip = SA_METHOD_GET_TABLE ^ MAD_METHOD_GET },
	{ .name = "by another port", .flags = WHOLE, .lid = 2 },
	{ .name = "senseless", .flags = WHOLE, .at = 70, .flip = 1 },
};

struct stage {
	struct transport *t;
	struct mad_client *x;
	struct snapshot *s;
	struct sa *sa, *other;	/* ours, the master's */
	struct state *state, *others;
	struct isolation_params isolation;
	struct log *log;
	struct standby *b;
	const struct manner *manner;
	unsigned is_minism, is_dark, is_down;
	unsigned n_refused;	/* requests for a table that cannot be sent */
	unsigned master;	/* its LID */
	unsigned table_ms;	/* it takes so long */
	unsigned asked, tables, told, lasts;	/* since they were looked at */
};

static void
answer_port(struct stage *st, const struct scripted_sent *sent)
{
	struct port_info info = { .lid = 3, .sm_lid = (uint16_t)st->master,
				  .state = st->is_down ? PORT_STATE_INIT :
				  PORT_STATE_ACTIVE };
	struct scripted_sent changed = *sent;

	port_info_encode(smp_data(changed.mad), &info);
	scripted_reply(st->t, &changed, 10);
}

static void
answer_class(struct stage *st, const struct scripted_sent *sent)
{
	struct scripted_sent changed = *sent;
	struct sa_mark mark = sa_mark_of(st->other);

	st->asked++;
	if (st->is_dark)
		return;
	scripted_refuse(st->t, st->n_refused, TRANSPORT_ERROR_SEND);
	st->n_refused = 0;
	if (st->is_minism)
		sa_mark_write(changed.mad, &mark);
	else
		memset(changed.mad + SA_DATA_OFFSET, 0, SA_DATA_LEN);
	scripted_reply(st->t, &changed, 10);
}

/* The state that the other SA would send, in one message. */
static GByteArray *
state_of(struct stage *st, const uint8_t *request)
{
	struct sa_request q = { .mad = request, .len = MAD_SIZE, .slid = 0 };
	GByteArray *bytes = g_byte_array_new();
	uint8_t record[SA_DATA_LEN];
	struct sa_reply reply;
	struct sa_header h;

	g_byte_array_append(bytes, request, RMPP_SA_HEADER_LEN);
	sa_header_read(request, MAD_SIZE, &h);
	assert_int_equal(h.sm_key, KEY);
	assert_int_equal(h.mad.attr_id, SA_ATTR_STATE);
	sa_answer(st->other, &q, &reply);
	assert_int_equal(reply.kind, SA_REPLY_TABLE);
	while (sa_records_draw(reply.records, record) == SA_DRAW_RECORD)
		g_byte_array_append(bytes, record, 64);
	sa_records_free(reply.records);
	return bytes;
}

static void
answer_table(struct stage *st, const struct scripted_sent *sent)
{
	const struct manner *how = st->manner;
	struct rmpp_header r = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = how->flags,
	};
	g_autoptr(GByteArray) bytes = state_of(st, sent->mad);
	struct transport_mad m = { .addr = sent->to };

	st->tables++;
	if (how->end == RETURNED)
		scripted_return(st->t, sent->mad, 10);
	if (how->end != COMES)
		return;
	g_byte_array_append(bytes, (const uint8_t *)"abc", how->more);
	r.length = (uint32_t)bytes->len - RMPP_SA_HEADER_LEN + 20;
	m.addr.lid ^= how->lid;
	bytes->data[3] |= MAD_METHOD_RESPONSE;
	bytes->data[45] = how->words ?:
		(uint8_t)(sa_record_size(SA_ATTR_STATE) / 8);
	bytes->data[how->at] ^= how->flip;
	rmpp_header_write(bytes->data, &r);
	g_byte_array_set_size(bytes, how->is_mad ? MAD_SIZE : bytes->len);
	m.mad = bytes->data;
	m.len = bytes->len;
	scripted_deliver(st->t, &m, 10 + 1000 * (int64_t)st->table_ms);
}

static void
peer(struct transport *t, const struct scripted_sent *sent, void *data)
{
	struct stage *st = data;
	const struct mad_header h = mad_header_of(sent->mad);

	if (h.mgmt_class == MAD_CLASS_SMP_DIRECT) {
		answer_port(st, sent);
	} else if (h.method == SA_METHOD_GET_TABLE) {
		assert_int_equal(sent->to.lid, st->master);
		answer_table(st, sent);
	} else if (h.attr_id == SA_ATTR_CLASS_PORT_INFO) {
		assert_int_equal(sent->to.lid, st->master);
		answer_class(st, sent);
	} else if (h.attr_id == SA_ATTR_STATE) {
		st->told++;
	}
}

/* Of one group with this many members, by text. */
static void
set_members(struct stage *st, unsigned n)
{
	g_autoptr(GString) text = g_string_new("group "
		"0xff12401bffff00000000000000000001 0xc007 0xffff 0x00000b1b "
		"0x00000 4 3 18 0 0 0 0 0x0000000000000000\n");

	for (unsigned i = 1; i <= n; i++)
		g_string_append_printf(text, "member "
			"0xff12401bffff00000000000000000001 "
			"0xfe80000000000000%016x 1 0\n", i);
	assert_true(sa_load(st->other, text->str, 0, NULL));
}

static struct state *
open_state(const struct stage *st, struct sa *sa)
{
	const struct state_params params = {
		.log = st->log, .owners = { { &sa_part, sa } }, .n = 1,
	};

	return state_open(&params, st->t);
}

static void
stage_open(struct stage *st)
{
	static const struct mad_client_params wire = {
		.timeout_ms = 50, .retries = 1, .max_wire = 8,
	};
	const struct sa_params params = { .sm_key = KEY };

	memset(st, 0, sizeof(*st));
	st->is_minism = true;
	st->manner = manners;
	st->master = 5;
	st->t = scripted_new();
	scripted_set_peer(st->t, peer, st);
	st->x = mad_client_new(st->t, &wire);
	st->s = generate_fabric("single(3)", NULL, NULL);
	st->sa = sa_new(&params);
	st->other = sa_new(&params);
	set_members(st, 2);
	st->log = log_open("/dev/null", LOG_DEBUG, NULL);
	st->state = open_state(st, st->sa);
	st->isolation.rules = partition_rules_default();
	st->others = open_state(st, st->other);
	state_know_clients(st->others);
	st->other->write_state = state_write;
	st->other->write_state_data = st->others;
	st->b = standby_new(st->x, NULL, st->sa, st->state, &st->isolation, st->log);
	standby_follow(st->b, st->s);
}

static void
stage_close(struct stage *st)
{
	standby_free(st->b);
	state_close(st->state);
	state_close(st->others);
	partition_rules_unref(st->isolation.rules);
	mad_client_free(st->x);
	transport_free(st->t);
	log_free(st->log);
	sa_free(st->sa);
	sa_free(st->other);
	snapshot_unref(st->s);
}

static void
notify(struct stage *st, uint64_t key)
{
	uint8_t mad[MAD_SIZE];
	const struct transport_mad m = {
		.addr = { .lid = 5, .qp = 1 }, .mad = mad, .len = MAD_SIZE,
	};

	sa_build(mad, MAD_METHOD_GET, SA_ATTR_STATE);
	sa_set_sm_key(mad, key);
	scripted_deliver(st->t, &m, 10);
}

static void
on_last(void *data)
{
	((struct stage *)data)->lasts++;
}

static void
run(struct stage *st, const char *time, GString *out)
{
	struct standby_status s;

	scripted_run(st->t, transport_now(st->t) + word_time(time));
	standby_status(st->b, &s);
	if (s.warm)
		g_string_append_printf(out, " %u members as of %.1f s (%u)",
				       (unsigned)s.stats.n_members,
				       (double)s.as_of / G_USEC_PER_SEC,
				       (unsigned)s.reads);
	if (s.why)
		g_string_append_printf(out, " - %s -", s.why);
	if (s.foreign)
		g_string_append_printf(out, " ends:%s",
				       strchr(s.foreign, ':') + 1);
}

/* As the new master; 0: not all that clients registered is known. */
static void
take(struct stage *st, GString *out)
{
	unsigned lid = standby_take(st->b, transport_now(st->t));
	struct sa_stats stats;

	sa_stats(st->sa, &stats);
	g_string_append_printf(out, " of LID %u, %u members", lid,
			       (unsigned)stats.n_members);
}

/* News in each of so many seconds. */
static void
change_often(struct stage *st, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		g_autoptr(GString) none = g_string_new(NULL);

		set_members(st, 2 + i % 2);
		run(st, "1s", none);
	}
}

/* Behind what it says the MADs of the standby and of the master: of
 * ClassPortInfo, for the state, that there is news; and that the last was
 * read. */
static void
play(void *of, const char *text, GString *out)
{
	struct stage *st = of;
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	const struct unit_setting counts[] = {
		{ "asked", &st->asked }, { "read", &st->tables },
		{ "told", &st->told }, { "last", &st->lasts },
	};
	const struct unit_setting settings[] = {
		{ "minism", &st->is_minism }, { "dark", &st->is_dark },
		{ "down", &st->is_down }, { "refused", &st->n_refused },
		{ "lid", &st->master }, { "table_ms", &st->table_ms },
		{ NULL, NULL },
	};

	if (g_str_equal(*words, "master")) {
		unit_set(settings, words + 1);
	} else if (g_str_equal(*words, "answers")) {
		st->manner = manners;
		while (strcmp(st->manner->name, strchr(text, ' ') + 1))
			assert_true(++st->manner < manners +
				    G_N_ELEMENTS(manners));
	} else if (g_str_equal(*words, "members")) {
		set_members(st, word_number(words[1]));
	} else if (g_str_equal(*words, "unpartitioned")) {
		partition_rules_unref(st->isolation.rules);
		st->isolation.rules = partition_rules_new();
	} else if (g_str_equal(*words, "often")) {
		change_often(st, word_number(words[1]));
	} else if (g_str_equal(*words, "news")) {
		notify(st, word_number(words[1]));
	} else if (g_str_equal(*words, "follower")) {
		for (unsigned i = 0; i < word_number(words[1]); i++)
			sa_follow(st->sa, 5 + i, transport_now(st->t));
	} else if (g_str_equal(*words, "change")) {
		st->sa->n_views++;
		standby_touch(st->b);
	} else if (g_str_equal(*words, "last")) {
		standby_read_last(st->b, on_last, st);
	} else if (g_str_equal(*words, "run")) {
		run(st, words[1], out);
	} else {
		assert_string_equal(*words, "take");
		take(st, out);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		if (*counts[i].value)
			g_string_append_printf(out, " %s %u", counts[i].name,
					       *counts[i].value);
		*counts[i].value = 0;
	}
}

GOLDEN("standby", transcript)
{
	AUTO_VALUE(stage_close) struct stage st;

	stage_open(&st);
	golden_play(text, play, &st, out);
}
