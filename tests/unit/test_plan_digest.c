// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The digest of a plan: another one for each value that it would write, whatever
 * kind of step has it; the same for an M_Key, which must not be found by it.
 */
#include <string.h>

#include "tests/lib/plan_lab.h"
#include "tests/lib/unit.h"

static char *
digest_of(const struct fabric *f)
{
	struct plan *plan = plan_diff(f->s, &f->w, f->seen, f->held, NULL);
	char *digest = plan_digest(plan, f->s, &f->w);

	plan_free(plan);
	return digest;
}

static int
set_up(void **state)
{
	struct fabric *f = *state = fabric_single();

	f->policy.m_key = 1;
	return 0;
}

static int
tear_down(void **state)
{
	fabric_free(*state);
	return 0;
}

#define DIGEST_TEST(name) \
	TEST_WITH(name, struct fabric *f, set_up, tear_down)

DIGEST_TEST(test_digest_is_of_what_is_written)
{
	g_autofree char *first = digest_of(f), *again = digest_of(f);
	union port_block *pkeys = (union port_block *)port_tables_get(
			f->w.tables, PORT_TABLE_PKEY, f->host, 0);
	struct {
		void *at;
		size_t size;
	} values[] = {
		{ &lft_row(f->lft, 0)[1], 1 },
		{ &pkeys->pkeys[0], 2 },
		{ &f->w.sm_lid, 2 },			/* PortInfo */
		{ &f->policy.packet_life_time, 1 },	/* SwitchInfo */
		{ &f->s->nodes[f->sw].info.node_guid, 8 },
	};

	assert_string_equal(first, again);
	assert_int_equal(strlen(first), PLAN_DIGEST_LEN);
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		uint8_t *low = values[i].at;
		g_autofree char *other = NULL, *back = NULL;

		*low ^= 1;
		other = digest_of(f);
		*low ^= 1;
		back = digest_of(f);
		if (!strcmp(first, other))
			fail_msg("value %zu: the same digest", i);
		assert_string_equal(first, back);
	}
}

DIGEST_TEST(test_digest_shows_no_m_key)
{
	g_autofree char *first = digest_of(f), *other = NULL;

	f->policy.m_key = 2;
	other = digest_of(f);
	assert_string_equal(first, other);
}
