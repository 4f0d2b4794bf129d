/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a manager says of itself and of its subnet, from the lines of its view, as
 * other answers have it.
 */
#ifndef MINISM_TOOLS_STATUS_H
#define MINISM_TOOLS_STATUS_H

#include "tools/view.h"
#include "topology/report.h"

/* What is wrong: in text a line each, the worst first. all: see struct show. */
void status_put_causes(const struct view_lines *lines, bool all,
		       struct text_report *out);

#endif
