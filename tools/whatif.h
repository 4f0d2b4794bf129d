/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What would happen: changes to a copy of a fabric, and the tables that the
 * manager would compute for it.
 */
#ifndef MINISM_TOOLS_WHATIF_H
#define MINISM_TOOLS_WHATIF_H

#include "tools/view.h"
#include "topology/report.h"

/* words: "kill NODE", "unplug NAME/PORT", "add NAME/PORT NAME/PORT", "engine
 * NAME", one after another, a NodeGUID in place of a NAME; ends with NULL. Exit
 * status: 0: all hosts that are not killed reach each other; 1: some do not, or
 * there are no safe tables; 2: wrong words. */
int whatif(const struct tool_view *v, char *const *words,
	   struct text_report *r);

#endif
