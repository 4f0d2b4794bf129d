// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subscriptions to Notices, and the Reports that follow from them.
 *
 * Purpose. A client subscribes to traps (Set of InformInfo); for each Notice,
 * of a device or of the SM itself, every subscriber that matches gets a Report
 * (IBA 13.4.8.3, 13.4.9, 13.4.11).
 *
 * Flow. informs_notify() queues the Notice, with the P_Keys of its source.
 * informs_next() compares the oldest one with one subscription after the other,
 * and returns the next Report: one for each subscriber that matches.
 *
 * Cost. After a change of a whole fabric each of 11,664 Notices may be for as many
 * subscribers. So no more subscriptions than LOOKS_MAX are compared in a call, and
 * what waits are Notices, not Reports.
 *
 * Rules:
 *  - A subscriber is a QP of a port: 1, or the program's own, as srp_daemon's.
 *    Reports go to the QP that subscribed. InformInfo.QPN means something only
 *    when a subscription is cancelled (IBA 13.4.8.3): it is the QP that
 *    subscribed, and 0 is the one that asks.
 *  - A subscription that exists already is confirmed. QPN, RespTimeValue and
 *    Subscribe are not compared, nor is the LID range if there is a GID or the
 *    range begins with 0xffff (all).
 *  - A Notice is for the subscriptions of its time. An index that became free is
 *    given again, so it does not tell them from later ones.
 *  - Traps 256 to 259 tell of wrong keys: only a trusted requester may subscribe
 *    to them (IBA C15-0.2-1.16), by their numbers. A subscription to all traps
 *    does not have them.
 *  - A port that shares no partition with the source of a Notice gets no Report
 *    of it (IBA o13-17.1.1). The source is the GID inside for traps 64 and 65;
 *    for 66 and 67 the group's partition counts: the SA has it for its own
 *    groups, and a Notice of another SM has it in the MGID (ff1S:401b, 601b,
 *    a01b); else it is the issuer. Hence the view at informs_notify() must
 *    contain the source: for trap 65, it is the previous view. The subscriber's
 *    P_Keys are those that it has when its Report is due.
 *  - A trap may be repeated for long: while that of a device waits, an equal one
 *    is dropped. NoticeCount and NoticeToggle are not compared. The SA's own are
 *    not merged: the last one of a GID that comes and goes counts.
 *  - A Notice that has waited for AGE_MAX_US is dropped: srp_daemon, which subscribes,
 *    looks at the fabric every 60 s by itself. If the queue is full, the oldest
 *    Notice gives way to one of the SA's own. Traps of devices have a lower bound,
 *    and past it the new ones are dropped: a device that babbles must not displace
 *    others.
 */
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa_query.h"
#include "topology/text.h"

#define QUEUE_MAX	65536u	/* a host each, and as many groups */
#define TRAPS_MAX	1024u
#define LOOKS_MAX	4096u
#define AGE_MAX_US	(60 * (int64_t)G_USEC_PER_SEC)
#define SUBSCRIPTIONS_MAX	65536u
#define SUBSCRIPTIONS_A_PORT	128u
#define QPN_MAX		0xffffffu
#define LID_ALL		0xffffu
#define TYPE_ALL	0xffffu
#define TRAP_ALL	0xffffu
#define PRODUCER_ALL	0xffffffu

#define NOTICE_COUNT_OFFSET	8u	/* and toggle: 2 bytes */
#define NOTICE_GID_OFFSET	16u	/* of traps 64 to 67, IBA 14.2.5.1 */

struct waiting_notice {
	uint8_t notice[NOTICE_LEN], issuer[16];
	uint16_t pkey;		/* of the partition it is about; 0: it depends
				   on the source */
	uint64_t source;	/* PortGUID */
	struct sa_cursor at;	/* the last subscription that was compared: from
				   then on an equal Notice is another one */
	int64_t since;
	uint64_t place;		/* among all there ever were */
	uint32_t n_pkeys;
	uint16_t pkeys[];	/* those that the source had */
};

static int
compare_subscription(const void *key, const void *element)
{
	const struct subscription *a = key, *b = element;

	return uint_compare(a->port_guid, b->port_guid) ?:
		uint_compare(a->index, b->index);
}

struct informs *
informs_new(void)
{
	struct informs *i = g_new0(struct informs, 1);

	i->all.list = g_ptr_array_new_with_free_func(g_free);
	i->all.compare = compare_subscription;
	return i;
}

void
informs_free(struct informs *i)
{
	informs_forget(i);
	g_ptr_array_unref(i->all.list);
	g_free(i);
}

/* ----------------------------------------------------------- subscriptions */

/* Subscription number n of the port, by index; NULL: it has fewer. */
static struct subscription *
of_port(const struct informs *i, uint64_t port_guid, guint n)
{
	const struct subscription key = { .port_guid = port_guid };
	guint place = sa_store_place(&i->all, &key) + n;
	struct subscription *s = place < i->all.list->len ?
		i->all.list->pdata[place] : NULL;

	return s && s->port_guid == port_guid ? s : NULL;
}

static bool
names_gid(const struct inform_info *info)
{
	static const uint8_t none[16];

	return memcmp(info->gid, none, 16) != 0;
}

static bool
is_security_trap(bool generic, unsigned trap)
{
	return generic && trap >= 256 && trap <= 259;
}

/* NULL: there is none. */
static struct subscription *
find_same(const struct informs *i, const struct subscription *as)
{
	const struct inform_info *b = &as->info;
	struct subscription *s;

	for (guint n = 0; (s = of_port(i, as->port_guid, n)); n++) {
		const struct inform_info *a = &s->info;

		if (s->qp != as->qp || memcmp(a->gid, b->gid, 16) != 0 ||
		    a->generic != b->generic || a->type != b->type ||
		    a->trap != b->trap || a->producer != b->producer)
			continue;
		if (names_gid(a) || (a->lid_begin == b->lid_begin &&
		    (a->lid_begin == LID_ALL || a->lid_end == b->lid_end)))
			return s;
	}
	return NULL;
}

unsigned
informs_set(const struct sa_query *q, void *asked)
{
	struct informs *i = q->sa->informs;
	const struct sa_db *v = q->viewer.db;
	struct inform_info *info = asked;
	struct subscription s = {
		.qp = q->request->qp, .info = *info, .made = q->request->now,
		.confirmed = q->request->now,
	}, *same;
	uint32_t source, from = q->viewer.port;

	if (!v->ends[from].guid || !s.qp || info->subscribe > 1)
		return SA_STATUS_REQ_INVALID;
	s.port_guid = v->ends[from].guid;
	if (!s.info.lid_end)	/* a single LID, as for OpenSM */
		s.info.lid_end = s.info.lid_begin;
	if (!info->subscribe && info->qpn)
		s.qp = info->qpn;
	same = find_same(i, &s);
	if (!info->subscribe) {
		if (!same)
			return SA_STATUS_REQ_INVALID;
		sa_store_remove(&i->all, sa_store_place(&i->all, same));
		return MAD_STATUS_OK;
	}
	if (!q->viewer.trusted && is_security_trap(info->generic, info->trap))
		return SA_STATUS_REQ_INVALID;
	if (names_gid(info)) {
		source = sa_db_gid(v, info->gid);
		if (source == SNAPSHOT_NONE)
			return SA_STATUS_INVALID_GID;
		if (source != from &&
		    !memberships_common(v->memberships, source, from))
			return SA_STATUS_REQ_INVALID;
	} else if (info->lid_begin != LID_ALL &&
		   s.info.lid_begin > s.info.lid_end) {
		return SA_STATUS_REQ_INVALID;
	}
	info->qpn = s.info.qpn = s.qp;
	if (same) {
		same->confirmed = s.confirmed;
		return MAD_STATUS_OK;
	}
	while (sa_store_find(&i->all, &s))
		s.index++;
	if (i->all.list->len >= SUBSCRIPTIONS_MAX ||
	    s.index >= SUBSCRIPTIONS_A_PORT)
		return SA_STATUS_NO_RESOURCES;
	sa_db_make_gid(v, from, s.gid);
	sa_store_insert(&i->all, &s, sizeof(s));
	return MAD_STATUS_OK;
}

/* ----------------------------------------------------------------- Notices */

/* A Notice, read as far as it is compared (IBA 13.4.8.2). */
struct event {
	const uint8_t *issuer;	/* its GID */
	bool generic;
	uint8_t type;		/* 7 bits */
	uint16_t trap, issuer_lid;
	uint32_t producer;
	uint32_t issuer_port;	/* SNAPSHOT_NONE: not in the view */
};

/* Does the subscription match a Notice of its time? */
static bool
is_for(const struct sa_db *v, const struct waiting_notice *w,
       const struct event *e, const struct subscription *s)
{
	const struct inform_info *info = &s->info;

	if (s->made > w->since || info->generic != e->generic)
		return false;
	if (info->type != TYPE_ALL && info->type != e->type)
		return false;
	if (info->trap != e->trap && (info->trap != TRAP_ALL ||
				      is_security_trap(e->generic, e->trap)))
		return false;
	if (info->producer != PRODUCER_ALL && info->producer != e->producer)
		return false;
	if (names_gid(info))
		return memcmp(info->gid, e->issuer, 16) == 0 ||
			(e->issuer_port != SNAPSHOT_NONE &&
			 sa_db_gid(v, info->gid) == e->issuer_port);
	return info->lid_begin == LID_ALL ||
		(info->lid_begin <= e->issuer_lid &&
		 e->issuer_lid <= info->lid_end);
}

/* As memberships_common(), of a source that may be away. */
static bool
may_hear(const struct sa_db *v, const struct waiting_notice *w, uint32_t port)
{
	if (w->pkey)
		return memberships_of(v->memberships, port, w->pkey);
	for (uint32_t i = 0; i < w->n_pkeys; i++) {
		unsigned what = memberships_of(v->memberships, port,
					       w->pkeys[i]);

		if (what & PARTITION_FULL ||
		    (what && w->pkeys[i] & PKEY_FULL))
			return true;
	}
	return w->source == v->ends[port].guid;
}

/* Is it the first one of its subscriber that matches? */
static bool
hears(const struct informs *i, const struct sa_db *v,
      const struct waiting_notice *w, const struct event *e,
      const struct subscription *s)
{
	const struct subscription key = { .port_guid = s->port_guid }, *other;
	uint32_t port;
	guint at;

	if (!is_for(v, w, e, s))
		return false;
	port = sa_db_guid(v, s->port_guid);
	if (port == SNAPSHOT_NONE || !may_hear(v, w, port))
		return false;
	at = sa_store_place(&i->all, &key);
	for (; (other = i->all.list->pdata[at]) != s; at++)
		if (other->qp == s->qp && is_for(v, w, e, other))
			return false;
	return true;
}

/* NULL: there is none, or *left, which is counted down, is 0. */
static const struct subscription *
next_subscriber(const struct informs *i, const struct sa_db *v,
		struct waiting_notice *w, unsigned *left)
{
	const struct event e = {
		.issuer = w->issuer,
		.generic = w->notice[0] & 0x80,
		.type = w->notice[0] & 0x7f,
		.producer = (uint32_t)bytes_load(w->notice + 1, 3),
		.trap = (uint16_t)bytes_load(w->notice + 4, 2),
		.issuer_lid = (uint16_t)bytes_load(w->notice + 6, 2),
		.issuer_port = sa_db_gid(v, w->issuer),
	};
	const struct subscription *s = NULL;

	while (*left && (s = sa_store_next(&i->all, &w->at))) {
		--*left;
		if (hears(i, v, w, &e, s))
			return s;
	}
	return NULL;
}

/* Does the trap of a device wait, whatever its NoticeCount and NoticeToggle? */
static bool
is_waiting(const struct informs *i, const uint8_t notice[NOTICE_LEN],
	   const uint8_t issuer[16])
{
	const size_t behind = NOTICE_COUNT_OFFSET + 2;

	for (const GList *l = i->traps.head; l; l = l->next) {
		const struct waiting_notice *w = l->data;

		if (!w->at.begun &&
		    !memcmp(w->notice, notice, NOTICE_COUNT_OFFSET) &&
		    !memcmp(w->notice + behind, notice + behind,
			    NOTICE_LEN - behind) &&
		    !memcmp(w->issuer, issuer, 16))
			return true;
	}
	return false;
}

void
informs_notify(struct informs *i, const struct sa_db *v,
	       const uint8_t notice[64], const uint8_t issuer[16],
	       uint16_t pkey, int64_t now)
{
	const struct memberships *m = v->memberships;
	bool generic = notice[0] & 0x80;
	unsigned trap = (unsigned)bytes_load(notice + 4, 2);
	bool is_sa = generic && trap >= 64 && trap <= 67;
	bool is_own = is_sa && sa_db_gid(v, issuer) == v->subnet->local_port;
	GQueue *line = is_own ? &i->own : &i->traps;
	bool is_full = line->length >= (is_own ? QUEUE_MAX : TRAPS_MAX);
	/* a GID is in service, out of service */
	uint32_t source = sa_db_gid(v, is_sa && trap < 66 ?
				    notice + NOTICE_GID_OFFSET : issuer);
	struct waiting_notice *w;
	uint32_t n = 0;
	uint16_t own;

	/* the MGID of a group that was created, or deleted */
	if (!pkey && is_sa && trap >= 66 &&
	    mgid_has_pkey(notice + NOTICE_GID_OFFSET, &own))
		pkey = own;
	if (!i->all.list->len || (!pkey && source == SNAPSHOT_NONE))
		return;
	i->dropped += is_full;
	if (!is_own && (is_full || is_waiting(i, notice, issuer)))
		return;
	if (is_full)
		g_free(g_queue_pop_head(line));
	if (!pkey)
		n = m->first[source + 1] - m->first[source];
	w = g_malloc0(sizeof(*w) + n * sizeof(*w->pkeys));
	memcpy(w->notice, notice, NOTICE_LEN);
	memcpy(w->issuer, issuer, 16);
	w->since = now;
	w->place = i->noticed++;
	w->pkey = pkey;
	w->n_pkeys = n;
	if (!pkey) {
		w->source = v->ends[source].guid;
		memcpy(w->pkeys, m->pkeys + m->first[source],
		       n * sizeof(*w->pkeys));
	}
	g_queue_push_tail(line, w);
}

/* The one with the Notice that came first. */
static GQueue *
first_line(struct informs *i)
{
	const struct waiting_notice *own = g_queue_peek_head(&i->own);
	const struct waiting_notice *trap = g_queue_peek_head(&i->traps);

	return !trap || (own && own->place < trap->place) ? &i->own :
		&i->traps;
}

bool
informs_next(struct informs *i, const struct sa_db *v, int64_t now,
	     struct sa_report *out)
{
	const struct subscription *s;
	struct waiting_notice *w;
	unsigned left = LOOKS_MAX;
	GQueue *line;

	while ((w = g_queue_peek_head(line = first_line(i)))) {
		if (now - w->since > AGE_MAX_US) {
			i->dropped++;
			g_free(g_queue_pop_head(line));
			continue;
		}
		s = next_subscriber(i, v, w, &left);
		if (s) {
			*out = (struct sa_report){
				.port_guid = s->port_guid, .qp = s->qp,
			};
			sa_build(out->mad, SA_METHOD_REPORT, SA_ATTR_NOTICE);
			memcpy(out->mad + SA_DATA_OFFSET, w->notice,
			       NOTICE_LEN);
			memcpy(out->mad + SA_DATA_OFFSET + NOTICE_ISSUER_OFFSET,
			       w->issuer, 16);
			return true;
		}
		if (!left)
			return false;
		g_free(g_queue_pop_head(line));
	}
	return false;
}

void
informs_forget(struct informs *i)
{
	g_queue_clear_full(&i->own, g_free);
	g_queue_clear_full(&i->traps, g_free);
}

void
informs_drop(struct informs *i, uint64_t port_guid, uint32_t qp, int64_t sent)
{
	const struct subscription *s;
	guint n = 0;

	while ((s = of_port(i, port_guid, n)))
		if (s->qp == qp && s->confirmed <= sent)
			sa_store_remove(&i->all, sa_store_place(&i->all, s));
		else
			n++;
}

void
informs_follow(struct informs *i, const struct sa_db *v)
{
	for (guint n = i->all.list->len; n-- > 0;) {
		struct subscription *s = i->all.list->pdata[n];
		uint32_t port = sa_db_guid(v, s->port_guid);
		uint8_t gid[16];

		if (port == SNAPSHOT_NONE) {
			sa_store_remove(&i->all, n);
			continue;
		}
		sa_db_make_gid(v, port, gid);
		i->all.version += memcmp(gid, s->gid, 16) != 0;
		memcpy(s->gid, gid, 16);
	}
}

/* --- text ---
 *
 *   inform SubscriberGID Enum QP GID LIDRangeBegin LIDRangeEnd IsGeneric Type
 *	TrapNumber RespTimeValue ProducerType QPN
 */

static const struct state_word inform_words[] = {
	STATE_WORD(subscription, gid, "SubscriberGID", STATE_BYTES, 0, 0),
	STATE_WORD(subscription, index, "Enum", 0, 0,
		   SUBSCRIPTIONS_A_PORT - 1),
	STATE_WORD(subscription, qp, "QP", 0, 1, QPN_MAX),
	STATE_WORD(subscription, info.gid, "GID", STATE_BYTES, 0, 0),
	STATE_WORD(subscription, info.lid_begin, "LID", 4, 0, UINT16_MAX),
	STATE_WORD(subscription, info.lid_end, "LID", 4, 0, UINT16_MAX),
	STATE_WORD(subscription, info.generic, "IsGeneric", 0, 0, 1),
	STATE_WORD(subscription, info.type, "Type", 4, 0, UINT16_MAX),
	STATE_WORD(subscription, info.trap, "TrapNumber", 4, 0, UINT16_MAX),
	STATE_WORD(subscription, info.resp_time, "RespTimeValue", 0, 0, 31),
	STATE_WORD(subscription, info.producer, "ProducerType", 6, 0,
		   PRODUCER_ALL),
	STATE_WORD(subscription, info.qpn, "QPN", 0, 0, QPN_MAX),
};

static bool
inform_take(void *owner, void *members, int64_t now, GError **error)
{
	struct informs *i = ((struct sa *)owner)->informs;
	struct subscription *s = members;

	s->port_guid = bytes_load64(s->gid + 8);
	s->info.subscribe = 1;
	if (sa_store_find(&i->all, s))
		return text_refuse(error, "two subscriptions with one Enum");
	if (find_same(i, s))
		return text_refuse(error, "the subscription is there twice");
	if (i->all.list->len >= SUBSCRIPTIONS_MAX)
		return text_refuse(error, "too many subscriptions");
	sa_store_insert(&i->all, s, sizeof(*s));
	return true;
}

const struct state_line inform_lines[] = {
	STATE_LINE("inform", inform_words, subscription, inform_take),
	{ .keyword = NULL },
};
