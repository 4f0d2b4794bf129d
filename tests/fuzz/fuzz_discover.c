// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMP answers: a small fabric is discovered, and if what was found can be
 * routed, routed, planned and programmed, while the input decides what becomes
 * of each answer. Byte 0 chooses the fabric; then one byte an answer, and what
 * that asks for. At the end of the input all are good again.
 */
#include "lab/generate.h"
#include "sm/sweep/discover.h"
#include "sm/sweep/program.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/sim_script.h"

enum deed {
	DEED_NOTHING,
	DEED_LOSE,
	DEED_RETURN,	/* as if there was no answer */
	DEED_TWICE,
	DEED_POKE,	/* one byte anywhere: where, what */
	DEED_POKE_DATA,	/* four bytes of the attribute */
	DEED_DATA,	/* the whole attribute */
	DEED_CUT,	/* fewer bytes than a MAD: how many */
};
#define DEEDS	(DEED_CUT + 1)

struct stage {
	struct sim *sim;
	struct transport *t;
	struct fuzz_input in;
};

/* At the manager at once, whatever a fabric would do with it. */
static void
deliver(struct stage *st, enum transport_event event, const uint8_t *answer,
	size_t len)
{
	g_autofree uint8_t *bytes = g_memdup2(answer, len);

	transport_deliver(st->t, &(struct transport_mad){
		.event = event, .addr.lid = LID_PERMISSIVE, .mad = bytes,
		.len = len });
}

/* False: the answer itself goes no further. */
static bool
tamper(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct stage *st = data;
	struct fuzz_input *in = &st->in;
	size_t len = MAD_SIZE;
	uint8_t at;

	if (!in->left)
		return true;
	switch ((enum deed)(fuzz_byte(in) % DEEDS)) {
	case DEED_NOTHING:
		return true;
	case DEED_LOSE:
		return false;
	case DEED_RETURN:
		deliver(st, TRANSPORT_RETURNED, answer, len);
		return false;
	case DEED_TWICE:
		deliver(st, TRANSPORT_RECEIVED, answer, len);
		return true;
	case DEED_POKE:
		at = fuzz_byte(in);
		answer[at] = fuzz_byte(in);
		break;
	case DEED_POKE_DATA:
		for (unsigned i = 0; i < 4; i++) {
			at = fuzz_byte(in) % SMP_DATA_LEN;
			smp_data(answer)[at] = fuzz_byte(in);
		}
		break;
	case DEED_DATA:
		fuzz_bytes(in, smp_data(answer), SMP_DATA_LEN);
		break;
	case DEED_CUT:
		len = fuzz_byte(in);
		break;
	}
	deliver(st, TRANSPORT_RECEIVED, answer, len);
	return false;
}

/* Nothing is under way any more. */
static void
run(struct stage *st)
{
	g_assert_true(sim_run_idle(st->sim, INT64_C(100000) * G_USEC_PER_SEC));
}

static void
on_found(struct snapshot *s, GArray *lost G_GNUC_UNUSED, void *data)
{
	*(struct snapshot **)data = s;
}

static void
on_programmed(struct program_result *r, void *data)
{
	*(bool *)data = true;
	program_result_clear(r);
}

static void
program_fabric(struct stage *st, struct mad_client *x, const struct snapshot *s,
	       const struct lid_map *lids, const struct lft *lft)
{
	AUTO(lft_seen) *seen = lft_seen_new(s->n_switches, lids->top);
	const struct desired w = {
		.policy = &policy_default, .lids = lids, .lft = lft,
		.sm_lid = lids->base[s->local_port],
	};
	AUTO(plan) *plan = plan_diff(s, &w, seen, NULL, NULL);
	g_autoptr(GString) out = g_string_new(NULL);
	bool done = false;

	plan_print(plan, s, &w, seen, NULL, out);
	g_assert_cmpuint(out->len, >, 0);
	program_start(x, 0, s, &w, plan, seen, NULL, NULL, on_programmed,
		      &done);
	run(st);
	g_assert_true(done);
}

static void
route_fabric(struct stage *st, struct mad_client *x, const struct snapshot *s)
{
	g_autoptr(GError) error = NULL;
	AUTO(lid_map) *lids = lid_assign(s, 0, NULL, 0, NULL, &error);
	struct verify_reach reach;
	AUTO(graph) *g = NULL;
	AUTO(lft) *lft = NULL;

	g_assert_no_error(error);
	g = graph_new(s, lids);
	lft = lft_new(s->n_switches, lids->top);
	if (engine_route(&engine_minhop, g, lft, NULL)) {
		verify_reachability(g, lft, NULL, &reach);
		g_assert_cmpuint(reach.looping + reach.astray, ==, 0);
		program_fabric(st, x, s, lids, lft);
	}
}

FUZZ_TARGET(discover)
{
	static const char *const specs[] = {
		"pair()", "single(4)", "ring(4;1)", "PGFT(2,3;1,2)",
	};
	const struct mad_client_params wire = {
		.timeout_ms = 10, .retries = 1, .max_wire = 8,
	};
	struct sim_params params = sim_params_default;
	struct stage st = { .in = { data, MIN(size, FUZZ_MAX) } };
	AUTO(snapshot) *s = generate_fabric(specs[fuzz_byte(&st.in) % 4], NULL,
					    NULL);
	AUTO(snapshot) *found = NULL;
	struct mad_client *x;

	params.trap_repeats = 1;
	st.sim = sim_new(s, &params);
	st.t = sim_attach(st.sim, s->local_port, SIM_ROLE_MANAGER);
	x = mad_client_new(st.t, &wire);
	sim_set_liar(st.sim, tamper, &st);
	discover_start(x, NULL, &(struct discover_params){ 0 }, on_found,
		       &found);
	run(&st);
	g_assert_nonnull(found);
	if (found->n_nodes && found->local_port != SNAPSHOT_NONE)
		route_fabric(&st, x, found);
	g_assert_cmpuint(x->pending, ==, 0);
	mad_client_free(x);
	sim_free(st.sim);
	return 0;
}
