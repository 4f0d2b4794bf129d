/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which paths get which SL: rules of the administrator, as they were
 * configured.
 */
#ifndef MINISM_TOPOLOGY_QOS_POLICY_H
#define MINISM_TOPOLOGY_QOS_POLICY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum qos_match {
	QOS_MATCH_SERVICE,	/* the ServiceID that is asked for */
	QOS_MATCH_PKEY,		/* the path's, 15 bits */
	QOS_MATCH_TARGET,	/* PortGUID of the destination */
	QOS_MATCH_SOURCE,
};

struct qos_rule {
	enum qos_match match;
	uint8_t sl;
	uint64_t low, high;	/* both included */
	unsigned line;		/* of the file, for messages */
};

/* Reference counted, immutable once it is shared. */
struct qos_policy {
	gint ref;
	GArray *rules;		/* struct qos_rule, the first that fits is it */
	bool has_default;
	uint8_t default_sl;
};

struct qos_policy *qos_policy_new(void);
struct qos_policy *qos_policy_ref(struct qos_policy *policy);
void qos_policy_unref(struct qos_policy *policy);

/* A path as the rules look at it. */
struct qos_path {
	bool has_service;
	uint64_t service;
	uint16_t pkey;
	uint64_t source, target;	/* PortGUIDs */
};
/* The SL of the path: of the first rule that fits; if there is none, of its
 * partition (0: it has none), then the default's, then 0. `policy` may be
 * NULL: there are no rules. */
uint8_t qos_policy_sl(const struct qos_policy *policy,
		      const struct qos_path *path, uint8_t partition_sl);
/* Could this be the SL of the path for any target? */
bool qos_policy_may_give(const struct qos_policy *policy,
			 const struct qos_path *path, uint8_t partition_sl,
			 uint8_t sl);

#endif
