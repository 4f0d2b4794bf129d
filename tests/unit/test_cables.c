// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which cables are bad, from two readings and the time between them.
 */
#include "sm/mad/bytes.h"
#include "sm/mad/mad.h"
#include "tests/lib/unit.h"
#include "tools/cables.h"

#define SECOND	INT64_C(1000000)
#define HOUR	(3600 * SECOND)

struct setup {
	struct snapshot *s;
	struct cables_port *ports;
	GArray *cables;
	uint32_t port, far, other;	/* both ends of a cable, one of another */
};

static void
setup_open(struct setup *t)
{
	const struct generate_options options = { .seed = 3 };

	t->s = generate_fabric("PGFT(2,3;1,2)", &options, NULL);
	t->ports = g_new0(struct cables_port, t->s->n_ports);
	for (uint32_t i = 0; i < t->s->n_ports; i++) {
		t->ports[i].hour.us = 5 * SECOND;
		t->ports[i].now.us = 5 * SECOND + HOUR;
	}
	while (!snapshot_joins_switches(t->s, t->port))
		t->port++;
	t->far = t->s->ports[t->port].peer;
	t->other = t->port + 1;
	while (!snapshot_joins_switches(t->s, t->other))
		t->other++;
}

static void
setup_close(struct setup *t)
{
	snapshot_unref(t->s);
	g_clear_pointer(&t->cables, g_array_unref);
	g_free(t->ports);
}

FIXTURE(setup)

static const struct cables_entry *
rank(struct setup *t, int64_t least_us)
{
	g_clear_pointer(&t->cables, g_array_unref);
	t->cables = cables_rank(t->s, t->ports, least_us);
	return (const struct cables_entry *)(void *)t->cables->data;
}

/* --- one reading --- */

TEST(test_attributes_are_read_as_far_as_the_agent_has_them)
{
	struct cables_agent agent = { .known = true };
	uint8_t data[MAD_SIZE] = { 0 }, ext[MAD_SIZE] = { 0 };
	uint64_t count[CABLES_COUNTERS];

	bytes_store(data + 4, 1000, 2);		/* SymbolErrorCounter */
	data[19] = 0x21;			/* 4 bits each */
	bytes_store(data + 40, 77, 4);		/* PortXmitWait */
	bytes_store(ext + 8, 10, 8);
	bytes_store(ext + 16, 20, 8);
	bytes_store(ext + 72, 70000, 8);
	bytes_store(ext + 168, UINT64_C(1) << 40, 8);
	assert_int_equal(cables_load(&agent, data, NULL, count), 0);
	assert_int_equal(count[PERF_SYMBOL], 1000);
	assert_int_equal(count[PERF_LOCAL_INTEGRITY], 2);
	assert_int_equal(count[PERF_BUFFER_OVERRUN], 1);
	assert_int_equal(count[PERF_XMIT_WAIT], 0);
	assert_int_equal(count[CABLES_SENT], 0);
	agent.has_wait = agent.has_ext = true;
	assert_int_equal(cables_load(&agent, data, ext, count), 0);
	assert_int_equal(count[PERF_SYMBOL], 1000);
	assert_int_equal(count[PERF_XMIT_WAIT], 77);
	assert_int_equal(count[CABLES_SENT], 40);
	assert_int_equal(count[CABLES_RECEIVED], 80);
	agent.has_wide = true;
	bytes_store(data + 4, 0xffff, 2);	/* it does not matter then */
	assert_int_equal(cables_load(&agent, data, ext, count), 0);
	assert_int_equal(count[PERF_SYMBOL], 70000);
	assert_true(count[PERF_XMIT_WAIT] == UINT64_C(1) << 40);
}

TEST(test_counters_near_their_end_are_to_be_cleared)
{
	const struct cables_agent agent = { .known = true, .has_wait = true };
	uint8_t data[MAD_SIZE] = { 0 };
	uint64_t count[CABLES_COUNTERS];

	bytes_store(data + 4, 0xffff - 0x3fff, 2);
	data[6] = 0xff - 0x3f;			/* LinkErrorRecovery */
	data[7] = 0xff - 0x40;			/* LinkDowned: not yet */
	data[19] = 0xc0;
	bytes_store(data + 40, UINT32_MAX - UINT32_MAX / 4, 4);
	assert_int_equal(cables_load(&agent, data, NULL, count),
			 1 << PERF_SYMBOL | 1 << PERF_LINK_RECOVERY |
			 1 << PERF_LOCAL_INTEGRITY | 1 << PERF_XMIT_WAIT);
}

TEST(test_a_counter_is_what_was_added_and_may_be_cleared)
{
	struct cables_reading raw = { 0 }, sum = { 0 }, now = { .us = 1 };

	now.count[PERF_SYMBOL] = 5000;		/* of before */
	cables_add(&raw, &sum, &now);
	assert_int_equal(sum.count[PERF_SYMBOL], 0);
	now = (struct cables_reading){ .us = 2, .count[PERF_SYMBOL] = 5040 };
	cables_add(&raw, &sum, &now);
	assert_int_equal(sum.count[PERF_SYMBOL], 40);
	now = (struct cables_reading){ .us = 3, .count[PERF_SYMBOL] = 7 };
	cables_add(&raw, &sum, &now);
	assert_int_equal(sum.count[PERF_SYMBOL], 47);
	assert_int_equal(sum.us, 3);
	cables_add(&raw, &sum, &now);
	assert_int_equal(sum.count[PERF_SYMBOL], 47);
}

/* --- two of them --- */

SETUP_TEST(test_cables_are_ranked_by_errors_in_an_hour)
{
	const struct cables_entry *c;

	rank(t, HOUR);
	assert_int_equal(t->cables->len, 0);
	t->ports[t->far].now.count[PERF_SYMBOL] = 30;
	t->ports[t->far].now.count[PERF_LINK_RECOVERY] = 1;
	t->ports[t->port].now.count[PERF_RCV] = 20;
	t->ports[t->other].now.count[PERF_SYMBOL] = 40;
	c = rank(t, HOUR);
	assert_int_equal(t->cables->len, 2);
	assert_int_equal(c[0].port, t->other);
	assert_int_equal(c[0].errors, 40);	/* the worse end counts */
	assert_int_equal(c[1].port, t->port);
	assert_int_equal(c[1].errors, 31);
	assert_true(c[1].per_hour > 30.9 && c[1].per_hour < 31.1);
	t->ports[t->far].now.us = t->ports[t->far].hour.us + HOUR / 10;
	c = rank(t, 1);
	assert_int_equal(c[0].port, t->port);
	assert_true(c[0].per_hour > 309 && c[0].per_hour < 311);
	c = rank(t, HOUR);			/* not yet an hour */
	assert_int_equal(c[0].port, t->other);
}

SETUP_TEST(test_congestion_and_damage_of_others_are_no_errors_of_a_cable)
{
	const struct cables_entry *c;

	t->ports[t->port].now.count[PERF_XMIT_DISCARDS] = 5000;
	t->ports[t->port].now.count[PERF_RCV_REMOTE_PHYSICAL] = 5000;
	t->ports[t->port].now.count[PERF_LINK_DOWNED] = 3;
	t->ports[t->port].now.count[PERF_XMIT_WAIT] = 300;
	t->ports[t->port].now.count[CABLES_SENT] = 400;	/* 100 words */
	c = rank(t, HOUR);
	assert_int_equal(t->cables->len, 1);
	assert_int_equal(c[0].errors, 0);
	assert_true(c[0].wait > 0.749 && c[0].wait < 0.751);
}

SETUP_TEST(test_what_was_not_read_twice_is_not_judged)
{
	t->ports[t->port].now.count[PERF_SYMBOL] = 50;
	t->ports[t->port].hour.us = 0;
	rank(t, 1);
	assert_int_equal(t->cables->len, 0);
	t->ports[t->port].hour.us = t->ports[t->port].now.us;
	rank(t, 1);
	assert_int_equal(t->cables->len, 0);
}

/* --- the verdict --- */

/* The news about the cable at t->port with so many errors; -1: none. */
static int
judge(struct setup *t, uint64_t errors, int64_t now)
{
	g_autoptr(GArray) changes = NULL;

	t->ports[t->port].now.count[PERF_SYMBOL] = errors;
	rank(t, HOUR);
	changes = cables_judge(t->s, t->cables, 100, now, t->ports);
	assert_true(changes->len <= 1);
	if (!changes->len)
		return -1;
	assert_int_equal(g_array_index(changes, struct cable_change, 0)
			 .cable.port, t->port);
	return (int)g_array_index(changes, struct cable_change, 0).news;
}

SETUP_TEST(test_a_cable_is_told_once_and_is_bad_until_it_has_half_of_the_errors)
{
	assert_int_equal(judge(t, 100, 1), -1);
	assert_int_equal(judge(t, 101, 2), CABLE_BAD);
	assert_int_equal(judge(t, 5000, 3), -1);
	assert_int_equal(judge(t, 51, 4), -1);
	assert_int_equal(judge(t, 50, 5), CABLE_GOOD);
	assert_int_equal(judge(t, 100, 6), -1);
	assert_int_equal(judge(t, 101, 7), CABLE_BAD);
}

SETUP_TEST(test_a_cable_that_was_good_for_an_hour_is_mended)
{
	assert_int_equal(judge(t, 101, 1), CABLE_BAD);
	assert_int_equal(judge(t, 0, 2), CABLE_GOOD);
	assert_int_equal(judge(t, 0, 1 + HOUR), -1);
	assert_int_equal(judge(t, 101, 2 + HOUR), CABLE_BAD);
	assert_int_equal(judge(t, 0, 3 + HOUR), CABLE_GOOD);
	assert_int_equal(judge(t, 0, 3 + 2 * HOUR), CABLE_MENDED);
	assert_int_equal(judge(t, 0, 3 + 4 * HOUR), -1);
}

SETUP_TEST(test_a_bad_cable_that_is_pulled_is_good)
{
	struct cables_entry c = { .port = t->port };
	g_autofree char *name = NULL, *wanted = NULL;

	assert_int_equal(judge(t, 101, 1), CABLE_BAD);
	t->s->ports[t->port].peer = SNAPSHOT_NONE;
	t->s->ports[t->far].peer = SNAPSHOT_NONE;
	assert_int_equal(judge(t, 101, 2), CABLE_GOOD);
	name = cables_name(&(struct tool_view){ .s = t->s }, &c);
	wanted = snapshot_port_name(t->s, t->port);
	assert_string_equal(name, wanted);
}

/* --- output --- */

SETUP_TEST(test_a_cable_is_printed_with_both_ends)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct text_report r = { .out = text };
	g_autoptr(GHashTable) shared = g_hash_table_new(g_str_hash, g_str_equal);
	const struct tool_view v = { .s = t->s, .shared = shared };
	g_autofree char *a = NULL, *b = NULL, *wanted = NULL;

	g_hash_table_add(shared, (char *)snapshot_name_of(t->s, t->port));
	a = snapshot_full_port_name(t->s, t->port, shared);
	b = snapshot_port_name(t->s, t->far);

	t->ports[t->port].now.count[PERF_SYMBOL] = 120;
	t->ports[t->port].now.count[PERF_LINK_RECOVERY] = 1;
	t->ports[t->far].now.count[CABLES_SENT] = UINT64_C(7200000000);
	rank(t, HOUR);
	cables_print(&v, (const void *)t->cables->data, t->ports, NULL, &r);
	wanted = g_strdup_printf("%s - %s: 121 errors, 121 an hour\n"
		"  %s: SymbolErrorCounter 120 LinkErrorRecoveryCounter 1; waits "
		"0.0%% of the time, sends 0.000 MB/s, receives 0.000 MB/s\n"
		"  %s: waits 0.0%% of the time, sends 2.000 MB/s, receives "
		"0.000 MB/s\n", a, b, a, b);
	assert_string_equal(text->str, wanted);
	g_string_truncate(text, 0);
	r = (struct text_report){ .out = text, .as_json = true };
	cables_print(&v, (const void *)t->cables->data, t->ports, NULL, &r);
	assert_non_null(strstr(text->str, "\"errors\":121,"));
	assert_non_null(strstr(text->str, "\"counters\":{\"SymbolErrorCounter\""
			       ":120,\"LinkErrorRecoveryCounter\":1}"));
}

