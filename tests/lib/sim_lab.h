/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A bench for tests on the simulated fabric: questions to its agents one at a
 * time. A subnet manager: world.h.
 */
#ifndef MINISM_TESTS_LIB_SIM_LAB_H
#define MINISM_TESTS_LIB_SIM_LAB_H

#include "lab/generate.h"
#include "lab/sim/sim.h"
#include "sm/mad/smp.h"
#include "tests/lib/world.h"

#define LAB_SILENT	0x10000u	/* no answer */
#define LAB_TIMEOUT_MS	50u

struct simlab {
	struct snapshot *s;
	struct sim *sim;
	struct transport *t;	/* asks; a manager on the first host */
	unsigned status;	/* of the last answer */
	bool answered;
	uint8_t mad[MAD_SIZE];	/* the last answer */
	unsigned traps;		/* that came, none of them repressed */
	uint8_t trap[MAD_SIZE];	/* the last one */
};

/* params NULL: the defaults. A hop takes 1 us in any case, so that what tests
 * look at happens at whole microseconds. */
void simlab_open(struct simlab *lab, const char *spec,
		 const struct sim_params *params);
/* A transport that asks, on the local port of s. */
void simlab_attach(struct simlab *lab, enum sim_role role);
void simlab_close(struct simlab *lab);

/*
 * Asks by directed route the node of `port` (of a CA by that port), and runs
 * the clock until it has the answer or the request comes back. data: 64 bytes
 * that are sent, and are the answer's then. Returns the status or LAB_SILENT.
 */
unsigned simlab_ask(struct simlab *lab, uint32_t port, unsigned method,
		    unsigned attr_id, uint32_t attr_mod, uint8_t *data);
/* Set(PortInfo) of what the port has, states 0, changed by the caller. */
void simlab_port_wish(const struct simlab *lab, uint32_t port,
		      struct port_info *want);
/* Both ends of the link at `port` to Active; LIDs need to be valid. */
void simlab_activate(struct simlab *lab, uint32_t port);

/* The nth node (from 0) of a type, by GUID; an end port of it. */
uint32_t simlab_node(const struct simlab *lab, enum node_type type,
		     unsigned nth);
uint32_t simlab_end(const struct simlab *lab, enum node_type type,
		    unsigned nth);

#endif
