// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tools/trace.h"

#include <string.h>

/* The node at the other end of the cable; SNAPSHOT_NONE: no cable. */
static uint32_t
peer_node(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return peer == SNAPSHOT_NONE ? peer : s->ports[peer].node;
}

/* Through the cable of the port; through port 0 of a switch there is none. */
static void
trace_pass(const struct snapshot *s, uint32_t port, struct trace *t)
{
	const struct port_info *a = &s->ports[port].info, *b = a;

	if (s->ports[port].num) {
		if (!snapshot_link_up(s, port)) {
			t->mtu = 0;
			return;
		}
		b = &s->ports[s->ports[port].peer].info;
		if (a->state < PORT_STATE_ACTIVE ||
		    b->state < PORT_STATE_ACTIVE)
			t->mtu = 0;
		t->mbps = MIN(t->mbps, MIN(port_mbps(a), port_mbps(b)));
	}
	t->mtu = MIN(t->mtu, MIN(port_mtu(a), port_mtu(b)));
}

/* Hops from each node to the switch of `to`; UINT32_MAX: none. */
static uint32_t *
find_distances(const struct snapshot *s, uint32_t to)
{
	uint32_t *dist = g_new(uint32_t, s->n_nodes + 1), head = 0, tail = 0;
	g_autofree uint32_t *queue = g_new(uint32_t, s->n_nodes + 1);
	uint32_t start = s->ports[to].node;

	memset(dist, 0xff, (s->n_nodes + 1) * sizeof(*dist));
	if (!snapshot_is_switch(&s->nodes[start]) &&
	    s->ports[to].peer != SNAPSHOT_NONE)
		start = peer_node(s, to);
	dist[start] = 0;
	for (queue[tail++] = start; head < tail; head++) {
		const struct snapshot_node *n = &s->nodes[queue[head]];

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t node = peer_node(s, n->first_port + num);

			if (node == SNAPSHOT_NONE || dist[node] != UINT32_MAX ||
			    !snapshot_is_switch(&s->nodes[node]))
				continue;
			dist[node] = dist[queue[head]] + 1;
			queue[tail++] = node;
		}
	}
	return dist;
}

void
trace_explain(const struct tool_view *v, uint32_t to, struct trace *t)
{
	const struct snapshot *s = v->s;
	g_autofree uint32_t *dist = find_distances(s, to);
	uint16_t lid = v->lids->base[to];

	for (unsigned k = 0; k < t->n; k++) {
		struct trace_hop *h = &t->hops[k];
		const struct snapshot_node *n = &s->nodes[h->node];
		const uint8_t *row = lft_row(v->lft, n->sw_index);

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t node = peer_node(s, n->first_port + num);

			if (node == SNAPSHOT_NONE)
				continue;
			if (dist[h->node] ?
			    snapshot_is_switch(&s->nodes[node]) &&
			    dist[node] + 1 == dist[h->node] : num == row[lid])
				h->shortest[h->n_shortest++] = (uint8_t)num;
		}
		for (unsigned i = LID_UNICAST_MIN; i <= v->lids->top; i++)
			h->n_lids += v->lids->owner[i] != SNAPSHOT_NONE &&
				row[i] == h->out;
	}
}

/* Into the switch by the port `at`; where it leads, SNAPSHOT_NONE: nowhere. */
static uint32_t
hop_over(const struct tool_view *v, uint32_t at, uint16_t lid,
	 struct trace *t)
{
	const struct snapshot *s = v->s;
	struct trace_hop *h = &t->hops[t->n++];
	const struct snapshot_node *n = snapshot_node_of(s, at);

	h->node = s->ports[at].node;
	h->in = s->ports[at].num;
	h->out = v->lft && lid <= v->lft->top ?
		lft_row(v->lft, n->sw_index)[lid] : LFT_NO_PATH;
	if (h->out > n->info.num_ports) {
		t->fault = "that switch has no entry for its LID";
		return SNAPSHOT_NONE;
	}
	trace_pass(s, n->first_port + h->out, t);
	return h->out ? s->ports[n->first_port + h->out].peer : n->first_port;
}

void
trace_follow(const struct tool_view *v, uint32_t from, uint32_t to,
	     struct trace *t)
{
	const struct snapshot *s = v->s;
	uint16_t lid = v->lids->base[to];
	uint32_t at = from;

	*t = (struct trace){ .mtu = UINT32_MAX, .mbps = UINT32_MAX };
	trace_pass(s, from, t);
	if (from != to && !snapshot_is_switch(snapshot_node_of(s, from)))
		at = s->ports[from].peer;
	while (at != to && !t->fault) {
		bool ended = t->n && !t->hops[t->n - 1].out;

		if (!lid)
			t->fault = "it has no LID";
		else if (ended || at == SNAPSHOT_NONE ||
			 !snapshot_is_switch(snapshot_node_of(s, at)))
			t->fault = "the tables lead elsewhere";
		else if (t->n == TRACE_HOPS)
			t->fault = "the tables lead round";
		else
			at = hop_over(v, at, lid, t);
	}
}
