/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whose clients the SA knows. A port whose clients may have told somebody else,
 * or nobody, what they want is asked to have them register again
 * (ClientReregister, IBA 14.4.11): once, and never one that needs it not.
 */
#ifndef MINISM_SM_CLIENTS_H
#define MINISM_SM_CLIENTS_H

#include "topology/lids.h"
#include "topology/subnet.h"

/* At the start. */
enum clients_start {
	CLIENTS_NONE,		/* there is no SA in this run */
	CLIENTS_KNOWN,		/* what they left was kept over our restart */
	CLIENTS_FORGOTTEN,
};

struct clients;

struct clients *clients_new(enum clients_start start);
void clients_free(struct clients *c);

/* By port index, for struct wanted: end ports whose clients are to register.
 * NULL: there is no SA. g_free. */
uint8_t *clients_want(struct clients *c, const struct subnet *s,
		      const struct lid_map *lids);
/* These were told so, by port index of the same snapshot. */
void clients_told(struct clients *c, const struct subnet *s,
		  const uint8_t *told);
/* Another SM was the master: nobody is known any more. */
void clients_forget(struct clients *c);

#endif
