/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The desired SL to VL and VL arbitration tables (IBA 7.6.6, 7.6.9, 14.2.5.8,
 * .9): the configuration, fitted to the capabilities of each port. Pure.
 *
 * `qos` NULL or not enabled: the tables are left alone.
 */
#ifndef MINISM_PLAN_QOS_TABLES_H
#define MINISM_PLAN_QOS_TABLES_H

#include "topology/port_tables.h"
#include "topology/qos.h"
#include "topology/snapshot.h"

/*
 * Sets the desired SL to VL and VL arbitration blocks of every port with a link,
 * and of enhanced ports 0. Blocks that are not set are not changed: those of
 * ports without such tables, and of a switch the SL to VL blocks of input ports
 * without a link. VLs are mapped to those that the port has, or will have when
 * it comes up, see qos_tables_port().
 */
void qos_tables_want(const struct snapshot *s, const struct qos *qos,
	      struct port_tables *wanted);

/* For PortInfo: the highest code of OperationalVLs, so that both ends of the
 * cable have as many; VLHighLimit. False: both are left alone. */
bool qos_tables_port(const struct snapshot *s, const struct qos *qos,
		     uint32_t port, uint8_t *max_oper_vls, uint8_t *high_limit);

#endif
