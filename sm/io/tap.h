/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tap on a transport: it works as before, and a function is called for each
 * MAD.
 */
#ifndef MINISM_IO_TAP_H
#define MINISM_IO_TAP_H

#include "sm/io/transport.h"

enum tap_kind {
	TAP_SENT,	/* and accepted */
	TAP_RECEIVED,
	TAP_RETURNED,
};

struct tap_event {
	enum tap_kind kind;
	int64_t time;		/* of the transport */
	struct mad_addr addr;
	const uint8_t *mad;
	size_t len;
};

/* Arrivals are reported before the program gets them, sends after they are
 * done. The event is valid during the call. */
typedef void (*tap_fn)(const struct tap_event *e, void *data);

/* Takes `inner` over; transport_free() of the tap frees it, too. */
struct transport *tap_new(struct transport *inner, tap_fn fn, void *data);

#endif
