// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command line: what each option sets, what each wrong one costs (one line
 * that says what is right), and which setting goes before which.
 */
#include "tests/lib/options_lab.h"
#include "tests/lib/unit.h"
#include "topology/text.h"

static uint64_t seed;
static const struct option simulator_rows[] = {
	{ NULL, "seed", 0, &option_number64, 0, 0, 0, "1", "NUMBER", "" },
};
static const struct option_table simulator = {
	.options = simulator_rows, .n = G_N_ELEMENTS(simulator_rows),
	.usage = "FABRIC", .values = &seed,
};

/* Runs a command line of words without blanks, behind the program's name; NULL
 * if it is accepted, else the message. */
static char *
run(struct setup *t, const char *format, ...)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *line = NULL, *words = NULL;
	g_auto(GStrv) argv = NULL;
	va_list ap;

	va_start(ap, format);
	line = g_strdup_vprintf(format, ap);
	va_end(ap);
	words = g_strconcat("minism ", line, NULL);
	argv = g_strsplit(words, " ", -1);
	options_free(t->conf);
	t->conf = options_new();
	t->conf->simulator = t->simulator;
	g_ptr_array_set_size(t->warnings, 0);
	if (options_from_args(t->conf, (int)g_strv_length(argv), argv,
			      t->warnings, &error)) {
		assert_null(error);
		return NULL;
	}
	assert_non_null(error);
	assert_int_equal(error->domain, TEXT_ERROR);
	assert_null(strchr(error->message, '\n'));
	return g_strdup(error->message);
}

static void
accepts(struct setup *t, const char *line)
{
	g_autofree char *message = run(t, "%s", line);

	if (message)
		fail_msg("%s: %s", line, message);
}

static void
refuses(struct setup *t, const char *line, const char *error)
{
	g_autofree char *message = run(t, "%s", line);

	if (g_strcmp0(message, error))
		fail_msg("%s: %s", line, message ? message : "accepted");
}

/* The file f. */
static void
put_file(struct setup *t, const char *text)
{
	folder_put(t->folder, "f", text);
}

/* A message for each line of tests/golden/arguments. */
GOLDEN("arguments", refused)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	void *t;

	setup_new(&t);
	for (char **line = lines; **line; line++) {
		g_autofree char *message = run(t, "%s", *line);

		g_string_append_printf(out, "%s\n", message ?: "accepted");
	}
	setup_free(&t);
}

/* All other than what is built in. Underscores in options are dashes; as
 * getopt_long() reads them, options may be cut short and joined. */
static const struct setting good_args[] = {
	{ "-p 1", VALUE(port_num, 1) },
	{ "-C ibsim0", NAME(ca_name, "ibsim0") },
	{ "-g 0002c9030000abcd", VALUE(port_guid, 0x0002c9030000abcd) },
	{ "-o", VALUE(mode, OPTIONS_MODE_ONCE) },
	{ "-R ftree", NAME(engine, "ftree") },
	{ "-s 60", VALUE(sweep_s, 60) }, { "-t 500", VALUE(timeout_ms, 500) },
	{ "--retries 5", VALUE(retries, 5) },
	{ "--maxsmps 16", VALUE(max_smps, 16) },
	{ "-f /l", NAME(log_file, "/l") },
	{ "--cache-dir /c", NAME(cache_dir, "/c") },
	{ "--cache_dir=/c_d", NAME(cache_dir, "/c_d") },
	{ "--cache-dir=", NAME(cache_dir, NULL) },
	{ "--view /d", NAME(view_file, "/d") },
	{ "--priority 7", VALUE(priority, 7) }, { "--lmc 2", VALUE(lmc, 2) },
	{ "--require_deadlock_free", VALUE(require_deadlock_free, true) },
	{ "-a /r", NAME(root_guid_file, "/r") },
	{ "-u /cn", NAME(cn_guid_file, "/cn") },
	{ "-G /io", NAME(io_guid_file, "/io") },
	{ "-P /p", NAME(partition_file, "/p") },
	{ "-P /p", VALUE(partition_file_asked, true) },
	{ "--partitions=", NAME(partition_file, NULL) },
	{ "--partitions=", VALUE(partition_file_asked, false) },
	{ "--control-socket /s", NAME(control_socket, "/s") },
	{ "--control-socket=", NAME(control_socket, NULL) },
	{ "--node-name-map /n", NAME(node_names_file, "/n") },
	{ "-B", VALUE(background, true) },
	{ "--daemon", VALUE(background, true) },
	{ "-J /pid", NAME(pid_file, "/pid") },
	{ "-p2 -ovs5 -D7", VALUE(port_num, 2) },
	{ "-p2 -ovs5 -D7", VALUE(mode, OPTIONS_MODE_ONCE) },
	{ "-p2 -ovs5 -D7", VALUE(sweep_s, 5) },
	{ "--prio=3", VALUE(priority, 3) }, { "--retr 4", VALUE(retries, 4) },
	/* the harmless mode wins */
	{ "-v", VALUE(mode, OPTIONS_MODE_RUN) },
	{ "--once", VALUE(mode, OPTIONS_MODE_ONCE) },
	{ "--plan", VALUE(mode, OPTIONS_MODE_PLAN) },
	{ "--plan -o", VALUE(mode, OPTIONS_MODE_PLAN) },
	{ "-o --plan --takeover", VALUE(mode, OPTIONS_MODE_PLAN) },
	{ "--check-config", VALUE(mode, OPTIONS_MODE_CHECK) },
	{ "--plan --check-config -o", VALUE(mode, OPTIONS_MODE_CHECK) },
	{ "--check-config --help", VALUE(mode, OPTIONS_MODE_HELP) },
	{ "--help -o", VALUE(mode, OPTIONS_MODE_HELP) },
	{ "-h", VALUE(mode, OPTIONS_MODE_HELP) },
	{ "--version --plan", VALUE(mode, OPTIONS_MODE_VERSION) },
};

/* -v adds to OpenSM's flags. */
static const struct {
	const char *line;
	unsigned level;
} levels[] = {
	{ "-p2 -ovs5 -D7", 4 }, { "--retr 4 --log_fl 0x1", 0 }, { "-o", 2 },
	{ "-D 0", 0 }, { "-D 0x01", 0 }, { "-D 0x03", 2 }, { "-D 0x07", 3 },
	{ "-D 0x0f", 4 }, { "-D 0xff", 4 }, { "-D 0x43", 2 }, { "-D 8", 4 },
	{ "-v", 3 }, { "-vv", 4 }, { "-v -v -v", 4 }, { "-D 1 -v", 1 },
	{ "-v -D 1", 1 },
};

SETUP_TEST(test_every_option_arrives)
{
	for (size_t i = 0; i < G_N_ELEMENTS(good_args); i++) {
		accepts(t, good_args[i].line);
		setting_check(t->conf, &good_args[i]);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
		accepts(t, levels[i].line);
		assert_int_equal(options_log_level(t->conf), levels[i].level);
	}
	put_file(t, "");
	accepts(t, "-F f");
	assert_string_equal(t->conf->config_file, "f");
	t->simulator = &simulator;
	accepts(t, "single(2)");
	assert_null(t->conf->control_socket);
	accepts(t, "single(2) --control-socket=/s");
	assert_string_equal(t->conf->control_socket, "/s");
}

/* The program around a manager has options and a word of its own. */
SETUP_TEST(test_a_simulator_has_its_fabric_and_options)
{
	put_file(t, "");
	t->simulator = &simulator;
	accepts(t, "--plan single(2)");
	assert_int_equal(t->conf->mode, OPTIONS_MODE_PLAN);
	assert_string_equal(t->conf->fabric[0], "single(2)");
	accepts(t, "single(2) --plan --see 7");
	assert_int_equal(seed, 7);
	accepts(t, "--help");
	refuses(t, "--once", "one FABRIC is needed: a net file, or a formula "
		"such as 'PGFT(4,8;1,4)'");
	refuses(t, "a b", "one FABRIC is needed, not several: a net file, or a "
		"formula such as 'PGFT(4,8;1,4)'");
	refuses(t, "single(2) --sead 3",
		"--sead is no option; the nearest is --seed, --help has all");
	t->simulator = NULL;
}

SETUP_TEST(test_command_line_goes_before_the_file)
{
	put_file(t, "lmc 1\nsweep_interval 30\nsm_key 5\nodd 1\n");
	accepts(t, "--lmc 2 -F f");
	assert_int_equal(t->conf->lmc, 2);
	assert_int_equal(t->conf->sweep_s, 30);
	assert_int_equal(t->conf->sm_key, 5);
	assert_int_equal(t->warnings->len, 1);
	accepts(t, "-F f --lmc 2 -s 4");
	assert_int_equal(t->conf->lmc, 2);
	assert_int_equal(t->conf->sweep_s, 4);
	/* OpenSM's mask: 0x40 is for dumps, which minismctl makes */
	put_file(t, "log_flags 0x43\n");
	accepts(t, "-F f");
	assert_int_equal(options_log_level(t->conf), 2);
	accepts(t, "-F f -D0x1");
	assert_int_equal(options_log_level(t->conf), 0);
	assert_int_equal(t->warnings->len, 0);
}

SETUP_TEST(test_port_on_the_command_line_replaces_the_whole_choice)
{
	put_file(t, "guid 0x5\nca_name a\nport 1\n");
	accepts(t, "-p 2 -F f");
	assert_int_equal(t->conf->port_num, 2);
	assert_int_equal(t->conf->port_guid, 0);
	assert_null(t->conf->ca_name);
	accepts(t, "-F f");
	assert_int_equal(t->conf->port_guid, 5);
	assert_string_equal(t->conf->ca_name, "a");
}

/* Also the one that may be missing when it is not named. */
SETUP_TEST(test_named_file_must_be_there_and_good)
{
	static const char *const missing[] = {
		"/no-such-folder/minism.conf", MINISM_SYSCONFDIR "/minism.conf",
	};
	g_autofree char *nul = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(missing); i++) {
		g_autofree char *message = run(t, "-F %s", missing[i]);

		if (g_file_test(missing[i], G_FILE_TEST_EXISTS))
			continue;
		assert_non_null(message);
		assert_true(g_str_has_prefix(message, "--config: "));
		assert_has(message, missing[i]);
	}
	put_file(t, "\nlmc 9\n");
	refuses(t, "-F f", "f:2:5: lmc: 9 is not 0 to 7");
	/* Help is for those whose file is bad, too. */
	accepts(t, "--help -F f");
	assert_true(g_file_set_contents("f", "lmc 1\n\0lmc 2\n", 13, NULL));
	nul = run(t, "-F f");
	assert_has(nul, "NUL");
}

SETUP_TEST(test_messages_stay_one_short_line)
{
	g_autofree char *word = g_strnfill(5000, 'x');
	g_autofree char *one = run(t, "--%s", word);
	g_autofree char *two = run(t, "-R %s %s", word, word);

	refuses(t, "--lmc 1\n2\033[2J", "--lmc: 1?2?[2J is not 0 to 7");
	assert_in_range(strlen(one), 60, 160);
	assert_in_range(strlen(two), 60, 160);
}

/* The name as troff has it. */
static bool
man_has(const char *text, const char *name)
{
	g_auto(GStrv) parts = g_strsplit(name, "-", -1);
	g_autofree char *escaped = g_strjoinv("\\-", parts);
	g_autofree char *whole = g_strdup_printf("\\-\\-%s", escaped);

	for (const char *at = text; (at = strstr(at, whole)); at++)
		if (!g_ascii_isalpha(at[strlen(whole)]) &&
		    !g_str_has_prefix(at + strlen(whole), "\\-"))
			return true;
	return false;
}

/* The table, --help and the man page name the same options and defaults. */
TEST(test_help_and_man_page_have_every_option, setup_new, setup_free)
{
	g_autofree char *help = option_help(&options_table);
	g_autofree char *man = source_read("doc/minism.8");
	unsigned n = 0;

	for (size_t i = 0; i < options_table.n; i++) {
		const struct option *o = &options_table.options[i];
		g_autofree char *name = g_strdup_printf("--%s", o->name);
		g_autofree char *letter = g_strdup_printf("-%c, %s", o->letter,
							  name);

		if (!o->name)
			continue;
		n++;
		if (!strstr(help, o->letter ? letter : name))
			fail_msg("--help lacks %s", name);
		if (!man_has(man, o->name))
			fail_msg("minism(8) lacks %s", name);
		if (o->preset && !strstr(o->help, o->preset))
			fail_msg("%s: the default is %s", name, o->preset);
	}
	assert_true(n >= 30);
}

/* The one of this key; one without a key goes by its name. */
static void
expect_origin(const struct options *conf, const char *key, const char *value,
	      enum options_origin from)
{
	struct options_value v;
	unsigned found = 0;

	for (size_t at = 0; options_next(conf, &at, &v);) {
		if (g_strcmp0(v.key ? v.key : v.name, key))
			continue;
		found++;
		assert_int_equal(v.from, from);
		assert_int_equal(g_strcmp0(v.value, value), 0);
	}
	assert_int_equal(found, 1);
}

SETUP_TEST(test_each_value_has_an_origin)
{
	put_file(t, "lmc 1\nsweep_interval 30\nm_key 5\nca_name mlx5_0\n"
		 "sminfo_polling_timeout 1000\npolling_retry_number (null)\n"
		 "log_file \"a b\"\n");
	accepts(t, "--lmc 2 -F f -p 2 --once");
	expect_origin(t->conf, "lmc", "2", OPTIONS_COMMAND_LINE);
	expect_origin(t->conf, "sweep_interval", "30", OPTIONS_FILE);
	expect_origin(t->conf, "log_file", "a b", OPTIONS_FILE);
	/* as the default, but on purpose; and the other way round */
	expect_origin(t->conf, "sminfo_polling_timeout", "1000", OPTIONS_FILE);
	expect_origin(t->conf, "polling_retry_number", "2", OPTIONS_DEFAULT);
	/* a port on the command line is the whole choice */
	expect_origin(t->conf, "ca_name", NULL, OPTIONS_DEFAULT);
	expect_origin(t->conf, "port", "2", OPTIONS_COMMAND_LINE);
	expect_origin(t->conf, "m_key", NULL, OPTIONS_FILE);
	expect_origin(t->conf, "sa_key", NULL, OPTIONS_DEFAULT);
	expect_origin(t->conf, "sm_priority", "0", OPTIONS_DEFAULT);
	expect_origin(t->conf, "qos_max_vls", "15", OPTIONS_DEFAULT);
	expect_origin(t->conf, "once", "TRUE", OPTIONS_COMMAND_LINE);
}

/* A simulation and a lab leave what belongs to the manager of this machine
 * alone, and have only what the command line names. */
SETUP_TEST(test_only_the_command_line_gives_a_simulation_a_place)
{
	static const char keys[] = "cache_dir /c\ncontrol_socket /s\n"
		"view_file /d\nlog_file /l\nlmc 1\n";
	const struct options *c;

	for (unsigned lab = 0; lab < 2; lab++) {
		const char *how = lab ? "-F f -o" : "-F f -o single(2)";

		t->simulator = lab ? NULL : &simulator;
		put_file(t, keys);
		if (lab)
			assert_true(g_setenv("MINISM_LAB", "/s", TRUE));
		accepts(t, how);
		c = t->conf;
		assert_null(c->cache_dir);
		assert_int_equal(g_strcmp0(c->control_socket, lab ?
					   OPTIONS_CONTROL_SOCKET : NULL), 0);
		assert_null(c->view_file);
		assert_null(c->log_file);
		assert_int_equal(c->lmc, 1);
		assert_int_equal(t->warnings->len, 1);
		assert_has(t->warnings->pdata[0], "view_file, ");
		g_free(run(t, "%s --cache-dir=/c2 -f /l2 --control-socket=/s2 "
			   "--view /d2 -J /p2", how));
		c = t->conf;
		assert_string_equal(c->cache_dir, "/c2");
		assert_string_equal(c->control_socket, "/s2");
		assert_string_equal(c->view_file, "/d2");
		assert_string_equal(c->log_file, "/l2");
		assert_string_equal(c->pid_file, "/p2");
	}
	g_unsetenv("MINISM_LAB");
	accepts(t, "-F f");
	assert_string_equal(t->conf->cache_dir, "/c");
	assert_string_equal(t->conf->view_file, "/d");
}
