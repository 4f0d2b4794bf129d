/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport of this run with its capture: a port of this machine
 * (backend_open_port()), or the simulated fabric of minism-sim.
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
	/* output, of this name, is not read in time, or not written */
	void (*lost)(const char *name, void *data);
	void *data;
};

/* A backend begins with this one; its functions get it. */
struct backend {
	struct transport *transport;
	struct stream *out;	/* standard output */
	struct backend_hooks hooks;
	/* Called with the decisions of a sweep, and with its end; NULL: neither
	 * --pcap nor an option of minism-sim needs them. */
	void (*note)(enum sweep_note note, const struct sweep *s, void *b);
	void (*end)(const struct sweep_report *r, struct backend *b);
	/* Frees it, after everything that uses the transport. False with an
	 * error: not everything could be written. */
	bool (*close)(struct backend *b, GError **error);
	/* Sets IsSM, see umad_show(); NULL: the port has no such capability. */
	void (*show)(bool shown, void *b);
	bool hidden;		/* others do not see this manager */
};

/* How standard output and captures of this run are written. */
struct stream_how backend_stream(const struct options *conf,
				 const struct backend_hooks *hooks);

/* The port that conf chooses. A run that only reads does not set IsSM. NULL
 * with an error. */
struct backend *backend_open_port(const struct options *conf,
				  const struct backend_hooks *hooks,
				  GError **error);

/* Is nothing written to the fabric? */
bool backend_only_reads(const struct options *conf);

#endif
