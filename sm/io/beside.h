/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work beside the main loop: what computes for long, or waits for a disk.
 */
#ifndef MINISM_IO_BESIDE_H
#define MINISM_IO_BESIDE_H

#include "sm/io/transport.h"

struct beside;
struct beside_job;

/*
 * work() may read and write its values only, and what they have references on
 * if that is immutable; it does not log. done() is called on the loop, after
 * work(), unless the job was cancelled (NULL: nothing is to be done). free() is
 * called in either case, last; on the loop, unless beside_free() has left the
 * thread behind.
 */
struct beside_task {
	void (*work)(void *values);
	void (*done)(void *values, void *data);
	void (*free)(void *values);
};

/* A thread, from its first job on; jobs run in the order in which they were
 * started. t not in real time, a run that can be repeated: there is no thread; a
 * job runs on the loop, `takes_us` of t's clock after the one before it. t is
 * borrowed; NULL, for what no run repeats: a thread. */
struct beside *beside_new(struct transport *t, int64_t takes_us);

/* Jobs that were not cancelled are finished first, with those that they start
 * in done(). False: one of them did not end within wait_us of real time. A
 * thread in a job is left behind with all that it uses. */
bool beside_free(struct beside *b, int64_t wait_us);

/* Takes over `values`, copies the task. done() gets `data`, and is never called from inside this
 * function. The job is valid until done(). b NULL: all of it happens at once, and
 * there is no job. */
struct beside_job *beside_run(struct beside *b, const struct beside_task *task,
			      void *values, void *data);
/* Its result is dropped; work() is not called if it has not begun. */
void beside_cancel(struct beside_job *job);

#endif
