/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet administration: (view, request) -> reply (IBA 15). No I/O, no clock:
 * the time is an argument. What clients register (multicast groups, services,
 * subscriptions) is the state of a struct sa.
 */
#ifndef MINISM_SA_SA_H
#define MINISM_SA_SA_H

#include "sm/mad/sa_mad.h"
#include "sm/mad/smp.h"
#include "sm/sa/sa_db.h"
#include "topology/state_line.h"

struct sa_params {
	uint64_t sm_key;	/* of trusted requests; 0: none is trusted */
	uint64_t gid_prefix;
	uint8_t packet_life;	/* 4.096 us * 2^n */
	uint8_t subnet_timeout;
	unsigned group_quota;	/* groups that a port may have created; 0: no
				   limit */
	bool qos;		/* paths have the SLs of their partitions */
};

/* Other modules read it, and set `sms` and the hooks. */
struct sa {
	struct sa_params params;
	struct sa_db *view;	/* from which it answers; NULL: we are not the
				   master */
	struct groups *groups;		/* mcmember.h */
	struct services *services;	/* service.h; services_tick() when
					   `next` is due */
	struct informs *informs;	/* informinfo.h */
	GArray *sms;		/* struct sa_sm, ourselves first */
	uint64_t epoch, n_views;
	GArray *followers;	/* struct sa_follower, by age */
	/* Writes the state text for a standby; NULL: there is none. */
	void (*write_state)(GString *out, void *data);
	void *write_state_data;
	/* Is this LID that of another manager with our SM_Key? NULL: all that
	 * are trusted count as such. */
	bool (*is_manager)(uint16_t lid, void *data);
	void *is_manager_data;
};

struct sa *sa_new(const struct sa_params *params);
void sa_free(struct sa *sa);

/*
 * Answers from this view from now on; takes a reference. NULL: we are not the
 * master. Members that are not on the fabric leave their groups, their services
 * and subscriptions end; Reports of traps 64 to 67 are queued for
 * sa_next_report().
 */
void sa_publish(struct sa *sa, struct sa_db *view, int64_t now);

/* A subnet manager of the fabric, for SMInfoRecord. */
struct sa_sm {
	uint16_t lid;
	struct sm_info info;	/* no answer contains its SM_Key */
};

/* A request as received: one MAD, or a longer message as RMPP reassembled it
 * (class header first, then data, no headers in between). */
struct sa_request {
	const uint8_t *mad;
	size_t len;		/* at least MAD_SIZE */
	uint16_t slid;		/* of the requester, */
	uint32_t qp;		/* and its QP */
	int64_t now;		/* us, monotonic */
};

enum sa_reply_kind {
	SA_REPLY_NONE,		/* dropped: see `why` */
	SA_REPLY_ONE,		/* `mad` is all of it */
	SA_REPLY_TABLE,		/* RMPP: header in `mad`, records follow */
	SA_REPLY_LATER,		/* not found yet: see sa_resume() */
};

/* The records of a table answer, one after the other. */
struct sa_records;
enum sa_draw {
	SA_DRAW_END,		/* there are no more */
	SA_DRAW_RECORD,
	SA_DRAW_PAUSE,		/* none now: go on after other requests */
};
/* Writes the next record (record_size bytes, a multiple of 8, as
 * AttributeOffset in the header says). */
enum sa_draw sa_records_draw(struct sa_records *r, uint8_t *record);
size_t sa_records_size(const struct sa_records *r);	/* of one, bytes */
void sa_records_free(struct sa_records *r);

struct sa_reply {
	enum sa_reply_kind kind;
	const char *why;	/* static */
	uint8_t mad[MAD_SIZE];
	struct sa_records *records;	/* TABLE, LATER: the caller frees it */
	bool found;		/* LATER: `mad` has a record */
};

/* Without a view, requests for records and changes are answered BUSY. */
void sa_answer(struct sa *sa, const struct sa_request *request,
	       struct sa_reply *reply);
/* Goes on with a reply that is LATER, for as long as an answer takes. */
void sa_resume(struct sa_reply *reply);

/* ----------------------------------------------------------------- Reports */

/* A Report that is due (IBA 13.4.11). The caller sends and repeats it; if the
 * subscriber does not answer, informs_drop() ends its subscriptions. */
struct sa_report {
	uint64_t port_guid;	/* of the subscriber */
	uint32_t qp;
	uint16_t lid;
	uint16_t pkey;		/* of ours, in which both are, */
	uint16_t pkey_index;	/* and where our port has it */
	uint8_t mad[MAD_SIZE];	/* TID to be filled in */
};
bool sa_next_report(struct sa *sa, int64_t now, struct sa_report *out);
/* A trap that the SM received, for its subscribers. */
void sa_forward_trap(struct sa *sa, const uint8_t notice[64], uint16_t slid,
		     int64_t now);

/* ------------------------------------------------------ state, statistics */

/* What is kept over a restart: groups, services, subscriptions; of a struct sa.
 */
extern const struct state_part sa_part;
/* Of that the groups with their members: no client's key is in it. */
void sa_save_groups(const struct sa *sa, GString *out);
uint64_t sa_saved_version(const struct sa *sa);	/* of its text */

/*
 * For a standby that runs minism as well (sm/standby.h). Its requests for
 * ClassPortInfo have a mark behind the attribute, in bytes that are reserved
 * and that other SAs ignore; so have the answers to those that have our SM_Key
 * and come from the LID of a subnet manager. GetTable(SA_ATTR_STATE) is answered
 * with write_state(), in pieces of a record's size. Both are answered even
 * without a view.
 */
struct sa_mark {
	uint64_t epoch;		/* another one after a restart */
	uint64_t version;	/* of what write_state() writes; neither
				   changes while time passes */
};
void sa_mark_write(uint8_t mad[MAD_SIZE], const struct sa_mark *mark);
bool sa_mark_read(const uint8_t mad[MAD_SIZE], struct sa_mark *mark);
/* Such a request, one or the other. */
bool sa_is_of_standby(const uint8_t mad[MAD_SIZE], unsigned attr_id,
		      unsigned method);
struct sa_mark sa_mark_of(const struct sa *sa);
/* Standbys (struct sa_follower) whose mark came within the last SA_FOLLOWER_US.
 * Borrowed until the next call on `sa`. */
#define SA_FOLLOWER_US	(5 * (int64_t)G_USEC_PER_SEC)
struct sa_follower {
	uint16_t lid;
	int64_t at;		/* of its last request, us */
	bool has_news;		/* the state has changed since */
};
GArray *sa_followers(struct sa *sa, int64_t now);

/* For the status and the metrics. */
struct sa_stats {
	uint32_t n_groups, n_members, n_services, n_subscriptions;
};
void sa_stats(const struct sa *sa, struct sa_stats *out);
/* The ports that have registered a group, a service or an InformInfo: a set of
 * PortGUIDs (uint64_t *). */
GHashTable *sa_clients(const struct sa *sa);

#endif
