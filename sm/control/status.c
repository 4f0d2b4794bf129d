// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The results of the last sweeps.
 *
 * A report is valid during the call, so what a view may say later is written at
 * once. The graph that names the switches of a credit loop is made only if there
 * is a loop.
 *
 * A sweep that failed, or that made this manager a standby, has no results about
 * the fabric: the previous ones stay, while the verdict is that of the last
 * sweep.
 */
#include "sm/control/status.h"

#include "topology/each.h"
#include "topology/view_line.h"

const char *
status_end_name(enum sweep_end end)
{
	static const char *const names[] = {
		[SWEEP_END_PLANNED] = "planned",
		[SWEEP_END_UP] = "up",
		[SWEEP_END_NOT_UP] = "not up",
		[SWEEP_END_STANDBY] = "standby",
		[SWEEP_END_FAILED] = "failed",
	};

	return names[end];
}

struct status *
status_new(void)
{
	struct status *s = g_new0(struct status, 1);

	s->fabric = g_string_new(NULL);
	s->end = g_string_new(NULL);
	return s;
}

void
status_free(struct status *s)
{
	if (!s)
		return;
	snapshot_unref(s->subnet);
	g_string_free(s->fabric, TRUE);
	g_string_free(s->end, TRUE);
	for (unsigned i = 0; i < STATUS_SWEEPS; i++)
		g_free(s->sweeps[i].causes);
	g_free(s);
}

static void
note_fabric(struct status *s, const struct sweep_report *r)
{
	const struct channels_result *channels = &r->choice->alone.channels;
	const struct view *v = r->view;
	struct graph *g;

	snapshot_unref(s->subnet);
	s->subnet = snapshot_ref(v->subnet);
	s->top = v->lids->top;
	s->lost_hosts = r->choice->alone.reach.lost_hosts;
	g_string_truncate(s->fabric, 0);
	VIEW_PUT(VIEW_ROUTE, r->choice->engine->name, s->fabric,
		 [ROUTE_LOOPED] = channels->cycle ? channels->n_looped : 0,
		 [ROUTE_TOP] = s->top,
		 [ROUTE_UNSAFE] = r->choice->safety == CHOICE_LOOP);
	view_text_put(VIEW_REASON, r->choice->reason, s->fabric);
	view_texts_put(VIEW_CANDIDATE, r->choice->compared, s->fabric);
	if (r->choice->is_mended)
		view_text_put(VIEW_NOTE, "repaired since: all loads are those of "
			      "the tables before", s->fabric);
	view_texts_put(VIEW_NOTE, r->choice->notes, s->fabric);
	view_text_put(VIEW_NOTE, r->choice->warning, s->fabric);
	if (!channels->cycle)
		return;
	g = graph_new_whole(v->subnet, v->lids);
	/* a step of a credit loop: packets for a LID leave the switch by a port
	 * into the next one */
	EACH_ITEM(const struct channel_turn, turn, channels->cycle) {
		const struct graph_edge *edge = &g->edges[turn->edge];
		uint32_t sw = g->edges[edge->back].peer;
		const struct snapshot_node *n =
			&v->subnet->nodes[v->subnet->switches[sw]];

		VIEW_PUT(VIEW_LOOP, snapshot_node_name(n), s->fabric,
			 [LOOP_GUID] = n->info.node_guid,
			 [LOOP_PORT] = edge->port, [LOOP_LID] = turn->lid);
	}
	graph_free(g);
}

void
status_note(struct status *s, const struct sweep_report *r, int64_t now)
{
	struct status_sweep *last = &s->sweeps[s->n_sweeps % STATUS_SWEEPS];
	g_autofree char *master = r->master ?
		g_strdup_printf("%s (" GUID_FORMAT ")",
				snapshot_node_name(r->master),
				r->master->info.node_guid) : NULL;

	g_free(last->causes);
	*last = (struct status_sweep){
		.at = now,
		.took_us = r->took_us,
		.causes = g_strdup(r->causes),
		.end = r->end,
	};
	s->n_sweeps++;
	s->n_repairs += r->is_repair;
	g_string_truncate(s->end, 0);
	if (r->verdict) {
		view_texts_put(VIEW_COMPLAINT, r->verdict->lines, s->end);
		view_texts_put(VIEW_WARNING, r->verdict->warnings, s->end);
	}
	view_text_put(VIEW_ERROR, r->error, s->end);
	view_text_put(VIEW_MASTER, master, s->end);
	if (r->view && r->choice) {
		note_fabric(s, r);
		s->read_at = now;
	}
}

void
status_judge(struct status *s, const char *verdict)
{
	s->sweeps[(s->n_sweeps - 1) % STATUS_SWEEPS].verdict = verdict;
}

const struct status_sweep *
status_last(const struct status *s, unsigned n)
{
	if (n >= STATUS_SWEEPS || n >= s->n_sweeps)
		return NULL;
	return &s->sweeps[(s->n_sweeps - 1 - n) % STATUS_SWEEPS];
}
