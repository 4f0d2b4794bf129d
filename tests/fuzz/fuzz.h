/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fuzz targets: one for every parser that outsiders feed. A target takes any
 * bytes; it crashes, or aborts on what must not be, or returns 0.
 *
 * Built with clang and FUZZ_WITH_LIBFUZZER, each target is a program of its
 * own (run.sh). Without, it is a function, and driver.c calls all of them
 * with the files of tests/fuzz/corpus.
 */
#ifndef MINISM_TESTS_FUZZ_H
#define MINISM_TESTS_FUZZ_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Longer inputs find nothing that shorter ones do not, and take their time. */
#define FUZZ_MAX	4096u

#ifdef FUZZ_WITH_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#define FUZZ_TARGET(name) \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
#else
#define FUZZ_TARGET(name) int fuzz_##name(const uint8_t *data, size_t size)
#endif

/* Of fuzz_text.c; run.sh reads the names here. */
#define FUZZ_TEXTS(X) \
	X(conf) X(formula) X(guid2mkey) X(guids) X(neighbors) X(netfile) \
	X(nodenames) X(partitions) X(state) X(tables)
#define FUZZ_TARGETS(X) FUZZ_TEXTS(X) \
	X(ctl) X(discover) X(rmpp) X(sa) X(serve) X(view)
#define FUZZ_DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
FUZZ_TARGETS(FUZZ_DECLARE)

/* The input, taken from the front. What is not there any more is zero. */
struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

static inline uint8_t
fuzz_byte(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

static inline void
fuzz_bytes(struct fuzz_input *in, uint8_t *out, size_t len)
{
	size_t n = MIN(len, in->left);

	memset(out, 0, len);
	if (!n)		/* there may be no pointer to add 0 to */
		return;
	memcpy(out, in->data, n);
	in->data += n;
	in->left -= n;
}

/* The rest as a string. */
static inline char *
fuzz_text(struct fuzz_input *in)
{
	/* of nothing there may be no pointer either */
	char *text = in->left ?
		g_strndup((const char *)in->data, in->left) : g_strdup("");

	in->left = 0;
	return text;
}

/* The error that a text was refused with says where it is wrong. */
#define fuzz_assert_refused(error, domain, code) \
	do { \
		g_assert_error(error, domain, code); \
		g_assert_true(g_str_has_prefix((error)->message, "fuzz:")); \
	} while (0)

#endif
