/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables of a folded graph: a row for each group while they are made, a
 * row for each switch in the end.
 */
#ifndef MINISM_ROUTING_FOLD_ROWS_H
#define MINISM_ROUTING_FOLD_ROWS_H

#include "routing/fold.h"

/*
 * By which positions the groups send to these LIDs, [group * stride + column];
 * FOLD_NO_HOP if to no switch. The first member speaks for all; to itself the
 * second. lft may say anything.
 */
void fold_read(const struct fold *fold, const struct lft *lft,
	       const struct fold_column *columns, uint32_t n,
	       uint8_t *positions, uint32_t stride);

/*
 * While tables are made, the row of a group's first member says for all of
 * them by which position they send: fold_store() writes what fold_read() would
 * give, fold_recall() gives it back. fold_finish() makes ports of it and tells
 * the other members, by as many threads as may be. FOLD_NO_HOP is
 * LFT_NO_PATH, what rows hold at first.
 */
void fold_store(const struct fold *fold, const uint8_t *positions,
		uint32_t stride, const struct fold_column *columns,
		uint32_t n, struct lft *lft);
void fold_recall(const struct fold *fold, const struct lft *lft,
		 const struct fold_column *columns, uint32_t n,
		 uint8_t *positions, uint32_t stride);
void fold_finish(const struct fold *fold, struct lft *lft,
		 unsigned n_threads);

static inline uint8_t
fold_position(const struct fold *fold, const struct lft *lft, uint32_t group,
	      uint16_t lid)
{
	return lft_row(lft, fold->switches[
			fold->groups[group].first_slot])[lid];
}

#endif
