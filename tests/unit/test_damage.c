// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is left when cables and switches fail.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "topology/damage.h"
#include "topology/generate.h"
#include "topology/netfile.h"

static struct subnet *
fabric(const char *spec)
{
	struct subnet *s = generate_fabric(spec, NULL, NULL);

	assert_non_null(s);
	return s;
}

/* Cables between switches. */
static uint32_t
count_cables(const struct subnet *s)
{
	uint32_t port, n = 0;

	for (port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;

		if (peer == SUBNET_NONE || peer < port)
			continue;
		assert_int_equal(s->ports[peer].peer, port);
		n += subnet_is_switch(subnet_node_of(s, port)) &&
			subnet_is_switch(subnet_node_of(s, peer));
	}
	return n;
}

static char *
text_of(const struct subnet *s)
{
	GString *text = g_string_new(NULL);

	netfile_write(s, text);
	return g_string_free(text, FALSE);
}

static void
test_no_damage_changes_nothing(void **state)
{
	const struct damage none = { .seed = 3 };
	struct subnet *s = fabric("PGFT(3,4,2;1,2,2)");
	struct subnet *rest = damage_subnet(s, &none);
	g_autofree char *before = text_of(s), *after = text_of(rest);

	assert_string_equal(before, after);
	assert_int_equal(rest->local_port, s->local_port);
	subnet_unref(rest);
	subnet_unref(s);
}

static void
test_shares_are_whole_cables(void **state)
{
	static const struct {
		unsigned per_mille;
		uint32_t left;
	} row[] = { { 0, 144 }, { 3, 144 }, { 4, 143 }, { 100, 130 },
		    { 250, 108 } };
	struct subnet *s = fabric("PGFT(12,12;1,12)"), *rest;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(row); i++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			struct damage d = {
				.seed = seed,
				.links_per_mille = row[i].per_mille,
			};

			rest = damage_subnet(s, &d);
			assert_int_equal(count_cables(rest), row[i].left);
			assert_int_equal(rest->n_nodes, s->n_nodes);
			subnet_unref(rest);
		}
	subnet_unref(s);
}

/* Every switch may go, but the one that the local port is on, and as many as
 * the share says. A leaf takes its hosts along. */
static void
test_switches_go_with_their_hosts(void **state)
{
	struct subnet *s = fabric("PGFT(3,6;1,4)"), *rest;
	struct damage d = { .switches_per_mille = 200 };
	uint64_t home = subnet_node_of(s, s->ports[s->local_port].peer)
		->info.node_guid;
	uint32_t i, n_leaves, n_gone[10] = { 0 };

	for (d.seed = 0; d.seed < 100; d.seed++) {
		rest = damage_subnet(s, &d);
		assert_int_equal(rest->n_switches, 8);
		assert_true(subnet_find_node(rest, home) != SUBNET_NONE);
		n_leaves = 0;
		for (i = 0; i < s->n_switches; i++) {
			const struct subnet_node *n;

			n = &s->nodes[s->switches[i]];
			if (subnet_find_node(rest, n->info.node_guid) ==
			    SUBNET_NONE)
				n_gone[i]++;
			else
				n_leaves += g_str_has_prefix(n->desc, "S-1-");
		}
		assert_int_equal(rest->n_nodes - rest->n_switches,
				 3 * n_leaves);
		subnet_unref(rest);
	}
	for (i = 0; i < s->n_switches; i++)
		if (s->nodes[s->switches[i]].info.node_guid == home)
			assert_int_equal(n_gone[i], 0);
		else	/* 200 among nine */
			assert_true(n_gone[i] > 5 && n_gone[i] < 50);
	subnet_unref(s);
}

static void
test_all_switches_leave_the_home(void **state)
{
	const struct damage d = { .switches_per_mille = 1000 };
	struct subnet *s = fabric("torus(3,3;2)");
	struct subnet *rest = damage_subnet(s, &d);

	assert_int_equal(rest->n_switches, 1);
	assert_int_equal(rest->n_nodes, 3);
	subnet_unref(rest);
	subnet_unref(s);
}

static void
test_no_switch_is_no_trouble(void **state)
{
	const struct damage d = { .switches_per_mille = 1000,
				  .links_per_mille = 1000 };
	struct subnet *s = fabric("pair()");
	struct subnet *rest = damage_subnet(s, &d);

	assert_int_equal(rest->n_nodes, 2);
	subnet_unref(rest);
	subnet_unref(s);
}

/* The seed decides, and what is taken of one kind is the same whatever is
 * taken of the other. LIDs and the rest of PortInfo stay. */
static void
test_seed_decides(void **state)
{
	const struct damage links = { .seed = 4, .links_per_mille = 200 };
	const struct damage other = { .seed = 5, .links_per_mille = 200 };
	const struct damage switches = { .seed = 4,
					 .switches_per_mille = 200 };
	const struct damage both = { .seed = 4, .links_per_mille = 200,
				     .switches_per_mille = 200 };
	struct subnet *s = fabric("PGFT(6,6;1,6)"), *copy = subnet_copy(s);
	struct subnet *a, *b, *c, *w, *ab;
	uint32_t i, port;

	for (i = 0; i < copy->n_ports; i++)
		if (subnet_is_end_port(copy, i))
			copy->ports[i].info.lid = (uint16_t)(i + 7);
	a = damage_subnet(copy, &links);
	b = damage_subnet(copy, &links);
	c = damage_subnet(copy, &other);
	w = damage_subnet(copy, &switches);
	ab = damage_subnet(copy, &both);

	g_autofree char *ta = text_of(a), *tb = text_of(b), *tc = text_of(c);

	assert_string_equal(ta, tb);
	assert_string_not_equal(ta, tc);
	assert_int_equal(ab->n_switches, w->n_switches);
	for (i = 0; i < w->n_switches; i++)
		assert_int_equal(ab->nodes[ab->switches[i]].info.node_guid,
				 w->nodes[w->switches[i]].info.node_guid);
	for (i = 0; i < a->n_ports; i++) {
		if (!subnet_is_end_port(a, i) || a->ports[i].guid == 0)
			continue;
		port = subnet_find_port(copy, a->ports[i].guid);
		assert_int_equal(a->ports[i].info.lid, port + 7);
	}
	subnet_unref(a);
	subnet_unref(b);
	subnet_unref(c);
	subnet_unref(w);
	subnet_unref(ab);
	subnet_unref(copy);
	subnet_unref(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_damage_changes_nothing),
		cmocka_unit_test(test_shares_are_whole_cables),
		cmocka_unit_test(test_switches_go_with_their_hosts),
		cmocka_unit_test(test_all_switches_leave_the_home),
		cmocka_unit_test(test_no_switch_is_no_trouble),
		cmocka_unit_test(test_seed_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
