/*
 * Writing JSON (RFC 8259): one object on one line. Who writes says the
 * brackets; commas and quotes come by themselves.
 */
#ifndef MINISM_SM_JSON_H
#define MINISM_SM_JSON_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json {
	GString *out;		/* borrowed */
	bool comma;		/* the next member needs one before it */
};

/* key NULL: a member of an array, or the outermost value. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
/* value NULL: null. Of a text that is not UTF-8, bytes above ASCII are taken
 * for Latin-1, so that what comes out is valid whatever a node calls itself. */
void json_text(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);
/* us as milliseconds with three places, whatever the locale. */
void json_ms(struct json *j, const char *key, int64_t us);
/* A GUID or another number as "0x...", `digits` wide: 64 bits are more than
 * the numbers of many a reader hold. */
void json_hex(struct json *j, const char *key, uint64_t value, int digits);
/* An array of lines; `lines` NULL: an empty one. */
void json_lines(struct json *j, const char *key, const GPtrArray *lines);

#endif
