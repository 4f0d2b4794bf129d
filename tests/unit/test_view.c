// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Views: what a manager writes is what a tool reads.
 */
#include <inttypes.h>

#include "sm/view.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/unit.h"
#include "tools/net_file_parse.h"

struct setup {
	struct view_values *values;
	GString *text;
};

static void
setup_open(struct setup *t)
{
	const struct generate_options options = { .seed = 3 };
	struct snapshot *s = generate_fabric("PGFT(2,3;1,2)", &options, NULL);
	struct lid_map *lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	AUTO(partition_rules) *rules = partition_rules_default();

	for (uint32_t i = 0; i < s->n_ports; i++)
		s->ports[i].info.lid = lids->base[i];
	t->text = g_string_new(NULL);
	t->values = g_new0(struct view_values, 1);
	*t->values = (struct view_values){
		.generation = 812, .sa_version = 7, .at = 1764000000123,
		.port_guid = 0x1234, .s = s, .lids = lids,
		.lft = engine_tables(engine_by_name("updn", NULL), s, lids),
		.memberships = memberships_new(rules, s, NULL),
		.tables = true, .before = g_string_new(NULL),
	};
}

static void
setup_close(struct setup *t)
{
	view_values_free(t->values);
	g_string_free(t->text, TRUE);
}

FIXTURE(setup)

static void
assert_short_lines(const GString *text)
{
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);

	for (guint i = 0; lines[i]; i++)
		assert_true(strlen(lines[i]) <= VIEW_LINE_MAX &&
			    g_utf8_validate(lines[i], -1, NULL));
}

static const struct view_text *
first(const struct tool_view *v, enum view_kind kind)
{
	return view_lines_first(v->lines, kind);
}

/* Of the second switch: not as the rest of the fabric. */
static void
make_special(struct snapshot *s, uint32_t sw)
{
	struct snapshot_port *p = &s->ports[s->nodes[sw].first_port + 1];

	s->nodes[sw].name = "Rack 1 {top} # 2";
	s->nodes[0].info.revision = 0xa1;
	p->info.state = PORT_STATE_INIT;
	p->info.neighbor_mtu = 3;
	p->info.phys_state = PORT_PHYS_TRAINING;
	p[1].known = false;
	s->ports[s->local_port].info.speed_ext_supported = 15;
	s->ports[s->ports[s->local_port].peer].info.speed_ext_supported = 15;
}

/* Everything that the net file lacks is found again. */
SETUP_TEST(test_what_is_written_is_read)
{
	struct snapshot *s = t->values->s;
	uint32_t sw = s->switches[1], port = s->nodes[sw].first_port + 1;
	g_autofree char *text = g_strnfill(300, 'x');
	const struct {
		enum view_kind kind;
		uint64_t n[VIEW_WORDS];
		const char *text;
	} lines[] = {
		{ VIEW_VERDICT, { 1, 2, 3, 4 }, "degraded" },
		{ VIEW_FAULT, { 1, 5, 6 }, "link a\n#end 812\tb" },
		{ VIEW_NOTE, { 0 }, "a note" },
		{ VIEW_ROUTE, { 0, 9, 1 }, "updn" },
		{ VIEW_AVOIDED, { s->nodes[sw].info.node_guid, 1, 300, 1 },
		  "is used" },
	};
	AUTO(tool_view) *v = NULL;

	make_special(s, sw);
	for (size_t i = 0; i < strlen(text); i += 2)
		memcpy(text + i, "\u00e9", 2);
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		view_line_put(lines[i].kind, lines[i].n, lines[i].text,
			      t->values->before);
	view_line_put(VIEW_COMPLAINT, NULL, text, t->values->before);
	view_line_put(VIEW_PARTITION, (uint64_t[]){ 5, 3 }, "Five",
		      t->values->before);
	view_line_put(VIEW_AVOIDED, (uint64_t[VIEW_WORDS]){ 0xdead, 1 }, "away",
		      t->values->before);
	view_write(t->values, t->text);
	assert_short_lines(t->text);
	v = tool_view_read(t->text->str, "v", NULL);
	assert_non_null(v);
	assert_int_equal(first(v, VIEW_HEAD)->n[HEAD_GEN], 812);
	assert_int_equal(first(v, VIEW_HEAD)->n[HEAD_PORT], 0x1234);
	assert_int_equal(first(v, VIEW_HEAD)->n[HEAD_AT], 1764000000123);
	assert_int_equal(v->lines->of[VIEW_AVOIDED]->len, 2);
	assert_false(v->s->ports[port].avoided);
	assert_string_equal(partition_rules_find(v->rules, 5)->name, "Five");
	assert_int_equal(partition_rules_find(v->rules, 5)->sl, 3);
	assert_int_equal(g_hash_table_size(v->could_be), 1);
	assert_string_equal(g_hash_table_lookup(v->could_be, GUINT_TO_POINTER(
			MIN(s->local_port, s->ports[s->local_port].peer) + 1)),
			    "4xNDR");
	assert_string_equal(first(v, VIEW_COMPLAINT)->text, text);
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		const struct view_text *line = first(v, lines[i].kind);

		assert_string_equal(line->text, lines[i].kind == VIEW_FAULT ?
				    "link a #end 812 b" : lines[i].text);
		assert_memory_equal(line->n, lines[i].n, sizeof(line->n));
	}

	assert_int_equal(v->s->n_ports, s->n_ports);
	for (uint32_t n = 0; n < s->n_nodes; n++) {
		assert_string_equal(snapshot_node_name(&v->s->nodes[n]),
				    snapshot_node_name(&s->nodes[n]));
		assert_int_equal(v->s->nodes[n].info.revision,
				 s->nodes[n].info.revision);
	}
	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct snapshot_port *p = &s->ports[i];
		const struct snapshot_port *q = &v->s->ports[i];

		assert_int_equal(v->lids->base[i], t->values->lids->base[i]);
		assert_int_equal(q->known, p->known);
		assert_int_equal(memberships_of(v->memberships, i,
						PKEY_DEFAULT),
				 memberships_of(t->values->memberships, i,
						PKEY_DEFAULT));
		if (!p->known)
			continue;
		assert_int_equal(q->info.phys_state, p->info.phys_state);
		assert_int_equal(q->info.state, p->info.state);
		assert_int_equal(q->info.neighbor_mtu, p->info.neighbor_mtu);
	}
	assert_int_equal(lft_size(v->lft), lft_size(t->values->lft));
	assert_memory_equal(v->lft->ports, t->values->lft->ports,
			    lft_size(v->lft));
}

SETUP_TEST(test_no_tables_without_being_asked_for)
{
	AUTO(tool_view) *v = NULL;

	t->values->tables = false;
	view_write(t->values, t->text);
	assert_null(strstr(t->text->str, "#lft"));
	v = tool_view_read(t->text->str, "v", NULL);
	assert_null(v->lft);
}

/* Of a newer manager and an older one, and of one that was cut off. */
SETUP_TEST(test_lines_and_names_that_are_not_known_are_skipped)
{
	const struct snapshot_node *leaf =
		&t->values->s->nodes[t->values->s->switches[0]];
	g_autoptr(GError) error = NULL;
	AUTO(tool_view) *v = NULL;

	g_string_append(t->values->before, "#weather 5 is fine\n"
			"#fault 1 colour 7 since 5 name 6698426331378848769 size big\n"
			"#fault 2 guid nothing what else\n#fault 3x what no\n#viewpoint 9\n");
	for (unsigned used = 0; used < 2; used++)
		g_string_append_printf(t->values->before, "#avoided 0x%" PRIx64
				       " %u errors 3 used %u why it is bad\n",
				       leaf->info.node_guid, 1 + used, used);
	view_write(t->values, t->text);
	g_string_append(t->text, "#lft 0x1 0 00\n#port 0x99 1 state 1\n"
			"#port 0x5000000000000100 300 state 1\n");
	v = tool_view_read(t->text->str, "v", NULL);
	assert_non_null(v);
	assert_int_equal(v->lines->of[VIEW_FAULT]->len, 1);
	assert_true(v->s->ports[leaf->first_port + 1].avoided);
	assert_false(v->s->ports[leaf->first_port + 2].avoided);
	strstr(t->text->str, "#view 1")[6] = '2';
	assert_null(tool_view_read(t->text->str, "v", &error));
	assert_has(error->message, "version 2");
	g_clear_error(&error);
	strstr(t->text->str, "#view 2")[6] = '1';
	*strstr(t->text->str, "#end") = '\0';
	assert_null(tool_view_read(t->text->str, "v", &error));
	assert_true(g_error_matches(error, TEXT_ERROR, TEXT_ERROR_SYNTAX));
	assert_has(error->message, "v: the view is cut off");
	g_clear_error(&error);
	/* no program takes its net part, which is whole, for a fabric */
	assert_null(net_file_parse(t->text->str, "v", &error));
	assert_has(error->message, "v: the view is cut off");
}

SETUP_TEST(test_a_part_has_what_was_asked_for)
{
	const struct snapshot *s = t->values->s;
	uint32_t leaf = s->switches[0];
	uint64_t guid = s->nodes[leaf].info.node_guid, numbers[VIEW_WORDS];
	const char *text, *line;
	g_auto(GStrv) hops = NULL;
	AUTO(tool_view) *part = NULL;
	unsigned n = 0;

	s->nodes[s->ports[s->ports[s->nodes[leaf].first_port + 1].peer].node]
		.name = "Rack 1";
	view_write_node(t->values, leaf, t->text);
	assert_has(t->text->str, "\nSwitch\t");
	part = tool_view_read(t->text->str, "v", NULL);
	assert_non_null(part);
	for (unsigned num = 0; num <= s->nodes[leaf].info.num_ports; num++) {
		uint32_t at = snapshot_find_node(part->s, guid);
		const struct snapshot_port *p = &part->s->ports[
			part->s->nodes[at].first_port + num];
		const struct snapshot_port *q =
			&s->ports[s->nodes[leaf].first_port + num];

		assert_int_equal(p->info.state, q->info.state);
		assert_int_equal(p->peer == SNAPSHOT_NONE,
				 q->peer == SNAPSHOT_NONE);
		if (p->peer != SNAPSHOT_NONE)
			assert_string_equal(snapshot_name_of(part->s, p->peer),
					    snapshot_name_of(s, q->peer));
	}
	line = strstr(t->text->str, "#lft ");
	assert_non_null(line);
	assert_null(strstr(line + 1, "#lft "));
	assert_true(view_line_take(VIEW_LFT, line, numbers, &text));
	assert_int_equal(numbers[LFT_GUID], guid);
	g_string_truncate(t->text, 0);
	view_write_lid(t->values, 1, t->text);
	hops = g_strsplit(t->text->str, "\n", -1);
	for (guint i = 0; hops[i]; i++)
		if (view_line_take(VIEW_HOP, hops[i], numbers, &text))
			assert_int_equal(numbers[HOP_PORT] + numbers[HOP_LID],
					 lft_row(t->values->lft, n++)[1] + 1);
	assert_int_equal(n, s->n_switches);
	assert_has(t->text->str, "#end 812\n");
}
