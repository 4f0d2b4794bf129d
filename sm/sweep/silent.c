// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Silent ports: the link is up, and no node answers.
 *
 * Most are hosts without a driver, or hung ones; a large fabric always has
 * some. NodeInfo is sent through such a port after PAUSE_MIN_US, and then each
 * time after twice the pause before, up to PAUSE_MAX_US. A node that is
 * switched off and on takes its link down, which its switch reports.
 */
#include "sm/sweep/silent.h"

#define PAUSE_MIN_US	((int64_t)G_USEC_PER_SEC)
#define PAUSE_MAX_US	(300 * PAUSE_MIN_US)

static bool
is_silent(const struct snapshot_node *n, const struct snapshot_port *p)
{
	return snapshot_is_switch(n) && p->num && p->known && !p->held &&
		p->peer == SNAPSHOT_NONE && p->info.state != PORT_STATE_DOWN;
}

static const struct silent_port *
find_silent(const GArray *known, uint64_t guid, uint8_t num)
{
	for (guint i = 0; known && i < known->len; i++) {
		const struct silent_port *p =
			&g_array_index(known, struct silent_port, i);

		if (p->node_guid == guid && p->num == num)
			return p;
	}
	return NULL;
}

GArray *
silent_update(GArray *known, const struct snapshot *s, int64_t now)
{
	GArray *silent = g_array_new(FALSE, FALSE, sizeof(struct silent_port));

	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		const struct snapshot_node *n = &s->nodes[p->node];
		struct silent_port new = {
			.node_guid = n->info.node_guid, .num = p->num,
			.pause = PAUSE_MIN_US, .due = now + PAUSE_MIN_US,
		};
		const struct silent_port *was;

		if (!is_silent(n, p))
			continue;
		was = find_silent(known, new.node_guid, new.num);
		if (was)
			new = *was;
		g_array_append_val(silent, new);
	}
	if (known)
		g_array_unref(known);
	return silent;
}

int64_t
silent_due(const GArray *silent)
{
	int64_t due = INT64_MAX;

	for (guint i = 0; silent && i < silent->len; i++)
		due = MIN(due, g_array_index(silent, struct silent_port,
					     i).due);
	return due;
}

GArray *
silent_take(GArray *silent, const struct snapshot *s, int64_t now)
{
	GArray *ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < silent->len; i++) {
		struct silent_port *p =
			&g_array_index(silent, struct silent_port, i);
		uint32_t node = snapshot_find_node(s, p->node_guid);
		uint32_t port = node == SNAPSHOT_NONE ? SNAPSHOT_NONE :
			snapshot_port_of(s, node, p->num);

		if (p->due > now)
			continue;
		p->pause = MIN(2 * p->pause, PAUSE_MAX_US);
		p->due = now + p->pause;
		if (port != SNAPSHOT_NONE)
			g_array_append_val(ports, port);
	}
	return ports;
}
