// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict on a fabric: a list of problems, which is empty if and only if
 * the fabric is up.
 */
#include "sm/sweep/health.h"

#include "sm/persist.h"
#include "topology/text.h"

#define PORT_LINES_MAX	100u
#define NAMES_MAX	8u	/* of what is missing, in a line of the log */

static void G_GNUC_PRINTF(2, 3)
complain(struct health *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(v->lines, g_strdup_vprintf(format, args));
	va_end(args);
}

/* Else it is a matter of the expected fabric. */
static void
complain_behind(struct health *v, const struct snapshot *s,
		const struct snapshot_fault *f)
{
	uint32_t node = snapshot_find_node(s, f->guid);
	g_autofree char *place = NULL;

	if (node == SNAPSHOT_NONE)	/* it is left out itself */
		return;
	place = snapshot_place(s, node, snapshot_port_of(s, node, f->port));
	complain(v, "%s: the node behind %s %s", snapshot_fault_names[f->kind],
		 place, f->text);
}

static void
judge_links(struct health *v, const struct snapshot *s, bool expects)
{
	/* NodeGUIDs of faults, since they did not answer */
	g_autoptr(GHashTable) blamed = g_hash_table_new(g_int64_hash,
							g_int64_equal);
	uint32_t bad = 0;

	for (uint32_t i = 0; i < s->n_faults; i++)
		if (!snapshot_fault_stays(&s->faults[i]) && !s->faults[i].port)
			g_hash_table_add(blamed, &s->faults[i].guid);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];

		if (p->peer == SNAPSHOT_NONE ||
		    p->info.state >= PORT_STATE_ACTIVE ||
		    (expects && snapshot_is_stuck(s, port)) ||
		    (!p->known && g_hash_table_contains(blamed,
				&s->nodes[p->node].info.node_guid)))
			continue;
		if (bad++ < PORT_LINES_MAX) {
			g_autofree char *place = snapshot_place(s, p->node,
								port);

			if (p->known)
				complain(v, "%s is %s, not Active", place,
					 port_state_name(p->info.state));
			else
				complain(v, "%s: no answer (PortInfo)", place);
		}
	}
	if (bad > PORT_LINES_MAX)
		complain(v, "%u more ports are not Active",
			 bad - PORT_LINES_MAX);
}

/* Pairs that no cables join do not count: ports that are not Active are
 * reported already. Tables of another manager that leave out pairs of two switches'
 * ports 0 only, as those of OpenSM's ftree between its spines, are no problem. */
static void
judge_routes(struct health *v, const struct snapshot *s,
	     const struct choice *choice)
{
	const struct verify_reach *reach = &choice->alone.reach;
	bool is_whole = !choice->engine->compute && !reach->lost_hosts &&
		!reach->lost_mixed && !reach->looping && !reach->astray;
	const struct snapshot_node *n;

	if (!reach->lid)
		return;
	n = &s->nodes[s->switches[reach->sw]];
	if (is_whole) {
		g_ptr_array_add(v->warnings, g_strdup_printf("the tables that "
			"the switches hold leave %" G_GUINT64_FORMAT " pairs "
			"of switches without a path between their ports 0; "
			"hosts reach each other and all switches",
			reach->unrouted - reach->cut_off));
		return;
	}
	complain(v, "%s leaves %" G_GUINT64_FORMAT " (switch, LID) pairs "
		 "without a path (%" G_GUINT64_FORMAT " pairs of hosts, %"
		 G_GUINT64_FORMAT " of a host and a switch's port 0; %"
		 G_GUINT64_FORMAT " loop, %" G_GUINT64_FORMAT
		 " end at a wrong port), the first: %s (0x%016"
		 G_GINT64_MODIFIER "x) to LID %u", choice->engine->name,
		 reach->unrouted - reach->cut_off + reach->looping +
		 reach->astray, reach->lost_hosts, reach->lost_mixed,
		 reach->looping, reach->astray, snapshot_node_name(n),
		 n->info.node_guid,
		 reach->lid);
}

/* Fields that ports have not taken. */
static void
judge_ports(struct health *v, const struct snapshot *s, const uint32_t *untaken,
	    bool expects)
{
	struct field_tally guard = { 0 };
	uint32_t bad = 0, n_stuck = 0;

	for (uint32_t port = 0; untaken && port < s->n_ports; port++) {
		unsigned fields = s->ports[port].known ? untaken[port] : 0;
		bool is_stuck = expects && snapshot_is_stuck(s, port);
		/* a state that another port does not take is a problem already */
		unsigned address = fields & PORT_FIELDS_ADDRESS &
			~(is_stuck ? 0u : PORT_FIELD_STATE);
		g_autoptr(GString) names = NULL;
		g_autofree char *place = NULL;

		field_tally_add(&guard, port, fields & PORT_FIELDS_GUARD);
		if (!address || (is_stuck ? n_stuck++ : bad++) >=
		    PORT_LINES_MAX)
			continue;
		names = g_string_new(NULL);
		for (unsigned bit = 1; bit && bit <= address; bit <<= 1)
			if (address & bit)
				g_string_append_printf(names, "%s%s",
					names->len ? ", " : "",
					port_field_name(bit));
		place = snapshot_place(s, s->ports[port].node, port);
		g_ptr_array_add(is_stuck ? v->warnings : v->lines,
				g_strdup_printf("%s has not taken its %s",
						place, names->str));
	}
	if (bad > PORT_LINES_MAX)
		complain(v, "%u more ports have not taken their address",
			 bad - PORT_LINES_MAX);
	for (unsigned bit = 0; bit < 32; bit++) {
		g_autofree char *ports = field_tally_ports(&guard, bit, s);

		if (ports)
			g_ptr_array_add(v->warnings, g_strdup_printf(
				"%s is not in force on %s",
				port_field_name(1u << bit), ports));
	}
}

/* LIDs above a switch's LinearFDBCap are counted by judge_routes(). */
static void
judge_caps(struct health *v, const struct snapshot *s,
	     const struct choice *choice)
{
	uint32_t bad = 0;

	for (uint32_t sw = 0; choice->lft && sw < s->n_switches; sw++) {
		const struct snapshot_node *n = &s->nodes[s->switches[sw]];
		unsigned cap = n->sw.linear_fdb_cap;

		if (!n->sw_known || cap > choice->lft->top)
			continue;
		if (bad++ < PORT_LINES_MAX)
			complain(v, "%s (0x%016" G_GINT64_MODIFIER "x) has "
				 "LinearFDBCap %u and cannot route LIDs %u to "
				 "%u", snapshot_node_name(n), n->info.node_guid,
				 cap, cap, choice->lft->top);
	}
	if (bad > PORT_LINES_MAX)
		complain(v, "%u more switches cannot route all LIDs",
			 bad - PORT_LINES_MAX);
}

void
health_judge(struct health *v, const struct snapshot *s,
	     const struct choice *choice, const GPtrArray *problems,
	     const uint32_t *untaken, bool expects)
{
	*v = (struct health){
		.lines = g_ptr_array_new_with_free_func(g_free),
		.warnings = g_ptr_array_new_with_free_func(g_free),
	};
	for (uint32_t i = 0; i < s->n_faults; i++) {
		const struct snapshot_fault *f = &s->faults[i];

		if (!snapshot_is_behind_port(f))
			complain(v, "%s: %s", snapshot_fault_names[f->kind],
				 f->text);
		else if (!expects)
			complain_behind(v, s, f);
	}
	for (guint i = 0; problems && i < problems->len; i++)
		g_ptr_array_add(v->lines, g_strdup(problems->pdata[i]));
	judge_caps(v, s, choice);
	judge_routes(v, s, choice);
	judge_ports(v, s, untaken, expects);
	/* last: the rest names the switch that is the cause, this its
	 * neighbours' ports */
	judge_links(v, s, expects);
	v->up = v->lines->len == 0;
}

void
health_clear(struct health *v)
{
	g_clear_pointer(&v->lines, g_ptr_array_unref);
	g_clear_pointer(&v->warnings, g_ptr_array_unref);
	*v = (struct health){ 0 };
}

char *
health_line(const struct health *v, const struct snapshot *s,
	    const struct expected *e, bool contested)
{
	g_autofree char *missing = e ? expected_summary(e, NAMES_MAX) :
		g_strdup("");
	bool whole = v->up && !*missing && !contested;
	GString *out = g_string_new(whole ? "SUBNET UP: " : v->up ?
				    "SUBNET DEGRADED: " : "SUBNET NOT UP: ");
	uint64_t n[VIEW_WORDS];

	if (!v->up)
		g_string_append_printf(out, "%u problem%s; ", v->lines->len,
				       text_plural(v->lines->len));
	expected_count(e, s, n);
	/* without the link of a host that takes no address, which is accepted */
	view_counts_put(n, whole && n[VERDICT_LINKS] == n[VERDICT_ALL_LINKS],
			out);
	if (*missing)
		g_string_append_printf(out, "; %s", missing);
	if (contested)
		g_string_append(out, "; another master writes to it as well");
	return g_string_free(out, FALSE);
}
