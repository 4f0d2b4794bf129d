/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport without a wire, for tests: a virtual clock, a record of what
 * was sent, and a peer that the test writes.
 *
 * Nothing happens by itself. A send is recorded and shown to the peer, which
 * may schedule answers; scripted_run() and its kin move the clock from event
 * to event, in the order of time and then of scheduling, and so deliver
 * answers and ring timers. The same script gives the same run.
 *
 * Every function takes the transport that scripted_new() returned, which
 * transport_free() frees. Times are microseconds, delays count from now.
 */
#ifndef MINISM_TESTS_SCRIPTED_H
#define MINISM_TESTS_SCRIPTED_H

#include "sm/io/transport.h"
#include "sm/mad/mad.h"

struct scripted_sent {
	int64_t when;
	struct mad_addr to;
	unsigned timeout_ms;
	uint8_t mad[MAD_SIZE];
	size_t len;		/* more than that, if the transport does RMPP: */
	uint8_t *message;	/* all of it */
};

struct transport *scripted_new(void);

/* Sees every MAD as it is sent. May call what is below except the run
 * functions. NULL: there is no peer. */
typedef void (*scripted_peer_fn)(struct transport *t,
				 const struct scripted_sent *sent, void *data);
void scripted_set_peer(struct transport *t, scripted_peer_fn fn, void *data);

/* Delivers these MAD_SIZE bytes as they are. */
void scripted_answer(struct transport *t, const uint8_t *mad, int64_t delay_us);
/* The request comes back: there was no answer. */
void scripted_return(struct transport *t, const uint8_t *mad, int64_t delay_us);
/* The general case: any event, address and length. `m->mad` is copied. */
void scripted_deliver(struct transport *t, const struct transport_mad *m,
		      int64_t delay_us);
/* A good answer to a request: GetResp, status 0, the request's data, on a
 * directed route the direction bit. */
void scripted_reply(struct transport *t, const struct scripted_sent *sent,
		    int64_t delay_us);

/* The next `count` sends fail with this code; not recorded. */
void scripted_refuse(struct transport *t, unsigned count,
		     enum transport_error code);

unsigned scripted_count(const struct transport *t);
const struct scripted_sent *scripted_get(const struct transport *t,
					 unsigned index);
const struct scripted_sent *scripted_last(const struct transport *t);
void scripted_forget(struct transport *t);	/* the record starts anew */

/* The most MADs there ever were that are scheduled and not delivered. */
unsigned scripted_most_flying(const struct transport *t);

/* Everything up to and including `until`; the clock then shows it. */
void scripted_run(struct transport *t, int64_t until);
/* Until nothing is scheduled; false if that was not so at `limit`. */
bool scripted_run_idle(struct transport *t, int64_t limit);
/* The process stands still: what is due meanwhile happens afterwards. */
void scripted_stall(struct transport *t, int64_t us);
/* One event; false if there is none. */
bool scripted_step(struct transport *t);

static inline struct mad_header
mad_header_of(const uint8_t *mad)
{
	struct mad_header h;

	mad_header_read(mad, MAD_SIZE, &h);
	return h;
}

#endif
