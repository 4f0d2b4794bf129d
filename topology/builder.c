// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From facts in any order to a snapshot in one order.
 *
 * Structs. A builder is the snapshot's arrays still growing: nodes and ports
 * numbered by arrival, a hash from NodeGUID to node, the faults, and the local
 * port. A node is added with all its ports, so that a cable that is seen from
 * the far end first has a port to be linked to.
 *
 * Flow of builder_finish():
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
 *			tie-break that builder.h promises, independent of the
 *			order of nodes in step 1.
 * Faults are sorted too, since they are added in the order of answers.
 *
 * Without a local port (a fabric from a file that has no CA) no node is dropped
 * and no node has a path.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topology/builder.h"

struct builder {
	GArray *nodes;		/* struct snapshot_node */
	GArray *ports;		/* struct snapshot_port */
	GArray *faults;		/* struct snapshot_fault */
	GHashTable *by_guid;	/* uint64_t * -> node index + 1 */
	GHashTable *names;	/* or NULL */
	uint32_t local;
};

struct snapshot_node *
builder_node_at(const struct builder *b, uint32_t node)
{
	g_assert(node < b->nodes->len);
	return &g_array_index(b->nodes, struct snapshot_node, node);
}

struct snapshot_port *
builder_port_at(const struct builder *b, uint32_t port)
{
	g_assert(port < b->ports->len);
	return &g_array_index(b->ports, struct snapshot_port, port);
}

uint32_t
builder_holder_of(const struct builder *b, uint32_t port)
{
	const struct snapshot_node *n = builder_node_at(b,
					builder_port_at(b, port)->node);

	return snapshot_is_switch(n) ? n->first_port : port;
}

struct builder *
builder_new(void)
{
	struct builder *b = g_new0(struct builder, 1);

	b->nodes = g_array_new(FALSE, TRUE, sizeof(struct snapshot_node));
	b->ports = g_array_new(FALSE, TRUE, sizeof(struct snapshot_port));
	b->faults = g_array_new(FALSE, FALSE, sizeof(struct snapshot_fault));
	b->by_guid = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					   g_free, NULL);
	b->local = SNAPSHOT_NONE;
	return b;
}

struct builder *
builder_new_from(const struct snapshot *s, GHashTable *names)
{
	struct builder *b = builder_new();

	if (names)
		builder_set_names(b, names);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *n = &s->nodes[i];
		struct snapshot_node *copy;
		const char *name;

		builder_add(b, &n->info);
		copy = builder_node_at(b, i);
		g_assert(copy->first_port == n->first_port);
		name = copy->name;
		*copy = *n;
		copy->name = name;
	}
	memcpy(b->ports->data, s->ports, s->n_ports * sizeof(*s->ports));
	b->local = s->local_port;
	return b;
}

void
builder_free(struct builder *b)
{
	if (!b)
		return;
	for (guint i = 0; i < b->faults->len; i++)
		g_free(g_array_index(b->faults, struct snapshot_fault, i).text);
	g_array_free(b->faults, TRUE);
	g_array_free(b->ports, TRUE);
	g_array_free(b->nodes, TRUE);
	g_hash_table_destroy(b->by_guid);
	g_clear_pointer(&b->names, g_hash_table_unref);
	g_free(b);
}

void
builder_set_names(struct builder *b, GHashTable *names)
{
	g_assert(!b->names);
	b->names = g_hash_table_ref(names);
}

uint32_t
builder_add(struct builder *b, const struct node_info *info)
{
	uint32_t index = b->nodes->len;
	uint32_t first = b->ports->len;
	struct snapshot_node node = {
		.info = *info,
		.first_port = first,
		.sw_index = SNAPSHOT_NONE,
		.entry = SNAPSHOT_NONE,
	};
	unsigned named = snapshot_is_switch(&node) ? 0 : info->local_port;
	uint64_t *key = g_new(uint64_t, 1);
	gboolean fresh;

	if (b->names)
		node.name = g_hash_table_lookup(b->names, &info->node_guid);
	*key = info->node_guid;
	fresh = g_hash_table_insert(b->by_guid, key,
				    GUINT_TO_POINTER(index + 1));
	g_assert(fresh);

	g_array_append_val(b->nodes, node);
	g_array_set_size(b->ports, first + info->num_ports + 1u);
	for (unsigned num = 0; num <= info->num_ports; num++) {
		struct snapshot_port *port = builder_port_at(b, first + num);

		port->node = index;
		port->num = (uint8_t)num;
		port->peer = SNAPSHOT_NONE;
	}
	/* A CA's port numbers start at 1: port 0 is a placeholder without a
	 * GUID. A NodeInfo with a LocalPortNum beyond NumPorts is for the
	 * caller to report; there is no port for its GUID. */
	if (snapshot_is_switch(&node) || (named && named <= info->num_ports))
		builder_port_at(b, first + named)->guid = info->port_guid;
	return index;
}

uint32_t
builder_find(const struct builder *b, uint64_t node_guid)
{
	gpointer found = g_hash_table_lookup(b->by_guid, &node_guid);

	return found ? GPOINTER_TO_UINT(found) - 1 : SNAPSHOT_NONE;
}

uint32_t
builder_n_nodes(const struct builder *b)
{
	return b->nodes->len;
}

uint32_t
builder_port(const struct builder *b, uint32_t node, unsigned num)
{
	const struct snapshot_node *n = builder_node_at(b, node);

	if (num > n->info.num_ports)
		return SNAPSHOT_NONE;
	return n->first_port + num;
}

void
builder_describe(struct builder *b, uint32_t node, const uint8_t *desc,
		 size_t len)
{
	char *out = builder_node_at(b, node)->desc;
	size_t n = 0;

	for (; n < len && n < NODE_DESC_LEN && desc[n]; n++)
		out[n] = g_ascii_isprint((char)desc[n]) ? (char)desc[n] : '?';
	out[n] = '\0';
}

void
builder_link(struct builder *b, uint32_t port_a, uint32_t port_b)
{
	g_assert(builder_port_at(b, port_a)->peer == SNAPSHOT_NONE);
	g_assert(builder_port_at(b, port_b)->peer == SNAPSHOT_NONE);
	builder_port_at(b, port_a)->peer = port_b;
	builder_port_at(b, port_b)->peer = port_a;
}

void
builder_unlink(struct builder *b, uint32_t port)
{
	uint32_t peer = builder_port_at(b, port)->peer;

	if (peer == SNAPSHOT_NONE)
		return;
	builder_port_at(b, port)->peer = SNAPSHOT_NONE;
	builder_port_at(b, peer)->peer = SNAPSHOT_NONE;
}

uint32_t
builder_local(const struct builder *b)
{
	return b->local;
}

void
builder_set_local(struct builder *b, uint32_t port)
{
	g_assert(port < b->ports->len);
	b->local = port;
}

void
builder_fault(struct builder *b, enum snapshot_fault_kind kind, uint64_t guid,
	      const char *format, ...)
{
	struct snapshot_fault fault = { .kind = kind, .guid = guid };
	va_list args;

	va_start(args, format);
	fault.text = g_strdup_vprintf(format, args);
	va_end(args);
	g_array_append_val(b->faults, fault);
}

unsigned
builder_n_faults(const struct builder *b)
{
	return b->faults->len;
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

/* Step 1. Hops from the SM's node by builder index, SNAPSHOT_NONE for a node
 * without a path; and an entry to each of the others. */
static uint32_t *
measure_distance(struct builder *b)
{
	uint32_t *hops = g_new(uint32_t, b->nodes->len);
	uint32_t *queue = g_new(uint32_t, b->nodes->len);
	uint32_t head = 0;
	uint32_t tail = 0;

	for (uint32_t i = 0; i < b->nodes->len; i++) {
		hops[i] = SNAPSHOT_NONE;
		builder_node_at(b, i)->entry = SNAPSHOT_NONE;
	}
	queue[tail] = builder_port_at(b, b->local)->node;
	hops[queue[tail++]] = 0;

	while (head < tail) {
		uint32_t at = queue[head++];
		const struct snapshot_node *node = builder_node_at(b, at);

		for (unsigned num = 0; num <= node->info.num_ports; num++) {
			uint32_t p = node->first_port + num;
			const struct snapshot_port *port = builder_port_at(b,
									   p);
			uint32_t next;

			if (port->peer == SNAPSHOT_NONE ||
			    !may_leave_by(node, port, p == b->local))
				continue;
			next = builder_port_at(b, port->peer)->node;
			if (hops[next] != SNAPSHOT_NONE)
				continue;
			hops[next] = hops[at] + 1;
			builder_node_at(b, next)->entry = p;
			queue[tail++] = next;
		}
	}
	g_free(queue);
	return hops;
}

void
builder_find_entries(struct builder *b)
{
	g_free(measure_distance(b));
}

/* A node that stays. */
struct reached {
	uint64_t guid;		/* the key */
	uint32_t node;		/* of the builder */
};

/* Step 3. Arrays of the exact size: on a large fabric the ports are what a
 * snapshot costs, and several snapshots are alive at once. */
static struct snapshot *
assemble(const struct builder *b, const struct reached *order, uint32_t n)
{
	struct snapshot *s = g_new0(struct snapshot, 1);
	/* port of the builder -> of the snapshot, SNAPSHOT_NONE: dropped */
	g_autofree uint32_t *to = g_new(uint32_t, b->ports->len + 1u);
	uint32_t sw = 0;

	memset(to, 0xff, b->ports->len * sizeof(*to));
	for (uint32_t i = 0; i < n; i++) {
		const struct snapshot_node *node = builder_node_at(b,
							order[i].node);

		for (unsigned num = 0; num <= node->info.num_ports; num++)
			to[node->first_port + num] = s->n_ports++;
		s->n_switches += snapshot_is_switch(node);
	}
	s->n_nodes = n;
	s->ref = 1;
	if (b->names)
		s->names = g_hash_table_ref(b->names);
	s->nodes = g_new(struct snapshot_node, s->n_nodes);
	s->ports = g_new(struct snapshot_port, s->n_ports);
	s->switches = g_new(uint32_t, s->n_switches);
	s->local_port = b->local == SNAPSHOT_NONE ? b->local : to[b->local];

	for (uint32_t i = 0; i < n; i++) {
		struct snapshot_node *node = &s->nodes[i];
		uint32_t old_port;

		*node = *builder_node_at(b, order[i].node);
		old_port = node->first_port;
		node->first_port = to[old_port];
		node->entry = SNAPSHOT_NONE;
		node->sw_index = SNAPSHOT_NONE;
		if (snapshot_is_switch(node)) {
			node->sw_index = sw;
			s->switches[sw++] = i;
		}
		for (unsigned num = 0; num <= node->info.num_ports; num++) {
			struct snapshot_port *p;

			p = &s->ports[node->first_port + num];
			*p = *builder_port_at(b, old_port + num);
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

static gint
compare_faults(gconstpointer a, gconstpointer b)
{
	const struct snapshot_fault *fa = a;
	const struct snapshot_fault *fb = b;

	if (fa->guid != fb->guid)
		return fa->guid < fb->guid ? -1 : 1;
	if (fa->kind != fb->kind)
		return fa->kind < fb->kind ? -1 : 1;
	return strcmp(fa->text, fb->text);
}

struct snapshot *
builder_finish(struct builder *b)
{
	g_autofree uint32_t *hops = b->local == SNAPSHOT_NONE ? NULL :
		measure_distance(b);
	g_autofree struct reached *order = g_new(struct reached,
						 b->nodes->len + 1u);
	uint32_t n_reached = 0;
	struct snapshot *s;

	/* Step 2 */
	for (uint32_t i = 0; i < b->nodes->len; i++)
		if (!hops || hops[i] != SNAPSHOT_NONE)
			order[n_reached++] = (struct reached){
				builder_node_at(b, i)->info.node_guid, i };
	qsort(order, n_reached, sizeof(*order), guid_compare);
	s = assemble(b, order, n_reached);
	/* Step 4: the lowest far port that is one hop nearer and by which the
	 * SM may come */
	for (uint32_t port = 0; hops && port < s->n_ports; port++) {
		struct snapshot_node *n = &s->nodes[s->ports[port].node];
		uint32_t far = s->ports[port].peer, from;

		if (far >= n->entry)
			continue;
		from = s->ports[far].node;
		if (hops[order[from].node] + 1 ==
		    hops[order[s->ports[port].node].node] &&
		    may_leave_by(&s->nodes[from], &s->ports[far],
				 far == s->local_port))
			n->entry = far;
	}
	/* The snapshot takes the texts over; the builder is left without
	 * faults. */
	g_array_sort(b->faults, compare_faults);
	s->n_faults = b->faults->len;
	s->faults = g_memdup2(b->faults->data,
			      s->n_faults * sizeof(*s->faults));
	g_array_set_size(b->faults, 0);
	builder_free(b);
	return s;
}
