/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The choices that a routing engine had, a sentence for each switch.
 */
#ifndef MINISM_LAB_CHOICES_H
#define MINISM_LAB_CHOICES_H

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

/* where: the name of the switch, or "". Both are valid during the call. */
typedef void (*choices_fn)(const char *where, const char *text, void *data);

/* Of these tables. The first 64 switches, and how many more there are. */
void choices_tell(const struct snapshot *s, const struct lid_map *lids,
		  const struct lft *lft, const char *engine, choices_fn fn,
		  void *data);

#endif
