/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forwarding tables of all switches, unicast and multicast, each in one piece
 * of memory.
 *
 * lft_row(lft, s) is the linear forwarding table of switch s: a byte for each
 * LID, the output port or LFT_NO_PATH (IBA 14.2.5.10). Rows are multiples of 64
 * bytes, the block of one SMP, so two tables are compared with memcmp, block by
 * block.
 */
#ifndef MINISM_ROUTING_TABLES_H
#define MINISM_ROUTING_TABLES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LFT_NO_PATH	255u
#define LFT_BLOCK	64u

struct lft {
	gint ref;
	uint32_t n_switches;
	uint32_t stride;	/* bytes of a row, a multiple of LFT_BLOCK */
	uint16_t top;		/* the highest LID that is routed */
	uint8_t *ports;		/* n_switches * stride, 64-byte aligned */
	struct lft *other;	/* what switches hold, if it is in doubt: of each
				   block these bytes or those of `other`, or of
				   the next one, but for blocks without a path;
				   owned; NULL: no more */
	bool comes_back;	/* those of `other` may at any time, on what is
				   written */
};

/* For LIDs 0..top, all LFT_NO_PATH. */
struct lft *lft_new(uint32_t n_switches, uint16_t top);
struct lft *lft_copy(const struct lft *lft);	/* without others */
/* The same with rows up to `top` at least: LFT_NO_PATH above its own. */
struct lft *lft_widen(const struct lft *lft, uint16_t top);
/* The same without the entries of which a switch may hold another one. */
struct lft *lft_certain(const struct lft *lft);
struct lft *lft_ref(struct lft *lft);
void lft_free(struct lft *lft);		/* drops a reference */

/* Copies the entries of some LIDs at all switches to [nth of lids][switch],
 * in one pass over the rows: reading a single column is slow. */
#define LFT_COLUMNS	256u	/* a good number at a time */
void lft_read_columns(const struct lft *lft, const uint16_t *lids, uint32_t n,
		      uint8_t *columns);

/* What a switch may hold instead of a block. */
struct lft_part {
	uint32_t sw, block;
	uint8_t bytes[LFT_BLOCK];
};

/* A copy with others, of which one has each part and no other path; parts (struct
 * lft_part): those of a block one after the other, LFT_PARTS_MAX count. */
#define LFT_PARTS_MAX	6u
struct lft *lft_with(const struct lft *lft, const GArray *parts);

static inline uint8_t *
lft_row(const struct lft *lft, uint32_t sw)
{
	return lft->ports + (size_t)sw * lft->stride;
}

/* Bytes of all rows. */
static inline size_t
lft_size(const struct lft *lft)
{
	return (size_t)lft->n_switches * lft->stride;
}

static inline uint32_t
lft_n_blocks(const struct lft *lft)
{
	return lft->stride / LFT_BLOCK;
}

/* A block in which no LID has a path. */
extern const uint8_t lft_no_paths[LFT_BLOCK];

/*
 * The tables that the switches hold, as far as they were read. Blocks above the
 * end of a row are not known.
 */
struct lft_seen {
	struct lft *lft;
	uint8_t *known;		/* [switch][block]: enum lft_known */
};

enum lft_known {
	LFT_UNKNOWN,		/* never read */
	LFT_REREAD,		/* to be read again; most likely it is as it
				   was */
	LFT_KNOWN,
};

struct lft_seen *lft_seen_new(uint32_t n_switches, uint16_t top);
void lft_seen_free(struct lft_seen *seen);
/* If this changes them, makes a copy of the tables first, if there is another
 * reference to them. */
void lft_seen_set(struct lft_seen *seen, uint32_t sw, uint32_t block,
		  const uint8_t bytes[LFT_BLOCK]);
/* From now on `lft` is the memory of its tables, if they have nothing else: each
 * block is as in lft, or it is not known and all LFT_NO_PATH. What is not known
 * stays so. */
void lft_seen_share(struct lft_seen *seen, struct lft *lft);
/* The tables are the same memory until one of both is changed. */
struct lft_seen *lft_seen_copy(const struct lft_seen *seen);
/* A block with its state, from a switch of other tables that have it. */
void lft_seen_take(struct lft_seen *seen, uint32_t sw, uint32_t block,
		   const struct lft_seen *from, uint32_t from_sw);
void lft_seen_forget(struct lft_seen *seen, uint32_t sw, uint32_t block);
void lft_seen_forget_all(struct lft_seen *seen);

/* The 64 bytes of a known block, else NULL. `seen` may be NULL. */
const uint8_t *lft_seen_block(const struct lft_seen *seen, uint32_t sw,
			      uint32_t block);

/*
 * Multicast forwarding tables of all switches (IBA 14.2.5.12): masks of 16
 * ports. Position p of a switch covers its ports 16 p to 16 p + 15; a block is
 * the 32 masks that one SMP carries, of MLIDs 0xc000 + 32 b to 0xc000 + 32 b +
 * 31.
 */
#define MFT_BLOCK	32u	/* masks */
#define MFT_POSITIONS	16u	/* at most: 256 ports */

/* Positions of a switch, each of 16 ports. */
static inline unsigned
mft_positions(unsigned num_ports)
{
	return num_ports / 16 + 1;
}

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
