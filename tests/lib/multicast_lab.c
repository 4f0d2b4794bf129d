// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics, groups and a walker for the tests of multicast trees; see the
 * header.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/order.h"
#include "tests/lib/unit.h"
#include "tests/lib/multicast_lab.h"
#include "topology/generate.h"
#include "topology/prng.h"

void
lab_index(struct fabric *f)
{
	struct order *o;

	f->lids = lid_assign(f->s, 0, NULL, 0, NULL, NULL);
	f->g = graph_new(f->s, f->lids);
	o = order_compute(&(const struct engine_input){ .g = f->g });
	f->ranks = order_ranks(o);
	order_destroy(o);
}

void
lab_init(struct fabric *f, const char *spec, unsigned fail, uint64_t seed)
{
	struct generate_options options = {
		.seed = seed,
		.shuffle_guids = true,
		.fail_per_mille = fail,
	};

	f->s = generate_fabric(spec, &options, NULL);
	assert_non_null(f->s);
	lab_index(f);
}

void
lab_clear(struct fabric *f)
{
	g_free(f->ranks);
	graph_free(f->g);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
}

void
plan_add_port(struct group_plan *p, uint32_t group, uint32_t sw, uint8_t port,
	   bool receives)
{
	struct multicast_group *gr = &p->groups[group];

	assert_true(gr->n_members < MAX_MEMBERS);
	p->members[group][gr->n_members++] = (struct multicast_member){
		.sw = sw, .port = port, .receives = receives,
	};
}

void
plan_add(struct group_plan *p, uint32_t group, const struct fabric *f,
	   uint32_t target, bool receives)
{
	plan_add_port(p, group, f->g->targets[target].sw,
		   f->g->targets[target].port, receives);
}

void
plan_init(struct group_plan *p, uint32_t n)
{
	memset(p, 0, sizeof(*p));
	p->n = n;
	for (uint32_t i = 0; i < n; i++) {
		p->groups[i].mlid = (uint16_t)(MLID + i);
		p->groups[i].members = p->members[i];
	}
}

bool
plan_has(const struct group_plan *p, uint32_t group, uint32_t sw, uint8_t port)
{
	for (uint32_t i = 0; i < p->groups[group].n_members; i++)
		if (p->members[group][i].sw == sw &&
		    p->members[group][i].port == port)
			return true;
	return false;
}

void
plan_fill(struct group_plan *p, const struct fabric *f, uint32_t n,
	  uint64_t *prng)
{
	plan_init(p, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = prng_below(prng, 20);

		while (size--) {
			uint32_t t = prng_below(prng, f->g->n_targets);

			if (!plan_has(p, i, f->g->targets[t].sw,
				      f->g->targets[t].port))
				plan_add(p, i, f, t, prng_below(prng, 5));
		}
	}
}

struct multicast_output
plan_route(const struct fabric *f, const struct group_plan *p,
	   const struct mft *previous)
{
	struct multicast_input in = {
		.g = f->g,
		.ranks = f->ranks,
		.groups = p->groups,
		.n_groups = p->n,
		.previous = previous,
	};
	struct multicast_output out;

	multicast_route(&in, &out);
	return out;
}

bool
is_lost(const struct multicast_output *out, uint16_t mlid,
	const struct multicast_member *m)
{
	for (guint i = 0; i < out->lost->len; i++) {
		const struct multicast_lost *l =
			&g_array_index(out->lost, struct multicast_lost, i);

		if (l->mlid == mlid && l->sw == m->sw && l->port == m->port)
			return true;
	}
	return false;
}

/* --- the walker --- */

struct step {
	uint32_t sw;
	uint8_t in_port;
};

struct walk {
	const struct fabric *f;
	const struct mft *mft;
	uint16_t mlid;
	GArray *steps;
	uint8_t *got;		/* [switch][port] copies of one packet */
	uint8_t *used;		/* [switch][port] by any packet of the group */
};

static void
walk_switch(struct walk *w, struct step at)
{
	const struct graph *g = w->f->g;
	unsigned n_out = 0;

	for (unsigned port = 0; port < 16 * w->mft->n_positions; port++) {
		uint32_t edge;
		struct step next;

		if (!mft_has(w->mft, at.sw, w->mlid, port) ||
		    port == at.in_port)
			continue;
		n_out++;
		w->used[at.sw * GRAPH_PORTS + port] = 1;
		edge = w->f->g->edge_of[(size_t)at.sw * GRAPH_PORTS + port];
		if (edge == SNAPSHOT_NONE) {
			w->got[at.sw * GRAPH_PORTS + port]++;
			continue;
		}
		next.sw = g->edges[edge].peer;
		next.in_port = g->edges[g->edges[edge].back].port;
		g_array_append_val(w->steps, next);
		assert_true(w->steps->len <= g->n_switches);	/* a loop */
	}
	/* Nothing came in without a receiver. */
	if (w->steps->len > 1 && at.sw != g_array_index(w->steps, struct step,
							 0).sw)
		assert_int_not_equal(n_out, 0);
}

static void
walk_from(struct walk *w, const struct multicast_member *from)
{
	struct step start = { .sw = from->sw, .in_port = from->port };

	memset(w->got, 0, (size_t)w->f->g->n_switches * GRAPH_PORTS);
	g_array_set_size(w->steps, 0);
	g_array_append_val(w->steps, start);
	for (guint i = 0; i < w->steps->len; i++)
		walk_switch(w, g_array_index(w->steps, struct step, i));
}

/* A cable in a mask is there for some packet. */
static void
check_used(const struct walk *w)
{
	for (uint32_t sw = 0; sw < w->f->g->n_switches; sw++)
		for (unsigned port = 0; port < 16 * w->mft->n_positions;
		     port++) {
			uint32_t i = sw * GRAPH_PORTS + port;

			if (w->f->g->edge_of[i] != SNAPSHOT_NONE)
				assert_int_equal(mft_has(w->mft, sw, w->mlid,
							 port), w->used[i]);
		}
}

static void
check_group(struct walk *w, const struct group_plan *p, uint32_t group,
	    const struct multicast_output *out)
{
	const struct multicast_group *gr = &p->groups[group];

	w->mlid = gr->mlid;
	memset(w->used, 0, (size_t)w->f->g->n_switches * GRAPH_PORTS);
	for (uint32_t i = 0; i < gr->n_members; i++) {
		const struct multicast_member *from = &gr->members[i];
		uint32_t copies = 0;

		if (is_lost(out, gr->mlid, from))
			continue;
		walk_from(w, from);
		for (uint32_t k = 0; k < gr->n_members; k++) {
			const struct multicast_member *to = &gr->members[k];
			bool wanted = to->receives && k != i &&
				!is_lost(out, gr->mlid, to);

			assert_int_equal(w->got[to->sw * GRAPH_PORTS +
						to->port], wanted);
			copies += wanted;
		}
		for (uint32_t k = 0; k < w->f->g->n_switches * GRAPH_PORTS; k++)
			copies -= w->got[k];
		assert_int_equal(copies, 0);	/* no other port got one */
	}
	check_used(w);
}

void
check_plan(const struct fabric *f, const struct group_plan *p,
	   const struct multicast_output *out)
{
	struct walk w = { .f = f, .mft = out->mft };

	w.steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	w.got = g_new(uint8_t, (size_t)f->g->n_switches * GRAPH_PORTS);
	w.used = g_new(uint8_t, (size_t)f->g->n_switches * GRAPH_PORTS);
	for (uint32_t i = 0; i < p->n; i++)
		check_group(&w, p, i, out);
	g_array_unref(w.steps);
	g_free(w.used);
	g_free(w.got);
}

uint32_t
lost_switches(const struct multicast_output *out, uint16_t mlid)
{
	uint32_t last = SNAPSHOT_NONE;
	uint32_t n = 0;

	for (guint i = 0; i < out->lost->len; i++) {
		const struct multicast_lost *l =
			&g_array_index(out->lost, struct multicast_lost, i);

		if (l->mlid != mlid || l->sw == last)
			continue;
		last = l->sw;
		n++;
	}
	return n;
}

/* How many of a group's switches no cables join to the largest part of it. */
static uint32_t
count_cut_off(const struct fabric *f, const struct multicast_group *gr)
{
	const uint32_t *island = f->g->island;
	g_autofree uint32_t *size = g_new0(uint32_t, f->g->n_switches);
	g_autofree uint8_t *done = g_new0(uint8_t, f->g->n_switches);
	uint32_t most = 0, n = 0, sw;

	for (uint32_t i = 0; i < gr->n_members; i++) {
		sw = gr->members[i].sw;
		if (done[sw])
			continue;
		done[sw] = 1;
		n++;
		size[island[sw]]++;
		most = MAX(most, size[island[sw]]);
	}
	return n - most;
}

void
check_lost(const struct fabric *f, const struct group_plan *p,
	   const struct multicast_output *out)
{
	for (uint32_t i = 0; i < p->n; i++)
		assert_int_equal(lost_switches(out, p->groups[i].mlid),
				 count_cut_off(f, &p->groups[i]));
}

void
assert_same_masks(const struct mft *a, const struct mft *b)
{
	assert_int_equal(a->n_blocks, b->n_blocks);
	assert_memory_equal(a->masks, b->masks, (size_t)a->n_switches *
			    a->n_positions * a->n_blocks * MFT_BLOCK * 2);
}

bool
same_group(const struct mft *a, const struct mft *b, uint32_t group)
{
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (unsigned port = 0; port < 16 * a->n_positions; port++)
			if (mft_has(a, sw, (uint16_t)(MLID + group), port) !=
			    mft_has(b, sw, (uint16_t)(MLID + group), port))
				return false;
	return true;
}

bool
is_part(const struct mft *a, const struct mft *b, uint32_t group)
{
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (unsigned port = 0; port < 16 * a->n_positions; port++)
			if (mft_has(a, sw, (uint16_t)(MLID + group), port) &&
			    !mft_has(b, sw, (uint16_t)(MLID + group), port))
				return false;
	return true;
}
