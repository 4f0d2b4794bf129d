// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file that one process holds.
 *
 * The lock is flock()'s: a process that forks to go to the background hands it
 * on, and it ends with the process, however that ends, so a stale file does not
 * block a start.
 */
#include "sm/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topology/state_file.h"

#define FILE_MODE	0644

struct lockfile {
	char *path;
	int fd;
};

/* The number in the file, which may have blanks around it; 0: none, -1: there
 * is more. After a power cut some file systems have zeros in its place. */
static long
read_number(int fd)
{
	char text[32] = "";
	ssize_t n = pread(fd, text, sizeof(text), 0);

	for (ssize_t i = 0; i < n; i++)
		if (text[i] && !strchr("0123456789 \t\r\n", text[i]))
			return -1;
	return n >= 0 && (size_t)n < sizeof(text) ? strtol(text, NULL, 10) : -1;
}

/* Whether the file is (still) the one of that name. */
static bool
is_at(int fd, const char *path)
{
	struct stat here, ours;

	return fstat(fd, &ours) == 0 && lstat(path, &here) == 0 &&
		here.st_dev == ours.st_dev && here.st_ino == ours.st_ino;
}

static bool
lockfile_lock(int fd, const char *path, GError **error)
{
	long number = read_number(fd);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return state_file_fail(path, errno, error);
	if (!S_ISREG(st.st_mode)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s is not a regular file", path);
		return false;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (number >= 0)
			return true;
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: there is more than a process number in it, so "
			    "it is left as it is", path);
		return false;
	}
	if (errno != EWOULDBLOCK)
		return state_file_fail(path, errno, error);
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
		    "%s is held by process %ld", path, number);
	return false;
}

/* -1: an error. Another process may have removed the file between the two. */
static int
open_locked(const char *path, GError **error)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
			      O_NOCTTY | O_CLOEXEC, FILE_MODE);
		bool locked;

		if (fd < 0) {
			state_file_fail(path, errno, error);
			return -1;
		}
		locked = lockfile_lock(fd, path, error);
		if (locked && is_at(fd, path))
			return fd;
		close(fd);
		if (!locked)
			return -1;
	}
}

struct lockfile *
lockfile_take(const char *path, GError **error)
{
	int fd = open_locked(path, error);
	struct lockfile *l;

	if (fd < 0)
		return NULL;
	state_file_give(fd, path);
	l = g_new(struct lockfile, 1);
	l->path = g_strdup(path);
	l->fd = fd;
	if (lockfile_sign(l, error))
		return l;
	lockfile_free(l, false);
	return NULL;
}

/* A reader finds a number at any time, the old one or the new one. */
bool
lockfile_sign(struct lockfile *l, GError **error)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	return !l || (pwrite(l->fd, text, (size_t)n, 0) == n &&
		      ftruncate(l->fd, n) == 0) ||
		state_file_fail(l->path, errno, error);
}

void
lockfile_free(struct lockfile *l, bool away)
{
	if (!l)
		return;
	if (away && is_at(l->fd, l->path))
		unlink(l->path);
	close(l->fd);
	g_free(l->path);
	g_free(l);
}
