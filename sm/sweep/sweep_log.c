// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log lines and texts of sweeps.
 */
#include "sm/sweep/sweep.h"

#define NAMES_MAX	4u	/* names in a line */

static const char *const cause_names[] = {
	[SWEEP_CAUSE_START] = "start",
	[SWEEP_CAUSE_SIGNAL] = "signal",
	[SWEEP_CAUSE_TRAP] = "trap",
	[SWEEP_CAUSE_LIGHT] = "change seen",
	[SWEEP_CAUSE_MEANWHILE] = "change during the sweep",
	[SWEEP_CAUSE_RELEASED] = "no longer held down",
	[SWEEP_CAUSE_AVOID] = "links to be avoided",
	[SWEEP_CAUSE_GROUPS] = "groups not reached",
	[SWEEP_CAUSE_SILENT] = "a silent port",
	[SWEEP_CAUSE_RETRY] = "fabric not up",
	[SWEEP_CAUSE_UNTAKEN] = "an address was not taken",
	[SWEEP_CAUSE_ELECTION] = "election",
	[SWEEP_CAUSE_PARTITIONS] = "partitions changed",
	[SWEEP_CAUSE_TIME] = "periodic",
};

char *
sweep_causes_text(unsigned causes)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned c = 0; c < G_N_ELEMENTS(cause_names); c++)
		if (causes & 1u << c)
			g_string_append_printf(text, "%s%s", text->len ?
					       ", " : "", cause_names[c]);
	return g_strdup(text->str);
}

char *
sweep_names_text(const struct snapshot *n, const GArray *guids)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < MIN(guids->len, NAMES_MAX); i++) {
		uint32_t node = snapshot_find_node(n, g_array_index(guids,
								    uint64_t,
								    i));

		g_string_append_printf(text, "%s%s", i ? ", " : "",
				       node == SNAPSHOT_NONE ? "?" :
				       snapshot_node_name(&n->nodes[node]));
	}
	if (guids->len > NAMES_MAX)
		g_string_append_printf(text, " and %u more",
				       guids->len - NAMES_MAX);
	return g_strdup(text->str);
}

static void
append_count(GString *line, const char *name, const char *method,
	     uint64_t count)
{
	if (count)
		g_string_append_printf(line, "%s %s.%s %" G_GUINT64_FORMAT,
				       line->len ? "," : ":", name, method,
				       count);
}

/* Counts by attribute and method. Retries have their own line, so that lost
 * SMPs do not look like a larger fabric. */
void
sweep_log_sent(struct sweep *s, enum log_level level)
{
	const struct mad_client_stats *before = &s->stats;
	const struct mad_client_stats *after = mad_client_stats(s->x);
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		append_count(line, mad_attr_name(i), "Get",
			     after->gets[i] - before->gets[i]);
		append_count(line, mad_attr_name(i), "Set",
			     after->sets[i] - before->sets[i]);
	}
	log_say(s->log, level, "sweep", "sent %" G_GUINT64_FORMAT " MADs%s",
		after->sent - before->sent, line->str);
	if (after->retried != before->retried)
		log_say(s->log, level, "sweep", "%" G_GUINT64_FORMAT
			" of them a second time or more, %" G_GUINT64_FORMAT
			" requests without an answer",
			after->retried - before->retried,
			after->timed_out - before->timed_out);
}
