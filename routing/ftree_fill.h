/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * From the tree to the tables: the closed form, row by row.
 */
#ifndef MINISM_ROUTING_FTREE_FILL_H
#define MINISM_ROUTING_FTREE_FILL_H

#include "routing/ftree_hosts.h"
#include "routing/ftree_tree.h"
#include "routing/tables.h"

#define FILL_NO_INDEX	255u	/* what no wheel and no pod is */

/*
 * The LIDs of CAs are entries; those of destination d are first_entry[d] to
 * first_entry[d + 1] - 1. After fill_new() nothing in here is written,
 * but by ftree_change.c.
 */
struct fill {
	const struct tree *t;
	uint32_t n_entries;
	const uint32_t *first_entry;	/* of struct hosts, up to n_own */
	const uint16_t *lid;
	const uint8_t *exit;	/* the port behind which the CA is */
	const uint32_t *nid;	/* number */
	const uint32_t *base;	/* by destination */
	const uint16_t *own_lid;
	const uint8_t *n_own;
	uint32_t *run_end;	/* entry up to which LIDs are consecutive */
	uint8_t **up_wheel;	/* rank -> by entry: slot + width * cable */
	uint8_t **own_wheel;	/* rank -> by destination, likewise */
	uint32_t row_size;	/* LIDs, and what fills the last block */
	uint8_t **lid_wheel;	/* rank -> by LID, both in one; but planes of
				   switches above, see ftree_wheel.c */
	uint64_t **guesses;	/* rank -> slot * n_words: destinations that
				   have it for their plane in lid_wheel */
	uint8_t **lid_pod;	/* rank -> by LID: below which child; NULL:
				   there are too many */
	uint32_t *n_pods;	/* rank -> */
	uint32_t **pods;	/* rank -> by switch, likewise */
	uint8_t **down_wheel;	/* rank * 256 + parallel cables -> by entry:
				   cable; NULL: no switch needs it */
	uint64_t *good;		/* see fill_good() */
	uint64_t *masks;	/* ftree_good.c's */
};

/* Destinations for which `sw` is a good parent, see ftree_good.c. */
static inline uint64_t *
fill_good(const struct fill *f, uint32_t sw)
{
	return f->good + (size_t)sw * f->t->n_words;
}

/* ftree_good.c: fills `good`; the wheels are there. A word of it by itself, by
 * those of the parents. */
void good_find(struct fill *f);
uint64_t good_find_word(const struct fill *f, uint32_t sw, uint32_t w);

/* `t` and `h` stay until fill_free(). */
struct fill *fill_new(const struct tree *t, const struct hosts *h);
void fill_free(struct fill *f);

/* When groups have other cables than before. */
void fill_add_down_wheels(struct fill *f);

/* A worker, which makes one row after the other: each entry is set whose way
 * goes up and then down, the others are LFT_NO_PATH. Workers share `f` and
 * may work at the same time. */
struct row *row_new(const struct fill *f);
void row_free(struct row *row);

/* f->row_size entries, to be changed as one likes, until the next row. */
uint8_t *row_fill(struct row *row, uint32_t sw);

/* Only entries of these destinations, the switch itself not among them; all
 * others have no meaning. */
uint8_t *row_patch(struct row *row, uint32_t sw, const uint64_t *dests);
void row_store(const struct row *row, struct lft *out);

/* Sets what leads to port 0 of a destination in one row. */
static inline void
fill_put_own(const struct fill *f, uint8_t *ports, uint32_t dest, uint8_t port)
{
	uint32_t lid = f->own_lid[dest], i;

	if (f->n_own[dest] == 1) {	/* nearly always */
		ports[lid] = port;
		return;
	}
	for (i = 0; i < f->n_own[dest]; i++)
		ports[lid + i] = port;
}

#endif
