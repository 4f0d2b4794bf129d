/*
 * The desk.
 *
 * Purpose. Clients may ask as fast as they like; sweeps and elections share
 * the thread with them and must not starve, and a client that babbles must not
 * push others out.
 *
 * Structs. A `client` is a LID with requests that wait, oldest first; clients
 * with any stand in a ring. Requests that come when nobody waits are answered
 * at once, up to `turn` of them before the main loop runs again; what comes
 * then waits. Each turn goes round the ring, one request of each client.
 *
 * Past the limits the answer is BUSY (IBA 13.4.7): the client knows, and tries
 * again later. A request that waits already and comes again (its sender lost
 * patience) is dropped: it will be answered once.
 *
 * Tables are drawn from the SA's iterator as the receiver takes them, by RMPP
 * (bulk.c); Reports are transactions like others, repeated until they are
 * answered or the subscriber counts as dead.
 */
#include "sm/desk.h"

#include <string.h>

#include "sm/io/bulk.h"

#define GMP_QKEY	0x80010000u	/* IBA 10.2.4: the well-known Q_Key */

const struct desk_params desk_params_default = {
	.max_waiting = 4096,
	.max_of_one = 256,
	.turn = 64,
	.max_tables = 256,
	.max_reports = 32,
};

struct waiting {
	struct mad_addr from;
	size_t len;
	uint8_t mad[];
};

struct client {
	uint16_t lid;
	GQueue waiting;		/* struct waiting */
};

/* A table on its way out. */
struct table {
	struct desk *desk;
	struct sa_records *records;
	uint8_t record[SA_DATA_LEN];
	size_t size, left;	/* of record: bytes not drawn yet */
};

struct desk {
	struct xact *x;
	struct sa *sa;
	struct log *log;
	struct desk_params params;
	desk_groups_fn groups;
	void *data;
	struct bulk *bulk;
	GHashTable *clients;	/* LID -> struct client */
	GQueue ring;		/* those that wait, in turn */
	GHashTable *tables;	/* id of the transfer -> struct table */
	unsigned budget;	/* answers left in this turn */
	unsigned timer;		/* the next turn */
	unsigned tick;		/* the SA's deadline */
	unsigned n_reports;
	uint64_t groups_version;
	struct desk_stats stats;
};

static int64_t
now(const struct desk *d)
{
	return transport_now(xact_transport(d->x));
}

static void
client_free(void *data)
{
	struct client *c = data;

	g_queue_clear_full(&c->waiting, g_free);
	g_free(c);
}

static void
table_free(void *data)
{
	struct table *t = data;

	sa_records_free(t->records);
	g_free(t);
}

/* --------------------------------------------------------------- answering */

static void
send_one(struct desk *d, const struct mad_addr *from, const uint8_t *mad)
{
	struct mad_addr to = *from;
	g_autoptr(GError) error = NULL;

	to.qkey = GMP_QKEY;
	if (!transport_send(xact_transport(d->x), &to, mad, MAD_SIZE, 0,
			    &error))
		log_limited(d->log, LOG_WARNING, "sa",
			    "an answer could not be sent", "to LID %u: %s",
			    to.lid, error->message);
}

static void
send_busy(struct desk *d, const struct mad_addr *from, const uint8_t *request)
{
	uint8_t mad[MAD_SIZE];

	d->stats.busy++;
	memcpy(mad, request, MAD_SIZE);
	sa_make_response(mad, MAD_STATUS_BUSY);
	send_one(d, from, mad);
}

/* Records one behind the other, in whatever pieces the transfer wants. */
static size_t
draw(void *data, uint8_t *out, size_t max)
{
	struct table *t = data;
	size_t n = 0, piece;

	while (n < max) {
		if (!t->left) {
			if (!sa_records_next(t->records, t->record))
				break;
			t->left = t->size;
		}
		piece = MIN(t->left, max - n);
		memcpy(out + n, t->record + t->size - t->left, piece);
		t->left -= piece;
		n += piece;
	}
	return n;
}

static void
on_table_sent(uint32_t id, enum bulk_outcome outcome, unsigned status,
	      void *data)
{
	struct table *t = data;

	if (outcome != BULK_SENT)
		log_limited(t->desk->log, LOG_VERBOSE, "sa",
			    "a table was not taken to its end",
			    "outcome %u, RMPP status %u", outcome, status);
	g_hash_table_remove(t->desk->tables, GUINT_TO_POINTER(id));
}

static void
send_table(struct desk *d, const struct mad_addr *from,
	   const struct sa_reply *reply)
{
	struct table *t = g_new0(struct table, 1);
	struct bulk_order order = {
		.to = *from, .header = reply->mad, .source = draw,
		.source_data = t, .length = RMPP_LENGTH_UNKNOWN,
	};
	uint32_t id;

	order.to.qkey = GMP_QKEY;
	t->desk = d;
	t->records = reply->records;
	t->size = sa_records_size(reply->records);
	id = bulk_send(d->bulk, &order, on_table_sent, t);
	if (!id) {	/* the same request again, its answer is under way */
		d->stats.repeated++;
		table_free(t);
		return;
	}
	d->stats.tables++;
	g_hash_table_insert(d->tables, GUINT_TO_POINTER(id), t);
}

static void
note_changes(struct desk *d)
{
	uint64_t version = sa_groups_version(d->sa);

	if (version == d->groups_version)
		return;
	d->groups_version = version;
	if (d->groups)
		d->groups(d->data);
}

static void
answer(struct desk *d, const struct mad_addr *from, const uint8_t *mad,
       size_t len)
{
	const struct sa_request request = {
		.mad = mad, .len = len, .slid = from->lid, .now = now(d),
	};
	struct sa_reply reply;

	sa_answer(d->sa, &request, &reply);
	switch (reply.kind) {
	case SA_REPLY_NONE:
		d->stats.dropped++;
		log_limited(d->log, LOG_WARNING, "sa", reply.why,
			    "from LID %u", from->lid);
		break;
	case SA_REPLY_ONE:
		d->stats.answered++;
		send_one(d, from, reply.mad);
		break;
	case SA_REPLY_TABLE:
		if (g_hash_table_size(d->tables) >= d->params.max_tables) {
			sa_records_free(reply.records);
			send_busy(d, from, mad);
			break;
		}
		d->stats.answered++;
		send_table(d, from, &reply);
		break;
	}
	note_changes(d);
	desk_touch(d);
}

/* ----------------------------------------------------------------- waiting */

static bool
waits_already(const struct client *c, const uint8_t *mad)
{
	for (GList *l = c->waiting.head; l; l = l->next) {
		const struct waiting *w = l->data;

		/* TID, attribute and modifier: IBA 13.4.6.4 */
		if (memcmp(w->mad + 8, mad + 8, 16) == 0 &&
		    w->mad[3] == mad[3])
			return true;
	}
	return false;
}

static void on_turn(void *data);

static void
start_turn(struct desk *d)
{
	if (!d->timer)
		d->timer = transport_timer_start(xact_transport(d->x), now(d),
						 on_turn, d);
}

static void
queue(struct desk *d, const struct mad_addr *from, const uint8_t *mad,
      size_t len)
{
	gpointer key = GUINT_TO_POINTER(from->lid);
	struct client *c = g_hash_table_lookup(d->clients, key);
	struct waiting *w;

	if (c && waits_already(c, mad)) {
		d->stats.repeated++;
		return;
	}
	if (d->stats.waiting >= d->params.max_waiting ||
	    (c && c->waiting.length >= d->params.max_of_one)) {
		send_busy(d, from, mad);
		return;
	}
	if (!c) {
		c = g_new0(struct client, 1);
		c->lid = from->lid;
		g_queue_init(&c->waiting);
		g_hash_table_insert(d->clients, key, c);
		g_queue_push_tail(&d->ring, c);
	}
	w = g_malloc(sizeof(*w) + len);
	w->from = *from;
	w->len = len;
	memcpy(w->mad, mad, len);
	g_queue_push_tail(&c->waiting, w);
	d->stats.waiting++;
	start_turn(d);
}

/* One request of the client whose turn it is. */
static void
serve_next(struct desk *d)
{
	struct client *c = g_queue_pop_head(&d->ring);
	g_autofree struct waiting *w = g_queue_pop_head(&c->waiting);

	d->stats.waiting--;
	if (c->waiting.length)
		g_queue_push_tail(&d->ring, c);
	else
		g_hash_table_remove(d->clients, GUINT_TO_POINTER(c->lid));
	answer(d, &w->from, w->mad, w->len);
}

static void
on_turn(void *data)
{
	struct desk *d = data;

	d->timer = 0;
	d->budget = d->params.turn;
	while (d->ring.length && d->budget) {
		d->budget--;
		serve_next(d);
	}
	if (d->ring.length)
		start_turn(d);
}

static void
take(struct desk *d, const struct mad_addr *from, const uint8_t *mad,
     size_t len)
{
	d->stats.taken++;
	if (d->stats.waiting || !d->budget) {
		queue(d, from, mad, len);
		return;
	}
	d->budget--;
	start_turn(d);		/* which gives the budget back */
	answer(d, from, mad, len);
}

void
desk_take(struct desk *d, const struct transport_mad *m)
{
	take(d, &m->addr, m->mad, m->len);
}

/* A request of several segments, or any message where the transport does RMPP
 * itself. */
static void
on_message(const struct bulk_message *m, void *data)
{
	size_t len = MAX(SA_DATA_OFFSET + m->len, MAD_SIZE);
	g_autofree uint8_t *mad = g_malloc0(len);

	memcpy(mad, m->header, SA_DATA_OFFSET);
	memcpy(mad + SA_DATA_OFFSET, m->data, m->len);
	take(data, &m->from, mad, len);
}

/* ----------------------------------------------------------------- Reports */

static void send_reports(struct desk *d);

static void
on_report_answered(const struct xact_answer *a, void *data, uint64_t tag)
{
	struct desk *d = data;
	bool heard = a->outcome == XACT_ANSWERED;

	d->n_reports--;
	d->stats.unheard += !heard;
	sa_report_ended(d->sa, (uint32_t)tag, heard);
	send_reports(d);
}

static void
send_reports(struct desk *d)
{
	struct sa_report report;
	struct mad_addr to = { .qkey = GMP_QKEY };

	while (d->n_reports < d->params.max_reports &&
	       sa_next_report(d->sa, &report)) {
		to.lid = report.lid;
		to.qp = report.qp;
		d->n_reports++;
		d->stats.reports++;
		xact_start(d->x, &to, report.mad, on_report_answered, d,
			   report.id);
	}
}

static void
on_tick(void *data)
{
	struct desk *d = data;

	d->tick = 0;
	sa_tick(d->sa, now(d));
	desk_touch(d);
}

void
desk_touch(struct desk *d)
{
	struct transport *t = xact_transport(d->x);
	int64_t deadline = sa_deadline(d->sa);

	send_reports(d);
	if (d->tick)
		transport_timer_cancel(t, d->tick);
	d->tick = 0;
	if (deadline != INT64_MAX)
		d->tick = transport_timer_start(t, deadline, on_tick, d);
}

struct desk *
desk_new(struct xact *x, struct sa *sa, struct log *log,
	 const struct desk_params *params, desk_groups_fn groups, void *data)
{
	struct desk *d = g_new0(struct desk, 1);

	d->x = x;
	d->sa = sa;
	d->log = log;
	d->params = params ? *params : desk_params_default;
	d->groups = groups;
	d->data = data;
	d->budget = d->params.turn;
	d->clients = g_hash_table_new_full(NULL, NULL, NULL, client_free);
	d->tables = g_hash_table_new_full(NULL, NULL, NULL, table_free);
	g_queue_init(&d->ring);
	d->bulk = bulk_new(xact_transport(x), NULL);
	bulk_intercept(d->bulk);
	bulk_set_receiver(d->bulk, on_message, d);
	d->groups_version = sa_groups_version(sa);
	return d;
}

void
desk_free(struct desk *d)
{
	struct transport *t;

	if (!d)
		return;
	t = xact_transport(d->x);
	xact_cancel_owner(d->x, d);
	bulk_free(d->bulk);
	if (d->timer)
		transport_timer_cancel(t, d->timer);
	if (d->tick)
		transport_timer_cancel(t, d->tick);
	g_queue_clear(&d->ring);
	g_hash_table_unref(d->clients);
	g_hash_table_unref(d->tables);
	g_free(d);
}

const struct desk_stats *
desk_stats(const struct desk *d)
{
	return &d->stats;
}
