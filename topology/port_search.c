// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "topology/port_search.h"

#include <string.h>

#include "topology/text.h"

/* By its name, its GUID, or both, as a name is printed that several nodes share. */
static bool
is_called(const struct snapshot *s, uint32_t node, const char *word)
{
	const struct snapshot_node *n = &s->nodes[node];
	const char *name = snapshot_node_name(n);
	g_autofree char *both = NULL;
	uint64_t guid;

	if (!strcmp(name, word) || (text_read_number(word, 16, UINT64_MAX,
						      &guid) &&
				    guid && guid == n->info.node_guid))
		return true;
	if (!g_str_has_prefix(word, name))
		return false;
	both = snapshot_place(s, node, SNAPSHOT_NONE);
	return strcmp(both, word) == 0;
}

/* As its node, unless it is one of a switch's cables, or as NODE/NUMBER. */
static bool
is_port_called(const struct snapshot *s, uint32_t port, const char *word)
{
	const struct snapshot_port *p = &s->ports[port];
	const char *slash = strrchr(word, '/');
	g_autofree char *node = NULL;
	uint64_t num;

	if ((!p->num || !snapshot_is_switch(&s->nodes[p->node])) &&
	    is_called(s, p->node, word))
		return true;
	if (!slash || !text_read_number(slash + 1, 10, UINT8_MAX, &num) ||
	    num != p->num)
		return false;
	node = g_strndup(word, (gsize)(slash - word));
	return is_called(s, p->node, node);
}

bool
port_search_names(const struct snapshot *s, uint32_t port, const char *word)
{
	return snapshot_is_end_port(s, port) &&
		(is_port_called(s, port, word) ||
		 !strcmp(snapshot_node_of(s, port)->desc, word));
}

uint32_t
port_search_one(const struct snapshot *s, const struct lid_map *lids,
		const char *word, unsigned *n)
{
	uint32_t port = SNAPSHOT_NONE, by_lid = SNAPSHOT_NONE;
	const char *digits = word;
	bool is_hex = text_take_0x(&digits);
	uint64_t guid = 0, lid;

	/* A number that begins with 0x is a PortGUID first, else a LID. */
	if (lids && strlen(digits) != GUID_DIGITS &&
	    text_read_number(word, 0, LID_UNICAST_MAX, &lid))
		by_lid = lid_map_owner(lids, (uint16_t)lid);
	if (text_read_number(word, 16, UINT64_MAX, &guid))
		port = snapshot_find_port(s, guid);
	if (port == SNAPSHOT_NONE || (!is_hex && by_lid != SNAPSHOT_NONE))
		port = by_lid;
	*n = 1;
	if (port != SNAPSHOT_NONE)
		return port;
	*n = 0;
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (port_search_names(s, i, word) && !(*n)++)
			port = i;
	return *n == 1 ? port : SNAPSHOT_NONE;
}

uint32_t
port_search_node(const struct snapshot *s, const char *word)
{
	uint32_t found = SNAPSHOT_NONE, n = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (is_called(s, i, word) && !n++)
			found = snapshot_port_of(s, i, snapshot_is_switch(
				&s->nodes[i]) ? 0 : s->nodes[i].info.local_port);
	return n == 1 ? found : SNAPSHOT_NONE;
}

uint32_t
port_search_any(const struct snapshot *s, const char *word)
{
	uint32_t found = SNAPSHOT_NONE, n = 0;

	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].num && is_port_called(s, i, word) && !n++)
			found = i;
	return n == 1 ? found : SNAPSHOT_NONE;
}
