/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A store of multicast groups over a star (sa_star.h), and requests to it in
 * short words.
 */
#ifndef MINISM_TESTS_GROUP_LAB_H
#define MINISM_TESTS_GROUP_LAB_H

#include "sm/sa/mcmember.h"
#include "tests/lib/sa_star.h"

#define N_HOSTS		6u

#define JOIN_MASK	(SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID) | \
			 SA_BIT(MCM_JOIN_STATE))
#define CREATE_MASK	(JOIN_MASK | SA_BIT(MCM_Q_KEY) | SA_BIT(MCM_PKEY) | \
			 SA_BIT(MCM_TCLASS) | SA_BIT(MCM_SL) | \
			 SA_BIT(MCM_FLOW_LABEL))
#define MTU_MASK	(SA_BIT(MCM_MTU) | SA_BIT(MCM_MTU_SELECTOR))
#define RATE_MASK	(SA_BIT(MCM_RATE) | SA_BIT(MCM_RATE_SELECTOR))
#define LIFE_MASK	(SA_BIT(MCM_LIFE) | SA_BIT(MCM_LIFE_SELECTOR))

struct fixture {
	struct star *star;
	struct groups *g;
	struct mcmember_record r;	/* the last request, or its answer */
};

/* For cmocka. */
int lab_setup(void **state);
int lab_teardown(void **state);

/* A request into f->r, which the others send; a status comes back. */
void fill(struct fixture *f, unsigned host, unsigned group, unsigned states);
unsigned send_join(struct fixture *f, unsigned host, uint64_t mask);
unsigned join(struct fixture *f, unsigned host, unsigned group,
	      unsigned states);
unsigned leave(struct fixture *f, unsigned host, unsigned group,
	       unsigned states);

const struct group *find(const struct fixture *f, unsigned group);
const struct group_member *member(const struct fixture *f, unsigned group,
				  unsigned host);
unsigned states_of(const struct fixture *f, unsigned group, unsigned host);
#define group_at(g, i)	((const struct group *)(g)->list->pdata[i])
/* Takes the oldest event; false: there is none. */
bool next_event(struct groups *g, struct group_event *event);
/* What must hold of every store. */
void check_store(const struct groups *g);

#endif
