// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-sim: the manager of minism on a simulated fabric in this process. Its
 * virtual clock runs as fast as it can for a run that ends by itself, and in
 * real time for a resident manager, which is watched.
 *
 *	sim -> explain_mad() -> lines -> standard output
 *	sweep -> decisions.c -> explain_say() ->
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/generate.h"
#include "sm/daemon.h"
#include "sm/decisions.h"
#include "sm/io/pcap.h"
#include "lab/step.h"
#include "lab/sim/sim.h"
#include "tools/explain.h"

#define LINE_MAX_LEN	4096

/* ----------------------------------------------------------------- options */

static struct sim_options {
	uint64_t seed;		/* of all that is random */
	unsigned explain;	/* enum explain_format */
	bool step;		/* wait behind each line of it */
} chosen;

#define AT(member)	offsetof(struct sim_options, member)

static const char *const explain_words[] = { "none", "text", "json", NULL };
static const struct option_kind kind_explain = {
	.accepts = "text or json", .may_value = true, .is_action = true,
	.words = explain_words, .set = option_set_word,
};

static const struct option rows[] = {
	OPTION_HEADING("The simulation:"),
	{ NULL, "seed", 0, &option_number64, AT(seed), 0, 0, "1",
	  "NUMBER", "of all chance (1)" },
	{ NULL, "explain", 0, &kind_explain, AT(explain), 0, 0, "text",
	  "text|json", "print each MAD and decision with its reason (text)" },
	OPTION_SWITCH("step", 0, &option_bool, AT(step), 0,
		      "the same, and wait behind each"),
};

static const struct option_table table = {
	.options = rows,
	.n = G_N_ELEMENTS(rows),
	.usage = "FABRIC",
	.summary = "The subnet manager minism on a simulated fabric: a net "
		"file, or a formula such\nas 'PGFT(4,8;1,4)' (see "
		"minism-fabric). With --once it ends when the fabric is up.",
	.values = &chosen,
};

/* ------------------------------------------------------------------ fabric */

static struct snapshot *
load_fabric(const struct options *conf, GError **error)
{
	const struct generate_options options = { .seed = chosen.seed };

	return generate_or_read(conf->fabric[0], &options, error);
}

/* ---------------------------------------------------------------- the watch */

struct sim_backend {
	struct backend base;
	struct sim *sim;
	struct snapshot *fabric;	/* of it */
	GSource *source;		/* drives it */
	enum explain_format format;
	struct explain *explain;	/* NULL: no --explain, --step, --pcap */
	struct stream *pcap;		/* NULL: none is written */
	uint16_t own_lid;
	char *comment;			/* of the MAD at hand */
	struct step *step;		/* NULL: it goes by itself */
};

static void
on_typed(const struct explain_line *line, void *data)
{
	struct sim_backend *b = data;
	struct stream *screen = b->base.out;
	g_autoptr(GString) out = g_string_new(NULL);
	enum step_next next = STEP_STAY;
	char text[LINE_MAX_LEN];

	if (b->pcap && line->kind >= EXPLAIN_REQUEST) {
		g_free(b->comment);
		b->comment = g_strdup_printf("%s: %s%s%s", line->where,
					     line->text, line->why ? "; " : "",
					     line->why ? line->why : "");
	}
	if (!b->format)
		return;
	explain_print(line, b->format, out);
	stream_put(screen, out->str, out->len);
	if (!b->step || !step_stops(b->step, line))
		return;
	while (next == STEP_STAY) {
		if (isatty(STDIN_FILENO))
			stream_put(screen, "step> ", strlen("step> "));
		stream_flush(screen);
		g_string_truncate(out, 0);
		next = step_command(b->step, fgets(text, sizeof(text), stdin) ?
				    g_strstrip(text) : NULL, out);
		stream_put(screen, out->str, out->len);
	}
	if (next == STEP_QUIT) {
		b->format = EXPLAIN_NONE;
		b->base.hooks.over(b->base.hooks.data);
	}
}

static void
sim_on_mad(const struct transport_mad *m, bool is_sent, void *data)
{
	enum explain_event how = is_sent ? EXPLAIN_SENT :
		m->event == TRANSPORT_RETURNED ? EXPLAIN_RETURNED :
		EXPLAIN_RECEIVED;
	struct sim_backend *b = data;
	int64_t now = transport_now(b->base.transport);

	explain_mad(b->explain, now, how, m->addr.lid, m->mad, m->len);
	if (b->pcap && how != EXPLAIN_RETURNED)
		pcap_put(b->pcap, &(struct pcap_mad) {
			.us = now, .sent = is_sent,
			.own_lid = b->own_lid, .addr = &m->addr,
			.mad = m->mad, .len = m->len,
			.comments = (char *[]){ b->comment, NULL },
		});
	g_clear_pointer(&b->comment, g_free);
}

static void
on_decision(const char *what, const char *where, const char *text,
	    const char *why, const char *clause, void *data)
{
	struct sim_backend *b = data;

	explain_say(b->explain, transport_now(b->base.transport), what, where,
		    why, clause, "%s", text);
}

static void
on_note(enum sweep_note note, const struct sweep *s, void *data)
{
	struct sim_backend *b = data;

	if (!b->explain)
		return;
	if (note == SWEEP_NOTE_STATE)
		explain_phase(b->explain, transport_now(b->base.transport),
			      sweep_state_names[s->state]);
	if (note == SWEEP_NOTE_LIDS) {
		b->own_lid = s->next.lids->base[s->next.subnet->local_port];
		explain_set_lids(b->explain, s->next.subnet, s->next.lids);
	}
	decisions_of_note(note, s, on_decision, b);
}

static void
on_end(const struct sweep_report *r, struct backend *base)
{
	struct sim_backend *b = (void *)base;

	if (b->explain)
		decisions_of_end(r, on_decision, b);
}

/* -------------------------------------------------------------- open, close */

static bool
open_watch(struct sim_backend *b, const struct options *conf, GError **error)
{
	struct backend *base = &b->base;

	if (conf->pcap) {
		b->pcap = pcap_open(conf->pcap, &base->out->how, error);
		if (!b->pcap)
			return false;
	}
	if (!conf->pcap && !chosen.explain && !chosen.step)
		return true;
	b->format = (enum explain_format)chosen.explain;
	if (chosen.step) {
		b->step = step_new(&(struct console){
			.sim = b->sim, .fabric = b->fabric,
		});
		b->format = MAX(b->format, EXPLAIN_TEXT);
	}
	b->explain = explain_new(on_typed, b);
	base->transport->tap = sim_on_mad;
	base->transport->tap_data = b;
	return true;
}

static bool
open_fabric(struct sim_backend *b, const struct options *conf, GError **error)
{
	struct sim_params params = sim_params_default;

	b->fabric = load_fabric(conf, error);
	if (!b->fabric)
		return false;
	if (b->fabric->local_port == SNAPSHOT_NONE) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_OPEN,
			    "%s: no CA, so no port to run on",
			    conf->fabric[0]);
		return false;
	}
	params.seed = chosen.seed;
	b->sim = sim_new(b->fabric, &params);
	b->base.transport = sim_attach(b->sim, b->fabric->local_port,
				       backend_only_reads(conf) ?
				       SIM_ROLE_CLIENT : SIM_ROLE_MANAGER);
	b->source = sim_source_new(b->sim, conf->mode == OPTIONS_MODE_RUN ?
				   SIM_PACE_REAL : SIM_PACE_FAST);
	g_source_attach(b->source, NULL);
	return true;
}

static bool
sim_close(struct backend *base, GError **error)
{
	struct sim_backend *b = (void *)base;
	bool ok;

	if (b->source) {
		g_source_destroy(b->source);
		g_source_unref(b->source);
	}
	transport_free(base->transport);
	ok = stream_close(b->pcap, error);
	explain_free(b->explain);
	step_free(b->step);
	g_free(b->comment);
	stream_close(base->out, NULL);
	if (b->sim)
		sim_free(b->sim);
	snapshot_unref(b->fabric);
	g_free(b);
	return ok;
}

static struct backend *
sim_open(const struct options *conf, const struct backend_hooks *hooks,
	 GError **error)
{
	struct sim_backend *b = g_new0(struct sim_backend, 1);
	struct stream_how how = backend_stream(conf, hooks);

	how.waits |= chosen.step;
	b->base = (struct backend){
		.hooks = *hooks, .note = on_note, .end = on_end,
		.close = sim_close,
		.out = stream_new(STDOUT_FILENO, "standard output", &how),
	};
	if (open_fabric(b, conf, error) && open_watch(b, conf, error))
		return &b->base;
	sim_close(&b->base, NULL);
	return NULL;
}

int
main(int argc, char **argv)
{
	static const struct daemon_kind kind = {
		.open = sim_open, .fabric = load_fabric, .simulator = &table,
	};

	g_set_prgname("minism-sim");
	option_set_defaults(&table, &chosen);
	return daemon_main(&kind, argc, argv);
}
