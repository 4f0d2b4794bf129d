// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What osmtest's multicast flow checks, over the simulator, question by
 * question: what a creation must say and may say, how states of membership add
 * up and go, joining for others, very many groups. What came of it is asked of
 * the data plane, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/osmlab.h"

#define FABRIC		"PGFT(3,4;1,3)"		/* 12 hosts */
#define SEED		7u
#define CLIENTS		4u
#define MANY		1000u

#define NAMED		SA_BIT(MCM_MGID)
#define WHO		(SA_BIT(MCM_PORT_GID) | SA_BIT(MCM_JOIN_STATE))
#define KEYS		(SA_BIT(MCM_Q_KEY) | SA_BIT(MCM_PKEY))
#define FLOW		(SA_BIT(MCM_SL) | SA_BIT(MCM_FLOW_LABEL))
#define MTU		(SA_BIT(MCM_MTU_SELECTOR) | SA_BIT(MCM_MTU))
#define RATE		(SA_BIT(MCM_RATE_SELECTOR) | SA_BIT(MCM_RATE))
#define LIFE		(SA_BIT(MCM_LIFE_SELECTOR) | SA_BIT(MCM_LIFE))
#define CREATE		(NAMED | WHO | KEYS | FLOW | SA_BIT(MCM_TCLASS))
#define JOIN		(NAMED | WHO)
#define LEAVE		(NAMED | WHO)

#define FULL		1u
#define NON		2u
#define SEND_ONLY	4u

struct bench {
	struct osm_world o;
	struct osm_client c[CLIENTS];
};

static void
bench_open(struct bench *b)
{
	osm_world_open(&b->o, FABRIC, SEED, NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		osm_client_open(&b->c[i], &b->o, osm_host(&b->o, 3 * i));
}

static void
bench_close(struct bench *b)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		osm_client_close(&b->c[i]);
	osm_world_close(&b->o);
}

/* MGIDs as osmtest writes them. */
static const uint8_t none[16];
static const uint8_t ipoib[16] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
	0xff, 0xff, 0xff, 0xff,
};
static const uint8_t plain[16] = {
	0xff, 0x12, 0xa0, 0x1c, 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
	0x12, 0x34, 0x56, 0x78,
};

/* A selector and a value, as the byte in which they stand. */
#define SEL(selector, value)	((uint8_t)((selector) << 6 | (value)))

struct wish {
	uint64_t mask;
	const uint8_t *mgid;
	uint8_t mtu, rate, life, states;
};

static void
fill(struct bench *b, uint32_t port, const struct wish *w,
     struct mcmember_record *r)
{
	*r = (struct mcmember_record){
		.pkey = 0xffff, .scope = 2, .join_state = w->states,
		.mtu_selector = w->mtu >> 6, .mtu = w->mtu & 0x3f,
		.rate_selector = w->rate >> 6, .rate = w->rate & 0x3f,
		.life_selector = w->life >> 6, .life = w->life & 0x3f,
	};
	memcpy(r->mgid, w->mgid, 16);
	osm_gid(&b->o, port, r->port_gid);
}

/* Returns the status; *r is the answer then. */
static unsigned
send_for(struct bench *b, unsigned client, uint32_t port, unsigned method,
	 const struct wish *w, struct mcmember_record *r)
{
	struct osm_question q = {
		.method = method, .attr_id = SA_ATTR_MC_MEMBER,
		.mask = w->mask,
	};

	fill(b, port, w, r);
	mcmember_record_encode(q.data, r);
	osm_ask(&b->c[client], &q);
	mcmember_record_decode(b->c[client].data, r);
	return b->c[client].status;
}

static unsigned
send(struct bench *b, unsigned client, unsigned method, const struct wish *w,
     struct mcmember_record *r)
{
	return send_for(b, client, b->c[client].port, method, w, r);
}

static unsigned
join(struct bench *b, unsigned client, const uint8_t mgid[16],
     unsigned states, struct mcmember_record *r)
{
	const struct wish w = {
		.mask = JOIN, .mgid = mgid, .states = (uint8_t)states,
	};

	return send(b, client, MAD_METHOD_SET, &w, r);
}

static unsigned
create(struct bench *b, unsigned client, const uint8_t mgid[16],
       unsigned states, struct mcmember_record *r)
{
	const struct wish w = {
		.mask = CREATE, .mgid = mgid, .states = (uint8_t)states,
	};

	return send(b, client, MAD_METHOD_SET, &w, r);
}

static unsigned
leave(struct bench *b, unsigned client, const uint8_t mgid[16],
      unsigned states, struct mcmember_record *r)
{
	const struct wish w = {
		.mask = LEAVE, .mgid = mgid, .states = (uint8_t)states,
	};

	return send(b, client, SA_METHOD_DELETE, &w, r);
}

/* Groups that everybody is told of. */
static unsigned
count_groups(struct bench *b)
{
	assert_int_equal(osm_table(&b->c[0], SA_ATTR_MC_MEMBER, 0, NULL), 0);
	return osm_records(&b->c[0], SA_ATTR_MC_MEMBER);
}

/* Does what `from` sends to the group come to `to`? */
static bool
reaches(struct bench *b, unsigned from, uint16_t mlid, uint32_t to)
{
	struct sim_mcast out;
	unsigned n = 0;

	osm_run(&b->o, SECOND / 10);
	assert_int_equal(sim_probe_mcast(b->o.w.sim, b->c[from].port, mlid,
					 0xffff, 0, &out), SIM_DELIVERED);
	for (guint i = 0; i < out.reached->len; i++)
		n += g_array_index(out.reached, uint32_t, i) == to;
	sim_mcast_clear(&out);
	assert_true(n <= 1);
	return n;
}

/* The group of IPoIB is there from the beginning; what its first member is
 * told of it, it may say again. */
static void
test_existing_group_is_joined_by_its_own_words(void **state)
{
	struct mcmember_record r, again;
	struct bench b;
	struct wish w;

	bench_open(&b);
	assert_int_equal(count_groups(&b), 1);
	assert_int_equal(join(&b, 0, ipoib, FULL, &r), 0);
	assert_int_equal(r.join_state, FULL);
	assert_int_equal(r.mlid, 0xc000);
	w = (struct wish){
		.mask = JOIN | MTU | RATE, .mgid = ipoib, .states = FULL,
		.mtu = SEL(SA_EXACTLY, r.mtu), .rate = SEL(SA_EXACTLY, r.rate),
	};
	assert_int_equal(send(&b, 0, MAD_METHOD_SET, &w, &again), 0);
	assert_int_equal(again.mtu, r.mtu);
	assert_int_equal(again.rate, r.rate);
	assert_int_equal(again.mlid, r.mlid);
	assert_int_equal(count_groups(&b), 1);
	bench_close(&b);
}

static void
test_get_of_what_is_not_there_says_so(void **state)
{
	struct mcmember_record r;
	struct bench b;
	struct wish w = { .mgid = ipoib, .states = FULL };

	bench_open(&b);
	assert_int_equal(join(&b, 0, ipoib, FULL, &r), 0);
	w.mask = SA_BIT(MCM_MLID);	/* 0: of no group */
	assert_int_equal(send(&b, 0, MAD_METHOD_GET, &w, &r),
			 SA_STATUS_NO_RECORDS);
	w = (struct wish){ .mask = NAMED, .mgid = none, .states = FULL };
	assert_int_equal(send(&b, 0, MAD_METHOD_GET, &w, &r),
			 SA_STATUS_NO_RECORDS);
	bench_close(&b);
}

/* Without MGID, what the SA is to choose must be described (o15-0.1.3, .4);
 * what is impossible is refused (o15-0.1.8). A refusal leaves no group. */
static void
test_creation_must_be_described_and_possible(void **state)
{
	static const struct {
		uint64_t lacks, more;
		uint8_t mtu, rate, life;
		unsigned status;
	} cases[] = {
		{ KEYS, LIFE, .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_Q_KEY), 0, .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_PKEY), 0, .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_SL), 0, .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_FLOW_LABEL), 0,
		  .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_TCLASS), 0, .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_TCLASS) | SA_BIT(MCM_Q_KEY), 0,
		  .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_JOIN_STATE), 0,
		  .status = SA_STATUS_INSUFFICIENT },
		{ SA_BIT(MCM_PORT_GID), 0, .status = SA_STATUS_INSUFFICIENT },
		/* More than 300 Gb/s, less than 2.5; no such codes. */
		{ 0, RATE, .rate = SEL(SA_GREATER, 0x16),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, RATE, .rate = SEL(SA_GREATER, 0x3f),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, RATE, .rate = SEL(SA_GREATER, 0x12),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, RATE, .rate = SEL(SA_LESS, 2),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, RATE, .rate = SEL(SA_EXACTLY, 1),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, MTU, .mtu = SEL(SA_GREATER, 5),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, MTU, .mtu = SEL(SA_LESS, 1),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, MTU, .mtu = SEL(SA_EXACTLY, 6),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, MTU, .mtu = SEL(SA_EXACTLY, 0),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, LIFE, .life = SEL(SA_LESS, 0),
		  .status = SA_STATUS_REQ_INVALID },
		{ 0, LIFE, .life = SEL(SA_GREATER, 0x3f),
		  .status = SA_STATUS_REQ_INVALID },
	};
	struct mcmember_record r;
	struct bench b;

	bench_open(&b);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct wish w = {
			.mask = (CREATE & ~cases[i].lacks) | cases[i].more,
			.mgid = none, .states = FULL, .mtu = cases[i].mtu,
			.rate = cases[i].rate, .life = cases[i].life,
		};
		unsigned status = send(&b, 0, MAD_METHOD_SET, &w, &r);

		if (status != cases[i].status)
			print_message("# case %zu\n", i);
		assert_int_equal(status, cases[i].status);
		assert_int_equal(count_groups(&b), 1);
	}
	bench_close(&b);
}

/* MGID 0: the SA chooses, and grants what the selectors leave (o15-0.1.5). */
static void
test_unnamed_group_is_given_a_name(void **state)
{
	static const uint8_t start[6] = { 0xff, 0x12, 0xa0, 0x1b, 0xff, 0xff };
	static const struct {
		uint64_t more;
		uint8_t mtu, rate;
		unsigned least, most;
	} cases[] = {
		{ 0, .least = 1, .most = 5 },
		{ RATE, .rate = SEL(SA_LESS, 8), .least = 1, .most = 5 },
		{ MTU, .mtu = SEL(SA_LESS, 5), .least = 1, .most = 4 },
		{ MTU, .mtu = SEL(SA_GREATER, 1), .least = 2, .most = 5 },
		{ MTU | RATE, .mtu = SEL(SA_EXACTLY, 4),
		  .rate = SEL(SA_EXACTLY, 3), .least = 4, .most = 4 },
		{ RATE, .rate = SEL(SA_EXACTLY, 3), .least = 1, .most = 5 },
		{ MTU, .mtu = SEL(SA_EXACTLY, 4), .least = 4, .most = 4 },
		{ MTU, .mtu = SEL(SA_EXACTLY, 3), .least = 3, .most = 3 },
		{ LIFE, .least = 1, .most = 5 },
	};
	struct mcmember_record r[G_N_ELEMENTS(cases)], back;
	struct bench b;

	bench_open(&b);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct wish w = {
			.mask = CREATE | cases[i].more, .mgid = none,
			.states = FULL, .mtu = cases[i].mtu,
			.rate = cases[i].rate,
		};

		assert_int_equal(send(&b, 0, MAD_METHOD_SET, &w, &r[i]), 0);
		assert_memory_equal(r[i].mgid, start, sizeof(start));
		assert_in_range(r[i].mtu, cases[i].least, cases[i].most);
		assert_int_equal(r[i].mtu_selector, SA_EXACTLY);
		if (cases[i].more & RATE)
			assert_true(SEL(SA_LESS, 8) == cases[i].rate ?
				    sa_rate_compare(r[i].rate, 8) < 0 :
				    r[i].rate == 3);
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(r[k].mlid, r[i].mlid);
			assert_memory_not_equal(r[k].mgid, r[i].mgid, 16);
		}
		assert_int_equal(join(&b, 1, r[i].mgid, FULL, &back), 0);
		assert_int_equal(back.mlid, r[i].mlid);
		assert_true(reaches(&b, 1, back.mlid, b.c[0].port));
	}
	assert_int_equal(count_groups(&b), 1 + G_N_ELEMENTS(cases));
	bench_close(&b);
}

/* Which MGIDs a client may bring along (o15-0.1.6). */
static void
test_names_are_checked(void **state)
{
	static const struct {
		unsigned status;
		uint8_t mgid[16];
	} cases[] = {
		{ .mgid = { 0xfa, 0x12, 0xa0, 0x1c, 0xfe, 0x80, [15] = 1 },
		  .status = SA_STATUS_REQ_INVALID },
		{ .mgid = { 0xef, 0x12, 0xa0, 0x1c, 0xfe, 0x80, [15] = 1 },
		  .status = SA_STATUS_REQ_INVALID },
		/* The SA's own signature with another P_Key in it. */
		{ .mgid = { 0xff, 0x12, 0xa0, 0x1b, 0xfe, 0x80, [15] = 1 },
		  .status = SA_STATUS_REQ_INVALID },
		/* Flags that are reserved. */
		{ .mgid = { 0xff, 0x22, 0xa0, 0x1c, 0xfe, 0x80, [15] = 1 },
		  .status = SA_STATUS_REQ_INVALID },
		{ .mgid = { 0xff, 0x1f, 0xa0, 0x1c, 0xfe, 0x80, [15] = 1 } },
		{ .mgid = { 0xff, 0x02, [15] = 1 } },
	};
	struct mcmember_record r, back;
	unsigned good = 0;
	struct bench b;

	bench_open(&b);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		assert_int_equal(create(&b, 0, cases[i].mgid, FULL, &r),
				 cases[i].status);
		assert_int_equal(join(&b, 1, cases[i].mgid, FULL, &back),
				 cases[i].status ? SA_STATUS_INSUFFICIENT : 0);
		good += !cases[i].status;
		assert_int_equal(count_groups(&b), 1 + good);
		if (!cases[i].status)
			assert_memory_equal(r.mgid, cases[i].mgid, 16);
	}
	bench_close(&b);
}

/* o15-0.1.9, o15-0.2.3: only a full member creates. */
static void
test_only_a_full_member_creates(void **state)
{
	static const struct {
		unsigned states, status;
	} cases[] = {
		{ NON, SA_STATUS_REQ_INVALID },
		{ SEND_ONLY, SA_STATUS_REQ_INVALID },
		{ NON | SEND_ONLY, SA_STATUS_REQ_INVALID },
		{ FULL, 0 }, { FULL | NON, 0 }, { 0xf, 0 },
	};
	struct mcmember_record r;
	struct bench b;

	bench_open(&b);
	assert_int_equal(join(&b, 0, plain, FULL, &r), SA_STATUS_INSUFFICIENT);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint8_t mgid[16];

		memcpy(mgid, plain, 16);
		mgid[12] = (uint8_t)(0xf0 + i);
		assert_int_equal(create(&b, 0, mgid, cases[i].states, &r),
				 cases[i].status);
		if (cases[i].status)
			continue;
		assert_int_equal(r.join_state, cases[i].states);
		/* Others may be what they like then. */
		assert_int_equal(join(&b, 1, mgid, NON, &r), 0);
		assert_int_equal(r.join_state, NON);
	}
	assert_int_equal(count_groups(&b), 4);
	bench_close(&b);
}

/* o15-0.1.11, .14, .15: states add up, and go one by one. */
static void
test_states_add_up_and_go_one_by_one(void **state)
{
	struct mcmember_record r;
	struct bench b;

	bench_open(&b);
	assert_int_equal(leave(&b, 0, plain, FULL, &r), SA_STATUS_REQ_INVALID);
	assert_int_equal(create(&b, 0, plain, FULL, &r), 0);
	assert_int_equal(join(&b, 0, plain, NON, &r), 0);
	assert_int_equal(r.join_state, FULL | NON);
	/* One of the two is not there: nothing changes. */
	assert_int_equal(leave(&b, 0, plain, NON | SEND_ONLY, &r),
			 SA_STATUS_REQ_INVALID);
	assert_int_equal(leave(&b, 0, plain, NON, &r), 0);
	assert_int_equal(r.join_state, FULL);
	assert_int_equal(join(&b, 0, plain, SEND_ONLY, &r), 0);
	assert_int_equal(r.join_state, FULL | SEND_ONLY);
	assert_int_equal(join(&b, 0, plain, FULL, &r), 0);
	assert_int_equal(r.join_state, FULL | SEND_ONLY);
	assert_int_equal(join(&b, 0, plain, NON, &r), 0);
	assert_int_equal(r.join_state, FULL | NON | SEND_ONLY);
	assert_int_equal(leave(&b, 0, plain, NON, &r), 0);
	assert_int_equal(r.join_state, FULL | SEND_ONLY);
	assert_int_equal(leave(&b, 1, plain, FULL, &r), SA_STATUS_REQ_INVALID);
	assert_int_equal(count_groups(&b), 2);
	assert_int_equal(leave(&b, 0, plain, FULL | SEND_ONLY, &r), 0);
	assert_int_equal(count_groups(&b), 1);
	assert_int_equal(join(&b, 0, plain, NON, &r), SA_STATUS_REQ_INVALID);
	assert_int_equal(leave(&b, 0, plain, FULL, &r), SA_STATUS_REQ_INVALID);
	bench_close(&b);
}

/* o15-0.1.13: who joins must be able to, and may not redefine the group. */
static void
test_join_does_not_change_the_group(void **state)
{
	static const struct wish bad[] = {
		{ .mask = CREATE | RATE, .mgid = plain, .states = NON,
		  .rate = SEL(SA_LESS, 2) },
		{ .mask = JOIN | MTU, .mgid = plain, .states = NON,
		  .mtu = SEL(SA_GREATER, 5) },
		{ .mask = JOIN | MTU, .mgid = plain, .states = NON,
		  .mtu = SEL(SA_LESS, 1) },
		{ .mask = JOIN | MTU, .mgid = plain, .states = NON,
		  .mtu = SEL(SA_GREATER, 4) },
		{ .mask = JOIN | RATE, .mgid = plain, .states = NON,
		  .rate = SEL(SA_EXACTLY, 2) },
		{ .mask = JOIN | RATE, .mgid = plain, .states = NON,
		  .rate = SEL(SA_GREATER, 0x3f) },
	};
	const struct wish exact = {
		.mask = CREATE | MTU | RATE, .mgid = plain, .states = FULL,
		.mtu = SEL(SA_EXACTLY, 4), .rate = SEL(SA_EXACTLY, 3),
	};
	struct mcmember_record r;
	struct bench b;

	bench_open(&b);
	assert_int_equal(send(&b, 0, MAD_METHOD_SET, &exact, &r), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
		assert_int_equal(send(&b, 1, MAD_METHOD_SET, &bad[i], &r),
				 SA_STATUS_REQ_INVALID);
	assert_int_equal(join(&b, 1, plain, NON, &r), 0);
	assert_int_equal(r.mtu, 4);
	assert_int_equal(r.rate, 3);
	bench_close(&b);
}

/* The last full member ends the group, whoever else is in it. */
static void
test_last_leave_deletes_the_group(void **state)
{
	struct mcmember_record r;
	struct bench b;
	uint16_t mlid;

	bench_open(&b);
	assert_int_equal(create(&b, 0, plain, FULL, &r), 0);
	mlid = r.mlid;
	assert_int_equal(join(&b, 1, plain, FULL, &r), 0);
	assert_int_equal(r.mlid, mlid);
	assert_true(reaches(&b, 0, mlid, b.c[1].port));
	assert_int_equal(leave(&b, 0, plain, FULL, &r), 0);
	assert_int_equal(count_groups(&b), 2);
	assert_int_equal(leave(&b, 1, plain, FULL, &r), 0);
	assert_int_equal(r.join_state, 0);
	assert_int_equal(count_groups(&b), 1);
	/* The name is free again; so is the MLID. */
	assert_int_equal(create(&b, 2, plain, FULL, &r), 0);
	assert_false(reaches(&b, 2, r.mlid, b.c[0].port));
	assert_false(reaches(&b, 2, r.mlid, b.c[1].port));
	bench_close(&b);
}

/* Who is in the group is told to the trusted: one of them is this port. */
static bool
is_listed(struct bench *b, const uint8_t mgid[16], uint32_t port, bool *proxy)
{
	struct osm_question q = {
		.method = SA_METHOD_GET_TABLE, .attr_id = SA_ATTR_MC_MEMBER,
		.mask = NAMED, .sm_key = OSM_SM_KEY,
	};
	uint8_t gid[16];
	bool found = false;

	memcpy(q.data, mgid, 16);
	osm_gid(&b->o, port, gid);
	assert_int_equal(osm_ask(&b->c[0], &q), 0);
	for (unsigned i = 0; i < osm_records(&b->c[0], SA_ATTR_MC_MEMBER);
	     i++) {
		struct mcmember_record r;

		mcmember_record_decode(osm_record(&b->c[0],
						  SA_ATTR_MC_MEMBER, i), &r);
		if (memcmp(r.port_gid, gid, 16))
			continue;
		assert_false(found);
		found = true;
		*proxy = r.proxy_join;
	}
	return found;
}

static void
test_proxy_joins_for_another_port(void **state)
{
	const struct wish w = { .mask = JOIN, .mgid = plain, .states = FULL };
	struct mcmember_record r;
	bool proxy = false;
	struct bench b;
	uint32_t other;

	bench_open(&b);
	other = osm_host(&b.o, 7);
	assert_int_equal(create(&b, 0, plain, FULL, &r), 0);
	assert_int_equal(send_for(&b, 0, other, MAD_METHOD_SET, &w, &r), 0);
	assert_true(r.proxy_join);
	assert_true(reaches(&b, 0, r.mlid, other));
	assert_true(is_listed(&b, plain, other, &proxy));
	assert_true(proxy);
	/* Somebody else may take it out again, but not who joined himself. */
	assert_int_equal(send_for(&b, 1, b.c[0].port, SA_METHOD_DELETE, &w,
				  &r), SA_STATUS_REQ_INVALID);
	assert_int_equal(send_for(&b, 1, other, SA_METHOD_DELETE, &w, &r), 0);
	assert_false(is_listed(&b, plain, other, &proxy));
	assert_false(reaches(&b, 0, r.mlid, other));
	assert_int_equal(count_groups(&b), 2);
	bench_close(&b);
}

/* Many groups: each has an MLID of its own, all are listed, all go. */
static void
test_very_many_groups(void **state)
{
	struct mcmember_record *r = g_new(struct mcmember_record, MANY);
	uint8_t *seen = g_new0(uint8_t, 1 << 16);
	struct bench b;

	bench_open(&b);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(create(&b, i % CLIENTS, none, FULL, &r[i]),
				 0);
		assert_int_equal(seen[r[i].mlid]++, 0);
	}
	assert_int_equal(count_groups(&b), 1 + MANY);
	for (unsigned i = 0; i < MANY; i++) {
		struct mcmember_record back;

		assert_int_equal(leave(&b, i % CLIENTS, r[i].mgid, FULL,
				       &back), 0);
	}
	assert_int_equal(count_groups(&b), 1);
	bench_close(&b);
	g_free(seen);
	g_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_existing_group_is_joined_by_its_own_words),
		cmocka_unit_test(test_get_of_what_is_not_there_says_so),
		cmocka_unit_test(
			test_creation_must_be_described_and_possible),
		cmocka_unit_test(test_unnamed_group_is_given_a_name),
		cmocka_unit_test(test_names_are_checked),
		cmocka_unit_test(test_only_a_full_member_creates),
		cmocka_unit_test(test_states_add_up_and_go_one_by_one),
		cmocka_unit_test(test_join_does_not_change_the_group),
		cmocka_unit_test(test_last_leave_deletes_the_group),
		cmocka_unit_test(test_proxy_joins_for_another_port),
		cmocka_unit_test(test_very_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
