/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A state file that is written beside the main loop: a disk that stalls delays
 * nothing else.
 */
#ifndef MINISM_SM_FILE_WRITER_H
#define MINISM_SM_FILE_WRITER_H

#include "sm/io/beside.h"
#include "sm/log.h"
#include "topology/state_file.h"

struct file_writer;

/* Of the last text that was put: NULL: the file has it. May free the writer. */
typedef void (*file_writer_fn)(const GError *error, void *data);

struct file_writer_params {
	const char *path, *subsystem;	/* the latter for the log; a literal */
	GFileSetContentsFlags how;
	int mode;
	/* The file has what was not read, as state_file_load() says: it is not
	 * replaced as long as it is there. */
	bool is_unread;
	file_writer_fn written;		/* on the loop; may be NULL */
	void *data;
};

/* Removes what a run that was killed has left of the file beside it. disk, log:
 * borrowed, the log until disk's jobs have ended. disk NULL: each text is written
 * at once. Unless log is NULL, the first of several failures is logged, and their
 * end. */
struct file_writer *file_writer_new(struct beside *disk, struct log *log,
				    const struct file_writer_params *params);
/* The last text will still be written; written() is not called any more. w may
 * be NULL. */
void file_writer_free(struct file_writer *w);

/* "not written: ..", of the last text that was put; NULL: it was, or w is NULL. */
const char *file_writer_failure(const struct file_writer *w);

/* Replaces the file, atomically; takes `text` over. While one text is written,
 * only the last one of those that follow is kept. */
void file_writer_put(struct file_writer *w, GString *text);
#endif
