// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The expected fabric on the disk. The file, of 2.6 MB at 11,664 hosts, is
 * written 10 s after a change: a repair does not wait for it, and a link that
 * flaps does not keep the disk busy. A crash before that loses the times since
 * when nodes and links are missing.
 */
#include "sm/fabric_watch.h"

#include "sm/persist.h"

#define PAUSE_US	(10 * (int64_t)G_USEC_PER_SEC)

static bool
fabric_watch_parse(const char *text, const char *path, void *data,
		   GError **error)
{
	struct fabric_watch *w = data;

	w->expected = expected_parse(text, path, error);
	return w->expected != NULL;
}

static void
fabric_watch_save(void *data)
{
	struct fabric_watch *w = data;
	GString *text = g_string_new(NULL);

	w->timer = 0;
	expected_format(w->expected, text);
	file_writer_put(w->writer, text);
}

static void
fabric_watch_touch(struct fabric_watch *w)
{
	if (w->writer && !w->timer)
		w->timer = transport_timer_in(w->transport, PAUSE_US,
					      fabric_watch_save, w);
}

struct fabric_watch *
fabric_watch_open(const char *cache_dir, struct transport *t,
		  struct beside *disk, struct log *log)
{
	struct fabric_watch *w = g_new0(struct fabric_watch, 1);
	g_autofree char *told = NULL;
	g_autofree char *path = cache_dir ?
		state_file_path(cache_dir, STATE_FILE_FABRIC) : NULL;
	const struct file_writer_params params = {
		.path = path, .subsystem = "memory", .mode = 0666,
	};

	w->transport = t;
	w->log = log;
	if (path) {
		state_file_load(path, fabric_watch_parse, w, &told);
		w->writer = file_writer_new(disk, log, &params);
	}
	if (told)
		log_say(log, LOG_WARNING, "memory", "%s: the present fabric is "
			"the expected one from now on", told);
	if (!w->expected)
		w->expected = expected_new();
	return w;
}

void
fabric_watch_close(struct fabric_watch *w)
{
	if (!w)
		return;
	if (w->timer) {
		transport_timer_clear(w->transport, &w->timer);
		fabric_watch_save(w);
	}
	expected_free(w->expected);
	file_writer_free(w->writer);
	g_free(w);
}

void
fabric_watch_note(struct fabric_watch *w, const struct snapshot *s)
{
	if (expected_update(w->expected, s,
			    g_get_real_time() / G_USEC_PER_SEC))
		fabric_watch_touch(w);
}

void
fabric_watch_write(const struct fabric_watch *w, GString *out)
{
	g_string_append(out, "= fabric\n");
	expected_format(w->expected, out);
}

bool
fabric_watch_take(struct fabric_watch *w, const char *text, GError **error)
{
	struct expected *expected = expected_parse(text, "fabric", error);

	if (!expected)
		return false;
	expected_free(w->expected);
	w->expected = expected;
	fabric_watch_touch(w);
	return true;
}

unsigned
fabric_watch_accept(struct fabric_watch *w, const char *word)
{
	unsigned n = expected_accept(w->expected, word);

	/* A command must not be lost in a crash. */
	if (n && w->writer) {
		transport_timer_clear(w->transport, &w->timer);
		fabric_watch_save(w);
	}
	return n;
}
