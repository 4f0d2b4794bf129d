// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: what happens to a fabric by chance, and whether the manager has
 * noticed all of it, held against a heavy sweep of its own.
 */
#include "tests/lib/play.h"

#include <string.h>

#include "sm/mad/sa_record.h"
#include "topology/prng.h"

/* Two switch ports with cables; not where the manager is. */
static bool
pick_ports(struct play *p, uint32_t port[2])
{
	const struct snapshot *s = p->w.s;

	for (unsigned i = 0; i < 2; i++) {
		unsigned tries = 0;

		do
			port[i] = prng_below(&p->rng, s->n_ports);
		while (tries++ < 1000 &&
		       (!snapshot_is_switch(snapshot_node_of(s, port[i])) ||
			sim_peer(p->w.sim, port[i]) == SNAPSHOT_NONE ||
			sim_peer(p->w.sim, port[i]) == p->w.m.port));
		if (tries > 1000)
			return false;
	}
	return true;
}

/* One thing; when it is undone, as `mend` does, the fabric is whole again. */
static bool
do_upset(struct play *p, char **args)
{
	struct sim *sim = p->w.sim;
	uint32_t port[2], node;

	if (!pick_ports(p, port))
		return true;
	node = p->w.s->ports[prng_below(&p->rng, 2) ? port[0] :
			     p->w.s->ports[port[0]].peer].node;
	if (node == p->w.s->ports[p->w.m.port].node ||
	    node == p->w.s->ports[sim_peer(sim, p->w.m.port)].node)
		return true;
	switch (prng_below(&p->rng, 7)) {
	case 0:
	case 1:
		sim_link_cut(sim, port[0]);
		break;
	case 2:
		sim_link_mend(sim, port[0]);
		break;
	case 3:
		sim_cable_swap(sim, port[0], port[1]);
		break;
	case 4:
		sim_node_off(sim, node);
		break;
	case 5:
		sim_node_on(sim, node);
		break;
	case 6:
		sim_node_reset(sim, node);
		break;
	}
	return true;
}

/* All nodes are on, all cables good. */
static bool
do_mend(struct play *p, char **args)
{
	for (uint32_t node = 0; node < p->w.s->n_nodes; node++)
		sim_node_on(p->w.sim, node);
	for (uint32_t port = 0; port < p->w.s->n_ports; port++)
		if (sim_peer(p->w.sim, port) != SNAPSHOT_NONE)
			sim_link_mend(p->w.sim, port);
	return true;
}

/* ---- what the manager published, a line a fact ---- */

/* But for what counts or depends on the way of the SMP. */
static void
print_fields(GString *out, unsigned record, const void *host)
{
	static const char *const skipped[] = {
		"LocalPortNum", "M_KeyViolations", "P_KeyViolations",
		"Q_KeyViolations", "LinkRoundTripLatency", "PortStateChange",
		"ClientReregister", NULL,
	};
	const struct mad_attr_table *t = mad_attr_table(record);

	for (unsigned k = 0; k < t->n_fields; k++) {
		const struct play_field f = { .field = &t->fields[k] };

		if (f.field->size && !g_strv_contains(skipped, f.field->name))
			g_string_append_printf(out, " %s=%" G_GINT64_MODIFIER
					       "x", f.field->name,
					       play_field_get(&f, host));
	}
}

static void
print_node(GString *out, const struct view *v, const struct snapshot_node *n,
	   bool tables)
{
	const struct snapshot *s = v->subnet;

	g_string_append_printf(out, "%s: %016" G_GINT64_MODIFIER "x, entry %d",
			       n->desc, n->info.node_guid, (int)n->entry);
	if (n->sw_known)
		print_fields(out, SA_ATTR_SWITCH_INFO, &n->sw);
	if (snapshot_is_switch(n) && tables) {
		g_string_append(out, ", LFT");
		for (unsigned lid = 0; lid <= v->lft->top; lid++)
			g_string_append_printf(out, " %u",
				lft_row(v->lft, n->sw_index)[lid]);
	}
	g_string_append_c(out, '\n');
	for (unsigned num = 0; num <= n->info.num_ports; num++) {
		uint32_t i = n->first_port + num;
		const struct snapshot_port *port = &s->ports[i];

		g_string_append_printf(out, "%s/%u: %016" G_GINT64_MODIFIER
				       "x, peer %d, LID %u", n->desc, num,
				       port->guid, (int)port->peer,
				       v->lids->base[i]);
		if (port->known)
			print_fields(out, SA_ATTR_PORT_INFO, &port->info);
		g_string_append_c(out, '\n');
	}
}

static char **
print_view(const struct view *v, bool tables)
{
	g_autoptr(GString) out = g_string_new(NULL);

	for (uint32_t n = 0; v->subnet && n < v->subnet->n_nodes; n++)
		print_node(out, v, &v->subnet->nodes[n], tables);
	for (uint32_t i = 0; v->subnet && i < v->subnet->n_faults; i++)
		g_string_append_printf(out, "%s\n", v->subnet->faults[i].text);
	return g_strsplit(out->str, "\n", -1);
}

/* The first words that differ, with the name of the object. */
static bool
fail_at(struct play *p, const char *before, const char *after)
{
	g_auto(GStrv) a = g_strsplit(before ?: "nothing", " ", -1);
	g_auto(GStrv) b = g_strsplit(after ?: "nothing", " ", -1);
	guint i = 0;

	while (a[i] && g_strcmp0(a[i], b[i]) == 0)
		i++;
	return play_fail(p, "%s: word %u was %s, is %s", a[0], i, a[i], b[i]);
}

/* [but tables]: a heavy sweep that reads all again finds and routes what is
 * believed. The tables may become better, since the routing begins with those
 * in force. */
bool
play_expect_fresh(struct play *p, char **args)
{
	const struct view *v = &p->w.m.sweep->view;
	bool tables = g_strcmp0(args[0], "but");
	g_auto(GStrv) before = print_view(v, tables), after = NULL;
	guint i = 0;

	sweep_request(p->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	if (!world_settle(&p->w, 60 * SECOND))
		return play_fail(p, "it does not come to rest");
	after = print_view(v, tables);
	while (before[i] && g_strcmp0(before[i], after[i]) == 0)
		i++;
	return (!before[i] && !after[i]) || fail_at(p, before[i], after[i]);
}

const struct play_word play_chance_words[] = {
	{ "upset", do_upset }, { "mend", do_mend }, { NULL, NULL },
};
