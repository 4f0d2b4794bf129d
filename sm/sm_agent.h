/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Answers requests to the subnet manager: SMInfo and traps; passes SA requests
 * on.
 */
#ifndef MINISM_SM_SM_AGENT_H
#define MINISM_SM_SM_AGENT_H

#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/plan/mkey_db.h"
#include "sm/mad/smp.h"

struct sm_agent {
	struct mad_client *x;
	struct log *log;
	/* Calls into the rest of the manager. */
	void (*sm_info)(struct sm_info *out, void *data);
	/* raw: the 64 bytes of the Notice */
	void (*trap)(const struct notice *n, const uint8_t *raw, void *data);
	/* Are both LIDs of the same port of the fabric? NULL: all are. */
	bool (*is_issuer)(uint16_t lid, uint16_t issuer, void *data);
	void (*control)(enum sm_control control, const struct sm_info *from,
			void *data);
	/* M_Keys of the senders of traps; NULL: all 0. */
	const struct mkey_db *keys;
	/* A request of class SA; NULL: it is refused. */
	void (*sa)(const struct transport_mad *m, void *data);
	void *data;
};

/* Takes over the server and drop functions of s->x, until that is freed. */
void sm_agent_start(struct sm_agent *s);

#endif
