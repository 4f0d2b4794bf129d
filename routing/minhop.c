// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Min-hop: every switch reaches every LID by a shortest path, and the traffic
 * of all CAs to all CAs is spread over these paths (balance.c). For any fabric;
 * it may have credit loops.
 */
#include "routing/balance.h"

static bool
minhop_compute(const struct engine_input *in, struct engine_output *out,
	       GError **error)
{
	(void)error;
	balance_route(in->g, NULL, out->lft);
	return true;
}

const struct engine engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced over the whole fabric; "
		   "any topology, not free of credit loops",
	.compute = minhop_compute,
};
