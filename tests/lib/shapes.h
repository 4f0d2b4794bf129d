/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics as people build them, for the tests of engines: trees with
 * exceptions, which no generator of generate.h draws.
 */
#ifndef MINISM_TESTS_SHAPES_H
#define MINISM_TESTS_SHAPES_H

#include "topology/snapshot.h"

/*
 * By name, NULL-terminated:
 *	service		two spines have a service host
 *	storage		four leaves have few hosts, three spines one each
 *	hosts-on-spines	each spine has half as many hosts as a leaf
 *	leaf-peers	cables between leaves
 *	spine-peers	cables between spines
 *	leaf-below	a leaf that hangs on two other leaves
 *	two-trees	joined by cables between spines
 *	full-core	three levels; each core has a cable to every spine
 *	uneven		one to four cables between a leaf and a spine
 *	grown		half of the pods have two cables to half of the cores
 *	half-core	each core has a cable to half of the spines of a pod
 *	rails		eight leaves a pod, a core meets it through four spines
 *	half-populated	three levels, half of the pods absent
 * and, not in the list: directors (line and fabric boards, each leaf hangs on
 * two of them), dragonfly-plus, kautz, slim-fly, two-trees-leaves (two trees
 * joined by cables between leaves).
 */
extern const char *const shape_names[];

/* GUIDs and cables by the seed; so many per mille of the cables between
 * switches are left out. snapshot_unref(). */
struct snapshot *shape_new(const char *name, uint64_t seed,
			 unsigned fail_per_mille);

#endif
