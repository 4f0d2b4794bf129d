// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a sweep to a view of the SA.
 */
#include "sm/sa/sa_publish.h"

/* Ourselves first, then those that took part in the last election, as they
 * were. That may have been on another snapshot, so they go by their GUIDs. */
static void
set_sms(struct sa *sa, const struct sa_db *v, const GArray *peers,
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
	sa_set_sms(sa, (const void *)sms->data, sms->len);
}

void
sa_publish_sweep(struct sa *sa, const struct sweep_report *r,
		 const struct sm_info *self, struct mft *mft, int64_t now)
{
	const struct view *v = r->view;
	const struct sa_params *params = sa_params_of(sa);
	struct sa_db *view;

	view = sa_db_new(v->subnet, v->lids, v->lft, mft, v->rules,
			 memberships_ref(v->memberships), params->gid_prefix,
			 params->packet_life, params->subnet_timeout);
	view->qos = params->qos;
	sa_db_set_policy(view, params->policy);
	sa_db_set_tables(view, v->tables);
	set_sms(sa, view, r->peers, self);
	sa_publish(sa, view, now);
	sa_db_unref(view);
}
