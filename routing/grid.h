/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Dimensions of the cables of meshes, tori, hypercubes and HyperX.
 */
#ifndef MINISM_ROUTING_GRID_H
#define MINISM_ROUTING_GRID_H

#include "routing/graph.h"

/* By edge: its dimension, from 0 on; NULL: this is not a grid. g_free. */
uint8_t *grid_find(const struct graph *g);

#endif
