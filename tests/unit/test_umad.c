// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transport over libibumad, against ibsim.
 *
 * The program runs twice. Outside, it makes a scratch folder, starts an ibsim
 * of its own in it and runs itself again with libumad2sim preloaded, and with
 * in test_umad_fault umad_fault.so before it, which is too slow for the test of
 * the window; inside, it is the tests. Time limits and the death of the parent
 * end both children. Without ibsim or its shim the tests are skipped.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <gio/gio.h>
#include <glob.h>

#include "sm/io/umad.h"
#include "sm/io/mad_client.h"
#include "sm/mad/rmpp.h"
#include "sm/mad/smp.h"
#include "tests/lib/auto.h"
#include "tests/lib/folder.h"
#include "tests/lib/rings.h"

#ifndef WITH_FAULTS
#define WITH_FAULTS	0	/* test_umad_fault: 1 */
#endif
#define INSIDE		"MINISM_TEST_UMAD_INSIDE"
#define TIME_LIMIT	100	/* s, of the tests inside */
#define MANY		20000u

/* Port 4 of the switch has no cable. */
static const char fabric[] =
	"Switch 4 \"S-0\"\n"
	"[1] \"H-1\"[1]\n"
	"[2] \"H-2\"[1]\n"
	"\n"
	"Hca 1 \"H-1\"\n"
	"[1] \"S-0\"[1]\n"
	"\n"
	"Hca 1 \"H-2\"\n"
	"[1] \"S-0\"[2]\n";

static const struct mad_addr permissive = { .lid = LID_PERMISSIVE };

/* ----------------------------------------------------------- inside: tests */

struct seen {
	struct mad_client *x;
	unsigned started, answered, timed_out, bad;
	uint8_t mad[MAD_SIZE];
};

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct seen *seen = data;

	if (a->outcome == MAD_CLIENT_TIMED_OUT) {
		seen->timed_out++;
		return;
	}
	seen->answered++;
	seen->bad += a->header.status != MAD_STATUS_OK ||
		a->header.attr_mod != tag;
	memcpy(seen->mad, a->mad, MAD_SIZE);
}

static void
ask(struct seen *seen, enum mad_attr attr, uint32_t mod,
    const struct dr_path *path)
{
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, attr, mod, 0, path);
	seen->started++;
	assert_int_not_equal(mad_client_start(seen->x, &permissive, mad,
					      on_done, seen, mod),
			     0);
}

static void
run_to_the_end(struct seen *seen, int64_t seconds)
{
	int64_t end = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;

	while (mad_client_pending(seen->x) > 0) {
		assert_true(g_get_monotonic_time() < end);
		g_main_context_iteration(NULL, TRUE);
	}
}

static struct transport *
open_any(void)
{
	const struct umad_choice choice = { .role = UMAD_ROLE_MANAGER };
	g_autoptr(GError) error = NULL;
	struct transport *t = umad_transport_open(&choice, &error);

	if (!t)
		fail_msg("%s", error->message);
	return t;
}

static void
expect_open_error(const struct umad_choice *choice, const char *part)
{
	g_autoptr(GError) error = NULL;

	assert_null(umad_transport_open(choice, &error));
	assert_true(g_error_matches(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_OPEN));
	if (!strstr(error->message, part) ||
	    !strstr(error->message, "ibsim0 port 1 0x"))
		fail_msg("message is: %s", error->message);
}

static void
test_open_of_a_wrong_port_says_what_there_is(void **state)
{
	expect_open_error(&(struct umad_choice) { .ca_name = "nosuch7" },
			  "usable port of nosuch7");
	expect_open_error(&(struct umad_choice) { .ca_name = "nosuch7",
						  .port_num = 2 },
			  "port 2 of nosuch7");
	expect_open_error(&(struct umad_choice) { .port_guid = 0x1234 },
			  "0x0000000000001234");
}

static void
test_local_node_info_is_read_by_no_hops(void **state)
{
	const struct mad_client_params params = { 1000, 3, 128 };
	const struct dr_path here = { .hops = 0 };
	AUTO(transport) *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };
	struct node_info info;

	assert_string_equal(t->name, "ibsim0 port 1");
	ask(&seen, MAD_ATTR_NODE_INFO, 0, &here);
	assert_int_equal(seen.answered, 0);
	run_to_the_end(&seen, 10);
	assert_int_equal(seen.answered, 1);
	assert_int_equal(seen.bad, 0);
	node_info_decode(smp_data(seen.mad), &info);
	assert_int_equal(info.node_type, NODE_CA);
	assert_int_equal(info.num_ports, 1);
	assert_int_equal(info.local_port, t->port_num);
	assert_true(info.port_guid == t->port_guid);
	mad_client_free(seen.x);
}

static void
test_port_is_found_by_its_guid_and_by_its_name(void **state)
{
	struct transport *t = open_any();
	struct umad_choice by_guid = {
		.port_guid = t->port_guid, .role = UMAD_ROLE_READER,
	};
	struct umad_choice by_name = {
		.ca_name = "ibsim0", .port_num = 1, .role = UMAD_ROLE_READER,
	};

	transport_free(t);
	t = umad_transport_open(&by_guid, NULL);
	assert_non_null(t);
	assert_true(t->port_guid == by_guid.port_guid);
	transport_free(t);
	t = umad_transport_open(&by_name, NULL);
	assert_non_null(t);
	assert_true(t->port_guid == by_guid.port_guid);
	assert_int_equal(t->port_num, 1);
	transport_free(t);
}

static void
feed(void *data)
{
	const struct dr_path paths[] = {
		{ .hops = 0 },
		{ .hops = 1, .port = { 0, 1 } },
		{ .hops = 2, .port = { 0, 1, 2 } },
	};
	struct seen *seen = data;

	while (mad_client_room(seen->x) > 0 && seen->started < MANY)
		ask(seen, MAD_ATTR_PORT_INFO, seen->started % 2,
		    &paths[seen->started % 3]);
}

static double
cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
		(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void
test_many_requests_at_a_full_window_all_come_back(void **state)
{
	const struct mad_client_params params = { 1000, 3, 128 };
	AUTO(transport) *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };
	int64_t begin = g_get_monotonic_time();
	double cpu = cpu_seconds();
	double wall;

	mad_client_set_pump(seen.x, feed, &seen);
	feed(&seen);
	run_to_the_end(&seen, 60);
	wall = (g_get_monotonic_time() - begin) / 1e6;
	cpu = cpu_seconds() - cpu;
	assert_int_equal(seen.started, MANY);
	assert_int_equal(seen.answered, MANY);
	assert_int_equal(seen.bad, 0);
	assert_in_range(mad_client_stats(seen.x)->window, 8, 128);
	assert_true(mad_client_stats(seen.x)->malformed == 0);
	print_message("%u MADs in %.3f s, %.0f a second, %.2f us CPU each\n",
		      MANY, wall, MANY / wall, cpu * 1e6 / MANY);
	mad_client_free(seen.x);
}

/* ibsim returns at once what leads nowhere: over without a timeout. */
static void
test_request_into_the_void_is_returned(void **state)
{
	const struct mad_client_params params = { 5000, 2, 128 };
	const struct dr_path away = { .hops = 2, .port = { 0, 1, 4 } };
	AUTO(transport) *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };
	int64_t begin = g_get_monotonic_time();

	ask(&seen, MAD_ATTR_NODE_INFO, 0, &away);
	run_to_the_end(&seen, 20);
	assert_int_equal(seen.timed_out, 1);
	assert_true(g_get_monotonic_time() - begin < 4 * G_USEC_PER_SEC);
	assert_true(mad_client_stats(seen.x)->sent == 3);
	mad_client_free(seen.x);
}

/* Answers to a window's worth of requests are on their way. */
static void
test_close_with_requests_out_is_quiet(void **state)
{
	const struct mad_client_params params = { 1000, 3, 128 };
	struct transport *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };
	const struct dr_path away = { .hops = 1, .port = { 0, 1 } };

	while (mad_client_room(seen.x) > 0)
		ask(&seen, MAD_ATTR_NODE_INFO, 0, &away);
	mad_client_free(seen.x);
	transport_free(t);
	assert_int_equal(seen.answered + seen.timed_out, 0);
}

static void
test_class_that_is_not_registered_is_refused(void **state)
{
	AUTO(transport) *t = open_any();
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE] = { 1, 0x07, 1, MAD_METHOD_GET };

	assert_false(transport_send(t, &permissive, mad, sizeof(mad), 100,
				    &error));
	assert_true(g_error_matches(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_SEND));
	assert_non_null(strstr(error->message, "0x07"));
}

struct events {
	unsigned returned, received;
};

static void
count_event(const struct transport_mad *m, void *data)
{
	struct events *e = data;

	e->returned += m->event == TRANSPORT_RETURNED;
	e->received += m->event == TRANSPORT_RECEIVED;
}

static void
fault(const char *words)
{
	assert_true(g_file_set_contents(g_getenv("UMAD_FAULT"), words, -1,
					NULL));
}

static bool
send_table(struct transport *t, GError **error)
{
	const struct mad_addr to = { .lid = 1, .qp = 1 };
	uint8_t mad[2 * MAD_SIZE] = { 1, MAD_CLASS_SA, 2, 0x92 };
	const struct rmpp_header r = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST, .segment = 1,
		.length = sizeof(mad),
	};

	rmpp_header_write(mad, &r);
	mad_set_tid(mad, 77);
	return transport_send(t, &to, mad, sizeof(mad), 0, error);
}

static void
run_for(int64_t us)
{
	int64_t end = g_get_monotonic_time() + us;

	while (g_get_monotonic_time() < end)
		if (!g_main_context_iteration(NULL, FALSE))
			g_usleep(1000);
}

/* The kernel gives it back with the TID of the client, which may be that of a
 * request of ours. */
static void
test_answer_that_is_not_acknowledged_is_no_request_of_ours(void **state)
{
	const struct dr_path here = { .hops = 0 };
	AUTO(transport) *t = open_any();
	struct events e = { 0 };
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE];

	transport_set_receiver(t, count_event, &e);
	fault("return-answers");
	assert_true(send_table(t, &error));
	run_for(300 * 1000);
	fault("");
	assert_int_equal(e.returned, 0);
	assert_int_equal(e.received, 0);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &here);
	mad_set_tid(mad, 77);
	assert_true(transport_send(t, &permissive, mad, sizeof(mad), 100,
				   &error));
	run_for(300 * 1000);
	assert_int_equal(e.received, 1);
}

/* A send that fails in the kernel never comes back. Once its time is over, the
 * end does not wait for its answer. */
static void
test_request_that_never_returns_is_given_up_by_time(void **state)
{
	const int *timeout = dlsym(RTLD_DEFAULT, "umad_fault_timeout");
	const struct dr_path here = { .hops = 0 };
	struct transport *t = open_any();
	struct events e = { 0 };
	uint8_t mad[MAD_SIZE];

	assert_non_null(timeout);
	transport_set_receiver(t, count_event, &e);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &here);
	fault("swallow");
	for (uint32_t tid = 1; tid <= 100; tid++) {
		mad_set_tid(mad, tid);
		assert_true(transport_send(t, &permissive, mad, sizeof(mad),
					   50, NULL));
	}
	fault("");
	run_for(300 * 1000);
	assert_true(transport_send(t, &permissive, mad, sizeof(mad), 5000,
				   NULL));
	while (!e.received)
		g_main_context_iteration(NULL, TRUE);
	assert_int_equal(e.returned, 0);
	transport_free(t);
	assert_int_equal(*timeout, 0);
}

static void
test_answer_that_is_under_way_is_no_error(void **state)
{
	AUTO(transport) *t = open_any();
	g_autoptr(GError) error = NULL;

	fault("refuse-answers");
	assert_true(send_table(t, &error));
	fault("");
	assert_null(error);
}

static void
test_timers_ring_in_order_and_not_early(void **state)
{
	struct rings r = { .t = open_any() };

	rings_expect_order(&r);
	transport_free(r.t);
}

static int
run_inside(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_of_a_wrong_port_says_what_there_is),
			cmocka_unit_test(test_local_node_info_is_read_by_no_hops),
		cmocka_unit_test(
		    test_port_is_found_by_its_guid_and_by_its_name),
		cmocka_unit_test(
		    test_many_requests_at_a_full_window_all_come_back),
		cmocka_unit_test(test_request_into_the_void_is_returned),
		cmocka_unit_test(test_close_with_requests_out_is_quiet),
		cmocka_unit_test(test_class_that_is_not_registered_is_refused),
		cmocka_unit_test(test_timers_ring_in_order_and_not_early),
	};

	const struct CMUnitTest faults[] = {
		cmocka_unit_test(
		    test_answer_that_is_not_acknowledged_is_no_request_of_ours),
		cmocka_unit_test(test_answer_that_is_under_way_is_no_error),
		cmocka_unit_test(
		    test_request_that_never_returns_is_given_up_by_time),
	};

	if (WITH_FAULTS)
		return cmocka_run_group_tests(faults, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ------------------------------------------------------- outside: the stage */

/* cmocka's own word for it, "not ok # SKIP", counts as a failure. */
static int
run_skipped(void)
{
	puts("1..0 # SKIP ibsim or its libumad2sim is not installed");
	return 0;
}

static char *
find_shim(void)
{
	glob_t found;
	char *path = NULL;

	if (glob("/usr/lib/*/umad2sim/libumad2sim.so", 0, NULL, &found) == 0 ||
	    glob("/usr/lib*/umad2sim/libumad2sim.so", 0, NULL, &found) == 0)
		path = g_strdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* With AddressSanitizer in a library of its own, that must come first. */
static char *
find_libasan(void)
{
	g_autofree char *maps = NULL;
	g_autoptr(GRegex) regex = NULL;
	g_autoptr(GMatchInfo) match = NULL;

	if (!g_file_get_contents("/proc/self/maps", &maps, NULL, NULL))
		return NULL;
	regex = g_regex_new("/\\S*libasan\\.so\\S*", 0, 0, NULL);
	if (!g_regex_match(regex, maps, 0, &match))
		return NULL;
	return g_match_info_fetch(match, 0);
}

static char **
client_environment(const char *shim)
{
	char **env = g_get_environ();
	g_autofree char *asan = find_libasan();
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *dir = g_path_get_dirname(self);
	g_autofree char *preload = g_strdup_printf("%s %s%s %s",
		asan ? asan : "", WITH_FAULTS ? dir : "",
		WITH_FAULTS ? "/tests/umad_fault.so" : "", shim);
	const char *options = g_environ_getenv(env, "ASAN_OPTIONS");
	g_autofree char *more = g_strconcat(options ? options : "",
					    options ? ":" : "",
					    "suppressions=asan.supp", NULL);

	env = g_environ_setenv(env, "LD_PRELOAD", preload, TRUE);
	env = g_environ_setenv(env, "UMAD_FAULT", "fault", TRUE);
	env = g_environ_setenv(env, INSIDE, "1", TRUE);
	env = g_environ_setenv(env, "ASAN_OPTIONS", more, TRUE);
	return g_environ_setenv(env, "LSAN_OPTIONS",
				"suppressions=lsan.supp:print_suppressions=0",
				TRUE);
}

/* In the scratch folder; it ends with its time limit or with us. */
static pid_t
spawn(const char *folder, char **argv, char **env, const char *out)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    chdir(folder) < 0)
		_exit(126);
	if (out && (!freopen(out, "w", stdout) ||
		    dup2(STDOUT_FILENO, STDERR_FILENO) < 0 ||
		    !freopen("/dev/null", "r", stdin)))
		_exit(126);
	alarm(TIME_LIMIT + 20);
	execve(argv[0], argv, env);
	_exit(127);
}

static bool
wait_for_socket(const char *name)
{
	g_autofree char *socket = g_strdup_printf("@%s:ctl", name);

	for (unsigned i = 0; i < 500; i++) {
		g_autofree char *text = NULL;

		if (g_file_get_contents("/proc/net/unix", &text, NULL, NULL) &&
		    strstr(text, socket))
			return true;
		g_usleep(20 * 1000);
	}
	return false;
}

static bool
write_in(const char *folder, const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);

	return g_file_set_contents(path, text, -1, NULL);
}

static int
run_client(const char *folder, const char *shim)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *argv[] = { self, NULL };
	g_auto(GStrv) env = client_environment(shim);
	int status = 1;
	pid_t pid;

	if (n < 0)
		return 1;
	self[n] = '\0';
	pid = spawn(folder, argv, env, NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSIGNALED(status))
		g_printerr("the tests were killed by signal %d\n",
			   WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int
run_outside(char *ibsim, const char *shim)
{
	g_autofree char *folder = g_dir_make_tmp("test_umad_XXXXXX", NULL);
	g_autofree char *name = g_strdup_printf("umad%ld", (long)getpid());
	char *argv[] = { ibsim, "-s", "-n", "-L", "49151", "fabric.net",
			 NULL };
	g_auto(GStrv) env = NULL;
	int result = 1;
	pid_t pid;

	if (!folder || !write_in(folder, "fabric.net", fabric) ||
	    !write_in(folder, "asan.supp",
		      "interceptor_via_lib:libumad2sim.so\n") ||
	    !write_in(folder, "lsan.supp", "leak:libumad2sim.so\n"))
		return 1;
	g_setenv("IBSIM_SOCKNAME", name, TRUE);
	g_setenv("SIM_HOST", "H-1", TRUE);
	env = g_get_environ();
	pid = spawn(folder, argv, env, "ibsim.log");
	if (pid > 0) {
		if (wait_for_socket(name))
			result = run_client(folder, shim);
		else
			g_printerr("ibsim did not start\n");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	folder_remove(folder);
	return result;
}

int
main(void)
{
	g_autofree char *ibsim = g_find_program_in_path("ibsim");
	g_autofree char *shim = find_shim();

	if (g_getenv(INSIDE)) {
		alarm(TIME_LIMIT);
		return run_inside();
	}
	if (!ibsim && g_file_test("/usr/sbin/ibsim", G_FILE_TEST_EXISTS))
		ibsim = g_strdup("/usr/sbin/ibsim");
	if (!ibsim || !shim)
		return run_skipped();
	return run_outside(ibsim, shim);
}
