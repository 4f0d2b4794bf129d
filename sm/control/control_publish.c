// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `view`: the fabric as one text (sm/view.h), or a part of it.
 * What is about the whole fabric is written here, on the loop; the rest beside
 * it.
 */
#include "sm/control/request.h"

#include <string.h>

#include "sm/view.h"
#include "topology/port_search.h"
#include "topology/text.h"

/* References, and no lines yet. */
static struct view_values *
make_values(const struct control_view *v, const struct view *of, bool tables)
{
	struct view_values *values = g_new0(struct view_values, 1);

	*values = (struct view_values){
		.generation = v->status->n_sweeps,
		.sa_version = v->sa ? sa_saved_version(v->sa) : 0,
		.at = (g_get_real_time() - control_age(v)) / 1000,
		.port_guid = v->port_guid,
		.tables = tables, .before = g_string_new(NULL),
	};
	if (!of->subnet)
		return values;
	values->s = snapshot_ref(of->subnet);
	values->lids = lid_map_ref(of->lids);
	values->lft = of->lft ? lft_ref(of->lft) : NULL;
	values->memberships = of->memberships ?
		memberships_ref(of->memberships) : NULL;
	values->held = of->tables ? port_tables_ref(of->tables) : NULL;
	values->rules = partition_rules_ref(of->rules);
	return values;
}

struct view_values *
control_view_values(const struct control_view *v, const struct view *of,
		    bool tables)
{
	struct view_values *values = make_values(v, of, tables);
	const struct route_params *route = &v->sweep->params.route;
	g_autoptr(GString) groups = g_string_new(NULL);
	const GArray *const lists[] = {
		route->roots, route->compute_nodes, route->io_nodes,
	};

	control_put_status(v, values->before);
	/* The groups and their members, which are the master's, as their state
	 * is saved; registrations with keys of their clients in them are not for
	 * others. */
	if (v->sa && !control_observes(v))
		sa_save_groups(v->sa, groups);
	for (const char *line = groups->str, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		g_string_append_c(values->before, '#');
		g_string_append_len(values->before, line, end + 1 - line);
	}
	/* The lists that routing was given, a line each; 0: the list is empty,
	 * which of compute nodes makes all hosts I/O nodes. */
	for (unsigned k = 0; k < G_N_ELEMENTS(lists); k++)
		for (guint i = 0; lists[k] && i < MAX(lists[k]->len, 1); i++)
			view_line_put(VIEW_ROOT + k, (uint64_t[]){
				[LISTED_GUID] = lists[k]->len ? g_array_index(
					lists[k], uint64_t, i) : 0 }, NULL,
				values->before);
	return values;
}

/* A part that is small enough to be made at once. */
static void
answer_part(struct control_request *q, const char *part, const char *word)
{
	const struct view *of = &q->v.sweep->view;
	struct view_values *values;
	uint32_t port = SNAPSHOT_NONE;
	uint64_t lid = 0;
	unsigned n;

	if (!of->subnet) {
		request_say_no_fabric(q);
		return;
	}
	if (!strcmp(part, "lid") && !text_read_number(word, 0, UINT16_MAX,
						       &lid)) {
		request_say_usage(q);
		return;
	}
	if (!lid)
		port = port_search_one(of->subnet, of->lids, word, &n);
	if (!lid && port == SNAPSHOT_NONE)
		/* a node with several ports means the first one */
		port = port_search_node(of->subnet, word);
	if (!lid && port == SNAPSHOT_NONE) {
		request_say_wrong(q, "no node, or several, are called ", word,
				  "", NULL, 0);
		return;
	}
	values = make_values(&q->v, of, true);
	if (!lid)
		control_put_faults(&q->v, word, snapshot_node_of(of->subnet,
				port)->info.node_guid, values->before);
	if (lid)
		view_write_lid(values, (uint16_t)lid, q->out.out);
	else
		view_write_node(values, of->subnet->ports[port].node,
				q->out.out);
	view_values_free(values);
}

/* Goes on with the number of the text that is being made. */
void
control_view(struct control_request *q)
{
	char **words = q->words + 1;
	bool tables = words[0] && !strcmp(words[0], "tables");
	struct view_values *values;
	GBytes *text;

	if (words[0] && !strcmp(words[0], "status") && !words[1]) {
		values = make_values(&q->v, &q->v.sweep->view, false);
		control_put_status(&q->v, values->before);
		control_put_counts(&q->v, values->before);
		view_write_status(values, q->out.out);
		view_values_free(values);
		return;
	}
	if (!q->db) {
		request_say_no_fabric(q);
		return;
	}
	if (words[0] && words[1] && (!strcmp(words[0], "lid") ||
				     !strcmp(words[0], "node"))) {
		answer_part(q, words[0], words[1]);
		return;
	}
	if (words[0] && (!tables || words[1])) {
		request_say_usage(q);
		return;
	}
	text = q->hooks->view(tables, &q->number, q->hooks->data);
	if (text)
		q->rest = g_bytes_ref(text);
	else
		request_again(q, q->number);
}
