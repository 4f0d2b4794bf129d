// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a sweep to a view.
 *
 * The view shares what the sweep made (snapshot, LIDs, tables, memberships) by
 * reference, so publishing costs a small index, and an answer that is on its
 * way keeps the fabric that it began with.
 */
#include "sm/sa/sa_publish.h"

#include "sm/sa/sa_db.h"

struct sa_publisher {
	struct sa_publisher_params params;
	struct qos_policy *policy;	/* or NULL */
	struct sa *sa;
};

struct sa_publisher *
sa_publisher_new(const struct sa_publisher_params *params)
{
	struct sa_publisher *a = g_new0(struct sa_publisher, 1);

	a->params = *params;
	a->sa = sa_new(&(struct sa_params){
		.sm_key = params->sa_key, .group_quota = params->group_quota,
	});
	return a;
}

void
sa_publisher_free(struct sa_publisher *a)
{
	if (!a)
		return;
	sa_free(a->sa);
	qos_policy_unref(a->policy);
	g_free(a);
}

void
sa_publisher_set_policy(struct sa_publisher *a, struct qos_policy *policy)
{
	qos_policy_unref(a->policy);
	a->policy = policy ? qos_policy_ref(policy) : NULL;
}

struct sa *
sa_publisher_sa(struct sa_publisher *a)
{
	return a->sa;
}

/* Ourselves first, then those that took part in the last election, as they
 * were. That may have been on another snapshot, so they go by their GUIDs. */
static void
tell_sms(struct sa_publisher *a, const struct sa_db *v, const GArray *peers,
	 const struct sm_info *self)
{
	g_autoptr(GArray) sms = g_array_new(FALSE, TRUE,
					    sizeof(struct sa_sm));
	struct sa_sm sm = {
		.lid = v->lids->base[v->subnet->local_port], .info = *self,
	};

	g_array_append_val(sms, sm);
	for (guint i = 0; peers && i < peers->len; i++) {
		uint32_t port;

		sm.info = g_array_index(peers, struct election_peer, i).info;
		port = sa_db_guid(v, sm.info.guid);
		if (port == SNAPSHOT_NONE)
			continue;
		sm.lid = v->lids->base[port];
		g_array_append_val(sms, sm);
	}
	sa_set_sms(a->sa, (const void *)sms->data, sms->len);
}

void
sa_publisher_publish(struct sa_publisher *a, const struct sweep_report *r,
	      const struct sm_info *self, struct mft *mft, int64_t now)
{
	const struct view *v = r->view;
	struct sa_db *view;

	view = sa_db_new(v->subnet, v->lids, v->lft, mft, v->rules,
			   memberships_ref(v->memberships),
			   a->params.gid_prefix, a->params.packet_life,
			   a->params.subnet_timeout);
	view->qos = a->params.qos;
	sa_db_set_policy(view, a->policy);
	sa_db_set_tables(view, v->tables);
	tell_sms(a, view, r->peers, self);
	sa_publish(a->sa, view, now);
	sa_db_unref(view);
}

void
sa_publisher_retire(struct sa_publisher *a, int64_t now)
{
	sa_publish(a->sa, NULL, now);
}
