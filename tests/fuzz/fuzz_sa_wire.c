// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs of subnet administration: the header, the component mask, the records.
 * The input is a MAD, and after it a record that is compared with the one in
 * the MAD.
 *
 * What is decoded and encoded must stay the same the second time; a record
 * must match itself; and an answer must keep the data that it was made from.
 */
#include <string.h>

#include "sm/mad/sa_record.h"
#include "tests/fuzz/fuzz.h"

/* A record as it is after decoding and encoding. False: of this attribute
 * nothing is ever decoded. */
static bool
turn_round(unsigned attr_id, const uint8_t *in, uint8_t *out)
{
	uint8_t host[512];
	struct path_record path;
	struct multi_path_record multi;

	switch (attr_id) {
	case SA_ATTR_PATH:
		path_record_decode(in, &path);
		path_record_encode(out, &path);
		g_assert_cmpint(sa_rate_compare(path.rate, path.rate), ==, 0);
		return true;
	case SA_ATTR_MULTI_PATH:
		multi_path_record_decode(in, &multi);
		sa_record_encode(attr_id, out, &multi);
		return true;
	case SA_ATTR_MC_MEMBER:
	case SA_ATTR_SERVICE:
	case SA_ATTR_INFORM_INFO:
	case SA_ATTR_INFORM_INFO_RECORD:
	case SA_ATTR_PORT_INFO:
		memset(host, 0, sizeof(host));
		sa_record_decode(attr_id, in, host);
		sa_record_encode(attr_id, out, host);
		return true;
	}
	return false;
}

/* Exactly as long as a record is, so a sanitizer sees a byte too much. */
static void
try_codecs(unsigned attr_id, const uint8_t *data)
{
	size_t size = sa_record_size(attr_id);
	g_autofree uint8_t *once = g_malloc0(size + 1);
	g_autofree uint8_t *twice = g_malloc0(size + 1);
	g_autofree uint8_t *raw = g_memdup2(data, size);

	if (!size || !turn_round(attr_id, raw, once))
		return;
	turn_round(attr_id, once, twice);
	g_assert_cmpmem(once, size, twice, size);
}

static void
try_match(const struct sa_header *h, const uint8_t *wanted,
	  const uint8_t *other)
{
	size_t size = sa_record_size(h->mad.attr_id);
	struct sa_match m;
	bool same = true;
	unsigned n;

	sa_fields(h->mad.attr_id, &n);
	if (!sa_match_init(&m, h->mad.attr_id, h->comp_mask, wanted)) {
		g_assert_true(n < 64 && h->comp_mask >> n);
		return;
	}
	g_assert_cmpuint(m.len, <=, size);
	g_assert_true(sa_match_test(&m, wanted));
	for (size_t i = 0; i < size; i++)
		same = same && !((wanted[i] ^ other[i]) & m.mask[i]);
	g_assert_true(sa_match_test(&m, other) == same);
}

static void
try_answer(const uint8_t *request, const struct sa_header *h)
{
	uint8_t mad[MAD_SIZE];
	struct sa_header answer;

	memcpy(mad, request, MAD_SIZE);
	sa_make_response(mad, SA_STATUS_TOO_MANY);
	g_assert_true(sa_header_read(mad, MAD_SIZE, &answer));
	g_assert_cmpuint(answer.mad.status, ==, SA_STATUS_TOO_MANY);
	g_assert_true(answer.mad.method & MAD_METHOD_RESPONSE);
	g_assert_cmpuint(answer.mad.tid, ==, h->mad.tid);
	g_assert_cmpuint(answer.comp_mask, ==, h->comp_mask);
	g_assert_cmpuint(answer.sm_key, ==, 0);
	g_assert_cmpuint(answer.attr_offset * 8u, ==,
			 sa_record_size(h->mad.attr_id));
	g_assert_cmpmem(mad + SA_DATA_OFFSET, SA_DATA_LEN,
			request + SA_DATA_OFFSET, SA_DATA_LEN);
}

FUZZ_TARGET(sa_wire)
{
	struct fuzz_input in = { data, size };
	uint8_t mad[MAD_SIZE], other[SA_DATA_LEN];
	struct sa_header h;

	if (!sa_header_read(data, size, &h)) {
		g_assert_true(size < MAD_SIZE || data[1] != MAD_CLASS_SA);
		return 0;
	}
	fuzz_bytes(&in, mad, sizeof(mad));
	fuzz_bytes(&in, other, sizeof(other));
	g_assert_nonnull(sa_attr_name(h.mad.attr_id));
	try_codecs(h.mad.attr_id, mad + SA_DATA_OFFSET);
	try_match(&h, mad + SA_DATA_OFFSET, other);
	try_answer(mad, &h);
	return 0;
}
