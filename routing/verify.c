// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verification: reachability (check.c) and credit loops (channels.c) as one
 * verdict.
 *
 * Method. An order of the switches is a witness: where all entries lead up, or
 * up and then down, there is no loop, and what stops nowhere but at its owner
 * arrives. One pass over the tables finds the entries that do not fit, which
 * are few; they are added to all that the order permits, and sorted. Only if
 * that is not free of loops, or there is no order, each entry is joined with
 * the next one. Old and new together without a loop have none in the new ones
 * either. Only LIDs that may not arrive from everywhere are walked.
 */
#include "routing/verify.h"

#include <string.h>

void
verify_tables(const struct graph *g, const struct lft *lft,
	      const struct lft *before, const uint32_t *ranks,
	      struct verify_result *result)
{
	g_autofree uint8_t *whole = g_malloc(g->top + 1u);
	struct channels *c = channels_new(g);

	*result = (struct verify_result){ 0 };
	memset(whole, 1, g->top + 1u);
	if (!ranks || !channels_add_ordered(c, ranks, lft, before, whole)) {
		channels_check(g, lft, before, &result->channels);
		memset(whole, !result->channels.n_looped, g->top + 1u);
		if (!result->channels.n_looped)
			channels_add_ordered(c, NULL, lft, NULL, whole);
	}
	check_reachability(g, lft, whole, &result->reach);
	channels_free(c);
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
