/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What carries the MADs of this run, and who looks on: a port of this machine
 * (backend_open_port()), or what another program puts in its place.
 */
#ifndef MINISM_SM_BACKEND_H
#define MINISM_SM_BACKEND_H

#include "sm/config/options.h"
#include "sm/io/stream.h"
#include "sm/io/transport.h"
#include "sm/io/umad.h"
#include "sm/sweep/sweep.h"

struct backend_hooks {
	/* from the main loop: the run is to end */
	void (*over)(void *data);
	/* what becomes of a port of this machine; also while it is opened */
	umad_event_fn port;
	/* output, of this name, is not read in time */
	void (*lost)(const char *name, void *data);
	void *data;
};

/* A backend begins with this one; its functions get it. */
struct backend {
	struct transport *transport;
	struct stream *out;	/* standard output */
	struct backend_hooks hooks;
	/* The decisions of a sweep and its end; NULL: nobody looks on. */
	void (*note)(enum sweep_note note, const struct sweep *s, void *b);
	void (*end)(const struct sweep_report *r, struct backend *b);
	/* Frees it, after everything that uses the transport. False with an
	 * error: not everything could be written. */
	bool (*close)(struct backend *b, GError **error);
	/* Sets IsSM, see umad_show(); NULL: nobody sees this manager or not. */
	void (*show)(bool shown, void *b);
	bool hidden;		/* others do not see this manager */
};

/* How standard output and captures of this run are written. */
struct stream_how backend_stream(const struct options *conf,
				 const struct backend_hooks *hooks);

/* The port that conf chooses. A run that only plans does not set IsSM. NULL
 * with an error. */
struct backend *backend_open_port(const struct options *conf,
				  const struct backend_hooks *hooks,
				  GError **error);

/* Does this run end with a plan? */
bool backend_only_plans(const struct options *conf);

#endif
