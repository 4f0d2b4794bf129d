// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counting what was sent.
 *
 * By attribute and method, since who watches a subnet manager wants to know
 * whether it wrote, and what. Retries have a line of their own: a fabric that
 * loses MADs should not look like one that is large.
 */
#include "sm/sweep/sent.h"

static void
append(GString *line, const char *name, const char *method, uint64_t count)
{
	if (count)
		g_string_append_printf(line, "%s %s.%s %" G_GUINT64_FORMAT,
				       line->len ? "," : ":", name, method,
				       count);
}

void sent_log(struct log *log, enum log_level level,
	      const struct mad_client_stats *before,
	      const struct mad_client_stats *after)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		append(line, mad_attr_name(i), "Get",
		       after->gets[i] - before->gets[i]);
		append(line, mad_attr_name(i), "Set",
		       after->sets[i] - before->sets[i]);
	}
	log_say(log, level, "sweep", "sent %" G_GUINT64_FORMAT " MADs%s",
		after->sent - before->sent, line->str);
	if (after->retried != before->retried)
		log_say(log, level, "sweep", "%" G_GUINT64_FORMAT
			" of them a second time or more, %" G_GUINT64_FORMAT
			" requests without an answer",
			after->retried - before->retried,
			after->timed_out - before->timed_out);
}
