// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan in words and as JSON: what the dry run shows.
 *
 * Purpose: let a person (or a script) judge every write before it happens: who
 * is written, which component, from what to what.
 *
 * Structs: `job` bundles what every function here reads. A step names indices;
 * the values come from desired_port() and desired_switch(), the same that the
 * program stage sends, so what is printed is what would be sent.
 *
 * Flow: plan_print_text() writes a heading with the counts, the warnings, then
 * one line a step; the LFT blocks of one switch, neighbours in the plan, share
 * a line. plan_print_json() writes one object a step. Both print a value with
 * put_port_value() or put_switch_value(); a value of digits only is a number
 * in JSON, any other a string.
 *
 * M_Keys are credentials: it is said that one changes, never what it is.
 */
#include "sm/plan/plan.h"

#include <inttypes.h>

#include "sm/plan/plan_table.h"
#include "topology/text.h"

struct job {
	const struct plan *plan;
	const struct snapshot *s;
	const struct desired *w;
	const struct lft_seen *seen;
	const struct port_tables *held;
	GString *out;
};

/* 1234567 as "1,234,567". */
static void
put_count(GString *out, uint64_t n)
{
	char digits[32];
	int len = g_snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			g_string_append_c(out, ',');
		g_string_append_c(out, digits[i]);
	}
}

static void
put_counted(GString *out, uint64_t n, const char *one, const char *many)
{
	put_count(out, n);
	g_string_append_printf(out, " %s", n == 1 ? one : many);
}

static const char *
oper_vls_name(unsigned code)
{
	static const char *const names[] = {
		"none", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14",
	};

	return code < G_N_ELEMENTS(names) ? names[code] : "?";
}

static const char *
enforcement_name(const struct port_info *i)
{
	if (i->enforce_inbound)
		return i->enforce_outbound ? "both ways" : "in";
	return i->enforce_outbound ? "out" : "off";
}

/* Of the components that are numbers. */
static unsigned
port_number(enum port_field field, const struct port_info *i)
{
	switch (field) {
	case PORT_FIELD_LID:
		return i->lid;
	case PORT_FIELD_LMC:
		return i->lmc;
	case PORT_FIELD_SM_LID:
		return i->sm_lid;
	case PORT_FIELD_SM_SL:
		return i->sm_sl;
	case PORT_FIELD_M_KEY_PROTECT:
		return i->m_key_protect;
	case PORT_FIELD_M_KEY_LEASE:
		return i->m_key_lease;
	case PORT_FIELD_SUBNET_TIMEOUT:
		return i->subnet_timeout;
	case PORT_FIELD_MTU:
		return port_mtu_bytes(i->neighbor_mtu);
	case PORT_FIELD_HOQ_LIFE:
		return i->hoq_life;
	case PORT_FIELD_VL_STALL:
		return i->vl_stall_count;
	case PORT_FIELD_VL_HIGH_LIMIT:
		return i->vl_high_limit;
	case PORT_FIELD_WIDTH:
		return i->width_enabled;
	case PORT_FIELD_SPEED:
		return i->speed_enabled;
	case PORT_FIELD_SPEED_EXT:
		return i->speed_ext_enabled;
	case PORT_FIELD_M_KEY:
	case PORT_FIELD_GID_PREFIX:
	case PORT_FIELD_OPER_VLS:
	case PORT_FIELD_ERROR_THRESHOLDS:
	case PORT_FIELD_STATE:
	case PORT_FIELD_ENFORCE:
	case PORT_FIELD_REREGISTER:
		break;
	}
	g_assert_not_reached();
}

static void
put_port_value(GString *out, unsigned bit, const struct port_info *i)
{
	switch ((enum port_field)bit) {
	case PORT_FIELD_LID:
	case PORT_FIELD_LMC:
	case PORT_FIELD_SM_LID:
	case PORT_FIELD_SM_SL:
	case PORT_FIELD_M_KEY_PROTECT:
	case PORT_FIELD_M_KEY_LEASE:
	case PORT_FIELD_SUBNET_TIMEOUT:
	case PORT_FIELD_MTU:
	case PORT_FIELD_HOQ_LIFE:
	case PORT_FIELD_VL_STALL:
	case PORT_FIELD_VL_HIGH_LIMIT:
	case PORT_FIELD_WIDTH:
	case PORT_FIELD_SPEED:
	case PORT_FIELD_SPEED_EXT:
		g_string_append_printf(out, "%u", port_number(bit, i));
		break;
	case PORT_FIELD_M_KEY:
		g_string_append(out, i->m_key ? "(secret)" : "0");
		break;
	case PORT_FIELD_GID_PREFIX:
		g_string_append_printf(out, "0x%016" PRIx64, i->gid_prefix);
		break;
	case PORT_FIELD_OPER_VLS:
		g_string_append(out, oper_vls_name(i->oper_vls));
		break;
	case PORT_FIELD_ERROR_THRESHOLDS:
		g_string_append_printf(out, "%u/%u", i->local_phy_errors,
				       i->overrun_errors);
		break;
	case PORT_FIELD_STATE:
		g_string_append(out, port_state_name(i->state));
		break;
	case PORT_FIELD_ENFORCE:
		g_string_append(out, enforcement_name(i));
		break;
	case PORT_FIELD_REREGISTER:
		g_string_append(out, i->client_reregister ? "yes" : "no");
		break;
	}
}

static void
put_switch_value(GString *out, unsigned bit, const struct switch_info *i)
{
	switch ((enum switch_field)bit) {
	case SWITCH_FIELD_TOP:
		g_string_append_printf(out, "%u", i->linear_fdb_top);
		break;
	case SWITCH_FIELD_LIFE_TIME:
		g_string_append_printf(out, "%u", i->life_time);
		break;
	case SWITCH_FIELD_CHANGE:
		g_string_append_printf(out, "%u", i->port_state_change);
		break;
	case SWITCH_FIELD_MCAST_TOP:
		g_string_append_printf(out, "0x%04x", i->multicast_fdb_top);
		break;
	}
}

/* Past the last step of plan_step i's own LFT: the steps of one switch. */
static uint32_t
lft_run_end(const struct plan *plan, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < plan->first[PLAN_LFT + 1] &&
	       plan->steps[end].node == plan->steps[i].node)
		end++;
	return end;
}

static uint32_t
count_lft_switches(const struct plan *plan)
{
	uint32_t n = 0, i = plan->first[PLAN_LFT];

	while (i < plan->first[PLAN_LFT + 1]) {
		i = lft_run_end(plan, i);
		n++;
	}
	return n;
}

/* Entries of this block that will differ from what the switch holds; of a
 * block that was never read, the entries that lead somewhere. */
static unsigned
count_entries(const struct job *j, const struct plan_step *step)
{
	const struct snapshot_node *n = &j->s->nodes[step->node];
	uint32_t first = step->block * LFT_BLOCK;
	const uint8_t *want = lft_row(j->w->lft, n->sw_index) + first;
	const uint8_t *held = lft_seen_block(j->seen, n->sw_index,
					     step->block);
	unsigned len = MIN(LFT_BLOCK, n->sw.linear_fdb_cap - first);
	unsigned differ = 0;

	for (unsigned i = 0; i < len; i++)
		differ += want[i] != (held ? held[i] : LFT_NO_PATH);
	return differ;
}

static bool
block_read(const struct job *j, const struct plan_step *step)
{
	uint32_t sw = j->s->nodes[step->node].sw_index;

	return lft_seen_block(j->seen, sw, step->block) != NULL;
}

/* A table too small for this subnet is programmed as far as it goes. */
static bool
switch_too_small(const struct job *j, uint32_t node)
{
	const struct snapshot_node *n = &j->s->nodes[node];

	return snapshot_is_switch(n) && n->sw_known &&
	       n->sw.linear_fdb_cap <= j->w->lft->top;
}

static void
put_warning(const struct job *j, uint32_t node, GString *out)
{
	const struct snapshot_node *n = &j->s->nodes[node];

	g_string_append_printf(out, "%s (0x%016" PRIx64 "): its LFT ends at "
			       "LID %d, the subnet has LIDs up to %u",
			       snapshot_node_name(n), n->info.node_guid,
			       n->sw.linear_fdb_cap - 1, j->w->lft->top);
}

/* "H-1 port 1 (0x..)": a CA port by its own GUID, a switch port by that of the
 * node. */
static void
put_port_name(const struct job *j, uint32_t port)
{
	const struct snapshot_port *p = &j->s->ports[port];
	const struct snapshot_node *n = &j->s->nodes[p->node];

	g_string_append_printf(j->out, "%s port %u (0x%016" PRIx64 ")",
			       snapshot_node_name(n), p->num,
			       p->guid ? p->guid : n->info.node_guid);
}

static void
put_node_name(const struct job *j, uint32_t node)
{
	const struct snapshot_node *n = &j->s->nodes[node];

	g_string_append_printf(j->out, "%s (0x%016" PRIx64 ")",
			       snapshot_node_name(n), n->info.node_guid);
}

/* "blocks 0-3, 7" for the steps i to end - 1. */
static void
put_block_ranges(const struct job *j, uint32_t i, uint32_t end)
{
	const struct plan_step *steps = j->plan->steps;
	const char *comma = "";

	g_string_append(j->out, end - i == 1 ? "block " : "blocks ");
	while (i < end) {
		uint32_t last = i;

		while (last + 1 < end &&
		       steps[last + 1].block == steps[last].block + 1)
			last++;
		g_string_append_printf(j->out, "%s%u", comma, steps[i].block);
		if (last > i)
			g_string_append_printf(j->out, "-%u",
					       steps[last].block);
		comma = ", ";
		i = last + 1;
	}
}

static void
print_lft_line(const struct job *j, uint32_t i, uint32_t end)
{
	uint64_t changed = 0, written = 0;
	uint32_t unread = 0;

	for (uint32_t k = i; k < end; k++) {
		const struct plan_step *step = &j->plan->steps[k];

		if (block_read(j, step)) {
			changed += count_entries(j, step);
		} else {
			written += count_entries(j, step);
			unread++;
		}
	}
	g_string_append(j->out, "  LFT of ");
	put_node_name(j, j->plan->steps[i].node);
	g_string_append(j->out, ": ");
	put_block_ranges(j, i, end);
	g_string_append(j->out, ": ");
	if (unread == end - i) {
		put_counted(j->out, written, "entry", "entries");
		g_string_append(j->out, ", not known so far");
	} else {
		put_counted(j->out, changed, "entry changes",
			    "entries change");
	}
	if (unread > 0 && unread < end - i) {
		g_string_append(j->out, ", and ");
		put_counted(j->out, written, "entry", "entries");
		g_string_append(j->out, " in ");
		put_counted(j->out, unread, "block", "blocks");
		g_string_append(j->out, " not known so far");
	}
	g_string_append_c(j->out, '\n');
}

/* The Set that activates carries the wanted values once more, but an earlier
 * step of the same port has brought them about. Only clients are told not
 * before then. */
static unsigned
shown_fields(const struct plan_step *step)
{
	return step->kind == PLAN_ACTIVATE ?
		step->fields & PORT_FIELD_REREGISTER : step->fields;
}

static void
print_port_line(const struct job *j, const struct plan_step *step,
		const char *end)
{
	const struct port_info *old = &j->s->ports[step->port].info;
	unsigned fields = shown_fields(step);
	const char *comma = "";
	struct port_info new;

	desired_port(j->s, j->w, step->port, &new);
	g_string_append(j->out, "  PortInfo of ");
	put_port_name(j, step->port);
	g_string_append(j->out, ": ");
	for (unsigned bit = 1; bit <= fields; bit <<= 1) {
		if (!(fields & bit))
			continue;
		g_string_append_printf(j->out, "%s%s ", comma,
				       port_field_name(bit));
		put_port_value(j->out, bit, old);
		g_string_append(j->out, " -> ");
		put_port_value(j->out, bit, &new);
		comma = ", ";
	}
	if (fields && *end)
		g_string_append(j->out, "; ");
	g_string_append_printf(j->out, "%s\n", end);
}

static void
print_switch_line(const struct job *j, const struct plan_step *step)
{
	const struct switch_info *old = &j->s->nodes[step->node].sw;
	const char *comma = "";
	struct switch_info new;

	desired_switch(j->s, j->w, step->node, &new);
	g_string_append(j->out, "  SwitchInfo of ");
	put_node_name(j, step->node);
	g_string_append(j->out, ": ");
	for (unsigned bit = 1; bit <= step->fields; bit <<= 1) {
		if (!(step->fields & bit))
			continue;
		g_string_append_printf(j->out, "%s%s ", comma,
				       switch_field_name(bit));
		put_switch_value(j->out, bit, old);
		g_string_append(j->out, " -> ");
		put_switch_value(j->out, bit, &new);
		comma = ", ";
	}
	g_string_append_c(j->out, '\n');
}

static void
print_table_line(const struct job *j, const struct plan_step *step)
{
	g_string_append_printf(j->out, "  %s of ",
			       port_table_name(step->table));
	put_port_name(j, step->port);
	g_string_append(j->out, ", ");
	plan_table_text(j->w, j->held, step, j->out);
	g_string_append_c(j->out, '\n');
}

/* Prints the step i, and the others that share its line. Returns the next. */
static uint32_t
print_line(const struct job *j, uint32_t i)
{
	const struct plan_step *step = &j->plan->steps[i];
	uint32_t end;

	switch ((enum plan_kind)step->kind) {
	case PLAN_CHANGE_CLEAR:
		g_string_append(j->out, "  SwitchInfo of ");
		put_node_name(j, step->node);
		g_string_append(j->out, ": clear PortStateChange\n");
		break;
	case PLAN_TABLE:
		print_table_line(j, step);
		break;
	case PLAN_PORT:
		print_port_line(j, step, "");
		break;
	case PLAN_LFT:
		end = lft_run_end(j->plan, i);
		print_lft_line(j, i, end);
		return end;
	case PLAN_SWITCH:
		print_switch_line(j, step);
		break;
	case PLAN_ARM:
		print_port_line(j, step, "arm");
		break;
	case PLAN_ACTIVATE:
		print_port_line(j, step, "activate");
		break;
	case PLAN_N_KINDS:
		g_assert_not_reached();
	}
	return i + 1;
}

static void
put_kind_count(const struct job *j, enum plan_kind kind, uint32_t n)
{
	switch (kind) {
	case PLAN_CHANGE_CLEAR:
		put_counted(j->out, n, "PortStateChange to clear",
			    "PortStateChanges to clear");
		break;
	case PLAN_TABLE:
		put_counted(j->out, n, "block of a port's table",
			    "blocks of ports' tables");
		break;
	case PLAN_PORT:
		put_counted(j->out, n, "PortInfo", "PortInfos");
		break;
	case PLAN_LFT:
		put_counted(j->out, n, "LFT block", "LFT blocks");
		g_string_append(j->out, " on ");
		put_counted(j->out, count_lft_switches(j->plan), "switch",
			    "switches");
		break;
	case PLAN_SWITCH:
		put_counted(j->out, n, "SwitchInfo", "SwitchInfos");
		break;
	case PLAN_ARM:
		put_counted(j->out, n, "port to arm", "ports to arm");
		break;
	case PLAN_ACTIVATE:
		put_counted(j->out, n, "port to activate",
			    "ports to activate");
		break;
	case PLAN_N_KINDS:
		g_assert_not_reached();
	}
}

static void
print_heading(const struct job *j)
{
	const char *comma = ": ";

	if (j->plan->n_steps == 0) {
		g_string_append(j->out,
				"plan: empty, the fabric is as wanted\n");
		return;
	}
	g_string_append(j->out, "plan: ");
	put_counted(j->out, j->plan->n_steps, "step", "steps");
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		uint32_t n = j->plan->first[k + 1] - j->plan->first[k];

		if (n == 0)
			continue;
		g_string_append(j->out, comma);
		put_kind_count(j, k, n);
		comma = ", ";
	}
	g_string_append_c(j->out, '\n');
}

void
plan_print_text(const struct plan *plan, const struct snapshot *s,
		const struct desired *w, const struct lft_seen *seen,
		const struct port_tables *held, GString *out)
{
	const struct job j = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.out = out,
	};

	print_heading(&j);
	for (uint32_t node = 0; node < s->n_nodes; node++) {
		if (!switch_too_small(&j, node))
			continue;
		g_string_append(out, "  warning: ");
		put_warning(&j, node, out);
		g_string_append_c(out, '\n');
	}
	for (uint32_t i = 0; i < plan->n_steps;)
		i = print_line(&j, i);
}

/* A value of digits only is a number, any other a string. */
static void
json_value(struct json *j, const char *key, const char *text)
{
	uint64_t number;

	if (text_read_digits(text, 10, UINT64_MAX, &number))
		json_number(j, key, number);
	else
		json_text(j, key, text);
}

static void
json_change(struct json *j, const char *name, const char *from,
	    const char *to)
{
	json_open(j, name, '{');
	json_value(j, "from", from);
	json_value(j, "to", to);
	json_close(j, '}');
}

static void
json_port(const struct job *j, const struct plan_step *step, struct json *out)
{
	const struct snapshot_port *p = &j->s->ports[step->port];
	unsigned fields = shown_fields(step);
	g_autoptr(GString) from = g_string_new(NULL);
	g_autoptr(GString) to = g_string_new(NULL);
	struct port_info new;

	desired_port(j->s, j->w, step->port, &new);
	json_number(out, "port", p->num);
	if (step->kind != PLAN_PORT)
		json_text(out, "state", step->kind == PLAN_ARM ? "Armed" :
			  "Active");
	json_open(out, "changes", '{');
	for (unsigned bit = 1; bit <= fields; bit <<= 1) {
		if (!(fields & bit))
			continue;
		g_string_truncate(from, 0);
		g_string_truncate(to, 0);
		put_port_value(from, bit, &p->info);
		put_port_value(to, bit, &new);
		json_change(out, port_field_name(bit), from->str, to->str);
	}
	json_close(out, '}');
}

static void
json_switch(const struct job *j, const struct plan_step *step,
	    struct json *out)
{
	g_autoptr(GString) from = g_string_new(NULL);
	g_autoptr(GString) to = g_string_new(NULL);
	struct switch_info new;

	desired_switch(j->s, j->w, step->node, &new);
	/* What the bit will be, not the 1 that is written to clear it. */
	new.port_state_change = false;
	json_open(out, "changes", '{');
	for (unsigned bit = 1; bit <= step->fields; bit <<= 1) {
		if (!(step->fields & bit))
			continue;
		g_string_truncate(from, 0);
		g_string_truncate(to, 0);
		put_switch_value(from, bit, &j->s->nodes[step->node].sw);
		put_switch_value(to, bit, &new);
		json_change(out, switch_field_name(bit), from->str, to->str);
	}
	json_close(out, '}');
}

static void
json_step(const struct job *j, const struct plan_step *step, struct json *out)
{
	const struct snapshot_node *n = &j->s->nodes[step->node];

	json_open(out, NULL, '{');
	json_text(out, "kind", plan_kind_name(step->kind));
	json_hex(out, "guid", n->info.node_guid, 16);
	json_text(out, "node", snapshot_node_name(n));
	switch ((enum plan_kind)step->kind) {
	case PLAN_CHANGE_CLEAR:
	case PLAN_SWITCH:
		json_switch(j, step, out);
		break;
	case PLAN_TABLE:
		json_number(out, "port", j->s->ports[step->port].num);
		plan_table_json(j->w, j->held, step, out);
		break;
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		json_port(j, step, out);
		break;
	case PLAN_LFT:
		json_number(out, "block", step->block);
		json_bool(out, "known", block_read(j, step));
		json_number(out, "entries", count_entries(j, step));
		break;
	case PLAN_N_KINDS:
		g_assert_not_reached();
	}
	json_close(out, '}');
}

static void
json_warnings(const struct job *j, struct json *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	json_break(out, "\n");
	json_open(out, "warnings", '[');
	for (uint32_t node = 0; node < j->s->n_nodes; node++) {
		if (!switch_too_small(j, node))
			continue;
		g_string_truncate(text, 0);
		put_warning(j, node, text);
		json_text(out, NULL, text->str);
	}
	json_close(out, ']');
}

static void
json_counts(const struct plan *plan, struct json *out)
{
	json_break(out, "\n");
	json_open(out, "counts", '{');
	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		json_number(out, plan_kind_name(k),
			    plan->first[k + 1] - plan->first[k]);
	json_number(out, "total", plan->n_steps);
	json_close(out, '}');
}

void
plan_print_json(const struct plan *plan, const struct snapshot *s,
		const struct desired *w, const struct lft_seen *seen,
		const struct port_tables *held, GString *out)
{
	const struct job j = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.out = out,
	};
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_open(&json, "steps", '[');
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		json_break(&json, "\n");
		json_step(&j, &plan->steps[i], &json);
	}
	json_close(&json, ']');
	json_counts(plan, &json);
	json_warnings(&j, &json);
	json_close(&json, '}');
	g_string_append_c(out, '\n');
}
