/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Routing as the sweep asks for it: what an engine is handed, and what is
 * said of its answer.
 */
#ifndef MINISM_SWEEP_ROUTE_H
#define MINISM_SWEEP_ROUTE_H

#include "routing/select.h"
#include "sm/log.h"
#include "sm/persist.h"

struct route_params {
	const struct engine *engine;	/* NULL: see choice_wish.order */
	const struct engine *const *order;
	bool require_deadlock_free;
	/* Of uint64_t, ascending; NULL: no such list. */
	const GArray *roots;		/* NodeGUIDs */
	const GArray *compute_nodes;	/* PortGUIDs */
	const GArray *io_nodes;
	unsigned threads;		/* 0: one for each core */
};

/* held: the tables that the switches hold, NULL: not known. */
bool route_fabric(const struct route_params *params,
		  const struct persist *memory, const struct snapshot *s,
		  const struct lid_map *lids, const struct lft *held,
		  struct log *log, struct choice *choice, GError **error);

/* Says what was chosen and why: at `level`, what is dangerous as a warning. */
void route_report(const struct choice *choice, const struct snapshot *s,
		  const struct lid_map *lids, struct log *log,
		  enum log_level level);

#endif
