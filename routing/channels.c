// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The graph of channel dependencies.
 *
 * Structs. For each channel e, from A to B, a mask of 256 bits: the ports of B
 * by which packets that came through e go on. The masks are the graph.
 *
 * Method. channels_check: a topological sort says whether there is a loop (A.
 * B. Kahn, 1962). If there is, the channels on loops are the strongly
 * connected components (R. Tarjan, 1972, without recursion, for a chain may be
 * long), and one loop is shown: the shortest through the lowest channel on
 * any, breadth first; for each of its turns the lowest LID that makes it.
 *   channels_add keeps the topological order while turns are added one by one:
 * only channels between the two ends change places (D. Pearce, P. Kelly, "A
 * dynamic topological sort algorithm for directed acyclic graphs", 2006).
 */
#include "routing/channels.h"

#include <stdlib.h>
#include <string.h>

#define UNSEEN		UINT32_MAX
#define ITEM(array, i)	g_array_index(array, uint32_t, i)

struct channels *
channels_new(const struct graph *g)
{
	struct channels *c = g_new0(struct channels, 1);

	c->g = g;
	c->edge_of = graph_map_ports(g);
	c->turns = g_new0(uint64_t, (size_t)g->n_edges * CHANNELS_WORDS + 1);
	c->place = g_new(uint32_t, g->n_edges + 1);
	c->channel = g_new(uint32_t, g->n_edges + 1);
	c->mark = g_new0(uint8_t, g->n_edges + 1);
	for (uint32_t e = 0; e < g->n_edges; e++)
		c->place[e] = c->channel[e] = e;
	return c;
}

struct channels *
channels_copy(const struct channels *from)
{
	struct channels *c = channels_new(from->g);
	size_t n = from->g->n_edges;

	memcpy(c->turns, from->turns, n * CHANNELS_WORDS * sizeof(*c->turns));
	memcpy(c->place, from->place, n * sizeof(*c->place));
	memcpy(c->channel, from->channel, n * sizeof(*c->channel));
	return c;
}

void
channels_free(struct channels *c)
{
	if (!c)
		return;
	g_free(c->edge_of);
	g_free(c->turns);
	g_free(c->place);
	g_free(c->channel);
	g_free(c->mark);
	g_free(c);
}

/* The channel after `edge` by the first turn from `*port` on; `*port` is then
 * behind it. SNAPSHOT_NONE: there are no more. */
uint32_t
channels_next(const struct channels *c, uint32_t edge, uint32_t *port)
{
	const uint64_t *mask = c->turns + (size_t)edge * CHANNELS_WORDS;
	uint32_t peer = c->g->edges[edge].peer, e;
	uint64_t word;

	while (*port < GRAPH_PORTS) {
		word = mask[*port / 64] >> *port % 64;
		if (!word) {
			*port = (*port / 64 + 1) * 64;
			continue;
		}
		*port += (uint32_t)__builtin_ctzll(word);
		e = channels_edge(c, peer, (uint8_t)*port);
		(*port)++;
		if (e != SNAPSHOT_NONE)
			return e;
	}
	return SNAPSHOT_NONE;
}

void
channels_remove(struct channels *c, uint32_t in, uint32_t out)
{
	uint8_t port = c->g->edges[out].port;

	c->turns[(size_t)in * CHANNELS_WORDS + port / 64] &=
		~(UINT64_C(1) << port % 64);
}

void
channels_add_order(struct channels *c, const uint32_t *ranks)
{
	const struct graph *g = c->g;
	uint64_t mask[2][CHANNELS_WORDS], same[CHANNELS_WORDS] = { 0 };
	uint32_t sw, e, w;
	uint64_t *turns;
	bool is_up;

	for (sw = 0; sw < g->n_switches; sw++) {
		memset(mask, 0, sizeof(mask));
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			is_up = channels_is_up(ranks, sw, g->edges[e].peer);
			mask[is_up][g->edges[e].port / 64] |=
				UINT64_C(1) << g->edges[e].port % 64;
		}
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			is_up = channels_is_up(ranks, sw, g->edges[e].peer);
			turns = c->turns + (size_t)g->edges[e].back *
				CHANNELS_WORDS;
			same[g->edges[e].port / 64] =
				UINT64_C(1) << g->edges[e].port % 64;
			for (w = 0; w < CHANNELS_WORDS; w++)
				turns[w] |= (mask[0][w] |
					     (is_up ? 0 : mask[1][w])) &
					~same[w];
			same[g->edges[e].port / 64] = 0;
		}
	}
}

/* ---- topological order ---- */

bool
channels_sort(struct channels *c)
{
	uint32_t n = c->g->n_edges, e, next, port, head, tail = 0;
	g_autofree uint32_t *waits = g_new0(uint32_t, n + 1);

	for (e = 0; e < n; e++)
		for (port = 0; (next = channels_next(c, e, &port)) !=
		     SNAPSHOT_NONE;)
			waits[next]++;
	for (e = 0; e < n; e++)
		if (waits[e] == 0)
			c->channel[tail++] = e;
	for (head = 0; head < tail; head++) {
		c->place[c->channel[head]] = head;
		for (port = 0; (next = channels_next(c, c->channel[head],
						     &port)) != SNAPSHOT_NONE;)
			if (--waits[next] == 0)
				c->channel[tail++] = next;
	}
	return tail == n;
}

/* Marks and lists what can be reached from `out` no later than `in` in the
 * order; false: `in` itself can. */
static bool
channels_list_after(struct channels *c, uint32_t in, uint32_t out,
		    GArray *list)
{
	uint32_t next, port, i;

	c->mark[out] = 1;
	g_array_append_val(list, out);
	for (i = 0; i < list->len; i++)
		for (port = 0;
		     (next = channels_next(c, ITEM(list, i), &port)) !=
		     SNAPSHOT_NONE;) {
			if (next == in)
				return false;
			if (c->mark[next] || c->place[next] > c->place[in])
				continue;
			c->mark[next] = 1;
			g_array_append_val(list, next);
		}
	return true;
}

/* The same of what leads to `in` no earlier than `out`. */
static void
channels_list_before(struct channels *c, uint32_t in, uint32_t out,
		     GArray *list)
{
	const struct graph *g = c->g;
	uint32_t e, i, k, from, back;

	c->mark[in] = 1;
	g_array_append_val(list, in);
	for (i = 0; i < list->len; i++) {
		e = ITEM(list, i);
		from = g->edges[g->edges[e].back].peer;
		for (k = g->first_edge[from]; k < g->first_edge[from + 1];
		     k++) {
			back = g->edges[k].back;
			if (c->mark[back] || c->place[back] < c->place[out] ||
			    !channels_has(c, back, e))
				continue;
			c->mark[back] = 1;
			g_array_append_val(list, back);
		}
	}
}

static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Places of those listed, ascending. */
static void
channels_take_places(const struct channels *c, const GArray *list,
		     GArray *places)
{
	g_array_set_size(places, list->len);
	for (guint i = 0; i < list->len; i++)
		ITEM(places, i) = c->place[ITEM(list, i)];
	qsort(places->data, places->len, sizeof(uint32_t), compare_numbers);
}

/* Gives `before`, then `after`, the places that they have together. */
static void
channels_reorder(struct channels *c, GArray *before, GArray *after)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE,
					       sizeof(uint32_t));
	GArray *lists[] = { before, after };
	uint32_t i, k;

	for (k = 0; k < 2; k++) {
		channels_take_places(c, lists[k], places);
		for (i = 0; i < places->len; i++)
			g_array_append_val(all,
				c->channel[ITEM(places, i)]);
	}
	channels_take_places(c, all, places);
	for (i = 0; i < all->len; i++) {
		c->place[ITEM(all, i)] = ITEM(places, i);
		c->channel[ITEM(places, i)] = ITEM(all, i);
	}
}

bool
channels_add(struct channels *c, uint32_t in, uint32_t out)
{
	g_autoptr(GArray) before = NULL, after = NULL;
	bool ok;

	if (channels_has(c, in, out))
		return true;
	if (c->place[in] > c->place[out]) {
		before = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		after = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		ok = channels_list_after(c, in, out, after);
		if (ok)
			channels_list_before(c, in, out, before);
		for (guint i = 0; i < after->len; i++)
			c->mark[ITEM(after, i)] = 0;
		for (guint i = 0; i < before->len; i++)
			c->mark[ITEM(before, i)] = 0;
		if (!ok)
			return false;
		channels_reorder(c, before, after);
	}
	channels_turn(c, in, c->g->edges[out].port);
	return true;
}

/* ---- loops ---- */

static bool
channel_is_used(const struct channels *c, uint32_t edge)
{
	const uint64_t *mask = c->turns + (size_t)edge * CHANNELS_WORDS;

	return mask[0] || mask[1] || mask[2] || mask[3];
}

static void
channels_count(const struct channels *c, struct channels_result *r)
{
	uint32_t e, port;

	for (e = 0; e < c->g->n_edges; e++) {
		r->n_channels += channel_is_used(c, e);
		for (port = 0; channels_next(c, e, &port) != SNAPSHOT_NONE;)
			r->n_dependencies++;
	}
}

/* Tarjan's algorithm. */
struct knot {
	uint32_t *order;	/* by edge: when it was met; UNSEEN */
	uint32_t *low;
	uint32_t *port;		/* where its turns are looked at next */
	uint32_t *path;		/* edges being visited */
	uint32_t *stack;	/* edges of components not closed yet */
	uint8_t *looped;	/* by edge: on a circle */
	uint32_t n_met, n_path, n_stack;
};

static void
knot_enter(struct knot *k, uint32_t e)
{
	k->order[e] = k->low[e] = k->n_met++;
	k->port[e] = 0;
	k->path[k->n_path++] = e;
	k->stack[k->n_stack++] = e;
}

/* Closes the component of which `e` was met first. A channel alone is on a
 * circle only if it waits for itself, which no cable can make it do: graphs
 * have no cable from a switch to itself. */
static void
knot_close(struct knot *k, uint32_t e)
{
	bool alone = k->stack[k->n_stack - 1] == e;
	uint32_t other;

	do {
		other = k->stack[--k->n_stack];
		k->looped[other] = !alone;
		k->low[other] = UNSEEN;	/* no longer on the stack */
	} while (other != e);
}

static void
knot_visit(struct knot *k, const struct channels *c, uint32_t start)
{
	uint32_t e, next, low;

	knot_enter(k, start);
	while (k->n_path) {
		e = k->path[k->n_path - 1];
		next = channels_next(c, e, &k->port[e]);
		if (next == SNAPSHOT_NONE) {
			low = k->low[e];
			if (low == k->order[e])
				knot_close(k, e);
			if (--k->n_path && low != UNSEEN)
				k->low[k->path[k->n_path - 1]] = MIN(
					k->low[k->path[k->n_path - 1]], low);
		} else if (k->order[next] == UNSEEN) {
			knot_enter(k, next);
		} else if (k->low[next] != UNSEEN) {
			k->low[e] = MIN(k->low[e], k->order[next]);
		}
	}
}

static uint8_t *
channels_find_looped(const struct channels *c)
{
	uint32_t n = c->g->n_edges, e;
	struct knot k = {
		.order = g_new(uint32_t, n),
		.low = g_new(uint32_t, n),
		.port = g_new(uint32_t, n),
		.path = g_new(uint32_t, n),
		.stack = g_new(uint32_t, n),
		.looped = g_new0(uint8_t, n),
	};

	for (e = 0; e < n; e++)
		k.order[e] = UNSEEN;
	for (e = 0; e < n; e++)
		if (k.order[e] == UNSEEN)
			knot_visit(&k, c, e);
	g_free(k.order);
	g_free(k.low);
	g_free(k.port);
	g_free(k.path);
	g_free(k.stack);
	return k.looped;
}

/* Breadth first from `start` back to it. */
static GArray *
channels_find_cycle(struct channels *c, const struct lft *lft,
		    const struct lft *before, const uint8_t *looped,
		    uint32_t start)
{
	GArray *cycle = g_array_new(FALSE, FALSE, sizeof(struct channel_turn));
	uint32_t n = c->g->n_edges, head = 0, tail = 0, e = start, next, port;
	g_autofree uint32_t *from = g_new(uint32_t, n);
	g_autofree uint32_t *queue = g_new(uint32_t, n + 1); /* start twice */
	struct channel_turn turn;

	memset(from, 0xff, n * sizeof(*from));
	queue[tail++] = start;
	while (from[start] == UNSEEN && head < tail) {
		e = queue[head++];
		for (port = 0;
		     (next = channels_next(c, e, &port)) != SNAPSHOT_NONE;)
			if (looped[next] && from[next] == UNSEEN) {
				from[next] = e;
				queue[tail++] = next;
			}
	}
	g_assert(from[start] != UNSEEN);
	for (next = start; cycle->len == 0 || next != start; next = e) {
		e = from[next];
		turn.edge = e;
		turn.lid = channels_find_lid(c, lft, before, e,
					     c->g->edges[next].port);
		g_array_prepend_val(cycle, turn);
	}
	return cycle;
}

void
channels_check(const struct graph *g, const struct lft *lft,
	       const struct lft *before, struct channels_result *r)
{
	struct channels *c = channels_new(g);
	uint32_t e;

	*r = (struct channels_result){ 0 };
	channels_add_tables(c, lft, before);
	channels_count(c, r);
	if (!channels_sort(c))
		r->looped = channels_find_looped(c);
	for (e = 0; r->looped && e < g->n_edges; e++) {
		if (r->looped[e] && !r->cycle)
			r->cycle = channels_find_cycle(c, lft, before,
						       r->looped, e);
		r->n_looped += r->looped[e];
	}
	channels_free(c);
}

void
channels_clear(struct channels_result *r)
{
	if (r->cycle)
		g_array_unref(r->cycle);
	g_free(r->looped);
	*r = (struct channels_result){ 0 };
}

char *
channels_print(const struct graph *g, const struct channels_result *r)
{
	g_autoptr(GString) text = NULL;
	const struct channel_turn *turn;
	guint i;

	if (!r->cycle)
		return NULL;
	text = g_string_new(NULL);
	for (i = 0; i < r->cycle->len; i++) {
		turn = &g_array_index(r->cycle, struct channel_turn, i);
		g_autofree char *name = graph_switch_name(g,
			g->edges[g->edges[turn->edge].back].peer);

		g_string_append_printf(text, "%s port %u -> (LID %u) ", name,
				       g->edges[turn->edge].port, turn->lid);
	}
	g_string_append(text, "the first");
	return g_string_free(g_steal_pointer(&text), FALSE);
}
