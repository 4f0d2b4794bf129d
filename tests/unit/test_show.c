// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands that are answered by a view (tests/golden/show), each on this
 * one (tests/data/show.view):
 *
 *	      spine-1
 *	     /1   2| |3
 *	    /3    3| |2
 *	leaf-1    leaf-2
 *	 |1  |2     |1
 *	node-01 node-02 node-03		leaf-1/4: a link to no known node
 */
#include "tests/lib/unit.h"
#include "tools/show.h"

static char *view_text;

/* The status; words: behind "j" for JSON, "w" for --why, or both. */
static int
ask(struct tool_view *v, const char *words, GString *out)
{
	g_auto(GStrv) list = NULL;
	struct show q = { .v = v, .out = { .out = out } };

	assert_true(g_shell_parse_argv(words, NULL, &list, NULL));
	q.out.as_json = list[0][0] == 'j';
	q.why = strchr(list[0], 'w') && strlen(list[0]) < 3;
	q.words = list + (strlen(list[0]) < 3);
	return show_run(&q, NULL);
}

static void
expect_answer(struct tool_view *v, const char *words, int status,
	      const char *answer)
{
	g_autoptr(GString) out = g_string_new(NULL);

	assert_int_equal(ask(v, words, out), status);
	assert_string_equal(out->str, answer);
}

static struct tool_view *
read_view(const char *text)
{
	struct tool_view *v = tool_view_read(text, "v", NULL);

	assert_non_null(v);
	return v;
}

/* The view up to a line, and these instead of what follows. */
static struct tool_view *
read_view_with(const char *line, const char *instead)
{
	g_autofree char *bare = g_strndup(view_text, (gsize)
			(strstr(view_text, line) - view_text));
	g_autofree char *text = g_strconcat(bare, instead, "#end 7\n", NULL);

	return read_view(text);
}

/* What is missing in tests/golden/missing, of the view with another name. */
static const char missing[] = "#name 0x20 is leaf, at 2\n"
	"#fault 1 guid 0x10 port 4 far 0x30 far-port 4 kind 2 name 20 near 8 "
	"since 5 what link leaf-1/4 - spine-1/4, why\n#fault 2 guid 0x77 far "
	"0x20 far-port 4 kind 1 name 6 since 5 what host node-0, at leaf, at "
	"2/4, with a link and no answer\n#fault 3 guid 0x78 kind 0 name 7 since "
	"5 what switch spine-1, 3 links\n#fault 4 guid 0x30 port 5 far 0x200 "
	"far-port 2 kind 2 name 21 near 9 since 5 what link spine-1/5 - "
	"node-02/2\n";

/* Commands, a line each; % is the time since when. of: lines of the view. */
static void
answered(const void *of, const char *text, GString *out)
{
	AUTO(tool_view) *v = read_view_with("#end", of);
	g_autofree char *since = expected_since_text(5);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; **line; line++) {
		g_autoptr(GString) answer = g_string_new(NULL);
		int status = ask(v, *line, answer);

		g_string_append_printf(out, "$ %s\n%s", *line, answer->str);
		if (status)
			g_string_append_printf(out, "status %d\n", status);
	}
	g_string_replace(out, since, "%", 0);
}

__attribute__((constructor)) static void
add_file(void)
{
	g_autofree char *path = folder_source("tests/data", "show.view");

	if (!g_file_get_contents(path, &view_text, NULL, NULL))
		g_error("%s is not there", path);
	golden_add("show", answered, "");
	golden_add("missing", answered, missing);
	golden_add("shared", answered, "#name 0x20 is leaf-1\n#fault 1 guid 0x10 "
		   "port 4 far 0x9 far-port 9 kind 2 name 42 near 29 since 5 what "
		   "link leaf-1 (0x0000000000000010)/4 - leaf - a/9\n#fault 2 "
		   "guid 0x9 port 8 far 0x20 far-port 4 kind 2 name 42 near 10 since "
		   "5 what link leaf - a/8 - leaf-1 (0x0000000000000020)/4\n"
		   "#fault 3 guid 0x9 kind 2 name 10 near 2 what link leaf - a/7\n");
}

TEST(test_a_list_of_nothing_says_so)
{
	static const char *const lists[][2] = {
		{ "groups", "no groups\n" }, { "members", "no members\n" },
		{ "links avoided", "no avoided links\n" },
		{ "nodes switch", "no switch nodes\n" },
		{ "partitions", "no partitions\n" },
		{ "j links slow", "{\"links\":[]}\n" },
		/* of states a net file says nothing */
		{ "links inactive", "no inactive links\n" },
		{ "links", "a/1 - b/1  4xEDR\na/2 - b/2  4xEDR\n" },
		/* a node, whatever its ports are */
		{ "ports a", "a: host\n  port 1  LinkUp  4xEDR  LID 1  MTU 4096, "
		  "8 VLs  - b/1\n  port 2  LinkUp  4xEDR  LID 3  MTU 4096, "
		  "8 VLs  - b/2\n" },
		{ "j links a/1", "{\"links\":[{\"a\":\"a/1\",\"b\":\"b/1\",\"speed\":"
		  "\"4xEDR\",\"state\":null,\"could_be\":null,\"avoided\":false"
		  "}],\"missing\":null}\n" },
	};
	AUTO(tool_view) *v = read_view("caguid=0x1\nCa 2 \"H-1\" # \"a\"\n"
		"[1](3) \"H-2\"[1](4) # lid 1 lmc 0 \"b\" lid 2 4xEDR\n"
		"[2](5) \"H-2\"[2](6) # lid 3 lmc 0 \"b\" lid 4 4xEDR\n\n"
		"caguid=0x2\nCa 2 \"H-2\" # \"b\"\n"
		"[1](4) \"H-1\"[1](3) # lid 2 lmc 0 \"a\" lid 1 4xEDR\n"
		"[2](6) \"H-1\"[2](5) # lid 4 lmc 0 \"a\" lid 3 4xEDR\n");

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		expect_answer(v, lists[i][0], 0, lists[i][1]);
}

/* A view may be a stranger's file. */
TEST(test_names_of_a_view_move_no_cursor)
{
	AUTO(tool_view) *v = read_view_with("#end", "#name 0x10 is a\033[2Jb\n"
		"#name 0x30 is caf\xc3\xa9\n");

	expect_answer(v, "nodes '?[2J'", 0, "switch 4\t0x0000000000000010  "
		      "a?[2Jb  3 of 3 links Active\n");
	expect_answer(v, "nodes caf", 0, "switch 6\t0x0000000000000030  "
		      "caf\xc3\xa9  2 of 3 links Active\n");
}

/* It has not taken it, as its state. */
TEST(test_a_port_without_a_lid_is_given_none)
{
	static const char *const lid = "lid 2 ", *const pkey = "#pkey 0x7fff 0x201";
	g_auto(GStrv) parts = g_strsplit(view_text, lid, -1);
	g_autofree char *some = g_strjoinv("lid 0 ", parts);
	g_auto(GStrv) halves = g_strsplit(some, pkey, 2);
	g_autofree char *text = g_strconcat(halves[0], "#pkey 0xffff 0x201\n"
		"#port 0x200 1 state 2 mtu 4 vls 4 phys 5", halves[1], NULL);
	AUTO(tool_view) *v = read_view(text);

	expect_answer(v, "nodes node-02", 0, "host   0\t0x0000000000000200  "
		      "node-02  at leaf-1/2\n");
	expect_answer(v, "path node-01 node-02", 1, "Rack 1 (LID 1) -> "
		      "node-02/1 (LID 0): NO PATH: it has no LID\n");
	expect_answer(v, "path node-02 node-01", 1, "node-02/1 (LID 0) -> "
		      "Rack 1 (LID 1): NO PATH: node-02 (0x0000000000000200) "
		      "port 1 is Initialize, not Active\n 1  leaf-1  in 2  out "
		      "1\n");
}

TEST(test_a_command_asks_for_what_it_needs)
{
	static const struct {
		const char *words[4], *request;
	} asks[] = {
		{ { "nodes" }, "view\n" }, { { "path", "1", "2" }, "view\n" },
		{ { "who", "it's\n1" }, "view node 'it'\\''s?1'\n" },
		{ { "ports", "2" }, "view node '2'\n" },
		{ { "status" }, "view status\n" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++) {
		g_autofree char *request =
			show_request((char *const *)asks[i].words);

		assert_int_equal(g_strcmp0(request, asks[i].request), 0);
	}
}

/* Also of damaged tables. */
TEST(test_a_path_that_leads_nowhere_has_a_reason)
{
	static const struct {
		unsigned sw;
		uint8_t out;
		const char *fault;
	} wrong[] = {
		{ 0, 255, "that switch has no entry for its LID" },
		{ 0, 5, "that switch has no entry for its LID" },
		{ 0, 2, "the tables lead elsewhere" },
		{ 0, 4, "the tables lead elsewhere" },
		{ 2, 0, "the tables lead elsewhere" },
		{ 2, 1, "the tables lead round" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		AUTO(tool_view) *v = read_view(view_text);
		char *words[] = { "path", "node-01", "node-03", NULL };
		g_autoptr(GString) out = g_string_new(NULL);
		struct show q = { .v = v, .words = words, .why = true,
				  .out.out = out };

		lft_row(v->lft, wrong[i].sw)[3] = wrong[i].out;
		assert_int_equal(show_run(&q, NULL), 1);
		assert_has(out->str, wrong[i].fault);
	}
}

TEST(test_one_is_told_as_one_and_none_is_not_told)
{
	AUTO(tool_view) *v = read_view_with("#lft", "#rival node-16\n"
		"#flap held 0 flaps 0 babbles 0 downs 1 traps 2 age 5 left 0 at "
		"link A\n#flap held 0 flaps 0 babbles 0 downs 2 traps 1 age 5 "
		"left 0 at link B\n#flap held 0 flaps 0 babbles 0 downs 1 "
		"traps 0 age 5 left 0 at link C\n#avoided 0x1 1 errors 3 used 0 "
		"name 6698426331378848769 reason 9 link a\n");
	g_autoptr(GString) out = g_string_new(NULL);

	ask(v, "status", out);
	assert_has(out->str, "WARNING: node-16\n");
	assert_has(out->str, "link A; down 1 time and 2 traps within");
	assert_has(out->str, "link B; down 2 times and 1 trap within");
	assert_has(out->str, "link C; down 1 time within");
}

TEST(test_links_that_go_down_most_are_first)
{
	g_autoptr(GString) text = g_string_new("# Topology file: v\n"
		"#view 1 gen 7 sa 2 at 5 port 0x101 by minism\n"
		"#manager running 5 priority 0 guest 0 paused 0 qos 0\n");
	static const struct {
		bool all, as_json;
		unsigned told;		/* "; down" or "downs" */
	} asks[] = { { false, false, 12 }, { true, false, 42 },
		     { false, true, 0 } };
	static const char *const order[] = { "05", "40", "07", "41", "00" };
	AUTO(tool_view) *v = NULL;

	/* 5 babbles; 40 went down most, then 7, with more traps, and 41 */
	for (unsigned i = 0; i < 42; i++)
		g_string_append_printf(text, "#flap held 0 flaps 0 babbles %d "
			"downs %d traps %d age 5 left 0 at link %02u\n", i == 5,
			i == 5 ? 0 : i == 40 ? 4 : i == 7 || i == 41 ? 3 : 1,
			i == 7 ? 9 : 2, i);
	g_string_append(text, "#end 7\n");
	v = read_view(text->str);
	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		char *words[] = { "status", NULL };
		struct show q = {
			.v = v, .words = words, .all = asks[i].all,
			.out = { .out = out, .as_json = asks[i].as_json },
		};
		g_auto(GStrv) parts = NULL;
		const char *at;

		show_run(&q, NULL);
		at = out->str;
		parts = g_strsplit(out->str, "; down", -1);
		assert_int_equal(g_strv_length(parts) - 1, asks[i].told);
		for (size_t k = 0; k < G_N_ELEMENTS(order); k++) {
			g_autofree char *link = g_strconcat("link ", order[k],
							    NULL);

			at = strstr(at, link);
			assert_non_null(at);
		}
		assert_int_equal(strstr(out->str, "and 30 more: status --all\n")
				 != NULL, asks[i].told == 12);
		assert_int_equal(strstr(out->str, "status --all") != NULL,
				 asks[i].told == 12);
	}
}

/* Parts are put into the view of one and the same fabric. */
TEST(test_a_part_is_of_the_same_fabric)
{
	AUTO(tool_view) *v = read_view_with("#lft", "");
	g_autoptr(GError) error = NULL;
	char *words[] = { "path", "node-02", "1", NULL };
	struct show q = { .v = v, .words = words };

	assert_int_equal(show_run(&q, &error), -1);
	assert_has(error->message, "no forwarding tables");
	g_clear_error(&error);
	assert_true(tool_view_add(v, "#view 1 gen 7\n#hop 0x10 1 lid 1\n"
				  "#hop 0x99 3 lid 1\n#hop 0x10 3 lid 99\n"
				  "#end 7\n", "v", NULL));
	expect_answer(v, "path node-02 1", 0, "node-02/1 (LID 2) -> Rack 1 (LID "
		      "1): 1 switch, SL 2, MTU 4096, 100 Gb/s, P_Key 0x7fff\n"
		      " 1  leaf-1  in 2  out 1\n");
	assert_false(tool_view_add(v, "#view 1 gen 7\n#hop 0x10 1 lid 2\n",
				   "v", &error));
	g_clear_error(&error);
	assert_false(tool_view_add(v, "#view 1 gen 8\n#end 8\n", "v", &error));
	assert_true(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN));
	g_clear_error(&error);
	assert_null(tool_view_read("#view 1 gen 7\nSwitch 4", "v", &error));
	assert_has(error->message, "v: the view is cut off: v:2:");
}
