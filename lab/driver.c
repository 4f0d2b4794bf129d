// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports whose kernel is elsewhere, for example in a virtual machine.
 *
 * MADs for QP 0 and 1 are packets of the simulator like all others, with its
 * delays, queues and faults. UD data are not: a frame is forwarded by the
 * present tables of the data plane without delay, or is lost.
 */
#include "lab/driver.h"

#include <errno.h>
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mad.h"
#include "topology/each.h"

#define OFF_HOP_POINTER	6	/* of a directed SMP */

struct driver_port {
	GPtrArray *drivers;	/* that it is in */
	struct conn *conn;
	unsigned channel;
	struct device_port *port;
};

/* ------------------------------------------------------------ port's words */

static void
on_fabric_changed(struct device_port *p, unsigned changed, void *data)
{
	struct driver_port *x = data;
	const struct port_info *i = &p->seen;
	const struct lab_port port = {
		.gid_prefix = i->gid_prefix,
		.port_guid = p->transport->port_guid,
		.changed = changed & ~DEVICE_CHANGED_PKEYS,
		.cap_mask = i->cap_mask, .lid = i->lid, .sm_lid = i->sm_lid,
		.state = i->state, .phys_state = i->phys_state, .lmc = i->lmc,
		.sm_sl = i->sm_sl, .mtu = i->neighbor_mtu,
		.mtu_cap = i->mtu_cap, .width = i->width_active,
		.speed = i->speed_active, .speed_ext = i->speed_ext_active,
		.vl_cap = i->vl_cap, .subnet_timeout = i->subnet_timeout,
	};

	if (port.changed)
		conn_send(x->conn, LAB_PORT, x->channel, &port, sizeof(port),
			  NULL, 0);
	if (changed & DEVICE_CHANGED_PKEYS)
		conn_send(x->conn, LAB_PKEYS, x->channel, p->pkeys,
			  p->n_pkeys * sizeof(*p->pkeys), NULL, 0);
}

/* ----------------------------------------------------------------- packets */

static void
driver_on_receive(const struct transport_mad *m, void *data)
{
	struct driver_port *x = data;
	const struct port_info *i;
	struct lab_address a = {
		.dst_qp = m->addr.qp, .src_qp = m->addr.qp,
		.qkey = m->addr.qkey, .slid = m->addr.lid,
		.pkey_index = m->addr.pkey_index, .sl = m->addr.sl,
		.has_grh = m->addr.grh, .hop_limit = m->addr.hop_limit,
		.traffic_class = m->addr.traffic_class,
		.flow_label = m->addr.flow_label,
	};

	i = sim_port_info(x->port->device->sim, x->port->sim_port);
	a.dlid = m->addr.lid == LID_PERMISSIVE ? LID_PERMISSIVE :
		i->lid | m->addr.path_bits;
	if (m->addr.grh) {
		memcpy(a.sgid, m->addr.gid, sizeof(a.sgid));
		bytes_store64(a.dgid, i->gid_prefix);
		bytes_store64(a.dgid + 8, x->port->transport->port_guid);
	}
	conn_send(x->conn, LAB_RECEIVE, x->channel, &a, sizeof(a), m->mad,
		  m->len);
}

static struct driver_port *
driver_find_port(GPtrArray *drivers, uint32_t sim_port)
{
	EACH_PTR(struct driver_port, x, drivers)
		if (x->port->sim_port == sim_port)
			return x;
	return NULL;
}

/* A MAD is a packet of the simulator. Of UD data the sender itself delivers
 * copies to its own group members. False: the packet is not valid. */
static bool
send_packet(struct driver_port *x, struct lab_address *a,
	    const uint8_t *payload, size_t len)
{
	struct sim *sim = x->port->device->sim;
	uint32_t from = x->port->sim_port;
	uint16_t pkey = sim_port_pkey(sim, from, a->pkey_index);
	const struct port_info *i = sim_port_info(sim, from);
	struct mad_addr mad_to = {
		.qp = a->dst_qp, .qkey = a->qkey, .lid = a->dlid,
		.pkey_index = a->pkey_index, .sl = a->sl & 0xf,
		.grh = a->has_grh, .path_bits = a->path_bits,
		.hop_limit = a->hop_limit, .traffic_class = a->traffic_class,
		.flow_label = a->flow_label,
	};
	struct sim_mcast out;
	struct sim_trace trace;
	uint8_t mad[MAD_SIZE];
	struct mad_header h;

	if (a->dst_qp <= 1) {
		if (len != MAD_SIZE)
			return false;
		memcpy(mad_to.gid, a->dgid, sizeof(mad_to.gid));
		memcpy(mad, payload, MAD_SIZE);
		/* the kernel's SMI has counted the first hop */
		mad_header_read(mad, MAD_SIZE, &h);
		if (h.mgmt_class == MAD_CLASS_SMP_DIRECT)
			mad[OFF_HOP_POINTER] += h.returning ? 1 : -1;
		transport_send(x->port->transport, &mad_to, mad, MAD_SIZE, 0,
			       NULL);
		return true;
	}
	a->slid = i->lid + a->path_bits;
	if (a->has_grh) {
		bytes_store64(a->sgid, i->gid_prefix);
		bytes_store64(a->sgid + 8, x->port->transport->port_guid);
	}
	if (a->dlid >= LID_MULTICAST_MIN && a->dlid != LID_PERMISSIVE) {
		sim_probe_mcast(sim, from, a->dlid, pkey, a->sl & 0xf, &out);
	} else {
		out.reached = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		if (sim_probe(sim, from, a->dlid, pkey, a->sl & 0xf, &trace) ==
		    SIM_DELIVERED)
			g_array_append_val(out.reached, trace.end);
	}
	for (guint n = 0; n < out.reached->len; n++) {
		uint32_t to = g_array_index(out.reached, uint32_t, n);
		struct driver_port *y = driver_find_port(x->drivers, to);

		if (!y)
			continue;
		a->pkey_index = sim_port_pkey_index(sim, to, pkey);
		conn_send(y->conn, LAB_RECEIVE, y->channel, a, sizeof(*a),
			  payload, len);
	}
	sim_mcast_clear(&out);
	return true;
}

/* ------------------------------------------------------ attach and detach */

static void
detach(GPtrArray *drivers, guint i)
{
	struct driver_port *x = drivers->pdata[i];

	sim_port_set_is_sm(x->port->device->sim, x->port->sim_port, false);
	device_port_set_driver(x->port, NULL, NULL);
	g_ptr_array_remove_index(drivers, i);
}

void
drivers_attach(GPtrArray *drivers, struct conn *c, unsigned channel,
	       struct device_port *port)
{
	struct lab_result result = { .error = 0 };
	const struct node_info *n;
	struct driver_port *x;
	struct lab_node node;

	if (!port)
		result.error = ENODEV;
	else if (port->n_files || port->issm ||
		 driver_find_port(drivers, port->sim_port))
		result.error = EBUSY;
	else
		result.id = port->num;
	conn_send(c, LAB_RESULT, channel, &result, sizeof(result), NULL, 0);
	if (result.error)
		return;
	x = g_new0(struct driver_port, 1);
	x->drivers = drivers;
	x->conn = c;
	x->channel = channel;
	x->port = port;
	g_ptr_array_add(drivers, x);
	device_port_set_driver(port, on_fabric_changed, x);
	transport_set_receiver(port->transport, driver_on_receive, x);
	n = sim_node_info(port->device->sim, port->device->node);
	node = (struct lab_node){
		.node_guid = n->node_guid, .system_guid = n->system_guid,
		.vendor_id = n->vendor_id, .device_id = n->device_id,
		.n_ports = n->num_ports, .port = port->num,
		.n_pkeys = port->n_pkeys,
		.n_gids = MAX(port->seen.guid_cap, 1),
		.revision = n->revision,
	};
	g_strlcpy(node.description,
		  port->device->fabric->nodes[port->device->node].desc,
		  sizeof(node.description));
	conn_send(c, LAB_NODE, channel, &node, sizeof(node), NULL, 0);
	on_fabric_changed(port, ~LAB_CHANGED_REREGISTER, x);
}

void
drivers_detach(GPtrArray *drivers, const struct conn *c,
	       const struct lab_device *device)
{
	for (guint i = drivers->len; i-- > 0;) {
		struct driver_port *x = drivers->pdata[i];

		if (x->conn != c && x->port->device != device)
			continue;
		if (x->conn != c)
			conn_send(x->conn, LAB_REMOVED, x->channel, NULL, 0,
				  NULL, 0);
		detach(drivers, i);
	}
}

bool
drivers_frame(GPtrArray *drivers, struct conn *c,
	      const struct lab_frame *frame, const uint8_t *data)
{
	size_t len = frame->length;
	struct driver_port *x = NULL;
	struct lab_address a;
	guint i = 0;
	uint32_t on;

	for (; i < drivers->len; i++) {
		x = drivers->pdata[i];
		if (x->conn == c && x->channel == frame->channel)
			break;
	}
	/* it may have been removed meanwhile */
	if (i == drivers->len)
		return frame->type == LAB_SEND || frame->type == LAB_IS_SM ||
			frame->type == LAB_DETACH;
	switch (frame->type) {
	case LAB_SEND:
		if (len < sizeof(a) || len > sizeof(a) + LAB_UD_MAX)
			return false;
		memcpy(&a, data, sizeof(a));
		return send_packet(x, &a, data + sizeof(a), len - sizeof(a));
	case LAB_IS_SM:
		if (len < sizeof(on))
			return false;
		memcpy(&on, data, sizeof(on));
		sim_port_set_is_sm(x->port->device->sim, x->port->sim_port, on);
		return true;
	case LAB_DETACH:
		detach(drivers, i);
		return true;
	}
	return false;
}
