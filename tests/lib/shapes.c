// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as people build them. A shape is drawn as switches, cables and
 * hosts, and written as a net file with GUIDs in random order.
 */
#include "tests/lib/seed.h"
#include "tests/lib/shapes.h"
#include "tools/net_file_parse.h"

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

/* What a shape is made of; switches have numbers in the order in which they are
 * drawn. */
struct part {
	void (*draw)(struct drawing *d, const uint32_t *a);
	uint32_t a[9];
};

/* leaves, spines, hosts a leaf */
static void
tree(struct drawing *d, const uint32_t *a)
{
	draw_tree(d, a[0], a[1], a[2]);
}

/* n */
static void
switches(struct drawing *d, const uint32_t *a)
{
	draw_switches(d, a[0]);
}

/* n, first, step; hosts on each */
static void
hosts(struct drawing *d, const uint32_t *a)
{
	for (uint32_t i = 0; i < a[0]; i++)
		draw_hosts(d, a[1] + i * a[2], a[3]);
}

/* n, first, step; the first of their ends, its step */
static void
cables(struct drawing *d, const uint32_t *a)
{
	for (uint32_t i = 0; i < a[0]; i++)
		draw_cables(d, a[1] + i * a[2], a[3] + i * a[4], 1);
}

/* n, first; from each to all of n, first */
static void
all(struct drawing *d, const uint32_t *a)
{
	for (uint32_t i = 0; i < a[0] * a[2]; i++)
		draw_cables(d, a[1] + i / a[2], a[3] + i % a[2], 1);
}

/* pods; leaves, those with hosts (the last), spines, hosts. The first switches are
 * cores, so many a group, which so many spines of a pod share; so many of the
 * group, by so many cables each. */
static void
pods(struct drawing *d, const uint32_t *a)
{
	for (uint32_t pod = 0; pod < a[0]; pod++) {
		uint32_t leaf = draw_switches(d, a[1] + a[3]), i, k;

		for (i = 0; i < a[1]; i++) {
			draw_hosts(d, leaf + i, i + a[2] < a[1] ? 0 : a[4]);
			for (k = 0; k < a[3]; k++)
				draw_cables(d, leaf + i, leaf + a[1] + k, 1);
		}
		for (i = 0; i < a[3]; i++)
			for (k = 0; k < a[7]; k++)
				draw_cables(d, leaf + a[1] + i,
					    i / a[6] * a[5] + k, a[8]);
	}
}

/* leaves, spines, hosts: one to four cables between two switches */
static void
uneven_cables(struct drawing *d, const uint32_t *a)
{
	uint32_t leaf = draw_switches(d, a[0] + a[1]), i, k;

	for (i = 0; i < a[0]; i++) {
		draw_hosts(d, leaf + i, a[2]);
		for (k = 0; k < a[1]; k++)
			draw_cables(d, leaf + i, leaf + a[0] + k,
				    1 + prng_below(&d->random, 4));
	}
}

/* leaves with 4 to 18 hosts, each cabled to 12 or 8 of 12 spines */
static void
uneven_leaves(struct drawing *d, const uint32_t *a)
{
	uint32_t spine = draw_switches(d, 12), leaf, i, k, first;

	for (i = 0; i < a[0]; i++) {
		leaf = draw_switches(d, 1);
		draw_hosts(d, leaf, 4 + prng_below(&d->random, 15));
		first = prng_below(&d->random, 12);
		for (k = 0; k < (i % 3 ? 12 : 8); k++)
			draw_cables(d, leaf, spine + (first + k) % 12, 1);
	}
}

/* leaves: each has cables to two directors of line and fabric boards */
static void
directors(struct drawing *d, const uint32_t *a)
{
	uint32_t lines[2], leaf, i, k;

	for (k = 0; k < 2; k++)
		lines[k] = draw_tree(d, 6, 6, 0);
	for (i = 0; i < a[0]; i++) {
		leaf = draw_switches(d, 1);
		draw_hosts(d, leaf, 6);
		for (k = 0; k < 6; k++)
			draw_cables(d, leaf, lines[k % 2] + (i + k) % 6, 1);
	}
}

/* groups, each joined to each other by two cables; leaves, which are as many as
 * the spines */
static void
dragonfly_plus(struct drawing *d, const uint32_t *a)
{
	uint32_t leaf[9], n[9] = { 0 }, one, other, i;

	for (one = 0; one < a[0]; one++)
		leaf[one] = draw_tree(d, a[1], a[1], 4);
	for (one = 0; one < a[0]; one++)
		for (other = one + 1; other < a[0]; other++)
			for (i = 0; i < 2; i++)
				draw_cables(d, leaf[one] + a[1] +
					    n[one]++ % a[1], leaf[other] +
					    a[1] + n[other]++ % a[1], 1);
}

/* hosts on each of the words of three letters out of four, no two neighbours
 * alike. Switch 9 x + 3 y + z: x is a letter, y and z count those that differ from
 * the one before. */
static void
kautz(struct drawing *d, const uint32_t *a)
{
	uint32_t sw = draw_switches(d, 36), i, c, second, third;

	for (i = 0; i < 36; i++) {
		second = i / 3 % 3 + (i / 3 % 3 >= i / 9);
		third = i % 3 + (i % 3 >= second);
		draw_hosts(d, sw + i, a[0]);
		for (c = 0; c < 3; c++)
			draw_cables(d, sw + i, sw + second * 9 +
				    (third - (third > second)) * 3 + c, 1);
	}
}

/* hosts on each of McKay, Miller and Siran's graph for q = 5 (Besta, Hoefler
 * 2014) */
static void
slim_fly(struct drawing *d, const uint32_t *a)
{
	uint32_t sw = draw_switches(d, 50), x, y, c, i;

	for (i = 0; i < 50; i++)
		draw_hosts(d, sw + i, a[0]);
	for (x = 0; x < 5; x++)
		for (y = 0; y < 5; y++) {
			draw_cables(d, sw + x * 5 + y,
				    sw + x * 5 + (y + 1) % 5, 1);
			draw_cables(d, sw + 25 + x * 5 + y,
				    sw + 25 + x * 5 + (y + 2) % 5, 1);
			for (c = 0; c < 5; c++)
				draw_cables(d, sw + x * 5 + y, sw + 25 +
					    c * 5 + (y + 20 - c * x) % 5, 1);
		}
}

/* switches, most of them with hosts, and few cables: a tree at random, and at
 * most so many more */
static void
sparse(struct drawing *d, const uint32_t *a)
{
	uint32_t sw = draw_switches(d, a[0]), i, n;

	for (i = 0; i < a[0]; i++) {
		draw_hosts(d, sw + i, prng_below(&d->random, 5));
		if (i)
			draw_cables(d, sw + i,
				    sw + prng_below(&d->random, i), 1);
	}
	for (n = prng_below(&d->random, a[1] + 1); n > 0; n--) {
		i = prng_below(&d->random, a[0] - 1);
		draw_cables(d, sw + i, sw + i + 1 +
			    prng_below(&d->random, a[0] - 1 - i), 1);
	}
}

static const struct shape {
	const char *name;
	struct part parts[5];
} shapes[] = {
	{ "service", { { tree, { 16, 8, 8 } }, { hosts, { 2, 16, 3, 1 } } } },
	{ "storage", { { tree, { 12, 6, 10 } }, { switches, { 4 } },
		       { hosts, { 4, 18, 1, 5 } }, { all, { 4, 18, 6, 12 } },
		       { hosts, { 3, 12, 2, 1 } } } },
	{ "production", { { tree, { 24, 12, 24 } }, { switches, { 4 } },
			  { hosts, { 4, 36, 1, 10 } },
			  { all, { 4, 36, 12, 24 } },
			  { hosts, { 3, 24, 1, 1 } } } },
	{ "host-spine", { { tree, { 12, 6, 8 } },
			  { hosts, { 6, 12, 1, 4 } } } },
	{ "host-spine-3", { { switches, { 36 } }, { hosts, { 6, 0, 1, 1 } },
			    { pods, { 6, 6, 6, 6, 6, 6, 1, 6, 1 } },
			    { hosts, { 6, 42, 12, 1 } } } },
	{ "hosts-everywhere", { { tree, { 12, 6, 6 } },
				{ hosts, { 6, 12, 1, 6 } } } },
	{ "hosts-off", { { switches, { 36 } },
			 { pods, { 8, 6, 3, 6, 6, 6, 1, 6, 1 } } } },
	{ "hosts-off-pod", { { switches, { 36 } },
			     { pods, { 1, 6, 0, 6, 6, 6, 1, 6, 1 } },
			     { pods, { 7, 6, 6, 6, 6, 6, 1, 6, 1 } } } },
	{ "hosts-off-most", { { switches, { 9 } },
			      { pods, { 6, 6, 1, 3, 4, 3, 1, 3, 1 } } } },
	{ "leaf-peers", { { tree, { 16, 8, 8 } }, { cables, { 8, 0, 2, 1, 2 } } } },
	{ "spine-peers", { { tree, { 16, 8, 8 } },
			   { cables, { 4, 16, 2, 17, 2 } } } },
	{ "leaf-below", { { tree, { 16, 8, 8 } }, { switches, { 1 } },
			  { hosts, { 1, 24, 0, 6 } },
			  { cables, { 2, 24, 0, 2, 5 } } } },
	{ "management-leaf", { { tree, { 16, 8, 12 } }, { switches, { 1 } },
			       { hosts, { 1, 24, 0, 2 } },
			       { cables, { 2, 24, 0, 16, 1 } } } },
	{ "two-trees", { { tree, { 8, 4, 8 } }, { tree, { 8, 4, 8 } },
			 { cables, { 4, 8, 1, 20, 1 } } } },
	{ "two-trees-4", { { tree, { 12, 8, 10 } }, { tree, { 12, 8, 10 } },
			   { cables, { 4, 12, 1, 32, 1 } } } },
	{ "two-trees-8", { { tree, { 12, 8, 10 } }, { tree, { 12, 8, 10 } },
			   { cables, { 8, 12, 1, 32, 1 } } } },
	{ "two-trees-leaves", { { tree, { 12, 8, 10 } }, { tree, { 12, 8, 10 } },
				{ cables, { 6, 0, 1, 20, 1 } } } },
	{ "full-core", { { switches, { 6 } },
			 { pods, { 6, 6, 6, 6, 6, 6, 6, 6, 1 } } } },
	{ "full-core-4", { { switches, { 8 } },
			   { pods, { 4, 4, 4, 4, 4, 8, 4, 8, 1 } } } },
	{ "uneven-cables", { { uneven_cables, { 12, 6, 12 } } } },
	{ "uneven-leaves", { { uneven_leaves, { 24 } } } },
	{ "growth", { { switches, { 16 } },
		      { pods, { 3, 4, 4, 4, 4, 4, 1, 2, 2 } },
		      { pods, { 3, 4, 4, 4, 4, 4, 1, 4, 1 } } } },
	{ "half-core", { { switches, { 8 } },
			 { pods, { 4, 4, 4, 4, 4, 4, 2, 4, 1 } } } },
	{ "rails", { { switches, { 8 } },
		     { pods, { 4, 8, 8, 8, 8, 4, 4, 4, 1 } } } },
	{ "rails-3", { { switches, { 16 } },
		       { pods, { 8, 8, 8, 8, 12, 8, 4, 8, 1 } } } },
	{ "directors", { { directors, { 24 } } } },
	{ "dragonfly-plus", { { dragonfly_plus, { 7, 3 } } } },
	{ "dragonfly-plus-9", { { dragonfly_plus, { 9, 4 } } } },
	{ "kautz", { { kautz, { 4 } } } },
	{ "slim-fly", { { slim_fly, { 4 } } } },
	{ "sparse", { { sparse, { 12, 8 } } } },
};

const char *const shape_names[] = {
	"service", "storage", "host-spine", "leaf-peers", "spine-peers",
	"leaf-below", "two-trees", "full-core-4", "uneven-cables", "growth",
	"half-core", "rails", NULL,
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
	for (i = 0; i < G_N_ELEMENTS(shapes); i++) {
		const struct part *p = shapes[i].parts;

		if (strcmp(shapes[i].name, name) != 0)
			continue;
		for (; p < shapes[i].parts + G_N_ELEMENTS(shapes[i].parts) &&
		     p->draw; p++)
			p->draw(&d, p->a);
		s = drawing_build(&d, name);
	}
	for (i = 0; i < MAX_SWITCHES; i++)
		g_string_free(d.lines[i], TRUE);
	g_string_free(d.hosts, TRUE);
	return s;
}
