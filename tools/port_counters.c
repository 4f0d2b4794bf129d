// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading counters. Order for a port: ClassPortInfo once for its node,
 * PortCounters, PortCountersExtended if the agent has it, and a Set of
 * PortCounters that clears those near their end. Requests go to LIDs on SL 0.
 */
#include "tools/port_counters.h"

#include <errno.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mad.h"

#define TIMEOUT_MS	500
#define TRIES		2
#define RESET_WAIT	(1u << 16)	/* CounterSelect2 in libibmad's mask */

/* The device and port with this PortGUID. */
static bool
find_local(uint64_t guid, char device[UMAD_CA_NAME_LEN], int *port)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	bool found = false;

	for (int i = 0; i < n && !found; i++) {
		umad_ca_t ca;

		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		for (int p = 0; p < UMAD_CA_MAX_PORTS && !found; p++) {
			if (!ca.ports[p] ||
			    GUINT64_FROM_BE(ca.ports[p]->port_guid) != guid)
				continue;
			g_strlcpy(device, names[i], UMAD_CA_NAME_LEN);
			*port = p;
			found = true;
		}
		umad_release_ca(&ca);
	}
	return found;
}

struct ibmad_port *
counters_open(uint64_t port_guid, GError **error)
{
	char device[UMAD_CA_NAME_LEN];
	int classes[] = { IB_PERFORMANCE_CLASS }, num = 0;
	bool here = find_local(port_guid, device, &num);
	struct ibmad_port *c = mad_rpc_open_port(here ? device : NULL, num,
						 classes, 1);

	if (c) {
		mad_rpc_set_timeout(c, TIMEOUT_MS);
		mad_rpc_set_retries(c, TRIES);
	} else {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NXIO, "no "
			    "InfiniBand port can be used (is one Active, and "
			    "are you root or in the group of "
			    "/dev/infiniband/umad*?)");
	}
	return c;
}

void
counters_close(struct ibmad_port *c)
{
	if (c)
		mad_rpc_close_port(c);
}

/* One attribute into data, a whole MAD's room. */
static enum counters_end
ask(struct ibmad_port *c, ib_portid_t *to, unsigned num, unsigned attr,
    uint8_t *data)
{
	memset(data, 0, MAD_SIZE);
	errno = 0;
	return pma_query_via(data, to, (int)num, 0, attr, c) ?
		COUNTERS_READ : errno == EIO ? COUNTERS_REFUSED :
		COUNTERS_SILENT;
}

enum counters_end
counters_read(struct ibmad_port *c, uint16_t lid, uint8_t num,
	      struct cables_agent *agent, struct cables_port *port)
{
	ib_portid_t to = { .lid = lid };
	uint8_t data[MAD_SIZE], ext[MAD_SIZE];
	struct cables_reading now;
	enum counters_end end = COUNTERS_READ;
	unsigned full, caps, caps2;

	if (!agent->known) {
		end = ask(c, &to, 0, CLASS_PORT_INFO, data);
		if (end != COUNTERS_READ)
			return end;
		caps = bytes_load16(data + 2);
		caps2 = bytes_load32(data + 4) >> 5;	/* 27 bits */
		agent->known = true;
		agent->has_ext = caps & (PERF_CAP_EXT_WIDTH |
					 PERF_CAP_EXT_NO_IETF);
		agent->has_wait = caps & PERF_CAP_XMIT_WAIT;
		agent->has_wide = agent->has_ext && caps2 &
			PERF_CAP2_WIDE_ERRORS;
	}
	end = ask(c, &to, num, IB_GSI_PORT_COUNTERS, data);
	if (end == COUNTERS_READ && agent->has_ext)
		end = ask(c, &to, num, IB_GSI_PORT_COUNTERS_EXT, ext);
	if (end != COUNTERS_READ)
		return end;
	now.us = g_get_monotonic_time();
	full = cables_load(agent, data, agent->has_ext ? ext : NULL, now.count);
	cables_add(&port->raw, &port->now, &now);
	memset(data, 0, sizeof(data));
	if (!full || !performance_reset_via(data, &to, num,
			(full & ~(1u << PERF_XMIT_WAIT)) |
			(full >> PERF_XMIT_WAIT & 1 ? RESET_WAIT : 0), 0,
			IB_GSI_PORT_COUNTERS, c))
		return COUNTERS_READ;
	for (unsigned i = 0; i < PERF_COUNTERS; i++)
		if (full >> i & 1)
			port->raw.count[i] = 0;
	return COUNTERS_READ;
}
