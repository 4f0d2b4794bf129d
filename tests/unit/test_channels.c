// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Credit loops: the fast check against a plain one, and cycles that are real.
 *
 * The plain check follows each packet from each source, one at a time, and
 * writes down each pair of channels that it passes; with old tables it follows
 * both entries. It shares nothing with the code but the graph.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routing/credit_loops.h"
#include "routing/engine.h"
#include "tests/lib/engine_route.h"
#include "routing/verify.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"
#include "topology/prng.h"

#define N_ELEMENTS(a)	(sizeof(a) / sizeof((a)[0]))

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
	struct graph *g;
};

static void
fabric_make(struct fabric *f, const char *spec, uint64_t seed,
	    unsigned fail_per_mille)
{
	const struct generate_options options = {
		.seed = seed,
		.shuffle_guids = true,
		.fail_per_mille = fail_per_mille,
	};
	GError *error = NULL;

	f->s = generate_fabric(spec, &options, &error);
	if (!f->s)
		fail_msg("%s: %s", spec, error->message);
	f->lids = lid_assign(f->s, 0, NULL, 0, NULL, &error);
	f->g = graph_new(f->s, f->lids);
}

static void
fabric_clear(struct fabric *f)
{
	graph_free(f->g);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
}

/* Takes all cables between a switch and other switches away. */
static void
fabric_cut_off(struct fabric *f, uint32_t sw)
{
	struct snapshot *s = snapshot_copy(f->s);
	struct fabric cut = { .s = s };
	const struct snapshot_node *node = &s->nodes[s->switches[sw]];

	for (unsigned p = 1; p <= node->info.num_ports; p++) {
		struct snapshot_port *port = &s->ports[node->first_port + p];

		if (port->peer == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, port->peer)))
			continue;
		s->ports[port->peer].peer = SNAPSHOT_NONE;
		port->peer = SNAPSHOT_NONE;
	}
	cut.lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	cut.g = graph_new(s, cut.lids);
	fabric_clear(f);
	*f = cut;
}

static struct lft *
route(const struct fabric *f, const char *engine)
{
	struct lft *lft = lft_new(f->g->n_switches, f->g->top);
	GError *error = NULL;

	if (!engine_route(engine_by_name(engine, NULL), f->g, lft, &error))
		fail_msg("%s", error->message);
	return lft;
}

/* ------------------------------------------------------ the plain check */

struct plain {
	const struct fabric *f;
	const struct lft *tables[2];
	uint8_t *turn;		/* [edge][edge] */
	uint8_t *used;
	uint8_t *seen;		/* by switch, of the packet at hand */
};

static uint32_t
plain_edge(const struct plain *p, unsigned table, uint32_t sw, uint32_t lid)
{
	const struct lft *lft = p->tables[table];

	if (!lft || lid > lft->top)
		return SNAPSHOT_NONE;
	return p->f->g->edge_of[sw * GRAPH_PORTS + lft_row(lft, sw)[lid]];
}

static void
plain_follow(struct plain *p, uint32_t sw, uint32_t lid)
{
	const struct graph *g = p->f->g;

	if (p->seen[sw])
		return;
	p->seen[sw] = 1;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t e = plain_edge(p, i, sw, lid), peer;

		if (e == SNAPSHOT_NONE)
			continue;
		peer = g->edges[e].peer;
		p->used[e] = 1;
		for (unsigned j = 0; j < 2; j++) {
			uint32_t next = plain_edge(p, j, peer, lid);

			if (next != SNAPSHOT_NONE)
				p->turn[e * g->n_edges + next] = 1;
		}
		plain_follow(p, peer, lid);
	}
}

static void
plain_init(struct plain *p, const struct fabric *f, const struct lft *lft,
	   const struct lft *before)
{
	const struct graph *g = f->g;
	uint32_t top = MAX(lft->top, before ? before->top : 0), lid, sw;

	*p = (struct plain){ .f = f, .tables = { lft, before } };
	p->turn = g_new0(uint8_t, g->n_edges * g->n_edges + 1);
	p->used = g_new0(uint8_t, g->n_edges + 1);
	p->seen = g_new0(uint8_t, g->n_switches);
	for (lid = 1; lid <= top; lid++)
		for (sw = 0; sw < g->n_switches; sw++) {
			bool port0 = lid <= g->top &&
				f->g->target_of[lid] != SNAPSHOT_NONE &&
				g->targets[f->g->target_of[lid]].port == 0;

			if (port0 && !g->n_hosts[sw])
				continue;
			memset(p->seen, 0, g->n_switches);
			plain_follow(p, sw, lid);
		}
}

static void
plain_clear(struct plain *p)
{
	g_free(p->turn);
	g_free(p->used);
	g_free(p->seen);
}

/* Channels from which one comes back to them: by closing the relation. */
static uint32_t
plain_count_looped(struct plain *p)
{
	uint32_t n = p->f->g->n_edges, i, j, k, looped = 0;
	uint8_t *way = g_memdup2(p->turn, n * n + 1);

	for (k = 0; k < n; k++)
		for (i = 0; i < n; i++)
			if (way[i * n + k])
				for (j = 0; j < n; j++)
					way[i * n + j] |= way[k * n + j];
	for (i = 0; i < n; i++)
		looped += way[i * n + i];
	g_free(way);
	return looped;
}

static void
assert_cycle_is_real(const struct plain *p, const GArray *cycle)
{
	const struct channel_turn *turn = (const void *)cycle->data;
	const struct graph *g = p->f->g;

	assert_true(cycle->len >= 2);
	for (guint i = 0; i < cycle->len; i++) {
		uint32_t next = turn[(i + 1) % cycle->len].edge;
		uint32_t from = g->edges[g->edges[turn[i].edge].back].peer;
		bool first = false, second = false;

		assert_int_equal(g->edges[turn[i].edge].peer,
				 g->edges[g->edges[next].back].peer);
		assert_true(p->turn[turn[i].edge * g->n_edges + next]);
		for (unsigned t = 0; t < 2; t++) {
			first |= plain_edge(p, t, from, turn[i].lid) ==
				turn[i].edge;
			second |= plain_edge(p, t, g->edges[turn[i].edge].peer,
					     turn[i].lid) == next;
		}
		assert_true(first && second);
	}
}

/* Compares all that both say; returns how many channels are looped. */
static uint32_t
compare(const struct fabric *f, const struct lft *lft,
	const struct lft *before)
{
	struct channels_result r;
	struct plain p;
	uint64_t n_turns = 0;
	uint32_t n_used = 0, looped;

	channels_check(f->g, lft, before, &r);
	plain_init(&p, f, lft, before);
	for (uint32_t e = 0; e < f->g->n_edges; e++) {
		n_used += p.used[e];
		for (uint32_t n = 0; n < f->g->n_edges; n++)
			n_turns += p.turn[e * f->g->n_edges + n];
	}
	assert_int_equal(r.n_channels, n_used);
	assert_int_equal(r.n_dependencies, n_turns);
	assert_int_equal(r.n_looped, plain_count_looped(&p));
	assert_int_equal(r.n_looped > 0, r.cycle != NULL);
	if (r.cycle)
		assert_cycle_is_real(&p, r.cycle);
	looped = r.n_looped;
	plain_clear(&p);
	channels_clear(&r);
	return looped;
}

/* ------------------------------------------------------------------ tests */

TEST(test_shortest_ways_on_rings_and_tori_loop)
{
	static const char *const specs[] = {
		"ring(5;2)", "ring(8;1)", "torus(4,4;1)", "torus(3,3,3;1)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		struct fabric f;
		struct lft *lft;

		fabric_make(&f, specs[i], 1, 0);
		lft = route(&f, "minhop");
		assert_true(compare(&f, lft, NULL) > 0);
		lft_free(lft);
		fabric_clear(&f);
	}
}

TEST(test_trees_and_lines_do_not_loop)
{
	static const char *const specs[] = {
		"PGFT(4,4;1,4)", "PGFT(3,3,4;1,3,3)",
		"single(4)", "pair()", "hyperx(4;2)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		struct fabric f;
		struct lft *lft;

		fabric_make(&f, specs[i], 3, 0);
		lft = route(&f, "minhop");
		assert_int_equal(compare(&f, lft, NULL), 0);
		lft_free(lft);
		fabric_clear(&f);
	}
}

/* The shortest cycle of a ring's one direction is the ring. */
TEST(test_cycle_is_printed_with_names)
{
	struct channels_result r;
	struct fabric f;
	struct lft *lft;
	char *text;

	fabric_make(&f, "ring(5;1)", 1, 0);
	lft = route(&f, "minhop");
	channels_check(f.g, lft, NULL, &r);
	assert_int_equal(r.cycle->len, 5);
	text = channels_print(f.g, &r);
	for (uint32_t sw = 0; sw < f.g->n_switches; sw++) {
		g_autofree char *name = graph_switch_name(f.g, sw);

		assert_non_null(strstr(text, name));
	}
	assert_non_null(strstr(text, " port "));
	assert_non_null(strstr(text, "(LID "));
	g_free(text);
	channels_clear(&r);
	assert_null(channels_print(f.g, &r));
	lft_free(lft);
	fabric_clear(&f);
}

/* Any bytes are tables: old ones of another manager, and lies. */
static struct lft *
scribble(const struct fabric *f, uint64_t *rng, unsigned kind)
{
	uint16_t top = f->g->top;
	struct lft *lft;

	if (kind % 4 == 3)
		top = (uint16_t)(1 + prng_below(rng, 2u * top));
	lft = lft_new(f->g->n_switches, top);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		for (uint32_t lid = 0; lid <= top; lid++)
			if (prng_below(rng, 1 + kind % 5))
				lft_row(lft, sw)[lid] = (uint8_t)
					prng_below(rng, kind & 1 ? 256 : 8);
	return lft;
}

TEST(test_any_tables_are_judged_as_by_the_plain_check)
{
	static const char *const specs[] = {
		"ring(4;1)", "random(6,3,1)", "PGFT(2,3;1,2)", "torus(3,3;1)",
		"mesh(2,3;1)", "PGFT(2,2;1,2;1,2)",
	};
	uint64_t rng = prng_stream(20261121, 0);
	unsigned looped = 0, clean = 0;

	for (unsigned i = 0; i < 120; i++) {
		struct lft *lft, *before = NULL;
		struct fabric f;

		fabric_make(&f, specs[i % N_ELEMENTS(specs)], i, i % 3 * 100);
		lft = i % 4 ? scribble(&f, &rng, i) : route(&f, "minhop");
		if (i % 3)
			before = scribble(&f, &rng, i / 2);
		if (compare(&f, lft, before))
			looped++;
		else
			clean++;
		lft_free(lft);
		lft_free(before);
		fabric_clear(&f);
	}
	/* both kinds were met, else the comparison says little */
	assert_true(looped >= 10 && clean >= 10);
}

/* On a ring of five, packets to each host turn at one switch in either
 * direction; the old tables have three of these turns, the new ones two. */
TEST(test_old_and_new_loop_only_together)
{
	struct lft *old, *new, *loop;
	struct fabric f;
	unsigned n = 0;

	fabric_make(&f, "ring(5;1)", 1, 0);
	loop = route(&f, "minhop");
	old = lft_new(f.g->n_switches, f.g->top);
	new = lft_new(f.g->n_switches, f.g->top);
	for (uint32_t i = 0; i < f.g->n_targets; i++) {
		uint16_t lid = f.g->targets[i].lid;
		struct lft *half;

		if (f.g->targets[i].port == 0)
			continue;
		half = n++ < 3 ? old : new;
		for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
			lft_row(half, sw)[lid] = lft_row(loop, sw)[lid];
	}
	assert_int_equal(compare(&f, old, NULL), 0);
	assert_int_equal(compare(&f, new, NULL), 0);
	assert_int_equal(compare(&f, new, old), 10);
	lft_free(old);
	lft_free(new);
	lft_free(loop);
	fabric_clear(&f);
}

/* Management between switches goes round a ring: VL15 does not wait. */
TEST(test_port_0_to_port_0_is_no_data)
{
	struct fabric f;
	struct lft *lft;

	fabric_make(&f, "ring(5;1)", 1, 0);
	lft = route(&f, "minhop");
	for (uint32_t i = 0; i < f.g->n_targets; i++)
		if (f.g->targets[i].port)
			for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
				lft_row(lft, sw)[f.g->targets[i].lid] =
					LFT_NO_PATH;
	/* CAs to port 0 are data, though, and loop here. */
	assert_true(compare(&f, lft, NULL) > 0);
	memset(f.g->n_hosts, 0, f.g->n_switches * sizeof(*f.g->n_hosts));
	assert_int_equal(compare(&f, lft, NULL), 0);
	lft_free(lft);
	fabric_clear(&f);
}

TEST(test_lost_pairs_are_told_by_what_they_lose)
{
	struct verify_result r;
	struct fabric f;
	struct lft *lft;
	const struct graph_target *ca = NULL, *port0 = NULL;

	fabric_make(&f, "PGFT(3,4;1,3)", 1, 0);
	lft = route(&f, "minhop");
	verify_tables(f.g, lft, NULL, NULL, &r);
	assert_true(verify_is_sound(&r));
	assert_int_equal(r.reach.lost_hosts + r.reach.lost_mixed +
			 r.reach.cut_off + r.reach.unrouted, 0);
	verify_result_clear(&r);

	for (uint32_t i = 0; i < f.g->n_targets; i++) {
		if (f.g->targets[i].port)
			ca = &f.g->targets[i];
		else if (!f.g->n_hosts[f.g->targets[i].sw])
			port0 = &f.g->targets[i];
	}
	for (uint32_t sw = 0; sw < f.g->n_switches; sw++) {
		lft_row(lft, sw)[ca->lid] = LFT_NO_PATH;
		lft_row(lft, sw)[port0->lid] = LFT_NO_PATH;
	}
	verify_tables(f.g, lft, NULL, NULL, &r);
	assert_true(verify_is_sound(&r));
	assert_int_equal(r.reach.lost_hosts, 11);
	assert_int_equal(r.reach.lost_mixed, 7 + 12);
	assert_int_equal(r.reach.unrouted, 14);
	assert_int_equal(r.reach.cut_off, 0);
	verify_result_clear(&r);
	lft_free(lft);
	fabric_clear(&f);
}

TEST(test_what_is_not_cabled_is_no_fault_of_tables)
{
	struct verify_result r;
	struct fabric f;
	struct lft *lft;

	fabric_make(&f, "PGFT(2,3;1,2)", 1, 0);
	fabric_cut_off(&f, 0);
	lft = route(&f, "minhop");
	verify_tables(f.g, lft, NULL, NULL, &r);
	assert_true(r.reach.cut_off > 0);
	assert_int_equal(r.reach.unrouted, r.reach.cut_off);
	assert_int_equal(r.reach.lost_hosts + r.reach.lost_mixed, 0);
	assert_int_equal(r.reach.lid, 0);
	verify_result_clear(&r);
	lft_free(lft);
	fabric_clear(&f);
}
