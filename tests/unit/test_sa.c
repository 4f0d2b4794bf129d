// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subnet administration as a whole. What is asked and answered is in
 * tests/scripts/sa.scn, sa_path.scn, sa_tables.scn and sa_state.scn (words:
 * sa_stage.h). Here is what takes chance: every attribute by every mask against
 * a plain filter, paths against a walk of the tables, all paths against those
 * of all pairs; and what takes more than one request and its answer.
 */

#include "sm/sa/mcmember.h"
#include "tests/lib/sa_stage.h"
#include "topology/prng.h"

#define TREE	"PGFT(3,4;1,3)"	/* 12 hosts, 4 leaves, 3 spines */

SCRIPT(sa, "sa.scn", sa_words, sa_stage_set_up,
       sa_stage_tear_down)
SCRIPT(sa_path, "sa_path.scn", sa_words, sa_stage_set_up, sa_stage_tear_down)
SCRIPT(sa_tables, "sa_tables.scn", sa_words, sa_stage_set_up,
       sa_stage_tear_down)
SCRIPT(sa_state, "sa_state.scn", sa_words, sa_stage_set_up, sa_stage_tear_down)

/* -------------------------------------------------- masks against a filter */

static const unsigned table_attrs[] = {
	SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_SWITCH_INFO,
	SA_ATTR_LINEAR_FT, SA_ATTR_MULTICAST_FT, SA_ATTR_LINK,
	SA_ATTR_GUID_INFO, SA_ATTR_PKEY_TABLE, SA_ATTR_SM_INFO,
	SA_ATTR_MC_MEMBER, SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
};

static bool
naive_match(unsigned attr_id, uint64_t mask, const uint8_t *a, const uint8_t *b)
{
	unsigned n;
	const struct mad_field *f = sa_fields(attr_id, &n);

	/* of a CA's table the LID names the port, not the number */
	if (attr_id == SA_ATTR_PKEY_TABLE && b[4])
		mask &= ~SA_BIT(2);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = f[i].offset; mask >> i & 1 &&
		     f[i].kind != MAD_FIELD_RESERVED &&
		     k < f[i].offset + f[i].bits; k++)
			if ((a[k / 8] ^ b[k / 8]) &
			    (f[i].kind == MAD_FIELD_BITS ? a[k / 8] : 0xff) &
			    0x80 >> k % 8)
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
	g_autoptr(GByteArray) found = NULL;

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
	g_autoptr(GByteArray) all = NULL;
	uint64_t mask;

	lab_begin(l, SA_METHOD_GET_TABLE, attr_id, 0);
	assert_int_equal(lab_ask(l), 0);
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
}

static void
check_tables(struct lab *l, unsigned lmc, unsigned seed)
{
	uint64_t rng = prng_stream(seed, lmc);
	unsigned some = 0, none = 0;

	printf("# seed %u\n", seed);
	sa_lab_close(l);
	sa_lab_open(l, TREE, lmc);
	/* Two hosts are one system. */
	l->s->nodes[l->s->ports[lab_host(l, 7)].node].info.system_guid =
		l->s->nodes[l->s->ports[lab_host(l, 2)].node].info.system_guid;
	l->s->ports[lab_host(l, 4)].info.guid_cap = 20;
	l->mft = mft_new(l->s->n_switches, 3, 4);
	for (uint32_t i = 0; i < l->s->n_switches * 3 * 4 * MFT_BLOCK; i++)
		l->mft->masks[i] = (uint16_t)prng_below(&rng, 4);
	lab_publish(l);
	l->v->tables = port_tables_new(l->s);
	for (uint32_t i = 0; i < l->v->n_by_guid; i++)
		port_tables_set(l->v->tables, PORT_TABLE_PKEY, l->v->by_guid[i],
				0, &(union port_block){ .pkeys = { 0xffff } });
	unit_play(sa_words, l, "clients");
	for (size_t k = 0; k < G_N_ELEMENTS(table_attrs); k++)
		check_table(l, table_attrs[k], lmc == 0, &rng, &some, &none);
	assert_true(some > 200);
	if (lmc == 0)
		assert_true(none > 100);
}

TEST(test_every_mask_is_a_filter, sa_stage_set_up, sa_stage_tear_down)
{
	check_tables(*state, 0, 61);
	check_tables(*state, 1, 62);
}

/* --------------------------------------------------- paths against a walk */

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

/* A request for paths between two ports; `more` may be NULL. */
static void
want_path(struct lab *l, unsigned method, uint32_t from, uint32_t to,
	  uint64_t mask, const struct path_record *more)
{
	struct path_record r = more ? *more : (struct path_record){ 0 };

	lab_gid(l, from, r.sgid);
	lab_gid(l, to, r.dgid);
	lab_begin(l, method, SA_ATTR_PATH, mask | SA_BIT(PATH_SGID) |
		  SA_BIT(PATH_DGID));
	path_record_encode(lab_data(l), &r);
}

/* Gets one path; the status of the answer. */
static unsigned
get_path(struct lab *l, uint32_t from, uint32_t to, uint64_t comp_mask,
	 const struct path_record *more, struct path_record *out)
{
	unsigned status;

	want_path(l, MAD_METHOD_GET, from, to, comp_mask, more);
	status = lab_ask(l);
	path_record_decode(lab_answer(l), out);
	return status;
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
	assert_int_equal(get_path(l, from, to, mask, &no, &r), status);
	if (there) {
		assert_int_equal(r.mtu, mtu);
		assert_int_equal(sa_rate_mbps(r.rate), mbps);
	}
	assert_int_equal(get_path(l, from, to, 0, NULL, &r), status);
	if (there) {
		assert_int_equal(r.reversible, back);
		assert_int_equal(r.mtu, back ? MIN(mtu, mtu_back) : mtu);
		assert_int_equal(sa_rate_mbps(r.rate), back ?
				 MIN(mbps, mbps_back) : mbps);
	}
	assert_int_equal(get_path(l, from, to, mask, &yes, &r),
			 there && back ? 0 : SA_STATUS_NO_RECORDS);
}

/* Slow cables, small MTUs, cables that are not up, and entries of the tables
 * that lead anywhere. */
TEST(test_paths_are_what_a_walk_finds)
{
	uint64_t rng = prng_stream(71, 0);

	printf("# seed 71\n");
	for (unsigned round = 0; round < 30; round++) {
		AUTO_VALUE(sa_lab_close) struct lab l;

		sa_lab_open(&l, TREE, 0);
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
	}
}

/* ------------------------------------------ all paths against all pairs */

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
	AUTO_VALUE(sa_lab_close) struct lab l;

	printf("# seed 77\n");
	sa_lab_open(&l, "PGFT(2,3;1,2)", 1);
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
				want_path(&l, SA_METHOD_GET_TABLE,
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
}

/* -------------------------------------------- more than one request each */

TEST(test_all_paths_are_streamed, sa_stage_set_up, sa_stage_tear_down)
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

/* No port may talk to another: each pair is looked at in vain, but never many
 * at a time. */
TEST(test_search_in_vain_pauses)
{
	unsigned pauses = 0, n_end, records = 0;
	uint8_t record[SA_DATA_LEN];
	struct sa_request request;
	enum sa_draw drawn;
	AUTO_VALUE(sa_lab_close) struct lab l;

	sa_lab_open(&l, "PGFT(9,9;1,9)", 0);	/* 81 hosts, 18 switches */
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
		.mad = l.mad, .len = MAD_SIZE, .now = LAB_NOW, .qp = 1,
		.slid = lab_lid(&l, lab_host(&l, 0)),
	};
	sa_records_free(l.reply.records);
	sa_answer(l.sa, &request, &l.reply);
	for (pauses = 0; l.reply.kind == SA_REPLY_LATER; pauses++)
		sa_resume(&l.reply);
	assert_in_range(pauses, n_end * n_end / 1100, n_end * n_end / 1000);
	assert_int_equal(l.reply.kind, SA_REPLY_ONE);
	assert_int_equal(bytes_load(l.reply.mad + 4, 2), SA_STATUS_NO_RECORDS);
	/* A full member far down the list: found all the same. */
	lab_member(&l, 1, l.v->by_guid[n_end - 1], PARTITION_FULL);
	lab_publish(&l);
	lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, 0);
	assert_records(&l, 2 * (n_end - 1) + 1);
}

/* As many members as a large fabric has: no step looks at all of them, and what
 * comes and goes meanwhile is there once, or not. */
TEST(test_members_are_walked_in_turns, sa_stage_set_up, sa_stage_tear_down)
{
	struct group_member m = { .join_state = JOIN_FULL };
	unsigned pauses = 0, records = 0;
	struct lab *l = *state;
	enum sa_draw drawn;
	uint8_t record[56];
	struct group *g;

	assert_int_equal(sa_stage_ask(l, "Set MCMemberRecord Q_Key=1 SL=0 "
		"P_Key=0xffff TClass=0 FlowLabel=0 by=H-0 JoinState=1 "
		"MGID=ff12:a01c::1"), 0);
	g = l->sa->groups->all.list->pdata[l->sa->groups->all.list->len - 1];
	for (m.port_guid = 1; m.port_guid < 4000; m.port_guid++)
		sa_store_insert(&g->members, &m, sizeof(m));
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, SA_BIT(MCM_MGID));
	memcpy(lab_data(l), g->r.mgid, 16);
	assert_int_equal(lab_ask(l), 0);
	while ((drawn = sa_records_draw(l->reply.records, record)) !=
	       SA_DRAW_END) {
		pauses += drawn == SA_DRAW_PAUSE;
		if (drawn == SA_DRAW_RECORD && ++records == 1000) {
			/* the one before, the one behind */
			sa_store_remove(&g->members, 998);
			sa_store_remove(&g->members, 999);
		}
	}
	assert_int_equal(records, 4000 - 1);
	assert_int_equal(pauses, 3);
	/* one that is a member for another, asked by a port that is not trusted */
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER,
		  SA_BIT(MCM_JOIN_STATE) | SA_BIT(MCM_PROXY_JOIN));
	sa_set_sm_key(l->mad, 0);
	lab_data(l)[48] = JOIN_FULL;
	lab_data(l)[49] = 0x80;
	assert_int_equal(lab_ask(l), 0);
	while (sa_records_draw(l->reply.records, record) == SA_DRAW_PAUSE)
		pauses++;
	assert_int_equal(pauses, 3 + 3);
}

/* Groups change while a client reads the table: it goes on as it began. */
TEST(test_multicast_table_may_change_on_its_way, sa_stage_set_up,
     sa_stage_tear_down)
{
	AUTO(mft) *small = NULL;
	unsigned n = 0;
	uint8_t record[72];
	struct lab *l = *state;

	l->mft = mft_new(l->s->n_switches, 3, 4);
	for (uint32_t i = 0; i < l->s->n_switches * 3 * 4 * MFT_BLOCK; i++)
		l->mft->masks[i] = 0x1234;
	lab_publish(l);
	small = mft_new(l->s->n_switches, 1, 1);
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MULTICAST_FT, 0);
	assert_int_equal(lab_ask(l), 0);
	while (lab_next(l->reply.records, record)) {
		assert_int_equal(bytes_load(record + 8, 2), 0x1234);
		assert_int_equal(bytes_load(record + 70, 2), 0x1234);
		if (n++ == 5)
			sa_db_set_mft(l->v, small);
	}
	assert_int_equal(n, l->s->n_switches * 3 * 4);
	/* and the next request gets what is there then */
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_MULTICAST_FT, 0);
	assert_records(l, l->s->n_switches);
	sa_db_set_mft(l->v, NULL);
	assert_records(l, 0);
}
