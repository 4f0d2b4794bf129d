// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict against the oracle's, on tables that are right, nearly right, or
 * rubbish.
 */
#include "tests/lib/engine_route.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/seed.h"

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

/* ------------------------------------------------------------ the damage */

/* From nothing wrong to nothing right, or nothing at all; some too short, some too
 * long. */
static struct lft *
make_tables(const struct fabric *f, unsigned kind, uint64_t *rng)
{
	static const uint32_t harm[] = { 0, 1, 1, 2, 4, 30 };
	struct lft *lft = kind % 17 == 16 ? lft_new(f->g->n_switches, 0) :
		engine_tables(&engine_minhop, f->s, f->lids), *other;
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
	uint32_t together = 0, alone;
	uint64_t rng = prng_stream(seed_take(20261121), 0);
	struct oracle_verdict v;

	for (unsigned i = 0; i < 240; i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(fabric_clear) struct fabric f;
		AUTO(lft) *lft, *before;

		make_fabric(&f, i);
		lft = make_tables(&f, i + i / 10, &rng);
		fabric_judge(&f, lft, NULL, &v, &r);
		sound += verify_is_sound(&r);
		looped += v.n_looped > 0;
		lost += !v.n_looped && v.lost_hosts;
		bad += !v.n_looped && !verify_is_sound(&r);
		cut_off += v.cut_off && !v.lid;
		/* old tables that differ in all, or in a few entries */
		before = i % 2 ? make_tables(&f, i / 3, &rng) :
			copy_with_top(lft, lft->top);
		if (i % 2 == 0)
			lab_spoil(f.g, before, 1 + i % 6, &rng);
		alone = v.n_looped;
		fabric_judge(&f, lft, before, &v, &r);
		assert_true(v.n_looped >= alone);
		together += v.n_looped && !alone;
	}
	/* Each kind was met, else the comparison says little. */
	assert_true(sound >= 20 && looped >= 20 && lost >= 20 && bad >= 20);
	assert_true(cut_off >= 2 && together >= 10);
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
	struct oracle_verdict v;
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
	lft = engine_tables(&engine_updn, cut.s, cut.lids);
	lft_row(lft, core)[lid] = lab_port_to(f.g, core, spine);
	lft_row(lft, spine)[lid] = lab_port_to(f.g, spine, core);

	fabric_judge(&f, lft, NULL, &v, &r);
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

	lft = engine_tables(&engine_minhop, f->s, f->lids);
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
	struct oracle_verdict v;
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
		AUTO(lft) *lft = engine_tables(&engine_minhop, f->s,
					       f->lids);

		lft_row(lft, spine)[lid] = lab_port_to(f->g, spine, leaf);
		lft_row(lft, leaf)[lid] = entry[i];
		fabric_judge(f, lft, NULL, &v, &r);
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
