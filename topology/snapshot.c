// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The snapshot: references, look-up, the directed route to a port, and the
 * construction.
 *
 * A snapshot is four flat arrays (nodes, ports, switches, faults). Since every
 * reference between them is an index, a copy is a memcpy of each array and
 * nothing needs relocating; the only pointers are the texts of the faults, and
 * the names that a site gave to nodes, which lie in a table that the snapshots
 * share.
 *
 * Directed routes. A node stores one number: the port of a neighbour that leads
 * into it (`entry`), one hop closer to the SM. snapshot_path() follows that
 * chain and reverses it. All ports of a switch have the same route, since its
 * agent answers for all. An SMP for a CA port must arrive at that port, so its
 * route is that of the switch it is cabled to and one hop more, whichever port
 * of the CA the chain of `entry` uses.
 *
 * Construction. A node is added with all its ports, so that a cable that is
 * seen from the far end first has a port to be linked to. Flow of
 * builder_finish():
 *	1. distance	breadth first over the cables, from the SM's node. A
 *			directed route leaves a CA or router only by the port
 *			that the SM sits on (they do not relay SMPs, IBA
 *			14.2.2), a switch by every external port.
 *	2. order	the nodes that were reached, sorted by NodeGUID
 *	3. assemble	ports follow their nodes; peers are translated, and a
 *			cable to a node that was dropped is dropped with it.
 *			Only a CA's or router's port can be at this end of it
 *			(a switch reaches its neighbours), and no SMP can
 *			have reached that port: it counts as never seen
 *	4. entries	of all cables that lead into a node from one hop nearer,
 *			the one of the lowest far port. Ports are numbered by
 *			(NodeGUID, port) after step 3: the lowest index is the
 *			tie-break that snapshot.h promises, independent of the
 *			order of nodes in step 1.
 *	5. switches	see snapshot_sort_switches()
 * Faults are sorted too, since they are added in the order of answers.
 *
 * Without a local port (a fabric from a file that has no CA) no node is dropped
 * and no node has a path.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topology/snapshot.h"
#include "topology/text.h"

const char *const snapshot_fault_names[] = {
	[SNAPSHOT_FAULT_DUPLICATE_GUID] = "duplicate GUID",
	[SNAPSHOT_FAULT_SILENT] = "silent",
	[SNAPSHOT_FAULT_REFUSED] = "refused",
	[SNAPSHOT_FAULT_LIAR] = "contradicts itself",
	[SNAPSHOT_FAULT_TOO_FAR] = "too far",
	[SNAPSHOT_FAULT_LOCKED] = "locked",
	[SNAPSHOT_FAULT_LATE] = "late",
	[SNAPSHOT_FAULT_AS_BEFORE] = "silent",
	[SNAPSHOT_FAULT_UNUSABLE] = "unusable",
};

const char *const snapshot_trouble_texts[] = {
	[SNAPSHOT_SOUND] = "",
	[SNAPSHOT_NO_NAME] = "does not tell its NodeDescription",
	[SNAPSHOT_NO_TABLE] = "does not tell or take its P_Key or VL table",
	[SNAPSHOT_NO_SETS] = "does not take a Set",
	[SNAPSHOT_NO_ADDRESS] = "acknowledges an address and does not take it",
	[SNAPSHOT_NO_STATE] =
		"has an address and its port does not become Active",
};

struct snapshot *
snapshot_ref(struct snapshot *subnet)
{
	g_atomic_int_inc(&subnet->ref);
	return subnet;
}

void
snapshot_unref(struct snapshot *subnet)
{
	if (!subnet || !g_atomic_int_dec_and_test(&subnet->ref))
		return;
	for (uint32_t i = 0; i < subnet->n_faults; i++)
		g_free(subnet->faults[i].text);
	g_free(subnet->faults);
	g_clear_pointer(&subnet->names, g_hash_table_unref);
	g_free(subnet->switches);
	g_free(subnet->ports);
	g_free(subnet->nodes);
	g_free(subnet);
}

struct snapshot *
snapshot_copy(const struct snapshot *subnet)
{
	struct snapshot *c = g_memdup2(subnet, sizeof(*subnet));

	c->ref = 1;
	c->nodes = g_memdup2(c->nodes, c->n_nodes * sizeof(*c->nodes));
	c->ports = g_memdup2(c->ports, c->n_ports * sizeof(*c->ports));
	c->switches = g_memdup2(c->switches,
				c->n_switches * sizeof(*c->switches));
	c->faults = g_memdup2(c->faults, c->n_faults * sizeof(*c->faults));
	if (c->names)
		g_hash_table_ref(c->names);
	for (uint32_t i = 0; i < c->n_faults; i++)
		c->faults[i].text = g_strdup(c->faults[i].text);
	return c;
}

char *
snapshot_port_name(const struct snapshot *s, uint32_t port)
{
	return snapshot_full_port_name(s, port, NULL);
}

bool
snapshot_is_part(const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];

	for (unsigned num = 1; !snapshot_is_switch(n) &&
	     num <= n->info.num_ports; num++) {
		uint32_t peer = s->ports[n->first_port + num].peer;

		if (peer != SNAPSHOT_NONE)
			return snapshot_is_switch(snapshot_node_of(s, peer)) &&
				snapshot_is_inside(s, n->first_port + num,
						   s->ports[peer].node);
	}
	return false;
}

GHashTable *
snapshot_shared_names(const struct snapshot *s)
{
	g_autoptr(GHashTable) once = g_hash_table_new(g_str_hash, g_str_equal);
	GHashTable *shared = g_hash_table_new(g_str_hash, g_str_equal);

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const char *name = snapshot_node_name(&s->nodes[i]);

		if (!g_hash_table_add(once, (gpointer)name))
			g_hash_table_add(shared, (gpointer)name);
	}
	return shared;
}

char *
snapshot_full_name(const struct snapshot_node *n, GHashTable *shared)
{
	const char *name = snapshot_node_name(n);

	return shared && g_hash_table_contains(shared, name) ?
		g_strdup_printf("%s (" GUID_FORMAT ")", name,
				n->info.node_guid) : g_strdup(name);
}

char *
snapshot_full_port_name(const struct snapshot *s, uint32_t port,
			GHashTable *shared)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);
	g_autofree char *name = snapshot_full_name(n, shared);
	unsigned num = s->ports[port].num;

	if (!num || (!snapshot_is_switch(n) && n->info.num_ports == 1))
		return g_steal_pointer(&name);
	return g_strdup_printf("%s/%u", name, num);
}

char *
snapshot_link_name(const struct snapshot *s, uint32_t port, GHashTable *shared)
{
	g_autofree char *near = snapshot_full_port_name(s, port, shared);
	g_autofree char *far = snapshot_full_port_name(s, s->ports[port].peer,
						       shared);

	return g_strdup_printf("%s - %s", near, far);
}

char *
snapshot_place(const struct snapshot *s, uint32_t node, uint32_t port)
{
	const struct snapshot_node *n = &s->nodes[node];
	const char *name = snapshot_node_name(n);
	g_autofree char *num = port == SNAPSHOT_NONE ? NULL :
		g_strdup_printf(" port %u", s->ports[port].num);

	return g_strdup_printf("%s (" GUID_FORMAT ")%s", *name ? name : "?",
			       n->info.node_guid, num ?: "");
}

uint32_t
snapshot_port_of(const struct snapshot *s, uint32_t node, unsigned num)
{
	if (node == SNAPSHOT_NONE || num > s->nodes[node].info.num_ports)
		return SNAPSHOT_NONE;
	return s->nodes[node].first_port + num;
}

uint32_t
snapshot_find_node(const struct snapshot *s, uint64_t node_guid)
{
	const struct snapshot_node *n = !s->n_nodes ? NULL :
		bsearch(&node_guid, s->nodes, s->n_nodes, sizeof(*n),
			guid_compare);

	return n ? (uint32_t)(n - s->nodes) : SNAPSHOT_NONE;
}

uint32_t *
snapshot_map_nodes(const struct snapshot *from, const struct snapshot *to)
{
	uint32_t *map = g_new(uint32_t, from->n_nodes + 1), k = 0;
	uint32_t n = to ? to->n_nodes : 0;

	for (uint32_t i = 0; i < from->n_nodes; i++) {
		uint64_t guid = from->nodes[i].info.node_guid;

		while (k < n && to->nodes[k].info.node_guid < guid)
			k++;
		map[i] = k < n && to->nodes[k].info.node_guid == guid ? k :
			SNAPSHOT_NONE;
	}
	return map;
}

uint32_t
snapshot_find_port(const struct snapshot *s, uint64_t port_guid)
{
	/* 0 marks a port without a GUID; it names no port */
	if (!port_guid)
		return SNAPSHOT_NONE;
	for (uint32_t p = 0; p < s->n_ports; p++)
		if (s->ports[p].guid == port_guid && snapshot_is_end_port(s, p))
			return p;
	return SNAPSHOT_NONE;
}

bool
snapshot_is_end_port(const struct snapshot *s, uint32_t port)
{
	if (snapshot_is_switch(snapshot_node_of(s, port)))
		return s->ports[port].num == 0;
	return s->ports[port].known;
}

bool
snapshot_link_up(const struct snapshot *s, uint32_t port)
{
	const uint32_t ends[] = { port, s->ports[port].peer };

	if (s->ports[port].info.phys_state != PORT_PHYS_LINK_UP ||
	    ends[1] == SNAPSHOT_NONE)
		return false;
	/* A switch whose SwitchInfo was not read cannot be given a table, so
	 * nothing may be sent through it. */
	for (unsigned i = 0; i < 2; i++) {
		const struct snapshot_node *n = snapshot_node_of(s, ends[i]);

		if (!s->ports[ends[i]].known ||
		    (snapshot_is_switch(n) && !n->sw_known))
			return false;
	}
	return true;
}

bool
link_is_slow(const struct snapshot *s, uint32_t port,
	     struct port_info *best)
{
	const struct snapshot_port *p = &s->ports[port];
	const struct snapshot_port *q;
	uint32_t now;

	if (p->peer == SNAPSHOT_NONE)
		return false;
	q = &s->ports[p->peer];
	if (!p->known || !q->known || p->info.state < PORT_STATE_INIT)
		return false;
	*best = (struct port_info){
		.width_active = port_widest(p->info.width_supported &
					    q->info.width_supported),
		.speed_ext_active = port_fastest(p->info.speed_ext_supported &
				q->info.speed_ext_supported & 15u),
		.speed_active = port_fastest(p->info.speed_supported &
					     q->info.speed_supported & 7u),
	};
	now = port_mbps(&p->info);
	return now && now < port_mbps(best);
}

bool
snapshot_path(const struct snapshot *s, uint32_t port, struct dr_path *path)
{
	uint32_t node = s->ports[port].node, peer = s->ports[port].peer, entry;
	uint8_t back[DR_MAX_HOPS];	/* the reverse of the route */
	unsigned n = 0;

	memset(path, 0, sizeof(*path));
	if (s->local_port == SNAPSHOT_NONE)
		return false;
	if (port == s->local_port)
		return true;
	if (!snapshot_is_switch(&s->nodes[node])) {
		/* A CA or router does not forward SMPs, not even for the SM
		 * behind its other port. */
		if (peer == SNAPSHOT_NONE ||
		    (!snapshot_is_switch(snapshot_node_of(s, peer)) &&
		     peer != s->local_port))
			return false;
		back[n++] = s->ports[peer].num;
		node = s->ports[peer].node;
	}
	while (node != s->ports[s->local_port].node) {
		entry = s->nodes[node].entry;
		if (entry == SNAPSHOT_NONE || n == DR_MAX_HOPS)
			return false;
		back[n++] = s->ports[entry].num;
		node = s->ports[entry].node;
	}
	while (n > 0)
		dr_path_push(path, back[--n]);
	return true;
}

uint32_t
snapshot_path_end(const struct snapshot *s, const struct dr_path *path)
{
	uint32_t port = s->local_port, out;

	for (unsigned i = 1; i <= path->hops && port != SNAPSHOT_NONE; i++) {
		if (i > 1 && !snapshot_is_switch(snapshot_node_of(s, port)))
			return SNAPSHOT_NONE;
		out = snapshot_port_of(s, s->ports[port].node, path->port[i]);
		port = out == SNAPSHOT_NONE ? out : s->ports[out].peer;
	}
	return port;
}

const char *
snapshot_defect(const struct snapshot *s, bool passing)
{
	for (uint32_t i = 0; i < s->n_faults; i++)
		if (!snapshot_is_behind_port(&s->faults[i]) &&
		    !(passing && snapshot_fault_stays(&s->faults[i])))
			return s->faults[i].text;
	if (s->local_port != SNAPSHOT_NONE &&
	    s->ports[s->local_port].peer == SNAPSHOT_NONE)
		return "the manager's own link was not found";
	return NULL;
}

/* --- construction --- */

struct builder *
builder_new(void)
{
	struct builder *b = g_new0(struct builder, 1);

	b->s = g_new0(struct snapshot, 1);
	b->s->ref = 1;
	b->s->local_port = SNAPSHOT_NONE;
	b->by_guid = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					   g_free, NULL);
	return b;
}

struct builder *
builder_new_from(const struct snapshot *s)
{
	struct builder *b = builder_new();

	g_free(b->s);
	b->s = snapshot_copy(s);
	b->room_nodes = s->n_nodes;
	b->room_ports = s->n_ports;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		g_hash_table_insert(b->by_guid,
				    g_memdup2(&s->nodes[i].info.node_guid,
					      sizeof(uint64_t)),
				    GUINT_TO_POINTER(i + 1));
	return b;
}

void
builder_free(struct builder *b)
{
	if (!b)
		return;
	snapshot_unref(b->s);
	g_hash_table_destroy(b->by_guid);
	if (b->by_port)
		g_hash_table_destroy(b->by_port);
	g_free(b);
}

uint32_t
builder_add(struct builder *b, const struct node_info *info)
{
	struct snapshot *s = b->s;
	uint32_t index = s->n_nodes++, first = s->n_ports;
	struct snapshot_node *node;
	unsigned named;
	gboolean fresh;

	s->n_ports += info->num_ports + 1u;
	if (s->n_nodes > b->room_nodes) {
		b->room_nodes = 2 * s->n_nodes;
		s->nodes = g_renew(struct snapshot_node, s->nodes,
				   b->room_nodes);
	}
	if (s->n_ports > b->room_ports) {
		b->room_ports = 2 * s->n_ports;
		s->ports = g_renew(struct snapshot_port, s->ports,
				   b->room_ports);
	}
	node = &s->nodes[index];
	*node = (struct snapshot_node) {
		.info = *info,
		.first_port = first,
		.sw_index = SNAPSHOT_NONE,
		.entry = SNAPSHOT_NONE,
		.name = s->names ? g_hash_table_lookup(s->names,
					&info->node_guid) : NULL,
	};
	for (unsigned num = 0; num <= info->num_ports; num++)
		s->ports[first + num] = (struct snapshot_port) {
			.node = index,
			.num = (uint8_t)num,
			.peer = SNAPSHOT_NONE,
		};
	/* A CA's port numbers start at 1: port 0 is a placeholder without a
	 * GUID. A NodeInfo with a LocalPortNum beyond NumPorts is for the
	 * caller to report; there is no port for its GUID. */
	named = snapshot_is_switch(node) ? 0 : info->local_port;
	if (snapshot_is_switch(node) || (named && named <= info->num_ports))
		builder_name_port(b, first + named, info->port_guid);
	fresh = g_hash_table_insert(b->by_guid,
				    g_memdup2(&info->node_guid,
					      sizeof(uint64_t)),
				    GUINT_TO_POINTER(index + 1));
	g_assert(fresh);
	return index;
}

uint32_t
builder_find(const struct builder *b, uint64_t node_guid)
{
	gpointer found = g_hash_table_lookup(b->by_guid, &node_guid);

	return found ? GPOINTER_TO_UINT(found) - 1 : SNAPSHOT_NONE;
}

static uint32_t
port_with_guid(const struct builder *b, uint64_t port_guid)
{
	gpointer found;
	uint32_t port;

	if (!g_hash_table_lookup_extended(b->by_port, &port_guid, NULL, &found))
		return SNAPSHOT_NONE;
	port = GPOINTER_TO_UINT(found);
	return b->s->ports[port].guid == port_guid ? port : SNAPSHOT_NONE;
}

static void
index_port(struct builder *b, uint32_t port)
{
	uint64_t guid = b->s->ports[port].guid;

	if (guid && port_with_guid(b, guid) == SNAPSHOT_NONE)
		g_hash_table_replace(b->by_port,
				     g_memdup2(&guid, sizeof(guid)),
				     GUINT_TO_POINTER(port));
}

void
builder_name_port(struct builder *b, uint32_t port, uint64_t port_guid)
{
	b->s->ports[port].guid = port_guid;
	if (b->by_port)
		index_port(b, port);
}

uint32_t
builder_find_port(struct builder *b, uint64_t port_guid)
{
	if (!b->by_port) {
		b->by_port = g_hash_table_new_full(g_int64_hash, g_int64_equal,
						   g_free, NULL);
		for (uint32_t port = 0; port < b->s->n_ports; port++)
			index_port(b, port);
	}
	return port_with_guid(b, port_guid);
}

void
builder_describe(struct builder *b, uint32_t node, const uint8_t *desc,
		 size_t len)
{
	struct snapshot_node *is = &b->s->nodes[node];
	bool is_plain = true;
	size_t n = 0;

	for (; n < len && n < NODE_DESC_LEN && desc[n]; n++) {
		is->desc[n] = (char)desc[n];
		is_plain &= g_ascii_isprint(is->desc[n]);
	}
	is->desc[n] = '\0';
	if (!is_plain) {	/* never longer than it was */
		g_autofree char *shown = text_printable(is->desc);

		g_strlcpy(is->desc, shown, sizeof(is->desc));
	}
	*is->nameless = '\0';
}

void
builder_link(struct builder *b, uint32_t port_a, uint32_t port_b)
{
	g_assert(b->s->ports[port_a].peer == SNAPSHOT_NONE);
	g_assert(b->s->ports[port_b].peer == SNAPSHOT_NONE);
	b->s->ports[port_a].peer = port_b;
	b->s->ports[port_b].peer = port_a;
}

void
builder_unlink(struct builder *b, uint32_t port)
{
	uint32_t peer = b->s->ports[port].peer;

	if (peer == SNAPSHOT_NONE)
		return;
	b->s->ports[port].peer = SNAPSHOT_NONE;
	b->s->ports[peer].peer = SNAPSHOT_NONE;
}

/* text: taken over */
static void
append_fault(struct snapshot *s, enum snapshot_fault_kind kind, uint64_t guid,
	     uint8_t port, char *text)
{
	s->faults = g_renew(struct snapshot_fault, s->faults, s->n_faults + 1u);
	s->faults[s->n_faults++] = (struct snapshot_fault){ kind, guid, port,
							    text };
}

void
builder_fault_behind(struct builder *b, enum snapshot_fault_kind kind,
		     uint32_t port, char *text)
{
	bool is_ours = port == SNAPSHOT_NONE;

	append_fault(b->s, kind, is_ours ? 0 :
		     snapshot_node_of(b->s, port)->info.node_guid,
		     is_ours ? 0 : b->s->ports[port].num, text);
}

void
builder_fault(struct builder *b, enum snapshot_fault_kind kind, uint64_t guid,
	      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_fault(b->s, kind, guid, 0, g_strdup_vprintf(format, args));
	va_end(args);
}

/* May a directed route go on by `port` of `node`? (IBA 14.2.2) */
static bool
may_leave_by(const struct snapshot_node *node, const struct snapshot_port *port,
	     bool is_local)
{
	if (snapshot_is_switch(node))
		return port->num != 0;
	return is_local;
}

/* Step 1 */
uint32_t *
builder_find_entries(struct builder *b)
{
	struct snapshot *s = b->s;
	uint32_t *hops = g_new(uint32_t, s->n_nodes);
	uint32_t *queue = g_new(uint32_t, s->n_nodes);
	uint32_t head = 0;
	uint32_t tail = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		hops[i] = SNAPSHOT_NONE;
		s->nodes[i].entry = SNAPSHOT_NONE;
	}
	queue[tail] = s->ports[s->local_port].node;
	hops[queue[tail++]] = 0;

	while (head < tail) {
		uint32_t at = queue[head++];
		const struct snapshot_node *node = &s->nodes[at];

		for (unsigned num = 0; num <= node->info.num_ports; num++) {
			uint32_t p = node->first_port + num;
			const struct snapshot_port *port = &s->ports[p];
			uint32_t next;

			if (port->peer == SNAPSHOT_NONE ||
			    !may_leave_by(node, port, p == s->local_port))
				continue;
			next = s->ports[port->peer].node;
			if (hops[next] != SNAPSHOT_NONE)
				continue;
			hops[next] = hops[at] + 1;
			s->nodes[next].entry = p;
			queue[tail++] = next;
		}
	}
	g_free(queue);
	return hops;
}

/* A node that stays. */
struct reached {
	uint64_t guid;		/* the key */
	uint32_t node;		/* of the builder */
};

/* Step 3. Arrays of the exact size: on a large fabric the ports are what a
 * snapshot costs, and several snapshots are alive at once. */
static struct snapshot *
assemble(const struct snapshot *from, const struct reached *order, uint32_t n)
{
	struct snapshot *s = g_new0(struct snapshot, 1);
	/* port of the builder -> of the snapshot, SNAPSHOT_NONE: dropped */
	g_autofree uint32_t *to = g_new(uint32_t, from->n_ports + 1u);
	uint32_t sw = 0;

	memset(to, 0xff, from->n_ports * sizeof(*to));
	for (uint32_t i = 0; i < n; i++) {
		const struct snapshot_node *node = &from->nodes[order[i].node];

		for (unsigned num = 0; num <= node->info.num_ports; num++)
			to[node->first_port + num] = s->n_ports++;
		s->n_switches += snapshot_is_switch(node);
	}
	s->n_nodes = n;
	s->ref = 1;
	s->nodes = g_new(struct snapshot_node, s->n_nodes);
	s->ports = g_new(struct snapshot_port, s->n_ports);
	s->switches = g_new(uint32_t, s->n_switches);
	s->local_port = from->local_port == SNAPSHOT_NONE ? SNAPSHOT_NONE :
		to[from->local_port];

	for (uint32_t i = 0; i < n; i++) {
		struct snapshot_node *node = &s->nodes[i];
		uint32_t old_port;

		*node = from->nodes[order[i].node];
		/* without a name, or with one of blanks */
		if (!node->desc[strspn(node->desc, " ")])
			g_snprintf(node->nameless, sizeof(node->nameless),
				   GUID_FORMAT, node->info.node_guid);
		old_port = node->first_port;
		node->first_port = to[old_port];
		node->entry = SNAPSHOT_NONE;
		node->sw_index = SNAPSHOT_NONE;
		if (snapshot_is_switch(node))
			s->switches[sw++] = i;
		for (unsigned num = 0; num <= node->info.num_ports; num++) {
			struct snapshot_port *p;

			p = &s->ports[node->first_port + num];
			*p = from->ports[old_port + num];
			p->node = i;
			if (p->peer == SNAPSHOT_NONE)
				continue;
			p->peer = to[p->peer];
			if (p->peer != SNAPSHOT_NONE)
				continue;
			p->guid = 0;
			p->known = false;
			p->info = (struct port_info){ .state = PORT_STATE_NOP };
		}
	}
	return s;
}

struct switch_order {
	const struct snapshot *s;
	const uint16_t *lids;
};

static gint
compare_switches(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct switch_order *o = data;
	uint32_t node[2] = { *(const uint32_t *)a, *(const uint32_t *)b };
	unsigned lid[2];

	for (unsigned i = 0; i < 2; i++) {
		uint32_t port = o->s->nodes[node[i]].first_port;

		lid[i] = o->lids ? o->lids[port] : o->s->ports[port].info.lid;
	}
	/* without a LID: the last */
	return uint_compare(!lid[0], !lid[1]) ?:
		uint_compare(lid[0], lid[1]) ?:
		uint_compare(node[0], node[1]);
}

void
snapshot_sort_switches(struct snapshot *s, const uint16_t *lids)
{
	g_qsort_with_data(s->switches, (gint)s->n_switches,
			  sizeof(*s->switches), compare_switches,
			  &(struct switch_order){ s, lids });
	for (uint32_t sw = 0; sw < s->n_switches; sw++)
		s->nodes[s->switches[sw]].sw_index = sw;
}

static int
compare_faults(const void *a, const void *b)
{
	const struct snapshot_fault *x = a, *y = b;

	return uint_compare(x->guid, y->guid) ?:
		uint_compare(x->kind, y->kind) ?: strcmp(x->text, y->text);
}

/* Of one GUID that several nodes have, each cable of the second one tells: one
 * fault is enough. */
static void
sort_faults(struct snapshot *s)
{
	uint32_t kept = 0;

	if (s->n_faults)
		qsort(s->faults, s->n_faults, sizeof(*s->faults),
		      compare_faults);
	for (uint32_t i = 0; i < s->n_faults; i++) {
		struct snapshot_fault f = s->faults[i];

		if (kept && f.kind == SNAPSHOT_FAULT_DUPLICATE_GUID &&
		    s->faults[kept - 1].kind == f.kind &&
		    s->faults[kept - 1].guid == f.guid)
			g_free(f.text);
		else
			s->faults[kept++] = f;
	}
	s->n_faults = kept;
}

void
snapshot_inherit_faults(struct snapshot *s, const struct snapshot *was)
{
	for (uint32_t i = 0; i < was->n_faults; i++) {
		const struct snapshot_fault *f = &was->faults[i];

		if (snapshot_fault_stays(f))
			append_fault(s, f->kind, f->guid, f->port,
				     g_strdup(f->text));
	}
	sort_faults(s);
}

struct snapshot *
builder_finish(struct builder *b)
{
	struct snapshot *from = b->s, *s;
	g_autofree uint32_t *hops = from->local_port == SNAPSHOT_NONE ? NULL :
		builder_find_entries(b);
	g_autofree struct reached *order = g_new(struct reached,
						 from->n_nodes + 1u);
	uint32_t n_reached = 0;

	/* Step 2 */
	for (uint32_t i = 0; i < from->n_nodes; i++)
		if (!hops || hops[i] != SNAPSHOT_NONE)
			order[n_reached++] = (struct reached){
				from->nodes[i].info.node_guid, i };
	qsort(order, n_reached, sizeof(*order), guid_compare);
	s = assemble(from, order, n_reached);
	snapshot_sort_switches(s, NULL);
	/* Step 4: the lowest far port that is one hop nearer and by which the
	 * SM may come */
	for (uint32_t port = 0; hops && port < s->n_ports; port++) {
		struct snapshot_node *n = &s->nodes[s->ports[port].node];
		uint32_t far = s->ports[port].peer, near;

		if (far >= n->entry)
			continue;
		near = s->ports[far].node;
		if (hops[order[near].node] + 1 ==
		    hops[order[s->ports[port].node].node] &&
		    may_leave_by(&s->nodes[near], &s->ports[far],
				 far == s->local_port))
			n->entry = far;
	}
	sort_faults(from);
	s->n_faults = from->n_faults;
	from->n_faults = 0;
	s->faults = g_steal_pointer(&from->faults);
	s->names = g_steal_pointer(&from->names);
	builder_free(b);
	return s;
}
