// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The data plane of the simulated fabric, and the packets that really use it.
 */
#include <string.h>

#include "sm/sim/state.h"
#include "sm/mad/bytes.h"
#include "tests/lib/sim_lab.h"
#include "tests/lib/unit.h"
#include "tests/lib/sim_script.h"

#define LIMIT	(10 * G_USEC_PER_SEC)

/* A fabric that a subnet manager brought up. */
struct bench {
	struct snapshot *s;
	struct sim *sim;
	struct manager sm;
	GArray *hosts;
};

static void
bench_open(struct bench *b, const char *spec)
{
	b->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(b->s);
	b->sim = sim_new(b->s, NULL);
	manager_open(&b->sm, b->sim, b->s->local_port, NULL, NULL);
	assert_true(manager_wait_up(&b->sm, LIMIT));
	b->hosts = simlab_hosts(b->sim, b->s, b->s->local_port);
}

static void
bench_close(struct bench *b)
{
	manager_close(&b->sm);
	g_array_unref(b->hosts);
	sim_free(b->sim);
	snapshot_unref(b->s);
}

static uint32_t
host(const struct bench *b, unsigned i)
{
	return g_array_index(b->hosts, uint32_t, i);
}

static uint16_t
lid_of(const struct bench *b, uint32_t port)
{
	return sim_port_info(b->sim, port)->lid;
}

static enum sim_delivery
probe(const struct bench *b, uint32_t from, uint32_t to,
      struct sim_trace *trace)
{
	return sim_probe(b->sim, from, lid_of(b, to), 0xffff, 0, trace);
}

static struct sim_node *
node_of(const struct bench *b, uint32_t port)
{
	return sim_node_of(b->sim, port);
}

/* Two hosts with three switches between them. */
static void
far_apart(const struct bench *b, uint32_t *from, uint32_t *to,
	  struct sim_trace *trace)
{
	*from = host(b, 0);
	for (guint i = 1; i < b->hosts->len; i++) {
		*to = host(b, i);
		assert_int_equal(probe(b, *from, *to, trace), SIM_DELIVERED);
		if (trace->n == 4)
			return;
	}
	fail_msg("all hosts are on one switch");
}

static int
set_up_tree(void **state)
{
	struct bench *new = g_new0(struct bench, 1);

	bench_open(new, "PGFT(4,4;1,4)");
	*state = new;
	return 0;
}

static int
tear_down(void **state)
{
	bench_close(*state);
	g_free(*state);
	return 0;
}

TEST(test_trace_is_the_way_that_was_taken, set_up_tree, tear_down)
{
	struct sim_trace trace;
	uint32_t from, to, at;
	struct bench *b = *state;

	assert_int_equal(b->hosts->len, 16);
	far_apart(b, &from, &to, &trace);
	at = from;
	for (unsigned i = 0; i < trace.n; i++) {
		assert_int_equal(b->s->ports[trace.hop[i].port].node,
				 b->s->ports[at].node);
		assert_int_equal(trace.hop[i].vl, 0);
		at = sim_peer(b->sim, trace.hop[i].port);
	}
	assert_int_equal(at, to);
	assert_int_equal(trace.end, to);
	/* to itself: no hop */
	assert_int_equal(probe(b, from, from, &trace), SIM_DELIVERED);
	assert_int_equal(trace.n, 0);
	/* a switch has a LID, too */
	to = b->s->nodes[b->s->switches[3]].first_port;
	assert_int_equal(probe(b, from, to, &trace), SIM_DELIVERED);
	assert_int_equal(trace.end, to);
}

TEST(test_each_way_to_lose_a_packet_has_its_name, set_up_tree, tear_down)
{
	struct sim_trace trace, ignored;
	uint32_t from, to, hop1, hop2;
	struct sim_node *first;
	uint16_t lid;
	uint8_t out;
	struct bench *b = *state;

	far_apart(b, &from, &to, &trace);
	lid = lid_of(b, to);
	hop1 = trace.hop[1].port;	/* up from the first switch */
	hop2 = trace.hop[2].port;	/* down again */
	first = node_of(b, hop1);
	out = first->lft[lid];

	assert_int_equal(sim_probe(b->sim, from, 0, 0xffff, 0, NULL),
			 SIM_NO_LID);
	assert_int_equal(sim_probe(b->sim, from, 0xc001, 0xffff, 0, NULL),
			 SIM_NO_LID);
	assert_int_equal(sim_probe(b->sim, from, 0xbffe, 0xffff, 0, NULL),
			 SIM_NO_ROUTE);
	first->lft[lid] = 255;
	assert_int_equal(probe(b, from, to, &trace), SIM_NO_ROUTE);
	first->lft[lid] = 200;
	assert_int_equal(probe(b, from, to, &trace), SIM_NO_ROUTE);
	first->lft[lid] = 0;
	assert_int_equal(probe(b, from, to, &trace), SIM_WRONG_END);
	assert_int_equal(trace.end, first->first_port);
	/* back where it came from */
	first->lft[lid] = out;
	node_of(b, hop2)->lft[lid] = b->s->ports[
		sim_peer(b->sim, hop1)].num;
	assert_int_equal(probe(b, from, to, &trace), SIM_LOOP);
	assert_int_equal(trace.n, SIM_HOPS_MAX);
	node_of(b, hop2)->lft[lid] = b->s->ports[hop2].num;
	assert_int_equal(probe(b, from, to, &trace), SIM_DELIVERED);
	/* beyond the top nothing is looked up */
	first->sw.linear_fdb_top = lid - 1;
	assert_int_equal(probe(b, from, to, &ignored), SIM_NO_ROUTE);
	first->sw.linear_fdb_top = lid;
	/* Armed is not enough, at either end */
	sim_link_set_state(b->sim, hop1, PORT_STATE_ARMED);
	assert_int_equal(probe(b, from, to, &ignored), SIM_NO_LINK);
	sim_link_set_state(b->sim, hop1, PORT_STATE_ACTIVE);
	sim_link_set_state(b->sim, sim_peer(b->sim, hop1), PORT_STATE_INIT);
	assert_int_equal(probe(b, from, to, &ignored), SIM_NO_LINK);
	assert_int_equal(ignored.end, hop1);
}

static void
set_pkey(struct bench *b, uint32_t port, uint16_t pkey)
{
	struct sim_tables *t;

	if (!b->sim->ports[port].tables)
		b->sim->ports[port].tables = g_new0(struct sim_tables, 1);
	t = b->sim->ports[port].tables;
	if (!t->pkeys)
		t->pkeys = g_malloc0_n(4, SIM_TABLE_BLOCK);
	bytes_store(t->pkeys[0], pkey, 2);
}

TEST(test_p_keys_are_checked_at_both_ends, set_up_tree, tear_down)
{
	static const struct {
		uint16_t sender, packet, receiver;
		enum sim_delivery expected;
	} cases[] = {
		{ 0x8001, 0x8001, 0x8001, SIM_DELIVERED },
		{ 0x8001, 0x8001, 0x0001, SIM_DELIVERED },
		{ 0x0001, 0x0001, 0x8001, SIM_DELIVERED },
		{ 0x0001, 0x0001, 0x0001, SIM_BAD_PKEY },
		{ 0x0001, 0x8001, 0x8001, SIM_BAD_PKEY },
		{ 0x8001, 0x8001, 0x8002, SIM_BAD_PKEY },
		{ 0x8000, 0x8000, 0x8000, SIM_BAD_PKEY },
	};
	struct sim_trace trace;
	uint32_t from, to;
	struct bench *b = *state;

	far_apart(b, &from, &to, &trace);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		set_pkey(b, from, cases[i].sender);
		set_pkey(b, to, cases[i].receiver);
		assert_int_equal(sim_probe(b->sim, from, lid_of(b, to),
					   cases[i].packet, 0, NULL),
				 cases[i].expected);
	}
}

TEST(test_switches_enforce_partitions, set_up_tree, tear_down)
{
	struct sim_trace trace;
	uint32_t from, to, out, in;
	struct bench *b = *state;

	far_apart(b, &from, &to, &trace);
	out = trace.hop[1].port;
	in = sim_peer(b->sim, out);
	set_pkey(b, out, 0x8001);
	set_pkey(b, in, 0x8001);
	assert_int_equal(probe(b, from, to, NULL), SIM_DELIVERED);
	b->sim->ports[out].info.enforce_outbound = true;
	assert_int_equal(probe(b, from, to, &trace), SIM_BAD_PKEY);
	assert_int_equal(trace.end, out);
	b->sim->ports[out].info.enforce_outbound = false;
	b->sim->ports[in].info.enforce_inbound = true;
	assert_int_equal(probe(b, from, to, &trace), SIM_BAD_PKEY);
	assert_int_equal(trace.end, in);
	set_pkey(b, in, 0x7fff);	/* the packet is a full member's */
	assert_int_equal(probe(b, from, to, NULL), SIM_DELIVERED);
}

TEST(test_sl_decides_the_vl_and_15_drops, set_up_tree, tear_down)
{
	uint8_t map[SIM_SL2VL_LEN] = { 0 };
	struct sim_trace trace;
	uint32_t from, to, out;
	unsigned in;
	struct sim_tables *t;
	struct bench *b = *state;

	far_apart(b, &from, &to, &trace);
	out = trace.hop[1].port;
	in = b->s->ports[sim_peer(b->sim, trace.hop[0].port)].num;
	assert_int_equal(sim_probe(b->sim, from, lid_of(b, to), 0xffff, 3,
				   &trace), SIM_DELIVERED);
	assert_int_equal(trace.hop[1].vl, 3 %
			 (1 << (sim_port_info(b->sim, out)->oper_vls - 1)));
	t = b->sim->ports[out].tables = g_new0(struct sim_tables, 1);
	t->sl2vl = g_malloc0_n(node_of(b, out)->info.num_ports + 1,
			       SIM_SL2VL_LEN);
	map[1] = 0x2f;			/* SL 2 to VL 2, SL 3 to 15 */
	b->sim->ports[out].info.oper_vls = 3;
	memcpy(t->sl2vl[in], map, sizeof(map));
	assert_int_equal(sim_probe(b->sim, from, lid_of(b, to), 0xffff, 2,
				   &trace), SIM_DELIVERED);
	assert_int_equal(trace.hop[1].vl, 2);
	assert_int_equal(sim_probe(b->sim, from, lid_of(b, to), 0xffff, 3,
				   &trace), SIM_BAD_VL);
	/* VL 2 exists only if there are four of them */
	b->sim->ports[out].info.oper_vls = 2;
	assert_int_equal(sim_probe(b->sim, from, lid_of(b, to), 0xffff, 2,
				   &trace), SIM_BAD_VL);
}

/* -------------------------------------------------------------- multicast */

static void
mcast_join(struct bench *b, uint32_t node, uint16_t mlid, unsigned port)
{
	struct sim_packet p = { .h.method = MAD_METHOD_GET };
	struct sim_node *n = &b->sim->nodes[node];
	uint8_t data[SMP_DATA_LEN];
	unsigned at = (mlid - LID_MULTICAST_MIN) % 32 * 2;
	unsigned bit = port % 16;

	p.h.attr_id = MAD_ATTR_MULTICAST_FT;
	p.h.attr_mod = port / 16 << 28 | (mlid - LID_MULTICAST_MIN) / 32;
	assert_int_equal(sim_table_serve(b->sim, n->first_port, &p, data), 0);
	data[at + (bit < 8)] |= 1u << bit % 8;
	p.h.method = MAD_METHOD_SET;
	assert_int_equal(sim_table_serve(b->sim, n->first_port, &p, data), 0);
}

static unsigned
times_reached(const struct sim_mcast *m, uint32_t port)
{
	unsigned n = 0;

	for (guint i = 0; i < m->reached->len; i++)
		n += g_array_index(m->reached, uint32_t, i) == port;
	return n;
}

TEST(test_multicast_follows_the_masks)
{
	uint16_t mlid = LID_MULTICAST_MIN + 45;
	uint32_t sw, out, from;
	struct sim_mcast m;
	struct bench b;

	bench_open(&b, "single(20)");
	sw = b.s->switches[0];
	from = host(&b, 0);
	/* nobody has joined, and there is no default port */
	assert_int_equal(sim_probe_mcast(b.sim, from, mlid, 0xffff, 0, &m),
			 SIM_DELIVERED);
	assert_int_equal(m.reached->len, 0);
	assert_int_equal(m.lost[SIM_NO_ROUTE], 1);
	sim_mcast_clear(&m);
	/* the sender, three others, the switch itself */
	for (unsigned i = 0; i < 20; i += 6)
		mcast_join(&b, sw, mlid, b.s->ports[
			   sim_peer(b.sim, host(&b, i))].num);
	mcast_join(&b, sw, mlid, 0);
	assert_int_equal(sim_probe_mcast(b.sim, from, mlid, 0xffff, 0, &m),
			 SIM_DELIVERED);
	assert_int_equal(m.reached->len, 4);
	assert_int_equal(times_reached(&m, host(&b, 6)), 1);
	assert_int_equal(times_reached(&m, host(&b, 18)), 1);
	assert_int_equal(times_reached(&m, b.s->nodes[sw].first_port), 1);
	assert_int_equal(times_reached(&m, from), 0);
	assert_int_equal(m.channels, 4);
	sim_mcast_clear(&m);
	/* a link that is down, a key that does not fit */
	sim_link_cut(b.sim, host(&b, 6));
	set_pkey(&b, host(&b, 12), 0x8001);
	assert_int_equal(sim_probe_mcast(b.sim, from, mlid, 0xffff, 0, &m),
			 SIM_DELIVERED);
	assert_int_equal(m.reached->len, 2);
	assert_int_equal(m.lost[SIM_NO_LINK], 1);
	assert_int_equal(m.lost[SIM_BAD_PKEY], 1);
	sim_mcast_clear(&m);
	assert_int_equal(sim_probe_mcast(b.sim, from, 5, 0xffff, 0, &m),
			 SIM_NO_LID);
	sim_mcast_clear(&m);
	/* another MLID goes to the default port */
	out = host(&b, 3);
	b.sim->nodes[sw].sw.default_mcast_primary =
		b.s->ports[sim_peer(b.sim, out)].num;
	assert_int_equal(sim_probe_mcast(b.sim, from, mlid + 1, 0xffff, 0,
					 &m), SIM_DELIVERED);
	assert_int_equal(m.reached->len, 1);
	assert_int_equal(times_reached(&m, out), 1);
	sim_mcast_clear(&m);
	bench_close(&b);
}

TEST(test_multicast_loop_is_found)
{
	uint16_t mlid = LID_MULTICAST_MIN;
	struct sim_mcast m;
	struct bench b;

	bench_open(&b, "ring(4;1)");
	/* every port of every switch: round and round */
	for (uint32_t i = 0; i < b.s->n_switches; i++)
		for (unsigned p = 1; p <= b.s->nodes[b.s->switches[i]]
		     .info.num_ports; p++)
			mcast_join(&b, b.s->switches[i], mlid, p);
	assert_int_equal(sim_probe_mcast(b.sim, host(&b, 0), mlid, 0xffff, 0,
					 &m), SIM_LOOP);
	assert_true(m.lost[SIM_LOOP] > 0);
	/* it came round, and back to the sender */
	assert_int_equal(times_reached(&m, host(&b, 0)), 1);
	sim_mcast_clear(&m);
	bench_close(&b);
}

/* ---------------------------------------------------- packets that move */

struct mailbox {
	unsigned requests, answers, traps;
	struct mad_addr from;
	uint8_t mad[MAD_SIZE];
};

static void
on_mail(const struct transport_mad *m, void *data)
{
	struct mailbox *box = data;
	struct mad_header h;

	assert_int_equal(m->event, TRANSPORT_RECEIVED);
	mad_header_read(m->mad, m->len, &h);
	if (h.method & MAD_METHOD_RESPONSE)
		box->answers++;
	else
		box->requests++;
	box->from = m->addr;
	memcpy(box->mad, m->mad, MAD_SIZE);
}

static void
send_gmp(struct transport *t, uint16_t lid, unsigned method)
{
	const struct mad_addr to = {
		.qp = 1, .qkey = 0x80010000, .lid = lid,
	};
	uint8_t mad[MAD_SIZE] = { 1, 0x0a, 1, method };

	assert_true(transport_send(t, &to, mad, MAD_SIZE, 0, NULL));
}

TEST(test_gmps_pass_between_clients, set_up_tree, tear_down)
{
	struct transport *a, *c;
	struct mailbox box_a = { 0 }, box_c = { 0 };
	uint32_t from, to;
	struct sim_trace trace;
	uint8_t answer[MAD_SIZE];
	struct bench *b = *state;

	far_apart(b, &from, &to, &trace);
	a = sim_attach(b->sim, from, SIM_ROLE_CLIENT);
	c = sim_attach(b->sim, to, SIM_ROLE_CLIENT);
	transport_set_receiver(a, on_mail, &box_a);
	transport_set_receiver(c, on_mail, &box_c);
	send_gmp(a, lid_of(b, to), MAD_METHOD_GET);
	sim_run(b->sim, sim_now(b->sim) + 100);
	assert_int_equal(box_c.requests, 1);
	assert_int_equal(box_c.from.lid, lid_of(b, from));
	assert_int_equal(box_c.from.qp, 1);
	/* the answer finds its asker by the address and the TID */
	memcpy(answer, box_c.mad, MAD_SIZE);
	answer[3] = MAD_METHOD_GET_RESP;
	assert_true(transport_send(c, &box_c.from, answer, MAD_SIZE, 0,
				   NULL));
	sim_run(b->sim, sim_now(b->sim) + 100);
	assert_int_equal(box_a.answers, 1);
	assert_int_equal(box_a.from.lid, lid_of(b, to));
	/* not over a link that is only Armed */
	sim_link_set_state(b->sim, trace.hop[2].port, PORT_STATE_ARMED);
	send_gmp(a, lid_of(b, to), MAD_METHOD_GET);
	sim_run(b->sim, sim_now(b->sim) + 100);
	assert_int_equal(box_c.requests, 1);
	sim_link_set_state(b->sim, trace.hop[2].port, PORT_STATE_ACTIVE);
	/* nor with a key that the other end does not have */
	set_pkey(b, from, 0x8001);
	send_gmp(a, lid_of(b, to), MAD_METHOD_GET);
	sim_run(b->sim, sim_now(b->sim) + 100);
	assert_int_equal(box_c.requests, 1);
	assert_int_equal(sim_port_info(b->sim, to)->p_key_violations, 1);
	set_pkey(b, to, 0x0001);
	send_gmp(a, lid_of(b, to), MAD_METHOD_GET);
	sim_run(b->sim, sim_now(b->sim) + 100);
	assert_int_equal(box_c.requests, 2);
}
