// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What names a transfer: see bulk_key.h.
 */
#include "sm/io/bulk_key.h"

#include <string.h>

#define GSI_QKEY	0x80010000u	/* IBA 3.5.3, QP1 */
#define OWN_TID_MASK	UINT64_C(0xffffffff)

guint
bulk_key_hash(gconstpointer key)
{
	const uint8_t *bytes = key;
	guint sum = 2166136261u;

	for (size_t i = 0; i < sizeof(struct bulk_key); i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

gboolean
bulk_key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct bulk_key)) == 0;
}

struct bulk_key
bulk_key_make(enum bulk_key_kind kind, const struct mad_addr *peer,
	      const struct mad_header *h, unsigned response)
{
	struct bulk_key key = {
		.tid = h->tid, .lid = peer->lid, .kind = (uint8_t)kind,
		.mgmt_class = h->mgmt_class, .response = (uint8_t)response,
		.grh = peer->grh,
	};

	if (kind == BULK_KEY_SEND && !response)
		key.tid &= OWN_TID_MASK;
	if (peer->grh)
		memcpy(key.gid, peer->gid, sizeof(key.gid));
	return key;
}

struct mad_addr
bulk_key_peer(const struct mad_addr *from)
{
	struct mad_addr peer = *from;

	peer.qkey = GSI_QKEY;
	return peer;
}
