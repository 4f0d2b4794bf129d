/*
 * Paths as records: PathRecord queries of every kind, MultiPathRecord.
 *
 * A query names its ends by GID or LID, or leaves them open. Open ends are
 * walked, never stored: all paths of 11,664 hosts are 136 million records, and
 * the client gets them as fast as it takes them.
 *
 * Flow. ends_find: what a GID or a LID (or both, which must fit) means: one
 * port, all ports, or none. table_next: pair by pair of ports, for each pair
 * the LIDs: the ones asked for, or the ranges of LMC side by side, up to
 * NumbPath of them.
 *
 * A destination that is a multicast group has one record, the group's.
 */
#include <string.h>

#include "sm/sa/path.h"
#include "sm/sa/records.h"

#define NUMB_PATH_MAX	127u

/* One end of the paths that are asked for. */
struct ends {
	uint32_t n;		/* ports */
	uint32_t *ports;	/* NULL: all end ports, `n` indices of ports */
	uint16_t lid;		/* 0: any of the port's */
};

struct path_table {
	struct sa_view *v;
	struct path_wish wish;
	struct query q;
	struct ends from, to;
	unsigned limit;		/* paths of a pair */
	uint32_t i, k;		/* of the pair at hand */
	unsigned path, given;	/* of its LID pairs; of its paths */
};

static bool
asked(const struct path_table *t, unsigned bit)
{
	return t->wish.comp_mask >> bit & 1;
}

static uint32_t
ends_at(const struct ends *e, uint32_t i)
{
	return e->ports ? e->ports[i] : i;
}

static void
ends_set(struct ends *e, uint32_t port)
{
	e->n = 1;
	e->ports = g_new(uint32_t, 1);
	e->ports[0] = port;
}

/* An SA status: a GID that nobody has is the client's mistake. */
static unsigned
ends_find(const struct sa_view *v, struct ends *e, bool by_gid,
	  const uint8_t *gid, bool by_lid, uint16_t lid)
{
	uint32_t port = SUBNET_NONE;

	if (by_gid) {
		port = sa_view_gid(v, gid);
		if (port == SUBNET_NONE)
			return SA_STATUS_INVALID_GID;
	}
	if (by_lid) {
		uint32_t owner = sa_view_lid(v, lid);

		e->lid = lid;
		if (owner == SUBNET_NONE ||
		    (by_gid && owner != port)) {
			e->n = 0;
			e->ports = g_new(uint32_t, 1);
			return 0;
		}
		port = owner;
	}
	if (port == SUBNET_NONE)
		e->n = v->subnet->n_ports;
	else
		ends_set(e, port);
	return 0;
}

/* LID pair number `path` of two ports. False: there are no more. */
static bool
pick_lids(const struct path_table *t, uint32_t from, uint32_t to,
	  uint16_t *slid, uint16_t *dlid)
{
	const struct lid_map *l = t->v->lids;
	unsigned n_from = t->from.lid ? 1 : 1u << l->lmc[from];
	unsigned n_to = t->to.lid ? 1 : 1u << l->lmc[to];

	if (t->path >= MAX(n_from, n_to))
		return false;
	*slid = t->from.lid ? t->from.lid :
		(uint16_t)(l->base[from] + t->path % n_from);
	*dlid = t->to.lid ? t->to.lid :
		(uint16_t)(l->base[to] + t->path % n_to);
	return true;
}

static bool
pair_is_fit(const struct path_table *t, uint32_t from, uint32_t to)
{
	return t->v->lids->base[from] && t->v->lids->base[to] &&
		records_visible(t->v, &t->q, from) &&
		records_visible(t->v, &t->q, to);
}

/* The next path of the pair at hand. */
static bool
pair_next(struct path_table *t, uint32_t from, uint32_t to, uint8_t *record)
{
	struct path_record path;
	uint16_t slid, dlid;

	if (t->path == 0 && !pair_is_fit(t, from, to))
		return false;
	while (t->given < t->limit && pick_lids(t, from, to, &slid, &dlid)) {
		t->path++;
		if (!path_find(t->v, &t->wish, from, slid, to, dlid, &path))
			continue;
		t->given++;
		path_record_encode(record, &path);
		return true;
	}
	return false;
}

static bool
table_next(void *data, uint8_t *record)
{
	struct path_table *t = data;

	for (; t->i < t->from.n; t->i++, t->k = 0) {
		for (; t->k < t->to.n; t->k++) {
			if (pair_next(t, ends_at(&t->from, t->i),
				      ends_at(&t->to, t->k), record))
				return true;
			t->path = t->given = 0;
		}
	}
	return false;
}

static void
table_free(void *data)
{
	struct path_table *t = data;

	sa_view_unref(t->v);
	g_free(t->from.ports);
	g_free(t->to.ports);
	g_free(t);
}

static const struct records_kind kind = { table_next, table_free };

static struct path_table *
table_new(struct sa_view *v, const struct query *q)
{
	struct path_table *t = g_new0(struct path_table, 1);

	t->v = sa_view_ref(v);
	t->q = *q;
	t->q.h = NULL;
	t->q.wanted = NULL;
	return t;
}

static unsigned
paths_of_a_pair(const struct path_table *t, const struct query *q)
{
	if (q->h->mad.method == MAD_METHOD_GET)
		return 1;
	if (asked(t, PATH_NUMB_PATH))
		return t->wish.want.numb_path;
	return NUMB_PATH_MAX;
}

struct sa_records *
records_of_paths(struct sa_view *v, const struct query *q, unsigned *status)
{
	struct path_table *t;
	struct sa_match match;
	const struct path_record *want;

	*status = 0;
	if (!sa_match_init(&match, SA_ATTR_PATH, q->h->comp_mask,
			   q->wanted)) {
		*status = SA_STATUS_REQ_INVALID;
		return NULL;
	}
	t = table_new(v, q);
	t->wish.comp_mask = q->h->comp_mask;
	path_record_decode(q->wanted, &t->wish.want);
	want = &t->wish.want;
	*status = ends_find(v, &t->from, asked(t, PATH_SGID), want->sgid,
			    asked(t, PATH_SLID), want->slid);
	if (!*status)
		*status = ends_find(v, &t->to, asked(t, PATH_DGID),
				    want->dgid, asked(t, PATH_DLID),
				    want->dlid);
	if (*status) {
		table_free(t);
		return NULL;
	}
	/* Raw packets need an EtherType or a router; we route neither. */
	if (asked(t, PATH_RAW) && want->raw)
		t->from.n = 0;
	t->limit = paths_of_a_pair(t, q);
	return records_new(SA_ATTR_PATH, &kind, t);
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
	};
	uint64_t out = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(bits); i++)
		out |= (mask >> bits[i].multi & 1) << bits[i].path;
	return out;
}

static unsigned
ends_from_gids(const struct sa_view *v, struct ends *e, const uint8_t *gids,
	       unsigned n)
{
	uint32_t port;

	e->ports = g_new(uint32_t, n);
	for (unsigned i = 0; i < n; i++) {
		port = sa_view_gid(v, gids + 16 * i);
		if (port == SUBNET_NONE)
			return SA_STATUS_INVALID_GID;
		e->ports[e->n++] = port;
	}
	return 0;
}

struct sa_records *
records_of_multi_path(struct sa_view *v, const struct query *q, size_t len,
		      unsigned *status)
{
	const uint8_t *gids = q->wanted + MULTI_PATH_GIDS_OFFSET;
	struct multi_path_record r;
	struct sa_match match;
	struct path_table *t;
	size_t n;

	multi_path_record_decode(q->wanted, &r);
	n = (size_t)r.n_sgids + r.n_dgids;
	*status = SA_STATUS_REQ_INVALID;
	if (!sa_match_init(&match, SA_ATTR_MULTI_PATH, q->h->comp_mask,
			   q->wanted))
		return NULL;
	if (MULTI_PATH_GIDS_OFFSET + 16 * n > len)
		return NULL;
	/* Both counts are required (IBA 15.2.5.20). */
	*status = SA_STATUS_INSUFFICIENT;
	if (!(q->h->comp_mask >> MULTI_SGID_COUNT & 1) ||
	    !(q->h->comp_mask >> MULTI_DGID_COUNT & 1) || !r.n_sgids ||
	    !r.n_dgids)
		return NULL;
	t = table_new(v, q);
	t->wish.comp_mask = translate_mask(q->h->comp_mask);
	t->wish.want = r.path;
	*status = ends_from_gids(v, &t->from, gids, r.n_sgids);
	if (!*status)
		*status = ends_from_gids(v, &t->to, gids + 16 * r.n_sgids,
					 r.n_dgids);
	if (*status) {
		table_free(t);
		return NULL;
	}
	t->limit = asked(t, PATH_NUMB_PATH) ? r.path.numb_path :
		NUMB_PATH_MAX;
	if (asked(t, PATH_RAW) && r.path.raw)
		t->from.n = 0;
	return records_new(SA_ATTR_PATH, &kind, t);
}
