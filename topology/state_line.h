/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state text: what a manager keeps over a restart and gives to a standby. A
 * line is a fact: a keyword, then the members of a struct, written and read by
 * one table (minism(8), FILES).
 *
 * A module whose state is kept has a struct state_part. A line that cannot be
 * read costs its fact only.
 */
#ifndef MINISM_TOPOLOGY_STATE_LINE_H
#define MINISM_TOPOLOGY_STATE_LINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct state_word {
	const char *name;	/* for the error */
	uint16_t member, size;	/* of the struct: its place, bytes */
	uint8_t digits;		/* hexadecimal; 0: decimal; or */
#define STATE_BYTES 0xff	/* two digits a byte; */
#define STATE_NAME 0xfe		/* the member is a char *: one word, */
#define STATE_TEXT 0xfd		/* or all up to the end of the line */
	uint64_t min, max;
};
#define STATE_WORD(type, m, name, digits, min, max) \
	{ name, G_STRUCT_OFFSET(struct type, m), \
	  sizeof(((struct type *)0)->m), digits, min, max }

struct state_line {
	const char *keyword;	/* NULL: the end of an array */
	const struct state_word *words;
	guint n;
	guint n_optional;	/* at the end: an older version wrote none */
	size_t size;		/* of the struct */
	/* Adds the fact to the owner; `now` is that of the reading. False: it is
	 * refused. */
	bool (*take)(void *owner, void *members, int64_t now, GError **error);
};
#define STATE_LINE(keyword, words, type, take) \
	{ keyword, words, G_N_ELEMENTS(words), 0, sizeof(struct type), take }

void state_line_save(const struct state_line *l, GString *out,
		     const void *members);

/* Inserts a struct that begins with a GUID into an array in their order. False:
 * this one is there. */
bool state_line_insert(GArray *list, const void *element, GError **error);

/* ---- the whole text ---- */

#define STATE_ARRAYS_MAX	3u

struct state_part {
	const struct state_line *lines[STATE_ARRAYS_MAX];	/* arrays */
	void (*save)(const void *owner, GString *out, int64_t now);
	/* Another state is about to be read into it. */
	void (*clear)(void *owner);
	/* Of the part that has the lines behind STATE_CLIENTS, in which leases
	 * become shorter: another one: it has changed. NULL: its text tells. */
	uint64_t (*version)(const void *owner);
};

struct state_owner {
	const struct state_part *part;
	void *owner;
};

#define STATE_VERSION	2
#define STATE_HEAD_WORD	"minism-state "
#define STATE_HEAD	STATE_HEAD_WORD G_STRINGIFY(STATE_VERSION) "\n"
#define STATE_CLIENTS	"= sa-state\n"	/* all lines of clients follow */

/* What became of a text. */
struct state_told {
	unsigned n_bad;		/* lines */
	bool clients;		/* STATE_CLIENTS was there */
	GString *bad;		/* these lines, */
	GString *foreign;	/* and those that have none of the keywords;
				   NULL: dropped */
	char *first;		/* "line 3: why"; NULL: none is bad */
};
void state_told_clear(struct state_told *t);
/* Of bad lines; NULL: there are none. g_free. */
char *state_told_text(const struct state_told *t, const char *source);

/* Takes a line, without its end; is_cut: it has none. False: it is refused. */
typedef bool (*state_take_fn)(void *data, const char *line, bool is_cut,
			      GError **error);
/* Each line of `len` bytes, which are overwritten. */
void state_read_lines(char *text, size_t len, state_take_fn take, void *data,
		      struct state_told *told);
/* Reads `len` bytes, which are overwritten, into the owners. */
void state_read(const struct state_owner *owners, size_t n, char *text,
		size_t len, int64_t now, struct state_told *told);

#endif
