// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Steps on tables of ports, in words.
 *
 * Of P_Keys a person wants to know who gets into a partition and who gets out
 * of it, not at which index: a key that only moves within the block is not
 * told. The other two tables are short, and are told whole.
 */
#include "sm/plan/plan_table.h"

struct change {
	const union port_block *old;	/* NULL: not known */
	const union port_block *new;
};

static struct change
change_of(const struct desired *w, const struct port_tables *held,
	  const struct plan_step *step)
{
	return (struct change){
		.old = held ? port_tables_get(held, step->table, step->port,
					      step->block) : NULL,
		.new = port_tables_get(w->tables, step->table, step->port,
				       step->block),
	};
}

static bool
has_pkey(const union port_block *b, uint16_t pkey)
{
	for (unsigned i = 0; b && i < PKEYS_A_BLOCK; i++)
		if (b->pkeys[i] == pkey)
			return true;
	return false;
}

/* Keys of `in` that are not in `out_of`, each behind `before`. Returns how
 * many there were. */
static unsigned
put_pkeys(GString *out, const union port_block *in,
	  const union port_block *out_of, const char *comma,
	  const char *before)
{
	unsigned n = 0;

	for (unsigned i = 0; in && i < PKEYS_A_BLOCK; i++) {
		if (!in->pkeys[i] || has_pkey(out_of, in->pkeys[i]))
			continue;
		g_string_append_printf(out, "%s%s0x%04x", n ? ", " : comma,
				       before, in->pkeys[i]);
		n++;
	}
	return n;
}

static void
put_pkey_change(GString *out, const struct change *c)
{
	unsigned n = put_pkeys(out, c->new, c->old, "", "+ ");

	n += put_pkeys(out, c->old, c->new, n ? ", " : "", "- ");
	if (!n)
		g_string_append(out, c->old ? "the same keys in other places" :
				"no keys");
}

static void
put_vls(GString *out, const union port_block *b)
{
	for (unsigned sl = 0; sl < SL_COUNT; sl++)
		g_string_append_printf(out, "%s%u", sl ? "," : "",
				       b->vl[sl]);
}

static void
put_shares(GString *out, const union port_block *b)
{
	const char *comma = "";

	for (unsigned i = 0; i < VL_ARB_ENTRIES; i++) {
		if (!b->arb[i].weight)
			continue;
		g_string_append_printf(out, "%s%u:%u", comma, b->arb[i].vl,
				       b->arb[i].weight);
		comma = ",";
	}
	if (!*comma)
		g_string_append(out, "none");
}

static void
put_values(GString *out, enum port_table table, const union port_block *b)
{
	if (!b)
		g_string_append(out, "not known");
	else if (table == PORT_TABLE_SL2VL)
		put_vls(out, b);
	else
		put_shares(out, b);
}

static const char *
arb_block_name(unsigned block)
{
	static const char *const names[VL_ARB_N_BLOCKS] = {
		[VL_ARB_LOW_1] = "low priority, first half",
		[VL_ARB_LOW_2] = "low priority, second half",
		[VL_ARB_HIGH_1] = "high priority, first half",
		[VL_ARB_HIGH_2] = "high priority, second half",
	};

	return names[block];
}

void
plan_table_text(const struct desired *w, const struct port_tables *held,
		const struct plan_step *step, GString *out)
{
	struct change c = change_of(w, held, step);

	switch ((enum port_table)step->table) {
	case PORT_TABLE_PKEY:
		g_string_append_printf(out, "block %u: ", step->block);
		put_pkey_change(out, &c);
		return;
	case PORT_TABLE_SL2VL:
		g_string_append_printf(out, "from port %u: VLs by SL ",
				       step->block);
		break;
	case PORT_TABLE_VL_ARB:
		g_string_append_printf(out, "%s: VL:weight ",
				       arb_block_name(step->block));
		break;
	case PORT_N_TABLES:
		g_assert_not_reached();
	}
	put_values(out, step->table, c.old);
	g_string_append(out, " -> ");
	put_values(out, step->table, c.new);
}

static void
json_pkeys(struct json *j, const char *key, const union port_block *in,
	   const union port_block *out_of)
{
	json_open(j, key, '[');
	for (unsigned i = 0; in && i < PKEYS_A_BLOCK; i++)
		if (in->pkeys[i] && !has_pkey(out_of, in->pkeys[i]))
			json_hex(j, NULL, in->pkeys[i], 4);
	json_close(j, ']');
}

static void
json_values(struct json *j, const char *key, enum port_table table,
	    const union port_block *b)
{
	g_autoptr(GString) text = g_string_new(NULL);

	put_values(text, table, b);
	json_text(j, key, text->str);
}

void
plan_table_json(const struct desired *w, const struct port_tables *held,
		const struct plan_step *step, struct json *j)
{
	struct change c = change_of(w, held, step);

	json_text(j, "table", port_table_name(step->table));
	json_number(j, "block", step->block);
	json_bool(j, "known", c.old != NULL);
	if (step->table == PORT_TABLE_PKEY) {
		json_pkeys(j, "added", c.new, c.old);
		json_pkeys(j, "removed", c.old, c.new);
		return;
	}
	json_values(j, "from", step->table, c.old);
	json_values(j, "to", step->table, c.new);
}
