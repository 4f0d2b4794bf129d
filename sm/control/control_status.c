// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `status`: the state of the subnet, and the last sweeps.
 *
 * The first lines say whether an operator has to act. All problems follow in
 * full, a credit loop channel by channel; counters come last. The JSON has the
 * same facts under keys that are stable: minismctl(8) lists them.
 *
 * The verdict follows from the end of the last sweep. If a sweep failed, the
 * results of the previous one may still be true, and stay in the answer.
 */
#include "sm/control/request.h"

#include <inttypes.h>

#include "topology/report.h"

enum control_code
control_verdict(const struct control_view *v, const char **name)
{
	static const enum control_code codes[] = {
		[SWEEP_END_PLANNED] = CONTROL_DONE,
		[SWEEP_END_UP] = CONTROL_DONE,
		[SWEEP_END_NOT_UP] = CONTROL_NOT_UP,
		[SWEEP_END_STANDBY] = CONTROL_STANDBY,
		[SWEEP_END_FAILED] = CONTROL_FAILED,
	};
	const struct status_sweep *last = status_last(v->status, 0);
	enum sweep_end end = last ? last->end : SWEEP_END_NOT_UP;

	if (end == SWEEP_END_UP && v->unreached && v->unreached->len)
		end = SWEEP_END_NOT_UP;
	*name = last ? status_end_name(end) : "starting";
	if (end != SWEEP_END_UP || !v->faults || !v->faults->len)
		return codes[end];
	*name = "degraded";
	return CONTROL_DEGRADED;
}

#define INDENT	"           "
#define FAULTS_SHOWN	40u

static void
put_span(struct text_report *r, const char *key, int64_t us, const char *after)
{
	int64_t s = MAX(us, 0) / G_USEC_PER_SEC;

	if (r->as_json) {
		report_ms(r, key, us);
		return;
	}
	if (s >= 86400)
		report_say(r, "%" PRId64 " d ", s / 86400);
	if (s >= 3600)
		report_say(r, "%" PRId64 " h ", s / 3600 % 24);
	if (s >= 60)
		report_say(r, "%" PRId64 " min ", s / 60 % 60);
	report_say(r, "%" PRId64 " s%s", s % 60, after);
}

/* The SA state that this standby holds for a takeover. */
static void
put_standby(const struct control_view *v, struct text_report *r)
{
	const struct standby_status *b = &v->standby;

	report_open(r, "standby", '{');
	report_bool(r, "warm", b->warm);
	if (b->warm) {
		report_say(r, "warm:      ");
		report_number(r, "groups", b->stats.n_groups, " groups with ");
		report_number(r, "members", b->stats.n_members, " members, ");
		report_number(r, "services", b->stats.n_services,
			      " services, ");
		report_number(r, "subscriptions", b->stats.n_subscriptions,
			      " subscriptions, as of ");
		put_span(r, "as_of_ms", v->now - b->as_of, " ago\n");
	}
	if (b->follows && (b->why || !b->warm))
		report_say(r, "%s", b->warm ? INDENT "WARNING: not read since: "
			   : "NOT WARM:  ");
	report_text(r, "why", b->why ? b->why : b->follows && !b->warm ?
		    "nothing is read yet" : NULL, "\n");
	report_close(r, '}');
}

static void
put_head(const struct control_view *v, struct text_report *r)
{
	const char *master = v->status->master;

	report_say(r, "minism on ");
	report_text(r, "port", v->port_name, " (");
	report_hex(r, "guid", v->port_guid, 16, "), running for ");
	put_span(r, "running_ms", v->now - v->since, "\nrole:      ");
	report_text(r, "role", sm_state_name(v->self.state), ", priority ");
	report_number(r, "priority", v->self.priority,
		      master ? "; the master is on " : "");
	report_text(r, "master", master, "");
	report_say(r, "\n");
	if (v->sweep && v->sweep->params.guest && v->self.state == SM_STATE_STANDBY)
		report_say(r, "guest:     no priority is configured, so the "
			   "fabric is left to that master while it lives; "
			   "minismctl takeover\n");
	report_bool(r, "guest", v->sweep && v->sweep->params.guest);
	put_standby(v, r);
	report_lines(r, "other_managers", v->rivals, "WARNING:   ");
	if (v->paused)
		report_say(r, "PAUSED:    no sweeps, and nothing is "
			   "programmed, until minismctl resume\n");
	report_bool(r, "paused", v->paused);
}

/* Nodes and links that are missing or slow. */
static void
put_faults(const GPtrArray *faults, struct text_report *r)
{
	guint n = faults ? faults->len : 0;

	report_open(r, "faults", '[');
	for (guint i = 0; i < n && (i < FAULTS_SHOWN || r->as_json); i++) {
		const struct expected_fault *f = faults->pdata[i];
		g_autoptr(GDateTime) since =
			g_date_time_new_from_unix_local(f->since);
		g_autofree char *when = since ?
			g_date_time_format(since, "%Y-%m-%d %H:%M:%S") : NULL;

		report_open(r, NULL, '{');
		report_say(r, INDENT "%s", f->kind == EXPECTED_SLOW ? "" :
			   "missing ");
		report_text(r, "kind", expected_kind_names[f->kind], " ");
		report_text(r, "name", f->name, *f->text ? ", " : "");
		report_text(r, "text", f->text, "");
		report_hex(r, "guid", f->guid, 16, NULL);
		report_say(r, ", since %s\n", when ? when : "?");
		report_number(r, "since", (uint64_t)f->since, NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
	if (n > FAULTS_SHOWN)
		report_say(r, INDENT "and %u more, which --json has\n",
			   n - FAULTS_SHOWN);
}

/* Links that went down within the hour, and babbling ports. */
static void
put_flaps(const struct control_view *v, struct text_report *r)
{
	static const char *const kinds[][2] = {
		{ "held", "held down: " }, { "flapping", "flapping:  " },
		{ "babbling", "babbling:  " }, { "went down", "went down: " },
	};
	g_autoptr(GPtrArray) flaps = NULL;

	if (v->sweep)
		flaps = flaps_list(v->sweep->flaps, transport_now(v->sweep->t));
	report_number(r, "link_downs", v->sweep ? v->sweep->flaps->downs : 0,
		      NULL);
	report_open(r, "flaps", '[');
	for (guint i = 0; flaps && i < flaps->len &&
	     (i < FAULTS_SHOWN || r->as_json); i++) {
		const struct flap *f = flaps->pdata[i];
		const char *const *kind = kinds[f->held ? 0 : f->flaps ? 1 :
						f->babbles ? 2 : 3];

		report_open(r, NULL, '{');
		report_text(r, "kind", kind[0], NULL);
		report_say(r, "%s", kind[1]);
		report_text(r, "name", f->name, "; down ");
		report_number(r, "downs", f->downs, " times and ");
		report_number(r, "traps", f->traps,
			      " traps within an hour, the last ");
		put_span(r, "last_ms", v->now - f->last, " ago");
		if (f->held) {
			report_say(r, "; used again in ");
			put_span(r, "held_ms", f->held_until - v->now, "");
		}
		report_say(r, "\n");
		report_close(r, '}');
	}
	report_close(r, ']');
	if (flaps && flaps->len > FAULTS_SHOWN)
		report_say(r, INDENT "and %u more, which --json has\n",
			   flaps->len - FAULTS_SHOWN);
}

static void
put_verdict(const struct control_view *v, struct text_report *r)
{
	const struct status *s = v->status;
	g_autofree char *verdict = NULL;
	const char *name;

	control_verdict(v, &name);
	verdict = g_ascii_strup(name, -1);
	report_say(r, "%s", verdict);
	report_text(r, "verdict", name, NULL);
	if (s->subnet) {
		report_open(r, "subnet", '{');
		report_say(r, ": ");
		report_number(r, "switches", s->subnet->n_switches,
			      " switches, ");
		report_number(r, "hosts", s->n_hosts, " hosts, ");
		report_number(r, "active", s->n_active, " of ");
		report_number(r, "links", s->n_links,
			      " links Active, LIDs to ");
		report_number(r, "top_lid", s->top, "");
		report_close(r, '}');
	}
}

static void
put_routing(const struct status *s, struct text_report *r)
{
	if (!s->engine)
		return;
	report_open(r, "routing", '{');
	report_say(r, "routing:   ");
	report_text(r, "engine", s->engine, ": ");
	report_text(r, "reason", s->reason, "\n");
	report_text(r, "safety", s->safety == CHOICE_LOOP ?
		    "credit loop" : "safe", NULL);
	report_lines(r, "candidates", s->compared, INDENT);
	report_lines(r, "notes", s->notes, INDENT);
	if (s->loop)
		report_say(r, "WARNING:   CREDIT LOOP: traffic can stop for "
			   "good; ");
	report_number(r, "looped", s->n_looped, s->loop ?
		      " channels are in loops, here is one:\n" : NULL);
	report_open(r, "loop", '[');
	for (guint i = 0; s->loop && i < s->loop->len; i++) {
		const struct status_channel *c =
			&g_array_index(s->loop, struct status_channel, i);

		report_open(r, NULL, '{');
		report_say(r, INDENT "'");
		report_text(r, "switch", c->desc, "' (");
		report_hex(r, "guid", c->guid, 16, ") port ");
		report_number(r, "port", c->port, ", with packets to LID ");
		report_number(r, "lid", c->lid, ", waits for\n");
		report_close(r, '}');
	}
	report_close(r, ']');
	if (s->loop)
		report_say(r, INDENT "the first\n");
	report_close(r, '}');
}

static void
put_sweeps(const struct control_view *v, struct text_report *r)
{
	const struct status_sweep *sweep;

	report_say(r, "sweeps:    now ");
	report_text(r, "doing", sweep_state_names[v->doing], "; ");
	report_number(r, "n_sweeps", v->status->n_sweeps,
		      " in all, of them repairs ");
	report_number(r, "n_repairs", v->status->n_repairs, "\n");
	report_open(r, "sweeps", '[');
	for (unsigned i = 0; (sweep = status_last(v->status, i)); i++) {
		report_open(r, NULL, '{');
		report_say(r, INDENT);
		put_span(r, "ago_ms", v->now - sweep->at, " ago: ");
		report_say(r, "%s, took %.1f %s (%s)\n",
			   status_end_name(sweep->end),
			   (double)sweep->took_us / 1000, v->ms,
			   sweep->causes ? sweep->causes : "?");
		report_ms(r, "took_ms", sweep->took_us);
		report_text(r, "causes", sweep->causes, NULL);
		report_text(r, "end", status_end_name(sweep->end), NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
}

static void
put_counters(const struct control_view *v, struct text_report *r)
{
	const struct mad_client_stats *wire = &v->client->stats;
	const char *source = v->rules->source;

	report_open(r, "mads", '{');
	report_say(r, "MADs:      ");
	report_number(r, "sent", wire->sent, " sent (");
	report_number(r, "sets", wire->sent_set, " Sets), ");
	report_number(r, "repeated", wire->retried, " repeated, ");
	report_number(r, "unanswered", wire->timed_out,
		      " without an answer; window ");
	report_number(r, "window", v->client->window.size, "\n");
	report_close(r, '}');
	report_open(r, "sa", '{');
	report_say(r, "SA:        ");
	report_number(r, "requests", v->desk->taken, " requests, ");
	report_number(r, "answered", v->desk->answered, " answered, ");
	report_number(r, "busy", v->desk->busy, " turned away, ");
	report_number(r, "dropped", v->desk->dropped, " dropped; ");
	report_number(r, "waiting", v->desk->waiting, " waiting\n" INDENT);
	report_number(r, "groups", v->sa_stats.n_groups, " groups with ");
	report_number(r, "members", v->sa_stats.n_members, " members, ");
	report_number(r, "services", v->sa_stats.n_services, " services, ");
	report_number(r, "subscriptions", v->sa_stats.n_subscriptions,
		      " subscriptions; ");
	report_number(r, "reports", v->desk->reports, " Reports\n");
	report_close(r, '}');
	report_open(r, "multicast", '{');
	report_say(r, "multicast: computed ");
	report_number(r, "computed", v->multicast->computed, " times, ");
	report_number(r, "written", v->multicast->written, " blocks written, ");
	report_number(r, "failed", v->multicast->failed, " failed\n");
	report_close(r, '}');
	report_open(r, "partitions", '{');
	report_say(r, "partitions: ");
	report_number(r, "count", v->rules->partitions->len, ", from ");
	report_text(r, "source", source, "");
	report_say(r, "%s\n", source ? "" : "no file");
	report_close(r, '}');
}

char *
control_headline(const struct control_view *v)
{
	struct text_report r = { .out = g_string_new(NULL) };

	put_verdict(v, &r);
	return g_string_free(r.out, FALSE);
}

void
control_status(struct control_request *q)
{
	const struct control_view *v = &q->v;
	const struct status *s = v->status;
	struct text_report *r = &q->out;
	const char *name;

	report_open(r, NULL, '{');
	put_head(v, r);
	report_say(r, "subnet:    ");
	put_verdict(v, r);
	report_say(r, "\n%s", s->error ? INDENT : "");
	report_text(r, "error", s->error, "; the fabric was left as it was\n");
	report_lines(r, "complaints", s->complaints, INDENT);
	report_lines(r, "multicast_unreached", v->unreached, INDENT);
	put_faults(v->faults, r);
	report_lines(r, "warnings", s->warnings, INDENT "WARNING: ");
	report_text(r, "log_level", log_level_names[v->level], NULL);
	put_flaps(v, r);
	control_put_avoided(v, r);
	put_routing(s, r);
	put_sweeps(v, r);
	put_counters(v, r);
	request_close(q);
	q->code = control_verdict(v, &name);
}
