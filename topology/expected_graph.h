/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The expected fabric as expected.c and changes.c share it.
 */
#ifndef MINISM_TOPOLOGY_EXPECTED_GRAPH_H
#define MINISM_TOPOLOGY_EXPECTED_GRAPH_H

#include "topology/expected_kind.h"
#include "topology/lid.h"

struct expected;

#define NEAR_MAX	2u	/* links by which a missing switch is named */
#define SPEED_LEN	8u	/* "12xEDR" */

struct rate {
	char name[SPEED_LEN];
	uint32_t mbps;		/* 0: not known */
};

struct expected_node {
	uint64_t guid;
	int64_t since;
	int64_t left;		/* us, of the clock of the updates: when it went
				   missing; 0: not in this run */
	uint32_t at;		/* in the last snapshot; SNAPSHOT_NONE */
	uint32_t was;		/* in the one before it; likewise */
	enum expected_kind kind;
	char *name;
	uint32_t n_links;
	const struct expected_link *first;	/* of its links that were there
					   last, or of all, that of its lowest
					   port; until one is added */
	uint32_t n_cut;			/* links to switches that are missing, */
	struct expected_node *cause;	/* and one of these */
	uint32_t n_hosts;		/* hosts whose cause it is */
	uint32_t n_free;		/* links whose other end is there, without
					   another cable */
	const struct expected_node *heir;	/* at such another cable, */
	const struct expected_node *before;	/* whose heir it is */
	uint32_t n_switches, n_near;	/* links to switches, to those that are
					   there, the last of which are */
	const struct expected_link *near[NEAR_MAX];
	uint16_t lid;			/* of a CA's first port with a cable */
	bool is_new;			/* with the last snapshot */
	bool is_silent;			/* missing, but a link to it is up */
	bool is_shared;			/* its name is another one's, too */
	uint8_t last_port;		/* for expected_snapshot() */
	bool is_accepted;		/* for the time of expected_accept() */
};

struct expected_link {
	struct expected_node *node[2];	/* in the order of their GUIDs */
	uint8_t port[2];
	int64_t since;
	struct rate best, now;
	bool is_slow, is_void;
	bool is_silent;		/* missing, but one end has a link */
	const char *why[2];	/* missing, and what this port says of that: "is
				   disabled"; or NULL */
	bool is_up, is_below;	/* there in the last snapshot; and slower than
				   both ends support */
	bool is_replaced;	/* one end is missing, the other one has another
				   cable, or had, to another one that is missing */
};

static inline bool
expected_is_switch(const struct expected_node *n)
{
	return n->kind == EXPECTED_SWITCH;
}

static inline struct expected_link *
expected_link_at(const GArray *links, uint32_t i)
{
	return &g_array_index(links, struct expected_link, i);
}

/* A name that several nodes have, one of which may be there, has the GUID behind
 * it; g_free, as are those of the port, and of an end of a link. */
char *expected_full_name(const struct expected_node *n);
char *expected_port_name(const struct expected_node *n, unsigned port);
char *expected_end_name(const struct expected_link *l, unsigned end);

/* Of an update: what is another one in `s`. Of nodes before the links are
 * compared; away: us for which it was missing, if it was. */
void changes_of_node(struct expected *e, struct expected_node *n,
		     const struct snapshot *s, const struct lid_map *lids,
		     int64_t away);
/* Sets is_up and is_below; ends: ports of `s`, or SNAPSHOT_NONE. */
void changes_of_link(struct expected *e, struct expected_link *l,
		     const struct snapshot *s, const uint32_t ends[2]);
/* At the end: by kind, and many of a kind are one, without a name. */
void changes_group(GPtrArray *changes);
void changes_of_name(struct expected *e, const struct expected_node *n,
		     const char *name);
void change_free(gpointer data);

#endif
