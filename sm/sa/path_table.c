// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Paths as records: PathRecord queries of every kind, MultiPathRecord.
 *
 * A query names its ends by GID or LID, or leaves them open. Open ends are
 * walked, never stored: all paths of 11,664 hosts are 136 million records, and
 * the client gets them as fast as it takes them.
 *
 * Structs. `ends` are the ports on one side of the paths; those that are open
 * are the end ports by GUID.
 *
 * Flow. table_draw: port by port on the side of the sources; those where no
 * path can begin are passed over at once, or a wish that nobody can grant
 * would hold up the caller for as long as all pairs take. Then pair by pair;
 * for each pair the LIDs: those asked for, or the ranges of LMC side by side.
 * Is there more than one path of a pair, the better ones come first, and
 * Preference counts them (IBA 15.2.5.16: less is better); NumbPath, and Get,
 * take from the front.
 */
#include <string.h>

#include "sm/sa/path.h"
#include "sm/sa/records.h"

#define NUMB_PATH_MAX	127u
#define LIDS_MAX	128u	/* of a port, LMC 7 */

/* Components that no header needs. */
#define PATH_SERVICE_ID_HIGH	0u
#define PATH_SERVICE_ID_LOW	1u
#define MULTI_SERVICE_ID_HIGH	16u
#define MULTI_SERVICE_ID_LOW	21u

/* One end of the paths that are asked for. */
struct ends {
	uint32_t n;		/* ports */
	const uint32_t *ports;	/* borrowed, `list`, or `one` */
	uint32_t *list;		/* owned */
	uint32_t one;
	uint16_t lid;		/* 0: any of the port's */
};

struct path_table {
	struct sa_db *v;
	struct path_wish wish;
	struct query q;
	struct ends from, to;
	unsigned limit;		/* paths of a pair */
	uint32_t i, k;		/* of the pair at hand */
	/* The pair's paths, if there may be several: */
	struct path_record *found;	/* LIDS_MAX, or NULL: not needed yet */
	unsigned n_found, given;
};

static void
ends_set(struct ends *e, uint32_t port)
{
	e->n = 1;
	e->one = port;
	e->ports = &e->one;
}

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
		ends_set(e, port);
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
	const struct sa_end *a = &t->v->ends[from], *b = &t->v->ends[to];

	*slid = t->from.lid ? t->from.lid :
		(uint16_t)(a->lid + path % (1u << a->lmc));
	*dlid = t->to.lid ? t->to.lid :
		(uint16_t)(b->lid + path % (1u << b->lmc));
}

static unsigned
count_lids(const struct path_table *t, uint32_t from, uint32_t to)
{
	return MAX(t->from.lid ? 1u : 1u << t->v->ends[from].lmc,
		   t->to.lid ? 1u : 1u << t->v->ends[to].lmc);
}

/* Behind those that are as good: what comes first stays first. */
static void
found_insert(struct path_table *t, const struct path_record *path)
{
	unsigned at = t->n_found++;

	for (; at && path_compare(path, &t->found[at - 1]) < 0; at--)
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
		if (path_find(t->v, &t->wish, from, slid, to, dlid, &path))
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

	if (!t->v->ends[to].lid || !records_visible(t->v, &t->q, to))
		return false;
	if (n > 1) {
		find_several(t, from, to, n);
		return found_next(t, record);
	}
	pick_lids(t, from, to, 0, &slid, &dlid);
	if (!path_prefers(&t->wish, 0) ||
	    !path_find(t->v, &t->wish, from, slid, to, dlid, &path))
		return false;
	path_record_encode(record, &path);
	return true;
}

/* A single pair is looked at in any case; that is as cheap. */
static bool
may_start(const struct path_table *t, uint32_t from)
{
	return t->v->ends[from].lid &&
		records_visible(t->v, &t->q, from) &&
		(t->to.n == 1 || path_may_start(t->v, &t->wish, from));
}

static enum sa_draw
table_draw(void *data, uint8_t *record)
{
	struct path_table *t = data;
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
table_free(void *data)
{
	struct path_table *t = data;

	sa_db_unref(t->v);
	g_free(t->from.list);
	g_free(t->to.list);
	g_free(t->found);
	g_free(t);
}

static const struct records_kind kind = { table_draw, table_free };

static struct path_table *
table_new(struct sa_db *v, const struct query *q)
{
	struct path_table *t = g_new0(struct path_table, 1);

	t->v = sa_db_ref(v);
	t->q = *q;
	t->q.h = NULL;
	t->q.wanted = NULL;
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
	enum path_end end;
	uint32_t port;
	unsigned status;

	if (path_asks(w, PATH_SLID))
		t->from.lid = w->want.slid;
	if (path_asks(w, PATH_DLID))
		t->to.lid = w->want.dlid;
	end = path_source(t->v, w, &port);
	status = ends_find(t->v, &t->from, end, port);
	if (status)
		return status;
	end = path_destination(t->v, w, &port);
	return ends_find(t->v, &t->to, end, port);
}

struct sa_records *
records_of_paths(struct sa_db *v, const struct query *q, unsigned *status)
{
	struct path_table *t = table_new(v, q);

	t->wish.comp_mask = q->h->comp_mask;
	path_record_decode(q->wanted, &t->wish.want);
	*status = find_both_ends(t);
	if (*status) {
		table_free(t);
		return NULL;
	}
	table_limit(t, q->h->mad.method == MAD_METHOD_GET ? 1 :
		    NUMB_PATH_MAX);
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
records_of_multi_path(struct sa_db *v, const struct query *q, size_t len,
		      unsigned *status)
{
	const uint8_t *gids = q->wanted + MULTI_PATH_GIDS_OFFSET;
	struct multi_path_record r;
	struct path_table *t;
	size_t n;

	multi_path_record_decode(q->wanted, &r);
	n = (size_t)r.n_sgids + r.n_dgids;
	*status = SA_STATUS_REQ_INVALID;
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
	table_limit(t, NUMB_PATH_MAX);
	return records_new(SA_ATTR_PATH, &kind, t);
}
