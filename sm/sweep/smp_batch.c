// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A batch of SMPs.
 *
 * Method. pump() fills the window from next(); each reply makes room and pumps
 * again. A batch ends when next() has no request and none is in flight.
 *
 * Unreachable nodes. A directed route passes the management agent of every
 * switch on its way (IBA 14.2.2), so no node behind a switch that does not
 * answer can be reached through it. Without this memory, a cable pulled during
 * a stage would cost a time-out for each request to the nodes behind it. Each
 * agent has a flag: a switch at its port 0, a CA or router at each port. A
 * request follows the entry ports of the snapshot back to the SM, as its
 * directed route does, and looks for a flag.
 *
 * Losses. All attempts of one request may be lost on a fabric that loses every
 * tenth SMP: once in 10,000 requests. In the stages of a heavy sweep, which
 * would have to be done again for it, it is sent once more before its node
 * counts as silent; others have a next time soon. An agent to which a second
 * request is lost, too, is dead, unless one on the way to it may be.
 */
#include "sm/sweep/smp_batch.h"

#include <string.h>

#define IN_FLIGHT	16u	/* beside a batch that has the window */
#define HURRY_TIMES	2	/* time-outs of a host when something else waits */

struct flight {
	GList link;		/* in the queue */
	struct smp_request request;
	uint32_t id;
	int64_t since;		/* it was sent */
	bool is_second;		/* it was sent once more */
};

struct smp_batch {
	struct mad_client *x;
	const struct snapshot *s;
	const struct mkey_db *keys;
	struct smp_stage stage;
	GQueue flights;		/* struct flight, in the order of sending */
	unsigned timer;		/* until the first request */
	unsigned hurry;		/* see smp_batch_hurry() */
	bool idle;		/* done() was called, and no request since */
	uint8_t *unreachable;	/* by port: flag of the agent; NULL: none is
				   set */
	uint8_t *lossy;		/* the same: a request was sent once more */
};

static void batch_pump(void *data);

/* ------------------------------------------------------------ unreachable */

/* Is there a flag on the path to this port, its own agent included? flags may be
 * NULL. */
static bool
passes_flag(const struct smp_batch *b, const uint8_t *flags, uint32_t port)
{
	const struct snapshot *s = b->s;

	if (!flags)
		return false;
	for (unsigned hops = 0; hops <= DR_MAX_HOPS; hops++) {
		uint32_t agent = snapshot_holder_of(s, port);
		const struct snapshot_node *n = snapshot_node_of(s, agent);

		if (flags[agent])
			return true;
		if (agent == s->local_port)
			return false;
		port = snapshot_is_switch(n) ? n->entry : s->ports[agent].peer;
		if (port == SNAPSHOT_NONE)
			return false;
	}
	return false;
}

static bool
is_reachable(const struct smp_batch *b, uint32_t port)
{
	return !passes_flag(b, b->unreachable, port);
}

static struct smp_request
flight_end(struct smp_batch *b, struct flight *f)
{
	struct smp_request r = f->request;

	g_queue_unlink(&b->flights, &f->link);
	g_free(f);
	return r;
}

static void
note_late(struct smp_batch *b, const struct smp_request *r, bool is_refused)
{
	if (r->set && b->stage.late)
		b->stage.late(b->stage.late_data, snapshot_node_of(b->s,
				r->port)->info.node_guid, r, is_refused);
}

/* It has no answer. */
static struct smp_request
flight_lose(struct smp_batch *b, struct flight *f)
{
	struct smp_request r = flight_end(b, f);

	note_late(b, &r, false);
	return r;
}

/* Ends what is in flight and `ends`, in the order of sending, so that a run can be
 * repeated exactly. A reply may end others: the search begins anew. */
static void
batch_cancel(struct smp_batch *b, enum smp_outcome outcome,
	     bool (*ends)(const struct smp_batch *b, const struct flight *f))
{
	const struct smp_reply cancelled = { .outcome = outcome };
	GList *at = b->flights.head;

	while (at) {
		struct flight *f = at->data;
		struct smp_request r;

		if (!ends(b, f)) {
			at = at->next;
			continue;
		}
		mad_client_cancel(b->x, f->id);
		r = flight_lose(b, f);
		b->stage.reply(b->stage.data, &r, &cancelled);
		at = b->flights.head;
	}
}

static bool
lies_behind(const struct smp_batch *b, const struct flight *f)
{
	return !is_reachable(b, f->request.port);
}

void
smp_batch_set_unreachable(struct smp_batch *b, uint32_t port)
{
	if (!b->unreachable)
		b->unreachable = g_new0(uint8_t, b->s->n_ports + 1u);
	b->unreachable[snapshot_holder_of(b->s, port)] = true;
	batch_cancel(b, SMP_CANCELLED, lies_behind);
}

static bool
is_slow_host(const struct smp_batch *b, const struct flight *f)
{
	return !snapshot_is_switch(snapshot_node_of(b->s, f->request.port)) &&
		transport_now(b->x->transport) - f->since >=
		HURRY_TIMES * (int64_t)b->x->params.timeout_ms * 1000;
}

static void
batch_on_hurry(void *data)
{
	struct smp_batch *b = data;

	b->hurry = 0;
	batch_cancel(b, SMP_TIMED_OUT, is_slow_host);
	if (b->flights.length)
		b->hurry = transport_timer_in(b->x->transport,
			b->x->params.timeout_ms * (int64_t)500, batch_on_hurry,
			b);
	batch_pump(b);
}

void
smp_batch_hurry(struct smp_batch *b)
{
	if (b && !b->hurry)
		b->hurry = transport_timer_in(b->x->transport, 0,
					      batch_on_hurry, b);
}

/* ---------------------------------------------------------------- sending */

static bool
is_sent_again(struct smp_batch *b, const struct flight *f)
{
	uint32_t port = f->request.port, agent;
	bool is_first, is_behind;

	if (f->is_second || !b->stage.again ||
	    !b->stage.again(b->stage.data, &f->request))
		return false;
	if (!b->s)
		return true;
	if (!b->lossy)
		b->lossy = g_new0(uint8_t, b->s->n_ports + 1u);
	agent = snapshot_holder_of(b->s, port);
	is_first = !b->lossy[agent];
	b->lossy[agent] = false;
	is_behind = passes_flag(b, b->lossy, port);
	b->lossy[agent] = true;
	return is_first || is_behind;
}

static void batch_on_answer(const struct mad_client_answer *a, void *data,
			    uint64_t flight);

static void
batch_start(struct smp_batch *b, struct flight *f)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct smp_request *r = &f->request;
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, r->set ? MAD_METHOD_SET : MAD_METHOD_GET,
			 r->attr, r->modifier, r->key, &r->path);
	if (r->set)
		memcpy(smp_data(mad), r->data, SMP_DATA_LEN);
	g_queue_push_tail_link(&b->flights, &f->link);
	f->id = mad_client_start(b->x, &direct, mad, batch_on_answer, b,
				 (uintptr_t)f);
}

static void
batch_on_answer(const struct mad_client_answer *a, void *data, uint64_t flight)
{
	struct smp_batch *b = data;
	struct flight *f = (void *)(uintptr_t)flight;
	struct smp_reply reply = { .outcome = SMP_TIMED_OUT };
	struct smp_request r;

	if (a->outcome != MAD_CLIENT_ANSWERED && is_sent_again(b, f)) {
		f->is_second = true;
		g_queue_unlink(&b->flights, &f->link);
		batch_start(b, f);
		return;
	}
	r = a->outcome == MAD_CLIENT_ANSWERED ? flight_end(b, f) :
		flight_lose(b, f);
	if (a->outcome == MAD_CLIENT_ANSWERED)
		reply = (struct smp_reply){
			.outcome = SMP_ANSWERED,
			.status = a->header.status,
			.data = smp_data_const(a->mad),
		};
	if (reply.status)
		note_late(b, &r, true);
	b->stage.reply(b->stage.data, &r, &reply);
	batch_pump(b);
}

static void
batch_send(struct smp_batch *b, struct smp_request *r)
{
	struct smp_reply not_sent = { .outcome = SMP_ANSWERED };
	struct flight *f;

	if (!r->addressed) {
		if (!is_reachable(b, r->port))
			not_sent.outcome = SMP_UNREACHABLE;
		else if (!snapshot_path(b->s, r->port, &r->path))
			not_sent.outcome = SMP_TOO_FAR;
		else
			r->key = mkey_db_at(b->keys, b->s, r->port);
	}
	if (not_sent.outcome != SMP_ANSWERED) {
		b->stage.reply(b->stage.data, r, &not_sent);
		return;
	}
	f = g_new(struct flight, 1);
	*f = (struct flight){ .link.data = f, .request = *r,
			      .since = transport_now(b->x->transport) };
	batch_start(b, f);
}

static void
batch_pump(void *data)
{
	struct smp_batch *b = data;
	const struct smp_stage stage = b->stage;
	struct smp_request r;
	bool has_more;

	while (!b->idle) {
		do {
			if (stage.max_in_flight ?
			    b->flights.length >= stage.max_in_flight :
			    !mad_client_room(b->x))
				return;
			memset(&r, 0, sizeof(r));
			has_more = stage.next(stage.data, &r);
			if (has_more)
				batch_send(b, &r);
		} while (has_more);
		if (b->flights.length || b->timer)
			return;
		b->idle = true;
		if (stage.done && stage.done(stage.data)) {
			b->idle = false;
			continue;
		}
		if (!stage.end)		/* done() may have freed the batch */
			return;
		b->stage.free = NULL;
		smp_batch_free(b);
		stage.end(stage.data);
		if (stage.free)
			stage.free(stage.data);
		return;
	}
}

static void
batch_on_start(void *data)
{
	struct smp_batch *b = data;

	b->timer = 0;
	batch_pump(b);
}

/* -------------------------------------------------------------- interface */

struct smp_batch *
smp_batch_start(struct mad_client *x, const struct snapshot *s,
		const struct mkey_db *keys, const struct smp_stage *stage)
{
	struct smp_batch *b = g_new0(struct smp_batch, 1);

	b->x = x;
	b->s = s;
	b->keys = keys;
	b->stage = *stage;
	g_queue_init(&b->flights);
	if (!stage->max_in_flight && !mad_client_set_pump(x, batch_pump, b))
		b->stage.max_in_flight = IN_FLIGHT;
	b->timer = transport_timer_start(x->transport, 0,
					 batch_on_start, b);
	return b;
}

void
smp_batch_free(struct smp_batch *b)
{
	if (!b)
		return;
	if (b->flights.length)
		mad_client_cancel_owner(b->x, b);
	if (!b->stage.max_in_flight)
		mad_client_set_pump(b->x, NULL, b);
	transport_timer_clear(b->x->transport, &b->timer);
	transport_timer_clear(b->x->transport, &b->hurry);
	while (b->flights.length)
		flight_lose(b, b->flights.head->data);
	g_free(b->unreachable);
	g_free(b->lossy);
	if (b->stage.free)
		b->stage.free(b->stage.data);
	g_free(b);
}

void
smp_batch_wake(struct smp_batch *b)
{
	b->idle = false;
	batch_pump(b);
}

bool
smp_batch_again(void *data, const struct smp_request *r)
{
	return true;
}

uint32_t
smp_batch_port_info_modifier(const struct snapshot *s, uint32_t port)
{
	return smp_port_info_modifier(s->ports[port].num,
		s->ports[snapshot_holder_of(s, port)].info.cap_mask);
}
