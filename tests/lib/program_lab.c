// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <string.h>

#include "routing/engine.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/program_lab.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 16,
};

void
bench_open(struct bench *b, const char *spec)
{
	const struct generate_options o = { .seed = 3 };

	memset(b, 0, sizeof(*b));
	b->s = generate_fabric(spec, &o, NULL);
	assert_non_null(b->s);
	b->lids = lid_assign(b->s, 0, NULL, 0, NULL, NULL);
	assert_non_null(b->lids);
	b->lft = engine_tables(&engine_minhop, b->s, b->lids);
	b->seen = lft_seen_new(b->s->n_switches, b->lids->top);
	b->w = (struct desired){
		.policy = &policy_default, .lids = b->lids, .lft = b->lft,
		.sm_lid = b->lids->base[b->s->local_port],
	};
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		if (snapshot_is_end_port(b->s, port) &&
		    b->s->ports[port].num && port != b->s->local_port)
			b->host = port;
	b->gate = b->s->ports[b->host].peer;
	b->f = fake_new(b->s);
	b->x = mad_client_new(b->f->t, &wire);
}

static void
on_done(struct program_result *r, void *data)
{
	struct bench *b = data;

	b->r = *r;
	b->done = true;
}

/* plan_left() finds the steps that plan_diff() of the whole fabric finds. */
static void
check_left(const struct bench *b)
{
	AUTO(plan) *all = plan_diff(b->r.after, &b->w, b->seen, b->held, NULL);
	AUTO(plan) *left = plan_left(b->plan, b->r.after, &b->w, b->seen,
				      b->held);

	assert_int_equal(left->n_steps, all->n_steps);
	if (all->n_steps)
		assert_memory_equal(left->steps, all->steps,
				    all->n_steps * sizeof(*all->steps));
}

void
bench_run(struct bench *b)
{
	program_result_clear(&b->r);
	plan_free(b->plan);
	b->plan = plan_diff(b->s, &b->w, b->seen, b->held, NULL);
	b->done = false;
	program_start(b->x, NULL, b->s, &b->w, b->plan, b->seen, b->held,
		      on_done, b);
	assert_false(b->done);
	assert_true(scripted_run_idle(b->f->t, transport_now(b->f->t) +
				      600 * G_USEC_PER_SEC));
	assert_true(b->done);
	assert_int_equal(b->r.done + b->r.failed + b->r.held_back,
			 b->plan->n_steps);
	check_left(b);
}

void
bench_close(struct bench *b)
{
	program_result_clear(&b->r);
	mad_client_free(b->x);
	fake_free(b->f);
	plan_free(b->plan);
	isolation_free(b->isolation);
	if (b->params.rules)
		partition_rules_unref(b->params.rules);
	port_tables_unref(b->held);
	lft_seen_free(b->seen);
	lft_free(b->lft);
	lid_map_free(b->lids);
	snapshot_unref(b->s);
}
