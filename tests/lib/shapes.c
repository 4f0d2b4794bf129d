// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as people build them. A shape is drawn as switches, cables and
 * hosts, and written as a net file with GUIDs in random order.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/shapes.h"
#include "topology/netfile.h"
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
	{ "full-core", draw_full_core },
	{ "uneven", draw_uneven },
	{ "grown", draw_grown },
};

const char *const shape_names[] = {
	"service", "storage", "hosts-on-spines", "leaf-peers", "spine-peers",
	"leaf-below", "two-trees", "full-core", "uneven", "grown", NULL,
};

static struct subnet *
drawing_build(struct drawing *d, const char *name)
{
	g_autoptr(GString) text = g_string_new(NULL);
	GError *error = NULL;
	struct subnet *s;
	uint32_t sw;

	for (sw = 0; sw < d->n_switches; sw++)
		g_string_append_printf(text, "switchguid=0x%x\nSwitch %u "
			"\"S-%016x\"\n%s\n", d->guid[sw],
			MAX(d->n_ports[sw], 1), d->guid[sw],
			d->lines[sw]->str);
	g_string_append(text, d->hosts->str);
	s = netfile_parse(text->str, name, &error);
	if (!s)
		fail_msg("%s: %s", name, error->message);
	return s;
}

struct subnet *
shape_new(const char *name, uint64_t seed, unsigned fail_per_mille)
{
	struct drawing d = { .hosts = g_string_new(NULL),
			     .fail = fail_per_mille };
	struct subnet *s = NULL;
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
