// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecord queries of every kind, MultiPathRecord, paths to multicast groups.
 *
 * A query has its ends by GID or LID, or leaves them open. Open ends are
 * walked, never stored: all paths of 11,664 hosts are 136 million records, made
 * as fast as the client receives them. `ends` are the ports at one end of the
 * paths; an open end has all end ports, by GUID.
 *
 * Flow of path_next: source by source, then pair by pair; for each pair the
 * LIDs: those of the query, or those of the LMC ranges in parallel. If a pair
 * has several paths, the better ones come first, and Preference counts them
 * (IBA 15.2.5.16: less is better); NumbPath, and Get, limit their number.
 *
 * Flow of path_find, cheapest refusal first:
 *   1. partition: the P_Key of the query, or of those that both have the
 *	default partition's, else the lowest; two limited members share none (IBA 10.9.3)
 *   2. SL: the partition's; if the query has one, the partition is the first
 *	that has it. With QoS off SLs have no meaning: 0, or that of the query
 *   3. the route through the forwarding tables, and back. Without Reversible
 *	in the query the path is reversible if a route leads back; it then has
 *	the MTU and rate of the slower direction, for the answers of the other
 *	end
 *   4. MTU, rate, life time: the least on the route, by the selectors
 *
 * Selectors count only together with their value (IBA 15.2.5.16.1). "Exactly"
 * and "less than" are satisfied by a route that can do more: smaller packets
 * pass it as well.
 *
 * Life time. It does not depend on the hops: it is the bound that is set for
 * the subnet, as in OpenSM; clients compute their timeouts from it. From a port
 * to itself it is 0.
 *
 * Cost. path_may_start() skips sources that have not the partition of the query:
 * all paths of a small one cost a step for each port, not for each pair.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/sa/sa_limits.h"

#define PATH_PREFERENCE	22u	/* component, behind those of sa_record.h */

/* The components of a query besides the ends of the paths: mask and values of a
 * PathRecord, to which a MultiPathRecord is converted. */
struct path_query {
	uint64_t comp_mask;	/* PATH_ bits */
	struct path_record want;
	struct sa_limits limits;	/* of both */
};

static void
path_query_init(struct path_query *w, uint64_t comp_mask,
		const struct path_record *want)
{
	*w = (struct path_query){
		.comp_mask = comp_mask, .want = *want,
		.limits = SA_LIMITS(comp_mask, want, PATH),
	};
}

static bool
path_has(const struct path_query *query, unsigned bit)
{
	return query->comp_mask >> bit & 1;
}

#define NUMB_PATH_MAX	127u
#define LIDS_MAX	128u	/* of a port, LMC 7 */

/* Components of the ServiceID. */
#define PATH_SERVICE_ID_HIGH	0u
#define PATH_SERVICE_ID_LOW	1u
#define MULTI_SERVICE_ID_HIGH	16u
#define MULTI_SERVICE_ID_LOW	21u
#define PATH_SERVICE_ID_BITS	3u	/* both halves: components 0, 1 */
#define RATE_MIN	3u	/* 10 Gb/s: every port supports it */

/* --------------------------------------------------- partitions and SLs */

static uint8_t
sl_of(const struct sa_db *v, const struct path_query *w, uint16_t pkey)
{
	const struct partition *p;

	if (!v->qos)
		return path_has(w, PATH_SL) ? w->want.sl : 0;
	p = partition_rules_find(v->rules, pkey_base(pkey));
	return p ? p->sl : 0;
}

static bool
sl_fits(const struct sa_db *v, const struct path_query *w, uint16_t pkey)
{
	return !path_has(w, PATH_SL) || sl_of(v, w, pkey) == w->want.sl;
}

/* 0: they share none, or not the one of the query. */
static uint16_t
choose_pkey(const struct sa_db *v, const struct path_query *w, uint32_t from,
	    uint32_t to)
{
	const struct memberships *m = v->memberships;
	uint16_t pkey = w->want.pkey;

	if (path_has(w, PATH_PKEY))
		return memberships_meet(m, from, to, pkey) &&
			sl_fits(v, w, pkey) ? pkey : 0;
	pkey = memberships_common(m, from, to);
	if (!pkey || sl_fits(v, w, pkey))
		return pkey;
	for (uint32_t i = m->first[from]; i < m->first[from + 1]; i++) {
		/* sorted, limited before full: the full one is better */
		if (i + 1 < m->first[from + 1] &&
		    pkey_base(m->pkeys[i + 1]) == pkey_base(m->pkeys[i]))
			continue;
		if (sl_fits(v, w, m->pkeys[i]) &&
		    memberships_meet(m, from, to, m->pkeys[i]))
			return m->pkeys[i];
	}
	return 0;
}

/* ---------------------------------------------------------------- the way */

static bool
path_find(const struct sa_db *v, const struct path_query *w, uint32_t from,
	  uint16_t slid, uint32_t to, uint16_t dlid, struct path_record *out)
{
	uint16_t pkey = choose_pkey(v, w, from, to);
	bool asked = path_has(w, PATH_REVERSIBLE);
	uint8_t way, back;
	unsigned rate;

	memset(out, 0, sizeof(*out));
	if (!pkey)
		return false;
	way = sa_db_way(v, from, to, dlid);
	back = sa_db_way(v, to, from, slid);
	if (!way || (!back && asked && w->want.reversible))
		return false;
	if (back && (!asked || w->want.reversible))
		way = sa_way_least(way, back);
	out->reversible = back != 0;
	out->mtu = way >> 5;
	/* without a cable on the way it is the port's own */
	rate = (way & 31) == SA_RANK_ANY ?
		sa_rate_of(&v->subnet->ports[from].info) :
		sa_rate_by_rank(way & 31);
	out->rate = (uint8_t)(rate ? rate : RATE_MIN);
	out->life = from == to ? 0 : v->packet_life;
	/* A longer life time than it has may be promised, never a shorter. */
	if (!sa_limits_fit(&w->limits, &out->mtu, &out->rate, out->life,
			   &out->life))
		return false;
	sa_db_make_gid(v, from, out->sgid);
	sa_db_make_gid(v, to, out->dgid);
	out->slid = slid;
	out->dlid = dlid;
	out->pkey = pkey;
	out->sl = sl_of(v, w, pkey);
	out->mtu_selector = out->rate_selector = out->life_selector =
		SA_EXACTLY;
	/* No GRH is needed in a subnet, so its FlowLabel, TClass and HopLimit
	 * are 0 whatever the request has: with a HopLimit Linux adds one. */
	if (path_has(w, PATH_QOS_CLASS))
		out->qos_class = w->want.qos_class;
	if (w->comp_mask & PATH_SERVICE_ID_BITS)
		out->service_id = w->want.service_id;
	return true;
}

/* ---------------------------------------------------------------- the ends */

/* One end of the paths. */
struct ends {
	uint32_t n;		/* ports */
	const uint32_t *ports;	/* borrowed, `list`, or `one` */
	uint32_t *list;		/* owned */
	uint32_t one;
	uint16_t lid;		/* 0: any of the port's */
};

/* By GID, LID, or both; NULL: not given. Without either all end ports are
 * meant. An unknown GID is an error of the client, hence an SA status; an
 * unknown LID just has no paths, nor has the LID of another port than the
 * GID's. */
static unsigned
ends_find(const struct sa_db *v, struct ends *e, const uint8_t *gid,
	  const uint16_t *lid)
{
	uint32_t port = gid ? sa_db_gid(v, gid) : SNAPSHOT_NONE;

	if (gid && port == SNAPSHOT_NONE)
		return SA_STATUS_INVALID_GID;
	if (!gid && !lid) {
		e->n = v->n_by_guid;
		e->ports = v->by_guid;
		return 0;
	}
	e->lid = lid ? *lid : 0;
	e->one = lid ? lid_map_owner(v->lids, *lid) : port;
	e->ports = &e->one;
	e->n = e->one != SNAPSHOT_NONE && (!gid || e->one == port);
	return 0;
}

/* ---------------------------------------------------------- between ports */

struct path_table {
	struct sa_records base;
	struct path_query query;
	struct ends from, to;
	unsigned limit;		/* paths of a pair */
	uint32_t i, k;		/* the next pair: of `from`, of `to` */
	struct path_record one;
	struct path_record *found;	/* paths of a pair: LIDS_MAX, or `one`
					   as long as none had several LIDs */
	unsigned n_found, given;
};

/* The paths of a pair, better ones first; of equal ones, in the order of LIDs.
 * The place is the Preference; then those that the query does not ask for are
 * removed. */
static void
find_paths(struct path_table *t, uint32_t from, uint32_t to)
{
	const struct sa_db *v = t->base.viewer.db;
	const struct sa_end *a = &v->ends[from], *b = &v->ends[to];
	/* powers of 2 */
	unsigned n_from = t->from.lid ? 1u : 1u << a->lmc;
	unsigned n_to = t->to.lid ? 1u : 1u << b->lmc;
	unsigned n = MAX(n_from, n_to), found = 0, at;
	struct path_record path;

	if (n > 1 && t->found == &t->one)
		t->found = g_new(struct path_record, LIDS_MAX);
	for (unsigned i = 0; i < n; i++) {
		uint16_t slid = t->from.lid ? t->from.lid :
			(uint16_t)(a->lid + (i & (n_from - 1)));
		uint16_t dlid = t->to.lid ? t->to.lid :
			(uint16_t)(b->lid + (i & (n_to - 1)));

		if (!path_find(v, &t->query, from, slid, to, dlid, &path))
			continue;
		for (at = found++; at; at--) {
			const struct path_record *last = &t->found[at - 1];
			int order = (int)sa_rate_rank(path.rate) -
				(int)sa_rate_rank(last->rate);

			if (order < 0 || (!order && path.mtu <= last->mtu))
				break;
			t->found[at] = t->found[at - 1];
		}
		t->found[at] = path;
	}
	t->n_found = t->given = 0;
	for (unsigned i = 0; i < found && t->n_found < t->limit; i++) {
		if (path_has(&t->query, PATH_PREFERENCE) &&
		    t->query.want.preference != i)
			continue;
		t->found[t->n_found] = t->found[i];
		t->found[t->n_found++].preference = (uint8_t)i;
	}
}

/* Has the port a P_Key of the query, with its SL? If there is one destination,
 * that would cost as much as the pair. */
static bool
path_may_start(const struct path_table *t, uint32_t from)
{
	const struct sa_db *v = t->base.viewer.db;
	const struct memberships *m = v->memberships;
	const struct path_query *w = &t->query;

	if (!v->ends[from].lid || !sa_viewer_sees(&t->base.viewer, from))
		return false;
	if (t->to.n == 1)
		return true;
	for (uint32_t i = m->first[from]; v->ends[from].way &&
	     i < m->first[from + 1]; i++)
		if ((!path_has(w, PATH_PKEY) ||
		     pkey_base(m->pkeys[i]) == pkey_base(w->want.pkey)) &&
		    sl_fits(v, w, m->pkeys[i]))
			return true;
	return false;
}

static enum sa_draw
path_next(struct sa_records *base, uint8_t *record)
{
	struct path_table *t = (struct path_table *)base;
	uint32_t from, to;

	if (t->given == t->n_found) {
		if (t->i >= t->from.n)
			return SA_DRAW_END;
		from = t->from.ports[t->i];
		if (t->k == t->to.n || (t->k == 0 && !path_may_start(t, from))) {
			t->i++;
			t->k = 0;
			return SA_DRAW_PAUSE;
		}
		to = t->to.ports[t->k++];
		if (base->viewer.db->ends[to].lid &&
		    sa_viewer_sees(&base->viewer, to))
			find_paths(t, from, to);
	}
	if (t->given == t->n_found)
		return SA_DRAW_PAUSE;
	path_record_encode(record, &t->found[t->given++]);
	return SA_DRAW_RECORD;
}

static void
path_free(struct sa_records *base)
{
	struct path_table *t = (struct path_table *)base;

	g_free(t->from.list);
	g_free(t->to.list);
	if (t->found != &t->one)
		g_free(t->found);
}

/* At most `most` paths of a pair. */
static struct path_table *
table_new(const struct sa_query *q, const struct path_query *query,
	  unsigned most)
{
	struct path_table *t = sa_records_new(sizeof(*t), q, SA_ATTR_PATH,
					      path_next, path_free);

	t->query = *query;
	t->found = &t->one;
	t->limit = most;
	if (path_has(query, PATH_NUMB_PATH))
		t->limit = MIN(most, query->want.numb_path);
	/* There are no paths for raw packets, which need an EtherType or a
	 * router. */
	if (!t->limit || (path_has(query, PATH_RAW) && query->want.raw))
		t->i = UINT32_MAX;
	return t;
}

/* ---------------------------------------------------- to a multicast group
 *
 * MTU, rate, life time and all other values are the group's, the same for all
 * senders: nothing can be adapted to the request.
 */

/* The sender must be in the group's partition, and the requester as well,
 * unless trusted. */
static bool
may_send(const struct sa_viewer *viewer, uint32_t from,
	 const struct mcmember_record *g)
{
	const struct memberships *m = viewer->db->memberships;

	return viewer->db->ends[from].lid && memberships_of(m, from, g->pkey) &&
		(viewer->trusted || (memberships_of(m, viewer->port, g->pkey) &&
				  sa_viewer_sees(viewer, from)));
}

/* One path or none; group NULL: none. Without a source the requester is the
 * sender. */
static void
find_path_to_group(struct path_table *t, const struct group *group,
		   const uint8_t *wanted)
{
	const struct sa_viewer *viewer = &t->base.viewer;
	const struct path_query *w = &t->query;
	const struct sa_db *v = viewer->db;
	const struct mcmember_record *g;
	uint8_t record[SA_DATA_LEN];
	uint32_t n = t->from.n, port;

	port = t->from.ports == v->by_guid ? viewer->port : t->from.one;
	t->from.n = 0;
	if (!group || !n)
		return;
	g = &group->r;
	t->one = (struct path_record){
		.dlid = g->mlid, .flow_label = g->flow_label,
		.slid = t->from.lid ? t->from.lid : v->ends[port].lid,
		.hop_limit = g->hop_limit, .tclass = g->tclass,
		.reversible = true, .pkey = g->pkey, .sl = g->sl,
		.mtu_selector = SA_EXACTLY, .mtu = g->mtu,
		.rate_selector = SA_EXACTLY, .rate = g->rate,
		.life_selector = SA_EXACTLY, .life = g->life,
	};
	memcpy(t->one.dgid, g->mgid, 16);
	sa_db_make_gid(v, port, t->one.sgid);
	path_record_encode(record, &t->one);
	sa_match_init(&t->base.match, SA_ATTR_PATH, w->comp_mask, wanted);
	t->n_found = sa_match_test(&t->base.match, record) &&
		(!path_has(w, PATH_NUMB_PATH) || w->want.numb_path) &&
		(!path_has(w, PATH_PKEY) ||
		 pkey_base(w->want.pkey) == pkey_base(g->pkey)) &&
		sa_limits_hold(&w->limits, g->mtu, g->rate, g->life) &&
		may_send(viewer, port, g);
}

/* ------------------------------------------------------------ PathRecord */

struct sa_records *
records_of_paths(const struct sa_query *q, unsigned *status)
{
	bool get = q->h.mad.method == MAD_METHOD_GET;
	uint64_t mask = q->h.comp_mask;
	struct path_record want;
	struct path_query query;
	struct path_table *t;

	path_record_decode(q->wanted, &want);
	/* A Get is answered with one path whatever its NumbPath (an erratum of
	 * IBA 1.2). Linux's IPoIB repeats a query with what it was answered,
	 * where NumbPath is 0. */
	if (get)
		mask &= ~SA_BIT(PATH_NUMB_PATH);
	path_query_init(&query, mask, &want);
	t = table_new(q, &query, get ? 1 : NUMB_PATH_MAX);
	*status = ends_find(q->viewer.db, &t->from,
			    path_has(&query, PATH_SGID) ? want.sgid : NULL,
			    path_has(&query, PATH_SLID) ? &want.slid : NULL);
	/* an MGID, an MLID */
	if (path_has(&query, PATH_DGID) && want.dgid[0] == 0xff)
		find_path_to_group(t, sa_store_find(&q->sa->groups->all,
						    want.dgid), q->wanted);
	else if (path_has(&query, PATH_DLID) && want.dlid >= LID_MULTICAST_MIN &&
		 want.dlid != LID_PERMISSIVE)
		find_path_to_group(t, groups_of_mlid(q->sa->groups, want.dlid),
				   q->wanted);
	else if (!*status)
		*status = ends_find(q->viewer.db, &t->to,
				    path_has(&query, PATH_DGID) ?
				    want.dgid : NULL,
				    path_has(&query, PATH_DLID) ?
				    &want.dlid : NULL);
	if (*status) {
		sa_records_free(&t->base);
		return NULL;
	}
	return &t->base;
}

/* ------------------------------------------------------- MultiPathRecord */

/* From RawTraffic to PacketLifeTime the components are those of a PathRecord,
 * 6 bits further down; ServiceID is elsewhere. */
G_STATIC_ASSERT(PATH_FLOW_LABEL - MULTI_FLOW_LABEL == PATH_RAW - MULTI_RAW);
G_STATIC_ASSERT(PATH_LIFE - MULTI_LIFE == PATH_RAW - MULTI_RAW);

struct sa_records *
records_of_multi_path(const struct sa_query *q, unsigned *status)
{
	const uint8_t *gids = q->wanted + MULTI_PATH_GIDS_OFFSET;
	const uint64_t counts = SA_BIT(MULTI_SGID_COUNT) |
		SA_BIT(MULTI_DGID_COUNT);
	const uint64_t mask = q->h.comp_mask;
	struct path_query query;
	struct multi_path_record r;
	struct path_table *t;
	unsigned n;

	multi_path_record_decode(q->wanted, &r);
	n = (unsigned)r.n_sgids + r.n_dgids;
	*status = SA_STATUS_REQ_INVALID;
	if (SA_DATA_OFFSET + MULTI_PATH_GIDS_OFFSET + 16 * n > q->request->len)
		return NULL;
	/* Both counts are required (IBA 15.2.5.20). */
	*status = SA_STATUS_INSUFFICIENT;
	if ((mask & counts) != counts || !r.n_sgids || !r.n_dgids)
		return NULL;
	path_query_init(&query, (mask & 0xffff) << (PATH_RAW - MULTI_RAW) |
			(mask >> MULTI_SERVICE_ID_HIGH & 1) <<
			PATH_SERVICE_ID_HIGH |
			(mask >> MULTI_SERVICE_ID_LOW & 1) <<
			PATH_SERVICE_ID_LOW, &r.path);
	t = table_new(q, &query, NUMB_PATH_MAX);
	t->from.ports = t->from.list = g_new(uint32_t, r.n_sgids);
	t->to.ports = t->to.list = g_new(uint32_t, r.n_dgids);
	*status = 0;
	for (unsigned i = 0; i < n && !*status; i++) {
		struct ends *e = i < r.n_sgids ? &t->from : &t->to;

		e->list[e->n] = sa_db_gid(q->viewer.db, gids + 16 * i);
		if (e->list[e->n++] == SNAPSHOT_NONE)
			*status = SA_STATUS_INVALID_GID;
	}
	if (!*status)
		return &t->base;
	sa_records_free(&t->base);
	return NULL;
}
