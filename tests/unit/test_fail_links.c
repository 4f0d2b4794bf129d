// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is left when cables and switches fail.
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"
#include "topology/net_file.h"

static struct snapshot *
fabric(const char *spec)
{
	struct snapshot *s = generate_fabric(spec, NULL, NULL);

	assert_non_null(s);
	return s;
}

/* Cables between switches. */
static uint32_t
count_cables(const struct snapshot *s)
{
	uint32_t port, n = 0;

	for (port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;

		if (peer == SNAPSHOT_NONE || peer < port)
			continue;
		assert_int_equal(s->ports[peer].peer, port);
		n += snapshot_is_switch(snapshot_node_of(s, port)) &&
			snapshot_is_switch(snapshot_node_of(s, peer));
	}
	return n;
}

static char *
text_of(const struct snapshot *s)
{
	GString *text = g_string_new(NULL);

	net_file_write(s, text);
	return g_string_free(text, FALSE);
}

TEST(test_no_damage_changes_nothing)
{
	const struct link_failures none = { .seed = 3 };
	AUTO(snapshot) *s = fabric("PGFT(3,4,2;1,2,2)");
	AUTO(snapshot) *rest = snapshot_fail_links(s, &none);
	g_autofree char *before = text_of(s), *after = text_of(rest);

	assert_string_equal(before, after);
	assert_int_equal(rest->local_port, s->local_port);
}

TEST(test_shares_are_whole_cables)
{
	static const struct {
		unsigned per_mille;
		uint32_t left;
	} row[] = { { 0, 144 }, { 3, 144 }, { 4, 143 }, { 100, 130 },
		    { 250, 108 } };
	struct snapshot *s = fabric("PGFT(12,12;1,12)"), *rest;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(row); i++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			struct link_failures d = {
				.seed = seed,
				.links_per_mille = row[i].per_mille,
			};

			rest = snapshot_fail_links(s, &d);
			assert_int_equal(count_cables(rest), row[i].left);
			assert_int_equal(rest->n_nodes, s->n_nodes);
			snapshot_unref(rest);
		}
	snapshot_unref(s);
}

/* Every switch may go, but the one that the local port is on, and as many as
 * the share says. A leaf takes its hosts along. */
TEST(test_switches_go_with_their_hosts)
{
	struct snapshot *s = fabric("PGFT(3,6;1,4)"), *rest;
	struct link_failures d = { .switches_per_mille = 200 };
	uint64_t home = snapshot_node_of(s, s->ports[s->local_port].peer)
		->info.node_guid;
	uint32_t i, n_leaves, n_gone[10] = { 0 };

	for (d.seed = 0; d.seed < 100; d.seed++) {
		rest = snapshot_fail_links(s, &d);
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
		snapshot_unref(rest);
	}
	for (i = 0; i < s->n_switches; i++)
		if (s->nodes[s->switches[i]].info.node_guid == home)
			assert_int_equal(n_gone[i], 0);
		else	/* 200 among nine */
			assert_true(n_gone[i] > 5 && n_gone[i] < 50);
	snapshot_unref(s);
}

TEST(test_all_switches_leave_the_home)
{
	const struct link_failures d = { .switches_per_mille = 1000 };
	AUTO(snapshot) *s = fabric("torus(3,3;2)");
	AUTO(snapshot) *rest = snapshot_fail_links(s, &d);

	assert_int_equal(rest->n_switches, 1);
	assert_int_equal(rest->n_nodes, 3);
}

TEST(test_no_switch_is_no_trouble)
{
	const struct link_failures d = { .switches_per_mille = 1000,
				  .links_per_mille = 1000 };
	AUTO(snapshot) *s = fabric("pair()");
	AUTO(snapshot) *rest = snapshot_fail_links(s, &d);

	assert_int_equal(rest->n_nodes, 2);
}

/* The seed decides, and what is taken of one kind is the same whatever is
 * taken of the other. LIDs and the rest of PortInfo stay. */
TEST(test_seed_decides)
{
	const struct link_failures links = { .seed = 4,
					     .links_per_mille = 200 };
	const struct link_failures other = { .seed = 5,
					     .links_per_mille = 200 };
	const struct link_failures switches = { .seed = 4,
					 .switches_per_mille = 200 };
	const struct link_failures both = { .seed = 4, .links_per_mille = 200,
				     .switches_per_mille = 200 };
	struct snapshot *s = fabric("PGFT(6,6;1,6)"), *copy = snapshot_copy(s);
	AUTO(snapshot) *a, *b, *c, *w, *ab;
	uint32_t i, port;

	for (i = 0; i < copy->n_ports; i++)
		if (snapshot_is_end_port(copy, i))
			copy->ports[i].info.lid = (uint16_t)(i + 7);
	a = snapshot_fail_links(copy, &links);
	b = snapshot_fail_links(copy, &links);
	c = snapshot_fail_links(copy, &other);
	w = snapshot_fail_links(copy, &switches);
	ab = snapshot_fail_links(copy, &both);

	g_autofree char *ta = text_of(a), *tb = text_of(b), *tc = text_of(c);

	assert_string_equal(ta, tb);
	assert_string_not_equal(ta, tc);
	assert_int_equal(ab->n_switches, w->n_switches);
	for (i = 0; i < w->n_switches; i++)
		assert_int_equal(ab->nodes[ab->switches[i]].info.node_guid,
				 w->nodes[w->switches[i]].info.node_guid);
	for (i = 0; i < a->n_ports; i++) {
		if (!snapshot_is_end_port(a, i) || a->ports[i].guid == 0)
			continue;
		port = snapshot_find_port(copy, a->ports[i].guid);
		assert_int_equal(a->ports[i].info.lid, port + 7);
	}
	snapshot_unref(copy);
	snapshot_unref(s);
}
