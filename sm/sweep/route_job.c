// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routing with its verification, as work beside the main loop.
 *
 * Purpose. The engines compute for seconds on large fabrics that are no trees;
 * meanwhile the manager must answer.
 *
 * Safety. A job has references on the snapshot, the LIDs and the held tables,
 * which do not change; ranks and lists are its own. It owns the `struct repair`
 * while it runs, which changes with each repair: a job that is dropped takes it
 * along, and the engines route the fabric the next time.
 */
#include "sm/sweep/route_job.h"

#include "sm/config/guid_files.h"
#include "sm/sweep/avoid.h"

/* By target: 1 for an I/O node, if it is in the list of I/O nodes, or if there
 * is a list of compute nodes without it. */
static uint8_t *
mark_io(const struct graph *g, const struct route_job *job)
{
	const struct snapshot *s = g->subnet;
	uint8_t *marks;

	if (!job->params.compute_nodes && !job->params.io_nodes)
		return NULL;
	marks = g_new0(uint8_t, g->n_targets);
	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		uint64_t guid = s->ports[job->lids->owner[t->lid]].guid;

		marks[i] = t->port != 0 &&
			(guid_list_has(job->params.io_nodes, guid) ||
			 (job->params.compute_nodes &&
			  !guid_list_has(job->params.compute_nodes, guid)));
	}
	return marks;
}

/* See choose_held(). */
static struct lft *
route_job_held(const struct route_job *job, const struct graph *g)
{
	struct lft *seen = job->parts && job->parts->len ?
		lft_with(job->seen, job->parts) : lft_ref(job->seen);
	struct lft *held;

	if (seen->other)
		seen->comes_back = job->late_until;
	held = choose_held(g, seen);
	lft_free(seen);
	return held;
}

/* whole: the graph with the links that g leaves out; NULL: it leaves none
 * out. The engines route the fabric only if the change is too large for a
 * repair of their last tables. */
static bool
choose(struct route_job *job, const struct graph *g, const struct graph *whole,
       GError **error)
{
	const struct snapshot *n = job->subnet;
	const struct choice_wish wish = {
		.engine = job->params.engine,
		.order = job->params.order,
		.require_deadlock_free = job->params.require_deadlock_free,
		.ranks_by = job->ranks_by,
		.in_force = job->in_force,
		.makes_room = job->makes_room,
	};
	g_autofree uint8_t *roots = job->params.roots ?
		g_new0(uint8_t, g->n_switches) : NULL;
	g_autofree uint8_t *io = mark_io(g, job);
	struct lft *held = route_job_held(job, g);
	const struct engine_input in = {
		.g = g,
		.whole = whole,
		.previous = held,
		.unread = job->unread,
		.ranks = job->ranks,
		.is_root = roots,
		.is_io = io,
		.n_threads = job->params.threads,
	};
	bool ok = true;

	for (uint32_t sw = 0; roots && sw < g->n_switches; sw++)
		roots[sw] = guid_list_has(job->params.roots,
			n->nodes[n->switches[sw]].info.node_guid);
	choice_clear(&job->choice);
	if (!job->repair || !repair_tables(job->repair, &in, &job->choice)) {
		g_clear_pointer(&job->repair, repair_free);
		ok = choose_tables(&wish, &in, &job->choice, error);
	}
	lft_free(held);
	return ok;
}

/* Links to be avoided are used if a pair would lose its path without them; those
 * of ports that did not answer are not, but the held tables may use them. */
static void
route_fabric(struct route_job *job)
{
	struct graph *g = graph_new(job->subnet, job->lids);
	g_autoptr(GPtrArray) none = g_ptr_array_new();
	/* then a switch forwards by entries that no repair looks at */
	bool is_mute = job->unread || graph_has_mute(g);
	struct graph *whole = NULL;
	const struct choice *c = &job->choice;

	if (is_mute)
		g_clear_pointer(&job->repair, repair_free);
	if (job->is_avoiding || job->subnet->n_faults)
		whole = graph_new_whole(job->subnet, job->lids);
	job->ok = choose(job, g, whole, job->is_avoiding ? NULL : &job->error);
	if (job->is_avoiding &&
	    (!job->ok || job->choice.alone.reach.lost_hosts)) {
		graph_free(g);
		job->all = avoid_mark(snapshot_ref(job->subnet), none);
		g = graph_new(job->all, job->lids);
		job->ok = choose(job, g, whole, &job->error);
	}
	job->is_repaired = job->repair != NULL;
	if (job->ok && c->safety != CHOICE_SAFE)
		job->cycle = channels_print(whole ? whole : g,
			c->safety == CHOICE_DRAIN ? &c->together :
			&c->alone.channels);
	if (job->ok && !job->repair && !is_mute) {
		/* hosts that do not answer send as well */
		for (uint32_t sw = 0; whole && sw < g->n_switches; sw++)
			g->n_senders[sw] = whole->n_senders[sw];
		job->repair = repair_new(g, &job->choice);
	} else {
		graph_free(g);
	}
	graph_free(whole);
}

/* Packets to a group circle in a cable that joins a switch with itself, which no
 * graph has. Returns the number of ports. */
static uint32_t
cut_own(const struct snapshot *s, struct mft *mft)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct snapshot_port *p = &s->ports[i];
		const struct snapshot_node *node = &s->nodes[p->node];
		uint16_t *masks, bit = (uint16_t)(1u << p->num % 16);

		if (p->peer == SNAPSHOT_NONE || !snapshot_is_switch(node) ||
		    s->ports[p->peer].node != p->node ||
		    p->num / 16 >= mft->n_positions)
			continue;
		masks = mft_block(mft, node->sw_index, p->num / 16, 0);
		for (unsigned k = 0; k < mft->n_blocks * MFT_BLOCK; k++) {
			n += (masks[k] & bit) != 0;
			masks[k] &= (uint16_t)~bit;
		}
	}
	return n;
}

static void
cut(struct route_job *job)
{
	struct graph *g;
	struct lft *held;

	job->n_cut = cut_own(job->subnet, job->trees);
	if (job->repair) {
		job->n_cut += repair_cut_trees(job->repair, job->trees);
		return;
	}
	g = graph_new_whole(job->subnet, job->lids);
	held = route_job_held(job, g);
	job->n_cut += choose_cut_trees(g, held, &job->choice, job->trees);
	lft_free(held);
	graph_free(g);
}

static void
judge_held(struct route_job *job)
{
	static const struct engine held = { .name = "held" };
	struct graph *g = graph_new(job->subnet, job->lids);
	struct lft *used = choose_held(g, job->seen);
	struct choice *c = &job->choice;

	*c = (struct choice){
		.engine = &held, .lft = lft_ref(job->seen),
		.reason = g_strdup("the tables that the switches hold"),
		.notes = g_ptr_array_new_with_free_func(g_free),
	};
	verify_tables(g, used ? used : job->seen, NULL, NULL, &c->alone);
	if (c->alone.channels.n_looped) {
		c->safety = CHOICE_LOOP;
		c->warning = channels_print(g, &c->alone.channels);
	}
	job->ok = true;
	lft_free(used);
	graph_free(g);
}

static void
route_job_compute(void *values)
{
	struct route_job *job = values;
	int64_t start = g_get_monotonic_time();

	if (job->trees)
		cut(job);
	else if (job->observes)
		judge_held(job);
	else
		route_fabric(job);
	job->us = g_get_monotonic_time() - start;
}

struct route_job *
route_job_new(const struct route_params *params)
{
	struct route_job *job = g_new0(struct route_job, 1);
	unsigned n = 0;

	job->params = *params;
	while (params->order && params->order[n])
		n++;
	if (params->order)
		job->params.order = g_memdup2(params->order,
				(n + 1) * sizeof(*params->order));
	if (params->roots)
		g_array_ref(params->roots);
	if (params->compute_nodes)
		g_array_ref(params->compute_nodes);
	if (params->io_nodes)
		g_array_ref(params->io_nodes);
	if (!params->threads)
		job->params.threads = g_get_num_processors();
	return job;
}

static void
route_job_free(void *values)
{
	struct route_job *job = values;

	snapshot_unref(job->subnet);
	if (job->all)
		snapshot_unref(job->all);
	lid_map_free(job->lids);
	lft_free(job->seen);
	g_clear_pointer(&job->parts, g_array_unref);
	g_free(job->unread);
	g_free((gpointer)job->params.order);
	g_free(job->ranks_by);
	g_free(job->in_force);
	g_free(job->ranks);
	g_clear_pointer(&job->params.roots, g_array_unref);
	g_clear_pointer(&job->params.compute_nodes, g_array_unref);
	g_clear_pointer(&job->params.io_nodes, g_array_unref);
	repair_free(job->repair);
	mft_free(job->trees);
	g_clear_error(&job->error);
	choice_clear(&job->choice);
	g_free(job->cycle);
	g_free(job);
}

struct beside_job *
route_job_start(struct route_job *job, struct beside *b,
		void (*done)(void *job, void *data), void *data)
{
	const struct beside_task task = {
		route_job_compute, done, route_job_free,
	};

	return beside_run(b, &task, job, data);
}
