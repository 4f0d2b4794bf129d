// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * draw_shape NAME SEED PERCENT: a shape of the tests without so many of its
 * cables between switches, as a net file on standard output.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/shapes.h"
#include "topology/net_file.h"

int
main(int argc, char **argv)
{
	GString *text = g_string_new(NULL);
	struct snapshot *s;

	s = argc == 4 ? shape_new(argv[1], strtoull(argv[2], NULL, 0),
				  (unsigned)(10 * strtod(argv[3], NULL))) : NULL;
	if (!s) {
		fprintf(stderr, "usage: draw_shape NAME SEED PERCENT; doc/"
			"routing.md has the names of all shapes\n");
		return 2;
	}
	net_file_write(s, text);
	snapshot_unref(s);
	fputs(text->str, stdout);
	g_string_free(text, TRUE);
	return 0;
}
