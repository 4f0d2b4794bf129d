/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A store of what clients register: its elements in the order of their keys,
 * and the lines in which they are saved.
 */
#ifndef MINISM_SA_SA_STORE_H
#define MINISM_SA_SA_STORE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sa_store {
	GPtrArray *list;	/* which frees its elements */
	/* By the key, with which an element begins: <0, 0, >0. */
	int (*compare)(const void *a, const void *b);
	uint64_t version;	/* counts changes */
};

/* The place of the first element that is not before the key. */
guint sa_store_place(const struct sa_store *s, const void *key);
/* NULL: none has this key. */
void *sa_store_find(const struct sa_store *s, const void *key);
/* A copy, `size` bytes, of an element whose key none has; returns it. */
void *sa_store_insert(struct sa_store *s, const void *element, size_t size);
void sa_store_remove(struct sa_store *s, guint place);

/* ---- text: a keyword and the members of a struct, by a table ---- */

struct state_word {
	const char *name;	/* for the error */
	uint16_t member, size;	/* of the struct: its place, bytes */
	uint8_t digits;		/* hexadecimal; 0: decimal; or */
#define STATE_BYTES 0xff	/* two digits a byte */
	uint64_t min, max;
};
#define STATE_WORD(type, m, name, digits, min, max) \
	{ name, G_STRUCT_OFFSET(struct type, m), \
	  sizeof(((struct type *)0)->m), digits, min, max }

struct state_line {
	const char *keyword;
	const struct state_word *words;
	guint n;
	guint n_optional;	/* at the end: an older version wrote none */
};

void state_line_save(const struct state_line *l, GString *out,
		     const void *members);
/* words[0] is the keyword. False with an error. */
bool state_line_load(const struct state_line *l, char **words, guint n_words,
		     void *members, GError **error);
/* Refuses what was read, with a reason of the store's own; false. */
bool state_line_refuse(GError **error, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

#endif
