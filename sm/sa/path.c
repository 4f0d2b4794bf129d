/*
 * Paths.
 *
 * Flow of path_find, cheapest refusal first:
 *   1. partition: the P_Key asked for, or the first that both have; limited
 *	to limited is none (IBA 10.9.3)
 *   2. SL: the partition's; one that was asked for must be it
 *   3. the way there through the tables, and back if it has to be reversible
 *	(ours are, so a client that does not care gets such a one)
 *   4. MTU, rate, life time: the least on the way, by the selectors
 *
 * Selectors count only together with their value (IBA 15.2.5.16.1). "Exactly"
 * and "less than" are served by a way that can do more: what is smaller than
 * the way's MTU fits through it.
 */
#include "sm/sa/path.h"

#include <string.h>

#define MTU_MIN		1u
#define LIFE_MAX	0x3fu

static bool
asked(const struct path_wish *w, unsigned bit)
{
	return w->comp_mask >> bit & 1;
}

static bool
asked_both(const struct path_wish *w, unsigned selector, unsigned value)
{
	return asked(w, selector) && asked(w, value);
}

static bool
select_mtu(const struct path_wish *w, uint8_t *mtu)
{
	uint8_t want = w->want.mtu;

	if (!asked_both(w, PATH_MTU_SELECTOR, PATH_MTU))
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

/* The fastest rate that is slower than `rate`; 0: none. */
static uint8_t
rate_below(uint8_t rate)
{
	uint8_t best = 0;

	for (uint8_t code = 2; sa_rate_mbps(code); code++)
		if (sa_rate_compare(code, rate) < 0 &&
		    (!best || sa_rate_compare(code, best) > 0))
			best = code;
	return best;
}

static bool
select_rate(const struct path_wish *w, uint8_t *rate)
{
	uint8_t want = w->want.rate;

	if (!asked_both(w, PATH_RATE_SELECTOR, PATH_RATE))
		return true;
	switch ((enum sa_selector)w->want.rate_selector) {
	case SA_GREATER:
		return sa_rate_compare(*rate, want) > 0;
	case SA_LESS:
		if (sa_rate_compare(*rate, want) >= 0)
			*rate = rate_below(want);
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

	if (!asked_both(w, PATH_LIFE_SELECTOR, PATH_LIFE))
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

bool
path_select(const struct path_wish *w, uint8_t *mtu, uint8_t *rate,
	    uint8_t *life)
{
	return select_mtu(w, mtu) && select_rate(w, rate) &&
		select_life(w, life);
}

/* 0: they share none, or not the one that is asked for. */
static uint16_t
choose_pkey(const struct sa_view *v, const struct path_wish *w, uint32_t from,
	    uint32_t to)
{
	uint16_t pkey = w->want.pkey;

	if (!asked(w, PATH_PKEY))
		return memberships_common(v->memberships, from, to);
	if (!memberships_meet(v->memberships, from, to, pkey))
		return 0;
	return pkey;
}

static bool
choose_sl(const struct sa_view *v, const struct path_wish *w, uint16_t pkey,
	  uint8_t *sl)
{
	const struct partition *p = partition_rules_find(v->rules,
							 pkey_base(pkey));

	*sl = p ? p->sl : 0;
	return !asked(w, PATH_SL) || *sl == w->want.sl;
}

/* A way with what it offers. */
static bool
choose_way(const struct sa_view *v, const struct path_wish *w, uint32_t from,
	   uint16_t slid, uint32_t to, uint16_t dlid, struct path_record *out)
{
	struct sa_way way, back;

	if (!sa_view_walk(v, from, dlid, &way))
		return false;
	if ((!asked(w, PATH_REVERSIBLE) || w->want.reversible) && from != to &&
	    !sa_view_walk(v, to, slid, &back))
		return false;
	out->mtu = way.mtu;
	out->rate = way.rate;
	if (way.rate == SA_RATE_ANY)	/* port 0 to itself: nothing limits */
		out->rate = (uint8_t)sa_rate_of(&v->subnet->ports[from].info);
	if (!out->rate)
		out->rate = 3;		/* 10 Gb/s: what all can do */
	out->life = from == to ? 0 : v->packet_life;
	return path_select(w, &out->mtu, &out->rate, &out->life);
}

bool
path_find(const struct sa_view *v, const struct path_wish *w, uint32_t from,
	  uint16_t slid, uint32_t to, uint16_t dlid, struct path_record *out)
{
	uint16_t pkey = choose_pkey(v, w, from, to);

	memset(out, 0, sizeof(*out));
	if (!pkey || !choose_sl(v, w, pkey, &out->sl) ||
	    !choose_way(v, w, from, slid, to, dlid, out))
		return false;
	sa_view_make_gid(v, from, out->sgid);
	sa_view_make_gid(v, to, out->dgid);
	out->slid = slid;
	out->dlid = dlid;
	out->pkey = pkey;
	out->reversible = true;
	out->mtu_selector = out->rate_selector = out->life_selector =
		SA_EXACTLY;
	/* What is no property of the way is the client's choice. */
	if (asked(w, PATH_FLOW_LABEL))
		out->flow_label = w->want.flow_label;
	if (asked(w, PATH_TCLASS))
		out->tclass = w->want.tclass;
	if (asked(w, PATH_HOP_LIMIT))
		out->hop_limit = w->want.hop_limit;
	if (asked(w, PATH_QOS_CLASS))
		out->qos_class = w->want.qos_class;
	if (w->comp_mask & 3)
		out->service_id = w->want.service_id;
	out->numb_path = asked(w, PATH_NUMB_PATH) ? w->want.numb_path : 0;
	return true;
}

unsigned
path_count(const struct sa_view *v, uint32_t from, uint32_t to)
{
	return 1u << MAX(v->lids->lmc[from], v->lids->lmc[to]);
}
