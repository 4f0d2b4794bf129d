/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of minismctl that are answered by a view, and pages of minism-web
 * that are such answers.
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
	bool why;		/* of a path */
	bool all;		/* of status: in text also hosts that are missing
				   with a switch, and no end after some lines */
	bool missing;		/* a node that was asked for is known to be */
	struct text_report out;
};

struct show_command {
	const char *name;
	/* Writes the answer. Its exit status; -1 with an error. */
	int (*run)(struct show *q, GError **error);
	const char *request;	/* for as much of a view as it needs; NULL: that
				   of the node which its word means */
	enum view_kind needs;	/* lines that a net file lacks; 0: none */
	bool is_plain;		/* it has no form of JSON */
	bool is_dated;		/* a manager's answer is of now, or says of when */
};

/* NULL: it is none of these. */
const struct show_command *show_find_command(char *const *words);
/* The request for as much of a view as the command needs. g_free. */
char *show_request(char *const *words);
/* The answer; its exit status: 0, 1: there is no path, 2: wrong words; or that of
 * the verdict. -1 with an error: of tool_view_more(), of a file that cannot be
 * written, or the view does not tell it. */
int show_run(struct show *q, GError **error);

/* In files of their own: */
int show_partitions(struct show *q, GError **error);
int show_status(struct show *q, GError **error);
/* What is wrong, of a manager and its subnet: in text a line each, the worst first.
 * all: see struct show. */
void status_put_causes(const struct view_lines *lines, bool all,
		       struct text_report *out);
/* The links that routing avoids, or would if it could. */
int show_avoid(struct show *q, GError **error);
/* OpenMetrics text; in openmetrics.c. */
int show_metrics(struct show *q, GError **error);
/* What to know of a fabric before minism becomes its master for the first time: a
 * line for each finding: what, where, what to do; then what no finding is: the
 * models by count, and what was not asked. 1: there are findings. */
int show_doctor(struct show *q, GError **error);
/* What would happen: changes to a copy of a fabric, and the tables that the manager
 * would compute for it. words: "whatif", then "kill NODE", "unplug NAME/PORT", "add
 * NAME/PORT NAME/PORT", "engine NAME", one after another, a NodeGUID in place of a
 * NAME. 0: all hosts that are not killed reach each other; 1: some do not, or there
 * are no safe tables. */
int show_whatif(struct show *q, GError **error);
/* The fabric as a web page: a map, what each cable carries, the path between any two
 * nodes, the tables of every switch. One file that loads nothing else. */
int show_report(struct show *q, GError **error);

#endif
