/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a sweep tells when it is over.
 */
#ifndef MINISM_SWEEP_SWEEP_REPORT_H
#define MINISM_SWEEP_SWEEP_REPORT_H

#include "routing/select.h"
#include "sm/sweep/election.h"
#include "sm/plan/plan.h"
#include "sm/sweep/health.h"
#include "topology/partition.h"

/* A consistent picture of the fabric: what is there, what it was given. */
struct view {
	struct snapshot *subnet;
	struct lid_map *lids;
	struct lft *lft;		/* wanted */
	struct lft_seen *seen;		/* held by the switches */
	struct port_tables *tables;	/* held by the ports */
	struct partition_rules *rules;
	struct memberships *memberships;
};

enum sweep_end {
	SWEEP_END_PLANNED,	/* read only: the plan is made, nothing sent */
	SWEEP_END_UP,
	SWEEP_END_NOT_UP,	/* report->verdict says why */
	SWEEP_END_STANDBY,	/* another SM is the master */
	SWEEP_END_FAILED,	/* report->error: nothing was programmed */
};

struct sweep_report {
	enum sweep_end end;
	const struct view *view;	/* NULL if FAILED or STANDBY */
	const struct plan *plan;	/* PLANNED */
	const struct desired *wanted;	/* PLANNED */
	const struct health *verdict;	/* UP, NOT_UP */
	const struct choice *choice;	/* PLANNED, UP, NOT_UP */
	const uint8_t *fresh;	/* UP, NOT_UP: by switch: it came without a
				   LID, so it has lost its tables */
	const char *error;		/* FAILED */
	const struct snapshot_node *master;	/* STANDBY */
	const GArray *peers;	/* struct election_peer: SMs that answered in
				   the last election, maybe of a sweep before
				   this one; NULL: none was held */
	const char *causes;		/* "trap, election" */
	int64_t took_us;
};

#endif
