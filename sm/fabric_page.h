/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as a web page: a map, what each cable carries, the path between
 * any two nodes, the tables of every switch. One file that loads nothing else.
 */
#ifndef MINISM_SM_FABRIC_PAGE_H
#define MINISM_SM_FABRIC_PAGE_H

#include "routing/tables.h"
#include "sm/perf_manager.h"
#include "sm/sweep/sweep.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

struct fabric_page {
	const char *title, *engine;
	int64_t made;			/* unix time */
	const struct snapshot *s;
	const struct lid_map *lids;
	const struct lft *lft;		/* NULL: no table is known */
	const struct perf_port *perf;	/* by port; NULL: not read */
	const struct sweep_stage *stages;	/* of the last sweep */
	unsigned n_stages;
	const GPtrArray *notes;		/* of char *, a line each; may be NULL */
};

/* HTML, appended to `out`. */
void fabric_page_write(const struct fabric_page *page, GString *out);

#endif
