/*
 * Transfers: where traffic may come down and go up again.
 *
 * Purpose. A CA whose leaf lost the cable to a plane has no way up and then
 * down to a port 0 of that plane; in a tree with many cables gone there are
 * CAs like that. Some way there is. It must turn from down to up somewhere,
 * and if everybody did so where he liked, channels would wait for each other
 * in a circle.
 *
 * The members. Whether two switches have a way up and then down depends on
 * nothing but whether some top is above both. So it is tops that have to be
 * joined. Take one switch, the root, with as many tops above it as any; it
 * and all that is above it are members. In a fat tree each of those has one
 * child among the members, so they are a tree hanging upside down. Members may
 * turn a packet that came down from one parent up to another, in their tree:
 * down towards the root, then up again, away from it. Order all channels: up,
 * except the next two; between members towards the root; between members away
 * from it; all others, which lead down. No turn goes back in this order. One
 * that would is from a member up to a parent and down to another of its
 * children among the members, and there is none.
 *   Tops that are not above the root are joined on one after the other, by a
 * switch that has both old and new ones above it: what comes down to it from
 * old ones may go up to new ones and back, but not from one old to another.
 *
 * Proof. Trees that are none by damage or by birth may have members with two
 * such children, so the above is not relied on: after each step the graph of
 * all channels, with all turns that go up, or up and then down, or down, and
 * those of the transfers, is put in order, as A. B. Kahn does it. What leaves
 * a cycle is undone and another switch is tried. The graph never holds its
 * turns one by one: what a switch waits for are counts of channels, so a step
 * costs what there are cables.
 *
 * Ways. To one destination: members that have a way in the tree are the goal;
 * the others go through the tree of the members to the nearest goal, with no
 * turn that is not allowed. Who is no member goes up until he meets one. Hence
 * ways end, and all who pass a switch agree on where to go.
 *
 * Source. W. J. Dally and C. L. Seitz, 1987, for channel dependencies; A. B.
 * Kahn, "Topological sorting of large networks", 1962.
 */
#include "routing/ftree_transfer.h"

#include <string.h>

#define MAX_TRIES	16u	/* switches tried as a root, on an island */
#define NO_CLASS	255u
#define OUTSIDE		SUBNET_NONE

struct transfer {
	struct detour *d;
	const struct tree *t;
	const struct graph *g;
	uint32_t *edge_of;	/* graph_map_ports() */
	uint32_t n_top_words;
	uint64_t *tops;		/* switch -> tops above it */
	uint64_t *joined;	/* tops that members have, of all islands */
	uint32_t *parent;	/* member -> the next towards the root */
	uint32_t *child;	/* member -> its first one away from it */
	uint32_t *sibling;	/* member -> next child of its parent */
	uint32_t *members;	/* in the order in which they came */
	uint32_t n_members;
	uint8_t *class_of;	/* by group up: turns between classes */
	uint32_t *root;		/* by island */
	uint32_t *queue;
	/* to put channels in order */
	uint32_t *n_below, *n_above;	/* channels to come from there */
	uint32_t *widest;	/* cables to one neighbour below, at most */
	uint8_t *done;		/* by edge: the channel out of its switch */
	uint8_t *waits;		/* switch is in the queue */
	uint8_t *open;		/* switch: all its parents are classes */
};

static uint64_t *
transfer_tops(const struct transfer *x, uint32_t sw)
{
	return x->tops + (size_t)sw * x->n_top_words;
}

static bool
transfer_meets(const struct transfer *x, uint32_t sw, uint64_t flip)
{
	const uint64_t *mine = transfer_tops(x, sw);
	uint32_t i;

	for (i = 0; i < x->n_top_words; i++)
		if (mine[i] & (x->joined[i] ^ flip))
			return true;
	return false;
}

static bool
transfer_has_old(const struct transfer *x, uint32_t sw)
{
	return transfer_meets(x, sw, 0);
}

static bool
transfer_has_new(const struct transfer *x, uint32_t sw)
{
	return transfer_meets(x, sw, UINT64_MAX);
}

static void
transfer_find_tops(struct transfer *x)
{
	const struct tree *t = x->t;
	uint32_t n = x->g->n_switches, i, j, k, sw, n_tops = 0;
	const uint64_t *theirs;
	uint64_t *mine;

	for (sw = 0; sw < n; sw++)
		n_tops += t->first_up[sw] == t->first_up[sw + 1];
	x->n_top_words = (n_tops + 63) / 64;
	x->tops = g_new0(uint64_t, (size_t)n * x->n_top_words);
	x->joined = g_new0(uint64_t, x->n_top_words);
	for (n_tops = 0, i = n; i > 0; i--) {	/* parents first */
		sw = t->climb[i - 1];
		mine = transfer_tops(x, sw);
		if (t->first_up[sw] == t->first_up[sw + 1]) {
			mine[n_tops / 64] |= UINT64_C(1) << n_tops % 64;
			n_tops++;
		}
		for (j = t->first_up[sw]; j < t->first_up[sw + 1]; j++) {
			theirs = transfer_tops(x, t->ups[j].peer);
			for (k = 0; k < x->n_top_words; k++)
				mine[k] |= theirs[k];
		}
	}
}

/* Does a channel between these two go up? */
static bool
transfer_is_up(const struct transfer *x, uint32_t from, uint32_t to)
{
	return x->t->place[to] > x->t->place[from];
}

static uint8_t
transfer_class(const struct transfer *x, uint32_t sw, uint32_t above)
{
	const struct tree *t = x->t;
	uint32_t i;

	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
		if (t->ups[i].peer == above)
			return x->class_of[i];
	return NO_CLASS;
}

static bool
transfer_may_turn(const struct transfer *x, uint32_t from, uint32_t at,
		  uint32_t to)
{
	uint8_t a, b;

	if (from == to)
		return false;
	if (transfer_is_up(x, from, at) || !transfer_is_up(x, at, to))
		return true;
	a = transfer_class(x, at, from);
	b = transfer_class(x, at, to);
	return a != NO_CLASS && b != NO_CLASS && a != b;
}

/* Is the cable one that data may take? */
static bool
transfer_counts(const struct transfer *x, uint32_t sw, uint32_t peer)
{
	return x->d->n_rescued > 0 ||
		ABS((int)x->t->rank[sw] - (int)x->t->rank[peer]) == 1;
}

/* All channels that are still to be put in order; gives back how many. */
static uint32_t
transfer_count_channels(struct transfer *x)
{
	const struct graph *g = x->g;
	uint32_t sw, e, peer, n = 0, run = 0;

	memset(x->n_below, 0, g->n_switches * sizeof(*x->n_below));
	memset(x->n_above, 0, g->n_switches * sizeof(*x->n_above));
	memset(x->widest, 0, g->n_switches * sizeof(*x->widest));
	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			x->done[e] = !transfer_counts(x, sw, peer);
			if (x->done[e])
				continue;
			n++;
			run = e > g->first_edge[sw] &&
				g->edges[e - 1].peer == peer ? run + 1 : 1;
			if (transfer_is_up(x, sw, peer)) {
				x->n_below[peer]++;
				x->n_above[sw]++;
			} else {
				x->widest[sw] = MAX(x->widest[sw], run);
			}
		}
	return n;
}

/* Channels from `peer` that are still to come, by the cables e to end - 1. */
static uint32_t
transfer_count_from(const struct transfer *x, uint32_t e, uint32_t end)
{
	uint32_t n = 0;

	for (; e < end; e++)
		n += !x->done[x->g->edges[e].back];
	return n;
}

/* Channels from above that may turn up, by class. False: none may. */
static bool
transfer_count_classes(const struct transfer *x, uint32_t sw,
		       uint32_t count[NO_CLASS + 1])
{
	const struct tree *t = x->t;
	const struct tree_group *group;
	uint32_t i, n;

	if (t->first_up[sw] == t->first_up[sw + 1] ||
	    x->class_of[t->first_up[sw]] == NO_CLASS)
		return false;
	memset(count, 0, (NO_CLASS + 1) * sizeof(*count));
	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
		group = &t->ups[i];
		n = transfer_count_from(x, group->first_edge,
					group->first_edge + group->n_cables);
		count[x->class_of[i]] += n;
		count[NO_CLASS] += n;
	}
	return true;
}

static void
transfer_pass(struct transfer *x, uint32_t sw, uint32_t e, uint32_t *tail)
{
	uint32_t peer = x->g->edges[e].peer;

	x->done[e] = 1;
	if (transfer_is_up(x, sw, peer))
		x->n_below[peer]--;
	else
		x->n_above[peer]--;
	if (!x->waits[peer]) {
		x->waits[peer] = 1;
		x->queue[(*tail)++ % (x->g->n_switches + 1)] = peer;
	}
}

/* Passes the channels out of `sw` that wait for no other. */
static uint32_t
transfer_release(struct transfer *x, uint32_t sw, uint32_t *tail)
{
	const struct graph *g = x->g;
	uint32_t count[NO_CLASS + 1], e, next, end = g->first_edge[sw + 1];
	uint32_t peer, n = 0;
	bool ready, turns;

	if (x->n_below[sw] > x->widest[sw])
		return 0;
	turns = transfer_count_classes(x, sw, count);
	for (e = g->first_edge[sw]; e < end; e = next) {
		peer = g->edges[e].peer;
		for (next = e + 1; next < end; next++)
			if (g->edges[next].peer != peer)
				break;
		if (x->done[e])
			continue;
		if (!transfer_is_up(x, sw, peer))
			ready = x->n_above[sw] == 0 && x->n_below[sw] ==
				transfer_count_from(x, e, next);
		else if (turns && transfer_class(x, sw, peer) != NO_CLASS)
			ready = x->n_below[sw] == 0 && count[NO_CLASS] ==
				count[transfer_class(x, sw, peer)];
		else
			ready = x->n_below[sw] == 0;
		for (; ready && e < next; e++, n++)
			transfer_pass(x, sw, e, tail);
	}
	return n;
}

/* True if the channels can be put in order. */
static bool
transfer_is_safe(struct transfer *x)
{
	uint32_t n = x->g->n_switches, n_left, head, tail;

	n_left = transfer_count_channels(x);
	memcpy(x->queue, x->t->climb, n * sizeof(*x->queue));
	memset(x->waits, 1, n);
	for (head = 0, tail = n; head != tail; head++) {
		x->waits[x->queue[head % (n + 1)]] = 0;
		n_left -= transfer_release(x, x->queue[head % (n + 1)],
					   &tail);
	}
	return n_left == 0;
}

static void
transfer_add(struct transfer *x, uint32_t sw, uint32_t parent)
{
	uint32_t i;

	x->parent[sw] = parent;
	x->child[sw] = OUTSIDE;
	if (sw != parent) {
		x->sibling[sw] = x->child[parent];
		x->child[parent] = sw;
	}
	x->members[x->n_members++] = sw;
	for (i = 0; i < x->n_top_words; i++)
		x->joined[i] |= transfer_tops(x, sw)[i];
}

/* Back to n members. */
static void
transfer_shrink(struct transfer *x, uint32_t n, const uint64_t *joined)
{
	const struct tree *t = x->t;
	uint32_t sw, i;

	while (x->n_members > n) {
		sw = x->members[--x->n_members];
		if (x->parent[sw] != sw)
			x->child[x->parent[sw]] = x->sibling[sw];
		x->parent[sw] = OUTSIDE;
		x->open[sw] = 0;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
			x->class_of[i] = NO_CLASS;
	}
	memcpy(x->joined, joined, x->n_top_words * sizeof(*joined));
}

/* All above the members from number `from` on, each parent a class. */
static void
transfer_add_above(struct transfer *x, uint32_t from)
{
	const struct tree *t = x->t;
	uint32_t sw, i;

	for (; from < x->n_members; from++) {
		sw = x->members[from];
		x->open[sw] = 1;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
			x->class_of[i] = (uint8_t)(i - t->first_up[sw]);
			if (x->parent[t->ups[i].peer] == OUTSIDE)
				transfer_add(x, t->ups[i].peer, sw);
		}
	}
}

/* The members on a way up from `sw` to the old ones. */
static void
transfer_add_chain(struct transfer *x, uint32_t sw)
{
	const struct tree *t = x->t;
	uint32_t chain[256], n = 0, i;

	for (; x->parent[sw] == OUTSIDE; sw = t->ups[i].peer) {
		chain[n++] = sw;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
			if (!transfer_has_new(x, t->ups[i].peer))
				break;
		g_assert(i < t->first_up[sw + 1]);
	}
	for (; n > 0; sw = chain[n])
		transfer_add(x, chain[--n], sw);
}

/* Joins the new tops above `sw` to the old ones. */
static void
transfer_join(struct transfer *x, uint32_t sw)
{
	const struct tree *t = x->t;
	uint32_t first, from, i;

	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
		if (transfer_has_old(x, t->ups[i].peer) &&
		    transfer_has_new(x, t->ups[i].peer)) {
			sw = t->ups[i].peer;
			i = t->first_up[sw] - 1;
		}
	first = t->first_up[sw];
	for (i = first; i < t->first_up[sw + 1]; i++)
		x->class_of[i] = transfer_has_new(x, t->ups[i].peer) ?
			(uint8_t)(i - first + 1) : 0;
	for (i = first; x->class_of[i] != 0; i++)
		;
	transfer_add_chain(x, t->ups[i].peer);
	transfer_add(x, sw, t->ups[i].peer);
	from = x->n_members;
	for (i = first; i < t->first_up[sw + 1]; i++)
		if (x->class_of[i] != 0 &&
		    x->parent[t->ups[i].peer] == OUTSIDE)
			transfer_add(x, t->ups[i].peer, sw);
	transfer_add_above(x, from);
}

static uint32_t
transfer_count_new(const struct transfer *x, uint32_t sw)
{
	const uint64_t *mine = transfer_tops(x, sw);
	uint32_t i, n = 0;

	for (i = 0; i < x->n_top_words; i++)
		n += (uint32_t)__builtin_popcountll(mine[i] & ~x->joined[i]);
	return n;
}

/* Who may come next, and the new tops above it; 0: not this one. */
static uint32_t
transfer_weigh(const struct transfer *x, uint32_t sw, uint32_t island,
	       const uint8_t *tried)
{
	uint32_t n;

	if (x->t->island[sw] != island || tried[sw] ||
	    x->parent[sw] != OUTSIDE)
		return 0;
	n = transfer_count_new(x, sw);
	if (x->root[island] == OUTSIDE)
		return n > 1 ? n : 0;
	return n > 0 && transfer_has_old(x, sw) ? n : 0;
}

/* The switch with most new tops above it, the lowest of those; for the root
 * the lowest that has nearly as many, or it would move with each cable. */
static uint32_t
transfer_find_best(const struct transfer *x, uint32_t island,
		   const uint8_t *tried)
{
	uint32_t best = OUTSIDE, most = 0, i, n;

	for (i = 0; i < x->g->n_switches; i++) {
		n = transfer_weigh(x, x->t->climb[i], island, tried);
		if (n <= most)
			continue;
		best = x->t->climb[i];
		most = n;
	}
	for (i = 0; x->root[island] == OUTSIDE && i < x->g->n_switches; i++) {
		n = transfer_weigh(x, x->t->climb[i], island, tried);
		if (n > 0 && n * 4 >= most * 3)
			return x->t->climb[i];
	}
	return best;
}

/* Adds a root, or joins to it, as long as something can be had by it. */
static void
transfer_connect(struct transfer *x, uint32_t island)
{
	uint32_t n = x->g->n_switches, sw, n_before, tries = 0;
	g_autofree uint8_t *tried = g_new0(uint8_t, n);
	g_autofree uint64_t *joined = NULL;

	while (tries < MAX_TRIES) {
		sw = transfer_find_best(x, island, tried);
		if (sw == OUTSIDE)
			return;
		g_free(joined);
		joined = g_memdup2(x->joined,
				   x->n_top_words * sizeof(*x->joined));
		n_before = x->n_members;
		if (x->root[island] == OUTSIDE) {
			transfer_add(x, sw, sw);
			transfer_add_above(x, n_before);
		} else {
			transfer_join(x, sw);
		}
		if (!transfer_is_safe(x)) {
			transfer_shrink(x, n_before, joined);
			tried[sw] = 1;
			tries++;
		} else if (x->root[island] == OUTSIDE) {
			x->root[island] = sw;
		}
	}
}

struct transfer *
transfer_new(struct detour *d)
{
	struct transfer *x = g_new0(struct transfer, 1);
	uint32_t n = d->t->g->n_switches, sw;

	x->d = d;
	x->t = d->t;
	x->g = d->t->g;
	x->edge_of = graph_map_ports(x->g);
	x->parent = g_new(uint32_t, n);
	x->child = g_new(uint32_t, n);
	x->sibling = g_new(uint32_t, n);
	x->members = g_new(uint32_t, n);
	x->class_of = g_malloc(x->t->first_up[n] + 1u);
	x->root = g_new(uint32_t, n);
	x->queue = g_new(uint32_t, n + 1);
	x->n_below = g_new(uint32_t, n);
	x->n_above = g_new(uint32_t, n);
	x->widest = g_new(uint32_t, n);
	x->done = g_malloc(x->g->n_edges + 1u);
	x->waits = g_malloc(n);
	x->open = g_new0(uint8_t, n);
	memset(x->class_of, (int)NO_CLASS, x->t->first_up[n] + 1u);
	for (sw = 0; sw < n; sw++)
		x->parent[sw] = x->root[sw] = OUTSIDE;
	transfer_find_tops(x);
	for (sw = 0; sw < n; sw++)
		if (x->t->island[sw] == sw)
			transfer_connect(x, sw);
	return x;
}

void
transfer_free(struct transfer *x)
{
	g_free(x->edge_of);
	g_free(x->tops);
	g_free(x->joined);
	g_free(x->parent);
	g_free(x->child);
	g_free(x->sibling);
	g_free(x->members);
	g_free(x->class_of);
	g_free(x->root);
	g_free(x->queue);
	g_free(x->n_below);
	g_free(x->n_above);
	g_free(x->widest);
	g_free(x->done);
	g_free(x->waits);
	g_free(x->open);
	g_free(x);
}

uint32_t
transfer_root(const struct transfer *x, uint32_t sw)
{
	return x->root[x->t->island[sw]];
}

/* May the way of one LID go from `from` to `at` and on from there? */
static bool
transfer_lid_fits(const struct transfer *x, uint32_t from, uint32_t at,
		  uint32_t lid)
{
	uint8_t port = lft_row(x->d->out, at)[lid];
	uint32_t e = x->edge_of[at * GRAPH_PORTS + port];

	return e != SUBNET_NONE &&
		transfer_may_turn(x, from, at, x->g->edges[e].peer);
}

/* The same for all LIDs of a destination to which `at` has a way. */
static bool
transfer_fits(const struct transfer *x, uint32_t from, uint32_t at,
	      uint32_t dest)
{
	const struct fill *f = x->d->f;
	uint32_t i;

	if (at == x->t->switch_of[dest])
		return true;
	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++)
		if (!transfer_lid_fits(x, from, at, f->lid[i]))
			return false;
	for (i = 0; i < f->n_own[dest]; i++)
		if (!transfer_lid_fits(x, from, at, f->own_lid[dest] + i))
			return false;
	return true;
}

/* Can no way from `from` to `at` make a turn that is not allowed? Where all
 * parents are classes of their own it cannot: who goes on to the very parent
 * that asks would have that parent's way. */
static bool
transfer_is_open(const struct transfer *x, uint32_t from, uint32_t at)
{
	return x->d->n_rescued == 0 &&
		(transfer_is_up(x, from, at) || x->open[at]);
}

/* One port for all LIDs on a destination. */
static void
transfer_put(struct transfer *x, uint32_t sw, uint32_t dest, uint8_t port)
{
	const struct fill *f = x->d->f;
	uint8_t *row = lft_row(x->d->out, sw);
	uint32_t i;

	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++)
		row[f->lid[i]] = port;
	fill_put_own(f, row, dest, port);
}

static uint8_t
transfer_port_to(const struct transfer *x, uint32_t sw, uint32_t peer)
{
	const struct graph *g = x->g;
	uint32_t e = g->first_edge[sw];

	while (g->edges[e].peer != peer)
		e++;
	return g->edges[e].port;
}

/* Member `sw` takes from its neighbour `at` all ways that it has not. True if
 * there were any. */
static bool
transfer_ask(struct transfer *x, uint32_t sw, uint32_t at)
{
	uint64_t *mine = detour_set(x->d, sw), word, bit;
	const uint64_t *theirs = detour_set(x->d, at);
	uint8_t port = transfer_port_to(x, sw, at);
	bool open = transfer_is_open(x, sw, at), any = false;
	uint32_t w, dest;

	for (w = 0; w < x->t->n_words; w++)
		for (word = theirs[w] & ~mine[w]; word; word &= word - 1) {
			bit = word & -word;
			dest = w * 64 + (uint32_t)__builtin_ctzll(word);
			if (!open && !transfer_fits(x, sw, at, dest))
				continue;
			transfer_put(x, sw, dest, port);
			mine[w] |= bit;
			any = true;
		}
	return any;
}

/* The members' ways, from one to the next through their tree. A way is only
 * taken from one who has it, hence it ends. */
static void
transfer_route_members(struct transfer *x)
{
	uint32_t i, sw, child;
	bool again;

	do {
		again = false;
		for (i = x->n_members; i > 0; i--) {
			sw = x->members[i - 1];
			for (child = x->child[sw]; child != OUTSIDE;
			     child = x->sibling[child])
				again |= transfer_ask(x, sw, child);
		}
		for (i = 0; i < x->n_members; i++) {
			sw = x->members[i];
			if (x->parent[sw] != sw)
				again |= transfer_ask(x, sw, x->parent[sw]);
		}
	} while (again);
}

/* Destinations to which all members of an island have ways. */
static void
transfer_find_clear(const struct transfer *x, uint32_t island,
		    uint64_t *clear)
{
	const uint64_t *theirs;
	uint32_t i, w, n = 0;

	memset(clear, 0xff, x->t->n_words * sizeof(*clear));
	for (i = 0; i < x->n_members; i++) {
		if (x->t->island[x->members[i]] != island)
			continue;
		theirs = detour_set(x->d, x->members[i]);
		for (w = 0; w < x->t->n_words; w++)
			clear[w] &= theirs[w];
		n++;
	}
	if (n == 0)
		memset(clear, 0, x->t->n_words * sizeof(*clear));
}

/* Cables up to members, or to those who go up to one: all of them, and by what
 * the formula calls them. */
struct ascent {
	uint32_t n;
	uint8_t port[256];
	uint8_t by_slot[256];	/* LFT_NO_PATH: none */
};

static void
transfer_find_ascent(const struct transfer *x, uint32_t sw,
		     struct ascent *ascent)
{
	const struct tree *t = x->t;
	const struct tree_group *group;
	uint32_t i, j, q;

	ascent->n = 0;
	memset(ascent->by_slot, (int)LFT_NO_PATH, sizeof(ascent->by_slot));
	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
		group = &t->ups[i];
		if (!transfer_has_old(x, group->peer))
			continue;
		for (j = 0; j < group->n_cables; j++) {
			ascent->port[ascent->n++] =
				x->g->edges[group->first_edge + j].port;
			q = group->slot +
				j * t->levels[t->rank[sw] + 1u].width;
			if (q < TREE_MAX_WHEEL)
				ascent->by_slot[q] =
					ascent->port[ascent->n - 1];
		}
	}
}

/* As the formula says: who went up when all was well goes on to do so by the
 * same cables. */
static void
transfer_put_up(struct transfer *x, uint32_t sw, uint32_t dest,
		const struct ascent *ascent)
{
	const struct fill *f = x->d->f;
	uint8_t *row = lft_row(x->d->out, sw), port;
	uint8_t other = ascent->port[x->t->turn[sw] % ascent->n];
	const uint8_t *wheel = f->up_wheel[x->t->rank[sw]];
	uint32_t i;

	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++) {
		port = ascent->by_slot[wheel[i]];
		row[f->lid[i]] = port == LFT_NO_PATH ? other : port;
	}
	fill_put_own(f, row, dest, other);
}

/* Who is no member goes up. */
static void
transfer_route_other(struct transfer *x, uint32_t sw, const uint64_t *clear)
{
	uint64_t *mine = detour_set(x->d, sw), word;
	struct ascent ascent;
	uint32_t w;

	transfer_find_ascent(x, sw, &ascent);
	if (ascent.n == 0)
		return;
	for (w = 0; w < x->t->n_words; w++) {
		word = clear[w] & ~mine[w];
		mine[w] |= word;
		for (; word; word &= word - 1)
			transfer_put_up(x, sw, w * 64 +
					(uint32_t)__builtin_ctzll(word),
					&ascent);
	}
}

void
transfer_route(struct transfer *x)
{
	g_autofree uint64_t *clear = g_new(uint64_t, x->t->n_words);
	uint32_t n = x->g->n_switches, island = SUBNET_NONE, i, sw;

	transfer_route_members(x);
	for (i = 0; i < n; i++) {
		sw = x->t->climb[i];
		if (x->parent[sw] != OUTSIDE ||
		    x->root[x->t->island[sw]] == OUTSIDE)
			continue;
		if (island != x->t->island[sw]) {
			island = x->t->island[sw];
			transfer_find_clear(x, island, clear);
		}
		transfer_route_other(x, sw, clear);
	}
}
