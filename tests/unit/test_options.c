// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The configuration file: what it may say, what each wrong value costs (a line
 * that says what is right), and what is worth a warning. The command line is in
 * test_command_line.c.
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/options_lab.h"
#include "tests/lib/unit.h"
#include "topology/text.h"

/* All values: texts by what they say, the rest as it is in memory. */
static void
assert_same(const struct options *a, const struct options *b)
{
	struct options copies[2];

	memcpy(&copies[0], a, sizeof(*a));
	memcpy(&copies[1], b, sizeof(*b));
	for (size_t i = 0; i < options_table.n; i++) {
		const struct option *o = &options_table.options[i];
		char **x = (char **)((char *)&copies[0] + o->offset);
		char **y = (char **)((char *)&copies[1] + o->offset);

		if (!o->kind || !o->kind->is_text)
			continue;
		assert_int_equal(g_strcmp0(*x, *y), 0);
		*x = *y = NULL;
	}
	copies[0].origins = copies[1].origins = NULL;
	assert_memory_equal(&copies[0], &copies[1], sizeof(copies[0]));
}

/* All other than what is built in, so that one that goes astray is seen. */
static const struct setting good_lines[] = {
	{ "guid 0x0002c90300a1b2c3", VALUE(port_guid, 0x0002c90300a1b2c3) },
	{ "port 2", VALUE(port_num, 2) },
	{ "  ca_name mlx5_0   # the left one", NAME(ca_name, "mlx5_0") },
	{ "routing_engine\tupdn", NAME(engine, "updn") },
	{ "require_deadlock_free TRUE", VALUE(require_deadlock_free, true) },
	{ "root_guid_file /r", NAME(root_guid_file, "/r") },
	{ "cn_guid_file /cn", NAME(cn_guid_file, "/cn") },
	{ "io_guid_file /io", NAME(io_guid_file, "/io") },
	{ "routing_threads 2", VALUE(routing_threads, 2) },
	{ "sweep_interval 0", VALUE(sweep_s, 0) },
	{ "force_heavy_sweep TRUE", VALUE(force_heavy, true) },
	{ "node_name_map_name /etc/map", NAME(node_names_file, "/etc/map") },
	{ "daemon TRUE", VALUE(background, true) },
	{ "transaction_timeout 60000", VALUE(timeout_ms, 60000) },
	{ "transaction_retries 0", VALUE(retries, 0) },
	{ "max_wire_smps 0x40", VALUE(max_smps, 64) },
	{ "sm_priority 15\r", VALUE(priority, 15) },
	{ "lmc 7", VALUE(lmc, 7) },
	{ "m_key 0xffffffffffffffff", VALUE(m_key, UINT64_MAX) },
	{ "sm_key 18446744073709551615", VALUE(sm_key, UINT64_MAX) },
	{ "allowed_sm_guids 0x1,0x2", NAME(allowed_sms, "0x1,0x2") },
	{ "sa_key 0x10", VALUE(sa_key, 16) },
	{ "subnet_prefix 0xFEC0000000000000",
	  VALUE(subnet_prefix, 0xfec0000000000000) },
	{ "log_file \"/a b/c # d\"", NAME(log_file, "/a b/c # d") },
	{ "cache_dir \"\"", NAME(cache_dir, NULL) },
	{ "m_key_lease_period 660", VALUE(m_key_lease, 660) },
	{ "m_key_protection_level 2", VALUE(m_key_protect, 2) },
	{ "m_key_per_port TRUE", VALUE(m_key_per_port, true) },
	{ "m_key_lookup FALSE", VALUE(m_key_lookup, false) },
	{ "partition_config_file /p", NAME(partition_file, "/p") },
	{ "part_enforce IN", VALUE(enforce, OPTIONS_SIDE_IN) },
	{ "no_partition_enforcement TRUE", VALUE(no_enforcement, true) },
	{ "sm_sl 3", VALUE(sm_sl, 3) },
	{ "subnet_timeout 17", VALUE(subnet_timeout, 17) },
	{ "packet_life_time 0x11", VALUE(packet_life_time, 17) },
	{ "head_of_queue_lifetime 0x13", VALUE(hoq_life, 19) },
	{ "leaf_head_of_queue_lifetime 15", VALUE(leaf_hoq_life, 15) },
	{ "vl_stall_count 6", VALUE(vl_stall, 6) },
	{ "leaf_vl_stall_count 5", VALUE(leaf_vl_stall, 5) },
	{ "max_op_vls 4", VALUE(qos.max_op_vls, 4) },
	{ "local_phy_errors_threshold 9", VALUE(local_phy_errors, 9) },
	{ "overrun_errors_threshold 10", VALUE(overrun_errors, 10) },
	{ "sminfo_polling_timeout 10000", VALUE(poll_ms, 10000) },
	{ "polling_retry_number 4", VALUE(polls_lost, 4) },
	{ "no_clients_rereg TRUE", VALUE(no_rereg, true) },
	{ "control_socket /s", NAME(control_socket, "/s") },
	{ "view_file /d#e", NAME(view_file, "/d#e") },
};

/* Of all lines, each with `value` in place of its own if that is not NULL. */
static char *
join_lines(const char *value)
{
	GString *out = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(good_lines); i++) {
		const char *line = good_lines[i].line +
			strspn(good_lines[i].line, " ");

		if (value)
			g_string_append_printf(out, "%.*s %s\n",
					       (int)strcspn(line, " \t"),
					       line, value);
		else
			g_string_append_printf(out, "%s\n", good_lines[i].line);
	}
	return g_string_free(out, FALSE);
}

SETUP_TEST(test_every_key_arrives)
{
	g_autofree char *text = join_lines(NULL);

	setup_parse(t, text);
	for (size_t i = 0; i < G_N_ELEMENTS(good_lines); i++)
		setting_check(t->conf, &good_lines[i]);
	assert_false(t->conf->partition_file_asked);
	assert_int_equal(t->warnings->len, 0);
}

/* OpenSM's old key takes enforcement away, whatever the new one says. */
SETUP_TEST(test_enforcement_follows_both_keys)
{
	static const struct {
		const char *text;
		unsigned sides;
	} cases[] = {
		{ "", OPTIONS_SIDE_IN | OPTIONS_SIDE_OUT },
		{ "part_enforce both", OPTIONS_SIDE_IN | OPTIONS_SIDE_OUT },
		{ "part_enforce in", OPTIONS_SIDE_IN },
		{ "part_enforce Out", OPTIONS_SIDE_OUT },
		{ "part_enforce off", 0 },
		{ "no_partition_enforcement TRUE", 0 },
		{ "no_partition_enforcement TRUE\npart_enforce both", 0 },
		{ "no_partition_enforcement FALSE\npart_enforce out",
		  OPTIONS_SIDE_OUT },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		options_free(t->conf);
		t->conf = options_new();
		setup_parse(t, cases[i].text);
		assert_int_equal(options_enforce(t->conf), cases[i].sides);
	}
}

SETUP_TEST(test_null_is_the_built_in_value)
{
	AUTO(options) *fresh = options_new();
	g_autofree char *text = join_lines(NULL);
	g_autofree char *nulls = join_lines("(null)");

	setup_parse(t, text);
	setup_parse(t, nulls);
	assert_same(t->conf, fresh);
}

#define STARVED	"are never sent: sl2vl gives them a VL without weight in " \
	"vlarb_high and vlarb_low\n"
/* The document's example: VL 4 off, no more than 8 VLs. */
#define EIGHT_VLS "qos TRUE\nqos_vlarb_high 0:4\n" \
	"qos_vlarb_low 0:0,1:64,2:128,3:192,4:0,5:64,6:64,7:64\n"
/* Folded into four VLs, three of which have weight. */
#define FOLDED	"qos TRUE\nqos_max_vls 7\nqos_vlarb_high 0:4\n" \
	"qos_vlarb_low 1:1,2:1,4:1\n"

/* What is said of a file. */
static const struct {
	const char *text, *warnings;
} warned[] = {
	{ "# a comment\n\nsweep_intervall 3\nprefix_routes_file (null)\nlcm\n",
	  "x.conf:3:1: sweep_intervall is no key; the nearest is "
	  "sweep_interval\n"
	  "x.conf:4:1: prefix_routes_file is no key\n"
	  "x.conf:5:1: lcm is no key; the nearest is lmc\n" },
	/* OpenSM's name of a key */
	{ "routing_threads_num 3\n", "" },
	/* as in a file that OpenSM wrote: another program judges */
	{ "lcm 1\nconsole off\nsm_inactive false\nfdr10 1\ncc_key 7\n"
	  "perfmgr TRUE\nqos_ca_max_vls 3\n",
	  "x.conf: 7 keys are none of minism's, and not used; minism-import "
	  "tells what OpenSM's are here\n" },
	/* counters are read by another program */
	{ "bad_link_policy avoid_slow\n", "" },
	{ "bad_link_policy avoid\n",
	  "x.conf:1:17: bad_link_policy avoid: minism-health --avoid reads "
	  "the errors\n" },
	{ "qos_sl2v 0\n", "x.conf:1:1: qos_sl2v is no key; the nearest is "
	  "qos_sl2vl\n" },
	/* an SL that starves */
	{ "qos TRUE\n", "" },
	{ EIGHT_VLS, "qos: packets of SL 4, 8, 9, 10, 11, 12, 13, 14 " STARVED },
	{ EIGHT_VLS "qos_sl2vl 0,1,2,3,15,5,6,7,0,1,2,3,5,5,6,7\n", "" },
	{ FOLDED, "qos: packets of SL 3, 7, 11, 15 " STARVED },
	{ FOLDED "qos_vlarb_high 4:1\nqos_vlarb_low 5:1,6:1,7:1\n", "" },
	{ FOLDED "qos FALSE\n", "" },
};

SETUP_TEST(test_what_has_no_effect_is_warned_of)
{
	for (size_t i = 0; i < G_N_ELEMENTS(warned); i++) {
		g_autoptr(GString) told = g_string_new(NULL);

		options_free(t->conf);
		t->conf = options_new();
		setup_parse(t, warned[i].text);
		for (guint k = 0; k < t->warnings->len; k++)
			g_string_append_printf(told, "%s\n",
					       (char *)t->warnings->pdata[k]);
		assert_string_equal(told->str, warned[i].warnings);
		assert_int_equal(t->conf->sweep_s, 10);
	}
}

SETUP_TEST(test_foreign_keys_are_taken)
{
	setup_parse(t, "routing_threads_num 3\nbad_link_policy avoid_slow\n");
	assert_int_equal(t->conf->routing_threads, 3);
	setup_parse(t, "bad_link_policy avoid\n");
	assert_int_equal(t->conf->bad_links & OPTIONS_AVOID_SLOW,
			 OPTIONS_AVOID_SLOW);
}

static char *
errors_of(struct setup *t, const char *text)
{
	g_autoptr(GError) error = NULL;

	assert_false(options_parse(t->conf, text, "x.conf", t->warnings,
				   &error));
	assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
	return g_strdup(error->message);
}

SETUP_TEST(test_all_errors_of_a_file_are_told)
{
	g_autoptr(GString) many = g_string_new(NULL);
	g_autofree char *two = errors_of(t, "  lmc 9\nlcm 1\nsm_priority  16\n");
	g_autofree char *all = NULL;
	g_auto(GStrv) lines = NULL;

	assert_string_equal(two, "x.conf:1:7: lmc: 9 is not 0 to 7\n"
			    "x.conf:3:14: sm_priority: 16 is not 0 to 15");
	assert_int_equal(t->warnings->len, 1);

	for (unsigned i = 0; i < 25; i++)
		g_string_append(many, "lmc 9\n");
	all = errors_of(t, many->str);
	lines = g_strsplit(all, "\n", -1);
	assert_int_equal(g_strv_length(lines), 21);
	assert_string_equal(lines[19], "x.conf:20:5: lmc: 9 is not 0 to 7");
	assert_string_equal(lines[20], "and 5 errors more");
}

#define VLS	"a list of up to 16 VLs of 0 to 14, or 15 to drop the SL"
#define WEIGHTS	"a list of up to 64 VL:WEIGHT, VLs of 0 to 14 and weights " \
	"of 0 to 255"
#define WRONG(key, n, word, list) \
	key ": number " n " of the list, \"" word "\", is wrong: " list " is needed"

static const struct {
	unsigned column;
	const char *text;
	const char *error;
} bad_lines[] = {
	{ 5, "lmc 9", "lmc: 9 is not 0 to 7" },
	{ 5, "lmc -1", "lmc: -1 is not 0 to 7" },
	{ 5, "lmc 1x", "lmc: 1x is not 0 to 7" },
	{ 5, "lmc 0x", "lmc: 0x is not 0 to 7" },
	{ 5, "lmc \"\"", "lmc: \"\" is not 0 to 7" },
	{ 4, "lmc", "lmc: a value is missing: 0 to 7" },
	{ 5, "lmc # 1", "lmc: a value is missing: 0 to 7" },
	{ 7, "lmc 1 2", "lmc: more than one value (one with blanks in it "
	  "needs quotes)" },
	{ 5, "lmc 18446744073709551616",
	  "lmc: 18446744073709551616 is not 0 to 7" },
	{ 13, "sm_priority 16", "sm_priority: 16 is not 0 to 15" },
	{ 6, "port 0", "port: 0 is not 1 to 254" },
	{ 6, "port 255", "port: 255 is not 1 to 254" },
	{ 16, "sweep_interval 86401",
	  "sweep_interval: 86401 is not 0 to 86400" },
	{ 21, "transaction_timeout 0",
	  "transaction_timeout: 0 is not 1 to 60000" },
	{ 21, "transaction_retries 101",
	  "transaction_retries: 101 is not 0 to 100" },
	{ 15, "max_wire_smps 0", "max_wire_smps: 0 is not 1 to 65535" },
	{ 6, "guid mlx5_0",
	  "guid: mlx5_0 is not a GUID of up to 16 hexadecimal digits" },
	{ 6, "guid 0x10002c90300a1b2c3",
	  "guid: 0x10002c90300a1b2c3 is not a GUID of up to 16 hexadecimal "
	  "digits" },
	{ 15, "subnet_prefix fe80",
	  "subnet_prefix: fe80 is not a number of 64 bits, decimal or 0x and "
	  "hexadecimal" },
	{ 18, "allowed_sm_guids 0x1;0x2", "allowed_sm_guids: 0x1;0x2 is not a "
	  "list of GUIDs, with commas between them" },
	{ 18, "allowed_sm_guids \"0x1 # 2x\"", "allowed_sm_guids: 0x1 # 2x is "
	  "not a list of GUIDs, with commas between them" },
	{ 18, "allowed_sm_guids ,", "allowed_sm_guids: , is not a list of GUIDs, "
	  "with commas between them" },
	{ 7, "m_key s3cret", "m_key: the value is not a number of 64 bits, "
	  "decimal or 0x and hexadecimal" },
	{ 23, "require_deadlock_free maybe",
	  "require_deadlock_free: maybe is not TRUE or FALSE" },
	{ 16, "routing_engine \"\"", "routing_engine: \"\" is not a name" },
	{ 10, "log_file \"/a", "log_file: the quote is not closed" },
	{ 13, "log_file /a b", "log_file: more than one value (one with "
	  "blanks in it needs quotes)" },
	{ 14, "log_file \"/a\"b", "log_file: more than one value (one with "
	  "blanks in it needs quotes)" },
	{ 14, "part_enforce sometimes",
	  "part_enforce: sometimes is not both, in, out or off" },
	{ 16, "vl_stall_count 0", "vl_stall_count: 0 is not 1 to 7" },
	{ 12, "max_op_vls 6", "max_op_vls: 6 is not 1 to 5" },
	{ 20, "m_key_lease_period 65536",
	  "m_key_lease_period: 65536 is not 0 to 65535" },
	{ 5, "qos maybe", "qos: maybe is not TRUE or FALSE" },
	{ 13, "qos_max_vls 16", "qos_max_vls: 16 is not 1 to 15" },
	{ 13, "qos_max_vls \"\"", "qos_max_vls: \"\" is not 1 to 15" },
	{ 16, "qos_high_limit 256", "qos_high_limit: 256 is not 0 to 255" },
	{ 16, "qos_high_limit -2", "qos_high_limit: -2 is not 0 to 255" },
	{ 10, "qos_sl2vl", "qos_sl2vl: a value is missing: " VLS },
	{ 11, "qos_sl2vl 0,16", WRONG("qos_sl2vl", "2", "16", VLS) },
	{ 11, "qos_sl2vl 0,,1", WRONG("qos_sl2vl", "2", "", VLS) },
	{ 11, "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7,0",
	  WRONG("qos_sl2vl", "17", "0", VLS) },
	{ 15, "qos_vlarb_low 1", WRONG("qos_vlarb_low", "1", "1", WEIGHTS) },
	{ 15, "qos_vlarb_low 15:1",
	  WRONG("qos_vlarb_low", "1", "15:1", WEIGHTS) },
	{ 16, "qos_vlarb_high 1:256",
	  WRONG("qos_vlarb_high", "1", "1:256", WEIGHTS) },
	{ 16, "qos_vlarb_high 1:2:3",
	  WRONG("qos_vlarb_high", "1", "1:2:3", WEIGHTS) },
};

SETUP_TEST(test_bad_value_is_an_error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(bad_lines); i++) {
		g_autofree char *text = g_strdup_printf("sm_priority 3\n"
			"log_file /x\n%s\nview_file /y\n", bad_lines[i].text);
		g_autofree char *want = g_strdup_printf("x.conf:3:%u: %s",
			bad_lines[i].column, bad_lines[i].error);
		g_autofree char *error = errors_of(t, text);

		assert_string_equal(error, want);
	}
}

SETUP_TEST(test_every_key_of_qos_arrives)
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
	assert_memory_equal(v->sl2vl, "\1\16\17\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
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

SETUP_TEST(test_a_table_has_64_entries)
{
	g_autoptr(GString) text = g_string_new("qos_vlarb_high 1:1");

	for (unsigned i = 1; i < QOS_ARB_ENTRIES; i++)
		g_string_append(text, ",1:1");
	setup_parse(t, text->str);
	assert_int_equal(t->conf->qos.high[63].weight, 1);
	g_string_append(text, ",1:1");
	g_free(errors_of(t, text->str));
}

/* The shipped file sets nothing; what is commented out in it is every key, and
 * says what is built in. */
SETUP_TEST(test_shipped_file_tells_the_defaults)
{
	AUTO(options) *fresh = options_new();
	g_autofree char *text = source_read("etc/minism.conf");
	g_autofree char *all = join_lines(NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GString) settings = g_string_new(NULL);

	setup_parse(t, text);
	assert_int_equal(t->warnings->len, 0);
	assert_same(t->conf, fresh);

	for (size_t i = 0; lines[i]; i++)
		if (lines[i][0] == '#' && g_ascii_islower(lines[i][1]))
			g_string_append_printf(settings, "%s\n", lines[i] + 1);
	for (size_t i = 0; i < options_table.n; i++) {
		const struct option *o = &options_table.options[i];
		g_autofree char *start = g_strdup_printf("\n#%s ", o->key);

		/* the second name is OpenSM's */
		if (o->key && !strstr(text, start) &&
		    strcmp(o->key, "routing_threads_num"))
			fail_msg("etc/minism.conf lacks %s", o->key);
	}
	/* Every value must change back to what is built in. */
	setup_parse(t, all);
	setup_parse(t, "log_flags 1\nview_file x\n");
	setup_parse(t, settings->str);
	/* these depend on the build */
	setup_parse(t, "partition_config_file (null)\ncontrol_socket (null)\n"
		    "cache_dir (null)\n");
	assert_int_equal(t->warnings->len, 0);
	assert_same(t->conf, fresh);
}

/* Its defaults are those of the shipped file, which are the built-in ones. */
TEST(test_man_page_has_every_key, setup_new, setup_free)
{
	g_autofree char *text = source_read("doc/minism.conf.5");
	g_autofree char *shipped = source_read("etc/minism.conf");
	g_autoptr(GRegex) value = g_regex_new(
		"\nDefault: (0x[0-9a-f]+|[0-9]+|TRUE|FALSE)", 0, 0, NULL);
	unsigned n_values = 0;

	for (size_t i = 0; i < options_table.n; i++) {
		const char *key = options_table.options[i].key, *at, *end;
		g_autofree char *start = g_strdup_printf("\n.BI %s \" ", key);
		g_autoptr(GMatchInfo) match = NULL;
		g_autofree char *entry = NULL, *line = NULL, *is = NULL;

		if (!key)
			continue;
		at = strstr(text, start);
		if (!at)
			fail_msg("minism.conf(5) lacks %s", key);
		end = strstr(at, "\n.TP");
		entry = end ? g_strndup(at, (size_t)(end - at)) : g_strdup(at);
		if (!g_regex_match(value, entry, 0, &match))
			continue;
		is = g_match_info_fetch(match, 1);
		line = g_strdup_printf("\n#%s ", key);
		at = strstr(shipped, line);
		if (!at)	/* another name of a key */
			continue;
		at += strlen(line);
		n_values++;
		if (g_ascii_isdigit(*is) ? g_ascii_strtoull(is, NULL, 0) !=
		    g_ascii_strtoull(at, NULL, 0) :
		    !g_str_has_prefix(at, is))
			fail_msg("minism.conf(5): the default of %s is not %s",
				 key, is);
	}
	assert_true(n_values > 30);
}
