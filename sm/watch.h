/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Observing a running subnet manager: --explain, --pcap, --step. A run without
 * these options has no watch.
 */
#ifndef MINISM_SM_WATCH_H
#define MINISM_SM_WATCH_H

#include "sm/config/options.h"
#include "sm/io/stream.h"
#include "sm/io/transport.h"
#include "sm/lab/console.h"
#include "sm/sweep/sweep.h"

struct watch;

/* For a run that can be stepped: its fabric, and what ends it. */
struct watch_steps {
	struct console console;
	void (*end)(void *data);
	void *data;
};

/* Observes *t from now on, which is replaced by a transport around it. NULL: no
 * such option, or (with an error) a file cannot be written; then *t is as it
 * was. steps is copied. out: standard output, borrowed; a file is written in the
 * same way. */
struct watch *watch_open(const struct options *conf, struct transport **t,
			 const struct watch_steps *steps, struct stream *out,
			 GError **error);
/* After the transport is freed. NULL is ignored. False: not everything could
 * be written. */
bool watch_close(struct watch *w, GError **error);

/* Observes the sweep's decisions; w NULL: nothing. */
void watch_sweep(struct watch *w, struct sweep_params *params);
void watch_end(struct watch *w, const struct sweep_report *r);

#endif
