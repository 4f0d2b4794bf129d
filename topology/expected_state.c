// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The expected fabric as lines of the state file.
 *
 * A line a node or link, nodes first; a name goes to the end of its line:
 *
 *	switch GUID SINCE NAME
 *	host GUID SINCE NAME
 *	part GUID SINCE NAME
 *	link GUID PORT GUID PORT SINCE SPEED MBPS
 *	silent GUID PORT SINCE ACCEPTED
 *	former GUID PORT GUID PORT SINCE SPEED MBPS
 *
 * SINCE: the time at which it was found missing, slow, silent or at other ports,
 * else 0.
 */
#include "topology/expected.h"

#include <string.h>

#include "topology/each.h"
#include "topology/expected_graph.h"
#include "topology/text.h"

struct saved_link {
	uint64_t guid[2];
	uint8_t port[2];
	int64_t since;
	char *speed;
	uint32_t mbps;
};

static const struct state_word node_words[] = {
	STATE_WORD(expected_node, guid, "NodeGUID", 16, 0, UINT64_MAX),
	STATE_WORD(expected_node, since, "time", 0, 0, INT64_MAX),
	STATE_WORD(expected_node, name, "name", STATE_TEXT, 0, 0),
};

static const struct state_word link_words[] = {
	STATE_WORD(saved_link, guid[0], "NodeGUID", 16, 0, UINT64_MAX),
	STATE_WORD(saved_link, port[0], "port", 0, 0, UINT8_MAX),
	STATE_WORD(saved_link, guid[1], "NodeGUID", 16, 0, UINT64_MAX),
	STATE_WORD(saved_link, port[1], "port", 0, 0, UINT8_MAX),
	STATE_WORD(saved_link, since, "time", 0, 0, INT64_MAX),
	STATE_WORD(saved_link, speed, "speed", STATE_NAME, 0, 0),
	STATE_WORD(saved_link, mbps, "Mbit/s", 0, 0, UINT32_MAX),
};

static const struct state_word silent_words[] = {
	STATE_WORD(expected_silent, guid, "NodeGUID", 16, 0, UINT64_MAX),
	STATE_WORD(expected_silent, port, "port", 0, 0, UINT8_MAX),
	STATE_WORD(expected_silent, since, "time", 0, 0, INT64_MAX),
	STATE_WORD(expected_silent, is_accepted, "accepted", 0, 0, 1),
};

static bool
take_node(struct expected *e, const struct expected_node *n,
	  enum expected_kind kind, GError **error)
{
	if (g_hash_table_contains(e->by_guid, &n->guid))
		return text_refuse(error, "the node is there twice");
	expected_add_node(e, n->guid, kind, n->name)->since = n->since;
	return true;
}

static bool
take_host(void *owner, void *members, int64_t now, GError **error)
{
	return take_node(owner, members, EXPECTED_HOST, error);
}

static bool
take_part(void *owner, void *members, int64_t now, GError **error)
{
	return take_node(owner, members, EXPECTED_PART, error);
}

static bool
take_switch(void *owner, void *members, int64_t now, GError **error)
{
	return take_node(owner, members, EXPECTED_SWITCH, error);
}

static bool
take_link(void *owner, void *members, int64_t now, GError **error)
{
	const struct saved_link *saved = members;
	struct expected *e = owner;
	struct expected_link l = {
		.since = saved->since, .best.mbps = saved->mbps,
	};

	for (unsigned i = 0; i < 2; i++) {
		l.node[i] = g_hash_table_lookup(e->by_guid, &saved->guid[i]);
		l.port[i] = saved->port[i];
		if (!l.node[i])
			return text_refuse(error, "a link of a node that "
					   "is not there");
	}
	if (g_strlcpy(l.best.name, saved->speed, SPEED_LEN) >= SPEED_LEN)
		return text_refuse(error, "the speed is too long");
	g_array_append_val(e->links, l);
	return true;
}

static bool
take_former(void *owner, void *members, int64_t now, GError **error)
{
	struct expected *e = owner;
	guint last = e->links->len;

	if (!take_link(owner, members, now, error))
		return false;
	expected_add_former(e, expected_link_at(e->links, last), NULL);
	g_array_set_size(e->links, last);
	return true;
}

static bool
take_silent(void *owner, void *members, int64_t now, GError **error)
{
	struct expected *e = owner;
	struct expected_silent p = *(struct expected_silent *)members;
	guint n = e->silent->len;

	p.is_told = false;
	g_array_append_val(e->silent, p);
	if (n && expected_order_silent(&g_array_index(e->silent,
			struct expected_silent, n - 1), &p) > 0)
		g_array_sort(e->silent, expected_order_silent);
	return true;
}

/* The others by their kind. */
enum { SILENT_LINE = EXPECTED_LINK + 1, PART_LINE, FORMER_LINE };
static const struct state_line expected_lines[] = {
	[EXPECTED_SWITCH] = STATE_LINE("switch", node_words, expected_node,
				       take_switch),
	[EXPECTED_HOST] = STATE_LINE("host", node_words, expected_node,
				     take_host),
	[EXPECTED_LINK] = STATE_LINE("link", link_words, saved_link, take_link),
	[SILENT_LINE] = STATE_LINE("silent", silent_words, expected_silent,
				   take_silent),
	[PART_LINE] = STATE_LINE("part", node_words, expected_node, take_part),
	[FORMER_LINE] = STATE_LINE("former", link_words, saved_link,
				   take_former),
	{ .keyword = NULL },
};

static void
save_link(const struct expected_link *l, unsigned line, GString *out)
{
	state_line_save(&expected_lines[line], out, &(struct saved_link){
		{ l->node[0]->guid, l->node[1]->guid },
		{ l->port[0], l->port[1] }, l->since,
		(char *)l->best.name, l->best.mbps });
}

static void
expected_save(const void *owner, GString *out, int64_t now)
{
	const struct expected *e = owner;

	EACH_PTR(const struct expected_node, n, e->nodes)
		state_line_save(&expected_lines[n->kind == EXPECTED_PART ?
						PART_LINE : n->kind], out, n);
	EACH_ITEM(const struct expected_link, l, e->links)
		save_link(l, EXPECTED_LINK, out);
	EACH_PTR(const struct expected_fault, f, e->former)
		if (f->link)
			save_link(f->link, FORMER_LINE, out);
	EACH_ITEM(struct expected_silent, p, e->silent)
		state_line_save(&expected_lines[SILENT_LINE], out, p);
}

static void
expected_clear(void *owner)
{
	struct expected *e = owner;

	g_ptr_array_set_size(e->faults, 0);
	g_ptr_array_set_size(e->former, 0);
	g_hash_table_remove_all(e->by_guid);
	g_array_set_size(e->links, 0);
	g_array_set_size(e->silent, 0);
	g_ptr_array_set_size(e->nodes, 0);
	g_clear_pointer(&e->here, g_free);
}

const struct state_part expected_part = {
	{ expected_lines }, expected_save, expected_clear, NULL,
};
