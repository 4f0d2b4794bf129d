/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics with tables, for the tests of engines: made from a description or
 * from a snapshot, routed, and routed again after a change.
 */
#ifndef MINISM_TESTS_ROUTE_LAB_H
#define MINISM_TESTS_ROUTE_LAB_H

#include "routing/engine.h"
#include "routing/select.h"
#include "routing/verify.h"
#include "tests/lib/oracle.h"

struct fabric {
	const char *spec;	/* drawn by that, */
	uint64_t seed;
	unsigned fail;		/* per mille of the cables that are lost */
	const struct engine *engine;	/* NULL: auto */
	struct snapshot *s;
	struct lid_map *lids;
	struct graph *g;
	struct engine_input in;	/* may be filled until it is routed */
	struct engine_output out;
	struct choice choice;	/* and why there is none */
	GError *error;
};

/* Of a formula or a shape (shapes.h); may be written. Seed 0: GUIDs in the order
 * of construction. */
struct snapshot *lab_generate(const char *spec, uint64_t seed,
			    unsigned fail_per_mille);

/* Takes over `s`; not routed yet. */
void fabric_open(struct fabric *f, const struct engine *engine,
		 struct snapshot *s, unsigned lmc);
/* Of lab_generate(); links are Active, since a host that cannot send yet closes no
 * loop. */
void fabric_draw(struct fabric *f, const char *spec, uint64_t seed,
		 unsigned fail_per_mille, unsigned lmc);
void fabric_route(struct fabric *f);
void fabric_build(struct fabric *f, const struct engine *engine,
		  struct snapshot *s, unsigned lmc);	/* both */
void fabric_clear(struct fabric *f);

/* Routes it as a manager does, with what the switches hold: by f->engine, or by
 * any wish, in place of the choice of before. False: it is refused. */
void fabric_choose(struct fabric *f);
bool fabric_try(struct fabric *f, const struct choice_wish *wish);

/* The fabric of `before` as it is now, with what is known from before: tables,
 * LIDs, order. Takes over `s`. */
void fabric_follow(struct fabric *f, struct snapshot *s,
		   const struct fabric *before);

/* The oracle's verdict of tables. That of the product, which r gets in place of
 * what it held, is the same, whatever order it is given as a hint. */
void fabric_judge(const struct fabric *f, const struct lft *lft,
		  const struct lft *before, struct oracle_verdict *v,
		  struct verify_result *r);
/* These tables lose no pair and have no loop, but a credit loop of an engine that
 * may have one. */
void fabric_expect_sound(const struct fabric *f, const struct lft *lft,
			 struct oracle_verdict *v);

/* By which edge `sw` sends to a LID, SNAPSHOT_NONE if to no switch. */
uint32_t fabric_edge_to(const struct fabric *f, uint32_t sw, uint32_t lid);

/* The most flows on a channel, all to all; nothing may be lost. */
uint64_t fabric_max_load(const struct fabric *f, double *mean);

/* The nth cabled port of a switch that leads to a switch, or to a CA;
 * SNAPSHOT_NONE if there are not so many. */
uint32_t lab_find_port(const struct snapshot *s, uint32_t sw, bool to_switch,
		       uint32_t nth);

void lab_cut(struct snapshot *s, uint32_t port);

/* By which port a switch sends to another one, by the first of its cables to
 * that; LFT_NO_PATH without one. */
uint8_t lab_port_to(const struct graph *g, uint32_t sw, uint32_t peer);
/* The first host at a switch, or its port 0. */
const struct graph_target *lab_target(const struct graph *g, uint32_t sw,
				      bool is_host);

/* Entries of switches for what is at themselves. */
void lab_deliver(const struct graph *g, struct lft *lft);
/* All ways clockwise round ring(n;h), whose switches are numbered round it; they
 * end nowhere. */
void lab_go_round(const struct graph *g, struct lft *lft);

/* An update of what the switches hold: no step has a loop with the one before it
 * nor sends packets round, and the last one leaves the tables of the choice; so
 * says the oracle, whose case this is but for the tables. */
void lab_judge_update(const struct oracle_case *of, const struct lft *held,
		      const struct choice *c);

/* Makes n entries wrong, in one of the ways in which entries are. */
void lab_spoil(const struct graph *g, struct lft *lft, uint32_t n,
	       uint64_t *rng);

/* Blocks that differ. */
uint32_t lab_count_blocks(const struct lft *a, const struct lft *b);

#endif
