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

struct write {
	char *path;
	const char *subsystem;
	struct log *log;
	GFileSetContentsFlags how;
	int mode;
	GString *text;
	GError *error;			/* the result */
	struct file_writer *owner;	/* the loop's; NULL: it has gone */
};

struct file_writer {
	struct beside *disk;
	struct log *log;
	struct file_writer_params params;
	char *path;
	struct write *now;	/* NULL: idle */
	GString *next;		/* NULL: none waits */
};

static void
write_work(void *values)
{
	struct write *w = values;

	state_file_write(w->path, w->text,
			 G_FILE_SET_CONTENTS_CONSISTENT | w->how, w->mode,
			 &w->error);
}

static void
write_free(void *values)
{
	struct write *w = values;

	g_free(w->path);
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

	if (now->error)
		log_limited(now->log, LOG_WARNING, now->subsystem,
			    "not remembered", "%s", now->error->message);
	if (!w)
		return;
	w->now = NULL;
	if (w->next)
		write_start(w, g_steal_pointer(&w->next));
	else if (w->params.written)
		w->params.written(!now->error, w->params.data);
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
		.text = text, .owner = w,
	};
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
