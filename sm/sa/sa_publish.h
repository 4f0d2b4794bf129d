/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet administration's place in the shell: what a sweep found becomes what
 * the SA answers from.
 */
#ifndef MINISM_SA_SA_PUBLISH_H
#define MINISM_SA_SA_PUBLISH_H

#include "sm/sa/sa.h"
#include "sm/sweep/sweep.h"

struct sa_publisher;

struct sa_publisher_params {
	uint64_t sa_key;	/* see struct sa_params */
	uint64_t gid_prefix;
	uint8_t packet_life;	/* 4.096 us * 2^n */
	uint8_t subnet_timeout;
	unsigned group_quota;	/* see struct sa_params */
	bool qos;		/* SLs of partitions mean something */
};

struct sa_publisher *sa_publisher_new(const struct sa_publisher_params *params);
void sa_publisher_free(struct sa_publisher *a);
struct sa *sa_publisher_sa(struct sa_publisher *a);

/* Which paths get which SL, from the next sweep on; takes a reference. NULL:
 * partitions alone say it. */
void sa_publisher_set_policy(struct sa_publisher *a, struct qos_policy *policy);

/* After a sweep of a master; `self` is our own SMInfo. mft may be NULL. */
void sa_publisher_publish(struct sa_publisher *a, const struct sweep_report *r,
		   const struct sm_info *self, struct mft *mft, int64_t now);
/* We are no master: the SA answers nobody. */
void sa_publisher_retire(struct sa_publisher *a, int64_t now);

#endif
