/*
 * Who has no way for data to whom.
 *
 * Data is what starts at a CA or ends at one: a pair of switches counts if one
 * of them has CAs. Sets are asked a word at a time, so that a fabric in which
 * nobody is missing costs a look at each word and no more.
 */
#include "routing/ftree_census.h"

uint64_t
census_reach_tree(const struct census *c, uint32_t sw, uint32_t w)
{
	return tree_reach(c->t, sw, w);
}

uint64_t
census_reach_all(const struct census *c, uint32_t sw, uint32_t w)
{
	return detour_set(c->detour, sw)[w];
}

/* What `sw` does not reach, of word w; if it has no CAs, only leaves count. */
static uint64_t
census_missing(const struct census *c, uint32_t sw, uint32_t w)
{
	const struct tree *t = c->t;
	uint32_t end = t->g->n_hosts[sw] ? t->g->n_switches : t->n_leaves;
	uint64_t reach;

	if (w * 64 >= end)
		return 0;
	reach = c->reach(c, sw, w);
	if (w == end / 64)
		reach |= ~((UINT64_C(1) << end % 64) - 1);
	return ~reach;
}

void
census_each(struct census *c,
	    void (*what)(struct census *c, uint32_t sw, uint32_t dest))
{
	const struct tree *t = c->t;
	const uint32_t *n_hosts = t->g->n_hosts;
	uint32_t sw, w, dest, to;
	uint64_t word;

	c->n_missing = 0;
	for (sw = 0; sw < t->g->n_switches; sw++)
		for (w = 0; w < t->n_words; w++)
			for (word = census_missing(c, sw, w); word;
			     word &= word - 1) {
				dest = w * 64 +
					(uint32_t)__builtin_ctzll(word);
				to = t->switch_of[dest];
				if (t->island[sw] != t->island[to] ||
				    (n_hosts[sw] == 0 && n_hosts[to] == 0))
					continue;
				c->n_missing++;
				what(c, sw, dest);
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
