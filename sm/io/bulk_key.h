/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What names a transfer. Private to sm/io.
 *
 * Kind, peer (LID and, with a GRH, GID), TID, class, and the direction of the
 * data, which is the response bit of the method. The upper half of the TID of a
 * request is written by the transport, so it is not compared where the request
 * is our own.
 */
#ifndef MINISM_IO_BULK_KEY_H
#define MINISM_IO_BULK_KEY_H

#include <glib.h>

#include "sm/io/transport.h"
#include "sm/wire/mad.h"

enum bulk_key_kind {
	BULK_KEY_SEND,
	BULK_KEY_RECEIVE,
};

/* No holes: it is hashed and compared as bytes. */
struct bulk_key {
	uint64_t tid;
	uint8_t gid[16];
	uint16_t lid;
	uint8_t kind;
	uint8_t mgmt_class;
	uint8_t response;	/* of the data: MAD_METHOD_RESPONSE or 0 */
	uint8_t grh;
	uint8_t none[2];
};
G_STATIC_ASSERT(sizeof(struct bulk_key) == 32);

struct bulk_key bulk_key_make(enum bulk_key_kind kind,
			      const struct mad_addr *peer,
			      const struct mad_header *h, unsigned response);
/* What a receiver or a sender of ours answers to. */
struct mad_addr bulk_key_peer(const struct mad_addr *from);
guint bulk_key_hash(gconstpointer key);
gboolean bulk_key_equal(gconstpointer a, gconstpointer b);

#endif
