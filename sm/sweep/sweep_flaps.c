// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a sweep does about flapping links and babbling ports: see flaps.h.
 */
#include "sm/sweep/sweep.h"

/* The log says it again each time that a link is held, else once. */
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

void
sweep_release_flaps(struct sweep *s)
{
	g_autoptr(GArray) nodes = flaps_release(s->flaps, sweep_now(s));
	g_autofree char *names = NULL;

	if (!nodes->len || !s->view.subnet)
		return;
	names = sweep_names_text(s->view.subnet, nodes);
	log_say(s->log, LOG_INFO, "fabric", "held down no longer: links of %s",
		names);
	sweep_changed(s, SWEEP_CAUSE_RELEASED, nodes);
}

void
sweep_count_trap(struct sweep *s, uint16_t lid, unsigned num)
{
	const struct lid_map *lids = s->view.lids;
	const struct flap *p;
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
	if (p)
		log_say(s->log, LOG_WARNING, "trap", "babbling: %s sent %u "
			"traps within a minute", p->name, p->traps_now);
}

GPtrArray *
sweep_flaps(const struct sweep *s, uint64_t *downs)
{
	*downs = flaps_downs(s->flaps);
	return flaps_list(s->flaps, sweep_now(s));
}
