// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The dependencies of channels.
 *
 * Purpose. Say of any tables whether they can lock up, and show how.
 *
 * Structs. For each channel e, from A to B, a mask of 256 bits: the ports of B
 * by which packets that came through e go on. The masks are the graph.
 *
 * Flow. channels_check:
 *   1. turns: for a LID that counts as a CA's, every switch is a source (its
 *      port 0 is), so that each entry of A which leads to B makes a turn with
 *      each entry of B: one pass over the tables, row by row, neighbours of
 *      the same switch one after the other, for they look into the same rows.
 *      For a port 0's LID only what starts at a switch with CAs counts: those
 *      are walked.
 *   2. the channels on circles: strongly connected components (R. Tarjan,
 *      1972, without recursion, for a chain may be long).
 *   3. one circle to show: the shortest through the lowest channel on any,
 *      breadth first; for each of its turns the lowest LID that makes it.
 *
 * Old and new. While tables are written, A may have either entry and B may
 * have either, so where they differ a LID makes up to four turns. That is more
 * than ever happens at once, never less. Where a switch and all its neighbours
 * hold what is new already, one pass says it all: few blocks change in most
 * sweeps, and only they are looked at more than once.
 */
#include "routing/channels.h"

#include <string.h>

#define MASK_WORDS	4u
#define UNSEEN		UINT32_MAX

struct web {
	const struct graph *g;
	const struct lft *tables[2];	/* new, old */
	uint32_t n_tables;
	uint32_t top;
	uint32_t *edge_of;		/* see graph_map_ports() */
	uint32_t *target_of;		/* see graph_map_lids() */
	uint8_t *quiet;			/* by LID: of a port 0, up to top */
	uint32_t n_blocks;		/* of 64 LIDs, up to top */
	uint8_t *stale;			/* [switch][block]; NULL: one table */
	uint64_t *turns;		/* edge -> mask of ports; all zero: no
					   packet comes through it */
};

static uint8_t
web_entry(const struct web *w, uint32_t table, uint32_t sw, uint32_t lid)
{
	const struct lft *lft = w->tables[table];

	return lid <= lft->top ? lft_row(lft, sw)[lid] : LFT_NO_PATH;
}

static uint32_t
web_edge(const struct web *w, uint32_t sw, uint8_t port)
{
	return w->edge_of[(size_t)sw * GRAPH_PORTS + port];
}

static inline void
web_turn(struct web *w, uint32_t edge, uint8_t port)
{
	w->turns[(size_t)edge * MASK_WORDS + port / 64] |=
		UINT64_C(1) << port % 64;
}

/* All turns that entries of `a` at one switch make with entries of `b` behind
 * it, in the blocks that are marked. Ports that lead to no switch are marked
 * as well: nobody goes there, but the channel is used. */
static void
web_join_rows(struct web *w, const struct lft *a, const struct lft *b,
	      uint32_t sw, const uint8_t *blocks)
{
	const uint32_t *edge_of = w->edge_of + (size_t)sw * GRAPH_PORTS;
	const struct graph_edge *edges = w->g->edges;
	uint32_t end = MIN(a->top, b->top) + 1u, lid, e;
	const uint8_t *row = lft_row(a, sw);
	const uint8_t *behind[GRAPH_PORTS];
	uint64_t *turns[GRAPH_PORTS], nobody[MASK_WORDS] = { 0 };
	uint32_t port;
	uint8_t out;

	/* No branch in the loop: what leads nowhere turns in a mask that is
	 * thrown away. */
	for (port = 0; port < GRAPH_PORTS; port++) {
		e = edge_of[port];
		behind[port] = e == SUBNET_NONE ? row :
			lft_row(b, edges[e].peer);
		turns[port] = e == SUBNET_NONE ? nobody :
			w->turns + (size_t)e * MASK_WORDS;
	}
	for (lid = LID_UNICAST_MIN; lid < end; lid++) {
		if (lid % LFT_BLOCK == 0 && !blocks[lid / LFT_BLOCK]) {
			lid += LFT_BLOCK - 1;
			continue;
		}
		if (w->quiet[lid])
			continue;
		port = row[lid];
		out = behind[port][lid];
		turns[port][out / 64] |= UINT64_C(1) << out % 64;
	}
}

/* By block of 64 LIDs: does the switch hold another one than it will? What
 * only one of the tables has is other. */
static void
web_find_stale(const struct web *w, uint32_t sw, uint8_t *stale)
{
	const struct lft *new = w->tables[0], *old = w->tables[1];
	uint32_t both = new->top == old->top ? w->n_blocks :
		(MIN(new->top, old->top) + 1u) / LFT_BLOCK;
	uint32_t b;

	memset(stale, 1, w->n_blocks);
	for (b = 0; b < both; b++)
		stale[b] = memcmp(lft_row(new, sw) + b * LFT_BLOCK,
				  lft_row(old, sw) + b * LFT_BLOCK,
				  LFT_BLOCK) != 0;
}

/* The same of the switch or any of its neighbours. */
static void
web_find_near(const struct web *w, uint32_t sw, uint8_t *near)
{
	const uint8_t *stale = w->stale + (size_t)sw * w->n_blocks;
	const struct graph *g = w->g;
	uint32_t e, b;

	memcpy(near, stale, w->n_blocks);
	for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
		stale = w->stale + (size_t)g->edges[e].peer * w->n_blocks;
		for (b = 0; b < w->n_blocks; b++)
			near[b] |= stale[b];
	}
}

/* The switches with cables, by their first neighbour. */
static uint32_t *
web_order_switches(const struct graph *g, uint32_t *n)
{
	uint32_t *order = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *start = g_new0(uint32_t, g->n_switches + 1);
	uint32_t sw;

	for (sw = 0; sw < g->n_switches; sw++)
		if (g->first_edge[sw] < g->first_edge[sw + 1])
			start[g->edges[g->first_edge[sw]].peer + 1]++;
	for (sw = 0; sw < g->n_switches; sw++)
		start[sw + 1] += start[sw];
	*n = start[g->n_switches];
	for (sw = 0; sw < g->n_switches; sw++)
		if (g->first_edge[sw] < g->first_edge[sw + 1])
			order[start[g->edges[g->first_edge[sw]].peer]++] = sw;
	return order;
}

static void
web_join_all(struct web *w)
{
	g_autofree uint8_t *near = g_malloc(w->n_blocks);
	g_autofree uint32_t *order = NULL;
	uint32_t n, i, sw;

	order = web_order_switches(w->g, &n);
	for (i = 0; i < n; i++) {
		sw = order[i];
		memset(near, 1, w->n_blocks);
		web_join_rows(w, w->tables[0], w->tables[0], sw, near);
		if (w->n_tables == 1)
			continue;
		web_find_near(w, sw, near);
		web_join_rows(w, w->tables[0], w->tables[1], sw, near);
		web_join_rows(w, w->tables[1], w->tables[0], sw, near);
		web_join_rows(w, w->tables[1], w->tables[1], sw, near);
	}
}

/* The switches that CAs' packets to `lid` may pass, and their turns. */
struct trail {
	uint32_t *queue;
	uint8_t *seen;
};

static void
web_walk_lid(struct web *w, uint32_t lid, struct trail *t)
{
	uint32_t head, tail = 0, sw, e, i, j, peer;
	const struct graph *g = w->g;

	memset(t->seen, 0, g->n_switches);
	for (sw = 0; sw < g->n_switches; sw++)
		if (g->n_hosts[sw]) {
			t->seen[sw] = 1;
			t->queue[tail++] = sw;
		}
	for (head = 0; head < tail; head++)
		for (i = 0; i < w->n_tables; i++) {
			sw = t->queue[head];
			e = web_edge(w, sw, web_entry(w, i, sw, lid));
			if (e == SUBNET_NONE)
				continue;
			peer = g->edges[e].peer;
			for (j = 0; j < w->n_tables; j++)
				web_turn(w, e, web_entry(w, j, peer, lid));
			if (!t->seen[peer]) {
				t->seen[peer] = 1;
				t->queue[tail++] = peer;
			}
		}
}

static void
web_walk_quiet(struct web *w)
{
	struct trail t = {
		.queue = g_new(uint32_t, w->g->n_switches),
		.seen = g_new(uint8_t, w->g->n_switches),
	};
	uint32_t lid;

	for (lid = LID_UNICAST_MIN; lid <= w->top; lid++)
		if (w->quiet[lid])
			web_walk_lid(w, lid, &t);
	g_free(t.queue);
	g_free(t.seen);
}

static void
web_init(struct web *w, const struct graph *g, const struct lft *lft,
	 const struct lft *before)
{
	uint32_t lid, sw;

	*w = (struct web){ .g = g, .tables = { lft, before } };
	w->n_tables = before ? 2 : 1;
	w->top = MAX(lft->top, before ? before->top : 0u);
	w->edge_of = graph_map_ports(g);
	w->target_of = graph_map_lids(g);
	w->quiet = g_new0(uint8_t, w->top + 1u);
	for (lid = LID_UNICAST_MIN; lid <= MIN(w->top, g->top); lid++)
		w->quiet[lid] = w->target_of[lid] != SUBNET_NONE &&
			g->targets[w->target_of[lid]].port == 0;
	w->turns = g_new0(uint64_t, (size_t)g->n_edges * MASK_WORDS);
	w->n_blocks = w->top / LFT_BLOCK + 1;
	if (!before)
		return;
	w->stale = g_malloc((size_t)g->n_switches * w->n_blocks);
	for (sw = 0; sw < g->n_switches; sw++)
		web_find_stale(w, sw, w->stale + (size_t)sw * w->n_blocks);
}

static void
web_clear(struct web *w)
{
	g_free(w->edge_of);
	g_free(w->target_of);
	g_free(w->quiet);
	g_free(w->turns);
	g_free(w->stale);
}

/* The channel after `edge` by the first turn from `*port` on; `*port` is then
 * behind it. SUBNET_NONE: there are no more. */
static uint32_t
web_next(const struct web *w, uint32_t edge, uint32_t *port)
{
	const uint64_t *mask = w->turns + (size_t)edge * MASK_WORDS;
	uint32_t peer = w->g->edges[edge].peer, e;
	uint64_t word;

	while (*port < GRAPH_PORTS) {
		word = mask[*port / 64] >> *port % 64;
		if (!word) {
			*port = (*port / 64 + 1) * 64;
			continue;
		}
		*port += (uint32_t)__builtin_ctzll(word);
		e = web_edge(w, peer, (uint8_t)*port);
		(*port)++;
		if (e != SUBNET_NONE)
			return e;
	}
	return SUBNET_NONE;
}

static bool
web_is_used(const struct web *w, uint32_t edge)
{
	const uint64_t *mask = w->turns + (size_t)edge * MASK_WORDS;

	return mask[0] || mask[1] || mask[2] || mask[3];
}

static void
web_count(const struct web *w, struct channels_result *r)
{
	uint32_t e, port;

	for (e = 0; e < w->g->n_edges; e++) {
		r->n_channels += web_is_used(w, e);
		for (port = 0; web_next(w, e, &port) != SUBNET_NONE;)
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
knot_visit(struct knot *k, const struct web *w, uint32_t start)
{
	uint32_t e, next, low;

	knot_enter(k, start);
	while (k->n_path) {
		e = k->path[k->n_path - 1];
		next = web_next(w, e, &k->port[e]);
		if (next == SUBNET_NONE) {
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
web_find_looped(const struct web *w)
{
	uint32_t n = w->g->n_edges, e;
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
			knot_visit(&k, w, e);
	g_free(k.order);
	g_free(k.low);
	g_free(k.port);
	g_free(k.path);
	g_free(k.stack);
	return k.looped;
}

/* Is it turned from `edge` by this port for this LID? */
static bool
web_lid_turns(const struct web *w, uint32_t edge, uint8_t port, uint32_t lid)
{
	const struct graph *g = w->g;
	uint32_t back = g->edges[edge].back, from = g->edges[back].peer, i, j;

	for (i = 0; i < w->n_tables; i++) {
		if (web_entry(w, i, from, lid) != g->edges[edge].port)
			continue;
		for (j = 0; j < w->n_tables; j++)
			if (web_entry(w, j, g->edges[edge].peer, lid) == port)
				return true;
	}
	return false;
}

/* Do CAs' packets to this LID pass `sw`? */
static bool
web_is_passed(struct web *w, uint32_t lid, uint32_t sw)
{
	struct trail t = {
		.queue = g_new(uint32_t, w->g->n_switches),
		.seen = g_new(uint8_t, w->g->n_switches),
	};
	bool passed;

	web_walk_lid(w, lid, &t);
	passed = t.seen[sw];
	g_free(t.queue);
	g_free(t.seen);
	return passed;
}

/* The lowest LID that makes the turn: of a CA, or else of a port 0 to which
 * CAs send through here. */
static uint16_t
web_find_lid(struct web *w, uint32_t edge, uint8_t port)
{
	uint32_t from = w->g->edges[w->g->edges[edge].back].peer, lid;

	for (lid = LID_UNICAST_MIN; lid <= w->top; lid++)
		if (!w->quiet[lid] && web_lid_turns(w, edge, port, lid))
			return (uint16_t)lid;
	for (lid = LID_UNICAST_MIN; lid <= w->top; lid++)
		if (w->quiet[lid] && web_lid_turns(w, edge, port, lid) &&
		    web_is_passed(w, lid, from))
			return (uint16_t)lid;
	g_assert_not_reached();
}

/* Breadth first from `start` back to it. */
static GArray *
web_find_cycle(struct web *w, const uint8_t *looped, uint32_t start)
{
	GArray *cycle = g_array_new(FALSE, FALSE, sizeof(struct channel_turn));
	uint32_t n = w->g->n_edges, head = 0, tail = 0, e = start, next, port;
	g_autofree uint32_t *from = g_new(uint32_t, n);
	g_autofree uint32_t *queue = g_new(uint32_t, n + 1); /* start twice */
	struct channel_turn turn;

	memset(from, 0xff, n * sizeof(*from));
	queue[tail++] = start;
	while (from[start] == UNSEEN && head < tail) {
		e = queue[head++];
		for (port = 0; (next = web_next(w, e, &port)) != SUBNET_NONE;)
			if (looped[next] && from[next] == UNSEEN) {
				from[next] = e;
				queue[tail++] = next;
			}
	}
	g_assert(from[start] != UNSEEN);
	for (next = start; cycle->len == 0 || next != start; next = e) {
		e = from[next];
		turn.edge = e;
		turn.lid = web_find_lid(w, e, w->g->edges[next].port);
		g_array_prepend_val(cycle, turn);
	}
	return cycle;
}

void
channels_check(const struct graph *g, const struct lft *lft,
	       const struct lft *before, struct channels_result *r)
{
	struct web w;
	uint32_t e;

	*r = (struct channels_result){ 0 };
	if (!g->n_edges)
		return;
	web_init(&w, g, lft, before);
	web_join_all(&w);
	web_walk_quiet(&w);
	web_count(&w, r);
	r->looped = web_find_looped(&w);
	for (e = 0; e < g->n_edges; e++) {
		if (r->looped[e] && !r->cycle)
			r->cycle = web_find_cycle(&w, r->looped, e);
		r->n_looped += r->looped[e];
	}
	if (!r->n_looped)
		g_clear_pointer(&r->looped, g_free);
	web_clear(&w);
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
