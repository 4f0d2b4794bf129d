// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log.
 *
 * A line is made whole and written with one call, so that lines of several
 * processes that share a file do not mix. A line that cannot be written at once
 * (sm/io/stream.h) is dropped and counted, and the next one that is written has
 * the count. Rate limiting counts by the subsystem, a string constant of the
 * program, and the reason, of which it keeps a copy. Both are few, so the table
 * of counters does not grow with what peers do.
 * The number of lines that were held back is logged at the end of the span, by
 * a timer, since no other line of that kind may follow.
 */
#include "sm/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topology/report.h"
#include "topology/state_file.h"
#include "topology/text.h"

#define LIMIT_LINES	5
#define LIMIT_SPAN_US	(10 * G_USEC_PER_SEC)

struct log_limit {
	const char *subsystem;
	const char *reason;	/* the end of its key */
	int64_t since;
	unsigned written, held_back;
	enum log_level level;	/* of what was held back */
};

const char *const log_level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARNING] = "warning",
	[LOG_INFO] = "info",
	[LOG_VERBOSE] = "verbose",
	[LOG_DEBUG] = "debug",
};

static int
open_append(const char *path, GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
		      O_NONBLOCK | O_NOCTTY, 0644);
	int e = errno;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))) {
		state_file_give(fd, path);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	/* a FIFO without a reader is ENXIO */
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e),
		    "cannot open the log %s: %s", path,
		    fd >= 0 || e == ENXIO ? "it is not a regular file" :
		    g_strerror(e));
	return -1;
}

/* systemd sets JOURNAL_STREAM to the device and inode of its stream. */
bool
log_is_journal(int fd)
{
	const char *stream = g_getenv("JOURNAL_STREAM");
	g_autofree char *own = NULL;
	struct stat st;

	if (!stream || fstat(fd, &st) < 0)
		return false;
	own = g_strdup_printf("%ju:%ju", (uintmax_t)st.st_dev,
			      (uintmax_t)st.st_ino);
	return strcmp(stream, own) == 0;
}

void
log_set_format(struct log *log, enum log_format format)
{
	if (format == LOG_AUTO)
		format = !log->path && log_is_journal(log->out->fd) ?
			LOG_JOURNAL : LOG_TEXT;
	log->format = format;
}

struct log *
log_open(const char *path, enum log_level level, GError **error)
{
	const char *name = path && g_str_has_prefix(path, "/dev/") ?
		path + strlen("/dev/") : path;
	int stream = !path || !strcmp(name, "stderr") ? STDERR_FILENO :
		!strcmp(path, "-") || !strcmp(name, "stdout") ?
		STDOUT_FILENO : -1;
	int fd = stream >= 0 ? stream : open_append(path, error);

	if (fd < 0)
		return NULL;

	struct log *log = g_new0(struct log, 1);

	log->path = stream >= 0 ? NULL : g_strdup(path);
	log->out = stream_new(fd, "the log", &(struct stream_how){ 0 });
	log->level = level;
	log->now = g_get_monotonic_time;
	log_set_format(log, LOG_AUTO);
	log->limits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					    g_free);
	return log;
}

bool
log_reopen(struct log *log, GError **error)
{
	if (!log->path)
		return true;

	int fd = open_append(log->path, error);

	if (fd < 0)
		return false;
	close(log->out->fd);
	log->out->fd = fd;
	return true;
}

void
log_event_put(const struct log_event *e, struct text_report *r)
{
	g_autoptr(GDateTime) second = g_date_time_new_from_unix_local(
		e->when / G_USEC_PER_SEC);
	g_autoptr(GDateTime) then = g_date_time_add(second, e->when %
						    G_USEC_PER_SEC);
	g_autofree char *iso = g_date_time_format_iso8601(then);
	g_autofree char *text = g_date_time_format(then, "%Y-%m-%d %H:%M:%S");

	report_open(r, NULL, '{');
	report_say(r, "%s.%03d ", text, (int)(e->when % G_USEC_PER_SEC / 1000));
	report_text(r, "time", iso, NULL);
	report_number(r, "gen", e->generation, NULL);
	report_text(r, "level", log_level_names[e->level], " ");
	report_text(r, "subsystem", e->subsystem, ": ");
	report_text(r, "message", e->text, "\n");
	report_close(r, '}');
}

/* A line with its end, in the format of the log. */
static void
print_line(const struct log *log, const struct log_event *e, GString *out)
{
	/* of syslog(3) */
	static const int priorities[] = {
		[LOG_ERROR] = 3, [LOG_WARNING] = 4, [LOG_INFO] = 6,
		[LOG_VERBOSE] = 7, [LOG_DEBUG] = 7,
	};
	struct text_report r = {
		.out = out, .as_json = log->format == LOG_JSON,
	};

	if (log->format == LOG_JOURNAL)
		g_string_append_printf(out, "<%d>%s: %s\n",
				       priorities[e->level], e->subsystem,
				       e->text);
	else
		log_event_put(e, &r);
	if (r.as_json)
		g_string_append_c(out, '\n');
}

/* A log that cannot be written must not stop the subnet manager. */
static void
log_write_line(struct log *log, enum log_level level, const char *subsystem,
	       char *text)
{
	struct log_event e = {
		.when = g_get_real_time(), .level = level, .text = text,
		.generation = log->generation, .subsystem = subsystem,
	}, *kept = &log->events[log->n_events % LOG_EVENTS], lost = e;
	g_autoptr(GString) out = g_string_new(NULL);

	if (level <= LOG_INFO) {
		log->n_events++;
		g_free(kept->text);
		*kept = e;
		kept->text = g_strdup(text);
	}
	if (level > log->level)
		return;
	if (log->out->lost) {
		lost.level = LOG_WARNING;
		lost.subsystem = "log";
		lost.text = g_strdup_printf("%u line%s before this one lost: "
					    "the log could not be written",
					    log->out->lost,
					    text_plural(log->out->lost));
		print_line(log, &lost, out);
		g_free(lost.text);
	}
	print_line(log, &e, out);
	stream_put(log->out, out->str, out->len);
}

/* Each line of the text gets the level: the mistakes of a file are several
 * lines. */
static void
log_write(struct log *log, enum log_level level, const char *subsystem,
	  const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (guint i = 0; lines[i]; i++)
		if (*lines[i] || !i)
			log_write_line(log, level, subsystem, lines[i]);
}

void
log_say(struct log *log, enum log_level level, const char *subsystem,
	const char *format, ...)
{
	if (level > MAX(log->level, LOG_INFO))
		return;

	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	log_write(log, level, subsystem, text);
}

/* --- limits --- */

static void
end_span(struct log *log, struct log_limit *limit, int64_t now)
{
	g_autofree char *line = limit->held_back ? g_strdup_printf(
		"%s: %u more line%s like this not written, in %u s",
		limit->reason, limit->held_back, text_plural(limit->held_back),
		(unsigned)((now - limit->since) / G_USEC_PER_SEC)) : NULL;

	if (line)
		log_write(log, limit->level, limit->subsystem, line);
	limit->since = now;
	limit->written = limit->held_back = 0;
}

static gboolean
on_span(gpointer data)
{
	struct log *log = data;
	int64_t now = log->now();
	struct log_limit *limit;
	GHashTableIter i;

	g_hash_table_iter_init(&i, log->limits);
	while (g_hash_table_iter_next(&i, NULL, (gpointer *)&limit))
		if (limit->held_back)
			end_span(log, limit, now);
	log->timer = 0;
	return G_SOURCE_REMOVE;
}

void
log_free(struct log *log)
{
	if (!log)
		return;
	if (log->timer)
		g_source_remove(log->timer);
	on_span(log);
	stream_close(log->out, NULL);
	g_hash_table_unref(log->limits);
	for (unsigned i = 0; i < LOG_EVENTS; i++)
		g_free(log->events[i].text);
	g_free(log->path);
	g_free(log);
}

void
log_limited(struct log *log, enum log_level level, const char *subsystem,
	    const char *reason, const char *format, ...)
{
	if (level > MAX(log->level, LOG_INFO))
		return;

	char *key = g_strdup_printf("%s/%s", subsystem, reason);
	struct log_limit *limit = g_hash_table_lookup(log->limits, key);
	int64_t now = log->now();

	if (limit) {
		g_free(key);
	} else {
		limit = g_new0(struct log_limit, 1);
		limit->subsystem = subsystem;
		limit->reason = key + strlen(subsystem) + 1;
		limit->since = now;
		g_hash_table_insert(log->limits, key, limit);
	}
	if (now - limit->since >= LIMIT_SPAN_US)
		end_span(log, limit, now);
	if (limit->written == LIMIT_LINES) {
		limit->level = level;
		limit->held_back++;
		if (!log->timer)
			log->timer = g_timeout_add(LIMIT_SPAN_US / 1000,
						   on_span, log);
		return;
	}
	limit->written++;

	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *line = g_strdup_printf("%s: %s", reason, text);

	log_write(log, level, subsystem, line);
}
