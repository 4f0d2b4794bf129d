/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Quality of service: which SL travels on which VL, and how VLs share a link
 * (IBA 7.6). As configured, without a fabric.
 */
#ifndef MINISM_TOPOLOGY_QOS_H
#define MINISM_TOPOLOGY_QOS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/port_tables.h"

/* The kinds of ports that have values of their own. */
enum qos_kind {
	QOS_CA,
	QOS_ROUTER,
	QOS_SWITCH_0,		/* an enhanced port 0 */
	QOS_SWITCH,		/* external ports */
	QOS_N_KINDS
};

enum qos_field {
	QOS_MAX_VLS = 1 << 0,
	QOS_HIGH_LIMIT = 1 << 1,
	QOS_HIGH = 1 << 2,
	QOS_LOW = 1 << 3,
	QOS_SL2VL = 1 << 4,
};

#define QOS_VLS		15u	/* data VLs, 0 to 14 */
#define QOS_VL_DROP	15u	/* in sl2vl: packets of this SL are dropped */
#define QOS_ARB_ENTRIES	(2 * VL_ARB_ENTRIES)

struct qos_values {
	unsigned given;		/* bits of enum qos_field; the others are not
				   set */
	uint8_t max_vls;	/* 1 to 15 */
	uint8_t high_limit;	/* 4,096 bytes each; 255: no limit */
	uint8_t sl2vl[SL_COUNT];	/* 0 to 15 */
	struct vl_share high[QOS_ARB_ENTRIES], low[QOS_ARB_ENTRIES]; /* VL 0
				   to 14 */
};

/* All zero: not enabled, nothing given. */
struct qos {
	bool enabled;
	uint8_t max_op_vls;	/* OperationalVLs code, a bound for all ports;
				   0: none but max_vls */
	struct qos_values all, kinds[QOS_N_KINDS];
};

/* The values of a kind: its own, then those for all, then the built-in ones.
 * `out` has all values. */
void qos_resolve(const struct qos *qos, enum qos_kind kind,
		 struct qos_values *out);
/* The same, of single values. */
unsigned qos_max_vls(const struct qos *qos, enum qos_kind kind);
unsigned qos_high_limit(const struct qos *qos, enum qos_kind kind);

#endif
