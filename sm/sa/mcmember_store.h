/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The store behind mcmember.h, for its own files only: mcmember.c keeps it,
 * mcmember_join.c serves requests on it, mcmember_save.c writes and reads it.
 */
#ifndef MINISM_SA_MCMEMBER_STORE_H
#define MINISM_SA_MCMEMBER_STORE_H

#include "sm/sa/mcmember.h"

#define MLID_MIN	LID_MULTICAST_MIN
#define MLID_END	LID_PERMISSIVE		/* the first that is none */

#define JOIN_ALL	0xfu
/* States that count for creation and deletion, IBA 15.2.5.17.2. */
#define JOIN_COUNTS	((unsigned)JOIN_FULL | JOIN_SEND_ONLY_FULL)

#define SCOPE_LINK	2u		/* IBA 4.1.1 */
#define SCOPE_GLOBAL	0xeu
#define HOP_LIMIT_MAX	0xffu
#define LIFE_MAX	0x3fu		/* 6 bits, as rate and MTU */
#define FLOW_LABEL_MAX	0xfffffu	/* 20 bits */

struct groups {
	GPtrArray *groups;	/* struct group *, by MGID */
	struct group *by_mlid[MLID_END - MLID_MIN];	/* NULL: it is free */
	uint64_t next_id;	/* of an MGID that we choose */
	unsigned quota;		/* see groups_set_quota() */
	uint64_t version;
	GQueue events;		/* struct group_event * */
};

struct group *groups_get(const struct groups *g, const uint8_t mgid[16]);
/* A group like the draft, without members; its MGID and MLID are free. */
struct group *groups_insert(struct groups *g, const struct group *draft);
void groups_remove(struct groups *g, const struct group *group);
/* For the Notices 66 and 67. */
void groups_note(struct groups *g, const struct group *group, bool created);
/* The lowest MLID that is free and that every switch can forward, or 0. */
uint16_t groups_free_mlid(const struct groups *g, const struct snapshot *s);

/* Does it have a reason to be? */
bool group_is_needed(const struct group *group);
struct group_member *group_member(const struct group *group,
				  const uint8_t gid[16]);
/* The GID must be new in it. */
struct group_member *group_add(struct groups *g, struct group *group,
			       const struct group_member *m);
void group_drop(struct groups *g, struct group *group,
		struct group_member *m);
uint8_t group_hop_limit(unsigned scope);	/* if nobody says more */

static inline bool
group_admits(const struct group *group, const struct sa_db *v, uint32_t port)
{
	return memberships_of(v->memberships, port, group->pkey) != 0;
}

#endif
