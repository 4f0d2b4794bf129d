// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * vib: HCAs of a simulated fabric, for the kernel of a virtual machine.
 *
 * The fabric, the ports' SMA and PMA with it, is minism-lab's. "SOCKET NODE.." in
 * the module's parameter `lab` attaches to it by lab/protocol.h: the Nth node is
 * vibN, channel N of the protocol, an HCA with one port here. LAB_PKEYS, the last
 * word of an attach, makes it; LAB_REMOVED, or the end of the lab, takes it away.
 * One that the lab pulls out is attached again as soon as the lab has it back.
 *
 * With the module's parameter `planes` an HCA is as one of ConnectX-8: its device
 * has no QP 0 (IsSMdisabled). A device of type SMI, which the parameter `smi` adds to
 * the HCA of that number (as `rdma dev add` of iproute2 6.11 does), has QP 0 alone,
 * for as many ports as there are planes, all with the state, LID and GUID of the one
 * port. A cable is at the first one.
 *
 * There are kernel consumers only: MADs (QP 0 and 1) and UD QPs for IPoIB.
 * What is posted to a send queue is done at once. Never load this on a
 * machine that has InfiniBand.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/un.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>

#include "protocol.h"

#define VIB_CHANNELS	64
#define VIB_PKEYS	128
#define VIB_SGES	8
#define VIB_WRS		16384
#define VIB_QUEUE	65536	/* frames that wait for the lab */
#define VIB_AGAIN_MS	100
#define VIB_GRH		40
#define VIB_ANSWER_MS	1000
#define VIB_QP_MCAST	0xffffff
#define VIB_QKEY_OWN	0x80000000	/* of a request: take the QP's */
#define VIB_FRAME	(sizeof(struct lab_address) + LAB_UD_MAX)
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define VIB_HAS_PLANES
static unsigned int planes;
module_param(planes, uint, 0644);
MODULE_PARM_DESC(planes, "of HCAs that come from now on; 0: none");
#endif

struct vib_dev {
	struct ib_device ib;
	unsigned int channel;
	unsigned int planes;	/* it is for GMPs only, so many has the other */
	struct vib_dev *smi;	/* that one, if it was added; by vib_writer */
	struct vib_dev *gsi;	/* of that one: this one */
	spinlock_t lock;	/* all below, QPs' queues and states too */
	struct lab_node node;
	struct lab_port port, told;	/* told: what consumers know */
	u16 pkeys[VIB_PKEYS];
	u32 n_pkeys;
	bool pkeys_changed, reregister;
	bool queued, registered, gone;
	u32 next_qpn;
	struct list_head qps;
	struct ib_mad *own;	/* a request of the port to itself: its place */
	struct completion answered;
	struct mutex asking;
	struct work_struct add, remove;
};

struct vib_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *ring;
	u32 head, n;
	enum ib_cq_notify_flags armed;	/* 0: not */
};

struct vib_recv {
	u64 wr_id;
	int n_sge;
	struct ib_sge sge[VIB_SGES];
};

struct vib_group {
	struct list_head list;
	union ib_gid gid;
};

struct vib_qp {
	struct ib_qp ib;
	struct list_head list, groups;
	struct ib_qp_attr attr;
	struct ib_qp_init_attr init;
	struct vib_recv *recv;	/* a ring */
	u32 head, n;
};

struct vib_pd {
	struct ib_pd ib;
};

struct vib_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

static struct workqueue_struct *vib_wq;		/* adds and removes in order */
static struct vib_dev *vib_slots[VIB_CHANNELS];
static DEFINE_MUTEX(vib_writer);		/* vib_slots */
static struct socket *vib_lab;
static char vib_nodes[VIB_CHANNELS][LAB_NAME_LEN];	/* "": none */
static bool vib_attached[VIB_CHANNELS];
static struct sk_buff_head vib_out;

static struct vib_dev *to_dev(struct ib_device *ib)
{
	return container_of(ib, struct vib_dev, ib);
}

static struct vib_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct vib_qp, ib);
}

static struct vib_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct vib_cq, ib);
}

/* ----------------------------------------------------- frames to the lab */

static struct sk_buff *vib_frame(unsigned int channel, u16 type, size_t length)
{
	struct lab_frame f = {
		.length = length, .type = type, .channel = channel,
	};
	struct sk_buff *skb = NULL;

	if (vib_lab && skb_queue_len(&vib_out) < VIB_QUEUE)
		skb = alloc_skb(sizeof(f) + length, GFP_ATOMIC);
	if (skb)
		skb_put_data(skb, &f, sizeof(f));
	return skb;
}

static void vib_send_all(struct work_struct *work)
{
	struct socket *lab = READ_ONCE(vib_lab);	/* there until this ends */
	struct sk_buff *skb;

	while (lab && (skb = skb_dequeue(&vib_out))) {
		struct kvec v = { skb->data, skb->len };
		struct msghdr m = {};

		kernel_sendmsg(lab, &m, &v, 1, v.iov_len);
		kfree_skb(skb);
	}
}
static DECLARE_WORK(vib_sending, vib_send_all);

static void vib_give(struct sk_buff *skb)
{
	skb_queue_tail(&vib_out, skb);
	schedule_work(&vib_sending);
}

/* What an answer has not told otherwise is attached. */
static void vib_attach_all(struct work_struct *work)
{
	struct lab_attach a = {};
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < VIB_CHANNELS && *vib_nodes[i]; i++) {
		if (vib_attached[i])
			continue;
		skb = vib_frame(i, LAB_ATTACH, sizeof(a));
		if (!skb)
			return;
		memcpy(a.node, vib_nodes[i], sizeof(a.node));
		skb_put_data(skb, &a, sizeof(a));
		vib_attached[i] = true;
		vib_give(skb);
	}
}
static DECLARE_DELAYED_WORK(vib_attaching, vib_attach_all);

static void vib_attach_again(unsigned int channel)
{
	vib_attached[channel] = false;
	schedule_delayed_work(&vib_attaching, msecs_to_jiffies(VIB_AGAIN_MS));
}

/* ------------------------------------------------------ completion queues */

static void vib_complete(struct ib_cq *ib, const struct ib_wc *wc,
			 bool solicited)
{
	struct vib_cq *cq = to_cq(ib);
	bool call = false;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (!WARN_ON_ONCE(cq->n == ib->cqe)) {
		cq->ring[(cq->head + cq->n++) % ib->cqe] = *wc;
		call = cq->armed == IB_CQ_NEXT_COMP ||
			(cq->armed && (solicited || wc->status));
		if (call)
			cq->armed = 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (call && ib->comp_handler)
		ib->comp_handler(ib, ib->cq_context);
}

static int vib_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc)
{
	struct vib_cq *cq = to_cq(ib);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n && cq->n; i++, cq->n--) {
		wc[i] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % ib->cqe;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

static int vib_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags how)
{
	struct vib_cq *cq = to_cq(ib);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = how & IB_CQ_SOLICITED_MASK;
	missed = (how & IB_CQ_REPORT_MISSED_EVENTS) && cq->n;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define VIB_CQ_USER	struct uverbs_attr_bundle
#else
#define VIB_CQ_USER	struct ib_udata
#endif

static int vib_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			 VIB_CQ_USER *user)
{
	struct vib_cq *cq = to_cq(ib);

	if (user)
		return -EOPNOTSUPP;
	ib->cqe = max(attr->cqe, 1u);
	cq->ring = kvcalloc(ib->cqe, sizeof(*cq->ring), GFP_KERNEL);
	spin_lock_init(&cq->lock);
	return cq->ring ? 0 : -ENOMEM;
}

static int vib_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_cq(ib)->ring);
	return 0;
}

/* ------------------------------------------------------------------- sends */

static void vib_fill_address(const struct vib_qp *qp,
			     const struct ib_ud_wr *wr, struct lab_address *a)
{
	struct rdma_ah_attr *ah = &container_of(wr->ah, struct vib_ah,
						ib)->attr;

	a->dst_qp = wr->remote_qpn;
	a->src_qp = qp->ib.qp_num;
	a->qkey = wr->remote_qkey & VIB_QKEY_OWN ? qp->attr.qkey :
						   wr->remote_qkey;
	a->pkey_index = qp->ib.qp_type == IB_QPT_UD ? qp->attr.pkey_index :
						      wr->pkey_index;
	a->dlid = rdma_ah_get_dlid(ah);
	a->sl = rdma_ah_get_sl(ah);
	a->path_bits = rdma_ah_get_path_bits(ah);
	if (rdma_ah_get_ah_flags(ah) & IB_AH_GRH) {
		const struct ib_global_route *grh = rdma_ah_read_grh(ah);

		a->has_grh = 1;
		a->flow_label = grh->flow_label;
		a->sgid_index = grh->sgid_index;
		a->hop_limit = grh->hop_limit;
		a->traffic_class = grh->traffic_class;
		memcpy(a->dgid, grh->dgid.raw, sizeof(a->dgid));
	}
}

static bool vib_has_cable(const struct vib_qp *qp)
{
	return qp->ib.qp_type != IB_QPT_SMI || qp->init.port_num == 1;
}

/* The local DMA key: addresses are those of the kernel. */
static enum ib_wc_status vib_send(struct vib_dev *d, struct vib_qp *qp,
				  const struct ib_send_wr *wr)
{
	struct lab_address a = {};
	struct sk_buff *skb;
	size_t length = 0;
	int i;

	if (d->gone || qp->attr.qp_state != IB_QPS_RTS)
		return IB_WC_WR_FLUSH_ERR;
	if (!vib_has_cable(qp))
		return IB_WC_SUCCESS;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (length > LAB_UD_MAX)
		return IB_WC_LOC_LEN_ERR;
	vib_fill_address(qp, ud_wr(wr), &a);
	skb = vib_frame(d->channel, LAB_SEND, sizeof(a) + length);
	if (!skb)
		return IB_WC_SUCCESS;	/* UD: it is lost */
	skb_put_data(skb, &a, sizeof(a));
	for (i = 0; i < wr->num_sge; i++)
		skb_put_data(skb, (void *)(uintptr_t)wr->sg_list[i].addr,
			     wr->sg_list[i].length);
	vib_give(skb);
	return IB_WC_SUCCESS;
}

static int vib_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	struct vib_dev *d = to_dev(ib->device);
	struct vib_qp *qp = to_qp(ib);
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&d->lock, flags);
	for (; wr; wr = wr->next) {
		struct ib_wc wc = {
			.wr_id = wr->wr_id, .opcode = IB_WC_SEND, .qp = ib,
		};

		if (wr->opcode != IB_WR_SEND || wr->num_sge > VIB_SGES) {
			error = -EINVAL;
			*bad = wr;
			break;
		}
		wc.status = vib_send(d, qp, wr);
		if (wc.status || wr->send_flags & IB_SEND_SIGNALED ||
		    qp->init.sq_sig_type == IB_SIGNAL_ALL_WR)
			vib_complete(ib->send_cq, &wc, false);
	}
	spin_unlock_irqrestore(&d->lock, flags);
	return error;
}

/* ---------------------------------------------------------------- receives */

static void vib_flush(struct vib_qp *qp)
{
	for (; qp->n; qp->n--) {
		struct ib_wc wc = {
			.wr_id = qp->recv[qp->head].wr_id,
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV, .qp = &qp->ib,
		};

		qp->head = (qp->head + 1) % qp->init.cap.max_recv_wr;
		vib_complete(qp->ib.recv_cq, &wc, false);
	}
}

static int vib_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct vib_dev *d = to_dev(ib->device);
	struct vib_qp *qp = to_qp(ib);
	u32 size = qp->init.cap.max_recv_wr;
	struct vib_recv *r;
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&d->lock, flags);
	for (; wr; wr = wr->next) {
		if (qp->n == size || wr->num_sge > VIB_SGES) {
			error = qp->n == size ? -ENOMEM : -EINVAL;
			*bad = wr;
			break;
		}
		r = &qp->recv[(qp->head + qp->n++) % size];
		r->wr_id = wr->wr_id;
		r->n_sge = wr->num_sge;
		memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof(*r->sge));
	}
	if (qp->attr.qp_state == IB_QPS_ERR)
		vib_flush(qp);
	spin_unlock_irqrestore(&d->lock, flags);
	return error;
}

static void vib_fill_grh(const struct lab_address *a, size_t length,
			 struct ib_grh *grh)
{
	memset(grh, 0, sizeof(*grh));
	if (!a->has_grh)
		return;
	grh->version_tclass_flow = cpu_to_be32(6u << 28 |
					       a->traffic_class << 20 |
					       (a->flow_label & 0xfffff));
	grh->paylen = cpu_to_be16(length);
	grh->next_hdr = 0x1b;		/* IBA's transport */
	grh->hop_limit = a->hop_limit;
	memcpy(grh->sgid.raw, a->sgid, sizeof(a->sgid));
	memcpy(grh->dgid.raw, a->dgid, sizeof(a->dgid));
}

/* Copies into the list at offset `at`; false: it does not fit. */
static bool vib_scatter(const struct vib_recv *r, size_t at, const u8 *from,
			size_t length)
{
	int i;

	for (i = 0; i < r->n_sge && length; i++) {
		size_t room = r->sge[i].length, part;

		if (at >= room) {
			at -= room;
			continue;
		}
		part = min(room - at, length);
		memcpy((u8 *)(uintptr_t)r->sge[i].addr + at, from, part);
		from += part;
		length -= part;
		at = 0;
	}
	return !length;
}

static void vib_receive_on(struct vib_dev *d, struct vib_qp *qp,
			   const struct lab_address *a, const u8 *payload,
			   size_t length)
{
	struct vib_recv *r = &qp->recv[qp->head];
	struct ib_grh grh;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV, .qp = &qp->ib,
		.byte_len = VIB_GRH + length, .src_qp = a->src_qp,
		.slid = a->slid, .sl = a->sl, .port_num = 1,
		.pkey_index = a->pkey_index,
		.dlid_path_bits = a->dlid & ((1 << d->port.lmc) - 1),
		.wc_flags = a->has_grh ? IB_WC_GRH : 0,
	};

	if (!qp->n || qp->attr.qp_state < IB_QPS_RTR ||
	    qp->attr.qp_state > IB_QPS_SQE)
		return;
	vib_fill_grh(a, length, &grh);
	wc.wr_id = r->wr_id;
	if (!vib_scatter(r, 0, (u8 *)&grh, sizeof(grh)) ||
	    !vib_scatter(r, VIB_GRH, payload, length))
		wc.status = IB_WC_LOC_LEN_ERR;
	qp->head = (qp->head + 1) % qp->init.cap.max_recv_wr;
	qp->n--;
	vib_complete(qp->ib.recv_cq, &wc, false);
}

static bool vib_in_group(const struct vib_qp *qp, const u8 *gid)
{
	struct vib_group *g;

	list_for_each_entry(g, &qp->groups, list)
		if (!memcmp(g->gid.raw, gid, sizeof(g->gid)))
			return true;
	return false;
}

/* Is a packet for this QP, and would its transport check let it in? */
static bool vib_accepts(const struct vib_dev *d, const struct vib_qp *qp,
			const struct lab_address *a)
{
	u16 mine = d->pkeys[qp->attr.pkey_index % VIB_PKEYS];
	u16 pkey = d->pkeys[a->pkey_index % VIB_PKEYS];

	if (a->dst_qp == VIB_QP_MCAST ? !vib_in_group(qp, a->dgid) :
					a->dst_qp != qp->ib.qp_num)
		return false;
	if (!vib_has_cable(qp))
		return false;
	return qp->ib.qp_type != IB_QPT_UD ||
		(a->qkey == qp->attr.qkey && !((mine ^ pkey) & 0x7fff));
}

/* Is it what vib_process_mad waits for? */
static bool vib_is_own(struct vib_dev *d, const u8 *payload, size_t length)
{
	const struct ib_mad_hdr *h = (const void *)payload;

	if (!d->own || length != sizeof(*d->own) ||
	    h->tid != d->own->mad_hdr.tid || !ib_response_mad(h))
		return false;
	memcpy(d->own, payload, length);
	d->own = NULL;
	complete(&d->answered);
	return true;
}

static void vib_receive(struct vib_dev *d, const u8 *data, size_t length)
{
	struct lab_address a;
	struct vib_qp *qp;
	unsigned long flags;

	if (length < sizeof(a))
		return;
	memcpy(&a, data, sizeof(a));
	if (!a.dst_qp && d->smi)
		d = d->smi;
	spin_lock_irqsave(&d->lock, flags);
	if (vib_is_own(d, data + sizeof(a), length - sizeof(a))) {
		spin_unlock_irqrestore(&d->lock, flags);
		return;
	}
	list_for_each_entry(qp, &d->qps, list)
		if (vib_accepts(d, qp, &a))
			vib_receive_on(d, qp, &a, data + sizeof(a),
				       length - sizeof(a));
	spin_unlock_irqrestore(&d->lock, flags);
}

/* -------------------------------------------------------- the port's agents */

/*
 * The kernel passes a directed-route SMP up to a program only if the device has
 * this function, and asks it for the answer to one of no hops, which never
 * leaves the port. The SMA is the lab's: the answer is waited for, as other
 * drivers wait for their firmware. All else that comes here was let through by
 * the lab and is for programs.
 */
static int vib_process_mad(struct ib_device *ib, int mad_flags, u32 port,
			   const struct ib_wc *wc, const struct ib_grh *grh,
			   const struct ib_mad *in, struct ib_mad *out,
			   size_t *out_size, u16 *out_pkey_index)
{
	const struct ib_mad_hdr *h = &in->mad_hdr;
	struct lab_address a = { .dlid = be16_to_cpu(IB_LID_PERMISSIVE) };
	struct vib_dev *d = to_dev(ib);
	struct sk_buff *skb;
	bool answered;

	if (h->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE ||
	    h->attr_id == IB_SMP_ATTR_SM_INFO ||
	    (h->method != IB_MGMT_METHOD_GET &&
	     h->method != IB_MGMT_METHOD_SET))
		return IB_MAD_RESULT_SUCCESS;
	skb = vib_frame(d->channel, LAB_SEND, sizeof(a) + sizeof(*in));
	if (!skb)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	skb_put_data(skb, &a, sizeof(a));
	skb_put_data(skb, in, sizeof(*in));
	mutex_lock(&d->asking);
	reinit_completion(&d->answered);
	spin_lock_irq(&d->lock);
	out->mad_hdr.tid = h->tid;
	d->own = out;
	spin_unlock_irq(&d->lock);
	vib_give(skb);
	wait_for_completion_timeout(&d->answered,
				    msecs_to_jiffies(VIB_ANSWER_MS));
	spin_lock_irq(&d->lock);
	answered = !d->own;
	d->own = NULL;
	spin_unlock_irq(&d->lock);
	mutex_unlock(&d->asking);
	return IB_MAD_RESULT_SUCCESS | (answered ? IB_MAD_RESULT_REPLY :
						   IB_MAD_RESULT_CONSUMED);
}

/* ------------------------------------------------------------- queue pairs */

static int vib_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
			 struct ib_udata *udata)
{
	struct vib_dev *d = to_dev(ib->device);
	struct vib_qp *qp = to_qp(ib);
	unsigned long flags;

	if (udata || init->srq || init->create_flags ||
	    (init->qp_type != IB_QPT_SMI && init->qp_type != IB_QPT_GSI &&
	     init->qp_type != IB_QPT_UD))
		return -EOPNOTSUPP;
	init->cap.max_recv_wr = max(init->cap.max_recv_wr, 1u);
	qp->recv = kvcalloc(init->cap.max_recv_wr, sizeof(*qp->recv),
			    GFP_KERNEL);
	if (!qp->recv)
		return -ENOMEM;
	qp->init = *init;
	qp->attr.qp_state = IB_QPS_RESET;
	INIT_LIST_HEAD(&qp->groups);
	spin_lock_irqsave(&d->lock, flags);
	ib->qp_num = init->qp_type == IB_QPT_SMI ? 0 :
		init->qp_type == IB_QPT_GSI ? 1 : d->next_qpn++;
	list_add_tail(&qp->list, &d->qps);
	spin_unlock_irqrestore(&d->lock, flags);
	return 0;
}

static int vib_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct vib_dev *d = to_dev(ib->device);
	struct vib_qp *qp = to_qp(ib);
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	if (mask & IB_QP_QKEY)
		qp->attr.qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
	if (mask & IB_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn;
	if (mask & IB_QP_STATE) {
		qp->attr.qp_state = attr->qp_state;
		if (attr->qp_state == IB_QPS_ERR)
			vib_flush(qp);
		if (attr->qp_state == IB_QPS_RESET)
			qp->n = 0;
	}
	spin_unlock_irqrestore(&d->lock, flags);
	return 0;
}

static int vib_detach(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct vib_dev *d = to_dev(ib->device);
	struct vib_group *g, *next;
	unsigned long flags;
	int error = -EINVAL;

	spin_lock_irqsave(&d->lock, flags);
	list_for_each_entry_safe(g, next, &to_qp(ib)->groups, list) {
		if (gid && memcmp(&g->gid, gid, sizeof(*gid)))
			continue;
		list_del(&g->list);
		kfree(g);
		error = 0;
	}
	spin_unlock_irqrestore(&d->lock, flags);
	return error;
}

static int vib_attach(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct vib_group *g = kmalloc(sizeof(*g), GFP_KERNEL);
	struct vib_dev *d = to_dev(ib->device);
	unsigned long flags;

	if (!g)
		return -ENOMEM;
	g->gid = *gid;
	spin_lock_irqsave(&d->lock, flags);
	if (vib_in_group(to_qp(ib), gid->raw))
		kfree(g);
	else
		list_add(&g->list, &to_qp(ib)->groups);
	spin_unlock_irqrestore(&d->lock, flags);
	return 0;
}

static int vib_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct vib_dev *d = to_dev(ib->device);
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	list_del(&to_qp(ib)->list);
	spin_unlock_irqrestore(&d->lock, flags);
	vib_detach(ib, NULL, 0);
	kvfree(to_qp(ib)->recv);
	return 0;
}

/* ------------------------------------------- address handles, memory, PDs */

static int vib_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
			 struct ib_udata *udata)
{
	container_of(ib, struct vib_ah, ib)->attr = *init->ah_attr;
	return 0;
}

static int vib_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = container_of(ib, struct vib_ah, ib)->attr;
	return 0;
}

static int vib_destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

static int vib_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return udata ? -EOPNOTSUPP : 0;
}

static int vib_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static struct ib_mr *vib_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ? mr : ERR_PTR(-ENOMEM);
}

static struct ib_mr *vib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				     u64 address, int access,
				     struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int vib_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

/* ---------------------------------------------------- the device, its port */

static int vib_query_device(struct ib_device *ib, struct ib_device_attr *a,
			    struct ib_udata *udata)
{
	struct vib_dev *d = to_dev(ib);

	memset(a, 0, sizeof(*a));
	a->sys_image_guid = cpu_to_be64(d->node.system_guid);
	a->vendor_id = d->node.vendor_id;
	a->vendor_part_id = d->node.device_id;
	a->page_size_cap = PAGE_SIZE;
	a->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	a->max_qp = 4096;
	a->max_qp_wr = VIB_WRS;
	a->max_send_sge = VIB_SGES;
	a->max_recv_sge = VIB_SGES;
	a->max_cqe = 16 * VIB_WRS;
	a->max_mcast_grp = 4096;
	a->max_mcast_qp_attach = 64;
	a->max_pkeys = VIB_PKEYS;
	return 0;
}

static int vib_query_port(struct ib_device *ib, u32 port,
			  struct ib_port_attr *a)
{
	struct vib_dev *d = to_dev(ib);
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	a->subnet_prefix = d->port.gid_prefix;
	a->state = d->port.state;
	a->phys_state = d->port.phys_state;
	a->max_mtu = d->port.mtu_cap;
	a->active_mtu = d->port.mtu ? d->port.mtu : IB_MTU_256;
	a->gid_tbl_len = 1;
	a->pkey_tbl_len = d->n_pkeys;
	a->port_cap_flags = d->port.cap_mask;
	if (d->planes)
		a->port_cap_flags = (a->port_cap_flags & ~IB_PORT_SM) |
			IB_PORT_SM_DISABLED;
	else if (d->gsi)
		a->port_cap_flags &= ~IB_PORT_CM_SUP;
	a->max_msg_sz = LAB_UD_MAX;
	a->lid = d->port.lid;
	a->lmc = d->port.lmc;
	a->sm_lid = d->port.sm_lid;
	a->sm_sl = d->port.sm_sl;
	a->max_vl_num = d->port.vl_cap;
	a->subnet_timeout = d->port.subnet_timeout;
	a->active_width = d->port.width;
	a->active_speed = d->port.speed_ext ? d->port.speed_ext << 4 :
					      d->port.speed;
	spin_unlock_irqrestore(&d->lock, flags);
	return 0;
}

static int vib_modify_port(struct ib_device *ib, u32 port, int mask,
			   struct ib_port_modify *m)
{
	u32 on = !!(m->set_port_cap_mask & IB_PORT_SM);
	struct sk_buff *skb;

	if (!((m->set_port_cap_mask | m->clr_port_cap_mask) & IB_PORT_SM))
		return 0;
	skb = vib_frame(to_dev(ib)->channel, LAB_IS_SM, sizeof(on));
	if (!skb)
		return -ENOMEM;
	skb_put_data(skb, &on, sizeof(on));
	vib_give(skb);
	return 0;
}

static int vib_immutable(struct ib_device *ib, u32 port,
			 struct ib_port_immutable *i)
{
	i->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	if (to_dev(ib)->planes)
		i->core_cap_flags &= ~RDMA_CORE_CAP_IB_SMI;
	else if (to_dev(ib)->gsi)
		i->core_cap_flags = RDMA_CORE_CAP_IB_MAD |
			RDMA_CORE_CAP_IB_SMI;
	i->max_mad_size = IB_MGMT_MAD_SIZE;
	i->gid_tbl_len = 1;
	i->pkey_tbl_len = to_dev(ib)->n_pkeys;
	return 0;
}

static int vib_query_gid(struct ib_device *ib, u32 port, int index,
			 union ib_gid *gid)
{
	struct vib_dev *d = to_dev(ib);

	gid->global.subnet_prefix = cpu_to_be64(d->port.gid_prefix);
	gid->global.interface_id = cpu_to_be64(d->port.port_guid);
	return index ? -EINVAL : 0;
}

static int vib_query_pkey(struct ib_device *ib, u32 port, u16 index,
			  u16 *pkey)
{
	if (index >= to_dev(ib)->n_pkeys)
		return -EINVAL;
	*pkey = to_dev(ib)->pkeys[index];
	return 0;
}

/* ------------------------------------------------------------------ events */

/* What differs from what was told, in the order in which it matters. */
static int vib_events(struct vib_dev *d, enum ib_event_type *e)
{
	const struct lab_port *is = &d->port, *was = &d->told;
	bool active = is->state == IB_PORT_ACTIVE;
	int n = 0;

	if (was->state == IB_PORT_ACTIVE && !active)
		e[n++] = IB_EVENT_PORT_ERR;
	if (is->gid_prefix != was->gid_prefix)
		e[n++] = IB_EVENT_GID_CHANGE;
	if (is->lid != was->lid || is->lmc != was->lmc)
		e[n++] = IB_EVENT_LID_CHANGE;
	if (d->pkeys_changed)
		e[n++] = IB_EVENT_PKEY_CHANGE;
	if (is->sm_lid != was->sm_lid || is->sm_sl != was->sm_sl)
		e[n++] = IB_EVENT_SM_CHANGE;
	if (was->state != IB_PORT_ACTIVE && active)
		e[n++] = IB_EVENT_PORT_ACTIVE;
	if (d->reregister)
		e[n++] = IB_EVENT_CLIENT_REREGISTER;
	d->pkeys_changed = false;
	d->reregister = false;
	d->told = *is;
	return n;
}

static void vib_tell(struct vib_dev *d)
{
	enum ib_event_type type[8];
	unsigned long flags;
	int i, n = 0;

	spin_lock_irqsave(&d->lock, flags);
	if (d->registered)
		n = vib_events(d, type);
	spin_unlock_irqrestore(&d->lock, flags);
	for (i = 0; i < n * d->ib.phys_port_cnt; i++) {
		struct ib_event event = {
			.device = &d->ib, .event = type[i % n],
			.element.port_num = 1 + i / n,
		};

		ib_dispatch_event(&event);
	}
}

/* What changed meanwhile is told now. */
static void vib_registered(struct vib_dev *d)
{
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	d->registered = true;
	spin_unlock_irqrestore(&d->lock, flags);
	vib_tell(d);
}

/* ------------------------------------------------------- devices of a port */

static const struct ib_device_ops vib_ops;

static struct vib_dev *vib_alloc(unsigned int channel,
				 const struct lab_node *node)
{
	struct vib_dev *d = ib_alloc_device(vib_dev, ib);

	if (!d)
		return NULL;
	d->channel = channel;
	d->node = *node;
	d->next_qpn = 0x100;
	spin_lock_init(&d->lock);
	INIT_LIST_HEAD(&d->qps);
	init_completion(&d->answered);
	mutex_init(&d->asking);
	d->ib.node_type = RDMA_NODE_IB_CA;
	d->ib.phys_port_cnt = 1;
	d->ib.num_comp_vectors = 1;
	d->ib.node_guid = cpu_to_be64(node->node_guid);
	strscpy(d->ib.node_desc, node->description, IB_DEVICE_NODE_DESC_MAX);
	ib_set_device_ops(&d->ib, &vib_ops);
	return d;
}

#ifdef VIB_HAS_PLANES
static void vib_del_sub_dev(struct ib_device *ib)
{
	struct vib_dev *d = to_dev(ib);

	mutex_lock(&vib_writer);
	d->gsi->smi = NULL;
	mutex_unlock(&vib_writer);
	if (d->registered)
		ib_unregister_device(ib);
	ib_dealloc_device(ib);
}

static struct ib_device *vib_add_sub_dev(struct ib_device *parent,
					 enum rdma_nl_dev_type type,
					 const char *name)
{
	struct vib_dev *gsi = to_dev(parent), *d;
	int error;

	if (type != RDMA_DEVICE_TYPE_SMI || !gsi->planes)
		return ERR_PTR(-EOPNOTSUPP);
	d = vib_alloc(gsi->channel, &gsi->node);
	if (!d)
		return ERR_PTR(-ENOMEM);
	d->gsi = gsi;
	d->ib.type = type;
	d->ib.phys_port_cnt = gsi->planes;
	mutex_lock(&vib_writer);
	error = gsi->smi ? -EEXIST : 0;
	if (!error)
		gsi->smi = d;
	d->port = d->told = gsi->port;
	d->n_pkeys = gsi->n_pkeys;
	memcpy(d->pkeys, gsi->pkeys, sizeof(d->pkeys));
	mutex_unlock(&vib_writer);
	if (error) {
		ib_dealloc_device(&d->ib);
		return ERR_PTR(error);
	}
	error = ib_register_device(&d->ib, name, NULL);
	if (error) {
		vib_del_sub_dev(&d->ib);
		return ERR_PTR(error);
	}
	vib_registered(d);
	return &d->ib;
}

static int vib_add_smi(const char *channel, const struct kernel_param *kp)
{
	char name[IB_DEVICE_NAME_MAX];
	unsigned int i;

	if (kstrtouint(channel, 10, &i) || i >= VIB_CHANNELS || !vib_slots[i])
		return -ENODEV;
	scnprintf(name, sizeof(name), "smi%u", i);
	return ib_add_sub_device(&vib_slots[i]->ib, RDMA_DEVICE_TYPE_SMI, name);
}
module_param_call(smi, vib_add_smi, NULL, NULL, 0200);
#endif

static const struct ib_device_ops vib_ops = {
	.owner = THIS_MODULE,
#ifdef VIB_HAS_PLANES
	.add_sub_dev = vib_add_sub_dev,
	.del_sub_dev = vib_del_sub_dev,
#endif
	.alloc_pd = vib_alloc_pd,
	.attach_mcast = vib_attach,
	.create_ah = vib_create_ah,
	.create_cq = vib_create_cq,
	.create_qp = vib_create_qp,
	.dealloc_pd = vib_dealloc_pd,
	.dereg_mr = vib_dereg_mr,
	.destroy_ah = vib_destroy_ah,
	.destroy_cq = vib_destroy_cq,
	.destroy_qp = vib_destroy_qp,
	.detach_mcast = vib_detach,
	.get_dma_mr = vib_get_dma_mr,
	.get_port_immutable = vib_immutable,
	.modify_port = vib_modify_port,
	.modify_qp = vib_modify_qp,
	.poll_cq = vib_poll_cq,
	.post_recv = vib_post_recv,
	.post_send = vib_post_send,
	.process_mad = vib_process_mad,
	.query_ah = vib_query_ah,
	.query_device = vib_query_device,
	.query_gid = vib_query_gid,
	.query_pkey = vib_query_pkey,
	.query_port = vib_query_port,
	.reg_user_mr = vib_reg_user_mr,
	.req_notify_cq = vib_req_notify_cq,
	INIT_RDMA_OBJ_SIZE(ib_ah, vib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, vib_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, vib_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, vib_qp, ib),
};

/* --------------------------------------------------------- devices come, go */

static void vib_add(struct work_struct *work)
{
	struct vib_dev *d = container_of(work, struct vib_dev, add);
	unsigned long flags;
	char name[IB_DEVICE_NAME_MAX];
	int error;

	spin_lock_irqsave(&d->lock, flags);
	d->told = d->port;
	d->pkeys_changed = false;
	spin_unlock_irqrestore(&d->lock, flags);
	scnprintf(name, sizeof(name), "vib%u", d->channel);
	error = ib_register_device(&d->ib, name, NULL);
	if (error) {
		pr_err("vib%u: not registered, error %d\n", d->channel, error);
		return;
	}
	vib_registered(d);
}

static void vib_remove(struct work_struct *work)
{
	struct vib_dev *d = container_of(work, struct vib_dev, remove);

	if (d->registered)
		ib_unregister_device(&d->ib);
	ib_dealloc_device(&d->ib);
}

/* What is sent from now on fails, or its senders would wait for answers. */
static void vib_clear_slot(unsigned int channel)
{
	struct vib_dev *d = vib_slots[channel];
	unsigned long flags;

	vib_slots[channel] = NULL;
	if (!d)
		return;
	spin_lock_irqsave(&d->lock, flags);
	d->gone = true;
	if (d->smi)
		d->smi->gone = true;
	spin_unlock_irqrestore(&d->lock, flags);
	queue_work(vib_wq, &d->remove);
}

static int vib_new(unsigned int channel, const struct lab_node *node)
{
	struct vib_dev *d;

	vib_clear_slot(channel);
	d = vib_alloc(channel, node);
	if (!d)
		return -ENOMEM;
	INIT_WORK(&d->add, vib_add);
	INIT_WORK(&d->remove, vib_remove);
#ifdef VIB_HAS_PLANES
	d->planes = planes;
#endif
	vib_slots[channel] = d;
	return 0;
}

/* ------------------------------------------------------ frames from the lab */

static void vib_take_port(struct vib_dev *d, const struct lab_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	d->port = *port;
	if (port->changed & LAB_CHANGED_REREGISTER)
		d->reregister = true;
	spin_unlock_irqrestore(&d->lock, flags);
	vib_tell(d);
	if (d->smi)
		vib_take_port(d->smi, port);
}

static void vib_take_pkeys(struct vib_dev *d, const void *pkeys, u32 length)
{
	unsigned long flags;

	length = min_t(u32, length, sizeof(d->pkeys));
	spin_lock_irqsave(&d->lock, flags);
	memcpy(d->pkeys, pkeys, length);
	d->n_pkeys = length / sizeof(*d->pkeys);
	d->pkeys_changed = true;
	spin_unlock_irqrestore(&d->lock, flags);
	if (d->queued || d->gsi)
		vib_tell(d);
	else
		queue_work(vib_wq, &d->add);
	d->queued = true;
	if (d->smi)
		vib_take_pkeys(d->smi, pkeys, length);
}

static int vib_take(const struct lab_frame *f, const void *data)
{
	struct vib_dev *d;

	if (f->channel >= VIB_CHANNELS)
		return -EINVAL;
	if (f->type == LAB_RESULT) {
		if (((const struct lab_result *)data)->error)
			vib_attach_again(f->channel);
		return 0;
	}
	d = vib_slots[f->channel];
	if (f->type == LAB_NODE)
		return f->length < sizeof(struct lab_node) ? -EINVAL :
			vib_new(f->channel, data);
	if (!d)
		return 0;	/* removed meanwhile */
	switch (f->type) {
	case LAB_PORT:
		if (f->length < sizeof(struct lab_port))
			return -EINVAL;
		vib_take_port(d, data);
		return 0;
	case LAB_PKEYS:
		vib_take_pkeys(d, data, f->length);
		return 0;
	case LAB_RECEIVE:
		/* consumers raise soft interrupts: let them run after it */
		local_bh_disable();
		vib_receive(d, data, f->length);
		local_bh_enable();
		return 0;
	case LAB_REMOVED:
		vib_clear_slot(f->channel);
		vib_attach_again(f->channel);
		return 0;
	}
	return -EINVAL;
}

static bool vib_get(void *to, size_t n)
{
	struct kvec v = { to, n };
	struct msghdr m = {};

	return !n || kernel_recvmsg(vib_lab, &m, &v, 1, n, MSG_WAITALL) == n;
}

/* The thread of a connection, to its end. */
static int vib_run(void *unused)
{
	static char data[VIB_FRAME];
	struct lab_frame f;
	struct socket *lab = vib_lab;
	unsigned int i;
	int error = 0;

	while (!error && vib_get(&f, sizeof(f)) && f.length <= sizeof(data) &&
	       vib_get(data, f.length)) {
		mutex_lock(&vib_writer);
		error = vib_take(&f, data);
		mutex_unlock(&vib_writer);
	}
	if (error)
		pr_err("vib: a frame of type %u is refused\n", f.type);
	mutex_lock(&vib_writer);
	for (i = 0; i < VIB_CHANNELS; i++)
		vib_clear_slot(i);
	mutex_unlock(&vib_writer);
	flush_workqueue(vib_wq);
	cancel_delayed_work_sync(&vib_attaching);
	vib_lab = NULL;
	cancel_work_sync(&vib_sending);
	sock_release(lab);
	return 0;
}

static int vib_connect(const char *words, const struct kernel_param *kp)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char *line, *at, *word;
	struct socket *lab;
	int error, i = 0;

	if (vib_lab)
		return -EBUSY;
	line = at = kstrdup(words, GFP_KERNEL);
	if (!line)
		return -ENOMEM;
	strim(line);
	strscpy(to.sun_path, strsep(&at, " "), sizeof(to.sun_path));
	memset(vib_nodes, 0, sizeof(vib_nodes));
	memset(vib_attached, 0, sizeof(vib_attached));
	while (i < VIB_CHANNELS && (word = strsep(&at, " ")))
		strscpy(vib_nodes[i++], word, LAB_NAME_LEN);
	kfree(line);
	error = sock_create_kern(&init_net, AF_UNIX, SOCK_STREAM, 0, &lab);
	if (error)
		return error;
	error = kernel_connect(lab, (struct sockaddr *)&to, sizeof(to), 0);
	if (error) {
		sock_release(lab);
		return error;
	}
	skb_queue_purge(&vib_out);
	vib_lab = lab;
	kthread_run(vib_run, NULL, "vib");
	schedule_delayed_work(&vib_attaching, 0);
	return 0;
}
module_param_call(lab, vib_connect, NULL, NULL, 0200);

static int __init vib_init(void)
{
	skb_queue_head_init(&vib_out);
	vib_wq = alloc_ordered_workqueue("vib", 0);
	return vib_wq ? 0 : -ENOMEM;
}

module_init(vib_init);
MODULE_DESCRIPTION("HCAs of a simulated fabric");
MODULE_LICENSE("Dual BSD/GPL");
