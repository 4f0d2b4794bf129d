/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of quality of service: qos_max_vls, qos_high_limit, qos_vlarb_high,
 * qos_vlarb_low, qos_sl2vl, and the same for one kind of port: qos_ca_max_vls,
 * qos_rtr_..., qos_sw0_..., qos_swe_...
 */
#ifndef MINISM_CONFIG_QOS_KEYS_H
#define MINISM_CONFIG_QOS_KEYS_H

#include "sm/config/option.h"
#include "topology/qos.h"

/* Their place is a struct qos_values, `min` the enum qos_field, `max` the
 * largest number or the longest list. */
extern const struct option_kind qos_kind_max_vls, qos_kind_high_limit,
	qos_kind_vlarb, qos_kind_sl2vl;

#define QOS_KEYS(prefix, at) \
	OPTION_KEY(prefix "max_vls", &qos_kind_max_vls, at, QOS_MAX_VLS, \
		   QOS_VLS, NULL), \
	OPTION_KEY(prefix "high_limit", &qos_kind_high_limit, at, \
		   QOS_HIGH_LIMIT, 255, NULL), \
	OPTION_KEY(prefix "vlarb_high", &qos_kind_vlarb, at, QOS_HIGH, \
		   QOS_ARB_ENTRIES, NULL), \
	OPTION_KEY(prefix "vlarb_low", &qos_kind_vlarb, at, QOS_LOW, \
		   QOS_ARB_ENTRIES, NULL), \
	OPTION_KEY(prefix "sl2vl", &qos_kind_sl2vl, at, QOS_SL2VL, \
		   SL_COUNT, NULL)

/* A line (char *) for each kind of port whose values leave packets of some SL
 * waiting for ever; nothing if QoS is not enabled. */
void qos_keys_check(const struct qos *qos, GPtrArray *lines);

#endif
