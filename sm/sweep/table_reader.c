// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading tables of ports.
 *
 * One question a block, as many at once as the window of the transactions
 * takes; items one after the other. A port that refuses a block is named once,
 * and the rest of that table is left out; of who is silent, and of those behind
 * it, no table is asked for any more.
 *
 * A node may say that it holds more P_Keys than it has blocks for. It calls the
 * modifier of those that it lacks invalid, and no P_Key can be in them: they
 * count as empty.
 */
#include "sm/sweep/table_reader.h"

#include <stdlib.h>

#include "sm/sweep/unreachable.h"
#include "sm/mad/smp.h"
#include "topology/lid.h"

#define FAULTS_MAX	200u

struct table_reader {
	struct mad_client *x;
	const struct mkey_db *keys;
	const struct snapshot *s;
	GArray *items;		/* the nearest first */
	struct port_tables *held;
	table_reader_done_fn done;
	void *data;
	guint item;
	unsigned block;		/* of it, the next to be asked for */
	uint8_t *failed;	/* by item */
	struct unreachable *silent;
	GPtrArray *faults;
	unsigned in_flight;
	unsigned timer;
};

static const struct table_reader_item *
item_at(const struct table_reader *r, guint i)
{
	return &g_array_index(r->items, struct table_reader_item, i);
}

static void
table_reader_free(struct table_reader *r)
{
	mad_client_set_pump(r->x, NULL, NULL);
	if (r->timer)
		transport_timer_cancel(mad_client_transport(r->x), r->timer);
	g_ptr_array_unref(r->faults);
	g_array_unref(r->items);
	g_free(r->failed);
	unreachable_free(r->silent);
	g_free(r);
}

static void
finish(struct table_reader *r)
{
	g_autoptr(GPtrArray) faults = g_ptr_array_ref(r->faults);
	table_reader_done_fn done = r->done;
	void *data = r->data;

	table_reader_free(r);
	done(faults, data);
}

static void
fault(struct table_reader *r, guint i, const char *why)
{
	const struct table_reader_item *item = item_at(r, i);
	const struct snapshot_node *n = snapshot_node_of(r->s, item->port);

	if (r->failed[i])
		return;
	r->failed[i] = true;
	if (r->faults->len >= FAULTS_MAX)
		return;
	g_ptr_array_add(r->faults, g_strdup_printf(
		"%s (0x%016" G_GINT64_MODIFIER "x) port %u: its %s cannot be "
		"read: %s", snapshot_node_name(n), n->info.node_guid,
		r->s->ports[item->port].num, port_table_name(item->table),
		why));
}

static void pump(void *data);

/* Not the first one: a port without any P_Key table is at fault. */
static bool
is_beyond_the_end(const struct table_reader_item *item, unsigned block,
		  unsigned status)
{
	return item->table == PORT_TABLE_PKEY && block > 0 &&
		status == MAD_STATUS_BAD_VALUE;
}

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct table_reader *r = data;
	guint i = (guint)(tag >> 16);
	unsigned block = tag & 0xffff;
	const struct table_reader_item *item = item_at(r, i);
	union port_block b = { 0 };

	r->in_flight--;
	unreachable_over(r->silent, tag);
	if (a->outcome == MAD_CLIENT_TIMED_OUT) {
		if (!unreachable_covers(r->silent, item->port))
			fault(r, i, "no answer");
		unreachable_add(r->silent, item->port);
	} else if (is_beyond_the_end(item, block, a->header.status)) {
		port_tables_set(r->held, item->table, item->port, block, &b);
	} else if (a->header.status) {
		fault(r, i, mad_status_name(a->header.status));
	} else {
		smp_table_decode(item->table, smp_data_const(a->mad), &b);
		port_tables_set(r->held, item->table, item->port, block, &b);
	}
	pump(r);
}

static void
on_lost(void *data, uint64_t tag)
{
	struct table_reader *r = data;

	r->in_flight--;
	r->failed[tag >> 16] = true;
}

static void
ask_block(struct table_reader *r, guint i, unsigned block)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct table_reader_item *item = item_at(r, i);
	unsigned num = snapshot_is_switch(snapshot_node_of(r->s, item->port)) ?
		r->s->ports[item->port].num : 0;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;
	uint64_t tag;
	uint32_t id;

	if (unreachable_covers(r->silent, item->port)) {
		r->failed[i] = true;
		return;
	}
	if (!snapshot_path(r->s, item->port, &path)) {
		fault(r, i, "no way there");
		return;
	}
	smp_build_direct(mad, MAD_METHOD_GET, smp_table_attr(item->table),
			 smp_table_modifier(item->table, num, block),
			 mkey_db_at(r->keys, r->s, item->port), &path);
	r->in_flight++;
	tag = (uint64_t)i << 16 | block;
	id = mad_client_start(r->x, &direct, mad, on_done, r, tag);
	unreachable_asked(r->silent, item->port, id, tag);
}

static bool
is_asked(const struct table_reader *r, const struct table_reader_item *item,
	 unsigned block)
{
	return !port_tables_get(r->held, item->table, item->port, block) &&
		(!item->only || port_tables_get(item->only, item->table,
						item->port, block));
}

/* The next block that has to be asked for. False: there are no more. */
static bool
next_block(struct table_reader *r)
{
	for (; r->item < r->items->len; r->item++, r->block = 0) {
		const struct table_reader_item *item = item_at(r, r->item);
		unsigned n = port_tables_blocks(r->held, item->table,
						item->port);

		for (; r->block < n && !r->failed[r->item]; r->block++)
			if (is_asked(r, item, r->block))
				return true;
	}
	return false;
}

static void
pump(void *data)
{
	struct table_reader *r = data;

	while (mad_client_room(r->x) && next_block(r)) {
		ask_block(r, r->item, r->block);
		r->block++;
	}
	if (!r->in_flight && !r->timer && !next_block(r))
		finish(r);
}

static void
on_start(void *data)
{
	struct table_reader *r = data;

	r->timer = 0;
	pump(r);
}

struct place {
	unsigned hops;
	guint i;
};

static int
compare_places(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	if (p->hops != q->hops)
		return p->hops < q->hops ? -1 : 1;
	return p->i < q->i ? -1 : p->i > q->i;
}

/* The nearest first: if a cable is pulled meanwhile, the first to be silent is
 * then the one next to it, which tells of all behind it. */
static GArray *
sort_items(const struct snapshot *s, const GArray *items)
{
	GArray *sorted = g_array_sized_new(FALSE, FALSE,
					   sizeof(struct table_reader_item),
					   items->len);
	g_autofree struct place *places = g_new(struct place, items->len);

	for (guint i = 0; i < items->len; i++) {
		struct dr_path path;

		places[i].i = i;
		places[i].hops =
			snapshot_path(s,
				      g_array_index(items,
						    struct table_reader_item, i)
					      .port,
				      &path)
				? path.hops
				: 0;
	}
	if (items->len)
		qsort(places, items->len, sizeof(*places), compare_places);
	for (guint i = 0; i < items->len; i++)
		g_array_append_val(sorted, g_array_index(items,
			struct table_reader_item, places[i].i));
	return sorted;
}

struct table_reader *
table_reader_start(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *s, const GArray *items,
	      struct port_tables *held, table_reader_done_fn done, void *data)
{
	struct table_reader *r = g_new0(struct table_reader, 1);

	r->x = x;
	r->keys = keys;
	r->s = s;
	r->items = sort_items(s, items);
	r->held = held;
	r->done = done;
	r->data = data;
	r->failed = g_new0(uint8_t, items->len + 1u);
	r->silent = unreachable_new(x, s, on_lost, r);
	r->faults = g_ptr_array_new_with_free_func(g_free);
	mad_client_set_pump(x, pump, r);
	r->timer =
		transport_timer_start(mad_client_transport(x), 0, on_start, r);
	return r;
}

void
table_reader_cancel(struct table_reader *r)
{
	mad_client_cancel_owner(r->x, r);
	table_reader_free(r);
}

/* --------------------------------------------------------------- recalling */

static bool
switch_is_as_left(const struct snapshot *now, const struct snapshot_node *n,
		  const struct snapshot *then, const struct snapshot_node *was)
{
	return n->sw_known && was->sw_known && n->sw.linear_fdb_top &&
		n->sw.linear_fdb_top == was->sw.linear_fdb_top &&
		n->sw.partition_enforcement_cap ==
		was->sw.partition_enforcement_cap &&
		now->ports[n->first_port].info.lid ==
		then->ports[was->first_port].info.lid;
}

static bool end_is_as_left(const struct snapshot_port *now,
			   const struct snapshot_port *then)
{
	return now->known && then->known && now->guid == then->guid &&
		now->info.state > PORT_STATE_INIT && now->info.lid &&
		now->info.lid == then->info.lid;
}

static void
recall_port(struct port_tables *held, uint32_t port,
	    const struct port_tables *known, uint32_t then)
{
	for (unsigned table = 0; table < PORT_N_TABLES; table++) {
		unsigned n = port_tables_blocks(known, table, then);
		const union port_block *b;

		if (port_tables_blocks(held, table, port) != n)
			continue;
		for (unsigned block = 0; block < n; block++) {
			b = port_tables_get(known, table, then, block);
			if (b)
				port_tables_set(held, table, port, block, b);
		}
	}
}

void
table_reader_recall(const struct snapshot *now, struct port_tables *held,
	       const struct snapshot *then, const struct port_tables *known)
{
	for (uint32_t node = 0; node < now->n_nodes; node++) {
		const struct snapshot_node *n = &now->nodes[node], *was;
		uint32_t i = snapshot_find_node(then, n->info.node_guid);
		bool is_switch = snapshot_is_switch(n), whole;

		if (i == SNAPSHOT_NONE)
			continue;
		was = &then->nodes[i];
		if (was->info.node_type != n->info.node_type ||
		    was->info.num_ports != n->info.num_ports ||
		    was->info.partition_cap != n->info.partition_cap)
			continue;
		whole = is_switch && switch_is_as_left(now, n, then, was);
		for (unsigned num = 0; num <= n->info.num_ports; num++) {
			uint32_t port = n->first_port + num;
			uint32_t old = was->first_port + num;

			if (is_switch ? whole :
			    end_is_as_left(&now->ports[port],
					   &then->ports[old]))
				recall_port(held, port, known, old);
		}
	}
}
