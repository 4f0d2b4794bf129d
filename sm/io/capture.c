// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tap that writes what passes a transport into a record.
 *
 * The first event that is lost ends the record, which is worthless then, not
 * the program's work: neither a full disk nor a pipe without a reader is a
 * reason to stop a subnet manager.
 */
#include "sm/io/capture.h"

#include "sm/io/tap.h"

struct capture {
	struct transport *t;		/* the tap */
	struct stream *file;
	GError *error;			/* a MAD that no record can have */
	bool is_over;			/* an event is lost */
	GByteArray *out;
	struct record_writer writer;
};

/* ----------------------------------------------------------------- writing */

static void
write_out(struct capture *tap)
{
	tap->is_over = !stream_put(tap->file, tap->out->data, tap->out->len);
	g_byte_array_set_size(tap->out, 0);
}

static void
capture_on_event(const struct record_event *e, void *data)
{
	struct capture *tap = data;

	if (tap->error || tap->is_over)
		return;
	if (e->len > RECORD_MAD_MAX) {
		g_set_error(&tap->error, RECORD_ERROR, RECORD_ERROR_FORMAT,
			    "no record takes a MAD of %zu bytes", e->len);
		return;
	}
	record_put(&tap->writer, e);
	write_out(tap);
}

/* ---------------------------------------------------------- open and close */

struct capture *
capture_open(struct transport **t, const char *path, const char *options,
	     const struct stream_how *how, GError **error)
{
	int fd = record_create(path, error);
	struct capture *tap;

	if (fd < 0)
		return NULL;
	tap = g_new0(struct capture, 1);
	tap->file = stream_new(fd, path, how);
	tap->out = g_byte_array_new();
	record_begin(&tap->writer, tap->out, *t, options);
	write_out(tap);
	tap->t = *t = tap_new(*t, capture_on_event, tap);
	tap->t->timers = NULL;
	return tap;
}

bool
capture_close(struct capture *tap, GError **error)
{
	bool good;

	if (!tap->error && !tap->is_over) {
		record_end(&tap->writer);
		write_out(tap);
	}
	transport_free(tap->t);
	good = stream_close(tap->file, tap->error ? NULL : &tap->error);
	if (tap->error)
		g_propagate_error(error, tap->error);
	good = good && !tap->error;
	g_byte_array_unref(tap->out);
	g_free(tap);
	return good;
}
