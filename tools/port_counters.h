/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The counters of ports of a fabric, read by libibmad from their performance
 * management agents (IBA 16.1). One request is under way at a time; each call
 * waits for its answer.
 */
#ifndef MINISM_TOOLS_PORT_COUNTERS_H
#define MINISM_TOOLS_PORT_COUNTERS_H

#include "tools/cables.h"

struct ibmad_port;

/* On the port of this machine that has the PortGUID, else on the first Active
 * one. NULL: there is none, or it may not be used. */
struct ibmad_port *counters_open(uint64_t port_guid, GError **error);
void counters_close(struct ibmad_port *c);	/* NULL is ignored */

enum counters_end {
	COUNTERS_READ,
	COUNTERS_REFUSED,	/* an answer with an error */
	COUNTERS_SILENT,
};

/*
 * Port `num` of the node whose agent is at `lid`; asks first what the agent can
 * do if that is not known. Counters that are near their end, where they would
 * stay, are cleared; these are counted as 0 in port->raw, which the next
 * reading is compared with.
 */
enum counters_end counters_read(struct ibmad_port *c, uint16_t lid,
				uint8_t num, struct cables_agent *agent,
				struct cables_port *port);

#endif
