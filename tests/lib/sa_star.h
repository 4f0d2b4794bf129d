/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One switch with hosts, published as a view: what the tests of the SA's
 * stores ask about; the SM is on host 0. Change `s` or `rules` and publish again.
 */
#ifndef MINISM_TESTS_SA_STAR_H
#define MINISM_TESTS_SA_STAR_H

#include "sm/sa/sa_db.h"

#define STAR_PREFIX		UINT64_C(0xfe80000000000000)
#define STAR_LIFE		18u	/* subnet_timeout */

struct star {
	unsigned n_hosts;
	struct snapshot *s;
	struct partition_rules *rules;	/* as without a file, at first */
	struct sa_db *v;
};

struct star *star_new(unsigned n_hosts);
void star_free(struct star *star);
void star_publish(struct star *star);

/* The host is gone, and back; publishes. */
void star_take_away(struct star *star, unsigned host);
void star_bring_back(struct star *star, unsigned host);

uint64_t star_guid(unsigned host);
uint32_t star_port(const struct star *star, unsigned host);
void star_gid(unsigned host, uint8_t gid[16]);
/* A rule for one host; to be published. */
void star_rule(struct star *star, uint16_t pkey, unsigned host,
	       enum partition_membership membership);

/* One random slip of a text: a byte changed, cut out or doubled, a line lost
 * or there twice. g_free. */
char *star_damage(const char *text, uint64_t *prng);

#endif
