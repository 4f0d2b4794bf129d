/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Looking on while a subnet manager works: --explain, --pcap, --step. Nothing of it is there in
 * a run that does not ask for it.
 */
#ifndef MINISM_SM_WATCH_H
#define MINISM_SM_WATCH_H

#include "sm/config/options.h"
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

/* Sees from here on what passes *t, which becomes a transport that has taken
 * over what it was. NULL: the options ask for nothing, or (with an error) a
 * file cannot be written; then *t is as it was. steps is copied. */
struct watch *watch_open(const struct options *conf, struct transport **t,
			 const struct watch_steps *steps, GError **error);
/* After the transport is freed. NULL is ignored. False: not everything could
 * be written. */
bool watch_close(struct watch *w, GError **error);

/* Hears of the sweep's decisions; w NULL: nothing. */
void watch_sweep(struct watch *w, struct sweep_params *params);
void watch_end(struct watch *w, const struct sweep_report *r);

#endif
