// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Discovery against the fake fabric: what is there is found, and whoever lies,
 * falls silent or is there twice costs only himself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "sm/discover.h"
#include "tests/lib/fake.h"
#include "topology/builder.h"
#include "topology/generate.h"

static const struct xact_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 32,
};

static void
on_done(struct subnet *s, void *data)
{
	*(struct subnet **)data = s;
}

static struct subnet *
discover(struct fake *f)
{
	struct xact *x = xact_new(f->t, &wire);
	struct subnet *found = NULL;

	discover_start(x, 0, on_done, &found);
	assert_true(scripted_run_idle(f->t, 600 * G_USEC_PER_SEC));
	assert_non_null(found);
	xact_free(x);
	return found;
}

static struct subnet *
generate(const char *spec)
{
	const struct generate_options o = { .seed = 5 };
	g_autoptr(GError) error = NULL;
	struct subnet *s = generate_fabric(spec, &o, &error);

	assert_non_null(s);
	return s;
}

static void
assert_same_fabric(const struct subnet *a, const struct subnet *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	assert_int_equal(a->n_ports, b->n_ports);
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		assert_true(a->nodes[i].info.node_guid ==
			    b->nodes[i].info.node_guid);
		assert_string_equal(a->nodes[i].desc, b->nodes[i].desc);
	}
	for (uint32_t i = 0; i < a->n_ports; i++)
		assert_int_equal(a->ports[i].peer, b->ports[i].peer);
}

static void
test_whole_fabric_is_found(void **state)
{
	static const char *const specs[] = {
		"PGFT(4,8;1,4)", "ring(6;2)", "pair()", "single(5)",
		"torus(3,3;1)", "PGFT(4,8;1,2;1,2)", "random(10,4,2)",
		"rails(4;6,2)",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct subnet *s = generate(specs[i]);
		struct fake *f = fake_new(s);
		struct subnet *found = discover(f);

		assert_int_equal(found->n_faults, 0);
		assert_same_fabric(s, found);
		assert_int_equal(f->sets, 0);
		subnet_unref(found);
		fake_free(f);
		subnet_unref(s);
	}
}

static bool
tamper_silent(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const uint32_t *who = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	return node != *who || h.attr_id == MAD_ATTR_NODE_INFO;
}

static void
test_node_that_falls_silent_is_one_fault(void **state)
{
	struct subnet *s = generate("PGFT(4,4;1,4)");
	struct fake *f = fake_new(s);
	uint32_t own_leaf = s->ports[s->ports[s->local_port].peer].node;
	uint32_t who = own_leaf;

	/* A leaf, but not the one that everything else is behind. */
	for (uint32_t i = 0; i < s->n_ports && who == own_leaf; i++)
		if (!subnet_is_switch(subnet_node_of(s, i)) &&
		    s->ports[i].peer != SUBNET_NONE)
			who = s->ports[s->ports[i].peer].node;
	f->tamper = tamper_silent;
	f->data = &who;

	struct subnet *found = discover(f);

	assert_int_equal(found->n_faults, 1);
	assert_int_equal(found->faults[0].kind, SUBNET_FAULT_SILENT);
	assert_true(found->faults[0].guid == s->nodes[who].info.node_guid);
	/* All other switches and the hosts behind them are there. */
	assert_true(found->n_nodes >= s->n_nodes - 4);
	subnet_unref(found);
	fake_free(f);
	subnet_unref(s);
}

struct lie {
	uint32_t node;
	void (*change)(struct node_info *i);
};

static bool
tamper_node_info(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const struct lie *lie = data;
	struct node_info i;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (node == lie->node && h.attr_id == MAD_ATTR_NODE_INFO) {
		node_info_decode(smp_data(answer), &i);
		lie->change(&i);
		node_info_encode(smp_data(answer), &i);
	}
	return true;
}

static void
lie_port_255(struct node_info *i)
{
	i->local_port = 255;
}

static void
lie_type_9(struct node_info *i)
{
	i->node_type = 9;
}

static void
lie_guid_0(struct node_info *i)
{
	i->node_guid = 0;
}

static void
lie_port_0(struct node_info *i)
{
	i->local_port = 0;
}

static void
test_liar_is_left_out_and_named(void **state)
{
	static void (*const lies[])(struct node_info *) = {
		lie_port_255, lie_type_9, lie_guid_0, lie_port_0,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lies); i++) {
		struct subnet *s = generate("single(6)");
		struct fake *f = fake_new(s);
		uint32_t last = s->n_nodes - 1;

		/* Not the SM's own node, not the switch. */
		while (subnet_is_switch(&s->nodes[last]) ||
		       last == s->ports[s->local_port].node)
			last--;

		struct lie lie = { last, lies[i] };

		f->tamper = tamper_node_info;
		f->data = &lie;

		struct subnet *found = discover(f);

		assert_int_equal(found->n_faults, 1);
		assert_int_equal(found->faults[0].kind, SUBNET_FAULT_LIAR);
		assert_int_equal(found->n_nodes, s->n_nodes - 1);
		subnet_unref(found);
		fake_free(f);
		subnet_unref(s);
	}
}

static bool
tamper_same_guid(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const uint32_t *pair = data;
	struct node_info i;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (node == pair[1] && h.attr_id == MAD_ATTR_NODE_INFO) {
		node_info_decode(smp_data(answer), &i);
		i.node_guid = f->s->nodes[pair[0]].info.node_guid;
		i.system_guid = f->s->nodes[pair[0]].info.system_guid;
		i.port_guid = f->s->ports[f->s->nodes[pair[0]].first_port +
					  1].guid;
		node_info_encode(smp_data(answer), &i);
	}
	return true;
}

static void
test_duplicate_guid_names_both_places(void **state)
{
	struct subnet *s = generate("PGFT(4,4;1,4)");
	struct fake *f = fake_new(s);
	uint32_t pair[2], n = 0;

	for (uint32_t i = s->n_nodes; i-- > 0 && n < 2;)
		if (!subnet_is_switch(&s->nodes[i]) &&
		    i != s->ports[s->local_port].node)
			pair[n++] = i;
	f->tamper = tamper_same_guid;
	f->data = pair;

	struct subnet *found = discover(f);
	const char *text;

	assert_int_equal(found->n_faults, 1);
	assert_int_equal(found->faults[0].kind, SUBNET_FAULT_DUPLICATE_GUID);
	assert_int_equal(found->n_nodes, s->n_nodes - 1);
	text = found->faults[0].text;
	for (n = 0; n < 2; n++) {
		uint32_t port = s->nodes[pair[n]].first_port + 1;
		uint32_t at = s->ports[port].peer;
		g_autofree char *place = g_strdup_printf(" port %u",
			s->ports[at].num);

		assert_non_null(strstr(text, subnet_node_of(s, at)->desc));
		assert_non_null(strstr(text, place));
	}
	subnet_unref(found);
	fake_free(f);
	subnet_unref(s);
}

static void
test_dead_own_port_ends_with_an_empty_snapshot(void **state)
{
	struct subnet *s = generate("pair()");
	struct fake *f = fake_new(s);
	struct subnet *found;

	scripted_set_peer(f->t, NULL, NULL);
	found = discover(f);
	assert_int_equal(found->n_nodes, 0);
	assert_int_equal(found->n_faults, 1);
	subnet_unref(found);
	fake_free(f);
	subnet_unref(s);
}

static void
test_cancel_leaves_nothing_behind(void **state)
{
	struct subnet *s = generate("PGFT(4,8;1,4)");

	for (unsigned steps = 0; steps < 200; steps += 7) {
		struct fake *f = fake_new(s);
		struct xact *x = xact_new(f->t, &wire);
		struct subnet *found = NULL;
		struct discover *d = discover_start(x, 0, on_done, &found);

		for (unsigned i = 0; i < steps; i++)
			scripted_step(f->t);
		assert_null(found);
		discover_cancel(d);
		assert_int_equal(xact_pending(x), 0);
		assert_true(scripted_run_idle(f->t, G_USEC_PER_SEC));
		assert_null(found);
		xact_free(x);
		fake_free(f);
	}
	subnet_unref(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_fabric_is_found),
		cmocka_unit_test(test_node_that_falls_silent_is_one_fault),
		cmocka_unit_test(test_liar_is_left_out_and_named),
		cmocka_unit_test(test_duplicate_guid_names_both_places),
		cmocka_unit_test(
			test_dead_own_port_ends_with_an_empty_snapshot),
		cmocka_unit_test(test_cancel_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
