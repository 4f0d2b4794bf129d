// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An observer: it judges a fabric that another subnet manager brings up.
 *
 * Method. LIDs (of a range the base), P_Keys and forwarding tables are those
 * that ports and switches hold. Where a master routes, the held tables are
 * verified; nothing is planned. A master handles changes before a light sweep
 * sees them, so everything is read again at each interval of light sweeps,
 * unless that takes too long: then light sweeps in between find dead switches
 * and another master.
 *
 * Safety. A mad_client that only reads takes no Set.
 *
 * Cost. That of a heavy sweep, for at most 1 / OBSERVE_TIMES of the time.
 */
#include "sm/sweep/sweep.h"
#include "topology/text.h"

#define OBSERVE_TIMES	20

bool
observe_is_due(const struct sweep *s)
{
	return s->params.goal == SWEEP_GOAL_OBSERVE &&
		transport_now(s->t) - s->last_end >=
		OBSERVE_TIMES * s->last_took;
}

const struct election_peer *
observe_master(const struct sweep *s)
{
	return election_highest(&s->self, s->others, SM_STATE_MASTER,
				ELECTION_ANY);
}

void
observe_lids(const struct snapshot *n, struct lid_map *map)
{
	for (uint32_t port = 0; port < n->n_ports; port++) {
		unsigned base = map->base[port];

		if (!base || n->ports[port].info.lid == base)
			continue;
		map->owner[base] = SNAPSHOT_NONE;
		map->base[port] = LID_NONE;
	}
}

bool
observe_reads(const struct snapshot *n, enum port_table table, uint32_t port)
{
	return snapshot_is_end_port(n, port) && n->ports[port].known &&
		(table == PORT_TABLE_PKEY ||
		 (table == PORT_TABLE_SL2VL && n->ports[port].num &&
		  snapshot_link_up(n, port) && n->ports[port].info.cap_mask &
		  PORT_CAP_HAS_SL_MAPPING));
}

static int
observe_compare_grants(const void *a, const void *b)
{
	const struct partition_grant *x = a, *y = b;

	return uint_compare(x->port, y->port) ?:
		uint_compare(pkey_base(x->pkey), pkey_base(y->pkey));
}

struct memberships *
observe_memberships(const struct snapshot *n, const struct port_tables *held)
{
	g_autoptr(GArray) grants = g_array_new(FALSE, FALSE,
					sizeof(struct partition_grant));

	for (uint32_t port = 0; port < n->n_ports; port++) {
		unsigned cap = snapshot_is_end_port(n, port) ?
			port_pkey_cap(n, port) : 0;

		for (unsigned i = 0; i < cap; i++) {
			const union port_block *b = port_tables_get(held,
				PORT_TABLE_PKEY, port, i / PKEYS_A_BLOCK);
			const struct partition_grant grant = {
				port, b ? b->pkeys[i % PKEYS_A_BLOCK] : 0,
			};

			if (pkey_base(grant.pkey))
				g_array_append_val(grants, grant);
		}
	}
	g_array_sort(grants, observe_compare_grants);
	return memberships_deal(n->n_ports, grants);
}

void
observe_judge(const struct sweep *s, GPtrArray *lines)
{
	const struct snapshot *n = s->next.subnet;
	const struct channels_result *channels = &s->next.choice.alone.channels;
	uint32_t bad = 0, first = 0;
	g_autofree char *name = NULL;

	if (!observe_master(s))
		g_ptr_array_add(lines, g_strdup("no other port answers as the "
			"master subnet manager: nothing repairs this fabric"));
	if (channels->n_looped)
		g_ptr_array_add(lines, g_strdup_printf("CREDIT LOOP in the "
			"tables that the switches hold: traffic can deadlock: "
			"%u channels are in credit loops. %s",
			channels->n_looped, s->next.choice.warning));
	for (uint32_t port = 0; port < n->n_ports; port++)
		if (snapshot_is_end_port(n, port) && n->ports[port].known &&
		    n->ports[port].info.state >= PORT_STATE_INIT &&
		    !s->next.lids->base[port] && !bad++)
			first = port;
	if (!bad)
		return;
	name = snapshot_port_name(n, first);
	g_ptr_array_add(lines, g_strdup_printf("%u port%s without a LID of "
		"its own, the first: %s (LID %u)", bad, text_plural(bad), name,
		n->ports[first].info.lid));
}
