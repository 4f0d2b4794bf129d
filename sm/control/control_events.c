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
control_events(struct control_request *r)
{
	bool follow = r->options[REQUEST_FOLLOW];
	const struct log *log = r->v.log;
	GString *out = r->out.json.out;
	uint64_t first = 0, end;

	if (r->words[1] &&
	    !text_read_number(r->words[1], UINT64_MAX, &first)) {
		request_say_usage(r);
		return;
	}
	end = log ? log_n_events(log) : 0;
	first = MAX(first, end - MIN(end, LOG_EVENTS));
	if (follow) {
		r->code = CONTROL_AGAIN;
		g_string_append_printf(out, "%sevents %" G_GUINT64_FORMAT
				       " --follow\n", request_form(r), end);
	} else {
		request_open_list(r, "events");
	}
	for (; first < end; first++) {
		put_event(&r->out, log_event(log, first));
		if (!follow || !r->out.as_json)
			continue;
		g_string_append_c(out, '\n');
		r->out.json.comma = false;
	}
	if (!follow)
		request_close_list(r);
}

/* ---- sweep ---- */

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

/* sweep [NUMBER of sweeps that had ended when it was asked for] */
void
control_sweep(struct control_request *r)
{
	const struct control_view *v = &r->v;
	const struct status_sweep *sweep;
	enum control_code code;
	const char *name;
	uint64_t first;

	if (v->paused) {
		request_say(r, CONTROL_NOT_DONE, "this manager is paused: "
			    "resume sweeps");
		return;
	}
	if (!r->words[1]) {
		first = v->status->n_sweeps + (v->doing >= SWEEP_DISCOVERING &&
					       v->doing <= SWEEP_PROGRAMMING);
		r->hooks->sweep(r->hooks->data);
	} else if (!r->options[REQUEST_WAIT] ||
		   !text_read_number(r->words[1], UINT64_MAX, &first)) {
		request_say_usage(r);
		return;
	}
	if (!r->options[REQUEST_WAIT]) {
		request_say(r, CONTROL_DONE, "a heavy sweep begins");
		return;
	}
	sweep = find_sweep(v->status, first);
	if (!sweep) {
		r->code = CONTROL_AGAIN;
		g_string_append_printf(r->out.json.out, "%ssweep %"
				       G_GUINT64_FORMAT " --wait\n",
				       request_form(r), first);
		return;
	}
	code = control_verdict(v, &name);
	request_say(r, CONTROL_DONE, "swept in %.1f %s: %s",
		    (double)sweep->took_us / 1000, v->ms, name);
	r->code = code;
}
