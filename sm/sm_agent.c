// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Serving.
 *
 * On hardware the kernel's agent answers for the port itself (NodeInfo,
 * PortInfo, ...); only requests for the SM arrive here. A trap is answered with
 * TrapRepress (IBA 13.4.9), since its sender repeats it until then. A request
 * for an unknown method or attribute gets an error status, so that the
 * requester need not wait for its time-out (IBA C13-6). A response is never
 * answered.
 */
#include "sm/sm_agent.h"

#include <string.h>

#include "sm/mad/sa_mad.h"

#define DROP(why) do { reason = (why); goto drop; } while (0)

/* m_key 0: the request's. */
static void
reply(struct sm_agent *s, const struct transport_mad *m, unsigned status,
      uint64_t m_key)
{
	struct mad_addr to = m->addr;
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, m->mad, MAD_SIZE);
	smp_make_response(mad, status);
	if (m_key)
		smp_set_m_key(mad, m_key);
	if (to.qp)
		to.qkey = MAD_GSI_QKEY;
	if (!transport_send(s->x->transport, &to, mad, MAD_SIZE, 0,
			    &error))
		log_limited(s->log, LOG_WARNING, "serve",
			    "an answer could not be sent", "to LID %u: %s",
			    to.lid, error->message);
}

static void
reply_sm_info(struct sm_agent *s, const struct transport_mad *m)
{
	struct transport_mad answer = *m;
	struct sm_info self;
	uint8_t mad[MAD_SIZE];
	uint64_t m_key = mkey_db_of(s->keys,
				    s->x->transport->port_guid);

	s->sm_info(&self, s->data);
	/* The SM_Key is returned only to a requester that has proven its
	 * authority (IBA 14.2.5.13): with the M_Key of our port, if it has
	 * one. */
	if (m_key && smp_m_key(m->mad) != m_key)
		self.sm_key = 0;
	memcpy(mad, m->mad, MAD_SIZE);
	sm_info_encode(smp_data(mad), &self);
	answer.mad = mad;
	reply(s, &answer, MAD_STATUS_OK, 0);
}

static void
sm_agent_log_drop(const char *reason, const struct transport_mad *m, void *data)
{
	struct sm_agent *s = data;
	struct mad_header h;

	if (!mad_header_read(m->mad, m->len, &h))
		log_limited(s->log, LOG_WARNING, "wire", reason,
			    "%zu bytes from LID %u", m->len, m->addr.lid);
	else
		log_limited(s->log, LOG_WARNING, "wire", reason,
			    "class 0x%02x, method %s (0x%02x), attribute %s "
			    "(0x%04x), status 0x%04x, from LID %u",
			    h.mgmt_class, mad_method_name(h.method), h.method,
			    mad_attr_name(h.attr_id), h.attr_id, h.status,
			    m->addr.lid);
}

static void
on_sm_info(struct sm_agent *s, const struct transport_mad *m,
	   const struct mad_header *h)
{
	struct sm_info from, self;

	if (h->method == MAD_METHOD_GET) {
		reply_sm_info(s, m);
		return;
	}
	if (h->attr_mod < SM_CONTROL_HANDOVER ||
	    h->attr_mod > SM_CONTROL_DISCOVER) {
		reply(s, m, MAD_STATUS_BAD_VALUE, 0);
		return;
	}
	sm_info_decode(smp_data_const(m->mad), &from);
	s->sm_info(&self, s->data);
	if (self.sm_key && from.sm_key != self.sm_key) {
		reply(s, m, MAD_STATUS_BAD_VALUE, 0);
		sm_agent_log_drop("SMInfo control without our SM_Key", m, s);
		return;
	}
	reply_sm_info(s, m);
	s->control(h->attr_mod, &from, s->data);
}

/* A port may raise a trap before it has a LID. */
static bool
is_no_lid(uint16_t lid)
{
	return lid == LID_NONE || lid == LID_PERMISSIVE;
}

/*
 * NULL: believed, or another manager's; else why not. The SLID is written by the
 * sender's hardware, IssuerLID by its software, and counts, repairs and Reports go by
 * the IssuerLID: both must be LIDs of one port, as must the LIDADDR of a trap
 * that a port raises about itself, by which subscribers go. Traps 64 to 67 are notices of
 * the SA, which is this manager's (IBA 14.2.5.1).
 */
static const char *
on_trap(struct sm_agent *s, const struct transport_mad *m)
{
	uint8_t data[SMP_DATA_LEN];
	struct sm_info self;
	struct notice n;
	uint64_t m_key;

	/* The master gets it when the port has its LID. An answer of this one
	 * would have the port's M_Key, and renew a lease that the master waits
	 * for. A guest that is not seen says that it is not active. */
	s->sm_info(&self, s->data);
	if (self.state == SM_STATE_STANDBY || self.state == SM_STATE_NOT_ACTIVE)
		return NULL;
	memcpy(data, smp_data_const(m->mad), sizeof(data));
	notice_hide_m_key(data);
	notice_decode(data, &n);
	/* raised before the port had a LID */
	if (is_no_lid(n.issuer_lid))
		n.issuer_lid = m->addr.lid;
	if (!(is_no_lid(m->addr.lid) && is_no_lid(n.issuer_lid)) &&
	    s->is_issuer && !s->is_issuer(m->addr.lid, n.issuer_lid, s->data))
		return "trap in the name of another port, or from an unknown "
			"LID";
	if (!is_no_lid(n.lid) && s->is_issuer &&
	    !s->is_issuer(m->addr.lid, n.lid, s->data))
		return "trap about another port";
	if (n.generic && n.trap >= 64 && n.trap <= 67)
		return "trap that only the SA may raise";
	/* For the trap's sender TrapRepress is a request, which must have its
	 * M_Key (IBA 14.2.4); without it the trap would be repeated, and trap
	 * 256 sent, too. A sender whose key is not known yet will repeat its
	 * trap. One that is not the master may wait for the end of its own
	 * port's lease: election_leave_port(). */
	if (mkey_db_of_lid(s->keys, m->addr.lid, &m_key) &&
	    (!m_key || self.state == SM_STATE_MASTER))
		reply(s, m, MAD_STATUS_OK, m_key);
	s->trap(&n, data, s->data);
	return NULL;
}

static void
on_request(const struct transport_mad *m, const struct mad_header *h,
	   void *data)
{
	struct sm_agent *s = data;
	const char *reason;

	if (h->base_version != 1)
		DROP("request of another MAD version");
	if (h->method == MAD_METHOD_TRAP_REPRESS)
		DROP("TrapRepress without a trap of ours");
	if (h->method == SA_METHOD_REPORT)
		DROP("Report without a subscription of ours");
	if (h->mgmt_class == MAD_CLASS_SA && s->sa) {
		s->sa(m, s->data);
		return;
	}
	if (h->mgmt_class == MAD_CLASS_SA) {
		reply(s, m, MAD_STATUS_BAD_ATTRIBUTE, 0);
		DROP("SA query refused: this manager runs no SA");
	}
	if (h->mgmt_class != MAD_CLASS_SMP_LID &&
	    h->mgmt_class != MAD_CLASS_SMP_DIRECT)
		DROP("request of an unsupported class");
	if (h->method == MAD_METHOD_TRAP && h->attr_id == MAD_ATTR_NOTICE) {
		reason = on_trap(s, m);
		if (reason)
			goto drop;
		return;
	}
	if (h->method != MAD_METHOD_GET && h->method != MAD_METHOD_SET) {
		reply(s, m, MAD_STATUS_BAD_METHOD, 0);
		DROP("request with a method that the SM does not support");
	}
	if (h->attr_id != MAD_ATTR_SM_INFO) {
		reply(s, m, MAD_STATUS_BAD_ATTRIBUTE, 0);
		DROP("request for an attribute that the SM does not support");
	}
	on_sm_info(s, m, h);
	return;

drop:
	sm_agent_log_drop(reason, m, s);
}

void
sm_agent_start(struct sm_agent *s)
{
	s->x->serve = on_request;
	s->x->drop = sm_agent_log_drop;
	s->x->serve_data = s->x->drop_data = s;
}
