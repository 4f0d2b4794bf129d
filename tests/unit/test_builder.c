// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The builder and the snapshot it makes: one order whatever the order of the
 * facts, shortest ways with their tie-breaks, and what cannot be reached.
 *
 * Fabrics are words, which are taken in their order: "S50:4" is a switch of
 * GUID 0x50 with 4 ports, "C10:1" a CA, "10.1-50.1" a cable between two ports,
 * "@10.1" the local port.
 */
#include <inttypes.h>

#include "tests/lib/fabric_text.h"
#include "tests/lib/seed.h"

static uint32_t
add_node(struct builder *b, enum node_type type, uint64_t guid, unsigned ports)
{
	struct node_info info = {
		.node_type = (uint8_t)type,
		.node_guid = guid,
		.port_guid = type == NODE_SWITCH ? guid : guid + 1,
		.num_ports = (uint8_t)ports,
		.local_port = 1,
	};

	return builder_add(b, &info);
}

static uint32_t
port_by_guid(struct builder *b, uint64_t guid, unsigned num)
{
	uint32_t port = snapshot_port_of(b->s, builder_find(b, guid), num);

	assert_int_not_equal(port, SNAPSHOT_NONE);
	return port;
}

static struct builder *
lay(const char *text)
{
	struct builder *b = builder_new();
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **w = words; *w; w++) {
		uint64_t guid, far;
		unsigned n, m;

		if (sscanf(*w, "S%" SCNx64 ":%u", &guid, &n) == 2)
			add_node(b, NODE_SWITCH, guid, n);
		else if (sscanf(*w, "C%" SCNx64 ":%u", &guid, &n) == 2)
			add_node(b, NODE_CA, guid, n);
		else if (sscanf(*w, "@%" SCNx64 ".%u", &guid, &n) == 2)
			b->s->local_port = port_by_guid(b, guid, n);
		else if (sscanf(*w, "%" SCNx64 ".%u-%" SCNx64 ".%u", &guid, &n,
				&far, &m) == 4)
			builder_link(b, port_by_guid(b, guid, n),
				     port_by_guid(b, far, m));
		else
			fail_msg("what is %s?", *w);
	}
	return b;
}

/* "50.0=0,1,7": to that port as the diagnostics write it (-D), where the
 * leading 0 is reserved; or =none. */
static void
assert_paths(const struct snapshot *s, const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **w = words; *w; w++) {
		g_autoptr(GString) way = g_string_new(NULL);
		struct dr_path path;
		uint64_t guid;
		unsigned num;
		uint32_t node;

		assert_int_equal(sscanf(*w, "%" SCNx64 ".%u=", &guid, &num), 2);
		node = snapshot_find_node(s, guid);
		assert_int_not_equal(node, SNAPSHOT_NONE);
		if (snapshot_path(s, snapshot_port_of(s, node, num), &path))
			for (unsigned i = 0; i <= path.hops; i++)
				g_string_append_printf(way, i ? ",%u" : "0",
						       path.port[i]);
		assert_string_equal(way->len ? way->str : "none",
				    strchr(*w, '=') + 1);
	}
}

/*
 *	SM ca 0x10 -1-- 1 sw 0x50		the SM meets 0x40 first, by
 *	                2 /     \ 3		port 2 of the root; 0x30 is
 *	               1 /       \ 1		the lower GUID
 *	           sw 0x40      sw 0x30
 *	            2|3|          2|3|		two cables each
 *	             1 2           4 3
 *	                 sw 0x20 --5--- 1 ca 0x60
 */
static struct builder *
make_diamond(void)
{
	return lay("S50:4 C60:1 C10:1 S40:3 S20:5 S30:3 10.1-50.1 50.2-40.1 "
		   "50.3-30.1 40.2-20.1 40.3-20.2 30.2-20.4 30.3-20.3 20.5-60.1 "
		   "@10.1");
}

TEST(test_path_ties_go_to_lower_guid_and_port)
{
	AUTO(snapshot) *s = builder_finish(make_diamond());

	/* to 0x20 by 0x30, its port 2; a CA has no port 0 */
	assert_paths(s, "10.1=0 50.0=0,1 40.0=0,1,2 20.0=0,1,3,2 20.3=0,1,3,2 "
		     "60.1=0,1,3,2,5 60.0=none");
	assert_int_equal(s->nodes[0].entry, SNAPSHOT_NONE);
}

/* ca 0x10 -- sw 0x20 -- ca 0x30 -- sw 0x40: the last is out of reach, but not
 * the second port of 0x30 that is on 0x20 as well; the SM's other port leads
 * nowhere. */
TEST(test_ca_does_not_forward)
{
	struct builder *b = lay("C10:2 S20:4 C30:3 S40:2 S05:1 10.1-20.1 "
				"30.1-20.2 30.2-20.3 30.3-40.1 10.2-05.1 @10.1");
	AUTO(snapshot) *s;

	for (unsigned num = 1; num <= 3; num++)
		b->s->ports[port_by_guid(b, 0x30, num)].known = true;
	b->s->ports[port_by_guid(b, 0x30, 3)].guid = 0x33;
	s = builder_finish(b);

	assert_int_equal(s->n_nodes, 3);
	assert_int_equal(snapshot_find_node(s, 0x40), SNAPSHOT_NONE);
	assert_int_equal(snapshot_find_node(s, 0x05), SNAPSHOT_NONE);
	assert_paths(s, "30.1=0,1,2 30.2=0,1,3 30.3=none 10.2=none");
	/* The cables to what was dropped are gone. */
	assert_int_equal(s->ports[snapshot_port_of(s, 2, 3)].peer,
			 SNAPSHOT_NONE);
	assert_int_equal(s->ports[snapshot_port_of(s, 0, 2)].peer,
			 SNAPSHOT_NONE);
	/* The port at this end of one cannot have been asked. */
	assert_true(s->ports[snapshot_port_of(s, 2, 2)].known);
	assert_false(s->ports[snapshot_port_of(s, 2, 3)].known);
	assert_int_equal(snapshot_find_port(s, 0x33), SNAPSHOT_NONE);
}

TEST(test_sm_on_switch_leaves_by_any_port)
{
	AUTO(snapshot) *s = builder_finish(lay("C10:1 S20:2 S30:2 20.1-10.1 "
					       "20.2-30.2 @20.0"));

	assert_int_equal(s->n_nodes, 3);
	assert_paths(s, "20.0=0 20.2=0 10.1=0,1 30.0=0,2");
	assert_int_equal(s->nodes[1].entry, SNAPSHOT_NONE);
}

/* A builder that begins with a snapshot has its faults, and grows; faults are
 * sorted by GUID and kind. */
TEST(test_a_snapshot_is_added_to)
{
	struct builder *b = make_diamond();
	AUTO(snapshot) *s = NULL, *more = NULL;
	uint32_t last;

	builder_fault(b, SNAPSHOT_FAULT_SILENT, 5, "first");
	s = builder_finish(b);
	b = builder_new_from(s);
	last = s->nodes[s->n_nodes - 1].first_port;
	add_node(b, NODE_CA, 0x999, 1);
	assert_int_equal(b->s->n_nodes, s->n_nodes + 1);
	assert_int_equal(b->s->nodes[s->n_nodes - 1].first_port, last);
	builder_fault(b, SNAPSHOT_FAULT_LIAR, 4, "second");
	builder_fault(b, SNAPSHOT_FAULT_SILENT, 4, "third");
	more = builder_finish(b);
	assert_int_equal(more->n_nodes, s->n_nodes);	/* it has no cable */
	assert_int_equal(more->n_faults, 3);
	assert_string_equal(more->faults[0].text, "third");
	assert_string_equal(more->faults[1].text, "second");
	assert_string_equal(more->faults[2].text, "first");
	assert_int_equal(s->n_faults, 1);
}

/* A chain; switch 0x100 + i is i hops away, its host i + 1. */
TEST(test_path_beyond_63_hops_is_none)
{
	g_autoptr(GString) chain = g_string_new("C1000:1");
	struct dr_path path;
	AUTO(snapshot) *s;

	for (unsigned i = 1; i <= 65; i++)
		g_string_append_printf(chain, i > 1 ? " S%x:3 %x.2-%x.1" :
				       " S%x:3", 0x100 + i, 0x100 + i - 1,
				       0x100 + i);
	g_string_append(chain, " C2000:1 C3000:1 1000.1-101.1 13e.3-2000.1 "
			"13f.3-3000.1 @1000.1");
	s = builder_finish(lay(chain->str));

	assert_int_equal(s->n_nodes, 68);	/* there, but too far */
	assert_true(snapshot_path(s, snapshot_port_of(s, 62, 0), &path));
	assert_int_equal(s->nodes[62].info.node_guid, 0x100 + 63);
	assert_int_equal(path.hops, 63);
	assert_paths(s, "140.0=none 3000.1=none");
	assert_true(snapshot_path(s, snapshot_port_of(s, 66, 1), &path));
	assert_int_equal(path.hops, 63);
	assert_int_equal(path.port[63], 3);
}

TEST(test_guid_of_a_missing_port_is_left_out)
{
	AUTO(builder) *b = builder_new();
	struct node_info info = {
		.node_type = NODE_CA, .node_guid = 0x10, .port_guid = 0x77,
		.num_ports = 1, .local_port = 2,
	};

	builder_add(b, &info);
	info.node_guid = 0x20;
	info.local_port = 0;
	builder_add(b, &info);
	for (uint32_t p = 0; p < 4; p++)
		assert_int_equal(b->s->ports[p].guid, 0);
}

TEST(test_loopback_plug_survives_finish)
{
	AUTO(snapshot) *s = builder_finish(lay("C10:1 S20:2 10.1-20.1 20.2-20.2 "
					       "@10.1"));
	uint32_t p = snapshot_port_of(s, 1, 2);

	assert_int_equal(s->ports[p].peer, p);
	assert_paths(s, "20.2=0,1");
}

TEST(test_description_is_cut_and_cleaned)
{
	AUTO(builder) *b = builder_new();
	uint32_t n = add_node(b, NODE_SWITCH, 1, 1);
	uint8_t raw[80];

	builder_describe(b, n, (const uint8_t *)"a\nb\xff" "c\0d", 7);
	assert_string_equal(b->s->nodes[n].desc, "a?b?c");
	builder_describe(b, n, (const uint8_t *)"K\u00f6ln \u4e2d\u200e\xc3", 14);
	assert_string_equal(b->s->nodes[n].desc, "K\u00f6ln \u4e2d??");
	/* 64 bytes without a terminator, and more than there is room for */
	memset(raw, 'x', sizeof(raw));
	builder_describe(b, n, raw, sizeof(raw));
	assert_int_equal(strlen(b->s->nodes[n].desc), NODE_DESC_LEN);
	memcpy(raw + NODE_DESC_LEN - 1, "\u00f6", 2);	/* cut within */
	builder_describe(b, n, raw, sizeof(raw));
	assert_string_equal(b->s->nodes[n].desc + NODE_DESC_LEN - 2, "x?");
	builder_describe(b, n, raw, 0);
	assert_string_equal(b->s->nodes[n].desc, "");
}

TEST(test_copy_outlives_the_original)
{
	struct builder *b = make_diamond();
	g_autofree char *before = NULL, *after = NULL;
	AUTO(snapshot) *copy = NULL;
	struct snapshot *s;

	builder_fault(b, SNAPSHOT_FAULT_SILENT, 5, "text");
	s = builder_finish(b);
	before = fabric_text(s);
	copy = snapshot_copy(snapshot_ref(s));
	snapshot_unref(s);
	s->ports[1].info.lid = 42;	/* still ours, and not the copy's */
	s->faults[0].text[0] = 'T';
	snapshot_unref(s);
	after = fabric_text(copy);
	assert_string_equal(after, before);
	assert_int_equal(copy->ref, 1);
	snapshot_unref(NULL);
}

TEST(test_find_port_knows_end_ports_only)
{
	struct builder *b = make_diamond();
	AUTO(snapshot) *s;
	uint32_t p;

	b->s->ports[port_by_guid(b, 0x10, 1)].known = true;
	/* a GUID on an external port is no name of an end port */
	b->s->ports[port_by_guid(b, 0x50, 2)].guid = 0x999;
	s = builder_finish(b);
	p = snapshot_find_port(s, 0x11);
	assert_int_equal(p, snapshot_port_of(s, 0, 1));
	assert_true(snapshot_is_end_port(s, p));
	assert_int_equal(snapshot_find_port(s, 0x20),
			 snapshot_port_of(s, 1, 0));
	assert_int_equal(snapshot_find_port(s, 0x61), SNAPSHOT_NONE);
	assert_int_equal(snapshot_find_port(s, 0x999), SNAPSHOT_NONE);
	assert_int_equal(snapshot_find_port(s, 0), SNAPSHOT_NONE);
	assert_false(snapshot_is_end_port(s, snapshot_port_of(s, 1, 1)));
	assert_int_equal(snapshot_port_of(s, 0, 2), SNAPSHOT_NONE);
}

/* ---- random fabrics in random order ---- */

#define N_NODES		60u
#define N_CABLES	90u

/* As words: a third CAs, the rest switches; then cables anywhere. */
static GPtrArray *
invent(uint64_t *rng)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	unsigned ports[N_NODES], used[N_NODES] = { 0 };
	uint64_t guid[N_NODES];

	for (uint32_t i = 0; i < N_NODES; i++) {
		guid[i] = (prng_next(rng) << 8) + 256 * i;
		ports[i] = 1 + prng_below(rng, i % 3 ? 8 : 2);
		g_ptr_array_add(words, g_strdup_printf("%c%" PRIx64 ":%u",
			i % 3 ? 'S' : 'C', guid[i], ports[i]));
	}
	for (uint32_t i = 0; i < N_CABLES; i++) {
		/* the first: the SM's way out */
		uint32_t a = i ? prng_below(rng, N_NODES) : 0;
		uint32_t b = i ? prng_below(rng, N_NODES) : 1;

		if (a != b && used[a] < ports[a] && used[b] < ports[b])
			g_ptr_array_add(words, g_strdup_printf(
				"%" PRIx64 ".%u-%" PRIx64 ".%u", guid[a],
				++used[a], guid[b], ++used[b]));
	}
	return words;
}

/* In another order, and cables from either end. */
static struct snapshot *
lay_out(const GPtrArray *words, uint64_t *rng)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const char *first = words->pdata[0];
	uint32_t order[N_CABLES];

	seed_shuffle(order, N_NODES, rng);
	for (uint32_t i = 0; i < N_NODES; i++)
		g_string_append_printf(text, "%s ",
				       (char *)words->pdata[order[i]]);
	seed_shuffle(order, words->len - N_NODES, rng);
	for (uint32_t i = 0; i < words->len - N_NODES; i++) {
		g_auto(GStrv) ends = g_strsplit(words->pdata[N_NODES + order[i]],
						"-", 2);
		bool back = prng_below(rng, 2);

		g_string_append_printf(text, "%s-%s ", ends[back], ends[!back]);
	}
	g_string_append_printf(text, "@%.*s.1", (int)strcspn(first + 1, ":"),
			       first + 1);
	return builder_finish(lay(text->str));
}

TEST(test_order_of_facts_does_not_matter)
{
	uint64_t rng = seed_take(20240611);

	for (unsigned round = 0; round < 40; round++) {
		g_autoptr(GPtrArray) words = invent(&rng);
		g_autofree char *first = NULL;

		for (unsigned turn = 0; turn < 5; turn++) {
			AUTO(snapshot) *s = lay_out(words, &rng);
			g_autofree char *text = fabric_text(s);

			if (!first)
				first = g_strdup(text);
			assert_string_equal(text, first);
		}
	}
}

TEST(test_a_node_without_a_name_goes_by_its_guid)
{
	static const char *const descs[] = { "", "   ", " x" };
	static const char *const names[] = {
		"0x0000000000000abc", "0x0000000000000abc", " x",
	};
	struct node_info info = { .node_type = NODE_CA, .node_guid = 0xabc,
				  .num_ports = 1 };
	struct builder *b = builder_new();
	struct snapshot *s;

	builder_add(b, &info);
	for (size_t i = 0; i < G_N_ELEMENTS(descs); i++) {
		builder_describe(b, 0, (const uint8_t *)descs[i],
				 strlen(descs[i]));
		s = builder_finish(b);
		assert_string_equal(snapshot_node_name(&s->nodes[0]), names[i]);
		assert_string_equal(s->nodes[0].desc, descs[i]);
		b = builder_new_from(s);
		snapshot_unref(s);
	}
	builder_free(b);
}

/* Two ports of `s` change their cables' far ends. */
static void
swap_cables(struct snapshot *s, uint32_t a, uint32_t b)
{
	uint32_t far_a = s->ports[a].peer, far_b = s->ports[b].peer;

	s->ports[a].peer = far_b;
	s->ports[b].peer = far_a;
	if (far_a != SNAPSHOT_NONE)
		s->ports[far_a].peer = b;
	if (far_b != SNAPSHOT_NONE)
		s->ports[far_b].peer = a;
}

TEST(test_a_route_that_leads_elsewhere_now_is_found)
{
	AUTO(snapshot) *then = generate_fabric("PGFT(3,3;1,2)", NULL, NULL);
	AUTO(snapshot) *now = snapshot_copy(then);
	struct dr_path path;
	uint32_t host[2], n = 0;

	for (uint32_t p = 0; n < 2; p++)
		if (!snapshot_is_switch(snapshot_node_of(then, p)) &&
		    p != then->local_port &&
		    then->ports[p].peer != SNAPSHOT_NONE)
			host[n++] = p;
	assert_true(snapshot_path(then, host[0], &path));
	assert_int_equal(snapshot_path_end(now, &path), host[0]);
	/* Gone, and somewhere else: its old place is empty. */
	now->ports[now->ports[host[0]].peer].peer = SNAPSHOT_NONE;
	now->ports[host[0]].peer = SNAPSHOT_NONE;
	assert_int_equal(snapshot_path_end(now, &path), SNAPSHOT_NONE);
	assert_true(snapshot_path(then, host[1], &path));
	swap_cables(now, host[0], host[1]);
	assert_int_equal(snapshot_path_end(now, &path), host[0]);
}
