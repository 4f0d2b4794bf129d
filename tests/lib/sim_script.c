// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scripts of tests, by the hooks of the simulator.
 *
 * A cue waits for the nth SMP of a kind that an agent is about to serve, and
 * acts before it is served; what a cue adds waits for the next SMP.
 */
#include "tests/lib/sim_script.h"

#include "lab/sim/state.h"

struct script_action {
	struct sim_event event;
	sim_action_fn fn;
	void *data;
};

struct script_cue {
	struct sim_match match;
	unsigned left;
	sim_action_fn fn;
	void *data;
};

struct script {
	GPtrArray *actions;
	GArray *cues;
	sim_liar_fn liar;
	void *liar_data;
};

static void
script_free(struct sim *sim)
{
	struct script *s = sim->hooks.data;

	g_ptr_array_unref(s->actions);
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
	s->actions = g_ptr_array_new_with_free_func(g_free);
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

/* --- actions --- */

static void
on_action(struct sim *sim, struct sim_event *e)
{
	struct script_action done = *(struct script_action *)e;

	g_ptr_array_remove_fast(script_of(sim)->actions, e);
	done.fn(sim, done.data);
}

static void
sim_at(struct sim *sim, int64_t when_us, sim_action_fn fn, void *data)
{
	struct script_action *a = g_new0(struct script_action, 1);

	a->event.fn = on_action;
	a->fn = fn;
	a->data = data;
	g_ptr_array_add(script_of(sim)->actions, a);
	sim_clock_start(sim, &a->event, when_us * NS_PER_US);
}

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

/* --- rules --- */

static struct sim_fault *
find_rule(const struct sim *sim, unsigned id)
{
	for (guint i = 0; sim->rules && i < sim->rules->len; i++) {
		struct sim_fault *f = &g_array_index(sim->rules,
						     struct sim_fault, i);

		if (f->id == id)
			return f;
	}
	return NULL;
}

void
sim_rule_remove(struct sim *sim, unsigned id)
{
	struct sim_fault *f = find_rule(sim, id);

	if (f)
		g_array_remove_index(sim->rules,
				     f - (struct sim_fault *)
				     (void *)sim->rules->data);
}

uint64_t
sim_rule_hits(const struct sim *sim, unsigned id)
{
	const struct sim_fault *f = find_rule(sim, id);

	return f ? f->hits : 0;
}

/* --- agents --- */

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
