// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults of the wire: rules.
 *
 * A rule is applied to MADs when they are sent, requests and answers. Rules
 * apply in the order in which they were added; one draws a random number only
 * if its probability is neither 0 nor 1,000 per mille. A copy has its own
 * delay, and no rule applies to it again. After a flipped bit the receiver
 * takes the header as it is then.
 */
#include "lab/sim/state.h"

#include "topology/prng.h"

bool
sim_match_packet(const struct sim_match *m, const struct sim_packet *p)
{
	return (m->node == SIM_ANY || m->node == p->node) &&
		(!m->mgmt_class || m->mgmt_class == p->h.mgmt_class) &&
		(!m->method || m->method == p->h.method) &&
		(!m->attr_id || m->attr_id == p->h.attr_id);
}

static enum sim_passage
rules_apply(struct sim *sim, struct sim_packet *p)
{
	struct sim_packet *copy;
	int64_t late;
	uint32_t bit;

	for (guint i = 0; sim->rules && i < sim->rules->len; i++) {
		struct sim_fault *r = &g_array_index(sim->rules,
						     struct sim_fault, i);

		if (!sim_match_packet(&r->r.match, p) ||
		    (r->r.times && r->hits >= r->r.times) ||
		    r->r.per_mille == 0)
			continue;
		if (r->r.per_mille < 1000 &&
		    prng_below(&sim->rng, 1000) >= r->r.per_mille)
			continue;
		r->hits++;
		switch (r->r.kind) {
		case SIM_FAULT_LOSS:
			return SIM_PASSAGE_LOST;
		case SIM_FAULT_DELAY:
			p->travel += r->r.us * NS_PER_US;
			break;
		case SIM_FAULT_REORDER:
		case SIM_FAULT_DUPLICATE:
			late = prng_below(&sim->rng, 1 + (uint32_t)
					  MIN(r->r.us, UINT32_MAX - 1));
			late *= NS_PER_US;
			if (r->r.kind == SIM_FAULT_REORDER) {
				p->travel += late;
				break;
			}
			copy = g_memdup2(p, sizeof(*p));
			copy->event.pos = 0;
			copy->message = g_memdup2(p->message, p->len);
			copy->travel += late;
			sim_clock_start(sim, &copy->event,
					sim->now + copy->travel);
			break;
		case SIM_FAULT_CORRUPT:
			bit = prng_below(&sim->rng, MAD_SIZE * 8);
			p->mad[bit / 8] ^= 1u << bit % 8;
			if (p->message && bit / 8 < p->len)
				p->message[bit / 8] ^= 1u << bit % 8;
			break;
		}
	}
	return SIM_PASSAGE_FREE;
}

void
sim_rule_add(struct sim *sim, const struct sim_rule *rule)
{
	struct sim_fault r = { .r = *rule };

	g_assert(rule->per_mille <= 1000 && rule->us >= 0);
	if (!sim->rules)
		sim->rules = g_array_new(FALSE, FALSE,
					 sizeof(struct sim_fault));
	sim->hooks.travel = rules_apply;
	g_array_append_val(sim->rules, r);
}

void
sim_rules_clear(struct sim *sim, uint32_t node)
{
	for (guint i = sim->rules ? sim->rules->len : 0; i-- > 0;)
		if (g_array_index(sim->rules, struct sim_fault,
				  i).r.match.node == node)
			g_array_remove_index(sim->rules, i);
}
