/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Services that clients registered (ServiceRecord, IBA 15.2.5.14): a lease
 * each, the last 0xffffffff for ever. Keyed by ServiceID, ServiceGID and
 * P_Key.
 */
#ifndef MINISM_SA_SERVICE_H
#define MINISM_SA_SERVICE_H

#include "sm/sa/sa_db.h"
#include "sm/sa/sa_store.h"
#include "sm/mad/sa_record.h"

struct service {
	struct service_record record;	/* ServiceKey as it was given */
	int64_t ends;			/* us; INT64_MAX: never */
};

struct services {
	struct sa_store all;	/* struct service, by ServiceID, ServiceGID,
				   P_Key: these of a struct service_record are
				   a key */
	int64_t next;		/* no lease ends before; INT64_MAX: none does */
};

struct sa_query;

struct services *services_new(void);
void services_free(struct services *s);

/* Set and Delete. asked: struct service_record, then the answer: the lease that
 * is left, no key. SA status. */
unsigned services_set(const struct sa_query *q, void *asked);
unsigned services_delete(const struct sa_query *q, void *asked);

/* Services of ports that are not on the fabric, or lost the partition, end. */
void services_follow(struct services *s, const struct sa_db *v);

/* With the lease that is left; a started second counts. */
void service_describe(const struct service *s, int64_t now,
		      struct service_record *r);

/* Removes those whose lease is over. */
void services_tick(struct services *s, int64_t now);
extern const struct state_line service_lines[];

#endif
