// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Questions to the SA.
 *
 * A question becomes an iterator of records: of the fabric (records.c), of
 * paths (path_table.c), or ready-made from what clients left in the stores.
 * Get takes one record of it and says so if there are none or more; GetTable
 * hands the iterator on, and whoever sends the answer draws from it.
 */
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/path.h"
#include "sm/sa/task.h"

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

/* One record and no other, or the status that says what there is. */
static void
look_for_one(struct task *t)
{
	struct sa_records *r = t->reply->records;
	uint8_t other[SA_DATA_LEN];
	enum sa_draw drawn;
	unsigned status = 0;

	do {
		drawn = sa_records_draw(r, t->reply->found ? other :
					t->reply->mad + SA_DATA_OFFSET);
		if (drawn == SA_DRAW_PAUSE) {
			t->reply->kind = SA_REPLY_LATER;
			return;
		}
		if (drawn == SA_DRAW_RECORD && t->reply->found)
			status = SA_STATUS_TOO_MANY;
		else if (drawn == SA_DRAW_RECORD)
			t->reply->found = true;
		else if (!t->reply->found)
			status = SA_STATUS_NO_RECORDS;
	} while (drawn == SA_DRAW_RECORD && !status);
	if (status)
		task_data(t);
	g_clear_pointer(&t->reply->records, sa_records_free);
	task_answer(t, status);
}

static void
answer_one(struct task *t, struct sa_records *r)
{
	task_data(t);
	t->reply->records = r;
	look_for_one(t);
}

void
sa_resume(struct sa *sa, struct sa_reply *reply)
{
	struct task t = { .sa = sa, .reply = reply };

	g_assert(reply->kind == SA_REPLY_LATER);
	look_for_one(&t);
}

static void
answer_table(struct task *t, struct sa_records *r)
{
	sa_make_response(t->reply->mad, 0);
	task_data(t);
	t->reply->kind = SA_REPLY_TABLE;
	t->reply->records = r;
	t->sa->stats.answered++;
}

static void
answer_records(struct task *t, struct sa_records *r, unsigned status)
{
	if (!r)
		task_answer(t, status ? status : MAD_STATUS_BAD_ATTRIBUTE);
	else if (t->h.mad.method == MAD_METHOD_GET)
		answer_one(t, r);
	else
		answer_table(t, r);
}

/* ------------------------------------------------- records of the stores */

/* Appends a record if it matches what is asked for. */
static void
add_if_wanted(GByteArray *bytes, const struct sa_match *m, unsigned attr_id,
	      const uint8_t *record)
{
	if (sa_match_test(m, record))
		g_byte_array_append(bytes, record,
				    (guint)sa_record_size(attr_id));
}

static void
fill_member(const struct group *g, struct mcmember_record *r)
{
	*r = (struct mcmember_record){
		.q_key = g->q_key, .mlid = g->mlid,
		.mtu_selector = SA_EXACTLY, .mtu = g->mtu,
		.tclass = g->tclass, .pkey = g->pkey,
		.rate_selector = SA_EXACTLY, .rate = g->rate,
		.life_selector = SA_EXACTLY, .life = g->life, .sl = g->sl,
		.flow_label = g->flow_label, .hop_limit = g->hop_limit,
		.scope = g->scope,
	};
	memcpy(r->mgid, g->mgid, 16);
}

/* Selectors compare the group's values, which are what they are. */
static bool
group_fits(const struct group *g, uint64_t mask,
	   const struct mcmember_record *want)
{
	static const uint64_t mtu = SA_BIT(MCM_MTU_SELECTOR) | SA_BIT(MCM_MTU);
	static const uint64_t rate = SA_BIT(MCM_RATE_SELECTOR) |
		SA_BIT(MCM_RATE);
	static const uint64_t life = SA_BIT(MCM_LIFE_SELECTOR) |
		SA_BIT(MCM_LIFE);

	return ((mask & mtu) != mtu ||
		records_number_fits(want->mtu_selector,
				    g->mtu - want->mtu)) &&
		((mask & rate) != rate ||
		 records_number_fits(want->rate_selector,
				     sa_rate_compare(g->rate, want->rate))) &&
		((mask & life) != life ||
		 records_number_fits(want->life_selector,
				     g->life - want->life));
}

/* The first member whose GID is not less: they are sorted by it. */
static guint
member_place(const struct group *g, const uint8_t gid[16])
{
	guint low = 0, high = g->members->len, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (memcmp(g_array_index(g->members, struct group_member,
					 mid).gid, gid, 16) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void
add_members(struct task *t, const struct group *g, const struct sa_match *m,
	    const struct mcmember_record *want, GByteArray *bytes)
{
	bool one = t->h.comp_mask >> MCM_PORT_GID & 1;
	bool by_state = t->h.comp_mask >> MCM_JOIN_STATE & 1;
	struct mcmember_record r;
	uint8_t record[SA_DATA_LEN];

	fill_member(g, &r);
	for (guint i = one ? member_place(g, want->port_gid) : 0;
	     i < g->members->len; i++) {
		const struct group_member *who =
			&g_array_index(g->members, struct group_member, i);

		if (one && memcmp(who->gid, want->port_gid, 16))
			break;
		if (by_state &&
		    (who->join_state & want->join_state) != want->join_state)
			continue;
		memcpy(r.port_gid, who->gid, 16);
		r.join_state = who->join_state;
		r.proxy_join = who->proxy;
		sa_record_encode(SA_ATTR_MC_MEMBER, record, &r);
		add_if_wanted(bytes, m, SA_ATTR_MC_MEMBER, record);
	}
}

/* Who is in a group is told to the trusted only; to others, that there is the
 * group. */
static void
add_group(struct task *t, const struct group *g, const struct sa_match *m,
	  const struct mcmember_record *want, GByteArray *bytes)
{
	uint64_t mask = t->h.comp_mask;
	struct mcmember_record r;
	uint8_t record[SA_DATA_LEN];

	if (!group_fits(g, mask, want) ||
	    (!t->q.trusted && !memberships_of(t->sa->view->memberships,
					      t->q.requester, g->pkey)))
		return;
	if (t->q.trusted && g->members->len) {
		add_members(t, g, m, want, bytes);
		return;
	}
	if (mask >> MCM_JOIN_STATE & 1 && want->join_state)
		return;
	fill_member(g, &r);
	sa_record_encode(SA_ATTR_MC_MEMBER, record, &r);
	add_if_wanted(bytes, m, SA_ATTR_MC_MEMBER, record);
}

static void
collect_groups(struct task *t, const struct sa_match *m, GByteArray *bytes)
{
	struct mcmember_record want;
	const struct group *one;

	sa_record_decode(SA_ATTR_MC_MEMBER, t->q.wanted, &want);
	if (t->h.comp_mask & (SA_BIT(MCM_MGID) | SA_BIT(MCM_MLID))) {
		one = t->h.comp_mask & SA_BIT(MCM_MGID) ?
			groups_find(t->sa->groups, want.mgid) :
			groups_of_mlid(t->sa->groups, want.mlid);
		if (one)
			add_group(t, one, m, &want, bytes);
		return;
	}
	for (uint32_t i = 0; i < groups_count(t->sa->groups); i++)
		add_group(t, groups_at(t->sa->groups, i), m, &want, bytes);
}

/* Of those with this ServiceID, the first: they are sorted by it. */
static uint32_t
service_place(const struct services *s, uint64_t id)
{
	uint32_t low = 0, high = services_count(s), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (services_at(s, mid)->record.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A service without a P_Key is for everybody. */
static bool
service_visible(const struct task *t, const struct service *s)
{
	uint16_t pkey = s->record.pkey;

	return s->ends > t->request->now &&
		(t->q.trusted || !pkey ||
		 memberships_of(t->sa->view->memberships, t->q.requester,
				pkey));
}

/* The key of a service is told to nobody; its lease is what is left of it, a
 * second that began counts. */
static void
add_service(struct task *t, const struct service *s, const struct sa_match *m,
	    GByteArray *bytes)
{
	struct service_record r = s->record;
	uint8_t record[SA_DATA_LEN];

	memset(r.key, 0, sizeof(r.key));
	if (s->ends != INT64_MAX)
		r.lease = (uint32_t)((s->ends - t->request->now +
				      G_USEC_PER_SEC - 1) / G_USEC_PER_SEC);
	sa_record_encode(SA_ATTR_SERVICE, record, &r);
	add_if_wanted(bytes, m, SA_ATTR_SERVICE, record);
}

static void
collect_services(struct task *t, const struct sa_match *m, GByteArray *bytes)
{
	const struct services *all = t->sa->services;
	bool by_id = t->h.comp_mask >> SERVICE_ID & 1;
	bool by_key = t->h.comp_mask >> SERVICE_KEY & 1;
	struct service_record want;

	sa_record_decode(SA_ATTR_SERVICE, t->q.wanted, &want);
	for (uint32_t i = by_id ? service_place(all, want.id) : 0;
	     i < services_count(all); i++) {
		const struct service *s = services_at(all, i);

		if (by_id && s->record.id != want.id)
			break;
		if (by_key && memcmp(s->record.key, want.key,
				     sizeof(want.key)))
			continue;
		if (service_visible(t, s))
			add_service(t, s, m, bytes);
	}
}

/* One's own subscriptions, unless trusted. */
static void
collect_informs(struct task *t, const struct sa_match *m, GByteArray *bytes)
{
	uint64_t own = t->sa->view->subnet->ports[t->q.requester].guid;
	uint8_t record[SA_DATA_LEN];

	for (uint32_t i = 0; i < informs_count(t->sa->informs); i++) {
		const struct subscription *s =
			informs_at(t->sa->informs, i);
		struct inform_info_record r = {
			.index = s->index, .info = s->info,
		};

		if (!t->q.trusted && s->port_guid != own)
			continue;
		memcpy(r.subscriber_gid, s->gid, 16);
		sa_record_encode(SA_ATTR_INFORM_INFO_RECORD, record, &r);
		add_if_wanted(bytes, m, SA_ATTR_INFORM_INFO_RECORD, record);
	}
}

static void
collect_sms(struct task *t, const struct sa_match *m, GByteArray *bytes)
{
	uint8_t record[SA_DATA_LEN];

	for (guint i = 0; i < t->sa->sms->len; i++) {
		struct sa_sm sm = g_array_index(t->sa->sms, struct sa_sm, i);

		sm.info.sm_key = 0;
		sa_record_encode(SA_ATTR_SM_INFO, record, &sm.info);
		bytes_store16(record, sm.lid);
		add_if_wanted(bytes, m, SA_ATTR_SM_INFO, record);
	}
}

static void
query_store(struct task *t,
	    void (*collect)(struct task *t, const struct sa_match *m,
			    GByteArray *bytes))
{
	unsigned attr_id = t->h.mad.attr_id;
	struct sa_match match;
	GByteArray *bytes;

	if (!sa_match_init(&match, attr_id, t->h.comp_mask, t->q.wanted)) {
		task_answer(t, SA_STATUS_REQ_INVALID);
		return;
	}
	bytes = g_byte_array_new();
	collect(t, &match, bytes);
	answer_records(t, records_of_bytes(attr_id, bytes), 0);
}

/* ----------------------------------------------------------------- paths */

static bool
is_multicast(const struct task *t, const struct path_record *want,
	     const struct group **group)
{
	const struct groups *all = t->sa->groups;

	*group = NULL;
	if (t->h.comp_mask >> PATH_DGID & 1 && want->dgid[0] == 0xff) {
		*group = groups_find(all, want->dgid);
		return true;
	}
	if (!(t->h.comp_mask >> PATH_DLID & 1) ||
	    want->dlid < LID_MULTICAST_MIN || want->dlid == LID_PERMISSIVE)
		return false;
	*group = groups_of_mlid(all, want->dlid);
	return true;
}

/* A mask with bits that mean no component is an invalid request. */
static bool
mask_is_known(const struct task *t)
{
	unsigned n;

	sa_fields(t->h.mad.attr_id, &n);
	return n >= 64 || !(t->h.comp_mask >> n);
}

static void
query_paths(struct task *t)
{
	const struct group *group;
	struct path_record want;
	struct sa_records *r;
	unsigned status;

	if (!mask_is_known(t)) {
		task_answer(t, SA_STATUS_REQ_INVALID);
		return;
	}
	path_record_decode(t->q.wanted, &want);
	if (is_multicast(t, &want, &group))
		r = path_to_group(t->sa->view, &t->q, group, &status);
	else
		r = records_of_paths(t->sa->view, &t->q, &status);
	answer_records(t, r, status);
}

void
task_query_multi_path(struct task *t)
{
	struct sa_records *r;
	unsigned status;

	/* The answer has its own method, but PathRecord's attribute (IBA
	 * o15-0.2.7). */
	sa_set_attribute(t->reply->mad, SA_ATTR_PATH);
	if (!mask_is_known(t)) {
		task_answer(t, SA_STATUS_REQ_INVALID);
		return;
	}
	r = records_of_multi_path(t->sa->view, &t->q, t->request->len -
				  SA_DATA_OFFSET, &status);
	answer_records(t, r, status);
}

static void
get_class_port_info(struct task *t)
{
	const struct sa_class_info info = {
		.cap_mask = CLASS_CAPS, .cap_mask2 = CLASS_CAPS2,
		.resp_time = CLASS_RESP_TIME,
	};

	sa_class_info_encode(task_data(t), &info);
	task_answer(t, 0);
}

/* It will come again, and is counted then. */
static bool
must_read_first(struct task *t)
{
	struct sa_unread *u = &t->reply->unread;

	u->ports = records_unread(t->sa->view, &t->q, &u->table);
	if (!u->ports)
		return false;
	t->reply->kind = SA_REPLY_UNREAD;
	t->sa->stats.requests--;
	return true;
}

void
task_query(struct task *t)
{
	struct sa_records *r;
	unsigned status;

	switch (t->h.mad.attr_id) {
	case SA_ATTR_CLASS_PORT_INFO:
		if (t->h.mad.method != MAD_METHOD_GET)
			break;
		get_class_port_info(t);
		return;
	case SA_ATTR_PATH:
		query_paths(t);
		return;
	case SA_ATTR_MC_MEMBER:
		query_store(t, collect_groups);
		return;
	case SA_ATTR_SERVICE:
		query_store(t, collect_services);
		return;
	case SA_ATTR_INFORM_INFO_RECORD:
		query_store(t, collect_informs);
		return;
	case SA_ATTR_SM_INFO:
		query_store(t, collect_sms);
		return;
	}
	if (must_read_first(t))
		return;
	r = records_of_fabric(t->sa->view, &t->q, &status);
	answer_records(t, r, status);
}

