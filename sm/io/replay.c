// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A transport that replays a record.
 *
 * The record is one sequence of arrivals (MADs, timers) and actions of the
 * program (sends, timers, looks at the clock). `next` is always the first event
 * that was not replayed yet. An action must be `next`; an arrival is delivered
 * by replay_step() when it is `next`. So there is no clock and no queue here:
 * only the order counts, and the time is the recorded one.
 *
 * After the first difference sends are refused, timers never expire, and the
 * clock stands still: consequences of a difference do not help to find its
 * cause.
 */
#include "sm/io/replay.h"

#include <inttypes.h>
#include <string.h>

#include "sm/io/record.h"
#include "sm/mad/mad.h"
#include "sm/mad/mkey_mask.h"

#define ROW	16u	/* bytes in a line of a hex dump */

G_DEFINE_QUARK(minism-replay, replay_error)

struct replay {
	struct transport base;
	uint8_t *bytes;
	const char *options;		/* of the program, in `bytes` */
	struct record_reader *reader;
	struct record_event next;
	bool over;			/* there is no next */
	uint64_t done;			/* events before it */
	int64_t now;
	GError *difference;
	GHashTable *timers;		/* id -> struct replay_timer */
	unsigned last_timer;
};

struct replay_timer {
	transport_timer_fn fn;
	void *data;
};

static void
advance(struct replay *r)
{
	r->done++;
	r->now = r->next.time;
	r->over = !record_next(r->reader, &r->next);
}

/* ------------------------------------------------------------- differences */

static void
print_event(GString *out, const struct record_event *e)
{
	static const char *const of_mads[] = {
		[RECORD_RECEIVED] = "a MAD from",
		[RECORD_RETURNED] = "the return of a MAD to",
		[RECORD_SEND] = "a MAD to",
	};
	struct mad_header h;

	switch (e->kind) {
	case RECORD_RECEIVED:
	case RECORD_RETURNED:
	case RECORD_SEND:
		g_string_append_printf(out, "%s LID %u, QP %u",
				       of_mads[e->kind], e->addr.lid,
				       e->addr.qp);
		if (mad_header_read(e->mad, e->len, &h))
			g_string_append_printf(out, " of class 0x%02x %s(%s), "
				"modifier 0x%x, TID 0x%" PRIx64, h.mgmt_class,
				mad_method_name(h.method),
				mad_attr_name(h.attr_id), h.attr_mod, h.tid);
		else
			g_string_append_printf(out, " of %zu bytes", e->len);
		break;
	case RECORD_RING:
		g_string_append_printf(out, "timer %u rings", e->timer);
		break;
	case RECORD_CLOCK:
		g_string_append(out, "a look at the clock");
		break;
	case RECORD_START:
		g_string_append_printf(out, "start of timer %u for %" PRId64
				       " us", e->timer, e->when);
		break;
	case RECORD_CANCEL:
		g_string_append_printf(out, "cancel of timer %u", e->timer);
		break;
	}
}

/* Events count from 1. */
static void
differ(struct replay *r, const char *text)
{
	if (r->difference)
		return;
	g_set_error(&r->difference, REPLAY_ERROR, REPLAY_ERROR_DIFFERENCE,
		    "event %" PRIu64 " at %" PRId64 ".%06u s: %s",
		    r->done + 1, r->now / G_USEC_PER_SEC,
		    (unsigned)(ABS(r->now % G_USEC_PER_SEC)), text);
}

static void
print_row(GString *out, const char *who, size_t at,
	  const struct record_event *e)
{
	g_string_append_printf(out, "\n%04zx %s", at, who);
	for (size_t i = at; i < MIN(at + ROW, e->len); i++)
		if (mkey_mask_holds(e->mad, e->len, i))
			g_string_append(out, " ..");
		else
			g_string_append_printf(out, " %02x", e->mad[i]);
}

/* The rows in which the two MADs differ; keys are not shown. */
static void
differ_in_bytes(struct replay *r, const struct record_event *e)
{
	const struct record_event *was = &r->next;
	g_autoptr(GString) text = g_string_new(NULL);
	size_t len = MIN(was->len, e->len), first = 0;

	while (first < len && was->mad[first] == e->mad[first])
		first++;
	print_event(text, e);
	g_string_append_printf(text, ": %zu bytes recorded, %zu replayed, "
			       "different from byte %zu on", was->len, e->len,
			       first);
	for (size_t at = first - first % ROW; at < len; at += ROW) {
		if (memcmp(was->mad + at, e->mad + at, MIN(ROW, len - at)) == 0)
			continue;
		print_row(text, "recorded", at, was);
		print_row(text, "replayed", at, e);
	}
	differ(r, text->str);
}

static void
print_address(GString *out, const char *who, const struct record_event *e)
{
	const struct mad_addr *a = &e->addr;

	g_string_append_printf(out, "\n%s LID %u, QP %u, Q_Key 0x%x, "
			       "P_Key index %u, SL %u, timeout %u ms", who,
			       a->lid, a->qp, a->qkey, a->pkey_index, a->sl,
			       e->timeout_ms);
	if (!a->grh)
		return;
	g_string_append(out, ", GID ");
	for (size_t i = 0; i < sizeof(a->gid); i++)
		g_string_append_printf(out, "%02x", a->gid[i]);
}

/* ------------------------------------------------- actions of the program */

/* Whether `e` (NULL: that the program does nothing) is the next event of the
 * record; if so, the caller advances. */
static bool
expect(struct replay *r, const struct record_event *e)
{
	const struct mad_addr *a = &r->next.addr, *b = e ? &e->addr : NULL;
	g_autoptr(GString) text = NULL;

	if (r->difference)
		return false;
	if (!e || r->over || r->next.kind != e->kind ||
	    r->next.when != e->when || r->next.timer != e->timer) {
		text = g_string_new("recorded: ");
		if (r->over)
			g_string_append(text, "the end");
		else
			print_event(text, &r->next);
		g_string_append(text, "; replayed: ");
		if (e)
			print_event(text, e);
		else
			g_string_append(text, "nothing");
		differ(r, text->str);
	} else if (r->next.len != e->len ||
		   (e->len && memcmp(r->next.mad, e->mad, e->len))) {
		differ_in_bytes(r, e);
	} else if (a->qp != b->qp || a->qkey != b->qkey || a->lid != b->lid ||
		 a->pkey_index != b->pkey_index || a->sl != b->sl ||
		 a->grh != b->grh ||
		 (a->grh && memcmp(a->gid, b->gid, sizeof(a->gid))) ||
		 r->next.timeout_ms != e->timeout_ms) {
		text = g_string_new(NULL);
		print_event(text, e);
		g_string_append(text, ": the address differs");
		print_address(text, "recorded", &r->next);
		print_address(text, "replayed", e);
		differ(r, text->str);
	}
	return !r->difference;
}

static bool
replay_send(struct transport *t, const struct mad_addr *to,
	    const uint8_t *mad, size_t len, unsigned timeout_ms,
	    GError **error)
{
	struct replay *r = (struct replay *)t;
	bool sent;

	if (!expect(r, &(struct record_event) {
			.kind = RECORD_SEND, .addr = *to, .mad = mad,
			.len = len, .timeout_ms = timeout_ms })) {
		g_set_error_literal(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_SEND,
				    "the replay is over");
		return false;
	}
	sent = !r->next.refusal;
	if (!sent)
		g_set_error_literal(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_SEND, r->next.refusal);
	advance(r);
	return sent;
}

static int64_t
replay_now(struct transport *t)
{
	struct replay *r = (struct replay *)t;

	if (expect(r, &(struct record_event) { .kind = RECORD_CLOCK }))
		advance(r);
	return r->now;
}

static int64_t
replay_peek(struct transport *t)
{
	return ((struct replay *)t)->now;
}

static unsigned
replay_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		   void *data)
{
	struct replay *r = (struct replay *)t;
	struct replay_timer *timer = g_new(struct replay_timer, 1);
	unsigned id = ++r->last_timer;

	*timer = (struct replay_timer) { .fn = fn, .data = data };
	g_hash_table_insert(r->timers, GUINT_TO_POINTER(id), timer);
	if (expect(r, &(struct record_event) {
			.kind = RECORD_START, .when = when, .timer = id }))
		advance(r);
	return id;
}

static void
replay_timer_cancel(struct transport *t, unsigned id)
{
	struct replay *r = (struct replay *)t;

	g_hash_table_remove(r->timers, GUINT_TO_POINTER(id));
	if (expect(r, &(struct record_event) {
			.kind = RECORD_CANCEL, .timer = id }))
		advance(r);
}

/* ---------------------------------------------------------------- arrivals */

bool
replay_step(struct transport *t)
{
	struct replay *r = (struct replay *)t;
	bool returned = r->next.kind == RECORD_RETURNED;
	struct replay_timer *found, timer;
	void *key = GUINT_TO_POINTER(r->next.timer);

	if (r->difference || r->over)
		return false;
	if (r->next.kind == RECORD_RECEIVED || returned) {
		/* copied: `next` is another event once the program acts */
		g_autofree uint8_t *mad = g_memdup2(r->next.mad, r->next.len);
		const struct transport_mad m = {
			.event = returned ? TRANSPORT_RETURNED :
				TRANSPORT_RECEIVED,
			.addr = r->next.addr, .mad = mad, .len = r->next.len,
		};

		advance(r);
		if (t->on_recv)
			t->on_recv(&m, t->recv_data);
		return true;
	}
	if (r->next.kind != RECORD_RING)
		return false;
	found = g_hash_table_lookup(r->timers, key);
	if (!found) {
		differ(r, "a timer rings that is not running: the record is "
		       "damaged");
		return false;
	}
	timer = *found;
	g_hash_table_remove(r->timers, key);
	advance(r);
	timer.fn(timer.data);
	return !r->difference;
}

bool
replay_finish(struct transport *t, GError **error)
{
	struct replay *r = (struct replay *)t;

	while (replay_step(t))
		;
	if (!r->over)
		expect(r, NULL);
	if (!r->difference)
		return true;
	if (error)
		*error = g_error_copy(r->difference);
	return false;
}

uint64_t
replay_events(struct transport *t)
{
	return ((struct replay *)t)->done;
}

/* ---------------------------------------------------------- open and close */

static void
replay_free(struct transport *t)
{
	struct replay *r = (struct replay *)t;

	if (r->reader)
		record_reader_free(r->reader);
	g_clear_error(&r->difference);
	g_hash_table_destroy(r->timers);
	g_free(r->bytes);
	g_free(r);
}

static const struct transport_ops replay_ops = {
	.send = replay_send,
	.now = replay_now,
	.peek = replay_peek,
	.timer_start = replay_timer_start,
	.timer_cancel = replay_timer_cancel,
	.free = replay_free,
};

struct transport *
replay_new(const uint8_t *record, size_t len, GError **error)
{
	struct replay *r = g_new0(struct replay, 1);

	r->base.ops = &replay_ops;
	r->timers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	r->bytes = g_memdup2(record, len);
	r->reader = record_reader_new(r->bytes, len, &r->base, &r->options,
				      error);
	if (!r->reader) {
		replay_free(&r->base);
		return NULL;
	}
	r->over = !record_next(r->reader, &r->next);
	return &r->base;
}

struct transport *
replay_open(const char *path, GError **error)
{
	g_autoptr(GError) reason = NULL;
	g_autofree char *bytes = NULL;
	struct transport *t;
	gsize len;

	if (!g_file_get_contents(path, &bytes, &len, &reason)) {
		g_set_error(error, RECORD_ERROR, RECORD_ERROR_IO, "%s",
			    reason->message);
		return NULL;
	}
	t = replay_new((const uint8_t *)bytes, len, error);
	if (!t)
		g_prefix_error(error, "%s: ", path);
	return t;
}

char *
replay_options(const char *path)
{
	struct transport *t = replay_open(path, NULL);
	char *options = t ? g_strdup(((struct replay *)t)->options) : NULL;

	transport_free(t);
	return options;
}
