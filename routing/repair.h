/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Local repair: after a few cables are lost, or are back, only the entries
 * whose paths used them change. Pure.
 */
#ifndef MINISM_ROUTING_REPAIR_H
#define MINISM_ROUTING_REPAIR_H

#include "routing/choice.h"

#define REPAIR_MAX	65536u	/* entries that lead nowhere: the engines are
				   faster */

struct repair;

/* A switch whose entry for a LID leads nowhere. */
struct repair_end {
	uint32_t sw;
	uint16_t lid;
};

/* Keeps what choose_tables() made of a whole graph. Takes over `g`, and gives up
 * its snapshot. NULL if the tables are not safe. */
struct repair *repair_new(struct graph *g, const struct choice *c);
void repair_free(struct repair *r);

/*
 * Tables for the present fabric (in->g), from those that its switches hold
 * (in->previous). False, with *c empty, if the engines have to route the
 * fabric: there are new cables, switches or hosts; too much is lost; a pair
 * would lose its path; or the switches hold entries of another origin, or into
 * a cable that no tables may use; then `r` is good only for switches that hold
 * the tables of repair_new(). If nothing is lost, the tables are those.
 */
bool repair_tables(struct repair *r, const struct engine_input *in,
		   struct choice *c);

/* choose_cut_trees() for the last tables of repair_tables(), and trees of that
 * fabric: much faster, since their dependencies are kept. */
uint32_t repair_cut_trees(const struct repair *r, struct mft *trees);

/*
 * The same for a fabric of which only these tables are known: copies them, with
 * paths from the ends and from the switches that forward to these. Of LIDs in
 * which nothing ends the paths arrive. like: tables with paths of the usual
 * length; limit: flows of a channel of a detour, relative to the width, at most.
 * ends: struct repair_end; sorted. The caller lft_free()s. NULL: a pair has no
 * path, or it takes too long.
 */
struct lft *repair_ends(const struct graph *g, const struct lft *lft,
			GArray *ends, const struct lft *like, float limit,
			const uint32_t *ranks);

#endif
