// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups and their members: the store, requests that change it, and
 * its text.
 *
 * Purpose. A port that wants to send to or receive a multicast group joins it
 * (Set of MCMemberRecord, IBA 15.2.5.17) and gets the MLID. The first to
 * join creates the group.
 *
 * Structs. `groups` has the groups sorted by MGID, and by MLID. A group is the
 * record that answers have, and its members sorted by PortGUID. A `request` is
 * one Set or Delete with the ports that it is about.
 *
 * Life of a group. It exists as long as it has a FullMember or a
 * SendOnlyFullMember; the other two states do not count for creation and
 * deletion (IBA 15.2.5.17.2). With the last state that counts the group is
 * deleted, and its remaining members with it. Groups of the configuration
 * stay.
 *
 * Flow of groups_follow(): the configured groups get the values of the
 * configuration, but one that has members keeps its own until the last one has
 * left: members do not ask again, and IP hosts with different values cannot talk
 * to each other. Another P_Key means another group. Members that are not on the fabric, or that lost the P_Key,
 * leave; groups without a member that counts are deleted. The version moves
 * only if something did, or every sweep would mean new trees.
 *
 * Flow of groups_join(): if the group exists, its values must be those of the
 * request (join_check); else it is created, and the port must support the
 * values of the request (create). Only after these checks the store is changed.
 *
 * Rules for requests:
 *  - A leave must name states that the member has, all of them; else it is
 *    refused and nothing changes.
 *  - A port must have a P_Key of the group's partition, full or limited:
 *    packets between limited members are dropped by the receiving ports (IBA
 *    10.9.3), so no rule is needed here. P_Keys are compared without the
 *    membership bit, for a limited member sends the P_Key that it has.
 *  - Another port may join and leave for a port (ProxyJoin) if it has a P_Key
 *    of that partition too, unless the port joined for itself.
 *  - The scope of a group is that of its MGID; the component Scope is used
 *    only when the SA chooses the MGID. The component MLID is ignored.
 *  - An MGID with the SA's own signature (ff1S:a01b) may be created by name
 *    only if it carries the group's P_Key: a client does so after another SM
 *    has taken over.
 *  - A group of IPoIB (ff1S:401b, ff1S:601b) has the values of the broadcast
 *    group of its link, that of the same scope and P_Key (RFC 4391, 4): IP
 *    hosts join with those, so a group with others would keep them from an IP
 *    address for as long as its creator stays.
 *  - A creation whose answer was lost is sent again under the same TransactionID,
 *    within a minute. If the SA chose the MGID, the group is the one that the
 *    first has created.
 *  - MLIDs are few. A port that has created as many groups as the quota allows
 *    creates no more until it has left some of these, or they are deleted.
 *
 * Text: a line each, members after their group.
 *
 *   group MGID MLID P_Key Q_Key FlowLabel MTU Rate PacketLifeTime SL TClass
 *	HopLimit configured [PortGUID of the creator]
 *   member MGID PortGID JoinState ProxyJoin
 *
 * Clients keep MGIDs and MLIDs over a restart of the SM, so these must come
 * back unchanged. A line that would put two groups on one MLID, or one group
 * there twice, is refused as damage. That members are still on the fabric, and
 * in the partition, is checked by groups_follow().
 */
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa_query.h"
#include "sm/sa/sa_limits.h"
#include "topology/each.h"
#include "topology/text.h"

#define JOIN_ALL	0xfu
/* States that count for creation and deletion, IBA 15.2.5.17.2. */
#define JOIN_COUNTS	((unsigned)JOIN_FULL | JOIN_SEND_ONLY_FULL)

/* No client repeats a request for as long; one that has started anew may count
 * from the same TransactionID. */
#define REPEAT_US	(60 * (int64_t)G_USEC_PER_SEC)

#define SCOPE_LINK	2u		/* IBA 4.1.1 */
#define SCOPE_GLOBAL	0xeu
#define HOP_LIMIT_MAX	0xffu
#define LIFE_MAX	0x3fu		/* 6 bits, as rate and MTU */
#define FLOW_LABEL_MAX	0xfffffu	/* 20 bits */
#define MTU_MAX		5u		/* 4,096 bytes */
#define RATE_DEFAULT	3u		/* 10 Gb/s, of a port without a link */

static bool
group_admits(const struct group *group, const struct sa_db *v, uint32_t port)
{
	return memberships_of(v->memberships, port, group->r.pkey) != 0;
}

/* --------------------------------------------------------------- the store */

static void
group_free(gpointer data)
{
	struct group *group = data;

	g_ptr_array_unref(group->members.list);
	g_free(group);
}

static int
compare_mgid(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

struct groups *
groups_new(void)
{
	struct groups *g = g_new0(struct groups, 1);

	g->all.list = g_ptr_array_new_with_free_func(group_free);
	g->all.compare = compare_mgid;
	g->next_id = 1;
	return g;
}

void
groups_free(struct groups *g)
{
	g_ptr_array_unref(g->all.list);
	g_free(g);
}

struct group *
groups_of_mlid(const struct groups *g, uint16_t mlid)
{
	return mlid >= GROUPS_MLID_MIN && mlid < GROUPS_MLID_END ?
		g->by_mlid[mlid - GROUPS_MLID_MIN] : NULL;
}

static struct group *
groups_insert(struct groups *g, const struct group *draft)
{
	struct group *group = sa_store_insert(&g->all, draft, sizeof(*draft));

	group->r.mtu_selector = group->r.rate_selector =
		group->r.life_selector = SA_EXACTLY;
	group->members = (struct sa_store){
		.list = g_ptr_array_new_with_free_func(g_free),
		.compare = guid_compare,
	};
	g->by_mlid[group->r.mlid - GROUPS_MLID_MIN] = group;
	return group;
}

static void
remove_member(struct groups *g, struct group *group, const uint64_t *port_guid)
{
	if (group->creator == *port_guid)
		group->creator = 0;
	sa_store_remove(&group->members,
			sa_store_place(&group->members, port_guid));
	g->all.version++;
}

static void
set_values(struct groups *g, struct group *group)
{
	group->r = group->wanted;
	group->waits = false;
	g->all.version++;
}

/* A group exists as long as it has a member that counts. */
static void
remove_unneeded(struct sa *sa, struct group *group, int64_t now)
{
	bool needed = group->permanent;
	struct groups *g = sa->groups;

	if (group->waits && !group->members.list->len)
		set_values(g, group);

	EACH_PTR(const struct group_member, m, group->members.list)
		needed |= m->join_state & JOIN_COUNTS;
	if (needed)
		return;
	sa_notify(sa, sa->view, NOTICE_GROUP_DELETED, group->r.mgid,
		  group->r.pkey, now);
	g->by_mlid[group->r.mlid - GROUPS_MLID_MIN] = NULL;
	sa_store_remove(&g->all, sa_store_place(&g->all, group->r.mgid));
}

/* 0: none. A switch without multicast forwarding does not limit the others. */
static uint16_t
find_free_mlid(const struct groups *g, const struct snapshot *s)
{
	uint32_t n = GROUPS_MLID_END - GROUPS_MLID_MIN;

	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct snapshot_node *node = &s->nodes[s->switches[sw]];
		uint32_t cap = node->sw.multicast_fdb_cap;

		if (node->sw_known && cap)
			n = MIN(n, cap);
	}
	for (uint32_t i = 0; i < n; i++)
		if (!g->by_mlid[i])
			return (uint16_t)(GROUPS_MLID_MIN + i);
	return 0;
}

/* -------------------------------------------------------------- a new view */

static uint8_t
scope_hop_limit(unsigned scope)
{
	return scope == SCOPE_LINK ? 0 : HOP_LIMIT_MAX;
}

/* A group as the configuration has it. NULL: no MLID is free for it; one may
 * be at the next view. */
static struct group *
configure(struct sa *sa, const struct partition *p,
	  const struct partition_group *want, int64_t now)
{
	const struct sa_db *v = sa->view;
	struct groups *g = sa->groups;
	size_t size = sa_record_size(SA_ATTR_MC_MEMBER);
	struct group *group = sa_store_find(&g->all, want->mgid);
	uint8_t before[SA_DATA_LEN], after[SA_DATA_LEN];
	struct group draft = {
		.r = {
			.pkey = (uint16_t)(p->pkey | PKEY_FULL),
			.q_key = want->q_key,
			.flow_label = want->flow_label,
			.mtu_selector = SA_EXACTLY,
			.mtu = want->mtu,
			.rate_selector = SA_EXACTLY,
			.rate = want->rate,
			.life_selector = SA_EXACTLY,
			.life = v->subnet_timeout,
			.sl = v->qos ? want->sl : 0,
			.tclass = want->tclass,
			.scope = want->mgid[1] & 0xf,
			.hop_limit = scope_hop_limit(want->mgid[1] & 0xf),
		},
		.permanent = true,
	};

	memcpy(draft.r.mgid, want->mgid, 16);
	draft.r.mlid = group ? group->r.mlid : find_free_mlid(g, v->subnet);
	if (!group && !draft.r.mlid)
		return NULL;
	if (!group) {
		group = groups_insert(g, &draft);
		sa_notify(sa, v, NOTICE_GROUP_CREATED, group->r.mgid,
			  group->r.pkey, now);
		return group;
	}
	g->all.version += !group->permanent;
	group->permanent = true;
	group->creator = 0;
	group->wanted = draft.r;
	sa_record_encode(SA_ATTR_MC_MEMBER, before, &group->r);
	sa_record_encode(SA_ATTR_MC_MEMBER, after, &draft.r);
	group->waits = memcmp(before, after, size) != 0;
	if (group->waits && (!group->members.list->len ||
			     group->r.pkey != draft.r.pkey))
		set_values(g, group);
	return group;
}

void
groups_follow(struct sa *sa, int64_t now)
{
	const struct sa_db *v = sa->view;
	struct groups *g = sa->groups;
	/* a set of struct group *: if two partitions name one MGID it is that
	 * of the lower P_Key */
	g_autoptr(GHashTable) configured = g_hash_table_new(NULL, NULL);

	EACH_PTR(const struct partition, p, v->rules->partitions) {
		EACH_ITEM(const struct partition_group, want, p->groups) {
			struct group *group = sa_store_find(&g->all, want->mgid);

			if (group && g_hash_table_contains(configured, group))
				continue;
			group = configure(sa, p, want, now);
			if (group)
				g_hash_table_add(configured, group);
		}
	}
	for (guint i = g->all.list->len; i-- > 0;) {
		struct group *group = g->all.list->pdata[i];

		if (group->permanent &&
		    !g_hash_table_contains(configured, group)) {
			group->permanent = group->waits = false;
			g->all.version++;
		}
		for (guint k = group->members.list->len; k-- > 0;) {
			struct group_member *m = group->members.list->pdata[k];
			uint32_t port = sa_db_guid(v, m->port_guid);
			uint8_t gid[16];

			if (port == SNAPSHOT_NONE ||
			    !group_admits(group, v, port)) {
				remove_member(g, group, &m->port_guid);
				continue;
			}
			sa_db_make_gid(v, port, gid);
			g->all.version += memcmp(gid, m->gid, 16) != 0;
			memcpy(m->gid, gid, 16);
		}
		remove_unneeded(sa, group, now);
	}
}

/* ---------------------------------------------------------------- requests */

#define NEED_JOIN	(SA_BIT(MCM_PORT_GID) | SA_BIT(MCM_JOIN_STATE))
#define NEED_LEAVE	(NEED_JOIN | SA_BIT(MCM_MGID))
/* The components that a creation must have, IBA 15.2.5.17. */
#define NEED_CREATE	(NEED_JOIN | SA_BIT(MCM_Q_KEY) | SA_BIT(MCM_PKEY) | \
			 SA_BIT(MCM_TCLASS) | SA_BIT(MCM_SL) | \
			 SA_BIT(MCM_FLOW_LABEL))

struct join_ask {
	const struct sa_db *v;
	const struct mcmember_record *record;
	struct sa_limits limits;	/* of the record */
	uint64_t mask;
	struct group *group;	/* which it names, NULL: none; */
	struct group_member *m;	/* and the port in it, NULL: no member */
	uint32_t from, port;	/* the requester, and the port it is about */
	uint64_t port_guid;
	uint64_t tid;		/* of the request */
	uint8_t mtu;		/* with which the port can send and receive */
	uint8_t rate;		/* of its link; 0: no limit, port 0 of a switch
				   has none */
	bool has_mgid;
};

static unsigned
request_init(struct join_ask *r, const struct sa_query *q, uint64_t need,
	     const struct mcmember_record *record)
{
	const struct sa_store *all = &q->sa->groups->all;
	const uint64_t mask = q->h.comp_mask;
	const struct sa_db *v = q->viewer.db;
	const struct snapshot_port *p, *peer;
	static const uint8_t none[16];
	uint64_t creator;

	if ((mask & need) != need)
		return SA_STATUS_INSUFFICIENT;
	if (!(record->join_state & JOIN_ALL))
		return SA_STATUS_REQ_INVALID;
	*r = (struct join_ask){
		.v = v, .record = record, .mask = mask, .from = q->viewer.port,
		.limits = SA_LIMITS(mask, record, MCM),
		.port = sa_db_gid(v, record->port_gid), .tid = q->h.mad.tid,
		.has_mgid = mask & SA_BIT(MCM_MGID) &&
			memcmp(record->mgid, none, 16) != 0,
	};
	if (r->port == SNAPSHOT_NONE)
		return SA_STATUS_INVALID_GID;
	r->port_guid = v->ends[r->port].guid;
	creator = v->ends[r->from].guid;
	if (r->has_mgid)
		r->group = sa_store_find(all, record->mgid);
	else if (r->tid)	/* one that was created already, if the answer
				   was lost and the client has asked again */
		EACH_PTR(struct group, group, all->list)
			if (group->creator == creator && group->tid == r->tid &&
			    q->request->now - group->created < REPEAT_US)
				r->group = group;
	if (r->group)
		r->m = sa_store_find(&r->group->members, &r->port_guid);
	p = &v->subnet->ports[r->port];
	peer = p->num && p->peer != SNAPSHOT_NONE ?
		&v->subnet->ports[p->peer] : NULL;
	r->mtu = p->info.mtu_cap;
	if (peer && peer->known)
		r->mtu = MIN(r->mtu, peer->info.mtu_cap);
	r->rate = p->num ? (uint8_t)sa_rate_of(&p->info) : 0;
	return MAD_STATUS_OK;
}

/* May `from` change the states of this member? m NULL: not a member yet. */
static bool
may_change(const struct join_ask *r, const struct group *group,
	   const struct group_member *m)
{
	return r->from == r->port ||
		((!m || m->proxy) && group_admits(group, r->v, r->from));
}

/* Does the group have the values of the request, and the port those of the
 * group? A limited member may join. */
static unsigned
join_check(const struct join_ask *r, const struct group *group,
	   const struct group_member *m)
{
	const struct mcmember_record *want = r->record, *have = &group->r;
	uint64_t mask = r->mask;

	if (!group_admits(group, r->v, r->port) || !may_change(r, group, m) ||
	    (mask & SA_BIT(MCM_Q_KEY) && want->q_key != have->q_key) ||
	    (mask & SA_BIT(MCM_PKEY) &&
	     pkey_base(want->pkey) != pkey_base(have->pkey)) ||
	    (mask & SA_BIT(MCM_TCLASS) && want->tclass != have->tclass) ||
	    (mask & SA_BIT(MCM_SL) && want->sl != have->sl) ||
	    (mask & SA_BIT(MCM_FLOW_LABEL) &&
	     want->flow_label != have->flow_label) ||
	    (mask & SA_BIT(MCM_HOP_LIMIT) &&
	     want->hop_limit != have->hop_limit) ||
	    !sa_limits_hold(&r->limits, have->mtu, have->rate, have->life) ||
	    r->mtu < have->mtu ||
	    (r->rate && sa_rate_rank(r->rate) < sa_rate_rank(have->rate)))
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

/* ---------------------------------------------------------------- creating */

bool
mgid_has_pkey(const uint8_t mgid[16], uint16_t *pkey)
{
	unsigned signature = bytes_load16(mgid + 2);

	*pkey = bytes_load16(mgid + 4);
	return signature == 0x401b || signature == 0x601b ||
		signature == 0xa01b;
}

/* Fills all of the group but its MGID and MLID, and what follows from them:
 * MTU and rate are the highest that the port can do. */
static unsigned
describe(struct group *group, const struct join_ask *r)
{
	const struct mcmember_record *q = r->record;

	*group = (struct group){
		.r = {
			.pkey = (uint16_t)(q->pkey | PKEY_FULL),
			.q_key = q->q_key,
			.flow_label = q->flow_label,
			.mtu = MIN(r->mtu, MTU_MAX),
			.rate = r->rate ? r->rate : RATE_DEFAULT,
			.life = r->v->subnet_timeout,
			.sl = q->sl,
			.tclass = q->tclass,
		},
	};
	if (!sa_limits_fit(&r->limits, &group->r.mtu, &group->r.rate, 0,
			   &group->r.life) ||
	    !group_admits(group, r->v, r->port) || !may_change(r, group, NULL))
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

/* MGID, MLID, scope and HopLimit. An MGID that carries a P_Key must have the
 * group's (IBA 4.1.1; RFC 4391, 4). The scopes at both ends are reserved. */
static unsigned
name_group(struct groups *g, struct mcmember_record *group,
	   const struct join_ask *r)
{
	const struct mcmember_record *q = r->record;
	uint16_t pkey;

	group->scope = r->mask & SA_BIT(MCM_SCOPE) ? q->scope : SCOPE_LINK;
	if (r->has_mgid) {
		if (q->mgid[0] != 0xff || q->mgid[1] >> 4 > 1 ||
		    !(q->mgid[1] & 0xf) ||
		    (mgid_has_pkey(q->mgid, &pkey) &&
		     pkey_base(pkey) != pkey_base(group->pkey)))
			return SA_STATUS_REQ_INVALID;
		memcpy(group->mgid, q->mgid, 16);
		group->scope = q->mgid[1] & 0xf;
	} else if (!group->scope || group->scope > SCOPE_GLOBAL) {
		return SA_STATUS_REQ_INVALID;
	}
	group->hop_limit = r->mask & SA_BIT(MCM_HOP_LIMIT) ? q->hop_limit :
		scope_hop_limit(group->scope);
	group->mlid = find_free_mlid(g, r->v->subnet);
	if (!group->mlid)
		return SA_STATUS_NO_RESOURCES;
	if (r->has_mgid)
		return MAD_STATUS_OK;
	/* ff1S:a01b, the P_Key, and a number that no group has */
	memset(group->mgid, 0, 16);
	group->mgid[0] = 0xff;
	group->mgid[1] = (uint8_t)(0x10 | group->scope);
	bytes_store16(group->mgid + 2, 0xa01b);
	bytes_store16(group->mgid + 4, group->pkey);
	do
		bytes_store64(group->mgid + 8, g->next_id++);
	while (sa_store_find(&g->all, group->mgid));
	return MAD_STATUS_OK;
}

static unsigned
create(const struct sa_query *q, struct join_ask *r)
{
	struct groups *g = q->sa->groups;
	uint64_t creator = r->v->subnet->ports[r->from].guid;
	const uint8_t *mgid = r->record->mgid;
	struct partition_group broadcast;
	const struct group *link;
	struct group draft;
	unsigned status = MAD_STATUS_OK, n = 0;
	uint16_t pkey;

	/* A member that does not count cannot create the group. */
	if (!(r->record->join_state & JOIN_COUNTS))
		return SA_STATUS_REQ_INVALID;
	if ((r->mask & NEED_CREATE) != NEED_CREATE)
		return SA_STATUS_INSUFFICIENT;
	if (g->quota)
		EACH_PTR(const struct group, other, g->all.list)
			n += other->creator == creator;
	if (g->quota && n >= g->quota)
		return SA_STATUS_NO_RESOURCES;
	/* A group of IPoIB is like the broadcast group of its link
	 * (ff1S:401b:PKEY::ffff:ffff), unless it is that group. */
	broadcast = (struct partition_group){ .mgid = { 0 } };
	if (r->has_mgid && mgid_has_pkey(mgid, &pkey) && mgid[2] != 0xa0)
		partition_ipoib_group(pkey, mgid[1] & 0xf, &broadcast);
	if (broadcast.mgid[0] && memcmp(mgid, broadcast.mgid, 16) != 0) {
		link = sa_store_find(&g->all, broadcast.mgid);
		if (!link || join_check(r, link, NULL))
			return SA_STATUS_REQ_INVALID;
		draft = (struct group){ .r = link->r };
	} else {
		status = describe(&draft, r);
	}
	draft.creator = creator;
	draft.tid = r->has_mgid ? 0 : r->tid;
	draft.created = q->request->now;
	if (status == MAD_STATUS_OK)
		status = name_group(g, &draft.r, r);
	if (status != MAD_STATUS_OK)
		return status;
	r->group = groups_insert(g, &draft);
	sa_notify(q->sa, r->v, NOTICE_GROUP_CREATED, draft.r.mgid,
		  draft.r.pkey, q->request->now);
	return MAD_STATUS_OK;
}

/* -------------------------------------------------------- joining, leaving */

/* PortGID stays that of the request. */
static void
set_answer(struct mcmember_record *record, const struct group *group,
	   const struct group_member *m)
{
	struct mcmember_record r = group->r;

	memcpy(r.port_gid, record->port_gid, 16);
	r.join_state = m->join_state;
	r.proxy_join = m->proxy;
	*record = r;
}

unsigned
groups_join(const struct sa_query *q, void *asked)
{
	struct groups *g = q->sa->groups;
	struct mcmember_record *record = asked;
	struct group_member new = { .proxy = false };
	struct join_ask r;
	unsigned status = request_init(&r, q, NEED_JOIN, record);

	if (status == MAD_STATUS_OK)
		status = r.group ? join_check(&r, r.group, r.m) :
			create(q, &r);
	if (status != MAD_STATUS_OK)
		return status;

	new.port_guid = r.port_guid;
	new.join_state = record->join_state & JOIN_ALL;
	new.proxy = r.from != r.port;
	sa_db_make_gid(r.v, r.port, new.gid);
	if (r.m) {
		/* it keeps the states that it has */
		new.join_state |= r.m->join_state;
		g->all.version += new.join_state != r.m->join_state ||
			new.proxy != r.m->proxy;
		*r.m = new;
	} else {
		sa_store_insert(&r.group->members, &new, sizeof(new));
		g->all.version++;
	}
	set_answer(record, r.group, &new);
	return MAD_STATUS_OK;
}

unsigned
groups_leave(const struct sa_query *q, void *asked)
{
	struct groups *g = q->sa->groups;
	struct mcmember_record *record = asked;
	unsigned states = record->join_state & JOIN_ALL;
	struct join_ask r;
	unsigned status = request_init(&r, q, NEED_LEAVE, record);

	if (status != MAD_STATUS_OK)
		return status;
	if (!r.m || !may_change(&r, r.group, r.m) || states & ~r.m->join_state)
		return SA_STATUS_REQ_INVALID;

	r.m->join_state &= (uint8_t)~states;
	g->all.version++;
	set_answer(record, r.group, r.m);
	if (!r.m->join_state)
		remove_member(g, r.group, &r.port_guid);
	remove_unneeded(q->sa, r.group, q->request->now);
	if (!sa_store_find(&g->all, record->mgid))
		record->join_state = 0;		/* no member is left */
	return MAD_STATUS_OK;
}

/* -------------------------------------------------------------------- text */

static const struct state_word group_words[] = {
	STATE_WORD(group, r.mgid, "MGID", STATE_BYTES, 0, 0),
	STATE_WORD(group, r.mlid, "MLID", 4, GROUPS_MLID_MIN,
		   GROUPS_MLID_END - 1),
	STATE_WORD(group, r.pkey, "P_Key", 4, PKEY_FULL + 1u, UINT16_MAX),
	STATE_WORD(group, r.q_key, "Q_Key", 8, 0, UINT32_MAX),
	STATE_WORD(group, r.flow_label, "FlowLabel", 5, 0, FLOW_LABEL_MAX),
	STATE_WORD(group, r.mtu, "MTU", 0, 1, MTU_MAX),
	STATE_WORD(group, r.rate, "rate", 0, 1, 0x3f),
	STATE_WORD(group, r.life, "PacketLifeTime", 0, 0, LIFE_MAX),
	STATE_WORD(group, r.sl, "SL", 0, 0, 15),
	STATE_WORD(group, r.tclass, "TClass", 0, 0, UINT8_MAX),
	STATE_WORD(group, r.hop_limit, "HopLimit", 0, 0, UINT8_MAX),
	STATE_WORD(group, permanent, "configured", 0, 0, 1),
	STATE_WORD(group, creator, "creator", 16, 0, UINT64_MAX),
};

static const struct state_word member_words[] = {
	STATE_WORD(saved_member, mgid, "MGID", STATE_BYTES, 0, 0),
	STATE_WORD(saved_member, m.gid, "PortGID", STATE_BYTES, 0, 0),
	STATE_WORD(saved_member, m.join_state, "JoinState", 0, 1, JOIN_ALL),
	STATE_WORD(saved_member, m.proxy, "ProxyJoin", 0, 0, 1),
};

static bool
group_take(void *owner, void *members, int64_t now, GError **error)
{
	struct groups *g = ((struct sa *)owner)->groups;
	struct group *group = members;
	struct mcmember_record *r = &group->r;
	uint64_t id = bytes_load64(r->mgid + 8);

	r->scope = r->mgid[1] & 0xf;
	if (r->mgid[0] != 0xff)
		return text_refuse(error, "the MGID does not begin with ff");
	if (sa_store_find(&g->all, r->mgid))
		return text_refuse(error, "the group is there twice");
	if (groups_of_mlid(g, r->mlid))
		return text_refuse(error, "two groups have MLID 0x%04x",
				   r->mlid);
	groups_insert(g, group);
	/* An MGID that the SA chooses must differ from all chosen before: their
	 * members may still use them. */
	if (bytes_load16(r->mgid + 2) == 0xa01b && id != UINT64_MAX)
		g->next_id = MAX(g->next_id, id + 1);
	return true;
}

static bool
member_take(void *owner, void *members, int64_t now, GError **error)
{
	struct groups *g = ((struct sa *)owner)->groups;
	struct saved_member *m = members;
	struct group *group = sa_store_find(&g->all, m->mgid);

	m->m.port_guid = bytes_load64(m->m.gid + 8);
	if (!group)
		return text_refuse(error, "a member of a group that is "
				   "not there");
	if (sa_store_find(&group->members, &m->m.port_guid))
		return text_refuse(error, "the member is there twice");
	sa_store_insert(&group->members, &m->m, sizeof(m->m));
	g->all.version++;
	return true;
}

const struct state_line group_lines[] = {
	[GROUP_LINE] = { "group", group_words, G_N_ELEMENTS(group_words), 1,
			 sizeof(struct group), group_take },
	[MEMBER_LINE] = STATE_LINE("member", member_words, saved_member,
				   member_take),
	{ .keyword = NULL },
};
