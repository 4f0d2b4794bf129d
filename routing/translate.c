// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bytes through a table of 256.
 *
 * Purpose. A row of a forwarding table is mostly one list of small numbers,
 * the same for all switches of a rank, with each number replaced by a port.
 * At one load a byte that is what routing a large fabric takes longest for;
 * processors have instructions that do 32 or 64 at once.
 *
 * Ways. With AVX-512 VBMI the table stands in four registers: two look-ups of
 * 128 entries each, and the highest bit of the index chooses. AVX2 looks up 16
 * entries at a time, so it only pays for tables of which little is used: an
 * index that is not among the 16 is driven past 127, for which a look-up gives
 * zero, and the results are joined. Else eight bytes are gathered into one
 * word, since one store for eight is what the plain loop is limited by.
 *   The processor is asked each time; that is a load from memory.
 */
#include "routing/translate.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* AVX2: groups of 16, the one of TRANSLATE_NONE not counted; more take as
 * long as the plain way. */
#define MAX_GROUPS	8u

static bool
translate_is_there(void)
{
	return true;
}

static void
translate_plain(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
		const uint8_t table[256], unsigned n_used)
{
	uint64_t in, out;
	size_t i;
	uint32_t j;

	(void)n_used;
	for (i = 0; i < n; i += 8) {
		memcpy(&in, from + i, 8);
		out = 0;
#pragma GCC unroll 8
		for (j = 0; j < 64; j += 8)
			out |= (uint64_t)table[in >> j & 0xff] << j;
		memcpy(to + i, &out, 8);
	}
}

#if defined(__x86_64__)

static bool
translate_has_vbmi(void)
{
	return __builtin_cpu_supports("avx512vbmi") &&
		__builtin_cpu_supports("avx512bw");
}

static bool
translate_has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

__attribute__((target("avx512vbmi,avx512bw")))
static void
translate_vbmi(uint8_t *to, const uint8_t *from, size_t n,
	       const uint8_t table[256], unsigned n_used)
{
	const __m512i a = _mm512_loadu_si512(table);
	const __m512i b = _mm512_loadu_si512(table + 64);
	const __m512i c = _mm512_loadu_si512(table + 128);
	const __m512i d = _mm512_loadu_si512(table + 192);

	(void)n_used;
	for (size_t i = 0; i < n; i += 64) {
		__m512i in = _mm512_loadu_si512(from + i);
		__m512i low = _mm512_permutex2var_epi8(a, in, b);
		__m512i high = _mm512_permutex2var_epi8(c, in, d);

		_mm512_storeu_si512(to + i, _mm512_mask_blend_epi8(
			_mm512_movepi8_mask(in), low, high));
	}
}

__attribute__((target("avx2")))
static void
translate_avx2(uint8_t *to, const uint8_t *from, size_t n,
	       const uint8_t table[256], unsigned n_used)
{
	const __m256i past = _mm256_set1_epi8(0x70);
	const __m256i none = _mm256_set1_epi8((char)TRANSLATE_NONE);
	const __m256i other = _mm256_set1_epi8((char)table[TRANSLATE_NONE]);
	unsigned n_groups = (n_used + 15) / 16, k;
	__m256i group[MAX_GROUPS], in, out, at;

	if (n_groups > MAX_GROUPS) {
		translate_plain(to, from, n, table, n_used);
		return;
	}
	for (k = 0; k < n_groups; k++)
		group[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128(
			(const __m128i *)(const void *)(table + 16 * k)));
	for (size_t i = 0; i < n; i += 32) {
		in = _mm256_loadu_si256((const __m256i *)(const void *)
					(from + i));
		out = _mm256_and_si256(_mm256_cmpeq_epi8(in, none), other);
		for (k = 0; k < n_groups; k++) {
			at = _mm256_xor_si256(in, _mm256_set1_epi8(
				(char)(16 * k)));
			at = _mm256_shuffle_epi8(group[k],
				_mm256_adds_epu8(at, past));
			out = _mm256_or_si256(out, at);
		}
		_mm256_storeu_si256((__m256i *)(void *)(to + i), out);
	}
}

#endif

/* The fastest first. */
const struct translate_way translate_ways[] = {
#if defined(__x86_64__)
	{ "vbmi", translate_has_vbmi, translate_vbmi },
	{ "avx2", translate_has_avx2, translate_avx2 },
#endif
	{ "plain", translate_is_there, translate_plain },
	{ NULL, NULL, NULL },
};

void
translate_bytes(uint8_t *to, const uint8_t *from, size_t n,
		const uint8_t table[256], unsigned n_used)
{
	const struct translate_way *way = translate_ways;

	while (!way->is_there())
		way++;
	way->run(to, from, n, table, n_used);
}

void
translate_store(uint8_t *restrict to, const uint8_t *restrict from, size_t n)
{
#if defined(__x86_64__)
	__m128i *out = (__m128i *)(void *)to;
	const __m128i *in = (const __m128i *)(const void *)from;

	for (size_t i = 0; i < n / 16; i += 4) {
		_mm_stream_si128(out + i, _mm_load_si128(in + i));
		_mm_stream_si128(out + i + 1, _mm_load_si128(in + i + 1));
		_mm_stream_si128(out + i + 2, _mm_load_si128(in + i + 2));
		_mm_stream_si128(out + i + 3, _mm_load_si128(in + i + 3));
	}
	_mm_sfence();
#else
	memcpy(to, from, n);
#endif
}
