// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command line of minism.
 *
 * Flow of options_from_args(). The command line overrides the file but names
 * it, so it is read twice: once into a configuration that is thrown away, to
 * find out whether it is good and which file is meant, and after the file into
 * the real one. A bad option is so reported before any file is touched, and
 * --help works with any file.
 */
#include <stdio.h>
#include <string.h>

#include "sm/config/options.h"
#include "topology/text.h"

void
options_print_help(void)
{
	g_autofree char *help = option_help(&options_table);

	fputs(help, stdout);
}

static bool
read_args(struct options *conf, int argc, char **argv, GError **error)
{
	return option_read(&options_table, conf, argc, argv, NULL, error);
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
			g_set_error(error, OPTION_ERROR, OPTION_ERROR_FILE,
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
	g_clear_pointer(&conf->ca_name, g_free);
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
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(list, g_strdup("minism"));
	for (; *given == '+'; given += !!*given) {
		char *line = g_strndup(given + 1, strcspn(given, "\n") - 1);

		g_ptr_array_add(list, g_strcompress(line));
		g_free(line);
		given += strcspn(given, "\n");
	}
	return options_parse(conf, given, "the record", warnings, error) &&
		read_args(conf, (int)list->len, (char **)list->pdata, error);
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
options_from_record(struct options *conf, const char *given, int argc,
		    char **argv, GPtrArray *warnings, GError **error)
{
	struct options *first = options_new();
	enum options_mode mode;
	bool ok;

	g_clear_pointer(&first->config_file, g_free);
	ok = take_given(conf, given, warnings, error) &&
		read_args(first, argc, argv, error);
	forget_place(conf);
	if (ok && first->config_file)
		ok = read_file(conf, first->config_file, warnings, error);
	mode = conf->mode;
	ok = ok && read_args(conf, argc, argv, error);
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
	ok = read_args(first, argc, argv, error);
	conf->mode = first->mode;	/* also if the file is bad */
	if (ok && first->mode < OPTIONS_MODE_HELP)
		ok = read_file(conf, first->config_file, warnings, error);
	if (ok && (first->ca_name || first->port_num || first->port_guid))
		forget_port(conf);
	ok = ok && read_args(conf, argc, argv, error);
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
