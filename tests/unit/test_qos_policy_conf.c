// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * qos_policy_conf.h promises: the rules of a qos-ulps section, in their order,
 * or one message that says where and what; and topology/qos_policy.h: the first
 * rule that fits decides about a path.
 */
#include <stdlib.h>
#include <string.h>


#include "sm/config/qos_policy_conf.h"
#include "tests/lib/auto.h"
#include "tests/lib/folder.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"
#include "topology/text.h"

static struct qos_policy *
parse(const char *text)
{
	GError *error = NULL;
	struct qos_policy *policy = qos_policy_conf_parse(text, "qos", &error);

	if (!policy)
		fail_msg("%s", error->message);
	return policy;
}

static uint8_t
sl_of(const struct qos_policy *policy, const struct qos_path *path)
{
	return qos_policy_sl(policy, path, 0);
}

/* As the document about the file has it. */
static const char *const example =
	"# all words there are\r\n"
	"  qos-ulps\n"
	"        default                       : 9 # default SL\n"
	"        sdp, port-num 30000           : 1\n"
	"        sdp, port-num 10000-20000     : 2\n"
	"        sdp                           : 3\n"
	"\n"
	"        rds                           : 4\n"
	"        iser, port-num 900            : 5\n"
	"        iser                          : 6\n"
	"        ipoib, pkey 0x0001            : 7\n"
	"        ipoib                         : 8\n"
	"        any, service-id 0x6234        : 10\n"
	"        any, pkey 0x0ABC              : 11\n"
	"        srp, target-port-guid 0x1234  : 12\n"
	"        any, target-port-guid 0x0ABC-0xFFFFF : 13\n"
	"        any, source-port-guid 0x5678  : 14\n"
	"        rds, port-num 0x10 , 0x20-0x22,40:15\n"
	"    end-qos-ulps";

TEST(test_every_word_means_what_it_says)
{
	AUTO(qos_policy) *policy = parse(example);
	static const struct {
		uint64_t service;
		uint8_t sl;
	} services[] = {
		{ 0x10000 + 30000, 1 }, { 0x10000 + 10000, 2 },
		{ 0x10000 + 20000, 2 }, { 0x10000 + 20001, 3 },
		{ 0x10000, 3 }, { 0x1ffff, 3 }, { 0x20000, 9 },
		{ 0x10648ca, 4 }, { 0x10648cb, 9 }, { 0x1060000 + 900, 5 },
		{ 0x1060cbc, 6 }, { 0x6234, 10 }, { 0x6233, 9 },
		{ 0x1060010, 15 }, { 0x1060011, 9 }, { 0x1060021, 15 },
		{ 0x1060028, 15 },
	};
	struct qos_path path = { .has_service = true, .pkey = 2 };

	for (unsigned i = 0; i < G_N_ELEMENTS(services); i++) {
		path.service = services[i].service;
		assert_int_equal(sl_of(policy, &path), services[i].sl);
	}
	/* A ServiceID that is not asked for fits no rule. */
	path.has_service = false;
	assert_int_equal(sl_of(policy, &path), 9);
	assert_int_equal(sl_of(policy, &(struct qos_path){ .pkey = 1 }), 7);
	assert_int_equal(sl_of(policy, &(struct qos_path){ .pkey = 0x8001 }),
			 7);
	assert_int_equal(sl_of(policy, &(struct qos_path){ .pkey = 0xffff }),
			 8);
	assert_int_equal(sl_of(policy, &(struct qos_path){ .pkey = 0xabc }),
			 11);
	path.target = 0x1234;
	assert_int_equal(sl_of(policy, &path), 12);
	path.target = 0xfffff;
	assert_int_equal(sl_of(policy, &path), 13);
	path.target = 0x100000;
	assert_int_equal(sl_of(policy, &path), 9);
	path.source = 0x5678;
	assert_int_equal(sl_of(policy, &path), 14);
	assert_int_equal(g_array_index(policy->rules, struct qos_rule,
				       0).line, 4);
}

/* Partitions, whatever the membership that is written. */
TEST(test_membership_of_a_pkey_does_not_count)
{
	AUTO(qos_policy) *policy = parse("qos-ulps\n"
					  "any, pkey 0x8001-0x8003 : 1\n"
					  "ipoib, pkey 0x0004 : 2\n"
					  "end-qos-ulps\n");

	for (uint16_t pkey = 1; pkey <= 4; pkey++) {
		struct qos_path path = { .pkey = pkey };

		assert_int_equal(sl_of(policy, &path), pkey < 4 ? 1 : 2);
		path.pkey |= 0x8000;
		assert_int_equal(sl_of(policy, &path), pkey < 4 ? 1 : 2);
	}
}

TEST(test_first_rule_that_fits_decides)
{
	AUTO(qos_policy) *policy = parse("qos-ulps\n"
					  "any, target-port-guid 5 : 1\n"
					  "any, service-id 0-10 : 2\n"
					  "any, service-id 3 : 3\n"
					  "end-qos-ulps\n");
	struct qos_path path = {
		.has_service = true, .service = 3, .target = 5,
	};

	assert_int_equal(sl_of(policy, &path), 1);
	path.target = 6;
	assert_int_equal(sl_of(policy, &path), 2);
}

/* Rule, partition, default, 0. */
TEST(test_partition_goes_before_the_default)
{
	struct qos_policy *policy = parse("qos-ulps\ndefault : 5\n"
					  "any, pkey 7:0\nend-qos-ulps\n");
	struct qos_path path = { .pkey = 8 };

	assert_int_equal(qos_policy_sl(policy, &path, 3), 3);
	assert_int_equal(qos_policy_sl(policy, &path, 0), 5);
	path.pkey = 7;
	assert_int_equal(qos_policy_sl(policy, &path, 3), 0);
	assert_int_equal(qos_policy_sl(NULL, &path, 3), 3);
	assert_int_equal(qos_policy_sl(NULL, &path, 0), 0);
	qos_policy_unref(policy);
	policy = parse("");
	assert_int_equal(qos_policy_sl(policy, &path, 3), 3);
	assert_int_equal(qos_policy_sl(policy, &path, 0), 0);
	qos_policy_unref(policy);
}

TEST(test_empty_files_are_policies)
{
	static const char *const texts[] = {
		"", "\n\n", "# nothing", "qos-ulps\nend-qos-ulps",
		"QOS-ULPS\nEnd-Qos-Ulps\n \t\r\nqos-ulps # again\n"
		"end-qos-ulps#",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
		AUTO(qos_policy) *policy = parse(texts[i]);

		assert_int_equal(policy->rules->len, 0);
		assert_false(policy->has_default);
	}
}

#define IN(line) "qos-ulps\n" line "\nend-qos-ulps\n"

static const struct {
	const char *text, *error;
} bad[] = {
	{ IN("spd : 1"), "2:1: \"spd\" is not known here; the nearest is sdp" },
	{ IN(": 1"), "2:1: a word is missing: end-qos-ulps or another one" },
	{ IN(" sdp"), "2:5: \": SL\" is missing" },
	{ IN("sdp 3"), "2:5: \": SL\" is missing" },
	{ IN("sdp : 16"), "2:7: this is no number of 0 to 15 (0xf)" },
	{ IN("sdp :"), "2:6: this is no number of 0 to 15 (0xf)" },
	{ IN("sdp : -1"), "2:7: this is no number of 0 to 15 (0xf)" },
	{ IN("sdp : 1 2"), "2:9: there is more behind the SL" },
	{ IN("sdp, prot-num 1 : 1"),
	  "2:6: \"prot-num\" is not known here; the nearest is port-num" },
	{ IN("sdp, pkey 1 : 1"),
	  "2:6: \"pkey\" is not known here" },
	{ IN("sdp, : 1"),
	  "2:6: a word is missing: port-num or another one" },
	{ IN("sdp, port-num : 1"),
	  "2:15: this is no number of 0 to 65535 (0xffff)" },
	{ IN("sdp, port-num 65536 : 1"),
	  "2:15: this is no number of 0 to 65535 (0xffff)" },
	{ IN("sdp, port-num 1- : 1"),
	  "2:18: this is no number of 0 to 65535 (0xffff)" },
	{ IN("sdp, port-num 5-4 : 1"),
	  "2:15: the range ends before it begins" },
	{ IN("sdp, port-num 1, : 1"),
	  "2:18: this is no number of 0 to 65535 (0xffff)" },
	{ IN("any : 1"),
	  "2:5: any needs a criterion: \"any, service-id ...\"" },
	{ IN("srp : 1"),
	  "2:5: srp needs a criterion: \"srp, target-port-guid ...\"" },
	{ IN("any, service-id 0x10000000000000000 : 1"),
	  "2:17: this is no number of 0 to 18446744073709551615 "
	  "(0xffffffffffffffff)" },
	{ IN("ipoib, pkey 0 : 1"),
	  "2:13: P_Keys are 0x0001 to 0x7fff, or 0x8001 to 0xffff, which are "
	  "the same partitions" },
	{ IN("ipoib, pkey 3, 0x7000-0x9000 : 1"),
	  "2:16: P_Keys are 0x0001 to 0x7fff, or 0x8001 to 0xffff, which are "
	  "the same partitions" },
	{ IN("default, pkey 1 : 1"),
	  "2:10: default takes nothing but an SL" },
	{ IN("default : 1\ndefault : 1"),
	  "3:1: default is there already, in line 2" },
	{ IN("qos-ulps"), "2:1: qos-ulps is open already, since line 1" },
	{ IN("qos-levels"), "2:1: section qos-levels: minism reads the "
	  "simplified form only, section qos-ulps" },
	{ "port-groups\n", "1:1: section port-groups: minism reads the "
	  "simplified form only, section qos-ulps" },
	{ "\n end-qos-ulps\n", "2:2: there is no qos-ulps to end" },
	{ "qos-ulps 1\n", "1:10: there is more on the line" },
	{ "qos-ulp\n",
	  "1:1: \"qos-ulp\" is not known here; the nearest is qos-ulps" },
	{ "sdp : 1\n", "1:1: a rule outside of qos-ulps" },
	{ "\nqos-ulps\nsdp : 1\n\n",
	  "2:1: qos-ulps is not ended by end-qos-ulps" },
};

TEST(test_every_mistake_has_its_place)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		struct qos_policy *policy =
			qos_policy_conf_parse(bad[i].text, "qos", &error);
		g_autofree char *expected = g_strdup_printf("qos:%s", bad[i].error);

		if (policy)
			fail_msg("accepted: %s", bad[i].text);
		assert_int_equal(error->domain, TEXT_ERROR);
		assert_string_equal(error->message, expected);
	}
}

/* What may be given is what is given to some target: tried for all that the
 * rules can tell apart. */
TEST(test_may_give_is_the_union_over_targets)
{
	uint64_t rng = prng_stream(seed_take(20261121), 1);
	unsigned loose = 0;

	for (unsigned round = 0; round < 2000; round++) {
		AUTO(qos_policy) *policy = qos_policy_new();
		uint8_t partition = (uint8_t)prng_below(&rng, 3);
		struct qos_path path = {
			.has_service = prng_below(&rng, 2),
			.service = prng_below(&rng, 7),
			.pkey = (uint16_t)prng_below(&rng, 7),
			.source = prng_below(&rng, 7),
		};
		bool given[4] = { false };

		for (unsigned n = prng_below(&rng, 5); n; n--) {
			struct qos_rule rule = {
				.match = (enum qos_match)prng_below(&rng, 4),
				.sl = (uint8_t)prng_below(&rng, 4),
				.low = prng_below(&rng, 5),
			};

			rule.high = rule.low + prng_below(&rng, 3);
			g_array_append_val(policy->rules, rule);
		}
		policy->has_default = prng_below(&rng, 2);
		policy->default_sl = (uint8_t)prng_below(&rng, 4);
		for (path.target = 0; path.target < 8; path.target++)
			given[qos_policy_sl(policy, &path, partition)] = true;
		for (uint8_t sl = 0; sl < 4; sl++) {
			bool may = qos_policy_may_give(policy, &path,
						       partition, sl);

			/* It may be wrong on one side only: a rule about a
			 * target can be hidden behind another one. */
			assert_true(may || !given[sl]);
			loose += may && !given[sl];
		}
	}
	assert_true(loose < 400);	/* of 8,000 */
}
