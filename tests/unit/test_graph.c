// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a snapshot to edges and targets: what counts, and in which order.
 */
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

/* A CA with the SystemImageGUID or the NodeGUID of its switch sends, but it is
 * no host; GUIDs that are 0 mean nothing. One end that is down takes the whole
 * cable away. A switch that does not tell its SwitchInfo can be given no table. A
 * port without a LID is no destination and sends nothing. */
TEST(test_what_is_a_host_a_cable_a_target)
{
	static const struct {
		uint64_t ca, sw;	/* SystemImageGUIDs */
		bool is_half, is_mute, has_lid;
		uint32_t n_edges, n_hosts, n_targets;
	} row[] = {
		{ 0, 0, false, false, true, 6, 1, 3 },
		{ 0x77, 0x77, false, false, true, 6, 0, 3 },
		{ GUID_S1, 0x77, false, false, true, 6, 0, 3 },
		{ 0x78, 0x77, false, false, true, 6, 1, 3 },
		{ GUID_S2, 0x77, false, false, true, 6, 1, 3 },
		{ 0, 0, true, false, true, 4, 1, 3 },
		{ 0, 0, false, true, true, 0, 1, 3 },
		{ 0, 0, false, false, false, 6, 0, 2 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
		struct snapshot *s = make_pair_of_switches();
		uint32_t s2 = snapshot_find_node(s, GUID_S2);
		AUTO_VALUE(fabric_clear) struct fabric f;

		s->nodes[snapshot_find_node(s, GUID_H3)].info.system_guid =
			row[i].ca;
		s->nodes[snapshot_find_node(s, GUID_S1)].info.system_guid =
			row[i].sw;
		s->nodes[s2].sw_known = !row[i].is_mute;
		if (row[i].is_half)
			s->ports[snapshot_port_of(s, s2, 3)].info.phys_state =
				PORT_PHYS_POLLING;
		fabric_open(&f, NULL, s, 0);
		if (!row[i].has_lid)
			f.lids->base[snapshot_find_port(s, GUID_H3)] = LID_NONE;
		graph_free(f.g);
		f.g = graph_new(s, f.lids);
		assert_int_equal(f.g->n_switches, 2);
		assert_int_equal(f.g->n_edges, row[i].n_edges);
		assert_int_equal(f.g->n_hosts[0], row[i].n_hosts);
		assert_int_equal(f.g->n_hosts[1], 0);
		assert_int_equal(f.g->n_all_hosts, row[i].n_hosts);
		assert_int_equal(f.g->n_senders[0], row[i].has_lid);
		assert_int_equal(f.g->n_targets, row[i].n_targets);
		for (uint32_t t = 0; t < f.g->n_targets; t++)
			assert_int_equal(f.g->targets[t].is_host,
					 f.g->targets[t].port &&
					 row[i].n_hosts);
	}
}
