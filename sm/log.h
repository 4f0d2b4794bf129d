/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The log: one line a fact to standard error or a file. An object that is
 * handed around; there is no global one.
 */
#ifndef MINISM_SM_LOG_H
#define MINISM_SM_LOG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sm/io/stream.h"
#include "topology/report.h"

enum log_level {
	LOG_ERROR,	/* something does not work that should */
	LOG_WARNING,	/* it works, but not as it was meant to */
	LOG_INFO,	/* the life of the subnet: a few lines a sweep */
	LOG_VERBOSE,	/* why: counts, decisions */
	LOG_DEBUG,	/* each step */
};
extern const char *const log_level_names[];	/* "warning" */

/* "time level subsystem: text"; the same without the time behind "<4>", a
 * level of syslog, which the journal takes off (sd-daemon(3)); an object of
 * JSON with these as members. Auto: for the journal if it is what the stream
 * leads to, else text. */
enum log_format { LOG_AUTO, LOG_TEXT, LOG_JOURNAL, LOG_JSON };

/* A line that was logged, of level info or above whatever the log's own level
 * is. */
struct log_event {
	int64_t when;		/* us since 1970 */
	uint64_t generation;	/* of the log, then */
	enum log_level level;
	const char *subsystem;
	char *text;
};

/* A line, "time level subsystem: text", or an object. */
void log_event_put(const struct log_event *e, struct text_report *r);

#define LOG_EVENTS	512u	/* the last ones are kept */

struct log {
	char *path;		/* NULL: a standard stream */
	struct stream *out;
	enum log_level level;	/* may be changed at any time */
	enum log_format format;	/* not LOG_AUTO */
	struct log_event events[LOG_EVENTS];	/* [n % LOG_EVENTS] */
	uint64_t n_events;	/* that there were */
	uint64_t generation;	/* of the view in force: its owner sets it */
	GHashTable *limits;	/* "subsystem/reason" -> struct log_limit */
	guint timer;		/* lines are held back; 0: none */
	gint64 (*now)(void);	/* us, monotonic: the clock of the limits */
};

/*
 * path NULL, "stderr" or /dev/stderr: standard error; "-", "stdout" or
 * /dev/stdout: standard output; else a regular file or a character device. NULL
 * with a G_FILE_ERROR if it cannot be opened for appending. A line that cannot
 * be written at once is dropped and counted.
 */
struct log *log_open(const char *path, enum log_level level, GError **error);
void log_free(struct log *log);
bool log_reopen(struct log *log, GError **error);	/* after rotation */

/* Is this descriptor systemd's journal? */
bool log_is_journal(int fd);
void log_set_format(struct log *log, enum log_format format);

/* subsystem: a string constant. */
void log_say(struct log *log, enum log_level level, const char *subsystem,
	     const char *format, ...) G_GNUC_PRINTF(4, 5);

/*
 * For events that a bad peer can cause at any rate: of each (subsystem, reason)
 * the first five lines in ten seconds are written; a line at the end of that
 * time, or of the log, has the number of the others. The reasons must be few.
 */
void log_limited(struct log *log, enum log_level level, const char *subsystem,
		 const char *reason, const char *format, ...)
		 G_GNUC_PRINTF(5, 6);

#endif
