// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SL of a path: by the policy's rules, else of its partition; and what
 * becomes of a wish for an SL.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sa_lab.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define TREE		"PGFT(3,4;1,3)"	/* 12 hosts */
#define SERVICE_BITS	3u		/* both halves of ServiceID */

static void
add_rule(struct qos_policy *policy, enum qos_match match, uint64_t low,
	 uint64_t high, uint8_t sl)
{
	const struct qos_rule rule = {
		.match = match, .low = low, .high = high, .sl = sl,
	};

	g_array_append_val(policy->rules, rule);
}

/* The lab publishes a view without a policy; here is another one. */
static void
publish(struct lab *l, struct qos_policy *policy)
{
	lab_publish(l);
	sa_db_set_policy(l->v, policy);
}

static uint8_t
sl_of(struct lab *l, uint32_t from, uint32_t to, uint64_t mask,
      const struct path_record *more)
{
	struct path_record r;

	assert_int_equal(lab_get_path(l, from, to, mask, more, &r), 0);
	return r.sl;
}

/* VLs are as the devices have them, so no SL is better than another: a client
 * gets the one that it asks for, a partition has none of its own. */
TEST(test_without_qos_it_is_0_or_what_is_asked_for, lab_set_up, lab_tear_down)
{
	struct path_record want = { .sl = 3 };
	struct partition *p;
	struct lab *l = *state;

	p = partition_rules_get(l->rules, PKEY_DEFAULT);
	p->sl = 2;
	lab_publish(l);
	l->v->qos = false;
	assert_int_equal(sl_of(l, lab_host(l, 0), lab_host(l, 1), 0, NULL),
			 0);
	assert_int_equal(sl_of(l, lab_host(l, 0), lab_host(l, 1),
			       SA_BIT(PATH_SL), &want), 3);
	/* of all pairs as well, where ports are passed over early */
	lab_begin(l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, SA_BIT(PATH_SL));
	path_record_encode(lab_data(l), &want);
	assert_int_equal(lab_ask(l), 0);
	assert_true(lab_count(l) > 12 * 12);
}

TEST(test_rules_look_at_service_pkey_and_ends)
{
	struct path_record want = { .service_id = 0x10050 };
	struct qos_policy *policy = qos_policy_new();
	struct lab l;
	uint32_t a, b, c;

	lab_open(&l, TREE, 0);
	a = lab_host(&l, 0);
	b = lab_host(&l, 5);
	c = lab_host(&l, 7);
	partition_rules_get(l.rules, PKEY_DEFAULT)->sl = 3;
	add_rule(policy, QOS_MATCH_SERVICE, 0x10000, 0x1ffff, 1);
	add_rule(policy, QOS_MATCH_TARGET, l.s->ports[b].guid,
		 l.s->ports[b].guid, 2);
	add_rule(policy, QOS_MATCH_SOURCE, l.s->ports[b].guid,
		 l.s->ports[b].guid, 4);
	publish(&l, policy);
	assert_int_equal(sl_of(&l, a, b, SERVICE_BITS, &want), 1);
	/* A ServiceID that is not asked for is none. */
	assert_int_equal(sl_of(&l, a, b, 0, &want), 2);
	assert_int_equal(sl_of(&l, b, a, 0, NULL), 4);
	assert_int_equal(sl_of(&l, a, c, 0, NULL), 3);
	add_rule(policy, QOS_MATCH_PKEY, PKEY_DEFAULT, PKEY_DEFAULT, 5);
	assert_int_equal(sl_of(&l, a, c, 0, NULL), 5);
	assert_int_equal(sl_of(&l, a, b, 0, NULL), 2);
	lab_close(&l);
	qos_policy_unref(policy);
}

/* The same ends have another SL in another partition; who wishes for an SL
 * gets the partition that has it. */
TEST(test_a_wish_for_an_sl_chooses_the_partition)
{
	struct path_record want = { .sl = 6 }, r;
	struct qos_policy *policy = qos_policy_new();
	struct lab l;
	uint32_t a, b;

	lab_open(&l, TREE, 0);
	a = lab_host(&l, 0);
	b = lab_host(&l, 1);
	lab_member(&l, 0x10, a, PARTITION_FULL);
	lab_member(&l, 0x10, b, PARTITION_LIMITED);
	partition_rules_get(l.rules, 0x10)->sl = 3;
	add_rule(policy, QOS_MATCH_PKEY, 0x10, 0x10, 6);
	publish(&l, policy);
	assert_int_equal(lab_get_path(&l, a, b, SA_BIT(PATH_SL), &want, &r), 0);
	assert_int_equal(r.pkey, 0x8010);
	assert_int_equal(r.sl, 6);
	/* The rule goes before the partition: its own SL is nobody's now. */
	want.sl = 3;
	assert_int_equal(lab_get_path(&l, a, b, SA_BIT(PATH_SL), &want, &r),
			 SA_STATUS_NO_RECORDS);
	/* The SL that the path has, in the partition that is asked for. */
	want.sl = 0;
	want.pkey = 0x8010;
	assert_int_equal(lab_get_path(&l, a, b, SA_BIT(PATH_SL) |
				      SA_BIT(PATH_PKEY), &want, &r),
			 SA_STATUS_NO_RECORDS);
	want.pkey = 0xffff;
	assert_int_equal(lab_get_path(&l, a, b, SA_BIT(PATH_SL) |
				      SA_BIT(PATH_PKEY), &want, &r), 0);
	assert_int_equal(r.sl, 0);
	lab_close(&l);
	qos_policy_unref(policy);
}

static void
random_policy(const struct lab *l, struct qos_policy *policy, uint64_t *rng)
{
	g_array_set_size(policy->rules, 0);
	for (unsigned n = prng_below(rng, 6); n; n--) {
		uint32_t host = lab_host(l, prng_below(rng, 12));
		uint64_t guid = l->s->ports[host].guid;
		uint8_t sl = (uint8_t)prng_below(rng, 4);
		unsigned what = prng_below(rng, 4);

		if (what < 2)
			add_rule(policy, what ? QOS_MATCH_TARGET :
				 QOS_MATCH_SOURCE, guid, guid, sl);
		else if (what == 2)
			add_rule(policy, QOS_MATCH_PKEY, 0x10, 0x10, sl);
		else
			add_rule(policy, QOS_MATCH_SERVICE, 7, 7, sl);
	}
	policy->has_default = prng_below(rng, 2);
	policy->default_sl = (uint8_t)prng_below(rng, 4);
}

/* Both ends open: exactly those paths that single questions find. */
TEST(test_open_ends_find_what_single_questions_find)
{
	uint64_t rng = prng_stream(seed_take(20261121), 2);
	struct qos_policy *policy = qos_policy_new();
	struct lab l;

	lab_open(&l, TREE, 0);
	for (unsigned i = 0; i < 12; i += 2)
		lab_member(&l, 0x10, lab_host(&l, i), PARTITION_FULL);
	partition_rules_get(l.rules, 0x10)->sl = 1;
	publish(&l, policy);
	for (unsigned round = 0; round < 60; round++) {
		struct path_record want = {
			.sl = (uint8_t)prng_below(&rng, 4), .service_id = 7,
			.pkey = prng_below(&rng, 2) ? 0x8010 : 0xffff,
		}, r;
		uint64_t mask = SA_BIT(PATH_SL) |
			(prng_below(&rng, 2) ? SERVICE_BITS : 0) |
			(prng_below(&rng, 2) ? SA_BIT(PATH_PKEY) : 0);
		unsigned n = 0;

		random_policy(&l, policy, &rng);
		for (uint32_t i = 0; i < l.v->n_by_guid; i++)
			for (uint32_t k = 0; k < l.v->n_by_guid; k++)
				n += !lab_get_path(&l, l.v->by_guid[i],
						   l.v->by_guid[k], mask, &want,
					       &r);
		lab_begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, mask);
		path_record_encode(lab_data(&l), &want);
		assert_records(&l, n);
	}
	lab_close(&l);
	qos_policy_unref(policy);
}
