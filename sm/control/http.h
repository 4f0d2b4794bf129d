/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pages over HTTP, by libmicrohttpd: who can connect can read them, so there is
 * nothing in them that changes anything, and by default nobody listens.
 */
#ifndef MINISM_CONTROL_HTTP_H
#define MINISM_CONTROL_HTTP_H

#include <glib.h>

struct http_page {
	const char *path;	/* "/metrics" */
	const char *type;	/* of its content */
	void (*write)(GString *out, void *data);
};

struct http;

/* Listens on "127.0.0.1:9683" or "[::1]:9683", served from the default main
 * context. Borrows pages and data. NULL: it cannot, or minism was built
 * without the library. */
struct http *http_open(const char *address, const struct http_page *pages,
		       size_t n_pages, void *data, GError **error);
/* Where it listens; of interest if port 0 was asked for. */
unsigned http_port(const struct http *h);
void http_close(struct http *h);

#endif
