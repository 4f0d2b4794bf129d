/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What dump_all() writes.
 */
#ifndef MINISM_TESTS_LIB_DUMPED_H
#define MINISM_TESTS_LIB_DUMPED_H

#include "tools/dump.h"

/* Replaces `out` by one of the files. */
void dumped_read(const struct snapshot *s, const struct lid_map *lids,
		 const struct lft *lft, const char *name, GString *out);

#endif
