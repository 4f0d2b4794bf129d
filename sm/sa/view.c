/*
 * The fabric as the SA sees it.
 *
 * Purpose. A path is asked for millions of times and is a walk through the
 * tables; everything on the way has to be at hand: per switch port the port at
 * the other end, its switch, and what the cable carries. The snapshot's own
 * structs are too wide for that (a cache line and more for each hop).
 *
 * A cable counts if both ends are Active: the SA does not offer what does not
 * carry data yet. A fabric whose cables between switches are all alike, and of
 * which verification says that everybody reaches everybody, needs no walk at
 * all: what a path carries follows from the cables at its ends. MTU is the
 * least MTUCap, since NeighborMTU follows from it
 * and is what our own plan sets.
 */
#include "sm/sa/view.h"

#include <string.h>

#include "sm/wire/sa_record.h"

#define HOPS_MAX	64u	/* a way that is longer goes round */

static bool
cable_is_active(const struct subnet *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return subnet_link_up(s, port) &&
		s->ports[port].info.state == PORT_STATE_ACTIVE &&
		s->ports[peer].info.state == PORT_STATE_ACTIVE;
}

/* What both ends say; they should say the same. */
static uint8_t
cable_rate(const struct subnet *s, uint32_t port)
{
	unsigned a = sa_rate_of(&s->ports[port].info);
	unsigned b = sa_rate_of(&s->ports[s->ports[port].peer].info);

	return (uint8_t)(sa_rate_compare(a, b) < 0 ? a : b);
}

static void
describe(const struct subnet *s, uint32_t port, struct sa_hop *hop)
{
	const struct subnet_port *p = &s->ports[port];
	const struct subnet_node *next;

	*hop = (struct sa_hop){ .next = SUBNET_NONE, .sw = SUBNET_NONE };
	if (p->num == 0 || p->peer == SUBNET_NONE)
		return;
	next = subnet_node_of(s, p->peer);
	hop->next = p->peer;
	if (subnet_is_switch(next))
		hop->sw = next->sw_index;
	if (!cable_is_active(s, port))
		return;
	hop->mtu = MIN(p->info.mtu_cap, s->ports[p->peer].info.mtu_cap);
	hop->rate = cable_rate(s, port);
}

static void
find_trunk(struct sa_view *v)
{
	const struct sa_hop *hop = v->hops;

	v->uniform = true;
	for (uint32_t i = 0; i < v->first_hop[v->subnet->n_switches];
	     i++, hop++) {
		if (hop->sw == SUBNET_NONE)
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
find_hops(struct sa_view *v)
{
	const struct subnet *s = v->subnet;
	const struct subnet_node *n;
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

static gint
compare_guids(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct subnet *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (s->ports[x].guid != s->ports[y].guid)
		return s->ports[x].guid < s->ports[y].guid ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
sort_guids(struct sa_view *v)
{
	const struct subnet *s = v->subnet;

	v->by_guid = g_new(uint32_t, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (subnet_is_end_port(s, port) && s->ports[port].guid)
			v->by_guid[v->n_by_guid++] = port;
	g_qsort_with_data(v->by_guid, (gint)v->n_by_guid,
			  sizeof(*v->by_guid), compare_guids, v->subnet);
	v->guids = g_new(uint64_t, v->n_by_guid);
	for (uint32_t i = 0; i < v->n_by_guid; i++)
		v->guids[i] = s->ports[v->by_guid[i]].guid;
}

struct sa_view *
sa_view_new(struct subnet *s, struct lid_map *lids, struct lft *lft,
	    struct mft *mft, const struct partition_rules *rules,
	    struct memberships *memberships, uint64_t gid_prefix,
	    uint8_t packet_life, uint8_t subnet_timeout)
{
	struct sa_view *v = g_new0(struct sa_view, 1);

	v->ref = 1;
	v->subnet = subnet_ref(s);
	v->lids = lid_map_ref(lids);
	v->lft = lft_ref(lft);
	v->mft = mft ? mft_ref(mft) : NULL;
	v->rules = rules;
	v->memberships = memberships;
	v->gid_prefix = gid_prefix;
	v->packet_life = packet_life;
	v->subnet_timeout = subnet_timeout;
	find_hops(v);
	sort_guids(v);
	return v;
}

void
sa_view_verified(struct sa_view *v)
{
	v->verified = true;
}

struct sa_view *
sa_view_ref(struct sa_view *v)
{
	g_atomic_int_inc(&v->ref);
	return v;
}

void
sa_view_unref(struct sa_view *v)
{
	if (!v || !g_atomic_int_dec_and_test(&v->ref))
		return;
	subnet_unref(v->subnet);
	lid_map_free(v->lids);
	lft_free(v->lft);
	mft_free(v->mft);
	memberships_free(v->memberships);
	g_free(v->first_hop);
	g_free(v->hops);
	g_free(v->by_guid);
	g_free(v->guids);
	g_free(v);
}

uint32_t
sa_view_lid(const struct sa_view *v, uint16_t lid)
{
	return lid && lid <= v->lids->top ? v->lids->owner[lid] : SUBNET_NONE;
}

/* The loop has no branch to be mispredicted: it is walked the same way for all
 * GUIDs. */
uint32_t
sa_view_guid(const struct sa_view *v, uint64_t guid)
{
	const uint64_t *at = v->guids;
	uint32_t n = v->n_by_guid, half;

	if (!n)
		return SUBNET_NONE;
	for (; n > 1; n -= half) {
		half = n / 2;
		at = at[half] <= guid ? at + half : at;
	}
	return *at == guid ? v->by_guid[at - v->guids] : SUBNET_NONE;
}

static uint64_t
load_be64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, 8);
	return GUINT64_FROM_BE(value);
}

uint32_t
sa_view_gid(const struct sa_view *v, const uint8_t gid[16])
{
	uint64_t prefix = load_be64(gid);

	if (prefix != v->gid_prefix && prefix != SA_GID_PREFIX_DEFAULT)
		return SUBNET_NONE;
	return sa_view_guid(v, load_be64(gid + 8));
}

void
sa_view_make_gid(const struct sa_view *v, uint32_t port, uint8_t gid[16])
{
	uint64_t prefix = GUINT64_TO_BE(v->gid_prefix);
	uint64_t guid = GUINT64_TO_BE(v->subnet->ports[port].guid);

	memcpy(gid, &prefix, 8);
	memcpy(gid + 8, &guid, 8);
}

/* The way begins at a port: its own limits, and the switch behind it. */
static bool
set_out(const struct sa_view *v, uint32_t from, struct sa_way *way,
	uint32_t *sw)
{
	const struct subnet *s = v->subnet;
	const struct subnet_port *p = &s->ports[from];
	const struct subnet_node *n = subnet_node_of(s, from);

	*way = (struct sa_way){ .mtu = p->info.mtu_cap,
				.rate = SA_RATE_ANY };
	*sw = n->sw_index;
	if (subnet_is_switch(n))
		return true;
	if (!subnet_link_up(s, from) || !cable_is_active(s, from))
		return false;
	way->rate = cable_rate(s, from);
	*sw = subnet_node_of(s, p->peer)->sw_index;
	return true;
}

static void
pass(struct sa_way *way, const struct sa_hop *hop)
{
	way->mtu = MIN(way->mtu, hop->mtu);
	if (way->rate == SA_RATE_ANY ||
	    sa_rate_compare(hop->rate, way->rate) < 0)
		way->rate = hop->rate;
}

/* The least of what the ends and the trunk carry. `way` is what `from` has. */
static bool
meet_halfway(const struct sa_view *v, uint32_t sw, uint32_t to,
	     struct sa_way *way)
{
	const struct sa_hop trunk = { .mtu = v->trunk_mtu,
				      .rate = v->trunk_rate };
	struct sa_way back;
	uint32_t other;

	if (!set_out(v, to, &back, &other))
		return false;
	if (back.rate != SA_RATE_ANY)
		pass(way, &(struct sa_hop){ .mtu = back.mtu,
					    .rate = back.rate });
	if (other != sw)
		pass(way, &trunk);
	return true;
}

static bool
follow(const struct sa_view *v, uint32_t sw, uint16_t dlid, uint32_t to,
       struct sa_way *way)
{
	const struct sa_hop *hop;
	uint8_t port;

	while (way->n_hops < HOPS_MAX) {
		way->n_hops++;
		port = lft_row(v->lft, sw)[dlid];
		if (v->first_hop[sw] + port >= v->first_hop[sw + 1])
			return false;
		if (port == 0)
			return subnet_node_of(v->subnet, to)->sw_index == sw;
		hop = &v->hops[v->first_hop[sw] + port];
		if (!hop->mtu || !hop->rate)
			return false;
		pass(way, hop);
		if (hop->sw == SUBNET_NONE)
			return hop->next == to;
		sw = hop->sw;
	}
	return false;
}

bool
sa_view_walk(const struct sa_view *v, uint32_t from, uint16_t dlid,
	     struct sa_way *way)
{
	uint32_t to = sa_view_lid(v, dlid), sw;

	if (to == SUBNET_NONE || !set_out(v, from, way, &sw))
		return false;
	if (from == to)
		return true;
	/* Back to back: no switch between. */
	if (sw == SUBNET_NONE)
		return v->subnet->ports[from].peer == to;
	if (v->verified && v->uniform)
		return meet_halfway(v, sw, to, way);
	return dlid <= v->lft->top && follow(v, sw, dlid, to, way);
}
