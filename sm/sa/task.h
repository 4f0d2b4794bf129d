/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One request on its way through the SA. Private to sm/sa.
 */
#ifndef MINISM_SA_TASK_H
#define MINISM_SA_TASK_H

#include "sm/sa/mcmember.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/records.h"
#include "sm/sa/service.h"

struct sa {
	struct sa_params params;
	struct sa_db *view;
	struct groups *groups;
	struct services *services;
	struct informs *informs;
	GArray *sms;		/* struct sa_sm */
	GArray *trees;		/* struct sa_tree */
	GPtrArray *members;	/* what the trees point to */
	struct sa_stats stats;
};

struct task {
	struct sa *sa;
	const struct sa_request *request;
	struct sa_header h;
	struct query q;
	struct sa_reply *reply;
};

/* sa_query.c: Get, GetTable, GetMulti. */
void task_query(struct task *t);
void task_query_multi_path(struct task *t);

/* sa_mad.c: the request is answered with this status; what stands in the data
 * stays. */
void task_answer(struct task *t, unsigned status);
/* The data of the answer, cleared. */
uint8_t *task_data(struct task *t);

#endif
