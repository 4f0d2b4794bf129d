// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state of the subnet and of this manager, as lines of a view: what
 * minismctl makes its status, its list of avoided links and its metrics of.
 *
 * The verdict follows from the end of the last sweep. If a sweep failed, the
 * results of the previous one may still be true, and stay.
 */
#include "sm/control/request.h"

#include "topology/each.h"

enum control_code
control_verdict(const struct control_view *v, const char **name)
{
	static const enum control_code codes[] = {
		[SWEEP_END_PLANNED] = CONTROL_DONE,
		[SWEEP_END_UP] = CONTROL_DONE,
		[SWEEP_END_NOT_UP] = CONTROL_NOT_UP,
		[SWEEP_END_STANDBY] = CONTROL_STANDBY,
		[SWEEP_END_FAILED] = CONTROL_FAILED,
	};
	const struct status_sweep *last = status_last(v->status, 0);
	enum sweep_end end = last ? last->end : SWEEP_END_NOT_UP;

	if (end == SWEEP_END_UP && v->mcast && v->mcast->lost->len)
		end = SWEEP_END_NOT_UP;
	*name = last ? status_end_name(end) : "starting";
	if (end != SWEEP_END_UP || (!v->sweep->contested &&
	    (!v->expected || !v->expected->faults->len)))
		return codes[end];
	*name = "degraded";
	return CONTROL_DEGRADED;
}

int64_t
control_age(const struct control_view *v)
{
	const struct status_sweep *last = status_last(v->status, 0);

	return v->status->subnet && (v->sweep->paused || !last ||
				     last->end == SWEEP_END_FAILED ||
				     last->end == SWEEP_END_STANDBY) ?
		v->now - v->status->read_at : 0;
}

char *
control_headline(const struct control_view *v)
{
	uint64_t n[VIEW_WORDS];
	g_autofree char *verdict = NULL;
	const char *name;

	control_verdict(v, &name);
	verdict = g_ascii_strup(name, -1);
	expected_count(v->expected, v->status->subnet, n);
	return !v->status->subnet ? g_steal_pointer(&verdict) :
		view_verdict_text(verdict, n);
}

/* This manager, or another one that answers. */
static void
put_sm(const struct control_view *v, uint64_t guid, const struct sm_info *info,
       GString *out)
{
	uint32_t port = v->where ? snapshot_find_port(v->where, guid) :
		SNAPSHOT_NONE;
	g_autofree char *name = port == SNAPSHOT_NONE ? NULL :
		snapshot_port_name(v->where, port);

	VIEW_PUT(VIEW_SM, name, out, [SM_GUID] = guid,
		 [SM_STATE] = info->state, [SM_PRIORITY] = info->priority);
}

static void
put_manager(const struct control_view *v, GString *out)
{
	const struct standby_status *b = &v->standby;

	VIEW_PUT(VIEW_MANAGER, v->port_name, out,
		 [MANAGER_STATE] = v->sweep->self.state,
		 [MANAGER_PRIORITY] = v->sweep->self.priority,
		 [MANAGER_GUEST] = v->sweep->params.guest,
		 [MANAGER_PAUSED] = v->sweep->paused,
		 [MANAGER_RUNNING] = (uint64_t)(v->now - v->since),
		 [MANAGER_QOS] = v->sa && v->sa->view && v->sa->view->qos);
	view_text_put(VIEW_ROLE, control_observes(v) ? "observing" :
		      sm_state_name(v->sweep->self.state), out);
	view_text_put(VIEW_LEVEL, log_level_names[v->log->level], out);
	view_text_put(VIEW_DOING, sweep_state_names[v->sweep->state], out);
	view_text_put(VIEW_UNIT, v->ms, out);
	view_texts_put(VIEW_RIVAL, v->sweep->rivals, out);
	put_sm(v, v->port_guid, &v->sweep->self, out);
	EACH_ITEM(const struct election_peer, peer, v->peers)
		put_sm(v, peer->info.guid, &peer->info, out);
	VIEW_PUT(VIEW_STANDBY, b->why, out, [STANDBY_FOLLOWS] = b->follows,
		 [STANDBY_WARM] = b->warm, [STANDBY_GROUPS] = b->stats.n_groups,
		 [STANDBY_MEMBERS] = b->stats.n_members,
		 [STANDBY_SERVICES] = b->stats.n_services,
		 [STANDBY_SUBSCRIPTIONS] = b->stats.n_subscriptions,
		 [STANDBY_AGE] = b->warm ? (uint64_t)(v->now - b->as_of) : 0);
}

void
control_put_faults(const struct control_view *v, const char *name,
		   uint64_t guid, GString *out)
{
	const GPtrArray *faults = v->expected ? v->expected->faults : NULL;
	const struct status *s = v->status;
	uint64_t n[VIEW_WORDS];

	expected_count(NULL, s->subnet, n);
	if (s->subnet)
		VIEW_PUT(VIEW_SUBNET, NULL, out,
			 [SUBNET_SWITCHES] = n[VERDICT_SWITCHES],
			 [SUBNET_HOSTS] = n[VERDICT_HOSTS],
			 [SUBNET_ACTIVE] = n[VERDICT_LINKS],
			 [SUBNET_LINKS] = n[VERDICT_ALL_LINKS],
			 [SUBNET_TOP] = s->top,
			 [SUBNET_AGE] = (uint64_t)control_age(v));
	for (guint i = 0; faults && i < faults->len; i++) {
		const struct expected_fault *f = faults->pdata[i];
		g_autofree char *what = NULL;

		if (name && strcmp(f->name, name) && f->guid != guid &&
		    f->far != guid)
			continue;
		what = g_strdup_printf("%s %s%s%s%s",
				       expected_kind_names[f->kind], f->name,
				       *f->text ? ", " : "", f->text,
				       f->place ? f->place : "");
		VIEW_PUT(VIEW_FAULT, what, out, [FAULT_NUMBER] = i + 1,
			 [FAULT_SINCE] = (uint64_t)f->since,
			 [FAULT_GUID] = f->guid, [FAULT_PORT] = f->port,
			 [FAULT_FAR] = f->far, [FAULT_FAR_PORT] = f->far_port,
			 [FAULT_KIND] = f->kind, [FAULT_NAME] = strlen(f->name),
			 [FAULT_NEAR] = f->near, [FAULT_CAUSE] = f->cause);
	}
}

static void
put_verdict(const struct control_view *v, GString *out)
{
	uint64_t n[VIEW_WORDS];
	const char *name;

	control_verdict(v, &name);
	expected_count(v->expected, v->status->subnet, n);
	view_line_put(VIEW_VERDICT, n, name, out);
	control_put_faults(v, NULL, 0, out);
	EACH_PTR(const struct expected_fault, f, v->expected ?
		 v->expected->former : NULL)
		if (f->text)
			VIEW_PUT(VIEW_FORMER, f->text, out,
				 [FORMER_SINCE] = (uint64_t)f->since,
				 [FORMER_GUID] = f->guid);
	view_texts_put(VIEW_UNREACHED, v->mcast->lost, out);
}

/* Links that routing avoids, or would if it could. Their ports are those of the
 * sweep's own view. */
static void
put_avoided(const struct control_view *v, GString *out)
{
	const struct snapshot *subnet = v->sweep->view.subnet;

	EACH_PTR(const struct avoid_link, l, v->sweep->view.avoided) {
		g_autofree char *why = avoid_why(l);
		g_autofree char *link = g_strdup_printf("%s %s: %s", l->name,
			avoid_verdict_texts[l->verdict], why);

		const struct snapshot_port *p = &subnet->ports[l->port];

		VIEW_PUT(VIEW_AVOIDED, link, out,
			 [AVOIDED_GUID] = subnet->nodes[p->node].info.node_guid,
			 [AVOIDED_PORT] = p->num, [AVOIDED_ERRORS] = l->errors,
			 [AVOIDED_VERDICT] = l->verdict,
			 [AVOIDED_NAME] = strlen(l->name),
			 [AVOIDED_WHY] = strlen(link) - strlen(why));
	}
}

void
control_put_status(const struct control_view *v, GString *out)
{
	/* links that went down within the hour, and babbling ports */
	g_autoptr(GPtrArray) flaps = flaps_list(v->sweep->flaps, v->now);
	const struct status_sweep *sweep;

	put_manager(v, out);
	put_verdict(v, out);
	EACH_PTR(const struct flap, f, flaps)
		VIEW_PUT(VIEW_FLAP, f->name, out, [FLAP_HELD] = f->held,
			[FLAP_FLAPS] = f->flaps, [FLAP_BABBLES] = f->babbles,
			[FLAP_DOWNS] = f->downs, [FLAP_TRAPS] = f->traps,
			[FLAP_AGE] = (uint64_t)(v->now - f->last),
			[FLAP_LEFT] = (uint64_t)MAX(f->held_until - v->now, 0));
	put_avoided(v, out);
	for (unsigned i = 0; (sweep = status_last(v->status, i)); i++) {
		g_autofree char *text = g_strconcat(sweep->verdict ? :
			status_end_name(sweep->end),
			sweep->causes ? ", " : NULL, sweep->causes, NULL);

		VIEW_PUT(VIEW_SWEEP, text, out,
			 [SWEEP_AGE] = (uint64_t)(v->now - sweep->at),
			 [SWEEP_TOOK] = (uint64_t)sweep->took_us);
	}
	g_string_append_len(out, v->status->fabric->str,
			    (gssize)v->status->fabric->len);
	g_string_append_len(out, v->status->end->str,
			    (gssize)v->status->end->len);
	view_text_put(VIEW_WARNING, v->refused, out);
	view_text_put(VIEW_WARNING, v->unsaved, out);
	view_text_put(VIEW_WARNING, v->unseen, out);
	view_text_put(VIEW_WARNING, v->standby.foreign, out);
	view_text_put(VIEW_SOURCE, v->rules->source, out);
}
