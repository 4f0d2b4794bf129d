/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Timers of a transport that note in which order they ring.
 */
#ifndef MINISM_TESTS_RINGS_H
#define MINISM_TESTS_RINGS_H

#include "sm/io/transport.h"

struct rings {
	struct transport *t;
	char order[16];		/* a letter for each */
	unsigned n;
	int64_t last;		/* when it rang last */
	unsigned victim;	/* a timer that `a` cancels */
};

void rings_add(struct rings *r, char name);

/* Timers; data is the rings. */
void rings_on_a(void *data);
void rings_on_b(void *data);
void rings_on_c(void *data);

/* Some, not started in the order of their times, one of which is cancelled and
 * one never due: they ring in order and not early. Runs the main loop. */
void rings_expect_order(struct rings *r);

#endif
