// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fake fabric: see fake.h. An answer takes 10 us a hop each way.
 */
#include "tests/lib/fake.h"

#include <string.h>

#include "sm/mad/smp.h"

/* 0: no change. All bits: what is supported (IBA 14.2.5.6). */
static uint8_t
enabled(uint8_t have, uint8_t want, uint8_t supported, unsigned all)
{
	if (!want)
		return have;
	return want == all ? supported : want;
}

static void
on_port_info(struct fake *f, uint32_t port, bool set, uint8_t *data)
{
	struct port_info *have = &f->s->ports[port].info, want;

	if (set) {
		port_info_decode(data, &want);
		if (!want.state)
			want.state = have->state;
		if (!want.phys_state)
			want.phys_state = have->phys_state;
		if (!want.oper_vls)
			want.oper_vls = have->oper_vls;
		want.width_enabled = enabled(have->width_enabled,
			want.width_enabled, have->width_supported,
			PORT_WIDTH_ALL);
		want.speed_enabled = enabled(have->speed_enabled,
			want.speed_enabled, have->speed_supported,
			PORT_SPEED_ALL);
		want.speed_ext_enabled = enabled(have->speed_ext_enabled,
			want.speed_ext_enabled, have->speed_ext_supported,
			PORT_SPEED_EXT_ALL);
		*have = want;
	}
	port_info_encode(data, have);
}

static void
on_switch_info(struct fake *f, struct snapshot_node *n, bool set, uint8_t *data)
{
	struct switch_info want;

	if (set) {
		switch_info_decode(data, &want);
		/* Writing 1 clears, IBA 14.2.5.4. */
		want.port_state_change = !want.port_state_change &&
			n->sw.port_state_change;
		n->sw = want;
	}
	switch_info_encode(data, &n->sw);
}

/* The other way round than smp_table_modifier(). */
static unsigned
on_table(struct fake *f, uint32_t arrived, enum port_table table,
	 const struct mad_header *h, uint8_t *data)
{
	const struct snapshot_node *n = snapshot_node_of(f->s, arrived);
	const union port_block *have, empty = { 0 };
	bool low_block = table == PORT_TABLE_PKEY;
	unsigned num = low_block ? h->attr_mod >> 16 : h->attr_mod & 0xff;
	unsigned block = low_block ? h->attr_mod & 0xffff :
		table == PORT_TABLE_SL2VL ? h->attr_mod >> 8 :
		(h->attr_mod >> 16) - 1;
	uint32_t port = snapshot_is_switch(n) ? n->first_port + num : arrived;
	union port_block b;

	if ((num > 0 && !snapshot_is_switch(n)) || num > n->info.num_ports ||
	    block >= f->tables->n_blocks[table][port])
		return MAD_STATUS_BAD_VALUE;
	if (h->method == MAD_METHOD_SET) {
		smp_table_decode(table, data, &b);
		port_tables_set(f->tables, table, port, block, &b);
	}
	have = port_tables_get(f->tables, table, port, block);
	smp_table_encode(table, data, have ? have : &empty);
	return MAD_STATUS_OK;
}

static unsigned
serve(struct fake *f, uint32_t node, uint32_t arrived, struct mad_header *h,
      uint8_t *data)
{
	struct snapshot_node *n = &f->s->nodes[node];
	bool set = h->method == MAD_METHOD_SET;
	struct node_info info = n->info;
	uint32_t port;
	uint8_t *row;

	if (!snapshot_is_switch(n) && (h->attr_id == MAD_ATTR_SWITCH_INFO ||
				     h->attr_id == MAD_ATTR_LINEAR_FT))
		return MAD_STATUS_BAD_ATTRIBUTE;
	switch (h->attr_id) {
	case MAD_ATTR_NODE_INFO:
		info.local_port = f->s->ports[arrived].num;
		if (!snapshot_is_switch(n))
			info.port_guid = f->s->ports[arrived].guid;
		node_info_encode(data, &info);
		return MAD_STATUS_OK;
	case MAD_ATTR_NODE_DESC:
		memset(data, 0, SMP_DATA_LEN);
		memcpy(data, n->desc, strlen(n->desc));
		return MAD_STATUS_OK;
	case MAD_ATTR_SWITCH_INFO:
		on_switch_info(f, n, set, data);
		return MAD_STATUS_OK;
	case MAD_ATTR_PORT_INFO:
		port = snapshot_port_of(f->s, node, h->attr_mod & 0xff);
		if (port == SNAPSHOT_NONE)
			return MAD_STATUS_BAD_VALUE;
		on_port_info(f, port, set, data);
		return MAD_STATUS_OK;
	case MAD_ATTR_LINEAR_FT:
		if (h->attr_mod >= lft_n_blocks(f->lft))
			return MAD_STATUS_BAD_VALUE;
		row = lft_row(f->lft, n->sw_index) + h->attr_mod * LFT_BLOCK;
		memcpy(set ? row : data, set ? data : row, LFT_BLOCK);
		return MAD_STATUS_OK;
	case MAD_ATTR_PKEY_TABLE:
		return on_table(f, arrived, PORT_TABLE_PKEY, h, data);
	case MAD_ATTR_SL2VL:
		return on_table(f, arrived, PORT_TABLE_SL2VL, h, data);
	case MAD_ATTR_VL_ARB:
		return on_table(f, arrived, PORT_TABLE_VL_ARB, h, data);
	}
	return MAD_STATUS_BAD_ATTRIBUTE;
}

/* Follows the route; the port by which the SMP comes to its node, or
 * SNAPSHOT_NONE if it is lost. */
static uint32_t
walk(struct fake *f, const uint8_t *mad, unsigned hops)
{
	uint32_t at = f->s->local_port;

	for (unsigned i = 1; i <= hops; i++) {
		uint32_t out = snapshot_port_of(f->s, f->s->ports[at].node,
					      mad[128 + i]);

		if (out == SNAPSHOT_NONE ||
		    f->s->ports[out].peer == SNAPSHOT_NONE ||
		    f->s->ports[out].info.state == PORT_STATE_DOWN)
			return SNAPSHOT_NONE;
		at = f->s->ports[out].peer;
	}
	return at;
}

static void
on_sent(struct transport *t, const struct scripted_sent *sent, void *data)
{
	struct fake *f = data;
	struct mad_header h;
	uint8_t mad[MAD_SIZE];
	uint32_t at;
	unsigned status;

	memcpy(mad, sent->mad, MAD_SIZE);
	if (!mad_header_read(mad, MAD_SIZE, &h))
		return;
	if (h.method == MAD_METHOD_SET)
		f->sets++;
	at = walk(f, mad, h.hop_count);
	if (at == SNAPSHOT_NONE)
		return;
	status = serve(f, f->s->ports[at].node, at, &h, smp_data(mad));
	smp_make_response(mad, status);
	if (f->tamper && !f->tamper(f, f->s->ports[at].node, mad, f->data))
		return;
	scripted_answer(t, mad, 20 * (1 + h.hop_count));
}

struct fake *
fake_new(const struct snapshot *s)
{
	struct fake *f = g_new0(struct fake, 1);

	f->s = snapshot_copy(s);
	f->tables = port_tables_new(s);
	f->lft = lft_new(s->n_switches, LID_UNICAST_MAX);
	f->t = scripted_new();
	scripted_set_peer(f->t, on_sent, f);
	return f;
}

void
fake_free(struct fake *f)
{
	transport_free(f->t);
	snapshot_unref(f->s);
	lft_free(f->lft);
	port_tables_unref(f->tables);
	g_free(f);
}

void
fake_tamper(struct fake *f, fake_tamper_fn *tamper, void *data)
{
	f->tamper = tamper;
	f->data = data;
}
