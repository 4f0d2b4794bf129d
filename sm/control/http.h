/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pages over HTTP, by libmicrohttpd: who can connect can read them, so there is
 * nothing in them that changes anything, and by default nobody listens.
 */
#ifndef MINISM_CONTROL_HTTP_H
#define MINISM_CONTROL_HTTP_H

#include "sm/control/control.h"

struct http;

/* Listens on "127.0.0.1:9683" or "[::1]:9683", served from the default main
 * context. NULL: it cannot, or minism was built without the library. */
struct http *http_open(const char *address, const struct control_hooks *hooks,
		       GError **error);
/* Where it listens; of interest if port 0 was asked for. */
unsigned http_port(const struct http *h);
void http_close(struct http *h);

#endif
