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

/* Ports with this name: how many, and the first PORTS_SHOWN as a list, with the far
 * end of the cable, by which a person tells them apart. */
static guint
find_named(const struct port_search *q, uint32_t *port, GString *list)
{
	guint n = 0;

	for (uint32_t i = 0; q->s && i < q->s->n_ports; i++) {
		const struct snapshot_node *node = snapshot_node_of(q->s, i);
		uint32_t peer = q->s->ports[i].peer;
		g_autofree char *name = NULL, *shown = NULL, *end = NULL;
		g_autofree char *full = NULL, *full_end = NULL, *at = NULL;
		g_autofree char *far = NULL;
		bool is_guid = q->guid && node->info.node_guid == q->guid;

		/* all that follow begin with the name */
		if (!snapshot_is_end_port(q->s, i) || (!is_guid &&
		    !g_str_has_prefix(q->word, snapshot_node_name(node)) &&
		    !g_str_has_prefix(q->word, node->desc)))
			continue;
		name = snapshot_port_name(q->s, i);
		end = g_strdup_printf("%s/%u", snapshot_node_name(node),
				      q->s->ports[i].num);
		/* as a name is printed that several nodes share */
		full = snapshot_place(q->s, q->s->ports[i].node, SNAPSHOT_NONE);
		full_end = g_strdup_printf("%s/%u", full, q->s->ports[i].num);
		if (!is_guid && !g_strv_contains((const char *const[]){
			node->desc, name, end, full, full_end,
			node->name, NULL }, q->word))
			continue;
		*port = i;
		if (n++ >= PORTS_SHOWN)
			continue;
		shown = text_one_line(name);
		g_string_append_printf(list, "\n" GUID_FORMAT " %s",
				       q->s->ports[i].guid, shown);
		if (peer == SNAPSHOT_NONE)
			continue;
		far = snapshot_port_name(q->s, peer);
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

/* By its name, its GUID, or both, as a name is printed that several nodes share. */
static bool
is_called(const struct snapshot *s, uint32_t node, const char *word,
	  uint64_t guid)
{
	const struct snapshot_node *n = &s->nodes[node];
	const char *name = snapshot_node_name(n);
	g_autofree char *both = NULL;

	if (!strcmp(name, word) || (guid && guid == n->info.node_guid))
		return true;
	if (!g_str_has_prefix(word, name))
		return false;
	both = snapshot_place(s, node, SNAPSHOT_NONE);
	return strcmp(both, word) == 0;
}

uint32_t
port_search_node(const struct snapshot *s, const char *word)
{
	uint32_t found = SNAPSHOT_NONE, n = 0;
	uint64_t guid = 0;

	/* what is no number stays 0 */
	text_read_number(word, 16, UINT64_MAX, &guid);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (is_called(s, i, word, guid) && !n++)
			found = snapshot_port_of(s, i, snapshot_is_switch(
				&s->nodes[i]) ? 0 : s->nodes[i].info.local_port);
	return n == 1 ? found : SNAPSHOT_NONE;
}

uint32_t
port_search_any(const struct snapshot *s, const char *word)
{
	const char *slash = strrchr(word, '/');
	g_autofree char *node = slash ? g_strndup(word, (gsize)(slash - word)) :
		g_strdup("");
	uint64_t num = 0, guid = 0, alone = 0;
	uint32_t found = SNAPSHOT_NONE, n = 0;

	/* what is no number stays 0 */
	if (slash)
		text_read_number(slash + 1, 10, UINT8_MAX, &num);
	text_read_number(node, 16, UINT64_MAX, &guid);
	text_read_number(word, 16, UINT64_MAX, &alone);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *at = &s->nodes[i];
		unsigned ports = at->info.num_ports;

		if (!snapshot_is_switch(at) && ports == 1 &&
		    is_called(s, i, word, alone))
			found = n++ ? found : at->first_port + 1;
		else if (num && num <= ports && is_called(s, i, node, guid))
			found = n++ ? found : at->first_port + (uint32_t)num;
	}
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
