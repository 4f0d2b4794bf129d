// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the commands of minismctl share: answers of one line, and sweeps that are
 * waited for.
 */
#include "sm/control/request.h"

#include <string.h>

#include "topology/text.h"

void
request_say(struct control_request *r, enum control_code code,
	    const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	r->code = code;
	report_done(&r->out, code == CONTROL_DONE, text);
}

void
request_say_no_fabric(struct control_request *r)
{
	request_say(r, CONTROL_NOT_DONE, "%s", r->v.sweep->self.state ==
		    SM_STATE_STANDBY ? "this manager stands by: only the "
		    "master publishes the fabric, see minismctl sms" :
		    "no sweep has read the fabric yet");
}

void
request_again(struct control_request *r, uint64_t number)
{
	r->code = CONTROL_AGAIN;
	g_string_append_printf(r->out.out, "%sagain %" G_GUINT64_FORMAT " %s\n",
			       r->out.as_json ? "json " : "", number, r->line);
}

void
request_say_wrong(struct control_request *r, const char *before,
		  const char *word, const char *after,
		  const char *const *names, size_t n)
{
	g_autofree char *text = text_wrong(before, word, after, names, n);

	request_say(r, CONTROL_USAGE, "%s", text);
}

uint64_t
request_next_sweep(const struct control_view *v)
{
	return v->status->n_sweeps +
		(v->sweep->state >= SWEEP_DISCOVERING &&
		 v->sweep->state <= SWEEP_PROGRAMMING);
}

const struct status_sweep *
request_swept(struct control_request *r, uint64_t number, const char *cause)
{
	const struct status *all = r->v.status;

	for (uint64_t n = number; n < all->n_sweeps; n++) {
		const struct status_sweep *sweep = status_last(all,
			(unsigned)(all->n_sweeps - 1 - n));

		if (sweep && strstr(sweep->causes, cause))
			return sweep;
	}
	if (number > request_next_sweep(&r->v))
		request_say(r, CONTROL_NOT_DONE, "this manager has started "
			    "since");
	else
		request_again(r, number);
	return NULL;
}
