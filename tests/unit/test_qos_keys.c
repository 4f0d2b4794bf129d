// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keys of quality of service: what a file may say, what each wrong value
 * costs, and what is worth a warning.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/options_lab.h"
#include "tests/lib/unit.h"

/* Bytes of what holds for a kind. */
static void
resolve(const struct setup *t, enum qos_kind kind, struct qos_values *v)
{
	memset(v, 0, sizeof(*v));
	qos_resolve(&t->conf->qos, kind, v);
}

#define SETUP_TEST(name) \
	TEST_WITH(name, struct setup *t, setup_new, setup_free)

SETUP_TEST(test_nothing_is_given_at_first)
{
	assert_false(t->conf->qos.enabled);
	assert_int_equal(t->conf->qos.all.given, 0);
	for (unsigned k = 0; k < QOS_N_KINDS; k++)
		assert_int_equal(t->conf->qos.kinds[k].given, 0);
}

SETUP_TEST(test_every_key_arrives)
{
	static const struct {
		const char *prefix;
		int kind;	/* -1: all */
	} sets[] = {
		{ "qos_", -1 }, { "qos_ca_", QOS_CA },
		{ "qos_rtr_", QOS_ROUTER }, { "qos_sw0_", QOS_SWITCH_0 },
		{ "qos_swe_", QOS_SWITCH },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++) {
		const char *p = sets[i].prefix;
		const struct qos_values *v = sets[i].kind < 0 ?
			&t->conf->qos.all :
			&t->conf->qos.kinds[sets[i].kind];
		g_autofree char *text = g_strdup_printf(
			"%smax_vls 0x%x\n%shigh_limit 20%u\n"
			"%svlarb_high 1:25%u,0x2:0\n%svlarb_low \"3:4 , 5:%u\""
			"\n%ssl2vl %u,14,15 # rest 0\n", p, i + 1, p, i, p, i,
			p, i, p, i);

		assert_int_equal(v->given, 0);
		setup_parse(t, text);
		assert_int_equal(v->given, 0x1f);
		assert_int_equal(v->max_vls, i + 1);
		assert_int_equal(v->high_limit, 200 + i);
		assert_int_equal(v->high[0].vl, 1);
		assert_int_equal(v->high[0].weight, 250 + i);
		assert_int_equal(v->high[1].vl, 2);
		assert_int_equal(v->high[1].weight, 0);
		assert_int_equal(v->low[0].vl, 3);
		assert_int_equal(v->low[1].vl, 5);
		assert_int_equal(v->low[1].weight, i);
		assert_int_equal(v->low[2].vl | v->low[2].weight, 0);
		assert_memory_equal(v->sl2vl + 1, "\16\17\0\0\0\0\0\0\0\0\0\0"
				    "\0\0\0", 15);
		assert_int_equal(v->sl2vl[0], i);
	}
	setup_parse(t, "qos yes\n");
	assert_true(t->conf->qos.enabled);
}

/* A later list replaces an earlier one, it is no patch on it. */
SETUP_TEST(test_the_last_value_holds)
{
	setup_parse(t, "qos_sl2vl 1,2,3,4\nqos_sl2vl 5\n"
		 "qos_vlarb_low 1:1,2:2\nqos_vlarb_low 3:3,\n");
	assert_memory_equal(t->conf->qos.all.sl2vl, "\5\0\0\0", 4);
	assert_memory_equal(t->conf->qos.all.low, "\3\3\0\0", 4);
	setup_parse(t, "qos_sl2vl \"\"\n");
	assert_memory_equal(t->conf->qos.all.sl2vl, "\0\0\0\0", 4);
}

/* As OpenSM writes a file in which nothing was set. */
SETUP_TEST(test_what_says_not_set_gives_nothing)
{
	static const char *const prefixes[] = {
		"qos_", "qos_ca_", "qos_rtr_", "qos_sw0_", "qos_swe_",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++) {
		const char *p = prefixes[i];
		g_autofree char *text = g_strdup_printf(
			"%smax_vls 3\n%shigh_limit 3\n%svlarb_high 1:2\n"
			"%smax_vls 0\n%shigh_limit -1\n%svlarb_high (null)\n"
			"%svlarb_low (null)\n%ssl2vl (null)\n", p, p, p, p, p,
			p, p, p);

		setup_parse(t, text);
		assert_int_equal(t->warnings->len, 0);
	}
	test_nothing_is_given_at_first_of(t);
}

static const struct {
	const char *text, *error;
} bad[] = {
	{ "qos maybe", "5: qos: maybe is not TRUE or FALSE" },
	{ "qos_max_vls 16", "13: qos_max_vls: 16 is not 0 to 15 (0: not set)" },
	{ "qos_ca_max_vls \"\"",
	  "16: qos_ca_max_vls: \"\" is not 0 to 15 (0: not set)" },
	{ "qos_high_limit 256",
	  "16: qos_high_limit: 256 is not 0 to 255 or -1 (not set)" },
	{ "qos_high_limit -2",
	  "16: qos_high_limit: -2 is not 0 to 255 or -1 (not set)" },
	{ "qos_sw0_sl2vl", "14: qos_sw0_sl2vl: a value is missing: a list of "
	  "up to 16 VLs of 0 to 14, or 15 to drop the SL" },
	{ "qos_sl2vl 0,16", "11: qos_sl2vl: number 2 of the list, \"16\", is "
	  "wrong: a list of up to 16 VLs of 0 to 14, or 15 to drop the SL is "
	  "needed" },
	{ "qos_sl2vl 0,,1", "11: qos_sl2vl: number 2 of the list, \"\", is "
	  "wrong: a list of up to 16 VLs of 0 to 14, or 15 to drop the SL is "
	  "needed" },
	{ "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7,0",
	  "11: qos_sl2vl: number 17 of the list, \"0\", is wrong: a list of "
	  "up to 16 VLs of 0 to 14, or 15 to drop the SL is needed" },
	{ "qos_vlarb_low 1", "15: qos_vlarb_low: number 1 of the list, \"1\", "
	  "is wrong: a list of up to 64 VL:WEIGHT, VLs of 0 to 14 and weights "
	  "of 0 to 255 is needed" },
	{ "qos_vlarb_low 15:1", "15: qos_vlarb_low: number 1 of the list, "
	  "\"15:1\", is wrong: a list of up to 64 VL:WEIGHT, VLs of 0 to 14 "
	  "and weights of 0 to 255 is needed" },
	{ "qos_vlarb_high 1:256", "16: qos_vlarb_high: number 1 of the list, "
	  "\"1:256\", is wrong: a list of up to 64 VL:WEIGHT, VLs of 0 to 14 "
	  "and weights of 0 to 255 is needed" },
	{ "qos_vlarb_high 1:2:3", "16: qos_vlarb_high: number 1 of the list, "
	  "\"1:2:3\", is wrong: a list of up to 64 VL:WEIGHT, VLs of 0 to 14 "
	  "and weights of 0 to 255 is needed" },
};

SETUP_TEST(test_bad_value_is_an_error)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *text = g_strdup_printf("qos_max_vls 3\n%s\n",
					     bad[i].text);
		g_autofree char *expected = g_strdup_printf("x.conf:2:%s", bad[i].error);
		g_autoptr(GError) error = NULL;

		assert_false(options_parse(t->conf, text, "x.conf", t->warnings,
					&error));
		assert_string_equal(error->message, expected);
	}
}

SETUP_TEST(test_a_table_has_64_entries)
{
	GString *text = g_string_new("qos_vlarb_high 1:1");
	GError *error = NULL;

	for (unsigned i = 1; i < QOS_ARB_ENTRIES; i++)
		g_string_append(text, ",1:1");
	setup_parse(t, text->str);
	assert_int_equal(t->conf->qos.all.high[63].weight, 1);
	g_string_append(text, ",1:1");
	assert_false(options_parse(t->conf, text->str, "x.conf", t->warnings,
				&error));
	g_error_free(error);
	g_string_free(text, TRUE);
}

SETUP_TEST(test_the_nearest_key_may_be_one_of_these)
{
	setup_parse(t, "qos_ca_sl2v 0\n");
	assert_int_equal(t->warnings->len, 1);
	assert_string_equal(t->warnings->pdata[0], "x.conf:1:1: qos_ca_sl2v "
			    "is no key; the nearest is qos_ca_sl2vl");
}

SETUP_TEST(test_an_sl_that_starves_is_warned_of)
{
	setup_parse(t, "qos TRUE\n");
	assert_int_equal(t->warnings->len, 0);
	/* The document's example: VL 4 off, no more than 8 VLs. */
	setup_parse(t, "qos_ca_vlarb_high 0:4\n"
		 "qos_ca_vlarb_low 0:0,1:64,2:128,3:192,4:0,5:64,6:64,7:64\n");
	assert_int_equal(t->warnings->len, 1);
	assert_string_equal(t->warnings->pdata[0],
			    "qos: CAs never send packets of SL 4, 8, 9, 10, "
			    "11, 12, 13, 14: sl2vl gives it a VL without "
			    "weight in vlarb_high and vlarb_low");
	setup_parse(t, "qos_ca_sl2vl 0,1,2,3,15,5,6,7,0,1,2,3,5,5,6,7\n");
	assert_int_equal(t->warnings->len, 0);
	/* Folded into four VLs, three of which have weight. */
	setup_parse(t, "qos_ca_sl2vl (null)\nqos_ca_max_vls 7\n"
		 "qos_ca_vlarb_low 1:1,2:1,4:1\n");
	assert_int_equal(t->warnings->len, 1);
	assert_has(t->warnings->pdata[0], "SL 3, 7, 11, 15: ");
	setup_parse(t, "qos_ca_vlarb_high 4:1\nqos_ca_vlarb_low 5:1,6:1,7:1\n");
	assert_int_equal(t->warnings->len, 0);
	setup_parse(t, "qos_ca_sl2vl (null)\nqos FALSE\n");
	assert_int_equal(t->warnings->len, 0);
}

/* What is commented out in the shipped file is what is built in. */
SETUP_TEST(test_shipped_file_tells_the_defaults)
{
	g_autofree char *text = source_read("etc/minism.conf");
	char **lines = g_strsplit(text, "\n", -1);
	GString *settings = g_string_new(NULL);
	struct qos_values built_in, told;

	for (size_t i = 0; lines[i]; i++)
		if (g_str_has_prefix(lines[i], "#qos"))
			g_string_append_printf(settings, "%s\n", lines[i] + 1);
	resolve(t, QOS_CA, &built_in);
	setup_parse(t, settings->str);
	assert_int_equal(t->conf->qos.all.given, 0x1f);
	assert_false(t->conf->qos.enabled);
	resolve(t, QOS_CA, &told);
	assert_memory_equal(told.sl2vl, built_in.sl2vl, SL_COUNT);
	assert_int_equal(told.max_vls, built_in.max_vls);
	assert_int_equal(told.high_limit, built_in.high_limit);
	/* Entries behind the list are 0:0. */
	assert_memory_equal(told.high, built_in.high, sizeof(told.high));
	assert_memory_equal(told.low, built_in.low, sizeof(told.low));
	g_string_free(settings, TRUE);
	g_strfreev(lines);
}

TEST(test_man_page_has_the_keys)
{
	static const char *const keys[] = {
		"qos", "qos_max_vls", "qos_high_limit", "qos_vlarb_high",
		"qos_vlarb_low", "qos_sl2vl",
	};
	g_autofree char *text = source_read("doc/minism.conf.5");

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		g_autofree char *start = g_strdup_printf("\n.BI %s \" ", keys[i]);

		if (!strstr(text, start))
			fail_msg("minism.conf(5) lacks %s", keys[i]);
	}
}
