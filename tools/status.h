/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a manager says of itself and of its subnet, from the lines of its view:
 * status, the links that routing avoids, metrics.
 */
#ifndef MINISM_TOOLS_STATUS_H
#define MINISM_TOOLS_STATUS_H

#include "tools/view.h"
#include "topology/report.h"

/* The exit status of the verdict. all: in text also hosts that are missing with a
 * switch, and no end after some lines of a list. */
int status_put(const struct view_lines *lines, bool all,
	       struct text_report *out);
/* What is wrong: in text a line each, the worst first. */
void status_put_causes(const struct view_lines *lines, bool all,
		       struct text_report *out);
/* The links that routing avoids, or would if it could. */
void status_put_avoid(const struct view_lines *lines, struct text_report *out);
/* OpenMetrics text; in openmetrics.c. */
void status_put_metrics(const struct view_lines *lines, GString *out);
/* As the text of a label: UTF-8; backslash and quote are escaped. given NULL: "";
 * g_free. */
char *openmetrics_label(const char *given);

#endif
