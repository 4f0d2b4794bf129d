// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state text.
 *
 * Safety. The text may have been cut or edited, or be of another version: each
 * value is checked against its range, and the error names the word, so that the
 * text can be repaired. Lines may contain any bytes. A keyword that has no
 * table may be that of a newer version: its line is given back as it is.
 */
#include "topology/state_line.h"

#include <inttypes.h>
#include <string.h>

#include "topology/member.h"
#include "topology/text.h"

/* ------------------------------------------------------------------ a line */

static const char hex[] = "0123456789abcdef";

/* By hand: there may be a hundred thousand. */
static void
put_number(GString *out, uint64_t value, unsigned base, unsigned digits)
{
	char text[20];
	char *at = text + sizeof(text);

	do {
		*--at = hex[value % base];
		value /= base;
	} while (value || text + sizeof(text) - at < (int)digits);
	g_string_append_len(out, at, text + sizeof(text) - at);
}

static void
put_bytes(GString *out, const uint8_t *bytes, size_t n)
{
	gsize at = out->len;

	g_string_set_size(out, at + 2 * n);
	for (size_t i = 0; i < n; i++) {
		out->str[at++] = hex[bytes[i] >> 4];
		out->str[at++] = hex[bytes[i] & 15];
	}
}

void
state_line_save(const struct state_line *l, GString *out, const void *members)
{
	g_string_append(out, l->keyword);
	for (guint i = 0; i < l->n; i++) {
		const struct state_word *w = &l->words[i];
		const uint8_t *member = (const uint8_t *)members + w->member;
		gsize at = out->len + 1;

		g_string_append_c(out, ' ');
		if (w->digits == STATE_NAME || w->digits == STATE_TEXT) {
			g_string_append(out, *(char *const *)
					(const void *)member);
			g_strdelimit(out->str + at, "\n", '?');
			continue;
		}
		if (w->digits)
			g_string_append(out, "0x");
		if (w->digits == STATE_BYTES)
			put_bytes(out, member, w->size);
		else
			put_number(out, member_load(member, w->size),
				   w->digits ? 16 : 10, w->digits);
	}
	g_string_append_c(out, '\n');
}

static bool
load_bytes(const struct state_word *w, const char *word, uint8_t *member)
{
	if (!g_str_has_prefix(word, "0x") ||
	    strlen(word) != 2 + 2 * (size_t)w->size)
		return false;
	for (unsigned i = 0; i < w->size; i++) {
		int high = g_ascii_xdigit_value(word[2 + 2 * i]);
		int low = g_ascii_xdigit_value(word[3 + 2 * i]);

		if (high < 0 || low < 0)
			return false;
		member[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool
load_word(const struct state_word *w, char *word, uint8_t *member,
	  GError **error)
{
	g_autofree char *shown = NULL;
	uint64_t value;

	if (w->digits == STATE_NAME || w->digits == STATE_TEXT) {
		/* another manager may have sent it; this is no longer */
		shown = text_printable(word);
		memcpy(word, shown, strlen(shown) + 1);
		*(char **)(void *)member = word;
		return *word || w->digits == STATE_TEXT ||
			text_refuse(error, "%s is empty", w->name);
	}
	if (w->digits == STATE_BYTES ? load_bytes(w, word, member) :
	    text_read_number(word, 0, w->max, &value) && value >= w->min) {
		if (w->digits != STATE_BYTES)
			member_store(member, w->size, value);
		return true;
	}
	shown = text_one_line(word);
	if (w->digits == STATE_BYTES)
		return text_refuse(error, "%s '%s' is not 0x and %u "
				   "digits", w->name, shown,
				   2u * w->size);
	return text_refuse(error, "%s '%s' is not a number from 0x%"
			   PRIx64 " to 0x%" PRIx64, w->name, shown,
			   w->min, w->max);
}

/* Cuts the line into its words: a char * of `members` points into it, at what
 * text_printable() makes of the word. */
static bool
load_line(const struct state_line *l, char *line, void *members,
	  GError **error)
{
	char *at = strchr(line, ' ');
	guint i = 0;

	for (; at && i < l->n; i++) {
		const struct state_word *w = &l->words[i];
		char *word = at + 1;

		*at = '\0';
		at = w->digits == STATE_TEXT ? NULL : strchr(word, ' ');
		if (at)
			*at = '\0';
		if (!load_word(w, word, (uint8_t *)members + w->member, error))
			return false;
	}
	return (!at && (i == l->n || i == l->n - l->n_optional)) ||
		text_refuse(error, "%s than %u words", at ? "more" :
			    "less", l->n + 1);
}

/* From the end: only a person writes them in another order. */
bool
state_line_insert(GArray *list, const void *element, GError **error)
{
	size_t size = g_array_get_element_size(list);
	uint64_t guid = member_load(element, sizeof(guid)), other = 0;
	guint at = list->len;

	while (at && (other = member_load(list->data + (at - 1) * size,
					  sizeof(guid))) > guid)
		at--;
	if (at && other == guid)
		return text_refuse(error, "the GUID is there twice");
	g_array_insert_vals(list, at, element, 1);
	return true;
}

/* -------------------------------------------------------------- whole text */

struct state_reader {
	const struct state_owner *owners;
	size_t n;
	int64_t now;
	struct state_told *told;
};

/* The line with the keyword that begins here, and its owner; NULL: there is
 * none. */
static const struct state_line *
find_line(const struct state_reader *r, const char *line, void **owner)
{
	size_t len = strcspn(line, " ");

	for (size_t i = 0; i < r->n * STATE_ARRAYS_MAX; i++) {
		const struct state_owner *o = &r->owners[i / STATE_ARRAYS_MAX];
		const struct state_line *l =
			o->part->lines[i % STATE_ARRAYS_MAX];

		*owner = o->owner;
		for (; l && l->keyword; l++)
			if (strncmp(line, l->keyword, len) == 0 &&
			    !l->keyword[len])
				return l;
	}
	return NULL;
}

/* The only one: STATE_CLIENTS. */
static bool
take_heading(struct state_reader *r, const char *line, GError **error)
{
	if (strcmp(line, "= sa-state") != 0)
		return text_refuse(error, "a heading that is not known");
	r->told->clients = true;
	for (size_t i = 0; i < r->n; i++)
		if (r->owners[i].part->version)
			return true;
	if (r->told->foreign)
		g_string_append(r->told->foreign, STATE_CLIENTS);
	return true;
}

static bool
take_fact(const struct state_reader *r, const char *line, GError **error)
{
	void *owner;
	const struct state_line *l = find_line(r, line, &owner);
	g_autofree void *members = l ? g_malloc0(l->size) : NULL;
	/* a bad one is set aside as it was */
	g_autofree char *copy = l ? g_strdup(line) : NULL;

	if (l)
		return load_line(l, copy, members, error) &&
			l->take(owner, members, r->now, error);
	if (r->told->foreign)
		g_string_append_printf(r->told->foreign, "%s\n", line);
	return true;
}

static bool
take_line(void *data, const char *line, bool is_cut, GError **error)
{
	struct state_reader *r = data;

	if (is_cut)
		return text_refuse(error, "the line is cut");
	if (!*line || *line == '#' || g_str_has_prefix(line, STATE_HEAD_WORD))
		return true;
	return g_str_has_prefix(line, "= ") ? take_heading(r, line, error) :
		take_fact(r, line, error);
}

void
state_read_lines(char *text, size_t len, state_take_fn take, void *data,
		 struct state_told *told)
{
	char *line = text, *end = text + len, *next;

	for (unsigned number = 1; line < end; line = next, number++) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		g_autoptr(GError) error = NULL;

		next = stop ? stop + 1 : end;
		if (stop)
			*stop = '\0';
		/* GLib puts a NUL behind a file */
		if (memchr(line, '\0', (size_t)((stop ?: end) - line)) ?
		    text_refuse(&error, "a NUL") :
		    take(data, line, !stop, &error))
			continue;
		if (!told->n_bad++)
			told->first = g_strdup_printf("line %u: %s", number,
						      error->message);
		if (!told->bad)
			told->bad = g_string_new(NULL);
		g_string_append_len(told->bad, line, (stop ?: end) - line);
		g_string_append_c(told->bad, '\n');
	}
}

void
state_read(const struct state_owner *owners, size_t n, char *text, size_t len,
	   int64_t now, struct state_told *told)
{
	struct state_reader r = { owners, n, now, told };

	state_read_lines(text, len, take_line, &r, told);
}

void
state_told_clear(struct state_told *t)
{
	if (t->bad)
		g_string_free(t->bad, TRUE);
	if (t->foreign)
		g_string_free(t->foreign, TRUE);
	g_free(t->first);
	*t = (struct state_told){ .n_bad = 0 };
}

char *
state_told_text(const struct state_told *t, const char *source)
{
	return t->n_bad ? g_strdup_printf("%s: %s; damaged, and lost: %u line%s",
					  source, t->first, t->n_bad,
					  text_plural(t->n_bad)) : NULL;
}
