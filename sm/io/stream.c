// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Output that is not waited for.
 *
 * Purpose. A pager that is not scrolled, a pipe that is not read, or a stopped
 * terminal must not stop the subnet manager.
 *
 * Method. A descriptor may be shared with other processes, so that O_NONBLOCK,
 * which would be theirs as well, is not set: a pipe and a terminal are opened
 * once more. What the reader does not take is held, up to a limit; a piece that
 * has been begun is held in any case, so that the next one does not stand in
 * the middle of it. A disk is waited for.
 */
#include "sm/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topology/state_file.h"

#define PIECES		((size_t)1 << 16)	/* bytes of one write */
#define FLUSH_MS	100u
#define CLOSE_US	G_USEC_PER_SEC

/* write(2), of which EAGAIN means that the reader does not read. The descriptor
 * may lead elsewhere than at the last call: nothing is kept of it. */
static ssize_t
put_some(const struct stream *s, const void *bytes, size_t len)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };
	char name[32];
	struct stat st;
	ssize_t n = -1;
	int own, e;

	if (fstat(s->fd, &st) < 0)
		return -1;
	if (s->how.waits && poll(&p, 1, -1) < 0)
		return -1;
	if (S_ISSOCK(st.st_mode))
		return send(s->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (s->how.waits || (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)))
		return write(s->fd, bytes, len);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", s->fd);
	own = open(name, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY |
		   O_CLOEXEC);
	if (own < 0 && poll(&p, 1, 0) < 1)
		errno = EAGAIN;
	else	/* a pipe takes PIPE_BUF bytes at once, or none */
		n = write(own < 0 ? s->fd : own, bytes,
			  own < 0 ? MIN(len, PIPE_BUF) : len);
	e = errno;
	if (own >= 0)
		close(own);
	errno = e;
	return n;
}

void
stream_flush(struct stream *s)
{
	guint at = 0;
	ssize_t n;

	while (at < s->held->len) {
		n = put_some(s, s->held->data + at, s->held->len - at);
		if (n > 0)
			at += (guint)n;
		else if (errno != EINTR && !(s->how.waits && errno == EAGAIN))
			break;
	}
	if (at < s->held->len && errno != EAGAIN)
		s->error = errno;
	/* a run that waits does not try again */
	if (at < s->held->len && s->how.waits) {
		s->has_lost = true;
		at = s->held->len;
	}
	if (at)
		g_byte_array_remove_range(s->held, 0, at);
}

static gboolean
on_flush(gpointer data)
{
	struct stream *s = data;

	stream_flush(s);
	if (s->held->len)
		return G_SOURCE_CONTINUE;
	s->timer = 0;
	return G_SOURCE_REMOVE;
}

static bool
lose_stream(struct stream *s)
{
	s->has_lost = true;
	if (!s->lost++ && s->how.lost)
		s->how.lost(s->name, s->how.data);
	return false;
}

bool
stream_put(struct stream *s, const void *piece, size_t len)
{
	if (!len)
		return true;
	if (s->held->len + len > s->how.hold)
		stream_flush(s);
	if (s->held->len && s->held->len + len > s->how.hold)
		return lose_stream(s);
	g_byte_array_append(s->held, piece, (guint)len);
	if (s->held->len > MIN(s->how.hold, PIECES))
		stream_flush(s);
	if (s->held->len == len && len > s->how.hold) {
		g_byte_array_set_size(s->held, 0);
		return lose_stream(s);
	}
	s->lost = 0;
	if (s->held->len && s->how.hold && !s->timer)
		s->timer = g_timeout_add(FLUSH_MS, on_flush, s);
	return true;
}

struct stream *
stream_new(int fd, const char *name, const struct stream_how *how)
{
	struct stream *s = g_new0(struct stream, 1);

	s->fd = fd;
	s->name = g_strdup(name);
	s->how = how ? *how : (struct stream_how){ .waits = true,
						   .hold = PIECES };
	s->held = g_byte_array_new();
	return s;
}

/* A pipe is left as it is; a link to a file is not followed. */
struct stream *
stream_create(const char *path, const struct stream_how *how, GError **error)
{
	int follow = state_file_is_stream(path) ? 0 : O_NOFOLLOW;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow,
		      0600);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    (!S_ISREG(st.st_mode) || fchmod(fd, 0600) == 0)) {
		state_file_give(fd, path);
		return stream_new(fd, path, how);
	}
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
		    "cannot write %s: %s", path, g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

bool
stream_close(struct stream *s, GError **error)
{
	int64_t until = g_get_monotonic_time() + CLOSE_US, rest = CLOSE_US;
	struct pollfd p = { .events = POLLOUT };
	bool ok;

	if (!s)
		return true;
	p.fd = s->fd;
	stream_flush(s);
	/* a reader that is only slow gets all */
	while (s->held->len && !s->error && !s->has_lost && s->how.hold &&
	       rest > 0 && poll(&p, 1, (int)(rest / 1000)) == 1) {
		stream_flush(s);
		rest = until - g_get_monotonic_time();
	}
	ok = !s->has_lost && !s->held->len;
	if (s->timer)
		g_source_remove(s->timer);
	if (s->fd > STDERR_FILENO && close(s->fd) < 0 && ok) {
		s->error = errno;
		ok = false;
	}
	if (!ok)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
			    "cannot write %s: %s", s->name,
			    s->error ? g_strerror(s->error) :
			    "its reader did not read all");
	g_byte_array_unref(s->held);
	g_free(s->name);
	g_free(s);
	return ok;
}
