/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport over libibumad: hardware, or ibsim through libumad2sim. The
 * only module that knows the library.
 */
#ifndef MINISM_IO_UMAD_H
#define MINISM_IO_UMAD_H

#include "sm/io/transport.h"

enum umad_role {
	UMAD_ROLE_MANAGER,	/* IsSM of the port is set */
	UMAD_ROLE_GUEST,	/* the same, unless the port obeys the manager
				   of another port */
	UMAD_ROLE_READER,	/* it does not: other SMs do not see us */
};

enum umad_event {
	UMAD_NOTE,		/* a message for the log */
	UMAD_LOST,		/* the device is gone, text: why */
	UMAD_BACK,		/* it was opened again, text: its name now */
};
typedef void (*umad_event_fn)(enum umad_event event, const char *text,
			      void *data);

struct umad_choice {
	const char *ca_name;	/* NULL: any */
	unsigned port_num;	/* 0: any */
	uint64_t port_guid;	/* 0: any; else it goes before the others */
	enum umad_role role;
	umad_event_fn event;	/* may be NULL */
	void *event_data;
};

/*
 * Binds to a local port: registers for SMPs (both classes) and SA, declares
 * the port an SM (issm; only as a manager) and from then on reads, calls back
 * and rings timers in the thread-default main context of the caller. With
 * several ports that fit, local_port.h says which. NULL with an error that
 * names the port, the reason, what there is and what to do.
 *
 * When the device goes away, there is one UMAD_LOST, MADs are lost, and the port
 * is looked for by its GUID until it is back; then everything is registered
 * again, and UMAD_BACK follows. All MADs in between are lost.
 */
struct transport *umad_transport_open(const struct umad_choice *choice,
				      GError **error);

/* Is IsSM set, as far as the kernel and the device can? */
bool umad_is_shown(const struct transport *t);
/* Sets it or clears it; what prevents that is a UMAD_NOTE. */
void umad_show(struct transport *t, bool shown);

#endif
