// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan as text and as JSON: the output of a dry run, so that an operator or a
 * script can check every write before it happens.
 *
 * Method. One walk over the steps writes either form. A step holds indices; the
 * values come from desired_port() and desired_switch(), as in the program stage,
 * so the printed values are those that would be sent. In the text all LFT blocks
 * of a switch share a line. In JSON a value of digits only is a number, any other
 * a string.
 *
 * P_Key tables. The output has the keys that are added and removed, not their
 * index: a key that only moves in its block is not printed. The other two tables
 * are short and printed whole.
 *
 * Digest. SHA-256 over the steps as JSON, and over the blocks of tables, of which
 * the output has less.
 *
 * Safety. An M_Key is a credential: the output says that one changes, never its
 * value; so a digest can be passed on.
 */
#include "sm/plan/plan.h"

#include <inttypes.h>
#include <string.h>

#include "topology/report.h"
#include "topology/text.h"

struct printer {
	const struct plan *plan;
	const struct snapshot *s;
	const struct desired *w;
	const struct lft_seen *seen;
	const struct port_tables *held;
	struct text_report r;
	GChecksum *sum;		/* of blocks that are written; or NULL */
};

static void
feed_block(struct printer *p, const void *bytes)
{
	if (p->sum)
		g_checksum_update(p->sum, bytes, LFT_BLOCK);
}

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
begin_step(struct printer *p, const struct plan_step *step,
	   const char *what)
{
	const struct snapshot_node *n = &p->s->nodes[step->node];
	const struct snapshot_port *port = step->port == SNAPSHOT_NONE ?
		NULL : &p->s->ports[step->port];

	p->r.gap = "\n";
	report_open(&p->r, NULL, '{');
	report_say(&p->r, "  %s of ", what);
	report_text(&p->r, "kind", plan_kind_name(step->kind), NULL);
	report_hex(&p->r, "guid", n->info.node_guid, 16, NULL);
	/* what a node is called is not written: no part of the digest */
	report_text(&p->r, "node", p->sum ? NULL : snapshot_node_name(n),
		    port ? " port " : "");
	if (port)
		report_number(&p->r, "port", port->num, "");
	report_say(&p->r, " (0x%016" PRIx64 ")", port && port->guid ?
		   port->guid : n->info.node_guid);
}

static void
end_step(struct printer *p)
{
	report_close(&p->r, '}');
	report_say(&p->r, "\n");
}

/* --------------------------------------------------- PortInfo, SwitchInfo */

static void
print_value(struct printer *p, const char *key, const char *text)
{
	uint64_t number;

	if (text_read_number(text, 10, UINT64_MAX, &number))
		report_number(&p->r, key, number, NULL);
	else
		report_text(&p->r, key, text, NULL);
}

/* The value in words; an M_Key is not shown. A new string. */
static char *
field_text(const struct plan_field *f, const void *info)
{
	static const char *const vls[] = {
		"none", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14",
	};
	static const char *const ways[2][2] = { { "off", "out" },
						{ "in", "both ways" } };
	const uint8_t *at = (const uint8_t *)info + f->offset;
	uint64_t n = plan_field_value(f, info);

	switch ((enum field_show)f->show) {
	case SHOW_NUMBER:
		break;
	case SHOW_GUID:
		return g_strdup_printf("0x%016" PRIx64, n);
	case SHOW_HEX:
		return g_strdup_printf("0x%04" PRIx64, n);
	case SHOW_SECRET:
		return g_strdup(n ? "(secret)" : "0");
	case SHOW_YES:
		return g_strdup(n ? "yes" : "no");
	case SHOW_MTU:
		n = port_mtu_bytes((unsigned)n);
		break;
	case SHOW_VLS:
		return g_strdup(n < G_N_ELEMENTS(vls) ? vls[n] : "?");
	case SHOW_STATE:
		return g_strdup(port_state_name((unsigned)n));
	case SHOW_PAIR:
		return g_strdup_printf("%u/%u", at[0], at[1]);
	case SHOW_ENFORCE:
		return g_strdup(ways[!!at[0]][!!at[1]]);
	}
	return g_strdup_printf("%" PRIu64, n);
}

/* Those of `fields`, from what was read to what is desired. */
static void
print_changes(struct printer *p, const struct plan_field *f,
	      unsigned fields, const void *old, const void *new)
{
	const char *comma = "";

	report_open(&p->r, "changes", '{');
	for (; fields; f++, fields >>= 1) {
		g_autofree char *from = NULL, *to = NULL;

		if (!(fields & 1))
			continue;
		from = field_text(f, old);
		to = field_text(f, new);
		report_open(&p->r, f->name, '{');
		report_say(&p->r, "%s%s %s -> %s", comma, f->name, from, to);
		print_value(p, "from", from);
		print_value(p, "to", to);
		report_close(&p->r, '}');
		comma = ", ";
	}
	report_close(&p->r, '}');
}

/* The Set that activates carries all desired values once more, but an earlier
 * step of the port has brought them about: only the request to register is
 * new. */
static void
print_port(struct printer *p, const struct plan_step *step)
{
	const struct port_info *old = &p->s->ports[step->port].info;
	bool arm = step->kind == PLAN_ARM, up = step->kind == PLAN_ACTIVATE;
	unsigned fields = step->fields & (up ? PORT_FIELD_REREGISTER : ~0u);
	struct port_info new;

	desired_port(p->s, p->w, step->port, &new);
	begin_step(p, step, "PortInfo");
	if (arm || up)
		report_text(&p->r, "state", arm ? "Armed" : "Active", NULL);
	report_say(&p->r, ": ");
	print_changes(p, port_fields, fields, old, &new);
	if (arm || up)
		report_say(&p->r, "%s%s", fields ? "; " : "",
			   arm ? "arm" : "activate");
	end_step(p);
}

static void
print_switch(struct printer *p, const struct plan_step *step)
{
	const struct switch_info *old = &p->s->nodes[step->node].sw;
	struct switch_info new;
	unsigned first;

	desired_switch(p->s, p->w, step->node, &new);
	/* the value after the Set, not the 1 that is written to clear it */
	new.port_state_change = false;
	begin_step(p, step, step->kind == PLAN_MFT ? "MFT" : "SwitchInfo");
	report_say(&p->r, ": ");
	if (!p->r.as_json && step->kind == PLAN_CHANGE_CLEAR)
		report_say(&p->r, "clear PortStateChange");
	else if (step->kind == PLAN_MFT)
		report_number(&p->r, "hidden_blocks",
			      plan_hidden_blocks(p->s, step->node, &first),
			      " blocks above MulticastFDBTop are cleared");
	else
		print_changes(p, switch_fields, step->fields, old, &new);
	end_step(p);
}

/* ------------------------------------------------------- tables of a port */

/* Keys of `in` that are not in `out_of`. Returns how many there are by now, if
 * there were n before. */
static unsigned
print_pkeys(struct printer *p, const char *member, char sign, unsigned n,
	    const union port_block *in, const union port_block *out_of)
{
	report_open(&p->r, member, '[');
	for (unsigned i = 0; in && i < PKEYS_A_BLOCK; i++) {
		uint16_t pkey = in->pkeys[i];
		bool stays = false;

		for (unsigned k = 0; out_of && k < PKEYS_A_BLOCK; k++)
			stays |= out_of->pkeys[k] == pkey;
		if (!pkey || stays)
			continue;
		report_say(&p->r, "%s%c ", n++ ? ", " : "", sign);
		report_hex(&p->r, NULL, pkey, 4, "");
	}
	report_close(&p->r, ']');
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
print_table(struct printer *p, const struct plan_step *step)
{
	static const char *const arb_blocks[VL_ARB_N_BLOCKS] = {
		[VL_ARB_LOW_1] = "low priority, first half",
		[VL_ARB_LOW_2] = "low priority, second half",
		[VL_ARB_HIGH_1] = "high priority, first half",
		[VL_ARB_HIGH_2] = "high priority, second half",
	};
	const union port_block *new = port_tables_get(p->w->tables, step->table,
						      step->port, step->block);
	const union port_block *old = p->held ?
		port_tables_get(p->held, step->table, step->port,
				step->block) : NULL;
	g_autofree char *from = NULL, *to = NULL;
	unsigned n;

	feed_block(p, new);
	begin_step(p, step, port_table_names[step->table]);
	report_text(&p->r, "table", port_table_names[step->table], NULL);
	report_number(&p->r, "block", step->block, NULL);
	report_bool(&p->r, "known", old != NULL);
	if (step->table == PORT_TABLE_PKEY) {
		report_say(&p->r, ", block %u: ", step->block);
		n = print_pkeys(p, "added", '+', 0, new, old);
		n = print_pkeys(p, "removed", '-', n, old, new);
		if (!n)
			report_say(&p->r, old ? "the same P_Keys in another "
				   "order" : "no keys");
		end_step(p);
		return;
	}
	from = vl_text(step->table, old);
	to = vl_text(step->table, new);
	report_text(&p->r, "from", from, NULL);
	report_text(&p->r, "to", to, NULL);
	if (step->table == PORT_TABLE_SL2VL)
		report_say(&p->r, ", from port %u: VLs by SL ", step->block);
	else
		report_say(&p->r, ", %s: VL:weight ", arb_blocks[step->block]);
	report_say(&p->r, "%s -> %s", from, to);
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

/* ": blocks 0-3, 7: 5 entries change" for the steps i to end - 1. */
static void
put_lft_line(struct printer *p, uint32_t i, uint32_t end)
{
	const struct plan_step *steps = p->plan->steps;
	GString *out = p->r.out;
	uint32_t n_entries = 0, unread = 0, last;
	bool known;

	g_string_append(out, end - i == 1 ? ": block" : ": blocks");
	for (const char *comma = " "; i < end; i = last + 1, comma = ", ") {
		for (last = i; last + 1 < end && steps[last + 1].block ==
		     steps[last].block + 1;)
			last++;
		g_string_append_printf(out, "%s%u", comma, steps[i].block);
		if (last > i)
			g_string_append_printf(out, "-%u", steps[last].block);
		for (; i <= last; i++) {
			n_entries += plan_entries(p->s, p->w, p->seen,
						  &steps[i], &known);
			unread += !known;
		}
	}
	g_string_append(out, ": ");
	put_counted(out, n_entries, "entry changes", "entries change");
	if (!unread)
		return;
	g_string_append(out, ", ");
	put_counted(out, unread, "block", "blocks");
	g_string_append(out, " not known so far");
}

/* Returns the next step. */
static uint32_t
print_lft(struct printer *p, uint32_t i)
{
	const struct plan_step *step = &p->plan->steps[i];
	uint32_t end = p->r.as_json ? i + 1 : lft_run_end(p->plan, i);
	unsigned entries;
	bool known;

	begin_step(p, step, "LFT");
	if (p->r.as_json) {
		feed_block(p, lft_row(p->w->lft, p->s->nodes[step->node].
				      sw_index) + step->block * LFT_BLOCK);
		entries = plan_entries(p->s, p->w, p->seen, step, &known);
		report_number(&p->r, "block", step->block, NULL);
		report_bool(&p->r, "known", known);
		report_number(&p->r, "entries", entries, NULL);
	} else {
		put_lft_line(p, i, end);
	}
	end_step(p);
	return end;
}

/* ---------------------------------------------------------------- the whole */

static void
print_steps(struct printer *p)
{
	for (uint32_t i = 0; i < p->plan->n_steps;) {
		const struct plan_step *step = &p->plan->steps[i++];

		switch ((enum plan_kind)step->kind) {
		case PLAN_CHANGE_CLEAR:
		case PLAN_MFT:
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
print_warnings(struct printer *p)
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
		report_say(&p->r, "  warning: ");
		report_text(&p->r, NULL, text, "\n");
	}
}

static void
print_heading(struct printer *p)
{
	static const char *const words[PLAN_N_KINDS][2] = {
		[PLAN_CHANGE_CLEAR] = { "PortStateChange to clear",
					"PortStateChanges to clear" },
		[PLAN_TABLE] = { "block of a port's table",
				 "blocks of ports' tables" },
		[PLAN_PORT] = { "PortInfo", "PortInfos" },
		[PLAN_LFT] = { "LFT block", "LFT blocks" },
		[PLAN_MFT] = { "multicast table", "multicast tables" },
		[PLAN_SWITCH] = { "SwitchInfo", "SwitchInfos" },
		[PLAN_ARM] = { "port to arm", "ports to arm" },
		[PLAN_ACTIVATE] = { "port to activate", "ports to activate" },
	};
	const struct plan *plan = p->plan;
	GString *out = p->r.out;
	const char *comma = ": ";
	uint32_t n_switches = 0;

	if (plan->n_steps == 0) {
		g_string_append(out,
				"plan: empty, the fabric is as configured\n");
		return;
	}
	g_string_append(out, "plan: ");
	put_counted(out, plan->n_steps, "step", "steps");
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		uint32_t n = plan->first[k + 1] - plan->first[k];

		if (n == 0)
			continue;
		g_string_append(out, comma);
		put_counted(out, n, words[k][0], words[k][1]);
		comma = ", ";
		if (k != PLAN_LFT)
			continue;
		g_string_append(out, " on ");
		for (uint32_t i = plan->first[PLAN_LFT];
		     i < plan->first[PLAN_LFT + 1]; n_switches++)
			i = lft_run_end(plan, i);
		put_counted(out, n_switches, "switch", "switches");
	}
	g_string_append_c(out, '\n');
}

char *
plan_digest(const struct plan *plan, const struct snapshot *s,
	    const struct desired *w, const struct lft_seen *seen,
	    const struct port_tables *held)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autoptr(GString) steps = g_string_new(NULL);
	struct printer p = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.r = { .out = steps, .as_json = true }, .sum = sum,
	};

	print_steps(&p);
	g_checksum_update(sum, (const guchar *)steps->str, (gssize)steps->len);
	return g_strndup(g_checksum_get_string(sum), PLAN_DIGEST_LEN);
}

void
plan_print(const struct plan *plan, const struct snapshot *s,
	   const struct desired *w, const struct lft_seen *seen,
	   const struct port_tables *held, bool as_json, GString *out)
{
	struct printer p = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.r = { .out = out, .as_json = as_json },
	};
	g_autofree char *digest = plan_digest(plan, s, w, seen, held);

	if (!as_json) {
		print_heading(&p);
		print_warnings(&p);
		print_steps(&p);
		if (plan->n_steps)
			g_string_append_printf(out, "minism --apply %s writes "
					       "this\n", digest);
		return;
	}
	report_open(&p.r, NULL, '{');
	report_open(&p.r, "steps", '[');
	print_steps(&p);
	report_close(&p.r, ']');
	p.r.gap = "\n";
	report_open(&p.r, "counts", '{');
	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		report_number(&p.r, plan_kind_name(k),
			      plan->first[k + 1] - plan->first[k], NULL);
	report_number(&p.r, "total", plan->n_steps, NULL);
	report_close(&p.r, '}');
	p.r.gap = "\n";
	report_open(&p.r, "warnings", '[');
	print_warnings(&p);
	report_close(&p.r, ']');
	p.r.gap = "\n";
	report_text(&p.r, "digest", digest, NULL);
	report_close(&p.r, '}');
	g_string_append_c(out, '\n');
}
