/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forwarding tables of all switches in one piece of memory.
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
};

/* For LIDs 0..top, all LFT_NO_PATH. */
struct lft *lft_new(uint32_t n_switches, uint16_t top);
struct lft *lft_copy(const struct lft *lft);
struct lft *lft_ref(struct lft *lft);
void lft_free(struct lft *lft);		/* drops a reference */

/* Copies the entries of some LIDs at all switches to [nth of lids][switch],
 * in one pass over the rows: reading a single column is slow. */
#define LFT_COLUMNS	256u	/* a good number at a time */
void lft_read_columns(const struct lft *lft, const uint16_t *lids, uint32_t n,
		      uint8_t *columns);

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

/*
 * The tables that the switches hold, as far as they were read. Blocks above the
 * end of a row are not known.
 */
struct lft_seen {
	struct lft *lft;
	uint8_t *known;		/* [switch][block]: 1 if the block is known */
};

struct lft_seen *lft_seen_new(uint32_t n_switches, uint16_t top);
void lft_seen_free(struct lft_seen *seen);
void lft_seen_set(struct lft_seen *seen, uint32_t sw, uint32_t block,
		  const uint8_t bytes[LFT_BLOCK]);
void lft_seen_forget(struct lft_seen *seen, uint32_t sw, uint32_t block);

/* The 64 bytes of a known block, else NULL. `seen` may be NULL. */
const uint8_t *lft_seen_block(const struct lft_seen *seen, uint32_t sw,
			      uint32_t block);

#endif
