// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scripts of tests, by the hooks of the simulator.
 *
 * A cue waits for the nth SMP of a kind that an agent is about to serve, and
 * acts before it is served; what a cue adds waits for the next SMP.
 */
#include "tests/lib/sim_script.h"

#include "lab/sim/state.h"

struct script_cue {
	struct sim_match match;
	unsigned left;
	sim_action_fn fn;
	void *data;
};

struct script {
	struct sim_event taken;	/* Sets are done again */
	GArray *cues;
	sim_liar_fn liar;
	void *liar_data;
};

static void
script_free(struct sim *sim)
{
	struct script *s = sim->hooks.data;

	g_array_unref(s->cues);
	g_free(s);
}

static struct script *
script_of(struct sim *sim)
{
	struct script *s = sim->hooks.data;

	if (s)
		return s;
	s = g_new0(struct script, 1);
	s->cues = g_array_new(FALSE, FALSE, sizeof(struct script_cue));
	sim->hooks.data = s;
	sim->hooks.free = script_free;
	return s;
}

/* --- the clock --- */

static int64_t
next_at(const struct sim *sim)
{
	return sim->heap->len > 1 ?
		g_array_index(sim->heap, struct sim_place, 1).at : INT64_MAX;
}

void
sim_run(struct sim *sim, int64_t until_us)
{
	int64_t until = until_us * NS_PER_US;

	while (next_at(sim) <= until && sim_step(sim))
		;
	sim->now = MAX(sim->now, until);
}

bool
sim_run_idle(struct sim *sim, int64_t limit_us)
{
	int64_t limit = limit_us * NS_PER_US;

	while (sim->heap->len > 1) {
		if (next_at(sim) > limit) {
			sim->now = MAX(sim->now, limit);
			return false;
		}
		sim_step(sim);
	}
	return true;
}

/* --- cues --- */

static void
play_cues(struct sim *sim, const struct sim_packet *p)
{
	GArray *cues = script_of(sim)->cues;
	guint n = cues->len, i = 0;

	while (i < n) {
		struct script_cue *c = &g_array_index(cues,
						      struct script_cue, i);
		struct script_cue due;

		if (!sim_match_packet(&c->match, p) || --c->left > 0) {
			i++;
			continue;
		}
		due = *c;
		g_array_remove_index(cues, i);
		n--;
		due.fn(sim, due.data);
	}
}

void
sim_at_mad(struct sim *sim, const struct sim_match *match, unsigned nth,
	   sim_action_fn fn, void *data)
{
	struct script_cue cue = {
		.match = *match, .left = nth, .fn = fn, .data = data,
	};

	g_assert(nth > 0);
	g_array_append_val(script_of(sim)->cues, cue);
	sim->hooks.serve = play_cues;
}

/* --- agents --- */

static void
on_sets_taken(struct sim *sim, struct sim_event *event)
{
	for (uint32_t node = 0; node < sim->n_nodes; node++)
		if (sim->nodes[node].mood == SIM_MOOD_FORGETFUL)
			sim->nodes[node].mood = SIM_MOOD_OBEDIENT;
}

void
sim_forget_sets(struct sim *sim, int64_t us)
{
	struct sim_event *taken = &script_of(sim)->taken;

	for (uint32_t node = 0; node < sim->n_nodes; node++)
		sim->nodes[node].mood = SIM_MOOD_FORGETFUL;
	taken->fn = on_sets_taken;
	sim_clock_stop(sim, taken);
	sim_clock_start(sim, taken, sim->now + us * NS_PER_US);
}

void
sim_node_set_speed(struct sim *sim, uint32_t node, unsigned smp_ns)
{
	sim->nodes[node].smp_ns = smp_ns;
}

static enum sim_passage
pass_liar(struct sim *sim, struct sim_packet *p)
{
	const struct script *s = script_of(sim);

	return !s->liar || s->liar(sim, p->node, p->mad, s->liar_data) ?
		SIM_PASSAGE_FREE : SIM_PASSAGE_LOST;
}

void
sim_set_liar(struct sim *sim, sim_liar_fn fn, void *data)
{
	struct script *s = script_of(sim);

	s->liar = fn;
	s->liar_data = data;
	sim->hooks.answer = pass_liar;
}
