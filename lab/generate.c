// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics by formula.
 *
 * Flow:	text --parse_groups()--> numbers --draw()--> nodes and cables in
 *		a builder, --generate_fabric()--> fewer cables --set_guids()-->
 *		builder_finish()
 *
 * Structs. A drawing has the numbers of the text in groups, checked against the
 * line of its shape in shapes[] (the grammar is that table), and the nodes and
 * cables that the shape draws. Attributes are the same for all shapes: a node
 * gets a GUID, a name and the attributes of a device that was just switched on:
 * links trained and in Init (IBA 7.2), LIDs 0. Nodes that failures cut off from
 * the first host are dropped by builder_finish(), as by a discovery.
 *
 * Sizes are checked before anything is drawn, each count before it can
 * overflow, so that a typing error gives a message and does not exhaust memory.
 *
 * The links of random(), the failures and the GUIDs draw from streams of their
 * own, all made from the one seed: shuffling GUIDs does not change which links
 * fail. GUIDs are 256 apart, so that a CA's PortGUIDs (NodeGUID + port number)
 * fit between two NodeGUIDs, also after a shuffle over switches and CAs.
 *
 * Cables and switches that fail are chosen by selection sampling (Knuth, The
 * Art of Computer Programming, 3.4.2, algorithm S); a switch fails by losing
 * its cables.
 *
 * Source of the fat trees: Zahavi, "Fat-trees routing and node ordering
 * providing contention free traffic for MPI global collectives", 2011, after
 * Oehring et al., "On generalized fat trees", 1995.
 */
#include "lab/generate.h"

#include <stdio.h>
#include <string.h>

#include "tools/device.h"
#include "tools/net_file_parse.h"
#include "topology/prng.h"
#include "topology/text.h"

#define SWITCH_GUID	0x5000000000000000u
#define CA_GUID		0x6000000000000000u
#define GUID_STEP	256u

#define AGGREGATION	"+an"	/* behind the numbers */
#define SPEC_GROUPS	3u
#define SPEC_NUMBERS	8u	/* in a group: levels of a tree */
#define MAX_NUMBER	65535u
#define MAX_NODES	65535u
#define MAX_PORTS	254u	/* a node; 255 is no port (IBA 14.2.5.10) */

/* Which stream of random numbers of the seed is for what */
enum stream {
	STREAM_LINKS = 1,
	STREAM_FAILURES = 2,
	STREAM_GUIDS = 3,
	/* of the seed of snapshot_fail_links() */
	STREAM_FAILED_LINKS = 1,
	STREAM_FAILED_SWITCHES = 2,
};

struct numbers {
	unsigned n;
	uint32_t v[SPEC_NUMBERS];
};

struct drawing {
	const char *text;
	const struct shape *shape;
	uint64_t seed;
	GError **error;
	unsigned n_groups;
	struct numbers group[SPEC_GROUPS];
	bool has_aggregation;	/* "+an" */
	struct builder *b;
	GArray *cables;		/* between switches, in the order of drawing:
				   uint32_t, a port */
};

struct shape {
	const char *name;
	const char *form;	/* for messages */
	unsigned min_groups, max_groups;
	struct {
		unsigned min, max;
	} numbers[SPEC_GROUPS];
	bool (*draw)(struct drawing *sk);
	uint32_t wrap;		/* of a grid */
};

/* Always false. */
static bool G_GNUC_PRINTF(2, 3)
bad_spec(struct drawing *sk, const char *format, ...)
{
	g_autofree char *why = NULL, *text = NULL, *shown = NULL;
	va_list args;

	va_start(args, format);
	why = g_strdup_vprintf(format, args);
	va_end(args);
	text = g_strdup_printf("\"%s\": %s", sk->text, why);
	shown = text_printable(text);
	return text_refuse(sk->error, "%s", shown);
}

/* level 0: a host, else a switch; index: within the level. The GUIDs are
 * preliminary. A switch with an aggregation node has one more port for it. */
static uint32_t
draw_node(struct drawing *sk, unsigned level, uint32_t index, unsigned n_ports)
{
	unsigned n_more = level && sk->has_aggregation;
	char desc[NODE_DESC_LEN];
	const struct node_info info = {
		.node_type = level ? NODE_SWITCH : NODE_CA,
		.num_ports = (uint8_t)(n_ports + n_more),
		.local_port = 1,
		.node_guid = sk->b->s->n_nodes + 1,
	};
	uint32_t node;

	if (level)
		snprintf(desc, sizeof(desc), "S-%u-%u", level, index);
	else
		snprintf(desc, sizeof(desc), "H-%u", index);
	node = device_add(sk->b, &info, desc, &device_idle_port);
	for (unsigned num = 2; !level && num <= n_ports; num++)
		device_add_port(sk->b, node, num, 0,
				&device_idle_port);
	return node;
}

static void
draw_cable(struct drawing *sk, uint32_t node_a, uint32_t num_a,
	   uint32_t node_b, uint32_t num_b)
{
	const uint32_t ports[] = {
		snapshot_port_of(sk->b->s, node_a, num_a),
		snapshot_port_of(sk->b->s, node_b, num_b),
	};

	builder_link(sk->b, ports[0], ports[1]);
	for (unsigned i = 0; i < 2; i++) {
		struct port_info *info = &sk->b->s->ports[ports[i]].info;

		info->state = PORT_STATE_INIT;
		info->phys_state = PORT_PHYS_LINK_UP;
	}
	if (snapshot_is_switch(&sk->b->s->nodes[node_a]) &&
	    snapshot_is_switch(&sk->b->s->nodes[node_b]))
		g_array_append_val(sk->cables, ports[0]);
}

static bool
check_nodes(struct drawing *sk, uint64_t n, const char *what)
{
	return n <= MAX_NODES ||
		bad_spec(sk, "more than %u %s", MAX_NODES, what);
}

static bool
check_ports(struct drawing *sk, uint64_t n, const char *what)
{
	n += sk->has_aggregation;
	return n <= MAX_PORTS ||
		bad_spec(sk, "%" G_GUINT64_FORMAT " ports on %s, at most %u "
			 "are possible", n, what, MAX_PORTS);
}

/* ---- fat trees ---- */

/*
 * A node of level l is (a_h .. a_l+1, b_1 .. b_l), a_i below m_i, b_i below
 * w_i; its index is the number with these digits, the a's in front. A child and
 * a parent are connected if they agree in all digits but the l-th, which is
 * a_l in the child and b_l in the parent (Zahavi 2011, section 2).
 */
struct tree {
	unsigned height;
	uint32_t m[SPEC_NUMBERS + 1], w[SPEC_NUMBERS + 1];
	uint32_t p[SPEC_NUMBERS + 1];
	uint32_t size[SPEC_NUMBERS + 1];	/* nodes of a level */
	uint32_t tail[SPEC_NUMBERS + 1];	/* w_1 * .. * w_l */
	uint32_t first[SPEC_NUMBERS + 1];	/* in the drawing */
	/* Ports of a node of a level. The numbers are below 2^16: no product
	 * overflows. */
	uint64_t down[SPEC_NUMBERS + 1], up[SPEC_NUMBERS + 1];
};

/* Reads the numbers and counts; false if the tree is too large. */
static bool
tree_measure(struct drawing *sk, struct tree *t)
{
	uint64_t total = 0;
	char what[48];

	memset(t, 0, sizeof(*t));
	t->height = sk->group[0].n;
	for (unsigned i = 1; i <= t->height; i++) {
		t->m[i] = sk->group[0].v[i - 1];
		t->w[i] = sk->group[1].v[i - 1];
		t->p[i] = sk->n_groups > 2 ? sk->group[2].v[i - 1] : 1;
		t->down[i] = (uint64_t)t->m[i] * t->p[i];
		t->up[i - 1] = (uint64_t)t->w[i] * t->p[i];
	}
	for (unsigned l = 0; l <= t->height; l++) {
		uint64_t size = 1;

		snprintf(what, sizeof(what), "nodes at level %u", l);
		t->tail[l] = 1;
		for (unsigned i = 1; i <= t->height; i++) {
			size *= i <= l ? t->w[i] : t->m[i];
			if (!check_nodes(sk, size, what))
				return false;
			if (i == l)
				t->tail[l] = (uint32_t)size;
		}
		t->size[l] = (uint32_t)size;
		total += size;
		snprintf(what, sizeof(what), "a node of level %u", l);
		if (!check_nodes(sk, total, "nodes") ||
		    !check_ports(sk, t->down[l] + t->up[l], what))
			return false;
	}
	return true;
}

/* All cables from level l - 1 up to level l. Parallel cables and parents go
 * round robin: the cables to one parent are w_l ports apart. */
static void
tree_cable_level(const struct tree *t, unsigned l, struct drawing *sk)
{
	uint32_t down = (uint32_t)t->down[l - 1];

	for (uint32_t i = 0; i < t->size[l - 1]; i++) {
		uint32_t low = i % t->tail[l - 1];
		uint32_t high = i / t->tail[l - 1];
		uint32_t a = high % t->m[l];

		for (uint32_t b = 0; b < t->w[l]; b++) {
			uint32_t up = high / t->m[l] * t->tail[l] +
				      low * t->w[l] + b;

			for (uint32_t k = 0; k < t->p[l]; k++)
				draw_cable(sk, t->first[l - 1] + i,
					   down + 1 + k * t->w[l] + b,
					   t->first[l] + up,
					   1 + k * t->m[l] + a);
		}
	}
}

static bool
draw_tree(struct drawing *sk)
{
	struct tree t;

	for (unsigned i = 1; i < sk->n_groups; i++)
		if (sk->group[i].n != sk->group[0].n)
			return bad_spec(sk, "%u number%s in part %u, but %u "
					"level%s in part 1", sk->group[i].n,
					text_plural(sk->group[i].n), i + 1,
					sk->group[0].n,
					text_plural(sk->group[0].n));
	if (!tree_measure(sk, &t))
		return false;

	for (unsigned l = 0; l <= t.height; l++) {
		t.first[l] = sk->b->s->n_nodes;
		for (uint32_t i = 0; i < t.size[l]; i++)
			draw_node(sk, l, i, (unsigned)(t.down[l] + t.up[l]));
	}
	for (unsigned l = 1; l <= t.height; l++)
		tree_cable_level(&t, l, sk);
	return true;
}

/* ---- grids: rings, meshes, tori, HyperX, a single switch ---- */

/* The switches of a box, of so many ports each, and `hosts` CAs of one port on
 * ports 1 to `hosts` of each, no cable between switches yet. How many switches they are; 0: refused. */
static uint32_t
draw_box(struct drawing *sk, const struct numbers *dims, uint32_t hosts,
	 uint64_t ports)
{
	uint64_t n = 1;

	for (unsigned d = 0; d < dims->n; d++) {
		n *= dims->v[d];
		if (!check_nodes(sk, n, "switches"))
			return 0;
	}
	if (!check_nodes(sk, n + n * hosts, "nodes") ||
	    !check_ports(sk, ports, "a switch"))
		return 0;

	for (uint32_t i = 0; i < n; i++)
		draw_node(sk, 1, i, (unsigned)ports);
	for (uint32_t i = 0; i < n * hosts; i++)
		draw_cable(sk, draw_node(sk, 0, i, 1), 1, i / hosts,
			   i % hosts + 1);
	return (uint32_t)n;
}

/* A dimension closes on itself from this size on; a wrap of two would be a
 * second cable beside the first. WRAP_ALL: each switch is cabled to all in its
 * rows (Ahn et al., "HyperX: topology, routing, and packaging of efficient
 * large-scale networks", 2009). */
#define WRAP_TORUS	3u
#define WRAP_NEVER	UINT32_MAX
#define WRAP_ALL	0u

/*
 * Switches in a box, `hosts` on each: the last part is the hosts, the one
 * before it the dimensions, of which a single switch has none. Ports of a
 * switch: the hosts, then for each dimension one up and one down, or one for
 * each other switch of the row; at an edge without a wrap the port stays empty,
 * so a port means the same direction everywhere.
 */
static bool
draw_grid(struct drawing *sk)
{
	static const struct numbers point;
	const struct numbers *dims = sk->n_groups > 1 ? &sk->group[0] : &point;
	uint32_t hosts = sk->group[sk->n_groups - 1].v[0], stride = 1, n;
	uint32_t wrap = sk->shape->wrap, first = hosts + 1;
	uint64_t ports = hosts;

	for (unsigned d = 0; d < dims->n; d++)
		ports += wrap == WRAP_ALL ? dims->v[d] - 1 : 2;
	n = draw_box(sk, dims, hosts, ports);
	if (!n)
		return false;
	for (unsigned d = 0; d < dims->n; d++) {
		uint32_t size = dims->v[d];

		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = i / stride % size, to = at + 1;

			for (; wrap == WRAP_ALL && to < size; to++)
				draw_cable(sk, i, first + to - 1,
					   i + (to - at) * stride, first + at);
			if (to < size)
				draw_cable(sk, i, first, i + stride, first + 1);
			else if (wrap != WRAP_ALL && size >= wrap)
				draw_cable(sk, i, first, i - at * stride,
					   first + 1);
		}
		stride *= size;
		first += wrap == WRAP_ALL ? size - 1 : 2;
	}
	return true;
}

static bool
draw_pair(struct drawing *sk)
{
	uint32_t a = draw_node(sk, 0, 0, 1);
	uint32_t b = draw_node(sk, 0, 1, 1);

	draw_cable(sk, a, 1, b, 1);
	return true;
}

/* ---- rails ---- */

/* `n_more` switches of a level above the n from `from` on: as many for each of
 * the planes, joined to all its switches; switch i is in plane i mod planes. */
static void
draw_above(struct drawing *sk, uint32_t from, uint32_t n, uint32_t port,
	   unsigned level, uint32_t n_more, uint32_t planes, uint32_t n_ports)
{
	uint32_t to = sk->b->s->n_nodes;

	for (uint32_t k = 0; k < n_more; k++)
		draw_node(sk, level, k, n_ports);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n_more / planes; k++)
			draw_cable(sk, from + i, port + k,
				   to + i % planes + k * planes,
				   i / planes + 1);
}

/*
 * Switch s belongs to rail s mod r; host k is on switch k mod (size of the
 * rail) of each rail. Ports of a switch: the hosts, then the ring. Instead of
 * the ring there are, with one number more, spines that join all switches; with
 * two, spines for each rail, and cores that join all spines.
 */
static bool
draw_rails(struct drawing *sk)
{
	const struct numbers *above = &sk->group[2];
	uint32_t n = sk->group[0].v[0];
	uint32_t hosts = sk->group[1].v[0];
	uint32_t rails = sk->group[1].v[1];
	uint32_t tops = above->n ? above->v[above->n - 1] : 0;
	uint64_t spines = above->n > 1 ? (uint64_t)above->v[0] * rails : 0;
	uint32_t smallest, most, longest = (n + rails - 1) / rails;
	uint32_t up = spines ? above->v[0] : tops ? tops : 2;

	if (rails > n)
		return bad_spec(sk, "%u rails, but only %u switch%s; each rail "
				"needs one", rails, n, text_plural_es(n));
	smallest = n / rails;
	most = (hosts + smallest - 1) / smallest;
	if (!check_nodes(sk, (uint64_t)n + hosts + spines + tops, "nodes") ||
	    !check_ports(sk, rails, "a host") ||
	    !check_ports(sk, (uint64_t)most + up, "a switch") ||
	    !check_ports(sk, spines ? longest + tops : 0, "a spine") ||
	    !check_ports(sk, tops ? spines ? spines : n : 0, "a top switch"))
		return false;

	for (uint32_t i = 0; i < n; i++)
		draw_node(sk, 1, i, most + up);
	for (uint32_t k = 0; k < hosts; k++) {
		uint32_t ca = draw_node(sk, 0, k, rails);

		for (uint32_t r = 0; r < rails; r++) {
			uint32_t size = n / rails + (r < n % rails);

			draw_cable(sk, ca, r + 1, r + k % size * rails,
				   k / size + 1);
		}
	}
	if (spines) {
		draw_above(sk, 0, n, most + 1, 2, (uint32_t)spines, rails,
			   longest + tops);
		draw_above(sk, n + hosts, (uint32_t)spines, longest + 1, 3,
			   tops, 1, (uint32_t)spines);
	} else {
		draw_above(sk, 0, n, most + 1, 2, tops, 1, n);
	}
	for (uint32_t i = 0; !tops && i + 1 < n; i++)
		draw_cable(sk, i, most + 1, i + 1, most + 2);
	if (!tops && n >= WRAP_TORUS)
		draw_cable(sk, n - 1, most + 1, 0, most + 2);
	return true;
}

/* ---- dragonflies ---- */

/*
 * Groups of `a` switches, all cabled to all; a switch has p hosts and h cables
 * to other groups, one between any two of the a * h + 1 groups (Kim et al.,
 * "Technology-driven, highly-scalable dragonfly topology", 2008; the cables
 * in the order that the literature calls absolute). Ports: hosts, group,
 * other groups.
 */
static bool
draw_dragonfly(struct drawing *sk)
{
	uint32_t a = sk->group[0].v[0], p = sk->group[0].v[1];
	uint32_t h = sk->group[0].v[2];
	uint32_t groups = a * h + 1;	/* below 2^32 */
	const struct numbers box = { 2, { a, groups } };

	if (!draw_box(sk, &box, p, (uint64_t)p + a - 1 + h))
		return false;
	for (uint32_t g = 0; g < groups; g++) {
		/* Of a pair, i leaves by its port number j - 1, j by i. */
		for (uint32_t i = 0; i < a; i++)
			for (uint32_t j = i + 1; j < a; j++)
				draw_cable(sk, g * a + i, p + j, g * a + j,
					   p + i + 1);
		for (uint32_t far = g + 1; far < groups; far++)
			draw_cable(sk, g * a + (far - 1) / h,
				   p + a + (far - 1) % h, far * a + g / h,
				   p + a + g % h);
	}
	return true;
}

/* ---- random graphs ---- */

struct wiring {
	struct drawing *sk;
	uint32_t n, degree, hosts;
	uint32_t *used;		/* links of each switch so far */
	uint32_t *peer;		/* [switch][link] */
};

static void
wiring_link(struct wiring *w, uint32_t a, uint32_t b)
{
	draw_cable(w->sk, a, w->hosts + 1 + w->used[a], b,
		   w->hosts + 1 + w->used[b]);
	w->peer[(size_t)a * w->degree + w->used[a]++] = b;
	w->peer[(size_t)b * w->degree + w->used[b]++] = a;
}

/* More links between switches that have free ports and no link between them
 * yet, until 100 draws in a row fail: "about" d. */
static void
wire_more(struct wiring *w, uint64_t *rng)
{
	g_autofree uint32_t *open = g_new(uint32_t, w->n);
	uint32_t n_open = 0;
	unsigned vain = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->used[i] < w->degree)
			open[n_open++] = i;
	while (n_open > 1 && vain < 100) {
		uint32_t i = prng_below(rng, n_open);
		uint32_t j = prng_below(rng, n_open);
		const uint32_t *peers = w->peer + (size_t)open[i] * w->degree;
		bool linked = i == j;

		for (uint32_t k = 0; k < w->used[open[i]]; k++)
			linked |= peers[k] == open[j];
		if (linked) {
			vain++;
			continue;
		}
		vain = 0;
		wiring_link(w, open[i], open[j]);
		/* The higher one first: filling its gap leaves the lower. */
		if (w->used[open[MAX(i, j)]] == w->degree)
			open[MAX(i, j)] = open[--n_open];
		if (w->used[open[MIN(i, j)]] == w->degree)
			open[MIN(i, j)] = open[--n_open];
	}
}

static bool
draw_random(struct drawing *sk)
{
	const uint32_t *v = sk->group[0].v;
	struct wiring w = { sk, v[0], v[1], v[2], NULL, NULL };
	uint64_t rng = prng_stream(sk->seed, STREAM_LINKS);

	if (w.degree >= w.n)
		return bad_spec(sk, "%u link%s each, but only %u other "
				"switch%s", w.degree, text_plural(w.degree),
				w.n - 1, text_plural_es(w.n - 1));
	if (w.degree < 2 && w.n > 2)
		return bad_spec(sk, "%u switches with 1 link "
				"each cannot be connected", w.n);
	if (!draw_box(sk, &(struct numbers){ 1, { w.n } }, w.hosts,
		      (uint64_t)w.degree + w.hosts))
		return false;

	w.used = g_new0(uint32_t, w.n);
	w.peer = g_new0(uint32_t, (size_t)w.n * w.degree);
	/* A random tree makes it connected: each switch joins one before it
	 * that has a link free. There is one, as a tree of i nodes uses
	 * 2(i - 1) < i * degree link ends if the degree is 2 or there are two
	 * switches only. */
	for (uint32_t i = 1; i < w.n; i++) {
		uint32_t j = prng_below(&rng, i);

		while (w.used[j] >= w.degree)
			j = (j + 1) % i;
		wiring_link(&w, j, i);
	}
	wire_more(&w, &rng);
	g_free(w.peer);
	g_free(w.used);
	return true;
}

/* On the last port of each switch. */
static void
draw_aggregation(struct drawing *sk)
{
	uint32_t n_nodes = sk->b->s->n_nodes, i, ca;

	for (i = 0; sk->has_aggregation && i < n_nodes; i++) {
		unsigned last = sk->b->s->nodes[i].info.num_ports;
		char desc[NODE_DESC_LEN];

		if (!snapshot_is_switch(&sk->b->s->nodes[i]))
			continue;
		ca = draw_node(sk, 0, i, 1);
		snprintf(desc, sizeof(desc), "AN-%s",
			 snapshot_node_name(&sk->b->s->nodes[i]) + 2);
		builder_describe(sk->b, ca, (const uint8_t *)desc,
				 strlen(desc));
		draw_cable(sk, ca, 1, i, last);
	}
}

/* ---- the text ---- */

static const struct shape shapes[] = {
	{ "PGFT", "PGFT(m1,..,mh;w1,..,wh[;p1,..,ph])", 2, 3,
	  { { 1, SPEC_NUMBERS }, { 1, SPEC_NUMBERS }, { 1, SPEC_NUMBERS } },
	  draw_tree, 0 },
	{ "ring", "ring(n;h)", 2, 2, { { 1, 1 }, { 1, 1 } }, draw_grid,
	  WRAP_TORUS },
	{ "torus", "torus(a,b[,c];h)", 2, 2, { { 2, 3 }, { 1, 1 } },
	  draw_grid, WRAP_TORUS },
	{ "mesh", "mesh(a,b[,c];h)", 2, 2, { { 2, 3 }, { 1, 1 } }, draw_grid,
	  WRAP_NEVER },
	{ "single", "single(h)", 1, 1, { { 1, 1 } }, draw_grid, WRAP_NEVER },
	{ "pair", "pair()", 1, 1, { { 0, 0 } }, draw_pair, 0 },
	{ "random", "random(n,d,h)", 1, 1, { { 3, 3 } }, draw_random, 0 },
	{ "dragonfly", "dragonfly(a,p,h)", 1, 1, { { 3, 3 } },
	  draw_dragonfly, 0 },
	{ "hyperx", "hyperx(s1[,s2..];h)", 2, 2,
	  { { 1, SPEC_NUMBERS }, { 1, 1 } }, draw_grid, WRAP_ALL },
	{ "rails", "rails(n;h,r[;[s,]c])", 2, 3,
	  { { 1, 1 }, { 2, 2 }, { 1, 2 } }, draw_rails, 0 },
};

/* The numbers in their groups, from behind the "(" to the end of the text. */
static bool
parse_groups(struct drawing *sk, const char *at)
{
	char end = *at == ')' ? ')' : ',';

	sk->n_groups = 1;
	if (end == ')')
		at = text_skip_blanks(at + 1);
	while (end != ')') {
		struct numbers *g = &sk->group[sk->n_groups - 1];
		const char *first = at;
		uint64_t n;

		if (g->n == SPEC_NUMBERS)
			return bad_spec(sk, "more than %u numbers in part %u",
					SPEC_NUMBERS, sk->n_groups);
		if (!g_ascii_isdigit(*at))
			return bad_spec(sk, *at ? "a number is missing before "
					"\"%s\"" : "a number is missing at "
					"the end%s", at);
		if (!text_take_digits(&at, 10, MAX_NUMBER, &n) || n < 1)
			return bad_spec(sk, "%.*s is out of range (1 to %u)",
					(int)strspn(first, "0123456789"),
					first, MAX_NUMBER);
		g->v[g->n++] = (uint32_t)n;
		at = text_skip_blanks(at);
		end = *at;
		if (!end)
			return bad_spec(sk, "\")\" is missing");
		if (!strchr(",;)", end))
			return bad_spec(sk, "\"%s\" is neither a number, "
					"\",\", \";\" nor \")\"", at);
		at = text_skip_blanks(at + 1);
		if (end == ';' && sk->n_groups++ == SPEC_GROUPS)
			return bad_spec(sk, "more than %u parts", SPEC_GROUPS);
	}
	if (g_str_has_prefix(at, AGGREGATION)) {
		sk->has_aggregation = true;
		at = text_skip_blanks(at + strlen(AGGREGATION));
	}
	return !*at || bad_spec(sk, "\"%s\" after the end", at);
}

static bool
parse_and_draw(struct drawing *sk)
{
	const char *name = text_skip_blanks(sk->text);
	size_t len = strcspn(name, "( \t");
	const char *at = text_skip_blanks(name + len);
	g_autoptr(GString) names = g_string_new(NULL);
	const struct shape *shape = NULL;

	for (size_t i = 0; !shape && i < G_N_ELEMENTS(shapes); i++) {
		if (strlen(shapes[i].name) == len &&
		    !g_ascii_strncasecmp(shapes[i].name, name, len))
			shape = &shapes[i];
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       shapes[i].name);
	}
	if (!shape)
		return bad_spec(sk, "no shape is called \"%.*s\"; there are "
				"%s", (int)len, name, names->str);
	if (*at != '(')
		return bad_spec(sk, "\"(\" is missing: %s", shape->form);
	if (!parse_groups(sk, text_skip_blanks(at + 1)))
		return false;
	if (sk->n_groups < shape->min_groups ||
	    sk->n_groups > shape->max_groups)
		return bad_spec(sk, "%u part%s, it should be %s", sk->n_groups,
				text_plural(sk->n_groups), shape->form);
	for (unsigned i = 0; i < sk->n_groups; i++) {
		unsigned n = sk->group[i].n;

		if (n < shape->numbers[i].min || n > shape->numbers[i].max)
			return bad_spec(sk,
					"%u number%s in part %u, it should be "
					"%s", n, text_plural(n), i + 1,
					shape->form);
	}
	sk->shape = shape;
	if (!shape->draw(sk))
		return false;
	draw_aggregation(sk);
	return true;
}

/* ---- the snapshot ---- */

/* Leaves this share of `all`, rounded, of the items (uint32_t), in their order:
 * any set with the same probability. */
static void
sample(GArray *items, uint64_t all, unsigned per_mille, uint64_t rng)
{
	uint32_t *v = (void *)items->data, left = items->len, kept = 0;
	uint64_t n = (all * per_mille + 500) / 1000;

	for (guint i = 0; i < items->len; i++)
		if (prng_below(&rng, left--) < n - kept)
			v[kept++] = v[i];
	g_array_set_size(items, kept);
}

static void
pull_cable(struct builder *b, uint32_t port)
{
	const uint32_t ports[] = { port, b->s->ports[port].peer };

	builder_unlink(b, port);
	for (unsigned i = 0; i < 2; i++) {
		struct port_info *info = &b->s->ports[ports[i]].info;

		info->state = PORT_STATE_DOWN;
		info->phys_state = PORT_PHYS_POLLING;
	}
}

/* The aggregation node of a switch. */
static struct snapshot_node *
inner_of(struct snapshot *s, const struct snapshot_node *n)
{
	uint32_t port = s->ports[n->first_port + n->info.num_ports].peer;

	return &s->nodes[s->ports[port].node];
}

/* Of nodes and ports: consecutive for each type, or shuffled over all. The
 * local port is that of the first CA. */
static void
set_guids(struct drawing *sk, bool shuffle)
{
	uint32_t n_nodes = sk->b->s->n_nodes;
	g_autofree uint64_t *guids = g_new(uint64_t, n_nodes);
	uint64_t rng = prng_stream(sk->seed, STREAM_GUIDS);
	uint64_t next_switch = SWITCH_GUID;
	uint64_t next_ca = CA_GUID;

	for (uint32_t i = 0; i < n_nodes; i++) {
		uint64_t *next = snapshot_is_switch(&sk->b->s->nodes[i]) ?
			&next_switch : &next_ca;

		*next += GUID_STEP;
		guids[i] = *next;
	}
	for (uint32_t i = n_nodes; shuffle && i > 1; i--) {
		uint32_t j = prng_below(&rng, i);
		uint64_t guid = guids[i - 1];

		guids[i - 1] = guids[j];
		guids[j] = guid;
	}
	for (uint32_t i = n_nodes; i-- > 0;) {
		struct snapshot_node *n = &sk->b->s->nodes[i];
		unsigned first = !snapshot_is_switch(n);
		unsigned last = first ? n->info.num_ports : 0;

		n->info.node_guid = n->info.system_guid = guids[i];
		n->info.port_guid = guids[i] + first;
		for (unsigned num = first; num <= last; num++)
			sk->b->s->ports[n->first_port + num].guid =
				guids[i] + num;
		if (first)
			sk->b->s->local_port = n->first_port + 1;
	}
	for (uint32_t i = 0; sk->has_aggregation && i < n_nodes; i++) {
		const struct snapshot_node *n = &sk->b->s->nodes[i];

		if (snapshot_is_switch(n))
			inner_of(sk->b->s, n)->info.system_guid = guids[i];
	}
}

struct snapshot *
generate_fabric(const char *text, const struct generate_options *options,
		GError **error)
{
	static const struct generate_options plain;
	struct snapshot *s = NULL;
	struct drawing sk = { .text = text, .error = error };

	if (!options)
		options = &plain;
	g_assert(options->fail_per_mille <= 1000);
	sk.seed = options->seed;
	sk.b = builder_new();
	sk.cables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (parse_and_draw(&sk)) {
		sample(sk.cables, sk.cables->len, options->fail_per_mille,
		       prng_stream(sk.seed, STREAM_FAILURES));
		for (guint i = 0; i < sk.cables->len; i++)
			pull_cable(sk.b, g_array_index(sk.cables, uint32_t, i));
		set_guids(&sk, options->shuffle_guids);
		s = builder_finish(g_steal_pointer(&sk.b));
	}
	builder_free(sk.b);
	g_array_free(sk.cables, TRUE);
	return s;
}

/* ---- failures of any fabric ---- */

/* The switch next to the local port stays: without it nothing can be
 * reached. */
struct snapshot *
snapshot_fail_links(const struct snapshot *s, const struct link_failures *d)
{
	g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct builder *b = builder_new_from(s);
	uint32_t i, port = s->local_port, home = SNAPSHOT_NONE;

	g_assert(d->links_per_mille <= 1000 && d->switches_per_mille <= 1000);

	if (port != SNAPSHOT_NONE && s->ports[port].peer != SNAPSHOT_NONE)
		home = s->ports[s->ports[port].peer].node;
	for (i = 0; i < s->n_switches; i++)
		if (s->switches[i] != home)
			g_array_append_val(nodes, s->switches[i]);
	for (port = 0; port < s->n_ports; port++)
		if (snapshot_joins_switches(s, port))
			g_array_append_val(links, port);
	sample(nodes, s->n_switches, d->switches_per_mille,
	       prng_stream(d->seed, STREAM_FAILED_SWITCHES));
	sample(links, links->len, d->links_per_mille,
	       prng_stream(d->seed, STREAM_FAILED_LINKS));
	for (i = 0; i < links->len; i++)
		pull_cable(b, g_array_index(links, uint32_t, i));
	for (i = 0; i < nodes->len; i++) {
		const struct snapshot_node *n = &s->nodes[
			g_array_index(nodes, uint32_t, i)];

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			port = n->first_port + num;
			if (b->s->ports[port].peer != SNAPSHOT_NONE)
				pull_cable(b, port);
		}
	}
	return builder_finish(b);
}

bool
generate_is_formula(const char *name)
{
	return strchr(name, '(') && !g_file_test(name, G_FILE_TEST_EXISTS);
}

struct snapshot *
generate_or_read(const char *name, const struct generate_options *options,
		 GError **error)
{
	g_autofree char *text = NULL;
	struct snapshot *s;

	if (generate_is_formula(name))
		return generate_fabric(name, options, error);
	text = text_read_file(name, error);
	if (!text)
		g_prefix_error(error, "neither a net file nor a formula such "
			       "as 'PGFT(4,8;1,4)': ");
	s = text ? net_file_parse(text, name, error) : NULL;
	if (s && !s->n_nodes) {
		text_refuse(error, "%s: there is no node in this file", name);
		g_clear_pointer(&s, snapshot_unref);
	}
	return s;
}
