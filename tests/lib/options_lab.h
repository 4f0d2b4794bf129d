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
	char *folder;		/* in which the test is */
	const struct option_table *simulator;	/* of command lines */
};

/* For cmocka. */
int setup_new(void **state);
int setup_free(void **state);

/* A text of minism.conf without an error in it. */
void setup_parse(struct setup *t, const char *text);

/* What a line sets: VALUE(member, number) or NAME(member, text). */
struct setting {
	const char *line;
	size_t offset, size;	/* 0: a text */
	uint64_t number;
	const char *text;
};
#define VALUE(member, value) offsetof(struct options, member), \
	sizeof(((struct options *)0)->member), value, NULL
#define NAME(member, value) offsetof(struct options, member), 0, 0, value
void setting_check(const struct options *conf, const struct setting *setting);

/* A file of the source tree. */
char *source_read(const char *name);

#endif
