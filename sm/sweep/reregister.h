/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ports whose clients are known to the SA. A port whose clients may have
 * registered with another SM, or with none, is asked to have them register
 * again (ClientReregister, IBA 14.4.11): once, and only if it is necessary.
 */
#ifndef MINISM_SWEEP_REREGISTER_H
#define MINISM_SWEEP_REREGISTER_H

#include "topology/lid.h"
#include "topology/snapshot.h"

/* At the start. */
enum reregister_start {
	REREGISTER_NONE,  /* this run has no SA */
	REREGISTER_KNOWN, /* registrations were kept over the restart */
	REREGISTER_FORGOTTEN,
};

struct reregister;

struct reregister *reregister_new(enum reregister_start start);
void reregister_free(struct reregister *c);

/* By port index, for struct desired: 1 for end ports whose clients are to
 * register, as those that get another LID or GID. NULL: there is no SA. g_free. */
uint8_t *reregister_want(struct reregister *c, const struct snapshot *s,
		      const struct lid_map *lids, uint64_t gid_prefix);
/* These ports, by index in the same snapshot as it is after the sweep, were
 * asked, and have our LID as SMLID from then on. */
void reregister_told(struct reregister *c, const struct snapshot *s,
		  const uint8_t *told);
/* What was acknowledged for this port may have been so by another one. */
void reregister_missed(struct reregister *c, uint64_t guid);
/* The registrations were kept over a restart (sm_lid LID_NONE), or received
 * from the former master with this LID: known are the ports with us, or it,
 * as their master that have registrations (clients: a set of PortGUIDs,
 * taken over; NULL: all). Other ports may have been cut off, so that their
 * registrations were removed. */
void reregister_trust(struct reregister *c, uint16_t sm_lid,
		      GHashTable *clients);
/* Another SM may have been the master: a client has registered with it only where
 * the SMLID of the port is not ours any more. */
void reregister_doubt(struct reregister *c);
/* Another SM was the master: no port is known any more. */
void reregister_forget(struct reregister *c);

#endif
