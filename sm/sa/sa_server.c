// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA server.
 *
 * Flow. A request comes from sm_agent.c, or from bulk if it took several MADs:
 *
 *	take --> the same is waiting or under way ------------> dropped
 *	  |----> open, nobody waits, and there is time -----+
 *	  +----> queue --> no place ----------> BUSY        |
 *	           +-----> on_turn, fair among the LIDs ----+--> answer
 *
 *	answer --> sa_answer --> one MAD, a table (bulk draws the records one
 *	                |        by one), or nothing and a line in the log
 *	                +------> not found yet: a search, continued in later
 *	                         turns, a stretch at a time
 *
 * Time. A client that asks one thing after the other gets each answer at
 * once. After `turn` answers, or `turn_us`, what comes has to wait, and is
 * answered in later turns of the main loop, so the SM's own answers, timers
 * and elections are never further away than one turn, however much is asked.
 *
 * Before the first sweep has ended the server is not open: what comes waits, as
 * hosts join their groups the moment that their port is Active. (BUSY would
 * cost them seconds: Linux takes it for a failure. OpenSM drops it.)
 *
 * What a request changes may be worth Reports. They are requests of our own
 * (IBA 13.4.11): sm/io/mad_client sends and repeats them. A subscriber that
 * does not answer loses its subscriptions.
 *
 * `known` has the keys of what waits and of the tables under way. A client
 * that has no answer yet asks again under its TID (IBA 13.4.6.4); answering
 * that as well would make an overload worse.
 *
 * Addresses. Answers go where the request came from, with the Q_Key of QP 1
 * and by the P_Key of the request. Reports go by a P_Key that we share with
 * the subscriber, that of the partition they are about if there is a choice.
 */
#include "sm/sa/sa_server.h"

#include <string.h>

#include "sm/sa/sa_queue.h"

#define DROP(why) do { reason = (why); goto drop; } while (0)

#define GMP_QKEY	0x80010000u	/* IBA 10.2.4: the well-known Q_Key */
#define BASE_VERSION	1u

const struct sa_server_params sa_server_params_default = {
	.max_waiting = 8192,
	.max_of_one = 256,
	.turn = 64,
	.turn_us = 2000,
	.max_tables = 256,
	.max_tables_of_one = 32,
	.max_searchers = 64,
	.max_reports = 8,	/* a kernel may let 16 GMPs of an agent out */
	.max_request = 64 * 1024,
};

/* A request, wherever its bytes are. */
struct ask {
	struct sa_request_key key;
	struct mad_addr from;
	const uint8_t *mad;
	size_t len;
};

/*
 * A reply that is not sent yet: a table whose records are being drawn, or a Get
 * whose one record is not found yet.
 */
struct sa_job {
	struct sa_server *server;
	GQueue *queue;		/* the server's tables, or searches */
	GList link;		/* in it */
	struct sa_request_key key;
	struct mad_addr to;
	struct sa_reply reply;
	uint8_t record[SA_DATA_LEN];	/* of a table: the one at hand, */
	size_t size, at;	/* and how much of it is drawn */
};

struct sa_server {
	struct mad_client *x;
	struct transport *transport;
	struct sa *sa;
	struct log *log;
	struct sa_server_params params;
	struct sa_message *bulk;
	sa_server_groups_fn groups;
	void *groups_data;
	uint64_t groups_version;

	struct sa_queue *queue;
	GHashTable *known;	/* struct sa_request_key, a set */
	unsigned left;		/* answers of this turn */
	int64_t turn_began;
	unsigned turn_timer;	/* 0: not running */

	GQueue tables;
	GQueue searches;
	unsigned reports;	/* under way */

	unsigned due_timer;
	int64_t due_when;
	struct sa_server_stats stats;
};

static void on_turn(void *data);

static struct ask
make_ask(const struct mad_addr *from, const uint8_t *mad, size_t len)
{
	struct ask ask = { .from = *from, .mad = mad, .len = len };
	struct mad_header h;

	ask.from.qkey = GMP_QKEY;
	mad_header_read(mad, len, &h);
	ask.key = (struct sa_request_key){
		.tid = h.tid, .lid = from->lid, .attr_id = h.attr_id,
		.method = h.method,
	};
	return ask;
}

/* ----------------------------------------------------------------- sending */

static void
send_mad(struct sa_server *d, const struct mad_addr *to, const uint8_t *mad)
{
	g_autoptr(GError) error = NULL;

	if (transport_send(d->transport, to, mad, MAD_SIZE, 0, &error))
		return;
	d->stats.unsent++;
	log_limited(d->log, LOG_INFO, "sa", "an answer could not be sent",
		    "to LID %u: %s", to->lid, error->message);
}

static void send_status(struct sa_server *d, const struct mad_addr *to,
			const uint8_t *request, unsigned status)
{
	uint8_t mad[MAD_SIZE];

	memcpy(mad, request, MAD_SIZE);
	sa_make_response(mad, status);
	send_mad(d, to, mad);
}

static void send_busy(struct sa_server *d, const struct mad_addr *to,
		      const uint8_t *request, const char *why)
{
	d->stats.busy++;
	log_limited(d->log, LOG_WARNING, "sa", why, "LID %u is told to try "
		    "again later; %u requests wait, %u tables are on their "
		    "way", to->lid, d->stats.waiting, sa_server_tables(d));
	send_status(d, to, request, MAD_STATUS_BUSY);
}

static void
log_drop(struct sa_server *d, const char *reason, const struct mad_addr *from,
	 const uint8_t *mad)
{
	struct mad_header h;

	mad_header_read(mad, MAD_SIZE, &h);
	d->stats.dropped++;
	log_limited(d->log, LOG_WARNING, "sa", reason,
		    "method %s (0x%02x), attribute %s (0x%04x), from LID %u",
		    mad_method_name(h.method), h.method,
		    sa_attr_name(h.attr_id), h.attr_id, from->lid);
}

/* ------------------------------------------------------------------ tables */

static unsigned
tables_of(const struct sa_server *d, uint16_t lid)
{
	unsigned n = 0;

	for (const GList *l = d->tables.head; l; l = l->next)
		n += ((const struct sa_job *)l->data)->key.lid == lid;
	return n;
}

static struct sa_job *
job_new(struct sa_server *d, const struct ask *ask, struct sa_reply *reply)
{
	struct sa_job *j = g_new0(struct sa_job, 1);

	j->server = d;
	j->link.data = j;
	j->key = ask->key;
	j->to = ask->from;
	j->reply = *reply;
	reply->records = NULL;
	return j;
}

static void
job_enqueue(struct sa_job *j, GQueue *queue)
{
	j->queue = queue;
	g_queue_push_tail_link(queue, &j->link);
	g_hash_table_add(j->server->known, &j->key);
}

static void
job_free(struct sa_job *j)
{
	struct sa_server *d = j->server;

	if (j->queue) {
		g_queue_unlink(j->queue, &j->link);
		g_hash_table_remove(d->known, &j->key);
	}
	sa_records_free(j->reply.records);
	g_free(j);
}

/* The records as one stream of bytes: a segment ends where it ends. */
static size_t
draw(void *data, uint8_t *out, size_t max)
{
	struct sa_job *j = data;
	size_t n, done = 0;

	while (done < max) {
		if (j->at == j->size) {
			switch (sa_records_draw(j->reply.records, j->record)) {
			case SA_DRAW_END:
				return done;
			case SA_DRAW_PAUSE:
				return RMPP_SOURCE_LATER + done;
			case SA_DRAW_RECORD:
				break;
			}
			j->size = sa_records_size(j->reply.records);
			j->at = 0;
		}
		n = MIN(max - done, j->size - j->at);
		memcpy(out + done, j->record + j->at, n);
		j->at += n;
		done += n;
	}
	return done;
}

static void
on_table_done(uint32_t id, enum sa_message_outcome outcome, void *data)
{
	struct sa_job *j = data;
	struct sa_server *d = j->server;

	if (outcome == SA_MESSAGE_SENT) {
		d->stats.tables_sent++;
		job_free(j);
		return;
	}
	d->stats.tables_failed++;
	log_limited(d->log, LOG_INFO, "sa", "a table did not arrive",
		    "%s for LID %u: %s", sa_attr_name(j->key.attr_id),
		    j->key.lid, outcome == SA_MESSAGE_TOO_LONG ? "too long" :
		    "not accepted by the transport");
	/* nothing of it went out: the client still waits */
	if (outcome == SA_MESSAGE_TOO_LONG)
		send_status(d, &j->to, j->reply.mad, SA_STATUS_NO_RESOURCES);
	job_free(j);
}

static void
send_table(struct sa_server *d, const struct ask *ask, struct sa_reply *reply)
{
	struct sa_job *j = job_new(d, ask, reply);
	const struct sa_message_order order = {
		.to = ask->from, .header = j->reply.mad, .source = draw,
		.source_data = j,
	};

	g_assert(sa_records_size(j->reply.records) <= sizeof(j->record));
	d->stats.tables++;
	d->stats.answered++;
	if (sa_message_send(d->bulk, &order, on_table_done, j) !=
	    SA_MESSAGE_AT_ONCE) {
		job_enqueue(j, &d->tables);
		return;
	}
	d->stats.tables_sent++;
	job_free(j);
}

/* ----------------------------------------------------- what changes bring */

static void
on_report_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	bool answered = a->outcome == MAD_CLIENT_ANSWERED;
	struct sa_server *d = data;

	d->reports--;
	if (answered)
		d->stats.heard++;
	else
		d->stats.unheard++;
	sa_report_ended(d->sa, (uint32_t)tag, answered);
	sa_server_touch(d);
}

static void
send_reports(struct sa_server *d)
{
	struct sa_report r;

	while (d->reports < d->params.max_reports &&
	       sa_next_report(d->sa, &r)) {
		const struct mad_addr to = {
			.qp = r.qp, .qkey = GMP_QKEY, .lid = r.lid,
			.pkey_index = r.pkey_index,
		};

		d->reports++;
		d->stats.reports++;
		mad_client_start(d->x, &to, r.mad, on_report_done, d, r.id);
	}
}

static void
on_due(void *data)
{
	struct sa_server *d = data;

	d->due_timer = 0;
	sa_tick(d->sa, transport_now(d->transport));
	sa_server_touch(d);
}

static void
ring_when_due(struct sa_server *d)
{
	int64_t when = sa_deadline(d->sa);

	if (d->due_timer && when == d->due_when)
		return;
	if (d->due_timer)
		transport_timer_cancel(d->transport, d->due_timer);
	d->due_timer = 0;
	d->due_when = when;
	if (when != INT64_MAX)
		d->due_timer = transport_timer_start(d->transport, when,
						     on_due, d);
}

static bool
is_open(const struct sa_server *d)
{
	return sa_view_of(d->sa) != NULL;
}

static bool
has_work(const struct sa_server *d)
{
	return (d->stats.waiting && is_open(d)) || d->searches.length;
}

static void
ask_for_turn(struct sa_server *d)
{
	if (!d->turn_timer && has_work(d))
		d->turn_timer = transport_timer_start(d->transport,
				transport_now(d->transport), on_turn, d);
}

void
sa_server_touch(struct sa_server *d)
{
	uint64_t version = d->groups_version;

	ask_for_turn(d);
	send_reports(d);
	ring_when_due(d);
	d->groups_version = sa_groups_version(d->sa);
	if (version != d->groups_version && d->groups)
		d->groups(d->groups_data);
	if (d->params.touched)
		d->params.touched(d->params.touched_data);
}

/* --------------------------------------------------------------- searching */

/* A stretch for the next one. */
static void
search_on(struct sa_server *d)
{
	struct sa_job *j;

	if (!d->searches.head)
		return;
	j = d->searches.head->data;
	sa_resume(d->sa, &j->reply);
	if (j->reply.kind == SA_REPLY_LATER) {
		g_queue_unlink(&d->searches, &j->link);
		g_queue_push_tail_link(&d->searches, &j->link);
		return;
	}
	d->stats.answered++;
	send_mad(d, &j->to, j->reply.mad);
	job_free(j);
}

/* --------------------------------------------------------------- answering */

/* Until the tables that it is about are read. */
static void
park(struct sa_server *d, const struct ask *ask, const struct sa_unread *unread)
{
	struct ticket *t = ticket_new(&ask->key, &ask->from, ask->mad,
				      ask->len);

	if (d->params.unread &&
	    d->params.unread(t, unread, d->params.unread_data)) {
		g_hash_table_add(d->known, &t->key);
		return;
	}
	g_free(t);
	g_array_unref(unread->ports);
	d->stats.busy_unread++;
	send_busy(d, &ask->from, ask->mad, "too many wait for tables");
}

static void
send_reply(struct sa_server *d, const struct ask *ask, struct sa_reply *reply)
{
	switch (reply->kind) {
	case SA_REPLY_NONE:
		log_drop(d, reply->why, &ask->from, ask->mad);
		break;
	case SA_REPLY_ONE:
		d->stats.answered++;
		send_mad(d, &ask->from, reply->mad);
		break;
	case SA_REPLY_TABLE:
		if (d->tables.length < d->params.max_tables &&
		    tables_of(d, ask->key.lid) < d->params.max_tables_of_one) {
			send_table(d, ask, reply);
			break;
		}
		d->stats.busy_tables++;
		send_busy(d, &ask->from, ask->mad, "too many tables at once");
		break;
	case SA_REPLY_LATER:
		if (d->searches.length < d->params.max_searchers) {
			job_enqueue(job_new(d, ask, reply), &d->searches);
			ask_for_turn(d);
			break;
		}
		d->stats.busy_searchers++;
		send_busy(d, &ask->from, ask->mad, "too many long searches");
		break;
	case SA_REPLY_UNREAD:
		park(d, ask, &reply->unread);
		break;
	}
	sa_records_free(reply->records);
}

static void
answer(struct sa_server *d, const struct ask *ask)
{
	const struct sa_request request = {
		.mad = ask->mad, .len = ask->len, .slid = ask->key.lid,
		.now = transport_now(d->transport),
	};
	struct sa_reply reply;

	sa_answer(d->sa, &request, &reply);
	send_reply(d, ask, &reply);
	if (ask->key.method == MAD_METHOD_SET ||
	    ask->key.method == SA_METHOD_DELETE)
		sa_server_touch(d);
}

static void
begin_turn(struct sa_server *d, int64_t now)
{
	d->turn_began = now;
	d->left = d->params.turn;
}

static bool
turn_is_over(struct sa_server *d)
{
	return d->left == 0 || transport_now(d->transport) - d->turn_began >=
		d->params.turn_us;
}

static void
answer_ticket(struct sa_server *d, struct ticket *t)
{
	const struct ask ask = {
		.key = t->key, .from = t->from, .mad = t->mad, .len = t->len,
	};

	d->stats.waiting = sa_queue_length(d->queue);
	g_hash_table_remove(d->known, &t->key);
	answer(d, &ask);
	g_free(t);
}

static void
on_turn(void *data)
{
	struct sa_server *d = data;
	struct ticket *t;

	d->turn_timer = 0;
	d->stats.turns++;
	begin_turn(d, transport_now(d->transport));
	while (!turn_is_over(d) && has_work(d)) {
		d->left--;
		search_on(d);
		t = is_open(d) ? sa_queue_next(d->queue) : NULL;
		if (t)
			answer_ticket(d, t);
	}
	ask_for_turn(d);
}

/* ------------------------------------------------------------------ taking */

static void
enqueue(struct sa_server *d, struct ticket *t)
{
	struct ticket *refused;
	enum sa_refusal why;

	refused = sa_queue_add(d->queue, t, &why);
	d->stats.waiting = sa_queue_length(d->queue);
	if (refused != t)
		g_hash_table_add(d->known, &t->key);
	if (refused && refused != t)
		g_hash_table_remove(d->known, &refused->key);
	if (why == SA_REFUSED_SURPLUS) {
		d->stats.busy_of_one++;
		send_busy(d, &refused->from, refused->mad,
			  "a client asks too much");
	} else if (refused) {
		d->stats.busy_full++;
		send_busy(d, &refused->from, refused->mad,
			  "too many requests wait");
	}
	g_free(refused);
	d->stats.longest = MAX(d->stats.longest, d->stats.waiting);
	ask_for_turn(d);
}

/* A turn is over when the loop has gone on: on_turn() tells; and if nobody
 * waits, time does, which spares a timer for each request. */
static void
take(struct sa_server *d, const struct ask *ask)
{
	int64_t now = transport_now(d->transport);

	d->stats.taken++;
	if (!sa_is_request(ask->key.method)) {
		log_drop(d, "SA message that is no request", &ask->from,
			 ask->mad);
		return;
	}
	if (g_hash_table_contains(d->known, &ask->key)) {
		d->stats.repeated++;
		return;
	}
	if (!d->stats.waiting && !d->turn_timer &&
	    now - d->turn_began >= d->params.turn_us)
		begin_turn(d, now);
	if (d->stats.waiting || d->left == 0 || !is_open(d)) {
		enqueue(d, ticket_new(&ask->key, &ask->from, ask->mad,
				      ask->len));
		return;
	}
	d->left--;
	answer(d, ask);
}

void
sa_server_take(struct sa_server *d, const struct transport_mad *m)
{
	struct ask ask;

	g_assert(m->len == MAD_SIZE);
	ask = make_ask(&m->addr, m->mad, m->len);
	take(d, &ask);
}

void
sa_server_resume(struct sa_server *d, struct ticket *t)
{
	g_hash_table_remove(d->known, &t->key);
	enqueue(d, t);
}

/* A request of several segments; or of one, if its sender likes RMPP. */
static void
on_message(const struct sa_message_message *m, void *data)
{
	size_t len = MAX(RMPP_SA_HEADER_LEN + m->len, MAD_SIZE);
	g_autofree uint8_t *mad = NULL;
	struct sa_server *d = data;
	const char *reason;
	struct ask ask;

	if (m->len > d->params.max_request)
		len = MAD_SIZE;		/* enough to refuse it */
	mad = g_malloc0(len);
	memcpy(mad, m->header, RMPP_SA_HEADER_LEN);
	memcpy(mad + RMPP_SA_HEADER_LEN, m->data,
	       MIN(m->len, len - RMPP_SA_HEADER_LEN));
	ask = make_ask(&m->from, mad, len);
	if (mad[0] != BASE_VERSION)
		DROP("request of another MAD version");
	if (sa_is_request(ask.key.method) && m->len > d->params.max_request) {
		d->stats.taken++;
		d->stats.too_long++;
		send_status(d, &ask.from, mad, SA_STATUS_NO_RESOURCES);
		return;
	}
	take(d, &ask);
	return;

drop:
	d->stats.taken++;
	log_drop(d, reason, &ask.from, mad);
}

/* --------------------------------------------------------------- interface */

struct sa_server *sa_server_new(struct mad_client *x, struct sa *sa,
				struct log *log,
				const struct sa_server_params *params,
				sa_server_groups_fn groups, void *data)
{
	struct sa_server *d = g_new0(struct sa_server, 1);

	d->x = x;
	d->transport = mad_client_transport(x);
	d->sa = sa;
	d->log = log;
	d->params = params ? *params : sa_server_params_default;
	g_assert(d->params.turn > 0);
	d->queue = sa_queue_new(d->params.max_waiting, d->params.max_of_one);
	d->known = g_hash_table_new(sa_request_key_hash, sa_request_key_equal);
	g_queue_init(&d->tables);
	g_queue_init(&d->searches);
	d->bulk = sa_message_new(d->transport, SA_MESSAGE_COLLECT_MAX);
	sa_message_set_receiver(d->bulk, on_message, d);
	sa_message_intercept(d->bulk);
	begin_turn(d, transport_now(d->transport));
	d->groups = groups;
	d->groups_data = data;
	d->groups_version = sa_groups_version(sa);
	return d;
}

void
sa_server_free(struct sa_server *d)
{
	if (!d)
		return;
	mad_client_cancel_owner(d->x, d);
	sa_message_free(d->bulk);
	while (d->tables.head)
		job_free(d->tables.head->data);
	while (d->searches.head)
		job_free(d->searches.head->data);
	if (d->turn_timer)
		transport_timer_cancel(d->transport, d->turn_timer);
	if (d->due_timer)
		transport_timer_cancel(d->transport, d->due_timer);
	g_hash_table_unref(d->known);
	sa_queue_free(d->queue);
	g_free(d);
}

const struct sa_server_stats *
sa_server_stats(const struct sa_server *d)
{
	return &d->stats;
}

unsigned
sa_server_tables(const struct sa_server *d)
{
	return d->tables.length;
}
