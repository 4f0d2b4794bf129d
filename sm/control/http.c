// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * HTTP. libmicrohttpd reads requests and keeps connections; it has no thread,
 * but one epoll descriptor, which is a source of the main loop. Time-outs of
 * connections are looked at once a second while there are any.
 *
 * A connection ends LIFE_S after its begin, however busy it is: else a few that
 * send a byte now and then would take the place of all others. A request must
 * name the server by an address, localhost or the name of the machine: a page of
 * another server whose name was made to lead here (DNS rebinding) does not.
 *
 * No client may fill the main loop with its requests: what is made there is kept
 * for SHARE times as long as it took. So all clients together have a twentieth of
 * the loop for a page; that of some thousand hosts may be some seconds old. What
 * is made beside the loop is waited for: the connection is suspended until
 * http_wake().
 */
#include "config.h"

#include "sm/control/http.h"

#include <gio/gio.h>

#ifndef HAVE_MICROHTTPD

struct http *
http_open(const char *address, const struct control_hooks *hooks,
	  GError **error)
{
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
		    "%s: minism was built without libmicrohttpd", address);
	return NULL;
}

void
http_close(struct http *h)
{
}

unsigned
http_port(const struct http *h)
{
	return 0;
}

void
http_wake(struct http *h)
{
}

#else

#include <errno.h>
#include <glib-unix.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#define PORT		9683u	/* unless it is said */
#define CONNECTIONS_MAX	16u
#define FROM_ONE_MAX	12u	/* of one address */
#define PATIENCE_S	10u
#define LIFE_S		20
#define MEMORY_MAX	(16u * 1024)	/* of a connection's request */
#define SHARE		20

/* Pages are answers to requests that change nothing. */
static const struct {
	const char *path, *type, *request;
	bool needs_view;	/* else its code is about the fabric */
} http_pages[] = {
	{ "/", "text/html; charset=utf-8", "report", true },
	{ "/events", "application/json", "json events", false },
	{ "/metrics", "application/openmetrics-text; version=1.0.0; "
	  "charset=utf-8", "metrics", false },
	{ "/status", "application/json", "json status", false },
};

/* The page is one file with its script and style in it. */
static const char *const http_guards[][2] = {
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Content-Security-Policy", "default-src 'none'; script-src "
	  "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; "
	  "frame-ancestors 'none'" },
};

struct http_life {
	struct MHD_Connection *connection;
	int64_t end;		/* us, of the monotonic clock */
};

struct http {
	struct control_hooks hooks;
	struct {
		GString *body;	/* NULL: none was made */
		unsigned status;
		int64_t until;	/* us, of the monotonic clock */
	} kept[G_N_ELEMENTS(http_pages)];
	GArray *lives;		/* struct http_life, the oldest first */
	GPtrArray *waiting;	/* of struct MHD_Connection, suspended */
	struct MHD_Daemon *mhd;
	guint source, timer;
};

static enum MHD_Result
http_send(struct MHD_Connection *c, unsigned status, const char *type,
	  const char *body, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len,
		(char *)body, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < G_N_ELEMENTS(http_guards); i++)
		MHD_add_response_header(r, http_guards[i][0],
					http_guards[i][1]);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
send_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	return http_send(c, status, "text/plain", text, strlen(text));
}

static enum MHD_Result
send_page(struct http *h, struct MHD_Connection *c, size_t i)
{
	int64_t begin = g_get_monotonic_time();
	GString **body = &h->kept[i].body;
	enum control_code code;

	if (!*body || begin >= h->kept[i].until) {
		if (*body)
			g_string_free(*body, TRUE);
		*body = g_string_new(NULL);
		code = control_ask(&h->hooks, http_pages[i].request, *body);
		if (code == CONTROL_AGAIN) {
			g_string_free(g_steal_pointer(body), TRUE);
			MHD_suspend_connection(c);
			g_ptr_array_add(h->waiting, c);
			return MHD_YES;
		}
		h->kept[i].status = !code || !http_pages[i].needs_view ?
			MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
		h->kept[i].until = begin + (1 + SHARE) *
			(g_get_monotonic_time() - begin);
	}
	return http_send(c, h->kept[i].status,
			 h->kept[i].status == MHD_HTTP_OK ?
			 http_pages[i].type : "text/plain",
			 (*body)->str, (*body)->len);
}

static bool
is_own_name(struct MHD_Connection *c)
{
	const char *given = MHD_lookup_connection_value(c, MHD_HEADER_KIND,
						MHD_HTTP_HEADER_HOST);
	g_autoptr(GSocketConnectable) parsed = given ?
		g_network_address_parse(given, PORT, NULL) : NULL;
	const char *name;

	if (!parsed)
		return !given;	/* HTTP/1.0 */
	name = g_network_address_get_hostname(G_NETWORK_ADDRESS(parsed));
	return g_hostname_is_ip_address(name) ||
		g_ascii_strcasecmp(name, "localhost") == 0 ||
		g_ascii_strcasecmp(name, g_get_host_name()) == 0;
}

static enum MHD_Result
http_on_request(void *data, struct MHD_Connection *c, const char *path,
		const char *method, const char *version, const char *upload,
		size_t *n_upload, void **state)
{
	static int seen;
	struct http *h = data;
	g_autoptr(GString) paths = NULL;

	/* The first call has the head alone; what is uploaded is not read. */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	if (*n_upload) {
		*n_upload = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		return send_text(c, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "GET or HEAD\n");
	if (!is_own_name(c))
		return send_text(c, MHD_HTTP_MISDIRECTED_REQUEST,
				 "by address, localhost or the host's name\n");
	paths = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(http_pages); i++) {
		if (strcmp(http_pages[i].path, path) == 0)
			return send_page(h, c, i);
		g_string_append_printf(paths, "%s\n", http_pages[i].path);
	}
	return send_text(c, MHD_HTTP_NOT_FOUND, paths->str);
}

static void
http_on_connection(void *data, struct MHD_Connection *c, void **state,
		   enum MHD_ConnectionNotificationCode code)
{
	struct http *h = data;
	const struct http_life life = {
		c, g_get_monotonic_time() + LIFE_S * G_USEC_PER_SEC,
	};

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		g_array_append_val(h->lives, life);
		return;
	}
	for (guint i = 0; i < h->lives->len; i++)
		if (g_array_index(h->lives, struct http_life, i).connection ==
		    c) {
			g_array_remove_index(h->lives, i);
			return;
		}
}

/* What libmicrohttpd reads from it next is its end. */
static void
end_old(struct http *h)
{
	int64_t now = g_get_monotonic_time();

	for (guint i = 0; i < h->lives->len; i++) {
		const struct http_life *l = &g_array_index(h->lives,
							struct http_life, i);

		if (l->end <= now)
			shutdown(MHD_get_connection_info(l->connection,
				MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
				SHUT_RDWR);
	}
}

static gboolean
http_on_timer(gpointer data)
{
	struct http *h = data;
	const union MHD_DaemonInfo *info;

	end_old(h);
	MHD_run(h->mhd);
	info = MHD_get_daemon_info(h->mhd,
				   MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
	if (info && info->num_connections)
		return G_SOURCE_CONTINUE;
	h->timer = 0;
	return G_SOURCE_REMOVE;
}

static gboolean
http_on_event(gint fd, GIOCondition condition, gpointer data)
{
	struct http *h = data;

	MHD_run(h->mhd);
	if (!h->timer)
		h->timer = g_timeout_add_seconds(1, http_on_timer, h);
	return G_SOURCE_CONTINUE;
}

struct http *
http_open(const char *address, const struct control_hooks *hooks,
	  GError **error)
{
	g_autoptr(GSocketConnectable) parsed =
		g_network_address_parse(address, PORT, error);
	g_autoptr(GSocketAddress) numeric = NULL;
	struct sockaddr_storage at = { .ss_family = AF_UNSPEC };
	struct http *h;
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	if (!parsed)
		return NULL;
	numeric = g_inet_socket_address_new_from_string(
		g_network_address_get_hostname(G_NETWORK_ADDRESS(parsed)),
		g_network_address_get_port(G_NETWORK_ADDRESS(parsed)));
	if (!numeric) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
			    "%s is not ADDRESS:PORT such as 127.0.0.1:9683 or "
			    "[::1]:9683", address);
		return NULL;
	}
	if (!g_socket_address_to_native(numeric, &at, sizeof(at), error))
		return NULL;
	if (at.ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	h = g_new0(struct http, 1);
	h->hooks = *hooks;
	h->lives = g_array_new(FALSE, FALSE, sizeof(struct http_life));
	h->waiting = g_ptr_array_new();
	errno = 0;
	h->mhd = MHD_start_daemon(flags, 0, NULL, NULL, http_on_request, h,
				  MHD_OPTION_SOCK_ADDR, &at,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
				  MHD_OPTION_PER_IP_CONNECTION_LIMIT,
				  FROM_ONE_MAX,
				  MHD_OPTION_NOTIFY_CONNECTION,
				  http_on_connection, h,
				  MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE_S,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				  (size_t)MEMORY_MAX, MHD_OPTION_END);
	if (!h->mhd) {
		g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
			    "%s: %s", address, errno ? g_strerror(errno) :
			    "cannot listen there");
		g_array_unref(h->lives);
		g_ptr_array_unref(h->waiting);
		g_free(h);
		return NULL;
	}
	h->source = g_unix_fd_add(MHD_get_daemon_info(h->mhd,
			MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, G_IO_IN,
			http_on_event, h);
	return h;
}

/* They are asked for their pages once more, by the main loop. */
void
http_wake(struct http *h)
{
	for (guint i = 0; h && i < h->waiting->len; i++)
		MHD_resume_connection(h->waiting->pdata[i]);
	if (h)
		g_ptr_array_set_size(h->waiting, 0);
}

unsigned
http_port(const struct http *h)
{
	return MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void
http_close(struct http *h)
{
	if (!h)
		return;
	g_source_remove(h->source);
	if (h->timer)
		g_source_remove(h->timer);
	http_wake(h);
	MHD_stop_daemon(h->mhd);
	for (size_t i = 0; i < G_N_ELEMENTS(http_pages); i++)
		if (h->kept[i].body)
			g_string_free(h->kept[i].body, TRUE);
	g_array_unref(h->lives);
	g_ptr_array_unref(h->waiting);
	g_free(h);
}

#endif
