// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rules of Linux's ib_umad and ib_mad for one port.
 *
 * A program opens the device (a file) and registers agents with it: a class,
 * its version, the methods that it serves, and whether the kernel does RMPP
 * for it. (class, version, method) belongs to one agent of the port.
 *
 *	write --> send ---------------------> transport
 *	            |  waits for its answer        |
 *	            v                              v
 *	        time-out, retries           on_receive --> agent
 *	            |                              |
 *	            +--> 24 bytes, ETIMEDOUT       +--> RMPP --> deliver
 *
 * The upper half of a request's TID is set to the agent's number, by which the
 * answer is delivered to the agent. The answer to a request that has timed out
 * is dropped; a request without an agent is answered with "unsupported". A send
 * is pending if it has a time-out, or if it is an RMPP message: then until the
 * last segment is acknowledged.
 *
 * An answer has the request's TID and class; a GRH if the request had one, and
 * if not, it comes to the LID that the request came from (not so by directed
 * route).
 *
 * Two pending sends may not have the same key (EINVAL): requests their TID and
 * class, responses their destination, too. Segments of a program that does RMPP
 * itself may.
 */
#include "lab/kernel.h"

#include <errno.h>
#include <string.h>

#include "lab/rmpp.h"
#include "lab/rules.h"
#include "sm/mad/bytes.h"
#include "sm/mad/mad.h"
#include "sm/mad/smp.h"
#include "topology/each.h"

#define N_AGENTS	32u
#define HDR		sizeof(struct ib_user_mad_hdr)
#define MAD_HDR		24u
#define OFF_TID		8
#define OFF_OUI		37
#define VERSION_MAX	0x83u
#define CLASS_MAX	0x50u
#define SEGMENT_MS	2000u	/* for an ACK, at most */

/* Requests of an agent in flight, from Linux 6.17 on; more are queued, and their
 * time-out does not run. */
#define SMPS_MAX	128u
#define GMPS_MAX	16u

struct agent {
	struct kernel_file *file;
	unsigned id;
	uint32_t hi_tid, qp;
	uint8_t mgmt_class, version, oui[3];
	enum rules_agent kind;
	uint64_t methods[2];
	unsigned limit;		/* of `out`; 0: none */
	unsigned out;		/* solicited */
	GQueue backlog;		/* struct send */
	GPtrArray *receives;	/* struct receive */
};

struct kernel_file {
	struct kernel_port *port;
	unsigned qps;
	struct agent *agents[N_AGENTS];
	GHashTable *sends;	/* struct send by key, the oldest of each */
	kernel_deliver_fn deliver;
	void *data;
	bool used;
};

struct kernel_port {
	struct transport *transport;
	const uint8_t *lmc;
	struct kernel_limits limits;
	GPtrArray *agents;	/* of all files */
	uint32_t last_tid;
};

/* The key by which a received MAD finds a pending send: TID; LID (of a request
 * 0), class and method (of a send only the response bit). */
struct key {
	uint64_t tid, rest;
};

/* A pending send. */
struct send {
	struct key key;		/* the first member */
	struct send *next;	/* of the same key */
	struct agent *agent;
	struct ib_user_mad_hdr hdr;	/* as it was written */
	struct mad_addr to;
	unsigned timer, retries;
	bool counted;		/* in agent->out */
	struct rmpp *transfer;	/* NULL: a MAD */
	size_t len;
	uint8_t data[];
};

struct receive {
	struct key key;		/* the first member */
	struct agent *agent;
	struct mad_addr from;
	struct rmpp *transfer;
};

static struct key
make_key(uint64_t tid, uint16_t lid, unsigned mgmt_class, unsigned method)
{
	return (struct key) {
		tid, (uint64_t)lid << 16 | mgmt_class << 8 | method,
	};
}

static guint
key_hash(gconstpointer key)
{
	const struct key *k = key;

	return g_int64_hash(&k->tid) ^ g_int64_hash(&k->rest);
}

static gboolean
key_equal(gconstpointer a, gconstpointer b)
{
	const struct key *p = a, *q = b;

	return p->tid == q->tid && p->rest == q->rest;
}

/* The oldest; NULL: none is pending. */
static struct send *
find_send(const struct kernel_file *f, struct key key)
{
	return g_hash_table_lookup(f->sends, &key);
}

/* ---------------------------------------------------------------- delivery */

static void
kernel_deliver(struct agent *a, const struct mad_addr *from, const uint8_t *mad,
	       size_t len)
{
	struct ib_user_mad_hdr hdr = {
		.id = a->id, .length = HDR + len,
		.qpn = htobe32(from->qp), .lid = htobe16(from->lid),
		.sl = from->sl, .pkey_index = from->pkey_index,
		.path_bits = from->path_bits, .grh_present = from->grh,
	};

	if (from->grh) {
		memcpy(hdr.gid, from->gid, sizeof(hdr.gid));
		hdr.hop_limit = from->hop_limit;
		hdr.traffic_class = from->traffic_class;
		hdr.flow_label = htobe32(from->flow_label);
	}
	a->file->deliver(&hdr, mad, len, a->file->data);
}

/* ------------------------------------------------------------------- sends */

static void start_send(struct send *s);

static void
send_free(struct send *s)
{
	transport_timer_clear(s->agent->file->port->transport, &s->timer);
	rmpp_free(s->transfer);
	g_free(s);
}

static void
remove_send(struct kernel_file *f, struct send *s)
{
	struct send *before = find_send(f, s->key);

	if (before == s) {
		g_hash_table_remove(f->sends, s);
		if (s->next)
			g_hash_table_add(f->sends, s->next);
		return;
	}
	while (before->next != s)
		before = before->next;
	before->next = s->next;
}

/* The send is no longer pending; the first one of the backlog is sent. */
static void
end_send(struct send *s)
{
	struct agent *a = s->agent;
	struct send *next = NULL;

	remove_send(a->file, s);
	if (s->counted) {
		a->out--;
		next = g_queue_pop_head(&a->backlog);
	} else {
		g_queue_remove(&a->backlog, s);
	}
	send_free(s);
	if (next)
		start_send(next);
}

static void
give_back(struct send *s)
{
	struct kernel_file *f = s->agent->file;
	struct ib_user_mad_hdr hdr = s->hdr;
	uint8_t mad[MAD_HDR];

	memcpy(mad, s->data, sizeof(mad));
	hdr.status = ETIMEDOUT;
	hdr.length = HDR + sizeof(mad);
	end_send(s);
	f->deliver(&hdr, mad, sizeof(mad), f->data);
}

static void kernel_on_timeout(void *data);

static void
wait_for_answer(struct send *s)
{
	s->timer = transport_timer_in(s->agent->file->port->transport,
				      (int64_t)s->hdr.timeout_ms * 1000,
				      kernel_on_timeout, s);
}

static void
kernel_on_timeout(void *data)
{
	struct send *s = data;

	s->timer = 0;
	if (!s->retries--) {
		give_back(s);
		return;
	}
	if (!s->transfer)
		transport_send(s->agent->file->port->transport, &s->to,
			       s->data, MAD_SIZE, 0, NULL);
	wait_for_answer(s);
}

/* The last segment is acknowledged, or the transfer has failed. */
static void
on_sent(enum rmpp_outcome outcome, void *data)
{
	struct send *s = data;

	if (outcome == RMPP_GAVE_UP)
		give_back(s);
	else if (outcome == RMPP_DONE && s->hdr.timeout_ms)
		wait_for_answer(s);
	else
		end_send(s);
}

static void
start_send(struct send *s)
{
	struct agent *a = s->agent;
	unsigned ms = s->hdr.timeout_ms;

	s->counted = ms;
	a->out += s->counted;
	if (rules_by_kernel(a->kind, s->data)) {
		ms = ms && ms < SEGMENT_MS ? ms : SEGMENT_MS;
		s->transfer = rmpp_send(a->file->port->transport, &s->to,
					rules_header_len(s->data[1]),
					s->data, s->len, ms * INT64_C(1000),
					s->hdr.retries, on_sent, s);
		return;
	}
	transport_send(a->file->port->transport, &s->to, s->data, MAD_SIZE, 0,
		       NULL);
	wait_for_answer(s);
}

static struct send *
send_new(struct agent *a, const struct ib_user_mad_hdr *hdr,
	 const uint8_t *data, size_t len)
{
	struct send *s = g_malloc0(sizeof(*s) + MAX(len, MAD_SIZE));
	bool is_response = rules_is_response(data);

	s->agent = a;
	s->hdr = *hdr;
	s->retries = hdr->retries;
	s->to.lid = be16toh(hdr->lid);
	/* It leaves by the agent's QP, and a port takes a class only from the
	 * QP that it comes to: the wrong one of the two is what counts. */
	s->to.qp = be32toh(hdr->qpn);
	if (s->to.qp == !(data[1] == MAD_CLASS_SMP_LID ||
			  data[1] == MAD_CLASS_SMP_DIRECT))
		s->to.qp = a->qp;
	s->to.qkey = s->to.qp ? MAD_GSI_QKEY : 0;
	s->to.sl = hdr->sl & 0xf;
	s->to.pkey_index = hdr->pkey_index;
	s->to.path_bits = hdr->path_bits & ((1u << *a->file->port->lmc) - 1);
	s->to.grh = hdr->grh_present;
	s->to.hop_limit = hdr->hop_limit;
	s->to.traffic_class = hdr->traffic_class;
	s->to.flow_label = be32toh(hdr->flow_label);
	memcpy(s->to.gid, hdr->gid, sizeof(s->to.gid));
	s->len = len;
	memcpy(s->data, data, len);
	if (!is_response)
		bytes_store32(s->data + OFF_TID, a->hi_tid);
	s->key = make_key(bytes_load64(s->data + OFF_TID),
			  is_response ? s->to.lid : 0, data[1],
			  data[3] & MAD_METHOD_RESPONSE);
	return s;
}

int
kernel_write(struct kernel_file *f, const uint8_t *buf, size_t len)
{
	struct ib_user_mad_hdr hdr;
	struct agent *a;
	struct send *s, *last;
	int error;

	if (len < HDR)
		return -EINVAL;
	memcpy(&hdr, buf, HDR);
	if (hdr.id >= N_AGENTS)
		return -EINVAL;
	a = f->agents[hdr.id];
	buf += HDR;
	len -= HDR;
	error = rules_refuse(a ? a->kind : RULES_AGENT_ABSENT, buf, len);
	if (error)
		return -error;
	s = send_new(a, &hdr, buf, len);
	last = find_send(f, s->key);
	if (!rules_by_program(a->kind, buf) && last) {
		send_free(s);
		return -EINVAL;
	}
	if (!hdr.timeout_ms && !rules_by_kernel(a->kind, buf)) {
		transport_send(f->port->transport, &s->to, s->data, MAD_SIZE,
			       0, NULL);
		send_free(s);
		return 0;
	}
	while (last && last->next)
		last = last->next;
	if (last)
		last->next = s;
	else
		g_hash_table_add(f->sends, s);
	if (hdr.timeout_ms && a->limit && a->out >= a->limit)
		g_queue_push_tail(&a->backlog, s);
	else
		start_send(s);
	return 0;
}

/* --------------------------------------------------------------- receiving */

/* A whole MAD or message. An answer ends its request; it is delivered before a
 * request of the backlog is sent. Of several segments for a program that does
 * RMPP itself the first is the answer. */
static void
complete(struct agent *a, const struct mad_addr *from, const uint8_t *mad,
	 size_t len)
{
	struct send *s = NULL;
	struct mad_header h;
	uint8_t head[MAD_SIZE] = { 0 };

	memcpy(head, mad, MIN(len, MAD_SIZE));
	mad_header_read(head, MAD_SIZE, &h);
	if (rules_is_response(head)) {
		s = find_send(a->file, make_key(h.tid, 0, h.mgmt_class, 0));
		if (s && h.mgmt_class != MAD_CLASS_SMP_DIRECT &&
		    (from->grh != s->to.grh ||
		     (!from->grh && from->path_bits != s->to.path_bits)))
			s = NULL;
		if (!s && !rules_by_program(a->kind, head))
			return;
	}
	kernel_deliver(a, from, mad, len);
	if (s)
		end_send(s);
}

static void
on_message(const uint8_t *message, size_t len, void *data)
{
	struct receive *r = data;

	complete(r->agent, &r->from, message, len);
}

static void
receive_free(void *data)
{
	struct receive *r = data;

	rmpp_free(r->transfer);
	g_free(r);
}

/* The transfer has ended. */
static void
on_received(enum rmpp_outcome outcome, void *data)
{
	struct receive *r = data;

	g_ptr_array_remove(r->agent->receives, r);
}

/* A segment, ACK, STOP or ABORT. ACK, STOP and ABORT for a message that we send
 * have the opposite direction bit. */
static void
receive_rmpp(struct agent *a, const struct transport_mad *m,
	     const struct mad_header *h)
{
	const struct key key = make_key(h->tid, m->addr.lid, h->mgmt_class,
					h->method);
	const struct key of_send = h->method & MAD_METHOD_RESPONSE ?
		make_key(h->tid, 0, h->mgmt_class, 0) :
		make_key(h->tid, m->addr.lid, h->mgmt_class,
			 MAD_METHOD_RESPONSE);
	struct rmpp_header rmpp;
	struct receive *r = NULL;
	struct send *s;

	rmpp_header_read(m->mad, m->len, &rmpp);
	s = rmpp.type == RMPP_TYPE_DATA ? NULL : find_send(a->file, of_send);
	if (s) {
		if (s->transfer)
			rmpp_take(s->transfer, m->mad);
		return;
	}
	for (guint i = 0; i < a->receives->len && !r; i++)
		if (key_equal(&key, a->receives->pdata[i]))
			r = a->receives->pdata[i];
	if (!r && rmpp.type == RMPP_TYPE_DATA && rmpp.segment == 1) {
		r = g_new0(struct receive, 1);
		r->key = key;
		r->agent = a;
		r->from = m->addr;
		r->transfer = rmpp_receiver(a->file->port->transport, &m->addr,
					    rules_header_len(h->mgmt_class),
					    on_message, on_received, r);
		g_ptr_array_add(a->receives, r);
	}
	if (r)
		rmpp_take(r->transfer, m->mad);
}

static void
kernel_on_receive(const struct transport_mad *m, void *data)
{
	struct kernel_port *p = data;
	uint8_t refusal[MAD_SIZE];
	struct mad_header h;
	struct agent *a = NULL;
	unsigned method;

	if (m->event != TRANSPORT_RECEIVED ||
	    !mad_header_read(m->mad, m->len, &h))
		return;
	/* Of an answer the agent that sent the request; of a request the one
	 * that serves its method. */
	method = h.method & 0x7f;
	for (guint i = 0; i < p->agents->len && !a; i++) {
		a = p->agents->pdata[i];
		if (rules_is_response(m->mad) ? a->hi_tid != h.tid >> 32 :
		    a->mgmt_class != h.mgmt_class ||
		    a->version != h.class_version ||
		    !(a->methods[method / 64] >> method % 64 & 1) ||
		    (rules_is_vendor2(h.mgmt_class) &&
		     memcmp(a->oui, m->mad + OFF_OUI, sizeof(a->oui))))
			a = NULL;
	}
	/* As Linux since 3.5: the requester need not wait for a time-out. */
	if (!a && (h.method == MAD_METHOD_GET || h.method == MAD_METHOD_SET)) {
		memcpy(refusal, m->mad, MAD_SIZE);
		smp_make_response(refusal, MAD_STATUS_BAD_ATTRIBUTE);
		transport_send(p->transport, &m->addr, refusal, MAD_SIZE, 0,
			       NULL);
	}
	if (!a)
		return;
	if (rules_by_kernel(a->kind, m->mad))
		receive_rmpp(a, m, &h);
	else
		complete(a, &m->addr, m->mad, MAD_SIZE);
}

/* ------------------------------------------------------------ registration */

static int
add_agent(struct kernel_file *f, struct ib_user_mad_reg_req2 *r)
{
	static const uint8_t no_oui[3];
	struct kernel_port *p = f->port;
	bool is_smp = r->mgmt_class == MAD_CLASS_SMP_LID ||
		r->mgmt_class == MAD_CLASS_SMP_DIRECT;
	struct agent *a, model = {
		.file = f, .mgmt_class = r->mgmt_class, .qp = r->qpn,
		.version = r->mgmt_class_version,
		.oui = { r->oui >> 16, r->oui >> 8, r->oui },
		.methods = { r->method_mask[0], r->method_mask[1] },
		.kind = rules_agent(r->rmpp_version, r->flags),
		.limit = !p->limits.is_6_17 ? 0 : is_smp ? SMPS_MAX : GMPS_MAX,
	};

	if (r->flags & ~IB_USER_MAD_REG_FLAGS_CAP) {
		r->flags = IB_USER_MAD_REG_FLAGS_CAP;
		return -EINVAL;
	}
	/* The checks of ib_register_mad_agent(). Class 0: an agent that only
	 * sends. */
	if (r->oui & 0xff000000 || r->qpn > 1 || r->rmpp_version > 1 ||
	    model.version >= VERSION_MAX)
		return -EINVAL;
	if (model.mgmt_class &&
	    ((model.mgmt_class >= CLASS_MAX &&
	      model.mgmt_class != MAD_CLASS_SMP_DIRECT) ||
	     (rules_is_vendor2(model.mgmt_class) &&
	      memcmp(model.oui, no_oui, sizeof(no_oui)) == 0) ||
	     (r->rmpp_version && !rules_header_len(model.mgmt_class)) ||
	     is_smp != (r->qpn == 0)))
		return -EINVAL;
	if (!(f->qps & 1u << r->qpn))
		return -EPROTONOSUPPORT;
	for (guint i = 0; i < p->agents->len; i++) {
		a = p->agents->pdata[i];
		if (a->mgmt_class == model.mgmt_class &&
		    a->version == model.version &&
		    (a->methods[0] & model.methods[0] ||
		     a->methods[1] & model.methods[1]) &&
		    (!rules_is_vendor2(a->mgmt_class) ||
		     memcmp(a->oui, model.oui, sizeof(a->oui)) == 0))
			return -EINVAL;
	}
	while (model.id < N_AGENTS && f->agents[model.id])
		model.id++;
	if (model.id == N_AGENTS)
		return -ENOMEM;
	a = g_memdup2(&model, sizeof(model));
	a->hi_tid = ++p->last_tid;
	g_queue_init(&a->backlog);
	a->receives = g_ptr_array_new_with_free_func(receive_free);
	g_ptr_array_add(p->agents, a);
	f->agents[a->id] = a;
	f->used = true;
	r->id = a->id;
	return 0;
}

static void
remove_agent(struct kernel_file *f, unsigned id)
{
	struct agent *a = f->agents[id];
	g_autoptr(GList) sends = g_hash_table_get_keys(f->sends);

	for (GList *at = sends; at; at = at->next)
		for (struct send *s = at->data, *next; s; s = next) {
			next = s->next;
			if (s->agent != a)
				continue;
			remove_send(f, s);
			send_free(s);
		}
	g_queue_clear(&a->backlog);
	g_ptr_array_unref(a->receives);
	g_ptr_array_remove(f->port->agents, a);
	g_free(a);
	f->agents[id] = NULL;
}

int
kernel_ioctl(struct kernel_file *f, unsigned code, void *arg)
{
	struct ib_user_mad_reg_req *old = arg;
	struct ib_user_mad_reg_req2 r;
	uint32_t id;
	int error;

	switch (code) {
	case IB_USER_MAD_REGISTER_AGENT:
		r = (struct ib_user_mad_reg_req2){
			.qpn = old->qpn, .mgmt_class = old->mgmt_class,
			.mgmt_class_version = old->mgmt_class_version,
			.rmpp_version = old->rmpp_version,
			.oui = old->oui[0] << 16 | old->oui[1] << 8 |
				old->oui[2],
		};
		memcpy(r.method_mask, old->method_mask, sizeof(r.method_mask));
		error = add_agent(f, &r);
		if (!error)
			old->id = r.id;
		return error;
	case IB_USER_MAD_REGISTER_AGENT2:
		return add_agent(f, arg);
	case IB_USER_MAD_UNREGISTER_AGENT:
		memcpy(&id, arg, sizeof(id));
		if (id >= N_AGENTS || !f->agents[id])
			return -EINVAL;
		remove_agent(f, id);
		return 0;
	case IB_USER_MAD_ENABLE_PKEY:
		return f->used ? -EINVAL : 0;
	}
	return -ENOTTY;
}

/* ------------------------------------------------------------ files, ports */

struct kernel_file *
kernel_open(struct kernel_port *p, unsigned qps, kernel_deliver_fn fn,
	    void *data)
{
	struct kernel_file *f = g_new0(struct kernel_file, 1);

	f->port = p;
	f->qps = qps;
	f->deliver = fn;
	f->data = data;
	f->sends = g_hash_table_new(key_hash, key_equal);
	return f;
}

void
kernel_close(struct kernel_file *f)
{
	for (unsigned id = 0; id < N_AGENTS; id++)
		if (f->agents[id])
			remove_agent(f, id);
	g_hash_table_unref(f->sends);
	g_free(f);
}

struct kernel_port *
kernel_port_new(struct transport *t, const uint8_t *lmc,
		const struct kernel_limits *limits)
{
	struct kernel_port *p = g_new0(struct kernel_port, 1);

	p->transport = t;
	p->lmc = lmc;
	p->limits = *limits;
	p->agents = g_ptr_array_new();
	transport_set_receiver(t, kernel_on_receive, p);
	return p;
}

void
kernel_port_free(struct kernel_port *p)
{
	transport_set_receiver(p->transport, NULL, NULL);
	g_assert(!p->agents->len);
	g_ptr_array_unref(p->agents);
	g_free(p);
}
