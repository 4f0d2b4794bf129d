// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fabric as text: see the header.
 */
#include "tests/lib/fabric_text.h"

#include "tests/lib/unit.h"

#define HEX	"%" G_GINT64_MODIFIER "x"

static void
put_node(const struct snapshot_node *n, GString *out)
{
	g_string_append_printf(out, "n " HEX " " HEX " %u %u %x %x %u %u %u %u "
			       "%s\n", n->info.node_guid, n->info.system_guid,
			       n->info.node_type, n->info.num_ports,
			       n->info.vendor_id, n->info.device_id,
			       n->first_port, n->sw_index, n->entry,
			       n->sw.enhanced_port0, n->desc);
}

/* The speed is that of a cable. */
static void
put_port(const struct snapshot_port *p, GString *out)
{
	const struct port_info *i = &p->info;

	g_string_append_printf(out, "p " HEX " %u %u %u %d %u %u %u %u", p->guid,
			       p->node, p->num, p->peer, p->known, i->lid,
			       i->lmc, i->state, i->phys_state);
	if (p->peer != SNAPSHOT_NONE)
		g_string_append_printf(out, " %u %u %u %u", i->width_active,
				       i->speed_active, i->speed_ext_active,
				       i->speed_ext2_active);
	g_string_append_c(out, '\n');
}

char *
fabric_text(const struct snapshot *s)
{
	GString *out = g_string_new(NULL);

	g_string_append_printf(out, "%u %u %u local %u\n", s->n_nodes,
			       s->n_ports, s->n_switches, s->local_port);
	for (uint32_t n = 0; n < s->n_nodes; n++)
		put_node(&s->nodes[n], out);
	for (uint32_t p = 0; p < s->n_ports; p++)
		put_port(&s->ports[p], out);
	for (uint32_t i = 0; i < s->n_switches; i++)
		g_string_append_printf(out, "s %u\n", s->switches[i]);
	for (uint32_t i = 0; i < s->n_faults; i++)
		g_string_append_printf(out, "f %d " HEX " %s\n",
				       s->faults[i].kind, s->faults[i].guid,
				       s->faults[i].text);
	return g_string_free(out, FALSE);
}

void
assert_same_fabric(const struct snapshot *a, const struct snapshot *b)
{
	g_autofree char *x = fabric_text(a), *y = fabric_text(b);

	assert_string_equal(x, y);
}
