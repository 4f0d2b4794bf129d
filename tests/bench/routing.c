// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How fast is routing? From a snapshot to tables, and verification, beside the
 * time that it takes to fill the arena at all.
 *
 *	bench_routing [-e ENGINE] [SPEC..]
 *	bench_routing -u SPEC|FILE..
 *
 * All engines if none is named, the fabrics of the README if no SPEC is.
 *
 * CPU time of one thread, warm arenas, the median of RUNS. "one link lost": the
 * engine is handed the tables of the healthy fabric, a cable between two
 * switches is gone, and the new tables are verified together with those; the
 * last columns say how many 64-byte blocks changed, how many hold an entry that
 * used the cable, which is the least that must change, and how many one whose
 * path passed it somewhere, which may.
 *
 * -u: auto, as the manager runs it if a change is too large for a repair. A
 * line for the fabric as it is; for a random cable lost before a start, and back
 * later; for a random switch without hosts lost, and back. The mean of 100
 * shifts; lost: pairs of hosts; blocks that change; stages of the update, 0 if
 * it can be made at once; CPU time.
 */
#include <string.h>

#include "lab/generate.h"
#include "routing/metrics.h"
#include "routing/order.h"
#include "routing/select.h"
#include "tests/bench/bench.h"
#include "tests/lib/auto.h"
#include "topology/prng.h"

#define RUNS	9u
#define UPDATES	2u	/* cables, and switches, that -u loses */

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
};

/* Tables, in an arena that is there already, as in a daemon that has swept
 * before. */
struct routed {
	struct lft *lft;
	uint32_t *ranks;
	double ms;
	uint32_t n_blocks;	/* that are not as before */
};

static void
arena_fill(struct lft *lft)
{
	memset(lft->ports, (int)LFT_NO_PATH,
	       (size_t)lft->n_switches * lft->stride);
}

/* Snapshot to tables. */
static bool
route_once(const struct engine *engine, const struct fabric *f,
	   const struct routed *before, struct routed *r)
{
	struct engine_input in = { .n_threads = 1 };
	struct metrics_churn churn = { 0 };
	struct engine_output out;
	double start = bench_cpu_ms();
	AUTO(graph) *g = graph_new(f->s, f->lids);
	bool ok;

	in.g = g;
	in.previous = before ? before->lft : NULL;
	in.ranks = before ? before->ranks : NULL;
	engine_output_init(&out, r->lft);
	arena_fill(r->lft);
	ok = engine->compute(&in, &out, NULL);
	r->ms = bench_cpu_ms() - start;
	if (before)
		metrics_churn(before->lft, r->lft, &churn);
	r->n_blocks = (uint32_t)churn.blocks;
	g_free(r->ranks);
	r->ranks = g_steal_pointer(&out.ranks);
	engine_output_clear(&out);
	return ok;
}

static bool
route_median(const struct engine *engine, const struct fabric *f,
	     const struct routed *before, struct routed *r)
{
	double times[RUNS];

	for (unsigned i = 0; i < RUNS; i++) {
		if (!route_once(engine, f, before, r))
			return false;
		times[i] = r->ms;
	}
	r->ms = bench_median(times, RUNS);
	return true;
}

/* Blocks that used a cable. */
struct held {
	uint32_t next;		/* hold an entry that leads into it */
	uint32_t passing;	/* hold an entry whose path passes it */
};

/* Which switches' paths to a LID pass the edge or its other direction? Marks
 * of the switches: UNKNOWN, ON_TRAIL, PASSES, PASSES_NOT. */
enum passing { UNKNOWN, ON_TRAIL, PASSES, PASSES_NOT };

static void
mark_passing(const struct graph *g, const struct lft *lft, uint32_t lid,
	     uint32_t edge, uint8_t *mark)
{
	g_autofree uint32_t *trail = g_new(uint32_t, g->n_switches);
	uint32_t start, sw, e, n;
	uint8_t verdict;

	memset(mark, UNKNOWN, g->n_switches);
	for (start = 0; start < g->n_switches; start++) {
		verdict = UNKNOWN;
		for (sw = start, n = 0; !verdict; sw = g->edges[e].peer) {
			verdict = mark[sw] == ON_TRAIL ? PASSES_NOT : mark[sw];
			if (verdict)
				break;
			mark[sw] = ON_TRAIL;
			trail[n++] = sw;
			e = graph_edge_at(g, sw, lft_row(lft, sw)[lid]);
			if (e == SNAPSHOT_NONE)
				verdict = PASSES_NOT;
			else if (e == edge || e == g->edges[edge].back)
				verdict = PASSES;
		}
		while (n-- > 0)
			mark[trail[n]] = verdict;
	}
}

static struct held
count_held(const struct graph *g, const struct lft *lft, uint32_t edge)
{
	uint32_t n_blocks = lft_n_blocks(lft), back = g->edges[edge].back;
	g_autofree uint8_t *mark = g_new(uint8_t, g->n_switches);
	g_autofree uint8_t *passed = g_new0(uint8_t, g->n_switches);
	struct held held = { 0 };
	uint32_t lid, sw, b;

	for (lid = 0; lid <= lft->top; lid++) {
		mark_passing(g, lft, lid, edge, mark);
		for (sw = 0; sw < g->n_switches; sw++)
			passed[sw] |= mark[sw] == PASSES;
		if (lid % LFT_BLOCK != LFT_BLOCK - 1 && lid != lft->top)
			continue;
		for (sw = 0; sw < g->n_switches; sw++)
			held.passing += passed[sw];
		memset(passed, 0, g->n_switches);
	}
	for (b = 0; b < n_blocks; b++)
		held.next += (memchr(lft_row(lft, g->edges[back].peer) +
				     b * LFT_BLOCK, g->edges[edge].port,
				     LFT_BLOCK) != NULL) +
			(memchr(lft_row(lft, g->edges[edge].peer) +
				b * LFT_BLOCK, g->edges[back].port,
				LFT_BLOCK) != NULL);
	return held;
}

/* The fabric without one cable between switches, and what used it. */
static struct fabric
without_cable(const struct fabric *f, const struct lft *lft, struct held *held)
{
	AUTO(graph) *g = graph_new(f->s, f->lids);
	uint32_t edge = g->n_edges / 3 + 5, sw;
	struct fabric cut = { snapshot_copy(f->s), f->lids };
	struct snapshot_port *port;

	sw = g->edges[g->edges[edge].back].peer;
	port = &cut.s->ports[f->s->nodes[f->s->switches[sw]].first_port +
			     g->edges[edge].port];
	cut.s->ports[port->peer].peer = SNAPSHOT_NONE;
	port->peer = SNAPSHOT_NONE;
	*held = count_held(g, lft, edge);
	return cut;
}

/* Prints it. before: NULL, or tables in force. */
static void
verify_median(const struct fabric *f, const struct routed *r,
	      const struct lft *before)
{
	AUTO(graph) *g = graph_new(f->s, f->lids);
	struct verify_result result;
	double times[RUNS], start;
	bool loops = false;

	for (unsigned i = 0; i < RUNS; i++) {
		start = bench_cpu_ms();
		verify_tables(g, r->lft, before, r->ranks, &result);
		times[i] = bench_cpu_ms() - start;
		loops = !verify_is_sound(&result);
		verify_result_clear(&result);
	}
	printf(", %s %.2f ms%s", before ? "with the old tables" : "verify",
	       bench_median(times, RUNS), loops ? " (a loop)" : "");
}

static void
bench_engine(const struct engine *engine, const struct fabric *f,
	     struct routed *old, struct routed *new)
{
	struct fabric cut;
	struct held held;

	if (!route_median(engine, f, NULL, old)) {
		printf("    %-11s cannot route it\n", engine->name);
		return;
	}
	printf("    %-11s %9.2f ms", engine->name, old->ms);
	verify_median(f, old, NULL);
	cut = without_cable(f, old->lft, &held);
	route_median(engine, &cut, old, new);
	printf("\n    one link lost %7.2f ms", new->ms);
	verify_median(&cut, new, NULL);
	verify_median(&cut, new, old->lft);
	printf("\n    %u blocks changed; %u used the cable next, %u somewhere "
	       "along the path\n", new->n_blocks, held.next, held.passing);
	snapshot_unref(cut.s);
}

static void
bench_engines(const char *spec, const char *only)
{
	struct fabric f = { .s = bench_fabric(spec) };
	struct routed old = { 0 }, new = { 0 };
	double times[RUNS], start;

	f.lids = lid_assign(f.s, 0, NULL, 0, NULL, NULL);
	old.lft = lft_new(f.s->n_switches, f.lids->top);
	new.lft = lft_new(f.s->n_switches, f.lids->top);
	for (unsigned i = 0; i < RUNS; i++) {
		start = bench_cpu_ms();
		arena_fill(new.lft);
		times[i] = bench_cpu_ms() - start;
	}
	printf("%s: %u switches, LIDs to %u, %zu blocks\n", spec,
	       f.s->n_switches, f.lids->top, (size_t)f.s->n_switches *
	       lft_n_blocks(old.lft));
	printf("    fill arena  %9.2f ms\n", bench_median(times, RUNS));
	for (size_t i = 0; engines[i]; i++)
		if (!only || strcmp(engines[i]->name, only) == 0)
			bench_engine(engines[i], &f, &old, &new);
	lft_free(old.lft);
	lft_free(new.lft);
	g_free(old.ranks);
	g_free(new.ranks);
	lid_map_free(f.lids);
	snapshot_unref(f.s);
}

/* ---- -u ---- */

static unsigned
count_stages(const struct choice *c)
{
	unsigned n = c->safety == CHOICE_DRAIN, i;

	for (i = 0; n && i < c->later->len; i++)
		n = MAX(n, 1u + g_array_index(c->later, struct transition_entry,
					      i).stage);
	return n;
}

/* before: the choice whose tables are held, or NULL. runs: and whose engine and
 * order are known. */
static bool
update_once(const struct graph *g, const struct choice *before, bool runs,
	    const char *what, struct choice *c)
{
	struct choice_wish wish = { 0 };
	struct engine_input in = { .g = g, .n_threads = 1 };
	struct metrics_sample sample = { .n = 100, .seed = 1 };
	g_autofree uint32_t *hosts = order_hosts(g, &sample.n_hosts);
	struct metrics_churn churn = { 0 };
	struct metrics_congestion shifts;
	struct metrics_load load;
	double start = bench_cpu_ms(), ms;

	in.previous = before ? before->lft : NULL;
	if (runs) {
		in.ranks = before->ranks;
		wish.ranks_by = wish.in_force = before->engine->name;
	}
	if (!choose_tables(&wish, &in, c, NULL))
		return false;
	ms = bench_cpu_ms() - start;
	sample.hosts = hosts;
	metrics_all_to_all(g, c->lft, c->ranks, &load);
	metrics_shifts(g, c->lft, &sample, &shifts);
	if (before)
		metrics_churn(before->lft, c->lft, &churn);
	printf("    %-14s %-7s %5.2f times the bound, shifts %5.2f, lost %"
	       G_GUINT64_FORMAT ", blocks %5u, stages %u, %7.1f ms\n", what,
	       c->engine->name, load.worst / metrics_bound(g, false),
	       shifts.mean, c->alone.reach.lost_hosts, (unsigned)churn.blocks,
	       count_stages(c), ms);
	return true;
}

static void
unplug(struct snapshot *s, const struct graph *g, uint32_t e)
{
	uint32_t sw = s->switches[graph_owner(g, e)];
	struct snapshot_port *p = &s->ports[s->nodes[sw].first_port +
					    g->edges[e].port];

	s->ports[p->peer].peer = SNAPSHOT_NONE;
	p->peer = SNAPSHOT_NONE;
}

/* Loses a cable (before a start), or a switch, and gets it back. */
static void
bench_update(const struct fabric *f, const struct graph *g,
	     const struct choice *whole, uint32_t sw, uint32_t edge)
{
	AUTO(snapshot) *s = snapshot_copy(f->s);
	struct choice less, again;
	bool is_cable = sw == SNAPSHOT_NONE;
	AUTO(graph) *cut = NULL;

	for (uint32_t e = 0; e < g->n_edges; e++)
		if (is_cable ? e == edge : graph_owner(g, e) == sw)
			unplug(s, g, e);
	cut = graph_new(s, f->lids);
	if (update_once(cut, whole, !is_cable, is_cable ? "start, cable" :
			"switch", &less)) {
		if (update_once(g, &less, true, "  is back", &again))
			choice_clear(&again);
		choice_clear(&less);
	}
}

static void
bench_updates(const char *name)
{
	const struct generate_options options = { .seed = 1 };
	struct fabric f = { .s = generate_or_read(name, &options, NULL) };
	uint64_t random = prng_stream(1, 1);
	struct choice whole;
	AUTO(graph) *g = NULL;
	uint32_t i, sw, tries;

	if (!f.s) {
		fprintf(stderr, "bench_routing: no fabric \"%s\"\n", name);
		exit(2);
	}
	f.lids = lid_assign(f.s, 0, NULL, 0, NULL, NULL);
	g = graph_new(f.s, f.lids);
	printf("%s\n", name);
	if (update_once(g, NULL, false, "all", &whole)) {
		for (i = 0; i < UPDATES && g->n_edges; i++) {
			bench_update(&f, g, &whole, SNAPSHOT_NONE,
				     prng_below(&random, g->n_edges));
			sw = prng_below(&random, g->n_switches);
			for (tries = g->n_switches; tries && g->n_hosts[sw];
			     tries--)
				sw = (sw + 1) % g->n_switches;
			if (tries)
				bench_update(&f, g, &whole, sw, 0);
		}
		choice_clear(&whole);
	}
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

	if (argc > 2 && strcmp(argv[1], "-u") == 0) {
		for (int i = 2; i < argc; i++)
			bench_updates(argv[i]);
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], "-e") == 0) {
		only = argv[2];
		argv += 2;
		argc -= 2;
	}
	printf("routing: one thread, medians of %u\n", RUNS);
	for (size_t i = 0; argc < 2 && i < G_N_ELEMENTS(specs); i++)
		bench_engines(specs[i], only);
	for (int i = 1; i < argc; i++)
		bench_engines(argv[i], only);
	return 0;
}
