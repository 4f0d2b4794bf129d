// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A step as bytes.
 *
 * The plan holds no values: they are asked for again, from what was seen and
 * what is wanted, so that plan, Set and read-back cannot disagree. The two
 * Sets of a SwitchInfo differ in what they may touch: the one that clears
 * PortStateChange leaves tops and life time as they were, the other one writes
 * them when the blocks are in place (IBA 14.2.5.4).
 */
#include "sm/sweep/program_step.h"

#include <string.h>

#include "sm/mad/smp.h"

bool
program_step_has_port(const struct plan_step *step)
{
	return step->kind == PLAN_PORT || step->kind == PLAN_ARM ||
		step->kind == PLAN_ACTIVATE;
}

unsigned
program_step_state(const struct plan_step *step)
{
	if (step->kind == PLAN_ARM)
		return PORT_STATE_ARMED;
	if (step->kind == PLAN_ACTIVATE)
		return PORT_STATE_ACTIVE;
	return PORT_STATE_NOP;
}

enum mad_attr
program_step_attr(const struct plan_step *step)
{
	if (step->kind == PLAN_TABLE)
		return smp_table_attr(step->table);
	if (program_step_has_port(step))
		return MAD_ATTR_PORT_INFO;
	return step->kind == PLAN_LFT ? MAD_ATTR_LINEAR_FT :
		MAD_ATTR_SWITCH_INFO;
}

/* A CA's or router's port is who is asked, and has no number there. */
static uint32_t
table_modifier(const struct snapshot *s, const struct plan_step *step)
{
	const struct snapshot_port *p = &s->ports[step->port];

	return smp_table_modifier(step->table,
				  snapshot_is_switch(&s->nodes[p->node]) ?
				  p->num : 0, step->block);
}

uint32_t
program_step_port_info_mod(const struct snapshot *s, uint32_t port)
{
	return smp_port_info_modifier(s->ports[port].num,
		s->ports[snapshot_holder_of(s, port)].info.cap_mask);
}

uint32_t
program_step_attr_mod(const struct snapshot *s, const struct plan_step *step)
{
	if (step->kind == PLAN_TABLE)
		return table_modifier(s, step);
	if (program_step_has_port(step))
		return program_step_port_info_mod(s, step->port);
	return step->kind == PLAN_LFT ? step->block : 0;
}

uint32_t
program_step_target(const struct snapshot *s, const struct plan_step *step)
{
	if (program_step_has_port(step) || step->kind == PLAN_TABLE)
		return step->port;
	return s->nodes[step->node].first_port;
}

static void
encode_port(const struct snapshot *s, const struct desired *w,
	    const struct plan_step *step, uint8_t *data)
{
	struct port_info info;

	desired_port(s, w, step->port, &info);
	info.state = program_step_state(step);
	/* A request, which is made by the steps that say so. */
	if (!(step->fields & PORT_FIELD_REREGISTER))
		info.client_reregister = false;
	/* A port that did not take one of these is spared it. */
	info.width_enabled = step->fields & PORT_FIELD_WIDTH ?
		PORT_WIDTH_ALL : 0;
	info.speed_enabled = step->fields & PORT_FIELD_SPEED ?
		PORT_SPEED_ALL : 0;
	info.speed_ext_enabled = step->fields & PORT_FIELD_SPEED_EXT ?
		PORT_SPEED_EXT_ALL : 0;
	port_info_encode(data, &info);
}

static void
encode_switch(const struct snapshot *s, const struct desired *w,
	      const struct plan_step *step, uint8_t *data)
{
	const struct switch_info *seen = &s->nodes[step->node].sw;
	struct switch_info info;

	desired_switch(s, w, step->node, &info);
	info.port_state_change = step->kind == PLAN_CHANGE_CLEAR;
	if (step->kind == PLAN_CHANGE_CLEAR) {
		info.linear_fdb_top = seen->linear_fdb_top;
		info.life_time = seen->life_time;
		info.multicast_fdb_top = seen->multicast_fdb_top;
	}
	switch_info_encode(data, &info);
}

void
program_step_encode(const struct snapshot *s, const struct desired *w,
	    const struct plan_step *step, uint8_t data[SMP_DATA_LEN])
{
	switch ((enum plan_kind)step->kind) {
	case PLAN_TABLE:
		smp_table_encode(step->table, data,
				 port_tables_get(w->tables, step->table,
						 step->port, step->block));
		return;
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		encode_port(s, w, step, data);
		return;
	case PLAN_CHANGE_CLEAR:
	case PLAN_SWITCH:
		encode_switch(s, w, step, data);
		return;
	case PLAN_LFT:
		memcpy(data, lft_row(w->lft, s->nodes[step->node].sw_index) +
		       (size_t)step->block * LFT_BLOCK, LFT_BLOCK);
		return;
	case PLAN_N_KINDS:
		break;
	}
	g_assert_not_reached();
}
