/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a sweep found becomes what the SA answers from.
 */
#ifndef MINISM_SA_SA_PUBLISH_H
#define MINISM_SA_SA_PUBLISH_H

#include "sm/sa/sa.h"
#include "sm/sweep/sweep.h"

/* After a sweep of a master; `self` is our own SMInfo. mft may be NULL. The
 * view shares all of the report by reference. */
void sa_publish_sweep(struct sa *sa, const struct sweep_report *r,
		      const struct sm_info *self, struct mft *mft,
		      int64_t now);

#endif
