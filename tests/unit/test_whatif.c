// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What would happen to PGFT(2,3;1,2): leaves S-1-0 to S-1-2, each with ports 1
 * and 2 to two of H-0 to H-5, 3 to S-2-0 and 4 to S-2-1.
 */
#include <string.h>

#include "routing/select.h"
#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "tools/whatif.h"
#include "topology/net_file.h"

#define BEFORE	"before: ftree, 30 pairs of hosts; all to all, 4 flows over the " \
	"busiest link, 1.00 times the least; shifts 1.00, at most 1\n"
#define AFTER(engine, pairs, flows, times, shifts) "after:  " engine ", " pairs \
	" pairs of hosts; all to all, " flows " flows over the busiest link, " \
	times " times the least; shifts " shifts "\n"
#define KEPT	"engine: ftree: kept, with a local repair\n"
#define BEST	"engine: ftree: no other engine can be better: the busiest channel " \
	"carries 1.00 times the lower bound\n"
#define BEST_OF_ALL	"engine: ftree: the best engine that is safe here: the " \
	"busiest channel carries 1.00 times the lower bound\n"
#define EXPECTED ": kill NODE, unplug NAME/PORT, add NAME/PORT NAME/PORT or " \
	"engine NAME[,NAME ..] is expected\n"

static const struct {
	const char *words;
	int status;
	const char *answer;
} cases[] = {
	{ "kill S-2-0", 0, BEFORE AFTER("ftree", "30", "8", "1.00",
					"1.60, at most 2")
	  BEST_OF_ALL "tables: 3 of 4 LFT blocks would be written\n" },
	{ "kill S-1-1", 1, "cut off: H-2, H-3\n" BEFORE
	  AFTER("ftree", "12", "2", "1.00", "1.00, at most 1")
	  BEST "tables: 0 of 4 LFT blocks would be written\n" },
	{ "unplug S-1-0/3", 0, BEFORE AFTER("ftree", "30", "8", "1.00",
					    "1.60, at most 2")
	  KEPT "tables: 5 of 5 LFT blocks would be written\n" },
	/* the node of the manager; it is killed, and not cut off */
	{ "kill H-0", 0, BEFORE AFTER("ftree", "20", "4", "1.33",
				      "1.25, at most 2")
	  KEPT "tables: 0 of 5 LFT blocks would be written\n" },
	{ "unplug H-0/1", 1, "cut off: H-0\n" BEFORE
	  AFTER("ftree", "20", "4", "1.33", "1.25, at most 2")
	  KEPT "tables: 0 of 5 LFT blocks would be written\n" },
	{ "unplug S-1-0/3 unplug S-1-0/4", 1,
	  "cut off: H-2, H-3, H-4, H-5, S-1-1, S-1-2, S-2-0, S-2-1\n" BEFORE
	  AFTER("ftree", "2", "0", "1.00", "1.00, at most 1")
	  BEST "tables: 1 of 1 LFT block would be written\n" },
	{ "unplug S-1-0/3 unplug S-2-1/3 add S-1-0/3 S-2-1/3", 0, BEFORE
	  AFTER("ftree", "30", "8", "1.00", "1.60, at most 2")
	  BEST_OF_ALL "tables: 5 of 5 LFT blocks would be written\n" },
	{ "engine updn", 0, BEFORE AFTER("updn", "30", "4", "1.00",
					 "1.00, at most 1")
	  "engine: updn: configured\n"
	  "tables: 0 of 5 LFT blocks would be written\n" },
	{ "engine dor,updn,ftree", 0, BEFORE AFTER("updn", "30", "4", "1.00",
						   "1.00, at most 1")
	  "engine: updn: dor: 2 of 5 switches have no CA, as in a tree; "
	  "configured, and safe here\n" },
	{ "engine lash,updn", 0, BEFORE AFTER("updn", "30", "4", "1.00",
					      "1.00, at most 1")
	  "note:   engine: minism has no lash, so it is ignored\n"
	  "engine: updn: configured, and safe here\n" },
	{ "engine updn,auto", 0, BEFORE AFTER("ftree", "30", "4", "1.00",
					      "1.00, at most 1") BEST },
	{ "engine updn,nix,nox", 2, "engine: unknown routing engine \"nix\"; "
	  "known: ftree, minhop, updn, dor, auto\nengine: unknown routing "
	  "engine \"nox\"" },
	{ "engine lash,sssp", 2, "engine: minism has none of \"lash,sssp\"\n" },
	{ "engine ,", 2, "engine: minism has none of \",\"\n" },
	{ "engine dor", 1, "dor cannot route this fabric" },
	{ "kill 0x10010 unplug S-1-0/3", 2, "nothing on the fabric has the "
	  "name, LID or GUID 0x10010\n" },
	{ "kill S-1-0 kill S-1-1 kill S-1-2", 2, "no host would have a cable\n" },
	{ "add S-1-0/9 S-1-1/9", 2, "S-1-0/9 is no port, or several are: links "
	  "has all with cables, as NAME/PORT; the NodeGUID in place of the name "
	  "means one node\n" },
	{ "unplug 0x5000000000000100/3", 0, BEFORE AFTER("ftree", "30", "8",
		"1.00", "1.60, at most 2")
	  KEPT "tables: 5 of 5 LFT blocks would be written\n" },
	{ "unplug 0x5000000000000100/0", 2, "0x5000000000000100/0 is no port" },
	{ "unplug 0x5000000000000100/9", 2, "0x5000000000000100/9 is no port" },
	{ "unplug 0x5000000000000101/3", 2, "0x5000000000000101/3 is no port" },
	{ "unplug 0x5000000000000100", 2, "0x5000000000000100 is no port" },
	{ "unplug S-1-0/3 add S-1-0/3 S-2-1/3", 2,
	  "S-2-1/3 has a cable already\n" },
	{ "unplug S-1-0/3 unplug S-1-0/3", 2, "S-1-0/3 has no cable\n" },
	{ "unplug S-1-0/3 add S-1-0/3 S-1-0/3", 2,
	  "S-1-0/3 cannot have a cable to itself\n" },
	{ "engine nix", 2, "engine: unknown routing engine \"nix\"" },
	{ "kill S-2-0 add S-1-0/3", 2, "add" EXPECTED },
	{ "go H-0", 2, "go" EXPECTED },
};

static struct tool_view *
read_spec(const char *spec, const char *lines)
{
	AUTO(snapshot) *s = net_file_open(spec,
					  &(struct generate_options){ 0 }, NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	struct tool_view *v;

	net_file_write(s, text);
	g_string_append_printf(text, "\n%s\n", lines);
	v = tool_view_read(text->str, "v", NULL);
	assert_non_null(v);
	return v;
}

static struct tool_view *
read_fabric(const char *lines)
{
	return read_spec("PGFT(2,3;1,2)", lines);
}

/* "*TEXT" is in the answer, others begin it. */
static void
expect_whatif(const struct tool_view *v, const char *words, int status,
	      const char *answer)
{
	g_auto(GStrv) list = g_strsplit(words, " ", -1);
	g_autoptr(GString) out = g_string_new(NULL), json = g_string_new(NULL);
	struct text_report text = { .out = out };
	struct text_report j = { .out = json, .as_json = true };

	assert_int_equal(whatif(v, list, &text), status);
	if (*answer == '*')
		assert_has(out->str, answer + 1);
	else if (!g_str_has_prefix(out->str, answer))
		assert_string_equal(out->str, answer);
	assert_int_equal(whatif(v, list, &j), status);
	assert_true(g_str_has_prefix(json->str, strstr(out->str, "before: ") ?
				     "{\"cut_off\":[" :
				     "{\"done\":false,\"message\":\""));
}

TEST(test_a_change_is_told_before_it_is_made)
{
	struct tool_view *v = read_fabric("");

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		expect_whatif(v, cases[i].words, cases[i].status,
			      cases[i].answer);
	v->s->nodes[0].name = v->s->nodes[1].name = "twin";
	expect_whatif(v, "kill twin", 2, "twin means 2 ports; say which one by "
		      "its GUID:\n");
	tool_view_free(v);
	v = read_fabric("#view 1 gen 1\n#fault 1 guid 0x77 kind 1 name 3 since "
			"5 what host H-9, at S-1-9/1\n#end 1\n");
	expect_whatif(v, "kill H-9", 2, "host H-9 is missing since ");
	expect_whatif(v, "unplug H-9/1", 2, "host H-9 is missing since ");
	tool_view_free(v);
}

/* The tables of the view are those before, the engine that was asked for is
 * taken again. */
TEST(test_the_present_tables_and_engine_count)
{
	AUTO(tool_view) *v = read_fabric("#view 1 gen 1\n#route looped 0 top "
		"11 unsafe 0 engine updn\n#reason configured\n#usual state 4 "
		"mtu 5 vls 4 phys 5\n#end 1\n");
	struct engine_input in = { .n_threads = 1 };
	const struct choice_wish wish = { .engine = &engine_minhop };
	AUTO(graph) *g = graph_new(v->s, v->lids);
	AUTO_VALUE(choice_clear) struct choice c;

	in.g = g;
	assert_true(choose_tables(&wish, &in, &c, NULL));
	v->lft = lft_copy(c.lft);
	v->whole = true;
	/* all hosts of S-1-0 go by S-2-0 */
	for (unsigned lid = 1; lid <= v->lft->top; lid++)
		if (lft_row(v->lft, 0)[lid] == 4)
			lft_row(v->lft, 0)[lid] = 3;
	expect_whatif(v, "unplug H-5/1", 1, "cut off: H-5\n"
		      "before: updn, 30 pairs of hosts; all to all, 8 flows ");
	expect_whatif(v, "kill S-2-0", 0, "before: updn, 30 pairs of hosts; all "
		      "to all, 8 flows over the busiest link, 2.00 times the "
		      "least; shifts 1.60, at most 2\n"
		      AFTER("updn", "30", "8", "1.00", "1.60, at most 2")
		      "engine: updn: configured\n");
	expect_whatif(v, "engine auto", 0, "before: updn, 30 pairs of hosts; all "
		      "to all, 8 flows over the busiest link, 2.00 times the "
		      "least; shifts 1.60, at most 2\n"
		      AFTER("updn", "30", "4", "1.00", "1.00, at most 1")
		      "engine: updn: kept, since no other engine is 10% better");
}

/* The cables of S-2-1 are slow, and so is one more: its ends may be given in any
 * order. */
TEST(test_a_new_cable_is_as_fast_as_the_slower_node)
{
	static const char *const words[] = {
		"unplug S-1-0/3 unplug S-2-1/1 add S-1-0/3 S-2-1/1",
		"unplug S-1-0/3 unplug S-2-1/1 add S-2-1/1 S-1-0/3",
	};
	AUTO(tool_view) *v = read_fabric("");

	for (uint32_t port = 0; port < v->s->n_ports; port++) {
		uint32_t peer = v->s->ports[port].peer;

		if (peer != SNAPSHOT_NONE &&
		    (!strcmp(snapshot_name_of(v->s, port), "S-2-1") ||
		     !strcmp(snapshot_name_of(v->s, peer), "S-2-1")))
			v->s->ports[port].info.speed_ext_active = 0;
	}
	for (unsigned i = 0; i < 2; i++)
		expect_whatif(v, words[i], 0, "before: updn, 30 pairs of "
			      "hosts; all to all, 8 flows over the busiest "
			      "link, 1.40 times the least; shifts 1.60, at most "
			      "2\n" AFTER("ftree", "30", "20", "1.00", "1.60, at "
					 "most 2") BEST_OF_ALL);
}

TEST(test_tables_with_a_credit_loop_are_told_by_the_status)
{
	AUTO(tool_view) *v = read_spec("ring(5;1)", "");

	expect_whatif(v, "engine minhop", 1, "before: updn, 20 pairs of hosts; "
		      "all to all, 4 flows over the busiest link, 1.33 times "
		      "the least; shifts 1.50, at most 2\n"
		      AFTER("minhop", "20", "3", "1.00", "1.50, at most 2")
		      "engine: minhop: configured\n"
		      "tables: 2 of 5 LFT blocks would be written; CREDIT LOOP: "
		      "traffic could deadlock\n");
}

/* Two switches have one name: it means none, and a NodeGUID means one. */
TEST(test_ports_of_nodes_with_one_name_go_by_the_guid)
{
	AUTO(tool_view) *v = read_fabric("#view 1 gen 1\n#name "
		"0x5000000000000200 is S-1-0\n#usual state 4 mtu 5 vls 4 phys "
		"5\n#end 1\n");

	expect_whatif(v, "unplug S-1-0/3", 2, "S-1-0/3 is no port, or several");
	expect_whatif(v, "unplug 0x5000000000000100/3 add S-2-0/1 "
		      "0x5000000000000100/3", 0, BEFORE);
	expect_whatif(v, "unplug 0x5000000000000200/1", 1, "cut off: H-2\n");
}

/* What routing was told: the middle of a mesh as the root, and I/O nodes by either
 * list, which ftree spreads for themselves. */
TEST(test_lists_of_routing_count)
{
	static const struct {
		const char *spec, *engine, *lines, *load;
	} lists[] = {
		{ "mesh(3,3;1)", "updn", "#root 0x5000000000000500\n", "10" },
		{ "mesh(3,3;1)", "updn", "#root 0x5000000000000100\n", "8" },
		{ "mesh(3,3;1)", "updn", "", "8" },
		{ "PGFT(2,3;1,2)", "ftree", "", "4" },
		{ "PGFT(2,3;1,2)", "ftree", "#io 0x6000000000000101\n"
			"#io 0x6000000000000301\n", "8" },
		{ "PGFT(2,3;1,2)", "ftree", "#compute 0x6000000000000201\n"
			"#compute 0x6000000000000301\n", "8" },
		{ "PGFT(4,6;1,3)", "ftree", "", "28" },
		{ "PGFT(4,6;1,3)", "ftree", "#compute 0x0000000000000000\n",
		  "40" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_autofree char *lines = g_strconcat("#view 1 gen 1\n#route "
			"looped 0 top 11 unsafe 0 engine ", lists[i].engine,
			"\n#reason configured\n", lists[i].lines,
			"#usual state 4 mtu 5 vls 4 phys 5\n#end 1\n", NULL);
		g_autofree char *told = g_strdup_printf("*all to all, %s flows ",
							lists[i].load);
		g_autofree char *words = g_strconcat("engine ",
						     lists[i].engine, NULL);
		struct tool_view *v = read_spec(lists[i].spec, lines);

		expect_whatif(v, words, 0, told);
		tool_view_free(v);
	}
}
