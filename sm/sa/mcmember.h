/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups and their members (MCMemberRecord, IBA 15.2.5.17). Pure:
 * requests in, records out. MLIDs are assigned here, trees are not.
 */
#ifndef MINISM_SA_MCMEMBER_H
#define MINISM_SA_MCMEMBER_H

#include "sm/sa/sa_db.h"
#include "sm/sa/sa_store.h"
#include "sm/mad/sa_record.h"

/* JoinState, IBA 15.2.5.17.2 */
enum join_state {
	JOIN_FULL = 1 << 0,
	JOIN_NON = 1 << 1,
	JOIN_SEND_ONLY_NON = 1 << 2,
	JOIN_SEND_ONLY_FULL = 1 << 3,
};

struct group_member {
	uint64_t port_guid;
	uint8_t gid[16];
	uint8_t join_state;
	bool proxy;		/* another port joined for it */
};

struct group {
	struct mcmember_record r;	/* without a member; the selectors say
					   "exactly" */
	bool permanent;		/* of the configuration; else */
	bool waits;		/* for its last member to leave: then it gets
				   `wanted`, */
	struct mcmember_record wanted;	/* the values of the configuration */
	uint64_t creator;	/* the PortGUID of the requester; 0: unknown, or
				   it has left */
	uint64_t tid;		/* of the creation, if the MGID was chosen here;
				   0: unknown */
	int64_t created;	/* then, us; if there is a tid */
	struct sa_store members;	/* struct group_member, by PortGUID; its
					   changes are counted as well in that
					   of the groups */
};

#define GROUPS_MLID_MIN	LID_MULTICAST_MIN
#define GROUPS_MLID_END	LID_PERMISSIVE		/* behind the last MLID */

struct groups {
	struct sa_store all;	/* struct group, by MGID */
	struct group *by_mlid[GROUPS_MLID_END - GROUPS_MLID_MIN];
	uint64_t next_id;	/* of an MGID that we choose */
	unsigned quota;		/* groups that a port may have created; 0: no
				   limit */
};

struct sa;
struct sa_query;

struct groups *groups_new(void);
void groups_free(struct groups *g);

/* Set(MCMemberRecord): a join, or a creation; Delete. asked: struct
 * mcmember_record, then the answer. SA status. */
unsigned groups_join(const struct sa_query *q, void *asked);
unsigned groups_leave(const struct sa_query *q, void *asked);

/* NULL: there is no such group. (By MGID: sa_store_find().) */
struct group *groups_of_mlid(const struct groups *g, uint16_t mlid);

/* The groups of the partitions; those that are no longer configured lose
 * `permanent`. Members that are not in the view leave. */
void groups_follow(struct sa *sa, int64_t now);

/* The P_Key in an MGID of IPoIB (ff1S:401b, 601b; RFC 4391, 4) or of a subnet
 * administration's own (a01b). False: others carry none. */
bool mgid_has_pkey(const uint8_t mgid[16], uint16_t *pkey);

/* A member as it is saved. */
struct saved_member {
	uint8_t mgid[16];
	struct group_member m;
};
/* Of sa_part, as are service_lines and inform_lines. */
enum { GROUP_LINE, MEMBER_LINE };
extern const struct state_line group_lines[];

#endif
