// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state of the subnet administration.
 *
 * Structs. The registrations of clients are in three stores (groups, services,
 * informs); the view of the fabric is replaced as a whole. Requests are
 * answered in query.c.
 */
#include "sm/sa/sa.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/query.h"
#include "topology/each.h"

static void
new_stores(struct sa *sa)
{
	sa->groups = groups_new();
	sa->groups->quota = sa->params.group_quota;
	sa->services = services_new();
	sa->informs = informs_new();
}

static void
free_stores(const struct sa *sa)
{
	groups_free(sa->groups);
	services_free(sa->services);
	informs_free(sa->informs);
}

struct sa *
sa_new(const struct sa_params *params)
{
	struct sa *sa = g_new0(struct sa, 1);

	sa->params = *params;
	new_stores(sa);
	sa->sms = g_array_new(FALSE, TRUE, sizeof(struct sa_sm));
	sa->followers = g_array_new(FALSE, FALSE, sizeof(struct sa_follower));
	return sa;
}

void
sa_free(struct sa *sa)
{
	if (!sa)
		return;
	sa_db_unref(sa->view);
	free_stores(sa);
	g_array_unref(sa->sms);
	g_array_unref(sa->followers);
	g_free(sa);
}

/* ------------------------------------------------------------- a new view */

void
sa_notify(struct sa *sa, const struct sa_db *v, uint16_t trap,
	  const uint8_t gid[16], uint16_t pkey, int64_t now)
{
	uint32_t own = v->subnet->local_port;
	uint8_t notice[NOTICE_LEN], issuer[16];

	if (own == SNAPSHOT_NONE)
		return;
	sa_db_make_gid(v, own, issuer);
	notice_build_gid(notice, trap, v->lids->base[own], gid);
	informs_notify(sa->informs, v, notice, issuer, pkey, now);
}

/* The ports of one view that the other does not have. */
static void
notify_ports(struct sa *sa, uint16_t trap, const struct sa_db *v,
	     const struct sa_db *other, int64_t now)
{
	uint8_t gid[16];

	for (uint32_t i = 0; i < v->n_by_guid; i++) {
		uint32_t port = v->by_guid[i];

		if (sa_db_guid(other, v->ends[port].guid) != SNAPSHOT_NONE)
			continue;
		sa_db_make_gid(v, port, gid);
		sa_notify(sa, v, trap, gid, 0, now);
	}
}

void
sa_publish(struct sa *sa, struct sa_db *view, int64_t now)
{
	struct sa_db *before = sa->view;

	sa->view = view ? sa_db_ref(view) : NULL;
	sa->n_views += view != NULL;
	if (!sa->epoch)
		sa->epoch = (uint64_t)now + 1;
	if (view) {
		informs_follow(sa->informs, view);
		services_follow(sa->services, view);
		if (before) {
			notify_ports(sa, NOTICE_GID_GONE, before, view, now);
			notify_ports(sa, NOTICE_GID_THERE, view, before, now);
		}
		groups_follow(sa, now);
	} else {	/* later, as the master again, they would be old */
		informs_forget(sa->informs);
	}
	sa_db_unref(before);
	services_tick(sa->services, now);
}

void
sa_forward_trap(struct sa *sa, const uint8_t notice[64], uint16_t slid,
		int64_t now)
{
	uint8_t issuer[16];
	uint32_t port;

	if (!sa->view)
		return;
	port = lid_map_owner(sa->view->lids, slid);
	if (port == SNAPSHOT_NONE)
		return;
	sa_db_make_gid(sa->view, port, issuer);
	informs_notify(sa->informs, sa->view, notice, issuer, 0, now);
}

bool
sa_next_report(struct sa *sa, int64_t now, struct sa_report *out)
{
	const struct sa_db *v = sa->view;
	uint32_t port, own;

	if (!v)
		return false;
	own = v->subnet->local_port;
	while (informs_next(sa->informs, v, now, out)) {
		port = sa_db_guid(v, out->port_guid);
		if (port == SNAPSHOT_NONE || own == SNAPSHOT_NONE ||
		    !v->lids->base[port]) {
			informs_drop(sa->informs, out->port_guid, out->qp, now);
			continue;
		}
		out->lid = v->lids->base[port];
		/* a QP of a program has but one, most often the default one */
		out->pkey = memberships_common(v->memberships, own, port);
		out->pkey_index = sa_db_pkey_index(v, own, out->pkey);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------- saved state */

void
sa_save_groups(const struct sa *sa, GString *out)
{
	EACH_PTR(const struct group, g, sa->groups->all.list) {
		struct saved_member saved;

		state_line_save(&group_lines[GROUP_LINE], out, g);
		memcpy(saved.mgid, g->r.mgid, 16);
		EACH_PTR(const struct group_member, m, g->members.list) {
			saved.m = *m;
			state_line_save(&group_lines[MEMBER_LINE], out, &saved);
		}
	}
}

static void
sa_save(const void *owner, GString *out, int64_t now)
{
	const struct sa *sa = owner;

	sa_save_groups(sa, out);
	EACH_PTR(const struct service, s, sa->services->all.list) {
		struct service_record r;

		service_describe(s, now, &r);
		if (r.lease)
			state_line_save(service_lines, out, &r);
	}
	EACH_PTR(const struct subscription, s, sa->informs->all.list)
		state_line_save(inform_lines, out, s);
}

/* No version of the new state equals one of the old state. */
static void
sa_clear(void *owner)
{
	struct sa *sa = owner, old = *sa;

	new_stores(sa);
	sa->groups->all.version = old.groups->all.version + 1;
	sa->services->all.version = old.services->all.version + 1;
	sa->informs->all.version = old.informs->all.version + 1;
	free_stores(&old);
}

static uint64_t
sa_version(const void *owner)
{
	return sa_saved_version(owner);
}

const struct state_part sa_part = {
	{ group_lines, service_lines, inform_lines },
	sa_save, sa_clear, sa_version,
};

uint64_t
sa_saved_version(const struct sa *sa)
{
	return sa->groups->all.version + sa->services->all.version +
		sa->informs->all.version;
}

void
sa_stats(const struct sa *sa, struct sa_stats *out)
{
	*out = (struct sa_stats){
		.n_groups = sa->groups->all.list->len,
		.n_services = sa->services->all.list->len,
		.n_subscriptions = sa->informs->all.list->len,
	};
	for (uint32_t i = 0; i < out->n_groups; i++) {
		const struct group *g = sa->groups->all.list->pdata[i];

		out->n_members += g->members.list->len;
	}
}

GHashTable *
sa_clients(const struct sa *sa)
{
	GHashTable *clients = g_hash_table_new_full(g_int64_hash, g_int64_equal,
						    g_free, NULL);

	EACH_PTR(const struct group, g, sa->groups->all.list)
		EACH_PTR(const struct group_member, m, g->members.list)
			g_hash_table_add(clients, g_memdup2(&m->port_guid, 8));
	EACH_PTR(const struct service, s, sa->services->all.list) {
		uint64_t guid = bytes_load64(s->record.gid + 8);

		g_hash_table_add(clients, g_memdup2(&guid, 8));
	}
	EACH_PTR(const struct subscription, s, sa->informs->all.list)
		g_hash_table_add(clients, g_memdup2(&s->port_guid, 8));
	return clients;
}

/* ------------------------------------------------------------- for a standby
 *
 * The versions of the state for another manager, which managers follow.
 */

#define MARK_OFFSET	(SA_DATA_OFFSET + 72)	/* behind ClassPortInfo */
#define MARK	UINT64_C(0x6d696e69736d2031)	/* "minism 1" */

void
sa_mark_write(uint8_t mad[MAD_SIZE], const struct sa_mark *mark)
{
	bytes_store64(mad + MARK_OFFSET, MARK);
	bytes_store64(mad + MARK_OFFSET + 8, mark->epoch);
	bytes_store64(mad + MARK_OFFSET + 16, mark->version);
}

bool
sa_mark_read(const uint8_t mad[MAD_SIZE], struct sa_mark *mark)
{
	*mark = (struct sa_mark){
		.epoch = bytes_load64(mad + MARK_OFFSET + 8),
		.version = bytes_load64(mad + MARK_OFFSET + 16),
	};
	return bytes_load64(mad + MARK_OFFSET) == MARK;
}

bool
sa_is_of_standby(const uint8_t mad[MAD_SIZE], unsigned attr_id, unsigned method)
{
	struct sa_mark mark;

	return attr_id == SA_ATTR_STATE ||
		(attr_id == SA_ATTR_CLASS_PORT_INFO &&
		 method == MAD_METHOD_GET && sa_mark_read(mad, &mark));
}

struct sa_mark
sa_mark_of(const struct sa *sa)
{
	return (struct sa_mark){
		sa->epoch, sa_saved_version(sa) + sa->n_views,
	};
}

void
sa_follow(struct sa *sa, uint16_t lid, int64_t now)
{
	const struct sa_follower new = { .lid = lid, .at = now };

	for (guint i = sa->followers->len; i-- > 0;)
		if (g_array_index(sa->followers, struct sa_follower, i).lid ==
		    lid)
			g_array_remove_index(sa->followers, i);
	g_array_append_val(sa->followers, new);
}

GArray *
sa_followers(struct sa *sa, int64_t now)
{
	while (sa->followers->len &&
	       now - g_array_index(sa->followers, struct sa_follower, 0).at >
	       SA_FOLLOWER_US)
		g_array_remove_index(sa->followers, 0);
	return sa->followers;
}
