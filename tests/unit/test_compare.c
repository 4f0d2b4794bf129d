// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What differs between two fabrics (tests/golden/compare), and between one and
 * its design (tests/golden/design). They are made of
 *
 *	spine-1 (5, 6)  spine-2 (5, 6)  spine-3 (5, 6)
 *	leaf-1 (3, 4, 5)   leaf-2 (3, 4, 5)	leaf-2/3 - spine-1/6, ..
 *	node-01 (1)  node-02 (2)   node-03 (1)  node-04 (2)
 *
 * by "-leaf-1/3" (that cable is away), "+A=B" (there is one), "%A" (that cable
 * has another speed), "~node-01" (its LID is 99), "?node-01" (it is not known);
 * a node without a cable is away.
 */
#include "tests/lib/unit.h"
#include "tools/compare.h"

static const struct {
	const char *name, *id;
	unsigned ports;		/* up to 2: a host */
} nodes[] = {
	{ "leaf-1", "0x10", 8 }, { "leaf-2", "0x20", 8 },
	{ "spine-1", "0x30", 8 }, { "spine-2", "0x40", 8 },
	{ "node-01", "0x101", 1 }, { "node-02", "0x102", 1 },
	{ "node-03", "0x103", 1 }, { "node-04", "0x104", 1 },
	{ "spine-3", "0x45", 8 }, { "leaf-3", "0x50", 8 },
	{ "node-05", "0x105", 1 }, { "node-06", "0x106", 2 },
};

static const char *const base[] = {
	"leaf-1/1=node-01/1", "leaf-1/2=node-02/1", "leaf-1/3=spine-1/5",
	"leaf-1/4=spine-2/5", "leaf-2/1=node-03/1", "leaf-2/2=node-04/1",
	"leaf-2/3=spine-1/6", "leaf-2/4=spine-2/6", "leaf-1/5=spine-3/5",
	"leaf-2/5=spine-3/6",
};

/* "leaf-1/3" of "leaf-1/3=spine-1/5", or what follows. */
static bool
has_end(const char *cable, const char *end)
{
	const char *eq = strchr(cable, '=') + 1;

	return !strcmp(eq, end) || (g_str_has_prefix(cable, end) &&
				    cable[strlen(end)] == '=');
}

static unsigned
node_of(const char *end)
{
	unsigned i = 0;

	while (strncmp(nodes[i].name, end, strlen(nodes[i].name)))
		i++;
	return i;
}

/* A line of the block of a node. */
static void
put_end(GString *out, unsigned node, const char *a, const char *b,
	const char *speed, unsigned lid)
{
	g_autofree char *own = g_strdup_printf("(%s)", nodes[node].id + 2);

	if (node_of(a) == node)
		g_string_append_printf(out, "[%s]%s \"%s\"[%s] # lid %u "
				       "\"\" lid 0 %s\n", strchr(a, '/') + 1,
				       nodes[node].ports <= 2 ? own : "",
				       nodes[node_of(b)].name,
				       strchr(b, '/') + 1, lid, speed);
}

static struct tool_view *
write_fabric(const char *edits, const char *lines)
{
	g_auto(GStrv) words = g_strsplit(edits, " ", -1);
	g_autoptr(GPtrArray) cables = g_ptr_array_new();
	g_autoptr(GString) out = g_string_new(lines);
	g_autoptr(GError) error = NULL;
	struct tool_view *v;

	for (size_t i = 0; i < G_N_ELEMENTS(base); i++)
		g_ptr_array_add(cables, (char *)base[i]);
	for (guint w = 0; words[w]; w++) {
		if (*words[w] == '+')
			g_ptr_array_add(cables, words[w] + 1);
		for (guint i = cables->len; *words[w] == '-' && i-- > 0;)
			if (has_end(cables->pdata[i], words[w] + 1))
				g_ptr_array_remove_index(cables, i);
	}
	for (unsigned n = 0; n < G_N_ELEMENTS(nodes); n++) {
		g_autoptr(GString) block = g_string_new(NULL);
		g_autofree char *moved = g_strconcat("~", nodes[n].name, NULL);
		const char *const *edit = (const char *const *)words;
		unsigned lid = g_strv_contains(edit, moved) ? 99 : n + 1;
		bool is_host = nodes[n].ports <= 2;

		*moved = '?';
		if (g_strv_contains(edit, moved))
			lid = 0;
		for (guint i = 0; i < cables->len; i++) {
			g_auto(GStrv) ends = g_strsplit(cables->pdata[i], "=",
							2);
			g_autofree char *slow = g_strconcat("%", ends[0], NULL);
			const char *speed = g_strv_contains(edit, slow) ?
				"1xSDR" : "4xEDR";

			put_end(block, n, ends[0], ends[1], speed, lid);
			put_end(block, n, ends[1], ends[0], speed, lid);
		}
		if (block->len)
			g_string_append_printf(out, is_host ? "\ncaguid=%s\n"
				"Ca %u \"%s\"\n%s" : "\nswitchguid=%s\n"
				"Switch %u \"%s\"\n%s", nodes[n].id,
				nodes[n].ports, nodes[n].name, block->str);
	}
	v = tool_view_read(out->str, "v", &error);
	if (!v)
		fail_msg("%s\n%s", error->message, out->str);
	return v;
}

static int
compare(const struct snapshot *old, const struct snapshot *new,
	const struct tool_view *old_view, const struct tool_view *new_view,
	GString *out)
{
	g_autoptr(GString) json = g_string_new(NULL);
	struct text_report text = { .out = out };
	struct text_report j = { .out = json, .as_json = true };
	int status = compare_fabrics(old, new, old_view, new_view, &text);

	assert_int_equal(compare_fabrics(old, new, old_view, new_view, &j),
			 status);
	assert_true(g_str_has_suffix(json->str, status ? "\"alike\":false}\n" :
				     "\"alike\":true}\n"));
	return status;
}

/* What makes each of two fabrics of the base, a line each; then with "< " lines
 * of the view of one, with "> " of the other. */
GOLDEN("compare", compared)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GString) before = g_string_new(NULL);
	g_autoptr(GString) after = g_string_new(NULL);
	AUTO(tool_view) *old = NULL, *new = NULL;
	int status;

	for (char **line = lines + 2; **line; line++)
		g_string_append_printf(**line == '<' ? before : after, "%s\n",
				       *line + 2);
	old = write_fabric(lines[0], before->str);
	new = write_fabric(lines[1], after->str);
	status = compare(old->s, new->s, old, new, out);
	g_string_append_printf(out, "status %d\n", status);
}

/* In place of a line LIST. */
static const char list[] =
	"# the plan\n\nleaf-1/1 - node-01/1  4xEDR Active\n"
	"node-02/1 leaf-1/2\nleaf-1/3, spine-1/5, 5 m\n"
	"leaf-1/4;spine-2/5\r\n leaf-2/1\tnode-03/1\nleaf-2/2 - node-04/1\n"
	"spine-1/6 leaf-2/3\nspine-2/6 leaf-2/4\n"
	"leaf-1/5 spine-3/5\nspine-3/6 - leaf-2/5\n";

/* What makes a fabric of the base; then the design. Status 2: it cannot be
 * read. */
GOLDEN("design", designed)
{
	g_auto(GStrv) parts = g_strsplit(text, "\n", 2);
	g_autoptr(GString) design = g_string_new(parts[1]);
	AUTO(tool_view) *now = write_fabric(parts[0], "");
	g_autoptr(GError) error = NULL;
	AUTO(snapshot) *d = NULL;
	int status = 2;

	if (g_str_has_prefix(design->str, "LIST\n")) {
		g_string_erase(design, 0, strlen("LIST\n"));
		g_string_prepend(design, list);
	}
	d = design_parse(design->str, "d", now->s, &error);
	if (d)
		status = compare(d, now->s, NULL, NULL, out);
	else
		g_string_append_printf(out, "%s\n", error->message);
	g_string_append_printf(out, "status %d\n", status);
}

/* Of several nodes with one name none is meant by it. */
TEST(test_a_design_means_nodes_by_name_or_guid)
{
	static const char net[] =
		"switchguid=0x10\nSwitch 8 \"a\" # \"other\"\n[1] \"h\"[1]\n"
		"[2] \"i\"[1]\n[3] \"j\"[1]\n[4] \"k\"[1]\n"
		"caguid=0x888\nCa 1 \"h\" # \"node-01\"\n[1] \"a\"[1]\n"
		"caguid=0x103\nCa 1 \"i\" # \"x\"\n[1] \"a\"[2]\n"
		"caguid=0x101\nCa 1 \"j\" # \"x\"\n[1] \"a\"[3]\n"
		"caguid=0x999\nCa 1 \"k\" # \"x\"\n[1] \"a\"[4]\n";
	static const uint64_t guids[] = { 0x10, 0x101, 0x103, 0x999 };
	AUTO(tool_view) *now = write_fabric("", "");
	AUTO(snapshot) *d = design_parse(net, "d", now->s, NULL);

	assert_int_equal(d->n_nodes, 5);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(d->nodes[i].info.node_guid, guids[i]);
	assert_int_equal(snapshot_find_node(now->s, d->nodes[4].info.node_guid),
			 SNAPSHOT_NONE);
}

/* A name of the fabric goes before the form of the line. */
TEST(test_a_name_may_look_like_an_end_of_a_cable)
{
	static const char *const lines[] = {
		"leaf-1/1 - r/1 n/1", "leaf-1/1 - r/1 n/1 5 m",
		"leaf-1/1, r/1 n/1", "leaf-1/1 r/1 n/1, 5 m to a/1 b/2",
		"r/1 n/1 leaf-1/1", "r/1 n/1 - leaf-1/1  4xEDR 3/4",
		"leaf-1/1;r/1 n/1;", "\tleaf-1/1 - r/1 n/1 x/3\t",
		"leaf-1/1 - r/1 n/1  to x/2",
	};
	AUTO(tool_view) *now = write_fabric("", "#name 0x101 is r/1 n\n");

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		struct snapshot *d = design_parse(lines[i], "d", now->s, NULL);
		uint32_t node = d ? snapshot_find_node(d, 0x101) :
			SNAPSHOT_NONE;

		if (node == SNAPSHOT_NONE || d->n_nodes != 2 ||
		    snapshot_find_node(d, 0x10) == SNAPSHOT_NONE)
			fail_msg("%s", lines[i]);
		snapshot_unref(d);
	}
}

/* Or the GUID behind the name, as links prints it. */
TEST(test_a_list_needs_names_of_one_node)
{
	AUTO(tool_view) *now = write_fabric("", "#name 0x101 is twin\n"
					     "#name 0x102 is twin\n");
	g_autoptr(GError) error = NULL;
	struct snapshot *d;

	assert_null(design_parse("leaf-2/1 node-03/1\nleaf-1/1 twin/1\n", "d",
				 now->s, &error));
	assert_string_equal(error->message, "d:2: several nodes are called twin: "
			    "leave its lines out, or give them names");
	d = design_parse("leaf-1/1 - twin (0x0000000000000101)/1\n"
			 "twin (0x0000000000000102)/1 - leaf-1/2\n", "d", now->s,
			 NULL);
	assert_non_null(d);
	assert_int_equal(d->n_nodes, 3);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t is = snapshot_find_node(now->s,
						 d->nodes[i].info.node_guid);

		assert_int_not_equal(is, SNAPSHOT_NONE);
		assert_string_equal(snapshot_node_name(&d->nodes[i]),
				    snapshot_node_name(&now->s->nodes[is]));
	}
	snapshot_unref(d);
}
