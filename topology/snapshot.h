/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A snapshot of a subnet: its nodes, their attributes, which port is
 * cabled to which. Immutable once it is shared, reference counted.
 *
 * Everything is a flat array indexed by small integers. Nodes are sorted by
 * NodeGUID (a second node that claims the same GUID never gets in, see
 * snapshot_fault), so an index is a total order that does not depend on the
 * order of discovery. The ports of a node are contiguous: port p of node n is
 * ports[nodes[n].first_port + p], p from 0 to num_ports; port 0 of a CA or
 * router is a placeholder that is never known.
 */
#ifndef MINISM_TOPOLOGY_SNAPSHOT_H
#define MINISM_TOPOLOGY_SNAPSHOT_H

#include <glib.h>
#include <stdint.h>

#include "topology/smp_attr.h"

#define SNAPSHOT_NONE	UINT32_MAX
#define NODE_DESC_LEN	64	/* bytes, IBA 14.2.5.2; not terminated there */

/* What an end port other than the manager's own does not do, whose link is of no use
 * then, or may be; the rest of the fabric is as it should be. */
enum snapshot_trouble {
	SNAPSHOT_SOUND,
	SNAPSHOT_NO_NAME,	/* no NodeDescription */
	SNAPSHOT_NO_TABLE,	/* a table of it was not read, or not taken */
	SNAPSHOT_NO_SETS,	/* a Set was not answered, or refused */
	SNAPSHOT_NO_ADDRESS,	/* its address was not taken, */
	SNAPSHOT_NO_STATE,	/* or only its PortState was not */
};
extern const char *const snapshot_trouble_texts[SNAPSHOT_NO_STATE + 1];

struct snapshot_port {
	uint64_t guid;		/* PortGUID; 0 for an external switch port and
				   for a CA port that was never seen */
	uint64_t behind;	/* silent: NodeGUID of the last one that
				   answered there; 0: it is not known */
	uint32_t node;
	uint32_t peer;		/* port at the other end of the cable */
	uint8_t num;
	bool known;		/* info was read */
	bool held;		/* its cable is held down: peer is none */
	bool rose;		/* a sweep made it Active: before that it may have
				   been reset, or got another cable, unnoticed */
	bool avoided;		/* Active, but routing leaves its link out */
	bool silent;		/* it has a link, and no node answers NodeInfo
				   behind it, */
	bool beyond;		/* nor do all switches at other cables of that
				   node: packets may go on there */
	uint8_t trouble;	/* enum snapshot_trouble */
	struct port_info info;
};

struct snapshot_node {
	struct node_info info;	/* as the first port that was found answered
				   it */
	struct switch_info sw;	/* switches only */
	uint32_t first_port;
	uint32_t sw_index;	/* among the switches, or SNAPSHOT_NONE */
	uint32_t entry;		/* the *neighbour's* port by which the SM enters
				   this node; SNAPSHOT_NONE: the SM's own */
	bool sw_known;		/* sw was read */
	uint16_t last_fdb_cap;	/* LinearFDBCap in the last discovery, the
				   highest with the repairs since; UINT16_MAX of
				   a switch that came since; 0: it is the first
				   discovery */
	char desc[NODE_DESC_LEN + 1];	/* terminated, unprintables replaced */
	char nameless[19];	/* its NodeGUID, if desc is blank; or "" */
	const char *name;	/* the site's own, in `names` of the snapshot;
				   NULL: none */
};

struct snapshot {
	gint ref;
	uint32_t n_nodes, n_ports, n_switches, n_faults;
	uint32_t local_port;	/* the SM's own, or SNAPSHOT_NONE (a file) */
	struct snapshot_node *nodes;
	struct snapshot_port *ports;
	uint32_t *switches;	/* switch index -> node, n_switches */
	struct snapshot_fault *faults;
	GHashTable *names;	/* the node name map: NodeGUID, uint64_t *, ->
				   char *, UTF-8; or NULL */
};

struct snapshot *snapshot_ref(struct snapshot *subnet);
void snapshot_unref(struct snapshot *subnet);

/* A private copy, which its owner may write until it hands it on. */
struct snapshot *snapshot_copy(const struct snapshot *subnet);

/*
 * The switches by their LIDs, those without one last, of equal ones by NodeGUID:
 * where routes could be one way or another, this order decides, and a device that
 * has the LID of the one that it replaced gets its routes. lids: by port; NULL: those
 * that the devices had. Snapshots are built in this order; of one that others use
 * already it may not change.
 */
void snapshot_sort_switches(struct snapshot *s, const uint16_t *lids);

static inline const struct snapshot_node *
snapshot_node_of(const struct snapshot *s, uint32_t port)
{
	return &s->nodes[s->ports[port].node];
}

/* The node's name in the node name map, else its NodeDescription, or its NodeGUID
 * if that is blank. The SA and net files have the NodeDescription, `desc`. */
static inline const char *
snapshot_node_name(const struct snapshot_node *node)
{
	return node->name ? node->name :
		*node->nameless ? node->nameless : node->desc;
}

/* The same of the node that `port` is one of. */
static inline const char *
snapshot_name_of(const struct snapshot *s, uint32_t port)
{
	return snapshot_node_name(snapshot_node_of(s, port));
}

/* "leaf-2/6", "node-07/2" of a CA with several ports; of a CA's only port and
 * of a switch's port 0 the node's name. g_free. */
char *snapshot_port_name(const struct snapshot *s, uint32_t port);
/* The names that several nodes have: a set that borrows them from the snapshot. */
GHashTable *snapshot_shared_names(const struct snapshot *s);
/* "leaf-2", "leaf-2/6" as above; "leaf-2 (0x0002c9030045f121)/6" if the name is
 * shared. shared NULL: none is. g_free. */
char *snapshot_full_name(const struct snapshot_node *n, GHashTable *shared);
char *snapshot_full_port_name(const struct snapshot *s, uint32_t port,
			      GHashTable *shared);
/* "leaf-2/6 - spine-1/3": the port and its peer. g_free. */
char *snapshot_link_name(const struct snapshot *s, uint32_t port,
			 GHashTable *shared);
/* "leaf-2 (0x0002c9030045f121) port 6"; port SNAPSHOT_NONE: the node. g_free. */
char *snapshot_place(const struct snapshot *s, uint32_t node, uint32_t port);

static inline bool
snapshot_is_switch(const struct snapshot_node *node)
{
	return node->info.node_type == NODE_SWITCH;
}

/* The port that has the LID, the keys and the CapabilityMask of `port`: port 0
 * of a switch, else the port itself. */
static inline uint32_t
snapshot_holder_of(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	return snapshot_is_switch(n) ? n->first_port : port;
}

/* Port `num` of node `node`; SNAPSHOT_NONE if the node has no such port, or is
 * SNAPSHOT_NONE. */
uint32_t snapshot_port_of(const struct snapshot *s, uint32_t node,
			  unsigned num);

/* The port in `to`, another snapshot; nodes: snapshot_map_nodes() of both. */
static inline uint32_t
snapshot_same_port(const struct snapshot *from, uint32_t port,
		   const uint32_t *nodes, const struct snapshot *to)
{
	return snapshot_port_of(to, nodes[from->ports[port].node],
				from->ports[port].num);
}

/* By GUID: binary search, SNAPSHOT_NONE if no node has it. By port GUID: linear
 * over the end ports, for command lines and files, not for inner loops. */
uint32_t snapshot_find_node(const struct snapshot *s, uint64_t node_guid);
uint32_t snapshot_find_port(const struct snapshot *s, uint64_t port_guid);

/* From the numbers of one snapshot to those of another: by node, the one of
 * `to` (NULL: has none) with its NodeGUID, or SNAPSHOT_NONE. g_free. */
uint32_t *snapshot_map_nodes(const struct snapshot *from,
			     const struct snapshot *to);

/* True for a port that can own a LID: port 0 of a switch, a known port of a
 * CA or router. */
bool snapshot_is_end_port(const struct snapshot *s, uint32_t port);

/* Is the CA of this port a part of the switch `node`, as an aggregation node is?
 * Devices of one system have the same SystemImageGUID; in chassis the CA's is its
 * switch's NodeGUID. */
static inline bool
snapshot_is_inside(const struct snapshot *s, uint32_t port, uint32_t node)
{
	const struct node_info *ca = &snapshot_node_of(s, port)->info;
	const struct node_info *of = &s->nodes[node].info;

	return ca->system_guid && (ca->system_guid == of->system_guid ||
				   ca->system_guid == of->node_guid);
}

/* Is the node a CA inside of the switch that it is cabled to? It is no host. */
bool snapshot_is_part(const struct snapshot *s, uint32_t node);

/* True if the port is physically up and cabled, and both ends can be used:
 * PortInfo is known, and of a switch SwitchInfo. */
bool snapshot_link_up(const struct snapshot *s, uint32_t port);

/* The cable at `port` joins two switches; true at the lower one of its ends. */
static inline bool
snapshot_joins_switches(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return peer != SNAPSHOT_NONE && port < peer &&
		snapshot_is_switch(snapshot_node_of(s, port)) &&
		snapshot_is_switch(snapshot_node_of(s, peer));
}

/* The link at `port` is slower than what both its ends support, which *best has
 * as if it were active. */
bool link_is_slow(const struct snapshot *s, uint32_t port,
		  struct port_info *best);

/* The directed route from the SM to the node of `port` (for a CA or router,
 * into that very port). False if there is none or it would be too long. */
bool snapshot_path(const struct snapshot *s, uint32_t port,
		   struct dr_path *path);
/* The port by which a directed route enters its last node; SNAPSHOT_NONE: it
 * leads to none. */
uint32_t snapshot_path_end(const struct snapshot *s,
			   const struct dr_path *path);

/*
 * Faults of a fabric that discovery found; part of a snapshot.
 */

enum snapshot_fault_kind {
	SNAPSHOT_FAULT_DUPLICATE_GUID,	/* one GUID in two places */
	SNAPSHOT_FAULT_SILENT,		/* did not answer */
	SNAPSHOT_FAULT_REFUSED,		/* answered with an error status */
	SNAPSHOT_FAULT_LIAR,		/* an answer that contradicts itself */
	SNAPSHOT_FAULT_TOO_FAR,		/* more than 63 hops away */
	SNAPSHOT_FAULT_LOCKED,		/* has a foreign M_Key */
	SNAPSHOT_FAULT_LATE,		/* answered when it was given up */
	SNAPSHOT_FAULT_AS_BEFORE,	/* of a node behind a port, which was not
					   asked again */
	SNAPSHOT_FAULT_UNUSABLE,	/* a node behind a port that answers, and
					   not as it has to */
};

struct snapshot_fault {
	enum snapshot_fault_kind kind;
	uint64_t guid;		/* the node at fault, 0 if it is not known; or */
	uint8_t port;		/* it is that behind this port of the node; else 0 */
	char *text;		/* what, where; one line, owned. Of a node behind a
				   port: what */
};

/* The node that it is about stays left out until a person mends the fault. */
static inline bool
snapshot_fault_stays(const struct snapshot_fault *f)
{
	return f->kind != SNAPSHOT_FAULT_SILENT &&
		f->kind != SNAPSHOT_FAULT_LATE &&
		f->kind != SNAPSHOT_FAULT_AS_BEFORE &&
		f->kind != SNAPSHOT_FAULT_REFUSED &&
		f->kind != SNAPSHOT_FAULT_UNUSABLE;
}

/* It is about a switch's port behind which no node answers, or not as
 * it should. */
static inline bool
snapshot_is_behind_port(const struct snapshot_fault *f)
{
	return f->port && !snapshot_fault_stays(f);
}

/* A switch's port 0, or the port of a host behind a switch; not the manager's own. A
 * fabric may be without such a port, and is then DEGRADED, not NOT UP. */
static inline bool
snapshot_is_other_end(const struct snapshot *s, uint32_t port)
{
	uint32_t at = s->ports[port].peer;

	if (port == s->local_port)
		return false;
	if (snapshot_is_switch(snapshot_node_of(s, port)))
		return s->ports[port].num == 0;
	return at != SNAPSHOT_NONE &&
		snapshot_is_switch(snapshot_node_of(s, at));
}

/* A host's port in trouble, or the switch's port that leads there. */
static inline bool
snapshot_is_stuck(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return peer != SNAPSHOT_NONE &&
		(s->ports[port].trouble || s->ports[peer].trouble);
}

/* NULL: no fault, but for switch ports behind which no node answers; else the
 * first one in words, borrowed. passing: only of those that do not stay. */
const char *snapshot_defect(const struct snapshot *s, bool passing);
/* Adds the faults of `was` that stay. The caller has the only reference on s. */
void snapshot_inherit_faults(struct snapshot *s, const struct snapshot *was);

/* By kind. */
extern const char *const snapshot_fault_names[SNAPSHOT_FAULT_UNUSABLE + 1];

/*
 * Construction, from facts that come in any order.
 */

/*
 * A snapshot under construction, which its user may change in place: nodes and
 * ports are numbered in order of arrival; builder_finish() sorts them and gives
 * the final numbers. Indices stay valid as it grows, pointers to nodes and
 * ports do not. Of the fields of `s` the user sets local_port and, before nodes
 * are added, names: a reference, which the result inherits.
 */
struct builder {
	struct snapshot *s;
	uint32_t room_nodes, room_ports;	/* in its arrays */
	GHashTable *by_guid;	/* uint64_t * -> node index + 1 */
	/* PortGUID, uint64_t * -> port index, which may have lost its GUID
	 * since; NULL: no PortGUID has been searched for yet */
	GHashTable *by_port;
};

struct builder *builder_new(void);
/* All of a snapshot, with its indices. */
struct builder *builder_new_from(const struct snapshot *s);
void builder_free(struct builder *b);

/* Adds a node with all its ports (none known, none cabled). The NodeGUID must
 * be new. The port info->local_port gets info->port_guid (of a switch: port
 * 0). Returns its index in the builder. */
uint32_t builder_add(struct builder *b, const struct node_info *info);

/* The node with this NodeGUID, or SNAPSHOT_NONE. */
uint32_t builder_find(const struct builder *b, uint64_t node_guid);

/* Gives a PortGUID to a port that was added without. builder_add() and this take
 * one that is there twice: of the two builder_find_port() finds the first. */
void builder_name_port(struct builder *b, uint32_t port, uint64_t port_guid);
/* The port with this PortGUID, or SNAPSHOT_NONE. */
uint32_t builder_find_port(struct builder *b, uint64_t port_guid);

/* Sets the description from `len` raw bytes: cut at the first NUL;
 * valid UTF-8 that is printable stays, any other byte becomes '?', as do those of a
 * character that the field's end cuts. */
void builder_describe(struct builder *b, uint32_t node, const uint8_t *desc,
		      size_t len);

/* Cables two ports (a == b: a loopback plug). Neither may be cabled. */
void builder_link(struct builder *b, uint32_t port_a, uint32_t port_b);
void builder_unlink(struct builder *b, uint32_t port);

/* Sets the entry of each node on one of the shortest paths from the local port,
 * by the cables as they are now; SNAPSHOT_NONE where there is none. Returns the
 * hops from the SM's node, by node, or SNAPSHOT_NONE; g_free. */
uint32_t *builder_find_entries(struct builder *b);

void builder_fault(struct builder *b, enum snapshot_fault_kind kind,
		   uint64_t guid, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* Of the node behind this port, SNAPSHOT_NONE: our own one; text: taken. */
void builder_fault_behind(struct builder *b, enum snapshot_fault_kind kind,
			  uint32_t port, char *text);

/* Sorts, renumbers, finds the shortest path from the local port to every node
 * (breadth first, ties to the lower GUID and port), and drops nodes without a
 * path; a CA port that is cabled to one counts as never seen. Without a local
 * port nothing is dropped. Frees the builder; the caller owns the result. */
struct snapshot *builder_finish(struct builder *b);

#endif
