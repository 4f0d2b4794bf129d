/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * auto: which of the engines has the best tables for this fabric?
 */
#ifndef MINISM_ROUTING_SELECT_H
#define MINISM_ROUTING_SELECT_H

#include "routing/choose.h"

/*
 * Fills the tables, reason and comparison of *c. The engine in force stays
 * unless it is not safe any more or another one is better by a tenth. False
 * with ENGINE_ERROR_FABRIC: none is safe.
 */
bool select_engine(const struct choice_wish *wish,
		   const struct engine_input *in, struct choice *c,
		   GError **error);

#endif
