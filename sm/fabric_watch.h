/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Compares the fabric with the expected one (topology/expected.h), which is a
 * part of the state text.
 */
#ifndef MINISM_SM_FABRIC_WATCH_H
#define MINISM_SM_FABRIC_WATCH_H

#include "sm/log.h"
#include "topology/expected.h"

struct state;

struct fabric_watch {
	struct expected *expected;
	struct state *state;	/* saves it; NULL: it is not saved */
	struct log *log;
};

struct fabric_watch *fabric_watch_new(struct log *log);
void fabric_watch_free(struct fabric_watch *w);

/* The fabric as the master's sweep left it. */
void fabric_watch_note(struct fabric_watch *w, const struct snapshot *s);

/* See expected_accept(). */
unsigned fabric_watch_accept(struct fabric_watch *w, const char *word);

#endif
