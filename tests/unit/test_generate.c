// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics by formula: are they what the formula says, and the same again?
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"
#include "topology/prng.h"
#include "topology/text.h"

static struct snapshot *
make_with(const char *spec, struct generate_options options)
{
	GError *error = NULL;
	struct snapshot *s = generate_fabric(spec, &options, &error);

	if (!s)
		fail_msg("%s", error->message);
	return s;
}

static struct snapshot *
make(const char *spec)
{
	return make_with(spec, (struct generate_options){ .seed = 0 });
}

/* A cable counts once, from its lower port. */
static uint32_t
count_cables(const struct snapshot *s, bool between_switches_only)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint32_t q = s->ports[p].peer;

		if (q == SNAPSHOT_NONE || q < p)
			continue;
		if (between_switches_only &&
		    !(snapshot_is_switch(snapshot_node_of(s, p)) &&
		      snapshot_is_switch(snapshot_node_of(s, q))))
			continue;
		n++;
	}
	return n;
}

static uint32_t
cables_between(const struct snapshot *s, uint32_t a, uint32_t b)
{
	const struct snapshot_node *node = &s->nodes[a];
	uint32_t n = 0;

	for (unsigned num = 1; num <= node->info.num_ports; num++) {
		uint32_t q = s->ports[node->first_port + num].peer;

		n += q != SNAPSHOT_NONE && s->ports[q].node == b;
	}
	return n;
}

/* "S-2-7": level 2, index 7; "H-7": level 0. */
static unsigned
level_of(const struct snapshot_node *node)
{
	if (node->desc[0] == 'H')
		return 0;
	return (unsigned)strtoul(node->desc + 2, NULL, 10);
}

static uint32_t
index_of(const struct snapshot_node *node)
{
	return (uint32_t)strtoul(strrchr(node->desc, '-') + 1, NULL, 10);
}

static gint
compare_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The cables by name, sorted: what a fabric is, whatever its GUIDs are. */
static char *
cables_by_name(const struct snapshot *s)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint32_t q = s->ports[p].peer;

		if (q != SNAPSHOT_NONE)
			g_ptr_array_add(lines, g_strdup_printf("%s[%u]%s[%u]",
				snapshot_node_of(s, p)->desc, s->ports[p].num,
				snapshot_node_of(s, q)->desc, s->ports[q].num));
	}
	g_ptr_array_sort(lines, compare_text);
	g_ptr_array_add(lines, NULL);
	return g_strjoinv("\n", (char **)lines->pdata);
}

TEST(test_sizes_follow_the_formula)
{
	static const struct {
		const char *spec;
		uint32_t hosts, switches, cables;
	} row[] = {
		{ "PGFT(3;1)", 3, 1, 3 },
		{ "PGFT(2,2;1,2)", 4, 4, 8 },
		{ "PGFT(2,2;1,2;1,3)", 4, 4, 16 },
		{ "PGFT(18,36;1,18)", 648, 54, 1296 },
		{ "PGFT(4,4,8;1,4,4)", 128, 80, 384 },
		/* two planes, of which the SM sees one */
		{ "PGFT(2,3;2,1;1,1)", 6, 4, 9 },
		{ "PGFT(2,3;1,1;2,1)", 6, 4, 15 },	/* two-port hosts */
		{ " pgft ( 2 , 2 ; 1 , 2 ) ", 4, 4, 8 },
		{ "ring(1;1)", 1, 1, 1 },
		{ "ring(2;1)", 2, 2, 3 },
		{ "ring(5;2)", 10, 5, 15 },
		{ "torus(3,4;1)", 12, 12, 36 },
		{ "torus(2,3;1)", 6, 6, 15 },
		{ "torus(2,2,2;1)", 8, 8, 20 },
		{ "torus(1,3;1)", 3, 3, 6 },
		{ "torus(3,3,3;2)", 54, 27, 135 },
		{ "mesh(3,4;1)", 12, 12, 29 },
		{ "mesh(2,3,4;1)", 24, 24, 70 },
		{ "single(254)", 254, 1, 254 },
		{ "pair()", 2, 0, 1 },
		{ "random(2,1,3)", 6, 2, 7 },
		{ "random(4,3,1)", 4, 4, 10 },	/* all to all */
		{ "dragonfly(4,2,2)", 72, 36, 162 },
		{ "dragonfly(1,1,1)", 2, 2, 3 },
		{ "hyperx(3,4;2)", 24, 12, 54 },
		{ "hyperx(5;1)", 5, 5, 15 },
		{ "rails(4;6,2)", 6, 4, 16 },
		{ "rails(5;7,3)", 7, 5, 26 },
		{ "rails(4;6,2;3)", 6, 7, 24 },
		{ "rails(4;6,2;3,5)", 6, 15, 54 },
		{ "rails(5;7,3;2,1)", 7, 12, 37 },
		/* with an aggregation node in each switch */
		{ "PGFT(2,2;1,2)+an", 8, 4, 12 },
		{ "pair() +an ", 2, 0, 1 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
		AUTO(snapshot) *s = make(row[i].spec);

		print_message("%s\n", row[i].spec);
		assert_int_equal(s->n_switches, row[i].switches);
		assert_int_equal(s->n_nodes - s->n_switches, row[i].hosts);
		assert_int_equal(count_cables(s, false), row[i].cables);
	}
}

/* An aggregation node is on the last port of its switch, whose SystemImageGUID
 * it has, with shuffled GUIDs, too; no port of another node moves. */
TEST(test_aggregation_nodes_are_inside_their_switches)
{
	static const struct generate_options shuffled = {
		.seed = 3, .shuffle_guids = true,
	};
	AUTO(snapshot) *s = generate_fabric("PGFT(3,4;1,3)+an", &shuffled,
					    NULL);
	AUTO(snapshot) *bare = make("PGFT(3,4;1,3)");
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *sw = &s->nodes[i], *an;

		if (!snapshot_is_switch(sw))
			continue;
		an = snapshot_node_of(s, s->ports[sw->first_port +
				      sw->info.num_ports].peer);
		assert_true(an->info.system_guid == sw->info.system_guid);
		assert_string_equal(an->desc + 2, sw->desc + 1);
		n++;
	}
	assert_int_equal(n, bare->n_switches);
	assert_int_equal(count_cables(s, true), count_cables(bare, true));
}

TEST(test_large_tree_is_built)
{
	AUTO(snapshot) *s = make("PGFT(32,32,44;1,32,32)");

	assert_int_equal(s->n_nodes, 45056 + 3840);
	assert_int_equal(s->n_switches, 3840);
	assert_int_equal(count_cables(s, false), 3 * 45056);
}

/* Marks the hosts below `node`, going down only. */
static void
mark_below(const struct snapshot *s, uint32_t node, uint8_t *below)
{
	const struct snapshot_node *n = &s->nodes[node];

	if (!snapshot_is_switch(n)) {
		below[index_of(n)] = 1;
		return;
	}
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t q = s->ports[n->first_port + num].peer;

		if (level_of(snapshot_node_of(s, q)) < level_of(n))
			mark_below(s, s->ports[q].node, below);
	}
}

/*
 * What makes it a PGFT: below a switch of level l lie exactly m_1*..*m_l hosts
 * in a row, it has m_l children and w_l+1 parents, and to each as many cables
 * as p says.
 */
TEST(test_tree_is_a_pgft)
{
	static const uint32_t m[] = { 0, 3, 2, 4 }, w[] = { 0, 1, 3, 2, 0 };
	static const uint32_t p[] = { 0, 1, 2, 3, 0 };
	AUTO(snapshot) *s = make("PGFT(3,2,4;1,3,2;1,2,3)");

	assert_int_equal(s->n_switches, 8 + 12 + 6);
	for (uint32_t i = 0; i < s->n_switches; i++) {
		uint32_t me = s->switches[i];
		unsigned l = level_of(&s->nodes[me]);
		uint32_t children = 0, parents = 0, block = 1, first = 0;
		uint8_t below[24] = { 0 };

		for (uint32_t n = 0; n < s->n_nodes; n++) {
			uint32_t cables = cables_between(s, me, n);
			unsigned at = level_of(&s->nodes[n]);

			if (!cables)
				continue;
			assert_true(at + 1 == l || at == l + 1);
			assert_int_equal(cables, p[MAX(at, l)]);
			children += at < l;
			parents += at > l;
		}
		assert_int_equal(children, m[l]);
		assert_int_equal(parents, w[l + 1]);
		mark_below(s, me, below);
		for (unsigned k = 1; k <= l; k++)
			block *= m[k];
		while (!below[first])
			first++;
		assert_int_equal(first % block, 0);
		for (uint32_t h = 0; h < 24; h++)
			assert_int_equal(below[h],
					 h >= first && h < first + block);
	}
}

TEST(test_tree_ports_run_down_then_up)
{
	AUTO(snapshot) *s = make("PGFT(3,2;1,2;1,2)");
	uint32_t leaf = 0;
	static const char *const peers[] = {
		"H-3", "H-4", "H-5", "S-2-0", "S-2-1", "S-2-0", "S-2-1",
	};

	while (strcmp(s->nodes[leaf].desc, "S-1-1"))
		leaf++;
	/* parallel cables go round robin over the parents */
	assert_int_equal(s->nodes[leaf].info.num_ports, 7);
	for (unsigned num = 1; num <= 7; num++) {
		uint32_t q = s->ports[snapshot_port_of(s, leaf, num)].peer;

		assert_string_equal(snapshot_node_of(s, q)->desc,
				    peers[num - 1]);
	}
}

TEST(test_torus_port_means_a_direction)
{
	AUTO(snapshot) *s = make("torus(3,4;2)");

	for (uint32_t i = 0; i < s->n_switches; i++) {
		uint32_t n = s->switches[i];
		uint32_t at = index_of(&s->nodes[n]);
		uint32_t to[] = {
			at / 3 * 3 + (at + 1) % 3, at / 3 * 3 + (at + 2) % 3,
			(at + 3) % 12, (at + 9) % 12,
		};

		for (unsigned d = 0; d < 4; d++) {
			uint32_t p = snapshot_port_of(s, n, 3 + d);
			uint32_t q = s->ports[p].peer;

			assert_int_equal(index_of(snapshot_node_of(s, q)),
					 to[d]);
			assert_int_equal(s->ports[q].num, 3 + (d ^ 1));
		}
	}
}

TEST(test_random_is_simple_connected_and_bounded)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct generate_options options = { .seed = seed };
		AUTO(snapshot) *s = make_with("random(30,4,2)", options);

		/* What is not connected would have been dropped. */
		assert_int_equal(s->n_nodes, 90);
		for (uint32_t i = 0; i < s->n_switches; i++) {
			uint32_t links = 0;

			for (uint32_t j = 0; j < s->n_switches; j++) {
				uint32_t n = cables_between(s, s->switches[i],
							    s->switches[j]);

				assert_true(n <= 1);
				assert_true(i != j || n == 0);
				links += n;
			}
			assert_in_range(links, 1, 4);
		}
		/* "about d": 60 if it came out even */
		assert_in_range(count_cables(s, true), 57, 60);
	}
}

TEST(test_rails_keep_ports_apart)
{
	AUTO(snapshot) *s = make("rails(5;9,2)");
	uint32_t most = 0;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		const struct snapshot_node *far;

		if (snapshot_is_switch(snapshot_node_of(s, p)) ||
		    !s->ports[p].num)
			continue;
		far = snapshot_node_of(s, s->ports[p].peer);
		assert_true(snapshot_is_switch(far));
		assert_int_equal(index_of(far) % 2, s->ports[p].num - 1u);
		most++;
	}
	assert_int_equal(most, 18);
	assert_int_equal(count_cables(s, true), 5);
}

/* Leaves and spines of a rail have cables to each other and to no others. */
TEST(test_rails_are_joined_at_the_cores_only)
{
	AUTO(snapshot) *s = make("rails(5;9,2;3,4)");
	unsigned n[5] = { 0 };

	for (uint32_t p = 0; p < s->n_ports; p++) {
		const struct snapshot_node *a = snapshot_node_of(s, p), *b;
		int sum = a->desc[2] - '0';

		if (!snapshot_joins_switches(s, p))
			continue;
		b = snapshot_node_of(s, s->ports[p].peer);
		sum += b->desc[2] - '0';	/* levels 1, 2, 3 */
		n[sum - 1]++;
		if (sum == 3)
			assert_int_equal(index_of(a) % 2, index_of(b) % 2);
	}
	assert_int_equal(n[2], 5 * 3);
	assert_int_equal(n[4], 6 * 4);
	assert_int_equal(n[1] + n[3], 0);
}

TEST(test_ports_say_what_they_are)
{
	AUTO(snapshot) *s = make("mesh(2,2;1)");
	unsigned up = 0, down = 0, zero = 0;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		const struct snapshot_port *port = &s->ports[p];
		const struct port_info *info = &port->info;
		bool is_switch = snapshot_is_switch(snapshot_node_of(s, p));

		assert_int_equal(port->known, is_switch || port->num);
		assert_int_equal(info->lid, 0);
		if (!port->known)
			continue;
		assert_int_equal(info->mtu_cap, 5);
		assert_int_equal(info->vl_cap, 4);
		assert_string_equal(port_width(info)->name, "4x");
		assert_string_equal(port_speed(info)->name, "EDR");
		if (!port->num) {
			zero++;
		} else if (port->peer != SNAPSHOT_NONE) {
			assert_int_equal(info->state, PORT_STATE_INIT);
			assert_true(snapshot_link_up(s, p));
			up++;
		} else {
			assert_int_equal(info->state, PORT_STATE_DOWN);
			assert_int_equal(info->phys_state, PORT_PHYS_POLLING);
			down++;
		}
	}
	/* 4 switches of 5 ports: 1 host, 2 of 4 directions in use */
	assert_int_equal(zero, 4);
	assert_int_equal(up, 4 + 4 + 8);
	assert_int_equal(down, 8);
	for (uint32_t i = 0; i < s->n_switches; i++) {
		assert_true(s->nodes[s->switches[i]].sw_known);
		assert_int_equal(s->nodes[s->switches[i]].sw.linear_fdb_cap,
				 49152);
	}
	assert_string_equal(snapshot_node_of(s, s->local_port)->desc, "H-0");
	assert_int_equal(s->ports[s->local_port].num, 1);
}

TEST(test_shuffle_permutes_guids_and_nothing_else)
{
	struct generate_options o = { .seed = 5, .fail_per_mille = 200 };
	AUTO(snapshot) *plain = make_with("PGFT(4,4;1,4)", o);
	AUTO(snapshot) *mixed;
	g_autofree char *plain_cables = cables_by_name(plain);
	g_autofree char *mixed_cables = NULL;
	uint32_t moved = 0;

	o.shuffle_guids = true;
	mixed = make_with("PGFT(4,4;1,4)", o);
	mixed_cables = cables_by_name(mixed);
	assert_string_equal(mixed_cables, plain_cables);
	assert_int_equal(plain->n_nodes, mixed->n_nodes);
	for (uint32_t n = 0; n < plain->n_nodes; n++) {
		assert_int_equal(plain->nodes[n].info.node_guid,
				 mixed->nodes[n].info.node_guid);
		moved += strcmp(plain->nodes[n].desc,
				mixed->nodes[n].desc) != 0;
	}
	assert_in_range(moved, 12, 24);
	assert_string_equal(snapshot_node_of(mixed, mixed->local_port)->desc,
			    "H-0");
}

TEST(test_failures_take_the_share_of_switch_links)
{
	static const struct {
		unsigned per_mille;
		uint32_t left;	/* of 16 * 16 = 256 */
	} row[] = {
		{ 0, 256 }, { 1, 256 }, { 2, 255 }, { 100, 230 }, { 300, 179 },
	};
	g_autofree char *before = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
		struct generate_options o = {
			.seed = 9, .fail_per_mille = row[i].per_mille,
		};
		AUTO(snapshot) *s = make_with("PGFT(16,16;1,16)", o);
		g_autofree char *cables = cables_by_name(s);
		g_auto(GStrv) lines = g_strsplit(cables, "\n", -1);

		assert_int_equal(s->n_nodes, 256 + 32);	/* none cut off */
		assert_int_equal(count_cables(s, true), row[i].left);
		assert_int_equal(count_cables(s, false), row[i].left + 256);
		if (!before)
			before = g_strdup(cables);
		for (char **line = lines; *line; line++)
			assert_has(before, *line);
	}
}

TEST(test_failures_may_cut_off)
{
	struct generate_options o = { .fail_per_mille = 1000 };
	AUTO(snapshot) *s = make_with("PGFT(3,4;1,2)", o);

	/* all that is left of the fabric is the first leaf */
	assert_int_equal(s->n_nodes, 4);
	assert_int_equal(s->n_switches, 1);
	assert_int_equal(count_cables(s, false), 3);
	assert_int_equal(s->ports[snapshot_port_of(s, 0, 4)].info.state,
			 PORT_STATE_DOWN);
}

TEST(test_seed_decides)
{
	struct generate_options o = { .seed = 1 };
	AUTO(snapshot) *a = make_with("random(20,3,1)", o);
	AUTO(snapshot) *b = make_with("random(20,3,1)", o);
	AUTO(snapshot) *c;
	g_autofree char *ta = cables_by_name(a), *tb = cables_by_name(b);
	g_autofree char *tc = NULL;

	o.seed = 2;
	c = make_with("random(20,3,1)", o);
	tc = cables_by_name(c);
	assert_string_equal(ta, tb);
	assert_string_not_equal(ta, tc);
}

/* The first numbers of SplitMix64 with seed 1234567, as its other
 * implementations give them: the streams do not depend on the machine. */
TEST(test_prng_gives_the_known_numbers)
{
	static const uint64_t known[] = {
		6457827717110365317u, 3203168211198807973u,
		9817491932198370423u, 4593380528125082431u,
		16408922859458223821u,
	};
	uint64_t rng = 1234567;

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		assert_true(prng_next(&rng) == known[i]);
	for (unsigned i = 0; i < 1000; i++)
		assert_in_range(prng_below(&rng, 7), 0, 6);
	assert_int_equal(prng_below(&rng, 1), 0);
}

/* A spec and what its message must contain */
static const char *const bad_specs[][2] = {
	{ "", "no shape is called \"\"; there are PGFT" },
	{ "cube(3)", "no shape is called \"cube\"" },
	{ "PGF(2;1)", "no shape is called \"PGF\"" },
	{ "ring", "\"(\" is missing: ring(n;h)" },
	{ "ring 3;1)", "\"(\" is missing" },
	{ "ring(3;1", "\")\" is missing" },
	{ "ring(3;", "a number is missing at the end" },
	{ "ring(3;)", "a number is missing before \")\"" },
	{ "ring(,3;1)", "a number is missing before \",3;1)\"" },
	{ "ring(-3;1)", "a number is missing before \"-3;1)\"" },
	{ "ring(3.5;1)", "\".5;1)\" is neither a number" },
	{ "ring(3;1)x", "\"x\" after the end" },
	{ "ring(0;1)", "0 is out of range (1 to 65535)" },
	{ "ring(65536;1)", "65536 is out of range" },
	{ "ring(99999999999999999999999;1)", "out of range" },
	{ "ring(3)", "1 parts, it should be ring(n;h)" },
	{ "ring(3;1;1)", "3 parts, it should be ring(n;h)" },
	{ "ring(3;1;1;1)", "more than 3 parts" },
	{ "ring(3,3;1)", "2 numbers in part 1" },
	{ "torus(3;1)", "1 numbers in part 1" },
	{ "torus(3,3,3,3;1)", "4 numbers in part 1" },
	{ "pair(1)", "1 numbers in part 1, it should be pair()" },
	{ "single()", "0 numbers in part 1, it should be single(h)" },
	{ "PGFT(2,2;1)", "1 numbers in part 2, but 2 levels" },
	{ "PGFT(2,2;1,2;1)", "1 numbers in part 3, but 2 levels" },
	{ "PGFT(1,1,1,1,1,1,1,1,1;1)", "more than 8 numbers" },
	{ "PGFT(65535,65535,65535,65535,65535,65535,65535,65535;"
	  "1,1,1,1,1,1,1,1)", "more than 65535 nodes at level 0" },
	{ "PGFT(2,2,2;1,1,253)", "255 ports on a node of level 2" },
	{ "PGFT(200,2;1,2;2,1)", "402 ports on a node of level 1" },
	{ "PGFT(2,2;1,65535)", "65537 ports on a node of level 1" },
	{ "PGFT(200,200,2;1,1,1)", "more than 65535 nodes at level 0" },
	{ "PGFT(240,240;1,100;1,1)", "340 ports on a node of level 1" },
	{ "PGFT(8,8,8,8,10;1,8,8,8,8)", "more than 65535 nodes" },
	{ "ring(3;253)", "255 ports on a switch" },
	{ "ring(3;252)+an", "255 ports on a switch" },
	{ "ring(3;1)+sharp", "\"+sharp\" after the end" },
	{ "torus(65535,65535,65535;1)", "more than 65535 switches" },
	{ "mesh(40,40;60)", "more than 65535 nodes" },
	{ "single(255)", "255 ports on a switch" },
	{ "random(3,1,1)", "cannot be connected" },
	{ "random(3,3,1)", "3 links each, but only 2 other" },
	{ "random(1,1,1)", "1 links each, but only 0 other" },
	{ "random(65535,2,65535)", "more than 65535 nodes" },
	{ "random(200,100,155)", "255 ports on a switch" },
	{ "rails(1;4,2)", "2 rails, but only 1 switches" },
	{ "rails(2;400,2)", "402 ports on a switch" },
	{ "rails(300;1,255)", "255 ports on a host" },
	{ "rails(65535;1,1)", "more than 65535 nodes" },
	{ "rails(4;4,2;253)", "255 ports on a switch" },
	{ "rails(4;4,2;1,253)", "255 ports on a spine" },
	{ "rails(4;4,4;64,1)", "256 ports on a top switch" },
	{ "rails(4;4,4;65535,65535)", "more than 65535 nodes" },
};
TEST(test_bad_specs_are_named)
{
	for (size_t i = 0; i < G_N_ELEMENTS(bad_specs); i++) {
		struct generate_options options = { .seed = 0 };
		g_autoptr(GError) error = NULL;

		assert_null(generate_fabric(bad_specs[i][0], &options, &error));
		assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		if (!strstr(error->message, bad_specs[i][1]))
			fail_msg("%s: not \"%s\"", error->message,
				 bad_specs[i][1]);
		assert_null(strchr(error->message, '\n'));
	}
}
