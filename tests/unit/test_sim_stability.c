// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a fault in a fat tree changes: how many blocks are written, whether a
 * pair of hosts that the fault did not cut loses its path after any Set of the
 * update, and whether a repaired fabric gets its tables back.
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
#define BLOCKS	(LIDS / 64)

struct watch {
	struct world *w;
	uint8_t *lft;		/* [switch][LID] */
	uint8_t *is_healthy;	/* [host][host], by place in hosts[] */
	uint32_t *hosts, n_hosts;
	unsigned written, lost;	/* blocks; pairs, at any step */
	unsigned sets;		/* of blocks */
};

static void
read_tables(const struct world *w, uint8_t *lft)
{
	for (uint32_t sw = 0; sw < w->s->n_switches; sw++)
		for (uint32_t lid = 0; lid < LIDS; lid++)
			lft[sw * LIDS + lid] = sim_lft_entry(w->sim,
				w->s->switches[sw], (uint16_t)lid);
}

static unsigned
count_blocks(const struct world *w, const uint8_t *a, const uint8_t *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < w->s->n_switches * BLOCKS; i++)
		n += memcmp(a + i * 64, b + i * 64, 64) != 0;
	return n;
}

static bool
arrives(const struct watch *v, uint32_t a, uint32_t b)
{
	uint16_t lid = sim_port_info(v->w->sim, v->hosts[b])->lid;

	return sim_probe(v->w->sim, v->hosts[a], lid, 0xffff, 0, NULL) ==
		SIM_DELIVERED;
}

/* The answer to a Set is about to leave: the Set is done. */
static bool
watch_on_answer(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct watch *v = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (v->w->m.sweep->state != SWEEP_PROGRAMMING ||
	    (h.attr_id != MAD_ATTR_LINEAR_FT &&
	     h.attr_id != MAD_ATTR_PORT_INFO &&
	     h.attr_id != MAD_ATTR_SWITCH_INFO))
		return true;
	v->sets += h.attr_id == MAD_ATTR_LINEAR_FT;
	for (uint32_t i = 0; i < v->n_hosts * v->n_hosts; i++)
		if (v->is_healthy[i] &&		/* each pair counts once */
		    !arrives(v, i / v->n_hosts, i % v->n_hosts)) {
			v->is_healthy[i] = false;
			v->lost++;
		}
	return true;
}

static void
watch_open(struct watch *v, struct world *w)
{
	*v = (struct watch){ .w = w };
	v->hosts = g_new(uint32_t, w->s->n_ports);
	for (uint32_t port = 0; port < w->s->n_ports; port++)
		if (w->s->ports[port].num &&
		    !snapshot_is_switch(snapshot_node_of(w->s, port)))
			v->hosts[v->n_hosts++] = port;
	v->is_healthy = g_new(uint8_t, v->n_hosts * v->n_hosts);
	v->lft = g_new(uint8_t, w->s->n_switches * LIDS);
	sim_set_liar(w->sim, watch_on_answer, v);
}

/* After a fault: pairs that have a path at this moment are healthy. Runs until
 * the SM rests. */
static void
watch_update(struct watch *v)
{
	struct world *w = v->w;
	int64_t end = sim_now(w->sim) + 60 * SECOND;
	g_autofree uint8_t *now = g_new(uint8_t, w->s->n_switches * LIDS);
	unsigned ends = w->m.ends, drained = w->m.n_drained;

	for (uint32_t i = 0; i < v->n_hosts * v->n_hosts; i++)
		v->is_healthy[i] = i / v->n_hosts != i % v->n_hosts &&
			arrives(v, i / v->n_hosts, i % v->n_hosts);
	v->sets = v->lost = 0;
	read_tables(w, v->lft);
	while (w->m.ends == ends && sim_now(w->sim) < end)
		sim_run(w->sim, sim_now(w->sim) + QUIET);
	assert_true(world_settle(w, 60 * SECOND));
	read_tables(w, now);
	v->written = count_blocks(w, v->lft, now);
	memcpy(v->lft, now, w->s->n_switches * LIDS);
	if (w->m.n_drained == drained)
		assert_int_equal(v->lost, 0);
}

static bool
is_between_switches(const struct snapshot *s, uint32_t port)
{
	return s->ports[port].peer != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, port)) &&
		snapshot_is_switch(snapshot_node_of(s, s->ports[port].peer));
}

/* Does the path from a switch to this LID use a link that is marked? */
static bool
uses_marked(const struct world *w, uint32_t node, uint16_t lid,
	    const uint8_t *is_marked)
{
	const struct snapshot *s = w->s;

	for (unsigned hop = 0; hop < SIM_HOPS_MAX; hop++) {
		uint32_t p = snapshot_port_of(s, node, sim_lft_entry(w->sim,
							node, lid));

		if (p == SNAPSHOT_NONE || !is_between_switches(s, p))
			return false;
		if (is_marked[p] || is_marked[s->ports[p].peer])
			return true;
		node = s->ports[s->ports[p].peer].node;
	}
	return false;
}

/* Blocks with an entry whose path uses a link that is marked. */
static unsigned
count_held(const struct world *w, const uint8_t *is_marked)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < w->s->n_switches * BLOCKS; i++)
		for (uint32_t k = 0; k < 64; k++)
			if (uses_marked(w, w->s->switches[i / BLOCKS],
					(uint16_t)(i % BLOCKS * 64 + k),
					is_marked)) {
				n++;
				break;
			}
	return n;
}

/*
 * times: with `auto`, the blocks that held what is lost are written at most so
 * many times; the goal is 2. Of 200 cables lost in PGFT(4,4,3;1,4,4), 40 take more,
 * up to 2.8: load is moved that the loss did not touch.
 */
static const struct {
	const char *spec;
	unsigned times;
} trees[] = {
	{ "PGFT(4,4;1,4)", 2 },
	{ "PGFT(3,3,3;1,2,2)", 2 },
	{ "PGFT(3,3,3;1,3,3)", 3 },
};

static const char *const engine_names[] = { "auto", "ftree", "updn", "minhop" };

/* A manager that has brought a tree up, and what becomes of it. */
struct bench {
	struct world w;
	struct watch v;
	uint64_t rng;
	const char *spec, *engine;
	unsigned times;
};

enum loss { LOSS_CABLE, LOSS_AGGREGATION, LOSS_TOP, LOSS_PLACES };

/* What happens to the fabric, and how it is undone. */
struct fault {
	const char *name;
	bool is_off;		/* the switch itself, not its cables */
	uint32_t node;		/* the switch that is lost, or NONE */
	uint32_t a, b;		/* hosts that change places, or NONE */
	uint8_t *is_marked;	/* by port: its cable is lost */
};

static void
inflict(struct bench *b, const struct fault *f, bool is_lost)
{
	struct sim *sim = b->w.sim;

	if (f->a != SNAPSHOT_NONE) {
		sim_cable_swap(sim, f->a, f->b);
	} else if (f->is_off && is_lost) {
		sim_node_off(sim, f->node);
	} else if (f->is_off) {
		sim_node_on(sim, f->node);
	} else {
		for (uint32_t p = 0; p < b->w.s->n_ports; p++)
			if (f->is_marked[p] && is_lost)
				sim_link_cut(sim, p);
			else if (f->is_marked[p])
				sim_link_mend(sim, p);
	}
}

/* Inflicts the fault and undoes it; pairs that lost their path. */
static unsigned
lose_and_return(struct bench *b, const struct fault *f)
{
	struct watch *v = &b->v;
	unsigned held = count_held(&b->w, f->is_marked), lost, differ;
	g_autofree uint8_t *before = g_new(uint8_t, b->w.s->n_switches * LIDS);

	read_tables(&b->w, before);
	inflict(b, f, true);
	watch_update(v);
	printf("# %s %s, %s lost: %u blocks held it, %u written by %u Sets; "
	       "%u pairs that it did not cut lose their path\n", b->spec,
	       b->engine, f->name, held, v->written, v->sets, v->lost);
	lost = v->lost;
	if (f->a == SNAPSHOT_NONE && strcmp(b->engine, "auto") == 0)
		assert_in_range(v->written, 0, b->times * held);
	inflict(b, f, false);
	watch_update(v);
	differ = count_blocks(&b->w, before, v->lft);
	printf("# %s %s, %s back: %u blocks written by %u Sets, %u differ; "
	       "%u pairs lose their path\n", b->spec, b->engine, f->name,
	       v->written, v->sets, differ, v->lost);
	if (f->a == SNAPSHOT_NONE && strcmp(b->engine, "auto") == 0)
		assert_int_equal(differ, 0);
	return lost + v->lost;
}

/* 0: a switch with CAs; 1: next to one; 2: above these. */
static unsigned
level_of(const struct snapshot *s, uint32_t node)
{
	unsigned level = 2;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint32_t peer = s->ports[p].peer, q;

		if (s->ports[p].node != node || peer == SNAPSHOT_NONE)
			continue;
		if (!is_between_switches(s, p))
			return 0;
		for (q = 0; q < s->n_ports; q++)
			if (s->ports[q].node == s->ports[peer].node &&
			    s->ports[q].peer != SNAPSHOT_NONE &&
			    !is_between_switches(s, q))
				level = 1;
	}
	return level;
}

/* By chance; a switch of the level, or of the highest one below. */
static void
pick(struct bench *b, struct fault *f, enum loss loss)
{
	static const char *const names[] = {
		[LOSS_CABLE] = "cable", [LOSS_TOP] = "top switch",
		[LOSS_AGGREGATION] = "aggregation switch",
		[LOSS_PLACES] = "places of two hosts",
	};
	const struct snapshot *s = b->w.s;
	unsigned level = loss == LOSS_TOP ? 2 : 1, tries = 0;
	uint32_t p;

	f->name = names[loss];
	if (loss == LOSS_CABLE) {
		do
			p = prng_below(&b->rng, s->n_ports);
		while (!is_between_switches(s, p));
		f->is_marked[p] = 1;
	} else if (loss == LOSS_PLACES) {
		do {	/* none of them is the manager's */
			f->a = b->v.hosts[prng_below(&b->rng, b->v.n_hosts)];
			f->b = b->v.hosts[prng_below(&b->rng, b->v.n_hosts)];
		} while (f->a == f->b || f->a == s->local_port ||
			 f->b == s->local_port);
	} else {
		do {
			f->node = s->switches[prng_below(&b->rng,
							 s->n_switches)];
			level -= tries++ == 1000;
		} while (level_of(s, f->node) != level);
		f->is_off = prng_below(&b->rng, 2);
		for (p = 0; p < s->n_ports; p++)
			f->is_marked[p] = s->ports[p].node == f->node &&
				is_between_switches(s, p);
	}
}

static unsigned
run_engine(const char *spec, const char *engine, unsigned times,
	   enum loss loss)
{
	uint64_t seed = seed_get(SEED);
	struct sm_instance_params params = manager_defaults;
	struct bench b = { .rng = prng_stream(seed, 3), .spec = spec,
			   .engine = engine, .times = times };
	unsigned lost = 0, rounds = loss == LOSS_CABLE ? 4 : 2;

	params.sweep.route.engine = strcmp(engine, "auto") ?
		engine_by_name(engine, NULL) : NULL;
	world_open(&b.w, spec, seed, &params);
	assert_true(world_settle(&b.w, 60 * SECOND));
	watch_open(&b.v, &b.w);
	while (rounds--) {
		struct fault f = {
			.node = SNAPSHOT_NONE,
			.a = SNAPSHOT_NONE, .b = SNAPSHOT_NONE,
			.is_marked = g_new0(uint8_t, b.w.s->n_ports),
		};

		pick(&b, &f, loss);
		lost += lose_and_return(&b, &f);
		g_free(f.is_marked);
	}
	g_free(b.v.hosts);
	g_free(b.v.is_healthy);
	g_free(b.v.lft);
	world_close(&b.w);
	return lost;
}

TEST(test_faults_cost_no_other_path)
{
	unsigned lost = 0, n;

	for (enum loss loss = LOSS_CABLE; loss <= LOSS_PLACES; loss++)
		for (size_t i = 0; i < G_N_ELEMENTS(trees); i++)
			for (size_t e = 0; e < G_N_ELEMENTS(engine_names);
			     e++) {
				n = run_engine(trees[i].spec, engine_names[e],
					       trees[i].times, loss);
				printf("# %s %s: %u pairs lost their path\n",
				       trees[i].spec, engine_names[e], n);
				lost += n;
			}
	assert_int_equal(lost, 0);
}
