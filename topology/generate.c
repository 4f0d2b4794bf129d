// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics by formula: the drawing gets its attributes.
 *
 * Flow:	spec --netlist_new()--> sketch --fail_links()--> sketch
 *		sketch --build()--> builder --builder_finish()--> snapshot
 *
 * Which node is cabled to which is the business of netlist.c; here every node
 * gets a GUID, a name and what a device of its kind says when it has just been
 * switched on: links trained and waiting in Init for a subnet manager (IBA
 * 7.2), LIDs 0. Nodes that failures cut off from the first host drop out in
 * builder_finish(), as they would from a discovery.
 *
 * The links of random(), the failures and the GUIDs draw from streams of their
 * own, all made from the one seed: shuffling GUIDs does not change which links
 * fail.
 *
 * GUIDs are 256 apart, so that a CA's PortGUIDs (NodeGUID + port number) fit
 * between two NodeGUIDs, also after a shuffle over switches and CAs.
 */
#include <stdio.h>
#include <string.h>

#include "topology/builder.h"
#include "topology/device.h"
#include "topology/generate.h"
#include "topology/prng.h"
#include "topology/netlist.h"

#define SWITCH_GUID	0x5000000000000000u
#define CA_GUID		0x6000000000000000u
#define GUID_STEP	256u

GQuark
generate_error_quark(void)
{
	return g_quark_from_static_string("minism-generate-error");
}

static bool
joins_switches(const struct netlist *sk, const struct netlist_cable *c)
{
	return netlist_node_at(sk, c->node_a)->type == NODE_SWITCH &&
	       netlist_node_at(sk, c->node_b)->type == NODE_SWITCH;
}

/* Takes away that share of the switch-to-switch cables, any set of them with
 * the same probability (selection sampling); the rest keep their order. */
static void
fail_links(struct netlist *sk, unsigned per_mille, uint64_t seed)
{
	uint64_t rng = prng_stream(seed, NETLIST_STREAM_FAILURES);
	GArray *kept = g_array_new(FALSE, FALSE, sizeof(struct netlist_cable));
	uint32_t left = 0;
	uint32_t fail;

	for (guint i = 0; i < sk->cables->len; i++)
		if (joins_switches(sk, netlist_cable_at(sk, i)))
			left++;
	fail = (uint32_t)(((uint64_t)left * per_mille + 500) / 1000);
	for (guint i = 0; i < sk->cables->len; i++) {
		const struct netlist_cable *c = netlist_cable_at(sk, i);

		if (joins_switches(sk, c) && prng_below(&rng, left--) < fail)
			fail--;
		else
			g_array_append_vals(kept, c, 1);
	}
	g_array_free(sk->cables, TRUE);
	sk->cables = kept;
}

/* NodeGUIDs by sketch node: in a row for each type, or shuffled over all. */
static uint64_t *
make_guids(const struct netlist *sk, const struct generate_options *options)
{
	uint32_t n = sk->nodes->len;
	uint64_t *guids = g_new(uint64_t, n);
	uint64_t rng = prng_stream(options->seed, NETLIST_STREAM_GUIDS);
	uint64_t next_switch = SWITCH_GUID;
	uint64_t next_ca = CA_GUID;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t *next = netlist_node_at(sk, i)->type == NODE_SWITCH ?
				 &next_switch : &next_ca;

		*next += GUID_STEP;
		guids[i] = *next;
	}
	if (!options->shuffle_guids)
		return guids;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = prng_below(&rng, i);
		uint64_t guid = guids[i - 1];

		guids[i - 1] = guids[j];
		guids[j] = guid;
	}
	return guids;
}

static void
fill_switch(struct builder *b, uint32_t node)
{
	struct snapshot_node *n = builder_node_at(b, node);
	struct snapshot_port *port0 = builder_port_at(b, n->first_port);

	n->sw = device_switch;
	n->sw_known = true;
	/* Port 0 is no link: it is there as soon as the switch is. */
	port0->info.state = PORT_STATE_ACTIVE;
	port0->info.phys_state = PORT_PHYS_LINK_UP;
	port0->info.cap_mask = DEVICE_PORT0_CAPS;
	port0->info.guid_cap = 1;
}

static void
fill_ports(struct builder *b, uint32_t node)
{
	const struct snapshot_node *n = builder_node_at(b, node);
	bool is_switch = snapshot_is_switch(n);

	for (unsigned num = is_switch ? 0 : 1; num <= n->info.num_ports;
	     num++) {
		struct snapshot_port *p = builder_port_at(b,
							n->first_port + num);

		p->known = true;
		p->info = device_idle_port;
		p->info.local_port = (uint8_t)num;
		if (is_switch)
			continue;
		p->guid = n->info.node_guid + num;
		p->info.cap_mask = DEVICE_END_PORT_CAPS;
		p->info.guid_cap = 8;
	}
}

static void
add_node(struct builder *b, const struct netlist_node *sn, uint64_t guid)
{
	bool is_switch = sn->type == NODE_SWITCH;
	struct node_info info = {
		.system_guid = guid,
		.node_guid = guid,
		.port_guid = is_switch ? guid : guid + 1,
		.partition_cap = is_switch ? 32 : 128,
		.node_type = (uint8_t)sn->type,
		.num_ports = (uint8_t)sn->n_ports,
		.local_port = is_switch ? 0 : 1,
		.base_version = 1,
		.class_version = 1,
	};
	char desc[NODE_DESC_LEN];
	uint32_t node = builder_add(b, &info);

	if (is_switch)
		snprintf(desc, sizeof(desc), "S-%u-%u", sn->level, sn->index);
	else
		snprintf(desc, sizeof(desc), "H-%u", sn->index);
	builder_describe(b, node, (const uint8_t *)desc, strlen(desc));
	fill_ports(b, node);
	if (is_switch)
		fill_switch(b, node);
}

static void
plug_in(struct builder *b, const struct netlist_cable *c)
{
	uint32_t ends[] = {
		builder_port(b, c->node_a, c->port_a),
		builder_port(b, c->node_b, c->port_b),
	};

	builder_link(b, ends[0], ends[1]);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		struct snapshot_port *p = builder_port_at(b, ends[i]);

		p->info.state = PORT_STATE_INIT;
		p->info.phys_state = PORT_PHYS_LINK_UP;
	}
}

/* Nodes go into the builder in the order of the sketch, so that an index of
 * one is an index of the other. */
static struct snapshot *
build(const struct netlist *sk, const struct generate_options *options)
{
	uint64_t *guids = make_guids(sk, options);
	struct builder *b = builder_new();
	uint32_t home = 0;

	for (uint32_t i = 0; i < sk->nodes->len; i++)
		add_node(b, netlist_node_at(sk, i), guids[i]);
	for (guint i = 0; i < sk->cables->len; i++)
		plug_in(b, netlist_cable_at(sk, i));
	while (netlist_node_at(sk, home)->type != NODE_CA)
		home++;
	builder_set_local(b, builder_port(b, home, 1));
	g_free(guids);
	return builder_finish(b);
}

struct snapshot *
generate_fabric(const char *text, const struct generate_options *options,
		GError **error)
{
	static const struct generate_options plain;
	struct snapshot *s;
	struct netlist *sk;

	if (!options)
		options = &plain;
	g_assert(options->fail_per_mille <= 1000);
	sk = netlist_new(text, options->seed, error);
	if (!sk)
		return NULL;
	fail_links(sk, options->fail_per_mille, options->seed);
	s = build(sk, options);
	netlist_free(sk);
	return s;
}
