/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests against a scripted peer, and what came of each: for the tests of
 * transactions.
 */
#ifndef MINISM_TESTS_LIB_MAD_CLIENT_BENCH_H
#define MINISM_TESTS_LIB_MAD_CLIENT_BENCH_H

#include "tests/lib/auto.h"
#include "sm/io/mad_client.h"
#include "tests/lib/scripted.h"

#define MS	1000
#define TIMEOUT	(200 * MS)	/* of the usual parameters */

#define ENDS_MAX	20000

/* By tag, which is below ENDS_MAX. */
struct bench {
	struct transport *t;
	struct mad_client *x;
	unsigned answered[ENDS_MAX];
	unsigned timed_out[ENDS_MAX];
	int64_t when[ENDS_MAX];
	unsigned ends;
	uint64_t order[ENDS_MAX];
	struct mad_header last;		/* of the last answer */
	uint8_t last_data;		/* its first data byte */
	char reason[128];		/* of the last drop */
	unsigned drops;
};

/* 200 ms, 3 retries, 128 on the wire */
extern const struct mad_client_params bench_usual;

struct bench *bench_new(const struct mad_client_params *params,
			scripted_peer_fn peer, void *data);
void bench_free(struct bench *b);
AUTO_DEFINE(bench, bench_free)

/* What bench_start() gives to mad_client_start(); data is the bench. */
void bench_done(const struct mad_client_answer *a, void *data, uint64_t tag);
/* Get(PortInfo) with the tag as modifier, two hops; returns its id. */
uint32_t bench_start(struct bench *b, uint64_t tag);
/* The tags from `from` on, below `end`. */
void bench_start_all(struct bench *b, uint64_t from, uint64_t end);
/* An answer to the first request that was sent. */
void bench_make_answer(const struct bench *b, uint8_t *mad, unsigned status);

uint32_t sent_tid(const struct scripted_sent *s);	/* the low half */
uint32_t sent_attr_mod(const struct scripted_sent *s);

/* Answers everything, *(int64_t *)data us later. */
void peer_good(struct transport *t, const struct scripted_sent *s,
	       void *data);
/* As peer_good, but never answers tag 0. */
void peer_deaf_to_zero(struct transport *t, const struct scripted_sent *s,
		       void *data);

#endif
