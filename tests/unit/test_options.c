// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The configuration file: what it may say, and what each wrong value costs (a
 * line that says what is right). The command line is in test_command_line.c.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/config/options.h"
#include "tests/lib/unit.h"
#include "topology/text.h"

struct setup {
	struct options *conf;
	GPtrArray *warnings;
};

static int
setup_new(void **state)
{
	struct setup *t = g_new0(struct setup, 1);

	t->conf = options_new();
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	*state = t;
	return 0;
}

static int
setup_free(void **state)
{
	struct setup *t = *state;

	options_free(t->conf);
	g_ptr_array_free(t->warnings, TRUE);
	g_free(t);
	return 0;
}

static void
parse(struct setup *t, const char *text)
{
	GError *error = NULL;

	if (!options_parse(t->conf, text, "x.conf", t->warnings, &error))
		fail_msg("%s", error->message);
}

static void
assert_same(const struct options *a, const struct options *b)
{
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(g_strcmp0(a->ca_name, b->ca_name), 0);
	assert_int_equal(a->port_num, b->port_num);
	assert_int_equal(a->port_guid, b->port_guid);
	assert_int_equal(g_strcmp0(a->engine, b->engine), 0);
	assert_int_equal(a->require_deadlock_free, b->require_deadlock_free);
	assert_int_equal(a->routing_threads, b->routing_threads);
	assert_int_equal(g_strcmp0(a->root_guid_file, b->root_guid_file), 0);
	assert_int_equal(g_strcmp0(a->cn_guid_file, b->cn_guid_file), 0);
	assert_int_equal(g_strcmp0(a->io_guid_file, b->io_guid_file), 0);
	assert_int_equal(a->sweep_s, b->sweep_s);
	assert_int_equal(a->force_heavy, b->force_heavy);
	assert_int_equal(g_strcmp0(a->node_names_file, b->node_names_file), 0);
	assert_int_equal(a->background, b->background);
	assert_int_equal(g_strcmp0(a->pid_file, b->pid_file), 0);
	assert_int_equal(a->timeout_ms, b->timeout_ms);
	assert_int_equal(a->retries, b->retries);
	assert_int_equal(a->max_smps, b->max_smps);
	assert_int_equal(a->priority, b->priority);
	assert_int_equal(a->lmc, b->lmc);
	assert_int_equal(a->m_key, b->m_key);
	assert_int_equal(a->sm_key, b->sm_key);
	assert_int_equal(a->sa_key, b->sa_key);
	assert_int_equal(a->subnet_prefix, b->subnet_prefix);
	assert_int_equal(a->verbosity, b->verbosity);
	assert_int_equal(g_strcmp0(a->config_file, b->config_file), 0);
	assert_int_equal(g_strcmp0(a->log_file, b->log_file), 0);
	assert_int_equal(g_strcmp0(a->cache_dir, b->cache_dir), 0);
	assert_int_equal(g_strcmp0(a->dump_dir, b->dump_dir), 0);
	assert_int_equal(a->show, b->show);
	assert_int_equal(a->m_key_lease, b->m_key_lease);
	assert_int_equal(a->m_key_protect, b->m_key_protect);
	assert_int_equal(a->m_key_per_port, b->m_key_per_port);
	assert_int_equal(a->m_key_lookup, b->m_key_lookup);
	assert_int_equal(g_strcmp0(a->partition_file, b->partition_file), 0);
	assert_int_equal(a->partition_file_asked, b->partition_file_asked);
	assert_int_equal(a->enforce, b->enforce);
	assert_int_equal(a->no_enforcement, b->no_enforcement);
	assert_int_equal(a->sm_sl, b->sm_sl);
	assert_int_equal(a->subnet_timeout, b->subnet_timeout);
	assert_int_equal(a->packet_life_time, b->packet_life_time);
	assert_int_equal(a->hoq_life, b->hoq_life);
	assert_int_equal(a->leaf_hoq_life, b->leaf_hoq_life);
	assert_int_equal(a->vl_stall, b->vl_stall);
	assert_int_equal(a->leaf_vl_stall, b->leaf_vl_stall);
	assert_int_equal(a->max_op_vls, b->max_op_vls);
	assert_int_equal(a->group_quota, b->group_quota);
	assert_int_equal(a->local_phy_errors, b->local_phy_errors);
	assert_int_equal(a->overrun_errors, b->overrun_errors);
	assert_int_equal(a->poll_ms, b->poll_ms);
	assert_int_equal(a->polls_lost, b->polls_lost);
	assert_int_equal(a->no_rereg, b->no_rereg);
	assert_int_equal(g_strcmp0(a->control_socket, b->control_socket), 0);
	assert_int_equal(g_strcmp0(a->http, b->http), 0);
}

TEST(test_every_key_arrives, setup_new, setup_free)
{
	struct setup *t = *state;

	parse(t, "guid 0x0002c90300a1b2c3\n"
		 "port 2\n"
		 "  ca_name mlx5_0   # the left one\n"
		 "routing_engine\tupdn\n"
		 "require_deadlock_free TRUE\n"
		 "root_guid_file /r\n"
		 "cn_guid_file /cn\n"
		 "io_guid_file /io\n"
		 "routing_threads 2\n"
		 "sweep_interval 0\n"
		 "force_heavy_sweep TRUE\n"
		 "node_name_map_name /etc/ib-node-name-map\n"
		 "daemon TRUE\n"
		 "transaction_timeout 60000\n"
		 "transaction_retries 0\n"
		 "max_wire_smps 0x40\n"
		 "sm_priority 15\r\n"
		 "lmc 7\n"
		 "m_key 0xffffffffffffffff\n"
		 "sm_key 18446744073709551615\n"
		 "sa_key 0x10\n"
		 "subnet_prefix 0xFEC0000000000000\n"
		 "log_file \"/a b/c # d\"\n"
		 "cache_dir \"\"\n"
		 "dump_dir /d#e");
	assert_int_equal(t->conf->port_guid, 0x0002c90300a1b2c3);
	assert_int_equal(t->conf->port_num, 2);
	assert_string_equal(t->conf->ca_name, "mlx5_0");
	assert_string_equal(t->conf->engine, "updn");
	assert_true(t->conf->require_deadlock_free);
	assert_string_equal(t->conf->root_guid_file, "/r");
	assert_string_equal(t->conf->cn_guid_file, "/cn");
	assert_string_equal(t->conf->io_guid_file, "/io");
	assert_int_equal(t->conf->routing_threads, 2);
	assert_int_equal(t->conf->sweep_s, 0);
	assert_true(t->conf->force_heavy);
	assert_string_equal(t->conf->node_names_file, "/etc/ib-node-name-map");
	assert_true(t->conf->background);
	assert_int_equal(t->conf->timeout_ms, 60000);
	assert_int_equal(t->conf->retries, 0);
	assert_int_equal(t->conf->max_smps, 64);
	assert_int_equal(t->conf->priority, 15);
	assert_int_equal(t->conf->lmc, 7);
	assert_true(t->conf->m_key == UINT64_MAX);
	assert_true(t->conf->sm_key == UINT64_MAX);
	assert_true(t->conf->sa_key == 16);
	assert_int_equal(t->conf->subnet_prefix, 0xfec0000000000000);
	assert_string_equal(t->conf->log_file, "/a b/c # d");
	assert_null(t->conf->cache_dir);
	assert_string_equal(t->conf->dump_dir, "/d#e");
	assert_int_equal(t->warnings->len, 0);
}

/* All other than what is built in, so that one that goes astray is seen. */
static const char policy_lines[] =
	"m_key_lease_period 660\n"
	"m_key_protection_level 2\n"
	"m_key_per_port TRUE\n"
	"m_key_lookup FALSE\n"
	"partition_config_file /p\n"
	"part_enforce IN\n"
	"no_partition_enforcement TRUE\n"
	"sm_sl 3\n"
	"subnet_timeout 17\n"
	"packet_life_time 0x11\n"
	"head_of_queue_lifetime 0x13\n"
	"leaf_head_of_queue_lifetime 15\n"
	"vl_stall_count 6\n"
	"leaf_vl_stall_count 5\n"
	"max_op_vls 4\n"
	"local_phy_errors_threshold 9\n"
	"overrun_errors_threshold 10\n"
	"sminfo_polling_timeout 10000\n"
	"polling_retry_number 4\n"
	"no_clients_rereg TRUE\n"
	"control_socket /s\n"
	"http [::1]:9683\n";

TEST(test_every_key_of_policy_arrives, setup_new, setup_free)
{
	struct setup *t = *state;

	parse(t, policy_lines);
	assert_int_equal(t->conf->m_key_lease, 660);
	assert_int_equal(t->conf->m_key_protect, 2);
	assert_true(t->conf->m_key_per_port);
	assert_false(t->conf->m_key_lookup);
	assert_string_equal(t->conf->partition_file, "/p");
	assert_false(t->conf->partition_file_asked);
	assert_int_equal(t->conf->enforce, OPTIONS_SIDE_IN);
	assert_true(t->conf->no_enforcement);
	assert_int_equal(t->conf->sm_sl, 3);
	assert_int_equal(t->conf->subnet_timeout, 17);
	assert_int_equal(t->conf->packet_life_time, 17);
	assert_int_equal(t->conf->hoq_life, 19);
	assert_int_equal(t->conf->leaf_hoq_life, 15);
	assert_int_equal(t->conf->vl_stall, 6);
	assert_int_equal(t->conf->leaf_vl_stall, 5);
	assert_int_equal(t->conf->max_op_vls, 4);
	assert_int_equal(t->conf->local_phy_errors, 9);
	assert_int_equal(t->conf->overrun_errors, 10);
	assert_int_equal(t->conf->poll_ms, 10000);
	assert_int_equal(t->conf->polls_lost, 4);
	assert_true(t->conf->no_rereg);
	assert_string_equal(t->conf->control_socket, "/s");
	assert_string_equal(t->conf->http, "[::1]:9683");
	assert_int_equal(t->warnings->len, 0);
}

/* OpenSM's old key takes enforcement away, whatever the new one says. */
TEST(test_enforcement_follows_both_keys, setup_new, setup_free)
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
	struct setup *t = *state;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		options_free(t->conf);
		t->conf = options_new();
		parse(t, cases[i].text);
		assert_int_equal(options_enforce(t->conf), cases[i].sides);
	}
}

TEST(test_null_is_the_built_in_value, setup_new, setup_free)
{
	struct setup *t = *state;
	struct options *fresh = options_new();
	char **keys = g_strsplit(policy_lines, "\n", -1);

	parse(t, "lmc 3\nrouting_engine x\ncache_dir /c\nm_key 7\n"
		 "log_file /l\nguid 5\nrequire_deadlock_free yes\n");
	parse(t, "lmc (null)\nrouting_engine (null)\ncache_dir (null)\n"
		 "m_key (null)\nlog_file (null)\nguid (null)\n"
		 "require_deadlock_free (null)\n");
	parse(t, policy_lines);
	for (size_t i = 0; keys[i]; i++) {
		keys[i][strcspn(keys[i], " ")] = '\0';
		if (*keys[i]) {
			char *line = g_strdup_printf("%s (null)", keys[i]);

			parse(t, line);
			g_free(line);
		}
	}
	g_strfreev(keys);
	assert_same(t->conf, fresh);
	options_free(fresh);
}

TEST(test_unknown_keys_are_warned_of, setup_new, setup_free)
{
	struct setup *t = *state;

	parse(t, "# a comment\n"
		 "\n"
		 "sweep_intervall 3\n"
		 "prefix_routes_file /etc/routes\n"
		 "hop_weights_file (null)\n"
		 "force_link_speed 0 0\n"
		 "lcm\n");
	assert_int_equal(t->warnings->len, 4);
	assert_string_equal(g_ptr_array_index(t->warnings, 0),
			    "x.conf:3:1: sweep_intervall is no key; the "
			    "nearest is sweep_interval");
	assert_string_equal(g_ptr_array_index(t->warnings, 1),
			    "x.conf:4:1: prefix_routes_file is not used by "
			    "minism yet");
	assert_string_equal(g_ptr_array_index(t->warnings, 2),
			    "x.conf:6:1: force_link_speed is not "
			    "used by minism yet");
	assert_string_equal(g_ptr_array_index(t->warnings, 3),
			    "x.conf:7:1: lcm is no key; the nearest is lmc");
	assert_int_equal(t->conf->sweep_s, 10);
}

/* What asks for nothing else than minism does needs no warning. */
TEST(test_foreign_keys_are_judged_by_value, setup_new, setup_free)
{
	struct setup *t = *state;

	parse(t, "sweep_on_trap TRUE\nconsole off\nsm_inactive false # no\n"
		 "exit_on_fatal FALSE\nkeep_pkey_indexes TRUE\n"
		 "console_port 10000\ncc_key 7\n");
	assert_int_equal(t->warnings->len, 0);
	parse(t, "sweep_on_trap FALSE\nconsole local\nsm_inactive\n"
		 "console offline\nkeep_pkey_indexes TRUER\n");
	assert_int_equal(t->warnings->len, 5);
}

/* OpenSM's: dumps are one of the things to log. */
TEST(test_log_flags_and_dumps_are_taken_from_opensm, setup_new, setup_free)
{
	static const struct {
		const char *text;
		int verbosity;
		const char *dump_dir;
	} cases[] = {
		{ "log_flags 0x03\ndump_files_dir /var/log/\n", 2, NULL },
		{ "log_flags 0x43\ndump_files_dir /var/log/\n", 2,
		  "/var/log/" },
		{ "dump_files_dir /d\n", 2, "/d" },
		{ "dump_files_dir /d\ndump_dir /e\n", 2, "/e" },
		{ "log_flags 0x1\n", 0, NULL },
		{ "log_flags 7\n", 3, NULL },
		{ "log_flags 0xff\n", 4, NULL },
	};
	struct setup *t = *state;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct options *conf = options_new();

		assert_true(options_parse(conf, cases[i].text, "x", t->warnings,
				       NULL));
		assert_int_equal(conf->verbosity, cases[i].verbosity);
		assert_int_equal(g_strcmp0(conf->dump_dir,
					   cases[i].dump_dir), 0);
		options_free(conf);
	}
	assert_int_equal(t->warnings->len, 0);
}

TEST(test_keys_whose_effect_is_there_need_no_warning, setup_new, setup_free)
{
	struct setup *t = *state;

	parse(t, "use_ucast_cache TRUE\nsingle_thread TRUE\nfdr10 1\n"
		 "use_mfttop TRUE\nmax_smps_timeout 1000\n"
		 "max_wire_smps2 8\nprefix_routes_file "
		 "/etc/opensm/prefix-routes.conf\nrouting_threads_num 3\n");
	assert_int_equal(t->warnings->len, 0);
	assert_int_equal(t->conf->routing_threads, 3);
	parse(t, "scatter_ports 8\nconsole loopback\n");
	assert_int_equal(t->warnings->len, 2);
	assert_string_equal(t->warnings->pdata[0], "x.conf:1:1: "
			    "scatter_ports is not used by minism yet");
	assert_string_equal(t->warnings->pdata[1], "x.conf:2:1: console is "
			    "not used by minism yet; minismctl asks a running "
			    "minism");
}

TEST(test_all_errors_of_a_file_are_told, setup_new, setup_free)
{
	struct setup *t = *state;
	GString *many = g_string_new(NULL);
	GError *error = NULL;
	char **lines;

	assert_false(options_parse(t->conf, "  lmc 9\nlcm 1\nsm_priority  16\n",
				"x.conf", t->warnings, &error));
	assert_string_equal(error->message,
			    "x.conf:1:7: lmc: 9 is not 0 to 7\n"
			    "x.conf:3:14: sm_priority: 16 is not 0 to 15");
	assert_int_equal(t->warnings->len, 1);
	g_clear_error(&error);

	for (unsigned i = 0; i < 25; i++)
		g_string_append(many, "lmc 9\n");
	assert_false(options_parse(t->conf, many->str, "x.conf", t->warnings,
				&error));
	lines = g_strsplit(error->message, "\n", -1);
	assert_int_equal(g_strv_length(lines), 21);
	assert_string_equal(lines[19], "x.conf:20:5: lmc: 9 is not 0 to 7");
	assert_string_equal(lines[20], "and 5 errors more");
	g_strfreev(lines);
	g_clear_error(&error);

	for (unsigned i = 0; i < 25; i++)
		g_string_overwrite(many, 6 * i, "lcm");
	g_ptr_array_set_size(t->warnings, 0);
	parse(t, many->str);
	assert_int_equal(t->warnings->len, 21);
	assert_string_equal(g_ptr_array_index(t->warnings, 20),
			    "x.conf: 5 unknown keys more");
	g_string_free(many, TRUE);
}

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
	{ 6, "http localhost:9683",
	  "http: localhost:9683 is not ADDRESS:PORT such as "
	  "127.0.0.1:9683 or [::1]:9683" },
	{ 16, "vl_stall_count 0", "vl_stall_count: 0 is not 1 to 7" },
	{ 12, "max_op_vls 6", "max_op_vls: 6 is not 1 to 5" },
	{ 20, "m_key_lease_period 65536",
	  "m_key_lease_period: 65536 is not 0 to 65535" },
};

TEST(test_bad_value_is_an_error_and_nothing_is_taken, setup_new, setup_free)
{
	struct setup *t = *state;
	struct options *fresh = options_new();

	for (size_t i = 0; i < G_N_ELEMENTS(bad_lines); i++) {
		char *text = g_strdup_printf("sm_priority 3\nlog_file /x\n%s\n"
					     "dump_dir /y\n",
					     bad_lines[i].text);
		char *want = g_strdup_printf("x.conf:3:%u: %s",
					     bad_lines[i].column,
					     bad_lines[i].error);
		GError *error = NULL;

		assert_false(options_parse(t->conf, text, "x.conf", t->warnings,
					&error));
		assert_true(g_error_matches(error, TEXT_ERROR,
					    TEXT_ERROR_SYNTAX));
		assert_string_equal(error->message, want);
		assert_same(t->conf, fresh);
		g_error_free(error);
		g_free(want);
		g_free(text);
	}
	options_free(fresh);
}

static char *
read_source(const char *name)
{
	const char *src = g_getenv("MINISM_SRC");
	char *path = g_build_filename(src ? src : ".", name, NULL);
	GError *error = NULL;
	char *text;

	if (!g_file_get_contents(path, &text, NULL, &error))
		fail_msg("%s", error->message);
	g_free(path);
	return text;
}

/* The QoS keys of one kind of port are described together. */
static bool
has_entry(const char *key)
{
	return key && !g_str_has_prefix(key, "qos_ca_") &&
		!g_str_has_prefix(key, "qos_rtr_") &&
		!g_str_has_prefix(key, "qos_sw0_") &&
		!g_str_has_prefix(key, "qos_swe_");
}

/* The shipped file sets nothing; what is commented out in it is every key, and
 * says what is built in. */
TEST(test_shipped_file_tells_the_defaults, setup_new, setup_free)
{
	struct setup *t = *state;
	struct options *fresh = options_new();
	char *text = read_source("etc/minism.conf");
	char **lines = g_strsplit(text, "\n", -1);
	GString *settings = g_string_new(NULL);

	parse(t, text);
	assert_int_equal(t->warnings->len, 0);
	assert_same(t->conf, fresh);

	for (size_t i = 0; lines[i]; i++)
		if (lines[i][0] == '#' && g_ascii_islower(lines[i][1]))
			g_string_append_printf(settings, "%s\n", lines[i] + 1);
	for (size_t i = 0; i < options_table.n; i++) {
		const struct option *o = &options_table.options[i];
		g_autofree char *start = g_strdup_printf("\n#%s ", o->key);

		/* the second name is OpenSM's */
		if (has_entry(o->key) && !strstr(text, start) &&
		    strcmp(o->key, "routing_threads_num"))
			fail_msg("etc/minism.conf lacks %s", o->key);
	}
	/* Every value must change back to what is built in. */
	parse(t, "lmc 1\nsweep_interval 1\nsm_priority 1\nm_key 1\nsm_key 1\n"
		 "transaction_timeout 1\ntransaction_retries 1\nguid 1\n"
		 "max_wire_smps 1\nrouting_engine x\nsubnet_prefix 1\n"
		 "log_file x\nport 1\nca_name x\ndump_dir x\n"
		 "force_heavy_sweep TRUE\nnode_name_map_name x\n"
		 "daemon TRUE\nlog_flags 1\ndump_files_dir x\n");
	parse(t, policy_lines);
	parse(t, settings->str);
	/* these depend on the build */
	parse(t, "partition_config_file (null)\n");
	parse(t, "control_socket (null)\n");
	parse(t, "cache_dir (null)\n");
	assert_int_equal(t->warnings->len, 0);
	assert_same(t->conf, fresh);
	g_string_free(settings, TRUE);
	g_strfreev(lines);
	g_free(text);
	options_free(fresh);
}

TEST(test_man_page_has_every_key, setup_new, setup_free)
{
	char *text = read_source("doc/minism.conf.5");

	for (size_t i = 0; i < options_table.n; i++) {
		const char *key = options_table.options[i].key;
		g_autofree char *start = g_strdup_printf("\n.BI %s \" ", key);

		if (has_entry(key) && !strstr(text, start))
			fail_msg("minism.conf(5) lacks %s", key);
	}
	g_free(text);
}
