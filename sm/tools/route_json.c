// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the laboratory found, for programs. The keys are described in
 * minism-route(1); nothing that is there today is renamed.
 */
#include "topology/json.h"
#include "sm/tools/route_lab.h"

#define INDENT	"\n     "

/* Names of nodes and files may hold anything, and are UTF-8. */
static void
put_strings(struct json *j, const char *key, const GPtrArray *lines)
{
	json_open(j, key, '[');
	for (guint i = 0; lines && i < lines->len; i++)
		json_utf8(j, NULL, lines->pdata[i]);
	json_close(j, ']');
}

static void
put_fabric(const struct lab *lab, struct json *j)
{
	const struct lab_wish *w = lab->wish;

	json_break(j, "\n  ");
	json_open(j, "fabric", '{');
	json_utf8(j, "name", w->fabric);
	json_number(j, "switches", lab->g->n_switches);
	json_number(j, "ca_ports", lab->n_hosts);
	json_number(j, "cables", lab->g->n_edges / 2);
	json_number(j, "top_lid", lab->lids->top);
	json_real(j, "failed_links_percent", w->fail_links / 10.0);
	json_real(j, "failed_switches_percent", w->fail_switches / 10.0);
	json_number(j, "seed", w->seed);
	json_number(j, "threads", w->threads);
	put_strings(j, "notes", lab->notes);
	json_close(j, '}');
}

static void
put_cycle(const struct lab *lab, const char *key,
	  const struct channels_result *channels, struct json *j)
{
	const struct graph *g = lab->g;
	const GArray *cycle = channels->cycle;
	const struct channel_turn *turn;
	const struct graph_edge *edge;

	json_open(j, key, '[');
	for (guint i = 0; cycle && i < cycle->len; i++) {
		turn = &g_array_index(cycle, struct channel_turn, i);
		edge = &g->edges[turn->edge];

		g_autofree char *from = graph_switch_name(g,
			g->edges[edge->back].peer);
		g_autofree char *to = graph_switch_name(g, edge->peer);

		json_open(j, NULL, '{');
		json_utf8(j, "from", from);
		json_number(j, "port", edge->port);
		json_utf8(j, "to", to);
		json_number(j, "lid", turn->lid);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
put_verified(const struct lab *lab, const struct lab_row *row, struct json *j)
{
	const struct verify_reach *reach = &row->verified.reach;
	const struct channels_result *channels = &row->verified.channels;

	json_break(j, INDENT);
	json_real(j, "verify_ms", row->verify_ms);
	json_number(j, "lost_ca_pairs", reach->lost_hosts);
	json_number(j, "lost_mixed_pairs", reach->lost_mixed);
	json_number(j, "looping", reach->looping);
	json_number(j, "astray", reach->astray);
	json_number(j, "cut_off", reach->cut_off);
	json_break(j, INDENT);
	json_number(j, "channels", channels->n_channels);
	json_number(j, "dependencies", channels->n_dependencies);
	json_number(j, "looped_channels", channels->n_looped);
	json_number(j, "looped_channels_ca_only", row->looped_hosts);
	put_cycle(lab, "cycle", channels, j);
}

static void
put_congestion(const char *key, const struct metrics_congestion *c,
	       struct json *j)
{
	json_break(j, INDENT);
	json_open(j, key, '{');
	json_number(j, "n", c->n);
	json_number(j, "n_all", c->n_all);
	json_number(j, "max", c->max);
	json_number(j, "worst", c->worst);
	json_real(j, "mean", c->mean);
	json_number(j, "lost", c->lost);
	json_close(j, '}');
}

static void
put_paths(const struct metrics_paths *p, struct json *j)
{
	json_break(j, INDENT);
	json_open(j, "paths", '{');
	json_number(j, "max", p->max);
	json_real(j, "mean", p->mean);
	json_number(j, "arrived", p->arrived);
	json_number(j, "lost", p->lost);
	json_number(j, "longer", p->longer);
	json_open(j, "pairs", '[');
	for (uint32_t i = 0; i <= p->max; i++)
		json_number(j, NULL, p->pairs[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void
put_churn(const struct lab *lab, const struct lab_row *row, struct json *j)
{
	json_break(j, INDENT);
	json_open(j, "churn", '{');
	json_number(j, "entries", row->churn.entries);
	json_number(j, "blocks", row->churn.blocks);
	json_number(j, "all_blocks", row->churn.all_blocks);
	json_close(j, '}');
	json_number(j, "together_looped_channels", row->together.n_looped);
	put_cycle(lab, "together_cycle", &row->together, j);
}

static void
put_figures(const struct lab *lab, const struct lab_row *row, struct json *j)
{
	json_break(j, INDENT);
	json_open(j, "all_to_all", '{');
	json_number(j, "max", row->load.max);
	json_real(j, "mean", row->load.mean);
	json_number(j, "lost", row->load.lost);
	json_real(j, "bound", lab->bound);
	json_close(j, '}');
	json_open(j, "multicast", '{');
	json_number(j, "missed", row->missed);
	json_number(j, "max", row->max_trees);
	json_real(j, "mean", row->mean_trees);
	json_close(j, '}');
	put_congestion("permutations", &row->permutations, j);
	put_congestion("shifts", &row->shifts, j);
	json_break(j, INDENT);
	json_real(j, "bisection", row->bisection);
	put_paths(&row->paths, j);
	if (lab->before)
		put_churn(lab, row, j);
}

static void
put_row(const struct lab *lab, const struct lab_row *row, struct json *j)
{
	json_break(j, "\n    ");
	json_open(j, NULL, '{');
	json_utf8(j, "tables", row->name);
	json_text(j, "verdict", lab_verdict_name(row->verdict));
	if (row->refused) {
		json_utf8(j, "refused", row->refused);
		json_close(j, '}');
		return;
	}
	if (row->compute_ms >= 0)
		json_real(j, "compute_ms", row->compute_ms);
	put_strings(j, "notes", row->notes);
	put_verified(lab, row, j);
	put_figures(lab, row, j);
	json_close(j, '}');
}

void
lab_print_json(const struct lab *lab, const GPtrArray *rows, GString *out)
{
	struct json j = { .out = out, .space = " " };

	json_open(&j, NULL, '{');
	put_fabric(lab, &j);
	json_break(&j, "\n  ");
	json_open(&j, "results", '[');
	for (guint i = 0; i < rows->len; i++)
		put_row(lab, g_ptr_array_index(rows, i), &j);
	g_string_append(out, "\n  ");
	json_close(&j, ']');
	g_string_append_c(out, '\n');
	json_close(&j, '}');
	g_string_append_c(out, '\n');
}
