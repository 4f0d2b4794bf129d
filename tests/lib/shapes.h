/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics as people build them, for tests and measurements: trees with
 * exceptions, and others that no formula of generate.h describes.
 */
#ifndef MINISM_TESTS_SHAPES_H
#define MINISM_TESTS_SHAPES_H

#include "topology/snapshot.h"

/* Trees whose exceptions cost little, by name, NULL-terminated. The names of all
 * shapes are told in doc/routing.md. */
extern const char *const shape_names[];

/* GUIDs and cables by the seed; so many per mille of the cables between
 * switches are left out. snapshot_unref(); NULL: no shape has the name. */
struct snapshot *shape_new(const char *name, uint64_t seed,
			 unsigned fail_per_mille);

#endif
