// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What nodes and their ports are called, faults by that, faults as text and as
 * numbers.
 */
#include "topology/expected.h"

#include <string.h>

#include "topology/each.h"
#include "topology/expected_graph.h"
#include "topology/text.h"

const struct end_words end_words[CABLE_ENDS] = {
	[END_AWAY] = { " did not answer", false },
	[END_UNREAD] = { " did not answer", true },
	[END_LOOP] = { " is plugged into itself", true },
	[END_DOWN] = { " is down", false },
	[END_DISABLED] = { " is disabled", true },
	[END_HELD] = { " is held down", true },
	[END_SILENT] = { " has a link and no answer", false },
	[END_UNUSED] = { " leads to a node that is not used", true },
};

char *
expected_full_name(const struct expected_node *n)
{
	return n->is_shared ? g_strdup_printf("%s (" GUID_FORMAT ")", n->name,
					      n->guid) : g_strdup(n->name);
}

char *
expected_name(const struct expected *e, uint64_t guid)
{
	const struct expected_node *n = g_hash_table_lookup(e->by_guid, &guid);

	return n ? expected_full_name(n) : NULL;
}

char *
expected_port_name(const struct expected_node *n, unsigned port)
{
	char *name = expected_full_name(n), *end;

	if (!expected_is_switch(n) && port <= 1)
		return name;
	end = g_strdup_printf("%s/%u", name, port);
	g_free(name);
	return end;
}

char *
expected_end_name(const struct expected_link *l, unsigned end)
{
	return expected_port_name(l->node[end], l->port[end]);
}

char *
expected_summary(const struct expected *e, unsigned most)
{
	GString *out = g_string_new(NULL);
	const GPtrArray *faults = e->faults;
	unsigned n_named = 0;

	for (unsigned kind = 0; kind < EXPECTED_KINDS; kind++) {
		unsigned n = 0;

		EACH_PTR(const struct expected_fault, f, faults)
			n += f->kind == kind;
		if (!n)
			continue;
		if (out->len)
			g_string_append(out, kind < EXPECTED_SLOW ? ", " :
					"; ");
		if (out->len ? kind == EXPECTED_PART :
		    expected_is_missing(kind))
			g_string_append(out, "missing ");
		if (kind == EXPECTED_SLOW)
			g_string_append(out, "below their rate ");
		text_put_count(out, n, 0, expected_kind_names[kind]);
	}
	EACH_PTR(const struct expected_fault, f, faults) {
		if (f->cause || n_named++ >= most)
			continue;
		g_string_append_printf(out, "%s %s", n_named > 1 ? "," : ":",
				       f->name);
		if (*f->text)
			g_string_append_printf(out, " (%s%s)", f->text,
					       f->place ? f->place : "");
	}
	if (n_named > most && most)
		g_string_append_printf(out, " and %u more", n_named - most);
	return g_string_free(out, FALSE);
}

void
expected_count(const struct expected *e, const struct snapshot *s,
	       uint64_t n[VIEW_WORDS])
{
	const uint32_t *all = e ? e->n : (const uint32_t[EXPECTED_KINDS]){ 0 };

	memset(n, 0, VIEW_WORDS * sizeof(*n));
	n[VERDICT_SWITCHES] = s ? s->n_switches : 0;
	for (uint32_t i = 0; s && i < s->n_nodes; i++)
		n[VERDICT_HOSTS] += !snapshot_is_switch(&s->nodes[i]) &&
			!snapshot_is_part(s, i);
	for (uint32_t port = 0; s && port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];

		if (p->peer == SNAPSHOT_NONE || p->peer <= port)
			continue;
		n[VERDICT_ALL_LINKS]++;
		n[VERDICT_LINKS] += MIN(p->info.state,
			s->ports[p->peer].info.state) >= PORT_STATE_ACTIVE;
	}
	n[VERDICT_ALL_LINKS] = MAX(n[VERDICT_ALL_LINKS], all[EXPECTED_LINK]);
	n[VERDICT_ALL_HOSTS] = MAX(n[VERDICT_HOSTS], all[EXPECTED_HOST]);
	n[VERDICT_ALL_SWITCHES] = MAX(n[VERDICT_SWITCHES],
				      all[EXPECTED_SWITCH]);
}
