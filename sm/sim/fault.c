// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults of the wire and of agents: rules, cues, moods, liars.
 *
 * A rule says what may happen to a MAD when it leaves, request or answer: each
 * that matches is asked in the order in which they were added, and draws from
 * the one stream of random numbers only if its chance is neither none nor
 * certain. A copy takes its own time, and no rule looks at it again. A bit
 * that was flipped is found at the other end: what the header says then is
 * what counts.
 *
 * A cue waits for the nth SMP of a kind that an agent is about to serve, and
 * acts before it is. Scripts (chaos.c) are events with a function.
 */
#include "sm/sim/state.h"

#include <string.h>

#include "topology/prng.h"

#define NS_PER_US	1000

struct rule {
	struct sim_rule r;
	unsigned id;
	uint64_t hits;
};

struct cue {
	struct sim_match match;
	unsigned left;
	sim_action_fn fn;
	void *data;
};

static bool
matches(const struct sim_match *m, const struct sim_packet *p)
{
	return (m->node == SIM_ANY || m->node == p->node) &&
		(!m->mgmt_class || m->mgmt_class == p->h.mgmt_class) &&
		(!m->method || m->method == p->h.method) &&
		(!m->attr_id || m->attr_id == p->h.attr_id);
}

/* ------------------------------------------------------------------ rules */

static struct rule *
rule_at(const struct sim *sim, guint i)
{
	return &g_array_index(sim->rules, struct rule, i);
}

unsigned
sim_rule_add(struct sim *sim, const struct sim_rule *rule)
{
	struct rule r = { .r = *rule, .id = ++sim->last_rule };

	g_assert(rule->per_mille <= 1000 && rule->us >= 0);
	if (!sim->rules)
		sim->rules = g_array_new(FALSE, FALSE, sizeof(struct rule));
	g_array_append_val(sim->rules, r);
	return r.id;
}

static struct rule *
find_rule(const struct sim *sim, unsigned id)
{
	for (guint i = 0; sim->rules && i < sim->rules->len; i++)
		if (rule_at(sim, i)->id == id)
			return rule_at(sim, i);
	return NULL;
}

void
sim_rule_remove(struct sim *sim, unsigned id)
{
	struct rule *r = find_rule(sim, id);

	if (r)
		g_array_remove_index(sim->rules, r - rule_at(sim, 0));
}

void
sim_rules_clear(struct sim *sim, uint32_t node)
{
	for (guint i = sim->rules ? sim->rules->len : 0; i-- > 0;)
		if (rule_at(sim, i)->r.match.node == node)
			g_array_remove_index(sim->rules, i);
}

uint64_t
sim_rule_hits(const struct sim *sim, unsigned id)
{
	const struct rule *r = find_rule(sim, id);

	return r ? r->hits : 0;
}

static bool
strikes(struct sim *sim, struct rule *r, const struct sim_packet *p)
{
	if (!matches(&r->r.match, p) || (r->r.times && r->hits >= r->r.times))
		return false;
	if (r->r.per_mille == 0)
		return false;
	if (r->r.per_mille < 1000 &&
	    prng_below(&sim->rng, 1000) >= r->r.per_mille)
		return false;
	r->hits++;
	return true;
}

bool
sim_link_loses(struct sim *sim, uint32_t out)
{
	unsigned per_mille = sim->ports[out].loss_per_mille;

	if (!per_mille || prng_below(&sim->rng, 1000) >= per_mille)
		return false;
	sim_port_add_errors(sim, sim->ports[out].peer, SIM_ERROR_RCV, 1);
	return true;
}

static int64_t
some_ns(struct sim *sim, const struct rule *r)
{
	uint32_t us = MIN(r->r.us, UINT32_MAX - 1);

	return (int64_t)prng_below(&sim->rng, us + 1) * NS_PER_US;
}

static void
send_copy(struct sim *sim, const struct rule *r, const struct sim_packet *p)
{
	struct sim_packet *copy = sim_packet_take(sim);

	*copy = *p;
	copy->event.pos = 0;
	copy->message = g_memdup2(p->message, p->len);
	copy->travel += some_ns(sim, r);
	sim_clock_start(sim, &copy->event, sim->now + copy->travel);
}

static void
flip_bit(struct sim *sim, struct sim_packet *p)
{
	uint32_t bit = prng_below(&sim->rng, MAD_SIZE * 8);

	p->mad[bit / 8] ^= 1u << bit % 8;
	if (p->message && bit / 8 < p->len)
		p->message[bit / 8] ^= 1u << bit % 8;
}

enum sim_passage
sim_rules_apply(struct sim *sim, struct sim_packet *p)
{
	for (guint i = 0; sim->rules && i < sim->rules->len; i++) {
		struct rule *r = rule_at(sim, i);

		if (!strikes(sim, r, p))
			continue;
		switch (r->r.kind) {
		case SIM_FAULT_LOSS:
			return SIM_PASSAGE_LOST;
		case SIM_FAULT_DELAY:
			p->travel += r->r.us * NS_PER_US;
			break;
		case SIM_FAULT_REORDER:
			p->travel += some_ns(sim, r);
			break;
		case SIM_FAULT_DUPLICATE:
			send_copy(sim, r, p);
			break;
		case SIM_FAULT_CORRUPT:
			flip_bit(sim, p);
			break;
		}
	}
	return SIM_PASSAGE_FREE;
}

/* ------------------------------------------------------------------- cues */

void
sim_at_mad(struct sim *sim, const struct sim_match *match, unsigned nth,
	   sim_action_fn fn, void *data)
{
	struct cue cue = {
		.match = *match, .left = nth, .fn = fn, .data = data,
	};

	g_assert(nth > 0);
	if (!sim->cues)
		sim->cues = g_array_new(FALSE, FALSE, sizeof(struct cue));
	g_array_append_val(sim->cues, cue);
}

/* What a cue adds waits for the next SMP. */
void
sim_cues_play(struct sim *sim, const struct sim_packet *p)
{
	guint n = sim->cues ? sim->cues->len : 0;
	guint i = 0;

	while (i < n) {
		struct cue *c = &g_array_index(sim->cues, struct cue, i);
		struct cue due;

		if (!matches(&c->match, p) || --c->left > 0) {
			i++;
			continue;
		}
		due = *c;
		g_array_remove_index(sim->cues, i);
		n--;
		due.fn(sim, due.data);
	}
}

/* ----------------------------------------------------------------- agents */

void
sim_node_set_mood(struct sim *sim, uint32_t node, enum sim_mood mood)
{
	sim->nodes[node].mood = mood;
}

static void
on_sets_taken(struct sim *sim, void *data)
{
	for (uint32_t node = 0; node < sim->n_nodes; node++)
		if (sim->nodes[node].mood == SIM_MOOD_FORGETFUL)
			sim->nodes[node].mood = SIM_MOOD_OBEDIENT;
}

void
sim_forget_sets(struct sim *sim, int64_t us)
{
	for (uint32_t node = 0; node < sim->n_nodes; node++)
		sim->nodes[node].mood = SIM_MOOD_FORGETFUL;
	sim_at(sim, sim_now(sim) + us, on_sets_taken, NULL);
}

void
sim_node_set_speed(struct sim *sim, uint32_t node, unsigned smp_ns)
{
	sim->nodes[node].smp_ns = smp_ns;
}

void
sim_node_set_queue(struct sim *sim, uint32_t node, unsigned ns,
		   unsigned places)
{
	sim->nodes[node].smp_ns = sim->nodes[node].forward_ns = ns;
	sim->nodes[node].vl15_depth = places;
}

void
sim_set_liar(struct sim *sim, sim_liar_fn fn, void *data)
{
	sim->liar = fn;
	sim->liar_data = data;
}

void
sim_fault_free(struct sim *sim)
{
	if (sim->rules)
		g_array_unref(sim->rules);
	if (sim->cues)
		g_array_unref(sim->cues);
	if (sim->scripts)
		g_ptr_array_unref(sim->scripts);
}
