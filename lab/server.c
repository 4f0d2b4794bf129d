// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The server of a lab.
 *
 *	socket --> conn --> client --+--> device, kernel (umad, issm)
 *	                             +--> drivers
 *	                             +--> console
 *	sim (real time) --> device_port --> kernel or driver --> conn
 *
 * Before the main loop waits, the devices are refreshed, so that /sys is up to
 * date before any program reads the answer that followed, and then all output
 * is written.
 */
#include "config.h"

#include "lab/check.h"
#include "lab/server.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/driver.h"
#include "topology/each.h"

enum role {
	ROLE_NEW,
	ROLE_FILE,		/* an open umad file */
	ROLE_ISSM,		/* holds issm */
	ROLE_DRIVER,
};

struct lab_client {
	struct lab *lab;
	struct conn *conn;
	enum role role;
	uint32_t id;		/* of a file */
	struct device_port *port;	/* NULL: its device is gone */
	struct kernel_file *file;
};

struct lab {
	struct snapshot *fabric;
	struct sim *sim;
	struct kernel_limits limits;
	GPtrArray *drivers;	/* see lab/driver.h */
	GHashTable *devices;	/* node -> lab_device */
	GPtrArray *clients;
	struct console console;
	char *dir, *socket;
	GSocketService *service;
	bool listens;
	guint clock, flush;	/* sources */
	uint32_t last_id;
};

/* ----------------------------------------------------------------- devices */

uint32_t
lab_home(const struct lab *lab)
{
	uint32_t port = lab->fabric->local_port;

	return port == SNAPSHOT_NONE ? 0 : lab->fabric->ports[port].node;
}

static struct lab_device *
device_of(struct lab *lab, uint32_t node)
{
	struct lab_device *d = g_hash_table_lookup(lab->devices,
						   GUINT_TO_POINTER(node));

	if (!d) {
		d = device_new(lab->fabric, lab->sim, node, lab->dir,
			       &lab->limits);
		g_hash_table_insert(lab->devices, GUINT_TO_POINTER(node), d);
	}
	return d;
}

/* By a name as it comes from a client. */
static struct lab_device *
find_device(struct lab *lab, const char name[LAB_NAME_LEN])
{
	uint32_t node = SNAPSHOT_NONE;

	if (memchr(name, 0, LAB_NAME_LEN))
		node = *name ? lab_find_node(lab->fabric, lab->sim, name) :
			lab_home(lab);
	return node == SNAPSHOT_NONE ? NULL : device_of(lab, node);
}

/* ----------------------------------------------------------- umad and issm */

static void
lab_reply(struct lab_client *c, int error, uint32_t id, const void *more,
	  size_t len)
{
	const struct lab_result r = { .error = error, .id = id };

	conn_send(c->conn, LAB_RESULT, 0, &r, sizeof(r), more, len);
}

/* A cell of the protocol, and the rest of a longer message. */
static void
on_deliver(const struct ib_user_mad_hdr *hdr, const uint8_t *mad, size_t len,
	   void *data)
{
	uint8_t cell[LAB_CELL] = { 0 };
	size_t first = MIN(len, LAB_CELL - sizeof(*hdr));
	struct lab_client *c = data;

	memcpy(cell, hdr, sizeof(*hdr));
	memcpy(cell + sizeof(*hdr), mad, first);
	conn_put(c->conn, cell, sizeof(cell));
	conn_put(c->conn, mad + first, len - first);
}

static bool
serve_open(struct lab_client *c, const uint8_t *data, size_t len)
{
	struct device_port *p = NULL;
	struct lab_device *d;
	struct lab_open o;
	unsigned qps = 0;
	bool is_issm;
	guint64 umad;
	int error = 0;

	if (len < sizeof(o) || c->role != ROLE_NEW)
		return false;
	memcpy(&o, data, sizeof(o));
	o.name[sizeof(o.name) - 1] = '\0';
	/* "umad0" or "issm0" */
	is_issm = g_str_has_prefix(o.name, "issm");
	umad = strlen(o.name) > 4 ? g_ascii_strtoull(o.name + 4, NULL, 10) :
		UINT64_MAX;
	d = find_device(c->lab, o.node);
	for (unsigned i = 0; d && d->plugged && i < d->n_ports; i++)
		if ((qps = device_port_qps(&d->ports[i], umad))) {
			p = &d->ports[i];
			break;
		}
	if (!p)
		error = ENXIO;
	else if (is_issm && !(qps & KERNEL_QP0))
		error = EPERM;
	if (!error && !p->kernel)
		error = EBUSY;
	if (!error && is_issm && p->issm)
		error = EAGAIN;
	if (error) {
		lab_reply(c, error, 0, NULL, 0);
		return true;
	}
	c->port = p;
	if (is_issm) {
		c->role = ROLE_ISSM;
		p->issm = true;
		sim_port_set_is_sm(c->lab->sim, p->sim_port, true);
	} else {
		c->role = ROLE_FILE;
		c->id = ++c->lab->last_id;
		c->file = kernel_open(p->kernel, qps, on_deliver, c);
		p->n_files++;
	}
	lab_reply(c, 0, c->id, NULL, 0);
	return true;
}

/* NULL: its device is gone. */
static struct kernel_file *
find_client(const struct lab *lab, uint32_t id)
{
	EACH_PTR(const struct lab_client, c, lab->clients)
		if (c->role == ROLE_FILE && c->id == id)
			return c->file;
	return NULL;
}

static bool
serve_attach(struct lab_client *c, unsigned channel, const uint8_t *data,
	     size_t len)
{
	struct device_port *port = NULL;
	struct lab_attach a;
	struct lab_device *d;

	if (len < sizeof(a) || (c->role != ROLE_NEW && c->role != ROLE_DRIVER))
		return false;
	memcpy(&a, data, sizeof(a));
	c->role = ROLE_DRIVER;
	d = find_device(c->lab, a.node);
	for (unsigned i = 0; d && d->plugged && !port && i < d->n_ports; i++)
		if (a.port == 0 || d->ports[i].num == a.port)
			port = &d->ports[i];
	drivers_attach(c->lab->drivers, c->conn, channel, port);
	return true;
}

/* ----------------------------------------------------------------- clients */

static bool
on_frame(struct conn *conn, const struct lab_frame *frame,
	 const uint8_t *data, void *user)
{
	g_autoptr(GString) out = NULL;
	g_autofree char *text = NULL;
	struct lab_client *c = user;
	struct kernel_file *f;
	struct lab_device *d;
	struct lab_attach a;
	struct lab_ioctl io;
	uint32_t id;
	int error;

	switch (frame->type) {
	case LAB_WRITE:
		if (c->role == ROLE_FILE)
			kernel_write(c->file, data, frame->length);
		return c->role == ROLE_FILE;
	case LAB_IOCTL:
		if (frame->length < sizeof(io))
			return false;
		memcpy(&io, data, sizeof(io));
		f = find_client(c->lab, io.id);
		error = f ? kernel_ioctl(f, io.code, io.arg) : -EPIPE;
		lab_reply(c, -error, 0, io.arg, sizeof(io.arg));
		return true;
	case LAB_ANSWER:
		if (frame->length < sizeof(id))
			return false;
		memcpy(&id, data, sizeof(id));
		f = find_client(c->lab, id);
		lab_reply(c, f ? -kernel_write(f, data + sizeof(id),
					       frame->length - sizeof(id)) :
			  EIO, 0, NULL, 0);
		return true;
	case LAB_OPEN:
		return serve_open(c, data, frame->length);
	case LAB_ENTER:
		if (frame->length < sizeof(a))
			return false;
		memcpy(&a, data, sizeof(a));
		d = find_device(c->lab, a.node);
		if (d)
			lab_reply(c, 0, 0, d->path, strlen(d->path) + 1);
		else
			lab_reply(c, ENODEV, 0, NULL, 0);
		return true;
	case LAB_ATTACH:
		return serve_attach(c, frame->channel, data, frame->length);
	case LAB_COMMAND:
		text = g_strndup((const char *)data, frame->length);
		out = g_string_new(NULL);
		error = console_command(&c->lab->console, text, out);
		lab_reply(c, error, 0, out->str, out->len + 1);
		return true;
	}
	return c->role == ROLE_DRIVER &&
		drivers_frame(c->lab->drivers, conn, frame, data);
}

static void
on_closed(struct conn *conn, void *user)
{
	struct lab_client *c = user;

	if (c->file) {
		kernel_close(c->file);
		c->port->n_files--;
	}
	g_ptr_array_remove(c->lab->clients, c);
	if (c->role == ROLE_ISSM && c->port) {
		c->port->issm = false;
		sim_port_set_is_sm(c->lab->sim, c->port->sim_port, false);
	}
	if (c->role == ROLE_DRIVER)
		drivers_detach(c->lab->drivers, conn, NULL);
	g_free(c);
}

static gboolean
on_incoming(GSocketService *service, GSocketConnection *connection,
	    GObject *source, gpointer data)
{
	int fd = g_socket_get_fd(g_socket_connection_get_socket(connection));
	struct lab_client *c = g_new0(struct lab_client, 1);

	c->lab = data;
	c->conn = conn_new(fcntl(fd, F_DUPFD_CLOEXEC, 0), on_frame, on_closed,
			   c);
	g_ptr_array_add(c->lab->clients, c);
	return TRUE;
}

static void
on_device_command(struct lab *lab, const char *command, uint32_t node,
		  unsigned n)
{
	struct lab_device *d = device_of(lab, node);

	if (strcmp(command, "plug-device") == 0) {
		device_plug(d, n);
		return;
	}
	/* Unplugged: files are closed under their programs, which see EIO. */
	for (guint i = lab->clients->len; i-- > 0;) {
		struct lab_client *c = lab->clients->pdata[i];

		if (!c->port || c->port->device != d)
			continue;
		if (c->role == ROLE_FILE) {
			conn_close(c->conn);
			continue;
		}
		c->port->issm = false;
		c->port = NULL;
	}
	drivers_detach(lab->drivers, NULL, d);
	device_unplug(d);
}

/* ----------------------------------------------------------- the main loop */

struct flush_source {
	GSource base;
	struct lab *lab;
};

static gboolean
flush_prepare(GSource *source, gint *timeout_ms)
{
	struct lab *lab = ((struct flush_source *)source)->lab;
	GHashTableIter iter;
	gpointer device;

	*timeout_ms = -1;
	g_hash_table_iter_init(&iter, lab->devices);
	while (g_hash_table_iter_next(&iter, NULL, &device))
		device_refresh(device);
	for (guint i = 0; i < lab->clients->len; i++)
		conn_flush(((struct lab_client *)lab->clients->pdata[i])->conn);
	return FALSE;
}

static void
on_reregister(struct sim *sim, uint32_t port, void *data)
{
	struct lab *lab = data;
	uint32_t node = lab->fabric->ports[port].node;
	struct lab_device *d = g_hash_table_lookup(lab->devices,
						   GUINT_TO_POINTER(node));

	for (unsigned i = 0; d && i < d->n_ports; i++)
		if (d->ports[i].sim_port == port)
			d->ports[i].reregister = true;
}

/* ------------------------------------------------------------ birth, death */

const struct console *
lab_console(const struct lab *lab)
{
	return &lab->console;
}

/* Of a lab that was killed: no process listens. */
static bool
clear_socket(const char *path, GSocketAddress *address, GError **error)
{
	g_autoptr(GSocketClient) client = g_socket_client_new();
	g_autoptr(GSocketConnection) c = NULL;
	g_autoptr(GError) why = NULL;
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return true;
	c = g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address),
				    NULL, &why);
	if (c)
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE,
			    "%s: a lab is running there", path);
	if (g_error_matches(why, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
		unlink(path);
	return !c;
}

static bool
listen_at(struct lab *lab, GError **error)
{
	g_autoptr(GSocketAddress) address =
		g_unix_socket_address_new(lab->socket);

	if (!clear_socket(lab->socket, address, error))
		return false;
	g_signal_connect(lab->service, "incoming", G_CALLBACK(on_incoming),
			 lab);
	lab->listens = g_socket_listener_add_address(
		G_SOCKET_LISTENER(lab->service), address,
		G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL,
		error);
	if (!lab->listens)
		g_prefix_error(error, "%s: ", lab->socket);
	return lab->listens;
}

struct lab *
lab_new(struct snapshot *fabric, const struct lab_options *options,
	GError **error)
{
	/* It prepares only, and is never ready to be dispatched. */
	static GSourceFuncs funcs = { .prepare = flush_prepare };
	struct lab *lab = g_new0(struct lab, 1);
	GSource *source;

	lab->fabric = snapshot_ref(fabric);
	lab->service = g_socket_service_new();
	lab->limits = options->limits;
	lab->sim = sim_new(fabric, &options->params);
	lab->console = (struct console){
		.sim = lab->sim, .fabric = fabric, .lab = lab,
		.device = on_device_command,
	};
	lab->drivers = g_ptr_array_new_with_free_func(g_free);
	lab->devices = g_hash_table_new_full(NULL, NULL, NULL,
					     (GDestroyNotify)device_free);
	lab->clients = g_ptr_array_new();
	lab->dir = options->dir ? g_strdup(options->dir) :
		g_dir_make_tmp(LAB_FOLDER, error);
	if (lab->dir)
		lab->socket = options->socket ?
			g_canonicalize_filename(options->socket, NULL) :
			g_build_filename(lab->dir, "socket", NULL);
	if (!lab->socket || !listen_at(lab, error)) {
		lab_free(lab);
		return NULL;
	}
	sim_set_reregister(lab->sim, on_reregister, lab);
	source = sim_source_new(lab->sim, SIM_PACE_REAL);
	lab->clock = g_source_attach(source, NULL);
	g_source_unref(source);
	source = g_source_new(&funcs, sizeof(struct flush_source));
	((struct flush_source *)source)->lab = lab;
	lab->flush = g_source_attach(source, NULL);
	g_source_unref(source);
	return lab;
}

void
lab_free(struct lab *lab)
{
	while (lab->clients->len)
		conn_close(((struct lab_client *)lab->clients->pdata[0])->conn);
	g_clear_handle_id(&lab->clock, g_source_remove);
	g_clear_handle_id(&lab->flush, g_source_remove);
	if (lab->listens)
		unlink(lab->socket);
	g_socket_service_stop(lab->service);
	g_socket_listener_close(G_SOCKET_LISTENER(lab->service));
	g_object_unref(lab->service);
	g_hash_table_unref(lab->devices);
	g_ptr_array_unref(lab->clients);
	g_ptr_array_unref(lab->drivers);
	sim_free(lab->sim);
	snapshot_unref(lab->fabric);
	if (lab->dir)
		device_remove_files(lab->dir, "");
	g_free(lab->dir);
	g_free(lab->socket);
	g_free(lab);
}

const char *
lab_socket(const struct lab *lab)
{
	return lab->socket;
}

const char *
lab_sys(struct lab *lab, uint32_t node)
{
	return device_of(lab, node)->path;
}

