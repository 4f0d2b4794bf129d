// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading a view: the net file by its parser, which skips lines that begin with
 * "#", then these. Lines about a node or port that the net file does not have
 * are skipped, as are unknown ones: a newer manager may write more.
 */
#include "tools/view.h"

#include <string.h>

#include "topology/net_file.h"
#include "topology/text.h"

struct reading {
	struct tool_view *v;
	GHashTable *nodes;	/* NodeGUID -> its index + 1 */
	uint64_t numbers[VIEW_WORDS];
	const char *text;
	unsigned version;	/* 0: there is no head */
	bool ended;
};

static void
stage_free(gpointer data)
{
	struct view_stage *stage = data;

	g_free(stage->name);
	g_ptr_array_unref(stage->mads);
	g_array_unref(stage->counts);
	g_free(stage);
}

static uint32_t
find_node(const struct reading *r)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(r->nodes, r->numbers)) - 1;
}

static void
avoided_free(gpointer data)
{
	struct view_avoided *avoided = data;

	g_free(avoided->why);
	g_free(avoided);
}

/* The port of the line, NULL: there is none. */
static struct snapshot_port *
find_port(const struct reading *r)
{
	struct snapshot *s = r->v->s;
	uint32_t node = find_node(r);

	return node < s->n_nodes && r->numbers[PORT_NUMBER] <=
		s->nodes[node].info.num_ports ?
		&s->ports[s->nodes[node].first_port +
			  r->numbers[PORT_NUMBER]] : NULL;
}

static void
set_port(struct snapshot_port *p, const uint64_t *numbers)
{
	p->info.state = (uint8_t)numbers[0];
	p->info.neighbor_mtu = (uint8_t)numbers[1];
	p->info.oper_vls = (uint8_t)numbers[2];
}

static void
take_table(struct reading *r)
{
	struct tool_view *v = r->v;
	uint32_t node = find_node(r);
	size_t at = r->numbers[LFT_NUMBER] * VIEW_LFT_BLOCK;
	uint8_t *row;

	if (node >= v->s->n_nodes || !snapshot_is_switch(&v->s->nodes[node]) ||
	    r->numbers[LFT_NUMBER] > UINT16_MAX / VIEW_LFT_BLOCK ||
	    strspn(r->text, "0123456789abcdef") != 2 * VIEW_LFT_BLOCK)
		return;
	if (!v->lft)
		v->lft = lft_new(v->s->n_switches, v->lids->top);
	if (at >= v->lft->stride)
		return;
	row = lft_row(v->lft, v->s->nodes[node].sw_index) + at;
	for (unsigned i = 0; i < VIEW_LFT_BLOCK && at + i <= v->lft->top; i++)
		row[i] = (uint8_t)(g_ascii_xdigit_value(r->text[2 * i]) << 4 |
				   g_ascii_xdigit_value(r->text[2 * i + 1]));
}

static void
take_head(struct reading *r)
{
	r->version = (unsigned)r->numbers[HEAD_VERSION];
	r->v->generation = r->numbers[HEAD_GEN];
	r->v->at = (int64_t)r->numbers[HEAD_AT];
	r->v->port_guid = r->numbers[HEAD_PORT];
	g_free(r->v->by);
	r->v->by = g_strdup(r->text);
}

static void
take_usual(struct reading *r)
{
	for (uint32_t i = 0; i < r->v->s->n_ports; i++)
		if (r->v->s->ports[i].peer != SNAPSHOT_NONE)
			set_port(&r->v->s->ports[i], r->numbers);
}

static void
take_stage(struct reading *r)
{
	struct view_stage *stage = g_new0(struct view_stage, 1);

	stage->name = g_strdup(r->text);
	stage->begin_us = (int64_t)r->numbers[STAGE_BEGIN];
	stage->end_us = (int64_t)r->numbers[STAGE_END];
	stage->mads = g_ptr_array_new_with_free_func(g_free);
	stage->counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_ptr_array_add(r->v->stages, stage);
}

/* The GUID and the number of the port are where #port has them. */
static void
take_avoided(struct reading *r)
{
	const struct snapshot_port *port = find_port(r);
	struct view_avoided *avoided;

	if (!port)
		return;
	avoided = g_new0(struct view_avoided, 1);
	avoided->port = (uint32_t)(port - r->v->s->ports);
	avoided->errors = r->numbers[AVOIDED_ERRORS];
	avoided->used = r->numbers[AVOIDED_USED];
	avoided->why = g_strdup(r->text);
	g_ptr_array_add(r->v->avoided, avoided);
}

static void
take_node(struct reading *r, enum view_kind kind)
{
	struct snapshot *s = r->v->s;
	struct snapshot_port *port;
	uint32_t node = find_node(r);

	if (node >= s->n_nodes)
		return;
	if (kind == VIEW_NODE)
		s->nodes[node].info.revision =
			(uint32_t)r->numbers[NODE_REVISION];
	else if (kind == VIEW_NAME)
		s->nodes[node].name = g_intern_string(r->text);
	else if ((port = find_port(r)))
		set_port(port, &r->numbers[PORT_STATE]);
}

static void
take(struct reading *r, enum view_kind kind)
{
	struct tool_view *v = r->v;
	struct view_stage *stage;

	switch (kind) {
	case VIEW_HEAD:
		take_head(r);
		break;
	case VIEW_VERDICT:
		g_free(v->verdict);
		v->verdict = g_strdup(r->text);
		break;
	case VIEW_FAULT:
		g_ptr_array_add(v->faults, g_strdup(r->text));
		break;
	case VIEW_COMPLAINT:
	case VIEW_WARNING:
	case VIEW_NOTE:
		g_ptr_array_add(v->notes, g_strdup(r->text));
		break;
	case VIEW_ROUTE:
		g_free(v->engine);
		v->engine = g_strdup(r->text);
		break;
	case VIEW_STAGE:
		take_stage(r);
		break;
	case VIEW_MADS:
		if (!v->stages->len)
			break;
		stage = v->stages->pdata[v->stages->len - 1];
		g_ptr_array_add(stage->mads, g_strdup(r->text));
		g_array_append_val(stage->counts, r->numbers[MADS_COUNT]);
		break;
	case VIEW_USUAL:
		take_usual(r);
		break;
	case VIEW_NODE:
	case VIEW_NAME:
	case VIEW_PORT:
		take_node(r, kind);
		break;
	case VIEW_LFT:
		take_table(r);
		break;
	case VIEW_END:
		r->ended = r->numbers[END_GEN] == v->generation;
		break;
	case VIEW_AVOIDED:
		take_avoided(r);
		break;
	case VIEW_PKEY:
	case VIEW_HOP:
	case VIEW_KINDS:
		break;
	}
}

static void
read_lines(struct reading *r, const char *text)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (const char *end; *text; text = end + (*end != '\0')) {
		end = text + strcspn(text, "\n");
		if (*text != '#')
			continue;
		g_string_truncate(line, 0);
		g_string_append_len(line, text, end - text);
		for (unsigned k = 0; k < VIEW_KINDS; k++)
			if (view_line_take((enum view_kind)k, line->str,
					   r->numbers, &r->text)) {
				r->text = r->text ? r->text : "";
				take(r, (enum view_kind)k);
				break;
			}
	}
}

static bool
is_good(const struct reading *r, const char *name, GError **error)
{
	if (!r->version || (r->version == VIEW_VERSION && r->ended))
		return true;
	if (r->version != VIEW_VERSION)
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX, "%s: a view "
			    "of version %u, and this program knows %u", name,
			    r->version, VIEW_VERSION);
	else
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX, "%s: the "
			    "view is cut off: its line #end is missing", name);
	return false;
}

struct tool_view *
tool_view_read(const char *text, const char *name, GError **error)
{
	struct snapshot *s = net_file_parse(text, name, error);
	unsigned lmc = 0;
	struct reading r;

	if (!s)
		return NULL;
	for (uint32_t p = 0; p < s->n_ports; p++)
		lmc = MAX(lmc, s->ports[p].info.lmc);
	r = (struct reading){
		.v = g_new0(struct tool_view, 1),
		.nodes = g_hash_table_new(g_int64_hash, g_int64_equal),
	};
	r.v->s = s;
	r.v->notes = g_ptr_array_new_with_free_func(g_free);
	r.v->faults = g_ptr_array_new_with_free_func(g_free);
	r.v->stages = g_ptr_array_new_with_free_func(stage_free);
	r.v->avoided = g_ptr_array_new_with_free_func(avoided_free);
	r.v->lids = lid_assign(s, lmc, NULL, 0, NULL, error);
	for (uint32_t n = 0; n < s->n_nodes; n++)
		g_hash_table_insert(r.nodes, &s->nodes[n].info.node_guid,
				    GUINT_TO_POINTER(n + 1));
	if (r.v->lids)
		read_lines(&r, text);
	g_hash_table_unref(r.nodes);
	if (r.v->lids && is_good(&r, name, error))
		return r.v;
	tool_view_free(r.v);
	return NULL;
}

void
tool_view_free(struct tool_view *v)
{
	if (!v)
		return;
	snapshot_unref(v->s);
	lid_map_free(v->lids);
	lft_free(v->lft);
	g_ptr_array_unref(v->notes);
	g_ptr_array_unref(v->faults);
	g_ptr_array_unref(v->stages);
	g_ptr_array_unref(v->avoided);
	g_free(v->by);
	g_free(v->verdict);
	g_free(v->engine);
	g_free(v);
}

struct tool_view *
tool_view_get(const struct client_place *place, const char *file,
	      const char *request, GError **error)
{
	g_autoptr(GString) line = g_string_new(request);
	g_autoptr(GString) body = g_string_new(NULL);
	g_autofree char *text = NULL;
	int code;

	if (file) {
		text = text_read_file(file, error);
		if (!text)
			g_prefix_error(error, "%s: ", file);
		return text ? tool_view_read(text, file, error) : NULL;
	}
	code = client_ask_on(place, CLIENT_PATIENCE_US, line, body, NULL, NULL,
			     error);
	if (code > 0)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s",
			    g_strchomp(body->str));
	return code ? NULL :
		tool_view_read(body->str, "the manager's view", error);
}
