// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SA records on the wire: see mad_field.h for where components are. */
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

/* ------------------------------------------------------------------ rates */

/* By code, nominal, in Mb/s: IBA table of PathRecord.Rate. */
static const uint32_t rates[] = {
	[2] = 2500, [3] = 10000, [4] = 30000, [5] = 5000, [6] = 20000,
	[7] = 40000, [8] = 60000, [9] = 80000, [10] = 120000, [11] = 14000,
	[12] = 56000, [13] = 112000, [14] = 168000, [15] = 25000,
	[16] = 100000, [17] = 200000, [18] = 300000, [19] = 28000,
	[20] = 50000, [21] = 400000, [22] = 600000, [23] = 800000,
	[24] = 1200000, [25] = 1600000,
};

/* Their codes, slow to fast. */
static const uint8_t codes[] = {
	0, 2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14, 17, 18,
	21, 22, 23, 24, 25,
};

unsigned
sa_rate_mbps(unsigned rate)
{
	return rate < G_N_ELEMENTS(rates) ? rates[rate] : 0;
}

unsigned
sa_rate_rank(unsigned rate)
{
	unsigned rank = G_N_ELEMENTS(codes) - 1;

	while (rank > 0 && codes[rank] != rate)
		rank--;
	return rank;
}

unsigned
sa_rate_by_rank(unsigned rank)
{
	return codes[MIN(rank, G_N_ELEMENTS(codes) - 1)];
}

int
sa_rate_compare(unsigned a, unsigned b)
{
	return (int)sa_rate_rank(a) - (int)sa_rate_rank(b);
}

/* The rate, or the next lower one if this one has no code. */
unsigned
sa_rate_of(const struct port_info *info)
{
	unsigned mbps = port_mbps(info);
	unsigned rank = G_N_ELEMENTS(codes) - 1;

	while (rates[codes[rank]] > mbps)
		rank--;
	return codes[rank];
}

/* ------------------------------------------------------------------ paths */

/* The ServiceID is in two components, and one member. */
void
path_record_decode(const uint8_t *d, struct path_record *r)
{
	sa_record_decode(SA_ATTR_PATH, d, r);
	r->service_id = bytes_load64(d);
}

void
path_record_encode(uint8_t *d, const struct path_record *r)
{
	sa_record_encode(SA_ATTR_PATH, d, r);
	bytes_store64(d, r->service_id);
}

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
