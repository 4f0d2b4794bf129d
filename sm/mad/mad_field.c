// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The walk over a table of components that decodes and encodes.
 */
#include "sm/mad/mad_field.h"

#include <glib.h>

/*
 * A component has at most 64 bits, in at most 8 bytes. It is read and written by
 * a word of 8 bytes that ends with its last byte, or is the first one of the
 * attribute: so no byte behind the attribute is touched. Returns where the word
 * begins; shift: of the component's last bit in it.
 */
static inline unsigned
field_word(unsigned offset, unsigned bits, unsigned *shift)
{
	unsigned end = (offset + bits + 7) / 8;
	unsigned begin = MAX(end, 8u) - 8;

	*shift = (begin + 8) * 8 - offset - bits;
	return begin;
}

static inline uint64_t
get_bits(const uint8_t *data, unsigned offset, unsigned bits)
{
	unsigned shift, at = field_word(offset, bits, &shift);
	uint64_t word;

	memcpy(&word, data + at, sizeof(word));
	return GUINT64_FROM_BE(word) >> shift & UINT64_MAX >> (64 - bits);
}

static inline void
set_bits(uint8_t *data, unsigned offset, unsigned bits, uint64_t value)
{
	unsigned shift, at = field_word(offset, bits, &shift);
	uint64_t mask = UINT64_MAX >> (64 - bits) << shift, word;

	memcpy(&word, data + at, sizeof(word));
	word = GUINT64_FROM_BE(word);
	word = GUINT64_TO_BE((word & ~mask) | (value << shift & mask));
	memcpy(data + at, &word, sizeof(word));
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
	return get_bits(data, f->offset - base, f->bits);
}

void
mad_fields_decode(const struct mad_attr_table *t, unsigned base,
		  const uint8_t *data, void *host)
{
	const struct mad_field *end = t->fields + t->n_fields;

	for (const struct mad_field *f = t->fields; f < end; f++) {
		uint8_t *member = (uint8_t *)host + f->member;
		unsigned offset = f->offset - base;
		uint64_t value;

		if (!f->size)
			continue;
		if (f->host == MAD_FIELD_BYTES) {
			memcpy(member, data + offset / 8, f->size);
			continue;
		}
		value = get_bits(data, offset, f->bits);
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
		unsigned offset = f->offset - base;

		if (!f->size)
			continue;
		if (f->host == MAD_FIELD_BYTES) {
			memcpy(data + offset / 8, member, f->size);
			continue;
		}
		set_bits(data, offset, f->bits, member_load(member, f->size));
	}
}
