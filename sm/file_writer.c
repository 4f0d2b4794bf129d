// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * State files, written beside the main loop.
 *
 *	IDLE --put--> WRITING --put--> WRITING, a text waits
 *	  ^--- done ----+ ^----- done: the next one ----+
 *
 * So a disk that stalls holds two texts of each file at the most. A writer lives
 * until its last text is written.
 */
#include "sm/file_writer.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

struct file_writer {
	unsigned refs;		/* of the caller, and of the job */
	struct beside *disk;
	struct log *log;
	struct file_writer_params params;
	char *path;
	GString *now;		/* the job's; NULL: idle */
	GError *error;		/* of it */
	GString *next;		/* NULL: none waits */
	bool has_written;
	char *failure;		/* why the last text was not written; or NULL */
};

/* Six letters of one case or six digits are rather a word or a date, of a copy
 * that somebody made. */
static bool
is_no_chance(const char *suffix)
{
	static const char *const sets[] = {
		G_CSET_a_2_z, G_CSET_A_2_Z, "0123456789",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		if (!suffix[strspn(suffix, sets[i])])
			return true;
	return false;
}

/* A file is written as NAME.XXXXXX, and then gets its name. Only a manager that
 * writes it removes those of a run that was killed, never a plan: another
 * manager may be writing just now. */
static void
remove_strays(const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	size_t len = strlen(name);
	GDir *d = g_dir_open(dir, 0, NULL);
	const char *entry;

	while (d && (entry = g_dir_read_name(d))) {
		g_autofree char *stray = g_build_filename(dir, entry, NULL);

		if (strlen(entry) != len + strlen(".XXXXXX") ||
		    strncmp(entry, name, len) != 0 || entry[len] != '.' ||
		    strspn(entry + len + 1, G_CSET_A_2_Z G_CSET_a_2_z
			   "0123456789") != strlen("XXXXXX") ||
		    is_no_chance(entry + len + 1))
			continue;
		g_unlink(stray);
	}
	if (d)
		g_dir_close(d);
}

static bool
may_write(struct file_writer *w)
{
	GStatBuf st;

	if (w->params.is_unread &&
	    (g_lstat(w->path, &st) == 0 || errno != ENOENT)) {
		g_set_error(&w->error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "%s: not all of it was read or set aside at the "
			    "start, so it is not overwritten: move it away, or "
			    "restart when it (or its disk) is mended", w->path);
		return false;
	}
	w->params.is_unread = false;
	return true;
}

static void
write_work(void *values)
{
	struct file_writer *w = values;

	if (!may_write(w))
		return;
	if (!w->has_written)
		remove_strays(w->path);
	w->has_written = true;
	state_file_write(w->path, w->now,
			 G_FILE_SET_CONTENTS_CONSISTENT | w->params.how,
			 w->params.mode, &w->error);
}

static void
file_writer_unref(void *values)
{
	struct file_writer *w = values;

	if (--w->refs)
		return;
	/* of a job that was left behind */
	if (w->now)
		g_string_free(w->now, TRUE);
	if (w->next)
		g_string_free(w->next, TRUE);
	g_clear_error(&w->error);
	g_free(w->failure);
	g_free(w->path);
	g_free(w);
}

/* A disk that is full is tried again and again: its end is told, too. */
static void
tell_outcome(struct file_writer *w, const GError *error)
{
	char *before = g_steal_pointer(&w->failure);

	if (error)
		w->failure = g_strconcat("not written: ", error->message, NULL);
	if (w->log && error && !before)
		log_say(w->log, LOG_WARNING, w->params.subsystem, "%s",
			w->failure);
	if (w->log && !error && before)
		log_say(w->log, LOG_INFO, w->params.subsystem,
			"%s is written again", w->path);
	g_free(before);
}

const char *
file_writer_failure(const struct file_writer *w)
{
	return w ? w->failure : NULL;
}

static void write_start(struct file_writer *w, GString *text);

static void
write_done(void *values, G_GNUC_UNUSED void *data)
{
	struct file_writer *w = values;
	g_autoptr(GError) error = g_steal_pointer(&w->error);

	g_string_free(g_steal_pointer(&w->now), TRUE);
	tell_outcome(w, error);
	if (w->next)
		write_start(w, g_steal_pointer(&w->next));
	else if (w->params.written)
		w->params.written(error, w->params.data);
}

static void
write_start(struct file_writer *w, GString *text)
{
	static const struct beside_task task = {
		write_work, write_done, file_writer_unref,
	};

	w->refs++;
	w->now = text;
	beside_run(w->disk, &task, w, NULL);
}

struct file_writer *
file_writer_new(struct beside *disk, struct log *log,
		const struct file_writer_params *params)
{
	struct file_writer *w = g_new(struct file_writer, 1);

	*w = (struct file_writer){
		.refs = 1, .disk = disk, .log = log, .params = *params,
		.path = g_strdup(params->path),
	};
	return w;
}

void
file_writer_free(struct file_writer *w)
{
	if (!w)
		return;
	w->params.written = NULL;
	file_writer_unref(w);
}

void
file_writer_put(struct file_writer *w, GString *text)
{
	if (!w->now) {
		write_start(w, text);
		return;
	}
	if (w->next)
		g_string_free(w->next, TRUE);
	w->next = text;
}
