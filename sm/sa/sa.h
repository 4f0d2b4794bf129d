/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet administration: (view, request) -> reply (IBA 15). No I/O, no clock:
 * the time is an argument. What clients leave behind (multicast groups,
 * services, subscriptions) is the state of a struct sa.
 */
#ifndef MINISM_SA_SA_H
#define MINISM_SA_SA_H

#include "sm/sa/sa_db.h"
#include "sm/mad/sa_mad.h"
#include "sm/mad/smp.h"
#include "topology/port_tables.h"

struct sa;

struct sa_params {
	uint64_t sm_key;	/* makes a requester trusted; never told; 0:
				   nobody is */
	unsigned group_quota;	/* see groups_set_quota() */
};

struct sa *sa_new(const struct sa_params *params);
void sa_free(struct sa *sa);

/*
 * The fabric is now this one; takes a reference, NULL: we are no master.
 * Members that are away leave their groups, subscriptions of ports that are
 * away end; Notices 64 to 67 that follow are queued for sa_next_report().
 */
void sa_publish(struct sa *sa, struct sa_db *view, int64_t now);

/* The one of now, or NULL. */
struct sa_db *sa_view_of(struct sa *sa);

/* The subnet managers of the fabric, ourselves first: for SMInfoRecord. */
struct sa_sm {
	uint16_t lid;
	struct sm_info info;	/* its SM_Key is told to nobody */
};
void sa_set_sms(struct sa *sa, const struct sa_sm *sms, size_t n);

/* A request as it came: one whole MAD, or a longer message that RMPP put
 * together (class header first, then data, no headers in between). */
struct sa_request {
	const uint8_t *mad;
	size_t len;		/* at least MAD_SIZE */
	uint16_t slid;		/* of who asked */
	int64_t now;		/* us, monotonic */
};

enum sa_reply_kind {
	SA_REPLY_NONE,		/* dropped; `why` is for the log */
	SA_REPLY_ONE,		/* `mad` is all of it */
	SA_REPLY_TABLE,		/* RMPP: header in `mad`, records follow */
	SA_REPLY_LATER,		/* not found yet: see sa_resume() */
	SA_REPLY_UNREAD,	/* see struct sa_unread; then ask again */
};

/* Tables of ports that have to be read first (sa_db.h). */
struct sa_unread {
	enum port_table table;
	GArray *ports;		/* uint32_t; the caller's */
};

/* The records of a table answer, one after the other. */
struct sa_records;
enum sa_draw {
	SA_DRAW_END,		/* there are no more */
	SA_DRAW_RECORD,
	SA_DRAW_PAUSE,		/* none for a while: go on when others had their
				   turn */
};
/* Writes the next record (record_size bytes, a multiple of 8, as
 * AttributeOffset in the header says). */
enum sa_draw sa_records_draw(struct sa_records *r, uint8_t *record);
/* Without pauses. False: there are no more. */
bool sa_records_next(struct sa_records *r, uint8_t *record);
size_t sa_records_size(const struct sa_records *r);	/* of one, bytes */
void sa_records_free(struct sa_records *r);

struct sa_reply {
	enum sa_reply_kind kind;
	const char *why;	/* static */
	uint8_t mad[MAD_SIZE];
	struct sa_records *records;	/* TABLE, LATER: the caller frees it */
	bool found;		/* LATER: a record stands in `mad` */
	struct sa_unread unread;	/* UNREAD */
};

/* Without a view every request is answered BUSY. */
void sa_answer(struct sa *sa, const struct sa_request *request,
	       struct sa_reply *reply);
/* Goes on with a reply that is LATER, for as long as an answer takes. */
void sa_resume(struct sa *sa, struct sa_reply *reply);

/* -------------------- what is due unasked: Reports, leases, multicast trees */

/* A Report that is due (IBA 13.4.11): data bytes of the Notice and who gets
 * it. The caller sends, repeats, and tells how it ended. */
struct sa_report {
	uint32_t id;		/* for sa_report_ended() */
	uint16_t lid;		/* of the subscriber */
	uint32_t qp;
	uint16_t pkey;		/* of ours, in which both are, */
	uint16_t pkey_index;	/* and where our port has it */
	uint8_t mad[MAD_SIZE];	/* TID to be filled in */
};
bool sa_next_report(struct sa *sa, struct sa_report *out);
/* answered false: the subscriber is dead, its subscriptions end. */
void sa_report_ended(struct sa *sa, uint32_t id, bool answered);

/* A trap that the SM got, for those who subscribed to it. */
void sa_forward_trap(struct sa *sa, const uint8_t notice[64], uint16_t slid,
		     int64_t now);

/* When something is due next (a lease ends), us; INT64_MAX: never. */
int64_t sa_deadline(const struct sa *sa);
void sa_tick(struct sa *sa, int64_t now);

/* Multicast: what routing needs. The number changes when a tree may. */
struct sa_tree {
	uint16_t mlid;
	uint32_t n_members;
	const uint32_t *members;	/* end ports that receive, ascending */
	uint32_t n_senders;
	const uint32_t *senders;	/* that only send, ascending */
};
uint64_t sa_groups_version(const struct sa *sa);
/* GArray of struct sa_tree, by MLID, valid until the next call on `sa`. */
const GArray *sa_trees(struct sa *sa);

/* --------------------------------- what it has, as text and in numbers */

/* What survives a restart: groups, services, subscriptions as text. */
void sa_save(const struct sa *sa, GString *out, int64_t now);
/* False with an error that names the line: nothing is taken then. */
bool sa_load(struct sa *sa, const char *text, int64_t now, GError **error);
uint64_t sa_saved_version(const struct sa *sa);	/* changes with what
						   sa_save() writes */

/* Requests by attribute and outcome, for the metrics. */
struct sa_stats {
	uint64_t requests, answered, refused, dropped;
	uint32_t n_groups, n_members, n_services, n_subscriptions;
};
void sa_stats(const struct sa *sa, struct sa_stats *out);

#define SA_ERROR sa_error_quark()
GQuark sa_error_quark(void);
enum sa_error { SA_ERROR_TEXT };

#endif
