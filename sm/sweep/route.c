// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From a sweep's values to an engine's.
 *
 * Lists of GUIDs become marks by switch and by target, the ranks of the memory
 * become those of this snapshot's switches, and the tables that the switches
 * hold are what an engine may keep. Nothing here decides about a route.
 */
#include "sm/sweep/route.h"

#include "sm/config/guid_list.h"

#define NOTES_MAX	20u	/* lines of an engine that are logged */

static uint8_t *
mark_roots(const struct graph *g, const GArray *roots)
{
	const struct snapshot *s = g->subnet;
	uint8_t *marks;

	if (!roots)
		return NULL;
	marks = g_new0(uint8_t, g->n_switches);
	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		marks[sw] = guid_list_has(roots,
			s->nodes[s->switches[sw]].info.node_guid);
	return marks;
}

/* A list of compute nodes says who is none; one of I/O nodes who is one. */
static uint8_t *
mark_io(const struct graph *g, const struct lid_map *lids,
	const struct route_params *params)
{
	const struct snapshot *s = g->subnet;
	uint8_t *marks;

	if (!params->compute_nodes && !params->io_nodes)
		return NULL;
	marks = g_new0(uint8_t, g->n_targets);
	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		uint64_t guid = s->ports[lids->owner[t->lid]].guid;

		marks[i] = t->port != 0 &&
			(guid_list_has(params->io_nodes, guid) ||
			 (params->compute_nodes &&
			  !guid_list_has(params->compute_nodes, guid)));
	}
	return marks;
}

bool route_fabric(const struct route_params *params,
		  const struct persist *memory, const struct snapshot *s,
		  const struct lid_map *lids, const struct lft *held,
		  struct log *log, struct choice *choice, GError **error)
{
	struct graph *g = graph_new(s, lids);
	g_autofree uint8_t *roots = mark_roots(g, params->roots);
	g_autofree uint8_t *io = mark_io(g, lids, params);
	struct choice_wish wish = {
		.engine = params->engine,
		.order = params->order,
		.require_deadlock_free = params->require_deadlock_free,
		.in_force = persist_engine(memory, s),
	};
	g_autofree uint32_t *ranks = persist_ranks(memory, s, &wish.ranks_by);
	const struct engine_input in = {
		.g = g,
		.previous = held,
		.ranks = ranks,
		.is_root = roots,
		.is_io = io,
		.n_threads = params->threads ? params->threads :
			g_get_num_processors(),
	};
	int64_t start = g_get_monotonic_time();
	bool ok = choose_tables(&wish, &in, choice, error);

	log_say(log, LOG_VERBOSE, "route", "%s: %u LIDs on %u switches "
		"routed and verified in %.1f ms",
		ok ? choice->engine->name : "no tables", lids->top,
		s->n_switches,
		(double)(g_get_monotonic_time() - start) / 1000);
	graph_free(g);
	return ok;
}

static void
report_notes(const struct choice *c, struct log *log)
{
	for (guint i = 0; i < c->notes->len; i++) {
		if (i == NOTES_MAX) {
			log_say(log, LOG_WARNING, "route", "%s: %u remarks "
				"more", c->engine->name, c->notes->len - i);
			break;
		}
		log_say(log, LOG_WARNING, "route", "%s: %s", c->engine->name,
			(char *)c->notes->pdata[i]);
	}
}

void
route_report(const struct choice *c, const struct snapshot *s,
	     const struct lid_map *lids, struct log *log,
	     enum log_level level)
{
	struct graph *g = graph_new(s, lids);
	g_autofree char *cycle = NULL;

	log_say(log, level, "route", "engine %s: %s", c->engine->name,
		c->reason);
	for (guint i = 0; c->compared && i < c->compared->len; i++)
		log_say(log, LOG_VERBOSE, "route", "candidate %s",
			(char *)c->compared->pdata[i]);
	report_notes(c, log);
	switch (c->safety) {
	case CHOICE_SAFE:
		if (c->held_loop)
			log_say(log, LOG_WARNING, "route", "the tables that "
				"the switches hold have a credit loop; it "
				"ends with this update");
		break;
	case CHOICE_DRAIN:
		cycle = channels_print(g, &c->together);
		log_say(log, LOG_WARNING, "route", "old and new tables have "
			"a credit loop together: what changes is taken out "
			"first. %s", cycle);
		break;
	case CHOICE_LOOP:
		cycle = channels_print(g, &c->alone.channels);
		log_say(log, LOG_WARNING, "route", "CREDIT LOOP: traffic can "
			"stop for good: %u channels are in loops; programmed "
			"because %s was asked for by name. %s",
			c->alone.channels.n_looped, c->engine->name, cycle);
		break;
	}
	graph_free(g);
}
