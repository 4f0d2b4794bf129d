// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Views as tools read them, and what they print of them.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/show.h"
#include "tools/status.h"
#include "topology/text.h"

static void
show_all(struct tool_view *v)
{
	static char *const commands[][4] = {
		{ "nodes" }, { "links" }, { "groups" }, { "members" },
		{ "who", "1" }, { "ports", "2" }, { "path", "1", "2" },
	};

	for (size_t i = 0; v && i < G_N_ELEMENTS(commands); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		struct show q = {
			.v = v, .words = commands[i], .why = true,
			.out = { .out = out, .as_json = i & 1 },
		};
		g_autoptr(GError) error = NULL;

		show_run(&q, &error);
	}
}

FUZZ_TARGET(view)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	struct tool_view *v = tool_view_read(text, "fuzz", &error);
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out, .as_json = size & 1 };
	struct view_lines *lines;

	if (!v && error->domain == TEXT_ERROR)
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
	show_all(v);
	tool_view_free(v);
	lines = view_lines_read(text, "fuzz", NULL);
	if (lines) {
		status_put(lines, true, &r);
		status_put_metrics(lines, out);
		view_lines_free(lines);
	}
	return 0;
}
