// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Joining and leaving multicast groups.
 *
 * Purpose. Whoever wants to send to or hear a multicast group asks the SA to
 * join it (Set of MCMemberRecord, IBA 15.2.5.17) and is told the MLID. The
 * first to join creates the group.
 *
 * Structs. A `request` is one Set or Delete with the ports that it is about.
 *
 * Flow of groups_join(): the request is read (who, for whom, which states);
 * then either the group is there, and what the request says of it must hold
 * (join_check), or it is created, and what the request says must be possible
 * for the port (create). Only then something is changed, in admit().
 *
 * What decides:
 *  - A leave must name states that the member has, all of them; else it is
 *    refused and nothing changes.
 *  - A port must have a P_Key of the group's partition, full or limited: what
 *    limited members say to each other is refused by the receiving ports (IBA
 *    10.9.3), it needs no rule here. P_Keys are compared without the bit of
 *    membership, for a limited member asks with the P_Key that it has.
 *  - Somebody else may join and leave for a port (ProxyJoin) if it has a P_Key
 *    of that partition too. A port that joined for itself is left alone.
 *  - The scope of a group is that of its MGID; the component Scope is looked
 *    at only when the MGID is ours to choose. Likewise MLIDs are ours: the
 *    component is ignored.
 *  - An MGID with our own signature (ff1S:a01b) may be created by name only if
 *    it carries the group's P_Key, as ours do: that is a client which brings
 *    its group along after another SM has taken over.
 *  - A group of IPoIB (ff1S:401b, ff1S:601b) is like the broadcast group of its
 *    link, that of the same scope and P_Key (RFC 4391, 4): IP hosts join with
 *    the values of that one, so a group with others would keep them out of an
 *    IP address for as long as its creator stays.
 *  - MLIDs are few. A port that has created as many groups as the quota allows
 *    creates no more until some of these have gone.
 */
#include <string.h>

#include "sm/sa/mcmember_store.h"
#include "sm/sa/records.h"

#define MTU_MAX		5u		/* 4,096 bytes */
#define RATE_DEFAULT	3u		/* 10 Gb/s, of a port without a link */

#define NEED_JOIN	(SA_BIT(MCM_PORT_GID) | SA_BIT(MCM_JOIN_STATE))
#define NEED_LEAVE	(NEED_JOIN | SA_BIT(MCM_MGID))
/* What a creation must say, IBA 15.2.5.17. */
#define NEED_CREATE	(NEED_JOIN | SA_BIT(MCM_Q_KEY) | SA_BIT(MCM_PKEY) | \
			 SA_BIT(MCM_TCLASS) | SA_BIT(MCM_SL) | \
			 SA_BIT(MCM_FLOW_LABEL))

struct request {
	const struct sa_db *v;
	const struct mcmember_record *record;
	uint64_t mask;
	uint32_t from, port;
};

/* --- who --- */

/* Members are known by one GID, whichever prefix the client used. */
static struct group_member *
member_of(const struct group *group, const struct request *r)
{
	uint8_t gid[16];

	sa_db_make_gid(r->v, r->port, gid);
	return group_member(group, gid);
}

/* May `from` change what this member is in the group? */
static bool
may_change(const struct request *r, const struct group *group,
	   const struct group_member *m)
{
	if (r->from == r->port)
		return true;
	if (m && !m->proxy)
		return false;
	return group_admits(group, r->v, r->from);
}

/* --- what a port can do --- */

/* The MTU with which the port can send and receive: that of its cable. */
static unsigned
port_mtu(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	unsigned mtu = p->info.mtu_cap;

	if (p->num && p->peer != SNAPSHOT_NONE && s->ports[p->peer].known)
		mtu = MIN(mtu, s->ports[p->peer].info.mtu_cap);
	return mtu;
}

/* Port 0 of a switch has no link and keeps up with all of its cables; 0. */
static unsigned
port_rate(const struct snapshot *s, uint32_t port)
{
	return s->ports[port].num ? sa_rate_of(&s->ports[port].info) : 0;
}

static bool
port_keeps_up(const struct sa_db *v, uint32_t port,
	      const struct group *group)
{
	unsigned rate = port_rate(v->subnet, port);

	return port_mtu(v->subnet, port) >= group->mtu &&
		(!rate || sa_rate_compare(rate, group->rate) >= 0);
}

/* --- selectors --- */

/* Does the record say something about a value, with a selector? Without one
 * the value means nothing (IBA 15.2.5.16). */
static bool
says(const struct request *r, unsigned selector_bit, unsigned bit)
{
	uint64_t both = SA_BIT(selector_bit) | SA_BIT(bit);

	return (r->mask & both) == both;
}

static int
compare(unsigned a, unsigned b)
{
	return (a > b) - (a < b);
}

/* A code that means no speed is no limit that anything could keep: it may be
 * one of a speed that is yet to come. */
static bool
rate_is_known(const struct mcmember_record *q)
{
	return q->rate_selector == SA_LARGEST || sa_rate_mbps(q->rate);
}

static bool
selectors_hold(const struct request *r, const struct group *group)
{
	const struct mcmember_record *q = r->record;

	if (says(r, MCM_MTU_SELECTOR, MCM_MTU) &&
	    !records_number_fits(q->mtu_selector, compare(group->mtu, q->mtu)))
		return false;
	if (says(r, MCM_RATE_SELECTOR, MCM_RATE) &&
	    (!rate_is_known(q) ||
	     !records_number_fits(q->rate_selector,
				  sa_rate_compare(group->rate, q->rate))))
		return false;
	return !says(r, MCM_LIFE_SELECTOR, MCM_LIFE) ||
		records_number_fits(q->life_selector,
				    compare(group->life, q->life));
}

/* The value that a new group gets: the highest that the port can do and the
 * selector allows; 0: none. */
static unsigned
realize_mtu(const struct request *r)
{
	const struct mcmember_record *q = r->record;
	unsigned best = MIN(port_mtu(r->v->subnet, r->port), MTU_MAX);

	if (!says(r, MCM_MTU_SELECTOR, MCM_MTU))
		return best;
	switch ((enum sa_selector)q->mtu_selector) {
	case SA_GREATER:
		return best > q->mtu ? best : 0;
	case SA_LESS:
		return q->mtu ? MIN(best, q->mtu - 1u) : 0;
	case SA_EXACTLY:
		return q->mtu <= best ? q->mtu : 0;
	case SA_LARGEST:
		return best;
	}
	return 0;
}

static unsigned
realize_rate(const struct request *r)
{
	const struct mcmember_record *q = r->record;
	unsigned best = port_rate(r->v->subnet, r->port);

	if (!best)
		best = RATE_DEFAULT;
	if (!says(r, MCM_RATE_SELECTOR, MCM_RATE))
		return best;
	if (!rate_is_known(q))
		return 0;
	switch ((enum sa_selector)q->rate_selector) {
	case SA_GREATER:
		return sa_rate_compare(best, q->rate) > 0 ? best : 0;
	case SA_LESS:
		return sa_rate_by_rank(MIN(sa_rate_rank(q->rate) - 1,
					   sa_rate_rank(best)));
	case SA_EXACTLY:
		return sa_rate_compare(q->rate, best) <= 0 ? q->rate : 0;
	case SA_LARGEST:
		return best;
	}
	return 0;
}

/* PacketLifeTime: false if the selector leaves no code (IBA: 6 bits). */
static bool
realize_life(const struct request *r, uint8_t *life)
{
	const struct mcmember_record *q = r->record;

	*life = r->v->subnet_timeout;
	if (!says(r, MCM_LIFE_SELECTOR, MCM_LIFE))
		return true;
	switch ((enum sa_selector)q->life_selector) {
	case SA_GREATER:
		*life = (uint8_t)MAX(*life, q->life + 1u);
		return *life <= LIFE_MAX;
	case SA_LESS:
		*life = (uint8_t)MIN(*life, q->life - 1u);
		return q->life > 0;
	case SA_EXACTLY:
		*life = q->life;
		return *life <= LIFE_MAX;
	case SA_LARGEST:	/* the smallest that holds here */
		return true;
	}
	return false;
}

/* --- MGIDs --- */

static unsigned
mgid_signature(const uint8_t mgid[16])
{
	return (unsigned)mgid[2] << 8 | mgid[3];
}

static uint16_t
mgid_pkey(const uint8_t mgid[16])
{
	return (uint16_t)(mgid[4] << 8 | mgid[5]);
}

/* May a client create a group by this name? IBA 4.1.1; RFC 4391, 4: the MGIDs
 * of IPoIB carry the P_Key of their link. */
static bool
mgid_is_valid(const uint8_t mgid[16], uint16_t pkey)
{
	if (mgid[0] != 0xff || mgid[1] >> 4 > 1 || !(mgid[1] & 0xf))
		return false;
	switch (mgid_signature(mgid)) {
	case 0x401b:		/* IPv4 */
	case 0x601b:		/* IPv6 */
	case 0xa01b:		/* chosen by a subnet administration */
		return pkey_base(mgid_pkey(mgid)) == pkey_base(pkey);
	}
	return true;
}

/* ff1S:a01b, the P_Key, and a number that no group has. */
static void
mgid_choose(struct groups *g, unsigned scope, uint16_t pkey,
	    uint8_t mgid[16])
{
	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = (uint8_t)(0x10 | scope);
	mgid[2] = 0xa0;
	mgid[3] = 0x1b;
	mgid[4] = (uint8_t)((pkey | PKEY_FULL) >> 8);
	mgid[5] = (uint8_t)pkey;
	do {
		uint64_t id = g->next_id++;

		for (unsigned i = 15; i >= 8; i--, id >>= 8)
			mgid[i] = (uint8_t)id;
	} while (groups_get(g, mgid));
}

static bool
names_mgid(const struct request *r)
{
	static const uint8_t none[16];

	return r->mask & SA_BIT(MCM_MGID) &&
		memcmp(r->record->mgid, none, 16) != 0;
}

static bool
mgid_is_ipoib(const uint8_t mgid[16])
{
	return mgid_signature(mgid) == 0x401b || mgid_signature(mgid) == 0x601b;
}

/* ff1S:401b:PKEY::ffff:ffff, of an IPoIB MGID's scope and P_Key */
static void
mgid_broadcast(const uint8_t mgid[16], uint8_t out[16])
{
	struct partition_group group;

	partition_ipoib_group(mgid_pkey(mgid), mgid[1] & 0xf, &group);
	memcpy(out, group.mgid, 16);
}

/* --- joining --- */

static unsigned
request_init(struct request *r, const struct sa_db *v, uint32_t from,
	     uint64_t mask, uint64_t need, const struct mcmember_record *record)
{
	if ((mask & need) != need)
		return SA_STATUS_INSUFFICIENT;
	if (from == SNAPSHOT_NONE || !(record->join_state & JOIN_ALL))
		return SA_STATUS_REQ_INVALID;
	*r = (struct request){
		.v = v,
		.record = record,
		.mask = mask,
		.from = from,
		.port = sa_db_gid(v, record->port_gid),
	};
	return r->port == SNAPSHOT_NONE ? SA_STATUS_INVALID_GID : MAD_STATUS_OK;
}

/* Does what the request says of the group hold? */
static bool
components_hold(const struct request *r, const struct group *group)
{
	const struct mcmember_record *q = r->record;

	if (r->mask & SA_BIT(MCM_Q_KEY) && q->q_key != group->q_key)
		return false;
	if (r->mask & SA_BIT(MCM_PKEY) &&
	    pkey_base(q->pkey) != pkey_base(group->pkey))
		return false;
	if (r->mask & SA_BIT(MCM_TCLASS) && q->tclass != group->tclass)
		return false;
	if (r->mask & SA_BIT(MCM_SL) && q->sl != group->sl)
		return false;
	if (r->mask & SA_BIT(MCM_FLOW_LABEL) &&
	    q->flow_label != group->flow_label)
		return false;
	return selectors_hold(r, group);
}

/* m: what the port is in the group already, or NULL. */
static unsigned
join_check(const struct request *r, const struct group *group,
	   const struct group_member *m)
{
	if (!group_admits(group, r->v, r->port) || !may_change(r, group, m) ||
	    !components_hold(r, group) ||
	    !port_keeps_up(r->v, r->port, group))
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

/* A scope to choose an MGID of; those at both ends are reserved. */
static bool
wanted_scope(const struct request *r, uint8_t *scope)
{
	*scope = SCOPE_LINK;
	if (r->mask & SA_BIT(MCM_SCOPE))
		*scope = r->record->scope;
	return *scope > 0 && *scope <= SCOPE_GLOBAL;
}

/* Fills all of the group but its name and MLID. */
static unsigned
group_describe(struct group *group, const struct request *r)
{
	const struct mcmember_record *q = r->record;

	*group = (struct group){
		.pkey = (uint16_t)(q->pkey | PKEY_FULL),
		.q_key = q->q_key,
		.flow_label = q->flow_label & FLOW_LABEL_MAX,
		.mtu = (uint8_t)realize_mtu(r),
		.rate = (uint8_t)realize_rate(r),
		.sl = q->sl & 0xf,
		.tclass = q->tclass,
	};
	if (!realize_life(r, &group->life) || !group->mtu || !group->rate)
		return SA_STATUS_REQ_INVALID;
	if (!group_admits(group, r->v, r->port) ||
	    !may_change(r, group, NULL))
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

/* As the broadcast group of its link; NULL: that is not there. */
static unsigned
group_describe_ipoib(struct group *group, const struct request *r,
		     const struct group *link)
{
	if (!link || join_check(r, link, NULL) ||
	    (r->mask & SA_BIT(MCM_HOP_LIMIT) &&
	     r->record->hop_limit != link->hop_limit))
		return SA_STATUS_REQ_INVALID;
	*group = *link;
	group->permanent = false;	/* the rest is as there */
	return MAD_STATUS_OK;
}

static bool
has_quota(const struct groups *g, uint64_t creator)
{
	unsigned n = 0;

	for (uint32_t i = 0; g->quota && i < groups_count(g); i++)
		n += groups_at(g, i)->creator == creator;
	return !g->quota || n < g->quota;
}

/* The group's name, as asked for or chosen, and what follows from it. */
static unsigned
group_name(struct groups *g, struct group *group, const struct request *r)
{
	if (names_mgid(r)) {
		if (!mgid_is_valid(r->record->mgid, group->pkey))
			return SA_STATUS_REQ_INVALID;
		memcpy(group->mgid, r->record->mgid, 16);
		group->scope = group->mgid[1] & 0xf;
	} else {
		if (!wanted_scope(r, &group->scope))
			return SA_STATUS_REQ_INVALID;
	}
	group->hop_limit = group_hop_limit(group->scope);
	if (r->mask & SA_BIT(MCM_HOP_LIMIT))
		group->hop_limit = r->record->hop_limit;
	group->mlid = groups_free_mlid(g, r->v->subnet);
	if (!group->mlid)
		return SA_STATUS_NO_RESOURCES;
	if (!names_mgid(r))
		mgid_choose(g, group->scope, group->pkey, group->mgid);
	return MAD_STATUS_OK;
}

static unsigned
create(struct groups *g, const struct request *r, struct group **out)
{
	uint64_t creator = r->v->subnet->ports[r->from].guid;
	uint8_t broadcast[16];
	struct group draft;
	unsigned status;

	/* Who does not count cannot create; there is nothing to join. */
	if (!(r->record->join_state & JOIN_COUNTS))
		return SA_STATUS_REQ_INVALID;
	if ((r->mask & NEED_CREATE) != NEED_CREATE)
		return SA_STATUS_INSUFFICIENT;
	if (!has_quota(g, creator))
		return SA_STATUS_NO_RESOURCES;
	mgid_broadcast(r->record->mgid, broadcast);
	if (names_mgid(r) && mgid_is_ipoib(r->record->mgid) &&
	    memcmp(r->record->mgid, broadcast, 16) != 0)
		status = group_describe_ipoib(&draft, r,
					      groups_get(g, broadcast));
	else
		status = group_describe(&draft, r);
	draft.creator = creator;
	if (status == MAD_STATUS_OK)
		status = group_name(g, &draft, r);
	if (status != MAD_STATUS_OK)
		return status;

	*out = groups_insert(g, &draft);
	groups_note(g, *out, true);
	return MAD_STATUS_OK;
}

/* Its states are those of before and the new ones. */
static const struct group_member *
admit(struct groups *g, struct group *group, const struct request *r)
{
	struct group_member new = {
		.port_guid = r->v->subnet->ports[r->port].guid,
		.join_state = r->record->join_state & JOIN_ALL,
		.proxy = r->from != r->port,
	};
	struct group_member *m = member_of(group, r);

	sa_db_make_gid(r->v, r->port, new.gid);
	if (!m)
		return group_add(g, group, &new);
	new.join_state |= m->join_state;
	if (new.join_state != m->join_state || new.proxy != m->proxy)
		g->version++;
	*m = new;
	return m;
}

/* PortGID stays as the client wrote it. */
static void
answer(struct mcmember_record *record, const struct group *group,
       unsigned join_state, bool proxy)
{
	memcpy(record->mgid, group->mgid, 16);
	record->q_key = group->q_key;
	record->mlid = group->mlid;
	record->mtu_selector = SA_EXACTLY;
	record->mtu = group->mtu;
	record->tclass = group->tclass;
	record->pkey = group->pkey;
	record->rate_selector = SA_EXACTLY;
	record->rate = group->rate;
	record->life_selector = SA_EXACTLY;
	record->life = group->life;
	record->sl = group->sl;
	record->flow_label = group->flow_label;
	record->hop_limit = group->hop_limit;
	record->scope = group->scope;
	record->join_state = (uint8_t)join_state;
	record->proxy_join = proxy;
}

unsigned
groups_join(struct groups *g, const struct sa_db *v, uint32_t from,
	    uint64_t comp_mask, struct mcmember_record *record)
{
	const struct group_member *m;
	struct group *group = NULL;
	struct request r;
	unsigned status;

	status = request_init(&r, v, from, comp_mask, NEED_JOIN, record);
	if (status != MAD_STATUS_OK)
		return status;
	if (names_mgid(&r))
		group = groups_get(g, record->mgid);
	status = group ? join_check(&r, group, member_of(group, &r)) :
		create(g, &r, &group);
	if (status != MAD_STATUS_OK)
		return status;
	m = admit(g, group, &r);
	answer(record, group, m->join_state, m->proxy);
	return MAD_STATUS_OK;
}

unsigned
groups_leave(struct groups *g, const struct sa_db *v, uint32_t from,
	     uint64_t comp_mask, struct mcmember_record *record)
{
	unsigned states = record->join_state & JOIN_ALL;
	struct group_member *m = NULL;
	struct group *group;
	struct request r;
	unsigned status;

	status = request_init(&r, v, from, comp_mask, NEED_LEAVE, record);
	if (status != MAD_STATUS_OK)
		return status;
	group = groups_get(g, record->mgid);
	if (group)
		m = member_of(group, &r);
	if (!m || !may_change(&r, group, m) || states & ~m->join_state)
		return SA_STATUS_REQ_INVALID;

	m->join_state &= (uint8_t)~states;
	g->version++;
	answer(record, group, m->join_state, m->proxy);
	if (!m->join_state)
		group_drop(g, group, m);
	if (!group_is_needed(group)) {
		record->join_state = 0;		/* nobody is in it any more */
		groups_remove(g, group);
	}
	return MAD_STATUS_OK;
}
