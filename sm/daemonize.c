// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Going to the background.
 *
 * Purpose: a script that starts the manager wants to go on when it runs, and to
 * fail when it does not. So the fork comes first, while there are no threads,
 * but the old process stays until the new one has opened its port.
 *
 * Structs: `background` is the new process's side: its end of a socket to the
 * old one, and the null device, opened in time to complain of it.
 *
 * Flow: one byte through the socket is the status to end with: 0 when the new
 * process is up, another when it cannot be, which it has said on standard
 * error, which the two share until then. So the old process does not depend on
 * what other libraries do while the new one ends. If the socket closes without
 * a byte, the new process was killed. They also share their session until then,
 * so that an interrupt from the terminal ends both.
 *
 * The working folder stays as it is, unlike in daemon(3): names of files may be
 * relative to it, and they are opened again at signals.
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
	int starter;		/* socket; -1: it has been told */
	int null;
};

static struct background *
daemonize_fail(const char *what, GError **error)
{
	int e = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e),
		    "cannot go to the background: %s: %s", what,
		    g_strerror(e));
	return NULL;
}

/* In the old process: what it is to end with. */
static int
wait_for(pid_t child, int from)
{
	ssize_t n;
	unsigned char byte;
	int status;

	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	close(from);
	if (n == 1)
		return byte;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_KILLED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_KILLED;
}

static struct background *
new_side(int starter, int null)
{
	struct background *b = g_new(struct background, 1);

	b->starter = starter;
	b->null = null;
	return b;
}

struct background *
daemonize_fork(int *code, GError **error)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];
	pid_t child;

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
		return new_side(ends[1], null);
	}
	close(null);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return daemonize_fail("fork", error);
	}
	*code = wait_for(child, ends[0]);
	return NULL;
}

/* It may have been killed while it waited: so be it. */
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
