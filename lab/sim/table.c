// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables: GUIDs, P_Keys, SL to VL, VL arbitration, unicast and multicast
 * forwarding (IBA 14.2.5.5, .7 to .12).
 *
 * They are kept as on the wire, and only after the first Set; until then a port
 * has the default P_Key, maps each SL to the VL of that number modulo the VLs
 * in operation, gives each VL a weight, and forwards nothing. An LFT grows with
 * the highest block that was written, so a fabric of 4,000 switches takes the
 * memory of the LIDs in use. An MFT is a list of blocks of 32 masks of 16 ports,
 * by position (which 16 ports) and block.
 *
 * Each serve function reads `data` if it is a Set, and writes the answer there.
 */
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#define GUIDS_PER_BLOCK		8u
#define GUID_LEN		8u
#define PKEY_FULL		0x8000u
#define MLIDS_PER_BLOCK		32u
#define MFT_MOD_BLOCK		0x000001ffu
#define MFT_MOD_POSITION	28
#define VL_ARB_HALF		32u	/* entries a block */
#define LFT_NO_PORT		0xffu
#define LFT_STEP		4096u	/* entries to allocate */
#define SLS			16u

static struct sim_tables *
tables_of(struct sim *sim, uint32_t port)
{
	struct sim_port *p = &sim->ports[port];

	if (!p->tables)
		p->tables = g_new0(struct sim_tables, 1);
	return p->tables;
}

void
sim_table_clear_port(struct sim *sim, uint32_t port)
{
	struct sim_tables *t = sim->ports[port].tables;

	if (!t)
		return;
	g_free(t->pkeys);
	g_free(t->guids);
	g_free(t->vl_arb);
	g_free(t->sl2vl);
	g_free(t);
	sim->ports[port].tables = NULL;
}

/* The port that a request means: of a switch port `num`, else the port where
 * the SMP came in, whatever `num`, which is reserved there. SNAPSHOT_NONE: the
 * switch has no such port. */
static uint32_t
table_port(struct sim *sim, uint32_t asked, unsigned num)
{
	const struct sim_node *node = sim_node_of(sim, asked);

	if (!sim_is_switch(node)) {
		sim->stats.reserved += num != 0;
		return asked;
	}
	return num > node->info.num_ports ? SNAPSHOT_NONE :
		node->first_port + num;
}

/* ----------------------------------------------------------------- GUIDs */

/* GUID 0 is the PortGUID; writes to it are ignored (IBA 14.2.5.5). */
static unsigned
serve_guid_info(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	uint32_t port = sim_end_port(sim, p->to);
	const struct sim_port *end = &sim->ports[port];
	uint32_t block = p->h.attr_mod, first = block * GUIDS_PER_BLOCK;
	unsigned cap = end->info.guid_cap;
	unsigned blocks = (MAX(cap, 1) + GUIDS_PER_BLOCK - 1) /
		GUIDS_PER_BLOCK;

	if (block >= blocks)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		struct sim_tables *t = tables_of(sim, port);

		if (!t->guids)
			t->guids = g_malloc0_n(blocks, SIM_TABLE_BLOCK);
		if (first < cap)
			memcpy(t->guids[block], data,
			       MIN(cap - first, GUIDS_PER_BLOCK) * GUID_LEN);
	}
	memset(data, 0, SMP_DATA_LEN);
	if (end->tables && end->tables->guids)
		memcpy(data, end->tables->guids[block], SIM_TABLE_BLOCK);
	if (block == 0)
		bytes_store(data, end->guid, GUID_LEN);
	return MAD_STATUS_OK;
}

/* ---------------------------------------------------------------- P_Keys */

static unsigned
pkey_cap(const struct sim *sim, uint32_t port)
{
	const struct sim_node *node = sim_node_of(sim, port);

	return sim_is_switch(node) && sim->ports[port].num ?
		node->sw.partition_enforcement_cap : node->info.partition_cap;
}

uint16_t
sim_port_pkey(const struct sim *sim, uint32_t port, unsigned index)
{
	const struct sim_tables *t = sim->ports[port].tables;

	if (index >= pkey_cap(sim, port))
		return 0;
	if (!t || !t->pkeys)
		return index == 0 ? SIM_PKEY_DEFAULT : 0;
	return bytes_load16(t->pkeys[index / PKEYS_A_BLOCK] +
			  index % PKEYS_A_BLOCK * 2);
}

/* Base 0 is no P_Key (IBA 10.9.1.1). */
bool
sim_table_has_pkey(const struct sim *sim, uint32_t port, uint16_t pkey)
{
	const struct sim_tables *t = sim->ports[port].tables;
	unsigned cap = pkey_cap(sim, port);
	const uint8_t *own;

	if (!(pkey & ~PKEY_FULL))
		return false;
	if (!t || !t->pkeys)
		return cap && pkey == SIM_PKEY_DEFAULT;
	own = t->pkeys[0];
	for (unsigned i = 0; i < cap; i++, own += 2)
		if (bytes_load16(own) == pkey)
			return true;
	return false;
}

bool
sim_table_admits_pkey(const struct sim *sim, uint32_t port, uint16_t pkey)
{
	return sim_table_has_pkey(sim, port, pkey | PKEY_FULL) ||
		(pkey & PKEY_FULL &&
		 sim_table_has_pkey(sim, port, pkey & ~PKEY_FULL));
}

unsigned
sim_port_pkey_index(const struct sim *sim, uint32_t port, uint16_t pkey)
{
	unsigned cap = pkey_cap(sim, port), found = cap;

	for (unsigned i = 0; i < cap; i++) {
		uint16_t own = sim_port_pkey(sim, port, i);

		if ((own ^ pkey) & ~PKEY_FULL || !((own | pkey) & PKEY_FULL))
			continue;
		if (found == cap || own & PKEY_FULL)
			found = i;
		if (own & PKEY_FULL)
			break;
	}
	return found == cap ? 0 : found;
}

static unsigned
serve_pkeys(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	unsigned block = p->h.attr_mod & 0xffff;
	unsigned first = block * PKEYS_A_BLOCK, cap;
	uint32_t port = table_port(sim, p->to, p->h.attr_mod >> 16);

	if (port == SNAPSHOT_NONE)
		return MAD_STATUS_BAD_VALUE;
	cap = pkey_cap(sim, port);
	if (first >= cap)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		struct sim_tables *t = tables_of(sim, port);

		if (!t->pkeys) {
			t->pkeys = g_malloc0_n((cap + PKEYS_A_BLOCK - 1) /
					       PKEYS_A_BLOCK,
					       SIM_TABLE_BLOCK);
			bytes_store(t->pkeys[0], SIM_PKEY_DEFAULT, 2);
		}
		/* entries beyond the capability stay 0 */
		memcpy(t->pkeys[block], data,
		       MIN(cap - first, PKEYS_A_BLOCK) * 2);
	}
	memset(data, 0, SMP_DATA_LEN);
	for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
		bytes_store(data + i * 2, sim_port_pkey(sim, port, first + i),
			    2);
	return MAD_STATUS_OK;
}

/* -------------------------------------------------------------- SL to VL */

unsigned
sim_data_vls(const struct sim *sim, uint32_t port)
{
	return MAX(port_vls(sim->ports[port].info.oper_vls), 1);
}

uint8_t
sim_table_vl(const struct sim *sim, uint32_t out, unsigned in, unsigned sl)
{
	const struct sim_tables *t = sim->ports[out].tables;

	if (!t || !t->sl2vl)
		return sl % sim_data_vls(sim, out);
	/* SL 0 is the high half of the first byte */
	return t->sl2vl[in][sl / 2] >> (sl % 2 ? 0 : 4) & 0xf;
}

/* The modifier is for switches: port of entry, port of departure. */
static unsigned
serve_sl2vl(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	const struct sim_node *node = sim_node_of(sim, p->to);
	bool is_switch = sim_is_switch(node);
	unsigned in = is_switch ? p->h.attr_mod >> 8 : 0;
	unsigned n_ins = is_switch ? node->info.num_ports + 1u : 1;
	uint32_t out = table_port(sim, p->to, p->h.attr_mod & 0xff);

	if (out == SNAPSHOT_NONE || in >= n_ins)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		struct sim_tables *t = tables_of(sim, out);
		unsigned vls = sim_data_vls(sim, out);

		if (!t->sl2vl) {
			t->sl2vl = g_malloc_n(n_ins, SIM_SL2VL_LEN);
			for (unsigned sl = 0; sl < SLS * n_ins; sl += 2)
				t->sl2vl[sl / SLS][sl % SLS / 2] =
					sl % SLS % vls << 4 |
					(sl + 1) % SLS % vls;
		}
		memcpy(t->sl2vl[in], data, SIM_SL2VL_LEN);
	}
	memset(data, 0, SMP_DATA_LEN);
	for (unsigned sl = 0; sl < SLS; sl += 2)
		data[sl / 2] = sim_table_vl(sim, out, in, sl) << 4 |
			sim_table_vl(sim, out, in, sl + 1);
	return MAD_STATUS_OK;
}

/* -------------------------------------------------------- VL arbitration */

/* As devices come: each VL has a low priority, as far as the table goes. */
static const uint8_t vl_arb_default[SIM_VL_ARB_BLOCKS][SIM_TABLE_BLOCK] = {
	{ 0, 64, 1, 64, 2, 64, 3, 64, 4, 64, 5, 64, 6, 64, 7, 64,
	  8, 64, 9, 64, 10, 64, 11, 64, 12, 64, 13, 64, 14, 64 },
};

/* An entry of weight 0 is skipped, and a VL without an entry sends nothing (IBA
 * 7.6.9). With one data VL there is no arbitration. */
bool
sim_table_vl_sends(const struct sim *sim, uint32_t out, uint8_t vl)
{
	const struct sim_tables *t = sim->ports[out].tables;

	if (!t || !t->vl_arb || sim_data_vls(sim, out) == 1)
		return true;
	for (unsigned i = 0; i < SIM_VL_ARB_BLOCKS * SIM_TABLE_BLOCK; i += 2) {
		const uint8_t *entry = &t->vl_arb[0][0] + i;

		if ((entry[0] & 0xf) == vl && entry[1])
			return true;
	}
	return false;
}

static unsigned
serve_vl_arb(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	const struct sim_node *node = sim_node_of(sim, p->to);
	unsigned block = p->h.attr_mod >> 16;
	uint32_t port = table_port(sim, p->to, p->h.attr_mod & 0xffff);
	struct sim_tables *t;
	unsigned cap, before, len;

	/* a base port 0 has no table */
	if (port == SNAPSHOT_NONE || block < 1 || block > SIM_VL_ARB_BLOCKS ||
	    (sim_is_switch(node) && sim->ports[port].num == 0 &&
	     !node->sw.enhanced_port0))
		return MAD_STATUS_BAD_VALUE;
	/* Blocks 1, 2: low priority; 3, 4: high. */
	cap = block <= 2 ? sim->ports[port].info.vl_arb_low_cap :
		sim->ports[port].info.vl_arb_high_cap;
	before = block % 2 ? 0 : VL_ARB_HALF;
	if (cap <= before)
		return MAD_STATUS_BAD_VALUE;
	len = MIN(cap - before, VL_ARB_HALF) * 2;
	if (p->h.method == MAD_METHOD_SET) {
		t = tables_of(sim, port);
		if (!t->vl_arb)
			t->vl_arb = g_memdup2(vl_arb_default,
					      sizeof(vl_arb_default));
		memcpy(t->vl_arb[block - 1], data, len);
	}
	t = sim->ports[port].tables;
	memset(data, 0, SMP_DATA_LEN);
	memcpy(data, t && t->vl_arb ? t->vl_arb[block - 1] :
	       vl_arb_default[block - 1], len);
	return MAD_STATUS_OK;
}

/* ------------------------------------------------------------ forwarding */

uint8_t
sim_lft_entry(const struct sim *sim, uint32_t node, uint16_t lid)
{
	const struct sim_node *n = &sim->nodes[node];

	return lid < n->lft_len ? n->lft[lid] : LFT_NO_PORT;
}

static unsigned
serve_lft(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	struct sim_node *node = sim_node_of(sim, p->to);
	uint32_t block = p->h.attr_mod;
	uint32_t at = block * SIM_TABLE_BLOCK;

	if (!sim_is_switch(node))
		return MAD_STATUS_BAD_ATTRIBUTE;
	if (block > UINT16_MAX || at >= node->sw.linear_fdb_cap)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		uint32_t blocks = (node->sw.linear_fdb_cap + SIM_TABLE_BLOCK -
				   1) / SIM_TABLE_BLOCK;
		uint32_t len = MIN(at + LFT_STEP, blocks * SIM_TABLE_BLOCK);

		if (at >= node->lft_len) {
			node->lft = g_realloc(node->lft, len);
			memset(node->lft + node->lft_len, LFT_NO_PORT,
			       len - node->lft_len);
			node->lft_len = len;
		}
		memcpy(node->lft + at, data, SIM_TABLE_BLOCK);
	} else if (at < node->lft_len) {
		memcpy(data, node->lft + at, SIM_TABLE_BLOCK);
	} else {
		memset(data, LFT_NO_PORT, SIM_TABLE_BLOCK);
	}
	return MAD_STATUS_OK;
}

static unsigned
serve_mft(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	struct sim_node *node = sim_node_of(sim, p->to);
	unsigned positions = node->info.num_ports / SIM_PORTS_PER_MASK + 1;
	unsigned blocks = (node->sw.multicast_fdb_cap + MLIDS_PER_BLOCK - 1) /
		MLIDS_PER_BLOCK;
	unsigned position = p->h.attr_mod >> MFT_MOD_POSITION;
	unsigned block = p->h.attr_mod & MFT_MOD_BLOCK;
	uint8_t **cell;

	if (!sim_is_switch(node))
		return MAD_STATUS_BAD_ATTRIBUTE;
	if (p->h.attr_mod & ~(MFT_MOD_BLOCK | 0xfu << MFT_MOD_POSITION) ||
	    position >= positions || block >= blocks)
		return MAD_STATUS_BAD_VALUE;
	if (!node->mft) {
		node->mft = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_set_size(node->mft, positions * blocks);
	}
	cell = (uint8_t **)&node->mft->pdata[position * blocks + block];
	if (p->h.method == MAD_METHOD_SET) {
		if (!*cell)
			*cell = g_malloc(SIM_TABLE_BLOCK);
		memcpy(*cell, data, SIM_TABLE_BLOCK);
	} else if (*cell) {
		memcpy(data, *cell, SIM_TABLE_BLOCK);
	} else {
		memset(data, 0, SIM_TABLE_BLOCK);
	}
	return MAD_STATUS_OK;
}

bool
sim_table_mcast(const struct sim *sim, uint32_t node, uint16_t mlid,
		uint16_t masks[SIM_MFT_POSITIONS])
{
	const struct sim_node *n = &sim->nodes[node];
	unsigned positions = n->info.num_ports / SIM_PORTS_PER_MASK + 1;
	unsigned at = mlid - LID_MULTICAST_MIN, blocks;
	bool has_top = sim->ports[n->first_port].info.cap_mask &
		PORT_CAP_HAS_MCAST_FDB_TOP;
	bool any = false;

	/* Entries above MulticastFDBTop are not used (IBA 14.2.5.4); 0: it was
	 * never set. */
	if (!n->mft || at >= n->sw.multicast_fdb_cap ||
	    (has_top && n->sw.multicast_fdb_top &&
	     mlid > n->sw.multicast_fdb_top))
		return false;
	blocks = n->mft->len / positions;
	for (unsigned i = 0; i < positions; i++) {
		const uint8_t *cell = n->mft->pdata[i * blocks +
						    at / MLIDS_PER_BLOCK];

		masks[i] = cell ? bytes_load16(cell +
					       at % MLIDS_PER_BLOCK * 2) : 0;
		any |= masks[i];
	}
	return any;
}

void
sim_table_clear_node(struct sim *sim, uint32_t node_index)
{
	struct sim_node *node = &sim->nodes[node_index];

	g_clear_pointer(&node->lft, g_free);
	node->lft_len = 0;
	g_clear_pointer(&node->mft, g_ptr_array_unref);
}

unsigned
sim_table_serve(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	switch (p->h.attr_id) {
	case MAD_ATTR_GUID_INFO:
		return serve_guid_info(sim, p, data);
	case MAD_ATTR_PKEY_TABLE:
		return serve_pkeys(sim, p, data);
	case MAD_ATTR_SL2VL:
		return serve_sl2vl(sim, p, data);
	case MAD_ATTR_VL_ARB:
		return serve_vl_arb(sim, p, data);
	case MAD_ATTR_LINEAR_FT:
		return serve_lft(sim, p, data);
	case MAD_ATTR_MULTICAST_FT:
		return serve_mft(sim, p, data);
	}
	return MAD_STATUS_BAD_ATTRIBUTE;
}
