// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a fault in a fat tree changes: whether a pair of hosts that the fault did
 * not cut loses its path after any Set of the update, and whether a repaired
 * fabric gets its tables back.
 *
 * MINISM_TEST_SEED sets the seed.
 */
#include <stdio.h>
#include <string.h>

#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "tests/lib/world.h"
#include "tests/lib/sim_script.h"
#include "topology/prng.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)
#define QUIET	(SECOND / 3)
#define SEED	1u
#define LIDS	512u

/* A manager that has brought a tree up, and what becomes of it. */
struct bench {
	struct world w;
	uint64_t rng;
	uint8_t *is_healthy;	/* [host][host], by place in hosts[] */
	uint32_t *hosts, n_hosts;
	unsigned lost;		/* pairs, at any step */
};

/* The forwarding tables of all switches, as a number. */
static char *
read_tables(const struct bench *b)
{
	g_autoptr(GByteArray) all = g_byte_array_new();

	for (uint32_t i = 0; i < b->w.s->n_switches * LIDS; i++) {
		uint8_t port = sim_lft_entry(b->w.sim,
			b->w.s->switches[i / LIDS], (uint16_t)(i % LIDS));

		g_byte_array_append(all, &port, 1);
	}
	return g_compute_checksum_for_data(G_CHECKSUM_SHA256, all->data,
					   all->len);
}

/* The nth pair. */
static bool
arrives(const struct bench *b, uint32_t n)
{
	uint32_t from = b->hosts[n / b->n_hosts], to = b->hosts[n % b->n_hosts];

	return from != to &&
		sim_probe(b->w.sim, from, sim_port_info(b->w.sim, to)->lid,
			  0xffff, 0, NULL) == SIM_DELIVERED;
}

/* The answer to a Set is about to leave: the Set is done. */
static bool
watch_answer(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct bench *b = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (b->w.m.sweep->state != SWEEP_PROGRAMMING ||
	    (h.attr_id != MAD_ATTR_LINEAR_FT &&
	     h.attr_id != MAD_ATTR_PORT_INFO &&
	     h.attr_id != MAD_ATTR_SWITCH_INFO))
		return true;
	for (uint32_t i = 0; i < b->n_hosts * b->n_hosts; i++)
		if (b->is_healthy[i] && !arrives(b, i)) {
			b->is_healthy[i] = false;	/* counts once */
			b->lost++;
		}
	return true;
}

/* After a fault: pairs that have a path at this moment are healthy. Runs until
 * the SM rests. */
static void
watch_update(struct bench *b)
{
	struct world *w = &b->w;
	int64_t end = sim_now(w->sim) + 60 * SECOND;
	unsigned ends = w->m.ends, drained = w->m.n_drained;

	for (uint32_t i = 0; i < b->n_hosts * b->n_hosts; i++)
		b->is_healthy[i] = arrives(b, i);
	b->lost = 0;
	while (w->m.ends == ends && sim_now(w->sim) < end)
		sim_run(w->sim, sim_now(w->sim) + QUIET);
	assert_true(world_settle(w, 60 * SECOND));
	if (w->m.n_drained == drained)
		assert_int_equal(b->lost, 0);
}

static bool
is_between_switches(const struct snapshot *s, uint32_t port)
{
	return s->ports[port].peer != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, port)) &&
		snapshot_is_switch(snapshot_node_of(s, s->ports[port].peer));
}

enum loss { LOSS_CABLE, LOSS_AGGREGATION, LOSS_TOP, LOSS_PLACES };

static const char *const loss_names[] = {
	"cable", "aggregation switch", "top switch", "places of two hosts",
};

/* What happens to the fabric, and how it is undone. */
struct fault {
	bool is_off;		/* the switch itself, not its cables */
	uint32_t node;		/* the switch that is lost */
	uint32_t a, b;		/* hosts that change places, or NONE */
	uint8_t *is_marked;	/* by port: its cable is lost */
};

static void
inflict(struct bench *b, const struct fault *f, bool is_lost)
{
	struct sim *sim = b->w.sim;

	if (f->a != SNAPSHOT_NONE)
		sim_cable_swap(sim, f->a, f->b);
	else if (f->is_off)
		(is_lost ? sim_node_off : sim_node_on)(sim, f->node);
	else
		for (uint32_t p = 0; p < b->w.s->n_ports; p++)
			if (f->is_marked[p])
				(is_lost ? sim_link_cut : sim_link_mend)(sim,
									 p);
}

/* 0: a switch with CAs; 1: next to one; 2: above these. */
static unsigned
level_of(const struct snapshot *s, const struct snapshot_node *n, bool looks_on)
{
	unsigned level = 2;

	for (unsigned i = 1; i <= n->info.num_ports; i++) {
		uint32_t peer = s->ports[n->first_port + i].peer;

		if (peer == SNAPSHOT_NONE)
			continue;
		if (!snapshot_is_switch(snapshot_node_of(s, peer)))
			return 0;
		if (looks_on && !level_of(s, snapshot_node_of(s, peer), false))
			level = 1;
	}
	return level;
}

/* By chance; a switch of the level, or of the highest one below. */
static void
pick(struct bench *b, struct fault *f, enum loss loss)
{
	const struct snapshot *s = b->w.s;
	unsigned level = loss == LOSS_TOP ? 2 : 1, tries = 0;
	uint32_t p;

	if (loss == LOSS_CABLE) {
		do
			p = prng_below(&b->rng, s->n_ports);
		while (!is_between_switches(s, p));
		f->is_marked[p] = 1;
	} else if (loss == LOSS_PLACES) {
		do {	/* none of them is the manager's */
			f->a = b->hosts[prng_below(&b->rng, b->n_hosts)];
			f->b = b->hosts[prng_below(&b->rng, b->n_hosts)];
		} while (f->a == f->b || f->a == s->local_port ||
			 f->b == s->local_port);
	} else {
		do {
			f->node = s->switches[prng_below(&b->rng,
							 s->n_switches)];
			level -= tries++ == 1000;
		} while (level_of(s, &s->nodes[f->node], true) != level);
		f->is_off = prng_below(&b->rng, 2);
		for (p = 0; p < s->n_ports; p++)
			f->is_marked[p] = s->ports[p].node == f->node &&
				is_between_switches(s, p);
	}
}

/* Pairs that lost their path; is_auto: and all tables come back. */
static unsigned
lose_and_return(struct bench *b, enum loss loss, bool is_auto)
{
	g_autofree uint8_t *is_marked = g_new0(uint8_t, b->w.s->n_ports);
	struct fault f = { .a = SNAPSHOT_NONE, .is_marked = is_marked };
	g_autofree char *before = read_tables(b), *after = NULL;
	unsigned lost;

	pick(b, &f, loss);
	inflict(b, &f, true);
	watch_update(b);
	lost = b->lost;
	inflict(b, &f, false);
	watch_update(b);
	after = read_tables(b);
	if (is_auto && loss != LOSS_PLACES)
		assert_string_equal(after, before);
	return lost + b->lost;
}

static unsigned
run_engine(const char *spec, const char *engine, enum loss loss)
{
	uint64_t seed = seed_get(SEED);
	struct sm_instance_params params = manager_defaults;
	struct bench b = { .rng = prng_stream(seed, 3) };
	unsigned lost = 0, rounds = loss == LOSS_CABLE ? 4 : 2;
	bool is_auto = strcmp(engine, "auto") == 0;

	params.sweep.route.engine = is_auto ? NULL :
		engine_by_name(engine, NULL);
	world_open(&b.w, spec, seed, &params);
	assert_true(world_settle(&b.w, 60 * SECOND));
	b.hosts = g_new(uint32_t, b.w.s->n_ports);
	for (uint32_t port = 0; port < b.w.s->n_ports; port++)
		if (b.w.s->ports[port].num &&
		    !snapshot_is_switch(snapshot_node_of(b.w.s, port)))
			b.hosts[b.n_hosts++] = port;
	b.is_healthy = g_new(uint8_t, b.n_hosts * b.n_hosts);
	sim_set_liar(b.w.sim, watch_answer, &b);
	while (rounds--)
		lost += lose_and_return(&b, loss, is_auto);
	printf("# %s %s, %s lost: %u pairs lost their path\n", spec, engine,
	       loss_names[loss], lost);
	g_free(b.hosts);
	g_free(b.is_healthy);
	world_close(&b.w);
	return lost;
}

TEST(test_faults_cost_no_other_path)
{
	static const char *const trees[] = {
		"PGFT(4,4;1,4)", "PGFT(3,3,3;1,2,2)", "PGFT(3,3,3;1,3,3)",
	};
	static const char *const names[] = { "auto", "ftree", "updn", "minhop" };
	unsigned lost = 0;

	for (enum loss loss = LOSS_CABLE; loss <= LOSS_PLACES; loss++)
		for (size_t i = 0; i < G_N_ELEMENTS(trees); i++)
			for (size_t e = 0; e < G_N_ELEMENTS(names); e++)
				lost += run_engine(trees[i], names[e], loss);
	assert_int_equal(lost, 0);
}
