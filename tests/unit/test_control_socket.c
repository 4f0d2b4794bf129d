// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The control socket: one request a connection, a client that is slow or
 * babbles pays for it alone, and whose file it is. Clients and server share one
 * thread; the main context is turned until a client has its answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <unistd.h>
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "sm/control/control_socket.h"
#include "tests/lib/unit.h"

#define PATIENCE_MS	500u	/* where it has to run out, */
#define LONG_MS		60000u	/* and where it must not */
#define MAX_CLIENTS	4u
#define PLACE		"sub/socket"
#define N_LINES		20000u	/* an answer that no socket's buffer holds */

struct setup {
	char *folder;		/* in which the tests are */
	struct log *log;
	struct control_hooks hooks;
	struct control_socket *s;
	unsigned sweeps, takes_us;
	struct status *status;
	struct partition_rules *rules;
	struct sweep sweep;	/* with rivals */
	struct mad_client client;
	struct mcast_manager mcast;
	struct sa_server_stats desk;
	struct sa sa;		/* with a view, or NULL */
	GBytes *page;		/* NULL: it is being made */
};

static void
look(struct control_view *out, void *data)
{
	struct setup *t = data;

	memset(out, 0, sizeof(*out));
	out->status = t->status;
	out->rules = t->rules;
	out->log = t->log;
	out->sweep = &t->sweep;
	out->mcast = &t->mcast;
	out->desk = &t->desk;
	out->sa = t->sa.view ? &t->sa : NULL;
}

static void
note_sweep(void *data)
{
	struct setup *t = data;

	g_usleep(t->takes_us);
	t->sweeps++;
}

static unsigned patience = LONG_MS;
static const char *group;

static struct control_socket *
open_at(struct setup *t, const char *path, GError **error)
{
	const struct control_socket_params params = {
		.max_clients = MAX_CLIENTS, .patience_ms = patience,
		.group = group,
	};

	return control_socket_open(path, &t->hooks, &params, t->log, error);
}

static void
setup_open(struct setup *t)
{
	t->folder = folder_enter();
	t->log = log_open(NULL, LOG_ERROR, NULL);
	t->hooks.look = look;
	t->hooks.sweep = note_sweep;
	t->hooks.data = t;
	t->status = status_new();
	t->rules = partition_rules_new();
	t->sweep.x = &t->client;
	t->sweep.flaps = flaps_new(&t->sweep.params.flaps);
	t->mcast.lost = g_ptr_array_new();
	t->sweep.rivals = g_ptr_array_new_with_free_func(g_free);
	for (unsigned i = 1; i <= N_LINES; i++)
		g_ptr_array_add(t->sweep.rivals, g_strdup_printf("manager %u", i));
	t->s = open_at(t, PLACE, NULL);
	assert_non_null(t->s);
}

static void
setup_close(struct setup *t)
{
	control_socket_close(t->s);
	log_free(t->log);
	status_free(t->status);
	partition_rules_unref(t->rules);
	g_ptr_array_unref(t->sweep.rivals);
	g_ptr_array_unref(t->mcast.lost);
	flaps_free(t->sweep.flaps);
	folder_leave(&t->folder);
}

FIXTURE(setup)

static int
setup_impatient(void **state)
{
	int status;

	patience = PATIENCE_MS;
	group = "daemon";
	status = setup_new(state);
	patience = LONG_MS;
	group = NULL;
	return status;
}

/* --- clients --- */

/* -1: not permitted. */
static int
try_dial(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	g_strlcpy(to.sun_path, path, sizeof(to.sun_path));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	assert_int_equal(errno, EACCES);
	close(fd);
	return -1;
}

static int
dial(const char *path)
{
	int fd = try_dial(path);

	assert_true(fd >= 0);
	return fd;
}

static void
turn(unsigned times)
{
	while (times--)
		g_main_context_iteration(NULL, FALSE);
}

static void
say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
			 strlen(text));
	turn(4);
}

/* All up to the end of the connection; turns the loop meanwhile. NULL: no end
 * in a time that a slow machine needs. */
static char *
hear(int fd)
{
	GString *answer = g_string_new(NULL);
	int64_t end = g_get_monotonic_time() + LONG_MS * 1000ll;
	char buffer[4096];
	ssize_t n = -1;

	while (g_get_monotonic_time() < end) {
		turn(1);
		n = recv(fd, buffer, sizeof(buffer), 0);
		if (n > 0)
			g_string_append_len(answer, buffer, n);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		if (n < 0)
			g_usleep(200);
	}
	close(fd);
	return g_string_free(answer, n < 0 && errno == EAGAIN);
}

/* It is answered so, or its answer begins so. */
static void
expect_heard(int fd, const char *begin)
{
	g_autofree char *answer = hear(fd);

	assert_non_null(answer);
	assert_true(g_str_has_prefix(answer, begin));
}

static int
ask(const char *text)
{
	int fd = dial(PLACE);

	say(fd, text);
	return fd;
}

#define DONE	"minism 2 0 "
#define SWEEPS	DONE "21\na heavy sweep begins\n"

/* --- requests --- */

/* Without a descriptor for a client that waits, the loop has nothing to do. */
SETUP_TEST(test_no_descriptor_is_no_spin)
{
	int fd = dial(PLACE), full[256], n = 0;
	struct rlimit old, low;
	unsigned busy = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 256;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	while (n < 256 && (full[n] = dup(fd)) >= 0)
		n++;
	for (unsigned i = 0; i < 100; i++)
		busy += g_main_context_iteration(NULL, FALSE);
	while (n > 0)
		close(full[--n]);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_in_range(busy, 0, 20);
	/* it is served when there is one */
	say(fd, "sweep\n");
	expect_heard(fd, SWEEPS);
}

/* One request a connection, however it comes. */
SETUP_TEST(test_a_line_is_answered_and_the_connection_ends)
{
	static const struct {
		const char *sent;
		size_t len, piece;
		bool hang_up;	/* the end of the client ends the line */
		const char *begin;
		unsigned sweeps;
	} cases[] = {
		{ "sweep\n", 6, 6, false, SWEEPS, 1 },
		{ "json sweep\r\n", 12, 12, false, "minism 2 0 47\n{\"done\":true,"
		  "\"message\":\"a heavy sweep begins\"}\n", 1 },
		{ "sweep\n", 6, 2, false, SWEEPS, 1 },
		{ "sweep", 5, 5, true, SWEEPS, 1 },
		{ "sweep\nsweep\nsweep\n", 18, 18, false, SWEEPS, 1 },
		{ "sweep\0 now\n", 11, 11, false, "minism 2 2 ", 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		int fd = dial(PLACE);

		t->sweeps = 0;
		for (size_t at = 0; at < cases[i].len; at += cases[i].piece) {
			assert_int_equal(t->sweeps, 0);
			assert_int_equal(send(fd, cases[i].sent + at,
					      cases[i].piece, MSG_NOSIGNAL),
					 cases[i].piece);
			turn(4);
		}
		if (cases[i].hang_up)
			shutdown(fd, SHUT_WR);
		expect_heard(fd, cases[i].begin);
		assert_int_equal(t->sweeps, cases[i].sweeps);
	}
}

SETUP_TEST(test_babble_without_a_newline_is_cut_off)
{
	int fd = dial(PLACE);
	char block[1000];
	g_autofree char *answer = NULL;

	memset(block, 'x', sizeof(block));
	for (unsigned i = 0; i < 100; i++)
		send(fd, block, sizeof(block), MSG_NOSIGNAL);
	answer = hear(fd);
	assert_true(g_str_has_prefix(answer, "minism 2 2 "));
	assert_has(answer, "too long");
}

/* --- slow and many --- */

TEST(test_a_silent_client_is_let_go, setup_impatient, setup_free)
{
	int64_t began = g_get_monotonic_time();
	int fd = dial(PLACE);
	g_autofree char *answer = hear(fd);

	assert_string_equal(answer, "");
	assert_true((g_get_monotonic_time() - began) / 1000 >=
		    PATIENCE_MS - 20);
}

SETUP_TEST(test_a_long_answer_comes_whole)
{
	g_autofree char *answer = hear(ask("view status\n"));
	g_auto(GStrv) rivals = g_strsplit(answer, "#rival ", -1);

	assert_int_equal(g_strv_length(rivals), 1 + N_LINES);
	assert_true(g_str_has_prefix(rivals[N_LINES], "manager 20000\n"));
	assert_has(answer, "\n#end 0\n");
}

/* One that asks and does not read holds its place, and no other client; then it
 * has lost the rest. */
TEST(test_one_that_does_not_read_is_let_go, setup_impatient, setup_free)
{
	int deaf = ask("view status\n");
	struct pollfd end = { .fd = deaf };	/* POLLHUP needs no asking */
	g_autofree char *answer = NULL;

	expect_heard(ask("sweep\n"), SWEEPS);
	for (unsigned i = 0; i < LONG_MS && poll(&end, 1, 1) == 0; i++)
		turn(1);
	assert_int_equal(end.revents, POLLHUP);
	answer = hear(deaf);
	assert_true(g_str_has_prefix(answer, DONE));
	assert_null(strstr(answer, "manager 20000\n"));
}

static void
expect_whole(int fd)
{
	g_autofree char *answer = hear(fd);

	assert_non_null(answer);
	assert_has(answer, " manager 20000\n");
}

/* What the manager computes for one is not taken from anybody's time. */
TEST(test_time_that_is_computed_is_no_patience, setup_impatient, setup_free)
{
	struct setup *t = *state;
	int idle = dial(PLACE);

	turn(4);
	t->takes_us = (PATIENCE_MS + 100) * 1000;
	expect_heard(ask("sweep\n"), SWEEPS);
	t->takes_us = 0;
	say(idle, "sweep\n");
	expect_heard(idle, SWEEPS);
}

SETUP_TEST(test_clients_that_go_leave_nothing_behind)
{
	for (unsigned i = 0; i < 200; i++) {
		int fd = dial(PLACE);

		if (i % 2)
			say(fd, i % 4 == 1 ? "swe" : "help\n");
		close(fd);
		turn(4);
	}
	expect_heard(ask("sweep\n"), SWEEPS);
	/* and an open one when the server goes */
	close(dial(PLACE));
	dial(PLACE);
	turn(4);
}

/* --- the file --- */

static gid_t
expect_mode(mode_t mode)
{
	struct stat st;

	assert_int_equal(stat(PLACE, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | mode);
	return st.st_gid;
}

static void
reopen_for(struct setup *t, const char *name)
{
	control_socket_close(t->s);
	group = name;
	t->s = open_at(t, PLACE, NULL);
	group = NULL;
	assert_non_null(t->s);
}

/* A group that there is not leaves it to its owner, too. */
SETUP_TEST(test_only_the_owner_may_open_it)
{
	expect_mode(0600);
	reopen_for(t, "no-such-group");
	expect_mode(0600);
}

#define STRANGER	65534	/* nobody's user id */

/* As one with these ids. */
static int
dial_as(struct setup *t, uid_t uid, gid_t gid, gid_t supplementary)
{
	gid_t own[64];
	int n = getgroups(G_N_ELEMENTS(own), own), fd;

	assert_int_equal(chmod(t->folder, 0755), 0);
	assert_int_equal(setgroups(1, &supplementary), 0);
	assert_int_equal(setegid(gid) + seteuid(uid), 0);
	fd = try_dial(PLACE);
	assert_int_equal(seteuid(0) + setegid(0), 0);
	assert_int_equal(setgroups((size_t)n, own), 0);
	return fd;
}

static bool
may_sweep(struct setup *t, uid_t uid, gid_t gid, gid_t supplementary)
{
	int fd = dial_as(t, uid, gid, supplementary);

	if (fd >= 0) {
		say(fd, "sweep\n");
		expect_heard(fd, SWEEPS);
	}
	return fd >= 0;
}

SETUP_TEST(test_a_group_is_let_in)
{
	const struct group *daemon = getgrnam("daemon");
	gid_t gid;

	if (geteuid() != 0 || !daemon)
		skip();
	/* root's group is no root */
	assert_false(may_sweep(t, STRANGER, 0, 0));
	gid = daemon->gr_gid;
	reopen_for(t, "daemon");
	assert_int_equal(expect_mode(0660), gid);
	assert_true(may_sweep(t, STRANGER, gid, STRANGER));
	assert_true(may_sweep(t, STRANGER, STRANGER, gid));
	assert_false(may_sweep(t, STRANGER, STRANGER, STRANGER));
}

/* Its clients are being served, all at once. */
SETUP_TEST(test_a_group_does_not_keep_root_out)
{
	const struct group *daemon = getgrnam("daemon");
	int fd[MAX_CLIENTS];

	if (geteuid() != 0 || !daemon)
		skip();
	reopen_for(t, "daemon");
	for (unsigned i = 0; i < MAX_CLIENTS; i++) {
		fd[i] = dial_as(t, STRANGER, daemon->gr_gid, 0);
		say(fd[i], "view status\n");
	}
	expect_heard(ask("sweep\n"), SWEEPS);
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		expect_whole(fd[i]);
}

/* Not to one that comes with them, nor to one of a group that would have no place
 * among root's all the same. */
TEST(test_idle_clients_give_way, setup_impatient, setup_free)
{
	const struct group *daemon = geteuid() ? NULL : getgrnam("daemon");
	struct setup *t = *state;
	int fd[2 * MAX_CLIENTS];
	char c;

	for (unsigned i = 0; i < G_N_ELEMENTS(fd); i++) {
		fd[i] = i || !daemon ? dial(PLACE) :
			dial_as(t, STRANGER, daemon->gr_gid, 0);
		turn(1);
	}
	expect_heard(ask("sweep\n"), "minism 2 1 36\ntoo many clients");
	g_usleep(PATIENCE_MS * 1000 / 5);
	turn(G_N_ELEMENTS(fd));
	if (daemon)
		expect_heard(dial_as(t, STRANGER, daemon->gr_gid, 0),
			     "minism 2 1 36\ntoo many clients");
	assert_int_equal(recv(fd[0], &c, 1, 0), -1);
	expect_heard(ask("sweep\n"), SWEEPS);
	assert_int_equal(recv(fd[0], &c, 1, 0), 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(fd); i++)
		close(fd[i]);
}

static void
expect_refused(struct setup *t, const char *path, const char *why)
{
	g_autoptr(GError) error = NULL;

	assert_null(open_at(t, path, &error));
	assert_has(error->message, why);
}

SETUP_TEST(test_a_live_one_is_left_alone)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *me = g_strdup_printf("process %ld,", (long)getpid());

	assert_null(open_at(t, PLACE, &error));
	assert_gerror(error, G_FILE_ERROR, G_FILE_ERROR_EXIST);
	assert_has(error->message, me);
	expect_heard(ask("sweep\n"), SWEEPS);
}

SETUP_TEST(test_a_dead_one_is_replaced)
{
	struct sockaddr_un at = { AF_UNIX, "other" };
	struct control_socket *s;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	s = open_at(t, "other", NULL);
	close(dial("other"));
	turn(4);
	control_socket_close(s);
	assert_false(g_file_test("other", G_FILE_TEST_EXISTS));
}

SETUP_TEST(test_what_is_no_socket_stays)
{
	folder_put(t->folder, "other", "mine");
	expect_refused(t, "other", "something else");
	assert_file(t->folder, "other", "mine");
}

SETUP_TEST(test_close_removes_its_own_file_only)
{
	struct control_socket *second;

	g_unlink(PLACE);
	second = open_at(t, PLACE, NULL);
	control_socket_close(t->s);
	t->s = second;
	assert_true(g_file_test(PLACE, G_FILE_TEST_EXISTS));
	close(dial(PLACE));
}

SETUP_TEST(test_bad_places_are_told)
{
	g_autofree char *longer = g_strnfill(200, 'x');

	expect_refused(t, longer, "107 bytes");
	expect_refused(t, "/proc/no/socket", "/proc/no");
}

/* ---- the view ---- */

static GBytes *
page_of_job(bool tables, uint64_t *number, void *data)
{
	struct setup *t = data;

	*number = 5;
	return t->page;
}

/* The loop does not wait for a page that is made beside it. */
SETUP_TEST(test_page_that_is_being_made_is_asked_for_again)
{
	g_autoptr(GString) first = g_string_new(NULL);
	g_autoptr(GBytes) page = g_bytes_new_static("all of it", 9), rest = NULL;

	t->sa.view = (void *)t;		/* it is not looked at */
	t->hooks.view = page_of_job;
	assert_null(control_answer(&t->hooks, "view", first));
	assert_string_equal(first->str, "minism 2 7 13\nagain 5 view\n");
	t->page = page;
	g_string_truncate(first, 0);
	rest = control_answer(&t->hooks, "again 5 view", first);
	g_string_append(first, g_bytes_get_data(rest, NULL));
	assert_string_equal(first->str, "minism 2 0 9\nall of it");
}

/* A client that is slow still gets the whole text when there is a newer one. */
SETUP_TEST(test_text_stays_while_it_is_read)
{
	enum { MANY = 3000000 };
	g_autofree char *text = g_strnfill(MANY, 'x'), *answer = NULL;
	int fd;

	t->sa.view = (void *)t;		/* it is not looked at */
	t->hooks.view = page_of_job;
	reopen_for(t, NULL);
	t->page = g_bytes_new(text, MANY);
	fd = ask("view\n");
	g_clear_pointer(&t->page, g_bytes_unref);
	answer = hear(fd);
	assert_true(g_str_has_prefix(answer, DONE "3000000\n"));
	assert_string_equal(answer + strlen(DONE "3000000\n"), text);
}

static uint64_t
make_view(struct views *views)
{
	struct view_values *v = g_new0(struct view_values, 1);

	v->s = generate_fabric("PGFT(2,2;1,2)", NULL, NULL);
	v->lids = lid_assign(v->s, 0, NULL, 0, NULL, NULL);
	v->before = g_string_new(NULL);
	return views_make(views, v);
}

/* However fast sweeps follow each other, a view that was begun is finished and
 * is the answer for those who waited. */
TEST(test_view_that_was_begun_is_finished)
{
	struct beside *beside = beside_new(NULL, 0);
	struct views *views = views_new(beside, NULL, NULL);
	int64_t begun = g_get_monotonic_time();
	uint64_t first = make_view(views), waits = first, comes = 0;
	GBytes *text;

	do {
		views_expire(views);
		g_main_context_iteration(NULL, TRUE);
		text = views_get(views, &waits);
	} while (!text);
	assert_has(g_bytes_get_data(text, NULL), "#end 0\n");
	assert_int_equal(waits, first);
	/* for a second */
	assert_true(views_get(views, &comes) == text ||
		    g_get_monotonic_time() - begun >= G_USEC_PER_SEC);
	views_expire(views);
	assert_null(views_get(views, &comes));
	assert_int_equal(comes, 0);
	/* two that are being made at the end */
	assert_int_equal(make_view(views), first + 1);
	assert_int_equal(make_view(views), first + 2);
	assert_null(views_get(views, &comes));
	assert_int_equal(comes, first + 2);
	views_free(views);
	assert_true(beside_free(beside, LONG_MS * 1000ll));
}
