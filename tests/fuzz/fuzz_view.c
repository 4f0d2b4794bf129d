// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Views as tools read them, and what they print of them.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/compare.h"
#include "tools/show.h"
#include "topology/text.h"

static void
show_all(struct tool_view *v)
{
	static char *const commands[][4] = {
		{ "nodes" }, { "links" }, { "groups" }, { "members" },
		{ "who", "1" }, { "ports", "2" }, { "path", "1", "2" },
		{ "status" }, { "metrics" },
	};

	for (size_t i = 0; v && i < G_N_ELEMENTS(commands); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		struct show q = {
			.v = v, .words = commands[i], .why = true, .all = true,
			.out = { .out = out, .as_json = i & 1 },
		};
		g_autoptr(GError) error = NULL;

		show_run(&q, &error);
	}
}

/* A view differs from itself in nothing; as a list of cables it is a design of
 * this one, or refused; a node of it may go. */
static void
compare_all(struct tool_view *v, const char *text)
{
	static const char net[] = "Switch 4 \"a\"\n[1] \"b\"[2]\n\n"
		"Switch 4 \"b\"\n[2] \"a\"[1]\n";
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out };
	struct show q = { .out = r };
	struct tool_view *now = v ? v : tool_view_read(net, "net", NULL);
	char *words[] = { "whatif", "kill", (char *)snapshot_node_name(&now->s->nodes[0]),
			  NULL };
	g_autoptr(GError) error = NULL;
	struct snapshot *d = design_parse(text, "fuzz", now->s, &error);

	g_assert_true((d == NULL) == (error != NULL));
	if (d) {
		compare_fabrics(d, now->s, NULL, NULL, &r);
		snapshot_unref(d);
	}
	g_assert_cmpint(compare_fabrics(now->s, now->s, now, now, &r), ==, 0);
	q.v = now;
	q.words = words;
	show_run(&q, NULL);
	if (!v)
		tool_view_free(now);
}

FUZZ_TARGET(view)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	struct tool_view *v = tool_view_read(text, "fuzz", &error);

	if (!v && error->domain == TEXT_ERROR)
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
	show_all(v);
	if (!v || v->s->n_nodes)
		compare_all(v, text);
	tool_view_free(v);
	return 0;
}
