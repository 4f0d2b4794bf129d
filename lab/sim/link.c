// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links: the port states at both ends of a cable.
 *
 * A link can be up if there is a cable that is not cut, both nodes have power,
 * no end sleeps or is disabled, and the ends have a width and a speed in
 * common. Every change of one of these calls sim_link_settle(), which compares
 * the possible state with the present one:
 *
 *	can be, is up		nothing to do
 *	can be, is down		training begins; when it is over both ends
 *				are in Init (IBA 7.2)
 *	cannot be, is up	both ends go Down at once
 *
 * If one end is Set to Down, both go Down and train again. At a switch every
 * change that is not caused by a Set of that port sets PortStateChange and
 * raises trap 128 (14.2.5.4, 14.2.5.1).
 */
#include "lab/sim/state.h"

/* The highest bit that two enabled masks have in common; 0: one of them is
 * empty, -1: no bit. */
static int
agree(unsigned a, unsigned b)
{
	unsigned common = a & b;

	if (!a || !b)
		return 0;
	return common ? 1 << (g_bit_storage(common) - 1) : -1;
}

static void
link_tell(struct sim *sim, uint32_t port)
{
	struct sim_node *node = sim_node_of(sim, port);

	if (!sim_is_switch(node) || node->power == SIM_POWER_OFF)
		return;
	node->sw.port_state_change = true;
	sim_trap_raise(sim, port, 128, NULL);
}

static void
link_drop(struct sim *sim, uint32_t port, enum sim_cause cause)
{
	struct sim_port *p = &sim->ports[port];

	if (p->info.phys_state == PORT_PHYS_LINK_UP ||
	    p->info.phys_state == PORT_PHYS_TRAINING)
		p->info.phys_state = PORT_PHYS_POLLING;
	if (p->info.state == PORT_STATE_DOWN)
		return;
	sim_port_add_errors(sim, port, PERF_LINK_DOWNED, 1);
	p->info.state = PORT_STATE_DOWN;
	if (cause == SIM_CAUSE_LINK)
		link_tell(sim, port);
}

static void
on_trained(struct sim *sim, struct sim_event *e)
{
	uint32_t a = (uint32_t)((struct sim_port *)e - sim->ports);
	const uint32_t ends[] = { a, sim->ports[a].peer };
	unsigned n = ends[0] == ends[1] ? 1 : 2;
	const struct port_info *x = &sim->ports[ends[0]].info;
	const struct port_info *y = &sim->ports[ends[1]].info;
	int width = agree(x->width_enabled, y->width_enabled);
	int speed = agree(x->speed_enabled, y->speed_enabled);
	int ext = agree(x->speed_ext_enabled, y->speed_ext_enabled);

	/* 30 means "none" (IBA 14.2.5.6) */
	if (ext < 0 || x->speed_ext_enabled == 30 ||
	    y->speed_ext_enabled == 30)
		ext = 0;
	for (unsigned i = 0; i < n; i++) {
		struct port_info *info = &sim->ports[ends[i]].info;

		if (width > 0)
			info->width_active = width;
		if (speed > 0)
			info->speed_active = speed;
		info->speed_ext_active = ext;
		info->phys_state = PORT_PHYS_LINK_UP;
		info->state = PORT_STATE_INIT;
	}
	for (unsigned i = 0; i < n; i++)
		link_tell(sim, ends[i]);
}

void
sim_link_settle(struct sim *sim, uint32_t port, enum sim_cause cause)
{
	struct sim_port *a = &sim->ports[port], *b;
	struct sim_event *training;
	bool possible;

	if (a->peer == SNAPSHOT_NONE) {
		link_drop(sim, port, cause);
		return;
	}
	b = &sim->ports[a->peer];
	possible = !a->cut &&
		sim_node_of(sim, port)->power == SIM_POWER_ON &&
		sim_node_of(sim, a->peer)->power == SIM_POWER_ON &&
		a->info.phys_state != PORT_PHYS_DISABLED &&
		b->info.phys_state != PORT_PHYS_DISABLED &&
		a->info.phys_state != PORT_PHYS_SLEEP &&
		b->info.phys_state != PORT_PHYS_SLEEP &&
		agree(a->info.width_enabled, b->info.width_enabled) >= 0 &&
		agree(a->info.speed_enabled, b->info.speed_enabled) >= 0;
	if (possible && a->info.state != PORT_STATE_DOWN &&
	    b->info.state != PORT_STATE_DOWN)
		return;
	link_drop(sim, port, cause);
	link_drop(sim, a->peer, SIM_CAUSE_LINK);
	training = &MIN(a, b)->training;
	if (!possible) {
		sim_clock_stop(sim, training);
		return;
	}
	a->info.phys_state = b->info.phys_state = PORT_PHYS_TRAINING;
	if (training->pos)
		return;
	training->fn = on_trained;
	sim_clock_start(sim, training, sim->now +
			(int64_t)sim->params.train_us * NS_PER_US);
}
