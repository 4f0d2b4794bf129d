// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict against the oracle's, on tables that are right, nearly right, or
 * rubbish.
 */
#include <string.h>

#include "routing/engine.h"
#include "routing/multicast.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "routing/verify.h"
#include "tests/lib/oracle.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

/* Takes the cables between this switch and others away. */
static void
fabric_cut_off(struct fabric *f, uint32_t sw, unsigned lmc)
{
	struct snapshot *cut = snapshot_copy(f->s);
	uint32_t port;

	while ((port = lab_find_port(cut, sw, true, 0)) != SNAPSHOT_NONE)
		lab_cut(cut, port);
	fabric_clear(f);
	fabric_open(f, NULL, cut, lmc);
}

static struct lft *
route(const struct fabric *f, const char *engine)
{
	struct lft *lft = lft_new(f->g->n_switches, f->g->top);

	assert_true(engine_route(engine_by_name(engine, NULL), f->g, lft,
				 NULL));
	return lft;
}

static struct lft *
copy_with_top(const struct lft *lft, uint16_t top)
{
	struct lft *copy = lft_new(lft->n_switches, top);

	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		memcpy(lft_row(copy, sw), lft_row(lft, sw),
		       MIN(lft->top, top) + 1u);
	return copy;
}

static uint32_t
find_switch(const struct fabric *f, const char *desc)
{
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		if (!strcmp(f->s->nodes[f->s->switches[sw]].desc, desc))
			return sw;
	fail_msg("no switch %s", desc);
	return SNAPSHOT_NONE;
}

/* ------------------------------------------------------------ the verdict */

/* Each channel waits for the next one, by an entry for that LID. */
static void
assert_cycle_is_real(const struct fabric *f, const struct lft *const tables[2],
		     const struct channels_result *r)
{
	const struct channel_turn *turn = (const void *)r->cycle->data;
	const struct graph *g = f->g;

	assert_true(r->cycle->len >= 2);
	for (guint i = 0; i < r->cycle->len; i++) {
		const struct graph_edge *e = &g->edges[turn[i].edge];
		const struct graph_edge *next =
			&g->edges[turn[(i + 1) % r->cycle->len].edge];
		uint32_t from = g->edges[e->back].peer;
		bool first = false, second = false;

		assert_int_equal(e->peer, g->edges[next->back].peer);
		assert_true(r->looped[turn[i].edge]);
		for (unsigned t = 0; t < 2 && tables[t]; t++)
			if (turn[i].lid <= tables[t]->top) {
				first |= lft_row(tables[t], from)
					[turn[i].lid] == e->port;
				second |= lft_row(tables[t], e->peer)
					[turn[i].lid] == next->port;
			}
		assert_true(first && second);
	}
}

/* With an order of the switches, be it of the tables or none at all: it is a
 * hint. */
static void
expect_same_in_order(const struct fabric *f, const struct lft *lft,
		     const struct lft *before, const struct verify_result *r)
{
	g_autofree uint32_t *ranks = multicast_ranks(f->g);

	for (unsigned wrong = 0; wrong < 2; wrong++) {
		AUTO_VALUE(verify_result_clear) struct verify_result ordered;

		verify_tables(f->g, lft, before, ranks, &ordered);
		assert_memory_equal(&ordered.reach, &r->reach,
				    sizeof(r->reach));
		assert_int_equal(ordered.channels.n_looped,
				 r->channels.n_looped);
		if (ordered.channels.n_looped)
			assert_memory_equal(ordered.channels.looped,
					    r->channels.looped, f->g->n_edges);
		ranks[0] ^= 1;
		ranks[f->g->n_switches - 1] = 0;
	}
}

/* The verdict, which must be the oracle's, in place of what `r` held. */
static void
judge(const struct fabric *f, const struct lft *lft, const struct lft *before,
      struct verify_result *r)
{
	const struct lft *const tables[2] = { lft, before };
	g_autoptr(GArray) cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct oracle_case c = {
		.s = f->s, .lids = f->lids, .lft = lft, .before = before,
	};
	struct oracle_verdict v;

	verify_result_clear(r);
	verify_tables(f->g, lft, before, NULL, r);
	expect_same_in_order(f, lft, before, r);
	for (guint i = 0; r->channels.cycle && i < r->channels.cycle->len;
	     i++) {
		const struct graph_edge *e = &f->g->edges[g_array_index(
			r->channels.cycle, struct channel_turn, i).edge];
		uint32_t channel = f->g->edges[e->back].peer * 256 + e->port;

		g_array_append_val(cycle, channel);
	}
	c.cycle = (const uint32_t *)(void *)cycle->data;
	c.n_cycle = cycle->len;
	oracle_judge(&c, &v);
	assert_int_equal(v.n_broken, 0);
	assert_int_equal(r->reach.arrived, v.arrived);
	assert_int_equal(r->reach.unrouted, v.unrouted);
	assert_int_equal(r->reach.looping, v.looping);
	assert_int_equal(r->reach.astray, v.astray);
	assert_int_equal(r->reach.cut_off, v.cut_off);
	assert_int_equal(r->reach.lost_hosts, v.lost_hosts);
	assert_int_equal(r->reach.lost_mixed, v.lost_mixed);
	assert_int_equal(r->reach.lid, v.lid);
	assert_int_equal(r->reach.sw, v.sw);
	assert_int_equal(r->channels.n_channels, v.n_channels);
	assert_int_equal(r->channels.n_dependencies, v.n_turns);
	assert_int_equal(r->channels.n_looped, v.n_looped);
	assert_int_equal(v.n_looped > 0, r->channels.cycle != NULL);
	if (r->channels.cycle)
		assert_cycle_is_real(f, tables, &r->channels);
	assert_int_equal(verify_is_sound(r),
			 !v.looping && !v.astray && !v.n_looped);
}

/* ------------------------------------------------------------ the damage */

/* From nothing wrong to nothing right, or nothing at all; some too short, some too
 * long. */
static struct lft *
make_tables(const struct fabric *f, unsigned kind, uint64_t *rng)
{
	static const uint32_t harm[] = { 0, 1, 1, 2, 4, 30 };
	struct lft *lft = kind % 17 == 16 ? lft_new(f->g->n_switches, 0) :
		route(f, "minhop"), *other;
	uint32_t n = harm[kind % G_N_ELEMENTS(harm)];

	if (kind % 5 == 4) {
		other = copy_with_top(lft, (uint16_t)
				      (1 + prng_below(rng, 2u * f->g->top)));
		lft_free(lft);
		lft = other;
		n++;
	}
	if (kind % 13 == 12)
		n = f->g->n_switches * lft->top;
	lab_spoil(f->g, lft, lft->top ? n : 0, rng);
	return lft;
}

static const char *const small[] = {
	"PGFT(2,3;1,2)", "PGFT(2,2,2;1,2,2)", "PGFT(2,2;1,2;1,2)",
	"mesh(2,3;1)", "ring(4;2)", "random(5,3,1)", "PGFT(3,3;1,1)",
	"torus(3,3;1)", "single(4)", "ring(5;1)",
};

/* Some with a switch that has no cables, some with many LIDs a port. */
static void
make_fabric(struct fabric *f, unsigned i)
{
	unsigned lmc = i / G_N_ELEMENTS(small) % 5;

	fabric_open(f, NULL, lab_generate(small[i % G_N_ELEMENTS(small)], i,
					  i % 3 * 80), lmc);
	if (i % 7 == 3)
		fabric_cut_off(f, i % f->g->n_switches, lmc);
}

/* ------------------------------------------------------------------ tests */

TEST(test_any_tables_get_the_plain_verdict)
{
	unsigned sound = 0, looped = 0, lost = 0, bad = 0, cut_off = 0;
	uint64_t rng = prng_stream(seed_take(20261121), 0);

	for (unsigned i = 0; i < 240; i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(fabric_clear) struct fabric f;
		AUTO(lft) *lft;

		make_fabric(&f, i);
		lft = make_tables(&f, i + i / 10, &rng);
		judge(&f, lft, NULL, &r);
		sound += verify_is_sound(&r);
		looped += r.channels.n_looped > 0;
		lost += !r.channels.n_looped && r.reach.lost_hosts;
		bad += !r.channels.n_looped && !verify_is_sound(&r);
		cut_off += r.reach.cut_off && !r.reach.lid;
	}
	/* Each kind was met, else the comparison says little. */
	assert_true(sound >= 20 && looped >= 20 && lost >= 20 && bad >= 20);
	assert_true(cut_off >= 2);
}

/* Old tables that differ in a few entries, and in all. */
TEST(test_any_transition_gets_the_plain_verdict)
{
	unsigned sound = 0, together = 0;
	uint64_t rng = prng_stream(seed_take(20261122), 0);

	for (unsigned i = 0; i < 240; i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(verify_result_clear) struct verify_result alone = { 0 };
		AUTO(lft) *lft, *before;
		AUTO_VALUE(fabric_clear) struct fabric f;

		make_fabric(&f, i);
		lft = make_tables(&f, i / 3, &rng);
		before = i % 2 ? make_tables(&f, i + i / 10, &rng) :
			copy_with_top(lft, lft->top);
		if (i % 2 == 0)
			lab_spoil(f.g, before, 1 + i % 6, &rng);
		judge(&f, lft, before, &r);
		judge(&f, lft, NULL, &alone);
		assert_true(r.channels.n_looped >= alone.channels.n_looped);
		sound += verify_is_sound(&r);
		together += r.channels.n_looped && !alone.channels.n_looped;
	}
	assert_true(sound >= 10 && together >= 10);
}

#define FABRIC_TEST(name, spec) \
	TEST_ON(name, struct fabric, f, fabric_open, fabric_clear, NULL, \
		lab_generate(spec, 1, 0), 0)

/* A port 0's LID goes round between two switches where no CA's packet comes,
 * and arrives from all others: no channel waits, but management does not
 * arrive. */
TEST(test_circle_of_management_alone_is_not_sound)
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f, cut;
	uint32_t core, spine;
	AUTO(lft) *lft;
	uint16_t lid;

	fabric_open(&f, NULL, lab_generate("PGFT(2,2,2;1,2,2)", 1, 0), 0);
	fabric_open(&cut, NULL, lab_generate("PGFT(2,2,2;1,2,2)", 1, 0), 0);
	core = find_switch(&f, "S-3-0");
	spine = f.g->edges[f.g->first_edge[core]].peer;
	lid = lab_target(f.g, find_switch(&f, "S-1-0"), false)->lid;
	fabric_cut_off(&cut, core, 0);
	fabric_cut_off(&cut, spine, 0);
	lft = route(&cut, "updn");
	lft_row(lft, core)[lid] = lab_port_to(f.g, core, spine);
	lft_row(lft, spine)[lid] = lab_port_to(f.g, spine, core);

	judge(&f, lft, NULL, &r);
	assert_int_equal(r.channels.n_looped, 0);
	assert_int_equal(r.reach.looping, 2);
	assert_int_equal(r.reach.astray, 0);
	assert_false(verify_is_sound(&r));
}

/* The shortest cycle of a ring's one direction is the ring. */
FABRIC_TEST(test_cycle_is_printed_with_names, "ring(5;1)")
{
	struct channels_result r;
	AUTO(lft) *lft;
	g_autofree char *text = NULL;

	lft = route(f, "minhop");
	channels_check_ordered(f->g, lft, NULL, NULL, NULL, &r);
	assert_int_equal(r.cycle->len, 5);
	text = channels_print(f->g, &r);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++) {
		g_autofree char *name = graph_switch_name(f->g, sw);

		assert_has(text, name);
	}
	assert_has(text, " port ");
	assert_has(text, "(LID ");
	channels_clear(&r);
	assert_null(channels_print(f->g, &r));
}

/* One entry of a leaf is wrong, for a host at another leaf. */
FABRIC_TEST(test_what_happens_to_a_packet_is_told_apart, "PGFT(2,2;1,2)")
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	uint32_t leaf, spine;
	uint16_t lid;

	leaf = find_switch(f, "S-1-0");
	spine = find_switch(f, "S-2-0");
	lid = lab_target(f->g, find_switch(f, "S-1-1"), true)->lid;
	for (unsigned i = 0; i < 5; i++) {
		const uint8_t entry[] = {
			LFT_NO_PATH, 0, 200, lab_target(f->g, leaf, true)->port,
			lab_port_to(f->g, leaf, spine),
		};
		AUTO(lft) *lft = route(f, "minhop");

		lft_row(lft, spine)[lid] = lab_port_to(f->g, spine, leaf);
		lft_row(lft, leaf)[lid] = entry[i];
		judge(f, lft, NULL, &r);
		assert_int_equal(r.reach.unrouted, i == 0 ? 2 : 0);
		assert_int_equal(r.reach.astray, i > 0 && i < 4 ? 2 : 0);
		assert_int_equal(r.reach.looping, i == 4 ? 2 : 0);
		assert_int_equal(r.reach.lid, lid);
		assert_int_equal(r.reach.sw, MIN(leaf, spine));
		assert_int_equal(r.reach.lost_hosts, 2);
		assert_int_equal(r.reach.lost_mixed, 2);
	}
}

/* Long chains of switches, all of which end in one loop. */
FABRIC_TEST(test_large_loop_needs_no_stack, "ring(500;1)")
{
	uint32_t sw = 0, last = SNAPSHOT_NONE;
	struct verify_reach result;

	for (uint32_t i = 0; i < f->g->n_switches; i++) {
		const struct graph_edge *e = &f->g->edges[f->g->first_edge[sw]];

		if (e->peer == last)
			e++;
		lft_row(f->out.lft, sw)[f->g->targets[0].lid] = e->port;
		last = sw;
		sw = e->peer;
	}
	verify_reachability(f->g, f->out.lft, NULL, &result);
	assert_int_equal(result.looping, 500);
	assert_int_equal(result.arrived, 0);
}
