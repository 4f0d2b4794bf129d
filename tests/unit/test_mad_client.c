// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transactions against a scripted peer on a virtual clock: what is lost, late,
 * doubled, wrong or never answered, cancelled, and what callbacks may do; and
 * what the window makes of good, silent, lossy and stalled peers. They are
 * text: tests/scripts/mad_client.scn and window.scn. Here are its words, and
 * what takes long loops. Chance: tests/fuzz/fuzz_discover.c.
 */

#include "sm/io/mad_client.h"
#include "sm/mad/smp.h"
#include "tests/lib/script.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[32];

#define MS	1000
#define TIMEOUT	(200 * MS)	/* of the usual parameters */

#define ENDS_MAX	20000

static const struct mad_addr addr = { .lid = LID_PERMISSIVE };

/* How MADs are answered: `delay` us later, with these exceptions. */
struct peer {
	int64_t delay, free_at;
	unsigned line;		/* us that each takes, one after the other */
	unsigned stall;		/* us: none from 50 ms on until then */
	unsigned busy;		/* so is each busyth; 0: none */
	char *tags;		/* their first attempts are lost, */
	bool is_deaf;		/* or all */
};

/* Every end of a request is written down under its tag, which is below
 * ENDS_MAX, with its time and its place in the order of ends. */
struct bench {
	struct transport *t;
	struct mad_client *x;
	struct peer peer;
	uint32_t ids[ENDS_MAX];
	unsigned answered[ENDS_MAX], lost[ENDS_MAX];
	int64_t when[ENDS_MAX];
	uint64_t order[ENDS_MAX];
	unsigned ends, drops, stood, served, last_method;
	struct mad_header last;		/* of the last answer, */
	uint8_t last_data;		/* its first data byte */
	char reason[128];		/* of the last drop */
	char *lines;	/* that the end of lines_tag plays; of a stall told: */
	char *stood_lines;
	uint64_t lines_tag, paces;
	unsigned next, end, depth;	/* tags that the pump starts */
};

static void play_lines(struct bench *b, const char *lines);

static void
on_drop(const char *reason, const struct transport_mad *m, void *data)
{
	struct bench *b = data;

	b->drops++;
	g_strlcpy(b->reason, reason, sizeof(b->reason));
}

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct bench *b = data;

	assert_true(tag < ENDS_MAX);
	if (b->ends < ENDS_MAX)
		b->order[b->ends] = tag;
	b->ends++;
	b->when[tag] = transport_now(b->t);
	if (a->outcome == MAD_CLIENT_TIMED_OUT) {
		assert_null(a->mad);
		b->lost[tag]++;
	} else {
		b->answered[tag]++;
		b->last = a->header;
		b->last_data = a->mad[SMP_DATA_OFFSET];
	}
	if (b->lines && tag == b->lines_tag)
		play_lines(b, b->lines);
}

static void
bench_renew(struct bench *b, const struct mad_client_params *params)
{
	if (b->x)
		mad_client_free(b->x);
	if (b->t)
		transport_free(b->t);
	b->t = scripted_new();
	b->x = mad_client_new(b->t, params);
	b->x->drop = on_drop;
	b->x->drop_data = b;
}

/* 200 ms, 3 retries, 128 on the wire; nothing is answered. */
static const struct mad_client_params usual = {
	.timeout_ms = 200, .retries = 3, .max_wire = 128,
};

static void
bench_open(struct bench *b)
{
	bench_renew(b, &usual);
}

static void
bench_close(struct bench *b)
{
	if (b->x)
		mad_client_free(b->x);
	transport_free(b->t);
	g_free(b->peer.tags);
	g_free(b->lines);
	g_free(b->stood_lines);
}

FIXTURE(bench)

static uint32_t
sent_tid(const struct scripted_sent *s)
{
	return (uint32_t)mad_header_of(s->mad).tid;
}

static void
play_peer(struct transport *t, const struct scripted_sent *s, void *data)
{
	struct peer *p = data;
	unsigned tag = mad_header_of(s->mad).attr_mod;
	int64_t now = transport_now(t), delay = p->delay;
	uint8_t mad[MAD_SIZE];

	/* the low bits of a TID count the attempts */
	if (p->tags && range_holds(p->tags, tag) &&
	    (p->is_deaf || (sent_tid(s) & 0xf) == 1))
		return;
	if (p->line) {
		p->free_at = MAX(p->free_at, now) + p->line;
		delay = p->free_at - now;
	} else if (now >= 50 * MS && now < p->stall) {
		delay += p->stall - now;
	}
	memcpy(mad, s->mad, sizeof(mad));
	smp_make_response(mad, p->busy && scripted_count(t) % p->busy == 0 ?
			  MAD_STATUS_BUSY : MAD_STATUS_OK);
	scripted_answer(t, mad, delay);
}

/* Get(PortInfo) with the tag as modifier, two hops; its id. */
static uint32_t
bench_start(struct bench *b, uint64_t tag, unsigned last_hop)
{
	const struct dr_path path = { .hops = 2, .port = { 0, 1, last_hop } };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, tag, 0,
			 &path);
	return b->ids[tag] = mad_client_start(b->x, &addr, mad, on_done, b,
					      tag);
}

/* ------------------------------------------------------------------ words */

/* TAG[..TAG]: the first one; *last */
static uint64_t
read_tags(const char *word, uint64_t *last)
{
	const char *dots = strstr(word, "..");
	uint64_t first = strtoul(word, NULL, 10);

	*last = dots ? word_number(dots + 2) : first;
	return first;
}

/* [timeout_ms=N] [retries=N] [max_wire=N]: another client, at time 0 */
WORDS("client", do_client, struct bench *b)
{
	struct mad_client_params params = usual;
	const struct unit_setting settings[] = {
		{ "timeout_ms", &params.timeout_ms },
		{ "retries", &params.retries },
		{ "max_wire", &params.max_wire }, { NULL, NULL },
	};

	unit_set(settings, words);
	bench_renew(b, &params);
}

/* silent|TIME [deaf=TAGS] [lost=TAGS] [line=US] [stall=US] [busy=N] */
WORDS("peer", do_peer, struct bench *b)
{
	struct peer *p = &b->peer;
	const struct unit_setting settings[] = {
		{ "line", &p->line }, { "stall", &p->stall },
		{ "busy", &p->busy }, { NULL, NULL },
	};
	bool is_silent = strcmp(words[0], "silent") == 0;

	scripted_set_peer(b->t, is_silent ? NULL : play_peer, p);
	g_free(p->tags);
	*p = (struct peer){ .delay = is_silent ? 0 : word_time(words[0]) };
	words++;
	p->is_deaf = *words && g_str_has_prefix(*words, "deaf=");
	if (p->is_deaf || (*words && g_str_has_prefix(*words, "lost=")))
		p->tags = g_strdup(strchr(*words++, '=') + 1);
	unit_set(settings, words);
}

/* TAG[..TAG] [elsewhere|report|set]: to another node, a GMP, a Set by LID */
WORDS("start", do_start, struct bench *b)
{
	uint64_t last, tag = read_tags(words[0], &last);
	const char *how = words[1] ?: "";
	const struct mad_addr gsi = { .qp = 1, .lid = 7 };
	uint8_t mad[MAD_SIZE];

	for (; tag <= last; tag++) {
		if (*how != 'r' && *how != 's') {
			assert_int_not_equal(bench_start(b, tag, *how ? 3 : 2),
					     0);
			continue;
		}
		smp_build_lid(mad, *how == 's' ? MAD_METHOD_SET :
			      MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0);
		if (*how == 'r')
			mad[1] = MAD_CLASS_SA;
		mad_client_start(b->x, *how == 'r' ? &gsi : &addr, mad, on_done,
				 b, tag);
	}
}

/* N TIME [BYTE=VALUE ..] [tid=N] [tid+N] [len=N] [returned]: to the Nth that
 * was sent since `forget`, a good answer but for that */
WORDS("answer", do_answer, struct bench *b)
{
	const struct scripted_sent *sent =
		scripted_get(b->t, word_number(words[0]));
	uint8_t mad[MAD_SIZE];
	struct transport_mad m = { .addr = sent->to, .mad = mad,
				   .len = MAD_SIZE };

	memcpy(mad, sent->mad, MAD_SIZE);
	smp_make_response(mad, MAD_STATUS_OK);
	for (char **word = words + 2; *word; word++) {
		const char *value = *word + strcspn(*word, "=+") + 1;

		if (strcmp(*word, "returned") == 0)
			m.event = TRANSPORT_RETURNED;
		else if (g_str_has_prefix(*word, "len="))
			m.len = word_number(value);
		else if (g_str_has_prefix(*word, "tid"))
			mad_set_tid(mad, word_number(value) +
				    (value[-1] == '+' ? sent_tid(sent) : 0));
		else
			mad[strtoul(*word, NULL, 10)] = word_number(value);
	}
	scripted_deliver(b->t, &m, word_time(words[1]));
}

/* N TIME: the Nth comes back without an answer */
WORDS("return", do_return, struct bench *b)
{
	scripted_return(b->t, scripted_get(b->t, word_number(words[0]))->mad,
			word_time(words[1]));
}

/* METHOD: of another's, under the TID of the first that was sent */
WORDS("request", do_request, struct bench *b)
{
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, word_number(words[0]), MAD_ATTR_SM_INFO, 0, 0);
	mad_set_tid(mad, sent_tid(scripted_get(b->t, 0)));
	scripted_answer(b->t, mad, 1);
	scripted_run(b->t, transport_now(b->t) + 2);
}

static void
on_serve(const struct transport_mad *m, const struct mad_header *h, void *data)
{
	struct bench *b = data;

	assert_int_equal(m->len, MAD_SIZE);
	b->served++;
	b->last_method = h->method;
}

/* [off] */
WORDS("serve", do_serve, struct bench *b)
{
	b->x->serve = words[0] ? NULL : on_serve;
	b->x->serve_data = b;
}

/* N [again]: so many sends fail, for good or for the moment */
WORDS("refuse", do_refuse, struct bench *b)
{
	scripted_refuse(b->t, word_number(words[0]), words[1] ?
			TRANSPORT_ERROR_AGAIN : TRANSPORT_ERROR_SEND);
}

WORDS("run", do_run, struct bench *b)
{
	scripted_run(b->t, transport_now(b->t) + word_time(words[0]));
}

WORDS("at", do_at, struct bench *b)
{
	scripted_run(b->t, word_time(words[0]));
}

/* [TIME]: until nothing is left to do, which is so by then */
WORDS("idle", do_idle, struct bench *b)
{
	assert_true(scripted_run_idle(b->t, transport_now(b->t) +
				      (words[0] ? word_time(words[0]) :
				       100 * TIMEOUT)));
}

WORDS("stall", do_stall, struct bench *b)
{
	scripted_stall(b->t, word_time(words[0]));
}

/* Something happens, or (still) nothing does. */
WORDS("step still", do_step, struct bench *b)
{
	assert_int_equal(scripted_step(b->t), strcmp(words[-1], "still") != 0);
}

WORDS("forget", do_forget, struct bench *b)
{
	scripted_forget(b->t);
}

/* TAG[..TAG] .. */
WORDS("cancel", do_cancel, struct bench *b)
{
	for (uint64_t tag, last; *words; words++)
		for (tag = read_tags(*words, &last); tag <= last; tag++)
			mad_client_cancel(b->x, b->ids[tag]);
}

WORDS("cancel-all", do_cancel_all, struct bench *b)
{
	mad_client_cancel(b->x, 0);
	mad_client_cancel(b->x, 0xdeadbeef);
	mad_client_cancel_owner(b->x, b);
}

WORDS("free", do_free, struct bench *b)
{
	mad_client_free(g_steal_pointer(&b->x));
}

/* TAG LINE; LINE: when it ends */
WORDS("when", do_when, struct bench *b)
{
	b->lines_tag = strtoul(words[0], NULL, 10);
	g_free(b->lines);
	b->lines = g_strdup(strchr(text, ' ') + 1);
}

static void
on_stood(void *data)
{
	struct bench *b = data;

	assert_int_equal(b->ends, 0);
	b->stood++;
	play_lines(b, b->stood_lines);
}

/* [LINE; LINE]: when a long stall is told */
WORDS("when-stood", do_when_stood, struct bench *b)
{
	b->stood_lines = g_strdup(text);
	b->x->stood = on_stood;
	b->x->stood_data = b;
}

static void
feed(void *data)
{
	struct bench *b = data;

	assert_int_equal(b->depth++, 0);
	assert_true(mad_client_room(b->x) > 0);
	while (mad_client_room(b->x) > 0 && b->next < b->end)
		bench_start(b, b->next++, 2);
	b->depth--;
}

/* TAG END: a pump starts these; never from inside this call */
WORDS("pump", do_pump, struct bench *b)
{
	b->next = word_number(words[0]);
	b->end = word_number(words[1]);
	mad_client_set_pump(b->x, feed, b);
	assert_int_equal(b->next, word_number(words[0]));
}

static unsigned
count_ended(const struct mad_client *x, enum mad_client_end end)
{
	unsigned n = 0;

	for (unsigned c = 0; c < MAD_CLIENT_CLASSES; c++)
		for (unsigned attr = 0; attr < MAD_CLIENT_ATTRS; attr++)
			n += x->ended[c][attr][end];
	return n;
}

/* that the transport may keep for longer than a time-out */
static unsigned
count_kept(const struct transport *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < scripted_count(t); i++)
		n += scripted_get(t, i)->timeout_ms * (int64_t)MS > TIMEOUT;
	return n;
}

/* COUNT=RANGE .. */
WORDS("is", do_is, struct bench *b)
{
	static const struct mad_client none;
	const struct mad_client *x = b->x ?: &none;
	const struct unit_count counts[] = {
		{ "sent", scripted_count(b->t) }, { "ends", b->ends },
		{ "kept", count_kept(b->t) },
		{ "pending", x->pending }, { "window", x->window.size },
		{ "room", b->x ? mad_client_room(x) : 0 },
		{ "most", scripted_most_flying(b->t) }, { "drops", b->drops },
		{ "answered", count_ended(x, MAD_CLIENT_DONE) +
			      count_ended(x, MAD_CLIENT_REFUSED) },
		{ "attempts", x->stats.sent },
		{ "sets", x->stats.sent_set },
		{ "retried", x->stats.retried },
		{ "timed-out", x->stats.timed_out },
		{ "cancelled", count_ended(x, MAD_CLIENT_CANCELLED) },
		{ "stood", b->stood }, { "served", b->served },
		{ "method", b->last_method }, { "status", b->last.status },
		{ "data", b->last_data }, { NULL, 0 },
	};

	assert_counts(counts, words);
}

WORDS("reason", do_reason, struct bench *b)
{
	assert_has(b->reason, words[0]);
}

/* TAG[..TAG] [answered=N] [lost=N] [when=US]: of each */
WORDS("tag", do_tag, struct bench *b)
{
	uint64_t last, tag = read_tags(words[0], &last);

	for (; tag <= last; tag++) {
		const struct unit_count counts[] = {
			{ "answered", b->answered[tag] },
			{ "lost", b->lost[tag] },
			{ "when", (uint64_t)b->when[tag] }, { NULL, 0 },
		};

		assert_counts(counts, words + 1);
	}
}

/* N: tags 0 .. N - 1 have ended first, in this order */
WORDS("in-order", do_in_order, struct bench *b)
{
	for (unsigned i = 0; i < word_number(words[0]); i++)
		assert_int_equal(b->order[i], i);
}

/* MS: how long a kernel may keep the GMPs that were sent */
WORDS("kept-for", do_kept_for, struct bench *b)
{
	for (unsigned i = 0; i < scripted_count(b->t); i++)
		if (scripted_get(b->t, i)->to.qp == 1)
			assert_range(words[0],
				     scripted_get(b->t, i)->timeout_ms);
}

static void
on_fate(struct transport *t, const struct scripted_sent *s, void *data)
{
	const char **next = data;
	uint8_t mad[MAD_SIZE];
	char fate = *(*next)++;

	memcpy(mad, s->mad, sizeof(mad));
	smp_make_response(mad, fate == 'b' ? MAD_STATUS_BUSY : MAD_STATUS_OK);
	if (fate == 'r')
		scripted_return(t, s->mad, 100);
	else if (fate != '-')
		scripted_answer(t, mad, 100);
}

/* ATTEMPTS US .. END [lost]: what the peer makes of one attempt after the
 * other: answered, busy, returned by the kernel, silent (-), or not even taken:
 * for good (x), or for the moment (z); when they went out, and when the request
 * ended */
WORDS("fate", do_fate, struct bench *b)
{
	const char *fates = words[0] + strspn(words[0], "xz"), *next = fates;
	unsigned refused = fates - words[0], first = 0, n = strlen(fates);
	bool again = *words[0] == 'z', is_lost = words[n + 2];
	unsigned attempt = again ? 1 : refused + 1;

	scripted_set_peer(b->t, on_fate, &next);
	scripted_refuse(b->t, refused, again ? TRANSPORT_ERROR_AGAIN :
			TRANSPORT_ERROR_SEND);
	bench_start(b, 1, 2);
	assert_int_equal(b->ends, 0);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(scripted_count(b->t), n);
	for (unsigned i = 0; i < n; i++) {
		const struct scripted_sent *sent = scripted_get(b->t, i);

		assert_range(words[i + 1], sent->when);
		/* a kernel may keep it for what is left of the request */
		assert_int_equal(sent->timeout_ms, attempt == 1 ? 3200 :
				 (5 - attempt) * 200);
		for (unsigned j = 0; j < first; j++)
			assert_int_not_equal(sent_tid(sent),
					     sent_tid(scripted_get(b->t, j)));
		assert_int_equal(sent_tid(sent),
				 sent_tid(scripted_get(b->t, first)));
		if (fates[i] == 'b' && scripted_get(b->t, i + 1)->when -
		    sent->when > 100)
			continue;
		attempt++;
		first = i + 1;
	}
	assert_int_equal(b->ends, 1);
	assert_int_equal(b->answered[1], !is_lost);
	assert_int_equal(b->lost[1], is_lost);
	assert_range(words[n + 1], b->when[1]);
	assert_int_equal(b->drops, refused);
	assert_string_equal(b->reason, refused ? "refused by script" : "");
	assert_int_equal(b->x->stats.sent, n);
	assert_int_equal(b->x->stats.timed_out, is_lost);
}

/* ANSWER PAUSE MS [elsewhere]: the next request is answered after `answer`, or
 * never (0us); its attempts go out `pause` after each other, and a kernel may
 * keep the first for MS */
WORDS("pace", do_pace, struct bench *b)
{
	int64_t answer = word_time(words[0]), pause = word_time(words[1]);
	int64_t now = transport_now(b->t), end = answer ? answer : 4 * pause;
	uint64_t tag = 10000 + b->paces++;

	scripted_forget(b->t);
	bench_start(b, tag, words[3] ? 3 : 2);
	if (answer)
		scripted_reply(b->t, scripted_get(b->t, 0), answer);
	assert_true(scripted_run_idle(b->t, now + 100 * TIMEOUT));
	assert_int_equal(b->when[tag], now + end);
	assert_int_equal(b->answered[tag], answer > 0);
	assert_int_equal(scripted_count(b->t), (end - 1) / pause + 1);
	for (unsigned i = 0; i < scripted_count(b->t); i++)
		assert_int_equal(scripted_get(b->t, i)->when, now + i * pause);
	assert_range(words[2], scripted_get(b->t, 0)->timeout_ms);
}

static void
play_lines(struct bench *b, const char *lines)
{
	g_auto(GStrv) list = g_strsplit(lines, "; ", -1);

	for (char **line = list; *line; line++)
		unit_play(all_words, b, *line);
}

SCRIPT(mad_client, "mad_client.scn", all_words, bench_new, bench_free)
SCRIPT(window, "window.scn", all_words, bench_new, bench_free)

/* -------------------------------------------------------------- long loops */

#define BENCH_TEST(name) TEST_WITH(name, struct bench *b, bench_new, bench_free)

BENCH_TEST(test_slow_peers_are_forgotten_when_there_are_too_many)
{
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i < 1100; i++) {
		const struct dr_path path = {
			.hops = 2, .port = { 0, 1 + i / 40, 1 + i % 40 },
		};

		scripted_forget(b->t);
		smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 0, 0,
				 &path);
		mad_client_start(b->x, &addr, mad, on_done, b, 0);
		scripted_reply(b->t, scripted_get(b->t, 0), 150 * MS);
		assert_true(scripted_run_idle(b->t, INT64_MAX));
	}
	assert_int_equal(g_hash_table_size(b->x->slow), 1100 - 1024);
}

/* An answer to a request that is over must not end the one in its slot. */
BENCH_TEST(test_slot_of_an_old_request_is_told_apart)
{
	struct scripted_sent old;

	b->peer.delay = 1;
	scripted_set_peer(b->t, play_peer, &b->peer);
	bench_start(b, 0, 2);
	old = *scripted_get(b->t, 0);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	for (unsigned i = 1; i < 3 * 4096; i++) {
		scripted_forget(b->t);
		bench_start(b, 0, 2);
		assert_int_not_equal(sent_tid(scripted_last(b->t)),
				     sent_tid(&old));
		scripted_run(b->t, transport_now(b->t) + 2);
	}
	assert_int_equal(b->answered[0], 3 * 4096);
	/* 2,000 that wait, among them one in the old one's slot */
	scripted_set_peer(b->t, NULL, NULL);
	for (unsigned i = 0; i < 2000; i++)
		bench_start(b, 1, 2);
	scripted_reply(b->t, &old, 1);
	scripted_run(b->t, transport_now(b->t) + 10);
	assert_int_equal(b->answered[1], 0);
	assert_int_equal(b->drops, 0);
}
