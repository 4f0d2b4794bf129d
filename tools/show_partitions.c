// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `partitions`: the members of each, as the P_Key tables have them; a member
 * that is not on the fabric is listed as away. Without an argument only the
 * first members of each partition are listed: thousands of hosts in hundreds of
 * partitions would make the answer too long to read.
 */
#include <inttypes.h>
#include <string.h>

#include "tools/show.h"
#include "topology/each.h"
#include "topology/port_search.h"
#include "topology/text.h"

#define MEMBERS_SHOWN	64u

struct roll_member {
	uint64_t guid;
	const char *node;	/* NULL: it is away */
	unsigned what;		/* enum partition_membership */
};

static void
put_members(struct text_report *out, const char *key, GArray *members)
{
	g_array_sort(members, guid_compare);
	report_open(out, key, '[');
	EACH_ITEM(const struct roll_member, m, members) {
		const char *what = partition_membership_names[m->what];

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
put_partition(struct text_report *out, const struct tool_view *v,
	      const struct partition *p, guint most)
{
	g_autoptr(GArray) members = g_array_new(FALSE, FALSE,
						sizeof(struct roll_member));
	g_autoptr(GArray) away = g_array_new(FALSE, FALSE,
					     sizeof(struct roll_member));
	g_autofree char *name = text_one_line(p->name ? p->name : "");
	unsigned n[PARTITION_BOTH + 1] = { 0 }, more;

	for (uint32_t port = 0; port < v->s->n_ports; port++) {
		const struct roll_member m = {
			v->s->ports[port].guid, snapshot_name_of(v->s, port),
			memberships_of(v->memberships, port, p->pkey),
		};

		if (m.what && members->len < most)
			g_array_append_val(members, m);
		n[m.what]++;
	}
	EACH_PTR(const struct view_text, line, v->lines->of[VIEW_AWAY]) {
		const struct roll_member m = {
			line->n[AWAY_GUID], NULL,
			line->n[AWAY_WHAT] & PARTITION_BOTH,
		};

		if (line->n[AWAY_KEY] == p->pkey)
			g_array_append_val(away, m);
	}
	more = n[PARTITION_LIMITED] + n[PARTITION_FULL] + n[PARTITION_BOTH] -
		members->len;
	report_open(out, NULL, '{');
	report_say(out, "%s%s0x%04x: %u full, %u limited, %u both", name,
		   *name ? " " : "", p->pkey, n[PARTITION_FULL],
		   n[PARTITION_LIMITED], n[PARTITION_BOTH]);
	if (away->len)
		report_say(out, ", %u away", away->len);
	report_say(out, "; SL %u\n", p->sl);
	report_text(out, "name", p->name, NULL);
	report_hex(out, "pkey", p->pkey, 4, NULL);
	report_number(out, "sl", p->sl, NULL);
	report_number(out, "full", n[PARTITION_FULL], NULL);
	report_number(out, "limited", n[PARTITION_LIMITED], NULL);
	report_number(out, "both", n[PARTITION_BOTH], NULL);
	put_members(out, "members", members);
	if (more)
		report_say(out, "  and %u more: partitions 0x%04x\n", more,
			   p->pkey);
	report_number(out, "not_listed", more, NULL);
	put_members(out, "away", away);
	report_close(out, '}');
}

int
show_partitions(struct show *q, GError **error)
{
	const struct partition_rules *rules = q->v->rules;
	const char *word = q->words[1];
	const struct partition *only = NULL;
	g_autofree char *wrong = NULL;

	if (word && !(only = partition_rules_search(rules, word, &wrong))) {
		report_done(&q->out, false, wrong);
		return 2;
	}
	report_open_list(&q->out, "partitions");
	for (guint i = 0; i < rules->partitions->len; i++)
		if (!only || only == rules->partitions->pdata[i])
			put_partition(&q->out, q->v,
				      rules->partitions->pdata[i],
				      only ? G_MAXUINT : MEMBERS_SHOWN);
	report_close_list(&q->out, "partitions");
	return 0;
}
