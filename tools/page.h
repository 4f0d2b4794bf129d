/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as a web page: a map, what each cable carries, the path between
 * any two nodes, the tables of every switch. One file that loads nothing else.
 */
#ifndef MINISM_TOOLS_PAGE_H
#define MINISM_TOOLS_PAGE_H

#include "tools/view.h"

/* Appends the HTML. */
void page_write(const struct tool_view *v, GString *out);

#endif
