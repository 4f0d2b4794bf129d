/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Text files: reading one, and blanks and numbers of its lines. What a number
 * may be, and what to say if it is none, the caller knows.
 */
#ifndef MINISM_TOPOLOGY_TEXT_H
#define MINISM_TOPOLOGY_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * All of a text file, without the byte order mark that some editors put first.
 * To be freed with g_free(). NULL with a G_FILE_ERROR; a NUL in it, which would
 * hide the text behind it, is G_FILE_ERROR_INVAL.
 */
char *text_read_file(const char *path, GError **error);

/* The bytes of a byte order mark at the beginning: 3 or 0. */
size_t text_bom(const char *text, size_t len);

/* A space, a tab, or the return before a line's end. */
bool text_is_blank(char c);
const char *text_skip_blanks(const char *text);

/* Takes "0x" or "0X" if the text goes on with it. */
bool text_take_0x(const char **text);

/* Takes digits of `base`, 2 to 16, as far as they go. False: there are none,
 * or they make more than `max`; then *text and *value are as before. */
bool text_take_digits(const char **text, unsigned base, uint64_t max,
		      uint64_t *value);

/* Takes "0x" and 1 to `digits` (at most 16) hexadecimal digits. False: that
 * is not there, or more digits are; then nothing is taken. */
bool text_take_hex(const char **text, unsigned digits, uint64_t *value);

/* The whole text as digits of `base` and nothing else. */
bool text_read_digits(const char *text, unsigned base, uint64_t max,
		      uint64_t *value);

#endif
