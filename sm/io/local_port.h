/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which port of this machine a subnet manager runs on. Pure: the list, of struct
 * local_port, comes from umad.c.
 */
#ifndef MINISM_IO_LOCAL_PORT_H
#define MINISM_IO_LOCAL_PORT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LOCAL_PORT_NAME_MAX	20	/* UMAD_CA_NAME_LEN */

struct local_port {
	char ca_name[LOCAL_PORT_NAME_MAX];
	unsigned num;
	uint64_t guid;
	bool infiniband;	/* its link layer */
	bool sm_disabled;	/* CapabilityMask.IsSMdisabled: no QP0 */
	unsigned state;		/* PORT_STATE_* */
	unsigned phys_state;
	unsigned lid, lmc, sm_lid;
};

/* The options of the user; 0 or NULL: any. */
struct local_port_wish {
	const char *ca_name;
	unsigned num;
	uint64_t guid;
};

/* The manager on another port has brought it up. */
bool local_port_obeys_another(const struct local_port *p);

/*
 * The best of the ports that match and are fit, NULL if there is none. In this
 * order, and the first of `ports` among equals: a port that this machine
 * manages already, one with a link and no other subnet manager, one with a
 * link and another subnet manager (here we would be a standby), one without a
 * link, one that is disabled.
 */
const struct local_port *
local_port_choose(const GArray *ports, const struct local_port_wish *wish);

/*
 * The port for GMPs of one that was chosen: usually itself. An HCA with planes
 * (ConnectX-8) shows each port twice, with one PortGUID: on a device for SMPs and
 * on one that allows no subnet manager. A wish may name either.
 */
const struct local_port *
local_port_gsi(const GArray *ports, const struct local_port *smi);

/* Why no port was chosen, and the list of ports. */
void local_port_explain(const GArray *ports, const struct local_port_wish *wish,
			GString *out);

/* The port that was chosen and those that were not, for the user may have meant
 * another one; false if there was only one. */
bool local_port_tell_choice(const GArray *ports,
			    const struct local_port_wish *wish,
			    const struct local_port *chosen, GString *out);

#endif
