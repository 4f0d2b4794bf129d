/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The way of a packet by LID (probe.c). Private to sm/sim.
 */
#ifndef MINISM_SIM_WALK_H
#define MINISM_SIM_WALK_H

#include "sm/sim/state.h"

enum sim_lane {
	SIM_LANE_VL15,		/* SMPs: links from Init on, no keys, no SL */
	SIM_LANE_DATA,
};
struct sim_packet_kind {
	enum sim_lane lane;
	uint16_t pkey;
	uint8_t sl;
};
/* From an end port by LID; trace->end is set in any case. */
enum sim_delivery sim_walk(const struct sim *sim, uint32_t from,
			   uint16_t dlid, const struct sim_packet_kind *kind,
			   struct sim_trace *trace);
bool sim_owns_lid(const struct sim *sim, uint32_t port, uint16_t lid);

#endif
