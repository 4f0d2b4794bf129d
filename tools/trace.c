// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tools/trace.h"

#include <string.h>

#include "topology/text.h"

/* Through the cable of the port; through port 0 of a switch there is none. */
static void
trace_pass(const struct snapshot *s, uint32_t port, struct trace *t)
{
	const struct port_info *a = &s->ports[port].info, *b = a;

	if (s->ports[port].num) {
		uint32_t peer = s->ports[port].peer;

		if (peer != SNAPSHOT_NONE)
			b = &s->ports[peer].info;
		if (MIN(a->state, b->state) < PORT_STATE_ACTIVE) {
			t->inactive = 1 + (a->state <= b->state ? port : peer);
			t->mtu = 0;
		}
		if (!snapshot_link_up(s, port)) {
			t->mtu = 0;
			return;
		}
		t->mbps = MIN(t->mbps, MIN(port_mbps(a), port_mbps(b)));
	}
	t->mtu = MIN(t->mtu, MIN(port_mtu(a), port_mtu(b)));
}

void
trace_explain(const struct tool_view *v, uint32_t to, struct trace *t)
{
	struct graph *g = graph_new_whole(v->s, v->lids);
	g_autofree uint32_t *hops = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint16_t lid = v->lids->base[to];
	const struct graph_target *target = graph_target_at(g, lid);

	if (target)
		graph_hops(g, target->sw, hops, queue);
	for (unsigned k = 0; target && k < t->n; k++) {
		struct trace_hop *h = &t->hops[k];
		const struct snapshot_node *n = &v->s->nodes[h->node];
		const uint8_t *row = lft_row(v->lft, n->sw_index);
		uint32_t left = hops[n->sw_index];

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t e = graph_edge_at(g, n->sw_index,
						   (uint8_t)num);

			if (left ? e != SNAPSHOT_NONE &&
			    hops[g->edges[e].peer] + 1 == left :
			    num == row[lid])
				h->shortest[h->n_shortest++] = (uint8_t)num;
		}
		for (unsigned i = LID_UNICAST_MIN; i <= v->lids->top; i++)
			h->n_lids += v->lids->owner[i] != SNAPSHOT_NONE &&
				row[i] == h->out;
	}
	graph_free(g);
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

void
trace_report(const struct trace *t, const struct tool_view *v, bool why,
	     struct text_report *r)
{
	report_open(r, "hops", '[');
	for (unsigned i = 0; i < t->n; i++) {
		const struct trace_hop *h = &t->hops[i];
		const struct snapshot_node *n = &v->s->nodes[h->node];
		bool is_shortest = memchr(h->shortest, h->out, h->n_shortest);
		g_autofree char *name = snapshot_full_name(n, v->shared);

		report_open(r, NULL, '{');
		report_say(r, "%2u  ", i + 1);
		report_text(r, "switch", name, "  in ");
		report_hex(r, "guid", n->info.node_guid, 16, NULL);
		report_number(r, "in", h->in, "  out ");
		if (h->out == LFT_NO_PATH)
			report_say(r, "nowhere");
		else
			report_number(r, "out", h->out, "");
		if (why && h->out) {
			if (is_shortest && h->n_shortest > 1)
				report_say(r, "     one of %u shortest: "
					   "ports", h->n_shortest);
			else
				report_say(r, "     %s", is_shortest ?
					   "the only shortest: port" :
					   "a detour; shortest: ports");
			for (unsigned k = 0; k < h->n_shortest; k++)
				report_say(r, " %u", h->shortest[k]);
			report_say(r, "; port %u carries %u LID%s", h->out,
				   h->n_lids, text_plural(h->n_lids));
		}
		if (why) {
			report_open(r, "shortest", '[');
			for (unsigned k = 0; k < h->n_shortest; k++)
				report_number(r, NULL, h->shortest[k], NULL);
			report_close(r, ']');
			report_number(r, "lids", h->n_lids, NULL);
		}
		report_say(r, "\n");
		report_close(r, '}');
	}
	report_close(r, ']');
}
