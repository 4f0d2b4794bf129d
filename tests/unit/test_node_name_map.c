// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of nodes: what a map may be and what it may not, and how a name comes
 * into a snapshot beside the description.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/config/guid_files.h"
#include "tests/lib/unit.h"
#include "topology/snapshot.h"
#include "topology/text.h"

static GHashTable *
parse(const char *text)
{
	GError *error = NULL;
	GHashTable *names = node_name_map_parse(text, "map", NULL, &error);

	if (!names)
		fail_msg("%s", error->message);
	return names;
}

static void
assert_name(GHashTable *names, uint64_t guid, const char *name)
{
	const char *found = g_hash_table_lookup(names, &guid);

	if (!found)
		fail_msg("0x%" G_GINT64_MODIFIER "x has no name", guid);
	assert_string_equal(found, name);
}

TEST(test_every_form_of_a_line_is_read)
{
	g_autoptr(GHashTable) names = parse(
		"# IB1\r\n"
		"\n"
		"  \t # line cards\n"
		"0x0008f104003f125c \"IB1 (Rack 11 slot 1   ) sLB-24D\"\n"
		"\t0X0008F104003F125D\t\"# 2, {left}\"  # a comment\r\n"
		"8f104003f125e Rack 1 # a \"comment\"\n"
		"0x3 \"R\303\244ck\"#glued\n"
		"0xffffffffffffffff x");

	assert_int_equal(g_hash_table_size(names), 5);
	assert_name(names, 0x0008f104003f125c,
		    "IB1 (Rack 11 slot 1   ) sLB-24D");
	assert_name(names, 0x0008f104003f125d, "# 2, {left}");
	assert_name(names, 0x0008f104003f125e, "Rack 1");
	assert_name(names, 3, "R\303\244ck");
	assert_name(names, UINT64_MAX, "x");
}

TEST(test_empty_map_has_no_names)
{
	g_autoptr(GHashTable) names = parse("");
	g_autoptr(GHashTable) comments = parse("# nothing\n\n");

	assert_int_equal(g_hash_table_size(names), 0);
	assert_int_equal(g_hash_table_size(comments), 0);
}

TEST(test_bad_line_is_named)
{
	static const struct {
		const char *line, *error;
	} bad[] = {
		{ "leaf \"x\"", ":1: a line is a GUID" },
		{ "  0xg \"x\"", ":3: a line is a GUID" },
		{ "0x0 \"x\"", ":1: a line is a GUID" },
		{ "0x12345678901234567 \"x\"", ":1: a line is a GUID" },
		{ "\"x\" 0x2", ":1: a line is a GUID" },
		{ "0x2\"x\"", ":1: a line is a GUID" },
		{ "0x2", ":4: there is no name" },
		{ "0x2#x", ":1: a line is a GUID" },
		{ "0x2 # x", ":5: there is no name" },
		{ "0x2 \"\"", ":5: there is no name" },
		{ "0x2 \"x", ":5: the quote is not closed" },
		{ "0x2 \"x\" y", ":9: behind the name" },
		{ "0x2 \"x\"y", ":8: behind the name" },
		{ "0x2 x\"y\"", ":6: a quote in a name" },
		{ "0x2 \"\344\"", ":5: the name is not UTF-8" },
		{ "0x2 \"a\033[2J\"", ":7: a character of the name" },
		{ "0x2 \"a\tb\"", ":7: a character of the name" },
		{ "0x2 \"a\302\205\"", ":7: a character of the name" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *text = g_strdup_printf(
			"0x1 \"first\"\n%s\n0x5 x y\n", bad[i].line);
		g_autofree char *want = g_strdup_printf("map:2%s",
							bad[i].error);
		g_autoptr(GError) error = NULL;

		if (node_name_map_parse(text, "map", NULL, &error))
			fail_msg("accepted: %s", bad[i].line);
		assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		if (!g_str_has_prefix(error->message, want))
			fail_msg("%s, not %s", error->message, want);
		assert_null(strchr(error->message, '\n'));
	}
}

/* As ibnetdiscover does; but said. */
TEST(test_of_two_names_the_first_one_holds)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) names = node_name_map_parse(
		"0x1 \"first\"\n  0001 \"second\"\n0x2 \"x\"\n", "map",
		warnings, NULL);

	assert_non_null(names);
	assert_name(names, 1, "first");
	assert_name(names, 2, "x");
	assert_int_equal(warnings->len, 1);
	assert_string_equal(warnings->pdata[0], "map:2:3: this GUID has the "
			    "name \"first\" already");
}

TEST(test_longest_name_is_the_limit)
{
	g_autofree char *name = g_strnfill(NODE_NAME_MAP_MAX, 'n');
	g_autofree char *good = g_strdup_printf("0x1 \"%s\"\n", name);
	g_autofree char *bad = g_strdup_printf("0x1 %sn\n", name);
	g_autoptr(GHashTable) names = parse(good);
	g_autoptr(GError) error = NULL;

	assert_name(names, 1, name);
	assert_null(node_name_map_parse(bad, "map", NULL, &error));
	assert_string_equal(error->message,
			    "map:1:5: a name has 255 bytes at most");
}

/* Whatever comes is a map or an error with a place in the text, and what is
 * found in a map was in the text. */
TEST(test_damaged_maps_are_survived)
{
	static const char good[] = "# IB1\n0x0008f104003f125c \"Rack 1\" # c\n"
		"0x2 \"# 2\"\r\n\n3 bare name\n0xffffffffffffffff \"x\"\n";
	const char *asked = g_getenv("MINISM_TEST_SEED");
	guint32 seed = asked ? (guint32)strtoul(asked, NULL, 0) : 7;
	g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
	unsigned n_good = 0, n_bad = 0;

	print_message("MINISM_TEST_SEED=%u\n", seed);
	for (unsigned round = 0; round < 20000; round++) {
		g_autofree char *text = g_strdup(good);
		g_autoptr(GHashTable) names = NULL;
		g_autoptr(GError) error = NULL;

		for (int i = g_rand_int_range(rand, 1, 4); i > 0; i--)
			text[g_rand_int_range(rand, 0, sizeof(good) - 1)] =
				"\"# \n\r\t0xg\377\1"[g_rand_int_range(
					rand, 0, 11)];
		names = node_name_map_parse(text, "map", NULL, &error);
		assert_true(!names == !!error);
		assert_true(names || g_str_has_prefix(error->message, "map:"));
		n_good += !!names;
		n_bad += !names;
	}
	assert_true(n_good > 100);
	assert_true(n_bad > 100);
}

static struct snapshot *
make_pair(GHashTable *names, uint64_t first, uint64_t second)
{
	const struct node_info infos[] = {
		{ .node_guid = first, .port_guid = first + 0x10,
		  .node_type = NODE_CA, .num_ports = 1, .local_port = 1 },
		{ .node_guid = second, .port_guid = second + 0x10,
		  .node_type = NODE_CA, .num_ports = 1, .local_port = 1 },
	};
	struct builder *b = builder_new();

	if (names)
		b->s->names = g_hash_table_ref(names);
	for (size_t i = 0; i < G_N_ELEMENTS(infos); i++) {
		char desc[8];

		g_snprintf(desc, sizeof(desc), "ca-%u",
			   (unsigned)infos[i].node_guid);
		builder_describe(b, builder_add(b, &infos[i]),
				 (const uint8_t *)desc, sizeof(desc));
	}
	builder_link(b, snapshot_port_of(b->s, 0, 1),
		     snapshot_port_of(b->s, 1, 1));
	b->s->local_port = snapshot_port_of(b->s, 0, 1);
	return builder_finish(b);
}

static void
assert_pair(const struct snapshot *s, const char *first, const char *second)
{
	assert_int_equal(s->n_nodes, 2);
	assert_string_equal(snapshot_node_name(&s->nodes[0]), first);
	assert_string_equal(snapshot_node_name(&s->nodes[1]), second);
	assert_string_equal(snapshot_name_of(s, s->nodes[1].first_port + 1),
			    second);
	assert_string_equal(s->nodes[0].desc, "ca-1");
	assert_string_equal(s->nodes[1].desc, "ca-2");
}

TEST(test_name_stands_beside_the_description)
{
	g_autoptr(GHashTable) names = parse("0x2 \"Rack 2\"\n0x9 nobody\n");

	for (unsigned order = 0; order < 2; order++) {
		struct snapshot *s = make_pair(names, 1 + order, 2 - order);

		assert_pair(s, "ca-1", "Rack 2");
		snapshot_unref(s);
		s = make_pair(NULL, 1 + order, 2 - order);
		assert_pair(s, "ca-1", "ca-2");
		snapshot_unref(s);
	}
}

/* The map may go, and the snapshot that a copy was made of. */
TEST(test_names_live_as_long_as_their_users)
{
	GHashTable *names = parse("0x1 \"Rack 1\"\n");
	struct snapshot *s = make_pair(names, 2, 1), *copy;

	g_hash_table_unref(names);
	copy = snapshot_copy(s);
	assert_pair(s, "Rack 1", "ca-2");
	snapshot_unref(s);
	assert_pair(copy, "Rack 1", "ca-2");
	snapshot_unref(copy);
}
