// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan as text: the output of a dry run, so that an operator can check every
 * write before it happens.
 *
 * Method. One walk over the steps. A step holds indices; the values come from
 * desired_port() and desired_switch(), as in the program stage, so the printed
 * values are those that would be sent. All LFT blocks of a switch share a line.
 *
 * P_Key tables. The output has the keys that are added and removed, not their
 * index: a key that only moves in its block is not printed. The other two tables
 * are short and printed whole.
 *
 * Digest. SHA-256 over this text and over the blocks of tables, of which the text
 * has less. What a node is called is not written: no part of the digest.
 *
 * Safety. An M_Key is a credential: the output says that one changes, never its
 * value; so a digest can be passed on.
 */
#include "sm/plan/plan.h"

#include <inttypes.h>
#include <string.h>

#include "topology/text.h"

struct printer {
	const struct plan *plan;
	const struct snapshot *s;
	const struct desired *w;
	const struct lft_seen *seen;
	const struct port_tables *held;
	GString *out;
	GChecksum *sum;		/* of blocks that are written; or NULL */
};

static void
feed_block(struct printer *p, const void *bytes)
{
	if (p->sum)
		g_checksum_update(p->sum, bytes, LFT_BLOCK);
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

	g_string_append_printf(p->out, "  %s of %s", what, p->sum ? "" :
			       snapshot_node_name(n));
	if (port)
		g_string_append_printf(p->out, " port %u", port->num);
	g_string_append_printf(p->out, " (0x%016" PRIx64 ")", port &&
			       port->guid ? port->guid : n->info.node_guid);
}

/* --------------------------------------------------- PortInfo, SwitchInfo */

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

	for (; fields; f++, fields >>= 1) {
		g_autofree char *from = NULL, *to = NULL;

		if (!(fields & 1))
			continue;
		from = field_text(f, old);
		to = field_text(f, new);
		g_string_append_printf(p->out, "%s%s %s -> %s", comma, f->name,
				       from, to);
		comma = ", ";
	}
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
	g_string_append(p->out, ": ");
	print_changes(p, port_fields, fields, old, &new);
	if (arm || up)
		g_string_append_printf(p->out, "%s%s", fields ? "; " : "",
				       arm ? "arm" : "activate");
	g_string_append_c(p->out, '\n');
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
	g_string_append(p->out, ": ");
	if (step->kind == PLAN_CHANGE_CLEAR)
		g_string_append(p->out, "clear PortStateChange");
	else if (step->kind == PLAN_MFT)
		g_string_append_printf(p->out, "%u blocks above "
				       "MulticastFDBTop are cleared",
				       plan_hidden_blocks(p->s, step->node,
							  &first));
	else
		print_changes(p, switch_fields, step->fields, old, &new);
	g_string_append_c(p->out, '\n');
}

/* ------------------------------------------------------- tables of a port */

/* Keys of `in` that are not in `out_of`. Returns how many there are by now, if
 * there were n before. */
static unsigned
print_pkeys(struct printer *p, char sign, unsigned n,
	    const union port_block *in, const union port_block *out_of)
{
	for (unsigned i = 0; in && i < PKEYS_A_BLOCK; i++) {
		uint16_t pkey = in->pkeys[i];
		bool stays = false;

		for (unsigned k = 0; out_of && k < PKEYS_A_BLOCK; k++)
			stays |= out_of->pkeys[k] == pkey;
		if (!pkey || stays)
			continue;
		g_string_append_printf(p->out, "%s%c 0x%04x", n++ ? ", " : "",
				       sign, pkey);
	}
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
	if (step->table == PORT_TABLE_PKEY) {
		g_string_append_printf(p->out, ", block %u: ", step->block);
		n = print_pkeys(p, '+', 0, new, old);
		n = print_pkeys(p, '-', n, old, new);
		if (!n)
			g_string_append(p->out, old ? "the same P_Keys in "
					"another order" : "no keys");
		g_string_append_c(p->out, '\n');
		return;
	}
	from = vl_text(step->table, old);
	to = vl_text(step->table, new);
	if (step->table == PORT_TABLE_SL2VL)
		g_string_append_printf(p->out, ", from port %u: VLs by SL ",
				       step->block);
	else
		g_string_append_printf(p->out, ", %s: VL:weight ",
				       arb_blocks[step->block]);
	g_string_append_printf(p->out, "%s -> %s\n", from, to);
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

/* ": blocks 0-3, 7: 5 entries change". Returns the next step. */
static uint32_t
print_lft(struct printer *p, uint32_t i)
{
	const struct plan_step *steps = p->plan->steps;
	uint32_t end = lft_run_end(p->plan, i), last;
	const uint8_t *row = lft_row(p->w->lft,
				     p->s->nodes[steps[i].node].sw_index);
	uint32_t n_entries = 0, unread = 0;
	bool known;

	begin_step(p, &steps[i], "LFT");
	g_string_append(p->out, end - i == 1 ? ": block" : ": blocks");
	for (const char *comma = " "; i < end; comma = ", ") {
		for (last = i; last + 1 < end && steps[last + 1].block ==
		     steps[last].block + 1;)
			last++;
		g_string_append_printf(p->out, "%s%u", comma, steps[i].block);
		if (last > i)
			g_string_append_printf(p->out, "-%u",
					       steps[last].block);
		for (; i <= last; i++) {
			feed_block(p, row + steps[i].block * LFT_BLOCK);
			n_entries += plan_entries(p->s, p->w, p->seen,
						  &steps[i], &known);
			unread += !known;
		}
	}
	g_string_append_printf(p->out, ": %u entr%s", n_entries,
			       n_entries == 1 ? "y changes" : "ies change");
	if (unread)
		g_string_append_printf(p->out, ", %u block%s not known so far",
				       unread, text_plural(unread));
	g_string_append_c(p->out, '\n');
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

static void
print_heading(struct printer *p)
{
	/* with what stands behind the plural */
	static const char *const words[PLAN_N_KINDS][2] = {
		[PLAN_CHANGE_CLEAR] = { "PortStateChange", " to clear" },
		[PLAN_TABLE] = { "block", " of ports' tables" },
		[PLAN_PORT] = { "PortInfo", "" },
		[PLAN_LFT] = { "LFT block", " on " },
		[PLAN_MFT] = { "multicast table", "" },
		[PLAN_SWITCH] = { "SwitchInfo", "" },
		[PLAN_ARM] = { "port", " to arm" },
		[PLAN_ACTIVATE] = { "port", " to activate" },
	};
	const struct plan *plan = p->plan;
	GString *out = p->out;
	const char *comma = ": ";
	uint32_t n_switches = 0;

	if (plan->n_steps == 0) {
		g_string_append(out,
				"plan: empty, the fabric is as configured\n");
		return;
	}
	g_string_append(out, "plan: ");
	text_put_count(out, plan->n_steps, 0, "step");
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		uint32_t n = plan->first[k + 1] - plan->first[k];

		if (n == 0)
			continue;
		g_string_append(out, comma);
		text_put_count(out, n, 0, words[k][0]);
		g_string_append(out, words[k][1]);
		comma = ", ";
		if (k != PLAN_LFT)
			continue;
		for (uint32_t i = plan->first[PLAN_LFT];
		     i < plan->first[PLAN_LFT + 1]; n_switches++)
			i = lft_run_end(plan, i);
		text_put_count(out, n_switches, 0, "switch");
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
		.out = steps, .sum = sum,
	};

	print_steps(&p);
	g_checksum_update(sum, (const guchar *)steps->str, (gssize)steps->len);
	return g_strndup(g_checksum_get_string(sum), PLAN_DIGEST_LEN);
}

void
plan_print(const struct plan *plan, const struct snapshot *s,
	   const struct desired *w, const struct lft_seen *seen,
	   const struct port_tables *held, GString *out)
{
	struct printer p = {
		.plan = plan, .s = s, .w = w, .seen = seen, .held = held,
		.out = out,
	};
	g_autofree char *digest = plan_digest(plan, s, w, seen, held);

	print_heading(&p);
	print_steps(&p);
	if (plan->n_steps)
		g_string_append_printf(out, "minism --apply %s writes this\n",
				       digest);
}
