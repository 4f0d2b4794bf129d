/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of before taken over as far as they are right, and mended. See
 * minhop.c.
 */
#ifndef MINISM_ROUTING_MINHOP_KEEP_H
#define MINISM_ROUTING_MINHOP_KEEP_H

#include "routing/minhop_tally.h"

/* Fills t->out, as fold_store() does. t->fold is made with `previous` as what
 * is held. Returns over how many hops nothing was sent before: cables that
 * came, or came back. */
uint32_t keep_all(struct tally *t, const struct lft *previous);

#endif
