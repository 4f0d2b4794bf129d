// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Up/down: shortest paths that go up and then down in an order of the switches
 * (order.c), balanced (balance.c), and with other turns where two switches have
 * no common ancestor (complete.c). For any fabric; free of credit loops.
 *
 * Reference. M. D. Schroeder et al., "Autonet", 1991.
 */
#include <string.h>

#include "routing/balance.h"
#include "routing/complete.h"
#include "routing/metrics.h"

#define FAR_WORSE	2.0	/* times the load in other tables */
#define SMALL		1000000u	/* LIDs times switches: no estimate, which
					   is poor if turns are needed, but two
					   orders are tried */

/* Tables in this order, and its ranks. *has_all: the order leaves no path between
 * hosts to turns from down to up, or to searches. False: hosts have no path to each
 * other. */
static bool
updn_route(const struct graph *g, const struct order *o,
	   struct engine_output *out, bool *has_all)
{
	balance_route(g, o, out->lft);
	out->ranks = order_ranks(o);
	*has_all = complete_hosts(g, out->lft, out->ranks);
	if (!*has_all)
		balance_relieve(g, o, 0, out->lft);
	return complete_tables(g, out->lft, out->ranks, *has_all);
}

/* An order with a root has all paths; this may cost more than those that
 * another order lacks, or less. Turns from down to up are permitted at few
 * switches, which carry all flows that need them: if they make no channel
 * busier than it would be with a root, they stay. */
static void
updn_compare(const struct graph *g, struct engine_output *out)
{
	struct metrics_load mine, other;
	struct engine_output rooted;
	struct order *o;
	bool has_all;

	metrics_all_to_all(g, out->lft, out->ranks, &mine);
	o = order_with_root(g);
	engine_output_init(&rooted, lft_new(g->n_switches, g->top));
	updn_route(g, o, &rooted, &has_all);
	order_destroy(o);
	metrics_all_to_all(g, rooted.lft, rooted.ranks, &other);
	if (other.lost < mine.lost ||
	    (other.lost == mine.lost && other.worst < mine.worst)) {
		memcpy(out->lft->ports, rooted.lft->ports, lft_size(out->lft));
		memcpy(out->ranks, rooted.ranks,
		       g->n_switches * sizeof(*out->ranks));
	}
	lft_free(rooted.lft);
	engine_output_clear(&rooted);
}

static bool
updn_compute(const struct engine_input *in, struct engine_output *out,
	     GError **error)
{
	bool is_small = in->g->top * in->g->n_switches <= SMALL, is_whole;
	bool has_all;
	struct order *o;
	double load;

	if (in->g->n_switches == 0)
		return true;
	o = order_compute(in);
	load = in->rival > 0 && !is_small ? order_estimate(in->g, o) : 0;
	if (load > FAR_WORSE * in->rival) {
		order_destroy(o);
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "the busiest channel would carry about %.0f flows",
			    load);
		return false;
	}
	is_whole = updn_route(in->g, o, out, &has_all);
	if (!is_whole || (!has_all && is_small))
		updn_compare(in->g, out);
	order_destroy(o);
	return true;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "any topology: paths that go up and then down, "
		   "free of credit loops",
	.deadlock_free = true,
	.compute = updn_compute,
};
