// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of programming.
 *
 * The steps of a plan are in an order only where correctness requires it, and
 * each condition is local to the step that depends on it:
 *
 *	LFT blocks of a switch -> its SwitchInfo (LinearFDBTop must not rise
 *	and the clearing of	  over blocks that are not written yet, nor
 *	its MFT and of		  MulticastFDBTop over old entries; and the
 *	PortStateChange		  two Sets of SwitchInfo must not overtake each
 *				  other, since each has all of its components)
 *				  -> the switch is *routed*
 *	both ends of a cable routed (a CA is), the tables of both ports
 *	written, and the nodes at them still the same -> Armed at both ends
 *	both ends Armed -> Active at both ends
 *	tables of both ports written -> PortInfo that switches partition
 *			   enforcement on
 *
 * So a switch that does not answer delays only its own cables, and a port whose
 * P_Key table could not be written stays down rather than come up with the
 * P_Keys of another host. A port that is Active already is left alone. PortInfo
 * without a change of state, blocks of the tables of ports, and the clearing of
 * PortStateChange are sent at once. (IBA 14.3.6: a port that is not Active
 * carries no data, so an incomplete table behind a link in Init or Armed does
 * no harm.)
 *
 * Blocks of forwarding tables. An agent writes them one after the other; SMPs
 * that it cannot accept yet wait in a small buffer, which drops (VL15 has no
 * flow control, IBA 7.9). So one block of each switch is sent after the other, and
 * of each only a few are in flight.
 *
 * A working path keeps working. For each entry that a block changes, the path
 * from its switch to the LID is followed through the tables that the switches
 * hold now:
 *
 *	it is broken		the entry carries nothing, or to a port that
 *				had the LID before: it may change, unless the
 *				new next hop may still send back to this
 *				switch: it waits until the reply says that the
 *				entry there has changed, cleared meanwhile if it
 *				leads into a link that this plan brings up
 *	it works		it may change once the path from the new next
 *				hop works as well: until then it waits, if the
 *				plan has the first missing thing on that path:
 *				a block, a link, or LinearFDBTop
 *	a block of it is	it waits for the reply
 *	in flight
 *
 * So tables are written from the destination towards the sources, but only
 * where a path was broken, and a link carries traffic only when it is Active. A
 * block with broken entries and with waiting ones is written twice, the broken
 * entries first. The path for which an entry waits is always broken itself, so
 * there is no cyclic wait, unless mixtures of old and new entries can form
 * forwarding loops (with engines that do not exclude them). A cyclic wait is
 * ended by writing, of each block, all entries that may change. A block that
 * waits and has no broken entry does not delay SwitchInfo and links, since its
 * paths work.
 *
 * Blocks that wait are looked at again in the next pass over all switches, once
 * half of what was in flight when the last one began has been acknowledged, and
 * so much more that the cost of looking does not matter: of each block first
 * the entry for which it waited.
 *
 * If old and new tables have a credit loop together (routing/transition.h),
 * blocks first become those of the bridge, and when all have, those of the next
 * stage. If a block fails, the other switches stay at this stage. If only hosts
 * that cannot send yet would close the loop, their links are activated after
 * all blocks are written.
 */
#include "sm/sweep/program_order.h"

#include <string.h>

#include "routing/transition.h"

#define BLOCKS_MAX	8u	/* of a switch, in flight at a time */
#define NO_STEP		UINT32_MAX
#define NOWHERE		UINT32_MAX
#define END		(UINT32_MAX - 1)	/* not a switch */
#define HOPS_MAX	64u

struct progress {		/* of a switch */
	uint32_t first_port, num_ports;
	uint32_t steps_left;	/* blocks, and the clearing of
				   PortStateChange */
	uint32_t switch_step;	/* PLAN_SWITCH or NO_STEP */
	uint32_t first_block, next_block, end_block; /* its PLAN_LFT steps */
	uint16_t top;		/* LinearFDBTop that it has */
	uint16_t n_cleared;	/* blocks of its PLAN_MFT step */
	uint8_t in_flight;	/* blocks */
	bool carries;		/* one of its links is Active */
	bool failed;
	bool routed;
};

struct port_progress {
	uint32_t arm, activate;	/* step or NO_STEP */
	uint32_t guarded;	/* likewise; switches enforcement on and
				   waits for tables */
	uint32_t tables_left;	/* blocks that are not written; one that
				   failed stays counted */
	uint32_t to;		/* the switch at the other end, or END */
	bool in_doubt;		/* of the node behind it, see
				   program_order_look_again() */
	bool opened;		/* of the cable: its ends may be armed */
	bool armed;		/* it is Armed, or was already */
	bool raised;		/* its activation was sent */
	bool up;		/* this end is Active */
	bool carries;		/* both ends are */
};

struct block {			/* a PLAN_LFT step */
	uint8_t entry;		/* is_parked: the one that has to wait;
				   LFT_BLOCK: it is not known */
	bool is_due;		/* to be written, changed or not */
	bool is_sent;		/* in flight */
	bool is_parked;		/* to be looked at in the next pass */
	bool is_late;		/* as in the bridge, which is not final */
	bool is_counted;	/* its switch no longer waits for it */
	bool is_over;
};

struct program_order {
	const struct snapshot *s;
	const struct desired *w;
	const struct plan *plan;
	const struct lft_seen *seen;
	const struct lft *target;	/* the tables of this stage */
	struct lft *bridge;		/* w->bridge with the changes of
					   stages; NULL: none yet */
	unsigned stage;			/* of w->later */
	struct progress *switches;	/* by switch index */
	struct port_progress *ports;
	struct block *blocks;		/* by step, of PLAN_LFT */
	GArray *ready; /* of struct program_order_action, from head */
	guint head;
	uint32_t at;			/* the switch that may send next */
	bool is_over;			/* no other one may, in this pass */
	uint32_t in_flight;		/* Sets */
	uint32_t n_before, n_ended;	/* in flight when this pass began, and
					   ended since */
	bool has_news;			/* what a block waits for may have come
					   since then */
	uint32_t n_parked, n_late;
	uint32_t *rushed;		/* see program_order_new() */
	uint32_t blocks_left;		/* that have not ended, or have
					   failed */
	bool has_failed;		/* a block failed */
	bool has_sent;			/* a block was sent since the last
					   resume */
	bool in_parts;			/* write all entries that may change */
	bool looked_back;
	uint8_t entries[LFT_BLOCK];	/* of the block to be sent */
};

static struct progress *
progress_of(struct program_order *o, uint32_t node)
{
	return &o->switches[o->s->nodes[node].sw_index];
}

void
program_order_add(struct program_order *o, enum program_order_act act,
		  uint32_t what)
{
	struct program_order_action a = { .what = what, .act = act };

	g_array_append_val(o->ready, a);
}

static void
queue_step(struct program_order *o, uint32_t step)
{
	if (step != NO_STEP)
		program_order_add(o, PROGRAM_ORDER_STEP, step);
}

/* Links: arm, then activate. */

static void
link_activate(struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;

	if (!o->ports[port].armed || !o->ports[peer].armed)
		return;
	queue_step(o, o->ports[port].activate);
	if (peer != port)
		queue_step(o, o->ports[peer].activate);
}

/* Both ends are Active: the link carries data. */
static void
link_is_up(struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;
	const uint32_t ends[] = { port, peer };

	o->ports[port].up = true;
	if (peer == SNAPSHOT_NONE || !o->ports[peer].up)
		return;
	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
		o->ports[ends[i]].carries = true;
		if (o->ports[ends[1 - i]].to != END)
			o->switches[o->ports[ends[1 - i]].to].carries = true;
	}
	o->has_news = true;
}

static bool
tables_written(const struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;

	return !o->ports[port].tables_left &&
		(peer == SNAPSHOT_NONE || !o->ports[peer].tables_left);
}

/* Would the host close a credit loop with old entries? */
static bool
must_wait(const struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;

	return o->w->hosts_wait && o->blocks_left &&
		(o->ports[port].to == END || o->ports[peer].to == END);
}

/* Called for every event that a link may have waited for; the lower port
 * stands for the cable. */
static void
link_try(struct program_order *o, uint32_t port)
{
	const uint32_t ends[] = { port, o->s->ports[port].peer };
	struct port_progress *first;

	if (ends[1] == SNAPSHOT_NONE)
		return;
	first = &o->ports[MIN(port, ends[1])];
	if (first->opened || !tables_written(o, port) || must_wait(o, port))
		return;
	for (unsigned k = 0; k < 2; k++) {
		const struct snapshot_node *n = snapshot_node_of(o->s, ends[k]);

		if (o->ports[ends[k]].in_doubt || (snapshot_is_switch(n) &&
		    !o->switches[n->sw_index].routed))
			return;
	}
	first->opened = true;
	for (unsigned k = 0; k < 2 && (!k || ends[1] != ends[0]); k++) {
		o->ports[ends[k]].armed = o->ports[ends[k]].arm == NO_STEP;
		queue_step(o, o->ports[ends[k]].arm);
	}
	link_activate(o, port);
}

/* A switch that enforces partitions with a table that is not written yet
 * would drop valid packets. */
static void
guarded_try(struct program_order *o, uint32_t port)
{
	if (o->ports[port].guarded == NO_STEP || !tables_written(o, port))
		return;
	queue_step(o, o->ports[port].guarded);
	o->ports[port].guarded = NO_STEP;
}

/* Switches: blocks, SwitchInfo, then their links. */

static void
switch_routed(struct program_order *o, uint32_t node)
{
	struct progress *g = progress_of(o, node);

	g->routed = true;
	for (unsigned num = 1; num <= g->num_ports; num++)
		link_try(o, g->first_port + num);
}

static void
switch_step_over(struct program_order *o, uint32_t node)
{
	struct progress *g = progress_of(o, node);

	if (--g->steps_left || g->failed)
		return;
	if (g->switch_step != NO_STEP)
		queue_step(o, g->switch_step);
	else
		switch_routed(o, node);
}

/* The switch no longer waits for this block. */
static void
block_count(struct program_order *o, uint32_t step)
{
	struct block *b = &o->blocks[step];

	if (b->is_counted)
		return;
	b->is_counted = true;
	switch_step_over(o, o->plan->steps[step].node);
}

/* Paths in the present and in the new tables. */

static const struct block *
find_lft_step(const struct program_order *o, uint32_t sw, uint16_t lid)
{
	const struct progress *g = &o->switches[sw];
	uint32_t low = g->first_block, high = g->end_block;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->plan->steps[middle].block < lid / LFT_BLOCK)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == g->end_block ||
	    o->plan->steps[low].block != lid / LFT_BLOCK)
		return NULL;
	return &o->blocks[low];
}

static uint8_t
held_entry(const struct program_order *o, uint32_t sw, uint16_t lid)
{
	const uint8_t *held = lft_seen_block(o->seen, sw, lid / LFT_BLOCK);

	return held && lid <= o->switches[sw].top ? held[lid % LFT_BLOCK] :
		LFT_NO_PATH;
}

enum path { PATH_WORKS, PATH_BROKEN, PATH_CHANGES };

/* Follows the present path from a switch to a LID; a path through switch
 * `without` counts as broken. PATH_CHANGES: a block of it is in flight. */
static enum path
follow_path(const struct program_order *o, uint32_t sw, uint16_t lid,
	    uint32_t without)
{
	uint32_t owner = o->w->lids ? lid_map_owner(o->w->lids, lid) :
		SNAPSHOT_NONE, port;

	for (unsigned hop = 0; hop < HOPS_MAX && sw != without; hop++) {
		const struct progress *g = &o->switches[sw];
		uint8_t num = held_entry(o, sw, lid);
		const struct port_progress *p;
		const struct block *b;

		if (num > g->num_ports)
			return PATH_BROKEN;
		b = lft_row(o->target, sw)[lid] == num ? NULL :
			find_lft_step(o, sw, lid);
		if (b && b->is_sent)
			return PATH_CHANGES;
		port = g->first_port + num;
		p = &o->ports[port];
		/* The end of the path: before, another port may have had the
		 * LID. */
		if (num == 0 || (p->carries && p->to == END))
			return owner == SNAPSHOT_NONE || owner ==
				(num ? o->s->ports[port].peer : port) ?
				PATH_WORKS : PATH_BROKEN;
		if (!p->carries)
			return PATH_BROKEN;
		sw = p->to;
	}
	return PATH_BROKEN;
}

/* Does the plan bring this link up, and before all blocks are written? */
static bool
link_will_carry(const struct program_order *o, uint32_t port)
{
	uint32_t peer = o->s->ports[port].peer;

	return peer != SNAPSHOT_NONE && !must_wait(o, port) &&
		(o->ports[port].activate != NO_STEP ||
		 o->ports[peer].activate != NO_STEP);
}

/* Does the plan have the first missing thing on the new path from a switch to a
 * LID? */
static bool
path_will_work(const struct program_order *o, uint32_t sw, uint16_t lid)
{
	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		const struct progress *g = &o->switches[sw];
		uint8_t num = lft_row(o->target, sw)[lid];
		const struct port_progress *p;
		const struct block *b;

		if (lid > g->top)
			return g->switch_step != NO_STEP;
		if (held_entry(o, sw, lid) != num) {
			b = find_lft_step(o, sw, lid);
			return b && !b->is_late;
		}
		if (num == 0 || num > g->num_ports)
			return false;
		p = &o->ports[g->first_port + num];
		if (!p->carries)
			return link_will_carry(o, g->first_port + num);
		if (p->to == END)
			return false;
		sw = p->to;
	}
	return false;
}

enum change {
	CHANGE_BROKEN,		/* yes, the present path is broken */
	CHANGE_NOW,		/* yes, the new path works */
	CHANGE_RUSHED,		/* yes, the plan makes no new path work */
	CHANGE_WAITS,		/* no, something is to come first */
	N_CHANGES
};

/* May packets come straight back, since the next hop still has its old entry,
 * which the plan changes? It may have it while its block is in flight, and for
 * good if that Set was lost. */
static bool
comes_back(const struct program_order *o, uint32_t sw, uint16_t lid)
{
	const struct progress *g = &o->switches[sw];
	uint8_t num = lft_row(o->target, sw)[lid], back;
	uint32_t to;

	if (num == 0 || num > g->num_ports)
		return false;
	to = o->ports[g->first_port + num].to;
	if (to == END || lid > o->switches[to].top)
		return false;
	if (!lft_seen_block(o->seen, to, lid / LFT_BLOCK))
		return find_lft_step(o, to, lid) != NULL;
	back = held_entry(o, to, lid);
	return back && back <= o->switches[to].num_ports &&
		o->ports[o->switches[to].first_port + back].to == sw &&
		lft_row(o->target, to)[lid] != back;
}

/* May this entry change? */
static enum change
judge_entry(const struct program_order *o, uint32_t sw, uint16_t lid)
{
	const struct progress *g = &o->switches[sw];
	uint8_t num = lft_row(o->target, sw)[lid];
	const struct port_progress *p;
	bool will_work;

	if (follow_path(o, sw, lid, NOWHERE) == PATH_BROKEN)
		return comes_back(o, sw, lid) ? CHANGE_WAITS : CHANGE_BROKEN;
	if (num == 0)
		return CHANGE_NOW;
	if (num > g->num_ports)
		return CHANGE_RUSHED;
	p = &o->ports[g->first_port + num];
	if (p->carries && p->to == END)
		return CHANGE_NOW;
	if (!p->carries) {
		will_work = link_will_carry(o, g->first_port + num);
		return will_work ? CHANGE_WAITS : CHANGE_RUSHED;
	}
	switch (follow_path(o, p->to, lid, sw)) {
	case PATH_WORKS:
		return CHANGE_NOW;
	case PATH_CHANGES:
		return CHANGE_WAITS;
	case PATH_BROKEN:
		break;
	}
	return path_will_work(o, p->to, lid) ? CHANGE_WAITS : CHANGE_RUSHED;
}

/* Does an entry lead into a link that comes up as soon as its switch waits for
 * no block? No table was verified with it. */
static bool
is_to_come(const struct program_order *o, uint32_t sw, uint8_t num)
{
	const struct progress *g = &o->switches[sw];

	return num && num <= g->num_ports &&
		!o->ports[g->first_port + num].carries &&
		link_will_carry(o, g->first_port + num);
}

struct look {			/* at the entries of a block */
	unsigned n[N_CHANGES];	/* changed entries of each kind */
	uint8_t entry;		/* one with CHANGE_WAITS */
};

/* Puts the block into o->entries, with the changes that may be made now. */
static struct look
look_at_block(struct program_order *o, uint32_t sw, uint32_t block)
{
	const uint8_t *known = lft_seen_block(o->seen, sw, block);
	const uint8_t *held = known ? known : lft_no_paths;
	struct look look = { .n[CHANGE_BROKEN] = !known };

	memcpy(o->entries, lft_row(o->target, sw) +
	       (size_t)block * LFT_BLOCK, LFT_BLOCK);
	if (!o->switches[sw].carries) {
		look.n[CHANGE_BROKEN] |= memcmp(held, o->entries,
						LFT_BLOCK) != 0;
		return look;
	}
	for (unsigned i = 0; i < LFT_BLOCK; i++) {
		enum change change;

		if (held[i] == o->entries[i])
			continue;
		change = judge_entry(o, sw, (uint16_t)(block * LFT_BLOCK + i));
		look.n[change]++;
		if (change != CHANGE_WAITS)
			continue;
		look.entry = (uint8_t)i;
		o->entries[i] = held[i];
		if (!is_to_come(o, sw, held[i]))
			continue;
		o->entries[i] = LFT_NO_PATH;
		look.n[CHANGE_BROKEN]++;
	}
	return look;
}

/* The block is as in o->target: it has ended, or waits for the next stage. */
static void
block_is_good(struct program_order *o, uint32_t step)
{
	const struct plan_step *p = &o->plan->steps[step];
	struct block *b = &o->blocks[step];
	size_t at = (size_t)p->block * LFT_BLOCK;
	uint32_t sw = o->s->nodes[p->node].sw_index;

	b->is_late = memcmp(lft_row(o->target, sw) + at,
			    lft_row(o->w->lft, sw) + at, LFT_BLOCK) != 0;
	o->n_late += b->is_late;
	b->is_over = !b->is_late;
	block_count(o, step);
	if (!b->is_over || --o->blocks_left || !o->w->hosts_wait)
		return;
	for (uint32_t port = 0; port < o->s->n_ports; port++)
		link_try(o, port);
}

static void
block_park(struct program_order *o, struct block *b, unsigned entry)
{
	b->is_parked = true;
	b->entry = (uint8_t)entry;
	o->n_parked++;
}

/* Puts the block to be sent into o->entries. False: no entry may change now. */
static bool
take_block(struct program_order *o, uint32_t step)
{
	const struct plan_step *p = &o->plan->steps[step];
	uint32_t sw = o->s->nodes[p->node].sw_index;
	struct block *b = &o->blocks[step];
	struct look look;
	unsigned n;

	if (b->is_sent || b->is_late || b->is_over ||
	    (b->is_parked && b->entry < LFT_BLOCK && !o->in_parts &&
	     judge_entry(o, sw, (uint16_t)(p->block * LFT_BLOCK + b->entry)) ==
	     CHANGE_WAITS))
		return false;
	o->n_parked -= b->is_parked;
	b->is_parked = false;
	look = look_at_block(o, sw, p->block);
	n = look.n[CHANGE_BROKEN];
	if (!look.n[CHANGE_WAITS] || o->in_parts)
		n += look.n[CHANGE_NOW] + look.n[CHANGE_RUSHED];
	if (!n && !look.n[CHANGE_WAITS] && !b->is_due) {
		block_is_good(o, step);
		return false;
	}
	if (!n && !b->is_due) {
		block_park(o, b, look.entry);
		block_count(o, step);
		return false;
	}
	b->is_due = false;
	b->is_sent = true;
	o->switches[sw].in_flight++;
	o->has_sent = true;
	*o->rushed += look.n[CHANGE_RUSHED];
	return true;
}

/* True: the step has ended. */
static bool
block_settle(struct program_order *o, uint32_t step, bool well)
{
	const struct plan_step *p = &o->plan->steps[step];
	struct block *b = &o->blocks[step];
	uint32_t sw = o->s->nodes[p->node].sw_index;
	const uint8_t *held = lft_seen_block(o->seen, sw, p->block);
	struct progress *g = &o->switches[sw];

	b->is_sent = false;
	g->in_flight--;
	o->has_news |= well;
	o->is_over &= g->next_block == g->end_block;
	if (!well) {
		o->has_failed = g->failed = b->is_over = true;
		block_count(o, step);
	} else if (held && memcmp(held, lft_row(o->target, sw) +
		   (size_t)p->block * LFT_BLOCK, LFT_BLOCK) == 0) {
		block_is_good(o, step);
	} else {
		block_park(o, b, LFT_BLOCK);
	}
	return b->is_over;
}

/* One block after the other, in all switches at a time. After a failure the rest
 * stays: unicast does not wait for it. False: it was the last one. */
static bool
clear_next(struct program_order *o, uint32_t index, bool well)
{
	uint32_t node = o->plan->steps[index].node;
	unsigned first;
	struct program_order_action a = {
		.what = index, .act = PROGRAM_ORDER_STEP,
		.part = ++progress_of(o, node)->n_cleared,
	};

	if (!well || a.part >= plan_hidden_blocks(o->s, node, &first))
		return false;
	g_array_append_val(o->ready, a);
	return true;
}

bool
program_order_settle(struct program_order *o, uint32_t index, bool well)
{
	const struct plan_step *step = &o->plan->steps[index];
	uint32_t peer;

	o->in_flight--;
	o->n_ended++;
	switch ((enum plan_kind)step->kind) {
	case PLAN_LFT:
		return block_settle(o, index, well);
	case PLAN_TABLE:
		if (!well || --o->ports[step->port].tables_left)
			break;
		link_try(o, step->port);
		guarded_try(o, step->port);
		peer = o->s->ports[step->port].peer;
		if (peer != SNAPSHOT_NONE)
			guarded_try(o, peer);
		break;
	case PLAN_MFT:
		if (clear_next(o, index, well))
			return false;
		switch_step_over(o, step->node);
		break;
	case PLAN_CHANGE_CLEAR:
		switch_step_over(o, step->node);
		break;
	case PLAN_SWITCH:
		if (!well)
			break;
		progress_of(o, step->node)->top = o->w->lft->top;
		o->has_news = true;
		switch_routed(o, step->node);
		break;
	case PLAN_ARM:
		if (!well)
			break;
		o->ports[step->port].armed = true;
		link_activate(o, step->port);
		break;
	case PLAN_ACTIVATE:
		if (well)
			link_is_up(o, step->port);
		break;
	case PLAN_PORT:
	case PLAN_N_KINDS:
		break;
	}
	return true;
}

void
program_order_look_again(struct program_order *o, uint32_t node)
{
	const struct snapshot_node *n = &o->s->nodes[node];

	for (unsigned num = 0; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;
		struct port_progress *p = &o->ports[port];

		if (p->activate == NO_STEP || p->raised) {
			program_order_add(o, PROGRAM_ORDER_LOOK, port);
		} else if (!o->ports[o->s->ports[port].peer].in_doubt) {
			p->in_doubt = true;
			program_order_add(o, PROGRAM_ORDER_LOOK_BEHIND, port);
		}
	}
}

void
program_order_same_behind(struct program_order *o, uint32_t port)
{
	o->ports[port].in_doubt = false;
	link_try(o, port);
}

/* Looks at all blocks that are left. */
static void
new_pass(struct program_order *o)
{
	for (uint32_t sw = 0; sw < o->s->n_switches; sw++)
		o->switches[sw].next_block = o->switches[sw].first_block;
	o->has_news = o->is_over = false;
	o->n_ended = 0;
	o->n_before = o->in_flight;
}

/* A pass that is not over is given up for the next one when so much has ended
 * that its cost does not matter. */
static bool
is_pass_due(const struct program_order *o)
{
	uint32_t cost = o->is_over ? 0 : (o->n_parked + o->blocks_left / 8) / 16;

	return o->n_parked && o->has_news &&
		o->n_ended >= MAX(o->n_before / 2 + cost, 1);
}

/* All replies have come and nothing can be sent: blocks that wait are
 * written in parts, then the next stage begins. */
static bool
resume_blocks(struct program_order *o)
{
	const struct plan *plan = o->plan;
	bool has_sent = o->has_sent;

	o->has_sent = false;
	if (o->n_parked && (!o->in_parts || has_sent)) {
		o->in_parts = true;
		new_pass(o);
		return true;
	}
	if (o->n_parked || o->has_failed || !o->n_late)
		return false;
	if (!o->bridge)
		o->bridge = lft_copy(o->w->bridge);
	o->target = transition_apply(o->bridge, o->w->later, ++o->stage) ?
		o->bridge : o->w->lft;
	for (uint32_t i = plan->first[PLAN_LFT]; i < plan->first[PLAN_LFT + 1];
	     i++)
		o->blocks[i].is_late = false;
	o->n_late = 0;
	new_pass(o);
	return true;
}

bool
program_order_resume(struct program_order *o)
{
	if (resume_blocks(o))
		return true;
	if (o->looked_back)
		return false;
	/* Ports that should have been activated and were not have not been
	 * read after a Set. */
	o->looked_back = true;
	for (uint32_t port = 0; port < o->s->n_ports; port++)
		if (o->ports[port].activate != NO_STEP &&
		    !o->ports[port].raised)
			program_order_add(o, PROGRAM_ORDER_LOOK, port);
	return o->ready->len > o->head;
}

/* The next action. */

static bool
next_block(struct program_order *o, uint32_t *step)
{
	uint32_t n = o->s->n_switches;

	for (uint32_t i = 0; i < n && !o->is_over; i++, o->at = (o->at + 1) % n) {
		struct progress *g = &o->switches[o->at];

		while (!g->failed && g->in_flight < BLOCKS_MAX &&
		       g->next_block < g->end_block) {
			*step = g->next_block++;
			if (!take_block(o, *step))
				continue;
			o->at = (o->at + 1) % n;
			return true;
		}
	}
	o->is_over = true;
	return false;
}

uint32_t
program_order_blocks_left(const struct program_order *o)
{
	return o->blocks_left;
}

/* Links first: they are nearly complete, and tables of other switches can be
 * sent while their replies are awaited. */
bool
program_order_next(struct program_order *o, struct program_order_action *a)
{
	const struct plan_step *step;

	if (o->head < o->ready->len) {
		*a = g_array_index(o->ready, struct program_order_action,
				   o->head++);
		if (o->head == o->ready->len) {
			g_array_set_size(o->ready, 0);
			o->head = 0;
		}
		step = a->act == PROGRAM_ORDER_STEP ?
			&o->plan->steps[a->what] : NULL;
		if (step && step->kind == PLAN_ACTIVATE)
			o->ports[step->port].raised = true;
		o->in_flight += step != NULL;
		return true;
	}
	do {
		if (is_pass_due(o))
			new_pass(o);
		if (next_block(o, &a->what)) {
			a->act = PROGRAM_ORDER_STEP;
			a->entries = o->entries;
			o->in_flight++;
			return true;
		}
	} while (is_pass_due(o));
	return false;
}

/* The start. */

static void
index_ports(struct program_order *o)
{
	const struct plan *plan = o->plan;

	for (uint32_t port = 0; port < o->s->n_ports; port++) {
		uint32_t peer = o->s->ports[port].peer;
		const struct snapshot_node *far = peer == SNAPSHOT_NONE ?
			NULL : snapshot_node_of(o->s, peer);

		o->ports[port] = (struct port_progress){
			.arm = NO_STEP, .activate = NO_STEP,
			.guarded = NO_STEP,
			.to = far && snapshot_is_switch(far) ? far->sw_index :
				END,
		};
	}
	for (uint32_t port = 0; port < o->s->n_ports; port++)
		if (o->s->ports[port].known &&
		    o->s->ports[port].info.state >= PORT_STATE_ACTIVE)
			link_is_up(o, port);
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];

		if (step->kind == PLAN_TABLE)
			o->ports[step->port].tables_left++;
		else if (step->kind == PLAN_ARM)
			o->ports[step->port].arm = i;
		else if (step->kind == PLAN_ACTIVATE)
			o->ports[step->port].activate = i;
	}
}

static void
index_switches(struct program_order *o)
{
	const struct plan *plan = o->plan;

	for (uint32_t i = 0; i < o->s->n_switches; i++) {
		const struct snapshot_node *n = &o->s->nodes[o->s->switches[i]];

		o->switches[i] = (struct progress){
			.first_port = n->first_port,
			.num_ports = n->info.num_ports,
			.top = n->sw_known ? n->sw.linear_fdb_top : 0,
			.switch_step = NO_STEP,
		};
	}
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];
		struct progress *g;

		if (step->kind == PLAN_CHANGE_CLEAR || step->kind == PLAN_MFT) {
			progress_of(o, step->node)->steps_left++;
		} else if (step->kind == PLAN_SWITCH) {
			progress_of(o, step->node)->switch_step = i;
		} else if (step->kind == PLAN_LFT) {
			g = progress_of(o, step->node);
			if (!g->end_block)
				g->first_block = g->next_block = i;
			g->end_block = i + 1;
			g->steps_left++;
			o->blocks[i].is_due = o->w->all_blocks;
		}
	}
}

struct program_order *
program_order_new(const struct snapshot *s, const struct desired *w,
		  const struct plan *plan, const struct lft_seen *seen,
		  uint32_t *rushed)
{
	static const enum plan_kind unbound[] = {
		PLAN_CHANGE_CLEAR, PLAN_PORT, PLAN_TABLE, PLAN_MFT,
	};
	struct program_order *o = g_new0(struct program_order, 1);

	o->s = s;
	o->w = w;
	o->plan = plan;
	o->seen = seen;
	o->rushed = rushed;
	o->target = w->bridge ? w->bridge : w->lft;
	o->switches = g_new(struct progress, s->n_switches);
	o->blocks_left = plan->first[PLAN_LFT + 1] - plan->first[PLAN_LFT];
	o->blocks = g_new0(struct block, plan->first[PLAN_LFT + 1]);
	o->ports = g_new(struct port_progress, s->n_ports);
	o->ready =
		g_array_new(FALSE, FALSE, sizeof(struct program_order_action));
	index_switches(o);
	index_ports(o);

	/* Steps without a condition. */
	for (size_t k = 0; k < G_N_ELEMENTS(unbound); k++)
		for (uint32_t i = plan->first[unbound[k]];
		     i < plan->first[unbound[k] + 1]; i++) {
			const struct plan_step *step = &plan->steps[i];

			if (step->kind != PLAN_PORT ||
			    !(step->fields & PORT_FIELD_ENFORCE) ||
			    !w->enforce[step->port]) {
				queue_step(o, i);
				continue;
			}
			o->ports[step->port].guarded = i;
			guarded_try(o, step->port);
		}
	for (uint32_t i = 0; i < s->n_switches; i++) {
		if (o->switches[i].steps_left)
			continue;
		o->switches[i].steps_left = 1;
		switch_step_over(o, s->switches[i]);
	}
	/* Two hosts cabled back to back. */
	for (uint32_t port = 0; port < s->n_ports; port++)
		link_try(o, port);
	return o;
}

void
program_order_free(struct program_order *o)
{
	if (!o)
		return;
	g_array_unref(o->ready);
	g_free(o->switches);
	g_free(o->ports);
	g_free(o->blocks);
	lft_free(o->bridge);
	g_free(o);
}
