// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to a running manager.
 *
 * Flow: which socket -> the line -> the answer, whose first line is
 * "minism 2 CODE LENGTH" and whose rest has so many bytes. An answer may begin
 * with the next request, which is sent a moment later.
 *
 * Which socket. Managers put theirs into one folder, by PortGUID. If there is
 * one, it is used; if there are several, one has to be named. A socket on which
 * no process listens does not count.
 */
#include "tools/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "sm/config/options.h"
#include "topology/text.h"

#define SUFFIX		".ctl"
#define AGAIN_US	5000u	/* a request that continues is sent so late, */
#define AGAIN_MAX_US	200000u	/* and by as much later each time */
#define HEAD		"minism 2 "

G_DEFINE_QUARK(minism-client-error-quark, client_error)

/* --- which socket --- */

/* Of each call on the socket that follows. False: `end` has passed. */
static bool
wait_until(int fd, int64_t end)
{
	int64_t left = end - g_get_monotonic_time();
	const struct timeval patience = {
		.tv_sec = left / G_USEC_PER_SEC,
		.tv_usec = left % G_USEC_PER_SEC,
	};

	errno = EAGAIN;
	return left > 0 &&
		!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			    sizeof(patience)) &&
		!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			    sizeof(patience));
}

/* Connected; -1 with errno. */
static int
try_socket(const char *path, int64_t end)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd, e;

	if (g_strlcpy(to.sun_path, path, sizeof(to.sun_path)) >=
	    sizeof(to.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (wait_until(fd, end) &&
	    connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static int
open_named(const char *path, int64_t end, GError **error)
{
	int fd = try_socket(path, end);

	if (fd < 0)
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT,
			    "%s: %s%s", path, g_strerror(errno),
			    errno == ECONNREFUSED ? ": no manager listens "
			    "there any more" : errno == ENOENT ?
			    " (is a manager running?)" : "");
	return fd;
}

static gint
order_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The only manager that listens in the folder of sockets. */
static int
open_only(const char *folder, int64_t end, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	g_autoptr(GString) alive = g_string_new(NULL);
	const char *name;
	guint n = 0;
	int fd = -1;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_suffix(name, SUFFIX))
			g_ptr_array_add(paths, g_build_filename(folder, name,
								NULL));
	g_ptr_array_sort(paths, order_names);
	for (guint i = 0; i < paths->len; i++) {
		int next = try_socket(paths->pdata[i], end);

		if (next < 0)
			continue;
		g_string_append_printf(alive, "%s%s", n ? ", " : "",
				       (char *)paths->pdata[i]);
		if (n++)
			close(next);
		else
			fd = next;
	}
	if (n == 0)
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT,
			    "no manager listens in %s (is one running, and are "
			    "you root or in its group minism?)", folder);
	if (n <= 1)
		return fd;
	close(fd);
	g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_WHICH, "there are %u "
		    "managers: %s; say which with --socket or --guid", n,
		    alive->str);
	return -1;
}

static int
open_place(const struct client_place *place, int64_t end, GError **error)
{
	g_autofree char *folder = options_control_dir(), *path = NULL;
	uint64_t guid;

	if (place->socket)
		return open_named(place->socket, end, error);
	if (!place->guid)
		return open_only(folder, end, error);
	if (!text_read_number(place->guid, 16, UINT64_MAX, &guid)) {
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_WHICH, "--guid "
			    "%s: not a GUID of up to 16 hexadecimal digits",
			    place->guid);
		return -1;
	}
	path = g_strdup_printf("%s/%016" G_GINT64_MODIFIER "x" SUFFIX, folder,
			       guid);
	return open_named(path, end, error);
}

/* --- question and answer --- */

static bool
send_line(int fd, const GString *line)
{
	gsize done = 0;

	while (done < line->len) {
		ssize_t n = send(fd, line->str + done, line->len - done,
				 MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* a manager that closed the connection may have sent the
		 * reason */
		if (n <= 0)
			return errno == EPIPE || errno == ECONNRESET;
		done += (gsize)n;
	}
	return true;
}

static bool
read_answer(int fd, int64_t end, GString *answer)
{
	char buffer[65536];
	ssize_t n;

	do {
		n = wait_until(fd, end) ?
			recv(fd, buffer, sizeof(buffer), 0) : -1;
		if (n > 0)
			g_string_append_len(answer, buffer, n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	/* a refused client has an answer before the error */
	return n == 0 || answer->len > 0;
}

/* Its code; -1: it is not whole. */
static int
take_answer(const GString *answer, GString *line, GString *out, GError **error)
{
	const char *body = strchr(answer->str, '\n'), *rest;
	const char *end = answer->str + answer->len;
	size_t len;
	int code;

	if (body && sscanf(answer->str, HEAD "%d %zu", &code, &len) != 2) {
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "what "
			    "answers is no minism that %s knows",
			    g_get_prgname());
		return -1;
	}
	if (!body++ || len != (size_t)(end - body)) {
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "the "
			    "answer is cut off, after %zu bytes", answer->len);
		return -1;
	}
	if (code == CLIENT_AGAIN && (rest = strchr(body, '\n'))) {
		g_string_truncate(line, 0);
		g_string_append_len(line, body, rest + 1 - body);
		body = rest + 1;
	}
	g_string_append_len(out, body, end - body);
	return code;
}

int
client_ask(const struct client_place *place, int64_t patience_us,
	   GString *line, GString *body, GError **error)
{
	int64_t end = g_get_monotonic_time() + patience_us;
	g_autoptr(GString) answer = g_string_new(NULL);
	int fd = open_place(place, end, error), code = -1;

	if (fd < 0)
		return -1;
	if (send_line(fd, line) && read_answer(fd, end, answer))
		code = take_answer(answer, line, body, error);
	else
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "the "
			    "manager does not answer: %s", errno == EAGAIN ?
			    "it is busy" : g_strerror(errno));
	close(fd);
	return code;
}

int
client_ask_on(const struct client_place *place, int64_t patience_us,
	      GString *line, GString *body, client_take_fn take, void *data,
	      GError **error)
{
	unsigned later = AGAIN_US;
	int code;

	while ((code = client_ask(place, patience_us, line, body, error)) ==
	       CLIENT_AGAIN && (!take || take(body, data))) {
		g_usleep(later);
		later = MIN(later + AGAIN_US, AGAIN_MAX_US);
	}
	return code;
}
