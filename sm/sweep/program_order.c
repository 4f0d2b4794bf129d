// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of programming.
 *
 * The plan's steps have an order only where correctness needs one, and each
 * condition is local to what depends on it:
 *
 *	LFT blocks of a switch -> its SwitchInfo (the top must not rise over
 *	and the clearing of	  blocks that are not written yet; and the two
 *	PortStateChange		  Sets of SwitchInfo must not overtake each
 *				  other, for each carries the whole of it)
 *				  -> the switch is *routed*
 *	both ends of a cable routed (a CA is), and the tables of both ports
 *	written -> Armed at both ends
 *	both ends Armed -> Active at both ends
 *	tables of both ports written -> PortInfo that switches partition
 *			   enforcement on
 *
 * so a switch that does not answer holds back its own cables and no other, and
 * a port whose P_Key table could not be written stays down rather than come up
 * with the keys of somebody else. One that is Active already is left alone.
 * PortInfo of ports whose state is not touched, blocks, and the clearing of
 * PortStateChange wait for nothing. (IBA 14.3.6: a port that is not Active
 * carries no data, so a table that is half written behind a link in Init
 * or Armed harms nobody.)
 *
 * Blocks of forwarding tables go out in turns. An agent writes one after the
 * other, and what it cannot take yet waits in a buffer that is small and drops
 * (VL15 has no flow control, IBA 7.9). So many switches are written at a time,
 * each with a few blocks under way: a block that is over gives its turn to the
 * next one of its switch, or to a switch that has not begun.
 */
#include "sm/sweep/program_order.h"

#include <string.h>

#define LANE_BLOCKS	8u	/* of one switch under way at a time */
#define LANES		32u	/* switches that are written at a time */
#define NO_STEP		UINT32_MAX

struct progress {		/* of a switch */
	uint32_t steps_left;	/* blocks, and the clearing of the change */
	uint32_t switch_step;	/* PLAN_SWITCH or NO_STEP */
	uint32_t next_block, end_block;	/* its PLAN_LFT steps not sent yet */
	uint32_t turns;		/* to send a block: given so far */
	bool failed;
	bool routed;
};

struct port_progress {
	uint32_t arm, activate;	/* step or NO_STEP */
	uint32_t guarded;	/* likewise: it enforces partitions, so it
				   waits for tables */
	uint32_t tables_left;	/* blocks that are not written yet */
	bool table_failed;
	bool opened;		/* the cable: its ends may be armed */
	bool armed;		/* nothing left to arm */
	bool raised;		/* its activation is sent */
};

struct program_order {
	const struct snapshot *s;
	const struct desired *w;
	const struct plan *plan;
	struct progress *switches;	/* by switch index */
	struct port_progress *ports;
	GArray *ready; /* of struct program_order_action, from head */
	guint head;
	GArray *turns;			/* of switch index, from turn on */
	guint turn;
	uint32_t opening;		/* the switch that gets new turns */
	bool looked_back;
};

static struct progress *
progress_of(struct program_order *o, uint32_t node)
{
	return &o->switches[o->s->nodes[node].sw_index];
}

void program_order_add(struct program_order *o, enum program_order_act act,
		       uint32_t what)
{
	struct program_order_action a = { .what = what, .act = act };

	g_array_append_val(o->ready, a);
}

static void
add_step(struct program_order *o, uint32_t step)
{
	if (step != NO_STEP)
		program_order_add(o, PROGRAM_ORDER_STEP, step);
}

/* Links: arm, then activate. */

static bool
end_is_routed(struct program_order *o, uint32_t port)
{
	uint32_t node = o->s->ports[port].node;

	return !snapshot_is_switch(&o->s->nodes[node]) ||
		progress_of(o, node)->routed;
}

static void
link_activate(struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;

	if (!o->ports[port].armed || !o->ports[peer].armed)
		return;
	add_step(o, o->ports[port].activate);
	if (peer != port)
		add_step(o, o->ports[peer].activate);
}

static void
link_arm(struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;
	struct port_progress *a = &o->ports[port], *b = &o->ports[peer];

	a->armed = a->arm == NO_STEP;
	b->armed = b->arm == NO_STEP;
	add_step(o, a->arm);
	if (peer != port)
		add_step(o, b->arm);
	link_activate(o, port);
}

static bool
table_written(const struct port_progress *p)
{
	return !p->tables_left && !p->table_failed;
}

static bool
tables_written(const struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;

	return table_written(&o->ports[port]) &&
		(peer == SNAPSHOT_NONE || table_written(&o->ports[peer]));
}

/* Called at whatever it may have waited for; the lower port speaks for the
 * cable. */
static void
link_try(struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;
	struct port_progress *first;

	if (peer == SNAPSHOT_NONE)
		return;
	first = &o->ports[MIN(port, peer)];
	if (first->opened || !end_is_routed(o, port) ||
	    !end_is_routed(o, peer) || !tables_written(o, port))
		return;
	first->opened = true;
	link_arm(o, port);
}

/* A switch that enforces partitions by a table that is not written yet would
 * drop what may pass. */
static void
guarded_try(struct program_order *o, uint32_t port)
{
	if (o->ports[port].guarded == NO_STEP || !tables_written(o, port))
		return;
	add_step(o, o->ports[port].guarded);
	o->ports[port].guarded = NO_STEP;
}

static void
table_settled(struct program_order *o, uint32_t port, bool well)
{
	uint32_t peer = o->s->ports[port].peer;

	if (!well)
		o->ports[port].table_failed = true;
	if (--o->ports[port].tables_left)
		return;
	link_try(o, port);
	guarded_try(o, port);
	if (peer != SNAPSHOT_NONE)
		guarded_try(o, peer);
}

/* Switches: blocks, SwitchInfo, then their links. */

static void
switch_routed(struct program_order *o, uint32_t node)
{
	const struct snapshot_node *n = &o->s->nodes[node];

	progress_of(o, node)->routed = true;
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		link_try(o, n->first_port + num);
}

static void
switch_step_over(struct program_order *o, uint32_t node)
{
	struct progress *g = progress_of(o, node);

	if (--g->steps_left || g->failed)
		return;
	if (g->switch_step != NO_STEP)
		add_step(o, g->switch_step);
	else
		switch_routed(o, node);
}

static void
give_turn(struct program_order *o)
{
	while (o->opening < o->s->n_switches) {
		struct progress *g = &o->switches[o->opening];

		if (g->turns < LANE_BLOCKS &&
		    g->next_block + g->turns < g->end_block) {
			g->turns++;
			g_array_append_val(o->turns, o->opening);
			return;
		}
		o->opening++;
	}
}

static void
block_over(struct program_order *o, uint32_t node, bool well)
{
	uint32_t sw = o->s->nodes[node].sw_index;
	struct progress *g = &o->switches[sw];

	if (!well) {
		g->failed = true;
		g->next_block = g->end_block;
	}
	if (g->next_block < g->end_block)
		g_array_append_val(o->turns, sw);
	else
		give_turn(o);
	switch_step_over(o, node);
}

void
program_order_settle(struct program_order *o, uint32_t index, bool well)
{
	const struct plan_step *step = &o->plan->steps[index];

	switch ((enum plan_kind)step->kind) {
	case PLAN_LFT:
		block_over(o, step->node, well);
		break;
	case PLAN_TABLE:
		table_settled(o, step->port, well);
		break;
	case PLAN_CHANGE_CLEAR:
		switch_step_over(o, step->node);
		break;
	case PLAN_SWITCH:
		if (well)
			switch_routed(o, step->node);
		break;
	case PLAN_ARM:
		if (!well)
			break;
		o->ports[step->port].armed = true;
		link_activate(o, step->port);
		break;
	case PLAN_PORT:
	case PLAN_ACTIVATE:
	case PLAN_N_KINDS:
		break;
	}
}

/* Looks. */

void
program_order_look_again(struct program_order *o, uint32_t node)
{
	const struct snapshot_node *n = &o->s->nodes[node];

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;
		const struct port_progress *p = &o->ports[port];

		if (p->activate == NO_STEP || p->raised)
			program_order_add(o, PROGRAM_ORDER_LOOK, port);
	}
}

bool
program_order_look_back(struct program_order *o)
{
	if (o->looked_back)
		return false;
	o->looked_back = true;
	for (uint32_t port = 0; port < o->s->n_ports; port++)
		if (o->ports[port].activate != NO_STEP &&
		    !o->ports[port].raised)
			program_order_add(o, PROGRAM_ORDER_LOOK, port);
	return o->ready->len > o->head;
}

/* What goes out next. */

static bool
take_ready(struct program_order *o, struct program_order_action *a)
{
	const struct plan_step *step;

	if (o->head == o->ready->len)
		return false;
	*a = g_array_index(o->ready, struct program_order_action, o->head++);
	if (o->head == o->ready->len) {
		g_array_set_size(o->ready, 0);
		o->head = 0;
	}
	if (a->act == PROGRAM_ORDER_STEP) {
		step = &o->plan->steps[a->what];
		if (step->kind == PLAN_ACTIVATE)
			o->ports[step->port].raised = true;
	}
	return true;
}

/* Links first: they finish what is begun, and tables of other switches can
 * go out while their answers are on the way. */
bool
program_order_next(struct program_order *o, struct program_order_action *a)
{
	if (take_ready(o, a))
		return true;
	while (o->turn < o->turns->len) {
		uint32_t sw = g_array_index(o->turns, uint32_t, o->turn++);
		struct progress *g = &o->switches[sw];

		if (o->turn == o->turns->len) {
			g_array_set_size(o->turns, 0);
			o->turn = 0;
		}
		if (g->next_block < g->end_block) {
			a->act = PROGRAM_ORDER_STEP;
			a->what = g->next_block++;
			return true;
		}
		give_turn(o);
	}
	return false;
}

/* The beginning. */

static void
index_ports(struct program_order *o)
{
	const struct plan *plan = o->plan;

	for (uint32_t port = 0; port < o->s->n_ports; port++)
		o->ports[port] = (struct port_progress){
			.arm = NO_STEP, .activate = NO_STEP,
			.guarded = NO_STEP,
		};
	for (uint32_t i = plan->first[PLAN_TABLE];
	     i < plan->first[PLAN_TABLE + 1]; i++)
		o->ports[plan->steps[i].port].tables_left++;
	for (uint32_t i = plan->first[PLAN_ARM]; i < plan->first[PLAN_ARM + 1];
	     i++)
		o->ports[plan->steps[i].port].arm = i;
	for (uint32_t i = plan->first[PLAN_ACTIVATE];
	     i < plan->first[PLAN_ACTIVATE + 1]; i++)
		o->ports[plan->steps[i].port].activate = i;
}

static void
index_switches(struct program_order *o)
{
	const struct plan *plan = o->plan;

	for (uint32_t i = 0; i < o->s->n_switches; i++)
		o->switches[i].switch_step = NO_STEP;
	for (uint32_t i = plan->first[PLAN_LFT]; i < plan->first[PLAN_LFT + 1];
	     i++) {
		struct progress *g = progress_of(o, plan->steps[i].node);

		if (!g->steps_left++)
			g->next_block = i;
		g->end_block = i + 1;
	}
	for (uint32_t i = plan->first[PLAN_CHANGE_CLEAR];
	     i < plan->first[PLAN_CHANGE_CLEAR + 1]; i++)
		progress_of(o, plan->steps[i].node)->steps_left++;
	for (uint32_t i = plan->first[PLAN_SWITCH];
	     i < plan->first[PLAN_SWITCH + 1]; i++)
		progress_of(o, plan->steps[i].node)->switch_step = i;
}

/* Enforcement that is switched on waits, if there are tables to wait for. */
static void
add_port(struct program_order *o, uint32_t index)
{
	const struct plan_step *step = &o->plan->steps[index];

	if (!(step->fields & PORT_FIELD_ENFORCE) ||
	    !o->w->enforce[step->port]) {
		add_step(o, index);
		return;
	}
	o->ports[step->port].guarded = index;
	guarded_try(o, step->port);
}

static void
add_kind(struct program_order *o, enum plan_kind kind)
{
	for (uint32_t i = o->plan->first[kind]; i < o->plan->first[kind + 1];
	     i++)
		add_step(o, i);
}

/* What waits for nothing. */
static void
begin(struct program_order *o)
{
	const struct plan *plan = o->plan;

	for (unsigned i = 0; i < LANES * LANE_BLOCKS; i++)
		give_turn(o);
	add_kind(o, PLAN_CHANGE_CLEAR);
	for (uint32_t i = plan->first[PLAN_PORT];
	     i < plan->first[PLAN_PORT + 1]; i++)
		add_port(o, i);
	add_kind(o, PLAN_TABLE);
	for (uint32_t i = 0; i < o->s->n_switches; i++) {
		if (o->switches[i].steps_left)
			continue;
		o->switches[i].steps_left = 1;
		switch_step_over(o, o->s->switches[i]);
	}
	/* Cables without a switch at either end: back to back. */
	for (uint32_t port = 0; port < o->s->n_ports; port++)
		link_try(o, port);
}

struct program_order *
program_order_new(const struct snapshot *s, const struct desired *w,
	  const struct plan *plan)
{
	struct program_order *o = g_new0(struct program_order, 1);

	o->s = s;
	o->w = w;
	o->plan = plan;
	o->switches = g_new0(struct progress, s->n_switches);
	o->ports = g_new(struct port_progress, s->n_ports);
	o->ready =
		g_array_new(FALSE, FALSE, sizeof(struct program_order_action));
	o->turns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	index_ports(o);
	index_switches(o);
	begin(o);
	return o;
}

void
program_order_free(struct program_order *o)
{
	if (!o)
		return;
	g_array_unref(o->ready);
	g_array_unref(o->turns);
	g_free(o->switches);
	g_free(o->ports);
	g_free(o);
}
