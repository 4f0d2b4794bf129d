/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is wrong with a fabric in the eyes of who reads it; part of a snapshot
 * (snapshot.h).
 */
#ifndef MINISM_TOPOLOGY_SNAPSHOT_FAULT_H
#define MINISM_TOPOLOGY_SNAPSHOT_FAULT_H

#include <stdint.h>

enum snapshot_fault_kind {
	SNAPSHOT_FAULT_DUPLICATE_GUID,	/* one GUID in two places */
	SNAPSHOT_FAULT_SILENT,		/* did not answer */
	SNAPSHOT_FAULT_REFUSED,		/* answered with an error status */
	SNAPSHOT_FAULT_LIAR,		/* an answer that contradicts itself */
	SNAPSHOT_FAULT_TOO_FAR,		/* more than 63 hops away */
	SNAPSHOT_FAULT_LOCKED,		/* has an M_Key that is not ours */
};

struct snapshot_fault {
	enum snapshot_fault_kind kind;
	uint64_t guid;		/* the node at fault, 0 if it has no name yet */
	char *text;		/* what, where; one line, owned */
};

const char *snapshot_fault_name(enum snapshot_fault_kind kind);

#endif
