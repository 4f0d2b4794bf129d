/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Options of a program: one table has for each its name on the command line and
 * in a file, the values that it accepts, its default and its line of --help.
 * GLib's GOption reads the command line and writes --help from it.
 */
#ifndef MINISM_CONFIG_OPTION_H
#define MINISM_CONFIG_OPTION_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option;

/* How the text of a value is read. */
struct option_kind {
	const char *accepts;	/* NULL: the range of the option */
	bool no_value;		/* on the command line */
	bool may_value;		/* it has one there only behind "="; else it is
				   the preset */
	bool is_action;		/* without a default */
	bool is_text;		/* a char *, to be freed */
	bool or_none;		/* which may be empty: NULL */
	bool secret;		/* no message repeats the value */
	uint8_t size;		/* of a number; 0: that of unsigned */
	const char *const *words;	/* option_set_word(); ends with NULL */
	/* NULL, or the error as a new string. value NULL: the default of an
	 * option that has none in the table. */
	char *(*set)(const struct option *o, void *place, const char *value);
};

struct option {
	const char *key;	/* in the file; NULL: not there */
	const char *name;	/* --name; NULL: not on the command line */
	char letter;		/* -l; 0: none */
	const struct option_kind *kind;	/* NULL: a heading of --help */
	size_t offset;		/* of the value in the program's struct */
	uint64_t min, max;
	const char *preset;	/* the default, as one would write it */
	const char *argument;	/* the value in --help */
	const char *help;
};

/* Rows of a table: in the file only, on the command line only, in both. */
#define OPTION_HEADING(text) \
	{ NULL, NULL, 0, NULL, 0, 0, 0, NULL, NULL, text }
#define OPTION_KEY(key, kind, at, min, max, preset) \
	{ key, NULL, 0, kind, at, min, max, preset, NULL, NULL }
#define OPTION_SWITCH(name, letter, kind, at, min, help) \
	{ NULL, name, letter, kind, at, min, 0, NULL, NULL, help }

extern const struct option_kind option_bool;	/* bool; no value there */
extern const struct option_kind option_number;	/* unsigned, min to max */
extern const struct option_kind option_number8;	/* uint8_t */
extern const struct option_kind option_number16;	/* uint16_t */
extern const struct option_kind option_number64;	/* uint64_t */
extern const struct option_kind option_secret;		/* uint64_t */
extern const struct option_kind option_guid;		/* uint64_t */
extern const struct option_kind option_name;	/* char *, not empty */
extern const struct option_kind option_file;	/* char *, not empty */
extern const struct option_kind option_text;	/* char *; empty: NULL */
extern const struct option_kind option_path;	/* the same, of a file */
/* int; `min` is the value, and the greatest one of the command line holds */
extern const struct option_kind option_mode;
/* A kind's set(): unsigned, the place of the value among `words`; no value: 1 */
char *option_set_word(const struct option *o, void *place, const char *value);
/* Another one: of texts */
char *option_set_text(const struct option *o, void *place, const char *value);

struct option_table {
	const struct option *options;
	size_t n;
	const char *usage;	/* the arguments behind the options, or NULL */
	const char *summary, *description;	/* of --help; or NULL */
	/* Called for each good value of the command line; or NULL. */
	void (*note)(const struct option *o, const char *value, void *values);
	/* More options of the command line; NULL: none. */
	const struct option_table *also;
	void *values;	/* of such a table: where its values go */
};

/* All defaults; free the texts. */
void option_set_defaults(const struct option_table *t, void *values);
void option_free_texts(const struct option_table *t, void *values);

const struct option *option_find_key(const struct option_table *t,
				     const char *key);

/* NULL, or the error as a new string: "9 is not 0 to 7". value NULL: the
 * default. */
char *option_set(const struct option *o, void *values, const char *value);

/* "9 is not 0 to 7". A new string. */
char *option_refuse(const struct option *o, const char *value);

/* The values that the option accepts: "0 to 7". A new string. */
char *option_accepts(const struct option *o);

/*
 * Reads a command line into `values`. Arguments that are no options go into
 * *words (g_strfreev()), in order; words NULL: there may be none. A long option
 * may be cut short as long as it is the only one, and may have _ for -. False
 * with a message that has the accepted values; `values` may have changed then.
 */
bool option_read(const struct option_table *t, void *values, int argc,
		 char *const *argv, char ***words, GError **error);

/* The text of --help. */
char *option_help(const struct option_table *t);

#endif
