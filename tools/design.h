/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a fabric should be, from a file: a view, a net file, or a list of cables,
 * a line each:
 *
 *	leaf-1/5 - spine-1/1		as `minismctl links` prints them,
 *	leaf-1/5, spine-1/1		with anything behind,
 *	leaf-1/5 spine-1/1		# comments on lines of their own
 */
#ifndef MINISM_TOOLS_DESIGN_H
#define MINISM_TOOLS_DESIGN_H

#include "topology/snapshot.h"

/* A node is the one of `now` that alone has its name, or else its GUID; it gets
 * that GUID. NULL with an error that names the file. */
struct snapshot *design_parse(const char *text, const char *file,
			      const struct snapshot *now, GError **error);

#endif
