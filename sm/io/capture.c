// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tap that writes what passes a transport into a record.
 *
 * The record grows in memory and goes to the file in large pieces. The first
 * error is kept for capture_close() and ends the writing, not the program's
 * work: a full disk is no reason to stop a subnet manager.
 */
#include "sm/io/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/io/tap.h"

#define PIECE	(1u << 16)	/* bytes */

struct capture {
	struct transport *t;		/* the tap */
	FILE *file;
	char *path;
	GError *error;			/* the first one */
	GByteArray *out;
	struct record_writer writer;
};

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
capture_on_event(const struct record_event *e, void *data)
{
	struct capture *tap = data;

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

/* ---------------------------------------------------------- open and close */

struct capture *
capture_open(struct transport **t, const char *path, const char *options,
	     GError **error)
{
	FILE *file = record_create(path, error);
	struct capture *tap;

	if (!file)
		return NULL;
	tap = g_new0(struct capture, 1);
	tap->file = file;
	tap->path = g_strdup(path);
	tap->out = g_byte_array_new();
	record_begin(&tap->writer, tap->out, *t, options);
	tap->t = *t = tap_new(*t, capture_on_event, tap);
	tap->t->timers = NULL;
	return tap;
}

bool
capture_close(struct capture *tap, GError **error)
{
	bool good;

	if (!tap->error)
		record_end(&tap->writer);
	write_out(tap);
	transport_free(tap->t);
	if (fclose(tap->file) != 0)
		keep_error(tap);
	good = !tap->error;
	if (!good)
		g_propagate_error(error, tap->error);
	g_byte_array_unref(tap->out);
	g_free(tap->path);
	g_free(tap);
	return good;
}
