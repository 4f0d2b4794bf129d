// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Min-hop on top of tables that are there.
 *
 * Purpose. On hardware an entry that changes costs more than the computing of
 * a thousand. So first all entries that still lead closer are taken over, and
 * their load; then each LID that has switches with nothing to keep is taken
 * out, and they decide with the load of all others in sight.
 *
 * Flow. keep_all: keep_lid() for all LIDs; keep_mend() for those that are
 * open. A cable that nobody used is one that came back (keep_find_idle): then
 * all LIDs are looked at, and go there where it pays, twice.
 *
 * Structs. A choice is a branch's here and not a class's: what is held may be
 * anything. Loads are those of the tally, by hop and cable.
 */
#include "routing/minhop_keep.h"

#include <string.h>

#define NO_HOP	FOLD_NO_HOP

struct keep {
	struct tally *t;
	uint8_t *held;		/* [group][column] -> position or NO_HOP */
	uint8_t *is_open;	/* by LID: somebody has nothing to keep */
	uint8_t *is_idle;	/* by hop: no cable of it was used */
	uint8_t *is_lured;	/* by slot: on its way there is such a hop */
	uint64_t *path;		/* slot -> load on its way to the LID */
	uint32_t *flow;		/* slot -> flows that pass, this LID */
	uint32_t n_idle;
	uint32_t column;	/* of the LID at hand */
	unsigned round;		/* of those that mend */
	const struct lft *previous;
};

static void
keep_init(struct keep *k, struct tally *t, const struct lft *previous)
{
	const struct fold *fold = t->fold;

	*k = (struct keep){ .t = t, .previous = previous };
	k->held = g_malloc((size_t)fold->n_groups * t->n_columns);
	k->is_open = g_new0(uint8_t, t->g->top + 1u);
	k->is_idle = g_new0(uint8_t, fold->n_hops);
	k->is_lured = g_new0(uint8_t, fold->n_slots);
	k->path = g_new0(uint64_t, fold->n_slots);
	k->flow = g_new0(uint32_t, fold->n_slots);
}

static void
keep_clear(struct keep *k)
{
	g_free(k->held);
	g_free(k->is_open);
	g_free(k->is_idle);
	g_free(k->is_lured);
	g_free(k->path);
	g_free(k->flow);
}

/* Each branch gets what it holds if that leads closer, else NO_HOP. Returns
 * how many switches have nothing to keep. */
static uint32_t
keep_recall(struct keep *k)
{
	const struct aim *aim = k->t->aim;
	const uint8_t *held = k->held + k->column;
	const struct hop_class *class = aim->classes;
	struct branch *branch, *end;
	uint32_t n_open = 0;

	for (; class < aim->classes + aim->n_classes; class++) {
		branch = &aim->branches[class->first_branch];
		for (end = branch + class->n_branches; branch < end;
		     branch++) {
			branch->hop = held[(size_t)branch->group *
					   k->t->n_columns];
			if (memchr(&aim->options[branch->first_option],
				   branch->hop, class->n_candidates))
				continue;
			branch->hop = NO_HOP;
			n_open += branch->n_slots;
		}
	}
	return n_open;
}

/* Puts what starts at or passes through a branch on the cables it chose, each
 * flow as `unit`. Leaves flow[] as it was: what starts there. Returns the sum
 * of flows. */
static uint32_t
keep_load_branch(struct keep *k, const struct branch *branch, uint64_t unit)
{
	struct tally *t = k->t;
	uint32_t n = branch->n_slots, i, sum = 0;
	uint32_t *flow = &k->flow[branch->first_slot];
	const uint32_t *weight = &t->weight[branch->first_slot];
	uint64_t *load = &t->load[branch->first_cable + branch->hop * n];

	for (i = 0; i < n; i++) {
		if (flow[i] == 0)	/* most, in a tree */
			continue;
		load[i] += flow[i] * unit;
		sum += flow[i];
		flow[i] = weight[i];
	}
	return sum;
}

/* Each flow counts as `unit`, on the way that its branches have chosen; what
 * comes to one that has not is lost. */
static void
keep_load(struct keep *k, uint64_t unit)
{
	struct tally *t = k->t;
	const struct branch *branch = t->aim->branches + t->aim->n_reached;
	uint32_t flow, i, hop;

	while (branch-- > t->aim->branches) {
		if (branch->hop == NO_HOP) {
			for (i = branch->first_slot;
			     i < branch->first_slot + branch->n_slots; i++)
				k->flow[i] = t->weight[i];
			continue;
		}
		flow = keep_load_branch(k, branch, unit);
		if (flow == 0)
			continue;
		hop = branch->first_hop + branch->hop;
		t->sum[hop] += flow * unit;
		k->flow[t->fold->peers[hop]] += flow;
	}
	k->flow[t->here] = 0;	/* arrived */
}

static void
keep_note(struct keep *k)
{
	const struct aim *aim = k->t->aim;
	const struct branch *branch = aim->branches;
	const struct branch *end = branch + aim->n_reached;
	uint8_t *column = k->t->choices + k->column;

	for (; branch < end; branch++)
		column[(size_t)branch->group * k->t->n_columns] = branch->hop;
}

/* One LID, first round: what can be kept, and its load. */
static void
keep_lid(struct keep *k, const struct fold_column *column)
{
	k->is_open[column->lid] = keep_recall(k) > 0;
	keep_load(k, 1);
	keep_note(k);
	k->t->total += k->t->n_flows;
}

/* Does any entry say so, be it of a LID that nobody owns now? A cable that
 * lost its only host is not one that came. */
static bool
keep_was_used(const struct keep *k, const struct group *group, uint32_t p)
{
	const struct fold *fold = k->t->fold;
	uint32_t i, sw;

	for (i = 0; i < group->n_slots; i++) {
		sw = fold->switches[group->first_slot + i];
		if (memchr(lft_row(k->previous, sw), fold->ports[
				group->first_cable + i * group->n_hops + p],
			   k->previous->top + 1u))
			return true;
	}
	return false;
}

static void
keep_find_idle(struct keep *k)
{
	const struct fold *fold = k->t->fold;
	const struct group *group = fold->groups;
	uint32_t p, hop;

	for (; group < fold->groups + fold->n_groups; group++)
		for (p = 0; p < group->n_hops; p++) {
			hop = group->first_hop + p;
			if (k->t->sum[hop] || keep_was_used(k, group, p))
				continue;
			k->is_idle[hop] = 1;
			k->n_idle++;
		}
}

static uint64_t
keep_cost(const struct keep *k, const struct branch *branch, uint32_t hop)
{
	hop += branch->first_hop;
	return k->t->sum[hop] +
		branch->n_slots * k->path[k->t->fold->peers[hop]];
}

/* Those of a class who have nothing to keep decide as one. */
static uint32_t
keep_decide(const struct keep *k, const struct hop_class *class)
{
	const struct aim *aim = k->t->aim;
	const struct branch *first = &aim->branches[class->first_branch];
	const struct branch *branch, *end = first + class->n_branches;
	uint64_t cost, best = UINT64_MAX;
	uint32_t i, chosen = 0;

	for (i = 0; i < class->n_candidates; i++) {
		cost = 0;
		for (branch = first; branch < end; branch++)
			if (branch->hop == NO_HOP)
				cost += keep_cost(k, branch, aim->options[
					branch->first_option + i]);
		if (cost < best) {
			best = cost;
			chosen = i;
		}
	}
	return chosen;
}

static bool
keep_is_lured(const struct keep *k, const struct branch *branch, uint32_t hop)
{
	hop += branch->first_hop;
	return k->is_idle[hop] || k->is_lured[k->t->fold->peers[hop]];
}

/*
 * Is there a way over a cable that was idle, and cheaper than what is held?
 * By what the LID brings to its last cable, or differences that mean nothing
 * would move others than those that once had to go; in a second round, when
 * they are back, by half of it.
 */
static uint8_t
keep_reconsider(const struct keep *k, const struct hop_class *class,
		const struct branch *branch)
{
	const uint8_t *options = &k->t->aim->options[branch->first_option];
	uint64_t cost, best = keep_cost(k, branch, branch->hop);
	uint64_t slack = (k->t->n_flows >> k->round) * branch->n_slots;
	uint8_t chosen = branch->hop;
	uint32_t i;

	best -= MIN(best, slack);
	for (i = 0; i < class->n_candidates; i++) {
		if (!keep_is_lured(k, branch, options[i]))
			continue;
		cost = keep_cost(k, branch, options[i]);
		if (cost >= best)
			continue;
		best = cost;
		chosen = options[i];
	}
	return chosen;
}

static void
keep_settle(struct keep *k, const struct branch *branch)
{
	const struct tally *t = k->t;
	uint32_t i, n = branch->n_slots, hop = branch->first_hop + branch->hop;
	const uint64_t *load = &t->load[branch->first_cable + branch->hop * n];
	bool lured = keep_is_lured(k, branch, branch->hop);

	for (i = 0; branch->carries && i < n; i++) {
		k->path[branch->first_slot + i] =
			load[i] + k->path[t->fold->peers[hop]];
		k->is_lured[branch->first_slot + i] = lured;
	}
}

/* Near to far, whoever has to decides, or is lured. */
static void
keep_choose(struct keep *k)
{
	const struct aim *aim = k->t->aim;
	const struct hop_class *class = aim->classes;
	struct branch *branch, *end;
	uint32_t chosen;

	k->is_lured[k->t->here] = 0;
	for (; class < aim->classes + aim->n_classes; class++) {
		branch = &aim->branches[class->first_branch];
		end = branch + class->n_branches;
		while (branch < end && branch->hop != NO_HOP)
			branch++;
		chosen = branch < end ? keep_decide(k, class) : 0;
		for (branch = end - class->n_branches; branch < end;
		     branch++) {
			if (branch->hop == NO_HOP)
				branch->hop = aim->options[
					branch->first_option + chosen];
			else if (k->n_idle)
				branch->hop = keep_reconsider(k, class,
							      branch);
			keep_settle(k, branch);
		}
	}
}

/* Adds `extra` to the load of every cable that `lid` uses. */
static void
keep_surcharge(struct keep *k, uint16_t lid, uint64_t extra)
{
	struct tally *t = k->t;
	const struct branch *branch = t->aim->branches;
	const struct branch *end = branch + t->aim->n_reached;
	uint64_t *load;
	uint32_t i, hop;

	for (; branch < end; branch++) {
		hop = fold_position(t->fold, t->out, branch->group, lid);
		load = &t->load[branch->first_cable + hop * branch->n_slots];
		for (i = 0; i < branch->n_slots; i++)
			load[i] += extra;
		t->sum[branch->first_hop + hop] += extra * branch->n_slots;
	}
}

/* As in minhop_spread.c. */
static void
keep_add_siblings(struct keep *k, const struct fold_column *column,
		  uint64_t extra)
{
	uint16_t elder;

	for (elder = column->base; elder < column->lid; elder++)
		keep_surcharge(k, elder, extra);
}

/* One LID, second round: without its own load, with that of all others. */
static void
keep_mend(struct keep *k, const struct fold_column *column)
{
	uint64_t extra = tally_extra(k->t);

	keep_recall(k);
	keep_load(k, -UINT64_C(1));
	keep_add_siblings(k, column, extra);
	keep_choose(k);
	keep_add_siblings(k, column, -extra);
	keep_load(k, 1);
	keep_note(k);
}

/* Aims at the destination in `slot`. */
static void
keep_turn(struct keep *k, uint32_t slot)
{
	struct tally *t = k->t;
	uint32_t root = t->fold->group_of[t->fold->switches[slot]];

	if (t->here == TALLY_NOWHERE || t->aim->root != root)
		aim_take(t->aim, t->fold, root);
	if (t->here != TALLY_NOWHERE)
		k->flow[t->here] = t->here_weight;
	aim_turn(t->aim, t->fold, slot - t->fold->groups[root].first_slot);
	tally_move(t, slot);
	k->flow[slot] = 0;
	k->path[slot] = 0;
}

static void
keep_each(struct keep *k, const struct fold_column *columns, uint32_t n,
	  void (*fn)(struct keep *k, const struct fold_column *column))
{
	struct tally *t = k->t;

	memcpy(k->flow, t->weight, t->fold->n_slots * sizeof(*k->flow));
	memset(t->choices, (int)NO_HOP,
	       (size_t)t->fold->n_groups * t->n_columns);
	for (k->column = 0; k->column < n; k->column++) {
		if (columns[k->column].slot != t->here)
			keep_turn(k, columns[k->column].slot);
		fn(k, &columns[k->column]);
	}
	tally_leave(t);
	fold_store(t->fold, t->choices, t->n_columns, columns, n, t->out);
}

static void
keep_chunk(void *data, const struct fold_column *columns, uint32_t n)
{
	struct keep *k = data;

	fold_read(k->t->fold, k->previous, columns, n, k->held,
		  k->t->n_columns);
	keep_each(k, columns, n, keep_lid);
}

static void
keep_mend_chunk(void *data, const struct fold_column *columns, uint32_t n)
{
	struct keep *k = data;

	fold_recall(k->t->fold, k->t->out, columns, n, k->held,
		    k->t->n_columns);
	keep_each(k, columns, n, keep_mend);
}

uint32_t
keep_all(struct tally *t, const struct lft *previous)
{
	struct keep k;
	uint32_t n_idle;

	keep_init(&k, t, previous);
	tally_pass_all(t, NULL, keep_chunk, &k);
	keep_find_idle(&k);
	tally_pass_all(t, k.n_idle ? NULL : k.is_open, keep_mend_chunk, &k);
	k.round++;
	if (k.n_idle)
		tally_pass_all(t, NULL, keep_mend_chunk, &k);
	n_idle = k.n_idle;
	keep_clear(&k);
	return n_idle;
}
