// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log: a reader that holds its other end and does not read costs lines,
 * never time; the lines that are lost are counted; and what it may be written
 * to.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define TIME_LIMIT	300	/* s: a write that waits is killed */
#define SPAN_US		(10 * G_USEC_PER_SEC)	/* of a limit */
#define LINES		20000u

static int saved;	/* what was standard error */

static int
save_stderr(void **state)
{
	alarm(TIME_LIMIT);
	signal(SIGPIPE, SIG_IGN);	/* as in the daemon */
	saved = dup(STDERR_FILENO);
	return saved < 0;
}

static int
restore_stderr(void **state)
{
	alarm(0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	return 0;
}

static void
become_stderr(int fd)
{
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

/* A log to a pipe, whose other end is *far. */
static struct log *
log_to_pipe(enum log_level level, int *far)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	become_stderr(ends[1]);
	*far = ends[0];
	return log_open(NULL, level, NULL);
}

static void
say_many(struct log *log)
{
	for (unsigned i = 0; i < LINES; i++)
		log_say(log, LOG_INFO, "test", "line %u of many", i);
}

/* All that can be read now. */
static GString *
read_now(int fd)
{
	GString *text = g_string_new(NULL);
	char piece[4096];
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		g_string_append_len(text, piece, n);
	return text;
}

static unsigned
count(const GString *text, const char *part)
{
	unsigned n = 0;

	/* strstr() of AddressSanitizer looks at all that follows */
	for (gsize i = 0; i < text->len; i++)
		n += g_str_has_prefix(text->str + i, part);
	return n;
}

/* What was written and what was lost are all: `fd` is the other end. */
static void
expect_all_counted(struct log *log, int fd)
{
	g_autoptr(GString) before = read_now(fd);
	g_autoptr(GString) after = NULL;
	unsigned whole = count(before, " of many\n"), lost = 0;
	const char *told;

	assert_in_range(whole, 1, LINES - 1);
	log_say(log, LOG_INFO, "test", "the end");
	after = read_now(fd);
	told = strstr(after->str, "warning log: ");
	assert_non_null(told);
	assert_int_equal(sscanf(told, "warning log: %u lines", &lost), 1);
	assert_int_equal(whole + lost, LINES);
	assert_has(after->str, "info test: the end\n");
	log_say(log, LOG_INFO, "test", "behind it");
	g_string_free(after, TRUE);
	after = read_now(fd);
	assert_null(strstr(after->str, "lost"));
}

TEST(test_full_pipe_or_socket_costs_lines_only, save_stderr, restore_stderr)
{
	for (unsigned is_socket = 0; is_socket < 2; is_socket++) {
		AUTO(log) *log = log_open(is_socket ? "stderr" : NULL,
					  LOG_INFO, NULL);
		int ends[2];

		assert_int_equal(is_socket ? socketpair(AF_UNIX, SOCK_STREAM,
							0, ends) :
				 pipe(ends), 0);
		become_stderr(ends[1]);
		say_many(log);
		assert_false(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK);
		expect_all_counted(log, ends[0]);
		close(ends[0]);
		log_say(log, LOG_INFO, "test", "this is not read, ever");
	}
}

TEST(test_stopped_terminal_costs_lines_only, save_stderr, restore_stderr)
{
	int far = posix_openpt(O_RDWR | O_NOCTTY), near;
	struct log *log = log_open("/dev/stderr", LOG_INFO, NULL);
	struct termios t;

	if (far < 0 || grantpt(far) || unlockpt(far))
		skip();
	near = open(ptsname(far), O_RDWR | O_NOCTTY);
	assert_true(near >= 0);
	assert_int_equal(tcgetattr(near, &t), 0);
	cfmakeraw(&t);
	assert_int_equal(tcsetattr(near, TCSANOW, &t), 0);
	log_say(log, LOG_INFO, "test", "to where it was before");
	become_stderr(near);
	assert_int_equal(tcflow(STDERR_FILENO, TCOOFF), 0);
	log_say(log, LOG_INFO, "test", "stopped");
	assert_int_equal(tcflow(STDERR_FILENO, TCOON), 0);
	say_many(log);
	assert_false(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK);
	log_free(log);
	close(far);
}

TEST(test_regular_file_takes_all, save_stderr, restore_stderr)
{
	AUTO_ENTER(dir);
	struct log *log = log_open("log", LOG_INFO, NULL);
	g_autofree char *bytes = NULL;
	g_autoptr(GString) text = NULL;

	assert_non_null(log);
	say_many(log);
	log_free(log);
	bytes = folder_get(dir, "log");
	text = g_string_new(bytes);
	assert_int_equal(count(text, " of many\n"), LINES);
}

TEST(test_full_disk_is_no_end, save_stderr, restore_stderr)
{
	struct log *log = log_open("/dev/full", LOG_INFO, NULL);

	assert_non_null(log);
	log_say(log, LOG_INFO, "test", "for nothing");
	log_free(log);
	log = log_open("/dev/null", LOG_INFO, NULL);
	assert_non_null(log);
	log_free(log);
}

static void
expect_refused(const char *path)
{
	g_autoptr(GError) error = NULL;

	assert_null(log_open(path, LOG_INFO, &error));
	assert_has(error->message, path);
}

TEST(test_log_is_no_fifo_and_no_folder, save_stderr, restore_stderr)
{
	AUTO_ENTER(dir);
	int reader;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	expect_refused("fifo");
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	expect_refused("fifo");
	close(reader);
	expect_refused(dir);
}

/* Its names, without a stream of that name: standard output is cmocka's. */
TEST(test_names_of_standard_output, save_stderr, restore_stderr)
{
	static const char *const names[] = { "-", "stdout", "/dev/stdout" };
	int out = dup(STDOUT_FILENO);
	int ends[2];

	fflush(stdout);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		AUTO(log) *log = log_open(names[i], LOG_INFO, NULL);

		log_say(log, LOG_INFO, "test", "name %zu", i);
		log_reopen(log, NULL);
	}
	dup2(out, STDOUT_FILENO);
	close(out);
	close(ends[1]);

	g_autoptr(GString) text = read_now(ends[0]);

	close(ends[0]);
	assert_int_equal(count(text, "info test: name "), 3);
	assert_false(g_file_test("stdout", G_FILE_TEST_EXISTS));
}

/* The journal takes off the level; what begins with a time there has it twice.
 *  */
TEST(test_formats, save_stderr, restore_stderr)
{
	static const char hostile[] = "a \"node\"\\";
	g_autofree char *stream = NULL;
	g_autoptr(GString) text = NULL;
	struct stat st;
	struct log *log;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	become_stderr(ends[1]);
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	stream = g_strdup_printf("%ju:%ju", (uintmax_t)st.st_dev,
				 (uintmax_t)st.st_ino);
	g_setenv("JOURNAL_STREAM", stream, TRUE);
	log = log_open(NULL, LOG_DEBUG, NULL);
	log_say(log, LOG_ERROR, "test", "an error");
	log_say(log, LOG_WARNING, "test", "a warning");
	log_say(log, LOG_INFO, "test", "a fact");
	log_say(log, LOG_DEBUG, "test", "a step");
	log_set_format(log, LOG_JSON);
	log_say(log, LOG_WARNING, "test", "%s", hostile);
	log_set_format(log, LOG_TEXT);
	log_say(log, LOG_INFO, "test", "with a time");
	log_free(log);
	/* another stream than the journal's */
	g_setenv("JOURNAL_STREAM", "1:2", TRUE);
	log = log_open(NULL, LOG_DEBUG, NULL);
	log_say(log, LOG_INFO, "test", "also");
	log_free(log);
	g_unsetenv("JOURNAL_STREAM");
	text = read_now(ends[0]);
	close(ends[0]);
	assert_true(g_str_has_prefix(text->str, "<3>test: an error\n"
		"<4>test: a warning\n<6>test: a fact\n<7>test: a step\n"
		"{\"time\":\"20"));
	assert_has(text->str,
		   "\",\"gen\":0,\"level\":\"warning\",\"subsystem\":\"test\","
		   "\"message\":\"a \\\"node\\\"\\\\\"}\n20");
	assert_has(text->str, " info test: with a time\n20");
	assert_has(text->str, " info test: also\n");
}

/* Of a log: a process that is not run for a second does not move it. */
static gint64 clock_us;

static gint64
read_clock(void)
{
	return clock_us;
}

/* The timer that ends it is due then, not earlier and not much later. */
static void
expire(struct log *log, gint64 begun)
{
	GSource *timer = g_main_context_find_source_by_id(NULL, log->timer);
	gint64 early;

	assert_non_null(timer);
	early = g_source_get_ready_time(timer) - begun - SPAN_US;
	assert_in_range(early + G_USEC_PER_SEC, G_USEC_PER_SEC,
			g_get_monotonic_time() - begun + 2 * G_USEC_PER_SEC);
	clock_us += SPAN_US;
	g_source_set_ready_time(timer, 0);
	while (log->timer)
		g_main_context_iteration(NULL, TRUE);
}

/* What is held back is told, also if nothing like it comes any more: at the end
 * of the span by the main loop, and at the end of the log. */
TEST(test_what_a_limit_holds_back_is_told, save_stderr, restore_stderr)
{
	g_autoptr(GString) first = NULL, span = NULL, end = NULL;
	char reason[] = "bad";	/* the caller's, until the call returns */
	struct log *log;
	gint64 begun;
	int far;

	log = log_to_pipe(LOG_INFO, &far);
	log->now = read_clock;
	begun = g_get_monotonic_time();
	for (unsigned i = 0; i < 8; i++)
		log_limited(log, LOG_WARNING, "test", reason, "MAD %u", i);
	memset(reason, 'x', strlen(reason));
	log_limited(log, LOG_WARNING, "test", "worse", "one");
	first = read_now(far);
	assert_int_equal(count(first, " warning test: bad: MAD "), 5);
	assert_int_equal(count(first, " warning test: worse: one\n"), 1);
	assert_int_equal(count(first, "not written"), 0);
	expire(log, begun);
	span = read_now(far);
	assert_has(span->str, " warning test: bad: 3 more lines like this not "
		   "written, in 10 s\n");
	assert_int_equal(count(span, "not written"), 1);
	for (unsigned i = 0; i < 6; i++)
		log_limited(log, LOG_WARNING, "test", "bad", "MAD %u", i);
	log_free(log);
	end = read_now(far);
	close(far);
	assert_int_equal(count(end, " warning test: bad: MAD "), 5);
	assert_has(end->str, "bad: 1 more line like this");
}

TEST(test_each_line_of_a_text_has_its_level, save_stderr, restore_stderr)
{
	g_autoptr(GString) text = NULL;
	int far;
	struct log *log = log_to_pipe(LOG_INFO, &far);

	log_set_format(log, LOG_JOURNAL);
	log_say(log, LOG_ERROR, "conf", "%s", "a.conf:1: bad\na.conf:2: bad\n");
	log_free(log);
	text = read_now(far);
	close(far);
	assert_string_equal(text->str, "<3>conf: a.conf:1: bad\n"
			    "<3>conf: a.conf:2: bad\n");
}
