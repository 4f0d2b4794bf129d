// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The formula.
 *
 * At a switch of level r, for the LID with number t:
 *   down, if the destination is below: to the child above it, through parallel
 *	cable (t / pi[r]) mod p. Several children above it share its LIDs by
 *	a digit of t that did not choose this switch;
 *   up, else: q = (t / pi[r]) mod (w p), with the slots w and the parallel
 *	cables p of the links to level r + 1; slot q mod w, cable q / w;
 * pi[r] is the product of the slots up to level r. On a healthy PGFT this is
 * D-mod-k.
 *
 * Damage. A slot is dead if its cable is gone, or if its switch has lost its
 * path to the destination. The numbers of a dead slot are distributed evenly
 * over the working cables, beginning with one that differs from switch to
 * switch and from destination to destination. So a destination whose plane is
 * gone adds a little to every other plane, seen from all sources (a modulus
 * over the remaining slots would move it to a single one), and the entries of
 * working slots stay as they were. Neighbours begin a golden section apart (D.
 * E. Knuth, The Art of Computer Programming 3, 6.4, theorem S). A LID that
 * reached this switch by another plane than its own goes up by another slot
 * than the LIDs of this plane.
 *
 * Numbers. A host's number follows from the leaf and port to which it is
 * cabled: t = leaf * (usual ports) + place of the port among them; a port is
 * usual if it has a host on more than a quarter of the leaves. Where ports are
 * used irregularly, hosts are counted instead. The LIDs of an LMC range have
 * consecutive numbers. I/O nodes are numbered separately, so that shifts among
 * compute nodes are not disturbed by them. Each island (rail) is numbered
 * separately.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/ftree.h"
#include "routing/work.h"
#include "routing/sets.h"

#define GOLDEN		2654435769u	/* 2^32 times the golden section */

/* ---- numbers ---- */

struct numbering {
	struct ftree *t;
	uint32_t place[GRAPH_PORTS];	/* of a usual port */
	bool by_port;
};

static bool
number_is_io(const struct ftree *t, uint32_t target)
{
	return t->in->is_io && t->in->is_io[target];
}

/* Finds the ports that are usual on leaves, for compute nodes. */
static void
number_judge(struct numbering *s)
{
	const struct graph *g = s->t->g;
	g_autofree uint32_t *counts = g_new0(uint32_t, g->n_switches + 1);
	uint32_t on_port[GRAPH_PORTS] = { 0 }, n_leaves = 0, n_hosts = 0;
	uint32_t i, sw, p, n_usual = 0, n_rare = 0;

	for (sw = 0; sw < g->n_switches; sw++) {
		if (s->t->o->level[sw] > 0)
			continue;
		for (i = g->first_target[sw]; i < g->first_target[sw + 1]; i++)
			if (g->targets[i].is_host && !number_is_io(s->t, i)) {
				on_port[g->targets[i].port]++;
				counts[n_leaves]++;
			}
		n_hosts += counts[n_leaves];
		n_leaves += counts[n_leaves] > 0;
	}
	for (p = 1; p < GRAPH_PORTS; p++)
		n_usual += on_port[p] * 4 > n_leaves;
	for (i = 0, p = 1; p < GRAPH_PORTS; p++)
		s->place[p] = on_port[p] * 4 > n_leaves ? i++ :
			n_usual + n_rare++;
	s->by_port = n_usual && n_hosts * 8 >= n_leaves * n_usual * 5;
	qsort(counts, n_leaves, sizeof(*counts), compare_numbers);
	s->t->usual = MAX(s->by_port ? n_usual : counts[n_leaves / 2], 1);
}

/* Hosts by port, then the others. */
static int
number_compare(const void *a, const void *b)
{
	const struct graph_target *const *x = a, *const *y = b;

	return uint_compare((*y)->is_host, (*x)->is_host) ?:
		uint_compare((*x)->port, (*y)->port);
}

/* Numbers the LIDs of one destination. */
static void
number_switch(struct numbering *s, uint32_t dest, uint32_t *n_io)
{
	struct ftree *t = s->t;
	const struct graph *g = t->g;
	const struct graph_target *sorted[GRAPH_PORTS], *target;
	uint32_t sw = t->o->climb[dest], n = 0, nth = 0, i, k, number;

	for (i = g->first_target[sw]; i < g->first_target[sw + 1]; i++)
		sorted[n++] = &g->targets[i];
	qsort(sorted, n, sizeof(*sorted), number_compare);
	for (i = 0; i < n; i++) {
		target = sorted[i];
		if (!target->is_host)
			number = dest;
		else if (number_is_io(t, (uint32_t)(target - g->targets)))
			number = (*n_io)++;
		else
			number = t->base[dest] +
				(s->by_port && !t->o->level[sw] ?
				 s->place[target->port] : nth++);
		for (k = 0; k < target->n_lids; k++, t->n_entries++) {
			t->lid[t->n_entries] = (uint16_t)(target->lid + k);
			t->exit[t->n_entries] = target->port;
			t->number[t->n_entries] = number + k;
		}
	}
}

void
ftree_number_lids(struct ftree *t)
{
	uint32_t n = t->g->n_switches, i, sw, *next;
	g_autofree uint32_t *used = g_new0(uint32_t, n);
	g_autofree uint32_t *n_io = g_new0(uint32_t, n);
	struct numbering s = { .t = t };

	t->first_entry = SCRATCH(t->scratch, uint32_t, n + 64);
	t->base = SCRATCH(t->scratch, uint32_t, n);
	t->lid = SCRATCH(t->scratch, uint16_t, t->g->top);
	t->exit = SCRATCH(t->scratch, uint8_t, t->g->top);
	t->number = SCRATCH(t->scratch, uint32_t, t->g->top);
	number_judge(&s);
	for (i = 0; i < n; i++) {	/* leaves come first */
		sw = t->o->climb[i];
		next = &used[t->g->island[sw]];
		t->base[i] = *next;
		*next += t->o->level[sw] ? 1 : t->usual;
		t->first_entry[i] = t->n_entries;
		number_switch(&s, i, &n_io[t->g->island[sw]]);
	}
	for (i = n; i < n + 64; i++)	/* the last word of a set */
		t->first_entry[i] = t->n_entries;
}

/* ---- rows ---- */

#define NO_OWNER		255u	/* q of a LID without an owner */

/* The output ports of one switch by q, for some of its parents. */
struct deck {
	uint32_t n_slots, n_live, n_dead;
	uint8_t port[GRAPH_PORTS];	/* by q; LFT_NO_PATH: dead */
	uint8_t live[GRAPH_PORTS];
	uint8_t dead[GRAPH_PORTS];	/* values of q */
};

struct filling {
	struct ftree *t;
	struct lft *out;
	uint8_t **wheel;	/* [level][LID]: q; NO_OWNER */
	uint64_t *quiet;	/* destinations without CAs */
	gint n_dealt;
};

struct row {
	struct filling *f;
	/* The ports by q of the last switch that had all its parents, its level
	 * and row before destinations below it. */
	uint8_t ready_port[GRAPH_PORTS], *ready;
	uint32_t ready_level;
	struct ftree *t;
	uint32_t sw, level;
	uint8_t *ports;
	uint64_t *full, *rest;	/* sets */
	uint32_t n_dealt;
};

/* Sets all LIDs of a destination to one port. */
static void
row_set(struct row *row, uint32_t dest, uint8_t port)
{
	const struct ftree *t = row->t;

	for (uint32_t i = t->first_entry[dest]; i < t->first_entry[dest + 1];
	     i++)
		row->ports[t->lid[i]] = port;
}

static void
row_put(struct row *row, uint32_t dest, const uint8_t *port)
{
	const struct ftree *t = row->t;
	const uint8_t *wheel = row->f->wheel[row->level];
	uint32_t i, end = t->first_entry[dest + 1];

	for (i = t->first_entry[dest]; i < end; i++)
		row->ports[t->lid[i]] = port[wheel[t->lid[i]]];
}

/* Of the parents whose bit is set. */
static void
row_make_deck(const struct row *row, const uint64_t mask[4], struct deck *d)
{
	const struct ftree *t = row->t;
	uint32_t width = t->width[row->level + 1], i, k;
	uint32_t n_cables = t->n_cables[row->level + 1];
	uint32_t first = t->first_up[row->sw], n = t->first_up[row->sw + 1];
	const struct ftree_group *up;

	d->n_slots = width * n_cables;
	d->n_live = d->n_dead = 0;
	memset(d->port, (int)LFT_NO_PATH, sizeof(d->port));
	for (i = first; i < n; i++) {
		up = &t->ups[i];
		for (k = 0; set_has(mask, i - first) && k < up->n_cables;
		     k++) {
			d->live[d->n_live] =
				t->g->edges[up->first_edge + k].port;
			if (k < n_cables)
				d->port[up->slot + k * width] =
					d->live[d->n_live];
			d->n_live++;
		}
	}
	for (i = 0; i < d->n_slots; i++)
		if (d->port[i] == LFT_NO_PATH)
			d->dead[d->n_dead++] = (uint8_t)i;
}

/* Sets one destination; the values of q of dead slots, of which there are some,
 * are distributed over working ones. */
static void
row_deal(struct row *row, const struct deck *d, uint32_t dest)
{
	const struct ftree *t = row->t;
	uint8_t port[GRAPH_PORTS], first[GRAPH_PORTS];
	const uint8_t *wheel, *plane;
	uint32_t i, at, step, lap, lid;

	row->n_dealt += !set_has(row->f->quiet, dest);
	/* a number that is one more for the next destination in the same
	 * slot */
	lap = t->base[dest] / (d->n_slots * t->pi[row->level]);
	at = (uint32_t)(((uint64_t)(t->turn[row->sw] * GOLDEN) * d->n_live >>
			 32) + lap) % d->n_live;
	step = MAX(d->n_live / d->n_dead, 1) % d->n_live;
	memcpy(port, d->port, d->n_slots);
	for (i = 0; i < d->n_dead; i++, at = (at + step) % d->n_live) {
		first[d->dead[i]] = (uint8_t)at;
		port[d->dead[i]] = d->live[at];
	}
	row_put(row, dest, port);
	if (row->level == 0)
		return;
	wheel = row->f->wheel[row->level];
	plane = row->f->wheel[row->level - 1];
	for (i = t->first_entry[dest]; i < t->first_entry[dest + 1]; i++) {
		lid = t->lid[i];
		if (d->port[wheel[lid]] == LFT_NO_PATH)
			row->ports[lid] = d->live[(first[wheel[lid]] +
						   plane[lid]) % d->n_live];
	}
}

/* Sets row->full: the destinations to which every parent is on a shortest
 * path. */
static void
row_find_full(struct row *row)
{
	const struct ftree *t = row->t;
	uint32_t i, k, w, n = t->n_words;
	const uint64_t *set;

	memset(row->full, 0, n * sizeof(*row->full));
	for (k = 1; k < t->n_sets; k++) {
		memcpy(row->rest, ftree_set(t, row->sw, k),
		       n * sizeof(*row->rest));
		for (i = t->first_up[row->sw]; i < t->first_up[row->sw + 1];
		     i++) {
			set = ftree_set(t, t->ups[i].peer, k - 1);
			for (w = 0; w < n; w++)
				row->rest[w] &= set[w];
		}
		set_unite(row->full, row->rest, n);
	}
}

/* Destinations without CAs: the first parent on a shortest path. */
static void
row_go_up_quiet(struct row *row, uint32_t k)
{
	const struct ftree *t = row->t;
	uint32_t first = t->first_up[row->sw], i, w, dest;
	uint32_t n = t->first_up[row->sw + 1] - first;
	const struct ftree_group *up;
	const uint64_t *set;
	uint64_t word;

	for (i = 0; i < n; i++) {
		up = &t->ups[first + (i + t->turn[row->sw]) % n];
		set = ftree_set(t, up->peer, k - 1);
		for (w = 0; w < t->n_words; w++) {
			word = row->rest[w] & set[w] & row->f->quiet[w];
			row->rest[w] &= ~word;
			for_each_bit(word, w * 64, dest)
				row_set(row, dest, t->g->edges[
					up->first_edge].port);
		}
	}
}

/* Destinations to which only some parents have a path of k - 1 hops up: the
 * slots of the others, which no two parents share, are dead. */
static void
row_go_up_some(struct row *row, uint32_t k)
{
	const struct ftree *t = row->t;
	uint32_t first = t->first_up[row->sw], w, dest, i;
	uint64_t word, mask[4], last[4] = { 0 };
	struct deck deck;

	row_make_deck(row, last, &deck);
	for (w = 0; w < t->n_words; w++) {
		word = row->rest[w];
		for_each_bit(word, w * 64, dest) {
			memset(mask, 0, sizeof(mask));
			for (i = first; i < t->first_up[row->sw + 1]; i++)
				if (set_has(ftree_set(t, t->ups[i].peer,
						      k - 1), dest))
					set_add(mask, i - first);
			if (memcmp(mask, last, sizeof(mask))) {
				memcpy(last, mask, sizeof(mask));
				row_make_deck(row, mask, &deck);
			}
			row_deal(row, &deck, dest);
		}
	}
}

static void
row_go_up(struct row *row)
{
	static const uint64_t all[4] = {
		UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	};
	const struct ftree *t = row->t;
	const uint8_t *wheel = row->f->wheel[row->level];
	struct deck deck;
	uint64_t word, any;
	uint32_t k, w, dest, lid;

	row_make_deck(row, all, &deck);
	row_find_full(row);
	if (deck.n_dead == 0) {
		/* switches cabled alike have the same row */
		if (row->ready_level != row->level ||
		    memcmp(row->ready_port, deck.port, GRAPH_PORTS)) {
			for (lid = 0; lid <= t->g->top; lid++)
				row->ready[lid] = deck.port[wheel[lid]];
			memcpy(row->ready_port, deck.port, GRAPH_PORTS);
			row->ready_level = row->level;
		}
		memcpy(row->ports, row->ready, t->g->top + 1u);
		/* not those without a path up and down */
		for (w = 0; w < t->n_words; w++) {
			for (word = UINT64_MAX, k = 0; k < t->n_sets; k++)
				word &= ~ftree_set(t, row->sw, k)[w];
			for_each_bit(word, w * 64, dest)
				row_set(row, dest, LFT_NO_PATH);
		}
	}
	for (w = 0; deck.n_dead && w < t->n_words; w++) {
		word = row->full[w];
		for_each_bit(word, w * 64, dest)
			row_deal(row, &deck, dest);
	}
	for (k = 1; k < t->n_sets; k++) {
		for (any = 0, w = 0; w < t->n_words; w++)
			any |= row->rest[w] = ftree_set(t, row->sw, k)[w] &
				~row->full[w];
		if (!any)
			continue;
		row_go_up_quiet(row, k);
		row_go_up_some(row, k);
	}
}

/* A destination below one or several children: the cables of all of them,
 * the first of each child before the second. */
static void
row_go_down(struct row *row, uint32_t dest)
{
	const struct ftree *t = row->t;
	uint8_t port[GRAPH_PORTS];
	uint32_t i, k, n = 0, n_children = 0, most = 1, pi;
	const struct ftree_group *down;

	for (k = 0; k < most; k++)
		for (i = t->first_down[row->sw];
		     i < t->first_down[row->sw + 1]; i++) {
			down = &t->downs[i];
			if (k >= down->n_cables ||
			    !set_has(ftree_set(t, down->peer, 0), dest))
				continue;
			most = MAX(most, down->n_cables);
			port[n++] = t->g->edges[down->first_edge + k].port;
			n_children += k == 0;
		}
	pi = n_children == 1 ? t->pi[row->level] :
		row->level > 1 ? t->pi[row->level - 2] : 1;
	row->n_dealt += n_children > 1;
	for (i = t->first_entry[dest]; i < t->first_entry[dest + 1]; i++)
		row->ports[t->lid[i]] = port[t->number[i] / pi % n];
}

/* Destinations below one child with one cable, which are nearly all; the
 * others stay in row->rest. */
static void
row_go_down_plain(struct row *row)
{
	const struct ftree *t = row->t;
	uint32_t first = t->first_down[row->sw], i, w, dest;
	uint32_t end = t->first_down[row->sw + 1];
	const uint64_t *set;
	uint64_t word;
	uint8_t port;

	memset(row->full, 0, t->n_words * sizeof(*row->full));
	memset(row->rest, 0, t->n_words * sizeof(*row->rest));
	for (i = first; i < end; i++) {
		set = ftree_set(t, t->downs[i].peer, 0);
		for (w = 0; w < t->n_words; w++) {
			row->rest[w] |= t->downs[i].n_cables > 1 ? set[w] :
				row->full[w] & set[w];
			row->full[w] |= set[w];
		}
	}
	for (i = first; i < end; i++) {
		set = ftree_set(t, t->downs[i].peer, 0);
		port = t->g->edges[t->downs[i].first_edge].port;
		for (w = 0; w < t->n_words; w++) {
			word = set[w] & ~row->rest[w];
			for_each_bit(word, w * 64, dest)
				row_set(row, dest, port);
		}
	}
}

static void
ftree_fill_rows(void *data, uint32_t from, uint32_t to)
{
	struct filling *f = data;
	const struct ftree *t = f->t;
	struct row row = {
		.f = f, .t = f->t, .ready_level = UINT32_MAX,
		.ready = g_new(uint8_t, t->g->top + 1u),
		.full = g_new(uint64_t, t->n_words),
		.rest = g_new(uint64_t, t->n_words),
	};
	uint32_t i, w, sw, dest;
	uint64_t word;

	for (sw = from; sw < to; sw++) {
		row.sw = sw;
		row.level = t->o->level[sw];
		row.ports = lft_row(f->out, sw);
		if (t->first_up[sw] < t->first_up[sw + 1])
			row_go_up(&row);
		row_go_down_plain(&row);
		for (w = 0; w < t->n_words; w++) {
			word = row.rest[w];
			for_each_bit(word, w * 64, dest)
				row_go_down(&row, dest);
		}
		dest = t->o->place[sw];
		for (i = t->first_entry[dest]; i < t->first_entry[dest + 1];
		     i++)
			row.ports[t->lid[i]] = t->exit[i];
	}
	g_atomic_int_add(&f->n_dealt, (gint)row.n_dealt);
	g_free(row.ready);
	g_free(row.full);
	g_free(row.rest);
}

void
ftree_fill(struct ftree *t, struct lft *out)
{
	struct filling f = {
		.t = t, .out = out,
		.wheel = SCRATCH(t->scratch, uint8_t *, t->o->n_levels),
		.quiet = SCRATCH(t->scratch, uint64_t, t->n_words),
	};
	uint32_t r, i, modulus;

	for (r = 0; r + 1 < t->o->n_levels; r++) {
		modulus = t->width[r + 1] * t->n_cables[r + 1];
		f.wheel[r] = SCRATCH(t->scratch, uint8_t, t->g->top);
		memset(f.wheel[r], NO_OWNER, t->g->top + 1u);
		for (i = 0; i < t->n_entries; i++)
			f.wheel[r][t->lid[i]] = (uint8_t)
				(t->number[i] / t->pi[r] % modulus);
	}
	for (i = 0; i < t->g->n_switches; i++)
		if (!t->g->n_hosts[t->o->climb[i]])
			set_add(f.quiet, i);
	work_share(t->in->n_threads, t->g->n_switches, ftree_fill_rows, &f);
	t->n_dealt = (uint32_t)f.n_dealt;
}
