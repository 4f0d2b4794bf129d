// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric at the end of a sweep, for the answers of the SA.
 *
 * Purpose. A large job sends millions of PathRecord queries, and a path has the
 * lowest MTU and rate of all cables on its route through the forwarding tables.
 *
 * Method. MTU and rate of the cable of a switch port are one byte, a "way". For
 * the 64 LIDs of a block of the forwarding tables the ways from all switches
 * are computed together, with the first path to one of these LIDs: that of a
 * switch is the lower of that of the next switch and that of the cable to it. A
 * path is then two look-ups, one for each direction. Most LIDs have the same
 * way from all switches, and one byte; where cables differ, or a switch has no
 * route, a byte for each switch is kept.
 *
 * Cost. Switches x 64 steps for a block, once; at most as many bytes as the
 * forwarding tables have.
 *
 * A cable counts if both ends are Active: the SA does not offer a path before
 * it carries data. MTU is the least MTUCap, which the plan writes as
 * NeighborMTU, or what a port has there.
 *
 * The route to a switch ends at its port 0, that to a host at a port of a switch.
 *
 * End ports are sorted by PortGUID for paths between all of them; a hash table
 * finds them by PortGUID, since each path needs two.
 */
#include "sm/sa/sa_db.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/sa_record.h"

#define WAY_UNKNOWN	0xffu

/* The lower MTU and rate of both ends; 0: the link is not Active. */
static uint8_t
cable_way(const struct snapshot *s, uint32_t port)
{
	const struct port_info *a = &s->ports[port].info, *b;

	if (!snapshot_link_up(s, port))
		return 0;
	b = &s->ports[s->ports[port].peer].info;
	if (a->state < PORT_STATE_ACTIVE || b->state < PORT_STATE_ACTIVE)
		return 0;
	return sa_way(MIN(port_mtu(a), port_mtu(b)),
		      MIN(sa_rate_rank(sa_rate_of(a)),
			  sa_rate_rank(sa_rate_of(b))));
}

/* The values of each port and its cable. */
static void
find_ends(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;

	v->ends = g_new(struct sa_end, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_node *n = snapshot_node_of(s, port);
		uint32_t peer = s->ports[port].peer;
		struct sa_end *end = &v->ends[port];

		*end = (struct sa_end){
			.guid = s->ports[port].guid, .lid = v->lids->base[port],
			.lmc = v->lids->lmc[port], .way = cable_way(s, port),
			.sw = peer == SNAPSHOT_NONE ? SNAPSHOT_NONE :
				snapshot_node_of(s, peer)->sw_index,
		};
		if (snapshot_is_switch(n) && port == n->first_port) {
			end->sw = n->sw_index;
			end->way = sa_way(s->ports[port].info.mtu_cap,
					  SA_RANK_ANY);
		}
	}
}

static gint
sa_db_compare_guids(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct snapshot *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return uint_compare(s->ports[x].guid, s->ports[y].guid) ?:
		uint_compare(x, y);
}

/* Where a PortGUID is in guid_slots, or has to be put: a hash table whose slots
 * hold a port, plus 1. The GUID is compared in `ends`, which a path needs
 * anyway. */
static uint32_t
guid_slot(const struct sa_db *v, uint64_t guid)
{
	uint32_t at = (uint32_t)(guid * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; at++) {
		at &= v->n_guid_slots - 1;
		if (!v->guid_slots[at] ||
		    v->ends[v->guid_slots[at] - 1].guid == guid)
			return at;
	}
}

/* At most half of the slots are taken. */
static void
sort_guids(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;

	v->by_guid = g_new(uint32_t, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (snapshot_is_end_port(s, port) && s->ports[port].guid)
			v->by_guid[v->n_by_guid++] = port;
	g_qsort_with_data(v->by_guid, (gint)v->n_by_guid,
			  sizeof(*v->by_guid), sa_db_compare_guids, v->subnet);
	for (v->n_guid_slots = 2; v->n_guid_slots < 2 * v->n_by_guid;)
		v->n_guid_slots *= 2;
	v->guid_slots = g_new0(uint32_t, v->n_guid_slots);
	for (uint32_t i = 0; i < v->n_by_guid; i++) {
		uint32_t port = v->by_guid[i];

		v->guid_slots[guid_slot(v, v->ends[port].guid)] = port + 1;
	}
}

struct sa_db *
sa_db_new(struct snapshot *s, struct lid_map *lids, struct lft *lft,
	    struct mft *mft, struct partition_rules *rules,
	    struct memberships *memberships, uint64_t gid_prefix,
	    uint8_t packet_life, uint8_t subnet_timeout)
{
	struct sa_db *v = g_new(struct sa_db, 1);

	*v = (struct sa_db){
		.ref = 1, .subnet = snapshot_ref(s), .lids = lid_map_ref(lids),
		.lft = lft_ref(lft), .mft = mft ? mft_ref(mft) : NULL,
		.rules = partition_rules_ref(rules), .memberships = memberships,
		.gid_prefix = gid_prefix, .packet_life = packet_life,
		.subnet_timeout = subnet_timeout, .qos = true,
	};
	find_ends(v);
	sort_guids(v);
	v->ways = g_new0(uint8_t *, lft_n_blocks(lft));
	v->way_to = g_malloc(lft->stride);
	memset(v->way_to, WAY_UNKNOWN, lft->stride);
	return v;
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
	uint32_t n_blocks;

	if (!v || !g_atomic_int_dec_and_test(&v->ref))
		return;
	n_blocks = lft_n_blocks(v->lft);
	snapshot_unref(v->subnet);
	lid_map_free(v->lids);
	lft_free(v->lft);
	mft_free(v->mft);
	memberships_unref(v->memberships);
	partition_rules_unref(v->rules);
	port_tables_unref(v->tables);
	for (uint32_t i = 0; i < n_blocks; i++)
		g_free(v->ways[i]);
	g_free(v->ways);
	g_free(v->way_to);
	g_free(v->ends);
	g_free(v->by_guid);
	g_free(v->guid_slots);
	g_free(v);
}

uint32_t
sa_db_guid(const struct sa_db *v, uint64_t guid)
{
	uint32_t port = v->guid_slots[guid_slot(v, guid)];

	return port ? port - 1 : SNAPSHOT_NONE;
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
	bytes_store64(gid, v->gid_prefix);
	bytes_store64(gid + 8, v->ends[port].guid);
}

/* The way from a switch to `to`, which has the LID; `ways` and `column` (of the
 * forwarding tables) are those to that LID. Switches on the route have no way
 * until it is computed, so those of a forwarding loop keep none. */
static uint8_t
sa_db_follow(const struct sa_db *v, uint8_t *ways, uint32_t sw, uint32_t to,
	     const uint8_t *column)
{
	const struct snapshot *s = v->subnet;
	const struct snapshot_node *n = &s->nodes[s->switches[sw]];
	uint8_t out = column[(size_t)sw * v->lft->stride];
	uint8_t *way = &ways[sw * LFT_BLOCK];
	uint32_t port = n->first_port + out;
	const struct sa_end *end;

	*way = 0;
	if (out > n->info.num_ports)
		return 0;
	end = &v->ends[port];
	if (!out || end->sw == SNAPSHOT_NONE)
		*way = (out ? s->ports[port].peer : port) == to ?
			SA_WAY_ANY : 0;
	else if (ways[end->sw * LFT_BLOCK] != WAY_UNKNOWN)
		*way = ways[end->sw * LFT_BLOCK];
	else
		*way = sa_db_follow(v, ways, end->sw, to, column);
	return *way = sa_way_least(*way, end->way);
}

/* The ways to the LIDs of a block. Those to LIDs with the same way from all
 * switches go to way_to; the others, if there are any, to ways. */
static void
find_ways(const struct sa_db *v, uint32_t block)
{
	uint32_t n = v->subnet->n_switches, first = block * LFT_BLOCK;
	uint8_t *ways = g_malloc((size_t)n * LFT_BLOCK);
	uint32_t to[LFT_BLOCK], sw, i;
	bool mixed = false;

	memset(ways, WAY_UNKNOWN, (size_t)n * LFT_BLOCK);
	for (i = 0; i < LFT_BLOCK; i++)
		to[i] = lid_map_owner(v->lids, (uint16_t)(first + i));
	for (sw = 0; sw < n; sw++)
		for (i = 0; i < LFT_BLOCK; i++)
			if (to[i] != SNAPSHOT_NONE &&
			    ways[sw * LFT_BLOCK + i] == WAY_UNKNOWN)
				sa_db_follow(v, ways + i, sw, to[i],
					     v->lft->ports + first + i);
	for (i = 0; i < LFT_BLOCK; i++) {
		for (sw = 1; sw < n; sw++)
			if (ways[sw * LFT_BLOCK + i] != ways[i])
				break;
		if (sw == n)
			v->way_to[first + i] = ways[i];
		else
			mixed = true;
	}
	if (mixed)
		v->ways[block] = ways;
	else
		g_free(ways);
}

uint8_t
sa_db_way(const struct sa_db *v, uint32_t from, uint32_t to, uint16_t dlid)
{
	const struct sa_end *end = &v->ends[from];
	uint32_t block = dlid / LFT_BLOCK;

	if (from == to || !end->way)
		return end->way;
	if (end->sw == SNAPSHOT_NONE)		/* back to back */
		return v->subnet->ports[from].peer == to ? end->way : 0;
	if (dlid > v->lft->top)
		return 0;
	if (v->way_to[dlid] == WAY_UNKNOWN && !v->ways[block])
		find_ways(v, block);
	if (v->way_to[dlid] != WAY_UNKNOWN)
		return sa_way_least(end->way, v->way_to[dlid]);
	return sa_way_least(end->way, v->ways[block][end->sw * LFT_BLOCK +
						     dlid % LFT_BLOCK]);
}

/* ---------------------------------------------------------- tables of ports */

void
sa_db_set_mft(struct sa_db *v, struct mft *mft)
{
	g_assert(!mft || mft->n_switches == v->subnet->n_switches);
	if (mft)
		mft_ref(mft);
	mft_free(v->mft);
	v->mft = mft;
}

const union port_block *
sa_db_block(const struct sa_db *v, enum port_table table, uint32_t port,
	      unsigned block)
{
	return v->tables &&
		block < v->tables->n_blocks[table][port] ?
		port_tables_get(v->tables, table, port, block) : NULL;
}

uint16_t
sa_db_pkey_index(const struct sa_db *v, uint32_t port, uint16_t pkey)
{
	unsigned n = v->tables ?
		v->tables->n_blocks[PORT_TABLE_PKEY][port] : 0;

	for (unsigned i = 0; pkey && i < n * PKEYS_A_BLOCK; i++) {
		const union port_block *b = sa_db_block(v, PORT_TABLE_PKEY,
			port, i / PKEYS_A_BLOCK);

		if (b && b->pkeys[i % PKEYS_A_BLOCK] == pkey)
			return (uint16_t)i;
	}
	return 0;
}
