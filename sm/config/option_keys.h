/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of a configuration: name, range, place in struct options. What the
 * file and the command line have in common, and how words that people type are
 * read and answered.
 */
#ifndef MINISM_CONFIG_OPTION_KEYS_H
#define MINISM_CONFIG_OPTION_KEYS_H

#include "sm/config/options.h"

/*
 * Sets `key` (one that there is) from text. NULL, or what is wrong with the
 * value as a new string: "9 is not 0 to 7".
 */
char *options_key_set(struct options *conf, const char *key, const char *value);

/* What the key takes: "0 to 7". A new string. */
char *options_key_accepts(const char *key);

/* The names of all keys, one after the other; NULL past the last. */
const char *options_key_name(size_t i);

bool options_key_is(const char *name);

/* "0x2a" or "42" up to `max`; false for anything else. */
bool options_read_number(const char *text, uint64_t max, uint64_t *value);

/* A GUID: up to 16 hexadecimal digits, with 0x or without. */
bool options_read_guid(const char *text, uint64_t *guid);

/*
 * Of `n` names the one that `word` was most likely meant to be, as the end of
 * a message: "; the nearest is PREFIXNAME". One that it begins, then the fewest
 * letters to change, in whatever case, then the first. "" if more than a third
 * of the word's letters would have to change: that is a guess. A new string.
 */
char *options_nearest(const char *word, const char *prefix,
		   const char *const *names, size_t n);

/* `text` as part of a one-line message: no control characters, not endless. */
char *options_one_line(const char *text);

#endif
