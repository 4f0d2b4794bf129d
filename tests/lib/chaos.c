// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/lib/chaos.h"

#include <stdio.h>

#include "topology/prng.h"

void
chaos_open(struct chaos *c, uint64_t rng)
{
	c->rng = rng;
	c->cut = g_new0(uint8_t, c->w.s->n_ports);
	c->off = g_new0(uint8_t, c->w.s->n_nodes);
	c->seat[0] = c->seat[1] = c->w.s->local_port;
}

void
chaos_close(struct chaos *c)
{
	world_close(&c->w);
	g_free(c->cut);
	g_free(c->off);
}

uint32_t
chaos_cabled_port(struct chaos *c)
{
	for (;;) {
		uint32_t port = prng_below(&c->rng, c->w.s->n_ports);

		if (sim_peer(c->w.sim, port) != SNAPSHOT_NONE)
			return port;
	}
}

void
chaos_say(struct chaos *c, const char *verb, uint32_t port)
{
	snprintf(c->what, sizeof(c->what), "%s %s port %u", verb,
		 snapshot_node_of(c->w.s, port)->desc, c->w.s->ports[port].num);
}

static void
say_node(struct chaos *c, const char *verb, uint32_t node)
{
	snprintf(c->what, sizeof(c->what), "%s %s", verb,
		 c->w.s->nodes[node].desc);
}

static void
set_cut(struct chaos *c, uint32_t port, bool cut)
{
	uint32_t peer = sim_peer(c->w.sim, port);

	c->cut[port] = c->cut[peer] = cut;
	if (cut)
		sim_link_cut(c->w.sim, port);
	else
		sim_link_mend(c->w.sim, port);
	if (c->lost) {
		c->lost(c, port);
		c->lost(c, peer);
	}
	chaos_say(c, cut ? "cut" : "mend", port);
}

void
chaos_cable(struct chaos *c)
{
	uint32_t port = chaos_cabled_port(c);

	set_cut(c, port, !c->cut[port]);
}

/* Ends one of these faults, more likely an early one; or a cable changes. */
static void
end_one(struct chaos *c, const uint8_t *has, uint32_t n,
	void (*set)(struct chaos *c, uint32_t i, bool is))
{
	for (uint32_t i = 0; i < n; i++)
		if (has[i] && prng_below(&c->rng, 3)) {
			set(c, i, false);
			return;
		}
	chaos_cable(c);
}

static void
mend(struct chaos *c)
{
	end_one(c, c->cut, c->w.s->n_ports, set_cut);
}

static uint32_t
any_node(struct chaos *c)
{
	for (;;) {
		uint32_t node = prng_below(&c->rng, c->w.s->n_nodes);

		if (node != c->w.s->ports[c->seat[0]].node &&
		    node != c->w.s->ports[c->seat[1]].node)
			return node;
	}
}

static void
lose_links(struct chaos *c, uint32_t node)
{
	const struct snapshot_node *n = &c->w.s->nodes[node];

	for (unsigned num = 1; c->lost && num <= n->info.num_ports; num++) {
		uint32_t peer = sim_peer(c->w.sim, n->first_port + num);

		c->lost(c, n->first_port + num);
		if (peer != SNAPSHOT_NONE)
			c->lost(c, peer);
	}
}

static void
set_off(struct chaos *c, uint32_t node, bool off)
{
	c->off[node] = off;
	if (off)
		sim_node_off(c->w.sim, node);
	else
		sim_node_on(c->w.sim, node);
	lose_links(c, node);
	say_node(c, off ? "off" : "on", node);
}

static void
switch_node(struct chaos *c)
{
	uint32_t node = any_node(c);

	set_off(c, node, !c->off[node]);
}

static void
switch_on(struct chaos *c)
{
	end_one(c, c->off, c->w.s->n_nodes, set_off);
}

/* After it, a host's LID is known to the manager only. */
static void
reset(struct chaos *c)
{
	uint32_t node = any_node(c);

	if (c->off[node])
		return;
	sim_node_reset(c->w.sim, node);
	lose_links(c, node);
	say_node(c, "reset", node);
}

/* Repairs are more frequent than damages would be by chance; else the fabric
 * would fall apart, and further events had no effect. */
void
chaos_happen(struct chaos *c)
{
	static void (*const events[])(struct chaos *) = {
		chaos_cable, chaos_cable, mend, mend, mend, switch_node,
		switch_on, switch_on, reset,
	};

	events[prng_below(&c->rng, G_N_ELEMENTS(events))](c);
}
