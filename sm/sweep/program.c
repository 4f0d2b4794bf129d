// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming: sends the plan and checks the replies.
 *
 * sm/sweep/program_order.c decides which step may be sent when. Here each step
 * becomes a Set; its reply holds the attribute after the Set, which is the
 * read-back. Fields that a port acknowledged but did not take are reported. The
 * plan holds no values: they are computed again from snapshot and desired
 * state, so that plan, Set and read-back cannot disagree.
 *
 * Some devices reply to a Set of the port state before it has changed, and a
 * port may have become Active by packets from the other end, so that our Set to
 * Active is rejected (IBA 14.3.6): in both cases PortInfo is read before a
 * problem is reported. A rejected Set has not asked the clients of the port to
 * register again: a repair does. At the end, ports that should have
 * become Active and were not set are read: one that is Down has changed without
 * a trap.
 *
 * M_Keys that change do so before. A port without a key accepts every key, so
 * requests with its future key work before and after the Set; the same holds
 * for the old key when a key is removed. Only when one key replaces another,
 * there is a moment from which the old one is rejected and the new one
 * accepted. No other request to the port may be in flight then.
 *
 * The Set has the old key in its header and the new one in its attribute (IBA
 * 14.2.4). If no reply comes, either may be the key of the port: the same Set
 * is sent with the new key in the header. If that times out as well, the M_Key
 * database keeps both, and the next discovery finds out.
 */
#include "sm/sweep/program.h"

#include <string.h>

#include "sm/sweep/program_order.h"
#include "topology/each.h"

#define PROBLEMS_MAX	1000u	/* lines; more are only counted */

enum step_end { STEP_HELD, STEP_DONE, STEP_FAILED };

struct program {
	const struct mkey_db *keys;
	const struct snapshot *before;
	const struct desired *w;
	const struct plan *plan;
	struct lft_seen *seen;
	struct port_tables *held;
	program_done_fn done;
	void *data;
	struct program_result r;
	GArray *steps;		/* struct plan_step: of each problem */
	uint8_t *ends;		/* enum step_end, by step */
	struct program_order *order;
	struct smp_batch *batch;
};

/* Of a port, and no part of a step. */
static bool
is_look(unsigned act)
{
	return act == PROGRAM_ORDER_LOOK || act == PROGRAM_ORDER_LOOK_BEHIND;
}

/* ------------------------------------------------------- a step as a Set */

/* The PortState that the step sets. */
static unsigned
step_state(const struct plan_step *step)
{
	return step->kind == PLAN_ARM ? PORT_STATE_ARMED :
		step->kind == PLAN_ACTIVATE ? PORT_STATE_ACTIVE :
		PORT_STATE_NOP;
}

static void
encode_port(const struct snapshot *s, const struct desired *w,
	    const struct plan_step *step, uint8_t *data)
{
	struct port_info info;

	desired_port(s, w, step->port, &info);
	if (!(step->fields & PORT_FIELD_PHYS)) {
		info.state = step_state(step);
		info.phys_state = PORT_PHYS_NOP;
	}
	/* Only steps with this field ask the clients to register again. */
	if (!(step->fields & PORT_FIELD_REREGISTER))
		info.client_reregister = false;
	/* Fields that a port has not taken before are not sent again. */
	info.width_enabled = step->fields & PORT_FIELD_WIDTH ?
		PORT_WIDTH_ALL : 0;
	info.speed_enabled = step->fields & PORT_FIELD_SPEED ?
		PORT_SPEED_ALL : 0;
	info.speed_ext_enabled = step->fields & PORT_FIELD_SPEED_EXT ?
		PORT_SPEED_EXT_ALL : 0;
	port_info_encode(data, &info);
}

static uint16_t
step_attr(const struct plan_step *step)
{
	static const uint16_t attrs[PLAN_N_KINDS] = {
		[PLAN_CHANGE_CLEAR] = MAD_ATTR_SWITCH_INFO,
		[PLAN_PORT] = MAD_ATTR_PORT_INFO,
		[PLAN_LFT] = MAD_ATTR_LINEAR_FT,
		[PLAN_MFT] = MAD_ATTR_MULTICAST_FT,
		[PLAN_SWITCH] = MAD_ATTR_SWITCH_INFO,
		[PLAN_ARM] = MAD_ATTR_PORT_INFO,
		[PLAN_ACTIVATE] = MAD_ATTR_PORT_INFO,
	};

	return step->kind == PLAN_TABLE ? smp_table_attr(step->table) :
		attrs[step->kind];
}

void
program_step_request(const struct snapshot *s, const struct desired *w,
		     const struct plan_step *step, struct smp_request *r)
{
	const struct snapshot_node *n = &s->nodes[step->node];
	unsigned positions = mft_positions(n->info.num_ports), first;
	struct switch_info sw;

	r->set = true;
	r->attr = step_attr(step);
	switch ((enum plan_kind)step->kind) {
	case PLAN_TABLE:
		r->port = step->port;
		r->modifier = smp_table_modifier(step->table,
			snapshot_is_switch(n) ? s->ports[step->port].num : 0,
			step->block);
		smp_table_encode(step->table, r->data,
				 port_tables_get(w->tables, step->table,
						 step->port, step->block));
		return;
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		r->port = step->port;
		r->modifier = smp_batch_port_info_modifier(s, step->port);
		encode_port(s, w, step, r->data);
		return;
	case PLAN_CHANGE_CLEAR:
	case PLAN_SWITCH:
		r->port = n->first_port;
		/* The Set that clears PortStateChange leaves LinearFDBTop and
		 * life time unchanged; the other one writes them after the
		 * blocks (IBA 14.2.5.4). */
		desired_switch(s, w, step->node, &sw);
		sw.port_state_change = step->kind == PLAN_CHANGE_CLEAR;
		if (sw.port_state_change) {
			sw.linear_fdb_top = n->sw.linear_fdb_top;
			sw.life_time = n->sw.life_time;
			sw.multicast_fdb_top = n->sw.multicast_fdb_top;
		}
		switch_info_encode(r->data, &sw);
		return;
	case PLAN_LFT:
		r->port = n->first_port;
		r->modifier = step->block;
		memcpy(r->data, lft_row(w->lft, n->sw_index) +
		       (size_t)step->block * LFT_BLOCK, LFT_BLOCK);
		return;
	case PLAN_MFT:
		r->port = n->first_port;
		plan_hidden_blocks(s, step->node, &first);
		r->modifier = step->block % positions << SMP_MFT_POSITION |
			(first + step->block / positions);
		return;
	case PLAN_N_KINDS:
		break;
	}
	g_assert_not_reached();
}

/* ---------------------------------------------------------------- problems */

/* The text begins with the step's place. */
static void G_GNUC_PRINTF(3, 4)
problem(struct program *p, const struct plan_step *step, const char *format,
	...)
{
	g_autofree char *place = NULL, *text = NULL;
	va_list args;

	if (p->r.problems->len >= PROBLEMS_MAX)
		return;
	place = snapshot_place(p->before, step->node, step->port);
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(p->r.problems, g_strconcat(place, text, NULL));
	g_array_append_val(p->steps, *step);
}

/*
 * Protection level 1 answers every Get and hides the M_Key; a wrong key shows
 * only by a Set without a reply (IBA 14.2.4.1). It is wrong for all ports with
 * this key, so nothing more is sent to them.
 */
static bool
is_locked(const struct program *p, uint32_t holder)
{
	uint64_t guid = p->before->ports[holder].guid;

	EACH_ITEM(const uint64_t, locked, p->r.locked)
		if (*locked == guid)
			return true;
	return false;
}

/*
 * A Set without a reply, or refused, may have been executed. The block has the old
 * content or the new one until it is read; else a port might keep
 * the P_Keys of rules that were withdrawn in the meantime.
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

/* Ends a step. */
static void
settle(struct program *p, uint32_t index, bool well)
{
	if (!program_order_settle(p->order, index, well))
		return;
	p->ends[index] = well ? STEP_DONE : STEP_FAILED;
}

/* ----------------------------------------------------------------- replies */

/* This step is not done, since its port does not do it. */
static void
note_trouble(struct program *p, const struct plan_step *step)
{
	struct snapshot_port *port;

	if (step->port == SNAPSHOT_NONE ||
	    !snapshot_is_other_end(p->before, step->port))
		return;
	port = &p->r.after->ports[step->port];
	if (step->kind == PLAN_TABLE)
		port->trouble = SNAPSHOT_NO_TABLE;
	else if (port->num)
		port->trouble = SNAPSHOT_NO_SETS;
}

static void
learn_changed(struct program *p, uint32_t port)
{
	g_array_append_val(p->r.changed,
			   snapshot_node_of(p->before, port)->info.node_guid);
}

static void
program_on_port(struct program *p, uint32_t index,
		const struct port_info *answer)
{
	const struct plan_step *step = &p->plan->steps[index];
	unsigned state = step_state(step), fields = step->fields;
	struct port_info *known = &p->r.after->ports[step->port].info;
	struct port_info wanted;

	/* No PortState: nothing else in it is believed, as in discovery. A base
	 * port 0 has none. */
	if (p->before->ports[step->port].num > 0 &&
	    (answer->state == PORT_STATE_NOP ||
	     answer->state > PORT_STATE_ACTIVE_DEFER)) {
		learn_changed(p, step->port);
		problem(p, step, " answers with PortState %u", answer->state);
		note_trouble(p, step);
		settle(p, index, false);
		return;
	}
	plan_fields_take(port_fields, known, answer);
	known->phys_state = answer->phys_state;
	known->cap_mask = answer->cap_mask;	/* a new manager: IsSM */
	/* Some fields are sent twice on a port's way to Active: the last reply
	 * counts. */
	desired_port(p->before, p->w, step->port, &wanted);
	p->r.untaken[step->port] &= ~(fields | PORT_FIELD_STATE);
	if (mkey_db_is_hidden(answer))
		fields &= ~(unsigned)PORT_FIELD_M_KEY;
	p->r.untaken[step->port] |=
		plan_fields_differ(port_fields, fields, &wanted, answer);
	if (fields & PORT_FIELD_PHYS &&
	    (wanted.phys_state == PORT_PHYS_DISABLED) !=
	    (answer->phys_state == PORT_PHYS_DISABLED))
		p->r.untaken[step->port] |= PORT_FIELD_PHYS;
	if (answer->state >= state) {
		p->r.after->ports[step->port].rose |=
			step->kind == PLAN_ACTIVATE;
		settle(p, index, true);
		return;
	}
	if (answer->state == PORT_STATE_DOWN) {
		learn_changed(p, step->port);
		problem(p, step, " went down");
	} else {
		p->r.untaken[step->port] |= PORT_FIELD_STATE;
		problem(p, step, " stays in %s instead of %s",
			port_state_name(answer->state), port_state_name(state));
	}
	settle(p, index, false);
}

static void
on_switch(struct program *p, uint32_t index, const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	struct switch_info *known = &p->r.after->nodes[step->node].sw;
	struct switch_info wanted, answer;

	desired_switch(p->before, p->w, step->node, &wanted);
	switch_info_decode(data, &answer);
	plan_fields_take(switch_fields, known, &answer);
	if (step->kind == PLAN_CHANGE_CLEAR) {
		program_order_look_again(p->order, step->node);
		settle(p, index, true);
		return;
	}
	if (plan_fields_differ(switch_fields, step->fields & SWITCH_FIELD_TOP,
			       &wanted, &answer)) {
		problem(p, step, ": LinearFDBTop stays %u instead of %u",
			answer.linear_fdb_top, wanted.linear_fdb_top);
		settle(p, index, false);
		return;
	}
	/* Unicast does not need it, so the links come up all the same. */
	if (plan_fields_differ(switch_fields, step->fields &
			       SWITCH_FIELD_MCAST_TOP, &wanted, &answer))
		problem(p, step, ": MulticastFDBTop stays 0x%04x instead of "
			"0x%04x", answer.multicast_fdb_top,
			wanted.multicast_fdb_top);
	settle(p, index, true);
}

static void
on_block(struct program *p, uint32_t index, const uint8_t *sent,
	 const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	bool is_lft = step->kind == PLAN_LFT, well;
	union port_block answer;

	if (is_lft) {
		well = memcmp(sent, data, LFT_BLOCK) == 0;
		lft_seen_set(p->seen, p->before->nodes[step->node].sw_index,
			     step->block, data);
	} else {
		smp_table_decode(step->table, data, &answer);
		well = memcmp(port_tables_get(p->w->tables, step->table,
					      step->port, step->block),
			      &answer, sizeof(answer)) == 0;
		port_tables_set(p->held, step->table, step->port, step->block,
				&answer);
	}
	if (!well) {
		problem(p, step, " acknowledged block %u of its %s but has "
			"other content in it", step->block,
			is_lft ? "forwarding table" :
			port_table_names[step->table]);
		note_trouble(p, step);
	}
	settle(p, index, well);
}

static void
on_step(struct program *p, uint32_t index, const uint8_t *sent,
	const uint8_t *data)
{
	const struct plan_step *step = &p->plan->steps[index];
	struct port_info info;

	switch ((enum plan_kind)step->kind) {
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		port_info_decode(data, &info);
		/* A Set that was executed has also asked the clients. */
		if (step->fields & PORT_FIELD_REREGISTER)
			p->r.told[step->port] = true;
		/* Some devices reply before the state has changed. */
		if (info.state < step_state(step) &&
		    info.state != PORT_STATE_DOWN)
			program_order_add(p->order, PROGRAM_ORDER_LOOK_STATE,
					  index);
		else
			program_on_port(p, index, &info);
		break;
	case PLAN_CHANGE_CLEAR:
	case PLAN_SWITCH:
		on_switch(p, index, data);
		break;
	case PLAN_LFT:
	case PLAN_TABLE:
		on_block(p, index, sent, data);
		break;
	case PLAN_MFT:
		if (memcmp(sent, data, SMP_DATA_LEN))
			problem(p, step, " keeps multicast entries above "
				"MulticastFDBTop");
		settle(p, index, true);
		break;
	case PLAN_N_KINDS:
		g_assert_not_reached();
	}
}

static void
refused(struct program *p, uint32_t index, unsigned status)
{
	const struct plan_step *step = &p->plan->steps[index];

	problem(p, step, " refuses Set(%s): %s", mad_attr_name(step_attr(step)),
		mad_status_name(status));
	note_trouble(p, step);
	settle(p, index, false);
}

static void
program_on_timeout(struct program *p, const struct program_order_action *a,
		   uint32_t port)
{
	uint32_t holder = snapshot_holder_of(p->before, port);
	const struct plan_step *step;

	if (is_look(a->act)) {
		learn_changed(p, port);
		return;
	}
	step = &p->plan->steps[a->what];
	if (!mkey_db_is_hidden(&p->before->ports[holder].info)) {
		smp_batch_set_unreachable(p->batch, port);
		problem(p, step, " does not answer Set(%s)",
			mad_attr_name(step_attr(step)));
	} else if (!is_locked(p, holder)) {
		const struct snapshot_port *h = &p->before->ports[holder];
		const struct plan_step at = { .node = h->node, .port = holder };

		g_array_append_val(p->r.locked, h->guid);
		problem(p, &at, " rejects Sets: it has a foreign M_Key");
	}
	note_trouble(p, step);
	settle(p, a->what, false);
}

static void
program_on_set(struct program *p, uint32_t index, const uint8_t *sent,
	       const uint8_t *data, unsigned status)
{
	const struct plan_step *step = &p->plan->steps[index];

	if (!status) {
		on_step(p, index, sent, data);
		return;
	}
	/* The port may have rejected the Set because of these fields. */
	if (step->kind == PLAN_PORT || step_state(step))
		p->r.untaken[step->port] |= PORT_FIELD_STATE | (step->fields &
			(PORT_FIELDS_ADDRESS | PORT_FIELDS_TRAINING));
	if (step_state(step) && status == MAD_STATUS_BAD_VALUE)
		program_order_add(p->order, PROGRAM_ORDER_LOOK_STATE, index);
	else
		refused(p, index, status);
}

/* A port that is not set has come or gone, or a switch has lost its LID: it was
 * reset, and all its links may have been activated since. */
static void
take_look(struct program *p, uint32_t port, const struct port_info *info)
{
	const struct snapshot_port *was = &p->before->ports[port];
	bool has_changed = was->num ? (was->info.state == PORT_STATE_DOWN) !=
		(info->state == PORT_STATE_DOWN) :
		p->r.after->ports[port].info.lid != info->lid;

	if (has_changed)
		learn_changed(p, port);
}

/* Is the same node behind the port that was found there? */
static void
look_behind(struct program *p, uint32_t port, const uint8_t *data,
	    unsigned status)
{
	uint32_t peer = p->before->ports[port].peer;
	struct node_info info;

	node_info_decode(data, &info);
	if (!status && info.node_guid ==
	    snapshot_node_of(p->before, peer)->info.node_guid &&
	    info.local_port == p->before->ports[peer].num)
		program_order_same_behind(p->order, port);
	else
		learn_changed(p, port);
}

/* Except for a step and a look behind a port, what is answered is a PortInfo. */
static void
program_on_answer(struct program *p, const struct program_order_action *a,
		  const uint8_t *sent, const uint8_t *data, unsigned status)
{
	const struct plan_step *step = is_look(a->act) ? NULL :
		&p->plan->steps[a->what];
	struct port_info info;

	if (a->act == PROGRAM_ORDER_LOOK_BEHIND) {
		look_behind(p, a->what, data, status);
		return;
	}
	if (status && a->act != PROGRAM_ORDER_STEP) {
		if (step)
			refused(p, a->what, status);
		return;
	}
	if (a->act == PROGRAM_ORDER_STEP) {
		program_on_set(p, a->what, sent, data, status);
		return;
	}
	port_info_decode(data, &info);
	if (!step) {
		take_look(p, a->what, &info);
		return;
	}
	/* The Set was rejected since the port is Active already. */
	if (step->fields & PORT_FIELD_REREGISTER && !p->r.told[step->port] &&
	    info.state >= PORT_STATE_ACTIVE)
		learn_changed(p, step->port);
	program_on_port(p, a->what, &info);
}

static void
program_reply(void *data, const struct smp_request *r,
	      const struct smp_reply *reply)
{
	struct program *p = data;
	struct program_order_action a = { .act = r->tag >> 32,
					  .what = (uint32_t)r->tag };
	bool look = is_look(a.act);

	if (!look && (reply->status || reply->outcome == SMP_TIMED_OUT ||
		      reply->outcome == SMP_CANCELLED))
		forget_block(p, a.what);
	switch (reply->outcome) {
	case SMP_ANSWERED:
		program_on_answer(p, &a, r->data, reply->data, reply->status);
		return;
	case SMP_TIMED_OUT:
		program_on_timeout(p, &a, r->port);
		return;
	case SMP_CANCELLED:
		if (look)
			learn_changed(p, r->port);
		break;
	case SMP_UNREACHABLE:
		break;
	case SMP_TOO_FAR:
		if (!look)
			problem(p, &p->plan->steps[a.what],
				" cannot be reached");
		break;
	}
	if (!look)
		settle(p, a.what, false);
}

/* ----------------------------------------------------------------- sending */

/* Of a port; with the M_Key of the node behind it. */
static void
write_look(const struct program *p, const struct program_order_action *a,
	   struct smp_request *r)
{
	const struct snapshot_port *port = &p->before->ports[a->what];

	r->port = a->what;
	r->attr = MAD_ATTR_PORT_INFO;
	r->modifier = smp_batch_port_info_modifier(p->before, r->port);
	if (a->act == PROGRAM_ORDER_LOOK)
		return;
	r->attr = MAD_ATTR_NODE_INFO;
	r->modifier = 0;
	r->key = mkey_db_at(p->keys, p->before, port->peer);
	r->addressed = snapshot_path(p->before, r->port, &r->path) &&
		dr_path_push(&r->path, port->num);
}

static bool
program_next(void *data, struct smp_request *r)
{
	struct program *p = data;
	struct program_order_action a = { 0 };

	while (program_order_next(p->order, &a)) {
		bool look = is_look(a.act);

		r->tag = (uint64_t)a.act << 32 | a.what;
		if (look) {
			write_look(p, &a, r);
		} else {
			struct plan_step step = p->plan->steps[a.what];

			if (step.kind == PLAN_MFT)
				step.block = a.part;
			program_step_request(p->before, p->w, &step, r);
			if (step.kind == PLAN_LFT)
				memcpy(r->data, a.entries, LFT_BLOCK);
		}
		r->set = a.act == PROGRAM_ORDER_STEP;
		if (!p->r.locked->len ||
		    !is_locked(p, snapshot_holder_of(p->before, r->port)))
			return true;
		if (!look)
			settle(p, a.what, false);
	}
	return false;
}

static void
program_free(void *data)
{
	struct program *p = data;

	program_result_clear(&p->r);
	g_array_unref(p->steps);
	g_free(p->ends);
	program_order_free(p->order);
	g_free(p);
}

static bool
program_done(void *data)
{
	return program_order_resume(((struct program *)data)->order);
}

/* What hosts have acknowledged and not taken counts first. */
static void
find_troubles(struct program *p)
{
	struct snapshot *s = p->r.after;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		unsigned lacks = p->r.untaken[port] & PORT_FIELDS_ADDRESS;

		if (lacks && s->ports[port].num &&
		    snapshot_is_other_end(s, port))
			s->ports[port].trouble = lacks == PORT_FIELD_STATE ?
				SNAPSHOT_NO_STATE : SNAPSHOT_NO_ADDRESS;
	}
}

/* A step at the link of such a port; tables of the switch's port are not the host's
 * fault. */
static bool
is_excused(const struct program *p, const struct plan_step *step)
{
	const struct snapshot *s = p->r.after;
	bool is_switch = snapshot_is_switch(&p->before->nodes[step->node]);

	if (step->port == SNAPSHOT_NONE)
		return false;
	if (step->kind == PLAN_TABLE && is_switch)
		return snapshot_is_other_end(s, step->port);
	return snapshot_is_stuck(s, step->port);
}

static void
program_end(void *data)
{
	struct program *p = data;
	struct program_result r;

	find_troubles(p);
	for (uint32_t i = 0; i < p->plan->n_steps; i++) {
		bool is_done = p->ends[i] == STEP_DONE;
		bool is_free = !is_done && is_excused(p, &p->plan->steps[i]);

		p->r.done += is_done;
		p->r.excused += is_free;
		p->r.failed += p->ends[i] == STEP_FAILED && !is_free;
		p->r.held_back += p->ends[i] == STEP_HELD && !is_free;
	}
	for (guint i = p->steps->len; i-- > 0;)
		if (is_excused(p, &g_array_index(p->steps, struct plan_step,
						 i)))
			g_ptr_array_add(p->r.remarks, g_ptr_array_steal_index(
						p->r.problems, i));
	r = p->r;
	r.lfts_left = program_order_blocks_left(p->order);
	p->r = (struct program_result){ 0 };
	p->done(&r, p->data);
}

struct smp_batch *
program_start(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *before, const struct desired *w,
	      const struct plan *plan,
	      struct lft_seen *seen, struct port_tables *held,
	      smp_late_fn late, program_done_fn done, void *data)
{
	struct program *p = g_new0(struct program, 1);
	const struct smp_stage stage = {
		.next = program_next, .reply = program_reply,
		.again = smp_batch_again, .done = program_done,
		.end = program_end, .free = program_free, .data = p,
		.late = late, .late_data = data,
	};

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
	p->r.changed = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	p->r.problems = g_ptr_array_new_with_free_func(g_free);
	p->r.remarks = g_ptr_array_new_with_free_func(g_free);
	p->steps = g_array_new(FALSE, FALSE, sizeof(struct plan_step));
	p->ends = g_new0(uint8_t, plan->n_steps + 1);
	p->order = program_order_new(before, w, plan, seen, &p->r.rushed);
	return p->batch = smp_batch_start(x, before, keys, &stage);
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
	if (r->changed)
		g_array_unref(r->changed);
	if (r->problems)
		g_ptr_array_unref(r->problems);
	if (r->remarks)
		g_ptr_array_unref(r->remarks);
	*r = (struct program_result){ 0 };
}

/* ----------------------------------------------------------------- M_Keys */

struct rekey {
	struct persist_keys *ks;
	const struct snapshot *s;
	const struct desired *w;
	rekey_done_fn done;
	void *data;
	GArray *ports;		/* of struct target */
	guint head;
	bool waits;		/* the keys are being saved */
	struct smp_batch *batch;
};

struct target {
	uint32_t port;
	bool new_key;		/* the new key is in the header */
};

static bool
rekey_next(void *data, struct smp_request *req)
{
	struct rekey *r = data;
	const struct mkey_db *k = r->ks->ring;

	while (!r->waits && r->head < r->ports->len) {
		struct target t = g_array_index(r->ports, struct target,
						r->head++);
		const struct snapshot_port *p = &r->s->ports[t.port];
		const struct plan_step step = {
			.kind = PLAN_PORT, .port = t.port, .node = p->node,
		};

		program_step_request(r->s, r->w, &step, req);
		req->addressed = true;
		req->key = t.new_key ? mkey_db_wanted(k, p->guid) :
			mkey_db_of(k, p->guid);
		req->tag = t.new_key;
		if (snapshot_path(r->s, t.port, &req->path))
			return true;
	}
	return false;
}

/*
 * Status 0: the Set was executed. The reply shows the new key, unless the
 * device compares the header's key and hides it; a reply with the old key means
 * that the new one was not taken.
 */
static void
rekey_reply(void *data, const struct smp_request *req,
	    const struct smp_reply *a)
{
	struct rekey *r = data;
	struct mkey_db *k = r->ks->ring;
	uint64_t guid = r->s->ports[req->port].guid;
	bool new_key = req->tag;
	const struct target again = { .port = req->port, .new_key = true };
	struct port_info info;

	if (a->outcome != SMP_ANSWERED) {
		if (!new_key)
			g_array_append_val(r->ports, again);
		return;
	}
	port_info_decode(a->data, &info);
	if (!a->status)
		mkey_db_prove(k, guid, mkey_db_is_hidden(&info) ?
			      mkey_db_wanted(k, guid) : info.m_key);
	else if (new_key)
		mkey_db_prove(k, guid, mkey_db_wanted(k, guid));
}

static void
rekey_free(void *data)
{
	struct rekey *r = data;

	if (r->waits)
		persist_keys_forget(r->ks);
	g_array_unref(r->ports);
	g_free(r);
}

static void
rekey_end(struct rekey *r, bool saved)
{
	rekey_done_fn done = r->done;
	void *data = r->data;

	smp_batch_free(r->batch);
	done(saved, data);
}

static bool
rekey_done(void *data)
{
	struct rekey *r = data;

	if (r->waits)
		return false;
	persist_keys_save(r->ks);
	rekey_end(r, true);
	return false;
}

static void
rekey_on_saved(bool saved, void *data)
{
	struct rekey *r = data;

	r->waits = false;
	if (saved)
		smp_batch_wake(r->batch);
	else
		rekey_end(r, false);
}

struct smp_batch *
rekey_start(struct mad_client *x, struct persist_keys *ks,
	    const struct snapshot *s, const struct desired *w,
	    const struct plan *plan, rekey_done_fn done, void *data)
{
	struct mkey_db *k = ks ? ks->ring : NULL;
	bool has_keys = false, saved;
	GArray *ports;
	struct rekey *r;
	struct smp_stage stage = {
		.next = rekey_next, .reply = rekey_reply, .done = rekey_done,
		.free = rekey_free,
	};

	if (!ks)
		return NULL;
	ports = g_array_new(FALSE, FALSE, sizeof(struct target));
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];
		const struct target t = { .port = step->port };
		const struct snapshot_port *p;
		uint64_t wanted;

		if ((step->kind != PLAN_PORT && step->kind != PLAN_ARM) ||
		    !(step->fields & PORT_FIELD_M_KEY))
			continue;
		has_keys = true;
		p = &s->ports[step->port];
		wanted = mkey_db_wanted(k, p->guid);
		if (p->info.m_key && wanted && p->info.m_key != wanted)
			g_array_append_val(ports, t);
		mkey_db_intend(k, p->guid, wanted);
	}
	saved = persist_keys_save(ks);
	if (!has_keys || (saved && !ports->len)) {
		g_array_unref(ports);
		return NULL;
	}
	stage.data = r = g_new0(struct rekey, 1);
	*r = (struct rekey){
		.ks = ks, .s = s, .w = w, .ports = ports, .waits = !saved,
		.done = done, .data = data,
		.batch = smp_batch_start(x, s, k, &stage),
	};
	if (r->waits)
		persist_keys_await(ks, rekey_on_saved, r);
	return r->batch;
}
