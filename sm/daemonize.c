// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Going to the background.
 *
 * Purpose: a script that starts the manager must continue when the manager
 * runs, and fail when it does not. So the fork comes first, while there are no
 * threads, but the parent waits until the child has opened its port.
 *
 * Structs: `background` belongs to the child: its end of a socket to the
 * parent, and the null device, opened early so that a failure can still be
 * reported.
 *
 * Method: one byte through the socket is the parent's exit status: 0 when the
 * child is up, else the error's, which the child has written to standard error,
 * which both share until then. So the parent's exit does not depend on how long
 * other libraries take to end the child. If the socket closes without a byte,
 * the child was killed. They also share their session until then, so that an
 * interrupt from the terminal ends both.
 *
 * The working directory stays as it is, unlike in daemon(3): file names may be
 * relative to it, and files are opened again at signals.
 */
#include "sm/daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_KILLED	1

struct background {
	int starter;		/* socket to the parent; -1: the byte is sent */
	int null;
};

static struct background *
daemonize_fail(const char *what, GError **error)
{
	int e = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e),
		    "cannot run in the background: %s: %s", what,
		    g_strerror(e));
	return NULL;
}

struct background *
daemonize_fork(int *code, GError **error)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct background *b;
	int ends[2], status;
	unsigned char byte;
	pid_t child;
	ssize_t n;

	if (null < 0)
		return daemonize_fail("/dev/null", error);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		close(null);
		return daemonize_fail("socketpair", error);
	}
	fflush(NULL);		/* or both would write what is not written */
	child = fork();
	if (child == 0) {
		close(ends[0]);
		b = g_new(struct background, 1);
		*b = (struct background){ .starter = ends[1], .null = null };
		return b;
	}
	close(null);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return daemonize_fail("fork", error);
	}
	do
		n = read(ends[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	*code = n == 1 ? byte : EXIT_KILLED;
	if (n == 1)
		return NULL;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return NULL;
	if (WIFEXITED(status))
		*code = WEXITSTATUS(status);
	return NULL;
}

/* The parent may have been killed while it waited: no error. */
static void
daemonize_tell(struct background *b, int code)
{
	const unsigned char byte = (unsigned char)code;
	ssize_t told;

	if (b->starter < 0)
		return;
	told = send(b->starter, &byte, 1, MSG_NOSIGNAL);
	(void)told;
	close(b->starter);
	b->starter = -1;
}

void
daemonize_ready(struct background *b)
{
	if (!b || b->starter < 0)
		return;
	fflush(NULL);
	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(b->null, fd);
	daemonize_tell(b, 0);
}

void
daemonize_end(struct background *b, int code)
{
	if (!b)
		return;
	daemonize_tell(b, code);
	close(b->null);
	g_free(b);
}
