// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "config.h"

#include "tools/tool_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/text.h"

void
tool_options_complain(const char *format, ...)
{
	g_autofree char *line = NULL, *shown = NULL;
	va_list args;

	va_start(args, format);
	line = g_strdup_vprintf(format, args);
	va_end(args);
	shown = text_printable(line);
	fprintf(stderr, "%s: %s\n", g_get_prgname(), shown);
}

int
tool_main(const char *name, const struct option_table *t, void *values,
	  int usage, int argc, char **argv,
	  int (*run)(void *values, char **words))
{
	const int *mode = values;
	g_auto(GStrv) words = NULL;
	g_autoptr(GString) text = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *help = NULL;
	int status = usage;

	g_set_prgname(name);
	option_set_defaults(t, values);
	if (!option_read(t, values, argc, argv, &words, &error)) {
		tool_options_complain("%s", error->message);
	} else if (*mode == TOOL_RUN) {
		status = run(values, words);
	} else {
		help = *mode == TOOL_VERSION ?
			g_strconcat(name, " " PACKAGE_VERSION "\n", NULL) :
			option_help(t);
		text = g_string_new(help);
		status = tool_options_write(text) ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	option_free_texts(t, values);
	return status;
}

bool
tool_options_one_word(char *const *words, const char *what)
{
	if (!words[0])
		tool_options_complain("%s is missing; see %s --help", what,
				      g_get_prgname());
	else if (words[1])
		tool_options_complain("more than one %s (is it quoted?); see "
				      "%s --help", what, g_get_prgname());
	return words[0] && !words[1];
}

bool
tool_options_write(const GString *text)
{
	if (fwrite(text->str, 1, text->len, stdout) == text->len &&
	    fflush(stdout) == 0)
		return true;
	tool_options_complain("standard output: %s", g_strerror(errno));
	return false;
}

/* "2.5" or "2.5%". Finer steps are refused, not rounded. */
static char *
set_percent(const struct option *o, void *place, const char *value)
{
	double percent, off;
	unsigned per_mille;
	char *end;

	*(unsigned *)place = 0;
	if (!value)
		return NULL;
	percent = g_ascii_strtod(value, &end);
	if (end == value || !(*end == '%' ? !end[1] : !*end) ||
	    !(percent >= 0 && percent <= 100))
		return option_refuse(o, value);
	per_mille = (unsigned)(percent * 10 + 0.5);
	off = percent * 10 - per_mille;
	if (off < -1e-6 || off > 1e-6)
		return option_refuse(o, value);
	*(unsigned *)place = per_mille;
	return NULL;
}

const struct option_kind option_percent = {
	.accepts = "a percentage from 0 to 100 in steps of 0.1",
	.set = set_percent,
};
