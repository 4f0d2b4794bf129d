// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What would happen to PGFT(2,3;1,2): leaves S-1-0 to S-1-2, each with ports 1
 * and 2 to two of H-0 to H-5, 3 to S-2-0 and 4 to S-2-1, and to other fabrics
 * (tests/golden/whatif).
 */
#include "tests/lib/unit.h"
#include "tools/show.h"
#include "topology/net_file.h"

#define NOT_LOCAL	"note:   no local repair was found for this view, so all " \
			"tables are computed anew\n"
#define AFTER(engine, pairs, flows, times, shifts) "after:  " engine ", " pairs \
	" pairs of hosts; all to all, " flows " flows over the busiest link, " \
	times " times the least; shifts " shifts "\n"
#define BEST	"engine: ftree: the best engine that is safe here: the busiest " \
	"channel carries 1.00 times the lower bound\n"

static struct tool_view *
read_spec(const char *spec, const char *lines)
{
	AUTO(snapshot) *s = generate_or_read(spec,
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

/* The status, of text and of JSON. */
static int
ask(struct tool_view *v, const char *words, GString *out)
{
	g_autofree char *line = g_strconcat("whatif ", words, NULL);
	g_auto(GStrv) list = g_strsplit(line, " ", -1);
	g_autoptr(GString) json = g_string_new(NULL);
	struct show q = { .v = v, .words = list, .out = { .out = out } };
	int status = show_run(&q, NULL);

	q.out = (struct text_report){ .out = json, .as_json = true };
	assert_int_equal(show_run(&q, NULL), status);
	assert_true(g_str_has_prefix(json->str, strstr(out->str, "before: ") ?
				     "{\"cut_off\":[" :
				     "{\"done\":false,\"message\":\""));
	return status;
}

/* A fabric, lines of its view with a #, and changes, a line each. */
static void
told(const void *of, const char *text, GString *out)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GString) more = g_string_new(NULL);
	AUTO(tool_view) *v = NULL;
	char **line = lines + 1;

	g_string_append_printf(out, "$ %s\n", lines[0]);
	for (; **line == '#'; line++) {
		g_string_append_printf(out, "$ %s\n", *line);
		g_string_append_printf(more, "%s\n", *line);
	}
	for (v = read_spec(lines[0], more->str); **line; line++) {
		g_autoptr(GString) answer = g_string_new(NULL);
		int status = ask(v, *line, answer);

		g_string_append_printf(out, "$ %s\n%sstatus %d\n", *line,
				       answer->str, status);
	}
}

__attribute__((constructor)) static void
add_file(void)
{
	g_setenv("TZ", "UTC0", TRUE);
	golden_add("whatif", told, NULL);
}

/* The answer begins so. */
static void
expect_whatif(struct tool_view *v, const char *words, int status,
	      const char *answer)
{
	g_autoptr(GString) out = g_string_new(NULL);

	assert_int_equal(ask(v, words, out), status);
	if (!g_str_has_prefix(out->str, answer))
		assert_string_equal(out->str, answer);
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
		      NOT_LOCAL "engine: updn: configured\n");
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
					 "most 2") NOT_LOCAL BEST);
}
