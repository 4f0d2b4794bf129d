// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keys of quality of service: what a file may say, what each wrong value
 * costs, and what is worth a warning.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/options_lab.h"
#include "tests/lib/unit.h"

#define SETUP_TEST(name) \
	TEST_WITH(name, struct setup *t, setup_new, setup_free)

SETUP_TEST(test_every_key_arrives)
{
	const struct qos *v = &t->conf->qos;

	setup_parse(t, "qos yes\nqos_max_vls 0x3\nqos_high_limit 201\n"
		    "qos_vlarb_high 1:251,0x2:0\n"
		    "qos_vlarb_low \"3:4 , 5:6\"\n"
		    "qos_sl2vl 1,14,15 # rest 0\n");
	assert_true(v->enabled);
	assert_int_equal(v->max_vls, 3);
	assert_int_equal(v->high_limit, 201);
	assert_memory_equal(v->high, "\1\373\2\0\0\0", 6);
	assert_memory_equal(v->low, "\3\4\5\6\0\0", 6);
	assert_memory_equal(v->sl2vl, "\1\16\17\0\0\0\0\0\0\0\0\0\0\0\0\0",
			    16);
}

/* A later list replaces an earlier one, it is no patch on it. */
SETUP_TEST(test_the_last_value_holds)
{
	setup_parse(t, "qos_sl2vl 1,2,3,4\nqos_sl2vl 5\n"
		 "qos_vlarb_low 1:1,2:2\nqos_vlarb_low 3:3,\n");
	assert_memory_equal(t->conf->qos.sl2vl, "\5\0\0\0", 4);
	assert_memory_equal(t->conf->qos.low, "\3\3\0\0", 4);
	setup_parse(t, "qos_sl2vl \"\"\n");
	assert_memory_equal(t->conf->qos.sl2vl, "\0\0\0\0", 4);
}

/* As OpenSM writes a file in which nothing was set. */
SETUP_TEST(test_what_says_not_set_is_what_is_built_in)
{
	AUTO(options) *fresh = options_new();

	setup_parse(t, "qos_max_vls 3\nqos_high_limit 3\nqos_vlarb_high 1:2\n"
		    "qos_vlarb_low 1:2\nqos_sl2vl 3\n");
	setup_parse(t, "qos_max_vls 0\nqos_high_limit -1\n"
		    "qos_vlarb_high (null)\nqos_vlarb_low (null)\n"
		    "qos_sl2vl (null)\n");
	assert_memory_equal(&t->conf->qos, &fresh->qos, sizeof(fresh->qos));
}

/* OpenSM's keys for a kind of port: a warning if they would change something.
 * The key for all ports may come later. */
SETUP_TEST(test_keys_of_a_kind_of_port)
{
	setup_parse(t, "qos_ca_max_vls 3\nqos_swe_sl2vl 1,2\n");
	assert_int_equal(t->warnings->len, 0);
	setup_parse(t, "qos TRUE\nqos_ca_sl2vl 1,2\nqos_rtr_max_vls 15\n"
		    "qos_sw0_max_vls 0\nqos_ca_high_limit -1\n"
		    "qos_swe_vlarb_low (null)\nqos_sl2vl 1,2\n");
	assert_int_equal(t->warnings->len, 0);
	setup_parse(t, "qos_ca_sl2vl 0,2\nqos_swe_high_limit 3\n");
	assert_int_equal(t->warnings->len, 2);
	assert_string_equal(t->warnings->pdata[1], "x.conf:2:1: "
			    "qos_swe_high_limit is not used by minism yet; "
			    "qos_max_vls, qos_sl2vl and so on are for all "
			    "ports");
}

static const struct {
	const char *text, *error;
} bad[] = {
	{ "qos maybe", "5: qos: maybe is not TRUE or FALSE" },
	{ "qos_max_vls 16", "13: qos_max_vls: 16 is not 1 to 15" },
	{ "qos_max_vls \"\"", "13: qos_max_vls: \"\" is not 1 to 15" },
	{ "qos_high_limit 256", "16: qos_high_limit: 256 is not 0 to 255" },
	{ "qos_high_limit -2", "16: qos_high_limit: -2 is not 0 to 255" },
	{ "qos_sl2vl", "10: qos_sl2vl: a value is missing: a list of "
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
	assert_int_equal(t->conf->qos.high[63].weight, 1);
	g_string_append(text, ",1:1");
	assert_false(options_parse(t->conf, text->str, "x.conf", t->warnings,
				&error));
	g_error_free(error);
	g_string_free(text, TRUE);
}

SETUP_TEST(test_the_nearest_key_may_be_one_of_these)
{
	setup_parse(t, "qos_sl2v 0\n");
	assert_int_equal(t->warnings->len, 1);
	assert_string_equal(t->warnings->pdata[0], "x.conf:1:1: qos_sl2v "
			    "is no key; the nearest is qos_sl2vl");
}

SETUP_TEST(test_an_sl_that_starves_is_warned_of)
{
	setup_parse(t, "qos TRUE\n");
	assert_int_equal(t->warnings->len, 0);
	/* The document's example: VL 4 off, no more than 8 VLs. */
	setup_parse(t, "qos_vlarb_high 0:4\n"
		 "qos_vlarb_low 0:0,1:64,2:128,3:192,4:0,5:64,6:64,7:64\n");
	assert_int_equal(t->warnings->len, 1);
	assert_string_equal(t->warnings->pdata[0],
			    "qos: packets of SL 4, 8, 9, 10, 11, 12, 13, 14 "
			    "are never sent: sl2vl gives them a VL without "
			    "weight in vlarb_high and vlarb_low");
	setup_parse(t, "qos_sl2vl 0,1,2,3,15,5,6,7,0,1,2,3,5,5,6,7\n");
	assert_int_equal(t->warnings->len, 0);
	/* Folded into four VLs, three of which have weight. */
	setup_parse(t, "qos_sl2vl (null)\nqos_max_vls 7\n"
		 "qos_vlarb_low 1:1,2:1,4:1\n");
	assert_int_equal(t->warnings->len, 1);
	assert_has(t->warnings->pdata[0], "SL 3, 7, 11, 15 are");
	setup_parse(t, "qos_vlarb_high 4:1\nqos_vlarb_low 5:1,6:1,7:1\n");
	assert_int_equal(t->warnings->len, 0);
	setup_parse(t, "qos_sl2vl (null)\nqos FALSE\n");
	assert_int_equal(t->warnings->len, 0);
}
