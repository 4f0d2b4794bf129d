/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writing JSON (RFC 8259). The caller writes the brackets; commas and quotes
 * are added. All on one line, but where a line is broken.
 */
#ifndef MINISM_TOPOLOGY_JSON_H
#define MINISM_TOPOLOGY_JSON_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json {
	GString *out;		/* borrowed */
	const char *space;	/* behind commas and colons; NULL: nothing */
	const char *gap;	/* before the next member, behind its comma,
				   instead of `space`: a newline and the
				   indentation; NULL: none */
	bool comma;		/* the next member needs one before it */
};

/* key NULL: a member of an array, or the outermost value. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
/* value NULL: null. UTF-8 stays; other text with bytes above ASCII is taken for
 * Latin-1, so that the output is valid with any NodeDescription. */
void json_text(struct json *j, const char *key, const char *value);
/* The same for text that should be UTF-8, as a file name: other bytes become
 * U+FFFD. */
void json_utf8(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
/* Six digits, with a point in any locale. */
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
/* us as milliseconds with three decimals, in any locale. */
void json_ms(struct json *j, const char *key, int64_t us);
/* A GUID or another number as "0x...", `digits` wide: 64 bits are more than
 * the numbers of many a reader hold. */
void json_hex(struct json *j, const char *key, uint64_t value, int digits);
/*
 * One function writes a report as text or as JSON. In JSON a value is the
 * member `key`; in text the value is followed by `after`. after NULL: only in
 * JSON. A value NULL is null in JSON and nothing in text, without `after`.
 */
struct text_report {
	struct json json;	/* out is of both */
	bool as_json;
};

/* Brackets and breaks are nothing in text. */
void report_open(struct text_report *r, const char *key, char bracket);
void report_close(struct text_report *r, char bracket);
void report_break(struct text_report *r, const char *gap);
void report_text(struct text_report *r, const char *key, const char *value,
		 const char *after);
void report_number(struct text_report *r, const char *key, uint64_t value,
		   const char *after);
void report_hex(struct text_report *r, const char *key, uint64_t value,
		int digits,
		const char *after);
/* Only in JSON. */
void report_bool(struct text_report *r, const char *key, bool value);
/* In text with so many decimals. */
void report_real(struct text_report *r, const char *key, double value,
		 int places,
		 const char *after);
/* In text a line each, behind `before`. */
void report_lines(struct text_report *r, const char *key,
		  const GPtrArray *lines,
		  const char *before);
/* Only in text. */
G_GNUC_PRINTF(2, 3)
void report_say(struct text_report *r, const char *format, ...);

#endif
