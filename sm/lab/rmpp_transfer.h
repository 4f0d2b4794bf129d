/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One RMPP transfer over a transport: a machine of sm/mad with its peer and
 * its timer. A message is the header of its class (params->header_len bytes)
 * and the data behind it, in one piece.
 */
#ifndef MINISM_LAB_RMPP_TRANSFER_H
#define MINISM_LAB_RMPP_TRANSFER_H

#include "sm/io/transport.h"
#include "sm/mad/rmpp.h"

struct rmpp_transfer;

/* What Linux does: window 64, 40 s without news, 10 s of lingering; messages
 * up to 64 MiB. The length of the header, time-out and retries vary. */
extern const struct rmpp_params rmpp_transfer_params;

/* Once, when a message was sent or not, or when a receiver has nothing more to
 * do. May free the transfer. */
typedef void (*rmpp_transfer_over_fn)(struct rmpp_transfer *x,
				      enum rmpp_outcome outcome, void *data);
/* The message is whole; valid during the callback. */
typedef void (*rmpp_transfer_message_fn)(struct rmpp_transfer *x,
					 const uint8_t *message, size_t len,
					 void *data);

/* message: borrowed until it is over. */
struct rmpp_transfer *
rmpp_transfer_send(struct transport *t, const struct rmpp_params *params,
		   const struct mad_addr *to, const uint8_t *message,
		   size_t len, rmpp_transfer_over_fn over, void *data);
struct rmpp_transfer *
rmpp_transfer_receiver(struct transport *t, const struct rmpp_params *params,
		       const struct mad_addr *from,
		       rmpp_transfer_message_fn on_message,
		       rmpp_transfer_over_fn over, void *data);
void rmpp_transfer_free(struct rmpp_transfer *x);	/* may be NULL */

/* A MAD for this transfer: MAD_SIZE bytes. It may be gone after it. */
void rmpp_transfer_receive(struct rmpp_transfer *x, const uint8_t *mad);

#endif
