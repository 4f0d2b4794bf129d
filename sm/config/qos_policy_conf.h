/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file that qos_policy_file names: which paths get which SL. The
 * simplified form of OpenSM's policy file, its section qos-ulps:
 *
 *	qos-ulps
 *		default                              : 0
 *		sdp, port-num 10000-20000            : 1
 *		any, service-id 0x6234, 0x7000-0x7fff : 2
 *		ipoib, pkey 0x0abc                   : 3
 *		srp, target-port-guid 0x1234         : 4
 *	end-qos-ulps
 */
#ifndef MINISM_CONFIG_QOS_POLICY_CONF_H
#define MINISM_CONFIG_QOS_POLICY_CONF_H

#include "sm/config/options.h"
#include "topology/qos.h"

/* `name` is for messages. A policy, whose reference is the caller's; NULL with
 * an error: nothing is taken of a file with a mistake in it. */
struct qos_policy *qos_policy_conf_parse(const char *text, const char *name,
				   GError **error);

#endif
