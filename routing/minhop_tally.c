// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order in which min-hop routes LIDs, and the loads that they bring.
 *
 * Purpose. Whether LIDs are decided anew or kept, they come in the same order,
 * from the same senders, and their flows add up in the same counters.
 *
 * Flow. tally_pass_all: LIDs of hosts, each a load of one flow from every
 * host; then port 0 of the switches, which management traffic reads: one flow
 * from each switch, on top of what the hosts left. Of an LMC range first all
 * base LIDs of the fabric, then the next, and so on: traffic that uses base
 * LIDs only is as balanced as any. Within a pass by slot of the switch and by
 * base LID, so that a fold's groups come in one piece.
 */
#include "routing/minhop_tally.h"

#include <string.h>

#define ROOM		(16u << 20)	/* bytes for choices: fit a cache */
#define MIN_COLUMNS	2048u

/* An odd number of cache lines: no two groups are in step. */
static uint32_t
tally_find_columns(const struct graph *g, const struct fold *fold)
{
	uint32_t n = MIN(g->top, ROOM / MAX(fold->n_groups, 1));

	return (MAX(n, MIN_COLUMNS) / 64 | 1) * 64;
}

struct tally *
tally_new(const struct graph *g, const struct fold *fold, struct lft *out)
{
	struct tally *t = g_new0(struct tally, 1);

	t->g = g;
	t->fold = fold;
	t->out = out;
	t->aim = aim_new(fold);
	t->load = g_new0(uint64_t, fold->n_cables);
	t->sum = g_new0(uint64_t, fold->n_hops);
	t->weight = g_new0(uint32_t, fold->n_slots);
	t->here = TALLY_NOWHERE;
	t->n_columns = tally_find_columns(g, fold);
	t->choices = g_malloc((size_t)fold->n_groups * t->n_columns);
	return t;
}

void
tally_free(struct tally *t)
{
	aim_free(t->aim);
	g_free(t->load);
	g_free(t->sum);
	g_free(t->weight);
	g_free(t->choices);
	g_free(t);
}

/* Which LIDs are routed, and who sends to them. */
enum audience {
	AUDIENCE_HOSTS,		/* LIDs of CAs and routers: every host */
	AUDIENCE_SWITCHES,	/* LIDs of ports 0: every switch */
};

/* One LID of each target: what all hosts use at a time is balanced. */
struct pass {
	enum audience audience;
	uint32_t offset;	/* from the base LID */
};

static bool
pass_concerns(const struct pass *pass, const struct graph_target *target)
{
	if (target->n_lids <= pass->offset)
		return false;
	switch (pass->audience) {
	case AUDIENCE_HOSTS:
		return target->port != 0;
	case AUDIENCE_SWITCHES:
		return target->port == 0;
	}
	g_assert_not_reached();
}

/* The columns of a pass by group, switch and base LID; returns their number.
 * If `wanted` is not NULL, only those of LIDs that are marked there. */
static uint32_t
tally_list(const struct tally *t, const struct pass *pass,
	   const uint8_t *wanted, struct fold_column *columns)
{
	const struct graph *g = t->g;
	const struct graph_target *target;
	uint32_t slot, sw, i, n = 0;
	uint16_t lid;

	for (slot = 0; slot < t->fold->n_slots; slot++) {
		sw = t->fold->switches[slot];
		for (i = g->first_target[sw]; i < g->first_target[sw + 1];
		     i++) {
			target = &g->targets[i];
			lid = (uint16_t)(target->lid + pass->offset);
			if (pass_concerns(pass, target) &&
			    (!wanted || wanted[lid]))
				columns[n++] = (struct fold_column){
					slot, target->lid, lid };
		}
	}
	return n;
}

static uint32_t
tally_weight_of(const struct tally *t, const struct pass *pass, uint32_t sw)
{
	switch (pass->audience) {
	case AUDIENCE_HOSTS:
		return t->g->n_hosts[sw];
	case AUDIENCE_SWITCHES:
		return 1;
	}
	g_assert_not_reached();
}

static void
tally_pass(struct tally *t, const struct pass *pass, const uint8_t *wanted,
	   tally_fn fn, void *data)
{
	g_autofree struct fold_column *columns = g_new(struct fold_column,
						       t->g->n_targets);
	uint32_t i, n;

	t->all_send = pass->audience == AUDIENCE_SWITCHES;
	t->n_flows = 0;
	for (i = 0; i < t->fold->n_slots; i++) {
		t->weight[i] = tally_weight_of(t, pass, t->fold->switches[i]);
		t->n_flows += t->weight[i];
	}
	n = tally_list(t, pass, wanted, columns);
	for (i = 0; i < n; i += t->n_columns)
		fn(data, &columns[i], MIN(n - i, t->n_columns));
}

/* All that a kind of sender sends to. */
static void
tally_audience(struct tally *t, enum audience audience, const uint8_t *wanted,
	       tally_fn fn, void *data)
{
	struct pass pass = { .audience = audience };
	uint32_t i, n = 0;

	for (i = 0; i < t->g->n_targets; i++)
		if (pass_concerns(&pass, &t->g->targets[i]))
			n = MAX(n, t->g->targets[i].n_lids);
	for (; pass.offset < n; pass.offset++)
		tally_pass(t, &pass, wanted, fn, data);
}

void
tally_pass_all(struct tally *t, const uint8_t *wanted, tally_fn fn, void *data)
{
	tally_audience(t, AUDIENCE_HOSTS, wanted, fn, data);
	tally_audience(t, AUDIENCE_SWITCHES, wanted, fn, data);
}

void
tally_leave(struct tally *t)
{
	if (t->here != TALLY_NOWHERE)
		t->weight[t->here] = t->here_weight;
	t->here = TALLY_NOWHERE;
}

void
tally_move(struct tally *t, uint32_t slot)
{
	tally_leave(t);
	t->here = slot;
	t->here_weight = t->weight[slot];
	t->weight[slot] = 0;
}

struct burden
tally_weigh_burden(const struct tally *t)
{
	struct burden burden = { .n_cables = t->fold->n_cables };
	uint32_t i;

	for (i = 0; i < burden.n_cables; i++) {
		burden.max = MAX(burden.max, t->load[i]);
		burden.sum += t->load[i];
	}
	return burden;
}
