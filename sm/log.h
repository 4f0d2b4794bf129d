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

enum log_level {
	LOG_ERROR,	/* something does not work that should */
	LOG_WARNING,	/* it works, but not as it was meant to */
	LOG_INFO,	/* the life of the subnet: a few lines a sweep */
	LOG_VERBOSE,	/* why: counts, decisions */
	LOG_DEBUG,	/* each step */
};

/* "time level subsystem: text"; the same without the time behind "<4>", a
 * level of syslog, which the journal takes off (sd-daemon(3)); an object of
 * JSON with these as members. Auto: for the journal if it is what the stream
 * leads to, else text. */
enum log_format { LOG_AUTO, LOG_TEXT, LOG_JOURNAL, LOG_JSON };

struct log;

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
enum log_level log_level(const struct log *log);
void log_set_format(struct log *log, enum log_format format);
void log_set_level(struct log *log, enum log_level level);
const char *log_level_name(enum log_level level);	/* "warning" */

/* A line that was logged, of level info or above whatever the log's own level
 * is. The last LOG_EVENTS are kept. */
#define LOG_EVENTS	512u
struct log_event {
	int64_t when;		/* us since 1970 */
	enum log_level level;
	char *subsystem, *text;
};
uint64_t log_n_events(const struct log *log);	/* that there were */
/* The nth from 0; NULL: it is forgotten, or has not happened. */
const struct log_event *log_event(const struct log *log, uint64_t n);

void log_say(struct log *log, enum log_level level, const char *subsystem,
	     const char *format, ...) G_GNUC_PRINTF(4, 5);

/*
 * For events that a bad peer can cause at any rate: of each (subsystem, reason)
 * the first five lines in ten seconds are written; a line at the end of that
 * time, or of the log, has the number of the others. Both are string constants.
 */
void log_limited(struct log *log, enum log_level level, const char *subsystem,
		 const char *reason, const char *format, ...)
		 G_GNUC_PRINTF(5, 6);

#endif
