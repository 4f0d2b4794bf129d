// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The congestion control agent of a node (IBA annex A10), as far as managers
 * read and write it: what was set is given back, what nobody has set is 0. No
 * packet is ever marked or throttled here, and the CC_Key guards nothing.
 */
#include "sm/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#define ATTR_INFO		0x0011
#define ATTR_KEY_INFO		0x0012
#define ATTR_LOG		0x0013
#define ATTR_SWITCH_SETTING	0x0014
#define ATTR_SWITCH_PORTS	0x0015
#define ATTR_CA_SETTING		0x0016
#define ATTR_CA_TABLE		0x0017
#define ATTR_TIMESTAMP		0x0018
#define CLASS_VERSION		2
#define DATA_OFFSET		64
#define LOG_TYPE		32
#define DATA_LEN		(MAD_SIZE - DATA_OFFSET)
#define TABLE_BLOCKS		2u	/* ControlTableCap */

/* Blocks of the attribute that the node has; 0: it has none of it. */
static unsigned
count_blocks(const struct sim_node *node, unsigned attr_id)
{
	bool is_switch = sim_is_switch(node);

	switch (attr_id) {
	case ATTR_INFO:
	case ATTR_KEY_INFO:
	case ATTR_LOG:
	case ATTR_TIMESTAMP:
		return 1;
	case ATTR_SWITCH_SETTING:
		return is_switch;
	case ATTR_SWITCH_PORTS:
		return is_switch ? node->info.num_ports / 32 + 1 : 0;
	case ATTR_CA_SETTING:
		return !is_switch;
	case ATTR_CA_TABLE:
		return is_switch ? 0 : TABLE_BLOCKS;
	}
	return 0;
}

unsigned
sim_congestion_answer(struct sim *sim, struct sim_packet *p)
{
	struct sim_node *node = sim_node_of(sim, p->to);
	unsigned blocks = count_blocks(node, p->h.attr_id);
	bool is_fixed = p->h.attr_id == ATTR_INFO || p->h.attr_id == ATTR_LOG ||
		p->h.attr_id == ATTR_TIMESTAMP;
	void *key = GUINT_TO_POINTER(p->h.attr_id << 16 | p->h.attr_mod);
	uint8_t *data = p->mad + DATA_OFFSET;
	const uint8_t *kept = NULL;

	if (p->h.class_version != CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	if (!blocks || (is_fixed && p->h.method == MAD_METHOD_SET))
		return MAD_STATUS_BAD_ATTRIBUTE;
	if (p->h.attr_mod >= blocks)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		if (!node->congestion)
			node->congestion = g_hash_table_new_full(NULL, NULL,
								 NULL, g_free);
		g_hash_table_insert(node->congestion, key,
				    g_memdup2(data, DATA_LEN));
		return MAD_STATUS_OK;
	}
	if (node->congestion)
		kept = g_hash_table_lookup(node->congestion, key);
	memset(data, 0, DATA_LEN);
	if (kept)
		memcpy(data, kept, DATA_LEN);
	else if (p->h.attr_id == ATTR_INFO && !sim_is_switch(node))
		data[2] = TABLE_BLOCKS;
	if (p->h.attr_id == ATTR_LOG)
		p->mad[LOG_TYPE] = sim_is_switch(node) ? 1 : 2;
	return MAD_STATUS_OK;
}
