// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Many paths of the SA: all of a fabric, LMC, partitions, to groups,
 * MultiPathRecord.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sa_lab.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define TREE	"PGFT(3,4;1,3)"	/* 12 hosts, 4 leaves, 3 spines */

TEST(test_all_paths_are_streamed, lab_set_up, lab_tear_down)
{
	unsigned n_end;
	struct lab *l = *state;

	n_end = l->v->n_by_guid;
	assert_int_equal(n_end, 12 + 4 + 3);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, 0);
	assert_int_equal(lab_ask(l), 0);
	/* The fabric may change in the middle of an answer. */
	sa_publish(l->sa, NULL, LAB_NOW);
	assert_int_equal(lab_count(l), n_end * n_end);
}

/* Rules at random: three partitions, any membership, an SL each. */
static void
shuffle_rules(struct lab *l, uint64_t *rng)
{
	lab_clear_rules(l);
	for (uint16_t pkey = 1; pkey <= 3; pkey++) {
		partition_rules_get(l->rules, pkey)->sl =
			(uint8_t)prng_below(rng, 3);
		for (uint32_t i = 0; i < l->v->n_by_guid; i++)
			if (prng_below(rng, 3))
				lab_member(l, pkey, l->v->by_guid[i],
					   1 + prng_below(rng, 3));
	}
}

static uint64_t
shuffle_wish(struct path_record *want, uint64_t *rng)
{
	*want = (struct path_record){
		.reversible = prng_below(rng, 2),
		.pkey = (uint16_t)((1 + prng_below(rng, 3)) |
				   prng_below(rng, 2) << 15),
		.sl = (uint8_t)prng_below(rng, 3),
		.numb_path = 127,
		.mtu_selector = (uint8_t)prng_below(rng, 4),
		.mtu = (uint8_t)(3 + prng_below(rng, 4)),
		.rate_selector = (uint8_t)prng_below(rng, 4),
		.rate = (uint8_t)(2 + prng_below(rng, 18)),
		.life_selector = (uint8_t)prng_below(rng, 4),
		.life = (uint8_t)(17 + prng_below(rng, 3)),
	};
	return prng_next(rng) & prng_next(rng) &
		(SA_BIT(PATH_REVERSIBLE) | SA_BIT(PATH_PKEY) |
		 SA_BIT(PATH_SL) | SA_BIT(PATH_NUMB_PATH) |
		 UINT64_C(0x3f) << PATH_MTU_SELECTOR);
}

/* Ports with which nothing can begin are passed over when all paths are asked
 * for: the answer must be what the pairs say one by one. */
TEST(test_all_paths_are_those_of_all_pairs)
{
	uint64_t rng = prng_stream(77, 0), mask;
	unsigned n, k, total = 0, empty = 0;
	struct path_record want;
	GByteArray *all, *one;
	struct lab l;

	printf("# seed 77\n");
	lab_open(&l, "PGFT(2,3;1,2)", 1);
	lab_slow_down(&l, lab_host(&l, 1));
	l.s->ports[lab_host(&l, 2)].info.mtu_cap = 4;
	l.s->ports[lab_host(&l, 3)].info.state = PORT_STATE_ARMED;
	for (unsigned round = 0; round < 120; round++) {
		size_t at = 0;

		if (round % 10 == 0) {
			shuffle_rules(&l, &rng);
			lab_publish(&l);
		}
		mask = shuffle_wish(&want, &rng);
		lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, mask);
		path_record_encode(lab_data(&l), &want);
		assert_int_equal(lab_ask(&l), 0);
		all = lab_drain(&l, &n);
		for (uint32_t i = 0; i < l.v->n_by_guid; i++)
			for (uint32_t j = 0; j < l.v->n_by_guid; j++) {
				lab_want_path(&l, SA_METHOD_GET_TABLE,
					      l.v->by_guid[i],
					      l.v->by_guid[j], mask, &want);
				lab_ask(&l);
				one = lab_drain(&l, &k);
				assert_true(at + one->len <= all->len);
				if (k)
					assert_memory_equal(all->data + at,
							    one->data,
							    one->len);
				at += one->len;
				g_byte_array_unref(one);
			}
		assert_int_equal(at, all->len);
		total += n;
		empty += n == 0;
		g_byte_array_unref(all);
	}
	assert_true(total > 1000 && empty > 0);
	lab_close(&l);
}

TEST(test_lmc_gives_as_many_paths)
{
	struct path_record want = { .numb_path = 3 }, r;
	uint32_t a, b;
	GByteArray *all;
	unsigned n;
	struct lab l;

	lab_open(&l, TREE, 2);
	a = lab_host(&l, 0);
	b = lab_host(&l, 9);
	lab_want_path(&l, SA_METHOD_GET_TABLE, a, b, 0, NULL);
	lab_ask(&l);
	all = lab_drain(&l, &n);
	assert_int_equal(n, 4);
	for (unsigned i = 0; i < n; i++) {
		path_record_decode(all->data + 64 * i, &r);
		assert_int_equal(r.slid, lab_lid(&l, a) + i);
		assert_int_equal(r.dlid, lab_lid(&l, b) + i);
		assert_int_equal(r.preference, i);
	}
	g_byte_array_unref(all);
	lab_want_path(&l, SA_METHOD_GET_TABLE, a, b, SA_BIT(PATH_NUMB_PATH),
		      &want);
	assert_records(&l, 3);
	want.numb_path = 0;
	lab_want_path(&l, SA_METHOD_GET_TABLE, a, b, SA_BIT(PATH_NUMB_PATH),
		      &want);
	assert_records(&l, 0);
	/* One LID named: it stays. */
	want.slid = (uint16_t)(lab_lid(&l, a) + 2);
	lab_want_path(&l, SA_METHOD_GET_TABLE, a, b, SA_BIT(PATH_SLID),
		      &want);
	lab_ask(&l);
	all = lab_drain(&l, &n);
	assert_int_equal(n, 4);
	path_record_decode(all->data + 64, &r);
	assert_int_equal(r.slid, lab_lid(&l, a) + 2);
	assert_int_equal(r.dlid, lab_lid(&l, b) + 1);
	g_byte_array_unref(all);
	lab_close(&l);
}

/* Of several paths the best comes first, and is what Get gets. */
TEST(test_better_paths_come_first)
{
	uint32_t a, b, leaf, first;
	struct path_record want = { 0 }, r, last;
	unsigned n, slow = 0;
	GByteArray *all;
	struct lab l;

	lab_open(&l, TREE, 2);
	a = lab_host(&l, 0);
	b = lab_host(&l, 11);
	leaf = l.v->ends[a].sw;
	first = l.s->nodes[l.s->switches[leaf]].first_port;
	/* The cable that the first LID pair goes by is slow. */
	lab_slow_down(&l, first + lft_row(l.lft, leaf)[lab_lid(&l, b)]);
	lab_publish(&l);
	lab_want_path(&l, SA_METHOD_GET_TABLE, a, b, 0, NULL);
	lab_ask(&l);
	all = lab_drain(&l, &n);
	assert_int_equal(n, 4);
	for (unsigned i = 0; i < n; i++) {
		path_record_decode(all->data + 64 * i, &r);
		assert_int_equal(r.preference, i);
		slow += r.rate == LAB_RATE_40;
		if (i) {
			assert_true(sa_rate_compare(last.rate, r.rate) >= 0);
			if (last.rate == r.rate)
				assert_true(last.dlid < r.dlid);
		}
		last = r;
	}
	assert_true(slow > 0 && slow < 4);
	g_byte_array_unref(all);
	/* One of them may be asked for. */
	want.preference = 2;
	assert_int_equal(lab_get_path(&l, a, b, SA_BIT(22), &want, &r), 0);
	assert_int_equal(r.preference, 2);
	want.preference = 4;
	assert_int_equal(lab_get_path(&l, a, b, SA_BIT(22), &want, &r),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lab_get_path(&l, a, b, 0, NULL, &r), 0);
	assert_int_equal(r.rate, LAB_RATE_100);
	assert_true(r.dlid != lab_lid(&l, b));
	lab_close(&l);
}

/* ------------------------------------------------------------- partitions */

/* Two tenants: each sees itself only; limited members meet full ones only. */
TEST(test_partitions_are_obeyed, lab_set_up, lab_tear_down)
{
	struct path_record want = { .pkey = 0x8001 }, r;
	uint64_t by_pkey = SA_BIT(PATH_PKEY);
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
	assert_int_equal(lab_get_path(l, h[0], h[1], 0, NULL, &r), 0);
	assert_int_equal(r.pkey, 0x8001);
	assert_int_equal(lab_get_path(l, h[0], h[2], by_pkey, &want, &r), 0);
	assert_int_equal(lab_get_path(l, h[2], h[0], 0, NULL, &r), 0);
	assert_int_equal(r.pkey, 0x0001);
	assert_int_equal(lab_get_path(l, h[2], h[3], 0, NULL, &r),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lab_get_path(l, h[0], h[5], 0, NULL, &r),
			 SA_STATUS_NO_RECORDS);
	want.pkey = 0x8002;
	assert_int_equal(lab_get_path(l, h[0], h[1], by_pkey, &want, &r),
			 SA_STATUS_NO_RECORDS);
	/* A stranger learns of no path of others. */
	lab_want_path(l, SA_METHOD_GET_TABLE, h[0], h[1], 0, NULL);
	lab_distrust(l);
	assert_records_from(l, h[5], 0);
	assert_records_from(l, h[1], 1);
	/* Nor of one that leads out of its own partition. */
	lab_member(l, 2, h[0], PARTITION_FULL);
	lab_publish(l);
	lab_want_path(l, SA_METHOD_GET_TABLE, h[0], h[5], 0, NULL);
	assert_records_from(l, h[1], 1);
	lab_distrust(l);
	assert_records_from(l, h[1], 0);
}

/* Nobody may talk to anybody: each pair is looked at in vain, but never many
 * at a time. */
TEST(test_search_in_vain_pauses)
{
	unsigned pauses = 0, n_end, records = 0;
	uint8_t record[SA_DATA_LEN];
	struct sa_request request;
	enum sa_draw drawn;
	struct lab l;

	lab_open(&l, "PGFT(9,9;1,9)", 0);	/* 81 hosts, 18 switches */
	n_end = l.v->n_by_guid;
	lab_clear_rules(&l);
	for (unsigned i = 0; i < n_end; i++)
		lab_member(&l, 1, l.v->by_guid[i], PARTITION_LIMITED);
	lab_publish(&l);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, 0);
	assert_int_equal(lab_ask(&l), 0);
	while ((drawn = sa_records_draw(l.reply.records, record)) !=
	       SA_DRAW_END) {
		pauses += drawn == SA_DRAW_PAUSE;
		records += drawn == SA_DRAW_RECORD;
	}
	assert_int_equal(records, 0);
	assert_in_range(pauses, n_end * n_end / 1100, n_end * n_end / 1000);
	/* Get looks for one, and one more. */
	lab_begin(&l, MAD_METHOD_GET, SA_ATTR_PATH, 0);
	request = (struct sa_request){
		.mad = l.mad, .len = MAD_SIZE, .now = LAB_NOW,
		.slid = lab_lid(&l, lab_host(&l, 0)),
	};
	sa_records_free(l.reply.records);
	sa_answer(l.sa, &request, &l.reply);
	for (pauses = 0; l.reply.kind == SA_REPLY_LATER; pauses++)
		sa_resume(l.sa, &l.reply);
	assert_in_range(pauses, n_end * n_end / 1100, n_end * n_end / 1000);
	assert_int_equal(l.reply.kind, SA_REPLY_ONE);
	assert_int_equal(lab_get(l.reply.mad + 4, 2), SA_STATUS_NO_RECORDS);
	/* A full member far down the list: found all the same. */
	lab_member(&l, 1, l.v->by_guid[n_end - 1], PARTITION_FULL);
	lab_publish(&l);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, 0);
	assert_records(&l, 2 * (n_end - 1) + 1);
	lab_close(&l);
}

/* -------------------------------------------------------------- multicast */

static unsigned
ask_group(struct lab *l, uint64_t mask, const struct path_record *more)
{
	struct path_record r = *more;

	lab_put(r.dgid, UINT64_C(0xff12401bffff0000), 8);
	lab_put(r.dgid + 8, 0x00000000ffffffff, 8);
	lab_begin(l, MAD_METHOD_GET, SA_ATTR_PATH, mask);
	path_record_encode(lab_data(l), &r);
	return lab_ask(l);
}

TEST(test_path_to_a_group_is_the_groups, lab_set_up, lab_tear_down)
{
	struct path_record want = { .dlid = 0xc000 }, r;
	uint64_t by_gid = SA_BIT(PATH_DGID), by_lid = SA_BIT(PATH_DLID);
	struct lab *l = *state;

	assert_int_equal(ask_group(l, by_gid, &want), 0);
	path_record_decode(lab_answer(l), &r);
	assert_int_equal(r.dlid, 0xc000);
	assert_int_equal(r.slid, lab_lid(l, lab_host(l, 0)));
	assert_int_equal(r.dgid[0], 0xff);
	assert_int_equal(r.mtu, 4);
	assert_int_equal(r.rate, 3);
	assert_int_equal(r.pkey, 0xffff);
	assert_int_equal(ask_group(l, by_lid, &want), 0);
	assert_int_equal(ask_group(l, by_lid | by_gid, &want), 0);
	lab_want_path(l, MAD_METHOD_GET, lab_host(l, 0), lab_host(l, 1),
		      by_lid, &want);
	assert_int_equal(lab_ask(l), SA_STATUS_NO_RECORDS);
	want.dlid = 0xc001;
	assert_int_equal(ask_group(l, by_lid, &want), SA_STATUS_NO_RECORDS);
	assert_int_equal(ask_group(l, by_lid | by_gid, &want),
			 SA_STATUS_NO_RECORDS);
}

/* What the group has cannot be changed: it fits or not. */
TEST(test_path_to_a_group_fits_or_not, lab_set_up, lab_tear_down)
{
	static const struct {
		uint64_t mask;
		struct path_record want;
		bool fits;
	} wishes[] = {
		{ SA_BIT(PATH_PKEY), { .pkey = 0xffff }, true },
		{ SA_BIT(PATH_PKEY), { .pkey = 0x8001 }, false },
		{ SA_BIT(PATH_SL), { .sl = 0 }, true },
		{ SA_BIT(PATH_SL), { .sl = 1 }, false },
		{ SA_BIT(PATH_TCLASS), { .tclass = 1 }, false },
		{ SA_BIT(PATH_FLOW_LABEL), { .flow_label = 1 }, false },
		{ SA_BIT(PATH_RAW), { .raw = true }, false },
		{ UINT64_C(3) << PATH_MTU_SELECTOR,
		  { .mtu_selector = SA_EXACTLY, .mtu = 4 }, true },
		{ UINT64_C(3) << PATH_MTU_SELECTOR,
		  { .mtu_selector = SA_EXACTLY, .mtu = 3 }, false },
		{ UINT64_C(3) << PATH_MTU_SELECTOR,
		  { .mtu_selector = SA_LESS, .mtu = 5 }, true },
		{ UINT64_C(3) << PATH_RATE_SELECTOR,
		  { .rate_selector = SA_GREATER, .rate = 2 }, true },
		{ UINT64_C(3) << PATH_RATE_SELECTOR,
		  { .rate_selector = SA_GREATER, .rate = 3 }, false },
		{ UINT64_C(3) << PATH_LIFE_SELECTOR,
		  { .life_selector = SA_GREATER, .life = 62 }, false },
	};
	struct path_record want = { 0 };
	struct lab *l = *state;

	for (size_t i = 0; i < G_N_ELEMENTS(wishes); i++)
		assert_int_equal(ask_group(l, wishes[i].mask |
					   SA_BIT(PATH_DGID),
					   &wishes[i].want), wishes[i].fits ?
				 0 : SA_STATUS_NO_RECORDS);
	assert_int_equal(ask_group(l, SA_BIT(PATH_DGID) | SA_BIT(40), &want),
			 SA_STATUS_REQ_INVALID);
	/* The source is nobody's; somebody's. */
	assert_int_equal(ask_group(l, SA_BIT(PATH_DGID) | SA_BIT(PATH_SGID),
				   &want), SA_STATUS_INVALID_GID);
	lab_gid(l, lab_host(l, 3), want.sgid);
	assert_int_equal(ask_group(l, SA_BIT(PATH_DGID) | SA_BIT(PATH_SGID),
				   &want), 0);
}

/* ------------------------------------------------------- MultiPathRecord */

static void
want_multi(struct lab *l, uint64_t mask, const struct multi_path_record *r)
{
	uint8_t *gids = lab_data(l) + MULTI_PATH_GIDS_OFFSET;

	lab_begin(l, SA_METHOD_GET_MULTI, SA_ATTR_MULTI_PATH, mask |
		  SA_BIT(MULTI_SGID_COUNT) | SA_BIT(MULTI_DGID_COUNT));
	sa_record_encode(SA_ATTR_MULTI_PATH, lab_data(l), r);
	for (unsigned i = 0; i < 5; i++)
		lab_gid(l, lab_host(l, i), gids + 16 * i);
}

TEST(test_multi_path_joins_lists_of_gids)
{
	struct multi_path_record r = {
		.path = { .numb_path = 1, .sl = 1 },
		.n_sgids = 2, .n_dgids = 3,
	};
	struct path_record path;
	GByteArray *all;
	unsigned n;
	struct lab l;

	lab_open(&l, TREE, 1);
	want_multi(&l, 0, &r);
	assert_int_equal(lab_ask(&l), 0);
	assert_int_equal(l.reply.mad[3], 0x94);
	assert_int_equal(lab_get(l.reply.mad + 16, 2), SA_ATTR_PATH);
	assert_int_equal(lab_get(l.reply.mad + 44, 2), 8);
	assert_int_equal(sa_records_size(l.reply.records), 64);
	assert_int_equal(lab_count(&l), 2 * 3 * 2);
	want_multi(&l, SA_BIT(MULTI_NUMB_PATH), &r);
	assert_int_equal(lab_ask(&l), 0);
	all = lab_drain(&l, &n);
	assert_int_equal(n, 2 * 3);
	path_record_decode(all->data + 64 * 5, &path);
	assert_int_equal(path.slid, lab_lid(&l, lab_host(&l, 1)));
	assert_int_equal(path.dlid, lab_lid(&l, lab_host(&l, 4)));
	g_byte_array_unref(all);
	/* No partition has this SL. */
	want_multi(&l, SA_BIT(MULTI_SL), &r);
	assert_records(&l, 0);
	lab_close(&l);
}

TEST(test_multi_path_of_bad_lists_is_refused, lab_set_up, lab_tear_down)
{
	struct multi_path_record r = { .n_sgids = 2, .n_dgids = 3 };
	struct lab *l = *state;

	/* More GIDs than there are bytes; none at all; not said how many. */
	want_multi(l, 0, &r);
	lab_data(l)[15] = 200;
	assert_int_equal(lab_ask(l), SA_STATUS_REQ_INVALID);
	lab_data(l)[15] = 0;
	assert_int_equal(lab_ask(l), SA_STATUS_INSUFFICIENT);
	want_multi(l, 0, &r);
	lab_put(l->mad + 48, SA_BIT(MULTI_SGID_COUNT), 8);
	assert_int_equal(lab_ask(l), SA_STATUS_INSUFFICIENT);
	want_multi(l, 0, &r);
	lab_data(l)[MULTI_PATH_GIDS_OFFSET + 16 * 4 + 15] ^= 0x55;
	assert_int_equal(lab_ask(l), SA_STATUS_INVALID_GID);
	want_multi(l, SA_BIT(40), &r);
	assert_int_equal(lab_ask(l), SA_STATUS_REQ_INVALID);
	/* It has no Get, and paths have no GetMulti. */
	want_multi(l, 0, &r);
	l->mad[3] = MAD_METHOD_GET;
	assert_int_equal(lab_ask(l), MAD_STATUS_BAD_ATTRIBUTE);
	lab_begin(l, SA_METHOD_GET_MULTI, SA_ATTR_PATH, 0);
	assert_int_equal(lab_ask(l), MAD_STATUS_BAD_ATTRIBUTE);
}
