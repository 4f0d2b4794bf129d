// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "topology/port_search.h"

#include <string.h>

#include "topology/text.h"

#define PORTS_SHOWN	8u	/* of those that a word may mean */
#define GUID_DIGITS	16u

struct port_search {
	const struct snapshot *s;
	const struct lid_map *lids;
	const char *word;
	uint64_t guid;		/* 0: the word is no GUID */
};

char *
port_search_wrong(const char *before, const char *word, const char *after,
		  const char *const *names, size_t n)
{
	g_autofree char *shown = text_one_line(word);
	g_autofree char *near = text_nearest(shown, "", names, n);
	g_autofree char *line = text_one_line(near);

	return g_strdup_printf("%s%s%s%s", before, *shown ? shown : "\"\"",
			       after, line);
}

/* Only its port 0 has a LID and a PortGUID. NULL: the word is no other one. */
static char *
switch_port_text(const struct port_search *q)
{
	uint32_t port = q->s ? port_search_any(q->s, q->word) : SNAPSHOT_NONE;
	g_autofree char *shown = NULL, *far = NULL;

	if (port == SNAPSHOT_NONE ||
	    !snapshot_is_switch(snapshot_node_of(q->s, port)))
		return NULL;
	shown = text_one_line(q->word);
	if (q->s->ports[port].peer != SNAPSHOT_NONE)
		far = snapshot_port_name(q->s, q->s->ports[port].peer);
	return g_strdup_printf("%s is a port of a switch, which has no LID; %s%s",
			       shown, far ? "its cable leads to " :
			       "it has no cable", far ? far : "");
}

static char *
name_nearest(const struct port_search *q)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (uint32_t i = 0; q->s && i < q->s->n_nodes; i++)
		g_ptr_array_add(names, (char *)snapshot_node_name(
					&q->s->nodes[i]));
	return port_search_wrong(q->lids ?
		"nothing on the fabric has the name, LID or GUID " :
		"nothing on the fabric has the name or GUID ",
		q->word, "", (const char *const *)names->pdata, names->len);
}

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

/* Ports with this name: how many, and the first PORTS_SHOWN as a list, with the far
 * end of the cable, by which a person tells them apart. */
static guint
find_named(const struct port_search *q, uint32_t *port, GString *list)
{
	const struct snapshot *s = q->s;
	guint n = 0;

	for (uint32_t i = 0; s && i < s->n_ports; i++) {
		uint32_t peer = s->ports[i].peer;
		g_autofree char *name = NULL, *shown = NULL;
		g_autofree char *far = NULL, *at = NULL;

		if (!snapshot_is_end_port(s, i) ||
		    (!is_port_called(s, i, q->word) &&
		     strcmp(snapshot_node_of(s, i)->desc, q->word)))
			continue;
		*port = i;
		if (n++ >= PORTS_SHOWN)
			continue;
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
	return n;
}

uint32_t
port_search(const struct snapshot *s, const struct lid_map *lids,
	    const char *word, uint64_t *absent, char **wrong)
{
	struct port_search q = { .s = s, .lids = lids, .word = word };
	g_autoptr(GString) list = g_string_new(NULL);
	g_autofree char *shown = text_one_line(word);
	const char *digits = word;
	uint32_t port, by_lid = SNAPSHOT_NONE;
	bool is_hex = text_take_0x(&digits), is_whole;
	uint64_t lid;
	guint n;

	if (!text_read_number(word, 16, UINT64_MAX, &q.guid))
		q.guid = 0;
	is_whole = q.guid && strlen(digits) == GUID_DIGITS;
	*wrong = NULL;
	if (absent)
		*absent = 0;
	/* A number that begins with 0x is a PortGUID first, else a LID. */
	if (s && lids && !is_whole &&
	    text_read_number(word, 0, LID_UNICAST_MAX, &lid))
		by_lid = lid_map_owner(lids, (uint16_t)lid);
	port = s ? snapshot_find_port(s, q.guid) : SNAPSHOT_NONE;
	if (port == SNAPSHOT_NONE || (!is_hex && by_lid != SNAPSHOT_NONE))
		port = by_lid;
	if (port != SNAPSHOT_NONE)
		return port;
	n = find_named(&q, &port, list);
	if (n == 1)
		return port;
	if (n > 1)
		*wrong = g_strdup_printf("%s means %u ports; say which one by "
					 "its GUID:%s", shown, n, list->str);
	else if (absent && q.guid && (is_whole || !s))
		*absent = q.guid;
	else if (absent && q.guid)
		*wrong = g_strdup_printf("there is no port %s on the fabric; "
			"the GUID of one that is away is written with all 16 "
			"digits", shown);
	else if (!(*wrong = switch_port_text(&q)))
		*wrong = name_nearest(&q);
	return SNAPSHOT_NONE;
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

const struct partition *
partition_rules_search(const struct partition_rules *rules, const char *word,
		       char **wrong)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const struct partition *p;
	uint64_t pkey;

	for (guint i = 0; i < rules->partitions->len; i++) {
		p = rules->partitions->pdata[i];
		if (p->name && strcmp(p->name, word) == 0)
			return p;
		if (p->name)
			g_ptr_array_add(names, p->name);
	}
	p = text_read_number(word, 0, 0xffff, &pkey) ?
		partition_rules_find(rules, (uint16_t)pkey) : NULL;
	if (!p)
		*wrong = port_search_wrong("", word, " is no partition "
			"of the file (minismctl partitions has all)",
			(const char *const *)names->pdata, names->len);
	return p;
}
