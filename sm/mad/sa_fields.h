/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of SA attributes; private to sm/mad, see sa_mad.h.
 */
#ifndef MINISM_MAD_SA_FIELDS_H
#define MINISM_MAD_SA_FIELDS_H

#include <glib.h>

#include "sm/mad/sa_match.h"

struct sa_kind {
	uint16_t attr_id;
	uint16_t size;		/* bytes in a table, a multiple of 8 */
	uint16_t n_fields;
	const char *name;
	const struct sa_field *fields;
};

extern const struct sa_kind sa_kinds[];
extern const size_t sa_n_kinds;

#endif
