// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables and switches that fail.
 *
 * Flow. snapshot_fail_links: choose the switches and cables that go (selection
 * sampling: any set of the right size with the same probability), then copy
 * what is left, node by node and cable by cable, into a builder. The builder
 * leaves out what has no way to the local port, so a switch is taken away by
 * taking its cables.
 *
 * The switch next to the local port stays: without it there is no fabric left
 * to speak of.
 */
#include <string.h>

#include "topology/builder.h"
#include "topology/fail_links.h"
#include "topology/prng.h"

enum stream {
	STREAM_LINKS = 1,
	STREAM_SWITCHES = 2,
};

/* Marks so many of the eligible, of n_marks nodes or ports. */
static uint8_t *
choose(uint32_t n_marks, const GArray *eligible, uint64_t wanted,
       uint64_t seed, enum stream stream)
{
	uint8_t *gone = g_new0(uint8_t, n_marks);
	uint64_t rng = prng_stream(seed, stream);
	uint32_t left = eligible->len;

	wanted = MIN(wanted, left);
	for (guint i = 0; i < eligible->len; i++)
		if (prng_below(&rng, left--) < wanted) {
			gone[g_array_index(eligible, uint32_t, i)] = true;
			wanted--;
		}
	return gone;
}

static uint8_t *
choose_switches(const struct snapshot *s, const struct link_failures *d)
{
	g_autoptr(GArray) eligible = g_array_new(FALSE, FALSE,
						 sizeof(uint32_t));
	uint32_t port = s->local_port, home = SNAPSHOT_NONE;

	if (port != SNAPSHOT_NONE && s->ports[port].peer != SNAPSHOT_NONE)
		home = s->ports[s->ports[port].peer].node;
	for (uint32_t i = 0; i < s->n_switches; i++)
		if (s->switches[i] != home)
			g_array_append_val(eligible, s->switches[i]);
	return choose(s->n_nodes, eligible, ((uint64_t)s->n_switches *
		      d->switches_per_mille + 500) / 1000, d->seed,
		      STREAM_SWITCHES);
}

/* A cable by its lower port. */
static uint8_t *
choose_links(const struct snapshot *s, const struct link_failures *d)
{
	g_autoptr(GArray) eligible = g_array_new(FALSE, FALSE,
						 sizeof(uint32_t));

	for (uint32_t port = 0; port < s->n_ports; port++)
		if (snapshot_joins_switches(s, port))
			g_array_append_val(eligible, port);
	return choose(s->n_ports, eligible, ((uint64_t)eligible->len *
		      d->links_per_mille + 500) / 1000, d->seed,
		      STREAM_LINKS);
}

static void
rest_copy_node(struct builder *b, const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *from = &s->nodes[node];
	uint32_t to = builder_add(b, &from->info), index;
	struct snapshot_port *port;
	unsigned num;

	builder_node_at(b, to)->sw = from->sw;
	builder_node_at(b, to)->sw_known = from->sw_known;
	builder_describe(b, to, (const uint8_t *)from->desc,
			 strlen(from->desc));
	for (num = 0; num <= from->info.num_ports; num++) {
		index = from->first_port + num;
		port = builder_port_at(b, builder_port(b, to, num));
		port->guid = s->ports[index].guid;
		port->known = s->ports[index].known;
		port->info = s->ports[index].info;
	}
}

static uint32_t
copy_of_port(const struct builder *b, const struct snapshot *s, uint32_t port)
{
	/* Nodes were added in the order of the snapshot. */
	return builder_port(b, s->ports[port].node, s->ports[port].num);
}

static void
pull(struct builder *b, const struct snapshot *s, uint32_t port)
{
	struct port_info *info;

	info = &builder_port_at(b, copy_of_port(b, s, port))->info;
	info->state = PORT_STATE_DOWN;
	info->phys_state = PORT_PHYS_POLLING;
}

struct snapshot *
snapshot_fail_links(const struct snapshot *s, const struct link_failures *d)
{
	g_autofree uint8_t *switches = choose_switches(s, d);
	g_autofree uint8_t *links = choose_links(s, d);
	struct builder *b = builder_new();
	uint32_t i, peer;

	g_assert(d->links_per_mille <= 1000 && d->switches_per_mille <= 1000);

	for (i = 0; i < s->n_nodes; i++)
		rest_copy_node(b, s, i);
	for (i = 0; i < s->n_ports; i++) {
		peer = s->ports[i].peer;
		if (peer == SNAPSHOT_NONE || peer < i)
			continue;
		if (!links[i] && !switches[s->ports[i].node] &&
		    !switches[s->ports[peer].node]) {
			builder_link(b, copy_of_port(b, s, i),
				     copy_of_port(b, s, peer));
			continue;
		}
		pull(b, s, i);
		pull(b, s, peer);
	}
	for (i = 0; i < s->n_faults; i++)
		builder_fault(b, s->faults[i].kind, s->faults[i].guid, "%s",
			      s->faults[i].text);
	if (s->local_port != SNAPSHOT_NONE)
		builder_set_local(b, copy_of_port(b, s, s->local_port));
	return builder_finish(b);
}
