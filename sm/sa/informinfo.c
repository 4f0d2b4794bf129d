// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subscriptions to Notices, and the Reports that come of them.
 *
 * Purpose. A client asks (Set of InformInfo) to be told of traps; when one
 * comes, or the SM makes one itself, everybody whose subscription matches gets
 * a Report (IBA 13.4.8.3, 13.4.9, 13.4.11).
 *
 * Structs. `informs` has the subscriptions sorted by PortGUID and index, which
 * is InformInfoRecord's Enum; the Reports that wait, in order, with a set of
 * them; and those that are out, by their id.
 *
 * Flow. informs_notify() compares the Notice with each subscription and queues
 * a Report for each subscriber that matched, once. informs_next() hands them
 * out; informs_ended() says what became of one. A subscriber that does not
 * answer is dead: all subscriptions of that port and QP end, and Reports that
 * wait for it are passed over.
 *
 * What decides:
 *  - Reports go to QP 1. InformInfo.QPN means something only when a
 *    subscription is taken back (IBA 13.4.8.3); the QP that asked is 1 too,
 *    and 0 in that place is taken for it.
 *  - A subscription that is there already is confirmed. QPN, RespTimeValue and
 *    Subscribe do not make a difference, nor does the LID range if there is a
 *    GID or the range begins with 0xffff (all).
 *  - A port that may not talk to the source of a Notice is not told of it (IBA
 *    o13-17.1.1). The source is the GID inside for traps 64 and 65; for 66 and
 *    67 what counts is the group's partition: the SA knows it, and a Notice of
 *    somebody else has it in the MGID (ff1S:401b, 601b, a01b); else it is the
 *    issuer. Hence the view must be one in which
 *    the source is: for trap 65, that of before.
 *  - A trap that babbles says the same again: while a Report waits, its like
 *    is merged with it. NoticeCount and NoticeToggle do not make a difference.
 *    The queue has a bound; what is past it is dropped and counted.
 */
#include <string.h>

#include "sm/sa/informinfo.h"
#include "sm/sa/state_words.h"
#include "sm/mad/bytes.h"

#define QUEUE_MAX	32768u
#define SUBSCRIPTIONS_MAX	65536u
#define SUBSCRIPTIONS_A_PORT	128u
#define GSI_QP		1u
#define QPN_MAX		0xffffffu
#define LID_ALL		0xffffu
#define TYPE_ALL	0xffffu
#define TRAP_ALL	0xffffu
#define PRODUCER_ALL	0xffffffu

#define NOTICE_COUNT_OFFSET	8u	/* and toggle: 2 bytes */
#define NOTICE_GID_OFFSET	16u	/* of traps 64 to 67, IBA 14.2.5.1 */

struct informs {
	GPtrArray *subscriptions;	/* struct subscription *, sorted */
	GQueue waiting;			/* struct report */
	GHashTable *alike;		/* those that wait, by content */
	GHashTable *out;		/* id -> struct report */
	uint32_t next_id;
	uint64_t version;
	struct inform_counts counts;
};

/* --- sets --- */

static guint
hash_report(gconstpointer data)
{
	const struct report *r = data;
	uint64_t hash = r->port_guid ^ r->qp;

	for (unsigned i = 0; i < NOTICE_LEN; i++)
		if (i / 2 != NOTICE_COUNT_OFFSET / 2)
			hash = (hash ^ r->notice[i]) * 0x100000001b3u;
	return (guint)(hash ^ hash >> 32);
}

static gboolean
equal_reports(gconstpointer a, gconstpointer b)
{
	const struct report *x = a;
	const struct report *y = b;

	return x->port_guid == y->port_guid && x->qp == y->qp &&
		memcmp(x->notice, y->notice, NOTICE_COUNT_OFFSET) == 0 &&
		memcmp(x->notice + NOTICE_COUNT_OFFSET + 2,
		       y->notice + NOTICE_COUNT_OFFSET + 2,
		       NOTICE_LEN - NOTICE_COUNT_OFFSET - 2) == 0 &&
		memcmp(x->issuer, y->issuer, 16) == 0;
}

struct informs *
informs_new(void)
{
	struct informs *i = g_new0(struct informs, 1);

	i->subscriptions = g_ptr_array_new_with_free_func(g_free);
	i->alike = g_hash_table_new(hash_report, equal_reports);
	i->out = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_queue_init(&i->waiting);
	return i;
}

void
informs_free(struct informs *i)
{
	if (!i)
		return;
	g_hash_table_unref(i->alike);
	g_hash_table_unref(i->out);
	g_queue_clear_full(&i->waiting, g_free);
	g_ptr_array_unref(i->subscriptions);
	g_free(i);
}

/* --- the store --- */

uint32_t
informs_count(const struct informs *i)
{
	return i->subscriptions->len;
}

const struct subscription *
informs_at(const struct informs *i, uint32_t n)
{
	return n < i->subscriptions->len ? i->subscriptions->pdata[n] : NULL;
}

uint64_t
informs_version(const struct informs *i)
{
	return i->version;
}

void
informs_counts(const struct informs *i, struct inform_counts *out)
{
	*out = i->counts;
}

/* The first subscription at or after this place in the order. */
static guint
place_of(const struct informs *i, uint64_t port_guid, uint32_t index)
{
	guint low = 0;
	guint high = i->subscriptions->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;
		const struct subscription *s = informs_at(i, mid);

		if (s->port_guid < port_guid ||
		    (s->port_guid == port_guid && s->index < index))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The lowest index that the port does not use; their number if none is free
 * below it. */
static uint32_t
free_index(const struct informs *i, uint64_t port_guid)
{
	uint32_t index = 0;

	for (guint n = place_of(i, port_guid, 0); n < i->subscriptions->len;
	     n++, index++) {
		const struct subscription *s = informs_at(i, n);

		if (s->port_guid != port_guid || s->index != index)
			break;
	}
	return index;
}

static void
informs_put(struct informs *i, const struct subscription *s)
{
	g_ptr_array_insert(i->subscriptions,
			   (gint)place_of(i, s->port_guid, s->index),
			   g_memdup2(s, sizeof(*s)));
	i->version++;
}

static void
informs_remove(struct informs *i, guint place)
{
	g_ptr_array_remove_index(i->subscriptions, place);
	i->version++;
}

/* Has the port and QP any left? */
static bool
is_subscriber(const struct informs *i, uint64_t port_guid, uint32_t qp)
{
	for (guint n = place_of(i, port_guid, 0); n < i->subscriptions->len;
	     n++) {
		if (informs_at(i, n)->port_guid != port_guid)
			break;
		if (informs_at(i, n)->qp == qp)
			return true;
	}
	return false;
}

/* --- subscribing --- */

static bool
names_gid(const struct inform_info *info)
{
	static const uint8_t none[16];

	return memcmp(info->gid, none, 16) != 0;
}

static bool
same_source(const struct inform_info *a, const struct inform_info *b)
{
	if (memcmp(a->gid, b->gid, 16) != 0)
		return false;
	if (names_gid(a))
		return true;
	return a->lid_begin == b->lid_begin &&
		(a->lid_begin == LID_ALL || a->lid_end == b->lid_end);
}

static bool
same_wish(const struct inform_info *a, const struct inform_info *b)
{
	return same_source(a, b) && a->generic == b->generic &&
		a->type == b->type && a->trap == b->trap &&
		a->producer == b->producer;
}

/* Its place, or how many there are. */
static guint
find_wish(const struct informs *i, uint64_t port_guid, uint32_t qp,
	  const struct inform_info *info)
{
	guint n;

	for (n = place_of(i, port_guid, 0); n < i->subscriptions->len; n++) {
		const struct subscription *s = informs_at(i, n);

		if (s->port_guid != port_guid)
			break;
		if (s->qp == qp && same_wish(&s->info, info))
			return n;
	}
	return i->subscriptions->len;
}

static unsigned
check_wish(const struct sa_db *v, uint32_t from,
	   const struct inform_info *info)
{
	uint32_t source;

	if (!names_gid(info))
		return info->lid_begin == LID_ALL ||
			info->lid_begin <= info->lid_end ?
			MAD_STATUS_OK : SA_STATUS_REQ_INVALID;
	source = sa_db_gid(v, info->gid);
	if (source == SNAPSHOT_NONE)
		return SA_STATUS_INVALID_GID;
	if (source != from && !memberships_common(v->memberships, source, from))
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

static unsigned
subscribe(struct informs *i, const struct sa_db *v, uint32_t from,
	  struct inform_info *info)
{
	struct subscription s = { .qp = GSI_QP };
	unsigned status = check_wish(v, from, info);

	if (status != MAD_STATUS_OK)
		return status;
	info->qpn = GSI_QP;
	s.port_guid = v->subnet->ports[from].guid;
	if (find_wish(i, s.port_guid, s.qp, info) < i->subscriptions->len)
		return MAD_STATUS_OK;
	if (i->subscriptions->len >= SUBSCRIPTIONS_MAX ||
	    free_index(i, s.port_guid) >= SUBSCRIPTIONS_A_PORT)
		return SA_STATUS_NO_RESOURCES;
	sa_db_make_gid(v, from, s.gid);
	s.index = (uint16_t)free_index(i, s.port_guid);
	s.info = *info;
	informs_put(i, &s);
	return MAD_STATUS_OK;
}

static unsigned
unsubscribe(struct informs *i, uint64_t port_guid,
	    const struct inform_info *info)
{
	guint place = find_wish(i, port_guid, info->qpn ? info->qpn : GSI_QP,
				info);

	if (place == i->subscriptions->len)
		return SA_STATUS_REQ_INVALID;
	informs_remove(i, place);
	return MAD_STATUS_OK;
}

unsigned
informs_set(struct informs *i, const struct sa_db *v, uint32_t from,
	    struct inform_info *info)
{
	if (from == SNAPSHOT_NONE || !v->subnet->ports[from].guid)
		return SA_STATUS_REQ_INVALID;
	if (info->subscribe == 1)
		return subscribe(i, v, from, info);
	if (info->subscribe == 0)
		return unsubscribe(i, v->subnet->ports[from].guid, info);
	return SA_STATUS_REQ_INVALID;
}

/* --- Notices --- */

/* A Notice, read as far as it is compared (IBA 13.4.8.2). */
struct event {
	const uint8_t *notice, *issuer;
	bool generic;
	uint8_t type;		/* 7 bits */
	uint16_t trap, issuer_lid;
	uint32_t producer;
	uint32_t issuer_port;	/* SNAPSHOT_NONE: not in the view */
	uint16_t pkey;		/* 0: of no partition in particular */
};

/* The partition of a group, as far as its MGID tells: traps 66, created, and
 * 67, deleted. MGIDs of IPoIB and of our own naming carry their P_Key. */
static uint16_t
pkey_of_group(const struct event *e)
{
	const uint8_t *mgid = e->notice + NOTICE_GID_OFFSET;
	unsigned signature = bytes_load16(mgid + 2);

	if (!e->generic || (e->trap != 66 && e->trap != 67) ||
	    (signature != 0x401b && signature != 0x601b &&
	     signature != 0xa01b))
		return 0;
	return bytes_load16(mgid + 4);
}

static void
event_init(struct event *e, const struct sa_db *v,
	   const uint8_t notice[64], const uint8_t issuer[16])
{
	*e = (struct event){
		.notice = notice,
		.issuer = issuer,
		.generic = notice[0] & 0x80,
		.type = notice[0] & 0x7f,
		.producer = (uint32_t)bytes_load(notice + 1, 3),
		.trap = (uint16_t)bytes_load(notice + 4, 2),
		.issuer_lid = (uint16_t)bytes_load(notice + 6, 2),
		.issuer_port = sa_db_gid(v, issuer),
	};
	e->pkey = pkey_of_group(e);
}

static bool
wants(const struct sa_db *v, const struct inform_info *info,
      const struct event *e)
{
	if (info->generic != e->generic)
		return false;
	if (info->type != TYPE_ALL && info->type != e->type)
		return false;
	if (info->trap != TRAP_ALL && info->trap != e->trap)
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

static bool
may_hear_port(const struct sa_db *v, uint32_t port, uint32_t source)
{
	return source != SNAPSHOT_NONE &&
		(source == port ||
		 memberships_common(v->memberships, source, port) != 0);
}

static bool
may_hear(const struct sa_db *v, uint32_t port, const struct event *e)
{
	const uint8_t *gid = e->notice + NOTICE_GID_OFFSET;

	if (e->pkey)
		return memberships_of(v->memberships, port, e->pkey);
	/* a GID is in service, out of service */
	if (e->generic && (e->trap == 64 || e->trap == 65))
		return may_hear_port(v, port, sa_db_gid(v, gid));
	return may_hear_port(v, port, e->issuer_port);
}

static void
enqueue(struct informs *i, const struct subscription *s,
	const struct event *e)
{
	struct report draft = {
		.port_guid = s->port_guid, .qp = s->qp, .pkey = e->pkey,
	};
	struct report *report;

	memcpy(draft.notice, e->notice, NOTICE_LEN);
	memcpy(draft.issuer, e->issuer, 16);
	if (g_hash_table_contains(i->alike, &draft)) {
		i->counts.merged++;
		return;
	}
	if (i->waiting.length >= QUEUE_MAX) {
		i->counts.dropped++;
		return;
	}
	report = g_memdup2(&draft, sizeof(draft));
	g_queue_push_tail(&i->waiting, report);
	g_hash_table_add(i->alike, report);
	i->counts.queued++;
}

void
informs_notify(struct informs *i, const struct sa_db *v,
	       const uint8_t notice[64], const uint8_t issuer[16],
	       uint16_t pkey)
{
	struct event e;

	event_init(&e, v, notice, issuer);
	if (pkey)
		e.pkey = pkey;
	for (uint32_t n = 0; n < informs_count(i); n++) {
		const struct subscription *s = informs_at(i, n);
		uint32_t port;

		if (!wants(v, &s->info, &e))
			continue;
		port = sa_db_guid(v, s->port_guid);
		if (port != SNAPSHOT_NONE && may_hear(v, port, &e))
			enqueue(i, s, &e);
		else
			i->counts.withheld++;
	}
}

/* An id that no Report has which is out; never 0. */
static uint32_t
fresh_id(struct informs *i)
{
	do
		i->next_id++;
	while (!i->next_id ||
	       g_hash_table_contains(i->out, GUINT_TO_POINTER(i->next_id)));
	return i->next_id;
}

bool
informs_next(struct informs *i, struct report *out)
{
	struct report *report;

	while ((report = g_queue_pop_head(&i->waiting))) {
		g_hash_table_remove(i->alike, report);
		if (!is_subscriber(i, report->port_guid, report->qp)) {
			g_free(report);
			continue;
		}
		report->id = fresh_id(i);
		g_hash_table_insert(i->out, GUINT_TO_POINTER(report->id),
				    report);
		*out = *report;
		return true;
	}
	return false;
}

void
informs_ended(struct informs *i, uint32_t id, bool answered)
{
	const struct report *report =
		g_hash_table_lookup(i->out, GUINT_TO_POINTER(id));

	if (!report)
		return;
	for (guint n = i->subscriptions->len; !answered && n-- > 0;) {
		const struct subscription *s = informs_at(i, n);

		if (s->port_guid == report->port_guid && s->qp == report->qp)
			informs_remove(i, n);
	}
	g_hash_table_remove(i->out, GUINT_TO_POINTER(id));
}

void
informs_follow(struct informs *i, const struct sa_db *v)
{
	for (guint n = i->subscriptions->len; n-- > 0;) {
		struct subscription *s = i->subscriptions->pdata[n];
		uint32_t port = sa_db_guid(v, s->port_guid);
		uint8_t gid[16];

		if (port == SNAPSHOT_NONE) {
			informs_remove(i, n);
			continue;
		}
		sa_db_make_gid(v, port, gid);
		if (memcmp(gid, s->gid, 16) == 0)
			continue;
		memcpy(s->gid, gid, 16);
		i->version++;
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

static const struct state_line inform_line = {
	"inform", inform_words, G_N_ELEMENTS(inform_words), 0,
};

void
informs_save(const struct informs *i, GString *out)
{
	for (uint32_t n = 0; n < informs_count(i); n++)
		state_line_save(&inform_line, out, informs_at(i, n));
}

bool
informs_load_line(struct informs *i, char **words, guint n_words,
		  GError **error)
{
	struct subscription s = { .info = { .subscribe = 1 } };
	const struct subscription *next;

	if (!state_line_load(&inform_line, words, n_words, &s, error))
		return false;
	s.port_guid = bytes_load64(s.gid + 8);
	next = informs_at(i, place_of(i, s.port_guid, s.index));
	if (next && next->port_guid == s.port_guid && next->index == s.index)
		return state_line_refuse(error, "two subscriptions with one "
					 "Enum");
	if (find_wish(i, s.port_guid, s.qp, &s.info) < informs_count(i))
		return state_line_refuse(error, "the subscription is there "
					 "twice");
	if (informs_count(i) >= SUBSCRIPTIONS_MAX)
		return state_line_refuse(error, "too many subscriptions");
	informs_put(i, &s);
	return true;
}
