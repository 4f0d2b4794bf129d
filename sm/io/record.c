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

#include "topology/state_file.h"

#define MAGIC		"minismR\x02"
#define MAGIC_LEN	8u
#define NAME_RMPP	0x80u	/* in the byte with the name's length */
#define KIND_END	8u
#define GID_LEN		16u
#define SUM_LEN		8u

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

/* ----------------------------------------------------------------- writing */

static void
put_byte(GByteArray *out, uint8_t byte)
{
	g_byte_array_append(out, &byte, 1);
}

static void
put_fixed64(GByteArray *out, uint64_t value)
{
	const uint64_t big = GUINT64_TO_BE(value);

	g_byte_array_append(out, (const uint8_t *)&big, sizeof(big));
}

static void
put_number(GByteArray *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(out, 0x80 | (value & 0x7f));
	put_byte(out, value);
}

/* Differences wrap around, so that any two times have one. */
static void
put_difference(GByteArray *out, int64_t value, int64_t base)
{
	uint64_t d = (uint64_t)value - (uint64_t)base;

	put_number(out, d >> 63 ? ~(d << 1) : d << 1);
}

static void
put_time(struct record_writer *w, int64_t time)
{
	put_difference(w->out, time, w->time);
	w->time = time;
}

static void
put_address(GByteArray *out, const struct mad_addr *a)
{
	put_number(out, a->qp);
	put_number(out, a->qkey);
	put_number(out, a->lid);
	put_number(out, a->pkey_index);
	put_number(out, a->sl);
	put_byte(out, a->grh);
	if (a->grh)
		g_byte_array_append(out, a->gid, GID_LEN);
}

static void
put_mad(GByteArray *out, const uint8_t *mad, size_t len)
{
	size_t n = len;

	g_assert(len <= RECORD_MAD_MAX);
	while (n > 0 && mad[n - 1] == 0)
		n--;
	put_number(out, len);
	put_number(out, n);
	g_byte_array_append(out, mad, n);
}

void
record_begin(struct record_writer *w, GByteArray *out,
	     const struct record_port *port)
{
	const char *options = port->options ? port->options : "";
	size_t begin = out->len;
	size_t n = strnlen(port->name, sizeof(port->name) - 1);

	*w = (struct record_writer) { .out = out, .sum = FNV_START };
	g_byte_array_append(out, (const uint8_t *)MAGIC, MAGIC_LEN);
	put_fixed64(out, port->guid);
	put_byte(out, port->num);
	put_byte(out, n | (port->rmpp ? NAME_RMPP : 0));
	g_byte_array_append(out, (const uint8_t *)port->name, n);
	put_byte(out, port->simulated);
	n = strlen(options) + 1;
	put_number(out, n);
	g_byte_array_append(out, (const uint8_t *)options, n);
	w->sum = fnv_add(w->sum, out->data + begin, out->len - begin);
}

void
record_put(struct record_writer *w, const struct record_event *e)
{
	size_t begin = w->out->len;
	size_t n = e->refusal ? strlen(e->refusal) + 1 : 0;

	put_byte(w->out, e->kind);
	switch (e->kind) {
	case RECORD_RECEIVED:
	case RECORD_RETURNED:
		put_time(w, e->time);
		put_address(w->out, &e->addr);
		put_mad(w->out, e->mad, e->len);
		break;
	case RECORD_RING:
		put_time(w, e->time);
		put_number(w->out, e->timer);
		break;
	case RECORD_SEND:
		put_address(w->out, &e->addr);
		put_number(w->out, e->timeout_ms);
		put_mad(w->out, e->mad, e->len);
		put_number(w->out, n);
		if (n)
			g_byte_array_append(w->out,
					    (const uint8_t *)e->refusal, n - 1);
		break;
	case RECORD_CLOCK:
		put_time(w, e->time);
		break;
	case RECORD_START:
		put_difference(w->out, e->when, w->time);
		break;
	case RECORD_CANCEL:
		put_number(w->out, e->timer);
		break;
	}
	w->events++;
	w->sum = fnv_add(w->sum, w->out->data + begin, w->out->len - begin);
}

void
record_end(struct record_writer *w)
{
	size_t begin = w->out->len;

	put_byte(w->out, KIND_END);
	put_number(w->out, w->events);
	w->sum = fnv_add(w->sum, w->out->data + begin, w->out->len - begin);
	put_fixed64(w->out, w->sum);
}

/* ----------------------------------------------------------------- reading */

struct record_reader {
	const uint8_t *begin, *at, *end;
	int64_t time;
	uint64_t events;
	unsigned timers;
	GByteArray *mad;
	GString *refusal;
};

static bool
get_bytes(struct record_reader *r, size_t n, const uint8_t **bytes)
{
	if ((size_t)(r->end - r->at) < n)
		return false;
	*bytes = r->at;
	r->at += n;
	return true;
}

static bool
get_fixed64(struct record_reader *r, uint64_t *value)
{
	const uint8_t *bytes;

	if (!get_bytes(r, sizeof(*value), &bytes))
		return false;
	memcpy(value, bytes, sizeof(*value));
	*value = GUINT64_FROM_BE(*value);
	return true;
}

/* One form for each number: no zeros on top. */
static bool
get_number(struct record_reader *r, uint64_t max, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
		uint64_t byte = *r->at++;
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

static bool
get_unsigned(struct record_reader *r, unsigned *value)
{
	uint64_t wide;

	if (!get_number(r, UINT_MAX, &wide))
		return false;
	*value = wide;
	return true;
}

static bool
get_difference(struct record_reader *r, int64_t base, int64_t *value)
{
	uint64_t d;

	if (!get_number(r, UINT64_MAX, &d))
		return false;
	d = d & 1 ? ~(d >> 1) : d >> 1;
	*value = (int64_t)((uint64_t)base + d);
	return true;
}

static bool
get_time(struct record_reader *r, struct record_event *e)
{
	if (!get_difference(r, r->time, &r->time) || r->time < 0 ||
	    r->time > RECORD_TIME_MAX)
		return false;
	e->time = r->time;
	return true;
}

static bool
get_address(struct record_reader *r, struct mad_addr *a)
{
	uint64_t qp, qkey, lid, pkey_index, sl, grh;
	const uint8_t *gid;

	if (!get_number(r, UINT32_MAX, &qp) ||
	    !get_number(r, UINT32_MAX, &qkey) ||
	    !get_number(r, UINT16_MAX, &lid) ||
	    !get_number(r, UINT16_MAX, &pkey_index) ||
	    !get_number(r, UINT8_MAX, &sl) || !get_number(r, 1, &grh))
		return false;
	a->qp = qp;
	a->qkey = qkey;
	a->lid = lid;
	a->pkey_index = pkey_index;
	a->sl = sl;
	a->grh = grh;
	if (!a->grh)
		return true;
	if (!get_bytes(r, GID_LEN, &gid))
		return false;
	memcpy(a->gid, gid, GID_LEN);
	return true;
}

static bool
get_mad(struct record_reader *r, struct record_event *e)
{
	uint64_t len, n;
	const uint8_t *bytes;

	if (!get_number(r, RECORD_MAD_MAX, &len) || !get_number(r, len, &n) ||
	    !get_bytes(r, n, &bytes))
		return false;
	g_byte_array_set_size(r->mad, len);
	if (n > 0)
		memcpy(r->mad->data, bytes, n);
	if (len > n)
		memset(r->mad->data + n, 0, len - n);
	e->mad = r->mad->data;
	e->len = len;
	return true;
}

static bool
get_refusal(struct record_reader *r, struct record_event *e)
{
	uint64_t n;
	const uint8_t *bytes;

	if (!get_number(r, UINT32_MAX, &n))
		return false;
	if (n == 0)
		return true;
	if (!get_bytes(r, n - 1, &bytes) || memchr(bytes, '\0', n - 1))
		return false;
	g_string_truncate(r->refusal, 0);
	g_string_append_len(r->refusal, (const char *)bytes, n - 1);
	e->refusal = r->refusal->str;
	return true;
}

static bool
get_event(struct record_reader *r, uint8_t kind, struct record_event *e)
{
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->time = r->time;
	switch (e->kind) {
	case RECORD_RECEIVED:
	case RECORD_RETURNED:
		return get_time(r, e) && get_address(r, &e->addr) &&
			get_mad(r, e);
	case RECORD_RING:
		return get_time(r, e) && get_unsigned(r, &e->timer);
	case RECORD_SEND:
		return get_address(r, &e->addr) &&
			get_unsigned(r, &e->timeout_ms) && get_mad(r, e) &&
			get_refusal(r, e);
	case RECORD_CLOCK:
		return get_time(r, e);
	case RECORD_START:
		e->timer = ++r->timers;
		return get_difference(r, r->time, &e->when);
	case RECORD_CANCEL:
		return get_unsigned(r, &e->timer);
	}
	return false;
}

bool
record_next(struct record_reader *r, struct record_event *e)
{
	bool good;

	if (*r->at == KIND_END)
		return false;
	good = get_event(r, *r->at++, e);
	g_assert(good);
	return true;
}

static bool
fail(const struct record_reader *r, const char *what, GError **error)
{
	g_set_error(error, RECORD_ERROR, RECORD_ERROR_FORMAT,
		    "%s, after %" G_GUINT64_FORMAT " events, at byte %zu",
		    what, r->events, (size_t)(r->at - r->begin));
	return false;
}

static bool
read_header(struct record_reader *r, struct record_port *port, GError **error)
{
	const uint8_t *magic, *num, *n, *name, *simulated, *options;
	uint64_t n_options = 0;
	size_t len = 0;

	if (!get_bytes(r, MAGIC_LEN, &magic) ||
	    memcmp(magic, MAGIC, MAGIC_LEN - 1) != 0) {
		r->at = r->begin;
		return fail(r, "this is no record of MADs", error);
	}
	if (magic[MAGIC_LEN - 1] != (uint8_t)MAGIC[MAGIC_LEN - 1])
		return fail(r, "a record of a version that is not known",
			    error);
	if (!get_fixed64(r, &port->guid) || !get_bytes(r, 1, &num) ||
	    !get_bytes(r, 1, &n) ||
	    (len = *n & ~NAME_RMPP) >= sizeof(port->name) ||
	    !get_bytes(r, len, &name) || !get_bytes(r, 1, &simulated) ||
	    !get_number(r, RECORD_MAD_MAX, &n_options) ||
	    !get_bytes(r, n_options, &options))
		return fail(r, "the header is cut off", error);
	if (*simulated > 1 || !n_options ||
	    memchr(options, 0, n_options) != options + n_options - 1)
		return fail(r, "the header is damaged", error);
	port->simulated = *simulated;
	port->options = (const char *)options;
	port->num = *num;
	port->rmpp = *n & NAME_RMPP;
	memset(port->name, 0, sizeof(port->name));
	memcpy(port->name, name, len);
	return true;
}

/* After KIND_END. */
static bool
read_end(struct record_reader *r, GError **error)
{
	uint64_t events, sum, want;
	const uint8_t *at;

	if (!get_number(r, UINT64_MAX, &events) || events != r->events)
		return fail(r, "the number of events is not the one that it "
			    "ends with", error);
	at = r->at;
	if (!get_fixed64(r, &want) || r->at != r->end)
		return fail(r, "there is something behind the end, or too "
			    "little", error);
	sum = fnv_add(FNV_START, r->begin, at - r->begin);
	return sum == want || fail(r, "the record is damaged: its sum is "
				   "wrong", error);
}

static bool
check(struct record_reader *r, struct record_port *port, GError **error)
{
	struct record_event e;

	if (!read_header(r, port, error))
		return false;
	for (; r->at < r->end; r->events++) {
		const uint8_t *at = r->at++;

		if (*at == KIND_END)
			return read_end(r, error);
		if (!get_event(r, *at, &e)) {
			r->at = at;
			return fail(r, "the record is cut off or damaged",
				    error);
		}
	}
	return fail(r, "the record is cut off", error);
}

struct record_reader *
record_reader_new(const uint8_t *bytes, size_t len, struct record_port *port,
		  GError **error)
{
	struct record_reader *r = g_new0(struct record_reader, 1);

	r->begin = r->at = bytes;
	r->end = len ? bytes + len : bytes;	/* nothing may be NULL */
	r->mad = g_byte_array_new();
	r->refusal = g_string_new(NULL);
	if (!check(r, port, error)) {
		record_reader_free(r);
		return NULL;
	}
	/* back to the first event */
	r->at = r->begin;
	read_header(r, port, NULL);
	r->time = 0;
	r->timers = 0;
	return r;
}

void
record_reader_free(struct record_reader *r)
{
	g_byte_array_unref(r->mad);
	g_string_free(r->refusal, TRUE);
	g_free(r);
}

/* ------------------------------------------------------------------- files */

/* A pipe is left as it is; a link to a file is not followed. */
FILE *
record_create(const char *path, GError **error)
{
	int follow = state_file_is_stream(path) ? 0 : O_NOFOLLOW;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow,
		      0600);
	struct stat st;
	FILE *file = NULL;

	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    (!S_ISREG(st.st_mode) || fchmod(fd, 0600) == 0))
		file = fdopen(fd, "wb");
	if (file)
		return file;
	g_set_error(error, RECORD_ERROR, RECORD_ERROR_IO, "cannot write %s: %s",
		    path, g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}
