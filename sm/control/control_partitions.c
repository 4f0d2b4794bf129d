// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `partitions`: the members of each.
 *
 * The rules are resolved against the fabric of the last sweep, as for the
 * tables of the ports; so what is listed is what is wanted there, and a member
 * that is away is listed as away. Of all partitions together only the first
 * members of each are listed, or thousands of hosts in hundreds of partitions
 * would be a long answer of little use.
 *
 * Structs. A `roll` is one partition: its members, counted, and the first of
 * them. All rolls are filled in one walk over the P_Keys of all ports, since
 * the walk is what costs.
 */
#include "sm/control/control.h"

#include <inttypes.h>

#include "topology/text.h"
#include "topology/json.h"

#define MEMBERS_SHOWN	64u

struct roll_member {
	uint64_t guid;
	const char *node;	/* NULL: it is away */
	unsigned what;		/* enum partition_membership */
};

/* One partition in a fabric. */
struct roll {
	const struct partition *p;
	GArray *members;	/* struct member: the first ones, */
	guint most;		/* at most */
	GArray *away;		/* struct member */
	unsigned n[4];		/* all, by enum partition_membership */
};

static struct roll *
find_roll(GArray *rolls, uint16_t pkey)
{
	guint low = 0, high = rolls->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;
		struct roll *r = &g_array_index(rolls, struct roll, mid);

		if (r->p->pkey == pkey_base(pkey))
			return r;
		if (r->p->pkey < pkey_base(pkey))
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* P_Keys of a port are ascending by partition, limited before full. */
static void
call_port(GArray *rolls, const struct snapshot *s,
	  const struct memberships *m, uint32_t port)
{
	uint32_t i = m->first[port], end = m->first[port + 1];

	while (i < end) {
		struct roll *r = find_roll(rolls, m->pkeys[i]);
		struct roll_member member = {
			.guid = s->ports[port].guid,
			.node = snapshot_name_of(s, port),
		};
		uint16_t base = pkey_base(m->pkeys[i]);

		for (; i < end && pkey_base(m->pkeys[i]) == base; i++)
			member.what |= m->pkeys[i] & PKEY_FULL ?
				PARTITION_FULL : PARTITION_LIMITED;
		if (!r)
			continue;
		r->n[member.what]++;
		if (r->members->len < r->most)
			g_array_append_val(r->members, member);
	}
}

static GHashTable *
index_guids(const struct snapshot *s)
{
	GHashTable *guids = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (uint32_t port = 0; s && port < s->n_ports; port++)
		if (snapshot_is_end_port(s, port))
			g_hash_table_add(guids, &s->ports[port].guid);
	return guids;
}

/* Members by name that are not there. Of several rules for one port the last
 * one holds. */
static void
call_away(struct roll *r, GHashTable *here)
{
	g_autoptr(GHashTable) met = g_hash_table_new(g_int64_hash,
						     g_int64_equal);

	for (guint i = r->p->rules->len; i-- > 0; ) {
		struct partition_rule *rule =
			&g_array_index(r->p->rules, struct partition_rule, i);
		struct roll_member member = {
			rule->guid, NULL, rule->membership,
		};

		if (rule->who != PARTITION_GUID ||
		    g_hash_table_contains(here, &rule->guid) ||
		    !g_hash_table_add(met, &rule->guid) ||
		    rule->membership == PARTITION_NONE)
			continue;
		g_array_append_val(r->away, member);
	}
}

static gint
roll_compare_members(gconstpointer a, gconstpointer b)
{
	const struct roll_member *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static void
call_rolls(GArray *rolls, const struct partition_rules *rules,
	   const struct snapshot *s)
{
	g_autoptr(GHashTable) here = index_guids(s);
	struct memberships *m = s ? memberships_new(rules, s, NULL) : NULL;

	for (uint32_t port = 0; m && port < s->n_ports; port++)
		call_port(rolls, s, m, port);
	for (guint i = 0; i < rolls->len; i++) {
		struct roll *r = &g_array_index(rolls, struct roll, i);

		call_away(r, here);
		g_array_sort(r->members, roll_compare_members);
		g_array_sort(r->away, roll_compare_members);
	}
	memberships_unref(m);
}

static void
clear_roll(gpointer data)
{
	struct roll *r = data;

	g_array_unref(r->members);
	g_array_unref(r->away);
}

static GArray *
make_rolls(const struct partition_rules *rules, const struct partition *only)
{
	GArray *rolls = g_array_new(FALSE, FALSE, sizeof(struct roll));

	g_array_set_clear_func(rolls, clear_roll);
	for (guint i = 0; i < rules->partitions->len; i++) {
		struct roll roll = {
			.p = rules->partitions->pdata[i],
			.most = only ? G_MAXUINT : MEMBERS_SHOWN,
		};

		if (only && only != roll.p)
			continue;
		roll.members = g_array_new(FALSE, FALSE,
					   sizeof(struct roll_member));
		roll.away = g_array_new(FALSE, FALSE,
					sizeof(struct roll_member));
		g_array_append_val(rolls, roll);
	}
	return rolls;
}

/* --- the answer --- */

static void
put_members(struct text_report *out, const char *key, const GArray *members)
{
	report_open(out, key, '[');
	for (guint i = 0; i < members->len; i++) {
		const struct roll_member *m =
			&g_array_index(members, struct roll_member, i);
		const char *what = partition_membership_name(m->what);

		report_say(out, "  %-8s 0x%016" PRIx64 " %s\n", what, m->guid,
			   m->node ? m->node : "(away)");
		report_open(out, NULL, '{');
		report_hex(out, "guid", m->guid, 16, NULL);
		report_text(out, "node", m->node, NULL);
		report_text(out, "membership", what, NULL);
		report_close(out, '}');
	}
	report_close(out, ']');
}

static void
put_roll(struct text_report *out, const struct roll *r)
{
	g_autofree char *name = text_one_line(r->p->name ? r->p->name : "");
	guint more = r->n[PARTITION_LIMITED] + r->n[PARTITION_FULL] +
		r->n[PARTITION_BOTH] - r->members->len;

	report_open(out, NULL, '{');
	report_say(out, "%s%s0x%04x: %u full, %u limited, %u both; SL %u\n",
		   name, *name ? " " : "", r->p->pkey, r->n[PARTITION_FULL],
		   r->n[PARTITION_LIMITED], r->n[PARTITION_BOTH], r->p->sl);
	report_text(out, "name", r->p->name, NULL);
	report_hex(out, "pkey", r->p->pkey, 4, NULL);
	report_number(out, "sl", r->p->sl, NULL);
	report_number(out, "full", r->n[PARTITION_FULL], NULL);
	report_number(out, "limited", r->n[PARTITION_LIMITED], NULL);
	report_number(out, "both", r->n[PARTITION_BOTH], NULL);
	put_members(out, "members", r->members);
	if (more)
		report_say(out, "  and %u more: partitions 0x%04x\n", more,
			   r->p->pkey);
	report_number(out, "not_listed", more, NULL);
	put_members(out, "away", r->away);
	report_close(out, '}');
}

void
control_partitions(const struct control_view *v, const struct partition *only,
		   bool as_json, GString *out)
{
	struct text_report r = { .json = { .out = out }, .as_json = as_json };
	g_autoptr(GArray) rolls = make_rolls(v->rules, only);

	call_rolls(rolls, v->rules, v->status->subnet);
	report_open(&r, NULL, '{');
	report_open(&r, "partitions", '[');
	for (guint i = 0; i < rolls->len; i++)
		put_roll(&r, &g_array_index(rolls, struct roll, i));
	report_close(&r, ']');
	report_close(&r, '}');
	if (as_json)
		g_string_append_c(out, '\n');
}
