// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Paths.
 *
 * Flow of path_find, cheapest refusal first:
 *   1. partition: the P_Key asked for, or the first that both have; limited
 *	to limited is none (IBA 10.9.3)
 *   2. SL: the policy's for such a path, else the partition's; if one is asked
 *	for, the partition is the first with which the path has this SL. With
 *	QoS off nobody has said what an SL means: 0, or what is asked for
 *   3. the way there through the tables, and back. Ours lead back, so a
 *	client that does not say gets a reversible path where there is one; it
 *	carries what both ways carry, since what the other end sends has to
 *	come through as well
 *   4. MTU, rate, life time: the least on the way, by the selectors
 *
 * Selectors count only together with their value (IBA 15.2.5.16.1). "Exactly"
 * and "less than" are served by a way that can do more: what is smaller than
 * the way's MTU fits through it.
 *
 * Life time. It does not depend on the hops: it is the bound that is set for
 * the subnet, as clients of OpenSM know it, whose timeouts are made of it. To
 * oneself it is nothing.
 *
 * path_may_start() is what makes it possible to look for paths between all
 * ports: a port with which nothing can begin is passed over, so a wish that
 * nobody can grant costs a look at each port and not at each pair. Whom it
 * lets pass, mostly has a path to itself at least.
 */
#include "sm/sa/path.h"

#include <string.h>

#define PATH_SERVICE_ID_BITS	3u	/* both halves: components 0, 1 */
#define MTU_MIN		1u
#define LIFE_MAX	0x3fu
#define RATE_MIN	3u	/* 10 Gb/s: what all can do */

static bool
asks_both(const struct path_wish *w, unsigned selector, unsigned value)
{
	return path_asks(w, selector) && path_asks(w, value);
}

static bool
select_mtu(const struct path_wish *w, uint8_t *mtu)
{
	uint8_t want = w->want.mtu;

	if (!asks_both(w, PATH_MTU_SELECTOR, PATH_MTU))
		return true;
	switch ((enum sa_selector)w->want.mtu_selector) {
	case SA_GREATER:
		return *mtu > want;
	case SA_LESS:
		if (want <= MTU_MIN)
			return false;
		*mtu = MIN(*mtu, (uint8_t)(want - 1));
		return true;
	case SA_EXACTLY:
		if (*mtu < want || want < MTU_MIN)
			return false;
		*mtu = want;
		return true;
	case SA_LARGEST:
		return true;
	}
	return false;
}

static bool
select_rate(const struct path_wish *w, uint8_t *rate)
{
	uint8_t want = w->want.rate;

	if (!asks_both(w, PATH_RATE_SELECTOR, PATH_RATE))
		return true;
	switch ((enum sa_selector)w->want.rate_selector) {
	case SA_GREATER:
		return sa_rate_compare(*rate, want) > 0;
	case SA_LESS:
		if (sa_rate_compare(*rate, want) >= 0)
			*rate = (uint8_t)sa_rate_by_rank(
				MAX(sa_rate_rank(want), 1u) - 1);
		return *rate != 0;
	case SA_EXACTLY:
		if (!sa_rate_mbps(want) || sa_rate_compare(*rate, want) < 0)
			return false;
		*rate = want;
		return true;
	case SA_LARGEST:
		return true;
	}
	return false;
}

/* A life time may be promised longer than it is, never shorter. */
static bool
select_life(const struct path_wish *w, uint8_t *life)
{
	uint8_t want = w->want.life;

	if (!asks_both(w, PATH_LIFE_SELECTOR, PATH_LIFE))
		return true;
	switch ((enum sa_selector)w->want.life_selector) {
	case SA_GREATER:
		if (want >= LIFE_MAX)
			return false;
		*life = MAX(*life, (uint8_t)(want + 1));
		return true;
	case SA_LESS:
		return *life < want;
	case SA_EXACTLY:
		if (*life > want)
			return false;
		*life = want;
		return true;
	case SA_LARGEST:	/* of life times: the smallest */
		return true;
	}
	return false;
}

static bool
select_all(const struct path_wish *w, struct path_record *path)
{
	return select_mtu(w, &path->mtu) && select_rate(w, &path->rate) &&
		select_life(w, &path->life);
}

/* --------------------------------------------------- partitions and SLs */

static uint8_t
partition_sl(const struct sa_db *v, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(v->rules,
							 pkey_base(pkey));

	return p ? p->sl : 0;
}

/* A path as the policy looks at it; to SNAPSHOT_NONE: anywhere. */
static struct qos_path
policy_path(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	    uint32_t to, uint16_t pkey)
{
	return (struct qos_path){
		.has_service = w->comp_mask & PATH_SERVICE_ID_BITS,
		.service = w->want.service_id,
		.pkey = pkey,
		.source = v->subnet->ports[from].guid,
		.target = to == SNAPSHOT_NONE ? 0 : v->subnet->ports[to].guid,
	};
}

static uint8_t
sl_of(const struct sa_db *v, const struct path_wish *w, uint32_t from,
      uint32_t to, uint16_t pkey)
{
	uint8_t sl = partition_sl(v, pkey);
	struct qos_path path;

	if (!v->qos)
		return path_asks(w, PATH_SL) ? w->want.sl : 0;
	if (!v->policy)
		return sl;
	path = policy_path(v, w, from, to, pkey);
	return qos_policy_sl(v->policy, &path, sl);
}

static bool
sl_fits(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	uint32_t to, uint16_t pkey)
{
	return !path_asks(w, PATH_SL) ||
		sl_of(v, w, from, to, pkey) == w->want.sl;
}

/* Whatever the other end is. */
static bool
sl_may_fit(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	   uint16_t pkey)
{
	struct qos_path path;

	if (!path_asks(w, PATH_SL) || !v->qos)
		return true;
	path = policy_path(v, w, from, SNAPSHOT_NONE, pkey);
	return qos_policy_may_give(v->policy, &path, partition_sl(v, pkey),
				   w->want.sl);
}

/* The P_Keys of a port are sorted, limited before full: of a port that is both
 * the full one is left. */
static bool
has_better_pkey(const struct memberships *m, uint32_t port, uint32_t i)
{
	return i + 1 < m->first[port + 1] &&
		pkey_base(m->pkeys[i + 1]) == pkey_base(m->pkeys[i]);
}

/* 0: they share none, or not the one that is asked for. */
static uint16_t
choose_pkey(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	    uint32_t to)
{
	const struct memberships *m = v->memberships;
	uint16_t pkey = w->want.pkey;

	if (path_asks(w, PATH_PKEY))
		return memberships_meet(m, from, to, pkey) &&
			sl_fits(v, w, from, to, pkey) ? pkey : 0;
	pkey = memberships_common(m, from, to);
	if (!pkey || sl_fits(v, w, from, to, pkey))
		return pkey;
	for (uint32_t i = m->first[from]; i < m->first[from + 1]; i++)
		if (!has_better_pkey(m, from, i) &&
		    sl_fits(v, w, from, to, m->pkeys[i]) &&
		    memberships_meet(m, from, to, m->pkeys[i]))
			return m->pkeys[i];
	return 0;
}

static bool
pkey_may_start(const struct sa_db *v, const struct path_wish *w,
	       uint32_t from)
{
	const struct memberships *m = v->memberships;

	if (path_asks(w, PATH_PKEY))
		return memberships_of(m, from, w->want.pkey) &&
			sl_may_fit(v, w, from, w->want.pkey);
	for (uint32_t i = m->first[from]; i < m->first[from + 1]; i++)
		if (sl_may_fit(v, w, from, m->pkeys[i]))
			return true;
	return false;
}

/* ---------------------------------------------------------------- the way */

/* A rate that no cable limits is the port's own. */
static uint8_t
way_rate(const struct sa_db *v, uint8_t way, uint32_t port)
{
	unsigned rank = way & 31, rate = sa_rate_by_rank(rank);

	if (rank == SA_RANK_ANY)
		rate = sa_rate_of(&v->subnet->ports[port].info);
	return (uint8_t)(rate ? rate : RATE_MIN);
}

static bool
choose_way(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	   uint16_t slid, uint32_t to, uint16_t dlid, struct path_record *out)
{
	uint8_t way = sa_db_way(v, from, to, dlid);
	uint8_t back = sa_db_way(v, to, from, slid);
	bool asked = path_asks(w, PATH_REVERSIBLE);

	if (!way || (!back && asked && w->want.reversible))
		return false;
	if (back && (!asked || w->want.reversible))
		way = sa_way_least(way, back);
	out->reversible = back != 0;
	out->mtu = way >> 5;
	out->rate = way_rate(v, way, from);
	out->life = from == to ? 0 : v->packet_life;
	return select_all(w, out);
}

bool
path_find(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	  uint16_t slid, uint32_t to, uint16_t dlid, struct path_record *out)
{
	uint16_t pkey = choose_pkey(v, w, from, to);

	memset(out, 0, sizeof(*out));
	if (!pkey || !choose_way(v, w, from, slid, to, dlid, out))
		return false;
	sa_db_make_gid(v, from, out->sgid);
	sa_db_make_gid(v, to, out->dgid);
	out->slid = slid;
	out->dlid = dlid;
	out->pkey = pkey;
	out->sl = sl_of(v, w, from, to, pkey);
	out->mtu_selector = out->rate_selector = out->life_selector =
		SA_EXACTLY;
	/* What is no property of the way is the client's choice. */
	if (path_asks(w, PATH_FLOW_LABEL))
		out->flow_label = w->want.flow_label;
	if (path_asks(w, PATH_TCLASS))
		out->tclass = w->want.tclass;
	if (path_asks(w, PATH_HOP_LIMIT))
		out->hop_limit = w->want.hop_limit;
	if (path_asks(w, PATH_QOS_CLASS))
		out->qos_class = w->want.qos_class;
	if (w->comp_mask & PATH_SERVICE_ID_BITS)
		out->service_id = w->want.service_id;
	return true;
}

/* The selectors are kindest to what a port has by itself: nothing on a longer
 * way makes MTU or rate larger, or the life time shorter. A path from a
 * switch's port 0 may carry what the fastest of its cables does. */
bool
path_may_start(const struct sa_db *v, const struct path_wish *w,
	       uint32_t from)
{
	const struct sa_end *end = &v->ends[from];
	struct path_record best = { .mtu = end->way >> 5 };

	if (!end->lid || !end->way || !pkey_may_start(v, w, from))
		return false;
	best.rate = way_rate(v, end->way, from);
	if ((end->way & 31) == SA_RANK_ANY)
		for (uint32_t i = v->first_hop[end->sw] + 1;
		     i < v->first_hop[end->sw + 1]; i++)
			if ((v->hops[i].way & 31u) > sa_rate_rank(best.rate))
				best.rate = way_rate(v, v->hops[i].way, from);
	return select_all(w, &best);
}

int
path_compare(const struct path_record *a, const struct path_record *b)
{
	int order = sa_rate_compare(b->rate, a->rate);

	return order ? order : (int)b->mtu - (int)a->mtu;
}

/* --------------------------------------------------------------- its ends */

static enum path_end
find_end(const struct sa_db *v, const uint8_t *gid, const uint16_t *lid,
	 uint32_t *port)
{
	uint32_t owner;

	*port = SNAPSHOT_NONE;
	if (gid) {
		*port = sa_db_gid(v, gid);
		if (*port == SNAPSHOT_NONE)
			return PATH_END_BAD_GID;
	}
	if (lid) {
		owner = sa_db_lid(v, *lid);
		if (owner == SNAPSHOT_NONE || (gid && owner != *port))
			return PATH_END_NOBODY;
		*port = owner;
	}
	return gid || lid ? PATH_END_PORT : PATH_END_OPEN;
}

enum path_end
path_source(const struct sa_db *v, const struct path_wish *w, uint32_t *port)
{
	return find_end(v, path_asks(w, PATH_SGID) ? w->want.sgid : NULL,
			path_asks(w, PATH_SLID) ? &w->want.slid : NULL, port);
}

enum path_end
path_destination(const struct sa_db *v, const struct path_wish *w,
		 uint32_t *port)
{
	return find_end(v, path_asks(w, PATH_DGID) ? w->want.dgid : NULL,
			path_asks(w, PATH_DLID) ? &w->want.dlid : NULL, port);
}
