/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Options with the warnings of what was read into them.
 */
#ifndef MINISM_TESTS_OPTIONS_LAB_H
#define MINISM_TESTS_OPTIONS_LAB_H

#include "sm/config/options.h"

struct setup {
	struct options *conf;
	GPtrArray *warnings;	/* of the last text */
};

/* For cmocka. */
int setup_new(void **state);
int setup_free(void **state);

/* A text of minism.conf without an error in it. */
void setup_parse(struct setup *t, const char *text);

/* A file of the source tree. */
char *source_read(const char *name);

#endif
