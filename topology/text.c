// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text files: their bytes, blanks and numbers in them, and the scanner of all
 * formats that are written by hand.
 *
 * The scanner goes forward and copies nothing: a span points into the text. A
 * parser stops at its first error, or goes on and collects them.
 *
 * Not strtoull(): it accepts a sign and blanks before the number. A function
 * text_take_..() moves *text behind what it took, and leaves it where it was if
 * it took nothing, so that a caller can try one alternative after the other and
 * report the place.
 */
#include "topology/text.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define HEX_DIGITS_MAX	16u
#define BLANKS		" \t\r"

bool
text_refuse(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(TEXT_ERROR,
						    TEXT_ERROR_SYNTAX,
						    format, args));
	va_end(args);
	return false;
}

void
text_add(GPtrArray *lines, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (lines)
		g_ptr_array_add(lines, g_strdup_vprintf(format, args));
	va_end(args);
}

size_t
text_bom(const char *text, size_t len)
{
	return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

char *
text_read_file(const char *path, GError **error)
{
	size_t bom;
	char *text;
	gsize len;

	if (!g_file_get_contents(path, &text, &len, error))
		return NULL;
	if (strlen(text) != len) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: there is a NUL in it, so it is no text", path);
		g_free(text);
		return NULL;
	}
	bom = text_bom(text, len);
	memmove(text, text + bom, len - bom + 1);
	return text;
}

const char *
text_skip_blanks(const char *text)
{
	return text + strspn(text, BLANKS);
}

bool
text_take_0x(const char **text)
{
	if ((*text)[0] != '0' || ((*text)[1] != 'x' && (*text)[1] != 'X'))
		return false;
	*text += 2;
	return true;
}

bool
text_take_digits(const char **text, unsigned base, uint64_t max,
		 uint64_t *value)
{
	const char *at = *text;
	uint64_t n = 0;

	for (;; at++) {
		int digit = g_ascii_xdigit_value(*at);

		if (digit < 0 || (unsigned)digit >= base)
			break;
		if ((unsigned)digit > max || n > (max - (unsigned)digit) / base)
			return false;
		n = n * base + (unsigned)digit;
	}
	if (at == *text)
		return false;
	*text = at;
	*value = n;
	return true;
}

bool
text_take_hex(const char **text, unsigned digits, uint64_t *value)
{
	const char *at = *text, *first;
	uint64_t n;

	g_assert(digits <= HEX_DIGITS_MAX);
	if (!text_take_0x(&at))
		return false;
	first = at;
	if (!text_take_digits(&at, 16, UINT64_MAX, &n) ||
	    (size_t)(at - first) > digits)
		return false;
	*text = at;
	*value = n;
	return true;
}

/* --- words that people type --- */

/* Not what moves the cursor, changes the direction of the text behind it, or
 * begins a line: control and format characters, separators. */
static bool
is_shown(gunichar c)
{
	GUnicodeType type = g_unichar_type(c);

	return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR &&
		type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

/* At most about `most` bytes. */
static char *
show(const char *text, gsize most)
{
	GString *out = g_string_new(NULL);
	const char *end;

	for (; *text && out->len < most; text = end) {
		gunichar c = g_utf8_get_char_validated(text, -1);
		bool is_valid = c < (gunichar)-2;

		end = is_valid ? g_utf8_next_char(text) : text + 1;
		if (is_valid && is_shown(c))
			g_string_append_len(out, text, end - text);
		else
			g_string_append_c(out, '?');
	}
	if (*text)
		g_string_append(out, "...");
	return g_string_free(out, FALSE);
}

char *
text_one_line(const char *text)
{
	return show(text, 60);
}

char *
text_printable(const char *text)
{
	return show(text, G_MAXSIZE);
}

/* Upper and lower case, - and _ count as the same. */
static char
fold(char c)
{
	return c == '-' ? '_' : g_ascii_tolower(c);
}

/* Letters to change, add, leave out or exchange with the next one: the last
 * three rows of the table at a time. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t len = strlen(b);
	g_autofree size_t *rows = g_new(size_t, 3 * (len + 1));
	size_t *row = rows, *last = row + len + 1, *before = last + len + 1;

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t *free_row = before;

		before = last;
		last = row;
		row = free_row;
		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			row[j + 1] = MIN(MIN(row[j], last[j + 1]) + 1,
				       last[j] + (fold(a[i]) != fold(b[j])));
			if (i && j && fold(a[i]) == fold(b[j - 1]) &&
			    fold(a[i - 1]) == fold(b[j]))
				row[j + 1] = MIN(row[j + 1], before[j - 1] + 1);
		}
	}
	return row[len];
}

char *
text_nearest(const char *word, const char *prefix, const char *const *names,
	     size_t n)
{
	size_t least = strlen(word) / 3 + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		bool begun = *word && !g_ascii_strncasecmp(word, names[i],
							   strlen(word));
		size_t distance = begun ? 0 : edit_distance(word, names[i]);

		if (distance < least) {
			least = distance;
			nearest = names[i];
		}
	}
	return nearest ? g_strdup_printf("; the nearest is %s%s", prefix,
					 nearest) : g_strdup("");
}

char *
text_wrong(const char *before, const char *word, const char *after,
	   const char *const *names, size_t n)
{
	g_autofree char *shown = text_one_line(word);
	g_autofree char *near = text_nearest(shown, "", names, n);
	g_autofree char *line = text_one_line(near);

	return g_strdup_printf("%s%s%s%s", before, *shown ? shown : "\"\"",
			       after, line);
}

/* --- the scanner --- */

#define WARNINGS_MAX	100u

void
text_scan_init(struct text_scan *s, const char *text, const char *file,
	       GPtrArray *warnings)
{
	*s = (struct text_scan){
		.at = text,
		.file = file,
		.line_start = text,
		.line = 1,
		.errors = g_string_new(NULL),
		.errors_max = UINT_MAX,
		.warnings = warnings,
		.warnings_max = WARNINGS_MAX,
	};
}

bool
text_scan_end(struct text_scan *s, GError **error)
{
	bool ok = s->n_errors == 0;

	if (s->n_errors > s->errors_max)
		g_string_append_printf(s->errors, "\nand %u error%s more",
				       s->n_errors - s->errors_max,
				       text_plural(s->n_errors -
						   s->errors_max));
	if (!ok)
		g_set_error_literal(error, TEXT_ERROR, TEXT_ERROR_SYNTAX,
				    s->errors->str);
	g_string_free(s->errors, TRUE);
	s->errors = NULL;
	return ok;
}

void
text_put_count(GString *out, uint64_t n, uint64_t all, const char *noun)
{
	const char *(*ending)(uint64_t) = g_str_has_suffix(noun, "ch") ?
		text_plural_es : text_plural;

	if (all > n)
		g_string_append_printf(out, "%" PRIu64 " of ", n);
	g_string_append_printf(out, "%" PRIu64 " %s%s", MAX(n, all), noun,
			       ending(MAX(n, all)));
}

struct text_place
text_here(const struct text_scan *s)
{
	return (struct text_place){
		.line = s->line,
		.column = (unsigned)(s->at - s->line_start) + 1,
	};
}

bool
text_fail(struct text_scan *s, struct text_place place, const char *format, ...)
{
	g_autofree char *text = NULL, *shown = NULL;
	va_list args;

	if (s->n_errors++ >= s->errors_max)
		return false;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	shown = text_printable(text);	/* it may repeat any bytes */
	g_string_append_printf(s->errors, "%s%s:%u:%u: %s",
			       s->errors->len ? "\n" : "", s->file, place.line,
			       place.column, shown);
	return false;
}

void
text_warn(struct text_scan *s, struct text_place place, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	if (!s->warnings || s->n_warnings++ >= s->warnings_max)
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	text_add(s->warnings, "%s:%u:%u: %s", s->file, place.line,
		 place.column, text);
}

void
text_skip_comment(struct text_scan *s)
{
	s->at += strspn(s->at, BLANKS);
	if (*s->at == '#')
		text_skip_line(s);
}

bool
text_skip_space(struct text_scan *s)
{
	for (text_skip_comment(s); *s->at == '\n'; text_skip_comment(s)) {
		s->line_start = ++s->at;
		s->line++;
	}
	return *s->at;
}

bool
text_is_empty(const char *text)
{
	struct text_scan scan;
	bool empty;

	text_scan_init(&scan, text, "", NULL);
	empty = !text_skip_space(&scan);
	text_scan_end(&scan, NULL);
	return empty;
}

void
text_skip_line(struct text_scan *s)
{
	s->at += strcspn(s->at, "\n");
}

bool
text_line_ends(struct text_scan *s)
{
	text_skip_comment(s);
	return !*s->at || *s->at == '\n';
}

bool
text_take_char(struct text_scan *s, char c)
{
	s->at += strspn(s->at, BLANKS);
	if (*s->at != c)
		return false;
	s->at++;
	return true;
}

struct text_span
text_take_span(struct text_scan *s, const char *delimiters)
{
	struct text_span span;

	s->at += strspn(s->at, BLANKS);
	span.at = s->at;
	span.len = strcspn(s->at, delimiters);
	span.place = text_here(s);
	s->at += span.len;
	while (span.len && strchr(BLANKS, span.at[span.len - 1]))
		span.len--;
	return span;
}

bool
text_take_quoted(struct text_scan *s, struct text_span *string)
{
	string->place = text_here(s);
	string->at = s->at + 1;
	string->len = strcspn(string->at, "\"\n");
	if (string->at[string->len] != '"')
		return false;
	s->at = string->at + string->len + 1;
	return true;
}

bool
text_span_is(const struct text_span *span, const char *word)
{
	return strlen(word) == span->len &&
		memcmp(span->at, word, span->len) == 0;
}

bool
text_span_number(const struct text_span *span, unsigned base, uint64_t max,
		 uint64_t *value)
{
	const char *at = span->at, *end = at + span->len;
	uint64_t n;

	if (base != 10 && text_take_0x(&at))
		base = 16;
	if (at >= end || !text_take_digits(&at, base ? base : 10, max, &n) ||
	    at != end)
		return false;
	*value = n;
	return true;
}

bool
text_read_number(const char *text, unsigned base, uint64_t max, uint64_t *value)
{
	const struct text_span all = { .at = text, .len = strlen(text) };

	return text_span_number(&all, base, max, value);
}

int
text_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
text_span_guid(const struct text_span *span, uint64_t *guid)
{
	size_t prefix = span->len > 2 && (span->at[1] | 0x20) == 'x' ? 2 : 0;

	return span->len - prefix <= HEX_DIGITS_MAX &&
		text_span_number(span, 16, UINT64_MAX, guid) && *guid;
}

char *
text_span_show(const struct text_span *span)
{
	g_autofree char *head = g_strndup(span->at, MIN(span->len, 64));

	return text_one_line(head);
}
