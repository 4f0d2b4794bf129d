// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/lib/plan_lab.h"

#include <stdlib.h>
#include <string.h>

#include "routing/engine.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

static void
find_places(struct fabric *f)
{
	const struct snapshot_node *sw;

	f->host = f->s->local_port;
	f->gate = f->s->ports[f->host].peer;
	f->sw = f->s->ports[f->gate].node;
	sw = &f->s->nodes[f->sw];
	f->port0 = sw->first_port;
	f->up = SNAPSHOT_NONE;
	for (unsigned num = 1; num <= sw->info.num_ports; num++) {
		uint32_t peer = f->s->ports[sw->first_port + num].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(f->s, peer)))
			f->up = sw->first_port + num;
	}
}

struct fabric *
fabric_new(const char *spec)
{
	struct fabric *f = g_new0(struct fabric, 1);

	f->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(f->s);
	f->lids = lid_assign(f->s, 0, NULL, 0, NULL, NULL);
	assert_non_null(f->lids);
	f->lft = engine_tables(&engine_minhop, f->s, f->lids);
	f->seen = lft_seen_new(f->s->n_switches, f->lids->top);
	f->held = port_tables_new(f->s);
	f->policy = policy_default;
	find_places(f);
	f->w = (struct desired){
		.policy = &f->policy, .lids = f->lids, .lft = f->lft,
		.sm_lid = f->lids->base[f->host],
	};
	return f;
}

void
fabric_free(struct fabric *f)
{
	isolation_free(f->isolation);
	if (f->params.rules)
		partition_rules_unref(f->params.rules);
	port_tables_unref(f->held);
	lft_seen_free(f->seen);
	lft_free(f->lft);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
	g_free(f);
}

void
fabric_set_caps(struct fabric *f, unsigned host, unsigned port0,
		unsigned enforced)
{
	for (uint32_t i = 0; i < f->s->n_nodes; i++) {
		struct snapshot_node *n = &f->s->nodes[i];

		n->info.partition_cap = snapshot_is_switch(n) ? port0 : host;
		n->sw.partition_enforcement_cap = enforced;
		n->sw.enforce_inbound = n->sw.enforce_outbound = true;
	}
	port_tables_unref(f->held);
	f->held = port_tables_new(f->s);
}

uint32_t
fabric_port(const struct snapshot *s, const char *name)
{
	unsigned nth = (unsigned)strtoul(name + 2, NULL, 10);

	if (name[0] != 'H' && name[0] != 'S')
		return SNAPSHOT_NONE;
	for (uint32_t p = 0; p < s->n_ports; p++)
		if (snapshot_is_end_port(s, p) &&
		    snapshot_is_switch(snapshot_node_of(s, p)) ==
		    (name[0] == 'S') && !nth--)
			return strchr(name, '^') ? s->ports[p].peer : p;
	return SNAPSHOT_NONE;
}

void
fabric_isolate(struct fabric *f)
{
	isolation_free(f->isolation);
	if (!f->params.rules)
		f->params.rules = partition_rules_default();
	f->isolation = isolation_new(&f->params, f->s, f->held);
	f->w.tables = f->isolation->wanted;
	f->w.enforce = f->isolation->enforce;
}

uint32_t
plan_count(const struct plan *plan, enum plan_kind kind)
{
	return plan->first[kind + 1] - plan->first[kind];
}
