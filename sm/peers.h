/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The other subnet managers on the fabric: asking them, telling them.
 */
#ifndef MINISM_SM_PEERS_H
#define MINISM_SM_PEERS_H

#include <glib.h>

#include "sm/election.h"
#include "sm/io/xact.h"
#include "sm/plan/keyring.h"
#include "topology/subnet.h"

struct peers;

/* peers: GArray of struct election_peer in order of port index; borrowed. */
typedef void (*peers_done_fn)(GArray *peers, void *data);

/*
 * Asks every port that says it has an SM (IsSM), our own apart, for SMInfo;
 * those that answer are told to `done`, never from inside. `only`: just this
 * port, or SUBNET_NONE.
 */
struct peers *peers_ask(struct xact *x, const struct keyring *keys,
			const struct subnet *s, uint32_t only,
			peers_done_fn done, void *data);
void peers_cancel(struct peers *p);

/*
 * Subnet managers with which the master `self` shares the fabric for no good
 * reason: those of another SM_Key, and masters that were masters in the
 * election before this one (`before`, or NULL) and have neither handed over nor
 * become standby. A line of text each, with name, GUID and LID; a new array.
 */
GPtrArray *peers_rivals(const struct sm_info *self, const GArray *before,
			const GArray *found, const struct subnet *s);

/* True if `peers` (or NULL: none) has a manager with this GUID; in `state`,
 * 0: in any. */
bool peers_have(const GArray *peers, uint64_t guid, unsigned state);

/*
 * Sends Set(SMInfo) with the control to a peer; `self` is what we say of
 * ourselves. done(answered?) comes later; a NULL done asks for no report.
 */
void peers_control(struct xact *x, const struct keyring *keys,
		   const struct subnet *s, uint32_t port,
		   enum sm_control control, const struct sm_info *self,
		   xact_done_fn done, void *data);

#endif
