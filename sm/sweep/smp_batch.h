/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A batch of SMPs by directed route: what all stages of a sweep that send SMPs
 * have in common. A stage names its next request and takes the replies; the
 * batch adds path and M_Key, keeps as many requests in flight as the window
 * has room for, and sends nothing to nodes that cannot be reached.
 */
#ifndef MINISM_SWEEP_SMP_BATCH_H
#define MINISM_SWEEP_SMP_BATCH_H

#include "sm/io/mad_client.h"
#include "sm/mad/smp.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

struct smp_batch;

struct smp_request {
	uint32_t port;		/* the request goes to the agent of this port
				   of the snapshot */
	enum mad_attr attr;
	uint32_t modifier;
	bool set;
	bool addressed;		/* path and key are given, else they follow
				   from `port` */
	struct dr_path path;
	uint64_t key;
	uint64_t tag;		/* the stage's own */
	uint8_t data[SMP_DATA_LEN];	/* of a Set */
};

/* Of an agent of mad_client_is_late(): it answers .. */
#define SMP_TOO_LATE	"too late: --timeout has to be longer " \
			"(transaction_timeout in minism.conf(5))"

enum smp_outcome {
	SMP_ANSWERED,
	SMP_TIMED_OUT,
	SMP_CANCELLED,		/* in flight when a node on its path became
				   unreachable: a Set may have been executed */
	SMP_UNREACHABLE,	/* not sent: the same, before */
	SMP_TOO_FAR,		/* not sent: more than DR_MAX_HOPS */
};

/* Of a stage: a Set to this node was given up, or refused. */
typedef void (*smp_late_fn)(void *data, uint64_t node_guid,
			    const struct smp_request *r, bool is_refused);

struct smp_reply {
	enum smp_outcome outcome;
	unsigned status;	/* of the MAD */
	const uint8_t *data;	/* SMP_ANSWERED: SMP_DATA_LEN bytes */
};

struct smp_stage {
	/* The next request; *r is all zero. False: there is none now. */
	bool (*next)(void *data, struct smp_request *r);
	/* Once for each request. May be called from inside smp_batch_wake(),
	 * never from inside smp_batch_start(). */
	void (*reply)(void *data, const struct smp_request *r,
		      const struct smp_reply *a);
	/* No request is left, none is in flight. True: it made more requests.
	 * NULL: it never does. Without `end` it may also have freed the
	 * batch, else that is kept for smp_batch_wake(). */
	bool (*done)(void *data);
	/* The last call: the batch is gone, and another one may have the
	 * window. */
	void (*end)(void *data);
	void (*free)(void *data);	/* after `end`, or with the batch */
	/* The request has timed out: is it sent once more? NULL: no. With a
	 * snapshot, of each agent one is. */
	bool (*again)(void *data, const struct smp_request *r);
	void *data;
	/* Also of a Set in flight when the batch is freed: see late.h. Before its
	 * reply, if that comes. NULL: that does not matter; only then all may be
	 * addressed. */
	smp_late_fn late;
	void *late_data;
	/* 0: as many requests in flight as the window has room for, which one
	 * batch at a time can have, the next one has some; else this many, room
	 * or not. */
	unsigned max_in_flight;
};

/* s and keys are borrowed; s NULL: all requests are addressed. The first
 * request is sent from the main loop. */
struct smp_batch *smp_batch_start(struct mad_client *x,
				  const struct snapshot *s,
				  const struct mkey_db *keys,
				  const struct smp_stage *stage);
/* Cancels what is in flight, without replies, and frees the stage's data. NULL
 * is ignored. */
void smp_batch_free(struct smp_batch *b);

/* next() has something again. */
void smp_batch_wake(struct smp_batch *b);

/* Something else waits for the end: a host without an answer has two time-outs now,
 * not all attempts. Of a batch with a snapshot; NULL is ignored. */
void smp_batch_hurry(struct smp_batch *b);

/* The node of this port (a CA or router: the port) did not answer: requests in
 * flight to it and to the nodes behind it are cancelled, later ones are not
 * sent. From inside reply(). */
void smp_batch_set_unreachable(struct smp_batch *b, uint32_t port);

/* `again` of a stage whose nodes have just answered: yes. */
bool smp_batch_again(void *data, const struct smp_request *r);

/* Of PortInfo of this port. */
uint32_t smp_batch_port_info_modifier(const struct snapshot *s, uint32_t port);

#endif
