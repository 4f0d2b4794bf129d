// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes: where an update of the expected fabric has other faults than the update
 * before it, as lines of a log; and nodes and links that are expected from now on.
 */
#include "topology/expected_graph.h"

#include <string.h>

#include "topology/each.h"
#include "topology/expected.h"
#include "topology/text.h"

#define CHANGES_MAX	8u	/* of each kind, a line each */

void
change_free(gpointer data)
{
	struct change *c = data;

	g_free(c->name);
	g_free(c->text);
	g_free(c);
}

/* name: taken */
static void G_GNUC_PRINTF(5, 6)
add(struct expected *e, enum change_kind kind, uint64_t guid, char *name,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(e->changes, g_memdup2(&(struct change){
		kind, guid, name, g_strdup_vprintf(format, args) },
		sizeof(struct change)));
	va_end(args);
}

/* ---- nodes ---- */

void
changes_of_node(struct expected *e, struct expected_node *n,
		const struct snapshot *s, const struct lid_map *lids,
		int64_t away)
{
	const struct expected_link *l = n->first;
	unsigned far = l && l->node[0] == n;
	uint32_t port = l ? snapshot_port_of(s, n->at, l->port[!far]) :
		SNAPSHOT_NONE;
	enum change_kind kind = expected_is_switch(n) ? CHANGE_SWITCH_CAME :
		CHANGE_HOST_CAME;
	const char *what = expected_kind_names[n->kind];
	g_autofree char *where = NULL, *from = NULL;
	char *name;

	n->lid = lids && port != SNAPSHOT_NONE ?
		lids->base[snapshot_holder_of(s, port)] : 0;
	if (!n->since && (!n->is_new || e->is_first))
		return;
	name = expected_full_name(n);
	where = l ? expected_end_name(l, far) : g_strdup("no cable");
	if (n->before)
		from = g_strdup_printf(", in place of %s (" GUID_FORMAT ")",
				       n->before->name, n->before->guid);
	if (n->since)
		add(e, kind, n->guid, name, "%s %s is back after %"
		    G_GINT64_FORMAT " s, at %s", what, name,
		    away / G_USEC_PER_SEC, where);
	else
		add(e, kind, n->guid, name, "%s %s is new, at %s%s", what,
		    name, where, from ?: "");
}

void
changes_of_name(struct expected *e, const struct expected_node *n,
		const char *name)
{
	char *old = expected_full_name(n);

	add(e, CHANGE_RENAMED, n->guid, old, "%s is now called %s", old, name);
}

/* ---- links ---- */

static char *
link_name(const struct expected_link *l)
{
	g_autofree char *a = expected_end_name(l, 0);
	g_autofree char *b = expected_end_name(l, 1);

	return g_strconcat(a, " - ", b, NULL);
}

char *
expected_cable_text(const struct expected *e, const struct expected_link *l,
		    const struct snapshot *s)
{
	g_autofree char *name = link_name(l);
	GString *text = g_string_new(NULL);

	g_string_printf(text, "link %s is gone:", name);
	for (unsigned end = 0; end < 2; end++) {
		g_autofree char *at = expected_end_name(l, end), *far = NULL;
		uint32_t other;

		if (l->end[end] == END_OTHER) {
			other = s->ports[snapshot_port_of(s, l->node[end]->at,
							  l->port[end])].peer;
			far = expected_port_name(e->here[s->ports[other].node],
						 s->ports[other].num);
		}
		g_string_append_printf(text, "%s %s%s%s", end ? "," : "", at,
				       far ? " leads to " :
				       end_words[l->end[end]].says, far ?: "");
	}
	return g_string_free(text, FALSE);
}

void
changes_of_cable(struct expected *e, const struct expected_link *l,
		 const char *text)
{
	bool joins = expected_is_switch(l->node[0]) &&
		expected_is_switch(l->node[1]);

	add(e, joins ? CHANGE_RECABLED : CHANGE_MOVED, l->node[0]->guid,
	    link_name(l), "%s", text);
}

void
changes_of_link(struct expected *e, struct expected_link *l,
		const struct snapshot *s)
{
	uint32_t port = snapshot_port_of(s, l->node[0]->at, l->port[0]);
	struct port_info best = { 0 };
	bool is_up = expected_is_up(l), could = is_up &&
		link_is_slow(s, port, &best), is_below = could || l->is_slow;
	bool is_back = is_up && l->is_told;
	g_autofree char *name = is_back || is_below != l->is_below ?
		link_name(l) : NULL;

	if (is_back)
		add(e, CHANGE_LINK_UP, l->node[0]->guid, g_strdup(name),
		    "link %s is up", name);
	if (is_below && !l->is_below)
		add(e, CHANGE_SLOW, l->node[0]->guid, g_strdup(name),
		    "slow link %s: %s of %s%s", name, l->now.name, l->is_slow ?
		    l->best.name : port_width(&best)->name,
		    l->is_slow ? "" : port_speed(&best)->name);
	else if (l->is_below && !is_below && l->now.mbps && is_up)
		add(e, CHANGE_FULL_SPEED, l->node[0]->guid, g_strdup(name),
		    "link %s has its full speed again: %s", name, l->now.name);
	l->is_told &= !is_up;
	l->is_below = is_below;
}

/* ---- all ---- */

void
changes_of_faults(struct expected *e)
{
	EACH_PTR(const struct expected_fault, f, e->faults) {
		bool is_link = f->kind == EXPECTED_LINK;
		bool *told = is_link ? &f->link->is_told : &f->of[0]->is_told;
		unsigned lid = is_link ? 0 : f->of[0]->lid;
		g_autofree char *where = lid ? g_strdup_printf(" (LID %u)",
							       lid) : NULL;

		if (!expected_is_missing(f->kind) || f->cause || *told)
			continue;
		*told = true;
		add(e, is_link ? CHANGE_LINK_MISSING : f->is_behind ?
		    CHANGE_SWITCH_BEHIND : f->kind == EXPECTED_SWITCH ?
		    CHANGE_SWITCH_MISSING : CHANGE_HOST_MISSING, f->guid,
		    is_link ? g_strdup(f->name) : expected_full_name(f->of[0]),
		    "%s %s is missing%s%s%s%s", expected_kind_names[f->kind],
		    f->name, *f->text ? ": " : "", f->text, f->place ?: "",
		    where ?: "");
	}
}

static gint
compare_kinds(gconstpointer a, gconstpointer b)
{
	const struct change *x = *(struct change *const *)a;
	const struct change *y = *(struct change *const *)b;

	return uint_compare(x->kind, y->kind) ?:
		uint_compare(x->guid, y->guid);
}

void
changes_group(GPtrArray *changes)
{
	static const char *const texts[] = {
		[CHANGE_SWITCH_MISSING] = "switches are missing",
		[CHANGE_SWITCH_BEHIND] = "switches behind others are missing",
		[CHANGE_HOST_MISSING] = "hosts are missing",
		[CHANGE_LINK_MISSING] = "links are missing",
		[CHANGE_RECABLED] = "links have other cables in their places",
		[CHANGE_MOVED] = "links of hosts are gone",
		[CHANGE_RENAMED] = "nodes have a new name",
		[CHANGE_SLOW] = "slow links",
		[CHANGE_SWITCH_CAME] = "switches came",
		[CHANGE_HOST_CAME] = "hosts came",
		[CHANGE_LINK_UP] = "links are up",
		[CHANGE_FULL_SPEED] = "links have their full speed again",
	};

	g_ptr_array_sort(changes, compare_kinds);	/* stable */
	for (guint i = 0, n; i < changes->len; i++) {
		const struct change *c = changes->pdata[i];
		enum change_kind kind = c->kind;
		GString *line;

		for (n = 1; i + n < changes->len; n++) {
			c = changes->pdata[i + n];
			if (c->kind != kind)
				break;
		}
		if (n <= CHANGES_MAX) {
			i += n - 1;
			continue;
		}
		line = g_string_new(NULL);
		g_string_printf(line, "%u %s:", n, texts[kind]);
		for (guint k = 0; k < CHANGES_MAX; k++) {
			c = changes->pdata[i + k];
			g_string_append_printf(line, "%s %s", k ? "," : "",
					       c->name);
		}
		g_string_append_printf(line, " and %u more", n - CHANGES_MAX);
		g_ptr_array_remove_range(changes, i, n);
		g_ptr_array_insert(changes, (gint)i, g_memdup2(&(struct change){
			.kind = kind, .text = g_string_free(line, FALSE) },
			sizeof(struct change)));
	}
}
