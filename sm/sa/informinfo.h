/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subscriptions to Notices (InformInfo, IBA 13.4.8.3, 15.2.5.12) and their
 * Reports.
 */
#ifndef MINISM_SA_INFORMINFO_H
#define MINISM_SA_INFORMINFO_H

#include "sm/sa/sa_db.h"
#include "sm/sa/sa_store.h"
#include "sm/mad/sa_record.h"

struct subscription {
	uint64_t port_guid;	/* of the subscriber */
	uint16_t index;		/* InformInfoRecord.Enum */
	uint8_t gid[16];
	uint32_t qp;		/* from which it subscribed */
	struct inform_info info;
	int64_t made, confirmed;	/* us; 0: before this manager started */
};

struct sa_query;
struct sa_report;

struct informs {
	struct sa_store all;	/* struct subscription, by PortGUID and index */
	GQueue own, traps;	/* Notices that wait, of the SA and of devices,
				   each oldest first */
	uint64_t noticed;	/* of both kinds, ever */
	unsigned dropped;	/* Notices before all were told; the caller takes
				   it */
};

struct informs *informs_new(void);
void informs_free(struct informs *i);

/* Set(InformInfo): subscribe or unsubscribe; of a port and its QP. asked: struct
 * inform_info, then the answer. SA status. */
unsigned informs_set(const struct sa_query *q, void *asked);

/* A Notice (64 bytes as on the wire, and the GID of its issuer), for each
 * subscriber that matches, if the partitions allow it (IBA 13.4.9, C13-44).
 * pkey: the partition that it is about; 0: it depends on the source. */
void informs_notify(struct informs *i, const struct sa_db *v,
		    const uint8_t notice[64], const uint8_t issuer[16],
		    uint16_t pkey, int64_t now);

/* The next Report: its subscriber and its MAD. False: there is none, or the
 * subscriptions that were compared were enough for now: then a Notice is still
 * waiting. */
bool informs_next(struct informs *i, const struct sa_db *v, int64_t now,
		  struct sa_report *out);
static inline unsigned
informs_waiting(const struct informs *i)
{
	return i->own.length + i->traps.length;
}
/* No Notice waits any longer. */
void informs_forget(struct informs *i);
/* The subscriber does not answer a Report that was sent then: its subscriptions
 * end, but those that it has made or confirmed since. */
void informs_drop(struct informs *i, uint64_t port_guid, uint32_t qp,
		  int64_t sent);

/* Subscriptions of ports that are not on the fabric end. */
void informs_follow(struct informs *i, const struct sa_db *v);
extern const struct state_line inform_lines[];

#endif
