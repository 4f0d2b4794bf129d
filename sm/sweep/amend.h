/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Amending: which parts of a fabric that is known are read again, when some of
 * its nodes report a change.
 */
#ifndef MINISM_SWEEP_AMEND_H
#define MINISM_SWEEP_AMEND_H

#include "topology/builder.h"

struct amend;

struct amend_query {
	enum {
		AMEND_NODE,	/* all attributes of the port's node; of a CA
				   those of the port */
		AMEND_PORT,	/* PortInfo of the port */
		AMEND_BEHIND,	/* NodeInfo through the port */
	} what;
	uint32_t port;
};

/* b: from builder_new_from(); borrowed. told: of uint64_t, NodeGUIDs; those
 * that the builder does not have are left out. */
struct amend *amend_new(struct builder *b, const GArray *told);
void amend_free(struct amend *a);

/* What is read next, of struct amend_query, once all answers to the queries
 * before are in. Empty: no more. */
GArray *amend_wave(struct amend *a);

/* PortInfo of the port has come, and is in the builder; was: what was there
 * before. */
void amend_on_port(struct amend *a, uint32_t port,
		   const struct port_info *was);
/* A node was found behind another port, and the builder has the cable to this
 * one. */
void amend_on_cable(struct amend *a, uint32_t port);
/* A cable end was found behind the port `from`, and the builder has it behind
 * `first`. False: so it is still, after `first` was read. True: that is read,
 * and then the question through `from` comes once more. */
bool amend_defer(struct amend *a, uint32_t first, uint32_t from);
/* Nothing was read of this port: it is as it was. */
bool amend_is_believed(const struct amend *a, uint32_t port);

#endif
