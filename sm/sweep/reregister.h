/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whose clients the SA knows. A port whose clients may have told somebody else,
 * or nobody, what they want is asked to have them register again
 * (ClientReregister, IBA 14.4.11): once, and never one that needs it not.
 */
#ifndef MINISM_SWEEP_REREGISTER_H
#define MINISM_SWEEP_REREGISTER_H

#include "topology/lid.h"
#include "topology/snapshot.h"

/* At the start. */
enum reregister_start {
	REREGISTER_NONE,  /* there is no SA in this run */
	REREGISTER_KNOWN, /* what they left was kept over our restart */
	REREGISTER_FORGOTTEN,
};

struct reregister;

struct reregister *reregister_new(enum reregister_start start);
void reregister_free(struct reregister *c);

/* By port index, for struct desired: end ports whose clients are to register.
 * NULL: there is no SA. g_free. */
uint8_t *reregister_want(struct reregister *c, const struct snapshot *s,
		      const struct lid_map *lids);
/* These were told so, by port index of the same snapshot, and have our LID as
 * their SMLID since. */
void reregister_told(struct reregister *c, const struct snapshot *s,
		  const uint8_t *told);
/* The state of the SA was kept over our restart (sm_lid LID_NONE), or the master
 * before us, with this LID, has told us what its clients had told it: of the ports
 * that have us, or it, as their master those are known that have registered
 * anything (clients: a set of PortGUIDs, taken over; NULL: all). Others may have
 * been cut off, with what they had registered forgotten. */
void reregister_trust(struct reregister *c, uint16_t sm_lid,
		      GHashTable *clients);
/* Another SM was the master: nobody is known any more. */
void reregister_forget(struct reregister *c);

#endif
