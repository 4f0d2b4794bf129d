// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A port of this machine, and the capture of what passes it.
 *
 *	umad -> capture_on_mad() -> pcap
 *	sweep -> capture_on_note() -> decisions.c -> comments of the next packet,
 *		"WHAT | WHERE | TEXT | WHY | CLAUSE" and "phase | NAME" (for
 *		minism-explain)
 */
#include "sm/backend.h"

#include <unistd.h>

#include "sm/decisions.h"
#include "sm/io/pcap.h"

struct port_backend {
	struct backend base;
	struct stream *pcap;		/* NULL: none is written */
	GPtrArray *comments;		/* char *: decisions since the last
					   packet */
	uint16_t own_lid;
};

/* ----------------------------------------------------------------- capture */

static void
capture_on_mad(const struct transport_mad *m, bool is_sent, void *data)
{
	struct port_backend *b = data;

	if (!is_sent && m->event == TRANSPORT_RETURNED)
		return;
	g_ptr_array_add(b->comments, NULL);
	pcap_put(b->pcap, &(struct pcap_mad) {
		.us = g_get_real_time(), .sent = is_sent,
		.own_lid = b->own_lid, .addr = &m->addr, .mad = m->mad,
		.len = m->len, .comments = (void *)b->comments->pdata,
	});
	g_ptr_array_set_size(b->comments, 0);
}

static void
capture_decision(const char *what, const char *where, const char *text,
		 const char *why, const char *clause, void *data)
{
	struct port_backend *b = data;

	g_ptr_array_add(b->comments, g_strjoin(" | ", what, where, text,
		why ? why : "", clause ? clause : "", NULL));
}

static void
capture_on_note(enum sweep_note note, const struct sweep *s, void *data)
{
	struct port_backend *b = data;

	if (note == SWEEP_NOTE_STATE)
		g_ptr_array_add(b->comments, g_strconcat("phase | ",
				sweep_state_names[s->state], NULL));
	if (note == SWEEP_NOTE_LIDS)
		b->own_lid = s->next.lids->base[s->next.subnet->local_port];
	decisions_of_note(note, s, capture_decision, b);
}

static void
capture_on_end(const struct sweep_report *r, struct backend *b)
{
	decisions_of_end(r, capture_decision, b);
}

/* -------------------------------------------------------------------- port */

bool
backend_only_reads(const struct options *conf)
{
	return conf->observe || conf->mode == OPTIONS_MODE_PLAN;
}

struct stream_how
backend_stream(const struct options *conf, const struct backend_hooks *hooks)
{
	return (struct stream_how){
		.waits = conf->mode != OPTIONS_MODE_RUN, .hold = STREAM_HOLD,
		.lost = hooks->lost, .data = hooks->data,
	};
}

static struct transport *
open_umad(const struct options *conf, const struct backend_hooks *hooks,
	  GError **error)
{
	const struct umad_choice choice = {
		.ca_name = conf->ca_name,
		.port_num = conf->port_num,
		.port_guid = conf->port_guid,
		.role = backend_only_reads(conf) ? UMAD_ROLE_READER :
			options_is_guest(conf) ? UMAD_ROLE_GUEST :
			UMAD_ROLE_MANAGER,
		.event = hooks->port,
		.event_data = hooks->data,
	};
	struct transport *transport = umad_transport_open(&choice, error);
	bool is_none;
	char *text;

	if (transport || !error)
		return transport;
	/* common reasons and remedies */
	is_none = g_str_has_suffix((*error)->message, " none");
	text = g_strconcat((*error)->message, is_none ? " (is there an "
		"InfiniBand device, and ib_umad loaded? minism-sim needs "
		"neither)" : "", conf->port_num ? " (-p is the port; "
		"OpenSM's -p is --priority)" : "", NULL);
	g_free((*error)->message);
	(*error)->message = text;
	return NULL;
}

static void
show_port(bool shown, void *backend)
{
	umad_show(((struct backend *)backend)->transport, shown);
}

static bool
close_port(struct backend *base, GError **error)
{
	struct port_backend *b = (void *)base;
	bool ok;

	/* MADs that come while it is closed are in no sweep */
	if (base->transport)
		base->transport->tap = NULL;
	transport_free(base->transport);
	ok = stream_close(b->pcap, error);
	if (b->comments)
		g_ptr_array_unref(b->comments);
	stream_close(base->out, NULL);
	g_free(b);
	return ok;
}

struct backend *
backend_open_port(const struct options *conf, const struct backend_hooks *hooks,
		  GError **error)
{
	struct port_backend *b = g_new0(struct port_backend, 1);
	const struct stream_how how = backend_stream(conf, hooks);

	b->base = (struct backend){
		.hooks = *hooks, .close = close_port, .show = show_port,
		.out = stream_new(STDOUT_FILENO, "standard output", &how),
		.transport = open_umad(conf, hooks, error),
	};
	if (b->base.transport && conf->pcap)
		b->pcap = pcap_open(conf->pcap, &how, error);
	if (!b->base.transport || (conf->pcap && !b->pcap)) {
		close_port(&b->base, NULL);
		return NULL;
	}
	b->base.hidden = !umad_is_shown(b->base.transport);
	if (b->pcap) {
		b->comments = g_ptr_array_new_with_free_func(g_free);
		b->base.transport->tap = capture_on_mad;
		b->base.transport->tap_data = b;
		b->base.note = capture_on_note;
		b->base.end = capture_on_end;
	}
	return &b->base;
}
