// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Blanks and numbers in text.
 *
 * Not strtoull(): that takes a sign and blanks before the number, and a line
 * of a file is to be what its format says. A function that takes moves *text
 * behind what it took, and leaves it where it was if it took nothing, so that
 * a caller can try one thing after the other and point at what it found.
 */
#include "topology/base/text.h"

#include <glib.h>

#define HEX_DIGITS_MAX	16u

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
