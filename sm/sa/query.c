// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to the SA, and their answers.
 *
 * Flow of sa_answer: header and key (a request with a wrong key is dropped, IBA
 * 15.4.1: it may be an attack) -> the requester's port -> by method: Set and
 * Delete change a store; Get and GetTable become an iterator of records: of the
 * fabric (records.c), of paths (path.c), or ready-made from the stores. Get
 * takes one record of it, with a status if there are none or more; GetTable
 * returns the iterator to the caller, which draws the records and sends them.
 *
 * All other requests are answered, if only with a status, so that no client
 * waits until its timeout.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/sa_limits.h"
#include "topology/each.h"

/* ClassPortInfo.CapabilityMask: Notices, UD multicast, MultiPath, match of
 * PortInfo's capabilities (IBA 15.2.5.2). */
#define CLASS_CAPS	0x2602u
/* CapabilityMask2: features of later revisions. Not supported: QoS classes (bit
 * 1), alias GUIDs (5), services of a multicast group (8). */
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
}

static uint8_t *
answer_data(struct sa_query *q)
{
	memset(q->reply->mad + SA_DATA_OFFSET, 0, SA_DATA_LEN);
	return q->reply->mad + SA_DATA_OFFSET;
}

/* Exactly one record, or a status: there are none, or several. */
void
sa_resume(struct sa_reply *reply)
{
	uint8_t *record = reply->mad + SA_DATA_OFFSET, other[SA_DATA_LEN];
	enum sa_draw drawn;
	unsigned status = 0;

	g_assert(reply->kind == SA_REPLY_LATER);
	do {
		drawn = sa_records_draw(reply->records,
					reply->found ? other : record);
		if (drawn == SA_DRAW_PAUSE)
			return;
		if (drawn == SA_DRAW_RECORD && reply->found)
			status = SA_STATUS_TOO_MANY;
		else if (drawn == SA_DRAW_RECORD)
			reply->found = true;
		else if (!reply->found)
			status = SA_STATUS_NO_RECORDS;
	} while (drawn == SA_DRAW_RECORD && !status);
	if (status)
		memset(record, 0, SA_DATA_LEN);
	g_clear_pointer(&reply->records, sa_records_free);
	sa_make_response(reply->mad, status);
	reply->kind = SA_REPLY_ONE;
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
		q->reply->kind = SA_REPLY_LATER;
		sa_resume(q->reply);
		return;
	}
	sa_make_response(q->reply->mad, 0);
	q->reply->kind = SA_REPLY_TABLE;
}

/* ------------------------------------------------- records of the stores */

/* Those that match the request, one after the other. */
struct found {
	const struct sa_query *q;
	struct sa_match match;
	GByteArray *bytes;
};

/* Adds `shown` if the record matches. lid: of SMInfoRecord. */
static bool
found_add(struct found *f, const void *record, const void *shown, uint16_t lid)
{
	unsigned attr_id = f->q->h.mad.attr_id;
	uint8_t data[SA_DATA_LEN];

	sa_record_encode(attr_id, data, record);
	if (attr_id == SA_ATTR_SM_INFO)
		bytes_store16(data, lid);
	if (!sa_match_test(&f->match, data))
		return false;
	if (shown != record)
		sa_record_encode(attr_id, data, shown);
	g_byte_array_append(f->bytes, data, (guint)sa_record_size(attr_id));
	return true;
}

/* Does the requester have this P_Key? */
static bool
shares_pkey(const struct sa_query *q, uint16_t pkey)
{
	return q->viewer.trusted ||
		memberships_of(q->viewer.db->memberships, q->viewer.port, pkey);
}

/* Only trusted requesters get the members of a group; others get the group, once,
 * if one of its members is as requested: so a port can ask whether it is one. */
static void
find_group(struct found *f, const struct group *g,
	   const struct mcmember_record *want)
{
	const struct sa_query *q = f->q;
	const struct sa_limits limits = SA_LIMITS(q->h.comp_mask, want, MCM);
	bool by_state = q->h.comp_mask >> MCM_JOIN_STATE & 1;
	const GPtrArray *members = g->members.list;
	struct mcmember_record r = g->r;
	uint64_t guid = bytes_load64(want->port_gid + 8);
	bool by_port = q->h.comp_mask >> MCM_PORT_GID & 1;
	guint i = by_port ? sa_store_place(&g->members, &guid) : 0;

	if (!sa_limits_hold(&limits, r.mtu, r.rate, r.life) ||
	    !shares_pkey(q, r.pkey) ||
	    (q->h.comp_mask >> MCM_PKEY & 1 &&
	     pkey_base(want->pkey) != pkey_base(r.pkey)))
		return;
	if (!members->len || (!q->viewer.trusted && !by_port && !by_state)) {
		if (!by_state || !want->join_state)
			found_add(f, &r, &r, 0);
		return;
	}
	for (; i < members->len; i++) {
		const struct group_member *m = members->pdata[i];

		if (by_port && m->port_guid != guid)
			break;
		if (by_state &&
		    (m->join_state & want->join_state) != want->join_state)
			continue;
		memcpy(r.port_gid, m->gid, 16);
		r.join_state = m->join_state;
		r.proxy_join = m->proxy;
		if (found_add(f, &r, q->viewer.trusted ? &r : &g->r, 0) &&
		    !q->viewer.trusted)
			return;
	}
}

static void
find_groups(struct found *f)
{
	const struct groups *g = f->q->sa->groups;
	uint64_t mask = f->q->h.comp_mask;
	struct mcmember_record want;
	const struct group *one;

	sa_record_decode(SA_ATTR_MC_MEMBER, f->q->wanted, &want);
	if (mask & (SA_BIT(MCM_MGID) | SA_BIT(MCM_MLID))) {
		one = mask & SA_BIT(MCM_MGID) ?
			sa_store_find(&g->all, want.mgid) :
			groups_of_mlid(g, want.mlid);
		if (one)
			find_group(f, one, &want);
		return;
	}
	EACH_PTR(const struct group, each, g->all.list)
		find_group(f, each, &want);
}

/* A service without a P_Key is visible to all, its key to those that are
 * trusted. */
static void
find_services(struct found *f)
{
	const struct sa_query *q = f->q;
	const struct sa_store *all = &q->sa->services->all;
	bool by_id = q->h.comp_mask >> SERVICE_ID & 1;
	bool by_key = q->h.comp_mask >> SERVICE_KEY & 1;
	bool by_name = q->h.comp_mask >> SERVICE_NAME & 1;
	struct service_record want, r;

	sa_record_decode(SA_ATTR_SERVICE, q->wanted, &want);
	EACH_PTR(const struct service, s, all->list) {
		if (s->ends <= q->request->now ||
		    (by_id && s->record.id != want.id) ||
		    (by_key && memcmp(s->record.key, want.key,
				      sizeof(want.key))) ||
		    (by_name && memcmp(s->record.name, want.name,
				       sizeof(want.name))) ||
		    (s->record.pkey && !shares_pkey(q, s->record.pkey)))
			continue;
		service_describe(s, q->request->now, &r);
		if (q->viewer.trusted)
			memcpy(r.key, s->record.key, sizeof(r.key));
		found_add(f, &r, &r, 0);
	}
}

/* Of a requester that is not trusted, its own subscriptions, without their QPs
 * (IBA C15-0.2-1.16). */
static void
find_informs(struct found *f)
{
	const struct sa_viewer *viewer = &f->q->viewer;
	const GPtrArray *list = f->q->sa->informs->all.list;

	EACH_PTR(const struct subscription, s, list) {
		struct inform_info_record r = {
			.index = s->index, .info = s->info,
		};

		if (!viewer->trusted &&
		    s->port_guid != viewer->db->ends[viewer->port].guid)
			continue;
		if (!viewer->trusted)
			r.info.qpn = 0;
		memcpy(r.subscriber_gid, s->gid, 16);
		found_add(f, &r, &r, 0);
	}
}

static void
find_sms(struct found *f)
{
	EACH_ITEM(const struct sa_sm, sm, f->q->sa->sms) {
		struct sm_info info = sm->info;

		info.sm_key = 0;
		found_add(f, &info, &info, sm->lid);
	}
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
		bytes_store16(q->reply->mad + MAD_OFF_ATTR_ID, SA_ATTR_PATH);
	sa_fields(q->h.mad.attr_id, &n);
	if (n < 64 && q->h.comp_mask >> n) {	/* bits of no component */
		answer_status(q, SA_STATUS_REQ_INVALID);
		return;
	}
	r = multi ? records_of_multi_path(q, &status) :
		records_of_paths(q, &status);
	answer_records(q, r, status);
}

/* ---------------------------------------------------------------- standby */

/* Keys of services are in the state: an SM_Key alone is not enough. */
static bool
is_standby(const struct sa_query *q)
{
	return q->h.sm_key && (!q->sa->is_manager ||
		q->sa->is_manager(q->request->slid, q->sa->is_manager_data));
}

static void
answer_class(struct sa_query *q)
{
	struct sa_mark mark;

	sa_class_info_encode(answer_data(q), CLASS_CAPS, CLASS_CAPS2,
			     CLASS_RESP_TIME);
	answer_status(q, 0);
	if (!sa_mark_read(q->request->mad, &mark) || !is_standby(q))
		return;
	sa_follow(q->sa, q->request->slid, q->request->now);
	mark = sa_mark_of(q->sa);
	sa_mark_write(q->reply->mad, &mark);
}

static void
answer_state(struct sa_query *q)
{
	bool may = is_standby(q);
	GByteArray *bytes;
	GString *text;

	if (!may || q->h.mad.method != SA_METHOD_GET_TABLE) {
		answer_status(q, may ? MAD_STATUS_BAD_METHOD :
			      SA_STATUS_DENIED);
		return;
	}
	text = g_string_new(NULL);
	if (q->sa->write_state)
		q->sa->write_state(text, q->sa->write_state_data);
	while (text->len % sa_record_size(SA_ATTR_STATE))
		g_string_append_c(text, '\n');
	bytes = g_byte_array_new_take((uint8_t *)text->str, text->len);
	g_string_free(text, FALSE);
	answer_records(q, records_of_bytes(q, SA_ATTR_STATE, bytes), 0);
}

static void
query_records(struct sa_query *q)
{
	static const struct {
		uint16_t attr_id;
		void (*find)(struct found *f);
	} stores[] = {
		{ SA_ATTR_MC_MEMBER, find_groups },
		{ SA_ATTR_SERVICE, find_services },
		{ SA_ATTR_INFORM_INFO_RECORD, find_informs },
		{ SA_ATTR_SM_INFO, find_sms },
	};
	unsigned attr_id = q->h.mad.attr_id, status;
	struct sa_records *r;
	struct found f;

	for (unsigned i = 0; i < G_N_ELEMENTS(stores); i++) {
		if (stores[i].attr_id != attr_id)
			continue;
		if (!sa_match_init(&f.match, attr_id, q->h.comp_mask,
				   q->wanted)) {
			answer_status(q, SA_STATUS_REQ_INVALID);
			return;
		}
		f.q = q;
		f.bytes = g_byte_array_new();
		stores[i].find(&f);
		answer_records(q, records_of_bytes(q, attr_id, f.bytes), 0);
		return;
	}
	if (attr_id == SA_ATTR_PATH) {
		query_paths(q, false);
		return;
	}
	if (attr_id == SA_ATTR_CLASS_PORT_INFO &&
	    q->h.mad.method == MAD_METHOD_GET) {
		answer_class(q);
		return;
	}
	r = records_of_fabric(q, &status);
	answer_records(q, r, status);
}

/* -------------------------------------------------- Get, GetTable, Set .. */

static void
query_change(struct sa_query *q)
{
	bool set = q->h.mad.method == MAD_METHOD_SET;
	unsigned attr_id = q->h.mad.attr_id, status;
	uint64_t mask = q->h.comp_mask;
	union {
		struct mcmember_record member;
		struct service_record service;
		struct inform_info inform;
	} r;

	memset(&r, 0, sizeof(r));	/* members without a component */
	/* A GUID of 0 is one that is not assigned. A status would make mlx4
	 * repeat its request for the alias GUIDs of virtual functions each
	 * second, this makes it wait for up to a minute
	 * (aliasguid_query_handler()). There are none to be deleted. */
	if (attr_id == SA_ATTR_GUID_INFO) {
		memcpy(answer_data(q), q->wanted, 8);	/* LID, block number */
		answer_status(q, 0);
		return;
	}
	if (attr_id != SA_ATTR_MC_MEMBER && attr_id != SA_ATTR_SERVICE &&
	    !(attr_id == SA_ATTR_INFORM_INFO && set)) {
		answer_status(q, MAD_STATUS_BAD_ATTRIBUTE);
		return;
	}
	sa_record_decode(attr_id, q->wanted, &r);
	if (attr_id == SA_ATTR_MC_MEMBER)
		status = (set ? groups_join : groups_leave)
			(q->sa->groups, q->viewer.db, q->viewer.port, mask,
			 &r.member);
	else if (attr_id == SA_ATTR_SERVICE)
		status = (set ? services_set : services_delete)
			(q->sa->services, q->viewer.db, q->viewer.port, mask,
			 &r.service, q->request->now);
	else
		status = informs_set(q->sa->informs, q->viewer.db, q->viewer.port,
				     q->request->qp, q->viewer.trusted,
				     &r.inform, q->request->now);
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
		query_change(q);
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

	memset(reply, 0, sizeof(*reply));	/* SA_REPLY_NONE */
	if (!sa_header_read(request->mad, request->len, &q.h)) {
		reply->why = "SA request that is no whole MAD";
		return;
	}
	if (!sa_is_request(q.h.mad.method)) {
		reply->why = "SA message that is no request";
		return;
	}
	if (q.h.mad.base_version != MAD_BASE_VERSION) {
		reply->why = "request of another MAD version";
		return;
	}
	memcpy(reply->mad, request->mad, MAD_SIZE);
	if (q.h.mad.class_version != 2) {
		answer_status(&q, MAD_STATUS_BAD_VERSION);
		return;
	}
	if (q.h.sm_key && q.h.sm_key != sa->params.sm_key) {
		reply->why = "SA request with a wrong SM_Key";
		return;
	}
	if (q.h.mad.attr_id == SA_ATTR_STATE) {
		answer_state(&q);
		return;
	}
	if (sa_is_of_standby(request->mad, q.h.mad.attr_id,
			     q.h.mad.method) && is_standby(&q)) {
		answer_class(&q);
		return;
	}
	if (!sa->view) {
		answer_status(&q, MAD_STATUS_BUSY);
		return;
	}
	q.wanted = request->mad + SA_DATA_OFFSET;
	q.viewer = (struct sa_viewer){
		.db = sa->view,
		.port = lid_map_owner(sa->view->lids, request->slid),
		.trusted = q.h.sm_key != 0,
	};
	if (q.viewer.port == SNAPSHOT_NONE)
		answer_status(&q, SA_STATUS_REQ_INVALID);
	else
		act(&q);
}
