// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which cables are bad.
 *
 * Errors of a cable are those that a bad wire, plug or transceiver makes, which
 * the receiving end counts; of the two ends the worse one counts. Damaged
 * packets that a switch passes on (RcvRemotePhysical), discards and the like are
 * the fault of another place.
 *
 * Waiting. PortXmitWait counts ticks in which a port had something to send and
 * could not. IBA leaves the length of a tick to the device; it is taken for the
 * time of a word of 32 bits, the unit of PortXmitData. So the share of waiting is
 * XmitWait / (XmitWait + XmitData).
 */
#include "tools/cables.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "topology/each.h"

#define HOUR_US		(INT64_C(3600) * G_USEC_PER_SEC)
#define DATA_UNIT	4u	/* PortXmitData counts words of 32 bits */
#define QUIET		2u	/* a bad cable is good with limit / QUIET */

/* ------------------------------------------------------------- one reading */

unsigned
cables_load(const struct cables_agent *agent, const uint8_t *data,
	    const uint8_t *ext, uint64_t count[CABLES_COUNTERS])
{
	unsigned full = 0;

	memset(count, 0, CABLES_COUNTERS * sizeof(*count));
	perf_errors_load(data, count);
	if (!agent->has_wait)
		count[PERF_XMIT_WAIT] = 0;
	if (ext) {
		count[CABLES_SENT] = bytes_load64(ext + 8) * DATA_UNIT;
		count[CABLES_RECEIVED] = bytes_load64(ext + 16) * DATA_UNIT;
	}
	for (unsigned i = 0; i < PERF_COUNTERS; i++) {
		uint32_t end = perf_error_max((enum perf_error)i);

		if (ext && agent->has_wide)
			count[i] = bytes_load64(ext + PERF_EXT_ERRORS_OFFSET +
						8 * i);
		else if (count[i] >= end - end / 4)
			full |= 1u << i;
	}
	return full;
}

void
cables_add(struct cables_reading *raw, struct cables_reading *sum,
	   const struct cables_reading *now)
{
	for (unsigned i = 0; raw->us && i < CABLES_COUNTERS; i++)
		sum->count[i] += now->count[i] -
			(now->count[i] < raw->count[i] ? 0 : raw->count[i]);
	sum->us = now->us;
	*raw = *now;
}

/* ------------------------------------------------------------- two of them */

struct rates {
	uint64_t more[CABLES_COUNTERS];
	uint64_t errors;
	double hours, wait;
	bool moved;		/* anything but data */
};

static struct rates
port_rates(const struct cables_port *port, int64_t least_us)
{
	const struct cables_reading *before = &port->hour, *after = &port->now;
	struct rates r = { .hours = 1 };
	double words;

	if (!before->us || after->us <= before->us)
		return r;
	r.hours = (double)MAX(after->us - before->us, least_us) / HOUR_US;
	for (unsigned i = 0; i < CABLES_COUNTERS; i++)
		r.more[i] = after->count[i] - before->count[i];
	for (unsigned i = 0; i < PERF_COUNTERS; i++) {
		r.moved |= r.more[i] > 0;
		if (perf_error_fields[i].is_wire)
			r.errors += r.more[i];
	}
	words = (double)r.more[CABLES_SENT] / DATA_UNIT;
	if (r.more[PERF_XMIT_WAIT])
		r.wait = (double)r.more[PERF_XMIT_WAIT] /
			((double)r.more[PERF_XMIT_WAIT] + words);
	return r;
}

static gint
compare_cables(gconstpointer a, gconstpointer b)
{
	const struct cables_entry *p = a, *q = b;

	if (p->per_hour < q->per_hour || p->per_hour > q->per_hour)
		return p->per_hour < q->per_hour ? 1 : -1;
	if (p->wait < q->wait || p->wait > q->wait)
		return p->wait < q->wait ? 1 : -1;
	return uint_compare(p->port, q->port);
}

GArray *
cables_rank(const struct snapshot *s, const struct cables_port *ports,
	    int64_t least_us)
{
	GArray *cables = g_array_new(FALSE, FALSE, sizeof(struct cables_entry));

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t ends[] = { port, s->ports[port].peer };
		struct cables_entry c = { .port = port };
		bool moved = false;

		if (ends[1] == SNAPSHOT_NONE || ends[1] < port)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			struct rates r = port_rates(&ports[ends[k]], least_us);

			moved |= r.moved;
			c.wait = MAX(c.wait, r.wait);
			c.errors = MAX(c.errors, r.errors);
			c.per_hour = MAX(c.per_hour,
					 (double)r.errors / r.hours);
		}
		if (moved)
			g_array_append_val(cables, c);
	}
	g_array_sort(cables, compare_cables);
	return cables;
}

GArray *
cables_judge(const struct snapshot *s, const GArray *cables, unsigned limit,
	     int64_t now, struct cables_port *ports)
{
	GArray *changes = g_array_new(FALSE, FALSE,
				      sizeof(struct cable_change));
	g_autofree struct cables_entry *of =
		g_new0(struct cables_entry, s->n_ports + 1);

	EACH_ITEM(const struct cables_entry, c, cables)
		of[c->port] = *c;
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct cables_port *v = &ports[port];
		struct cable_change change = { CABLE_MENDED, of[port] };
		bool bad = of[port].per_hour > limit / (v->bad ? QUIET : 1);

		change.cable.port = port;
		if (bad != v->bad) {
			change.news = bad ? CABLE_BAD : CABLE_GOOD;
			v->bad = bad;
			v->good_us = bad ? 0 : now;
		} else if (v->good_us && now - v->good_us >= HOUR_US) {
			v->good_us = 0;
		} else {
			continue;
		}
		g_array_append_val(changes, change);
	}
	return changes;
}

/* ------------------------------------------------------------------ output */

char *
cables_name(const struct tool_view *v, const struct cables_entry *c)
{
	return v->s->ports[c->port].peer == SNAPSHOT_NONE ?
		tool_view_port_name(v, c->port) :
		snapshot_link_name(v->s, c->port, v->shared);
}

static void
print_end(const struct tool_view *v, uint32_t port, const struct rates *r,
	  struct text_report *out)
{
	g_autofree char *name = tool_view_port_name(v, port);
	double seconds = r->hours * 3600;

	report_open(out, NULL, '{');
	report_say(out, "  ");
	report_text(out, "port", name, ":");
	report_open(out, "counters", '{');
	for (unsigned i = 0; i < PERF_COUNTERS; i++) {
		if (!r->more[i])
			continue;
		report_say(out, " %s ", perf_error_fields[i].name);
		report_number(out, perf_error_fields[i].name, r->more[i], "");
	}
	report_close(out, '}');
	report_say(out, "%s waits ", r->moved ? ";" : "");
	report_real(out, "wait_percent", 100 * r->wait, 1, "% of the time, ");
	report_say(out, "sends ");
	report_real(out, "sent_mb_s", (double)r->more[CABLES_SENT] / seconds /
		    1e6, 3, " MB/s, ");
	report_say(out, "receives ");
	report_real(out, "received_mb_s", (double)r->more[CABLES_RECEIVED] /
		    seconds / 1e6, 3, " MB/s\n");
	report_close(out, '}');
}

void
cables_print(const struct tool_view *v, const struct cables_entry *c,
	     const struct cables_port *ports, const char *key,
	     struct text_report *r)
{
	const uint32_t ends[] = { c->port, v->s->ports[c->port].peer };
	g_autofree char *name = cables_name(v, c);

	report_open(r, key, '{');
	report_text(r, "link", name, ": ");
	report_count(r, "errors", c->errors, "error", ", ");
	report_real(r, "errors_per_hour", c->per_hour, 0, " an hour\n");
	report_open(r, "ends", '[');
	for (unsigned k = 0; k < 2; k++) {
		struct rates rates = port_rates(&ports[ends[k]], 1);

		print_end(v, ends[k], &rates, r);
	}
	report_close(r, ']');
	report_close(r, '}');
}
