/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Going to the background: who starts the manager waits until it is up, and is
 * told how that went; then the manager has no terminal any more.
 */
#ifndef MINISM_SM_DAEMONIZE_H
#define MINISM_SM_DAEMONIZE_H

#include <glib.h>
#include <stdbool.h>

struct background;

/*
 * Forks; before there are threads. In the new process what comes back is for
 * daemonize_ready(). The old one waits for that, or for the end of the new
 * one, and gets NULL: it is to end with *code, which is 0 in the first case
 * and the new one's exit status in the other. NULL with an error: there is no
 * new process.
 */
struct background *daemonize_fork(int *code, GError **error);

/* The old process may go. From here on the standard streams lead nowhere, and
 * the session is one of its own. NULL: nothing. */
void daemonize_ready(struct background *b);

/* The end. The old process, if it still waits, ends with this code now, however
 * long the new one takes to end. */
void daemonize_end(struct background *b, int code);

#endif
