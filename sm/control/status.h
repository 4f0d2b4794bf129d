/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The results of the last sweeps.
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
};
/* "up", "not up", "standby", "failed", "planned" */
const char *status_end_name(enum sweep_end end);

/* A step of a credit loop: packets for `lid` leave the switch by `port` into
 * the next one. */
struct status_channel {
	char *desc;
	uint64_t guid;
	unsigned port;
	uint16_t lid;
};

struct status {
	uint64_t n_sweeps;	/* heavy ones and repairs; of them, */
	uint64_t n_repairs;
	struct status_sweep sweeps[STATUS_SWEEPS];	/* [n % STATUS_SWEEPS]
				   is the nth; see status_last() */
	struct sweep_stage stages[SWEEP_STAGES];	/* of the last one */
	unsigned n_stages;
	/* Of the last one that read the fabric: NULL and 0 before. */
	struct snapshot *subnet;
	uint32_t n_hosts, n_links, n_active;
	uint16_t top;		/* LID */
	char *engine, *reason;
	enum choice_safety safety;
	GPtrArray *notes;	/* the engine's */
	GPtrArray *compared;	/* auto's candidates */
	uint64_t lost_hosts;	/* pairs without a path */
	uint32_t n_looped;	/* channels in credit loops */
	GArray *loop;		/* struct status_channel; NULL: none */
	/* Of the last one of all. */
	GPtrArray *complaints;	/* NULL: none */
	GPtrArray *warnings;	/* problems that leave it UP; NULL: none */
	char *error;		/* FAILED */
	char *master;		/* STANDBY: its name */
};

struct status *status_new(void);
void status_free(struct status *s);

/* A heavy sweep has ended. */
void status_note(struct status *s, const struct sweep_report *r, int64_t now);

/* The nth last, from 0; NULL: there were not so many, or it is forgotten. */
const struct status_sweep *status_last(const struct status *s, unsigned n);

#endif
