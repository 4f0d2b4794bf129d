// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The walk over a table of components that decodes and encodes.
 */
#include "sm/mad/mad_field.h"

#include <glib.h>

#include "sm/mad/bytes.h"

/*
 * A component has at most 64 bits, in at most 8 bytes. It is read and written by
 * a word of 8 bytes that ends with its last byte, or is the first one of the
 * attribute: so no byte behind the attribute is touched. Returns where the word
 * begins; shift: of the component's last bit in it.
 */
static inline unsigned
field_word(const struct mad_field *f, unsigned base, unsigned *shift)
{
	unsigned bits_end = f->offset - base + f->bits;
	unsigned begin = MAX((bits_end + 7) / 8, 8u) - 8;

	*shift = (begin + 8) * 8 - bits_end;
	return begin;
}

static inline uint64_t
get_bits(const struct mad_field *f, unsigned base, const uint8_t *data)
{
	unsigned shift, at = field_word(f, base, &shift);

	return bytes_load64(data + at) >> shift & UINT64_MAX >> (64 - f->bits);
}

const struct mad_field *
mad_field_find(const struct mad_attr_table *t, const char *name, size_t len)
{
	for (unsigned i = 0; i < t->n_fields; i++)
		if (strlen(t->fields[i].name) == len &&
		    memcmp(t->fields[i].name, name, len) == 0)
			return &t->fields[i];
	return NULL;
}

uint64_t
mad_field_value(const struct mad_field *f, unsigned base, const uint8_t *data)
{
	return get_bits(f, base, data);
}

void
mad_fields_decode(const struct mad_attr_table *t, unsigned base,
		  const uint8_t *data, void *host)
{
	const struct mad_field *end = t->fields + t->n_fields;

	for (const struct mad_field *f = t->fields; f < end; f++) {
		uint8_t *member = (uint8_t *)host + f->member;
		uint64_t value;

		if (!f->size)
			continue;
		if (f->host == MAD_FIELD_BYTES) {
			memcpy(member, data + (f->offset - base) / 8, f->size);
			continue;
		}
		value = get_bits(f, base, data);
		member_store(member, f->size, f->host == MAD_FIELD_FLAG ?
				value != 0 : value);
	}
}

void
mad_fields_encode(const struct mad_attr_table *t, unsigned base,
		  uint8_t *data, const void *host)
{
	const struct mad_field *end = t->fields + t->n_fields;

	for (const struct mad_field *f = t->fields; f < end; f++) {
		const uint8_t *member = (const uint8_t *)host + f->member;
		unsigned shift, at;
		uint64_t mask, word;

		if (!f->size)
			continue;
		if (f->host == MAD_FIELD_BYTES) {
			memcpy(data + (f->offset - base) / 8, member, f->size);
			continue;
		}
		at = field_word(f, base, &shift);
		mask = UINT64_MAX >> (64 - f->bits) << shift;
		word = bytes_load64(data + at) & ~mask;
		word |= member_load(member, f->size) << shift & mask;
		bytes_store64(data + at, word);
	}
}
