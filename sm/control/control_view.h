/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state of the manager that commands read, and the actions that they may
 * request.
 */
#ifndef MINISM_CONTROL_CONTROL_VIEW_H
#define MINISM_CONTROL_CONTROL_VIEW_H

#include "sm/config/options.h"
#include "sm/sa/sa_server.h"
#include "sm/log.h"
#include "sm/mcast_manager.h"
#include "sm/standby.h"
#include "sm/view.h"
#include "sm/control/status.h"
#include "sm/mad/smp.h"
#include "topology/expected.h"
#include "topology/partition.h"
#include "topology/report.h"

enum control_code {
	CONTROL_DONE = 0,	/* of status: UP */
	CONTROL_NOT_DONE = 1,	/* the request could not be done */
	CONTROL_USAGE = 2,	/* the request is not valid */
	/* of status; 3 is minismctl's: no manager answers */
	CONTROL_DEGRADED = 1,
	CONTROL_NOT_UP = 4,
	CONTROL_STANDBY = 5,
	CONTROL_FAILED = 6,
	/* The first line of the answer is a request that is to be sent a
	 * moment later, for the continuation of this answer. */
	CONTROL_AGAIN = 7,
};

/* The manager as it is now; pointers are borrowed. `sa` may be NULL, and others
 * that say so. */
struct control_view {
	const char *port_name;
	uint64_t port_guid;
	const char *ms;		/* the unit of durations: transport_ms() */
	int64_t now, since;	/* us; since: it runs */
	struct log *log;
	const struct options *conf;
	const struct status *status;
	const char *refused;	/* why files of the site were not read again, or
				   NULL */
	/* state_failure(), and file_writer_failure() of the view's file */
	const char *unsaved, *unseen;
	struct sweep *sweep;
	struct partition_rules *rules;
	const struct sa_server_stats *desk;
	const struct mcast_manager *mcast;	/* NULL, for control_verdict()
						   alone: its trees come later */
	const struct expected *expected;	/* of a master; or NULL */
	const GArray *peers;		/* sweep_peers(), in `where` */
	const struct snapshot *where;
	struct standby_status standby;
	struct sa_stats sa_stats;
	struct sa *sa;
};

/* The actions that need more than that. A function that fails returns an error (of
 * one line or more) and changes nothing. */
struct control_hooks {
	void (*look)(struct control_view *out, void *data);
	/* see views_get(); not before a sweep has read the fabric */
	GBytes *(*view)(bool tables, uint64_t *number, void *data);
	void (*sweep)(void *data);
	/* Begins if *number is 0, and sets it; CONTROL_AGAIN: ask for that
	 * one later. lines, of char *: warnings, or errors. */
	enum control_code (*reload)(uint64_t *number, GPtrArray *lines,
				    void *data);
	/* see partitions_change(), partitions_changed() */
	uint64_t (*change)(uint16_t pkey, uint64_t guid, int membership,
			   const char *answer, GError **error, void *data);
	bool (*changed)(uint64_t number, const char **answer, GError **error,
			void *data);
	/* see expected_accept() */
	unsigned (*accept)(const char *word, void *data);
	void *data;
};

static inline bool
control_observes(const struct control_view *v)
{
	return v->sweep->params.goal == SWEEP_GOAL_OBSERVE;
}

/* What the text of a view is made of, which is this fabric. */
struct view_values *control_view_values(const struct control_view *v,
					const struct view *of, bool tables);

/* How long ago the fabric was read, in us, if it is not watched now: the last
 * sweep has failed or gave way to a master, or there are none while it is paused;
 * else 0. */
int64_t control_age(const struct control_view *v);

/* The state of the subnet: "up", "degraded", ... */
enum control_code control_verdict(const struct control_view *v,
				  const char **name);
/* The verdict in a line, a new string: "UP: 8 switches, 16 hosts, ..". */
char *control_headline(const struct control_view *v);

#endif
