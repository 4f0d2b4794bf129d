/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Turns: paths that go down and then up again, without deadlock.
 *
 * An order of the switches permits paths that go up and then down. If two
 * switches have no common ancestor, some switch must forward a packet that came
 * down to it up again. This module chooses the switches that may do so. See
 * turns.c.
 */
#ifndef MINISM_ROUTING_TURNS_H
#define MINISM_ROUTING_TURNS_H

#include "routing/credit_loops.h"
#include "routing/order.h"

/* Adds turns that join what the order does not, as far as the graph, which has
 * those of the order and is sorted, stays so. depth: by switch, 0: the root of its
 * island. */
void turns_join(struct channels *c, const struct order *o,
		const uint32_t *depth);

#endif
