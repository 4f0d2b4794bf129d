/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sweep: the life of a subnet manager as a state machine.
 */
#ifndef MINISM_SWEEP_SWEEP_H
#define MINISM_SWEEP_SWEEP_H

#include "routing/repair.h"
#include "sm/log.h"
#include "sm/persist.h"
#include "sm/plan/pkey_table.h"
#include "sm/plan/plan.h"
#include "sm/sweep/avoid.h"
#include "sm/sweep/election.h"
#include "sm/sweep/flaps.h"
#include "sm/sweep/health.h"
#include "sm/sweep/reregister.h"
#include "sm/io/mad_client.h"
#include "topology/partition.h"

enum sweep_state {
	SWEEP_IDLE,		/* nothing to do */
	SWEEP_WAITING,		/* a change was told: wait for more of it */
	SWEEP_LIGHT,		/* looking for changes */
	SWEEP_PROBING,		/* asking behind silent ports */
	SWEEP_REREADING,	/* what hangs on nodes that reported a change */
	SWEEP_DISCOVERING,
	SWEEP_ELECTING,		/* asking the other SMs */
	SWEEP_READING,		/* the tables that switches hold */
	SWEEP_PROGRAMMING,
	SWEEP_POLLING,		/* standby: is the master alive? */
	SWEEP_SUSPENDED,	/* there is no way to the fabric */
};
#define SWEEP_STATES	(SWEEP_SUSPENDED + 1)
const char *sweep_state_name(enum sweep_state state);

/* How often a state was left, and after how long: up to 1, 10, 100 ms, 1, 10 s,
 * each bucket with those before. */
#define SWEEP_BUCKETS	5u
struct sweep_phase {
	uint64_t n, within[SWEEP_BUCKETS];
	int64_t us;
};

/* What may cause a heavy sweep. */
enum sweep_cause {
	SWEEP_CAUSE_START,
	SWEEP_CAUSE_SIGNAL,	/* a person: trust nothing, read everything */
	SWEEP_CAUSE_TRAP,
	SWEEP_CAUSE_LIGHT,	/* the light sweep found a change */
	SWEEP_CAUSE_MEANWHILE,	/* it changed while we were at it */
	SWEEP_CAUSE_RELEASED,	/* a link is held down no longer */
	SWEEP_CAUSE_AVOID,	/* others are to be avoided */
	SWEEP_CAUSE_GROUPS,	/* repaired tables leave no room for the trees
				   of groups */
	SWEEP_CAUSE_SILENT,	/* a silent port may have a stray M_Key */
	SWEEP_CAUSE_RETRY,	/* the fabric is not up: try again */
	SWEEP_CAUSE_UNTAKEN,	/* so is an address: with back-off */
	SWEEP_CAUSE_ELECTION,
	SWEEP_CAUSE_PARTITIONS,	/* other rules: the fabric is as it was */
	SWEEP_CAUSE_TIME,	/* for each sweep is to be a heavy one */
};

/* What became of tables that were computed, since the start. */
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
	SWEEP_GOAL_ONCE,	/* one sweep, then do nothing any more */
	SWEEP_GOAL_PLAN,	/* likewise, but only make the plan: send no
				   Set, be no SM */
};

/* What the routing is asked for. */
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

/* What is just decided; struct sweep has the values. */
enum sweep_note {
	SWEEP_NOTE_STATE,	/* another enum sweep_state */
	SWEEP_NOTE_ELECTED,	/* others: the managers that answered */
	SWEEP_NOTE_LIDS,	/* next.lids */
	SWEEP_NOTE_ROUTED,	/* choice */
	SWEEP_NOTE_PLANNED,	/* plan */
};
struct sweep;

/* Of who keeps what a former master knew; each may be NULL. */
struct sweep_hooks {
	/* We are the master now; the former one answered last at `heard`, us;
	 * INT64_MAX: it may have lived on where we did not see it. Returns its
	 * LID if all its clients are known, as *clients (see
	 * reregister_trust()), else LID_NONE. */
	uint16_t (*mastered)(int64_t heard, GHashTable **clients, void *data);
	/* The master hands over. True: sweep_accept() is called soon. */
	bool (*offered)(void *data);
	/* Another manager has taken over, after sweep_retire(). */
	void (*released)(void *data);
	void *data;
};

struct sweep_params {
	struct persist_keys *keystore;	/* NULL: no M_Keys */
	uint64_t sm_key, port_guid;
	unsigned priority, lmc;
	unsigned sweep_s;		/* 0: no light sweeps */
	bool force_heavy;		/* heavy ones instead of them */
	struct flap_params flaps;
	unsigned avoid;			/* bits of enum avoid_cause: policy */
	GHashTable *names;		/* what the site calls nodes, see
					   builder_set_names(); or NULL */
	/* A standby: how often it asks the master, and how many times in vain
	 * until it acts; 0: every 250 ms, 2. */
	unsigned poll_ms, polls_lost;
	struct sweep_hooks hooks;
	enum sweep_goal goal;
	struct route_params route;
	const struct policy *policy;
	/* rules NULL: those that are built in. The rules are not consumed. */
	struct isolation_params isolation;
	enum reregister_start clients;	/* of the SA */
	/* Who explains the sweep; NULL: nobody. */
	void (*note)(enum sweep_note note, const struct sweep *s, void *data);
	void *note_data;
};

/* ------------------------------------------------- what a sweep reports */

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

/* One stage of a sweep, and what was sent in it. */
struct sweep_stage {
	enum sweep_state state;
	int64_t begin_us, end_us;	/* from the sweep's begin */
	uint64_t gets[MAD_CLIENT_ATTRS], sets[MAD_CLIENT_ATTRS];
};
#define SWEEP_STAGES	12u

struct sweep_report {
	enum sweep_end end;
	const struct view *view;	/* NULL if FAILED or STANDBY */
	const struct plan *plan;	/* PLANNED */
	const struct desired *wanted;	/* PLANNED */
	const struct health *verdict;	/* UP, NOT_UP */
	const struct choice *choice;	/* PLANNED, UP, NOT_UP */
	const uint8_t *fresh;	/* UP, NOT_UP: see table_reader_fresh() */
	const char *error;		/* FAILED */
	bool cut_off;			/* FAILED: our own link is down */
	const struct snapshot_node *master;	/* STANDBY */
	const GArray *peers;	/* struct election_peer: SMs that answered in
				   the last election, maybe of a sweep before
				   this one; NULL: none was held. */
	const char *causes;		/* "trap, election" */
	bool is_repair;			/* not all of the fabric was read */
	int64_t took_us;
	const struct sweep_stage *stages;	/* n_stages, in their order */
	unsigned n_stages;
};

typedef void (*sweep_end_fn)(const struct sweep_report *r, void *data);

/* Borrows all its arguments. Nothing happens before the first request. */
struct sweep *sweep_new(struct mad_client *x, const struct sweep_params *params,
			struct persist *memory, struct log *log,
			sweep_end_fn end, void *data);
void sweep_free(struct sweep *s);

/* From the next sweep on; `route` is copied, its lists are borrowed. */
void sweep_set_route(struct sweep *s, const struct route_params *route);
/* Takes a reference; NULL: no names. From the next heavy sweep on. */
void sweep_set_names(struct sweep *s, GHashTable *names);
/* Takes a reference. In force from the next sweep on; SWEEP_CAUSE_PARTITIONS
 * asks for one that leaves all the rest as it is, without discovery. */
void sweep_set_partitions(struct sweep *s, struct partition_rules *rules);
void sweep_request(struct sweep *s, enum sweep_cause cause);
/* The node of this LID sent a trap of a change: it is read again, if that will
 * do, else the whole fabric. */
void sweep_trap(struct sweep *s, uint16_t lid);
/* It sent a trap of any kind, about its port `num`, or 0. */
void sweep_count_trap(struct sweep *s, uint16_t lid, unsigned num);
/* The ports that count too many errors, of struct avoid_wish: all there are. */
void sweep_set_errors(struct sweep *s, const GArray *ports);
/* A person wants the link of this switch port to be avoided, or no longer. False:
 * it was so before. */
bool sweep_avoid(struct sweep *s, uint64_t guid, uint8_t num, bool avoid);
/* Of struct avoid_link, by name, of the published view; borrowed. */
const GPtrArray *sweep_avoided(const struct sweep *s);
/* See flaps_list(), flaps_downs(). */
GPtrArray *sweep_flaps(const struct sweep *s, uint64_t *downs);
/* The port is gone: what is under way ends as a sweep that failed, and what is
 * requested waits. sweep_resume() begins anew, with an election, for nothing is
 * known of what happened in between. */
void sweep_suspend(struct sweep *s, const char *why);
void sweep_resume(struct sweep *s);
/* For maintenance: a sweep that is under way ends, then there is none, light or
 * heavy, nor a look at the master; causes are noted. Back, all is read again. */
void sweep_set_paused(struct sweep *s, bool paused);
/* It may change who the master is. */
void sweep_set_priority(struct sweep *s, unsigned priority);
/* Set(SMInfo) from another SM. */
void sweep_control(struct sweep *s, enum sm_control control,
		   const struct sm_info *from);
/* What the master hands over is taken. */
void sweep_accept(struct sweep *s);
/* We are going to end: hands over to the standby of the highest rank that shows
 * our SM_Key, and takes no further part. False: we are not the master, or there
 * is none. */
bool sweep_retire(struct sweep *s);
/* Has a port this LID, as far as we know? True before the first sweep. */
bool sweep_has_lid(const struct sweep *s, uint16_t lid);
/* What people call its node; "?" if nobody has it. */
const char *sweep_lid_name(const struct sweep *s, uint16_t lid);
void sweep_sm_info(const struct sweep *s, struct sm_info *out);
/* Lines about other managers that manage the same ports, see
 * election_rivals(); borrowed; NULL: none. */
const GPtrArray *sweep_rivals(const struct sweep *s);
/* struct election_peer: the other managers that answered in the last election,
 * and the fabric that they are in; borrowed; NULL: none was held. */
const GArray *sweep_peers(const struct sweep *s,
			  const struct snapshot **where);
/* Before the first sweep, with REREGISTER_KNOWN: the ports that have registered
 * anything, see reregister_trust(). */
void sweep_trust(struct sweep *s, GHashTable *clients);
/* If the tables in force are repaired ones: the engines are asked soon. */
void sweep_reroute(struct sweep *s);
enum sweep_state sweep_state(const struct sweep *s);
/* SWEEP_STATES of them; borrowed. */
const struct sweep_phase *sweep_phases(const struct sweep *s);

/* ------------------------- private to sweep.c and heavy_sweep.c; sm/watch.c reads */

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
	int64_t state_since;
	struct sweep_phase phases[SWEEP_STATES];
	struct sweep_stage stages[SWEEP_STAGES];
	unsigned n_stages;		/* of this sweep */
	struct sweep_totals totals;
	struct mad_client_stats stage_stats;	/* when this one began */
	unsigned causes;		/* noted, 1 << enum sweep_cause */
	struct notices *notices;	/* nodes that are to be read again, */
	unsigned notice_causes;		/* for these */
	int64_t light_due;		/* the next light sweep */
	GArray *silent;			/* of `view`, struct silent_port */
	struct flaps *flaps;
	GArray *wishes;			/* struct avoid_wish */
	GPtrArray *avoided;		/* of `view`, see avoid_choose() */
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
	int64_t heard;			/* standby: when it answered, us */
	bool paused;
	bool up;			/* what the log said last */
	bool over;			/* the goal is reached, or missed */
	int64_t retry_us;		/* SWEEP_CAUSE_UNTAKEN: the pause */

	/* The sweep that is under way. */
	unsigned why;			/* its causes */
	bool is_repair;
	bool cut_off;	/* our own link was down since the last one: another SM
			   may have changed anything */
	bool astray;	/* cables have changed places since: a Set may have come
			   to another node; see snapshot_astray() */
	int64_t began;
	GPtrArray *avoid;		/* of `next` */
	struct mad_client_stats stats;	/* at its beginning */
	struct discover *discover;
	struct election_poll *peers;
	struct table_reader *tabread;
	GArray *items;			/* what it reads */
	struct port_tables *qos;	/* of these, what QoS wants */
	struct rekey *rekey;		/* comes before: */
	struct program *program;
	struct light_sweep *light;
	struct view next;
	struct plan *plan;
	struct desired wanted;
	struct choice choice;
	bool is_repaired;		/* the tables in force */
	struct repair *repair;		/* of the last tables that an engine
					   made; NULL: none */
	uint8_t *fresh;			/* see struct sweep_report */
	char *said;			/* choice.reason, last told */
	GHashTable *away;		/* see changes_find() */
	GPtrArray *table_faults;
	struct isolation *isolation;
	uint8_t *reregister;		/* by port, see struct desired */
};

static inline int64_t
sweep_now(const struct sweep *s)
{
	return transport_now(mad_client_transport(s->x));
}

static inline const struct sweep_totals *
sweep_totals(const struct sweep *s)
{
	return &s->totals;
}

static inline const char *
sweep_ms(const struct sweep *s)
{
	return transport_ms(mad_client_transport(s->x));
}

static inline void
sweep_note(const struct sweep *s, enum sweep_note note)
{
	if (s->params.note)
		s->params.note(note, s, s->params.note_data);
}

/* The stage that ends now. */
void sweep_note_stage(struct sweep *s, int64_t now);
void sweep_set_state(struct sweep *s, enum sweep_state state);
void sweep_set_sm_state(struct sweep *s, enum sm_state state);
void sweep_stop(struct sweep *s);
void sweep_view_clear(struct view *v);
/* These nodes are to be read again: of uint64_t, NodeGUIDs. */
void sweep_changed(struct sweep *s, enum sweep_cause cause,
		   const GArray *nodes);
/* sweep_log.c. Bits of enum sweep_cause: "trap, election"; g_free. */
char *sweep_causes_text(unsigned causes);
/* NodeGUIDs in n: "leaf-1, spine-2 and 3 more"; g_free. */
char *sweep_names_text(const struct snapshot *n, const GArray *guids);
/* sweep_flaps.c. n as discovered, consumed; without the cables that are held. */
struct snapshot *sweep_hold_flaps(struct sweep *s, struct snapshot *n);
void sweep_release_flaps(struct sweep *s);
/* As sweep_changed(), and begins with it if nothing else is under way. */
void sweep_reread(struct sweep *s, enum sweep_cause cause,
		  const GArray *nodes);
/* sweep_avoid.c. n as discovered, consumed; with marks at links to be avoided. */
struct snapshot *sweep_mark_avoided(struct sweep *s, struct snapshot *n);
/* The next view without marks, as a new reference; NULL: it has none. */
struct snapshot *sweep_unmarked(const struct sweep *s);
/* All links are to be used in the next view, which is this one. */
void sweep_use_avoided(struct sweep *s, struct snapshot *unmarked);
/* The next view is published. */
void sweep_publish_avoided(struct sweep *s);

/* How many MADs this sweep has sent. */
void sweep_log_sent(struct sweep *s, enum log_level level);

/* The end of a heavy sweep or a repair, whatever came of it. */
void sweep_conclude(struct sweep *s, const struct sweep_report *r);
void sweep_fail(struct sweep *s, const char *message);

/* As the master, from s->next.subnet on; ends with sweep_conclude(). */
void heavy_sweep_start(struct sweep *s);
/* The same from the published view, which is good but for its partitions. */
void heavy_sweep_replan(struct sweep *s);

#endif
