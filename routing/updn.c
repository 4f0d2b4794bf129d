/*
 * Up-then-down routing, on any fabric.
 *
 * Purpose. The engine for what is no tree and would have credit loops with
 * shortest ways. Switches have ranks (updn_rank.c), no two alike; a way first
 * goes to lower ranks, then to higher ones. Channels that lead up can be
 * sorted by rank, so can those that lead down, and nobody goes up again, hence
 * no circle of dependencies, on one VL.
 *
 * Tables know the destination only, not where a packet came from. So for each
 * destination: a switch from which it can be reached by going down only does
 * that, by a shortest such way; any other goes up to where the rest is
 * shortest. Then who comes down finds only switches that go on down.
 *
 * Which of several. As in minhop.c: one LID after the other gets a tree, each
 * switch takes the cable with the least load summed up over the rest of the
 * way, near to far; then the flows of all hosts become load, far to near. What
 * the tables in force say is kept as long as it is one of the candidates and
 * not dearer than the best by more than SLACK: a change that is not needed
 * costs a MAD, and another one in all that follows.
 *
 * Ports 0 come after all CAs, with one flow from each switch. Two roots may
 * have no legal way to each other; management between them rides VL15 and may
 * go anywhere, as long as no data comes along (flow_manage).
 *
 * Source. M. D. Schroeder et al., "Autonet", 1991.
 */
#include "routing/updn.h"

#include <string.h>

#define FAR	UINT32_MAX
#define SLACK	64u	/* one part in so many of the mean load at the end */

/* A cable by which a switch may go, to the destination at hand. */
struct option {
	uint32_t edge;
	uint32_t peer;
};

struct flow {
	const struct graph *g;
	const struct lft *previous;
	struct lft *out;
	const uint32_t *ranks;
	uint32_t *order;	/* switches, highest first */
	uint32_t *place;	/* switch -> place in order */
	uint32_t *hops;		/* by switch, to the destination at hand */
	uint8_t *falls;		/* by switch: goes down only */
	uint32_t *near;		/* switches with a way, near to far */
	uint32_t n_near;
	uint32_t *first_option;	/* by place in near, n_near + 1 */
	struct option *options;
	uint32_t *chosen;	/* by place in near: edge */
	uint64_t *load;		/* by edge */
	uint64_t *path;		/* by switch: load of its way */
	uint32_t *weight;	/* by switch: flows that start there */
	uint32_t *passing;	/* by switch */
	uint64_t slack;
};

static int
flow_compare(gconstpointer a, gconstpointer b, gpointer ranks)
{
	uint32_t x = ((const uint32_t *)ranks)[*(const uint32_t *)a];
	uint32_t y = ((const uint32_t *)ranks)[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

static void
flow_init(struct flow *f, const struct engine_input *in, struct lft *out,
	  const uint32_t *ranks)
{
	const struct graph *g = in->g;
	uint32_t n = g->n_switches, i;

	*f = (struct flow){ .g = g, .previous = in->previous, .out = out,
			    .ranks = ranks };
	f->order = g_new(uint32_t, n);
	f->place = g_new(uint32_t, n);
	f->hops = g_new(uint32_t, n);
	f->falls = g_new(uint8_t, n);
	f->near = g_new(uint32_t, n);
	f->first_option = g_new(uint32_t, n + 1);
	f->options = g_new(struct option, g->n_edges);
	f->chosen = g_new(uint32_t, n);
	f->load = g_new0(uint64_t, g->n_edges);
	f->path = g_new0(uint64_t, n);
	f->weight = g_new0(uint32_t, n);
	f->passing = g_new0(uint32_t, n);
	for (i = 0; i < n; i++)
		f->order[i] = i;
	g_qsort_with_data(f->order, (gint)n, sizeof(*f->order), flow_compare,
			  (gpointer)ranks);
	for (i = 0; i < n; i++)
		f->place[f->order[i]] = i;
}

static void
flow_clear(struct flow *f)
{
	g_free(f->order);
	g_free(f->place);
	g_free(f->hops);
	g_free(f->falls);
	g_free(f->near);
	g_free(f->first_option);
	g_free(f->options);
	g_free(f->chosen);
	g_free(f->load);
	g_free(f->path);
	g_free(f->weight);
	g_free(f->passing);
}

/* May the way go from `sw` to `peer`, which has one? */
static inline bool
flow_fits(const struct flow *f, uint32_t sw, uint32_t peer)
{
	bool down = f->place[peer] > f->place[sw];

	return f->falls[sw] ? down && f->falls[peer] : !down;
}

static void
flow_measure_one(struct flow *f, uint32_t sw)
{
	const struct graph *g = f->g;
	uint32_t least = FAR, e, peer;

	for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
		peer = g->edges[e].peer;
		if (f->hops[peer] < least && flow_fits(f, sw, peer))
			least = f->hops[peer];
	}
	f->hops[sw] = least == FAR ? FAR : least + 1;
}

/* Hops of all to `to`: first who goes down, from `to` upwards; then the
 * others, from the top. */
static void
flow_measure(struct flow *f, uint32_t to)
{
	uint32_t n = f->g->n_switches, i, sw;

	memset(f->hops, 0xff, n * sizeof(*f->hops));
	memset(f->falls, 0, n);
	f->hops[to] = 0;
	f->falls[to] = 1;
	for (i = f->place[to]; i-- > 0;) {
		sw = f->order[i];
		f->falls[sw] = 1;
		flow_measure_one(f, sw);
		f->falls[sw] = f->hops[sw] != FAR;
	}
	for (i = 0; i < n; i++)
		if (!f->falls[f->order[i]])
			flow_measure_one(f, f->order[i]);
}

/* Near to far, ties by index: counting sort by hops. */
static void
flow_sort(struct flow *f)
{
	uint32_t n = f->g->n_switches, sw, i, most = 0, sum = 0, count;
	g_autofree uint32_t *first = NULL;

	for (sw = 0; sw < n; sw++)
		if (f->hops[sw] != FAR)
			most = MAX(most, f->hops[sw]);
	first = g_new0(uint32_t, most + 1);
	for (sw = 0; sw < n; sw++)
		if (f->hops[sw] != FAR)
			first[f->hops[sw]]++;
	for (i = 0; i <= most; i++) {
		count = first[i];
		first[i] = sum;
		sum += count;
	}
	for (sw = 0; sw < n; sw++)
		if (f->hops[sw] != FAR)
			f->near[first[f->hops[sw]]++] = sw;
	f->n_near = sum;
}

static void
flow_list_options(struct flow *f)
{
	const struct graph *g = f->g;
	uint32_t i, sw, e, n = 0, peer;

	for (i = 0; i < f->n_near; i++) {
		sw = f->near[i];
		f->first_option[i] = n;
		if (f->hops[sw] == 0)
			continue;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (f->hops[peer] + 1 == f->hops[sw] &&
			    flow_fits(f, sw, peer))
				f->options[n++] = (struct option){ e, peer };
		}
	}
	f->first_option[i] = n;
}

static void
flow_aim(struct flow *f, uint32_t to)
{
	flow_measure(f, to);
	flow_sort(f);
	flow_list_options(f);
}

/* The least load from here on; ties to the first cable; what is in force wins
 * within the slack. */
static uint32_t
flow_decide(const struct flow *f, uint32_t place, uint8_t held)
{
	const struct option *o = &f->options[f->first_option[place]];
	const struct option *end = &f->options[f->first_option[place + 1]];
	const struct option *best = o, *kept = NULL;
	uint64_t cost, least = UINT64_MAX, kept_cost = 0;

	for (; o < end; o++) {
		cost = f->load[o->edge] + f->path[o->peer];
		if (cost < least) {
			least = cost;
			best = o;
		}
		if (f->g->edges[o->edge].port == held) {
			kept = o;
			kept_cost = cost;
		}
	}
	if (kept && kept_cost <= least + f->slack)
		best = kept;
	return best->edge;
}

static uint8_t
flow_held(const struct flow *f, uint32_t sw, uint32_t lid)
{
	if (!f->previous || lid > f->previous->top)
		return LFT_NO_PATH;
	return lft_row(f->previous, sw)[lid];
}

/* One LID of the destination at which we aim. */
static void
flow_route(struct flow *f, uint16_t lid)
{
	uint32_t i, sw, e, peer;

	f->path[f->near[0]] = 0;
	for (i = 1; i < f->n_near; i++) {
		sw = f->near[i];
		e = flow_decide(f, i, flow_held(f, sw, lid));
		f->chosen[i] = e;
		f->path[sw] = f->load[e] + f->path[f->g->edges[e].peer];
		lft_row(f->out, sw)[lid] = f->g->edges[e].port;
	}
	for (i = 0; i < f->n_near; i++)
		f->passing[f->near[i]] = f->weight[f->near[i]];
	for (i = f->n_near; i-- > 1;) {
		e = f->chosen[i];
		peer = f->g->edges[e].peer;
		f->load[e] += f->passing[f->near[i]];
		f->passing[peer] += f->passing[f->near[i]];
	}
}

/* From switches without a legal way to a port 0: round by round, to a
 * neighbour that has some way. Whoever has CAs is left out, and nobody with a
 * legal way comes here, so this is VL15 only. */
static void
flow_manage(struct flow *f, uint16_t lid)
{
	const struct graph *g = f->g;
	uint32_t head, sw, peer, e, n = f->n_near;

	for (head = 0; head < n; head++) {
		sw = f->near[head];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (f->hops[peer] != FAR || g->n_hosts[peer])
				continue;
			f->hops[peer] = f->hops[sw] + 1;
			lft_row(f->out, peer)[lid] =
				g->edges[g->edges[e].back].port;
			f->near[n++] = peer;
		}
	}
}

/* LIDs of CAs first, all of them; then those of ports 0. */
static void
flow_pass(struct flow *f, bool port0)
{
	const struct graph *g = f->g;
	const struct graph_target *t;
	uint32_t i, sw, lid;
	bool aimed;

	for (i = 0; i < g->n_switches; i++)
		f->weight[i] = port0 ? 1 : g->n_hosts[i];
	for (sw = 0; sw < g->n_switches; sw++) {
		aimed = false;
		for (i = g->first_target[sw]; i < g->first_target[sw + 1];
		     i++) {
			t = &g->targets[i];
			if ((t->port == 0) != port0)
				continue;
			if (!aimed)
				flow_aim(f, sw);
			aimed = true;
			for (lid = t->lid; lid < t->lid + (uint32_t)t->n_lids;
			     lid++)
				flow_route(f, (uint16_t)lid);
		}
	}
}

static void
flow_manage_all(struct flow *f)
{
	const struct graph *g = f->g;
	const struct graph_target *t;
	uint32_t i, lid;

	for (i = 0; i < g->n_targets; i++) {
		t = &g->targets[i];
		if (t->port)
			continue;
		flow_measure(f, t->sw);
		flow_sort(f);
		for (lid = t->lid; f->n_near < g->n_switches &&
		     lid < t->lid + (uint32_t)t->n_lids; lid++) {
			flow_manage(f, (uint16_t)lid);
			flow_measure(f, t->sw);
		}
	}
}

/* What one cable carries in the end, roughly: each host's flow to each LID
 * takes two cables in a small fabric and four in a large one. */
static uint64_t
flow_guess_load(const struct graph *g)
{
	uint64_t n_hosts = 0, n_lids = 0;
	uint32_t i;

	for (i = 0; i < g->n_switches; i++)
		n_hosts += g->n_hosts[i];
	for (i = 0; i < g->n_targets; i++)
		n_lids += g->targets[i].port ? g->targets[i].n_lids : 0;
	return g->n_edges ? 2 * n_hosts * n_lids / g->n_edges : 0;
}

/* Shortest hops of all to `to`, whatever the order. */
static void
flow_measure_freely(struct flow *f, uint32_t to, uint32_t *hops)
{
	const struct graph *g = f->g;
	uint32_t head, tail = 1, e, peer;

	memset(hops, 0xff, g->n_switches * sizeof(*hops));
	hops[to] = 0;
	f->near[0] = to;
	for (head = 0; head < tail; head++)
		for (e = g->first_edge[f->near[head]];
		     e < g->first_edge[f->near[head] + 1]; e++) {
			peer = g->edges[e].peer;
			if (hops[peer] != FAR)
				continue;
			hops[peer] = hops[f->near[head]] + 1;
			f->near[tail++] = peer;
		}
}

/* How many of the ways between hosts are longer than the shortest. */
static void
flow_note_length(struct flow *f, GPtrArray *notes)
{
	const struct graph *g = f->g;
	g_autofree uint32_t *least = g_new(uint32_t, g->n_switches);
	uint64_t longer = 0, all = 0, pairs;
	uint32_t to, sw, most = 0;

	for (to = 0; to < g->n_switches; to++) {
		if (!g->n_hosts[to])
			continue;
		flow_measure(f, to);
		flow_measure_freely(f, to, least);
		for (sw = 0; sw < g->n_switches; sw++) {
			pairs = (uint64_t)g->n_hosts[sw] * g->n_hosts[to];
			if (sw == to || f->hops[sw] == FAR)
				continue;
			all += pairs;
			if (f->hops[sw] == least[sw] || !pairs)
				continue;
			longer += pairs;
			most = MAX(most, f->hops[sw] - least[sw]);
		}
	}
	if (longer)
		g_ptr_array_add(notes, g_strdup_printf(
			"%.1f%% of the ways between hosts are longer than "
			"the shortest, by %u hops at most",
			100.0 * (double)longer / (double)all, most));
}

/* Ranks by which everybody is reached. */
static uint32_t *
updn_choose_ranks(const struct engine_input *in, GPtrArray *notes)
{
	uint32_t *ranks = updn_rank(in->g, in->ranks, in->is_root);

	if (updn_joins_all(in->g, ranks))
		return ranks;
	g_free(ranks);
	if (in->ranks) {
		g_ptr_array_add(notes, g_strdup("the order of the switches "
			"that was in force does not join them all any more: "
			"they are ordered anew"));
		ranks = updn_rank(in->g, NULL, in->is_root);
		if (updn_joins_all(in->g, ranks))
			return ranks;
		g_free(ranks);
	}
	if (in->is_root)
		g_ptr_array_add(notes, g_strdup("the roots that were given do "
			"not join all switches: one root is chosen instead"));
	return updn_rank_single(in->g);
}

static bool
updn_compute(const struct engine_input *in, struct engine_output *out,
	     GError **error)
{
	const struct graph *g = in->g;
	const struct graph_target *t;
	struct flow f;

	g_assert(out->lft->n_switches == g->n_switches &&
		 out->lft->top >= g->top);
	if (g->n_edges) {
		out->ranks = updn_choose_ranks(in, out->notes);
		flow_init(&f, in, out->lft, out->ranks);
		f.slack = in->previous ? flow_guess_load(g) / SLACK : 0;
		flow_pass(&f, false);
		flow_pass(&f, true);
		flow_manage_all(&f);
		flow_note_length(&f, out->notes);
		flow_clear(&f);
	}
	for (t = g->targets; t < g->targets + g->n_targets; t++)
		memset(lft_row(out->lft, t->sw) + t->lid, t->port,
		       t->n_lids);
	return true;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "any topology: ways that go up and then down, free of "
		   "credit loops",
	.deadlock_free = true,
	.compute = updn_compute,
};
