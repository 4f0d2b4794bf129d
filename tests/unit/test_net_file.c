// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The text of a fabric: what the tools print is understood, what is written
 * comes back as it was, and what is wrong is named with its line.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/snapshot.h"
#include "topology/generate.h"
#include "topology/net_file.h"
#include "topology/prng.h"
#include "topology/text.h"

/* As ibnetdiscover 1 prints it over ibsim, tabs and all */
static const char printed[] =
"#\n"
"# Topology file: generated on Sat Nov 21 03:59:07 2026\n"
"#\n"
"# Initiated from node 0000000000001001 port 0000000000001001\n"
"\n"
"vendid=0x2c9\n"
"devid=0xcb20\n"
"sysimgguid=0x1000\n"
"switchguid=0x1001(1001)\n"
"Switch\t8 \"S-0000000000001001\"\t\t# "
"\"switch A\" enhanced port 0 lid 7 lmc 1\n"
"[1]\t\"H-0000000000100000\"[1](100001) \t\t# \"H1\" lid 2 4xEDR\n"
"[2]\t\"H-0000000000100003\"[2](100abc) \t\t# \"H2\" lid 8 12xQDR\n"
"[3]\t\"R-0000000000000555\"[1](556) \t\t# \"router x\" lid 10 1xSDR\n"
"[4]\t\"S-0000000000001001\"[5]\t\t# \"switch A\" lid 7 4xFDR\n"
"[5]\t\"S-0000000000001001\"[4]\t\t# \"switch A\" lid 7 4xFDR\n"
"\n"
"vendid=0x0\n"
"devid=0x1\n"
"sysimgguid=0x100003\n"
"caguid=0x100003\n"
"Ca\t2 \"H-0000000000100003\"\t\t# \"H2\"\n"
"[2](100abc) \t\"S-0000000000001001\"[2]\t\t# "
"lid 8 lmc 1 \"switch A\" lid 7 12xQDR\n"
"\n"
"vendid=0x0\n"
"devid=0x1\n"
"sysimgguid=0x100000\n"
"caguid=0x100000\n"
"Ca\t1 \"H-0000000000100000\"\t\t# \"H1\"\n"
"[1](100001) \t\"S-0000000000001001\"[1]\t\t# "
"lid 2 lmc 0 \"switch A\" lid 7 4xEDR\n"
"\n"
"vendid=0x0\n"
"devid=0x1\n"
"sysimgguid=0x555\n"
"rtguid=0x555\n"
"Rt\t2 \"R-0000000000000555\"\t\t# \"router x\"\n"
"[1](556) \t\"S-0000000000001001\"[3]\t\t# "
"lid 10 lmc 1 \"switch A\" lid 7 1xSDR\n";

/* Written by hand, as ibsim's examples are */
static const char by_hand[] =
"# two switches\n"
"width=2\n"
"\n"
"Switch\t8 \"Switch1\"\n"
"[1]\t\"Hca1\"[1]\n"
"# a comment in a block\n"
"[3]\t\"Switch2\"[4] w=3\n"
"[8]\t\"Switch2\"[8] s=7 e=3   # the long cable\n"
"\n"
"switchguid+0x10\n"
"Switch 8 \"Switch2\" # the other one base port 0 lid 9 lmc 0\n"
"[4] \"Switch1\"[3]\n"
"[8] \"Switch1\"[8] extspeed=1 speed=6\n"
"[2] \"Hca2\"\n"
"\n"
"Hca\t2 \"Hca1\"\n"
"[1]\t\"Switch1\"[1]\n"
"\n"
"Ca 2 \"Hca2\"\r\n"
"[1] \"Switch2\"[2] # lid 0x14 lmc 2\r\n";

static struct snapshot *
parse(const char *text)
{
	GError *error = NULL;
	struct snapshot *s = net_file_parse(text, "x.net", &error);

	if (!s)
		fail_msg("%s", error->message);
	return s;
}

static const struct snapshot_node *
node_of(const struct snapshot *s, uint64_t guid)
{
	uint32_t n = snapshot_find_node(s, guid);

	assert_int_not_equal(n, SNAPSHOT_NONE);
	return &s->nodes[n];
}

static const struct snapshot_port *
port_of(const struct snapshot *s, uint64_t guid, unsigned num)
{
	return &s->ports[node_of(s, guid)->first_port + num];
}

/* Everything that the text carries. */
static void
assert_same(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	assert_int_equal(a->n_ports, b->n_ports);
	assert_int_equal(a->local_port, b->local_port);
	for (uint32_t n = 0; n < a->n_nodes; n++) {
		const struct snapshot_node *na = &a->nodes[n];
		const struct snapshot_node *nb = &b->nodes[n];

		assert_int_equal(na->info.node_guid, nb->info.node_guid);
		assert_int_equal(na->info.system_guid, nb->info.system_guid);
		assert_int_equal(na->info.node_type, nb->info.node_type);
		assert_int_equal(na->info.num_ports, nb->info.num_ports);
		assert_int_equal(na->info.vendor_id, nb->info.vendor_id);
		assert_int_equal(na->info.device_id, nb->info.device_id);
		assert_string_equal(na->desc, nb->desc);
		assert_int_equal(na->sw.enhanced_port0, nb->sw.enhanced_port0);
		assert_int_equal(na->entry, nb->entry);
	}
	for (uint32_t p = 0; p < a->n_ports; p++) {
		const struct snapshot_port *pa = &a->ports[p];
		const struct snapshot_port *pb = &b->ports[p];

		assert_int_equal(pa->guid, pb->guid);
		assert_int_equal(pa->peer, pb->peer);
		assert_int_equal(pa->known, pb->known);
		assert_int_equal(pa->info.lid, pb->info.lid);
		assert_int_equal(pa->info.lmc, pb->info.lmc);
		assert_int_equal(pa->info.state, pb->info.state);
		assert_int_equal(pa->info.phys_state, pb->info.phys_state);
		if (pa->peer == SNAPSHOT_NONE)
			continue;
		assert_int_equal(pa->info.width_active, pb->info.width_active);
		assert_int_equal(pa->info.speed_active, pb->info.speed_active);
		assert_int_equal(pa->info.speed_ext_active,
				 pb->info.speed_ext_active);
		assert_int_equal(pa->info.speed_ext2_active,
				 pb->info.speed_ext2_active);
	}
}

static void
assert_round_trip(const struct snapshot *s)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) again = g_string_new(NULL);
	AUTO(snapshot) *back;

	net_file_write(s, text);
	back = parse(text->str);
	assert_same(s, back);
	net_file_write(back, again);
	assert_string_equal(text->str, again->str);
}

TEST(test_ibnetdiscover_is_understood)
{
	AUTO(snapshot) *s = parse(printed);
	const struct snapshot_node *sw = node_of(s, 0x1001);
	const struct snapshot_port *p;

	assert_int_equal(s->n_nodes, 4);
	assert_int_equal(s->n_switches, 1);
	assert_string_equal(sw->desc, "switch A");
	assert_true(sw->sw.enhanced_port0);
	assert_true(sw->sw_known);
	assert_int_equal(sw->info.vendor_id, 0x2c9);
	assert_int_equal(sw->info.device_id, 0xcb20);
	assert_int_equal(sw->info.system_guid, 0x1000);
	assert_int_equal(port_of(s, 0x1001, 0)->info.lid, 7);
	assert_int_equal(port_of(s, 0x1001, 0)->info.lmc, 1);
	assert_int_equal(port_of(s, 0x1001, 0)->guid, 0x1001);
	assert_int_equal(port_of(s, 0x1001, 1)->info.lid, 0);

	p = port_of(s, 0x100003, 2);
	assert_int_equal(p->guid, 0x100abc);
	assert_int_equal(p->info.lid, 8);
	assert_int_equal(p->info.lmc, 1);
	assert_string_equal(port_width(&p->info)->name, "12x");
	assert_string_equal(port_speed(&p->info)->name, "QDR");
	assert_int_equal(s->ports[p->peer].num, 2);
	assert_false(port_of(s, 0x100003, 1)->known);
	/* The first CA of the file, by its cabled port */
	assert_ptr_equal(&s->ports[s->local_port], p);
	assert_int_equal(node_of(s, 0x100003)->info.local_port, 2);

	assert_int_equal(node_of(s, 0x555)->info.node_type, NODE_ROUTER);
	assert_int_equal(port_of(s, 0x555, 1)->guid, 0x556);
	p = port_of(s, 0x1001, 4);
	assert_string_equal(port_speed(&p->info)->name, "FDR");
	assert_int_equal(s->ports[p->peer].num, 5);
	assert_round_trip(s);
}

TEST(test_links_are_up_and_wait_for_a_manager)
{
	AUTO(snapshot) *s = parse(printed);

	for (uint32_t p = 0; p < s->n_ports; p++) {
		const struct snapshot_port *port = &s->ports[p];

		if (port->peer != SNAPSHOT_NONE) {
			assert_true(snapshot_link_up(s, p));
			assert_int_equal(port->info.state, PORT_STATE_INIT);
		} else if (snapshot_is_switch(snapshot_node_of(s, p)) &&
			   port->num) {
			assert_true(port->known);
			assert_int_equal(port->info.state, PORT_STATE_DOWN);
		}
		if (!port->known)
			continue;
		assert_int_equal(port->info.neighbor_mtu, 5);
		assert_int_equal(port->info.mtu_cap, 5);
		assert_int_equal(port->info.vl_cap, 4);
	}
}

/* GUIDs, widths and speeds that ibsim makes up for the same text */
TEST(test_ibsim_file_is_understood)
{
	AUTO(snapshot) *s = parse(by_hand);
	const struct snapshot_port *p;

	assert_int_equal(s->n_nodes, 4);
	assert_string_equal(node_of(s, 0x200000)->desc, "Switch1");
	assert_string_equal(node_of(s, 0x200010)->desc, "the other one");
	assert_int_equal(port_of(s, 0x200010, 0)->info.lid, 9);
	assert_string_equal(node_of(s, 0x100000)->desc, "Hca1");
	assert_string_equal(node_of(s, 0x100003)->desc, "Hca2");
	assert_int_equal(port_of(s, 0x100003, 1)->guid, 0x100004);
	assert_int_equal(port_of(s, 0x100003, 1)->info.lid, 0x14);
	assert_int_equal(port_of(s, 0x100003, 1)->info.lmc, 2);
	p = port_of(s, 0x200000, 1);
	assert_string_equal(port_width(&p->info)->name, "4x");
	assert_string_equal(port_speed(&p->info)->name, "SDR");
	p = port_of(s, 0x200010, 8);
	assert_string_equal(port_speed(&p->info)->name, "FDR");
	assert_int_equal(p->info.speed_active, 4);
	assert_int_equal(s->ports[s->local_port].guid, 0x100001);
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

TEST(test_description_may_have_quotes)
{
	AUTO(snapshot) *s = parse(
		"Switch 2 \"S\" # \"a \"b\" # w=0 lid 3\" "
		"base port 0 lid 4 lmc 0\n"
		"[1] \"H\"[1] # \"x \"lid 9\" y=1\" lid 0 4xHDR\n"
		"\n"
		"Hca 1 \"H\" # \" \"\n"
		"[1] \"S\"[1] # lid 5 lmc 0 \"a \"b\" # w=0 lid 3\" "
		"lid 4 4xHDR\n");
	GString *out = g_string_new(NULL);

	assert_string_equal(node_of(s, 0x200000)->desc, "a \"b\" # w=0 lid 3");
	assert_string_equal(node_of(s, 0x100000)->desc, " ");
	assert_int_equal(port_of(s, 0x200000, 0)->info.lid, 4);
	assert_int_equal(port_of(s, 0x100000, 1)->info.lid, 5);
	assert_round_trip(s);
	/* On a cable line ibsim would take it for an option */
	net_file_write(s, out);
	assert_has(out->str, "lmc 0 \"a 'b' # w-0 lid 3\" lid 4");
	g_string_free(out, TRUE);
}

/* The manager's own node leads: ibsim attaches to the first of a file. */
TEST(test_local_port_leads_the_text)
{
	struct generate_options options = { .seed = 3 };
	AUTO(snapshot) *s = generate_fabric("rails(2;3,2)", &options, NULL);
	uint64_t guid;
	char *start;
	GString *out = g_string_new(NULL);

	/* The last CA, by its second port */
	s->local_port = s->n_ports - 1;
	guid = snapshot_node_of(s, s->local_port)->info.node_guid;
	start = g_strdup_printf("\ncaguid=0x%" G_GINT64_MODIFIER "x\nCa\t2 "
				"\"H-%016" G_GINT64_MODIFIER "x\"\t\t# "
				"\"H-2\"\n"
				"[2](%" G_GINT64_MODIFIER "x)", guid, guid,
				guid + 2);
	net_file_write(s, out);
	assert_ptr_equal(strstr(out->str, "\ncaguid="),
			 strstr(out->str, start));
	g_free(start);
	g_string_free(out, TRUE);
}

TEST(test_headings_of_a_grouped_listing_are_skipped)
{
	AUTO(snapshot) *s = parse(
		"Chassis 1 (guid 0x8f1)\n"
		"\n"
		"switchguid=0x10(10)\t# Spine 1 Chip 2\n"
		"Switch 8 \"S\"\n"
		"[1][ext 5]\t\"H\"[1](21) \t\t# \"h\" lid 0 4xEDR s=4 w=2 v=4\n"
		"\n"
		"Non-Chassis Nodes\n"
		"\n"
		"caguid=0x20\t\t# Chassis 1\n"
		"Ca 1 \"H\"\n"
		"[1](21) \t\"S\"[1][ext 5]\t\t# "
		"lid 0 lmc 0 \"S\" lid 0 4xEDR\n");

	assert_int_equal(s->n_nodes, 2);
	assert_int_equal(port_of(s, 0x20, 1)->info.speed_ext_active, 2);
}

TEST(test_file_without_ca_has_no_local_port)
{
	struct snapshot *s = parse("Switch 2 \"A\"\n[1] \"B\"[2]\n\n"
				 "Switch 2 \"B\"\n[2] \"A\"[1]\n");

	assert_int_equal(s->n_nodes, 2);
	assert_int_equal(s->local_port, SNAPSHOT_NONE);
	snapshot_unref(s);
	s = parse("# nothing\n\n");
	assert_int_equal(s->n_nodes, 0);
	snapshot_unref(s);
}

TEST(test_lone_ca_is_its_own_fabric)
{
	AUTO(snapshot) *s = parse("Hca 2 \"H\"\n");

	assert_int_equal(s->n_nodes, 1);
	assert_int_equal(s->ports[s->local_port].num, 1);
	assert_true(s->ports[s->local_port].known);
	assert_int_equal(s->ports[s->local_port].info.state, PORT_STATE_DOWN);
	assert_int_equal(s->ports[s->local_port].guid, 0x100001);
}

static const struct {
	const char *text;
	const char *error;
} wrong[] = {
	{ "Swich 4 \"S\"\n", "x.net:1:1: unknown word \"Swich\"" },
	{ "\nfoo=1\n", "x.net:2:1: unknown word \"foo=1\"" },
	{ "a123456789b123456789c123456789d123456789e\n",
	  "x.net:1:1: unknown word "
	  "\"a123456789b123456789c123456789d123456789\"" },
	{ "include \"a\"\n", "x.net:1:1: \"include\" is not supported" },
	{ "do Dump\n", "x.net:1:1: \"do\" is not supported" },
	{ "@[1] \"a\"\n", "x.net:1:1: aliases (@) are not supported" },
	{ "Switch \"S\"\n", "x.net:1:8: number of ports: a number is missing" },
	{ "Switch 0 \"S\"\n", "x.net:1:8: number of ports: 0 is not 1 to 254" },
	{ "Switch 255 \"S\"\n",
	  "x.net:1:8: number of ports: 255 is not 1 to 254" },
	{ "Switch 4 S\n", "x.net:1:10: a node id in quotes is missing" },
	{ "Switch 4 \"S\n", "x.net:1:11: the node id in quotes is not closed" },
	{ "Switch 4 \"\"\n", "x.net:1:11: the node id in quotes is empty" },
	{ "Switch 4 \"S\" # \"x\n",
	  "x.net:1:16: the description is not closed" },
	{ "Switch 4 \"S\" # \"x\" best port 0\n",
	  "x.net:1:20: unknown word \"best\"" },
	{ "Switch 4 \"S\" # \"x\" base port 0 lid 65536\n",
	  "x.net:1:36: lid: 65536 is not 0 to 65535" },
	{ "Switch 4 \"S\" # \"x\" base port 0 lid 1 lmc 8\n",
	  "x.net:1:42: lmc: 8 is not 0 to 7" },
	{ "Switch 4 \"S\"\n\nSwitch 4 \"S\"\n",
	  "x.net:3:1: node id \"S\" is that of line 1" },
	{ "caguid=5\nHca 1 \"A\"\n\nswitchguid=5\nSwitch 2 \"B\"\n",
	  "x.net:5:1: NodeGUID 0x5 is that of line 2" },
	{ "caguid=0\nHca 1 \"A\"\n", "x.net:2:1: NodeGUID 0 is not valid" },
	{ "caguid=0x1ffffffffffffffff\n",
	  "x.net:1:8: GUID: 0x1ffffffffffffffff is not 0 to "
	  "18446744073709551615" },
	{ "caguid=-1\n", "x.net:1:8: GUID: a number is missing" },
	{ "switchguid=1(2\n", "x.net:1:15: PortGUID: ) is missing" },
	{ "vendid=0x1000000\n",
	  "x.net:1:8: vendid: 0x1000000 is not 0 to 16777215" },
	{ "devid=1 2\n", "x.net:1:9: unknown word \"2\"" },
	{ "width=32\n", "x.net:1:7: width: 32 is not 1 to 31" },
	{ "[1] \"S\"[1]\n", "x.net:1:1: a port outside of a node's block" },
	{ "Switch 4 \"S\"\n\n[1] \"S\"[2]\n",
	  "x.net:3:1: a port outside of a node's block" },
	{ "Switch 4 \"S\"\n[5] \"S\"[1]\n",
	  "x.net:2:2: port: 5 is not 1 to 4" },
	{ "Switch 4 \"S\"\n[0] \"S\"[1]\n",
	  "x.net:2:2: port: 0 is not 1 to 4" },
	{ "Switch 4 \"S\"\n[1 \"S\"[1]\n", "x.net:2:3: port: ] is missing" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2]\n[1] \"S\"[3]\n",
	  "x.net:3:1: port 1 is cabled in line 2" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] 4xEDRR\n",
	  "x.net:2:12: unknown word \"4xEDRR\"" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] # \"S\" lid 0 3xEDR\n",
	  "x.net:2:24: unknown word \"3xEDR\"" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] fast\n",
	  "x.net:2:12: unknown word \"fast\"" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] q=1\n",
	  "x.net:2:12: unknown word \"q=1\"" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] s=8\n",
	  "x.net:2:14: speed: 8 is not 1 to 7" },
	{ "Switch 4 \"S\"\n[1] \"T\"[2]\n",
	  "x.net:2:1: there is no node \"T\"" },
	{ "Switch 4 \"S\"\n[1] \"S\"[9]\n", "x.net:2:1: \"S\" has no port 9" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2]\n",
	  "x.net:2:1: \"S\"[2] does not say that it is cabled to \"S\"[1]" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2]\n[2] \"S\"[3]\n[3] \"S\"[2]\n",
	  "x.net:2:1: \"S\"[2] does not say that it is cabled to \"S\"[1]" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] w=1\n[2] \"S\"[1] w=2\n",
	  "x.net:2:1: no width is enabled at both ends (0x1 and 0x2)" },
	{ "Switch 4 \"S\"\n[1] \"S\"[2] s=1\n[2] \"S\"[1] s=2\n",
	  "x.net:2:1: no speed is enabled at both ends (0x1 and 0x2)" },
};

TEST(test_errors_name_their_line)
{
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		struct snapshot *s = net_file_parse(wrong[i].text, "x.net",
						 &error);

		if (s)
			fail_msg("accepted: %s", wrong[i].text);
		assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		assert_string_equal(error->message, wrong[i].error);
	}
}

/* Any cut or damaged byte: a fabric or an error, nothing else. */
TEST(test_damaged_text_is_survived)
{
	uint64_t rng = seed_take(4711);
	unsigned refused = 0;

	for (unsigned i = 0; i < 3000; i++) {
		g_autofree char *text = g_strdup(i % 2 ? printed : by_hand);
		size_t len = strlen(text);
		GError *error = NULL;
		AUTO(snapshot) *s;

		text[prng_below(&rng, (uint32_t)len)] =
			"\n\"[]()=# 09azx\t\377"[prng_below(&rng, 16)];
		if (i % 3 == 0)
			text[prng_below(&rng, (uint32_t)len)] = '\0';
		s = net_file_parse(text, "x.net", &error);
		assert_true((s == NULL) == (error != NULL));
		if (error) {
			assert_true(g_str_has_prefix(error->message, "x.net:"));
			refused++;
		}
		g_clear_error(&error);
	}
	assert_in_range(refused, 1000, 2999);
}
