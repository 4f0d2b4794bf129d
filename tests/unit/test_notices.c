// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When nodes that report a change are read again.
 */
#include "tests/lib/unit.h"

#include "sm/sweep/amend.h"

#define MS	((int64_t)1000)
#define S	((int64_t)G_USEC_PER_SEC)

/* The nodes that are taken, as digits. */
static unsigned
taken(GHashTable *n, int64_t now)
{
	g_autoptr(GArray) nodes = notices_take(n, now, now);
	unsigned digits = 0;

	for (guint i = 0; i < nodes->len; i++)
		digits = digits * 10 + (unsigned)g_array_index(nodes, uint64_t,
								 i);
	return digits;
}

TEST(test_the_first_report_waits_for_others)
{
	g_autoptr(GHashTable) n = notices_new();

	assert_int_equal(notices_due(n), INT64_MAX);
	notices_add(n, 7, 10 * MS);
	notices_add(n, 1, 14 * MS);
	notices_add(n, 7, 14 * MS);
	assert_int_equal(notices_due(n), 15 * MS);
	assert_int_equal(taken(n, 15 * MS), 17);
	assert_int_equal(notices_due(n), INT64_MAX);
	assert_int_equal(taken(n, 20 * MS), 0);
}

TEST(test_a_node_that_always_reports_is_read_once_a_second)
{
	g_autoptr(GHashTable) n = notices_new();
	unsigned times = 0;

	for (int64_t now = 0; now < 60 * S; now += MS) {
		notices_add(n, 1, now);
		if (now % S == S / 2)
			notices_add(n, 2, now);
		if (notices_due(n) > now)
			continue;

		unsigned nodes = taken(n, now);

		times += nodes == 1 || nodes == 12;
		/* the other one never waits */
		if (nodes % 10 == 2)
			assert_in_range(now % S, S / 2, S / 2 + 5 * MS);
	}
	assert_in_range(times, 60, 63);
	/* rest is remembered as such, by no entry */
	taken(n, 62 * S);
	taken(n, 70 * S);
	assert_int_equal(g_hash_table_size(n), 0);
	notices_add(n, 1, 90 * S);
	assert_int_equal(notices_due(n), 90 * S + 5 * MS);
}

/* The interval for traps follows what a sweep costs. */
TEST(test_a_shorter_interval_makes_no_wait_longer)
{
	struct bucket b = { 0 };

	for (unsigned i = 0; i < 3; i++)
		bucket_take(&b, 30 * S, 4 * i * S);
	assert_int_equal(bucket_due(&b, 30 * S), 30 * S);
	assert_int_equal(bucket_due(&b, S), 9 * S);
}

TEST(test_heavy_sweeps_count_and_do_not_add_up)
{
	g_autoptr(GHashTable) n = notices_new();

	for (unsigned i = 0; i < 10; i++) {
		notices_add(n, 1, i);
		g_array_unref(notices_take(n, i, INT64_MAX));
	}
	assert_int_equal(notices_due(n), INT64_MAX);
	notices_add(n, 1, 10);
	assert_in_range(notices_due(n), S, S + MS);
}
