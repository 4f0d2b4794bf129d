// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast forwarding tables in one piece of memory. They are small compared
 * with the linear ones, and mostly zero: a group that a switch does not forward
 * has no port in its masks.
 */
#include "routing/mft.h"

struct mft *
mft_new(uint32_t n_switches, uint32_t n_positions, uint32_t n_blocks)
{
	struct mft *mft = g_new0(struct mft, 1);

	g_assert(n_positions <= MFT_POSITIONS);
	mft->ref = 1;
	mft->n_switches = n_switches;
	mft->n_positions = n_positions;
	mft->n_blocks = n_blocks;
	mft->masks = g_new0(uint16_t, (size_t)n_switches * n_positions *
			    n_blocks * MFT_BLOCK);
	return mft;
}

struct mft *
mft_ref(struct mft *mft)
{
	g_atomic_int_inc(&mft->ref);
	return mft;
}

void
mft_free(struct mft *mft)
{
	if (!mft || !g_atomic_int_dec_and_test(&mft->ref))
		return;
	g_free(mft->masks);
	g_free(mft);
}
