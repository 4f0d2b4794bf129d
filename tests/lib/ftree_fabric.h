/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric with its fat-tree tables, for tests: made, damaged, walked.
 */
#ifndef MINISM_TESTS_FTREE_FABRIC_H
#define MINISM_TESTS_FTREE_FABRIC_H

#include "routing/ftree.h"

#define FAR		UINT32_MAX
#define N_ELEMENTS(a)	(sizeof(a) / sizeof((a)[0]))

struct fabric {
	struct subnet *s;
	struct lid_map *lids;
	struct graph *g;
	uint32_t *edge_of;
	struct engine_input in;
	struct engine_output out;
	struct ftree_report *report;
};

/* Takes over `s`; not routed yet: `in` may still be filled. */
void fabric_open(struct fabric *f, struct subnet *s);
void fabric_route(struct fabric *f);	/* fails the test if refused */
void fabric_make(struct fabric *f, const char *spec, uint64_t seed,
		 unsigned fail_per_mille);
void fabric_clear(struct fabric *f);

/* GUIDs in random order. The second may be written. */
struct subnet *generate(const char *spec, uint64_t seed,
			unsigned fail_per_mille);
struct subnet *generate_to_edit(const char *spec, uint64_t seed,
				unsigned fail_per_mille);

/* A cable's ends part, both of them; two ends are joined. */
void cut(struct subnet *s, uint32_t port);
void plug(struct subnet *s, uint32_t a, uint32_t b);

/* The nth cabled port of a switch that leads to a switch, or to none;
 * SUBNET_NONE if there are not so many. */
uint32_t find_port(const struct subnet *s, uint32_t sw, bool to_switch,
		   uint32_t nth);

/* The nth switch with hosts, or without; there is one. */
uint32_t find_switch(const struct subnet *s, bool with_hosts, uint32_t nth);

/* Takes away all its cables to switches. */
void drop_switch(struct subnet *s, uint32_t sw);

/* The edge by which `sw` sends on to `lid`, SUBNET_NONE if to no switch. */
uint32_t edge_to(const struct fabric *f, uint32_t sw, uint16_t lid);

/* Hops of the way from `sw` to a target; FAR: it does not get there. Fails
 * the test if it gets anywhere else, or goes round. */
uint32_t walk(const struct fabric *f, uint32_t sw,
	      const struct graph_target *to);

/* From a CA or to one. */
bool is_data(const struct fabric *f, uint32_t sw,
	     const struct graph_target *to);

/* Least hops from each switch to `to`, up and then down between adjacent
 * ranks: [sw] if only down, [n + sw] if up first. */
void measure_tree(const struct fabric *f, uint32_t to, uint32_t *hops);

/* Everything that has a way in the tree has the shortest; gives back how many
 * pairs of data have no way at all though there are cables. */
uint64_t check_ways(const struct fabric *f);

/* By Kahn's sort: can all channels be put in order? */
bool is_deadlock_free(const struct fabric *f);

/* check_ways() is 0, there is no deadlock, and the report agrees; else the
 * test fails with a line that tells the fabric. */
void assert_sound(const struct fabric *f, const char *spec, uint64_t seed,
		  unsigned damage);

/* The most flows on one channel, of all shifts by a multiple of `step`; hosts
 * by the place of their leaf and by port, without those marked by target. */
uint32_t measure_shifts(const struct fabric *f, const uint8_t *leave_out,
			uint32_t step);

void assert_same_tables(const struct lft *a, const struct lft *b);

#endif
