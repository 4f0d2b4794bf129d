// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Up/down: shortest paths that go up and then down in an order of the switches
 * (order.c), balanced (balance.c), and with verified turns where two switches
 * have no common ancestor (turns.c). For any fabric; free of credit loops.
 *
 * Reference. M. D. Schroeder et al., "Autonet", 1991.
 */
#include "routing/balance.h"

static bool
updn_compute(const struct engine_input *in, struct engine_output *out,
	     GError **error)
{
	struct order *o;
	struct turns *t;

	(void)error;
	if (in->g->n_switches == 0)
		return true;
	o = order_compute(in);
	t = turns_new(in->g, o);
	balance_route(in, o, t, NULL, out->lft);
	balance_keep(in, o, t, out->lft);
	out->ranks = order_ranks(o);
	turns_free(t);
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
