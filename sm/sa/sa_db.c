// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as the SA sees it.
 *
 * Purpose. A path is asked for millions of times and is a walk through the
 * tables; everything on the way has to be at hand: per switch port the port at
 * the other end, its switch, and what the cable carries; per end port the same
 * of its own cable. The snapshot's structs are too wide for that (a cache line
 * and more for each hop).
 *
 * A cable counts if both ends are Active: the SA does not offer what does not
 * carry data yet. MTU is the least MTUCap, since NeighborMTU follows from it
 * and is what our own plan sets.
 *
 * A fabric whose cables between switches are all alike, and of which
 * verification says that everybody reaches everybody, needs no walk at all:
 * what a path carries follows from the cables at its ends. Only between two
 * switches the tables are followed even then, since no routing engine has to
 * lead from each port 0 to each other.
 *
 * Indices. by_guid and by_system are sorted, so that who asks for a PortGUID
 * or a SystemImageGUID costs a binary search, however large the fabric is.
 */
#include "sm/sa/sa_db.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/sa_record.h"
#include "topology/port_tables.h"

#define HOPS_MAX	64u	/* a way that is longer goes round */

static bool
cable_is_active(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return snapshot_link_up(s, port) &&
		s->ports[port].info.state >= PORT_STATE_ACTIVE &&
		s->ports[peer].info.state >= PORT_STATE_ACTIVE;
}

/* What both ends say; they should say the same. */
static uint8_t
cable_rate(const struct snapshot *s, uint32_t port)
{
	unsigned a = sa_rate_of(&s->ports[port].info);
	unsigned b = sa_rate_of(&s->ports[s->ports[port].peer].info);

	return (uint8_t)(sa_rate_compare(a, b) < 0 ? a : b);
}

static void
describe(const struct snapshot *s, uint32_t port, struct sa_hop *hop)
{
	const struct snapshot_port *p = &s->ports[port];
	const struct snapshot_node *next;

	*hop = (struct sa_hop){ .next = SNAPSHOT_NONE, .sw = SNAPSHOT_NONE };
	if (p->num == 0 || p->peer == SNAPSHOT_NONE)
		return;
	next = snapshot_node_of(s, p->peer);
	hop->next = p->peer;
	if (snapshot_is_switch(next))
		hop->sw = next->sw_index;
	if (!cable_is_active(s, port))
		return;
	hop->mtu = MIN(p->info.mtu_cap, s->ports[p->peer].info.mtu_cap);
	hop->rate = cable_rate(s, port);
}

static void
find_trunk(struct sa_db *v)
{
	const struct sa_hop *hop = v->hops;

	v->uniform = true;
	for (uint32_t i = 0; i < v->first_hop[v->subnet->n_switches];
	     i++, hop++) {
		if (hop->sw == SNAPSHOT_NONE)
			continue;
		if (!v->trunk_mtu) {
			v->trunk_mtu = hop->mtu;
			v->trunk_rate = hop->rate;
		}
		if (!hop->mtu || !hop->rate || hop->mtu != v->trunk_mtu ||
		    hop->rate != v->trunk_rate)
			v->uniform = false;
	}
}

static void
find_hops(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;
	const struct snapshot_node *n;
	uint32_t count = 0;

	v->first_hop = g_new(uint32_t, s->n_switches + 1);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		v->first_hop[sw] = count;
		count += s->nodes[s->switches[sw]].info.num_ports + 1u;
	}
	v->first_hop[s->n_switches] = count;
	v->hops = g_new(struct sa_hop, count);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		n = &s->nodes[s->switches[sw]];
		for (unsigned p = 0; p <= n->info.num_ports; p++)
			describe(s, n->first_port + p,
				 &v->hops[v->first_hop[sw] + p]);
	}
	find_trunk(v);
}

/* What an end port has by itself. */
static void
find_starts(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;
	const struct snapshot_node *n;
	struct sa_start *start;

	v->starts = g_new0(struct sa_start, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		start = &v->starts[port];
		start->sw = SNAPSHOT_NONE;
		if (!snapshot_is_end_port(s, port))
			continue;
		n = snapshot_node_of(s, port);
		if (snapshot_is_switch(n)) {
			start->sw = n->sw_index;
			start->mtu = s->ports[port].info.mtu_cap;
			start->rate = SA_RATE_ANY;
		} else if (cable_is_active(s, port)) {
			start->sw = snapshot_node_of(s,
					s->ports[port].peer)->sw_index;
			start->mtu = s->ports[port].info.mtu_cap;
			start->rate = cable_rate(s, port);
		}
	}
}

static gint
compare_guids(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct snapshot *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (s->ports[x].guid != s->ports[y].guid)
		return s->ports[x].guid < s->ports[y].guid ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
sort_guids(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;

	v->by_guid = g_new(uint32_t, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (snapshot_is_end_port(s, port) && s->ports[port].guid)
			v->by_guid[v->n_by_guid++] = port;
	g_qsort_with_data(v->by_guid, (gint)v->n_by_guid,
			  sizeof(*v->by_guid), compare_guids, v->subnet);
	v->guids = g_new(uint64_t, v->n_by_guid);
	for (uint32_t i = 0; i < v->n_by_guid; i++)
		v->guids[i] = s->ports[v->by_guid[i]].guid;
}

static gint
compare_systems(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct snapshot *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t of_x = s->nodes[x].info.system_guid;
	uint64_t of_y = s->nodes[y].info.system_guid;

	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
sort_systems(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;

	v->by_system = g_new(uint32_t, s->n_nodes);
	for (uint32_t node = 0; node < s->n_nodes; node++)
		v->by_system[node] = node;
	g_qsort_with_data(v->by_system, (gint)s->n_nodes,
			  sizeof(*v->by_system), compare_systems, v->subnet);
}

struct sa_db *
sa_db_new(struct snapshot *s, struct lid_map *lids, struct lft *lft,
	    struct mft *mft, struct partition_rules *rules,
	    struct memberships *memberships, uint64_t gid_prefix,
	    uint8_t packet_life, uint8_t subnet_timeout)
{
	struct sa_db *v = g_new0(struct sa_db, 1);

	v->ref = 1;
	v->subnet = snapshot_ref(s);
	v->lids = lid_map_ref(lids);
	v->lft = lft_ref(lft);
	v->mft = mft ? mft_ref(mft) : NULL;
	v->rules = partition_rules_ref(rules);
	v->memberships = memberships;
	v->gid_prefix = gid_prefix;
	v->packet_life = packet_life;
	v->subnet_timeout = subnet_timeout;
	v->qos = true;
	find_hops(v);
	find_starts(v);
	sort_guids(v);
	sort_systems(v);
	return v;
}

void
sa_db_verified(struct sa_db *v)
{
	v->verified = true;
}

void
sa_db_set_policy(struct sa_db *v, struct qos_policy *policy)
{
	qos_policy_unref(v->policy);
	v->policy = policy ? qos_policy_ref(policy) : NULL;
}

struct sa_db *
sa_db_ref(struct sa_db *v)
{
	g_atomic_int_inc(&v->ref);
	return v;
}

void
sa_db_unref(struct sa_db *v)
{
	if (!v || !g_atomic_int_dec_and_test(&v->ref))
		return;
	snapshot_unref(v->subnet);
	lid_map_free(v->lids);
	lft_free(v->lft);
	mft_free(v->mft);
	memberships_unref(v->memberships);
	partition_rules_unref(v->rules);
	qos_policy_unref(v->policy);
	port_tables_unref(v->held);
	port_tables_unref(v->read);
	g_free(v->closed);
	g_free(v->first_hop);
	g_free(v->hops);
	g_free(v->starts);
	g_free(v->by_guid);
	g_free(v->guids);
	g_free(v->by_system);
	g_free(v);
}

uint32_t
sa_db_lid(const struct sa_db *v, uint16_t lid)
{
	return lid && lid <= v->lids->top ? v->lids->owner[lid] : SNAPSHOT_NONE;
}

/* The loop has no branch to be mispredicted: it is walked the same way for all
 * GUIDs. */
uint32_t
sa_db_guid(const struct sa_db *v, uint64_t guid)
{
	const uint64_t *at = v->guids;
	uint32_t n = v->n_by_guid, half;

	if (!n)
		return SNAPSHOT_NONE;
	for (; n > 1; n -= half) {
		half = n / 2;
		at = at[half] <= guid ? at + half : at;
	}
	return *at == guid ? v->by_guid[at - v->guids] : SNAPSHOT_NONE;
}

/* Where the systems from this one on begin. */
static uint32_t
system_place(const struct sa_db *v, uint64_t guid)
{
	const struct snapshot *s = v->subnet;
	uint32_t low = 0, high = s->n_nodes, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->nodes[v->by_system[mid]].info.system_guid < guid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t
sa_db_system(const struct sa_db *v, uint64_t guid, uint32_t *n)
{
	uint32_t first = system_place(v, guid);
	uint32_t end = guid == UINT64_MAX ? v->subnet->n_nodes :
		system_place(v, guid + 1);

	*n = end - first;
	return first;
}

uint32_t
sa_db_gid(const struct sa_db *v, const uint8_t gid[16])
{
	uint64_t prefix = bytes_load64(gid);

	if (prefix != v->gid_prefix && prefix != SA_GID_PREFIX_DEFAULT)
		return SNAPSHOT_NONE;
	return sa_db_guid(v, bytes_load64(gid + 8));
}

void
sa_db_make_gid(const struct sa_db *v, uint32_t port, uint8_t gid[16])
{
	uint64_t prefix = GUINT64_TO_BE(v->gid_prefix);
	uint64_t guid = GUINT64_TO_BE(v->subnet->ports[port].guid);

	memcpy(gid, &prefix, 8);
	memcpy(gid + 8, &guid, 8);
}

/* From one switch to the next, one step at a time. */
enum walk_state { WALK_ON, WALK_THERE, WALK_LOST };

struct walk {
	uint32_t sw;		/* where it is; SNAPSHOT_NONE: no switch */
	uint32_t to;		/* port that has the LID */
	uint16_t lid;
	enum walk_state state;
	struct sa_way way;
};

static inline void
pass(struct sa_way *way, uint8_t mtu, uint8_t rate)
{
	way->mtu = MIN(way->mtu, mtu);
	if (rate != way->rate && (way->rate == SA_RATE_ANY ||
				  sa_rate_compare(rate, way->rate) < 0))
		way->rate = rate;
}

/* Is every way from here to there known to be led to its end? */
static bool
is_uniform(const struct sa_db *v, uint32_t from, uint32_t to)
{
	return v->verified && v->uniform &&
		!(v->starts[from].rate == SA_RATE_ANY &&
		  v->starts[to].rate == SA_RATE_ANY);
}

/* The least of what the ends and the trunk carry. `way` is what `from` has. */
static bool
meet_halfway(const struct sa_db *v, uint32_t sw, uint32_t to,
	     struct sa_way *way)
{
	const struct sa_start *end = &v->starts[to];

	if (!end->mtu)
		return false;
	if (end->rate != SA_RATE_ANY)
		pass(way, end->mtu, end->rate);
	if (end->sw != sw)
		pass(way, v->trunk_mtu, v->trunk_rate);
	return true;
}

static void
walk_begin(struct walk *w, const struct sa_db *v, uint32_t from,
	   uint32_t to, uint16_t lid)
{
	const struct sa_start *start = &v->starts[from];
	bool there = from == to;

	*w = (struct walk){
		.sw = start->sw, .to = to, .lid = lid,
		.way = { .mtu = start->mtu, .rate = start->rate },
	};
	if (!start->mtu) {
		w->state = WALK_LOST;
		return;
	}
	if (!there && start->sw == SNAPSHOT_NONE)	/* back to back */
		there = v->subnet->ports[from].peer == to;
	else if (!there && is_uniform(v, from, to))
		there = meet_halfway(v, start->sw, to, &w->way);
	else if (!there && lid <= v->lft->top)
		return;
	w->state = there ? WALK_THERE : WALK_LOST;
}

static void
walk_step(struct walk *w, const struct sa_db *v)
{
	uint32_t first = v->first_hop[w->sw];
	uint8_t port = lft_row(v->lft, w->sw)[w->lid];
	const struct sa_hop *hop;

	w->state = WALK_LOST;
	if (++w->way.n_hops > HOPS_MAX ||
	    first + port >= v->first_hop[w->sw + 1])
		return;
	if (port == 0) {
		if (v->starts[w->to].rate == SA_RATE_ANY &&
		    v->starts[w->to].sw == w->sw)
			w->state = WALK_THERE;
		return;
	}
	hop = &v->hops[first + port];
	if (!hop->mtu || !hop->rate)
		return;
	pass(&w->way, hop->mtu, hop->rate);
	w->sw = hop->sw;
	if (hop->sw != SNAPSHOT_NONE)
		w->state = WALK_ON;
	else if (hop->next == w->to)
		w->state = WALK_THERE;
}

bool
sa_db_walk(const struct sa_db *v, uint32_t from, uint16_t dlid,
	     struct sa_way *way)
{
	uint32_t to = sa_db_lid(v, dlid);
	struct walk w;

	if (to == SNAPSHOT_NONE)
		return false;
	walk_begin(&w, v, from, to, dlid);
	while (w.state == WALK_ON)
		walk_step(&w, v);
	*way = w.way;
	return w.state == WALK_THERE;
}

/* Side by side: neither has to wait for the memory that the other needs. */
unsigned
sa_db_walk_both(const struct sa_db *v, uint32_t from, uint16_t slid,
		  uint32_t to, uint16_t dlid, struct sa_way way[2])
{
	struct walk there, back;

	walk_begin(&there, v, from, to, dlid);
	if (there.state == WALK_ON)
		walk_begin(&back, v, to, from, slid);
	else
		back = there;
	while (there.state == WALK_ON || back.state == WALK_ON) {
		if (there.state == WALK_ON)
			walk_step(&there, v);
		if (back.state == WALK_ON)
			walk_step(&back, v);
	}
	way[0] = there.way;
	way[1] = back.way;
	if (there.state != WALK_THERE)
		return 0;
	return back.state == WALK_THERE ? 2 : 1;
}
