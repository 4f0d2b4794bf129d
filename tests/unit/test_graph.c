// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a snapshot to edges and targets: what counts, and in which order.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/graph.h"
#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "topology/builder.h"
#include "topology/generate.h"

static struct lid_map *
give_lids(const struct snapshot *s, unsigned lmc)
{
	GError *error = NULL;
	struct lid_map *lids = lid_assign(s, lmc, NULL, 0, NULL, &error);

	if (!lids)
		fail_msg("%s", error->message);
	return lids;
}

static struct graph *
graph_of(const struct snapshot *s)
{
	struct lid_map *lids = give_lids(s, 0);
	struct graph *g = graph_new(s, lids);

	lid_map_free(lids);
	return g;
}

static struct snapshot *
make(const char *spec, uint64_t seed)
{
	const struct generate_options options = {
		.seed = seed, .shuffle_guids = true,
	};
	GError *error = NULL;
	struct snapshot *s = generate_fabric(spec, &options, &error);

	if (!s)
		fail_msg("%s", error->message);
	return s;
}

/*
 *  S1 --1:1-- S2	two cables between S1 and S2, crossed:
 *  S1 --2:3-- S2	port 3 of S1 is cabled to port 2 of S1,
 *  S1 5 -- H3		port 4 of S1 leads nowhere
 */
#define GUID_S1		0x10u
#define GUID_S2		0x20u
#define GUID_H3		0x30u

static uint32_t
add_node(struct builder *b, enum node_type type, uint64_t guid, uint8_t ports)
{
	const struct node_info info = {
		.node_guid = guid,
		.port_guid = guid,
		.node_type = (uint8_t)type,
		.num_ports = ports,
		.local_port = type == NODE_SWITCH ? 0 : 1,
	};
	uint32_t node = builder_add(b, &info);

	builder_node_at(b, node)->sw_known = type == NODE_SWITCH;
	for (unsigned num = 0; num <= ports; num++) {
		struct snapshot_port *p =
			builder_port_at(b, builder_port(b, node, num));

		p->known = type == NODE_SWITCH || num > 0;
		p->info.phys_state = PORT_PHYS_LINK_UP;
		p->info.state = PORT_STATE_ACTIVE;
	}
	return node;
}

static struct snapshot *
make_pair_of_switches(void)
{
	struct builder *b = builder_new();
	uint32_t s2 = add_node(b, NODE_SWITCH, GUID_S2, 5);
	uint32_t h3 = add_node(b, NODE_CA, GUID_H3, 1);
	uint32_t s1 = add_node(b, NODE_SWITCH, GUID_S1, 5);

	builder_link(b, builder_port(b, s1, 1), builder_port(b, s2, 1));
	builder_link(b, builder_port(b, s1, 2), builder_port(b, s2, 3));
	builder_link(b, builder_port(b, s1, 3), builder_port(b, s2, 2));
	builder_link(b, builder_port(b, s1, 5), builder_port(b, h3, 1));
	builder_link(b, builder_port(b, s2, 4), builder_port(b, s2, 5));
	builder_set_local(b, builder_port(b, h3, 1));
	return builder_finish(b);
}

TEST(test_parallel_cables_keep_their_ends)
{
	AUTO(snapshot) *s = make_pair_of_switches();
	AUTO(graph) *g = graph_of(s);

	assert_int_equal(g->n_switches, 2);
	assert_int_equal(g->n_edges, 6);	/* not the plug on S2 */
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(g->edges[i].peer, 1);
		assert_int_equal(g->edges[i].port, i + 1);
		assert_int_equal(g->edges[3 + i].peer, 0);
		assert_int_equal(g->edges[3 + i].port, i + 1);
	}
	assert_int_equal(g->edges[0].back, 3);
	assert_int_equal(g->edges[1].back, 5);
	assert_int_equal(g->edges[2].back, 4);
}

TEST(test_targets_are_hosts_and_ports_0)
{
	AUTO(snapshot) *s = make_pair_of_switches();
	AUTO(lid_map) *lids = give_lids(s, 0);
	AUTO(graph) *g = graph_new(s, lids);
	uint32_t h3 = snapshot_find_port(s, GUID_H3);
	unsigned hosts = 0;

	assert_int_equal(g->n_targets, 3);
	assert_int_equal(g->n_hosts[0], 1);
	assert_int_equal(g->n_hosts[1], 0);
	assert_int_equal(g->first_target[1] - g->first_target[0], 2);
	for (uint32_t i = 0; i < 3; i++) {
		const struct graph_target *t = &g->targets[i];

		assert_int_equal(t->sw, i < 2 ? 0 : 1);
		if (t->port == 0)
			continue;
		assert_int_equal(t->port, 5);
		assert_int_equal(t->lid, lids->base[h3]);
		hosts++;
	}
	assert_int_equal(hosts, 1);
}

/* A port without a LID is no destination and sends nothing. */
TEST(test_port_without_lid_is_left_out)
{
	AUTO(snapshot) *s = make_pair_of_switches();
	AUTO(lid_map) *lids = give_lids(s, 0);
	AUTO(graph) *g;

	lids->base[snapshot_find_port(s, GUID_H3)] = LID_NONE;
	g = graph_new(s, lids);
	assert_int_equal(g->n_targets, 2);
	assert_int_equal(g->n_hosts[0], 0);
}

/* One end that is down takes the whole cable away. */
TEST(test_half_a_link_does_not_count)
{
	AUTO(snapshot) *s = make_pair_of_switches();
	AUTO(snapshot) *copy = snapshot_copy(s);
	uint32_t s2 = snapshot_find_node(s, GUID_S2);
	AUTO(graph) *g;

	copy->ports[snapshot_port_of(copy, s2, 3)].info.phys_state =
		PORT_PHYS_POLLING;
	g = graph_of(copy);
	assert_int_equal(g->n_edges, 4);
	assert_int_equal(g->edges[0].port, 1);
	assert_int_equal(g->edges[1].port, 3);
	assert_int_equal(g->edges[g->edges[1].back].port, 2);
}

/* A switch that does not tell its SwitchInfo can be given no table. */
TEST(test_switch_without_info_has_no_edges)
{
	AUTO(snapshot) *s = make_pair_of_switches();
	AUTO(snapshot) *copy = snapshot_copy(s);
	AUTO(graph) *g;

	copy->nodes[snapshot_find_node(copy, GUID_S2)].sw_known = false;
	g = graph_of(copy);
	assert_int_equal(g->n_switches, 2);
	assert_int_equal(g->n_edges, 0);
	assert_int_equal(g->n_hosts[0], 1);
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
		{ "single(7)", 0, 7 },
	};
	const uint64_t seed = 11;

	print_message("seed %lu\n", (unsigned long)seed);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO(snapshot) *s = make(cases[i].spec, seed);
		AUTO(graph) *g = graph_of(s);

		assert_sound(s, g);
		assert_int_equal(g->n_edges, cases[i].n_edges);
		assert_int_equal(g->n_targets,
				 cases[i].n_hosts + g->n_switches);
	}
}

TEST(test_fabric_without_switches_is_empty)
{
	AUTO(snapshot) *s = make("pair()", 1);
	AUTO(graph) *g = graph_of(s);

	assert_int_equal(g->n_switches, 0);
	assert_int_equal(g->n_edges, 0);
	assert_int_equal(g->n_targets, 0);
}

TEST(test_maps_invert_edges_and_targets)
{
	AUTO(snapshot) *s = make("PGFT(3,4;1,2;1,2)", 3);
	AUTO(lid_map) *lids = give_lids(s, 2);
	AUTO(graph) *g = graph_new(s, lids);
	const uint32_t *edge_of = g->edge_of;
	const uint32_t *target_of = g->target_of;
	uint32_t n = 0, owned = 0;

	for (uint32_t i = 0; i < g->n_switches * GRAPH_PORTS; i++) {
		uint32_t e = edge_of[i], sw = i / GRAPH_PORTS;

		if (e == SNAPSHOT_NONE)
			continue;
		assert_in_range(e, g->first_edge[sw],
				g->first_edge[sw + 1] - 1);
		assert_int_equal(g->edges[e].port, i % GRAPH_PORTS);
		n++;
	}
	assert_int_equal(n, g->n_edges);

	for (uint32_t lid = 0; lid <= g->top; lid++) {
		uint32_t port = lids->owner[lid];

		if (port == SNAPSHOT_NONE) {
			assert_int_equal(target_of[lid], SNAPSHOT_NONE);
			continue;
		}
		assert_int_equal(g->targets[target_of[lid]].lid,
				 lids->base[port]);
		assert_int_equal(g->targets[target_of[lid]].n_lids,
				 1 << lids->lmc[port]);
		owned++;
	}
	assert_int_equal(owned, 12 * 4 + g->n_switches);
}
