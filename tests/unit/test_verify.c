// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict against a plain one, on tables that are right, nearly right, or
 * rubbish.
 *
 * The plain verdict knows no short cuts: it sends one packet from each switch
 * to each LID, hop by hop; for credit loops it spreads from each source over
 * the entries, old or new, until nothing is added, and closes the relation of
 * channels. It shares nothing with the code but the graph.
 */
#include <string.h>

#include "routing/engine.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "routing/verify.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

static void
fabric_make(struct fabric *f, const char *spec, unsigned seed,
	    unsigned fail_per_mille, unsigned lmc)
{
	fabric_open(f, NULL, lab_generate(spec, seed, fail_per_mille), lmc);
}

/* The same without the cables between this switch and others. */
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

static const struct graph_target *
find_target(const struct fabric *f, uint32_t sw, bool port0)
{
	for (uint32_t i = f->g->first_target[sw];
	     i < f->g->first_target[sw + 1]; i++)
		if (port0 == (f->g->targets[i].port == 0))
			return &f->g->targets[i];
	fail_msg("switch %u has no such target", sw);
	return NULL;
}

static uint8_t
port_towards(const struct fabric *f, uint32_t sw, uint32_t peer)
{
	for (uint32_t e = f->g->first_edge[sw]; e < f->g->first_edge[sw + 1];
	     e++)
		if (f->g->edges[e].peer == peer)
			return f->g->edges[e].port;
	fail_msg("no cable from %u to %u", sw, peer);
	return 0;
}

/* ----------------------------------------------------- the plain verdict */

static const struct graph_target *
plain_owner(const struct fabric *f, uint32_t lid)
{
	if (lid > f->g->top || f->g->target_of[lid] == SNAPSHOT_NONE)
		return NULL;
	return &f->g->targets[f->g->target_of[lid]];
}

/* What the switch does with the LID: LFT_NO_PATH past the end. */
static uint8_t
plain_entry(const struct lft *lft, uint32_t sw, uint32_t lid)
{
	return lid <= lft->top ? lft_row(lft, sw)[lid] : LFT_NO_PATH;
}

static uint32_t
plain_edge(const struct fabric *f, const struct lft *lft, uint32_t sw,
	   uint32_t lid)
{
	return f->g->edge_of[sw * GRAPH_PORTS + plain_entry(lft, sw, lid)];
}

static void
plain_islands(const struct graph *g, uint32_t *island)
{
	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		island[sw] = sw;
	for (uint32_t round = 0; round < g->n_switches; round++)
		for (uint32_t e = 0; e < g->n_edges; e++) {
			uint32_t from = g->edges[g->edges[e].back].peer;

			island[from] = MIN(island[from],
					   island[g->edges[e].peer]);
		}
}

/* One packet; counts where it ends. True if that is not where it should. */
static bool
plain_send(const struct fabric *f, const struct lft *lft, uint32_t sw,
	   uint32_t lid, struct verify_reach *r, bool *unrouted)
{
	const struct graph_target *owner = plain_owner(f, lid);
	uint8_t entry;

	*unrouted = false;
	for (uint32_t hop = 0; hop <= f->g->n_switches; hop++) {
		entry = plain_entry(lft, sw, lid);
		if (f->g->edge_of[sw * GRAPH_PORTS + entry] != SNAPSHOT_NONE) {
			sw = f->g->edges[plain_edge(f, lft, sw, lid)].peer;
			continue;
		}
		if (entry == LFT_NO_PATH) {
			*unrouted = true;
			r->unrouted++;
			return true;
		}
		if (sw == owner->sw && entry == owner->port) {
			r->arrived++;
			return false;
		}
		r->astray++;
		return true;
	}
	r->looping++;
	return true;
}

static void
plain_reach(const struct fabric *f, const struct lft *lft,
	    struct verify_reach *r)
{
	g_autofree uint32_t *island = g_new(uint32_t, f->g->n_switches + 1);
	const struct graph_target *owner;
	bool unrouted;

	memset(r, 0, sizeof(*r));
	plain_islands(f->g, island);
	for (uint32_t lid = 1; lid <= f->g->top; lid++)
		for (uint32_t sw = 0; sw < f->g->n_switches; sw++) {
			owner = plain_owner(f, lid);
			if (!owner ||
			    !plain_send(f, lft, sw, lid, r, &unrouted))
				continue;
			if (unrouted && island[sw] != island[owner->sw]) {
				r->cut_off++;
				continue;
			}
			if (owner->port)
				r->lost_hosts += f->g->n_hosts[sw] -
					(sw == owner->sw);
			r->lost_mixed += owner->port ? 1 : f->g->n_hosts[sw];
			if (r->lid == LID_NONE) {
				r->sw = sw;
				r->lid = (uint16_t)lid;
			}
		}
}

struct plain_web {
	const struct fabric *f;
	const struct lft *tables[2];
	unsigned n_tables;
	uint8_t *used;		/* by edge */
	uint8_t *turn;		/* [edge][edge] */
};

/* All that leaves `sw` and what follows it; true if a switch is new. */
static bool
plain_leave(struct plain_web *w, uint32_t sw, uint32_t lid, uint8_t *passed)
{
	const struct graph *g = w->f->g;
	bool more = false;
	uint32_t e, next;

	for (unsigned i = 0; i < w->n_tables; i++) {
		e = plain_edge(w->f, w->tables[i], sw, lid);
		if (e == SNAPSHOT_NONE)
			continue;
		w->used[e] = 1;
		for (unsigned j = 0; j < w->n_tables; j++) {
			next = plain_edge(w->f, w->tables[j],
					  g->edges[e].peer, lid);
			if (next != SNAPSHOT_NONE)
				w->turn[e * g->n_edges + next] = 1;
		}
		more |= !passed[g->edges[e].peer];
		passed[g->edges[e].peer] = 1;
	}
	return more;
}

static void
plain_spread(struct plain_web *w)
{
	const struct graph *g = w->f->g;
	g_autofree uint8_t *passed = g_new(uint8_t, g->n_switches + 1);
	uint32_t top = w->tables[0]->top;
	const struct graph_target *owner;
	bool more;

	if (w->n_tables == 2)
		top = MAX(top, w->tables[1]->top);
	for (uint32_t lid = 1; lid <= top; lid++) {
		owner = plain_owner(w->f, lid);
		/* Data starts at any port 0 or CA, to a port 0 at CAs only. */
		for (uint32_t sw = 0; sw < g->n_switches; sw++)
			passed[sw] = !owner || owner->port || g->n_hosts[sw];
		do {
			more = false;
			for (uint32_t sw = 0; sw < g->n_switches; sw++)
				if (passed[sw])
					more |= plain_leave(w, sw, lid,
							    passed);
		} while (more);
	}
}

/* Each channel waits for the next one, by an entry for that LID. */
static void
assert_cycle_is_real(const struct plain_web *w, const GArray *cycle)
{
	const struct channel_turn *turn = (const void *)cycle->data;
	const struct graph *g = w->f->g;

	assert_true(cycle->len >= 2);
	for (guint i = 0; i < cycle->len; i++) {
		const struct graph_edge *e = &g->edges[turn[i].edge];
		uint32_t next = turn[(i + 1) % cycle->len].edge;
		bool first = false, second = false;

		assert_int_equal(e->peer, g->edges[g->edges[next].back].peer);
		assert_true(w->turn[turn[i].edge * g->n_edges + next]);
		for (unsigned t = 0; t < w->n_tables; t++) {
			first |= plain_edge(w->f, w->tables[t],
					    g->edges[e->back].peer,
					    turn[i].lid) == turn[i].edge;
			second |= plain_edge(w->f, w->tables[t], e->peer,
					     turn[i].lid) == next;
		}
		assert_true(first && second);
	}
}

static void
assert_channels(const struct fabric *f, const struct lft *lft,
		const struct lft *before, const struct channels_result *r)
{
	uint32_t n = f->g->n_edges, i, j, k;
	struct channels_result plain = { 0 };
	struct plain_web w = {
		.f = f,
		.tables = { lft, before },
		.n_tables = before ? 2 : 1,
		.used = g_new0(uint8_t, n + 1),
		.turn = g_new0(uint8_t, n * n + 1),
	};

	plain_spread(&w);
	for (i = 0; i < n; i++)
		plain.n_channels += w.used[i];
	for (i = 0; i < n * n; i++)
		plain.n_dependencies += w.turn[i];
	if (r->cycle)
		assert_cycle_is_real(&w, r->cycle);
	for (k = 0; k < n; k++)
		for (i = 0; i < n; i++)
			for (j = 0; w.turn[i * n + k] && j < n; j++)
				w.turn[i * n + j] |= w.turn[k * n + j];
	for (i = 0; i < n; i++)
		plain.n_looped += w.turn[i * n + i];
	assert_int_equal(r->n_channels, plain.n_channels);
	assert_int_equal(r->n_dependencies, plain.n_dependencies);
	assert_int_equal(r->n_looped, plain.n_looped);
	assert_int_equal(r->n_looped > 0, r->cycle != NULL);
	g_free(w.used);
	g_free(w.turn);
}

static void
assert_same_reach(const struct verify_reach *a, const struct verify_reach *b)
{
	assert_int_equal(a->arrived, b->arrived);
	assert_int_equal(a->unrouted, b->unrouted);
	assert_int_equal(a->looping, b->looping);
	assert_int_equal(a->astray, b->astray);
	assert_int_equal(a->cut_off, b->cut_off);
	assert_int_equal(a->lost_hosts, b->lost_hosts);
	assert_int_equal(a->lost_mixed, b->lost_mixed);
	assert_int_equal(a->lid, b->lid);
	assert_int_equal(a->sw, b->sw);
}

/* Both verdicts, which must be one, in place of what `r` held. */
static void
judge(const struct fabric *f, const struct lft *lft, const struct lft *before,
      struct verify_result *r)
{
	struct verify_reach plain;

	verify_result_clear(r);
	verify_tables(f->g, lft, before, NULL, r);
	plain_reach(f, lft, &plain);
	assert_same_reach(&r->reach, &plain);
	assert_channels(f, lft, before, &r->channels);
	assert_int_equal(verify_is_sound(r), !plain.looping &&
			 !plain.astray && !r->channels.n_looped);
}

/* ------------------------------------------------------------ the damage */

/* An entry that is wrong in one of the ways in which entries are. */
static uint8_t
spoil_entry(const struct fabric *f, uint32_t sw, uint64_t *rng)
{
	const struct graph *g = f->g;
	uint32_t n = g->first_edge[sw + 1] - g->first_edge[sw];

	switch (prng_below(rng, 4)) {
	case 0:
		return LFT_NO_PATH;
	case 1:
		return (uint8_t)prng_below(rng, 256);
	case 2:				/* a host's, or port 0 */
		n = g->first_target[sw + 1] - g->first_target[sw];
		return n ? g->targets[g->first_target[sw] +
			prng_below(rng, n)].port : 0;
	default:			/* a cable */
		return n ? g->edges[g->first_edge[sw] +
			prng_below(rng, n)].port : 0;
	}
}

static void
spoil(const struct fabric *f, struct lft *lft, uint32_t n, uint64_t *rng)
{
	uint32_t sw;

	while (n--) {
		sw = prng_below(rng, f->g->n_switches);
		lft_row(lft, sw)[1 + prng_below(rng, lft->top)] =
			spoil_entry(f, sw, rng);
	}
}

/* From nothing wrong to nothing right; some too short, some too long. */
static struct lft *
make_tables(const struct fabric *f, unsigned kind, uint64_t *rng)
{
	static const uint32_t harm[] = { 0, 1, 1, 2, 4, 30 };
	struct lft *lft = route(f, "minhop"), *other;
	uint32_t n = harm[kind % N_ELEMENTS(harm)];

	if (kind % 5 == 4) {
		other = copy_with_top(lft, (uint16_t)
				      (1 + prng_below(rng, 2u * f->g->top)));
		lft_free(lft);
		lft = other;
		n++;
	}
	if (kind % 13 == 12)
		n = f->g->n_switches * lft->top;
	spoil(f, lft, n, rng);
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
	unsigned lmc = i / N_ELEMENTS(small) % 5;

	fabric_make(f, small[i % N_ELEMENTS(small)], i, i % 3 * 80, lmc);
	if (i % 7 == 3)
		fabric_cut_off(f, i % f->g->n_switches, lmc);
}

/* ------------------------------------------------------------------ tests */

TEST(test_any_tables_get_the_plain_verdict)
{
	const uint64_t seed = 20261121;
	unsigned sound = 0, looped = 0, lost = 0, bad = 0;
	uint64_t rng = prng_stream(seed, 0);

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
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
	}
	/* Each kind was met, else the comparison says little. */
	assert_true(sound >= 20 && looped >= 20 && lost >= 20 && bad >= 20);
}

/* Old tables that differ in a few entries, and in all. */
TEST(test_any_transition_gets_the_plain_verdict)
{
	const uint64_t seed = 20261122;
	unsigned sound = 0, together = 0;
	uint64_t rng = prng_stream(seed, 0);

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	for (unsigned i = 0; i < 600; i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(verify_result_clear) struct verify_result alone = { 0 };
		AUTO(lft) *lft, *before;
		AUTO_VALUE(fabric_clear) struct fabric f;

		make_fabric(&f, i);
		lft = make_tables(&f, i / 3, &rng);
		before = i % 2 ? make_tables(&f, i + i / 10, &rng) :
			copy_with_top(lft, lft->top);
		if (i % 2 == 0)
			spoil(&f, before, 1 + i % 6, &rng);
		judge(&f, lft, before, &r);
		judge(&f, lft, NULL, &alone);
		assert_true(r.channels.n_looped >= alone.channels.n_looped);
		sound += verify_is_sound(&r);
		together += r.channels.n_looped && !alone.channels.n_looped;
	}
	assert_true(sound >= 20 && together >= 20);
}

/* A turn that only an old entry makes, where the switch before it holds what
 * is new; at both ends of blocks. */
TEST(test_old_entries_of_neighbours_are_seen)
{
	static const uint16_t lids[] = { 1, 63, 64, 127, 128, 150, 200 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	uint32_t a = 0, b, c;

	fabric_make(&f, "mesh(2,2;1)", 1, 0, 0);
	b = f.g->edges[f.g->first_edge[a]].peer;
	c = f.g->edges[f.g->first_edge[b]].peer;
	if (c == a)
		c = f.g->edges[f.g->first_edge[b] + 1].peer;
	for (size_t i = 0; i < N_ELEMENTS(lids); i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(verify_result_clear) struct verify_result alone = { 0 };
		AUTO(lft) *lft = lft_new(f.g->n_switches, 200), *before;

		lft_row(lft, a)[lids[i]] = port_towards(&f, a, b);
		before = copy_with_top(lft, 200);
		lft_row(before, b)[lids[i]] = port_towards(&f, b, c);
		judge(&f, lft, NULL, &alone);
		judge(&f, lft, before, &r);
		assert_int_equal(alone.channels.n_dependencies, 0);
		assert_int_equal(r.channels.n_dependencies, 1);
	}
}

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

	fabric_make(&f, "PGFT(2,2,2;1,2,2)", 1, 0, 0);
	fabric_make(&cut, "PGFT(2,2,2;1,2,2)", 1, 0, 0);
	core = find_switch(&f, "S-3-0");
	spine = f.g->edges[f.g->first_edge[core]].peer;
	lid = find_target(&f, find_switch(&f, "S-1-0"), true)->lid;
	fabric_cut_off(&cut, core, 0);
	fabric_cut_off(&cut, spine, 0);
	lft = route(&cut, "updn");
	lft_row(lft, core)[lid] = port_towards(&f, core, spine);
	lft_row(lft, spine)[lid] = port_towards(&f, spine, core);

	judge(&f, lft, NULL, &r);
	assert_int_equal(r.channels.n_looped, 0);
	assert_int_equal(r.reach.looping, 2);
	assert_int_equal(r.reach.astray, 0);
	assert_false(verify_is_sound(&r));
}

/* The LID has no owner any more, and a host may still send to it. */
TEST(test_stray_lid_that_goes_round_is_not_sound)
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO(lft) *lft, *longer;
	AUTO_VALUE(fabric_clear) struct fabric f;
	uint16_t lid;
	uint32_t a, b;

	fabric_make(&f, "PGFT(3,4;1,3)", 1, 0, 0);
	lft = route(&f, "updn");
	lid = (uint16_t)(f.g->top + 70);
	longer = copy_with_top(lft, lid);
	a = find_switch(&f, "S-1-0");
	b = f.g->edges[f.g->first_edge[a]].peer;
	lft_row(longer, a)[lid] = port_towards(&f, a, b);
	judge(&f, longer, NULL, &r);
	assert_true(verify_is_sound(&r));

	lft_row(longer, b)[lid] = port_towards(&f, b, a);
	judge(&f, longer, NULL, &r);
	assert_int_equal(r.reach.looping, 0);	/* no port's */
	assert_int_equal(r.channels.n_looped, 2);
	assert_int_equal(r.channels.cycle->len, 2);
	assert_int_equal(g_array_index(r.channels.cycle, struct channel_turn,
				       0).lid, lid);
	assert_false(verify_is_sound(&r));
	/* Nor is a way out of such old tables. */
	judge(&f, lft, longer, &r);
	assert_int_equal(r.channels.n_looped, 2);
}

TEST(test_each_lid_of_a_port_counts)
{
	const struct graph_target *target;
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	AUTO(lft) *lft;
	uint32_t leaf;

	fabric_make(&f, "PGFT(3,4;1,3)", 1, 0, 2);
	lft = route(&f, "minhop");
	judge(&f, lft, NULL, &r);
	assert_int_equal(r.reach.arrived, 7 * (12 * 4 + 7));
	assert_int_equal(r.reach.lid, LID_NONE);

	/* The last of four LIDs leaves by another host's port. */
	leaf = find_switch(&f, "S-1-0");
	target = find_target(&f, leaf, false);
	lft_row(lft, leaf)[target->lid + 3] = f.g->targets[
		target - f.g->targets + 1].port;
	judge(&f, lft, NULL, &r);
	assert_int_equal(r.reach.astray, 7);
	assert_int_equal(r.reach.lost_hosts, 11);
	assert_int_equal(r.reach.lid, target->lid + 3);
	assert_false(verify_is_sound(&r));
}

TEST(test_empty_tables_lose_all_and_endanger_nothing)
{
	static const char *const specs[] = {
		"PGFT(3,4;1,3)", "single(5)", "pair()", "ring(3;1)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(fabric_clear) struct fabric f;
		AUTO(lft) *lft;

		fabric_make(&f, specs[i], 1, 0, 0);
		lft = lft_new(f.g->n_switches, 0);
		judge(&f, lft, NULL, &r);
		assert_true(verify_is_sound(&r));
		assert_int_equal(r.reach.arrived, 0);
		assert_int_equal(r.reach.unrouted, f.g->n_switches *
				 f.g->n_targets);
		assert_int_equal(r.channels.n_channels, 0);
	}
}

/* Shortest ways loop on rings and tori, and nowhere else. */
TEST(test_minhop_loops_where_there_are_rings)
{
	static const struct {
		const char *spec;
		bool loops;
	} cases[] = {
		{ "ring(5;2)", true }, { "ring(8;1)", true },
		{ "torus(4,4;1)", true }, { "torus(3,3,3;1)", true },
		{ "PGFT(4,4;1,4)", false }, { "PGFT(3,3,4;1,3,3)", false },
		{ "single(4)", false }, { "pair()", false },
		{ "hyperx(4;2)", false },
	};

	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
		AUTO_VALUE(fabric_clear) struct fabric f;
		AUTO(lft) *lft;

		fabric_make(&f, cases[i].spec, 1, 0, 0);
		lft = route(&f, "minhop");
		judge(&f, lft, NULL, &r);
		assert_int_equal(r.channels.n_looped > 0, cases[i].loops);
	}
}

/* The shortest cycle of a ring's one direction is the ring. */
TEST(test_cycle_is_printed_with_names)
{
	struct channels_result r;
	AUTO_VALUE(fabric_clear) struct fabric f;
	AUTO(lft) *lft;
	char *text;

	fabric_make(&f, "ring(5;1)", 1, 0, 0);
	lft = route(&f, "minhop");
	channels_check(f.g, lft, NULL, &r);
	assert_int_equal(r.cycle->len, 5);
	text = channels_print(f.g, &r);
	for (uint32_t sw = 0; sw < f.g->n_switches; sw++) {
		g_autofree char *name = graph_switch_name(f.g, sw);

		assert_has(text, name);
	}
	assert_has(text, " port ");
	assert_has(text, "(LID ");
	g_free(text);
	channels_clear(&r);
	assert_null(channels_print(f.g, &r));
}

/* On a ring of five, packets to each host turn at one switch in either
 * direction; the old tables have three of these turns, the new ones two. */
TEST(test_old_and_new_loop_only_together)
{
	struct lft *loop, *half[2];	/* new, old */
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	unsigned n = 0;

	fabric_make(&f, "ring(5;1)", 1, 0, 0);
	loop = route(&f, "minhop");
	for (unsigned i = 0; i < 2; i++)
		half[i] = lft_new(f.g->n_switches, f.g->top);
	for (uint32_t i = 0; i < f.g->n_targets; i++) {
		uint16_t lid = f.g->targets[i].lid;

		if (f.g->targets[i].port == 0)
			continue;
		for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
			lft_row(half[n < 3], sw)[lid] = lft_row(loop, sw)[lid];
		n++;
	}
	for (unsigned i = 0; i < 3; i++) {
		judge(&f, half[i % 2], i == 2 ? half[1] : NULL, &r);
		assert_int_equal(r.channels.n_looped, i == 2 ? 10 : 0);
	}
	lft_free(half[0]);
	lft_free(half[1]);
	lft_free(loop);
}

/* Management between switches goes round a ring: VL15 does not wait. */
TEST(test_port_0_to_port_0_is_no_data)
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	AUTO(lft) *lft;

	fabric_make(&f, "ring(5;1)", 1, 0, 0);
	lft = route(&f, "minhop");
	for (uint32_t i = 0; i < f.g->n_targets; i++)
		if (f.g->targets[i].port)
			for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
				lft_row(lft, sw)[f.g->targets[i].lid] =
					LFT_NO_PATH;
	/* CAs to port 0 are data, though, and loop here. */
	judge(&f, lft, NULL, &r);
	assert_true(r.channels.n_looped > 0);
	memset(f.g->n_hosts, 0, f.g->n_switches * sizeof(*f.g->n_hosts));
	judge(&f, lft, NULL, &r);
	assert_int_equal(r.channels.n_looped, 0);
}

TEST(test_lost_pairs_are_told_by_what_they_lose)
{
	const struct graph_target *ca, *port0 = NULL;
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	AUTO(lft) *lft;

	fabric_make(&f, "PGFT(3,4;1,3)", 1, 0, 0);
	lft = route(&f, "minhop");
	ca = find_target(&f, find_switch(&f, "S-1-0"), false);
	port0 = find_target(&f, find_switch(&f, "S-2-0"), true);
	for (uint32_t sw = 0; sw < f.g->n_switches; sw++) {
		lft_row(lft, sw)[ca->lid] = LFT_NO_PATH;
		lft_row(lft, sw)[port0->lid] = LFT_NO_PATH;
	}
	judge(&f, lft, NULL, &r);
	assert_true(verify_is_sound(&r));
	assert_int_equal(r.reach.lost_hosts, 11);
	assert_int_equal(r.reach.lost_mixed, 7 + 12);
	assert_int_equal(r.reach.unrouted, 14);
	assert_int_equal(r.reach.cut_off, 0);
}

TEST(test_what_is_not_cabled_is_no_fault_of_tables)
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	AUTO(lft) *lft;

	fabric_make(&f, "PGFT(2,3;1,2)", 1, 0, 0);
	fabric_cut_off(&f, 0, 0);
	lft = route(&f, "minhop");
	judge(&f, lft, NULL, &r);
	assert_true(r.reach.cut_off > 0);
	assert_int_equal(r.reach.unrouted, r.reach.cut_off);
	assert_int_equal(r.reach.lost_hosts + r.reach.lost_mixed, 0);
	assert_int_equal(r.reach.lid, 0);
}

/* One entry of a leaf is wrong, for a host at another leaf. */
TEST(test_what_happens_to_a_packet_is_told_apart)
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	AUTO_VALUE(fabric_clear) struct fabric f;
	uint32_t leaf, spine;
	uint16_t lid;

	fabric_make(&f, "PGFT(2,2;1,2)", 1, 0, 0);
	leaf = find_switch(&f, "S-1-0");
	spine = find_switch(&f, "S-2-0");
	lid = find_target(&f, find_switch(&f, "S-1-1"), false)->lid;
	for (unsigned i = 0; i < 5; i++) {
		const uint8_t entry[] = {
			LFT_NO_PATH, 0, 200, find_target(&f, leaf, false)->port,
			port_towards(&f, leaf, spine),
		};
		AUTO(lft) *lft = route(&f, "minhop");

		lft_row(lft, spine)[lid] = port_towards(&f, spine, leaf);
		lft_row(lft, leaf)[lid] = entry[i];
		judge(&f, lft, NULL, &r);
		assert_int_equal(r.reach.unrouted, i == 0 ? 2 : 0);
		assert_int_equal(r.reach.astray, i > 0 && i < 4 ? 2 : 0);
		assert_int_equal(r.reach.looping, i == 4 ? 2 : 0);
		assert_int_equal(r.reach.lid, lid);
		assert_int_equal(r.reach.sw, MIN(leaf, spine));
	}
}

/* Long chains of switches, all of which end in one loop. */
TEST(test_large_loop_needs_no_stack)
{
	uint32_t sw = 0, last = SNAPSHOT_NONE;
	struct verify_reach result;
	AUTO_VALUE(fabric_clear) struct fabric f;

	fabric_make(&f, "ring(2000;1)", 1, 0, 0);
	for (uint32_t i = 0; i < f.g->n_switches; i++) {
		const struct graph_edge *e =
			&f.g->edges[f.g->first_edge[sw]];

		if (e->peer == last)
			e++;
		lft_row(f.out.lft, sw)[f.g->targets[0].lid] = e->port;
		last = sw;
		sw = e->peer;
	}
	verify_reachability(f.g, f.out.lft, NULL, &result);
	assert_int_equal(result.looping, 2000);
	assert_int_equal(result.arrived, 0);
}
