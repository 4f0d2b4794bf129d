// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files that a program keeps for itself: what is no regular file is neither
 * read nor replaced, and nothing blocks; a damaged one is set aside, and one
 * that cannot be read stays. What root makes is the folder's owner's. And files
 * that one process holds.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sm/lockfile.h"
#include "tests/lib/unit.h"
#include "topology/state_file.h"

#define TIME_LIMIT 300	/* s: what blocks is killed */

static char *folder;	/* in which the tests are */

static int
make_folder(void **state)
{
	alarm(TIME_LIMIT);
	folder = folder_enter();
	return 0;
}

static int
remove_folder(void **state)
{
	alarm(0);
	folder_leave(&folder);
	return 0;
}

static bool
take_good(void *data, const char *line, bool is_cut, GError **error)
{
	return g_str_has_prefix(line, "good") || text_refuse(error, "bad");
}

static void
read_good(void *data, char *text, size_t len, struct state_told *told)
{
	state_read_lines(text, len, take_good, NULL, told);
}

/* What is said; NULL: nothing. */
static char *
load(const char *path)
{
	g_autoptr(GPtrArray) said = g_ptr_array_new_with_free_func(g_free);
	struct state_told told = { .n_bad = 0 };

	state_file_load(path, false, read_good, NULL, &told, said);
	state_told_clear(&told);
	return said->len ? g_strdup(said->pdata[said->len - 1]) : NULL;
}

static bool
write_text(const char *path, const char *text, GError **error)
{
	g_autoptr(GString) s = g_string_new(text);

	return state_file_write(path, s, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
				error);
}

TEST(test_text_comes_back, make_folder, remove_folder)
{
	g_autofree char *text = NULL;
	GStatBuf st;

	assert_null(load("f"));
	assert_true(write_text("f", "good\n", NULL));
	assert_true(write_text("f", "good two\n", NULL));
	assert_null(load("f"));
	text = state_file_read("f", NULL);
	assert_string_equal(text, "good two\n");
	assert_int_equal(g_stat("f", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Line by line, behind those of before, and those of one file once. */
TEST(test_damaged_lines_are_set_aside, make_folder, remove_folder)
{
	static const struct {
		const char *bytes;
		gsize len;
	} files[] = {
		{ "\xef\xbb\xbfgood\nbad\ngood\0good", 21 },
		{ "good\nbad\ngood\0good", 18 },
		{ "good", 4 }, { "good\nbad", 8 },
	};
	g_autofree char *all = NULL;
	gsize len;

	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *told = NULL;

		assert_true(g_file_set_contents("f", files[i].bytes,
					(gssize)files[i].len, NULL));
		told = load("f");
		if (!i)
			assert_string_equal(told, "f: line 2: bad; damaged, "
				"and lost: 2 lines: they are set aside as "
				"f.damaged");
	}
	assert_true(g_file_get_contents("f.damaged", &all, &len, NULL));
	assert_int_equal(len, 18);
	assert_memory_equal(all, "bad\ngood\0good\nbad\n", len);
}

/* Neither read nor replaced, and what it leads to is as it was. */
static void
expect_left_alone(const char *path, mode_t type)
{
	g_autofree char *told = NULL;
	g_autoptr(GError) error = NULL;
	GStatBuf st;

	if (type != S_IFLNK) {
		told = load(path);
		assert_has(told, path);
	}
	assert_false(write_text(path, "good\n", &error));
	assert_has(error->message, path);
	assert_int_equal(g_lstat(path, &st), 0);
	assert_int_equal(st.st_mode & S_IFMT, type);
}

TEST(test_only_regular_files_are_read_and_replaced, make_folder, remove_folder)
{
	assert_int_equal(mkfifo("fifo", 0600), 0);
	expect_left_alone("fifo", S_IFIFO);
	assert_int_equal(g_mkdir("dir", 0700), 0);
	expect_left_alone("dir", S_IFDIR);
	expect_left_alone("/dev/full", S_IFCHR);
	folder_put(folder, "target", "theirs");
	assert_int_equal(symlink("target", "link"), 0);
	expect_left_alone("link", S_IFLNK);
	assert_file(folder, "target", "theirs");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	expect_left_alone("dangling", S_IFLNK);
}

#define SERVICE	1	/* some user that is not root */

/* In a child, as that user: true, or an error with the chown to type. */
static bool
service_fails(bool (*run)(const char *path, GError **error), const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		g_autofree char *hint = g_strdup_printf("chown --reference=%s "
							"%s", folder, path);
		GError *error = NULL;

		if (setgid(SERVICE) < 0 || setuid(SERVICE) < 0)
			_exit(2);
		_exit(run(path, &error) || !strstr(error->message, hint));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static bool
run_write(const char *path, GError **error)
{
	return write_text(path, "good\n", error);
}

static bool
run_check(const char *path, GError **error)
{
	return state_file_check(folder, error);
}

static bool
run_lock(const char *path, GError **error)
{
	return lockfile_take(path, error) != NULL;
}

static uid_t
owner_of(const char *path)
{
	GStatBuf st;

	assert_int_equal(g_lstat(path, &st), 0);
	return st.st_uid;
}

TEST(test_what_root_makes_is_the_folders_owners, make_folder, remove_folder)
{
	int fd;

	if (geteuid() != 0)
		skip();
	assert_true(g_file_set_contents("one", "root's", -1, NULL));
	assert_int_equal(chown(folder, SERVICE, SERVICE), 0);
	assert_true(write_text("guid2lid", "good\n", NULL));
	assert_true(write_text("a/b/f", "good\n", NULL));
	lockfile_free(lockfile_take("lock", NULL), false);
	assert_int_equal(owner_of("guid2lid"), SERVICE);
	assert_int_equal(owner_of("lock"), SERVICE);
	assert_int_equal(owner_of("a"), SERVICE);
	assert_int_equal(owner_of("a/b"), SERVICE);
	assert_int_equal(owner_of("a/b/f"), SERVICE);
	/* never a file that has another place as well */
	assert_int_equal(link("one", "other"), 0);
	fd = g_open("other", O_RDONLY, 0);
	state_file_give(fd, "other");
	close(fd);
	assert_int_equal(owner_of("other"), 0);
}

TEST(test_what_cannot_be_read_is_not_replaced, make_folder, remove_folder)
{
	static bool (*const runs[])(const char *, GError **) = {
		run_write, run_check, run_lock,
	};

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(folder, SERVICE, SERVICE), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
		const char *name = runs[i] == run_lock ? "lock" : "guid2mkey";
		g_autofree char *path = g_build_filename(folder, name, NULL);

		assert_true(g_file_set_contents_full(path, "",
			0, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
		print_message("%zu\n", i);
		assert_true(service_fails(runs[i], path));
		assert_int_equal(owner_of(path), 0);
	}
}

static bool
child_can_take(const char *path, char **why)
{
	int ends[2], status;
	char text[512];
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		GError *error = NULL;

		if (lockfile_take(path, &error))
			_exit(0);
		n = write(ends[1], error->message, strlen(error->message));
		_exit(n > 0 ? 1 : 2);
	}
	close(ends[1]);
	n = read(ends[0], text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (why)
		*why = g_strdup(text);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(test_one_process_holds_a_lock_file, make_folder, remove_folder)
{
	g_autofree char *want = g_strdup_printf("%d\n", (int)getpid());
	g_autofree char *name = g_strdup_printf("%d", (int)getpid());
	g_autofree char *why = NULL;
	g_autoptr(GError) error = NULL;
	struct lockfile *l;

	folder_put(folder, "pid", " 4711 \n");
	l = lockfile_take("pid", &error);
	assert_non_null(l);
	assert_false(child_can_take("pid", &why));
	assert_true(g_str_has_suffix(why, name));
	lockfile_free(l, false);
	assert_file(folder, "pid", want);
	assert_true(child_can_take("pid", NULL));
	/* as after a power cut */
	assert_true(g_file_set_contents("pid", "\0\0\0\0\0", 5, NULL));
	assert_true(child_can_take("pid", NULL));
}

/* As one that goes to the background. */
TEST(test_a_forked_process_keeps_the_lock, make_folder, remove_folder)
{
	g_autofree char *want = NULL, *why = NULL;
	struct lockfile *l = lockfile_take("pid", NULL);
	pid_t child;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		if (!lockfile_sign(l, NULL) || write(ends[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	lockfile_free(l, false);
	want = g_strdup_printf("process %d", (int)child);
	assert_false(child_can_take("pid", &why));
	assert_true(g_str_has_suffix(why, want));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(child_can_take("pid", NULL));
	close(ends[0]);
	close(ends[1]);
}

TEST(test_a_file_of_another_kind_is_no_lock_file, make_folder, remove_folder)
{
	static const char *const texts[] = {
		"sm_priority 5\n", "12 # the port\n",
		"11111111111111111111111111111111111111111111111111111\n",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
			g_autoptr(GError) error = NULL;

		folder_put(folder, "conf", texts[i]);
		assert_null(lockfile_take("conf", &error));
		assert_has(error->message, "more than a process number");
		assert_file(folder, "conf", texts[i]);
	}
}

/* The process that holds the lock finds its number in the file, however others
 * come and go. */
static void
take_and_leave(const char *path)
{
	g_autofree char *want = g_strdup_printf("%d\n", (int)getpid());

	for (unsigned i = 0; i < 2000; i++) {
		struct lockfile *l = lockfile_take(path, NULL);
		char read[32] = "";
		int fd;

		if (!l)
			continue;
		fd = g_open(path, O_RDONLY | O_CLOEXEC, 0);
		if (fd < 0 || pread(fd, read, sizeof(read) - 1, 0) <= 0 ||
		    strcmp(read, want))
			_exit(1);
		close(fd);
		lockfile_free(l, true);
	}
	_exit(0);
}

TEST(test_a_lock_file_that_goes_is_held_by_none, make_folder, remove_folder)
{
	pid_t children[4];
	int status;

	for (size_t i = 0; i < G_N_ELEMENTS(children); i++) {
		children[i] = fork();
		if (children[i] == 0)
			take_and_leave("pid");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(children); i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
}

TEST(test_lock_file_goes_with_its_owner_only, make_folder, remove_folder)
{
	struct lockfile *l = lockfile_take("pid", NULL);

	assert_non_null(l);
	lockfile_free(l, true);
	assert_false(g_file_test("pid", G_FILE_TEST_EXISTS));
	l = lockfile_take("pid", NULL);
	assert_non_null(l);
	g_unlink("pid");
	folder_put(folder, "pid", "another's\n");
	lockfile_free(l, true);
	assert_file(folder, "pid", "another's\n");
	lockfile_free(NULL, true);
}

TEST(test_lock_file_is_a_regular_file, make_folder, remove_folder)
{
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_null(lockfile_take("fifo", NULL));
	assert_int_equal(symlink("target", "link"), 0);
	assert_null(lockfile_take("link", NULL));
	assert_null(lockfile_take("no/pid", NULL));
	assert_null(lockfile_take(folder, NULL));
}
