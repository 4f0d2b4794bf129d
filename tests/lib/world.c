// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The world: see world.h.
 */
#include "tests/lib/sim_script.h"
#include "tests/lib/world.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/auto.h"

const struct sa_params manager_sa = {
	.sm_key = 1, .gid_prefix = UINT64_C(0xfe80000000000000),
	.packet_life = 18, .subnet_timeout = 18, .qos = true,
};

const struct sm_instance_params manager_defaults = {
	.wire = { .timeout_ms = 200, .retries = 3, .max_wire = 128 },
	.sweep = {
		.sweep_s = 10, .route = { .threads = 1 },
		.poll_ms = 250, .polls_lost = 2,
		.policy = &policy_default,
	},
};

static void
put_lines(GString *out, const GPtrArray *lines)
{
	g_string_truncate(out, 0);
	for (guint i = 0; lines && i < lines->len; i++)
		g_string_append_printf(out, "%s\n", (char *)lines->pdata[i]);
}

static void
on_end(const struct sweep_report *r, void *data)
{
	struct manager *m = data;

	m->ends++;
	m->repairs += r->is_repair;
	if (r->choice)
		m->engine = r->choice->engine;
	if (r->choice && r->choice->safety == CHOICE_DRAIN)
		m->n_drained++;
	m->last = r->end;
	m->took = r->took_us;
	g_free(m->causes);
	m->causes = g_strdup(r->causes);
	put_lines(m->problems, r->verdict ? r->verdict->lines : NULL);
	put_lines(m->warnings, r->verdict ? r->verdict->warnings : NULL);
}

static void
show(bool shown, void *data)
{
	sim_client_show(data, shown);
}

void
manager_open(struct manager *m, struct sim *sim, uint32_t port,
	     const struct sm_instance_params *params, const char *log)
{
	struct sm_instance_params own = params ? *params : manager_defaults;

	memset(m, 0, sizeof(*m));
	m->sim = sim;
	m->port = port;
	m->problems = g_string_new(NULL);
	m->warnings = g_string_new(NULL);
	m->t = sim_attach(sim, port, SIM_ROLE_MANAGER);
	m->freezer = freezer_new(m->t);
	m->log = log_open(log ?: g_getenv("MINISM_TEST_LOG") ?: "/dev/null",
			  LOG_DEBUG, NULL);
	g_assert(m->log);
	own.sweep.show = show;
	own.sweep.show_data = m->t;
	sim_client_show(m->t, !own.sweep.hidden);
	m->sm = sm_instance_new(m->t, &own, m->log, on_end, m);
	m->x = m->sm->x;
	m->sweep = m->sm->sweep;
	m->desk = m->sm->sa_server;
	m->mcast = m->sm->mcast;
	sweep_request(m->sweep, SWEEP_CAUSE_START);
}

void
manager_close(struct manager *m)
{
	sm_instance_free(m->sm);
	transport_free(m->t);
	log_free(m->log);
	g_string_free(m->problems, TRUE);
	g_string_free(m->warnings, TRUE);
	g_free(m->causes);
	memset(m, 0, sizeof(*m));
}

static void
on_retired(void *data)
{
	*(bool *)data = true;
}

bool
manager_retire(struct manager *m)
{
	int64_t end = sim_now(m->sim) + (RETIRE_MS + 10) * 1000;
	bool retired = !sm_instance_retire(m->sm, on_retired, &retired);

	while (!retired && sim_now(m->sim) < end)
		g_assert(sim_step(m->sim));
	return retired;
}

bool
manager_wait_ends(struct manager *m, unsigned n, int64_t limit_us)
{
	int64_t end = sim_now(m->sim) + limit_us;
	unsigned until = m->ends + n;

	while (m->ends < until && sim_now(m->sim) < end)
		g_assert(sim_step(m->sim));
	return m->ends >= until;
}

bool
manager_wait_up(struct manager *m, int64_t limit_us)
{
	int64_t end = sim_now(m->sim) + limit_us;

	while (manager_wait_ends(m, 1, end - sim_now(m->sim)))
		if (m->last == SWEEP_END_UP)
			return true;
	return false;
}

bool
world_settle(struct world *w, int64_t limit)
{
	int64_t end = sim_now(w->sim) + limit;
	/* Traps are on their way for a moment before the SM hears of them, and
	 * those of a node that has sent many wait for their turn. */
	int64_t quiet = 300 * 1000;

	while (sim_now(w->sim) < end) {
		unsigned ends = w->m.ends;

		sim_run(w->sim, sim_now(w->sim) + quiet);
		if (w->m.sweep->state == SWEEP_IDLE &&
		    w->m.ends == ends && ends &&
		    (w->m.sweep->paused ||
		     notices_due(w->m.sweep->notices) == INT64_MAX))
			return true;
	}
	return false;
}

static bool
link_is_up(struct world *w, uint32_t port)
{
	uint32_t peer = sim_peer(w->sim, port);

	return peer != SNAPSHOT_NONE &&
		sim_port_info(w->sim, port)->phys_state ==
			PORT_PHYS_LINK_UP &&
		sim_port_info(w->sim, peer)->phys_state == PORT_PHYS_LINK_UP;
}

uint8_t *
world_alive(struct world *w)
{
	uint8_t *alive = g_new0(uint8_t, w->s->n_ports);
	g_autofree uint8_t *met = g_new0(uint8_t, w->s->n_nodes);
	g_autofree uint32_t *queue = g_new(uint32_t, w->s->n_nodes);
	uint32_t head = 0, tail = 0, own = w->s->local_port;

	alive[own] = true;
	if (link_is_up(w, own))
		queue[tail++] = w->s->ports[sim_peer(w->sim, own)].node;
	if (tail)
		met[queue[0]] = true;
	while (head < tail) {
		const struct snapshot_node *n = &w->s->nodes[queue[head++]];

		if (!snapshot_is_switch(n))
			continue;
		alive[n->first_port] = true;
		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t port = n->first_port + num, peer;

			if (!link_is_up(w, port))
				continue;
			peer = sim_peer(w->sim, port);
			if (!snapshot_is_switch(snapshot_node_of(w->s, peer))) {
				alive[peer] = true;
				continue;
			}
			if (met[w->s->ports[peer].node])
				continue;
			met[w->s->ports[peer].node] = true;
			queue[tail++] = w->s->ports[peer].node;
		}
	}
	return alive;
}

unsigned
world_unreached(struct world *w, uint32_t but, unsigned *pairs, unsigned *mixed)
{
	g_autofree uint8_t *alive = world_alive(w);
	unsigned bad = 0;

	*pairs = *mixed = 0;
	if (but != SNAPSHOT_NONE)
		alive[but] = false;
	for (uint32_t a = 0; a < w->s->n_ports; a++) {
		if (!alive[a] || snapshot_is_switch(snapshot_node_of(w->s, a)))
			continue;
		for (uint32_t b = 0; b < w->s->n_ports; b++) {
			enum sim_delivery d = SIM_DELIVERED;
			const struct port_info *i = sim_port_info(w->sim, b);
			uint16_t lid = i->lid, end = lid + (1u << i->lmc);

			if (a == b || !alive[b])
				continue;
			++*pairs;
			for (; d == SIM_DELIVERED && lid < end; lid++)
				d = sim_probe(w->sim, a, lid, 0xffff, 0, NULL);
			if (d == SIM_DELIVERED)
				continue;
			lid--;
			if (d == SIM_NO_ROUTE && !w->s->ports[b].num) {
				++*mixed;
				continue;
			}
			if (!bad++)
				printf("# %s port %u to %s port %u (LID %u): "
				       "%s\n", snapshot_node_of(w->s, a)->desc,
				       w->s->ports[a].num,
				       snapshot_node_of(w->s, b)->desc,
				       w->s->ports[b].num, lid,
				       sim_delivery_name(d));
		}
	}
	return bad;
}

unsigned
world_wrong_keys(struct world *w, const struct sm_instance_params *p,
		 uint32_t but)
{
	AUTO(mkey_db) *keys = mkey_db_new(p->m_key, p->key_mode);
	unsigned n = 0;

	for (uint32_t port = 0; port < w->s->n_ports; port++) {
		const struct port_info *i = sim_port_info(w->sim, port);

		n += port != but && snapshot_is_end_port(w->s, port) &&
			(i->m_key != mkey_db_wanted(keys,
						    w->s->ports[port].guid) ||
			 i->m_key_protect != p->sweep.policy->m_key_protect);
	}
	return n;
}

static bool
may_pass(const struct memberships *m, uint32_t a, uint32_t b, uint16_t pkey)
{
	unsigned bit = pkey & PKEY_FULL ? PARTITION_FULL : PARTITION_LIMITED;
	unsigned theirs = memberships_of(m, b, pkey);

	return memberships_of(m, a, pkey) & bit &&
		(pkey & PKEY_FULL ? theirs : theirs & PARTITION_FULL);
}

/* bad: so far; the first one is printed. */
static unsigned
misled(struct world *w, const struct memberships *m, uint32_t a, uint32_t b,
       uint16_t pkey, unsigned bad)
{
	uint16_t lid = sim_port_info(w->sim, b)->lid;
	enum sim_delivery d = sim_probe(w->sim, a, lid, pkey, 0, NULL);
	bool may = may_pass(m, a, b, pkey);

	if (d == SIM_NO_ROUTE || may == (d == SIM_DELIVERED))
		return 0;
	if (bad)
		return 1;
	printf("# %s port %u to %s port %u with 0x%04x: %s, and it %s\n",
	       snapshot_node_of(w->s, a)->desc, w->s->ports[a].num,
	       snapshot_node_of(w->s, b)->desc, w->s->ports[b].num, pkey,
	       sim_delivery_name(d), may ? "may pass" : "must not");
	return 1;
}

unsigned
world_misled(struct world *w, struct partition_rules *rules, unsigned *asked)
{
	AUTO(memberships) *m = memberships_new(rules, w->s, NULL);
	g_autofree uint8_t *alive = world_alive(w);
	unsigned bad = 0;

	*asked = 0;
	for (uint32_t a = 0; a < w->s->n_ports; a++)
		for (uint32_t b = 0; alive[a] && b < w->s->n_ports; b++)
			for (guint i = 0; a != b && alive[b] &&
			     i < rules->partitions->len * 2; i++) {
				const struct partition *p =
					rules->partitions->pdata[i / 2];

				++*asked;
				bad += misled(w, m, a, b, p->pkey |
					      (i % 2 ? PKEY_FULL : 0), bad);
			}
	return bad;
}
