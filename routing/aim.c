// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths to one switch, found and sorted for all twins of it at once.
 *
 * Purpose. What a destination has in common with its twins (distances, who
 * may go through whom, who has the same choice) is found once for the group,
 * so that an engine's work for a LID is decisions and nothing else.
 *
 * Structs. A branch is a group of the fold on its way. Its options are the
 * positions by which it gets closer. Branches whose options lead to the same
 * switches, cable by cable, form a class; what they lead to are the class's
 * candidates, in the same order as the options. Towards a host in another
 * pod of a fat tree all pods share the classes of their second stage: 1,620
 * switches come to 90 decisions among 1,008 candidates.
 *
 * Flow. aim_take: aim_measure() (breadth first), aim_classify() (a hash of the
 * bundles that lead closer, compared in full), aim_lay_out(), aim_seat();
 * aim_turn() for the next twin. Everything is sized for the worst case once;
 * nothing is allocated for a destination.
 */
#include "routing/aim.h"

#include <string.h>

struct aim *
aim_new(const struct fold *fold)
{
	struct aim *aim = g_new0(struct aim, 1);
	uint32_t i;

	aim->level = g_new(uint32_t, fold->n_groups);
	aim->goes = g_new(uint8_t, fold->n_groups);
	aim->reached = g_new(uint32_t, fold->n_groups);
	aim->falling = g_new(uint32_t, fold->n_groups);
	aim->rising = g_new(uint32_t, fold->n_groups);
	aim->class_of = g_new(uint32_t, fold->n_groups);
	aim->place_of = g_new(uint32_t, fold->n_groups);
	aim->first_step = g_new(uint32_t, fold->n_groups + 1);
	aim->steps = g_new(uint32_t, fold->n_bundles);
	aim->carries = g_new(uint8_t, fold->n_groups);
	aim->n_buckets = 16;
	while (aim->n_buckets < 2 * fold->n_groups)
		aim->n_buckets *= 2;
	aim->buckets = g_new(uint32_t, aim->n_buckets);
	aim->branches = g_new(struct branch, fold->n_groups);
	aim->classes = g_new(struct hop_class, fold->n_groups);
	aim->options = g_new(uint8_t, fold->n_hops);
	for (i = 0; i < FOLD_MAX_HOPS; i++)
		aim->count[i] = (uint8_t)i;
	aim->seats = g_new(uint32_t, fold->n_slots);
	return aim;
}

void
aim_free(struct aim *aim)
{
	g_free(aim->level);
	g_free(aim->goes);
	g_free(aim->reached);
	g_free(aim->falling);
	g_free(aim->rising);
	g_free(aim->class_of);
	g_free(aim->place_of);
	g_free(aim->first_step);
	g_free(aim->steps);
	g_free(aim->carries);
	g_free(aim->buckets);
	g_free(aim->branches);
	g_free(aim->classes);
	g_free(aim->options);
	g_free(aim->seats);
	g_free(aim);
}

/*
 * Adds the neighbours of a group that have no way yet, and that go `way` to
 * get to it. Returns the new length of the queue.
 */
static uint32_t
aim_spread(struct aim *aim, const struct fold *fold, uint32_t from,
	   uint32_t level, enum fold_way way, uint32_t *queue, uint32_t n)
{
	const struct group *group = &fold->groups[from];
	const struct bundle *bundle = &fold->bundles[group->first_bundle];
	const struct bundle *end = bundle + group->n_bundles;
	/* Seen from here, those who go down are above. */
	uint32_t back = (FOLD_WAY_UP | FOLD_WAY_DOWN) ^ way;

	for (; bundle < end; bundle++) {
		if (aim->level[bundle->peer] != AIM_FAR ||
		    !(bundle->ways & back))
			continue;
		aim->level[bundle->peer] = level;
		aim->goes[bundle->peer] = (uint8_t)way;
		queue[n++] = bundle->peer;
	}
	return n;
}

/*
 * From one switch of group `root`, whichever: its twins are two hops away
 * (over any neighbour) and, having no neighbours but those, on nobody's way.
 * Breadth first those who go down only; then the others, from these and from
 * each other, near to far.
 */
void
aim_measure(struct aim *aim, const struct fold *fold, uint32_t root)
{
	uint32_t n_falling, n_rising, i = 0, k = 0, group;

	memset(aim->level, 0xff, fold->n_groups * sizeof(*aim->level));
	aim->root = root;
	aim->n_reached = 0;
	aim->depth = 0;
	if (fold->groups[root].n_slots == 1) {
		aim->level[root] = 0;
		aim->goes[root] = FOLD_WAY_DOWN;
	}

	n_falling = aim_spread(aim, fold, root, 1, FOLD_WAY_DOWN,
			       aim->falling, 0);
	for (i = 0; i < n_falling; i++)
		n_falling = aim_spread(aim, fold, aim->falling[i],
				       aim->level[aim->falling[i]] + 1,
				       FOLD_WAY_DOWN, aim->falling,
				       n_falling);
	n_rising = aim_spread(aim, fold, root, 1, FOLD_WAY_UP, aim->rising, 0);
	for (i = 0; i < n_falling || k < n_rising; ) {
		if (k == n_rising || (i < n_falling &&
		    aim->level[aim->falling[i]] <=
		    aim->level[aim->rising[k]]))
			group = aim->falling[i++];
		else
			group = aim->rising[k++];
		aim->reached[aim->n_reached++] = group;
		aim->depth = aim->level[group];
		n_rising = aim_spread(aim, fold, group, aim->depth + 1,
				      FOLD_WAY_UP, aim->rising, n_rising);
	}
}

/* Lists the bundles by which the group at place i among those reached gets a
 * step closer. */
static void
aim_find_steps(struct aim *aim, const struct fold *fold, uint32_t i)
{
	uint32_t group = aim->reached[i], n = aim->first_step[i];
	uint32_t level = aim->level[group];
	uint32_t b = fold->groups[group].first_bundle;
	uint32_t end = b + fold->groups[group].n_bundles;
	const struct bundle *bundle = &fold->bundles[b];

	/* DOWN is more than UP: who goes down wants one who does, too. */
	for (; b < end; b++, bundle++)
		if (aim->level[bundle->peer] + 1 == level &&
		    bundle->ways & aim->goes[group] &&
		    aim->goes[bundle->peer] >= aim->goes[group])
			aim->steps[n++] = b;
	aim->first_step[i + 1] = n;
}

/* Do the groups at two places have the same candidates? */
static bool
aim_agree(const struct aim *aim, const struct fold *fold, uint32_t a,
	  uint32_t b)
{
	const uint32_t *x = &aim->steps[aim->first_step[a]];
	const uint32_t *y = &aim->steps[aim->first_step[b]];
	uint32_t n = aim->first_step[a + 1] - aim->first_step[a], i;

	if (aim->first_step[b + 1] - aim->first_step[b] != n)
		return false;
	for (i = 0; i < n; i++)
		if (fold->bundles[x[i]].peer != fold->bundles[y[i]].peer ||
		    fold->bundles[x[i]].width != fold->bundles[y[i]].width)
			return false;
	return true;
}

static uint32_t
aim_add_class(struct aim *aim, uint32_t model)
{
	struct hop_class *class = &aim->classes[aim->n_classes];

	memset(class, 0, sizeof(*class));
	class->model = model;
	return aim->n_classes++;
}

/* The class of a group that is two or more hops away, by its place. Marks the
 * groups that it may go through. */
static uint32_t
aim_find_class(struct aim *aim, const struct fold *fold, uint32_t place)
{
	uint64_t hash = 0;
	uint32_t *bucket, i, peer;

	for (i = aim->first_step[place]; i < aim->first_step[place + 1]; i++) {
		peer = fold->bundles[aim->steps[i]].peer;
		hash = (hash ^ peer) * 0x9e3779b97f4a7c15u;
		aim->carries[peer] = 1;
	}
	for (i = (uint32_t)(hash >> 32);; i++) {
		bucket = &aim->buckets[i & (aim->n_buckets - 1)];
		if (*bucket == 0)
			break;
		if (aim_agree(aim, fold, aim->classes[*bucket - 1].model,
			      place))
			return *bucket - 1;
	}
	*bucket = aim_add_class(aim, place) + 1;
	return *bucket - 1;
}

/* Sorts the groups that were reached into classes, near to far. */
static void
aim_classify(struct aim *aim, const struct fold *fold)
{
	uint32_t i, class;

	aim->n_classes = 0;
	aim->n_near = 0;
	aim->twins = AIM_FAR;
	aim->first_step[0] = 0;
	memset(aim->buckets, 0, aim->n_buckets * sizeof(*aim->buckets));
	memset(aim->carries, 0, fold->n_groups);

	for (i = 0; i < aim->n_reached; i++) {
		if (aim->level[aim->reached[i]] == 1) {
			/* Its own cables to the destination are all it has
			 * to choose from. */
			aim->first_step[i + 1] = 0;
			class = aim_add_class(aim, i);
			aim->n_near++;
		} else {
			aim_find_steps(aim, fold, i);
			class = aim_find_class(aim, fold, i);
		}
		if (aim->reached[i] == aim->root)
			aim->twins = class;
		aim->class_of[i] = class;
		aim->place_of[aim->reached[i]] = i;
		aim->classes[class].n_branches++;
	}
}

/* The cables of a neighbour to the root; those to the member at hand come
 * `width` at a time, see aim_turn(). */
static const struct bundle *
aim_last_step(const struct aim *aim, const struct fold *fold, uint32_t group)
{
	const struct bundle *bundle;

	bundle = &fold->bundles[fold->groups[group].first_bundle];
	while (bundle->peer != aim->root)
		bundle++;
	return bundle;
}

/* Lists the positions by which the group at a place gets closer; returns their
 * number. */
static uint32_t
aim_list_options(const struct aim *aim, const struct fold *fold,
		 uint32_t place, uint8_t *options)
{
	const struct bundle *step;
	uint32_t n = 0, i, width;

	if (aim->level[aim->reached[place]] == 1)	/* see aim_turn() */
		return aim_last_step(aim, fold, aim->reached[place])->width;
	for (i = aim->first_step[place]; i < aim->first_step[place + 1]; i++) {
		step = &fold->bundles[aim->steps[i]];
		width = step->width * fold->groups[step->peer].n_slots;
		memcpy(&options[n], &aim->count[step->first], width);
		n += width;
	}
	return n;
}

/* The group at place i among those reached becomes a branch of its class,
 * with its options from `option` on; returns their number. */
static uint32_t
aim_add_branch(struct aim *aim, const struct fold *fold, uint32_t i,
	       uint32_t option)
{
	struct hop_class *class = &aim->classes[aim->class_of[i]];
	const struct group *group = &fold->groups[aim->reached[i]];
	struct branch *branch;

	branch = &aim->branches[class->first_branch + class->n_branches++];
	branch->group = aim->reached[i];
	branch->first_slot = group->first_slot;
	branch->n_slots = group->n_slots;
	branch->first_hop = group->first_hop;
	branch->first_cable = group->first_cable;
	branch->carries = aim->carries[branch->group];
	branch->first_option = option;
	branch->first_seat = class->n_slots;
	class->n_slots += branch->n_slots;
	class->n_seats |= branch->carries;	/* counted below */
	return aim_list_options(aim, fold, i, &aim->options[option]);
}

/* Gives everybody in a class a seat if one of them needs it. */
static void
aim_seat_class(struct aim *aim, const struct hop_class *class)
{
	const struct branch *branch = &aim->branches[class->first_branch];
	const struct branch *end = branch + class->n_branches;
	uint32_t i, seat = class->first_seat;

	for (; branch < end; branch++)
		for (i = 0; i < branch->n_slots; i++)
			aim->seats[branch->first_slot + i] = seat++;
}

static void
aim_seat(struct aim *aim)
{
	struct hop_class *class = aim->classes;
	const struct hop_class *end = class + aim->n_classes;
	uint32_t seat = 1, way = 0, candidate = 0;

	for (; class < end; class++) {
		class->n_seats = class->n_seats ? class->n_slots : 0;
		class->first_seat = seat;
		class->first_way = way;
		class->first_candidate = candidate;
		seat += class->n_seats;
		way += class->n_seats * class->n_candidates;
		candidate += class->n_candidates;
		if (class->n_seats)
			aim_seat_class(aim, class);
	}
}

/* Lays out branches and options of all classes. Near classes get the first
 * member as their destination until aim_turn() says otherwise. */
static void
aim_lay_out(struct aim *aim, const struct fold *fold)
{
	struct hop_class *class;
	uint32_t i, n, first = 0, option = 0;

	for (class = aim->classes; class < aim->classes + aim->n_classes;
	     class++) {
		class->first_branch = first;
		first += class->n_branches;
		class->n_branches = 0;	/* counted again below */
	}
	for (i = 0; i < aim->n_reached; i++) {
		n = aim_add_branch(aim, fold, i, option);
		aim->classes[aim->class_of[i]].n_candidates = n;
		option += n;
	}
	aim_seat(aim);
}

void
aim_take(struct aim *aim, const struct fold *fold, uint32_t root)
{
	aim_measure(aim, fold, root);
	aim_classify(aim, fold);
	aim_lay_out(aim, fold);
	aim_turn(aim, fold, 0);
}

void
aim_turn(struct aim *aim, const struct fold *fold, uint32_t member)
{
	const struct hop_class *class;
	const struct bundle *last;
	uint8_t *options;
	uint32_t i;

	aim->seats[fold->groups[aim->root].first_slot + member] = 0;
	for (class = aim->classes; class < aim->classes + aim->n_near;
	     class++) {
		last = aim_last_step(aim, fold, aim->reached[class->model]);
		options = &aim->options[aim->branches[
			class->first_branch].first_option];
		for (i = 0; i < last->width; i++)
			options[i] = (uint8_t)(last->first +
					       member * last->width + i);
	}
}
