// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transport that speaks ibsim's own datagrams.
 *
 * The simulator has one socket for control, NAME:ctl, and one for the MADs of
 * each client slot, NAME:out0 and up, all AF_UNIX datagram sockets in the
 * abstract name space; a name counts with the zero byte at its end. A client
 * brings two of its own, and a number for itself:
 *
 *	client				ibsim
 *	NAME:ctl<number>  <-- control -->  NAME:ctl	a request, a reply
 *	NAME:in<number>   <--- MADs ---->  NAME:out<slot>
 *
 * Connect tells the number, from which ibsim makes the name of the socket that
 * it sends to, and is answered with the slot. The shim takes its process id
 * for the number; here a process may be several clients, so the bits above
 * those of a process id count, and what is taken is passed over.
 *
 * Control is done in lockstep, blocking, when a transport is opened and when
 * it is freed; MADs never block. Each datagram is one whole MAD with its
 * addresses, which stand in network order, and a status: 110 (ETIMEDOUT) with
 * our own request is its return, since nobody took it. As in the kernel an
 * answer of ours that could not be delivered is nobody's concern.
 *
 * The simulator sits on its own write until the receiver has room. As we never
 * wait for it, that is no deadlock; a send that finds no room is refused.
 *
 * A slot keeps its queue when its client goes: what we asked and what is not
 * worked off yet would be answered to the next one. So whoever leaves reads
 * first what is still due.
 *
 * Source of names and layouts: include/ibsim.h of ibsim 0.10 and 0.12 (the
 * same in both), and what the shim was seen to send.
 */
#define _GNU_SOURCE	/* recvmmsg */
#include "sm/io/ibsim.h"

#include <endian.h>
#include <errno.h>
#include <glib-unix.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sm/io/timers.h"
#include "sm/wire/smp.h"

#define SERVER_WAIT_MS	2000
#define RETRY_US	20000
#define DRAIN_MS	50

#define BATCH		32u	/* datagrams in one system call */
#define TURN_MAX	256u	/* and in one turn of the main loop */
/* Room for windows of some hundred; the kernel may grant less. */
#define SEND_BUFFER	(1 << 20)

#define NUMBERS		256u	/* clients of one process */
#define PROCESS_BITS	22	/* Linux has no greater process id */

#define CONTROL_MAGIC	0xdeadbeefu
#define CONTROL_DATA	64u
#define NODE_ID_LEN	32u
#define SLOTS		10u

enum control_type {
	CONTROL_ERROR = 0,	/* only in replies */
	CONTROL_CONNECT = 1,
	CONTROL_DISCONNECT = 2,
	CONTROL_NODE_INFO = 7,
	CONTROL_PORT_INFO = 8,
	CONTROL_IS_SM = 9,
};

/* Host order: the simulator is on the same machine. */
struct control {
	uint32_t magic;
	uint32_t slot;
	uint32_t type;
	uint32_t len;
	uint8_t data[CONTROL_DATA];
};

struct hello {
	uint32_t number;	/* in the reply: the slot */
	uint32_t qp;
	uint32_t is_sm;
	char node_id[NODE_ID_LEN];
};

/* The LIDs stand in the first two bytes of their words. */
struct packet {
	uint16_t dlid, reserved1;
	uint16_t slid, reserved2;
	uint32_t dqp, sqp;
	uint32_t status;
	uint32_t reserved3;
	uint64_t length;
	uint8_t mad[MAD_SIZE];
};

G_STATIC_ASSERT(sizeof(struct control) == 80);
G_STATIC_ASSERT(sizeof(struct hello) == 44);
G_STATIC_ASSERT(sizeof(struct packet) == 288);

struct ibsim {
	struct transport base;
	char *sockname;
	uint32_t number;
	uint32_t slot;
	int control_fd, mad_fd;
	bool attached, declared;
	unsigned waiting;		/* answers that are due */
	struct timers *timers;
	GSource *source;		/* on_readable */
	struct packet in[BATCH];
};

static struct ibsim *
ibsim_of(struct transport *t)
{
	return (struct ibsim *)t;
}

/* ----------------------------------------------------------------- control */

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool
fail(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (error)
		*error = g_error_new_valist(TRANSPORT_ERROR,
					    TRANSPORT_ERROR_OPEN, format,
					    args);
	va_end(args);
	return false;
}

/* NAME:SUFFIX, or NAME:SUFFIX<number>. False if that is too long. */
static bool
make_address(const char *sockname, const char *suffix, int64_t number,
	     struct sockaddr_un *address, socklen_t *len)
{
	const size_t room = sizeof(address->sun_path) - 1;
	int n;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (number < 0)
		n = g_snprintf(address->sun_path + 1, room, "%s:%s", sockname,
			       suffix);
	else
		n = g_snprintf(address->sun_path + 1, room, "%s:%s%u",
			       sockname, suffix, (unsigned)number);
	if (n < 0 || (size_t)n >= room)
		return false;
	*len = offsetof(struct sockaddr_un, sun_path) + 1 + n + 1;
	return true;
}

static bool
bind_to(int fd, const struct ibsim *s, const char *suffix)
{
	struct sockaddr_un address;
	socklen_t len;

	if (!make_address(s->sockname, suffix, s->number, &address, &len)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return bind(fd, (struct sockaddr *)&address, len) == 0;
}

/* Takes a number that no other client has. */
static bool
bind_sockets(struct ibsim *s, GError **error)
{
	for (uint32_t i = 0; i < NUMBERS; i++) {
		s->control_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		s->mad_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC |
				   SOCK_NONBLOCK, 0);
		if (s->control_fd < 0 || s->mad_fd < 0)
			return fail(error, "no socket for ibsim: %s",
				    g_strerror(errno));
		s->number = (uint32_t)getpid() | i << PROCESS_BITS;
		if (bind_to(s->control_fd, s, "ctl") &&
		    bind_to(s->mad_fd, s, "in"))
			return true;
		if (errno != EADDRINUSE)
			return fail(error, "cannot bind to the ibsim "
				    "\"%s\": %s", s->sockname,
				    g_strerror(errno));
		close(s->control_fd);
		close(s->mad_fd);
		s->control_fd = s->mad_fd = -1;
	}
	return fail(error, "this process has %u clients of ibsim already",
		    NUMBERS);
}

static bool
connect_to(int fd, const struct ibsim *s, const char *suffix, int64_t number)
{
	struct sockaddr_un address;
	socklen_t len;

	return make_address(s->sockname, suffix, number, &address, &len) &&
		connect(fd, (struct sockaddr *)&address, len) == 0;
}

/* The simulator may have been started a moment ago. */
static bool
find_server(struct ibsim *s, GError **error)
{
	int64_t end = g_get_monotonic_time() + SERVER_WAIT_MS * 1000;

	while (!connect_to(s->control_fd, s, "ctl", -1)) {
		if (errno != ECONNREFUSED)
			return fail(error, "cannot connect to the ibsim "
				    "\"%s\": %s", s->sockname,
				    g_strerror(errno));
		if (g_get_monotonic_time() >= end)
			return fail(error, "there is no ibsim with socket "
				    "name \"%s\" (waited %d s)", s->sockname,
				    SERVER_WAIT_MS / 1000);
		g_usleep(RETRY_US);
	}
	return true;
}

/* One request, one reply, into data. False: an error reply, or none (errno;
 * EPROTO: the reply says no). */
static bool
control(struct ibsim *s, enum control_type type, void *data, size_t len)
{
	struct control c = {
		.magic = CONTROL_MAGIC, .slot = s->slot, .type = type,
		.len = len,
	};
	struct pollfd readable = { .fd = s->control_fd, .events = POLLIN };

	if (len)
		memcpy(c.data, data, len);
	if (send(s->control_fd, &c, sizeof(c), MSG_NOSIGNAL) != sizeof(c))
		return false;
	errno = ETIMEDOUT;
	if (poll(&readable, 1, SERVER_WAIT_MS) != 1)
		return false;
	if (recv(s->control_fd, &c, sizeof(c), MSG_DONTWAIT) != sizeof(c))
		return false;
	errno = EPROTO;
	if (c.magic != CONTROL_MAGIC || c.type == CONTROL_ERROR)
		return false;
	if (len)
		memcpy(data, c.data, len);
	return true;
}

static bool
say_hello(struct ibsim *s, const char *host, enum ibsim_role role,
	  struct hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	hello->number = s->number;
	hello->is_sm = role == IBSIM_ROLE_MANAGER;
	if (host)
		g_strlcpy(hello->node_id, host, sizeof(hello->node_id));
	s->slot = 0;
	if (!control(s, CONTROL_CONNECT, hello, sizeof(*hello)))
		return false;
	s->slot = hello->number;
	s->attached = true;
	hello->node_id[NODE_ID_LEN - 1] = '\0';
	return true;
}

static void
say_goodbye(struct ibsim *s)
{
	uint32_t off = 0;

	if (!s->attached)
		return;
	if (s->declared)
		control(s, CONTROL_IS_SM, &off, sizeof(off));
	control(s, CONTROL_DISCONNECT, NULL, 0);
	s->attached = s->declared = false;
}

/* An error reply has no reason: asking for less and less shows it. */
static bool
explain_refusal(struct ibsim *s, const char *host, enum ibsim_role role,
		GError **error)
{
	struct hello hello;

	if (errno != EPROTO)
		return fail(error, "the ibsim \"%s\" does not answer: %s",
			    s->sockname, g_strerror(errno));
	if (role == IBSIM_ROLE_MANAGER &&
	    say_hello(s, host, IBSIM_ROLE_READER, &hello)) {
		say_goodbye(s);
		return fail(error, "ibsim \"%s\": another client is the "
			    "subnet manager on %s", s->sockname,
			    hello.node_id);
	}
	if (host && say_hello(s, NULL, IBSIM_ROLE_READER, &hello)) {
		say_goodbye(s);
		return fail(error, "ibsim \"%s\": there is no node \"%s\"",
			    s->sockname, host);
	}
	return fail(error, "ibsim \"%s\": all its %u client slots are taken",
		    s->sockname, SLOTS);
}

/* --------------------------------------------------------------- receiving */

/* Whether somebody is to answer: not to what is an answer. */
static bool
asks(uint8_t method)
{
	return !(method & MAD_METHOD_RESPONSE) &&
		method != MAD_METHOD_TRAP && method != MAD_METHOD_TRAP_REPRESS;
}

static void
deliver(struct ibsim *s, const struct packet *p)
{
	bool returned = p->status != 0;
	struct transport_mad m = {
		.event = returned ? TRANSPORT_RETURNED : TRANSPORT_RECEIVED,
		.mad = p->mad,
		.len = MAD_SIZE,
		.addr = {
			/* ours still has the addresses that we gave it */
			.qp = be32toh(returned ? p->dqp : p->sqp),
			.lid = be16toh(returned ? p->dlid : p->slid),
		},
	};

	if (returned ? asks(p->mad[3]) : p->mad[3] & MAD_METHOD_RESPONSE)
		s->waiting -= s->waiting > 0;
	else if (returned)
		return;
	if (s->base.on_recv)
		s->base.on_recv(&m, s->base.recv_data);
}

/* The number of datagrams that came, or 0 (errno). */
static unsigned
read_batch(struct ibsim *s)
{
	struct mmsghdr messages[BATCH];
	struct iovec parts[BATCH];
	int n;

	memset(messages, 0, sizeof(messages));
	for (unsigned i = 0; i < BATCH; i++) {
		parts[i].iov_base = &s->in[i];
		parts[i].iov_len = sizeof(s->in[i]);
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(s->mad_fd, messages, BATCH, MSG_DONTWAIT, NULL);
	if (n <= 0)
		return 0;
	for (int i = 0; i < n; i++)
		if (messages[i].msg_len == sizeof(struct packet))
			deliver(s, &s->in[i]);
	return n;
}

static gboolean
on_readable(gint fd, GIOCondition condition, void *data)
{
	struct ibsim *s = data;

	for (unsigned n = 0; n < TURN_MAX;) {
		unsigned got = read_batch(s);

		n += got;
		if (got)
			continue;
		if (errno == EAGAIN || errno == EINTR)
			return G_SOURCE_CONTINUE;
		/* the simulator is gone; it would wake us for ever */
		return G_SOURCE_REMOVE;
	}
	return G_SOURCE_CONTINUE;
}

/* Until nothing more is due, or comes. */
static void
drain(struct ibsim *s)
{
	struct pollfd readable = { .fd = s->mad_fd, .events = POLLIN };

	s->base.on_recv = NULL;
	while (s->waiting > 0 && poll(&readable, 1, DRAIN_MS) == 1)
		if (!read_batch(s))
			return;
}

/* ----------------------------------------------------------------- sending */

static bool
ibsim_send(struct transport *t, const struct mad_addr *to, const uint8_t *mad,
	   size_t len, unsigned timeout_ms, GError **error)
{
	struct ibsim *s = ibsim_of(t);
	struct packet p = {
		.dlid = htobe16(to->lid),
		/* 0: the simulator puts in our own */
		.slid = to->lid == LID_PERMISSIVE ? LID_PERMISSIVE : 0,
		.dqp = htobe32(to->qp), .sqp = htobe32(to->qp),
		.length = htobe64(MAD_SIZE),
	};

	g_assert(len >= MAD_SIZE);
	if (len > MAD_SIZE) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND,
			    "%s: %zu bytes are more than a MAD", t->name, len);
		return false;
	}
	memcpy(p.mad, mad, MAD_SIZE);
	if (send(s->mad_fd, &p, sizeof(p), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND,
			    "%s: cannot send: %s", t->name,
			    errno == EAGAIN ? "the simulator's queue is full" :
			    g_strerror(errno));
		return false;
	}
	s->waiting += asks(mad[3]);
	return true;
}

/* ------------------------------------------------------------------ timers */

static int64_t
ibsim_now(struct transport *t)
{
	return timers_now();
}

static unsigned
ibsim_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		  void *data)
{
	return timers_start(ibsim_of(t)->timers, when, fn, data);
}

static void
ibsim_timer_cancel(struct transport *t, unsigned id)
{
	timers_cancel(ibsim_of(t)->timers, id);
}

/* ---------------------------------------------------------- open and close */

static void
ibsim_free(struct transport *t)
{
	struct ibsim *s = ibsim_of(t);

	if (s->attached)
		drain(s);
	say_goodbye(s);
	if (s->source) {
		g_source_destroy(s->source);
		g_source_unref(s->source);
	}
	if (s->control_fd >= 0)
		close(s->control_fd);
	if (s->mad_fd >= 0)
		close(s->mad_fd);
	timers_free(s->timers);
	g_free(s->sockname);
	g_free(s);
}

static const struct transport_ops ibsim_ops = {
	.send = ibsim_send,
	.now = ibsim_now,
	.timer_start = ibsim_timer_start,
	.timer_cancel = ibsim_timer_cancel,
	.free = ibsim_free,
};

/* Which port it is. ibsim numbers the GUIDs of a CA's ports on from that of
 * the node, and answers NodeInfo so, whatever it stores. */
static bool
learn_port(struct ibsim *s, const char *node_id, GError **error)
{
	uint8_t data[SMP_DATA_LEN] = { 0 };
	struct node_info node;
	struct port_info port;

	if (!control(s, CONTROL_NODE_INFO, data, sizeof(data)))
		return fail(error, "ibsim \"%s\": no NodeInfo of %s",
			    s->sockname, node_id);
	node_info_decode(data, &node);
	memset(data, 0, sizeof(data));
	if (!control(s, CONTROL_PORT_INFO, data, sizeof(data)))
		return fail(error, "ibsim \"%s\": no PortInfo of %s",
			    s->sockname, node_id);
	port_info_decode(data, &port);
	s->base.port_num = port.local_port;
	s->base.port_guid = node.node_guid +
		(node.node_type == NODE_SWITCH ? 0 : port.local_port);
	g_snprintf(s->base.name, sizeof(s->base.name), "ibsim %s port %u",
		   node_id, port.local_port);
	return true;
}

/* The socket for MADs is connected before the port is declared an SM, which
 * is when requests and traps of others begin to come. */
static bool
attach(struct ibsim *s, const char *host, enum ibsim_role role,
       GError **error)
{
	const int size = SEND_BUFFER;
	uint32_t on = 1;
	struct hello hello;

	if (host && strlen(host) >= NODE_ID_LEN)
		return fail(error, "\"%s\" is longer than a node id of ibsim",
			    host);
	if (!bind_sockets(s, error) || !find_server(s, error))
		return false;
	if (!say_hello(s, host, role, &hello))
		return explain_refusal(s, host, role, error);
	if (!connect_to(s->mad_fd, s, "out", s->slot))
		return fail(error, "ibsim \"%s\": cannot connect to slot %u: "
			    "%s", s->sockname, s->slot, g_strerror(errno));
	/* without it there is less room, not none */
	setsockopt(s->mad_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (!learn_port(s, hello.node_id, error))
		return false;
	if (role == IBSIM_ROLE_READER)
		return true;
	s->declared = control(s, CONTROL_IS_SM, &on, sizeof(on));
	return s->declared || fail(error, "ibsim \"%s\": %s cannot be "
				   "declared a subnet manager", s->sockname,
				   hello.node_id);
}

struct transport *
ibsim_transport_open(const char *sockname, const char *host,
		     enum ibsim_role role, GError **error)
{
	struct ibsim *s = g_new0(struct ibsim, 1);
	GMainContext *context = g_main_context_ref_thread_default();

	s->base.ops = &ibsim_ops;
	s->sockname = g_strdup(sockname);
	s->control_fd = s->mad_fd = -1;
	s->timers = timers_new(context);
	if (attach(s, host, role, error)) {
		s->source = g_unix_fd_source_new(s->mad_fd, G_IO_IN);
		g_source_set_callback(s->source, G_SOURCE_FUNC(on_readable),
				      s, NULL);
		g_source_attach(s->source, context);
	} else {
		ibsim_free(&s->base);
		s = NULL;
	}
	g_main_context_unref(context);
	return s ? &s->base : NULL;
}
