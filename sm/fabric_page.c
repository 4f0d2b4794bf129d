// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writing the page: fabric_page.html with two texts put in, each compressed
 * (gzip) and in Base64. One is JSON, see index() there; the other is the rows
 * of the forwarding tables as they are in struct lft.
 *
 * That of ten thousand hosts takes a third of a second, and clients may ask for it
 * at any rate: it is made beside the loop, and the last one is what all get for
 * SHARE times as long as it took, or until a sweep has ended. One that has been
 * begun is finished, however often sweeps end meanwhile: clients wait for it.
 */
#include "sm/fabric_page.h"

#include <gio/gio.h>
#include <string.h>

#include "topology/report.h"

#define SHARE		20
#define FRESH_US	G_USEC_PER_SEC	/* at the least */

struct fabric_pages {
	struct beside *beside;
	struct beside_job *job;	/* NULL: none is being made */
	uint64_t n_begun;
	GString *html;		/* NULL: none was made */
	uint64_t number;	/* its */
	int64_t until;		/* us, of the monotonic clock */
};

/* Made from fabric_page.html: a string a line. */
static const char *const html[] = {
#include "sm/fabric_page_html.h"
};

static void
page_put_node(struct text_report *j, const struct fabric_page *p, uint32_t node)
{
	const struct snapshot_node *n = &p->s->nodes[node];
	bool is_switch = snapshot_is_switch(n);
	uint32_t end = n->first_port;

	for (unsigned num = 1; !is_switch && num <= n->info.num_ports; num++)
		if (p->lids->base[n->first_port + num] != LID_NONE) {
			end = n->first_port + num;
			break;
		}
	report_open(j, NULL, '[');
	report_text(j, NULL, snapshot_node_name(n), NULL);
	report_hex(j, NULL, n->info.node_guid, 16, NULL);
	report_number(j, NULL, is_switch ? 0 :
		      n->info.node_type == NODE_ROUTER ? 2 : 1, NULL);
	report_number(j, NULL, p->lids->base[end], NULL);
	report_number(j, NULL, p->lids->lmc[end], NULL);
	if (is_switch)
		report_number(j, NULL, n->sw_index, NULL);
	else
		report_text(j, NULL, NULL, NULL);
	report_close(j, ']');
}

static void
put_counts(struct text_report *j, const uint64_t *counts, const char *method)
{
	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		g_autofree char *name = NULL;

		if (!counts[i])
			continue;
		name = g_strdup_printf("%s %s", method, mad_attr_name(i));
		report_open(j, NULL, '[');
		report_text(j, NULL, name, NULL);
		report_number(j, NULL, counts[i], NULL);
		report_close(j, ']');
	}
}

static GString *
make_json(const struct fabric_page *p)
{
	g_autoptr(GDateTime) when = g_date_time_new_from_unix_local(p->made);
	g_autofree char *made = g_date_time_format(when, "%F %T");
	struct text_report j = { .out = g_string_new(NULL), .as_json = true };

	report_open(&j, NULL, '{');
	report_text(&j, "title", p->title, NULL);
	report_text(&j, "engine", p->engine, NULL);
	report_text(&j, "made", made, NULL);
	report_number(&j, "stride", p->lft ? p->lft->stride : 0, NULL);
	report_number(&j, "top", p->lft ? p->lft->top : 0, NULL);
	report_open(&j, "notes", '[');
	for (guint i = 0; i < p->notes->len; i++)
		report_text(&j, NULL, p->notes->pdata[i], NULL);
	report_close(&j, ']');
	report_open(&j, "stages", '[');
	for (unsigned i = 0; i < p->n_stages; i++) {
		const struct sweep_stage *stage = &p->stages[i];

		report_open(&j, NULL, '{');
		report_text(&j, "name", sweep_state_names[stage->state], NULL);
		report_ms(&j, "begin", stage->begin_us);
		report_ms(&j, "end", stage->end_us);
		report_open(&j, "mads", '[');
		put_counts(&j, stage->gets, "Get");
		put_counts(&j, stage->sets, "Set");
		report_close(&j, ']');
		report_close(&j, '}');
	}
	report_close(&j, ']');
	report_open(&j, "nodes", '[');
	for (uint32_t i = 0; i < p->s->n_nodes; i++)
		page_put_node(&j, p, i);
	report_close(&j, ']');
	report_open(&j, "cables", '[');
	for (uint32_t i = 0; i < p->s->n_ports; i++) {
		const struct snapshot_port *a = &p->s->ports[i], *b;

		if (a->peer == SNAPSHOT_NONE || i > a->peer)
			continue;
		b = &p->s->ports[a->peer];
		report_open(&j, NULL, '[');
		report_number(&j, NULL, a->node, NULL);
		report_number(&j, NULL, a->num, NULL);
		report_number(&j, NULL, b->node, NULL);
		report_number(&j, NULL, b->num, NULL);
		report_number(&j, NULL, port_mbps(&a->info), NULL);
		report_bool(&j, NULL, a->info.state == PORT_STATE_ACTIVE &&
			  b->info.state == PORT_STATE_ACTIVE);
		report_number(&j, NULL, p->errors ? p->errors[i] : 0, NULL);
		report_number(&j, NULL, p->errors ? p->errors[a->peer] : 0,
			      NULL);
		report_close(&j, ']');
	}
	report_close(&j, ']');
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

static void
fabric_page_write(void *values)
{
	struct fabric_page *p = values;
	int64_t begin = g_get_monotonic_time();
	g_autoptr(GString) json = make_json(p);
	GString *out = p->html = g_string_new(NULL);

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
			put_packed(out, p->lft ? p->lft->ports :
				   (const void *)"", p->lft ?
				   (size_t)p->lft->n_switches * p->lft->stride :
				   0);
		g_string_append(out, mark + strlen("@FABRIC@"));
	}
	p->took_us = g_get_monotonic_time() - begin;
}

static void
fabric_page_free(void *values)
{
	struct fabric_page *p = values;

	snapshot_unref(p->s);
	lid_map_free(p->lids);
	lft_free(p->lft);
	g_ptr_array_unref(p->notes);
	g_free(p->errors);
	g_free(p->title);
	g_free(p->engine);
	if (p->html)
		g_string_free(p->html, TRUE);
	g_free(p);
}

GString *
fabric_page_print(struct fabric_page *p)
{
	GString *made;

	fabric_page_write(p);
	made = g_steal_pointer(&p->html);
	fabric_page_free(p);
	return made;
}

/* ---------------------------------------------------------- beside the loop */

static void
page_done(void *values, void *data)
{
	struct fabric_page *page = values;
	struct fabric_pages *p = data;

	p->job = NULL;
	if (p->html)
		g_string_free(p->html, TRUE);
	p->html = g_steal_pointer(&page->html);
	p->number = page->number;
	p->until = g_get_monotonic_time() +
		MAX(SHARE * page->took_us, FRESH_US);
}

struct fabric_pages *
fabric_pages_new(struct beside *beside)
{
	struct fabric_pages *p = g_new0(struct fabric_pages, 1);

	p->beside = beside;
	return p;
}

void
fabric_pages_free(struct fabric_pages *p)
{
	if (p->job)
		beside_cancel(p->job);
	if (p->html)
		g_string_free(p->html, TRUE);
	g_free(p);
}

uint64_t
fabric_pages_make(struct fabric_pages *p, struct fabric_page *page)
{
	static const struct beside_task task = {
		fabric_page_write, page_done, fabric_page_free,
	};

	g_assert(!p->job);
	page->number = ++p->n_begun;
	p->job = beside_run(p->beside, &task, page, p);
	return p->n_begun;
}

const GString *
fabric_pages_get(const struct fabric_pages *p, uint64_t *number)
{
	if (p->html && (g_get_monotonic_time() < p->until ||
			(*number && *number <= p->number)))
		return p->html;
	*number = p->job ? p->n_begun : 0;
	return NULL;
}

void
fabric_pages_expire(struct fabric_pages *p)
{
	p->until = 0;
}
