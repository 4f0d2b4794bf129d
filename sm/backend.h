/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What carries the MADs of this run: a port of this machine, or a simulated
 * fabric in this process.
 */
#ifndef MINISM_SM_BACKEND_H
#define MINISM_SM_BACKEND_H

#include "sm/config/options.h"
#include "sm/io/stream.h"
#include "sm/io/transport.h"
#include "sm/io/umad.h"
#include "topology/snapshot.h"

struct watch;

struct backend_hooks {
	/* a person ends the run */
	void (*over)(void *data);
	/* what becomes of a port of this machine; also while it is opened */
	umad_event_fn port;
	/* output, of this name, is not read in time */
	void (*lost)(const char *name, void *data);
	void *data;
};

struct backend {
	struct transport *transport;
	struct watch *watch;	/* see sm/watch.h; NULL: none */
	struct stream *out;	/* standard output */

	/* private */
	struct sim *sim;	/* NULL: not simulated */
	struct snapshot *fabric;	/* its */
	GSource *source;	/* drives sim */
	struct transport *port;	/* of this machine, below transport; NULL */
	struct backend_hooks hooks;
};

/* By conf->simulate, else the port that conf chooses. A run that only
 * plans does not set IsSM. NULL with an error. */
struct backend *backend_open(const struct options *conf,
			     const struct backend_hooks *hooks,
			     GError **error);

/* Do other managers see this one? See umad_show(). */
bool backend_is_shown(const struct backend *b);
void backend_show(bool shown, void *backend);

/* The fabric that --simulate names, as its file or formula has it; the caller
 * gives up the reference. */
struct snapshot *backend_load_fabric(const struct options *conf,
				     GError **error);

/* After everything that uses the transport. False with an error if a capture
 * could not be written. */
bool backend_close(struct backend *b, GError **error);

#endif
