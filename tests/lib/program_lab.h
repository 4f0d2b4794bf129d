/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A plan carried out against the fake fabric: what is wanted, what is known,
 * and the run; for the tests of programming.
 */
#ifndef MINISM_TESTS_PROGRAM_LAB_H
#define MINISM_TESTS_PROGRAM_LAB_H

#include "sm/plan/isolation.h"
#include "sm/sweep/program.h"
#include "tests/lib/fake.h"

struct bench {
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;
	struct lft_seen *seen;
	struct port_tables *held;	/* NULL, as are the next two: */
	struct isolation_params params;	/* no tables of ports */
	struct isolation *isolation;
	struct desired w;
	struct plan *plan;	/* of the last run */
	struct fake *f;
	struct mad_client *x;
	struct program_result r;
	bool done;
	uint32_t host, gate;	/* not the SM's, and its switch's port */
};

/* Routed by min-hop; nothing is known of the forwarding tables. */
void bench_open(struct bench *b, const char *spec);
void bench_close(struct bench *b);

/* Plans from what is known, and carries it out. */
void bench_run(struct bench *b);

#endif
