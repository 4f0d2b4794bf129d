// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as people build them. A shape is drawn as switches, cables and
 * hosts, and written as a net file with GUIDs in random order.
 */
#include <string.h>

#include "tests/lib/seed.h"
#include "tests/lib/shapes.h"
#include "tests/lib/unit.h"
#include "tools/net_file_parse.h"
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

struct shape {
	const char *name;
	void (*draw)(struct drawing *d);	/* or: */
	/* trees of two levels, */
	struct { uint32_t n, leaves, spines, hosts; } trees;
	uint32_t more;	/* switches; hosts on some of all, */
	struct { uint32_t n, first, step, hosts; } hosts;
	/* a cable from each of some switches to another one; */
	struct { uint32_t n, from, step, to, step_to; } cables;
	/* or pods of n leaves and spines; the spines of a pod share groups of
	 * cores, so many spines each */
	struct { uint32_t pods, n, cores, share; } core;
};

static void
draw_shape(struct drawing *d, const struct shape *s)
{
	uint32_t n = s->core.n, cores, pod, leaf, i, k;

	for (i = 0; i < s->trees.n; i++)
		draw_tree(d, s->trees.leaves, s->trees.spines, s->trees.hosts);
	draw_switches(d, s->more);
	for (i = 0; i < s->hosts.n; i++)
		draw_hosts(d, s->hosts.first + i * s->hosts.step,
			   s->hosts.hosts);
	for (i = 0; i < s->cables.n; i++)
		draw_cables(d, s->cables.from + i * s->cables.step,
			    s->cables.to + i * s->cables.step_to, 1);
	cores = n ? draw_switches(d, n / s->core.share * s->core.cores) : 0;
	for (pod = 0; pod < s->core.pods; pod++) {
		leaf = draw_tree(d, n, n, n);
		for (i = 0; i < n; i++)
			for (k = 0; k < s->core.cores; k++)
				draw_cables(d, leaf + n + i, cores + i /
					    s->core.share * s->core.cores + k,
					    1);
	}
}

static const struct shape shapes[] = {
	{ "service", .trees = { 1, 16, 8, 8 }, .hosts = { 2, 16, 3, 1 } },
	{ "storage", .draw = draw_storage },
	{ "hosts-on-spines", .trees = { 1, 12, 6, 8 },
	  .hosts = { 6, 12, 1, 4 } },
	{ "leaf-peers", .trees = { 1, 16, 8, 8 }, .cables = { 8, 0, 2, 1, 2 } },
	{ "spine-peers", .trees = { 1, 16, 8, 8 },
	  .cables = { 4, 16, 2, 17, 2 } },
	{ "leaf-below", .trees = { 1, 16, 8, 8 }, .more = 1,
	  .hosts = { 1, 24, 0, 6 }, .cables = { 2, 24, 0, 2, 5 } },
	{ "two-trees", .trees = { 2, 8, 4, 8 }, .cables = { 4, 8, 1, 20, 1 } },
	{ "two-trees-leaves", .trees = { 2, 8, 4, 8 },
	  .cables = { 4, 0, 1, 12, 1 } },
	{ "full-core", .core = { 4, 4, 8, 4 } },
	{ "uneven", .draw = draw_uneven },
	{ "grown", .draw = draw_grown },
	{ "half-core", .core = { 4, 4, 4, 2 } },
	{ "rails", .core = { 4, 8, 4, 4 } },
	{ "half-populated", .core = { 3, 6, 6, 1 } },
	{ "directors", .draw = draw_directors },
	{ "dragonfly-plus", .draw = draw_dragonfly_plus },
	{ "kautz", .draw = draw_kautz },
	{ "slim-fly", .draw = draw_slim_fly },
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
			MAX(d->n_ports[sw], 1), d->guid[sw], d->lines[sw]->str);
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
	uint32_t i;

	d.random = prng_stream(seed, 1);
	seed_shuffle(d.guid, MAX_SWITCHES, &d.random);
	for (i = 0; i < MAX_SWITCHES; i++) {
		d.lines[i] = g_string_new(NULL);
		d.guid[i] += 0x500001;
	}
	for (i = 0; i < G_N_ELEMENTS(shapes); i++)
		if (strcmp(shapes[i].name, name) == 0) {
			if (shapes[i].draw)
				shapes[i].draw(&d);
			else
				draw_shape(&d, &shapes[i]);
			s = drawing_build(&d, name);
		}
	assert_non_null(s);
	for (i = 0; i < MAX_SWITCHES; i++)
		g_string_free(d.lines[i], TRUE);
	g_string_free(d.hosts, TRUE);
	return s;
}
