// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the command lines of the small programs have in common.
 *
 * A program whose options stand in a table (sm/config/option.h) reads them with
 * tool_options_read(); the others are for one that still fills GOption itself.
 */
#include "config.h"

#include "sm/tools/tool_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
tool_options_complain(const char *program, const char *format, ...)
{
	g_autofree char *line = NULL;
	va_list args;

	va_start(args, format);
	line = g_strdup_vprintf(format, args);
	va_end(args);
	for (char *c = line; *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = '?';
	fprintf(stderr, "%s: %s\n", program, line);
}

bool
tool_options_read(const char *program, const struct option_table *t,
		  void *values, const int *mode, int argc, char **argv,
		  char ***words, int usage, int *status)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *help = NULL;

	option_set_defaults(t, values);
	if (!option_read(t, values, argc, argv, words, &error)) {
		tool_options_complain(program, "%s", error->message);
		*status = usage;
		return false;
	}
	if (*mode == TOOL_RUN)
		return true;
	if (*mode == TOOL_VERSION) {
		*status = tool_options_write_version(program) ? EXIT_SUCCESS :
			EXIT_FAILURE;
		return false;
	}
	help = option_help(t);
	g_string_assign(text, help);
	*status = tool_options_write(program, text) ? EXIT_SUCCESS :
		EXIT_FAILURE;
	return false;
}

GOptionContext *
tool_options_new(const char *summary, const char *description)
{
	GOptionContext *context = g_option_context_new(NULL);

	g_option_context_set_summary(context, summary);
	g_option_context_set_description(context, description);
	return context;
}

bool
tool_options_parse(const char *program, GOptionContext *context,
	      const GOptionEntry *entries, int *argc, char ***argv)
{
	g_autoptr(GError) error = NULL;
	bool ok;

	/* as in minism's own: OpenSM's names have _ where these have - */
	for (int i = 1; i < *argc && strcmp((*argv)[i], "--") != 0; i++)
		for (char *c = (*argv)[i]; g_str_has_prefix((*argv)[i], "--") &&
		     *c && *c != '='; c++)
			if (*c == '_')
				*c = '-';
	g_option_context_add_main_entries(context, entries, NULL);
	ok = g_option_context_parse(context, argc, argv, &error);
	if (!ok)
		tool_options_complain(program, "%s", error->message);
	g_option_context_free(context);
	return ok;
}

void
tool_options_add_fabric(GOptionContext *context, struct tool_options_fabric *f)
{
	const GOptionEntry entries[] = {
		{ "shuffle", 0, 0, G_OPTION_ARG_NONE, &f->shuffle,
		  "Give the GUIDs to the nodes of SPEC in random order",
		  NULL },
		{ "seed", 0, 0, G_OPTION_ARG_STRING, &f->seed,
		  "Decides all that is random (default 0)", "N" },
		{ "fail", 0, 0, G_OPTION_ARG_STRING, &f->fail,
		  "Take this share of the switch-to-switch cables away",
		  "PERCENT" },
		{ "version", 0, 0, G_OPTION_ARG_NONE, &f->version,
		  "Print the version", NULL },
		{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
	};

	g_option_context_add_main_entries(context, entries, NULL);
}

void
tool_options_clear_fabric(struct tool_options_fabric *f)
{
	g_clear_pointer(&f->seed, g_free);
	g_clear_pointer(&f->fail, g_free);
}

bool
tool_options_one_word(const char *program, char *const *words, const char *what)
{
	if (!words || !words[0])
		tool_options_complain(program, "%s is missing; see %s --help",
				 what, program);
	else if (words[1])
		tool_options_complain(program,
				      "more than one %s (is it quoted?); "
				      "see %s --help",
				      what, program);
	return words && words[0] && !words[1];
}

bool
tool_options_seed(const char *program, const char *text, uint64_t *seed)
{
	if (!text || g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64,
						seed, NULL))
		return true;
	tool_options_complain(program, "--seed %s: not a number from 0 to "
			 "2^64 - 1", text);
	return false;
}

bool
tool_options_write(const char *program, const GString *text)
{
	if (fwrite(text->str, 1, text->len, stdout) == text->len &&
	    fflush(stdout) == 0)
		return true;
	tool_options_complain(program, "standard output: %s",
			      g_strerror(errno));
	return false;
}

bool
tool_options_write_version(const char *program)
{
	g_autoptr(GString) text = g_string_new(NULL);

	g_string_printf(text, "%s " PACKAGE_VERSION "\n", program);
	return tool_options_write(program, text);
}
