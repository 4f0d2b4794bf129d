// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading forwarding tables.
 *
 * Of a switch that was set up by somebody (LinearFDBTop is not 0) the blocks
 * 0 to top/64 are read; what lies above its top is not in use and stays "not
 * known". Of a switch that we have left ourselves in the same state only those
 * blocks are read that we do not know, since our last Set was not answered: a
 * switch that was reset has lost its LID and its top (IBA 14.2.5.4), so these
 * two tell whether our memory of it is good.
 */
#include "sm/sweep/lft_reader.h"

#include <string.h>

#include "sm/sweep/unreachable.h"
#include "sm/mad/smp.h"

struct lft_reader {
	struct mad_client *x;
	const struct mkey_db *keys;
	const struct snapshot *s;
	struct lft_seen *seen;
	lft_reader_done_fn done;
	void *data;
	uint32_t sw, block;	/* the next to be asked for */
	uint8_t *failed;	/* by switch */
	struct unreachable *silent;
	GPtrArray *faults;
	unsigned in_flight;
	unsigned timer;
};

static const struct snapshot_node *
switch_at(const struct lft_reader *r, uint32_t sw)
{
	return &r->s->nodes[r->s->switches[sw]];
}

/* A top beyond what the switch can hold: nothing of it is believed. */
static bool
top_is_a_lie(const struct snapshot_node *n)
{
	return n->sw_known && (n->sw.linear_fdb_top > LID_UNICAST_MAX ||
		(n->sw.linear_fdb_top &&
		 n->sw.linear_fdb_top >= n->sw.linear_fdb_cap));
}

/* Blocks that this switch says are in use. */
static uint32_t
blocks_in_use(const struct snapshot_node *n)
{
	if (!n->sw_known || !n->sw.linear_fdb_top || top_is_a_lie(n))
		return 0;
	return n->sw.linear_fdb_top / LFT_BLOCK + 1;
}

static bool
is_as_left(const struct snapshot *now, uint32_t node,
	   const struct lft_memory *memory, uint32_t *sw_then)
{
	const struct snapshot_node *n = &now->nodes[node], *then;
	uint32_t i = snapshot_find_node(memory->subnet, n->info.node_guid);

	if (i == SNAPSHOT_NONE)
		return false;
	then = &memory->subnet->nodes[i];
	*sw_then = then->sw_index;
	return snapshot_is_switch(then) && then->sw_known && n->sw_known &&
		n->sw.linear_fdb_top &&
		n->sw.linear_fdb_top == then->sw.linear_fdb_top &&
		now->ports[n->first_port].info.lid ==
		memory->subnet->ports[then->first_port].info.lid;
}

static void
recall(struct lft_reader *r, uint32_t sw, const struct lft_memory *memory,
       uint32_t sw_then)
{
	for (uint32_t b = 0; b < lft_n_blocks(r->seen->lft); b++) {
		const uint8_t *bytes = lft_seen_block(memory->seen, sw_then,
						      b);

		if (bytes)
			lft_seen_set(r->seen, sw, b, bytes);
	}
}

static void
lft_reader_free(struct lft_reader *r)
{
	mad_client_set_pump(r->x, NULL, NULL);
	if (r->timer)
		transport_timer_cancel(mad_client_transport(r->x), r->timer);
	lft_seen_free(r->seen);
	g_ptr_array_unref(r->faults);
	g_free(r->failed);
	unreachable_free(r->silent);
	g_free(r);
}

static void
finish(struct lft_reader *r)
{
	struct lft_seen *seen = g_steal_pointer(&r->seen);
	g_autoptr(GPtrArray) faults = g_ptr_array_ref(r->faults);
	lft_reader_done_fn done = r->done;
	void *data = r->data;

	lft_reader_free(r);
	done(seen, faults, data);
}

static void
fault(struct lft_reader *r, uint32_t sw, const char *why)
{
	const struct snapshot_node *n = switch_at(r, sw);

	if (r->failed[sw])
		return;
	r->failed[sw] = true;
	g_ptr_array_add(r->faults, g_strdup_printf(
		"%s (0x%016" G_GINT64_MODIFIER "x): its forwarding table "
		"cannot be read: %s", snapshot_node_name(n), n->info.node_guid,
		why));
}

/* Who is behind one that is silent is not at fault. */
static void
on_silence(struct lft_reader *r, uint32_t sw)
{
	uint32_t port = switch_at(r, sw)->first_port;

	if (!unreachable_covers(r->silent, port))
		fault(r, sw, "no answer");
	unreachable_add(r->silent, port);
}

static void pump(void *data);

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct lft_reader *r = data;
	uint32_t sw = tag >> 32, block = (uint32_t)tag;

	r->in_flight--;
	unreachable_over(r->silent, tag);
	if (a->outcome == MAD_CLIENT_TIMED_OUT)
		on_silence(r, sw);
	else if (a->header.status)
		fault(r, sw, mad_status_name(a->header.status));
	else
		lft_seen_set(r->seen, sw, block, smp_data_const(a->mad));
	pump(r);
}

static void
on_lost(void *data, uint64_t tag)
{
	struct lft_reader *r = data;

	r->in_flight--;
	r->failed[tag >> 32] = true;
}

static void
ask_block(struct lft_reader *r, uint32_t sw, uint32_t block)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint32_t port = switch_at(r, sw)->first_port;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;
	uint64_t tag;
	uint32_t id;

	if (unreachable_covers(r->silent, port)) {
		r->failed[sw] = true;
		return;
	}
	if (!snapshot_path(r->s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_LINEAR_FT, block,
			 mkey_db_at(r->keys, r->s, port), &path);
	r->in_flight++;
	tag = (uint64_t)sw << 32 | block;
	id = mad_client_start(r->x, &direct, mad, on_done, r, tag);
	unreachable_asked(r->silent, port, id, tag);
}

static void
pump(void *data)
{
	struct lft_reader *r = data;

	while (r->sw < r->s->n_switches && mad_client_room(r->x)) {
		if (r->failed[r->sw] ||
		    r->block >= blocks_in_use(switch_at(r, r->sw))) {
			r->sw++;
			r->block = 0;
			continue;
		}
		if (!lft_seen_block(r->seen, r->sw, r->block))
			ask_block(r, r->sw, r->block);
		r->block++;
	}
	if (r->sw == r->s->n_switches && !r->in_flight && !r->timer)
		finish(r);
}

static void
on_start(void *data)
{
	struct lft_reader *r = data;

	r->timer = 0;
	pump(r);
}

static void
name_liars(const struct snapshot *s, struct log *log)
{
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct snapshot_node *n = &s->nodes[s->switches[sw]];

		if (top_is_a_lie(n))
			log_limited(log, LOG_WARNING, "discover",
				    "LinearFDBTop beyond the capability, not "
				    "believed", "%s (0x%016"
				    G_GINT64_MODIFIER "x): %u of %u",
				    snapshot_node_name(n),
				    n->info.node_guid, n->sw.linear_fdb_top,
				    n->sw.linear_fdb_cap);
	}
}

static uint16_t
highest_top(const struct lft_reader *r, uint16_t top)
{
	for (uint32_t sw = 0; sw < r->s->n_switches; sw++)
		if (blocks_in_use(switch_at(r, sw)))
			top = MAX(top, switch_at(r, sw)->sw.linear_fdb_top);
	return top;
}

struct lft_reader *
lft_reader_start(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *s, uint16_t top,
	      const struct lft_memory *memory, struct log *log,
	      lft_reader_done_fn done, void *data)
{
	struct lft_reader *r = g_new0(struct lft_reader, 1);
	uint32_t then;

	name_liars(s, log);
	r->x = x;
	r->keys = keys;
	r->s = s;
	r->done = done;
	r->data = data;
	r->seen = lft_seen_new(s->n_switches, highest_top(r, top));
	r->failed = g_new0(uint8_t, s->n_switches);
	r->silent = unreachable_new(x, s, on_lost, r);
	r->faults = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t sw = 0; memory && memory->seen && sw < s->n_switches;
	     sw++)
		if (is_as_left(s, s->switches[sw], memory, &then))
			recall(r, sw, memory, then);
	mad_client_set_pump(x, pump, r);
	r->timer =
		transport_timer_start(mad_client_transport(x), 0, on_start, r);
	return r;
}

void
lft_reader_cancel(struct lft_reader *r)
{
	mad_client_cancel_owner(r->x, r);
	lft_reader_free(r);
}

uint8_t *
lft_reader_fresh(const struct snapshot *s)
{
	uint8_t *fresh = g_new0(uint8_t, s->n_switches + 1);
	const struct snapshot_node *n;

	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		n = &s->nodes[s->switches[sw]];
		fresh[sw] = s->ports[n->first_port].info.lid == LID_NONE ||
			(n->sw_known && !n->sw.linear_fdb_top);
	}
	return fresh;
}
