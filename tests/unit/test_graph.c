// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a snapshot to edges and targets: what counts, and in which order.
 */
#include "routing/graph.h"
#include "tests/lib/auto.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/unit.h"
#include "tools/net_file_parse.h"

/*
 *  S1 --1:1-- S2	two cables between S1 and S2, crossed:
 *  S1 --2:3-- S2	port 3 of S1 is cabled to port 2 of S1,
 *  S1 5 -- H3		port 4 of S1 leads nowhere
 */
#define GUID_S1		0x10u
#define GUID_S2		0x20u
#define GUID_H3		0x30u

static struct snapshot *
make_pair_of_switches(void)
{
	static const char net[] =
		"switchguid=0x10(10)\nSwitch 5 \"S-10\"\n[1] \"S-20\"[1]\n"
		"[2] \"S-20\"[3]\n[3] \"S-20\"[2]\n[5] \"H-30\"[1]\n\n"
		"switchguid=0x20(20)\nSwitch 5 \"S-20\"\n[1] \"S-10\"[1]\n"
		"[2] \"S-10\"[3]\n[3] \"S-10\"[2]\n[4] \"S-20\"[5]\n"
		"[5] \"S-20\"[4]\n\n"
		"caguid=0x30\nCa 1 \"H-30\"\n[1](30) \"S-10\"[5]\n";
	GError *error = NULL;
	struct snapshot *s = net_file_parse(net, "net", &error);

	if (!s)
		fail_msg("%s", error->message);
	return s;
}

#define FABRIC_TEST(name, args...) \
	TEST_ON(name, struct fabric, f, fabric_open, fabric_clear, ##args)

FABRIC_TEST(test_parallel_cables_keep_their_ends,
	    NULL, make_pair_of_switches(), 0)
{
	static const unsigned back[] = { 3, 5, 4 };

	assert_int_equal(f->g->n_switches, 2);
	assert_int_equal(f->g->n_edges, 6);	/* not the plug on S2 */
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(f->g->edges[i].peer, 1);
		assert_int_equal(f->g->edges[i].port, i + 1);
		assert_int_equal(f->g->edges[i].back, back[i]);
		assert_int_equal(f->g->edges[3 + i].peer, 0);
		assert_int_equal(f->g->edges[3 + i].port, i + 1);
	}
}

/* A host may be behind it; no path is computed for that, but it is verified. */
FABRIC_TEST(test_a_port_that_did_not_answer_may_send,
	    NULL, make_pair_of_switches(), 0)
{
	AUTO(snapshot) *s = snapshot_copy(f->s);
	AUTO(graph) *g = NULL, *whole = NULL;

	s->ports[s->nodes[s->switches[0]].first_port + 4].known = false;
	g = graph_new(s, f->lids);
	whole = graph_new_whole(s, f->lids);
	assert_int_equal(g->n_senders[0], 1);
	assert_int_equal(whole->n_senders[0], 2);
	assert_int_equal(whole->n_hosts[0], 1);
}

/* A port without a LID is no destination and sends nothing. */
FABRIC_TEST(test_targets_are_hosts_and_ports_0,
	    NULL, make_pair_of_switches(), 0)
{
	uint32_t h3, at, n = 0;

	h3 = snapshot_find_port(f->s, GUID_H3);
	assert_int_equal(f->g->n_targets, 3);
	assert_int_equal(f->g->n_hosts[0], 1);
	assert_int_equal(f->g->n_hosts[1], 0);
	assert_int_equal(f->g->first_target[1] - f->g->first_target[0], 2);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(f->g->targets[i].sw, i < 2 ? 0 : 1);
		at = f->g->targets[i].lid == f->lids->base[h3] ? 5 : 0;
		assert_int_equal(f->g->targets[i].port, at);
		n += at > 0;
	}
	assert_int_equal(n, 1);
	f->lids->base[h3] = LID_NONE;
	graph_free(f->g);
	f->g = graph_new(f->s, f->lids);
	assert_int_equal(f->g->n_targets, 2);
	assert_int_equal(f->g->n_hosts[0], 0);
}

/* A CA with the SystemImageGUID or the NodeGUID of its switch sends, but it is
 * no host; GUIDs that are 0 mean nothing. */
TEST(test_a_ca_inside_a_switch_is_no_host)
{
	static const struct {
		uint64_t ca, sw;
		uint32_t n_hosts;
	} row[] = {
		{ 0, 0, 1 }, { 0x77, 0x77, 0 }, { GUID_S1, 0x77, 0 },
		{ 0x78, 0x77, 1 }, { GUID_S2, 0x77, 1 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
		struct snapshot *s = make_pair_of_switches();
		AUTO_VALUE(fabric_clear) struct fabric f;

		s->nodes[snapshot_find_node(s, GUID_H3)].info.system_guid =
			row[i].ca;
		s->nodes[snapshot_find_node(s, GUID_S1)].info.system_guid =
			row[i].sw;
		fabric_open(&f, NULL, s, 0);
		assert_int_equal(f.g->n_hosts[0], row[i].n_hosts);
		assert_int_equal(f.g->n_all_hosts, row[i].n_hosts);
		assert_int_equal(f.g->n_senders[0], 1);
		for (uint32_t t = 0; t < f.g->n_targets; t++)
			assert_int_equal(f.g->targets[t].is_host,
					 f.g->targets[t].port &&
					 row[i].n_hosts);
	}
}

/* One end that is down takes the whole cable away. */
TEST(test_half_a_link_does_not_count)
{
	struct snapshot *s = make_pair_of_switches();
	uint32_t s2 = snapshot_find_node(s, GUID_S2);
	AUTO_VALUE(fabric_clear) struct fabric f;

	s->ports[snapshot_port_of(s, s2, 3)].info.phys_state =
		PORT_PHYS_POLLING;
	fabric_open(&f, NULL, s, 0);
	assert_int_equal(f.g->n_edges, 4);
	assert_int_equal(f.g->edges[0].port, 1);
	assert_int_equal(f.g->edges[1].port, 3);
	assert_int_equal(f.g->edges[f.g->edges[1].back].port, 2);
}

/* A switch that does not tell its SwitchInfo can be given no table. */
TEST(test_switch_without_info_has_no_edges)
{
	struct snapshot *s = make_pair_of_switches();
	AUTO_VALUE(fabric_clear) struct fabric f;

	s->nodes[snapshot_find_node(s, GUID_S2)].sw_known = false;
	fabric_open(&f, NULL, s, 0);
	assert_int_equal(f.g->n_switches, 2);
	assert_int_equal(f.g->n_edges, 0);
	assert_int_equal(f.g->n_hosts[0], 1);
}

static void
assert_sound(const struct snapshot *s, const struct graph *g)
{
	uint32_t hosts = 0;

	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		hosts += g->n_hosts[sw];
		for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1];
		     e++) {
			const struct graph_edge *edge = &g->edges[e];
			uint32_t port = snapshot_port_of(s, s->switches[sw],
						       edge->port);

			assert_int_equal(snapshot_node_of(
				s, s->ports[port].peer)->sw_index, edge->peer);
			assert_int_equal(g->edges[edge->back].peer, sw);
			assert_int_equal(g->edges[edge->back].back, e);
			if (e == g->first_edge[sw])
				continue;
			assert_true(edge[-1].peer < edge->peer ||
				    (edge[-1].peer == edge->peer &&
				     edge[-1].port < edge->port));
		}
	}
	for (uint32_t i = 1; i < g->n_targets; i++)
		assert_true(g->targets[i - 1].sw < g->targets[i].sw ||
			    (g->targets[i - 1].sw == g->targets[i].sw &&
			     g->targets[i - 1].lid < g->targets[i].lid));
	assert_int_equal(g->n_targets, hosts + g->n_switches);
}

TEST(test_order_holds_on_many_fabrics)
{
	const struct {
		const char *spec;
		uint32_t n_edges, n_hosts;
	} cases[] = {
		{ "PGFT(4,4,4;1,4,4)", 2 * (64 + 64), 64 },
		{ "PGFT(12,24;1,6;1,2)", 2 * 24 * 12, 288 },
		{ "torus(4,4,2;3)", 2 * (32 + 32 + 16), 96 },
		{ "ring(9;2)", 18, 18 },
		{ "single(7)", 0, 7 }, { "pair()", 0, 0 },
	};
	uint32_t n_switches;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_VALUE(fabric_clear) struct fabric f;

		fabric_open(&f, NULL, lab_generate(cases[i].spec, 11, 0), 0);
		assert_sound(f.s, f.g);
		n_switches = 0;
		for (uint32_t node = 0; node < f.s->n_nodes; node++)
			n_switches += snapshot_is_switch(&f.s->nodes[node]);
		assert_int_equal(f.g->n_switches, n_switches);
		assert_int_equal(f.g->n_edges, cases[i].n_edges);
		assert_int_equal(f.g->n_targets,
				 cases[i].n_hosts + f.g->n_switches);
	}
}

FABRIC_TEST(test_maps_invert_edges_and_targets,
	    NULL, lab_generate("PGFT(3,4;1,2;1,2)", 3, 0), 2)
{
	const struct graph *g;
	uint32_t n = 0, owned = 0;

	g = f->g;
	for (uint32_t i = 0; i < g->n_switches * GRAPH_PORTS; i++) {
		uint32_t sw = i / GRAPH_PORTS;
		uint32_t e = graph_edge_at(g, sw, i % GRAPH_PORTS);

		if (e == SNAPSHOT_NONE)
			continue;
		assert_in_range(e, g->first_edge[sw],
				g->first_edge[sw + 1] - 1);
		assert_int_equal(g->edges[e].port, i % GRAPH_PORTS);
		n++;
	}
	assert_int_equal(n, g->n_edges);

	for (uint32_t lid = 0; lid <= g->top; lid++) {
		uint32_t port = f->lids->owner[lid];

		if (port == SNAPSHOT_NONE) {
			assert_int_equal(g->target_of[lid], SNAPSHOT_NONE);
			continue;
		}
		assert_int_equal(g->targets[g->target_of[lid]].lid,
				 f->lids->base[port]);
		assert_int_equal(g->targets[g->target_of[lid]].n_lids,
				 1 << f->lids->lmc[port]);
		owned++;
	}
	assert_int_equal(owned, 12 * 4 + g->n_switches);
}
