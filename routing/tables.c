// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables of all switches in one piece of memory.
 *
 * Purpose. A sweep compares two sets of tables block by block, and an engine
 * fills one. Both are limited by memory, so a set is one arena, [switch][LID].
 *
 * Structs. struct lft is the arena. Rows start at multiples of 64 bytes, so a
 * block (64 entries, the content of one LinearForwardingTable attribute, IBA
 * 14.2.5.10) is a cache line. struct lft_seen has an additional byte for each
 * block: was this block read from the switch?
 *
 * Flow. lft_new() writes every byte: an entry that is never set must be "drop"
 * (255, a port that no switch has: IBA counts ports to 254). So the first touch
 * of each page is paid here and not in the engine's inner loop. For the same
 * reason large arenas use large pages.
 *
 * Multicast tables (struct mft) are small compared with the linear ones, and
 * mostly zero.
 */
#include "routing/tables.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "topology/each.h"
#include "topology/smp_attr.h"

#define HUGE_PAGE	((size_t)2 << 20)

static struct lft *
lft_alloc(uint32_t n_switches, uint16_t top)
{
	struct lft *lft = g_new0(struct lft, 1);
	size_t size, align;

	g_assert(top <= LID_UNICAST_MAX);
	lft->ref = 1;
	lft->n_switches = n_switches;
	lft->top = top;
	lft->stride = (top / LFT_BLOCK + 1) * LFT_BLOCK;
	align = lft_size(lft) < HUGE_PAGE ? LFT_BLOCK : HUGE_PAGE;
	/* aligned_alloc() requires a multiple of the alignment. */
	size = (MAX(lft_size(lft), 1) + align - 1) / align * align;
	lft->ports = aligned_alloc(align, size);
	if (!lft->ports)
		g_error("no memory for tables of %zu bytes", lft_size(lft));
#ifdef MADV_HUGEPAGE
	/* Only a hint; small pages work as well. */
	if (align == HUGE_PAGE)
		(void)madvise(lft->ports, size, MADV_HUGEPAGE);
#endif
	return lft;
}

struct lft *
lft_new(uint32_t n_switches, uint16_t top)
{
	struct lft *lft = lft_alloc(n_switches, top);

	memset(lft->ports, (int)LFT_NO_PATH, lft_size(lft));
	return lft;
}

struct lft *
lft_copy(const struct lft *lft)
{
	struct lft *copy = lft_alloc(lft->n_switches, lft->top);

	memcpy(copy->ports, lft->ports, lft_size(lft));
	return copy;
}

struct lft *
lft_widen(const struct lft *lft, uint16_t top)
{
	struct lft *wide = lft_new(lft->n_switches, MAX(lft->top, top));

	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		memcpy(lft_row(wide, sw), lft_row(lft, sw), lft->top + 1u);
	return wide;
}

struct lft *
lft_certain(const struct lft *lft)
{
	struct lft *certain = lft_copy(lft);
	size_t size = lft_size(lft), i;

	for (const struct lft *o = lft->other; o; o = o->other)
		for (i = 0; i < size; i++) {
			if (i % LFT_BLOCK == 0 && memcmp(o->ports + i,
					lft_no_paths, LFT_BLOCK) == 0)
				i += LFT_BLOCK - 1;
			else if (o->ports[i] != lft->ports[i])
				certain->ports[i] = LFT_NO_PATH;
		}
	return certain;
}

struct lft *
lft_with(const struct lft *lft, const GArray *parts)
{
	struct lft *all = lft_copy(lft), *at = all;
	const struct lft_part *last = NULL;
	unsigned nth = 0;

	EACH_ITEM(const struct lft_part, p, parts) {
		if (!last || last->sw != p->sw || last->block != p->block) {
			at = all;
			nth = 0;
		}
		last = p;
		if (nth++ >= LFT_PARTS_MAX)
			continue;
		if (!at->other)
			at->other = lft_new(lft->n_switches, lft->top);
		at = at->other;
		memcpy(lft_row(at, p->sw) + (size_t)p->block * LFT_BLOCK,
		       p->bytes, LFT_BLOCK);
	}
	return all;
}

struct lft *
lft_ref(struct lft *lft)
{
	g_atomic_int_inc(&lft->ref);
	return lft;
}

void
lft_free(struct lft *lft)
{
	if (!lft || !g_atomic_int_dec_and_test(&lft->ref))
		return;
	lft_free(lft->other);
	free(lft->ports);
	g_free(lft);
}

void
lft_read_columns(const struct lft *lft, const uint16_t *lids, uint32_t n,
		 uint8_t *columns)
{
	const uint8_t *row;
	uint32_t sw, i;

	for (sw = 0; sw < lft->n_switches; sw++)
		for (row = lft_row(lft, sw), i = 0; i < n; i++)
			columns[(size_t)i * lft->n_switches + sw] =
				lids[i] <= lft->top ? row[lids[i]] :
				LFT_NO_PATH;
}

const uint8_t lft_no_paths[LFT_BLOCK] = {
	[0 ... LFT_BLOCK - 1] = LFT_NO_PATH
};

struct lft_seen *
lft_seen_new(uint32_t n_switches, uint16_t top)
{
	struct lft_seen *seen = g_new0(struct lft_seen, 1);

	seen->lft = lft_new(n_switches, top);
	seen->known = g_new0(uint8_t, (size_t)n_switches *
			     lft_n_blocks(seen->lft));
	return seen;
}

void
lft_seen_free(struct lft_seen *seen)
{
	if (!seen)
		return;
	lft_free(seen->lft);
	g_free(seen->known);
	g_free(seen);
}

/* In known[]. */
static size_t
seen_index(const struct lft_seen *seen, uint32_t sw, uint32_t block)
{
	return (size_t)sw * lft_n_blocks(seen->lft) + block;
}

void
lft_seen_set(struct lft_seen *seen, uint32_t sw, uint32_t block,
	     const uint8_t bytes[LFT_BLOCK])
{
	size_t at = (size_t)block * LFT_BLOCK, i = seen_index(seen, sw, block);

	g_assert(sw < seen->lft->n_switches);

	/* A switch may send a block above the end of the row; it counts as
	 * not known. */
	if (block >= lft_n_blocks(seen->lft))
		return;

	seen->known[i] = LFT_KNOWN;
	if (memcmp(lft_row(seen->lft, sw) + at, bytes, LFT_BLOCK) == 0)
		return;
	if (g_atomic_int_get(&seen->lft->ref) > 1) {
		struct lft *shared = seen->lft;

		seen->lft = lft_copy(shared);
		lft_free(shared);
	}
	memcpy(lft_row(seen->lft, sw) + at, bytes, LFT_BLOCK);
}

void
lft_seen_share(struct lft_seen *seen, struct lft *lft)
{
	size_t n = lft_size(lft) / LFT_BLOCK;

	if (lft->n_switches != seen->lft->n_switches ||
	    lft->top != seen->lft->top || seen->lft == lft)
		return;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *block = seen->lft->ports + i * LFT_BLOCK;

		if (memcmp(block, lft->ports + i * LFT_BLOCK, LFT_BLOCK) &&
		    (seen->known[i] || memcmp(block, lft_no_paths, LFT_BLOCK)))
			return;
	}
	lft_free(seen->lft);
	seen->lft = lft_ref(lft);
}

struct lft_seen *
lft_seen_copy(const struct lft_seen *seen)
{
	struct lft_seen *copy = g_memdup2(seen, sizeof(*seen));

	lft_ref(copy->lft);
	copy->known = g_memdup2(seen->known, lft_size(seen->lft) / LFT_BLOCK);
	return copy;
}

void
lft_seen_take(struct lft_seen *seen, uint32_t sw, uint32_t block,
	      const struct lft_seen *from, uint32_t from_sw)
{
	lft_seen_set(seen, sw, block, lft_row(from->lft, from_sw) +
		     (size_t)block * LFT_BLOCK);
	seen->known[seen_index(seen, sw, block)] =
		from->known[seen_index(from, from_sw, block)];
}

/* The bytes stay, as the most likely content. */
void
lft_seen_forget(struct lft_seen *seen, uint32_t sw, uint32_t block)
{
	size_t i = seen_index(seen, sw, block);

	g_assert(sw < seen->lft->n_switches);

	if (block < lft_n_blocks(seen->lft) && seen->known[i] == LFT_KNOWN)
		seen->known[i] = LFT_REREAD;
}

void
lft_seen_forget_all(struct lft_seen *seen)
{
	for (uint32_t sw = 0; sw < seen->lft->n_switches; sw++)
		for (uint32_t b = 0; b < lft_n_blocks(seen->lft); b++)
			lft_seen_forget(seen, sw, b);
}

const uint8_t *
lft_seen_block(const struct lft_seen *seen, uint32_t sw, uint32_t block)
{
	if (!seen || sw >= seen->lft->n_switches ||
	    block >= lft_n_blocks(seen->lft) ||
	    seen->known[seen_index(seen, sw, block)] != LFT_KNOWN)
		return NULL;
	return lft_row(seen->lft, sw) + (size_t)block * LFT_BLOCK;
}

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
