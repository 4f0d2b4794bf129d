/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A directed route as the diagnostics write it (-D): "0,1,7". */
#ifndef MINISM_TESTS_DR_PATH_TEXT_H
#define MINISM_TESTS_DR_PATH_TEXT_H

#include <glib.h>

#include "topology/smp_attr.h"

/* The leading 0 is the reserved entry. A new string. */
static inline char *
dr_path_text(const struct dr_path *path)
{
	GString *text = g_string_new("0");

	for (unsigned i = 1; i <= path->hops; i++)
		g_string_append_printf(text, ",%u", path->port[i]);
	return g_string_free(text, FALSE);
}

#endif
