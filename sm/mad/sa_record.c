// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA records on the wire.
 *
 * Offsets are those of the tables of IBA 15.2.5; the test compares them with
 * the component tables (sa_fields.c), which were written by another route, so
 * that a slip in one of the two shows.
 *
 * The records of the fabric carry an attribute of the SM behind their key
 * fields; its bytes come from the encoders of SMPs, in 64 bytes, of which the
 * record takes what belongs to the attribute.
 */
#include "sm/mad/sa_record.h"

#include <string.h>

#include "sm/mad/bytes.h"
#define NODE_INFO_LEN	40u
#define PORT_INFO_LEN	64u
#define SWITCH_INFO_LEN	20u
#define SM_INFO_LEN	21u
#define NODE_DESC_LEN_WIRE 64u

static uint8_t
pair(unsigned selector, unsigned value)
{
	return (uint8_t)(selector << 6 | (value & 0x3f));
}

/* ------------------------------------------------------------------ rates */

/* By code, in Mb/s as they are spoken of: IBA table of PathRecord.Rate. */
static const uint32_t rates[] = {
	[2] = 2500, [3] = 10000, [4] = 30000, [5] = 5000, [6] = 20000,
	[7] = 40000, [8] = 60000, [9] = 80000, [10] = 120000, [11] = 14000,
	[12] = 56000, [13] = 112000, [14] = 168000, [15] = 25000,
	[16] = 100000, [17] = 200000, [18] = 300000, [19] = 28000,
	[20] = 50000, [21] = 400000, [22] = 600000, [23] = 800000,
	[24] = 1200000,
};

#define N_RATES	(sizeof(rates) / sizeof(rates[0]))

unsigned
sa_rate_mbps(unsigned rate)
{
	return rate < N_RATES ? rates[rate] : 0;
}

int
sa_rate_compare(unsigned a, unsigned b)
{
	unsigned x = sa_rate_mbps(a), y = sa_rate_mbps(b);

	return x < y ? -1 : x > y;
}

static unsigned
lanes(const struct port_info *info)
{
	switch (info->width_active) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	}
	return 0;
}

/* The rate, or the next lower one if this one has no code. */
unsigned
sa_rate_of(const struct port_info *info)
{
	unsigned mbps = port_speed(info)->mbps * lanes(info);
	unsigned best = 0;

	for (unsigned code = 2; code < N_RATES; code++)
		if (rates[code] <= mbps && rates[code] > sa_rate_mbps(best))
			best = code;
	return best;
}

/* ------------------------------------------------------------------ paths */

void
path_record_decode(const uint8_t *d, struct path_record *r)
{
	uint32_t word = (uint32_t)bytes_load(d + 44, 4);

	r->service_id = bytes_load(d, 8);
	memcpy(r->dgid, d + 8, 16);
	memcpy(r->sgid, d + 24, 16);
	r->dlid = (uint16_t)bytes_load(d + 40, 2);
	r->slid = (uint16_t)bytes_load(d + 42, 2);
	r->raw = word >> 31;
	r->flow_label = word >> 8 & 0xfffff;
	r->hop_limit = (uint8_t)word;
	r->tclass = d[48];
	r->reversible = d[49] >> 7;
	r->numb_path = d[49] & 0x7f;
	r->pkey = (uint16_t)bytes_load(d + 50, 2);
	r->qos_class = (uint16_t)(bytes_load(d + 52, 2) >> 4);
	r->sl = d[53] & 0xf;
	r->mtu_selector = d[54] >> 6;
	r->mtu = d[54] & 0x3f;
	r->rate_selector = d[55] >> 6;
	r->rate = d[55] & 0x3f;
	r->life_selector = d[56] >> 6;
	r->life = d[56] & 0x3f;
	r->preference = d[57];
}

void
path_record_encode(uint8_t *d, const struct path_record *r)
{
	bytes_store(d, r->service_id, 8);
	memcpy(d + 8, r->dgid, 16);
	memcpy(d + 24, r->sgid, 16);
	bytes_store(d + 40, r->dlid, 2);
	bytes_store(d + 42, r->slid, 2);
	bytes_store(d + 44, (uint32_t)r->raw << 31 |
	      (r->flow_label & 0xfffff) << 8 | r->hop_limit, 4);
	d[48] = r->tclass;
	d[49] = (uint8_t)(r->reversible << 7 | (r->numb_path & 0x7f));
	bytes_store(d + 50, r->pkey, 2);
	bytes_store(d + 52, (uint64_t)r->qos_class << 4 | (r->sl & 0xf), 2);
	d[54] = pair(r->mtu_selector, r->mtu);
	d[55] = pair(r->rate_selector, r->rate);
	d[56] = pair(r->life_selector, r->life);
	d[57] = r->preference;
	memset(d + 58, 0, 6);
}

void
multi_path_record_decode(const uint8_t *d, struct multi_path_record *r)
{
	struct path_record *p = &r->path;
	uint32_t word = (uint32_t)bytes_load(d, 4);

	memset(r, 0, sizeof(*r));
	p->raw = word >> 31;
	p->flow_label = word >> 8 & 0xfffff;
	p->hop_limit = (uint8_t)word;
	p->tclass = d[4];
	p->reversible = d[5] >> 7;
	p->numb_path = d[5] & 0x7f;
	p->pkey = (uint16_t)bytes_load(d + 6, 2);
	p->qos_class = (uint16_t)(bytes_load(d + 8, 2) >> 4);
	p->sl = d[9] & 0xf;
	p->mtu_selector = d[10] >> 6;
	p->mtu = d[10] & 0x3f;
	p->rate_selector = d[11] >> 6;
	p->rate = d[11] & 0x3f;
	p->life_selector = d[12] >> 6;
	p->life = d[12] & 0x3f;
	p->service_id = (uint64_t)d[13] << 56 | bytes_load(d + 17, 7);
	r->independence = d[14] >> 6;
	r->n_sgids = d[15];
	r->n_dgids = d[16];
}

void
multi_path_record_encode(uint8_t *d, const struct multi_path_record *r)
{
	const struct path_record *p = &r->path;

	bytes_store(d, (uint32_t)p->raw << 31 | (p->flow_label & 0xfffff) << 8 |
	      p->hop_limit, 4);
	d[4] = p->tclass;
	d[5] = (uint8_t)(p->reversible << 7 | (p->numb_path & 0x7f));
	bytes_store(d + 6, p->pkey, 2);
	bytes_store(d + 8, (uint64_t)p->qos_class << 4 | (p->sl & 0xf), 2);
	d[10] = pair(p->mtu_selector, p->mtu);
	d[11] = pair(p->rate_selector, p->rate);
	d[12] = pair(p->life_selector, p->life);
	d[13] = (uint8_t)(p->service_id >> 56);
	d[14] = (uint8_t)(r->independence << 6);
	d[15] = r->n_sgids;
	d[16] = r->n_dgids;
	bytes_store(d + 17, p->service_id & UINT64_C(0xffffffffffffff), 7);
}

/* -------------------------------------------------- groups and services */

void
mcmember_record_decode(const uint8_t *d, struct mcmember_record *r)
{
	uint32_t word = (uint32_t)bytes_load(d + 44, 4);

	memcpy(r->mgid, d, 16);
	memcpy(r->port_gid, d + 16, 16);
	r->q_key = (uint32_t)bytes_load(d + 32, 4);
	r->mlid = (uint16_t)bytes_load(d + 36, 2);
	r->mtu_selector = d[38] >> 6;
	r->mtu = d[38] & 0x3f;
	r->tclass = d[39];
	r->pkey = (uint16_t)bytes_load(d + 40, 2);
	r->rate_selector = d[42] >> 6;
	r->rate = d[42] & 0x3f;
	r->life_selector = d[43] >> 6;
	r->life = d[43] & 0x3f;
	r->sl = (uint8_t)(word >> 28);
	r->flow_label = word >> 8 & 0xfffff;
	r->hop_limit = (uint8_t)word;
	r->scope = d[48] >> 4;
	r->join_state = d[48] & 0xf;
	r->proxy_join = d[49] >> 7;
}

void
mcmember_record_encode(uint8_t *d, const struct mcmember_record *r)
{
	memcpy(d, r->mgid, 16);
	memcpy(d + 16, r->port_gid, 16);
	bytes_store(d + 32, r->q_key, 4);
	bytes_store(d + 36, r->mlid, 2);
	d[38] = pair(r->mtu_selector, r->mtu);
	d[39] = r->tclass;
	bytes_store(d + 40, r->pkey, 2);
	d[42] = pair(r->rate_selector, r->rate);
	d[43] = pair(r->life_selector, r->life);
	bytes_store(d + 44, (uint32_t)(r->sl & 0xf) << 28 |
	      (r->flow_label & 0xfffff) << 8 | r->hop_limit, 4);
	d[48] = (uint8_t)(r->scope << 4 | (r->join_state & 0xf));
	d[49] = (uint8_t)(r->proxy_join << 7);
	memset(d + 50, 0, 6);
}

void
service_record_decode(const uint8_t *d, struct service_record *r)
{
	r->id = bytes_load(d, 8);
	memcpy(r->gid, d + 8, 16);
	r->pkey = (uint16_t)bytes_load(d + 24, 2);
	r->lease = (uint32_t)bytes_load(d + 28, 4);
	memcpy(r->key, d + 32, 16);
	memcpy(r->name, d + 48, 64);
	memcpy(r->data, d + 112, 64);
}

void
service_record_encode(uint8_t *d, const struct service_record *r)
{
	bytes_store(d, r->id, 8);
	memcpy(d + 8, r->gid, 16);
	bytes_store(d + 24, r->pkey, 2);
	bytes_store(d + 26, 0, 2);
	bytes_store(d + 28, r->lease, 4);
	memcpy(d + 32, r->key, 16);
	memcpy(d + 48, r->name, 64);
	memcpy(d + 112, r->data, 64);
}

/* ------------------------------------------------ subscriptions, notices */

void
inform_info_decode(const uint8_t *d, struct inform_info *i)
{
	memcpy(i->gid, d, 16);
	i->lid_begin = (uint16_t)bytes_load(d + 16, 2);
	i->lid_end = (uint16_t)bytes_load(d + 18, 2);
	i->generic = d[22] != 0;
	i->subscribe = d[23];
	i->type = (uint16_t)bytes_load(d + 24, 2);
	i->trap = (uint16_t)bytes_load(d + 26, 2);
	i->qpn = (uint32_t)bytes_load(d + 28, 3);
	i->resp_time = d[31] & 0x1f;
	i->producer = (uint32_t)bytes_load(d + 33, 3);
}

void
inform_info_encode(uint8_t *d, const struct inform_info *i)
{
	memcpy(d, i->gid, 16);
	bytes_store(d + 16, i->lid_begin, 2);
	bytes_store(d + 18, i->lid_end, 2);
	bytes_store(d + 20, 0, 2);
	d[22] = i->generic;
	d[23] = i->subscribe;
	bytes_store(d + 24, i->type, 2);
	bytes_store(d + 26, i->trap, 2);
	bytes_store(d + 28, i->qpn, 3);
	d[31] = i->resp_time & 0x1f;
	d[32] = 0;
	bytes_store(d + 33, i->producer, 3);
}

void
inform_info_record_decode(const uint8_t *d, struct inform_info_record *r)
{
	memcpy(r->subscriber_gid, d, 16);
	r->index = (uint16_t)bytes_load(d + 16, 2);
	inform_info_decode(d + 24, &r->info);
}

void
inform_info_record_encode(uint8_t *d, const struct inform_info_record *r)
{
	memcpy(d, r->subscriber_gid, 16);
	bytes_store(d + 16, r->index, 2);
	memset(d + 18, 0, 6);
	inform_info_encode(d + 24, &r->info);
	memset(d + 24 + INFORM_LEN, 0, 4);
}

void
notice_build_gid(uint8_t d[NOTICE_LEN], uint16_t trap, uint16_t issuer_lid,
		 const uint8_t gid[16])
{
	memset(d, 0, NOTICE_LEN);
	d[0] = 0x80 | 3;		/* generic; subnet management */
	bytes_store(d + 1, 4, 3);	/* class manager, IBA 13.4.8.2 */
	bytes_store(d + 4, trap, 2);
	bytes_store(d + 6, issuer_lid, 2);
	memcpy(d + 16, gid, 16);
}

/* --------------------------------------------------------- ClassPortInfo */

#define GSI_QKEY	0x80010000u	/* IBA 10.2.4: of QP 1 */

void
sa_class_info_encode(uint8_t *d, const struct sa_class_info *i)
{
	memset(d, 0, 72);
	d[0] = 1;			/* BaseVersion */
	d[1] = 2;			/* ClassVersion */
	bytes_store(d + 2, i->cap_mask, 2);
	bytes_store(d + 4, i->cap_mask2 << 5 | (i->resp_time & 0x1fu), 4);
	bytes_store(d + 32, 1, 4);		/* RedirectQP */
	bytes_store(d + 36, GSI_QKEY, 4);	/* RedirectQ_Key */
	bytes_store(d + 68, GSI_QKEY, 4);	/* TrapQ_Key */
}

void
sa_class_info_decode(const uint8_t *d, struct sa_class_info *i)
{
	uint32_t word = (uint32_t)bytes_load(d + 4, 4);

	i->cap_mask = (uint16_t)bytes_load(d + 2, 2);
	i->cap_mask2 = word >> 5;
	i->resp_time = word & 0x1f;
}

/* --------------------------------------------------- records of the fabric */

static void
begin(uint8_t *d, unsigned attr_id, uint16_t lid)
{
	memset(d, 0, sa_record_size(attr_id));
	bytes_store(d, lid, 2);
}

void
node_record_encode(uint8_t *d, uint16_t lid, const struct node_info *info,
		   const char *desc)
{
	uint8_t data[SMP_DATA_LEN];

	begin(d, SA_ATTR_NODE, lid);
	node_info_encode(data, info);
	memcpy(d + 4, data, NODE_INFO_LEN);
	memcpy(d + 4 + NODE_INFO_LEN, desc, strnlen(desc,
						    NODE_DESC_LEN_WIRE));
}

void
port_info_record_encode(uint8_t *d, uint16_t lid, uint8_t port,
			const struct port_info *info)
{
	begin(d, SA_ATTR_PORT_INFO, lid);
	d[2] = port;
	port_info_encode(d + 4, info);
}

void
switch_info_record_encode(uint8_t *d, uint16_t lid,
			  const struct switch_info *info)
{
	uint8_t data[SMP_DATA_LEN];

	begin(d, SA_ATTR_SWITCH_INFO, lid);
	switch_info_encode(data, info);
	memcpy(d + 4, data, SWITCH_INFO_LEN);
}

void
linear_ft_record_encode(uint8_t *d, uint16_t lid, uint16_t block,
			const uint8_t ports[64])
{
	begin(d, SA_ATTR_LINEAR_FT, lid);
	bytes_store(d + 2, block, 2);
	memcpy(d + 8, ports, 64);
}

void
multicast_ft_record_encode(uint8_t *d, uint16_t lid, unsigned position,
			   unsigned block, const uint16_t masks[32])
{
	begin(d, SA_ATTR_MULTICAST_FT, lid);
	bytes_store(d + 2, (position & 0xf) << 12 | (block & 0x1ff), 2);
	for (unsigned i = 0; i < 32; i++)
		bytes_store(d + 8 + 2 * i, masks[i], 2);
}

void
link_record_encode(uint8_t *d, uint16_t from_lid, uint8_t from_port,
		   uint8_t to_port, uint16_t to_lid)
{
	begin(d, SA_ATTR_LINK, from_lid);
	d[2] = from_port;
	d[3] = to_port;
	bytes_store(d + 4, to_lid, 2);
}

void
sm_info_record_encode(uint8_t *d, uint16_t lid, const struct sm_info *info)
{
	uint8_t data[SMP_DATA_LEN];

	begin(d, SA_ATTR_SM_INFO, lid);
	sm_info_encode(data, info);
	memcpy(d + 4, data, SM_INFO_LEN);
}

void
guid_info_record_encode(uint8_t *d, uint16_t lid, uint8_t block,
			const uint64_t guids[8])
{
	begin(d, SA_ATTR_GUID_INFO, lid);
	d[2] = block;
	for (unsigned i = 0; i < 8; i++)
		bytes_store(d + 8 + 8 * i, guids[i], 8);
}

void
pkey_table_record_encode(uint8_t *d, uint16_t lid, uint16_t block,
			 uint8_t port, const uint16_t pkeys[32])
{
	begin(d, SA_ATTR_PKEY_TABLE, lid);
	bytes_store(d + 2, block, 2);
	d[4] = port;
	for (unsigned i = 0; i < 32; i++)
		bytes_store(d + 8 + 2 * i, pkeys[i], 2);
}

void
sl_to_vl_record_encode(uint8_t *d, uint16_t lid, uint8_t in_port,
		       uint8_t out_port, const uint8_t vl[16])
{
	begin(d, SA_ATTR_SL_TO_VL, lid);
	d[2] = in_port;
	d[3] = out_port;
	for (unsigned sl = 0; sl < 16; sl += 2)
		d[8 + sl / 2] = (uint8_t)(vl[sl] << 4 | (vl[sl + 1] & 0xf));
}

void
vl_arb_record_encode(uint8_t *d, uint16_t lid, uint8_t port, uint8_t block,
		     const uint8_t table[64])
{
	begin(d, SA_ATTR_VL_ARB, lid);
	d[2] = port;
	d[3] = block;
	memcpy(d + 8, table, 64);
}
