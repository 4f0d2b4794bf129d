// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * State files, written beside the main loop.
 *
 *	IDLE --put--> WRITING --put--> WRITING, a text waits
 *	  ^--- done ----+ ^----- done: the next one ----+
 *
 * So a disk that stalls holds two texts of each file at the most. A write
 * belongs to its job, and outlives the writer.
 */
#include "sm/file_writer.h"

#include <glib/gstdio.h>
#include <string.h>

struct write {
	char *path;
	const char *subsystem;
	struct log *log;
	GFileSetContentsFlags how;
	int mode;
	GString *text;
	GError *error;			/* the result */
	struct file_writer *owner;	/* the loop's; NULL: it has gone */
	bool is_first;
};

struct file_writer {
	struct beside *disk;
	struct log *log;
	struct file_writer_params params;
	char *path;
	struct write *now;	/* NULL: idle */
	GString *next;		/* NULL: none waits */
	bool has_written;
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

static void
write_work(void *values)
{
	struct write *w = values;

	if (w->is_first)
		remove_strays(w->path);
	state_file_write(w->path, w->text,
			 G_FILE_SET_CONTENTS_CONSISTENT | w->how, w->mode,
			 &w->error);
}

static void
write_free(void *values)
{
	struct write *w = values;

	g_free(w->path);
	if (w->text)
		g_string_free(w->text, TRUE);
	g_clear_error(&w->error);
	g_free(w);
}

static void write_start(struct file_writer *w, GString *text);

static void
write_done(void *values, void *data)
{
	struct write *now = values;
	struct file_writer *w = now->owner;

	if (now->error && now->log)
		log_limited(now->log, LOG_WARNING, now->subsystem,
			    "not remembered", "%s", now->error->message);
	if (!w)
		return;
	w->now = NULL;
	if (w->next)
		write_start(w, g_steal_pointer(&w->next));
	else if (w->params.written)
		w->params.written(now->error, w->params.data);
}

static void
write_start(struct file_writer *w, GString *text)
{
	static const struct beside_task task = {
		write_work, write_done, write_free,
	};
	struct write *now = g_new0(struct write, 1);

	*now = (struct write){
		.path = g_strdup(w->path), .subsystem = w->params.subsystem,
		.log = w->log, .how = w->params.how, .mode = w->params.mode,
		.text = text, .owner = w, .is_first = !w->has_written,
	};
	w->has_written = true;
	w->now = now;
	beside_run(w->disk, &task, now, NULL);
}

struct file_writer *
file_writer_new(struct beside *disk, struct log *log,
		const struct file_writer_params *params)
{
	struct file_writer *w = g_new0(struct file_writer, 1);

	w->disk = disk;
	w->log = log;
	w->params = *params;
	w->path = g_strdup(params->path);
	return w;
}

void
file_writer_free(struct file_writer *w)
{
	if (!w)
		return;
	if (w->now)
		w->now->owner = NULL;
	if (w->next)
		write_start(w, g_steal_pointer(&w->next));
	if (w->now)
		w->now->owner = NULL;
	g_free(w->path);
	g_free(w);
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
