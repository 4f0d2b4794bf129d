/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What became of Reports that were not sent, for the metrics and the tests.
 */
#ifndef MINISM_SA_INFORMINFO_COUNT_H
#define MINISM_SA_INFORMINFO_COUNT_H

#include "sm/sa/informinfo.h"

struct inform_counts {
	uint64_t queued;	/* Reports that will be sent */
	uint64_t merged;	/* the same one was waiting already */
	uint64_t dropped;	/* the queue was full */
	uint64_t withheld;	/* not for this subscriber's partitions */
};
void informs_counts(const struct informs *i, struct inform_counts *out);

#endif
