/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as a web page: a map, what each cable carries, the path between
 * any two nodes, the tables of every switch. One file that loads nothing else.
 */
#ifndef MINISM_SM_FABRIC_PAGE_H
#define MINISM_SM_FABRIC_PAGE_H

#include "routing/tables.h"
#include "sm/io/beside.h"
#include "sm/perf_manager.h"
#include "sm/sweep/sweep.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/* All of it is the page's own, or a reference. */
struct fabric_page {
	char *title, *engine;
	int64_t made;			/* unix time */
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;		/* NULL: no table is known */
	uint64_t *errors;		/* by port, perf_wire_errors(); NULL */
	struct sweep_stage stages[SWEEP_STAGES];	/* of the last sweep */
	unsigned n_stages;
	GPtrArray *notes;		/* of char *, a line each */

	/* private: the result */
	GString *html;
	int64_t took_us;
	uint64_t number;
};

/* The HTML. Takes the page over. */
GString *fabric_page_print(struct fabric_page *p);

/* The pages of a manager, one after the other, made beside its loop. */
struct fabric_pages;

/* beside is borrowed, and freed later. */
struct fabric_pages *fabric_pages_new(struct beside *beside);
void fabric_pages_free(struct fabric_pages *p);

/* Takes the page over; while none is being made. Its number. */
uint64_t fabric_pages_make(struct fabric_pages *p, struct fabric_page *page);
/* One that is not old, or has this number. NULL: to be asked for again, with
 * *number, which is being made; 0: none is. */
const GString *fabric_pages_get(const struct fabric_pages *p, uint64_t *number);
/* What they show has changed. */
void fabric_pages_expire(struct fabric_pages *p);

#endif
