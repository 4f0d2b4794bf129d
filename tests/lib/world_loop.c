// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Credit loops: whether the tables that the switches hold at this moment, those
 * of unicast and of groups together, have one. If not, no packet to a group is
 * copied for ever either.
 *
 * A channel is the port out of which packets go. Packets are those from CAs to
 * all LIDs, and from switches' ports 0 to CAs, over links that are Active at
 * both ends. Each path is followed up to a switch that another path to the same
 * LID has passed. Packets to a group are those from any CA.
 *
 * A LID whose port is gone counts as well, as one of the kind of node that had it
 * last: hosts may go on sending to it, and these packets fill buffers too.
 */
#include "tests/lib/world.h"

#include <string.h>

#define MLIDS		16u	/* groups, from the first MLID on */

struct web {
	struct world *w;
	uint64_t (*turns)[4];	/* by channel: numbers of the next one */
	uint32_t *behind;	/* by channel: the node at its other end;
				   SNAPSHOT_NONE: it is not Active */
	bool *has_ca;		/* by node: a switch with an Active CA */
	uint32_t *met;		/* by node: the number of the LID */
	uint32_t *passed;	/* by channel: the number of the group */
	uint8_t *state;		/* by channel: 1 being visited, 2 done */
	uint32_t n_lids;
};

static bool
is_switch(const struct web *web, uint32_t node)
{
	return snapshot_is_switch(&web->w->s->nodes[node]);
}

static void
find_channels(struct web *web, const uint8_t *alive)
{
	const struct snapshot *s = web->w->s;
	const struct sim *sim = web->w->sim;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = sim_peer(sim, port);

		web->behind[port] = SNAPSHOT_NONE;
		if (peer == SNAPSHOT_NONE ||
		    (alive && !alive[snapshot_holder_of(s, port)]) ||
		    sim_port_info(sim, port)->state != PORT_STATE_ACTIVE ||
		    sim_port_info(sim, peer)->state != PORT_STATE_ACTIVE)
			continue;
		web->behind[port] = s->ports[peer].node;
		if (!is_switch(web, s->ports[port].node))
			web->has_ca[s->ports[peer].node] = true;
	}
}

/* From this switch on. */
static void
follow(struct web *web, uint32_t node, uint16_t lid)
{
	const struct snapshot *s = web->w->s;
	uint32_t in = SNAPSHOT_NONE, out = in;

	for (bool again = false; !again; in = out) {
		uint8_t num = sim_lft_entry(web->w->sim, node, lid);

		if (!num || num > s->nodes[node].info.num_ports ||
		    lid > sim_switch_info(web->w->sim, node)->linear_fdb_top)
			return;
		out = s->nodes[node].first_port + num;
		if (web->behind[out] == SNAPSHOT_NONE)
			return;
		if (in != SNAPSHOT_NONE)
			web->turns[in][num / 64] |= UINT64_C(1) << num % 64;
		again = web->met[node] == web->n_lids;
		web->met[node] = web->n_lids;
		node = web->behind[out];
		if (!is_switch(web, node))
			return;
	}
}

/* Owners of LIDs: those that are alive, else as they are known. */
static void
learn_owners(struct web *web, const uint8_t *alive)
{
	const struct snapshot *s = web->w->s;

	for (unsigned add = 0; add < 2; add++)
		for (uint32_t p = 0; p < s->n_ports; p++) {
			const struct port_info *i = sim_port_info(web->w->sim,
								  p);
			uint8_t kind = is_switch(web, s->ports[p].node) ?
				WORLD_LID_SWITCH : WORLD_LID_CA;

			if (!snapshot_is_end_port(s, p) || !i->lid ||
			    (alive && !alive[p]))
				continue;
			for (unsigned k = 0; k < 1u << i->lmc; k++) {
				uint8_t *of = &web->w->lid_owners[i->lid + k];

				*of = add ? *of | kind : 0;
			}
		}
}

/* To this LID from everywhere, and to that of a switch from CAs. */
static void
follow_all(struct web *web, uint16_t lid)
{
	const struct snapshot *s = web->w->s;
	bool from_all = web->w->lid_owners[lid] != WORLD_LID_SWITCH;

	web->n_lids++;
	for (uint32_t node = 0; node < s->n_nodes; node++)
		if (is_switch(web, node) && (from_all || web->has_ca[node]))
			follow(web, node, lid);
}

/* A packet to a group, from this channel on. */
static void
follow_copies(struct web *web, uint32_t channel, uint16_t mlid)
{
	const struct snapshot *s = web->w->s;
	uint32_t in = sim_peer(web->w->sim, channel);
	uint32_t node = s->ports[in].node;
	uint16_t masks[SIM_MFT_POSITIONS];

	if (web->passed[channel] == web->n_lids ||
	    !is_switch(web, node) ||
	    !sim_table_mcast(web->w->sim, node, mlid, masks))
		return;
	web->passed[channel] = web->n_lids;
	for (unsigned num = 1; num <= s->nodes[node].info.num_ports; num++) {
		uint32_t out = s->nodes[node].first_port + num;

		if (out == in || !(masks[num / SIM_PORTS_PER_MASK] >>
				   num % SIM_PORTS_PER_MASK & 1) ||
		    web->behind[out] == SNAPSHOT_NONE)
			continue;
		web->turns[channel][num / 64] |= UINT64_C(1) << num % 64;
		follow_copies(web, out, mlid);
	}
}

/* Is there a circle of channels behind this one? */
static bool
has_circle(struct web *web, uint32_t channel)
{
	const struct snapshot *s = web->w->s;
	uint32_t node = web->behind[channel];
	bool found = false;

	web->state[channel] = 1;
	for (unsigned num = 1; !found && num <= s->nodes[node].info.num_ports;
	     num++) {
		uint32_t next = s->nodes[node].first_port + num;

		if (web->turns[channel][num / 64] >> num % 64 & 1)
			found = web->state[next] == 1 ||
				(!web->state[next] && has_circle(web, next));
	}
	web->state[channel] = 2;
	return found;
}

bool
world_has_loop(struct world *w, const uint8_t *alive)
{
	const struct snapshot *s = w->s;
	struct web web = {
		.w = w, .turns = g_malloc0_n(s->n_ports, sizeof(*web.turns)),
		.behind = g_new(uint32_t, s->n_ports),
		.has_ca = g_new0(bool, s->n_nodes),
		.met = g_new0(uint32_t, s->n_nodes),
		.passed = g_new0(uint32_t, s->n_ports),
		.state = g_new0(uint8_t, s->n_ports),
	};
	static const uint64_t none[4];
	unsigned top = 0;
	bool found = false;

	find_channels(&web, alive);
	learn_owners(&web, alive);
	for (uint32_t node = 0; node < s->n_nodes; node++)
		if (is_switch(&web, node))
			top = MAX(top, sim_switch_info(w->sim, node)->
				  linear_fdb_top);
	for (unsigned lid = 1; lid <= MIN(top, LID_UNICAST_MAX); lid++)
		follow_all(&web, (uint16_t)lid);
	for (uint16_t i = 0; i < MLIDS; i++) {
		web.n_lids++;
		for (uint32_t from = 0; from < s->n_ports; from++)
			if (!is_switch(&web, s->ports[from].node) &&
			    web.behind[from] != SNAPSHOT_NONE)
				follow_copies(&web, from, 0xc000 + i);
	}
	for (uint32_t c = 0; !found && c < s->n_ports; c++)
		found = !web.state[c] &&
			memcmp(web.turns[c], none, sizeof(none)) != 0 &&
			has_circle(&web, c);
	g_free(web.turns);
	g_free(web.behind);
	g_free(web.has_ca);
	g_free(web.met);
	g_free(web.passed);
	g_free(web.state);
	return found;
}
