/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * All LIDs decided anew, one after the other, each by the loads of those
 * before. See minhop.c.
 */
#ifndef MINISM_ROUTING_MINHOP_SPREAD_H
#define MINISM_ROUTING_MINHOP_SPREAD_H

#include "routing/minhop_tally.h"

/* Fills t->out, as fold_store() does. */
void spread_all(struct tally *t);

#endif
