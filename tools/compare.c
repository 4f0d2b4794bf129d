// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two fabrics compared.
 *
 * Method. The old fabric is what is expected of the new one: topology/expected
 * finds what is missing or slow, and the other way round what is new. It drops
 * a link when one of its ports has another cable, so these are found here.
 *
 * Exchanged plugs. There should be a cable from a to b, and there are cables
 * from a to d and from b to e. If the plugs in a and e, or those in b and d,
 * are exchanged, one cable is right that was wrong, so a cycle of n cables
 * takes n - 1 such steps. Each is done in a copy of the new fabric, which is
 * then compared: a cause is one line.
 */
#include "tools/compare.h"

#include <string.h>

#include "topology/each.h"
#include "topology/text.h"

#define ALIKE_SHOWN	20u	/* differences of a kind, in text */

struct compare {
	const struct snapshot *old, *new;
	bool is_design;		/* `old` is what `new` should be */
	struct text_report *r;
	unsigned n;		/* differences, */
	unsigned n_alike;	/* of them with the last heading */
	const char *what;
	uint32_t *to_new, *to_old;	/* node -> node, or SNAPSHOT_NONE */
	struct builder *b;	/* `new`, with all plugs where they belong */
	GHashTable *told;	/* fault_key() of what is told */
	GHashTable *shared, *was_shared;	/* names of several nodes, in
						   `new` and `old` */
};

G_GNUC_PRINTF(4, 5)
static void
put(struct compare *c, const char *what, const char *name, const char *format,
    ...)
{
	g_autofree char *text = NULL;
	va_list args;

	c->n++;
	c->n_alike = c->what == what ? c->n_alike + 1 : 1;
	c->what = what;
	if (c->n_alike == ALIKE_SHOWN + 1)
		report_say(c->r, "%s: more, which --json has\n", what);
	if (c->n_alike > ALIKE_SHOWN && !c->r->as_json)
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	report_open(c->r, NULL, '{');
	report_text(c->r, "what", what, " ");
	report_text(c->r, "name", name, *text ? ": " : "");
	report_text(c->r, "text", text, "\n");
	report_close(c->r, '}');
}

/* ---- nodes, links, speeds ---- */

/* Missing, new, or more than the design has. */
static const char *const fault_words[EXPECTED_KINDS][3] = {
	[EXPECTED_SWITCH] = { "missing switch", "new switch", "extra switch" },
	[EXPECTED_HOST] = { "missing host", "new host", "extra host" },
	[EXPECTED_LINK] = { "missing link", "new link", "extra link" },
	[EXPECTED_SLOW] = { "slow link", "faster link", NULL },
	[EXPECTED_PART] = { "missing aggregation node", "new aggregation node",
			    "extra aggregation node" },
};

/* The same in both fabrics and their faults, where a node may have another name: a
 * link is known by the port at its first node. */
static char *
fault_key(const struct expected_fault *f)
{
	return g_strdup_printf("%u %" G_GINT64_MODIFIER "x %u", f->kind,
			       f->guid, f->port);
}

static void
compare_expected(struct compare *c, const struct snapshot *from,
		 const struct snapshot *to, unsigned words)
{
	struct expected *e = expected_new();

	expected_update(e, from, NULL, 1, 1);
	expected_update(e, to, NULL, 1, 1);
	EACH_PTR(const struct expected_fault, f, e->faults) {
		const char *what = fault_words[f->kind][words];

		g_hash_table_add(c->told, fault_key(f));
		if (what && (!f->cause || c->r->as_json))
			put(c, what, f->name, "%s%s", words &&
			    f->kind == EXPECTED_SLOW ? "before " : "",
			    f->text);
	}
	expected_free(e);
}

/* ---- cables ---- */

/* The far end, in the old fabric, of the cable that this port had. */
static uint32_t
had(const struct compare *c, uint32_t port)
{
	uint32_t was = snapshot_same_port(c->new, port, c->to_old, c->old);

	return was == SNAPSHOT_NONE ? was : c->old->ports[was].peer;
}

/* Of a port in `new`; g_free. */
static char *
name_port(const struct compare *c, uint32_t port)
{
	return snapshot_full_port_name(c->new, port, c->shared);
}

/* a and b should have a cable, and may have others. */
static void
put_exchanged(struct compare *c, uint32_t a, uint32_t b)
{
	const struct snapshot *s = c->b->s;
	uint32_t d = s->ports[a].peer, e = s->ports[b].peer, x = a, y = e;
	g_autofree char *first = NULL, *second = NULL, *names = NULL;
	g_autofree char *its = NULL, *other = NULL;

	if (d == SNAPSHOT_NONE || e == SNAPSHOT_NONE ||
	    had(c, d) == SNAPSHOT_NONE || had(c, e) == SNAPSHOT_NONE)
		return;
	/* at one switch, if that is possible, and not at hosts */
	if (s->ports[b].node == s->ports[d].node ||
	    !snapshot_is_switch(snapshot_node_of(s, a)) ||
	    !snapshot_is_switch(snapshot_node_of(s, e))) {
		x = b;
		y = d;
	}
	first = name_port(c, x);
	second = name_port(c, y);
	its = name_port(c, x == a ? b : a);
	other = name_port(c, x == a ? d : e);
	names = g_strdup_printf("%s and %s", first, second);
	put(c, "exchanged plugs", names, "%s the cable of %s in %s, that of %s "
	    "in %s", c->is_design ? "plug" : "before,", its, first, other,
	    second);
	builder_unlink(c->b, a);
	builder_unlink(c->b, b);
	builder_link(c->b, a, b);
	builder_link(c->b, d, e);
}

static void
put_moved(struct compare *c, uint32_t port)
{
	static const char *const words[2][2] = {
		{ "other cable", "wrong cable" },
		{ "moved host", "misplaced host" },
	};
	const struct snapshot *s = c->b->s;
	bool is_host = !snapshot_is_switch(snapshot_node_of(s, port));
	g_autofree char *name = name_port(c, port);
	g_autofree char *is = name_port(c, s->ports[port].peer);
	g_autofree char *was = snapshot_full_port_name(c->old, had(c, port),
						       c->was_shared);

	put(c, words[is_host][c->is_design], name, "%s %s, %s %s",
	    is_host ? "at" : "leads to", is, c->is_design ? "not" : "before",
	    was);
}

/* a and b had a cable; the node of one may be missing (SNAPSHOT_NONE). Then its
 * plug is not seen, and the cable that the other has is told, if its own end is
 * not seen either. */
static void
put_cable(struct compare *c, uint32_t a, uint32_t b)
{
	const struct snapshot *s = c->b->s;
	uint32_t d = a == SNAPSHOT_NONE ? a : s->ports[a].peer, far;
	uint32_t e = b == SNAPSHOT_NONE ? b : s->ports[b].peer;

	if (a != SNAPSHOT_NONE && b != SNAPSHOT_NONE) {
		if (d != b && (d != SNAPSHOT_NONE || e != SNAPSHOT_NONE))
			put_moved(c, e != SNAPSHOT_NONE &&
				  (d == SNAPSHOT_NONE || !snapshot_is_switch(
					snapshot_node_of(s, b))) ? b : a);
		return;
	}
	a = MIN(a, b);
	d = MIN(d, e);
	far = d == SNAPSHOT_NONE ? d : had(c, d);
	if (far != SNAPSHOT_NONE &&
	    c->to_new[c->old->ports[far].node] == SNAPSHOT_NONE)
		put_moved(c, a);
}

static void
diff_cables(struct compare *c, bool exchanged)
{
	for (uint32_t port = 0; port < c->old->n_ports; port++) {
		uint32_t peer = c->old->ports[port].peer, a, b;

		if (peer == SNAPSHOT_NONE || port >= peer)
			continue;
		a = snapshot_same_port(c->old, port, c->to_new, c->new);
		b = snapshot_same_port(c->old, peer, c->to_new, c->new);
		if (!exchanged)
			put_cable(c, a, b);
		else if (a != SNAPSHOT_NONE && b != SNAPSHOT_NONE &&
			 c->b->s->ports[a].peer != b)
			put_exchanged(c, a, b);
	}
}

/* ---- what is said of them ---- */

static void
put_names(struct compare *c)
{
	for (uint32_t port = 0; port < c->old->n_ports; port++) {
		const struct snapshot_port *p = &c->old->ports[port], *now;
		uint32_t at = snapshot_same_port(c->old, port, c->to_new,
						 c->new);
		const char *was = snapshot_name_of(c->old, port), *is;
		g_autofree char *name = NULL;

		if (at == SNAPSHOT_NONE)
			continue;
		now = &c->new->ports[at];
		is = snapshot_name_of(c->new, at);
		name = name_port(c, at);
		if (!p->num && strcmp(was, is))
			put(c, "other name", is, "%s %s", c->is_design ?
			    "in the design" : "before", was);
		/* a net file may have no LIDs */
		if (!c->is_design && snapshot_is_end_port(c->old, port) &&
		    p->info.lid && now->info.lid &&
		    p->info.lid != now->info.lid)
			put(c, "other LID", name, "%u, before %u",
			    now->info.lid, p->info.lid);
	}
}

/* Lines of `a` that `b` has not; faults of nodes and links that are missing or
 * new are told already. */
static void
compare_lines(struct compare *c, const struct tool_view *a,
	      const struct tool_view *b, const char *what, enum view_kind kind)
{
	for (guint i = 0; i < a->lines->of[kind]->len; i++) {
		const struct view_text *l = a->lines->of[kind]->pdata[i];
		g_autofree char *key = kind == VIEW_FAULT ? fault_key(
			a->lines->expected->faults->pdata[i]) : g_strdup("");
		bool has_both = false;

		EACH_PTR(const struct view_text, other, b->lines->of[kind])
			has_both |= !g_strcmp0(other->text, l->text);
		if (l->text && !has_both && !g_hash_table_contains(c->told, key))
			put(c, what, l->text, "%s", "");
	}
}

static void
put_said(struct compare *c, const struct tool_view *old,
	 const struct tool_view *new)
{
	static const struct {
		enum view_kind kind;
		const char *new, *ended;
	} lines[] = {
		{ VIEW_VERDICT, "verdict now", "verdict before" },
		{ VIEW_ROUTE, "engine now", "engine before" },
		{ VIEW_FAULT, "new fault", "ended fault" },
		{ VIEW_COMPLAINT, "new problem", "ended problem" },
		{ VIEW_WARNING, "new warning", "ended warning" },
		{ VIEW_AVOIDED, "newly avoided", "no longer avoided" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		compare_lines(c, new, old, lines[i].new, lines[i].kind);
		compare_lines(c, old, new, lines[i].ended, lines[i].kind);
	}
}

/* ---- all ---- */

int
compare_fabrics(const struct snapshot *old, const struct snapshot *new,
		const struct tool_view *old_view,
		const struct tool_view *new_view, struct text_report *r)
{
	struct compare c = {
		.old = old, .new = new, .is_design = !old_view, .r = r,
		.to_new = snapshot_map_nodes(old, new),
		.to_old = snapshot_map_nodes(new, old),
		.shared = snapshot_shared_names(new),
		.was_shared = snapshot_shared_names(old),
		.told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					      NULL),
		.b = builder_new_from(new),
	};
	struct snapshot *right;

	report_open(r, NULL, '{');
	report_open(r, "differences", '[');
	c.b->s->local_port = SNAPSHOT_NONE;	/* no node is dropped */
	diff_cables(&c, true);
	diff_cables(&c, false);
	right = builder_finish(c.b);
	compare_expected(&c, old, right, 0);
	compare_expected(&c, right, old, c.is_design ? 2 : 1);
	snapshot_unref(right);
	put_names(&c);
	/* a net file says nothing */
	if (old_view && old_view->lines->of[VIEW_HEAD]->len &&
	    new_view->lines->of[VIEW_HEAD]->len)
		put_said(&c, old_view, new_view);
	report_close(r, ']');
	report_say(r, "%s", c.n ? "" : "no difference\n");
	report_bool(r, "alike", !c.n);
	report_end(r);
	g_free(c.to_new);
	g_free(c.to_old);
	g_hash_table_unref(c.told);
	g_hash_table_unref(c.shared);
	g_hash_table_unref(c.was_shared);
	return c.n ? 1 : 0;
}
