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

/* What a port has to which a link is expected. */
enum cable_end {
	END_AWAY,	/* its node is, or has no such port */
	END_UNREAD,	/* it did not answer */
	END_LINKED,
	END_OTHER,	/* another node */
	END_LOOP,	/* itself */
	END_DOWN,
	END_DISABLED,
	END_HELD,	/* its link is held down */
	END_SILENT,	/* a link, and no node answers */
	END_UNUSED,	/* a node that answers, but is left out */
	CABLE_ENDS
};

struct end_words {
	const char *says;	/* of such a port, behind its name; "": nothing */
	bool is_why;		/* it tells why a link is missing */
};
extern const struct end_words end_words[CABLE_ENDS];

struct expected_node {
	uint64_t guid;
	int64_t since;
	int64_t left;		/* us, of the clock of the updates: when it went
				   missing; 0: not in this run */
	uint32_t at;		/* in the last snapshot; SNAPSHOT_NONE */
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
					   there, the first of which are */
	const struct expected_link *near[NEAR_MAX];
	uint16_t lid;			/* of its first port with a cable */
	bool is_new;			/* with the last snapshot */
	bool is_silent;			/* missing, but a link to it is up; */
	const char *why;		/* with a silent port's */
	bool is_shared;			/* its name is another one's, too */
	bool is_told;			/* its fault, as a change */
	uint8_t last_port;		/* for expected_snapshot() */
	bool is_accepted;		/* for the time of expected_accept() */
};

struct expected_link {
	struct expected_node *node[2];	/* in the order of their GUIDs */
	uint8_t port[2];
	int64_t since;
	struct rate best, now;
	enum cable_end end[2];	/* of the last snapshot */
	bool is_slow, is_void;
	bool is_told;		/* that it is missing, as a change; also of a new
				   one whose being up is to be told */
	bool is_below;		/* is_slow, or than what both ends support */
	bool is_replaced;	/* one end is missing, the other one has another
				   cable, or had, to another one that is missing */
};

/* A switch's port with a link behind which no node answers, or one in trouble; 0: the
 * switch itself is. */
struct expected_silent {
	uint64_t guid;
	uint8_t port;
	uint8_t is_accepted;
	int64_t since;
	bool is_told;		/* a link or node is missing there */
	char *why;		/* the node there answers, and is left out; or NULL */
	struct expected_node *stuck;	/* the node there that is in trouble; NULL:
					   none answers */
	uint8_t trouble;		/* enum snapshot_trouble */
};

static inline bool
expected_is_switch(const struct expected_node *n)
{
	return n->kind == EXPECTED_SWITCH;
}

static inline bool
expected_is_up(const struct expected_link *l)
{
	return l->end[0] == END_LINKED;
}

static inline struct expected_link *
expected_link_at(const GArray *links, uint32_t i)
{
	return &g_array_index(links, struct expected_link, i);
}

struct expected_node *expected_add_node(struct expected *e, uint64_t guid,
					enum expected_kind kind,
					const char *name);
/* By node and port. */
int expected_order_silent(const void *a, const void *b);
/* A copy of the link; text: taken, or NULL. */
void expected_add_former(struct expected *e, const struct expected_link *link,
			 char *text);

/* A name that several nodes have, one of which may be there, has the GUID behind
 * it; g_free, as are those of the port, and of an end of a link. */
char *expected_full_name(const struct expected_node *n);
char *expected_port_name(const struct expected_node *n, unsigned port);
char *expected_end_name(const struct expected_link *l, unsigned end);

/* Of a link between nodes that are there, at a port with another cable; g_free: "link
 * leaf-1/5 - spine-1/1 is gone: leaf-1/5 leads to spine-2/3, spine-1/1 is down" */
char *expected_cable_text(const struct expected *e,
			  const struct expected_link *l,
			  const struct snapshot *s);

/* Of an update, before `since` is that of `s`. Of a node that is there; away: us for
 * which it was missing, if it was. */
void changes_of_node(struct expected *e, struct expected_node *n,
		     const struct snapshot *s, const struct lid_map *lids,
		     int64_t away);
/* Of nodes that are there; sets is_below. */
void changes_of_link(struct expected *e, struct expected_link *l,
		     const struct snapshot *s);
/* text: expected_cable_text() */
void changes_of_cable(struct expected *e, const struct expected_link *l,
		      const char *text);
/* When the faults are found: those that are not told yet. */
void changes_of_faults(struct expected *e);
/* At the end: by kind, and many of a kind are one, without a name. */
void changes_group(GPtrArray *changes);
void changes_of_name(struct expected *e, const struct expected_node *n,
		     const char *name);
void change_free(gpointer data);

#endif
