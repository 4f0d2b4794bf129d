/*
 * The world: see world.h.
 */
#include "tests/lib/world.h"

#include <stdio.h>
#include <string.h>

#include "topology/generate.h"

static const struct xact_params wire = {
	.timeout_ms = 20, .retries = 2, .max_wire = 64,
};

static void
on_end(const struct sweep_report *r, void *data)
{
	struct manager *m = data;

	m->ends++;
	m->last = r->end;
}

static void
give_sm_info(struct sm_info *out, void *data)
{
	struct manager *m = data;

	sweep_sm_info(m->sweep, out);
}

static void
on_trap(const struct notice *n, void *data)
{
	struct manager *m = data;

	if (n->generic && (n->trap == 128 || n->trap == 144))
		sweep_request(m->sweep, SWEEP_CAUSE_TRAP);
}

static void
on_control(enum sm_control control, const struct sm_info *from, void *data)
{
	struct manager *m = data;

	sweep_control(m->sweep, control, from);
}

void
manager_open(struct manager *m, struct sim *sim, uint32_t port,
	     unsigned priority, const struct world_params *params)
{
	const struct serve_hooks hooks = {
		.sm_info = give_sm_info, .trap = on_trap,
		.control = on_control, .data = m,
	};
	struct sweep_params sp = {
		.priority = priority,
		.sweep_s = params->sweep_s,
		.goal = SWEEP_GOAL_FABRIC,
		.engine = engine_by_name(params->engine, NULL),
		.policy = &policy_default,
	};

	memset(m, 0, sizeof(*m));
	m->port = port;
	m->t = sim_attach(sim, port, SIM_ROLE_MANAGER);
	sp.port_guid = m->t->port_guid;
	m->x = xact_new(m->t, &wire);
	m->log = log_open(g_getenv("MINISM_TEST_LOG") ?: "/dev/null",
			  LOG_DEBUG, NULL);
	g_assert(m->log && sp.engine);
	m->memory = memory_open(NULL, m->log);
	m->sweep = sweep_new(m->x, &sp, m->memory, m->log, on_end, m);
	m->serve = serve_new(m->x, &hooks, m->log);
	sweep_request(m->sweep, SWEEP_CAUSE_START);
}

void
manager_close(struct manager *m)
{
	sweep_free(m->sweep);
	serve_free(m->serve);
	xact_free(m->x);
	transport_free(m->t);
	memory_free(m->memory);
	log_free(m->log);
	memset(m, 0, sizeof(*m));
}

void
world_open(struct world *w, const struct world_params *params)
{
	const struct generate_options options = {
		.seed = params->seed, .shuffle_guids = true,
	};
	struct sim_params sp = sim_params_default;
	g_autoptr(GError) error = NULL;

	memset(w, 0, sizeof(*w));
	w->s = generate_fabric(params->spec, &options, &error);
	g_assert_no_error(error);
	sp.seed = params->seed;
	w->sim = sim_new(w->s, &sp);
	manager_open(&w->m, w->sim, w->s->local_port, 0, params);
}

void
world_close(struct world *w)
{
	manager_close(&w->m);
	sim_free(w->sim);
	subnet_unref(w->s);
}

bool
world_settle(struct world *w, int64_t limit)
{
	int64_t end = sim_now(w->sim) + limit;
	/* Traps are on their way for a moment before the SM hears of them. */
	int64_t quiet = 300 * 1000;

	while (sim_now(w->sim) < end) {
		unsigned ends = w->m.ends;

		sim_run(w->sim, sim_now(w->sim) + quiet);
		if (sweep_state(w->m.sweep) == SWEEP_IDLE &&
		    w->m.ends == ends && ends)
			return true;
	}
	return false;
}

static bool
link_is_up(struct world *w, uint32_t port)
{
	uint32_t peer = sim_peer(w->sim, port);

	return peer != SUBNET_NONE &&
		sim_port_info(w->sim, port)->phys_state ==
			PORT_PHYS_LINK_UP &&
		sim_port_info(w->sim, peer)->phys_state == PORT_PHYS_LINK_UP;
}

uint8_t *
world_alive(struct world *w)
{
	uint8_t *alive = g_new0(uint8_t, w->s->n_ports);
	uint8_t *met = g_new0(uint8_t, w->s->n_nodes);
	g_autofree uint32_t *queue = g_new(uint32_t, w->s->n_nodes);
	uint32_t head = 0, tail = 0, own = w->s->local_port;

	alive[own] = true;
	if (link_is_up(w, own))
		queue[tail++] = w->s->ports[sim_peer(w->sim, own)].node;
	if (tail)
		met[queue[0]] = true;
	while (head < tail) {
		const struct subnet_node *n = &w->s->nodes[queue[head++]];

		if (!subnet_is_switch(n))
			continue;
		alive[n->first_port] = true;
		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t port = n->first_port + num, peer;

			if (!link_is_up(w, port))
				continue;
			peer = sim_peer(w->sim, port);
			if (!subnet_is_switch(subnet_node_of(w->s, peer))) {
				alive[peer] = true;
				continue;
			}
			if (met[w->s->ports[peer].node])
				continue;
			met[w->s->ports[peer].node] = true;
			queue[tail++] = w->s->ports[peer].node;
		}
	}
	g_free(met);
	return alive;
}

unsigned
world_unreached(struct world *w, unsigned *pairs)
{
	g_autofree uint8_t *alive = world_alive(w);
	unsigned bad = 0;

	*pairs = 0;
	for (uint32_t a = 0; a < w->s->n_ports; a++) {
		if (!alive[a] || subnet_is_switch(subnet_node_of(w->s, a)))
			continue;
		for (uint32_t b = 0; b < w->s->n_ports; b++) {
			enum sim_delivery d;
			uint16_t lid = sim_port_info(w->sim, b)->lid;

			if (a == b || !alive[b])
				continue;
			++*pairs;
			d = sim_probe(w->sim, a, lid, 0xffff, 0, NULL);
			if (d == SIM_DELIVERED)
				continue;
			if (!bad++)
				printf("# %s port %u to %s port %u (LID %u): "
				       "%s\n", subnet_node_of(w->s, a)->desc,
				       w->s->ports[a].num,
				       subnet_node_of(w->s, b)->desc,
				       w->s->ports[b].num, lid,
				       sim_delivery_name(d));
		}
	}
	return bad;
}
