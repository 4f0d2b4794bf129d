/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * SA requests that wait, or whose answer is made in several turns, by client (LID),
 * served round robin.
 */
#ifndef MINISM_SA_SA_QUEUE_H
#define MINISM_SA_SA_QUEUE_H

#include "sm/io/transport.h"
#include "sm/sa/sa.h"

struct sa_queue;

/* A request, from its arrival until all of its answer is sent. */
struct sa_job {
	GList link;		/* in a queue */
	struct mad_header header;
	struct mad_addr from;
	int64_t came;		/* us */
	struct sa_reply reply;	/* as far as it is: SA_REPLY_NONE at first */
	GByteArray *table;	/* the answer, with its header, as far as it is
				   drawn; NULL: it is no table */
	size_t len;
	uint8_t mad[];		/* the request, len bytes */
};

/* Copies the bytes: a MAD at least. */
struct sa_job *sa_job_new(const struct mad_addr *from, const uint8_t *mad,
			  size_t len);
void sa_job_free(struct sa_job *j);

struct sa_queue *sa_queue_new(unsigned max, unsigned max_client);
void sa_queue_free(struct sa_queue *q);	/* and the jobs in it */

/* Takes j over: NULL. Else why not: its client has max_client waiting, or max
 * wait, and one of its client's. */
const char *sa_queue_add(struct sa_queue *q, struct sa_job *j);
/* The oldest job of the next client, now the caller's; NULL: none waits. */
struct sa_job *sa_queue_next(struct sa_queue *q);
/* Is it a Set or a Delete? */
bool sa_job_changes(const struct sa_job *j);
/* Does one of its client wait for which this is 0? j is the second argument. */
bool sa_queue_has(const struct sa_queue *q, const struct sa_job *j,
		  GCompareFunc differs);
unsigned sa_queue_length(const struct sa_queue *q);

#endif
