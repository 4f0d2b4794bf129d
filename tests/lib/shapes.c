// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as people build them. A shape is drawn as switches, cables and
 * hosts, and written as a net file with GUIDs in random order.
 */
#include <string.h>

#include "tests/lib/shapes.h"
#include "tests/lib/unit.h"
#include "topology/net_file.h"
#include "topology/prng.h"

#define MAX_SWITCHES	256u
#define MAX_PORTS	64u

struct drawing {
	uint32_t n_switches, n_hosts;
	uint32_t n_ports[MAX_SWITCHES];
	GString *lines[MAX_SWITCHES];	/* of the net file */
	uint32_t guid[MAX_SWITCHES];
	GString *hosts;
	uint64_t random;
	unsigned fail;
};

/* Returns the first of n. */
static uint32_t
draw_switches(struct drawing *d, uint32_t n)
{
	d->n_switches += n;
	assert_true(d->n_switches <= MAX_SWITCHES);
	return d->n_switches - n;
}

static void
draw_hosts(struct drawing *d, uint32_t sw, uint32_t n)
{
	for (; n > 0; n--) {
		uint32_t port = ++d->n_ports[sw];
		uint64_t guid = 0x600000 + (uint64_t)++d->n_hosts * 16;

		g_string_append_printf(d->lines[sw],
			"[%u] \"H-%016" G_GINT64_MODIFIER "x\"[1]\n", port,
			guid);
		g_string_append_printf(d->hosts, "caguid=0x%"
			G_GINT64_MODIFIER "x\nCa 1 \"H-%016"
			G_GINT64_MODIFIER "x\"\n[1] \"S-%016x\"[%u]\n\n",
			guid, guid, d->guid[sw], port);
	}
}

static void
draw_cables(struct drawing *d, uint32_t a, uint32_t b, uint32_t n)
{
	for (; n > 0; n--) {
		uint32_t p, q;

		if (prng_below(&d->random, 1000) < d->fail)
			continue;
		p = ++d->n_ports[a];
		q = ++d->n_ports[b];
		g_string_append_printf(d->lines[a], "[%u] \"S-%016x\"[%u]\n",
				       p, d->guid[b], q);
		g_string_append_printf(d->lines[b], "[%u] \"S-%016x\"[%u]\n",
				       q, d->guid[a], p);
	}
}

/* Leaves first, then spines; returns the first leaf. */
static uint32_t
draw_tree(struct drawing *d, uint32_t n_leaves, uint32_t n_spines,
	  uint32_t n_hosts)
{
	uint32_t leaf = draw_switches(d, n_leaves + n_spines), i, k;

	for (i = 0; i < n_leaves; i++) {
		draw_hosts(d, leaf + i, n_hosts);
		for (k = 0; k < n_spines; k++)
			draw_cables(d, leaf + i, leaf + n_leaves + k, 1);
	}
	return leaf;
}

static void
draw_service(struct drawing *d)
{
	draw_tree(d, 16, 8, 8);
	draw_hosts(d, 16, 1);
	draw_hosts(d, 19, 1);
}

static void
draw_storage(struct drawing *d)
{
	uint32_t i, k, leaf;

	draw_tree(d, 12, 6, 10);
	leaf = draw_switches(d, 4);
	for (i = 0; i < 4; i++) {
		draw_hosts(d, leaf + i, 5);
		for (k = 0; k < 6; k++)
			draw_cables(d, leaf + i, 12 + k, 1);
	}
	for (i = 0; i < 3; i++)
		draw_hosts(d, 12 + i * 2, 1);
}

static void
draw_hosts_on_spines(struct drawing *d)
{
	draw_tree(d, 12, 6, 8);
	for (uint32_t i = 0; i < 6; i++)
		draw_hosts(d, 12 + i, 4);
}

static void
draw_leaf_peers(struct drawing *d)
{
	draw_tree(d, 16, 8, 8);
	for (uint32_t i = 0; i < 16; i += 2)
		draw_cables(d, i, i + 1, 1);
}

static void
draw_spine_peers(struct drawing *d)
{
	draw_tree(d, 16, 8, 8);
	for (uint32_t i = 16; i < 24; i += 2)
		draw_cables(d, i, i + 1, 1);
}

static void
draw_leaf_below(struct drawing *d)
{
	uint32_t leaf;

	draw_tree(d, 16, 8, 8);
	leaf = draw_switches(d, 1);
	draw_hosts(d, leaf, 6);
	draw_cables(d, leaf, 2, 1);
	draw_cables(d, leaf, 7, 1);
}

static void
draw_two_trees(struct drawing *d)
{
	uint32_t a = draw_tree(d, 8, 4, 8), b = draw_tree(d, 8, 4, 8), i;

	for (i = 0; i < 4; i++)
		draw_cables(d, a + 8 + i, b + 8 + i, 1);
}

static void
draw_trees_at_leaves(struct drawing *d)
{
	uint32_t a = draw_tree(d, 8, 4, 8), b = draw_tree(d, 8, 4, 8), i;

	for (i = 0; i < 4; i++)
		draw_cables(d, a + i, b + i, 1);
}

static void
draw_full_core(struct drawing *d)
{
	uint32_t cores = draw_switches(d, 8), pod, leaf, i, k;

	for (pod = 0; pod < 4; pod++) {
		leaf = draw_tree(d, 4, 4, 4);
		for (i = 0; i < 4; i++)
			for (k = 0; k < 8; k++)
				draw_cables(d, leaf + 4 + i, cores + k, 1);
	}
}

static void
draw_uneven(struct drawing *d)
{
	uint32_t leaf = draw_switches(d, 16), i, k;

	for (i = 0; i < 10; i++) {
		draw_hosts(d, leaf + i, 10);
		for (k = 0; k < 6; k++)
			draw_cables(d, leaf + i, leaf + 10 + k,
				    1 + prng_below(&d->random, 4));
	}
}

static void
draw_grown(struct drawing *d)
{
	uint32_t cores = draw_switches(d, 16), pod, leaf, i, k;

	for (pod = 0; pod < 6; pod++) {
		leaf = draw_tree(d, 4, 4, 4);
		for (i = 0; i < 4; i++)
			for (k = 0; k < (pod < 3 ? 2u : 4u); k++)
				draw_cables(d, leaf + 4 + i, cores + 4 * i + k,
					    pod < 3 ? 2 : 1);
	}
}

/* Pods of leaves and spines; the spines of a pod share groups of cores, so
 * many spines (`share`) each. */
static void
draw_pods(struct drawing *d, uint32_t n_pods, uint32_t n, uint32_t n_cores,
	  uint32_t share)
{
	uint32_t cores = draw_switches(d, n / share * n_cores), pod, leaf;

	for (pod = 0; pod < n_pods; pod++) {
		leaf = draw_tree(d, n, n, n);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n_cores; k++)
				draw_cables(d, leaf + n + i,
					    cores + i / share * n_cores + k,
					    1);
	}
}

static void
draw_half_core(struct drawing *d)
{
	draw_pods(d, 4, 4, 4, 2);
}

static void
draw_rails(struct drawing *d)
{
	draw_pods(d, 4, 8, 4, 4);
}

static void
draw_half_populated(struct drawing *d)
{
	draw_pods(d, 3, 6, 6, 1);
}

/* Two directors of line and fabric boards; each leaf has cables to both. */
static void
draw_directors(struct drawing *d)
{
	uint32_t lines[2], leaf, i, k;

	for (k = 0; k < 2; k++)
		lines[k] = draw_tree(d, 6, 6, 0);
	for (i = 0; i < 16; i++) {
		leaf = draw_switches(d, 1);
		draw_hosts(d, leaf, 6);
		for (k = 0; k < 6; k++)
			draw_cables(d, leaf, lines[k % 2] + (i + k) % 6, 1);
	}
}

/* Fat tree groups, each joined to each other by two cables. */
static void
draw_dragonfly_plus(struct drawing *d)
{
	uint32_t leaf[7], n[7] = { 0 }, a, b, i;

	for (a = 0; a < 7; a++)
		leaf[a] = draw_tree(d, 3, 3, 4);
	for (a = 0; a < 7; a++)
		for (b = a + 1; b < 7; b++)
			for (i = 0; i < 2; i++)
				draw_cables(d, leaf[a] + 3 + n[a]++ % 3,
					    leaf[b] + 3 + n[b]++ % 3, 1);
}

/* Words of two letters out of four, no two neighbours alike. */
static void
draw_kautz(struct drawing *d)
{
	uint32_t sw = draw_switches(d, 12), a, b, c;

	for (a = 0; a < 4; a++)
		for (b = 0; b < 3; b++) {
			uint32_t last = b + (b >= a);

			draw_hosts(d, sw + a * 3 + b, 4);
			for (c = 0; c < 3; c++)
				draw_cables(d, sw + a * 3 + b,
					    sw + last * 3 + c, 1);
		}
}

/* McKay, Miller and Siran's graph for q = 5 (Besta, Hoefler 2014). */
static void
draw_slim_fly(struct drawing *d)
{
	uint32_t sw = draw_switches(d, 50), a, b, c, i;

	for (i = 0; i < 50; i++)
		draw_hosts(d, sw + i, 3);
	for (a = 0; a < 5; a++)
		for (b = 0; b < 5; b++) {
			draw_cables(d, sw + a * 5 + b,
				    sw + a * 5 + (b + 1) % 5, 1);
			draw_cables(d, sw + 25 + a * 5 + b,
				    sw + 25 + a * 5 + (b + 2) % 5, 1);
			for (c = 0; c < 5; c++)
				draw_cables(d, sw + a * 5 + b, sw + 25 +
					    c * 5 + (b + 20 - c * a) % 5, 1);
		}
}

static const struct {
	const char *name;
	void (*draw)(struct drawing *d);
} shapes[] = {
	{ "service", draw_service },
	{ "storage", draw_storage },
	{ "hosts-on-spines", draw_hosts_on_spines },
	{ "leaf-peers", draw_leaf_peers },
	{ "spine-peers", draw_spine_peers },
	{ "leaf-below", draw_leaf_below },
	{ "two-trees", draw_two_trees },
	{ "two-trees-leaves", draw_trees_at_leaves },
	{ "full-core", draw_full_core },
	{ "uneven", draw_uneven },
	{ "grown", draw_grown },
	{ "half-core", draw_half_core },
	{ "rails", draw_rails },
	{ "half-populated", draw_half_populated },
	{ "directors", draw_directors },
	{ "dragonfly-plus", draw_dragonfly_plus },
	{ "kautz", draw_kautz },
	{ "slim-fly", draw_slim_fly },
};

const char *const shape_names[] = {
	"service", "storage", "hosts-on-spines", "leaf-peers", "spine-peers",
	"leaf-below", "two-trees", "full-core", "uneven", "grown",
	"half-core", "rails", "half-populated", NULL,
};

static struct snapshot *
drawing_build(struct drawing *d, const char *name)
{
	g_autoptr(GString) text = g_string_new(NULL);
	GError *error = NULL;
	struct snapshot *s;
	uint32_t sw;

	for (sw = 0; sw < d->n_switches; sw++)
		g_string_append_printf(text, "switchguid=0x%x\nSwitch %u "
			"\"S-%016x\"\n%s\n", d->guid[sw],
			MAX(d->n_ports[sw], 1), d->guid[sw],
			d->lines[sw]->str);
	g_string_append(text, d->hosts->str);
	s = net_file_parse(text->str, name, &error);
	if (!s)
		fail_msg("%s: %s", name, error->message);
	return s;
}

struct snapshot *
shape_new(const char *name, uint64_t seed, unsigned fail_per_mille)
{
	struct drawing d = { .hosts = g_string_new(NULL),
			     .fail = fail_per_mille };
	struct snapshot *s = NULL;
	uint32_t i, k, swap;

	d.random = prng_stream(seed, 1);
	for (i = 0; i < MAX_SWITCHES; i++) {
		d.lines[i] = g_string_new(NULL);
		d.guid[i] = 0x500001 + i;
	}
	for (i = MAX_SWITCHES - 1; i > 0; i--) {
		k = prng_below(&d.random, i + 1);
		swap = d.guid[i];
		d.guid[i] = d.guid[k];
		d.guid[k] = swap;
	}
	for (i = 0; i < G_N_ELEMENTS(shapes); i++)
		if (strcmp(shapes[i].name, name) == 0) {
			shapes[i].draw(&d);
			s = drawing_build(&d, name);
		}
	assert_non_null(s);
	for (i = 0; i < MAX_SWITCHES; i++)
		g_string_free(d.lines[i], TRUE);
	g_string_free(d.hosts, TRUE);
	return s;
}
