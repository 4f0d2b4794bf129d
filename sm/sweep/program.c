// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming: the plan goes out, and what comes back is compared.
 *
 * Which step may go out when is the business of sm/sweep/program_order.c. Here
 * each becomes a Set, and its answer holds the attribute as it is then: the
 * read-back. The fields that a port acknowledges and does not take are
 * reported.
 *
 * Some devices answer a Set of a state before the state has changed, and a
 * port may have been pulled to Active by the other end, which makes our Set to
 * Active a refused one (IBA 14.3.6): in both cases the port is looked at
 * before anybody complains. A refused Set has told the clients of the port
 * nothing, so they are told by another one.
 *
 * Who was silent is not asked again, nor who is behind it
 * (sm/sweep/unreachable.h). At the end the ports that should have become Active
 * and were not asked to are looked at: one that is Down by now is a change that
 * nobody would tell of.
 */
#include "sm/sweep/program.h"

#include <string.h>

#include "sm/sweep/program_order.h"
#include "sm/sweep/unreachable.h"
#include "sm/sweep/program_step.h"
#include "sm/mad/smp.h"

#define PROBLEMS_MAX	1000u	/* lines; what is beyond is only counted */

struct program {
	struct mad_client *x;
	const struct mkey_db *keys;
	const struct snapshot *before;
	const struct desired *w;
	const struct plan *plan;
	struct lft_seen *seen;
	struct port_tables *held;
	program_done_fn done;
	void *data;
	struct program_result r;
	struct program_order *order;
	struct unreachable *silent;
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
	const struct snapshot_node *n = &p->before->nodes[node];
	int len = g_snprintf(p->text, sizeof(p->text),
			     "%s (0x%016" G_GINT64_MODIFIER "x)",
			     snapshot_node_name(n),
			     n->info.node_guid);

	if (port != SNAPSHOT_NONE)
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

/*
 * Level 1 answers every Get and hides the M_Key; a key that is wrong shows only
 * by the silence after a Set (IBA 14.2.4.1). It is the same for all that has
 * that key, so nothing more is sent there.
 */

static bool
hides_key(const struct program *p, uint32_t holder)
{
	return mkey_db_is_hidden(&p->before->ports[holder].info);
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

/*
 * A Set that was sent and not acknowledged may have been done all the same: it
 * is the answer that was lost. What the device holds is not known from now on,
 * and has to be read before anybody relies on it; else a port keeps the P_Keys
 * of rules that were taken back in the meantime.
 */
static void
forget_block(struct program *p, uint32_t index)
{
	const struct plan_step *step = &p->plan->steps[index];

	if (step->kind == PLAN_TABLE)
		port_tables_forget(p->held, step->table, step->port);
	else if (step->kind == PLAN_LFT)
		lft_seen_forget(p->seen, p->before->nodes[step->node].sw_index,
				step->block);
}

/* A step is over, one way or the other. */
static void
settle(struct program *p, uint32_t index, bool well)
{
	p->settled++;
	if (well)
		p->r.done++;
	else
		p->r.failed++;
	program_order_settle(p->order, index, well);
}

/* Answers. */

/* A port is sent some fields twice, on its way to Active: the last answer
 * tells. */
static void
learn_untaken(struct program *p, const struct plan_step *step,
		const struct port_info *answer)
{
	struct port_info wanted;
	unsigned fields = step->fields;

	desired_port(p->before, p->w, step->port, &wanted);
	p->r.untaken[step->port] &= ~fields;
	if (mkey_db_is_hidden(answer))
		fields &= ~(unsigned)PORT_FIELD_M_KEY;
	p->r.untaken[step->port] |=
		port_fields_differ(&wanted, answer, fields);
}

/* A Set that was done has told the clients, too. */
static void
learn_told(struct program *p, const struct plan_step *step)
{
	if (step->fields & PORT_FIELD_REREGISTER)
		p->r.told[step->port] = true;
}

static void
on_port(struct program *p, uint32_t index, const struct port_info *answer)
{
	const struct plan_step *step = &p->plan->steps[index];
	unsigned state = program_step_state(step);

	p->r.after->ports[step->port].info = *answer;
	learn_untaken(p, step, answer);
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

static void
on_switch(struct program *p, uint32_t index, const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	struct switch_info wanted, answer;

	desired_switch(p->before, p->w, step->node, &wanted);
	switch_info_decode(data, &answer);
	p->r.after->nodes[step->node].sw = answer;
	if (step->kind == PLAN_CHANGE_CLEAR) {
		program_order_look_again(p->order, step->node);
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
	/* Unicast does not need it: the links come up. */
	if (switch_fields_differ(&wanted, &answer, step->fields &
				 SWITCH_FIELD_MCAST_TOP))
		problem(p, "%s: MulticastFDBTop stays 0x%04x, 0x%04x was "
			"asked for", step_place(p, step),
			answer.multicast_fdb_top, wanted.multicast_fdb_top);
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
		learn_told(p, &p->plan->steps[index]);
		/* Some devices answer before the state has changed. */
		if (info.state < program_step_state(&p->plan->steps[index]) &&
		    info.state != PORT_STATE_DOWN)
			program_order_add(p->order, PROGRAM_ORDER_LOOK_STATE,
					  index);
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
refused(struct program *p, uint32_t index, unsigned status)
{
	const struct plan_step *step = &p->plan->steps[index];

	forget_block(p, index);
	problem(p, "%s refuses %s: %s", step_place(p, step),
		step_name(step), mad_status_name(status));
	settle(p, index, false);
}

static void
on_refused(struct program *p, uint32_t index, unsigned status)
{
	const struct plan_step *step = &p->plan->steps[index];

	/* It may be these that the port does not like. */
	if (program_step_has_port(step))
		p->r.untaken[step->port] |= step->fields &
			PORT_FIELDS_TRAINING;
	if (program_step_state(step) != PORT_STATE_NOP &&
	    status == MAD_STATUS_BAD_VALUE)
		program_order_add(p->order, PROGRAM_ORDER_LOOK_REFUSED, index);
	else
		refused(p, index, status);
}

/* Refused since it is there already: then only the clients do not know. */
static void
on_refused_state(struct program *p, uint32_t index,
		 const struct port_info *answer)
{
	const struct plan_step *step = &p->plan->steps[index];

	if (step->kind == PLAN_ACTIVATE &&
	    step->fields & PORT_FIELD_REREGISTER &&
	    answer->state >= PORT_STATE_ACTIVE)
		program_order_add(p->order, PROGRAM_ORDER_TELL, index);
	else
		on_port(p, index, answer);
}

static void
on_silence(struct program *p, const struct program_order_action *a)
{
	const struct plan_step *step;
	uint32_t holder;

	if (a->act == PROGRAM_ORDER_LOOK) {
		p->r.changed = true;
		return;
	}
	step = &p->plan->steps[a->what];
	forget_block(p, a->what);
	holder = snapshot_holder_of(p->before,
				    program_step_target(p->before, step));
	if (hides_key(p, holder)) {
		if (!is_locked(p, holder))
			lock(p, holder);
	} else {
		unreachable_add(p->silent,
				program_step_target(p->before, step));
		problem(p, "%s does not answer (%s)", step_place(p, step),
			step_name(step));
	}
	settle(p, a->what, false);
}

static void
on_answer(struct program *p, const struct program_order_action *a,
	  const struct mad_client_answer *answer)
{
	const uint8_t *data = smp_data_const(answer->mad);
	unsigned status = answer->header.status;
	struct port_info info;

	if (status && a->act != PROGRAM_ORDER_STEP) {
		if (a->act != PROGRAM_ORDER_LOOK)
			refused(p, a->what, status);
		return;
	}
	port_info_decode(data, &info);
	switch ((enum program_order_act)a->act) {
	case PROGRAM_ORDER_STEP:
		if (status)
			on_refused(p, a->what, status);
		else
			on_step(p, a->what, data);
		break;
	case PROGRAM_ORDER_TELL:
		learn_told(p, &p->plan->steps[a->what]);
		on_port(p, a->what, &info);
		break;
	case PROGRAM_ORDER_LOOK:
		on_look(p, a->what, &info);
		break;
	case PROGRAM_ORDER_LOOK_STATE:
		on_port(p, a->what, &info);
		break;
	case PROGRAM_ORDER_LOOK_REFUSED:
		on_refused_state(p, a->what, &info);
		break;
	}
}

static void
on_done(const struct mad_client_answer *answer, void *data, uint64_t tag)
{
	struct program *p = data;
	struct program_order_action a = { .act = tag >> 32,
					  .what = (uint32_t)tag };

	p->in_flight--;
	unreachable_over(p->silent, tag);
	if (answer->outcome == MAD_CLIENT_TIMED_OUT)
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
	if (tag >> 32 == PROGRAM_ORDER_LOOK) {
		p->r.changed = true;
		return;
	}
	forget_block(p, (uint32_t)tag);
	settle(p, (uint32_t)tag, false);
}

/* Sending. */

/* A step as it goes out; the state is left out where only clients are told. */
static void encode_action(struct program *p,
			  const struct program_order_action *a, uint8_t *data)
{
	struct plan_step step = p->plan->steps[a->what];

	if (a->act == PROGRAM_ORDER_TELL)
		step.kind = PLAN_PORT;
	program_step_encode(p->before, p->w, &step, data);
}

static void
send_action(struct program *p, const struct program_order_action *a)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct plan_step *step = a->act == PROGRAM_ORDER_LOOK ? NULL :
		&p->plan->steps[a->what];
	uint32_t target = step ? program_step_target(p->before, step) : a->what;
	bool set = a->act == PROGRAM_ORDER_STEP || a->act == PROGRAM_ORDER_TELL;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;
	uint64_t tag;
	uint32_t id;
	uint32_t mod = step ? program_step_attr_mod(p->before, step) :
		program_step_port_info_mod(p->before, target);

	if (unreachable_covers(p->silent, target) || (p->r.locked->len &&
	    is_locked(p, snapshot_holder_of(p->before, target)))) {
		if (step)
			settle(p, a->what, false);
		return;
	}
	if (!snapshot_path(p->before, target, &path)) {
		/* Too far for a directed route. */
		if (step) {
			problem(p, "%s cannot be reached",
				step_place(p, step));
			settle(p, a->what, false);
		}
		return;
	}
	smp_build_direct(mad, set ? MAD_METHOD_SET : MAD_METHOD_GET,
			 step ? program_step_attr(step) : MAD_ATTR_PORT_INFO,
			 mod, mkey_db_at(p->keys, p->before, target), &path);
	if (set)
		encode_action(p, a, smp_data(mad));
	p->in_flight++;
	tag = (uint64_t)a->act << 32 | a->what;
	id = mad_client_start(p->x, &direct, mad, on_done, p, tag);
	unreachable_asked(p->silent, target, id, tag);
}

static void
program_free(struct program *p)
{
	mad_client_set_pump(p->x, NULL, NULL);
	if (p->timer)
		transport_timer_cancel(mad_client_transport(p->x), p->timer);
	program_result_clear(&p->r);
	program_order_free(p->order);
	unreachable_free(p->silent);
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

static void
pump(void *data)
{
	struct program *p = data;
	struct program_order_action a;

	while (mad_client_room(p->x) && program_order_next(p->order, &a))
		send_action(p, &a);
	if (p->in_flight || p->timer || !program_order_is_empty(p->order))
		return;
	if (program_order_look_back(p->order))
		pump(p);
	else
		finish(p);
}

static void
on_start(void *data)
{
	struct program *p = data;

	p->timer = 0;
	pump(p);
}

struct program *
program_start(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *before, const struct desired *w,
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
	p->r.after = snapshot_copy(before);
	p->r.untaken = g_new0(uint32_t, before->n_ports);
	p->r.told = g_new0(uint8_t, before->n_ports);
	p->r.locked = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	p->r.problems = g_ptr_array_new_with_free_func(g_free);
	p->silent = unreachable_new(x, before, on_lost, p);
	p->order = program_order_new(before, w, plan);
	mad_client_set_pump(x, pump, p);
	/* From the loop, so that `done` never comes from in here. */
	p->timer =
		transport_timer_start(mad_client_transport(x), 0, on_start, p);
	return p;
}

void
program_cancel(struct program *p)
{
	mad_client_cancel_owner(p->x, p);
	program_free(p);
}

void
program_result_clear(struct program_result *r)
{
	if (r->after)
		snapshot_unref(r->after);
	g_free(r->untaken);
	g_free(r->told);
	if (r->locked)
		g_array_unref(r->locked);
	if (r->problems)
		g_ptr_array_unref(r->problems);
	*r = (struct program_result){ 0 };
}
