// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * mcmember.h promises: MCMemberRecord as IBA 15.2.5.17 has it and as osmtest
 * and IPoIB expect it; an MLID for each group, the lowest that is free, held no
 * longer than the group has a member that counts. The fabric is one switch
 * with hosts (sa_star.h).
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/group_lab.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

TEST(test_first_join_creates_and_others_share, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	struct group_event event;
	uint8_t gid[16];

	assert_int_equal(join(f, 1, 5, JOIN_FULL), 0);
	assert_int_equal(f->r.mlid, 0xc000);
	assert_int_equal(f->r.mtu, 5);
	assert_int_equal(f->r.mtu_selector, SA_EXACTLY);
	assert_int_equal(f->r.rate, 16);	/* 100 Gb/s */
	assert_int_equal(f->r.life, STAR_LIFE);
	assert_int_equal(f->r.scope, 2);
	assert_int_equal(f->r.hop_limit, 0);
	assert_false(f->r.proxy_join);
	star_gid(1, gid);
	assert_memory_equal(f->r.port_gid, gid, 16);

	fill(f, 2, 5, JOIN_NON);
	f->r.q_key = 0;
	assert_int_equal(send_join(f, 2, JOIN_MASK), 0);
	assert_int_equal(f->r.mlid, 0xc000);
	assert_int_equal(f->r.q_key, 0x1234);
	assert_int_equal(f->r.join_state, JOIN_NON);
	assert_int_equal(f->g->list->len, 1);

	assert_true(next_event(f->g, &event));
	assert_true(event.created);
	assert_memory_equal(event.mgid, f->r.mgid, 16);
	assert_false(next_event(f->g, &event));
	check_store(f->g);
}

TEST(test_create_wants_every_component, lab_setup, lab_teardown)
{
	static const unsigned bits[] = {
		MCM_PORT_GID, MCM_Q_KEY, MCM_PKEY, MCM_TCLASS, MCM_SL,
		MCM_FLOW_LABEL, MCM_JOIN_STATE,
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < G_N_ELEMENTS(bits); i++) {
		fill(f, 1, 1, JOIN_FULL);
		assert_int_equal(send_join(f, 1, CREATE_MASK &
					   ~SA_BIT(bits[i])),
				 SA_STATUS_INSUFFICIENT);
		memset(f->r.mgid, 0, 16);
		assert_int_equal(send_join(f, 1, CREATE_MASK &
					   ~SA_BIT(bits[i])),
				 SA_STATUS_INSUFFICIENT);
	}
	assert_int_equal(f->g->list->len, 0);
	assert_int_equal(f->g->version, 0);
}

TEST(test_no_mgid_is_given_a_new_one, lab_setup, lab_teardown)
{
	static const uint8_t start[6] = { 0xff, 0x12, 0xa0, 0x1b, 0xff, 0xff };
	struct fixture *f = *state;
	uint8_t first[16];

	fill(f, 1, 0, JOIN_FULL);
	memset(f->r.mgid, 0, 16);
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	assert_memory_equal(f->r.mgid, start, 6);
	memcpy(first, f->r.mgid, 16);

	/* Not in the mask is as good as zero. */
	fill(f, 1, 0, JOIN_FULL);
	f->r.scope = 5;
	assert_int_equal(send_join(f, 1, (CREATE_MASK | SA_BIT(MCM_SCOPE)) &
				   ~SA_BIT(MCM_MGID)), 0);
	assert_int_equal(f->r.mgid[1], 0x15);
	assert_int_equal(f->r.scope, 5);
	assert_int_equal(f->r.hop_limit, 0xff);
	assert_memory_not_equal(f->r.mgid, first, 16);
	assert_int_equal(f->r.mlid, 0xc001);
	for (unsigned scope = 0; scope < 16; scope += 15) {
		fill(f, 1, 0, JOIN_FULL);
		memset(f->r.mgid, 0, 16);
		f->r.scope = (uint8_t)scope;
		assert_int_equal(send_join(f, 1, CREATE_MASK |
					   SA_BIT(MCM_SCOPE)),
				 SA_STATUS_REQ_INVALID);
	}

	/* A name that a client took is passed over. */
	fill(f, 2, 0, JOIN_FULL);
	memcpy(f->r.mgid, first, 16);
	f->r.mgid[15] = 3;
	assert_int_equal(send_join(f, 2, CREATE_MASK), 0);
	fill(f, 1, 0, JOIN_FULL);
	memset(f->r.mgid, 0, 16);
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	assert_int_equal(f->r.mgid[15], 4);
	check_store(f->g);
}

/* ff1S:T01b:P_Key::n */
static void
ip_mgid(uint8_t mgid[16], unsigned scope, unsigned type, unsigned n)
{
	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = (uint8_t)(0x10 | scope);
	mgid[2] = (uint8_t)type;
	mgid[3] = 0x1b;
	mgid[4] = mgid[5] = 0xff;
	mgid[15] = (uint8_t)n;
}

/* As the IPoIB of Linux asks: all that the broadcast group has. */
#define IP_MASK	(CREATE_MASK | MTU_MASK | RATE_MASK | SA_BIT(MCM_HOP_LIMIT))
static void
fill_ip(struct fixture *f, unsigned host, unsigned type, unsigned n)
{
	fill(f, host, 0, JOIN_FULL);
	ip_mgid(f->r.mgid, 2, type, n);
	f->r.q_key = 0x0b1b;
	f->r.sl = f->r.tclass = f->r.hop_limit = 0;
	f->r.flow_label = 0;
	f->r.mtu_selector = f->r.rate_selector = SA_EXACTLY;
	f->r.mtu = 4;
	f->r.rate = 3;
}

/* One host could take an IP address's group from all others, by creating it
 * with values that theirs do not fit. */
TEST(test_ip_groups_are_as_their_broadcast_group, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	groups_follow(f->g, f->star->v);
	for (unsigned i = 0; i < 8; i++) {
		fill_ip(f, 1, i & 1 ? 0x40 : 0x60, 1);
		f->r.q_key ^= i == 0;
		f->r.sl ^= i == 1;
		f->r.mtu ^= i == 2 ? 1 : 0;
		f->r.rate ^= i == 3 ? 1 : 0;
		f->r.tclass ^= i == 4;
		f->r.flow_label ^= i == 5;
		f->r.hop_limit ^= i == 6;
		f->r.mgid[1] = i == 7 ? 0x15 : 0x12;	/* no such link */
		assert_int_equal(send_join(f, 1, IP_MASK),
				 SA_STATUS_REQ_INVALID);
	}
	/* what is not said is as there, not what the port can do */
	fill_ip(f, 1, 0x40, 1);
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	assert_int_equal(f->r.mtu, 4);
	assert_int_equal(f->r.rate, 3);
	fill_ip(f, 2, 0x40, 1);
	assert_int_equal(send_join(f, 2, IP_MASK), 0);
	fill_ip(f, 2, 0x60, 1);
	assert_int_equal(send_join(f, 2, IP_MASK), 0);
	check_store(f->g);
}

/* Where no broadcast group is configured, a host may create it, as it likes,
 * and it is what the others go by. */
TEST(test_ip_groups_need_a_broadcast_group, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	fill_ip(f, 1, 0x40, 1);
	f->r.mgid[1] = 0x15;
	f->r.q_key = 0x777;
	assert_int_equal(send_join(f, 1, CREATE_MASK), SA_STATUS_REQ_INVALID);
	memset(f->r.mgid + 12, 0xff, 4);
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	fill_ip(f, 2, 0x40, 1);
	f->r.mgid[1] = 0x15;
	f->r.q_key = 0x777;
	assert_int_equal(send_join(f, 2, CREATE_MASK), 0);
	assert_int_equal(f->r.mtu, 5);
}

TEST(test_no_port_takes_all_mlids, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	groups_follow(f->g, f->star->v);
	f->g->quota = 3;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(join(f, 1, i, JOIN_FULL), i < 3 ? 0 :
				 SA_STATUS_NO_RESOURCES);
	/* nor by proxy; others do, and what is there can be joined */
	fill(f, 2, 7, JOIN_FULL);
	assert_int_equal(send_join(f, 1, CREATE_MASK), SA_STATUS_NO_RESOURCES);
	assert_int_equal(join(f, 2, 7, JOIN_FULL), 0);
	assert_int_equal(join(f, 1, 7, JOIN_FULL), 0);
	/* a group lives on for others, and counts; one that goes does not */
	assert_int_equal(join(f, 2, 0, JOIN_FULL), 0);
	assert_int_equal(leave(f, 1, 0, JOIN_FULL), 0);
	assert_int_equal(join(f, 1, 8, JOIN_FULL), SA_STATUS_NO_RESOURCES);
	assert_int_equal(leave(f, 1, 1, JOIN_FULL), 0);
	assert_int_equal(join(f, 1, 8, JOIN_FULL), 0);
	assert_int_equal(join(f, 1, 9, JOIN_FULL), SA_STATUS_NO_RESOURCES);
}

TEST(test_mgid_must_be_one, lab_setup, lab_teardown)
{
	static const struct {
		uint8_t head[6];
		bool good;
	} cases[] = {
		{ { 0xfa, 0x12, 0xa0, 0x1c, 0, 0 }, false },
		{ { 0xef, 0x12, 0xa0, 0x1c, 0, 0 }, false },
		{ { 0xff, 0x22, 0xa0, 0x1c, 0, 0 }, false },	/* flags */
		{ { 0xff, 0x1f, 0xa0, 0x1c, 0, 0 }, true },
		{ { 0xff, 0x10, 0xa0, 0x1c, 0, 0 }, false },	/* scope 0 */
		{ { 0xff, 0x02, 0, 0, 0, 0 }, true },
		{ { 0xff, 0x12, 0xa0, 0x1b, 0xfe, 0x80 }, false },
		{ { 0xff, 0x12, 0xa0, 0x1b, 0xff, 0xff }, true },
		{ { 0xff, 0x12, 0x40, 0x1b, 0x80, 0x01 }, false },
		{ { 0xff, 0x12, 0x60, 0x1b, 0x7f, 0xfe }, false },
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		fill(f, 1, 9, JOIN_FULL);
		memcpy(f->r.mgid, cases[i].head, 6);
		f->r.scope = 2;
		assert_int_equal(send_join(f, 1, CREATE_MASK |
					   SA_BIT(MCM_SCOPE)),
				 cases[i].good ? 0 : SA_STATUS_REQ_INVALID);
		if (cases[i].good)
			assert_int_equal(f->r.scope, cases[i].head[1] & 0xf);
	}
}

/* The port does 4,096 bytes (5) and 100 Gb/s (16). */
TEST(test_create_realizes_selectors, lab_setup, lab_teardown)
{
	static const struct {
		uint64_t mask;
		uint8_t selector, value, result;	/* 0: refused */
	} cases[] = {
		{ MTU_MASK, SA_GREATER, 5, 0 }, { MTU_MASK, SA_GREATER, 1, 5 },
		{ MTU_MASK, SA_LESS, 1, 0 }, { MTU_MASK, SA_LESS, 5, 4 },
		{ MTU_MASK, SA_LESS, 0, 0 }, { MTU_MASK, SA_GREATER, 6, 0 },
		{ MTU_MASK, SA_EXACTLY, 3, 3 }, { MTU_MASK, SA_EXACTLY, 6, 0 },
		{ MTU_MASK, SA_EXACTLY, 0, 0 }, { MTU_MASK, SA_LARGEST, 1, 5 },
		{ SA_BIT(MCM_MTU), SA_EXACTLY, 3, 5 },
		{ RATE_MASK, SA_GREATER, 18, 0 },	/* 300 Gb/s */
		{ RATE_MASK, SA_LESS, 2, 0 },		/* 2.5 Gb/s */
		{ RATE_MASK, SA_LESS, 8, 12 },		/* 60 -> 56 */
		{ RATE_MASK, SA_LESS, 18, 16 },
		{ RATE_MASK, SA_EXACTLY, 3, 3 },
		{ RATE_MASK, SA_EXACTLY, 17, 0 },	/* 200 Gb/s */
		{ RATE_MASK, SA_EXACTLY, 1, 0 },	/* no such code */
		{ RATE_MASK, SA_GREATER, 3, 16 },
		{ RATE_MASK, SA_LARGEST, 0, 16 },
		{ SA_BIT(MCM_RATE_SELECTOR), SA_EXACTLY, 3, 16 },
		{ LIFE_MASK, SA_GREATER, 0, 18 }, { LIFE_MASK, SA_LESS, 0, 0 },
		{ LIFE_MASK, SA_GREATER, 18, 19 }, { LIFE_MASK, SA_LESS, 5, 4 },
		{ LIFE_MASK, SA_GREATER, 63, 0 },
		{ LIFE_MASK, SA_EXACTLY, 20, 20 },
		{ LIFE_MASK, SA_LARGEST, 20, 18 },
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		fill(f, 1, i, JOIN_FULL);
		f->r.mtu = f->r.rate = f->r.life = cases[i].value;
		f->r.mtu_selector = f->r.rate_selector = f->r.life_selector =
			cases[i].selector;
		assert_int_equal(send_join(f, 1, CREATE_MASK | cases[i].mask),
				 cases[i].result ? 0 : SA_STATUS_REQ_INVALID);
		if (!cases[i].result)
			continue;
		if (cases[i].mask & MTU_MASK)
			assert_int_equal(f->r.mtu, cases[i].result);
		if (cases[i].mask & RATE_MASK)
			assert_int_equal(f->r.rate, cases[i].result);
		if (cases[i].mask & LIFE_MASK)
			assert_int_equal(f->r.life, cases[i].result);
	}
}

/* Each component, right and wrong, in the mask and not. */
TEST(test_join_must_agree_with_the_group, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	assert_int_equal(join(f, 1, 1, JOIN_FULL), 0);
	for (unsigned i = 0; i < 8; i++) {
		static const uint64_t masks[8] = {
			SA_BIT(MCM_Q_KEY), SA_BIT(MCM_PKEY),
			SA_BIT(MCM_TCLASS), SA_BIT(MCM_SL),
			SA_BIT(MCM_FLOW_LABEL), MTU_MASK, RATE_MASK, LIFE_MASK,
		};

		fill(f, 2, 1, JOIN_FULL);
		f->r.mtu_selector = f->r.rate_selector = SA_LESS;
		f->r.life_selector = SA_EXACTLY;
		f->r.q_key ^= i == 0;
		f->r.pkey ^= i == 1;
		f->r.tclass ^= i == 2;
		f->r.sl ^= i == 3;
		f->r.flow_label ^= i == 4;
		f->r.mtu = i == 5 ? 5 : 6;
		f->r.rate = i == 6 ? 16 : 17;
		f->r.life = i == 7 ? 17 : 18;
		assert_int_equal(send_join(f, 2, JOIN_MASK | masks[i]),
				 SA_STATUS_REQ_INVALID);
		assert_null(member(f, 1, 2));
		assert_int_equal(send_join(f, 2, (CREATE_MASK | MTU_MASK |
						  RATE_MASK | LIFE_MASK) &
					   ~masks[i]), 0);
		assert_int_equal(leave(f, 2, 1, JOIN_FULL), 0);
	}
	fill(f, 2, 1, JOIN_FULL);
	f->r.mtu = 5;
	f->r.mtu_selector = SA_GREATER;
	assert_int_equal(send_join(f, 2, JOIN_MASK | MTU_MASK),
			 SA_STATUS_REQ_INVALID);
	f->r.mtu_selector = SA_LARGEST;
	assert_int_equal(send_join(f, 2, JOIN_MASK | MTU_MASK), 0);
}

TEST(test_requests_must_say_who_and_how, lab_setup, lab_teardown)
{
	static const unsigned bits[] = { MCM_PORT_GID, MCM_JOIN_STATE };
	struct fixture *f = *state;

	assert_int_equal(join(f, 1, 1, JOIN_FULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		fill(f, 2, 1, JOIN_FULL);
		assert_int_equal(send_join(f, 2, JOIN_MASK & ~SA_BIT(bits[i])),
				 SA_STATUS_INSUFFICIENT);
		fill(f, 1, 1, JOIN_FULL);
		assert_int_equal(groups_leave(f->g, f->star->v,
					      star_port(f->star, 1),
					      JOIN_MASK & ~SA_BIT(bits[i]),
					      &f->r), SA_STATUS_INSUFFICIENT);
	}
	assert_int_equal(groups_leave(f->g, f->star->v, star_port(f->star, 1),
				      JOIN_MASK & ~SA_BIT(MCM_MGID), &f->r),
			 SA_STATUS_INSUFFICIENT);
	assert_int_equal(states_of(f, 1, 1), JOIN_FULL);
}

TEST(test_slow_port_is_kept_out, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	uint32_t port = star_port(f->star, 2);
	struct port_info *info = &f->star->s->ports[port].info;
	struct port_info *cable =
		&f->star->s->ports[f->star->s->ports[port].peer].info;

	assert_int_equal(join(f, 1, 1, JOIN_FULL), 0);
	info->speed_ext_active = 0;		/* 4 lanes of QDR: 40 Gb/s */
	assert_int_equal(join(f, 2, 1, JOIN_NON), SA_STATUS_REQ_INVALID);
	info->speed_ext_active = 2;
	cable->mtu_cap = 4;
	assert_int_equal(join(f, 2, 1, JOIN_NON), SA_STATUS_REQ_INVALID);
	/* A group that it can follow. */
	info->speed_ext_active = 0;
	assert_int_equal(join(f, 2, 2, JOIN_FULL), 0);
	assert_int_equal(f->r.mtu, 4);
	assert_int_equal(f->r.rate, 7);
	assert_int_equal(join(f, 1, 2, JOIN_FULL), 0);
}

TEST(test_group_ends_with_the_last_that_counts, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	struct group_event event;

	assert_int_equal(join(f, 1, 1, JOIN_FULL), 0);
	assert_int_equal(join(f, 2, 1, JOIN_NON), 0);
	assert_int_equal(join(f, 3, 1, JOIN_SEND_ONLY_FULL), 0);
	assert_int_equal(leave(f, 1, 1, JOIN_FULL), 0);
	assert_non_null(find(f, 1));
	assert_int_equal(leave(f, 3, 1, JOIN_SEND_ONLY_FULL), 0);
	assert_null(find(f, 1));
	assert_int_equal(leave(f, 2, 1, JOIN_NON), SA_STATUS_REQ_INVALID);

	assert_true(next_event(f->g, &event));
	assert_true(event.created);
	assert_true(next_event(f->g, &event));
	assert_false(event.created);
	assert_false(next_event(f->g, &event));
}

TEST(test_proxy_joins_only_within_the_partition, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	/* Host 4 is in another partition, with host 1. */
	g_array_set_size(partition_rules_get(f->star->rules,
					     PKEY_DEFAULT)->rules, 0);
	for (unsigned host = 0; host < 4; host++)
		star_rule(f->star, PKEY_DEFAULT, host, PARTITION_FULL);
	star_rule(f->star, 1, 1, PARTITION_FULL);
	star_rule(f->star, 1, 4, PARTITION_FULL);
	star_publish(f->star);

	fill(f, 2, 1, JOIN_FULL);
	assert_int_equal(send_join(f, 4, CREATE_MASK), SA_STATUS_REQ_INVALID);
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	assert_true(f->r.proxy_join);
	assert_true(member(f, 1, 2)->proxy);

	fill(f, 2, 1, JOIN_FULL);
	assert_int_equal(groups_leave(f->g, f->star->v,
				      star_port(f->star, 4), JOIN_MASK,
				      &f->r), SA_STATUS_REQ_INVALID);
	/* By the requester's own name: it is no member. */
	assert_int_equal(leave(f, 1, 1, JOIN_FULL), SA_STATUS_REQ_INVALID);
	fill(f, 2, 1, JOIN_FULL);
	assert_int_equal(groups_leave(f->g, f->star->v,
				      star_port(f->star, 3), JOIN_MASK,
				      &f->r), 0);
	assert_null(find(f, 1));

	/* Who joined for itself is left alone, also later on. */
	fill(f, 2, 1, JOIN_FULL);
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	assert_int_equal(join(f, 2, 1, JOIN_FULL), 0);
	assert_false(f->r.proxy_join);
	fill(f, 2, 1, JOIN_FULL);
	assert_int_equal(groups_leave(f->g, f->star->v,
				      star_port(f->star, 1), JOIN_MASK,
				      &f->r), SA_STATUS_REQ_INVALID);
	fill(f, 2, 1, JOIN_NON);
	assert_int_equal(send_join(f, 1, CREATE_MASK), SA_STATUS_REQ_INVALID);
	assert_int_equal(states_of(f, 1, 2), JOIN_FULL);
}

TEST(test_partition_decides_who_joins, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	star_rule(f->star, 1, 1, PARTITION_FULL);
	star_rule(f->star, 1, 2, PARTITION_LIMITED);
	star_publish(f->star);

	fill(f, 3, 1, JOIN_FULL);
	f->r.pkey = 0x8001;
	assert_int_equal(send_join(f, 3, CREATE_MASK), SA_STATUS_REQ_INVALID);
	fill(f, 1, 1, JOIN_FULL);
	f->r.pkey = 0x8001;
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	assert_int_equal(f->r.pkey, 0x8001);
	fill(f, 2, 1, JOIN_FULL);
	f->r.pkey = 0x0001;
	assert_int_equal(send_join(f, 2, CREATE_MASK), 0);
	fill(f, 3, 1, JOIN_FULL);
	assert_int_equal(send_join(f, 3, JOIN_MASK), SA_STATUS_REQ_INVALID);
	fill(f, 1, 2, JOIN_FULL);
	f->r.pkey = 0x8000;
	assert_int_equal(send_join(f, 1, CREATE_MASK), SA_STATUS_REQ_INVALID);
	fill(f, 1, 2, JOIN_FULL);
	f->r.port_gid[15] ^= 1;
	assert_int_equal(send_join(f, 1, CREATE_MASK), SA_STATUS_INVALID_GID);
	assert_int_equal(groups_join(f->g, f->star->v, SNAPSHOT_NONE,
				     CREATE_MASK, &f->r),
			 SA_STATUS_REQ_INVALID);
}

TEST(test_mlids_end_at_the_smallest_switch, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	f->star->s->nodes[f->star->s->switches[0]].sw.multicast_fdb_cap = 8;
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(join(f, 1, i, JOIN_FULL), 0);
		assert_int_equal(f->r.mlid, 0xc000 + i);
	}
	assert_int_equal(join(f, 1, 8, JOIN_FULL), SA_STATUS_NO_RESOURCES);
	assert_null(find(f, 8));
	assert_int_equal(join(f, 2, 7, JOIN_FULL), 0);
	assert_int_equal(leave(f, 1, 5, JOIN_FULL), 0);
	assert_int_equal(leave(f, 1, 2, JOIN_FULL), 0);
	assert_int_equal(join(f, 1, 8, JOIN_FULL), 0);
	assert_int_equal(f->r.mlid, 0xc002);
	assert_int_equal(join(f, 1, 9, JOIN_FULL), 0);
	assert_int_equal(f->r.mlid, 0xc005);
	check_store(f->g);

	/* A switch without multicast does not take it from the others. */
	f->star->s->nodes[f->star->s->switches[0]].sw.multicast_fdb_cap = 0;
	assert_int_equal(join(f, 1, 10, JOIN_FULL), 0);
	assert_int_equal(f->r.mlid, 0xc008);
}

TEST(test_follow_keeps_what_is_configured, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	struct partition *p = partition_rules_get(f->star->rules,
						  PKEY_DEFAULT);
	struct partition_group want, other;
	uint64_t version;

	partition_ipoib_group(PKEY_DEFAULT, 2, &want);
	groups_follow(f->g, f->star->v);
	assert_int_equal(f->g->list->len, 1);
	assert_memory_equal(group_at(f->g, 0)->r.mgid, want.mgid, 16);
	assert_int_equal(group_at(f->g, 0)->r.mlid, 0xc000);
	assert_int_equal(group_at(f->g, 0)->r.pkey, 0xffff);
	assert_int_equal(group_at(f->g, 0)->r.mtu, 4);

	version = f->g->version;
	groups_follow(f->g, f->star->v);
	assert_int_equal(f->g->version, version);

	/* IPoIB joins it and leaves; the group stays. */
	fill(f, 1, 0, JOIN_FULL);
	memcpy(f->r.mgid, want.mgid, 16);
	assert_int_equal(send_join(f, 1, JOIN_MASK), 0);
	assert_int_equal(f->r.q_key, 0x0b1b);
	assert_int_equal(groups_leave(f->g, f->star->v, star_port(f->star, 1),
				      JOIN_MASK, &f->r), 0);
	assert_int_equal(f->g->list->len, 1);

	/* Another Q_Key in the file; the same name in a second partition. */
	g_array_index(p->groups, struct partition_group, 0).q_key = 0x98;
	groups_follow(f->g, f->star->v);
	assert_int_equal(group_at(f->g, 0)->r.q_key, 0x98);
	g_array_index(p->groups, struct partition_group, 0).q_key = 0x99;
	other = want;
	other.q_key = 0x77;
	g_array_append_val(partition_rules_get(f->star->rules, 0x7ffe)->groups,
			   other);
	groups_follow(f->g, f->star->v);
	assert_int_equal(f->g->list->len, 1);
	assert_int_equal(group_at(f->g, 0)->r.q_key, 0x77);
	assert_int_equal(group_at(f->g, 0)->r.pkey, 0xfffe);
	g_array_set_size(partition_rules_get(f->star->rules,
					     0x7ffe)->groups, 0);
	groups_follow(f->g, f->star->v);
	assert_int_equal(group_at(f->g, 0)->r.q_key, 0x99);
	assert_int_equal(group_at(f->g, 0)->r.mlid, 0xc000);

	/* Out of the file: it stays as long as it is used. */
	fill(f, 1, 0, JOIN_FULL);
	memcpy(f->r.mgid, want.mgid, 16);
	assert_int_equal(send_join(f, 1, JOIN_MASK), 0);
	g_array_set_size(p->groups, 0);
	groups_follow(f->g, f->star->v);
	assert_false(group_at(f->g, 0)->permanent);
	star_gid(1, f->r.port_gid);
	assert_int_equal(groups_leave(f->g, f->star->v, star_port(f->star, 1),
				      JOIN_MASK, &f->r), 0);
	assert_int_equal(f->g->list->len, 0);
}

TEST(test_follow_drops_who_is_away, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	uint64_t version;

	assert_int_equal(join(f, 1, 1, JOIN_FULL), 0);
	assert_int_equal(join(f, 2, 1, JOIN_FULL), 0);
	assert_int_equal(join(f, 2, 2, JOIN_FULL), 0);
	star_take_away(f->star, 2);
	groups_follow(f->g, f->star->v);
	assert_null(find(f, 2));
	assert_null(member(f, 1, 2));
	assert_non_null(member(f, 1, 1));
	version = f->g->version;
	star_bring_back(f->star, 2);
	groups_follow(f->g, f->star->v);
	assert_null(member(f, 1, 2));
	assert_int_equal(f->g->version, version);
}

TEST(test_follow_drops_who_lost_the_pkey, lab_setup, lab_teardown)
{
	struct fixture *f = *state;

	star_rule(f->star, 1, 1, PARTITION_FULL);
	star_rule(f->star, 1, 2, PARTITION_FULL);
	star_publish(f->star);
	fill(f, 1, 1, JOIN_FULL);
	f->r.pkey = 0x8001;
	assert_int_equal(send_join(f, 1, CREATE_MASK), 0);
	fill(f, 2, 1, JOIN_FULL);
	assert_int_equal(send_join(f, 2, JOIN_MASK), 0);
	g_array_set_size(partition_rules_get(f->star->rules, 1)->rules, 1);
	star_publish(f->star);
	groups_follow(f->g, f->star->v);
	assert_non_null(member(f, 1, 1));
	assert_null(member(f, 1, 2));
}

/* Any client, any group, any states; the plainest model there is. */
TEST(test_random_clients_match_a_plain_model, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	uint64_t seed = 20260716;
	uint64_t prng = prng_stream(seed, 0);
	unsigned model[4][N_HOSTS] = { { 0 } };

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	for (unsigned n = 0; n < 20000; n++) {
		unsigned group = prng_below(&prng, 4);
		unsigned host = prng_below(&prng, N_HOSTS);
		unsigned states = prng_below(&prng, 16);
		unsigned *now = &model[group][host];
		unsigned others = 0;

		for (unsigned i = 0; i < N_HOSTS; i++)
			others |= model[group][i];
		if (prng_below(&prng, 2)) {
			bool good = states && ((others | states) & 9);

			assert_int_equal(join(f, host, group, states),
					 good ? 0 : SA_STATUS_REQ_INVALID);
			*now |= good ? states : 0;
		} else {
			bool good = states && !(states & ~*now);

			assert_int_equal(leave(f, host, group, states),
					 good ? 0 : SA_STATUS_REQ_INVALID);
			*now &= good ? ~states : ~0u;
		}
		others = 0;
		for (unsigned i = 0; i < N_HOSTS; i++)
			others |= model[group][i];
		for (unsigned i = 0; i < N_HOSTS; i++) {
			if (!(others & 9))
				model[group][i] = 0;
			assert_int_equal(states_of(f, group, i),
					 model[group][i]);
		}
		check_store(f->g);
	}
}
