// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Going to the background: the starter learns how it went, from a process that
 * says that it is up, ends or is killed; and what the new process has left of
 * the old one's.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sm/daemonize.h"
#include "tests/lib/unit.h"

typedef void (*life_fn)(struct background *b, int told);

/* Lives a life in the new process, which is not to come back into the test;
 * what it writes to `told` is put into `text`. The code of the old one. */
static int
lead(life_fn life, char *text, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct background *b;
	int pipe_ends[2], code = -1;
	ssize_t n;

	assert_int_equal(pipe(pipe_ends), 0);
	b = daemonize_fork(&code, &error);
	if (b) {
		alarm(20);	/* whatever happens, no process stays behind */
		close(pipe_ends[0]);
		life(b, pipe_ends[1]);
		_exit(99);
	}
	assert_null(error);
	close(pipe_ends[1]);
	n = read(pipe_ends[0], text, size - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(pipe_ends[0]);
	return code;
}

static bool
is_null(int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat("/dev/null", &b) == 0 &&
		a.st_rdev == b.st_rdev && S_ISCHR(a.st_mode);
}

static void
tell(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(98);
}

static void
live_and_be_ready(struct background *b, int told)
{
	g_autoptr(GString) text = g_string_new(NULL);

	daemonize_ready(b);
	daemonize_ready(b);	/* once is enough, twice is no harm */
	g_string_append(text, getsid(0) == getpid() ? "own" : "same");
	for (int fd = 0; fd <= 2; fd++)
		g_string_append(text, is_null(fd) ? " null" : " open");
	tell(told, text->str);
	_exit(7);
}

TEST(test_starter_goes_when_it_is_up)
{
	char text[64];

	assert_int_equal(lead(live_and_be_ready, text, sizeof(text)), 0);
	assert_string_equal(text, "own null null null");
}

static void
live_and_fail(struct background *b, int told)
{
	tell(told, getsid(0) == getsid(getppid()) ? "same" : "own");
	_exit(3);
}

TEST(test_starter_ends_with_the_daemons_error)
{
	char text[64];

	assert_int_equal(lead(live_and_fail, text, sizeof(text)), 3);
	/* an interrupt at the terminal would end both */
	assert_string_equal(text, "same");
}

static void
live_and_give_up_first(struct background *b, int told)
{
	daemonize_end(b, 4);
	_exit(4);
}

static void
live_and_be_killed(struct background *b, int told)
{
	kill(getpid(), SIGKILL);
}

TEST(test_starter_does_not_wait_for_the_dead)
{
	char text[64];

	assert_int_equal(lead(live_and_be_killed, text, sizeof(text)), 1);
	assert_int_equal(lead(live_and_give_up_first, text, sizeof(text)), 4);
}

/* What has been printed and is still in a buffer is printed once. */
static void
live_and_print(struct background *b, int told)
{
	fflush(NULL);
	_exit(0);
}

TEST(test_buffers_are_written_once)
{
	g_autofree char *path = NULL;
	g_autofree char *text = NULL;
	int fd = g_file_open_tmp("minism-background-XXXXXX", &path, NULL);
	FILE *file = fdopen(fd, "w");
	char told[8];

	assert_non_null(file);
	fputs("once", file);
	lead(live_and_print, told, sizeof(told));
	fclose(file);
	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	assert_string_equal(text, "once");
	g_unlink(path);
}

/* It tells, and then it does not end: other libraries may do so at exit. */
static void
live_and_hang(struct background *b, int told)
{
	daemonize_end(b, 5);
	sleep(1);
	_exit(6);
}

TEST(test_starter_does_not_wait_for_the_end)
{
	char text[64];

	assert_int_equal(lead(live_and_hang, text, sizeof(text)), 5);
	daemonize_ready(NULL);
	daemonize_end(NULL, 0);
}
