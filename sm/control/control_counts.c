// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The counters of the manager, as lines of a view. Those that are metrics have
 * the names of their samples in OpenMetrics, with labels; minismctl and
 * minism-web add the rest of that text (tools/openmetrics.c). Sums of durations are
 * in microseconds.
 */
#include <string.h>

#include "sm/control/request.h"
#include "sm/mad/mad.h"
#include "topology/each.h"

static void G_GNUC_PRINTF(3, 4)
count(GString *out, uint64_t n, const char *format, ...)
{
	g_autofree char *name = NULL;
	va_list args;

	va_start(args, format);
	name = g_strdup_vprintf(format, args);
	va_end(args);
	view_line_put(VIEW_COUNT, &n, name, out);
}

/* Links of one kind: a bad cable often trains to less. */
struct link_kind {
	uint8_t state;
	const struct port_width *width;
	const struct port_speed *speed;
	unsigned n;
};

static void
count_links(const struct snapshot *s, GString *out)
{
	g_autoptr(GArray) kinds = g_array_new(FALSE, FALSE,
					      sizeof(struct link_kind));

	for (uint32_t i = 0; s && i < s->n_ports; i++) {
		const struct port_info *info = &s->ports[i].info;
		const struct link_kind is = {
			info->state, port_width(info), port_speed(info), 0,
		};
		struct link_kind *k = (void *)kinds->data;
		guint at = 0;

		if (s->ports[i].peer == SNAPSHOT_NONE || s->ports[i].peer <= i)
			continue;
		while (at < kinds->len && (k[at].state != is.state ||
					   k[at].width != is.width ||
					   k[at].speed != is.speed))
			at++;
		if (at == kinds->len)
			g_array_append_val(kinds, is);
		g_array_index(kinds, struct link_kind, at).n++;
	}
	EACH_ITEM(const struct link_kind, k, kinds)
		count(out, k->n, "minism_links{state=\"%s\",width=\"%s\","
		      "speed=\"%s\"}", port_state_name(k->state),
		      k->width->name, k->speed->name);
}

static void
count_fabric(const struct control_view *v, GString *out)
{
	static const char *const verdicts[SWEEP_VERDICTS] = {
		"safe", "in steps", "credit loop", "refused",
	};
	const struct snapshot *s = v->status->subnet;
	const struct sweep_totals *t = &v->sweep->totals;

	count(out, s ? s->n_switches : 0, "minism_nodes{kind=\"switch\"}");
	count(out, s ? s->n_nodes - s->n_switches : 0,
	      "minism_nodes{kind=\"host\"}");
	count_links(s, out);
	count(out, v->status->n_sweeps, "minism_sweeps_total");
	count(out, v->status->n_repairs, "minism_repairs_total");
	count(out, v->sweep->flaps->downs, "minism_link_downs_total");
	for (unsigned i = 0; i < SWEEP_VERDICTS; i++)
		count(out, t->verdicts[i],
		      "minism_verified_tables_total{verdict=\"%s\"}",
		      verdicts[i]);
	count(out, v->status->lost_hosts, "minism_host_pairs_without_path");
	count(out, t->lft_blocks, "minism_lft_blocks_written_total");
	count(out, t->lft_entries, "minism_lft_entries_changed_total");
}

/* labels: 'phase="reading",' or "" */
static void
count_histogram(GString *out, const char *name, const char *labels,
		const char *const bounds[5], const uint64_t within[5],
		uint64_t n, int64_t us)
{
	size_t len = strlen(labels);
	g_autofree char *alone = len ?
		g_strdup_printf("{%.*s}", (int)len - 1, labels) : g_strdup("");

	for (unsigned b = 0; b < 5; b++)
		count(out, within[b], "%s_bucket{%sle=\"%s\"}", name, labels,
		      bounds[b]);
	count(out, n, "%s_bucket{%sle=\"+Inf\"}", name, labels);
	count(out, n, "%s_count%s", name, alone);
	count(out, (uint64_t)us, "%s_sum%s", name, alone);
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
count_mads(const struct mad_client *x, GString *out)
{
	static const char *const classes[] = {
		"SMP", "SA", "other",
	};
	static const char *const ends[] = {
		"answered", "refused", "timed_out", "cancelled",
	};
	const struct mad_client_stats *wire = &x->stats;

	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++)
		for (unsigned set = 0; set < 2; set++)
			if (set ? wire->sets[i] : wire->gets[i])
				count(out, set ? wire->sets[i] : wire->gets[i],
				      "minism_mads_total{method=\"%s\","
				      "attribute=\"%s\"}", set ? "Set" : "Get",
				      mad_attr_name(i));
	for (unsigned i = 0; i < MAD_CLIENT_CLASSES *
	     MAD_CLIENT_ATTRS * MAD_CLIENT_ENDS; i++) {
		unsigned end = i % MAD_CLIENT_ENDS;
		unsigned attr = i / MAD_CLIENT_ENDS % MAD_CLIENT_ATTRS;
		unsigned c = i / MAD_CLIENT_ENDS / MAD_CLIENT_ATTRS;
		g_autofree char *name = NULL;

		if (!x->ended[c][attr][end])
			continue;
		name = attr_name(c, attr);
		count(out, x->ended[c][attr][end], "minism_requests_total{"
		      "class=\"%s\",attribute=\"%s\",outcome=\"%s\"}",
		      classes[c], name, ends[end]);
	}
	count(out, wire->sent, "sent");
	count(out, wire->sent_set, "sets");
	count(out, wire->timed_out, "unanswered");
	count(out, wire->retried, "minism_mad_retries_total");
	count(out, x->window.size, "minism_mad_window");
}

static void
count_sa(const struct control_view *v, GString *out)
{
	static const char *const bounds[SA_SERVER_BUCKETS] = {
		"0.0001", "0.001", "0.01", "0.1", "1.0",
	};
	const struct sa_server_stats *d = v->desk;
	const struct sa_stats *sa = &v->sa_stats;

	count(out, d->taken, "taken");
	count(out, d->waiting, "waiting");
	count(out, d->reports, "reports");
	count(out, d->notices_dropped, "notices_dropped");
	count(out, d->answered, "minism_sa_requests_total{outcome="
	      "\"answered\"}");
	count(out, d->busy, "minism_sa_requests_total{outcome=\"busy\"}");
	count(out, d->dropped, "minism_sa_requests_total{outcome=\"dropped\"}");
	for (unsigned i = 0; i < SA_SERVER_RECORDS; i++) {
		g_autofree char *name = i ? attr_name(MAD_CLIENT_SA, i) :
			g_strdup("other");

		if (d->records[i])
			count(out, d->records[i],
			      "minism_sa_answers_total{record=\"%s\"}", name);
	}
	count_histogram(out, "minism_sa_seconds", "", bounds, d->within,
			d->answered, d->us);
	count(out, sa->n_groups, "minism_sa_objects{kind=\"group\"}");
	count(out, sa->n_members, "minism_sa_objects{kind=\"member\"}");
	count(out, sa->n_services, "minism_sa_objects{kind=\"service\"}");
	count(out, sa->n_subscriptions,
	      "minism_sa_objects{kind=\"subscription\"}");
}

void
control_put_counts(const struct control_view *v, GString *out)
{
	static const char *const bounds[SWEEP_BUCKETS] = {
		"0.001", "0.01", "0.1", "1.0", "10.0",
	};
	unsigned n[SM_STATE_MASTER + 1] = { 0 };

	EACH_ITEM(const struct election_peer, peer, v->peers)
		n[peer->info.state & SM_STATE_MASTER]++;
	for (unsigned i = SM_STATE_NOT_ACTIVE; i <= SM_STATE_MASTER; i++) {
		count(out, v->sweep->self.state == i,
		      "minism_sm_state{minism_sm_state=\"%s\"}",
		      sm_state_name(i));
		count(out, n[i], "minism_other_managers{state=\"%s\"}",
		      sm_state_name(i));
	}
	count_fabric(v, out);
	/* the phases of rest and suspension are left out */
	for (unsigned i = SWEEP_WAITING; i < SWEEP_SUSPENDED; i++) {
		const struct sweep_phase *p = &v->sweep->phases[i];
		g_autofree char *phase = g_strdup_printf("phase=\"%s\",",
			sweep_state_names[i]);

		count_histogram(out, "minism_phase_seconds", phase, bounds,
				p->within, p->n, p->us);
	}
	count_mads(v->sweep->x, out);
	count_sa(v, out);
	count(out, v->mcast->stats.computed, "computed");
	count(out, v->mcast->stats.written, "written");
	count(out, v->mcast->stats.failed, "failed");
	count(out, v->rules->partitions->len, "partitions");
}
