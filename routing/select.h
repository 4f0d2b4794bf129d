/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses forwarding tables and verifies that they may be programmed. Runs the
 * engine that was asked for by name, or with `auto` compares several. Pure.
 */
#ifndef MINISM_ROUTING_SELECT_H
#define MINISM_ROUTING_SELECT_H

#include "routing/engine.h"
#include "routing/transition.h"
#include "routing/verify.h"

struct choice_wish {
	const struct engine *engine;	/* NULL: see order */
	/* Engines to try in this order, up to the first with safe tables;
	 * ends with NULL. NULL: compare all (auto). */
	const struct engine *const *order;
	bool require_deadlock_free;	/* also of an engine asked for by
					   name */
	/* The engine that made input->ranks; NULL: there are no ranks. */
	const char *ranks_by;
	const char *in_force;	/* auto: the present engine; NULL: none */
	bool makes_room;	/* for trees of groups: no held entry stays for
				   its own sake */
};

enum choice_safety {
	CHOICE_SAFE,	/* no credit loop, alone and with the held tables */
	CHOICE_DRAIN,	/* no credit loop alone, but one together with the
			   held tables, or these are not all known: the
			   update goes in stages, see bridge */
	CHOICE_LOOP,	/* a credit loop; this engine was asked for by name */
};

struct choice {
	const struct engine *engine;	/* that made the tables */
	enum choice_safety safety;
	char *reason;		/* why this engine; one line */
	struct lft *lft;
	bool keeps_held;	/* held entries stay, which the engine did not
				   leave room for trees of groups with */
	uint32_t *ranks;	/* engine_output.ranks */
	GPtrArray *notes;	/* engine_output.notes */
	char *warning;		/* auto: few cables carry most traffic; or
				   NULL */
	GPtrArray *compared;	/* of char *: a line for each candidate of
				   auto; NULL: there was no comparison */
	struct verify_result alone;
	struct channels_result together;	/* with the tables of
						   in->previous */
	bool held_loop;		/* the held tables have a loop themselves */
	bool is_blind;		/* CHOICE_DRAIN: not all held entries are known,
				   so all that change are cleared first */
	bool hosts_wait;	/* links of hosts that are not Active yet are
				   activated after all tables are written */
	struct lft *bridge;	/* CHOICE_DRAIN, or entries of LIDs without an
				   owner are cleared first: tables of the
				   first stage; or NULL */
	GArray *later;		/* with bridge: see transition_make() */
};

/* The tables that the switches hold (engine_input.previous) without the
 * entries into links that have just come up or that join a switch with
 * itself: they carry no packets, and are replaced before the link is
 * activated. A new reference; NULL: they hold no entry at all. */
struct lft *choose_held(const struct graph *g, struct lft *seen);

/*
 * False with ENGINE_ERROR_FABRIC if no tables may be programmed: the engine
 * cannot route this fabric, or its tables are not safe. The message has the
 * reason and, for a credit loop, its channels.
 */
bool choose_tables(const struct choice_wish *wish,
		   const struct engine_input *in, struct choice *choice,
		   GError **error);
void choice_clear(struct choice *choice);

/*
 * Switches keep their trees of groups while an update of the unicast tables is
 * written. mft: these trees; a port by which packets to a group would close a
 * credit loop together with the old and new tables of a step, or circle over a
 * cable that comes back, leaves its mask. g has the links to be avoided as well;
 * held: of choose_held(). Returns the number of these ports.
 */
uint32_t choose_cut_trees(const struct graph *g, struct lft *held,
			  const struct choice *choice, struct mft *mft);

#endif
