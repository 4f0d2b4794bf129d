/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One test program a folder: each test adds itself to those of the program
 * that its file is linked into. This brings what most of them use: cmocka.h and
 * what that needs, stdio.h, stdlib.h, string.h, fabrics by formula, folders and
 * golden files, loops over lists, and variables that free themselves.
 *
 *	TEST(test_this)
 *	{
 *		assert_true(...);
 *	}
 *
 *	TEST(test_that, set_up, tear_down)
 *	{
 *		struct fixture *f = *state;
 *		...
 *	}
 *
 * Tests as text (script.h): each scenario of tests/scripts/FILE is a test,
 * whose lines call functions with the fixture.
 *
 *	static struct unit_word all_words[8];
 *
 *	WORDS("ask ask-again", do_ask, struct fixture *f)
 *	{
 *		assert_true(ask(f, words[0]));
 *	}
 *
 *	SCRIPT(this, "this.scn", all_words, set_up, tear_down)
 */
#ifndef MINISM_TESTS_LIB_UNIT_H
#define MINISM_TESTS_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lab/generate.h"
#include "tests/lib/auto.h"
#include "tests/lib/folder.h"
#include "tests/lib/golden.h"
#include "topology/each.h"

/* set_up, tear_down: NULL for a test without them. */
void unit_add(const char *name, CMUnitTestFunction test,
	      CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* `state`: what *state is, which lives as long as the program. */
void unit_add_state(const char *name, CMUnitTestFunction test,
		    const void *state);

#define TEST(name, ...) \
	static void name(void **state); \
	__attribute__((constructor)) static void \
	add_##name(void) \
	{ \
		const CMFixtureFunction fixture[2] = { __VA_ARGS__ }; \
		unit_add(#name, name, fixture[0], fixture[1]); \
	} \
	static void name(__attribute__((unused)) void **state)

/* The same with the fixture as a declared pointer: struct fixture *f. */
#define TEST_WITH(name, fixture, set_up, tear_down) \
	static void name##_of(fixture); \
	TEST(name, set_up, tear_down) \
	{ \
		name##_of(*state); \
	} \
	static void name##_of(fixture)

/* The fixture is a variable of the test that open(&variable, ..) makes of what
 * stands behind close. */
#define TEST_ON(name, type, variable, open, close, ...) \
	static void name##_of(type *variable); \
	TEST(name) \
	{ \
		type variable; \
		open(&variable, ##__VA_ARGS__); \
		name##_of(&variable); \
		close(&variable); \
	} \
	static void name##_of(type *variable)

/* setup_new and setup_free for TEST, of setup_open(struct setup *), which gets a
 * zeroed one, and setup_close(). */
#define FIXTURE(setup) \
	static int \
	setup##_new(void **state) \
	{ \
		setup##_open(*state = g_new0(struct setup, 1)); \
		return 0; \
	} \
	static int \
	setup##_free(void **state) \
	{ \
		setup##_close(*state); \
		g_free(*state); \
		return 0; \
	}

/* Of a fixture that is called setup. */
#define SETUP_TEST(name) \
	TEST_WITH(name, struct setup *t, setup_new, setup_free)

/* words: as a shell splits them, NULL-terminated, past the first one; text:
 * what follows that as it stands. */
struct unit_word {
	const char *name;
	void (*fn)(void *fixture, char **words, const char *text);
};

/* fixture: a declaration of the pointer. */
#define WORD(name, fixture) \
	static void name##_of(fixture, char **words, const char *text); \
	static void \
	name(void *of, char **words, const char *text) \
	{ \
		name##_of(of, words, text); \
	} \
	static void \
	name##_of(fixture, __attribute__((unused)) char **words, \
		  __attribute__((unused)) const char *text)

/* The same under these names, in the file's table all_words, which ends with a
 * name NULL. */
#define WORDS(names, name, fixture) \
	static void name(void *of, char **words, const char *text); \
	__attribute__((constructor)) static void \
	add_##name(void) \
	{ \
		unit_add_words(all_words, G_N_ELEMENTS(all_words), names, \
			       name); \
	} \
	WORD(name, fixture)
void unit_add_words(struct unit_word *table, size_t size, const char *names,
		    void (*fn)(void *, char **, const char *));

struct unit_script {
	const char *file;
	const struct unit_word *words;
	CMFixtureFunction set_up, tear_down;
};
void unit_add_script(const struct unit_script *script);

/* Of a word: a number as C writes it; a time as 7us, 5ms, 4s, in us. They fail
 * the test if it is none. */
uint64_t word_number(const char *word);
int64_t word_time(const char *word);

/* Plays one line. */
void unit_play(const struct unit_word *words, void *fixture, const char *line);

#define SCRIPT(name, ...) \
	__attribute__((constructor)) static void \
	add_script_##name(void) \
	{ \
		static const struct unit_script script = { __VA_ARGS__ }; \
		unit_add_script(&script); \
	}

/* Ends a test that this machine cannot run. cmocka's own is "not ok" in TAP,
 * which automake takes for a failure. */
void unit_skip(const char *function);
#undef skip
#define skip() \
	do { \
		unit_skip(__func__); \
		return; \
	} while (0)

/* cmocka 2 has it for unsigned numbers under another name. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range(n, min, max) assert_uint_in_range(n, min, max)
#endif

/* NAME=RANGE ..: each of these counts holds; they end with name NULL. */
struct unit_count {
	const char *name;
	uint64_t n;
};
void assert_counts(const struct unit_count *counts, char **words);
/* NAME=NUMBER ..: these are set; they end as well. */
struct unit_setting {
	const char *name;
	unsigned *value;
};
void unit_set(const struct unit_setting *settings, char **words);

/* See range_holds(). */
void assert_range(const char *range, uint64_t n);
void assert_has(const char *text, const char *part);
/* Of a folder; text NULL: there is none. */
void assert_file(const char *folder, const char *name, const char *text);
/* A number of the host's byte order, of 1 to 8 bytes. */
uint64_t number_at(const void *at, size_t size);
#define assert_gerror(error, domain, code) \
	assert_true(g_error_matches(error, domain, code))

/* One value of RFC 8259, all of it UTF-8. */
void assert_json(const char *text);

#endif
