// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subnet administration: every attribute by every mask against a plain filter,
 * records as they are on the wire, statuses, who may see what. Paths:
 * test_sa_path.c; what clients leave behind: test_sa_state.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define TREE	"PGFT(3,4;1,3)"	/* 12 hosts, 4 leaves, 3 spines */

static unsigned
ask_table(struct lab *l, unsigned attr_id, uint64_t mask)
{
	lab_begin(l, SA_METHOD_GET_TABLE, attr_id, mask);
	return lab_ask(l);
}

TEST(test_tables_have_a_record_for_everything, lab_set_up, lab_tear_down)
{
	unsigned n_end = 0, n_ports = 0, n_links = 0;
	struct lab *l = *state;

	for (uint32_t p = 0; p < l->s->n_ports; p++) {
		n_end += snapshot_is_end_port(l->s, p);
		n_ports += l->s->ports[p].known;
		n_links += l->s->ports[p].peer != SNAPSHOT_NONE;
	}
	assert_int_equal(ask_table(l, SA_ATTR_NODE, 0), 0);
	assert_int_equal(lab_count(l), n_end);
	ask_table(l, SA_ATTR_PORT_INFO, 0);
	assert_int_equal(lab_count(l), n_ports);
	ask_table(l, SA_ATTR_LINK, 0);
	assert_int_equal(lab_count(l), n_links);
	ask_table(l, SA_ATTR_SWITCH_INFO, 0);
	assert_int_equal(lab_count(l), l->s->n_switches);
	ask_table(l, SA_ATTR_LINEAR_FT, 0);
	assert_int_equal(lab_count(l), l->s->n_switches *
			 lft_n_blocks(l->lft));
	/* Nobody has read these. */
	assert_int_equal(ask_table(l, SA_ATTR_SL_TO_VL, 0), 0);
	assert_int_equal(lab_count(l), 0);
	l->mad[3] = MAD_METHOD_GET;
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
	assert_int_equal(ask_table(l, SA_ATTR_VL_ARB, 0), 0);
	assert_int_equal(lab_count(l), 0);
	assert_int_equal(ask_table(l, SA_ATTR_MULTICAST_FT, 0), 0);
	assert_int_equal(lab_count(l), 0);
}

/* -------------------------------------------------- masks against a filter */

static void
fill_mft(struct lab *l, uint64_t *rng)
{
	uint32_t n;

	l->mft = mft_new(l->s->n_switches, 3, 4);
	n = l->s->n_switches * 3 * 4 * MFT_BLOCK;
	for (uint32_t i = 0; i < n; i++)
		l->mft->masks[i] = (uint16_t)prng_below(rng, 4);
}

static void
fill_stores(struct lab *l)
{
	struct inform_info info = {
		.lid_begin = 0xffff, .generic = true, .subscribe = 1,
		.type = 0xffff, .trap = 0xffff, .producer = 0xffffff,
	};
	struct service_record service = {
		.pkey = 0xffff, .lease = 60, .name = "one",
	};
	const struct sa_sm sms[] = {
		{ .lid = 1, .info = { .guid = 5, .priority = 3, .state = 3 } },
		{ .lid = 2, .info = { .guid = 6, .priority = 3, .state = 2,
				      .sm_key = 77 } },
	};

	sa_set_sms(l->sa, sms, 2);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t port = lab_host(l, i);

		lab_want_join(l, port, i < 3 ? 1 : 5);
		assert_int_equal(lab_ask_from(l, port), 0);
		lab_begin(l, MAD_METHOD_SET, SA_ATTR_INFORM_INFO, 0);
		info.type = i & 1 ? 0xffff : 3;
		info.qpn = 1 + i;
		sa_record_encode(SA_ATTR_INFORM_INFO, lab_data(l), &info);
		assert_int_equal(lab_ask_from(l, port), 0);
		service.id = 100 + i % 2;
		lab_gid(l, port, service.gid);
		lab_begin(l, MAD_METHOD_SET, SA_ATTR_SERVICE,
			  SA_BIT(SERVICE_ID) | SA_BIT(SERVICE_GID) |
			  SA_BIT(SERVICE_PKEY) | SA_BIT(SERVICE_LEASE) |
			  SA_BIT(SERVICE_NAME));
		sa_record_encode(SA_ATTR_SERVICE, lab_data(l), &service);
		assert_int_equal(lab_ask_from(l, port), 0);
	}
}

static const unsigned table_attrs[] = {
	SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_SWITCH_INFO,
	SA_ATTR_LINEAR_FT, SA_ATTR_MULTICAST_FT, SA_ATTR_LINK,
	SA_ATTR_GUID_INFO, SA_ATTR_PKEY_TABLE, SA_ATTR_SM_INFO,
	SA_ATTR_MC_MEMBER, SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
};

static bool
naive_match(unsigned attr_id, uint64_t mask, const uint8_t *a,
	    const uint8_t *b)
{
	unsigned n;
	const struct mad_field *f = sa_fields(attr_id, &n);

	/* of a CA's table the LID names the port, not the number */
	if (attr_id == SA_ATTR_PKEY_TABLE && b[4])
		mask &= ~SA_BIT(2);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = f[i].offset; mask >> i & 1 &&
		     f[i].kind == MAD_FIELD_PLAIN &&
		     k < f[i].offset + f[i].bits; k++)
			if ((a[k / 8] ^ b[k / 8]) >> (7 - k % 8) & 1)
				return false;
	return true;
}

/* A mask of plain components, few of them most of the time. */
static uint64_t
random_mask(unsigned attr_id, uint64_t *rng)
{
	unsigned n;
	const struct mad_field *f = sa_fields(attr_id, &n);
	uint64_t mask = prng_next(rng) & prng_next(rng);

	if (prng_below(rng, 2))
		mask &= prng_next(rng) & prng_next(rng);
	if (prng_below(rng, 4) == 0)
		mask = SA_BIT(prng_below(rng, n));
	for (unsigned i = 0; i < 64; i++)
		if (i >= n || f[i].kind == MAD_FIELD_SPECIAL)
			mask &= ~SA_BIT(i);
	return mask;
}

/* The request at hand: the same records, in the same order, as a filter over
 * the whole table `all` of n gives. How many. */
static unsigned
check_filter(struct lab *l, unsigned attr_id, uint64_t mask,
	     const GByteArray *all, unsigned n)
{
	size_t size = sa_record_size(attr_id);
	unsigned expected = 0, got;
	const uint8_t *only = NULL;
	GByteArray *found;

	assert_int_equal(lab_ask(l), 0);
	found = lab_drain(l, &got);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *r = all->data + size * i;

		if (!naive_match(attr_id, mask, lab_data(l), r))
			continue;
		assert_true(expected < got);
		assert_memory_equal(r, found->data + size * expected, size);
		expected++;
		only = r;
	}
	assert_int_equal(got, expected);
	/* Get: this one, or the status that says why not. */
	l->mad[3] = MAD_METHOD_GET;
	assert_int_equal(lab_ask(l), expected > 1 ? SA_STATUS_TOO_MANY :
			 expected ? 0 : SA_STATUS_NO_RECORDS);
	if (expected == 1)
		assert_memory_equal(lab_answer(l), only, size);
	g_byte_array_unref(found);
	return expected;
}

/* Any mask; values of a record that there is, now and then with one bit
 * changed. flip: with LMC, not a LID's. */
static void
check_table(struct lab *l, unsigned attr_id, bool flip, uint64_t *rng,
	    unsigned *some, unsigned *none)
{
	size_t size = sa_record_size(attr_id);
	unsigned n, found;
	GByteArray *all;
	uint64_t mask;

	assert_int_equal(ask_table(l, attr_id, 0), 0);
	all = lab_drain(l, &n);
	assert_true(n > 1);
	for (unsigned round = 0; round < 200; round++) {
		mask = random_mask(attr_id, rng);
		lab_begin(l, SA_METHOD_GET_TABLE, attr_id, mask);
		memcpy(lab_data(l), all->data + size * prng_below(rng, n),
		       size);
		if (flip && prng_below(rng, 2))
			lab_data(l)[prng_below(rng, (uint32_t)size)] ^=
				(uint8_t)(1u << prng_below(rng, 8));
		found = check_filter(l, attr_id, mask, all, n);
		*some += found > 1;
		*none += found == 0;
	}
	g_byte_array_unref(all);
}

static void
check_tables(unsigned lmc, unsigned seed)
{
	uint64_t rng = prng_stream(seed, lmc);
	unsigned some = 0, none = 0;
	struct lab l;

	printf("# seed %u\n", seed);
	lab_open(&l, TREE, lmc);
	/* Two hosts are one system. */
	l.s->nodes[l.s->ports[lab_host(&l, 7)].node].info.system_guid =
		l.s->nodes[l.s->ports[lab_host(&l, 2)].node].info.system_guid;
	l.s->ports[lab_host(&l, 4)].info.guid_cap = 20;
	fill_mft(&l, &rng);
	lab_publish(&l);
	fill_stores(&l);
	for (size_t k = 0; k < G_N_ELEMENTS(table_attrs); k++)
		check_table(&l, table_attrs[k], lmc == 0, &rng, &some, &none);
	assert_true(some > 200);
	if (lmc == 0)
		assert_true(none > 100);
	lab_close(&l);
}

TEST(test_every_mask_is_a_filter)
{
	check_tables(0, 61);
}

TEST(test_every_mask_is_a_filter_with_lmc)
{
	check_tables(1, 62);
}

/* Components that a request names one by one: what makes a query cheap must
 * not change what it finds. */

TEST(test_any_lid_of_a_range_means_its_port)
{
	uint32_t port;
	uint16_t base;
	struct lab l;

	lab_open(&l, TREE, 2);
	port = lab_host(&l, 5);
	base = lab_lid(&l, port);
	for (unsigned i = 0; i < 4; i++) {
		lab_begin(&l, MAD_METHOD_GET, SA_ATTR_NODE, 1);
		lab_put(lab_data(&l), base + i, 2);
		assert_int_equal(lab_ask(&l), 0);
		assert_int_equal(lab_get(lab_answer(&l), 2), base);
		/* The link that ends there, too. */
		lab_begin(&l, MAD_METHOD_GET, SA_ATTR_LINK, SA_BIT(3));
		lab_put(lab_data(&l) + 4, base + i, 2);
		assert_int_equal(lab_ask(&l), 0);
		assert_int_equal(lab_get(lab_answer(&l) + 4, 2), base);
		assert_int_equal(lab_get(lab_answer(&l) + 2, 1),
				 l.s->ports[l.s->ports[port].peer].num);
	}
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_NODE, 1);
	lab_put(lab_data(&l), 0xffff, 2);
	assert_records(&l, 0);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_LINK, SA_BIT(3));
	lab_put(lab_data(&l) + 4, 0xffff, 2);
	assert_records(&l, 0);
	lab_close(&l);
}

TEST(test_capabilities_match_if_all_bits_are_there, lab_set_up, lab_tear_down)
{
	uint32_t sm, cap;
	struct lab *l = *state;

	sm = lab_host(l, 3);
	l->s->ports[sm].info.cap_mask = PORT_CAP_IS_SM |
		PORT_CAP_HAS_EXT_SPEEDS;
	lab_publish(l);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_PORT_INFO, SA_BIT(7));
	lab_put(lab_data(l) + 24, PORT_CAP_IS_SM, 4);
	lab_put(l->mad + 20, 0x80000000u, 4);
	assert_records(l, 1);
	/* Without the modifier it is equality. */
	lab_put(l->mad + 20, 0, 4);
	assert_records(l, 0);
	cap = l->s->ports[sm].info.cap_mask;
	lab_put(lab_data(l) + 24, cap, 4);
	assert_records(l, 1);
}

TEST(test_capabilities_2_match_if_all_bits_are_there, lab_set_up, lab_tear_down)
{
	struct lab *l = *state;

	l->s->ports[lab_host(l, 3)].info.cap_mask2 = 0x0212;
	l->s->ports[lab_host(l, 4)].info.cap_mask2 = 0x0202;
	lab_publish(l);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_PORT_INFO, SA_BIT(53));
	lab_put(lab_data(l) + 64, 0x0202, 2);
	lab_put(l->mad + 20, 0x80000000u, 4);
	assert_records(l, 2);
	lab_put(lab_data(l) + 64, 0x0210, 2);
	assert_records(l, 1);
	/* Without the modifier it is equality. */
	lab_put(l->mad + 20, 0, 4);
	assert_records(l, 0);
	lab_put(lab_data(l) + 64, 0x0202, 2);
	assert_records(l, 1);
}

/* ------------------------------------------------------------- on the wire */

TEST(test_records_are_as_on_the_wire, lab_set_up, lab_tear_down)
{
	const uint8_t *d;
	uint32_t a, up;
	struct lab *l = *state;

	a = lab_host(l, 0);
	up = l->s->ports[a].peer;
	d = lab_answer(l);

	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_NODE, 1, a);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(l->reply.mad[3], 0x81);
	assert_int_equal(lab_get(l->reply.mad + 44, 2), 112 / 8);
	assert_int_equal(lab_get(d, 2), lab_lid(l, a));
	assert_int_equal(d[6], NODE_CA);
	assert_int_equal(d[7], 1);
	assert_true(lab_get(d + 24, 8) == l->s->ports[a].guid);
	assert_int_equal(d[40], 1);
	assert_memory_equal(d + 44, snapshot_node_of(l->s, a)->desc,
			    strlen(snapshot_node_of(l->s, a)->desc));

	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_LINK, 3, a);
	lab_data(l)[2] = 1;
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(d[2], 1);
	assert_int_equal(d[3], l->s->ports[up].num);
	assert_int_equal(lab_get(d + 4, 2),
			 lab_lid(l, lab_switch(l, l->v->ends[a].sw)));

	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_PORT_INFO, 3,
			 lab_switch(l, 3));
	lab_data(l)[2] = 2;
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(d[2], 2);
	assert_int_equal(d[4 + 32] & 0xf, PORT_STATE_ACTIVE);

	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_GUID_INFO, 3, a);
	assert_int_equal(lab_ask(l), 0);
	assert_true(lab_get(d + 8, 8) == l->s->ports[a].guid);
	assert_true(lab_get(d + 16, 8) == 0);

	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_PKEY_TABLE, 1, a);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(d[4], 1);
	assert_int_equal(lab_get(d + 8, 2), 0xffff);
	assert_int_equal(lab_get(d + 10, 2), 0);
}

TEST(test_records_of_switches_are_as_on_the_wire, lab_set_up, lab_tear_down)
{
	struct snapshot_node *sw;
	const uint8_t *d;
	uint16_t lid;
	struct lab *l = *state;

	l->mft = mft_new(l->s->n_switches, 2, 2);
	mft_add(l->mft, 3, 0xc000 + 33, 17);
	lab_publish(l);
	d = lab_answer(l);
	lid = lab_lid(l, lab_switch(l, 3));

	sw = &l->s->nodes[l->s->switches[3]];
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_SWITCH_INFO, 1);
	lab_put(lab_data(l), lid, 2);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_get(d + 4, 2), sw->sw.linear_fdb_cap);

	lab_begin(l, MAD_METHOD_GET, SA_ATTR_LINEAR_FT, 3);
	lab_put(lab_data(l), lid, 2);
	assert_int_equal(lab_ask(l), 0);
	assert_memory_equal(d + 8, lft_row(l->lft, 3), 64);
	lab_put(lab_data(l) + 2, lft_n_blocks(l->lft), 2);
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);

	/* Position 1 stands in the upper four bits, block 1 in the lower. */
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_MULTICAST_FT, 11);
	lab_put(lab_data(l), lid, 2);
	lab_put(lab_data(l) + 2, 0x1001, 2);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_get(d + 2, 2), 0x1001);
	assert_int_equal(lab_get(d + 8 + 2, 2), 1u << 1);
	lab_put(lab_data(l) + 2, 0x1002, 2);
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
	lab_put(lab_data(l) + 2, 0x2001, 2);
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
}

TEST(test_class_port_info_says_what_is_served, lab_set_up, lab_tear_down)
{
	struct lab *l = *state;

	lab_begin(l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	lab_distrust(l);
	assert_int_equal(lab_ask(l), 0);
	assert_int_equal(lab_answer(l)[0], 1);
	assert_int_equal(lab_answer(l)[1], 2);
	assert_int_equal(lab_get(lab_answer(l) + 2, 2), 0x2602);
	/* CapabilityMask2, 27 bits: MulticastFDBTop, full PortInfo, extended
	 * speeds, match of CapabilityMask2, SendOnlyFullMember, 2x, HDR, NDR */
	assert_int_equal(lab_get(lab_answer(l) + 4, 4) >> 5, 0x2b4c8);
	l->mad[3] = SA_METHOD_GET_TABLE;
	assert_int_equal(lab_ask(l), MAD_STATUS_BAD_ATTRIBUTE);
}

/* What has no answer in IBA (13.4.5) gets none, with an error neither. */
TEST(test_notices_are_not_answered, lab_set_up, lab_tear_down)
{
	static const unsigned methods[] = {
		MAD_METHOD_TRAP, SA_METHOD_REPORT, MAD_METHOD_TRAP_REPRESS,
		SA_METHOD_REPORT | MAD_METHOD_RESPONSE,
	};
	struct lab *l = *state;

	for (size_t i = 0; i < G_N_ELEMENTS(methods); i++) {
		lab_begin(l, methods[i], SA_ATTR_NOTICE, 0);
		assert_int_equal(lab_ask(l), LAB_DROPPED);
	}
}

/* -------------------------------------------------------------- statuses */

TEST(test_statuses_say_what_is_wrong, lab_set_up, lab_tear_down)
{
	static const struct {
		uint8_t method;
		uint16_t attr_id;
		uint64_t mask;
		unsigned status;
	} cases[] = {
		{ MAD_METHOD_GET, 0x7777, 0, MAD_STATUS_BAD_ATTRIBUTE },
		{ SA_METHOD_GET_TABLE, 0x7777, 0, MAD_STATUS_BAD_ATTRIBUTE },
		{ 0x55, SA_ATTR_NODE, 0, MAD_STATUS_BAD_METHOD },
		{ SA_METHOD_GET_TRACE_TABLE, SA_ATTR_PATH, 0,
		  MAD_STATUS_BAD_METHOD },
		{ MAD_METHOD_SET, SA_ATTR_SM_INFO, 0,
		  MAD_STATUS_BAD_ATTRIBUTE },
		{ SA_METHOD_DELETE, SA_ATTR_INFORM_INFO, 0,
		  MAD_STATUS_BAD_ATTRIBUTE },
		{ MAD_METHOD_GET, SA_ATTR_INFORM_INFO, 0,
		  MAD_STATUS_BAD_ATTRIBUTE },
		{ MAD_METHOD_GET, SA_ATTR_NOTICE, 0,
		  MAD_STATUS_BAD_ATTRIBUTE },
		{ MAD_METHOD_GET, SA_ATTR_LINK, 0x10, SA_STATUS_REQ_INVALID },
		{ SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, SA_BIT(40),
		  SA_STATUS_REQ_INVALID },
		{ SA_METHOD_GET_TABLE, SA_ATTR_SERVICE, SA_BIT(63),
		  SA_STATUS_REQ_INVALID },
		{ MAD_METHOD_GET, SA_ATTR_NODE, 1, SA_STATUS_NO_RECORDS },
		{ MAD_METHOD_GET, SA_ATTR_NODE, 0, SA_STATUS_TOO_MANY },
	};
	struct lab *l = *state;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		lab_begin(l, cases[i].method, cases[i].attr_id,
			  cases[i].mask);
		lab_put(lab_data(l), 0xbfff, 2);
		assert_int_equal(lab_ask(l), cases[i].status);
	}
	/* Nobody has the LID that this comes from. */
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	l->mad[2] = 1;
	assert_int_equal(lab_ask(l), MAD_STATUS_BAD_VERSION);
	l->mad[2] = 2;
	assert_int_equal(lab_ask(l), 0);
	l->lids->base[lab_host(l, 0)] ^= 0x4000;
	assert_int_equal(lab_ask(l), SA_STATUS_REQ_INVALID);
	l->lids->base[lab_host(l, 0)] ^= 0x4000;
	/* No view: not yet, or no more, master. */
	sa_publish(l->sa, NULL, LAB_NOW);
	assert_int_equal(lab_ask(l), MAD_STATUS_BUSY);
}

/* What the specification says to drop is dropped. */
TEST(test_wrong_key_gets_nothing, lab_set_up, lab_tear_down)
{
	struct lab *l = *state;

	lab_begin(l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	lab_put(l->mad + 36, LAB_KEY + 1, 8);
	assert_int_equal(lab_ask(l), LAB_DROPPED);
	lab_put(l->mad + 36, LAB_KEY, 8);
	assert_int_equal(lab_ask(l), 0);
	lab_distrust(l);
	assert_int_equal(lab_ask(l), 0);
	/* An answer is no request. */
	l->mad[3] |= MAD_METHOD_RESPONSE;
	assert_int_equal(lab_ask(l), LAB_DROPPED);
}

/* --------------------------------------------------------- who may see what */

TEST(test_others_see_their_partition_only, lab_set_up, lab_tear_down)
{
	static const struct {
		uint16_t attr_id;
		unsigned one, four, three;
	} cases[] = {		/* host 5 alone; 0 to 3; 2 is limited */
		{ SA_ATTR_NODE, 1, 4, 3 },
		{ SA_ATTR_PORT_INFO, 1, 4, 3 },
		{ SA_ATTR_GUID_INFO, 1, 4, 3 },
		{ SA_ATTR_SWITCH_INFO, 0, 0, 0 },
		{ SA_ATTR_LINEAR_FT, 0, 0, 0 },
		{ SA_ATTR_LINK, 0, 0, 0 },
	};
	uint32_t h[6];
	struct lab *l = *state;

	for (unsigned i = 0; i < 6; i++)
		h[i] = lab_host(l, i);
	lab_clear_rules(l);
	for (unsigned i = 0; i < 4; i++)
		lab_member(l, 1, h[i], i < 2 ? PARTITION_FULL :
			   PARTITION_LIMITED);
	lab_member(l, 2, h[5], PARTITION_FULL);
	lab_publish(l);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		lab_begin(l, SA_METHOD_GET_TABLE, cases[i].attr_id, 0);
		lab_distrust(l);
		assert_records_from(l, h[5], cases[i].one);
		assert_records_from(l, h[0], cases[i].four);
		/* A limited member does not see its like. */
		assert_records_from(l, h[2], cases[i].three);
	}
	/* Who is trusted sees all. */
	ask_table(l, SA_ATTR_NODE, 0);
	assert_int_equal(lab_count(l), l->v->n_by_guid);
	/* A link is seen with both of its ends. */
	lab_member(l, 1, lab_switch(l, l->v->ends[h[0]].sw),
		   PARTITION_FULL);
	lab_publish(l);
	lab_begin_by_lid(l, SA_METHOD_GET_TABLE, SA_ATTR_LINK, 1, h[0]);
	lab_distrust(l);
	assert_records_from(l, h[0], 1);
	assert_records_from(l, h[5], 0);
}

TEST(test_keys_are_for_the_trusted, lab_set_up, lab_tear_down)
{
	uint32_t a;
	struct lab *l = *state;

	a = lab_host(l, 1);
	l->s->ports[a].info.m_key = 0x99;
	lab_publish(l);
	lab_begin_by_lid(l, MAD_METHOD_GET, SA_ATTR_PORT_INFO, 1, a);
	assert_int_equal(lab_ask(l), 0);
	assert_true(lab_get(lab_answer(l) + 4, 8) == 0x99);
	lab_distrust(l);
	assert_int_equal(lab_ask(l), 0);
	assert_true(lab_get(lab_answer(l) + 4, 8) == 0);
	/* Nor can it be found out by asking for it. */
	lab_put(l->mad + 48, 1 | SA_BIT(3), 8);
	lab_put(lab_data(l) + 4, 0x99, 8);
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_PKEY_TABLE, 0);
	assert_int_equal(lab_ask(l), 0);
	lab_distrust(l);
	assert_int_equal(lab_ask(l), SA_STATUS_REQ_INVALID);
	/* That of an SM is for nobody. */
	fill_stores(l);
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_SM_INFO, 1);
	lab_put(lab_data(l), 2, 2);
	assert_int_equal(lab_ask(l), 0);
	assert_true(lab_get(lab_answer(l) + 4, 8) == 6);
	assert_true(lab_get(lab_answer(l) + 12, 8) == 0);
}
