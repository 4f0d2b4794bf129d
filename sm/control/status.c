// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The results of the last sweeps.
 *
 * A report is valid during the call, so what commands may show later is copied.
 * That is small, but for the snapshot, which is shared. The graph that names the
 * switches of a credit loop is made only if there is a loop.
 *
 * A sweep that failed, or that made this manager a standby, has no results about
 * the fabric: the previous ones stay, while the verdict is that of the last
 * sweep.
 */
#include "sm/control/status.h"

#include <string.h>

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
	return g_new0(struct status, 1);
}

static void
clear_channel(gpointer data)
{
	struct status_channel *c = data;

	g_free(c->desc);
}

static void
forget_fabric(struct status *s)
{
	g_clear_pointer(&s->subnet, snapshot_unref);
	g_clear_pointer(&s->engine, g_free);
	g_clear_pointer(&s->reason, g_free);
	g_clear_pointer(&s->notes, g_ptr_array_unref);
	g_clear_pointer(&s->compared, g_ptr_array_unref);
	g_clear_pointer(&s->loop, g_array_unref);
	s->n_looped = 0;
}

static void
forget_end(struct status *s)
{
	g_clear_pointer(&s->complaints, g_ptr_array_unref);
	g_clear_pointer(&s->warnings, g_ptr_array_unref);
	g_clear_pointer(&s->error, g_free);
	g_clear_pointer(&s->master, g_free);
}

void
status_free(struct status *s)
{
	if (!s)
		return;
	forget_fabric(s);
	forget_end(s);
	for (unsigned i = 0; i < STATUS_SWEEPS; i++)
		g_free(s->sweeps[i].causes);
	g_free(s);
}

static GPtrArray *
copy_lines(const GPtrArray *lines)
{
	GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; lines && i < lines->len; i++)
		g_ptr_array_add(copy, g_strdup(lines->pdata[i]));
	return copy;
}

static void
note_fabric(struct status *s, const struct sweep_report *r)
{
	const struct channels_result *channels = &r->choice->alone.channels;
	const struct view *v = r->view;
	struct graph *g;

	forget_fabric(s);
	s->subnet = snapshot_ref(v->subnet);
	s->top = v->lids->top;
	if (r->verdict) {
		s->n_hosts = r->verdict->n_hosts;
		s->n_links = r->verdict->n_links;
		s->n_active = r->verdict->n_active;
	}
	s->engine = g_strdup(r->choice->engine->name);
	s->reason = g_strdup(r->choice->reason);
	s->safety = r->choice->safety;
	s->lost_hosts = r->choice->alone.reach.lost_hosts;
	s->notes = copy_lines(r->choice->notes);
	if (r->choice->warning)
		g_ptr_array_add(s->notes, g_strdup(r->choice->warning));
	s->compared = copy_lines(r->choice->compared);
	if (!channels->cycle)
		return;
	s->n_looped = channels->n_looped;
	s->loop = g_array_new(FALSE, FALSE, sizeof(struct status_channel));
	g_array_set_clear_func(s->loop, clear_channel);
	g = graph_new_whole(v->subnet, v->lids);
	for (guint i = 0; i < channels->cycle->len; i++) {
		const struct channel_turn *turn =
			&g_array_index(channels->cycle, struct channel_turn, i);
		const struct graph_edge *edge = &g->edges[turn->edge];
		uint32_t sw = g->edges[edge->back].peer;
		const struct snapshot_node *n =
			&v->subnet->nodes[v->subnet->switches[sw]];
		struct status_channel channel = {
			.desc = g_strdup(snapshot_node_name(n)),
			.guid = n->info.node_guid,
			.port = edge->port,
			.lid = turn->lid,
		};

		g_array_append_val(s->loop, channel);
	}
	graph_free(g);
}

void
status_note(struct status *s, const struct sweep_report *r, int64_t now)
{
	struct status_sweep *last = &s->sweeps[s->n_sweeps % STATUS_SWEEPS];

	g_free(last->causes);
	*last = (struct status_sweep){
		.at = now,
		.took_us = r->took_us,
		.causes = g_strdup(r->causes),
		.end = r->end,
	};
	s->n_stages = r->n_stages;
	for (unsigned i = 0; i < r->n_stages; i++)
		s->stages[i] = r->stages[i];
	s->n_sweeps++;
	s->n_repairs += r->is_repair;
	forget_end(s);
	if (r->view && r->choice)
		note_fabric(s, r);
	if (r->verdict && r->verdict->lines->len)
		s->complaints = copy_lines(r->verdict->lines);
	if (r->verdict && r->verdict->warnings->len)
		s->warnings = copy_lines(r->verdict->warnings);
	s->error = g_strdup(r->error);
	if (r->master)
		s->master = g_strdup_printf("%s (0x%016" G_GINT64_MODIFIER
					    "x)", snapshot_node_name(r->master),
					    r->master->info.node_guid);
}

const struct status_sweep *
status_last(const struct status *s, unsigned n)
{
	if (n >= STATUS_SWEEPS || n >= s->n_sweeps)
		return NULL;
	return &s->sweeps[(s->n_sweeps - 1 - n) % STATUS_SWEEPS];
}
