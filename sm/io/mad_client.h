/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Transactions: a request goes out, its answer is found again.
 *
 * A window decides how many SMPs are on the wire at once. It grows while round
 * trips stay short and is halved when an SMP is lost. An SMP that many later
 * ones have overtaken no longer holds its place in the window, and retries
 * have half of it at most, so that a peer which never answers delays no other.
 * Other requests than SMPs go out at once, without room in the window.
 */
#ifndef MINISM_IO_MAD_CLIENT_H
#define MINISM_IO_MAD_CLIENT_H

#include "sm/io/sa_message.h"
#include "sm/io/window.h"
#include "sm/mad/mad.h"
#include "topology/smp_attr.h"

struct mad_client_params {
	unsigned timeout_ms;	/* of one attempt */
	unsigned retries;	/* after the first attempt */
	unsigned max_wire;	/* the window's cap, at least 1 */
	bool only_reads;	/* a request other than Get is an error of the
				   program */
};

enum mad_client_outcome {
	MAD_CLIENT_ANSWERED,  /* `mad` is the answer, whatever its status */
	MAD_CLIENT_TIMED_OUT, /* all attempts lost */
};

struct mad_client_answer {
	enum mad_client_outcome outcome;
	const uint8_t *mad;	/* MAD_SIZE bytes, NULL if timed out; valid
				   during the callback */
	struct mad_header header;	/* of mad */
};

/* Comes exactly once for every request that is not cancelled, never from
 * inside mad_client_start(). May start and cancel requests. */
typedef void (*mad_client_done_fn)(const struct mad_client_answer *a,
				   void *data, uint64_t tag);

#define MAD_CLIENT_ATTRS	64u

/* How requests ended, by class and attribute (the last one counts all higher
 * ids). */
enum mad_client_class {
	MAD_CLIENT_SMP,
	MAD_CLIENT_SA,
	MAD_CLIENT_OTHER,
	MAD_CLIENT_CLASSES
};
enum mad_client_end {
	MAD_CLIENT_DONE,
	MAD_CLIENT_REFUSED,	/* with a status */
	MAD_CLIENT_LOST,	/* timed out */
	MAD_CLIENT_CANCELLED,
	MAD_CLIENT_ENDS
};

struct mad_client_stats {
	uint64_t sent;		/* requests on the wire, retries included */
	uint64_t sent_set;	/* of these, Sets */
	uint64_t gets[MAD_CLIENT_ATTRS],
		sets[MAD_CLIENT_ATTRS]; /* SMPs by attribute id; the
				   last one counts all higher ids */
	uint64_t retried, timed_out;
	uint64_t recovered;	/* requests that were answered after a loss */
};

/* Requests and traps of others; header was read, length is MAD_SIZE. */
typedef void (*mad_client_serve_fn)(const struct transport_mad *m,
			      const struct mad_header *h, void *data);
/* Called for every dropped MAD with the reason, and for a send that the
 * transport refused (TRANSPORT_RETURNED); for a rate-limited log. Both are
 * valid during the callback. */
typedef void (*mad_client_drop_fn)(const char *reason,
				   const struct transport_mad *m, void *data);
/* Called whenever there is room and the queue is empty. */
typedef void (*mad_client_pump_fn)(void *data);

struct mad_request;

/* The low bits of its TIDs count attempts from 1: other programs of this process
 * use TIDs in which they are 0. */
#define MAD_CLIENT_ATTEMPT_BITS	4

struct mad_client {
	/* Read only */
	struct transport *transport;
	struct mad_client_params params;
	struct mad_client_stats stats;
	struct window window;
	uint64_t ended[MAD_CLIENT_CLASSES][MAD_CLIENT_ATTRS][MAD_CLIENT_ENDS];
	unsigned pending;	/* started and not over */
	int64_t set_at;		/* the last Set of an SMP was sent, us */

	/* May be set; NULL: none */
	mad_client_serve_fn serve;
	void *serve_data;
	mad_client_drop_fn drop;
	void *drop_data;
	/* For messages of the SA, requests and answers; else each is a MAD. */
	void (*message)(const struct sa_message *m, void *data);
	void *message_data;
	/* With requests on the wire, this process stood still for a second or
	 * more, and goes on. It comes before the answers and the time-outs of
	 * that time, and may cancel requests. */
	void (*stood)(void *data);
	void *stood_data;
	int64_t stalled;	/* end of this process' last stall of 50 ms, us;
				   -1: there was none */
	int64_t heard;		/* the last MAD came, */
	int64_t quiet_until;	/* and the last one that came after more than a
				   second without any: this process may have
				   stood still */

	/* Private */
	mad_client_pump_fn pump;
	void *pump_data;
	struct mad_request **table;
	uint32_t table_mask;
	uint32_t last_id;
	uint64_t started;
	GQueue queue, wire, again, retry;
	GList *cursor;		/* first of wire that is not overtaken */
	GHashTable *slow;	/* by path: time-outs more that a peer has; 0: the
				   last request to it is lost */
	unsigned n_kept;	/* SMPs that the transport has, at the most */
	int64_t kept_until;	/* it has returned them by then */
	unsigned timer, kick;	/* 0: not running */
	int64_t timer_at;	/* when it rings */
	int64_t read_until;	/* after a stall: nothing counts as lost before */
	unsigned depth;		/* of callbacks into the user */
};

/* Takes over t's receiver. */
struct mad_client *mad_client_new(struct transport *t,
				  const struct mad_client_params *params);
void mad_client_free(struct mad_client *x); /* cancels everything, keeps t */

/* Has the agent at the end of this route answered when its request was given up
 * already, and no later one quickly? */
bool mad_client_is_late(const struct mad_client *x, const struct dr_path *path);
/* Did its last answer take half a time-out or more? */
bool mad_client_is_slow(const struct mad_client *x, const struct dr_path *path);
/* Of any: might one be? */
bool mad_client_knows_slow(const struct mad_client *x);

/*
 * Starts a request: `mad` (a whole MAD; its TID is filled in) is copied.
 * Queued if the window is full. Returns an id, never 0.
 */
uint32_t mad_client_start(struct mad_client *x, const struct mad_addr *to,
		    const uint8_t mad[MAD_SIZE], mad_client_done_fn done,
		    void *data, uint64_t tag);

/* No callback will come. An id that is over is ignored. */
void mad_client_cancel(struct mad_client *x, uint32_t id);
/* All requests that were started with this `data`. */
void mad_client_cancel_owner(struct mad_client *x, const void *data);

/* How many requests would go out at once now. A caller with thousands of
 * requests starts that many, and more from inside its callbacks, rather than
 * fill the queue. */
unsigned mad_client_room(const struct mad_client *x);

/* There is one at a time: false if there is another one, which stays. fn NULL:
 * none, if the present one has this `data`. */
bool mad_client_set_pump(struct mad_client *x, mad_client_pump_fn fn,
			 void *data);

#endif
