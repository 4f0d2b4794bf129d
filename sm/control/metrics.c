// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `metrics`: OpenMetrics text (version 1.0), for Prometheus'
 * node_exporter (textfile) or a script that serves it.
 *
 * A family is a row: its name, type, help and who writes its samples.
 */
#include <string.h>

#include "config.h"
#include "sm/control/control_view.h"
#include "sm/mad/mad.h"

struct family {
	const char *name, *type, *help;
	void (*write)(GString *out, const struct control_view *v);
};

static void G_GNUC_PRINTF(2, 3)
sample(GString *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(out, format, args);
	va_end(args);
	g_string_append_c(out, '\n');
}

/* The text of a label: backslash, quote and newline are escaped. */
static char *
label(const char *text)
{
	GString *out = g_string_new(NULL);

	for (; *text; text++)
		if (*text == '\\' || *text == '"')
			g_string_append_printf(out, "\\%c", *text);
		else
			g_string_append_c(out, *text == '\n' ? ' ' : *text);
	return g_string_free(out, FALSE);
}

/* With a point, whatever the locale. */
static const char *
seconds(int64_t us, char text[G_ASCII_DTOSTR_BUF_SIZE])
{
	return g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.6f",
			       (double)us / G_USEC_PER_SEC);
}

#define NUMBER "%" G_GUINT64_FORMAT

static void
write_info(GString *out, const struct control_view *v)
{
	g_autofree char *port = label(v->port_name ? v->port_name : "");

	sample(out, "minism_info{port=\"%s\",guid=\"0x%016" G_GINT64_MODIFIER
	       "x\",version=\"%s\"} 1", port, v->port_guid, PACKAGE_VERSION);
}

static void
write_up(GString *out, const struct control_view *v)
{
	const struct status_sweep *last = status_last(v->status, 0);

	sample(out, "minism_subnet_up %u",
	       last && last->end == SWEEP_END_UP);
}

static void
write_verdict(GString *out, const struct control_view *v)
{
	static const char *const names[] = {
		"starting", "up", "degraded", "not up", "standby", "failed",
	};
	const char *is;

	control_verdict(v, &is);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		sample(out, "minism_subnet_state{minism_subnet_state=\"%s\"} "
		       "%u", names[i], strcmp(names[i], is) == 0);
}

static void
write_faults(GString *out, const struct control_view *v)
{
	unsigned n[EXPECTED_KINDS] = { 0 };

	for (guint i = 0; v->faults && i < v->faults->len; i++)
		n[((struct expected_fault *)v->faults->pdata[i])->kind]++;
	for (unsigned kind = 0; kind < EXPECTED_KINDS; kind++)
		sample(out, "minism_faults{kind=\"%s\"} %u",
		       expected_kind_name(kind), n[kind]);
}

static void
write_paused(GString *out, const struct control_view *v)
{
	sample(out, "minism_paused %u", v->paused);
}

static void
write_state(GString *out, const struct control_view *v)
{
	for (unsigned i = SM_STATE_NOT_ACTIVE; i <= SM_STATE_MASTER; i++)
		sample(out, "minism_sm_state{minism_sm_state=\"%s\"} %u",
		       sm_state_name(i), v->self.state == i);
}

static void
write_standby(GString *out, const struct control_view *v)
{
	sample(out, "minism_standby_warm %u", v->standby.warm);
}

static void
write_standby_age(GString *out, const struct control_view *v)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (v->standby.warm)
		sample(out, "minism_standby_age_seconds %s",
		       seconds(v->now - v->standby.as_of, text));
}

static void
write_nodes(GString *out, const struct control_view *v)
{
	const struct snapshot *s = v->status->subnet;

	sample(out, "minism_nodes{kind=\"switch\"} %u", s ? s->n_switches : 0);
	sample(out, "minism_nodes{kind=\"host\"} %u",
	       s ? s->n_nodes - s->n_switches : 0);
}

/* By width and speed, which is how a bad cable shows. */
static void
write_links(GString *out, const struct control_view *v)
{
	const struct snapshot *s = v->status->subnet;
	g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash,
		g_str_equal, g_free, NULL);
	g_autoptr(GList) keys = NULL;

	for (uint32_t i = 0; s && i < s->n_ports; i++) {
		const struct port_info *info = &s->ports[i].info;
		uint32_t peer = s->ports[i].peer;
		char *key;

		if (peer == SNAPSHOT_NONE || peer < i)
			continue;
		key = g_strdup_printf("state=\"%s\",width=\"%s\",speed=\"%s\"",
				      port_state_name(info->state),
				      port_width_name(info),
				      port_speed(info)->name);
		g_hash_table_replace(counts, key, GUINT_TO_POINTER(
			GPOINTER_TO_UINT(g_hash_table_lookup(counts, key)) +
			1));
	}
	keys = g_list_sort(g_hash_table_get_keys(counts),
			   (GCompareFunc)strcmp);
	for (const GList *k = keys; k; k = k->next)
		sample(out, "minism_links{%s} %u", (const char *)k->data,
		       GPOINTER_TO_UINT(g_hash_table_lookup(counts,
							    k->data)));
}

static void
write_problems(GString *out, const struct control_view *v)
{
	const GPtrArray *lines = v->status->complaints;

	sample(out, "minism_problems %u", lines ? lines->len : 0);
}

static void
write_looped(GString *out, const struct control_view *v)
{
	sample(out, "minism_credit_loop_channels %u", v->status->n_looped);
}

static void
write_sweeps(GString *out, const struct control_view *v)
{
	sample(out, "minism_sweeps_total " NUMBER, v->status->n_sweeps);
}

static void
write_repairs(GString *out, const struct control_view *v)
{
	sample(out, "minism_repairs_total " NUMBER, v->status->n_repairs);
}

static void
write_downs(GString *out, const struct control_view *v)
{
	uint64_t downs = 0;

	if (v->sweep)
		g_ptr_array_unref(sweep_flaps(v->sweep, &downs));
	sample(out, "minism_link_downs_total " NUMBER, downs);
}

static void
write_flaps(GString *out, const struct control_view *v)
{
	g_autoptr(GPtrArray) flaps = NULL;
	unsigned flapping = 0, held = 0, babbling = 0;
	uint64_t downs;

	if (v->sweep)
		flaps = sweep_flaps(v->sweep, &downs);
	for (guint i = 0; flaps && i < flaps->len; i++) {
		const struct flap *f = flaps->pdata[i];

		flapping += f->flaps;
		held += f->held;
		babbling += f->babbles;
	}
	sample(out, "minism_unsteady{kind=\"flapping\"} %u", flapping);
	sample(out, "minism_unsteady{kind=\"held\"} %u", held);
	sample(out, "minism_unsteady{kind=\"babbling\"} %u", babbling);
}

static void
write_avoided(GString *out, const struct control_view *v)
{
	const GPtrArray *links = v->sweep ? sweep_avoided(v->sweep) : NULL;
	unsigned n[AVOID_TOO_MANY + 1] = { 0 };

	for (guint i = 0; links && i < links->len; i++)
		n[((struct avoid_link *)links->pdata[i])->verdict]++;
	sample(out, "minism_bad_links{routing=\"avoided\"} %u", n[AVOID_DONE]);
	sample(out, "minism_bad_links{routing=\"used\"} %u",
	       n[AVOID_NEEDED] + n[AVOID_TOO_MANY]);
}

static void
write_verdicts(GString *out, const struct control_view *v)
{
	static const char *const names[] = {
		"safe", "in steps", "credit loop", "refused",
	};

	for (unsigned i = 0; v->sweep && i < SWEEP_VERDICTS; i++)
		sample(out, "minism_verified_tables_total{verdict=\"%s\"} "
		       NUMBER, names[i], sweep_totals(v->sweep)->verdicts[i]);
}

static void
write_churn(GString *out, const struct control_view *v)
{
	const struct sweep_totals *t = v->sweep ? sweep_totals(v->sweep) : NULL;

	sample(out, "minism_lft_blocks_written_total " NUMBER,
	       t ? t->lft_blocks : 0);
}

static void
write_entries(GString *out, const struct control_view *v)
{
	const struct sweep_totals *t = v->sweep ? sweep_totals(v->sweep) : NULL;

	sample(out, "minism_lft_entries_changed_total " NUMBER,
	       t ? t->lft_entries : 0);
}

static void
write_lost(GString *out, const struct control_view *v)
{
	sample(out, "minism_host_pairs_without_path " NUMBER,
	       v->status->lost_hosts);
}

static void
write_managers(GString *out, const struct control_view *v)
{
	unsigned n[SM_STATE_MASTER + 1] = { 0 };

	for (guint i = 0; v->peers && i < v->peers->len; i++)
		n[g_array_index(v->peers, struct election_peer, i).info.state &
		  SM_STATE_MASTER]++;
	for (unsigned i = SM_STATE_NOT_ACTIVE; i <= SM_STATE_MASTER; i++)
		sample(out, "minism_other_managers{state=\"%s\"} %u",
		       sm_state_name(i), n[i]);
}

static void
write_priority(GString *out, const struct control_view *v)
{
	sample(out, "minism_sm_priority %u", v->self.priority);
}

static void
write_last_sweep(GString *out, const struct control_view *v)
{
	const struct status_sweep *last = status_last(v->status, 0);
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (last)
		sample(out, "minism_last_sweep_seconds %s",
		       seconds(last->took_us, text));
}

/* labels: 'phase="reading",' or "" */
static void
write_histogram(GString *out, const char *name, const char *labels,
		const char *const bounds[5], const uint64_t within[5],
		uint64_t n, int64_t us)
{
	size_t len = strlen(labels);
	g_autofree char *alone = len ?
		g_strdup_printf("{%.*s}", (int)len - 1, labels) : g_strdup("");
	char sum[G_ASCII_DTOSTR_BUF_SIZE];

	for (unsigned b = 0; b < 5; b++)
		sample(out, "%s_bucket{%sle=\"%s\"} " NUMBER, name, labels,
		       bounds[b], within[b]);
	sample(out, "%s_bucket{%sle=\"+Inf\"} " NUMBER, name, labels, n);
	sample(out, "%s_count%s " NUMBER, name, alone, n);
	sample(out, "%s_sum%s %s", name, alone, seconds(us, sum));
}

/* Rest and suspension are no work. */
static void
write_phases(GString *out, const struct control_view *v)
{
	static const char *const bounds[SWEEP_BUCKETS] = {
		"0.001", "0.01", "0.1", "1.0", "10.0",
	};

	for (unsigned i = SWEEP_WAITING; v->phases && i < SWEEP_SUSPENDED;
	     i++) {
		const struct sweep_phase *p = &v->phases[i];
		g_autofree char *phase = g_strdup_printf("phase=\"%s\",",
			sweep_state_name((enum sweep_state)i));

		write_histogram(out, "minism_phase_seconds", phase,
				bounds, p->within, p->n, p->us);
	}
}

static void
write_sa_seconds(GString *out, const struct control_view *v)
{
	static const char *const bounds[SA_SERVER_BUCKETS] = {
		"0.0001", "0.001", "0.01", "0.1", "1.0",
	};

	if (v->desk)
		write_histogram(out, "minism_sa_seconds", "", bounds,
				v->desk->within, v->desk->answered,
				v->desk->us);
}

static void
write_sa_records(GString *out, const struct control_view *v)
{
	for (unsigned i = 0; v->desk && i < SA_SERVER_RECORDS; i++)
		if (v->desk->records[i])
			sample(out, "minism_sa_answers_total{record=\"%s\"} "
			       NUMBER, i ? sa_attr_name(i) : "other",
			       v->desk->records[i]);
}

/* g_free. One without a name is told by its number. */
static char *
attr_name(enum mad_client_class class, unsigned attr)
{
	const char *name = class == MAD_CLIENT_SMP ? mad_attr_name(attr) :
		class == MAD_CLIENT_SA ? sa_attr_name(attr) :
		class != MAD_CLIENT_PERF ? "?" :
		attr == PERF_ATTR_PORT_COUNTERS ? "PortCounters" :
		attr == PERF_ATTR_PORT_COUNTERS_EXT ? "PortCountersExtended" :
		attr == PERF_ATTR_CLASS_PORT_INFO ? "ClassPortInfo" : "?";

	return strcmp(name, "?") ? g_strdup(name) :
		g_strdup_printf("0x%02x", attr);
}

static void
write_mads(GString *out, const struct control_view *v)
{
	for (unsigned i = 0; v->wire && i < MAD_CLIENT_ATTRS; i++) {
		if (v->wire->gets[i])
			sample(out, "minism_mads_total{method=\"Get\","
			       "attribute=\"%s\"} " NUMBER, mad_attr_name(i),
			       v->wire->gets[i]);
		if (v->wire->sets[i])
			sample(out, "minism_mads_total{method=\"Set\","
			       "attribute=\"%s\"} " NUMBER, mad_attr_name(i),
			       v->wire->sets[i]);
	}
}

static void
write_outcomes(GString *out, const struct control_view *v)
{
	static const char *const classes[] = {
		"SMP", "SA", "PerfMgt", "other",
	};
	static const char *const ends[] = {
		"answered", "refused", "timed_out", "cancelled",
	};

	for (unsigned c = 0; v->client && c < MAD_CLIENT_CLASSES; c++)
		for (unsigned i = 0; i < MAD_CLIENT_ATTRS * MAD_CLIENT_ENDS;
		     i++) {
			unsigned attr = i / MAD_CLIENT_ENDS;
			unsigned end = i % MAD_CLIENT_ENDS;
			uint64_t n = mad_client_ended(v->client, c, attr, end);
			g_autofree char *name = NULL;

			if (!n)
				continue;
			name = attr_name(c, attr);
			sample(out, "minism_requests_total{class=\"%s\","
			       "attribute=\"%s\",outcome=\"%s\"} " NUMBER,
			       classes[c], name, ends[end], n);
		}
}

static void
write_retries(GString *out, const struct control_view *v)
{
	sample(out, "minism_mad_retries_total " NUMBER,
	       v->wire ? v->wire->retried : 0);
}

static void
write_window(GString *out, const struct control_view *v)
{
	sample(out, "minism_mad_window %u", v->wire ? v->wire->window : 0);
}

static void
write_sa(GString *out, const struct control_view *v)
{
	const struct sa_server_stats *d = v->desk;
	const struct { const char *name; uint64_t n; } outcomes[] = {
		{ "answered", d ? d->answered : 0 },
		{ "busy", d ? d->busy : 0 },
		{ "dropped", d ? d->dropped : 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(outcomes); i++)
		sample(out, "minism_sa_requests_total{outcome=\"%s\"} " NUMBER,
		       outcomes[i].name, outcomes[i].n);
}

static void
write_sa_state(GString *out, const struct control_view *v)
{
	const struct { const char *name; uint32_t n; } states[] = {
		{ "group", v->sa_stats.n_groups },
		{ "member", v->sa_stats.n_members },
		{ "service", v->sa_stats.n_services },
		{ "subscription", v->sa_stats.n_subscriptions },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
		sample(out, "minism_sa_objects{kind=\"%s\"} %u",
		       states[i].name, states[i].n);
}

/* Of ports that counted any: 0 is what all others have. */
static void
write_errors(GString *out, const struct control_view *v)
{
	const struct snapshot *s = v->status->subnet;
	const struct perf_port *perf = perf_manager_ports(v->perf, s);

	for (uint32_t port = 0; perf && port < s->n_ports; port++) {
		g_autofree char *name = snapshot_port_name(s, port);
		g_autofree char *shown = label(name);

		for (unsigned i = 0; i < PERF_N_ERRORS; i++)
			if (perf[port].total[i])
				sample(out, "minism_port_errors_total{port="
				       "\"%s\",counter=\"%s\"} " NUMBER, shown,
				       perf_error_fields[i].name,
				       perf[port].total[i]);
	}
}

static const struct family families[] = {
	{ "minism", "info", "Who runs where.", write_info },
	{ "minism_subnet_up", "gauge",
	  "1: every reachable port is Active and routed.", write_up },
	{ "minism_subnet_state", "stateset", "The verdict of minismctl status.",
	  write_verdict },
	{ "minism_faults", "gauge", "What is expected and missing (switch, "
	  "host, link), or slower than it was.", write_faults },
	{ "minism_paused", "gauge", "1: a person has paused sweeps.",
	  write_paused },
	{ "minism_sm_state", "stateset", "SMState of this manager.",
	  write_state },
	{ "minism_sm_priority", "gauge", "SM priority of this manager.",
	  write_priority },
	{ "minism_other_managers", "gauge", "Managers that answered in the "
	  "last election, by SMState.", write_managers },
	{ "minism_standby_warm", "gauge", "1: a standby that holds the "
	  "master's groups, services and subscriptions.", write_standby },
	{ "minism_standby_age_seconds", "gauge",
	  "How long ago the master's were so.", write_standby_age },
	{ "minism_nodes", "gauge", "Nodes of the last sweep.", write_nodes },
	{ "minism_links", "gauge",
	  "Cables of the last sweep by the state, width and speed of one end.",
	  write_links },
	{ "minism_problems", "gauge",
	  "What is not as it should be, as status lists it.", write_problems },
	{ "minism_credit_loop_channels", "gauge",
	  "Channels in credit loops of the tables in force.", write_looped },
	{ "minism_sweeps", "counter", "Heavy sweeps and repairs.",
	  write_sweeps },
	{ "minism_repairs", "counter", "Repairs, which read a part only.",
	  write_repairs },
	{ "minism_link_downs", "counter", "Active links that went down.",
	  write_downs },
	{ "minism_unsteady", "gauge", "Links that flap or are held down, and "
	  "ports that send too many traps.", write_flaps },
	{ "minism_bad_links", "gauge", "Links that are avoided, and those that "
	  "should be but are needed.", write_avoided },
	{ "minism_verified_tables", "counter", "Verdicts on tables that were "
	  "computed: safe, only if the update goes in steps, with a credit "
	  "loop, refused.", write_verdicts },
	{ "minism_host_pairs_without_path", "gauge", "Of the tables in force.",
	  write_lost },
	{ "minism_lft_blocks_written", "counter", "LFT blocks that differed "
	  "from what the switches held.", write_churn },
	{ "minism_lft_entries_changed", "counter", "Entries in them.",
	  write_entries },
	{ "minism_last_sweep_seconds", "gauge",
	  "How long the last heavy sweep took.", write_last_sweep },
	{ "minism_phase_seconds", "histogram",
	  "What sweeps spent their time on.", write_phases },
	{ "minism_mads", "counter",
	  "MADs sent, by method and attribute, retries included.",
	  write_mads },
	{ "minism_requests", "counter", "How requests ended, by class and "
	  "attribute.",
	  write_outcomes },
	{ "minism_mad_retries", "counter", "Requests sent again.",
	  write_retries },
	{ "minism_mad_window", "gauge", "SMPs that may be under way now.",
	  write_window },
	{ "minism_sa_requests", "counter", "SA requests by outcome.",
	  write_sa },
	{ "minism_sa_answers", "counter", "Answers of the SA by record.",
	  write_sa_records },
	{ "minism_sa_seconds", "histogram",
	  "From a request to the first MAD of its answer.", write_sa_seconds },
	{ "minism_port_errors", "counter",
	  "Errors since the port was first read; perfmgr in minism.conf.",
	  write_errors },
	{ "minism_sa_objects", "gauge", "What clients keep at the SA.",
	  write_sa_state },
};

void
control_metrics(const struct control_view *v, GString *out)
{
	for (size_t i = 0; i < G_N_ELEMENTS(families); i++) {
		const struct family *f = &families[i];

		sample(out, "# HELP %s %s", f->name, f->help);
		sample(out, "# TYPE %s %s", f->name, f->type);
		f->write(out, v);
	}
	sample(out, "# EOF");
}
