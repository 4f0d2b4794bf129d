/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of minismctl that are answered by a view: path, who, nodes,
 * links, ports, lft, groups, members, partitions.
 */
#ifndef MINISM_TOOLS_SHOW_H
#define MINISM_TOOLS_SHOW_H

#include "tools/view.h"
#include "topology/report.h"

/* What the answer is made of; borrowed. */
struct show {
	struct tool_view *v;
	const struct client_place *place;	/* asked for tables that the
						   view lacks; NULL: none is */
	char *const *words;	/* as command_check() wants them */
	bool why;
	bool missing;		/* a node that was asked for is known to be */
	struct text_report out;
};

/* The request for as much of a view as the command needs; NULL: it is none of
 * these. g_free. */
char *show_request(char *const *words);
/* The answer; its exit status: 0, 1: there is no path, 2: wrong words. -1 with
 * an error of tool_view_more(). */
int show_run(struct show *q, GError **error);

int show_partitions(struct show *q, GError **error);

#endif
