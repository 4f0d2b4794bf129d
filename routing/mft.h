/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast forwarding tables of all switches (IBA 14.2.5.12): masks of 16
 * ports. Position p of a switch covers its ports 16 p to 16 p + 15; a block is
 * the 32 masks that one SMP carries, of MLIDs 0xc000 + 32 b to 0xc000 + 32 b +
 * 31.
 */
#ifndef MINISM_ROUTING_MFT_H
#define MINISM_ROUTING_MFT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MFT_BLOCK	32u	/* masks */
#define MFT_POSITIONS	16u	/* at most: 256 ports */

struct mft {
	gint ref;
	uint32_t n_switches, n_positions, n_blocks;
	uint16_t *masks;	/* [switch][position][MLID - 0xc000], zero:
				   the group is not forwarded */
};

struct mft *mft_new(uint32_t n_switches, uint32_t n_positions,
		    uint32_t n_blocks);
struct mft *mft_ref(struct mft *mft);
void mft_free(struct mft *mft);		/* drops a reference */

static inline uint16_t *
mft_block(const struct mft *mft, uint32_t sw, uint32_t position,
	  uint32_t block)
{
	return mft->masks + ((size_t)(sw * mft->n_positions + position) *
			     mft->n_blocks + block) * MFT_BLOCK;
}

static inline bool
mft_has(const struct mft *mft, uint32_t sw, uint16_t mlid, unsigned port)
{
	uint32_t i = mlid - 0xc000u;

	return i / MFT_BLOCK < mft->n_blocks &&
		port / 16 < mft->n_positions &&
		mft_block(mft, sw, port / 16, i / MFT_BLOCK)[i % MFT_BLOCK] >>
		port % 16 & 1;
}

static inline void
mft_add(struct mft *mft, uint32_t sw, uint16_t mlid, unsigned port)
{
	uint32_t i = mlid - 0xc000u;

	mft_block(mft, sw, port / 16, i / MFT_BLOCK)[i % MFT_BLOCK] |=
		(uint16_t)(1u << port % 16);
}

#endif
