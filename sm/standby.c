// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Warm standby.
 *
 * Flow. Once a second a round: PortInfo of our own port (the LID of the master
 * is in it), ClassPortInfo of the master's SA, and if there is news, its state.
 *
 *	on_timer -> on_port -> on_class -> ask_state -> take_state -> rest
 *			any answer that is missing or bad -> fail  -> rest
 *
 * The ClassPortInfo of a master that is a minism has the version of its state
 * (struct sa_mark); another version is read in one piece: the text of sm/state.h
 * with its SA, LIDs of hosts that are away, the ranks of the switches, so that
 * routes stay the same, ports that are disabled, and the expected fabric. M_Keys
 * are not in it: each manager has them configured
 * or derives them. Between two rounds the master notifies its followers of
 * changes (standby_touch), before it answers the client, so that a join is here
 * some milliseconds later. A notification has no answer, so it is repeated, ever
 * later, until the follower asks: the next round is soon then.
 * Nothing is read of any other master: its clients register again after a
 * takeover.
 *
 * Safety. A state that was read is used only if its checksum is right. It
 * replaces the one before as a whole, and the SA's own state only in
 * standby_take(). A state that is truncated, of another record size, or lost
 * changes nothing. One that the master has not confirmed for minutes, or that is
 * of the master before, is dropped: members and LIDs in it may be long gone. If
 * the master had news that was not read, or may have lived on since, or if it hands
 * over and the last round fails, all clients register again at the takeover. So a
 * registration that was answered is missing only if its notification was lost and
 * the master died before the next one.
 *
 * Cost. The next read begins after ten times as long as the last one took: a
 * minute after a read of six seconds.
 */
#include "sm/standby.h"

#include <string.h>

#include "sm/io/sa_message.h"
#include "sm/mad/sa_record.h"
#include "sm/sa/mcmember.h"
#include "sm/sweep/election.h"
#include "topology/each.h"
#include "topology/text.h"

#define ROUND_US	G_USEC_PER_SEC
#define NEWS_US		(10 * 1000)	/* until a notification is repeated; and
					   between reads: joins come in crowds */
#define REST_TIMES	10		/* as long as the last read took */
#define TIMEOUT_MS	2000u		/* of a state, doubled after a loss, */
#define TIMEOUT_MAX_MS	32000u
#define TRUST_US	(3 * ROUND_US)	/* one round may be lost */
#define STALE_US	(300 * (int64_t)G_USEC_PER_SEC)
#define TID_STEP	(1u << MAD_CLIENT_ATTEMPT_BITS)

/* A state to take over. */
struct standby_held {
	GBytes *text;			/* NULL: none was read */
	uint16_t lid;			/* of the master */
	struct sa_mark mark;
	struct sa_stats stats;
	int64_t as_of;			/* the master's state then, */
	int64_t read;			/* and read then */
	char *foreign;			/* see find_foreign() */
};

struct standby {
	struct mad_client *x;
	struct transport *transport;
	const struct mkey_db *keys;
	struct sa *sa;
	struct state *state;
	const struct isolation_params *isolation;
	struct log *log;
	transport_recv_fn next;
	void *next_data;

	struct snapshot *where;		/* NULL: we are no standby */
	unsigned timer;			/* of the next round, or of a state */
	struct mad_addr master;
	struct port_info own;		/* our port, as it was read last */
	uint32_t tid;			/* of the state under way; 0: none */
	uint32_t last_tid;
	unsigned timeout_ms;
	int64_t began;			/* the round, or its read */
	int64_t not_before;
	struct sa_mark mark;		/* of the master, in this round */
	int64_t news;			/* the master had some, us */
	struct standby_held held;
	const char *why;
	bool told_warm;			/* as logged last */
	uint64_t reads;
	void (*last)(void *data);	/* called at the end of a last round */
	void *last_data;
	unsigned last_timer;

	/* as a master */
	struct sa_mark told;
	int64_t tell_us;		/* until the next repetition */
	unsigned tell_timer;
};

static void standby_on_timer(void *data);

static void
held_clear(struct standby_held *h)
{
	g_bytes_unref(h->text);
	g_free(h->foreign);
	*h = (struct standby_held){ 0 };
}

static void
stop(struct standby *b)
{
	mad_client_cancel_owner(b->x, b);
	transport_timer_clear(b->transport, &b->timer);
	b->tid = 0;
}

/* The end of a round, successful or not. News that came meanwhile are not told
 * for ever. */
static void
standby_rest(struct standby *b)
{
	void (*last)(void *data) = b->last;
	int64_t us = b->news > b->began ? NEWS_US : ROUND_US;

	stop(b);
	if (b->where)
		b->timer = transport_timer_start(b->transport,
				MAX(transport_now(b->transport) + us,
				    b->not_before), standby_on_timer, b);
	if (!last)
		return;
	transport_timer_clear(b->transport, &b->last_timer);
	b->last = NULL;
	last(b->last_data);
}

/* Without a confirmation for as long. */
static void
drop_older(struct standby *b, int64_t us)
{
	if (!b->held.text || b->began - b->held.as_of <= us)
		return;
	held_clear(&b->held);
	b->told_warm = false;
}

/* why: static */
static void
fail(struct standby *b, const char *why)
{
	drop_older(b, b->held.lid == b->master.lid ? STALE_US : TRUST_US);
	if (g_strcmp0(b->why, why) != 0)
		log_limited(b->log, LOG_WARNING, "standby", "the master's "
			    "groups, services and subscriptions are not read",
			    "%s", why);
	b->why = why;
	standby_rest(b);
}

static void
confirm(struct standby *b)
{
	b->held.as_of = b->began;
	b->why = NULL;
	if (!b->last || b->news <= b->began) {
		standby_rest(b);
		return;
	}
	/* of the news that came meanwhile it is not known if they were read */
	stop(b);
	standby_on_timer(b);
}

/* ------------------------------------------------------------------ states */

/* False: it is damaged. */
/* Groups end with a takeover if their partition is not configured here, as files of
 * two managers that differ have it. Which, in words, or NULL; g_free. */
static char *
find_foreign(const struct standby *b, const struct sa *sa)
{
	g_autoptr(GString) keys = g_string_new(NULL);

	EACH_PTR(const struct group, g, sa->groups->all.list) {
		g_autofree char *key = g_strdup_printf(" 0x%04x",
						       pkey_base(g->r.pkey));

		if (!partition_rules_find(b->isolation->rules, pkey_base(g->r.pkey)) &&
		    !strstr(keys->str, key))
			g_string_append(keys, key);
	}
	return !keys->len ? NULL : g_strdup_printf("partitions of the master "
		"that this manager does not have, so that their groups end "
		"when it takes over:%s", keys->str);
}

static bool
adopt(struct standby *b, const uint8_t *text, size_t len)
{
	struct sa *trial = sa_new(&b->sa->params);
	const struct state_owner owner = { &sa_part, trial };
	struct standby_held new = {
		.lid = b->master.lid, .mark = b->mark, .read = b->began,
	};
	struct state_told told = { .n_bad = 0 };
	g_autofree char *copy = NULL;

	len = state_sealed((const char *)text, len);
	if (len) {
		copy = g_memdup2(text, len);
		new.text = g_bytes_new(text, len);
		state_read(&owner, 1, copy, len, b->began, &told);
	}
	sa_stats(trial, &new.stats);
	new.foreign = find_foreign(b, trial);
	sa_free(trial);
	state_told_clear(&told);
	if (!len)
		return false;
	if (new.foreign && g_strcmp0(new.foreign, b->held.foreign) != 0)
		log_say(b->log, LOG_WARNING, "standby", "%s", new.foreign);
	held_clear(&b->held);
	b->held = new;
	b->reads++;
	b->not_before = transport_now(b->transport) + MAX(NEWS_US,
		REST_TIMES * (transport_now(b->transport) - b->began));
	log_say(b->log, b->told_warm ? LOG_DEBUG : LOG_INFO, "standby", "warm: "
		"groups %u with %u member%s, services %u, subscriptions %u of "
		"the master at LID %u", new.stats.n_groups,
		new.stats.n_members, text_plural(new.stats.n_members),
		new.stats.n_services,
		new.stats.n_subscriptions, new.lid);
	b->told_warm = true;
	return true;
}

/* The answer to the request under way, or its time-out. */
static void
take_state(struct standby *b, const struct transport_mad *m)
{
	uint8_t first[MAD_SIZE] = { 0 };
	struct sa_message message = { .len = 0 };
	struct sa_header h;
	size_t size;

	transport_timer_clear(b->transport, &b->timer);
	b->tid = 0;
	memcpy(first, m->mad, MIN(m->len, sizeof(first)));
	sa_header_read(first, sizeof(first), &h);
	size = 8u * h.attr_offset;
	if (m->event == TRANSPORT_RETURNED) {
		b->timeout_ms = MIN(2 * b->timeout_ms, TIMEOUT_MAX_MS);
		fail(b, "its SA does not answer");
	} else if (h.mad.attr_id != SA_ATTR_STATE || h.mad.status ||
		   h.mad.method != (SA_METHOD_GET_TABLE | MAD_METHOD_RESPONSE)) {
		fail(b, "its SA refuses its state");
	} else if (!sa_message_read(m, &message)) {
		fail(b, "its SA does not answer with a table");
	} else if (message.cut) {
		fail(b, "its state is truncated: this transport has no RMPP");
	} else if (message.len && (size < sa_record_size(SA_ATTR_STATE) ||
				   message.len % size)) {
		fail(b, "the length of its state is not a multiple of a record");
	} else if (adopt(b, message.data, message.len)) {
		confirm(b);
	} else {
		fail(b, "its description of its SA state is invalid");
	}
}

/* The request timed out: some transports return nothing. */
static void
standby_on_late(void *data)
{
	const uint8_t none[MAD_SIZE] = { 0 };
	const struct transport_mad m = {
		.event = TRANSPORT_RETURNED, .mad = none, .len = MAD_SIZE,
	};
	struct standby *b = data;

	b->timer = 0;
	take_state(b, &m);
}

static void
ask_state(struct standby *b)
{
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE];

	b->tid = b->last_tid += TID_STEP;
	sa_build(mad, SA_METHOD_GET_TABLE, SA_ATTR_STATE);
	sa_set_sm_key(mad, b->sa->params.sm_key);
	mad_set_tid(mad, b->tid);
	if (!transport_send(b->transport, &b->master, mad, MAD_SIZE,
			    b->timeout_ms, &error)) {
		fail(b, "the transport accepts no request");
		return;
	}
	b->timer = transport_timer_in(b->transport,
				      (b->timeout_ms + 100) * (int64_t)1000,
				      standby_on_late, b);
}

/* ------------------------------------------------------------------ rounds */

void
standby_wait(struct standby *b, int64_t until)
{
	if (!b->where || b->last || until <= transport_now(b->transport))
		return;
	stop(b);
	b->timer = transport_timer_start(b->transport, until, standby_on_timer,
					 b);
}

/* For a round, so the master may not find our port: it has no route to us, or has not
 * activated it. */
static void
fail_unseen(struct standby *b, const char *why)
{
	/* fail() may end the last round, as the master hands over */
	const char *was = b->last ? NULL : b->why;

	fail(b, why);
	if (was == why)
		standby_wait(b, election_leave_port(b->x, b->where, &b->own,
						    b->log));
}

static void
standby_on_class(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct standby *b = data;

	if (a->outcome != MAD_CLIENT_ANSWERED || a->header.status) {
		fail_unseen(b, "its SA does not answer");
		return;
	}
	if (!sa_mark_read(a->mad, &b->mark)) {
		/* a minism that has just started, or has not seen us in a sweep
		 * since a hand-over, does so for a moment */
		drop_older(b, TRUST_US);
		fail(b, "its SA offers this manager no state: it is no "
		     "minism, has not found this manager yet, or does not "
		     "accept it (allowed_sm_guids); at a takeover clients "
		     "register again");
		return;
	}
	if (b->held.text && b->held.lid == b->master.lid &&
	    memcmp(&b->mark, &b->held.mark, sizeof(b->mark)) == 0) {
		confirm(b);
		return;
	}
	b->began = b->news = transport_now(b->transport);
	ask_state(b);
}

static void
standby_on_port(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	const struct sa_mark none = { 0 };
	struct standby *b = data;
	uint8_t mad[MAD_SIZE];

	if (a->outcome != MAD_CLIENT_ANSWERED) {
		fail(b, "our own port does not answer");
		return;
	}
	port_info_decode(smp_data_const(a->mad), &b->own);
	if (b->own.state != PORT_STATE_ACTIVE || !b->own.lid || !b->own.sm_lid ||
	    b->own.sm_lid == b->own.lid) {
		fail_unseen(b, "it has not activated our port yet");
		return;
	}
	b->master = (struct mad_addr){
		.qp = 1, .qkey = MAD_GSI_QKEY, .lid = b->own.sm_lid,
		.sl = b->own.sm_sl,
	};
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO);
	sa_set_sm_key(mad, b->sa->params.sm_key);
	sa_mark_write(mad, &none);
	mad_client_start(b->x, &b->master, mad, standby_on_class, b, 0);
}

static void
standby_on_timer(void *data)
{
	struct standby *b = data;

	b->timer = 0;
	b->began = transport_now(b->transport);
	if (!b->sa->params.sm_key) {
		fail(b, "sa_key is 0, so no SA answers trusted requests");
		return;
	}
	election_look(b->x, b->keys, b->where, standby_on_port, b);
}

static void
standby_on_recv(const struct transport_mad *m, void *data)
{
	uint8_t first[MAD_SIZE] = { 0 };
	struct standby *b = data;
	struct sa_header h;

	memcpy(first, m->mad, MIN(m->len, sizeof(first)));
	if (sa_header_read(first, sizeof(first), &h) && b->where) {
		bool asks = sa_is_request(h.mad.method);

		if (b->tid && (uint32_t)h.mad.tid == b->tid &&
		    (m->event == TRANSPORT_RETURNED ||
		     (!asks && m->addr.lid == b->master.lid))) {
			take_state(b, m);
			return;
		}
		if (m->event == TRANSPORT_RECEIVED && h.sm_key &&
		    h.mad.method == MAD_METHOD_GET &&
		    h.mad.attr_id == SA_ATTR_STATE &&
		    h.sm_key == b->sa->params.sm_key) {
			/* The master has notified us of a change; nothing is
			 * done while a round is under way. */
			b->news = transport_now(b->transport);
			if (!b->timer || b->tid)
				return;
			transport_timer_clear(b->transport, &b->timer);
			b->timer = transport_timer_start(b->transport,
				MAX(transport_now(b->transport),
				    b->not_before), standby_on_timer, b);
			return;
		}
	}
	b->next(m, b->next_data);
}

void
standby_follow(struct standby *b, struct snapshot *where)
{
	stop(b);
	if (where)
		snapshot_ref(where);
	if (b->where)
		snapshot_unref(b->where);
	b->where = where;
	b->why = NULL;
	if (where) {
		b->timer = transport_timer_in(b->transport, 0,
					      standby_on_timer, b);
		return;
	}
	held_clear(&b->held);
	b->told_warm = false;
}

/* --------------------------------------------------------------- taking over */

static void
standby_on_last_late(void *data)
{
	struct standby *b = data;

	b->last_timer = 0;
	standby_rest(b);
}

void
standby_read_last(struct standby *b, void (*done)(void *data), void *data)
{
	if (b->last)
		return;
	stop(b);
	/* what is not confirmed by this round may be old */
	b->news = transport_now(b->transport);
	b->last = done;
	b->last_data = data;
	b->last_timer = transport_timer_in(b->transport, STANDBY_LAST_MS * 1000,
					   standby_on_last_late, b);
	if (b->where)
		b->timer = transport_timer_in(b->transport, 0,
					      standby_on_timer, b);
}

uint16_t
standby_take(struct standby *b, int64_t heard)
{
	struct standby_held *h = &b->held;
	uint16_t lid = LID_NONE;
	gsize len;
	char *text;

	stop(b);
	if (!h->text) {
		if (b->where)
			log_say(b->log, LOG_WARNING, "standby", "no SA state "
				"of the former master is known: clients have "
				"to register again");
		return LID_NONE;
	}
	text = g_bytes_unref_to_data(g_steal_pointer(&h->text), &len);
	state_take(b->state, text, len, h->read);
	g_free(text);
	if (h->as_of + TRUST_US >= heard && h->as_of >= b->news &&
	    state_has_clients(b->state))
		lid = h->lid;
	log_say(b->log, LOG_INFO, "standby", "taken over from the master at "
		"LID %u: groups %u with %u member%s, services %u, "
		"subscriptions %u, as of %.1f s ago; clients %s", h->lid,
		h->stats.n_groups, h->stats.n_members,
		text_plural(h->stats.n_members), h->stats.n_services,
		h->stats.n_subscriptions,
		(double)(transport_now(b->transport) - h->as_of) /
		G_USEC_PER_SEC, lid ? "need not register again" :
		"are asked to register again");
	held_clear(h);
	b->told_warm = false;
	return lid;
}

/* --------------------------------------------------------------- as a master */

/* To each follower that has not asked since. */
static void
standby_on_tell(void *data)
{
	struct standby *b = data;
	const GArray *followers = sa_followers(b->sa,
					       transport_now(b->transport));
	uint8_t mad[MAD_SIZE];
	bool is_heard = true;

	b->tell_timer = 0;
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_STATE);
	sa_set_sm_key(mad, b->sa->params.sm_key);
	EACH_ITEM(const struct sa_follower, f, followers) {
		const struct mad_addr to = {
			.qp = 1, .qkey = MAD_GSI_QKEY, .lid = f->lid,
		};

		if (!f->has_news)
			continue;
		transport_send(b->transport, &to, mad, MAD_SIZE, 0, NULL);
		is_heard = false;
	}
	if (!is_heard && b->tell_us < ROUND_US)
		b->tell_timer = transport_timer_in(b->transport, b->tell_us,
						   standby_on_tell, b);
	b->tell_us *= 2;
}

/* A follower that has news does not believe its copy until it has asked, so of a
 * crowd of joins one notification is enough. */
void
standby_touch(struct standby *b)
{
	GArray *followers = sa_followers(b->sa, transport_now(b->transport));
	const struct sa_mark mark = sa_mark_of(b->sa);
	bool is_first = false;

	if (!memcmp(&mark, &b->told, sizeof(mark)))
		return;
	b->told = mark;
	EACH_ITEM(struct sa_follower, f, followers) {
		is_first |= !f->has_news;
		f->has_news = true;
	}
	if (!is_first)
		return;
	transport_timer_clear(b->transport, &b->tell_timer);
	b->tell_us = NEWS_US;
	standby_on_tell(b);
}

/* ----------------------------------------------------------------- interface */

void
standby_status(const struct standby *b, struct standby_status *out)
{
	*out = (struct standby_status){
		.follows = b->where, .warm = b->held.text != NULL,
		.stats = b->held.stats, .as_of = b->held.as_of,
		.reads = b->reads, .why = b->why, .foreign = b->held.foreign,
	};
}

struct standby *
standby_new(struct mad_client *x, const struct mkey_db *keys, struct sa *sa,
	    struct state *state, const struct isolation_params *isolation,
	    struct log *log)
{
	struct standby *b = g_new0(struct standby, 1);

	b->x = x;
	b->transport = x->transport;
	b->keys = keys;
	b->sa = sa;
	b->state = state;
	b->isolation = isolation;
	b->log = log;
	b->timeout_ms = TIMEOUT_MS;
	sa->write_state = state_write;
	sa->write_state_data = state;
	b->next = b->transport->on_recv;
	b->next_data = b->transport->recv_data;
	transport_set_receiver(b->transport, standby_on_recv, b);
	return b;
}

void
standby_free(struct standby *b)
{
	if (!b)
		return;
	stop(b);
	transport_timer_clear(b->transport, &b->last_timer);
	transport_timer_clear(b->transport, &b->tell_timer);
	transport_set_receiver(b->transport, b->next, b->next_data);
	b->sa->write_state = NULL;
	if (b->where)
		snapshot_unref(b->where);
	held_clear(&b->held);
	g_free(b);
}
