/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Where the components of attributes are, once: SA records (IBA 15.2.5) and
 * the attributes of SMPs behind their key fields (14.2.5). The same table is for
 * decoding, encoding, and the bits of a ComponentMask.
 */
#ifndef MINISM_MAD_MAD_FIELD_H
#define MINISM_MAD_MAD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology/member.h"

enum mad_field_kind {
	MAD_FIELD_PLAIN,
	MAD_FIELD_BITS,		/* in the bits that the request has */
	MAD_FIELD_RESERVED,	/* never compared */
	MAD_FIELD_SPECIAL,	/* compared by code: selectors, ends of paths */
};

enum mad_field_host {
	MAD_FIELD_NUMBER,	/* unsigned, host order */
	MAD_FIELD_FLAG,		/* a bool: any value but 0 is true */
	MAD_FIELD_BYTES,	/* as on the wire: GIDs, names */
};

struct mad_field {
	const char *name;
	uint16_t offset;	/* bits, from the most significant one of the
				   first byte */
	uint16_t bits;
	uint8_t kind;		/* enum mad_field_kind */
	uint8_t host;		/* enum mad_field_host */
	uint8_t size;		/* bytes of the member; 0: there is none */
	uint16_t member;	/* its offset in the host struct */
};

struct mad_attr_table {
	uint16_t attr_id;	/* of the SA record */
	uint16_t size;		/* bytes in a table, a multiple of 8; 0: a name
				   only */
	uint16_t n_fields;	/* field n is bit n of a ComponentMask */
	const char *name;
	const struct mad_field *fields;
};

/* mad_tables.c; NULL: no such attribute. */
const struct mad_attr_table *mad_attr_table(unsigned attr_id);

/* By the name that the specification gives it; NULL: there is none. */
const struct mad_field *mad_field_find(const struct mad_attr_table *t,
				       const char *name, size_t len);

/* `data` begins at bit `base` of the record: 0, or where the attribute begins
 * that the record carries. Encode leaves bits without a member as they are. */
#define MAD_FIELD_ATTR_BASE	32u	/* behind LID and port number */
/* Of a component of 64 bits at most. */
uint64_t mad_field_value(const struct mad_field *f, unsigned base,
			 const uint8_t *data);
void mad_fields_decode(const struct mad_attr_table *t, unsigned base,
		       const uint8_t *data, void *host);
void mad_fields_encode(const struct mad_attr_table *t, unsigned base,
		       uint8_t *data, const void *host);

#endif
