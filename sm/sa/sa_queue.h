/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The queue before the subnet administration: requests that wait, by client
 * (LID), served in turns. Knows nothing of what they ask.
 */
#ifndef MINISM_SA_SA_QUEUE_H
#define MINISM_SA_SA_QUEUE_H

#include "sm/io/transport.h"

struct sa_queue;
struct sa_client;

/* What makes two requests the same one, sent twice. No holes: it is hashed
 * and compared as bytes. */
struct sa_request_key {
	uint64_t tid;
	uint16_t lid, attr_id;
	uint8_t method;
	uint8_t none[3];
};

/* A request that waits. */
struct ticket {
	GList link;		/* the queue's */
	struct sa_request_key key;
	struct mad_addr from;
	size_t len;
	uint8_t mad[];		/* len bytes */
};

guint sa_request_key_hash(gconstpointer key);
gboolean sa_request_key_equal(gconstpointer a, gconstpointer b);

/* Copies the bytes; g_free() it. */
struct ticket *ticket_new(const struct sa_request_key *key,
			  const struct mad_addr *from, const uint8_t *mad,
			  size_t len);

struct sa_queue *sa_queue_new(unsigned max, unsigned max_client);
void sa_queue_free(struct sa_queue *q);	/* and who waits */

enum sa_refusal {
	SA_REFUSED_NONE,
	SA_REFUSED_SURPLUS,	/* its client has max_client waiting */
	SA_REFUSED_FULL,	/* all places are taken, by no longer lines */
	SA_REFUSED_DISPLACED,	/* the youngest of the longest line, which
				   made place for a client with less */
};

/* Takes t over, unless it is the one that is returned: who is refused, now
 * the caller's. NULL: nobody. */
struct ticket *sa_queue_add(struct sa_queue *q, struct ticket *t,
			      enum sa_refusal *why);
/* The oldest of the client whose turn it is, now the caller's; NULL: nobody
 * waits. */
struct ticket *sa_queue_next(struct sa_queue *q);
unsigned sa_queue_length(const struct sa_queue *q);

#endif
