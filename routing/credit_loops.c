// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The channel dependency graph.
 *
 * Structs. For each channel e from switch A to switch B, a mask of 256 bits:
 * the ports of B through which packets that arrived by e leave. These masks are
 * the graph.
 *
 * Method. channels_check_ordered: the channels in loops are the strongly
 * connected components (R. Tarjan, 1972; without recursion, since a chain may be
 * long).
 * One loop is reported: the shortest through the lowest channel in any loop,
 * found breadth first, and for each of its turns the lowest LID that makes it.
 * channels_add keeps a topological order while turns are added one by one; only
 * channels between the two ends change places (A. Marchetti-Spaccamela, U.
 * Nanni, H. Rohnert, "Maintaining a topological order under edge insertions",
 * 1996).
 */
#include "routing/credit_loops.h"

#include <string.h>

#include "routing/scratch.h"
#include "routing/sets.h"
#include "topology/each.h"

#define UNSEEN		UINT32_MAX
#define HOPS		64u	/* see web_arrives() */
#define WEB_TABLES	(LFT_PARTS_MAX + 3)	/* new, cleared, old, others */
#define ITEM(array, i)	g_array_index(array, uint32_t, i)

struct channels *
channels_new(const struct graph *g)
{
	struct channels *c = g_new0(struct channels, 1);

	c->g = g;
	c->turns = g_malloc0(channels_size(g) + 1);
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

	memcpy(c->turns, from->turns, channels_size(from->g));
	memcpy(c->place, from->place, n * sizeof(*c->place));
	memcpy(c->channel, from->channel, n * sizeof(*c->channel));
	return c;
}

void
channels_free(struct channels *c)
{
	if (!c)
		return;
	g_free(c->turns);
	g_free(c->place);
	g_free(c->channel);
	g_free(c->mark);
	g_free(c);
}

uint32_t
channels_list(const struct channels *c, uint32_t edge, uint32_t *next)
{
	const uint64_t *mask = channels_mask(c->g, c->turns, edge);
	uint32_t peer = c->g->edges[edge].peer, w, port, n = 0;
	const uint8_t *nth_edge = c->g->nth_edge + (size_t)peer * GRAPH_PORTS;
	uint32_t first = c->g->first_edge[peer];
	uint64_t word;

	for (w = 0; w < c->g->n_words; w++) {
		word = mask[w];
		for_each_bit(word, w * 64, port) {
			next[n] = first + nth_edge[port];
			n += nth_edge[port] != GRAPH_NO_EDGE;
		}
	}
	return n;
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
		for_each_edge(g, sw, e) {
			is_up = channels_is_up(ranks, sw, g->edges[e].peer);
			mask[is_up][g->edges[e].port / 64] |=
				UINT64_C(1) << g->edges[e].port % 64;
		}
		for_each_edge(g, sw, e) {
			is_up = channels_is_up(ranks, sw, g->edges[e].peer);
			turns = channels_mask(g, c->turns, g->edges[e].back);
			same[g->edges[e].port / 64] =
				UINT64_C(1) << g->edges[e].port % 64;
			for (w = 0; w < g->n_words; w++)
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
	uint32_t n = c->g->n_edges, e, next[GRAPH_PORTS], n_next, k, head;
	uint32_t tail = 0;
	g_autofree uint32_t *waits = g_new0(uint32_t, n + 1);

	for (e = 0; e < n; e++)
		for (k = channels_list(c, e, next); k-- > 0;)
			waits[next[k]]++;
	for (e = 0; e < n; e++)
		if (waits[e] == 0)
			c->channel[tail++] = e;
	for (head = 0; head < tail; head++) {
		c->place[c->channel[head]] = head;
		for (n_next = channels_list(c, c->channel[head], next), k = 0;
		     k < n_next; k++)
			if (--waits[next[k]] == 0)
				c->channel[tail++] = next[k];
	}
	return tail == n;
}

/* Marks and lists the channels reachable from `out` that are not after `in` in
 * the order. False: `in` itself is reachable. */
static bool
channels_search(struct channels *c, uint32_t in, uint32_t out, GArray *found)
{
	uint32_t i, next[GRAPH_PORTS], n, k;

	c->mark[out] = 1;
	g_array_append_val(found, out);
	for (i = 0; i < found->len; i++)
		for (n = channels_list(c, ITEM(found, i), next), k = 0; k < n;
		     k++) {
			c->work++;
			if (next[k] == in)
				return false;
			if (c->mark[next[k]] ||
			    c->place[next[k]] > c->place[in])
				continue;
			c->mark[next[k]] = 1;
			g_array_append_val(found, next[k]);
		}
	return true;
}

static void
channels_put(struct channels *c, uint32_t e, uint32_t place)
{
	c->place[e] = place;
	c->channel[place] = e;
}

/* Moves the channels found, which are marked, behind `in`, as they follow each
 * other. */
static void
channels_reorder(struct channels *c, uint32_t in, uint32_t out, GArray *found)
{
	uint32_t from = c->place[out], end = c->place[in], to = from, n = 0, e;

	for (; from <= end; from++) {
		e = c->channel[from];
		if (!c->mark[e]) {
			channels_put(c, e, to++);
			continue;
		}
		g_assert(n < found->len);
		ITEM(found, n++) = e;
	}
	g_assert(n == found->len);	/* else the graph was not sorted */
	for (n = 0; n < found->len; n++)
		channels_put(c, ITEM(found, n), to + n);
}

bool
channels_add(struct channels *c, uint32_t in, uint32_t out)
{
	g_autoptr(GArray) found = NULL;
	bool ok = true;

	if (channels_has(c, in, out))
		return true;
	if (c->place[in] > c->place[out]) {
		found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		ok = channels_search(c, in, out, found);
		if (ok)
			channels_reorder(c, in, out, found);
		for (guint i = 0; i < found->len; i++)
			c->mark[ITEM(found, i)] = 0;
	}
	if (ok)
		channels_turn(c, in, c->g->edges[out].port);
	return ok;
}

bool
channels_extend(struct channels *c, uint32_t in, uint32_t out, GArray *added)
{
	const struct turn turn = { in, out };

	if (channels_has(c, in, out))
		return true;
	if (!channels_add(c, in, out))
		return false;
	g_array_append_val(added, turn);
	return true;
}

void
channels_remove(struct channels *c, uint32_t in, uint32_t out)
{
	uint8_t port = c->g->edges[out].port;

	channels_mask(c->g, c->turns, in)[port / 64] &=
		~(UINT64_C(1) << port % 64);
}

void
channels_undo(struct channels *c, GArray *added, guint n)
{
	const struct turn *t;

	for (guint i = n; i < added->len; i++) {
		t = &g_array_index(added, struct turn, i);
		channels_remove(c, t->in, t->out);
	}
	g_array_set_size(added, n);
}

bool
channels_hang(struct channels *c, uint32_t *parent, uint32_t e, GArray *added)
{
	const struct graph *g = c->g;
	uint32_t to = g->edges[e].peer, f;
	guint n = added->len;

	for_each_edge(g, to, f)
		if ((parent[to] == f ||
		     parent[g->edges[f].peer] == g->edges[f].back) &&
		    (!channels_extend(c, e, f, added) ||
		     !channels_extend(c, g->edges[f].back, g->edges[e].back,
				      added))) {
			channels_undo(c, added, n);
			return false;
		}
	parent[graph_owner(g, e)] = e;
	return true;
}

/* ---- loops ---- */

/* Tarjan's algorithm. */
struct knot {
	uint32_t *order;	/* by edge: when it was visited; UNSEEN */
	uint32_t *low;
	uint32_t *nth;		/* which of its turns is the next */
	uint32_t *path;		/* edges being visited */
	uint32_t *stack;	/* edges of components that are not closed */
	uint8_t *looped;	/* by edge: it is in a loop */
	uint32_t n_met, n_path, n_stack;
};

static void
knot_enter(struct knot *k, uint32_t e)
{
	k->order[e] = k->low[e] = k->n_met++;
	k->nth[e] = 0;
	k->path[k->n_path++] = e;
	k->stack[k->n_stack++] = e;
}

static void
knot_visit(struct knot *k, const struct channels *c, uint32_t start)
{
	uint32_t e, list[GRAPH_PORTS], n, next, other;
	bool alone;

	knot_enter(k, start);
	while (k->n_path) {
		e = k->path[k->n_path - 1];
		n = channels_list(c, e, list);
		for (; k->nth[e] < n; k->nth[e]++) {
			next = list[k->nth[e]];
			if (k->order[next] == UNSEEN)
				break;
			if (k->low[next] != UNSEEN)
				k->low[e] = MIN(k->low[e], k->order[next]);
		}
		if (k->nth[e] < n) {
			knot_enter(k, list[k->nth[e]++]);
			continue;
		}
		if (--k->n_path)
			k->low[k->path[k->n_path - 1]] = MIN(
				k->low[k->path[k->n_path - 1]], k->low[e]);
		if (k->low[e] != k->order[e])
			continue;
		/* `e` was visited first of its component. A single channel
		 * would be in a loop only if it depended on itself; graphs
		 * have no cable from a switch to itself. */
		alone = k->stack[k->n_stack - 1] == e;
		do {
			other = k->stack[--k->n_stack];
			k->looped[other] = !alone;
			k->low[other] = UNSEEN;	/* no longer on the stack */
		} while (other != e);
	}
}

/* By edge: it is in a loop. */
static uint8_t *
channels_find_looped(const struct channels *c)
{
	uint32_t n = c->g->n_edges, e;
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct knot k = {
		.order = SCRATCH(scratch, uint32_t, n),
		.low = SCRATCH(scratch, uint32_t, n),
		.nth = SCRATCH(scratch, uint32_t, n),
		.path = SCRATCH(scratch, uint32_t, n),
		.stack = SCRATCH(scratch, uint32_t, n),
		.looped = g_new0(uint8_t, n),
	};

	for (e = 0; e < n; e++)
		k.order[e] = UNSEEN;
	for (e = 0; e < n; e++)
		if (k.order[e] == UNSEEN)
			knot_visit(&k, c, e);
	return k.looped;
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
	GString *text;

	if (!r->cycle)
		return NULL;
	text = g_string_new(NULL);
	EACH_ITEM(const struct channel_turn, turn, r->cycle) {
		g_autofree char *name = graph_switch_name(g,
			graph_owner(g, turn->edge));

		g_string_append_printf(text, "%s port %u -> (LID %u) ", name,
				       g->edges[turn->edge].port, turn->lid);
	}
	g_string_append(text, "the first");
	return g_string_free(text, FALSE);
}

/*
 * The channel dependencies that forwarding tables make.
 *
 * Method. For a LID that counts as a CA's, every switch is a source (its port 0
 * is one), so each entry of A that leads to B makes a turn with B's entry of
 * the same LID: one pass over the tables, row by row. For the LID of a port 0,
 * only packets that start at a switch with CAs count; these paths are walked.
 *
 * Old and new tables. During an update A and B may each have the old or the new
 * entry, so a LID whose entries differ makes up to four turns. This may be more
 * than ever happens at once, but never less. Where a switch holds the new entries
 * already, two passes are enough: most sweeps change few blocks. Contents in doubt
 * are more tables of this kind.
 *
 * With an order of the switches. Turns up, and turns from up to down, make no
 * loop, so only the other turns, from down to up, are looked for. A loop of
 * these together with all turns that the order permits is a suspicion: then the
 * turns that the tables really make are computed.
 */

struct web {
	struct channels *c;
	const struct graph *g;
	const struct lft *tables[WEB_TABLES];	/* new, old, others */
	uint32_t n_tables;
	uint32_t top;
	uint8_t *quiet;			/* by LID up to top: it is of a port
					   0 */
	uint8_t *walked;		/* by LID: its paths are to be walked */
	uint32_t n_blocks;		/* of 64 LIDs, up to top */
	/* By table but the first: [switch][block], bits of the LIDs whose
	 * entries differ from the new ones. */
	uint64_t *stale[WEB_TABLES];
	/* Only with an order: */
	uint8_t *is_up;			/* [switch][port] */
	uint64_t *up[WEB_TABLES];	/* see web_find_up() */
	uint8_t *odd;			/* by LID: it has a turn from down to
					   up */
	bool any_odd;
	uint8_t *whole;		/* see channels_check_ordered(); or NULL */
	GPtrArray *scratch;
};

static uint8_t
web_entry(const struct web *w, uint32_t table, uint32_t sw, uint32_t lid)
{
	const struct lft *lft = w->tables[table];

	return lid <= lft->top ? lft_row(lft, sw)[lid] : LFT_NO_PATH;
}

/* Bits of the LIDs in a block whose entries differ from the new ones at a switch.
 * A LID above the top of one of the tables differs. */
static uint64_t
web_compare_block(const struct web *w, const struct lft *old, uint32_t sw,
		  uint32_t block)
{
	const struct lft *new = w->tables[0];
	uint64_t bits = 0;
	uint32_t lid = block * LFT_BLOCK, i;

	if (lid + LFT_BLOCK - 1 > MIN(new->top, old->top) &&
	    new->top != old->top)
		return UINT64_MAX;
	if (memcmp(lft_row(new, sw) + lid, lft_row(old, sw) + lid,
		   LFT_BLOCK) == 0 ||
	    memcmp(lft_row(old, sw) + lid, lft_no_paths, LFT_BLOCK) == 0)
		return 0;
	for (i = 0; i < LFT_BLOCK; i++)
		bits |= (uint64_t)(lft_row(new, sw)[lid + i] !=
				   lft_row(old, sw)[lid + i]) << i;
	return bits;
}

static void
web_add_others(struct web *w, const struct lft *lft)
{
	for (; lft; lft = lft->other) {
		g_assert(w->n_tables < WEB_TABLES);
		w->tables[w->n_tables++] = lft;
		w->top = MAX(w->top, lft->top);
	}
}

static void
web_init(struct web *w, struct channels *c, const struct lft *lft,
	 const struct lft *before, uint8_t *whole, GPtrArray *scratch)
{
	const struct graph *g = c->g;
	const struct graph_target *target;
	uint32_t lid, sw, b, t;

	*w = (struct web){
		.c = c, .g = g, .whole = whole, .scratch = scratch,
	};
	web_add_others(w, lft);
	web_add_others(w, before);
	w->quiet = SCRATCH(scratch, uint8_t, w->top);
	w->walked = SCRATCH(scratch, uint8_t, w->top);
	for (lid = LID_UNICAST_MIN; lid <= w->top; lid++) {
		target = graph_target_at(g, lid);
		w->quiet[lid] = target && target->port == 0;
	}
	w->n_blocks = w->top / LFT_BLOCK + 1;
	for (t = 1; t < w->n_tables; t++) {
		w->stale[t] = SCRATCH(scratch, uint64_t, (size_t)g->n_switches *
				      w->n_blocks);
		for (sw = 0; sw < g->n_switches; sw++)
			for (b = 0; b < w->n_blocks; b++)
				w->stale[t][(size_t)sw * w->n_blocks + b] =
					web_compare_block(w, w->tables[t], sw,
							  b);
	}
}

/* Looks at a switch with its entries in table `a` and those of its
 * neighbours in table `b`; lids: by block, bits of the LIDs whose turns no
 * other pair of tables makes; NULL: all. */
typedef void web_look(struct web *w, uint32_t a, uint32_t b, uint32_t sw,
		      const uint64_t *lids);

/* Adds all turns that the entries of a table make. Ports that lead to no
 * switch are marked as well: the channel is used, but no packet goes on from
 * there. */
static void
web_join_row(struct web *w, uint32_t a, uint32_t b, uint32_t sw,
	     const uint64_t *lids)
{
	const struct lft *mine = w->tables[a], *theirs = w->tables[b];
	uint32_t end = MIN(mine->top, theirs->top) + 1u, lid, e, port;
	const uint8_t *row = lft_row(mine, sw);
	const uint8_t *behind[GRAPH_PORTS];
	uint64_t *turns[GRAPH_PORTS], unused[CHANNELS_WORDS] = { 0 };
	uint8_t out;

	/* No branch in this loop: entries that lead to no switch go into a
	 * mask that is not used. */
	for (port = 0; port < GRAPH_PORTS; port++) {
		e = graph_edge_at(w->g, sw, (uint8_t)port);
		behind[port] = row;
		turns[port] = unused;
		if (e == SNAPSHOT_NONE)
			continue;
		behind[port] = lft_row(theirs, w->g->edges[e].peer);
		turns[port] = channels_mask(w->g, w->c->turns, e);
	}
	for (lid = LID_UNICAST_MIN; lid < end; lid++) {
		if (lid % LFT_BLOCK == 0 && lids && !lids[lid / LFT_BLOCK]) {
			lid += LFT_BLOCK - 1;
			continue;
		}
		port = row[lid];
		out = channels_bit(w->g, behind[port][lid]);
		if (!w->quiet[lid])
			turns[port][out / 64] |= UINT64_C(1) << out % 64;
	}
}

static void
web_look_all(struct web *w, web_look *look)
{
	for (uint32_t sw = 0; sw < w->g->n_switches; sw++)
		for (uint32_t a = 0; a < w->n_tables; a++)
			for (uint32_t b = 0; b < w->n_tables; b++)
				look(w, a, b, sw, a ? w->stale[a] +
				     (size_t)sw * w->n_blocks : NULL);
}

/* The switches that packets of CAs to a LID may pass. */
struct trail {
	uint32_t *queue, *sources, n_sources;	/* sources: switches with CAs */
	uint8_t *seen, *is_source;
	uint8_t *columns[WEB_TABLES];	/* lft_read_columns(), by table */
};

static void
trail_init(struct trail *t, const struct web *w, GPtrArray *scratch)
{
	uint32_t n = w->g->n_switches, sw;

	*t = (struct trail){
		.queue = SCRATCH(scratch, uint32_t, n),
		.sources = SCRATCH(scratch, uint32_t, n),
		.seen = SCRATCH(scratch, uint8_t, n),
		.is_source = SCRATCH(scratch, uint8_t, n),
	};
	for (sw = 0; sw < n; sw++) {
		t->is_source[sw] = w->g->n_senders[sw] > 0;
		if (t->is_source[sw])
			t->sources[t->n_sources++] = sw;
	}
	for (uint32_t i = 0; i < w->n_tables; i++)
		t->columns[i] = SCRATCH(scratch, uint8_t, (size_t)n *
					LFT_COLUMNS);
}

/* Called for each pair of a channel `e` on a path from a CA to the LID and
 * the port `out` by which the path goes on. */
typedef void web_visit(struct web *w, uint32_t lid, uint32_t e, uint8_t out);

/* Walks the paths to a LID; nth: its column in t->columns. */
static void
web_walk_lid(struct web *w, uint32_t lid, struct trail *t, uint32_t nth,
	     web_visit *visit)
{
	uint32_t head, tail = t->n_sources, e, a, b, sw, peer;
	size_t first = (size_t)nth * w->g->n_switches;

	memcpy(t->seen, t->is_source, w->g->n_switches);
	memcpy(t->queue, t->sources, tail * sizeof(*t->queue));
	for (head = 0; head < tail; head++)
		for (sw = t->queue[head], a = 0; a < w->n_tables; a++) {
			e = graph_edge_at(w->g, sw, t->columns[a][first + sw]);
			if (e == SNAPSHOT_NONE)
				continue;
			peer = w->g->edges[e].peer;
			for (b = 0; b < w->n_tables; b++)
				visit(w, lid, e, t->columns[b][first + peer]);
			if (!t->seen[peer]) {
				t->seen[peer] = 1;
				t->queue[tail++] = peer;
			}
		}
}

/* Walks the paths of all LIDs marked in w->walked. */
static void
web_walk_all(struct web *w, web_visit *visit)
{
	uint16_t lids[LFT_COLUMNS];
	uint32_t lid, i, n = 0;
	struct trail t;

	trail_init(&t, w, w->scratch);
	for (lid = LID_UNICAST_MIN; lid <= w->top; lid++) {
		if (w->walked[lid])
			lids[n++] = (uint16_t)lid;
		if (n < LFT_COLUMNS && lid < w->top)
			continue;
		for (i = 0; i < w->n_tables; i++)
			lft_read_columns(w->tables[i], lids, n, t.columns[i]);
		for (i = 0; i < n; i++)
			web_walk_lid(w, lids[i], &t, i, visit);
		n = 0;
	}
}

static void
web_add_turn(struct web *w, uint32_t lid, uint32_t e, uint8_t out)
{
	channels_turn(w->c, e, out);
}

/* ---- with an order of the switches ---- */

/* Adds the turn from channel `e` to port `out` if it leads from down to up. */
static void
web_add_odd(struct web *w, uint32_t lid, uint32_t e, uint8_t out)
{
	const struct graph_edge *edge = &w->g->edges[e];
	const struct graph_edge *back = &w->g->edges[edge->back];

	if (w->is_up[(size_t)back->peer * GRAPH_PORTS + edge->port] ||
	    !w->is_up[(size_t)edge->peer * GRAPH_PORTS + out])
		return;
	w->odd[lid] = 1;
	w->any_odd = true;
	channels_turn(w->c, e, out);
	/* A packet that goes back and forth: the order does not permit the
	 * opposite turn either. */
	if (out == back->port)
		channels_turn(w->c, edge->back, edge->port);
}

/* Fills w->up[t]: by switch and block, bits of the LIDs whose entry leads
 * up. For other tables, blocks equal to the new ones are copied. */
static void
web_find_up(struct web *w, uint32_t t, uint32_t sw)
{
	const uint8_t *up = w->is_up + (size_t)sw * GRAPH_PORTS;
	const uint8_t *row = lft_row(w->tables[t], sw);
	size_t first = (size_t)sw * w->n_blocks;
	uint32_t b, i;
	uint64_t bits;

	if (!memchr(up, 1, GRAPH_PORTS))
		return;
	for (b = 0; b < lft_n_blocks(w->tables[t]); b++, row += LFT_BLOCK) {
		bits = 0;
		if (t && !w->stale[t][first + b])
			bits = w->up[0][first + b];
		else
			for (i = 0; i < LFT_BLOCK; i += 4)
				bits |= (uint64_t)(up[row[i]] |
						   up[row[i + 1]] << 1 |
						   up[row[i + 2]] << 2 |
						   up[row[i + 3]] << 3) << i;
		w->up[t][first + b] = bits;
	}
}

/* Does the path of a switch to a LID arrive, by the new tables? False as well if
 * it has HOPS cables or more. Tables may end below the LID, which verify_follow()
 * does not expect. */
static bool
web_arrives(const struct web *w, uint32_t lid, uint32_t sw)
{
	uint32_t hops, e;

	for (hops = 0; hops < HOPS; hops++) {
		e = graph_edge_at(w->g, sw, web_entry(w, 0, sw, lid));
		if (e == SNAPSHOT_NONE)
			return sw == graph_target_at(w->g, lid)->sw;
		sw = w->g->edges[e].peer;
	}
	return false;
}

/* Looks for turns from down to up, and for entries that lead to no switch. The
 * LID of a port 0 may have turns that no data makes: behind each its path must
 * arrive. */
static void
web_scan_row(struct web *w, uint32_t a, uint32_t b, uint32_t sw,
	     const uint64_t *lids)
{
	const uint64_t *up = w->up[a] + (size_t)sw * w->n_blocks;
	uint32_t end = w->tables[a]->top + 1u, block, lid, e;
	const uint64_t *behind[GRAPH_PORTS] = { NULL };
	const uint8_t *row = lft_row(w->tables[a], sw);
	const struct graph_target *target;
	uint64_t rest;

	for_each_edge(w->g, sw, e)
		behind[w->g->edges[e].port] = w->up[b] +
			(size_t)w->g->edges[e].peer * w->n_blocks;
	for (block = 0; block * LFT_BLOCK < end; block++) {
		rest = ~up[block] & (lids ? lids[block] : UINT64_MAX);
		if (block == 0)		/* no LID */
			rest &= ~UINT64_C(1);
		if (end - block * LFT_BLOCK < LFT_BLOCK)
			rest &= (UINT64_C(1) << end % LFT_BLOCK) - 1;
		for_each_bit(rest, block * LFT_BLOCK, lid) {
			/* A LID that stops elsewhere than at its owner does
			 * not arrive everywhere. */
			if (!behind[row[lid]]) {
				target = a == 0 && w->whole ?
					graph_target_at(w->g, lid) : NULL;
				if (target && (target->sw != sw ||
					       target->port != row[lid]))
					w->whole[lid] = 0;
				continue;
			}
			if (!(behind[row[lid]][block] >> lid % LFT_BLOCK & 1))
				continue;
			w->walked[lid] |= w->quiet[lid];
			e = graph_edge_at(w->g, sw, row[lid]);
			if (w->whole && w->quiet[lid])
				w->whole[lid] &= web_arrives(w, lid,
					w->g->edges[e].peer);
			if (!w->quiet[lid])
				web_add_odd(w, lid, e, web_entry(w, b,
					w->g->edges[e].peer, lid));
		}
	}
}

/* Runs web_scan_row() over all switches. ranks NULL: only for entries that
 * lead to no switch. */
static void
web_scan_all(struct web *w, const uint32_t *ranks)
{
	const struct graph *g = w->g;
	uint32_t sw, e, t;

	w->is_up = SCRATCH(w->scratch, uint8_t, (size_t)g->n_switches *
			   GRAPH_PORTS);
	w->odd = SCRATCH(w->scratch, uint8_t, w->top);
	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e)
			w->is_up[(size_t)sw * GRAPH_PORTS + g->edges[e].port] =
				!ranks || channels_is_up(ranks, sw,
							 g->edges[e].peer);
	for (t = 0; t < w->n_tables; t++) {
		w->up[t] = SCRATCH(w->scratch, uint64_t,
				   (size_t)g->n_switches * w->n_blocks);
		for (sw = 0; sw < g->n_switches; sw++)
			web_find_up(w, t, sw);
	}
	web_look_all(w, web_scan_row);
}

/* Adds all turns that the order permits and the tables' other ones. */
static void
web_load_ordered(struct web *w, const uint32_t *ranks)
{
	web_scan_all(w, ranks);
	web_walk_all(w, web_add_odd);
	channels_add_order(w->c, ranks);
}

static void
web_add_tables(struct web *w)
{
	web_look_all(w, web_join_row);
	memcpy(w->walked, w->quiet, w->top + 1u);
	web_walk_all(w, web_add_turn);
}

/* The turns of the tables alone. */
static void
web_load(struct web *w)
{
	memset(w->c->turns, 0, channels_size(w->g));
	web_add_tables(w);
}

void
channels_add_tables(struct channels *c, const struct lft *lft)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct web w;

	web_init(&w, c, lft, NULL, NULL, scratch);
	web_add_tables(&w);
}

bool
channels_load(struct channels **c, const struct graph *g,
	      const struct lft *lft, const struct lft *before,
	      const uint32_t *ranks)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct web w;

	channels_free(*c);
	*c = channels_new(g);
	web_init(&w, *c, lft, before, NULL, scratch);
	if (ranks) {
		web_load_ordered(&w, ranks);
		if (channels_sort(*c))
			return true;
	}
	web_load(&w);
	return channels_sort(*c);
}

/* ---- which LID it was ---- */

/* Do the tables turn packets to this LID from `edge` to this port? */
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

/* The lowest LID whose entries make the turn, of CAs if there is one. */
static uint16_t
web_find_lid(const struct web *w, uint32_t edge, uint8_t port)
{
	uint32_t quiet, lid;

	for (quiet = 0; quiet < 2; quiet++)
		for (lid = LID_UNICAST_MIN; lid <= w->top; lid++)
			if (w->quiet[lid] == quiet &&
			    web_lid_turns(w, edge, port, lid))
				return (uint16_t)lid;
	g_assert_not_reached();
}

/* The shortest loop through `start`, breadth first. */
static GArray *
web_find_cycle(struct web *w, const uint8_t *looped, uint32_t start)
{
	GArray *cycle = g_array_new(FALSE, FALSE, sizeof(struct channel_turn));
	uint32_t n = w->g->n_edges, head = 0, tail = 0, e = start, next, k;
	uint32_t list[GRAPH_PORTS];
	g_autofree uint32_t *from = g_new(uint32_t, n);
	g_autofree uint32_t *queue = g_new(uint32_t, n + 1); /* start is in
							        it twice */
	struct channel_turn turn;

	memset(from, 0xff, n * sizeof(*from));
	queue[tail++] = start;
	while (from[start] == UNSEEN && head < tail) {
		e = queue[head++];
		for (n = channels_list(w->c, e, list), k = 0; k < n; k++)
			if (looped[list[k]] && from[list[k]] == UNSEEN) {
				from[list[k]] = e;
				queue[tail++] = list[k];
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
channels_check_ordered(const struct graph *g, const struct lft *lft,
		       const struct lft *before, const uint32_t *ranks,
		       uint8_t *whole, struct channels_result *r)
{
	struct channels *c = channels_new(g);
	g_autoptr(GPtrArray) scratch = scratch_new();
	bool is_sound = false;
	const uint64_t *words;
	uint32_t e, lid, n, next[GRAPH_PORTS];
	struct web w;

	*r = (struct channels_result){ 0 };
	web_init(&w, c, lft, before, whole, scratch);
	if (ranks) {
		web_load_ordered(&w, ranks);
		is_sound = !w.any_odd || channels_sort(c);
	} else if (whole) {
		web_scan_all(&w, NULL);
		memcpy(w.odd, w.quiet, w.top + 1u);
	}
	if (!is_sound) {
		web_load(&w);
		r->looped = channels_sort(c) ? NULL : channels_find_looped(c);
	}
	for (e = 0; !is_sound && e < g->n_edges; e++) {
		words = channels_mask(g, c->turns, e);
		for (n = 0; n < g->n_words && !words[n];)
			n++;
		r->n_channels += n < g->n_words;
		r->n_dependencies += channels_list(c, e, next);
	}
	/* LIDs with turns only up and down, or without a loop */
	for (lid = 0; whole && lid <= g->top; lid++)
		whole[lid] &= is_sound || (lid <= w.top && !w.odd[lid] &&
					   (ranks || !r->looped));
	for (e = 0; r->looped && e < g->n_edges; e++) {
		if (r->looped[e] && !r->cycle)
			r->cycle = web_find_cycle(&w, r->looped, e);
		r->n_looped += r->looped[e];
	}
	channels_free(c);
}
