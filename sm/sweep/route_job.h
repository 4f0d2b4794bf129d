/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Routing with its verification, and what an update does with trees of groups,
 * as work beside the main loop.
 */
#ifndef MINISM_SWEEP_ROUTE_JOB_H
#define MINISM_SWEEP_ROUTE_JOB_H

#include "routing/repair.h"
#include "routing/select.h"
#include "sm/io/beside.h"
#include "topology/lid.h"

/* Parameters of routing. */
struct route_params {
	const struct engine *engine;	/* NULL: see choice_wish.order */
	const struct engine *const *order;
	bool require_deadlock_free;
	/* Of uint64_t, ascending; NULL: not configured. */
	GArray *roots;		/* NodeGUIDs */
	GArray *compute_nodes;	/* PortGUIDs */
	GArray *io_nodes;
	unsigned threads;		/* 0: one for each core */
};

/* All of it is owned, or a reference. */
struct route_job {
	/* in */
	struct snapshot *subnet;
	struct lid_map *lids;
	struct lft *seen;	/* the tables that the switches hold */
	GArray *parts;		/* late_parts() of these; */
	int64_t late_until;	/* and its *until */
	uint8_t *unread;	/* see struct engine_input */
	struct route_params params;	/* with lists of its own */
	bool is_avoiding;	/* links of `subnet` are marked */
	bool makes_room;			/* see struct choice_wish, */
	char *ranks_by, *in_force;		/* and these */
	uint32_t *ranks;
	/* in and out: of the last tables of an engine; NULL: none */
	struct repair *repair;
	/* in and out: nothing is routed, but ports are cut from these trees for
	 * the tables of `choice`, which are repaired if there is `repair`. NULL */
	struct mft *trees;

	bool observes;	/* nothing is routed: `seen` becomes the choice, with
			   its verification, a credit loop in words as the
			   warning */

	/* out */
	bool ok;		/* else `error` */
	GError *error;
	struct choice choice;
	bool is_repaired;	/* the engines did not run */
	struct snapshot *all;	/* `subnet` without marks, if a pair has no path
				   without the links to be avoided; NULL */
	char *cycle;		/* credit loop of the choice in words, or NULL */
	uint32_t n_cut;		/* ports, from `trees` */
	int64_t us;		/* what it took, of this machine */
};

/* Takes references on the lists of `params`. The caller adds subnet, lids, seen
 * and, if there are any, unread, is_avoiding, ranks, both texts and repair. */
struct route_job *route_job_new(const struct route_params *params);

/* Takes the job over. done() may take what the job has computed out of it. */
struct beside_job *route_job_start(struct route_job *job, struct beside *b,
				   void (*done)(void *job, void *data),
				   void *data);

#endif
