// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan as text and as JSON: what a dry run prints, so that a person or a
 * script can judge every write before it happens.
 *
 * Method. One walk over the steps writes either form: `json` of the printer
 * says which. A step holds indices; the values come from desired_port() and
 * desired_switch(), as in the program stage, so what is printed is what would
 * be sent. In the text all LFT blocks of a switch share a line. In JSON a value
 * of digits only is a number, any other a string.
 *
 * P_Key tables. What matters is which keys are added to a port and which are
 * removed, not their index: a key that only moves in its block is not printed.
 * The other two tables are short and printed whole.
 *
 * Safety. An M_Key is a credential: it is printed that one changes, never what
 * it is.
 */
#include "sm/plan/plan.h"

#include <inttypes.h>

#include "topology/json.h"
#include "topology/text.h"

struct printer {
	const struct plan *plan;
	const struct snapshot *s;
	const struct desired *w;
	const struct lft_seen *seen;
	const struct port_tables *held;
	GString *out;
	struct json *json;	/* NULL: text */
};

/* "1,234,567 blocks" */
static void
put_counted(GString *out, uint64_t n, const char *one, const char *many)
{
	char digits[32];
	int len = g_snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			g_string_append_c(out, ',');
		g_string_append_c(out, digits[i]);
	}
	g_string_append_printf(out, " %s", n == 1 ? one : many);
}

/* The beginning of a step, with the node or port that it writes: a CA port by
 * its own GUID, a switch port by that of the node. */
static void
begin_step(const struct printer *p, const struct plan_step *step,
	   const char *what)
{
	const struct snapshot_node *n = &p->s->nodes[step->node];
	const struct snapshot_port *port = step->port == SNAPSHOT_NONE ?
		NULL : &p->s->ports[step->port];

	if (p->json) {
		json_break(p->json, "\n");
		json_open(p->json, NULL, '{');
		json_text(p->json, "kind", plan_kind_name(step->kind));
		json_hex(p->json, "guid", n->info.node_guid, 16);
		json_text(p->json, "node", snapshot_node_name(n));
		if (port)
			json_number(p->json, "port", port->num);
		return;
	}
	g_string_append_printf(p->out, "  %s of %s", what,
			       snapshot_node_name(n));
	if (port)
		g_string_append_printf(p->out, " port %u", port->num);
	g_string_append_printf(p->out, " (0x%016" PRIx64 ")", port &&
			       port->guid ? port->guid : n->info.node_guid);
}

static void
end_step(const struct printer *p)
{
	if (p->json)
		json_close(p->json, '}');
	else
		g_string_append_c(p->out, '\n');
}

/* --------------------------------------------------- PortInfo, SwitchInfo */

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
print_change(const struct printer *p, const struct plan_field *f,
	     const char *comma, const void *old, const void *new)
{
	g_autofree char *from = plan_field_text(f, old);
	g_autofree char *to = plan_field_text(f, new);

	if (!p->json) {
		g_string_append_printf(p->out, "%s%s %s -> %s", comma, f->name,
				       from, to);
		return;
	}
	json_open(p->json, f->name, '{');
	json_value(p->json, "from", from);
	json_value(p->json, "to", to);
	json_close(p->json, '}');
}

/* Those of `fields`, from what was read to what is desired. */
static void
print_changes(const struct printer *p, const struct plan_field *f,
	      unsigned fields, const void *old, const void *new)
{
	const char *comma = "";

	if (p->json)
		json_open(p->json, "changes", '{');
	for (; fields; f++, fields >>= 1) {
		if (!(fields & 1))
			continue;
		print_change(p, f, comma, old, new);
		comma = ", ";
	}
	if (p->json)
		json_close(p->json, '}');
}

/* The Set that activates carries all desired values once more, but an earlier
 * step of the port has brought them about: only the request to register is
 * new. */
static void
print_port(const struct printer *p, const struct plan_step *step)
{
	const struct port_info *old = &p->s->ports[step->port].info;
	bool arm = step->kind == PLAN_ARM, up = step->kind == PLAN_ACTIVATE;
	unsigned fields = step->fields & (up ? PORT_FIELD_REREGISTER : ~0u);
	struct port_info new;

	desired_port(p->s, p->w, step->port, &new);
	begin_step(p, step, "PortInfo");
	if (p->json && (arm || up))
		json_text(p->json, "state", arm ? "Armed" : "Active");
	if (!p->json)
		g_string_append(p->out, ": ");
	print_changes(p, port_fields, fields, old, &new);
	if (!p->json && (arm || up))
		g_string_append_printf(p->out, "%s%s", fields ? "; " : "",
				       arm ? "arm" : "activate");
	end_step(p);
}

static void
print_switch(const struct printer *p, const struct plan_step *step)
{
	const struct switch_info *old = &p->s->nodes[step->node].sw;
	struct switch_info new;

	desired_switch(p->s, p->w, step->node, &new);
	/* what the bit will be, not the 1 that is written to clear it */
	new.port_state_change = false;
	begin_step(p, step, "SwitchInfo");
	if (!p->json)
		g_string_append(p->out, ": ");
	if (!p->json && step->kind == PLAN_CHANGE_CLEAR)
		g_string_append(p->out, "clear PortStateChange");
	else
		print_changes(p, switch_fields, step->fields, old, &new);
	end_step(p);
}

/* ------------------------------------------------------- tables of a port */

static bool
has_pkey(const union port_block *b, uint16_t pkey)
{
	for (unsigned i = 0; b && i < PKEYS_A_BLOCK; i++)
		if (b->pkeys[i] == pkey)
			return true;
	return false;
}

/* Keys of `in` that are not in `out_of`. Returns how many there are by now, if
 * there were n before. */
static unsigned
print_pkeys(const struct printer *p, const char *member, char sign, unsigned n,
	    const union port_block *in, const union port_block *out_of)
{
	if (p->json)
		json_open(p->json, member, '[');
	for (unsigned i = 0; in && i < PKEYS_A_BLOCK; i++) {
		uint16_t pkey = in->pkeys[i];

		if (!pkey || has_pkey(out_of, pkey))
			continue;
		if (p->json)
			json_hex(p->json, NULL, pkey, 4);
		else
			g_string_append_printf(p->out, "%s%c 0x%04x",
					       n ? ", " : "", sign, pkey);
		n++;
	}
	if (p->json)
		json_close(p->json, ']');
	return n;
}

/* "0,1,2,..": VLs by SL; or "0:64,1:32": weights by VL. A new string. */
static char *
vl_text(enum port_table table, const union port_block *b)
{
	GString *out = g_string_new(b ? NULL : "not known");

	for (unsigned sl = 0; b && table == PORT_TABLE_SL2VL && sl < SL_COUNT;
	     sl++)
		g_string_append_printf(out, "%s%u", sl ? "," : "", b->vl[sl]);
	for (unsigned i = 0; b && table == PORT_TABLE_VL_ARB &&
	     i < VL_ARB_ENTRIES; i++)
		if (b->arb[i].weight)
			g_string_append_printf(out, "%s%u:%u",
					       out->len ? "," : "",
					       b->arb[i].vl,
					       b->arb[i].weight);
	return g_string_free(out->len ? out : g_string_append(out, "none"),
			     FALSE);
}

static void
print_vls(const struct printer *p, const struct plan_step *step,
	  const union port_block *old, const union port_block *new)
{
	static const char *const arb_blocks[VL_ARB_N_BLOCKS] = {
		[VL_ARB_LOW_1] = "low priority, first half",
		[VL_ARB_LOW_2] = "low priority, second half",
		[VL_ARB_HIGH_1] = "high priority, first half",
		[VL_ARB_HIGH_2] = "high priority, second half",
	};
	g_autofree char *from = vl_text(step->table, old);
	g_autofree char *to = vl_text(step->table, new);

	if (p->json) {
		json_text(p->json, "from", from);
		json_text(p->json, "to", to);
		return;
	}
	if (step->table == PORT_TABLE_SL2VL)
		g_string_append_printf(p->out, ", from port %u: VLs by SL ",
				       step->block);
	else
		g_string_append_printf(p->out, ", %s: VL:weight ",
				       arb_blocks[step->block]);
	g_string_append_printf(p->out, "%s -> %s", from, to);
}

static void
print_table(const struct printer *p, const struct plan_step *step)
{
	const union port_block *new = port_tables_get(p->w->tables, step->table,
						      step->port, step->block);
	const union port_block *old = p->held ?
		port_tables_get(p->held, step->table, step->port,
				step->block) : NULL;
	unsigned n;

	begin_step(p, step, port_table_name(step->table));
	if (p->json) {
		json_text(p->json, "table", port_table_name(step->table));
		json_number(p->json, "block", step->block);
		json_bool(p->json, "known", old != NULL);
	}
	if (step->table == PORT_TABLE_PKEY) {
		if (!p->json)
			g_string_append_printf(p->out, ", block %u: ",
					       step->block);
		n = print_pkeys(p, "added", '+', 0, new, old);
		n = print_pkeys(p, "removed", '-', n, old, new);
		if (!p->json && !n)
			g_string_append(p->out, old ? "the same keys in other "
					"places" : "no keys");
	} else {
		print_vls(p, step, old, new);
	}
	end_step(p);
}

/* ------------------------------------------------------------------- LFTs */

/* Past the steps for the LFT of the switch of step i. */
static uint32_t
lft_run_end(const struct plan *plan, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < plan->first[PLAN_LFT + 1] &&
	       plan->steps[end].node == plan->steps[i].node)
		end++;
	return end;
}

/* Entries of this block that will differ from what the switch holds; of a
 * block that was never read, the entries that lead somewhere. */
static unsigned
count_entries(const struct printer *p, const struct plan_step *step,
	      bool *known)
{
	const struct snapshot_node *n = &p->s->nodes[step->node];
	uint32_t first = step->block * LFT_BLOCK;
	const uint8_t *want = lft_row(p->w->lft, n->sw_index) + first;
	const uint8_t *held = lft_seen_block(p->seen, n->sw_index,
					     step->block);
	unsigned len = MIN(LFT_BLOCK, n->sw.linear_fdb_cap - first);
	unsigned differ = 0;

	*known = held != NULL;
	for (unsigned i = 0; i < len; i++)
		differ += want[i] != (held ? held[i] : LFT_NO_PATH);
	return differ;
}

/* "blocks 0-3, 7" for the steps i to end - 1. */
static void
put_block_ranges(const struct printer *p, uint32_t i, uint32_t end)
{
	const struct plan_step *steps = p->plan->steps;
	const char *comma = "";

	g_string_append(p->out, end - i == 1 ? "block " : "blocks ");
	while (i < end) {
		uint32_t last = i;

		while (last + 1 < end &&
		       steps[last + 1].block == steps[last].block + 1)
			last++;
		g_string_append_printf(p->out, "%s%u", comma, steps[i].block);
		if (last > i)
			g_string_append_printf(p->out, "-%u",
					       steps[last].block);
		comma = ", ";
		i = last + 1;
	}
}

static void
put_lft_line(const struct printer *p, uint32_t i, uint32_t end)
{
	uint64_t changed = 0, written = 0;
	uint32_t unread = 0;

	for (uint32_t k = i; k < end; k++) {
		bool known;
		unsigned n = count_entries(p, &p->plan->steps[k], &known);

		*(known ? &changed : &written) += n;
		unread += !known;
	}
	g_string_append(p->out, ": ");
	put_block_ranges(p, i, end);
	g_string_append(p->out, ": ");
	if (unread < end - i)
		put_counted(p->out, changed, "entry changes",
			    "entries change");
	if (!unread)
		return;
	g_string_append(p->out, unread < end - i ? ", and " : "");
	put_counted(p->out, written, "entry", "entries");
	g_string_append(p->out, unread < end - i ? " in " : ",");
	if (unread < end - i)
		put_counted(p->out, unread, "block", "blocks");
	g_string_append(p->out, " not known so far");
}

/* Returns the next step. */
static uint32_t
print_lft(const struct printer *p, uint32_t i)
{
	const struct plan_step *step = &p->plan->steps[i];
	uint32_t end = p->json ? i + 1 : lft_run_end(p->plan, i);
	unsigned entries;
	bool known;

	begin_step(p, step, "LFT");
	if (p->json) {
		entries = count_entries(p, step, &known);
		json_number(p->json, "block", step->block);
		json_bool(p->json, "known", known);
		json_number(p->json, "entries", entries);
	} else {
		put_lft_line(p, i, end);
	}
	end_step(p);
	return end;
}

/* ---------------------------------------------------------------- the whole */

static void
print_steps(const struct printer *p)
{
	for (uint32_t i = 0; i < p->plan->n_steps;) {
		const struct plan_step *step = &p->plan->steps[i++];

		switch ((enum plan_kind)step->kind) {
		case PLAN_CHANGE_CLEAR:
		case PLAN_SWITCH:
			print_switch(p, step);
			break;
		case PLAN_TABLE:
			print_table(p, step);
			break;
		case PLAN_PORT:
		case PLAN_ARM:
		case PLAN_ACTIVATE:
			print_port(p, step);
			break;
		case PLAN_LFT:
			i = print_lft(p, i - 1);
			break;
		case PLAN_N_KINDS:
			g_assert_not_reached();
		}
	}
}

/* Switches with fewer entries than the subnet has LIDs: they are programmed as
 * far as their LFT goes. */
static void
print_warnings(const struct printer *p)
{
	for (uint32_t i = 0; i < p->s->n_switches; i++) {
		const struct snapshot_node *n =
			&p->s->nodes[p->s->switches[i]];
		g_autofree char *text = NULL;

		if (!n->sw_known || n->sw.linear_fdb_cap > p->w->lft->top)
			continue;
		text = g_strdup_printf("%s (0x%016" PRIx64 "): its LFT ends at "
				       "LID %d, the subnet has LIDs up to %u",
				       snapshot_node_name(n),
				       n->info.node_guid,
				       n->sw.linear_fdb_cap - 1,
				       p->w->lft->top);
		if (p->json)
			json_text(p->json, NULL, text);
		else
			g_string_append_printf(p->out, "  warning: %s\n",
					       text);
	}
}

static uint32_t
count_lft_switches(const struct plan *plan)
{
	uint32_t n = 0, i = plan->first[PLAN_LFT];

	for (; i < plan->first[PLAN_LFT + 1]; n++)
		i = lft_run_end(plan, i);
	return n;
}

static void
print_heading(const struct printer *p)
{
	static const char *const words[PLAN_N_KINDS][2] = {
		[PLAN_CHANGE_CLEAR] = { "PortStateChange to clear",
					"PortStateChanges to clear" },
		[PLAN_TABLE] = { "block of a port's table",
				 "blocks of ports' tables" },
		[PLAN_PORT] = { "PortInfo", "PortInfos" },
		[PLAN_LFT] = { "LFT block", "LFT blocks" },
		[PLAN_SWITCH] = { "SwitchInfo", "SwitchInfos" },
		[PLAN_ARM] = { "port to arm", "ports to arm" },
		[PLAN_ACTIVATE] = { "port to activate", "ports to activate" },
	};
	const char *comma = ": ";

	if (p->plan->n_steps == 0) {
		g_string_append(p->out,
				"plan: empty, the fabric is as wanted\n");
		return;
	}
	g_string_append(p->out, "plan: ");
	put_counted(p->out, p->plan->n_steps, "step", "steps");
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		uint32_t n = p->plan->first[k + 1] - p->plan->first[k];

		if (n == 0)
			continue;
		g_string_append(p->out, comma);
		put_counted(p->out, n, words[k][0], words[k][1]);
		comma = ", ";
		if (k != PLAN_LFT)
			continue;
		g_string_append(p->out, " on ");
		put_counted(p->out, count_lft_switches(p->plan), "switch",
			    "switches");
	}
	g_string_append_c(p->out, '\n');
}

void
plan_print_text(const struct plan *plan, const struct snapshot *s,
		const struct desired *w, const struct lft_seen *seen,
		const struct port_tables *held, GString *out)
{
	const struct printer p = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.out = out,
	};

	print_heading(&p);
	print_warnings(&p);
	print_steps(&p);
}

void
plan_print_json(const struct plan *plan, const struct snapshot *s,
		const struct desired *w, const struct lft_seen *seen,
		const struct port_tables *held, GString *out)
{
	struct json j = { .out = out };
	const struct printer p = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.json = &j,
	};

	json_open(&j, NULL, '{');
	json_open(&j, "steps", '[');
	print_steps(&p);
	json_close(&j, ']');
	json_break(&j, "\n");
	json_open(&j, "counts", '{');
	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		json_number(&j, plan_kind_name(k),
			    plan->first[k + 1] - plan->first[k]);
	json_number(&j, "total", plan->n_steps);
	json_close(&j, '}');
	json_break(&j, "\n");
	json_open(&j, "warnings", '[');
	print_warnings(&p);
	json_close(&j, ']');
	json_close(&j, '}');
	g_string_append_c(out, '\n');
}
