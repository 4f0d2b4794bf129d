// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance manager.
 *
 * Flow. A round reads the ports in the order of the snapshot, spread evenly
 * over sweep_s: a timer starts as many as are due. A port's reads follow each
 * other: once for its node, ClassPortInfo, which has the bit for 64-bit
 * counters; PortCounters; PortCountersExtended if the bit is set. At the end of
 * a round cables are judged. With a new snapshot the counters are kept by node
 * and port, and the round continues.
 *
 * Counters. They stop at their largest value, and other tools may clear them: a
 * smaller value than before is counted from 0; a counter at its largest value
 * counts nothing until it is cleared. Errors of the last hour are two counts,
 * of this half hour and of the one before.
 *
 * Cost. A node without an agent, or one that does not answer, is skipped for
 * SKIP_ROUNDS rounds. At most IN_FLIGHT_MAX requests are in flight; they are
 * GMPs, so they do not fill the VL15 queues. The requests go to LIDs on SL 0.
 */
#include "sm/perf_manager.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "topology/changes.h"

#define TICK_US		(20 * 1000)
#define IN_FLIGHT_MAX	16u
#define HALF_HOUR_US	(INT64_C(1800) * G_USEC_PER_SEC)
#define SKIP_ROUNDS	15u
#define MOST_LINES	8u
#define CAP_EXT_WIDTH	0x0200u	/* ClassPortInfo.CapabilityMask */
#define DATA_UNIT	4u	/* PortXmitData counts words of 32 bits */

struct perf_manager *
perf_manager_new(struct mad_client *x, struct log *log,
		 const struct perf_manager_params *params)
{
	struct perf_manager *m = g_new0(struct perf_manager, 1);

	m->x = x;
	m->log = log;
	m->params = *params;
	return m;
}

static void
perf_stop(struct perf_manager *m)
{
	mad_client_cancel_owner(m->x, m);
	m->in_flight = 0;
	transport_timer_clear(m->x->transport, &m->timer);
}

static void
known_free(struct perf_known *k)
{
	if (k->s)
		snapshot_unref(k->s);
	if (k->lids)
		lid_map_free(k->lids);
	g_free(k->ports);
	g_free(k->nodes);
}

void
perf_manager_free(struct perf_manager *m)
{
	if (!m)
		return;
	perf_stop(m);
	known_free(&m->known);
	g_free(m);
}

/* ------------------------------------------------------------------ counts */

uint64_t
perf_wire_errors(const struct perf_port *port)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < PERF_N_ERRORS; i++)
		if (perf_error_fields[i].is_wire)
			n += (uint64_t)port->recent[0][i] + port->recent[1][i];
	return n;
}

static void
learn_errors(struct perf_port *p, const uint8_t *data)
{
	uint64_t now[PERF_COUNTERS];

	perf_errors_load(data, now);
	for (unsigned i = 0; i < PERF_N_ERRORS; i++) {
		uint32_t is = (uint32_t)now[i], was = p->last[i];

		p->last[i] = is;
		if (!p->read_us)
			continue;
		p->total[i] += is - (is < was ? 0 : was);
		p->recent[0][i] += is - (is < was ? 0 : was);
	}
}

static void
learn_data(struct perf_port *p, const uint8_t *data, int64_t now)
{
	uint64_t sent = bytes_load64(data + 8) * DATA_UNIT;
	uint64_t received = bytes_load64(data + 16) * DATA_UNIT;
	double s = (double)(now - p->read_us) / G_USEC_PER_SEC;

	if (p->has_data && s > 0 && sent >= p->sent &&
	    received >= p->received) {
		p->sent_rate = (uint64_t)((double)(sent - p->sent) / s);
		p->received_rate =
			(uint64_t)((double)(received - p->received) / s);
	}
	p->sent = sent;
	p->received = received;
	p->has_data = true;
}

/* ------------------------------------------------------------------ cables */

/* Hands over the ports whose cables were logged as bad. */
static void
report_bad(const struct perf_manager *m)
{
	const struct snapshot *s = m->known.s;
	g_autoptr(GArray) bad = g_array_new(FALSE, FALSE,
					    sizeof(struct avoid_wish));

	for (uint32_t i = 0; s && i < s->n_ports; i++) {
		const struct avoid_wish wish = {
			.guid = snapshot_node_of(s, i)->info.node_guid,
			.num = s->ports[i].num,
			.causes = AVOID_ERRORS,
			.errors = perf_wire_errors(&m->known.ports[i]),
		};

		if (m->known.ports[i].is_bad)
			g_array_append_val(bad, wish);
	}
	if (m->params.judged)
		m->params.judged(bad, m->params.data);
}

/* Logged again only after the errors fell below half of the limit. */
static void
judge_cables(struct perf_manager *m)
{
	const struct snapshot *s = m->known.s;
	unsigned lines = 0;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct perf_port *p = &m->known.ports[i];
		uint64_t n = perf_wire_errors(p);
		bool bad = n > m->params.errors_limit / (p->is_bad ? 2 : 1);
		g_autofree char *a = NULL, *b = NULL;
		g_autoptr(GString) errors = NULL;

		if (s->ports[i].peer == SNAPSHOT_NONE || bad == p->is_bad)
			continue;
		p->is_bad = bad;
		if (++lines > MOST_LINES)
			continue;
		a = snapshot_port_name(s, i);
		b = snapshot_port_name(s, s->ports[i].peer);
		errors = g_string_new(NULL);	/* "1204 symbol, 3 recovery" */
		for (unsigned k = 0; k < PERF_N_ERRORS; k++) {
			uint64_t one = (uint64_t)p->recent[0][k] +
				p->recent[1][k];

			if (one && perf_error_fields[k].is_wire)
				g_string_append_printf(errors, "%s%"
					G_GUINT64_FORMAT " %s",
					errors->len ? ", " : "", one,
					perf_error_fields[k].name);
		}
		if (bad)
			log_say(m->log, LOG_WARNING, "perf", "link %s - %s: %"
				G_GUINT64_FORMAT " errors within an hour at %s "
				"(%s): look at the cable, its plugs and "
				"transceivers", a, b, n, a, errors->str);
		else
			log_say(m->log, LOG_INFO, "perf", "link %s - %s: "
				"errors at %s have become few", a, b, a);
	}
	if (lines > MOST_LINES)
		log_say(m->log, LOG_WARNING, "perf", "%u more links with "
			"errors, or with few again: \"minismctl errors\" lists "
			"them", lines - MOST_LINES);
	if (lines)
		report_bad(m);
}

/* ----------------------------------------------------------------- reading */

static void ask_port(struct perf_manager *m, uint32_t port, unsigned attr);

/* The tag: port, attribute. */
static void
perf_on_answer(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct perf_manager *m = data;
	uint32_t port = (uint32_t)(tag >> 16);
	unsigned attr = tag & 0xffff;
	struct perf_node *node = &m->known.nodes[m->known.s->ports[port].node];
	struct perf_port *p = &m->known.ports[port];
	int64_t now = transport_now(m->x->transport);
	const uint8_t *answer;

	m->in_flight--;
	if (a->outcome != MAD_CLIENT_ANSWERED || a->header.status) {
		m->stats.failed++;
		if (a->outcome != MAD_CLIENT_ANSWERED || !node->known)
			node->skip = SKIP_ROUNDS;
		if (attr == PERF_ATTR_PORT_COUNTERS_EXT)
			p->read_us = now;
		return;
	}
	answer = a->mad + PERF_DATA_OFFSET;
	switch (attr) {
	case PERF_ATTR_CLASS_PORT_INFO:
		node->known = true;
		node->extended = bytes_load16(answer + 2) & CAP_EXT_WIDTH;
		ask_port(m, port, PERF_ATTR_PORT_COUNTERS);
		return;
	case PERF_ATTR_PORT_COUNTERS:
		learn_errors(p, answer);
		if (node->extended)
			ask_port(m, port, PERF_ATTR_PORT_COUNTERS_EXT);
		else
			p->read_us = now;
		return;
	default:
		learn_data(p, answer, now);
		p->read_us = now;
	}
}

static void
ask_port(struct perf_manager *m, uint32_t port, unsigned attr)
{
	const struct snapshot_port *p = &m->known.s->ports[port];
	const struct snapshot_node *n = &m->known.s->nodes[p->node];
	struct mad_addr to = { .qp = 1, .qkey = MAD_GSI_QKEY };
	uint8_t mad[MAD_SIZE];

	to.lid = m->known.lids->base[snapshot_is_switch(n) ? n->first_port :
				     port];
	perf_build(mad, attr, attr == PERF_ATTR_CLASS_PORT_INFO ? 0 : p->num);
	m->in_flight++;
	mad_client_start(m->x, &to, mad, perf_on_answer, m,
			 (uint64_t)port << 16 | attr);
}

static void
end_round(struct perf_manager *m, int64_t now)
{
	bool is_half_hour = now - m->half_us >= HALF_HOUR_US;

	m->stats.rounds++;
	judge_cables(m);
	if (is_half_hour)
		m->half_us = now;
	for (uint32_t i = 0; is_half_hour && i < m->known.s->n_ports; i++) {
		struct perf_port *p = &m->known.ports[i];

		memcpy(p->recent[1], p->recent[0], sizeof(p->recent[1]));
		memset(p->recent[0], 0, sizeof(p->recent[0]));
	}
	for (uint32_t i = 0; i < m->known.s->n_nodes; i++)
		if (m->known.nodes[i].skip)
			m->known.nodes[i].skip--;
	m->next = 0;
	m->round_us += (int64_t)m->params.sweep_s * G_USEC_PER_SEC;
	if (m->round_us < now)
		m->round_us = now;	/* the ports were slower */
}

static void
perf_on_tick(void *data)
{
	struct perf_manager *m = data;
	struct transport *t = m->x->transport;
	int64_t now = transport_now(t);
	int64_t whole = (int64_t)m->params.sweep_s * G_USEC_PER_SEC, wait;
	uint32_t n = m->known.s->n_ports;
	uint64_t due = (uint64_t)(now - m->round_us) * n / (uint64_t)whole;

	/* ports with a cable; port 0 of a switch has none */
	while (m->next < MIN(due, n) && m->in_flight < IN_FLIGHT_MAX) {
		uint32_t port = m->next++;
		const struct snapshot_port *p = &m->known.s->ports[port];
		const struct perf_node *node = &m->known.nodes[p->node];
		uint32_t end = snapshot_holder_of(m->known.s, port);

		if (p->peer == SNAPSHOT_NONE || node->skip ||
		    p->info.state < PORT_STATE_ACTIVE ||
		    m->known.lids->base[end] == LID_NONE)
			continue;
		ask_port(m, port, node->known ? PERF_ATTR_PORT_COUNTERS :
			 PERF_ATTR_CLASS_PORT_INFO);
	}
	if (m->next == n && !m->in_flight && now >= m->round_us + whole)
		end_round(m, now);
	/* with few ports the timer need not ring fifty times a second */
	wait = MAX(TICK_US, whole / n / 4);
	m->timer = transport_timer_start(t, now + wait, perf_on_tick, m);
}

/* --------------------------------------------------------------- the fabric */

void
perf_manager_fabric(struct perf_manager *m, struct snapshot *s,
		    struct lid_map *lids)
{
	struct transport *t = m->x->transport;
	struct perf_known known = { 0 };
	const struct perf_known *old = &m->known;

	if (!m->params.sweep_s)
		return;
	perf_stop(m);
	if (s) {
		known.s = snapshot_ref(s);
		known.lids = lid_map_ref(lids);
		known.ports = g_new0(struct perf_port, s->n_ports);
		known.nodes = g_new0(struct perf_node, s->n_nodes);
		m->next = MIN(m->next, s->n_ports);
		if (!m->known.s)
			m->round_us = m->half_us = transport_now(t);
		m->timer = transport_timer_in(t, TICK_US, perf_on_tick, m);
	}
	for (uint32_t i = 0; s && old->s && i < s->n_nodes; i++) {
		const struct snapshot_node *n = &s->nodes[i], *was;
		uint32_t at = snapshot_find_node(old->s, n->info.node_guid);
		unsigned n_ports;

		if (at == SNAPSHOT_NONE)
			continue;
		was = &old->s->nodes[at];
		known.nodes[i] = old->nodes[at];
		n_ports = MIN(n->info.num_ports, was->info.num_ports) + 1u;
		memcpy(known.ports + n->first_port, old->ports +
		       was->first_port, n_ports * sizeof(*known.ports));
	}
	known_free(&m->known);
	m->known = known;
	if (!s)
		report_bad(m);
}

const struct perf_port *
perf_manager_ports(const struct perf_manager *m, const struct snapshot *s)
{
	return s && m->known.s == s ? m->known.ports : NULL;
}
