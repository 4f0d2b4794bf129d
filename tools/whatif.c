// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What would happen.
 *
 * Method. A copy of the view's snapshot is changed, and what the manager's port
 * no longer reaches leaves it, as in a sweep. Then what the manager does: the
 * last tables are repaired (routing/repair.h), or if that is not possible the
 * engine in force, or all, route the fabric. The tables before are those of the
 * view, or without any those that would be computed.
 *
 * What a view does not say is not considered: the order of switches of an
 * earlier sweep.
 */
#include "tools/show.h"

#include <string.h>

#include "routing/metrics.h"
#include "routing/order.h"
#include "routing/repair.h"
#include "routing/select.h"
#include "topology/each.h"
#include "topology/text.h"

#define SHIFTS		64u
#define NAMES_SHOWN	20u

/* A fabric and its tables. */
struct stage {
	struct snapshot *s;
	struct lid_map *lids;
	struct graph *g;
	struct choice choice;
	struct metrics_load load;
	struct metrics_congestion shifts;
	double bound;
	bool is_repaired;
};

struct whatif {
	const struct tool_view *v;
	struct builder *b;
	bool *is_killed;	/* by node of the view */
	bool has_engines;	/* asked for; else the manager's */
	struct engine_list engines;
	GPtrArray *notes;	/* char *, about their names */
	char *wrong;		/* why the words are; NULL: they are not */
};

/* ---- the changes ---- */

/* Takes the cable out, if there is one. */
static void
pull(struct builder *b, uint32_t port)
{
	struct snapshot_port *p = &b->s->ports[port];

	if (p->peer == SNAPSHOT_NONE)
		return;
	p->info.state = b->s->ports[p->peer].info.state = PORT_STATE_DOWN;
	builder_unlink(b, port);
}

static void
kill_node(struct whatif *w, char *const *words)
{
	uint32_t port = tool_view_find(w->v, words[0], FIND_NODE, NULL,
				       &w->wrong);
	uint32_t node;

	if (port == SNAPSHOT_NONE)
		return;
	node = w->v->s->ports[port].node;
	w->is_killed[node] = true;
	for (port = 0; port < w->b->s->n_ports; port++)
		if (w->b->s->ports[port].node == node)
			pull(w->b, port);
}

static void
unplug(struct whatif *w, char *const *words)
{
	uint32_t port = tool_view_find(w->v, words[0], FIND_CABLE_END, NULL,
				       &w->wrong);

	if (port == SNAPSHOT_NONE)
		return;
	if (w->b->s->ports[port].peer == SNAPSHOT_NONE)
		w->wrong = tool_view_missing(w->v, words[0]) ?:
			g_strdup_printf("%s has no cable", words[0]);
	pull(w->b, port);
}

/* As fast as the slower of the first links of both nodes. */
static void
add_cable(struct whatif *w, char *const *words)
{
	struct snapshot *s = w->b->s;
	const struct port_info *rate = NULL, *info;
	uint32_t ends[2], port;

	for (unsigned i = 0; i < 2; i++) {
		ends[i] = tool_view_find(w->v, words[i], FIND_CABLE_END, NULL,
					 &w->wrong);
		if (ends[i] == SNAPSHOT_NONE)
			return;
		if (s->ports[ends[i]].peer != SNAPSHOT_NONE) {
			w->wrong = g_strdup_printf("%s has a cable already",
						   words[i]);
			return;
		}
		port = snapshot_node_of(s, ends[i])->first_port;
		while (w->v->s->ports[port].peer == SNAPSHOT_NONE &&
		       port + 1 < s->n_ports)
			port++;
		info = &w->v->s->ports[port].info;
		if (!rate || port_mbps(info) < port_mbps(rate))
			rate = info;
	}
	if (ends[0] == ends[1]) {
		w->wrong = g_strdup_printf("%s cannot have a cable to itself",
					   words[0]);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		s->ports[ends[i]].info = *rate;	/* its LID is set at the end */
		s->ports[ends[i]].known = true;
	}
	builder_link(w->b, ends[0], ends[1]);
}

static void
set_engine(struct whatif *w, char *const *words)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);

	w->has_engines = true;
	if (!engine_list_read(words[0], "engine", &w->engines, w->notes,
			      errors)) {
		g_ptr_array_add(errors, NULL);
		w->wrong = g_strjoinv("\n", (char **)errors->pdata);
	}
}

/* Carries out all words. False: w->wrong. */
static bool
carry_out(struct whatif *w, char *const *words)
{
	static const struct {
		const char *verb;
		guint n;
		void (*run)(struct whatif *w, char *const *words);
	} verbs[] = {
		{ "kill", 1, kill_node }, { "unplug", 1, unplug },
		{ "add", 2, add_cable }, { "engine", 1, set_engine },
	};
	guint n = g_strv_length((char **)words), i, k;

	for (i = 0; i < n && !w->wrong; i += verbs[k].n + 1) {
		for (k = 0; k < G_N_ELEMENTS(verbs) - 1; k++)
			if (!strcmp(verbs[k].verb, words[i]))
				break;
		if (strcmp(verbs[k].verb, words[i]) || i + verbs[k].n >= n)
			w->wrong = g_strdup_printf("%s: kill NODE, unplug "
				"NAME/PORT, add NAME/PORT NAME/PORT or engine "
				"NAME[,NAME ..] is expected", words[i]);
		else
			verbs[k].run(w, words + i + 1);
	}
	return !w->wrong;
}

/* The fabric after all changes. False: w->wrong. */
static bool
finish_copy(struct whatif *w, struct stage *x)
{
	struct snapshot *s = w->b->s;
	/* a net file by itself does not say that links are in use */
	bool is_net = !w->v->lines->of[VIEW_HEAD]->len;
	unsigned lmc = 0;
	uint32_t port;

	for (port = 0; port < s->n_ports; port++) {
		s->ports[port].info.lid = w->v->lids->base[port];
		s->ports[port].info.lmc = w->v->lids->lmc[port];
		lmc = MAX(lmc, w->v->lids->lmc[port]);
		if (is_net && s->ports[port].peer != SNAPSHOT_NONE)
			s->ports[port].info.state = PORT_STATE_ACTIVE;
	}
	/* a manager elsewhere takes over */
	for (port = 0; s->local_port == SNAPSHOT_NONE ||
	     s->ports[s->local_port].peer == SNAPSHOT_NONE; port++) {
		if (port == s->n_ports) {
			w->wrong = g_strdup("no host would have a cable");
			return false;
		}
		if (!snapshot_is_switch(snapshot_node_of(s, port)) &&
		    s->ports[port].peer != SNAPSHOT_NONE)
			s->local_port = port;
	}
	x->s = builder_finish(g_steal_pointer(&w->b));
	x->lids = lid_assign(x->s, lmc, NULL, 0, NULL, NULL);
	return x->lids;
}

/* ---- tables ---- */

/* Of the view's numbering. */
static struct lft *
renumber(const struct lft *lft, const struct snapshot *from,
	 const struct snapshot *to)
{
	struct lft *copy = lft_new(to->n_switches, lft->top);

	for (uint32_t sw = 0; sw < to->n_switches; sw++) {
		uint32_t node = snapshot_find_node(from,
			to->nodes[to->switches[sw]].info.node_guid);

		memcpy(lft_row(copy, sw), lft_row(lft,
		       from->nodes[node].sw_index), lft->stride);
	}
	return copy;
}

/* The GUIDs of lines of this kind; NULL: there are none. */
static GHashTable *
listed(const struct whatif *w, enum view_kind kind)
{
	const GPtrArray *lines = w->v->lines->of[kind];
	GHashTable *guids = lines->len ? g_hash_table_new(g_int64_hash,
							  g_int64_equal) : NULL;

	EACH_PTR(struct view_text, line, lines)
		g_hash_table_add(guids, &line->n[LISTED_GUID]);
	return guids;
}

/* in->is_root and in->is_io, for the caller; each NULL without lists. */
static void
mark_listed(const struct whatif *w, const struct stage *x, uint8_t **is_root,
	    uint8_t **is_io)
{
	g_autoptr(GHashTable) roots = listed(w, VIEW_ROOT);
	g_autoptr(GHashTable) compute = listed(w, VIEW_COMPUTE);
	g_autoptr(GHashTable) io = listed(w, VIEW_IO);
	const struct graph *g = x->g;
	const struct snapshot *s = x->s;

	if (roots)
		*is_root = g_new0(uint8_t, g->n_switches + 1);
	for (uint32_t sw = 0; roots && sw < g->n_switches; sw++)
		(*is_root)[sw] = g_hash_table_contains(roots,
			&s->nodes[s->switches[sw]].info.node_guid);
	if (compute || io)
		*is_io = g_new0(uint8_t, g->n_targets + 1);
	for (uint32_t i = 0; (compute || io) && i < g->n_targets; i++) {
		const uint64_t *guid =
			&s->ports[x->lids->owner[g->targets[i].lid]].guid;

		(*is_io)[i] = g->targets[i].port &&
			((io && g_hash_table_contains(io, guid)) ||
			 (compute && !g_hash_table_contains(compute, guid)));
	}
}

/* seen: what the switches hold, or NULL. repair: of the fabric before, if the
 * manager's engine is to be taken. False with an error. */
static bool
route_stage(const struct whatif *w, struct stage *x, struct lft *seen,
	    struct repair *repair, GError **error)
{
	const char *engine = view_lines_first(w->v->lines, VIEW_ROUTE)->text;
	const char *why = view_lines_first(w->v->lines, VIEW_REASON)->text;
	struct choice_wish wish = {
		.engine = w->engines.only, .in_force = engine,
		.order = engine_list_order(&w->engines),
	};
	struct graph *whole = graph_new_whole(x->s, x->lids);
	struct engine_input in = {
		.g = x->g = graph_new(x->s, x->lids), .whole = whole,
		.previous = seen ? choose_held(whole, seen) : NULL,
		.n_threads = g_get_num_processors(),
	};
	g_autofree uint8_t *is_root = NULL, *is_io = NULL;
	bool ok;

	mark_listed(w, x, &is_root, &is_io);
	in.is_root = is_root;
	in.is_io = is_io;
	if (!w->has_engines && engine && why && strstr(why, "configured"))
		wish.engine = engine_by_name(engine, NULL);
	x->is_repaired = repair && repair_tables(repair, &in, &x->choice);
	ok = x->is_repaired ||
		choose_tables(&wish, &in, &x->choice, error);
	lft_free((struct lft *)in.previous);
	graph_free(whole);
	return ok;
}

static void
stage_clear(struct stage *x)
{
	g_clear_pointer(&x->s, snapshot_unref);
	lid_map_free(x->lids);
	graph_free(x->g);
	choice_clear(&x->choice);
}

/* The manager has repaired tables over all links without those to be avoided.
 * NULL: there are none, or it has not. */
static struct repair *
repair_avoided(const struct whatif *w)
{
	const struct tool_view *v = w->v;
	struct builder *b = builder_new_from(v->s);
	struct stage all = { .lids = lid_map_ref(v->lids) };
	struct stage now = { .s = snapshot_ref(v->s),
			     .lids = lid_map_ref(v->lids) };
	struct repair *repair = NULL;
	bool any = false;

	for (uint32_t port = 0; port < b->s->n_ports; port++) {
		any |= b->s->ports[port].avoided;
		b->s->ports[port].avoided = false;
	}
	all.s = builder_finish(b);
	if (any && v->whole && route_stage(w, &all, NULL, NULL, NULL))
		repair = repair_new(graph_new(all.s, all.lids), &all.choice);
	if (repair && (!route_stage(w, &now, all.choice.lft, repair, NULL) ||
		       !now.is_repaired))
		g_clear_pointer(&repair, repair_free);
	stage_clear(&all);
	stage_clear(&now);
	return repair;
}

static void
measure(struct stage *x, const struct lft *lft)
{
	struct metrics_sample sample = { .n = SHIFTS, .seed = 1 };
	g_autofree uint32_t *hosts = order_hosts(x->g, &sample.n_hosts);

	sample.hosts = hosts;
	x->bound = metrics_bound(x->g, false);
	metrics_all_to_all(x->g, lft, NULL, &x->load);
	metrics_shifts(x->g, lft, &sample, &x->shifts);
}

/* ---- the answer ---- */

static void
put_stage(struct text_report *r, const char *key, const char *name,
	  const struct stage *x, const char *engine)
{
	uint64_t n = x->g->n_all_hosts;

	report_open(r, key, '{');
	report_say(r, "%s", name);
	report_text(r, "engine", engine, ", ");
	report_count(r, "pairs", n * (n - MIN(n, 1)) - x->load.lost, "pair",
		     " of hosts; all to all, ");
	report_real(r, "flows", x->load.worst, 0, " flow");
	report_say(r, "%s over the busiest link, ",
		   text_plural((uint64_t)x->load.worst));
	report_real(r, "times_bound", x->bound > 0 ? x->load.worst / x->bound :
		    1, 2, " times the least; shifts ");
	report_real(r, "shifts", x->shifts.mean, 2, ", at most ");
	report_number(r, "shifts_max", x->shifts.max, "\n");
	report_close(r, '}');
}

/* End ports that are not reached any more, switches last. Returns how many. */
static unsigned
put_cut_off(struct text_report *r, const struct whatif *w,
	    const struct snapshot *now)
{
	const struct snapshot *s = w->v->s;
	g_autofree uint32_t *nodes = snapshot_map_nodes(s, now);
	unsigned n = 0;

	report_open(r, "cut_off", '[');
	for (uint32_t i = 0; i < 2 * s->n_ports; i++) {
		bool switches = i >= s->n_ports;
		uint32_t port = i % s->n_ports;
		const struct snapshot_node *node = snapshot_node_of(s, port);
		uint32_t at = snapshot_same_port(s, port, nodes, now);
		g_autofree char *name = NULL;

		if (snapshot_is_switch(node) != switches ||
		    !snapshot_is_end_port(s, port) ||
		    w->is_killed[s->ports[port].node] ||
		    (!switches && s->ports[port].peer == SNAPSHOT_NONE) ||
		    (at != SNAPSHOT_NONE &&
		     (switches || now->ports[at].peer != SNAPSHOT_NONE)))
			continue;
		name = tool_view_port_name(w->v, port);
		if (n++ < NAMES_SHOWN || r->as_json) {
			report_say(r, n == 1 ? "cut off: " : ", ");
			report_text(r, NULL, name, "");
		}
	}
	if (n > NAMES_SHOWN)
		report_say(r, " and %u more", n - NAMES_SHOWN);
	report_say(r, "%s", n ? "\n" : "");
	report_close(r, ']');
	return n;
}

static int
put_result(struct text_report *r, const struct whatif *w,
	   const struct stage *was, const struct stage *is,
	   const struct lft *held)
{
	const struct choice *c = &is->choice;
	const char *engine = view_lines_first(w->v->lines, VIEW_ROUTE)->text;
	uint64_t lost = c->alone.reach.lost_hosts;
	struct metrics_churn churn;
	unsigned n;

	metrics_churn(held, c->lft, &churn);
	report_open(r, NULL, '{');
	n = put_cut_off(r, w, is->s);
	if (lost)
		report_say(r, "WARNING: pairs of hosts without a path: ");
	report_number(r, "lost", lost, lost ? "\n" : NULL);
	put_stage(r, "before", "before: ", was, engine ? engine :
		  was->choice.engine->name);
	put_stage(r, "after", "after:  ", is, c->engine->name);
	report_lines(r, "notes", w->notes, "note:   ");
	report_say(r, "engine: %s: ", c->engine->name);
	report_text(r, "reason", is->is_repaired ? "kept, with a local repair" :
		    c->reason, "\n");
	report_text(r, "warning", c->warning, "\n");
	report_say(r, "tables: ");
	report_number(r, "blocks", churn.blocks, " of ");
	report_count(r, "all_blocks", churn.all_blocks, "LFT block",
		     " would be written");
	report_say(r, "%s\n", c->safety == CHOICE_DRAIN ? ", in stages: old "
		   "and new ones mixed could deadlock" :
		   c->safety == CHOICE_LOOP ? "; CREDIT LOOP: traffic could "
		   "deadlock" : "");
	report_bool(r, "stages", c->safety == CHOICE_DRAIN);
	report_bool(r, "credit_loop", c->safety == CHOICE_LOOP);
	report_end(r);
	return n || lost || c->safety == CHOICE_LOOP;
}

int
show_whatif(struct show *q, GError **error)
{
	const struct tool_view *v = q->v;
	struct whatif w = {
		.v = v, .b = builder_new_from(v->s),
		.is_killed = g_new0(bool, v->s->n_nodes + 1),
		.notes = g_ptr_array_new_with_free_func(g_free),
	};
	struct whatif before = { .v = v };
	struct stage was = { .s = snapshot_ref(v->s),
			     .lids = lid_map_ref(v->lids) }, is = { .s = NULL };
	g_autoptr(GError) wrong = NULL;
	struct repair *repair = NULL;
	struct lft *held = NULL;
	int status = 2;

	if (carry_out(&w, q->words + 1) && finish_copy(&w, &is))
		status = 1;
	if (status == 1 && route_stage(&before, &was, v->whole ? v->lft : NULL,
				       NULL, &wrong)) {
		held = v->whole ? v->lft : was.choice.lft;
		measure(&was, held);
		held = renumber(held, v->s, is.s);
		if (!w.has_engines)
			repair = repair_avoided(&before) ?:
				repair_new(graph_new(v->s, v->lids),
					   &was.choice);
		if (route_stage(&w, &is, held, repair, &wrong)) {
			if (repair && !is.is_repaired)
				text_add(w.notes, "no local repair was found "
					 "for this view, so all tables are "
					 "computed anew");
			measure(&is, is.choice.lft);
			status = put_result(&q->out, &w, &was, &is, held);
		}
	}
	if (w.wrong || wrong)
		report_done(&q->out, false, w.wrong ? w.wrong : wrong->message);
	repair_free(repair);
	lft_free(held);
	stage_clear(&was);
	stage_clear(&is);
	builder_free(w.b);
	g_ptr_array_unref(w.notes);
	g_free(w.is_killed);
	g_free(w.wrong);
	return status;
}
