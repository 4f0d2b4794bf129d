/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subscriptions to Notices (InformInfo, IBA 13.4.8.3, 15.2.5.12) and the
 * Reports that come of them.
 */
#ifndef MINISM_SA_INFORMINFO_H
#define MINISM_SA_INFORMINFO_H

#include "sm/sa/sa_db.h"
#include "sm/mad/sa_record.h"

struct informs;

struct subscription {
	uint8_t gid[16];	/* of the subscriber */
	uint64_t port_guid;
	uint16_t index;		/* InformInfoRecord.Enum */
	uint32_t qp;
	struct inform_info info;
};

struct informs *informs_new(void);
void informs_free(struct informs *i);

/* Set(InformInfo): subscribe or unsubscribe. SA status. */
unsigned informs_set(struct informs *i, const struct sa_db *v,
		     uint32_t from, struct inform_info *info);

uint32_t informs_count(const struct informs *i);
const struct subscription *informs_at(const struct informs *i, uint32_t n);

/* A Notice (64 bytes as on the wire, and the GID of its issuer): queues a
 * Report for everybody who wants it and may have it (IBA 13.4.9, C13-44:
 * partitions are obeyed). pkey: what it is about is of this partition; 0: it
 * depends on the source. */
void informs_notify(struct informs *i, const struct sa_db *v,
		    const uint8_t notice[64], const uint8_t issuer[16],
		    uint16_t pkey);

struct report {
	uint32_t id;
	uint64_t port_guid;
	uint32_t qp;
	uint16_t pkey;		/* that it is about, or 0 */
	uint8_t notice[64];
	uint8_t issuer[16];
};
bool informs_next(struct informs *i, struct report *out);
void informs_ended(struct informs *i, uint32_t id, bool answered);

/* What became of Reports that were not sent. */
struct inform_counts {
	uint64_t queued;	/* Reports that will be sent */
	uint64_t merged;	/* the same one was waiting already */
	uint64_t dropped;	/* the queue was full */
	uint64_t withheld;	/* not for this subscriber's partitions */
};
void informs_counts(const struct informs *i, struct inform_counts *out);

/* Subscriptions of ports that are away end. */
void informs_follow(struct informs *i, const struct sa_db *v);
uint64_t informs_version(const struct informs *i);
void informs_save(const struct informs *i, GString *out);
bool informs_load_line(struct informs *i, char **words, guint n_words,
		       GError **error);

#endif
