/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A few cables are lost, or are back: only the entries whose paths used them
 * change. Pure.
 */
#ifndef MINISM_ROUTING_REPAIR_H
#define MINISM_ROUTING_REPAIR_H

#include "routing/select.h"

struct repair;

/* What choose_tables() made of a whole graph, which is taken over with a
 * reference to its snapshot. NULL if it cannot be repaired: it is not safe. */
struct repair *repair_new(struct graph *g, const struct choice *c);
void repair_free(struct repair *r);

/*
 * Tables for what the fabric is now (in->g), from what its switches hold
 * (in->previous). False, with *c empty: the whole fabric has to be routed, since
 * there are new cables, switches or hosts, or too much is lost, or a pair would
 * lose its path, or the switches hold entries of another origin or into a
 * cable that no tables may use. Without a loss the tables are those of
 * repair_new() again.
 */
bool repair_tables(struct repair *r, const struct engine_input *in,
		   struct choice *c);

#endif
