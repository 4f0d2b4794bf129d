// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choosing tables: what was asked for is used or refused, never replaced; auto
 * says why; nothing that can lock up is handed out unasked.
 *
 * Engines of the test stand in where a real one would not make the tables that
 * are needed: all ways clockwise round a ring (a credit loop), ways that go
 * round, no way at all.
 */

#include "routing/order.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/unit.h"

static bool
choose(struct fabric *f, const struct engine *engine, bool require)
{
	const struct choice_wish wish = {
		.engine = engine, .require_deadlock_free = require,
	};

	choice_clear(&f->choice);
	g_clear_error(&f->error);
	return choose_tables(&wish, &f->in, &f->choice, &f->error);
}

static bool
compute_clockwise(const struct engine_input *in, struct engine_output *out,
		  GError **error)
{
	lab_go_round(in->g, out->lft);
	lab_deliver(in->g, out->lft);
	return true;
}

static bool
compute_for_ever(const struct engine_input *in, struct engine_output *out,
		 GError **error)
{
	lab_go_round(in->g, out->lft);
	return true;
}

static bool
compute_nothing(const struct engine_input *in, struct engine_output *out,
		GError **error)
{
	lab_deliver(in->g, out->lft);
	g_ptr_array_add(out->notes, g_strdup("nobody reaches anybody"));
	return true;
}

static bool
compute_half_round(const struct engine_input *in, struct engine_output *out,
		   GError **error)
{
	lab_go_round(in->g, out->lft);
	for (uint32_t sw = 2; sw < in->g->n_switches; sw++)
		memset(lft_row(out->lft, sw), LFT_NO_PATH, out->lft->stride);
	lab_deliver(in->g, out->lft);
	return true;
}

static bool
compute_ranks(const struct engine_input *in, struct engine_output *out,
	      GError **error)
{
	out->ranks = g_new0(uint32_t, in->g->n_switches);
	out->ranks[0] = in->ranks ? in->ranks[0] + 1 : 7;
	return true;
}

static const struct engine clockwise = {
	.name = "clockwise", .compute = compute_clockwise,
};
static const struct engine sure = {
	.name = "sure", .deadlock_free = true, .compute = compute_clockwise,
};
static const struct engine for_ever = {
	.name = "for ever", .compute = compute_for_ever,
};
static const struct engine nothing = {
	.name = "nothing", .compute = compute_nothing,
};
static const struct engine half_round = {
	.name = "half round", .compute = compute_half_round,
};
static const struct engine ranked = {
	.name = "ranked", .compute = compute_ranks,
};

/* ------------------------------------------------------------------ tests */

#define FABRIC_TEST(name, spec) \
	TEST_ON(name, struct fabric, f, fabric_draw, fabric_clear, spec, 0, 0, \
		0)

FABRIC_TEST(test_loop_is_programmed_only_when_asked_for_by_name, "ring(5;1)")
{
	assert_true(choose(f, &clockwise, false));
	assert_ptr_equal(f->choice.engine, &clockwise);
	assert_int_equal(f->choice.safety, CHOICE_LOOP);
	assert_int_equal(f->choice.alone.channels.n_looped, 5);
	assert_int_equal(f->choice.alone.channels.cycle->len, 5);

	assert_false(choose(f, &clockwise, true));
	assert_gerror(f->error, ENGINE_ERROR, ENGINE_ERROR_FABRIC);
	assert_has(f->error->message, "5 channels");
	assert_has(f->error->message, "'S-1-0'");
	assert_null(f->choice.lft);
}

/* An engine that promises and breaks it has a bug, as has one whose paths go
 * round. */
FABRIC_TEST(test_tables_of_a_broken_engine_are_refused, "ring(5;1)")
{
	assert_false(choose(f, &sure, false));
	assert_has(f->error->message, "sure");
	assert_false(choose(f, &for_ever, false));
	assert_has(f->error->message, "loop");
}

FABRIC_TEST(test_lost_pairs_are_no_danger, "ring(5;2)")
{
	assert_true(choose(f, &nothing, true));
	assert_int_equal(f->choice.safety, CHOICE_SAFE);
	assert_int_equal(f->choice.alone.reach.lost_hosts, 10 * 8);
	assert_string_equal(g_ptr_array_index(f->choice.notes, 0),
			    "nobody reaches anybody");
}

FABRIC_TEST(test_engine_that_cannot_is_not_replaced, "ring(6;2)")
{
	assert_false(choose(f, engine_by_name("ftree", NULL), false));
	assert_gerror(f->error, ENGINE_ERROR, ENGINE_ERROR_FABRIC);
	assert_has(f->error->message, "fat tree");
}

/* A guide's "ftree,updn,minhop": no engine of a list may bring a loop. auto
 * takes the best one that has none. */
TEST(test_a_list_goes_by_its_order_and_auto_by_the_load)
{
	static const struct {
		unsigned seed;			/* not 0: 5% of cables lost */
		const char *spec, *engines[4];	/* none: auto */
		const char *engine;		/* NULL: none will do */
		const char *says[2];	/* of why; auto: of each engine */
	} cases[] = {
		{ 0, "PGFT(4,4;1,4)", { "ftree", "updn", "minhop" }, "ftree",
		  { "configured" } },
		{ 0, "ring(8;2)", { "ftree", "updn", "minhop" }, "updn",
		  { "ftree: " } },
		{ 0, "ring(8;2)", { "minhop", "updn" }, "updn", { "loops" } },
		{ 0, "ring(8;2)", { "ftree", "minhop" }, NULL, { "loops" } },
		{ 0, "hyperx(4;2)", { "minhop", "updn" }, "minhop",
		  { "configured" } },
		{ 0, "torus(3,3,3;1)", { "minhop" }, NULL, { "credit loops" } },
		{ 0, "PGFT(4,4;1,4)", { NULL }, "ftree",
		  { "1.00 times", "not tried" } },
		/* large: what would count as alike is enough */
		{ 2, "PGFT(16,16,32;1,16,16)", { NULL }, "ftree",
		  { "1.02 times", "not tried" } },
		{ 0, "single(5)", { NULL }, "ftree", { "1.00 times" } },
		{ 0, "ring(8;2)", { NULL }, "updn", { "not possible" } },
		{ 0, "torus(4,4;1)", { NULL }, "dor", { "not possible" } },
		{ 0, "hyperx(4;2)", { NULL }, "updn", { "" } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct engine *order[4] = { NULL };
		const struct choice_wish wish = {
			.order = cases[i].engines[0] ? order : NULL,
		};
		AUTO_VALUE(fabric_clear) struct fabric f;
		bool ok;

		for (size_t k = 0; cases[i].engines[k]; k++)
			order[k] = engine_by_name(cases[i].engines[k], NULL);
		fabric_draw(&f, cases[i].spec, cases[i].seed,
			    cases[i].seed ? 50 : 0, 0);
		ok = choose_tables(&wish, &f.in, &f.choice, &f.error);
		assert_int_equal(ok, !!cases[i].engine);
		if (!ok) {
			assert_has(f.error->message, cases[i].says[0]);
			continue;
		}
		assert_string_equal(f.choice.engine->name, cases[i].engine);
		assert_int_equal(f.choice.safety, CHOICE_SAFE);
		assert_true(verify_is_sound(&f.choice.alone));
		assert_int_equal(f.choice.alone.reach.lost_hosts, 0);
		if (wish.order)
			assert_has(f.choice.reason, cases[i].says[0]);
		else
			assert_int_equal(f.choice.compared->len, 3);
		for (size_t k = 0; !wish.order && k < 2 && cases[i].says[k];
		     k++)
			assert_has(f.choice.compared->pdata[k],
				   cases[i].says[k]);
	}
}

/* No other engine can be 10% better. */
FABRIC_TEST(test_an_engine_near_the_bound_stays, "PGFT(5,5;1,3)")
{
	assert_true(fabric_try(f, &(struct choice_wish){ .in_force = "updn" }));
	assert_has(f->choice.compared->pdata[0], "not tried");
}

/* ftree has the lower load here, and updn shifts with three quarters of the
 * congestion. */
TEST(test_auto_counts_shifts)
{
	double load, shifts, least = 0, own = 0;
	AUTO_VALUE(fabric_clear) struct fabric f;
	unsigned n = 0;

	fabric_draw(&f, "rails(16;64,8;4)", 1, 10, 0);
	assert_true(choose(&f, NULL, false));
	EACH_PTR(const char, line, f.choice.compared) {
		const char *at = strstr(line, "carries");

		if (!at || sscanf(at, "carries %lf flows, %*f times the lower "
				  "bound; shifts %lf", &load, &shifts) != 2)
			continue;	/* not safe, or too much load */
		least = n++ ? MIN(load * shifts, least) : load * shifts;
		if (g_str_has_prefix(line, f.choice.engine->name))
			own = load * shifts;
	}
	assert_in_range(n, 2, 3);
	assert_true(own > 0 && own <= least);
	assert_string_equal(f.choice.engine->name, "updn");
}

/* On a large torus up and down is far worse than dimension order, and its order
 * shows it (from a million entries on); not if it were less than twice as bad. */
TEST(test_hopeless_engines_end_early)
{
	AUTO_VALUE(fabric_clear) struct fabric f;
	struct order *order;
	double load;

	fabric_draw(&f, "torus(16,16;15)", 3, 0, 0);
	assert_true(choose(&f, NULL, false));
	assert_string_equal(f.choice.engine->name, "dor");
	for (guint i = 0; i < f.choice.compared->len; i++)
		if (g_str_has_prefix(f.choice.compared->pdata[i], "updn"))
			assert_has(f.choice.compared->pdata[i],
				   "would carry about");
	order = order_compute(&f.in);
	load = order_estimate(f.g, order);
	order_destroy(order);
	f.in.rival = load * 0.49;
	assert_false(engine_updn.compute(&f.in, &f.out, NULL));
	f.in.rival = load * 0.51;
	assert_true(engine_updn.compute(&f.in, &f.out, NULL));
}

FABRIC_TEST(test_ranks_go_to_their_engine_only, "ring(4;1)")
{
	uint32_t held[4] = { 41, 0, 0, 0 };
	struct choice_wish wish = { .engine = &ranked, .ranks_by = "another" };

	f->in.ranks = held;
	assert_true(fabric_try(f, &wish));
	assert_int_equal(f->choice.ranks[0], 7);
	wish.ranks_by = "ranked";
	assert_true(fabric_try(f, &wish));
	assert_int_equal(f->choice.ranks[0], 42);
}

/* All ways clockwise round a ring. */
static struct lft *
make_circle(const struct graph *g)
{
	struct lft *circle = lft_new(g->n_switches, g->top);

	lab_go_round(g, circle);
	lab_deliver(g, circle);
	return circle;
}

/* The entries for the first n hosts, or ports 0. */
static void
copy_entries(const struct graph *g, const struct lft *from, struct lft *to,
	     bool of_hosts, unsigned n)
{
	for (uint32_t i = 0; i < g->n_targets; i++) {
		if (of_hosts != !!g->targets[i].port || n == 0)
			continue;
		n--;
		for (uint32_t sw = 0; sw < g->n_switches; sw++)
			lft_row(to, sw)[g->targets[i].lid] =
				lft_row(from, sw)[g->targets[i].lid];
	}
}

/* Trees of all cables are cut, and in such a way that they fit the new tables
 * (again: the same as the held ones, or NULL). */
static void
expect_cut(const struct fabric *f, struct lft *held, struct lft *again)
{
	AUTO(mft) *trees = mft_new(f->g->n_switches, MFT_POSITIONS, 1);

	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		*mft_block(trees, sw, 0, 0) = 0xffff;
	assert_true(choose_cut_trees(f->g, held, &f->choice, trees) > 0);
	assert_int_equal(choose_cut_trees(f->g, again, &f->choice, trees), 0);
}

/* Both halves of a circle are safe, not together; the bridge between them is
 * safe with either. */
FABRIC_TEST(test_drains_when_old_and_new_loop_together, "ring(5;1)")
{
	AUTO_VALUE(channels_clear) struct channels_result alone;
	AUTO(lft) *circle = make_circle(f->g);
	AUTO(lft) *old = lft_new(f->g->n_switches, f->g->top);

	/* Packets to the first two hosts go clockwise for ever so long. */
	copy_entries(f->g, circle, old, true, 2);
	channels_check_ordered(f->g, old, NULL, NULL, NULL, &alone);
	assert_int_equal(alone.n_looped, 0);

	f->in.previous = old;
	assert_true(choose(f, NULL, false));
	assert_int_equal(f->choice.safety, CHOICE_DRAIN);
	assert_false(f->choice.held_loop);
	assert_non_null(f->choice.together.cycle);

	lab_judge_update(&(struct oracle_case){ .s = f->s, .lids = f->lids },
			 old, &f->choice);

	/* One that is there already is not worth an interruption. */
	f->in.previous = circle;
	assert_true(choose(f, NULL, false));
	assert_int_equal(f->choice.safety, CHOICE_SAFE);
	assert_true(f->choice.held_loop);

	/* Nor a reason to leave trees that circle, or that close a loop with the
	 * new tables. */
	expect_cut(f, circle, NULL);
	copy_entries(f->g, circle, f->choice.lft, true, UINT_MAX);
	expect_cut(f, circle, circle);
}

/* Two switches may have executed Sets: new routes have no loop with either, but with
 * both. Each block is what it was or what was sent, so nothing else is cleared. */
FABRIC_TEST(test_contents_in_doubt_are_compared_mixed, "ring(5;1)")
{
	AUTO(lft) *circle = make_circle(f->g);
	AUTO(lft) *done = lft_new(f->g->n_switches, f->g->top);

	for (uint32_t sw = 2; sw < f->g->n_switches; sw++)
		memcpy(lft_row(done, sw), lft_row(circle, sw), done->stride);
	for (unsigned n = 0; n < 4; n++) {
		AUTO(lft) *held = lft_new(f->g->n_switches, f->g->top);
		struct lft **other = &held->other;

		for (uint32_t sw = 2; sw < f->g->n_switches; sw++) {
			if (!(n >> (sw > 2) & 1))
				continue;
			*other = lft_new(f->g->n_switches, f->g->top);
			memcpy(lft_row(*other, sw), lft_row(done, sw),
			       held->stride);
			other = &(*other)->other;
		}
		f->in.previous = held;
		assert_true(choose(f, &half_round, true));
		assert_int_equal(f->choice.safety, n == 3 ? CHOICE_DRAIN :
				 CHOICE_SAFE);
	}
	assert_false(f->choice.is_blind);
	lab_judge_update(&(struct oracle_case){ .s = f->s, .lids = f->lids },
			 done, &f->choice);
}

/* As many Sets in doubt as are compared, and stages. */
FABRIC_TEST(test_stages_begin_with_all_contents_in_doubt, "ring(5;1)")
{
	AUTO(lft) *circle = make_circle(f->g);
	AUTO(lft) *held = lft_new(f->g->n_switches, f->g->top);
	uint32_t sw;

	for (unsigned n = 0; n < LFT_PARTS_MAX; n++) {
		struct lft *other = lft_new(f->g->n_switches, f->g->top);

		for (sw = 2; sw < f->g->n_switches; sw++)
			memcpy(lft_row(other, sw), lft_row(circle, sw),
			       held->stride);
		other->other = held->other;
		held->other = other;
	}
	f->in.previous = held;
	assert_true(choose(f, &half_round, true));
	assert_int_equal(f->choice.safety, CHOICE_DRAIN);
	assert_false(f->choice.waits);
	/* no stage is safe from what may come back */
	held->comes_back = true;
	assert_true(choose(f, &half_round, true));
	assert_true(f->choice.waits);
}

/* The paths from hosts to switches go round the circle: a loop as soon as the
 * hosts can send, so they may not before all tables are written. */
FABRIC_TEST(test_hosts_that_cannot_send_yet_wait, "ring(5;1)")
{
	AUTO(lft) *circle = make_circle(f->g), *old = NULL;

	assert_true(choose(f, NULL, false));
	assert_false(f->choice.hosts_wait);
	old = lft_copy(f->choice.lft);
	copy_entries(f->g, circle, old, false, UINT_MAX);
	f->in.previous = old;
	assert_true(choose(f, NULL, false));
	assert_true(f->choice.held_loop);
	assert_false(f->choice.hosts_wait);

	/* either end that is Active lets a host send: none, of CAs, of
	 * switches */
	for (unsigned active = 0; active < 3; active++) {
		for (uint32_t p = 0; p < f->s->n_ports; p++)
			f->s->ports[p].info.state = active == 1u +
				snapshot_is_switch(snapshot_node_of(f->s, p)) ?
				PORT_STATE_ACTIVE : PORT_STATE_INIT;
		assert_true(choose(f, NULL, false));
		assert_int_equal(f->choice.safety, CHOICE_SAFE);
		assert_int_equal(f->choice.held_loop, active > 0);
		assert_int_equal(f->choice.hosts_wait, active == 0);
	}
}

/* The entries of a host that is away go round a circle: no traffic does, and the
 * rest of the old tables must still not loop with the new ones, of hosts that were
 * not found as well. None of these may come at once, so no stage is left between
 * clearing those entries and the next. A circle that only such hosts would close is
 * none, but nothing can be compared with it. */
FABRIC_TEST(test_loop_of_strays_does_not_hide_another, "torus(3,3;1)")
{
	const struct choice_wish wish = {
		.engine = &engine_updn, .makes_room = true,
	};
	AUTO(lft) *live = NULL, *old = NULL;
	uint32_t n_senders[9] = { 1 };
	struct graph found = *f->g;
	uint8_t is_root[9] = { 1 };
	uint16_t to;

	found.n_senders = n_senders;
	f->in.is_root = is_root;
	assert_true(choose(f, wish.engine, true));
	live = lft_ref(f->choice.lft);
	old = lft_widen(live, (uint16_t)(f->g->top + 1));
	for (uint32_t sw = 0; sw < 3; sw++)
		lft_row(old, sw)[f->g->top + 1] =
			lab_port_to(f->g, sw, (sw + 1) % 3);

	f->in.previous = old;
	is_root[0] = 0;
	is_root[1] = 1;
	for (unsigned silent = 0; silent < 2; silent++) {
		assert_true(fabric_try(f, &wish));
		assert_true(f->choice.held_loop);
		assert_int_equal(f->choice.safety, CHOICE_DRAIN);
		assert_false(f->choice.is_blind);
		lab_judge_update(&(struct oracle_case){ .s = f->s,
				 .lids = f->lids }, live, &f->choice);
		f->in.g = &found;
		f->in.whole = f->g;
	}
	to = f->g->targets[f->g->first_target[0]].lid;
	for (uint32_t sw = 3; sw < 6; sw++)
		lft_row(old, sw)[to] = lab_port_to(f->g, sw, 3 + (sw + 1) % 3);
	assert_true(fabric_try(f, &wish));
	assert_true(f->choice.is_blind);
	f->in.g = f->g;
}

/* A host is away; its entries stay, unless they would close a circle. */
TEST(test_strays_stay_if_they_are_safe)
{
	for (unsigned circle = 0; circle < 2; circle++) {
		AUTO_VALUE(fabric_clear) struct fabric f;
		AUTO(lft) *held = NULL;

		fabric_draw(&f, circle ? "ring(5;1)" : "PGFT(3,4;1,3)", 0, 0,
			    0);
		held = lft_new(f.g->n_switches, (uint16_t)(f.g->top + 2));
		/* the last LID is no port's, from now on */
		f.g->targets[f.g->target_of[f.g->top]].n_lids = 0;
		f.g->target_of[f.g->top] = SNAPSHOT_NONE;
		for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
			lft_row(held, sw)[f.g->top] = circle ?
				lab_port_to(f.g, sw, (sw + 1) % 5) : 1;
		f.in.previous = held;
		assert_true(choose(&f, circle ? NULL : &engine_minhop, true));
		for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
			assert_int_equal(lft_row(f.choice.lft, sw)[f.g->top],
					 circle ? LFT_NO_PATH : 1);
	}
}

/* Cables that stay idle are the same in both directions, whatever the rates of their
 * ends are; without the widest one, loads count as before. */
FABRIC_TEST(test_exchanged_cables_of_two_rates, "PGFT(4,4,4;1,2,2;1,2,2)")
{
	AUTO(graph) *less = NULL;
	struct snapshot_port *ports = f->s->ports;
	uint32_t a = snapshot_port_of(f->s, f->s->switches[8], 5);
	uint32_t b = snapshot_port_of(f->s, f->s->switches[19], 12), e;
	g_autofree uint8_t *is_out = g_new0(uint8_t, f->g->n_edges);

	ports[ports[a].peer].peer = b;
	ports[ports[b].peer].peer = a;
	e = ports[a].peer;
	ports[a].peer = ports[b].peer;
	ports[b].peer = e;
	for (uint32_t num = 1; num <= 12; num++) {
		b = snapshot_port_of(f->s, f->s->switches[19], (uint8_t)num);
		ports[b].info.width_active = 1;
		graph_free(f->g);
		f->in.g = f->g = graph_new(f->s, f->lids);
		fabric_choose(f);
		assert_int_equal(f->choice.alone.reach.lost_hosts, 0);
		ports[b].info.width_active = 2;
	}
	ports[a].info.width_active = ports[ports[a].peer].info.width_active = 8;
	graph_free(f->g);
	f->in.g = f->g = graph_new(f->s, f->lids);
	e = graph_edge_at(f->g, 8, 5);
	is_out[e] = is_out[f->g->edges[e].back] = 1;
	less = graph_without(f->g, is_out);
	assert_int_equal(less->n_edges, f->g->n_edges - 2);
	assert_int_equal(less->widest, f->g->widest);
}

/* Tables that use each cable stay, although new ones would use some of them in
 * the other direction. */
FABRIC_TEST(test_held_tables_stay_if_no_cable_is_idle, "PGFT(1,2;1,2)")
{
	AUTO(lft) *held = NULL;

	assert_true(choose(f, NULL, true));
	held = lft_copy(f->choice.lft);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		for (uint32_t lid = 1; lid <= f->g->top; lid++) {
			uint8_t *port = &lft_row(held, sw)[lid];

			/* the hosts of both leaves, by the other spine */
			if (f->g->n_hosts[sw] && *port > 1 &&
			    graph_target_at(f->g, (uint16_t)lid)->is_host)
				*port = *port == 2 ? 3 : 2;
		}
	f->in.previous = held;
	assert_true(choose(f, NULL, true));
	assert_true(f->choice.keeps_held);
	assert_int_equal(lab_count_blocks(f->choice.lft, held), 0);
}

/* Those of middle switches of two pods; entries before where paths end have a loop. */
FABRIC_TEST(test_two_exchanged_tables_change_little, "PGFT(8,8,16;1,8,8)")
{
	AUTO(lft) *held = NULL;

	assert_true(choose(f, &engine_updn, true));
	held = lft_copy(f->choice.lft);
	memcpy(lft_row(held, 138), lft_row(f->choice.lft, 160), held->stride);
	memcpy(lft_row(held, 160), lft_row(f->choice.lft, 138), held->stride);
	f->in.previous = held;
	assert_true(choose(f, &engine_ftree, true));
	assert_in_range(lab_count_blocks(f->choice.lft, held), 1, 450);
}

/* There is nothing to keep or to leave in stages. */
FABRIC_TEST(test_tables_without_an_entry_are_none, "ring(4;1)")
{
	AUTO(lft) *seen = NULL, *held = NULL;

	seen = lft_new(f->g->n_switches, f->g->top);
	assert_null(choose_held(f->g, seen));
	lft_row(seen, f->g->n_switches - 1)[f->g->top] = 0;
	held = choose_held(f->g, seen);
	assert_int_equal(lft_row(held, f->g->n_switches - 1)[f->g->top], 0);
}

enum { SIDE = 20, GRID = SIDE * SIDE };	/* of mesh(20,20;1) */

/* Entries to one host in the corner of a grid: old ones along the rows, new ones
 * along the columns. */
static void
go_by_rows_and_columns(const struct fabric *f, struct lft *held,
		       struct lft *wanted)
{
	uint32_t lid = 0;

	for (uint32_t i = 0; i < f->g->n_targets; i++)
		if (f->g->targets[i].port && f->g->targets[i].sw == 0) {
			lid = f->g->targets[i].lid;
			lft_row(held, 0)[lid] = f->g->targets[i].port;
			lft_row(wanted, 0)[lid] = f->g->targets[i].port;
		}
	for (uint32_t sw = 1; sw < GRID; sw++) {
		uint8_t row = lab_port_to(f->g, sw, sw - 1);
		uint8_t column = lab_port_to(f->g, sw, sw - SIDE);

		lft_row(held, sw)[lid] = sw % SIDE ? row : column;
		lft_row(wanted, sw)[lid] = sw >= SIDE ? column : row;
	}
}

/* Where new channels are in loops the old entries stay until the second and last
 * stage. g_array_unref. */
static GArray *
change_in_two_stages(const struct fabric *f, const uint8_t *looped)
{
	GArray *later = g_array_new(FALSE, FALSE,
				    sizeof(struct transition_entry));
	AUTO(lft) *held = lft_new(GRID, f->g->top), *first = NULL;
	AUTO(lft) *wanted = lft_new(GRID, f->g->top);

	go_by_rows_and_columns(f, held, wanted);
	first = transition_make(f->g, held, wanted, NULL, looped, later);
	EACH_ITEM(const struct transition_entry, e, later)
		assert_int_equal(lft_row(first, e->sw)[e->lid],
				 lft_row(held, e->sw)[e->lid]);
	assert_true(transition_apply(first, later, 1));
	assert_memory_equal(first->ports, wanted->ports, GRID * held->stride);
	return later;
}

/* They make 35 billion paths over 760 channels. Each channel is visited once, so
 * all entries change in one stage. */
FABRIC_TEST(test_stage_visits_each_channel_once, "mesh(20,20;1)")
{
	g_autofree uint8_t *looped = g_malloc(f->g->n_edges);
	g_autoptr(GArray) later = NULL;

	memset(looped, 1, f->g->n_edges);
	later = change_in_two_stages(f, looped);
	assert_int_equal(later->len, (SIDE - 1) * (SIDE - 1));
}

/* Switch 2 has lost its way by 3; that of switch 1 led there, and its new channel
 * is in a loop. */
FABRIC_TEST(test_no_stage_goes_round, "ring(4;1)")
{
	AUTO(lft) *held = lft_new(4, f->g->top), *first = NULL;
	AUTO(lft) *wanted = lft_new(4, f->g->top);
	g_autofree uint8_t *looped = g_malloc0(f->g->n_edges);
	g_autoptr(GArray) later = g_array_new(FALSE, FALSE,
					      sizeof(struct transition_entry));
	uint32_t lid = f->g->targets[f->g->first_target[0]].lid;

	lft_row(held, 1)[lid] = lab_port_to(f->g, 1, 2);
	lft_row(wanted, 1)[lid] = lab_port_to(f->g, 1, 0);
	lft_row(wanted, 2)[lid] = lab_port_to(f->g, 2, 1);
	looped[graph_edge_at(f->g, 1, lab_port_to(f->g, 1, 0))] = 1;
	first = transition_make(f->g, held, wanted, NULL, looped, later);
	assert_int_equal(lft_row(first, 2)[lid], LFT_NO_PATH);
	/* nor leads one into a loop of the new tables alone */
	assert_true(choose(f, &clockwise, false));
	assert_null(transition_make(f->g, held, f->choice.lft, NULL, looped,
				    later));
}

/* Also if its old path arrives. */
FABRIC_TEST(test_an_entry_that_goes_is_cleared_first, "ring(4;1)")
{
	const struct graph_target *t = &f->g->targets[f->g->first_target[0]];
	AUTO(lft) *held = lft_new(4, f->g->top), *first = NULL, *bridge = NULL;
	AUTO(lft) *wanted = lft_new(4, f->g->top);
	g_autofree uint8_t *looped = g_malloc0(f->g->n_edges);
	g_autoptr(GArray) later = g_array_new(FALSE, FALSE,
					      sizeof(struct transition_entry));
	struct channels *c = NULL, *together = NULL;

	lft_row(held, 0)[t->lid] = lft_row(wanted, 0)[t->lid] = t->port;
	lft_row(held, 1)[t->lid] = lab_port_to(f->g, 1, 0);
	first = transition_make(f->g, held, wanted, NULL, looped, later);
	assert_int_equal(lft_row(first, 1)[t->lid], LFT_NO_PATH);
	assert_int_equal(later->len, 0);
	assert_true(channels_load(&c, f->g, held, NULL, NULL));
	assert_true(transition_steps(f->g, held, held, held, wanted, c,
				     &together, &bridge, later));
	assert_null(bridge);
	channels_free(together);
	channels_free(c);
}

/* Of one switch the new channel is in a loop; the paths of all others arrive by
 * its old one. */
FABRIC_TEST(test_first_stage_has_all_that_arrives, "mesh(20,20;1)")
{
	const uint32_t sw = 3 * SIDE + 5;
	g_autofree uint8_t *looped = g_malloc0(f->g->n_edges);
	g_autoptr(GArray) later = NULL;

	looped[graph_edge_at(f->g, sw, lab_port_to(f->g, sw, sw - SIDE))] = 1;
	later = change_in_two_stages(f, looped);
	assert_int_equal(later->len, 1);
	assert_int_equal(g_array_index(later, struct transition_entry, 0).sw,
			 sw);
}
