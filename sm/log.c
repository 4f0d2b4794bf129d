// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log.
 *
 * A line is made whole and written with one call, so that lines of several
 * processes that share a file do not mix. Rate limiting counts by the
 * subsystem and reason, both of which are string constants of the program and
 * few, so the table of counters does not grow with what peers do.
 */
#include "sm/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_LINES	5
#define LIMIT_SPAN_US	(10 * G_USEC_PER_SEC)

struct limit {
	int64_t since;
	unsigned written, held_back;
};

struct log {
	char *path;		/* NULL: standard error */
	int fd;
	enum log_level level;
	GHashTable *limits;	/* "subsystem/reason" -> struct limit */
};

static const char *const level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARNING] = "warning",
	[LOG_INFO] = "info",
	[LOG_VERBOSE] = "verbose",
	[LOG_DEBUG] = "debug",
};

static int
open_append(const char *path, GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0) {
		int e = errno;

		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e),
			    "cannot open the log %s: %s", path, g_strerror(e));
	}
	return fd;
}

struct log *
log_open(const char *path, enum log_level level, GError **error)
{
	int fd = path ? open_append(path, error) : STDERR_FILENO;

	if (fd < 0)
		return NULL;

	struct log *log = g_new0(struct log, 1);

	log->path = g_strdup(path);
	log->fd = fd;
	log->level = level;
	log->limits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					    g_free);
	return log;
}

void
log_free(struct log *log)
{
	if (!log)
		return;
	if (log->path)
		close(log->fd);
	g_hash_table_unref(log->limits);
	g_free(log->path);
	g_free(log);
}

bool
log_reopen(struct log *log, GError **error)
{
	if (!log->path)
		return true;

	int fd = open_append(log->path, error);

	if (fd < 0)
		return false;
	close(log->fd);
	log->fd = fd;
	return true;
}

enum log_level
log_level(const struct log *log)
{
	return log->level;
}

void
log_set_level(struct log *log, enum log_level level)
{
	log->level = level;
}

const char *
log_level_name(enum log_level level)
{
	return level_names[level];
}

bool
log_wants(const struct log *log, enum log_level level)
{
	return level <= log->level;
}

static void
log_write(struct log *log, enum log_level level, const char *subsystem,
	  const char *text)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_local();
	g_autofree char *when = g_date_time_format(now, "%Y-%m-%d %H:%M:%S");
	g_autofree char *line = g_strdup_printf("%s.%03d %s %s: %s\n", when,
		g_date_time_get_microsecond(now) / 1000, level_names[level],
		subsystem, text);
	/* A log that cannot be written must not stop the subnet manager. */
	ssize_t written = write(log->fd, line, strlen(line));

	(void)written;
}

void
log_say(struct log *log, enum log_level level, const char *subsystem,
	const char *format, ...)
{
	if (!log_wants(log, level))
		return;

	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	log_write(log, level, subsystem, text);
}

static struct limit *
limit_of(struct log *log, const char *subsystem, const char *reason)
{
	char *key = g_strdup_printf("%s/%s", subsystem, reason);
	struct limit *limit = g_hash_table_lookup(log->limits, key);

	if (limit) {
		g_free(key);
		return limit;
	}
	limit = g_new0(struct limit, 1);
	limit->since = g_get_monotonic_time();
	g_hash_table_insert(log->limits, key, limit);
	return limit;
}

void
log_limited(struct log *log, enum log_level level, const char *subsystem,
	    const char *reason, const char *format, ...)
{
	if (!log_wants(log, level))
		return;

	struct limit *limit = limit_of(log, subsystem, reason);
	int64_t now = g_get_monotonic_time();
	g_autofree char *missed = NULL;

	if (now - limit->since >= LIMIT_SPAN_US) {
		if (limit->held_back)
			missed = g_strdup_printf(" (%u more like this before)",
						 limit->held_back);
		*limit = (struct limit){ .since = now };
	}
	if (limit->written == LIMIT_LINES) {
		limit->held_back++;
		return;
	}
	limit->written++;

	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *line = g_strdup_printf("%s: %s%s", reason, text,
						missed ? missed : "");

	log_write(log, level, subsystem, line);
}
