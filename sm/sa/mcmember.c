// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups and their members: the store, requests that change it, and
 * its text.
 *
 * Purpose. A port that wants to send to or receive a multicast group joins it
 * (Set of MCMemberRecord, IBA 15.2.5.17) and is told the MLID. The first to
 * join creates the group.
 *
 * Structs. `groups` has the groups sorted by MGID, whose each MLID is, and
 * the events that are not fetched yet. A group has its members sorted by GID. A
 * `request` is one Set or Delete with the ports that it is about.
 *
 * What decides when a group ends: it lives as long as it has a FullMember or a
 * SendOnlyFullMember; the other two states do not count for creation and
 * deletion (IBA 15.2.5.17.2). So a member that leaves with fewer states than
 * it joined with holds no MLID: with the last state that counts the group
 * goes, and those who only listened go with it. Groups of the configuration
 * stay.
 *
 * Flow of groups_follow(): the configured groups are made what the rules say;
 * members that are away, or that lost the P_Key, leave; then groups without a
 * reason go. The version moves only if something did, or every sweep would
 * mean new trees.
 *
 * Flow of groups_join(): the request is read (who, for whom, which states);
 * then either the group is there, and what the request says of it must hold
 * (join_check), or it is created, and what the request says must be possible
 * for the port (create). Only then something is changed, in admit().
 *
 * What decides about requests:
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
 *
 * Text: a line each, members after their group.
 *
 *   group MGID MLID P_Key Q_Key FlowLabel MTU Rate PacketLifeTime SL TClass
 *	HopLimit configured [PortGUID of the creator]
 *   member MGID PortGID JoinState ProxyJoin
 *
 * MGIDs and MLIDs must come back as they were: clients know them and need not
 * notice that the SM was away. So a line that would put two groups on one MLID,
 * or one group there twice, is refused as damage. That members are still there,
 * and of the partition, is checked by groups_follow().
 */
#include "sm/sa/mcmember.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/state_words.h"

#define MLID_MIN	LID_MULTICAST_MIN
#define MLID_END	LID_PERMISSIVE		/* the first that is none */

#define JOIN_ALL	0xfu
/* States that count for creation and deletion, IBA 15.2.5.17.2. */
#define JOIN_COUNTS	((unsigned)JOIN_FULL | JOIN_SEND_ONLY_FULL)

#define SCOPE_LINK	2u		/* IBA 4.1.1 */
#define SCOPE_GLOBAL	0xeu
#define HOP_LIMIT_MAX	0xffu
#define LIFE_MAX	0x3fu		/* 6 bits, as rate and MTU */
#define FLOW_LABEL_MAX	0xfffffu	/* 20 bits */

struct groups {
	GPtrArray *groups;	/* struct group *, by MGID */
	struct group *by_mlid[MLID_END - MLID_MIN];	/* NULL: it is free */
	uint64_t next_id;	/* of an MGID that we choose */
	unsigned quota;		/* see groups_set_quota() */
	uint64_t version;
	GQueue events;		/* struct group_event * */
};

static bool
group_admits(const struct group *group, const struct sa_db *v, uint32_t port)
{
	return memberships_of(v->memberships, port, group->pkey) != 0;
}

/* --- the store --- */

static void
group_free(gpointer data)
{
	struct group *group = data;

	g_array_unref(group->members);
	g_free(group);
}

struct groups *
groups_new(void)
{
	struct groups *g = g_new0(struct groups, 1);

	g->groups = g_ptr_array_new_with_free_func(group_free);
	g->next_id = 1;
	g_queue_init(&g->events);
	return g;
}

void
groups_free(struct groups *g)
{
	if (!g)
		return;
	g_queue_clear_full(&g->events, g_free);
	g_ptr_array_unref(g->groups);
	g_free(g);
}

/* Where the group is, or would have to be put. */
static guint
groups_place(const struct groups *g, const uint8_t mgid[16])
{
	guint low = 0;
	guint high = g->groups->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;
		const struct group *group = g->groups->pdata[mid];

		if (memcmp(group->mgid, mgid, 16) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct group *
groups_get(const struct groups *g, const uint8_t mgid[16])
{
	guint place = groups_place(g, mgid);
	struct group *group;

	if (place == g->groups->len)
		return NULL;
	group = g->groups->pdata[place];
	return memcmp(group->mgid, mgid, 16) == 0 ? group : NULL;
}

const struct group *
groups_find(const struct groups *g, const uint8_t mgid[16])
{
	return groups_get(g, mgid);
}

const struct group *
groups_of_mlid(const struct groups *g, uint16_t mlid)
{
	return mlid >= MLID_MIN && mlid < MLID_END ?
		g->by_mlid[mlid - MLID_MIN] : NULL;
}

uint32_t
groups_count(const struct groups *g)
{
	return g->groups->len;
}

const struct group *
groups_at(const struct groups *g, uint32_t i)
{
	return i < g->groups->len ? g->groups->pdata[i] : NULL;
}

void
groups_set_quota(struct groups *g, unsigned quota)
{
	g->quota = quota;
}

uint64_t
groups_version(const struct groups *g)
{
	return g->version;
}

static void
groups_note(struct groups *g, const struct group *group, bool created)
{
	struct group_event *event = g_new(struct group_event, 1);

	event->created = created;
	event->pkey = group->pkey;
	memcpy(event->mgid, group->mgid, 16);
	g_queue_push_tail(&g->events, event);
}

bool
groups_next_event(struct groups *g, struct group_event *out)
{
	g_autofree struct group_event *event = g_queue_pop_head(&g->events);

	if (!event)
		return false;
	*out = *event;
	return true;
}

static struct group *
groups_insert(struct groups *g, const struct group *draft)
{
	struct group *group = g_new(struct group, 1);

	*group = *draft;
	group->members = g_array_new(FALSE, FALSE,
				     sizeof(struct group_member));
	g->by_mlid[group->mlid - MLID_MIN] = group;
	g_ptr_array_insert(g->groups, (gint)groups_place(g, group->mgid),
			   group);
	g->version++;
	return group;
}

static void
groups_remove(struct groups *g, const struct group *group)
{
	groups_note(g, group, false);
	g->by_mlid[group->mlid - MLID_MIN] = NULL;
	g_ptr_array_remove_index(g->groups, groups_place(g, group->mgid));
	g->version++;
}

static bool
group_is_needed(const struct group *group)
{
	if (group->permanent)
		return true;
	for (guint i = 0; i < group->members->len; i++)
		if (g_array_index(group->members, struct group_member,
				  i).join_state & JOIN_COUNTS)
			return true;
	return false;
}

/* A switch that forwards no multicast at all sets no limit to the others. */
static uint16_t
groups_free_mlid(const struct groups *g, const struct snapshot *s)
{
	uint32_t n = MLID_END - MLID_MIN;

	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct snapshot_node *node = &s->nodes[s->switches[sw]];
		uint32_t cap = node->sw.multicast_fdb_cap;

		if (node->sw_known && cap)
			n = MIN(n, cap);
	}
	for (uint32_t i = 0; i < n; i++)
		if (!g->by_mlid[i])
			return (uint16_t)(MLID_MIN + i);
	return 0;
}

/* --- members --- */

/* The order of PortGUIDs, which is that of GIDs, for all members have one
 * prefix; a saved member may still have an older one. */
static int
compare_gids(const uint8_t a[16], const uint8_t b[16])
{
	return memcmp(a + 8, b + 8, 8);
}

static guint
member_place(const struct group *group, const uint8_t gid[16])
{
	guint low = 0;
	guint high = group->members->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;

		if (compare_gids(g_array_index(group->members,
					       struct group_member, mid).gid,
				 gid) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct group_member *
group_member(const struct group *group, const uint8_t gid[16])
{
	guint place = member_place(group, gid);
	struct group_member *m;

	if (place == group->members->len)
		return NULL;
	m = &g_array_index(group->members, struct group_member, place);
	return compare_gids(m->gid, gid) == 0 ? m : NULL;
}

static struct group_member *
group_add(struct groups *g, struct group *group, const struct group_member *m)
{
	guint place = member_place(group, m->gid);

	g_array_insert_vals(group->members, place, m, 1);
	g->version++;
	return &g_array_index(group->members, struct group_member, place);
}

static void
group_drop(struct groups *g, struct group *group, struct group_member *m)
{
	g_array_remove_index(group->members, member_place(group, m->gid));
	g->version++;
}

static uint8_t
group_hop_limit(unsigned scope)
{
	return scope == SCOPE_LINK ? 0 : HOP_LIMIT_MAX;
}

void
group_record(const struct group *g, struct mcmember_record *r)
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

/* --- a new view --- */

/* Members that are away, or no longer of the partition, leave. */
static void
group_prune(struct groups *g, struct group *group, const struct sa_db *v)
{
	for (guint i = group->members->len; i-- > 0;) {
		struct group_member *m = &g_array_index(group->members,
							struct group_member, i);
		uint32_t port = sa_db_guid(v, m->port_guid);
		uint8_t gid[16];

		if (port == SNAPSHOT_NONE || !group_admits(group, v, port)) {
			group_drop(g, group, m);
			continue;
		}
		sa_db_make_gid(v, port, gid);
		if (memcmp(gid, m->gid, 16) == 0)
			continue;
		memcpy(m->gid, gid, 16);
		g->version++;
	}
}

/* A group as the configuration wants it, without MLID. */
static void
group_draft(struct group *draft, const struct sa_db *v,
	    const struct partition *p, const struct partition_group *want)
{
	*draft = (struct group){
		.pkey = (uint16_t)(p->pkey | PKEY_FULL),
		.q_key = want->q_key,
		.flow_label = want->flow_label,
		.mtu = want->mtu,
		.rate = want->rate,
		.life = v->subnet_timeout,
		.sl = v->qos ? want->sl : 0,
		.tclass = want->tclass,
		.scope = want->mgid[1] & 0xf,
		.permanent = true,
	};
	draft->hop_limit = group_hop_limit(draft->scope);
	memcpy(draft->mgid, want->mgid, 16);
}

static bool
group_is_like(const struct group *a, const struct group *b)
{
	return a->pkey == b->pkey && a->q_key == b->q_key &&
		a->flow_label == b->flow_label && a->mtu == b->mtu &&
		a->rate == b->rate && a->life == b->life && a->sl == b->sl &&
		a->tclass == b->tclass && a->hop_limit == b->hop_limit &&
		a->permanent == b->permanent;
}

static struct group *
groups_configure(struct groups *g, const struct sa_db *v,
		 struct group *draft)
{
	struct group *group = groups_get(g, draft->mgid);

	if (!group) {
		draft->mlid = groups_free_mlid(g, v->subnet);
		if (!draft->mlid)
			return NULL;	/* one may be free the next time */
		group = groups_insert(g, draft);
		groups_note(g, group, true);
		return group;
	}
	if (group_is_like(group, draft))
		return group;
	draft->mlid = group->mlid;
	draft->members = group->members;
	*group = *draft;
	g->version++;
	return group;
}

/* Returns the groups that are configured: a set of struct group *. If two
 * partitions name one MGID it is that of the lower P_Key. */
static GHashTable *
groups_configure_all(struct groups *g, const struct sa_db *v)
{
	GHashTable *configured = g_hash_table_new(NULL, NULL);
	const GPtrArray *partitions = v->rules->partitions;

	for (guint i = 0; i < partitions->len; i++) {
		const struct partition *p = partitions->pdata[i];

		for (guint j = 0; j < p->groups->len; j++) {
			struct group draft;
			struct group *group;

			group_draft(&draft, v, p,
				    &g_array_index(p->groups,
						   struct partition_group, j));
			group = groups_get(g, draft.mgid);
			if (group && g_hash_table_contains(configured, group))
				continue;
			group = groups_configure(g, v, &draft);
			if (group)
				g_hash_table_add(configured, group);
		}
	}
	return configured;
}

void
groups_follow(struct groups *g, const struct sa_db *v)
{
	g_autoptr(GHashTable) configured = groups_configure_all(g, v);

	for (guint i = g->groups->len; i-- > 0;) {
		struct group *group = g->groups->pdata[i];

		if (group->permanent &&
		    !g_hash_table_contains(configured, group)) {
			group->permanent = false;
			g->version++;
		}
		group_prune(g, group, v);
		if (!group_is_needed(group))
			groups_remove(g, group);
	}
}

/* ------------------------------------------------------ joining and leaving */

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

/* A code that means no speed is no limit that anything could keep: it may be
 * one of a speed that is yet to come. */
static bool
rate_is_known(const struct mcmember_record *q)
{
	return q->rate_selector == SA_LARGEST || sa_rate_mbps(q->rate);
}

bool
group_limits_hold(const struct group *g, uint64_t mask,
		  const struct mcmember_record *want)
{
	static const uint64_t mtu = SA_BIT(MCM_MTU_SELECTOR) | SA_BIT(MCM_MTU);
	static const uint64_t rate = SA_BIT(MCM_RATE_SELECTOR) |
		SA_BIT(MCM_RATE);
	static const uint64_t life = SA_BIT(MCM_LIFE_SELECTOR) |
		SA_BIT(MCM_LIFE);

	return ((mask & mtu) != mtu ||
		sa_selector_fits(want->mtu_selector, g->mtu - want->mtu)) &&
		((mask & rate) != rate ||
		 sa_selector_fits(want->rate_selector,
				  sa_rate_compare(g->rate, want->rate))) &&
		((mask & life) != life ||
		 sa_selector_fits(want->life_selector, g->life - want->life));
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
	static const uint64_t compared = SA_BIT(MCM_Q_KEY) | SA_BIT(MCM_PKEY) |
		SA_BIT(MCM_TCLASS) | SA_BIT(MCM_SL) | SA_BIT(MCM_FLOW_LABEL);
	struct mcmember_record want = *r->record, have;
	uint8_t wanted[SA_DATA_LEN], record[SA_DATA_LEN];
	struct sa_match m;

	group_record(group, &have);
	want.pkey |= PKEY_FULL;		/* limited members are welcome */
	have.pkey |= PKEY_FULL;
	sa_record_encode(SA_ATTR_MC_MEMBER, wanted, &want);
	sa_record_encode(SA_ATTR_MC_MEMBER, record, &have);
	sa_match_init(&m, SA_ATTR_MC_MEMBER, r->mask & compared, wanted);
	if (says(r, MCM_RATE_SELECTOR, MCM_RATE) && !rate_is_known(r->record))
		return false;
	return sa_match_test(&m, record) &&
		group_limits_hold(group, r->mask, r->record);
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
	struct mcmember_record r;

	group_record(group, &r);
	memcpy(r.port_gid, record->port_gid, 16);
	r.join_state = (uint8_t)join_state;
	r.proxy_join = proxy;
	*record = r;
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

/* -------------------------------------------------------------------- text */

static const struct state_word group_words[] = {
	STATE_WORD(group, mgid, "MGID", STATE_BYTES, 0, 0),
	STATE_WORD(group, mlid, "MLID", 4, MLID_MIN, MLID_END - 1),
	STATE_WORD(group, pkey, "P_Key", 4, PKEY_FULL + 1u, UINT16_MAX),
	STATE_WORD(group, q_key, "Q_Key", 8, 0, UINT32_MAX),
	STATE_WORD(group, flow_label, "FlowLabel", 5, 0, FLOW_LABEL_MAX),
	STATE_WORD(group, mtu, "MTU", 0, 1, 5),
	STATE_WORD(group, rate, "rate", 0, 1, 0x3f),
	STATE_WORD(group, life, "PacketLifeTime", 0, 0, LIFE_MAX),
	STATE_WORD(group, sl, "SL", 0, 0, 15),
	STATE_WORD(group, tclass, "TClass", 0, 0, UINT8_MAX),
	STATE_WORD(group, hop_limit, "HopLimit", 0, 0, UINT8_MAX),
	STATE_WORD(group, permanent, "configured", 0, 0, 1),
	STATE_WORD(group, creator, "creator", 16, 0, UINT64_MAX),
};

static const struct state_line group_line = {
	"group", group_words, G_N_ELEMENTS(group_words), 1,
};

struct saved_member {
	uint8_t mgid[16];
	struct group_member m;
};

static const struct state_word member_words[] = {
	STATE_WORD(saved_member, mgid, "MGID", STATE_BYTES, 0, 0),
	STATE_WORD(saved_member, m.gid, "PortGID", STATE_BYTES, 0, 0),
	STATE_WORD(saved_member, m.join_state, "JoinState", 0, 1, JOIN_ALL),
	STATE_WORD(saved_member, m.proxy, "ProxyJoin", 0, 0, 1),
};

static const struct state_line member_line = {
	"member", member_words, G_N_ELEMENTS(member_words), 0,
};

void
groups_save(const struct groups *g, GString *out)
{
	for (uint32_t i = 0; i < groups_count(g); i++) {
		const struct group *group = groups_at(g, i);
		struct saved_member saved;

		state_line_save(&group_line, out, group);
		memcpy(saved.mgid, group->mgid, 16);
		for (guint k = 0; k < group->members->len; k++) {
			saved.m = g_array_index(group->members,
						struct group_member, k);
			state_line_save(&member_line, out, &saved);
		}
	}
}

/* MGIDs that we choose from now on must not be those of clients that may still
 * believe in a group of before. */
static void
learn_id(struct groups *g, const uint8_t mgid[16])
{
	uint64_t id = bytes_load64(mgid + 8);

	if (mgid[2] == 0xa0 && mgid[3] == 0x1b && id != UINT64_MAX)
		g->next_id = MAX(g->next_id, id + 1);
}

static bool
load_group(struct groups *g, char **words, guint n_words, GError **error)
{
	struct group draft = { .scope = 0 };

	if (!state_line_load(&group_line, words, n_words, &draft, error))
		return false;
	draft.scope = draft.mgid[1] & 0xf;
	if (draft.mgid[0] != 0xff)
		return state_line_refuse(error, "the MGID does not begin with "
					 "ff");
	if (groups_get(g, draft.mgid))
		return state_line_refuse(error, "the group is there twice");
	if (groups_of_mlid(g, draft.mlid))
		return state_line_refuse(error, "two groups have MLID 0x%04x",
					 draft.mlid);
	groups_insert(g, &draft);
	learn_id(g, draft.mgid);
	return true;
}

bool
groups_load_line(struct groups *g, char **words, guint n_words,
		 GError **error)
{
	struct saved_member saved = { .m = { .proxy = false } };
	struct group *group;

	if (n_words > 0 && strcmp(words[0], "group") == 0)
		return load_group(g, words, n_words, error);
	if (n_words > 0 && strcmp(words[0], "member") != 0)
		return state_line_refuse(error, "neither 'group' nor 'member'");
	if (!state_line_load(&member_line, words, n_words, &saved, error))
		return false;
	saved.m.port_guid = bytes_load64(saved.m.gid + 8);
	group = groups_get(g, saved.mgid);
	if (!group)
		return state_line_refuse(error, "a member of a group that is "
					 "not there");
	if (group_member(group, saved.m.gid))
		return state_line_refuse(error, "the member is there twice");
	group_add(g, group, &saved.m);
	return true;
}
