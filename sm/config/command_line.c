// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command line.
 *
 * Structs. An `arg` is one option: its spellings, and either the key that it
 * sets (options.c knows how) or one of the few things that are no key.
 *
 * Flow of options_from_args(). The command line goes before the file but names
 * it, so it is read twice: once into a configuration that is thrown away, to
 * find out whether it is good and which file is meant, and after the file into
 * the real one. A bad option is so reported before any file is touched, and
 * --help works with any file.
 *
 * Modes are ordered by how little they do to a fabric, and of two that are
 * asked for the more harmless wins: "--plan -o" writes nothing.
 *
 * getopt_long() keeps its place in globals of libc; optind = 0 sets them back,
 * the leading ':' and opterr = 0 keep it quiet, '+' leaves argv as it is.
 */
#include <getopt.h>
#include <string.h>

#include "sm/config/option_keys.h"
#include "sm/config/opensm_keys.h"
#include "topology/text.h"

enum action {
	ACTION_SET,
	ACTION_TRUE,		/* sets a key to TRUE */
	ACTION_CONFIG,
	ACTION_PARTITIONS,	/* sets a key; the file must be there */
	ACTION_PID,
	ACTION_FLAGS,
	ACTION_VERBOSE,
	ACTION_ONCE,
	ACTION_PLAN,
	ACTION_CHECK,
	ACTION_SHOW,
	ACTION_SIMULATE,
	ACTION_SEED,
	ACTION_RECORD,
	ACTION_REPLAY,
	ACTION_VERSION,
	ACTION_HELP,
};

struct arg {
	const char *name;	/* without dashes; NULL: a letter only */
	int letter;		/* 0: none */
	int has_value;		/* getopt's word for it */
	enum action action;
	const char *key;	/* of ACTION_SET, _TRUE and _PARTITIONS */
};

static const struct arg args[] = {
	{ "port", 'p', required_argument, ACTION_SET, "port" },
	{ "Ca", 'C', required_argument, ACTION_SET, "ca_name" },
	{ "guid", 'g', required_argument, ACTION_SET, "guid" },
	{ "once", 'o', no_argument, ACTION_ONCE, NULL },
	{ "routing-engine", 'R', required_argument, ACTION_SET,
	  "routing_engine" },
	{ "require-deadlock-free", 0, no_argument, ACTION_TRUE,
	  "require_deadlock_free" },
	{ "root-guid-file", 'a', required_argument, ACTION_SET,
	  "root_guid_file" },
	{ "cn-guid-file", 'u', required_argument, ACTION_SET,
	  "cn_guid_file" },
	{ "io-guid-file", 'G', required_argument, ACTION_SET,
	  "io_guid_file" },
	{ "sweep", 's', required_argument, ACTION_SET, "sweep_interval" },
	{ "timeout", 't', required_argument, ACTION_SET,
	  "transaction_timeout" },
	{ "retries", 0, required_argument, ACTION_SET,
	  "transaction_retries" },
	{ "maxsmps", 0, required_argument, ACTION_SET, "max_wire_smps" },
	{ "config", 'F', required_argument, ACTION_CONFIG, NULL },
	{ "partitions", 'P', required_argument, ACTION_PARTITIONS,
	  "partition_config_file" },
	{ "control-socket", 0, required_argument, ACTION_SET,
	  "control_socket" },
	{ "node-name-map", 0, required_argument, ACTION_SET,
	  "node_name_map_name" },
	{ "daemon", 'B', no_argument, ACTION_TRUE, "daemon" },
	{ "pidfile", 'J', required_argument, ACTION_PID, NULL },
	{ "log-file", 'f', required_argument, ACTION_SET, "log_file" },
	{ NULL, 'D', required_argument, ACTION_FLAGS, NULL },
	{ NULL, 'v', no_argument, ACTION_VERBOSE, NULL },
	{ "cache-dir", 0, required_argument, ACTION_SET, "cache_dir" },
	{ "dump-dir", 0, required_argument, ACTION_SET, "dump_dir" },
	{ "priority", 0, required_argument, ACTION_SET, "sm_priority" },
	{ "lmc", 0, required_argument, ACTION_SET, "lmc" },
	{ "plan", 0, optional_argument, ACTION_PLAN, NULL },
	{ "check-config", 0, no_argument, ACTION_CHECK, NULL },
	{ "show", 0, no_argument, ACTION_SHOW, NULL },
	{ "simulate", 0, required_argument, ACTION_SIMULATE, NULL },
	{ "seed", 0, required_argument, ACTION_SEED, NULL },
	{ "record", 0, required_argument, ACTION_RECORD, NULL },
	{ "replay", 0, required_argument, ACTION_REPLAY, NULL },
	{ "version", 0, no_argument, ACTION_VERSION, NULL },
	{ "help", 'h', no_argument, ACTION_HELP, NULL },
};

#define N_ARGS		G_N_ELEMENTS(args)
#define FIRST_CODE	256	/* getopt's value for args[0]: above letters */
#define VERBOSITY_MAX	4

/* The tables in getopt's form. OpenSM's names have _ where these have -, and
 * both are taken. */
struct getopt_form {
	struct option longs[2 * N_ARGS + 1];
	char underscored[N_ARGS][32];
	char shorts[3 * N_ARGS + 3];
};

/*
 * OpenSM's options that are none here: what does the same. Long options that
 * are keys of the file, or of OpenSM's file, are found by these names.
 */
static const struct {
	int letter;		/* 0: minism uses it, or there is none */
	const char *name;
	const char *instead;
} opensm_options[] = {
	{ 'A', "ucast_cache", "tables that are still right are kept always" },
	{ 'c', "create-config", "minism.conf(5) has all keys, --check-config "
	  "reads a file of OpenSM's" },
	{ 'd', "debug", "-v or -D logs more" },
	{ 'e', "erase_log_file", "the log is appended to; SIGUSR1 opens it "
	  "again, for logrotate" },
	{ 'H', "max_reverse_hops", NULL },
	{ 'i', "ignore_guids", NULL },
	{ 'I', "inactive", "--priority=0 loses elections" },
	{ 'k', "smkey", "the key sm_key of minism.conf" },
	{ 'l', NULL, "--lmc=LMC" },
	{ 'L', "log_limit", "SIGUSR1 opens the log again, for logrotate" },
	{ 'm', "ids_guid_file", NULL },
	{ 'M', "lid_matrix_file", NULL },
	{ 'n', NULL, "--maxsmps=NUMBER" },
	{ 'N', "no_part_enforce", "\"part_enforce off\" in minism.conf" },
	{ 'O', "port_search_ordering_file", NULL },
	{ 0, "Pconfig", "-P, --partitions=FILE" },
	{ 'q', NULL, "minismctl asks a running minism" },
	{ 'Q', NULL, "\"qos TRUE\" in minism.conf" },
	{ 'r', "reassign_lids", "LIDs in use are kept always" },
	{ 0, "rereg_on_guid_migr", "clients are asked to register again in "
	  "any case" },
	{ 'S', "sadb_file", "the state of the SA is kept in --cache-dir" },
	{ 'U', "lfts_file", "tables are computed always; minism-route judges "
	  "those of a file" },
	{ 'V', "V", "-vv or -D 0xf" },
	{ 0, "verbose", "-v" },
	{ 'w', "hop_weights_file", NULL },
	{ 'W', "allow_both_pkeys", "\"both\" in partitions.conf always gives "
	  "both" },
	{ 'x', "honor_guid2lid", "LIDs are remembered always, in "
	  "--cache-dir" },
	{ 'X', "guid_routing_order_file", NULL },
	{ 'y', "stay_on_fatal", "minism stays in any case" },
	{ 'Y', NULL, "the key qos_policy_file of minism.conf" },
	{ 'z', "connect_roots", NULL },
	{ 'Z', NULL, "the key part_enforce of minism.conf" },
};

static const char help[] =
"Usage: minism [OPTION]...\n"
"A subnet manager for InfiniBand. Without options it manages the subnet of\n"
"the first port that is up, until it is told to end.\n"
"\n"
"Which port:\n"
"  -p, --port=NUMBER         port of the CA (1 to 254)\n"
"  -C, --Ca=NAME             CA, as ibstat -l lists them\n"
"  -g, --guid=GUID           PortGUID, hexadecimal\n"
"      --simulate=FABRIC     none: a simulated fabric, from a net file or a\n"
"                            formula such as \"PGFT(4,4;1,4)\"\n"
"      --seed=NUMBER         of all chance in a simulation (1)\n"
"      --replay=FILE         none: a record; do the same again and compare\n"
"      --record=FILE         write down all MADs and timers of this run\n"
"\n"
"What to do:\n"
"  -o, --once                bring the subnet up once and end\n"
"      --plan[=text|json]    only read; print what would be written\n"
"      --check-config        read the configuration, say what is wrong with\n"
"                            it and end; no fabric is needed\n"
"      --show                print a picture of the subnet when it is up\n"
"      --version             print the version and end\n"
"  -B, --daemon              go to the background when the port is open\n"
"  -h, --help                print this text and end\n"
"\n"
"How:\n"
"  -R, --routing-engine=NAME routing engine, or a list of them (auto: the best\n"
"                            that the fabric permits)\n"
"      --require-deadlock-free\n"
"                            refuse an engine's tables with a credit loop, even\n"
"                            if it was asked for by name\n"
"  -a, --root-guid-file=FILE GUIDs of the switches that are roots\n"
"  -u, --cn-guid-file=FILE   GUIDs of the compute nodes\n"
"  -G, --io-guid-file=FILE   GUIDs of the I/O nodes\n"
"  -s, --sweep=SECONDS       time between light sweeps, 0: none (10)\n"
"      --lmc=LMC             2^LMC LIDs for each end port, 0 to 7 (0)\n"
"      --priority=PRIORITY   in an election of SMs, 0 to 15 (0)\n"
"  -t, --timeout=MS          to wait for an answer, in milliseconds (200)\n"
"      --retries=NUMBER      of a request without an answer (3)\n"
"      --maxsmps=NUMBER      SMPs on the wire at a time, at most (128)\n"
"\n"
"Files:\n"
"  -F, --config=FILE         configuration\n"
"                            (" MINISM_SYSCONFDIR "/minism.conf)\n"
"  -P, --partitions=FILE     partitions, in OpenSM's form\n"
"                            (" OPTIONS_PARTITION_FILE ")\n"
"      --control-socket=FILE where minismctl finds this manager\n"
"                            (" OPTIONS_CONTROL_DIR "/GUID.ctl)\n"
"      --node-name-map=FILE  what to call nodes, as for ibnetdiscover\n"
"  -J, --pidfile=FILE        where to write the process number\n"
"      --cache-dir=FOLDER    where LIDs are remembered\n"
"                            (" MINISM_CACHEDIR ")\n"
"      --dump-dir=FOLDER     where dumps of the subnet go (no dumps)\n"
"  -f, --log-file=FILE       log (standard error)\n"
"  -D FLAGS                  what to log, OpenSM's mask: 0x1 errors, 0x3 also\n"
"                            information, 0x7 also decisions, 0xf all (0x3)\n"
"  -v                        log more; may be repeated\n";

const char *
options_help(void)
{
	return help;
}

static void
make_getopt_form(struct getopt_form *form)
{
	char *s = form->shorts;
	size_t n = 0;

	memset(form, 0, sizeof(*form));
	*s++ = '+';
	*s++ = ':';
	for (size_t i = 0; i < N_ARGS; i++) {
		if (args[i].letter) {
			*s++ = (char)args[i].letter;
			if (args[i].has_value == required_argument)
				*s++ = ':';
		}
		if (!args[i].name)
			continue;
		form->longs[n++] = (struct option){
			.name = args[i].name,
			.has_arg = args[i].has_value,
			.val = FIRST_CODE + (int)i,
		};
		if (!strchr(args[i].name, '-'))
			continue;
		form->longs[n] = form->longs[n - 1];
		form->longs[n++].name = form->underscored[i];
		g_strlcpy(form->underscored[i], args[i].name,
			  sizeof(form->underscored[i]));
		g_strdelimit(form->underscored[i], "-", '_');
	}
}

static const struct arg *
find_arg(int code)
{
	for (size_t i = 0; i < N_ARGS; i++)
		if (code == FIRST_CODE + (int)i ||
		    (args[i].letter && code == args[i].letter))
			return &args[i];
	return NULL;
}

/* As messages call it; -p is --port too. */
static char *
arg_shown(const struct arg *arg)
{
	if (arg->name)
		return g_strdup_printf("--%s", arg->name);
	return g_strdup_printf("-%c", arg->letter);
}

static char *
arg_accepts(const struct arg *arg)
{
	switch (arg->action) {
	case ACTION_SET:
		return options_key_accepts(arg->key);
	case ACTION_CONFIG:
	case ACTION_PARTITIONS:
	case ACTION_PID:
	case ACTION_RECORD:
	case ACTION_REPLAY:
		return g_strdup("a file");
	case ACTION_SIMULATE:
		return g_strdup("a net file or a formula");
	case ACTION_SEED:
		return g_strdup("a number");
	case ACTION_FLAGS:
		return g_strdup("0 to 0xff");
	case ACTION_PLAN:
		return g_strdup("text or json");
	case ACTION_TRUE:
	case ACTION_VERBOSE:
	case ACTION_ONCE:
	case ACTION_CHECK:
	case ACTION_SHOW:
	case ACTION_VERSION:
	case ACTION_HELP:
		break;
	}
	return g_strdup("no value");
}

/* One line: the option, what is wrong with it. Takes `why` over. */
static bool
fail_arg(const struct arg *arg, char *why, GError **error)
{
	char *shown = arg_shown(arg);

	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_OPTION, "%s: %s", shown,
		    why);
	g_free(shown);
	g_free(why);
	return false;
}

static bool
fail_value(const struct arg *arg, const char *value, GError **error)
{
	char *accepts = arg_accepts(arg);
	char *shown = options_one_line(value);
	char *why = g_strdup_printf("%s is not %s",
				    *shown ? shown : "\"\"", accepts);

	g_free(accepts);
	g_free(shown);
	return fail_arg(arg, why, error);
}

static bool
fail_missing(const struct arg *arg, GError **error)
{
	char *accepts = arg_accepts(arg);
	char *why = g_strdup_printf("a value is missing: %s", accepts);

	g_free(accepts);
	return fail_arg(arg, why, error);
}

/* Where OpenSM has this option: the place in the table, or -1. */
static int
find_opensm_option(int letter, const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(opensm_options); i++)
		if ((letter && opensm_options[i].letter == letter) ||
		    (name && !g_strcmp0(opensm_options[i].name, name)))
			return (int)i;
	return -1;
}

/* shown: the option with its dashes. */
static bool
fail_opensm_option(const char *shown, const char *instead, GError **error)
{
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_OPTION,
		    "%s is OpenSM's; here %s", shown, instead ? instead :
		    "there is nothing like it");
	return false;
}

static bool
fail_unknown_long(const char *text, GError **error)
{
	const char *names[N_ARGS];
	size_t n = 0;
	g_autofree char *word = g_strndup(text, strcspn(text, "="));
	g_autofree char *cut = options_one_line(word);
	g_autofree char *shown = g_strconcat("--", cut, NULL);
	g_autofree char *key = g_strdelimit(g_strdup(word), "-", '_');
	g_autofree char *near = NULL;
	const char *instead;
	int i = find_opensm_option(0, word);

	if (i >= 0)
		return fail_opensm_option(shown, opensm_options[i].instead,
					  error);
	if (opensm_key_judge(key, "", &instead) != OPENSM_KEY_UNKNOWN)
		return fail_opensm_option(shown, instead, error);
	if (options_key_is(key)) {
		g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_OPTION, "%s is no "
			    "option; it is the key %s of minism.conf", shown,
			    key);
		return false;
	}
	for (size_t k = 0; k < N_ARGS; k++)
		if (args[k].name)
			names[n++] = args[k].name;
	near = options_nearest(cut, "--", names, n);
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_OPTION,
		    "%s is no option%s, --help has all", shown, near);
	return false;
}

/* getopt said '?': unknown, ambiguous, or a value that is not wanted. */
static bool
fail_option(char **argv, GError **error)
{
	g_autofree char *shown = NULL;
	int i;

	if (optopt >= FIRST_CODE)
		return fail_arg(find_arg(optopt), g_strdup("takes no value"),
				error);
	if (!optopt)
		return fail_unknown_long(argv[optind - 1] + 2, error);
	shown = g_strdup_printf("-%c", g_ascii_isprint((char)optopt) ?
				optopt : '?');
	i = find_opensm_option(optopt, NULL);
	if (i >= 0)
		return fail_opensm_option(shown, opensm_options[i].instead,
					  error);
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_OPTION,
		    "%s is no option; --help has all", shown);
	return false;
}

/* OpenSM's -D. */
static bool
set_flags(struct options *conf, const struct arg *arg, const char *value,
	  GError **error)
{
	uint64_t mask;

	if (!options_read_number(value, 0xff, &mask))
		return fail_value(arg, value, error);
	conf->verbosity = options_verbosity((unsigned)mask);
	return true;
}

static void
set_mode(struct options *conf, enum options_mode mode)
{
	if (mode > conf->mode)
		conf->mode = mode;
}

static bool
set_plan(struct options *conf, const struct arg *arg, const char *value,
	 GError **error)
{
	if (!value || strcmp(value, "text") == 0)
		set_mode(conf, OPTIONS_MODE_PLAN);
	else if (strcmp(value, "json") == 0)
		set_mode(conf, OPTIONS_MODE_PLAN_JSON);
	else
		return fail_value(arg, value, error);
	return true;
}

static bool
set_text(char **place, const struct arg *arg, const char *value,
	 GError **error)
{
	if (!*value)
		return fail_value(arg, value, error);
	g_free(*place);
	*place = g_strdup(value);
	return true;
}

static bool
apply_arg(struct options *conf, const struct arg *arg, const char *value,
	  GError **error)
{
	char *why;

	switch (arg->action) {
	case ACTION_SET:
		why = options_key_set(conf, arg->key, value);
		return why ? fail_arg(arg, why, error) : true;
	case ACTION_TRUE:
		why = options_key_set(conf, arg->key, "TRUE");
		g_assert(!why);
		return true;
	case ACTION_CONFIG:
		return set_text(&conf->config_file, arg, value, error);
	case ACTION_PARTITIONS:
		conf->partition_file_asked = *value != '\0';
		why = options_key_set(conf, arg->key, value);
		g_assert(!why);
		return true;
	case ACTION_PID:
		return set_text(&conf->pid_file, arg, value, error);
	case ACTION_FLAGS:
		return set_flags(conf, arg, value, error);
	case ACTION_VERBOSE:
		conf->verbosity = MIN(conf->verbosity + 1, VERBOSITY_MAX);
		return true;
	case ACTION_ONCE:
		set_mode(conf, OPTIONS_MODE_ONCE);
		return true;
	case ACTION_PLAN:
		return set_plan(conf, arg, value, error);
	case ACTION_CHECK:
		set_mode(conf, OPTIONS_MODE_CHECK);
		return true;
	case ACTION_SHOW:
		conf->show = true;
		return true;
	case ACTION_SIMULATE:
		return set_text(&conf->simulate, arg, value, error);
	case ACTION_RECORD:
		return set_text(&conf->record, arg, value, error);
	case ACTION_REPLAY:
		return set_text(&conf->replay, arg, value, error);
	case ACTION_SEED:
		return options_read_number(value, UINT64_MAX, &conf->seed) ||
			fail_value(arg, value, error);
	case ACTION_VERSION:
		set_mode(conf, OPTIONS_MODE_VERSION);
		return true;
	case ACTION_HELP:
		set_mode(conf, OPTIONS_MODE_HELP);
		return true;
	}
	g_assert_not_reached();
}

static bool
apply_args(struct options *conf, int argc, char **argv, GError **error)
{
	struct getopt_form form;
	char *shown;
	int code;

	make_getopt_form(&form);
	opterr = 0;
	optind = 0;
	while ((code = getopt_long(argc, argv, form.shorts, form.longs,
				   NULL)) != -1) {
		if (code == '?')
			return fail_option(argv, error);
		if (code == ':')
			return fail_missing(find_arg(optopt), error);
		if (!apply_arg(conf, find_arg(code), optarg, error))
			return false;
	}
	if (optind >= argc)
		return true;
	shown = options_one_line(argv[optind]);
	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_OPTION,
		    "\"%s\" is not expected; there are only options, --help "
		    "has all", shown);
	g_free(shown);
	return false;
}

/* The default file need not be there; one that was asked for must. */
static bool
read_file(struct options *conf, const char *asked, GPtrArray *warnings,
	  GError **error)
{
	const char *path = asked ? asked : conf->config_file;
	GError *why = NULL;
	char *text = text_read_file(path, &why);
	bool ok;

	if (!text) {
		ok = !asked && g_error_matches(why, G_FILE_ERROR,
					       G_FILE_ERROR_NOENT);
		if (!ok)
			g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
				    "%s: %s", asked ? "--config" : path,
				    why->message);
		g_error_free(why);
		return ok;
	}
	ok = options_parse(conf, text, path, warnings, error);
	g_free(conf->given);
	conf->given = text;
	return ok;
}

/* The three ways to name a port go together: one on the command line is not
 * narrowed down by another one in the file. */
static void
forget_port(struct options *conf)
{
	g_free(conf->ca_name);
	conf->ca_name = NULL;
	conf->port_num = 0;
	conf->port_guid = 0;
}

/* A line "+option" an option, then the file as it is. */
static void
note_given(struct options *conf, int argc, char **argv)
{
	GString *out = g_string_new(NULL);

	for (int i = 1; i < argc; i++) {
		char *arg = g_strescape(argv[i], NULL);

		g_string_append_printf(out, "+%s\n", arg);
		g_free(arg);
	}
	if (conf->given)
		g_string_append_printf(out, "\n%s", conf->given);
	g_free(conf->given);
	conf->given = g_string_free(out, FALSE);
}

/* What note_given() wrote. */
static bool
take_given(struct options *conf, const char *given, GPtrArray *warnings,
	   GError **error)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	bool ok;

	g_ptr_array_add(list, g_strdup("minism"));
	for (; *given == '+'; given += strcspn(given, "\n"), given += !!*given) {
		char *line = g_strndup(given + 1, strcspn(given, "\n") - 1);

		g_ptr_array_add(list, g_strcompress(line));
		g_free(line);
	}
	g_ptr_array_add(list, NULL);
	ok = options_parse(conf, given, "the record", warnings, error) &&
		apply_args(conf, (int)list->len - 1, (char **)list->pdata,
			   error);
	g_ptr_array_unref(list);
	return ok;
}

/* What a replay does not do again. */
static void
forget_place(struct options *conf)
{
	struct options *fresh = options_new();
	char **const own[] = {
		&conf->simulate, &conf->record, &conf->replay,
		&conf->pid_file, &conf->log_file, &conf->cache_dir,
		&conf->dump_dir, &conf->control_socket, &conf->config_file,
	};

	forget_port(conf);
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		g_clear_pointer(own[i], g_free);
	conf->config_file = g_strdup(fresh->config_file);
	conf->verbosity = fresh->verbosity;
	conf->background = conf->show = false;
	options_free(fresh);
}

bool
options_from_record(struct options *conf, const char *given, int argc, char **argv,
		 GPtrArray *warnings, GError **error)
{
	struct options *first = options_new();
	enum options_mode mode;
	bool ok;

	g_clear_pointer(&first->config_file, g_free);
	ok = take_given(conf, given, warnings, error) &&
		apply_args(first, argc, argv, error);
	forget_place(conf);
	if (ok && first->config_file)
		ok = read_file(conf, first->config_file, warnings, error);
	mode = conf->mode;
	ok = ok && apply_args(conf, argc, argv, error);
	if (ok && first->mode == OPTIONS_MODE_RUN)
		conf->mode = mode;
	options_free(first);
	return ok;
}

bool
options_from_args(struct options *conf, int argc, char **argv,
	       GPtrArray *warnings, GError **error)
{
	struct options *first = options_new();
	bool ok;

	g_clear_pointer(&first->config_file, g_free);
	ok = apply_args(first, argc, argv, error);
	conf->mode = first->mode;	/* also if the file is bad */
	if (ok && first->mode < OPTIONS_MODE_HELP)
		ok = read_file(conf, first->config_file, warnings, error);
	if (ok && (first->ca_name || first->port_num || first->port_guid))
		forget_port(conf);
	ok = ok && apply_args(conf, argc, argv, error);
	/* What happens in a simulation is no memory of a real fabric. */
	if (ok && (conf->simulate || conf->replay) &&
	    g_strcmp0(first->cache_dir, MINISM_CACHEDIR) == 0)
		g_clear_pointer(&conf->cache_dir, g_free);
	/* And it is not what a person who types minismctl asks for. */
	if (ok && (conf->simulate || conf->replay) &&
	    g_strcmp0(first->control_socket, OPTIONS_CONTROL_SOCKET) == 0)
		g_clear_pointer(&conf->control_socket, g_free);
	if (ok && conf->record)
		note_given(conf, argc, argv);
	options_free(first);
	return ok;
}
