// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tap on a transport.
 *
 * A transport whose operations do what the one inside does and write it down.
 * The order in the record is that in which the program sees it: what comes in
 * is written before the program hears of it, what the program does after it is
 * done, so that the result stands with it. Timers get ids of our own, 1, 2, 3
 * and so on: those of the carriers differ from run to run.
 *
 * The record grows in memory and goes to the file in large pieces. The first
 * error is kept for capture_close() and ends the writing, not the program's
 * work: a full disk is no reason to stop a subnet manager.
 */
#include "sm/io/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm/io/record.h"
#include "topology/state_file.h"

#define PIECE	(1u << 16)	/* bytes */

struct capture {
	struct transport base;
	struct transport *inner;
	FILE *file;
	char *path;
	GError *error;			/* the first one */
	GByteArray *out;
	struct record_writer writer;
	GHashTable *timers;		/* id -> struct capture_timer */
	unsigned last_timer;
};

struct capture_timer {
	struct capture *tap;
	unsigned id, inner_id;
	transport_timer_fn fn;
	void *data;
};

static struct capture *
capture_of(struct transport *t)
{
	return (struct capture *)t;
}

/* ----------------------------------------------------------------- writing */

static void
keep_error(struct capture *tap)
{
	if (!tap->error)
		g_set_error(&tap->error, RECORD_ERROR, RECORD_ERROR_IO,
			    "cannot write %s: %s", tap->path,
			    g_strerror(errno));
}

static void
write_out(struct capture *tap)
{
	if (!tap->error && fwrite(tap->out->data, 1, tap->out->len,
				  tap->file) != tap->out->len)
		keep_error(tap);
	g_byte_array_set_size(tap->out, 0);
}

static void
put(struct capture *tap, const struct record_event *e)
{
	if (tap->error)
		return;
	if (e->len > RECORD_MAD_MAX) {
		errno = EFBIG;
		keep_error(tap);
		return;
	}
	record_put(&tap->writer, e);
	if (tap->out->len >= PIECE)
		write_out(tap);
}

/* -------------------------------------------------------------- operations */

static void
capture_on_recv(const struct transport_mad *m, void *data)
{
	struct capture *tap = data;

	put(tap, &(struct record_event) {
		.kind = m->event == TRANSPORT_RECEIVED ? RECORD_RECEIVED :
			RECORD_RETURNED,
		.time = transport_now(tap->inner),
		.addr = m->addr, .mad = m->mad, .len = m->len,
	});
	if (tap->base.on_recv)
		tap->base.on_recv(m, tap->base.recv_data);
}

static bool
capture_send(struct transport *t, const struct mad_addr *to, const uint8_t *mad,
	 size_t len, unsigned timeout_ms, GError **error)
{
	struct capture *tap = capture_of(t);
	GError *refusal = NULL;
	bool sent = transport_send(tap->inner, to, mad, len, timeout_ms,
				   &refusal);

	put(tap, &(struct record_event) {
		.kind = RECORD_SEND, .addr = *to, .timeout_ms = timeout_ms,
		.mad = mad, .len = len,
		.refusal = refusal ? refusal->message : NULL,
	});
	if (refusal)
		g_propagate_error(error, refusal);
	return sent;
}

static int64_t
capture_now(struct transport *t)
{
	struct capture *tap = capture_of(t);
	int64_t now = transport_now(tap->inner);

	put(tap, &(struct record_event) {
		.kind = RECORD_CLOCK, .time = now,
	});
	return now;
}

/* Its id is good until it rang, so it goes before the call. */
static void
on_ring(void *data)
{
	struct capture_timer timer = *(struct capture_timer *)data;

	put(timer.tap, &(struct record_event) {
		.kind = RECORD_RING, .timer = timer.id,
		.time = transport_now(timer.tap->inner),
	});
	g_hash_table_remove(timer.tap->timers, GUINT_TO_POINTER(timer.id));
	timer.fn(timer.data);
}

static unsigned
capture_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		void *data)
{
	struct capture *tap = capture_of(t);
	struct capture_timer *timer = g_new(struct capture_timer, 1);

	*timer = (struct capture_timer) {
		.tap = tap, .id = ++tap->last_timer, .fn = fn, .data = data,
	};
	put(tap, &(struct record_event) {
		.kind = RECORD_START, .when = when, .timer = timer->id,
	});
	g_hash_table_insert(tap->timers, GUINT_TO_POINTER(timer->id), timer);
	timer->inner_id = transport_timer_start(tap->inner, when, on_ring,
						timer);
	return timer->id;
}

static void
capture_timer_cancel(struct transport *t, unsigned id)
{
	struct capture *tap = capture_of(t);
	void *key = GUINT_TO_POINTER(id);
	struct capture_timer *timer = g_hash_table_lookup(tap->timers, key);

	put(tap, &(struct record_event) {
		.kind = RECORD_CANCEL, .timer = id,
	});
	if (!timer)
		return;
	transport_timer_cancel(tap->inner, timer->inner_id);
	g_hash_table_remove(tap->timers, key);
}

static void
capture_free(struct transport *t)
{
	capture_close(t, NULL);
}

static const struct transport_ops tap_ops = {
	.send = capture_send,
	.now = capture_now,
	.timer_start = capture_timer_start,
	.timer_cancel = capture_timer_cancel,
	.free = capture_free,
};

/* ---------------------------------------------------------- open and close */

/* A record holds the keys of the fabric, so it is for its owner alone, also
 * if a file was there; what is no file (a pipe) is left as it is. A link to a
 * file is not followed. */
static FILE *
open_file(const char *path)
{
	int follow = state_file_is_stream(path) ? 0 : O_NOFOLLOW;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow,
		      0600);
	struct stat st;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || (S_ISREG(st.st_mode) && fchmod(fd, 0600))) {
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "wb");
	if (!file)
		close(fd);
	return file;
}

struct transport *
capture_open(struct transport *inner, const char *path, const char *options,
	 GError **error)
{
	FILE *file = open_file(path);
	struct record_port port = {
		.guid = inner->port_guid, .num = inner->port_num,
		.rmpp = inner->rmpp, .simulated = inner->simulated,
		.options = options,
	};
	struct capture *tap;

	if (!file) {
		g_set_error(error, RECORD_ERROR, RECORD_ERROR_IO,
			    "cannot write %s: %s", path, g_strerror(errno));
		return NULL;
	}
	tap = g_new0(struct capture, 1);
	tap->base.ops = &tap_ops;
	tap->base.port_guid = inner->port_guid;
	tap->base.port_num = inner->port_num;
	tap->base.rmpp = inner->rmpp;
	tap->base.simulated = inner->simulated;
	g_strlcpy(tap->base.name, inner->name, sizeof(tap->base.name));
	tap->inner = inner;
	tap->file = file;
	tap->path = g_strdup(path);
	tap->out = g_byte_array_new();
	tap->timers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_strlcpy(port.name, inner->name, sizeof(port.name));
	record_begin(&tap->writer, tap->out, &port);
	transport_set_receiver(inner, capture_on_recv, tap);
	return &tap->base;
}

bool
capture_close(struct transport *t, GError **error)
{
	struct capture *tap = capture_of(t);
	bool good;

	if (!tap->error)
		record_end(&tap->writer);
	write_out(tap);
	if (fclose(tap->file) != 0)
		keep_error(tap);
	transport_set_receiver(tap->inner, NULL, NULL);
	transport_free(tap->inner);
	good = !tap->error;
	if (!good)
		g_propagate_error(error, tap->error);
	g_hash_table_destroy(tap->timers);
	g_byte_array_unref(tap->out);
	g_free(tap->path);
	g_free(tap);
	return good;
}
