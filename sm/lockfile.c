// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file that one process holds.
 *
 * The lock is fcntl()'s: it names its holder, and it ends with the process,
 * however that ends, so a stale file does not block a start. It is lost when
 * any descriptor of the file is closed, so nothing else here opens the file.
 */
#include "sm/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE	0644

struct lockfile {
	char *path;
	int fd;
};

static bool
lockfile_fail(GError **error, const char *path, int e)
{
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e), "%s: %s",
		    path, g_strerror(e));
	return false;
}

static bool
lockfile_lock(int fd, const char *path, GError **error)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return lockfile_fail(error, path, errno);
	if (!S_ISREG(st.st_mode)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s is not a regular file", path);
		return false;
	}
	if (fcntl(fd, F_SETLK, &lock) == 0)
		return true;
	if (errno != EACCES && errno != EAGAIN)
		return lockfile_fail(error, path, errno);
	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM,
		    "%s is held by process %ld", path, (long)lock.l_pid);
	return false;
}

struct lockfile *
lockfile_take(const char *path, GError **error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
		      O_NOCTTY | O_CLOEXEC, FILE_MODE);
	struct lockfile *l;
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (fd < 0) {
		lockfile_fail(error, path, errno);
		return NULL;
	}
	if (!lockfile_lock(fd, path, error)) {
		close(fd);
		return NULL;
	}
	/* a reader finds a number at any time, the old one or the new one */
	if (pwrite(fd, text, (size_t)n, 0) != n || ftruncate(fd, n) != 0) {
		lockfile_fail(error, path, errno);
		close(fd);
		return NULL;
	}
	l = g_new(struct lockfile, 1);
	l->path = g_strdup(path);
	l->fd = fd;
	return l;
}

void
lockfile_free(struct lockfile *l, bool away)
{
	struct stat here, ours;

	if (!l)
		return;
	if (away && fstat(l->fd, &ours) == 0 && lstat(l->path, &here) == 0 &&
	    here.st_dev == ours.st_dev && here.st_ino == ours.st_ino)
		unlink(l->path);
	close(l->fd);
	g_free(l->path);
	g_free(l);
}
