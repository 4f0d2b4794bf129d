// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Isolation: from the configuration to the tables that the ports should have.
 *
 * topology/partition.c computes the memberships, pkey_table.c the P_Key tables,
 * qos_tables.c the VL tables; this file calls them and collects their problems.
 */
#include "sm/plan/isolation.h"

#define STRANGERS_MAX	100u

/* A switch's port towards an end port. */
static bool
is_gate(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return snapshot_is_switch(snapshot_node_of(s, port)) && p->num > 0 &&
		p->peer != SNAPSHOT_NONE &&
		!snapshot_is_switch(snapshot_node_of(s, p->peer));
}

bool
isolation_reads(const struct isolation_params *p, const struct snapshot *s,
		enum port_table table, uint32_t port)
{
	if (!s->ports[port].known)
		return false;
	switch (table) {
	case PORT_TABLE_PKEY:
		if (snapshot_is_end_port(s, port))
			return true;
		return p->enforce & pkey_table_enforceable(s, port) &&
			is_gate(s, port) && !pkey_table_are_default(p->rules);
	case PORT_TABLE_SL2VL:
	case PORT_TABLE_VL_ARB:
		return p->qos && p->qos->enabled &&
			(snapshot_link_up(s, port) || s->ports[port].num == 0);
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

/* Rules for ports that are not on the fabric, with the line of the file; a rule
 * without one was made at run time. */
static void
note_absent_ports(const struct partition_rules *rules,
		  const GArray *strangers, GPtrArray *notes)
{
	const char *source = rules->source ? rules->source : "partitions";

	for (guint i = 0; i < MIN(strangers->len, STRANGERS_MAX); i++) {
		const struct partition_rule *rule =
			&g_array_index(strangers, struct partition_rule, i);
		g_autofree char *place = rule->line ?
			g_strdup_printf("%s:%u", source, rule->line) :
			g_strdup("changed at run time");

		g_ptr_array_add(notes, g_strdup_printf(
			"%s: port 0x%016" G_GINT64_MODIFIER "x is not on the "
			"fabric", place, rule->guid));
	}
	if (strangers->len > STRANGERS_MAX)
		g_ptr_array_add(notes, g_strdup_printf(
			"%s: %u ports more are not on the fabric", source,
			strangers->len - STRANGERS_MAX));
}

struct isolation *
isolation_new(const struct isolation_params *p, const struct snapshot *s,
	      const struct port_tables *held)
{
	struct isolation *i = g_new0(struct isolation, 1);
	g_autoptr(GArray) strangers =
		g_array_new(FALSE, FALSE, sizeof(struct partition_rule));

	i->notes = g_ptr_array_new_with_free_func(g_free);
	i->memberships = memberships_new(p->rules, s, strangers);
	note_absent_ports(p->rules, strangers, i->notes);
	i->wanted = port_tables_new(s);
	i->enforce = g_new0(uint8_t, s->n_ports);
	pkey_table_want(s, p->rules, i->memberships, held, p->enforce,
			i->wanted, i->enforce, i->notes);
	qos_tables_want(s, p->qos, i->wanted);
	return i;
}

void
isolation_free(struct isolation *i)
{
	if (!i)
		return;
	memberships_unref(i->memberships);
	port_tables_unref(i->wanted);
	g_free(i->enforce);
	g_ptr_array_unref(i->notes);
	g_free(i);
}
