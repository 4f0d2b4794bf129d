/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Going to the background: the process that was started waits until the manager
 * is up and exits with the result; the manager goes on without a terminal.
 */
#ifndef MINISM_SM_DAEMONIZE_H
#define MINISM_SM_DAEMONIZE_H

#include <glib.h>
#include <stdbool.h>

struct background;

/*
 * Forks; call it before there are threads. Returns a handle in the child. The
 * parent waits for daemonize_ready(), or for the end of the child, and gets
 * NULL: it is to exit with *code, which is 0 in the first case and the child's
 * exit status in the other. NULL with an error: there is no child.
 */
struct background *daemonize_fork(int *code, GError **error);

/* Ends the parent's wait. From here on the standard streams are the null
 * device, and the child has its own session. NULL: nothing. */
void daemonize_ready(struct background *b);

/* Before the child exits. A parent that still waits exits with this code now,
 * however long the child takes to end. */
void daemonize_end(struct background *b, int code);

#endif
