// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA records on the wire: see mad_field.h for where components are.
 *
 * PathRecord has a codec of its own, since clients request millions of them: 20
 * ns a record, where the walk over the table takes 475 ns. The tests compare the
 * two.
 */
#include "sm/mad/sa_record.h"

#include <glib.h>
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mad_field.h"

void
sa_record_decode(unsigned attr_id, const uint8_t *data, void *record)
{
	mad_fields_decode(mad_attr_table(attr_id), 0, data, record);
}

void
sa_record_encode(unsigned attr_id, uint8_t *data, const void *record)
{
	const struct mad_attr_table *t = mad_attr_table(attr_id);

	memset(data, 0, t->size);
	if (record)
		mad_fields_encode(t, 0, data, record);
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
	d[54] = (uint8_t)(r->mtu_selector << 6 | (r->mtu & 0x3f));
	d[55] = (uint8_t)(r->rate_selector << 6 | (r->rate & 0x3f));
	d[56] = (uint8_t)(r->life_selector << 6 | (r->life & 0x3f));
	d[57] = r->preference;
	memset(d + 58, 0, 6);
}

/* The ServiceID is in two components, and one member. */
void
multi_path_record_decode(const uint8_t *d, struct multi_path_record *r)
{
	memset(r, 0, sizeof(*r));
	sa_record_decode(SA_ATTR_MULTI_PATH, d, r);
	r->path.service_id = (uint64_t)d[13] << 56 | bytes_load(d + 17, 7);
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

void
sa_class_info_encode(uint8_t *d, uint16_t cap_mask, uint32_t cap_mask2,
		     uint8_t resp_time)
{
	memset(d, 0, 72);
	d[0] = 1;			/* BaseVersion */
	d[1] = 2;			/* ClassVersion */
	bytes_store(d + 2, cap_mask, 2);
	bytes_store(d + 4, cap_mask2 << 5 | (resp_time & 0x1fu), 4);
	bytes_store(d + 32, 1, 4);		/* RedirectQP */
	bytes_store(d + 36, MAD_GSI_QKEY, 4);	/* RedirectQ_Key */
	bytes_store(d + 68, MAD_GSI_QKEY, 4);	/* TrapQ_Key */
}
