// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * M_Keys: which one opens which port, and the memory of them as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "sm/plan/keyfile.h"
#include "topology/generate.h"

#define KEY_A	UINT64_C(0x1111222233334444)
#define KEY_B	UINT64_C(0x5555666677778888)
#define KEY_C	UINT64_C(0x9999aaaabbbbcccc)
#define KEY_D	UINT64_C(0xddddeeeeffff0001)
#define GUID	UINT64_C(0x0002c90300000001)

static void
assert_tries(const struct keyring *k, uint64_t guid, unsigned n, ...)
{
	uint64_t tries[KEYRING_TRIES];
	va_list args;

	assert_int_equal(keyring_tries(k, guid, tries), n);
	va_start(args, n);
	for (unsigned i = 0; i < n; i++)
		assert_true(tries[i] == va_arg(args, uint64_t));
	va_end(args);
}

static void
test_no_keyring_is_key_0(void **state)
{
	uint64_t key;

	assert_true(keyring_of(NULL, GUID) == 0);
	assert_true(keyring_of_lid(NULL, 7, &key) && key == 0);
	assert_true(keyring_behind(NULL, GUID, 1) == 0);
	assert_tries(NULL, GUID, 1, UINT64_C(0));
}

static void
test_one_key_is_for_everybody(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);

	assert_true(keyring_of(k, GUID) == KEY_A);
	assert_true(keyring_of(k, 0) == KEY_A);
	assert_true(keyring_wanted(k, GUID) == KEY_A);
	assert_tries(k, GUID, 1, KEY_A);
	keyring_free(k);
}

/* The value was computed apart from this program, with Python's hmac. */
static void
test_key_per_port_is_the_hmac_of_its_guid(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_PER_PORT);
	struct keyring *other = keyring_new(KEY_A ^ 1, KEYRING_PER_PORT);

	assert_true(keyring_wanted(k, GUID) == UINT64_C(0xb46804263edf64c6));
	assert_true(keyring_wanted(k, GUID + 1) != keyring_wanted(k, GUID));
	assert_true(keyring_wanted(other, GUID) != keyring_wanted(k, GUID));
	keyring_free(k);
	keyring_free(other);
}

static void
test_seed_is_never_a_key(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_PER_PORT);

	/* to who has no name yet */
	assert_tries(k, 0, 1, UINT64_C(0));
	assert_true(keyring_of(k, 0) == 0);
	for (uint64_t guid = 1; guid < 1000; guid++) {
		assert_true(keyring_wanted(k, guid) != KEY_A);
		assert_true(keyring_wanted(k, guid) != 0);
	}
	keyring_free(k);
}

static void
test_no_key_wanted_is_none_per_port(void **state)
{
	struct keyring *k = keyring_new(0, KEYRING_PER_PORT);

	assert_true(keyring_wanted(k, GUID) == 0);
	keyring_free(k);
}

/* The likely one first; the doubtful in order; then what is wanted. */
static void
test_order_of_tries(void **state)
{
	struct keyring *k = keyring_new(KEY_D, KEYRING_ONE);

	keyring_prove(k, GUID, KEY_A);
	assert_tries(k, GUID, 2, KEY_A, KEY_D);
	keyring_intend(k, GUID, KEY_B);
	keyring_intend(k, GUID, KEY_B);
	keyring_intend(k, GUID, KEY_C);
	assert_tries(k, GUID, 4, KEY_A, KEY_B, KEY_C, KEY_D);
	assert_true(keyring_of(k, GUID) == KEY_A);
	/* no more room: the oldest of the doubtful goes */
	keyring_intend(k, GUID, KEY_D);
	assert_tries(k, GUID, 3, KEY_A, KEY_C, KEY_D);
	keyring_prove(k, GUID, KEY_D);
	assert_tries(k, GUID, 1, KEY_D);
	keyring_free(k);
}

/* A port whose key is 0 takes every key: what it is to have does. */
static void
test_port_without_a_key_is_forgotten(void **state)
{
	struct keyring *k = keyring_new(KEY_D, KEYRING_ONE);

	keyring_prove(k, GUID, KEY_A);
	keyring_prove(k, GUID, 0);
	assert_tries(k, GUID, 1, KEY_D);
	keyring_intend(k, GUID, 0);
	assert_tries(k, GUID, 1, KEY_D);
	/* nobody's */
	keyring_prove(k, 0, KEY_A);
	keyring_intend(k, 0, KEY_A);
	assert_tries(k, 0, 1, KEY_D);
	keyring_free(k);
}

static void
test_version_counts_changes_only(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	const struct keyring_cable c = { { GUID, GUID + 9 }, { 3, 1 } };
	uint64_t v = keyring_version(k);

	keyring_prove(k, GUID, KEY_A);
	assert_true(keyring_version(k) > v);
	keyring_add_cable(k, &c);
	v = keyring_version(k);
	keyring_prove(k, GUID, KEY_A);
	keyring_intend(k, GUID, KEY_A);
	keyring_prove(k, GUID + 1, 0);
	keyring_add_cable(k, &c);
	assert_true(keyring_version(k) == v);
	keyring_prove(k, GUID, 0);
	assert_true(keyring_version(k) > v);
	keyring_free(k);
}

static void
test_moved_cable_leaves_no_hint(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	struct keyring_cable c = { { GUID, GUID + 9 }, { 3, 1 } };

	keyring_add_cable(k, &c);
	assert_true(keyring_behind(k, GUID, 3) == GUID + 9);
	assert_true(keyring_behind(k, GUID + 9, 1) == GUID);
	assert_true(keyring_behind(k, GUID, 4) == 0);
	/* the host goes to port 4 */
	c.num[0] = 4;
	keyring_add_cable(k, &c);
	assert_true(keyring_behind(k, GUID, 4) == GUID + 9);
	assert_true(keyring_behind(k, GUID + 9, 1) == GUID);
	assert_true(keyring_behind(k, GUID, 3) == 0);
	keyring_free(k);
}

/* ------------------------------------------------------ from a snapshot */

static struct subnet *
fabric(void)
{
	struct subnet *s = generate_fabric("single(4)", NULL, NULL);

	assert_non_null(s);
	return s;
}

static uint32_t
host_of(const struct subnet *s, unsigned nth)
{
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (!subnet_is_switch(subnet_node_of(s, port)) &&
		    subnet_is_end_port(s, port) && !nth--)
			return port;
	fail();
	return 0;
}

static void
test_what_ports_show_is_learned(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	struct subnet *s = fabric();
	uint32_t shows = host_of(s, 0), hides = host_of(s, 1);
	uint32_t open = host_of(s, 2);
	uint64_t key;

	assert_false(keyring_of_lid(k, 8, &key));
	keyring_prove(k, s->ports[hides].guid, KEY_B);
	keyring_prove(k, s->ports[open].guid, KEY_B);
	s->ports[shows].info.m_key = KEY_C;
	s->ports[shows].info.lid = 8;
	s->ports[shows].info.lmc = 1;
	s->ports[hides].info.m_key_protect = 1;
	keyring_learn(k, s);
	assert_tries(k, s->ports[shows].guid, 2, KEY_C, KEY_A);
	assert_tries(k, s->ports[hides].guid, 2, KEY_B, KEY_A);
	assert_tries(k, s->ports[open].guid, 1, KEY_A);
	assert_true(keyring_at(k, s, shows) == KEY_C);
	assert_true(keyring_of_lid(k, 8, &key) && key == KEY_C);
	assert_true(keyring_of_lid(k, 9, &key) && key == KEY_C);
	assert_false(keyring_of_lid(k, 10, &key));
	assert_false(keyring_of_lid(k, 0xffff, &key));
	subnet_unref(s);
	keyring_free(k);
}

/* Port 0 of a switch holds the key of all its ports. */
static void
test_switch_has_one_key(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	struct subnet *s = fabric();
	uint32_t peer = s->ports[host_of(s, 0)].peer;
	const struct subnet_node *sw = subnet_node_of(s, peer);

	assert_true(subnet_is_switch(sw));
	keyring_prove(k, s->ports[sw->first_port].guid, KEY_B);
	assert_true(keyring_at(k, s, peer) == KEY_B);
	assert_true(keyring_at(k, s, host_of(s, 0)) == KEY_A);
	keyring_learn(k, s);	/* the switch has lost it */
	assert_true(keyring_at(k, s, peer) == KEY_A);
	assert_true(keyring_behind(k, s->ports[sw->first_port].guid,
				   s->ports[peer].num) ==
		    s->ports[host_of(s, 0)].guid);
	subnet_unref(s);
	keyring_free(k);
}

static void
test_nothing_is_remembered_without_a_key(void **state)
{
	struct keyring *k = keyring_new(0, KEYRING_ONE);
	struct subnet *s = fabric();

	keyring_learn(k, s);
	assert_true(keyring_version(k) == 0);
	/* until a port shows one */
	s->ports[host_of(s, 0)].info.m_key = KEY_C;
	keyring_learn(k, s);
	assert_true(keyring_of(k, s->ports[host_of(s, 0)].guid) == KEY_C);
	assert_true(keyring_behind(k, s->ports[host_of(s, 0)].guid, 1) != 0);
	subnet_unref(s);
	keyring_free(k);
}

static void
test_locked_until_it_shows_a_key(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	struct subnet *s = fabric();
	uint32_t port = host_of(s, 1);
	uint64_t guid = s->ports[port].guid;

	s->ports[port].info.m_key_protect = 1;
	keyring_lock(k, guid);
	keyring_learn(k, s);
	assert_true(keyring_is_locked(k, guid));
	assert_false(keyring_is_locked(k, guid + 1));
	keyring_unlock_all(k);
	assert_false(keyring_is_locked(k, guid));
	keyring_lock(k, guid);
	s->ports[port].info.m_key = KEY_B;
	keyring_learn(k, s);
	assert_false(keyring_is_locked(k, guid));
	assert_false(keyring_is_locked(NULL, guid));
	subnet_unref(s);
	keyring_free(k);
}

static void
test_strays_are_keys_of_who_was_not_found(void **state)
{
	g_autoptr(GHashTable) found = g_hash_table_new(g_int64_hash,
						       g_int64_equal);
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	uint64_t here = GUID + 1;
	GArray *strays;

	keyring_prove(k, GUID + 3, KEY_C);
	keyring_prove(k, GUID + 2, KEY_B);
	keyring_prove(k, GUID + 4, KEY_C);
	keyring_prove(k, here, KEY_D);
	g_hash_table_add(found, &here);
	strays = keyring_strays(k, found, 8);
	assert_int_equal(strays->len, 2);
	assert_true(g_array_index(strays, uint64_t, 0) == KEY_B);
	assert_true(g_array_index(strays, uint64_t, 1) == KEY_C);
	g_array_unref(strays);
	strays = keyring_strays(k, found, 1);
	assert_int_equal(strays->len, 1);
	g_array_unref(strays);
	keyring_free(k);
}

/* -------------------------------------------------------------- as text */

static void
test_files_come_back_as_they_were(void **state)
{
	struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
	struct keyring *again = keyring_new(KEY_A, KEYRING_ONE);
	g_autoptr(GString) keys = g_string_new(NULL);
	g_autoptr(GString) cables = g_string_new(NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	keyring_prove(k, GUID + 1, KEY_B);
	keyring_prove(k, GUID, KEY_B);
	keyring_intend(k, GUID, KEY_C);
	keyring_add_cable(k, &(struct keyring_cable){
			  { GUID + 1, GUID }, { 1, 36 } });
	keyfile_write_keys(k, keys);
	assert_string_equal(keys->str,
			    "0x0002c90300000001 0x5555666677778888\n\n"
			    "0x0002c90300000001 0x9999aaaabbbbcccc\n\n"
			    "0x0002c90300000002 0x5555666677778888\n\n");
	keyfile_write_cables(k, cables);
	assert_string_equal(cables->str,
			    "0x0002c90300000001:36 0x0002c90300000002:1\n\n"
			    "0x0002c90300000002:1 0x0002c90300000001:36\n\n");
	assert_true(keyfile_read_keys(again, keys->str, "k", &error));
	assert_true(keyfile_read_cables(again, cables->str, "c", &error));
	keyfile_write_keys(again, text);
	assert_string_equal(text->str, keys->str);
	g_string_truncate(text, 0);
	keyfile_write_cables(again, text);
	assert_string_equal(text->str, cables->str);
	assert_tries(again, GUID, 3, KEY_B, KEY_C, KEY_A);
	keyring_free(k);
	keyring_free(again);
}

/* Nothing of it is taken, and the message holds no key. */
static void
test_bad_lines_are_refused_and_not_repeated(void **state)
{
	static const char *const bad[] = {
		"0x0002c90300000001", "0x1 0x5ec3e7 0x1", "0x1 5ec3e7",
		"0x1 0x5ec3e75ec3e75ec3e7", "0x0 0x5ec3e7", "0x1 0x5ec3e7g",
		"1 0x5ec3e7", "0x1 0x", "0x1:0x5ec3e7",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
		g_autofree char *text = g_strdup_printf(
			"0x0002c90300000001 0x0000000000000007\n\n%s\n",
			bad[i]);
		g_autoptr(GError) error = NULL;

		assert_false(keyfile_read_keys(k, text, "guid2mkey", &error));
		assert_true(g_error_matches(error, KEYFILE_ERROR,
					    KEYFILE_ERROR_SYNTAX));
		assert_string_equal(error->message, "guid2mkey:3: this is not "
				    "\"0xPORTGUID 0xMKEY\"");
		assert_tries(k, GUID, 1, KEY_A);
		assert_true(keyring_version(k) == 0);
		keyring_free(k);
	}
}

static void
test_bad_cables_are_refused(void **state)
{
	static const char *const bad[] = {
		"0x1:1", "0x1:1 0x2", "0x1:1 0x2:255", "0x1:1 0x2:",
		"0x1:1 0x0:1", "0x1:1 0x2:00001", "0x1:1 0x2:1 0x3:1",
		"0x1 :1 0x2:1", "0x1:-1 0x2:1",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct keyring *k = keyring_new(KEY_A, KEYRING_ONE);
		g_autoptr(GError) error = NULL;

		assert_false(keyfile_read_cables(k, bad[i], "neighbors",
						 &error));
		assert_true(keyring_version(k) == 0);
		keyring_free(k);
	}
}

/* Whatever the order of learning. */
static void
test_files_do_not_depend_on_the_order(void **state)
{
	g_autoptr(GString) first = g_string_new(NULL);

	for (unsigned turn = 0; turn < 16; turn++) {
		struct keyring *k = keyring_new(KEY_A, KEYRING_PER_PORT);
		g_autoptr(GString) text = g_string_new(NULL);

		for (unsigned i = 0; i < 16; i++) {
			uint64_t guid = GUID + ((i ^ turn) * 7919 % 16);

			keyring_prove(k, guid, keyring_wanted(k, guid));
			keyring_add_cable(k, &(struct keyring_cable){
				{ guid, guid + 100 }, { 1, 1 } });
		}
		keyfile_write_keys(k, text);
		keyfile_write_cables(k, text);
		if (!turn)
			g_string_assign(first, text->str);
		assert_string_equal(text->str, first->str);
		keyring_free(k);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_keyring_is_key_0),
		cmocka_unit_test(test_one_key_is_for_everybody),
		cmocka_unit_test(test_key_per_port_is_the_hmac_of_its_guid),
		cmocka_unit_test(test_seed_is_never_a_key),
		cmocka_unit_test(test_no_key_wanted_is_none_per_port),
		cmocka_unit_test(test_order_of_tries),
		cmocka_unit_test(test_port_without_a_key_is_forgotten),
		cmocka_unit_test(test_version_counts_changes_only),
		cmocka_unit_test(test_moved_cable_leaves_no_hint),
		cmocka_unit_test(test_what_ports_show_is_learned),
		cmocka_unit_test(test_switch_has_one_key),
		cmocka_unit_test(test_nothing_is_remembered_without_a_key),
		cmocka_unit_test(test_locked_until_it_shows_a_key),
		cmocka_unit_test(test_strays_are_keys_of_who_was_not_found),
		cmocka_unit_test(test_files_come_back_as_they_were),
		cmocka_unit_test(test_bad_lines_are_refused_and_not_repeated),
		cmocka_unit_test(test_bad_cables_are_refused),
		cmocka_unit_test(test_files_do_not_depend_on_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
