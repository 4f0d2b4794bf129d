// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `events` and `sweep`, which may go on: an answer CONTROL_AGAIN begins with
 * the request that asks for what has happened since. So no connection has to
 * stay open, and a client that is gone costs nothing.
 */
#include "sm/control/request.h"

#include <string.h>

#include "topology/text.h"

/* ---- events ---- */

static void
put_event(struct text_report *r, const struct log_event *e)
{
	g_autoptr(GDateTime) utc =
		g_date_time_new_from_unix_utc(e->when / G_USEC_PER_SEC);
	g_autoptr(GDateTime) local = utc ? g_date_time_to_local(utc) : NULL;
	g_autoptr(GDateTime) then = local ?
		g_date_time_add(local, e->when % G_USEC_PER_SEC) : NULL;
	g_autofree char *iso = then ? g_date_time_format_iso8601(then) : NULL;
	g_autofree char *text = then ?
		g_date_time_format(then, "%Y-%m-%d %H:%M:%S") : NULL;

	report_open(r, NULL, '{');
	if (text)
		report_say(r, "%s.%03d ", text,
			   (int)(e->when % G_USEC_PER_SEC / 1000));
	report_text(r, "time", iso, NULL);
	report_text(r, "level", log_level_name(e->level), " ");
	report_text(r, "subsystem", e->subsystem, ": ");
	report_text(r, "message", e->text, "\n");
	report_close(r, '}');
}

/* events [NUMBER of the first]. When followed, JSON is an object a line. */
void
control_events(struct control_request *request)
{
	struct text_report r = { .json = { .out = request->body },
				 .as_json = request->json };
	bool follow = request->options[REQUEST_FOLLOW];
	struct control_view v;
	uint64_t first = 0, end;

	if (request->words[1] &&
	    !text_read_number(request->words[1], UINT64_MAX, &first)) {
		request_say_usage(request);
		return;
	}
	request_look(request, &v);
	end = v.log ? log_n_events(v.log) : 0;
	first = MAX(first, end - MIN(end, LOG_EVENTS));
	if (follow) {
		request->code = CONTROL_AGAIN;
		g_string_append_printf(request->body, "%sevents %"
				       G_GUINT64_FORMAT " --follow\n",
				       request->json ? "json " : "", end);
	} else {
		report_open(&r, NULL, '{');
		report_open(&r, "events", '[');
	}
	for (; first < end; first++) {
		put_event(&r, log_event(v.log, first));
		if (!follow || !request->json)
			continue;
		g_string_append_c(request->body, '\n');
		r.json.comma = false;
	}
	if (follow)
		return;
	report_close(&r, ']');
	report_close(&r, '}');
	if (request->json)
		g_string_append_c(request->body, '\n');
}

/* ---- sweep ---- */

static bool
is_sweeping(enum sweep_state doing)
{
	return doing >= SWEEP_DISCOVERING && doing <= SWEEP_PROGRAMMING;
}

/* The one that was asked for is the first for this cause behind the `first`
 * that had ended by then. */
static const struct status_sweep *
find_sweep(const struct status *s, uint64_t first)
{
	for (uint64_t n = first; n < s->n_sweeps; n++) {
		const struct status_sweep *sweep =
			status_last(s, (unsigned)(s->n_sweeps - 1 - n));

		if (sweep && strstr(sweep->causes, "signal"))
			return sweep;
	}
	return NULL;
}

static void
wait_for_sweep(struct control_request *r, const struct control_view *v,
	       uint64_t first)
{
	const struct status_sweep *sweep = find_sweep(v->status, first);
	enum control_code code;
	const char *name;

	if (!sweep) {
		r->code = CONTROL_AGAIN;
		g_string_append_printf(r->body, "%ssweep %" G_GUINT64_FORMAT
				       " --wait\n", r->json ? "json " : "",
				       first);
		return;
	}
	code = control_verdict(v, &name);
	request_say(r, CONTROL_DONE, "swept in %.1f %s: %s",
		    (double)sweep->took_us / 1000, v->ms, name);
	r->code = code;
}

/* sweep [NUMBER of sweeps that had ended when it was asked for] */
void
control_sweep(struct control_request *r)
{
	struct control_view v;
	uint64_t first;

	request_look(r, &v);
	if (v.paused) {
		request_say(r, CONTROL_NOT_DONE, "this manager is paused: "
			    "resume sweeps");
		return;
	}
	if (!r->words[1]) {
		first = v.status->n_sweeps + is_sweeping(v.doing);
		r->hooks->sweep(r->hooks->data);
	} else if (!r->options[REQUEST_WAIT] ||
		   !text_read_number(r->words[1], UINT64_MAX, &first)) {
		request_say_usage(r);
		return;
	}
	if (r->options[REQUEST_WAIT])
		wait_for_sweep(r, &v, first);
	else
		request_say(r, CONTROL_DONE, "a heavy sweep begins");
}
