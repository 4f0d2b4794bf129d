// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to the SA, and their answers.
 *
 * Flow of sa_answer: header and key (a request with a wrong key is dropped, IBA
 * 15.4.1: it may be an attack) -> the requester's port -> by method: Set and
 * Delete change a store; Get and GetTable become an iterator of records: of the
 * fabric (records.c), of paths (path.c), or of the stores (registered.c). Get
 * takes one record of it, with a status if there are none or more; GetTable
 * returns the iterator to the caller, which draws the records and sends them.
 *
 * All other requests are answered, if only with a status, so that no client
 * waits until its timeout.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/mad/bytes.h"

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

/* The records, or why there are none; 0: none of this attribute. */
static void
answer_records(struct sa_query *q, struct sa_records *r, unsigned status)
{
	unsigned n;

	sa_fields(q->h.mad.attr_id, &n);
	if (r && n < 64 && q->h.comp_mask >> n) {	/* no component */
		g_clear_pointer(&r, sa_records_free);
		status = SA_STATUS_REQ_INVALID;
	}
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
query_records(struct sa_query *q)
{
	unsigned attr_id = q->h.mad.attr_id, status = 0;
	struct sa_records *r;

	r = attr_id == SA_ATTR_PATH ? records_of_paths(q, &status) :
		records_of_store(q);
	if (!r && !status)
		r = records_of_fabric(q, &status);
	answer_records(q, r, status);
}

/* -------------------------------------------------- Get, GetTable, Set .. */

static void
query_change(struct sa_query *q)
{
	static const struct {
		uint16_t attr_id;
		uint8_t method;
		unsigned (*change)(const struct sa_query *q, void *asked);
	} changes[] = {
		{ SA_ATTR_MC_MEMBER, MAD_METHOD_SET, groups_join },
		{ SA_ATTR_MC_MEMBER, SA_METHOD_DELETE, groups_leave },
		{ SA_ATTR_SERVICE, MAD_METHOD_SET, services_set },
		{ SA_ATTR_SERVICE, SA_METHOD_DELETE, services_delete },
		{ SA_ATTR_INFORM_INFO, MAD_METHOD_SET, informs_set },
	};
	unsigned attr_id = q->h.mad.attr_id, status = MAD_STATUS_BAD_ATTRIBUTE;
	union {
		struct mcmember_record member;
		struct service_record service;
		struct inform_info inform;
	} asked;

	/* A GUID of 0 is one that is not assigned. A status would make mlx4
	 * repeat its request for the alias GUIDs of virtual functions each
	 * second, this makes it wait for up to a minute
	 * (aliasguid_query_handler()). There are none to be deleted. */
	if (attr_id == SA_ATTR_GUID_INFO) {
		memcpy(answer_data(q), q->wanted, 8);	/* LID, block number */
		answer_status(q, 0);
		return;
	}
	memset(&asked, 0, sizeof(asked));	/* members without a component */
	for (unsigned i = 0; i < G_N_ELEMENTS(changes); i++) {
		if (changes[i].attr_id != attr_id ||
		    changes[i].method != q->h.mad.method)
			continue;
		sa_record_decode(attr_id, q->wanted, &asked);
		status = changes[i].change(q, &asked);
	}
	if (!status)
		sa_record_encode(attr_id, answer_data(q), &asked);
	answer_status(q, status);
}

static void
query_multi_path(struct sa_query *q)
{
	struct sa_records *r = NULL;
	unsigned status = 0;

	if (q->h.mad.attr_id == SA_ATTR_MULTI_PATH) {
		r = records_of_multi_path(q, &status);
		/* by its own method, but as PathRecords (IBA o15-0.2.7) */
		bytes_store16(q->reply->mad + MAD_OFF_ATTR_ID, SA_ATTR_PATH);
	}
	answer_records(q, r, status);
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
		query_multi_path(q);
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
	q.wanted = request->mad + SA_DATA_OFFSET;
	if (q.h.mad.attr_id == SA_ATTR_STATE) {
		if (!is_standby(&q))
			answer_status(&q, SA_STATUS_DENIED);
		else if (q.h.mad.method != SA_METHOD_GET_TABLE)
			answer_status(&q, MAD_STATUS_BAD_METHOD);
		else
			query_records(&q);
		return;
	}
	if (q.h.mad.attr_id == SA_ATTR_CLASS_PORT_INFO &&
	    q.h.mad.method == MAD_METHOD_GET) {
		answer_class(&q);
		return;
	}
	if (!sa->view) {
		answer_status(&q, MAD_STATUS_BUSY);
		return;
	}
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
