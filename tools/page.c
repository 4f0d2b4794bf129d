// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writing the page: page.html with two texts put in, each compressed (gzip) and
 * in Base64. One is JSON, see index() there; the other is the rows of the
 * forwarding tables as they are in struct lft.
 */
#include "tools/show.h"

#include <gio/gio.h>
#include <string.h>

#include "topology/each.h"
#include "topology/report.h"

/* Made from page.html: a string a line. */
static const char *const html[] = {
#include "tools/page_html.h"
};

static void
page_put_node(struct text_report *j, const struct tool_view *v,
	      uint32_t node)
{
	const struct snapshot_node *n = &v->s->nodes[node];
	bool is_switch = snapshot_is_switch(n);
	uint32_t end = n->first_port;

	for (unsigned num = 1; !is_switch && num <= n->info.num_ports; num++)
		if (v->lids->base[n->first_port + num] != LID_NONE) {
			end = n->first_port + num;
			break;
		}
	report_open(j, NULL, '[');
	report_text(j, NULL, snapshot_node_name(n), NULL);
	report_hex(j, NULL, n->info.node_guid, 16, NULL);
	report_number(j, NULL, is_switch ? 0 :
		      n->info.node_type == NODE_ROUTER ? 2 : 1, NULL);
	report_number(j, NULL, v->lids->base[end], NULL);
	report_number(j, NULL, v->lids->lmc[end], NULL);
	if (is_switch)
		report_number(j, NULL, n->sw_index, NULL);
	else
		report_text(j, NULL, NULL, NULL);
	report_close(j, ']');
}

/* What was said of the whole fabric: the lines of status, and of routing. */
static void
put_notes(struct text_report *j, const struct view_lines *lines)
{
	const char *error = view_lines_first(lines, VIEW_ERROR)->text;
	g_autoptr(GString) text = g_string_new(NULL);
	g_auto(GStrv) causes = NULL;
	struct text_report r = { .out = text };

	status_put_causes(lines, false, &r);
	causes = g_strsplit(text->str, "\n", -1);
	report_open(j, "notes", '[');
	if (error)
		report_text(j, NULL, error, NULL);
	for (guint i = 0; causes[i] && *causes[i]; i++)
		report_text(j, NULL, g_strstrip(causes[i]), NULL);
	EACH_PTR(const struct view_text, line, lines->of[VIEW_NOTE])
		report_text(j, NULL, line->text, NULL);
	report_close(j, ']');
}

static void
put_cables(struct text_report *j, const struct tool_view *v)
{
	const struct snapshot *s = v->s;

	report_open(j, "cables", '[');
	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct snapshot_port *a = &s->ports[i], *b;

		if (a->peer == SNAPSHOT_NONE || i > a->peer)
			continue;
		b = &s->ports[a->peer];
		report_open(j, NULL, '[');
		report_number(j, NULL, a->node, NULL);
		report_number(j, NULL, a->num, NULL);
		report_number(j, NULL, b->node, NULL);
		report_number(j, NULL, b->num, NULL);
		report_number(j, NULL, port_mbps(&a->info), NULL);
		report_bool(j, NULL, !tool_view_has_states(v) ||
			    (a->info.state == PORT_STATE_ACTIVE &&
			     b->info.state == PORT_STATE_ACTIVE));
		report_close(j, ']');
	}
	report_close(j, ']');
}

static GString *
make_json(const struct tool_view *v)
{
	const char *verdict = view_lines_first(v->lines, VIEW_VERDICT)->text;
	const char *engine = view_lines_first(v->lines, VIEW_ROUTE)->text;
	g_autoptr(GDateTime) when = g_date_time_new_from_unix_local((int64_t)
		view_lines_first(v->lines, VIEW_HEAD)->n[HEAD_AT] / 1000);
	g_autofree char *made = when ? g_date_time_format(when, "%F %T") : NULL;
	g_autofree char *title = g_strconcat("Fabric: ", verdict ?
					     verdict : "a net file", NULL);
	struct text_report j = { .out = g_string_new(NULL), .as_json = true };

	report_open(&j, NULL, '{');
	report_text(&j, "title", title, NULL);
	report_text(&j, "engine", engine ? engine : "no routes", NULL);
	report_text(&j, "made", made ? made : "", NULL);
	report_number(&j, "stride", v->lft ? v->lft->stride : 0, NULL);
	report_number(&j, "top", v->lft ? v->lft->top : 0, NULL);
	put_notes(&j, v->lines);
	report_open(&j, "nodes", '[');
	for (uint32_t i = 0; i < v->s->n_nodes; i++)
		page_put_node(&j, v, i);
	report_close(&j, ']');
	put_cables(&j, v);
	report_close(&j, '}');
	return j.out;
}

/* Compressed, in Base64. */
static void
put_packed(GString *out, const void *data, size_t len)
{
	g_autoptr(GConverter) gzip = G_CONVERTER(g_zlib_compressor_new(
				G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6));
	g_autoptr(GOutputStream) memory =
		g_memory_output_stream_new_resizable();
	g_autoptr(GOutputStream) packer =
		g_converter_output_stream_new(memory, gzip);
	g_autofree char *text = NULL;

	g_output_stream_write_all(packer, data, len, NULL, NULL, NULL);
	g_output_stream_close(packer, NULL, NULL);
	text = g_base64_encode(g_memory_output_stream_get_data(
				       G_MEMORY_OUTPUT_STREAM(memory)),
			       g_memory_output_stream_get_data_size(
				       G_MEMORY_OUTPUT_STREAM(memory)));
	g_string_append(out, text);
}

int
show_report(struct show *q, GError **error)
{
	const struct tool_view *v = q->v;
	GString *out = q->out.out;
	g_autoptr(GString) json = make_json(v);

	for (size_t i = 0; i < G_N_ELEMENTS(html); i++) {
		const char *mark = strstr(html[i], "@FABRIC@");
		bool is_fabric = mark;

		if (!mark)
			mark = strstr(html[i], "@TABLES@");
		if (!mark) {
			g_string_append(out, html[i]);
			continue;
		}
		g_string_append_len(out, html[i], mark - html[i]);
		if (is_fabric)
			put_packed(out, json->str, json->len);
		else
			put_packed(out, v->lft ? v->lft->ports :
				   (const void *)"", v->lft ?
				   lft_size(v->lft) : 0);
		g_string_append(out, mark + strlen("@FABRIC@"));
	}
	return 0;
}
