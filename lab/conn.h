/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A connection of minism-lab's socket: frames in, frames or raw bytes out,
 * without ever blocking.
 */
#ifndef MINISM_LAB_CONN_H
#define MINISM_LAB_CONN_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "lab/protocol.h"

struct conn;

/* False: the frame is not valid; the connection is closed. */
typedef bool (*conn_frame_fn)(struct conn *c, const struct lab_frame *frame,
			      const uint8_t *data, void *user);
/* The peer has closed it, or conn_close(); the last callback, c is freed after
 * it. */
typedef void (*conn_closed_fn)(struct conn *c, void *user);

struct conn *conn_new(int fd, conn_frame_fn on_frame, conn_closed_fn closed,
		      void *user);
void conn_close(struct conn *c);

/* Output is written at the next conn_flush(). */
void conn_send(struct conn *c, enum lab_type type, unsigned channel,
	       const void *a, size_t a_len, const void *b, size_t b_len);
void conn_put(struct conn *c, const void *bytes, size_t len);
void conn_flush(struct conn *c);

#endif
