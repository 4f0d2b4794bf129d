// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * M_Keys: which one opens which port, and the memory of them as text.
 */
#include <string.h>

#include "sm/plan/mkey_db.h"
#include "topology/text.h"
#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

#define KEY_A	UINT64_C(0x1111222233334444)
#define KEY_B	UINT64_C(0x5555666677778888)
#define KEY_C	UINT64_C(0x9999aaaabbbbcccc)
#define KEY_D	UINT64_C(0xddddeeeeffff0001)
#define GUID	UINT64_C(0x0002c90300000001)

static void
assert_tries(const struct mkey_db *k, uint64_t guid, unsigned n, ...)
{
	uint64_t tries[MKEY_DB_TRIES];
	va_list args;

	assert_int_equal(mkey_db_tries(k, guid, tries), n);
	va_start(args, n);
	for (unsigned i = 0; i < n; i++)
		assert_true(tries[i] == va_arg(args, uint64_t));
	va_end(args);
}

TEST(test_no_keyring_is_key_0)
{
	uint64_t key;

	assert_true(mkey_db_of(NULL, GUID) == 0);
	assert_true(mkey_db_of_lid(NULL, 7, &key) && key == 0);
	assert_true(mkey_db_behind(NULL, GUID, 1) == 0);
	assert_tries(NULL, GUID, 1, UINT64_C(0));
}

TEST(test_one_key_is_for_everybody)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);

	assert_true(mkey_db_of(k, GUID) == KEY_A);
	assert_true(mkey_db_of(k, 0) == KEY_A);
	assert_true(mkey_db_wanted(k, GUID) == KEY_A);
	assert_tries(k, GUID, 1, KEY_A);
}

/* The value was computed apart from this program, with Python's hmac. */
TEST(test_key_per_port_is_the_hmac_of_its_guid)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_PER_PORT);
	AUTO(mkey_db) *other = mkey_db_new(KEY_A ^ 1, MKEY_DB_PER_PORT);

	assert_true(mkey_db_wanted(k, GUID) == UINT64_C(0xb46804263edf64c6));
	assert_true(mkey_db_wanted(k, GUID + 1) != mkey_db_wanted(k, GUID));
	assert_true(mkey_db_wanted(other, GUID) != mkey_db_wanted(k, GUID));
}

TEST(test_seed_is_never_a_key)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_PER_PORT);

	/* to who has no name yet */
	assert_tries(k, 0, 1, UINT64_C(0));
	assert_true(mkey_db_of(k, 0) == 0);
	for (uint64_t guid = 1; guid < 1000; guid++) {
		assert_true(mkey_db_wanted(k, guid) != KEY_A);
		assert_true(mkey_db_wanted(k, guid) != 0);
	}
}

TEST(test_no_key_wanted_is_none_per_port)
{
	AUTO(mkey_db) *k = mkey_db_new(0, MKEY_DB_PER_PORT);

	assert_true(mkey_db_wanted(k, GUID) == 0);
}

/* The likely one first; the doubtful in order; then what is wanted. */
TEST(test_order_of_tries)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_D, MKEY_DB_ONE);

	mkey_db_prove(k, GUID, KEY_A);
	assert_tries(k, GUID, 2, KEY_A, KEY_D);
	mkey_db_intend(k, GUID, KEY_B);
	mkey_db_intend(k, GUID, KEY_B);
	mkey_db_intend(k, GUID, KEY_C);
	assert_tries(k, GUID, 4, KEY_A, KEY_B, KEY_C, KEY_D);
	assert_true(mkey_db_of(k, GUID) == KEY_A);
	/* no more room: the oldest of the doubtful goes */
	mkey_db_intend(k, GUID, KEY_D);
	assert_tries(k, GUID, 3, KEY_A, KEY_C, KEY_D);
	mkey_db_prove(k, GUID, KEY_D);
	assert_tries(k, GUID, 1, KEY_D);
}

/* A port whose key is 0 takes every key: what it is to have does. */
TEST(test_port_without_a_key_is_forgotten)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_D, MKEY_DB_ONE);

	mkey_db_prove(k, GUID, KEY_A);
	mkey_db_prove(k, GUID, 0);
	assert_tries(k, GUID, 1, KEY_D);
	mkey_db_intend(k, GUID, 0);
	assert_tries(k, GUID, 1, KEY_D);
	/* nobody's */
	mkey_db_prove(k, 0, KEY_A);
	mkey_db_intend(k, 0, KEY_A);
	assert_tries(k, 0, 1, KEY_D);
}

TEST(test_version_counts_changes_only)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	const struct mkey_db_cable c = { { GUID, GUID + 9 }, { 3, 1 } };
	uint64_t v = mkey_db_version(k);

	mkey_db_prove(k, GUID, KEY_A);
	assert_true(mkey_db_version(k) > v);
	mkey_db_add_cable(k, &c);
	v = mkey_db_version(k);
	mkey_db_prove(k, GUID, KEY_A);
	mkey_db_intend(k, GUID, KEY_A);
	mkey_db_prove(k, GUID + 1, 0);
	mkey_db_add_cable(k, &c);
	assert_true(mkey_db_version(k) == v);
	mkey_db_prove(k, GUID, 0);
	assert_true(mkey_db_version(k) > v);
}

TEST(test_moved_cable_leaves_no_hint)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	struct mkey_db_cable c = { { GUID, GUID + 9 }, { 3, 1 } };

	mkey_db_add_cable(k, &c);
	assert_true(mkey_db_behind(k, GUID, 3) == GUID + 9);
	assert_true(mkey_db_behind(k, GUID + 9, 1) == GUID);
	assert_true(mkey_db_behind(k, GUID, 4) == 0);
	/* the host goes to port 4 */
	c.num[0] = 4;
	mkey_db_add_cable(k, &c);
	assert_true(mkey_db_behind(k, GUID, 4) == GUID + 9);
	assert_true(mkey_db_behind(k, GUID + 9, 1) == GUID);
	assert_true(mkey_db_behind(k, GUID, 3) == 0);
}

/* ------------------------------------------------------ from a snapshot */

static struct snapshot *
fabric(void)
{
	struct snapshot *s = generate_fabric("single(4)", NULL, NULL);

	assert_non_null(s);
	return s;
}

static uint32_t
host_of(const struct snapshot *s, unsigned nth)
{
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (!snapshot_is_switch(snapshot_node_of(s, port)) &&
		    snapshot_is_end_port(s, port) && !nth--)
			return port;
	fail();
	return 0;
}

TEST(test_what_ports_show_is_learned)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	AUTO(snapshot) *s = fabric();
	uint32_t shows = host_of(s, 0), hides = host_of(s, 1);
	uint32_t open = host_of(s, 2);
	uint64_t key;

	assert_false(mkey_db_of_lid(k, 8, &key));
	mkey_db_prove(k, s->ports[hides].guid, KEY_B);
	mkey_db_prove(k, s->ports[open].guid, KEY_B);
	s->ports[shows].info.m_key = KEY_C;
	s->ports[shows].info.lid = 8;
	s->ports[shows].info.lmc = 1;
	s->ports[hides].info.m_key_protect = 1;
	mkey_db_learn(k, s);
	assert_tries(k, s->ports[shows].guid, 2, KEY_C, KEY_A);
	assert_tries(k, s->ports[hides].guid, 2, KEY_B, KEY_A);
	assert_tries(k, s->ports[open].guid, 1, KEY_A);
	assert_true(mkey_db_at(k, s, shows) == KEY_C);
	assert_true(mkey_db_of_lid(k, 8, &key) && key == KEY_C);
	assert_true(mkey_db_of_lid(k, 9, &key) && key == KEY_C);
	assert_false(mkey_db_of_lid(k, 10, &key));
	assert_false(mkey_db_of_lid(k, 0xffff, &key));
}

/* Port 0 of a switch holds the key of all its ports. */
TEST(test_switch_has_one_key)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	AUTO(snapshot) *s = fabric();
	uint32_t peer = s->ports[host_of(s, 0)].peer;
	const struct snapshot_node *sw = snapshot_node_of(s, peer);

	assert_true(snapshot_is_switch(sw));
	mkey_db_prove(k, s->ports[sw->first_port].guid, KEY_B);
	assert_true(mkey_db_at(k, s, peer) == KEY_B);
	assert_true(mkey_db_at(k, s, host_of(s, 0)) == KEY_A);
	mkey_db_learn(k, s);	/* the switch has lost it */
	assert_true(mkey_db_at(k, s, peer) == KEY_A);
	assert_true(mkey_db_behind(k, s->ports[sw->first_port].guid,
				   s->ports[peer].num) ==
		    s->ports[host_of(s, 0)].guid);
}

TEST(test_nothing_is_remembered_without_a_key)
{
	AUTO(mkey_db) *k = mkey_db_new(0, MKEY_DB_ONE);
	AUTO(snapshot) *s = fabric();

	mkey_db_learn(k, s);
	assert_true(mkey_db_version(k) == 0);
	/* until a port shows one */
	s->ports[host_of(s, 0)].info.m_key = KEY_C;
	mkey_db_learn(k, s);
	assert_true(mkey_db_of(k, s->ports[host_of(s, 0)].guid) == KEY_C);
	assert_true(mkey_db_behind(k, s->ports[host_of(s, 0)].guid, 1) != 0);
}

TEST(test_locked_until_it_shows_a_key)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	AUTO(snapshot) *s = fabric();
	uint32_t port = host_of(s, 1);
	uint64_t guid = s->ports[port].guid;

	s->ports[port].info.m_key_protect = 1;
	mkey_db_lock(k, guid);
	mkey_db_learn(k, s);
	assert_true(mkey_db_is_locked(k, guid));
	assert_false(mkey_db_is_locked(k, guid + 1));
	mkey_db_unlock_all(k);
	assert_false(mkey_db_is_locked(k, guid));
	mkey_db_lock(k, guid);
	s->ports[port].info.m_key = KEY_B;
	mkey_db_learn(k, s);
	assert_false(mkey_db_is_locked(k, guid));
	assert_false(mkey_db_is_locked(NULL, guid));
}

TEST(test_strays_are_keys_of_who_was_not_found)
{
	g_autoptr(GHashTable) found = g_hash_table_new(g_int64_hash,
						       g_int64_equal);
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	uint64_t here = GUID + 1;
	GArray *strays;

	mkey_db_prove(k, GUID + 3, KEY_C);
	mkey_db_prove(k, GUID + 2, KEY_B);
	mkey_db_prove(k, GUID + 4, KEY_C);
	mkey_db_prove(k, here, KEY_D);
	g_hash_table_add(found, &here);
	strays = mkey_db_strays(k, found, 8);
	assert_int_equal(strays->len, 2);
	assert_true(g_array_index(strays, uint64_t, 0) == KEY_B);
	assert_true(g_array_index(strays, uint64_t, 1) == KEY_C);
	g_array_unref(strays);
	strays = mkey_db_strays(k, found, 1);
	assert_int_equal(strays->len, 1);
	g_array_unref(strays);
}

/* -------------------------------------------------------------- as text */

TEST(test_files_come_back_as_they_were)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	AUTO(mkey_db) *again = mkey_db_new(KEY_A, MKEY_DB_ONE);
	g_autoptr(GString) keys = g_string_new(NULL);
	g_autoptr(GString) cables = g_string_new(NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	mkey_db_prove(k, GUID + 1, KEY_B);
	mkey_db_prove(k, GUID, KEY_B);
	mkey_db_intend(k, GUID, KEY_C);
	mkey_db_add_cable(k, &(struct mkey_db_cable){
			  { GUID + 1, GUID }, { 1, 36 } });
	mkey_db_write_keys(k, keys);
	assert_string_equal(keys->str,
			    "0x0002c90300000001 0x5555666677778888\n\n"
			    "0x0002c90300000001 0x9999aaaabbbbcccc\n\n"
			    "0x0002c90300000002 0x5555666677778888\n\n");
	mkey_db_write_cables(k, cables);
	assert_string_equal(cables->str,
			    "0x0002c90300000001:36 0x0002c90300000002:1\n\n"
			    "0x0002c90300000002:1 0x0002c90300000001:36\n\n");
	assert_true(mkey_db_read_keys(again, keys->str, "k", &error));
	assert_true(mkey_db_read_cables(again, cables->str, "c", &error));
	mkey_db_write_keys(again, text);
	assert_string_equal(text->str, keys->str);
	g_string_truncate(text, 0);
	mkey_db_write_cables(again, text);
	assert_string_equal(text->str, cables->str);
	assert_tries(again, GUID, 3, KEY_B, KEY_C, KEY_A);
}

/* Nothing of it is taken, and the message holds no key. */
TEST(test_bad_lines_are_refused_and_not_repeated)
{
	static const char *const bad[] = {
		"0x0002c90300000001", "0x1 0x5ec3e7 0x1", "0x1 5ec3e7",
		"0x1 0x5ec3e75ec3e75ec3e7", "0x0 0x5ec3e7", "0x1 0x5ec3e7g",
		"1 0x5ec3e7", "0x1 0x", "0x1:0x5ec3e7",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
		g_autofree char *text = g_strdup_printf(
			"0x0002c90300000001 0x0000000000000007\n\n%s\n",
			bad[i]);
		g_autoptr(GError) error = NULL;

		assert_false(mkey_db_read_keys(k, text, "guid2mkey", &error));
		assert_true(g_error_matches(error, TEXT_ERROR,
					    TEXT_ERROR_SYNTAX));
		assert_string_equal(error->message, "guid2mkey:3: this is not "
				    "\"0xPORTGUID 0xMKEY\"");
		assert_tries(k, GUID, 1, KEY_A);
		assert_true(mkey_db_version(k) == 0);
	}
}

TEST(test_bad_cables_are_refused)
{
	static const char *const bad[] = {
		"0x1:1", "0x1:1 0x2", "0x1:1 0x2:255", "0x1:1 0x2:",
		"0x1:1 0x0:1", "0x1:1 0x2:1 0x3:1",
		"0x1 :1 0x2:1", "0x1:-1 0x2:1",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);
		g_autoptr(GError) error = NULL;

		assert_false(mkey_db_read_cables(k, bad[i], "neighbors",
						 &error));
		assert_true(mkey_db_version(k) == 0);
	}
}

TEST(test_a_port_number_may_have_zeros_in_front)
{
	AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_ONE);

	assert_true(mkey_db_read_cables(k, "0x1:00007 0x2:1", "neighbors",
					NULL));
	assert_true(mkey_db_behind(k, 1, 7) == 2);
}

/* Whatever the order of learning. */
TEST(test_files_do_not_depend_on_the_order)
{
	g_autoptr(GString) first = g_string_new(NULL);

	for (unsigned turn = 0; turn < 16; turn++) {
		AUTO(mkey_db) *k = mkey_db_new(KEY_A, MKEY_DB_PER_PORT);
		g_autoptr(GString) text = g_string_new(NULL);

		for (unsigned i = 0; i < 16; i++) {
			uint64_t guid = GUID + ((i ^ turn) * 7919 % 16);

			mkey_db_prove(k, guid, mkey_db_wanted(k, guid));
			mkey_db_add_cable(k, &(struct mkey_db_cable){
				{ guid, guid + 100 }, { 1, 1 } });
		}
		mkey_db_write_keys(k, text);
		mkey_db_write_cables(k, text);
		if (!turn)
			g_string_assign(first, text->str);
		assert_string_equal(text->str, first->str);
	}
}
