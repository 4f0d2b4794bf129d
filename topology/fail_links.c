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

/* How many are to be chosen of how many that are left. */
struct draw {
	uint64_t rng;
	uint32_t wanted, left;
};

static void
draw_init(struct draw *draw, uint64_t seed, enum stream stream, uint32_t n,
	  uint32_t n_eligible, unsigned per_mille)
{
	uint32_t wanted = (uint32_t)(((uint64_t)n * per_mille + 500) / 1000);

	draw->rng = prng_stream(seed, stream);
	draw->left = n_eligible;
	draw->wanted = MIN(wanted, n_eligible);
}

/* Is the next one chosen? */
static bool
draw_next(struct draw *draw)
{
	if (prng_below(&draw->rng, draw->left--) >= draw->wanted)
		return false;
	draw->wanted--;
	return true;
}

/* Marks by node: a switch that goes. */
static uint8_t *
choose_switches(const struct snapshot *s, const struct link_failures *d)
{
	uint8_t *gone = g_new0(uint8_t, s->n_nodes);
	uint32_t port = s->local_port, home = SNAPSHOT_NONE, i, n_eligible = 0;
	struct draw draw;

	if (port != SNAPSHOT_NONE && s->ports[port].peer != SNAPSHOT_NONE)
		home = s->ports[s->ports[port].peer].node;
	for (i = 0; i < s->n_switches; i++)
		n_eligible += s->switches[i] != home;
	draw_init(&draw, d->seed, STREAM_SWITCHES, s->n_switches, n_eligible,
		  d->switches_per_mille);
	for (i = 0; i < s->n_switches; i++)
		if (s->switches[i] != home)
			gone[s->switches[i]] = draw_next(&draw);
	return gone;
}

/* Marks by port, at the lower end: a cable that goes. */
static uint8_t *
choose_links(const struct snapshot *s, const struct link_failures *d)
{
	uint8_t *gone = g_new0(uint8_t, s->n_ports);
	uint32_t port, n = 0;
	struct draw draw;

	for (port = 0; port < s->n_ports; port++)
		n += snapshot_joins_switches(s, port);
	draw_init(&draw, d->seed, STREAM_LINKS, n, n, d->links_per_mille);
	for (port = 0; port < s->n_ports; port++)
		if (snapshot_joins_switches(s, port))
			gone[port] = draw_next(&draw);
	return gone;
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
