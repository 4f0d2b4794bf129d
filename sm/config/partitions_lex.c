// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Words of the partition file.
 *
 * Purpose. The grammar (partitions_conf.c) sees words with their places, and
 * asks what a word means; here stand the characters, the numbers and the
 * wording of what is wrong.
 *
 * Flow. The lexer goes forward over the text, byte by byte, and copies nothing;
 * a span is a pointer into the text. It goes back only to take the beginning
 * of a definition for what it is, which costs an error, and of errors there
 * are 20 at most: so the whole is linear.
 *
 * What differs from OpenSM, which compares words by the letters that are
 * there, so that "A" is ALL and "GUID=" makes a full member: three letters
 * are the least, and they must fit one word only. Numbers are those of C; an
 * octal one is refused unless it means the same in decimal, for nobody writes
 * P_Keys in octal, though many pad them with zeros.
 *
 * CR is a blank, so that files from elsewhere can be read.
 */
#include <string.h>

#include "topology/text.h"
#include "sm/config/partitions_lex.h"

#define BLANKS		" \t\r"
#define SHORTEST	3u	/* letters of a word cut short */
#define SHOWN 64u /* bytes of a word that text_one_line() needs */

/* --- places and messages --- */

void
partfile_lex_init(struct partfile_lex *lex, const char *text, const char *file,
		  GPtrArray *warnings)
{
	*lex = (struct partfile_lex){
		.file = file,
		.at = text,
		.line_start = text,
		.line = 1,
		.errors = g_string_new(NULL),
		.warnings = warnings,
	};
}

void
partfile_lex_clear(struct partfile_lex *lex)
{
	g_string_free(lex->errors, TRUE);
}

struct partfile_place
partfile_here(const struct partfile_lex *lex)
{
	return (struct partfile_place){
		.line = lex->line,
		.column = (unsigned)(lex->at - lex->line_start) + 1,
	};
}

void
partfile_return(struct partfile_lex *lex, const struct partfile_span *to)
{
	lex->at = to->text;
	lex->line = to->place.line;
	lex->line_start = to->text - (to->place.column - 1);
}

void
partfile_fail(struct partfile_lex *lex, struct partfile_place place,
	      const char *format, ...)
{
	va_list args;

	if (lex->n_errors++ >= PARTFILE_ERRORS_MAX)
		return;
	g_string_append_printf(lex->errors, "%s%s:%u:%u: ",
			       lex->errors->len ? "\n" : "", lex->file,
			       place.line, place.column);
	va_start(args, format);
	g_string_append_vprintf(lex->errors, format, args);
	va_end(args);
}

void
partfile_warn(struct partfile_lex *lex, struct partfile_place place,
	      const char *format, ...)
{
	GString *text;
	va_list args;

	if (!lex->warnings || lex->n_warnings++ >= PARTFILE_WARNINGS_MAX)
		return;
	text = g_string_new(NULL);
	g_string_printf(text, "%s:%u:%u: ", lex->file, place.line,
			place.column);
	va_start(args, format);
	g_string_append_vprintf(text, format, args);
	va_end(args);
	g_ptr_array_add(lex->warnings, g_string_free(text, FALSE));
}

bool
partfile_gave_up(const struct partfile_lex *lex)
{
	return lex->n_errors >= PARTFILE_ERRORS_MAX;
}

char *
partfile_show(const struct partfile_span *span)
{
	g_autofree char *head = g_strndup(span->text, MIN(span->len, SHOWN));
	g_autofree char *line = text_one_line(head);

	return g_utf8_make_valid(line, -1);
}

/* --- forward --- */

void
partfile_skip_blanks(struct partfile_lex *lex)
{
	lex->at += strspn(lex->at, BLANKS);
	if (*lex->at == '#')
		lex->at += strcspn(lex->at, "\n");
}

static void
next_line(struct partfile_lex *lex)
{
	lex->at++;
	lex->line_start = lex->at;
	lex->line++;
}

void
partfile_skip_space(struct partfile_lex *lex)
{
	partfile_skip_blanks(lex);
	while (*lex->at == '\n') {
		next_line(lex);
		partfile_skip_blanks(lex);
	}
}

void
partfile_skip_definition(struct partfile_lex *lex)
{
	for (;;) {
		lex->at += strcspn(lex->at, ";#\n");
		if (!*lex->at)
			return;
		if (*lex->at == ';') {
			lex->at++;
			return;
		}
		partfile_skip_space(lex);
	}
}

static struct partfile_span
take(struct partfile_lex *lex, const char *delimiters)
{
	struct partfile_span span;

	lex->at += strspn(lex->at, BLANKS);
	span.text = lex->at;
	span.len = strcspn(lex->at, delimiters);
	span.place = partfile_here(lex);
	lex->at += span.len;
	while (span.len && strchr(BLANKS, span.text[span.len - 1]))
		span.len--;
	return span;
}

struct partfile_span
partfile_take_word(struct partfile_lex *lex)
{
	return take(lex, ",:;=#\n");
}

struct partfile_span
partfile_take_gid(struct partfile_lex *lex)
{
	return take(lex, ",;=#\n");
}

/* --- words --- */

bool
partfile_is(const struct partfile_span *span, const char *word)
{
	return strlen(word) == span->len &&
		memcmp(span->text, word, span->len) == 0;
}

/* Of words cut short: the one it is, or -1. */
static int
find_short(const struct partfile_span *span, const char *const *words,
	   size_t n)
{
	int found = -1;

	if (span->len < SHORTEST)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (strlen(words[i]) < span->len ||
		    memcmp(words[i], span->text, span->len) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static char *
list_words(const char *also, const char *const *words, size_t n)
{
	GString *out = g_string_new(also);

	if (also)
		g_string_append(out, ", ");
	for (size_t i = 0; i < n; i++)
		g_string_append_printf(out, "%s%s", words[i],
				       i + 2 < n ? ", " :
				       i + 1 < n ? " or " : "");
	return g_string_free(out, FALSE);
}

int
partfile_choose(struct partfile_lex *lex, const struct partfile_span *span,
		const char *what, const char *also, const char *const *words,
		size_t n)
{
	g_autofree char *shown = NULL;
	g_autofree char *list = NULL;
	g_autofree char *near = NULL;
	int i;

	for (size_t k = 0; k < n; k++)
		if (partfile_is(span, words[k]))
			return (int)k;
	shown = partfile_show(span);
	i = find_short(span, words, n);
	if (i >= 0) {
		partfile_warn(lex, span->place, "%s is taken for %s", shown,
			      words[i]);
		return i;
	}
	list = list_words(also, words, n);
	near = text_nearest(shown, "", words, n);
	if (span->len)
		partfile_fail(lex, span->place, "%s is no %s: %s%s", shown,
			      what, list, near);
	else
		partfile_fail(lex, span->place, "a %s is missing: %s", what,
			      list);
	return -1;
}

/* --- numbers --- */

static bool
read_digits(const char *text, size_t len, unsigned base, uint64_t *value)
{
	const char *at = text;

	return text_take_digits(&at, base, UINT64_MAX, value) &&
		at == text + len;
}

/* To C, 010 is 8. */
static bool
is_octal(const struct partfile_span *span)
{
	size_t zeros = 0;
	uint64_t value;

	while (zeros < span->len && span->text[zeros] == '0')
		zeros++;
	if (zeros == 0 || zeros == span->len ||
	    !read_digits(span->text, span->len, 10, &value))
		return false;
	return value > 7;
}

static bool
read_number(const struct partfile_span *span, uint64_t *value)
{
	const char *text = span->text;

	if (span->len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
		return read_digits(text + 2, span->len - 2, 16, value);
	return read_digits(text, span->len, 10, value);
}

/* The 0x has been left out. */
static bool
is_bare_hex(const struct partfile_span *span, uint64_t min, uint64_t max)
{
	uint64_t value;

	return span->len < SHOWN &&
		read_digits(span->text, span->len, 16, &value) &&
		value >= min && value <= max;
}

static bool
has_blank(const struct partfile_span *span)
{
	return memchr(span->text, ' ', span->len) ||
		memchr(span->text, '\t', span->len);
}

static char *
show_range(uint64_t min, uint64_t max)
{
	if (max > UINT8_MAX)
		return g_strdup_printf("0x%" G_GINT64_MODIFIER "x to 0x%"
				       G_GINT64_MODIFIER "x", min, max);
	return g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
			       min, max);
}

bool
partfile_number(struct partfile_lex *lex, const struct partfile_span *span,
		const char *what, uint64_t min, uint64_t max, uint64_t *value)
{
	g_autofree char *shown = NULL;
	g_autofree char *range = NULL;
	bool octal = is_octal(span);

	if (!octal && read_number(span, value) && *value >= min &&
	    *value <= max)
		return true;
	shown = partfile_show(span);
	range = show_range(min, max);
	if (!span->len)
		partfile_fail(lex, span->place, "a %s is missing: %s", what,
			      range);
	else if (octal)
		partfile_fail(lex, span->place, "%s is octal to OpenSM: "
			      "write a %s decimal without zeros in front, or "
			      "0x and hexadecimal", shown, what);
	else if (!read_number(span, value) && is_bare_hex(span, min, max))
		partfile_fail(lex, span->place, "%s is no %s: %s; is 0x%s "
			      "meant?", shown, what, range, shown);
	else
		partfile_fail(lex, span->place, "%s is no %s: %s, decimal, or "
			      "0x and hexadecimal%s", shown, what, range,
			      has_blank(span) ? "; is a comma missing?" : "");
	return false;
}
