// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Records of the fabric, one kind after the other.
 *
 * A function for each kind makes record number `i` of a port or a switch, or
 * says that there is none; another tells how many numbers there are.
 *
 * Tables of ports. What the devices hold is told as it was read: of P_Keys of
 * end ports, which every sweep reads, by the sweep; of those of a switch's
 * external ports, and of the other two tables, by who was sent for them
 * (sa_db.h). An end port of which no P_Key block is known is told what
 * it should hold: that is what it will be given.
 */
#include <string.h>

#include "sm/sa/scan.h"
#include "sm/mad/bytes.h"
#include "sm/mad/smp.h"

#define NODE_DESC_OFFSET	44u	/* NodeDescription of a NodeRecord */
#define BLOCK_OFFSET	8u	/* what a block of a table begins at */

uint32_t
scan_end_port(const struct sa_db *v, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(v->subnet, port);

	return snapshot_is_switch(n) ? n->first_port : port;
}

static uint16_t
lid_of(const struct sa_db *v, uint32_t port)
{
	return v->lids->base[scan_end_port(v, port)];
}

static uint16_t
lid_of_switch(const struct sa_db *v, uint32_t sw)
{
	const struct snapshot *s = v->subnet;

	return v->lids->base[s->nodes[s->switches[sw]].first_port];
}

static uint32_t
count_one(const struct scan *s, uint32_t at)
{
	return 1;
}

static bool
make_node(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot_port *p = &s->v->subnet->ports[at];
	const struct snapshot_node *n = snapshot_node_of(s->v->subnet, at);
	struct node_info info = n->info;

	if (!snapshot_is_end_port(s->v->subnet, at) || !lid_of(s->v, at))
		return false;
	info.port_guid = p->guid;
	if (p->num)
		info.local_port = p->num;
	sa_record_encode(SA_ATTR_NODE, record, &info);
	bytes_store16(record, lid_of(s->v, at));
	memcpy(record + NODE_DESC_OFFSET, n->desc, strnlen(n->desc, 64));
	return true;
}

static bool
make_port_info(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot_port *p = &s->v->subnet->ports[at];
	struct port_info info = p->info;

	if (!p->known || !lid_of(s->v, at))
		return false;
	if (!s->q.trusted)
		info.m_key = 0;
	sa_record_encode(SA_ATTR_PORT_INFO, record, &info);
	bytes_store16(record, lid_of(s->v, at));
	record[2] = p->num;
	return true;
}

static bool
make_link(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot *n = s->v->subnet;
	uint32_t peer = n->ports[at].peer;

	if (peer == SNAPSHOT_NONE || !snapshot_link_up(n, at) ||
	    !snapshot_link_up(n, peer) || !lid_of(s->v, at) ||
	    !lid_of(s->v, peer) ||
	    !records_visible(s->v, &s->q, scan_end_port(s->v, peer)))
		return false;
	sa_record_encode(SA_ATTR_LINK, record, NULL);
	bytes_store16(record, lid_of(s->v, at));
	record[2] = n->ports[at].num;
	record[3] = n->ports[peer].num;
	bytes_store16(record + 4, lid_of(s->v, peer));
	return true;
}

static uint32_t
count_guids(const struct scan *s, uint32_t at)
{
	const struct snapshot_port *p = &s->v->subnet->ports[at];

	return MAX((p->info.guid_cap + 7u) / 8, 1u);
}

static bool
make_guid_info(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	if (!snapshot_is_end_port(s->v->subnet, at) || !lid_of(s->v, at))
		return false;
	sa_record_encode(SA_ATTR_GUID_INFO, record, NULL);
	bytes_store16(record, lid_of(s->v, at));
	record[2] = (uint8_t)i;
	if (i == 0)
		bytes_store64(record + BLOCK_OFFSET,
			      s->v->subnet->ports[at].guid);
	return true;
}

static unsigned
pkey_blocks(const struct sa_db *v, uint32_t port)
{
	const struct port_tables *t = v->held ? v->held : v->read;

	return t ? port_tables_blocks(t, PORT_TABLE_PKEY, port) : 0;
}

static bool
knows_pkeys(const struct sa_db *v, uint32_t port)
{
	for (unsigned i = 0; i < pkey_blocks(v, port); i++)
		if (sa_db_block(v, PORT_TABLE_PKEY, port, i))
			return true;
	return false;
}

static uint32_t
count_pkeys(const struct scan *s, uint32_t at)
{
	const struct memberships *m = s->v->memberships;
	uint32_t n = m->first[at + 1] - m->first[at];

	if (knows_pkeys(s->v, at))
		return pkey_blocks(s->v, at);
	return snapshot_is_end_port(s->v->subnet, at) ?
		MAX((n + PKEYS_A_BLOCK - 1) / PKEYS_A_BLOCK, 1u) : 0;
}

/* Its LID and the block; the other keys are the caller's. */
static bool
make_block(const struct scan *s, enum port_table table, uint32_t at,
	   const union port_block *block, uint8_t *record)
{
	uint8_t data[SMP_DATA_LEN];

	if (!block || !lid_of(s->v, at))
		return false;
	sa_record_encode(s->table->attr_id, record, NULL);
	smp_table_encode(table, data, block);
	memcpy(record + BLOCK_OFFSET, data,
	       sa_record_size(s->table->attr_id) - BLOCK_OFFSET);
	bytes_store16(record, lid_of(s->v, at));
	return true;
}

static bool
make_pkeys(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct memberships *m = s->v->memberships;
	const union port_block *b = sa_db_block(s->v, PORT_TABLE_PKEY, at, i);
	union port_block desired = { .pkeys = { 0 } };
	uint32_t first = m->first[at] + i * PKEYS_A_BLOCK, k;

	if (!b && knows_pkeys(s->v, at))
		return false;
	for (k = 0; !b && k < PKEYS_A_BLOCK && first + k < m->first[at + 1];
	     k++)
		desired.pkeys[k] = m->pkeys[first + k];
	if (!make_block(s, PORT_TABLE_PKEY, at, b ? b : &desired, record))
		return false;
	bytes_store16(record + 2, (uint16_t)i);
	record[4] = s->v->subnet->ports[at].num;
	return true;
}

/* One for each port of entry; a CA has none of these. */
static uint32_t
count_sl_to_vl(const struct scan *s, uint32_t at)
{
	const struct snapshot_node *n = snapshot_node_of(s->v->subnet, at);

	return snapshot_is_switch(n) ? n->info.num_ports + 1u : 1;
}

static bool
make_sl_to_vl(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const union port_block *b = sa_db_block(s->v, PORT_TABLE_SL2VL, at,
						  i);

	if (!make_block(s, PORT_TABLE_SL2VL, at, b, record))
		return false;
	record[2] = (uint8_t)i;
	record[3] = s->v->subnet->ports[at].num;
	return true;
}

static uint32_t
count_vl_arb(const struct scan *s, uint32_t at)
{
	return VL_ARB_N_BLOCKS;
}

static bool
make_vl_arb(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const union port_block *b = sa_db_block(s->v, PORT_TABLE_VL_ARB, at,
						  i);

	if (!make_block(s, PORT_TABLE_VL_ARB, at, b, record))
		return false;
	record[2] = s->v->subnet->ports[at].num;
	record[3] = (uint8_t)(i + 1);
	return true;
}

static bool
make_switch(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot *n = s->v->subnet;
	const struct snapshot_node *node = &n->nodes[n->switches[at]];

	if (!node->sw_known || !lid_of_switch(s->v, at))
		return false;
	sa_record_encode(SA_ATTR_SWITCH_INFO, record, &node->sw);
	bytes_store16(record, lid_of_switch(s->v, at));
	return true;
}

static uint32_t
count_lft_blocks(const struct scan *s, uint32_t at)
{
	return lft_n_blocks(s->v->lft);
}

static bool
make_lft(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	if (!lid_of_switch(s->v, at))
		return false;
	sa_record_encode(SA_ATTR_LINEAR_FT, record, NULL);
	bytes_store16(record, lid_of_switch(s->v, at));
	bytes_store16(record + 2, (uint16_t)i);
	memcpy(record + BLOCK_OFFSET, lft_row(s->v->lft, at) + i * LFT_BLOCK,
	       LFT_BLOCK);
	return true;
}

static uint32_t
count_mft_blocks(const struct scan *s, uint32_t at)
{
	return s->mft ? s->mft->n_positions * s->mft->n_blocks : 0;
}

static bool
make_mft(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct mft *mft = s->mft;
	uint32_t position = i / mft->n_blocks, block = i % mft->n_blocks;
	const uint16_t *masks;

	if (!lid_of_switch(s->v, at))
		return false;
	masks = mft_block(mft, at, position, block);
	sa_record_encode(SA_ATTR_MULTICAST_FT, record, NULL);
	bytes_store16(record, lid_of_switch(s->v, at));
	bytes_store16(record + 2, (uint16_t)(position << 12 | block));
	for (unsigned k = 0; k < 32; k++)
		bytes_store16(record + BLOCK_OFFSET + 2 * k, masks[k]);
	return true;
}

static const struct fabric_table tables[] = {
	{ SA_ATTR_NODE, DOMAIN_PORTS, make_node, count_one, -1, 0, -1, false },
	{ SA_ATTR_PORT_INFO, DOMAIN_PORTS, make_port_info, count_one, -1, 0,
	  1, false },
	{ SA_ATTR_LINK, DOMAIN_PORTS, make_link, count_one, -1, 0, 1, false },
	{ SA_ATTR_GUID_INFO, DOMAIN_PORTS, make_guid_info, count_guids, 1, 0,
	  -1, false },
	{ SA_ATTR_PKEY_TABLE, DOMAIN_PORTS, make_pkeys, count_pkeys, 1, 0, 2,
	  true },
	{ SA_ATTR_SL_TO_VL, DOMAIN_PORTS, make_sl_to_vl, count_sl_to_vl, 1, 0,
	  2, true },
	{ SA_ATTR_VL_ARB, DOMAIN_PORTS, make_vl_arb, count_vl_arb, 2, 1, 1,
	  true },
	{ SA_ATTR_SWITCH_INFO, DOMAIN_SWITCHES, make_switch, count_one, -1, 0,
	  -1, false },
	{ SA_ATTR_LINEAR_FT, DOMAIN_SWITCHES, make_lft, count_lft_blocks, 1, 0,
	  -1, false },
	{ SA_ATTR_MULTICAST_FT, DOMAIN_SWITCHES, make_mft, count_mft_blocks,
	  -1, 0, -1, false },
};

const struct fabric_table *
scan_find_table(unsigned attr_id)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (tables[i].attr_id == attr_id)
			return &tables[i];
	return NULL;
}
