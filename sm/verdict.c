// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict on a fabric: facts in, a list of complaints out. The list is
 * empty if and only if the fabric is up.
 */
#include "sm/verdict.h"

#define PORT_LINES_MAX	100u

static void G_GNUC_PRINTF(2, 3)
complain(struct verdict *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(v->lines, g_strdup_vprintf(format, args));
	va_end(args);
}

static void
judge_faults(struct verdict *v, const struct subnet *s)
{
	for (uint32_t i = 0; i < s->n_faults; i++)
		complain(v, "%s: %s", subnet_fault_name(s->faults[i].kind),
			 s->faults[i].text);
}

static void
judge_links(struct verdict *v, const struct subnet *s)
{
	uint32_t bad = 0;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct subnet_port *p = &s->ports[port];
		const struct subnet_node *n = &s->nodes[p->node];

		v->n_hosts += !subnet_is_switch(n) &&
			subnet_is_end_port(s, port);
		if (p->peer == SUBNET_NONE)
			continue;
		if (p->peer >= port) {
			const struct subnet_port *q = &s->ports[p->peer];

			v->n_links++;
			v->n_active += p->info.state == PORT_STATE_ACTIVE &&
				q->info.state == PORT_STATE_ACTIVE;
		}
		if (p->info.state == PORT_STATE_ACTIVE)
			continue;
		if (bad++ < PORT_LINES_MAX)
			complain(v, "%s (0x%016" G_GINT64_MODIFIER
				 "x) port %u is %s, not Active",
				 subnet_node_name(n),
				 n->info.node_guid, p->num, p->known ?
				 port_state_name(p->info.state) : "unknown");
	}
	if (bad > PORT_LINES_MAX)
		complain(v, "%u ports more are not Active",
			 bad - PORT_LINES_MAX);
}

/* What is cut off has no cables, which the ports that are not Active tell. */
static void
judge_routes(struct verdict *v, const struct subnet *s,
	     const struct choice *choice)
{
	const struct check_result *reach = &choice->alone.reach;
	const struct subnet_node *n;

	if (!reach->lid)
		return;
	n = &s->nodes[s->switches[reach->sw]];
	complain(v, "%s leaves %" G_GUINT64_FORMAT " (switch, LID) pairs "
		 "without a way (%" G_GUINT64_FORMAT " pairs of hosts, %"
		 G_GUINT64_FORMAT " of a host and a switch's port 0; %"
		 G_GUINT64_FORMAT " go round, %" G_GUINT64_FORMAT
		 " astray), the first: %s (0x%016" G_GINT64_MODIFIER
		 "x) to LID %u", choice->engine->name,
		 reach->unrouted - reach->cut_off + reach->looping +
		 reach->astray, reach->lost_hosts, reach->lost_mixed,
		 reach->looping, reach->astray, subnet_node_name(n),
		 n->info.node_guid,
		 reach->lid);
}

void
verdict_judge(struct verdict *v, const struct subnet *s,
	      const struct choice *choice)
{
	*v = (struct verdict){
		.lines = g_ptr_array_new_with_free_func(g_free),
	};
	judge_faults(v, s);
	judge_links(v, s);
	judge_routes(v, s, choice);
	v->up = v->lines->len == 0;
}

void
verdict_clear(struct verdict *v)
{
	if (v->lines)
		g_ptr_array_unref(v->lines);
	*v = (struct verdict){ 0 };
}
