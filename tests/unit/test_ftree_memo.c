// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fat trees with a memory: what it knows from the last run must never show in
 * the tables, whatever happened in between.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/ftree_fabric.h"
#include "topology/prng.h"

/* A fabric over time, and the engine's memory of it. */
struct story {
	struct subnet *whole;	/* nothing is missing */
	struct subnet *now;
	struct engine_memo *memo;
	struct lft *last;	/* what the last run gave */
	uint8_t *copy;		/* its bytes then, by our own hands */
	uint32_t *ranks;
	struct lft *held;	/* tables that somebody still reads */
	uint8_t *held_copy;
	uint64_t rng;
	uint32_t n_runs, n_amended;
};

static void
story_open(struct story *st, const char *spec, uint64_t seed, unsigned damage)
{
	memset(st, 0, sizeof(*st));
	st->whole = generate(spec, seed, damage);
	st->now = subnet_copy(st->whole);
	st->memo = engine_ftree.memo_new();
	st->rng = seed * 1000003 + damage;
}

static size_t
lft_size(const struct lft *lft)
{
	return (size_t)lft->n_switches * lft->stride;
}

/* What was handed out stays as it was. */
static void
story_let_go(struct story *st)
{
	if (st->held)
		assert_memory_equal(st->held->ports, st->held_copy,
				    lft_size(st->held));
	g_clear_pointer(&st->held, lft_free);
	g_clear_pointer(&st->held_copy, g_free);
}

static void
story_close(struct story *st)
{
	story_let_go(st);
	engine_ftree.memo_free(st->memo);
	lft_free(st->last);
	g_free(st->copy);
	g_free(st->ranks);
	subnet_unref(st->whole);
	subnet_unref(st->now);
}

static void
assert_same_notes(const GPtrArray *a, const GPtrArray *b)
{
	assert_int_equal(a->len, b->len);
	for (guint i = 0; i < a->len; i++)
		assert_string_equal(a->pdata[i], b->pdata[i]);
}

/* The blocks that are said to have changed are those that have. */
static void
assert_told_changes(const struct story *st, const struct engine_output *out)
{
	uint32_t at = 0, i;

	if (!out->since) {
		assert_null(out->changed);
		return;
	}
	assert_ptr_equal(out->since, st->last);
	assert_memory_equal(out->since->ports, st->copy, lft_size(st->last));
	for (i = 0; i < lft_size(out->lft) / LFT_BLOCK; i++) {
		if (!memcmp(out->lft->ports + i * LFT_BLOCK,
			    st->copy + i * LFT_BLOCK, LFT_BLOCK))
			continue;
		assert_true(at < out->changed->len);
		assert_int_equal(g_array_index(out->changed, uint32_t, at++),
				 i);
	}
	assert_int_equal(at, out->changed->len);
}

/* A fabric that is refused is refused both times, for the same reason. */
static bool
route_both(struct fabric *plain, struct fabric *f)
{
	g_autoptr(GError) a = NULL, b = NULL;
	bool ok = ftree_route(&plain->in, &plain->out, &plain->report, &a);

	assert_int_equal(ftree_route(&f->in, &f->out, &f->report, &b), ok);
	if (!ok)
		assert_string_equal(a->message, b->message);
	return ok;
}

static void
assert_same_runs(const struct fabric *plain, const struct fabric *f)
{
	assert_same_tables(plain->out.lft, f->out.lft);
	assert_same_notes(plain->out.notes, f->out.notes);
	assert_memory_equal(plain->out.ranks, f->out.ranks,
			    f->g->n_switches * sizeof(*f->out.ranks));
	assert_true(plain->out.fit == f->out.fit);
	assert_int_equal(plain->report->n_lost, f->report->n_lost);
	assert_int_equal(plain->report->n_detours, f->report->n_detours);
	assert_int_equal(plain->report->kept, f->report->kept);
}

/* What the next run will be handed. */
static void
story_keep(struct story *st, struct fabric *f)
{
	lft_free(st->last);
	st->last = lft_ref(f->out.lft);
	g_free(st->copy);
	st->copy = g_memdup2(st->last->ports, lft_size(st->last));
	g_free(st->ranks);
	st->ranks = g_steal_pointer(&f->out.ranks);
	if (prng_below(&st->rng, 4) == 0) {
		story_let_go(st);
		st->held = lft_ref(st->last);
		st->held_copy = g_memdup2(st->copy, lft_size(st->last));
	}
	st->n_runs++;
	st->n_amended += f->report->amended;
}

/* Routes the fabric of now with and without memory. */
static bool
story_run(struct story *st, bool with_past)
{
	struct fabric plain, f;
	bool amended;

	fabric_open(&plain, subnet_ref(st->now));
	fabric_open(&f, subnet_ref(st->now));
	if (with_past) {
		plain.in.previous = f.in.previous = st->last;
		plain.in.ranks = f.in.ranks = st->ranks;
	}
	lft_free(f.out.lft);
	f.out.lft = NULL;
	f.in.memo = st->memo;
	if (route_both(&plain, &f)) {
		assert_same_runs(&plain, &f);
		assert_told_changes(st, &f.out);
		story_keep(st, &f);
	}
	amended = f.report->amended;
	fabric_clear(&f);
	fabric_clear(&plain);
	return amended;
}

static struct subnet *
story_edit(struct story *st)
{
	struct subnet *s = subnet_copy(st->now);

	subnet_unref(st->now);
	st->now = s;
	return s;
}

/* May the two be cabled? `near`: only if they are next to each other in rank,
 * as the last run saw it. */
static bool
story_fits(const struct story *st, const struct subnet *s, uint32_t a,
	   uint32_t b, bool near)
{
	const struct subnet_node *x = subnet_node_of(s, a);
	const struct subnet_node *y = subnet_node_of(s, b);

	if (x == y)
		return false;
	return !near || !st->ranks || ABS((int)st->ranks[x->sw_index] -
					  (int)st->ranks[y->sw_index]) == 1;
}

/* A cable between two ports of switches that have none. */
static void
story_miscable(struct story *st, struct subnet *s, bool near)
{
	uint32_t end = SUBNET_NONE, tries, port;

	for (tries = 0; tries < 2000; tries++) {
		port = prng_below(&st->rng, s->n_ports);
		if (s->ports[port].peer != SUBNET_NONE ||
		    s->ports[port].num == 0 ||
		    !subnet_is_switch(subnet_node_of(s, port)))
			continue;
		if (end != SUBNET_NONE &&
		    story_fits(st, s, end, port, near)) {
			plug(s, end, port);
			return;
		}
		if (end == SUBNET_NONE || tries % 8 == 0)
			end = port;
	}
}

/* Half of the cables between switches go elsewhere, from rank to rank: a tree,
 * but not one that branches only downwards. */
static void
story_mix(struct story *st)
{
	struct subnet *s = story_edit(st);
	uint32_t port, peer, n = 0;

	for (port = 0; port < s->n_ports; port++) {
		peer = s->ports[port].peer;
		if (peer == SUBNET_NONE || prng_below(&st->rng, 4) > 0 ||
		    !subnet_is_switch(subnet_node_of(s, port)) ||
		    !subnet_is_switch(subnet_node_of(s, peer)))
			continue;
		cut(s, port);
		n++;
	}
	for (; n > 0; n--)
		story_miscable(st, s, true);
	subnet_unref(st->whole);
	st->whole = subnet_copy(s);
}

static void
story_move_cable(struct story *st, struct subnet *s)
{
	uint32_t port, peer;

	do {
		port = prng_below(&st->rng, s->n_ports);
		peer = st->whole->ports[port].peer;
	} while (peer == SUBNET_NONE);
	if (s->ports[port].peer != SUBNET_NONE)
		cut(s, port);
	else if (s->ports[peer].peer == SUBNET_NONE)
		plug(s, port, peer);
}

/* Random cables come out, of switches or hosts; or go in again, where they
 * were or elsewhere; or a switch loses all of them, or its hosts; or all is
 * mended. */
static void
story_go_on(struct story *st)
{
	struct subnet *s = story_edit(st);
	uint32_t kind = prng_below(&st->rng, 20), n, sw, port;

	sw = prng_below(&st->rng, s->n_switches);
	switch (kind) {
	case 0:
		drop_switch(s, sw);
		return;
	case 1:
		subnet_unref(st->now);
		st->now = subnet_copy(st->whole);
		return;
	case 2:
		while ((port = find_port(s, sw, false, 0)) != SUBNET_NONE)
			cut(s, port);
		return;
	case 3:
	case 4:
		story_miscable(st, s, kind == 4);
		return;
	}
	for (n = kind < 15 ? 1 : prng_below(&st->rng, 6); n > 0; n--)
		story_move_cable(st, s);
}

static void
test_memory_never_shows_in_the_tables(void **state)
{
	const char *specs[] = {
		"PGFT(6,12;1,6)", "PGFT(4,4,8;1,4,4)", "PGFT(4,4,8;1,2,2)",
		"PGFT(6,8;1,3;1,2)", "PGFT(4,4,6;1,4,2;1,1,2)",
		"PGFT(3,3,3,4;1,3,3,3)", "PGFT(4,4;2,2)", "PGFT(8,8;1,4)",
		"PGFT(2,2,2,2,4;1,2,2,2,2)", "PGFT(6,6,12;1,6,6)",
		"PGFT(4,8;1,2;1,3)", "PGFT(3,2;1,2;1,2)", "PGFT(2,2,2;1,2,2)",
		"PGFT(2,6;1,4)",
	};
	const unsigned damage[] = { 0, 20, 100, 300 };
	uint32_t n_runs = 0, n_amended = 0;
	const char *rounds = g_getenv("MINISM_TEST_ROUNDS");
	uint64_t seed = 1, end = rounds ? strtoul(rounds, NULL, 0) + 1 : 3;

	for (; seed < end; seed++)
		for (size_t i = 0; i < N_ELEMENTS(specs); i++)
			for (size_t j = 0; j < 2 * N_ELEMENTS(damage); j++) {
				struct story st;

				story_open(&st, specs[i], seed, damage[j / 2]);
				story_run(&st, false);
				if (j % 2)
					story_mix(&st);
				for (unsigned k = 0; k < 25; k++) {
					story_run(&st, k % 3 != 0);
					story_go_on(&st);
				}
				n_runs += st.n_runs;
				n_amended += st.n_amended;
				story_close(&st);
			}
	print_message("seeds 1 to %lu: %u of %u runs amended\n",
		      (unsigned long)end - 1, n_amended, n_runs);
	assert_true(n_amended * 6 > n_runs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_never_shows_in_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
