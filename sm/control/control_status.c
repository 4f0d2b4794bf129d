// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The answer to `status`: how the subnet is, and what was done lately.
 *
 * The first lines say whether a person has to do something. What is not as it
 * should be follows in full, the circle of a credit loop channel by channel;
 * counters come last. The JSON has the same facts under keys that stay:
 * minismctl(8) lists them.
 *
 * What is "up" is told from the end of the last sweep: of a sweep that failed,
 * what was known of the fabric before may still be true, but nobody knows.
 */
#include "sm/control/control.h"

#include <inttypes.h>

#include "topology/json.h"

static bool
all_groups_are_whole(const struct control_view *v)
{
	return !v->unreached || !v->unreached->len;
}

static enum control_code
judge(const struct control_view *v)
{
	const struct status_sweep *last = status_last(v->status, 0);

	if (!last)
		return CONTROL_NOT_UP;
	switch (last->end) {
	case SWEEP_END_UP:
		return all_groups_are_whole(v) ? CONTROL_DONE : CONTROL_NOT_UP;
	case SWEEP_END_STANDBY:
	case SWEEP_END_PLANNED:
		return CONTROL_DONE;
	case SWEEP_END_NOT_UP:
	case SWEEP_END_FAILED:
		break;
	}
	return CONTROL_NOT_UP;
}

/* "up", "not up", "standby", "failed", or before the first end "starting" */
static const char *
verdict_name(const struct control_view *v)
{
	const struct status_sweep *last = status_last(v->status, 0);

	if (!last)
		return "starting";
	return status_end_name(last->end != SWEEP_END_UP ||
			       all_groups_are_whole(v) ? last->end :
			       SWEEP_END_NOT_UP);
}

static const char *
safety_name(enum choice_safety safety)
{
	switch (safety) {
	case CHOICE_SAFE:
	case CHOICE_DRAIN:
		return "safe";
	case CHOICE_LOOP:
		break;
	}
	return "credit loop";
}

/* --- text --- */

static void
put_span(GString *out, int64_t us)
{
	int64_t s = MAX(us, 0) / G_USEC_PER_SEC;

	if (s >= 86400)
		g_string_append_printf(out, "%" PRId64 " d ", s / 86400);
	if (s >= 3600)
		g_string_append_printf(out, "%" PRId64 " h ", s / 3600 % 24);
	if (s >= 60)
		g_string_append_printf(out, "%" PRId64 " min ",
				       s / 60 % 60);
	g_string_append_printf(out, "%" PRId64 " s", s % 60);
}

static void
put_head(const struct control_view *v, GString *out)
{
	g_string_append_printf(out, "minism on %s (0x%016" PRIx64
			       "), running for ", v->port_name,
			       v->port_guid);
	put_span(out, v->now - v->since);
	g_string_append_printf(out, "\nrole:      %s, priority %u",
			       sm_state_name(v->self.state),
			       v->self.priority);
	if (v->status->master)
		g_string_append_printf(out, "; the master is on %s",
				       v->status->master);
	g_string_append_c(out, '\n');
	for (guint i = 0; v->rivals && i < v->rivals->len; i++)
		g_string_append_printf(out, "WARNING:   %s\n",
				       (char *)v->rivals->pdata[i]);
}

static void
put_fabric(const struct control_view *v, GString *out)
{
	const struct status *s = v->status;
	g_autofree char *verdict = g_ascii_strup(verdict_name(v), -1);

	g_string_append_printf(out, "subnet:    %s", verdict);
	if (s->subnet)
		g_string_append_printf(out, ": %u switches, %u hosts, %u of "
				       "%u links Active, LIDs to %u",
				       s->subnet->n_switches, s->n_hosts,
				       s->n_active, s->n_links, s->top);
	g_string_append_c(out, '\n');
	if (s->error)
		g_string_append_printf(out, "           %s; the fabric was "
				       "left as it was\n", s->error);
	for (guint i = 0; s->complaints && i < s->complaints->len; i++)
		g_string_append_printf(out, "           %s\n",
				       (char *)s->complaints->pdata[i]);
	for (guint i = 0; v->unreached && i < v->unreached->len; i++)
		g_string_append_printf(out, "           %s\n",
				       (char *)v->unreached->pdata[i]);
	for (guint i = 0; s->warnings && i < s->warnings->len; i++)
		g_string_append_printf(out, "           WARNING: %s\n",
				       (char *)s->warnings->pdata[i]);
}

static void
put_routing(const struct status *s, GString *out)
{
	if (!s->engine)
		return;
	g_string_append_printf(out, "routing:   %s: %s\n", s->engine,
			       s->reason);
	for (guint i = 0; i < s->compared->len; i++)
		g_string_append_printf(out, "           %s\n",
				       (char *)s->compared->pdata[i]);
	for (guint i = 0; i < s->notes->len; i++)
		g_string_append_printf(out, "           %s\n",
				       (char *)s->notes->pdata[i]);
	if (!s->loop)
		return;
	g_string_append_printf(out, "WARNING:   CREDIT LOOP: traffic can stop "
			       "for good; %u channels are in loops, here is "
			       "one:\n", s->n_looped);
	for (guint i = 0; i < s->loop->len; i++) {
		const struct status_channel *c =
			&g_array_index(s->loop, struct status_channel, i);

		g_string_append_printf(out, "           '%s' (0x%016" PRIx64
				       ") port %u, with packets to LID %u, "
				       "waits for\n", c->desc, c->guid,
				       c->port, c->lid);
	}
	g_string_append(out, "           the first\n");
}

static void
put_sweeps(const struct control_view *v, GString *out)
{
	const struct status_sweep *sweep;

	g_string_append_printf(out, "sweeps:    now %s; %" PRIu64
			       " heavy ones\n", sweep_state_name(v->doing),
			       v->status->n_sweeps);
	for (unsigned i = 0; (sweep = status_last(v->status, i)); i++) {
		g_string_append(out, "           ");
		put_span(out, v->now - sweep->at);
		g_string_append_printf(out, " ago: %s, took %.1f %s (%s)\n",
				       status_end_name(sweep->end),
				       (double)sweep->took_us / 1000, v->ms,
				       sweep->causes ? sweep->causes : "?");
	}
}

static void
put_counters(const struct control_view *v, GString *out)
{
	g_string_append_printf(out, "MADs:      %" PRIu64 " sent (%" PRIu64
			       " Sets), %" PRIu64 " repeated, %" PRIu64
			       " without an answer; window %u\n",
			       v->wire->sent, v->wire->sent_set,
			       v->wire->retried, v->wire->timed_out,
			       v->wire->window);
	g_string_append_printf(out, "SA:        %" PRIu64 " requests, %" PRIu64
			       " answered, %" PRIu64 " turned away, %" PRIu64
			       " dropped; %u waiting\n", v->desk->taken,
			       v->desk->answered, v->desk->busy,
			       v->desk->dropped, v->desk->waiting);
	g_string_append_printf(out, "           %u groups with %u members, %u "
			       "services, %u subscriptions; %" PRIu64
			       " Reports\n", v->sa.n_groups, v->sa.n_members,
			       v->sa.n_services, v->sa.n_subscriptions,
			       v->desk->reports);
	g_string_append_printf(out, "multicast: computed %" PRIu64 " times, %"
			       PRIu64 " blocks written, %" PRIu64
			       " failed\n", v->multicast->computed,
			       v->multicast->written, v->multicast->failed);
	g_string_append_printf(out, "partitions: %u, from %s\n",
			       v->rules->partitions->len, v->rules->source ?
			       v->rules->source : "no file");
}

/* --- JSON --- */

static void
json_fabric(struct json *j, const struct status *s)
{
	if (!s->subnet)
		return;
	json_open(j, "subnet", '{');
	json_number(j, "switches", s->subnet->n_switches);
	json_number(j, "hosts", s->n_hosts);
	json_number(j, "links", s->n_links);
	json_number(j, "active", s->n_active);
	json_number(j, "top_lid", s->top);
	json_close(j, '}');
}

static void
json_routing(struct json *j, const struct status *s)
{
	if (!s->engine)
		return;
	json_open(j, "routing", '{');
	json_text(j, "engine", s->engine);
	json_text(j, "reason", s->reason);
	json_text(j, "safety", safety_name(s->safety));
	json_lines(j, "candidates", s->compared);
	json_lines(j, "notes", s->notes);
	json_number(j, "looped", s->n_looped);
	json_open(j, "loop", '[');
	for (guint i = 0; s->loop && i < s->loop->len; i++) {
		const struct status_channel *c =
			&g_array_index(s->loop, struct status_channel, i);

		json_open(j, NULL, '{');
		json_text(j, "switch", c->desc);
		json_hex(j, "guid", c->guid, 16);
		json_number(j, "port", c->port);
		json_number(j, "lid", c->lid);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void
json_sweeps(struct json *j, const struct control_view *v)
{
	const struct status_sweep *sweep;

	json_number(j, "n_sweeps", v->status->n_sweeps);
	json_open(j, "sweeps", '[');
	for (unsigned i = 0; (sweep = status_last(v->status, i)); i++) {
		json_open(j, NULL, '{');
		json_ms(j, "ago_ms", v->now - sweep->at);
		json_ms(j, "took_ms", sweep->took_us);
		json_text(j, "causes", sweep->causes);
		json_text(j, "end", status_end_name(sweep->end));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
json_counters(struct json *j, const struct control_view *v)
{
	json_open(j, "mads", '{');
	json_number(j, "sent", v->wire->sent);
	json_number(j, "sets", v->wire->sent_set);
	json_number(j, "repeated", v->wire->retried);
	json_number(j, "unanswered", v->wire->timed_out);
	json_number(j, "window", v->wire->window);
	json_close(j, '}');
	json_open(j, "sa", '{');
	json_number(j, "requests", v->desk->taken);
	json_number(j, "answered", v->desk->answered);
	json_number(j, "busy", v->desk->busy);
	json_number(j, "dropped", v->desk->dropped);
	json_number(j, "waiting", v->desk->waiting);
	json_number(j, "reports", v->desk->reports);
	json_number(j, "groups", v->sa.n_groups);
	json_number(j, "members", v->sa.n_members);
	json_number(j, "services", v->sa.n_services);
	json_number(j, "subscriptions", v->sa.n_subscriptions);
	json_close(j, '}');
	json_open(j, "multicast", '{');
	json_number(j, "computed", v->multicast->computed);
	json_number(j, "written", v->multicast->written);
	json_number(j, "failed", v->multicast->failed);
	json_close(j, '}');
	json_open(j, "partitions", '{');
	json_number(j, "count", v->rules->partitions->len);
	json_text(j, "source", v->rules->source);
	json_close(j, '}');
}

static void
put_json(const struct control_view *v, GString *out)
{
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_text(&j, "port", v->port_name);
	json_hex(&j, "guid", v->port_guid, 16);
	json_ms(&j, "running_ms", v->now - v->since);
	json_text(&j, "role", sm_state_name(v->self.state));
	json_number(&j, "priority", v->self.priority);
	json_text(&j, "master", v->status->master);
	json_lines(&j, "other_managers", v->rivals);
	json_text(&j, "verdict", verdict_name(v));
	json_text(&j, "error", v->status->error);
	json_lines(&j, "complaints", v->status->complaints);
	json_lines(&j, "multicast_unreached", v->unreached);
	json_lines(&j, "warnings", v->status->warnings);
	json_text(&j, "doing", sweep_state_name(v->doing));
	json_text(&j, "log_level", log_level_name(v->level));
	json_fabric(&j, v->status);
	json_routing(&j, v->status);
	json_sweeps(&j, v);
	json_counters(&j, v);
	json_close(&j, '}');
	g_string_append_c(out, '\n');
}

enum control_code
control_status(const struct control_view *v, bool as_json, GString *out)
{
	if (as_json) {
		put_json(v, out);
		return judge(v);
	}
	put_head(v, out);
	put_fabric(v, out);
	put_routing(v->status, out);
	put_sweeps(v, out);
	put_counters(v, out);
	return judge(v);
}
