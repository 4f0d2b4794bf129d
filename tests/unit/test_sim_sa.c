// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subnet administration from end to end on the simulator: clients on hosts
 * ask, join and leave by MADs; what came of it is asked of the data plane.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/io/sa_message.h"
#include "sm/mad/sa_record.h"
#include "tests/lib/world.h"

#define SECOND	G_USEC_PER_SEC

struct client {
	struct world *w;
	uint32_t port;
	struct transport *t;
	struct sa_message *bulk;
	struct mad_client *x;
	unsigned status, n_answers, n_reports;
	uint8_t data[SA_DATA_LEN];
	size_t table_len;
};

static const struct mad_client_params wire = {
	.timeout_ms = 100, .retries = 3, .max_wire = 512,
};

static uint32_t
host(const struct world *w, unsigned i)
{
	for (uint32_t p = 0; p < w->s->n_ports; p++)
		if (snapshot_is_end_port(w->s, p) &&
		    !snapshot_is_switch(snapshot_node_of(w->s, p)) && i-- == 0)
			return p;
	fail();
	return 0;
}

static void
on_table(const struct sa_message_message *m, void *data)
{
	struct client *c = data;

	c->table_len = m->len;
	c->n_answers++;
}

/* A Report is answered, as a client's kernel does. */
static void
on_request(const struct transport_mad *m, const struct mad_header *h,
	   void *data)
{
	struct client *c = data;
	struct mad_addr to = m->addr;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, m->mad, MAD_SIZE);
	mad[3] |= MAD_METHOD_RESPONSE;
	to.qkey = 0x80010000u;
	transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL);
	c->n_reports++;
}

static void
client_open(struct client *c, struct world *w, uint32_t port)
{
	memset(c, 0, sizeof(*c));
	c->w = w;
	c->port = port;
	c->t = sim_attach(w->sim, port, SIM_ROLE_CLIENT);
	c->x = mad_client_new(c->t, &wire);
	mad_client_set_server(c->x, on_request, c);
	c->bulk = sa_message_new(c->t, SA_MESSAGE_COLLECT_MAX);
	sa_message_intercept(c->bulk);
	sa_message_set_receiver(c->bulk, on_table, c);
}

static void
client_close(struct client *c)
{
	sa_message_free(c->bulk);
	mad_client_free(c->x);
	transport_free(c->t);
}

static void
on_answer(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct client *c = data;

	c->n_answers++;
	c->status = 0xffff;
	if (a->outcome == MAD_CLIENT_ANSWERED) {
		c->status = a->header.status;
		memcpy(c->data, a->mad + SA_DATA_OFFSET, SA_DATA_LEN);
	}
}

static struct mad_addr
manager_addr(const struct client *c)
{
	return (struct mad_addr){
		.qp = 1, .qkey = 0x80010000u,
		.lid = sim_port_info(c->w->sim, c->port)->sm_lid,
	};
}

static void
ask(struct client *c, const uint8_t *mad)
{
	struct mad_addr to = manager_addr(c);

	mad_client_start(c->x, &to, mad, on_answer, c, 0);
}

static void
run(struct world *w, int64_t us)
{
	sim_run(w->sim, sim_now(w->sim) + us);
}

static void
put_gid(const struct client *c, uint32_t port, uint8_t gid[16])
{
	uint64_t be[2] = {
		GUINT64_TO_BE(UINT64_C(0xfe80000000000000)),
		GUINT64_TO_BE(c->w->s->ports[port].guid),
	};

	memcpy(gid, be, 16);
}

static void
change_membership(struct client *c, unsigned method, uint8_t states)
{
	static const uint8_t mgid[16] = {
		0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff,
	};
	struct mcmember_record r = { .join_state = states };
	uint8_t mad[MAD_SIZE];

	memcpy(r.mgid, mgid, 16);
	put_gid(c, c->port, r.port_gid);
	sa_build(mad, method, SA_ATTR_MC_MEMBER);
	mad[55] = SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID);
	mad[53] = SA_BIT(MCM_JOIN_STATE) >> 16;
	sa_record_encode(SA_ATTR_MC_MEMBER, mad + SA_DATA_OFFSET, &r);
	ask(c, mad);
	run(c->w, SECOND);
	assert_int_equal(c->status, 0);
}

/* Who gets what `from` sends to the group: hosts with a bit set. */
static unsigned
reached(struct world *w, uint32_t from, const struct client *clients,
	unsigned n)
{
	struct sim_mcast out;
	unsigned mask = 0;

	assert_int_equal(sim_probe_mcast(w->sim, from, 0xc000, 0xffff, 0,
					 &out), SIM_DELIVERED);
	for (guint i = 0; i < out.reached->len; i++) {
		uint32_t port = g_array_index(out.reached, uint32_t, i);
		unsigned k;

		for (k = 0; k < n; k++)
			if (clients[k].port == port)
				break;
		assert_true(k < n);	/* nobody else gets it */
		assert_false(mask & 1u << k);	/* and nobody twice */
		mask |= 1u << k;
	}
	sim_mcast_clear(&out);
	return mask;
}

static void
world_up(struct world *w, const char *spec)
{
	const struct world_params params = {
		.spec = spec, .seed = 3, .engine = "auto", .sweep_s = 2,
	};

	world_open(w, &params);
	assert_true(world_settle(w, 60 * SECOND));
	assert_int_equal(w->m.last, SWEEP_END_UP);
}

static void
test_client_gets_a_path(void **state)
{
	struct path_record want = { 0 }, got;
	uint8_t mad[MAD_SIZE];
	struct client c;
	struct world w;

	world_up(&w, "PGFT(3,4;1,3)");
	client_open(&c, &w, host(&w, 3));
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_PATH);
	mad[55] = SA_BIT(PATH_DGID) | SA_BIT(PATH_SGID);
	put_gid(&c, c.port, want.sgid);
	put_gid(&c, host(&w, 8), want.dgid);
	path_record_encode(mad + SA_DATA_OFFSET, &want);
	ask(&c, mad);
	run(&w, SECOND);
	assert_int_equal(c.n_answers, 1);
	assert_int_equal(c.status, 0);
	path_record_decode(c.data, &got);
	assert_int_equal(sim_probe(w.sim, c.port, got.dlid, got.pkey, got.sl,
				   NULL), SIM_DELIVERED);
	client_close(&c);
	world_close(&w);
}

/* All paths of a fabric: more than a MAD, by RMPP, loss or not. */
static void
test_tables_go_by_rmpp(void **state)
{
	const struct sim_rule loss = {
		.match = { .node = SIM_ANY }, .kind = SIM_FAULT_LOSS,
		.per_mille = 50, .times = 100000,
	};
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];
	struct client c;
	struct world w;

	for (unsigned lossy = 0; lossy < 2; lossy++) {
		world_up(&w, "PGFT(4,4;1,4)");
		client_open(&c, &w, host(&w, 7));
		if (lossy)
			sim_rule_add(w.sim, &loss);
		sa_build(mad, SA_METHOD_GET_TABLE, SA_ATTR_PATH);
		to = manager_addr(&c);
		for (unsigned i = 0; i < 20 && !c.n_answers; i++) {
			mad_set_tid(mad, 77 + i);
			transport_send(c.t, &to, mad, MAD_SIZE, 0, NULL);
			run(&w, 10 * SECOND);
		}
		assert_true(c.n_answers >= 1);
		assert_int_equal(c.table_len, 64 * 24 * 24);
		client_close(&c);
		world_close(&w);
	}
}

static void
test_group_reaches_its_members_and_nobody_else(void **state)
{
	static const char *const specs[] = {
		"PGFT(3,4;1,3)", "PGFT(2,2,3;1,2,2)", "torus(3,3;1)",
		"ring(8;1)",
	};

	for (size_t s = 0; s < G_N_ELEMENTS(specs); s++) {
		struct client c[4];
		struct world w;

		world_up(&w, specs[s]);
		for (unsigned i = 0; i < 4; i++)
			client_open(&c[i], &w, host(&w, 2 * i));
		for (unsigned i = 0; i < 4; i++) {
			change_membership(&c[i], MAD_METHOD_SET, 1);
			for (unsigned k = 0; k <= i; k++)
				assert_int_equal(reached(&w, c[k].port, c, 4) |
						 1u << k, (2u << i) - 1);
		}
		/* Leaves are pruned, the last one ends it. */
		change_membership(&c[1], SA_METHOD_DELETE, 1);
		assert_int_equal(reached(&w, c[0].port, c, 4) | 1, 0xd);
		change_membership(&c[3], SA_METHOD_DELETE, 1);
		assert_int_equal(reached(&w, c[0].port, c, 4) | 1, 0x5);
		for (unsigned i = 0; i < 4; i++)
			client_close(&c[i]);
		world_close(&w);
	}
}

static void
test_group_survives_a_cut_cable_and_a_reset(void **state)
{
	struct client c[3];
	struct world w;

	world_up(&w, "PGFT(3,4;1,3)");
	for (unsigned i = 0; i < 3; i++)
		client_open(&c[i], &w, host(&w, 4 * i));
	for (unsigned i = 0; i < 3; i++)
		change_membership(&c[i], MAD_METHOD_SET, 1);
	for (uint32_t p = 0; p < w.s->n_ports; p++) {
		uint32_t peer = w.s->ports[p].peer;

		if (peer == SNAPSHOT_NONE || peer < p ||
		    !snapshot_is_switch(snapshot_node_of(w.s, p)) ||
		    !snapshot_is_switch(snapshot_node_of(w.s, peer)))
			continue;
		sim_link_cut(w.sim, p);
		run(&w, 5 * SECOND);
		assert_true(world_settle(&w, 60 * SECOND));
		run(&w, SECOND);
		assert_int_equal(reached(&w, c[0].port, c, 3) | 1, 7);
		sim_link_mend(w.sim, p);
		run(&w, 5 * SECOND);
		assert_true(world_settle(&w, 60 * SECOND));
		run(&w, SECOND);
		assert_int_equal(reached(&w, c[2].port, c, 3) | 4, 7);
	}
	for (uint32_t sw = 0; sw < w.s->n_switches; sw++) {
		sim_node_reset(w.sim, w.s->switches[sw]);
		run(&w, 5 * SECOND);
		assert_true(world_settle(&w, 60 * SECOND));
		/* Its hosts saw their links go down, and join again. */
		for (unsigned i = 0; i < 3; i++)
			change_membership(&c[i], MAD_METHOD_SET, 1);
		assert_int_equal(reached(&w, c[1].port, c, 3) | 2, 7);
	}
	for (unsigned i = 0; i < 3; i++)
		client_close(&c[i]);
	world_close(&w);
}

/* Another host on the same leaf. */
static uint32_t
neighbour(const struct world *w, uint32_t port)
{
	uint32_t leaf = w->s->ports[w->s->ports[port].peer].node;

	for (uint32_t p = 0; p < w->s->n_ports; p++)
		if (p != port && snapshot_is_end_port(w->s, p) &&
		    w->s->ports[p].peer != SNAPSHOT_NONE &&
		    w->s->ports[w->s->ports[p].peer].node == leaf)
			return p;
	fail();
	return 0;
}

/* Nothing is written twice: a join costs the switches on its branch only. */
static void
test_second_join_writes_little(void **state)
{
	const struct mcast_manager_stats *stats;
	struct client c[3];
	uint64_t written;
	struct world w;

	world_up(&w, "PGFT(4,8;1,4)");
	stats = mcast_manager_stats(w.m.mcast);
	client_open(&c[0], &w, host(&w, 0));
	client_open(&c[1], &w, host(&w, 13));
	client_open(&c[2], &w, neighbour(&w, c[1].port));
	change_membership(&c[0], MAD_METHOD_SET, 1);
	change_membership(&c[1], MAD_METHOD_SET, 1);
	written = stats->written;
	assert_true(written > 0);
	change_membership(&c[2], MAD_METHOD_SET, 1);	/* the same leaf */
	assert_int_equal(stats->written, written + 1);
	written = stats->written;
	sweep_request(w.m.sweep, SWEEP_CAUSE_SIGNAL);
	run(&w, 5 * SECOND);
	assert_int_equal(stats->written, written);
	assert_int_equal(stats->failed, 0);
	for (unsigned i = 0; i < 3; i++)
		client_close(&c[i]);
	world_close(&w);
}

static void
test_subscriber_hears_of_a_host_that_goes(void **state)
{
	struct inform_info info = {
		.lid_begin = 0xffff, .generic = true, .subscribe = 1,
		.type = 0xffff, .trap = 65, .producer = 0xffffff, .qpn = 1,
	};
	uint8_t mad[MAD_SIZE];
	struct client c;
	struct world w;

	world_up(&w, "PGFT(3,4;1,3)");
	client_open(&c, &w, host(&w, 2));
	sa_build(mad, MAD_METHOD_SET, SA_ATTR_INFORM_INFO);
	sa_record_encode(SA_ATTR_INFORM_INFO, mad + SA_DATA_OFFSET, &info);
	ask(&c, mad);
	run(&w, SECOND);
	assert_int_equal(c.status, 0);
	sim_node_off(w.sim, w.s->ports[host(&w, 9)].node);
	run(&w, 5 * SECOND);
	assert_true(world_settle(&w, 60 * SECOND));
	assert_int_equal(c.n_reports, 1);
	assert_int_equal(sa_server_stats(w.m.desk)->unheard, 0);
	client_close(&c);
	world_close(&w);
}

/* One client asks without end; another one's question is answered soon. */
static void
test_babbler_pushes_nobody_out(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct client loud, polite;
	struct mad_addr to;
	struct world w;

	world_up(&w, "PGFT(3,4;1,3)");
	client_open(&loud, &w, host(&w, 2));
	client_open(&polite, &w, host(&w, 5));
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO);
	to = manager_addr(&loud);
	for (unsigned i = 0; i < 2000; i++) {
		mad_set_tid(mad, i + 1);
		transport_send(loud.t, &to, mad, MAD_SIZE, 0, NULL);
	}
	ask(&polite, mad);
	run(&w, SECOND / 10);
	assert_int_equal(polite.n_answers, 1);
	assert_int_equal(polite.status, 0);
	run(&w, SECOND);
	assert_int_equal(sa_server_stats(w.m.desk)->waiting, 0);
	assert_int_equal(sa_server_stats(w.m.desk)->taken, 2001);
	assert_int_equal(sa_server_stats(w.m.desk)->answered +
			 sa_server_stats(w.m.desk)->busy, 2001);
	client_close(&loud);
	client_close(&polite);
	world_close(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_gets_a_path),
		cmocka_unit_test(test_tables_go_by_rmpp),
		cmocka_unit_test(
			test_group_reaches_its_members_and_nobody_else),
		cmocka_unit_test(
			test_group_survives_a_cut_cable_and_a_reset),
		cmocka_unit_test(test_second_join_writes_little),
		cmocka_unit_test(test_subscriber_hears_of_a_host_that_goes),
		cmocka_unit_test(test_babbler_pushes_nobody_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
