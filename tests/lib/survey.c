// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Surveys: see survey.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/survey.h"

#define SEED	11u

void
survey_open(struct survey *b, const char *spec, unsigned lmc)
{
	osm_world_open_lmc(&b->o, spec, SEED, lmc);
	for (unsigned i = 0; i < SURVEY_CLIENTS; i++)
		osm_client_open(&b->c[i], &b->o, osm_host(&b->o, 2 + 7 * i));
	truth_open(&b->x, &b->o, osm_host(&b->o, 5));
	b->ends = truth_end_ports(&b->o);
}

void
survey_close(struct survey *b)
{
	g_array_unref(b->ends);
	truth_close(&b->x);
	for (unsigned i = 0; i < SURVEY_CLIENTS; i++)
		osm_client_close(&b->c[i]);
	osm_world_close(&b->o);
}

void
survey_look_again(struct survey *b)
{
	g_array_unref(b->ends);
	b->ends = truth_end_ports(&b->o);
}

uint32_t
survey_end(const struct survey *b, guint i)
{
	return g_array_index(b->ends, uint32_t, i);
}

static uint64_t
key_for(unsigned attr_id)
{
	return attr_id == SA_ATTR_PKEY_TABLE ? OSM_SM_KEY : 0;
}

unsigned
survey_ask(struct survey *b, unsigned method, unsigned attr_id, uint64_t mask,
	   const uint8_t *wanted)
{
	struct osm_question q = {
		.method = method, .attr_id = attr_id, .mask = mask,
		.sm_key = key_for(attr_id),
	};

	if (wanted)
		memcpy(q.data, wanted, sa_record_size(attr_id));
	return osm_ask(&b->c[0], &q);
}

static bool
is_empty_block(const uint8_t *block)
{
	for (unsigned i = 0; i < 64; i++)
		if (block[i])
			return false;
	return true;
}

GByteArray *
survey_told(const struct osm_client *c, unsigned attr_id)
{
	size_t size = sa_record_size(attr_id);
	GByteArray *out = g_byte_array_new();
	uint8_t record[SA_DATA_LEN];

	for (unsigned i = 0; i < osm_records(c, attr_id); i++) {
		memcpy(record, osm_record(c, attr_id, i), size);
		truth_blank(attr_id, record);
		if (attr_id == SA_ATTR_MULTICAST_FT &&
		    is_empty_block(record + 8))
			continue;
		g_byte_array_append(out, record, (guint)size);
	}
	records_sort(out, size);
	return out;
}

static void
print_records(const char *what, const GByteArray *records, size_t size)
{
	for (guint i = 0; i < records->len; i += (guint)size) {
		printf("# %s:", what);
		for (size_t k = 0; k < size; k++)
			printf(" %02x", records->data[i + k]);
		printf("\n");
	}
}

unsigned
survey_same(unsigned attr_id, const GByteArray *want, const GByteArray *got)
{
	size_t size = sa_record_size(attr_id);
	GByteArray *missing = records_minus(want, got, size);
	GByteArray *added = records_minus(got, want, size);
	guint bad = missing->len + added->len;

	if (bad)
		printf("# %s\n", sa_attr_name(attr_id));
	print_records("missing", missing, size);
	print_records("not so", added, size);
	g_byte_array_unref(missing);
	g_byte_array_unref(added);
	assert_int_equal(bad, 0);
	return (unsigned)(want->len / size);
}

GByteArray *
survey_check(struct survey *b, unsigned attr_id)
{
	GByteArray *truth = truth_records(&b->x, attr_id), *all;

	assert_int_equal(survey_ask(b, SA_METHOD_GET_TABLE, attr_id, 0, NULL),
			 0);
	assert_int_equal(b->c[0].method, 0x92);	/* GetTableResp */
	all = survey_told(&b->c[0], attr_id);
	assert_true(survey_same(attr_id, truth, all) > 0);
	g_byte_array_unref(truth);
	return all;
}
