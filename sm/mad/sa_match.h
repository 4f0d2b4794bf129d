/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Component masks of SA requests (IBA 15.2.5): what a mask's bits mean, and
 * whether a record has what is asked for.
 */
#ifndef MINISM_MAD_SA_MATCH_H
#define MINISM_MAD_SA_MATCH_H

#include "sm/mad/sa_mad.h"

/*
 * Components of a record in the order of the mask's bits (IBA 15.2.5): bit n
 * of a ComponentMask is fields[n]. NULL for an attribute without any.
 */
enum sa_field_kind {
	SA_FIELD_PLAIN,
	SA_FIELD_RESERVED,	/* never compared */
	SA_FIELD_SPECIAL,	/* compared by who knows what it means */
};

struct sa_field {
	const char *name;
	uint16_t offset;	/* bits, from the most significant one of the
				   first byte */
	uint16_t bits;
	uint8_t kind;
};

const struct sa_field *sa_fields(unsigned attr_id, unsigned *n);

#define SA_BIT(n)	(UINT64_C(1) << (n))

/* What plain components a record must have: (record & mask) == value. */
struct sa_match {
	size_t len;		/* bytes to be looked at */
	uint8_t mask[SA_DATA_LEN];
	uint8_t value[SA_DATA_LEN];
};

/* wanted: the record of the request, sa_record_size() bytes at least. False if
 * comp_mask has bits that this attribute has no component for. */
bool sa_match_init(struct sa_match *m, unsigned attr_id, uint64_t comp_mask,
		   const uint8_t *wanted);
bool sa_match_test(const struct sa_match *m, const uint8_t *record);

#endif
