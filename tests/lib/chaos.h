/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What tests of chaos share: cables, nodes and what happens to them by chance.
 */
#ifndef MINISM_TESTS_LIB_CHAOS_H
#define MINISM_TESTS_LIB_CHAOS_H

#include "tests/lib/world.h"

struct chaos {
	struct world w;
	uint64_t rng;
	uint8_t *cut;		/* by port: its cable is cut */
	uint8_t *off;		/* by node */
	uint32_t seat[2];	/* ports whose nodes stay on */
	/* The link at this port was down for some time; or NULL. */
	void (*lost)(struct chaos *c, uint32_t port);
	char what[160];		/* the last event, for messages */
};

/* Of w, which is there. */
void chaos_open(struct chaos *c, uint64_t rng);
void chaos_close(struct chaos *c);

uint32_t chaos_cabled_port(struct chaos *c);
/* The event, by its verb and a port. */
void chaos_say(struct chaos *c, const char *verb, uint32_t port);

/* A cable is cut or mended. */
void chaos_cable(struct chaos *c);
/* That, or a node is off, on or reset. */
void chaos_happen(struct chaos *c);

#endif
