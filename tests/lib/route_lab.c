// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the tests of engines have in common.
 */
#include "routing/metrics.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/shapes.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

struct snapshot *
lab_generate(const char *spec, uint64_t seed, unsigned fail_per_mille)
{
	const struct generate_options options = {
		.seed = seed,
		.shuffle_guids = seed > 0,
		.fail_per_mille = fail_per_mille,
	};
	GError *error = NULL;
	struct snapshot *s, *copy;

	if (!strchr(spec, '('))
		return shape_new(spec, seed, fail_per_mille);
	s = generate_fabric(spec, &options, &error);
	if (!s)
		fail_msg("%s: %s", spec, error->message);
	copy = snapshot_copy(s);
	snapshot_unref(s);
	return copy;
}

static void
fabric_start(struct fabric *f)
{
	f->g = graph_new(f->s, f->lids);
	f->in.g = f->g;
}

void
fabric_open(struct fabric *f, const struct engine *engine, struct snapshot *s,
	    unsigned lmc)
{
	memset(f, 0, sizeof(*f));
	f->engine = engine;
	f->s = s;
	f->lids = lid_assign(s, lmc, NULL, 0, NULL, &f->error);
	if (!f->lids)
		fail_msg("%s", f->error->message);
	fabric_start(f);
	engine_output_init(&f->out, lft_new(f->g->n_switches, f->g->top));
}

void
fabric_draw(struct fabric *f, const char *spec, uint64_t seed,
	    unsigned fail_per_mille, unsigned lmc)
{
	struct snapshot *s = lab_generate(spec, seed, fail_per_mille);

	for (uint32_t port = 0; port < s->n_ports; port++)
		if (s->ports[port].peer != SNAPSHOT_NONE)
			s->ports[port].info.state = PORT_STATE_ACTIVE;
	fabric_open(f, NULL, s, lmc);
	f->spec = spec;
	f->seed = seed;
	f->fail = fail_per_mille;
}

void
fabric_route(struct fabric *f)
{
	if (!f->engine->compute(&f->in, &f->out, &f->error))
		fail_msg("%s", f->error->message);
	assert_null(f->error);
}

void
fabric_build(struct fabric *f, const struct engine *engine, struct snapshot *s,
	     unsigned lmc)
{
	fabric_open(f, engine, s, lmc);
	fabric_route(f);
}

void
fabric_clear(struct fabric *f)
{
	choice_clear(&f->choice);
	g_clear_error(&f->error);
	lft_free(f->out.lft);
	engine_output_clear(&f->out);
	graph_free(f->g);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
}

bool
fabric_try(struct fabric *f, const struct choice_wish *wish)
{
	choice_clear(&f->choice);
	g_clear_error(&f->error);
	if (!choose_tables(wish, &f->in, &f->choice, &f->error))
		return false;
	lft_free(f->out.lft);
	g_free(f->out.ranks);
	f->out.lft = lft_ref(f->choice.lft);
	f->out.ranks = g_memdup2(f->choice.ranks, f->g->n_switches *
				 sizeof(*f->out.ranks));
	return true;
}

void
fabric_choose(struct fabric *f)
{
	const struct choice_wish wish = {
		.engine = f->engine,
		.ranks_by = f->engine ? f->engine->name : NULL,
	};

	if (!fabric_try(f, &wish))
		fail_msg("%s", f->error->message);
}

void
fabric_follow(struct fabric *f, struct snapshot *s, const struct fabric *before)
{
	memset(f, 0, sizeof(*f));
	f->engine = before->engine;
	f->s = s;
	f->lids = lid_map_ref(before->lids);
	fabric_start(f);
	engine_output_init(&f->out, lft_new(f->g->n_switches,
					    before->out.lft->top));
	f->in.previous = before->out.lft;
	f->in.ranks = before->out.ranks;
	fabric_choose(f);
}

uint32_t
fabric_edge_to(const struct fabric *f, uint32_t sw, uint32_t lid)
{
	return graph_edge_at(f->g, sw, lft_row(f->out.lft, sw)[lid]);
}

uint64_t
fabric_max_load(const struct fabric *f, double *mean)
{
	struct metrics_load load;

	metrics_all_to_all(f->g, f->out.lft, NULL, &load);
	assert_int_equal(load.lost, 0);
	if (mean)
		*mean = load.mean;
	return (uint64_t)load.worst;
}

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

	for (unsigned wrong = 0; f->g->n_switches && wrong < 2; wrong++) {
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

/* Where no pair is lost each flow is in the load. */
static void
expect_same_load(const struct fabric *f, const struct lft *lft,
		 const struct oracle_verdict *v)
{
	struct metrics_load load;

	metrics_all_to_all(f->g, lft, NULL, &load);
	if (!load.lost)
		assert_true(load.worst == (double)v->max);
}

static void
expect_same_reach(const struct verify_reach *r, const struct oracle_verdict *v)
{
	assert_int_equal(r->arrived, v->arrived);
	assert_int_equal(r->unrouted, v->unrouted);
	assert_int_equal(r->looping, v->looping);
	assert_int_equal(r->astray, v->astray);
	assert_int_equal(r->cut_off, v->cut_off);
	assert_int_equal(r->lost_hosts, v->lost_hosts);
	assert_int_equal(r->lost_mixed, v->lost_mixed);
	assert_int_equal(r->lid, v->lid);
	assert_int_equal(r->sw, v->sw);
}

void
fabric_judge(const struct fabric *f, const struct lft *lft,
	     const struct lft *before, struct oracle_verdict *v,
	     struct verify_result *r)
{
	const struct lft *const tables[2] = { lft, before };
	const struct oracle_case c = {
		.s = f->s, .lids = f->lids, .lft = lft, .before = before,
	};

	verify_result_clear(r);
	verify_tables(f->g, lft, before, NULL, r);
	expect_same_in_order(f, lft, before, r);
	oracle_judge(&c, v);
	expect_same_reach(&r->reach, v);
	assert_int_equal(r->channels.n_channels, v->n_channels);
	assert_int_equal(r->channels.n_dependencies, v->n_turns);
	assert_int_equal(r->channels.n_looped, v->n_looped);
	assert_int_equal(v->n_looped > 0, r->channels.cycle != NULL);
	if (r->channels.cycle)
		assert_cycle_is_real(f, tables, &r->channels);
	assert_int_equal(verify_is_sound(r),
			 !v->looping && !v->astray && !v->n_looped);
	expect_same_load(f, lft, v);
}

void
fabric_expect_sound(const struct fabric *f, const struct lft *lft,
		    struct oracle_verdict *v)
{
	AUTO_VALUE(verify_result_clear) struct verify_result r = { 0 };
	const struct engine *e = f->engine;

	fabric_judge(f, lft, NULL, v, &r);
	if (v->looping || v->astray || v->lost_hosts || v->lost_mixed ||
	    (v->n_looped && (!e || e->deadlock_free)))
		fail_msg("%s on %s, %u per mille of cables lost, seed %d: %d "
			 "pairs of hosts and %d mixed ones lost, %d loop, %d "
			 "go astray, %u channels in credit loops",
			 e ? e->name : "auto", f->spec, f->fail, (int)f->seed,
			 (int)v->lost_hosts, (int)v->lost_mixed,
			 (int)v->looping, (int)v->astray, v->n_looped);
}

uint32_t
lab_find_port(const struct snapshot *s, uint32_t sw, bool to_switch,
	      uint32_t nth)
{
	const struct snapshot_node *node = &s->nodes[s->switches[sw]];
	uint32_t p, peer;

	for (p = node->first_port + 1;
	     p <= node->first_port + node->info.num_ports; p++) {
		peer = s->ports[p].peer;
		if (peer == SNAPSHOT_NONE || to_switch !=
		    snapshot_is_switch(snapshot_node_of(s, peer)))
			continue;
		if (nth-- == 0)
			return p;
	}
	return SNAPSHOT_NONE;
}

void
lab_cut(struct snapshot *s, uint32_t port)
{
	struct snapshot_port *near = &s->ports[port];
	struct snapshot_port *far = &s->ports[near->peer];

	near->peer = far->peer = SNAPSHOT_NONE;
	near->info.state = far->info.state = PORT_STATE_DOWN;
}

uint8_t
lab_port_to(const struct graph *g, uint32_t sw, uint32_t peer)
{
	for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
		if (g->edges[e].peer == peer)
			return g->edges[e].port;
	return LFT_NO_PATH;
}

const struct graph_target *
lab_target(const struct graph *g, uint32_t sw, bool is_host)
{
	for (uint32_t i = g->first_target[sw]; i < g->first_target[sw + 1]; i++)
		if (is_host == (g->targets[i].port > 0))
			return &g->targets[i];
	fail_msg("switch %u has no such target", sw);
	return NULL;
}

void
lab_deliver(const struct graph *g, struct lft *lft)
{
	for (uint32_t i = 0; i < g->n_targets; i++)
		memset(lft_row(lft, g->targets[i].sw) + g->targets[i].lid,
		       g->targets[i].port, g->targets[i].n_lids);
}

void
lab_go_round(const struct graph *g, struct lft *lft)
{
	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		memset(lft_row(lft, sw) + 1,
		       lab_port_to(g, sw, (sw + 1) % g->n_switches), g->top);
}

uint32_t
lab_count_blocks(const struct lft *a, const struct lft *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < (size_t)a->n_switches * a->stride;
	     i += LFT_BLOCK)
		n += memcmp(a->ports + i, b->ports + i, LFT_BLOCK) != 0;
	return n;
}

/* What switches hold after a write: entries above its end stay. */
static struct lft *
write_over(const struct lft *held, const struct lft *lft)
{
	struct lft *now = lft_new(lft->n_switches, MAX(lft->top, held->top));

	for (uint32_t sw = 0; sw < lft->n_switches; sw++) {
		memcpy(lft_row(now, sw), lft_row(held, sw), held->stride);
		memcpy(lft_row(now, sw), lft_row(lft, sw), lft->stride);
	}
	return now;
}

void
lab_judge_update(const struct oracle_case *of, const struct lft *held,
		 const struct choice *c)
{
	struct lft *at = lft_copy(held), *end = write_over(held, c->lft);
	struct lft *next = write_over(held, c->bridge ? c->bridge : c->lft);
	unsigned stage = 0;

	do {
		struct oracle_case step = *of;
		struct oracle_verdict v;

		step.lft = next;
		step.before = at;
		oracle_judge(&step, &v);
		assert_int_equal(v.n_looped, 0);
		step.before = NULL;
		oracle_judge(&step, &v);
		assert_int_equal(v.looping, 0);
		lft_free(at);
		at = next;
		next = lft_copy(at);
	} while (c->bridge && transition_apply(next, c->later, ++stage));
	assert_memory_equal(at->ports, end->ports, lft_size(end));
	lft_free(at);
	lft_free(next);
	lft_free(end);
}

/* An entry that is wrong in one of the ways in which entries are. */
static uint8_t
spoil_entry(const struct graph *g, uint32_t sw, uint64_t *rng)
{
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

void
lab_spoil(const struct graph *g, struct lft *lft, uint32_t n, uint64_t *rng)
{
	uint32_t sw;

	while (n--) {
		sw = prng_below(rng, g->n_switches);
		lft_row(lft, sw)[1 + prng_below(rng, lft->top)] =
			spoil_entry(g, sw, rng);
	}
}
