/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The kinds of faults of the expected fabric; two of them are the kinds of its
 * nodes.
 */
#ifndef MINISM_TOPOLOGY_EXPECTED_KIND_H
#define MINISM_TOPOLOGY_EXPECTED_KIND_H

#include <stdbool.h>

/* In the order of the list of faults. Their numbers are in views. */
enum expected_kind {
	EXPECTED_SWITCH,	/* missing, as are */
	EXPECTED_HOST,		/* a CA or router, */
	EXPECTED_LINK,
	EXPECTED_SLOW,		/* a link below the rate that it had */
	EXPECTED_SILENT,	/* a switch's port with a link behind which no
				   node answers, and none is missing */
	EXPECTED_PART,		/* missing: a CA inside a switch, see
				   snapshot_is_part() */
	EXPECTED_KINDS
};

static inline bool
expected_is_missing(enum expected_kind kind)
{
	return kind != EXPECTED_SLOW && kind != EXPECTED_SILENT;
}

extern const char *const expected_kind_names[EXPECTED_KINDS];	/* "switch" */

#endif
