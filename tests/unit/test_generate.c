// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics by formula: random ones, the same by their seed, and without the
 * cables and switches that failed. The forms of a formula are in
 * tests/golden/formula, those of a net file in tests/golden/netfile; which node
 * leads in one is here.
 */
#include "tests/lib/fabric_text.h"
#include "tests/lib/unit.h"
#include "topology/net_file.h"
#include "topology/prng.h"
#include "topology/text.h"

static struct snapshot *
make_with(const char *spec, struct generate_options options)
{
	g_autoptr(GError) error = NULL;
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
		assert_int_equal(s->ports[q].peer, p);
		n += !between_switches_only ||
			(snapshot_is_switch(snapshot_node_of(s, p)) &&
			 snapshot_is_switch(snapshot_node_of(s, q)));
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
	g_ptr_array_sort(lines, text_compare);
	g_ptr_array_add(lines, NULL);
	return g_strjoinv("\n", (char **)lines->pdata);
}

TEST(test_random_is_simple_connected_and_bounded)
{
	g_autofree char *before = NULL;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct generate_options options = { .seed = seed };
		AUTO(snapshot) *s = make_with("random(30,4,2)", options);
		AUTO(snapshot) *again = make_with("random(30,4,2)", options);
		g_autofree char *text = fabric_text(s);

		assert_same_fabric(s, again);
		assert_string_not_equal(text, before ? before : "");
		g_free(before);
		before = g_steal_pointer(&text);
		/* What is not connected would have been dropped. */
		assert_int_equal(s->n_nodes, 90);
		for (uint32_t i = 0; i < s->n_switches; i++) {
			uint32_t links = 0, sw = s->switches[i];

			/* of its ports only port 0 has a GUID */
			assert_int_equal(s->ports[s->nodes[sw].first_port + 1]
					 .guid, 0);
			for (uint32_t j = 0; j < s->n_switches; j++) {
				uint32_t n = cables_between(s, sw,
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

/* Whole cables, and none that was not there; others with another seed; of a fabric
 * that is drawn, and of one that is there. */
TEST(test_failures_take_the_share_of_switch_links)
{
	static const struct {
		unsigned per_mille;
		uint32_t left;	/* of 16 * 16 = 256 */
	} row[] = {
		{ 0, 256 }, { 1, 256 }, { 2, 255 }, { 100, 230 }, { 300, 179 },
	};
	AUTO(snapshot) *all = make("PGFT(16,16;1,16)");
	g_autofree char *before = cables_by_name(all);
	char *last[2] = { NULL };

	for (size_t i = 0; i < 5 * G_N_ELEMENTS(row); i++) {
		unsigned per_mille = row[i / 5].per_mille;
		struct generate_options o = {
			.seed = i % 5, .fail_per_mille = per_mille,
		};
		struct link_failures d = {
			.seed = i % 5, .links_per_mille = per_mille,
		};
		AUTO(snapshot) *drawn = make_with("PGFT(16,16;1,16)", o);
		AUTO(snapshot) *rest = snapshot_fail_links(all, &d);
		const struct snapshot *const both[] = { drawn, rest };

		if (!per_mille)
			assert_same_fabric(rest, all);
		for (unsigned k = 0; k < 2; k++) {
			g_autofree char *cables = cables_by_name(both[k]);
			g_auto(GStrv) lines = g_strsplit(cables, "\n", -1);
			uint32_t left = row[i / 5].left;

			/* none cut off */
			assert_int_equal(both[k]->n_nodes, 256 + 32);
			assert_int_equal(count_cables(both[k], true), left);
			assert_int_equal(count_cables(both[k], false),
					 left + 256);
			for (char **l = lines; i % 5 == 0 && *l; l++)
				assert_has(before, *l);
			if (i % 5 && left < 256)
				assert_string_not_equal(cables, last[k]);
			g_free(last[k]);
			last[k] = g_steal_pointer(&cables);
		}
	}
	g_free(last[0]);
	g_free(last[1]);
}

/* Every switch may go, but the one that the local port is on, and as many as
 * the share says. A leaf takes its hosts along. */
TEST(test_switches_go_with_their_hosts)
{
	AUTO(snapshot) *s = make("PGFT(3,6;1,4)");
	struct link_failures d = { .switches_per_mille = 200 };
	uint64_t home = snapshot_node_of(s, s->ports[s->local_port].peer)
		->info.node_guid;
	uint32_t i, n_leaves, n_gone[10] = { 0 };

	for (d.seed = 0; d.seed < 100; d.seed++) {
		AUTO(snapshot) *rest = snapshot_fail_links(s, &d);

		assert_int_equal(rest->n_switches, 8);
		assert_true(snapshot_find_node(rest, home) != SNAPSHOT_NONE);
		n_leaves = 0;
		for (i = 0; i < s->n_switches; i++) {
			const struct snapshot_node *n;

			n = &s->nodes[s->switches[i]];
			if (snapshot_find_node(rest, n->info.node_guid) ==
			    SNAPSHOT_NONE)
				n_gone[i]++;
			else
				n_leaves += g_str_has_prefix(n->desc, "S-1-");
		}
		assert_int_equal(rest->n_nodes - rest->n_switches,
				 3 * n_leaves);
	}
	for (i = 0; i < s->n_switches; i++)
		if (s->nodes[s->switches[i]].info.node_guid == home)
			assert_int_equal(n_gone[i], 0);
		else	/* 200 among nine */
			assert_true(n_gone[i] > 5 && n_gone[i] < 50);
}

/* Without a switch, that is no trouble. */
TEST(test_all_switches_leave_the_home)
{
	const struct link_failures d = { .switches_per_mille = 1000,
				  .links_per_mille = 1000 };
	AUTO(snapshot) *torus = make("torus(3,3;2)"), *pair = make("pair()");
	AUTO(snapshot) *home = snapshot_fail_links(torus, &d);
	AUTO(snapshot) *both = snapshot_fail_links(pair, &d);

	assert_int_equal(home->n_switches, 1);
	assert_int_equal(home->n_nodes, 3);
	assert_int_equal(both->n_nodes, 2);
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
