/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet administration's place in the shell: what a sweep found becomes what
 * the SA answers from.
 */
#ifndef MINISM_SM_ADMIN_H
#define MINISM_SM_ADMIN_H

#include "sm/sa/sa.h"
#include "sm/sweep.h"

struct admin;

struct admin_params {
	uint64_t sa_key;	/* see struct sa_params */
	uint64_t gid_prefix;
	uint8_t packet_life;	/* 4.096 us * 2^n */
	uint8_t subnet_timeout;
	unsigned group_quota;	/* see struct sa_params */
	bool qos;		/* SLs of partitions mean something */
};

struct admin *admin_new(const struct admin_params *params);
void admin_free(struct admin *a);
struct sa *admin_sa(struct admin *a);

/* Which paths get which SL, from the next sweep on; takes a reference. NULL:
 * partitions alone say it. */
void admin_set_policy(struct admin *a, struct qos_policy *policy);

/* After a sweep of a master; `self` is our own SMInfo. mft may be NULL. */
void admin_publish(struct admin *a, const struct sweep_report *r,
		   const struct sm_info *self, struct mft *mft, int64_t now);
/* We are no master: the SA answers nobody. */
void admin_retire(struct admin *a, int64_t now);

#endif
