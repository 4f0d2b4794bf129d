// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `avoid` and `use`: links between switches that routing leaves out.
 */
#include "sm/control/request.h"

#include <string.h>

#include "topology/each.h"
#include "topology/port_search.h"
#include "topology/text.h"

/* The lower end of the link between switches that has this port, or
 * SNAPSHOT_NONE. */
static uint32_t
find_switch_link(const struct snapshot *s, const char *word)
{
	uint32_t port = port_search_any(s, word);
	uint32_t peer = port == SNAPSHOT_NONE ? port : s->ports[port].peer;

	return peer != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, port)) &&
		snapshot_is_switch(snapshot_node_of(s, peer)) ?
		MIN(port, peer) : SNAPSHOT_NONE;
}

/* Why the word names none. */
static void
say_no_link(struct control_request *q, const struct snapshot *s,
	    const char *word)
{
	g_autofree char *shown = text_one_line(word), *host = NULL;
	uint32_t port = port_search_any(s, word);

	if (port != SNAPSHOT_NONE && s->ports[port].peer != SNAPSHOT_NONE)
		host = snapshot_port_name(s, s->ports[port].peer);
	if (host)
		request_say(q, CONTROL_USAGE, "%s leads to %s; only links "
			    "between switches can be avoided", shown, host);
	else
		request_say(q, CONTROL_USAGE, "no link between switches is at "
			    "%s; links has all, as NAME/PORT", shown);
}

/* What a sweep has made of the request. */
static void
say_outcome(struct control_request *q, const char *word,
	    const struct status_sweep *sweep)
{
	const struct sweep *of = q->v.sweep;
	const struct snapshot *s = of->view.subnet;
	uint32_t port = find_switch_link(s, word);
	bool avoids = strcmp(q->words[0], "avoid") == 0;
	const struct avoid_link *link = NULL;
	g_autofree char *quoted = g_shell_quote(word);

	EACH_PTR(const struct avoid_link, l, of->view.avoided)
		if (l->port == port)
			link = l;
	if (port == SNAPSHOT_NONE)
		say_no_link(q, s, word);
	else if (sweep->end != SWEEP_END_UP && sweep->end != SWEEP_END_NOT_UP)
		request_say(q, CONTROL_NOT_DONE, "the sweep that was to move "
			    "the routes has ended as %s; see status",
			    status_end_name(sweep->end));
	else if (!link)
		request_say(q, avoids ? CONTROL_NOT_DONE : CONTROL_DONE, "%s "
			    "is in use: rerouted in %.1f %s", word,
			    (double)sweep->took_us / 1000, q->v.ms);
	else if (avoids && link->verdict == AVOID_DONE)
		request_say(q, CONTROL_DONE, "no traffic on %s: rerouted in "
			    "%.1f %s; undo: minismctl use %s", link->name,
			    (double)sweep->took_us / 1000, q->v.ms, quoted);
	else
		request_say(q, CONTROL_NOT_DONE, "%s %s", link->name,
			    avoid_verdict_texts[link->verdict]);
}

/* The answer when the routes have moved, in a sweep from this number on, or the
 * request that asks for it. */
static void
wait_for_routes(struct control_request *q, uint64_t first)
{
	const struct control_view *v = &q->v;
	const struct status_sweep *sweep;

	if (v->sweep->paused || v->sweep->self.state != SM_STATE_MASTER) {
		request_say(q, CONTROL_DONE, "for the next sweep of this "
			    "manager, which %s now", v->sweep->paused ?
			    "is paused" : "is not the master");
		return;
	}
	sweep = request_swept(q, first, "links to be avoided");
	if (sweep)
		say_outcome(q, q->words[1], sweep);
}

/* avoid NAME/PORT [ERRORS], where 0 is the opposite for that reason; use. The list
 * of them is in the view. */
void
control_avoid(struct control_request *q)
{
	const struct snapshot *s = q->db->subnet;
	const char *word = q->words[1] ? q->words[1] : "";
	uint32_t found = find_switch_link(s, word);
	bool has_errors = *word && q->words[2], avoid;
	uint64_t errors = 0, guid, first = request_next_sweep(&q->v);
	uint8_t num;

	if (q->is_again && *word) {
		wait_for_routes(q, q->number);
		return;
	}
	if (has_errors &&
	    !text_read_number(q->words[2], 10, UINT64_MAX, &errors)) {
		request_say_usage(q);
		return;
	}
	if (found == SNAPSHOT_NONE) {
		say_no_link(q, s, word);
		return;
	}
	guid = snapshot_node_of(s, found)->info.node_guid;
	num = s->ports[found].num;
	avoid = strcmp(q->words[0], "avoid") == 0 && (errors || !has_errors);
	if (avoid ? !sweep_avoid(q->v.sweep, guid, num, errors) :
	    !sweep_use(q->v.sweep, guid, num, has_errors))
		request_say(q, CONTROL_NOT_DONE, avoid ?
			    "that is asked for already: avoid says what came "
			    "of it" : "there is nothing to take back: avoid "
			    "says what is avoided, and why");
	else if (!has_errors)
		wait_for_routes(q, first);
	else
		request_say(q, CONTROL_DONE, "%s", avoid ?
			    "routes are computed without it, until use or a "
			    "restart; avoid says what came of it" :
			    "routes are computed with it");
}
