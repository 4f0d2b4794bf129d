// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The configuration file: what it may say. What each wrong value costs (a line
 * that says what is right), and what is worth a warning, is in
 * tests/golden/conf. The command line is in test_command_line.c.
 */
#include "tests/lib/options_lab.h"
#include "tests/lib/unit.h"

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
	{ "node_name_map_name /etc/map", NAME(node_names_file, "/etc/map") },
	{ "daemon TRUE", VALUE(background, true) },
	{ "transaction_timeout 60000", VALUE(timeout_ms, 60000) },
	{ "transaction_retries 0", VALUE(retries, 0) },
	{ "max_wire_smps 0x40", VALUE(max_smps, 64) },
	{ "sm_priority 15\r", VALUE(priority, 15) },
	{ "lmc 7", VALUE(lmc, 7) },
	{ "m_key 0xffffffffffffffff", VALUE(policy.m_key, UINT64_MAX) },
	{ "sm_key 18446744073709551615", VALUE(sm_key, UINT64_MAX) },
	{ "allowed_sm_guids 0x1,0x2", NAME(allowed_sms, "0x1,0x2") },
	{ "sa_key 0x10", VALUE(sa_key, 16) },
	{ "subnet_prefix 0xFEC0000000000000",
	  VALUE(policy.gid_prefix, 0xfec0000000000000) },
	{ "log_file \"/a b/c # d\"", NAME(log_file, "/a b/c # d") },
	{ "cache_dir \"\"", NAME(cache_dir, NULL) },
	{ "m_key_lease_period 660", VALUE(policy.m_key_lease, 660) },
	{ "m_key_protection_level 2", VALUE(policy.m_key_protect, 2) },
	{ "m_key_per_port TRUE", VALUE(m_key_per_port, true) },
	{ "m_key_lookup FALSE", VALUE(m_key_lookup, false) },
	{ "partition_config_file /p", NAME(partition_file, "/p") },
	{ "part_enforce IN", VALUE(enforce, OPTIONS_SIDE_IN) },
	{ "no_partition_enforcement TRUE", VALUE(no_enforcement, true) },
	{ "sm_sl 3", VALUE(policy.sm_sl, 3) },
	{ "subnet_timeout 17", VALUE(policy.subnet_timeout, 17) },
	{ "packet_life_time 0x11", VALUE(policy.packet_life_time, 17) },
	{ "head_of_queue_lifetime 0x13", VALUE(policy.hoq_life, 19) },
	{ "leaf_head_of_queue_lifetime 15", VALUE(policy.leaf_hoq_life, 15) },
	{ "vl_stall_count 6", VALUE(policy.vl_stall, 6) },
	{ "leaf_vl_stall_count 5", VALUE(policy.leaf_vl_stall, 5) },
	{ "max_op_vls 4", VALUE(qos.max_op_vls, 4) },
	{ "local_phy_errors_threshold 9", VALUE(policy.local_phy_errors, 9) },
	{ "overrun_errors_threshold 10", VALUE(policy.overrun_errors, 10) },
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

SETUP_TEST(test_foreign_keys_are_taken)
{
	setup_parse(t, "bad_link_policy avoid_slow\n");
	assert_int_equal(t->conf->bad_links, OPTIONS_LINKS_SLOW);
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

SETUP_TEST(test_a_list_of_weights_has_64)
{
	g_autoptr(GString) text = g_string_new("qos_vlarb_high 1:1");

	for (unsigned i = 1; i < QOS_ARB_ENTRIES; i++)
		g_string_append(text, ",1:1");
	setup_parse(t, text->str);
	assert_int_equal(t->conf->qos.high[63].weight, 1);
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

		if (o->key && !strstr(text, start))
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
		assert_non_null(at);
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
