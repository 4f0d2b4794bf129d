// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The record of all events between a program and its transport.
 *
 * Compact, since a bring-up of ten thousand hosts is a million MADs: times are
 * differences, and of a MAD the zeros at its end are left out. The checksum at
 * the end detects a record that was cut off or damaged; it is FNV-1a (Fowler,
 * Noll, Vo, 1991), which detects accidents, not malice. So every length is
 * checked before anything is read.
 *
 * record_reader_new() checks the whole record, so record_next() cannot fail.
 */
#include "sm/io/record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm/mad/mad_field.h"
#include "topology/state_file.h"

#define MAGIC		"minismR\x02"
#define MAGIC_LEN	8u
#define NAME_RMPP	0x80u	/* in the byte with the name's length */
#define KIND_END	8u
#define GID_LEN		16u

#define FNV_START	0xcbf29ce484222325u
#define FNV_PRIME	0x100000001b3u

G_DEFINE_QUARK(minism-record, record_error)

static uint64_t
fnv_add(uint64_t sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * FNV_PRIME;
	return sum;
}

/* ------------------------------------------------------------------- coder */

/* Reads or writes: one function has the format of each part. */
struct coder {
	GByteArray *out;		/* written; NULL: `at` is read */
	const uint8_t *at, *end;
	int64_t time;			/* the last one */
	unsigned timers;		/* started so far, of those read */
	GByteArray *mad;		/* of an event that is read */
	GString *refusal;
};

/* Reading: the next n bytes, NULL if there are fewer. */
static const uint8_t *
take_bytes(struct coder *c, size_t n)
{
	const uint8_t *bytes = c->at;

	if ((size_t)(c->end - c->at) < n)
		return NULL;
	c->at += n;
	return bytes;
}

static bool
code_bytes(struct coder *c, void *bytes, size_t n)
{
	const uint8_t *from;

	if (c->out) {
		g_byte_array_append(c->out, bytes, (guint)n);
		return true;
	}
	from = take_bytes(c, n);
	if (from)
		memcpy(bytes, from, n);
	return from != NULL;
}

static bool
code_fixed64(struct coder *c, uint64_t *value)
{
	uint64_t big = GUINT64_TO_BE(*value);
	bool good = code_bytes(c, &big, sizeof(big));

	*value = GUINT64_FROM_BE(big);
	return good;
}

/* Each number has one form: without zeros on top. */
static bool
code_number(struct coder *c, uint64_t max, uint64_t *value)
{
	uint64_t rest = *value;

	if (c->out) {
		for (; rest >= 0x80; rest >>= 7)
			code_bytes(c, &(uint8_t){ 0x80 | (rest & 0x7f) }, 1);
		return code_bytes(c, &(uint8_t){ (uint8_t)rest }, 1);
	}
	*value = 0;
	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint64_t byte = *c->at++;
		uint64_t part = byte & 0x7f;

		if (part << shift >> shift != part ||
		    (shift > 0 && byte == 0))
			return false;
		*value |= part << shift;
		if (byte < 0x80)
			return *value <= max;
	}
	return false;
}

/* A number that is a member of `size` bytes. */
static bool
code_member(struct coder *c, void *member, unsigned size, uint64_t max)
{
	uint64_t value = mad_field_load(member, size);

	if (!code_number(c, max, &value))
		return false;
	mad_field_store(member, size, value);
	return true;
}
#define CODE(c, member, max)	code_member(c, &(member), sizeof(member), max)

/* Differences wrap around, so that any two times have one. */
static bool
code_difference(struct coder *c, int64_t base, int64_t *value)
{
	uint64_t d = (uint64_t)*value - (uint64_t)base;

	d = d >> 63 ? ~(d << 1) : d << 1;
	if (!code_number(c, UINT64_MAX, &d))
		return false;
	d = d & 1 ? ~(d >> 1) : d >> 1;
	*value = (int64_t)((uint64_t)base + d);
	return true;
}

static bool
code_time(struct coder *c, int64_t *time)
{
	if (!code_difference(c, c->time, time) ||
	    (!c->out && (*time < 0 || *time > RECORD_TIME_MAX)))
		return false;
	c->time = *time;
	return true;
}

static bool
code_address(struct coder *c, struct mad_addr *a)
{
	return CODE(c, a->qp, UINT32_MAX) && CODE(c, a->qkey, UINT32_MAX) &&
		CODE(c, a->lid, UINT16_MAX) &&
		CODE(c, a->pkey_index, UINT16_MAX) &&
		CODE(c, a->sl, UINT8_MAX) && CODE(c, a->grh, 1) &&
		(!a->grh || code_bytes(c, a->gid, GID_LEN));
}

static bool
code_mad(struct coder *c, struct record_event *e)
{
	uint64_t n = e->len;
	const uint8_t *bytes = e->mad;

	while (c->out && n > 0 && bytes[n - 1] == 0)
		n--;
	if (!CODE(c, e->len, RECORD_MAD_MAX) || !code_number(c, e->len, &n))
		return false;
	if (c->out)
		return code_bytes(c, (void *)bytes, n);
	bytes = take_bytes(c, n);
	if (!bytes)
		return false;
	g_byte_array_set_size(c->mad, (guint)e->len);
	if (n > 0)
		memcpy(c->mad->data, bytes, n);
	if (e->len > n)
		memset(c->mad->data + n, 0, e->len - n);
	e->mad = c->mad->data;
	return true;
}

static bool
code_refusal(struct coder *c, struct record_event *e)
{
	uint64_t n = e->refusal ? strlen(e->refusal) + 1 : 0;
	const uint8_t *bytes;

	if (!code_number(c, UINT32_MAX, &n))
		return false;
	if (n == 0)
		return true;
	if (c->out)
		return code_bytes(c, (void *)e->refusal, n - 1);
	bytes = take_bytes(c, n - 1);
	if (!bytes || memchr(bytes, '\0', n - 1))
		return false;
	g_string_truncate(c->refusal, 0);
	g_string_append_len(c->refusal, (const char *)bytes, (gssize)n - 1);
	e->refusal = c->refusal->str;
	return true;
}

/* Behind the kind. */
static bool
code_event(struct coder *c, struct record_event *e)
{
	switch (e->kind) {
	case RECORD_RECEIVED:
	case RECORD_RETURNED:
		return code_time(c, &e->time) && code_address(c, &e->addr) &&
			code_mad(c, e);
	case RECORD_RING:
		return code_time(c, &e->time) && CODE(c, e->timer, UINT_MAX);
	case RECORD_SEND:
		return code_address(c, &e->addr) &&
			CODE(c, e->timeout_ms, UINT_MAX) && code_mad(c, e) &&
			code_refusal(c, e);
	case RECORD_CLOCK:
		return code_time(c, &e->time);
	case RECORD_START:
		if (!c->out)
			e->timer = ++c->timers;
		return code_difference(c, c->time, &e->when);
	case RECORD_CANCEL:
		return CODE(c, e->timer, UINT_MAX);
	}
	return false;
}

/* ----------------------------------------------------------------- writing */

void
record_begin(struct record_writer *w, GByteArray *out,
	     const struct transport *t, const char *options)
{
	size_t begin = out->len;
	uint8_t n = (uint8_t)strnlen(t->name, sizeof(t->name) - 1);
	uint64_t guid = t->port_guid;
	uint64_t n_options = options ? strlen(options) + 1 : 1;
	struct coder c = { .out = out };

	*w = (struct record_writer) { .out = out, .sum = FNV_START };
	code_bytes(&c, MAGIC, MAGIC_LEN);
	code_fixed64(&c, &guid);
	code_bytes(&c, (void *)&t->port_num, 1);
	code_bytes(&c, &(uint8_t){ n | (t->rmpp ? NAME_RMPP : 0) }, 1);
	code_bytes(&c, (void *)t->name, n);
	code_bytes(&c, &(uint8_t){ t->simulated }, 1);
	code_number(&c, UINT64_MAX, &n_options);
	code_bytes(&c, (void *)(options ? options : ""), n_options);
	w->sum = fnv_add(w->sum, out->data + begin, out->len - begin);
}

void
record_put(struct record_writer *w, const struct record_event *e)
{
	struct coder c = { .out = w->out, .time = w->time };
	struct record_event event = *e;
	size_t begin = w->out->len;

	g_assert(e->len <= RECORD_MAD_MAX);
	code_bytes(&c, &(uint8_t){ (uint8_t)e->kind }, 1);
	code_event(&c, &event);
	w->time = c.time;
	w->events++;
	w->sum = fnv_add(w->sum, w->out->data + begin, w->out->len - begin);
}

void
record_end(struct record_writer *w)
{
	struct coder c = { .out = w->out };
	size_t begin = w->out->len;

	code_bytes(&c, &(uint8_t){ KIND_END }, 1);
	code_number(&c, UINT64_MAX, &w->events);
	w->sum = fnv_add(w->sum, w->out->data + begin, w->out->len - begin);
	code_fixed64(&c, &w->sum);
}

/* ----------------------------------------------------------------- reading */

struct record_reader {
	struct coder c;
	const uint8_t *begin;
	uint64_t events;
};

bool
record_next(struct record_reader *r, struct record_event *e)
{
	bool good;

	if (*r->c.at == KIND_END)
		return false;
	*e = (struct record_event) { .kind = *r->c.at++, .time = r->c.time };
	good = code_event(&r->c, e);
	g_assert(good);
	return true;
}

static bool
fail(const struct record_reader *r, const char *what, GError **error)
{
	g_set_error(error, RECORD_ERROR, RECORD_ERROR_FORMAT,
		    "%s, after %" G_GUINT64_FORMAT " events, at byte %zu",
		    what, r->events, (size_t)(r->c.at - r->begin));
	return false;
}

static bool
read_header(struct record_reader *r, struct transport *t, const char **options,
	    GError **error)
{
	struct coder *c = &r->c;
	const uint8_t *magic = take_bytes(c, MAGIC_LEN), *text = NULL;
	uint8_t n = 0, simulated = 0;
	uint64_t n_options = 0;

	if (!magic || memcmp(magic, MAGIC, MAGIC_LEN - 1) != 0) {
		c->at = r->begin;
		return fail(r, "this is no record of MADs", error);
	}
	if (magic[MAGIC_LEN - 1] != (uint8_t)MAGIC[MAGIC_LEN - 1])
		return fail(r, "a record of a version that is not known",
			    error);
	memset(t->name, 0, sizeof(t->name));
	if (!code_fixed64(c, &t->port_guid) ||
	    !code_bytes(c, &t->port_num, 1) || !code_bytes(c, &n, 1) ||
	    (n & ~NAME_RMPP) >= sizeof(t->name) ||
	    !code_bytes(c, t->name, n & ~NAME_RMPP) ||
	    !code_bytes(c, &simulated, 1) ||
	    !code_number(c, RECORD_MAD_MAX, &n_options) ||
	    !(text = take_bytes(c, n_options)))
		return fail(r, "the header is cut off", error);
	if (simulated > 1 || !n_options ||
	    memchr(text, 0, n_options) != text + n_options - 1)
		return fail(r, "the header is damaged", error);
	t->simulated = simulated;
	t->rmpp = n & NAME_RMPP;
	*options = (const char *)text;
	return true;
}

static bool
check(struct record_reader *r, struct transport *t, const char **options,
      GError **error)
{
	const uint8_t *at = NULL;
	uint64_t events = 0, sum, want = 0;
	struct record_event e;

	if (!read_header(r, t, options, error))
		return false;
	for (; r->c.at < r->c.end && *r->c.at != KIND_END; r->events++) {
		at = r->c.at;
		e = (struct record_event) { .kind = *r->c.at++ };
		if (!code_event(&r->c, &e)) {
			r->c.at = at;
			return fail(r, "the record is cut off or damaged",
				    error);
		}
	}
	if (r->c.at == r->c.end)
		return fail(r, "the record is cut off", error);
	r->c.at++;
	if (!code_number(&r->c, UINT64_MAX, &events) || events != r->events)
		return fail(r, "the number of events is not the one that it "
			    "ends with", error);
	at = r->c.at;
	if (!code_fixed64(&r->c, &want) || r->c.at != r->c.end)
		return fail(r, "there is something behind the end, or too "
			    "little", error);
	sum = fnv_add(FNV_START, r->begin, (size_t)(at - r->begin));
	return sum == want || fail(r, "the record is damaged: its sum is "
				   "wrong", error);
}

struct record_reader *
record_reader_new(const uint8_t *bytes, size_t len, struct transport *t,
		  const char **options, GError **error)
{
	struct record_reader *r = g_new0(struct record_reader, 1);

	r->begin = r->c.at = bytes;
	r->c.end = len ? bytes + len : bytes;	/* nothing may be NULL */
	r->c.mad = g_byte_array_new();
	r->c.refusal = g_string_new(NULL);
	if (!check(r, t, options, error)) {
		record_reader_free(r);
		return NULL;
	}
	/* back to the first event */
	r->c.at = r->begin;
	read_header(r, t, options, NULL);
	r->c.time = 0;
	r->c.timers = 0;
	return r;
}

void
record_reader_free(struct record_reader *r)
{
	g_byte_array_unref(r->c.mad);
	g_string_free(r->c.refusal, TRUE);
	g_free(r);
}

/* ------------------------------------------------------------------- files */

/* A pipe is left as it is; a link to a file is not followed. */
int
record_create(const char *path, GError **error)
{
	int follow = state_file_is_stream(path) ? 0 : O_NOFOLLOW;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow,
		      0600);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    (!S_ISREG(st.st_mode) || fchmod(fd, 0600) == 0)) {
		state_file_give(fd, path);
		return fd;
	}
	g_set_error(error, RECORD_ERROR, RECORD_ERROR_IO, "cannot write %s: %s",
		    path, g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
