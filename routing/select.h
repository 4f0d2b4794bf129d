/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses forwarding tables and verifies that they may be programmed. Runs the
 * engine that was asked for by name, or with `auto` compares several. Pure.
 */
#ifndef MINISM_ROUTING_SELECT_H
#define MINISM_ROUTING_SELECT_H

#include "routing/choice.h"
#include "routing/engine.h"

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

/* The tables that the switches hold (engine_input.previous) without the
 * entries into links that have just come up or that join a switch with
 * itself: they carry no packets, and are replaced before the link is
 * activated; likewise its others. A new reference; NULL: they hold no entry at
 * all. */
struct lft *choose_held(const struct graph *g, struct lft *seen);

/*
 * False with ENGINE_ERROR_FABRIC if no tables may be programmed: the engine
 * cannot route this fabric, or its tables are not safe. The message has the
 * reason and, for a credit loop, its channels.
 */
bool choose_tables(const struct choice_wish *wish,
		   const struct engine_input *in, struct choice *choice,
		   GError **error);

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
