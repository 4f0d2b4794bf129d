/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the SA has to do unasked: Reports, leases that end, trees for multicast
 * groups. Part of sm/sa/sa.h.
 */
#ifndef MINISM_SA_SA_EVENTS_H
#define MINISM_SA_SA_EVENTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sm/mad/mad.h"

struct sa;

/* A Report that is due (IBA 13.4.11): data bytes of the Notice and who gets
 * it. The caller sends, repeats, and tells how it ended. */
struct sa_report {
	uint32_t id;		/* for sa_report_ended() */
	uint16_t lid;		/* of the subscriber */
	uint32_t qp;
	uint16_t pkey;		/* of ours, in which both are, */
	uint16_t pkey_index;	/* and where our port has it */
	uint8_t mad[MAD_SIZE];	/* TID to be filled in */
};
bool sa_next_report(struct sa *sa, struct sa_report *out);
/* answered false: the subscriber is dead, its subscriptions end. */
void sa_report_ended(struct sa *sa, uint32_t id, bool answered);

/* A trap that the SM got, for those who subscribed to it. */
void sa_forward_trap(struct sa *sa, const uint8_t notice[64], uint16_t slid,
		     int64_t now);

/* When something is due next (a lease ends), us; INT64_MAX: never. */
int64_t sa_deadline(const struct sa *sa);
void sa_tick(struct sa *sa, int64_t now);

/* Multicast: what routing needs. The number changes when a tree may. */
struct sa_tree {
	uint16_t mlid;
	uint32_t n_members;
	const uint32_t *members;	/* end ports that receive, ascending */
	uint32_t n_senders;
	const uint32_t *senders;	/* that only send, ascending */
};
uint64_t sa_groups_version(const struct sa *sa);
/* GArray of struct sa_tree, by MLID, valid until the next call on `sa`. */
const GArray *sa_trees(struct sa *sa);

#endif
