// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `errors`: the ports whose counters are not 0, the worst cable first.
 */
#include <string.h>

#include "sm/control/request.h"
#include "sm/sa/sa_db.h"

/* The cable with most errors in the last hour first, then with most at all. */
static int
compare_errors(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct perf_port *perf = data;
	const struct perf_port *p = &perf[*(const uint32_t *)a];
	const struct perf_port *q = &perf[*(const uint32_t *)b];
	uint64_t of_p = perf_wire_errors(p), of_q = perf_wire_errors(q);

	for (unsigned i = 0; of_p == of_q && i < PERF_N_ERRORS; i++) {
		of_p = p->last[i];
		of_q = q->last[i];
	}
	if (of_p != of_q)
		return of_p > of_q ? -1 : 1;
	return p < q ? -1 : p > q;
}

static void
put_errors(struct text_report *r, const char *name, const char *peer,
	   const struct perf_port *p, bool avoided)
{
	report_open(r, NULL, '{');
	report_text(r, "port", name, " - ");
	report_text(r, "peer", peer, ": ");
	report_number(r, "cable_errors_in_hour", perf_wire_errors(p),
		      " of the cable within an hour;");
	report_open(r, "counters", '{');
	for (unsigned i = 0; i < PERF_N_ERRORS; i++) {
		if (!p->last[i])
			continue;
		report_say(r, " %s ", perf_error_fields[i].name);
		report_number(r, perf_error_fields[i].name, p->last[i],
			      p->last[i] == perf_error_max(i) ?
			      " (at its end)" : "");
	}
	report_close(r, '}');
	if (p->has_data) {
		report_number(r, "sent_bytes", p->sent, NULL);
		report_number(r, "received_bytes", p->received, NULL);
		report_number(r, "sent_rate", p->sent_rate, NULL);
		report_number(r, "received_rate", p->received_rate, NULL);
	}
	if (r->as_json)
		json_bool(&r->json, "avoided", avoided);
	report_say(r, "%s\n", avoided ? "; avoided" : "");
	report_close(r, '}');
}

/* Ports with a cable that counted any error. */
static GArray *
find_errors(const struct snapshot *s, const struct perf_port *perf)
{
	GArray *ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t any = 0;

		for (unsigned i = 0; i < PERF_N_ERRORS; i++)
			any |= perf[port].last[i];
		if (any && s->ports[port].peer != SNAPSHOT_NONE)
			g_array_append_val(ports, port);
	}
	g_array_sort_with_data(ports, compare_errors, (gpointer)perf);
	return ports;
}

void
control_errors(struct control_request *request)
{
	const char *word = request->words[1];
	g_autoptr(GArray) ports = NULL;
	const struct perf_port *perf;
	struct fabric_query q;

	if (!query_open(&q, request))
		return;
	perf = perf_manager_ports(q.v.perf, q.db->subnet);
	if (!perf) {
		request_say(request, CONTROL_NOT_DONE, "no counters are read: "
			    "set \"perfmgr TRUE\" in minism.conf");
		return;
	}
	ports = find_errors(q.db->subnet, perf);
	report_open(&q.r, NULL, '{');
	report_open(&q.r, "ports", '[');
	for (guint i = 0; i < ports->len; i++) {
		uint32_t port = g_array_index(ports, uint32_t, i);
		uint32_t peer = q.db->subnet->ports[port].peer;
		g_autofree char *a = snapshot_port_name(q.db->subnet, port);
		g_autofree char *b = snapshot_port_name(q.db->subnet, peer);

		if (!word || strstr(a, word) || strstr(b, word))
			put_errors(&q.r, a, b, &perf[port],
				   q.db->subnet->ports[port].avoided);
	}
	report_close(&q.r, ']');
	query_close(&q);
}
