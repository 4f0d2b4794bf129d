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

#define FAR_WORSE	2.0	/* times the load in other tables */
#define SMALL		1000000u	/* LIDs times switches: no estimate, which
					   is poor if turns are needed */

/* Routes by this order. False if hosts do not reach each other. */
static bool
updn_route(const struct graph *g, const struct order *o,
	   struct engine_output *out)
{
	balance_route(g, o, false, out->lft);
	g_free(out->ranks);
	out->ranks = order_ranks(o);
	if (complete_hosts(g, out->lft, out->ranks))
		balance_route(g, o, true, out->lft);
	return complete_tables(g, out->lft, out->ranks);
}

static bool
updn_compute(const struct engine_input *in, struct engine_output *out,
	     GError **error)
{
	struct order *o;
	double load;

	if (in->g->n_switches == 0)
		return true;
	o = order_compute(in);
	load = in->rival > 0 && in->g->top * in->g->n_switches > SMALL ?
		order_estimate(in->g, o) : 0;
	if (load > FAR_WORSE * in->rival) {
		order_destroy(o);
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "the busiest channel would carry about %.0f flows",
			    load);
		return false;
	}
	if (!updn_route(in->g, o, out)) {
		order_destroy(o);
		o = order_with_root(in->g);
		memset(out->lft->ports, (int)LFT_NO_PATH, lft_size(out->lft));
		updn_route(in->g, o, out);
	}
	order_destroy(o);
	return true;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "any topology: paths that go up and then down, "
		   "free of credit loops",
	.deadlock_free = true,
	.has_estimate = true,
	.compute = updn_compute,
};
