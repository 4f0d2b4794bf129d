/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which subnet manager is the master (IBA 14.4.1): queries the others, decides,
 * and sends the result.
 */
#ifndef MINISM_SWEEP_ELECTION_H
#define MINISM_SWEEP_ELECTION_H

#include <glib.h>

#include "sm/log.h"
#include "sm/sweep/smp_batch.h"

/* Another SM, and its port. */
struct election_peer {
	struct sm_info info;
	uint32_t port;		/* of the snapshot */
	bool is_foreign;	/* not among the allowed ones: it takes no
				   part */
};

enum election_outcome {
	ELECTION_MASTER,	/* become, or stay, master */
	ELECTION_STANDBY,	/* **chosen is the master */
	ELECTION_HANDOVER,	/* we are the master: hand over to **chosen */
};

/* Has `a` the higher rank: the higher priority, or the lower GUID? */
bool election_outranks(const struct sm_info *a, const struct sm_info *b);

/* Has it an SM_Key other than ours? Then it is ignored. */
bool election_is_stranger(const struct sm_info *self,
			  const struct sm_info *peer);

/*
 * self->state is our state before the election; peers are of struct
 * election_peer. *chosen is one of them unless the result is ELECTION_MASTER. The
 * result does not depend on their order.
 */
enum election_outcome election_decide(const struct sm_info *self,
				      const GArray *peers,
				      const struct election_peer **chosen);

enum election_trust {
	ELECTION_ANY,
	ELECTION_OBEY,		/* it may be of the same owner */
	ELECTION_HAND_OVER,	/* it shows our SM_Key */
};

/* The highest rank among the trusted peers (or NULL) in `state` (0: in any state
 * that takes part); NULL: there is none. No foreign one is trusted. */
const struct election_peer *election_highest(const struct sm_info *self,
					     const GArray *peers,
					     unsigned state,
					     enum election_trust trust);

/* peers: GArray of struct election_peer, sorted by port index; borrowed. silent: a
 * port with IsSM that did not answer; SNAPSHOT_NONE: all did. */
typedef void (*election_poll_done_fn)(GArray *peers, uint32_t silent,
				      void *data);

/*
 * Reads SMInfo of every port with IsSM, except our own, unless x only reads: then
 * another manager is there. `done` gets those that answered, and is never called
 * from inside this function. `only`: this port only, or SNAPSHOT_NONE. s and keys
 * are borrowed until then.
 */
struct smp_batch *election_poll_start(struct mad_client *x,
				      const struct mkey_db *keys,
				      const struct snapshot *s, uint32_t only,
				      election_poll_done_fn done, void *data);

/*
 * Subnet managers that manage the same fabric as the master `self` against the
 * rules: foreign ones, those with another SM_Key, and masters that were masters
 * in the last election (`before`, or NULL) and have neither handed over nor
 * become standby.
 * A line of text each, with name, GUID and LID; a new array. *contested: one of
 * them is a master, which undoes what this one writes.
 */
GPtrArray *election_rivals(const struct sm_info *self, const GArray *before,
			   const GArray *found, const struct snapshot *s,
			   bool *contested);

/* Is one of `peers` (or NULL) a master, whatever its rank and keys? */
bool election_has_master(const GArray *peers);

/* Has `peers` (or NULL) a manager with this GUID that is not foreign, in `state`
 * (0: any)? */
bool election_has_peer(const GArray *peers, uint64_t guid, unsigned state);

/*
 * Sends Set(SMInfo) with the control to a peer; `self` is our SMInfo. The reply
 * is ignored.
 */
void election_control(struct mad_client *x, const struct mkey_db *keys,
		   const struct snapshot *s, uint32_t port,
		   enum sm_control control, const struct sm_info *self);

/* PortInfo of our own port, which a master reads before it writes; the id of the
 * request. */
uint32_t election_look(struct mad_client *x, const struct mkey_db *keys,
		       const struct snapshot *s, mad_client_done_fn done,
		       void *data);
/*
 * Our port, with PortInfo `own`, is not activated, or not reached, although this manager
 * is not the master: its cable may have been moved, and the master does not know the key
 * of a port that has come to a place. A request without the M_Key begins the lease, and
 * each one with the key would end it (IBA 14.2.4.2). Returns until when none may be
 * sent, us: then the lease has run out, and the master can read the port; 0: there
 * is no lease that holds it up.
 */
int64_t election_leave_port(struct mad_client *x, const struct snapshot *s,
			    const struct port_info *own, struct log *log);
/* The LID of the manager that has taken our port since it was as in s, or
 * LID_NONE. now: its PortInfo */
uint16_t election_lost_to(const struct snapshot *s,
			  const struct port_info *now);
/* The same of the answer to a look; LID_NONE also if there is none. */
uint16_t election_looked(const struct snapshot *s,
			 const struct mad_client_answer *a);

#endif
