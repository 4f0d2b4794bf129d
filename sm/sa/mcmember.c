// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups and their members: the store.
 *
 * Purpose. Keeps which groups there are, with the MLID of each, and who is in
 * them. Requests that change it are in mcmember_join.c, text in
 * mcmember_save.c.
 *
 * Structs. `groups` has the groups sorted by MGID, whose each MLID is, and
 * the events that nobody has fetched yet. A group has its members sorted by
 * GID.
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
 */
#include <string.h>

#include "sm/sa/mcmember_store.h"

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

struct group *
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

void
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

struct group *
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

void
groups_remove(struct groups *g, const struct group *group)
{
	groups_note(g, group, false);
	g->by_mlid[group->mlid - MLID_MIN] = NULL;
	g_ptr_array_remove_index(g->groups, groups_place(g, group->mgid));
	g->version++;
}

bool
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
uint16_t
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

struct group_member *
group_add(struct groups *g, struct group *group, const struct group_member *m)
{
	guint place = member_place(group, m->gid);

	g_array_insert_vals(group->members, place, m, 1);
	g->version++;
	return &g_array_index(group->members, struct group_member, place);
}

void
group_drop(struct groups *g, struct group *group, struct group_member *m)
{
	g_array_remove_index(group->members, member_place(group, m->gid));
	g->version++;
}

uint8_t
group_hop_limit(unsigned scope)
{
	return scope == SCOPE_LINK ? 0 : HOP_LIMIT_MAX;
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
