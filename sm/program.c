/*
 * Programming.
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
 * After a PortStateChange was cleared, the ports of that switch are looked at
 * once more, but for those that are about to be activated and tell then: a
 * change between our first look and the clearing would otherwise be lost for
 * ever.
 *
 * Who was silent is not asked again, nor who is behind it (sm/silent.h).
 *
 * The answer to a Set holds the attribute as it is then, which is compared
 * with what was sent. A port that acknowledges a field and does not take it is
 * reported as having forgotten it, once.
 */
#include "sm/program.h"

#include <string.h>

#include "sm/silent.h"
#include "sm/step.h"
#include "sm/wire/smp_table.h"

#define PROBLEMS_MAX	1000u	/* lines; what is beyond is only counted */
#define LANE_BLOCKS	8u	/* of one switch under way at a time */
#define LANES		32u	/* switches that are written at a time */
#define NO_STEP		UINT32_MAX

/* What is sent: a step of the plan, or a look at a port. */
enum act {
	ACT_STEP,		/* what = step */
	ACT_LOOK,		/* what = port: has it changed since? */
	ACT_LOOK_STATE,		/* what = step: did the state change happen? */
};

struct action {
	uint32_t what;
	uint8_t act;
};

struct progress {		/* of a switch */
	uint32_t steps_left;	/* blocks, and the clearing of the change */
	uint32_t switch_step;	/* PLAN_SWITCH or NO_STEP */
	uint32_t next_block, end_block;	/* its PLAN_LFT steps not sent yet */
	uint32_t turns;		/* to send a block: given so far */
	bool failed;
	bool routed;
};

struct port_progress {
	uint32_t tables_left;	/* blocks that are not written yet */
	bool table_failed;
	bool opened;		/* the cable: its ends may be armed */
};

struct program {
	struct xact *x;
	const struct keyring *keys;
	const struct subnet *before;
	const struct wanted *w;
	const struct plan *plan;
	struct lft_seen *seen;
	struct port_tables *held;
	program_done_fn done;
	void *data;
	struct program_result r;
	struct progress *switches;	/* by switch index */
	uint32_t *arm, *activate;	/* by port: step or NO_STEP */
	uint32_t *guarded;		/* likewise: it enforces partitions,
					   so it waits for tables */
	struct port_progress *ports;
	struct silent *silent;
	uint8_t *armed;			/* by port: nothing left to arm */
	uint8_t *raised;		/* by port: its activation is sent */
	GArray *ready;			/* of struct action, from head on */
	guint head;
	GArray *turns;			/* of switch index, from turn on */
	guint turn;
	uint32_t opening;		/* the switch that gets new turns */
	uint32_t settled;		/* steps that are over */
	unsigned in_flight;
	unsigned timer;			/* until the first action */
	char text[160];			/* scratch for place() */
};

static void pump(void *data);

static void
problem(struct program *p, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
problem(struct program *p, const char *format, ...)
{
	va_list args;

	if (p->r.problems->len >= PROBLEMS_MAX)
		return;
	va_start(args, format);
	g_ptr_array_add(p->r.problems, g_strdup_vprintf(format, args));
	va_end(args);
}

static const char *
place(struct program *p, uint32_t node, uint32_t port)
{
	const struct subnet_node *n = &p->before->nodes[node];
	int len = g_snprintf(p->text, sizeof(p->text),
			     "%s (0x%016" G_GINT64_MODIFIER "x)", n->desc,
			     n->info.node_guid);

	if (port != SUBNET_NONE)
		g_snprintf(p->text + len, sizeof(p->text) - len, " port %u",
			   p->before->ports[port].num);
	return p->text;
}

static const char *
step_place(struct program *p, const struct plan_step *step)
{
	return place(p, step->node,
		     step->port);
}

static const char *
step_name(const struct plan_step *step)
{
	return step->kind == PLAN_TABLE ? port_table_name(step->table) :
		plan_kind_name(step->kind);
}

static struct progress *
progress_of(struct program *p, uint32_t node)
{
	return &p->switches[p->before->nodes[node].sw_index];
}

static void
push(struct program *p, enum act act, uint32_t what)
{
	struct action a = { .what = what, .act = act };

	g_array_append_val(p->ready, a);
}

/*
 * Level 1 answers every Get and hides the M_Key; a key that is wrong shows only
 * by the silence after a Set (IBA 14.2.4.1). It is the same for all that has
 * that key, so nothing more is sent there.
 */

static uint32_t
holder_of(const struct program *p, uint32_t port)
{
	const struct subnet_node *n = subnet_node_of(p->before, port);

	return subnet_is_switch(n) ? n->first_port : port;
}

static bool
hides_key(const struct program *p, uint32_t holder)
{
	return keyring_is_hidden(&p->before->ports[holder].info);
}

static bool
is_locked(const struct program *p, uint32_t holder)
{
	uint64_t guid = p->before->ports[holder].guid;

	for (guint i = 0; i < p->r.locked->len; i++)
		if (g_array_index(p->r.locked, uint64_t, i) == guid)
			return true;
	return false;
}

static void
lock(struct program *p, uint32_t holder)
{
	uint64_t guid = p->before->ports[holder].guid;

	g_array_append_val(p->r.locked, guid);
	problem(p, "%s does not obey: its M_Key is not ours",
		place(p, p->before->ports[holder].node, holder));
}

/* Links: arm, then activate. */

static bool
end_is_routed(struct program *p, uint32_t port)
{
	uint32_t node = p->before->ports[port].node;

	return !subnet_is_switch(&p->before->nodes[node]) ||
		progress_of(p, node)->routed;
}

static void
link_activate(struct program *p, uint32_t port)
{
	uint32_t peer = p->before->ports[port].peer;

	if (!p->armed[port] || !p->armed[peer])
		return;
	if (p->activate[port] != NO_STEP)
		push(p, ACT_STEP, p->activate[port]);
	if (peer != port && p->activate[peer] != NO_STEP)
		push(p, ACT_STEP, p->activate[peer]);
}

static void
link_arm(struct program *p, uint32_t port)
{
	uint32_t peer = p->before->ports[port].peer;

	p->armed[port] = p->arm[port] == NO_STEP;
	p->armed[peer] = p->arm[peer] == NO_STEP;
	if (p->arm[port] != NO_STEP)
		push(p, ACT_STEP, p->arm[port]);
	if (peer != port && p->arm[peer] != NO_STEP)
		push(p, ACT_STEP, p->arm[peer]);
	link_activate(p, port);
}

static bool
tables_written(const struct program *p, uint32_t port)
{
	uint32_t peer = p->before->ports[port].peer;
	const struct port_progress *a = &p->ports[port];
	const struct port_progress *b = peer == SUBNET_NONE ? a :
		&p->ports[peer];

	return !a->tables_left && !a->table_failed && !b->tables_left &&
		!b->table_failed;
}

/* Called at whatever it may have waited for; the lower port speaks for the
 * cable. */
static void
link_try(struct program *p, uint32_t port)
{
	uint32_t peer = p->before->ports[port].peer;
	struct port_progress *first;

	if (peer == SUBNET_NONE)
		return;
	first = &p->ports[MIN(port, peer)];
	if (first->opened || !end_is_routed(p, port) ||
	    !end_is_routed(p, peer) || !tables_written(p, port))
		return;
	first->opened = true;
	link_arm(p, port);
}

/* A switch that enforces partitions by a table that is not written yet would
 * drop what may pass. */
static void
guarded_try(struct program *p, uint32_t port)
{
	if (p->guarded[port] == NO_STEP || !tables_written(p, port))
		return;
	push(p, ACT_STEP, p->guarded[port]);
	p->guarded[port] = NO_STEP;
}

static void
table_settled(struct program *p, uint32_t port, bool well)
{
	uint32_t peer = p->before->ports[port].peer;

	if (!well)
		p->ports[port].table_failed = true;
	if (--p->ports[port].tables_left)
		return;
	link_try(p, port);
	guarded_try(p, port);
	if (peer != SUBNET_NONE)
		guarded_try(p, peer);
}

static void
switch_routed(struct program *p, uint32_t node)
{
	const struct subnet_node *n = &p->before->nodes[node];

	progress_of(p, node)->routed = true;
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		link_try(p, n->first_port + num);
}

static void
switch_blocks_done(struct program *p, uint32_t node)
{
	struct progress *g = progress_of(p, node);

	if (g->failed)
		return;
	if (g->switch_step != NO_STEP)
		push(p, ACT_STEP, g->switch_step);
	else
		switch_routed(p, node);
}

/*
 * Blocks. An agent writes one after the other, and what it cannot take yet
 * waits in a buffer that is small and drops (VL15 has no flow control, IBA
 * 7.9). So many switches are written at a time, each with a few blocks under
 * way: a block that is over gives its turn to the next one of its switch, or
 * to a switch that has not begun.
 */
static void
give_turn(struct program *p)
{
	while (p->opening < p->before->n_switches) {
		struct progress *g = &p->switches[p->opening];

		if (g->turns < LANE_BLOCKS &&
		    g->next_block + g->turns < g->end_block) {
			g->turns++;
			g_array_append_val(p->turns, p->opening);
			return;
		}
		p->opening++;
	}
}

static void
pass_turn(struct program *p, uint32_t sw)
{
	const struct progress *g = &p->switches[sw];

	if (g->next_block < g->end_block)
		g_array_append_val(p->turns, sw);
	else
		give_turn(p);
}

/* After a step of any outcome: what it held back, if it went well. */
static void
settle(struct program *p, uint32_t index, bool well)
{
	const struct plan_step *step = &p->plan->steps[index];
	struct progress *g;

	p->settled++;
	if (well)
		p->r.done++;
	else
		p->r.failed++;
	switch ((enum plan_kind)step->kind) {
	case PLAN_LFT:
		g = progress_of(p, step->node);
		if (!well) {
			g->failed = true;
			g->next_block = g->end_block;
		}
		pass_turn(p, p->before->nodes[step->node].sw_index);
		if (--g->steps_left == 0)
			switch_blocks_done(p, step->node);
		break;
	case PLAN_TABLE:
		table_settled(p, step->port, well);
		break;
	case PLAN_CHANGE_CLEAR:
		g = progress_of(p, step->node);
		if (--g->steps_left == 0)
			switch_blocks_done(p, step->node);
		break;
	case PLAN_SWITCH:
		if (well)
			switch_routed(p, step->node);
		break;
	case PLAN_ARM:
		if (well) {
			p->armed[step->port] = true;
			link_activate(p, step->port);
		}
		break;
	case PLAN_PORT:
	case PLAN_ACTIVATE:
	case PLAN_N_KINDS:
		break;
	}
}

/* Answers. */

static void
learn_forgotten(struct program *p, const struct plan_step *step,
		const struct port_info *answer)
{
	struct port_info wanted;

	wanted_port(p->before, p->w, step->port, &wanted);
	p->r.forgot[step->port] |=
		port_fields_differ(&wanted, answer, step->fields);
}

static void
on_port(struct program *p, uint32_t index, const struct port_info *answer)
{
	const struct plan_step *step = &p->plan->steps[index];
	unsigned state = step_state(step);

	p->r.after->ports[step->port].info = *answer;
	learn_forgotten(p, step, answer);
	if (answer->state >= state) {
		settle(p, index, true);
		return;
	}
	if (answer->state == PORT_STATE_DOWN) {
		p->r.changed = true;
		problem(p, "%s went down", step_place(p, step));
	} else {
		problem(p, "%s stays in %s, %s was asked for",
			step_place(p, step), port_state_name(answer->state),
			port_state_name(state));
	}
	settle(p, index, false);
}

/* A change between the first look and now? */
static void
on_look(struct program *p, uint32_t port, const struct port_info *answer)
{
	bool was_up = p->before->ports[port].info.state != PORT_STATE_DOWN;
	bool is_up = answer->state != PORT_STATE_DOWN;

	if (was_up != is_up)
		p->r.changed = true;
}

/* A port that is still to be activated tells by the answer to that. */
static void
look_again(struct program *p, uint32_t port)
{
	if (p->activate[port] == NO_STEP || p->raised[port])
		push(p, ACT_LOOK, port);
}

static void
on_switch(struct program *p, uint32_t index, const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	const struct subnet_node *n = &p->before->nodes[step->node];
	struct switch_info wanted, answer;

	wanted_switch(p->before, p->w, step->node, &wanted);
	switch_info_decode(data, &answer);
	p->r.after->nodes[step->node].sw = answer;
	if (step->kind == PLAN_CHANGE_CLEAR) {
		for (unsigned num = 1; num <= n->info.num_ports; num++)
			look_again(p, n->first_port + num);
		settle(p, index, true);
		return;
	}
	if (switch_fields_differ(&wanted, &answer, step->fields &
				 SWITCH_FIELD_TOP)) {
		problem(p, "%s: LinearFDBTop stays %u, %u was asked for",
			step_place(p, step), answer.linear_fdb_top,
			wanted.linear_fdb_top);
		settle(p, index, false);
		return;
	}
	settle(p, index, true);
}

static void
on_lft(struct program *p, uint32_t index, const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	uint32_t sw = p->before->nodes[step->node].sw_index;
	const uint8_t *wanted = lft_row(p->w->lft, sw) +
		(size_t)step->block * LFT_BLOCK;
	bool well = memcmp(wanted, data, LFT_BLOCK) == 0;

	lft_seen_set(p->seen, sw, step->block, data);
	if (!well)
		problem(p, "%s: forwarding table block %u was acknowledged "
			"and holds something else", step_place(p, step),
			step->block);
	settle(p, index, well);
}

static void
on_table(struct program *p, uint32_t index, const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	const union port_block *wanted = port_tables_get(p->w->tables,
		step->table, step->port, step->block);
	union port_block answer;
	bool well;

	smp_table_decode(step->table, data, &answer);
	well = memcmp(wanted, &answer, sizeof(answer)) == 0;
	port_tables_set(p->held, step->table, step->port, step->block,
			&answer);
	if (!well)
		problem(p, "%s: block %u of its %s was acknowledged and holds "
			"something else", step_place(p, step), step->block,
			port_table_name(step->table));
	settle(p, index, well);
}

static void
on_step(struct program *p, uint32_t index, const uint8_t *data)
{
	struct port_info info;

	switch ((enum plan_kind)p->plan->steps[index].kind) {
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		port_info_decode(data, &info);
		/* Some devices answer before the state has changed. */
		if (info.state < step_state(&p->plan->steps[index]) &&
		    info.state != PORT_STATE_DOWN)
			push(p, ACT_LOOK_STATE, index);
		else
			on_port(p, index, &info);
		break;
	case PLAN_CHANGE_CLEAR:
	case PLAN_SWITCH:
		on_switch(p, index, data);
		break;
	case PLAN_LFT:
		on_lft(p, index, data);
		break;
	case PLAN_TABLE:
		on_table(p, index, data);
		break;
	case PLAN_N_KINDS:
		g_assert_not_reached();
	}
}

static void
on_refused(struct program *p, uint32_t index, unsigned status)
{
	const struct plan_step *step = &p->plan->steps[index];

	/* The other end may have pulled this one to Active already, and then
	 * a Set to Active is refused (IBA 14.3.6): look before complaining. */
	if (step_state(step) != PORT_STATE_NOP &&
	    status == MAD_STATUS_BAD_VALUE) {
		push(p, ACT_LOOK_STATE, index);
		return;
	}
	problem(p, "%s refuses %s: %s", step_place(p, step),
		step_name(step), mad_status_name(status));
	settle(p, index, false);
}

static void
on_silence(struct program *p, const struct action *a)
{
	const struct plan_step *step;
	uint32_t holder;

	if (a->act == ACT_LOOK) {
		p->r.changed = true;
		return;
	}
	step = &p->plan->steps[a->what];
	holder = holder_of(p, step_target(p->before, step));
	if (hides_key(p, holder)) {
		if (!is_locked(p, holder))
			lock(p, holder);
	} else {
		silent_add(p->silent, step_target(p->before, step));
		problem(p, "%s does not answer (%s)", step_place(p, step),
			step_name(step));
	}
	settle(p, a->what, false);
}

static void
on_answer(struct program *p, const struct action *a,
	  const struct xact_answer *answer)
{
	const uint8_t *data = smp_data_const(answer->mad);
	unsigned status = answer->header.status;
	struct port_info info;

	switch ((enum act)a->act) {
	case ACT_STEP:
		if (status)
			on_refused(p, a->what, status);
		else
			on_step(p, a->what, data);
		break;
	case ACT_LOOK:
		port_info_decode(data, &info);
		if (!status)
			on_look(p, a->what, &info);
		break;
	case ACT_LOOK_STATE:
		port_info_decode(data, &info);
		on_port(p, a->what, &info);
		break;
	}
}

static void
on_done(const struct xact_answer *answer, void *data, uint64_t tag)
{
	struct program *p = data;
	struct action a = { .act = tag >> 32, .what = (uint32_t)tag };

	p->in_flight--;
	silent_over(p->silent, tag);
	if (answer->outcome == XACT_TIMED_OUT)
		on_silence(p, &a);
	else
		on_answer(p, &a, answer);
	pump(p);
}

static void
on_lost(void *data, uint64_t tag)
{
	struct program *p = data;

	p->in_flight--;
	if (tag >> 32 == ACT_LOOK)
		p->r.changed = true;
	else
		settle(p, (uint32_t)tag, false);
}

/* Sending. */

static void
send_action(struct program *p, const struct action *a)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct plan_step *step = a->act == ACT_LOOK ? NULL :
		&p->plan->steps[a->what];
	uint32_t target = step ? step_target(p->before, step) : a->what;
	bool set = a->act == ACT_STEP;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;
	uint64_t tag;
	uint32_t id;
	uint32_t mod = step ? step_attr_mod(p->before, step) :
		p->before->ports[target].num;

	if (silent_covers(p->silent, target) || (p->r.locked->len &&
	    is_locked(p, holder_of(p, target)))) {
		if (step)
			settle(p, a->what, false);
		return;
	}
	if (!subnet_path(p->before, target, &path)) {
		/* Too far for a directed route. */
		if (step) {
			problem(p, "%s cannot be reached",
				step_place(p, step));
			settle(p, a->what, false);
		}
		return;
	}
	smp_build_direct(mad, set ? MAD_METHOD_SET : MAD_METHOD_GET,
			 step ? step_attr(step) : MAD_ATTR_PORT_INFO, mod,
			 keyring_at(p->keys, p->before, target), &path);
	if (set)
		step_encode(p->before, p->w, step, smp_data(mad));
	if (set && step->kind == PLAN_ACTIVATE)
		p->raised[step->port] = true;
	p->in_flight++;
	tag = (uint64_t)a->act << 32 | a->what;
	id = xact_start(p->x, &direct, mad, on_done, p, tag);
	silent_asked(p->silent, target, id, tag);
}

static void
program_free(struct program *p)
{
	xact_set_pump(p->x, NULL, NULL);
	if (p->timer)
		transport_timer_cancel(xact_transport(p->x), p->timer);
	program_result_clear(&p->r);
	g_array_unref(p->ready);
	g_array_unref(p->turns);
	g_free(p->switches);
	g_free(p->arm);
	g_free(p->activate);
	g_free(p->guarded);
	silent_free(p->silent);
	g_free(p->ports);
	g_free(p->armed);
	g_free(p->raised);
	g_free(p);
}

static void
finish(struct program *p)
{
	struct program_result r = p->r;
	program_done_fn done = p->done;
	void *data = p->data;

	r.held_back = p->plan->n_steps - p->settled;
	p->r = (struct program_result){ 0 };
	program_free(p);
	done(&r, data);
}

/* Links first: they finish what is begun, and tables of other switches can
 * go out while their answers are on the way. */
static bool
next_action(struct program *p, struct action *a)
{
	if (p->head < p->ready->len) {
		*a = g_array_index(p->ready, struct action, p->head++);
		if (p->head == p->ready->len) {
			g_array_set_size(p->ready, 0);
			p->head = 0;
		}
		return true;
	}
	while (p->turn < p->turns->len) {
		uint32_t sw = g_array_index(p->turns, uint32_t, p->turn++);
		struct progress *g = &p->switches[sw];

		if (p->turn == p->turns->len) {
			g_array_set_size(p->turns, 0);
			p->turn = 0;
		}
		if (g->next_block < g->end_block) {
			a->act = ACT_STEP;
			a->what = g->next_block++;
			return true;
		}
		give_turn(p);
	}
	return false;
}

static void
pump(void *data)
{
	struct program *p = data;
	struct action a;

	while (xact_room(p->x) && next_action(p, &a))
		send_action(p, &a);
	if (!p->in_flight && !p->timer && p->head == p->ready->len &&
	    p->turn == p->turns->len)
		finish(p);
}

static void
on_start(void *data)
{
	struct program *p = data;

	p->timer = 0;
	pump(p);
}

static uint32_t *
steps_by_port(const struct subnet *s, const struct plan *plan,
	      enum plan_kind kind)
{
	uint32_t *by_port = g_new(uint32_t, s->n_ports);

	memset(by_port, 0xff, sizeof(*by_port) * s->n_ports);
	for (uint32_t i = plan->first[kind]; i < plan->first[kind + 1]; i++)
		by_port[plan->steps[i].port] = i;
	return by_port;
}

static void
index_steps(struct program *p)
{
	const struct plan *plan = p->plan;

	p->arm = steps_by_port(p->before, plan, PLAN_ARM);
	p->activate = steps_by_port(p->before, plan, PLAN_ACTIVATE);
	p->guarded = g_new(uint32_t, p->before->n_ports);
	memset(p->guarded, 0xff, sizeof(*p->guarded) * p->before->n_ports);
	p->silent = silent_new(p->x, p->before, on_lost, p);
	p->ports = g_new0(struct port_progress, p->before->n_ports);
	for (uint32_t i = plan->first[PLAN_TABLE];
	     i < plan->first[PLAN_TABLE + 1]; i++)
		p->ports[plan->steps[i].port].tables_left++;
	p->armed = g_new0(uint8_t, p->before->n_ports);
	p->raised = g_new0(uint8_t, p->before->n_ports);
	p->switches = g_new0(struct progress, p->before->n_switches);
	for (uint32_t i = 0; i < p->before->n_switches; i++)
		p->switches[i].switch_step = NO_STEP;
	for (uint32_t i = plan->first[PLAN_LFT]; i < plan->first[PLAN_LFT + 1];
	     i++) {
		struct progress *g = progress_of(p, plan->steps[i].node);

		if (!g->steps_left++)
			g->next_block = i;
		g->end_block = i + 1;
	}
	for (uint32_t i = plan->first[PLAN_CHANGE_CLEAR];
	     i < plan->first[PLAN_CHANGE_CLEAR + 1]; i++)
		progress_of(p, plan->steps[i].node)->steps_left++;
	for (uint32_t i = plan->first[PLAN_SWITCH];
	     i < plan->first[PLAN_SWITCH + 1]; i++)
		progress_of(p, plan->steps[i].node)->switch_step = i;
}

/* Enforcement that is switched on waits, if the port has tables to wait for. */
static void
push_port(struct program *p, uint32_t index)
{
	const struct plan_step *step = &p->plan->steps[index];

	if (!(step->fields & PORT_FIELD_ENFORCE) ||
	    !p->w->enforce[step->port]) {
		push(p, ACT_STEP, index);
		return;
	}
	p->guarded[step->port] = index;
	guarded_try(p, step->port);
}

/* What waits for nothing. */
static void
push_first(struct program *p)
{
	const struct subnet *s = p->before;
	const struct plan *plan = p->plan;

	for (uint32_t i = plan->first[PLAN_CHANGE_CLEAR];
	     i < plan->first[PLAN_CHANGE_CLEAR + 1]; i++)
		push(p, ACT_STEP, i);
	for (uint32_t i = plan->first[PLAN_PORT];
	     i < plan->first[PLAN_PORT + 1]; i++)
		push_port(p, i);
	for (uint32_t i = plan->first[PLAN_TABLE];
	     i < plan->first[PLAN_TABLE + 1]; i++)
		push(p, ACT_STEP, i);
	for (uint32_t i = 0; i < s->n_switches; i++)
		if (!p->switches[i].steps_left)
			switch_blocks_done(p, s->switches[i]);
	/* Cables without a switch at either end: back to back. */
	for (uint32_t port = 0; port < s->n_ports; port++)
		link_try(p, port);
}

struct program *
program_start(struct xact *x, const struct keyring *keys,
	      const struct subnet *before, const struct wanted *w,
	      const struct plan *plan,
	      struct lft_seen *seen, struct port_tables *held,
	      program_done_fn done, void *data)
{
	struct program *p = g_new0(struct program, 1);

	p->x = x;
	p->keys = keys;
	p->before = before;
	p->w = w;
	p->plan = plan;
	p->seen = seen;
	p->held = held;
	p->done = done;
	p->data = data;
	p->r.after = subnet_copy(before);
	p->r.forgot = g_new0(uint32_t, before->n_ports);
	p->r.locked = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	p->r.problems = g_ptr_array_new_with_free_func(g_free);
	p->ready = g_array_new(FALSE, FALSE, sizeof(struct action));
	p->turns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	index_steps(p);
	for (unsigned i = 0; i < LANES * LANE_BLOCKS; i++)
		give_turn(p);
	push_first(p);
	xact_set_pump(x, pump, p);
	/* From the loop, so that `done` never comes from in here. */
	p->timer = transport_timer_start(xact_transport(x), 0, on_start, p);
	return p;
}

void
program_cancel(struct program *p)
{
	xact_cancel_owner(p->x, p);
	program_free(p);
}

void
program_result_clear(struct program_result *r)
{
	if (r->after)
		subnet_unref(r->after);
	g_free(r->forgot);
	if (r->locked)
		g_array_unref(r->locked);
	if (r->problems)
		g_ptr_array_unref(r->problems);
	*r = (struct program_result){ 0 };
}
