// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading tables.
 *
 * One Get for each block: forwarding tables first, then tables of ports. The
 * first block of the forwarding tables of all switches is read, then the
 * second, and so on: an agent handles one SMP at a time, so several blocks of
 * one switch would wait for each other. A node that rejects a block is reported
 * once, and the rest of that table is not read. After a time-out no table of
 * that node and of the nodes behind it is read.
 *
 * Forwarding tables. Of a switch that was set up before (LinearFDBTop is not 0)
 * the blocks 0 to top/64 are read; blocks above are not in use and stay
 * unknown. A block that became unknown by a lost Set is read again. If SwitchInfo
 * was lost, the blocks of all LIDs are read: the switch is not written, but new
 * routes of others must suit what it forwards.
 *
 * P_Keys. A node may report a larger PartitionCap than it has blocks for. It
 * rejects the modifier of the missing blocks, which can hold no P_Key: they
 * count as empty.
 */
#include "sm/sweep/table_reader.h"

#include <string.h>

#include "sm/sweep/light_sweep.h"
#include "topology/each.h"
#include "topology/lid.h"

#define FAULTS_MAX	200u
#define TABLE_LFT	PORT_N_TABLES	/* of an item for the forwarding
					   table */

struct table_reader {
	struct mad_client *x;
	const struct snapshot *s;
	GArray *items;		/* n_lfts switches; then ports, nearest first */
	guint n_lfts;
	struct lft_seen *seen;
	struct port_tables *held;
	table_reader_done_fn done;
	void *data;
	guint item;
	unsigned block;		/* the next block of the item */
	bool last_round;	/* this round is the last for all switches */
	uint8_t *failed;	/* by item */
	struct smp_batch *batch;
	GArray *faults;		/* struct table_fault */
	GArray *lost;
};

static const struct table_reader_item *
item_at(const struct table_reader *r, guint i)
{
	return &g_array_index(r->items, struct table_reader_item, i);
}

/* A LinearFDBTop above the capability is invalid. */
static bool
top_is_invalid(const struct snapshot_node *n)
{
	return n->sw_known && (n->sw.linear_fdb_top > LID_UNICAST_MAX ||
		(n->sw.linear_fdb_top &&
		 n->sw.linear_fdb_top >= n->sw.linear_fdb_cap));
}

/* all: blocks of all LIDs. */
static unsigned
lft_blocks_in_use(const struct snapshot_node *n, unsigned all)
{
	if (!n->sw_known)
		return all;
	if (!n->sw.linear_fdb_top || top_is_invalid(n))
		return 0;
	return n->sw.linear_fdb_top / LFT_BLOCK + 1u;
}

/* Takes the next block in order: the same block of the next switch, or the next
 * block of a port. */
static bool
table_reader_next(void *data, struct smp_request *req)
{
	struct table_reader *r = data;

	while (r->item < r->items->len) {
		guint i = r->item;
		const struct table_reader_item *item = item_at(r, i);
		const struct snapshot_node *n = snapshot_node_of(r->s,
								 item->port);
		bool is_lft = item->table == TABLE_LFT, known;
		unsigned block = r->block, blocks = is_lft ?
			lft_blocks_in_use(n, lft_n_blocks(r->seen->lft)) :
			r->held->n_blocks[item->table][item->port];

		req->tag = (uint64_t)i << 16 | block;
		req->port = item->port;
		req->attr = is_lft ? MAD_ATTR_LINEAR_FT :
			smp_table_attr(item->table);
		req->modifier = is_lft ? block :
			smp_table_modifier(item->table, snapshot_is_switch(n) ?
					   r->s->ports[item->port].num : 0,
					   block);
		r->last_round &= !is_lft || block + 1 >= blocks;
		if (is_lft && ++r->item == r->n_lfts) {
			r->block = r->last_round ? 0 : block + 1;
			r->item = r->last_round ? r->n_lfts : 0;
			r->last_round = true;
		} else if (!is_lft && ++r->block >= blocks) {
			r->block = 0;
			r->item++;
		}
		if (block >= blocks || r->failed[i])
			continue;
		known = is_lft ?
			lft_seen_block(r->seen, n->sw_index, block) != NULL :
			port_tables_get(r->held, item->table, item->port,
					block) ||
			(item->only && !port_tables_get(item->only,
				item->table, item->port, block));
		if (!known)
			return true;
	}
	return false;
}

static void
table_reader_fault(struct table_reader *r, guint i, const char *why)
{
	const struct table_reader_item *item = item_at(r, i);
	struct table_fault fault = {
		item->port, item->table == TABLE_LFT, NULL,
	};
	g_autofree char *place = NULL;

	if (r->failed[i])
		return;
	r->failed[i] = true;
	if (r->faults->len >= FAULTS_MAX)
		return;
	place = snapshot_place(r->s, r->s->ports[item->port].node,
			       fault.is_lft ? SNAPSHOT_NONE : item->port);
	fault.text = g_strdup_printf(
		"%s: its %s cannot be read: %s", place, fault.is_lft ?
		"forwarding table" : port_table_names[item->table], why);
	g_array_append_val(r->faults, fault);
}

static void
table_reader_store(struct table_reader *r,
		   const struct table_reader_item *item, unsigned block,
		   const uint8_t *data)
{
	union port_block b = { 0 };

	if (item->table == TABLE_LFT) {
		lft_seen_set(r->seen, snapshot_node_of(r->s, item->port)->
			     sw_index, block, data);
		return;
	}
	if (data)
		smp_table_decode(item->table, data, &b);
	port_tables_set(r->held, item->table, item->port, block, &b);
}

static void
table_reader_reply(void *data, const struct smp_request *req,
		   const struct smp_reply *a)
{
	struct table_reader *r = data;
	guint i = (guint)(req->tag >> 16);
	unsigned block = req->tag & 0xffff;
	const struct table_reader_item *item = item_at(r, i);

	switch (a->outcome) {
	case SMP_ANSWERED:
		/* Block 0 must exist in any P_Key table. */
		if (a->status == MAD_STATUS_BAD_VALUE && block > 0 &&
		    item->table == PORT_TABLE_PKEY) {
			table_reader_store(r, item, block, NULL);
		} else if (a->status) {
			table_reader_fault(r, i, mad_status_name(a->status));
			silent_note(r->lost, r->s, req);
		} else {
			table_reader_store(r, item, block, a->data);
		}
		break;
	case SMP_TIMED_OUT:
		table_reader_fault(r, i, mad_client_is_late(r->x, &req->path) ?
				   "it answers " SMP_TOO_LATE : "no answer");
		silent_note(r->lost, r->s, req);
		smp_batch_set_unreachable(r->batch, item->port);
		break;
	case SMP_CANCELLED:
	case SMP_UNREACHABLE:
		r->failed[i] = true;
		break;
	case SMP_TOO_FAR:
		table_reader_fault(r, i, "no directed route to it");
		break;
	}
}

static void
table_reader_free(void *data)
{
	struct table_reader *r = data;

	EACH_ITEM(struct table_fault, fault, r->faults)
		g_free(fault->text);
	g_array_unref(r->faults);
	g_array_unref(r->items);
	g_free(r->failed);
	g_free(r);
}

static void
table_reader_end(void *data)
{
	struct table_reader *r = data;

	r->done(r->faults, r->data);
}

static gint
compare_items(gconstpointer a, gconstpointer b)
{
	const struct table_reader_item *p = a, *q = b;

	return uint_compare(p->hops, q->hops) ?:
		uint_compare(p->port, q->port) ?:
		uint_compare(p->table, q->table);
}

struct smp_batch *
table_reader_start(struct mad_client *x, const struct mkey_db *keys,
		   const struct snapshot *s, struct lft_seen *seen,
		   const GArray *items, struct port_tables *held,
		   GArray *lost, struct log *log, table_reader_done_fn done,
		   void *data)
{
	struct table_reader *r = g_new0(struct table_reader, 1);
	g_autoptr(GArray) ports = g_array_copy((GArray *)items);
	const struct smp_stage stage = {
		.next = table_reader_next, .reply = table_reader_reply,
		.again = smp_batch_again, .end = table_reader_end,
		.free = table_reader_free, .data = r,
	};

	r->x = x;
	r->s = s;
	r->seen = seen;
	r->items = g_array_new(FALSE, FALSE, sizeof(struct table_reader_item));
	r->held = held;
	r->done = done;
	r->data = data;
	r->faults = g_array_new(FALSE, FALSE, sizeof(struct table_fault));
	r->lost = lost;
	for (uint32_t sw = 0; seen && sw < s->n_switches; sw++) {
		const struct snapshot_node *n = &s->nodes[s->switches[sw]];
		const struct table_reader_item item = {
			.port = n->first_port, .table = TABLE_LFT,
		};

		g_array_append_val(r->items, item);
		if (top_is_invalid(n))
			log_limited(log, LOG_WARNING, "discover",
				    "LinearFDBTop above LinearFDBCap, ignored",
				    "%s (0x%016" G_GINT64_MODIFIER
				    "x): %u of %u",
				    snapshot_node_name(n), n->info.node_guid,
				    n->sw.linear_fdb_top,
				    n->sw.linear_fdb_cap);
	}
	r->n_lfts = r->items->len;
	r->last_round = true;
	/* Nearest ports first: if a cable is pulled, the first time-out is
	 * then that of the node next to it, which covers all nodes behind
	 * it. */
	EACH_ITEM(struct table_reader_item, item, ports) {
		struct dr_path path;

		item->hops = snapshot_path(s, item->port, &path) ? path.hops :
			0;
	}
	g_array_sort(ports, compare_items);
	g_array_append_vals(r->items, ports->data, ports->len);
	r->failed = g_new0(uint8_t, r->items->len + 1u);
	return r->batch = smp_batch_start(x, s, keys, &stage);
}

/* --------------------------------------------------------------- recalling */

static bool
switch_is_as_left(const struct snapshot *now, const struct snapshot_node *n,
		  const struct snapshot *then, const struct snapshot_node *was)
{
	return snapshot_is_switch(was) && n->sw_known && was->sw_known &&
		n->sw.linear_fdb_top &&
		n->sw.linear_fdb_top == was->sw.linear_fdb_top &&
		now->ports[n->first_port].info.lid ==
		then->ports[was->first_port].info.lid &&
		now->ports[n->first_port].info.sm_lid ==
		then->ports[was->first_port].info.sm_lid;
}

/* Does anything tell that it was reset, or that another manager came? */
static bool
switch_has_changed(const struct snapshot *now, const struct snapshot_node *n,
		   const struct snapshot *then, const struct snapshot_node *was)
{
	const struct snapshot_port *p = &now->ports[n->first_port];
	const struct snapshot_port *q = &then->ports[was->first_port];

	return (n->sw_known && !n->sw.linear_fdb_top) ||
		(p->known && (!p->info.lid || (q->known &&
			(p->info.lid != q->info.lid ||
			 p->info.sm_lid != q->info.sm_lid))));
}

struct lft_seen *
table_reader_recall_lfts(const struct snapshot *now, uint16_t top,
			 const struct snapshot *then,
			 const struct lft_seen *known)
{
	g_autofree uint32_t *nodes = snapshot_map_nodes(now, then);
	bool same = known && now->n_switches == then->n_switches;
	struct lft_seen *seen;
	uint32_t n_blocks, was;
	bool is_left;

	for (uint32_t sw = 0; sw < now->n_switches; sw++) {
		const struct snapshot_node *n = &now->nodes[now->switches[sw]];
		uint32_t i = nodes[now->switches[sw]];

		if (lft_blocks_in_use(n, 0))
			top = MAX(top, n->sw.linear_fdb_top);
		same = same && i != SNAPSHOT_NONE &&
			then->nodes[i].sw_index == sw &&
			switch_is_as_left(now, n, then, &then->nodes[i]);
	}
	if (same && top == known->lft->top)
		return lft_seen_copy(known);
	/* The most likely content of a block that is not known counts if it
	 * cannot be read. */
	seen = lft_seen_new(now->n_switches, top);
	n_blocks = known ? MIN(lft_n_blocks(seen->lft),
			       lft_n_blocks(known->lft)) : 0;
	for (uint32_t sw = 0; known && sw < now->n_switches; sw++) {
		const struct snapshot_node *n = &now->nodes[now->switches[sw]];
		uint32_t i = nodes[now->switches[sw]];

		if (i == SNAPSHOT_NONE || !snapshot_is_switch(&then->nodes[i]))
			continue;
		is_left = switch_is_as_left(now, n, then, &then->nodes[i]);
		if (!is_left &&
		    switch_has_changed(now, n, then, &then->nodes[i]))
			continue;
		was = then->nodes[i].sw_index;
		for (uint32_t b = 0; b < n_blocks; b++) {
			lft_seen_take(seen, sw, b, known, was);
			if (!is_left)
				lft_seen_forget(seen, sw, b);
		}
	}
	return seen;
}

uint8_t *
table_reader_unread(const struct snapshot *s, const struct lft_seen *seen,
		    const GArray *parts)
{
	unsigned all = lft_n_blocks(seen->lft);
	g_autofree uint8_t *unread = g_new0(uint8_t, s->n_switches + 1);
	const struct lft_part *p = (const void *)parts->data;

	for (guint i = 0; i < parts->len; i++)
		if (!s->nodes[s->switches[p[i].sw]].sw_known ||
		    (i >= LFT_PARTS_MAX &&
		     p[i - LFT_PARTS_MAX].sw == p[i].sw &&
		     p[i - LFT_PARTS_MAX].block == p[i].block))
			unread[p[i].sw] = 1;
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct snapshot_node *node = &s->nodes[s->switches[sw]];
		unsigned n = MIN(all, lft_blocks_in_use(node, all));
		const uint8_t *known = seen->known + (size_t)sw * all;

		unread[sw] |= memchr(known, LFT_UNKNOWN, n) != NULL;
	}
	return memchr(unread, 1, s->n_switches) ? g_steal_pointer(&unread) :
		NULL;
}

uint8_t *
table_reader_fresh(const struct snapshot *now, const struct snapshot *then)
{
	g_autofree uint32_t *nodes = snapshot_map_nodes(now, then);
	uint8_t *fresh = g_new0(uint8_t, now->n_switches + 1);

	for (uint32_t sw = 0; sw < now->n_switches; sw++) {
		const struct snapshot_node *n = &now->nodes[now->switches[sw]];
		const struct snapshot_port *p = &now->ports[n->first_port];
		uint32_t was = nodes[now->switches[sw]];

		fresh[sw] = p->info.lid == LID_NONE || was == SNAPSHOT_NONE ||
			(n->sw_known && !n->sw.linear_fdb_top) ||
			p->info.sm_lid != then->ports[
				then->nodes[was].first_port].info.sm_lid;
	}
	return fresh;
}

static void
recall_port(struct port_tables *held, uint32_t port,
	    const struct port_tables *known, uint32_t then, bool is_doubted)
{
	for (unsigned table = 0; table < PORT_N_TABLES; table++) {
		unsigned n = known->n_blocks[table][then];
		const union port_block *b;

		if (!known->rows[table][then] ||
		    held->n_blocks[table][port] != n)
			continue;
		for (unsigned block = 0; block < n; block++) {
			b = port_tables_get(known, table, then, block);
			if (b && (!is_doubted ||
				  port_block_is_plain(table, block, b)))
				port_tables_set(held, table, port, block, b);
		}
	}
}

/* May it have been reset between the Sets of its tables and of its link? It has none
 * then, is as it was planned, and its switch has seen a change since. Asked once. */
static bool
take_doubt(struct snapshot *now, uint32_t port,
	   const struct snapshot_port *then)
{
	struct snapshot_port *p = &now->ports[port];
	bool has_changed = p->peer != SNAPSHOT_NONE &&
		snapshot_node_of(now, p->peer)->sw.port_state_change;

	if (snapshot_is_switch(snapshot_node_of(now, port)))
		return false;
	p->rose = then->rose && !has_changed;
	return then->rose && has_changed;
}

void
table_reader_recall(struct snapshot *now, struct port_tables *held,
	       const struct snapshot *then, const struct port_tables *known)
{
	g_autofree uint32_t *nodes = snapshot_map_nodes(now, then);

	for (uint32_t port = 0; port < now->n_ports; port++) {
		uint32_t old = snapshot_same_port(now, port, nodes, then);
		const struct snapshot_node *n = snapshot_node_of(now, port);
		const struct snapshot_port *p = &now->ports[port], *q;
		const struct snapshot_node *was;

		if (old == SNAPSHOT_NONE)
			continue;
		q = &then->ports[old];
		was = snapshot_node_of(then, old);
		if (was->info.node_type != n->info.node_type ||
		    was->info.num_ports != n->info.num_ports ||
		    was->info.partition_cap != n->info.partition_cap)
			continue;
		if (snapshot_is_switch(n) ?
		    switch_is_as_left(now, n, then, was) &&
		    n->sw.partition_enforcement_cap ==
		    was->sw.partition_enforcement_cap :
		    p->known && q->known && p->guid == q->guid &&
		    p->info.state > PORT_STATE_INIT && p->info.lid &&
		    p->info.lid == q->info.lid &&
		    p->info.sm_lid == q->info.sm_lid)
			recall_port(held, port, known, old,
				    take_doubt(now, port, q));
	}
}
