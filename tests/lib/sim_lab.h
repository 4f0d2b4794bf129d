/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A bench for tests on the simulated fabric: questions to its agents one at a
 * time, and a whole subnet manager.
 */
#ifndef MINISM_TESTS_LIB_SIM_LAB_H
#define MINISM_TESTS_LIB_SIM_LAB_H

#include "sm/mad/smp.h"
#include "sm/sim/fault.h"
#include "sm/sim/probe.h"
#include "sm/sm_instance.h"
#include "topology/generate.h"

#define LAB_SILENT	0x10000u	/* no answer */
#define LAB_TIMEOUT_MS	50u

struct lab {
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
void lab_open(struct lab *lab, const char *spec,
	      const struct sim_params *params);
void lab_close(struct lab *lab);

/*
 * Asks by directed route the node of `port` (of a CA by that port), and runs
 * the clock until it has the answer or the request comes back. data: 64 bytes
 * that are sent, and are the answer's then. Returns the status or LAB_SILENT.
 */
unsigned lab_ask(struct lab *lab, uint32_t port, unsigned method,
		 unsigned attr_id, uint32_t attr_mod, uint8_t *data);
/* The same with an M_Key. */
unsigned lab_ask_key(struct lab *lab, uint32_t port, unsigned method,
		     unsigned attr_id, uint32_t attr_mod, uint64_t m_key,
		     uint8_t *data);
/* Set(PortInfo) of what the port has, states 0, changed by the caller. */
void lab_port_wish(const struct lab *lab, uint32_t port,
		   struct port_info *want);
unsigned lab_set_port(struct lab *lab, uint32_t port,
		      const struct port_info *want);
/* Both ends of the link at `port` to Active; LIDs need to be valid. */
void lab_activate(struct lab *lab, uint32_t port);

/* The nth node (from 0) of a type, by GUID; an end port of it. */
uint32_t lab_node(const struct lab *lab, enum node_type type, unsigned nth);
uint32_t lab_end(const struct lab *lab, enum node_type type, unsigned nth);

/* A subnet manager that runs on an end port. */
struct lab_sm {
	struct sim *sim;
	struct transport *t;
	struct log *log;
	struct sm_instance *i;
	/* parts of it */
	struct mad_client *x;
	struct sweep *sweep;
	unsigned ends;		/* of heavy sweeps */
	enum sweep_end last;
	GString *said;		/* the last verdict's lines */
	struct snapshot *seen;	/* what the last sweep left, or NULL */
};

void lab_sm_start(struct lab_sm *sm, struct sim *sim, uint32_t port,
		  unsigned priority);
/* The same with other parameters; end NULL: as above. */
void lab_sm_start_as(struct lab_sm *sm, struct sim *sim, uint32_t port,
		     const struct sm_instance_params *params, sweep_end_fn end,
		     void *data);
void lab_sm_stop(struct lab_sm *sm);
/* Runs until the SM says UP, for limit_us at most. */
bool lab_sm_wait_up(struct lab_sm *sm, int64_t limit_us);

/* End ports of CAs that have power and a cable, as far as `from` has a
 * physical way to them: who should be reachable. Free it. */
GArray *lab_hosts(const struct sim *sim, const struct snapshot *s,
		  uint32_t from);
/* Pairs of hosts between which the data plane loses packets. */
unsigned lab_lost_pairs(const struct sim *sim, const GArray *hosts);

#endif
