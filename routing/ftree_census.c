// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who has no way for data to whom.
 *
 * Data is what starts at a CA or ends at one: a pair of switches counts if one
 * of them has CAs. Sets are asked a word at a time, so that a fabric in which
 * nobody is missing costs a look at each word and no more.
 */
#include "routing/ftree_census.h"

#include <string.h>

void
census_init(struct census *c, const struct tree *t,
	    struct ftree_report *report)
{
	*c = (struct census){
		.t = t,
		.report = report,
		.reach = census_reach_tree,
		.scratch = g_new(uint64_t, t->n_words),
		.cut_off = g_new0(uint8_t, t->g->n_switches),
	};
}

void
census_clear(struct census *c)
{
	g_free(c->scratch);
	g_free(c->cut_off);
}

const uint64_t *
census_reach_tree(const struct census *c, uint32_t sw)
{
	const struct tree *t = c->t;
	uint32_t k;

	memcpy(c->scratch, tree_set(t, sw, 0),
	       t->n_words * sizeof(*c->scratch));
	for (k = 1; k < t->n_sets; k++)
		set_unite(c->scratch, tree_set(t, sw, k), t->n_words);
	return c->scratch;
}

const uint64_t *
census_reach_all(const struct census *c, uint32_t sw)
{
	return detour_set(c->detour, sw);
}

/* What is missing of word w. */
static void
census_each_of(struct census *c, uint32_t sw, uint32_t w, uint64_t word,
	       void (*what)(struct census *c, uint32_t sw, uint32_t dest))
{
	const struct tree *t = c->t;
	const uint32_t *n_hosts = t->g->n_hosts;
	uint32_t dest, to;

	for (; word; word &= word - 1) {
		dest = w * 64 + (uint32_t)__builtin_ctzll(word);
		to = t->switch_of[dest];
		if (t->island[sw] != t->island[to] ||
		    (n_hosts[sw] == 0 && n_hosts[to] == 0))
			continue;
		c->n_missing++;
		what(c, sw, dest);
	}
}

/* If a switch has no CAs, only leaves count. */
void
census_each(struct census *c,
	    void (*what)(struct census *c, uint32_t sw, uint32_t dest))
{
	const struct tree *t = c->t;
	uint32_t n = t->g->n_switches, sw, w, end;
	const uint64_t *reach;
	uint64_t tail;

	c->n_missing = 0;
	for (sw = 0; sw < n; sw++) {
		end = t->g->n_hosts[sw] ? n : t->n_leaves;
		reach = c->reach(c, sw);
		for (w = 0; w < end / 64; w++)
			if (~reach[w])
				census_each_of(c, sw, w, ~reach[w], what);
		tail = end % 64 ? (UINT64_C(1) << end % 64) - 1 : 0;
		if (tail && ~reach[w] & tail)
			census_each_of(c, sw, w, ~reach[w] & tail, what);
	}
}

void
census_mark(struct census *c, uint32_t sw, uint32_t dest)
{
	const struct tree *t = c->t;

	if (t->g->n_hosts[sw] > 0 && t->g->n_hosts[t->switch_of[dest]] > 0)
		c->cut_off[dest] = 1;
}

void
census_lose(struct census *c, uint32_t sw, uint32_t dest)
{
	const uint32_t *n_hosts = c->t->g->n_hosts;
	const struct ftree_pair pair = { sw, c->t->switch_of[dest] };
	uint64_t n = (uint64_t)n_hosts[sw] * n_hosts[pair.to];
	GArray *list = n ? c->report->lost : c->report->mute;

	c->report->n_mute += n_hosts[sw] + n_hosts[pair.to];
	c->report->n_lost += n;
	if (list->len < FTREE_MAX_LISTED)
		g_array_append_val(list, pair);
}
