// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the stores of groups, services and subscriptions have in common.
 *
 * Safety of the saved lines. The file may have been cut or edited, or be of an
 * older version: each value is checked against its range, and the error names
 * the word, so that the file can be repaired. Words may contain any bytes.
 */
#include "sm/sa/sa_store.h"

#include <inttypes.h>
#include <string.h>

#include "sm/mad/mad_field.h"
#include "topology/text.h"

guint
sa_store_place(const struct sa_store *s, const void *key)
{
	guint low = 0, high = s->list->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;

		if (s->compare(key, s->list->pdata[mid]) > 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void *
sa_store_find(const struct sa_store *s, const void *key)
{
	guint place = sa_store_place(s, key);

	return place < s->list->len &&
		!s->compare(key, s->list->pdata[place]) ?
		s->list->pdata[place] : NULL;
}

void *
sa_store_insert(struct sa_store *s, const void *element, size_t size)
{
	void *copy = g_memdup2(element, size);

	g_ptr_array_insert(s->list, (gint)sa_store_place(s, element), copy);
	s->version++;
	return copy;
}

void
sa_store_remove(struct sa_store *s, guint place)
{
	g_ptr_array_remove_index(s->list, place);
	s->version++;
}

/* -------------------------------------------------------------------- text */

bool
state_line_refuse(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(TEXT_ERROR, TEXT_ERROR_SYNTAX,
						    format, args));
	va_end(args);
	return false;
}

void
state_line_save(const struct state_line *l, GString *out, const void *members)
{
	static const char hex[] = "0123456789abcdef";

	g_string_append(out, l->keyword);
	for (guint i = 0; i < l->n; i++) {
		const struct state_word *w = &l->words[i];
		const uint8_t *member = (const uint8_t *)members + w->member;

		if (w->digits == STATE_BYTES) {
			g_string_append(out, " 0x");
			for (size_t k = 0; k < w->size; k++) {
				g_string_append_c(out, hex[member[k] >> 4]);
				g_string_append_c(out, hex[member[k] & 15]);
			}
		} else if (w->digits) {
			g_string_append_printf(out, " 0x%0*" PRIx64, w->digits,
					       mad_field_load(member, w->size));
		} else {
			g_string_append_printf(out, " %" PRIu64,
					       mad_field_load(member, w->size));
		}
	}
	g_string_append_c(out, '\n');
}

static bool
load_word(const struct state_word *w, const char *word, uint8_t *member,
	  GError **error)
{
	/* the file may hold anything: shown, it is cut and printable */
	g_autofree char *cut = g_strndup(word, 40);
	g_autofree char *shown = g_strescape(cut, NULL);
	bool good = g_str_has_prefix(word, "0x") &&
		strlen(word) == 2 + 2 * (size_t)w->size;
	uint64_t value;

	if (w->digits == STATE_BYTES) {
		for (unsigned i = 0; good && i < w->size; i++) {
			int high = g_ascii_xdigit_value(word[2 + 2 * i]);
			int low = g_ascii_xdigit_value(word[3 + 2 * i]);

			good = high >= 0 && low >= 0;
			if (good)
				member[i] = (uint8_t)(high << 4 | low);
		}
		return good || state_line_refuse(error, "%s '%s' is not 0x and "
						 "%u digits", w->name, shown,
						 2u * w->size);
	}
	if (!text_read_number(word, 0, w->max, &value) || value < w->min)
		return state_line_refuse(error, "%s '%s' is not a number from "
					 "0x%" PRIx64 " to 0x%" PRIx64,
					 w->name, shown, w->min, w->max);
	mad_field_store(member, w->size, value);
	return true;
}

bool
state_line_load(const struct state_line *l, char **words, guint n_words,
		void *members, GError **error)
{
	if (n_words != l->n + 1 && n_words != l->n + 1 - l->n_optional)
		return state_line_refuse(error, "%u words instead of %u",
					 n_words, l->n + 1);
	for (guint i = 0; i + 1 < n_words; i++)
		if (!load_word(&l->words[i], words[i + 1],
			       (uint8_t *)members + l->words[i].member, error))
			return false;
	return true;
}
