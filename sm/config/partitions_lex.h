/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Words of the partition file, and what is wrong with them. Private to the
 * partfile*.c of this folder.
 */
#ifndef MINISM_CONFIG_PARTITIONS_LEX_H
#define MINISM_CONFIG_PARTITIONS_LEX_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTFILE_ERRORS_MAX	20u
#define PARTFILE_WARNINGS_MAX	100u

struct partfile_place {
	unsigned line, column;	/* from 1; columns are bytes */
};

/* A piece of the text, without blanks around it; not a copy. */
struct partfile_span {
	const char *text;
	size_t len;
	struct partfile_place place;
};

struct partfile_lex {
	const char *file;
	const char *at;
	const char *line_start;
	unsigned line;
	GString *errors;	/* lines */
	unsigned n_errors;
	GPtrArray *warnings;	/* may be NULL */
	unsigned n_warnings;
};

void partfile_lex_init(struct partfile_lex *lex, const char *text,
		       const char *file, GPtrArray *warnings);
void partfile_lex_clear(struct partfile_lex *lex);

struct partfile_place partfile_here(const struct partfile_lex *lex);
/* Back to where a span was taken. */
void partfile_return(struct partfile_lex *lex, const struct partfile_span *to);

/* Past blanks and a comment: of this line, or of all lines that come. */
void partfile_skip_blanks(struct partfile_lex *lex);
void partfile_skip_space(struct partfile_lex *lex);
/* Past the next ';' that is in no comment. */
void partfile_skip_definition(struct partfile_lex *lex);

/* Up to a delimiter ("," ":" ";" "=", comment, end of the line), or up to what
 * ends a GID, which has colons in it. */
struct partfile_span partfile_take_word(struct partfile_lex *lex);
struct partfile_span partfile_take_gid(struct partfile_lex *lex);

G_GNUC_PRINTF(3, 4)
void partfile_fail(struct partfile_lex *lex, struct partfile_place place,
		   const char *format, ...);
G_GNUC_PRINTF(3, 4)
void partfile_warn(struct partfile_lex *lex, struct partfile_place place,
		   const char *format, ...);
/* So many errors that one more says nothing. */
bool partfile_gave_up(const struct partfile_lex *lex);

/* As part of a message: short, printable, UTF-8. A new string. */
char *partfile_show(const struct partfile_span *span);

bool partfile_is(const struct partfile_span *span, const char *word);

/*
 * Which of the words it is, or -1 and an error that names them. A word cut
 * short is taken, with a warning, if three letters are left and they begin one
 * word only. also: what else would do, for the error, or NULL.
 */
int partfile_choose(struct partfile_lex *lex, const struct partfile_span *span,
		    const char *what, const char *also,
		    const char *const *words, size_t n);

/* A number of C, min to max; false and an error that says what it is not. */
bool partfile_number(struct partfile_lex *lex, const struct partfile_span *span,
		     const char *what, uint64_t min, uint64_t max,
		     uint64_t *value);

#endif
