/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two fabrics compared: what differs, a line for each cause. A switch that is
 * missing is one line, with its cables and its hosts.
 */
#ifndef MINISM_TOOLS_COMPARE_H
#define MINISM_TOOLS_COMPARE_H

#include "tools/view.h"
#include "topology/report.h"

/*
 * Nodes, cables, speeds, names; with views (of both snapshots) also LIDs, and
 * their verdicts, engines and faults. Views NULL: `old` is a design
 * (design_parse()), the words are those of one. Returns the exit status: 0 alike,
 * 1 different.
 */
int compare_fabrics(const struct snapshot *old, const struct snapshot *new,
		    const struct tool_view *old_view,
		    const struct tool_view *new_view, struct text_report *r);

/*
 * What a fabric should be, from a file: a view, a net file, or a list of cables,
 * a line each:
 *
 *	leaf-1/5 - spine-1/1		as `minismctl links` prints them,
 *	leaf-1/5, spine-1/1		with anything behind,
 *	leaf-1/5 spine-1/1		# comments on lines of their own
 *
 * A node is the one of `now` that alone has its name, or else its GUID; it gets
 * that GUID. NULL with an error that names the file.
 */
struct snapshot *design_parse(const char *text, const char *file,
			      const struct snapshot *now, GError **error);

#endif
