// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables and switches that fail.
 *
 * Method. snapshot_fail_links() chooses the failed switches and cables by
 * selection sampling and removes the cables in a builder. The builder leaves
 * out nodes without a path to the local port, so a switch fails by losing its
 * cables.
 *
 * The switch next to the local port stays: without it nothing can be reached.
 */
#include "topology/builder.h"
#include "topology/fail_links.h"
#include "topology/prng.h"

enum stream {
	STREAM_LINKS = 1,
	STREAM_SWITCHES = 2,
};

uint8_t *
fail_links_choose(uint32_t n_marks, const GArray *eligible, uint64_t n,
		  uint64_t rng)
{
	uint8_t *chosen = g_new0(uint8_t, n_marks + 1u);
	uint32_t left = eligible->len;

	for (guint i = 0; i < eligible->len; i++)
		if (prng_below(&rng, left--) < n) {
			chosen[g_array_index(eligible, uint32_t, i)] = true;
			n--;
		}
	return chosen;
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
	return fail_links_choose(s->n_nodes, eligible,
			((uint64_t)s->n_switches * d->switches_per_mille +
			 500) / 1000, prng_stream(d->seed, STREAM_SWITCHES));
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
	return fail_links_choose(s->n_ports, eligible,
			((uint64_t)eligible->len * d->links_per_mille + 500) /
			1000, prng_stream(d->seed, STREAM_LINKS));
}

static void
pull(struct builder *b, uint32_t port)
{
	struct port_info *info = &builder_port_at(b, port)->info;

	info->state = PORT_STATE_DOWN;
	info->phys_state = PORT_PHYS_POLLING;
}

struct snapshot *
snapshot_fail_links(const struct snapshot *s, const struct link_failures *d)
{
	g_autofree uint8_t *switches = choose_switches(s, d);
	g_autofree uint8_t *links = choose_links(s, d);
	struct builder *b = builder_new_from(s, NULL);
	uint32_t i, peer;

	g_assert(d->links_per_mille <= 1000 && d->switches_per_mille <= 1000);

	for (i = 0; i < s->n_ports; i++) {
		peer = s->ports[i].peer;
		if (peer == SNAPSHOT_NONE || peer < i ||
		    !(links[i] || switches[s->ports[i].node] ||
		      switches[s->ports[peer].node]))
			continue;
		builder_unlink(b, i);
		pull(b, i);
		pull(b, peer);
	}
	for (i = 0; i < s->n_faults; i++)
		builder_fault(b, s->faults[i].kind, s->faults[i].guid, "%s",
			      s->faults[i].text);
	return builder_finish(b);
}
