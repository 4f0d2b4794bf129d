// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a fault in a fat tree changes: how many blocks are written, whether a
 * pair of hosts that the fault did not cut loses its path at any step of the
 * update, and whether a repaired fabric gets its tables back.
 *
 * MINISM_TEST_SEED sets the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/seed.h"
#include "tests/lib/world.h"
#include "topology/prng.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)
#define QUIET	(SECOND / 3)
#define STEP	5	/* us between two looks */
#define SEED	1u
#define LIDS	512u
#define BLOCKS	(LIDS / 64)

struct watch {
	struct world *w;
	uint8_t *lft;		/* [switch][LID] */
	uint8_t *is_healthy;	/* [host][host], by place in hosts[] */
	uint32_t *hosts, n_hosts;
	unsigned written, lost;	/* blocks; pairs, most at any step */
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

static unsigned
count_lost(const struct watch *v)
{
	unsigned n = 0;

	for (uint32_t a = 0; a < v->n_hosts; a++)
		for (uint32_t b = 0; b < v->n_hosts; b++)
			n += v->is_healthy[a * v->n_hosts + b] &&
				!arrives(v, a, b);
	return n;
}

static void
watch_open(struct watch *v, struct world *w)
{
	*v = (struct watch){ .w = w };
	v->hosts = g_new(uint32_t, w->s->n_ports);
	for (uint32_t port = 0; port < w->s->n_ports; port++)
		if (!snapshot_is_switch(snapshot_node_of(w->s, port)))
			v->hosts[v->n_hosts++] = port;
	v->is_healthy = g_new(uint8_t, v->n_hosts * v->n_hosts);
	v->lft = g_new(uint8_t, w->s->n_switches * LIDS);
}

static void
watch_close(struct watch *v)
{
	g_free(v->hosts);
	g_free(v->is_healthy);
	g_free(v->lft);
}

/* After a fault: pairs that have a path at this moment are healthy. Runs until
 * the SM rests, and looks at the tables after each SMP. */
static void
watch_update(struct watch *v)
{
	struct world *w = v->w;
	int64_t end = sim_now(w->sim) + 60 * SECOND, last = sim_now(w->sim);
	uint64_t served = sim_stats(w->sim)->served;
	g_autofree uint8_t *now = g_new(uint8_t, w->s->n_switches * LIDS);
	unsigned ends = w->m.ends, n;

	for (uint32_t i = 0; i < v->n_hosts * v->n_hosts; i++)
		v->is_healthy[i] = i / v->n_hosts != i % v->n_hosts &&
			arrives(v, i / v->n_hosts, i % v->n_hosts);
	v->written = v->lost = 0;
	read_tables(w, v->lft);
	while (sim_now(w->sim) < end) {
		sim_run(w->sim, sim_now(w->sim) + STEP);
		if (w->m.ends > ends && sweep_state(w->m.sweep) == SWEEP_IDLE &&
		    sim_now(w->sim) > last + QUIET)
			return;
		if (sim_stats(w->sim)->served == served)
			continue;
		served = sim_stats(w->sim)->served;
		last = sim_now(w->sim);
		read_tables(w, now);
		n = count_blocks(w, v->lft, now);
		if (!n)
			continue;
		v->written += n;
		memcpy(v->lft, now, w->s->n_switches * LIDS);
		v->lost = MAX(v->lost, count_lost(v));
	}
	fail_msg("the SM does not come to rest");
}

static bool
is_between_switches(const struct snapshot *s, uint32_t port)
{
	return s->ports[port].peer != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, port)) &&
		snapshot_is_switch(snapshot_node_of(s, s->ports[port].peer));
}

/* The port of a switch by its number; none: SNAPSHOT_NONE. */
static uint32_t
port_at(const struct snapshot *s, uint32_t node, uint8_t num)
{
	for (uint32_t p = 0; num && p < s->n_ports; p++)
		if (s->ports[p].node == node && s->ports[p].num == num)
			return p;
	return SNAPSHOT_NONE;
}

/* Does the path from a switch to this LID use a link that is marked? */
static bool
uses_marked(const struct world *w, uint32_t node, uint16_t lid,
	    const uint8_t *is_marked)
{
	const struct snapshot *s = w->s;

	for (unsigned hop = 0; hop < SIM_HOPS_MAX; hop++) {
		uint32_t p = port_at(s, node, sim_lft_entry(w->sim, node, lid));

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
 * times: the blocks that held what is lost are written at most so many times;
 * the goal is 2. Of 200 cables lost in the last tree, 40 take more, up to 2.8:
 * load is moved that the loss did not touch.
 * keeps: pairs that the loss did not cut keep their paths while tables are
 * written. In three levels some lose them, and after a repair some do in any
 * tree: tables lead into links before these are Active.
 */
static const struct {
	const char *spec;
	unsigned times;
	bool keeps;
} trees[] = {
	{ "PGFT(4,4;1,4)", 2, true },
	{ "PGFT(4,4,4;1,2,2)", 2, false },
	{ "PGFT(4,4,3;1,4,4)", 3, false },
};

static void
start(struct world *w, struct watch *v, const char *spec, uint64_t seed)
{
	const struct world_params params = {
		.spec = spec, .seed = seed, .engine = "auto", .sweep_s = 10,
	};

	world_open(w, &params);
	assert_true(world_settle(w, 60 * SECOND));
	watch_open(v, w);
}

/* Takes the marked links away and gives them back. */
static void
lose_and_return(struct watch *v, size_t tree, const uint8_t *is_marked)
{
	struct world *w = v->w;
	const char *spec = trees[tree].spec;
	unsigned held = count_held(w, is_marked), differ;
	g_autofree uint8_t *before = g_new(uint8_t, w->s->n_switches * LIDS);
	uint32_t p;

	read_tables(w, before);
	for (p = 0; p < w->s->n_ports; p++)
		if (is_marked[p])
			sim_link_cut(w->sim, p);
	watch_update(v);
	printf("# %s lost: %u blocks held it, %u written; %u pairs that it "
	       "did not cut lose their path\n", spec, held, v->written,
	       v->lost);
	assert_in_range(v->written, 0, trees[tree].times * held);
	if (trees[tree].keeps)
		assert_int_equal(v->lost, 0);
	for (p = 0; p < w->s->n_ports; p++)
		if (is_marked[p])
			sim_link_mend(w->sim, p);
	watch_update(v);
	differ = count_blocks(w, before, v->lft);
	printf("# %s back: %u blocks written, %u differ; %u pairs lose their "
	       "path\n", spec, v->written, differ, v->lost);
	assert_int_equal(differ, 0);
}

/* A switch without CAs. */
static uint32_t
pick_spine(const struct world *w, uint64_t *rng)
{
	const struct snapshot *s = w->s;

	for (;;) {
		uint32_t sw = s->switches[prng_below(rng, s->n_switches)];
		bool has_host = false;

		for (uint32_t p = 0; p < s->n_ports; p++)
			has_host |= s->ports[p].node == sw && s->ports[p].num &&
				s->ports[p].peer != SNAPSHOT_NONE &&
				!is_between_switches(s, p);
		if (!has_host)
			return sw;
	}
}

static void
test_lost_cable(void **state)
{
	uint64_t seed = seed_get(SEED), rng = prng_stream(seed, 3);

	for (size_t i = 0; i < G_N_ELEMENTS(trees); i++) {
		struct world w;
		struct watch v;

		start(&w, &v, trees[i].spec, seed);
		for (unsigned round = 0; round < 8; round++) {
			g_autofree uint8_t *is_marked =
				g_new0(uint8_t, w.s->n_ports);
			uint32_t p;

			do
				p = prng_below(&rng, w.s->n_ports);
			while (!is_between_switches(w.s, p));
			is_marked[p] = 1;
			lose_and_return(&v, i, is_marked);
		}
		watch_close(&v);
		world_close(&w);
	}
}

static void
test_lost_switch(void **state)
{
	uint64_t seed = seed_get(SEED), rng = prng_stream(seed, 4);

	for (size_t i = 0; i < G_N_ELEMENTS(trees); i++) {
		struct world w;
		struct watch v;

		start(&w, &v, trees[i].spec, seed);
		for (unsigned round = 0; round < 4; round++) {
			g_autofree uint8_t *is_marked =
				g_new0(uint8_t, w.s->n_ports);
			uint32_t sw = pick_spine(&w, &rng), p;

			for (p = 0; p < w.s->n_ports; p++)
				is_marked[p] = w.s->ports[p].node == sw &&
					is_between_switches(w.s, p);
			lose_and_return(&v, i, is_marked);
		}
		watch_close(&v);
		world_close(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_cable),
		cmocka_unit_test(test_lost_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
