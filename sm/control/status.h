/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The results of the last sweeps, as lines of a view where only readers of one
 * want them.
 */
#ifndef MINISM_CONTROL_STATUS_H
#define MINISM_CONTROL_STATUS_H

#include "sm/sweep/sweep.h"

#define STATUS_SWEEPS	8u	/* remembered */

struct status_sweep {
	int64_t at;		/* its end, us */
	int64_t took_us;
	char *causes;
	enum sweep_end end;
	const char *verdict;	/* which was logged then; NULL: as its end */
};
/* "up", "not up", "standby", "failed", "planned" */
const char *status_end_name(enum sweep_end end);

struct status {
	uint64_t n_sweeps;	/* heavy ones and repairs; of them, */
	uint64_t n_repairs;
	struct status_sweep sweeps[STATUS_SWEEPS];	/* [n % STATUS_SWEEPS]
				   is the nth; see status_last() */
	/* Of the last one that read the fabric: NULL and 0 before. */
	struct snapshot *subnet;
	int64_t read_at;
	uint16_t top;		/* LID */
	uint64_t lost_hosts;	/* pairs without a path */
	/* Lines of a view: of that one, routes; and of the last one of all, its
	 * end. */
	GString *fabric, *end;
};

struct status *status_new(void);
void status_free(struct status *s);

/* A heavy sweep has ended. */
void status_note(struct status *s, const struct sweep_report *r, int64_t now);

/* The verdict of the sweep that was noted last. */
void status_judge(struct status *s, const char *verdict);

/* The nth last, from 0; NULL: there were not so many, or it is forgotten. */
const struct status_sweep *status_last(const struct status *s, unsigned n);

#endif
