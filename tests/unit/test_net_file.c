// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as text, what its normal form (tests/golden/netfile) does not show:
 * that nothing is lost on the way, and what stands in no text.
 */
#include "lab/generate.h"
#include "tests/lib/fabric_text.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "tools/net_file_parse.h"
#include "topology/net_file.h"
#include "topology/prng.h"

static struct snapshot *
parse(const char *text)
{
	GError *error = NULL;
	struct snapshot *s = net_file_parse(text, "x.net", &error);

	if (!s)
		fail_msg("%s", error->message);
	return s;
}

static void
assert_round_trip(const struct snapshot *s)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) again = g_string_new(NULL);
	AUTO(snapshot) *back;

	net_file_write(s, text);
	back = parse(text->str);
	assert_same_fabric(s, back);
	net_file_write(back, again);
	assert_string_equal(text->str, again->str);
}

/* LIDs, rates and names of all kinds, which generators do not make. */
static void
randomize(struct snapshot *s, uint64_t *rng)
{
	static const uint8_t widths[] = { 1, 2, 4, 8, 16 };
	static const uint8_t speeds[][3] = {
		{ 1, 0 }, { 2, 0 }, { 4, 0 }, { 4, 1 }, { 4, 2 }, { 4, 4 },
		{ 4, 8 }, { 4, 8, 1 },
	};

	for (uint32_t p = 0; p < s->n_ports; p++) {
		struct snapshot_port *port = &s->ports[p], *peer;
		const uint8_t *speed = speeds[prng_below(rng, 8)];

		if (snapshot_is_end_port(s, p)) {
			port->info.lid = (uint16_t)prng_below(rng, 0x10000);
			port->info.lmc = (uint8_t)prng_below(rng, 8);
		}
		if (port->peer == SNAPSHOT_NONE || port->peer < p)
			continue;
		peer = &s->ports[port->peer];
		peer->info.width_active = port->info.width_active =
			widths[prng_below(rng, 5)];
		peer->info.speed_active = port->info.speed_active = speed[0];
		peer->info.speed_ext_active = port->info.speed_ext_active =
			speed[1];
		peer->info.speed_ext2_active = port->info.speed_ext2_active =
			speed[2];
	}
	for (uint32_t n = 0; n < s->n_nodes; n++) {
		struct snapshot_node *node = &s->nodes[n];
		unsigned len = prng_below(rng, NODE_DESC_LEN + 1);

		node->info.vendor_id = prng_below(rng, 1 << 24);
		node->info.device_id = (uint16_t)prng_below(rng, 1 << 16);
		node->info.system_guid = prng_next(rng);
		node->sw.enhanced_port0 = snapshot_is_switch(node) &&
					  prng_below(rng, 2);
		for (unsigned i = 0; i < len; i++)
			node->desc[i] = (char)(' ' + prng_below(rng, 95));
		node->desc[len] = '\0';
	}
	snapshot_sort_switches(s, NULL);
}

TEST(test_generated_fabrics_come_back)
{
	static const char *const specs[] = {
		"PGFT(3,4;1,3)", "PGFT(2,2,2;1,2,2;1,1,2)", "ring(5;2)",
		"torus(3,3;1)", "mesh(2,2,2;2)", "single(4)", "pair()",
		"random(12,4,2)", "rails(3;4,2)",
	};
	uint64_t rng = seed_take(77);

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct generate_options options = {
			.seed = i + 1,
			.shuffle_guids = true,
			.fail_per_mille = 50,
		};
		AUTO(snapshot) *s = generate_fabric(specs[i], &options, NULL);

		assert_non_null(s);
		assert_round_trip(s);
		randomize(s, &rng);
		assert_round_trip(s);
	}
}

/* The manager's own node leads: ibsim attaches to the first of a file. */
TEST(test_local_port_leads_the_text)
{
	struct generate_options options = { .seed = 3 };
	AUTO(snapshot) *s = generate_fabric("rails(2;3,2)", &options, NULL);
	/* The last CA, by its second port */
	uint64_t guid = snapshot_node_of(s, s->n_ports - 1)->info.node_guid;
	g_autofree char *start = NULL;
	g_autoptr(GString) out = g_string_new(NULL);

	s->local_port = s->n_ports - 1;
	start = g_strdup_printf("\ncaguid=0x%" G_GINT64_MODIFIER "x\nCa\t2 "
				"\"H-%016" G_GINT64_MODIFIER "x\"\t\t# "
				"\"H-2\"\n"
				"[2](%" G_GINT64_MODIFIER "x)", guid, guid,
				guid + 2);
	net_file_write(s, out);
	assert_ptr_equal(strstr(out->str, "\ncaguid="),
			 strstr(out->str, start));
}
