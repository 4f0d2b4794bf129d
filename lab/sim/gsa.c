// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The agent of a node on QP 1.
 *
 * Performance management (IBA 16.1): ClassPortInfo, PortCounters,
 * PortCountersExtended. Packets are counted by move.c on each link, errors
 * where they happen, in move.c too, or by a command (sim_port_add_errors). A
 * counter on the wire stops at its highest value.
 */
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#define ATTR_CLASS_PORT_INFO	0x0001
/* AllPortSelect and what follows it */
#define CAPABILITIES		(0x0100u | PERF_CAP_EXT_WIDTH | \
				 PERF_CAP_XMIT_WAIT)
#define RESPONSE_TIME		16u	/* 4.096 us * 2^16 = 0.27 s */
#define ALL_PORTS		0xffu
/* CounterSelect2, whose first bit is PortXmitWait */
#define SELECT2			18
#define SELECT2_BIT		16u

void
sim_port_add_errors(struct sim *sim, uint32_t port, enum perf_error error,
		    uint64_t n)
{
	sim->ports[port].counters.error[error] += n;
}

static unsigned
serve_counters(struct sim *sim, const struct sim_packet *p, uint8_t *data,
	       bool extended)
{
	const struct sim_node *node = sim_node_of(sim, p->to);
	unsigned select = data[1];
	unsigned counters = bytes_load16(data + 2) |
		(extended ? 0 : data[SELECT2] << SELECT2_BIT);
	unsigned first = extended ? 0 : PERF_N_ERRORS;	/* of the traffic */
	bool is_switch = sim_is_switch(node);
	bool is_set = p->h.method == MAD_METHOD_SET;
	struct sim_counters sum = { 0 };

	if (select != ALL_PORTS && (select > node->info.num_ports ||
	    (!is_switch && select != sim->ports[p->to].num)))
		return MAD_STATUS_BAD_VALUE;
	for (unsigned num = 0; num <= node->info.num_ports; num++) {
		struct sim_counters *c =
			&sim->ports[node->first_port + num].counters;

		if (select != ALL_PORTS && num != select)
			continue;
		/* A Set writes 0 to the selected counters, for any value. Port
		 * 255: the sum of all ports. */
		for (unsigned i = 0; i < PERF_COUNTERS; i++) {
			unsigned bit = i == PERF_XMIT_WAIT ? SELECT2_BIT : i;

			if (is_set && !extended && counters >> bit & 1)
				c->error[i] = 0;
			sum.error[i] += c->error[i];
		}
		for (unsigned i = 0; i < SIM_N_TRAFFIC; i++) {
			if (is_set && counters >> (first + i) & 1)
				c->traffic[i] = 0;
			sum.traffic[i] += c->traffic[i];
		}
	}
	memset(data + 4, 0, MAD_SIZE - SMP_DATA_OFFSET - 4);
	for (unsigned i = 0; i < SIM_N_TRAFFIC; i++)
		if (extended)
			bytes_store64(data + 8 + 8 * i, sum.traffic[i]);
		else
			bytes_store32(data + 24 + 4 * i,
				      MIN(sum.traffic[i], UINT32_MAX));
	if (extended)	/* unicast packets */
		memcpy(data + 40, data + 24, 16);
	else
		perf_errors_store(data, sum.error);
	return MAD_STATUS_OK;
}

unsigned
sim_pma_answer(struct sim *sim, struct sim_packet *p)
{
	uint8_t *data = p->mad + SMP_DATA_OFFSET;

	if (p->h.class_version != PERF_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	switch (p->h.attr_id) {
	case ATTR_CLASS_PORT_INFO:
		if (p->h.method != MAD_METHOD_GET)
			break;
		memset(data, 0, MAD_SIZE - SMP_DATA_OFFSET);
		data[0] = data[1] = 1;
		bytes_store16(data + 2, CAPABILITIES);
		data[7] = RESPONSE_TIME;
		return MAD_STATUS_OK;
	case PERF_ATTR_PORT_COUNTERS:
		return serve_counters(sim, p, data, false);
	case PERF_ATTR_PORT_COUNTERS_EXT:
		return serve_counters(sim, p, data, true);
	}
	return MAD_STATUS_BAD_ATTRIBUTE;
}
