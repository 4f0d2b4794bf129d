/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is wrong with a fabric in the eyes of who reads it; part of a snapshot
 * (subnet.h).
 */
#ifndef MINISM_TOPOLOGY_SUBNET_FAULT_H
#define MINISM_TOPOLOGY_SUBNET_FAULT_H

#include <stdint.h>

enum subnet_fault_kind {
	SUBNET_FAULT_DUPLICATE_GUID,	/* one GUID in two places */
	SUBNET_FAULT_SILENT,		/* did not answer */
	SUBNET_FAULT_REFUSED,		/* answered with an error status */
	SUBNET_FAULT_LIAR,		/* an answer that contradicts itself */
	SUBNET_FAULT_TOO_FAR,		/* more than 63 hops away */
	SUBNET_FAULT_LOCKED,		/* has an M_Key that is not ours */
};

struct subnet_fault {
	enum subnet_fault_kind kind;
	uint64_t guid;		/* the node at fault, 0 if it has no name yet */
	char *text;		/* what, where; one line, owned */
};

const char *subnet_fault_name(enum subnet_fault_kind kind);

#endif
