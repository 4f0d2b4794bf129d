/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reports: one function writes a report as text or as JSON (RFC 8259).
 *
 * In JSON a value is the member `key`; in text the value is followed by `after`.
 * after NULL: only in JSON. The caller writes the brackets; commas and quotes
 * are added. All on one line, but where a line is broken.
 */
#ifndef MINISM_TOPOLOGY_REPORT_H
#define MINISM_TOPOLOGY_REPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct text_report {
	GString *out;		/* borrowed */
	bool as_json;		/* the others are of JSON only: */
	const char *space;	/* behind commas and colons; NULL: nothing */
	const char *gap;	/* before the next member, behind its comma,
				   instead of `space`: a newline and the
				   indentation; NULL: none */
	bool comma;		/* the next member needs one before it */
};

/* For a new kind of member: what goes before its value in JSON. False: this is
 * text. */
bool report_begin(struct text_report *r, const char *key);

/* key NULL: a member of an array, or the outermost value. Brackets are nothing
 * in text. */
void report_open(struct text_report *r, const char *key, char bracket);
void report_close(struct text_report *r, char bracket);
/* value NULL: null in JSON and nothing in text, without `after`. UTF-8 stays;
 * other text with bytes above ASCII is taken for Latin-1 in JSON, so that it is
 * valid with any NodeDescription. */
void report_text(struct text_report *r, const char *key, const char *value,
		 const char *after);
/* The same for text that should be UTF-8, as a file name: other bytes become
 * U+FFFD in JSON. */
void report_utf8(struct text_report *r, const char *key, const char *value,
		 const char *after);
void report_number(struct text_report *r, const char *key, uint64_t value,
		   const char *after);
/* In text "1 switch", "8 switches": text_put_count(). */
void report_count(struct text_report *r, const char *key, uint64_t n,
		  const char *noun, const char *after);
/* A GUID or another number as "0x...", `digits` wide: 64 bits are more than
 * the numbers of many a reader of JSON hold. */
void report_hex(struct text_report *r, const char *key, uint64_t value,
		int digits, const char *after);
/* In the form of an IPv6 address, as saquery prints it. */
void report_gid(struct text_report *r, const char *key, const uint8_t gid[16],
		const char *after);
/* In text with so many decimals; in JSON six digits, with a point in any
 * locale. */
void report_real(struct text_report *r, const char *key, double value,
		 int places, const char *after);
/* In text a line each, behind `before`. */
void report_lines(struct text_report *r, const char *key,
		  const GPtrArray *lines, const char *before);
/* The end of an answer: closes its outermost object. */
void report_end(struct text_report *r);
/* An answer that is a line: was it done, and what is there to say. */
void report_done(struct text_report *r, bool done, const char *text);
/* An answer that is an object with one list; what follows the last member. A
 * text that is still empty then says that there are no `things`. */
void report_open_list(struct text_report *r, const char *key);
void report_close_list(struct text_report *r, const char *things);
/* Only in text. */
G_GNUC_PRINTF(2, 3)
void report_say(struct text_report *r, const char *format, ...);

/* Only in JSON. */
void report_bool(struct text_report *r, const char *key, bool value);
/* Only in JSON: us as milliseconds with three decimals, in any locale. */
void report_ms(struct text_report *r, const char *key, int64_t us);
#endif
