// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to a running manager.
 *
 * Flow: which socket -> the line -> the answer, whose first line is
 * "minism 2 CODE LENGTH" and whose rest has so many bytes. An answer may begin
 * with the next request, which is sent a moment later.
 *
 * Which socket. Managers put theirs into one folder, by PortGUID. If there is
 * one, it is used; if there are several, one has to be named. A socket on which
 * no process listens does not count.
 */
#include "tools/client.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdio.h>
#include <string.h>

#include "sm/config/options.h"
#include "topology/text.h"

#define SUFFIX		".ctl"
#define AGAIN_US	5000u	/* a request that continues is sent so late, */
#define AGAIN_MAX_US	200000u	/* and by as much later each time */
#define HEAD		"minism 2 "

G_DEFINE_QUARK(minism-client-error-quark, client_error)

/* --- which socket --- */

/* Of each call on the socket that follows. False: `end` has passed. */
static bool
wait_until(GSocket *s, int64_t end)
{
	int64_t left = end - g_get_monotonic_time();

	g_socket_set_timeout(s, (guint)(left / G_USEC_PER_SEC) + 1);
	return left > 0;
}

/* Connected; or NULL, and there may be an error. */
static GSocket *
try_socket(const char *path, int64_t end, GError **error)
{
	g_autoptr(GSocketAddress) to = g_unix_socket_address_new(path);
	g_autoptr(GSocket) s = g_socket_new(G_SOCKET_FAMILY_UNIX,
					    G_SOCKET_TYPE_STREAM,
					    G_SOCKET_PROTOCOL_DEFAULT, error);

	/* it was cut off */
	if (strcmp(g_unix_socket_address_get_path((void *)to), path)) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG,
			    "its name is too long for a socket");
		return NULL;
	}
	while (s && wait_until(s, end)) {
		g_clear_error(error);
		if (g_socket_connect(s, to, NULL, error))
			return g_steal_pointer(&s);
		/* it has many clients */
		if (!g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
			break;
		g_usleep(AGAIN_US);
	}
	return NULL;
}

static GSocket *
open_named(const char *path, int64_t end, GError **error)
{
	g_autoptr(GError) why = NULL;
	GSocket *s = try_socket(path, end, &why);

	if (!s)
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "%s: %s%s",
			    path, why ? why->message : "it is busy",
			    g_error_matches(why, G_IO_ERROR,
					    G_IO_ERROR_CONNECTION_REFUSED) ?
			    ": no manager listens there any more" :
			    g_error_matches(why, G_IO_ERROR,
					    G_IO_ERROR_NOT_FOUND) ?
			    " (is a manager running?)" : "");
	return s;
}

/* The only manager that listens in the folder of sockets. */
static GSocket *
open_only(const char *folder, int64_t end, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	g_autoptr(GString) alive = g_string_new(NULL);
	const char *name;
	g_autoptr(GSocket) only = NULL;
	guint n = 0;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_suffix(name, SUFFIX))
			g_ptr_array_add(paths, g_build_filename(folder, name,
								NULL));
	g_ptr_array_sort(paths, text_compare);
	for (guint i = 0; i < paths->len; i++) {
		g_autoptr(GError) why = NULL;
		g_autoptr(GSocket) next = try_socket(paths->pdata[i], end, &why);

		if (!next)
			continue;
		g_string_append_printf(alive, "%s%s", n++ ? ", " : "",
				       (char *)paths->pdata[i]);
		g_set_object(&only, next);
	}
	if (n == 0)
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT,
			    "no manager listens in %s (is one running, and are "
			    "you root or in its group minism?)", folder);
	if (n <= 1)
		return g_steal_pointer(&only);
	g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_WHICH, "there are %u "
		    "managers: %s; say which with --socket or --guid", n,
		    alive->str);
	return NULL;
}

static GSocket *
open_place(const struct client_place *place, int64_t end, GError **error)
{
	g_autofree char *folder = options_control_dir(), *path = NULL;
	uint64_t guid;

	if (place->socket)
		return open_named(place->socket, end, error);
	if (!place->guid)
		return open_only(folder, end, error);
	if (!text_read_number(place->guid, 16, UINT64_MAX, &guid)) {
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_WHICH, "--guid "
			    "%s: not a GUID of up to 16 hexadecimal digits",
			    place->guid);
		return NULL;
	}
	path = g_strdup_printf("%s/%016" G_GINT64_MODIFIER "x" SUFFIX, folder,
			       guid);
	return open_named(path, end, error);
}

/* --- question and answer --- */

/* A manager that closes the connection before it has read the line may have sent the
 * reason. False: there is no answer, and may be an error. */
static bool
read_answer(GSocket *s, int64_t end, const GString *line, GString *answer,
	    GError **error)
{
	char buffer[65536];
	gssize n = 1;

	for (gsize done = 0; n > 0 && done < line->len; done += (gsize)MAX(n, 0))
		n = g_socket_send(s, line->str + done, line->len - done, NULL,
				  NULL);
	do {
		g_clear_error(error);
		n = wait_until(s, end) ? g_socket_receive(s, buffer,
				sizeof(buffer), NULL, error) : -1;
		g_string_append_len(answer, buffer, MAX(n, 0));
	} while (n > 0);
	return n == 0 || answer->len > 0;
}

/* Its code; -1: it is not whole. */
static int
take_answer(const GString *answer, GString *line, GString *out, GError **error)
{
	const char *body = strchr(answer->str, '\n'), *rest;
	const char *end = answer->str + answer->len;
	size_t len;
	int code;

	if (body && sscanf(answer->str, HEAD "%d %zu", &code, &len) != 2) {
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "what "
			    "answers is no minism that %s knows",
			    g_get_prgname());
		return -1;
	}
	if (!body++ || len != (size_t)(end - body)) {
		g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "the "
			    "answer is cut off, after %zu bytes", answer->len);
		return -1;
	}
	if (code == CLIENT_AGAIN && (rest = strchr(body, '\n'))) {
		g_string_truncate(line, 0);
		g_string_append_len(line, body, rest + 1 - body);
		body = rest + 1;
	}
	g_string_append_len(out, body, end - body);
	return code;
}

static int
ask_once(const struct client_place *place, int64_t end, GString *line,
	 GString *body, GError **error)
{
	g_autoptr(GString) answer = g_string_new(NULL);
	g_autoptr(GSocket) s = open_place(place, end, error);
	g_autoptr(GError) why = NULL;

	if (!s)
		return -1;
	if (read_answer(s, end, line, answer, &why))
		return take_answer(answer, line, body, error);
	g_set_error(error, CLIENT_ERROR, CLIENT_ERROR_SILENT, "the manager does "
		    "not answer: %s", !why || g_error_matches(why, G_IO_ERROR,
		    G_IO_ERROR_TIMED_OUT) ? "it is busy" : why->message);
	return -1;
}

int
client_ask(const struct client_place *place, int64_t patience_us,
	   GString *line, GString *body, client_take_fn take, void *data,
	   GError **error)
{
	unsigned later = AGAIN_US;
	int code;

	while ((code = ask_once(place, g_get_monotonic_time() + patience_us,
				line, body, error)) == CLIENT_AGAIN &&
	       (!take || take(body, data))) {
		g_usleep(later);
		later = MIN(later + AGAIN_US, AGAIN_MAX_US);
	}
	return code;
}
