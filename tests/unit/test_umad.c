// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transport over libibumad. tests/interop/umad.sh runs it against ibsim;
 * tests called fault_* with umad_fault.c between, which is too slow for the
 * test of the window.
 */
#include <dlfcn.h>

#include <infiniband/umad.h>

#include "sm/io/umad.h"
#include "sm/io/mad_client.h"
#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

#define MANY		20000u
#define PATIENCE	(60 * G_USEC_PER_SEC)	/* only if it fails */
#define LONG_MS		20000u	/* the time of a request that is answered */

static const struct mad_addr permissive = { .lid = LID_PERMISSIVE };
static const struct mad_client_params params = { LONG_MS, 3, 128, false };

struct seen {
	struct mad_client *x;
	unsigned started, answered, timed_out, bad;
	unsigned widest;	/* window */
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
run_to_the_end(struct seen *seen)
{
	int64_t end = g_get_monotonic_time() + PATIENCE;

	while (seen->x->pending > 0) {
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

TEST(test_port_is_found_by_its_guid_and_by_its_name)
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

	seen->widest = MAX(seen->widest, seen->x->window.size);
	while (mad_client_room(seen->x) > 0 && seen->started < MANY)
		ask(seen, MAD_ATTR_PORT_INFO, seen->started % 2,
		    &paths[seen->started % 3]);
}

TEST(test_many_requests_at_a_full_window_all_come_back)
{
	AUTO(transport) *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };

	mad_client_set_pump(seen.x, feed, &seen);
	feed(&seen);
	run_to_the_end(&seen);
	assert_int_equal(seen.started, MANY);
	assert_int_equal(seen.answered, MANY);
	assert_int_equal(seen.bad, 0);
	/* it may have shrunk again: a process that does not run for a while
	 * counts losses */
	assert_in_range(seen.widest, 8, 128);
	mad_client_free(seen.x);
}

/* ibsim returns at once what leads nowhere: over without a timeout. */
TEST(test_request_into_the_void_is_returned)
{
	const struct dr_path away = { .hops = 2, .port = { 0, 1, 4 } };
	AUTO(transport) *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };
	int64_t begin = g_get_monotonic_time();

	ask(&seen, MAD_ATTR_NODE_INFO, 0, &away);
	run_to_the_end(&seen);
	assert_int_equal(seen.timed_out, 1);
	assert_true(g_get_monotonic_time() - begin < LONG_MS * 1000ll);
	assert_true(seen.x->stats.sent == 4);
	mad_client_free(seen.x);
}

/* Answers to a window's worth of requests are on their way. */
TEST(test_close_with_requests_out_is_quiet)
{
	struct transport *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &params) };
	const struct dr_path away = { .hops = 1, .port = { 0, 1 } };

	while (mad_client_room(seen.x) > 0)
		ask(&seen, MAD_ATTR_NODE_INFO, 0, &away);
	mad_client_free(seen.x);
	transport_free(t);
	assert_int_equal(seen.answered + seen.timed_out, 0);

	t = open_any();		/* opens again beside their late answers */
	seen.x = mad_client_new(t, &params);
	ask(&seen, MAD_ATTR_NODE_INFO, 0, &away);
	run_to_the_end(&seen);
	assert_int_equal(seen.answered, 1);
	mad_client_free(seen.x);
	transport_free(t);
}

TEST(test_class_that_is_not_registered_is_refused)
{
	AUTO(transport) *t = open_any();
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE] = { 1, 0x07, 1, MAD_METHOD_GET };

	assert_false(transport_send(t, &permissive, mad, sizeof(mad), 100,
				    &error));
	assert_gerror(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND);
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

/* For as long as that a kernel may keep it. */
static bool
send_for(struct transport *t, const struct mad_addr *to, uint32_t tid,
	 unsigned ms)
{
	const struct dr_path here = { .hops = 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &here);
	mad_set_tid(mad, tid);
	return transport_send(t, to, mad, sizeof(mad), ms, NULL);
}

static bool
send_node_info(struct transport *t, const struct mad_addr *to)
{
	return send_for(t, to, 77, LONG_MS);
}

static void
run_for(int64_t us)
{
	int64_t end = g_get_monotonic_time() + us;

	while (g_get_monotonic_time() < end)
		if (!g_main_context_iteration(NULL, FALSE))
			g_usleep(1000);
}

static void
await_answer(const struct events *e)
{
	int64_t end = g_get_monotonic_time() + PATIENCE;

	while (!e->received && g_get_monotonic_time() < end)
		g_main_context_iteration(NULL, FALSE);
	assert_true(e->received > 0);
}

/* The kernel gives it back with the TID of the client, which may be that of a
 * request of ours. */
TEST(fault_answer_that_is_not_acknowledged_is_no_request_of_ours)
{
	AUTO(transport) *t = open_any();
	struct events e = { 0 };
	g_autoptr(GError) error = NULL;

	transport_set_receiver(t, count_event, &e);
	fault("return-answers");
	assert_true(send_table(t, &error));
	run_for(300 * 1000);
	fault("");
	assert_int_equal(e.returned, 0);
	assert_int_equal(e.received, 0);
	assert_true(send_node_info(t, &permissive));
	await_answer(&e);
}

/* A send that fails in the kernel never comes back. Once its time is over, the
 * end does not wait for its answer. */
TEST(fault_request_that_never_returns_is_given_up_by_time)
{
	const int *timeout = dlsym(RTLD_DEFAULT, "umad_fault_timeout");
	struct transport *t = open_any();
	struct events e = { 0 };

	assert_non_null(timeout);
	transport_set_receiver(t, count_event, &e);
	fault("swallow");
	for (uint32_t tid = 1; tid <= 100; tid++)
		assert_true(send_for(t, &permissive, tid, 50));
	fault("");
	run_for(300 * 1000);
	assert_true(send_node_info(t, &permissive));
	await_answer(&e);
	assert_int_equal(e.returned, 0);
	transport_free(t);
	assert_int_equal(*timeout, 0);
}

/* To one of some requests: they are lost while the port is away. */
static void
expect_answer(struct transport *t, struct events *e)
{
	int64_t end = g_get_monotonic_time() + PATIENCE;

	e->received = 0;
	while (!e->received && g_get_monotonic_time() < end) {
		assert_true(send_node_info(t, &permissive));
		run_for(100 * 1000);
	}
	assert_true(e->received > 0);
}

static void
ask_own(void *data)
{
	const struct dr_path here = { .hops = 0 };
	struct seen *seen = data;

	if (seen->started < 200)
		ask(seen, MAD_ATTR_NODE_INFO, 0, &here);
}

/* Timers and sockets do not wait until all have come. Waits are counted, of at
 * least 0.8 ms each: how many answers come in 4 ms depends on the machine. */
TEST(fault_answers_that_are_waited_for_leave_the_loop_its_turns)
{
	const unsigned long *waits = dlsym(RTLD_DEFAULT, "umad_fault_waits");
	const struct mad_client_params one = { 1000, 3, 1, false };
	AUTO(transport) *t = open_any();
	struct seen seen = { .x = mad_client_new(t, &one) };
	unsigned long most = 0;

	fault("late=800");
	mad_client_set_pump(seen.x, ask_own, &seen);
	while (seen.answered + seen.timed_out < 200) {
		unsigned long before = *waits;

		g_main_context_iteration(NULL, TRUE);
		most = MAX(most, *waits - before);
	}
	fault("");
	assert_int_equal(seen.bad, 0);
	assert_true(most <= 10);
	mad_client_free(seen.x);
}

/* 1 ms apart, however often it fails; 1000 in a row are too many. */
TEST(fault_read_that_fails_is_repeated_after_a_pause)
{
	const unsigned long *n = dlsym(RTLD_DEFAULT, "umad_fault_failures");
	AUTO(transport) *t = open_any();
	struct events e = { 0 };
	int64_t begin, end;

	transport_set_receiver(t, count_event, &e);
	expect_answer(t, &e);
	begin = g_get_monotonic_time();
	end = begin + PATIENCE;
	fault("read=12");
	assert_true(send_node_info(t, &permissive));
	while (*n < 9 && g_get_monotonic_time() < end)
		run_for(1000);
	assert_in_range(*n, 9, (g_get_monotonic_time() - begin) / 1000 + 2);
	fault("");
	/* and maybe of one before it */
	e.received = 0;
	await_answer(&e);
}

TEST(fault_port_that_comes_back_is_bound_again)
{
	AUTO(transport) *t = open_any();
	struct events e = { 0 };

	transport_set_receiver(t, count_event, &e);
	expect_answer(t, &e);
	fault("gone");
	send_node_info(t, &permissive);
	run_for(400 * 1000);	/* it looks for it once, in vain */
	fault("");
	expect_answer(t, &e);
}

/* The next client of the port does not get them. It waits for 50 ms, in which a
 * busy machine's ibsim need not answer. */
TEST(fault_end_reads_what_is_due)
{
	const unsigned long *n = dlsym(RTLD_DEFAULT, "umad_fault_reads");
	unsigned long before = 0;

	for (unsigned i = 0; i < 20 && *n != before + 10; i++) {
		struct transport *t = open_any();

		before = *n;
		for (unsigned k = 0; k < 10; k++)
			assert_true(send_node_info(t, &permissive));
		transport_free(t);
	}
	assert_int_equal(*n, before + 10);
}

TEST(fault_header_has_nothing_of_the_one_before)
{
	const ib_user_mad_t *sent = dlsym(RTLD_DEFAULT, "umad_fault_header");
	const struct mad_addr routed = {
		.lid = LID_PERMISSIVE, .grh = true, .gid = { 0xfe, 0x80 },
	};
	AUTO(transport) *t = open_any();

	fault("swallow");
	assert_true(send_node_info(t, &routed));
	assert_int_equal(sent->addr.grh_present, 1);
	assert_true(send_node_info(t, &permissive));
	assert_int_equal(sent->addr.grh_present, 0);
	assert_int_equal(sent->addr.gid[0], 0);
	fault("");
}

TEST(fault_answer_that_is_under_way_is_no_error)
{
	AUTO(transport) *t = open_any();
	g_autoptr(GError) error = NULL;

	fault("refuse-answers");
	assert_true(send_table(t, &error));
	fault("");
	assert_null(error);
}
