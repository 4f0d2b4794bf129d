// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-fabric: a fabric by formula, as text on standard output.
 *
 * Flow: options -> generate_fabric() -> net_file_write() -> stdout. The text is
 * that of ibnetdiscover, so it feeds ibsim, minism's own tests and a look with
 * an editor alike. Exit status: 0 done, 1 could not write, 2 wrong usage; an
 * error is one line on standard error.
 */
#include <stdlib.h>

#include "lab/generate.h"
#include "tools/tool_options.h"
#include "topology/net_file.h"

struct fabric_arguments {
	int mode;
	struct generate_options options;
};

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
	"  rails(n;h,r[;[s,]c])  h hosts of r ports on r rails, n switches in "
	"a ring,\n"
	"                   or below c spines, or below s spines a rail and c "
	"cores\n"
	"With \"+an\" behind it each switch has an aggregation node inside.\n"
	"Quote it: brackets and semicolons mean something to the shell.";

#define AT(member)	offsetof(struct fabric_arguments, member)

static const struct option options[] = {
	TOOL_FABRIC_OPTIONS(AT(options.shuffle_guids), AT(options.seed),
			    AT(options.fail_per_mille)),
	TOOL_OPTIONS,
};

static const struct option_table table = {
	.options = options,
	.n = G_N_ELEMENTS(options),
	.usage = "SPEC",
	.summary = "Writes a fabric in the format of ibnetdiscover and ibsim.",
	.description = help_description,
};

static int
fabric_run(void *arguments, char **words)
{
	const struct fabric_arguments *a = arguments;
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct snapshot *s;

	if (!tool_options_one_word(words, "SPEC"))
		return EXIT_USAGE;
	s = generate_fabric(words[0], &a->options, &error);
	if (!s) {
		tool_options_complain("%s", error->message);
		return EXIT_USAGE;
	}
	net_file_write(s, text);
	snapshot_unref(s);
	return tool_options_write(text) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	struct fabric_arguments a = { .mode = TOOL_RUN };

	return tool_main("minism-fabric", &table, &a, EXIT_USAGE, argc, argv,
			 fabric_run);
}
