// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric at the end of a sweep, for the answers of the SA.
 *
 * MTU and rate of a cable are one byte, a "way", by port. A path has the lowest
 * way of all cables on its route, which is followed through the forwarding tables
 * for each query: 1 to 2 us at 11,664 hosts, of the 60 us or more that an answer
 * to a client takes.
 *
 * A cable counts if both ends are Active: the SA does not offer a path before
 * it carries data. MTU is the least MTUCap, which the plan writes as
 * NeighborMTU, or what a port has there.
 */
#include "sm/sa/sa_db.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/sa_record.h"

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

static void
find_ends(struct sa_db *v)
{
	const struct snapshot *s = v->subnet;

	v->hops = g_new(struct sa_hop, s->n_ports);
	v->ends = g_new(uint32_t, s->n_ports);
	v->by_guid = g_hash_table_new(g_int64_hash, g_int64_equal);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct snapshot_port *p = &s->ports[port];
		uint32_t next = p->num ? p->peer : port;
		struct sa_hop *hop = &v->hops[port];

		*hop = (struct sa_hop){ .next = next };
		hop->way = p->num ? cable_way(s, port) :
			sa_way(p->info.mtu_cap, SA_RANK_ANY);
		if (hop->way)
			hop->node = snapshot_node_of(s, next);
		if (!snapshot_is_end_port(s, port) || !p->guid)
			continue;
		v->ends[v->n_ends++] = port;
		g_hash_table_insert(v->by_guid, &p->guid,
				    GUINT_TO_POINTER(port + 1));
	}
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
	find_ends(v);
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
	if (!v || !g_atomic_int_dec_and_test(&v->ref))
		return;
	g_hash_table_unref(v->by_guid);
	snapshot_unref(v->subnet);
	lid_map_free(v->lids);
	lft_free(v->lft);
	mft_free(v->mft);
	memberships_unref(v->memberships);
	partition_rules_unref(v->rules);
	port_tables_unref(v->tables);
	g_free(v->hops);
	g_free(v->ends);
	g_free(v);
}

uint32_t
sa_db_guid(const struct sa_db *v, uint64_t guid)
{
	gpointer port = g_hash_table_lookup(v->by_guid, &guid);

	return port ? GPOINTER_TO_UINT(port) - 1 : SNAPSHOT_NONE;
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
	bytes_store64(gid + 8, v->subnet->ports[port].guid);
}

uint8_t
sa_db_way(const struct sa_db *v, uint32_t from, uint32_t to, uint16_t dlid)
{
	const struct sa_hop *hop = &v->hops[from];
	uint32_t left = v->subnet->n_switches;	/* more of them are a loop */
	uint8_t way = hop->way, out;

	while (way && from != to && hop->next != to) {
		if (!snapshot_is_switch(hop->node) || dlid > v->lft->top ||
		    !left--)
			return 0;
		out = lft_row(v->lft, hop->node->sw_index)[dlid];
		if (out > hop->node->info.num_ports)
			return 0;
		hop = &v->hops[hop->node->first_port + out];
		way = sa_way_least(way, hop->way);
	}
	return way;
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
