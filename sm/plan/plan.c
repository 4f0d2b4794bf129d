// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan: what is wanted, minus what was seen, as ordered steps.
 *
 * Purpose: decide which Sets bring a fabric from what it is to what it should
 * be, and no other. On a fabric that is as wanted the plan is empty: this is
 * how the SM knows that it is done, and why a sweep over a quiet fabric writes
 * nothing.
 *
 * Structs: `draft` collects the steps of each kind in a list of its own. As
 * nodes and ports are visited in index order, each list grows sorted by
 * (node, port or block), and the plan is the lists put one behind the other.
 * The steps carry indices and masks, not values: whoever executes or prints
 * one asks desired_port() and desired_switch() again.
 *
 * Flow: plan_diff() walks the nodes once. A switch adds its PortStateChange,
 * its LFT blocks (a memcmp a block) and its SwitchInfo; a port adds
 *	in Init, link whole	ARM with all that differs, then ACTIVATE
 *	Armed, link whole	PLAN_PORT if something differs, then ACTIVATE
 *	anything else		PLAN_PORT if something differs
 * and the blocks of its tables that are wanted and are not there.
 * A link is whole if both ends are known and neither is Down. A component that
 * the port was seen to accept and forget is no difference, or else the plan of
 * such a port would never become empty.
 *
 * Source: IBA 1.4, 14.2.5.4, 14.2.5.6, 14.2.5.10 (LinearForwardingTable) and
 * the link state machine, 14.4.
 */
#include "sm/plan/plan.h"

#include <string.h>

struct draft {
	GArray *steps[PLAN_N_KINDS];
};

const char *
plan_kind_name(enum plan_kind kind)
{
	switch (kind) {
	case PLAN_CHANGE_CLEAR:
		return "change-clear";
	case PLAN_TABLE:
		return "table";
	case PLAN_PORT:
		return "port";
	case PLAN_LFT:
		return "lft";
	case PLAN_SWITCH:
		return "switch";
	case PLAN_ARM:
		return "arm";
	case PLAN_ACTIVATE:
		return "activate";
	case PLAN_N_KINDS:
		break;
	}
	return "?";
}

static void
draft_add(struct draft *d, const struct plan_step *step)
{
	g_array_append_val(d->steps[step->kind], *step);
}

static void
draft_port(struct draft *d, const struct snapshot *s, enum plan_kind kind,
	   uint32_t port, unsigned fields)
{
	const struct plan_step step = {
		.kind = kind,
		.node = s->ports[port].node,
		.port = port,
		.fields = fields,
	};

	draft_add(d, &step);
}

static void
draft_switch(struct draft *d, enum plan_kind kind, uint32_t node,
	     unsigned fields)
{
	const struct plan_step step = {
		.kind = kind,
		.node = node,
		.port = SNAPSHOT_NONE,
		.fields = fields,
	};

	draft_add(d, &step);
}

/* Both ends known and at least in Init: it may be armed and activated. A cable
 * from a switch to itself is a link like any other. */
static bool
link_whole(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return snapshot_link_up(s, port) && p->info.state >= PORT_STATE_INIT &&
	       s->ports[p->peer].info.state >= PORT_STATE_INIT;
}

static void
diff_port(struct draft *d, const struct snapshot *s, const struct desired *w,
	  const uint32_t *forgotten, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	struct port_info info;
	unsigned fields, early;
	bool rises;

	if (!p->known)
		return;

	fields = desired_port(s, w, port, &info);
	if (forgotten)
		fields &= ~forgotten[port];

	/* Port 0 has no link state to change (IBA 14.2.5.6). */
	rises = p->num > 0 && p->info.state < PORT_STATE_ACTIVE &&
		link_whole(s, port);
	/* Clients ask the SA as soon as they are told: not before the port
	 * carries data. */
	early = rises ? fields & ~(unsigned)PORT_FIELD_REREGISTER : fields;
	if (rises && p->info.state == PORT_STATE_INIT)
		draft_port(d, s, PLAN_ARM, port, early);
	else if (early)
		draft_port(d, s, PLAN_PORT, port, early);
	if (rises)
		draft_port(d, s, PLAN_ACTIVATE, port, fields);
}

static void
diff_table(struct draft *d, const struct desired *w,
	   const struct port_tables *held, struct plan_step *step)
{
	enum port_table table = step->table;
	unsigned n = port_tables_blocks(w->tables, table, step->port);

	for (unsigned block = 0; block < n; block++) {
		const union port_block *want, *have;

		want = port_tables_get(w->tables, table, step->port, block);
		if (!want)
			continue;
		have = held ? port_tables_get(held, table, step->port,
					      block) : NULL;
		if (have && memcmp(have, want, sizeof(*have)) == 0)
			continue;
		step->block = (uint16_t)block;
		draft_add(d, step);
	}
}

static void
diff_tables(struct draft *d, const struct snapshot *s, const struct desired *w,
	    const struct port_tables *held, uint32_t port)
{
	struct plan_step step = {
		.kind = PLAN_TABLE,
		.node = s->ports[port].node,
		.port = port,
	};

	if (!w->tables || !s->ports[port].known)
		return;
	for (step.table = 0; step.table < PORT_N_TABLES; step.table++)
		diff_table(d, w, held, &step);
}

static void
diff_lft(struct draft *d, const struct snapshot *s, const struct desired *w,
	 const struct lft_seen *seen, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];
	const uint8_t *row = lft_row(w->lft, n->sw_index);
	uint32_t end = MIN(n->sw.linear_fdb_cap, w->lft->top + 1u);
	struct plan_step step = {
		.kind = PLAN_LFT,
		.node = node,
		.port = SNAPSHOT_NONE,
	};

	for (uint32_t lid = 0; lid < end; lid += LFT_BLOCK) {
		uint32_t block = lid / LFT_BLOCK;
		const uint8_t *held = lft_seen_block(seen, n->sw_index, block);
		/* Entries past the capability do not exist: they read back
		 * as the switch likes. */
		size_t len = MIN(LFT_BLOCK, n->sw.linear_fdb_cap - lid);

		if (held && memcmp(held, row + lid, len) == 0)
			continue;
		step.block = block;
		draft_add(d, &step);
	}
}

static void
diff_switch(struct draft *d, const struct snapshot *s, const struct desired *w,
	    const struct lft_seen *seen, uint32_t node)
{
	struct switch_info info;
	unsigned fields;

	fields = desired_switch(s, w, node, &info);
	if (fields & SWITCH_FIELD_CHANGE)
		draft_switch(d, PLAN_CHANGE_CLEAR, node, SWITCH_FIELD_CHANGE);
	diff_lft(d, s, w, seen, node);
	fields &= ~(unsigned)SWITCH_FIELD_CHANGE;
	if (fields)
		draft_switch(d, PLAN_SWITCH, node, fields);
}

/* Frees the draft's lists. */
static struct plan *
plan_from_draft(struct draft *d)
{
	struct plan *plan = g_new0(struct plan, 1);
	uint32_t n = 0;

	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		plan->n_steps += d->steps[k]->len;
	plan->steps = g_new(struct plan_step, plan->n_steps);
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		GArray *list = d->steps[k];

		plan->first[k] = n;
		if (list->len > 0)
			memcpy(plan->steps + n, list->data,
			       list->len * sizeof(struct plan_step));
		n += list->len;
		g_array_free(list, TRUE);
	}
	plan->first[PLAN_N_KINDS] = n;
	return plan;
}

struct plan *
plan_diff(const struct snapshot *s, const struct desired *w,
	  const struct lft_seen *seen, const struct port_tables *held,
	  const uint32_t *forgotten)
{
	struct draft d;

	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		d.steps[k] = g_array_new(FALSE, FALSE,
					 sizeof(struct plan_step));

	for (uint32_t node = 0; node < s->n_nodes; node++) {
		const struct snapshot_node *n = &s->nodes[node];
		uint32_t end = n->first_port + n->info.num_ports;

		if (snapshot_is_switch(n) && n->sw_known)
			diff_switch(&d, s, w, seen, node);
		for (uint32_t port = n->first_port; port <= end; port++) {
			diff_tables(&d, s, w, held, port);
			diff_port(&d, s, w, forgotten, port);
		}
	}
	return plan_from_draft(&d);
}

void
plan_keep(struct plan *plan, enum plan_kind kind)
{
	uint32_t n = plan->first[kind + 1] - plan->first[kind];

	if (n)
		memmove(plan->steps, plan->steps + plan->first[kind],
			n * sizeof(*plan->steps));
	for (unsigned k = 0; k <= PLAN_N_KINDS; k++)
		plan->first[k] = k <= kind ? 0 : n;
	plan->n_steps = n;
}

void
plan_free(struct plan *plan)
{
	if (!plan)
		return;
	g_free(plan->steps);
	g_free(plan);
}
