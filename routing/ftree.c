// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The routing engine for fat trees: complete, slimmed, with parallel cables,
 * damaged, and with irregularities such as hosts on spines.
 *
 * Method. The order of the switches gives levels (order.c). A formula gives
 * each switch and LID an output port by division (ftree_tree.c, ftree_fill.c),
 * so a lost cable moves little more than the paths through it. Destinations
 * that the formula does not reach over cables between adjacent levels get paths
 * over other cables and with other turns (complete.c). If the fabric is not a
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
#include "routing/complete.h"
#include "topology/text.h"

/* Entries are balanced on fabrics with up to so many CAs times switches, or
 * if more than one in so many pairs of a switch and a destination is not
 * served by the formula alone. */
#define SMALL		4000000u
#define FEW		200u

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

static void
ftree_route(struct ftree *t, struct engine_output *out)
{
	uint64_t n = t->g->n_switches;
	uint32_t n_ways = 1;
	bool is_regular, has_all;

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
	out->ranks = order_ranks(t->o);
	has_all = complete_hosts(t->g, out->lft, out->ranks);
	if (!is_regular && (t->g->n_all_hosts * n < SMALL ||
			    (uint64_t)t->n_dealt * FEW > n * n))
		balance_relieve(t->g, t->o, 0, out->lft);
	complete_tables(t->g, out->lft, out->ranks, has_all);
	if (t->o->n_strays)
		g_ptr_array_add(out->notes, g_strdup_printf(
			"%u cable%s between switches not between adjacent "
			"levels", t->o->n_strays,
			text_plural(t->o->n_strays)));
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
	if (ok)
		ftree_route(&t, out);
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
