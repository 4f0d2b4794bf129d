/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of M_Keys as text, in the formats of OpenSM's guid2mkey (a line
 * "0xPORTGUID 0xMKEY") and neighbors ("0xPORTGUID:PORT 0xPORTGUID:PORT", each
 * end of a cable first once), with a blank line after each.
 */
#ifndef MINISM_PLAN_KEYFILE_H
#define MINISM_PLAN_KEYFILE_H

#include <stdbool.h>

#include "sm/plan/keyring.h"

enum keyfile_error {
	KEYFILE_ERROR_SYNTAX,	/* message starts with name:line:, and never
				   repeats what the line holds */
};
#define KEYFILE_ERROR keyfile_error_quark()
GQuark keyfile_error_quark(void);

/* Several lines of one GUID: each may be its key, the first one is likely. If
 * one line is wrong nothing of the text is taken. */
bool keyfile_read_keys(struct keyring *k, const char *text, const char *name,
		       GError **error);
bool keyfile_read_cables(struct keyring *k, const char *text,
			 const char *name, GError **error);

void keyfile_write_keys(const struct keyring *k, GString *out);
void keyfile_write_cables(const struct keyring *k, GString *out);

#endif
