// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lines of saved state, word by word.
 *
 * Purpose. The file with the state of the SA is written by us but lies on a
 * disk, where it may be cut, edited or older than this program. A value that
 * is out of its range must not get past the reader, and who repairs the file
 * by hand must be told what is wrong.
 *
 * Flow. A store takes the words in turn and looks at `bad` once, at the end:
 * after the first wrong word the rest read as 0 and the error stays. No more
 * than the line is ever looked at, so words may be anything.
 */
#include <inttypes.h>
#include <string.h>

#include "topology/text.h"
#include "sm/sa/sa.h"
#include "sm/sa/state_words.h"

void
state_words_refuse(struct state_words *w, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	if (w->bad)
		return;
	w->bad = true;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error_literal(w->error, SA_ERROR, SA_ERROR_TEXT, text);
}

void
state_words_begin(struct state_words *w, char **word, guint n, guint n_wanted,
	    GError **error)
{
	*w = (struct state_words){
		.word = word,
		.n = n,
		.next = 1,
		.error = error,
	};
	if (n != n_wanted)
		state_words_refuse(w, "%u words instead of %u", n, n_wanted);
}

static const char *
state_words_take(struct state_words *w)
{
	if (w->bad)
		return NULL;
	g_assert(w->next < w->n);
	return w->word[w->next++];
}

/* Strings of this file may be anything: shown, they are cut and printable. */
static char *
state_words_show(const char *word)
{
	g_autofree char *cut = g_strndup(word, 40);

	return g_strescape(cut, NULL);
}

static bool
parse_number(const char *word, uint64_t max, uint64_t *out)
{
	if (g_str_has_prefix(word, "0x"))
		return text_read_digits(word + 2, 16, max, out);
	return text_read_digits(word, 10, max, out);
}

uint64_t state_words_number(struct state_words *w, const char *name,
			    uint64_t min, uint64_t max)
{
	const char *word = state_words_take(w);
	g_autofree char *shown = NULL;
	uint64_t value;

	if (!word)
		return 0;
	if (parse_number(word, max, &value) && value >= min)
		return value;
	shown = state_words_show(word);
	state_words_refuse(w, "%s '%s' is not a number from 0x%" PRIx64
		     " to 0x%" PRIx64, name, shown, min, max);
	return 0;
}

void state_words_bytes(struct state_words *w, const char *name, uint8_t *out,
		       size_t len)
{
	const char *word = state_words_take(w);
	g_autofree char *shown = NULL;
	bool good;

	memset(out, 0, len);
	if (!word)
		return;
	good = g_str_has_prefix(word, "0x") && strlen(word) == 2 + 2 * len;
	for (size_t i = 0; good && i < len; i++) {
		int high = g_ascii_xdigit_value(word[2 + 2 * i]);
		int low = g_ascii_xdigit_value(word[3 + 2 * i]);

		good = high >= 0 && low >= 0;
		out[i] = good ? (uint8_t)(high << 4 | low) : 0;
	}
	if (good)
		return;
	shown = state_words_show(word);
	state_words_refuse(w, "%s '%s' is not 0x and %zu digits", name, shown,
		     2 * len);
}

void
state_words_put_bytes(GString *out, const uint8_t *bytes, size_t len)
{
	g_string_append(out, " 0x");
	for (size_t i = 0; i < len; i++)
		g_string_append_printf(out, "%02x", bytes[i]);
}
