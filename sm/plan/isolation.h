/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memberships of the ports of a snapshot, and the tables of ports that follow
 * from them and from QoS. Pure.
 */
#ifndef MINISM_PLAN_ISOLATION_H
#define MINISM_PLAN_ISOLATION_H

#include "sm/plan/pkey_table.h"
#include "sm/plan/qos_tables.h"
#include "sm/plan/desired.h"

/* What was configured. */
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
