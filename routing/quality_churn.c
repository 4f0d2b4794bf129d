// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Churn: what an update has to write.
 *
 * Purpose. On hardware a block is a MAD to a switch, which costs more than
 * computing the whole table, so the blocks count; the entries say how much of
 * the traffic moves.
 *
 * Flow. Row by row, block by block: most blocks are the same and memcmp says
 * so; the entries of the others are counted one by one.
 */
#include "routing/quality.h"

#include <string.h>

/* The 64 bytes, or none past the end. */
static const uint8_t *
churn_block(const struct lft *lft, uint32_t sw, uint32_t block)
{
	static const uint8_t nothing[LFT_BLOCK] = {
		[0 ... LFT_BLOCK - 1] = LFT_NO_PATH
	};

	return block < lft_n_blocks(lft) ?
		lft_row(lft, sw) + block * LFT_BLOCK : nothing;
}

void
quality_churn(const struct lft *before, const struct lft *after,
	      struct quality_churn *churn)
{
	uint32_t n_blocks = MAX(lft_n_blocks(before), lft_n_blocks(after));
	const uint8_t *a, *b;
	uint32_t sw, block, i;

	g_assert(before->n_switches == after->n_switches);

	memset(churn, 0, sizeof(*churn));
	churn->all_blocks = (uint64_t)n_blocks * after->n_switches;
	for (sw = 0; sw < after->n_switches; sw++)
		for (block = 0; block < n_blocks; block++) {
			a = churn_block(before, sw, block);
			b = churn_block(after, sw, block);
			if (memcmp(a, b, LFT_BLOCK) == 0)
				continue;
			churn->blocks++;
			for (i = 0; i < LFT_BLOCK; i++)
				churn->entries += a[i] != b[i];
		}
}
