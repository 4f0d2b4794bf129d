/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport over libibumad: hardware, or ibsim through libumad2sim. The
 * only module that knows the library.
 */
#ifndef MINISM_IO_UMAD_H
#define MINISM_IO_UMAD_H

#include "sm/io/transport.h"

enum umad_role {
	UMAD_ROLE_MANAGER,	/* the port says that it has an SM (IsSM) */
	UMAD_ROLE_READER,	/* it does not: nobody notices us */
};

struct umad_choice {
	const char *ca_name;	/* NULL: libibumad's choice */
	unsigned port_num;	/* 0: libibumad's choice */
	uint64_t port_guid;	/* 0: not chosen by GUID */
	enum umad_role role;
};

/*
 * Binds to a local port: registers for SMPs (both classes) and SA, declares
 * the port an SM (issm; only as a manager) and from then on reads, calls back
 * and rings timers in the thread-default main context of the caller.
 * NULL with an error that names the port, the reason, and what there is.
 */
struct transport *umad_transport_open(const struct umad_choice *choice,
				      GError **error);

/* The local ports, a line each ("mlx5_0 port 1 0x.. Active"), for messages. */
void umad_list_ports(GString *out);

#endif
