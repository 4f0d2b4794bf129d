// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The routing engine for fat trees: complete, slimmed, with parallel cables,
 * damaged, and with irregularities such as hosts on spines.
 *
 * Method. The order of the switches gives levels (order.c). A formula gives
 * each switch and LID an output port by division (ftree_tree.c, ftree_fill.c),
 * so a lost cable moves little more than the paths through it. Destinations
 * that the formula does not reach over cables between adjacent levels get paths
 * over other cables and with verified turns (turns.c). If the fabric is not a
 * regular tree, entries that overload a channel are then changed (balance.c).
 *
 * Safety. All paths go up and then down in the order, or take verified turns:
 * no credit loop on one VL. A pair without such a path gets no entries: no path
 * is better than a path that can block all others.
 *
 * Reference. E. Zahavi, "Fat-trees routing and node ordering providing
 * contention free traffic for MPI global collectives", 2011; J. Gliksberg et
 * al., arXiv 2211.11817 (Dmodc).
 */
#include "routing/ftree.h"

#include <string.h>

#include "routing/balance.h"
#include "routing/mend.h"
#include "routing/sets.h"

/* Entries are balanced on fabrics with up to so many CAs times switches, or
 * if more than one in so many pairs of a switch and a destination is not
 * served by the formula alone. */
#define SMALL		4000000u
#define FEW		200u

struct completion {
	struct ftree *t;
	struct turns *turns;
	struct lft *out;
	uint64_t *reach;	/* [switch]: destinations */
	uint32_t *next, *list;
	uint16_t *hops;
	float *cost;
};

static bool
ftree_accept(const struct ftree *t, GError **error)
{
	uint32_t n_cables = t->g->n_edges / 2, n_hosts = t->g->n_all_hosts;
	uint32_t n_above = 0, sw;

	for (sw = 0; sw < t->g->n_switches; sw++)
		n_above += t->o->level[sw] ? t->g->n_hosts[sw] : 0;
	if (n_hosts == 0)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "not a fat tree: no switch has a CA, so there are "
			    "no leaves");
	else if (n_cables && t->o->n_strays * 2 >= n_cables)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "not a fat tree: %u of %u cables between switches "
			    "do not join adjacent levels (%u levels)",
			    t->o->n_strays, n_cables, t->o->n_levels);
	else if (n_above * 2 > n_hosts)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "not a fat tree: %u of %u CA ports are above the "
			    "leaves", n_above, n_hosts);
	else
		return true;
	return false;
}

/* The destinations, as a set, that carry data and that the formula does not
 * reach from everywhere. Fills c->reach. */
static uint64_t *
complete_find_needed(struct completion *c)
{
	const struct ftree *t = c->t;
	uint32_t n = t->g->n_switches, sw, k, w, i;
	uint64_t *needed = g_new0(uint64_t, t->n_words), word, *reach;
	g_autofree uint64_t *hosts = g_new0(uint64_t, t->n_words);
	g_autofree uint64_t *mine = g_new0(uint64_t, (size_t)n * t->n_words);

	for (i = 0; i < n; i++) {
		sw = t->o->climb[i];
		set_add(mine + (size_t)t->g->island[sw] * t->n_words, i);
		if (t->g->n_hosts[sw])
			set_add(hosts, i);
	}
	for (sw = 0; sw < n; sw++) {
		reach = c->reach + (size_t)sw * t->n_words;
		for (k = 0; k < t->n_sets; k++)
			set_unite(reach, ftree_set(t, sw, k), t->n_words);
		for (w = 0; w < t->n_words; w++) {
			word = mine[(size_t)t->g->island[sw] * t->n_words + w] &
				~reach[w];
			needed[w] |= t->g->n_hosts[sw] ? word :
				word & hosts[w];
		}
	}
	return needed;
}

/* Adds paths to the LIDs of a destination. True: all data has a path now. */
static bool
complete_destination(struct completion *c, uint32_t dest)
{
	const struct ftree *t = c->t;
	uint32_t n = 0, n_done, to = t->o->climb[dest], i, k, sw, entry;
	uint16_t lid;

	for (sw = 0; sw < t->g->n_switches; sw++) {
		if (!set_has(c->reach + (size_t)sw * t->n_words, dest)) {
			c->list[n++] = sw;
			continue;
		}
		for (k = 0; !set_has(ftree_set(t, sw, k), dest); k++)
			;
		c->hops[sw] = (uint16_t)(2 * k + t->o->level[sw] -
					 t->o->level[to]);
	}
	n_done = n;
	for (entry = t->first_entry[dest]; entry < t->first_entry[dest + 1];
	     entry++) {
		lid = t->lid[entry];
		for (sw = 0; sw < t->g->n_switches; sw++)
			c->next[sw] = graph_edge_at(t->g, sw,
						   lft_row(c->out, sw)[lid]);
		n_done = turns_extend(c->turns, to, c->next, c->hops, c->list,
				      n, c->cost);
		for (i = 0; i < n_done; i++) {
			sw = c->list[i];
			lft_row(c->out, sw)[lid] =
				t->g->edges[c->next[sw]].port;
			c->cost[c->next[sw]]++;
			set_add(c->reach + (size_t)sw * t->n_words, dest);
		}
	}
	for (i = n_done; i < n; i++)
		if (t->g->n_hosts[to] || t->g->n_hosts[c->list[i]])
			return false;
	return true;
}

/*
 * Paths between switches without CAs, which carry no data and may go anywhere:
 * to the lowest switch with a path, so that they go down and up where turns
 * would be added if cables were lost. Other paths would have loops with the
 * tables after such a loss. They get no data, since every switch with data has
 * a path already.
 */
static void
ftree_manage(struct completion *c, const uint64_t *quiet)
{
	const struct ftree *t = c->t;
	uint32_t n = t->g->n_switches, dest, i, sw, entry, root;
	uint32_t *roots = SCRATCH(t->scratch, uint32_t, n);
	const uint64_t *reach;
	uint8_t *row;

	for (dest = 0; dest < n; dest++) {
		roots[dest] = n;
		for (i = 0; i < n && roots[dest] == n && set_has(quiet, dest);
		     i++)
			if (i != dest && set_has(c->reach + t->n_words *
					(size_t)t->o->climb[i], dest))
				roots[dest] = i;
	}
	for (i = 0; i < n; i++) {
		sw = t->o->climb[i];
		reach = c->reach + (size_t)sw * t->n_words;
		row = lft_row(c->out, sw);
		for (dest = 0; dest < n && !t->g->n_senders[sw]; dest++) {
			root = roots[dest];
			if (root == n || set_has(reach, dest) ||
			    !set_has(reach, root))
				continue;
			for (entry = t->first_entry[dest];
			     entry < t->first_entry[dest + 1]; entry++)
				row[t->lid[entry]] =
					row[t->lid[t->first_entry[root]]];
		}
	}
}

/* Marks switches in held[] whose LIDs the formula does not serve; returns
 * how many. */
static uint32_t
ftree_complete(struct ftree *t, struct turns *turns, struct lft *out,
	       uint8_t *held)
{
	uint32_t n = t->g->n_switches, dest, n_failed = 0;
	struct completion c = {
		.t = t, .turns = turns, .out = out,
		.reach = SCRATCH(t->scratch, uint64_t, (size_t)n * t->n_words),
		.next = SCRATCH(t->scratch, uint32_t, n),
		.list = SCRATCH(t->scratch, uint32_t, n),
		.hops = SCRATCH(t->scratch, uint16_t, n),
		.cost = SCRATCH(t->scratch, float, t->g->n_edges),
	};
	g_autofree uint64_t *needed = complete_find_needed(&c);
	g_autofree uint64_t *quiet = g_new0(uint64_t, t->n_words);

	memset(held, 1, n);
	for (dest = 0; dest < n; dest++)
		if (set_has(needed, dest) && !complete_destination(&c, dest)) {
			held[t->o->climb[dest]] = 0;
			n_failed++;
		} else if (!t->g->n_senders[t->o->climb[dest]]) {
			set_add(quiet, dest);
		}
	ftree_manage(&c, quiet);
	return n_failed;
}

static void
ftree_route(struct ftree *t, const struct engine_input *in,
	    struct engine_output *out)
{
	struct turns *turns = turns_new(t->g, t->o);
	uint64_t n = t->g->n_switches;
	uint32_t n_ways = 1;
	g_autofree uint8_t *held = g_malloc(n);
	g_autofree char *name = NULL;
	bool is_regular;

	ftree_make_groups(t);
	ftree_find_sets(t);
	ftree_assign_slots(t);
	ftree_number_lids(t);
	ftree_fill(t, out->lft);
	/* Does D-mod-k put the same load on all cables? */
	if (t->o->n_levels > 1)
		n_ways = t->width[1] * t->n_cables[1];
	is_regular = t->n_dealt == 0 &&
		(t->usual <= n_ways || t->usual % n_ways == 0);
	if (ftree_complete(t, turns, out->lft, held) > 0 || (!is_regular &&
	    (t->g->n_all_hosts * n < SMALL ||
	     (uint64_t)t->n_dealt * FEW > n * n)))
		balance_route(in, t->o, turns, held, out->lft);
	balance_keep(in, t->o, turns, out->lft);
	if (t->o->n_strays)
		g_ptr_array_add(out->notes, g_strdup_printf(
			"%u cables between switches do not join adjacent "
			"levels", t->o->n_strays));
	if (turns->n_turning) {
		name = graph_switch_name(t->g, turns->first);
		g_ptr_array_add(out->notes, g_strdup_printf(
			"switches without a common ancestor are joined by "
			"paths that go down and up again, first at %s", name));
	}
	turns_free(turns);
}

static bool
ftree_compute(const struct engine_input *in, struct engine_output *out,
	      GError **error)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct ftree t = { .in = in, .g = in->g, .scratch = scratch };
	struct order *o;
	bool ok;

	if (in->g->n_switches == 0)	/* two CAs without a switch */
		return true;
	t.o = o = order_compute(in);
	ok = ftree_accept(&t, error);
	if (ok) {
		ftree_route(&t, in, out);
		out->ranks = order_ranks(o);
		mend_complete(in->g, out->lft, out->ranks);
	}
	order_destroy(o);
	return ok;
}

const struct engine engine_ftree = {
	.name = "ftree",
	.summary = "fat trees, also damaged and irregular: by formula, free "
		   "of credit loops",
	.deadlock_free = true,
	.compute = ftree_compute,
};
