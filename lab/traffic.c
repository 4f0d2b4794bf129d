// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Path lengths, and traffic in patterns: permutations, bisections, shifts, rails.
 *
 * Paths are followed from each switch that has hosts to each host, once for all of
 * the switch's hosts. Cost: switches times hosts times the length of a path. The
 * hosts of a source come in the order of LIDs, so that entries are read side by
 * side.
 *
 * Purpose. All-to-all traffic shows how the load is spread in the long run.
 * Programs communicate in steps, and a step is as slow as its busiest channel:
 * this is what a pattern measures.
 *
 * Method. A kind of pattern is a line of kinds[]: how its flows are made, and on
 * which rails. Shifts of all hosts are those on a single rail.
 *
 * Random numbers. Pattern k uses stream k of the seed, whatever runs before it
 * or in parallel. Figures are stored by pattern and added up in order at the
 * end, so sums of fractions do not depend on the threads either.
 *
 * Source. Permutations by R. Durstenfeld (1964). Two trees in which each node
 * forwards in one only: P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms
 * for full bandwidth broadcast, reduction and scan", 2009; their shape is that of
 * the NCCL library.
 */
#include "lab/traffic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "routing/scratch.h"
#include "routing/work.h"
#include "topology/prng.h"

/* Which hosts send to each other: see enum traffic_kind. */
struct rails {
	uint32_t n, n_nodes;
	uint32_t longest;	/* hosts of a rail, at most */
	uint32_t *hosts;	/* rail by rail, in the order of the nodes */
	uint32_t *first;	/* rail -> its first host; n + 1 */
};

struct drive {
	const struct graph *g;
	const struct lft *lft;
	const struct metrics_sample *sample;
	const struct rails *rails;
	/* Writes the flows of a pattern; returns how many. */
	uint32_t (*fill)(const struct drive *d, uint32_t k,
			 struct metrics_flow *flows);
	bool shares;		/* the figure is the share of the bandwidth */
	uint32_t n;		/* patterns */
	uint32_t *distances;	/* pattern -> shift; NULL: no shifts */
	double *figures;	/* by pattern */
	uint64_t *lost;		/* by pattern */
};

/* Each host is in one flow as its target, in random order. */
static void
flows_shuffle(const struct drive *d, uint32_t k, struct metrics_flow *flows)
{
	uint64_t rng = prng_stream(d->sample->seed, k);
	uint32_t i, j, host;

	for (i = 0; i < d->sample->n_hosts; i++)
		flows[i].to = i;
	for (; i > 1; i--) {
		j = prng_below(&rng, i);
		host = flows[i - 1].to;
		flows[i - 1].to = flows[j].to;
		flows[j].to = host;
	}
}

static uint32_t
fill_permutation(const struct drive *d, uint32_t k, struct metrics_flow *flows)
{
	const uint32_t *hosts = d->sample->hosts;
	uint32_t i, n = 0;

	flows_shuffle(d, k, flows);
	for (i = 0; i < d->sample->n_hosts; i++)
		if (flows[i].to != i)
			flows[n++] = (struct metrics_flow){
				hosts[i], hosts[flows[i].to] };
	return n;
}

/* The first half of the shuffled hosts sends to the second. If their number is
 * odd, one host does not take part. */
static uint32_t
fill_bisection(const struct drive *d, uint32_t k, struct metrics_flow *flows)
{
	const uint32_t *hosts = d->sample->hosts;
	uint32_t n = d->sample->n_hosts / 2, i;

	flows_shuffle(d, k, flows);
	for (i = 0; i < n; i++)
		flows[i] = (struct metrics_flow){ hosts[flows[i].to],
						  hosts[flows[n + i].to] };
	return n;
}

/* In each rail by itself, modulo its length. */
static uint32_t
fill_shift(const struct drive *d, uint32_t k, struct metrics_flow *flows)
{
	const uint32_t *host, *first = d->rails->first;
	uint32_t n_flows = 0, r, n, i, by;

	for (r = 0; r < d->rails->n; r++) {
		n = first[r + 1] - first[r];
		by = d->distances[k] % n;
		host = d->rails->hosts + first[r];
		for (i = 0; by && i < n; i++)
			flows[n_flows++] = (struct metrics_flow){
				host[i], host[(i + by) % n] };
	}
	return n_flows;
}

/* Up to the parent and down from it, at once, in both trees of each rail. The
 * parent of a number has its lowest 1 one place higher, or nowhere. The second
 * tree is the first one from the other end or, of an odd number, turned by one:
 * leaves of one forward in the other. */
static uint32_t
fill_trees(const struct drive *d, uint32_t k G_GNUC_UNUSED,
	   struct metrics_flow *flows)
{
	const uint32_t *host, *first = d->rails->first;
	uint32_t n_flows = 0, i, n, tree, low, up, from, to;

	for (tree = 0; tree < 2 * d->rails->n; tree++) {
		n = first[tree / 2 + 1] - first[tree / 2];
		host = d->rails->hosts + first[tree / 2];
		for (i = 1; i < n; i++) {
			low = i & -i;
			up = (i - low) | low << 1;
			up = up < n ? up : i - low;
			from = host[tree % 2 == 0 ? i : n % 2 ? (i + 1) % n :
				    n - 1 - i];
			to = host[tree % 2 == 0 ? up : n % 2 ? (up + 1) % n :
				  n - 1 - up];
			flows[n_flows++] = (struct metrics_flow){ from, to };
			flows[n_flows++] = (struct metrics_flow){ to, from };
		}
	}
	return n_flows;
}

static void
drive_range(void *data, uint32_t from, uint32_t to)
{
	struct drive *d = data;
	g_autofree uint32_t *load = g_new(uint32_t, METRICS_WORK(d->g));
	/* of trees up to 4 flows a host */
	g_autofree struct metrics_flow *flows = g_new(struct metrics_flow,
		4 * (size_t)d->sample->n_hosts + 1);
	uint32_t *way = load + d->g->n_edges + 2 * d->g->n_targets, k, n;

	for (k = from; k < to; k++) {
		double sum = 0;

		n = d->fill(d, k, flows);
		d->figures[k] = metrics_congest(d->g, d->lft, flows, n, load,
						&d->lost[k]);
		for (uint32_t i = 0; d->shares && i < n; i++) {
			uint32_t most = 0, length;

			length = metrics_path(d->g, d->lft, &flows[i], way);
			for (; length > 0; length--)
				most = MAX(most, load[way[length - 1]]);
			sum += most ? 1.0 / most : 0;
		}
		if (d->shares)
			d->figures[k] = n ? sum / n : 0;
	}
}

static void
drive_run(struct drive *d, unsigned n_threads,
	  struct metrics_congestion *result)
{
	double sum = 0;

	d->figures = g_new(double, d->n + 1);
	d->lost = g_new0(uint64_t, d->n + 1);
	work_share(n_threads, d->n, drive_range, d);
	result->n = d->n;
	for (uint32_t k = 0; k < d->n; k++) {
		sum += d->figures[k];
		result->lost += d->lost[k];
		if (d->figures[k] <= result->max)
			continue;
		result->max = (uint32_t)d->figures[k];
		result->worst = d->distances ? d->distances[k] : k;
	}
	if (d->n)
		result->mean = sum / d->n;
	g_free(d->figures);
	g_free(d->lost);
	g_free(d->distances);
}

/* --- rails --- */

/* How often the key came before. */
static uint32_t
rails_count(GHashTable *counts, gconstpointer key)
{
	uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));

	g_hash_table_insert(counts, (gpointer)key, GUINT_TO_POINTER(n + 1));
	return n;
}

/* In the order of first use. Takes the text. */
static uint32_t
rails_number(GHashTable *numbers, char *text)
{
	uint32_t next = g_hash_table_size(numbers);
	gpointer n;

	if (!g_hash_table_lookup_extended(numbers, text, NULL, &n)) {
		g_hash_table_insert(numbers, text, GUINT_TO_POINTER(next));
		return next;
	}
	g_free(text);
	return GPOINTER_TO_UINT(n);
}

struct rail_place {
	uint32_t rail, node, host;
};

static int
rails_compare(const void *a, const void *b)
{
	const struct rail_place *x = a, *y = b;

	return uint_compare(x->rail, y->rail) ?:
		uint_compare(x->node, y->node);
}

/* By CA port: cabled ports before it, of its CA and of all CAs with its
 * SystemImageGUID. By name: CAs that have it. */
static void
rails_look(const struct snapshot *s, uint32_t *of_ca, uint32_t *of_image,
	   GHashTable *names)
{
	g_autoptr(GHashTable) images = g_hash_table_new(g_int64_hash,
							g_int64_equal);

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *node = &s->nodes[i];
		uint32_t n = 0, port = node->first_port;

		if (snapshot_is_switch(node))
			continue;
		rails_count(names, snapshot_node_name(node));
		for (unsigned num = 1; num <= node->info.num_ports; num++) {
			if (s->ports[++port].peer == SNAPSHOT_NONE)
				continue;
			of_ca[port] = n++;
			of_image[port] = rails_count(images,
				node->info.system_guid ?
				&node->info.system_guid :
				&node->info.node_guid);
		}
	}
}

static void
rails_find(const struct graph *g, const struct metrics_sample *sample,
	   GPtrArray *scratch, struct rails *rails)
{
	const struct snapshot *s = g->subnet;
	uint32_t *of_ca = SCRATCH(scratch, uint32_t, s->n_ports), i, r;
	uint32_t *of_image = SCRATCH(scratch, uint32_t, s->n_ports);
	struct rail_place *at = SCRATCH(scratch, struct rail_place,
					sample->n_hosts);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) nodes = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) words = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, NULL);

	rails_look(s, of_ca, of_image, names);
	for (i = 0; i < sample->n_hosts; i++) {
		const struct graph_target *t = &g->targets[sample->hosts[i]];
		uint32_t port = s->ports[s->nodes[s->switches[t->sw]]
					 .first_port + t->port].peer;
		const struct snapshot_node *ca = snapshot_node_of(s, port);
		bool one = GPOINTER_TO_UINT(g_hash_table_lookup(
			names, snapshot_node_name(ca))) == 1;
		g_autofree char *name = g_strchomp(g_strdup(
			snapshot_node_name(ca)));
		const char *word = one ? strrchr(name, ' ') : NULL;

		at[i].host = sample->hosts[i];
		at[i].node = rails_number(nodes, word ?
			g_strdup_printf("name %.*s", (int)(word - name), name) :
			g_strdup_printf("%" PRIx64, ca->info.system_guid ?
					ca->info.system_guid :
					ca->info.node_guid));
		at[i].rail = rails_number(words, word ?
			g_strdup_printf("%s %u", word, of_ca[port]) :
			g_strdup_printf("%u", of_image[port]));
	}
	qsort(at, sample->n_hosts, sizeof(*at), rails_compare);
	rails->n = g_hash_table_size(words);
	rails->n_nodes = g_hash_table_size(nodes);
	rails->hosts = SCRATCH(scratch, uint32_t, sample->n_hosts);
	rails->first = SCRATCH(scratch, uint32_t, rails->n + 1);
	for (i = sample->n_hosts; i-- > 0;) {
		rails->hosts[i] = at[i].host;
		rails->first[at[i].rail] = i;
	}
	rails->first[rails->n] = sample->n_hosts;
	for (r = 0; r < rails->n; r++)
		rails->longest = MAX(rails->longest, rails->first[r + 1] -
				     rails->first[r]);
}

/* --- what is asked for --- */

static const struct {
	uint32_t (*fill)(const struct drive *d, uint32_t k,
			 struct metrics_flow *flows);
	bool on_rails, shifts, once;
} kinds[N_TRAFFIC] = {
	[TRAFFIC_PERMUTATIONS] = { .fill = fill_permutation },
	[TRAFFIC_BISECTIONS] = { .fill = fill_bisection },
	[TRAFFIC_SHIFTS] = { .fill = fill_shift, .shifts = true },
	[TRAFFIC_RAILS] = { fill_shift, true, true, false },
	[TRAFFIC_RING] = { fill_shift, true, true, true },
	[TRAFFIC_TREES] = { fill_trees, true, false, true },
};

void
traffic_measure(const struct graph *g, const struct lft *lft,
		const struct metrics_sample *sample, uint32_t n_shifts,
		unsigned n_threads, struct traffic *result)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t ends[2] = { 0, sample->n_hosts }, n_all;
	struct rails all = { 1, 0, sample->n_hosts, (uint32_t *)sample->hosts,
			     ends }, rails = { 0 };

	g_assert(lft->n_switches == g->n_switches);
	rails_find(g, sample, scratch, &rails);
	*result = (struct traffic){ rails.n_nodes, rails.n, { { 0 } } };
	for (int i = 0; i < N_TRAFFIC; i++) {
		struct drive d = {
			.g = g, .lft = lft, .sample = sample,
			.rails = kinds[i].on_rails ? &rails : &all,
			.fill = kinds[i].fill,
			.shares = i == TRAFFIC_BISECTIONS,
		};

		n_all = MAX(d.rails->longest, 1) - 1;
		d.n = kinds[i].once ? 1 : kinds[i].shifts ? n_shifts :
			sample->n;
		d.n = kinds[i].shifts ? MIN(d.n, n_all) : n_all ? d.n : 0;
		if (kinds[i].shifts)
			d.distances = metrics_choose(kinds[i].once ? d.n :
						     n_all, d.n, sample->seed);
		drive_run(&d, n_threads, &result->of[i]);
		if (kinds[i].shifts && !kinds[i].once)
			result->of[i].n_all = n_all;
	}
}

/* --- path lengths --- */

void
metrics_paths(const struct graph *g, const struct lft *lft,
	      struct metrics_paths *p)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t *hop = SCRATCH(scratch, uint32_t, g->n_switches);
	uint32_t *queue = SCRATCH(scratch, uint32_t, g->n_switches);
	uint32_t *way = SCRATCH(scratch, uint32_t, g->n_switches + 2);
	uint64_t sum = 0;

	g_assert(lft->n_switches == g->n_switches);
	*p = (struct metrics_paths){
		.pairs = g_new0(uint64_t, g->n_switches + 1),
	};
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		struct metrics_flow flow = { .from = g->first_target[sw] };

		if (g->n_hosts[sw])
			graph_hops(g, sw, hop, queue);
		for (; g->n_hosts[sw] && flow.to < g->n_targets; flow.to++) {
			const struct graph_target *to = &g->targets[flow.to];
			uint32_t n = g->n_hosts[sw] - (to->sw == sw), length;

			if (!to->is_host)
				continue;
			/* of which two are the cables of hosts */
			length = metrics_path(g, lft, &flow, way);
			if (!length) {
				p->lost += n;
				continue;
			}
			p->pairs[length - 2] += n;
			if (length - 2 > hop[to->sw])
				p->longer += n;
		}
	}
	for (uint32_t i = 0; i < g->n_switches; i++) {
		p->max = p->pairs[i] ? i : p->max;
		p->arrived += p->pairs[i];
		sum += p->pairs[i] * i;
	}
	if (p->arrived > 0)
		p->mean = (double)sum / (double)p->arrived;
}

void
metrics_paths_clear(struct metrics_paths *paths)
{
	g_free(paths->pairs);
	*paths = (struct metrics_paths){ 0 };
}

/*
 * The entries that packets from host to host use.
 *
 * Purpose. Verification counts all data, including that of the port 0 of
 * switches. Some engines promise only that there is no credit loop among hosts.
 * To tell the two apart, the other entries are removed and the rest is
 * verified.
 *
 * Flow. For each LID of a host, from each switch with hosts along the tables up
 * to a switch that was visited already; the entries on the way are copied. All
 * others stay LFT_NO_PATH. Cost: switches times LIDs.
 */

static void
hosts_copy_ways(const struct graph *g, const struct lft *lft, struct lft *out,
		uint32_t lid)
{
	uint32_t start, sw, e;
	uint8_t port;

	for (start = 0; start < g->n_switches; start++) {
		if (g->n_hosts[start] == 0)
			continue;
		for (sw = start; sw != SNAPSHOT_NONE; ) {
			port = lft_row(lft, sw)[lid];
			/* visited before, or the path ends without an entry */
			if (lft_row(out, sw)[lid] == port)
				break;
			lft_row(out, sw)[lid] = port;
			e = graph_edge_at(g, sw, port);
			sw = e == SNAPSHOT_NONE ? SNAPSHOT_NONE :
				g->edges[e].peer;
		}
	}
}

struct lft *
metrics_host_entries(const struct graph *g, const struct lft *lft)
{
	struct lft *out = lft_new(lft->n_switches, lft->top);
	const struct graph_target *t;
	uint32_t i, lid;

	g_assert(lft->n_switches == g->n_switches);

	for (i = 0; i < g->n_targets; i++) {
		t = &g->targets[i];
		if (!t->is_host)
			continue;
		for (lid = t->lid; lid < (uint32_t)t->lid + t->n_lids; lid++)
			if (lid <= lft->top)
				hosts_copy_ways(g, lft, out, lid);
	}
	return out;
}
