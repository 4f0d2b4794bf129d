/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control socket: a Unix stream socket on which control.h's requests come
 * in.
 *
 * One request a connection; served from the default main context, without
 * threads. Only root, the user that the manager runs as and a group may connect.
 * The number of clients, the length of a line and the time of a connection are
 * bounded.
 */
#ifndef MINISM_CONTROL_CONTROL_SOCKET_H
#define MINISM_CONTROL_CONTROL_SOCKET_H

#include "sm/control/control.h"

struct control_socket;

struct control_socket_params {
	unsigned max_clients;	/* twice as many with those of root and of the
				   user that the manager runs as */
	unsigned patience_ms;	/* until its request is there, and then until
				   it has read the answer */
	const char *group;	/* may connect as well; NULL, or there is no
				   such group: no others may; borrowed */
};
/* 16, 10 s */
extern const struct control_socket_params ctlsock_params_default;

/*
 * Listens on `path`, mode 0600, or 0660 for a group; makes its folder. A socket
 * on which no process listens is replaced; it is an error if one listens, or if
 * the file is no socket. params NULL: the defaults. Borrows log, copies the rest.
 */
struct control_socket *
control_socket_open(const char *path, const struct control_hooks *hooks,
		    const struct control_socket_params *params, struct log *log,
		    GError **error);
/* Removes the socket, unless another file is in its place. */
void control_socket_close(struct control_socket *s);

#endif
