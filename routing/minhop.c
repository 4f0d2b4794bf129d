/*
 * Min-hop: every switch reaches every LID by a shortest path, and the traffic
 * of all hosts to all hosts is spread over those paths.
 *
 * Purpose. The engine for any fabric. Shortest paths are simple; which of
 * them is what matters. A choice that looks at one switch at a time cannot see
 * that the link behind the next switch is full. Here the unit is the
 * destination: one LID after the other gets a tree, each switch takes the hop
 * with the least load summed up over the whole way, and the load that the
 * finished tree brings (host flows, from far to near) counts for the next
 * LID. On an intact fat tree this ends as D-mod-k (Zahavi), whatever the
 * order of GUIDs; on others it is a descent on the sum of squared loads.
 *
 * Why it is fast. Most switches of a large fabric are alike. Twins decide as
 * one (fold.h), groups with the same choice decide as one (aim.h), and what
 * all destinations behind twins have in common is found once. To agree is
 * good in itself: traffic to one LID that meets early does not meet others.
 * A damaged fabric has smaller groups and classes: slower, never wrong.
 *
 * Structs. spread: the loads of all cables, and the decisions of up to
 * N_COLUMNS LIDs, [group][column], which are written to the rows in one go:
 * a row is touched once for hundreds of LIDs, even if LIDs are scattered.
 *
 * Flow. minhop_compute: fold_new; LIDs of hosts, each a load of one flow from
 * every host; then port 0 of the switches, which management traffic reads:
 * one flow from each switch, on top of what the hosts left. Of an LMC range
 * first all base LIDs of the fabric, then the next, and so on: traffic that
 * uses base LIDs only is as balanced as any.
 *   spread_group: aim_take; for its members: aim_turn
 *     spread_lid: spread_choose (near to far), spread_load (far to near)
 * A cable that one LID of a range uses is, for the others, dearer than any
 * way without it.
 *
 * What is kept. With tables of before, first all entries that still lead
 * closer are taken over, and their load (keep_lid). Then each LID that has
 * switches with nothing to keep is taken out, and they decide with the load of
 * all others in sight (keep_mend). A cable that nobody used is one that came
 * back: then all LIDs are looked at, and go there where it pays. Kept tables
 * that are half as bad again as new ones would be are given up.
 *
 * Total order. Destinations by slot and base LID. Of candidates with the same
 * load the first wins: by slot of the next switch, then port. Slots follow
 * the fabric and not the GUIDs (fold.c), so that all pods of a fat tree
 * settle a tie for the same plane. No clocks, no chance, no threads.
 *
 * Source. E. Zahavi, "Fat-trees routing and node ordering providing contention
 * free traffic for MPI global collectives", 2011, for what to expect; the
 * greedy is the usual one for minimising a convex sum of loads.
 */
#include "routing/minhop.h"

#include <string.h>

#include "routing/aim.h"

#define NO_HOP		FOLD_NO_HOP
#define SUSPECT		2u	/* x mean: are kept tables that good? */
#define NOWHERE		UINT32_MAX
#define N_COLUMNS	(33u * 64u)	/* odd lines: no two groups in step */

/* What is kept. */
struct held {
	const struct lft *from;	/* the tables that are to be kept */
	uint8_t *choices;	/* [group][column] -> position or NO_HOP */
	uint8_t *is_open;	/* by LID: somebody has nothing to keep */
	uint8_t *is_idle;	/* by hop: no cable of it was used */
	uint8_t *is_lured;	/* by slot: on its way there is such a hop */
	uint32_t n_idle;
	unsigned round;		/* of those that mend */
};

struct spread {
	const struct graph *g;
	const struct fold *fold;
	struct aim *aim;
	struct lft *out;
	uint64_t *load;		/* by cable, see struct group */
	uint64_t *sum;		/* hop -> load over all members */
	uint64_t *path;		/* slot -> load on its way to the LID */
	uint32_t *weight;	/* slot -> flows that start there */
	uint32_t *flow;		/* slot -> flows that pass, this LID */
	uint64_t total;		/* flows so far: no cable has more */
	uint64_t n_flows;	/* that a LID adds, the sum of the weights */
	uint32_t here;		/* slot of the destination, or NOWHERE */
	uint32_t here_weight;	/* what starts there otherwise */
	const struct fold_column *columns;
	uint32_t n_columns, column;	/* column: of the LID at hand */
	uint8_t *choices;	/* [group][column] -> position */
	struct held *held;	/* or NULL */
};

static void
spread_forget(struct spread *s)
{
	memset(s->choices, (int)NO_HOP,
	       (size_t)s->fold->n_groups * N_COLUMNS);
}

static struct held *
held_new(const struct fold *fold, const struct lft *from, uint16_t top)
{
	struct held *held = g_new0(struct held, 1);

	held->from = from;
	held->choices = g_malloc((size_t)fold->n_groups * N_COLUMNS);
	held->is_open = g_new0(uint8_t, top + 1u);
	held->is_idle = g_new0(uint8_t, fold->n_hops);
	held->is_lured = g_new0(uint8_t, fold->n_slots);
	return held;
}

static void
held_free(struct held *held)
{
	if (!held)
		return;
	g_free(held->choices);
	g_free(held->is_open);
	g_free(held->is_idle);
	g_free(held->is_lured);
	g_free(held);
}

static struct spread *
spread_new(const struct graph *g, const struct fold *fold, struct lft *out)
{
	struct spread *s = g_new0(struct spread, 1);

	s->g = g;
	s->fold = fold;
	s->out = out;
	s->aim = aim_new(fold);
	s->load = g_new0(uint64_t, fold->n_cables);
	s->sum = g_new0(uint64_t, fold->n_hops);
	s->path = g_new0(uint64_t, fold->n_slots);
	s->weight = g_new0(uint32_t, fold->n_slots);
	s->flow = g_new0(uint32_t, fold->n_slots);
	s->choices = g_malloc((size_t)fold->n_groups * N_COLUMNS);
	spread_forget(s);
	return s;
}

static void
spread_free(struct spread *s)
{
	aim_free(s->aim);
	held_free(s->held);
	g_free(s->load);
	g_free(s->sum);
	g_free(s->path);
	g_free(s->weight);
	g_free(s->flow);
	g_free(s->choices);
	g_free(s);
}

/* The candidate with the least load from here to the destination, summed over
 * the switches of the class; ties to the first. */
static uint32_t
spread_decide(const struct spread *s, const struct hop_class *class)
{
	const struct candidate *candidate, *end;
	const struct candidate *chosen;
	const uint64_t *path = s->path;
	uint64_t n_slots = class->n_slots, best, cost;

	candidate = &s->aim->candidates[class->first_candidate];
	end = candidate + class->n_candidates;
	chosen = candidate;
	best = candidate->load + n_slots * path[candidate->slot];
	while (++candidate < end) {
		/* Two conditional moves: a branch would be mispredicted. */
		cost = candidate->load + n_slots * path[candidate->slot];
		chosen = cost < best ? candidate : chosen;
		best = cost < best ? cost : best;
	}
	return (uint32_t)(chosen -
			  &s->aim->candidates[class->first_candidate]);
}

/* Near to far, each class decides. */
static void
spread_choose(struct spread *s)
{
	struct aim *aim = s->aim;
	uint8_t *column = s->choices + s->column;
	const uint64_t *load;
	struct hop_class *class;
	struct branch *branch, *end;
	uint64_t onward, *path;
	uint32_t i, n;

	for (class = aim->classes; class < aim->classes + aim->n_classes;
	     class++) {
		class->chosen = spread_decide(s, class);
		onward = s->path[aim->candidates[class->first_candidate +
						 class->chosen].slot];
		branch = &aim->branches[class->first_branch];
		for (end = branch + class->n_branches; branch < end;
		     branch++) {
			branch->hop = aim->options[branch->first_option +
						   class->chosen];
			column[(size_t)branch->group * N_COLUMNS] =
				branch->hop;
			if (!branch->carries)
				continue;
			n = branch->n_slots;
			load = &s->load[branch->first_cable + branch->hop * n];
			path = &s->path[branch->first_slot];
			for (i = 0; i < n; i++)
				path[i] = load[i] + onward;
		}
	}
}

/* Puts what starts at or passes through a branch on the cables it chose, each
 * flow as `unit`. Leaves flow[] as it was: what starts there. Returns the sum
 * of flows. */
static uint32_t
spread_load_branch(struct spread *s, const struct branch *branch,
		   uint64_t unit)
{
	uint32_t n = branch->n_slots, i, sum = 0;
	uint32_t *flow = &s->flow[branch->first_slot];
	const uint32_t *weight = &s->weight[branch->first_slot];
	uint64_t *load = &s->load[branch->first_cable + branch->hop * n];

	if (!branch->carries) {
		for (i = 0; i < n; i++) {
			load[i] += weight[i] * unit;
			sum += weight[i];
		}
		return sum;
	}
	for (i = 0; i < n; i++) {
		if (flow[i] == 0)	/* most, in a tree */
			continue;
		load[i] += flow[i] * unit;
		sum += flow[i];
		flow[i] = weight[i];
	}
	return sum;
}

/* Far to near, the flows of the LID at hand become load. */
static void
spread_load(struct spread *s)
{
	struct aim *aim = s->aim;
	struct candidate *candidate;
	struct hop_class *class;
	const struct branch *branch, *end;
	uint32_t n, flow;

	for (n = aim->n_classes; n > 0; n--) {
		class = &aim->classes[n - 1];
		candidate = &aim->candidates[class->first_candidate +
					     class->chosen];
		branch = &aim->branches[class->first_branch];
		for (end = branch + class->n_branches; branch < end;
		     branch++) {
			flow = spread_load_branch(s, branch, 1);
			if (flow == 0)
				continue;
			s->sum[branch->first_hop + branch->hop] += flow;
			candidate->load += flow;
			s->flow[candidate->slot] += flow;
		}
	}
	s->flow[s->here] = 0;	/* arrived */
}

/* The position by which a branch sends to a LID of the same destination that
 * is in the tables already. */
static uint8_t
spread_recall(const struct spread *s, const struct branch *branch,
	      uint16_t lid)
{
	const uint8_t *ports = &s->fold->ports[branch->first_cable];
	uint32_t sw = s->fold->switches[branch->first_slot];
	const uint8_t *port = memchr(ports, lft_row(s->out, sw)[lid],
				     s->fold->groups[branch->group].n_hops);

	g_assert(port);
	return (uint8_t)(port - ports);
}

/* Adds `extra` to the load of every cable that `lid` uses. */
static void
spread_surcharge(struct spread *s, uint16_t lid, uint64_t extra)
{
	struct aim *aim = s->aim;
	const struct branch *branch = aim->branches;
	const struct branch *end = branch + aim->n_reached;
	uint64_t *load;
	uint32_t i, hop;

	for (; branch < end; branch++) {
		hop = spread_recall(s, branch, lid);
		load = &s->load[branch->first_cable + hop * branch->n_slots];
		for (i = 0; i < branch->n_slots; i++)
			load[i] += extra;
		s->sum[branch->first_hop + hop] += extra * branch->n_slots;
	}
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

/*
 * The LIDs of an LMC range are there for the sake of different paths (IBA
 * 4.1.3), so while one of them is routed, the cables that its elder siblings
 * use cost more than any path can. Unsigned, thus taken back exactly.
 */
static void
spread_add_siblings(struct spread *s, const struct fold_column *column,
		    uint64_t extra)
{
	uint16_t elder;

	for (elder = column->base; elder < column->lid; elder++)
		spread_surcharge(s, elder, extra);
	if (column->base < column->lid)
		aim_weigh(s->aim, s->fold, s->sum);
}

static uint64_t
spread_extra(const struct spread *s)
{
	return (s->total + s->n_flows) * s->aim->depth + 1;
}

/* One LID, by loads only. */
static void
spread_lid(struct spread *s, const struct fold_column *column)
{
	uint64_t extra = spread_extra(s);

	spread_add_siblings(s, column, extra);
	spread_choose(s);
	spread_add_siblings(s, column, -extra);
	spread_load(s);
	s->total += s->n_flows;
}

/* Each branch gets what it holds if that leads closer, else NO_HOP. Returns
 * how many switches have nothing to keep. */
static uint32_t
keep_recall(struct spread *s)
{
	const struct aim *aim = s->aim;
	const uint8_t *held = s->held->choices + s->column;
	const struct hop_class *class = aim->classes;
	struct branch *branch, *end;
	uint32_t n_open = 0;

	for (; class < aim->classes + aim->n_classes; class++) {
		branch = &aim->branches[class->first_branch];
		for (end = branch + class->n_branches; branch < end;
		     branch++) {
			branch->hop = held[(size_t)branch->group * N_COLUMNS];
			if (memchr(&aim->options[branch->first_option],
				   branch->hop, class->n_candidates))
				continue;
			branch->hop = NO_HOP;
			n_open += branch->n_slots;
		}
	}
	return n_open;
}

/* Each flow counts as `unit`, on the way that its branches have chosen; what
 * comes to one that has not is lost. */
static void
keep_load(struct spread *s, uint64_t unit)
{
	const struct branch *branch = s->aim->branches + s->aim->n_reached;
	uint32_t flow, i, hop;

	while (branch-- > s->aim->branches) {
		if (branch->hop == NO_HOP) {
			for (i = branch->first_slot;
			     i < branch->first_slot + branch->n_slots; i++)
				s->flow[i] = s->weight[i];
			continue;
		}
		flow = spread_load_branch(s, branch, unit);
		if (flow == 0)
			continue;
		hop = branch->first_hop + branch->hop;
		s->sum[hop] += flow * unit;
		s->flow[s->fold->peers[hop]] += flow;
	}
	s->flow[s->here] = 0;	/* arrived */
}

static void
keep_note(struct spread *s)
{
	const struct branch *branch = s->aim->branches;
	const struct branch *end = branch + s->aim->n_reached;
	uint8_t *column = s->choices + s->column;

	for (; branch < end; branch++)
		column[(size_t)branch->group * N_COLUMNS] = branch->hop;
}

/* One LID, first round: what can be kept, and its load. */
static void
keep_lid(struct spread *s, const struct fold_column *column)
{
	s->held->is_open[column->lid] = keep_recall(s) > 0;
	keep_load(s, 1);
	keep_note(s);
	s->total += s->n_flows;
}

/* Does any entry say so, be it of a LID that nobody owns now? A cable that
 * lost its only host is not one that came. */
static bool
keep_was_used(const struct spread *s, const struct lft *lft,
	      const struct group *group, uint32_t p)
{
	uint32_t i, sw;

	for (i = 0; i < group->n_slots; i++) {
		sw = s->fold->switches[group->first_slot + i];
		if (memchr(lft_row(lft, sw), s->fold->ports[
				group->first_cable + i * group->n_hops + p],
			   lft->top + 1u))
			return true;
	}
	return false;
}

static void
keep_find_idle(struct spread *s, const struct lft *lft)
{
	const struct group *group = s->fold->groups;
	uint32_t p, hop;

	for (; group < s->fold->groups + s->fold->n_groups; group++)
		for (p = 0; p < group->n_hops; p++) {
			hop = group->first_hop + p;
			if (s->sum[hop] || keep_was_used(s, lft, group, p))
				continue;
			s->held->is_idle[hop] = 1;
			s->held->n_idle++;
		}
}

static uint64_t
keep_cost(const struct spread *s, const struct branch *branch, uint32_t hop)
{
	hop += branch->first_hop;
	return s->sum[hop] + branch->n_slots * s->path[s->fold->peers[hop]];
}

/* Those of a class who have nothing to keep decide as one. */
static uint32_t
keep_decide(const struct spread *s, const struct hop_class *class)
{
	const struct branch *first = &s->aim->branches[class->first_branch];
	const struct branch *branch, *end = first + class->n_branches;
	uint64_t cost, best = UINT64_MAX;
	uint32_t i, chosen = 0;

	for (i = 0; i < class->n_candidates; i++) {
		cost = 0;
		for (branch = first; branch < end; branch++)
			if (branch->hop == NO_HOP)
				cost += keep_cost(s, branch, s->aim->options[
					branch->first_option + i]);
		if (cost < best) {
			best = cost;
			chosen = i;
		}
	}
	return chosen;
}

static bool
keep_is_lured(const struct spread *s, const struct branch *branch, uint32_t hop)
{
	hop += branch->first_hop;
	return s->held->is_idle[hop] ||
		s->held->is_lured[s->fold->peers[hop]];
}

/*
 * Is there a way over a cable that was idle, and cheaper than what is held?
 * By what the LID brings to its last cable, or differences that mean nothing
 * would move others than those that once had to go; in a second round, when
 * they are back, by half of it.
 */
static uint8_t
keep_reconsider(const struct spread *s, const struct hop_class *class,
		const struct branch *branch)
{
	const uint8_t *options = &s->aim->options[branch->first_option];
	uint64_t cost, best = keep_cost(s, branch, branch->hop);
	uint64_t slack = (s->n_flows >> s->held->round) *
		branch->n_slots;
	uint8_t chosen = branch->hop;
	uint32_t i;

	best -= MIN(best, slack);
	for (i = 0; i < class->n_candidates; i++) {
		if (!keep_is_lured(s, branch, options[i]))
			continue;
		cost = keep_cost(s, branch, options[i]);
		if (cost >= best)
			continue;
		best = cost;
		chosen = options[i];
	}
	return chosen;
}

static void
keep_settle(struct spread *s, const struct branch *branch)
{
	uint32_t i, n = branch->n_slots, hop = branch->first_hop + branch->hop;
	const uint64_t *load = &s->load[branch->first_cable + branch->hop * n];
	bool lured = keep_is_lured(s, branch, branch->hop);

	for (i = 0; branch->carries && i < n; i++) {
		s->path[branch->first_slot + i] =
			load[i] + s->path[s->fold->peers[hop]];
		s->held->is_lured[branch->first_slot + i] = lured;
	}
}

/* Near to far, whoever has to decides, or is lured. */
static void
keep_choose(struct spread *s)
{
	const struct aim *aim = s->aim;
	const struct hop_class *class = aim->classes;
	struct branch *branch, *end;
	uint32_t chosen;

	s->held->is_lured[s->here] = 0;
	for (; class < aim->classes + aim->n_classes; class++) {
		branch = &aim->branches[class->first_branch];
		end = branch + class->n_branches;
		while (branch < end && branch->hop != NO_HOP)
			branch++;
		chosen = branch < end ? keep_decide(s, class) : 0;
		for (branch = end - class->n_branches; branch < end;
		     branch++) {
			if (branch->hop == NO_HOP)
				branch->hop = aim->options[
					branch->first_option + chosen];
			else if (s->held->n_idle)
				branch->hop = keep_reconsider(s, class,
							      branch);
			keep_settle(s, branch);
		}
	}
}

/* One LID, second round: without its own load, with that of all others. */
static void
keep_mend(struct spread *s, const struct fold_column *column)
{
	uint64_t extra = spread_extra(s);

	keep_recall(s);
	keep_load(s, -UINT64_C(1));
	spread_add_siblings(s, column, extra);
	keep_choose(s);
	spread_add_siblings(s, column, -extra);
	keep_load(s, 1);
	keep_note(s);
}

/* How the load is spread over the cables. */
struct burden {
	uint64_t max, sum;
	uint32_t n_cables;
};

static struct burden
spread_weigh_burden(const struct spread *s)
{
	struct burden burden = { .n_cables = s->fold->n_cables };
	uint32_t i;

	for (i = 0; i < burden.n_cables; i++) {
		burden.max = MAX(burden.max, s->load[i]);
		burden.sum += s->load[i];
	}
	return burden;
}

/* Aims at the destination in `slot`. What starts there is there: a load of
 * nothing keeps its twins simple. */
static void
spread_turn(struct spread *s, uint32_t slot)
{
	const struct fold *fold = s->fold;
	uint32_t root;

	if (slot == s->here)
		return;
	root = fold->group_of[fold->switches[slot]];
	if (s->here == NOWHERE || s->aim->root != root)
		aim_take(s->aim, fold, root, s->sum);
	aim_turn(s->aim, fold, slot - fold->groups[root].first_slot, s->sum);
	if (s->here != NOWHERE)
		s->weight[s->here] = s->flow[s->here] = s->here_weight;
	s->here = slot;
	s->here_weight = s->weight[slot];
	s->weight[slot] = s->flow[slot] = 0;
	s->path[slot] = 0;
}

/* What is done for a LID. */
typedef void (*spread_fn)(struct spread *s, const struct fold_column *column);

/* Errands side by side in the columns. */
static void
spread_run(struct spread *s, const struct fold_column *columns, uint32_t n,
	   spread_fn fn)
{
	uint32_t from;

	s->here = NOWHERE;
	for (from = 0; from < n; from += s->n_columns) {
		s->columns = &columns[from];
		s->n_columns = MIN(n - from, N_COLUMNS);
		if (s->held)
			fold_read(s->fold, s->held->from, s->columns,
				  s->n_columns, s->held->choices, N_COLUMNS);
		for (s->column = 0; s->column < s->n_columns; s->column++) {
			spread_turn(s, s->columns[s->column].slot);
			fn(s, &s->columns[s->column]);
		}
		fold_write(s->fold, s->choices, N_COLUMNS, s->columns,
			   s->n_columns, s->out);
		spread_forget(s);
	}
}

/* The columns of a pass by group, switch and base LID; returns their number.
 * If `wanted` is not NULL, only those of LIDs that are marked there. */
static uint32_t
spread_list(const struct spread *s, const struct pass *pass,
	    const uint8_t *wanted, struct fold_column *columns)
{
	const struct graph *g = s->g;
	const struct graph_target *t;
	uint32_t slot, sw, i, n = 0;
	uint16_t lid;

	for (slot = 0; slot < s->fold->n_slots; slot++) {
		sw = s->fold->switches[slot];
		for (i = g->first_target[sw]; i < g->first_target[sw + 1];
		     i++) {
			t = &g->targets[i];
			lid = (uint16_t)(t->lid + pass->offset);
			if (pass_concerns(pass, t) &&
			    (!wanted || wanted[lid]))
				columns[n++] = (struct fold_column){
					slot, t->lid, lid };
		}
	}
	return n;
}

static uint32_t
spread_weight_of(const struct spread *s, const struct pass *pass, uint32_t sw)
{
	switch (pass->audience) {
	case AUDIENCE_HOSTS:
		return s->g->n_hosts[sw];
	case AUDIENCE_SWITCHES:
		return 1;
	}
	g_assert_not_reached();
}

static void
spread_pass(struct spread *s, const struct pass *pass, const uint8_t *wanted,
	    spread_fn fn)
{
	g_autofree struct fold_column *columns = g_new(struct fold_column,
						  s->g->n_targets);
	uint32_t i;

	s->n_flows = 0;
	for (i = 0; i < s->fold->n_slots; i++) {
		s->weight[i] = spread_weight_of(s, pass,
						s->fold->switches[i]);
		s->flow[i] = s->weight[i];
		s->n_flows += s->weight[i];
	}
	spread_run(s, columns, spread_list(s, pass, wanted, columns), fn);
}

/* All that a kind of sender sends to. */
static void
spread_audience(struct spread *s, enum audience audience,
		const uint8_t *wanted, spread_fn fn)
{
	struct pass pass = { .audience = audience };
	uint32_t i, n = 0;

	for (i = 0; i < s->g->n_targets; i++)
		if (pass_concerns(&pass, &s->g->targets[i]))
			n = MAX(n, s->g->targets[i].n_lids);
	for (; pass.offset < n; pass.offset++)
		spread_pass(s, &pass, wanted, fn);
}

static void
spread_all(struct spread *s, const uint8_t *wanted, spread_fn fn)
{
	spread_audience(s, AUDIENCE_HOSTS, wanted, fn);
	spread_audience(s, AUDIENCE_SWITCHES, wanted, fn);
}

/* All anew. Returns the most that a cable carries. */
static struct burden
minhop_fill_anew(const struct graph *g, const uint32_t *ranks,
		 struct lft *out)
{
	struct fold *fold = fold_new(g, ranks, NULL);
	struct spread *s = spread_new(g, fold, out);
	struct burden burden;

	spread_all(s, NULL, spread_lid);
	burden = spread_weigh_burden(s);
	spread_free(s);
	fold_free(fold);
	return burden;
}

/* First all that is kept, then what is open: with all loads in sight. */
static struct burden
minhop_fill_kept(const struct engine_input *in, const uint32_t *ranks,
		 struct lft *out)
{
	struct fold *fold = fold_new(in->g, ranks, in->previous);
	struct spread *s = spread_new(in->g, fold, out);
	struct burden burden;

	s->held = held_new(fold, in->previous, in->g->top);
	spread_all(s, NULL, keep_lid);
	s->held->from = out;
	keep_find_idle(s, in->previous);
	spread_all(s, s->held->n_idle ? NULL : s->held->is_open, keep_mend);
	s->held->round++;
	if (s->held->n_idle)
		spread_all(s, NULL, keep_mend);
	burden = spread_weigh_burden(s);
	spread_free(s);
	fold_free(fold);
	return burden;
}

void
minhop_fill(const struct engine_input *in, const uint32_t *ranks,
	    struct lft *out)
{
	struct burden kept, anew;
	struct lft *other;

	if (in->g->n_edges == 0)
		return;
	if (!in->previous || in->previous->n_switches < in->g->n_switches) {
		minhop_fill_anew(in->g, ranks, out);
		return;
	}
	kept = minhop_fill_kept(in, ranks, out);
	if (kept.max * kept.n_cables <= SUSPECT * kept.sum)
		return;
	other = lft_new(out->n_switches, out->top);
	anew = minhop_fill_anew(in->g, ranks, other);
	if (2 * kept.max > 3 * anew.max)
		memcpy(out->ports, other->ports,
		       (size_t)out->n_switches * out->stride);
	lft_free(other);
}

static bool
minhop_compute(const struct engine_input *in, struct engine_output *output,
	       GError **error)
{
	const struct graph *g = in->g;
	struct lft *out = output->lft;
	const struct graph_target *target;

	g_assert(out->n_switches == g->n_switches && out->top >= g->top);
	minhop_fill(in, NULL, out);
	for (target = g->targets; target < g->targets + g->n_targets;
	     target++)
		memset(lft_row(out, target->sw) + target->lid, target->port,
		       target->n_lids);
	return true;
}

const struct engine engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced over the whole fabric; "
		   "any topology, not free of credit loops",
	.compute = minhop_compute,
};
