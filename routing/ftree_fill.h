/*
 * From the tree to the tables: the closed form, row by row.
 */
#ifndef MINISM_ROUTING_FTREE_FILL_H
#define MINISM_ROUTING_FTREE_FILL_H

#include "routing/ftree_hosts.h"
#include "routing/ftree_tree.h"
#include "routing/tables.h"

/*
 * The LIDs of CAs are entries; those of destination d are first_entry[d] to
 * first_entry[d + 1] - 1. After fill_new() nothing in here is written.
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
	uint8_t **lid_wheel;	/* rank -> by LID, both in one */
	uint8_t **lid_pod;	/* rank -> by LID: below which child; NULL:
				   there are too many */
	uint32_t **pods;	/* rank -> by switch, likewise */
	uint8_t **down_wheel;	/* rank * 256 + parallel cables -> by entry:
				   cable; NULL: no switch needs it */
	uint64_t *good;		/* see fill_good() */
};

/* Destinations for which `sw` is a good parent, see ftree_good.c. */
static inline uint64_t *
fill_good(const struct fill *f, uint32_t sw)
{
	return f->good + (size_t)sw * f->t->n_words;
}

/* ftree_good.c: fills `good`; the wheels are there. */
void good_find(struct fill *f);

/* `t` and `h` stay until fill_free(). */
struct fill *fill_new(const struct tree *t, const struct hosts *h);
void fill_free(struct fill *f);

/* A worker, which fills one row of `out` after the other. Rows hold nothing
 * yet; each entry is set whose way goes up and then down. Workers share `f`
 * and may work at the same time. */
struct row *row_new(const struct fill *f, struct lft *out);
void row_free(struct row *row);
void row_fill(struct row *row, uint32_t sw);

/* Sets what leads to port 0 of a destination in one row. */
static inline void
fill_put_own(const struct fill *f, uint8_t *ports, uint32_t dest, uint8_t port)
{
	uint32_t lid = f->own_lid[dest], end = lid + f->n_own[dest];

	for (; lid < end; lid++)
		ports[lid] = port;
}

#endif
