// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decisions as sentences: the election, LIDs, routes with their verification,
 * the plan, the end. Of a large fabric MANY lines of a kind are printed, and the
 * others are counted.
 */
#include "sm/decisions.h"

#include <inttypes.h>

#include "topology/each.h"

#define MANY	64u

/* Where the sentences go. */
struct teller {
	decision_fn fn;
	void *data;
};

G_GNUC_PRINTF(6, 7) static void
say(const struct teller *e, const char *what, const char *where,
    const char *why, const char *clause, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	e->fn(what, where, text, why, clause, e->data);
}

/* ---------------------------------------------------------------- election */

static void
tell_election(const struct teller *e, const struct sweep *s)
{
	static const char why[] = "the higher priority, then the lower GUID, "
		"is the master";
	static const char *const outcomes[] = {
		[ELECTION_MASTER] = "this SM is the master",
		[ELECTION_STANDBY] = "this SM is a standby",
		[ELECTION_HANDOVER] = "this SM hands over",
	};
	const struct election_peer *chosen;

	EACH_ITEM(const struct election_peer, peer, s->others)
		say(e, "election", snapshot_name_of(s->next.subnet, peer->port),
		    why, "IBA 14.4.1", "priority %u, GUID " GUID_FORMAT ", %s",
		    peer->info.priority, peer->info.guid,
		    sm_state_name(peer->info.state));
	say(e, "election", "", why, "IBA 14.4.1", "priority %u, GUID "
	    GUID_FORMAT ", %u other managers: %s", s->self.priority,
	    s->self.guid, s->others->len,
	    outcomes[election_decide(&s->self, s->others, &chosen)]);
}

/* -------------------------------------------------------------------- LIDs */

static void
tell_lids(const struct teller *e, const struct snapshot *s,
	  const struct lid_map *lids, const struct lid_range *memory,
	  size_t n_memory)
{
	unsigned n = 0;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint16_t lid = lids->base[p];
		g_autofree char *name = snapshot_port_name(s, p);
		const char *why = "the lowest that is free";

		if (!lid || n++ >= MANY)
			continue;
		for (size_t i = 0; i < n_memory; i++)
			if (memory[i].guid == s->ports[p].guid &&
			    memory[i].min == lid)
				why = "it had this one last time";
		if (s->ports[p].info.lid == lid)
			why = "the fabric has it so";
		say(e, "LID", name, "a port keeps its LID, since others have "
		    "it in their caches; new ones go switch by switch", "IBA 4.1.3",
		    "LID %u: %s", lid, why);
	}
	if (n > MANY)
		say(e, "LID", "", NULL, NULL, "and %u more ports", n - MANY);
}

/* ------------------------------------------------------------------ routes */

static void
tell_verdict(const struct teller *e, const struct graph *g,
	     const struct choice *c)
{
	const struct verify_reach *r = &c->alone.reach;
	const struct channels_result *ch = &c->alone.channels;
	g_autofree char *loop = channels_print(g, ch);
	g_autofree char *both = c->safety == CHOICE_DRAIN ?
		channels_print(g, &c->together) : NULL;

	say(e, "verify", "", "tables are followed from every switch to every "
	    "LID before any is written", NULL, "%" PRIu64 " pairs arrive, %"
	    PRIu64 " have no path, %" PRIu64 " loop, %" PRIu64 " end at a "
	    "wrong port", r->arrived, r->unrouted, r->looping, r->astray);
	say(e, "verify", "", "packets that wait for buffers in a circle never "
	    "move again", "IBA 7.9", "%u channels are in credit loops%s%s",
	    ch->n_looped, loop ? ": " : "", loop ? loop : "");
	if (both)
		say(e, "verify", "", "while tables are written, a switch may "
		    "have the old or the new ones", NULL, "old and new tables "
		    "mixed would have a credit loop, so the update takes steps: "
		    "%s", both);
}

static void
tell_routes(const struct teller *e, const struct snapshot *s,
	    const struct lid_map *lids, const struct choice *c)
{
	struct graph *g = graph_new_whole(s, lids);

	EACH_PTR(const char, line, c->compared)
		say(e, "candidate", "", NULL, NULL, "%s", line);
	say(e, "engine", "", NULL, NULL, "%s: %s", c->engine->name, c->reason);
	for (guint i = 0; i < MIN(c->notes->len, MANY); i++)
		say(e, "engine", "", NULL, NULL, "%s: %s", c->engine->name,
		    (char *)c->notes->pdata[i]);
	tell_verdict(e, g, c);
	graph_free(g);
}

/* -------------------------------------------------------------------- plan */

static void
tell_plan(const struct teller *e, const struct snapshot *s,
	  const struct plan *plan)
{
	static const struct {
		const char *what, *waits, *clause;
	} kinds[PLAN_N_KINDS] = {
		[PLAN_CHANGE_CLEAR] = { "Sets that clear PortStateChange",
			"wait for nothing: what changes from here on is seen "
			"again", "IBA 14.2.5.4" },
		[PLAN_TABLE] = { "blocks of P_Keys, SL to VL, VL arbitration",
			"wait for nothing, and hold back the link until they "
			"are written", "IBA 14.2.5.7" },
		[PLAN_PORT] = { "Sets of PortInfo that leave the state alone",
			"wait for nothing, but for one that switches the "
			"partition filter on: it waits for its P_Keys",
			"IBA 14.2.5.6" },
		[PLAN_LFT] = { "LFT blocks", "wait while a path that works "
			"would lead into a switch that is not written yet",
			"IBA 14.2.5.10" },
		[PLAN_MFT] = { "switches whose multicast entries above "
			"MulticastFDBTop are cleared", "wait for nothing, and "
			"hold back SwitchInfo", "IBA 14.2.5.4" },
		[PLAN_SWITCH] = { "Sets of SwitchInfo", "wait for the blocks "
			"of their switch: LinearFDBTop may not rise over what "
			"is not written", "IBA 14.2.5.4" },
		[PLAN_ARM] = { "ports to Armed", "wait until both ends are "
			"routed, have their P_Keys and are still those that "
			"were found", "IBA 14.3.6" },
		[PLAN_ACTIVATE] = { "ports to Active",
			"wait until both ends are Armed", "IBA 14.3.6" },
	};

	if (!plan->n_steps)
		say(e, "plan", "", NULL, NULL, "nothing: %u nodes are as they "
		    "should be", s->n_nodes);
	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		if (plan->first[k + 1] != plan->first[k])
			say(e, "plan", "", NULL, kinds[k].clause, "%u %s %s",
			    plan->first[k + 1] - plan->first[k], kinds[k].what,
			    kinds[k].waits);
}

void
decisions_of_note(enum sweep_note note, const struct sweep *s, decision_fn fn,
		  void *data)
{
	const struct teller e = { fn, data };

	switch (note) {
	case SWEEP_NOTE_STATE:
		break;
	case SWEEP_NOTE_ELECTED:
		tell_election(&e, s);
		break;
	case SWEEP_NOTE_LIDS:
		tell_lids(&e, s->next.subnet, s->next.lids,
			  (const void *)s->memory->lids.ranges->data,
			  s->memory->lids.ranges->len);
		break;
	case SWEEP_NOTE_ROUTED:
		tell_routes(&e, s->next.subnet, s->next.lids, &s->next.choice);
		break;
	case SWEEP_NOTE_PLANNED:
		tell_plan(&e, s->next.subnet, s->run.plan);
		break;
	}
}

void
decisions_of_end(const struct sweep_report *r, decision_fn fn, void *data)
{
	static const char *const ends[] = {
		[SWEEP_END_PLANNED] = "planned, nothing is sent",
		[SWEEP_END_UP] = ("SUBNET UP: each link is Active and each "
				  "table is as desired"),
		[SWEEP_END_NOT_UP] = "there are problems",
		[SWEEP_END_STANDBY] = "another SM is the master",
		[SWEEP_END_FAILED] = "failed",
	};
	const struct teller e = { fn, data };

	say(&e, "end", "", NULL, NULL, "%s%s%s", ends[r->end],
	    r->error ? ": " : "", r->error ? r->error : "");
	EACH_PTR(const char, line, r->verdict ? r->verdict->lines : NULL)
		say(&e, "end", "", NULL, NULL, "%s", line);
}
