/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tap on a transport: everything works as before, and a function hears of all
 * that passes.
 */
#ifndef MINISM_IO_TAP_H
#define MINISM_IO_TAP_H

#include "sm/io/record.h"

/* What comes in is reported before the program hears of it, what the program
 * does after it is done. The event is valid during the call. */
typedef void (*tap_fn)(const struct record_event *e, void *data);

/* Takes `inner` over; transport_free() of the tap frees it, too. */
struct transport *tap_new(struct transport *inner, tap_fn fn, void *data);

#endif
