/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics and groups for the tests of multicast trees, judged by the oracle.
 */
#ifndef MINISM_TESTS_MULTICAST_LAB_H
#define MINISM_TESTS_MULTICAST_LAB_H

#include "routing/multicast.h"
#include "tests/lib/oracle.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/unit.h"

#define MLID		0xc000u
#define MAX_GROUPS	64u
#define MAX_MEMBERS	400u

struct group_plan {
	struct multicast_group groups[MAX_GROUPS];
	struct multicast_member members[MAX_GROUPS][MAX_MEMBERS];
	uint32_t n;
	/* The turns that the trees may take, of the tables in f->out; or NULL:
	 * those of the order. */
	const struct channels *channels;
	struct oracle_verdict v;	/* of the trees of the last plan_route() */
};

/* With the ranks of its order in f->out. Takes over `s`. */
void lab_index(struct fabric *f, struct snapshot *s);
/* A generated fabric; `fail` per mille of the cables are taken away. */
void lab_init(struct fabric *f, const char *spec, unsigned fail, uint64_t seed);

/* A test on a generated fabric, with room for groups. */
#define GROUP_TEST(name, ...) \
	static void name##_on(struct fabric *f, struct group_plan *p); \
	TEST(name) \
	{ \
		g_autofree struct group_plan *p = g_new0(struct group_plan, 1); \
		struct fabric f; \
		lab_init(&f, __VA_ARGS__); \
		name##_on(&f, p); \
		fabric_clear(&f); \
	} \
	static void name##_on(struct fabric *f, struct group_plan *p)

#define AUTO_OUTPUT \
	__attribute__((cleanup(multicast_output_clear))) struct multicast_output

/* n empty groups, MLIDs from MLID on. */
void plan_init(struct group_plan *p, uint32_t n);
void plan_add_port(struct group_plan *p, uint32_t group, uint32_t sw,
		   uint8_t port, bool receives);
void plan_add(struct group_plan *p, uint32_t group, const struct fabric *f,
	      uint32_t target, bool receives);
bool plan_has(const struct group_plan *p, uint32_t group, uint32_t sw,
	      uint8_t port);
/* Hosts and switches at random, no port twice; one in five only sends. */
void plan_fill(struct group_plan *p, const struct fabric *f, uint32_t n,
	       uint64_t *prng);
/* The trees, in which every receiver gets one copy from each member; no other
 * port gets one; no mask has a cable that no packet takes. New trees close no loop
 * with the tables of which the channels are. */
struct multicast_output plan_route(const struct fabric *f,
				   struct group_plan *p,
				   const struct mft *previous);
/* Only those are lost to which no cables lead. */
void check_lost(const struct fabric *f, const struct group_plan *p,
		const struct multicast_output *out);
uint32_t lost_switches(const struct multicast_output *out, uint16_t mlid);

void assert_same_masks(const struct mft *a, const struct mft *b);
/* Has the mask of a switch any port of the group? */
bool at_switch(const struct mft *mft, uint32_t sw, uint32_t group);
bool same_group(const struct mft *a, const struct mft *b, uint32_t group);
/* Is every bit of the group in a also in b? */
bool is_part(const struct mft *a, const struct mft *b, uint32_t group);

#endif
