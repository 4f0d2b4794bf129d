// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands that are answered by a view, each on this one:
 *
 *	      spine-1
 *	     /1   2| |3
 *	    /3    3| |2
 *	leaf-1    leaf-2
 *	 |1  |2     |1
 *	node-01 node-02 node-03		leaf-1/4: a link to no known node
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/unit.h"
#include "tools/show.h"
#include "tools/status.h"

#define ROW	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffff" \
	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

static const char view_text[] =
	"# Topology file: written by minism\n"
	"#view 1 gen 7 sa 2 at 5 port 0x101 by minism\n"
	"#manager state 3 qos 1 on here\n"
	"#group 0xff12401bffff000000000000ffffffff 0xc000 0xffff 0x00000b1b"
	" 0x00000 4 3 18 0 0 0 1 0x0000000000000000\n"
	"#member 0xff12401bffff000000000000ffffffff"
	" 0xfe800000000000000000000000000101 1 0\n"
	"#member 0xff12401bffff000000000000ffffffff"
	" 0xfe8000000000000000000000000000aa 5 0\n"
	"#group 0xff120000000000000000000000000001 0xc001 0x8010 0x00000001"
	" 0x00000 5 7 18 3 0 0 0 0x0000000000000101\n"
	"#member 0xff120000000000000000000000000001"
	" 0xfe800000000000000000000000000301 4 0\n"
	"#member cut\n"
	"#partition 0x0010 sl 3 name Storage\n"
	"#partition 0x0020 sl 0\n"
	"#partition 0x7fff sl 2 name Default\n"
	"#avoided 0x20 2 errors 0 used 0 why by the operator\n"
	"#idle state 1 mtu 4 vls 1 phys 2\n"
	"#usual state 4 mtu 5 vls 4 phys 5\n"
	"\nvendid=0x1\nswitchguid=0x10(10)\n"
	"Switch 4 \"S-10\" # \"leaf-1\" base port 0 lid 4 lmc 0\n"
	"[1] \"H-100\"[1](101) # \"node-01\" lid 1 4xEDR\n"
	"[2] \"H-200\"[1](201) # \"node-02\" lid 2 4xEDR\n"
	"[3] \"S-30\"[1] # \"spine-1\" lid 6 4xEDR\n"
	"\nswitchguid=0x20(20)\n"
	"Switch 4 \"S-20\" # \"leaf-2\" base port 0 lid 5 lmc 0\n"
	"[1] \"H-300\"[1](301) # \"node-03\" lid 3 4xFDR\n"
	"[2] \"S-30\"[3] # \"spine-1\" lid 6 4xEDR\n"
	"[3] \"S-30\"[2] # \"spine-1\" lid 6 4xEDR\n"
	"\nswitchguid=0x30(30)\n"
	"Switch 3 \"S-30\" # \"spine-1\" base port 0 lid 6 lmc 0\n"
	"[1] \"S-10\"[3] # \"leaf-1\" lid 4 4xEDR\n"
	"[2] \"S-20\"[3] # \"leaf-2\" lid 5 4xEDR\n"
	"[3] \"S-20\"[2] # \"leaf-2\" lid 5 4xEDR\n"
	"\ncaguid=0x100\nCa 1 \"H-100\" # \"node-01\"\n"
	"[1](101) \"S-10\"[1] # lid 1 lmc 0 \"leaf-1\" lid 4 4xEDR\n"
	"\ncaguid=0x200\nCa 2 \"H-200\" # \"node-02\"\n"
	"[1](201) \"S-10\"[2] # lid 2 lmc 0 \"leaf-1\" lid 4 4xEDR\n"
	"\ncaguid=0x300\nCa 1 \"H-300\" # \"node-03\"\n"
	"[1](301) \"S-20\"[1] # lid 3 lmc 0 \"leaf-2\" lid 5 4xFDR\n"
	"\n#name 0x100 is Rack 1\n"
	"#port 0x10 4 state 2 mtu 0 vls 1 phys 5 speed 1xSDR\n"
	"#port 0x20 2 state 2 mtu 3 vls 2 phys 5\n"
	"#slow 0x10 3 could-be 4xHDR\n"
	"#pkey 0x0010 0x101\n#pkey 0x8010 0x101\n#pkey 0xffff 0x101\n"
	"#pkey 0x7fff 0x201\n#pkey 0x0020 0x301\n#pkey 0x7fff 0x301\n"
	"#pkey 0xffff 0x0000000000000010\n#pkey 0xffff 0x30\n"
	"#lft 0x10 0 ff010203000303" ROW "\n"
	"#lft 0x20 0 ff030301030003" ROW "\n"
	"#lft 0x30 0 ff010102010200" ROW "\n"
	"#end 7\n";

static const struct {
	const char *words;	/* j, w: JSON, --why */
	int status;
	const char *answer;
} cases[] = {
	{ "nodes", 0,
	  "switch 4\t0x0000000000000010  leaf-1  3 of 3 links Active\n"
	  "switch 5\t0x0000000000000020  leaf-2  2 of 3 links Active\n"
	  "switch 6\t0x0000000000000030  spine-1  2 of 3 links Active\n"
	  "host   1\t0x0000000000000100  Rack 1  at leaf-1/1\n"
	  "host   2\t0x0000000000000200  node-02  at leaf-1/2\n"
	  "host   3\t0x0000000000000300  node-03  at leaf-2/1\n" },
	{ "j nodes spine", 0, "{\"nodes\":[{\"kind\":\"switch\",\"lid\":6,"
	  "\"guid\":\"0x0000000000000030\",\"name\":\"spine-1\",\"at\":null,"
	  "\"links\":3,\"active\":2}]}\n" },
	{ "j nodes host-5", 0, "{\"nodes\":[]}\n" },
	{ "nodes hosts", 0, "no name has hosts in it; words other than names: "
	  "switch, host\n" },
	{ "links down", 0, "no name has down in it; words other than names: "
	  "slow, inactive, avoided\n" },
	{ "links", 0,
	  "leaf-1/1 - Rack 1/1  4xEDR Active\n"
	  "leaf-1/2 - node-02/1  4xEDR Active\n"
	  "leaf-1/3 - spine-1/1  4xEDR Active, could be 4xHDR\n"
	  "leaf-2/1 - node-03/1  4xFDR Active\n"
	  "leaf-2/2 - spine-1/3  4xEDR Initialize, avoided\n"
	  "leaf-2/3 - spine-1/2  4xEDR Active\n" },
	{ "links slow", 0,
	  "leaf-1/3 - spine-1/1  4xEDR Active, could be 4xHDR\n" },
	{ "links inactive", 0, "leaf-2/2 - spine-1/3  4xEDR Initialize, avoided\n" },
	{ "j links avoided", 0, "{\"links\":[{\"a\":\"leaf-2/2\","
	  "\"b\":\"spine-1/3\",\"speed\":\"4xEDR\",\"state\":\"Initialize\","
	  "\"could_be\":null,\"avoided\":true}]}\n" },
	{ "links node-03", 0, "leaf-2/1 - node-03/1  4xFDR Active\n" },
	{ "ports leaf-1", 0,
	  "leaf-1: switch\n"
	  "  port 0  LinkUp  4xSDR Active  LID 4\n"
	  "  port 1  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - Rack 1/1\n"
	  "  port 2  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - node-02/1\n"
	  "  port 3  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - spine-1/1\n"
	  "  port 4  LinkUp  1xSDR Initialize  MTU 0, 1 VL  - no node answers\n" },
	{ "ports leaf-2", 0,
	  "leaf-2: switch\n"
	  "  port 0  LinkUp  4xSDR Active  LID 5\n"
	  "  port 1  LinkUp  4xFDR Active  MTU 4096, 8 VLs  - node-03/1\n"
	  "  port 2  LinkUp  4xEDR Initialize  MTU 1024, 2 VLs  - spine-1/3\n"
	  "  port 3  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - spine-1/2\n"
	  "  port 4  Polling  Down\n" },
	{ "j ports 2", 0, "{\"name\":\"node-02\",\"kind\":\"host\",\"ports\":["
	  "{\"port\":1,\"physical\":\"LinkUp\",\"speed\":\"4xEDR\",\"state\":"
	  "\"Active\",\"lid\":2,\"guid\":\"0x0000000000000201\",\"mtu\":4096,"
	  "\"vls\":8,\"peer\":\"leaf-1/2\"}]}\n" },
	{ "lft leaf-1", 0,
	  "leaf-1\n"
	  "  LID 1  port 1 - Rack 1/1  to Rack 1\n"
	  "  LID 2  port 2 - node-02/1  to node-02/1\n"
	  "  LID 3  port 3 - spine-1/1  to node-03\n"
	  "  LID 4  port 0  to leaf-1\n"
	  "  LID 5  port 3 - spine-1/1  to leaf-2\n"
	  "  LID 6  port 3 - spine-1/1  to spine-1\n" },
	{ "lft node-02", 2, "only a switch has forwarding tables\n" },
	{ "who 'Rack 1'", 0,
	  "Rack 1: host, LID 1\n"
	  "  NodeGUID 0x0000000000000100, PortGUID 0x0000000000000101\n"
	  "  says it is node-01\n"
	  "  both in Storage (0x0010), full in Default (0x7fff)\n"
	  "  port 1 - leaf-1/1  4xEDR Active\n" },
	{ "who node-02/2", 2, "nothing on the fabric has the name, LID or GUID "
	  "node-02/2; the nearest is node-02\n" },
	{ "path node-03/1 'Rack 1/1'", 0,
	  "node-03 (LID 3) -> Rack 1 (LID 1): 3 switches, SL 2, MTU 4096, 56 "
	  "Gb/s, P_Key 0x7fff\n"
	  " 1  leaf-2  in 1  out 3\n"
	  " 2  spine-1  in 2  out 1\n"
	  " 3  leaf-1  in 3  out 1\n" },
	{ "who 0x301", 0,
	  "node-03: host, LID 3\n"
	  "  NodeGUID 0x0000000000000300, PortGUID 0x0000000000000301\n"
	  "  says it is node-03\n"
	  "  limited in a partition (0x0020), limited in Default (0x7fff)\n"
	  "  port 1 - leaf-2/1  4xFDR Active\n" },
	{ "j who leaf-2", 0, "{\"name\":\"leaf-2\",\"kind\":\"switch\",\"lid\""
	  ":5,\"lmc\":0,\"node_guid\":\"0x0000000000000020\",\"port_guid\":"
	  "\"0x0000000000000020\",\"description\":\"leaf-2\",\"partitions\":"
	  "\"in no partition\",\"links\":[{\"port\":1,\"peer\":\"node-03/1\","
	  "\"speed\":\"4xFDR\",\"state\":\"Active\"},{\"port\":2,\"peer\":"
	  "\"spine-1/3\",\"speed\":\"4xEDR\",\"state\":\"Initialize\"},{\"port\":3,"
	  "\"peer\":\"spine-1/2\",\"speed\":\"4xEDR\",\"state\":\"Active\"}],"
	  "\"missing\":null}\n" },
	{ "who node-04", 2, "nothing on the fabric has the name, LID or GUID "
	  "node-04; the nearest is node-02\n" },
	{ "j who 9", 2, "{\"done\":false,\"message\":\"nothing on the fabric "
	  "has the name, LID or GUID 9\"}\n" },
	{ "path node-01 node-03", 0,
	  "Rack 1 (LID 1) -> node-03 (LID 3): 3 switches, SL 2, MTU 4096, "
	  "56 Gb/s, P_Key 0xffff\n"
	  " 1  leaf-1  in 1  out 3\n"
	  " 2  spine-1  in 1  out 2\n"
	  " 3  leaf-2  in 3  out 1\n" },
	{ "w path node-01 node-03", 0,
	  "Rack 1 (LID 1) -> node-03 (LID 3): 3 switches, SL 2, MTU 4096, "
	  "56 Gb/s, P_Key 0xffff\n"
	  " 1  leaf-1  in 1  out 3     the only shortest: port 3; port 3 "
	  "carries 3 LIDs\n"
	  " 2  spine-1  in 1  out 2     one of 2 shortest: ports 2 3; port 2 "
	  "carries 2 LIDs\n"
	  " 3  leaf-2  in 3  out 1     the only shortest: port 1; port 1 "
	  "carries 1 LID\n" },
	{ "jw path 6 1", 0, "{\"from\":{\"name\":\"spine-1\",\"lid\":6,\"guid"
	  "\":\"0x0000000000000030\"},\"to\":{\"name\":\"Rack 1\",\"lid\":1,"
	  "\"guid\":\"0x0000000000000101\"},\"itself\":false,\"sl\":2,\"mtu\":4096,"
	  "\"gbps\":100,\"pkey\":\"0xffff\",\"fault\":null,\"hops\":[{\"switch\":"
	  "\"spine-1\",\"guid\":\"0x0000000000000030\",\"in\":0,\"out\":1,"
	  "\"shortest\":[1],\"lids\":3},{\"switch\":\"leaf-1\",\"guid\":"
	  "\"0x0000000000000010\",\"in\":3,\"out\":1,\"shortest\":[1],\"lids\""
	  ":1}]}\n" },
	{ "path leaf-1 leaf-1", 0,
	  "leaf-1 (LID 4) -> leaf-1 (LID 4), the node itself: 0 switches, SL "
	  "2, MTU 4096, 10 Gb/s, P_Key 0xffff\n" },
	{ "w path node-01 0x101", 0,
	  "Rack 1 (LID 1) -> Rack 1 (LID 1), the node itself: 0 switches, SL "
	  "2, MTU 4096, 100 Gb/s, P_Key 0xffff\n" },
	{ "jw path 1 node-01", 0, "{\"from\":{\"name\":\"Rack 1\",\"lid\":1,"
	  "\"guid\":\"0x0000000000000101\"},\"to\":{\"name\":\"Rack 1\",\"lid\""
	  ":1,\"guid\":\"0x0000000000000101\"},\"itself\":true,\"sl\":2,\"mtu\":"
	  "4096,\"gbps\":100,\"pkey\":\"0xffff\",\"fault\":null,\"hops\":[]}\n" },
	{ "path node-02 node-03", 1,
	  "node-02/1 (LID 2) -> node-03 (LID 3): NO PATH: no partition lets them "
	  "talk: limited in Default (0x7fff); limited in a partition (0x0020), "
	  "limited in Default (0x7fff)\n"
	  " 1  leaf-1  in 2  out 3\n"
	  " 2  spine-1  in 1  out 2\n"
	  " 3  leaf-2  in 3  out 1\n" },
	{ "path node-01 node-09", 2, "nothing on the fabric has the name, LID "
	  "or GUID node-09; the nearest is node-02\n" },
	{ "groups", 0,
	  "ff12:401b:ffff::ffff:ffff  MLID 0xc000  P_Key 0xffff  Q_Key "
	  "0x00000b1b  MTU 2048  10.0 Gb/s  SL 0  2 members, of the "
	  "configuration\n"
	  "ff12::1  MLID 0xc001  P_Key 0x8010  Q_Key 0x00000001  MTU 4096  "
	  "40.0 Gb/s  SL 3  1 member\n" },
	{ "members 0xc000", 0,
	  "ff12:401b:ffff::ffff:ffff  MLID 0xc000  full  0x0000000000000101  "
	  "Rack 1\n"
	  "ff12:401b:ffff::ffff:ffff  MLID 0xc000  full,send-only-non  "
	  "0x00000000000000aa  away\n" },
	{ "j members ff12::1", 0, "{\"members\":[{\"mgid\":\"ff12::1\","
	  "\"mlid\":\"0xc001\",\"joined\":\"send-only-non\",\"guid\":"
	  "\"0x0000000000000301\",\"node\":\"node-03\"}]}\n" },
	{ "members 0xc002", 2, "0xc002 is the MGID or MLID of no group; groups "
	  "lists them\n" },
};

static void
expect_answer(struct tool_view *v, const char *words, int status,
	      const char *answer)
{
	g_auto(GStrv) list = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	struct show q = { .v = v, .out = { .out = out } };

	assert_true(g_shell_parse_argv(words, NULL, &list, NULL));
	q.out.as_json = list[0][0] == 'j';
	q.why = strchr(list[0], 'w') && strlen(list[0]) < 3;
	q.words = list + (strlen(list[0]) < 3);
	assert_int_equal(show_run(&q, NULL), status);
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

TEST(test_commands_are_answered_by_a_view)
{
	AUTO(tool_view) *v = read_view(view_text);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		expect_answer(v, cases[i].words, cases[i].status,
			      cases[i].answer);
}

TEST(test_a_list_of_nothing_says_so)
{
	static const char *const lists[][2] = {
		{ "groups", "no groups\n" }, { "members", "no members\n" },
		{ "links slow", "no slow links\n" },
		{ "links avoided", "no avoided links\n" },
		{ "nodes switch", "no switch nodes\n" },
		{ "partitions", "no partitions\n" },
		{ "j members", "{\"members\":[]}\n" },
		{ "j links slow", "{\"links\":[]}\n" },
	};
	AUTO(tool_view) *v = read_view("caguid=0x1\nCa 1 \"H-1\" # \"a\"\n");
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out };

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		expect_answer(v, lists[i][0], 0, lists[i][1]);
	status_put_avoid(v->lines, &r);
	assert_string_equal(out->str, "no avoided links\n");
}

/* % is the time since when. */
TEST(test_a_link_that_is_missing_is_listed)
{
	static const char *const lists[][2] = {
		{ "links leaf-1/4", "leaf-1/4 - spine-1/4  missing since %\n" },
		{ "links inactive",
		  "leaf-2/2 - spine-1/3  4xEDR Initialize, avoided\n"
		  "leaf-1/4 - spine-1/4  missing since %\n" },
		{ "links slow", "leaf-1/3 - spine-1/1  4xEDR Active, could be "
		  "4xHDR\n" },
		{ "j links spine-1/4", "{\"links\":[{\"a\":\"leaf-1/4\",\"b\":"
		  "\"spine-1/4\",\"missing\":\"%\"}]}\n" },
		{ "links node-09",
		  "host node-09 is missing since %: at leaf-2/4\n" },
		{ "links node-09/1",
		  "host node-09 is missing since %: at leaf-2/4\n" },
		{ "links spine-1",
		  "leaf-1/3 - spine-1/1  4xEDR Active, could be 4xHDR\n"
		  "leaf-2/2 - spine-1/3  4xEDR Initialize, avoided\n"
		  "leaf-2/3 - spine-1/2  4xEDR Active\n"
		  "leaf-1/4 - spine-1/4  missing since %\n"
		  "another one of that name: switch spine-1 is missing since "
		  "%: 3 links\n" },
		{ "nodes spine-1",
		  "switch 6\t0x0000000000000030  spine-1  2 of 3 links Active\n"
		  "another one of that name: switch spine-1 is missing since "
		  "%: 3 links\n" },
		{ "ports leaf-1",
		  "leaf-1: switch\n"
		  "  port 0  LinkUp  4xSDR Active  LID 4\n"
		  "  port 1  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - Rack 1/1\n"
		  "  port 2  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - node-02/1\n"
		  "  port 3  LinkUp  4xEDR Active  MTU 4096, 8 VLs  - spine-1/1\n"
		  "  port 4  LinkUp  1xSDR Initialize  MTU 0, 1 VL  - "
		  "spine-1/4, missing since %\n" },
	};
	AUTO(tool_view) *v = read_view_with("#end", "#fault 1 guid 0x10 kind 2 "
		"name 20 since 5 what link leaf-1/4 - spine-1/4\n#fault 2 guid "
		"0x77 kind 1 name 7 since 5 what host node-09, at leaf-2/4\n"
		"#fault 3 guid 0x78 kind 0 name 7 since 5 what switch spine-1, "
		"3 links\n");
	g_autofree char *since = expected_since_text(5);

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_auto(GStrv) parts = g_strsplit(lists[i][1], "%", -1);
		g_autofree char *answer = g_strjoinv(since, parts);

		expect_answer(v, lists[i][0], 0, answer);
	}
}

/* Of two hosts h one has lost the cable of its port 1. */
TEST(test_a_missing_link_of_a_shared_name_is_listed)
{
	AUTO(tool_view) *v = read_view(
		"#view 1 gen 7\n#fault 1 guid 0x1 kind 2 name 32 since 5 "
		"what link h (0x0000000000000001) - far/1000\n#fault 2 guid "
		"0x1 kind 2 name 35 since 5 what link leaf/4 - "
		"h (0x0000000000000001)\ncaguid=0x1\nCa 2 \"H-1\" # \"h\"\n"
		"[2](3) \"H-2\"[1](2) # lid 1 lmc 0 \"h\" lid 2 4xEDR\n"
		"\ncaguid=0x2\nCa 1 \"H-2\" # \"h\"\n"
		"[1](2) \"H-1\"[2](3) # lid 2 lmc 0 \"h\" lid 1 4xEDR\n#end 7\n");
	g_autofree char *since = expected_since_text(5);
	g_autofree char *answer = g_strdup_printf("h/2: host, LID 1\n  "
		"NodeGUID 0x0000000000000001, PortGUID 0x0000000000000003\n  "
		"says it is h\n  in no partition\n"
		"  port 1 - leaf/4  missing since %s\n"
		"  port 2 - h (0x0000000000000002)/1  4xEDR Initialize\n",
		since);

	expect_answer(v, "who 0x1", 0, answer);
	expect_answer(v, "who 'h (0x0000000000000001)'", 0, answer);
	expect_answer(v, "who 'h (0x0000000000000001)/2'", 0, answer);
}

/* The end of a cable is found by its GUID then. */
TEST(test_cables_of_nodes_with_one_name_are_told_apart)
{
	g_auto(GStrv) parts = g_strsplit(view_text, "\"leaf-2\"", -1);
	g_autofree char *text = g_strjoinv("\"leaf-1\"", parts);
	AUTO(tool_view) *v = read_view(text);

	expect_answer(v, "nodes node", 0,
		      "host   2\t0x0000000000000200  node-02  at "
		      "leaf-1 (0x0000000000000010)/2\n"
		      "host   3\t0x0000000000000300  node-03  at "
		      "leaf-1 (0x0000000000000020)/1\n");
	expect_answer(v, "links spine", 0,
		      "leaf-1 (0x0000000000000010)/3 - spine-1/1  4xEDR "
		      "Active, could be 4xHDR\n"
		      "leaf-1 (0x0000000000000020)/2 - spine-1/3  4xEDR "
		      "Initialize, avoided\n"
		      "leaf-1 (0x0000000000000020)/3 - spine-1/2  4xEDR "
		      "Active\n");
}

TEST(test_a_command_asks_for_what_it_needs)
{
	static const struct {
		const char *words[4], *request;
	} asks[] = {
		{ { "nodes" }, "view\n" }, { { "path", "1", "2" }, "view\n" },
		{ { "who", "it's\n1" }, "view node 'it'\\''s?1'\n" },
		{ { "ports", "2" }, "view node '2'\n" },
		{ { "status" }, NULL },
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
		struct show q = {
			.v = v, .words = words, .why = true,
			.out = { .out = out },
		};

		lft_row(v->lft, wrong[i].sw)[3] = wrong[i].out;
		assert_int_equal(show_run(&q, NULL), 1);
		assert_has(out->str, wrong[i].fault);
	}
}

TEST(test_one_is_told_as_one)
{
	AUTO(tool_view) *v = read_view_with("#lft", "#flap held 0 flaps 0 "
		"babbles 0 downs 1 traps 2 age 5 left 0 at link A\n#flap held 0 "
		"flaps 0 babbles 0 downs 2 traps 1 age 5 left 0 at link B\n");
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out };

	status_put(v->lines, false, &r);
	assert_has(out->str, "link A; down 1 time and 2 traps within");
	assert_has(out->str, "link B; down 2 times and 1 trap within");
}

TEST(test_links_that_go_down_most_are_first)
{
	g_autoptr(GString) text = g_string_new("# Topology file: v\n"
		"#view 1 gen 7 sa 2 at 5 port 0x101 by minism\n");
	static const struct {
		bool all, as_json;
		unsigned told;		/* "; down" or "downs" */
	} asks[] = { { false, false, 40 }, { true, false, 42 },
		     { false, true, 0 } };
	static const char *const order[] = { "05", "40", "07", "41", "00" };
	AUTO(view_lines) *lines = NULL;

	/* 5 babbles; 40 went down most, then 7, with more traps, and 41 */
	for (unsigned i = 0; i < 42; i++)
		g_string_append_printf(text, "#flap held 0 flaps 0 babbles %d "
			"downs %d traps %d age 5 left 0 at link %02u\n", i == 5,
			i == 5 ? 0 : i == 40 ? 4 : i == 7 || i == 41 ? 3 : 1,
			i == 7 ? 9 : 2, i);
	g_string_append(text, "#end 7\n");
	lines = view_lines_read(text->str, "v", NULL);
	assert_non_null(lines);
	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		struct text_report r = { out, .as_json = asks[i].as_json };
		g_auto(GStrv) parts = NULL;
		const char *at;

		status_put(lines, asks[i].all, &r);
		at = out->str;
		parts = g_strsplit(out->str, "; down", -1);
		assert_int_equal(g_strv_length(parts) - 1, asks[i].told);
		for (size_t k = 0; k < G_N_ELEMENTS(order); k++) {
			g_autofree char *link = g_strconcat("link ", order[k],
							    NULL);

			at = strstr(at, link);
			assert_non_null(at);
		}
		assert_int_equal(strstr(out->str, "and 2 more: status --all\n")
				 != NULL, asks[i].told == 40);
		assert_int_equal(strstr(out->str, "status --all") != NULL,
				 asks[i].told == 40);
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
}
