/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flows of all hosts along forwarding tables, added up by channel.
 */
#ifndef MINISM_ROUTING_FLOWS_H
#define MINISM_ROUTING_FLOWS_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * One flow from each host to each LID for which lids[], up to g->top, is not 0:
 * adds to load[], by edge, and to *arrived those that end at the LID's owner;
 * a host's flow to itself is one of them.
 *
 * place: by switch; up is towards the higher place. Any order gives the same
 * result, one in which paths go up and then down the fastest. NULL: by index.
 * False, with load[] undefined: some flows did not end after n_rounds rounds, as
 * in a forwarding loop.
 */
bool flows_add(const struct graph *g, const struct lft *lft,
	       const uint32_t *place, const uint8_t *lids, uint32_t n_rounds,
	       uint64_t *load, uint64_t *arrived);

#endif
