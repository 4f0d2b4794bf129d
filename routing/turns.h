/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Turns: paths that go down and then up again, without deadlock.
 *
 * An order of the switches permits paths that go up and then down. If two
 * switches have no common ancestor, some switch must forward a packet that came
 * down to it up again. This module chooses the switches that may do so, and
 * verifies that all paths permitted in this way have no credit loop. See turns.c.
 */
#ifndef MINISM_ROUTING_TURNS_H
#define MINISM_ROUTING_TURNS_H

#include "routing/order.h"

struct turns {
	const struct graph *g;
	const struct order *o;
	/* By edge that leads up: a packet that came down by a cable of one
	 * class may go up by one of another class. 0: it may not. */
	uint8_t *class_of;
	uint32_t n_turning;	/* switches with such turns */
	uint32_t first;		/* the first of them; SNAPSHOT_NONE */
};

/* Finds turns that join what the order does not; none, if the order joins
 * all CAs with each other and with all switches. g and o are borrowed. */
struct turns *turns_new(const struct graph *g, const struct order *o);
void turns_free(struct turns *t);

/* May a packet that came down by edge `in` leave by `out`, which leads up from
 * the switch to which `in` leads, by these turns? */
bool turns_is_new(const struct turns *t, uint32_t in, uint32_t out);

#endif
