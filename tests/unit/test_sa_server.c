// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The desk of the SA: overload, tables, long requests, Reports, bad clients, as
 * text: tests/scripts/sa_server.scn. Here are its words.
 */

#include "sm/sa/informinfo.h"
#include "sm/sa/sa_server.h"
#include "sm/sa/service.h"
#include "tests/lib/sa_stage.h"
#include "tests/lib/scripted.h"

static struct unit_word all_words[32];

#define CLIENTS	14u
#define OWN_QP	0x4d2u
#define SECOND	((int64_t)G_USEC_PER_SEC)

/* On host i + 1. It answers Reports to QP 1. */
struct client {
	struct desk *desk;
	unsigned host;
	uint16_t lid;
	uint32_t qp;
	uint8_t mad[MAD_SIZE];	/* the last request */
	uint64_t tid;
	unsigned good, busy, bad, last_bad;	/* answers of one MAD */
	unsigned rank;		/* of its last good one, among all */
	unsigned tables, reports, own_reports, own_answers;
	GByteArray *table;	/* the last one */
	uint8_t report[MAD_SIZE];
	bool mute;
};

/* A transport that does RMPP, as a kernel does. */
struct desk {
	struct lab *l;
	struct transport *t;
	struct mad_client *x;
	struct log *log;
	struct sa_server *server;	/* NULL: it has not opened */
	struct client client[CLIENTS];
	unsigned ranks, most_reports;
	uint64_t touched;	/* sa_saved_version() when it was told last */
	bool is_programming;
	/* the main loop's next turn, asked for with a request */
	bool loop_asked;
	uint64_t loop_answers;	/* until it came; */
	unsigned loop_came;
};

static void
on_answer(struct client *c, const struct mad_addr *to, const uint8_t *mad)
{
	unsigned status = bytes_load16(mad + 4);

	c->own_answers += to->qp == OWN_QP;
	/* a standby knows of a change before its client does */
	assert_int_equal(c->desk->touched, sa_saved_version(c->desk->l->sa));
	if (status == MAD_STATUS_BUSY) {
		c->busy++;
	} else if (status) {
		c->bad++;
		c->last_bad = status;
	} else {
		c->good++;
		c->rank = ++c->desk->ranks;
	}
}

static void
on_report(struct client *c, const struct mad_addr *to, const uint8_t *mad)
{
	uint8_t answer[MAD_SIZE];
	const struct transport_mad m = {
		.addr = *to, .mad = answer, .len = MAD_SIZE,
	};

	*(to->qp == OWN_QP ? &c->own_reports : &c->reports) += 1;
	memcpy(c->report, mad, MAD_SIZE);
	memcpy(answer, mad, MAD_SIZE);
	answer[3] |= MAD_METHOD_RESPONSE;
	if (to->qp == 1 && !c->mute)
		scripted_deliver(c->desk->t, &m, 1);
}

static void
on_send(struct transport *t, const struct scripted_sent *sent, void *data)
{
	struct desk *d = data;
	struct client *c = d->client;
	struct rmpp_header r;

	while (c->lid != sent->to.lid)
		assert_true(++c < d->client + CLIENTS);
	assert_int_equal(sent->to.qkey, MAD_GSI_QKEY);
	assert_true(rmpp_header_read(sent->message, sent->len, &r));
	if (!(r.flags & RMPP_FLAG_ACTIVE)) {
		assert_int_equal(sent->len, MAD_SIZE);
		(sent->mad[3] == SA_METHOD_REPORT ? on_report : on_answer)
			(c, &sent->to, sent->mad);
		return;
	}
	c->tables++;
	g_byte_array_set_size(c->table, 0);
	g_byte_array_append(c->table, sent->message + SA_DATA_OFFSET,
			    (guint)(sent->len - SA_DATA_OFFSET));
}

static void
on_turn(void *data)
{
	struct desk *d = data;

	d->loop_came++;
	d->loop_answers = sa_server_stats(d->server)->answered -
		d->loop_answers;
}

static void
on_request(const struct transport_mad *m, const struct mad_header *h,
	   void *data)
{
	struct desk *d = data;

	if (d->loop_asked) {
		d->loop_asked = false;
		d->loop_answers = sa_server_stats(d->server)->answered;
		transport_timer_start(d->t, transport_now(d->t), on_turn, d);
	}
	sa_server_take(d->server, m);
}

static void
on_touched(void *data)
{
	struct desk *d = data;
	const struct sa_server_stats *s = sa_server_stats(d->server);

	d->touched = sa_saved_version(d->l->sa);
	d->most_reports = MAX(d->most_reports, (unsigned)
			      (s->reports - s->heard - s->unheard));
}

static bool
is_programming(void *data)
{
	return ((struct desk *)data)->is_programming;
}

static void
run(struct desk *d, int64_t us)
{
	scripted_run(d->t, transport_now(d->t) + us);
}

static void
desk_open(struct desk *d)
{
	sa_stage_set_up((void **)&d->l);
	unit_play(sa_words, d->l, "fabric PGFT(4,4;1,4) 0");
	/* enough that a search for one takes several turns */
	for (uint32_t p = 0; p < d->l->s->n_ports; p++)
		d->l->s->ports[p].info.guid_cap = UINT8_MAX;
	d->t = scripted_new();
	d->t->rmpp = true;
	scripted_set_peer(d->t, on_send, d);
	d->x = mad_client_new(d->t, &(struct mad_client_params) {
		.timeout_ms = 200, .retries = 3, .max_wire = 128 });
	d->x->serve = on_request;
	d->x->serve_data = d;
	d->log = log_open("/dev/null", LOG_DEBUG, NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		d->client[i] = (struct client) {
			.desk = d, .host = i + 1, .qp = 1,
			.lid = lab_lid(d->l, lab_host(d->l, i + 1)),
			.table = g_byte_array_new(),
		};
}

static void
desk_close(struct desk *d)
{
	if (d->server)
		sa_server_free(d->server);
	mad_client_free(d->x);
	transport_free(d->t);
	log_free(d->log);
	for (unsigned i = 0; i < CLIENTS; i++)
		g_byte_array_unref(d->client[i].table);
	sa_stage_tear_down((void **)&d->l);
}

FIXTURE(desk)

/* [programming] [PARAM=N ..]: it opens, while a plan is programmed, and has had
 * a second */
WORDS("desk", do_desk, struct desk *d)
{
	struct sa_server_params p = sa_server_params_default;
	unsigned handed = 0, handed_of_one = 0, collect = 0;
	const struct unit_setting settings[] = {
		{ "turn", &p.turn }, { "max_waiting", &p.max_waiting },
		{ "max_of_one", &p.max_of_one }, { "max_handed", &handed },
		{ "max_handed_of_one", &handed_of_one },
		{ "at_once", &p.at_once }, { "max_collect", &collect },
		{ "max_reports", &p.max_reports }, { NULL, NULL },
	};

	d->is_programming = g_strcmp0(words[0], "programming") == 0;
	unit_set(settings, words + d->is_programming);
	p.max_handed = handed ? handed : p.max_handed;
	p.max_collect = collect ? collect : p.max_collect;
	p.max_handed_of_one = handed_of_one ? handed_of_one :
		p.max_handed_of_one;
	p.programming = is_programming;
	p.touched = on_touched;
	p.data = d;
	d->server = sa_server_new(d->x, d->l->sa, d->log, &p);
	on_touched(d);
	run(d, SECOND);
}

/* LINE: of sa_stage.h */
WORDS("lab", do_lab, struct desk *d)
{
	d->l->now = transport_now(d->t);
	unit_play(sa_words, d->l, text);
	sa_server_touch(d->server);
}

WORDS("programmed", do_programmed, struct desk *d)
{
	d->is_programming = false;
	sa_server_touch(d->server);
}

/* shut, open: as while another manager is the master */
WORDS("shut open", do_shut, struct desk *d)
{
	sa_server_set_shut(d->server, *words[-1] == 's');
}

/* The next send fails. */
WORDS("refuse", do_refuse, struct desk *d)
{
	scripted_refuse(d->t, 1, TRANSPORT_ERROR_SEND);
}

WORDS("run", do_run, struct desk *d)
{
	run(d, word_time(words[0]));
}

static struct client *
client_of(struct desk *d, const char *word)
{
	assert_in_range(word_number(word), 0, CLIENTS - 1);
	return &d->client[word_number(word)];
}

/* CLIENT: until it has a table more */
WORDS("until-table", do_until_table, struct desk *d)
{
	const struct client *c = client_of(d, words[0]);
	unsigned before = c->tables;

	while (c->tables == before)
		assert_true(scripted_step(d->t));
}

/* Until a request waits. */
WORDS("until-waiting", do_until_waiting, struct desk *d)
{
	while (!sa_server_stats(d->server)->waiting)
		assert_true(scripted_step(d->t));
}

/* ---- clients: 0 .. 13 ---- */

static void
ask_again(struct client *c)
{
	const struct transport_mad m = {
		.addr = { .lid = c->lid, .qp = c->qp }, .mad = c->mad,
		.len = MAD_SIZE,
	};

	mad_set_tid(c->mad, c->tid);
	scripted_deliver(c->desk->t, &m, 1);
}

/* CLIENT[,CLIENT ..] LINE: a request of sa_stage.h; in it each is "self" */
WORDS("ask", do_ask, struct desk *d)
{
	g_auto(GStrv) names = g_strsplit(words[0], ",", -1);
	g_auto(GStrv) parts = g_strsplit(strchr(text, ' ') + 1, "self", -1);

	for (char **name = names; *name; name++) {
		struct client *c = client_of(d, *name);
		g_autofree char *self = g_strdup_printf("H-%u", c->host);
		g_autofree char *line = g_strjoinv(self, parts);

		sa_stage_write(d->l, "%s from=%s", line, self);
		memcpy(c->mad, d->l->mad, MAD_SIZE);
		c->tid++;
		ask_again(c);
	}
}

/* more, again CLIENT N: its last request so many times more, under new TIDs or
 * the same */
WORDS("more again", do_more, struct desk *d)
{
	struct client *c = client_of(d, words[0]);

	for (unsigned i = word_number(words[1]); i > 0; i--) {
		c->tid += *words[-1] == 'm';
		ask_again(c);
	}
}

/* CLIENT TID: the next one */
WORDS("tid", do_tid, struct desk *d)
{
	client_of(d, words[0])->tid = word_number(words[1]) - 1;
}

/* CLIENT|all QP..QP TRAP: so many QPs of it, in the store */
WORDS("qps", do_qps, struct desk *d)
{
	bool is_all = strcmp(words[0], "all") == 0;
	unsigned first = is_all ? 0 : word_number(words[0]);
	unsigned to = word_number(strstr(words[1], "..") + 2);

	for (unsigned c = first; c < (is_all ? CLIENTS : first + 1); c++)
		for (unsigned qp = strtoul(words[1], NULL, 10); qp <= to; qp++)
			ask_well(d->l, "Set InformInfo LIDRangeBegin=0xffff "
				 "IsGeneric=1 Subscribe=1 Type=0xffff from=H-%u "
				 "ProducerTypeVendorID=0xffffff qp=%u "
				 "TrapNumberDeviceID=%s", c + 1, qp, words[2]);
}

/* N: traps 64, all but the last of a vendor */
WORDS("notices", do_notices, struct desk *d)
{
	uint8_t notice[NOTICE_LEN], issuer[16];

	lab_gid(d->l, lab_host(d->l, 2), issuer);
	for (unsigned i = word_number(words[0]); i > 0; i--) {
		notice_build_gid(notice, 64, (uint16_t)i, issuer);
		notice[0] = i > 1 ? 0 : notice[0];
		informs_notify(d->l->sa->informs, d->l->v, notice, issuer, 0,
			       transport_now(d->t));
	}
	sa_server_touch(d->server);
}

/* CLIENT: it answers no Report */
WORDS("mute", do_mute, struct desk *d)
{
	client_of(d, words[0])->mute = true;
}

/* CLIENT: no LID of it is known */
WORDS("lose-lid", do_lose_lid, struct desk *d)
{
	d->l->v->lids->base[lab_host(d->l, client_of(d, words[0])->host)] = 0;
}

/* CLIENT: its last request, from another QP */
WORDS("own-qp", do_own_qp, struct desk *d)
{
	struct client *c = client_of(d, words[0]);

	c->qp = OWN_QP;
	ask_again(c);
	run(d, 1);
	c->qp = 1;
}

static void
write_state(GString *out, void *data)
{
	for (unsigned i = GPOINTER_TO_UINT(data); i > 0; i--)
		g_string_append_c(out, '#');
}

/* BYTES: of the state for a standby */
WORDS("state", do_state, struct desk *d)
{
	d->l->sa->write_state = write_state;
	d->l->sa->write_state_data = GUINT_TO_POINTER(word_number(words[0]));
}

/* A transport may hand over MADs of OPA. */
WORDS("long-mad", do_long_mad, struct desk *d)
{
	static const uint8_t mad[2048] = { 1, 3, 2, 1 };
	const struct transport_mad m = {
		.addr = { .lid = 3 }, .mad = mad, .len = sizeof(mad),
	};

	sa_server_take(d->server, &m);
}

/* CLIENT BYTES: a MultiPathRecord, from one client to all others, and zeros up
 * to this length */
WORDS("multi", do_multi, struct desk *d)
{
	struct client *c = client_of(d, words[0]);
	size_t len = SA_DATA_OFFSET + word_number(words[1]);
	g_autofree uint8_t *mad = g_malloc0(len);
	const struct transport_mad m = {
		.addr = { .lid = c->lid, .qp = 1 }, .mad = mad, .len = len,
	};
	const struct rmpp_header r = {
		.version = 1, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST,
	};

	sa_stage_write(d->l, "GetMulti MultiPathRecord SGIDCount=1 "
		       "DGIDCount=%u NumbPath=127", CLIENTS - 1);
	memcpy(mad, d->l->mad, MAD_SIZE);
	rmpp_header_write(mad, &r);
	mad_set_tid(mad, ++c->tid);
	for (unsigned i = 0; i < CLIENTS; i++)
		lab_gid(d->l, lab_host(d->l, i + 1), mad + SA_DATA_OFFSET +
			MULTI_PATH_GIDS_OFFSET + 16 * i);
	scripted_deliver(d->t, &m, 1);
	run(d, SECOND);
}

/* The main loop's next turn is asked for with the next request. */
WORDS("loop", do_loop, struct desk *d)
{
	d->loop_asked = true;
}

/* ---- what came of it ---- */

/* CLIENT COUNT=RANGE ..; length: records of the last table */
WORDS("client", do_client, struct desk *d)
{
	const struct client *c = client_of(d, words[0]);
	const struct unit_count counts[] = {
		{ "good", c->good }, { "busy", c->busy }, { "bad", c->bad },
		{ "judged", c->bad + c->busy }, { "last-bad", c->last_bad },
		{ "tables", c->tables }, { "bytes", c->table->len },
		{ "reports", c->reports }, { "rank", c->rank },
		{ "own-reports", c->own_reports },
		{ "own-answers", c->own_answers }, { NULL, 0 },
	};

	assert_counts(counts, words + 1);
}

/* COUNT=RANGE ..: of the desk */
WORDS("is", do_is, struct desk *d)
{
	const struct sa *sa = d->l->sa;
	const struct sa_server_stats *s = sa_server_stats(d->server);
	const struct unit_count counts[] = {
		{ "taken", s->taken }, { "answered", s->answered },
		{ "busy", s->busy },
		{ "repeated", s->repeated }, { "dropped", s->dropped },
		{ "us", s->us }, { "soon", s->within[0] },
		{ "100ms", s->within[SA_SERVER_BUCKETS - 2] },
		{ "infos", s->records[SA_ATTR_CLASS_PORT_INFO] },
		{ "joins", s->records[SA_ATTR_MC_MEMBER] },
		{ "sent", s->tables_sent }, { "failed", s->tables_failed },
		{ "heard", s->heard }, { "unheard", s->unheard },
		{ "most-reports", d->most_reports },
		{ "notices-dropped", s->notices_dropped },
		{ "notices", informs_waiting(sa->informs) },
		{ "turns", s->turns }, { "waiting", s->waiting },
		{ "leases", sa->services->next != INT64_MAX },
		{ "unsaved", d->touched != sa_saved_version(sa) },
		{ "loop-came", d->loop_came },
		{ "loop-answers", d->loop_answers },
		{ "quiet-until", (uint64_t)d->x->quiet_until }, { NULL, 0 },
	};

	assert_counts(counts, words);
}

/* CLIENT RANGE: its table is what the SA answers to its last request, and has
 * so many records */
WORDS("whole", do_whole, struct desk *d)
{
	const struct client *c = client_of(d, words[0]);
	g_autoptr(GByteArray) all = NULL;
	unsigned n;

	memcpy(d->l->mad, c->mad, MAD_SIZE);
	assert_int_equal(lab_ask_at(d->l, c->lid, transport_now(d->t)), 0);
	all = lab_drain(d->l, &n);
	assert_range(words[1], n);
	assert_int_equal(all->len, c->table->len);
	assert_memory_equal(all->data, c->table->data, all->len);
}

/* RANGE TEXT: so many lines of the log begin so */
WORDS("said", do_said, struct desk *d)
{
	const struct log *log = d->log;
	unsigned n = 0;

	for (uint64_t i = 0; i < log->n_events; i++)
		n += g_str_has_prefix(log->events[i % LOG_EVENTS].text,
				      words[1]);
	assert_range(words[0], n);
}

SCRIPT(sa_server, "sa_server.scn", all_words, desk_new, desk_free)
