// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Observing a running subnet manager.
 *
 *	transport -> tap -> explain_mad()	-> lines -> standard output
 *	sweep	 -> watch_on_note() -> explain_lids(), .. ->
 */
#include "sm/watch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sm/io/pcap.h"
#include "sm/io/tap.h"
#include "sm/lab/step.h"
#include "sm/tools/explain.h"

#define LINE_MAX_LEN	4096

struct watch {
	enum explain_format format;
	struct explain *explain;
	struct transport *t;		/* the tap; borrowed */
	struct stream *out;		/* standard output; borrowed */
	struct pcap *pcap;		/* NULL: none is written */
	bool real;			/* times are of this machine */
	uint16_t own_lid;
	char *comment;			/* of the MAD at hand */
	struct step *step;		/* NULL: it goes by itself */
	struct watch_steps steps;
};

/* Inside the callback of a line. False: the run is to end. */
static bool
wait_for_person(struct watch *w)
{
	char text[LINE_MAX_LEN];

	for (;;) {
		g_autoptr(GString) out = g_string_new(NULL);
		enum step_next next;

		if (isatty(STDIN_FILENO))
			stream_put(w->out, "step> ", strlen("step> "));
		stream_flush(w->out);
		next = step_command(w->step, fgets(text, sizeof(text), stdin) ?
				    g_strstrip(text) : NULL, out);
		stream_put(w->out, out->str, out->len);
		if (next != STEP_STAY)
			return next == STEP_ON;
	}
}

static void
watch_on_line(const struct explain_line *line, void *data)
{
	struct watch *w = data;
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *lost = NULL;

	if (w->pcap && line->kind >= EXPLAIN_REQUEST) {
		g_free(w->comment);
		w->comment = g_strdup_printf("%s: %s%s%s", line->where,
					     line->text, line->why ? "; " : "",
					     line->why ? line->why : "");
	}
	if (!w->format)
		return;
	if (w->out->lost)
		lost = g_strdup_printf("%u lines before this one: the reader "
				       "was too slow", w->out->lost);
	if (lost)
		explain_print(&(struct explain_line){
			.kind = EXPLAIN_DECISION, .us = line->us,
			.phase = line->phase, .what = "lost", .where = "",
			.text = lost,
		}, w->format, out);
	explain_print(line, w->format, out);
	stream_put(w->out, out->str, out->len);
	if (w->step && step_stops(w->step, line) && !wait_for_person(w)) {
		w->format = EXPLAIN_NONE;
		w->steps.end(w->steps.data);
	}
}

static void
watch_on_event(const struct tap_event *e, void *data)
{
	static const enum explain_event kinds[] = {
		[TAP_SENT] = EXPLAIN_SENT,
		[TAP_RECEIVED] = EXPLAIN_RECEIVED,
		[TAP_RETURNED] = EXPLAIN_RETURNED,
	};
	enum explain_event how = kinds[e->kind];
	struct watch *w = data;

	explain_mad(w->explain, e->time, how, e->addr.lid, e->mad, e->len);
	if (w->pcap && how != EXPLAIN_RETURNED)
		pcap_put(w->pcap, &(struct pcap_mad) {
			.us = w->real ? g_get_real_time() : e->time,
			.sent = how == EXPLAIN_SENT, .own_lid = w->own_lid,
			.addr = &e->addr, .mad = e->mad, .len = e->len,
			.comment = w->comment,
		});
	g_clear_pointer(&w->comment, g_free);
}

static void
tell_election(struct watch *w, int64_t now, const struct sweep *s)
{
	static const char why[] = "the higher priority, then the lower GUID, "
		"is the master";
	static const char *const outcomes[] = {
		[ELECTION_MASTER] = "this SM is the master",
		[ELECTION_STANDBY] = "this SM is a standby",
		[ELECTION_HANDOVER] = "this SM hands over",
	};
	const struct election_peer *peers = (void *)s->others->data;
	size_t who;

	for (guint i = 0; i < s->others->len; i++)
		explain_say(w->explain, now, "election",
			    snapshot_name_of(s->next.subnet, peers[i].port),
			    why, "IBA 14.4.1", "priority %u, GUID 0x%016"
			    G_GINT64_MODIFIER "x, %s", peers[i].info.priority,
			    peers[i].info.guid,
			    sm_state_name(peers[i].info.state));
	explain_say(w->explain, now, "election", "", why, "IBA 14.4.1",
		    "priority %u, GUID 0x%016" G_GINT64_MODIFIER
		    "x, %u other managers: %s", s->self.priority, s->self.guid,
		    s->others->len, outcomes[election_decide(&s->self, peers,
						s->others->len, &who)]);
}

static void
watch_on_note(enum sweep_note note, const struct sweep *s, void *data)
{
	struct watch *w = data;
	struct explain *e = w->explain;
	int64_t now = transport_now(w->t);

	switch (note) {
	case SWEEP_NOTE_STATE:
		explain_phase(e, now, sweep_state_names[s->state]);
		break;
	case SWEEP_NOTE_ELECTED:
		tell_election(w, now, s);
		break;
	case SWEEP_NOTE_LIDS:
		w->own_lid = s->next.lids->base[s->next.subnet->local_port];
		explain_lids(e, now, s->next.subnet, s->next.lids,
			     (const void *)s->memory->ranges->data,
			     s->memory->ranges->len);
		break;
	case SWEEP_NOTE_ROUTED:
		explain_routes(e, now, s->next.subnet, s->next.lids,
			       &s->choice);
		break;
	case SWEEP_NOTE_PLANNED:
		explain_plan(e, now, s->next.subnet, s->plan);
		break;
	}
}

void
watch_sweep(struct watch *w, struct sweep_params *params)
{
	if (!w)
		return;
	params->note = watch_on_note;
	params->note_data = w;
}

void
watch_end(struct watch *w, const struct sweep_report *r)
{
	static const char *const ends[] = {
		[SWEEP_END_PLANNED] = "planned, nothing is sent",
		[SWEEP_END_UP] = ("SUBNET UP: each link is Active and each "
				  "table is as desired"),
		[SWEEP_END_NOT_UP] = "there are problems",
		[SWEEP_END_STANDBY] = "another SM is the master",
		[SWEEP_END_FAILED] = "failed",
	};

	if (!w)
		return;
	explain_say(w->explain, transport_now(w->t), "end", "", NULL, NULL,
		    "%s%s%s", ends[r->end], r->error ? ": " : "",
		    r->error ? r->error : "");
	for (guint i = 0; r->verdict && i < r->verdict->lines->len; i++)
		explain_say(w->explain, transport_now(w->t), "end", "", NULL,
			    NULL, "%s", (char *)r->verdict->lines->pdata[i]);
}

struct watch *
watch_open(const struct options *conf, struct transport **t,
	   const struct watch_steps *steps, struct stream *out, GError **error)
{
	struct pcap *pcap = conf->pcap ?
		pcap_open(conf->pcap, &out->how, error) : NULL;
	struct watch *w;

	if (!pcap && (conf->pcap || (!conf->explain && !conf->step)))
		return NULL;
	w = g_new0(struct watch, 1);
	w->out = out;
	w->pcap = pcap;
	w->real = !(*t)->simulated;
	w->format = (enum explain_format)conf->explain;
	w->steps = *steps;
	if (conf->step) {
		w->step = step_new(&w->steps.console);
		w->format = MAX(w->format, EXPLAIN_TEXT);
	}
	w->explain = explain_new(watch_on_line, w);
	w->t = *t = tap_new(*t, watch_on_event, w);
	return w;
}

bool
watch_close(struct watch *w, GError **error)
{
	bool ok;

	if (!w)
		return true;
	ok = !w->pcap || pcap_close(w->pcap, error);
	explain_free(w->explain);
	step_free(w->step);
	g_free(w->comment);
	g_free(w);
	return ok;
}
