// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How a sweep handles flapping links and babbling ports; see flaps.h.
 */
#include "sm/sweep/sweep.h"

/* Logged at the start, and again for each hold. */
static void
log_flap(struct sweep *s, const struct flap *p)
{
	g_autofree char *held = p->held ?
		g_strdup_printf("; held down for %" G_GINT64_FORMAT " s",
				p->pause / G_USEC_PER_SEC) : g_strdup("");

	log_say(s->log, LOG_WARNING, "fabric", "flapping: %s went down %u times "
		"within an hour%s", p->name, p->downs, held);
}

struct snapshot *
sweep_hold_flaps(struct sweep *s, struct snapshot *n)
{
	g_autoptr(GPtrArray) told = g_ptr_array_new();

	if (s->view.subnet)
		flaps_note(s->flaps, s->view.subnet, n, sweep_now(s), told);
	for (guint i = 0; i < told->len; i++)
		log_flap(s, told->pdata[i]);
	return flaps_apply(s->flaps, n);
}

/* ----------------------------------------------------------- babbling ports */

/* The tag is the NodeGUID. The node is read again, since not all switches take
 * the state. */
static void
sweep_on_phys_state(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct sweep *s = data;
	g_autoptr(GArray) node = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	g_array_append_val(node, tag);
	if (a->outcome == MAD_CLIENT_ANSWERED)
		sweep_reread(s, SWEEP_CAUSE_MEANWHILE, node);
}

/* Sets the PortPhysicalState of a switch port. */
static void
set_phys_state(struct sweep *s, uint32_t port, uint8_t phys)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct snapshot *n = s->view.subnet;
	struct port_info info = n->ports[port].info;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(n, port, &path))
		return;
	info.state = phys == PORT_PHYS_DISABLED ? PORT_STATE_DOWN :
		PORT_STATE_NOP;
	info.phys_state = phys;
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_PORT_INFO,
			 n->ports[port].num, mkey_db_at(s->keys, n, port),
			 &path);
	port_info_encode(smp_data(mad), &info);
	mad_client_start(s->x, &direct, mad, sweep_on_phys_state, s,
			 snapshot_node_of(n, port)->info.node_guid);
}

/* The end of a link, at a switch, that is nearer to the SM; SNAPSHOT_NONE:
 * the link must not be cut, since it is the SM's own or the only one to some
 * node. */
static uint32_t
end_to_disable(const struct snapshot *n, uint32_t port)
{
	const struct avoid_wish wish = {
		snapshot_node_of(n, port)->info.node_guid, n->ports[port].num,
		AVOID_BY_HAND, 0,
	};
	uint32_t peer = n->ports[port].peer;
	g_autoptr(GArray) wishes = g_array_new(FALSE, FALSE, sizeof(wish));
	g_autoptr(GPtrArray) links = NULL;
	struct dr_path near, far;

	if (peer == SNAPSHOT_NONE || port == n->local_port ||
	    peer == n->local_port)
		return SNAPSHOT_NONE;
	if (!snapshot_is_switch(snapshot_node_of(n, port)))
		return peer;
	if (!snapshot_is_switch(snapshot_node_of(n, peer)))
		return port;
	g_array_append_val(wishes, wish);
	links = avoid_choose(n, wishes, false);
	if (links->len && ((struct avoid_link *)links->pdata[0])->verdict !=
	    AVOID_DONE)
		return SNAPSHOT_NONE;
	return snapshot_path(n, port, &near) && snapshot_path(n, peer, &far) &&
		far.hops < near.hops ? peer : port;
}

/* Disables a port to stop the babbling one, if configured and possible; returns
 * the consequence in words, g_free. */
static char *
disable_babbler(struct sweep *s, struct flap *p, uint32_t port)
{
	const struct snapshot *n = s->view.subnet;
	uint32_t end;
	g_autofree char *name = NULL;

	if (!s->params.flaps.disable || p->held ||
	    s->self.state != SM_STATE_MASTER || s->paused)
		return g_strdup("");
	end = end_to_disable(n, port);
	if (end == SNAPSHOT_NONE)
		return g_strdup("; its link is needed, so the port is not "
				"disabled");
	flaps_disable(s->flaps, p, snapshot_node_of(n, end)->info.node_guid,
		      n->ports[end].num, sweep_now(s));
	persist_keep_disabled(s->memory, p->disabled_guid, p->disabled_num,
			      true);
	set_phys_state(s, end, PORT_PHYS_DISABLED);
	name = snapshot_port_name(n, end);
	return g_strdup_printf("; port %s is disabled for %" G_GINT64_FORMAT
			       " s", name, p->pause / G_USEC_PER_SEC);
}

static void
enable_again(struct sweep *s, struct flap *p)
{
	const struct snapshot *n = s->view.subnet;
	uint32_t node = snapshot_find_node(n, p->disabled_guid);
	uint32_t port = node == SNAPSHOT_NONE ? SNAPSHOT_NONE :
		snapshot_port_of(n, node, p->disabled_num);

	persist_keep_disabled(s->memory, p->disabled_guid, p->disabled_num,
			      false);
	p->disabled_num = 0;
	if (port == SNAPSHOT_NONE)
		return;
	log_say(s->log, LOG_INFO, "fabric", "enabled again: %s", p->name);
	set_phys_state(s, port, PORT_PHYS_POLLING);
}

void
sweep_release_flaps(struct sweep *s)
{
	g_autoptr(GPtrArray) released = NULL;
	g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autofree char *names = NULL;

	if (!s->view.subnet)
		return;
	released = flaps_release(s->flaps, sweep_now(s));
	for (guint i = 0; i < released->len; i++) {
		struct flap *p = released->pdata[i];

		if (p->disabled_num)
			enable_again(s, p);
		g_array_append_val(nodes, p->guid);
		if (p->far_guid)
			g_array_append_val(nodes, p->far_guid);
	}
	if (!nodes->len)
		return;
	names = sweep_names_text(s->view.subnet, nodes);
	log_say(s->log, LOG_INFO, "fabric", "no longer held down: links of %s",
		names);
	sweep_changed(s, SWEEP_CAUSE_RELEASED, nodes);
}

void
sweep_count_trap(struct sweep *s, uint16_t lid, unsigned num)
{
	const struct lid_map *lids = s->view.lids;
	g_autofree char *done = NULL;
	struct flap *p;
	uint32_t port;

	if (!lids || lid > lids->top || lids->owner[lid] == SNAPSHOT_NONE)
		return;
	port = lids->owner[lid];
	if (num)
		port = snapshot_port_of(s->view.subnet,
					s->view.subnet->ports[port].node, num);
	if (port == SNAPSHOT_NONE)
		return;
	p = flaps_trap(s->flaps, s->view.subnet, port, sweep_now(s));
	if (!p)
		return;
	done = num ? disable_babbler(s, p, port) : g_strdup("");
	log_say(s->log, LOG_WARNING, "trap", "babbling: %s sent %u traps "
		"within a minute%s", p->name, p->traps_now, done);
}

GPtrArray *
sweep_flaps(const struct sweep *s, uint64_t *downs)
{
	*downs = flaps_downs(s->flaps);
	return flaps_list(s->flaps, sweep_now(s));
}
