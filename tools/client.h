/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to a running manager, through its control socket: see
 * sm/control/control.h for the protocol.
 */
#ifndef MINISM_TOOLS_CLIENT_H
#define MINISM_TOOLS_CLIENT_H

#include <glib.h>
#include <stdint.h>

#include "sm/config/option.h"

#define CLIENT_AGAIN	7		/* CONTROL_AGAIN, */
#define CLIENT_USAGE	2		/* CONTROL_USAGE */
#define CLIENT_PATIENCE_US	(30 * G_USEC_PER_SEC)

#define CLIENT_ERROR client_error_quark()
GQuark client_error_quark(void);

/* Also exit statuses of minismctl. */
enum client_error {
	CLIENT_ERROR_WHICH = 2,		/* which manager is meant? */
	CLIENT_ERROR_SILENT = 3,	/* it does not answer, or not in full */
};

/* Which manager: the file of its socket, or the PortGUID of its port. Both NULL:
 * the only one that listens. */
struct client_place {
	char *socket, *guid;
};

/* Rows of a table; at: place of a struct client_place. */
#define CLIENT_OPTIONS(at) \
	{ NULL, "socket", 's', &option_file, \
	  (at) + offsetof(struct client_place, socket), 0, 0, NULL, \
	  "FILE", "The manager's control socket" }, \
	{ NULL, "guid", 'g', &option_name, \
	  (at) + offsetof(struct client_place, guid), 0, 0, NULL, \
	  "GUID", "The manager on the port with this PortGUID" }

/*
 * Sends `line`, with its newline, and all requests that continue it, and appends the
 * bodies of the answers to `body`. Returns the code of the last one. -1: there is no
 * whole answer to one of them within patience_us.
 * take gets the body behind each answer but the last, and may empty it; if it returns
 * false, CLIENT_AGAIN is returned. NULL: the body is gathered.
 * Waits meanwhile; uses nothing but its arguments, so any thread may call it.
 */
typedef bool (*client_take_fn)(GString *body, void *data);
int client_ask(const struct client_place *place, int64_t patience_us,
	       GString *line, GString *body, client_take_fn take, void *data,
	       GError **error);

#endif
