// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The control socket.
 *
 * Structs. A `client` is a connection: its line as far as it has come, then
 * its answer as far as it has gone.
 *
 * Flow. on_connect() accepts; control_on_input() collects a line, which ends with
 * a newline or with the client's end, and has control.c answer it; on_room()
 * writes the answer, and closes. A client that sends no line in time, or does not
 * read its answer in time, is disconnected. One client too many takes the place of
 * the oldest that has sent no line for a tick, or is turned away: the line of one
 * that has just come is on its way.
 * Root, and the user that minism runs as, have as many places again, so that a
 * group's clients never keep them out. No call waits: all descriptors are
 * non-blocking.
 *
 * The mode. bind() takes the mode of the socket's inode (less the umask), and
 * fchmod() before it sets that; so there is no moment at which others could
 * connect. The group gets its rights afterwards, when the file belongs to it. The
 * kernel refuses connect() to users that may not write to the file (unix(7)).
 *
 * Other managers. connect() fails with ECONNREFUSED if no process listens: then
 * the file was left by a manager that has ended. Two managers that start at the
 * same moment may both find such a file; the later replaces the earlier, and
 * control_socket_close() removes a file only if it is still the one it made.
 *
 * Source: unix(7).
 */
#include "config.h"

#include "sm/control/control_socket.h"

#include <errno.h>
#include <glib-unix.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG		16
#define PAUSE_MS	200	/* without a descriptor for another client */
#define TICKS		10	/* of a client's patience */
#define SENT_MAX	(CONTROL_LINE_MAX + CONTROL_PREFIX_MAX)

struct control_socket {
	struct control_hooks hooks;
	struct control_socket_params params;
	struct log *log;
	char *path;
	int fd;
	guint source, pause;	/* one of both, while it is open */
	dev_t dev;		/* of the file that we made */
	ino_t ino;
	GQueue clients;		/* struct control_client */
};

struct control_client {
	struct control_socket *s;
	int fd;
	bool is_owner;		/* root, or the user that minism runs as */
	guint source, timer;
	unsigned ticks;		/* since it connected, or its line was there */
	size_t len;		/* of line */
	char line[SENT_MAX + 1];
	GString *answer;	/* NULL: the line is not there yet */
	GBytes *rest;		/* of the answer; NULL: nothing */
	gsize sent;
};

const struct control_socket_params ctlsock_params_default = {
	.max_clients = 16,
	.patience_ms = 10000,
};

static const char full[] = "too many clients at once: ask again\n";

/* --- clients --- */

static void
client_end(struct control_client *c)
{
	g_queue_remove(&c->s->clients, c);
	if (c->source)
		g_source_remove(c->source);
	g_source_remove(c->timer);
	close(c->fd);
	if (c->answer)
		g_string_free(c->answer, TRUE);
	g_bytes_unref(c->rest);
	g_free(c);
}

/* While the loop computes there are no turns of it, so a client is not blamed for
 * that time: however long a turn took, it is one tick. */
static gboolean
on_tick(gpointer data)
{
	struct control_client *c = data;

	if (++c->ticks < TICKS)
		return G_SOURCE_CONTINUE;
	log_limited(c->s->log, LOG_VERBOSE, "control", "too slow",
		    "a client %s in time", c->answer ?
		    "did not read its answer" : "sent no request");
	client_end(c);
	return G_SOURCE_CONTINUE;	/* it is removed already */
}

static gboolean
on_room(gint fd, GIOCondition condition, gpointer data)
{
	struct control_client *c = data;
	gsize len = c->answer->len, more = 0;
	const char *rest = c->rest ? g_bytes_get_data(c->rest, &more) : NULL;
	ssize_t n = c->sent < len ?
		send(fd, c->answer->str + c->sent, len - c->sent,
		     MSG_NOSIGNAL | MSG_DONTWAIT) :
		send(fd, rest + (c->sent - len), len + more - c->sent,
		     MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return G_SOURCE_CONTINUE;
	if (n > 0)
		c->sent += (gsize)n;
	if (n <= 0 || c->sent == len + more)
		client_end(c);
	return G_SOURCE_CONTINUE;
}

/* When the line is whole this client only reads from then on. */
static gboolean
control_on_input(gint fd, GIOCondition condition, gpointer data)
{
	struct control_client *c = data;
	ssize_t n = recv(fd, c->line + c->len, SENT_MAX - c->len, MSG_DONTWAIT);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return G_SOURCE_CONTINUE;
	if (n < 0 || (n == 0 && !c->len)) {
		client_end(c);
		return G_SOURCE_CONTINUE;
	}
	c->len += (size_t)n;
	end = memchr(c->line, '\n', c->len);
	if (n && c->len < SENT_MAX && !end)
		return G_SOURCE_CONTINUE;
	if (end)
		c->len = (size_t)(end - c->line);
	/* a NUL would hide what follows it */
	for (size_t i = 0; i < c->len; i++)
		if (!c->line[i])
			c->line[i] = '?';
	c->line[c->len] = '\0';
	if (c->len && c->line[c->len - 1] == '\r')
		c->line[c->len - 1] = '\0';
	c->answer = g_string_new(NULL);
	c->rest = control_answer(&c->s->hooks, c->line, c->answer);
	c->ticks = 0;
	g_source_remove(c->source);
	c->source = g_unix_fd_add(c->fd, G_IO_OUT, on_room, c);
	return G_SOURCE_CONTINUE;
}

static bool
is_owner(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
		(who.uid == 0 || who.uid == geteuid());
}

static gboolean on_connect(gint fd, GIOCondition condition, gpointer data);

static gboolean
on_pause(gpointer data)
{
	struct control_socket *s = data;

	s->pause = 0;
	s->source = g_unix_fd_add(s->fd, G_IO_IN, on_connect, s);
	return G_SOURCE_REMOVE;
}

/* False: there is none. */
static bool
make_place(struct control_socket *s, bool for_owner)
{
	unsigned max = s->params.max_clients * (for_owner ? 2 : 1);
	struct control_client *idle = NULL;

	for (GList *l = s->clients.tail; l; l = l->prev) {
		struct control_client *c = l->data;

		if (c->ticks && !c->answer && (for_owner || !c->is_owner))
			idle = c;
	}
	/* root's may be more than a group's clients find a place beside */
	if (s->clients.length == max && idle)
		client_end(idle);
	return s->clients.length < max;
}

static gboolean
on_connect(gint fd, GIOCondition condition, gpointer data)
{
	struct control_socket *s = data;
	int peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct control_client *c;
	bool owner;

	if (peer < 0 && errno != EAGAIN && errno != ECONNABORTED) {
		log_limited(s->log, LOG_WARNING, "control", "cannot accept",
			    "%s", g_strerror(errno));
		/* it stays in the backlog: poll() would return at once */
		s->source = 0;
		s->pause = g_timeout_add(PAUSE_MS, on_pause, s);
		return G_SOURCE_REMOVE;
	}
	if (peer < 0)
		return G_SOURCE_CONTINUE;
	owner = is_owner(peer);
	if (!make_place(s, owner)) {
		g_autoptr(GString) answer = g_string_new(NULL);

		control_put_head(CONTROL_NOT_DONE, strlen(full), answer);
		g_string_append(answer, full);
		/* an empty buffer has room for it; a failure is ignored */
		send(peer, answer->str, answer->len, MSG_NOSIGNAL);
		close(peer);
		return G_SOURCE_CONTINUE;
	}
	c = g_new0(struct control_client, 1);
	c->s = s;
	c->fd = peer;
	c->is_owner = owner;
	c->source = g_unix_fd_add(peer, G_IO_IN, control_on_input, c);
	c->timer = g_timeout_add(s->params.patience_ms / TICKS, on_tick, c);
	g_queue_push_tail(&s->clients, c);
	return G_SOURCE_CONTINUE;
}

/* --- the socket --- */

static bool
control_fail(const char *path, const char *what, GError **error)
{
	int e = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e),
		    "control socket %s: %s: %s", path, what, g_strerror(e));
	return false;
}

/* False: a process listens there, or that cannot be determined. */
static bool
is_dead(const struct sockaddr_un *at, GError **error)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct ucred who = { .pid = 0 };
	socklen_t len = sizeof(who);
	int status, e;

	if (fd < 0)
		return control_fail(at->sun_path, "socket", error);
	status = connect(fd, (const struct sockaddr *)at, sizeof(*at));
	e = errno;
	if (status == 0)
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	close(fd);
	errno = e;
	if (status < 0 && (e == ECONNREFUSED || e == ENOENT))
		return true;
	if (status < 0 && e != EAGAIN)
		return control_fail(at->sun_path, "connect", error);
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
		    "control socket %s: another manager, process %ld, "
		    "listens there", at->sun_path, (long)who.pid);
	return false;
}

/* Makes the place free. */
static bool
clear_place(const struct sockaddr_un *at, GError **error)
{
	g_autofree char *folder = g_path_get_dirname(at->sun_path);
	struct stat st;

	if (g_mkdir_with_parents(folder, 0755) < 0)
		return control_fail(at->sun_path, folder, error);
	if (lstat(at->sun_path, &st) < 0)
		return errno == ENOENT ||
			control_fail(at->sun_path, "stat", error);
	if (!S_ISSOCK(st.st_mode)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
			    "control socket %s: there is something else of "
			    "that name", at->sun_path);
		return false;
	}
	if (!is_dead(at, error))
		return false;
	return unlink(at->sun_path) == 0 || errno == ENOENT ||
		control_fail(at->sun_path, "unlink", error);
}

/* Without the group only the owner can connect. A service that runs in this
 * group need not call chown(), and may not be permitted to. */
static void
let_group_in(struct control_socket *s, gid_t has)
{
	const char *name = s->params.group;
	const struct group *group = name ? getgrnam(name) : NULL;

	if (!group) {
		log_say(s->log, LOG_VERBOSE, "control", "%s%s: only root and "
			"the own user may ask", name ? "no group " :
			"control_group is empty", name ? name : "");
		return;
	}
	if ((group->gr_gid == has ||
	     lchown(s->path, (uid_t)-1, group->gr_gid) == 0) &&
	    chmod(s->path, 0660) == 0)
		return;
	log_say(s->log, LOG_WARNING, "control", "control socket %s: cannot be "
		"given to the group %s: %s%s", s->path, name, g_strerror(errno),
		errno == EPERM ? "; it must be one of the groups of the process "
		"(of the service: Group=)" : "");
}

static bool
start_listening(struct control_socket *s, const struct sockaddr_un *at,
		GError **error)
{
	struct stat st;

	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return control_fail(s->path, "socket", error);
	if (fchmod(s->fd, 0600) < 0 ||
	    bind(s->fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
		return control_fail(s->path, "bind", error);
	if (lstat(s->path, &st) < 0)
		return control_fail(s->path, "stat", error);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	let_group_in(s, st.st_gid);
	if (listen(s->fd, BACKLOG) < 0)
		return control_fail(s->path, "listen", error);
	s->source = g_unix_fd_add(s->fd, G_IO_IN, on_connect, s);
	return true;
}

struct control_socket *
control_socket_open(const char *path, const struct control_hooks *hooks,
	     const struct control_socket_params *params, struct log *log,
	     GError **error)
{
	struct control_socket *s = g_new0(struct control_socket, 1);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	s->hooks = *hooks;
	s->params = params ? *params : ctlsock_params_default;
	s->log = log;
	s->path = g_strdup(path);
	s->fd = -1;
	if (g_strlcpy(at.sun_path, path, sizeof(at.sun_path)) >=
	    sizeof(at.sun_path))
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NAMETOOLONG,
			    "control socket %s: the name is longer than %zu "
			    "bytes", path, sizeof(at.sun_path) - 1);
	else if (clear_place(&at, error) && start_listening(s, &at, error))
		return s;
	control_socket_close(s);
	return NULL;
}

void
control_socket_close(struct control_socket *s)
{
	struct stat st;

	if (!s)
		return;
	while (s->clients.head)
		client_end(s->clients.head->data);
	if (s->source)
		g_source_remove(s->source);
	if (s->pause)
		g_source_remove(s->pause);
	if (s->fd >= 0)
		close(s->fd);
	if (s->ino && lstat(s->path, &st) == 0 && st.st_dev == s->dev &&
	    st.st_ino == s->ino)
		unlink(s->path);
	g_free(s->path);
	g_free(s);
}
