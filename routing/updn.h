/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up-then-down routing: the order of the switches.
 *
 * M. D. Schroeder et al., "Autonet: a high-speed, self-configuring local area
 * network using point-to-point links", 1991. See updn.c.
 */
#ifndef MINISM_ROUTING_UPDN_H
#define MINISM_ROUTING_UPDN_H

#include "routing/engine.h"

/*
 * A rank for each switch, no two alike: a cable leads up towards the lower
 * one. The upper 16 bits are the level, 0 the roots; the lower ones tell
 * switches of a level apart. What is not ENGINE_NO_RANK in `held` is kept, so
 * that no cable between two switches of before changes its direction; new
 * switches go on the layer where a tree has them, else below their highest
 * neighbour. Held ranks that cannot be (two alike) are forgotten. held,
 * is_root may be NULL. g_free.
 */
uint32_t *updn_rank(const struct graph *g, const uint32_t *held,
		    const uint8_t *is_root);

#define UPDN_LEVEL_SHIFT	16u

static inline uint32_t
updn_level(uint32_t rank)
{
	return rank >> UPDN_LEVEL_SHIFT;
}

/* One root only: from everywhere there is a way up to it, hence a legal way
 * between any two switches that are cabled together. */
uint32_t *updn_rank_single(const struct graph *g);

/* Does every CA have a legal way to everybody, and every switch to every
 * CA? */
bool updn_joins_all(const struct graph *g, const uint32_t *ranks);

#endif
