// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rules as a partition file.
 *
 * One definition a partition, in the order of the P_Keys, with nothing left to
 * a default: every P_Key, SL, membership and flag of a group is written. The
 * broadcast groups of IPoIB are written as groups, not as the flag "ipoib", for
 * they may have any scope. So the parser has nothing to add, and gives the same
 * rules back. OpenSM can read it too, but for the word "none": it refuses a ";"
 * that is alone on its line, so none is.
 */
#include <arpa/inet.h>
#include <string.h>

#include "tests/lib/partitions_format.h"

static const char *
name_who(enum partition_who who)
{
	switch (who) {
	case PARTITION_GUID:
		break;
	case PARTITION_ALL:
		return "ALL";
	case PARTITION_ALL_CAS:
		return "ALL_CAS";
	case PARTITION_ALL_SWITCHES:
		return "ALL_SWITCHES";
	case PARTITION_ALL_ROUTERS:
		return "ALL_ROUTERS";
	case PARTITION_SELF:
		return "SELF";
	}
	g_assert_not_reached();
}

static void
format_group(const struct partition_group *g, GString *out)
{
	char mgid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, g->mgid, mgid, sizeof(mgid));
	g_string_append_printf(out, "\n\tmgid=%s,rate=%u,mtu=%u,sl=%u,"
			       "Q_Key=0x%x,TClass=%u,FlowLabel=%u", mgid,
			       g->rate, g->mtu, g->sl, g->q_key, g->tclass,
			       g->flow_label);
}

static void
format_partition(const struct partition *p, GString *out)
{
	g_string_append_printf(out, "%s=0x%04x", p->name ? p->name : "",
			       p->pkey);
	if (p->index0)
		g_string_append(out, ",indx0");
	if (p->defmember)
		g_string_append_printf(out, ",defmember=%s",
			partition_membership_names[p->defmember]);
	g_string_append_printf(out, ",sl=%u :", p->sl);
	for (guint i = 0; i < p->groups->len; i++)
		format_group(&g_array_index(p->groups, struct partition_group,
					    i), out);
	for (guint i = 0; i < p->rules->len; i++) {
		const struct partition_rule *rule = &g_array_index(p->rules,
						struct partition_rule, i);

		g_string_append(out, i ? ",\n\t" : "\n\t");
		if (rule->who == PARTITION_GUID)
			g_string_append_printf(out, "0x%016" G_GINT64_MODIFIER
					       "x", rule->guid);
		else
			g_string_append_printf(out, "%s", name_who(rule->who));
		g_string_append_printf(out, "=%s",
			partition_membership_names[rule->membership]);
	}
	g_string_append(out, p->rules->len ? " ;\n" : "\n\tNONE ;\n");
}

char *
partitions_conf_format(const struct partition_rules *rules)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < rules->partitions->len; i++)
		format_partition(rules->partitions->pdata[i], out);
	return g_string_free(out, FALSE);
}
