// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-web: what a running minism answers, as pages over HTTP.
 *
 * Flow: libmicrohttpd reads a request in a thread of its connection -> the text of
 * the page, if it is young enough -> else one question to the manager (client.h),
 * while other connections that want the same page wait for its lock. So clients
 * share one question, and no page waits for another one.
 *
 * Safety. Pages are not protected: every client that can connect can read them.
 * So they change nothing: each is one fixed request. A request must name the
 * server by an address, localhost or the name of the machine: a page of another
 * server whose name was made to lead here (DNS rebinding) does not. A connection
 * ends LIFE_S after its begin, however busy it is: else a few that send a byte
 * now and then would take the place of all others.
 *
 * Cost. No client may fill the manager's loop with requests: an answer is kept
 * for SHARE times as long as the manager took for it. So all clients together
 * have a twentieth of that loop for a page. The answer may have waited for a
 * manager that computes, so it is kept for KEPT_MAX_US at most.
 */
#include <fcntl.h>
#include <gio/gio.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/client.h"
#include "tools/show.h"
#include "tools/tool_options.h"
#include "topology/each.h"

#define ADDRESS		"127.0.0.1:9683"
#define PORT		9683u	/* unless it is said */
#define CONNECTIONS_MAX	16u
#define FROM_ONE_MAX	12u	/* of one address */
#define IDLE_S		10u
#define LIFE_S		20
#define MEMORY_MAX	(16u * 1024)	/* of a connection's request */
#define SHARE		20
#define KEPT_MAX_US	(10 * G_USEC_PER_SEC)
#define FAILED_US	G_USEC_PER_SEC	/* an error is kept for */

/* Pages are answers to requests that change nothing: those of commands, which are
 * made of a view; or the manager's own. */
static const struct {
	const char *path, *type;
	char *command, *request;
} web_pages[] = {
	{ "/", "text/html; charset=utf-8", (char *)"report", NULL },
	{ "/events", "application/json", NULL, (char *)"json events\n" },
	{ "/metrics", "application/openmetrics-text; version=1.0.0; "
	  "charset=utf-8", (char *)"metrics", NULL },
	{ "/status", "application/json", (char *)"status", NULL },
};

/* The page is one file with its script and style in it. */
static const char *const web_guards[][2] = {
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Content-Security-Policy", "default-src 'none'; script-src "
	  "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; "
	  "frame-ancestors 'none'" },
};

struct web_page {
	GMutex lock;		/* of the others; held while it is fetched */
	GString *body;		/* the answer, or why there is none */
	bool is_good;
	int64_t until;		/* us, of the monotonic clock */
};

struct web_server {
	int mode;
	struct client_place place;
	unsigned patience_s;
	struct web_page pages[G_N_ELEMENTS(web_pages)];
	GMutex lock;		/* of: */
	GArray *lives;		/* struct web_life, of all connections */
};

struct web_life {
	int fd;
	int64_t end;		/* us, of the monotonic clock */
};

/* --- the manager --- */

struct fetch {
	int64_t begin, end;	/* us: of the last part of the answer; in time */
};

static bool
fetch_on(GString *body, void *data)
{
	struct fetch *f = data;

	f->begin = g_get_monotonic_time();
	return f->begin < f->end;
}

/* The answer to the command, in place of the view in p->body. */
static bool
fetch_answer(struct web_server *w, size_t page, char *const *words,
	     GError **error)
{
	GString *body = w->pages[page].body;
	bool is_json = !strcmp(web_pages[page].type, "application/json");
	struct show q = {
		.v = tool_view_read(body->str, "the manager's view", error),
		.place = &w->place, .words = words,
		.out = { .out = body, .as_json = is_json },
	};
	int status;

	if (!q.v)
		return false;
	g_string_truncate(body, 0);
	status = show_run(&q, error);
	tool_view_free(q.v);
	return status >= 0;
}

/* From the manager; the lock of the page is held. */
static void
fetch_page(struct web_server *w, size_t page)
{
	struct web_page *p = &w->pages[page];
	int64_t patience = w->patience_s * G_USEC_PER_SEC, now;
	char *const words[] = { web_pages[page].command, NULL };
	g_autofree char *request = words[0] ? show_request(words) :
		g_strdup(web_pages[page].request);
	g_autoptr(GString) line = g_string_new(request);
	g_autoptr(GError) error = NULL;
	struct fetch f = { .begin = g_get_monotonic_time() };
	int code;

	f.end = f.begin + patience;
	g_string_truncate(p->body, 0);
	code = client_ask(&w->place, patience, line, p->body, fetch_on, &f,
			     &error);
	if (code == CLIENT_AGAIN)
		g_string_assign(p->body, "the manager is busy\n");
	/* else the answer is a reason */
	p->is_good = code == 0 &&
		(!words[0] || fetch_answer(w, page, words, &error));
	if (error)
		g_string_printf(p->body, "%s\n", error->message);
	now = g_get_monotonic_time();
	p->until = now + (!p->is_good ? FAILED_US :
			  MIN(SHARE * (now - f.begin), KEPT_MAX_US));
}

/* --- requests --- */

static enum MHD_Result
web_send(struct MHD_Connection *c, unsigned status, const char *type,
	 const char *body, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len,
		(char *)body, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < G_N_ELEMENTS(web_guards); i++)
		MHD_add_response_header(r, web_guards[i][0],
					web_guards[i][1]);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
send_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	return web_send(c, status, "text/plain", text, strlen(text));
}

static enum MHD_Result
send_page(struct web_server *w, struct MHD_Connection *c, size_t i)
{
	struct web_page *p = &w->pages[i];
	enum MHD_Result result;

	g_mutex_lock(&p->lock);
	if (g_get_monotonic_time() >= p->until)
		fetch_page(w, i);
	result = web_send(c, p->is_good ? MHD_HTTP_OK :
			  MHD_HTTP_SERVICE_UNAVAILABLE, p->is_good ?
			  web_pages[i].type : "text/plain", p->body->str,
			  p->body->len);
	g_mutex_unlock(&p->lock);
	return result;
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
web_on_request(void *data, struct MHD_Connection *c, const char *path,
	       const char *method, const char *version, const char *upload,
	       size_t *n_upload, void **state)
{
	static int seen;
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
	for (size_t i = 0; i < G_N_ELEMENTS(web_pages); i++) {
		if (strcmp(web_pages[i].path, path) == 0)
			return send_page(data, c, i);
		g_string_append_printf(paths, "%s\n", web_pages[i].path);
	}
	return send_text(c, MHD_HTTP_NOT_FOUND, paths->str);
}

/* --- connections --- */

static void
web_on_connection(void *data, struct MHD_Connection *c, void **state,
		  enum MHD_ConnectionNotificationCode code)
{
	struct web_server *w = data;
	const struct web_life life = {
		MHD_get_connection_info(c,
			MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		g_get_monotonic_time() + LIFE_S * G_USEC_PER_SEC,
	};

	g_mutex_lock(&w->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		g_array_append_val(w->lives, life);
	for (guint i = w->lives->len; code == MHD_CONNECTION_NOTIFY_CLOSED &&
	     i-- > 0;)
		if (g_array_index(w->lives, struct web_life, i).fd == life.fd)
			g_array_remove_index_fast(w->lives, i);
	g_mutex_unlock(&w->lock);
}

/* --- the program --- */

/* Numeric, for a name may mean several. NULL: it is none. */
static GSocketAddress *
read_address(const char *text)
{
	g_autoptr(GSocketConnectable) parsed =
		g_network_address_parse(text, PORT, NULL);

	return parsed ? g_inet_socket_address_new_from_string(
			g_network_address_get_hostname(
				G_NETWORK_ADDRESS(parsed)),
			g_network_address_get_port(
				G_NETWORK_ADDRESS(parsed))) : NULL;
}

/* The socket is opened here, since some libmicrohttpd do not say why they fail. */
static struct MHD_Daemon *
web_open(struct web_server *w, GSocketAddress *at, GError **error)
{
	GSocketFamily family = g_socket_address_get_family(at);
	g_autoptr(GSocket) s = g_socket_new(family, G_SOCKET_TYPE_STREAM,
					    G_SOCKET_PROTOCOL_DEFAULT, error);
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC |
		(family == G_SOCKET_FAMILY_IPV6 ? MHD_USE_IPv6 : 0);
	struct MHD_Daemon *mhd = NULL;
	int fd;

	if (!s || !g_socket_bind(s, at, TRUE, error))
		return NULL;
	g_socket_set_listen_backlog(s, SOMAXCONN);
	if (!g_socket_listen(s, error))
		return NULL;
	fd = fcntl(g_socket_get_fd(s), F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		mhd = MHD_start_daemon(flags, 0, NULL, NULL, web_on_request, w,
			MHD_OPTION_LISTEN_SOCKET, fd,
			MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
			MHD_OPTION_PER_IP_CONNECTION_LIMIT, FROM_ONE_MAX,
			MHD_OPTION_NOTIFY_CONNECTION, web_on_connection, w,
			MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)MEMORY_MAX, MHD_OPTION_END);
	if (!mhd) {
		if (fd >= 0)
			close(fd);
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "no server "
			    "can be started");
	}
	return mhd;
}

static int
web_run(void *arguments, char **words)
{
	struct web_server *w = arguments;
	const char *address = words[0] ? words[0] : ADDRESS;
	g_autoptr(GSocketAddress) at = read_address(address);
	g_autoptr(GError) error = NULL;
	const struct timespec second = { .tv_sec = 1 };
	struct MHD_Daemon *mhd;
	sigset_t ends;

	if (words[0] && words[1]) {
		tool_options_complain("more than one address; see minism-web "
				      "--help");
		return EXIT_USAGE;
	}
	if (!at) {
		tool_options_complain("%s is not ADDRESS:PORT such as "
				      ADDRESS " or [::1]:9683", address);
		return EXIT_USAGE;
	}
	/* of all threads, so that they wait for this one */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	mhd = web_open(w, at, &error);
	if (!mhd) {
		tool_options_complain("%s", error->message);
		return EXIT_FAILURE;
	}
	printf("listening on %s, port %u\n", address, MHD_get_daemon_info(
	       mhd, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	while (sigtimedwait(&ends, NULL, &second) < 0) {
		/* what libmicrohttpd reads next from those that are too old is
		 * their end */
		g_mutex_lock(&w->lock);
		EACH_ITEM(const struct web_life, life, w->lives)
			if (g_get_monotonic_time() >= life->end)
				shutdown(life->fd, SHUT_RDWR);
		g_mutex_unlock(&w->lock);
	}
	MHD_stop_daemon(mhd);
	return EXIT_SUCCESS;
}

#define AT(member)	offsetof(struct web_server, member)

static const struct option options[] = {
	CLIENT_OPTIONS(AT(place)),
	{ NULL, "timeout", 't', &option_number, AT(patience_s), 1,
	  LIFE_S - 2, "10", "SECONDS",
	  "How long to wait for the manager (10)" },
	TOOL_OPTIONS,
};

static const struct option_table table = {
	.options = options,
	.n = G_N_ELEMENTS(options),
	.usage = "[ADDRESS:PORT]",
	.summary = "Serves what a running minism answers over HTTP, by default "
		"on " ADDRESS ":\n"
		"  /          the fabric as a web page\n"
		"  /metrics   for Prometheus\n"
		"  /status    as minismctl --json status\n"
		"  /events    as minismctl --json events",
	.description = "Exit status: 0 ended by a signal; 1 it cannot listen; "
		"2 wrong usage.",
};

int
main(int argc, char **argv)
{
	struct web_server w = {
		.mode = TOOL_RUN,
		.lives = g_array_new(FALSE, FALSE, sizeof(struct web_life)),
	};
	int status;

	for (size_t i = 0; i < G_N_ELEMENTS(web_pages); i++)
		w.pages[i].body = g_string_new(NULL);
	signal(SIGPIPE, SIG_IGN);
	status = tool_main("minism-web", &table, &w, EXIT_USAGE, argc, argv,
			   web_run);
	for (size_t i = 0; i < G_N_ELEMENTS(web_pages); i++)
		g_string_free(w.pages[i].body, TRUE);
	g_array_unref(w.lives);
	return status;
}
