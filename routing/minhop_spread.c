// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Min-hop anew.
 *
 * Purpose. This is where the time goes: for every LID every class of switches
 * (aim.h) looks at its candidates. So all that is looked at lies side by side,
 * in the order in which it is met. What a class's seats have as load by one
 * candidate is a run of `way`; the loads of the fabric are copied there when
 * the aim is taken, and back when it is left.
 *
 * Flow. spread_chunk: for each LID
 *   spread_turn: a new destination: spread_leave() puts the loads back,
 *     aim_take() or aim_turn(), spread_enter() fetches them;
 *   spread_choose: near to far, each class takes the candidate with the least
 *     load on all of the way;
 *   spread_load: far to near, the flows of this tree become load.
 * What classes picked is turned into positions of groups, many LIDs at a time,
 * by spread_expand().
 *
 * What is not weighed. Classes that nobody goes through do not need to know
 * their members' loads one by one; what they sent is counted, and multiplied
 * when they are left. Those without CAs at that have management to send and
 * nothing else (between two spines that is many ways to choose from, and no
 * traffic). To other ports 0 they take candidates in turn, by destination; to
 * CAs the first, all alike, since the fewer turns are made the fewer circles
 * of channels there are.
 *
 * Total order. Of candidates with the same load the first wins.
 */
#include "routing/minhop_spread.h"

#include <string.h>

#define RUN	(9u * 64u)	/* LIDs with one root, odd lines */

/* How a class decides. */
enum manner {
	MANNER_WEIGH,
	MANNER_FORCED,		/* there is one candidate only */
	MANNER_UNWEIGHED,	/* and without load: see above */
};

/* What a class has for the LID at hand, and for the root at hand. */
struct stand {
	enum manner manner;
	uint32_t pick;		/* candidate */
	uint64_t weight;	/* flows that start at its switches */
	bool is_passed;		/* others come through, this LID */
};

struct candidate {
	uint64_t load;		/* of all the class's cables that lead there */
	uint64_t sent;		/* flows since the root was taken; if nobody
				   goes through the class: LIDs */
	uint32_t seat;
	uint32_t class;		/* whose seat it is */
};

struct spread {
	struct tally *t;
	struct stand *stands;		/* by class; then the destination */
	struct candidate *candidates;
	uint64_t *way;			/* load, see struct hop_class */
	uint64_t *path;			/* seat -> load on its way */
	uint32_t *flow;			/* seat -> flows that pass, this LID */
	uint32_t *start;		/* seat -> flows that start there */
	uint8_t *has_hosts;		/* by group */
	uint8_t *picks;			/* [class][LID of RUN] -> candidate */
	uint32_t n_run;			/* LIDs there */
	uint32_t n_near;		/* of which near classes are done */
	uint32_t column;		/* of the first of them */
};

static void
spread_init(struct spread *s, struct tally *t)
{
	const struct fold *fold = t->fold;
	uint32_t sw;

	*s = (struct spread){ .t = t };
	s->stands = g_new0(struct stand, fold->n_groups + 1);
	s->candidates = g_new0(struct candidate, fold->n_hops);
	s->way = g_new(uint64_t, fold->n_cables);
	s->path = g_new0(uint64_t, fold->n_slots + 1);
	s->flow = g_new0(uint32_t, fold->n_slots + 1);
	s->start = g_new0(uint32_t, fold->n_slots + 1);
	s->has_hosts = g_new0(uint8_t, fold->n_groups);
	s->picks = g_malloc((size_t)fold->n_groups * RUN);
	for (sw = 0; sw < fold->n_slots; sw++)
		s->has_hosts[fold->group_of[sw]] |= t->g->n_hosts[sw] > 0;
}

static void
spread_clear(struct spread *s)
{
	g_free(s->stands);
	g_free(s->candidates);
	g_free(s->way);
	g_free(s->path);
	g_free(s->flow);
	g_free(s->start);
	g_free(s->has_hosts);
	g_free(s->picks);
}

static enum manner
spread_find_manner(const struct spread *s, const struct hop_class *class)
{
	const struct branch *branch =
		&s->t->aim->branches[class->first_branch];
	const struct branch *end = branch + class->n_branches;

	if (class->n_candidates == 1)
		return MANNER_FORCED;
	for (; branch < end && !class->n_seats; branch++)
		if (s->has_hosts[branch->group])
			return MANNER_WEIGH;
	return class->n_seats ? MANNER_WEIGH : MANNER_UNWEIGHED;
}

/* The loads of one branch by one candidate; returns their sum. */
static uint64_t
spread_fetch_way(const struct spread *s, const struct branch *branch,
		 uint32_t candidate, uint64_t *way)
{
	uint32_t hop = s->t->aim->options[branch->first_option + candidate];
	const uint64_t *load = &s->t->load[branch->first_cable +
					   hop * branch->n_slots];
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < branch->n_slots; i++) {
		way[i] = load[i];
		sum += load[i];
	}
	return sum;
}

static uint64_t
spread_branch_weight(const struct spread *s, const struct branch *branch)
{
	const uint32_t *weight = &s->t->weight[branch->first_slot];
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < branch->n_slots; i++)
		sum += weight[i];
	return sum;
}

static void
spread_enter_branch(struct spread *s, const struct hop_class *class,
		    const struct branch *branch)
{
	struct candidate *candidate = &s->candidates[class->first_candidate];
	const uint8_t *options = &s->t->aim->options[branch->first_option];
	const uint64_t *sum = &s->t->sum[branch->first_hop];
	uint64_t *way = &s->way[class->first_way + branch->first_seat];
	uint32_t i, seat;

	if (!class->n_seats) {
		for (i = 0; i < class->n_candidates; i++)
			candidate[i].load += sum[options[i]];
		return;
	}
	for (i = 0; i < class->n_candidates; i++, way += class->n_seats)
		candidate[i].load += spread_fetch_way(s, branch, i, way);
	seat = class->first_seat + branch->first_seat;
	for (i = 0; i < branch->n_slots; i++)
		s->flow[seat + i] = s->start[seat + i] =
			s->t->weight[branch->first_slot + i];
}

static void
spread_enter_candidate(struct spread *s, const struct hop_class *class,
		       uint32_t i)
{
	const struct aim *aim = s->t->aim;
	uint32_t slot = aim_candidate_slot(aim, s->t->fold, class, i);
	struct candidate *candidate =
		&s->candidates[class->first_candidate + i];

	*candidate = (struct candidate){ .seat = aim->seats[slot] };
	candidate->class = slot == s->t->here ? aim->n_classes :
		aim->class_of[aim->place_of[s->t->fold->group_of[
			s->t->fold->switches[slot]]]];
}

static void
spread_enter_class(struct spread *s, const struct hop_class *class)
{
	const struct aim *aim = s->t->aim;
	const struct branch *branch = &aim->branches[class->first_branch];
	const struct branch *end = branch + class->n_branches;
	struct stand *stand = &s->stands[class - aim->classes];
	uint32_t i;

	stand->manner = spread_find_manner(s, class);
	stand->weight = 0;
	if (stand->manner == MANNER_UNWEIGHED)
		return;
	for (i = 0; i < class->n_candidates; i++)
		spread_enter_candidate(s, class, i);
	for (; branch < end; branch++) {
		spread_enter_branch(s, class, branch);
		stand->weight += spread_branch_weight(s, branch);
	}
}

/* What one candidate brought to one branch becomes load of the fabric. */
static void
spread_leave_way(struct spread *s, const struct hop_class *class,
		 const struct branch *branch, uint32_t candidate)
{
	struct tally *t = s->t;
	uint32_t hop = t->aim->options[branch->first_option + candidate], i;
	uint64_t *load = &t->load[branch->first_cable + hop * branch->n_slots];
	const uint64_t *way = &s->way[class->first_way + branch->first_seat +
				      candidate * class->n_seats];
	const uint32_t *weight = &t->weight[branch->first_slot];
	uint64_t n = s->candidates[class->first_candidate + candidate].sent;
	uint64_t sum = 0;

	for (i = 0; i < branch->n_slots; i++) {
		load[i] = class->n_seats ? way[i] : load[i] + weight[i] * n;
		sum += load[i];
	}
	t->sum[branch->first_hop + hop] = sum;
}

static void
spread_leave_class(struct spread *s, const struct hop_class *class)
{
	const struct aim *aim = s->t->aim;
	const struct branch *branch, *end;
	uint32_t i;

	if (s->stands[class - aim->classes].manner == MANNER_UNWEIGHED)
		return;
	for (i = 0; i < class->n_candidates; i++) {
		if (!s->candidates[class->first_candidate + i].sent)
			continue;
		branch = &aim->branches[class->first_branch];
		end = branch + class->n_branches;
		for (; branch < end; branch++)
			spread_leave_way(s, class, branch, i);
	}
}

/* Of n candidates the one with the least load from here to the destination,
 * summed over the switches of the class; ties to the first. */
static uint32_t
spread_decide(const struct candidate *candidate, uint32_t n,
	      const uint64_t *path, uint64_t n_slots)
{
	const struct candidate *first = candidate, *end = candidate + n;
	const struct candidate *chosen = candidate;
	uint64_t best, cost;

	best = candidate->load + n_slots * path[candidate->seat];
	while (++candidate < end) {
		/* Two conditional moves: a branch would be mispredicted. */
		cost = candidate->load + n_slots * path[candidate->seat];
		chosen = cost < best ? candidate : chosen;
		best = cost < best ? cost : best;
	}
	return (uint32_t)(chosen - first);
}

static uint32_t
spread_pick(const struct spread *s, const struct hop_class *class,
	    const struct stand *stand, uint32_t turn)
{
	switch (stand->manner) {
	case MANNER_WEIGH:
		return spread_decide(&s->candidates[class->first_candidate],
				     class->n_candidates, s->path,
				     class->n_slots);
	case MANNER_FORCED:
		return 0;
	case MANNER_UNWEIGHED:
		return turn % class->n_candidates;
	}
	g_assert_not_reached();
}

/* Near to far, each class decides. */
static void
spread_choose(struct spread *s, uint32_t turn)
{
	const struct aim *aim = s->t->aim;
	const struct hop_class *class = aim->classes;
	const struct hop_class *end = class + aim->n_classes;
	struct stand *stand = s->stands;
	uint8_t *picks = s->picks + s->n_run;
	const uint64_t *way;
	uint64_t onward, *path;
	uint32_t i;

	for (; class < end; class++, stand++, picks += RUN) {
		stand->pick = spread_pick(s, class, stand, turn);
		*picks = (uint8_t)stand->pick;
		if (!class->n_seats)
			continue;
		onward = s->path[s->candidates[class->first_candidate +
					       stand->pick].seat];
		way = &s->way[class->first_way + stand->pick * class->n_seats];
		path = &s->path[class->first_seat];
		for (i = 0; i < class->n_seats; i++)
			path[i] = way[i] + onward;
	}
}

/* Puts what starts at or passes through a class on the cables it chose. Leaves
 * flow[] as it was: what starts there. Returns the sum of flows. */
static uint64_t
spread_load_class(struct spread *s, const struct hop_class *class,
		  const struct stand *stand)
{
	uint32_t *flow = &s->flow[class->first_seat], i, sum = 0;
	const uint32_t *start = &s->start[class->first_seat];
	uint64_t *way;

	if (!class->n_seats)
		return stand->weight;
	way = &s->way[class->first_way + stand->pick * class->n_seats];
	for (i = 0; i < class->n_seats; i++) {
		way[i] += flow[i];
		sum += flow[i];
		flow[i] = start[i];
	}
	return sum;
}

/* Far to near, the flows of the LID at hand become load. */
static void
spread_load(struct spread *s)
{
	const struct aim *aim = s->t->aim;
	const struct hop_class *class = aim->classes + aim->n_classes;
	struct stand *stand = s->stands + aim->n_classes;
	struct candidate *candidate;
	uint64_t flow;

	while (class-- > aim->classes) {
		stand--;
		if (stand->manner == MANNER_UNWEIGHED ||
		    (!stand->is_passed && stand->weight == 0))
			continue;
		flow = spread_load_class(s, class, stand);
		candidate = &s->candidates[class->first_candidate +
					   stand->pick];
		candidate->load += flow;
		candidate->sent += class->n_seats ? flow : 1;
		s->flow[candidate->seat] += (uint32_t)flow;
		stand->is_passed = false;
		s->stands[candidate->class].is_passed = true;
	}
	s->flow[0] = 0;		/* arrived */
}

/* Adds `extra` to the load of the cables of a branch that `lid` uses; tables
 * say which. */
static void
spread_surcharge(struct spread *s, const struct hop_class *class,
		 const struct branch *branch, uint16_t lid, uint64_t extra)
{
	const uint8_t *options = &s->t->aim->options[branch->first_option];
	const uint8_t *option = memchr(options, fold_position(
				s->t->fold, s->t->out, branch->group, lid),
				class->n_candidates);
	uint32_t candidate, i;
	uint64_t *way;

	g_assert(option);
	candidate = (uint32_t)(option - options);
	s->candidates[class->first_candidate + candidate].load +=
		extra * branch->n_slots;
	way = &s->way[class->first_way + candidate * class->n_seats +
		      branch->first_seat];
	for (i = 0; class->n_seats && i < branch->n_slots; i++)
		way[i] += extra;
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
	const struct aim *aim = s->t->aim;
	const struct hop_class *class;
	uint32_t i, k;
	uint16_t elder;

	for (elder = column->base; elder < column->lid; elder++)
		for (i = 0; i < aim->n_classes; i++) {
			class = &aim->classes[i];
			if (s->stands[i].manner == MANNER_UNWEIGHED)
				continue;
			for (k = 0; k < class->n_branches; k++)
				spread_surcharge(s, class, &aim->branches[
						class->first_branch + k],
						elder, extra);
		}
}

/* One LID. */
static void
spread_lid(struct spread *s, const struct fold_column *column)
{
	uint64_t extra = tally_extra(s->t);

	spread_add_siblings(s, column, extra);
	spread_choose(s, (s->t->all_send ? column->slot : 0) +
		      (column->lid - column->base));
	spread_add_siblings(s, column, -extra);
	spread_load(s);
	s->t->total += s->t->n_flows;
	s->n_run++;
}

/* What a class picked for the LIDs of a run, group by group. */
static void
spread_expand_class(struct spread *s, uint32_t i, uint32_t from)
{
	const struct aim *aim = s->t->aim;
	const struct hop_class *class = &aim->classes[i];
	const struct branch *branch = &aim->branches[class->first_branch];
	const struct branch *end = branch + class->n_branches;
	const uint8_t *picks = &s->picks[(size_t)i * RUN], *options;
	uint8_t *positions;
	uint32_t k;

	for (; branch < end; branch++) {
		options = &aim->options[branch->first_option];
		positions = s->t->choices + s->column +
			(size_t)branch->group * s->t->n_columns;
		for (k = from; k < s->n_run; k++)
			positions[k] = options[picks[k]];
	}
}

/* Near classes have another last hop for each member of the root's group. */
static void
spread_expand_near(struct spread *s)
{
	uint32_t i;

	for (i = 0; i < s->t->aim->n_near; i++)
		spread_expand_class(s, i, s->n_near);
	s->n_near = s->n_run;
}

static void
spread_expand(struct spread *s)
{
	uint32_t i;

	if (s->n_run == 0)
		return;
	spread_expand_near(s);
	for (i = s->t->aim->n_near; i < s->t->aim->n_classes; i++)
		spread_expand_class(s, i, 0);
	s->column += s->n_run;
	s->n_run = s->n_near = 0;
}

/* From one member of a group to the next: who is near gets there by another
 * cable, and of the twins another one is silent. All else stays. */
static void
spread_turn_member(struct spread *s, uint32_t slot)
{
	struct tally *t = s->t;
	struct aim *aim = t->aim;
	uint32_t i;

	spread_expand_near(s);
	for (i = 0; i < aim->n_near; i++)
		spread_leave_class(s, &aim->classes[i]);
	if (aim->twins != AIM_FAR)
		spread_leave_class(s, &aim->classes[aim->twins]);
	aim_turn(aim, t->fold, slot - t->fold->groups[aim->root].first_slot);
	tally_move(t, slot);
	for (i = 0; i < aim->n_near; i++)
		spread_enter_class(s, &aim->classes[i]);
	if (aim->twins != AIM_FAR)
		spread_enter_class(s, &aim->classes[aim->twins]);
}

static void
spread_leave(struct spread *s)
{
	const struct aim *aim = s->t->aim;
	uint32_t i;

	if (s->t->here == TALLY_NOWHERE)
		return;
	spread_expand(s);
	for (i = 0; i < aim->n_classes; i++)
		spread_leave_class(s, &aim->classes[i]);
	tally_leave(s->t);
}

/* Aims at the destination in `slot`. */
static void
spread_turn(struct spread *s, uint32_t slot)
{
	struct tally *t = s->t;
	uint32_t root = t->fold->group_of[t->fold->switches[slot]], i;

	if (t->here != TALLY_NOWHERE && t->aim->root == root) {
		spread_turn_member(s, slot);
		return;
	}
	spread_leave(s);
	aim_take(t->aim, t->fold, root);
	aim_turn(t->aim, t->fold, slot - t->fold->groups[root].first_slot);
	tally_move(t, slot);
	for (i = 0; i < t->aim->n_classes; i++)
		spread_enter_class(s, &t->aim->classes[i]);
}

static void
spread_chunk(void *data, const struct fold_column *columns, uint32_t n)
{
	struct spread *s = data;
	struct tally *t = s->t;
	uint32_t i;

	memset(t->choices, (int)FOLD_NO_HOP,
	       (size_t)t->fold->n_groups * t->n_columns);
	s->column = 0;
	for (i = 0; i < n; i++) {
		if (s->n_run == RUN)
			spread_expand(s);
		if (columns[i].slot != t->here)
			spread_turn(s, columns[i].slot);
		spread_lid(s, &columns[i]);
	}
	spread_leave(s);
	fold_store(t->fold, t->choices, t->n_columns, columns, n, t->out);
}

void
spread_all(struct tally *t)
{
	struct spread s;

	spread_init(&s, t);
	tally_pass_all(t, NULL, spread_chunk, &s);
	spread_clear(&s);
}
