/*
 * Verification: reachability (check.c) and credit loops (channels.c) as one
 * verdict.
 */
#include "routing/verify.h"

void
verify_tables(const struct graph *g, const struct lft *lft,
	      const struct lft *before, struct verify_result *result)
{
	check_reachability(g, lft, &result->reach);
	channels_check(g, lft, before, &result->channels);
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
