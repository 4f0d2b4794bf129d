// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches: which are leaves, in trees with exceptions; what
 * is kept when the fabric changes; roots that are given.
 */
#include "routing/order.h"
#include "routing/paths.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/unit.h"
#include "tools/net_file_parse.h"

struct ordered {
	struct fabric f;
	struct graph *g;	/* of f */
	struct order *o;
};

/* Takes over `s`. */
static void
ordered_open(struct ordered *d, struct snapshot *s, const uint32_t *ranks)
{
	fabric_open(&d->f, NULL, s, 0);
	d->g = d->f.g;
	d->f.in.ranks = ranks;
	d->o = order_compute(&d->f.in);
}

static void
ordered_close(struct ordered *d)
{
	order_destroy(d->o);
	fabric_clear(&d->f);
}

static uint32_t
count_level(const struct order *o, uint32_t level)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < o->n_switches; sw++)
		n += o->level[sw] == level;
	return n;
}

/*
 *	t2   t1
 *	  \ /  \
 *	   x    |	x would go up to t1, since that is short; but then t2,
 *	   y    |	which may only come down to it, would have no path.
 *	   w    |
 *	    \  /
 *	      d
 */
TEST(test_what_others_come_down_to_goes_on_down)
{
	static const char net[] =
		"switchguid=0x1(1)\nSwitch 2 \"S-1\" # \"d\"\n"
		"[1] \"S-2\"[1]\n[2] \"S-5\"[1]\n\n"
		"switchguid=0x2(2)\nSwitch 2 \"S-2\" # \"w\"\n"
		"[1] \"S-1\"[1]\n[2] \"S-3\"[1]\n\n"
		"switchguid=0x3(3)\nSwitch 2 \"S-3\" # \"y\"\n"
		"[1] \"S-2\"[2]\n[2] \"S-4\"[1]\n\n"
		"switchguid=0x4(4)\nSwitch 3 \"S-4\" # \"x\"\n"
		"[1] \"S-3\"[2]\n[2] \"S-5\"[2]\n[3] \"S-6\"[1]\n\n"
		"switchguid=0x5(5)\nSwitch 2 \"S-5\" # \"t1\"\n"
		"[1] \"S-1\"[2]\n[2] \"S-4\"[2]\n\n"
		"switchguid=0x6(6)\nSwitch 1 \"S-6\" # \"t2\"\n"
		"[1] \"S-4\"[3]\n";
	static const uint32_t place[] = { 0, 1, 2, 3, 4, 5 };
	static const uint32_t hops[] = { 0, 1, 2, 3, 1, 4 };
	g_autoptr(GPtrArray) scratch = scratch_new();
	AUTO_VALUE(fabric_clear) struct fabric f;
	struct paths p;

	fabric_open(&f, NULL, net_file_parse(net, "net", NULL), 0);
	paths_init(&p, f.g, place, scratch);
	paths_find(&p, 0);
	assert_int_equal(p.n_reached, G_N_ELEMENTS(hops));
	for (uint32_t sw = 0; sw < G_N_ELEMENTS(hops); sw++)
		assert_int_equal(p.way[sw] / 2, hops[sw]);
}

TEST(test_exceptions_do_not_move_the_levels)
{
	static const struct {
		const char *name;
		uint32_t n[4];	/* switches by level */
	} wanted[] = {
		{ "service", { 16, 8 } },
		{ "storage", { 16, 6 } },
		{ "host-spine", { 12, 6 } },
		{ "leaf-peers", { 16, 8 } },
		{ "spine-peers", { 16, 8 } },
		{ "leaf-below", { 17, 8 } },
		{ "two-trees", { 16, 8 } },
		{ "full-core-4", { 16, 16, 8 } },
		{ "uneven-cables", { 12, 6 } },
		{ "growth", { 24, 24, 16 } },
		/* a leaf whose hosts are off stays a leaf, whole pods too; the
		 * pairs of leaves that have some decide whether a top switch
		 * joins anything */
		{ "hosts-off", { 48, 48, 36 } },
		{ "hosts-off-pod", { 48, 48, 36 } },
		{ "hosts-off-most", { 36, 18, 9 } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
		for (uint64_t seed = 1; seed <= 6; seed++) {
			AUTO_VALUE(ordered_close) struct ordered d;

			ordered_open(&d, lab_generate(wanted[i].name, seed, 0),
				     NULL);
			for (uint32_t r = 0; r < 4; r++)
				if (count_level(d.o, r) != wanted[i].n[r])
					fail_msg("%s, seed %d: %u switches "
						 "on level %u",
						 wanted[i].name, (int)seed,
						 count_level(d.o, r), r);
			for (uint32_t p = 0; p < d.g->n_switches; p++) {
				assert_int_equal(d.o->place[d.o->climb[p]], p);
				assert_true(!p ||
					    d.o->level[d.o->climb[p]] >=
					    d.o->level[d.o->climb[p - 1]]);
			}
		}
}

TEST(test_ranks_lead_up_and_are_read_back)
{
	AUTO_VALUE(ordered_close) struct ordered d;
	struct order *again;
	uint32_t *ranks, e, sw;

	ordered_open(&d, lab_generate("torus(4,4;2)", 2, 0), NULL);
	ranks = order_ranks(d.o);
	for (sw = 0; sw < d.g->n_switches; sw++)
		for (e = d.g->first_edge[sw]; e < d.g->first_edge[sw + 1]; e++)
			assert_true(order_is_up(d.o, sw, d.g->edges[e].peer) ==
				    (ranks[d.g->edges[e].peer] < ranks[sw]));
	again = order_from_ranks(d.g, ranks);
	assert_memory_equal(again->place, d.o->place,
			    d.g->n_switches * sizeof(*again->place));
	order_destroy(again);
	g_free(ranks);
}

/* An order that serves as well as another stays in force; one that serves
 * badly does not. */
TEST(test_order_in_force_is_kept_if_it_serves)
{
	uint32_t n_kept = 0;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		AUTO_VALUE(ordered_close) struct ordered d;
		g_autofree uint32_t *ranks = NULL;

		ordered_open(&d, lab_generate("random(40,8,2)", seed, 0), NULL);
		ranks = order_ranks(d.o);
		for (unsigned how = 0; how < 3; how++) {
			AUTO_VALUE(ordered_close) struct ordered next;
			bool same;

			/* its own with a cable less; a line; none */
			for (uint32_t sw = 0; how && sw < d.g->n_switches; sw++)
				ranks[sw] = how == 1 ? (255 - sw) << 16 | sw :
					ENGINE_NO_RANK;
			ordered_open(&next, lab_generate("random(40,8,2)", seed,
							 how ? 0 : 10), ranks);
			same = !memcmp(next.o->level, d.o->level,
				       d.g->n_switches);
			assert_true(same || how == 0);
			n_kept += same && how == 0;
		}
	}
	assert_true(n_kept >= 5);
}

TEST(test_roots_that_are_given_are_on_top)
{
	AUTO_VALUE(ordered_close) struct ordered d;
	g_autofree uint8_t *roots = NULL;
	struct order *o;

	ordered_open(&d, lab_generate("storage", 4, 0), NULL);
	roots = g_new0(uint8_t, d.g->n_switches);
	for (uint32_t sw = 0; sw < d.g->n_switches; sw++)
		roots[sw] = d.o->level[sw] == 1 && d.g->n_hosts[sw];
	o = order_compute(&(const struct engine_input){ .g = d.g,
						    .is_root = roots });
	for (uint32_t sw = 0; sw < d.g->n_switches; sw++)
		assert_true(!roots[sw] || o->level[sw] == o->n_levels - 1u);
	order_destroy(o);
}
