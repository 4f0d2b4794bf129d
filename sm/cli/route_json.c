/*
 * What the laboratory found, for programs. The keys are described in
 * minism-route(1); nothing that is there today is renamed.
 */
#include <inttypes.h>
#include <string.h>

#include "sm/cli/route_lab.h"

/* A string; names of nodes and files may hold anything. */
static void
put_string(const char *text, GString *out)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	g_string_append_c(out, '"');
	for (const char *c = valid; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_printf(out, "\\%c", *c);
		else if ((unsigned char)*c < 0x20)
			g_string_append_printf(out, "\\u%04x", *c);
		else
			g_string_append_c(out, *c);
	}
	g_string_append_c(out, '"');
}

static void
put_strings(const char *key, const GPtrArray *lines, GString *out)
{
	g_string_append_printf(out, "\"%s\": [", key);
	for (guint i = 0; lines && i < lines->len; i++) {
		g_string_append(out, i ? ", " : "");
		put_string(lines->pdata[i], out);
	}
	g_string_append(out, "]");
}

/* Not printf's: a point, whatever the locale. */
static void
put_real(const char *key, double value, GString *out)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(out, "\"%s\": %s", key,
			       g_ascii_formatd(text, sizeof(text), "%.6g",
					       value));
}

static void
put_fabric(const struct lab *lab, GString *out)
{
	const struct lab_wish *w = lab->wish;

	g_string_append(out, "{\n  \"fabric\": {\"name\": ");
	put_string(w->fabric, out);
	g_string_append_printf(out, ", \"switches\": %u, \"ca_ports\": %u, "
			       "\"cables\": %u, \"top_lid\": %u, ",
			       lab->g->n_switches, lab->n_hosts,
			       lab->g->n_edges / 2, lab->lids->top);
	put_real("failed_links_percent", w->fail_links / 10.0, out);
	g_string_append(out, ", ");
	put_real("failed_switches_percent", w->fail_switches / 10.0, out);
	g_string_append_printf(out, ", \"seed\": %" PRIu64 ", \"threads\": "
			       "%u, ", w->seed, w->threads);
	put_strings("notes", lab->notes, out);
	g_string_append(out, "},\n");
}

static void
put_cycle(const struct lab *lab, const char *key,
	  const struct channels_result *channels, GString *out)
{
	const struct graph *g = lab->g;
	const GArray *cycle = channels->cycle;
	const struct channel_turn *turn;
	const struct graph_edge *edge;

	g_string_append_printf(out, "\"%s\": [", key);
	for (guint i = 0; cycle && i < cycle->len; i++) {
		turn = &g_array_index(cycle, struct channel_turn, i);
		edge = &g->edges[turn->edge];

		g_autofree char *from = graph_switch_name(g,
			g->edges[edge->back].peer);
		g_autofree char *to = graph_switch_name(g, edge->peer);

		g_string_append(out, i ? ", {\"from\": " : "{\"from\": ");
		put_string(from, out);
		g_string_append_printf(out, ", \"port\": %u, \"to\": ",
				       edge->port);
		put_string(to, out);
		g_string_append_printf(out, ", \"lid\": %u}", turn->lid);
	}
	g_string_append(out, "]");
}

static void
put_verified(const struct lab *lab, const struct lab_row *row, GString *out)
{
	const struct check_result *reach = &row->verified.reach;
	const struct channels_result *channels = &row->verified.channels;

	g_string_append(out, ",\n     ");
	put_real("verify_ms", row->verify_ms, out);
	g_string_append_printf(out, ", \"lost_ca_pairs\": %" PRIu64
			       ", \"lost_mixed_pairs\": %" PRIu64
			       ", \"looping\": %" PRIu64 ", \"astray\": %"
			       PRIu64 ", \"cut_off\": %" PRIu64,
			       reach->lost_hosts, reach->lost_mixed,
			       reach->looping, reach->astray, reach->cut_off);
	g_string_append_printf(out, ",\n     \"channels\": %u, "
			       "\"dependencies\": %" PRIu64 ", "
			       "\"looped_channels\": %u, "
			       "\"looped_channels_ca_only\": %u, ",
			       channels->n_channels, channels->n_dependencies,
			       channels->n_looped, row->looped_hosts);
	put_cycle(lab, "cycle", channels, out);
}

static void
put_congestion(const char *key, const struct quality_congestion *c,
	       GString *out)
{
	g_string_append_printf(out, ",\n     \"%s\": {\"n\": %u, \"n_all\": "
			       "%u, \"max\": %u, \"worst\": %u, ", key, c->n,
			       c->n_all, c->max, c->worst);
	put_real("mean", c->mean, out);
	g_string_append_printf(out, ", \"lost\": %" PRIu64 "}", c->lost);
}

static void
put_paths(const struct quality_paths *p, GString *out)
{
	g_string_append_printf(out, ",\n     \"paths\": {\"max\": %u, ",
			       p->max);
	put_real("mean", p->mean, out);
	g_string_append_printf(out, ", \"arrived\": %" PRIu64 ", \"lost\": %"
			       PRIu64 ", \"longer\": %" PRIu64
			       ", \"pairs\": [", p->arrived, p->lost,
			       p->longer);
	for (uint32_t i = 0; i <= p->max; i++)
		g_string_append_printf(out, "%s%" PRIu64, i ? ", " : "",
				       p->pairs[i]);
	g_string_append(out, "]}");
}

static void
put_figures(const struct lab *lab, const struct lab_row *row, GString *out)
{
	g_string_append_printf(out, ",\n     \"all_to_all\": {\"max\": %"
			       PRIu64 ", ", row->load.max);
	put_real("mean", row->load.mean, out);
	g_string_append_printf(out, ", \"lost\": %" PRIu64 "}",
			       row->load.lost);
	put_congestion("permutations", &row->permutations, out);
	put_congestion("shifts", &row->shifts, out);
	g_string_append(out, ",\n     ");
	put_real("bisection", row->bisection, out);
	put_paths(&row->paths, out);
	if (!lab->before)
		return;
	g_string_append_printf(out, ",\n     \"churn\": {\"entries\": %"
			       PRIu64 ", \"blocks\": %" PRIu64
			       ", \"all_blocks\": %" PRIu64 "}, "
			       "\"together_looped_channels\": %u, ",
			       row->churn.entries, row->churn.blocks,
			       row->churn.all_blocks,
			       row->together.n_looped);
	put_cycle(lab, "together_cycle", &row->together, out);
}

static void
put_row(const struct lab *lab, const struct lab_row *row, GString *out)
{
	g_string_append(out, "    {\"tables\": ");
	put_string(row->name, out);
	g_string_append(out, ", \"verdict\": ");
	put_string(lab_verdict_name(row->verdict), out);
	if (row->refused) {
		g_string_append(out, ", \"refused\": ");
		put_string(row->refused, out);
		g_string_append_c(out, '}');
		return;
	}
	if (row->compute_ms >= 0) {
		g_string_append(out, ", ");
		put_real("compute_ms", row->compute_ms, out);
	}
	g_string_append(out, ", ");
	put_strings("notes", row->notes, out);
	put_verified(lab, row, out);
	put_figures(lab, row, out);
	g_string_append_c(out, '}');
}

void
lab_print_json(const struct lab *lab, const GPtrArray *rows, GString *out)
{
	put_fabric(lab, out);
	g_string_append(out, "  \"results\": [\n");
	for (guint i = 0; i < rows->len; i++) {
		put_row(lab, g_ptr_array_index(rows, i), out);
		g_string_append(out, i + 1 < rows->len ? ",\n" : "\n");
	}
	g_string_append(out, "  ]\n}\n");
}
