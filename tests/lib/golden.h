/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file of tests/golden has cases, each a test point: a text, and what comes of
 * it, byte for byte.
 *
 *	== title
 *	text
 *	--
 *	what comes of it
 *
 * or in one line, of which the text is the title:
 *
 *	== text => what comes of it
 *
 * or a transcript, which has the steps and what comes of each: lines behind "$ ",
 * or those that do not begin with a blank, up to a colon, are the text.
 *
 * Escapes are those of C (g_strcompress); a backslash at the end of a section
 * takes its last newline away. MINISM_GOLDEN=1: results that have changed are
 * written into the file, for a look at the difference.
 */
#ifndef MINISM_TESTS_LIB_GOLDEN_H
#define MINISM_TESTS_LIB_GOLDEN_H

#include <glib.h>

/* Puts what comes of a text into `out`. */
typedef void (*golden_fn)(const void *of, const char *text, GString *out);

struct golden {
	const void *of;
	golden_fn made;
	char *name, *text, *result;
};

/* Adds the cases of a file as tests; those of all files, which live as long as
 * the program. */
const GPtrArray *golden_add(const char *file, golden_fn made, const void *of);

/* For a transcript: plays each step, which puts its text into `out`. */
void golden_play(const char *steps,
		 void (*play)(void *of, const char *step, GString *out),
		 void *of, GString *out);

/* A function of `text` and `out`, for the cases of a file. */
#define GOLDEN(file, made) \
	static void made(const void *of, const char *text, GString *out); \
	__attribute__((constructor)) static void \
	add_##made(void) \
	{ \
		golden_add(file, made, NULL); \
	} \
	static void \
	made(const void *of, const char *text, GString *out)

#endif
