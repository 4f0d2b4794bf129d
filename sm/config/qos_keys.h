/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of quality of service: qos_max_vls, qos_high_limit, qos_vlarb_high,
 * qos_vlarb_low, qos_sl2vl, and the same for one kind of port: qos_ca_max_vls,
 * qos_rtr_..., qos_sw0_..., qos_swe_... Private to sm/config.
 */
#ifndef MINISM_CONFIG_QOS_KEYS_H
#define MINISM_CONFIG_QOS_KEYS_H

#include "topology/qos.h"

bool qos_key_is(const char *key);
/* The names of all of them, one after the other; NULL past the last. Static. */
const char *qos_key_name(size_t i);

/* `key` must be one of them. Sets it from text. NULL, or what is wrong with
 * the value as a new string; nothing is set then. */
char *qos_key_set(struct qos *qos, const char *key, const char *value);
/* What the key takes. A new string. */
char *qos_key_accepts(const char *key);
/* Back to: not given. */
void qos_key_reset(struct qos *qos, const char *key);

/* A line (char *) for each kind of port whose values leave packets of some SL
 * waiting for ever; nothing if QoS is not enabled. */
void qos_keys_check(const struct qos *qos, GPtrArray *lines);

#endif
