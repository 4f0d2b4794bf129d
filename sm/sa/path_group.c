// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The path to a multicast group.
 *
 * It is no way through the tables: MTU, rate, life time and all the rest are
 * the group's, the same for everybody, so nothing of it can be adapted to what
 * is asked for. It fits or it does not. Who sends must be in the group's
 * partition, and who asks as well, unless trusted; a sender that is not named
 * is the requester.
 */
#include <string.h>

#include "sm/sa/path.h"

bool
records_number_fits(unsigned selector, int order)
{
	switch ((enum sa_selector)selector) {
	case SA_GREATER:
		return order > 0;
	case SA_LESS:
		return order < 0;
	case SA_EXACTLY:
		return order == 0;
	case SA_LARGEST:
		return true;
	}
	return false;
}

static bool
asks_both(const struct path_wish *w, unsigned selector, unsigned value)
{
	return path_asks(w, selector) && path_asks(w, value);
}

static bool
numbers_fit(const struct path_wish *w, const struct group *g)
{
	const struct path_record *want = &w->want;

	return (!asks_both(w, PATH_MTU_SELECTOR, PATH_MTU) ||
		records_number_fits(want->mtu_selector, g->mtu - want->mtu)) &&
		(!asks_both(w, PATH_RATE_SELECTOR, PATH_RATE) ||
		 records_number_fits(want->rate_selector,
				     sa_rate_compare(g->rate, want->rate))) &&
		(!asks_both(w, PATH_LIFE_SELECTOR, PATH_LIFE) ||
		 records_number_fits(want->life_selector,
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
describe(const struct sa_db *v, const struct path_wish *w, uint32_t from,
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

static bool
may_send(const struct sa_db *v, const struct query *q, uint32_t from,
	 const struct group *g)
{
	const struct memberships *m = v->memberships;

	return v->lids->base[from] && memberships_of(m, from, g->pkey) &&
		(q->trusted || (memberships_of(m, q->requester, g->pkey) &&
				records_visible(v, q, from)));
}

struct sa_records *
path_to_group(const struct sa_db *v, const struct query *q,
	      const struct group *g, unsigned *status)
{
	struct path_wish wish = { .comp_mask = q->h->comp_mask };
	GByteArray *bytes = g_byte_array_new();
	uint8_t record[SA_DATA_LEN];
	struct path_record path;
	enum path_end end;
	uint32_t from;

	*status = 0;
	path_record_decode(q->wanted, &wish.want);
	end = path_source(v, &wish, &from);
	if (end == PATH_END_BAD_GID) {
		*status = SA_STATUS_INVALID_GID;
		g_byte_array_unref(bytes);
		return NULL;
	}
	if (end == PATH_END_OPEN)
		from = q->requester;
	if (g && end != PATH_END_NOBODY && group_fits(&wish, g) &&
	    may_send(v, q, from, g)) {
		describe(v, &wish, from, g, &path);
		path_record_encode(record, &path);
		g_byte_array_append(bytes, record,
				    (guint)sa_record_size(SA_ATTR_PATH));
	}
	return records_of_bytes(SA_ATTR_PATH, bytes);
}
