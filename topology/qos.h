/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Quality of service: which SL travels on which VL, and how VLs share a link
 * (IBA 7.6). As configured, without a fabric; the same for all ports.
 */
#ifndef MINISM_TOPOLOGY_QOS_H
#define MINISM_TOPOLOGY_QOS_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/port_tables.h"

#define QOS_VLS		15u	/* data VLs, 0 to 14 */
#define QOS_VL_DROP	15u	/* in sl2vl: packets of this SL are dropped */
#define QOS_ARB_ENTRIES	(2 * VL_ARB_ENTRIES)

struct qos {
	bool enabled;
	unsigned max_op_vls;	/* OperationalVLs code, 1 to 5; also without
				   QoS */
	unsigned max_vls;	/* 1 to 15 */
	unsigned high_limit;	/* 4,096 bytes each; 255: no limit */
	uint8_t sl2vl[SL_COUNT];	/* 0 to 15 */
	struct vl_share high[QOS_ARB_ENTRIES], low[QOS_ARB_ENTRIES]; /* VL 0
				   to 14 */
};

#endif
