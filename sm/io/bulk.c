// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages by RMPP over a transport.
 *
 * A transfer is one machine of sm/wire, a sender or a receiver, and what it
 * takes to talk to its peer. Each event for a machine is followed by the same
 * three steps: send what it wants sent, see whether it has come to an end, and
 * note its deadline.
 *
 *	bulk_send --> sender --+               +--> done
 *	bulk_offer --> find ---+--> advance ---+--> on_message
 *	on_timer --------------+               +--> lingers, or is over
 *
 * Transfers are found by a key (bulk_key.h), in which is the direction of the
 * data. ACKs travel against the data, and so do the STOP and the ABORT of a
 * receiver; the ABORT of a sender travels with the data, like the ACK of 0 that
 * follows a request (IBA 13.6.6.3). Hence what is not DATA is for the sender
 * against whose direction it comes, and only if there is none for the receiver
 * in its direction.
 *
 * Every transfer is on one of four lists, in the order of their last event:
 *
 *	active		the message is not through
 *	lingering	it is; repeats its last word if that got lost
 *	collecting	it has no machine; see below
 *	ended		nothing but a callback that is due: done() must not
 *			come from inside the call that causes it
 *
 * If there are too many, the head of `lingering` goes, or else that of
 * `active`. One timer rings for all. It is set anew only for a deadline that
 * is nearer; when it rings too early, because that deadline has moved, it
 * looks for the next one.
 *
 * Where the transport does RMPP itself (the kernel, behind libibumad), there
 * are no machines: a message to send is collected and handed over in one
 * piece, and what comes in has been put together (whole.h). What is not
 * collected in one go is gone on with a little later, so that nobody else has
 * to wait for a long table; if there is much in the memory already, only the
 * oldest goes on.
 */
#include "sm/io/bulk.h"

#include <string.h>

#include "sm/io/bulk_key.h"
#include "sm/io/whole.h"
#include "sm/wire/mad.h"
#include "sm/wire/rmpp_receiver.h"

#define OFF_CLASS	1

struct transfer {
	struct bulk_key key;
	GList link;
	GQueue *list;		/* on which it is */
	uint32_t id;
	struct mad_addr peer;
	struct rmpp_sender *sender;	/* one of three; none: ended */
	struct rmpp_receiver *receiver;
	struct whole *whole;
	unsigned timeout_ms;	/* of `whole`, when it is handed over */
	uint64_t bytes;		/* that it has in b->bytes */
	bulk_done_fn done;	/* NULL: told, or a receiver */
	void *data;
	enum bulk_outcome outcome;	/* of one that has ended */
};

struct bulk {
	struct transport *transport;
	struct bulk_params params;
	GHashTable *by_key, *by_id;
	GQueue active, lingering, collecting, ended;
	uint32_t last_id;
	uint64_t bytes;		/* that come in */
	uint64_t collected;

	unsigned timer;		/* 0: not running */
	int64_t timer_when;
	unsigned depth;		/* of callbacks into the user */

	bulk_message_fn receiver;
	void *receiver_data;
	bool intercepts;
	transport_recv_fn next;
	void *next_data;
	struct bulk_stats stats;
};

static void on_timer(void *data);

/* --------------------------------------------------------------- transfers */

static struct transfer *
transfer_of(GList *link)
{
	return link->data;
}

static struct transfer *
transfer_new(struct bulk *b, const struct bulk_key *key,
	     const struct mad_addr *peer)
{
	struct transfer *x = g_new0(struct transfer, 1);

	x->key = *key;
	x->peer = *peer;
	x->link.data = x;
	do {
		x->id = ++b->last_id;
	} while (!x->id || x->id == BULK_AT_ONCE ||
		 g_hash_table_contains(b->by_id, GUINT_TO_POINTER(x->id)));
	g_hash_table_insert(b->by_id, GUINT_TO_POINTER(x->id), x);
	return x;
}

static struct transfer *
transfer_find(struct bulk *b, uint32_t id)
{
	return g_hash_table_lookup(b->by_id, GUINT_TO_POINTER(id));
}

static void
leave_list(struct transfer *x)
{
	if (x->list)
		g_queue_unlink(x->list, &x->link);
	x->list = NULL;
}

static void
move_to(struct transfer *x, GQueue *list)
{
	leave_list(x);
	x->list = list;
	g_queue_push_tail_link(list, &x->link);
}

static void
count_bytes(struct bulk *b, struct transfer *x)
{
	uint64_t size = x->receiver ? rmpp_receiver_size(x->receiver) : 0;

	b->bytes += size - x->bytes;
	x->bytes = size;
}

/* Takes the machine away, and with it the key. */
static void
stop_machine(struct bulk *b, struct transfer *x)
{
	if (!x->sender && !x->receiver)
		return;
	if (x->sender)
		b->stats.repeated += rmpp_sender_repeated(x->sender);
	g_clear_pointer(&x->sender, rmpp_sender_free);
	g_clear_pointer(&x->receiver, rmpp_receiver_free);
	count_bytes(b, x);
	g_hash_table_remove(b->by_key, &x->key);
}

/* What was collected, and is not needed any more. */
static void
stop_collecting(struct bulk *b, struct transfer *x)
{
	if (x->whole)
		b->collected -= whole_len(x->whole);
	g_clear_pointer(&x->whole, whole_free);
}

static void
transfer_free(struct bulk *b, struct transfer *x)
{
	stop_machine(b, x);
	stop_collecting(b, x);
	leave_list(x);
	g_hash_table_remove(b->by_id, GUINT_TO_POINTER(x->id));
	g_free(x);
}

static int64_t
deadline_of(const struct transfer *x)
{
	return x->sender ? rmpp_sender_deadline(x->sender) :
		rmpp_receiver_deadline(x->receiver);
}

/* ------------------------------------------------------------------- timer */

static void
ring_at(struct bulk *b, int64_t when)
{
	if (when == RMPP_NO_DEADLINE || (b->timer && b->timer_when <= when))
		return;
	if (b->timer)
		transport_timer_cancel(b->transport, b->timer);
	b->timer_when = when;
	b->timer = transport_timer_start(b->transport, when, on_timer, b);
}

/* -------------------------------------------------------------- the machine */

/* A send that the transport refuses is a segment that is lost. */
static void
send_all(struct bulk *b, struct transfer *x)
{
	int64_t now = transport_now(b->transport);
	uint8_t mad[MAD_SIZE];

	while (x->sender ? rmpp_sender_next(x->sender, mad, now) :
	       rmpp_receiver_next(x->receiver, mad, now)) {
		transport_send(b->transport, &x->peer, mad, MAD_SIZE, 0,
			       NULL);
		b->stats.segments_out++;
	}
}

static enum bulk_outcome
outcome_of(enum rmpp_outcome outcome)
{
	switch (outcome) {
	case RMPP_GOING_ON:
	case RMPP_DONE:
		break;
	case RMPP_GAVE_UP:
		return BULK_GAVE_UP;
	case RMPP_ENDED_BY_PEER:
		return BULK_ENDED_BY_PEER;
	}
	return BULK_SENT;
}

/* Called last: the transfer may be gone after it. */
static void
tell_done(struct bulk *b, struct transfer *x, enum bulk_outcome outcome,
	  unsigned status)
{
	bulk_done_fn done = g_steal_pointer(&x->done);

	if (!done)
		return;
	if (outcome == BULK_SENT)
		b->stats.sent++;
	else
		b->stats.failed_out++;
	b->depth++;
	done(x->id, outcome, status, x->data);
	b->depth--;
}

static void
tell_message(struct bulk *b, const struct bulk_message *m)
{
	b->stats.received++;
	if (!b->receiver)
		return;
	b->depth++;
	b->receiver(m, b->receiver_data);
	b->depth--;
}

/* The machine leaves, the callback is still to come. */
static void
end_sender(struct bulk *b, struct transfer *x)
{
	enum rmpp_outcome outcome = rmpp_sender_outcome(x->sender);
	unsigned status = rmpp_sender_status(x->sender);
	uint32_t id = x->id;

	if (outcome == RMPP_GOING_ON)
		return;
	if (deadline_of(x) == RMPP_NO_DEADLINE) {
		stop_machine(b, x);
		leave_list(x);
	} else {
		move_to(x, &b->lingering);
	}
	tell_done(b, x, outcome_of(outcome), status);
	x = transfer_find(b, id);
	if (x && !x->sender)
		transfer_free(b, x);
}

/* It has the message, or has refused it, just now. */
static void
settle_receiver(struct bulk *b, struct transfer *x)
{
	bool whole = rmpp_receiver_outcome(x->receiver) == RMPP_DONE;
	g_autoptr(GByteArray) data = rmpp_receiver_steal_data(x->receiver);
	uint8_t header[RMPP_SA_HEADER_LEN];
	struct bulk_message m = {
		.from = x->peer, .header = header,
		.data = data->data, .len = data->len,
	};

	memcpy(header, rmpp_receiver_header(x->receiver), sizeof(header));
	count_bytes(b, x);
	move_to(x, &b->lingering);
	if (whole)
		tell_message(b, &m);
	else
		b->stats.failed_in++;
}

static void
end_receiver(struct bulk *b, struct transfer *x)
{
	enum rmpp_outcome outcome = rmpp_receiver_outcome(x->receiver);

	if (outcome == RMPP_GOING_ON)
		return;
	if (deadline_of(x) == RMPP_NO_DEADLINE) {
		b->stats.failed_in += x->list == &b->active;
		transfer_free(b, x);
	} else if (x->list == &b->active) {
		settle_receiver(b, x);
	}
}

/* What is whole by now is let through. */
static void
limit_bytes(struct bulk *b, struct transfer *x)
{
	count_bytes(b, x);
	if (x->receiver && b->bytes > b->params.max_bytes &&
	    rmpp_receiver_outcome(x->receiver) == RMPP_GOING_ON)
		rmpp_receiver_refuse(x->receiver, RMPP_STATUS_RESOURCES,
				     transport_now(b->transport));
}

/* After every event for a transfer, which may be gone after it. */
static void
advance(struct bulk *b, struct transfer *x)
{
	limit_bytes(b, x);
	send_all(b, x);
	ring_at(b, deadline_of(x));
	if (x->sender)
		end_sender(b, x);
	else
		end_receiver(b, x);
}

static void
end_later(struct bulk *b, struct transfer *x, enum bulk_outcome outcome)
{
	stop_machine(b, x);
	x->outcome = outcome;
	move_to(x, &b->ended);
	ring_at(b, transport_now(b->transport));
}

/* The peer is told, so that it does not wait. */
static void
drop_oldest(struct bulk *b)
{
	GList *link = b->lingering.head ? b->lingering.head : b->active.head;
	struct transfer *x = transfer_of(link);

	b->stats.dropped++;
	if (x->receiver) {
		b->stats.failed_in += x->list == &b->active;
		rmpp_receiver_refuse(x->receiver, RMPP_STATUS_RESOURCES,
				     transport_now(b->transport));
		send_all(b, x);
		transfer_free(b, x);
		return;
	}
	rmpp_sender_abort(x->sender, RMPP_STATUS_UNSPECIFIED);
	send_all(b, x);
	if (x->done)
		end_later(b, x, BULK_DROPPED);
	else
		transfer_free(b, x);
}

static void
enroll(struct bulk *b, struct transfer *x)
{
	while (bulk_transfers(b) >= b->params.max_transfers)
		drop_oldest(b);
	g_hash_table_insert(b->by_key, &x->key, x);
	move_to(x, &b->active);
}

/* -------------------------------------------------------------- collecting */

static enum bulk_outcome
hand_over(struct bulk *b, struct transfer *x)
{
	const GByteArray *all = whole_message(x->whole);

	b->stats.segments_out++;
	return transport_send(b->transport, &x->peer, all->data, all->len,
			      x->timeout_ms, NULL) ?
		BULK_SENT : BULK_NOT_ACCEPTED;
}

/* One go. False: there is more to come; else how it ended. */
static bool
collect(struct bulk *b, struct transfer *x, enum bulk_outcome *outcome)
{
	enum whole_state state;

	b->collected -= whole_len(x->whole);
	state = whole_collect(x->whole);
	b->collected += whole_len(x->whole);
	switch (state) {
	case WHOLE_LATER:
		return false;
	case WHOLE_TOO_LONG:
		*outcome = BULK_TOO_LONG;
		break;
	case WHOLE_READY:
		*outcome = hand_over(b, x);
		break;
	}
	stop_collecting(b, x);
	return true;
}

static void
ring_soon(struct bulk *b)
{
	ring_at(b, transport_now(b->transport) + RMPP_SOURCE_PAUSE_US);
}

/* A go for each, or for the oldest if there is much in the memory. */
static void
collect_all(struct bulk *b)
{
	unsigned n = b->collecting.length;
	GList *link = b->collecting.head;
	enum bulk_outcome outcome;

	for (; n > 0 && link; n--) {
		struct transfer *x = transfer_of(link);

		link = link->next;
		if (collect(b, x, &outcome))
			end_later(b, x, outcome);
		if (b->collected > b->params.max_collect)
			break;
	}
	if (b->collecting.head)
		ring_soon(b);
}

/* To a transport that does RMPP itself. */
static uint32_t
send_whole(struct bulk *b, struct transfer *x, const struct bulk_order *o)
{
	enum bulk_outcome outcome = BULK_TOO_LONG;
	bool over = true;

	x->timeout_ms = o->timeout_ms;
	if (o->length == RMPP_LENGTH_UNKNOWN ||
	    o->length <= b->params.max_collect) {
		x->whole = whole_new(o->header, o->source, o->source_data,
				     b->params.max_collect);
		b->collected += whole_len(x->whole);
		over = collect(b, x, &outcome);
	}
	if (over && outcome == BULK_SENT) {
		b->stats.sent++;
		transfer_free(b, x);
		return BULK_AT_ONCE;
	}
	if (over) {
		end_later(b, x, outcome);
	} else {
		move_to(x, &b->collecting);
		ring_soon(b);
	}
	return x->id;
}

/* --------------------------------------------------------------- the clock */

static void
ring_ended(struct bulk *b)
{
	unsigned n = b->ended.length;	/* those of now */

	while (n-- > 0 && b->ended.head) {
		struct transfer *x = transfer_of(b->ended.head);
		uint32_t id = x->id;

		leave_list(x);
		tell_done(b, x, x->outcome, RMPP_STATUS_OK);
		x = transfer_find(b, id);
		if (x)
			transfer_free(b, x);
	}
}

static void
list_due(const GQueue *list, int64_t now, GArray *ids)
{
	for (GList *l = list->head; l; l = l->next) {
		int64_t when = deadline_of(transfer_of(l));

		if (when != RMPP_NO_DEADLINE && when <= now)
			g_array_append_val(ids, transfer_of(l)->id);
	}
}

static void
expire(struct bulk *b, uint32_t id, int64_t now)
{
	struct transfer *x = transfer_find(b, id);

	/* a callback before it may have ended it */
	if (!x || (!x->sender && !x->receiver))
		return;
	if (x->sender)
		rmpp_sender_expire(x->sender, now);
	else
		rmpp_receiver_expire(x->receiver, now);
	advance(b, x);
}

static void
ring_next(struct bulk *b)
{
	const GQueue *lists[] = { &b->active, &b->lingering };

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		for (GList *l = lists[i]->head; l; l = l->next)
			ring_at(b, deadline_of(transfer_of(l)));
	if (b->ended.head)
		ring_at(b, transport_now(b->transport));
}

static void
on_timer(void *data)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct bulk *b = data;
	int64_t now = transport_now(b->transport);

	b->timer = 0;
	ring_ended(b);
	collect_all(b);
	list_due(&b->active, now, ids);
	list_due(&b->lingering, now, ids);
	for (guint i = 0; i < ids->len; i++)
		expire(b, g_array_index(ids, uint32_t, i), now);
	ring_next(b);
}

/* --------------------------------------------------------------- receiving */

/* A receiver is made for what claims to be a first segment; whether it is one
 * the machine says. */
static struct transfer *
find_receiver(struct bulk *b, const struct transport_mad *m,
	      const struct mad_header *h, const struct rmpp_header *r)
{
	struct bulk_key key = bulk_key_make(BULK_KEY_RECEIVE, &m->addr, h,
				  h->method & MAD_METHOD_RESPONSE);
	struct transfer *x = g_hash_table_lookup(b->by_key, &key);
	struct mad_addr peer = bulk_key_peer(&m->addr);

	if (x || r->type != RMPP_TYPE_DATA ||
	    (r->segment != 1 && !(r->flags & RMPP_FLAG_FIRST)))
		return x;
	x = transfer_new(b, &key, &peer);
	x->receiver = rmpp_receiver_new(&b->params.rmpp,
					transport_now(b->transport));
	enroll(b, x);
	return x;
}

static struct transfer *
find_sender(struct bulk *b, const struct transport_mad *m,
	    const struct mad_header *h, const struct rmpp_header *r)
{
	struct bulk_key key = bulk_key_make(BULK_KEY_SEND, &m->addr, h,
				  (h->method ^ MAD_METHOD_RESPONSE) &
				  MAD_METHOD_RESPONSE);

	return r->type == RMPP_TYPE_DATA ? NULL :
		g_hash_table_lookup(b->by_key, &key);
}

static void
take_segment(struct bulk *b, const struct transport_mad *m,
	     const struct mad_header *h, const struct rmpp_header *r)
{
	int64_t now = transport_now(b->transport);
	struct transfer *x = find_sender(b, m, h, r);

	b->stats.segments_in++;
	if (!x)
		x = find_receiver(b, m, h, r);
	if (!x) {
		b->stats.strays++;
		return;
	}
	if (x->sender)
		rmpp_sender_receive(x->sender, m->mad, now);
	else
		rmpp_receiver_receive(x->receiver, m->mad, now);
	move_to(x, x->list);
	advance(b, x);
}

static bool
take_whole(struct bulk *b, const struct transport_mad *m)
{
	struct bulk_message message = {
		.from = bulk_key_peer(&m->addr), .header = m->mad,
		.data = m->mad + RMPP_SA_HEADER_LEN,
	};

	if (!whole_measure(m->mad, m->len, &message.len))
		return false;
	tell_message(b, &message);
	return true;
}

bool
bulk_offer(struct bulk *b, const struct transport_mad *m)
{
	struct mad_header h;
	struct rmpp_header r;

	if (m->event == TRANSPORT_RETURNED ||
	    !rmpp_header_read(m->mad, m->len, &r) ||
	    m->mad[OFF_CLASS] != MAD_CLASS_SA ||
	    !(r.flags & RMPP_FLAG_ACTIVE))
		return false;
	if (b->transport->rmpp)
		return take_whole(b, m);
	if (m->len != MAD_SIZE || !mad_header_read(m->mad, m->len, &h))
		return false;
	take_segment(b, m, &h, &r);
	return true;
}

static void
on_recv(const struct transport_mad *m, void *data)
{
	struct bulk *b = data;

	if (!bulk_offer(b, m) && b->next)
		b->next(m, b->next_data);
}

/* ----------------------------------------------------------------- sending */

/* What the peer said when the direction of a long request switched. */
static unsigned
granted_window(struct bulk *b, const struct bulk_order *o,
	       const struct mad_header *h)
{
	struct bulk_key key = bulk_key_make(BULK_KEY_RECEIVE, &o->to, h, 0);
	struct transfer *x = g_hash_table_lookup(b->by_key, &key);

	if (!(h->method & MAD_METHOD_RESPONSE) || !x)
		return 1;
	return rmpp_receiver_reply_window(x->receiver);
}

/* False if one is there that is not over. */
static bool
make_way(struct bulk *b, const struct bulk_key *key)
{
	struct transfer *x = g_hash_table_lookup(b->by_key, key);

	if (x && x->list == &b->active)
		return false;
	if (x)
		transfer_free(b, x);
	return true;
}

uint32_t
bulk_send(struct bulk *b, const struct bulk_order *o, bulk_done_fn done,
	  void *data)
{
	struct rmpp_message message = {
		.source = o->source, .data = o->source_data,
		.length = o->length,
	};
	uint8_t header[MAD_SIZE] = { 0 };
	struct mad_header h;
	struct transfer *x;
	struct bulk_key key;

	g_assert(done);
	memcpy(header, o->header, RMPP_SA_HEADER_LEN);
	mad_header_read(header, sizeof(header), &h);
	key = bulk_key_make(BULK_KEY_SEND, &o->to, &h, h.method & MAD_METHOD_RESPONSE);
	if (!make_way(b, &key))
		return 0;
	x = transfer_new(b, &key, &o->to);
	x->done = done;
	x->data = data;
	if (b->transport->rmpp)
		return send_whole(b, x, o);
	message.window = granted_window(b, o, &h);
	x->sender = rmpp_sender_new(&b->params.rmpp, header, &message,
				    transport_now(b->transport));
	enroll(b, x);
	send_all(b, x);
	ring_at(b, deadline_of(x));
	return x->id;
}

void
bulk_cancel(struct bulk *b, uint32_t id)
{
	struct transfer *x = transfer_find(b, id);

	if (!x || x->receiver || !x->done)
		return;
	if (x->sender) {
		rmpp_sender_abort(x->sender, RMPP_STATUS_UNSPECIFIED);
		send_all(b, x);
	}
	transfer_free(b, x);
}

/* --------------------------------------------------------------- interface */

struct bulk *
bulk_new(struct transport *t, const struct bulk_params *params)
{
	struct bulk *b = g_new0(struct bulk, 1);

	b->transport = t;
	b->params = params ? *params : bulk_params_default;
	g_assert(b->params.max_transfers > 0);
	b->by_key = g_hash_table_new(bulk_key_hash, bulk_key_equal);
	b->by_id = g_hash_table_new(NULL, NULL);
	g_queue_init(&b->active);
	g_queue_init(&b->lingering);
	g_queue_init(&b->collecting);
	g_queue_init(&b->ended);
	return b;
}

void
bulk_free(struct bulk *b)
{
	GQueue *lists[4];

	if (!b)
		return;
	g_assert(b->depth == 0);
	lists[0] = &b->active;
	lists[1] = &b->lingering;
	lists[2] = &b->collecting;
	lists[3] = &b->ended;
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		while (lists[i]->head)
			transfer_free(b, transfer_of(lists[i]->head));
	if (b->timer)
		transport_timer_cancel(b->transport, b->timer);
	if (b->intercepts)
		transport_set_receiver(b->transport, b->next, b->next_data);
	g_hash_table_unref(b->by_key);
	g_hash_table_unref(b->by_id);
	g_free(b);
}

void
bulk_intercept(struct bulk *b)
{
	g_assert(!b->intercepts);
	b->intercepts = true;
	b->next = b->transport->on_recv;
	b->next_data = b->transport->recv_data;
	transport_set_receiver(b->transport, on_recv, b);
}

void
bulk_set_receiver(struct bulk *b, bulk_message_fn fn, void *data)
{
	b->receiver = fn;
	b->receiver_data = data;
}

const struct bulk_stats *
bulk_stats(const struct bulk *b)
{
	return &b->stats;
}

unsigned
bulk_transfers(const struct bulk *b)
{
	return b->active.length + b->lingering.length;
}
