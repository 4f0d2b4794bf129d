// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `avoid` and `use`: links between switches that routing leaves out.
 */
#include <string.h>

#include "sm/control/request.h"
#include "sm/sa/sa_db.h"
#include "topology/text.h"

void
control_put_avoided(const struct control_view *v, struct text_report *r)
{
	static const char *const routing[] = {
		[AVOID_DONE] = "avoided", [AVOID_NEEDED] = "needed",
		[AVOID_TOO_MANY] = "too many",
	};
	const GPtrArray *links = v->sweep ? sweep_avoided(v->sweep) : NULL;

	report_open(r, "avoided", '[');
	for (guint i = 0; links && i < links->len; i++) {
		const struct avoid_link *l = links->pdata[i];
		g_autofree char *why = avoid_why(l);

		report_open(r, NULL, '{');
		report_say(r, "avoided:   link ");
		report_text(r, "link", l->name, "");
		report_say(r, " %s: ", avoid_verdict_text(l->verdict));
		report_text(r, "routing", routing[l->verdict], NULL);
		report_text(r, "why", why, "\n");
		report_number(r, "errors_in_hour", l->errors, NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
}

/* A switch port with a cable to another switch, of its two ends the lower one;
 * SNAPSHOT_NONE: there is none, or several. */
static uint32_t
find_link(const struct snapshot *s, const char *word)
{
	uint32_t found = SNAPSHOT_NONE;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;
		g_autofree char *name = NULL;

		if (peer == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, port)) ||
		    !snapshot_is_switch(snapshot_node_of(s, peer)))
			continue;
		name = snapshot_port_name(s, port);
		if (strcmp(name, word))
			continue;
		if (found != SNAPSHOT_NONE)
			return SNAPSHOT_NONE;
		found = MIN(port, peer);
	}
	return found;
}

void
control_avoid(struct control_request *request)
{
	bool avoid = strcmp(request->words[0], "avoid") == 0;
	const struct control_hooks *hooks = request->hooks;
	const char *word = request->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	const struct snapshot *s;
	struct fabric_query q;
	uint32_t port;

	if (!query_open(&q, request))
		return;
	if (!word) {
		report_open(&q.r, NULL, '{');
		control_put_avoided(&q.v, &q.r);
		query_close(&q);
		return;
	}
	s = q.db->subnet;
	port = find_link(s, word);
	if (port == SNAPSHOT_NONE)
		request_say(request, CONTROL_USAGE, "no link between switches "
			    "is at %s, or several are; links has all, as "
			    "NAME/PORT", shown);
	else if (!hooks->avoid(snapshot_node_of(s, port)->info.node_guid,
			       s->ports[port].num, avoid, hooks->data))
		request_say(request, CONTROL_NOT_DONE, avoid ?
			    "it was asked for before" :
			    "nobody asked that it be avoided");
	else
		request_say(request, CONTROL_DONE, "%s", avoid ?
			    "routes are computed without it, until use or a "
			    "restart; avoid says what came of it" :
			    "routes are computed with it");
}
