// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What forwarding tables make channels wait for.
 *
 * Method. For a LID that counts as a CA's, every switch is a source (its port
 * 0 is), so each entry of A which leads to B makes a turn with each entry of
 * B: one pass over the tables, row by row, neighbours of the same switch one
 * after the other, for they look into the same rows. For a port 0's LID only
 * what starts at a switch with CAs counts: those are walked.
 *
 * Old and new. While tables are written, A may have either entry and B may
 * have either, so where they differ a LID makes up to four turns. That is more
 * than ever happens at once, never less. Where a switch and all its neighbours
 * hold what is new already, one pass says it all: few blocks change in most
 * sweeps, and only they are looked at more than once.
 */
#include "routing/channels.h"

#include <string.h>

struct web {
	struct channels *c;
	const struct graph *g;
	const struct lft *tables[2];	/* new, old */
	uint32_t n_tables;
	uint32_t top;
	uint32_t *target_of;		/* see graph_map_lids() */
	uint8_t *quiet;			/* by LID: of a port 0, up to top */
	uint32_t n_blocks;		/* of 64 LIDs, up to top */
	uint8_t *stale;			/* [switch][block]; NULL: one table */
	/* With an order: */
	uint8_t *is_up;			/* [switch][port] */
	uint64_t *up[2];		/* see web_find_up() */
	uint8_t *is_odd;		/* by LID, of a port 0: some switch
					   turns it from down to up */
	uint64_t n_odd;			/* times that data turns so */
	uint8_t *whole;			/* see channels_add_ordered() */
};

static uint8_t
web_entry(const struct web *w, uint32_t table, uint32_t sw, uint32_t lid)
{
	const struct lft *lft = w->tables[table];

	return lid <= lft->top ? lft_row(lft, sw)[lid] : LFT_NO_PATH;
}

/* All turns that entries of `a` at one switch make with entries of `b` behind
 * it, in the blocks that are marked. Ports that lead to no switch are marked
 * as well: nobody goes there, but the channel is used. */
static void
web_join_rows(struct web *w, const struct lft *a, const struct lft *b,
	      uint32_t sw, const uint8_t *blocks)
{
	const uint32_t *edge_of = w->c->edge_of + (size_t)sw * GRAPH_PORTS;
	const struct graph_edge *edges = w->g->edges;
	uint32_t end = MIN(a->top, b->top) + 1u, lid, e;
	const uint8_t *row = lft_row(a, sw);
	const uint8_t *behind[GRAPH_PORTS];
	uint64_t *turns[GRAPH_PORTS], nobody[CHANNELS_WORDS] = { 0 };
	uint32_t port;
	uint8_t out;

	/* No branch in the loop: what leads nowhere turns in a mask that is
	 * thrown away. */
	for (port = 0; port < GRAPH_PORTS; port++) {
		e = edge_of[port];
		behind[port] = e == SNAPSHOT_NONE ? row :
			lft_row(b, edges[e].peer);
		turns[port] = e == SNAPSHOT_NONE ? nobody :
			w->c->turns + (size_t)e * CHANNELS_WORDS;
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
	uint32_t *queue, *sources, n_sources;	/* switches with CAs */
	uint8_t *seen, *is_source;
};

static void
trail_init(struct trail *t, const struct graph *g)
{
	t->queue = g_new(uint32_t, g->n_switches + 1);
	t->sources = g_new(uint32_t, g->n_switches + 1);
	t->n_sources = 0;
	t->seen = g_new(uint8_t, g->n_switches + 1);
	t->is_source = g_new(uint8_t, g->n_switches + 1);
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		t->is_source[sw] = g->n_hosts[sw] > 0;
		if (t->is_source[sw])
			t->sources[t->n_sources++] = sw;
	}
}

static void
trail_clear(struct trail *t)
{
	g_free(t->queue);
	g_free(t->sources);
	g_free(t->seen);
	g_free(t->is_source);
}

static void
web_walk_lid(struct web *w, uint32_t lid, struct trail *t)
{
	uint32_t head, tail = 0, sw, e, i, j, peer;
	const struct graph *g = w->g;

	memcpy(t->seen, t->is_source, g->n_switches);
	for (i = 0; i < t->n_sources; i++)
		t->queue[tail++] = t->sources[i];
	for (head = 0; head < tail; head++)
		for (i = 0; i < w->n_tables; i++) {
			sw = t->queue[head];
			e = channels_edge(w->c, sw, web_entry(w, i, sw, lid));
			if (e == SNAPSHOT_NONE)
				continue;
			peer = g->edges[e].peer;
			for (j = 0; j < w->n_tables; j++)
				channels_turn(w->c, e,
					      web_entry(w, j, peer, lid));
			if (!t->seen[peer]) {
				t->seen[peer] = 1;
				t->queue[tail++] = peer;
			}
		}
}

static void
web_walk_quiet(struct web *w)
{
	struct trail t;
	uint32_t lid;

	trail_init(&t, w->g);
	for (lid = LID_UNICAST_MIN; lid <= w->top; lid++)
		if (w->quiet[lid])
			web_walk_lid(w, lid, &t);
	trail_clear(&t);
}

static void
web_init(struct web *w, struct channels *c, const struct lft *lft,
	 const struct lft *before)
{
	const struct graph *g = c->g;
	uint32_t lid, sw;

	*w = (struct web){ .c = c, .g = g, .tables = { lft, before } };
	w->n_tables = before ? 2 : 1;
	w->top = MAX(lft->top, before ? before->top : 0u);
	w->target_of = graph_map_lids(g);
	w->quiet = g_new0(uint8_t, w->top + 1u);
	for (lid = LID_UNICAST_MIN; lid <= MIN(w->top, g->top); lid++)
		w->quiet[lid] = w->target_of[lid] != SNAPSHOT_NONE &&
			g->targets[w->target_of[lid]].port == 0;
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
	g_free(w->target_of);
	g_free(w->quiet);
	g_free(w->stale);
}

void
channels_add_tables(struct channels *c, const struct lft *lft,
		    const struct lft *before)
{
	struct web w;

	web_init(&w, c, lft, before);
	web_join_all(&w);
	web_walk_quiet(&w);
	web_clear(&w);
}

/* ---- with an order of the switches ---- */

/* The entry at `sw` leads to no switch. If it is not where the LID ends, the
 * LID is not whole. */
static void
web_stop(struct web *w, uint32_t sw, uint32_t lid, uint8_t port)
{
	uint32_t i = lid <= w->g->top ? w->target_of[lid] : SNAPSHOT_NONE;

	if (i != SNAPSHOT_NONE && (w->g->targets[i].sw != sw ||
				 w->g->targets[i].port != port))
		w->whole[lid] = 0;
}

/* By table, switch and block: the LIDs whose entry leads up, as bits. Of the
 * old table, blocks that are like the new ones are copied. */
static void
web_find_up(struct web *w)
{
	const uint8_t *up, *row;
	uint32_t t, sw, b, i;
	uint64_t bits, *to;

	for (t = 0; t < w->n_tables; t++)
		for (sw = 0; sw < w->g->n_switches; sw++) {
			up = w->is_up + (size_t)sw * GRAPH_PORTS;
			row = lft_row(w->tables[t], sw);
			to = w->up[t] + (size_t)sw * w->n_blocks;
			for (b = 0; b < w->tables[t]->stride / LFT_BLOCK;
			     b++) {
				bits = 0;
				if (t == 1 && !w->stale[(size_t)sw *
						w->n_blocks + b])
					bits = w->up[0][(size_t)sw *
							w->n_blocks + b];
				else
					for (i = 0; i < LFT_BLOCK; i++)
						bits |= (uint64_t)up[row[b *
							LFT_BLOCK + i]] << i;
				to[b] = bits;
			}
		}
}

static bool
web_is_up(const struct web *w, uint32_t table, uint32_t sw, uint32_t lid)
{
	return w->up[table][(size_t)sw * w->n_blocks + lid / LFT_BLOCK] >>
		lid % LFT_BLOCK & 1;
}

/* The turn that a packet makes which comes by `e` and meets table `b`. */
static void
web_add_odd(struct web *w, uint32_t e, uint32_t lid, uint32_t b)
{
	const struct graph_edge *back = &w->g->edges[w->g->edges[e].back];
	uint8_t out = web_entry(w, b, w->g->edges[e].peer, lid);

	w->n_odd++;
	channels_turn(w->c, e, out);
	/* To and fro: the order has not the other turn. */
	if (out == back->port)
		channels_turn(w->c, w->g->edges[e].back,
			      w->g->edges[e].port);
}

/* The same of a port 0's LID, for what CAs send only. */
static void
web_walk_odd(struct web *w, uint32_t lid, struct trail *t)
{
	const struct graph *g = w->g;
	uint32_t head, tail = 0, sw, e, i, k, peer;

	memcpy(t->seen, t->is_source, g->n_switches);
	for (i = 0; i < t->n_sources; i++)
		t->queue[tail++] = t->sources[i];
	for (head = 0; head < tail; head++)
		for (i = 0; i < w->n_tables; i++) {
			sw = t->queue[head];
			e = channels_edge(w->c, sw, web_entry(w, i, sw, lid));
			if (e == SNAPSHOT_NONE)
				continue;
			peer = g->edges[e].peer;
			for (k = 0; k < w->n_tables; k++)
				if (!web_is_up(w, i, sw, lid) &&
				    web_is_up(w, k, peer, lid))
					web_add_odd(w, e, lid, k);
			if (!t->seen[peer]) {
				t->seen[peer] = 1;
				t->queue[tail++] = peer;
			}
		}
}

/* Turns from down to up that entries of table `a` at one switch make with
 * entries of table `b` behind it. */
static void
web_scan_row(struct web *w, uint32_t a, uint32_t b, uint32_t sw,
	     const uint8_t *blocks)
{
	const uint32_t *edge_of = w->c->edge_of + (size_t)sw * GRAPH_PORTS;
	const uint64_t *up = w->up[a] + (size_t)sw * w->n_blocks;
	uint32_t end = w->tables[a]->top + 1u, block, lid, e;
	const uint64_t *behind[GRAPH_PORTS] = { NULL };
	const uint8_t *row = lft_row(w->tables[a], sw);
	uint64_t rest;

	for (e = w->g->first_edge[sw]; e < w->g->first_edge[sw + 1]; e++)
		behind[w->g->edges[e].port] = w->up[b] +
			(size_t)w->g->edges[e].peer * w->n_blocks;
	for (block = 0; block * LFT_BLOCK < end; block++)
		for (rest = blocks[block] ? ~up[block] : 0; rest;
		     rest &= rest - 1) {
			lid = block * LFT_BLOCK +
				(uint32_t)__builtin_ctzll(rest);
			if (lid == 0 || lid >= end)
				continue;
			if (!behind[row[lid]]) {
				if (a == 0)
					web_stop(w, sw, lid, row[lid]);
			} else if (behind[row[lid]][block] >>
				   lid % LFT_BLOCK & 1) {
				w->is_odd[lid] |= w->quiet[lid];
				if (!w->quiet[lid])
					web_add_odd(w, edge_of[row[lid]], lid,
						    b);
			}
		}
}

static void
web_scan_all(struct web *w)
{
	g_autofree uint8_t *near = g_malloc(w->n_blocks);
	uint32_t sw;

	for (sw = 0; sw < w->g->n_switches; sw++) {
		memset(near, 1, w->n_blocks);
		web_scan_row(w, 0, 0, sw, near);
		if (w->n_tables == 1)
			continue;
		web_find_near(w, sw, near);
		web_scan_row(w, 0, 1, sw, near);
		web_scan_row(w, 1, 0, sw, near);
		web_scan_row(w, 1, 1, sw, near);
	}
}

static void
web_use_order(struct web *w, const uint32_t *ranks)
{
	const struct graph *g = w->g;
	uint32_t sw, e, i;

	w->is_up = g_new0(uint8_t, (size_t)g->n_switches * GRAPH_PORTS + 1);
	w->is_odd = g_new0(uint8_t, w->top + 1u);
	for (i = 0; i < w->n_tables; i++)
		w->up[i] = g_new0(uint64_t, (size_t)g->n_switches *
				  w->n_blocks + 1);
	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			w->is_up[(size_t)sw * GRAPH_PORTS +
				 g->edges[e].port] =
				!ranks || channels_is_up(ranks, sw,
							 g->edges[e].peer);
}

bool
channels_add_ordered(struct channels *c, const uint32_t *ranks,
		     const struct lft *lft, const struct lft *before,
		     uint8_t *whole)
{
	struct trail t;
	struct web w;
	bool ok = true;
	uint32_t lid;

	web_init(&w, c, lft, before);
	w.whole = whole;
	web_use_order(&w, ranks);
	web_find_up(&w);
	web_scan_all(&w);
	trail_init(&t, c->g);
	for (lid = LID_UNICAST_MIN; lid <= w.top; lid++)
		if (w.is_odd[lid]) {
			web_walk_odd(&w, lid, &t);
			if (lid <= c->g->top)
				whole[lid] = 0;
		}
	for (lid = LID_UNICAST_MIN; !ranks && lid <= c->g->top; lid++)
		whole[lid] &= lid <= w.top && !w.quiet[lid];
	if (w.n_odd) {
		channels_add_order(c, ranks);
		ok = channels_sort(c);
	}
	trail_clear(&t);
	g_free(w.is_up);
	g_free(w.up[0]);
	g_free(w.up[1]);
	g_free(w.is_odd);
	web_clear(&w);
	return ok;
}

/* ---- which LID it was ---- */

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
	struct trail t;
	bool passed;

	trail_init(&t, w->g);
	web_walk_lid(w, lid, &t);
	passed = t.seen[sw];
	trail_clear(&t);
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

uint16_t
channels_find_lid(struct channels *c, const struct lft *lft,
		  const struct lft *before, uint32_t edge, uint8_t port)
{
	struct web w;
	uint16_t lid;

	web_init(&w, c, lft, before);
	lid = web_find_lid(&w, edge, port);
	web_clear(&w);
	return lid;
}
