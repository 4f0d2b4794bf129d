/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * All tables of ports that follow from the configuration. Pure.
 *
 * P_Key tables (IBA 10.9, 14.2.5.7): memberships put into blocks, so that the
 * present P_Keys of a port keep their index if possible. SL to VL and VL
 * arbitration tables (IBA 7.6.6, 7.6.9, 14.2.5.8, .9): the configured values,
 * fitted to the capabilities of each port; without QoS they are left alone.
 */
#ifndef MINISM_PLAN_ISOLATION_H
#define MINISM_PLAN_ISOLATION_H

#include <glib.h>

#include "topology/partition.h"
#include "topology/port_tables.h"
#include "topology/qos.h"
#include "topology/snapshot.h"

/* PartitionEnforcementInbound, -Outbound of PortInfo (IBA 14.2.5.6). */
enum {
	PKEY_ENFORCE_IN = 1 << 0,
	PKEY_ENFORCE_OUT = 1 << 1,
};

/* Are all ports full members of the default partition, without another
 * partition? Then there is nothing that a switch could enforce. */
bool isolation_is_default(const struct partition_rules *rules);

/* The configuration. */
struct isolation_params {
	struct partition_rules *rules;	/* a reference */
	unsigned enforce;		/* PKEY_ENFORCE_ bits for switches */
	const struct qos *qos;		/* borrowed; NULL: left alone */
};

/* Must this table be read before isolation_new()? True if that may change
 * it. */
bool isolation_reads(const struct isolation_params *p, const struct snapshot *s,
		     enum port_table table, uint32_t port);

struct isolation {
	struct memberships *memberships;	/* references */
	/* Set are all P_Key blocks of each end port whose keys are known or
	 * not in use yet, and of each switch port
	 * that is to enforce; with QoS the SL to VL and VL arbitration blocks
	 * of every port with a link, and of enhanced ports 0. Blocks that are
	 * not set are not changed. */
	struct port_tables *wanted;
	uint8_t *enforce;	/* by port: PKEY_ENFORCE_ bits; 0 but for
				   external switch ports */
	GPtrArray *notes;	/* lines (char *): members that are not on the
				   fabric; then, in the order of the end ports,
				   each P_Key or enforcement that is not
				   possible, or port without a partition */
	unsigned n_away;	/* of the notes, those of such members */
};

/* held: the tables on the fabric as far as they were read. The P_Key table of an
 * end port in use that was not read as a whole is not wanted, that is, left
 * alone; else a block that is not known counts as empty. */
struct isolation *isolation_new(const struct isolation_params *p,
				const struct snapshot *s,
				const struct port_tables *held);
void isolation_free(struct isolation *i);

/*
 * Sets the SL to VL and VL arbitration blocks that isolation_new() sets; not
 * those of ports without such tables, nor of a switch the SL to VL blocks of
 * input ports without a link. VLs are mapped to those that the port has, or will
 * have when it comes up, see isolation_vls_code().
 */
void isolation_want_vls(const struct snapshot *s, const struct qos *qos,
			struct port_tables *wanted);

/* The highest code of OperationalVLs that the configuration permits. */
unsigned isolation_vls_code(const struct qos *qos);

#endif
