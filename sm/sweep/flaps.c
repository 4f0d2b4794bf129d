// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flapping links and babbling ports.
 *
 * Method. After each discovery all links that were Active are looked up in the
 * new snapshot: a link that is missing, or has to be activated again, was down.
 * A link that was down FLAP_LIMIT times within a minute flaps. If configured,
 * its cable is held: removed from snapshots for hold_s, the next time for twice
 * as long, up to HOLD_MAX; after HOLD_MAX without a hold, it starts with hold_s
 * again. A cable without which a node would be more than 63 hops away is not
 * held. Nothing is written to its ports: they are not brought up, and another
 * manager may use them. A node behind such a link is away for that time. A
 * cable has one entry, for the end at its switch; between switches, for the end
 * with the lower GUID.
 *
 * A port that sends BABBLE traps within a minute is reported: its traps lead to
 * one repair a second at most (sm/sweep/amend.c). If configured, its cable is held,
 * and the port at the end that is nearer to the manager is disabled by the plan,
 * and enabled again after the same pauses. A trap is repeated until
 * it is answered: what this process reads in the moment after it stood still may be
 * hundreds of one trap, and makes no port a babbling one.
 *
 * Cost. One pass over the ports for each discovery.
 */
#include "sm/sweep/flaps.h"

#include <string.h>

#include "sm/persist.h"
#include "topology/each.h"
#include "topology/snapshot.h"

#define SECOND		((int64_t)G_USEC_PER_SEC)
#define HOUR		(3600 * SECOND)
#define HOLD_MAX	HOUR
#define BABBLE		250u	/* the default of OpenSM's
				   babbling_port_policy */
#define HOLD_BABBLE	60u	/* s */
#define BABBLE_US	(60 * SECOND)
#define FLAP_US		(60 * SECOND)

static guint
flap_hash(gconstpointer data)
{
	const struct flap *p = data;
	uint64_t key = p->guid * 256 + p->num;

	return g_int64_hash(&key);
}

static gboolean
flap_equal(gconstpointer a, gconstpointer b)
{
	const struct flap *p = a, *q = b;

	return p->guid == q->guid && p->num == q->num;
}

static void
flap_free(gpointer data)
{
	struct flap *p = data;

	g_free(p->name);
	g_free(p);
}

static bool
is_pending(const struct flap *p)
{
	return p->held || p->disabled_num;
}

/* The entry of a port; after an hour its counts start from 0. */
static struct flap *
flap_at(struct flaps *f, uint64_t guid, uint8_t num, int64_t now)
{
	struct flap key = { .guid = guid, .num = num };
	struct flap *p = g_hash_table_lookup(f->list, &key);

	if (p && !is_pending(p) && p->last + HOUR < now) {
		g_hash_table_remove(f->list, p);
		p = NULL;
	}
	if (!p) {
		p = g_new0(struct flap, 1);
		p->guid = guid;
		p->num = num;
		p->traps_since = now;
		g_hash_table_add(f->list, p);
	}
	p->last = now;
	return p;
}

struct flaps *
flaps_new(const struct flap_params *params)
{
	struct flaps *f = g_new0(struct flaps, 1);

	f->params = *params;
	f->list = g_hash_table_new_full(flap_hash, flap_equal, flap_free, NULL);
	return f;
}

void
flaps_enable(struct flaps *f, const GArray *disabled, int64_t now)
{
	EACH_ITEM(const struct persist_port, port, disabled) {
		struct flap *p = flap_at(f, port->guid, port->num, now);

		if (p->disabled_num)
			continue;
		g_free(p->name);
		p->name = g_strdup_printf("port %u of 0x%016" G_GINT64_MODIFIER
					  "x", port->num, port->guid);
		p->disabled_guid = port->guid;
		p->disabled_num = port->num;
	}
}

void
flaps_free(struct flaps *f)
{
	g_hash_table_unref(f->list);
	g_free(f);
}

/* ----------------------------------------------------------------- counting */

/* Is the port of `before` in `after`, and was its link down? One that is Active
 * and leads to no node has a link: the node does not answer. */
static bool
end_was_down(const struct snapshot *before, uint32_t port,
	     const uint32_t *nodes, const struct snapshot *after,
	     bool *is_there)
{
	uint32_t now = snapshot_same_port(before, port, nodes, after);

	*is_there = now != SNAPSHOT_NONE;
	return *is_there && after->ports[now].known &&
		after->ports[now].info.state < PORT_STATE_ACTIVE;
}

void
flaps_hold(struct flaps *f, struct flap *p, int64_t now)
{
	int64_t first = (f->params.hold_s ? f->params.hold_s : HOLD_BABBLE) *
		SECOND;

	p->pause = !p->pause || p->held_until + HOLD_MAX < now ? first :
		MIN(2 * p->pause, MAX(HOLD_MAX, first));
	p->held = true;
	p->held_until = now + p->pause;
	p->n_recent = 0;
}

void
flaps_note(struct flaps *f, const struct snapshot *before,
	   const struct snapshot *after, int64_t now, GPtrArray *told)
{
	g_autofree uint32_t *nodes = snapshot_map_nodes(before, after);
	g_autoptr(GHashTable) shared = NULL;

	for (uint32_t port = 0; port < before->n_ports; port++) {
		const struct snapshot_port *near = &before->ports[port];
		const struct snapshot_node *n = &before->nodes[near->node];
		uint32_t peer = near->peer;
		bool near_there, far_there, flapped;
		const struct snapshot_node *far;
		g_autofree char *name = NULL;
		struct flap *p;

		/* The end of an Active link that has the link's entry; not of
		 * the SM's own link. */
		if (peer == SNAPSHOT_NONE || !snapshot_is_switch(n) ||
		    near->info.state < PORT_STATE_ACTIVE ||
		    port == before->local_port || peer == before->local_port)
			continue;
		far = snapshot_node_of(before, peer);
		if (port >= peer && snapshot_is_switch(far))
			continue;
		/* If its node is missing, the other end shows it. */
		if (!end_was_down(before, port, nodes, after, &near_there) &&
		    (near_there || !end_was_down(before, peer, nodes, after,
						 &far_there)))
			continue;
		p = flap_at(f, n->info.node_guid, near->num, now);
		shared = shared ? shared : snapshot_shared_names(before);
		name = snapshot_link_name(before, port, shared);
		g_free(p->name);
		p->name = g_strconcat("link ", name, NULL);
		p->far_guid = far->info.node_guid;
		f->downs++;
		p->downs++;
		p->recent[p->n_recent++ % FLAP_LIMIT] = now;
		flapped = p->flaps;
		p->flaps = p->n_recent >= FLAP_LIMIT &&
			now - p->recent[p->n_recent % FLAP_LIMIT] <= FLAP_US;
		if (p->flaps && f->params.hold_s)
			flaps_hold(f, p, now);
		/* It starts to flap, or is held again. */
		if (p->flaps && (f->params.hold_s || !flapped))
			g_ptr_array_add(told, p);
	}
}

struct flap *
flaps_trap(struct flaps *f, const struct snapshot *s, uint32_t port,
	   bool is_late, int64_t now)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);
	struct flap *p = flap_at(f, n->info.node_guid, s->ports[port].num, now);

	if (!p->name)
		p->name = snapshot_port_name(s, port);
	p->traps++;
	if (is_late)
		return NULL;
	if (now - p->traps_since > BABBLE_US) {
		p->babbles = p->traps_now >= BABBLE;
		p->traps_since = now;
		p->traps_now = 0;
	}
	if (++p->traps_now != BABBLE || p->babbles)
		return NULL;
	p->babbles = true;
	return p;
}

/* ------------------------------------------------------------------ holding */

int64_t
flaps_due(const struct flaps *f)
{
	int64_t due = INT64_MAX;
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, f->list);
	while (g_hash_table_iter_next(&iter, &data, NULL)) {
		const struct flap *p = data;

		if (p->held)
			due = MIN(due, p->held_until);
	}
	return due;
}

static int
compare_flaps(gconstpointer a, gconstpointer b)
{
	const struct flap *p = *(struct flap *const *)a;
	const struct flap *q = *(struct flap *const *)b;

	return strcmp(p->name, q->name);
}

void
flap_release(struct flap *p, int64_t now)
{
	p->held = p->flaps = p->babbles = false;
	p->traps_now = 0;
	p->last = p->held_until = now;
}

/* Is a node out of the reach of directed routes, by the cables that are left? */
static bool
is_too_far(struct builder *b)
{
	g_autofree uint32_t *hops = builder_find_entries(b);
	bool is_far = false;

	for (uint32_t n = 0; n < b->s->n_nodes; n++)
		is_far |= hops[n] > DR_MAX_HOPS && hops[n] != SNAPSHOT_NONE;
	return is_far;
}

struct snapshot *
flaps_apply(struct flaps *f, struct snapshot *s, GPtrArray *needed)
{
	struct builder *b;
	GHashTableIter iter;
	gpointer data;

	if (flaps_due(f) == INT64_MAX)
		return s;
	b = builder_new_from(s);
	snapshot_unref(s);
	g_hash_table_iter_init(&iter, f->list);
	while (g_hash_table_iter_next(&iter, &data, NULL)) {
		struct flap *p = data;
		uint32_t node = builder_find(b, p->guid), port, peer;

		if (!p->held || node == SNAPSHOT_NONE)
			continue;
		port = snapshot_port_of(b->s, node, p->num);
		if (port == SNAPSHOT_NONE)
			continue;
		peer = b->s->ports[port].peer;
		if (peer == SNAPSHOT_NONE || port == b->s->local_port ||
		    peer == b->s->local_port)
			continue;
		builder_unlink(b, port);
		if (is_too_far(b)) {
			builder_link(b, port, peer);
			p->held = false;
			g_ptr_array_add(needed, p);
			continue;
		}
		b->s->ports[port].held = true;
		b->s->ports[peer].held = true;
	}
	return builder_finish(b);
}

/* ------------------------------------------------------------------ listing */

GPtrArray *
flaps_list(const struct flaps *f, int64_t now)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, f->list);
	while (g_hash_table_iter_next(&iter, &data, NULL)) {
		const struct flap *p = data;

		if (is_pending(p) || (p->last + HOUR >= now &&
				(p->downs || p->babbles)))
			g_ptr_array_add(list, data);
	}
	g_ptr_array_sort(list, compare_flaps);
	return list;
}
