// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to the SA, and their answers.
 *
 * Flow of sa_answer: header and key (a wrong key is dropped, IBA 15.4.1: it may
 * be an attack, and gets nothing to compare with) -> the requester's port -> by
 * method: Set and Delete change a store; Get and GetTable become an iterator of
 * records: of the fabric (records.c), of paths (path.c), or ready-made from the
 * stores. Get takes one record of it, with a status if there are none or more;
 * GetTable hands the iterator to the sender of the answer, who draws from it.
 *
 * Everything else is answered, if only with a status: a client that waits for
 * an answer must not wait in vain.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/mad/bytes.h"

/* ClassPortInfo.CapabilityMask: Notices, UD multicast, MultiPath, match of
 * PortInfo's capabilities (IBA 15.2.5.2). */
#define CLASS_CAPS	0x2602u
/* CapabilityMask2: what clients may use of later revisions. Not there: QoS
 * classes (bit 1), alias GUIDs (5), services of a multicast group (8). */
#define CLASS_CAPS2	(1u << 3 |	/* SwitchInfo's MulticastFDBTop */ \
			 1u << 6 |	/* all of PortInfo in its record */ \
			 1u << 7 |	/* extended link speeds */ \
			 1u << 10 |	/* match of CapabilityMask2 */ \
			 1u << 12 |	/* JoinState SendOnlyFullMember */ \
			 1u << 13 |	/* link width 2x, */ \
			 1u << 15 |	/* HDR, */ \
			 1u << 17)	/* NDR, as rates of paths and groups */
#define CLASS_RESP_TIME	18u	/* 4.096 us * 2^18: one second */

static void
answer_status(struct sa_query *q, unsigned status)
{
	sa_make_response(q->reply->mad, status);
	q->reply->kind = SA_REPLY_ONE;
	if (status)
		q->sa->stats.refused++;
	else
		q->sa->stats.answered++;
}

static void
drop(struct sa_query *q, const char *why)
{
	q->reply->kind = SA_REPLY_NONE;
	q->reply->why = why;
	q->sa->stats.dropped++;
}

static uint8_t *
answer_data(struct sa_query *q)
{
	memset(q->reply->mad + SA_DATA_OFFSET, 0, SA_DATA_LEN);
	return q->reply->mad + SA_DATA_OFFSET;
}

/* One record and no other, or the status that says what there is. */
static void
look_for_one(struct sa_query *q)
{
	struct sa_records *r = q->reply->records;
	uint8_t other[SA_DATA_LEN];
	enum sa_draw drawn;
	unsigned status = 0;

	do {
		drawn = sa_records_draw(r, q->reply->found ? other :
					q->reply->mad + SA_DATA_OFFSET);
		if (drawn == SA_DRAW_PAUSE) {
			q->reply->kind = SA_REPLY_LATER;
			return;
		}
		if (drawn == SA_DRAW_RECORD && q->reply->found)
			status = SA_STATUS_TOO_MANY;
		else if (drawn == SA_DRAW_RECORD)
			q->reply->found = true;
		else if (!q->reply->found)
			status = SA_STATUS_NO_RECORDS;
	} while (drawn == SA_DRAW_RECORD && !status);
	if (status)
		answer_data(q);
	g_clear_pointer(&q->reply->records, sa_records_free);
	answer_status(q, status);
}

void
sa_resume(struct sa *sa, struct sa_reply *reply)
{
	struct sa_query q = { .sa = sa, .reply = reply };

	g_assert(reply->kind == SA_REPLY_LATER);
	look_for_one(&q);
}

static void
answer_records(struct sa_query *q, struct sa_records *r, unsigned status)
{
	q->reply->records = r;
	if (!r) {
		answer_status(q, status ? status : MAD_STATUS_BAD_ATTRIBUTE);
		return;
	}
	answer_data(q);
	if (q->h.mad.method == MAD_METHOD_GET) {
		look_for_one(q);
		return;
	}
	sa_make_response(q->reply->mad, 0);
	q->reply->kind = SA_REPLY_TABLE;
	q->sa->stats.answered++;
}

/* ------------------------------------------------- records of the stores */

/* Those that match the request, one after the other. */
struct found {
	const struct sa_query *q;
	struct sa_match match;
	GByteArray *bytes;
};

static void
found_add(struct found *f, const void *record, uint16_t lid)
{
	unsigned attr_id = f->q->h.mad.attr_id;
	uint8_t data[SA_DATA_LEN];

	sa_record_encode(attr_id, data, record);
	if (attr_id == SA_ATTR_SM_INFO)
		bytes_store16(data, lid);
	if (sa_match_test(&f->match, data))
		g_byte_array_append(f->bytes, data,
				    (guint)sa_record_size(attr_id));
}

/* Does the requester have this P_Key? */
static bool
shares_pkey(const struct sa_query *q, uint16_t pkey)
{
	return q->who.trusted ||
		memberships_of(q->who.db->memberships, q->who.port, pkey);
}

static void
find_members(struct found *f, const struct group *g,
	     const struct mcmember_record *want)
{
	bool by_state = f->q->h.comp_mask >> MCM_JOIN_STATE & 1;
	bool one = f->q->h.comp_mask >> MCM_PORT_GID & 1;
	const struct group_member *m = (const void *)g->members->data;
	guint n = g->members->len;
	struct mcmember_record r;

	if (one)
		m = group_member(g, want->port_gid);
	if (one)
		n = m && memcmp(m->gid, want->port_gid, 16) == 0;
	group_record(g, &r);
	for (; n > 0; n--, m++) {
		if (by_state &&
		    (m->join_state & want->join_state) != want->join_state)
			continue;
		memcpy(r.port_gid, m->gid, 16);
		r.join_state = m->join_state;
		r.proxy_join = m->proxy;
		found_add(f, &r, 0);
	}
}

/* The members of a group are for trusted requesters only; others learn that the
 * group exists. */
static void
find_group(struct found *f, const struct group *g,
	   const struct mcmember_record *want)
{
	const struct sa_query *q = f->q;
	struct mcmember_record r;

	if (!group_limits_hold(g, q->h.comp_mask, want) ||
	    !shares_pkey(q, g->pkey))
		return;
	if (q->who.trusted && g->members->len) {
		find_members(f, g, want);
		return;
	}
	if (q->h.comp_mask >> MCM_JOIN_STATE & 1 && want->join_state)
		return;
	group_record(g, &r);
	found_add(f, &r, 0);
}

static void
find_groups(struct found *f)
{
	const struct groups *all = f->q->sa->groups;
	uint64_t mask = f->q->h.comp_mask;
	struct mcmember_record want;
	const struct group *one;

	sa_record_decode(SA_ATTR_MC_MEMBER, f->q->wanted, &want);
	if (mask & (SA_BIT(MCM_MGID) | SA_BIT(MCM_MLID))) {
		one = mask & SA_BIT(MCM_MGID) ? groups_find(all, want.mgid) :
			groups_of_mlid(all, want.mlid);
		if (one)
			find_group(f, one, &want);
		return;
	}
	for (uint32_t i = 0; i < groups_count(all); i++)
		find_group(f, groups_at(all, i), &want);
}

/* A service without a P_Key is for everybody; no answer has its key. */
static void
find_services(struct found *f)
{
	const struct sa_query *q = f->q;
	const struct services *all = q->sa->services;
	bool by_id = q->h.comp_mask >> SERVICE_ID & 1;
	bool by_key = q->h.comp_mask >> SERVICE_KEY & 1;
	struct service_record want, first = { .id = 0 }, r;

	sa_record_decode(SA_ATTR_SERVICE, q->wanted, &want);
	first.id = want.id;
	for (uint32_t i = by_id ? services_place(all, &first) : 0;
	     i < services_count(all); i++) {
		const struct service *s = services_at(all, i);

		if (by_id && s->record.id != want.id)
			break;
		if (s->ends <= q->request->now ||
		    (by_key && memcmp(s->record.key, want.key,
				      sizeof(want.key))) ||
		    (s->record.pkey && !shares_pkey(q, s->record.pkey)))
			continue;
		service_describe(s, q->request->now, &r);
		found_add(f, &r, 0);
	}
}

/* One's own subscriptions, unless trusted. */
static void
find_informs(struct found *f)
{
	const struct sa_viewer *who = &f->q->who;
	const struct informs *all = f->q->sa->informs;

	for (uint32_t i = 0; i < informs_count(all); i++) {
		const struct subscription *s = informs_at(all, i);
		struct inform_info_record r = {
			.index = s->index, .info = s->info,
		};

		if (!who->trusted &&
		    s->port_guid != who->db->ends[who->port].guid)
			continue;
		memcpy(r.subscriber_gid, s->gid, 16);
		found_add(f, &r, 0);
	}
}

static void
find_sms(struct found *f)
{
	for (guint i = 0; i < f->q->sa->sms->len; i++) {
		struct sa_sm sm = g_array_index(f->q->sa->sms, struct sa_sm,
						i);

		sm.info.sm_key = 0;
		found_add(f, &sm.info, sm.lid);
	}
}

static void
query_store(struct sa_query *q, void (*find)(struct found *f))
{
	unsigned attr_id = q->h.mad.attr_id;
	struct found f = { .q = q };

	if (!sa_match_init(&f.match, attr_id, q->h.comp_mask, q->wanted)) {
		answer_status(q, SA_STATUS_REQ_INVALID);
		return;
	}
	f.bytes = g_byte_array_new();
	find(&f);
	answer_records(q, records_of_bytes(q, attr_id, f.bytes), 0);
}

/* ----------------------------------------------------------------- paths */

static void
query_paths(struct sa_query *q, bool multi)
{
	struct sa_records *r;
	unsigned status, n;

	/* GetMulti is answered by its own method, but with PathRecord's
	 * attribute (IBA o15-0.2.7). */
	if (multi)
		sa_set_attribute(q->reply->mad, SA_ATTR_PATH);
	sa_fields(q->h.mad.attr_id, &n);
	if (n < 64 && q->h.comp_mask >> n) {	/* bits of no component */
		answer_status(q, SA_STATUS_REQ_INVALID);
		return;
	}
	r = multi ? records_of_multi_path(q, &status) :
		records_of_paths(q, &status);
	answer_records(q, r, status);
}

static void
get_class_port_info(struct sa_query *q)
{
	const struct sa_class_info info = {
		.cap_mask = CLASS_CAPS, .cap_mask2 = CLASS_CAPS2,
		.resp_time = CLASS_RESP_TIME,
	};

	sa_class_info_encode(answer_data(q), &info);
	answer_status(q, 0);
}

static void
query_records(struct sa_query *q)
{
	struct sa_unread *unread = &q->reply->unread;
	struct sa_records *r;
	unsigned status;

	switch (q->h.mad.attr_id) {
	case SA_ATTR_CLASS_PORT_INFO:
		if (q->h.mad.method != MAD_METHOD_GET)
			break;
		get_class_port_info(q);
		return;
	case SA_ATTR_PATH:
		query_paths(q, false);
		return;
	case SA_ATTR_MC_MEMBER:
		query_store(q, find_groups);
		return;
	case SA_ATTR_SERVICE:
		query_store(q, find_services);
		return;
	case SA_ATTR_INFORM_INFO_RECORD:
		query_store(q, find_informs);
		return;
	case SA_ATTR_SM_INFO:
		query_store(q, find_sms);
		return;
	}
	unread->ports = records_unread(q, &unread->table);
	if (unread->ports) {		/* it will be counted when it returns */
		q->reply->kind = SA_REPLY_UNREAD;
		q->sa->stats.requests--;
		return;
	}
	r = records_of_fabric(q, &status);
	answer_records(q, r, status);
}

/* -------------------------------------------------- Get, GetTable, Set .. */

static void
change(struct sa_query *q)
{
	bool set = q->h.mad.method == MAD_METHOD_SET;
	unsigned attr_id = q->h.mad.attr_id, status;
	uint64_t mask = q->h.comp_mask;
	union {
		struct mcmember_record member;
		struct service_record service;
		struct inform_info inform;
	} r;

	if (attr_id != SA_ATTR_MC_MEMBER && attr_id != SA_ATTR_SERVICE &&
	    !(attr_id == SA_ATTR_INFORM_INFO && set)) {
		answer_status(q, MAD_STATUS_BAD_ATTRIBUTE);
		return;
	}
	sa_record_decode(attr_id, q->wanted, &r);
	if (attr_id == SA_ATTR_MC_MEMBER)
		status = (set ? groups_join : groups_leave)
			(q->sa->groups, q->who.db, q->who.port, mask,
			 &r.member);
	else if (attr_id == SA_ATTR_SERVICE)
		status = (set ? services_set : services_delete)
			(q->sa->services, q->who.db, q->who.port, mask,
			 &r.service, q->request->now);
	else
		status = informs_set(q->sa->informs, q->who.db, q->who.port,
				     &r.inform);
	if (!status)
		sa_record_encode(attr_id, answer_data(q), &r);
	answer_status(q, status);
}

static void
act(struct sa_query *q)
{
	switch (q->h.mad.method) {
	case MAD_METHOD_GET:
	case SA_METHOD_GET_TABLE:
		query_records(q);
		return;
	case MAD_METHOD_SET:
	case SA_METHOD_DELETE:
		change(q);
		return;
	case SA_METHOD_GET_MULTI:
		if (q->h.mad.attr_id == SA_ATTR_MULTI_PATH)
			query_paths(q, true);
		else
			answer_status(q, MAD_STATUS_BAD_ATTRIBUTE);
		return;
	}
	answer_status(q, MAD_STATUS_BAD_METHOD);
}

void
sa_answer(struct sa *sa, const struct sa_request *request,
	  struct sa_reply *reply)
{
	struct sa_query q = { .sa = sa, .request = request, .reply = reply };

	memset(reply, 0, sizeof(*reply));
	sa->stats.requests++;
	if (!sa_header_read(request->mad, request->len, &q.h)) {
		drop(&q, "SA request that is no whole MAD");
		return;
	}
	if (!sa_is_request(q.h.mad.method)) {
		drop(&q, "SA message that is no request");
		return;
	}
	memcpy(reply->mad, request->mad, MAD_SIZE);
	if (q.h.mad.class_version != 2) {
		answer_status(&q, MAD_STATUS_BAD_VERSION);
		return;
	}
	if (q.h.sm_key && q.h.sm_key != sa->params.sm_key) {
		drop(&q, "SA request with a wrong SM_Key");
		return;
	}
	if (!sa->view) {
		answer_status(&q, MAD_STATUS_BUSY);
		return;
	}
	q.wanted = request->mad + SA_DATA_OFFSET;
	q.who = (struct sa_viewer){
		.db = sa->view, .port = sa_db_lid(sa->view, request->slid),
		.trusted = q.h.sm_key != 0,
	};
	if (q.who.port == SNAPSHOT_NONE)
		answer_status(&q, SA_STATUS_REQ_INVALID);
	else
		act(&q);
}
