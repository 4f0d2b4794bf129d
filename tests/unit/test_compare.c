// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What differs between two fabrics, of which the first is
 *
 *	spine-1 (5, 6)  spine-2 (5, 6)  spine-3 (5, 6)
 *	leaf-1 (3, 4, 5)   leaf-2 (3, 4, 5)	leaf-2/3 - spine-1/6, ..
 *	node-01 (1)  node-02 (2)   node-03 (1)  node-04 (2)
 *
 * and the second is made of it by "-leaf-1/3" (that cable is away), "+A=B" (there
 * is one), "%A" (that cable has another speed), "~node-01" (its LID is 99),
 * "?node-01" (it is not known); a node without a cable is away.
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "tools/compare.h"
#include "tools/design.h"

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

#define HEAD	"#view 1 gen 7\n#end 7\n"
#define MEMBER(guid)	"#member 0xff12000000000000000000000000000" "1 " \
	"0xfe80000000000000000000000000" guid " 1 0\n"
#define GROUP(name)	"#group 0xff1200000000000000000000000000" name \
	" 0xc000 0xffff 0x1 0x0 4 3 18 0 0 0 1 0x0\n"
#define WARNINGS(n)	"#warning a" n "\n#warning b" n "\n#warning c" n "\n" \
	"#warning d" n "\n#warning e" n "\n#warning f" n "\n#warning g" n "\n"
#define TOLD_6(n) "new warning a" n "\nnew warning b" n "\nnew warning c" n \
	"\nnew warning d" n "\nnew warning e" n "\nnew warning f" n "\n"
#define TOLD(n)	TOLD_6(n) "new warning g" n "\n"
#define LEAF_2	"-leaf-2/1 -leaf-2/2 -leaf-2/3 -leaf-2/4 -leaf-2/5"

static const struct {
	const char *edits, *lines[2], *answer;
	int status;
} cases[] = {
	{ "", { HEAD, HEAD }, "no difference\n", 0 },
	{ "?node-03", { HEAD, HEAD }, "no difference\n", 0 },
	{ LEAF_2, { HEAD "#verdict links 8 is up\n" GROUP("01")
		MEMBER("0101") MEMBER("0103") GROUP("02"),
		HEAD "#verdict links 4 is degraded\n#fault 1 guid 0x20 kind 0 "
		"name 6 what switch leaf-2, 5 links, 2 hosts\n" GROUP("01")
		MEMBER("0101") GROUP("03") MEMBER("0101") },
	  "missing switch leaf-2: 5 links, 2 hosts\n"
	  "verdict now degraded\nverdict before up\n"
	  "ended group ff12::2: 0 members\n"
	  "new group ff12::3: 1 member\n", 1 },
	{ "-leaf-1/3 %leaf-2/4 ~node-03", { HEAD, HEAD "#fault 1 guid 0x10 kind 2 "
		"name 20 what link leaf-1/3 - spine-1/5\n#fault 2 guid 0x10 kind"
		" 1 name 7 what host node-09, at leaf-1/9\n"
		"#name 0x102 is Rack 2\n" },
	  "missing link leaf-1/3 - spine-1/5\n"
	  "slow link leaf-2/4 - spine-2/6: 1xSDR of 4xEDR\n"
	  "other name Rack 2: before node-02\n"
	  "other LID node-03: 99, before 7\n"
	  "new fault host node-09, at leaf-1/9\n", 1 },
	{ "", { HEAD, HEAD WARNINGS("1") WARNINGS("2") WARNINGS("3")
		"#complaint c\n" },
	  "new problem c\n" TOLD("1") TOLD("2") TOLD_6("3") "new warning: more, "
	  "which --json has\n", 1 },
	{ "+leaf-3/1=node-05/1 +leaf-3/2=spine-1/8 +leaf-1/8=spine-2/8",
	  { "", "" }, "new switch leaf-3: 2 links, 1 host\n"
	  "new link leaf-1/8 - spine-2/8\n", 1 },
	{ "-leaf-1/3 -leaf-2/4 +leaf-1/3=spine-2/6 +leaf-2/4=spine-1/5",
	  { "", "" }, "exchanged plugs leaf-1/3 and leaf-2/4: before, the cable "
	  "of spine-1/5 in leaf-1/3, that of spine-2/6 in leaf-2/4\n", 1 },
	{ "-leaf-1/2 +leaf-2/8=node-02/1 -leaf-1/3 +leaf-1/8=spine-1/5",
	  { "", "" }, "moved host node-02: at leaf-2/8, before leaf-1/2\n"
	  "other cable spine-1/5: leads to leaf-1/8, before leaf-1/3\n", 1 },
};

static void
expect_lines(const struct snapshot *old, const struct snapshot *new,
	     const struct tool_view *old_view, const struct tool_view *new_view,
	     int status, const char *answer)
{
	g_autoptr(GString) out = g_string_new(NULL), json = g_string_new(NULL);
	struct text_report text = { .out = out };
	struct text_report j = { .out = json, .as_json = true };

	assert_int_equal(compare_fabrics(old, new, old_view, new_view, &text),
			 status);
	assert_string_equal(out->str, answer);
	assert_int_equal(compare_fabrics(old, new, old_view, new_view, &j),
			 status);
	assert_true(g_str_has_suffix(json->str, status ? "\"alike\":false}\n" :
				     "\"alike\":true}\n"));
}

TEST(test_a_difference_is_a_line_for_its_cause)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO(tool_view) *old = write_fabric("", cases[i].lines[0]);
		AUTO(tool_view) *new = write_fabric(cases[i].edits,
						     cases[i].lines[1]);

		expect_lines(old->s, new->s, old, new, cases[i].status,
			     cases[i].answer);
	}
}

/* The same way back. The last is a host of two ports, whose first one has no
 * cable then. */
TEST(test_what_is_back_is_new)
{
	static const struct {
		const char *before, *lines, *after, *answer;
	} back[] = {
		{ "-leaf-1/2 " LEAF_2, "#fault 1 guid 0x20 kind 0 name 6 what "
		  "switch leaf-2\n", "", "new switch leaf-2: 5 links, 2 hosts\n"
		  "new host node-02: at leaf-1/2\n" },
		{ "-leaf-1/3 %leaf-2/4", "", "", "new link leaf-1/3 - "
		  "spine-1/5\nfaster link leaf-2/4 - spine-2/6: before 1xSDR of "
		  "4xEDR\n" },
		{ "+leaf-1/7=node-06/1 +leaf-2/7=node-06/2", "",
		  "+leaf-1/7=node-05/1 +leaf-2/7=node-06/2", "other cable "
		  "leaf-1/7: leads to node-05, before node-06/1\n"
		  "new host node-05: at leaf-1/7\n" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(back); i++) {
		AUTO(tool_view) *old = write_fabric(back[i].before,
						    back[i].lines);
		AUTO(tool_view) *new = write_fabric(back[i].after, "");

		expect_lines(old->s, new->s, old, new, 1, back[i].answer);
	}
}

#define LIST \
	"# the plan\n\nleaf-1/1 - node-01/1  4xEDR Active\n" \
	"node-02/1 leaf-1/2\nleaf-1/3, spine-1/5, 5 m\n" \
	"leaf-1/4;spine-2/5\r\n leaf-2/1\tnode-03/1\nleaf-2/2 - node-04/1\n" \
	"spine-1/6 leaf-2/3\nspine-2/6 leaf-2/4\n" \
	"leaf-1/5 spine-3/5\nspine-3/6 - leaf-2/5\n"

static const struct {
	const char *edits, *design, *answer;
	int status;		/* 2: the design cannot be read */
} designs[] = {
	{ "", LIST, "no difference\n", 0 },
	{ "-leaf-1/1 -leaf-1/2 +leaf-1/1=node-02/1 +leaf-1/2=node-01/1", LIST,
	  "exchanged plugs leaf-1/1 and leaf-1/2: plug the cable of node-01 "
	  "in leaf-1/1, that of node-02 in leaf-1/2\n", 1 },
	/* at the spine: one place */
	{ "-leaf-1/3 -leaf-2/3 +leaf-1/3=spine-1/6 +leaf-2/3=spine-1/5", LIST,
	  "exchanged plugs spine-1/5 and spine-1/6: plug the cable of leaf-1/3 "
	  "in spine-1/5, that of leaf-2/3 in spine-1/6\n", 1 },
	/* a cycle of three */
	{ "-leaf-1/3 -leaf-1/4 -leaf-2/4 +leaf-1/3=spine-2/5 "
	  "+leaf-1/4=spine-2/6 +leaf-2/4=spine-1/5", LIST,
	  "exchanged plugs leaf-1/3 and leaf-2/4: plug the cable of spine-1/5 "
	  "in leaf-1/3, that of spine-2/5 in leaf-2/4\n"
	  "exchanged plugs spine-2/5 and spine-2/6: plug the cable of leaf-1/4 "
	  "in spine-2/5, that of leaf-2/4 in spine-2/6\n", 1 },
	{ "-leaf-1/2 +leaf-2/8=node-02/1 -leaf-2/4 +leaf-1/7=node-05/1", LIST
	  "leaf-1/9 node-17/1\nleaf-9/3 spine-1/3\n",
	  "misplaced host node-02: at leaf-2/8, not leaf-1/2\n"
	  "missing switch leaf-9: at spine-1/3\n"
	  "missing host node-17: at leaf-1/9\n"
	  "missing link leaf-2/4 - spine-2/6\n"
	  "extra host node-05: at leaf-1/7\n", 1 },
	{ "-leaf-1/3 +leaf-1/8=spine-1/5 +leaf-1/7=spine-2/7", LIST,
	  "wrong cable spine-1/5: leads to leaf-1/8, not leaf-1/3\n"
	  "extra link leaf-1/7 - spine-2/7\n", 1 },
	/* nothing is exchanged with what the design does not have */
	{ "-leaf-1/3 +leaf-1/3=node-05/1 +leaf-3/1=spine-1/5", LIST,
	  "wrong cable leaf-1/3: leads to node-05, not spine-1/5\n"
	  "extra switch leaf-3: at spine-1/5\n"
	  "extra host node-05: at leaf-1/3\n", 1 },
	{ "", LIST "leaf-1/254 node-17/1\n",
	  "missing host node-17: at leaf-1/254\n", 1 },
	/* half of the fabric is not reached */
	{ "-leaf-1/3 -leaf-2/4 +leaf-1/3=spine-2/6 +leaf-2/4=spine-1/5 "
	  "-spine-3/5 -spine-3/6", LIST,
	  "wrong cable leaf-1/3: leads to spine-2/6, not spine-1/5\n"
	  "wrong cable spine-2/6: leads to leaf-1/3, not leaf-2/4\n"
	  "missing switch leaf-2: 5 links, 2 hosts\n"
	  "missing switch spine-1: 2 links\nmissing switch spine-3: 2 links\n",
	  1 },
	{ "", "leaf-1/1 node-01\n", "d:1: no cable NAME/PORT - NAME/PORT", 2 },
	{ "", "leaf-1/1 node-01/1\n\nleaf-1/01 node-02/1\n",
	  "d:3: leaf-1/1 has a cable already in line 1", 2 },
	{ "", "leaf-1/1 leaf-1/1\n",
	  "d:1: leaf-1/1 has a cable already in line 1", 2 },
	{ "", "# x\n\nleaf-1/0 node-01/1\n", "d:3: leaf-1/0: a port is 1 to "
	  "254", 2 },
	{ "", "leaf-1/1 node-01/255\n", "d:1: node-01/255: a port is 1 to", 2 },
	{ "", "leaf-1/18446744073709551617 n/1\n", "d:1: leaf-1/1844674", 2 },
	{ "", LIST "a/1 b/1 - leaf-1/8\nleaf-2/8 - a/1 b/2  4xEDR 3/4\n",
	  "missing host a/1 b: 2 links\n", 1 },
	{ "", "", "d: neither a node nor a cable is in it", 2 },
	{ "", "# none\n\n", "d: neither a node nor a cable is in it", 2 },
	{ "", HEAD, "d: neither a node nor a cable is in it", 2 },
	{ "", "leaf-1/1 node-\xff\n", "d:1: no cable NAME/PORT", 2 },
	{ "", LIST "r\xe4ume/3 spine-1/3\n",
	  "missing switch r?ume: at spine-1/3\n", 1 },
	{ "", "#view 1 gen 7\nSwitch 4 \"a\"\n", "d: the view is cut off: its "
	  "line #end is missing", 2 },
	{ "", "Switch 4 leaf\"1\n", "d:1:10", 2 },
};

TEST(test_a_design_names_the_plugs_to_exchange)
{
	for (size_t i = 0; i < G_N_ELEMENTS(designs); i++) {
		AUTO(tool_view) *now = write_fabric(designs[i].edits, "");
		g_autoptr(GError) error = NULL;
		struct snapshot *d = design_parse(designs[i].design, "d",
						  now->s, &error);

		assert_true((d != NULL) == (designs[i].status < 2));
		if (d) {
			expect_lines(d, now->s, NULL, NULL, designs[i].status,
				     designs[i].answer);
			snapshot_unref(d);
		} else if (!g_str_has_prefix(error->message,
					     designs[i].answer)) {
			fail_msg("%s", error->message);
		}
	}
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
