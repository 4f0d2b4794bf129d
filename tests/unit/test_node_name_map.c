// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How the name that a site gives a node comes into a snapshot beside the
 * description. What a map may be: tests/golden/nodenames.
 */
#include "sm/config/guid_files.h"
#include "tests/lib/unit.h"

static GHashTable *
parse(const char *text)
{
	GError *error = NULL;
	GHashTable *names = node_name_map_parse(text, "map", NULL, &error);

	if (!names)
		fail_msg("%s", error->message);
	return names;
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
		AUTO(snapshot) *s = make_pair(names, 1 + order, 2 - order);
		AUTO(snapshot) *plain = make_pair(NULL, 1 + order, 2 - order);

		assert_pair(s, "ca-1", "Rack 2");
		assert_pair(plain, "ca-1", "ca-2");
	}
}

/* The map may go, and the snapshot that a copy was made of. */
TEST(test_names_live_as_long_as_their_users)
{
	g_autoptr(GHashTable) names = parse("0x1 \"Rack 1\"\n");
	struct snapshot *s = make_pair(names, 2, 1);
	AUTO(snapshot) *copy;

	copy = snapshot_copy(s);
	assert_pair(s, "Rack 1", "ca-2");
	snapshot_unref(s);
	assert_pair(copy, "Rack 1", "ca-2");
}
