/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tap on a transport: it works as before, and a function is called for each
 * MAD, timer and look at the clock.
 */
#ifndef MINISM_IO_TAP_H
#define MINISM_IO_TAP_H

#include "sm/io/record.h"

/* Arrivals are reported before the program gets them, actions of the program
 * after they are done. The event is valid during the call. */
typedef void (*tap_fn)(const struct record_event *e, void *data);

/* Takes `inner` over; transport_free() of the tap frees it, too. */
struct transport *tap_new(struct transport *inner, tap_fn fn, void *data);

#endif
