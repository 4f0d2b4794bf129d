// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Why a word means no port, for programs that have the whole fabric and time.
 */
#include "topology/port_search.h"

#include "topology/text.h"

#define PORTS_SHOWN	8u	/* of those that a word may mean */

/* Only its port 0 has a LID and a PortGUID. NULL: the word is no other one. */
static char *
switch_port_text(const struct snapshot *s, const char *word)
{
	uint32_t port = port_search_any(s, word);
	g_autofree char *shown = NULL, *far = NULL;

	if (port == SNAPSHOT_NONE ||
	    !snapshot_is_switch(snapshot_node_of(s, port)))
		return NULL;
	shown = text_one_line(word);
	if (s->ports[port].peer != SNAPSHOT_NONE)
		far = snapshot_port_name(s, s->ports[port].peer);
	return g_strdup_printf("%s is a port of a switch, which has no LID; %s%s",
			       shown, far ? "its cable leads to " :
			       "it has no cable", far ? far : "");
}

static char *
name_nearest(const struct snapshot *s, const char *word)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (uint32_t i = 0; i < s->n_nodes; i++)
		g_ptr_array_add(names, (char *)snapshot_node_name(
					&s->nodes[i]));
	return text_wrong("nothing on the fabric has the name, LID or GUID ",
			  word, "", (const char *const *)names->pdata,
			  names->len);
}

/* With the far end of the cable, by which a person tells them apart. */
static char *
list_named(const struct snapshot *s, const char *word, unsigned n)
{
	g_autofree char *shown = text_one_line(word);
	GString *list = g_string_new(NULL);
	unsigned n_listed = 0;

	g_string_printf(list, "%s means %u ports; say which one by its GUID:",
			shown, n);
	for (uint32_t i = 0; n_listed < MIN(n, PORTS_SHOWN); i++) {
		uint32_t peer = s->ports[i].peer;
		g_autofree char *name = NULL, *far = NULL, *at = NULL;

		if (!port_search_names(s, i, word))
			continue;
		n_listed++;
		g_clear_pointer(&shown, g_free);
		name = snapshot_port_name(s, i);
		shown = text_one_line(name);
		g_string_append_printf(list, "\n" GUID_FORMAT " %s",
				       s->ports[i].guid, shown);
		if (peer == SNAPSHOT_NONE)
			continue;
		far = snapshot_port_name(s, peer);
		at = text_one_line(far);
		g_string_append_printf(list, " at %s", at);
	}
	return g_string_free(list, FALSE);
}

uint32_t
port_search(const struct snapshot *s, const struct lid_map *lids,
	    const char *word, char **wrong)
{
	unsigned n;
	uint32_t port = port_search_one(s, lids, word, &n);

	*wrong = n > 1 ? list_named(s, word, n) : n ? NULL :
		switch_port_text(s, word) ?: name_nearest(s, word);
	return port;
}
