/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The timers of a transport in real time, in a GLib main loop. Private to the
 * transports; other modules use transport_timer_start().
 */
#ifndef MINISM_IO_TIMERS_H
#define MINISM_IO_TIMERS_H

#include "sm/io/transport.h"

struct timers;

/* Rings in `context`. */
struct timers *timers_new(GMainContext *context);
void timers_free(struct timers *timers);	/* and those that are running */

/* Two of struct transport_ops, on t->timers, in us of g_get_monotonic_time().
 * From the thread that runs the loop only. Timers for the same moment expire in
 * the order in which they were started. */
unsigned timers_start(struct transport *t, int64_t when, transport_timer_fn fn,
		      void *data);
void timers_cancel(struct transport *t, unsigned id);
/* When the first one is due; INT64_MAX: there is none. */
int64_t timers_next(const struct timers *timers);

#endif
