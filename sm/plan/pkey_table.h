/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The desired P_Key tables (IBA 10.9, 14.2.5.7): memberships put into blocks, so
 * that the present P_Keys of a port keep their index if possible. And isolation:
 * all tables of ports that follow from partitions and from QoS. Pure.
 */
#ifndef MINISM_PLAN_PKEY_TABLE_H
#define MINISM_PLAN_PKEY_TABLE_H

#include <glib.h>

#include "sm/plan/qos_tables.h"
#include "topology/partition.h"
#include "topology/port_tables.h"
#include "topology/snapshot.h"

/* PartitionEnforcementInbound, -Outbound of PortInfo (IBA 14.2.5.6). */
enum {
	PKEY_ENFORCE_IN = 1 << 0,
	PKEY_ENFORCE_OUT = 1 << 1,
};

/*
 * rules: those of the memberships; for names and index0.
 * held: the tables on the fabric as far as they were read; a block that is not
 *	known counts as empty.
 * enforce: PKEY_ENFORCE_ bits that switches should have towards end ports.
 * wanted: new for this snapshot. All P_Key blocks of each end port are set
 *	(unless it can hold none), and those of a switch's port towards an end
 *	port that is to enforce. Blocks that are not set are not changed.
 * enforce_by_port: by port index, filled; 0 but for external switch ports.
 * problems: a line (char *) is added for each P_Key or enforcement that is not
 *	possible; may be NULL. In the order of the end ports.
 */
void pkey_table_want(const struct snapshot *s,
		     const struct partition_rules *rules,
		     const struct memberships *m,
		     const struct port_tables *held, unsigned enforce,
		     struct port_tables *wanted, uint8_t *enforce_by_port,
		     GPtrArray *problems);

/* Are all ports full members of the default partition, without another
 * partition? Then there is nothing that a switch could enforce. */
bool pkey_table_are_default(const struct partition_rules *rules);

/* ---- from the configuration to all tables of ports ---- */

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
	struct port_tables *wanted;
	uint8_t *enforce;	/* by port, see struct desired */
	GPtrArray *notes;	/* lines: members that are not on the fabric,
				   P_Keys without a place */
};

/* held: see pkey_table_want(). */
struct isolation *isolation_new(const struct isolation_params *p,
				const struct snapshot *s,
				const struct port_tables *held);
void isolation_free(struct isolation *i);

#endif
