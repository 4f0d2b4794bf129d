/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who is to be routed to, and by which number: the t of D-mod-k.
 */
#ifndef MINISM_ROUTING_FTREE_HOSTS_H
#define MINISM_ROUTING_FTREE_HOSTS_H

#include "routing/engine.h"
#include "routing/ftree_tree.h"

/*
 * The LIDs of CAs, those of destination d being first[d] to first[d + 1] - 1,
 * by (port, LID); with those that nobody owns any more but that the tables of
 * before still deliver to a port where nobody else is.
 */
struct hosts {
	uint32_t n, n_gone;
	uint32_t *first;	/* by destination, n_switches + 1 */
	uint16_t *lid;
	uint8_t *port;
	uint32_t *number;
	uint32_t *base;		/* by destination: where its numbers start */
	uint32_t usual;		/* CAs on a leaf, usually */
	uint16_t *own_lid;	/* of port 0, by destination */
	uint8_t *n_own;		/* LIDs of port 0, by destination */
};

/* in->previous and in->is_io are looked at. */
struct hosts *hosts_new(const struct tree *t, const struct engine_input *in);
void hosts_free(struct hosts *h);

/* Of trees with the same destinations. */
bool hosts_equal(const struct hosts *a, const struct hosts *b,
		 uint32_t n_switches);

#endif
