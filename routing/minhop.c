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
 * Total order. Destinations by slot and base LID. Of candidates with the same
 * load the first wins: by slot of the next switch, then port. Slots follow
 * the fabric and not the GUIDs (fold.c), so that all pods of a fat tree
 * settle a tie for the same plane. No clocks, no chance, no threads.
 *
 * Source. E. Zahavi, "Fat-trees routing and node ordering providing contention
 * free traffic for MPI global collectives", 2011, for what to expect; the
 * greedy is the usual one for minimising a convex sum of loads.
 */
#include <string.h>

#include "routing/aim.h"
#include "routing/engine.h"

#define NO_HOP		255u	/* a position that no switch has */
#define N_COLUMNS	(33u * 64u)	/* odd lines: no two groups in step */

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
	uint32_t here;		/* slot of the destination */
	uint32_t n_columns;
	uint16_t lids[N_COLUMNS];
	uint8_t *choices;	/* [group][column] -> position */
};

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
	memset(s->choices, (int)NO_HOP, (size_t)fold->n_groups * N_COLUMNS);
	return s;
}

static void
spread_free(struct spread *s)
{
	aim_free(s->aim);
	g_free(s->load);
	g_free(s->sum);
	g_free(s->path);
	g_free(s->weight);
	g_free(s->flow);
	g_free(s->choices);
	g_free(s);
}

/* The columns that are decided go to the rows; NO_HOP becomes NO_PATH. */
static void
spread_flush(struct spread *s)
{
	const struct group *group;
	const uint8_t *choices = s->choices;
	uint8_t ports[256], *row;
	uint32_t i, k;

	memset(ports, (int)LFT_NO_PATH, sizeof(ports));
	for (group = s->fold->groups;
	     group < s->fold->groups + s->fold->n_groups; group++) {
		for (i = 0; i < group->n_slots; i++) {
			memcpy(ports, &s->fold->ports[group->first_cable +
						      i * group->n_hops],
			       group->n_hops);
			row = lft_row(s->out, s->fold->switches[
				group->first_slot + i]);
			for (k = 0; k < s->n_columns; k++)
				row[s->lids[k]] = ports[choices[k]];
		}
		memset(ports, (int)LFT_NO_PATH, group->n_hops);
		choices += N_COLUMNS;
	}
	memset(s->choices, (int)NO_HOP,
	       (size_t)s->fold->n_groups * N_COLUMNS);
	s->n_columns = 0;
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
	uint8_t *column = s->choices + s->n_columns;
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

/* Puts what starts at or passes through a branch on the cables it chose.
 * Leaves flow[] as it was: what starts there. Returns the sum. */
static uint32_t
spread_load_branch(struct spread *s, const struct branch *branch)
{
	uint32_t n = branch->n_slots, i, sum = 0;
	uint32_t *flow = &s->flow[branch->first_slot];
	const uint32_t *weight = &s->weight[branch->first_slot];
	uint64_t *load = &s->load[branch->first_cable + branch->hop * n];

	if (!branch->carries) {
		for (i = 0; i < n; i++) {
			load[i] += weight[i];
			sum += weight[i];
		}
		return sum;
	}
	for (i = 0; i < n; i++) {
		if (flow[i] == 0)	/* most, in a tree */
			continue;
		load[i] += flow[i];
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
			flow = spread_load_branch(s, branch);
			if (flow == 0)
				continue;
			s->sum[branch->first_hop + branch->hop] += flow;
			candidate->load += flow;
			s->flow[candidate->slot] += flow;
		}
	}
	s->flow[s->here] = 0;	/* arrived */
}

/* The candidate of a class by which a LID of the same destination that is in
 * the tables already goes. */
static uint32_t
spread_recall(const struct spread *s, const struct hop_class *class,
	      uint16_t lid)
{
	const struct branch *model = &s->aim->branches[class->first_branch];
	const uint8_t *ports = &s->fold->ports[model->first_cable];
	const uint8_t *options = &s->aim->options[model->first_option];
	uint32_t sw = s->fold->switches[model->first_slot], i;
	uint8_t port = lft_row(s->out, sw)[lid];

	for (i = 0; i < class->n_candidates; i++)
		if (ports[options[i]] == port)
			return i;
	g_assert_not_reached();
}

/* Adds `extra` to the load of every cable that `lid` uses. */
static void
spread_surcharge(struct spread *s, uint16_t lid, uint64_t extra)
{
	const struct aim *aim = s->aim;
	const struct hop_class *class;
	const struct branch *branch, *end;
	uint64_t *load;
	uint32_t i, chosen, hop;

	for (class = aim->classes; class < aim->classes + aim->n_classes;
	     class++) {
		chosen = spread_recall(s, class, lid);
		aim->candidates[class->first_candidate + chosen].load +=
			extra * class->n_slots;
		branch = &aim->branches[class->first_branch];
		for (end = branch + class->n_branches; branch < end;
		     branch++) {
			hop = aim->options[branch->first_option + chosen];
			load = &s->load[branch->first_cable +
					hop * branch->n_slots];
			for (i = 0; i < branch->n_slots; i++)
				load[i] += extra;
			s->sum[branch->first_hop + hop] +=
				extra * branch->n_slots;
		}
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
 * One LID. The LIDs of an LMC range are there for the sake of different paths
 * (IBA 4.1.3), so while it is routed, the cables that its elder siblings use
 * cost more than any path can. Unsigned, thus taken back exactly.
 */
static void
spread_lid(struct spread *s, uint16_t base, uint16_t lid)
{
	uint64_t extra = (s->total + s->n_flows) * s->aim->depth + 1;
	uint16_t elder;

	if (s->n_columns == N_COLUMNS)
		spread_flush(s);

	for (elder = base; elder < lid; elder++)
		spread_surcharge(s, elder, extra);
	spread_choose(s);
	for (elder = base; elder < lid; elder++)
		spread_surcharge(s, elder, -extra);
	spread_load(s);
	s->lids[s->n_columns++] = lid;
	s->total += s->n_flows;
}

/* Routes to the switch in `slot`, at which the aim points. */
static void
spread_member(struct spread *s, const struct pass *pass, uint32_t slot)
{
	const struct graph *g = s->g;
	uint32_t sw = s->fold->switches[slot], weight = s->weight[slot];
	const struct graph_target *target, *end;

	/* What starts here is here; a load of nothing keeps the twins of
	 * the destination simple. */
	s->here = slot;
	s->weight[slot] = 0;
	s->flow[slot] = 0;
	s->path[slot] = 0;
	target = &g->targets[g->first_target[sw]];
	end = &g->targets[g->first_target[sw + 1]];
	for (; target < end; target++)
		if (pass_concerns(pass, target))
			spread_lid(s, target->lid,
				   (uint16_t)(target->lid + pass->offset));
	s->weight[slot] = weight;
	s->flow[slot] = weight;
}

static bool
spread_has_targets(const struct spread *s, const struct pass *pass,
		   uint32_t slot)
{
	uint32_t sw = s->fold->switches[slot], i;

	for (i = s->g->first_target[sw]; i < s->g->first_target[sw + 1]; i++)
		if (pass_concerns(pass, &s->g->targets[i]))
			return true;
	return false;
}

/* Routes to all members of a group. */
static void
spread_group(struct spread *s, const struct pass *pass, uint32_t root)
{
	const struct group *group = &s->fold->groups[root];
	uint32_t i = 0;

	while (i < group->n_slots &&
	       !spread_has_targets(s, pass, group->first_slot + i))
		i++;
	if (i == group->n_slots)
		return;

	aim_take(s->aim, s->fold, root, s->sum);
	for (; i < group->n_slots; i++) {
		aim_turn(s->aim, s->fold, i, s->sum);
		spread_member(s, pass, group->first_slot + i);
	}
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
spread_pass(struct spread *s, const struct pass *pass)
{
	uint32_t i;

	s->n_flows = 0;
	for (i = 0; i < s->fold->n_slots; i++) {
		s->weight[i] = spread_weight_of(s, pass,
						s->fold->switches[i]);
		s->flow[i] = s->weight[i];
		s->n_flows += s->weight[i];
	}
	for (i = 0; i < s->fold->n_groups; i++)
		spread_group(s, pass, i);
	spread_flush(s);
}

/* All that a kind of sender sends to. */
static void
spread_audience(struct spread *s, enum audience audience)
{
	struct pass pass = { .audience = audience };
	uint32_t i, n = 0;

	for (i = 0; i < s->g->n_targets; i++)
		if (pass_concerns(&pass, &s->g->targets[i]))
			n = MAX(n, s->g->targets[i].n_lids);
	for (; pass.offset < n; pass.offset++)
		spread_pass(s, &pass);
}

static bool
minhop_compute(const struct engine_input *in, struct engine_output *output,
	       GError **error)
{
	const struct graph *g = in->g;
	struct lft *out = output->lft;
	const struct graph_target *target;
	struct spread *spread;
	struct fold *fold;

	g_assert(out->n_switches == g->n_switches && out->top >= g->top);
	/* A single switch, or two CAs back to back: nothing to choose. */
	if (g->n_edges) {
		fold = fold_new(g);
		spread = spread_new(g, fold, out);
		spread_audience(spread, AUDIENCE_HOSTS);
		spread_audience(spread, AUDIENCE_SWITCHES);
		spread_free(spread);
		fold_free(fold);
	}

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
