// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan: desired minus observed, as ordered steps.
 *
 * Purpose. The Sets that bring the fabric to the desired state, and no others.
 * When it has that state the plan is empty: the SM is done, and a sweep over a
 * fabric without changes writes nothing.
 *
 * Structs. A step holds indices and masks, not values: the program stage and
 * the printer take those from desired_port() and desired_switch().
 *
 * Flow. plan_diff() visits all nodes once, plan_left() only those that the plan
 * wrote, and their neighbours. A switch adds its PortStateChange, its LFT
 * blocks (a memcmp a block) and its SwitchInfo; a port adds
 *	in Init, link whole	ARM with all that differs, then ACTIVATE
 *	Armed, link whole	PLAN_PORT if something differs, then ACTIVATE
 *	anything else		PLAN_PORT if something differs
 * and the blocks of its tables that differ. As nodes and ports are visited in
 * index order, the steps of a kind are sorted by node, port and block;
 * diff_nodes() puts the kinds behind each other. A link is whole if both
 * ends are known and neither is Down. A component that the port accepted
 * earlier but did not keep is no difference, or the plan of such a port would
 * never become empty.
 *
 * Reference. IBA 1.4, 14.2.5.4, 14.2.5.6, 14.2.5.10 (LinearForwardingTable) and
 * the link state machine, 14.4.
 */
#include "sm/plan/plan.h"

#include <string.h>

const char *
plan_kind_name(enum plan_kind kind)
{
	static const char *const names[PLAN_N_KINDS] = {
		[PLAN_CHANGE_CLEAR] = "change-clear",
		[PLAN_TABLE] = "table",
		[PLAN_PORT] = "port",
		[PLAN_LFT] = "lft",
		[PLAN_SWITCH] = "switch",
		[PLAN_ARM] = "arm",
		[PLAN_ACTIVATE] = "activate",
	};

	return names[kind];
}

/* The input of a plan, and its steps so far. */
struct diff {
	const struct snapshot *s;
	const struct desired *w;
	const struct lft_seen *seen;
	const struct port_tables *held;
	const uint32_t *forgotten;
	GArray *steps;		/* struct plan_step, as they are found */
	uint8_t *differs;	/* by node, see struct plan */
};

static void
add_step(struct diff *d, enum plan_kind kind, uint32_t node, uint32_t port,
	 unsigned fields)
{
	const struct plan_step step = {
		.kind = kind, .node = node, .port = port, .fields = fields,
	};

	g_array_append_val(d->steps, step);
}

static void
diff_port(struct diff *d, uint32_t port)
{
	const struct snapshot_port *p = &d->s->ports[port];
	struct port_info info;
	unsigned fields, early;
	bool rises;

	fields = desired_port(d->s, d->w, port, &info);
	if (d->forgotten && fields & d->forgotten[port]) {
		fields &= ~d->forgotten[port];
		d->differs[p->node] = true;
	}

	/* Port 0 has no link state to change (IBA 14.2.5.6). */
	rises = p->num > 0 && p->info.state < PORT_STATE_ACTIVE &&
		desired_link_is_whole(d->s, port);
	/* Clients register as soon as ClientReregister is set: not before the
	 * port carries data. */
	early = rises ? fields & ~(unsigned)PORT_FIELD_REREGISTER : fields;
	if (rises && p->info.state == PORT_STATE_INIT)
		add_step(d, PLAN_ARM, p->node, port, early);
	else if (early)
		add_step(d, PLAN_PORT, p->node, port, early);
	if (rises)
		add_step(d, PLAN_ACTIVATE, p->node, port, fields);
}

static void
diff_table(struct diff *d, enum port_table table, uint32_t port)
{
	unsigned n = d->w->tables->rows[table][port] ?
		d->w->tables->n_blocks[table][port] : 0;
	struct plan_step step = {
		.kind = PLAN_TABLE, .table = (uint8_t)table,
		.node = d->s->ports[port].node, .port = port,
	};

	for (; step.block < n; step.block++) {
		const union port_block *want, *have;

		want = port_tables_get(d->w->tables, table, port, step.block);
		have = d->held ? port_tables_get(d->held, table, port,
						 step.block) : NULL;
		if (want && (!have || memcmp(have, want, sizeof(*have)) != 0))
			g_array_append_val(d->steps, step);
	}
}

static void
diff_switch(struct diff *d, uint32_t node)
{
	const struct snapshot_node *n = &d->s->nodes[node];
	const uint8_t *row = lft_row(d->w->lft, n->sw_index);
	uint32_t end = MIN(n->sw.linear_fdb_cap, d->w->lft->top + 1u);
	struct plan_step step = {
		.kind = PLAN_LFT, .node = node, .port = SNAPSHOT_NONE,
	};
	struct switch_info info;
	unsigned fields = desired_switch(d->s, d->w, node, &info);

	if (fields & SWITCH_FIELD_CHANGE)
		add_step(d, PLAN_CHANGE_CLEAR, node, SNAPSHOT_NONE,
			 SWITCH_FIELD_CHANGE);
	for (uint32_t lid = 0; lid < end; lid += LFT_BLOCK, step.block++) {
		const uint8_t *held = lft_seen_block(d->seen, n->sw_index,
						     step.block);
		/* Entries past the capability do not exist: a switch may return
		 * any value for them. */
		size_t len = MIN(LFT_BLOCK, n->sw.linear_fdb_cap - lid);

		if (!held || memcmp(held, row + lid, len) != 0)
			g_array_append_val(d->steps, step);
	}
	fields &= ~(unsigned)SWITCH_FIELD_CHANGE;
	if (fields)
		add_step(d, PLAN_SWITCH, node, SNAPSHOT_NONE, fields);
}

static void
diff_node(struct diff *d, uint32_t node)
{
	const struct snapshot_node *n = &d->s->nodes[node];
	uint32_t end = n->first_port + n->info.num_ports;
	guint n_steps = d->steps->len;

	if (snapshot_is_switch(n) && n->sw_known)
		diff_switch(d, node);
	for (uint32_t port = n->first_port; port <= end; port++) {
		if (!d->s->ports[port].known)
			continue;
		for (unsigned t = 0; d->w->tables && t < PORT_N_TABLES; t++)
			diff_table(d, (enum port_table)t, port);
		diff_port(d, port);
	}
	if (d->steps->len > n_steps)
		d->differs[node] = true;
}

/* where: by node; NULL: everywhere. */
static struct plan *
diff_nodes(struct diff *d, const uint8_t *where)
{
	struct plan *plan = g_new0(struct plan, 1);
	const struct plan_step *step;
	uint32_t next[PLAN_N_KINDS];

	d->steps = g_array_new(FALSE, FALSE, sizeof(struct plan_step));
	d->differs = plan->differs = g_new0(uint8_t, d->s->n_nodes + 1u);
	for (uint32_t node = 0; node < d->s->n_nodes; node++)
		if (!where || where[node])
			diff_node(d, node);
	/* sorts the steps by kind; in a kind they stay as they are */
	plan->n_steps = d->steps->len;
	plan->steps = g_new(struct plan_step, plan->n_steps);
	step = (const void *)d->steps->data;
	for (uint32_t i = 0; i < plan->n_steps; i++)
		plan->first[step[i].kind + 1]++;
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		plan->first[k + 1] += plan->first[k];
		next[k] = plan->first[k];
	}
	for (uint32_t i = 0; i < plan->n_steps; i++)
		plan->steps[next[step[i].kind]++] = step[i];
	g_array_unref(d->steps);
	return plan;
}

struct plan *
plan_diff(const struct snapshot *s, const struct desired *w,
	  const struct lft_seen *seen, const struct port_tables *held,
	  const uint32_t *forgotten)
{
	struct diff d = { s, w, seen, held, forgotten, NULL, NULL };

	return diff_nodes(&d, NULL);
}

/* The desired values of a port follow from its node and that at the other end. */
struct plan *
plan_left(const struct plan *sent, const struct snapshot *after,
	  const struct desired *w, const struct lft_seen *seen,
	  const struct port_tables *held)
{
	struct diff d = { after, w, seen, held, NULL, NULL, NULL };
	g_autofree uint8_t *where = g_memdup2(sent->differs, after->n_nodes);

	for (uint32_t port = 0; port < after->n_ports; port++) {
		uint32_t peer = after->ports[port].peer;

		if (peer != SNAPSHOT_NONE &&
		    sent->differs[after->ports[port].node])
			where[after->ports[peer].node] = true;
	}
	return diff_nodes(&d, where);
}

void
plan_free(struct plan *plan)
{
	if (!plan)
		return;
	g_free(plan->steps);
	g_free(plan->differs);
	g_free(plan);
}
