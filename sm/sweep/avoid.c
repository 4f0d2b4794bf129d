// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses the links that routing leaves out.
 *
 * Method. Links are taken from the worst on: first those that the operator
 * named, then those with errors, then slow ones. A link is used all the same if
 * a SHAREth of the links of one of its switches in its direction are left out
 * already (but one of several may always be left out); links that the operator
 * named are not limited in this way. Directions are away from the hosts,
 * towards them, and neither, by the distance of a switch from the next one with
 * a host. At the end, from the least bad on, a link that alone connects two
 * parts of the fabric is used again (Kruskal's spanning forest).
 *
 * Safety. This is necessary and not sufficient: routing finds whether each pair
 * of hosts has a path without a credit loop; if not, all links are used
 * (heavy_sweep.c). The links stay Active, so that their errors are still
 * counted.
 *
 * Cost. Some passes over the ports, if any link is to be left out.
 */
#include "sm/sweep/avoid.h"

#include <stdlib.h>
#include <string.h>

#include "routing/sets.h"
#include "topology/each.h"

#define SHARE	4u

enum direction { UP, DOWN, ASIDE, DIRECTIONS };

struct avoid {
	const struct snapshot *s;
	GPtrArray *links;
	struct avoid_link **at;	/* by port, the lower one of a link; or NULL */
	GHashTable *shared;	/* names that several nodes have; NULL: there is
				   no link yet */
	uint32_t *hops;		/* by switch: to the nearest with a host */
	unsigned (*n)[DIRECTIONS];	/* by switch: links, */
	unsigned (*out)[DIRECTIONS];	/* those left out */
};

static void
link_free(gpointer data)
{
	struct avoid_link *l = data;

	g_free(l->name);
	g_free(l);
}

/* Is this switch port linked to another switch? */
static bool
links_switches(const struct snapshot *s, uint32_t port)
{
	return snapshot_link_up(s, port) &&
		snapshot_is_switch(snapshot_node_of(s, port)) &&
		snapshot_is_switch(snapshot_node_of(s, s->ports[port].peer));
}

static uint32_t
switch_of(const struct snapshot *s, uint32_t port)
{
	return snapshot_node_of(s, port)->sw_index;
}

/* ----------------------------------------------------------------- wishes */

/* Both ends may be named, for several reasons; they are one link. */
static void
add_link(struct avoid *a, uint32_t port, unsigned causes, uint64_t errors)
{
	uint32_t peer = a->s->ports[port].peer, low = MIN(port, peer);
	struct avoid_link *l = a->at[low];

	if (l) {
		l->causes |= causes;
		l->errors = MAX(l->errors, errors);
		return;
	}
	a->shared = a->shared ?: snapshot_shared_names(a->s);
	l = g_new0(struct avoid_link, 1);
	*l = (struct avoid_link){ low, snapshot_link_name(a->s, low, a->shared),
				  causes, errors, AVOID_DONE };
	g_ptr_array_add(a->links, l);
	a->at[low] = l;
}

static int
compare_bad(gconstpointer a, gconstpointer b)
{
	const struct avoid_link *p = *(struct avoid_link *const *)a;
	const struct avoid_link *q = *(struct avoid_link *const *)b;

	return uint_compare(q->causes & AVOID_BY_HAND,
			      p->causes & AVOID_BY_HAND) ?:
		uint_compare(q->errors, p->errors) ?:
		uint_compare(p->port, q->port);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
	const struct avoid_link *p = *(struct avoid_link *const *)a;
	const struct avoid_link *q = *(struct avoid_link *const *)b;

	return strcmp(p->name, q->name);
}

/* ----------------------------------------------------------------- shares */

static void
find_hops(struct avoid *a)
{
	const struct snapshot *s = a->s;
	g_autofree uint32_t *queue = g_new(uint32_t, s->n_switches + 1);
	uint32_t n = 0, port, peer;

	for (uint32_t sw = 0; sw < s->n_switches; sw++)
		a->hops[sw] = SNAPSHOT_NONE;
	for (port = 0; port < s->n_ports; port++) {
		peer = s->ports[port].peer;
		if (peer == SNAPSHOT_NONE || switch_of(s, port) ==
		    SNAPSHOT_NONE || switch_of(s, peer) != SNAPSHOT_NONE ||
		    a->hops[switch_of(s, port)] == 0)
			continue;
		a->hops[switch_of(s, port)] = 0;
		queue[n++] = switch_of(s, port);
	}
	for (uint32_t head = 0; head < n; head++) {
		const struct snapshot_node *node =
			&s->nodes[s->switches[queue[head]]];

		for (unsigned num = 1; num <= node->info.num_ports; num++) {
			port = node->first_port + num;
			if (!links_switches(s, port))
				continue;
			peer = switch_of(s, s->ports[port].peer);
			if (a->hops[peer] != SNAPSHOT_NONE)
				continue;
			a->hops[peer] = a->hops[queue[head]] + 1;
			queue[n++] = peer;
		}
	}
}

static enum direction
direction_of(const struct avoid *a, uint32_t port)
{
	uint32_t from = a->hops[switch_of(a->s, port)];
	uint32_t to = a->hops[switch_of(a->s, a->s->ports[port].peer)];

	return from < to ? UP : from > to ? DOWN : ASIDE;
}

static void
limit_shares(struct avoid *a)
{
	for (uint32_t port = 0; port < a->s->n_ports; port++)
		if (links_switches(a->s, port))
			a->n[switch_of(a->s, port)][direction_of(a, port)]++;
	EACH_PTR(struct avoid_link, l, a->links) {
		uint32_t ends[] = { l->port, a->s->ports[l->port].peer };
		bool spare = true;

		/* A single link is never left out. */
		for (unsigned k = 0; k < 2; k++) {
			uint32_t sw = switch_of(a->s, ends[k]);
			enum direction d = direction_of(a, ends[k]);

			spare &= a->n[sw][d] > 1 && a->out[sw][d] <
				MAX(a->n[sw][d] / SHARE, 1);
		}
		if (!spare && !(l->causes & AVOID_BY_HAND)) {
			l->verdict = AVOID_TOO_MANY;
			continue;
		}
		for (unsigned k = 0; k < 2; k++)
			a->out[switch_of(a->s, ends[k])]
				[direction_of(a, ends[k])]++;
	}
}

/* ------------------------------------------------------------- connections */

static void
use_needed(struct avoid *a)
{
	const struct snapshot *s = a->s;
	g_autofree uint32_t *part = g_new(uint32_t, s->n_switches + 1);

	for (uint32_t sw = 0; sw < s->n_switches; sw++)
		part[sw] = sw;
	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;
		const struct avoid_link *l = a->at[MIN(port, peer)];

		if (links_switches(s, port) && !(l && l->verdict == AVOID_DONE))
			disjoint_join(part, switch_of(s, port),
				      switch_of(s, peer));
	}
	for (guint i = a->links->len; i-- > 0;) {
		struct avoid_link *l = a->links->pdata[i];
		uint32_t from = switch_of(s, l->port);
		uint32_t to = switch_of(s, s->ports[l->port].peer);

		if (l->verdict != AVOID_DONE ||
		    disjoint_find(part, from) == disjoint_find(part, to))
			continue;
		l->verdict = AVOID_NEEDED;
		disjoint_join(part, from, to);
	}
}

GPtrArray *
avoid_choose(const struct snapshot *s, const GArray *wishes, bool slow)
{
	g_autofree struct avoid_link **at = wishes->len || slow ?
		g_new0(struct avoid_link *, s->n_ports) : NULL;
	struct avoid a = {
		.s = s, .links = g_ptr_array_new_with_free_func(link_free),
		.at = at,
	};
	struct port_info best;

	EACH_ITEM(const struct avoid_wish, w, wishes) {
		uint32_t port = snapshot_port_of(s,
			snapshot_find_node(s, w->guid), w->num);

		if (port != SNAPSHOT_NONE && links_switches(s, port))
			add_link(&a, port, w->causes, w->errors);
	}
	for (uint32_t port = 0; slow && port < s->n_ports; port++)
		if (links_switches(s, port) && port < s->ports[port].peer &&
		    link_is_slow(s, port, &best))
			add_link(&a, port, AVOID_SLOW, 0);
	if (!a.links->len)
		return a.links;
	g_ptr_array_sort(a.links, compare_bad);
	a.hops = g_new(uint32_t, s->n_switches);
	a.n = g_malloc0_n(s->n_switches, sizeof(*a.n));
	a.out = g_malloc0_n(s->n_switches, sizeof(*a.out));
	find_hops(&a);
	limit_shares(&a);
	use_needed(&a);
	g_free(a.hops);
	g_free(a.n);
	g_free(a.out);
	g_hash_table_unref(a.shared);
	g_ptr_array_sort(a.links, compare_names);
	return a.links;
}

const struct avoid_link *
avoid_find(const GPtrArray *links, const char *name)
{
	const struct avoid_link key = { .name = (char *)name }, *at = &key;
	struct avoid_link **found = !links->len ? NULL :
		bsearch(&at, links->pdata, links->len, sizeof(*links->pdata),
			compare_names);

	return found ? *found : NULL;
}

struct snapshot *
avoid_mark(struct snapshot *s, const GPtrArray *links)
{
	struct snapshot *marked = snapshot_copy(s);

	snapshot_unref(s);
	for (uint32_t port = 0; port < marked->n_ports; port++)
		marked->ports[port].avoided = false;
	EACH_PTR(const struct avoid_link, l, links) {
		bool is_out = l->verdict == AVOID_DONE;

		marked->ports[l->port].avoided = is_out;
		marked->ports[marked->ports[l->port].peer].avoided = is_out;
	}
	return marked;
}

/* -------------------------------------------------------------------- words */

char *
avoid_why(const struct avoid_link *l)
{
	GString *text = g_string_new(NULL);

	if (l->causes & AVOID_BY_HAND)
		g_string_append(text, "by the operator");
	if (l->causes & AVOID_ERRORS)
		g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " errors "
				       "within an hour", text->len ? ", " : "",
				       l->errors);
	if (l->causes & AVOID_SLOW)
		g_string_append_printf(text, "%sslower than it could be",
				       text->len ? ", " : "");
	return g_string_free(text, FALSE);
}

const char *const avoid_verdict_texts[] = {
	[AVOID_DONE] = "is avoided",
	[AVOID_NEEDED] = ("is used, since without it some hosts could not "
			  "reach each other"),
	[AVOID_TOO_MANY] = ("is used, since enough links of one of its "
			    "switches are avoided already"),
};
