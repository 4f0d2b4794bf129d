// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minismctl: sends requests to a running minism, and prints the answers.
 *
 * Flow: options -> which socket -> the words as one line -> the answer, whose
 * first line is "minism 2 CODE LENGTH" and whose rest, of so many bytes, goes to
 * standard output, or to standard error if the request was not valid. Of an
 * answer that was cut off nothing is printed. Commands are defined by the
 * manager, which also answers wrong ones; only `help` works without a manager.
 * An answer may begin with the next request, which is sent a moment later.
 *
 * Which socket. Managers put theirs into one folder, by PortGUID. If there is
 * one, it is used; if there are several, an option has to name one. A socket on
 * which no process listens does not count.
 *
 * Exit status: that of the answer (enum control_code), 2 for wrong options, 3
 * if no manager answers, or its answer is cut off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/tool_options.h"
#include "sm/config/options.h"
#include "topology/text.h"

#define EXIT_USAGE	2
#define EXIT_NOBODY	3
#define PATIENCE_S	30
#define SUFFIX		".ctl"
#define HEAD		"minism 2 "
#define AGAIN		7	/* CONTROL_AGAIN */
#define AGAIN_US	200000u
#define WATCH_US	2000000u
#define CLEAR_SCREEN	"\033[H\033[2J"

struct ctl_arguments {
	int mode;
	char *socket, *guid;	/* NULL: not given */
	bool json, force, why, wait, follow, watch;
	char **words;
};

static const char help_summary[] =
	"Asks a running minism. COMMAND is one of\n"
	"  status [--watch]              how the subnet is\n"
	"  path A B [--why]              the way from A to B, and why\n"
	"  who NAME|LID|GUID             a node: names, cables, partitions\n"
	"  nodes [TEXT|switch|host]      all nodes, or some\n"
	"  links [TEXT|slow|inactive]    all cables, or some\n"
	"  ports NAME|LID|GUID           the ports of a node\n"
	"  groups                        multicast groups\n"
	"  members [MGID|MLID]           members of all groups, or of one\n"
	"  services                      services that clients registered\n"
	"  subscriptions                 clients that get Reports\n"
	"  sms                           the subnet managers of the fabric\n"
	"  metrics                       counters as OpenMetrics text\n"
	"  events [--follow]             what was logged lately\n"
	"  sweep [--wait]                sweep now, read everything again\n"
	"  accept [NODE|GUID]            what is missing or slow is to be so\n"
	"  reload                        read the site's files again\n"
	"  partitions [NAME|PKEY]        partitions and their members\n"
	"  partition add NAME|PKEY NODE|GUID[=full|limited|both]\n"
	"  partition set NAME|PKEY NODE|GUID full|limited|both\n"
	"  partition remove NAME|PKEY NODE|GUID\n"
	"  partition reset NAME|PKEY NODE|GUID\n"
	"  pause                         for maintenance: no sweeps\n"
	"  resume                        sweep and program again\n"
	"  priority [0-15]               SM priority, or change it\n"
	"  takeover                      become the master\n"
	"  config                        options, and where they come from\n"
	"  loglevel [LEVEL]              error, warning, info, verbose, debug\n"
	"  help                          what this manager understands";

static const char help_description[] =
	"Exit status: 0 done; 1 it could not be done; 2 wrong usage; 3 no "
	"manager answers, or it is cut off.\nOf status: 0 UP, 1 DEGRADED, 4 NOT UP, 5 STANDBY, "
	"6 FAILED.";

#define AT(member)	offsetof(struct ctl_arguments, member)

static const struct option options[] = {
	{ NULL, "socket", 's', &option_file, AT(socket), 0, 0, NULL,
	  "FILE", "The manager's control socket" },
	{ NULL, "guid", 'g', &option_name, AT(guid), 0, 0, NULL,
	  "GUID", "The manager on the port with this PortGUID" },
	OPTION_SWITCH("json", 'j', &option_bool, AT(json), 0, "Print JSON"),
	OPTION_SWITCH("force", 0, &option_bool, AT(force), 0,
		      "Change the partitions of the manager's own port, even "
		      "if other ports lose it"),
	OPTION_SWITCH("why", 0, &option_bool, AT(why), 0,
		      "Of a path: why each port"),
	OPTION_SWITCH("wait", 0, &option_bool, AT(wait), 0,
		      "Of sweep: until it has ended"),
	OPTION_SWITCH("follow", 'f', &option_bool, AT(follow), 0,
		      "Of events: also those to come"),
	OPTION_SWITCH("watch", 'w', &option_bool, AT(watch), 0,
		      "Ask again every 2 s"),
	TOOL_OPTIONS(AT(mode)),
};

static const struct option_table table = {
	.options = options,
	.n = G_N_ELEMENTS(options),
	.usage = "COMMAND",
	.summary = help_summary,
	.description = help_description,
};

/* --- which socket --- */

/* Connected; -1 with errno. */
static int
try_socket(const char *path)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
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
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static int
open_named(const char *path)
{
	int fd = try_socket(path);

	if (fd < 0)
		tool_options_complain("%s: %s%s", path, g_strerror(errno),
				      errno == ECONNREFUSED ? ": no manager "
				      "listens there any more" : "");
	return fd;
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The only manager that listens in the folder of sockets; -1: *status is the
 * exit status. */
static int
open_only(int *status)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *folder = options_control_dir();
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	g_autoptr(GString) alive = g_string_new(NULL);
	const char *name;
	guint n = 0;
	int fd = -1;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_suffix(name, SUFFIX))
			g_ptr_array_add(paths, g_build_filename(folder, name,
								NULL));
	g_ptr_array_sort(paths, compare_names);
	for (guint i = 0; i < paths->len; i++) {
		int next = try_socket(paths->pdata[i]);

		if (next < 0)
			continue;
		g_string_append_printf(alive, "%s%s", n ? ", " : "",
				       (char *)paths->pdata[i]);
		if (n++)
			close(next);
		else
			fd = next;
	}
	*status = EXIT_NOBODY;
	if (n == 0)
		tool_options_complain("no manager listens in %s (is one "
				      "running, and are you root or in its "
				      "group minism?)", folder);
	if (n <= 1)
		return fd;
	close(fd);
	*status = EXIT_USAGE;
	tool_options_complain("there are %u managers: %s; say which with "
			      "--socket or --guid", n, alive->str);
	return -1;
}

static int
open_guid(const char *text, int *status)
{
	g_autofree char *folder = options_control_dir(), *path = NULL;
	uint64_t guid;

	if (!text_read_number(text, 16, UINT64_MAX, &guid)) {
		tool_options_complain("--guid %s: not a GUID of up to 16 "
				      "hexadecimal digits", text);
		*status = EXIT_USAGE;
		return -1;
	}
	path = g_strdup_printf("%s/%016" G_GINT64_MODIFIER "x" SUFFIX, folder,
			       guid);
	return open_named(path);
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
read_answer(int fd, GString *answer)
{
	char buffer[65536];
	ssize_t n;

	do {
		n = recv(fd, buffer, sizeof(buffer), 0);
		if (n > 0)
			g_string_append_len(answer, buffer, n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	/* a refused client has an answer before the error */
	return n == 0 || answer->len > 0;
}

/* Prints; the exit status. CONTROL_AGAIN: the next request is in `line`. */
static int
print_answer(const GString *answer, GString *line)
{
	const char *body = strchr(answer->str, '\n'), *rest;
	size_t len;
	int code;

	if (body && sscanf(answer->str, HEAD "%d %zu", &code, &len) != 2) {
		tool_options_complain("what answers is no minism that this "
				      "minismctl knows");
		return EXIT_NOBODY;
	}
	if (!body++ || len != answer->len - (size_t)(body - answer->str)) {
		tool_options_complain("the answer is cut off, after %zu bytes",
				      answer->len);
		return EXIT_NOBODY;
	}
	if (code == AGAIN && (rest = strchr(body, '\n'))) {
		g_string_truncate(line, 0);
		g_string_append_len(line, body, rest + 1 - body);
		body = rest + 1;
	}
	if (code == EXIT_USAGE) {
		fputs(body, stderr);
		return code;
	}
	fputs(body, stdout);
	if (fflush(stdout) == 0)
		return code;
	tool_options_complain("standard output: %s", g_strerror(errno));
	return EXIT_FAILURE;
}

static GString *
make_line(const struct ctl_arguments *a)
{
	const struct {
		const char *text;
		bool given;
	} ends[] = {
		{ "--force", a->force }, { "--why", a->why },
		{ "--wait", a->wait }, { "--follow", a->follow },
	};
	GString *line = g_string_new(a->json ? "json" : NULL);

	for (guint i = 0; a->words[i]; i++) {
		g_autofree char *word = g_shell_quote(a->words[i]);

		g_string_append_printf(line, "%s%s", line->len ? " " : "",
				       word);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		if (ends[i].given)
			g_string_append_printf(line, " %s", ends[i].text);
	/* the line ends at the first newline, and a word cannot have one */
	g_strdelimit(line->str, "\n", '?');
	g_string_append_c(line, '\n');
	return line;
}

/* Without a manager to ask, the word is compared with the commands of the
 * summary. */
static void
complain_of_word(const char *word)
{
	g_auto(GStrv) lines = g_strsplit(help_summary, "\n", -1);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *shown = text_one_line(word), *near = NULL;

	for (guint i = 1; lines[i]; i++) {
		char *name = lines[i] + strspn(lines[i], " ");

		name[strcspn(name, " ")] = '\0';
		if (strcmp(name, word) == 0)
			return;
		g_ptr_array_add(names, name);
	}
	near = text_nearest(shown, "", (const char *const *)names->pdata,
			    names->len);
	tool_options_complain("there is no command %s%s", shown, near);
}

/* One question and its answer. */
static int
minismctl_ask(const struct ctl_arguments *a, GString *line)
{
	g_autoptr(GString) answer = g_string_new(NULL);
	int status = EXIT_NOBODY;
	int fd = a->socket ? open_named(a->socket) :
		a->guid ? open_guid(a->guid, &status) : open_only(&status);

	if (fd < 0) {
		complain_of_word(a->words[0]);
		return status;
	}
	if (send_line(fd, line) && read_answer(fd, answer)) {
		status = print_answer(answer, line);
	} else {
		tool_options_complain("the manager does not answer: %s",
				      errno == EAGAIN ? "it is busy" :
				      g_strerror(errno));
		status = EXIT_NOBODY;
	}
	close(fd);
	return status;
}

static int
minismctl_run(const struct ctl_arguments *a)
{
	g_autoptr(GString) line = NULL;
	int status = 0;

	if (!a->words || !a->words[0]) {
		tool_options_complain("COMMAND is missing; see minismctl --help");
		return EXIT_USAGE;
	}
	if (!a->socket && !a->guid && !a->words[1] &&
	    strcmp(a->words[0], "help") == 0) {
		puts(help_summary);
		return EXIT_SUCCESS;
	}
	line = make_line(a);
	/* until the user ends it, or the manager ends */
	while (a->watch && status != EXIT_USAGE && status != EXIT_NOBODY) {
		if (isatty(STDOUT_FILENO))
			fputs(CLEAR_SCREEN, stdout);
		status = minismctl_ask(a, line);
		g_usleep(WATCH_US);
	}
	while (!a->watch && (status = minismctl_ask(a, line)) == AGAIN)
		g_usleep(AGAIN_US);
	return status;
}

int
main(int argc, char **argv)
{
	struct ctl_arguments a = { .socket = NULL };
	int status = EXIT_USAGE;

	g_set_prgname("minismctl");
	if (tool_options_read(&table, &a, &a.mode, argc, argv, &a.words,
			      EXIT_USAGE, &status))
		status = minismctl_run(&a);
	option_free_texts(&table, &a);
	g_strfreev(a.words);
	return status;
}
