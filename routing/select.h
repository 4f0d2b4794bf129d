/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which tables does the fabric get, and may they be programmed?
 *
 * Runs the engine that was asked for, or with `auto` one after the other until
 * one suits, and verifies what comes out. Pure.
 */
#ifndef MINISM_ROUTING_SELECT_H
#define MINISM_ROUTING_SELECT_H

#include "routing/engine.h"
#include "routing/transition.h"
#include "routing/verify.h"

struct choice_wish {
	const struct engine *engine;	/* NULL: see order */
	/* The first whose tables are safe; ends with NULL. NULL: the best of
	 * all (auto). */
	const struct engine *const *order;
	bool require_deadlock_free;	/* even of one asked for by name */
	/* The engine that made input->ranks; NULL: none. */
	const char *ranks_by;
	const char *in_force;	/* auto: the engine of before; NULL: none */
};

enum choice_safety {
	CHOICE_SAFE,	/* by itself and together with the tables held */
	CHOICE_DRAIN,	/* by itself; together with the tables held there is a
			   credit loop, so the update goes in steps: see
			   bridge */
	CHOICE_LOOP,	/* has a credit loop: asked for by name */
};

struct choice {
	const struct engine *engine;	/* whose tables these are */
	enum choice_safety safety;
	char *reason;		/* why this engine, one line */
	struct lft *lft;
	uint32_t *ranks;	/* engine_output.ranks */
	GPtrArray *notes;	/* engine_output.notes */
	char *warning;		/* auto: traffic funnels; NULL: it does not */
	GPtrArray *compared;	/* of char *: auto's candidates, a line each;
				   NULL: nothing was compared */
	struct verify_result alone;
	const struct lft *joint_with;	/* tables of which `together` is */
	struct channels_result together;	/* with in->previous */
	bool held_loop;		/* the tables held have a loop already */
	bool hosts_wait;	/* a host whose link is not Active yet must stay
				   so until all tables are written */
	struct lft *bridge;	/* CHOICE_DRAIN: the first tables on the way */
	GArray *later;		/* likewise, see transition_make() */
};

/* What the switches hold (engine_input.previous), but for entries that lead into
 * a link that has just come, or from a switch to itself: they carry nothing, and
 * are to be gone before the link is up. A reference of its own. */
struct lft *choose_held(const struct graph *g, struct lft *seen);

/*
 * False with ENGINE_ERROR_FABRIC if no tables may be programmed: the engine
 * cannot route this fabric, or what it made is not safe. The message names the
 * reason and, for a loop, its channels.
 */
bool choose_tables(const struct choice_wish *wish,
		   const struct engine_input *in, struct choice *choice,
		   GError **error);
void choice_clear(struct choice *choice);

#endif
