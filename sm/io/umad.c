// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transport over libibumad.
 *
 * Everything happens in the thread that opened the port, but for waiting: the
 * simulator's shim cannot poll a umad descriptor together with others, so a
 * thread of its own waits in umad_poll() and wakes the main thread.
 *
 *	watcher thread			main thread
 *	waits until armed  <--------------------+
 *	umad_poll()				|
 *	disarms, wakes  --> GSource --> on_wake: umad_recv(), on_recv, ..
 *					until nothing is left; arms
 *
 * So a busy main thread reads one MAD after the other without a switch of
 * threads in between; only a pause costs two of them. While answers are due it
 * waits for them itself, LINGER_MS at most, since they usually take
 * microseconds and a switch of threads takes longer. It does the same after a
 * request of another node, since a client that has its answer may send the next
 * request soon; but not if that has started a timer which is due by then. After
 * TURN_MAX MADs or
 * TURN_US timers and other sources of the loop have their turn. No MAD is lost
 * while the main thread is busy: the kernel queues them, and so does the shim,
 * whose thread always reads the socket of the simulator.
 *
 * A request without an answer comes back with a status. The kernel then returns
 * only its first 24 bytes, the common header; the rest is filled with zeros
 * here, since all modules expect a MAD of 256 bytes.
 *
 * The kernel does RMPP for class 0x03, which is registered with its version. A
 * message that it has reassembled may need a larger buffer, whose size
 * umad_recv() returns, and may be shorter than a MAD. One that the kernel is to
 * segment is written with its true length. It tries each window `retries` times,
 * so that must not be 0 then; everything else is retried above. The simulator's
 * shim has no RMPP: it sends the first 256 bytes.
 *
 * All agents are registered before the port is declared an SM; when it is
 * closed, that is undone first, then all pending MADs are read, then the rest is
 * closed: the shim crashes on a MAD of a class that is not registered.
 *
 * An HCA with planes (ConnectX-8) has two devices for one port: one for QP 0
 * (SMI), one that allows no subnet manager, for QP 1 (GSI). Then SMPs go by the
 * one and GMPs by the other; each has a watcher of its own, and if one goes away
 * both are opened again.
 *
 * A descriptor whose device went away never works again, even if the device
 * comes back: read and write return EIO, in kernels without that check writes
 * return EINVAL and reads nothing. Then all is closed, and the port is looked for
 * by its GUID, for it may come back under another name and number. MADs that are
 * sent meanwhile are lost, and time out in the layers above.
 */
#include "sm/io/umad.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "sm/io/local_port.h"
#include "sm/mad/mad.h"
#include "sm/mad/rmpp.h"

#define TURN_MAX	256u	/* MADs in one turn of the main loop */
#define LINGER_MS	1
#define TURN_US		4000
#define NAP_WAITING	64u	/* answers due that make a nap worth while */
#define NAP_US		100	/* a third of what so many take, or less */
#define POLL_MIN_MS	2	/* the watcher looks at `stop` so often: after a */
#define POLL_MAX_MS	128	/* MAD, and after a while without any */
#define DRAIN_MS	50
#define ERROR_PAUSE_US	1000
#define ERRORS_MAX	1000u	/* in a row, of a device that is not gone */
#define REFUSED_MAX	4u	/* requests in a row, with EINVAL */
#define RETURN_MS	100	/* the kernel gives up on a request so late */
#define REOPEN_MIN_MS	250
#define REOPEN_MAX_MS	8000
#define ISSM_TRIES	20u	/* a manager that ends holds it a moment more */
#define ISSM_PAUSE_US	100000
#define KEEP_MAX	65536u	/* bytes of a buffer that are kept */
#define RMPP_RETRIES	5

#define CAP_SM_DISABLED	(1u << 10)
#define GRH_HOP_LIMIT	255	/* as far as routers will carry it */

enum agent {
	AGENT_DIRECT,
	AGENT_LID,
	AGENT_SA,
};
#define AGENTS	(AGENT_SA + 1)

struct registration {
	enum mad_class mgmt_class;
	int class_version;
	uint8_t rmpp_version;
	uint32_t methods;	/* bit n: method n, 0 to 31 */
};

#define METHOD_SET_SMP \
	(1u << 0x01 | 1u << 0x02 | 1u << 0x05 | 1u << 0x07)
/* Get, Set, GetTable, GetMulti, Delete (IBA 15.2.2). Not Report: the SA never
 * gets one, and a method of a class belongs to one agent a port, which may be
 * a subscriber on this machine. */
#define METHOD_SET_SA \
	(1u << 0x01 | 1u << 0x02 | 1u << 0x12 | 1u << 0x14 | 1u << 0x15)

static const struct registration registrations[AGENTS] = {
	[AGENT_DIRECT] = { MAD_CLASS_SMP_DIRECT, 1, 0, METHOD_SET_SMP },
	[AGENT_LID] = { MAD_CLASS_SMP_LID, 1, 0, METHOD_SET_SMP },
	[AGENT_SA] = { MAD_CLASS_SA, 2, 1, METHOD_SET_SA },
};

/* A umad: the kernel's header with status and address, then the MAD. */
struct buffer {
	uint8_t *umad;
	size_t size;		/* of the MAD that it can hold */
};

/* One umad device, with some of the agents. */
struct umad_device {
	struct umad_transport *u;
	int fd;			/* -1: it is gone */
	int agents[AGENTS];	/* -1: not registered */
	unsigned waiting;	/* answers that are due */
	int64_t waiting_until;	/* they come until then, or never */
	int failed;		/* errno: the device is gone, close it */
	unsigned errors;	/* of reads, in a row */
	unsigned refused;	/* requests, in a row */
	bool asked;		/* the last MAD was a request */

	struct buffer in;
	GSource *source;	/* on_wake */
	GThread *watcher;
	GMutex mutex;		/* for what follows */
	GCond changed;
	bool armed;		/* the main thread has read everything */
	bool stop;
};

struct umad_transport {
	struct transport base;
	GMainContext *context;
	enum umad_role role;
	umad_event_fn event;
	void *event_data;
	struct umad_device devices[2];	/* SMI, GSI; if they are one: [0] */
	int issm_fd;		/* -1: not declared */
	bool is_shown;		/* IsSM is wanted */
	bool rings_soon;	/* a timer that was started in this turn */
	struct local_port issm_port;
	unsigned reopen;	/* timer; 0: not running */
	unsigned reopen_ms;
	int64_t opened;
	char *told;		/* why it could not be opened again */
	struct buffer out;
};

/* --------------------------------------------------------------- receiving */

static void
buffer_fit(struct buffer *b, size_t size)
{
	if (size <= b->size)
		return;
	b->umad = g_realloc(b->umad, umad_size() + size);
	b->size = size;
}

/* The buffer of a table of all paths, which is large and rare, is not kept. */
static void
buffer_trim(struct buffer *b)
{
	if (b->size <= KEEP_MAX)
		return;
	b->umad = g_realloc(b->umad, umad_size() + MAD_SIZE);
	b->size = MAD_SIZE;
}

/* The length of the MAD that was read; 0 if there is none (errno). */
static size_t
read_mad(struct umad_device *d)
{
	for (;;) {
		int len = d->in.size;

		if (umad_recv(d->fd, d->in.umad, &len, 0) >= 0)
			return len;
		/* the MAD stays in the kernel; len is what it takes */
		if (errno != ENOSPC || len <= (int)d->in.size)
			return 0;
		buffer_fit(&d->in, len);
	}
}

static void
deliver(struct umad_device *d, size_t len)
{
	struct umad_transport *u = d->u;
	void *umad = d->in.umad;
	const ib_mad_addr_t *from = umad_get_mad_addr(umad);
	uint8_t *mad = umad_get_mad(umad);
	struct transport_mad m = {
		.event = umad_status(umad) ? TRANSPORT_RETURNED :
			TRANSPORT_RECEIVED,
		.mad = mad,
		.len = len,
		.addr = {
			.qp = be32toh(from->qpn),
			.qkey = be32toh(from->qkey),
			.lid = be16toh(from->lid),
			.pkey_index = umad_get_pkey(umad),
			.sl = from->sl,
			.grh = from->grh_present,
		},
	};

	if (m.event == TRANSPORT_RETURNED && len < MAD_SIZE) {
		memset(mad + len, 0, MAD_SIZE - len);
		m.len = MAD_SIZE;
	}
	if (m.addr.grh)
		memcpy(m.addr.gid, from->gid, sizeof(m.addr.gid));
	/* An answer of ours that its client did not acknowledge: its TID is
	 * the client's, and may be that of a request of ours. */
	if (m.event == TRANSPORT_RETURNED && mad[3] & MAD_METHOD_RESPONSE)
		return;
	d->asked = m.event == TRANSPORT_RECEIVED &&
		!(mad[3] & MAD_METHOD_RESPONSE);
	if (d->waiting && !d->asked)
		d->waiting--;
	d->refused = 0;
	transport_deliver(&u->base, &m);
	buffer_trim(&d->in);
}

/*
 * Nothing to read now, but answers are due: waits for one; false if none is due,
 * or none came in time. With many due each of them would wake this thread: a nap
 * lets them gather (once, then it waits for the next).
 */
static bool
linger(struct umad_device *d, bool *napped)
{
	bool may_serve = d->asked && !d->u->rings_soon;

	if (d->waiting >= NAP_WAITING && !*napped) {
		*napped = true;
		g_usleep(NAP_US);
		return true;
	}
	return (d->waiting || may_serve) &&
		umad_poll(d->fd, LINGER_MS) == 0;
}

static bool
is_gone(int error)
{
	return error == EIO || error == ENODEV || error == ENXIO ||
		error == EPIPE || error == EBADF;
}

static void leave_device(struct umad_device *d);

/* Holds the mutex but while it polls, which it does when it is armed. */
static void *
umad_watch(void *data)
{
	struct umad_device *d = data;
	int slice = POLL_MIN_MS;

	g_mutex_lock(&d->mutex);
	while (!d->stop) {
		int result;

		if (!d->armed) {
			g_cond_wait(&d->changed, &d->mutex);
			continue;
		}
		g_mutex_unlock(&d->mutex);
		result = umad_poll(d->fd, slice);
		g_mutex_lock(&d->mutex);
		slice = MIN(2 * slice, POLL_MAX_MS);
		if (result == -ETIMEDOUT)
			continue;
		/* of a failure, too: read_mad() tells what it is */
		slice = POLL_MIN_MS;
		d->armed = false;
		g_source_set_ready_time(d->source, 0);
	}
	g_mutex_unlock(&d->mutex);
	return NULL;
}

/* False: there are no threads now. Not when the port is opened: the process may
 * fork then. */
static bool
arm_watcher(struct umad_device *d)
{
	if (!d->watcher)
		d->watcher = g_thread_try_new("umad", umad_watch, d, NULL);
	if (!d->watcher)
		return false;
	g_mutex_lock(&d->mutex);
	d->armed = true;
	g_cond_signal(&d->changed);
	g_mutex_unlock(&d->mutex);
	return true;
}

/* Armed only when there is no more to read; a MAD that arrives between the last
 * read and the arming is found by the watcher's next poll. */
static gboolean
on_wake(GSource *source, GSourceFunc callback, gpointer data)
{
	struct umad_device *d = data;
	int64_t until = g_get_monotonic_time() + TURN_US;
	bool napped = false;

	g_source_set_ready_time(source, -1);
	d->u->rings_soon = false;
	if (d->fd < 0)
		return G_SOURCE_CONTINUE;
	/* the callbacks of a MAD may have found that the device is gone */
	if (d->failed) {
		leave_device(d);
		return G_SOURCE_CONTINUE;
	}
	for (unsigned i = 0; i < TURN_MAX && g_get_monotonic_time() < until;
	     i++) {
		size_t len = read_mad(d);

		if (len > 0) {
			napped = false;
			d->errors = 0;
			deliver(d, len);
			continue;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			d->errors = 0;
			if (linger(d, &napped))
				continue;
			if (arm_watcher(d))
				return G_SOURCE_CONTINUE;
		} else if (is_gone(errno) || ++d->errors >= ERRORS_MAX) {
			d->failed = errno;
			leave_device(d);
			return G_SOURCE_CONTINUE;
		}
		/* no thread now, or a reason that may pass */
		g_source_set_ready_time(source, g_get_monotonic_time() +
					ERROR_PAUSE_US);
		return G_SOURCE_CONTINUE;
	}
	g_source_set_ready_time(source, 0);
	return G_SOURCE_CONTINUE;
}

/* A source that is ready at its ready time and nothing else. */
static GSourceFuncs source_funcs = { .dispatch = on_wake };

/* ----------------------------------------------------------------- sending */

/* Whether the kernel is to wait for an answer: not after an answer. */
static bool
asks(uint8_t method)
{
	return !(method & MAD_METHOD_RESPONSE) &&
		method != MAD_METHOD_TRAP_REPRESS;
}

/* write() refused it. True: it need not be sent, since the kernel still sends
 * the message that it repeats. */
static bool
is_under_way(struct umad_device *d, const uint8_t *mad, bool message, int e)
{
	if (e == EINVAL && message && mad[3] & MAD_METHOD_RESPONSE)
		return true;
	d->refused += e == EINVAL && asks(mad[3]);
	if (is_gone(e) || d->refused >= REFUSED_MAX) {
		d->failed = e;
		g_source_set_ready_time(d->source, 0);
	}
	return false;
}

static bool
is_lost(const struct umad_transport *u)
{
	return u->devices[0].fd < 0 || u->devices[0].failed ||
		u->devices[1].failed;
}

/* The device that has an agent for this class; NULL: none. */
static struct umad_device *
find_agent(struct umad_transport *u, uint8_t mgmt_class, int *agent)
{
	for (unsigned i = 0; i < AGENTS; i++)
		for (unsigned k = 0; k < G_N_ELEMENTS(u->devices); k++) {
			*agent = u->devices[k].agents[i];
			if (registrations[i].mgmt_class == mgmt_class &&
			    *agent >= 0)
				return &u->devices[k];
		}
	return NULL;
}

/* In u->out. */
static void
fill_out(struct umad_transport *u, const struct mad_addr *to,
	 const uint8_t *mad, size_t len)
{
	ib_mad_addr_t *addr;

	/* the shim sends all of one MAD, however little is written */
	buffer_fit(&u->out, MAX(len, MAD_SIZE));
	memset(u->out.umad, 0, umad_size() + MAD_SIZE);
	umad_set_addr(u->out.umad, to->lid, to->qp, to->sl, to->qkey);
	umad_set_pkey(u->out.umad, to->pkey_index);
	if (to->grh) {
		addr = umad_get_mad_addr(u->out.umad);
		addr->grh_present = 1;
		addr->hop_limit = GRH_HOP_LIMIT;
		memcpy(addr->gid, to->gid, sizeof(to->gid));
	}
	memcpy(umad_get_mad(u->out.umad), mad, len);
}

static bool
umad_transport_send(struct transport *t, const struct mad_addr *to,
		    const uint8_t *mad, size_t len, unsigned timeout_ms,
		    GError **error)
{
	struct umad_transport *u = (struct umad_transport *)t;
	struct umad_device *d;
	struct rmpp_header r;
	/* which the kernel cuts */
	bool message = mad[1] == MAD_CLASS_SA &&
		rmpp_header_read(mad, len, &r) &&
		r.flags & RMPP_FLAG_ACTIVE && r.type == RMPP_TYPE_DATA;
	int64_t now;
	int agent;

	if (is_lost(u))
		return true;	/* as on a wire that is cut */

	g_assert(len >= (message ? RMPP_SA_HEADER_LEN : MAD_SIZE));
	d = find_agent(u, mad[1], &agent);
	if (!d) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND,
			    "%s: class 0x%02x is not registered", t->name,
			    mad[1]);
		return false;
	}
	fill_out(u, to, mad, len);
	if (umad_send(d->fd, agent, u->out.umad, len,
		      asks(mad[3]) ? timeout_ms : 0,
		      message ? RMPP_RETRIES : 0) < 0 &&
	    !is_under_way(d, mad, message, errno)) {
		int e = errno;
		/* that says nothing about the MAD or the device */
		bool may_pass = e == EAGAIN || e == EINTR || e == ENOBUFS ||
			e == ENOMEM || e == ENOSPC;

		g_set_error(error, TRANSPORT_ERROR, may_pass ?
			    TRANSPORT_ERROR_AGAIN : TRANSPORT_ERROR_SEND,
			    "%s: cannot send: %s", t->name, g_strerror(e));
		return false;
	}
	buffer_trim(&u->out);
	if (!asks(mad[3]))
		return true;
	now = g_get_monotonic_time();
	/* A send that failed in the kernel never comes back: answers that are
	 * overdue are not counted any more when the next request is sent. */
	if (now > d->waiting_until)
		d->waiting = 0;
	d->waiting++;
	d->waiting_until = MAX(d->waiting_until, now +
			       (timeout_ms + RETURN_MS) * (int64_t)1000);
	d->refused = 0;
	return true;
}

static int64_t
umad_transport_now(struct transport *t)
{
	return g_get_monotonic_time();
}

/* ------------------------------------------------------------------ timers
 *
 * One that is started by another one's callback waits for the next turn of the
 * loop, so devices are read in between.
 */

struct umad_timer {
	transport_timer_fn fn;
	void *data;
};

static gboolean
umad_on_timer(gpointer data)
{
	const struct umad_timer *timer = data;

	timer->fn(timer->data);
	return G_SOURCE_REMOVE;
}

static unsigned
umad_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		 void *data)
{
	struct umad_transport *u = (struct umad_transport *)t;
	const struct umad_timer timer = { fn, data };
	g_autoptr(GSource) source = g_timeout_source_new(0);

	u->rings_soon |= when <= g_get_monotonic_time() + LINGER_MS * 1000;
	g_source_set_callback(source, umad_on_timer,
			      g_memdup2(&timer, sizeof(timer)), g_free);
	g_source_set_ready_time(source, MAX(when, 0));
	return g_source_attach(source, u->context);
}

static void
umad_timer_cancel(struct transport *t, unsigned id)
{
	struct umad_transport *u = (struct umad_transport *)t;
	GSource *source = g_main_context_find_source_by_id(u->context, id);

	if (source)
		g_source_destroy(source);
}

/* ---------------------------------------------------------- the local ports */

/* Of struct local_port, in the order of names and numbers. */
static GArray *
list_ports(void)
{
	GArray *ports = g_array_new(FALSE, FALSE, sizeof(struct local_port));
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	for (int i = 0; i < n; i++) {
		umad_ca_t ca;

		names[i][UMAD_CA_NAME_LEN - 1] = '\0';
		memset(&ca, 0, sizeof(ca));
		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		for (unsigned k = 0; k < UMAD_CA_MAX_PORTS; k++) {
			const umad_port_t *port = ca.ports[k];
			struct local_port p;

			if (!port)
				continue;
			p = (struct local_port){
				.num = (unsigned)port->portnum,
				.guid = be64toh(port->port_guid),
				.infiniband = strcmp(port->link_layer,
						     "InfiniBand") == 0 ||
					strcmp(port->link_layer, "IB") == 0,
				.sm_disabled = be32toh(port->capmask) &
					CAP_SM_DISABLED,
				.state = port->state,
				.phys_state = port->phys_state,
				.lid = port->base_lid,
				.lmc = port->lmc,
				.sm_lid = port->sm_lid,
			};
			g_strlcpy(p.ca_name, port->ca_name, sizeof(p.ca_name));
			g_array_append_val(ports, p);
		}
		umad_release_ca(&ca);
	}
	return ports;
}

static void
umad_say(const struct umad_transport *u, enum umad_event event,
	 const char *text)
{
	if (u->event)
		u->event(event, text, u->event_data);
}

/* ----------------------------------------------------------- open and close */

/*
 * Holding issm open sets IsSM in the port's CapabilityMask (IBA 14.2.5.6).
 * Without issm devices in the kernel, or with a device that refuses the bit, the
 * subnet manager works, though other SMs do not see it; a lack of permission is
 * an error that the operator can correct. O_NONBLOCK: otherwise the open waits
 * until the manager that holds it has ended.
 */
static bool
declare_manager(struct umad_transport *u, const struct local_port *port,
		unsigned tries, GError **error)
{
	g_autofree char *text = NULL;
	char path[256];
	int e;

	if (umad_get_issm_path(port->ca_name, (int)port->num, path,
			       sizeof(path)) < 0)
		return true;
	do {
		u->issm_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		e = u->issm_fd < 0 ? errno : 0;
		if (e == EAGAIN && --tries)
			g_usleep(ISSM_PAUSE_US);
	} while (e == EAGAIN && tries);
	switch (e) {
	case 0:
		return true;
	case EPERM:
	case EINVAL:
	case ENOENT:
	case EOPNOTSUPP:
		text = g_strdup_printf("%s: %s: the port is not marked as a "
				       "subnet manager's (IsSM), so other "
				       "subnet managers do not see this one: "
				       "run no other on this fabric, or take "
				       "a port that is no virtual function",
				       path, g_strerror(e));
		umad_say(u, UMAD_NOTE, text);
		return true;
	case EAGAIN:
		text = g_strdup("another subnet manager runs on this port; "
				"stop it first");
		break;
	case EACCES:
		text = g_strdup("run as root, or give this user "
				"/dev/infiniband/umad* and issm*");
		break;
	}
	g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_OPEN,
		    "%s: cannot open %s: %s%s%s", u->base.name, path,
		    g_strerror(e), text ? ": " : "", text ? text : "");
	return false;
}

static void
hide_manager(struct umad_transport *u)
{
	if (u->issm_fd >= 0)
		close(u->issm_fd);
	u->issm_fd = -1;
}

bool
umad_is_shown(const struct transport *t)
{
	return ((const struct umad_transport *)t)->is_shown;
}

void
umad_show(struct transport *t, bool shown)
{
	struct umad_transport *u = (struct umad_transport *)t;
	g_autoptr(GError) error = NULL;

	hide_manager(u);
	u->is_shown = shown;
	if (shown && u->devices[0].fd >= 0 &&
	    !declare_manager(u, &u->issm_port, 1, &error))
		umad_say(u, UMAD_NOTE, error->message);
}

/* MADs that arrive now are dropped, but they must be read: until no more are
 * due or arrive. */
static void
drain(struct umad_device *d)
{
	transport_recv_fn on_recv = d->u->base.on_recv;
	size_t len;

	if (d->fd < 0)
		return;
	d->u->base.on_recv = NULL;
	while (umad_poll(d->fd, d->waiting ? DRAIN_MS : 0) == 0 &&
	       (len = read_mad(d)) > 0)
		deliver(d, len);
	d->u->base.on_recv = on_recv;	/* the port may be bound again */
}

/* Everything that belongs to the devices. */
static void
unbind_port(struct umad_transport *u)
{
	bool lost = is_lost(u);

	hide_manager(u);
	for (unsigned k = 0; k < G_N_ELEMENTS(u->devices); k++) {
		struct umad_device *d = &u->devices[k];

		if (d->watcher) {
			g_mutex_lock(&d->mutex);
			d->stop = true;
			g_cond_signal(&d->changed);
			g_mutex_unlock(&d->mutex);
			g_thread_join(g_steal_pointer(&d->watcher));
			d->stop = false;
		}
		if (!lost)
			drain(d);
		for (unsigned i = 0; i < AGENTS; i++) {
			if (d->agents[i] >= 0)
				umad_unregister(d->fd, d->agents[i]);
			d->agents[i] = -1;
		}
		if (d->fd >= 0)
			umad_close_port(d->fd);
		d->fd = -1;
		d->waiting = d->errors = d->refused = 0;
		d->failed = 0;
	}
}

static void
umad_transport_free(struct transport *t)
{
	struct umad_transport *u = (struct umad_transport *)t;

	unbind_port(u);
	for (unsigned k = 0; k < G_N_ELEMENTS(u->devices); k++) {
		struct umad_device *d = &u->devices[k];

		g_source_destroy(d->source);
		g_source_unref(d->source);
		g_mutex_clear(&d->mutex);
		g_cond_clear(&d->changed);
		g_free(d->in.umad);
	}
	transport_timer_clear(t, &u->reopen);
	g_main_context_unref(u->context);
	g_free(u->out.umad);
	g_free(u->told);
	g_free(u);
}

static const struct transport_ops umad_ops = {
	.send = umad_transport_send,
	.now = umad_transport_now,
	.timer_start = umad_timer_start,
	.timer_cancel = umad_timer_cancel,
	.free = umad_transport_free,
};

static struct umad_transport *
umad_transport_new(const struct umad_choice *choice)
{
	struct umad_transport *u = g_new(struct umad_transport, 1);

	*u = (struct umad_transport){
		.base = { .ops = &umad_ops, .rmpp = true,
			  .in_real_time = true },
		.role = choice->role, .event = choice->event,
		.event_data = choice->event_data, .issm_fd = -1,
		.context = g_main_context_ref_thread_default(),
		.reopen_ms = REOPEN_MIN_MS,
	};
	for (unsigned k = 0; k < G_N_ELEMENTS(u->devices); k++) {
		struct umad_device *d = &u->devices[k];

		d->u = u;
		d->fd = -1;
		for (unsigned i = 0; i < AGENTS; i++)
			d->agents[i] = -1;
		d->source = g_source_new(&source_funcs, sizeof(GSource));
		g_source_set_callback(d->source, NULL, d, NULL);
		g_source_attach(d->source, u->context);
		g_mutex_init(&d->mutex);
		g_cond_init(&d->changed);
	}
	return u;
}

/* Opens it for the agents from `first` to `last`. */
static bool
open_device(struct umad_device *d, const struct local_port *port,
	    unsigned first, unsigned last, GError **error)
{
	const char *name = d->u->base.name;
	bool manages = d->u->role != UMAD_ROLE_READER;

	d->fd = umad_open_port(port->ca_name, (int)port->num);
	if (d->fd < 0) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_OPEN,
			    "%s: cannot open its umad device: %s%s", name,
			    g_strerror(errno),
			    errno == EACCES || errno == EPERM ?
			    ": run as root, or give this user "
			    "/dev/infiniband/umad* and issm*" : "");
		return false;
	}
	/* not earlier: umad_size() is true only once a port was opened */
	buffer_fit(&d->in, MAD_SIZE);
	for (unsigned i = first; i <= last; i++) {
		const struct registration *r = &registrations[i];
		/* an array of long for libibumad, and of 128 bits */
		long mask[16 / sizeof(long)] = { r->methods };

		/* a reader leaves requests and traps to the manager */
		d->agents[i] = umad_register(d->fd, r->mgmt_class,
					     r->class_version, r->rmpp_version,
					     manages ? mask : NULL);
		if (d->agents[i] >= 0)
			continue;
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_OPEN,
			    "%s: cannot register for class 0x%02x: %s%s", name,
			    r->mgmt_class, g_strerror(errno),
			    errno == EPROTONOSUPPORT ? i == AGENT_SA ?
			    " (a device for SMPs only; the other one of this "
			    "PortGUID, for GMPs, is missing)" :
			    " (the device has no QP 0)" : manages ?
			    " (is another subnet manager bound to it?)" : "");
		return false;
	}
	d->armed = false;
	g_source_set_ready_time(d->source, 0);
	return true;
}

/* gsi: the same port, or that of the device for GMPs */
static bool
bind_port(struct umad_transport *u, const struct local_port *port,
	  const struct local_port *gsi, unsigned issm_tries, GError **error)
{
	char *name = u->base.name;

	u->base.port_guid = port->guid;
	u->base.port_num = (uint8_t)port->num;
	g_snprintf(name, sizeof(u->base.name), "%s port %u", port->ca_name,
		   port->num);
	if (gsi == port) {
		if (!open_device(&u->devices[0], port, 0, AGENTS - 1, error))
			return false;
	} else {
		g_snprintf(name + strlen(name), sizeof(u->base.name) -
			   strlen(name), ", GSI %s port %u", gsi->ca_name,
			   gsi->num);
		if (!open_device(&u->devices[0], port, 0, AGENT_LID, error) ||
		    !open_device(&u->devices[1], gsi, AGENT_SA, AGENT_SA,
				 error))
			return false;
	}
	u->issm_port = *port;
	u->opened = g_get_monotonic_time();
	return !u->is_shown || declare_manager(u, port, issm_tries, error);
}

/* ------------------------------------------------- a device that went away */

static void on_reopen(void *data);

static void
reopen_later(struct umad_transport *u)
{
	u->reopen = transport_timer_in(&u->base, u->reopen_ms * (int64_t)1000,
				       on_reopen, u);
	u->reopen_ms = MIN(2 * u->reopen_ms, REOPEN_MAX_MS);
}

static void
leave_device(struct umad_device *d)
{
	struct umad_transport *u = d->u;
	g_autofree char *why = g_strdup(g_strerror(d->failed));

	unbind_port(u);
	g_clear_pointer(&u->told, g_free);
	/* the pause stays long for a device that comes and goes */
	if (g_get_monotonic_time() - u->opened >
	    REOPEN_MAX_MS * 2 * (int64_t)1000)
		u->reopen_ms = REOPEN_MIN_MS;
	reopen_later(u);
	umad_say(u, UMAD_LOST, why);
}

static void
on_reopen(void *data)
{
	struct umad_transport *u = data;
	const struct local_port_wish wish = { .guid = u->base.port_guid };
	g_autoptr(GArray) ports = list_ports();
	g_autoptr(GError) error = NULL;
	const struct local_port *port;

	u->reopen = 0;
	port = local_port_choose(ports, &wish);
	if (port && bind_port(u, port, local_port_gsi(ports, port), 1, &error)) {
		umad_say(u, UMAD_BACK, u->base.name);
		return;
	}
	/* The port exists, but cannot be used: reported once for each
	 * reason. */
	if (error && g_strcmp0(u->told, error->message) != 0) {
		g_free(u->told);
		u->told = g_strdup(error->message);
		umad_say(u, UMAD_NOTE, error->message);
	}
	unbind_port(u);
	reopen_later(u);
}

/* ---------------------------------------------------------------- opening */

struct transport *
umad_transport_open(const struct umad_choice *choice, GError **error)
{
	const struct local_port_wish wish = {
		.ca_name = choice->port_guid ? NULL : choice->ca_name,
		.num = choice->port_guid ? 0 : choice->port_num,
		.guid = choice->port_guid,
	};
	g_autoptr(GArray) ports = NULL;
	const struct local_port *port;
	struct umad_transport *u;
	int fd;

	/* libibumad does not look, and its open fails with another call's
	 * errno. */
	fd = open("/sys/class/infiniband_mad/abi_version",
		  O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || umad_init() < 0) {
		g_set_error_literal(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_OPEN, "the kernel module "
				    "ib_umad is not loaded: try \"modprobe "
				    "ib_umad\"; local ports: none");
		return NULL;
	}
	ports = list_ports();
	port = local_port_choose(ports, &wish);
	if (!port) {
		/* why, and the list of ports */
		g_autoptr(GString) text = g_string_new(NULL);

		local_port_explain(ports, &wish, text);
		g_set_error_literal(error, TRANSPORT_ERROR,
				    TRANSPORT_ERROR_OPEN, text->str);
		return NULL;
	}
	u = umad_transport_new(choice);
	g_autoptr(GString) text = g_string_new(NULL);

	if (local_port_tell_choice(ports, &wish, port, text))
		umad_say(u, UMAD_NOTE, text->str);
	u->is_shown = u->role == UMAD_ROLE_MANAGER ||
		(u->role == UMAD_ROLE_GUEST && !local_port_obeys_another(port));
	if (bind_port(u, port, local_port_gsi(ports, port), ISSM_TRIES, error))
		return &u->base;
	umad_transport_free(&u->base);
	return NULL;
}
