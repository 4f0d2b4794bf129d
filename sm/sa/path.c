// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecord queries of every kind, MultiPathRecord, paths to multicast groups.
 *
 * A query names its ends by GID or LID, or leaves them open. Open ends are
 * walked, never stored: all paths of 11,664 hosts are 136 million records, and
 * the client gets them as fast as it takes them. `ends` are the ports on one
 * side of the paths; those that are open are the end ports by GUID.
 *
 * Flow of path_draw: port by port on the side of the sources, then pair by
 * pair; for each pair the LIDs: those asked for, or the ranges of LMC side by
 * side. If a pair has more than one path, the better ones come first, and
 * Preference counts them (IBA 15.2.5.16: less is better); NumbPath, and Get,
 * take from the front.
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
#include "sm/sa/query.h"

#include <string.h>

#define PATH_PREFERENCE	22u	/* component, behind those of sa_record.h */
/* What is asked of a path, whatever its ends: a PathRecord's mask and values;
 * a MultiPathRecord is turned into this. */
struct path_wish {
	uint64_t comp_mask;	/* PATH_ bits */
	struct path_record want;
};

static bool
path_asks(const struct path_wish *wish, unsigned bit)
{
	return wish->comp_mask >> bit & 1;
}

/* Preference is no property of a way, but the place among those of a pair. */
static bool
path_prefers(const struct path_wish *wish, unsigned preference)
{
	return !path_asks(wish, PATH_PREFERENCE) ||
		wish->want.preference == preference;
}

#define NUMB_PATH_MAX	127u
#define LIDS_MAX	128u	/* of a port, LMC 7 */

/* Components that no header needs. */
#define PATH_SERVICE_ID_HIGH	0u
#define PATH_SERVICE_ID_LOW	1u
#define MULTI_SERVICE_ID_HIGH	16u
#define MULTI_SERVICE_ID_LOW	21u
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

static bool
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
static bool
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

/* --------------------------------------------------------------- its ends */

/* What a GID, a LID, or both, of a wish mean. */
enum path_end {
	PATH_END_OPEN,		/* nothing is named: any port */
	PATH_END_PORT,		/* *port */
	PATH_END_NOBODY,	/* a LID that nobody has, or not that GID's */
	PATH_END_BAD_GID,	/* a GID that nobody has */
};

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

static enum path_end
path_source(const struct sa_db *v, const struct path_wish *w, uint32_t *port)
{
	return find_end(v, path_asks(w, PATH_SGID) ? w->want.sgid : NULL,
			path_asks(w, PATH_SLID) ? &w->want.slid : NULL, port);
}

/* ---------------------------------------------------- to a multicast group
 *
 * MTU, rate, life time and all the rest are the group's, the same for all
 * senders, so nothing can be adapted to the request: it fits or it does not.
 */

static bool
numbers_fit(const struct path_wish *w, const struct group *g)
{
	const struct path_record *want = &w->want;

	return (!asks_both(w, PATH_MTU_SELECTOR, PATH_MTU) ||
		sa_selector_fits(want->mtu_selector, g->mtu - want->mtu)) &&
		(!asks_both(w, PATH_RATE_SELECTOR, PATH_RATE) ||
		 sa_selector_fits(want->rate_selector,
				     sa_rate_compare(g->rate, want->rate))) &&
		(!asks_both(w, PATH_LIFE_SELECTOR, PATH_LIFE) ||
		 sa_selector_fits(want->life_selector,
				     g->life - want->life));
}

static bool
group_fits(const struct path_wish *w, const struct group *g)
{
	const struct path_record *want = &w->want;

	return (!path_asks(w, PATH_DGID) ||
		memcmp(want->dgid, g->mgid, 16) == 0) &&
		(!path_asks(w, PATH_DLID) || want->dlid == g->mlid) &&
		(!path_asks(w, PATH_RAW) || !want->raw) &&
		(!path_asks(w, PATH_NUMB_PATH) || want->numb_path) &&
		path_prefers(w, 0) &&
		(!path_asks(w, PATH_PKEY) ||
		 pkey_base(want->pkey) == pkey_base(g->pkey)) &&
		(!path_asks(w, PATH_SL) || want->sl == g->sl) &&
		(!path_asks(w, PATH_FLOW_LABEL) ||
		 want->flow_label == g->flow_label) &&
		(!path_asks(w, PATH_TCLASS) || want->tclass == g->tclass) &&
		(!path_asks(w, PATH_HOP_LIMIT) ||
		 want->hop_limit == g->hop_limit) &&
		numbers_fit(w, g);
}

static void
path_describe(const struct sa_db *v, const struct path_wish *w, uint32_t from,
	 const struct group *g, struct path_record *r)
{
	*r = (struct path_record){
		.dlid = g->mlid, .slid = v->lids->base[from],
		.flow_label = g->flow_label, .hop_limit = g->hop_limit,
		.tclass = g->tclass, .reversible = true, .pkey = g->pkey,
		.sl = g->sl,
		.mtu_selector = SA_EXACTLY, .mtu = g->mtu,
		.rate_selector = SA_EXACTLY, .rate = g->rate,
		.life_selector = SA_EXACTLY, .life = g->life,
	};
	memcpy(r->dgid, g->mgid, 16);
	sa_db_make_gid(v, from, r->sgid);
	if (path_asks(w, PATH_SLID))
		r->slid = w->want.slid;
}

/* The sender must be in the group's partition, and the requester as well,
 * unless trusted. */
static bool
may_send(const struct sa_viewer *who, uint32_t from, const struct group *g)
{
	const struct memberships *m = who->db->memberships;

	return who->db->ends[from].lid && memberships_of(m, from, g->pkey) &&
		(who->trusted || (memberships_of(m, who->port, g->pkey) &&
				  sa_viewer_sees(who, from)));
}

/* One record or none; `g` NULL: there is no such group. A sender that is not
 * named is the requester. */
static struct sa_records *
path_to_group(const struct sa_query *q, const struct path_wish *w,
	      const struct group *g, unsigned *status)
{
	uint32_t from;
	enum path_end end = path_source(q->who.db, w, &from);
	uint8_t record[SA_DATA_LEN];
	struct path_record path;
	GByteArray *bytes;

	*status = end == PATH_END_BAD_GID ? SA_STATUS_INVALID_GID : 0;
	if (*status)
		return NULL;
	if (end == PATH_END_OPEN)
		from = q->who.port;
	bytes = g_byte_array_new();
	if (g && end != PATH_END_NOBODY && group_fits(w, g) &&
	    may_send(&q->who, from, g)) {
		path_describe(q->who.db, w, from, g, &path);
		path_record_encode(record, &path);
		g_byte_array_append(bytes, record,
				    (guint)sa_record_size(SA_ATTR_PATH));
	}
	return records_of_bytes(q, SA_ATTR_PATH, bytes);
}

/* ---------------------------------------------------------- between ports */

/* One end of the paths that are asked for. */
struct ends {
	uint32_t n;		/* ports */
	const uint32_t *ports;	/* borrowed, `list`, or `one` */
	uint32_t *list;		/* owned */
	uint32_t one;
	uint16_t lid;		/* 0: any of the port's */
};

struct path_table {
	struct sa_records base;
	struct path_wish wish;
	struct ends from, to;
	unsigned limit;		/* paths of a pair */
	uint32_t i, k;		/* of the pair at hand */
	/* The pair's paths, if there may be several: */
	struct path_record *found;	/* LIDS_MAX, or NULL: not needed yet */
	unsigned n_found, given;
};

/* An SA status: a GID that nobody has is the client's mistake. A LID that
 * nobody has is no mistake, but has no paths. */
static unsigned
ends_find(const struct sa_db *v, struct ends *e, enum path_end end,
	  uint32_t port)
{
	switch (end) {
	case PATH_END_BAD_GID:
		return SA_STATUS_INVALID_GID;
	case PATH_END_NOBODY:
		e->n = 0;
		break;
	case PATH_END_PORT:
		e->n = 1;
		e->one = port;
		e->ports = &e->one;
		break;
	case PATH_END_OPEN:
		e->n = v->n_by_guid;
		e->ports = v->by_guid;
		break;
	}
	return 0;
}

/* LID pair number `path` of two ports. */
static void
pick_lids(const struct path_table *t, uint32_t from, uint32_t to,
	  unsigned path, uint16_t *slid, uint16_t *dlid)
{
	const struct sa_end *a = &t->base.who.db->ends[from];
	const struct sa_end *b = &t->base.who.db->ends[to];

	*slid = t->from.lid ? t->from.lid :
		(uint16_t)(a->lid + path % (1u << a->lmc));
	*dlid = t->to.lid ? t->to.lid :
		(uint16_t)(b->lid + path % (1u << b->lmc));
}

static unsigned
count_lids(const struct path_table *t, uint32_t from, uint32_t to)
{
	return MAX(t->from.lid ? 1u : 1u << t->base.who.db->ends[from].lmc,
		   t->to.lid ? 1u : 1u << t->base.who.db->ends[to].lmc);
}

static bool
path_is_better(const struct path_record *a, const struct path_record *b)
{
	int order = sa_rate_compare(a->rate, b->rate);

	return order ? order > 0 : a->mtu > b->mtu;
}

/* Behind those that are as good: what comes first stays first. */
static void
found_insert(struct path_table *t, const struct path_record *path)
{
	unsigned at = t->n_found++;

	for (; at && path_is_better(path, &t->found[at - 1]); at--)
		t->found[at] = t->found[at - 1];
	t->found[at] = *path;
}

/* Preference is the place among them; then those that are not wanted go. */
static void
found_number(struct path_table *t)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->n_found && kept < t->limit; i++) {
		if (!path_prefers(&t->wish, i))
			continue;
		t->found[kept] = t->found[i];
		t->found[kept++].preference = (uint8_t)i;
	}
	t->n_found = kept;
}

static void
find_several(struct path_table *t, uint32_t from, uint32_t to, unsigned n)
{
	struct path_record path;
	uint16_t slid, dlid;

	if (!t->found)
		t->found = g_new(struct path_record, LIDS_MAX);
	for (unsigned i = 0; i < n; i++) {
		pick_lids(t, from, to, i, &slid, &dlid);
		if (path_find(t->base.who.db, &t->wish, from, slid, to, dlid,
			      &path))
			found_insert(t, &path);
	}
	found_number(t);
}

static bool
found_next(struct path_table *t, uint8_t *record)
{
	if (t->given == t->n_found) {
		t->given = t->n_found = 0;
		return false;
	}
	path_record_encode(record, &t->found[t->given++]);
	return true;
}

/* The first path of a pair; more of them are in `found`. */
static bool
pair_begin(struct path_table *t, uint32_t from, uint32_t to, uint8_t *record)
{
	unsigned n = count_lids(t, from, to);
	struct path_record path;
	uint16_t slid, dlid;

	if (!t->base.who.db->ends[to].lid || !sa_viewer_sees(&t->base.who, to))
		return false;
	if (n > 1) {
		find_several(t, from, to, n);
		return found_next(t, record);
	}
	pick_lids(t, from, to, 0, &slid, &dlid);
	if (!path_prefers(&t->wish, 0) ||
	    !path_find(t->base.who.db, &t->wish, from, slid, to, dlid, &path))
		return false;
	path_record_encode(record, &path);
	return true;
}

/* A single pair is looked at in any case; that is as cheap. */
static bool
may_start(const struct path_table *t, uint32_t from)
{
	return t->base.who.db->ends[from].lid &&
		sa_viewer_sees(&t->base.who, from) &&
		(t->to.n == 1 ||
		 path_may_start(t->base.who.db, &t->wish, from));
}

static enum sa_draw
path_draw(struct sa_records *base, uint8_t *record)
{
	struct path_table *t = (struct path_table *)base;
	unsigned left = RECORDS_GO;

	if (t->n_found && found_next(t, record))
		return SA_DRAW_RECORD;
	for (; t->i < t->from.n; t->i++, t->k = 0) {
		uint32_t from = t->from.ports[t->i];

		if (left-- == 0)
			return SA_DRAW_PAUSE;
		if (t->k == 0 && !may_start(t, from))
			continue;
		while (t->k < t->to.n) {
			if (pair_begin(t, from, t->to.ports[t->k++], record))
				return SA_DRAW_RECORD;
			if (left-- == 0)
				return SA_DRAW_PAUSE;
		}
	}
	return SA_DRAW_END;
}

static void
path_free(struct sa_records *base)
{
	struct path_table *t = (struct path_table *)base;

	g_free(t->from.list);
	g_free(t->to.list);
	g_free(t->found);
}

static struct path_table *
table_new(const struct sa_query *q)
{
	struct path_table *t = g_new0(struct path_table, 1);

	sa_records_init(&t->base, q, SA_ATTR_PATH, path_draw, path_free);
	return t;
}

/* How many paths of a pair, and whether there can be any. */
static void
table_limit(struct path_table *t, unsigned most)
{
	t->limit = most;
	if (path_asks(&t->wish, PATH_NUMB_PATH))
		t->limit = MIN(most, t->wish.want.numb_path);
	/* Raw packets need an EtherType or a router; we route neither. */
	if (!t->limit || (path_asks(&t->wish, PATH_RAW) && t->wish.want.raw))
		t->from.n = 0;
}

static unsigned
find_both_ends(struct path_table *t)
{
	const struct path_wish *w = &t->wish;
	const struct sa_db *v = t->base.who.db;
	enum path_end end;
	uint32_t port;
	unsigned status;

	if (path_asks(w, PATH_SLID))
		t->from.lid = w->want.slid;
	if (path_asks(w, PATH_DLID))
		t->to.lid = w->want.dlid;
	end = path_source(v, w, &port);
	status = ends_find(v, &t->from, end, port);
	if (status)
		return status;
	end = find_end(v, path_asks(w, PATH_DGID) ? w->want.dgid : NULL,
		       path_asks(w, PATH_DLID) ? &w->want.dlid : NULL, &port);
	return ends_find(v, &t->to, end, port);
}

/* Is the destination a multicast group, by its MGID or MLID? */
static bool
is_multicast(const struct sa *sa, const struct path_wish *w,
	     const struct group **group)
{
	*group = NULL;
	if (path_asks(w, PATH_DGID) && w->want.dgid[0] == 0xff) {
		*group = groups_find(sa->groups, w->want.dgid);
		return true;
	}
	if (!path_asks(w, PATH_DLID) || w->want.dlid < LID_MULTICAST_MIN ||
	    w->want.dlid == LID_PERMISSIVE)
		return false;
	*group = groups_of_mlid(sa->groups, w->want.dlid);
	return true;
}

struct sa_records *
records_of_paths(const struct sa_query *q, unsigned *status)
{
	struct path_wish wish = { .comp_mask = q->h.comp_mask };
	const struct group *group;
	struct path_table *t;

	path_record_decode(q->wanted, &wish.want);
	if (is_multicast(q->sa, &wish, &group))
		return path_to_group(q, &wish, group, status);
	t = table_new(q);
	t->wish = wish;
	*status = find_both_ends(t);
	if (*status) {
		sa_records_free(&t->base);
		return NULL;
	}
	table_limit(t, q->h.mad.method == MAD_METHOD_GET ? 1 : NUMB_PATH_MAX);
	return &t->base;
}

/* ------------------------------------------------------- MultiPathRecord */

/* Its mask has the same components at other places. */
static uint64_t
translate_mask(uint64_t mask)
{
	static const struct {
		uint8_t multi, path;
	} bits[] = {
		{ MULTI_RAW, PATH_RAW }, { MULTI_FLOW_LABEL, PATH_FLOW_LABEL },
		{ MULTI_HOP_LIMIT, PATH_HOP_LIMIT },
		{ MULTI_TCLASS, PATH_TCLASS },
		{ MULTI_REVERSIBLE, PATH_REVERSIBLE },
		{ MULTI_NUMB_PATH, PATH_NUMB_PATH },
		{ MULTI_PKEY, PATH_PKEY },
		{ MULTI_QOS_CLASS, PATH_QOS_CLASS }, { MULTI_SL, PATH_SL },
		{ MULTI_MTU_SELECTOR, PATH_MTU_SELECTOR },
		{ MULTI_MTU, PATH_MTU },
		{ MULTI_RATE_SELECTOR, PATH_RATE_SELECTOR },
		{ MULTI_RATE, PATH_RATE },
		{ MULTI_LIFE_SELECTOR, PATH_LIFE_SELECTOR },
		{ MULTI_LIFE, PATH_LIFE },
		{ MULTI_SERVICE_ID_HIGH, PATH_SERVICE_ID_HIGH },
		{ MULTI_SERVICE_ID_LOW, PATH_SERVICE_ID_LOW },
	};
	uint64_t out = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(bits); i++)
		out |= (mask >> bits[i].multi & 1) << bits[i].path;
	return out;
}

static unsigned
ends_from_gids(const struct sa_db *v, struct ends *e, const uint8_t *gids,
	       unsigned n)
{
	uint32_t port;

	e->list = g_new(uint32_t, n);
	e->ports = e->list;
	for (unsigned i = 0; i < n; i++) {
		port = sa_db_gid(v, gids + 16 * i);
		if (port == SNAPSHOT_NONE)
			return SA_STATUS_INVALID_GID;
		e->list[e->n++] = port;
	}
	return 0;
}

struct sa_records *
records_of_multi_path(const struct sa_query *q, unsigned *status)
{
	const uint8_t *gids = q->wanted + MULTI_PATH_GIDS_OFFSET;
	const uint64_t counts = SA_BIT(MULTI_SGID_COUNT) |
		SA_BIT(MULTI_DGID_COUNT);
	const struct sa_db *v = q->who.db;
	struct multi_path_record r;
	struct path_table *t;
	size_t n;

	multi_path_record_decode(q->wanted, &r);
	n = (size_t)r.n_sgids + r.n_dgids;
	*status = SA_STATUS_REQ_INVALID;
	if (SA_DATA_OFFSET + MULTI_PATH_GIDS_OFFSET + 16 * n > q->request->len)
		return NULL;
	/* Both counts are required (IBA 15.2.5.20). */
	*status = SA_STATUS_INSUFFICIENT;
	if ((q->h.comp_mask & counts) != counts || !r.n_sgids || !r.n_dgids)
		return NULL;
	t = table_new(q);
	t->wish.comp_mask = translate_mask(q->h.comp_mask);
	t->wish.want = r.path;
	*status = ends_from_gids(v, &t->from, gids, r.n_sgids);
	if (!*status)
		*status = ends_from_gids(v, &t->to, gids + 16 * r.n_sgids,
					 r.n_dgids);
	if (*status) {
		sa_records_free(&t->base);
		return NULL;
	}
	table_limit(t, NUMB_PATH_MAX);
	return &t->base;
}
