/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Text files: reading one, its words, quoted strings and numbers, and messages
 * that begin with file:line:column.
 */
#ifndef MINISM_TOPOLOGY_TEXT_H
#define MINISM_TOPOLOGY_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The mistakes of a text: one line or several. */
enum text_error {
	TEXT_ERROR_SYNTAX,
};
#define TEXT_ERROR g_quark_from_static_string("minism-text")

/* A line, char *, at the end of a list that frees it; NULL: there is none. */
void text_add(GPtrArray *lines, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Always false. Sets such an error. */
bool text_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * All of a text file, without the byte order mark that some editors put first.
 * To be freed with g_free(). NULL with a G_FILE_ERROR; a NUL in it, which would
 * hide the text behind it, is G_FILE_ERROR_INVAL.
 */
char *text_read_file(const char *path, GError **error);

/* The bytes of a byte order mark at the beginning: 3 or 0. */
size_t text_bom(const char *text, size_t len);

/* Blanks: a space, a tab, or the return before a line's end. */
const char *text_skip_blanks(const char *text);

/* Takes "0x" or "0X" if the text goes on with it. */
bool text_take_0x(const char **text);

/* Takes digits of `base`, 2 to 16, as far as they go. False: there are none,
 * or they make more than `max`; then *text and *value are as before. */
bool text_take_digits(const char **text, unsigned base, uint64_t max,
		      uint64_t *value);

/* Takes "0x" and 1 to `digits` (at most 16) hexadecimal digits. False: that
 * is not there, or more digits are; then nothing is taken. */
bool text_take_hex(const char **text, unsigned digits, uint64_t *value);

/* The whole text as a number up to `max`. base 10: digits only; 16:
 * hexadecimal, with 0x or without, as a GUID; 0: hexadecimal with 0x, else
 * decimal. */
bool text_read_number(const char *text, unsigned base, uint64_t max,
		      uint64_t *value);

/* A text that another host or a person chose, as part of a one-line message:
 * about 60 bytes at most, valid UTF-8; ? for bytes that are none and for control
 * and format characters, C1 and those of the text's direction among them. A new
 * string. */
char *text_one_line(const char *text);
/* The same, whole. */
char *text_printable(const char *text);

/*
 * The nearest of `n` names to `word`, as the end of a message: "; the nearest
 * is PREFIXNAME". A name that begins with the word comes first, then the one
 * with the smallest edit distance, ignoring case. "" if that is more than a
 * third of the letters. A new string.
 */
char *text_nearest(const char *word, const char *prefix,
		   const char *const *names, size_t n);

/* "BEFORE word AFTER", and the nearest of the names that are valid. g_free. */
char *text_wrong(const char *before, const char *word, const char *after,
		 const char *const *names, size_t n);

/* --- the scanner --- */

struct text_place {
	unsigned line, column;	/* from 1; columns are bytes */
};

/* A piece of the text, not a copy. */
struct text_span {
	const char *at;
	size_t len;
	struct text_place place;
};

struct text_scan {
	const char *at;		/* the next byte; may be moved in a line */
	const char *file, *line_start;
	unsigned line;
	GString *errors;	/* lines "file:line:column: text" */
	unsigned n_errors, errors_max;
	GPtrArray *warnings;	/* the same, char *; or NULL */
	unsigned n_warnings, warnings_max;
};

/* `text` and `file` stay the caller's. All errors and 100 warnings are kept;
 * both bounds may be changed. */
void text_scan_init(struct text_scan *s, const char *text, const char *file,
		    GPtrArray *warnings);
/* Frees the errors. If there are any, sets *error to a TEXT_ERROR and returns
 * false. */
bool text_scan_end(struct text_scan *s, GError **error);

struct text_place text_here(const struct text_scan *s);

/* Always false. Adds an error. */
G_GNUC_PRINTF(3, 4)
bool text_fail(struct text_scan *s, struct text_place place,
	       const char *format, ...);
G_GNUC_PRINTF(3, 4)
void text_warn(struct text_scan *s, struct text_place place,
	       const char *format, ...);

/* Past blanks and a # comment: in this line; over all lines that have nothing
 * else, which returns whether there is more text. */
void text_skip_comment(struct text_scan *s);
bool text_skip_space(struct text_scan *s);
/* There are only blanks and comments. */
bool text_is_empty(const char *text);
/* Past blanks and a comment; is there nothing more on this line? */
bool text_line_ends(struct text_scan *s);
/* To the end of this line. */
void text_skip_line(struct text_scan *s);

/* Past blanks; takes the character if it is next. */
bool text_take_char(struct text_scan *s, char c);
/* Past blanks; what follows up to one of `delimiters`, without blanks at its
 * end. The end of the line must be one of them. */
struct text_span text_take_span(struct text_scan *s, const char *delimiters);
/* A string in quotes, which is next. False: it is not closed; its place, that
 * of the quote, is set nevertheless. */
bool text_take_quoted(struct text_scan *s, struct text_span *string);

/* The end of a noun, for printf: "%u host%s", "%u switch%s". */
static inline const char *
text_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *
text_plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

/* Of two char *, to sort an array of them. */
int text_compare(const void *a, const void *b);

/* "1 switch", "8 hosts"; with `all` more than n, "7 of 8 switches". */
void text_put_count(GString *out, uint64_t n, uint64_t all, const char *noun);

bool text_span_is(const struct text_span *span, const char *word);
/* As text_read_number(). */
bool text_span_number(const struct text_span *span, unsigned base,
		      uint64_t max, uint64_t *value);
/* A GUID that is not 0, of up to 16 hexadecimal digits, 0x before or not. */
bool text_span_guid(const struct text_span *span, uint64_t *guid);
/* Short, printable, UTF-8: for a message. A new string. */
char *text_span_show(const struct text_span *span);

#endif
