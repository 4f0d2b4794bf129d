// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How fast is routing? From a snapshot to tables and their difference, and
 * verification apart, beside the time that it takes to fill the arena at all.
 *
 *	bench_routing [-e ENGINE] [SPEC..]
 *
 * All engines if none is named, the fabrics of the README if no SPEC is.
 *
 * One thread, warm arenas, the median of RUNS. "one link lost": the engine is
 * handed the tables of the healthy fabric, a cable between two switches is
 * gone; the last columns say how many 64-byte blocks changed and how many hold
 * an entry that used the cable, which is the least that must change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "routing/select.h"
#include "topology/generate.h"

#define RUNS	9u

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
};

/* Tables that are there already, as in a daemon that has swept before. */
struct arenas {
	struct lft *old, *new;
};

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(double *times)
{
	qsort(times, RUNS, sizeof(*times), compare);
	return times[RUNS / 2];
}

static void
arena_fill(struct lft *lft)
{
	memset(lft->ports, (int)LFT_NO_PATH,
	       (size_t)lft->n_switches * lft->stride);
}

static uint32_t
count_blocks(const struct lft *a, const struct lft *b)
{
	size_t size = (size_t)a->n_switches * a->stride, i;
	uint32_t n = 0;

	for (i = 0; i < size; i += LFT_BLOCK)
		n += memcmp(a->ports + i, b->ports + i, LFT_BLOCK) != 0;
	return n;
}

/* Snapshot to diffed tables. */
static bool
route_once(const struct engine *engine, const struct fabric *f,
	   const struct lft *previous, struct lft *into, double *ms,
	   uint32_t *blocks)
{
	struct engine_input in = { .previous = previous, .n_threads = 1 };
	struct engine_output out;
	double start = now_ms();
	struct graph *g = graph_new(f->s, f->lids);
	bool ok;

	in.g = g;
	engine_output_init(&out, into);
	arena_fill(into);
	ok = engine->compute(&in, &out, NULL);
	*blocks = previous ? count_blocks(previous, into) : 0;
	*ms = now_ms() - start;
	engine_output_clear(&out);
	graph_free(g);
	return ok;
}

static bool
route_median(const struct engine *engine, const struct fabric *f,
	     const struct lft *previous, struct lft *into, double *ms,
	     uint32_t *blocks)
{
	double times[RUNS];

	for (unsigned i = 0; i < RUNS; i++)
		if (!route_once(engine, f, previous, into, &times[i], blocks))
			return false;
	*ms = median(times);
	return true;
}

/* The fabric without one cable between switches, and whose entries used it. */
static struct fabric
without_cable(const struct fabric *f, const struct lft *lft,
	      uint32_t *n_blocks)
{
	struct graph *g = graph_new(f->s, f->lids);
	const struct graph_edge *edge = &g->edges[g->n_edges / 3];
	const struct graph_edge *back = &g->edges[edge->back];
	struct fabric cut = { snapshot_copy(f->s), f->lids };
	const struct snapshot_node *n =
		&f->s->nodes[f->s->switches[back->peer]];
	struct snapshot_port *port =
		&cut.s->ports[n->first_port + edge->port];
	const struct { uint32_t sw; uint8_t port; } ends[] = {
		{ back->peer, edge->port }, { edge->peer, back->port },
	};

	cut.s->ports[port->peer].peer = SNAPSHOT_NONE;
	port->peer = SNAPSHOT_NONE;
	*n_blocks = 0;
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t b = 0; b < lft_n_blocks(lft); b++)
			*n_blocks += memchr(lft_row(lft, ends[i].sw) +
					    b * LFT_BLOCK, ends[i].port,
					    LFT_BLOCK) != NULL;
	graph_free(g);
	return cut;
}

static void
bench_verify(const struct fabric *f, const struct lft *lft)
{
	struct graph *g = graph_new(f->s, f->lids);
	double alone[RUNS], both[RUNS], start;

	for (unsigned i = 0; i < RUNS; i++) {
		struct verify_result r;
		struct channels_result c;

		start = now_ms();
		verify_tables(g, lft, NULL, NULL, &r);
		alone[i] = now_ms() - start;
		start = now_ms();
		channels_check(g, lft, lft, &c);
		both[i] = now_ms() - start;
		verify_result_clear(&r);
		channels_clear(&c);
	}
	printf("    verify      %9.2f ms; old and new together %9.2f ms\n",
	       median(alone), median(both));
	graph_free(g);
}

static void
bench_engine(const struct engine *engine, const struct fabric *f,
	     struct arenas *a)
{
	uint32_t blocks, least;
	struct fabric cut;
	double ms;

	if (!route_median(engine, f, NULL, a->old, &ms, &blocks)) {
		printf("    %-11s cannot route it\n", engine->name);
		return;
	}
	printf("    %-11s %9.2f ms;", engine->name, ms);
	cut = without_cable(f, a->old, &least);
	route_median(engine, &cut, a->old, a->new, &ms, &blocks);
	printf(" one link lost %9.2f ms, %u blocks changed (%u used it)\n",
	       ms, blocks, least);
	snapshot_unref(cut.s);
}

static void
bench_fabric(const char *spec, const char *only)
{
	const struct generate_options options = {
		.seed = 1, .shuffle_guids = true,
	};
	struct fabric f = { .s = generate_fabric(spec, &options, NULL) };
	double times[RUNS], start;
	struct arenas a;

	if (!f.s) {
		fprintf(stderr, "bench_routing: no fabric \"%s\"\n", spec);
		exit(2);
	}
	f.lids = lid_assign(f.s, 0, NULL, 0, NULL, NULL);
	a.old = lft_new(f.s->n_switches, f.lids->top);
	a.new = lft_new(f.s->n_switches, f.lids->top);
	for (unsigned i = 0; i < RUNS; i++) {
		start = now_ms();
		arena_fill(a.new);
		times[i] = now_ms() - start;
	}
	printf("%s: %u switches, LIDs to %u, %zu blocks\n", spec,
	       f.s->n_switches, f.lids->top, (size_t)f.s->n_switches *
	       lft_n_blocks(a.old));
	printf("    fill arena  %9.2f ms\n", median(times));
	for (size_t i = 0; engines[i]; i++)
		if (!only || strcmp(engines[i]->name, only) == 0)
			bench_engine(engines[i], &f, &a);
	if (!only)
		bench_verify(&f, a.old);
	lft_free(a.old);
	lft_free(a.new);
	lid_map_free(f.lids);
	snapshot_unref(f.s);
}

int
main(int argc, char **argv)
{
	static const char *const specs[] = {
		"PGFT(18,36;1,18)", "PGFT(18,18,36;1,18,18)",
		"PGFT(24,24,48;1,24,24)", "PGFT(32,32,44;1,32,32)",
	};

	const char *only = NULL;

	if (argc > 2 && strcmp(argv[1], "-e") == 0) {
		only = argv[2];
		argv += 2;
		argc -= 2;
	}
	printf("routing: one thread, medians of %u\n", RUNS);
	for (size_t i = 0; argc < 2 && i < G_N_ELEMENTS(specs); i++)
		bench_fabric(specs[i], only);
	for (int i = 1; i < argc; i++)
		bench_fabric(argv[i], only);
	return 0;
}
