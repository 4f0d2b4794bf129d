// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: an incident, some things that go wrong one after the other by
 * chance, and whether the manager's log names each of them.
 *
 * The script is a list of words for each event: names of nodes and ports, and
 * what became of them. A reader finds the event if all its words are in one line.
 * No two events are about the same node or cable, but for the end of one.
 */
#include "tests/lib/play.h"

#include <string.h>

#include "tests/lib/seed.h"
#include "topology/prng.h"

struct incident {
	struct play *p;
	GPtrArray *script;	/* char **, NULL-terminated: of an event */
	bool *busy;		/* by node: it was off, reset or moved, or is
				   on a switch that was */
	bool *busy_port;	/* a cable that was cut or slow */
	GArray *ends;		/* struct open_end */
	bool is_switch;		/* of the event under way: its node is one */
};

/* What can be undone. */
struct open_end {
	bool is_cable;
	uint32_t what;		/* port, or node */
};

static void
add_script(struct incident *in, const char *first, ...)
{
	GPtrArray *words = g_ptr_array_new();
	va_list args;

	va_start(args, first);
	for (const char *w = first; w; w = va_arg(args, const char *))
		g_ptr_array_add(words, g_strdup(w));
	va_end(args);
	g_ptr_array_add(words, NULL);
	g_ptr_array_add(in->script, g_ptr_array_free(words, FALSE));
}

static const char *
name_of(const struct incident *in, uint32_t node)
{
	return in->p->w.s->nodes[node].desc;
}

/* "S-1-0/5"; of a host its name. */
static char *
end_name(const struct incident *in, uint32_t port)
{
	return snapshot_port_name(in->p->w.s, port);
}

static uint32_t
peer_node(const struct incident *in, uint32_t port)
{
	return in->p->w.s->ports[sim_peer(in->p->w.sim, port)].node;
}

/* Nothing has happened to the node, nor to what it hangs on and what hangs on
 * it. */
static bool
is_free(const struct incident *in, uint32_t node)
{
	const struct snapshot *s = in->p->w.s;
	const struct snapshot_node *n = &s->nodes[node];
	uint32_t own = s->ports[in->p->w.m.port].node;

	if (in->busy[node] || node == own)
		return false;
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;

		if (sim_peer(in->p->w.sim, port) != SNAPSHOT_NONE &&
		    (in->busy_port[port] || peer_node(in, port) == own ||
		     in->busy[peer_node(in, port)]))
			return false;
	}
	return true;
}

/* A free host or switch; false: none was found. */
static bool
pick_node(struct incident *in, bool is_switch, uint32_t *node)
{
	const struct snapshot *s = in->p->w.s;

	for (unsigned tries = 0; tries < 1000; tries++) {
		*node = prng_below(&in->p->rng, s->n_nodes);
		if (snapshot_is_switch(&s->nodes[*node]) == is_switch &&
		    is_free(in, *node))
			return true;
	}
	return false;
}

/* A free cable between switches. */
static bool
pick_cable(struct incident *in, uint32_t *port)
{
	const struct snapshot *s = in->p->w.s;

	for (unsigned tries = 0; tries < 1000; tries++) {
		*port = prng_below(&in->p->rng, s->n_ports);
		if (s->ports[*port].peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(s, *port)) &&
		    snapshot_is_switch(&s->nodes[peer_node(in, *port)]) &&
		    !in->busy_port[*port] &&
		    !in->busy[s->ports[*port].node] &&
		    !in->busy[peer_node(in, *port)]) {
			in->busy_port[*port] = true;
			in->busy_port[s->ports[*port].peer] = true;
			return true;
		}
	}
	return false;
}

static void
add_cable_script(struct incident *in, uint32_t port, const char *what)
{
	g_autofree char *a = end_name(in, port);
	g_autofree char *b = end_name(in, sim_peer(in->p->w.sim, port));

	add_script(in, a, b, what, NULL);
}

/* ---- events ---- */

static bool
cut_cable(struct incident *in)
{
	struct open_end end = { .is_cable = true };

	if (!pick_cable(in, &end.what))
		return false;
	sim_link_cut(in->p->w.sim, end.what);
	add_cable_script(in, end.what, "is down");
	g_array_append_val(in->ends, end);
	return true;
}

/* It trains again, and its switch says so. */
static bool
narrow_cable(struct incident *in)
{
	struct sim *sim = in->p->w.sim;
	uint32_t port;

	if (!pick_cable(in, &port))
		return false;
	sim_link_set_speed(sim, port, &(struct port_info){ .width_active = 1,
			   .speed_active = 4, .speed_ext_active = 2 });
	sim_trap(sim, port, 128);
	add_cable_script(in, port, "trained at 1xEDR of 4xEDR");
	return true;
}

/* Of a host's port, the switch port behind it. */
static char *
place_of(const struct incident *in, uint32_t node)
{
	uint32_t port = in->p->w.s->nodes[node].first_port + 1;

	return end_name(in, sim_peer(in->p->w.sim, port));
}

static bool
power_off(struct incident *in)
{
	struct open_end end = { .is_cable = false };
	g_autofree char *place = NULL;

	if (!pick_node(in, in->is_switch, &end.what))
		return false;
	in->busy[end.what] = true;
	place = in->is_switch ? NULL : place_of(in, end.what);
	sim_node_off(in->p->w.sim, end.what);
	add_script(in, name_of(in, end.what), "left", place, NULL);
	g_array_append_val(in->ends, end);
	return true;
}

static bool
reset_node(struct incident *in)
{
	uint32_t node;

	if (!pick_node(in, in->is_switch, &node))
		return false;
	in->busy[node] = true;
	sim_node_reset(in->p->w.sim, node);
	add_script(in, name_of(in, node), "is back|has been reset", NULL);
	return true;
}

/* Two hosts change places. */
static bool
move_hosts(struct incident *in)
{
	const struct snapshot *s = in->p->w.s;
	uint32_t a, b;
	g_autofree char *from = NULL, *to = NULL;

	if (!pick_node(in, false, &a))
		return false;
	in->busy[a] = true;
	if (!pick_node(in, false, &b))
		return false;
	in->busy[b] = true;
	from = place_of(in, a);
	to = place_of(in, b);
	sim_cable_swap(in->p->w.sim, s->nodes[a].first_port + 1,
		       s->nodes[b].first_port + 1);
	add_script(in, name_of(in, a), "moved", from, to, NULL);
	add_script(in, name_of(in, b), "moved", to, from, NULL);
	return true;
}

/* The manager's own cable is out for a moment, in which a light sweep may see it. */
static bool
cut_own(struct incident *in)
{
	struct sim *sim = in->p->w.sim;
	uint32_t port = in->p->w.m.port;

	sim_link_cut(sim, port);
	sim_run(sim, sim_now(sim) + 2 * SECOND);
	sim_link_mend(sim, port);
	sim_run(sim, sim_now(sim) + SECOND);
	add_script(in, name_of(in, in->p->w.s->ports[port].node),
		   "has been down|is down|from Active to Down", NULL);
	return true;
}

static bool
undo_one(struct incident *in)
{
	struct sim *sim = in->p->w.sim;
	struct open_end end;
	guint i;

	if (!in->ends->len)
		return false;
	i = prng_below(&in->p->rng, in->ends->len);
	end = g_array_index(in->ends, struct open_end, i);
	g_array_remove_index(in->ends, i);
	sim_run(sim, sim_now(sim) + SECOND);
	if (end.is_cable) {
		sim_link_mend(sim, end.what);
		add_cable_script(in, end.what, "is up");
		return true;
	}
	sim_node_on(sim, end.what);
	add_script(in, name_of(in, end.what), "is back", NULL);
	return true;
}

/* ---- the reader ---- */

/* One of some, A|B; as a word: S-1-1 is not S-1-10. */
static bool
has_word(const char *line, const char *words)
{
	g_auto(GStrv) list = g_strsplit(words, "|", -1);

	for (char **word = list; *word; word++)
		for (const char *at = line; (at = strstr(at, *word)); at++)
			if (!g_ascii_isdigit(at[strlen(*word)]) &&
			    (at == line || !g_ascii_isalnum(at[-1])))
				return true;
	return false;
}

static bool
is_told(char *const *lines, char *const *script)
{
	for (; *lines; lines++) {
		char *const *w = script;

		while (*w && has_word(*lines, *w))
			w++;
		if (!*w)
			return true;
	}
	return false;
}

/* Of level info and above; a person does not read the rest. */
static char **
read_log(struct play *p)
{
	GPtrArray *kept = g_ptr_array_new();
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (g_file_get_contents(p->log, &text, NULL, NULL))
		lines = g_strsplit(text + p->said_before, "\n", -1);
	for (char **line = lines; line && *line; line++)
		if (strstr(*line, " info ") || strstr(*line, " warning ") ||
		    strstr(*line, " error "))
			g_ptr_array_add(kept, g_strdup(*line));
	g_ptr_array_add(kept, NULL);
	return (char **)g_ptr_array_free(kept, FALSE);
}

static bool
read_script(struct incident *in)
{
	g_auto(GStrv) lines = read_log(in->p);

	for (guint i = 0; i < in->script->len; i++) {
		char **script = in->script->pdata[i];
		g_autofree char *words = g_strjoinv(" .. ", script);

		if (!is_told(lines, script))
			return play_fail(in->p, "event %u of %u is not in the "
					 "log: %s", i + 1, in->script->len,
					 words);
	}
	return true;
}

/* N [SEED]: events within some seconds; then the log is read. */
static bool
do_incident(struct play *p, char **args)
{
	static const struct {
		bool (*play)(struct incident *in);
		bool is_switch;
	} events[] = {
		{ cut_cable, true }, { cut_cable, true }, { narrow_cable, true },
		{ power_off, false }, { power_off, true },
		{ reset_node, true }, { reset_node, false },
		{ move_hosts, false }, { cut_own, false },
		{ undo_one, false }, { undo_one, false },
	};
	struct incident in = {
		.p = p,
		.script = g_ptr_array_new_with_free_func(
			(GDestroyNotify)g_strfreev),
		.busy = g_new0(bool, p->w.s->n_nodes),
		.busy_port = g_new0(bool, p->w.s->n_ports),
		.ends = g_array_new(FALSE, FALSE, sizeof(struct open_end)),
	};
	unsigned n = args[0] ? (unsigned)strtoul(args[0], NULL, 10) : 0;
	bool ok;

	p->rng = prng_stream(seed_get(args[0] && args[1] ?
		strtoul(args[1], NULL, 10) : 1), 6);
	for (unsigned tries = 0; n && tries < 1000; tries++) {
		guint i = prng_below(&p->rng, G_N_ELEMENTS(events));

		in.is_switch = events[i].is_switch;
		if (!events[i].play(&in))
			continue;
		n--;
		sim_run(p->w.sim, sim_now(p->w.sim) +
			prng_below(&p->rng, 3 * SECOND));
	}
	sim_run(p->w.sim, sim_now(p->w.sim) + 15 * SECOND);
	ok = !n ? read_script(&in) : play_fail(p, "incident N, or too many");
	g_ptr_array_unref(in.script);
	g_free(in.busy);
	g_free(in.busy_port);
	g_array_unref(in.ends);
	return ok;
}

const struct play_word play_incident_words[] = {
	{ "incident", do_incident }, { NULL, NULL },
};
