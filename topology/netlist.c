// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a spec to a drawing.
 *
 * Flow:	text --parse_spec()--> numbers --a shape's draw()--> sketch
 *
 * Structs. A spec is the numbers of the text in groups, checked against the
 * line of its shape in shapes[] (the grammar is that table). A shape only
 * draws: who is cabled to whom by which port. What the ports say of themselves
 * is the same for all shapes and not known here.
 *
 * Sizes are checked before anything is drawn, each count as soon as it is
 * known and while it still fits, so that a slip of the finger costs a message
 * and not the memory of the machine.
 *
 * Source of the fat trees: Zahavi, "Fat-trees routing and node ordering
 * providing contention free traffic for MPI global collectives", 2011, after
 * Oehring et al., "On generalized fat trees", 1995.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topology/generate.h"
#include "topology/prng.h"
#include "topology/netlist.h"

#define SPEC_GROUPS	3u
#define SPEC_NUMBERS	8u	/* in a group: levels of a tree */
#define MAX_NUMBER	65535u
#define MAX_NODES	65535u
#define MAX_PORTS	254u	/* a node; 255 is no port (IBA 14.2.5.10) */

struct numbers {
	unsigned n;
	uint32_t v[SPEC_NUMBERS];
};

struct spec {
	const char *text;
	unsigned n_groups;
	struct numbers group[SPEC_GROUPS];
};

struct shape {
	const char *name;
	const char *form;	/* for messages */
	unsigned min_groups, max_groups;
	struct {
		unsigned min, max;
	} numbers[SPEC_GROUPS];
	bool (*draw)(const struct spec *spec, uint64_t seed,
		     struct netlist *sk, GError **error);
};

static bool G_GNUC_PRINTF(3, 4)
refuse(const char *text, GError **error, const char *format, ...)
{
	g_autofree char *why = NULL;
	va_list args;

	va_start(args, format);
	why = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, GENERATE_ERROR, GENERATE_ERROR_SPEC, "\"%s\": %s",
		    text, why);
	return false;
}

/* ---- the drawing board ---- */

static uint32_t
netlist_add(struct netlist *sk, enum node_type type, unsigned level,
	   uint32_t index, unsigned n_ports)
{
	struct netlist_node node = { type, level, index, n_ports };

	g_array_append_val(sk->nodes, node);
	return sk->nodes->len - 1;
}

static void
netlist_cable(struct netlist *sk, uint32_t node_a, uint32_t port_a,
	     uint32_t node_b, uint32_t port_b)
{
	struct netlist_cable cable = {
		node_a, node_b, (uint8_t)port_a, (uint8_t)port_b,
	};

	g_array_append_val(sk->cables, cable);
}

static bool
check_nodes(const struct spec *spec, uint64_t n, const char *what,
	    GError **error)
{
	if (n <= MAX_NODES)
		return true;
	return refuse(spec->text, error, "more than %u %s", MAX_NODES, what);
}

static bool
check_ports(const struct spec *spec, uint64_t n, const char *what,
	    GError **error)
{
	if (n <= MAX_PORTS)
		return true;
	return refuse(spec->text, error, "%" G_GUINT64_FORMAT " ports on %s, "
		      "at most %u are possible", n, what, MAX_PORTS);
}

/* `hosts` CAs of one port on each of n switches, whose ports 1 to `hosts` they
 * take. The switches are the first n nodes of the sketch. */
static void
draw_hosts(struct netlist *sk, uint32_t n, uint32_t hosts)
{
	for (uint32_t sw = 0; sw < n; sw++) {
		for (uint32_t h = 0; h < hosts; h++) {
			uint32_t ca = netlist_add(sk, NODE_CA, 0,
						 sw * hosts + h, 1);

			netlist_cable(sk, ca, 1, sw, h + 1);
		}
	}
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
	uint32_t first[SPEC_NUMBERS + 1];	/* in the sketch */
};

static unsigned
tree_down_ports(const struct tree *t, unsigned level)
{
	return level ? t->m[level] * t->p[level] : 0;
}

static bool
tree_check_level(const struct spec *spec, const struct tree *t,
		 unsigned level, GError **error)
{
	uint64_t ports = 0;
	char what[48];

	snprintf(what, sizeof(what), "a node of level %u", level);
	/* Numbers are below 2^16: neither product nor sum overflows. */
	if (level)
		ports += (uint64_t)t->m[level] * t->p[level];
	if (level < t->height)
		ports += (uint64_t)t->w[level + 1] * t->p[level + 1];
	return check_ports(spec, ports, what, error);
}

/* Reads the spec and counts; false if the tree is too large. */
static bool
tree_measure(const struct spec *spec, struct tree *t, GError **error)
{
	uint64_t total = 0;
	char what[48];

	memset(t, 0, sizeof(*t));
	t->height = spec->group[0].n;
	for (unsigned i = 1; i <= t->height; i++) {
		t->m[i] = spec->group[0].v[i - 1];
		t->w[i] = spec->group[1].v[i - 1];
		t->p[i] = spec->n_groups > 2 ? spec->group[2].v[i - 1] : 1;
	}
	for (unsigned l = 0; l <= t->height; l++) {
		uint64_t size = 1;

		snprintf(what, sizeof(what), "nodes at level %u", l);
		t->tail[l] = 1;
		for (unsigned i = 1; i <= t->height; i++) {
			size *= i <= l ? t->w[i] : t->m[i];
			if (!check_nodes(spec, size, what, error))
				return false;
			if (i == l)
				t->tail[l] = (uint32_t)size;
		}
		t->size[l] = (uint32_t)size;
		total += size;
		if (!check_nodes(spec, total, "nodes", error) ||
		    !tree_check_level(spec, t, l, error))
			return false;
	}
	return true;
}

/* All cables from level l - 1 up to level l. Parallel cables and parents go
 * round robin: the cables to one parent are w_l ports apart. */
static void
tree_cable_level(const struct tree *t, unsigned l, struct netlist *sk)
{
	unsigned down = tree_down_ports(t, l - 1);

	for (uint32_t i = 0; i < t->size[l - 1]; i++) {
		uint32_t low = i % t->tail[l - 1];
		uint32_t high = i / t->tail[l - 1];
		uint32_t a = high % t->m[l];

		for (uint32_t b = 0; b < t->w[l]; b++) {
			uint32_t up = high / t->m[l] * t->tail[l] +
				      low * t->w[l] + b;

			for (uint32_t k = 0; k < t->p[l]; k++)
				netlist_cable(sk, t->first[l - 1] + i,
					     down + 1 + k * t->w[l] + b,
					     t->first[l] + up,
					     1 + k * t->m[l] + a);
		}
	}
}

static bool
draw_tree(const struct spec *spec, uint64_t seed, struct netlist *sk,
	  GError **error)
{
	struct tree t;

	for (unsigned i = 1; i < spec->n_groups; i++)
		if (spec->group[i].n != spec->group[0].n)
			return refuse(spec->text, error, "%u numbers in part "
				      "%u, but %u levels in part 1",
				      spec->group[i].n, i + 1,
				      spec->group[0].n);
	if (!tree_measure(spec, &t, error))
		return false;

	for (unsigned l = 0; l <= t.height; l++) {
		unsigned ports = tree_down_ports(&t, l);

		if (l < t.height)
			ports += t.w[l + 1] * t.p[l + 1];
		t.first[l] = sk->nodes->len;
		for (uint32_t i = 0; i < t.size[l]; i++)
			netlist_add(sk, l ? NODE_SWITCH : NODE_CA, l, i, ports);
	}
	for (unsigned l = 1; l <= t.height; l++)
		tree_cable_level(&t, l, sk);
	return true;
}

/* ---- grids: rings, meshes, tori, a single switch ---- */

/* The switches of a box, of so many ports each, and their hosts, no cable
 * between switches yet. How many switches they are; 0: refused. */
static uint32_t
draw_box(const struct spec *spec, const struct numbers *dims, uint32_t hosts,
	 uint64_t ports, struct netlist *sk, GError **error)
{
	uint64_t n = 1;

	for (unsigned d = 0; d < dims->n; d++) {
		n *= dims->v[d];
		if (!check_nodes(spec, n, "switches", error))
			return 0;
	}
	if (!check_nodes(spec, n + n * hosts, "nodes", error) ||
	    !check_ports(spec, ports, "a switch", error))
		return 0;

	for (uint32_t i = 0; i < n; i++)
		netlist_add(sk, NODE_SWITCH, 1, i, (unsigned)ports);
	draw_hosts(sk, (uint32_t)n, hosts);
	return (uint32_t)n;
}

/* A dimension closes on itself from this size on; a wrap of two would be a
 * second cable beside the first. */
#define WRAP_TORUS	3u
#define WRAP_NEVER	UINT32_MAX

/*
 * Switches in a box of `dims`, `hosts` on each. Ports of a switch: the hosts,
 * then for each dimension one up and one down; at an edge without a wrap the
 * port stays empty, so a port means the same direction everywhere.
 */
static bool
draw_grid(const struct spec *spec, const struct numbers *dims, uint32_t hosts,
	  uint32_t wrap, struct netlist *sk, GError **error)
{
	uint32_t stride = 1;
	uint32_t n = draw_box(spec, dims, hosts, hosts + 2 * dims->n, sk,
			      error);

	if (!n)
		return false;
	for (unsigned d = 0; d < dims->n; d++) {
		uint32_t size = dims->v[d];
		uint32_t up = hosts + 2 * d + 1;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = i / stride % size;

			if (at + 1 < size)
				netlist_cable(sk, i, up, i + stride, up + 1);
			else if (size >= wrap)
				netlist_cable(sk, i, up, i - at * stride,
					     up + 1);
		}
		stride *= size;
	}
	return true;
}

static bool
draw_torus(const struct spec *spec, uint64_t seed, struct netlist *sk,
	   GError **error)
{
	return draw_grid(spec, &spec->group[0], spec->group[1].v[0],
			 WRAP_TORUS, sk, error);
}

static bool
draw_mesh(const struct spec *spec, uint64_t seed, struct netlist *sk,
	  GError **error)
{
	return draw_grid(spec, &spec->group[0], spec->group[1].v[0],
			 WRAP_NEVER, sk, error);
}

static bool
draw_single(const struct spec *spec, uint64_t seed, struct netlist *sk,
	    GError **error)
{
	struct numbers point = { .n = 0 };

	return draw_grid(spec, &point, spec->group[0].v[0], WRAP_NEVER, sk,
			 error);
}

static bool
draw_pair(const struct spec *spec, uint64_t seed, struct netlist *sk,
	  GError **error)
{
	uint32_t a = netlist_add(sk, NODE_CA, 0, 0, 1);
	uint32_t b = netlist_add(sk, NODE_CA, 0, 1, 1);

	netlist_cable(sk, a, 1, b, 1);
	return true;
}

/* ---- rails ---- */

/*
 * Switch s belongs to rail s mod r; host k is on switch k mod (size of the
 * rail) of each rail. Ports of a switch: the hosts, then the ring.
 */
static bool
draw_rails(const struct spec *spec, uint64_t seed, struct netlist *sk,
	   GError **error)
{
	uint32_t n = spec->group[0].v[0];
	uint32_t hosts = spec->group[1].v[0];
	uint32_t rails = spec->group[1].v[1];
	uint32_t smallest, most;

	if (rails > n)
		return refuse(spec->text, error, "%u rails, but only %u "
			      "switches; each rail needs one", rails, n);
	smallest = n / rails;
	most = (hosts + smallest - 1) / smallest;
	if (!check_nodes(spec, (uint64_t)n + hosts, "nodes", error) ||
	    !check_ports(spec, rails, "a host", error) ||
	    !check_ports(spec, (uint64_t)most + 2, "a switch", error))
		return false;

	for (uint32_t i = 0; i < n; i++)
		netlist_add(sk, NODE_SWITCH, 1, i, most + 2);
	for (uint32_t k = 0; k < hosts; k++) {
		uint32_t ca = netlist_add(sk, NODE_CA, 0, k, rails);

		for (uint32_t r = 0; r < rails; r++) {
			uint32_t size = n / rails + (r < n % rails);

			netlist_cable(sk, ca, r + 1, r + k % size * rails,
				     k / size + 1);
		}
	}
	for (uint32_t i = 0; i + 1 < n; i++)
		netlist_cable(sk, i, most + 1, i + 1, most + 2);
	if (n >= WRAP_TORUS)
		netlist_cable(sk, n - 1, most + 1, 0, most + 2);
	return true;
}

/* ---- complete graphs of some kind: dragonfly, HyperX ---- */

/*
 * Groups of `a` switches, all cabled to all; a switch has p hosts and h cables
 * to other groups, one between any two of the a * h + 1 groups (Kim et al.,
 * "Technology-driven, highly-scalable dragonfly topology", 2008; the cables
 * in the order that the literature calls absolute). Ports: hosts, group,
 * other groups.
 */
static bool
draw_dragonfly(const struct spec *spec, uint64_t seed, struct netlist *sk,
	       GError **error)
{
	uint32_t a = spec->group[0].v[0], p = spec->group[0].v[1];
	uint32_t h = spec->group[0].v[2];
	uint64_t groups = (uint64_t)a * h + 1;

	if (!check_nodes(spec, groups * a, "switches", error) ||
	    !check_nodes(spec, groups * a * (p + 1ull), "nodes", error) ||
	    !check_ports(spec, (uint64_t)p + a - 1 + h, "a switch", error))
		return false;

	for (uint32_t i = 0; i < groups * a; i++)
		netlist_add(sk, NODE_SWITCH, 1, i, p + a - 1 + h);
	draw_hosts(sk, (uint32_t)groups * a, p);
	for (uint32_t g = 0; g < groups; g++) {
		/* Of a pair, i leaves by its port number j - 1, j by i. */
		for (uint32_t i = 0; i < a; i++)
			for (uint32_t j = i + 1; j < a; j++)
				netlist_cable(sk, g * a + i, p + j,
					     g * a + j, p + i + 1);
		for (uint32_t far = g + 1; far < groups; far++)
			netlist_cable(sk, g * a + (far - 1) / h,
				     p + a + (far - 1) % h,
				     far * a + g / h, p + a + g % h);
	}
	return true;
}

/*
 * Switches in a box, each cabled to all others that differ in one coordinate
 * only (Ahn et al., "HyperX: topology, routing, and packaging of efficient
 * large-scale networks", 2009). Ports: hosts, then the dimensions.
 */
static bool
draw_hyperx(const struct spec *spec, uint64_t seed, struct netlist *sk,
	    GError **error)
{
	const struct numbers *dims = &spec->group[0];
	uint32_t hosts = spec->group[1].v[0], stride = 1, first = hosts, n;
	uint64_t ports = hosts;

	for (unsigned d = 0; d < dims->n; d++)
		ports += dims->v[d] - 1;
	n = draw_box(spec, dims, hosts, ports, sk, error);
	if (!n)
		return false;
	for (unsigned d = 0; d < dims->n; d++) {
		uint32_t size = dims->v[d];

		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = i / stride % size;

			for (uint32_t to = at + 1; to < size; to++)
				netlist_cable(sk, i, first + to,
					     i + (to - at) * stride,
					     first + at + 1);
		}
		stride *= size;
		first += size - 1;
	}
	return true;
}

/* ---- random graphs ---- */

struct wiring {
	struct netlist *sk;
	uint32_t n, degree, hosts;
	uint32_t *used;		/* links of each switch so far */
	uint32_t *peer;		/* [switch][link] */
};

static bool
wiring_has(const struct wiring *w, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < w->used[a]; i++)
		if (w->peer[(size_t)a * w->degree + i] == b)
			return true;
	return false;
}

static void
wiring_link(struct wiring *w, uint32_t a, uint32_t b)
{
	netlist_cable(w->sk, a, w->hosts + 1 + w->used[a],
		     b, w->hosts + 1 + w->used[b]);
	w->peer[(size_t)a * w->degree + w->used[a]++] = b;
	w->peer[(size_t)b * w->degree + w->used[b]++] = a;
}

/* A random tree makes it connected: each switch joins one before it that has
 * a link free. There is one, as a tree of i nodes uses 2(i - 1) < i * degree
 * link ends if the degree is 2 or there are two switches only. */
static void
wire_tree(struct wiring *w, uint64_t *rng)
{
	for (uint32_t i = 1; i < w->n; i++) {
		uint32_t j = prng_below(rng, i);

		while (w->used[j] >= w->degree)
			j = (j + 1) % i;
		wiring_link(w, j, i);
	}
}

/* More links between switches that have some free and none between them yet,
 * until every draw of a long row is in vain: "about" d. */
static void
wire_more(struct wiring *w, uint64_t *rng)
{
	uint32_t *open = g_new(uint32_t, w->n);
	uint32_t n_open = 0;
	unsigned vain = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->used[i] < w->degree)
			open[n_open++] = i;
	while (n_open > 1 && vain < 100) {
		uint32_t i = prng_below(rng, n_open);
		uint32_t j = prng_below(rng, n_open);

		if (i == j || wiring_has(w, open[i], open[j])) {
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
	g_free(open);
}

static bool
draw_random(const struct spec *spec, uint64_t seed, struct netlist *sk,
	    GError **error)
{
	const uint32_t *v = spec->group[0].v;
	struct wiring w = { sk, v[0], v[1], v[2], NULL, NULL };
	uint64_t rng = prng_stream(seed, NETLIST_STREAM_LINKS);

	if (w.degree >= w.n)
		return refuse(spec->text, error, "%u links each, but only %u "
			      "other switches", w.degree, w.n - 1);
	if (w.degree < 2 && w.n > 2)
		return refuse(spec->text, error, "%u switches with 1 link "
			      "each cannot be connected", w.n);
	if (!check_nodes(spec, w.n + (uint64_t)w.n * w.hosts, "nodes", error) ||
	    !check_ports(spec, (uint64_t)w.degree + w.hosts, "a switch", error))
		return false;

	w.used = g_new0(uint32_t, w.n);
	w.peer = g_new0(uint32_t, (size_t)w.n * w.degree);
	for (uint32_t i = 0; i < w.n; i++)
		netlist_add(sk, NODE_SWITCH, 1, i, w.hosts + w.degree);
	draw_hosts(sk, w.n, w.hosts);
	wire_tree(&w, &rng);
	wire_more(&w, &rng);
	g_free(w.peer);
	g_free(w.used);
	return true;
}

/* ---- the text ---- */

static const struct shape shapes[] = {
	{ "PGFT", "PGFT(m1,..,mh;w1,..,wh[;p1,..,ph])", 2, 3,
	  { { 1, SPEC_NUMBERS }, { 1, SPEC_NUMBERS }, { 1, SPEC_NUMBERS } },
	  draw_tree },
	{ "ring", "ring(n;h)", 2, 2, { { 1, 1 }, { 1, 1 } }, draw_torus },
	{ "torus", "torus(a,b[,c];h)", 2, 2, { { 2, 3 }, { 1, 1 } },
	  draw_torus },
	{ "mesh", "mesh(a,b[,c];h)", 2, 2, { { 2, 3 }, { 1, 1 } }, draw_mesh },
	{ "single", "single(h)", 1, 1, { { 1, 1 } }, draw_single },
	{ "pair", "pair()", 1, 1, { { 0, 0 } }, draw_pair },
	{ "random", "random(n,d,h)", 1, 1, { { 3, 3 } }, draw_random },
	{ "dragonfly", "dragonfly(a,p,h)", 1, 1, { { 3, 3 } },
	  draw_dragonfly },
	{ "hyperx", "hyperx(s1[,s2..];h)", 2, 2,
	  { { 1, SPEC_NUMBERS }, { 1, 1 } }, draw_hyperx },
	{ "rails", "rails(n;h,r)", 2, 2, { { 1, 1 }, { 2, 2 } }, draw_rails },
};

static const struct shape *
find_shape(const char *text, size_t len, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
		if (strlen(shapes[i].name) == len &&
		    !g_ascii_strncasecmp(shapes[i].name, text, len))
			return &shapes[i];
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       shapes[i].name);
	}
	refuse(text, error, "no shape is called \"%.*s\"; there are %s",
	       (int)len, text, names->str);
	return NULL;
}

static const char *
skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* One number at *at, which is moved behind it. */
static bool
parse_number(const char *text, const char **at, uint32_t *value,
	     GError **error)
{
	size_t digits = strspn(*at, "0123456789");
	uint64_t n = 0;

	if (!digits)
		return refuse(text, error, **at ? "a number is missing before "
			      "\"%s\"" : "a number is missing at the end%s",
			      *at);
	for (size_t i = 0; i < digits && n <= MAX_NUMBER; i++)
		n = 10 * n + (uint64_t)((*at)[i] - '0');
	if (n < 1 || n > MAX_NUMBER)
		return refuse(text, error, "%.*s is out of range (1 to %u)",
			      (int)digits, *at, MAX_NUMBER);
	*value = (uint32_t)n;
	*at = skip_blanks(*at + digits);
	return true;
}

/* The next number and what ends it: a comma, a semicolon or a bracket. */
static bool
parse_item(struct spec *spec, const char **at, char *end, GError **error)
{
	struct numbers *g = &spec->group[spec->n_groups - 1];

	if (g->n == SPEC_NUMBERS)
		return refuse(spec->text, error, "more than %u numbers in part "
			      "%u", SPEC_NUMBERS, spec->n_groups);
	if (!parse_number(spec->text, at, &g->v[g->n++], error))
		return false;
	*end = **at;
	if (!*end)
		return refuse(spec->text, error, "\")\" is missing");
	if (!strchr(",;)", *end))
		return refuse(spec->text, error, "\"%s\" is neither a number, "
			      "\",\", \";\" nor \")\"", *at);
	*at = skip_blanks(*at + 1);
	return true;
}

/* The numbers in their groups, from behind the "(" to the end of the text. */
static bool
parse_groups(struct spec *spec, const char *at, GError **error)
{
	char end = ',';

	spec->n_groups = 1;
	if (*at == ')') {
		at = skip_blanks(at + 1);
		end = ')';
	}
	while (end != ')') {
		if (!parse_item(spec, &at, &end, error))
			return false;
		if (end == ';' && spec->n_groups++ == SPEC_GROUPS)
			return refuse(spec->text, error, "more than %u parts",
				      SPEC_GROUPS);
	}
	if (*at)
		return refuse(spec->text, error, "\"%s\" after the end", at);
	return true;
}

static const struct shape *
parse_spec(const char *text, struct spec *spec, GError **error)
{
	const char *name = skip_blanks(text);
	size_t len = strcspn(name, "( \t");
	const char *at = skip_blanks(name + len);
	const struct shape *shape;

	memset(spec, 0, sizeof(*spec));
	spec->text = text;
	shape = find_shape(name, len, error);
	if (!shape)
		return NULL;
	if (*at != '(') {
		refuse(text, error, "\"(\" is missing: %s", shape->form);
		return NULL;
	}
	if (!parse_groups(spec, skip_blanks(at + 1), error))
		return NULL;
	if (spec->n_groups < shape->min_groups ||
	    spec->n_groups > shape->max_groups) {
		refuse(text, error, "%u parts, it should be %s",
		       spec->n_groups, shape->form);
		return NULL;
	}
	for (unsigned i = 0; i < spec->n_groups; i++) {
		unsigned n = spec->group[i].n;

		if (n >= shape->numbers[i].min && n <= shape->numbers[i].max)
			continue;
		refuse(text, error, "%u numbers in part %u, it should be %s",
		       n, i + 1, shape->form);
		return NULL;
	}
	return shape;
}

void
netlist_free(struct netlist *sk)
{
	if (!sk)
		return;
	g_array_free(sk->cables, TRUE);
	g_array_free(sk->nodes, TRUE);
	g_free(sk);
}

struct netlist *
netlist_new(const char *text, uint64_t seed, GError **error)
{
	const struct shape *shape;
	struct netlist *sk;
	struct spec spec;

	shape = parse_spec(text, &spec, error);
	if (!shape)
		return NULL;
	sk = g_new0(struct netlist, 1);
	sk->nodes = g_array_new(FALSE, FALSE, sizeof(struct netlist_node));
	sk->cables = g_array_new(FALSE, FALSE, sizeof(struct netlist_cable));
	if (shape->draw(&spec, seed, sk, error))
		return sk;
	netlist_free(sk);
	return NULL;
}
