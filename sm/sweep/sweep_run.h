/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the two files of the sweep share. Private to them: sweep.c is the life
 * of the manager, sweep_mend.c what one sweep does to the fabric.
 */
#ifndef MINISM_SWEEP_SWEEP_RUN_H
#define MINISM_SWEEP_SWEEP_RUN_H

#include "sm/sweep/discover.h"
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/sminfo_poll.h"
#include "sm/sweep/program.h"
#include "sm/sweep/rekey.h"
#include "sm/sweep/sweep.h"
#include "sm/sweep/table_reader.h"

struct sweep {
	struct mad_client *x;
	struct sweep_params params;
	const struct mkey_db *keys;	/* the keystore's, or NULL */
	struct reregister *clients;
	struct persist *memory;
	struct log *log;
	sweep_end_fn end;
	void *data;

	enum sweep_state state;
	unsigned causes;		/* noted, 1 << enum sweep_cause */
	unsigned timer;
	int64_t last_end;		/* of a heavy sweep, us */
	int64_t trap_due;		/* when those for traps so far would
					   have been, one each TRAP_US */

	struct sm_info self;
	GArray *others;			/* see struct sweep_report */
	GPtrArray *rivals;		/* see sweep_rivals() */
	struct view view;		/* published */
	struct snapshot *elected;	/* standby: where the master is */
	uint32_t master;		/* standby: its port in `elected` */
	unsigned polls_lost;
	bool up;			/* what the log said last */
	bool over;			/* the goal is reached, or missed */
	int64_t retry_us;		/* SWEEP_CAUSE_UNTAKEN: the pause */

	/* The sweep that is under way. */
	unsigned why;			/* its causes */
	int64_t began;
	struct mad_client_stats stats;	/* at its beginning */
	struct discover *discover;
	struct sminfo_poll *peers;
	struct table_reader *tabread;
	GArray *items;			/* what it reads */
	struct port_tables *qos;	/* of these, what QoS wants */
	struct rekey *rekey;		/* comes before: */
	struct program *program;
	program_done_fn programmed;	/* told when that is over */
	struct light_sweep *light;
	struct view next;
	struct plan *plan;
	struct desired wanted;
	struct lft *bridge;		/* on the way to next.lft */
	struct choice choice;
	uint8_t *fresh;			/* see struct sweep_report */
	char *said;			/* choice.reason, last told */
	GPtrArray *table_faults;
	struct isolation *isolation;
	uint8_t *reregister;		/* by port, see struct desired */
};

static inline int64_t
sweep_now(const struct sweep *s)
{
	return transport_now(mad_client_transport(s->x));
}

static inline const char *
sweep_ms(const struct sweep *s)
{
	return transport_ms(mad_client_transport(s->x));
}

void sweep_view_clear(struct view *v);
void sweep_set_state(struct sweep *s, enum sweep_state state);
/* The end of a heavy sweep, whatever came of it. */
void sweep_conclude(struct sweep *s, const struct sweep_report *r);
void sweep_fail(struct sweep *s, const char *message);

/* From next.subnet on. */
void sweep_mend(struct sweep *s);
/* From the published view, which is good but for the partitions. */
void sweep_mend_partitions(struct sweep *s);

#endif
