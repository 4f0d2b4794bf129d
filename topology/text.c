// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text files: their bytes, and blanks and numbers in them.
 *
 * Not strtoull(): that takes a sign and blanks before the number, and a line
 * of a file is to be what its format says. A function that takes moves *text
 * behind what it took, and leaves it where it was if it took nothing, so that
 * a caller can try one thing after the other and point at what it found.
 */
#include "topology/text.h"

#include <string.h>

#define HEX_DIGITS_MAX	16u

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
			    "%s: there is a NUL in it, so it is no text",
			    path);
		g_free(text);
		return NULL;
	}
	bom = text_bom(text, len);
	memmove(text, text + bom, len - bom + 1);
	return text;
}

bool
text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

const char *
text_skip_blanks(const char *text)
{
	while (text_is_blank(*text))
		text++;
	return text;
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
		if ((unsigned)digit > max ||
		    n > (max - (unsigned)digit) / base)
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

bool
text_read_digits(const char *text, unsigned base, uint64_t max,
		 uint64_t *value)
{
	uint64_t n;

	if (!text_take_digits(&text, base, max, &n) || *text)
		return false;
	*value = n;
	return true;
}
