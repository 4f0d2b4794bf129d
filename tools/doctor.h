/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What to know of a fabric before minism becomes its master for the first time.
 */
#ifndef MINISM_TOOLS_DOCTOR_H
#define MINISM_TOOLS_DOCTOR_H

#include "tools/view.h"
#include "topology/report.h"

/* A line for each finding: what, where, what to do; then what no finding is: the
 * models by count, and what was not asked. False: there are findings. */
bool doctor_put(const struct tool_view *v, struct text_report *r);

#endif
