/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The text formats that minism reads: what comes of a text. One table for the
 * tests with known texts (test_formats.c) and for the fuzzers (fuzz_text.c).
 */
#ifndef MINISM_TESTS_FORMATS_H
#define MINISM_TESTS_FORMATS_H

#include <glib.h>
#include <stdbool.h>

#include "topology/partition.h"

struct format {
	const char *name;
	/* What was read of `text`, written in the one way in which minism (or,
	 * where it never writes this, the test) writes it: a new string. NULL
	 * with an error for a text that is refused. The file is called "f". */
	char *(*normal)(const char *text, GPtrArray *warnings, GError **error);
	bool is_read;	/* what is written can be read: it stays as it is */
};

/* NULL: there is none of that name. */
const struct format *format_find(const char *name);

/* normal() with all that holds for every text: the error is a TEXT_ERROR whose
 * lines name a place, and what was written is read as the same. */
char *format_judge(const struct format *f, const char *text,
		   GPtrArray *warnings, GError **error);

/* The text of a file with these rules, all of them explicit; parsed, it gives
 * the same rules, but for their lines. A new string. */
char *partitions_conf_format(const struct partition_rules *rules);

#endif
