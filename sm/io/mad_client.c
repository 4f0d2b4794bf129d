// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transactions: requests, windows, retries.
 *
 * A request lives in one `struct mad_request` from mad_client_start() to its
 * end, and is always on exactly one of three lists:
 *
 *	queue	not sent yet; waits for room in the window
 *	wire	an attempt is out; in the order of deadlines, since all wait for
 *		the same time-out, those to slow peers for several in turn
 *	again	its attempt was refused by the transport, or answered with
 *		"busy", or its slow peer has another; is made again after a
 *		pause, in the order of that time
 *	retry	its last attempt is lost; waits for room in the window, by age
 *
 *	mad_client_start -> queue -> transmit -> wire -> on_answer -> done
 *	                          ^  ^      |
 *	                          |  +- again <- put_off (refused, busy)
 *	                          +- retry <- lose (timer, returned) -> done
 *
 * Every pending request has a place in one table, at its id modulo the size of
 * the table; ids count up and skip those whose place is taken. The TID on the
 * wire is the id's low 28 bits and 4 bits of attempt. So the low bits are a
 * slot, those above its generation, and a pair comes again only after 2^28
 * requests. The upper 32 bits of the TID are the transport's (the kernel puts
 * its agent there); they are neither set nor compared. An answer must also fit
 * its request: class, method, attribute, modifier, and on a directed route hops
 * and direction (IBA 13.4.6.4, 14.2.2). An answer that does not fit is dropped,
 * and the request waits on.
 *
 * A peer that needs longer than half a time-out for its answers would have its
 * queue filled with retries, and the answers to later requests would be lost. So
 * its next attempts wait a few time-outs more, up to SLOW_MAX, twice as long as
 * its last answer took, and go out one after the other: it takes one at a time,
 * and the time that a request spends behind others in its queue would count as
 * its own. The time is taken only from the first attempt, since an
 * answer to the last of several may be that of a lossy cable, and not after a
 * stall of this process, when all peers seem slow. It is forgotten with the first
 * quick answer, or when a request to it is lost; an answer to that which comes
 * later tells that the peer is as slow as can be. One that needs longer than
 * SLOW_MAX + 1 time-outs for an answer is lost: a request that waited for it, and
 * with it the sweep, would last longer still when it is dead.
 *
 * window.c decides how many SMPs may be on the wire. Every attempt takes room
 * there when it is sent, and gives it back when it is answered, returned or
 * lost; a retry also when answers to later SMPs have overtaken it (`cursor`
 * divides the wire list into those overtaken and those not). If it is given up
 * before, it leaves a ghost. GMPs, the Reports of the SA, take no room: they do
 * not pass the agents of switches.
 *
 * An attempt that was refused or answered with "busy" (IBA 13.4.7: "not
 * processed, try again") was not lost, and says nothing about the window. It is
 * made again after PAUSE_US, then after twice that, and so on, with the same
 * TID; when that takes longer than the time-out, it counts as lost. A refused
 * one keeps its room, so a transport that refuses everything gets a window's
 * worth of requests, and not all.
 *
 * The timer is not moved with every answer: it expires when the attempt that was
 * the oldest when it was set could be lost, and is then set for the attempt that
 * is the oldest by then. A busy second sets it a handful of times. If it is late,
 * this process stood still, and answers lie in the socket: they are read before
 * any attempt counts as lost.
 */
#include "sm/io/mad_client.h"

#include <string.h>

#include "sm/mad/smp.h"

#define TABLE_MIN	4096u
#define PAUSE_US	1000	/* of an attempt that is made again */

#define ATTEMPT_BITS	MAD_CLIENT_ATTEMPT_BITS
#define ATTEMPT_MASK	0xfu
#define TID_ID_MASK	0x0fffffffu	/* the part of an id in a TID */
#define LATE_SPAN	0x00100000u	/* ids remembered as once ours */
#define SLOW_MAX	4	/* more time-outs that a slow peer has */
#define LATE_WAIT	12	/* time-outs after a request's end */
#define KEPT_MAX	64u	/* SMPs with the transport when one may stay */
#define SLOW_LATE	0x10u	/* beside those: it has answered too late */
#define SLOW_PEERS_MAX	1024u
#define HELD_US		(20 * 1000)	/* behind another request to its peer */
#define STALL_US	50000	/* so late, a timer tells that we were slow */
#define READ_US		10000	/* then answers are read before all else */
#define STOOD_US	1000000	/* half of the time after which a master that is
				   silent is given up */

struct mad_request {
	GList link;
	GQueue *list;		/* on which it is; NULL: none */
	bool room;		/* it has room in the window */
	uint32_t id;
	uint32_t attempt;	/* sent so far */
	bool accepted;		/* the transport took the last one */
	bool lost;		/* one that it took was lost */
	int64_t pause;		/* before the last one was made again, us; 0:
				   it was made once */
	int64_t until;		/* it is made again, at the latest */
	uint64_t seq;		/* of the last attempt */
	int64_t began;		/* how many were started before */
	int64_t deadline;	/* again: when it is made; retry: `began`. The
				   oldest goes first: when many are lost at once,
				   the first of them ends soon, instead of all
				   of them late */
	unsigned more;		/* time-outs that it waits beyond that */
	int64_t since;		/* the first attempt was sent, us */
	mad_client_done_fn done;
	void *data;
	uint64_t tag;
	struct mad_header header;
	struct mad_addr to;
	void *peer;		/* peer_hash(), of an SMP */
	uint8_t mad[MAD_SIZE];
};

static void mad_client_on_timer(void *data);

/* ------------------------------------------------ requests and their ids */

static struct mad_request *
request_of(GList *link)
{
	return link->data;
}

static void
table_add(struct mad_client *x, struct mad_request *r)
{
	if (x->pending > x->table_mask / 2) {
		uint32_t old_size = x->table_mask + 1;
		uint32_t mask = 2 * old_size - 1;
		struct mad_request **table = g_new0(struct mad_request *,
						    2 * old_size);

		/* Two ids apart modulo the old size are apart modulo its
		 * double. */
		g_assert(mask <= TID_ID_MASK);
		for (uint32_t i = 0; i < old_size; i++)
			if (x->table[i])
				table[x->table[i]->id & mask] = x->table[i];
		g_free(x->table);
		x->table = table;
		x->table_mask = mask;
	}
	do {
		x->last_id++;
	} while (x->last_id == 0 || x->table[x->last_id & x->table_mask]);
	r->id = x->last_id;
	x->table[r->id & x->table_mask] = r;
	r->began = (int64_t)x->started++;
	x->pending++;
}

static uint32_t
request_tid(const struct mad_request *r)
{
	return r->id << ATTEMPT_BITS | (1 + (r->attempt - 1) % ATTEMPT_MASK);
}

static struct mad_request *
find_by_tid(const struct mad_client *x, uint32_t tid)
{
	uint32_t part = tid >> ATTEMPT_BITS;
	uint32_t bits = tid & ATTEMPT_MASK;
	struct mad_request *r = x->table[part & x->table_mask];

	if (!r || (r->id & TID_ID_MASK) != part)
		return NULL;
	if (bits == 0 || bits > r->attempt)
		return NULL;	/* an attempt that was never made */
	return r;
}

static bool
is_smp(const struct mad_request *r)
{
	return r->peer != NULL;
}

static void *
path_hash(uint64_t hash, const uint8_t *path, unsigned hops)
{
	for (unsigned i = 0; i <= hops; i++)
		hash = hash * 1099511628211u + 1 + path[i];
	return GSIZE_TO_POINTER(hash);
}

static bool
is_smp_header(const struct mad_header *h)
{
	return h->mgmt_class == MAD_CLASS_SMP_DIRECT ||
		h->mgmt_class == MAD_CLASS_SMP_LID;
}

/* By directed route: of its path, which the answer has, too. Two with one hash
 * cost a retry, or a wait. NULL: no SMP. */
static void *
peer_hash(const struct mad_header *h, uint16_t lid, const uint8_t *mad)
{
	if (!is_smp_header(h))
		return NULL;
	return path_hash(h->mgmt_class == MAD_CLASS_SMP_DIRECT ? 0 : lid,
			 mad + SMP_INITIAL_PATH,
			 MIN(h->hop_count, DR_MAX_HOPS));
}

/* Time-outs that it has beyond the first. A master that does not answer polls must
 * be noticed soon. */
static unsigned
more_time(const struct mad_client *x, const struct mad_request *r)
{
	if (!g_hash_table_size(x->slow) ||
	    r->header.attr_id == MAD_ATTR_SM_INFO)
		return 0;
	return GPOINTER_TO_UINT(g_hash_table_lookup(x->slow, r->peer)) &
		~SLOW_LATE;
}

static unsigned
slow_of(const struct mad_client *x, const struct dr_path *path)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(x->slow,
			path_hash(0, path->port, path->hops)));
}

bool
mad_client_is_late(const struct mad_client *x, const struct dr_path *path)
{
	return slow_of(x, path) & SLOW_LATE;
}

bool
mad_client_knows_slow(const struct mad_client *x)
{
	return g_hash_table_size(x->slow) > 0;
}

bool
mad_client_is_slow(const struct mad_client *x, const struct dr_path *path)
{
	return slow_of(x, path) & ~SLOW_LATE;
}

/* more 0: a request to it is lost. Paths that are used no more stay until there are
 * too many; thousands of dead nodes displace none that is slow. */
static void
keep_peer(struct mad_client *x, void *peer, unsigned more)
{
	more |= GPOINTER_TO_UINT(g_hash_table_lookup(x->slow, peer)) &
		SLOW_LATE;
	g_hash_table_remove(x->slow, peer);
	if (more && g_hash_table_size(x->slow) >= SLOW_PEERS_MAX)
		g_hash_table_remove_all(x->slow);
	if (g_hash_table_size(x->slow) < SLOW_PEERS_MAX)
		g_hash_table_insert(x->slow, peer, GUINT_TO_POINTER(more));
}

/* Says the time since it was sent something about its peer? */
static bool
is_timed(const struct mad_client *x, const struct mad_request *r)
{
	return is_smp(r) && r->since > x->stalled;
}

static void
room_release(struct mad_client *x, struct mad_request *r)
{
	if (r->room)
		window_release(&x->window, r->attempt > 1);
	r->room = false;
}

static void
note_answered(struct mad_client *x, uint64_t seq)
{
	if (!window_answered(&x->window, seq))
		return;
	while (x->cursor) {
		struct mad_request *r = request_of(x->cursor);

		if (!window_overtook(&x->window, r->seq))
			break;
		if (r->attempt > 1)
			room_release(x, r);
		x->cursor = x->cursor->next;
	}
}

/* -------------------------------------------------------------- sending */

static void
drop(struct mad_client *x, const char *reason, const struct transport_mad *m)
{
	if (!x->drop)
		return;
	x->depth++;
	x->drop(reason, m, x->drop_data);
	x->depth--;
}

static int64_t
first_deadline(const GQueue *list)
{
	return list->head ? request_of(list->head)->deadline : INT64_MAX;
}

/* With nothing on the wire the timer is for the expiry of a ghost; without a
 * ghost, advance() is about to be called. */
static void
arm_timer(struct mad_client *x)
{
	int64_t when = -1;

	if (x->wire.head || x->again.head)
		when = MIN(first_deadline(&x->wire), first_deadline(&x->again));
	else if (x->queue.head || x->retry.head || x->pump)
		when = window_next_expiry(&x->window);
	if (when >= 0)
		when = MAX(when, x->read_until);
	/* One that was set for a ghost may expire too late for a request. */
	if (when < 0 || (x->timer && x->timer_at <= when))
		return;
	transport_timer_clear(x->transport, &x->timer);
	x->timer_at = when;
	x->timer = transport_timer_start(x->transport, when,
					 mad_client_on_timer, x);
}

/* In `again` or `retry`. */
static void
wait_in(GQueue *list, struct mad_request *r, int64_t deadline)
{
	GList *behind = list->tail;

	r->deadline = deadline;
	r->list = list;
	while (behind && request_of(behind)->deadline > deadline)
		behind = behind->prev;
	g_queue_insert_after_link(list, behind, &r->link);
}

/* A request that is on no list: its attempt is made once more after a pause, as
 * long as there is time for it. False: there is none. */
static bool
put_off(struct mad_client *x, struct mad_request *r, int64_t now)
{
	int64_t pause = r->pause ? 2 * r->pause : PAUSE_US;

	if (!r->pause)
		r->until = now + (int64_t)x->params.timeout_ms * 1000;
	if (now + pause > r->until)
		return false;
	r->pause = pause;
	wait_in(&x->again, r, now + pause);
	return true;
}

static void
count_sent(struct mad_client *x, const struct mad_request *r, int64_t now)
{
	unsigned i = MIN(r->header.attr_id, MAD_CLIENT_ATTRS - 1);
	bool is_set = r->header.method == MAD_METHOD_SET;

	x->stats.sent++;
	if (is_smp(r))
		(is_set ? x->stats.sets : x->stats.gets)[i]++;
	if (is_smp(r) && is_set)
		x->set_at = now;
	x->stats.sent_set += is_set;
	x->stats.retried += r->attempt > 1;
}

/* For a time-out from now. */
static void
wait_on_wire(struct mad_client *x, struct mad_request *r, int64_t now)
{
	r->list = &x->wire;
	r->deadline = now + (int64_t)x->params.timeout_ms * 1000;
	g_queue_push_tail_link(&x->wire, &r->link);
	if (!x->cursor)
		x->cursor = &r->link;
}

/* An attempt that the transport refuses for good will be lost: it keeps its
 * room until then. */
static void
transmit(struct mad_client *x, struct mad_request *r)
{
	unsigned timeout_ms = x->params.timeout_ms;
	int64_t now = transport_now(x->transport);
	g_autoptr(GError) error = NULL;
	GList *other = is_smp(r) && !r->room && more_time(x, r) ?
		x->wire.head : NULL;

	/* another one is on its way to its peer, which is slow */
	while (other && request_of(other)->peer != r->peer)
		other = other->next;
	if (other) {
		wait_in(&x->again, r, now + HELD_US);
		arm_timer(x);
		return;
	}
	room_release(x, r);
	r->attempt += !r->pause;
	r->room = is_smp(r);
	if (!r->lost)
		r->since = now;
	r->more = r->room ? more_time(x, r) : 0;
	r->seq = r->room ? window_take(&x->window, r->attempt > 1) : 0;
	/* A kernel that gave up on an attempt drops its late answer: it keeps an
	 * SMP until the request ends, and the first attempt longer, since a late
	 * answer tells of a slow peer. It may send only 128 SMPs and a few GMPs
	 * at a time, so those to peers that do not answer must not block others.
	 * A simulator never returns one: these count no longer than the rest. */
	if (now > x->kept_until)
		x->n_kept = 0;
	if (r->room && x->n_kept < KEPT_MAX) {
		timeout_ms *= (x->params.retries + 2 - r->attempt) *
			(1 + r->more) + (r->attempt == 1 ? LATE_WAIT : 0);
		x->kept_until = MAX(x->kept_until, now + timeout_ms * (int64_t)1000);
	} else if (r->room) {
		timeout_ms *= 1 + r->more;
	}
	mad_set_tid(r->mad, request_tid(r));
	r->accepted = transport_send(x->transport, &r->to, r->mad, MAD_SIZE,
				     timeout_ms, &error);
	if (!r->accepted)
		drop(x, error ? error->message : "send failed",
		     &(struct transport_mad){
			.event = TRANSPORT_RETURNED, .addr = r->to,
			.mad = r->mad, .len = MAD_SIZE });
	if (r->accepted ||
	    !g_error_matches(error, TRANSPORT_ERROR, TRANSPORT_ERROR_AGAIN) ||
	    !put_off(x, r, now)) {
		wait_on_wire(x, r, now);
	}
	if (r->accepted) {
		x->n_kept += r->room;
		count_sent(x, r, now);
	}
	arm_timer(x);
}

/* After anything that may have made room; never from inside a callback. */
static void
advance(struct mad_client *x)
{
	bool more = true;
	uint64_t before;

	if (x->depth > 0)
		return;
	for (;;) {
		while (x->retry.head && window_left(&x->window, true) > 0)
			transmit(x, g_queue_pop_head_link(&x->retry)->data);
		while (x->queue.head && window_left(&x->window, false) > 0)
			transmit(x, g_queue_pop_head_link(&x->queue)->data);
		arm_timer(x);
		if (!more || !x->pump || mad_client_room(x) == 0)
			return;
		before = x->started;
		x->depth++;
		x->pump(x->pump_data);
		x->depth--;
		more = x->started != before;
	}
}

static void
on_kick(void *data)
{
	struct mad_client *x = data;

	x->kick = 0;
	advance(x);
}

/* There is room now, but the caller may not be ready for a callback: it comes
 * from the main loop. */
static void
kick_later(struct mad_client *x)
{
	if (x->depth > 0 || x->kick)
		return;
	if (!x->pump && !x->queue.head && !x->retry.head)
		return;
	x->kick = transport_timer_in(x->transport, 0, on_kick, x);
}

/* ------------------------------------------------------- ends of requests */

/* Removes it from its list. Its last attempt becomes a ghost, unless there is a
 * sign that it arrived. */
static void
leave_list(struct mad_client *x, struct mad_request *r)
{
	bool is_out = r->list == &x->wire && r->room && r->accepted;

	if (x->cursor == &r->link)
		x->cursor = r->link.next;
	if (r->list)
		g_queue_unlink(r->list, &r->link);
	r->list = NULL;
	room_release(x, r);
	if (is_out)
		window_add_ghost(&x->window, r->seq, request_tid(r),
				 transport_now(x->transport));
}

static void
forget(struct mad_client *x, struct mad_request *r)
{
	leave_list(x, r);
	x->table[r->id & x->table_mask] = NULL;
	x->pending--;
	g_free(r);
}

static void
count_end(struct mad_client *x, const struct mad_request *r,
	  enum mad_client_end end)
{
	enum mad_client_class class = is_smp(r) ? MAD_CLIENT_SMP :
		r->header.mgmt_class == MAD_CLASS_SA ? MAD_CLIENT_SA :
		MAD_CLIENT_OTHER;

	x->ended[class][MIN(r->header.attr_id, MAD_CLIENT_ATTRS - 1)][end]++;
}

static void
finish(struct mad_client *x, struct mad_request *r,
       const struct mad_client_answer *a)
{
	mad_client_done_fn done = r->done;
	void *data = r->data;
	uint64_t tag = r->tag;

	forget(x, r);
	x->depth++;
	done(a, data, tag);
	x->depth--;
}

/* The last attempt is lost: try again, or give up. */
static void
lose(struct mad_client *x, struct mad_request *r)
{
	const struct mad_client_answer none = { .outcome =
							MAD_CLIENT_TIMED_OUT };

	r->lost |= r->accepted;
	r->pause = 0;
	if (r->attempt > x->params.retries) {
		if (is_timed(x, r))
			keep_peer(x, r->peer, 0);
		else if (is_smp(r))
			g_hash_table_remove(x->slow, r->peer);
		x->stats.timed_out++;
		count_end(x, r, MAD_CLIENT_LOST);
		finish(x, r, &none);
		return;
	}
	leave_list(x, r);
	if (is_smp(r))
		wait_in(&x->retry, r, r->began);
	else
		transmit(x, r);
}

/* Did this process, or its machine, stand still until now? Told once. */
static void
note_stall(struct mad_client *x, int64_t now)
{
	int64_t late = now - x->timer_at;

	if (late <= STALL_US)
		return;
	/* Once: a machine may do so all the time. */
	if (x->timer_at != x->read_until)
		x->read_until = now + READ_US;
	x->stalled = x->timer_at = now;
	if (late < STOOD_US || !x->stood)
		return;
	x->depth++;
	x->stood(x->stood_data);
	x->depth--;
}

static void
mad_client_on_timer(void *data)
{
	struct mad_client *x = data;
	int64_t now = transport_now(x->transport);
	struct mad_request *r;

	x->timer = 0;
	note_stall(x, now);
	if (now < x->read_until) {
		advance(x);
		return;
	}
	window_expire_ghosts(&x->window, now);
	while (first_deadline(&x->wire) <= now) {
		r = request_of(x->wire.head);
		if (!r->more || !r->accepted) {
			lose(x, r);
			continue;
		}
		r->more--;
		if (x->cursor == &r->link)
			x->cursor = r->link.next;
		g_queue_unlink(&x->wire, &r->link);
		wait_on_wire(x, r, now);
	}
	while (first_deadline(&x->again) <= now) {
		r = request_of(g_queue_pop_head_link(&x->again));
		/* an answered one has left its room */
		if (is_smp(r) && !r->room)
			wait_in(&x->retry, r, r->began);
		else
			transmit(x, r);
	}
	advance(x);
}

/* ------------------------------------------------------------- receiving */

/* NULL if it is the answer to r. */
static const char *
misfit(const struct mad_request *r, const struct mad_header *h)
{
	const struct mad_header *q = &r->header;
	unsigned method = q->method | MAD_METHOD_RESPONSE;

	if (q->method == MAD_METHOD_SET)
		method = MAD_METHOD_GET_RESP;	/* IBA 13.4.5 */
	if (h->mgmt_class != q->mgmt_class)
		return "answer of another class";
	if (h->method != method)
		return "answer with another method";
	if (h->attr_id != q->attr_id)
		return "answer with another attribute";
	if (h->attr_mod != q->attr_mod)
		return "answer with another attribute modifier";
	if (h->hop_count != q->hop_count)
		return "answer with another hop count";
	if (q->mgmt_class == MAD_CLASS_SMP_DIRECT && !h->returning)
		return "answer with the direction of a request";
	return NULL;
}

/* No request has this TID. It was ours if the id was in use not long ago. */
static void
on_stray(struct mad_client *x, const struct transport_mad *m,
	 const struct mad_header *h)
{
	uint32_t tid = h->tid;
	uint32_t age = (x->last_id - (tid >> ATTEMPT_BITS)) & TID_ID_MASK;
	void *peer = peer_hash(h, m->addr.lid, m->mad), *more;

	note_answered(x, window_end_ghost(&x->window, tid));
	if (tid & ATTEMPT_MASK && age < MIN(x->started, LATE_SPAN)) {
		/* cancelled, or answered by another attempt: no fault; or
		 * given up */
		if (g_hash_table_lookup_extended(x->slow, peer, NULL, &more) &&
		    !(GPOINTER_TO_UINT(more) & ~SLOW_LATE))
			keep_peer(x, peer, SLOW_MAX | SLOW_LATE);
	} else {
		drop(x, "response without a request", m);
	}
	advance(x);
}

static bool
is_current(const struct mad_client *x, const struct mad_request *r,
	   uint32_t tid)
{
	return r->list == &x->wire && request_tid(r) == tid;
}

/* The attempt with this TID is no longer in a queue. */
static void
attempt_arrived(struct mad_client *x, struct mad_request *r, uint32_t tid)
{
	if (!is_current(x, r, tid)) {
		note_answered(x, window_end_ghost(&x->window, tid));
		return;
	}
	room_release(x, r);
	note_answered(x, r->seq);
}

/* What an answer says about the window, and about its peer. */
static void
on_pace(struct mad_client *x, const struct mad_request *r, uint32_t tid)
{
	int64_t waited = transport_now(x->transport) - r->since;
	int64_t more = 2 * waited / (x->params.timeout_ms * (int64_t)1000);
	bool current = is_current(x, r, tid);

	if (current && r->lost) {
		window_halve(&x->window, r->seq);
		return;
	}
	if (current)
		window_adapt(&x->window, waited);
	if (is_timed(x, r) && more > 0)
		keep_peer(x, r->peer, (unsigned)MIN(more, SLOW_MAX));
	else if (is_timed(x, r) && g_hash_table_size(x->slow))
		g_hash_table_remove(x->slow, r->peer);
}

static void
mad_client_on_answer(struct mad_client *x, const struct transport_mad *m,
		     const struct mad_header *h)
{
	struct mad_request *r = find_by_tid(x, h->tid);
	struct mad_client_answer a = { .outcome = MAD_CLIENT_ANSWERED };
	const char *reason;
	bool current;

	if (!r) {
		on_stray(x, m, h);
		return;
	}
	reason = misfit(r, h);
	if (reason) {
		drop(x, reason, m);
		advance(x);
		return;
	}
	if (h->status & MAD_STATUS_BUSY) {
		current = is_current(x, r, h->tid);
		attempt_arrived(x, r, h->tid);
		if (current) {
			leave_list(x, r);
			if (!put_off(x, r, transport_now(x->transport)))
				lose(x, r);
			arm_timer(x);
		}
		advance(x);
		return;
	}
	if (is_smp(r))
		on_pace(x, r, h->tid);
	attempt_arrived(x, r, h->tid);
	a.mad = m->mad;
	a.header = *h;
	x->stats.recovered += r->lost;
	count_end(x, r, h->status ? MAD_CLIENT_REFUSED : MAD_CLIENT_DONE);
	finish(x, r, &a);
	advance(x);
}

static void
on_mad(const struct transport_mad *m, void *data)
{
	struct mad_client *x = data;
	struct sa_message message;
	struct mad_header h;
	struct mad_request *r;
	int64_t now = transport_now(x->transport);

	if (x->timer)
		note_stall(x, now);
	if (now - x->heard > STOOD_US)
		x->quiet_until = now;
	x->heard = now;
	if (x->message && sa_message_read(m, &message)) {
		x->message(&message, x->message_data);
		return;
	}
	if (!mad_header_read(m->mad, m->len, &h)) {
		drop(x, "short MAD", m);
		advance(x);
		return;
	}
	if (x->n_kept && is_smp_header(&h) &&
	    (m->event == TRANSPORT_RETURNED || h.method & MAD_METHOD_RESPONSE))
		x->n_kept--;
	/* Only the current attempt counts: the one after an older one is out.
	 * An answer of ours that its client did not acknowledge has the
	 * client's TID. */
	if (m->event == TRANSPORT_RETURNED) {
		if (h.method & MAD_METHOD_RESPONSE)
			return;
		r = find_by_tid(x, h.tid);
		if (!r || !is_current(x, r, h.tid)) {
			window_end_ghost(&x->window, h.tid);
		} else {
			room_release(x, r);
			lose(x, r);
		}
		advance(x);
		return;
	}
	if (h.method & MAD_METHOD_RESPONSE) {
		mad_client_on_answer(x, m, &h);
		return;
	}
	if (x->serve) {
		x->depth++;
		x->serve(m, &h, x->serve_data);
		x->depth--;
	}
	advance(x);
}

/* ------------------------------------------------------------- interface */

struct mad_client *
mad_client_new(struct transport *t, const struct mad_client_params *params)
{
	struct mad_client *x = g_new0(struct mad_client, 1);

	x->transport = t;
	x->params = *params;
	window_init(&x->window, params->max_wire);
	x->table = g_new0(struct mad_request *, TABLE_MIN);
	x->table_mask = TABLE_MIN - 1;
	x->slow = g_hash_table_new(NULL, NULL);
	x->stalled = -1;
	transport_set_receiver(t, on_mad, x);
	return x;
}

void
mad_client_free(struct mad_client *x)
{
	if (!x)
		return;
	g_assert(x->depth == 0);
	transport_set_receiver(x->transport, NULL, NULL);
	transport_timer_clear(x->transport, &x->timer);
	transport_timer_clear(x->transport, &x->kick);
	window_clear(&x->window);
	for (uint32_t i = 0; i <= x->table_mask; i++)
		g_free(x->table[i]);
	g_free(x->table);
	g_hash_table_unref(x->slow);
	g_free(x);
}

uint32_t
mad_client_start(struct mad_client *x, const struct mad_addr *to,
	   const uint8_t mad[MAD_SIZE], mad_client_done_fn done,
	   void *data, uint64_t tag)
{
	struct mad_request *r = g_new(struct mad_request, 1);

	*r = (struct mad_request){
		.link.data = r, .done = done, .data = data, .tag = tag,
		.to = *to,
	};
	memcpy(r->mad, mad, MAD_SIZE);
	mad_header_read(r->mad, MAD_SIZE, &r->header);
	r->peer = peer_hash(&r->header, to->lid, mad);
	g_assert(!x->params.only_reads || r->header.method == MAD_METHOD_GET);
	table_add(x, r);

	if (!is_smp(r) || mad_client_room(x) > 0) {
		transmit(x, r);
	} else {
		r->list = &x->queue;
		g_queue_push_tail_link(&x->queue, &r->link);
		arm_timer(x);
	}
	return r->id;
}

void
mad_client_cancel(struct mad_client *x, uint32_t id)
{
	struct mad_request *r = x->table[id & x->table_mask];

	if (!r || r->id != id)
		return;
	count_end(x, r, MAD_CLIENT_CANCELLED);
	forget(x, r);
	kick_later(x);
}

void
mad_client_cancel_owner(struct mad_client *x, const void *data)
{
	for (uint32_t i = 0; i <= x->table_mask; i++) {
		struct mad_request *r = x->table[i];

		if (r && r->data == data)
			mad_client_cancel(x, r->id);
	}
}

unsigned
mad_client_room(const struct mad_client *x)
{
	return x->queue.head ? 0 : window_left(&x->window, false);
}

bool
mad_client_set_pump(struct mad_client *x, mad_client_pump_fn fn, void *data)
{
	if (fn ? x->pump != NULL : x->pump_data != data)
		return false;
	x->pump = fn;
	x->pump_data = data;
	if (fn)
		kick_later(x);
	return true;
}
