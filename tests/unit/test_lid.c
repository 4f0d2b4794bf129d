// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * lid.h promises: a port that is right on the fabric keeps, one that is
 * remembered gets it back, the rest is filled from below. The fabrics are a
 * switch with hosts, each of which says what LID and LMC it has; those of few
 * hosts are in tests/golden/lids.
 */
#include <inttypes.h>

#include "tests/lib/seed.h"

/* Of generated fabrics: of the switch, and of port 1 of the ith host. */
#define SWITCH_GUID	UINT64_C(0x5000000000000100)
#define HOST(i)		(UINT64_C(0x6000000000000101) + 256 * (i))

struct host {
	uint16_t lid;
	uint8_t lmc;
};

/* A switch with LID 1 and `n` hosts. */
static struct snapshot *
make_star(const struct host *hosts, unsigned n)
{
	g_autofree char *spec = g_strdup_printf("single(%u)", n);
	struct snapshot *s = generate_fabric(spec, NULL, NULL);

	s->ports[snapshot_find_port(s, SWITCH_GUID)].info.lid = 1;
	for (unsigned i = 0; i < n; i++) {
		struct port_info *info =
			&s->ports[snapshot_find_port(s, HOST(i))].info;

		info->lid = hosts[i].lid;
		info->lmc = hosts[i].lmc;
	}
	return s;
}

static unsigned
base_of(const struct snapshot *s, const struct lid_map *map, uint64_t guid)
{
	uint32_t port = snapshot_find_port(s, guid);

	assert_int_not_equal(port, SNAPSHOT_NONE);
	return map->base[port];
}

/* What must hold of every answer. */
static void
check_map(const struct snapshot *s, const struct lid_map *map, unsigned lmc)
{
	uint32_t owned = 0;

	assert_int_equal(map->n_ports, s->n_ports);
	for (uint32_t p = 0; p < s->n_ports; p++) {
		unsigned size = 1u << map->lmc[p];

		if (!snapshot_is_end_port(s, p)) {
			assert_int_equal(map->base[p], 0);
			continue;
		}
		if (!snapshot_is_switch(snapshot_node_of(s, p)) ||
		    snapshot_node_of(s, p)->sw.enhanced_port0)
			assert_int_equal(map->lmc[p], lmc);
		else
			assert_int_equal(map->lmc[p], 0);
		assert_in_range(map->base[p], LID_UNICAST_MIN,
				LID_UNICAST_MAX - size + 1);
		assert_int_equal(map->base[p] % size, 0);
		assert_true(map->base[p] + size - 1 <= map->top);
		for (unsigned i = 0; i < size; i++)
			assert_int_equal(map->owner[map->base[p] + i], p);
		owned += size;
	}
	for (unsigned lid = 0; lid <= map->top; lid++)
		owned -= map->owner[lid] != SNAPSHOT_NONE;
	assert_int_equal(owned, 0);
	if (map->top)
		assert_int_not_equal(map->owner[map->top], SNAPSHOT_NONE);
}

static struct lid_map *
assign(const struct snapshot *s, unsigned lmc, const struct lid_range *memory,
       size_t n_memory, GPtrArray *notes)
{
	GError *error = NULL;
	struct lid_map *map = lid_assign(s, lmc, memory, n_memory, notes,
					  &error);

	if (!map)
		fail_msg("%s", error->message);
	check_map(s, map, lmc);
	return map;
}

/* A star's hosts with the LIDs and LMCs that they have, and those that they get:
 *
 *	lmc N [cap LinearFDBCap [last THE_ONE_BEFORE]]
 *	host LID LMC
 *	memory GUID MIN MAX
 */
GOLDEN("lids", lids)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) memory = g_array_new(FALSE, FALSE,
					       sizeof(struct lid_range));
	unsigned lmc = 0, cap = 0, last = 0, n = 0;
	AUTO(lid_map) *map = NULL;
	AUTO(snapshot) *s = NULL;
	struct snapshot_node *sw;
	struct host hosts[6];
	struct lid_range r;

	for (char **line = lines; **line; line++)
		if (sscanf(*line, "host %hu %hhu", &hosts[n].lid,
			   &hosts[n].lmc) == 2)
			n++;
		else if (sscanf(*line, "memory %" SCNx64 " %hu %hu", &r.guid,
				&r.min, &r.max) == 3)
			g_array_append_val(memory, r);
		else
			assert_true(sscanf(*line, "lmc %u cap %u last %u", &lmc,
					   &cap, &last) > 0);
	s = make_star(hosts, n);
	sw = &s->nodes[s->switches[0]];
	sw->sw_known = true;
	sw->sw.linear_fdb_cap = (uint16_t)cap;
	sw->last_fdb_cap = (uint16_t)last;
	map = assign(s, lmc, (void *)memory->data, memory->len, notes);
	g_string_append_printf(out, "%u:", base_of(s, map, SWITCH_GUID));
	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(out, " %u", base_of(s, map, HOST(i)));
	for (guint i = 0; i < notes->len; i++)
		g_string_append_printf(out, "\n%s", (char *)notes->pdata[i]);
	g_string_append_c(out, '\n');
}

static void
expect(const struct snapshot *s, unsigned n, unsigned lmc,
       const struct lid_range *memory, size_t n_memory, const unsigned *want,
       GPtrArray *notes)
{
	AUTO(lid_map) *map = assign(s, lmc, memory, n_memory, notes);

	assert_int_equal(base_of(s, map, SWITCH_GUID), 1);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(base_of(s, map, HOST(i)), want[i]);
}

/* Only an enhanced port 0 takes the LMC of the subnet. */
TEST(test_enhanced_port0_gets_the_lmc)
{
	AUTO(snapshot) *s = generate_fabric("ring(3;1)", NULL, NULL);
	AUTO(lid_map) *map = NULL;

	s->nodes[1].sw.enhanced_port0 = true;
	map = assign(s, 3, NULL, 0, NULL);
	assert_int_equal(base_of(s, map, SWITCH_GUID), 1);
	assert_int_equal(base_of(s, map, SWITCH_GUID + 256), 16);
	assert_int_equal(base_of(s, map, SWITCH_GUID + 512), 2);
	assert_int_equal(map->top, 39);	/* that of the third host */
}

/* First what is at a switch that keeps its LID, then each switch and what is at it,
 * by port, aggregation nodes like hosts. */
TEST(test_new_lids_are_given_switch_by_switch)
{
	const struct generate_options options = {
		.seed = 1, .shuffle_guids = true,
	};
	AUTO(snapshot) *s = generate_fabric("PGFT(3,3;1,2)+an", &options, NULL);
	uint32_t at = s->nodes[s->switches[1]].first_port, port, num = 0;
	uint64_t guid = 0;
	AUTO(lid_map) *map = NULL;

	s->ports[at].info.lid = 100;
	map = assign(s, 0, NULL, 0, NULL);
	for (uint16_t lid = 1; lid < 19; lid++) {
		port = lid_map_owner(map, lid);
		assert_int_not_equal(port, SNAPSHOT_NONE);
		if (snapshot_is_switch(snapshot_node_of(s, port))) {
			assert_true(s->ports[port].guid > guid);
			guid = s->ports[port].guid;
			at = port;
			num = 0;
			continue;
		}
		port = s->ports[port].peer;
		assert_int_equal(snapshot_holder_of(s, port), at);
		assert_true(s->ports[port].num > num);
		num = s->ports[port].num;
	}
}

/* The memory holds every LID but the switch's and one. */
TEST(test_last_resort_takes_lids_of_ports_that_are_away)
{
	static const struct host hosts[4];
	AUTO(snapshot) *s = make_star(hosts, 4);
	AUTO(snapshot) *two = make_star(hosts, 2);
	static struct lid_range memory[LID_UNICAST_MAX];
	size_t n = 0;

	for (uint16_t lid = 2; lid <= LID_UNICAST_MAX; lid++)
		if (lid != 777)
			memory[n++] = (struct lid_range){ 0x10000 + lid, lid,
							  lid };
	expect(s, 4, 0, memory, n, (const unsigned[]){ 777, 2, 3, 4 }, NULL);
	/* no hole is of use to a pair */
	expect(two, 2, 1, memory, n, (const unsigned[]){ 2, 4 }, NULL);
}

/* Switches with LIDs `stride` apart (0: none yet), and one CA, for an LMC to
 * apply to. */
static struct snapshot *
make_switches(unsigned n, unsigned stride)
{
	struct builder *b = builder_new();

	for (unsigned i = 0; i <= n; i++) {
		struct node_info info = {
			.node_guid = 1 + i, .port_guid = 1 + i,
			.node_type = i < n ? NODE_SWITCH : NODE_CA,
			.num_ports = 1, .local_port = 1,
		};
		uint32_t port = snapshot_port_of(b->s, builder_add(b, &info),
						 i < n ? 0 : 1);

		b->s->ports[port].known = true;
		b->s->ports[port].info.lid =
			(uint16_t)(i < n && stride ? 1 + i * stride : 0);
	}
	return builder_finish(b);
}

TEST(test_all_unicast_lids_can_be_given)
{
	AUTO(snapshot) *s = make_switches(LID_UNICAST_MAX - 1, 0);
	AUTO(lid_map) *map = assign(s, 0, NULL, 0, NULL);

	assert_int_equal(map->top, LID_UNICAST_MAX);
}

/* The last port, the CA's, gets none; if it is the manager's, no port does. */
static void
expect_exhausted(unsigned n, unsigned stride, unsigned lmc, const char *why)
{
	AUTO(snapshot) *s = make_switches(n, stride);
	AUTO(lid_map) *map = lid_assign(s, lmc, NULL, 0, NULL, NULL);
	g_autoptr(GError) error = NULL;

	assert_string_equal(map->lack, why);
	for (uint32_t p = 0; p < s->n_ports; p++)
		assert_int_equal(map->base[p] != LID_NONE,
				 snapshot_is_end_port(s, p) &&
				 s->ports[p].guid <= n);
	s->local_port = snapshot_find_port(s, n + 1);
	assert_null(lid_assign(s, lmc, NULL, 0, NULL, &error));
	assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
	assert_string_equal(error->message, why);
}

TEST(test_one_too_many_is_exhausted)
{
	expect_exhausted(LID_UNICAST_MAX, 0, 0,
			 "49152 LIDs are needed at LMC 0, there are 49151: "
			 "none is left for 0x000000000000c000");
	/* Half of all LIDs are free, but of every pair one is taken. */
	expect_exhausted((LID_UNICAST_MAX + 1) / 2, 2, 1,
			 "24578 LIDs are needed at LMC 1, there are 49151, "
			 "and not enough of them in aligned ranges: none is "
			 "left for 0x0000000000006001; a smaller LMC "
			 "leaves room for more");
}

/* Many claims to few LIDs and a memory with holes. (In which order they come
 * is no matter: test_builder.c.) */
TEST(test_any_claims_have_an_answer)
{
	uint64_t rng = seed_take(20260401);
	struct host hosts[200];

	for (unsigned round = 0; round < 160; round++) {
		unsigned lmc = round % (LMC_MAX + 1);
		g_autoptr(GArray) memory = g_array_new(FALSE, FALSE,
						sizeof(struct lid_range));
		AUTO(snapshot) *s = NULL;
		AUTO(lid_map) *map = NULL;

		for (unsigned i = 0; i < 200; i++) {
			struct lid_range r = { .guid = HOST(i) };

			hosts[i].lid = (uint16_t)prng_below(&rng, 600 << lmc);
			if (prng_below(&rng, 3))
				hosts[i].lid &= (uint16_t)(0xffff << lmc);
			hosts[i].lmc = (uint8_t)(prng_below(&rng, 4) ? lmc :
						 prng_below(&rng, 8));
			r.min = (uint16_t)((i + 1) << lmc);
			r.max = (uint16_t)(r.min + (1 << lmc) - 1);
			if (prng_below(&rng, 2))
				g_array_append_val(memory, r);
		}
		s = make_star(hosts, 200);
		map = assign(s, lmc, (void *)memory->data, memory->len, NULL);
	}
}

static void
expect_kept(GArray *memory, const struct lid_range *want, size_t n)
{
	assert_int_equal(memory->len, n);
	for (size_t i = 0; i < n; i++) {
		const struct lid_range *r = &g_array_index(memory,
						struct lid_range, i);

		assert_int_equal(r->guid, want[i].guid);
		assert_int_equal(r->min, want[i].min);
		assert_int_equal(r->max, want[i].max);
	}
	g_array_unref(memory);
}

TEST(test_remember_keeps_ports_that_are_away)
{
	static const struct host hosts[] = { { 4, 0 }, { 0, 0 } };
	const struct lid_range memory[] = {
		{ 0x50, 3, 3 },			/* away, stays */
		{ 0x9000, 4, 5 },		/* away, its 4 is taken */
		{ 0xa000, 0x100, 0x1ff },	/* away, above the top */
		{ HOST(0), 9, 9 },		/* here, has 4 */
	};
	AUTO(snapshot) *s = make_star(hosts, 2);
	AUTO(lid_map) *map = assign(s, 0, memory, 4, NULL);
	const struct lid_range want[] = {
		{ 0x50, 3, 3 }, { 0xa000, 0x100, 0x1ff },
		{ SWITCH_GUID, 1, 1 }, { HOST(0), 4, 4 }, { HOST(1), 2, 2 },
	};

	expect_kept(lid_remember(s, map, memory, 4), want, 5);
}

/* The memory has one line for a GUID, of whichever port comes first. */
TEST(test_remember_keeps_the_lower_lid_of_a_doubled_guid)
{
	const struct lid_range want[] = {
		{ SWITCH_GUID, 1, 1 }, { HOST(0), 4, 4 },
	};

	for (unsigned first = 0; first < 2; first++) {
		const struct host hosts[] = {
			{ first ? 9 : 4, 0 }, { first ? 4 : 9, 0 },
		};
		AUTO(snapshot) *s = make_star(hosts, 2);
		AUTO(lid_map) *map = assign(s, 0, NULL, 0, NULL);

		s->ports[snapshot_find_port(s, HOST(1))].guid =
			HOST(0);
		expect_kept(lid_remember(s, map, NULL, 0), want, 2);
	}
}

/* A fabric that was switched off and on again has the LIDs it had. */
TEST(test_memory_restores_a_fabric)
{
	static const struct host hosts[] = { { 2, 2 }, { 0, 0 } };
	const struct generate_options options = {
		.seed = 5, .shuffle_guids = true,
	};
	AUTO(snapshot) *s = generate_fabric("torus(3,3;4)", &options, NULL);
	AUTO(snapshot) *half = make_star(hosts, 2);
	uint32_t port = snapshot_find_port(half, HOST(1));
	AUTO(lid_map) *before = assign(s, 2, NULL, 0, NULL);
	g_autoptr(GArray) memory = lid_remember(s, before, NULL, 0);
	const struct lid_range *ranges = (void *)memory->data;
	AUTO(lid_map) *strange = NULL, *again = NULL;

	/* Strangers come and go in between. */
	for (uint32_t p = 0; p < half->n_ports; p++)
		half->ports[p].guid += half->ports[p].guid ? 2 : 0;
	strange = lid_assign(half, 2, ranges, memory->len, NULL, NULL);
	assert_true(strange->base[port] > before->top);
	again = assign(s, 2, ranges, memory->len, NULL);
	assert_memory_equal(before->base, again->base,
			    s->n_ports * sizeof(*before->base));
}
