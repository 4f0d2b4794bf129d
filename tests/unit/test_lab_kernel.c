// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * lab/kernel.c: the rules of ib_umad and ib_mad as Linux has them
 * (drivers/infiniband/core/user_mad.c, mad.c, mad_rmpp.c), on two hosts that
 * are cabled to each other, in virtual time.
 */
#include <errno.h>
#include <string.h>

#include "lab/kernel.h"
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"
#include "sm/mad/rmpp.h"
#include "sm/mad/smp.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"
#include "tests/lib/sim_script.h"

#define HDR		sizeof(struct ib_user_mad_hdr)
#define SMP		MAD_CLASS_SMP_DIRECT
#define SA		MAD_CLASS_SA
#define GET_TABLE	0x12
#define GET_TABLE_RESP	0x92

struct host {
	struct transport *transport;
	struct kernel_port *port;
	struct kernel_file *file;
	GPtrArray *inbox;	/* GByteArray: header and message, in order,
				   as read(2) would give them */
	uint32_t sim_port;
};

struct pair {
	struct snapshot *fabric;
	struct sim *sim;
	struct host a, b;
};

static void
on_message(const struct ib_user_mad_hdr *hdr, const uint8_t *mad, size_t len,
	   void *data)
{
	GByteArray *m = g_byte_array_new();

	assert_int_equal(hdr->length, HDR + len);
	g_byte_array_append(m, (const uint8_t *)hdr, HDR);
	g_byte_array_append(m, mad, len);
	g_ptr_array_add(data, m);
}

static void
host_open(struct pair *p, struct host *h, uint32_t node,
	  const struct kernel_limits *limits)
{
	h->sim_port = p->fabric->nodes[node].first_port + 1;
	h->transport = sim_attach(p->sim, h->sim_port, SIM_ROLE_DRIVER);
	h->port = kernel_port_new(h->transport,
				  &sim_port_info(p->sim, h->sim_port)->lmc,
				  limits);
	h->inbox = g_ptr_array_new_with_free_func(
		(GDestroyNotify)g_byte_array_unref);
	h->file = kernel_open(h->port, KERNEL_QPS, on_message, h->inbox);
}

static void
host_close(struct host *h)
{
	kernel_close(h->file);
	kernel_port_free(h->port);
	transport_free(h->transport);
	g_ptr_array_unref(h->inbox);
}

static void
pair_open(struct pair *p, const struct kernel_limits *limits)
{
	p->fabric = generate_fabric("pair()", NULL, NULL);
	assert_non_null(p->fabric);
	p->sim = sim_new(p->fabric, NULL);
	host_open(p, &p->a, 0, limits);
	host_open(p, &p->b, 1, limits);
}

static void
pair_close(struct pair *p)
{
	host_close(&p->a);
	host_close(&p->b);
	sim_free(p->sim);
	snapshot_unref(p->fabric);
}

static void
run_ms(struct pair *p, unsigned ms)
{
	sim_run(p->sim, sim_now(p->sim) + ms * MS);
}

static int
try_register(struct host *h, unsigned qpn, unsigned mgmt_class,
	     unsigned version, unsigned rmpp, uint64_t methods)
{
	struct ib_user_mad_reg_req r = {
		.qpn = qpn, .mgmt_class = mgmt_class,
		.mgmt_class_version = version, .rmpp_version = rmpp,
		.method_mask = { methods },
	};
	int error = kernel_ioctl(h->file, IB_USER_MAD_REGISTER_AGENT, &r);

	return error ? error : (int)r.id;
}

static int
write_to(struct host *h, const struct ib_user_mad_hdr *hdr, const uint8_t *mad,
	 size_t len)
{
	g_autofree uint8_t *buf = g_malloc(HDR + len);

	memcpy(buf, hdr, HDR);
	memcpy(buf + HDR, mad, len);
	return kernel_write(h->file, buf, HDR + len);
}

static int
try_write(struct host *h, unsigned agent, uint16_t lid, unsigned timeout_ms,
	  unsigned retries, const uint8_t *mad, size_t len)
{
	const struct ib_user_mad_hdr hdr = {
		.id = agent, .timeout_ms = timeout_ms, .retries = retries,
		.qpn = htobe32(mad[1] == SA), .lid = htobe16(lid),
	};

	return write_to(h, &hdr, mad, len);
}

/* NodeInfo of the other host, by directed route. */
static void
make_smp(uint8_t *mad, uint32_t tid)
{
	struct dr_path path = { .hops = 1, .port = { 0, 1 } };

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &path);
	mad_set_tid(mad, tid);
}

static const GByteArray *
message(struct host *h, guint i)
{
	assert_true(i < h->inbox->len);
	return h->inbox->pdata[i];
}

static struct ib_user_mad_hdr
header_of(const GByteArray *m)
{
	struct ib_user_mad_hdr hdr;

	memcpy(&hdr, m->data, HDR);
	return hdr;
}

static uint64_t
tid_of(const GByteArray *m)
{
	return bytes_load64(m->data + HDR + 8);
}

/* Agent 0 of a is for SMPs. */
static void
pair_ask(struct pair *p)
{
	pair_open(p, &kernel_limits_none);
	assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), 0);
}

/* NodeInfo of the other host, by directed route. */
static int
write_smp(struct pair *p, unsigned agent, uint32_t tid, unsigned timeout_ms,
	  unsigned retries)
{
	uint8_t mad[MAD_SIZE];

	make_smp(mad, tid);
	return try_write(&p->a, agent, 0xffff, timeout_ms, retries, mad,
			 MAD_SIZE);
}

static void
expect_status(struct host *h, guint i, unsigned status)
{
	if (header_of(message(h, i)).status != status)
		fail_msg("message %u: %u", i, header_of(message(h, i)).status);
}

#define PAIR_TEST(name) \
	TEST_ON(name, struct pair, p, pair_open, pair_close, \
		&kernel_limits_none)
#define ASK_TEST(name) \
	TEST_ON(name, struct pair, p, pair_ask, pair_close)

/* ------------------------------------------------------------ registration */

PAIR_TEST(test_registration_follows_the_kernel)
{
	static const struct {
		unsigned qpn, mgmt_class, version, rmpp;
		uint64_t methods;
		bool ok;
	} cases[] = {
		{ 0, SMP, 1, 0, 0x06, true },
		{ 0, 0x01, 1, 0, 0x06, true },
		{ 0, SMP, 1, 0, 0x02, false },	/* Get is taken */
		{ 0, SMP, 1, 0, 0x20, true },	/* Trap is not */
		{ 0, SMP, 2, 0, 0x06, true },	/* another version */
		{ 0, SMP, 1, 0, 0, true },	/* only sends */
		{ 1, SMP, 1, 0, 0, false },	/* not on QP 1 */
		{ 0, SA, 2, 1, 0, false },	/* not on QP 0 */
		{ 1, SA, 2, 1, 0x06, true },
		{ 1, SA, 2, 2, 0, false },	/* no such RMPP */
		{ 1, 0x04, 1, 1, 0, false },	/* a class without RMPP */
		{ 1, 0x06, 1, 1, 0, true },
		{ 1, 0x04, 1, 0, 0, true },
		{ 1, 0x50, 1, 0, 0, false },	/* beyond the last class */
		{ 1, 0x32, 1, 1, 0, false },	/* vendor, without OUI */
		{ 2, 0x04, 1, 0, 0, false },
		{ 1, 0x04, 0x83, 0, 0, false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		int id = try_register(&p->a, cases[i].qpn, cases[i].mgmt_class,
				      cases[i].version, cases[i].rmpp,
				      cases[i].methods);

		if (cases[i].ok ? id < 0 : id != -EINVAL)
			fail_msg("case %zu: %d", i, id);
	}
}

PAIR_TEST(test_a_device_may_have_one_queue_pair)
{
	for (unsigned qp = 0; qp < 2; qp++) {
		kernel_close(p->a.file);
		p->a.file = kernel_open(p->a.port, 1u << qp, on_message,
					p->a.inbox);
		assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0),
				 qp == 0 ? 0 : -EPROTONOSUPPORT);
		assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0),
				 qp == 1 ? 0 : -EPROTONOSUPPORT);
	}
}

PAIR_TEST(test_a_file_has_32_agents)
{
	uint32_t third = 3;

	for (int i = 0; i < 32; i++)
		assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), i);
	assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), -ENOMEM);
	assert_int_equal(kernel_ioctl(p->a.file, IB_USER_MAD_UNREGISTER_AGENT,
				      &third), 0);
	assert_int_equal(kernel_ioctl(p->a.file, IB_USER_MAD_UNREGISTER_AGENT,
				      &third), -EINVAL);
	assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), 3);
}

PAIR_TEST(test_methods_belong_to_one_agent_of_the_port)
{
	struct kernel_file *first;

	assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0x06), 0);
	first = p->a.file;
	p->a.file = kernel_open(p->a.port, KERNEL_QPS, on_message, p->a.inbox);
	assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0x02), -EINVAL);
	kernel_close(first);
	assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0x02), 0);
}

/* ---------------------------------------------------------------- requests */

ASK_TEST(test_a_request_gets_its_answer)
{
	uint8_t mad[MAD_SIZE];
	uint64_t tid;

	make_smp(mad, 0x1234);
	bytes_store32(mad + 8, 0xdeadbeef);	/* not ours to say */
	assert_int_equal(try_write(&p->a, 0, 0xffff, 100, 0, mad, MAD_SIZE), 0);
	run_ms(p, 10);
	expect_status(&p->a, 0, 0);
	assert_int_equal(header_of(message(&p->a, 0)).length, HDR + MAD_SIZE);
	tid = tid_of(message(&p->a, 0));
	assert_int_equal((uint32_t)tid, 0x1234);
	assert_int_not_equal(tid >> 32, 0xdeadbeef);
	assert_int_not_equal(tid >> 32, 0);
	run_ms(p, 1000);
	assert_int_equal(p->a.inbox->len, 1);
}

ASK_TEST(test_a_request_without_answer_comes_back)
{
	uint64_t served = sim_stats(p->sim)->sent;

	sim_node_set_mood(p->sim, 1, SIM_MOOD_SILENT);
	assert_int_equal(write_smp(p, 0, 7, 100, 2), 0);
	run_ms(p, 299);
	assert_int_equal(p->a.inbox->len, 0);
	assert_int_equal(sim_stats(p->sim)->sent - served, 3);
	run_ms(p, 2);
	assert_int_equal(p->a.inbox->len, 1);
	assert_int_equal(message(&p->a, 0)->len, HDR + 24);
	expect_status(&p->a, 0, ETIMEDOUT);
	assert_int_equal((uint32_t)tid_of(message(&p->a, 0)), 7);
}

/* The answer that comes after the time-out belongs to no request. */
ASK_TEST(test_a_late_answer_is_dropped)
{
	sim_node_set_speed(p->sim, 1, 50 * 1000 * 1000);
	assert_int_equal(write_smp(p, 0, 7, 10, 0), 0);
	run_ms(p, 500);
	assert_int_equal(p->a.inbox->len, 1);
	expect_status(&p->a, 0, ETIMEDOUT);
}

ASK_TEST(test_a_tid_that_waits_is_refused)
{
	assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), 1);
	assert_int_equal(write_smp(p, 0, 7, 100, 0), 0);
	assert_int_equal(write_smp(p, 0, 7, 100, 0), -EINVAL);
	/* another agent has a number of its own */
	assert_int_equal(write_smp(p, 1, 7, 100, 0), 0);
	run_ms(p, 10);
	assert_int_equal(write_smp(p, 0, 7, 100, 0), 0);
	run_ms(p, 10);
	assert_int_equal(p->a.inbox->len, 3);
}

PAIR_TEST(test_bad_writes_are_refused)
{
	static const struct {
		unsigned agent, hop_pointer, mgmt_class;
		uint16_t lid;
		size_t len;
		int result;
	} cases[] = {
		{ 99, 0, SMP, 0xffff, MAD_SIZE, -EINVAL },
		{ 0, 0, SMP, 0xffff, 35, -EINVAL },
		/* of an SMP under way */
		{ 0, 1, SMP, 0xffff, MAD_SIZE, -EINVAL },
		{ 0, 0, SMP, 0xffff, MAD_SIZE + 1, -EINVAL },
		/* a class without RMPP, by an agent that has it */
		{ 1, 0, SMP, 0xffff, MAD_SIZE, -EINVAL },
		{ 1, 0, SA, 1, 55, -EINVAL }, { 1, 0, SA, 1, 56, 0 },
	};
	uint8_t mad[MAD_SIZE + 1] = { 0 };

	assert_int_equal(write_smp(p, 0, 7, 9, 0), -EIO);	/* no agent */
	assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), 0);
	assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0), 1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		make_smp(mad, 7);
		mad[1] = (uint8_t)cases[i].mgmt_class;
		mad[6] = (uint8_t)cases[i].hop_pointer;
		if (try_write(&p->a, cases[i].agent, cases[i].lid, 9, 0, mad,
			      cases[i].len) != cases[i].result)
			fail_msg("case %zu", i);
	}
}

ASK_TEST(test_an_agent_that_leaves_gets_nothing)
{
	uint32_t id = 0;

	assert_int_equal(write_smp(p, 0, 7, 100, 0), 0);
	assert_int_equal(kernel_ioctl(p->a.file, IB_USER_MAD_UNREGISTER_AGENT,
				      &id), 0);
	run_ms(p, 500);
	assert_int_equal(p->a.inbox->len, 0);
}

/* Linux 6.17: the rest waits, and its clock does not run. */
TEST_ON(test_an_agent_has_so_many_smps_out, struct pair, p, pair_open,
	pair_close, &kernel_limits_6_17)
{
	sim_node_set_mood(p->sim, 1, SIM_MOOD_SILENT);
	assert_int_equal(try_register(&p->a, 0, SMP, 1, 0, 0), 0);
	for (uint32_t i = 0; i < 130; i++)
		assert_int_equal(write_smp(p, 0, i + 1, 100, 0), 0);
	run_ms(p, 50);
	assert_int_equal(sim_stats(p->sim)->sent, 128);
	run_ms(p, 60);
	assert_int_equal(p->a.inbox->len, 128);
	assert_int_equal(sim_stats(p->sim)->sent, 130);
	run_ms(p, 100);
	assert_int_equal(p->a.inbox->len, 130);
}

/* --------------------------------------------------------------- GMPs, RMPP */

/* As its manager leaves it. */
static void
set_port(struct pair *p, const struct host *h, uint16_t lid, unsigned lmc)
{
	struct port_info *info = &p->sim->ports[h->sim_port].info;

	info->lid = lid;
	info->lmc = lmc;
	info->state = PORT_STATE_ACTIVE;
}

/* LIDs 1 and 2, the link Active; agent 0 of a is for SMPs. */
static void
pair_up(struct pair *p)
{
	pair_ask(p);
	set_port(p, &p->a, 1, 0);
	set_port(p, &p->b, 2, 0);
}

/* A message of RMPP, of which the kernel wants version, type and flags. */
static GByteArray *
make_table(uint64_t tid, size_t data)
{
	GByteArray *m = g_byte_array_new();

	g_byte_array_set_size(m, MAX(RMPP_SA_HEADER_LEN + data, MAD_SIZE));
	rmpplab_header(m->data, GET_TABLE_RESP, tid);
	m->data[24] = RMPP_VERSION;
	m->data[25] = RMPP_TYPE_DATA;
	m->data[26] = RMPP_FLAG_ACTIVE;
	g_byte_array_set_size(m, RMPP_SA_HEADER_LEN + data);
	for (size_t i = 0; i < data; i++)
		m->data[RMPP_SA_HEADER_LEN + i] = (uint8_t)(i * 7 + i / 251);
	return m;
}

static void
ask_and_answer(struct pair *p, size_t size)
{
	uint8_t mad[MAD_SIZE];
	g_autoptr(GByteArray) table = NULL;
	const GByteArray *got;
	guint a = p->a.inbox->len, b = p->b.inbox->len;

	rmpplab_header(mad, GET_TABLE, a + 1);
	assert_int_equal(try_write(&p->a, 1, 2, 3000, 0, mad, MAD_SIZE), 0);
	run_ms(p, 5);
	got = message(&p->b, b);
	assert_int_equal(be16toh(header_of(got).lid), 1);
	assert_int_equal(be32toh(header_of(got).qpn), 1);
	table = make_table(tid_of(got), size);
	assert_int_equal(try_write(&p->b, 0, 1, 0, 3, table->data,
				   table->len), 0);
	run_ms(p, 500);
	got = message(&p->a, a);
	assert_int_equal(header_of(got).id, 1);
	assert_int_equal(got->len - HDR, table->len);
	assert_memory_equal(got->data + HDR + RMPP_SA_HEADER_LEN,
			    table->data + RMPP_SA_HEADER_LEN, size);
	assert_int_equal(p->a.inbox->len, a + 1);
	assert_int_equal(p->b.inbox->len, b + 1);
}

/* Agent 1 of a asks, agent 0 of b serves. */
static void
pair_serve(struct pair *p)
{
	pair_up(p);
	assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0), 1);
	assert_int_equal(try_register(&p->b, 1, SA, 2, 1, 1u << GET_TABLE), 0);
}

#define UP_TEST(name) \
	TEST_ON(name, struct pair, p, pair_up, pair_close)
#define SERVE_TEST(name) \
	TEST_ON(name, struct pair, p, pair_serve, pair_close)

SERVE_TEST(test_tables_of_all_lengths_come_whole)
{
	static const size_t sizes[] = { 0, 1, 199, 200, 201, 400, 12800, 12801,
					500000 };

	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		ask_and_answer(p, sizes[i]);
}

/* Its last segment is acknowledged; the time-out is that of the answer. */
SERVE_TEST(test_a_long_request_without_answer_comes_back)
{
	g_autoptr(GByteArray) request = make_table(1, 1000);

	request->data[3] = GET_TABLE;
	assert_int_equal(try_write(&p->a, 1, 2, 100, 0, request->data,
				   request->len), 0);
	run_ms(p, 90);
	assert_int_equal(message(&p->b, 0)->len - HDR, request->len);
	assert_int_equal(p->a.inbox->len, 0);
	run_ms(p, 100);
	assert_int_equal(p->a.inbox->len, 1);
	expect_status(&p->a, 0, ETIMEDOUT);
}

/* A program that does RMPP itself, with the flag or by asking for none. */
static int
register_own(struct host *h, bool flag)
{
	struct ib_user_mad_reg_req2 r = {
		.qpn = 1, .mgmt_class = SA, .mgmt_class_version = 2,
		.flags = flag ? IB_USER_MAD_USER_RMPP : 0, .rmpp_version = flag,
	};

	assert_int_equal(kernel_ioctl(h->file, IB_USER_MAD_REGISTER_AGENT2,
				      &r), 0);
	return (int)r.id;
}

/* An ACK of segment n, to which one more may follow. */
static void
write_ack(struct pair *p, int agent, uint64_t tid, uint32_t n)
{
	const struct rmpp_header h = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_ACK,
		.flags = RMPP_FLAG_ACTIVE, .segment = n, .length = n + 1,
	};
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, GET_TABLE, tid);
	rmpp_header_write(mad, &h);
	assert_int_equal(try_write(&p->a, agent, 2, 0, 0, mad, MAD_SIZE), 0);
	run_ms(p, 5);
}

/* The first segment is the answer to the request; all are delivered. */
TEST(test_own_rmpp_gets_each_segment_and_no_time_out)
{
	for (unsigned flag = 0; flag < 2; flag++) {
		AUTO_VALUE(pair_close) struct pair p;
		g_autoptr(GByteArray) table = NULL;
		struct rmpp_header h;
		uint8_t mad[MAD_SIZE];
		int agent;

		pair_up(&p);
		agent = register_own(&p.a, flag);
		assert_int_equal(try_register(&p.b, 1, SA, 2, 1,
					      1u << GET_TABLE), 0);
		rmpplab_header(mad, GET_TABLE, 9);
		assert_int_equal(try_write(&p.a, agent, 2, 100, 0, mad,
					   MAD_SIZE), 0);
		run_ms(&p, 5);
		table = make_table(tid_of(message(&p.b, 0)), 900);
		assert_int_equal(try_write(&p.b, 0, 1, 0, 0, table->data,
					   table->len), 0);
		run_ms(&p, 5);
		for (uint32_t n = 1; n <= 5; n++) {
			const GByteArray *got = message(&p.a, n - 1);

			assert_int_equal(header_of(got).status, 0);
			rmpp_header_read(got->data + HDR, MAD_SIZE, &h);
			assert_int_equal(h.segment, n);
			write_ack(&p, agent, 9, n);
		}
		run_ms(&p, 3000);
		assert_int_equal(p.a.inbox->len, 5);
		assert_int_equal(p.b.inbox->len, 1);
	}
}

/* Each ACK ends one; the others come back, after they were repeated. */
UP_TEST(test_own_segments_may_have_one_tid)
{
	g_autoptr(GByteArray) request = make_table(1, 100);
	uint8_t mad[MAD_SIZE];
	int agent;

	request->data[3] = GET_TABLE;
	agent = register_own(&p->a, true);
	assert_int_equal(try_register(&p->b, 1, SA, 2, 0, 1u << GET_TABLE), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(try_write(&p->a, agent, 2, 100 + 10 * i, 1,
					   request->data, request->len), 0);
	run_ms(p, 5);
	assert_int_equal(p->b.inbox->len, 4);
	rmpplab_header(mad, GET_TABLE_RESP, tid_of(message(&p->b, 0)));
	mad[26] = RMPP_FLAG_ACTIVE;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(try_write(&p->b, 0, 1, 0, 0, mad, MAD_SIZE),
				 0);
	run_ms(p, 500);
	assert_int_equal(p->b.inbox->len, 6);
	assert_int_equal(p->a.inbox->len, 4);
	for (unsigned i = 0; i < 4; i++)
		expect_status(&p->a, i, i < 2 ? 0 : ETIMEDOUT);
}

/* There is no ACK: it comes back with the requester's TID. */
UP_TEST(test_an_answer_without_ack_comes_back)
{
	g_autoptr(GByteArray) table = make_table(UINT64_C(0x900000017), 1000);

	assert_int_equal(try_register(&p->b, 1, SA, 2, 1, 1u << GET_TABLE), 0);
	sim_link_set_loss(p->sim, p->a.sim_port, 1000);
	assert_int_equal(try_write(&p->b, 0, 1, 0, 2, table->data, table->len),
			 0);
	/* it is under way */
	assert_int_equal(try_write(&p->b, 0, 1, 0, 2, table->data, table->len),
			 -EINVAL);
	run_ms(p, 5900);
	assert_int_equal(p->b.inbox->len, 0);
	run_ms(p, 200);
	assert_int_equal(message(&p->b, 0)->len, HDR + 24);
	expect_status(&p->b, 0, ETIMEDOUT);
	assert_true(tid_of(message(&p->b, 0)) == UINT64_C(0x900000017));
}

/* A port with LMC 1 answers from the LID that was asked; what does not come as
 * it was asked for is no answer. */
SERVE_TEST(test_an_answer_comes_the_way_of_its_request)
{
	static const struct {
		uint8_t path_bits, answer_to, grh, answer_grh;
		bool ok;
	} cases[] = {
		{ 0, 0, 0, 0, true }, { 1, 1, 0, 0, true },
		{ 1, 0, 0, 0, false }, { 0, 1, 0, 0, false },
		{ 0, 0, 1, 1, true }, { 0, 1, 1, 1, true },
		{ 0, 0, 1, 0, false }, { 0, 0, 0, 1, false },
	};

	set_port(p, &p->a, 4, 1);
	set_port(p, &p->b, 6, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct ib_user_mad_hdr hdr = {
			.id = 1, .timeout_ms = 50, .qpn = htobe32(1),
			.lid = htobe16(7), .path_bits = cases[i].path_bits,
			.grh_present = cases[i].grh, .hop_limit = 255,
			.traffic_class = 3, .flow_label = htobe32(0x12345),
		}, got;
		uint8_t mad[MAD_SIZE];

		rmpplab_header(mad, GET_TABLE, i + 1);
		assert_int_equal(write_to(&p->a, &hdr, mad, MAD_SIZE), 0);
		run_ms(p, 5);
		got = header_of(message(&p->b, i));
		assert_int_equal(be16toh(got.lid), 4 + cases[i].path_bits);
		assert_int_equal(got.path_bits, 1);
		assert_int_equal(got.grh_present, cases[i].grh);
		assert_int_equal(got.hop_limit, cases[i].grh ? 255 : 0);
		assert_int_equal(got.traffic_class, cases[i].grh ? 3 : 0);
		assert_int_equal(be32toh(got.flow_label),
				 cases[i].grh ? 0x12345 : 0);
		memcpy(mad, message(&p->b, i)->data + HDR, MAD_SIZE);
		mad[3] = GET_TABLE_RESP;
		got.id = 0;
		got.timeout_ms = got.status = 0;
		got.lid = htobe16(4 + cases[i].answer_to);
		got.grh_present = cases[i].answer_grh;
		assert_int_equal(write_to(&p->b, &got, mad, MAD_SIZE), 0);
		run_ms(p, 60);
		expect_status(&p->a, i, cases[i].ok ? 0 : ETIMEDOUT);
	}
}

/* By an agent and to a QP of its class, both. */
UP_TEST(test_a_mad_goes_from_its_qp_to_its_qp)
{
	static const struct {
		unsigned agent, qp;
		bool smp, answered;
	} cases[] = {
		{ 0, 0, true, true }, { 0, 1, true, false },
		{ 1, 0, true, false }, { 1, 1, false, true },
		{ 1, 0, false, false }, { 1, 7, false, false },
		{ 0, 1, false, false },
	};

	assert_int_equal(try_register(&p->a, 1, SA, 2, 0, 0), 1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct ib_user_mad_hdr hdr = {
			.id = cases[i].agent, .timeout_ms = 50,
			.qpn = htobe32(cases[i].qp),
			.lid = htobe16(cases[i].smp ? 0xffff : 2),
		};
		uint8_t mad[MAD_SIZE];

		if (cases[i].smp)
			make_smp(mad, i + 1);
		else
			rmpplab_header(mad, MAD_METHOD_GET, i + 1);
		assert_int_equal(write_to(&p->a, &hdr, mad, MAD_SIZE), 0);
		run_ms(p, 60);
		expect_status(&p->a, i, cases[i].answered ? 0 : ETIMEDOUT);
	}
	assert_int_equal(sim_stats(p->sim)->lost_qp, 5);
}

/* MADs are short; a link has to be Active, and both ends have the P_Key. */
SERVE_TEST(test_a_gmp_passes_as_a_packet_does)
{
	static const struct {
		uint8_t state, mtu;
		uint16_t pkey;
		bool passes;
	} cases[] = {
		{ PORT_STATE_ACTIVE, 1, 0xffff, true },
		{ PORT_STATE_ARMED, 5, 0xffff, false },
		{ PORT_STATE_ACTIVE, 5, 0x8001, false },
		{ PORT_STATE_ACTIVE, 5, 0x7fff, true },
	};
	struct sim_port *a = &p->sim->ports[p->a.sim_port];
	struct sim_port *b = &p->sim->ports[p->b.sim_port];
	uint8_t mad[MAD_SIZE];

	a->tables = g_new0(struct sim_tables, 1);
	a->tables->pkeys = g_malloc0_n(4, SIM_TABLE_BLOCK);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		guint before = p->b.inbox->len;

		b->info.state = cases[i].state;
		b->info.neighbor_mtu = cases[i].mtu;
		bytes_store(a->tables->pkeys[0], cases[i].pkey, 2);
		rmpplab_header(mad, GET_TABLE, i + 1);
		assert_int_equal(try_write(&p->a, 1, 2, 9, 0, mad, MAD_SIZE),
				 0);
		run_ms(p, 5);
		assert_int_equal(p->b.inbox->len - before, cases[i].passes);
	}
	assert_int_equal(b->info.p_key_violations, 1);
}

UP_TEST(test_what_no_agent_serves_is_refused)
{
	uint8_t mad[MAD_SIZE];

	assert_int_equal(try_register(&p->a, 1, SA, 2, 1, 0), 1);
	rmpplab_header(mad, MAD_METHOD_GET, 5);
	assert_int_equal(try_write(&p->a, 1, 2, 1000, 0, mad, MAD_SIZE), 0);
	run_ms(p, 5);
	assert_int_equal(message(&p->a, 0)->len, HDR + MAD_SIZE);
	assert_int_equal(bytes_load16(message(&p->a, 0)->data + HDR + 4),
			 MAD_STATUS_BAD_ATTRIBUTE);
}
