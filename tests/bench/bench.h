/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What measurements share: CPU time, medians, fabrics of the command line.
 */
#ifndef MINISM_TESTS_BENCH_H
#define MINISM_TESTS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab/generate.h"

#define BENCH_FABRIC	"PGFT(18,18,36;1,18,18)"

/* That this process has used. */
static inline double
bench_cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline int
bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts them. */
static inline double
bench_median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), bench_compare);
	return values[n / 2];
}

/* GUIDs are shuffled; without such a fabric the program ends. */
static inline struct snapshot *
bench_fabric(const char *spec)
{
	const struct generate_options options = {
		.seed = 1, .shuffle_guids = true,
	};
	g_autoptr(GError) error = NULL;
	struct snapshot *s = generate_fabric(spec, &options, &error);

	if (!s) {
		fprintf(stderr, "%s\n", error->message);
		exit(2);
	}
	return s;
}

#endif
