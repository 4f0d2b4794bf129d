/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Transactions: a request goes out, its answer is found again.
 *
 * A window decides how many SMPs are on the wire at once. It grows while round
 * trips stay short and is halved when an SMP is lost. An SMP that many later
 * ones have overtaken no longer holds its place in the window, and retries
 * have half of it at most, so that a peer which never answers delays no other.
 * Requests of class SA go out at once, without room in the window.
 */
#ifndef MINISM_IO_XACT_H
#define MINISM_IO_XACT_H

#include "sm/io/transport.h"
#include "sm/wire/mad.h"

struct xact;

struct xact_params {
	unsigned timeout_ms;	/* of one attempt */
	unsigned retries;	/* after the first attempt */
	unsigned max_wire;	/* the window's cap, at least 1 */
};

enum xact_outcome {
	XACT_ANSWERED,		/* `mad` is the answer, whatever its status */
	XACT_TIMED_OUT,		/* all attempts lost */
};

struct xact_answer {
	enum xact_outcome outcome;
	const uint8_t *mad;	/* MAD_SIZE bytes, NULL if timed out; valid
				   during the callback */
	struct mad_header header;	/* of mad */
};

/* Comes exactly once for every request that is not cancelled, never from
 * inside xact_start(). May start and cancel requests. */
typedef void (*xact_done_fn)(const struct xact_answer *a, void *data,
			     uint64_t tag);

#define XACT_ATTRS	64u

struct xact_stats {
	uint64_t sent;		/* requests on the wire, retries included */
	uint64_t sent_set;	/* of these, Sets */
	uint64_t gets[XACT_ATTRS], sets[XACT_ATTRS];	/* by attribute id; the
				   last one counts what is beyond */
	uint64_t answered, retried, timed_out, cancelled;
	uint64_t late;		/* answer to a request that is over */
	uint64_t foreign;	/* answer that nobody here asked for */
	uint64_t malformed;	/* short; wrong class, method, attribute.. */
	uint64_t unsolicited;	/* requests and traps from others */
	unsigned window;	/* now */
};

/* Takes over t's receiver. */
struct xact *xact_new(struct transport *t, const struct xact_params *params);
void xact_free(struct xact *x);		/* cancels everything, keeps t */
struct transport *xact_transport(struct xact *x);

/*
 * Starts a request: `mad` (a whole MAD; its TID is filled in) is copied.
 * Queued if the window is full. Returns an id, never 0.
 */
uint32_t xact_start(struct xact *x, const struct mad_addr *to,
		    const uint8_t mad[MAD_SIZE], xact_done_fn done,
		    void *data, uint64_t tag);

/* No callback will come. An id that is over is ignored. */
void xact_cancel(struct xact *x, uint32_t id);
/* All requests that were started with this `data`. */
void xact_cancel_owner(struct xact *x, const void *data);

/* How many requests would go out at once now. Who has thousands of requests
 * starts that many, and more from inside its callbacks, rather than fill the
 * queue. */
unsigned xact_room(const struct xact *x);

unsigned xact_pending(const struct xact *x);	/* started and not over */

/* Called whenever there is room and the queue is empty; NULL: nobody. */
typedef void (*xact_pump_fn)(void *data);
void xact_set_pump(struct xact *x, xact_pump_fn fn, void *data);

/* Requests and traps of others; header was read, length is MAD_SIZE. */
typedef void (*xact_serve_fn)(const struct transport_mad *m,
			      const struct mad_header *h, void *data);
void xact_set_server(struct xact *x, xact_serve_fn fn, void *data);

/* Called for every dropped MAD with the reason, and for a send that the
 * transport refused (TRANSPORT_RETURNED); for a rate-limited log. Both are
 * valid during the callback. */
typedef void (*xact_drop_fn)(const char *reason, const struct transport_mad *m,
			     void *data);
void xact_set_drop(struct xact *x, xact_drop_fn fn, void *data);

const struct xact_stats *xact_stats(const struct xact *x);

#endif
