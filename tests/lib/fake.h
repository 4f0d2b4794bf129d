/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric of obedient agents behind the scripted transport: it walks the
 * directed route of each SMP over a snapshot and answers Gets and Sets of
 * what a subnet manager uses. For unit tests of the shell; it judges nothing.
 */
#ifndef MINISM_TESTS_FAKE_H
#define MINISM_TESTS_FAKE_H

#include "tests/lib/auto.h"
#include "routing/tables.h"
#include "sm/mad/smp.h"
#include "tests/lib/scripted.h"
#include "topology/port_tables.h"
#include "topology/snapshot.h"

struct fake;
typedef bool fake_tamper_fn(struct fake *f, uint32_t node, uint8_t *answer,
			    void *data);

struct fake {
	struct transport *t;
	struct snapshot *s;		/* written by Sets */
	struct lft *lft;		/* by switch index */
	struct port_tables *tables;	/* what was not written is 0 */
	unsigned sets;
	/*
	 * Called before an answer is sent, which it may change; returns false
	 * to lose it. node: it answers; port: the one it was asked by
	 * (SNAPSHOT_NONE: by none, a hop 0 request). May be NULL.
	 */
	fake_tamper_fn *tamper;
	void *data;
};

/* A copy of `s` behind a new scripted transport. */
struct fake *fake_new(const struct snapshot *s);
void fake_free(struct fake *f);
void fake_tamper(struct fake *f, fake_tamper_fn *tamper, void *data);
AUTO_DEFINE(fake, fake_free)

#endif
