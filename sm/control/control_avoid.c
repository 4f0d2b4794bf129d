// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `avoid` and `use`: links between switches that routing leaves out.
 */
#include "sm/control/request.h"

#include <string.h>

#include "topology/text.h"

/* A switch port of this name with a cable to another switch, of its two ends
 * the lower one. SNAPSHOT_NONE: there is none, or several are. */
static uint32_t
find_switch_link(const struct snapshot *s, const char *word)
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

/* avoid NAME/PORT [ERRORS], where 0 is the opposite for that reason; use. The
 * list of them is in the view. */
void
control_avoid(struct control_request *q)
{
	const struct control_hooks *hooks = q->hooks;
	const struct snapshot *s = q->db->subnet;
	const char *word = q->words[1] ? q->words[1] : "";
	g_autofree char *shown = text_one_line(word);
	uint32_t found = find_switch_link(s, word);
	bool has_errors = *word && q->words[2], avoid;
	uint64_t errors = 0, guid;

	if (has_errors && !text_read_number(q->words[2], 10, UINT64_MAX,
					    &errors)) {
		request_say_usage(q);
		return;
	}
	if (found == SNAPSHOT_NONE) {
		request_say(q, CONTROL_USAGE, "no link between switches "
			    "is at %s, or several are; links has all, as "
			    "NAME/PORT", shown);
		return;
	}
	guid = snapshot_node_of(s, found)->info.node_guid;
	avoid = strcmp(q->words[0], "avoid") == 0 && (errors || !has_errors);
	if (avoid ? !hooks->avoid(guid, s->ports[found].num, errors,
				  hooks->data) :
	    !hooks->use(guid, s->ports[found].num, has_errors, hooks->data))
		request_say(q, CONTROL_NOT_DONE, avoid ?
			    "it is to be avoided already" :
			    "it was not to be avoided");
	else
		request_say(q, CONTROL_DONE, "%s", avoid ?
			    "routes are computed without it, until use or a "
			    "restart; avoid says what came of it" :
			    "routes are computed with it");
}
