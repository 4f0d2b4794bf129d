// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The judge of tables; see the header.
 *
 * A port of a switch is `sw * PORTS + number`; a channel is the port by which
 * it leaves. Credit loops: turns are followed from each channel until it is met
 * again; what a packet of data can hold and ask for comes from following all
 * LIDs from all sources, in either of two tables.
 *
 * Bound. No tables get below the mean of shortest paths over all channels, nor
 * below what crosses a cut over the cables of the cut. Cuts that are looked at:
 * a set that grows from each switch, by hops (a ball, M. Heydemann et al.,
 * 1989) or by the most cables into the set (as in M. Stoer, F. Wagner, 1997),
 * after each switch that it took in.
 */
#include "tests/lib/oracle.h"

#include <string.h>

#include "topology/each.h"

#define PORTS	256u
#define WORDS	(PORTS / 64)
#define FAR	UINT32_MAX

struct oracle {
	const struct oracle_case *c;
	uint32_t n, n_hosts;
	uint32_t top;		/* the highest port with a cable to a switch */
	uint32_t *peer;		/* port -> port of a switch; SNAPSHOT_NONE */
	uint32_t *hosts;	/* by switch */
	uint32_t *inner;	/* by switch: CAs inside it */
	uint64_t *turns;	/* by channel: ports of the switch behind it */
	uint32_t *load;		/* by channel: flows */
	uint32_t *trees;	/* by channel: groups */
	uint32_t *island;	/* by switch: the first that cables lead to */
};

/* Where a port is: at a switch, or behind one. False: nowhere. */
static bool
oracle_place(const struct snapshot *s, uint32_t port, uint32_t *sw,
	     uint32_t *num)
{
	uint32_t peer = s->ports[port].peer;

	*num = 0;
	if (!snapshot_is_switch(snapshot_node_of(s, port))) {
		if (!snapshot_link_up(s, port))
			return false;
		*num = s->ports[peer].num;
		port = peer;
	}
	*sw = snapshot_node_of(s, port)->sw_index;
	return *sw != SNAPSHOT_NONE;
}

/* A CA with the SystemImageGUID or the NodeGUID of its switch is a part of it. */
static bool
is_inner(const struct snapshot *s, uint32_t port, uint32_t sw)
{
	const struct node_info *ca = &snapshot_node_of(s, port)->info;
	const struct node_info *its = &s->nodes[s->switches[sw]].info;

	return ca->node_type != NODE_SWITCH && ca->system_guid &&
		(ca->system_guid == its->system_guid ||
		 ca->system_guid == its->node_guid);
}

static void
oracle_init(struct oracle *o, const struct oracle_case *c)
{
	const struct snapshot *s = c->s;
	uint32_t port, peer, i, sw, num;

	*o = (struct oracle){ .c = c, .n = s->n_switches };
	i = o->n * PORTS;
	o->peer = g_new(uint32_t, i + 1);
	memset(o->peer, 0xff, i * sizeof(*o->peer));
	o->hosts = g_new0(uint32_t, o->n + 1);
	o->inner = g_new0(uint32_t, o->n + 1);
	o->turns = g_new0(uint64_t, (size_t)i * WORDS + 1);
	o->load = g_new0(uint32_t, i + 1);
	o->trees = g_new0(uint32_t, i + 1);
	o->island = g_new(uint32_t, o->n + 1);
	for (port = 0; port < s->n_ports; port++) {
		if (!snapshot_link_up(s, port))
			continue;
		peer = s->ports[port].peer;
		if (snapshot_is_switch(snapshot_node_of(s, port)) &&
		    snapshot_is_switch(snapshot_node_of(s, peer)) &&
		    s->ports[port].node != s->ports[peer].node) {
			o->peer[snapshot_node_of(s, port)->sw_index * PORTS +
				s->ports[port].num] =
				snapshot_node_of(s, peer)->sw_index * PORTS +
				s->ports[peer].num;
			o->top = MAX(o->top, s->ports[port].num);
		} else if (c->lids->base[port] &&
			 oracle_place(s, port, &sw, &num) && num) {
			if (is_inner(s, port, sw)) {
				o->inner[sw]++;
				continue;
			}
			o->hosts[sw]++;
			o->n_hosts++;
		}
	}
}

static void
oracle_clear(struct oracle *o)
{
	g_free(o->peer);
	g_free(o->hosts);
	g_free(o->inner);
	g_free(o->turns);
	g_free(o->load);
	g_free(o->trees);
	g_free(o->island);
}

static uint32_t
oracle_entry(const struct lft *lft, uint32_t sw, uint32_t lid)
{
	return lid <= lft->top ? lft_row(lft, sw)[lid] : LFT_NO_PATH;
}

/* ---- unicast ---- */

enum fate {
	FATE_OPEN, FATE_TRAIL, FATE_ARRIVED, FATE_LOST, FATE_LOOP,
	FATE_ASTRAY,		/* the entry leads to no switch */
};

/* Where packets to this LID end that start at each switch. */
static void
follow_all(const struct oracle *o, uint32_t lid, uint32_t home, uint32_t num,
	   uint8_t *fate)
{
	g_autofree uint32_t *trail = g_new(uint32_t, o->n);
	uint32_t start, sw, n, out;
	uint8_t end;

	memset(fate, FATE_OPEN, o->n);
	for (start = 0; start < o->n; start++) {
		n = 0;
		end = FATE_OPEN;
		for (sw = start; end == FATE_OPEN;) {
			if (fate[sw] != FATE_OPEN) {
				end = fate[sw];
				break;
			}
			fate[sw] = FATE_TRAIL;
			trail[n++] = sw;
			out = oracle_entry(o->c->lft, sw, lid);
			if (sw == home && out == num)
				end = FATE_ARRIVED;
			else if (o->peer[sw * PORTS + out] == SNAPSHOT_NONE)
				end = out == LFT_NO_PATH ? FATE_LOST :
					FATE_ASTRAY;
			else
				sw = o->peer[sw * PORTS + out] / PORTS;
		}
		if (end == FATE_TRAIL)
			end = FATE_LOOP;
		while (n > 0)
			fate[trail[--n]] = end;
	}
}

/* Adds what every CA sends to this LID to the load of the channels. */
static void
load_all(struct oracle *o, uint32_t lid, uint32_t home, const uint8_t *fate)
{
	uint32_t start, sw, port;

	for (start = 0; start < o->n; start++) {
		if (fate[start] != FATE_ARRIVED)
			continue;
		for (sw = start; sw != home; sw = o->peer[port] / PORTS) {
			port = sw * PORTS + oracle_entry(o->c->lft, sw, lid);
			o->load[port] += o->hosts[start];
		}
	}
}

static void
turn(struct oracle *o, uint32_t channel, uint32_t port)
{
	o->turns[(size_t)channel * WORDS + port / 64] |=
		UINT64_C(1) << port % 64;
}

/* Turns of data to this LID: from CAs to all, from switches to CAs. queue: a
 * switch, and by which of the tables it sends. */
static void
turn_all(struct oracle *o, uint32_t lid, bool is_ca)
{
	const struct lft *tables[2] = { o->c->lft, o->c->before };
	unsigned n = o->c->before ? 2 : 1, i, k;
	g_autofree uint8_t *seen = g_new0(uint8_t, o->n * 2);
	g_autofree uint32_t *queue = g_new(uint32_t, o->n * 2);
	uint32_t head, tail = 0, sw, channel, to, out;

	for (sw = 0; sw < o->n; sw++)
		for (i = 0; i < n && (is_ca || o->hosts[sw] || o->inner[sw]);
		     i++) {
			seen[sw * 2 + i] = 1;
			queue[tail++] = sw * 2 + i;
		}
	for (head = 0; head < tail; head++) {
		sw = queue[head] / 2;
		i = queue[head] % 2;
		channel = sw * PORTS + oracle_entry(tables[i], sw, lid);
		if (o->peer[channel] == SNAPSHOT_NONE)
			continue;
		to = o->peer[channel] / PORTS;
		for (k = 0; k < n; k++) {
			out = oracle_entry(tables[k], to, lid);
			if (k != i && o->c->is_ordered &&
			    o->peer[to * PORTS + out] / PORTS == sw)
				continue;
			turn(o, channel, out);
			if (!seen[to * 2 + k]) {
				seen[to * 2 + k] = 1;
				queue[tail++] = to * 2 + k;
			}
		}
	}
}

/* What the cables join has the number of its first switch, which spreads. */
static void
find_islands(struct oracle *o)
{
	bool is_spreading = true;
	uint32_t sw, p, peer;

	for (sw = 0; sw < o->n; sw++)
		o->island[sw] = sw;
	while (is_spreading) {
		is_spreading = false;
		for (p = 0; p < o->n * PORTS; p++) {
			peer = o->peer[p] / PORTS;
			if (o->peer[p] == SNAPSHOT_NONE ||
			    o->island[peer] <= o->island[p / PORTS])
				continue;
			o->island[peer] = o->island[p / PORTS];
			is_spreading = true;
		}
	}
}

static void
judge_unicast(struct oracle *o, struct oracle_verdict *v)
{
	const struct lid_map *lids = o->c->lids;
	uint32_t top = MAX(MAX(lids->top, o->c->lft->top),
			   o->c->before ? o->c->before->top : 0);
	g_autofree uint8_t *fate = g_new(uint8_t, o->n);
	uint32_t lid, sw, home, num, port;
	bool is_host;

	for (lid = 1; lid <= top; lid++) {
		port = lid <= lids->top ? lids->owner[lid] : SNAPSHOT_NONE;
		if (port == SNAPSHOT_NONE ||
		    !oracle_place(o->c->s, port, &home, &num)) {
			turn_all(o, lid, !o->c->was_switch ||
				 !o->c->was_switch[lid]);
			continue;
		}
		turn_all(o, lid, num != 0);
		is_host = num && !is_inner(o->c->s, port, home);
		follow_all(o, lid, home, num, fate);
		for (sw = 0; sw < o->n; sw++) {
			bool is_cut_off = fate[sw] == FATE_LOST &&
				o->island[sw] != o->island[home];

			v->arrived += fate[sw] == FATE_ARRIVED;
			v->unrouted += fate[sw] == FATE_LOST;
			v->looping += fate[sw] == FATE_LOOP;
			v->astray += fate[sw] == FATE_ASTRAY;
			v->cut_off += is_cut_off;
			if (fate[sw] == FATE_ARRIVED || is_cut_off)
				continue;
			if (!v->lid) {
				v->lid = lid;
				v->sw = sw;
			}
			if (is_host)
				v->lost_hosts += o->hosts[sw] - (sw == home);
			v->lost_mixed += o->inner[sw] +
				(is_host ? 1 : o->hosts[sw]);
		}
		if (is_host && lid == lids->base[port])
			load_all(o, lid, home, fate);
	}
	for (port = 0; port < o->n * PORTS; port++)
		v->max = MAX(v->max, o->load[port]);
}

/* Follows the turns from each channel; in a loop it is met again. */
static void
count_turns(const struct oracle *o, struct oracle_verdict *v)
{
	uint32_t n = o->n * PORTS, head, tail, c, to, w;
	g_autofree uint32_t *met_from = g_new0(uint32_t, n + 1);
	g_autofree uint32_t *queue = g_new(uint32_t, n + 1);
	uint64_t bits, is_used;

	for (c = 0; c < n; c++) {
		queue[0] = c;
		is_used = 0;
		for (head = 0, tail = 1; head < tail; head++)
			for (w = 0; w < WORDS; w++) {
				bits = o->turns[(size_t)queue[head] * WORDS +
						w];
				for (is_used |= bits; bits; bits &= bits - 1) {
					to = o->peer[queue[head]] / PORTS *
						PORTS + w * 64 +
						(uint32_t)__builtin_ctzll(bits);
					if (o->peer[to] == SNAPSHOT_NONE)
						continue;
					v->n_turns += head == 0;
					if (met_from[to] == c + 1)
						continue;
					met_from[to] = c + 1;
					queue[tail++] = to;
				}
			}
		v->n_channels += is_used != 0;
		v->n_looped += met_from[c] == c + 1;
	}
}

/* ---- the bound ---- */

static uint64_t
ceil_div(uint64_t a, uint64_t b)
{
	return b ? (a + b - 1) / b : 0;
}

/* Those of `queue` in the order in which a set takes them in that starts with
 * the first and always takes the one with most cables into it. */
static void
grow_by_cables(const struct oracle *o, uint32_t *queue, uint32_t n)
{
	g_autofree uint32_t *ties = g_new0(uint32_t, o->n);
	uint32_t i, k, best, p, peer;

	for (i = 0; i < n; i++) {
		best = i;
		for (k = i + 1; i > 0 && k < n; k++)
			if (ties[queue[k]] > ties[queue[best]])
				best = k;
		k = queue[best];
		queue[best] = queue[i];
		queue[i] = k;
		for (p = 1; p <= o->top; p++) {
			peer = o->peer[k * PORTS + p];
			if (peer != SNAPSHOT_NONE)
				ties[peer / PORTS]++;
		}
	}
}

/* The best bound of the cuts between the first switches of `queue`, however
 * many, and the rest. */
static uint64_t
bound_of_cuts(const struct oracle *o, const uint32_t *queue, uint32_t n)
{
	g_autofree uint32_t *place = g_new(uint32_t, o->n);
	uint64_t best = 0, inside = 0, cables = 0, all = 0;
	uint32_t i, p, peer;

	for (i = 0; i < n; i++) {
		place[queue[i]] = i;
		all += o->hosts[queue[i]];
	}
	for (i = 0; i < n; i++) {
		inside += o->hosts[queue[i]];
		for (p = 1; p <= o->top; p++) {
			peer = o->peer[queue[i] * PORTS + p];
			if (peer == SNAPSHOT_NONE)
				continue;
			if (place[peer / PORTS] > i)
				cables++;
			else
				cables--;	/* both ends are inside now */
		}
		best = MAX(best, ceil_div(inside * (all - inside), cables));
	}
	return best;
}

/* Of the cuts around one switch; adds its hosts' shortest paths to *hops. */
static uint64_t
bound_around(const struct oracle *o, uint32_t from, uint64_t *hops)
{
	g_autofree uint32_t *hop = g_new(uint32_t, o->n);
	g_autofree uint32_t *queue = g_new(uint32_t, o->n);
	uint32_t head, tail = 0, p, peer;
	uint64_t balls;

	memset(hop, 0xff, o->n * sizeof(*hop));
	hop[from] = 0;
	queue[tail++] = from;
	for (head = 0; head < tail; head++) {
		*hops += (uint64_t)o->hosts[from] * o->hosts[queue[head]] *
			hop[queue[head]];
		for (p = 1; p <= o->top; p++) {
			peer = o->peer[queue[head] * PORTS + p];
			if (peer == SNAPSHOT_NONE || hop[peer / PORTS] != FAR)
				continue;
			hop[peer / PORTS] = hop[queue[head]] + 1;
			queue[tail++] = peer / PORTS;
		}
	}
	balls = bound_of_cuts(o, queue, tail);
	grow_by_cables(o, queue, tail);
	return MAX(balls, bound_of_cuts(o, queue, tail));
}

uint64_t
oracle_bound(const struct snapshot *s, const struct lid_map *lids)
{
	const struct oracle_case c = { .s = s, .lids = lids };
	uint64_t hops = 0, bound = 0, best;
	uint32_t sw, p, n_channels = 0;
	struct oracle o;

	oracle_init(&o, &c);
	for (sw = 0; sw < o.n; sw++) {
		for (p = 1; p <= o.top; p++)
			n_channels += o.peer[sw * PORTS + p] != SNAPSHOT_NONE;
		best = bound_around(&o, sw, &hops);
		bound = MAX(bound, best);
	}
	oracle_clear(&o);
	return MAX(bound, ceil_div(hops, n_channels));
}

/* ---- multicast ---- */

/* Sends a packet into the tables and counts copies by port, which are reached
 * then; it is dropped after as many switches as there are, which only a loop
 * takes. */
static void
mcast_send(struct oracle *o, const struct multicast_group *g,
	   const struct multicast_member *from, uint32_t *copies,
	   GArray *reached, uint8_t *used, struct oracle_verdict *v)
{
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t at = from->sw * PORTS + from->port, sw, p, out, in;
	bool is_cable, is_dropped;

	g_array_append_val(queue, at);
	for (guint i = 0; i < queue->len && i <= o->n; i++) {
		at = g_array_index(queue, uint32_t, i);
		sw = at / PORTS;
		is_cable = o->peer[at] != SNAPSHOT_NONE;
		in = is_cable ? o->peer[at] : at;
		is_dropped = is_cable;
		for (p = 0; p < 16 * o->c->mft->n_positions; p++) {
			if (!mft_has(o->c->mft, sw, g->mlid, p) ||
			    p == at % PORTS)
				continue;
			out = sw * PORTS + p;
			is_dropped = false;
			if (is_cable)
				turn(o, in, p);
			if (o->peer[out] == SNAPSHOT_NONE) {
				copies[out]++;
				g_array_append_val(reached, out);
				continue;
			}
			used[out] = 1;
			g_array_append_val(queue, o->peer[out]);
		}
		v->stray += is_dropped;
	}
	v->stray += queue->len > o->n;
}

bool
is_lost(const GArray *lost, uint16_t mlid, const struct multicast_member *m)
{
	EACH_ITEM(const struct multicast_lost, l, lost)
		if (l->mlid == mlid && l->sw == m->sw && l->port == m->port)
			return true;
	return false;
}

static void
judge_group(struct oracle *o, const struct multicast_group *g,
	    struct oracle_verdict *v)
{
	uint32_t n = o->n * PORTS, i, k, to, from;
	g_autofree uint32_t *copies = g_new0(uint32_t, n);
	g_autofree uint8_t *used = g_new0(uint8_t, n);
	g_autoptr(GArray) reached = g_array_new(FALSE, FALSE, sizeof(to));

	for (i = 0; i < g->n_members; i++) {
		if (is_lost(o->c->lost, g->mlid, &g->members[i]))
			continue;
		g_array_set_size(reached, 0);
		mcast_send(o, g, &g->members[i], copies, reached, used, v);
		from = g->members[i].sw * PORTS + g->members[i].port;
		for (k = 0; k < g->n_members; k++) {
			to = g->members[k].sw * PORTS + g->members[k].port;
			if (to == from || !g->members[k].receives ||
			    is_lost(o->c->lost, g->mlid, &g->members[k]))
				continue;
			v->missed += copies[to] == 0;
			copies[to] -= copies[to] > 0;
		}
		EACH_ITEM(const uint32_t, out, reached) {
			v->stray += copies[*out];
			copies[*out] = 0;
		}
	}
	for (k = 0; k < n; k++) {
		o->trees[k] += used[k];
		v->unused += o->peer[k] != SNAPSHOT_NONE && !used[k] &&
			mft_has(o->c->mft, k / PORTS, g->mlid, k % PORTS);
	}
}

void
oracle_judge(const struct oracle_case *c, struct oracle_verdict *v)
{
	struct oracle_verdict all = { 0 };
	uint32_t n_used = 0;
	struct oracle o;

	*v = (struct oracle_verdict){ 0 };
	oracle_init(&o, c);
	if (c->lft) {
		find_islands(&o);
		judge_unicast(&o, v);
		count_turns(&o, v);
	}
	if (c->mft) {
		for (uint32_t i = 0; i < c->n_groups; i++)
			judge_group(&o, &c->groups[i], v);
		for (uint32_t i = 0; i < o.n * PORTS; i++) {
			v->max_trees = MAX(v->max_trees, o.trees[i]);
			v->mean_trees += o.trees[i];
			n_used += o.trees[i] > 0;
		}
		if (n_used)
			v->mean_trees /= n_used;
		if (c->lft) {
			count_turns(&o, &all);
			v->looped_all = all.n_looped;
		}
	}
	oracle_clear(&o);
}
