// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A path of the SA: against the tables, what its ends are, what it carries,
 * selectors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define TREE	"PGFT(3,4;1,3)"	/* 12 hosts, 4 leaves, 3 spines */

TEST(test_path_is_what_the_fabric_has, lab_set_up, lab_tear_down)
{
	struct path_record r;
	struct lab *l = *state;
	uint32_t a, b;

	a = lab_host(l, 0);
	b = lab_host(l, 11);
	assert_int_equal(lab_get_path(l, a, b, 0, NULL, &r), 0);
	assert_int_equal(r.slid, lab_lid(l, a));
	assert_int_equal(r.dlid, lab_lid(l, b));
	assert_int_equal(r.pkey, 0xffff);
	assert_int_equal(r.mtu, 5);
	assert_int_equal(r.mtu_selector, SA_EXACTLY);
	assert_int_equal(r.rate, LAB_RATE_100);
	assert_int_equal(r.rate_selector, SA_EXACTLY);
	assert_int_equal(r.life, LAB_LIFE);
	assert_int_equal(r.life_selector, SA_EXACTLY);
	assert_true(r.reversible);
	assert_int_equal(r.preference, 0);
	/* To itself. */
	assert_int_equal(lab_get_path(l, a, a, 0, NULL, &r), 0);
	assert_int_equal(r.dlid, r.slid);
	assert_int_equal(r.life, 0);
	assert_true(r.reversible);
}

TEST(test_ends_are_named_by_gid_or_lid, lab_set_up, lab_tear_down)
{
	struct path_record want = { 0 }, r;
	struct lab *l = *state;
	uint32_t a, b, c;

	a = lab_host(l, 0);
	b = lab_host(l, 11);
	c = lab_host(l, 5);
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_PATH, SA_BIT(PATH_DLID) |
		  SA_BIT(PATH_SLID));
	lab_put(lab_data(l) + 40, lab_lid(l, b), 2);
	lab_put(lab_data(l) + 42, lab_lid(l, a), 2);
	assert_int_equal(lab_ask(l), 0);
	path_record_decode(lab_answer(l), &r);
	assert_true(lab_get(r.sgid + 8, 8) == l->s->ports[a].guid);
	assert_true(lab_get(r.dgid + 8, 8) == l->s->ports[b].guid);
	/* Both, and they agree or not. */
	want.dlid = lab_lid(l, b);
	assert_int_equal(lab_get_path(l, a, b, SA_BIT(PATH_DLID), &want,
				      &r), 0);
	want.dlid = lab_lid(l, c);
	assert_int_equal(lab_get_path(l, a, b, SA_BIT(PATH_DLID), &want, &r),
			 SA_STATUS_NO_RECORDS);
	want.slid = 0xbfff;
	assert_int_equal(lab_get_path(l, a, b, SA_BIT(PATH_SLID), &want, &r),
			 SA_STATUS_NO_RECORDS);
	/* Nobody has this GID, as a destination or a source. */
	lab_want_path(l, MAD_METHOD_GET, a, b, 0, NULL);
	lab_data(l)[8 + 15] ^= 0x55;
	assert_int_equal(lab_ask(l), SA_STATUS_INVALID_GID);
	lab_want_path(l, MAD_METHOD_GET, a, b, 0, NULL);
	lab_data(l)[24] = 0x20;
	assert_int_equal(lab_ask(l), SA_STATUS_INVALID_GID);
	/* One end open: a path for each port. */
	lab_want_path(l, SA_METHOD_GET_TABLE, a, b, 0, NULL);
	lab_put(l->mad + 48, SA_BIT(PATH_SGID), 8);
	assert_records(l, l->v->n_by_guid);
	lab_put(l->mad + 48, SA_BIT(PATH_DGID), 8);
	assert_records(l, l->v->n_by_guid);
	l->mad[3] = MAD_METHOD_GET;
	assert_int_equal(lab_ask(l), SA_STATUS_TOO_MANY);
}

TEST(test_both_prefixes_name_a_port, lab_set_up, lab_tear_down)
{
	struct path_record r;
	struct lab *l = *state;

	l->prefix = UINT64_C(0xfec0000000000001);
	lab_publish(l);
	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1), 0,
				      NULL, &r), 0);
	assert_true(lab_get(r.sgid, 8) == l->prefix);
	lab_put(lab_data(l) + 8, SA_GID_PREFIX_DEFAULT, 8);
	assert_int_equal(lab_ask(l), 0);
	path_record_decode(lab_answer(l), &r);
	assert_true(lab_get(r.dgid, 8) == l->prefix);
	lab_put(lab_data(l) + 8, UINT64_C(0xfec0000000000002), 8);
	assert_int_equal(lab_ask(l), SA_STATUS_INVALID_GID);
}

/* Hop by hop from the switch: false: the tables do not lead to the port. */
static bool
naive_walk(const struct lab *l, uint32_t sw, uint32_t to, unsigned *mtu,
	   unsigned *mbps)
{
	const struct snapshot *s = l->s;

	for (unsigned hops = 0; hops < s->n_switches; hops++) {
		const struct snapshot_node *n = &s->nodes[s->switches[sw]];
		uint8_t num = lft_row(l->lft, sw)[l->lids->base[to]];
		uint32_t out = n->first_port + num, peer;

		if (num > n->info.num_ports)
			return false;
		if (num == 0)
			return to == out;
		peer = s->ports[out].peer;
		if (peer == SNAPSHOT_NONE ||
		    s->ports[out].info.state != PORT_STATE_ACTIVE ||
		    s->ports[peer].info.state != PORT_STATE_ACTIVE)
			return false;
		*mtu = MIN(*mtu, MIN(s->ports[out].info.mtu_cap,
				     s->ports[peer].info.mtu_cap));
		*mbps = MIN(*mbps, MIN(
			sa_rate_mbps(sa_rate_of(&s->ports[out].info)),
			sa_rate_mbps(sa_rate_of(&s->ports[peer].info))));
		sw = snapshot_node_of(s, peer)->sw_index;
		if (sw == SNAPSHOT_NONE)
			return peer == to;
	}
	return false;
}

/* From a host: what the way to another one carries. */
static bool
naive_path(const struct lab *l, uint32_t from, uint32_t to, unsigned *mtu,
	   unsigned *mbps)
{
	const struct snapshot_port *p = &l->s->ports[from];
	uint32_t sw = snapshot_node_of(l->s, p->peer)->sw_index;

	*mtu = MIN(p->info.mtu_cap, l->s->ports[p->peer].info.mtu_cap);
	*mbps = sa_rate_mbps(sa_rate_of(&p->info));
	return p->info.state == PORT_STATE_ACTIVE &&
		l->s->ports[p->peer].info.state == PORT_STATE_ACTIVE &&
		naive_walk(l, sw, to, mtu, mbps);
}

/* Between two hosts that are not the same. A reversible path carries what both
 * ways carry. */
static void
check_path(struct lab *l, uint32_t from, uint32_t to)
{
	const struct path_record yes = { .reversible = true }, no = { 0 };
	uint64_t mask = SA_BIT(PATH_REVERSIBLE);
	unsigned mtu, mtu_back, mbps, mbps_back, status;
	bool there = naive_path(l, from, to, &mtu, &mbps);
	bool back = naive_path(l, to, from, &mtu_back, &mbps_back);
	struct path_record r;

	status = there ? 0 : SA_STATUS_NO_RECORDS;
	assert_int_equal(lab_get_path(l, from, to, mask, &no, &r), status);
	if (there) {
		assert_int_equal(r.mtu, mtu);
		assert_int_equal(sa_rate_mbps(r.rate), mbps);
	}
	assert_int_equal(lab_get_path(l, from, to, 0, NULL, &r), status);
	if (there) {
		assert_int_equal(r.reversible, back);
		assert_int_equal(r.mtu, back ? MIN(mtu, mtu_back) : mtu);
		assert_int_equal(sa_rate_mbps(r.rate), back ?
				 MIN(mbps, mbps_back) : mbps);
	}
	assert_int_equal(lab_get_path(l, from, to, mask, &yes, &r),
			 there && back ? 0 : SA_STATUS_NO_RECORDS);
}

/* Slow cables, small MTUs, cables that are not up, and entries of the tables
 * that lead anywhere. */
TEST(test_paths_are_what_a_walk_finds)
{
	uint64_t rng = prng_stream(71, 0);
	struct lab l;

	printf("# seed 71\n");
	for (unsigned round = 0; round < 30; round++) {
		lab_open(&l, TREE, 0);
		for (unsigned i = 0; i < round % 5; i++)
			l.s->ports[prng_below(&rng, l.s->n_ports)]
				.info.mtu_cap = (uint8_t)
				(1 + prng_below(&rng, 5));
		for (unsigned i = 0; i < round % 4; i++)
			lab_slow_down(&l, lab_host(&l, prng_below(&rng, 12)));
		if (round % 3 == 1)
			lab_slow_down(&l, lab_switch(&l, 0) + 1 +
				      prng_below(&rng, 6));
		if (round % 3 == 2)
			l.s->ports[lab_host(&l, prng_below(&rng, 12))]
				.info.state = PORT_STATE_ARMED;
		for (unsigned i = 0; i < round % 7; i++)
			lft_row(l.lft, prng_below(&rng, l.s->n_switches))
				[1 + prng_below(&rng, l.lft->top)] =
				(uint8_t)prng_below(&rng, 8);
		lab_publish(&l);
		for (unsigned i = 0; i < 12 * 12; i++)
			if (i / 12 != i % 12)
				check_path(&l, lab_host(&l, i / 12),
					   lab_host(&l, i % 12));
		lab_close(&l);
	}
}

/* Routing engines need not lead from each port 0 to each other. */
TEST(test_between_switches_the_tables_decide, lab_set_up, lab_tear_down)
{
	struct path_record r;
	uint32_t a, b;
	struct lab *l = *state;

	a = lab_switch(l, 0);
	b = lab_switch(l, 1);
	lft_row(l->lft, 0)[lab_lid(l, b)] = LFT_NO_PATH;
	lab_publish(l);
	assert_int_equal(lab_get_path(l, a, b, 0, NULL, &r),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lab_get_path(l, a, lab_host(l, 3), 0, NULL, &r), 0);
	assert_int_equal(r.rate, LAB_RATE_100);
	assert_int_equal(lab_get_path(l, a, a, 0, NULL, &r), 0);
}

TEST(test_fabric_without_a_switch_has_paths)
{
	struct path_record r;
	struct lab l;

	lab_open(&l, "pair()", 0);
	assert_int_equal(lab_get_path(&l, lab_host(&l, 0), lab_host(&l, 1), 0,
				      NULL, &r), 0);
	assert_true(r.reversible);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, 0);
	assert_records(&l, 4);
	lab_close(&l);
}

struct choice {
	uint8_t selector, want;
	uint8_t offered;	/* NONE: no path */
};
#define NONE	0xffu

/* The mask of the selector's bit and the value's behind it. */
static void
check_choices(struct lab *l, unsigned selector_bit, const struct choice *c,
	      size_t n)
{
	uint64_t value = SA_BIT(selector_bit + 1);
	uint32_t a = lab_host(l, 0), b = lab_host(l, 9);
	struct path_record want, r;
	unsigned status;

	for (; n--; c++) {
		want = (struct path_record){
			.mtu_selector = c->selector, .mtu = c->want,
			.rate_selector = c->selector, .rate = c->want,
			.life_selector = c->selector, .life = c->want,
		};
		status = lab_get_path(l, a, b, SA_BIT(selector_bit) | value,
				      &want, &r);
		assert_int_equal(status, c->offered == NONE ?
				 SA_STATUS_NO_RECORDS : 0);
		if (!status)
			assert_int_equal(selector_bit == PATH_MTU_SELECTOR ?
					 r.mtu : selector_bit ==
					 PATH_RATE_SELECTOR ? r.rate : r.life,
					 c->offered);
		/* Neither asks for anything without the other. */
		assert_int_equal(lab_get_path(l, a, b, value, &want, &r), 0);
		assert_int_equal(lab_get_path(l, a, b, SA_BIT(selector_bit),
					      &want, &r), 0);
	}
}

TEST(test_selectors_have_four_meanings, lab_set_up, lab_tear_down)
{
	static const struct choice mtus[] = {	/* the way has 5 */
		{ SA_GREATER, 4, 5 }, { SA_GREATER, 5, NONE },
		{ SA_LESS, 5, 4 }, { SA_LESS, 1, NONE }, { SA_LESS, 3, 2 },
		{ SA_LESS, 6, 5 }, { SA_LESS, 0, NONE },
		{ SA_EXACTLY, 5, 5 }, { SA_EXACTLY, 2, 2 },
		{ SA_EXACTLY, 6, NONE }, { SA_EXACTLY, 0, NONE },
		{ SA_LARGEST, 1, 5 },
	}, rates[] = {		/* 16: 100 Gb/s; 9: 80; 12: 56; 17: 168 */
		{ SA_GREATER, 12, 16 }, { SA_GREATER, 16, NONE },
		{ SA_GREATER, 17, NONE }, { SA_LESS, 16, 9 },
		{ SA_LESS, 2, NONE }, { SA_LESS, 17, 16 },
		{ SA_EXACTLY, 3, 3 }, { SA_EXACTLY, 17, NONE },
		{ SA_EXACTLY, 1, NONE }, { SA_LARGEST, 2, 16 },
	}, lives[] = {		/* the way has 18 */
		{ SA_GREATER, 17, 18 }, { SA_GREATER, 18, 19 },
		{ SA_GREATER, 63, NONE }, { SA_LESS, 19, 18 },
		{ SA_LESS, 18, NONE }, { SA_EXACTLY, 18, 18 },
		{ SA_EXACTLY, 20, 20 }, { SA_EXACTLY, 17, NONE },
		{ SA_LARGEST, 1, 18 },
	};
	struct lab *l = *state;

	check_choices(l, PATH_MTU_SELECTOR, mtus, G_N_ELEMENTS(mtus));
	check_choices(l, PATH_RATE_SELECTOR, rates, G_N_ELEMENTS(rates));
	check_choices(l, PATH_LIFE_SELECTOR, lives, G_N_ELEMENTS(lives));
}

TEST(test_what_is_the_clients_choice_comes_back, lab_set_up, lab_tear_down)
{
	struct path_record want = {
		.service_id = UINT64_C(0x1122334455667788),
		.flow_label = 0x12345, .hop_limit = 7, .tclass = 9,
		.numb_path = 1, .qos_class = 0x123,
	}, r;
	struct lab *l = *state;

	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1), 3 |
				      SA_BIT(PATH_FLOW_LABEL) |
				  SA_BIT(PATH_HOP_LIMIT) |
				  SA_BIT(PATH_TCLASS) |
				  SA_BIT(PATH_NUMB_PATH) |
				  SA_BIT(PATH_QOS_CLASS), &want, &r), 0);
	assert_true(r.service_id == want.service_id);
	assert_int_equal(r.flow_label, want.flow_label);
	assert_int_equal(r.hop_limit, 7);
	assert_int_equal(r.tclass, 9);
	/* how many are wanted is no property of one of them */
	assert_int_equal(r.numb_path, 0);
	assert_int_equal(r.qos_class, 0x123);
	/* Without the mask they are zero. */
	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1), 0,
				      &want, &r), 0);
	assert_true(r.service_id == 0);
	assert_int_equal(r.flow_label | r.hop_limit | r.tclass, 0);
}

TEST(test_raw_traffic_is_none, lab_set_up, lab_tear_down)
{
	struct path_record want = { .raw = true }, r;
	struct lab *l = *state;

	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1),
				      SA_BIT(PATH_RAW), &want, &r),
			 SA_STATUS_NO_RECORDS);
	want.raw = false;
	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1),
				      SA_BIT(PATH_RAW), &want, &r), 0);
	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1),
				      SA_BIT(40), &want, &r),
			 SA_STATUS_REQ_INVALID);
}

/* As Linux's IPoIB does after the groups were flushed: its answer is its next
 * question, NumbPath 0 included. */
TEST(test_an_answer_is_the_next_query, lab_set_up, lab_tear_down)
{
	uint64_t mask = SA_BIT(PATH_TCLASS) | SA_BIT(PATH_NUMB_PATH) |
		SA_BIT(PATH_PKEY);
	struct path_record want = { .numb_path = 1, .pkey = 0xffff }, r, again;
	struct lab *l = *state;

	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1),
				      mask, &want, &r), 0);
	assert_int_equal(lab_get_path(l, lab_host(l, 0), lab_host(l, 1),
				      mask, &r, &again), 0);
	assert_int_equal(again.dlid, r.dlid);
	assert_int_equal(again.pkey, 0xffff);
	assert_int_equal(again.numb_path, 0);
}
