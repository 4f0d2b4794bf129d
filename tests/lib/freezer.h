/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A process that can be stopped, as by SIGSTOP, or by a machine that gives it no
 * processor: nothing of it runs, its timers are late, and the MADs that arrive, or
 * that the kernel returns to it, lie in its socket. When it goes on, all timers that
 * are late come first, in the order of their times, then the MADs, as in a main
 * loop.
 */
#ifndef MINISM_TESTS_FREEZER_H
#define MINISM_TESTS_FREEZER_H

#include "sm/io/transport.h"

struct freezer;

/* Of a transport that has no timer yet, in virtual time; it is freed with it. */
struct freezer *freezer_new(struct transport *t);
void freezer_freeze(struct freezer *f);
void freezer_thaw(struct freezer *f);

#endif
