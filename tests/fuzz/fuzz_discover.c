// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMP answers: a small fabric is discovered, and if what was found can be
 * routed, routed, planned and programmed, while the input decides what becomes
 * of each answer. Byte 0 chooses the fabric; then one byte an answer, and what
 * that asks for. At the end of the input all are good again.
 */
#include "lab/generate.h"
#include "routing/engine.h"
#include "routing/verify.h"
#include "sm/sweep/discover.h"
#include "sm/sweep/program.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/fake.h"

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

static bool
do_deed(struct fake *f, struct fuzz_input *in, uint8_t *answer)
{
	struct transport_mad m = { .mad = answer };
	uint8_t at;

	switch ((enum deed)(fuzz_byte(in) % DEEDS)) {
	case DEED_NOTHING:
		return true;
	case DEED_LOSE:
		return false;
	case DEED_RETURN:
		scripted_return(f->t, answer, 10);
		return false;
	case DEED_TWICE:
		scripted_answer(f->t, answer, 10);
		return true;
	case DEED_POKE:
		at = fuzz_byte(in);
		answer[at] = fuzz_byte(in);
		return true;
	case DEED_POKE_DATA:
		for (unsigned i = 0; i < 4; i++) {
			at = fuzz_byte(in) % SMP_DATA_LEN;
			smp_data(answer)[at] = fuzz_byte(in);
		}
		return true;
	case DEED_DATA:
		fuzz_bytes(in, smp_data(answer), SMP_DATA_LEN);
		return true;
	case DEED_CUT:
		m.len = fuzz_byte(in);
		scripted_deliver(f->t, &m, 10);
		return false;
	}
	return true;
}

static bool
tamper(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct fuzz_input *in = data;

	return !in->left || do_deed(f, in, answer);
}

static void
on_found(struct snapshot *s, void *data)
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
program_fabric(struct fake *f, struct mad_client *x, const struct snapshot *s,
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

	plan_print(plan, s, &w, seen, NULL, false, out);
	plan_print(plan, s, &w, seen, NULL, true, out);
	g_assert_cmpuint(out->len, >, 0);
	program_start(x, 0, s, &w, plan, seen, NULL, on_programmed, &done);
	g_assert_true(scripted_run_idle(f->t, INT64_MAX));
	g_assert_true(done);
}

static void
route_fabric(struct fake *f, struct mad_client *x, const struct snapshot *s)
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
		program_fabric(f, x, s, lids, lft);
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
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	AUTO(snapshot) *s = generate_fabric(specs[fuzz_byte(&in) % 4], NULL,
					    NULL);
	AUTO(fake) *f = fake_new(s);
	struct mad_client *x = mad_client_new(f->t, &wire);
	AUTO(snapshot) *found = NULL;

	fake_tamper(f, tamper, &in);
	discover_start(x, 0, NULL, on_found, &found);
	g_assert_true(scripted_run_idle(f->t, INT64_MAX));
	g_assert_nonnull(found);
	if (found->n_nodes && found->local_port != SNAPSHOT_NONE)
		route_fabric(f, x, found);
	g_assert_cmpuint(g_hash_table_size(x->table), ==, 0);
	mad_client_free(x);
	return 0;
}
