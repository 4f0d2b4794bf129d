// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers for LIDs.
 *
 * Purpose. The formula deals destinations out over cables by their numbers, so
 * a number that changes costs entries on every switch. Therefore a host's
 * number follows from where it is plugged in, and not from who else is there:
 * a host that comes or goes changes no other's.
 *
 * Numbers. Leaf number L and place p among the ports that have hosts on leaves
 * usually: t = L * (number of such ports) + p. On a full tree this is what
 * counting gives. Ports count as usual that have a host on more than a quarter
 * of the leaves; others come after them. Where the cables are plugged in
 * anyhow, so that far too many ports are usual for the hosts that there are,
 * hosts are counted leaf by leaf. Where many places are empty, each leaf
 * starts one place later than the one before, or the low places would be full
 * on all leaves. CAs above the leaves follow after all leaves, so as not to
 * disturb.
 *   The LIDs of one port (LMC) have numbers one after the other: each LID of a
 * range shifts like the base LIDs do, one plane on.
 *   I/O nodes have numbers of their own, from 0 on: compute nodes shift among
 * themselves as if the others were not there, and I/O traffic is dealt out
 * evenly over all planes by itself.
 *
 * Those who are gone. A LID that nobody owns, but that `previous` delivers to
 * a port of a switch at which nobody is now, is a host that reboots or was
 * pulled. It keeps its number, hence its entries. Routed like all others it
 * follows the tree of today, so what is left of it can neither loop nor add a
 * turn that no living LID may take; an entry that was only copied could.
 * If a cable broke meanwhile there are two such switches, the one that it hung
 * on and the one where the cable was; it hung where more ways end.
 *
 * Source. E. Zahavi, "Fat-trees routing and node ordering providing contention
 * free traffic for MPI global collectives", 2011.
 */
#include "routing/ftree_hosts.h"

#include <stdlib.h>
#include <string.h>

#define N_PORTS		256u
#define MAX_HOPS	64u	/* a way in an old table that is longer loops */

/* One LID at a switch. */
struct guest {
	uint32_t sw;
	uint16_t lid;
	uint8_t port, of_range;	/* the how manieth of the port */
	bool io;
};

struct registry {
	const struct tree *t;
	const struct engine_input *in;
	struct hosts *h;
	GArray *guests;		/* sorted by (destination, port, LID) */
	uint8_t place[N_PORTS];	/* of a usual port */
	uint32_t n_usual;	/* ports; 0: there is no such thing */
	bool sparse;		/* many places are empty */
};

static gint
hosts_compare(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct tree *t = data;
	const struct guest *x = a, *y = b;

	if (x->sw != y->sw)
		return t->dest_of[x->sw] < t->dest_of[y->sw] ? -1 : 1;
	if (x->port != y->port)
		return (int)x->port - (int)y->port;
	return (int)x->lid - (int)y->lid;
}

/* Ports that lead somewhere. */
static uint8_t *
hosts_mark_used(const struct graph *g)
{
	uint8_t *used = g_new0(uint8_t, (size_t)g->n_switches * N_PORTS);
	uint32_t sw, i;

	for (sw = 0; sw < g->n_switches; sw++) {
		used[(size_t)sw * N_PORTS] = 1;
		used[(size_t)sw * N_PORTS + LFT_NO_PATH] = 1;
		for (i = g->first_edge[sw]; i < g->first_edge[sw + 1]; i++)
			used[(size_t)sw * N_PORTS + g->edges[i].port] = 1;
		for (i = g->first_target[sw]; i < g->first_target[sw + 1]; i++)
			used[(size_t)sw * N_PORTS + g->targets[i].port] = 1;
	}
	return used;
}

/* Where the way of `lid` ends by the old tables, over cables of today. */
static uint32_t
hosts_follow(const struct registry *r, const uint32_t *edge_of, uint32_t sw,
	     uint16_t lid)
{
	const struct lft *old = r->in->previous;
	uint32_t hops, e;

	for (hops = 0; hops < MAX_HOPS && sw < old->n_switches; hops++) {
		e = edge_of[sw * GRAPH_PORTS + lft_row(old, sw)[lid]];
		if (e == SUBNET_NONE)
			return sw;
		sw = r->t->g->edges[e].peer;
	}
	return SUBNET_NONE;
}

/* Of several switches the one at which most ways end, the first of those. */
static struct guest
hosts_choose(const struct registry *r, const struct guest *guests,
	     uint32_t n)
{
	const struct graph *g = r->t->g;
	g_autofree uint32_t *edge_of = graph_map_ports(g);
	g_autofree uint32_t *count = g_new0(uint32_t, g->n_switches);
	uint32_t sw, end, i, best = 0;

	for (sw = 0; sw < g->n_switches; sw++) {
		end = hosts_follow(r, edge_of, sw, guests[0].lid);
		if (end != SUBNET_NONE)
			count[end]++;
	}
	for (i = 1; i < n; i++)
		if (count[guests[i].sw] > count[guests[best].sw])
			best = i;
	return guests[best];
}

static int
hosts_compare_lids(const void *a, const void *b)
{
	const struct guest *x = a, *y = b;

	if (x->lid != y->lid)
		return (int)x->lid - (int)y->lid;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Where the old tables deliver LIDs that nobody owns. */
static GArray *
hosts_find_ends(const struct registry *r, const uint16_t *lids, uint32_t n)
{
	const struct lft *old = r->in->previous;
	const struct graph *g = r->t->g;
	g_autofree uint8_t *used = hosts_mark_used(g);
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(struct guest));
	struct guest guest = { 0 };
	uint32_t sw, i;

	for (sw = 0; sw < g->n_switches && sw < old->n_switches; sw++) {
		if (r->t->dest_of[sw] >= r->t->n_leaves)
			continue;
		for (i = 0; i < n; i++) {
			guest.sw = sw;
			guest.lid = lids[i];
			guest.port = lft_row(old, sw)[lids[i]];
			if (!used[(size_t)sw * N_PORTS + guest.port])
				g_array_append_val(ends, guest);
		}
	}
	if (ends->len)	/* of nothing there is no array either */
		qsort(ends->data, ends->len, sizeof(guest),
		      hosts_compare_lids);
	return ends;
}

/* By what the tables of before say, in no order. */
static GArray *
hosts_find_gone(struct registry *r)
{
	const struct graph *g = r->t->g;
	g_autofree uint32_t *owner = graph_map_lids(g);
	g_autofree uint16_t *lids = g_new(uint16_t, g->top + 1u);
	uint32_t top = MIN(g->top, r->in->previous->top), lid, n = 0, i, j;
	GArray *gone = g_array_new(FALSE, FALSE, sizeof(struct guest));
	struct guest guest, *guests;
	GArray *ends;

	for (lid = 1; lid <= top; lid++)
		if (owner[lid] == SUBNET_NONE)
			lids[n++] = (uint16_t)lid;
	if (n == 0)
		return gone;
	ends = hosts_find_ends(r, lids, n);
	guests = (struct guest *)(void *)ends->data;
	for (i = 0; i < ends->len; i = j) {
		for (j = i + 1; j < ends->len; j++)
			if (guests[j].lid != guests[i].lid)
				break;
		guest = j == i + 1 ? guests[i] :
			hosts_choose(r, guests + i, j - i);
		g_array_append_val(gone, guest);
	}
	g_array_unref(ends);
	return gone;
}

static void
hosts_add_gone(struct registry *r)
{
	GArray *gone = hosts_find_gone(r);

	r->h->n_gone = gone->len;
	if (gone->len > 0) {
		g_array_append_vals(r->guests, gone->data, gone->len);
		g_array_sort_with_data(r->guests, hosts_compare,
				       (gpointer)r->t);
	}
	g_array_unref(gone);
}

/* Those on one switch, by port: behind a port there is one target. Gives back
 * where the next ones go. */
static struct guest *
hosts_add_switch(struct registry *r, uint32_t sw, struct guest *to)
{
	const struct graph *g = r->t->g;
	uint32_t target_of[N_PORTS], dest = r->t->dest_of[sw], i, k;
	uint64_t used[N_PORTS / 64] = { 0 }, word;
	const struct graph_target *target;

	for (i = g->first_target[sw]; i < g->first_target[sw + 1]; i++) {
		target = &g->targets[i];
		target_of[target->port] = i;
		if (target->port == 0) {
			r->h->own_lid[dest] = target->lid;
			r->h->n_own[dest] = (uint8_t)target->n_lids;
			continue;
		}
		used[target->port / 64] |= UINT64_C(1) << target->port % 64;
	}
	for (k = 0; k < G_N_ELEMENTS(used); k++)
		for (word = used[k]; word; word &= word - 1) {
			i = target_of[k * 64 +
				      (uint32_t)__builtin_ctzll(word)];
			target = &g->targets[i];
			for (uint32_t nth = 0; nth < target->n_lids; nth++)
				*to++ = (struct guest){
					.sw = sw,
					.lid = (uint16_t)(target->lid + nth),
					.port = target->port,
					.of_range = (uint8_t)nth,
					.io = r->in->is_io && r->in->is_io[i],
				};
		}
	return to;
}

static void
hosts_gather(struct registry *r)
{
	const struct tree *t = r->t;
	struct guest *all, *to;
	uint32_t i, dest;

	g_array_set_size(r->guests, t->g->top + 1u);
	all = to = (struct guest *)(void *)r->guests->data;
	for (dest = 0; dest < t->g->n_switches; dest++)
		to = hosts_add_switch(r, t->switch_of[dest], to);
	g_array_set_size(r->guests, (guint)(to - all));
	if (r->in->previous)
		hosts_add_gone(r);
	all = (struct guest *)(void *)r->guests->data;
	for (i = 1; i < r->guests->len; i++)
		if (all[i].sw == all[i - 1].sw &&
		    all[i].port == all[i - 1].port)
			all[i].of_range = (uint8_t)(all[i - 1].of_range + 1);
}

/* What is usual on a leaf, of compute nodes. */
static void
hosts_judge(struct registry *r)
{
	const struct guest *all = (struct guest *)(void *)r->guests->data;
	g_autofree uint32_t *on_leaf = g_new0(uint32_t, r->t->n_leaves + 1);
	uint32_t on_port[N_PORTS] = { 0 }, with[N_PORTS] = { 0 };
	uint32_t n_leaves = 0, n_hosts = 0, median = 0, sum, i, p;

	for (i = 0; i < r->guests->len; i++) {
		if (all[i].io || all[i].of_range > 0 ||
		    r->t->rank[all[i].sw] > 0)
			continue;
		n_leaves += on_leaf[r->t->dest_of[all[i].sw]]++ == 0;
		on_port[all[i].port]++;
		n_hosts++;
	}
	for (i = 0; i < r->t->n_leaves; i++)
		if (on_leaf[i] > 0)
			with[MIN(on_leaf[i], N_PORTS - 1)]++;
	for (sum = 0; median < N_PORTS - 1; median++) {
		sum += with[median];
		if (sum * 2 > n_leaves)
			break;
	}
	if (n_leaves == 0)
		median = 0;
	for (p = 1; p < N_PORTS; p++)
		r->n_usual += on_port[p] * 4 > n_leaves;
	for (i = 0, p = 1; p < N_PORTS; p++)	/* i usual ones before it */
		if (on_port[p] * 4 > n_leaves)
			r->place[p] = (uint8_t)i++;
		else
			r->place[p] = (uint8_t)(r->n_usual + p - 1 - i);
	if (n_hosts * 8 < n_leaves * r->n_usual * 5)
		r->n_usual = 0;
	r->h->usual = r->n_usual ? r->n_usual : median;
	r->h->usual = MAX(r->h->usual, 1);
	r->sparse = r->n_usual &&
		n_hosts * 8 < n_leaves * r->n_usual * 7;
}

/* Leaves of an island have numbers of their own: rails are separate trees. */
static void
hosts_number_leaves(const struct registry *r)
{
	const struct tree *t = r->t;
	uint32_t n = t->g->n_switches, dest, sw;
	g_autofree uint32_t *n_leaves = g_new0(uint32_t, n);

	for (dest = 0; dest < t->n_bottom; dest++) {
		sw = t->switch_of[dest];
		r->h->base[dest] = n_leaves[t->island[sw]]++ * r->h->usual;
	}
	for (; dest < n; dest++) {
		sw = t->switch_of[dest];
		r->h->base[dest] = n_leaves[t->island[sw]] * r->h->usual +
			t->place[sw] - t->n_bottom;
	}
}

/* `nth`: ports with compute nodes before this one on the same switch. */
static uint32_t
hosts_number(const struct registry *r, const struct guest *guest,
	     uint32_t nth)
{
	uint32_t dest = r->t->dest_of[guest->sw], place = nth;

	if (r->n_usual && dest < r->t->n_bottom)
		place = r->place[guest->port];
	if (r->sparse && dest < r->t->n_bottom)
		place = (place + r->h->base[dest] / r->h->usual) %
			r->h->usual;
	return r->h->base[dest] + place + guest->of_range;
}

static void
hosts_write(const struct registry *r)
{
	const struct tree *t = r->t;
	const struct guest *guest = (struct guest *)(void *)r->guests->data;
	struct hosts *h = r->h;
	g_autofree uint32_t *n_io = g_new0(uint32_t, t->g->n_switches);
	uint32_t dest, sw, nth, *io;

	for (dest = 0; dest < t->g->n_switches; dest++) {
		sw = t->switch_of[dest];
		io = &n_io[t->island[sw]];
		h->first[dest] = h->n;
		for (nth = 0; h->n < r->guests->len && guest->sw == sw;
		     guest++, h->n++) {
			h->lid[h->n] = guest->lid;
			h->port[h->n] = guest->port;
			if (guest->io)
				h->number[h->n] = (*io)++;
			else
				h->number[h->n] = hosts_number(r, guest,
					nth - (guest->of_range > 0));
			nth += !guest->io && guest->of_range == 0;
		}
	}
	h->first[dest] = h->n;
}

struct hosts *
hosts_new(const struct tree *t, const struct engine_input *in)
{
	struct hosts *h = g_new0(struct hosts, 1);
	uint32_t n = t->g->n_switches;
	struct registry r = {
		.t = t,
		.in = in,
		.h = h,
		.guests = g_array_sized_new(FALSE, FALSE, sizeof(struct guest),
					    t->g->top + 1u),
	};

	h->first = g_new(uint32_t, n + 1);
	h->base = g_new(uint32_t, n);
	h->own_lid = g_new0(uint16_t, n);
	h->n_own = g_new0(uint8_t, n);
	hosts_gather(&r);
	hosts_judge(&r);
	h->lid = g_new(uint16_t, r.guests->len);
	h->port = g_new(uint8_t, r.guests->len);
	h->number = g_new(uint32_t, r.guests->len);
	hosts_number_leaves(&r);
	hosts_write(&r);
	g_array_unref(r.guests);
	return h;
}

void
hosts_free(struct hosts *h)
{
	g_free(h->first);
	g_free(h->lid);
	g_free(h->port);
	g_free(h->number);
	g_free(h->base);
	g_free(h->own_lid);
	g_free(h->n_own);
	g_free(h);
}

bool
hosts_equal(const struct hosts *a, const struct hosts *b, uint32_t n_switches)
{
	size_t n = n_switches;

	return a->n == b->n && a->usual == b->usual &&
		!memcmp(a->first, b->first, (n + 1) * sizeof(*a->first)) &&
		!memcmp(a->base, b->base, n * sizeof(*a->base)) &&
		!memcmp(a->own_lid, b->own_lid, n * sizeof(*a->own_lid)) &&
		!memcmp(a->n_own, b->n_own, n * sizeof(*a->n_own)) &&
		(a->n == 0 ||
		 (!memcmp(a->lid, b->lid, a->n * sizeof(*a->lid)) &&
		  !memcmp(a->port, b->port, a->n * sizeof(*a->port)) &&
		  !memcmp(a->number, b->number, a->n * sizeof(*a->number))));
}
