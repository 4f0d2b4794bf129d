// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verification: reachability (check.c) and credit loops (channels.c) as one
 * verdict.
 *
 * Credit loops come first: where there are none, nothing that is sent to a CA
 * goes round, which saves most of the walks of the other check. Old and new
 * together without a loop have none in the new ones either.
 */
#include "routing/verify.h"

void
verify_tables(const struct graph *g, const struct lft *lft,
	      const struct lft *before, struct verify_result *result)
{
	channels_check(g, lft, before, &result->channels);
	if (result->channels.n_looped)
		check_reachability(g, lft, &result->reach);
	else
		check_reachability_unlooped(g, lft, &result->reach);
}

void
verify_result_clear(struct verify_result *result)
{
	channels_clear(&result->channels);
	*result = (struct verify_result){ 0 };
}

bool
verify_is_sound(const struct verify_result *result)
{
	return !result->reach.looping && !result->reach.astray &&
		!result->channels.n_looped;
}
