/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who does not answer: agents that stayed silent in this stage of a sweep, and
 * those that can only be reached through them.
 *
 * A directed route passes the management agent of every switch on its way (IBA
 * 14.2.2), so behind one that is silent nobody can be reached by it. Without
 * this memory a cable that is pulled in the middle of a stage costs a time-out
 * for each request to whatever is behind it.
 */
#ifndef MINISM_SWEEP_UNREACHABLE_H
#define MINISM_SWEEP_UNREACHABLE_H

#include "sm/io/mad_client.h"
#include "topology/snapshot.h"

struct unreachable;

/* A question that was under way is given up: nobody can answer it. Its done
 * function will not be called. */
typedef void (*unreachable_lost_fn)(void *data, uint64_t tag);

/* Borrows all arguments. */
struct unreachable *unreachable_new(struct mad_client *x,
				    const struct snapshot *s,
				    unreachable_lost_fn lost, void *data);
void unreachable_free(struct unreachable *silent);

/* A question to the agent of this port is under way, with this id and tag (no
 * two at a time with the same); it is over. */
void unreachable_asked(struct unreachable *silent, uint32_t port, uint32_t id,
		  uint64_t tag);
void unreachable_over(struct unreachable *silent, uint64_t tag);

/* The agent of this port (a switch has one for all of them) did not answer:
 * gives up what is under way to it and to those behind it. */
void unreachable_add(struct unreachable *silent, uint32_t port);
/* Is it in vain to ask it? */
bool unreachable_covers(const struct unreachable *silent, uint32_t port);

#endif
