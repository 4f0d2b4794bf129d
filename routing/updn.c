// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Up/down: shortest paths that go up and then down in an order of the switches
 * (order.c), balanced (balance.c), and with verified turns where two switches
 * have no common ancestor (turns.c). For any fabric; free of credit loops.
 *
 * Reference. M. D. Schroeder et al., "Autonet", 1991.
 */
#include <string.h>

#include "routing/balance.h"

#define MIXED_SHARE	50u	/* one pair of a CA and a switch in so many may
				   be left out */

/* True if all CAs reach each other, and nearly all reach the switches. */
static bool
updn_route(const struct engine_input *in, const struct order *o,
	   struct engine_output *out)
{
	struct turns *t = turns_new(in->g, o);
	struct balance_lost lost = balance_route(in, o, t, NULL, out->lft);
	uint64_t n_pairs = (uint64_t)in->g->n_switches * in->g->n_targets;
	bool ok = lost.hosts == 0 && lost.mixed * MIXED_SHARE <= n_pairs;

	if (ok)
		balance_keep(in, o, t, out->lft);
	turns_free(t);
	return ok;
}

static bool
updn_compute(const struct engine_input *in, struct engine_output *out,
	     GError **error)
{
	struct order *o;

	(void)error;
	if (in->g->n_switches == 0)
		return true;
	o = order_compute(in);
	if (!updn_route(in, o, out)) {
		order_destroy(o);
		o = order_with_root(in->g);
		memset(out->lft->ports, (int)LFT_NO_PATH,
		       (size_t)out->lft->n_switches * out->lft->stride);
		updn_route(in, o, out);
	}
	out->ranks = order_ranks(o);
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
