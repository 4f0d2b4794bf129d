// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/lib/plan_lab.h"

#include "tests/lib/engine_route.h"
#include "tests/lib/unit.h"

static void
find_places(struct fabric *f)
{
	const struct snapshot_node *sw;

	f->host = f->s->local_port;
	f->gate = f->s->ports[f->host].peer;
	f->sw = f->s->ports[f->gate].node;
	sw = &f->s->nodes[f->sw];
	f->port0 = sw->first_port;
	f->up = SNAPSHOT_NONE;
	for (unsigned num = 1; num <= sw->info.num_ports; num++) {
		uint32_t peer = f->s->ports[sw->first_port + num].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(f->s, peer)))
			f->up = sw->first_port + num;
	}
}

struct fabric *
fabric_new(const char *spec)
{
	struct fabric *f = g_new0(struct fabric, 1);

	f->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(f->s);
	f->lids = lid_assign(f->s, 0, NULL, 0, NULL, NULL);
	assert_non_null(f->lids);
	f->lft = engine_tables(&engine_minhop, f->s, f->lids);
	f->seen = lft_seen_new(f->s->n_switches, f->lids->top);
	f->held = port_tables_new(f->s);
	f->policy = policy_default;
	find_places(f);
	f->w = (struct desired){
		.policy = &f->policy, .lids = f->lids, .lft = f->lft,
		.sm_lid = f->lids->base[f->host],
	};
	return f;
}

void
fabric_free(struct fabric *f)
{
	isolation_free(f->isolation);
	if (f->params.rules)
		partition_rules_unref(f->params.rules);
	port_tables_unref(f->held);
	lft_seen_free(f->seen);
	lft_free(f->lft);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
	g_free(f);
}

void
fabric_set_caps(struct fabric *f, unsigned host, unsigned port0,
		unsigned enforced)
{
	for (uint32_t i = 0; i < f->s->n_nodes; i++) {
		struct snapshot_node *n = &f->s->nodes[i];

		n->info.partition_cap = snapshot_is_switch(n) ? port0 : host;
		n->sw.partition_enforcement_cap = enforced;
		n->sw.enforce_inbound = n->sw.enforce_outbound = true;
	}
	port_tables_unref(f->held);
	f->held = port_tables_new(f->s);
}

struct fabric *
fabric_single(void)
{
	struct fabric *f = fabric_new("single(3)");

	fabric_set_caps(f, 40, 40, 32);
	fabric_isolate(f);
	return f;
}

uint32_t
fabric_port(const struct snapshot *s, const char *name)
{
	unsigned nth = (unsigned)strtoul(name + 2, NULL, 10);

	if (name[0] != 'H' && name[0] != 'S')
		return SNAPSHOT_NONE;
	for (uint32_t p = 0; p < s->n_ports; p++)
		if (snapshot_is_end_port(s, p) &&
		    snapshot_is_switch(snapshot_node_of(s, p)) ==
		    (name[0] == 'S') && !nth--)
			return strchr(name, '^') ? s->ports[p].peer : p;
	return SNAPSHOT_NONE;
}

void
fabric_isolate(struct fabric *f)
{
	isolation_free(f->isolation);
	if (!f->params.rules)
		f->params.rules = partition_rules_default();
	f->isolation = isolation_new(&f->params, f->s, f->held);
	f->w.tables = f->isolation->wanted;
	f->w.enforce = f->isolation->enforce;
}

uint32_t
plan_count(const struct plan *plan, enum plan_kind kind)
{
	return plan->first[kind + 1] - plan->first[kind];
}

/* What an honest device makes of a Set: "no change" for zeros. */
static void
port_take(struct port_info *have, const struct port_info *set, unsigned state)
{
	struct port_info now = *set;

	now.state = state ? state : have->state;
	now.phys_state = have->phys_state;
	now.link_down_default = have->link_down_default;
	now.width_enabled = have->width_enabled;
	now.speed_enabled = have->speed_enabled;
	now.speed_ext_enabled = have->speed_ext_enabled;
	if (set->oper_vls == 0)
		now.oper_vls = have->oper_vls;
	*have = now;
}

void
fabric_take(struct fabric *f, const struct snapshot *before,
	    const struct plan_step *step)
{
	struct switch_info *sw = &f->s->nodes[step->node].sw, wanted_sw;
	uint32_t index = f->s->nodes[step->node].sw_index;
	struct port_info wanted;

	switch ((enum plan_kind)step->kind) {
	case PLAN_CHANGE_CLEAR:
		sw->port_state_change = false;
		break;
	case PLAN_SWITCH:
		desired_switch(before, &f->w, step->node, &wanted_sw);
		wanted_sw.port_state_change = sw->port_state_change;
		*sw = wanted_sw;
		break;
	case PLAN_LFT:
		lft_seen_set(f->seen, index, step->block,
			     lft_row(f->lft, index) + step->block * LFT_BLOCK);
		break;
	case PLAN_TABLE:
		port_tables_set(f->held, step->table, step->port, step->block,
				port_tables_get(f->w.tables, step->table,
						step->port, step->block));
		break;
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		desired_port(before, &f->w, step->port, &wanted);
		port_take(&f->s->ports[step->port].info, &wanted,
			  step->kind == PLAN_PORT ? 0 :
			  step->kind == PLAN_ARM ? PORT_STATE_ARMED :
			  PORT_STATE_ACTIVE);
		break;
	case PLAN_MFT:
		break;
	case PLAN_N_KINDS:
		fail();
	}
}
