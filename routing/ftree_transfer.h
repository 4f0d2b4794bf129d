/*
 * Ways that go down and up again, and still cannot stop the others.
 */
#ifndef MINISM_ROUTING_FTREE_TRANSFER_H
#define MINISM_ROUTING_FTREE_TRANSFER_H

#include "routing/ftree_detour.h"

/* Looks for switches at which traffic may turn from down to up. `d` stays
 * until transfer_free(). */
struct transfer *transfer_new(struct detour *d);
void transfer_free(struct transfer *x);

/* Gives switches that d->reach says have no way to a destination one if there
 * is any, for all its LIDs; keeps d->reach. Once. */
void transfer_route(struct transfer *x);

/* Where the transfers of this switch's island have their root; SUBNET_NONE if
 * there are none. */
uint32_t transfer_root(const struct transfer *x, uint32_t sw);

#endif
