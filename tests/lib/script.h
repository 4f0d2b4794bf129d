/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tests as text: files of scenarios, a line for each step. `#` begins a
 * comment.
 *
 *	scenario a title, which is the name of the test
 *	with A,B V1,V2 ..	it is played for each value of $A, $B; 2..5 is
 *				2 3 4 5; names are small letters
 *	given LINE		the scenarios from here on begin with it, and
 *				with those of the next such lines, up to other
 *				ones, or to: given nothing; its own values of
 *				the player's list take the place of given ones
 *	let NAME TEXT		$NAME is TEXT from here on; before the first
 *				scenario of a file: in all of them
 *	repeat N .. end
 *	WORD ..			a step; its words are split as a shell does
 *
 * A line that begins with a tab continues the one before it, after a blank.
 *
 * The words are those of the player: the simulated fabric with managers
 * (scenario.h), or a unit test with a table of words of its own, below.
 */
#ifndef MINISM_TESTS_LIB_SCRIPT_H
#define MINISM_TESTS_LIB_SCRIPT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct scenario {
	char *file, *title;
	unsigned line;		/* of the title */
	guint n_given;		/* of the lines, the first ones */
	GPtrArray *lines;	/* char *, those that follow */
	GPtrArray *bound;	/* "$NAME", TEXT, ..: of the file */
	guint at;		/* the line that is being played, */
	bool is_done;		/* or all were */
};

/* The number of the line that is being played; of a given one, of the title. */
unsigned scenario_line(const struct scenario *s);

/* Of a file; g_error if it cannot be read. */
GPtrArray *scenarios_read(const char *file);

/* It plays the lines of a scenario; a stage for each run. */
struct script_player {
	const char *list;	/* a word with values as those of `with`, which
				   binds its own name; or NULL */
	const void *data;	/* what `open` is given */
	/* bound: see struct scenario */
	void *(*open)(const void *data, const GPtrArray *bound);
	/* NULL, or why it failed: g_free */
	char *(*play)(void *stage, const char *line);
	void (*close)(void *stage);
};

/* False: *why says where and what was found, g_free. */
bool script_play(struct scenario *s, const struct script_player *player,
		 char **why);

/* "3", "<=40", ">=9", "!=5" or "3..5" */
bool range_holds(const char *range, uint64_t n);

/* "50ms", "2s", "400us", "1h" in us; false: it is none. */
bool script_time(const char *word, int64_t *us);

#endif
