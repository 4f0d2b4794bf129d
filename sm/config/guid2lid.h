/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of LIDs as a file, in OpenSM's guid2lid format: a line
 * "0xPORTGUID 0xMIN 0xMAX" and a blank one after it.
 */
#ifndef MINISM_CONFIG_GUID2LID_H
#define MINISM_CONFIG_GUID2LID_H

#include <glib.h>

#include "topology/lid.h"

enum guid2lid_error {
	GUID2LID_ERROR_SYNTAX,	/* message starts with name:line: */
};
#define GUID2LID_ERROR guid2lid_error_quark()
GQuark guid2lid_error_quark(void);

/* A GArray of lid_range sorted by GUID. A line that is no range, a range that
 * is no aligned power of two of unicast LIDs, a GUID or LID that comes twice:
 * NULL with an error, for a memory that is wrong in one place is not trusted
 * in others. */
GArray *guid2lid_parse(const char *text, const char *name, GError **error);
void guid2lid_format(const GArray *ranges, GString *out);

#endif
