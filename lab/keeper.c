// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keeper is the parent of the programs in a lab, and of the daemons that
 * they leave. It ends all of them when its socket to the lab does, and removes
 * the folder of a lab that has not said that it does so itself: so nothing is
 * left of a lab that is killed.
 *
 *	lab				keeper
 *	length, words and environment>	forks, and executes the program
 *	SIGTERM --------------------->	the program gets it
 *		  <-------------------	its status
 *	length 0 -------------------->	the folder is the lab's to remove
 *	end of file ----------------->	SIGTERM to all, after a second SIGKILL
 *
 * It has a process group and a name of its own, against signals to those of the
 * lab (timeout -s KILL, killall); programs have the lab's group, which is that
 * of the terminal.
 */
#include "config.h"

#include "lab/keeper.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/device.h"
#include "tools/tool_options.h"

#define TICK_US		(10 * 1000)
#define TICKS		100u	/* for each of the two signals */

/* Of a program: argv and environment. */
#define REQUEST_TYPE	"(^aay^aay)"

/* ------------------------------------------------------------ in the keeper */

struct inside {
	int fd;
	pid_t group, program;	/* 0: none is waited for */
	sigset_t mask;		/* of programs */
	bool is_told;		/* that the lab ends in order */
};

/* Their own children become the keeper's, and get SIGTERM then: a shell ends before
 * its pipeline. */
static void
end_children(void)
{
	g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);

	for (unsigned n = 0; n < 2 * TICKS; n++) {
		g_autofree char *list = NULL;
		g_auto(GStrv) pids = NULL;
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;		/* there are none */
		g_file_get_contents("/proc/thread-self/children", &list, NULL,
				    NULL);
		pids = g_strsplit(list ? list : "", " ", -1);
		for (char **p = pids; *p; p++) {
			pid = atoi(*p);
			if (pid > 0 && (n >= TICKS || g_hash_table_add(told,
						GINT_TO_POINTER(pid))))
				kill(pid, n < TICKS ? SIGTERM : SIGKILL);
		}
		g_usleep(TICK_US);
	}
}

/* False: the lab is gone. */
static bool
serve(struct inside *k)
{
	g_autoptr(GVariant) request = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) argv = NULL, env = NULL;
	const int failed = W_EXITCODE(127, 0);
	gsize len;

	if (recv(k->fd, &len, sizeof(len), MSG_WAITALL) != sizeof(len))
		return false;
	k->is_told = !len;
	text = g_malloc(len);
	if (!len || recv(k->fd, text, len, MSG_WAITALL) != (ssize_t)len)
		return false;
	request = g_variant_ref_sink(g_variant_new_from_data(
		G_VARIANT_TYPE("(aayaay)"), text, len, TRUE, NULL, NULL));
	g_variant_get(request, REQUEST_TYPE, &argv, &env);
	k->program = fork();
	if (k->program == 0) {
		setpgid(0, k->group);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &k->mask, NULL);
		execvpe(argv[0], argv, env);
		tool_options_complain("%s: %s", argv[0], g_strerror(errno));
		_exit(127);
	}
	if (k->program < 0) {	/* no process: as if it could not be executed */
		k->program = 0;
		send(k->fd, &failed, sizeof(failed), MSG_NOSIGNAL);
	}
	return true;
}

static void
keep(struct inside *k)
{
	struct signalfd_siginfo signal;
	struct pollfd wait[2] = { { .fd = k->fd, .events = POLLIN } };
	sigset_t all;
	int status;
	pid_t pid;

	prctl(PR_SET_NAME, "lab-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&all);
	wait[1] = (struct pollfd){
		.fd = signalfd(-1, &all, SFD_CLOEXEC), .events = POLLIN,
	};
	for (;;) {
		if (poll(wait, 2, -1) < 0)
			continue;
		/* first, since a signal may be for this program */
		if (wait[0].revents && !serve(k))
			break;
		if (!wait[1].revents ||
		    read(wait[1].fd, &signal, sizeof(signal)) < 0)
			continue;
		if (signal.ssi_signo == SIGTERM && k->program)
			kill(k->program, SIGTERM);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != k->program)
				continue;
			k->program = 0;
			send(k->fd, &status, sizeof(status), MSG_NOSIGNAL);
		}
	}
	end_children();
}

/* --------------------------------------------------------------- in the lab */

bool
keeper_start(struct keeper *k, const char *dir, GError **error)
{
	struct inside inside = { .group = getpgrp() };
	sigset_t all;
	int pair[2];

	/* from its first moment: an interrupt at the prompt must not end it */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &inside.mask);
	k->pid = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ?
		-1 : fork();
	if (k->pid >= 0)
		setpgid(k->pid, 0);
	if (k->pid)
		sigprocmask(SIG_SETMASK, &inside.mask, NULL);
	if (k->pid < 0) {
		g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
			    "no process for programs: %s", g_strerror(errno));
		return false;
	}
	k->fd = pair[k->pid == 0];
	close(pair[k->pid != 0]);
	if (k->pid == 0) {
		inside.fd = k->fd;
		keep(&inside);
		if (!inside.is_told)
			device_remove_files(dir, "");
		_exit(EXIT_SUCCESS);
	}
	return true;
}

/* A status, or the end of the keeper. */
static gboolean
on_report(gint fd, GIOCondition condition, gpointer data)
{
	struct keeper *k = data;

	if (recv(fd, &k->status, sizeof(k->status), MSG_WAITALL) !=
	    sizeof(k->status))
		k->status = SIGKILL;
	k->runs = false;
	return G_SOURCE_REMOVE;
}

static void
await(struct keeper *k)
{
	k->runs = true;
	g_unix_fd_add(k->fd, G_IO_IN, on_report, k);
	while (k->runs)
		g_main_context_iteration(NULL, TRUE);
}

int
keeper_run(struct keeper *k, char **argv, char **env)
{
	g_autoptr(GVariant) request = g_variant_ref_sink(
		g_variant_new(REQUEST_TYPE, argv, env));
	gsize len = g_variant_get_size(request);

	send(k->fd, &len, sizeof(len), MSG_NOSIGNAL);
	send(k->fd, g_variant_get_data(request), len, MSG_NOSIGNAL);
	await(k);
	return WIFEXITED(k->status) ? WEXITSTATUS(k->status) :
		128 + WTERMSIG(k->status);
}

void
keeper_terminate(const struct keeper *k)
{
	kill(k->pid, SIGTERM);
}

void
keeper_stop(struct keeper *k)
{
	const gsize none = 0;

	send(k->fd, &none, sizeof(none), MSG_NOSIGNAL);
	await(k);
	close(k->fd);
	waitpid(k->pid, NULL, 0);
}
