/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What systemd hears of a service of Type=notify: that the first sweep has
 * ended, how the subnet is, that the main loop turns.
 */
#ifndef MINISM_SM_NOTIFY_H
#define MINISM_SM_NOTIFY_H

#include <glib.h>

struct notify;

/* NULL, which the others ignore: the environment names no listener, or there is
 * no way to it. headline: a new string, the subnet in a line; called whenever
 * the state is sent. */
struct notify *notify_open(char *(*headline)(void *data), void *data);
void notify_close(struct notify *n);

/* A sweep has ended; the first time: the service is started. */
void notify_ready(struct notify *n);
/* The configuration is read again; it has been. */
void notify_reloading(struct notify *n);
void notify_reloaded(struct notify *n);
/* The service ends. */
void notify_stopping(struct notify *n);

#endif
