// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The header of SA MADs, and matching by component mask.
 *
 * Layout (IBA 15.2.1.1): common header 24 bytes, RMPP header 12, SM_Key 8,
 * AttributeOffset 2, reserved 2, ComponentMask 8, then 200 bytes of data.
 *
 * Matching. A ComponentMask names the components that a record must share with
 * the record in the request. By the table of components it becomes a mask of
 * bits, once for a request, which is compared with each candidate as it stands
 * on the wire.
 */
#include "sm/mad/sa_mad.h"

#include <glib.h>
#include <string.h>

#include "sm/mad/bytes.h"

#define CLASS_VERSION	2u	/* IBA 15.2.1 */

#define OFF_SM_KEY	36
#define OFF_ATTR_OFFSET	44
#define OFF_COMP_MASK	48

bool
sa_header_read(const uint8_t *mad, size_t len, struct sa_header *h)
{
	if (!mad_header_read(mad, len, &h->mad) ||
	    h->mad.mgmt_class != MAD_CLASS_SA)
		return false;
	h->sm_key = bytes_load(mad + OFF_SM_KEY, 8);
	h->attr_offset = (uint16_t)bytes_load(mad + OFF_ATTR_OFFSET, 2);
	h->comp_mask = bytes_load(mad + OFF_COMP_MASK, 8);
	return true;
}

void
sa_make_response(uint8_t mad[MAD_SIZE], unsigned status)
{
	unsigned attr_id = bytes_load16(mad + MAD_OFF_ATTR_ID);

	/* IBA 15.2.2: Set is answered by SubnAdmGetResp */
	mad[MAD_OFF_METHOD] = mad[MAD_OFF_METHOD] == MAD_METHOD_SET ?
		MAD_METHOD_GET_RESP : mad[MAD_OFF_METHOD] | MAD_METHOD_RESPONSE;
	bytes_store(mad + MAD_OFF_STATUS, status, 2);
	memset(mad + SA_RMPP_OFFSET, 0, SA_HEADER_OFFSET - SA_RMPP_OFFSET);
	bytes_store(mad + OFF_SM_KEY, 0, 8);
	bytes_store(mad + OFF_ATTR_OFFSET, sa_record_size(attr_id) / 8, 2);
}

bool
sa_is_request(unsigned method)
{
	return !(method & MAD_METHOD_RESPONSE) && method != MAD_METHOD_TRAP &&
		method != MAD_METHOD_TRAP_REPRESS && method != SA_METHOD_REPORT;
}

void
sa_build(uint8_t mad[MAD_SIZE], unsigned method, unsigned attr_id)
{
	mad_build(mad, MAD_CLASS_SA, CLASS_VERSION, method, attr_id);
	bytes_store(mad + OFF_ATTR_OFFSET, sa_record_size(attr_id) / 8, 2);
}

void
sa_set_sm_key(uint8_t mad[MAD_SIZE], uint64_t sm_key)
{
	bytes_store(mad + OFF_SM_KEY, sm_key, 8);
}

const char *
sa_attr_name(unsigned attr_id)
{
	const struct mad_attr_table *t = mad_attr_table(attr_id);

	return t ? t->name : "?";
}

size_t
sa_record_size(unsigned attr_id)
{
	const struct mad_attr_table *t = mad_attr_table(attr_id);

	return t ? t->size : 0;
}

const struct mad_field *
sa_fields(unsigned attr_id, unsigned *n)
{
	const struct mad_attr_table *t = mad_attr_table(attr_id);

	*n = t ? t->n_fields : 0;
	return t ? t->fields : NULL;
}

void
sa_match_init(struct sa_match *m, unsigned attr_id, uint64_t comp_mask,
	      const uint8_t *wanted)
{
	unsigned n, i, bit, end;
	const struct mad_field *f = sa_fields(attr_id, &n);

	memset(m, 0, sizeof(*m));
	for (i = 0; i < n; i++) {
		if (!(comp_mask >> i & 1) || (f[i].kind != MAD_FIELD_PLAIN &&
					      f[i].kind != MAD_FIELD_BITS))
			continue;
		end = f[i].offset + f[i].bits;
		for (bit = f[i].offset; bit < end; bit++)
			m->mask[bit / 8] |= (uint8_t)(0x80u >> bit % 8 &
				(f[i].kind == MAD_FIELD_BITS ?
				 wanted[bit / 8] : 0xffu));
		m->len = MAX(m->len, (end + 7) / 8);
	}
	for (i = 0; i < m->len; i++)
		m->value[i] = wanted[i] & m->mask[i];
}

bool
sa_match_test(const struct sa_match *m, const uint8_t *record)
{
	for (size_t i = 0; i < m->len; i++)
		if ((record[i] & m->mask[i]) != m->value[i])
			return false;
	return true;
}
