/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fat-tree routing in closed form: what it found, and who is left out.
 *
 * After J. Gliksberg et al., "High-Quality Fault-Resiliency in Fat-Tree
 * Networks", arXiv 2211.11817 (Dmodc), and E. Zahavi's D-mod-k. See ftree.c.
 */
#ifndef MINISM_ROUTING_FTREE_H
#define MINISM_ROUTING_FTREE_H

#include "routing/engine.h"

#define FTREE_MAX_LISTED	1000u	/* pairs that are listed one by one */

/* Switches of one rank. Rank 0: leaves. */
struct ftree_level {
	uint32_t n_switches;
	uint32_t n_hosts;	/* CA and router ports */
	uint32_t width;		/* planes that lead up to this rank */
	uint32_t n_cables;	/* parallel ones from a child, at most */
};

/* A cable that does not join adjacent ranks. `lower` is nearer to the leaves
 * in the order by which such a cable is used, if it must be. */
struct ftree_stray {
	uint32_t lower, upper;		/* switches */
	uint8_t lower_port, upper_port;
};

/* Two switches of an island, and no way for data from the first to the
 * second. */
struct ftree_pair {
	uint32_t from, to;
};

struct ftree_report {
	uint32_t n_switches;
	uint8_t *rank;		/* by switch */
	uint32_t *order;	/* switch -> place; up is to a higher place */
	GArray *levels;		/* struct ftree_level, by rank */
	GArray *strays;		/* struct ftree_stray */
	bool kept;		/* ranks are those in force */
	bool amended;		/* made of the memo's tables */
	GArray *lost;		/* struct ftree_pair with CAs on both,
				   FTREE_MAX_LISTED at most */
	GArray *mute;		/* the same, port 0 at one end */
	uint64_t n_lost;	/* pairs of CA ports, all that are lost */
	uint64_t n_mute;	/* pairs of a CA port and a port 0, likewise */
	uint32_t n_rescued;	/* switches whose CAs some need a stray for */
	uint64_t n_detours;	/* pairs of switches whose data goes down and
				   up again */
	uint32_t transfer;	/* at this switch first, SUBNET_NONE if none */
};

/*
 * Does what struct engine's compute does. *report, if report is not NULL, is
 * set in both cases: of a fabric that is refused it holds ranks, levels and
 * strays. The caller frees it.
 */
bool ftree_route(const struct engine_input *in, struct engine_output *out,
		 struct ftree_report **report, GError **error);
void ftree_report_free(struct ftree_report *report);

/* ftree_note.c: the report as lines for people, appended to `notes`. */
void ftree_note_report(const struct graph *g,
		       const struct ftree_report *report, GPtrArray *notes);

#endif
