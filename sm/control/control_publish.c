// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `view`: the fabric as one text (sm/view.h), or a part of it.
 * What is about the whole fabric is written here, on the loop; the rest beside
 * it.
 */
#include "sm/control/request.h"

#include <string.h>

#include "sm/view.h"
#include "topology/text.h"

static void
put_lines(enum view_kind kind, const GPtrArray *lines, GString *out)
{
	for (guint i = 0; lines && i < lines->len; i++)
		view_line_put(kind, NULL, lines->pdata[i], out);
}

static void
put_verdict(const struct control_view *v, GString *out)
{
	const struct status *s = v->status;
	uint32_t links = s->n_links, hosts = s->n_hosts;
	const char *name;

	control_verdict(v, &name);
	for (guint i = 0; v->faults && i < v->faults->len; i++) {
		const struct expected_fault *f = v->faults->pdata[i];

		links += f->kind == EXPECTED_LINK;
		hosts += f->kind == EXPECTED_HOST;
	}
	view_line_put(VIEW_VERDICT, (uint64_t[]){
		[VERDICT_LINKS] = s->n_active, [VERDICT_ALL_LINKS] = links,
		[VERDICT_HOSTS] = s->n_hosts, [VERDICT_ALL_HOSTS] = hosts },
		name, out);
	for (guint i = 0; v->faults && i < v->faults->len; i++) {
		const struct expected_fault *f = v->faults->pdata[i];
		g_autofree char *what = g_strdup_printf("%s %s%s%s",
			expected_kind_names[f->kind], f->name,
			*f->text ? ", " : "", f->text);

		view_line_put(VIEW_FAULT, (uint64_t[]){
			[FAULT_NUMBER] = i + 1,
			[FAULT_SINCE] = (uint64_t)f->since,
			[FAULT_GUID] = f->guid }, what, out);
	}
	put_lines(VIEW_COMPLAINT, s->complaints, out);
	put_lines(VIEW_WARNING, s->warnings, out);
}

/* The ports of avoided links are those of the sweep's own view. */
static void
put_route(const struct control_view *v, GString *out)
{
	const struct status *s = v->status;
	const GPtrArray *avoided = v->sweep ? v->sweep->avoided : NULL;
	const struct snapshot *subnet = avoided ? v->sweep->view.subnet : NULL;

	if (s->engine)
		view_line_put(VIEW_ROUTE, (uint64_t[]){
			[ROUTE_LOOPED] = s->n_looped, [ROUTE_TOP] = s->top,
			[ROUTE_QOS] = v->sa && v->sa->view &&
				v->sa->view->qos }, s->engine, out);
	put_lines(VIEW_NOTE, s->notes, out);
	for (guint i = 0; avoided && i < avoided->len; i++) {
		const struct avoid_link *l = avoided->pdata[i];
		g_autofree char *why = avoid_why(l);
		g_autofree char *text = g_strdup_printf("%s; %s", why,
			avoid_verdict_texts[l->verdict]);

		view_line_put(VIEW_AVOIDED, (uint64_t[]){
			[AVOIDED_GUID] = snapshot_node_of(subnet,
				l->port)->info.node_guid,
			[AVOIDED_PORT] = subnet->ports[l->port].num,
			[AVOIDED_ERRORS] = l->errors,
			[AVOIDED_USED] = l->verdict != AVOID_DONE }, text,
			out);
	}
}

static void
put_counts(const uint64_t *counts, const char *method, GString *out)
{
	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		g_autofree char *name = g_strdup_printf("%s %s", method,
							mad_attr_name(i));

		if (counts[i])
			view_line_put(VIEW_MADS, &counts[i], name, out);
	}
}

static void
put_stages(const struct status *s, GString *out)
{
	for (unsigned i = 0; i < s->n_stages; i++) {
		const struct sweep_stage *stage = &s->stages[i];

		view_line_put(VIEW_STAGE, (uint64_t[]){
			[STAGE_BEGIN] = (uint64_t)stage->begin_us,
			[STAGE_END] = (uint64_t)stage->end_us },
			sweep_state_names[stage->state], out);
		put_counts(stage->gets, "Get", out);
		put_counts(stage->sets, "Set", out);
	}
}

/* The groups and their members, as their state is saved; registrations with
 * keys of their clients in them are not for others. */
static void
put_groups(const struct sa *sa, GString *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	sa_save_groups(sa, text);
	for (const char *line = text->str, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		g_string_append_c(out, '#');
		g_string_append_len(out, line, end + 1 - line);
	}
}

static void
put_partitions(const struct control_view *v, GString *out)
{
	const struct partition_rules *rules = v->sa && v->sa->view ?
		v->sa->view->rules : v->rules;

	for (guint i = 0; i < rules->partitions->len; i++) {
		const struct partition *p = rules->partitions->pdata[i];

		view_line_put(VIEW_PARTITION, (uint64_t[]){
			[PARTITION_KEY] = p->pkey, [PARTITION_SL] = p->sl },
			p->name, out);
	}
}

/* References, and no lines yet. */
static struct view_values *
make_values(const struct control_view *v, const struct view *of, bool tables)
{
	struct view_values *values = g_new0(struct view_values, 1);

	*values = (struct view_values){
		.generation = v->status->n_sweeps,
		.sa_version = v->sa ? sa_saved_version(v->sa) : 0,
		.at = g_get_real_time() / 1000,
		.port_guid = v->port_guid,
		.s = snapshot_ref(of->subnet), .lids = lid_map_ref(of->lids),
		.lft = of->lft ? lft_ref(of->lft) : NULL,
		.memberships = of->memberships ?
			memberships_ref(of->memberships) : NULL,
		.tables = tables, .before = g_string_new(NULL),
	};
	return values;
}

struct view_values *
control_view_values(const struct control_view *v, const struct view *of,
		    bool tables)
{
	struct view_values *values = make_values(v, of, tables);

	put_verdict(v, values->before);
	put_route(v, values->before);
	put_stages(v->status, values->before);
	put_partitions(v, values->before);
	if (v->sa)
		put_groups(v->sa, values->before);
	return values;
}

static struct view
view_of(const struct sa_db *db)
{
	return (struct view){
		.subnet = db->subnet, .lids = db->lids, .lft = db->lft,
		.memberships = db->memberships,
	};
}

/* Of the fabric that the SA answers from. */
struct view_values *
control_view_published(const struct control_view *v, bool tables)
{
	const struct view of = view_of(v->sa->view);

	return control_view_values(v, &of, tables);
}

/* A part that is small enough to be made at once. */
static void
put_part(struct control_request *q, const char *part, const char *word)
{
	struct view_values *values;
	uint32_t port = SNAPSHOT_NONE;
	struct view of;
	uint64_t lid = 0;

	if (!strcmp(part, "lid") && !text_read_number(word, 0, UINT16_MAX,
						       &lid)) {
		request_say_usage(q);
		return;
	}
	if (!lid && (port = request_find(q, 2)) == SNAPSHOT_NONE)
		return;
	of = view_of(q->db);
	values = make_values(&q->v, &of, true);
	put_partitions(&q->v, values->before);
	if (lid)
		view_write_lid(values, (uint16_t)lid, q->out.out);
	else
		view_write_node(values, q->db->subnet->ports[port].node,
				q->out.out);
	view_values_free(values);
}

/* view [tables] [NUMBER of the text that is being made] */
void
control_view(struct control_request *q)
{
	char **words = q->words + 1;
	bool tables = words[0] && !strcmp(words[0], "tables");
	uint64_t number = 0;
	GBytes *text;

	if (words[0] && words[1] && (!strcmp(words[0], "lid") ||
				     !strcmp(words[0], "node"))) {
		put_part(q, words[0], words[1]);
		return;
	}
	words += tables;
	if (words[0] && (words[1] ||
			 !text_read_number(words[0], 0, UINT64_MAX, &number))) {
		request_say_usage(q);
		return;
	}
	text = q->hooks->view(tables, &number, q->hooks->data);
	q->code = text ? CONTROL_DONE : CONTROL_AGAIN;
	if (text)
		q->rest = g_bytes_ref(text);
	else
		g_string_append_printf(q->out.out, "view %s%" G_GUINT64_FORMAT
				       "\n", tables ? "tables " : "", number);
}
