/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups and their members (MCMemberRecord, IBA 15.2.5.17). Pure:
 * requests in, records out. MLIDs are given here, trees are not.
 */
#ifndef MINISM_SA_MCMEMBER_H
#define MINISM_SA_MCMEMBER_H

#include "sm/sa/sa_db.h"
#include "sm/mad/sa_record.h"

struct groups;

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
	bool proxy;		/* somebody else joined for it */
};

struct group {
	uint8_t mgid[16];
	uint16_t mlid;
	uint16_t pkey;
	uint32_t q_key, flow_label;
	uint8_t mtu, rate, life;
	uint8_t sl, tclass, hop_limit, scope;
	bool permanent;		/* of the configuration; else */
	uint64_t creator;	/* the PortGUID of the requester; 0: unknown */
	GArray *members;	/* struct group_member, by GID */
};

struct groups *groups_new(void);
void groups_free(struct groups *g);

/* No port may have created more than this many groups that are there; 0: no
 * limit, as at first. */
void groups_set_quota(struct groups *g, unsigned quota);

/* Set(MCMemberRecord): a join, or a creation. `from`: the requester's port.
 * Returns an SA status (0: done, and *record is the answer). */
unsigned groups_join(struct groups *g, const struct sa_db *v, uint32_t from,
		     uint64_t comp_mask, struct mcmember_record *record);
/* Delete(MCMemberRecord). */
unsigned groups_leave(struct groups *g, const struct sa_db *v,
		      uint32_t from, uint64_t comp_mask,
		      struct mcmember_record *record);

/* Groups in the order of MGIDs. */
uint32_t groups_count(const struct groups *g);
const struct group *groups_at(const struct groups *g, uint32_t i);
const struct group *groups_find(const struct groups *g,
				const uint8_t mgid[16]);
const struct group *groups_of_mlid(const struct groups *g, uint16_t mlid);

/* The record of the group, without a member. */
void group_record(const struct group *group, struct mcmember_record *r);
/* Do MTU, rate and life time fit the selectors of the record? Without a value,
 * or a value without its selector, anything does (IBA 15.2.5.16). */
bool group_limits_hold(const struct group *g, uint64_t mask,
		       const struct mcmember_record *want);
/* By the PortGUID in it, whatever the prefix; NULL: not a member. */
struct group_member *group_member(const struct group *group,
				  const uint8_t gid[16]);

/* The groups of the partitions; those that are no longer configured lose
 * `permanent`. Members that are not in `v` leave. */
void groups_follow(struct groups *g, const struct sa_db *v);

/* What happened to groups since the last call, oldest first: for the Notices
 * 66 (created) and 67 (deleted). */
struct group_event {
	bool created;
	uint8_t mgid[16];
	uint16_t pkey;
};
bool groups_next_event(struct groups *g, struct group_event *out);

uint64_t groups_version(const struct groups *g);

void groups_save(const struct groups *g, GString *out);
bool groups_load_line(struct groups *g, char **words, guint n_words,
		      GError **error);

#endif
