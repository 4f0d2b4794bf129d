/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pages over HTTP, by libmicrohttpd. They are not protected: every client that
 * can connect can read them. So they change nothing, and by default there is no
 * listener.
 */
#ifndef MINISM_CONTROL_HTTP_H
#define MINISM_CONTROL_HTTP_H

#include "sm/control/control.h"

struct http;

/* Listens on "127.0.0.1:9683" or "[::1]:9683", served from the default main
 * context. NULL: it cannot, or minism was built without the library. */
struct http *http_open(const char *address, const struct control_hooks *hooks,
		       GError **error);
/* The TCP port; for an address with port 0, the one that the kernel chose. */
unsigned http_port(const struct http *h);
/* A page that was being made is there. NULL is ignored. */
void http_wake(struct http *h);
void http_close(struct http *h);

#endif
