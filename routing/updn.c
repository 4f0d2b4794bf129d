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
#include "routing/mend.h"

#define FAR_WORSE	2.0	/* times the load in other tables */
#define SMALL		1000000u	/* LIDs times switches: no estimate, which
					   is poor if turns are needed */

/* True if all hosts reach each other. */
static bool
updn_route(const struct engine_input *in, const struct order *o,
	   const struct turns *t, struct lft *out)
{
	return balance_route(in, o, t, NULL, out).hosts == 0;
}

/* Routes by this order. False if it joins too little; a sample may show
 * that. */
static bool
updn_try(const struct engine_input *in, const struct order *o, bool is_last,
	 struct lft *out)
{
	struct turns *t = turns_new(in->g, o);
	struct graph *sample = is_last ? NULL : graph_sample(in->g);
	struct engine_input few = { .g = sample };
	bool ok = !sample || updn_route(&few, o, t, out);

	memset(out->ports, (int)LFT_NO_PATH, lft_size(out));
	ok = ok && updn_route(in, o, t, out);
	if (ok)
		balance_keep(in, o, t, out);
	graph_free(sample);
	turns_free(t);
	return ok;
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
	if (!updn_try(in, o, false, out->lft)) {
		order_destroy(o);
		o = order_with_root(in->g);
		updn_try(in, o, true, out->lft);
	}
	out->ranks = order_ranks(o);
	mend_complete(in->g, out->lft, out->ranks);
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
