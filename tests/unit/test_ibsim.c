// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transport over ibsim's own datagrams, against an ibsim that the program
 * starts for itself in a scratch folder; its death is the last test. Without
 * ibsim the tests are skipped.
 */
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

#include "sm/io/ibsim.h"
#include "sm/io/xact.h"
#include "sm/wire/notice.h"
#include "sm/wire/smp.h"
#include "tests/lib/rings.h"

#define TIME_LIMIT	100	/* s */
#define MANY		100000u
#define SLOTS		10u

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
static const struct xact_params params = { 1000, 3, 128 };
static const struct dr_path here = { .hops = 0 };
static const struct dr_path there = { .hops = 1, .port = { 0, 1 } };

/* H-1 and H-2 seen from each other, and their switch. */
static const struct dr_path h1_to_h2 = { .hops = 2, .port = { 0, 1, 2 } };
static const struct dr_path h2_to_h1 = { .hops = 2, .port = { 0, 1, 1 } };

struct stage {
	char *folder, *sockname;
	pid_t ibsim;
};

/* ----------------------------------------------------------------- helpers */

struct seen {
	struct xact *x;
	unsigned started, answered, timed_out, bad;
	uint8_t mad[MAD_SIZE];
};

static void
on_done(const struct xact_answer *a, void *data, uint64_t tag)
{
	struct seen *seen = data;

	if (a->outcome == XACT_TIMED_OUT) {
		seen->timed_out++;
		return;
	}
	seen->answered++;
	seen->bad += a->header.status != MAD_STATUS_OK ||
		a->header.attr_mod != tag;
	memcpy(seen->mad, a->mad, MAD_SIZE);
}

static void
start(struct seen *seen, enum mad_method method, enum mad_attr attr,
      uint32_t mod, const struct dr_path *path, const uint8_t *data)
{
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, method, attr, mod, 0, path);
	if (data)
		memcpy(smp_data(mad), data, SMP_DATA_LEN);
	seen->started++;
	xact_start(seen->x, &permissive, mad, on_done, seen, mod);
}

static void
run_to_the_end(struct seen *seen, int64_t seconds)
{
	int64_t end = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;

	while (xact_pending(seen->x) > 0) {
		assert_true(g_get_monotonic_time() < end);
		g_main_context_iteration(NULL, TRUE);
	}
}

/* The data of one answer; status 0. */
static const uint8_t *
ask(struct seen *seen, enum mad_method method, enum mad_attr attr,
    uint32_t mod, const struct dr_path *path, const uint8_t *data)
{
	unsigned answered = seen->answered;

	start(seen, method, attr, mod, path, data);
	run_to_the_end(seen, 10);
	assert_int_equal(seen->answered, answered + 1);
	assert_int_equal(seen->bad, 0);
	return smp_data_const(seen->mad);
}

static struct transport *
open_at(void **state, const char *host, enum ibsim_role role)
{
	const struct stage *stage = *state;
	g_autoptr(GError) error = NULL;
	struct transport *t = ibsim_transport_open(stage->sockname, host, role,
						   &error);

	if (!t)
		fail_msg("%s", error->message);
	return t;
}

static void
expect_open_error(const char *sockname, const char *host,
		  enum ibsim_role role, const char *part)
{
	g_autoptr(GError) error = NULL;

	assert_null(ibsim_transport_open(sockname, host, role, &error));
	assert_true(g_error_matches(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_OPEN));
	if (!strstr(error->message, part))
		fail_msg("message is: %s", error->message);
}

static void
iterate_for(int64_t us)
{
	int64_t end = g_get_monotonic_time() + us;

	while (g_get_monotonic_time() < end) {
		while (g_main_context_iteration(NULL, FALSE))
			;
		g_usleep(1000);
	}
}

/* ------------------------------------------------------------------- tests */

static void
test_missing_server_is_reported_within_two_seconds(void **state)
{
	int64_t begin = g_get_monotonic_time();

	expect_open_error("no-such-ibsim", NULL, IBSIM_ROLE_READER,
			  "no ibsim with socket name \"no-such-ibsim\"");
	assert_true(g_get_monotonic_time() - begin < 3 * G_USEC_PER_SEC);
}

static void
test_wrong_names_are_refused_with_the_reason(void **state)
{
	const struct stage *stage = *state;
	g_autofree char *endless = g_strnfill(200, 'x');

	expect_open_error(stage->sockname, "H-9", IBSIM_ROLE_MANAGER,
			  "there is no node \"H-9\"");
	expect_open_error(stage->sockname, endless, IBSIM_ROLE_READER,
			  "longer than a node id");
	expect_open_error(endless, NULL, IBSIM_ROLE_READER, "too long");
}

static void
test_port_is_known_when_open(void **state)
{
	static const struct {
		const char *host, *name;
		unsigned port;
	} cases[] = {
		{ "H-1", "ibsim H-1 port 1", 1 },
		{ "H-2", "ibsim H-2 port 1", 1 },
		{ "S-0", "ibsim S-0 port 0", 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct transport *t = open_at(state, cases[i].host,
					      IBSIM_ROLE_MANAGER);
		struct seen seen = { .x = xact_new(t, &params) };
		struct node_info info;

		assert_string_equal(t->name, cases[i].name);
		node_info_decode(ask(&seen, MAD_METHOD_GET,
				     MAD_ATTR_NODE_INFO, 0, &here, NULL),
				 &info);
		assert_true(info.port_guid == t->port_guid);
		assert_int_equal(t->port_num, cases[i].port);
		if (cases[i].port)
			assert_int_equal(info.local_port, t->port_num);
		xact_free(seen.x);
		transport_free(t);
	}
}

static void
test_no_host_means_the_first_one_of_the_file(void **state)
{
	struct transport *t = open_at(state, NULL, IBSIM_ROLE_READER);

	assert_non_null(strstr(t->name, "S-0"));
	transport_free(t);
}

static void
test_slots_run_out_and_come_back(void **state)
{
	const struct stage *stage = *state;
	struct transport *t[SLOTS];

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < SLOTS; i++)
			t[i] = open_at(state, "H-1", IBSIM_ROLE_READER);
		expect_open_error(stage->sockname, "H-1", IBSIM_ROLE_READER,
				  "slots are taken");
		for (unsigned i = 0; i < SLOTS; i++)
			transport_free(t[i]);
	}
}

static bool
says_is_sm(struct seen *seen, const struct dr_path *path)
{
	struct port_info info;

	port_info_decode(ask(seen, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 1,
			     path, NULL), &info);
	return info.cap_mask & PORT_CAP_IS_SM;
}

static void
test_manager_is_seen_alone_and_only_while_it_is_there(void **state)
{
	const struct stage *stage = *state;
	struct transport *watcher = open_at(state, "H-2", IBSIM_ROLE_READER);
	struct seen seen = { .x = xact_new(watcher, &params) };
	struct transport *t;

	assert_false(says_is_sm(&seen, &h2_to_h1));
	t = open_at(state, "H-1", IBSIM_ROLE_MANAGER);
	assert_true(says_is_sm(&seen, &h2_to_h1));
	assert_false(says_is_sm(&seen, &here));
	expect_open_error(stage->sockname, "H-1", IBSIM_ROLE_MANAGER,
			  "another client is the subnet manager on H-1");
	transport_free(t);
	assert_false(says_is_sm(&seen, &h2_to_h1));
	xact_free(seen.x);
	transport_free(watcher);
}

static void
feed(void *data)
{
	static const struct dr_path *const paths[] = {
		&here, &there, &h1_to_h2,
	};
	struct seen *seen = data;

	while (xact_room(seen->x) > 0 && seen->started < MANY)
		start(seen, MAD_METHOD_GET, MAD_ATTR_PORT_INFO,
		      seen->started % 2, paths[seen->started % 3], NULL);
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
	struct transport *t = open_at(state, "H-1", IBSIM_ROLE_MANAGER);
	struct seen seen = { .x = xact_new(t, &params) };
	int64_t begin = g_get_monotonic_time();
	double cpu = cpu_seconds();
	double wall;

	xact_set_pump(seen.x, feed, &seen);
	feed(&seen);
	run_to_the_end(&seen, 60);
	wall = (g_get_monotonic_time() - begin) / 1e6;
	cpu = cpu_seconds() - cpu;
	assert_int_equal(seen.answered, MANY);
	assert_int_equal(seen.bad, 0);
	assert_true(xact_stats(seen.x)->retried == 0);
	assert_true(xact_stats(seen.x)->malformed == 0);
	print_message("%u MADs in %.3f s, %.0f a second, %.2f us CPU each\n",
		      MANY, wall, MANY / wall, cpu * 1e6 / MANY);
	xact_free(seen.x);
	transport_free(t);
}

struct inbox {
	unsigned n, returned;
	struct mad_addr from;
	uint8_t mad[MAD_SIZE];
};

static void
on_mad(const struct transport_mad *m, void *data)
{
	struct inbox *inbox = data;

	assert_int_equal(m->len, MAD_SIZE);
	inbox->n++;
	inbox->returned += m->event == TRANSPORT_RETURNED;
	inbox->from = m->addr;
	memcpy(inbox->mad, m->mad, MAD_SIZE);
}

static void
wait_for(struct inbox *inbox, unsigned n)
{
	int64_t end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;

	while (inbox->n < n) {
		assert_true(g_get_monotonic_time() < end);
		g_main_context_iteration(NULL, TRUE);
	}
}

static void
send_or_fail(struct transport *t, const struct mad_addr *to,
	     const uint8_t *mad)
{
	g_autoptr(GError) error = NULL;

	if (!transport_send(t, to, mad, MAD_SIZE, 1000, &error))
		fail_msg("%s", error->message);
}

static void
test_request_into_the_void_is_returned(void **state)
{
	const struct dr_path away = { .hops = 2, .port = { 0, 1, 4 } };
	struct transport *t = open_at(state, "H-1", IBSIM_ROLE_MANAGER);
	struct inbox inbox = { 0 };
	uint8_t mad[MAD_SIZE];

	transport_set_receiver(t, on_mad, &inbox);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &away);
	mad_set_tid(mad, 77);
	send_or_fail(t, &permissive, mad);
	wait_for(&inbox, 1);
	assert_int_equal(inbox.returned, 1);
	assert_int_equal(inbox.from.lid, LID_PERMISSIVE);
	/* all but the upper half of the TID is as it was */
	assert_memory_equal(inbox.mad, mad, 8);
	assert_memory_equal(inbox.mad + 12, mad + 12, MAD_SIZE - 12);
	transport_free(t);
}

static void
set_port(struct seen *seen, const struct dr_path *path, unsigned num,
	 unsigned lid, unsigned state)
{
	uint8_t data[SMP_DATA_LEN];
	struct port_info info;

	port_info_decode(ask(seen, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, num,
			     path, NULL), &info);
	info.lid = lid;
	info.sm_lid = 1;
	info.state = state;
	info.phys_state = PORT_PHYS_NOP;
	port_info_encode(data, &info);
	ask(seen, MAD_METHOD_SET, MAD_ATTR_PORT_INFO, num, path, data);
}

/* LIDs 1, 2 and 3 for H-1, H-2 and S-0, and the links between them Active. */
static void
bring_up(struct transport *t)
{
	struct seen seen = { .x = xact_new(t, &params) };
	uint8_t data[SMP_DATA_LEN] = { 255, 1, 2, 0 };
	struct switch_info info;

	ask(&seen, MAD_METHOD_SET, MAD_ATTR_LINEAR_FT, 0, &there, data);
	switch_info_decode(ask(&seen, MAD_METHOD_GET, MAD_ATTR_SWITCH_INFO, 0,
			       &there, NULL), &info);
	info.linear_fdb_top = 3;
	switch_info_encode(data, &info);
	ask(&seen, MAD_METHOD_SET, MAD_ATTR_SWITCH_INFO, 0, &there, data);
	set_port(&seen, &there, 0, 3, PORT_STATE_NOP);
	for (unsigned state = PORT_STATE_ARMED; state <= PORT_STATE_ACTIVE;
	     state++) {
		set_port(&seen, &here, 1, 1, state);
		set_port(&seen, &h1_to_h2, 1, 2, state);
		set_port(&seen, &there, 1, 0, state);
		set_port(&seen, &there, 2, 0, state);
	}
	xact_free(seen.x);
}

/* A MAD in which every byte of the data says where it stands. */
static void
fill_mad(uint8_t mad[MAD_SIZE], enum mad_class mgmt_class, unsigned version,
	 uint8_t method)
{
	for (unsigned i = 0; i < MAD_SIZE; i++)
		mad[i] = i < 24 ? 0 : i ^ 0x5a;
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = version;
	mad[3] = method;
	mad_set_tid(mad, 0x1234);
}

static void
test_two_clients_of_one_process_exchange_whole_mads(void **state)
{
	struct transport *manager = open_at(state, "H-1", IBSIM_ROLE_MANAGER);
	struct transport *client = open_at(state, "H-2", IBSIM_ROLE_READER);
	const struct mad_addr to_manager = { .lid = 1, .qp = 1 };
	struct inbox asked = { 0 }, answered = { 0 };
	struct mad_header h;
	uint8_t mad[MAD_SIZE];

	bring_up(manager);
	transport_set_receiver(manager, on_mad, &asked);
	transport_set_receiver(client, on_mad, &answered);
	fill_mad(mad, MAD_CLASS_SA, 2, MAD_METHOD_GET);
	send_or_fail(client, &to_manager, mad);
	wait_for(&asked, 1);
	assert_int_equal(asked.returned, 0);
	assert_int_equal(asked.from.lid, 2);
	assert_int_equal(asked.from.qp, 1);
	assert_memory_equal(asked.mad + 24, mad + 24, MAD_SIZE - 24);

	/* its TID finds the client again */
	memcpy(mad, asked.mad, MAD_SIZE);
	mad[3] = MAD_METHOD_GET_RESP;
	for (unsigned i = 24; i < MAD_SIZE; i++)
		mad[i] ^= 0xff;
	send_or_fail(manager, &asked.from, mad);
	wait_for(&answered, 1);
	assert_int_equal(answered.returned, 0);
	assert_int_equal(answered.from.lid, 1);
	assert_memory_equal(answered.mad, mad, MAD_SIZE);
	assert_true(mad_header_read(answered.mad, MAD_SIZE, &h));
	assert_true((uint32_t)h.tid == 0x1234);

	transport_free(client);
	transport_free(manager);
}

static void
test_any_trap_can_be_thrown_at_the_manager(void **state)
{
	struct transport *manager = open_at(state, "H-1", IBSIM_ROLE_MANAGER);
	struct transport *client = open_at(state, "H-2", IBSIM_ROLE_READER);
	const struct mad_addr to_manager = { .lid = 1, .qp = 0 };
	struct inbox inbox = { 0 };
	struct notice notice;
	uint8_t mad[MAD_SIZE] = {
		1, MAD_CLASS_SMP_LID, 1, MAD_METHOD_TRAP,
		[17] = MAD_ATTR_NOTICE,
		/* generic, urgent, from a CA, trap 129, issuer LID 2 */
		[64] = 0x81, [67] = 1, [69] = 129, [71] = 2,
	};

	bring_up(manager);
	transport_set_receiver(manager, on_mad, &inbox);
	send_or_fail(client, &to_manager, mad);
	wait_for(&inbox, 1);
	notice_decode(smp_data_const(inbox.mad), &notice);
	assert_int_equal(notice.trap, 129);
	assert_int_equal(notice.issuer_lid, 2);
	assert_int_equal(inbox.from.lid, 2);
	transport_free(client);
	transport_free(manager);
}

/* What was due to the one that left must not come to who gets its slot. */
static void
test_slot_is_left_clean(void **state)
{
	struct inbox inbox = { 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0,
			 &there);
	for (unsigned round = 0; round < 5; round++) {
		struct transport *t = open_at(state, "H-1",
					      IBSIM_ROLE_READER);

		transport_set_receiver(t, on_mad, &inbox);
		iterate_for(20000);
		assert_int_equal(inbox.n, 0);
		for (unsigned i = 0; i < 128; i++)
			send_or_fail(t, &permissive, mad);
		transport_free(t);
	}
	assert_int_equal(inbox.n, 0);
}

static void
test_full_queue_refuses_and_loses_nothing(void **state)
{
	struct transport *t = open_at(state, "H-1", IBSIM_ROLE_READER);
	struct inbox inbox = { 0 };
	unsigned accepted = 0;
	GError *error = NULL;
	uint8_t mad[MAD_SIZE];

	transport_set_receiver(t, on_mad, &inbox);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0,
			 &there);
	while (transport_send(t, &permissive, mad, MAD_SIZE, 1000, &error)) {
		accepted++;
		assert_true(accepted < 1000000);
	}
	assert_true(g_error_matches(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_SEND));
	assert_non_null(strstr(error->message, "queue is full"));
	g_error_free(error);
	assert_true(accepted >= 128);
	wait_for(&inbox, accepted);
	iterate_for(20000);
	assert_int_equal(inbox.n, accepted);
	assert_int_equal(inbox.returned, 0);
	send_or_fail(t, &permissive, mad);
	wait_for(&inbox, accepted + 1);
	transport_free(t);
}

static void
test_more_than_a_mad_is_refused(void **state)
{
	struct transport *t = open_at(state, "H-1", IBSIM_ROLE_READER);
	uint8_t mad[2 * MAD_SIZE] = { 1 };
	g_autoptr(GError) error = NULL;

	assert_false(transport_send(t, &permissive, mad, sizeof(mad), 0,
				    &error));
	assert_true(g_error_matches(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_SEND));
	transport_free(t);
}

/* Starts itself anew for a moment that is past. */
static void
on_eager(void *data)
{
	struct rings *r = data;

	rings_add(r, 'e');
	if (r->n < 6)
		transport_timer_start(r->t, 0, on_eager, r);
}

static void
test_timers_ring_in_order_and_not_early(void **state)
{
	struct rings r = { .t = open_at(state, "H-1", IBSIM_ROLE_READER) };

	rings_expect_order(&r);
	transport_free(r.t);
}

static void
test_timer_that_starts_itself_anew_starves_nobody(void **state)
{
	struct rings r = { .t = open_at(state, "H-1", IBSIM_ROLE_READER) };

	transport_timer_start(r.t, 0, on_eager, &r);
	transport_timer_start(r.t, 0, rings_on_b, &r);
	while (r.n < 6)
		g_main_context_iteration(NULL, TRUE);
	assert_string_equal(r.order, "ebeeee");
	transport_free(r.t);
}

static void
test_end_of_the_simulator_is_an_error_and_no_busy_loop(void **state)
{
	struct stage *stage = *state;
	struct transport *t = open_at(state, "H-1", IBSIM_ROLE_MANAGER);
	struct rings r = { .t = t };
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE];
	unsigned turns = 0;

	kill(stage->ibsim, SIGKILL);
	waitpid(stage->ibsim, NULL, 0);
	stage->ibsim = 0;
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &here);
	assert_false(transport_send(t, &permissive, mad, MAD_SIZE, 100,
				    &error));
	assert_true(g_error_matches(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_SEND));
	transport_timer_start(t, transport_now(t) + 50000, rings_on_a, &r);
	for (; r.n < 1; turns++)
		g_main_context_iteration(NULL, TRUE);
	assert_true(turns < 10);
	transport_free(t);
}

/* --------------------------------------------------------------- the stage */

/* Its time limit or our death ends it. */
static pid_t
spawn(const char *folder, char **argv)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    chdir(folder) < 0 || !freopen("/dev/null", "r", stdin) ||
	    !freopen("ibsim.log", "w", stdout) ||
	    dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(126);
	alarm(TIME_LIMIT + 20);
	execv(argv[0], argv);
	_exit(127);
}

static char *
find_ibsim(void)
{
	char *path = g_find_program_in_path("ibsim");

	if (!path && g_file_test("/usr/sbin/ibsim", G_FILE_TEST_EXISTS))
		path = g_strdup("/usr/sbin/ibsim");
	return path;
}

/* That the simulator is ready need not be waited for: the open does. */
static int
raise_stage(void **state)
{
	struct stage *stage = g_new0(struct stage, 1);
	g_autofree char *ibsim = find_ibsim();
	g_autofree char *net = NULL;
	char *argv[] = { ibsim, "-s", "-n", "-L", "49151", "fabric.net",
			 NULL };

	stage->folder = g_dir_make_tmp("test_ibsim_XXXXXX", NULL);
	stage->sockname = g_strdup_printf("ibsim%ld", (long)getpid());
	net = g_build_filename(stage->folder, "fabric.net", NULL);
	if (!stage->folder || !g_file_set_contents(net, fabric, -1, NULL))
		return -1;
	g_setenv("IBSIM_SOCKNAME", stage->sockname, TRUE);
	stage->ibsim = spawn(stage->folder, argv);
	*state = stage;
	return stage->ibsim > 0 ? 0 : -1;
}

static int
strike_stage(void **state)
{
	static const char *const files[] = { "fabric.net", "ibsim.log" };
	struct stage *stage = *state;

	if (stage->ibsim > 0) {
		kill(stage->ibsim, SIGKILL);
		waitpid(stage->ibsim, NULL, 0);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = g_build_filename(stage->folder,
							 files[i], NULL);

		unlink(path);
	}
	rmdir(stage->folder);
	g_free(stage->folder);
	g_free(stage->sockname);
	g_free(stage);
	return 0;
}

/* cmocka's own word for it, "not ok # SKIP", counts as a failure. */
static int
run_skipped(void)
{
	puts("1..0 # SKIP ibsim is not installed");
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    test_missing_server_is_reported_within_two_seconds),
		cmocka_unit_test(test_wrong_names_are_refused_with_the_reason),
		cmocka_unit_test(test_port_is_known_when_open),
		cmocka_unit_test(test_no_host_means_the_first_one_of_the_file),
		cmocka_unit_test(test_slots_run_out_and_come_back),
		cmocka_unit_test(
		    test_manager_is_seen_alone_and_only_while_it_is_there),
		cmocka_unit_test(
		    test_many_requests_at_a_full_window_all_come_back),
		cmocka_unit_test(test_request_into_the_void_is_returned),
		cmocka_unit_test(
		    test_two_clients_of_one_process_exchange_whole_mads),
		cmocka_unit_test(test_any_trap_can_be_thrown_at_the_manager),
		cmocka_unit_test(test_slot_is_left_clean),
		cmocka_unit_test(test_full_queue_refuses_and_loses_nothing),
		cmocka_unit_test(test_more_than_a_mad_is_refused),
		cmocka_unit_test(test_timers_ring_in_order_and_not_early),
		cmocka_unit_test(
		    test_timer_that_starts_itself_anew_starves_nobody),
		cmocka_unit_test(
		    test_end_of_the_simulator_is_an_error_and_no_busy_loop),
	};
	g_autofree char *ibsim = find_ibsim();

	alarm(TIME_LIMIT);
	if (!ibsim)
		return run_skipped();
	return cmocka_run_group_tests(tests, raise_stage, strike_stage);
}
