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
 * Flow: one byte through the socket means "up"; if the socket closes without
 * it, the new process has ended or is about to, and has said why on standard
 * error, which the two share until then. They also share their session until
 * then, so that an interrupt from the terminal ends both.
 *
 * The working folder stays as it is, unlike in daemon(3): names of files may be
 * relative to it, and they are opened again at signals.
 */
#include "sm/background.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
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
fail(const char *what, GError **error)
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
	char byte;
	int status;

	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	close(from);
	if (n == 1)
		return 0;
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
background_fork(int *code, GError **error)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];
	pid_t child;

	if (null < 0)
		return fail("/dev/null", error);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		close(null);
		return fail("socketpair", error);
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
		return fail("fork", error);
	}
	*code = wait_for(child, ends[0]);
	return NULL;
}

void
background_ready(struct background *b)
{
	ssize_t told;

	if (!b || b->starter < 0)
		return;
	fflush(NULL);
	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(b->null, fd);
	/* It may have been killed while it waited: so be it. */
	told = send(b->starter, "", 1, MSG_NOSIGNAL);
	(void)told;
	close(b->starter);
	b->starter = -1;
}

void
background_free(struct background *b)
{
	if (!b)
		return;
	if (b->starter >= 0)
		close(b->starter);
	close(b->null);
	g_free(b);
}

bool
background_write_pid(const char *path, GError **error)
{
	g_autofree char *text = NULL;

	if (!path)
		return true;
	text = g_strdup_printf("%ld\n", (long)getpid());
	if (g_file_set_contents(path, text, -1, error))
		return true;
	g_prefix_error(error, "--pidfile: ");
	return false;
}

void
background_remove_pid(const char *path)
{
	if (path)
		g_unlink(path);
}
