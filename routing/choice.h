/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The forwarding tables that routing chose, with what was found out about them.
 */
#ifndef MINISM_ROUTING_CHOICE_H
#define MINISM_ROUTING_CHOICE_H

#include "routing/engine.h"
#include "routing/transition.h"
#include "routing/verify.h"

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
	bool is_mended;		/* around lost cables: all loads in its texts are
				   those of the tables before */
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
	bool waits;		/* none of it is safe as long as what a switch
				   may hold comes back, see struct lft */
	bool hosts_wait;	/* links of hosts that are not Active yet are
				   activated after all tables are written */
	struct lft *bridge;	/* CHOICE_DRAIN, or entries of LIDs without an
				   owner are cleared first: tables of the
				   first stage; or NULL */
	GArray *later;		/* with bridge: see transition_make() */
};

void choice_clear(struct choice *c);
/* The same without the reasons and stages. */
void choice_drop_tables(struct choice *c);

#endif
