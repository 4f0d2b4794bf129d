// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA server.
 *
 * Flow. A request comes from sm_agent.c, or from sa_message if it took several
 * MADs, and becomes a struct sa_job, which lives until its answer is sent:
 *
 *	take --> a job with its key is there --> dropped
 *	  +----> queue --> refused ------------> BUSY
 *	           +-----> serve_turn, round robin by LID, at once if the turn
 *			   is not over --> answer
 *
 *	answer --> sa_answer --> one MAD: sent; but a refusal while a plan is
 *				 being programmed is held until the next view
 *			     --> table: some of its records are drawn, and it
 *				 goes into the queue again; all are sent as
 *				 one message
 *			     --> Get without a record so far: likewise
 *
 * Turns. A client that sends one request after the other gets each answer at
 * once. After `turn` answers, or `turn_us`, requests wait in the queue and are
 * answered in later turns of the main loop, so the SM's own answers, timers
 * and elections are never delayed by more than one turn, whatever the load.
 *
 * Before the first sweep has ended there is no view: requests wait, since
 * hosts join their groups as soon as their port is Active. (BUSY would cost
 * them seconds: Linux takes it for a failure. OpenSM drops such requests.)
 * While another manager is the master the SA is shut: what waits is dropped,
 * and what comes, for the client sends it again to the master. While it is not
 * sure that no other one is, requests wait. A Set or Delete that has waited for
 * longer than a client does is dropped as well: executed later, it would undo
 * what the client has done since.
 *
 * While a plan is being programmed ports become Active, and get P_Keys, that the
 * view does not know yet, since it is replaced when the last step has ended. A
 * refusal for a port, a group or a P_Key may be wrong by then, and IPoIB would
 * back off for seconds: the request is held, and answered from the next view. The
 * changes of a client that come after it are held behind it. Plans may take
 * minutes, so what is held is looked at again twice a second: a refusal is sent
 * before its client gives up, and then those behind it have their turn.
 *
 * Repetitions. A client without an answer sends its request again with the same
 * TID (IBA 13.4.6.4); the repetition is dropped, since answering both would
 * make an overload worse.
 *
 * Reports are requests of the SA itself (IBA 13.4.11): mad_client sends and
 * repeats them. A subscriber, which is a QP of a port, that does not answer
 * loses its subscriptions.
 *
 * Tables are in the kernel when they have been handed over, until the client has
 * acknowledged all segments, or RMPP gives it up: for 10 s at most. What was
 * handed over is counted, to each LID and in all, and from 0 again after that
 * time. At the limit tables are answered BUSY, those that are being drawn as
 * well, but that of a standby is not.
 *
 * Addresses. Answers go where the request came from, with the Q_Key of QP 1 and
 * the P_Key of the request. Reports are sent with a P_Key that the SM's port
 * shares with the subscriber, the default one if both have it.
 */
#include "sm/sa/sa_server.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa_queue.h"
#include "sm/sa/service.h"

/* Linux waits for the answer to a join for as long (ib_sa_join_multicast()). */
#define PATIENCE_US	(3 * G_USEC_PER_SEC)
#define HELD_US		(500 * 1000)	/* then it is looked at again */
#define RMPP_US		(10 * (int64_t)G_USEC_PER_SEC)
#define PIECES		16u		/* of a table, with its request */

const struct sa_server_params sa_server_params_default = {
	.max_waiting = LID_UNICAST_MAX,	/* the joins of a first bring-up */
	.max_of_one = 256,
	.turn = 64,
	.turn_us = 2000,
	.at_once = 64 * 1024,
	.max_collect = UINT64_C(64) << 20,
	.max_handed = UINT64_C(512) << 20,
	.max_handed_of_one = UINT64_C(64) << 20,
	.max_reports = 8,	/* a kernel may limit an agent to 16 GMPs */
	.max_request = 64 * 1024,
	.max_long = 64 * 1024 * 1024,
};

/* The QP of a port that has not answered its Report yet; qp 0: none. */
struct sa_subscriber {
	uint64_t port_guid;
	uint32_t qp;
	int64_t sent;
};

struct sa_server {
	struct mad_client *client;
	struct transport *transport;
	struct sa *sa;
	struct log *log;
	struct sa_server_params params;

	struct sa_queue *queue;
	struct sa_queue *held;	/* until the next view, */
	unsigned held_timer;	/* or this rings; 0: not running */
	size_t long_bytes;	/* of those that are longer than a MAD */
	unsigned left;		/* answers of this turn */
	int64_t turn_began;
	unsigned turn_timer;	/* 0: not running */

	uint64_t collected;	/* bytes of tables that are being drawn; */
	struct sa_job *only;	/* beyond max_collect only this one goes on */
	int64_t handed_since;	/* from then on, bytes of tables, for 10 s: */
	uint64_t handed;	/* to all, */
	GHashTable *handed_to;	/* and by LID */
	unsigned reports;	/* without an answer yet, */
	struct sa_subscriber *asked;	/* of max_reports: to these */
	bool shut;		/* another manager is the master */

	unsigned due_timer;
	struct sa_server_stats stats;
};

static void on_turn(void *data);

/* For a job that is in none of the queues. */
static void
end_job(struct sa_server *d, struct sa_job *j)
{
	if (j->len > MAD_SIZE)
		d->long_bytes -= j->len;
	if (j->table)
		d->collected -= j->table->len;
	if (d->only == j)
		d->only = NULL;
	sa_job_free(j);
}

/* ----------------------------------------------------------------- sending */

static void
send_reply(struct sa_server *d, const struct sa_job *j)
{
	g_autoptr(GError) error = NULL;
	struct mad_addr to = j->from;

	to.qkey = MAD_GSI_QKEY;
	if (transport_send(d->transport, &to, j->reply.mad, MAD_SIZE, 0,
			   &error))
		return;
	log_limited(d->log, LOG_INFO, "sa", "an answer could not be sent",
		    "to LID %u: %s", j->from.lid, error->message);
}

static void
send_status(struct sa_server *d, struct sa_job *j, unsigned status)
{
	memcpy(j->reply.mad, j->mad, MAD_SIZE);
	sa_make_response(j->reply.mad, status);
	send_reply(d, j);
}

static void
send_busy(struct sa_server *d, struct sa_job *j, const char *why)
{
	d->stats.busy++;
	log_limited(d->log, LOG_WARNING, "sa", why, "LID %u is told to try "
		    "again later; requests that wait: %u, bytes of tables that "
		    "are drawn: %" G_GUINT64_FORMAT, j->from.lid,
		    sa_queue_length(d->queue), d->collected);
	send_status(d, j, MAD_STATUS_BUSY);
}

static void
log_drop(struct sa_server *d, const struct sa_job *j, const char *reason)
{
	d->stats.dropped++;
	log_limited(d->log, LOG_WARNING, "sa", reason,
		    "method %s (0x%02x), attribute %s (0x%04x), from LID %u",
		    mad_method_name(j->header.method), j->header.method,
		    sa_attr_name(j->header.attr_id), j->header.attr_id, j->from.lid);
}

/* For a job that is in none of the queues. */
static void
discard(struct sa_server *d, struct sa_job *j, const char *reason)
{
	log_drop(d, j, reason);
	end_job(d, j);
}

/* ------------------------------------------------------------------ tables */

static size_t
handed_to(const struct sa_server *d, const struct sa_job *j)
{
	return GPOINTER_TO_SIZE(g_hash_table_lookup(d->handed_to,
					GUINT_TO_POINTER(j->from.lid)));
}

static bool
is_handed_too_much(struct sa_server *d, const struct sa_job *j)
{
	int64_t now = transport_now(d->transport);

	if (now - d->handed_since >= RMPP_US) {
		d->handed_since = now;
		d->handed = 0;
		g_hash_table_remove_all(d->handed_to);
	}
	return d->handed >= d->params.max_handed ||
		handed_to(d, j) >= d->params.max_handed_of_one;
}

static void
fail_table(struct sa_server *d, const struct sa_job *j, const char *why)
{
	d->stats.tables_failed++;
	log_limited(d->log, LOG_INFO, "sa", "a table did not arrive",
		    "%s for LID %u: %s", sa_attr_name(j->header.attr_id),
		    j->from.lid, why);
}

static void
hand_over(struct sa_server *d, struct sa_job *j)
{
	size_t len = j->table->len - RMPP_SA_HEADER_LEN;
	struct mad_addr to = j->from;

	to.qkey = MAD_GSI_QKEY;
	if (!sa_message_send(d->transport, &to, j->table)) {
		fail_table(d, j, "not accepted by the transport");
		send_status(d, j, MAD_STATUS_BUSY);
		return;
	}
	d->stats.tables_sent++;
	d->handed += len;
	g_hash_table_insert(d->handed_to, GUINT_TO_POINTER(j->from.lid),
			    GSIZE_TO_POINTER(handed_to(d, j) + len));
}

static void
count_answer(struct sa_server *d, const struct sa_job *j)
{
	int64_t us = transport_now(d->transport) - j->came, bound = 100;

	for (unsigned i = 0; i < SA_SERVER_BUCKETS; i++, bound *= 10)
		d->stats.within[i] += us <= bound;
	d->stats.us += us;
	d->stats.answered++;
	d->stats.records[j->header.attr_id < SA_SERVER_RECORDS ?
			 j->header.attr_id : 0]++;
}

/* False: it is refused. */
static bool
begin_table(struct sa_server *d, struct sa_job *j)
{
	if (j->header.attr_id != SA_ATTR_STATE && (is_handed_too_much(d, j) ||
			d->collected > d->params.max_collect)) {
		send_busy(d, j, "too many long answers at once");
		return false;
	}
	d->stats.tables++;
	count_answer(d, j);
	j->table = g_byte_array_new();
	g_byte_array_append(j->table, j->reply.mad, RMPP_SA_HEADER_LEN);
	d->collected += j->table->len;
	return true;
}

/* Draws some records of a table. True: there are others; else it is sent, or
 * refused. The state for a standby is drawn at once, since it needs no view. */
static bool
draw_table(struct sa_server *d, struct sa_job *j)
{
	unsigned bytes = j->table ? d->params.at_once / PIECES :
		d->params.at_once;
	bool is_state = j->header.attr_id == SA_ATTR_STATE;
	struct sa_records *r = j->reply.records;
	guint size = (guint)sa_records_size(r), before;
	uint8_t record[SA_DATA_LEN];
	enum sa_draw drawn;

	g_assert(size <= sizeof(record));
	if (!j->table && !begin_table(d, j))
		return false;
	if (!is_state && is_handed_too_much(d, j)) {
		fail_table(d, j, "too many bytes of others");
		send_status(d, j, MAD_STATUS_BUSY);
		return false;
	}
	if (!is_state && d->collected > d->params.max_collect) {
		d->only = d->only ? d->only : j;
		if (d->only != j) {	/* that is no work */
			d->left++;
			return true;
		}
	}
	before = j->table->len;
	do {
		drawn = sa_records_draw(r, record);
		if (drawn == SA_DRAW_RECORD)
			g_byte_array_append(j->table, record, size);
	} while (is_state ? drawn != SA_DRAW_END : drawn == SA_DRAW_RECORD &&
		 j->table->len - before < bytes);
	d->collected += j->table->len - before;
	if (j->table->len - RMPP_SA_HEADER_LEN > d->params.max_collect) {
		fail_table(d, j, "too long");
		/* no segment was sent: the client still waits */
		send_status(d, j, SA_STATUS_NO_RESOURCES);
		return false;
	}
	if (drawn == SA_DRAW_END)
		hand_over(d, j);
	return drawn != SA_DRAW_END;
}

/* ---------------------------------------------- Reports, leases, new groups */

static void
sa_server_on_report_done(const struct mad_client_answer *a, void *data,
			 uint64_t tag)
{
	bool answered = a->outcome == MAD_CLIENT_ANSWERED;
	struct sa_server *d = data;
	struct sa_subscriber *to = &d->asked[tag];

	d->reports--;
	*(answered ? &d->stats.heard : &d->stats.unheard) += 1;
	if (!answered)
		informs_drop(d->sa->informs, to->port_guid, to->qp, to->sent);
	to->qp = 0;
	sa_server_touch(d);
}

static void
sa_server_on_due(void *data)
{
	struct sa_server *d = data;

	d->due_timer = 0;
	services_tick(d->sa->services, transport_now(d->transport));
	sa_server_touch(d);
}

/* Into a queue that may refuse it. */
static void
queue_job(struct sa_server *d, struct sa_queue *queue, struct sa_job *j)
{
	const char *why = sa_queue_add(queue, j);

	if (!why)
		return;
	send_busy(d, j, why);
	end_job(d, j);
}

static bool
is_programming(const struct sa_server *d)
{
	return d->params.programming &&
		d->params.programming(d->params.data);
}

/* May the next view answer otherwise? For a join, INSUFFICIENT is that the group
 * is not there. */
static bool
is_held(const struct sa_server *d, const struct sa_job *j)
{
	unsigned status = bytes_load16(j->reply.mad + 4);

	return (status == SA_STATUS_REQ_INVALID ||
		status == SA_STATUS_INVALID_GID ||
		status == SA_STATUS_INSUFFICIENT) && is_programming(d) &&
		transport_now(d->transport) - j->came < PATIENCE_US - HELD_US;
}

/* What was held came before what waits: a leave must not be executed before the
 * join that it ends. */
static void
release_held(struct sa_server *d)
{
	struct sa_queue *held = d->held;
	struct sa_job *j;

	while ((j = sa_queue_next(d->queue)))
		queue_job(d, held, j);
	d->held = d->queue;
	d->queue = held;
}

static bool
is_in_doubt(const struct sa_server *d)
{
	return d->params.in_doubt && d->params.in_doubt(d->params.data);
}

static bool
has_work(const struct sa_server *d)
{
	return sa_queue_length(d->queue) && d->sa->view && !is_in_doubt(d);
}

static void
start_turn_timer(struct sa_server *d)
{
	bool has_reports = d->sa->view && informs_waiting(d->sa->informs) &&
		d->reports < d->params.max_reports && !is_in_doubt(d);

	if (!d->turn_timer && (has_work(d) || has_reports))
		d->turn_timer = transport_timer_in(d->transport, 0, on_turn, d);
}

static void
sa_server_on_held(void *data)
{
	struct sa_server *d = data;

	d->held_timer = 0;
	release_held(d);
	start_turn_timer(d);
}

static void
hold_job(struct sa_server *d, struct sa_job *j)
{
	j->reply.kind = SA_REPLY_NONE;
	queue_job(d, d->held, j);
	if (!d->held_timer)
		d->held_timer = transport_timer_in(d->transport, HELD_US,
						   sa_server_on_held, d);
}

/* Of many subscriptions, only some are compared in one turn. */
static void
send_reports(struct sa_server *d)
{
	int64_t now = transport_now(d->transport);
	struct informs *informs = d->sa->informs;
	struct sa_report r;
	uint64_t place;

	while (d->reports < d->params.max_reports &&
	       !(informs_waiting(informs) && is_in_doubt(d)) &&
	       sa_next_report(d->sa, now, &r)) {
		const struct mad_addr to = {
			.qp = r.qp, .qkey = MAD_GSI_QKEY, .lid = r.lid,
			.pkey_index = r.pkey_index,
		};

		for (place = 0; d->asked[place].qp; place++)
			;
		d->asked[place] = (struct sa_subscriber){
			r.port_guid, r.qp, now,
		};
		d->reports++;
		d->stats.reports++;
		mad_client_start(d->client, &to, r.mad,
				 sa_server_on_report_done, d, place);
	}
	if (informs->dropped)
		log_limited(d->log, LOG_WARNING, "sa", "Notices that not all "
			    "subscribers have heard", "%u dropped: too many, or "
			    "older than a minute; %u wait, for %u subscriptions",
			    informs->dropped, informs_waiting(informs),
			    informs->all.list->len);
	d->stats.notices_dropped += informs->dropped;
	informs->dropped = 0;
}

void
sa_server_touch(struct sa_server *d)
{
	int64_t due = d->sa->services->next;

	if (sa_queue_length(d->held) && !is_programming(d))
		release_held(d);
	send_reports(d);
	start_turn_timer(d);
	transport_timer_clear(d->transport, &d->due_timer);
	if (due != INT64_MAX)
		d->due_timer = transport_timer_start(d->transport, due,
						     sa_server_on_due, d);
	if (d->params.touched)
		d->params.touched(d->params.data);
}

/* --------------------------------------------------------------- answering */

static gint
changes_nothing(gconstpointer waiting, gconstpointer job)
{
	return !sa_job_changes(waiting);
}

/* A step of a job out of the queue, into which it returns if it needs another
 * one. */
static void
answer_job(struct sa_server *d, struct sa_job *j)
{
	const struct sa_request request = {
		.mad = j->mad, .len = j->len, .slid = j->from.lid,
		.qp = j->from.qp,
		.now = transport_now(d->transport),
	};
	bool touches = sa_job_changes(j), goes_on = false;

	if (touches && sa_queue_has(d->held, j, changes_nothing)) {
		hold_job(d, j);
		return;
	}
	if (j->reply.kind == SA_REPLY_NONE)
		sa_answer(d->sa, &request, &j->reply);
	else if (j->reply.kind == SA_REPLY_LATER)
		sa_resume(&j->reply);
	if (touches)		/* before the client can rely on it */
		sa_server_touch(d);
	switch (j->reply.kind) {
	case SA_REPLY_NONE:
		log_drop(d, j, j->reply.why);
		break;
	case SA_REPLY_ONE:
		if (is_held(d, j)) {
			hold_job(d, j);
			return;
		}
		count_answer(d, j);
		send_reply(d, j);
		break;
	case SA_REPLY_TABLE:
		goes_on = draw_table(d, j);
		break;
	case SA_REPLY_LATER:
		goes_on = true;
		break;
	}
	if (goes_on)
		queue_job(d, d->queue, j);
	else
		end_job(d, j);
}

static void
begin_turn(struct sa_server *d)
{
	d->turn_began = transport_now(d->transport);
	d->left = d->params.turn;
}

/* Until the turn is over. */
static void
serve_turn(struct sa_server *d)
{
	struct sa_job *j;

	while (d->left && has_work(d) && transport_now(d->transport) -
	       d->turn_began < d->params.turn_us) {
		d->left--;
		j = sa_queue_next(d->queue);
		if (sa_job_changes(j) &&
		    transport_now(d->transport) - j->came > PATIENCE_US)
			discard(d, j, "SA request that waited for too long");
		else
			answer_job(d, j);
	}
	start_turn_timer(d);
}

static void
on_turn(void *data)
{
	struct sa_server *d = data;

	d->turn_timer = 0;
	d->stats.turns++;
	begin_turn(d);
	serve_turn(d);
	sa_server_touch(d);
}

/* --------------------------------------------------------------- receiving */

static gint
is_another(gconstpointer waiting, gconstpointer job)
{
	const struct sa_job *a = waiting, *b = job;

	return a->from.qp != b->from.qp || a->header.tid != b->header.tid ||
		a->header.attr_id != b->header.attr_id ||
		a->header.method != b->header.method;
}

/* on_turn() begins each turn of the main loop. If no request waits, a turn ends
 * by time, which saves a timer for each request. */
static void
take_job(struct sa_server *d, struct sa_job *j)
{
	d->stats.taken++;
	if (sa_queue_has(d->queue, j, is_another) ||
	    sa_queue_has(d->held, j, is_another)) {
		d->stats.repeated++;
		sa_job_free(j);
		return;
	}
	j->came = transport_now(d->transport);
	if (j->len > MAD_SIZE)
		d->long_bytes += j->len;
	if (d->long_bytes > d->params.max_long) {
		send_busy(d, j, "too many long requests wait");
		end_job(d, j);
	} else if (sa_is_of_standby(j->mad, j->header.attr_id, j->header.method)) {
		answer_job(d, j);	/* even without a view */
	} else if (d->shut) {
		discard(d, j, "SA request to a standby");
	} else {
		queue_job(d, d->queue, j);
		if (!d->turn_timer && transport_now(d->transport) -
		    d->turn_began >= d->params.turn_us)
			begin_turn(d);
		serve_turn(d);
	}
}

static void
drop_length(struct sa_server *d, size_t len, uint16_t lid)
{
	d->stats.dropped++;
	log_limited(d->log, LOG_WARNING, "sa", "SA request of another length",
		    "%zu bytes, from LID %u", len, lid);
}

void
sa_server_take(struct sa_server *d, const struct transport_mad *m)
{
	/* longer than InfiniBand has them, as of OPA */
	if (m->len == MAD_SIZE)
		take_job(d, sa_job_new(&m->addr, m->mad, m->len));
	else
		drop_length(d, m->len, m->addr.lid);
}

/* A request that came by RMPP: of several segments, or of one. */
static void
sa_server_on_message(const struct sa_message *m, void *data)
{
	size_t len = MAX(RMPP_SA_HEADER_LEN + m->len, MAD_SIZE);
	g_autofree uint8_t *mad = NULL;
	struct sa_server *d = data;

	if (m->len > d->params.max_request) {
		drop_length(d, len, m->from.lid);
		return;
	}
	mad = g_malloc0(len);
	memcpy(mad, m->header, RMPP_SA_HEADER_LEN);
	memcpy(mad + RMPP_SA_HEADER_LEN, m->data, m->len);
	take_job(d, sa_job_new(&m->from, mad, len));
}

void
sa_server_set_shut(struct sa_server *d, bool shut)
{
	struct sa_job *j;

	d->shut = shut;
	while (shut && (j = sa_queue_next(d->queue) ?: sa_queue_next(d->held)))
		discard(d, j, "SA request to a standby");
}

/* --------------------------------------------------------------- interface */

struct sa_server *
sa_server_new(struct mad_client *client, struct sa *sa, struct log *log,
	      const struct sa_server_params *params)
{
	struct sa_server *d = g_new0(struct sa_server, 1);

	d->client = client;
	d->transport = client->transport;
	d->sa = sa;
	d->log = log;
	d->params = params ? *params : sa_server_params_default;
	g_assert(d->params.turn > 0);
	d->queue = sa_queue_new(d->params.max_waiting, d->params.max_of_one);
	d->held = sa_queue_new(d->params.max_waiting, d->params.max_of_one);
	d->asked = g_new0(struct sa_subscriber, d->params.max_reports);
	d->handed_to = g_hash_table_new(NULL, NULL);
	client->message = sa_server_on_message;
	client->message_data = d;
	begin_turn(d);
	return d;
}

void
sa_server_free(struct sa_server *d)
{
	if (!d)
		return;
	mad_client_cancel_owner(d->client, d);
	d->client->message = NULL;
	transport_timer_clear(d->transport, &d->turn_timer);
	transport_timer_clear(d->transport, &d->held_timer);
	transport_timer_clear(d->transport, &d->due_timer);
	g_hash_table_unref(d->handed_to);
	g_free(d->asked);
	sa_queue_free(d->queue);
	sa_queue_free(d->held);
	g_free(d);
}

const struct sa_server_stats *
sa_server_stats(struct sa_server *d)
{
	d->stats.waiting = sa_queue_length(d->queue);
	return &d->stats;
}
