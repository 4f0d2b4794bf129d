/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sweep: the life of a subnet manager as a state machine.
 */
#ifndef MINISM_SWEEP_SWEEP_H
#define MINISM_SWEEP_SWEEP_H

#include "sm/log.h"
#include "sm/persist.h"
#include "sm/plan/isolation.h"
#include "sm/plan/plan.h"
#include "sm/sweep/amend.h"
#include "sm/sweep/avoid.h"
#include "sm/sweep/election.h"
#include "sm/sweep/flaps.h"
#include "sm/sweep/health.h"
#include "sm/sweep/late.h"
#include "sm/sweep/reregister.h"
#include "sm/sweep/route_job.h"
#include "topology/partition.h"

enum sweep_state {
	SWEEP_IDLE,		/* nothing to do */
	SWEEP_WAITING,		/* collecting changes for a moment */
	SWEEP_LIGHT,		/* looking for changes */
	SWEEP_PROBING,		/* NodeInfo through silent ports; PortInfo of
				   links in turn */
	SWEEP_REREADING,	/* the nodes that reported a change */
	SWEEP_DISCOVERING,
	SWEEP_ELECTING,		/* querying the other SMs */
	SWEEP_READING,		/* the tables that switches hold */
	SWEEP_ROUTING,		/* computing routes, beside the loop */
	SWEEP_PROGRAMMING,
	SWEEP_POLLING,		/* standby: is the master alive? */
	SWEEP_SUSPENDED,	/* the umad device or its port is gone */
};
#define SWEEP_STATES	(SWEEP_SUSPENDED + 1)
extern const char *const sweep_state_names[];

/* How often a state was left, and after how long: up to 1, 10, 100 ms, 1, 10
 * s, each bucket including those before it. */
#define SWEEP_BUCKETS	5u
struct sweep_phase {
	uint64_t n, within[SWEEP_BUCKETS];
	int64_t us;
};

/* What may cause a heavy sweep. */
enum sweep_cause {
	SWEEP_CAUSE_START,
	SWEEP_CAUSE_SIGNAL,	/* SIGHUP or minismctl: reads everything */
	SWEEP_CAUSE_TRAP,
	SWEEP_CAUSE_LIGHT,	/* the light sweep found a change */
	SWEEP_CAUSE_MEANWHILE,	/* a change during the sweep */
	SWEEP_CAUSE_RELEASED,	/* a flapping link is no longer held down */
	SWEEP_CAUSE_AVOID,	/* the links to be avoided have changed */
	SWEEP_CAUSE_GROUPS,	/* repaired or kept tables leave no room for the
				   trees of groups */
	SWEEP_CAUSE_RETRY,	/* the fabric is not up */
	SWEEP_CAUSE_UNTAKEN,	/* a port did not take an address or a
				   protection; with back-off */
	SWEEP_CAUSE_LATE,	/* Sets without an answer may have come late */
	SWEEP_CAUSE_ELECTION,
	SWEEP_CAUSE_PARTITIONS,	/* only the partitions have changed */
	SWEEP_CAUSE_TIME,	/* configured: every sweep is a heavy one */
};
/* They have a time of their own. */
#define SWEEP_RETRIES	(1u << SWEEP_CAUSE_RETRY | 1u << SWEEP_CAUSE_UNTAKEN)

/* What was decided about computed tables; counted since the start. */
enum sweep_verdict {
	SWEEP_VERDICT_SAFE,	/* as CHOICE_SAFE, */
	SWEEP_VERDICT_STEPS,	/* CHOICE_DRAIN, */
	SWEEP_VERDICT_LOOP,	/* CHOICE_LOOP; */
	SWEEP_VERDICT_REFUSED,	/* nothing was programmed */
	SWEEP_VERDICTS
};
struct sweep_totals {
	uint64_t verdicts[SWEEP_VERDICTS];
	uint64_t lft_blocks, lft_entries;	/* written, changed by that */
};

enum sweep_goal {
	SWEEP_GOAL_FABRIC,	/* bring it up, and keep it so */
	SWEEP_GOAL_ONCE,	/* one sweep, then stop */
	SWEEP_GOAL_PLAN,	/* one sweep up to the plan: sends no Set,
				   takes part in no election */
	SWEEP_GOAL_OBSERVE,	/* the same, and stay: see observe.c */
};
/* More sweeps follow. */
static inline bool
sweep_goal_stays(enum sweep_goal goal)
{
	return goal == SWEEP_GOAL_FABRIC || goal == SWEEP_GOAL_OBSERVE;
}

/* It sends no Set. */
static inline bool
sweep_goal_reads(enum sweep_goal goal)
{
	return goal == SWEEP_GOAL_PLAN || goal == SWEEP_GOAL_OBSERVE;
}


/* Called after each decision; its values are in struct sweep. */
enum sweep_note {
	SWEEP_NOTE_STATE,	/* another enum sweep_state */
	SWEEP_NOTE_ELECTED,	/* others: the managers that answered */
	SWEEP_NOTE_LIDS,	/* next.lids */
	SWEEP_NOTE_ROUTED,	/* choice */
	SWEEP_NOTE_PLANNED,	/* plan */
};
struct sweep;

/* For the standby's copy of the master's state; each may be NULL. */
struct sweep_hooks {
	/* This SM has become the master; the former one may have answered
	 * clients until `heard`, us; INT64_MAX: for longer than this SM has
	 * seen. Returns the former master's LID if all its clients are known, as
	 * *clients (see reregister_trust()), else LID_NONE. */
	uint16_t (*mastered)(int64_t heard, GHashTable **clients, void *data);
	/* The master hands over: sweep_accept() is to be called. */
	void (*offered)(void *data);
	/* Routes of s->next are about to change. True: sweep_cut_trees() is to
	 * be called, and after `cut` sweep_prepared(); never from inside. */
	bool (*prepare)(const struct sweep *s, void *data);
	/* These trees, of sweep_cut_trees(), suit the update. Takes them
	 * over. */
	void (*cut)(struct mft *trees, void *data);
	/* Another manager has taken over, after sweep_retire(). */
	void (*released)(void *data);
	/* sweep_settle_doubt() no more: this SM is the master. */
	void (*sure)(void *data);
	void *data;
};

struct sweep_params {
	struct persist_keys *keystore;	/* NULL: no M_Keys */
	uint64_t sm_key, port_guid;
	GArray *allowed_sms;	/* PortGUIDs, see guid_files.h; NULL: all. A
				   reference is taken. */
	unsigned priority, lmc;
	/* No priority is configured: see sm/sweep/sweep_elect.c. */
	bool guest;
	bool hidden;		/* other SMs do not see us: IsSM is not set */
	bool take_over;		/* see sweep_take_over() */
	void (*show)(bool shown, void *data);	/* sets IsSM; or NULL */
	void *show_data;
	unsigned sweep_s;		/* 0: no light sweeps */
	/* Where nodes are to be, until a fabric has been seen; updated with
	 * each that is published */
	struct expected *expected;
	struct flap_params flaps;
	unsigned avoid;			/* policy: bits of enum avoid_cause */
	GHashTable *names;		/* configured node names, by NodeGUID;
					   or NULL */
	/* Standby: interval of the polls of the master, and lost polls until
	 * it counts as dead. */
	unsigned poll_ms, polls_lost;
	struct sweep_hooks hooks;
	enum sweep_goal goal;
	const char *digest;	/* the plan has this plan_digest(), or nothing
				   is written; NULL: any. Borrowed. */
	struct route_params route;
	int64_t route_us, trees_us;	/* simulated: what routing takes, and
					   the trees of groups */
	const struct policy *policy;
	/* rules NULL: the built-in ones. Takes a reference on the rules. */
	struct isolation_params isolation;
	enum reregister_start clients;	/* clients of the SA */
	/* NULL: not called. */
	void (*note)(enum sweep_note note, const struct sweep *s, void *data);
	void *note_data;
};

/* ------------------------------------------------- what a sweep reports */

/* A consistent picture of the fabric and its configuration. */
struct view {
	struct snapshot *subnet;
	struct lid_map *lids;
	struct lft *lft;		/* wanted */
	struct lft_seen *seen;		/* held by the switches */
	struct port_tables *tables;	/* held by the ports */
	struct partition_rules *rules;
	struct memberships *memberships;
	struct choice choice;		/* that made `lft` */
	bool is_repaired;		/* `lft` is the result of a repair */
	GPtrArray *avoided;		/* see avoid_choose() */
	GArray *silent;			/* struct silent_port; NULL in `next` */
};

enum sweep_end {
	SWEEP_END_PLANNED,	/* plan only: nothing was sent */
	SWEEP_END_UP,
	SWEEP_END_NOT_UP,	/* reasons: report->verdict */
	SWEEP_END_STANDBY,	/* another SM is the master */
	SWEEP_END_FAILED,	/* report->error; nothing was programmed */
};

struct sweep_report {
	enum sweep_end end;
	const struct view *view;	/* NULL if FAILED or STANDBY */
	const struct plan *plan;	/* PLANNED */
	const struct desired *wanted;	/* PLANNED */
	const struct health *verdict;	/* UP, NOT_UP */
	const struct choice *choice;	/* PLANNED, UP, NOT_UP */
	const uint8_t *fresh;	/* UP, NOT_UP: see table_reader_fresh(); or a
				   Set may have come late */
	bool is_news;		/* UP: something was sent, or it was not up;
				   NOT_UP: always */
	const char *error;		/* FAILED */
	bool cut_off;			/* FAILED: our own link is down, or our
					   device is gone */
	const struct snapshot_node *master;	/* STANDBY, or observed;
						   NULL: none */
	const GArray *peers;	/* struct election_peer: the SMs that
				   answered in the last election, which may
				   be older than this sweep; NULL: there was
				   none. */
	const char *causes;		/* "trap, election" */
	bool is_repair;			/* only some nodes were read, */
	bool is_anew;			/* or all tables, asked for */
	int64_t took_us;
};

typedef void (*sweep_end_fn)(const struct sweep_report *r, void *data);

/* Borrows all its arguments. Does nothing before the first sweep_request(). */
struct sweep *sweep_new(struct mad_client *x, const struct sweep_params *params,
			struct persist *memory, struct log *log,
			sweep_end_fn end, void *data);
void sweep_free(struct sweep *s);

/* Effective from the next sweep; `route` is copied, its lists are borrowed. */
void sweep_set_route(struct sweep *s, const struct route_params *route);
/* Takes a reference; NULL: no names. Effective from the next heavy sweep. */
void sweep_set_names(struct sweep *s, GHashTable *names);
/* Takes a reference. Effective from the next sweep; SWEEP_CAUSE_PARTITIONS
 * requests one that, for this cause alone, reads no node. */
void sweep_set_partitions(struct sweep *s, struct partition_rules *rules);
void sweep_request(struct sweep *s, enum sweep_cause cause);
/* The node with this LID sent a trap about a change: it is read again if
 * that is enough, else the whole fabric. */
void sweep_trap(struct sweep *s, uint16_t lid);
/* Counts a trap of any kind from this LID about its port `num`, or 0. */
void sweep_count_trap(struct sweep *s, uint16_t lid, unsigned num);
/* The link of this switch port is to be avoided. errors: it has so many within
 * an hour, and is avoided if it can be spared; 0: the operator wants it. False:
 * it was so already, by the operator. */
bool sweep_avoid(struct sweep *s, uint64_t guid, uint8_t num, uint64_t errors);
/* It may be used. only_errors: as far as its errors are concerned, which have
 * become few. False: it was so already. */
bool sweep_use(struct sweep *s, uint64_t guid, uint8_t num, bool only_errors);
/* The port is gone: a sweep in progress fails, and requests wait.
 * sweep_resume() starts again with an election, since anything may have
 * happened in between. */
void sweep_suspend(struct sweep *s, const char *why);
void sweep_resume(struct sweep *s);
/* The manager with this LID has taken our port, see election_lost_to(). Nothing
 * is written before the next sweep. */
void sweep_replaced(struct sweep *s, uint16_t lid);
/* For maintenance: a sweep in progress ends normally; then there are no
 * light or heavy sweeps and no polls of the master; causes are noted.
 * Afterwards everything is read again. */
void sweep_set_paused(struct sweep *s, bool paused);
/* This SM becomes the master, with a priority above that of the present one;
 * no guest any more. */
void sweep_take_over(struct sweep *s);
/* May change which SM is the master; no guest any more. */
void sweep_set_priority(struct sweep *s, unsigned priority);
/* Clients of the SA have to wait while another manager may be the master by now.
 * If that is not known, it is read at our own port. True: it is not known yet, or
 * so; hooks.sure follows. */
bool sweep_settle_doubt(struct sweep *s);
/* Handles Set(SMInfo) from another SM. */
void sweep_control(struct sweep *s, enum sm_control control,
		   const struct sm_info *from);
/* A callback: the state of the master that hands over has been received. */
void sweep_accept(void *sweep);
/* Before the end of the process: hands over to the standby of highest
 * priority that shows our SM_Key, and takes no further part. False: this SM
 * is not the master, or there is no such standby. */
bool sweep_retire(struct sweep *s);
void sweep_sm_info(const struct sweep *s, struct sm_info *out);
/* For a watchdog: sweeps, light sweeps and polls no longer begin, or one does
 * not end. */
bool sweep_is_stalled(const struct sweep *s);
/* struct election_peer: the other managers that answered in the last
 * election, and the snapshot that has them; borrowed; NULL: there was none. */
const GArray *sweep_peers(const struct sweep *s,
			  const struct snapshot **where);
/* Is this the LID of the standby that is to follow this master, whether or not
 * it answered in the last election? */
bool sweep_is_heir(const struct sweep *s, uint16_t lid);
/* The present tables leave no room for a tree of a group. If they are
 * the result of a repair, or have entries of the tables before, the engines will
 * route the fabric soon without these; else false. */
bool sweep_reroute(struct sweep *s);

/* One sweep, from its begin to its end, when all of it is freed; or a light
 * sweep, or a poll. 0 and NULL: not under way, or not computed yet. */
struct sweep_run {
	unsigned why;			/* its causes */
	bool is_repair;
	int64_t began, elected;		/* its last election began, us */
	struct mad_client_stats stats;	/* when it began */
	/* what it waits for */
	struct smp_batch *batch;	/* of its present state */
	struct beside_job *routing;	/* or cutting trees */
	uint32_t look;			/* see election_look() */
	bool is_preparing;		/* hooks.prepare, before
					   programming */
	bool strays;			/* Sets of this manager alone may have
					   reached other nodes */
	/* what it computes beside the next view */
	struct port_tables *qos;	/* tables that QoS needs it to read */
	GPtrArray *problems;	/* char *: tables that were not read, then
				   what devices had with Sets */
	GPtrArray *remarks;	/* likewise, of end ports in trouble */
	GArray *lost;			/* see silent_note() */
	bool is_outdated;		/* the repair in `routing` is not to
					   come back */
	uint8_t *fresh;			/* see struct sweep_report */
	struct isolation *isolation;
	uint8_t *reregister, *phys;	/* by port, see struct desired */
	uint32_t *untaken;		/* by port: fields that it has not taken,
					   in sweeps before, and in this one */
	struct desired wanted;
	struct plan *plan;
};

/* The life of a manager: its state, and what is due. Written by sweep*.c and
 * heavy_sweep.c only. */
struct sweep {
	struct mad_client *x;
	struct transport *t;		/* of x */
	struct sweep_params params;
	const struct mkey_db *keys;	/* the keystore's, or NULL */
	struct reregister *clients;
	struct persist *memory;
	struct log *log;
	sweep_end_fn end;
	void *data;
	struct beside *beside;

	enum sweep_state state;
	int64_t state_since;
	struct sweep_phase phases[SWEEP_STATES];
	struct sweep_totals totals;
	unsigned causes;		/* requested: bits 1 << enum
					   sweep_cause */
	GHashTable *notices;		/* nodes to be read again, */
	unsigned notice_causes;		/* and the causes */
	int64_t light_due;		/* time of the next light sweep */
	unsigned turn;			/* the next one of reading links */
	enum {
		TURN_DONE,
		TURN_DUE,		/* after a light sweep, */
		TURN_LATE,		/* and it was interrupted */
	} turn_state;
	struct flaps *flaps;
	GArray *wishes;			/* struct avoid_wish */
	unsigned timer;			/* of what comes next, */
	void (*what)(struct sweep *s);	/* and what that is */
	int64_t last_end;		/* of a heavy sweep, us */
	int64_t last_took;
	struct bucket traps;		/* sweeps for traps, one each */
	int64_t trap_us;
	int64_t trap_at;		/* the first one that waits for it */

	struct sm_info self;
	GArray *others;			/* see struct sweep_report */
	uint64_t heir;			/* PortGUID of the highest standby that
					   this master has seen */
	GPtrArray *rivals;		/* see election_rivals(); NULL: there
					   was no election */
	bool contested;			/* see election_rivals(); not of
					   one who writes nothing */
	struct sweep_run run;
	struct view next;		/* made by `run`, */
	struct view view;		/* and when it has ended: published */
	struct snapshot *last;		/* discovered, published or not; NULL:
					   none since this SM is or seeks to be
					   the master */
	struct snapshot *elected;	/* standby: fabric of the last
					   election */
	uint32_t master;		/* standby: the master's port in
					   `elected` */
	uint16_t former;		/* LID of the master whose state was
					   taken over; LID_NONE: of none */
	unsigned polls_lost;
	unsigned waits;			/* of a guest for candidates */
	int64_t heard;			/* standby: until then the master may
					   have been alive, us */
	unsigned stands;		/* a sweep began anew since this process
					   stood still */
	bool in_doubt;			/* it does so, until the election; or a
					   look, if no sweep is to come */
	uint32_t doubt;			/* see election_look(); 0: no look is
					   under way */
	int64_t doubted;		/* the last one began, us */
	unsigned looks;			/* in a row */
	unsigned n_slow;		/* ports that were slow to answer */
	int64_t sure_at;		/* this SM was the master, us */
	bool paused;
	bool owes_lfts;	/* another manager programmed the fabric, and not
			   all LFT blocks were written since: see
			   is_inherited() */
	bool up;			/* as logged last */
	bool over;			/* the goal is reached or missed */
	int64_t retry_us, retry_due;	/* of SWEEP_CAUSE_RETRY and _UNTAKEN:
					   the interval, and the next time; */
	uint64_t vain_guid;	/* of the port that was to be the master, and was not
				   at the last polls; 0: it was */
	int64_t vain_since;	/* us */
	int64_t left_until;	/* our port is not read, not to renew the lease of
				   its M_Key, us */
	struct late *late;
	GArray *ways;	/* struct sweep_way, whose ends are not known */
	bool has_retried;		/* all was read again since the news */
	bool cut_off;	/* our own link was down since the last sweep, or our
			   device gone: another SM may have changed anything */
	bool astray;	/* since the last sweep cables were moved: a Set may
			   have reached another node, see find_astray();
			   or a sweep was broken off; or another master was
			   there, which wrote as well */
	bool failed;	/* the last sweep: what it found is not in the view */
	struct repair *repair;		/* of the last tables of an engine;
					   NULL: none, or in run.routing */
	char *said;			/* choice.reason, or of a failure, as
					   logged last */
};

/* The port with this LID; SNAPSHOT_NONE: there is none. */
static inline uint32_t
sweep_lid_owner(const struct view *v, uint16_t lid)
{
	return v->lids ? lid_map_owner(v->lids, lid) : SNAPSHOT_NONE;
}

/* The view is about to be replaced. */
static inline bool
sweep_is_programming(const struct sweep *s)
{
	return s->run.look || s->run.is_preparing ||
		(s->state == SWEEP_PROGRAMMING && s->run.batch);
}

/* A view, of a fabric that is this manager's, or that it observes. */
static inline bool
sweep_has_fabric(const struct sweep *s)
{
	return s->view.subnet && (s->self.state == SM_STATE_MASTER ||
				  s->params.goal == SWEEP_GOAL_OBSERVE);
}

/* See hooks.prepare. Nothing happens if the sweep has ended. Takes the trees
 * over, which the switches hold. */
void sweep_cut_trees(struct sweep *s, struct mft *trees);
void sweep_prepared(struct sweep *s);

static inline void
sweep_note(const struct sweep *s, enum sweep_note note)
{
	if (s->params.note)
		s->params.note(note, s, s->params.note_data);
}

/* The rest is private to sweep*.c and heavy_sweep.c. */

void sweep_set_state(struct sweep *s, enum sweep_state state);
void sweep_set_sm_state(struct sweep *s, enum sm_state state);
void sweep_stop(struct sweep *s);
void sweep_view_clear(struct view *v);
/* Takes a reference. */
void sweep_set_last(struct sweep *s, struct snapshot *n);
/* The node with this NodeGUID is to be read again, */
void sweep_changed(struct sweep *s, enum sweep_cause cause, uint64_t guid);
/* and that begins now if no sweep is in progress. */
void sweep_reread(struct sweep *s);
/* Ends the holds of links that are due. */
void sweep_release_flaps(struct sweep *s);
/* The port that was disabled for this entry, in n; SNAPSHOT_NONE: there is
 * none. */
uint32_t sweep_disabled_port(const struct flap *p, const struct snapshot *n);

/* Logs how many MADs this sweep has sent. */
void sweep_log_sent(struct sweep *s, enum log_level level);

/* Another sweep for this cause, RETRY or UNTAKEN: after twice the interval of
 * before, within these bounds, us. */
void sweep_retry(struct sweep *s, enum sweep_cause cause, int64_t min,
		 int64_t max);
/* Is all that can be sent again known without reading the fabric? */
bool sweep_is_whole(const struct sweep *s);
/* A smp_late_fn. */
void sweep_note_late(void *sweep, uint64_t node_guid,
		     const struct smp_request *r, bool is_refused);
/* Ends a heavy sweep or a repair, successful or not. */
void sweep_conclude(struct sweep *s, const struct sweep_report *r);
void sweep_fail(struct sweep *s, const char *message);

/* Queries the other managers of s->next.subnet; if this one is the master, the
 * sweep continues. */
void sweep_elect(struct sweep *s);
/* Queries those of the published view, or the master; then it rests. */
void sweep_poll_peers(struct sweep *s);
void sweep_poll_master(struct sweep *s);
void sweep_begin_anew(struct sweep *s);
/* This SM was the master, us; what was asked then may be answered after a stall. */
void sweep_be_sure(struct sweep *s, int64_t asked);
/* This process stood still. True: the sweep begins anew. */
bool sweep_stood(struct sweep *s);
/* Discovers once more. */
void sweep_look_again(struct sweep *s);
/* Calls run() in us, in the present state. */
void sweep_wait(struct sweep *s, int64_t us, void (*run)(struct sweep *s));
/* Waits for what is next. */
void sweep_rest(struct sweep *s);
/* The engines route the fabric the next time. */
void sweep_forget_repair(struct sweep *s);

/* No guest any more: sets IsSM, and an election follows. */
void sweep_show(struct sweep *s);

/* An observer. Has the last sweep been long enough ago to read all again? */
bool observe_is_due(const struct sweep *s);
/* The master of the last election; NULL: there is none. */
const struct election_peer *observe_master(const struct sweep *s);
/* Takes LIDs that a port does not hold out of the map. */
void observe_lids(const struct snapshot *n, struct lid_map *map);
/* Of what another manager decided: P_Keys, and of hosts the SLs. */
bool observe_reads(const struct snapshot *n, enum port_table table,
		   uint32_t port);
/* By the P_Keys that the ports hold. */
struct memberships *observe_memberships(const struct snapshot *n,
					const struct port_tables *held);
/* Appends problems of s->next that no manager of ours would leave; g_free. */
void observe_judge(const struct sweep *s, GPtrArray *lines);

/* Called as the master, with s->next.subnet; ends with sweep_conclude(). */
void heavy_sweep_start(struct sweep *s);
/* Goes on with s->next.lft. */
void heavy_sweep_decide(struct sweep *s);

#endif
