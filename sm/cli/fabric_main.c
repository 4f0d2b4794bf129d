/*
 * minism-fabric: a fabric by formula, as text on standard output.
 *
 * Flow: options -> generate_fabric() -> netfile_write() -> stdout. The text is
 * that of ibnetdiscover, so it feeds ibsim, minism's own tests and a look with
 * an editor alike. Exit status: 0 done, 1 could not write, 2 wrong usage; an
 * error is one line on standard error.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/generate.h"
#include "topology/netfile.h"

#define EXIT_USAGE	2

struct arguments {
	gboolean shuffle;
	gboolean version;
	char *seed;
	char *fail;
	char **specs;
	struct generate_options options;
};

static const char help_summary[] =
	"Writes a fabric in the format of ibnetdiscover and ibsim.";

static const char help_description[] =
	"SPEC is one of\n"
	"  PGFT(m1,..,mh;w1,..,wh[;p1,..,ph])  fat tree: children, parents "
	"and cables\n"
	"                   of each level\n"
	"  ring(n;h)        n switches, h hosts on each\n"
	"  torus(a,b[,c];h) 2 or 3 dimensions, h hosts on each switch\n"
	"  mesh(a,b[,c];h)  the same without the wrap\n"
	"  single(h)        one switch, h hosts\n"
	"  pair()           two hosts, no switch\n"
	"  random(n,d,h)    n switches of about d links, h hosts on each\n"
	"  dragonfly(a,p,h) groups of a switches, p hosts and h far cables "
	"each\n"
	"  hyperx(s,..;h)   a box of switches, each cabled to all in its "
	"rows\n"
	"  rails(n;h,r)     h hosts of r ports on r rails, n switches in a "
	"ring\n"
	"Quote it: brackets and semicolons mean something to the shell.";

static void G_GNUC_PRINTF(1, 2)
complain(const char *format, ...)
{
	g_autofree char *line = NULL;
	va_list args;

	va_start(args, format);
	line = g_strdup_vprintf(format, args);
	va_end(args);
	/* What the user typed is in it; it stays one line all the same. */
	for (char *c = line; *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = '?';
	fprintf(stderr, "minism-fabric: %s\n", line);
}

/* "2.5" to 25. Finer steps than a tenth are refused, not rounded away. */
static bool
parse_percent(const char *text, unsigned *per_mille)
{
	char *end;
	double percent = g_ascii_strtod(text, &end);
	double off;

	if (end == text || *end || !(percent >= 0 && percent <= 100))
		return false;
	*per_mille = (unsigned)(percent * 10 + 0.5);
	off = percent * 10 - *per_mille;
	return off > -1e-6 && off < 1e-6;
}

/* --seed, --fail and SPEC; what GOption leaves as text. */
static bool
check_arguments(struct arguments *a)
{
	if (a->seed && !g_ascii_string_to_unsigned(a->seed, 10, 0, G_MAXUINT64,
						   &a->options.seed, NULL)) {
		complain("--seed %s: not a number from 0 to 2^64 - 1", a->seed);
		return false;
	}
	if (a->fail && !parse_percent(a->fail, &a->options.fail_per_mille)) {
		complain("--fail %s: not a percentage from 0 to 100 in steps "
			 "of 0.1", a->fail);
		return false;
	}
	if (!a->specs || !a->specs[0] || a->specs[1]) {
		complain("%s; see minism-fabric --help",
			 a->specs && a->specs[0] ? "more than one SPEC (is it "
			 "quoted?)" : "SPEC is missing");
		return false;
	}
	a->options.shuffle_guids = a->shuffle;
	return true;
}

static bool
parse_arguments(struct arguments *a, int *argc, char ***argv)
{
	const GOptionEntry entries[] = {
		{ "shuffle", 0, 0, G_OPTION_ARG_NONE, &a->shuffle,
		  "Give the GUIDs to the nodes in random order", NULL },
		{ "seed", 0, 0, G_OPTION_ARG_STRING, &a->seed,
		  "Decides all that is random (default 0)", "N" },
		{ "fail", 0, 0, G_OPTION_ARG_STRING, &a->fail,
		  "Take this share of the switch-to-switch links away",
		  "PERCENT" },
		{ "version", 0, 0, G_OPTION_ARG_NONE, &a->version,
		  "Print the version", NULL },
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY,
		  &a->specs, NULL, "SPEC" },
		{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_autoptr(GError) error = NULL;

	g_option_context_set_summary(context, help_summary);
	g_option_context_set_description(context, help_description);
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, argc, argv, &error)) {
		complain("%s", error->message);
		return false;
	}
	return a->version || check_arguments(a);
}

static int
write_text(const GString *text)
{
	if (fwrite(text->str, 1, text->len, stdout) == text->len &&
	    fflush(stdout) == 0)
		return EXIT_SUCCESS;
	complain("standard output: %s", g_strerror(errno));
	return EXIT_FAILURE;
}

static int
write_fabric(const struct arguments *a)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct subnet *s = generate_fabric(a->specs[0], &a->options, &error);

	if (!s) {
		complain("%s", error->message);
		return EXIT_USAGE;
	}
	netfile_write(s, text);
	subnet_unref(s);
	return write_text(text);
}

static int
write_version(void)
{
	g_autoptr(GString) text = g_string_new("minism-fabric " PACKAGE_VERSION
					       "\n");

	return write_text(text);
}

int
main(int argc, char **argv)
{
	struct arguments a = { .shuffle = FALSE };
	int status = EXIT_USAGE;

	if (parse_arguments(&a, &argc, &argv))
		status = a.version ? write_version() : write_fabric(&a);
	g_strfreev(a.specs);
	g_free(a.seed);
	g_free(a.fail);
	return status;
}
