/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of M_Keys as text, in the formats of OpenSM's guid2mkey (a line
 * "0xPORTGUID 0xMKEY") and neighbors ("0xPORTGUID:PORT 0xPORTGUID:PORT", each
 * end of a cable first once), with a blank line after each.
 */
#ifndef MINISM_PLAN_MKEY_FILE_H
#define MINISM_PLAN_MKEY_FILE_H

#include <stdbool.h>

#include "sm/plan/mkey_db.h"

enum mkey_file_error {
	MKEY_FILE_ERROR_SYNTAX,	/* message starts with name:line:, and never
				   repeats what the line holds */
};
#define MKEY_FILE_ERROR mkey_file_error_quark()
GQuark mkey_file_error_quark(void);

/* Several lines of one GUID: each may be its key, the first one is likely. If
 * one line is wrong nothing of the text is taken. */
bool mkey_file_read_keys(struct mkey_db *k, const char *text, const char *name,
		       GError **error);
bool mkey_file_read_cables(struct mkey_db *k, const char *text,
			 const char *name, GError **error);

void mkey_file_write_keys(const struct mkey_db *k, GString *out);
void mkey_file_write_cables(const struct mkey_db *k, GString *out);

#endif
