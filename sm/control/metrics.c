// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `metrics`: OpenMetrics text (version 1.0), for Prometheus'
 * node_exporter (textfile) or a script that serves it.
 *
 * family() writes the head of a family (name, type, help), and the samples
 * follow; number() is a whole one that has a single sample.
 */
#include <string.h>

#include "config.h"
#include "sm/control/request.h"
#include "sm/mad/mad.h"

static void G_GNUC_PRINTF(2, 3)
sample(GString *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(out, format, args);
	va_end(args);
	g_string_append_c(out, '\n');
}

/* The text of a label: UTF-8; backslash, quote and newline are escaped. */
static char *
label(const char *given)
{
	g_autofree char *valid = g_utf8_make_valid(given, -1);
	GString *out = g_string_new(NULL);

	for (const char *text = valid; *text; text++)
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
family(GString *out, const char *name, const char *type,
       const char *help)
{
	sample(out, "# HELP %s %s", name, help);
	sample(out, "# TYPE %s %s", name, type);
}

static void
number(GString *out, const char *name, const char *type, const char *help,
       uint64_t n)
{
	family(out, name, type, help);
	sample(out, "%s%s " NUMBER, name,
	       strcmp(type, "counter") ? "" : "_total", n);
}

static void
write_subnet(GString *out, const struct control_view *v)
{
	static const char *const verdicts[] = {
		"starting", "up", "degraded", "not up", "standby", "failed",
	};
	const struct status_sweep *last = status_last(v->status, 0);
	g_autofree char *port = label(v->port_name ? v->port_name : "");
	unsigned n[EXPECTED_KINDS] = { 0 };
	const char *is;

	family(out, "minism", "info", "Who runs where.");
	sample(out, "minism_info{port=\"%s\",guid=\"0x%016" G_GINT64_MODIFIER
	       "x\",version=\"%s\"} 1", port, v->port_guid, PACKAGE_VERSION);
	number(out, "minism_subnet_up", "gauge",
	       "1: every reachable port is Active and routed.",
	       last && last->end == SWEEP_END_UP);
	family(out, "minism_subnet_state", "stateset",
	     "The verdict of minismctl status.");
	control_verdict(v, &is);
	for (size_t i = 0; i < G_N_ELEMENTS(verdicts); i++)
		sample(out, "minism_subnet_state{minism_subnet_state=\"%s\"} "
		       "%u", verdicts[i], strcmp(verdicts[i], is) == 0);
	family(out, "minism_faults", "gauge", "What is expected and missing "
	     "(switch, host, link), or slower than it was.");
	for (guint i = 0; v->faults && i < v->faults->len; i++)
		n[((struct expected_fault *)v->faults->pdata[i])->kind]++;
	for (unsigned kind = 0; kind < EXPECTED_KINDS; kind++)
		sample(out, "minism_faults{kind=\"%s\"} %u",
		       expected_kind_names[kind], n[kind]);
	number(out, "minism_paused", "gauge", "1: a person has paused sweeps.",
	       v->paused);
}

static void
write_managers(GString *out, const struct control_view *v)
{
	char age[G_ASCII_DTOSTR_BUF_SIZE];
	unsigned n[SM_STATE_MASTER + 1] = { 0 };

	family(out, "minism_sm_state", "stateset", "SMState of this manager.");
	for (unsigned i = SM_STATE_NOT_ACTIVE; i <= SM_STATE_MASTER; i++)
		sample(out, "minism_sm_state{minism_sm_state=\"%s\"} %u",
		       sm_state_name(i), v->self.state == i);
	number(out, "minism_sm_priority", "gauge",
	       "SM priority of this manager.", v->self.priority);
	family(out, "minism_other_managers", "gauge",
	     "Managers that answered in the last election, by SMState.");
	for (guint i = 0; v->peers && i < v->peers->len; i++)
		n[g_array_index(v->peers, struct election_peer, i).info.state &
		  SM_STATE_MASTER]++;
	for (unsigned i = SM_STATE_NOT_ACTIVE; i <= SM_STATE_MASTER; i++)
		sample(out, "minism_other_managers{state=\"%s\"} %u",
		       sm_state_name(i), n[i]);
	number(out, "minism_standby_warm", "gauge", "1: a standby that holds "
	       "the master's groups, services and subscriptions.",
	       v->standby.warm);
	family(out, "minism_standby_age_seconds", "gauge",
	     "How long ago the master's were so.");
	if (v->standby.warm)
		sample(out, "minism_standby_age_seconds %s",
		       seconds(v->now - v->standby.as_of, age));
}

/* Links by width and speed, since a bad cable often trains to less. */
static void
write_fabric(GString *out, const struct control_view *v)
{
	const struct status *status = v->status;
	const struct snapshot *s = status->subnet;
	g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash,
		g_str_equal, g_free, NULL);
	g_autoptr(GList) keys = NULL;

	family(out, "minism_nodes", "gauge", "Nodes of the last sweep.");
	sample(out, "minism_nodes{kind=\"switch\"} %u", s ? s->n_switches : 0);
	sample(out, "minism_nodes{kind=\"host\"} %u",
	       s ? s->n_nodes - s->n_switches : 0);
	family(out, "minism_links", "gauge",
	     "Cables of the last sweep by the state, width and speed of one "
	     "end.");
	for (uint32_t i = 0; s && i < s->n_ports; i++) {
		const struct port_info *info = &s->ports[i].info;
		uint32_t peer = s->ports[i].peer;
		char *key;

		if (peer == SNAPSHOT_NONE || peer < i)
			continue;
		key = g_strdup_printf("state=\"%s\",width=\"%s\",speed=\"%s\"",
				      port_state_name(info->state),
				      port_width(info)->name,
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
	number(out, "minism_problems", "gauge",
	       "What is not as it should be, as status lists it.",
	       status->complaints ? status->complaints->len : 0);
	number(out, "minism_credit_loop_channels", "gauge",
	       "Channels in credit loops of the tables in force.",
	       status->n_looped);
	number(out, "minism_sweeps", "counter", "Heavy sweeps and repairs.",
	       status->n_sweeps);
	number(out, "minism_repairs", "counter",
	       "Repairs, which read a part only.", status->n_repairs);
}

static void
write_bad_links(GString *out, const struct control_view *v)
{
	const GPtrArray *links = v->sweep ? v->sweep->avoided : NULL;
	g_autoptr(GPtrArray) flaps = NULL;
	unsigned flapping = 0, held = 0, babbling = 0;
	unsigned n[AVOID_TOO_MANY + 1] = { 0 };

	if (v->sweep)
		flaps = flaps_list(v->sweep->flaps, transport_now(v->sweep->t));
	for (guint i = 0; flaps && i < flaps->len; i++) {
		const struct flap *f = flaps->pdata[i];

		flapping += f->flaps;
		held += f->held;
		babbling += f->babbles;
	}
	number(out, "minism_link_downs", "counter",
	       "Active links that went down.",
	       v->sweep ? v->sweep->flaps->downs : 0);
	family(out, "minism_unsteady", "gauge", "Links that flap or are held "
	     "down, and ports that send too many traps.");
	sample(out, "minism_unsteady{kind=\"flapping\"} %u", flapping);
	sample(out, "minism_unsteady{kind=\"held\"} %u", held);
	sample(out, "minism_unsteady{kind=\"babbling\"} %u", babbling);
	family(out, "minism_bad_links", "gauge", "Links that are avoided, and "
	     "those that should be but are needed.");
	for (guint i = 0; links && i < links->len; i++)
		n[((struct avoid_link *)links->pdata[i])->verdict]++;
	sample(out, "minism_bad_links{routing=\"avoided\"} %u", n[AVOID_DONE]);
	sample(out, "minism_bad_links{routing=\"used\"} %u",
	       n[AVOID_NEEDED] + n[AVOID_TOO_MANY]);
}

static void
write_tables(GString *out, const struct control_view *v)
{
	static const char *const verdicts[] = {
		"safe", "in steps", "credit loop", "refused",
	};
	const struct sweep_totals *t = v->sweep ? &v->sweep->totals : NULL;

	family(out, "minism_verified_tables", "counter", "Verdicts on tables "
	     "that were computed: safe, only if the update goes in steps, "
	     "with a credit loop, refused.");
	for (unsigned i = 0; t && i < SWEEP_VERDICTS; i++)
		sample(out, "minism_verified_tables_total{verdict=\"%s\"} "
		       NUMBER, verdicts[i], t->verdicts[i]);
	number(out, "minism_host_pairs_without_path", "gauge",
	       "Of the tables in force.", v->status->lost_hosts);
	number(out, "minism_lft_blocks_written", "counter", "LFT blocks that "
	       "differed from what the switches held.", t ? t->lft_blocks : 0);
	number(out, "minism_lft_entries_changed", "counter",
	       "Entries in them.", t ? t->lft_entries : 0);
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

/* The phases of rest and suspension are left out. */
static void
write_durations(GString *out, const struct control_view *v)
{
	static const char *const bounds[SWEEP_BUCKETS] = {
		"0.001", "0.01", "0.1", "1.0", "10.0",
	};
	const struct status_sweep *last = status_last(v->status, 0);
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	family(out, "minism_last_sweep_seconds", "gauge",
	     "How long the last heavy sweep took.");
	if (last)
		sample(out, "minism_last_sweep_seconds %s",
		       seconds(last->took_us, text));
	family(out, "minism_phase_seconds", "histogram",
	     "What sweeps spent their time on.");
	for (unsigned i = SWEEP_WAITING; v->phases && i < SWEEP_SUSPENDED;
	     i++) {
		const struct sweep_phase *p = &v->phases[i];
		g_autofree char *phase = g_strdup_printf("phase=\"%s\",",
			sweep_state_names[i]);

		write_histogram(out, "minism_phase_seconds", phase,
				bounds, p->within, p->n, p->us);
	}
}

/* g_free. An attribute without a name is printed as its number. */
static char *
attr_name(enum mad_client_class class, unsigned attr)
{
	const char *name = class == MAD_CLIENT_SMP ? mad_attr_name(attr) :
		class == MAD_CLIENT_SA ? sa_attr_name(attr) : "?";

	return strcmp(name, "?") ? g_strdup(name) :
		g_strdup_printf("0x%02x", attr);
}

static void
write_mads(GString *out, const struct control_view *v)
{
	static const char *const classes[] = {
		"SMP", "SA", "other",
	};
	static const char *const ends[] = {
		"answered", "refused", "timed_out", "cancelled",
	};
	const struct mad_client *x = v->client;

	family(out, "minism_mads", "counter",
	     "MADs sent, by method and attribute, retries included.");
	for (unsigned i = 0; x && i < MAD_CLIENT_ATTRS; i++) {
		if (x->stats.gets[i])
			sample(out, "minism_mads_total{method=\"Get\","
			       "attribute=\"%s\"} " NUMBER, mad_attr_name(i),
			       x->stats.gets[i]);
		if (x->stats.sets[i])
			sample(out, "minism_mads_total{method=\"Set\","
			       "attribute=\"%s\"} " NUMBER, mad_attr_name(i),
			       x->stats.sets[i]);
	}
	family(out, "minism_requests", "counter",
	     "How requests ended, by class and attribute.");
	for (unsigned i = 0; x && i < MAD_CLIENT_CLASSES *
	     MAD_CLIENT_ATTRS * MAD_CLIENT_ENDS; i++) {
		unsigned end = i % MAD_CLIENT_ENDS;
		unsigned attr = i / MAD_CLIENT_ENDS % MAD_CLIENT_ATTRS;
		unsigned c = i / MAD_CLIENT_ENDS / MAD_CLIENT_ATTRS;
		uint64_t n = x->ended[c][attr][end];
		g_autofree char *name = NULL;

		if (!n)
			continue;
		name = attr_name(c, attr);
		sample(out, "minism_requests_total{class=\"%s\","
		       "attribute=\"%s\",outcome=\"%s\"} " NUMBER,
		       classes[c], name, ends[end], n);
	}
	number(out, "minism_mad_retries", "counter", "Requests sent again.",
	       x ? x->stats.retried : 0);
	number(out, "minism_mad_window", "gauge",
	       "SMPs that may be under way now.", x ? x->window.size : 0);
}

static void
write_sa(GString *out, const struct control_view *v)
{
	static const char *const bounds[SA_SERVER_BUCKETS] = {
		"0.0001", "0.001", "0.01", "0.1", "1.0",
	};
	const struct sa_server_stats *d = v->desk;

	family(out, "minism_sa_requests", "counter", "SA requests by outcome.");
	sample(out, "minism_sa_requests_total{outcome=\"answered\"} " NUMBER,
	       d ? d->answered : 0);
	sample(out, "minism_sa_requests_total{outcome=\"busy\"} " NUMBER,
	       d ? d->busy : 0);
	sample(out, "minism_sa_requests_total{outcome=\"dropped\"} " NUMBER,
	       d ? d->dropped : 0);
	family(out, "minism_sa_answers", "counter",
	     "Answers of the SA by record.");
	for (unsigned i = 0; d && i < SA_SERVER_RECORDS; i++) {
		g_autofree char *name = i ? attr_name(MAD_CLIENT_SA, i) :
			g_strdup("other");

		if (d->records[i])
			sample(out, "minism_sa_answers_total{record=\"%s\"} "
			       NUMBER, name, d->records[i]);
	}
	family(out, "minism_sa_seconds", "histogram",
	     "From a request to the first MAD of its answer.");
	if (d)
		write_histogram(out, "minism_sa_seconds", "", bounds,
				d->within, d->answered, d->us);
}

void
control_metrics(struct control_request *r)
{
	GString *out = r->out.out;
	const struct sa_stats *sa = &r->v.sa_stats;

	write_subnet(out, &r->v);
	write_managers(out, &r->v);
	write_fabric(out, &r->v);
	write_bad_links(out, &r->v);
	write_tables(out, &r->v);
	write_durations(out, &r->v);
	write_mads(out, &r->v);
	write_sa(out, &r->v);
	family(out, "minism_sa_objects", "gauge",
	     "What clients keep at the SA.");
	sample(out, "minism_sa_objects{kind=\"group\"} %u", sa->n_groups);
	sample(out, "minism_sa_objects{kind=\"member\"} %u", sa->n_members);
	sample(out, "minism_sa_objects{kind=\"service\"} %u", sa->n_services);
	sample(out, "minism_sa_objects{kind=\"subscription\"} %u",
	       sa->n_subscriptions);
	sample(out, "# EOF");
}
