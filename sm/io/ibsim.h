/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport that speaks ibsim's own datagrams: a client of the simulator
 * without libibumad and its preloaded shim. Real descriptors on the main loop,
 * whole MADs, several clients in one process. For tests; hardware and the
 * product's path are sm/io/umad.h.
 */
#ifndef MINISM_IO_IBSIM_H
#define MINISM_IO_IBSIM_H

#include "sm/io/transport.h"

enum ibsim_role {
	IBSIM_ROLE_MANAGER,	/* the port says that it has an SM (IsSM) */
	IBSIM_ROLE_READER,	/* it does not: nobody notices us */
};

/*
 * Attaches to the ibsim whose sockets are called `sockname` (what it found in
 * IBSIM_SOCKNAME; "sim" if that was not set), at port 1 of the CA, or port 0
 * of the switch, `host`: a node id as the net file has it, NULL for the first
 * in the file. Waits 2 s at most for the simulator to be there. From then on
 * reads, calls back and rings timers in the thread-default main context of the
 * caller. NULL with TRANSPORT_ERROR_OPEN that says what is missing: the
 * simulator, the node, a free slot (ibsim has 10), or the place of the SM.
 *
 * A request that ibsim cannot deliver is returned at once. One that it gives
 * to another client which does not answer is not: keep timers. The simulator
 * writes its own number into the upper 16 bits of a request's TID.
 */
struct transport *ibsim_transport_open(const char *sockname, const char *host,
				       enum ibsim_role role, GError **error);

#endif
