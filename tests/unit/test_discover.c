// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Discovery against the fake fabric: what is there is found, and whoever lies,
 * falls silent or is there twice costs only himself.
 */
#include <string.h>

#include "sm/sweep/discover.h"
#include "sm/sweep/light_sweep.h"
#include "tests/lib/auto.h"
#include "tests/lib/fake.h"
#include "tests/lib/unit.h"
#include "topology/snapshot.h"
#include "topology/generate.h"

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 32,
};

static void
on_done(struct snapshot *s, void *data)
{
	*(struct snapshot **)data = s;
}

static struct snapshot *
discover(struct fake *f)
{
	struct mad_client *x = mad_client_new(f->t, &wire);
	struct snapshot *found = NULL;

	discover_start(x, 0, NULL, on_done, &found);
	assert_true(scripted_run_idle(f->t, 600 * G_USEC_PER_SEC));
	assert_non_null(found);
	mad_client_free(x);
	return found;
}

static struct snapshot *
generate(const char *spec)
{
	const struct generate_options o = { .seed = 5 };
	g_autoptr(GError) error = NULL;
	struct snapshot *s = generate_fabric(spec, &o, &error);

	assert_non_null(s);
	return s;
}

static void
assert_same_fabric(const struct snapshot *a, const struct snapshot *b)
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

TEST(test_whole_fabric_is_found)
{
	static const char *const specs[] = {
		"PGFT(4,8;1,4)", "ring(6;2)", "pair()", "single(5)",
		"torus(3,3;1)", "PGFT(4,8;1,2;1,2)", "random(10,4,2)",
		"rails(4;6,2)",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		AUTO(snapshot) *s = generate(specs[i]);
		AUTO(fake) *f = fake_new(s);
		AUTO(snapshot) *found = discover(f);

		assert_int_equal(found->n_faults, 0);
		assert_same_fabric(s, found);
		assert_int_equal(f->sets, 0);
	}
}

/* Also if the switch behind it did not answer before: there is no other way. */
TEST(test_own_port_is_never_left_out)
{
	AUTO(snapshot) *s = generate("PGFT(4,8;1,4)");
	AUTO(fake) *f = fake_new(s);
	const struct snapshot_port *p = &s->ports[s->local_port];
	const struct silent_port own = {
		.node_guid = s->nodes[p->node].info.node_guid, .num = p->num,
		.state = p->info.state,
	};
	g_autoptr(GArray) silent = g_array_new(FALSE, FALSE, sizeof(own));
	const struct discover_params params = { .silent = silent };
	struct mad_client *x = mad_client_new(f->t, &wire);
	struct snapshot *found = NULL;

	g_array_append_val(silent, own);
	discover_start(x, 0, &params, on_done, &found);
	assert_true(scripted_run_idle(f->t, 600 * G_USEC_PER_SEC));
	assert_same_fabric(s, found);
	snapshot_unref(found);
	mad_client_free(x);
}

static bool
tamper_silent(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const uint32_t *who = data;
	const struct mad_header h = mad_header_of(answer);

	return node != *who || h.attr_id == MAD_ATTR_NODE_INFO;
}

TEST(test_node_that_falls_silent_is_one_fault)
{
	AUTO(snapshot) *s = generate("PGFT(4,4;1,4)");
	AUTO(fake) *f = fake_new(s);
	uint32_t own_leaf = s->ports[s->ports[s->local_port].peer].node;
	uint32_t who = own_leaf;

	/* A leaf, but not the one that everything else is behind. */
	for (uint32_t i = 0; i < s->n_ports && who == own_leaf; i++)
		if (!snapshot_is_switch(snapshot_node_of(s, i)) &&
		    s->ports[i].peer != SNAPSHOT_NONE)
			who = s->ports[s->ports[i].peer].node;
	fake_tamper(f, tamper_silent, &who);

	AUTO(snapshot) *found = discover(f);

	assert_int_equal(found->n_faults, 1);
	assert_int_equal(found->faults[0].kind, SNAPSHOT_FAULT_SILENT);
	assert_true(found->faults[0].guid == s->nodes[who].info.node_guid);
	/* All other switches and the hosts behind them are there. */
	assert_true(found->n_nodes >= s->n_nodes - 4);
}

/* A switch that is silent from its second answer on. */
struct mute {
	uint32_t node;
	unsigned asked;		/* questions other than NodeInfo */
};

static bool
tamper_count(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct mute *m = data;
	const struct mad_header h = mad_header_of(answer);

	if (node != m->node || h.attr_id == MAD_ATTR_NODE_INFO)
		return true;
	m->asked++;
	return false;
}

TEST(test_silent_node_is_asked_no_more)
{
	const struct mad_client_params narrow = {
		.timeout_ms = 10, .retries = 1, .max_wire = 2,
	};
	struct snapshot *s = generate("single(24)"), *found = NULL;
	AUTO(fake) *f = fake_new(s);
	struct mad_client *x = mad_client_new(f->t, &narrow);
	struct mute m = { .node = s->switches[0] };

	fake_tamper(f, tamper_count, &m);
	discover_start(x, 0, NULL, on_done, &found);
	assert_true(scripted_run_idle(f->t, 600 * G_USEC_PER_SEC));
	assert_non_null(found);
	/* two at once, each sent twice, one twice again; it has 26 to be asked */
	assert_in_range(m.asked, 2, 8);
	snapshot_unref(found);
	mad_client_free(x);
	snapshot_unref(s);
}

/* One end of a cable says that it is down, and it was found through it. */
static bool
tamper_half(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const struct snapshot_port *end = &f->s->ports[*(uint32_t *)data];
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);

	if (h.attr_id != MAD_ATTR_PORT_INFO || node != end->node ||
	    h.attr_mod != end->num)
		return true;
	port_info_decode(smp_data(answer), &info);
	info.state = PORT_STATE_DOWN;
	port_info_encode(smp_data(answer), &info);
	return true;
}

TEST(test_cable_with_one_end_down_is_none)
{
	struct snapshot *s = generate("ring(4;1)"), *found;
	AUTO(fake) *f = fake_new(s);
	uint32_t end = SNAPSHOT_NONE, peer;
	g_autofree char *place = NULL;

	/* a cable between switches, neither of them the SM's */
	for (uint32_t i = 0; i < s->n_ports; i++) {
		uint32_t own = s->ports[s->ports[s->local_port].peer].node;

		peer = s->ports[i].peer;
		if (peer != SNAPSHOT_NONE && s->ports[i].node != own &&
		    s->ports[peer].node != own &&
		    snapshot_is_switch(snapshot_node_of(s, i)) &&
		    snapshot_is_switch(snapshot_node_of(s, peer)))
			end = i;
	}
	assert_int_not_equal(end, SNAPSHOT_NONE);
	peer = s->ports[end].peer;
	fake_tamper(f, tamper_half, &end);
	found = discover(f);
	assert_int_equal(found->n_nodes, s->n_nodes);
	assert_int_equal(found->ports[end].peer, SNAPSHOT_NONE);
	assert_int_equal(found->ports[peer].peer, SNAPSHOT_NONE);
	assert_int_equal(found->n_faults, 1);
	assert_int_equal(found->faults[0].kind, SNAPSHOT_FAULT_LIAR);
	place = g_strdup_printf("%s (0x", snapshot_node_of(s, peer)->desc);
	assert_has(found->faults[0].text, place);
	snapshot_unref(found);
	snapshot_unref(s);
}

struct lie {
	uint32_t node;
	uint8_t type, local_port;
	uint64_t guid;
};

static bool
tamper_node_info(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const struct lie *lie = data;
	struct node_info i;
	const struct mad_header h = mad_header_of(answer);

	if (node == lie->node && h.attr_id == MAD_ATTR_NODE_INFO) {
		node_info_decode(smp_data(answer), &i);
		i.node_type = lie->type;
		i.local_port = lie->local_port;
		i.node_guid = lie->guid;
		node_info_encode(smp_data(answer), &i);
	}
	return true;
}

TEST(test_liar_is_left_out_and_named)
{
	struct lie lies[] = {
		{ 0, NODE_CA, 255, 0x777 }, { 0, 9, 1, 0x777 },
		{ 0, NODE_CA, 1, 0 }, { 0, NODE_CA, 0, 0x777 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lies); i++) {
		struct snapshot *s = generate("single(6)"), *found;
		AUTO(fake) *f = fake_new(s);
		uint32_t last = s->n_nodes - 1;

		/* Not the SM's own node, not the switch. */
		while (snapshot_is_switch(&s->nodes[last]) ||
		       last == s->ports[s->local_port].node)
			last--;
		lies[i].node = last;
		fake_tamper(f, tamper_node_info, &lies[i]);
		found = discover(f);
		assert_int_equal(found->n_faults, 1);
		assert_int_equal(found->faults[0].kind, SNAPSHOT_FAULT_LIAR);
		assert_int_equal(found->n_nodes, s->n_nodes - 1);
		snapshot_unref(found);
		snapshot_unref(s);
	}
}

static bool
tamper_same_guid(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const uint32_t *pair = data;
	struct node_info i;
	const struct mad_header h = mad_header_of(answer);

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

TEST(test_duplicate_guid_names_both_places)
{
	AUTO(snapshot) *s = generate("PGFT(4,4;1,4)");
	AUTO(fake) *f = fake_new(s);
	uint32_t pair[2], n = 0;

	for (uint32_t i = s->n_nodes; i-- > 0 && n < 2;)
		if (!snapshot_is_switch(&s->nodes[i]) &&
		    i != s->ports[s->local_port].node)
			pair[n++] = i;
	fake_tamper(f, tamper_same_guid, pair);

	AUTO(snapshot) *found = discover(f);
	const char *text;

	assert_int_equal(found->n_faults, 1);
	assert_int_equal(found->faults[0].kind, SNAPSHOT_FAULT_DUPLICATE_GUID);
	assert_int_equal(found->n_nodes, s->n_nodes - 1);
	text = found->faults[0].text;
	for (n = 0; n < 2; n++) {
		uint32_t port = s->nodes[pair[n]].first_port + 1;
		uint32_t at = s->ports[port].peer;
		g_autofree char *place = g_strdup_printf(" port %u",
			s->ports[at].num);

		assert_has(text, snapshot_node_of(s, at)->desc);
		assert_has(text, place);
	}
}

TEST(test_dead_own_port_ends_with_an_empty_snapshot)
{
	AUTO(snapshot) *s = generate("pair()");
	AUTO(fake) *f = fake_new(s);
	AUTO(snapshot) *found;

	scripted_set_peer(f->t, NULL, NULL);
	found = discover(f);
	assert_int_equal(found->n_nodes, 0);
	assert_int_equal(found->n_faults, 1);
}

TEST(test_cancel_leaves_nothing_behind)
{
	AUTO(snapshot) *s = generate("PGFT(4,8;1,4)");

	for (unsigned steps = 0; steps < 200; steps += 7) {
		AUTO(fake) *f = fake_new(s);
		struct mad_client *x = mad_client_new(f->t, &wire);
		struct snapshot *found = NULL;
		struct discover *d = discover_start(x, 0, NULL, on_done, &found);

		for (unsigned i = 0; i < steps; i++)
			scripted_step(f->t);
		assert_null(found);
		discover_cancel(d);
		assert_int_equal(x->pending, 0);
		assert_true(scripted_run_idle(f->t, G_USEC_PER_SEC));
		assert_null(found);
		mad_client_free(x);
	}
}
