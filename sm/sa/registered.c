// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What clients have registered as records: groups with their members, services,
 * subscriptions; the subnet managers, and the state for a standby.
 *
 * Method. A walk goes over a store by keys, one element a step. Between two
 * steps clients may register and leave. If the request names the first part of
 * a key, the walk begins there and ends behind it.
 *
 * Visibility. Only trusted requesters get the members of a group; others get the
 * group, once, if one of its members is as requested: so a port can ask whether
 * it is one. A service without a P_Key is visible to all, its key to the trusted.
 * Of the subscriptions others get their own, without their QPs (IBA
 * C15-0.2-1.16).
 *
 * Cost. A step is a search by key. The members of a group may be all hosts, so a
 * request that few of them match pauses as any other does.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/sa_limits.h"

struct store_walk {
	struct sa_records base;
	const struct sa *sa;	/* its stores may be replaced meanwhile */
	int64_t now;		/* of the request */
	uint64_t mask;
	struct mcmember_record want;	/* of groups */
	struct sa_cursor at;	/* in the store; */
	struct sa_cursor member;	/* and in the group that it is at, */
	bool inside;		/* of which members are walked */
	guint i;		/* where there is no store: the next one */
	GString *text;		/* of the state, or NULL */
};

static bool
names(const struct store_walk *w, unsigned component)
{
	return w->mask >> component & 1;
}

/* To elements whose key begins so. */
static void
narrow(struct sa_cursor *c, const void *key, size_t len)
{
	memcpy(&c->key, key, len);
	c->fixed = len;
}

static enum sa_draw
walk_test(const struct store_walk *w, uint8_t *record, const void *host)
{
	sa_record_encode(w->base.attr_id, record, host);
	return sa_records_test(&w->base, record);
}

/* Does the requester have this P_Key? */
static bool
shares_pkey(const struct store_walk *w, uint16_t pkey)
{
	const struct sa_viewer *viewer = &w->base.viewer;

	return viewer->trusted || memberships_of(viewer->db->memberships,
						 viewer->port, pkey);
}

static enum sa_draw
member_next(struct store_walk *w, const struct group *g, uint8_t *record)
{
	const struct group_member *m = g ? sa_store_next(&g->members,
							 &w->member) : NULL;
	enum sa_draw drawn = SA_DRAW_PAUSE;
	struct mcmember_record r;

	w->inside = m;
	if (!m)
		return drawn;
	r = g->r;
	memcpy(r.port_gid, m->gid, 16);
	r.join_state = m->join_state;
	r.proxy_join = m->proxy;
	drawn = walk_test(w, record, &r);
	if (drawn == SA_DRAW_RECORD && !w->base.viewer.trusted) {
		sa_record_encode(SA_ATTR_MC_MEMBER, record, &g->r);
		w->inside = false;
	}
	return drawn;
}

static enum sa_draw
group_next(struct sa_records *base, uint8_t *record)
{
	struct store_walk *w = (struct store_walk *)base;
	const struct sa_limits limits = SA_LIMITS(w->mask, &w->want, MCM);
	const struct sa_store *all = &w->sa->groups->all;
	uint64_t guid = bytes_load64(w->want.port_gid + 8);
	const struct group *g;

	if (w->inside)
		return member_next(w, sa_store_find(all, &w->at.key), record);
	g = sa_store_next(all, &w->at);
	if (!g)
		return SA_DRAW_END;
	if (!sa_limits_hold(&limits, g->r.mtu, g->r.rate, g->r.life) ||
	    !shares_pkey(w, g->r.pkey) ||
	    (names(w, MCM_PKEY) &&
	     pkey_base(w->want.pkey) != pkey_base(g->r.pkey)))
		return SA_DRAW_PAUSE;
	w->inside = g->members.list->len && (base->viewer.trusted ||
		names(w, MCM_PORT_GID) || names(w, MCM_JOIN_STATE));
	w->member = (struct sa_cursor){ .begun = false };
	if (names(w, MCM_PORT_GID))
		narrow(&w->member, &guid, sizeof(guid));
	return w->inside ? SA_DRAW_PAUSE : walk_test(w, record, &g->r);
}

static enum sa_draw
service_next(struct sa_records *base, uint8_t *record)
{
	struct store_walk *w = (struct store_walk *)base;
	const struct service *s = sa_store_next(&w->sa->services->all, &w->at);
	struct service_record r;
	enum sa_draw drawn;

	if (!s)
		return SA_DRAW_END;
	if (s->ends <= w->now ||
	    (s->record.pkey && !shares_pkey(w, s->record.pkey)))
		return SA_DRAW_PAUSE;
	service_describe(s, w->now, &r);
	drawn = walk_test(w, record, &r);
	memset(r.key, 0, sizeof(r.key));
	if (drawn == SA_DRAW_RECORD && !base->viewer.trusted)
		sa_record_encode(SA_ATTR_SERVICE, record, &r);
	return drawn;
}

static enum sa_draw
inform_next(struct sa_records *base, uint8_t *record)
{
	struct store_walk *w = (struct store_walk *)base;
	const struct subscription *s = sa_store_next(&w->sa->informs->all,
						     &w->at);
	struct inform_info_record r;

	if (!s)
		return SA_DRAW_END;
	r = (struct inform_info_record){ .index = s->index, .info = s->info };
	if (!base->viewer.trusted)
		r.info.qpn = 0;
	memcpy(r.subscriber_gid, s->gid, 16);
	return walk_test(w, record, &r);
}

static enum sa_draw
sm_next(struct sa_records *base, uint8_t *record)
{
	struct store_walk *w = (struct store_walk *)base;
	const GArray *sms = w->sa->sms;
	struct sa_sm sm;

	if (w->i >= sms->len)
		return SA_DRAW_END;
	sm = g_array_index(sms, struct sa_sm, w->i++);
	sm.info.sm_key = 0;
	sa_record_encode(SA_ATTR_SM_INFO, record, &sm.info);
	bytes_store16(record, sm.lid);
	return sa_records_test(base, record);
}

static enum sa_draw
state_next(struct sa_records *base, uint8_t *record)
{
	struct store_walk *w = (struct store_walk *)base;
	size_t size = sa_records_size(base), at = size * w->i++;

	if (at >= w->text->len)
		return SA_DRAW_END;
	memset(record, '\n', size);
	memcpy(record, w->text->str + at, MIN(size, w->text->len - at));
	return SA_DRAW_RECORD;
}

static void
walk_free(struct sa_records *base)
{
	struct store_walk *w = (struct store_walk *)base;

	if (w->text)
		g_string_free(w->text, TRUE);
}

/* The part of the store that the request is about. */
static void
walk_begin(struct store_walk *w, const uint8_t *wanted)
{
	const struct sa_viewer *viewer = &w->base.viewer;
	static const uint8_t none[16];
	const struct group *g;

	switch (w->base.attr_id) {
	case SA_ATTR_MC_MEMBER:
		sa_record_decode(SA_ATTR_MC_MEMBER, wanted, &w->want);
		g = groups_of_mlid(w->sa->groups, w->want.mlid);
		if (names(w, MCM_MGID))
			narrow(&w->at, wanted, 16);
		else if (names(w, MCM_MLID))
			narrow(&w->at, g ? g->r.mgid : none, 16);
		return;
	case SA_ATTR_SERVICE:
		if (names(w, SERVICE_ID))
			narrow(&w->at, &(uint64_t){ bytes_load64(wanted) }, 8);
		return;
	case SA_ATTR_INFORM_INFO_RECORD:
		if (!viewer->trusted)
			narrow(&w->at, &viewer->db->ends[viewer->port].guid, 8);
		return;
	case SA_ATTR_STATE:
		w->text = g_string_new(NULL);
		if (w->sa->write_state)
			w->sa->write_state(w->text, w->sa->write_state_data);
		return;
	}
}

struct sa_records *
records_of_store(const struct sa_query *q)
{
	static const struct {
		uint16_t attr_id;
		enum sa_draw (*next)(struct sa_records *base, uint8_t *record);
	} kinds[] = {
		{ SA_ATTR_MC_MEMBER, group_next },
		{ SA_ATTR_SERVICE, service_next },
		{ SA_ATTR_INFORM_INFO_RECORD, inform_next },
		{ SA_ATTR_SM_INFO, sm_next },
		{ SA_ATTR_STATE, state_next },
	};
	unsigned attr_id = q->h.mad.attr_id, i;
	struct store_walk *w;

	for (i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (kinds[i].attr_id == attr_id)
			break;
	if (i == G_N_ELEMENTS(kinds))
		return NULL;
	w = sa_records_new(sizeof(*w), q, attr_id, kinds[i].next, walk_free);
	sa_match_init(&w->base.match, attr_id, q->h.comp_mask, q->wanted);
	w->sa = q->sa;
	w->now = q->request->now;
	w->mask = q->h.comp_mask;
	walk_begin(w, q->wanted);
	return &w->base;
}
