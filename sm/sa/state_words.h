/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lines of saved state, word by word: what the stores of groups, services and
 * subscriptions have in common. Strict: a line is as the store wrote it, or
 * the error says which word is wrong.
 */
#ifndef MINISM_SA_STATE_WORDS_H
#define MINISM_SA_STATE_WORDS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct state_words {
	char **word;
	guint n, next;
	GError **error;
	bool bad;		/* the error is set; what is read now is 0 */
};

/* A line that must have n_wanted words; the first, its keyword, is passed
 * over. */
void state_words_begin(struct state_words *w, char **word, guint n,
		       guint n_wanted, GError **error);
/* 0x and hexadecimal digits, or decimal. `name` is for the error. */
uint64_t state_words_number(struct state_words *w, const char *name,
			    uint64_t min, uint64_t max);
/* 0x and two hexadecimal digits a byte. */
void state_words_bytes(struct state_words *w, const char *name, uint8_t *out,
		       size_t len);
/* Refuses what was read, with a reason of the store's own; an earlier error
 * stays. */
void state_words_refuse(struct state_words *w, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/* " 0x..." at the end of the line. */
void state_words_put_bytes(GString *out, const uint8_t *bytes, size_t len);

#endif
